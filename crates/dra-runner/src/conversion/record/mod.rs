//! Records of a conversion on disk: a backup of the claims and a journal of the writes.
//!
//! Both are there before the first write, and each write is in the journal before it is sent, on stable storage. So whatever ends
//! the process, the journal names every write that may have happened. It serves `restore` and the report; a second run needs it for
//! one thing only, to know which claims were converted before.

mod backup;
mod journal;
mod lock;
mod paths;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use serde_json::value::RawValue;
use tokio::sync::oneshot;

pub use self::backup::read_backup;
use self::backup::{Backup, save, uid_of};
pub(super) use self::journal::time;
pub use self::journal::{Answered, Entry, Head, Write, WriteAction, check_cluster, read_journal};
use self::journal::{drop_torn_line, keep};
pub use self::lock::Lock;
pub use self::paths::{Paths, holders_before};
use dra_model::Str;
use dra_sources::destination::DestinationError;

/// Errors of these files.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file that cannot be written or read.
    #[error("cannot {doing} `{}`", path.display())]
    File {
        /// `write`, `read`.
        doing: &'static str,
        /// Path.
        path: PathBuf,
        /// The reason why not.
        source: io::Error,
    },
    /// A file that is something else.
    #[error("`{}` was not written by `convert`: {message}", path.display())]
    Foreign {
        /// Path.
        path: PathBuf,
        /// Difference.
        message: String,
    },
    /// The backup cannot be written.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// Another process writes it.
    #[error("`{}` belongs to a running conversion", path.display())]
    Busy {
        /// Path.
        path: PathBuf,
    },
    /// A journal of another cluster.
    #[error(
        "`{}` is the journal of another cluster: it was written for `{}`, whose kube-system namespace has UID \
        {}, but on `{}` it has UID {}",
        path.display(), of.server, of.cluster_uid.as_deref().unwrap_or_default(), here.server,
        here.cluster_uid.as_deref().unwrap_or_default()
    )]
    OtherCluster {
        /// Path.
        path: PathBuf,
        /// Conversion that it was written for.
        of: Box<Head>,
        /// The cluster that is connected.
        here: Box<Head>,
    },
    /// Something that cannot be replaced or shortened without harm.
    #[error("`{}` is {what}, not a file", path.display())]
    NoFile {
        /// Path.
        path: PathBuf,
        /// Type of the file.
        what: &'static str,
    },
    /// Backup and journal would overwrite each other.
    #[error("`{}` cannot be both the backup and the journal", path.display())]
    Same {
        /// Path.
        path: PathBuf,
    },
}

impl RecordError {
    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Destination(error) => return error.hint(),
            Self::File { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the paths of `--backup` and `--journal`",
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    "free some space, or choose files on another disk with `--backup` and `--journal`, and \
                    run it again"
                }
                _ => return None,
            },
            Self::Foreign { .. } => {
                "it was not changed; choose another file with `--backup` or `--journal`, or restore the \
                undamaged one"
            }
            Self::OtherCluster { .. } => {
                "select the journal's cluster with `--context`, or choose other files with `--backup` and \
                `--journal`"
            }
            Self::Busy { .. } => {
                "wait for that conversion to finish, or choose other files with `--backup` and `--journal`"
            }
            Self::NoFile { .. } | Self::Same { .. } => "use different files for `--backup` and `--journal`",
        };
        Some(hint.to_owned())
    }
}

/// Backup and journal of a running conversion.
#[derive(Debug)]
pub struct Record {
    /// As the user named them.
    paths: Paths,
    /// Resolved paths.
    files: Paths,
    /// Claims in the backup, by UID.
    saved: BTreeMap<Str, Box<RawValue>>,
    /// Writes of the processes before this one, in the same journal.
    earlier: Vec<Write>,
    lines: Option<mpsc::Sender<Line>>,
    writer: Option<JoinHandle<()>>,
    /// Held as long as the backup may be replaced.
    _lock: Lock,
}

/// A line for the journal, and who waits for it to be safe.
struct Line {
    text: Vec<u8>,
    safe: Option<oneshot::Sender<io::Result<()>>>,
}

