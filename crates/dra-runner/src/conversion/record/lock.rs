//! That a backup and a journal belong to one process at a time.
//!
//! Locks are the system's, held by an open file: they end with the process, however it ends. The journal is locked itself. A backup is
//! replaced as a whole, so a file beside it is locked in its place; it goes with the lock, and one that a killed process left is taken.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::{RecordError, file, private};

/// The right to replace a backup.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Of the backup `path`, a file and no link.
    ///
    /// # Errors
    /// When another process has it, or the file beside it cannot be written.
    pub fn of(path: &Path) -> Result<Self, RecordError> {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".lock");
        let beside = path.with_file_name(name);
        loop {
            let opened = open(&beside).map_err(|source| file("write", &beside, source))?;
            let Some(opened) = opened else { continue };
            hold(&opened, path)?;
            // The previous owner may have deleted the file meanwhile: then other processes would lock a different one.
            if is_at(&opened, &beside) {
                return Ok(Self {
                    path: beside,
                    _file: opened,
                });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Still locked, so no other process relies on it. Where it cannot be taken away it does no harm.
        if cfg!(unix) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Locks an open file; `path` is what it stands for.
pub(super) fn hold(opened: &File, path: &Path) -> Result<(), RecordError> {
    match opened.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(RecordError::Busy {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(file("lock", path, source)),
    }
}

/// Makes the file, or opens that of another process; none where it has gone in between. A link is neither made nor followed.
fn open(path: &Path) -> io::Result<Option<File>> {
    match private().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made.map(Some),
    }
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is not a regular file; remove it")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

#[cfg(unix)]
fn is_at(opened: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |a: std::fs::Metadata, b: std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    opened
        .metadata()
        .and_then(|own| Ok(same(own, path.symlink_metadata()?)))
        .unwrap_or(false)
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}
