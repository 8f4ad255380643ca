//! Identity of files with two names.

#![expect(clippy::disallowed_methods, reason = "asks which file it is redirected to")]

#[cfg(unix)]
use std::fs::File;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// A file, however it is spelled: by other paths, symbolic or hard links, or as a stream that is redirected to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileIdentity {
    /// A file that is there, by device and number.
    #[cfg(unix)]
    Number(u64, u64),
    /// A file that does not exist yet, or any file on systems without inode numbers: the real path of its directory and
    /// its name.
    Path(PathBuf),
}

impl FileIdentity {
    /// That of the file `path`, which need not exist. Nothing for what bytes go through without being kept, such as `/dev/null`.
    pub fn of(path: &Path) -> Option<Self> {
        match path.metadata() {
            Ok(metadata) => Self::known(&metadata, path),
            Err(_) => match super::end_of(path) {
                Ok(super::End::Name { path, .. }) => Some(Self::Path(path)),
                Ok(super::End::Descriptor { .. }) => None,
                // Its directory does not exist either.
                Err(_) => std::path::absolute(path).ok().map(Self::Path),
            },
        }
    }

    /// That of the file that standard input comes from.
    pub fn of_stdin() -> Option<Self> {
        #[cfg(unix)]
        return Self::of_stream(&std::io::stdin());
        #[cfg(not(unix))]
        None
    }

    /// That of the file that standard output goes to.
    pub fn of_stdout() -> Option<Self> {
        #[cfg(unix)]
        return Self::of_stream(&std::io::stdout());
        #[cfg(not(unix))]
        None
    }

    #[cfg(unix)]
    fn of_stream(stream: &impl std::os::fd::AsFd) -> Option<Self> {
        let stream = stream.as_fd().try_clone_to_owned().ok()?;
        let metadata = File::from(stream).metadata().ok()?;
        Self::known(&metadata, Path::new(""))
    }

    #[cfg(unix)]
    fn known(metadata: &Metadata, _: &Path) -> Option<Self> {
        use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

        let is_kept = !metadata.file_type().is_char_device();
        is_kept.then(|| Self::Number(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    fn known(_: &Metadata, path: &Path) -> Option<Self> {
        path.canonicalize().ok().map(Self::Path)
    }
}
