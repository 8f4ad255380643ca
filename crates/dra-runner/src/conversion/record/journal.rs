//! The journal: one line for each thing that happened, on stable storage before it happens.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Line, RecordError, file, foreign, regular};
use dra_model::{ConsumerReference, Str, json};

/// Header of a conversion's journal.
#[serde_with_macros::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Head {
    /// The API server.
    pub server: String,
    /// The kubeconfig's context.
    pub context: Option<String>,
    /// True if it is the last one before the downgrade.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// True if it brings old lists back.
    pub restore: bool,
    /// UID of the namespace kube-system of the cluster, where it could be read.
    pub cluster_uid: Option<Str>,
    /// Lease holders of scheduler and controller manager.
    pub lease_holders: BTreeMap<String, String>,
}

impl Head {
    /// Returns whether both are known to be of the same cluster, or of different ones. A cluster has many addresses, as behind a proxy, and the
    /// address of a local one may lead to another one later; the UID of its namespace kube-system stays.
    pub fn is_of_cluster(&self, other: &Self) -> Option<bool> {
        match (&self.cluster_uid, &other.cluster_uid) {
            (Some(uid), Some(other)) => Some(uid == other),
            _ => None,
        }
    }

    /// Returns whether both are of the same cluster as far as can be known: of one address where the UID is unknown.
    pub(super) fn is_likely_of_cluster(&self, other: &Self) -> bool {
        self.is_of_cluster(other).unwrap_or(self.server == other.server)
    }
}

/// A line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all_fields = "camelCase")]
pub enum Entry {
    /// A process began.
    Start {
        /// Time.
        time: String,
        /// Header.
        #[serde(flatten)]
        head: Head,
    },
    /// This is sent next.
    Write(#[serde(deserialize_with = "json::nested")] Write),
    /// Result.
    Result {
        /// Time.
        time: String,
        /// UID of the claim.
        uid: Str,
        /// The answer.
        answer: Answered,
    },
    /// The process exited.
    End {
        /// Time.
        time: String,
        /// True if it did all that was to be done.
        finished: bool,
    },
}

impl Entry {
    /// The write, if it is one.
    pub fn into_write(self) -> Option<Write> {
        match self {
            Self::Write(write) => Some(write),
            Self::Start { .. } | Self::Result { .. } | Self::End { .. } => None,
        }
    }
}

/// Result of a write. In the journal it is a text, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Answered {
    /// It was not sent after all.
    NotSent,
    /// It took effect, and this is the version that it made.
    Version(String),
    /// Any other response, such as an error: the write may have taken effect.
    Otherwise(String),
}

const NOT_SENT: &str = "not sent";
const VERSION: &str = "version ";

impl From<String> for Answered {
    fn from(text: String) -> Self {
        match text.strip_prefix(VERSION) {
            Some(version) => Self::Version(version.to_owned()),
            None if text == NOT_SENT => Self::NotSent,
            None => Self::Otherwise(text),
        }
    }
}

impl From<Answered> for String {
    fn from(answered: Answered) -> Self {
        match answered {
            Answered::NotSent => NOT_SENT.to_owned(),
            Answered::Version(version) => format!("{VERSION}{version}"),
            Answered::Otherwise(text) => text,
        }
    }
}

/// Purpose of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteAction {
    /// Pods take the place of other entries.
    Convert,
    /// The devices are deallocated.
    Release,
    /// The finalizer goes after them.
    Finalizer,
    /// An old list comes back.
    Restore,
}

/// One write.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Write {
    /// Time.
    pub time: String,
    /// Purpose.
    pub action: WriteAction,
    /// Namespace of the claim.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// The version that the write is locked to.
    pub resource_version: Str,
    /// The list before.
    #[serde(serialize_with = "ConsumerReference::serialize_list")]
    pub before: Vec<ConsumerReference>,
    /// The list that it makes.
    #[serde(serialize_with = "ConsumerReference::serialize_list")]
    pub after: Vec<ConsumerReference>,
    /// The JSON patch as it was sent.
    pub patch: Vec<Value>,
}

