//! What a conversion leaves behind on disk: a backup of the claims and a journal of the writes.
//!
//! Both are there before the first write, and each write is in the journal before it is sent, on stable storage. So whatever ends
//! the process, the journal names every write that may have happened. It serves `restore` and the report; a second run needs it for
//! one thing only, to know which claims were converted before.

mod backup;
mod journal;
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
pub use self::journal::{Entry, Head, Write, read_journal};
pub(super) use self::journal::{NOT_SENT, VERSION, time};
use self::journal::{drop_torn_line, keep};
pub use self::paths::{Paths, holders_before};
use crate::model::Str;
use crate::sources::destination::DestinationError;

/// What can be wrong with these files.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file that cannot be written or read.
    #[error("cannot {doing} `{}`", path.display())]
    File {
        /// `write`, `read`.
        doing: &'static str,
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file that is something else.
    #[error("`{}` is not what `convert` writes: {message}", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
        /// How it differs.
        message: String,
    },
    /// The backup cannot be written.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// Something that keeps nothing.
    #[error("`{}` keeps nothing: backup and journal have to be regular files", path.display())]
    NoFile {
        /// Which.
        path: PathBuf,
    },
    /// Another process writes it.
    #[error("`{}` belongs to a conversion that is running", path.display())]
    Busy {
        /// Which.
        path: PathBuf,
    },
}

/// Backup and journal of a running conversion.
#[derive(Debug)]
pub struct Record {
    paths: Paths,
    /// Claims in the backup, by UID.
    saved: BTreeMap<Str, Box<RawValue>>,
    /// Writes of the processes before this one, in the same journal.
    earlier: Vec<Write>,
    lines: Option<mpsc::Sender<Line>>,
    writer: Option<JoinHandle<()>>,
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
    /// When they cannot be written, or belong to somebody else.
    pub fn open(paths: Paths, head: &Head) -> Result<Self, RecordError> {
        for path in [&paths.backup, &paths.journal] {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                create_folder(folder).map_err(|source| file("write", folder, source))?;
            }
        }
        let journal = &paths.journal;
        let mut opened = private()
            .read(true)
            .append(true)
            .create(true)
            .open(journal)
            .map_err(|source| file("write", journal, source))?;
        if opened.try_lock().is_err() {
            return Err(RecordError::Busy {
                path: journal.clone(),
            });
        }
        let mut earlier = Vec::new();
        for entry in read_journal(journal)? {
            if let Entry::Write(write) = entry {
                earlier.push(write);
            }
        }
        drop_torn_line(&mut opened).map_err(|source| file("write", journal, source))?;
        let mut saved = BTreeMap::new();
        if paths.backup.exists() {
            for claim in read_backup(&paths.backup)? {
                saved.insert(uid_of(&claim, &paths.backup)?, claim);
            }
        }
        let (lines, inbox) = mpsc::channel();
        let writer = std::thread::spawn(move || keep(&mut opened, File::sync_data, &inbox));
        let record = Self {
            paths,
            saved,
            earlier,
            lines: Some(lines),
            writer: Some(writer),
        };
        record.note(&Entry::Start {
            time: time(),
            head: head.clone(),
        });
        Ok(record)
    }

    /// Where the files lie.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Writes of earlier processes in the same journal.
    pub fn earlier(&self) -> &[Write] {
        &self.earlier
    }

    /// Puts claims into the backup that are not in it yet. They are safe when this returns.
    pub(super) fn back_up(&mut self, claims: Vec<Box<RawValue>>) -> Result<(), RecordError> {
        let path = &self.paths.backup;
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
            .unwrap_or_else(|_| Err(io::Error::other("the journal's thread ended")));
        result.map_err(|source| file("write", &self.paths.journal, source))
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
            // Whoever waits learns of a thread that ended by its own channel.
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

fn file(doing: &'static str, path: &Path, source: io::Error) -> RecordError {
    RecordError::File {
        doing,
        path: path.to_owned(),
        source,
    }
}
