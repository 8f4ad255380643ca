//! From what the user named to the files that are read, in an order that does not depend on the file system.

use std::collections::BTreeMap;
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

/// A directory with a snapshot of each of several clusters.
#[derive(Debug, Default)]
pub struct SnapshotDirectory {
    /// Names of the clusters, and the arguments of `--from` that name their files, in order.
    pub clusters: Vec<(String, String)>,
    /// What else is there, and why it is not read.
    pub left_out: Vec<String>,
}

impl SnapshotDirectory {
    /// Looks into `directory`. A cluster has the name of its subdirectory, or of its file without endings; where two files would have the
    /// same name, both keep their endings. What begins with a dot is no snapshot.
    ///
    /// # Errors
    /// When it cannot be listed, or has no snapshots.
    pub fn of(directory: &str) -> Result<Self, ReadError> {
        let mut folder = Self::default();
        let mut files = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for path in entries(Path::new(directory))? {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            if name.starts_with(b".") {
                continue;
            }
            let shown = display(&path);
            match (path.is_dir(), stem(&path)) {
                (true, _) => files.push((text(name), text(name), shown.to_string())),
                (false, Some(stem)) => match refuse_special(&path) {
                    Ok(()) => files.push((text(stem), text(name), shown.to_string())),
                    Err(why) => folder.left_out.push(why.to_string()),
                },
                (false, None) => folder.left_out.push(format!(
                    "`{shown}` is not read: it is not a .yaml, .yml, .json, .ndjson or .jsonl file (plain, .gz or .zst)"
                )),
            }
        }
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for (known_as, ..) in &files {
            *times.entry(known_as.clone()).or_default() += 1;
        }
        let named = files
            .into_iter()
            .map(|(known_as, name, path)| match times.get(&known_as) {
                Some(1) => (known_as, path),
                _ => (name, path),
            });
        folder.clusters.extend(named);
        folder.clusters.sort();
        if folder.clusters.is_empty() {
            return Err(ReadError::EmptyDirectory {
                directory: display(Path::new(directory)),
                has_directories: false,
            });
        }
        Ok(folder)
    }
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
    stem(path).is_some()
}

/// The name of a file without the endings that make it one that is read.
fn stem(path: &Path) -> Option<&[u8]> {
    fn without<'n>(name: &'n [u8], endings: &[&str]) -> Option<&'n [u8]> {
        endings.iter().find_map(|ending| {
            let (stem, end) = name.split_at(name.len().checked_sub(ending.len())?);
            end.eq_ignore_ascii_case(ending.as_bytes()).then_some(stem)
        })
    }
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let plain = without(name, &[".gz", ".zst"]).unwrap_or(name);
    without(plain, &[".yaml", ".yml", ".json", ".ndjson", ".jsonl"])
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
    fn a_directory_of_snapshots_gives_each_cluster_the_name_of_its_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let folder = || SnapshotDirectory::of(path.to_str().expect("UTF-8"));
        assert!(matches!(folder(), Err(ReadError::EmptyDirectory { .. })));
        for subdirectory in ["eu.west", "c", ".git", "..2026"] {
            fs::create_dir(path.join(subdirectory)).expect("a directory");
        }
        for file in [
            "b.json.zst",
            "a.YAML.gz",
            "c.json",
            "d.json",
            "d.yaml",
            "x.y.json",
            ".b.json.tmp",
            ".hidden.json",
            "README.md",
        ] {
            fs::write(path.join(file), "").expect("a file");
        }
        let found = folder().expect("snapshots");
        let expected = [
            ("a", "a.YAML.gz"),
            ("b", "b.json.zst"),
            ("c", "c"),
            ("c.json", "c.json"),
            ("d.json", "d.json"),
            ("d.yaml", "d.yaml"),
            ("eu.west", "eu.west"),
            ("x.y", "x.y.json"),
        ];
        let expected = expected.map(|(name, file)| (name.to_owned(), path.join(file).display().to_string()));
        assert_eq!(found.clusters, expected);
        let [left_out] = found.left_out.as_slice() else {
            panic!("{:?}", found.left_out);
        };
        assert!(left_out.contains("README.md"), "{left_out}");
    }

    #[test]
    fn a_directory_that_is_gone_is_an_error() {
        let error = files_of(Path::new("/nonexistent/directory")).expect_err("gone");
        assert!(matches!(error, ReadError::Open { .. }), "{error:?}");
    }
}
