//! What a conversion leaves behind on disk: a backup of the claims and a journal of the writes.
//!
//! Both are there before the first write, and each write is in the journal before it is sent, on stable storage. So whatever ends
//! the process, the journal names every write that may have happened. It serves `restore` and the report; a second run needs it for
//! one thing only, to know which claims were converted before.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::model::Str;

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
    /// Another process writes it.
    #[error("`{}` belongs to a conversion that is running", path.display())]
    Busy {
        /// Which.
        path: PathBuf,
    },
}

/// Where backup and journal lie.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The claims as they were.
    pub backup: PathBuf,
    /// The writes.
    pub journal: PathBuf,
}

const BACKUP: &str = ".backup.json";
const JOURNAL: &str = ".journal.jsonl";

impl Paths {
    /// Those that the user named; else beside each other, with a name of their own in `folder`. A conversion that did not come to
    /// its end there is continued.
    pub fn choose(
        backup: Option<PathBuf>,
        journal: Option<PathBuf>,
        folder: &Path,
        head: &Head,
    ) -> Result<Self, RecordError> {
        match (backup, journal) {
            (Some(backup), Some(journal)) => Ok(Self { backup, journal }),
            (Some(backup), None) => Ok(Self {
                journal: Self::journal_of(&backup),
                backup,
            }),
            (None, Some(journal)) => Ok(Self {
                backup: beside(&journal, JOURNAL, BACKUP),
                journal,
            }),
            (None, None) => {
                if let Some(journal) = unfinished(folder, head)? {
                    return Ok(Self {
                        backup: beside(&journal, JOURNAL, BACKUP),
                        journal,
                    });
                }
                let name = format!(
                    "{}-{}",
                    Timestamp::now().strftime("%Y%m%dT%H%M%S%3fZ"),
                    std::process::id()
                );
                Ok(Self {
                    backup: folder.join(format!("{name}{BACKUP}")),
                    journal: folder.join(format!("{name}{JOURNAL}")),
                })
            }
        }
    }

    /// The journal that belongs to a backup, unless the user names another one.
    pub fn journal_of(backup: &Path) -> PathBuf {
        beside(backup, BACKUP, JOURNAL)
    }
}

/// The path with another ending.
fn beside(path: &Path, ending: &str, other: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name
        .strip_suffix(ending)
        .or_else(|| name.strip_suffix(".json"))
        .unwrap_or(&name);
    path.with_file_name(format!("{stem}{other}"))
}

/// The newest journal in `folder` whose conversion was cut off, and which nobody writes.
fn unfinished(folder: &Path, head: &Head) -> Result<Option<PathBuf>, RecordError> {
    let Some(newest) = journals(folder)?.pop() else {
        return Ok(None);
    };
    let entries = read_journal(&newest)?;
    let same = entries.first().is_some_and(
        |entry| matches!(entry, Entry::Start { head: of, .. } if of.server == head.server && of.restore == head.restore),
    );
    let ended = matches!(entries.last(), Some(Entry::End { finished: true, .. }));
    let busy = File::open(&newest).is_ok_and(|file| file.try_lock_shared().is_err());
    Ok((same && !ended && !busy).then_some(newest))
}

/// The journals in `folder`, by age.
fn journals(folder: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let mut journals: Vec<PathBuf> = match folder.read_dir() {
        Ok(entries) => entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.to_string_lossy().ends_with(JOURNAL))
            .collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(file("read", folder, source)),
    };
    // Names begin with the time.
    journals.sort();
    Ok(journals)
}

/// Who held the leases when the last conversion of `server` before the final one ran, as far as its journal is in `folder`.
///
/// # Errors
/// When a journal cannot be read.
pub fn holders_before(folder: &Path, server: &str) -> Result<BTreeMap<String, String>, RecordError> {
    for path in journals(folder)?.into_iter().rev() {
        let mut starts = read_journal(&path)?
            .into_iter()
            .rev()
            .filter_map(|entry| match entry {
                Entry::Start { head, .. } => Some(head),
                _ => None,
            });
        if let Some(head) = starts.find(|head| head.server == server && !head.is_final && !head.restore) {
            return Ok(head.lease_holders);
        }
    }
    Ok(BTreeMap::new())
}

/// What a conversion is, said once at the beginning of its journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Head {
    /// The API server.
    pub server: String,
    /// The kubeconfig's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Whether it is the last one before the downgrade.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Whether it brings old lists back.
    pub restore: bool,
    /// Who held the leases of scheduler and controller manager.
    pub lease_holders: BTreeMap<String, String>,
}

