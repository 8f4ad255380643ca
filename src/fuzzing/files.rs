//! Targets for files that the program writes, and for records that it reads again.

use std::fs;
use std::path::{Path, PathBuf};

use dra_runner::conversion::saved;
use dra_sources::destination::{Destination, Readers};

use super::bytes::Bytes;
use super::program::file;

const OLD: &[u8] = b"what was there";
const NEW: &[u8] = b"what is written";

/// A name to write to, among files, directories, links and pipes: only a regular file is ever replaced, and by all of
/// the new content.
pub(super) fn destination(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let folder = tempfile::tempdir().expect("a temporary directory");
    let inside = |name: &str| folder.path().join(name);
    fs::create_dir(inside("d")).expect("a directory");
    for name in ["a", "b", "d/c"] {
        fs::write(inside(name), OLD).expect("a file");
    }
    lay(&mut bytes, folder.path());
    let before = look(folder.path());
    let name: String = (0..=bytes.below(5))
        .map(|_| {
            bytes.pick(&[
                "a", "b", "d", "d/c", "..", ".", "/", "l", "m", "p", "new", "-", " ", "\u{e9}", "%",
            ])
        })
        .collect();
    let named = inside("d").join(format!("../{name}"));
    let shown = named.display();
    let fails = bytes.one_in(4);
    let result = match Destination::of(&named) {
        Ok(Destination::File(file)) if file.is_regular() => {
            let path = file.path().to_owned();
            // A name may point outside the directory; this target does not exist there.
            if !path.starts_with(folder.path())
                && fs::canonicalize(path.parent().unwrap_or(Path::new("/"))).is_ok_and(|real| {
                    !real.starts_with(fs::canonicalize(folder.path()).expect("a directory"))
                })
            {
                return;
            }
            let written = file.write(Readers::AsBefore, |out: &mut dyn std::io::Write| {
                out.write_all(NEW)?;
                if fails {
                    return Err(std::io::Error::other("the disk is full"));
                }
                Ok(())
            });
            written.is_ok().then_some(path)
        }
        _ => None,
    };
    let after = look(folder.path());
    let changed: Vec<&PathBuf> = before
        .iter()
        .filter(|(path, what)| {
            after
                .iter()
                .find(|(other, _)| other == path)
                .map(|(_, what)| what)
                != Some(what)
        })
        .map(|(path, _)| path)
        .collect();
    match result {
        None => {
            assert!(
                changed.is_empty(),
                "{shown} was not written and changed {changed:?}"
            );
            assert_eq!(
                before.len(),
                after.len(),
                "{shown} was not written and left a file"
            );
        }
        Some(path) => {
            assert!(!fails);
            assert_eq!(fs::read(&path).expect("the file"), NEW);
            assert!(changed.len() <= 1, "{shown} changed {changed:?}");
            assert!(after.len() <= before.len() + 1, "{shown} left more than itself");
        }
    }
}

/// Lays links, circles of them and a pipe, as the bytes say.
fn lay(bytes: &mut Bytes<'_>, folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        let targets = ["a", "d", "d/c", "l", "m", "none", "../x/none", "d/../b"];
        for name in ["l", "m", "d/l"] {
            let _ = symlink(bytes.pick(&targets), folder.join(name));
        }
        let pipe = folder.join("p");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let _ = rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0);
    }
}

/// Returns the content of the directory: each path with its content or type.
fn look(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).expect("a directory").flatten() {
            let kind = entry.file_type().expect("a type");
            let what = if kind.is_dir() {
                waiting.push(entry.path());
                b"directory".to_vec()
            } else if kind.is_symlink() {
                fs::read_link(entry.path())
                    .expect("a link")
                    .into_os_string()
                    .into_encoded_bytes()
            } else if kind.is_file() {
                fs::read(entry.path()).expect("a file")
            } else {
                b"special".to_vec()
            };
            found.push((entry.path(), what));
        }
    }
    found.sort();
    found
}

/// A backup and a journal of any content: they are read or refused, and stay as they are.
pub(super) fn records(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (backup, journal) = data.split_at(at);
    let journal = journal.get(1..).unwrap_or_default();
    let (backup_path, journal_path) = (file("backup.json", backup), file("journal.jsonl", journal));
    let _ = saved(Path::new(&backup_path), Path::new(&journal_path));
    assert_eq!(fs::read(backup_path).expect("the backup"), backup);
    assert_eq!(fs::read(journal_path).expect("the journal"), journal);
}