/// Refuses a journal that is known to be of another cluster than `head`.
///
/// # Errors
/// Says which cluster it is of.
pub fn check_cluster(path: &Path, entries: &[Entry], head: &Head) -> Result<(), RecordError> {
    let heads = entries.iter().filter_map(|entry| match entry {
        Entry::Start { head, .. } => Some(head),
        Entry::Write(_) | Entry::Result { .. } | Entry::End { .. } => None,
    });
    let mut others = heads.filter(|of| of.is_of_cluster(head) == Some(false));
    match others.next() {
        None => Ok(()),
        Some(other) => Err(RecordError::OtherCluster {
            path: path.to_owned(),
            of: Box::new(other.clone()),
            here: Box::new(head.clone()),
        }),
    }
}

/// The time as journals have it.
pub(in crate::conversion) fn time() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Beginning of the first line of each journal.
const BEGIN: &[u8] = br#"{"event":"Start","time":""#;

/// Beginning of each line. A list would be read as an entry whose event is its first element.
const EVENT: &[u8] = br#"{"event":""#;

/// Reads a journal. A last line that was cut off never became a write, so it is left out. An empty file has no lines.
///
/// # Errors
/// When the file cannot be read, or is no journal.
pub fn read_journal(path: &Path) -> Result<Vec<Entry>, RecordError> {
    regular(path)?;
    let opened = File::open(path).map_err(|source| file("read", path, source))?;
    let mut lines = BufReader::new(opened);
    let mut entries = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = lines
            .read_until(b'\n', &mut line)
            .map_err(|source| file("read", path, source))?;
        // A file that is not empty and does not start like a journal belongs to the user.
        if count > 0 && entries.is_empty() && !line.starts_with(BEGIN) {
            return Err(foreign(path, "line 1 is not a journal header".to_owned()));
        }
        if count == 0 || line.last() != Some(&b'\n') {
            return Ok(entries);
        }
        let number = entries.len() + 1;
        if !line.starts_with(EVENT) {
            return Err(foreign(path, format!("line {number} is not a journal entry")));
        }
        let entry =
            json::from_slice(&line).map_err(|error| foreign(path, format!("line {number}: {error}")))?;
        entries.push(entry);
    }
}

/// Time to collect lines after a sync to disk, which is too expensive per line. A caller that waits for a line has
/// others in progress.
const GATHERING: Duration = Duration::from_millis(20);

/// The journal's thread. Lines that wait at the same time share one trip to the disk.
pub(super) fn keep<J: io::Write>(
    journal: &mut J,
    sync: impl Fn(&J) -> io::Result<()>,
    inbox: &mpsc::Receiver<Line>,
) {
    // What failed may have left a part of a line, which must stay the last.
    let mut result = Ok(());
    while let Ok(first) = inbox.recv() {
        let mut text = first.text;
        let mut waiting: Vec<_> = first.safe.into_iter().collect();
        while let Ok(line) = inbox.try_recv() {
            text.extend_from_slice(&line.text);
            waiting.extend(line.safe);
        }
        if result.is_ok() {
            result = journal.write_all(&text);
        }
        let is_awaited = !waiting.is_empty();
        if result.is_ok() && is_awaited {
            result = sync(journal);
        }
        for safe in waiting {
            let answer = result
                .as_ref()
                .copied()
                .map_err(|error| io::Error::new(error.kind(), error.to_string()));
            let _ = safe.send(answer);
        }
        if is_awaited {
            std::thread::sleep(GATHERING);
        }
    }
    let _ = sync(journal);
}

/// Cuts off what a process that was killed left of its last line.
pub(super) fn drop_torn_line(journal: &mut File) -> io::Result<()> {
    let mut text = Vec::new();
    journal.seek(SeekFrom::Start(0))?;
    journal.read_to_end(&mut text)?;
    let whole = memchr::memrchr(b'\n', &text).map_or(0, |at| at + 1);
    if whole < text.len() {
        journal.set_len(whole as u64)?;
    }
    Ok(())
}
