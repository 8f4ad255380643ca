//! Ways to write a file: a new file that takes the name, or through the existing one.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::{Readers, folder_of, sync_folder};

/// Gives `file` what the old one had, as far as it is for these readers.
#[cfg(unix)]
fn keep(old: &Metadata, readers: Readers, file: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};

    let mut mode = match readers {
        Readers::Owner => old.mode() & 0o700,
        Readers::AsBefore => old.mode() & 0o777,
    };
    let (user, group) = (old.uid(), old.gid());
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (user, group) {
        let is_given = fchown(file, Some(user), Some(group)).or_else(|_| fchown(file, None, Some(group)));
        if is_given.is_err() {
            // What the old group was allowed is not for another one.
            mode &= !0o070;
        }
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as where files have modes")]
fn keep(_: &Metadata, _: Readers, _: &File) -> io::Result<()> {
    Ok(())
}

/// Fills `new` and gives it the name `path`. Whatever fails, the old file stays, and nothing of the new one does.
pub(super) fn replace(
    new: NamedTempFile,
    path: &Path,
    old: Option<(&Metadata, Readers)>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    fill(new.as_file(), write)?;
    if let Some((old, readers)) = old {
        keep(old, readers, new.as_file())?;
    }
    new.as_file().sync_all()?;
    // Another process may have put something else there in the meantime.
    match path.symlink_metadata() {
        Ok(now) if !now.is_file() => {
            return Err(io::Error::other("it is no longer a regular file"));
        }
        _ => {}
    }
    new.persist(path).map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}

/// Writes into what is there. `append` is for files that the process got open, which may have content of others before.
pub(super) fn write_through(
    path: &Path,
    append: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = open(path, append)?;
    if file.is_terminal() {
        return Err(io::Error::other("it is a terminal: use `-` for standard output"));
    }
    // A pipe whose reader is gone is no success here: what was to be kept is not.
    fill(&file, write).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => io::Error::other("its reader closed it"),
        _ => error,
    })
}

fn fill(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    out.flush()
}

/// Number and interval of attempts to open a pipe without a reader: five seconds in total.
#[cfg(unix)]
const TRIES: usize = 100;
#[cfg(unix)]
const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// Opens what is there. A pipe that nothing reads is an error after some time, instead of a wait without end.
#[cfg(unix)]
fn open(path: &Path, append: bool) -> io::Result<File> {
    use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};

    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    use rustix::io::Errno;

    let is_pipe = path.metadata()?.file_type().is_fifo();
    let mut options = fs::OpenOptions::new();
    options
        .write(true)
        .append(append)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    for _ in 0..TRIES {
        match options.open(path) {
            Ok(file) => {
                let flags = fcntl_getfl(&file)?;
                fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
                return Ok(file);
            }
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) && is_pipe => {
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("nothing reads from it"))
}

#[cfg(not(unix))]
fn open(path: &Path, append: bool) -> io::Result<File> {
    fs::OpenOptions::new().write(true).append(append).open(path)
}