impl Record {
    /// Creates the files, or continues those that are there.
    ///
    /// # Errors
    /// When they cannot be written, or belong to another user.
    pub fn open(paths: Paths, head: &Head) -> Result<Self, RecordError> {
        for path in [&paths.backup, &paths.journal] {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                create_folder(folder).map_err(|source| file("write", folder, source))?;
            }
        }
        // Where a link leads is where a file is written, and what a second conversion must not write.
        let files = Paths {
            backup: led_to(&paths.backup)?,
            journal: led_to(&paths.journal)?,
        };
        if files.backup == files.journal {
            return Err(RecordError::Same { path: files.backup });
        }
        // Both are looked at before either is touched.
        let lock = Lock::of(&files.backup)?;
        let mut saved = BTreeMap::new();
        if files.backup.exists() {
            for claim in read_backup(&files.backup)? {
                saved.insert(uid_of(&claim, &files.backup)?, claim);
            }
        }
        let journal = &files.journal;
        if journal.exists() {
            read_journal(journal)?;
        }
        let mut opened = private()
            .read(true)
            .append(true)
            .create(true)
            .open(journal)
            .map_err(|source| file("write", journal, source))?;
        lock::hold(&opened, journal)?;
        let entries = read_journal(journal)?;
        check_cluster(journal, &entries, head)?;
        let entries = entries.into_iter();
        let earlier = entries.filter_map(Entry::into_write).collect();
        drop_torn_line(&mut opened).map_err(|source| file("write", journal, source))?;
        let (lines, inbox) = mpsc::channel();
        let writer = std::thread::spawn(move || keep(&mut opened, File::sync_data, &inbox));
        let record = Self {
            paths,
            files,
            saved,
            earlier,
            lines: Some(lines),
            writer: Some(writer),
            _lock: lock,
        };
        record.note(&Entry::Start {
            time: time(),
            head: head.clone(),
        });
        Ok(record)
    }

    /// Returns where the files lie.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Writes of earlier processes in the same journal.
    pub fn earlier(&self) -> &[Write] {
        &self.earlier
    }

    /// Puts claims into the backup that are not in it yet. They are safe when this returns.
    pub(super) fn back_up(&mut self, claims: Vec<Box<RawValue>>) -> Result<(), RecordError> {
        let path = &self.files.backup;
        for claim in claims {
            self.saved.entry(uid_of(&claim, path)?).or_insert(claim);
        }
        let backup = Backup {
            api_version: "v1".to_owned(),
            kind: "List".to_owned(),
            items: self.saved.values().cloned().collect(),
        };
        save(path, &backup)
    }

    /// Writes a line and waits until it is on stable storage.
    pub(super) async fn write(&self, write: Write) -> Result<(), RecordError> {
        let (safe, done) = oneshot::channel();
        self.send(&Entry::Write(write), Some(safe));
        let result = done
            .await
            .unwrap_or_else(|_| Err(io::Error::other("the journal thread stopped")));
        result.map_err(|source| file("write", &self.files.journal, source))
    }

    /// Writes a line that nothing depends on.
    pub(super) fn note(&self, entry: &Entry) {
        self.send(entry, None);
    }

    fn send(&self, entry: &Entry, safe: Option<oneshot::Sender<io::Result<()>>>) {
        // Entries are texts and lists of JSON, which always serialize.
        let Ok(mut text) = serde_json::to_vec(entry) else {
            return;
        };
        text.push(b'\n');
        if let Some(lines) = &self.lines {
            // Waiting callers notice through their own channel that the thread stopped.
            let _ = lines.send(Line { text, safe });
        }
    }

    /// Closes the journal with the last line.
    pub fn close(mut self, finished: bool) {
        self.note(&Entry::End {
            time: time(),
            finished,
        });
        self.stop();
    }

    fn stop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Options for files that only the user may read.
fn private() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Keeps conversions from writing records that are read, as long as what is returned is kept.
///
/// # Errors
/// When one is writing them.
pub fn hold(backup: &Path, journal: &Path) -> Result<(Option<Lock>, Option<File>), RecordError> {
    regular(backup)?;
    regular(journal)?;
    // On a disk that cannot be written no other process writes either.
    let lock = match led_to(backup).and_then(|backup| Lock::of(&backup)) {
        Err(busy @ RecordError::Busy { .. }) => return Err(busy),
        lock => lock.ok(),
    };
    let opened = File::open(journal).map_err(|source| file("read", journal, source))?;
    match opened.try_lock_shared() {
        Err(std::fs::TryLockError::WouldBlock) => Err(RecordError::Busy {
            path: journal.to_owned(),
        }),
        locked => Ok((lock, locked.is_ok().then_some(opened))),
    }
}

/// The file itself, where `path` is a link.
fn led_to(path: &Path) -> Result<PathBuf, RecordError> {
    let led = match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.is_symlink() {
                let what = "a broken link";
                let path = path.to_owned();
                return Err(RecordError::NoFile { path, what });
            }
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize();
            folder.map(|folder| folder.join(path.file_name().unwrap_or_default()))
        }
        led => led,
    };
    let led = led.map_err(|source| file("write", path, source))?;
    if led.exists() {
        regular(&led)?;
    }
    Ok(led)
}

/// Rejects special files: reading could block forever, or replace a device.
fn regular(path: &Path) -> Result<(), RecordError> {
    let metadata = path.metadata().map_err(|source| file("read", path, source))?;
    if metadata.is_file() {
        return Ok(());
    }
    Err(RecordError::NoFile {
        path: path.to_owned(),
        what: if metadata.is_dir() {
            "a directory"
        } else {
            "a device, a pipe or a socket"
        },
    })
}

fn foreign(path: &Path, message: String) -> RecordError {
    RecordError::Foreign {
        path: path.to_owned(),
        message,
    }
}

fn file(doing: &'static str, path: &Path, source: io::Error) -> RecordError {
    RecordError::File {
        doing,
        path: path.to_owned(),
        source,
    }
}