/// A line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all_fields = "camelCase")]
pub enum Entry {
    /// A process began.
    Start {
        /// When.
        time: String,
        /// What it is about to do.
        #[serde(flatten)]
        head: Head,
    },
    /// This is sent next.
    Write(Write),
    /// What came of it.
    Result {
        /// When.
        time: String,
        /// UID of the claim.
        uid: Str,
        /// The answer, for people.
        answer: String,
    },
    /// The process ended by itself.
    End {
        /// When.
        time: String,
        /// Whether it did all that was to be done.
        finished: bool,
    },
}

/// One write.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Write {
    /// When.
    pub time: String,
    /// `Convert`, `Release`, `Finalizer` or `Restore`.
    pub action: String,
    /// Namespace of the claim.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// The version that the write is locked to.
    pub resource_version: Str,
    /// The list before.
    pub before: Vec<Value>,
    /// The list that it makes.
    pub after: Vec<Value>,
    /// The JSON patch.
    pub patch: Value,
}

/// The time as journals have it.
pub(super) fn time() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Reads a journal. A last line that was cut off never became a write, so it is left out.
///
/// # Errors
/// When the file cannot be read, or is no journal.
pub fn read_journal(path: &Path) -> Result<Vec<Entry>, RecordError> {
    let opened = File::open(path).map_err(|source| file("read", path, source))?;
    let mut lines = BufReader::new(opened);
    let mut entries = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = lines
            .read_until(b'\n', &mut line)
            .map_err(|source| file("read", path, source))?;
        if count == 0 || line.last() != Some(&b'\n') {
            return Ok(entries);
        }
        let entry = serde_json::from_slice(&line).map_err(|error| RecordError::Foreign {
            path: path.to_owned(),
            message: format!("line {}: {error}", entries.len() + 1),
        })?;
        entries.push(entry);
    }
}

