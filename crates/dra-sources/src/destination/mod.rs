//! Files that the user names to be written, such as that of `--out`.
//!
//! Everything that writes such a file does it here, so that one set of rules holds for all of them. A regular file appears as a whole
//! or stays as it was: its content goes into a temporary file beside it, reaches stable storage, and takes its name. Links are
//! followed, so what is replaced is the file at their end. What is no regular file is never replaced: a pipe or a device is written
//! through, and what can only be destroyed by that (a disk) or cannot be opened at all (a socket) is refused.

mod identity;
mod save;

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

pub use self::identity::FileIdentity;
use self::save::{replace, write_through};

/// The most links that are followed from one to the next. Linux follows as many.
const MOST_LINKS: usize = 40;

/// The reason why a file that the user named cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum DestinationError {
    /// The name itself cannot be that of a file to write.
    #[error("cannot write `{}`: {reason}", path.display())]
    Unusable {
        /// As the user has named it.
        path: PathBuf,
        /// The reason why not.
        reason: &'static str,
        /// Suggested alternative.
        hint: Option<&'static str>,
    },
    /// The file system does not allow it, or failed.
    #[error("cannot write `{}`", path.display())]
    File {
        /// As the user has named it.
        path: PathBuf,
        /// The reason why not.
        source: io::Error,
    },
    /// The temporary file cannot be made.
    #[error("cannot write a temporary file in `{}`", folder.display())]
    Temporary {
        /// Directory.
        folder: PathBuf,
        /// The reason why not.
        source: io::Error,
    },
}

impl DestinationError {
    fn unusable(named: &Path, reason: &'static str, hint: Option<&'static str>) -> Self {
        Self::Unusable {
            path: named.to_owned(),
            reason,
            hint,
        }
    }

    /// The error of a file called `named`, by the system's reason.
    fn of(named: &Path) -> impl Fn(io::Error) -> Self {
        |source| Self::File {
            path: named.to_owned(),
            source,
        }
    }

    fn temporary(folder: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Temporary {
            folder: folder.to_owned(),
            source,
        }
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unusable { hint, .. } => hint.map(str::to_owned),
            Self::File { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("create the directory first".to_owned())
            }
            Self::File { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    Some("free some space or choose a file on another disk, and run it again".to_owned())
                }
                _ => None,
            },
            Self::Temporary { .. } => Some(
                "choose a file in a writable directory: a temporary file is written next to it first, so that \
                the old file stays intact until the new one is complete"
                    .to_owned(),
            ),
        }
    }
}

/// Destination given by the user.
#[derive(Debug)]
pub enum Destination {
    /// Standard output: `-`, or a name of it such as `/dev/stdout`.
    Stdout,
    /// A file, a pipe or a device.
    File(NamedFile),
}

/// File named by the user, with all links followed.
#[derive(Debug)]
pub struct NamedFile {
    /// As the user spelled it.
    named: PathBuf,
    /// At the end of all links.
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A regular file, or nothing yet.
    Regular {
        folder: PathBuf,
        old: Option<Box<Metadata>>,
    },
    /// Something that takes bytes and keeps its place.
    Through,
    /// A file that the process got open, named by its number.
    Descriptor,
}

/// Readers of a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner, and everyone who could read an old file of that name: it may contain secrets.
    Owner,
    /// Those who could read the old file; of a new one its owner.
    AsBefore,
}

/// Target of all links.
enum End {
    /// A file descriptor of this process or of another one.
    Descriptor { path: PathBuf, own: Option<u32> },
    /// A name in an existing directory, and its file.
    Name {
        path: PathBuf,
        folder: PathBuf,
        metadata: Option<Metadata>,
    },
}

impl Destination {
    /// Finds out what `named` stands for, and whether it can be written. Nothing is changed by that.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn of(named: &Path) -> Result<Self, DestinationError> {
        if named.as_os_str() == "-" {
            return Ok(Self::Stdout);
        }
        let unusable = |reason, hint| Err(DestinationError::unusable(named, reason, hint));
        let (path, place) = match end_of(named)? {
            End::Descriptor { own: Some(1), .. } => return Ok(Self::Stdout),
            End::Descriptor { path, .. } => (path, Place::Descriptor),
            End::Name {
                path,
                folder,
                metadata,
            } => {
                let place = match metadata {
                    Some(old) if old.is_dir() => {
                        return unusable("it is a directory", Some("name a file in it"));
                    }
                    Some(old) if is_disk(&old) => {
                        return unusable("it is a disk, and writing would destroy its content", None);
                    }
                    Some(old) if is_socket(&old) => return unusable("it is a socket", None),
                    Some(old) if !old.is_file() => Place::Through,
                    old => {
                        if old.is_some() {
                            // A user with write permission on the directory could replace the file, but the file is read-only.
                            let opened = fs::OpenOptions::new().write(true).open(&path);
                            opened.map_err(DestinationError::of(named))?;
                        }
                        let old = old.map(Box::new);
                        Place::Regular { folder, old }
                    }
                };
                (path, place)
            }
        };
        if let Place::Regular { folder, .. } = &place {
            // It is deleted immediately: it only detects late failures early.
            tempfile::tempfile_in(folder).map_err(DestinationError::temporary(folder))?;
        }
        Ok(Self::File(NamedFile {
            named: named.to_owned(),
            path,
            place,
        }))
    }

    /// The directory for temporary files: next to the file, where there is enough space anyway.
    pub fn folder(&self) -> PathBuf {
        match self {
            Self::File(NamedFile {
                place: Place::Regular { folder, .. },
                ..
            }) => folder.clone(),
            Self::Stdout | Self::File(_) => std::env::temp_dir(),
        }
    }

    /// Returns what is written, to be compared with other files.
    pub fn identity(&self) -> Option<FileIdentity> {
        match self {
            Self::Stdout => FileIdentity::of_stdout(),
            Self::File(file) => FileIdentity::of(&file.path),
        }
    }
}

