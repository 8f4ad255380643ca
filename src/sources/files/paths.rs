//! From what the user named to the files that are read, in an order that does not depend on the file system.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::ReadError;

/// The files of a directory that are read, as kubectl chooses them: those that end in `.yaml`, `.yml` or `.json`,
/// here also compressed, and no directories in it unless `recursive`. A file whose name begins with a dot is read like
/// any other; links to files are followed, links to directories are not.
pub(in crate::sources) fn files_of(directory: &Path, recursive: bool) -> Result<Vec<PathBuf>, ReadError> {
    let mut files = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    let mut has_directories = false;
    while let Some(current) = waiting.pop() {
        let failed = |source| ReadError::Open {
            file: display(&current),
            source,
        };
        for entry in fs::read_dir(&current).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                has_directories = true;
                if recursive {
                    waiting.push(path);
                }
            } else if is_read(&entry.file_name()) && !(kind.is_symlink() && path.is_dir()) {
                refuse_special(&path)?;
                files.push(path);
            }
        }
    }
    if files.is_empty() {
        return Err(ReadError::EmptyDirectory {
            directory: display(directory),
            has_directories: has_directories && !recursive,
        });
    }
    files.sort_unstable();
    Ok(files)
}

/// Refuses what may have no end or wait for a writer for ever. Only whoever names such a file knows that somebody writes into it.
fn refuse_special(path: &Path) -> Result<(), ReadError> {
    let Ok(metadata) = path.metadata() else {
        // Opening it says why.
        return Ok(());
    };
    if metadata.is_file() {
        return Ok(());
    }
    Err(ReadError::NotAFile {
        file: display(path),
        what: what_it_is(metadata.file_type()),
    })
}

#[cfg(unix)]
fn what_it_is(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn what_it_is(_: fs::FileType) -> &'static str {
    "something special"
}

/// A path as shown in messages.
pub(super) fn display(path: &Path) -> std::sync::Arc<str> {
    path.to_string_lossy().into()
}

fn is_read(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes().to_ascii_lowercase();
    let plain = [&b".gz"[..], b".zst"]
        .iter()
        .find_map(|end| name.strip_suffix(*end))
        .unwrap_or(&name);
    [&b".yaml"[..], b".yml", b".json"]
        .iter()
        .any(|end| plain.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path, recursive: bool) -> Vec<String> {
        let files = files_of(directory, recursive).expect("files");
        let name = |path: &PathBuf| {
            path.strip_prefix(directory)
                .expect("in it")
                .to_string_lossy()
                .into_owned()
        };
        files.iter().map(name).collect()
    }

    #[test]
    fn a_directory_gives_its_manifests_in_order() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        fs::create_dir_all(path.join("sub/deeper")).expect("directories");
        fs::create_dir(path.join("dir.yaml")).expect("a directory");
        for file in [
            "b.yaml",
            "a.YML",
            "c.json",
            "c.json.gz",
            "d.yaml.zst",
            "e.txt",
            "f.gz",
            "yaml",
            "sub/x.json",
            "sub/deeper/y.yml",
        ] {
            fs::write(path.join(file), "").expect("a file");
        }
        let here = ["a.YML", "b.yaml", "c.json", "c.json.gz", "d.yaml.zst"];
        assert_eq!(names(path, false), here);
        assert_eq!(
            names(path, true),
            [&here[..], &["sub/deeper/y.yml", "sub/x.json"]].concat()
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_to_files_are_followed_and_links_to_directories_are_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        fs::write(path.join("real.txt"), "").expect("a file");
        std::os::unix::fs::symlink("real.txt", path.join("link.yaml")).expect("a link");
        std::os::unix::fs::symlink(".", path.join("loop.yaml")).expect("a link");
        assert_eq!(names(path, true), ["link.yaml"]);
    }

    #[test]
    fn a_directory_without_manifests_is_an_error_that_says_what_is_missing() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("notes.txt"), "").expect("a file");
        let error = files_of(directory.path(), false).expect_err("no manifests");
        assert!(
            matches!(
                error,
                ReadError::EmptyDirectory {
                    has_directories: false,
                    ..
                }
            ),
            "{error:?}"
        );
        fs::create_dir(directory.path().join("sub")).expect("a directory");
        let error = files_of(directory.path(), false).expect_err("no manifests");
        assert!(
            matches!(
                error,
                ReadError::EmptyDirectory {
                    has_directories: true,
                    ..
                }
            ),
            "{error:?}"
        );
        assert!(
            error
                .hint()
                .is_some_and(|hint| hint.contains("directories in it are not read"))
        );
    }

    #[test]
    fn a_directory_that_is_gone_is_an_error() {
        let error = files_of(Path::new("/nonexistent/directory"), false).expect_err("gone");
        assert!(matches!(error, ReadError::Open { .. }), "{error:?}");
    }
}