/// The claims of a backup.
///
/// # Errors
/// When the file cannot be read, or is no backup.
pub fn read_backup(path: &Path) -> Result<Vec<Box<RawValue>>, RecordError> {
    let mut text = String::new();
    File::open(path)
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|source| file("read", path, source))?;
    let backup: Backup = serde_json::from_str(&text).map_err(|error| RecordError::Foreign {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    Ok(backup.items)
}

/// A `kind: List`, which kubectl and `--from` read.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Backup {
    api_version: String,
    kind: String,
    items: Vec<Box<RawValue>>,
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
        let writer = std::thread::spawn(move || keep(&mut opened, &inbox));
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
        save(path, &backup).map_err(|source| file("write", path, source))
    }

    /// Writes a line and waits until it is on stable storage.
    pub(super) async fn write(&self, write: &Write) -> Result<(), RecordError> {
        let (safe, done) = oneshot::channel();
        self.send(&Entry::Write(write.clone()), Some(safe));
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

/// The journal's thread. Lines that wait at the same time share one trip to the disk.
fn keep(journal: &mut File, inbox: &mpsc::Receiver<Line>) {
    while let Ok(first) = inbox.recv() {
        let mut text = first.text;
        let mut waiting: Vec<_> = first.safe.into_iter().collect();
        while let Ok(line) = inbox.try_recv() {
            text.extend_from_slice(&line.text);
            waiting.extend(line.safe);
        }
        let mut result = journal.write_all(&text);
        if result.is_ok() && !waiting.is_empty() {
            result = journal.sync_data();
        }
        for safe in waiting {
            let answer = result
                .as_ref()
                .copied()
                .map_err(|error| io::Error::new(error.kind(), error.to_string()));
            let _ = safe.send(answer);
        }
    }
    let _ = journal.sync_data();
}

/// Cuts off what a process that was killed left of its last line.
fn drop_torn_line(journal: &mut File) -> io::Result<()> {
    let mut text = Vec::new();
    journal.seek(SeekFrom::Start(0))?;
    journal.read_to_end(&mut text)?;
    let whole = memchr::memrchr(b'\n', &text).map_or(0, |at| at + 1);
    if whole < text.len() {
        journal.set_len(whole as u64)?;
    }
    Ok(())
}

/// Replaces a file so that it is there as a whole or as it was.
fn save(path: &Path, backup: &Backup) -> io::Result<()> {
    let unfinished = path.with_file_name(format!(
        ".{}.{}",
        path.file_name().unwrap_or_default().to_string_lossy(),
        std::process::id()
    ));
    let mut file = private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&unfinished)?;
    let mut out = io::BufWriter::new(&mut file);
    serde_json::to_writer(&mut out, backup)?;
    out.write_all(b"\n")?;
    out.flush()?;
    drop(out);
    file.sync_all()?;
    std::fs::rename(&unfinished, path)?;
    // The new name is safe once the folder is.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if cfg!(unix) {
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

fn uid_of(claim: &RawValue, path: &Path) -> Result<Str, RecordError> {
    #[derive(Deserialize)]
    struct Claim {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        uid: Str,
    }
    let claim: Claim = serde_json::from_str(claim.get()).map_err(|error| RecordError::Foreign {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    Ok(claim.metadata.uid)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claim(name: &str, version: &str) -> Box<RawValue> {
        let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"namespace": "n", "name": name, "uid": format!("u{name}"), "resourceVersion": version}});
        RawValue::from_string(claim.to_string()).expect("JSON")
    }

    fn write(name: &str) -> Write {
        Write {
            time: time(),
            action: "Convert".to_owned(),
            namespace: "n".into(),
            name: name.into(),
            uid: format!("u{name}").into(),
            resource_version: "1".into(),
            before: vec![json!({"resource": "podgroups", "name": "g", "uid": "ug", "since": 3})],
            after: Vec::new(),
            patch: json!([]),
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime")
    }

    fn head() -> Head {
        Head {
            server: "https://a".to_owned(),
            ..Head::default()
        }
    }

    fn choose(folder: &Path) -> Paths {
        Paths::choose(None, None, folder, &head()).expect("paths")
    }

    fn writes(path: &Path) -> Vec<Str> {
        let entries = read_journal(path).expect("a journal").into_iter();
        entries
            .filter_map(|entry| match entry {
                Entry::Write(write) => Some(write.name),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn what_was_cut_off_is_continued_and_what_ended_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = choose(folder.path());
        let record = Record::open(first.clone(), &head()).expect("a record");
        runtime().block_on(record.write(&write("a"))).expect("written");
        // Somebody else's is left alone.
        assert_ne!(choose(folder.path()).journal, first.journal);
        assert!(matches!(
            Record::open(first.clone(), &head()),
            Err(RecordError::Busy { .. })
        ));
        // Killed: no last line.
        drop(record);
        assert_eq!(choose(folder.path()).journal, first.journal);
        let elsewhere = Head {
            server: "https://b".to_owned(),
            ..Head::default()
        };
        let other = Paths::choose(None, None, folder.path(), &elsewhere).expect("paths");
        assert_ne!(other.journal, first.journal);

        let record = Record::open(first.clone(), &head()).expect("a record");
        assert_eq!(record.earlier().len(), 1);
        record.close(true);
        assert_ne!(choose(folder.path()).journal, first.journal);
        assert_eq!(writes(&first.journal), ["a"]);
    }

    #[test]
    fn a_torn_line_is_no_write_and_spoils_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = choose(folder.path());
        let record = Record::open(paths.clone(), &head()).expect("a record");
        runtime().block_on(record.write(&write("a"))).expect("written");
        drop(record);
        let mut journal = OpenOptions::new()
            .append(true)
            .open(&paths.journal)
            .expect("the journal");
        journal
            .write_all(b"{\"event\":\"Write\",\"name\":\"b")
            .expect("written");
        assert_eq!(writes(&paths.journal), ["a"]);
        let record = Record::open(paths.clone(), &head()).expect("a record");
        runtime().block_on(record.write(&write("c"))).expect("written");
        record.close(false);
        assert_eq!(writes(&paths.journal), ["a", "c"]);
    }

    #[test]
    fn the_backup_keeps_what_was_there_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = choose(folder.path());
        let mut record = Record::open(paths.clone(), &head()).expect("a record");
        record.back_up(vec![claim("a", "1")]).expect("written");
        record
            .back_up(vec![claim("a", "2"), claim("b", "3")])
            .expect("written");
        drop(record);
        let mut record = Record::open(paths.clone(), &head()).expect("a record");
        record.back_up(vec![claim("b", "4")]).expect("written");
        drop(record);
        let kept: Vec<String> = read_backup(&paths.backup)
            .expect("a backup")
            .iter()
            .map(|claim| claim.get().to_owned())
            .collect();
        assert_eq!(
            kept,
            [claim("a", "1").get().to_owned(), claim("b", "3").get().to_owned()]
        );
        #[cfg(unix)]
        for path in [&paths.backup, &paths.journal] {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = path.metadata().expect("it is there").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}", path.display());
        }
    }
}