impl NamedFile {
    /// As the user named it.
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// At the end of all links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether it is a regular file, or becomes one.
    pub fn is_regular(&self) -> bool {
        matches!(self.place, Place::Regular { .. })
    }

    /// Writes the file. A regular one is there afterwards as a whole, or as it was.
    ///
    /// # Errors
    /// When `write` fails, or the file cannot be written.
    pub fn write(
        &self,
        readers: Readers,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), DestinationError> {
        let failed = DestinationError::of(&self.named);
        match &self.place {
            Place::Regular { folder, old } => {
                let file = tempfile::Builder::new()
                    .prefix(".kubectl-dra-")
                    .tempfile_in(folder)
                    .map_err(DestinationError::temporary(folder))?;
                let old = old.as_deref().map(|old| (old, readers));
                replace(file, &self.path, old, write).map_err(failed)
            }
            Place::Through => write_through(&self.path, false, write).map_err(failed),
            Place::Descriptor => write_through(&self.path, true, write).map_err(failed),
        }
    }
}

/// Follows all links from `named` on.
fn end_of(named: &Path) -> Result<End, DestinationError> {
    let unusable = |reason, hint| Err(DestinationError::unusable(named, reason, hint));
    let failed = DestinationError::of(named);
    if named.as_os_str().is_empty() {
        return unusable(
            "the name is empty",
            Some("name a file, or `-` for standard output"),
        );
    }
    let mut path = named.to_owned();
    for _ in 0..=MOST_LINKS {
        let (Some(name), false) = (path.file_name(), ends_as_directory(&path)) else {
            return unusable("it names a directory", Some("name a file in it"));
        };
        let folder = folder_of(&path).canonicalize().map_err(&failed)?;
        let full = folder.join(name);
        if let Some(number) = descriptor_number(name).filter(|_| holds_descriptors(&folder)) {
            let is_own = is_of_this_process(&folder);
            return Ok(End::Descriptor {
                path: full,
                own: is_own.then_some(number),
            });
        }
        let metadata = match full.symlink_metadata() {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        if let Some(link) = metadata.as_ref().filter(|metadata| metadata.is_symlink()) {
            if is_trap(link, &folder.metadata().map_err(&failed)?) {
                return unusable(
                    "it is a link that another user created in a shared directory",
                    Some("name the file itself, or a directory of your own"),
                );
            }
            path = folder.join(fs::read_link(&full).map_err(&failed)?);
            continue;
        }
        return Ok(End::Name {
            path: full,
            folder,
            metadata,
        });
    }
    unusable("its links form a loop", None)
}

/// The directory of `path`.
fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Returns whether `path` is written as that of a directory: `x/`, `x/.`, `..`.
fn ends_as_directory(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let is_separator = |byte: &u8| std::path::is_separator(char::from(*byte));
    text.last().is_some_and(is_separator)
        || matches!(
            path.components().next_back(),
            Some(Component::ParentDir | Component::CurDir)
        )
        || matches!(text, [.., before, b'.'] if is_separator(before))
}

/// Returns whether the names in `folder` are open file descriptors: `/proc/PID/fd`, on other systems `/dev/fd`.
fn holds_descriptors(folder: &Path) -> bool {
    folder == Path::new("/dev/fd")
        || folder.starts_with("/proc") && folder.file_name() == Some(OsStr::new("fd"))
}

fn is_of_this_process(folder: &Path) -> bool {
    let own = Path::new("/proc").join(std::process::id().to_string());
    folder == Path::new("/dev/fd") || folder.starts_with(own)
}

fn descriptor_number(name: &OsStr) -> Option<u32> {
    name.to_str()?.parse().ok()
}

/// Returns whether following a link would let another user choose what is overwritten: it is in a shared directory such
/// as `/tmp`, and neither this user nor the directory's owner created it. Linux does not follow such links either
/// (`fs.protected_symlinks`).
#[cfg(unix)]
fn is_trap(link: &Metadata, folder: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    const STICKY: u32 = 0o1000;
    const WRITABLE_FOR_ALL: u32 = 0o002;
    let is_for_all = folder.mode() & (STICKY | WRITABLE_FOR_ALL) == STICKY | WRITABLE_FOR_ALL;
    let own = rustix::process::geteuid().as_raw();
    is_for_all && link.uid() != own && link.uid() != folder.uid()
}

#[cfg(unix)]
fn is_disk(metadata: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type())
}

#[cfg(unix)]
fn is_socket(metadata: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_socket(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_trap(_: &Metadata, _: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_disk(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_socket(_: &Metadata) -> bool {
    false
}

/// Syncs a rename in `folder`. File systems that cannot sync a directory preserve names automatically.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    // A directory can be writable without being listable.
    let Ok(opened) = File::open(folder) else {
        return Ok(());
    };
    match opened.sync_all() {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
            ) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests;
