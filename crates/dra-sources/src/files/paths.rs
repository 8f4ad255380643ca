//! From what the user named to the files that are read, in an order that does not depend on the file system.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::ReadError;

/// The files of a directory that are read, as kubectl chooses them: those that end in `.yaml`, `.yml` or `.json`, here also those
/// with one object in each line, and compressed ones. A file whose name begins with a dot is read like any other; links to files are
/// followed.
pub(crate) fn files_of(directory: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let (files, others): (Vec<_>, Vec<_>) = entries(directory)?
        .into_iter()
        .partition(|path| !path.is_dir() && is_read(path));
    if files.is_empty() {
        return Err(ReadError::EmptyDirectory {
            directory: display(directory),
            has_directories: others.iter().any(|path| path.is_dir()),
        });
    }
    for path in &files {
        refuse_special(path)?;
    }
    Ok(files)
}

/// Returns what else is in a directory, and why it is not read.
pub(crate) fn left_out(directory: &Path) -> Result<Vec<(PathBuf, &'static str)>, ReadError> {
    let why = |path: PathBuf| {
        if path.is_dir() {
            Some((path, "subdirectory, not read; name it with another --from"))
        } else if is_read(&path) {
            None
        } else {
            Some((
                path,
                "not read: it is not a .yaml, .yml, .json, .ndjson or .jsonl file (plain, .gz or .zst); \
                name it with another --from, or move it out of the directory",
            ))
        }
    };
    Ok(entries(directory)?.into_iter().filter_map(why).collect())
}

/// Everything in a directory, but for what Kubernetes itself keeps in a mounted volume beside the links that lead there.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let failed = |source| ReadError::Open {
        file: display(directory),
        source,
    };
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b"..") {
            entries.push(entry.path());
        }
    }
    entries.sort_unstable();
    Ok(entries)
}

/// Rejects files that may be endless or wait for a writer forever. They are read only if named explicitly.
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
    "a special file"
}

/// A path as shown in messages.
pub(super) fn display(path: &Path) -> std::sync::Arc<str> {
    path.to_string_lossy().into()
}

fn is_read(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let name = name.to_ascii_lowercase();
    let plain = [&b".gz"[..], b".zst"]
        .iter()
        .find_map(|end| name.strip_suffix(*end))
        .unwrap_or(&name);
    [&b".yaml"[..], b".yml", b".json", b".ndjson", b".jsonl"]
        .iter()
        .any(|end| plain.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path, files: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
        let name = |path: PathBuf| {
            path.strip_prefix(directory)
                .expect("in it")
                .to_string_lossy()
                .into_owned()
        };
        files.into_iter().map(name).collect()
    }

    fn read(directory: &Path) -> Vec<String> {
        names(directory, files_of(directory).expect("files"))
    }

    fn not_read(directory: &Path) -> Vec<String> {
        let left_out = left_out(directory).expect("files");
        names(directory, left_out.into_iter().map(|(path, _)| path))
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
            "d.ndjson",
            "d.jsonl.gz",
            ".hidden.json",
            ".notes",
            "..data",
            "e.txt",
            "e.yaml.xz",
            "e.yaml~",
            "f.gz",
            "yaml",
            "sub/x.json",
            "sub/deeper/y.yml",
        ] {
            fs::write(path.join(file), "").expect("a file");
        }
        assert_eq!(
            read(path),
            [
                ".hidden.json",
                "a.YML",
                "b.yaml",
                "c.json",
                "c.json.gz",
                "d.jsonl.gz",
                "d.ndjson",
                "d.yaml.zst"
            ]
        );
        assert_eq!(
            not_read(path),
            [
                ".notes",
                "dir.yaml",
                "e.txt",
                "e.yaml.xz",
                "e.yaml~",
                "f.gz",
                "sub",
                "yaml"
            ]
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
        assert_eq!(read(path), ["link.yaml"]);
        assert_eq!(not_read(path), ["loop.yaml", "real.txt"]);
    }

    #[test]
    fn a_directory_without_manifests_is_an_error_that_says_what_is_missing() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("notes.txt"), "").expect("a file");
        let error = files_of(directory.path()).expect_err("no manifests");
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
        let error = files_of(directory.path()).expect_err("no manifests");
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
                .is_some_and(|hint| hint.contains("subdirectories are not read"))
        );
    }

    #[test]
    fn a_directory_that_is_gone_is_an_error() {
        let error = files_of(Path::new("/nonexistent/directory")).expect_err("gone");
        assert!(matches!(error, ReadError::Open { .. }), "{error:?}");
    }
}
