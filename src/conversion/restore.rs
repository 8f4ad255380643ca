//! The way back: the lists that claims had before a conversion.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use futures::StreamExt as _;

use super::executor::note;
use super::record::{Entry, NOT_SENT, Record, VERSION, Write, read_backup, read_journal};
use super::worker::{Purpose, Shared, Task, Traffic, objects_of};
use super::{ClaimResult, Error, Mode, Outcome, RecordError, Report, Stop, Watcher};
use crate::model::{Claim, ConsumerReference, Key, Kind, Str};
use crate::reservation::conversion::{Difference, Restoration, Saved, restore as plan};
use crate::sources::live::Live;
use crate::sources::{Needs, Unobserved, VersionSettings};

/// What a conversion noted of one claim.
#[derive(Clone, Debug)]
pub struct Old {
    /// Namespace and name.
    pub key: Key,
    /// UID.
    pub uid: Str,
    /// The list before the first write that happened.
    pub before: Vec<ConsumerReference>,
    /// The list of each write that may have happened, in order; the old one where none did.
    pub after: Vec<Vec<ConsumerReference>>,
    /// Its devices may have been taken back last, and then the list means nothing any more.
    pub released: bool,
}

/// What a conversion noted of the claims in its backup.
///
/// # Errors
/// When the files cannot be read, or are none of ours.
pub fn saved(backup: &Path, journal: &Path) -> Result<Vec<Old>, RecordError> {
    #[derive(serde::Deserialize)]
    struct Named {
        metadata: Metadata,
    }
    #[derive(serde::Deserialize)]
    struct Metadata {
        uid: Str,
    }
    let foreign = |path: &Path, message: String| RecordError::Foreign {
        path: path.to_owned(),
        message,
    };
    let mut wanted = BTreeSet::new();
    for claim in read_backup(backup)? {
        let claim: Named =
            serde_json::from_str(claim.get()).map_err(|error| foreign(backup, error.to_string()))?;
        wanted.insert(claim.metadata.uid);
    }
    let mut found: BTreeMap<Key, (Str, Vec<Noted>)> = BTreeMap::new();
    // Where the write is whose result comes next, by UID.
    let mut open: BTreeMap<Str, Key> = BTreeMap::new();
    for entry in read_journal(journal)? {
        match entry {
            Entry::Write(write) if wanted.contains(&write.uid) && write.action != "Finalizer" => {
                let key = Key::new(write.namespace.clone(), write.name.clone());
                open.insert(write.uid.clone(), key.clone());
                let (uid, writes) = found.entry(key).or_default();
                if *uid != write.uid {
                    // Another claim had the name.
                    uid.clone_from(&write.uid);
                    writes.clear();
                }
                let noted = Noted::of(write).map_err(|error| foreign(journal, error.to_string()))?;
                writes.push(noted);
            }
            Entry::Write(write) => _ = open.remove(&write.uid),
            Entry::Result { uid, answer, .. } => {
                let key = open.remove(&uid);
                if let Some((_, writes)) = key.and_then(|key| found.get_mut(&key))
                    && let Some(last) = writes.last_mut()
                {
                    last.fate = Fate::of(&answer);
                }
            }
            Entry::Start { .. } | Entry::End { .. } => {}
        }
    }
    let old = found
        .into_iter()
        .map(|(key, (uid, writes))| Old::of(key, uid, &writes));
    Ok(old.collect())
}

/// A write of the journal.
struct Noted {
    before: Vec<ConsumerReference>,
    after: Vec<ConsumerReference>,
    releases: bool,
    fate: Fate,
}

/// What the journal says of how a write went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It took effect.
    Done,
    /// It was never sent.
    NotSent,
    /// Anything else, such as an error, or nothing where the process was killed.
    Open,
}

impl Fate {
    fn of(answer: &str) -> Self {
        if answer == NOT_SENT {
            Self::NotSent
        } else if answer.starts_with(VERSION) {
            Self::Done
        } else {
            Self::Open
        }
    }
}

impl Noted {
    fn of(write: Write) -> Result<Self, serde_json::Error> {
        let list = |values: Vec<serde_json::Value>| -> Result<Vec<ConsumerReference>, _> {
            values.into_iter().map(serde_json::from_value).collect()
        };
        Ok(Self {
            before: list(write.before)?,
            after: list(write.after)?,
            releases: write.action == "Release",
            fate: Fate::Open,
        })
    }

    /// Whether the write may have happened, as far as `next`, which was planned from what was there afterwards, does not show otherwise.
    fn may_have_happened(&self, next: Option<&Self>) -> bool {
        match (self.fate, next) {
            (Fate::Done, _) | (Fate::Open, None) => true,
            (Fate::NotSent, _) => false,
            (Fate::Open, Some(next)) => {
                let is_there = |entry: &ConsumerReference| next.before.contains(entry);
                let mut added = self
                    .after
                    .iter()
                    .filter(|entry| !self.before.contains(entry))
                    .peekable();
                let mut removed = self.before.iter().filter(|entry| !self.after.contains(entry));
                if added.peek().is_some() {
                    added.any(is_there)
                } else {
                    !removed.any(is_there)
                }
            }
        }
    }
}

impl Old {
    fn of(key: Key, uid: Str, writes: &[Noted]) -> Self {
        let happened = |(at, write): &(usize, &Noted)| write.may_have_happened(writes.get(at + 1));
        let mut happened: Vec<&Noted> = writes
            .iter()
            .enumerate()
            .filter(happened)
            .map(|(_, write)| write)
            .collect();
        // What was there before the devices were taken back means nothing any more.
        let release = happened.iter().rposition(|write| write.releases);
        let released = release.is_some_and(|at| at + 1 == happened.len());
        happened.drain(..release.map_or(0, |at| if released { at } else { at + 1 }));
        let first = happened.first().copied().or(writes.last());
        let before = first.map(|write| write.before.clone()).unwrap_or_default();
        let after = if happened.is_empty() {
            vec![before.clone()]
        } else {
            let lists = happened.iter().filter(|write| !write.releases);
            lists.map(|write| write.after.clone()).collect()
        };
        Self {
            key,
            uid,
            before,
            after,
            released,
        }
    }

    /// Whether the devices are gone with which the list was: a release that may have happened did, unless the claim shows otherwise.
    fn is_void(&self, claim: Option<&Arc<Claim>>) -> bool {
        let differs = |claim: &Arc<Claim>| {
            claim.metadata.uid != self.uid
                || claim.status.allocation.is_none()
                || claim.status.reserved_for != self.before
        };
        self.released && claim.is_none_or(differs)
    }

    /// What is to be compared with the claim, whose list is `current`: of the writes the one that it shows, else the last.
    fn saved(&self, current: &[ConsumerReference]) -> Saved {
        let shown = self.after.iter().rev().find(|after| *after == current);
        Saved {
            key: self.key.clone(),
            uid: self.uid.clone(),
            before: self.before.clone(),
            after: shown.or(self.after.last()).cloned().unwrap_or_default(),
        }
    }
}

/// Brings old lists back, as far as the world is still the one they were about.
///
/// # Errors
/// When the cluster cannot be read, or the journal not be written.
pub async fn restore(
    live: &Live,
    old: &[Old],
    versions: &VersionSettings,
    mode: Mode,
    record: Option<&Record>,
    stop: &Stop,
    watcher: &dyn Watcher,
) -> Result<Report, Error> {
    const AT_ONCE: usize = 8;
    let namespaces: BTreeSet<&Str> = old.iter().map(|old| &old.key.namespace).collect();
    let mut needs = Needs::none()
        .require(Kind::ResourceClaim)
        .require(Kind::Pod)
        .and(Kind::PodGroup)
        .pods_after_claims();
    if let (1, Some(namespace)) = (namespaces.len(), namespaces.first()) {
        needs = needs.in_namespace(namespace);
    }
    let now = jiff::Timestamp::now().into();
    let loaded = live.load(&needs, versions, now, Arc::new(Unobserved)).await?;
    let cluster = loaded.cluster;
    let mut report = Report {
        passes: 1,
        ..Report::default()
    };
    let mut work = Vec::new();
    for old in old {
        let claim = cluster.claim(&old.key);
        let mut result = |outcome, message| {
            let result = ClaimResult {
                key: old.key.clone(),
                claim: claim.cloned(),
                plan: None,
                outcome,
                message,
            };
            report.claims.insert(old.key.clone(), result);
        };
        if old.is_void(claim) {
            let message = "its devices were taken back; the scheduler allocates it again when a pod needs it";
            result(Outcome::Refused, Some(message.to_owned()));
            continue;
        }
        let Some(claim) = claim else {
            result(Outcome::Refused, Some(Difference::Gone.to_string()));
            continue;
        };
        let saved = old.saved(&claim.status.reserved_for);
        let existing = objects_of(live, &cluster, &saved).await?;
        let exists = |entry: &ConsumerReference| existing.contains(&entry.uid);
        match plan(&cluster, &saved, &exists) {
            Ok(Restoration::Write(patch)) => {
                let task = Task {
                    key: old.key.clone(),
                    claim: Arc::clone(claim),
                    patch,
                    releases: false,
                    plan: None,
                };
                work.push((saved, task));
            }
            Ok(Restoration::Nothing) => result(Outcome::AlreadyDone, None),
            Ok(Restoration::Refuse(difference)) => result(Outcome::Refused, Some(difference.to_string())),
            Err(gap) => report.unknown.push(gap.clone()),
        }
    }
    // Nothing is written while something is unknown.
    if !report.unknown.is_empty() {
        return Ok(report);
    }
    let shared = Shared {
        live,
        environment: cluster.environment(),
        mode,
        record,
        patience: std::time::Duration::from_secs(60),
        stop,
        traffic: Traffic::new(AT_ONCE),
    };
    watcher.pass(1, work.len());
    let one = async |(saved, task): (Saved, Task)| shared.carry_out(&Purpose::Restore(&saved), task).await;
    let mut work = futures::stream::iter(work)
        .map(&one)
        .buffer_unordered(shared.traffic.claims_at_once());
    let mut trouble = None;
    while let Some(done) = work.next().await {
        watcher.done();
        match done {
            Ok(done) => {
                if done.fatal.is_some() {
                    report.failure.clone_from(&done.fatal);
                }
                note(&mut report, done);
            }
            Err(error) => trouble = Some(error),
        }
    }
    drop(work);
    report.interrupted = stop.is_asked();
    match trouble {
        Some(error) => Err(error.into()),
        None => Ok(report),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What the journal says, and by that the list before, those after, and whether the devices may be gone.
    type Case<'a> = (&'a str, &'a [&'a str], &'a str, &'a [&'a str], bool);

    /// `g` is a PodGroup, `p0` a pod.
    fn list(names: &str) -> Vec<Value> {
        let entry = |name: &str| {
            let resource = if name.starts_with('p') {
                "pods"
            } else {
                "podgroups"
            };
            json!({"resource": resource, "name": name, "uid": format!("u-{name}")})
        };
        names.split_whitespace().map(entry).collect()
    }

    fn write(uid: &str, action: &str, before: &str, after: &str) -> Entry {
        Entry::Write(Write {
            time: String::new(),
            action: action.to_owned(),
            namespace: "n".into(),
            name: "c".into(),
            uid: uid.into(),
            resource_version: "1".into(),
            before: list(before),
            after: list(after),
            patch: json!([]),
        })
    }

    /// What the journal says of a claim: writes as `ACTION: BEFORE > AFTER`, everything else is what came of the last one.
    fn noted(uid: &str, lines: &[&str]) -> Vec<Entry> {
        let entry = |line: &&str| match line.split_once(" > ").zip(line.split_once(": ")) {
            Some(((_, after), (action, rest))) => {
                let before = rest.split('>').next().expect("a list");
                write(uid, action, before, after)
            }
            None => Entry::Result {
                time: String::new(),
                uid: uid.into(),
                answer: (*line).to_owned(),
            },
        };
        lines.iter().map(entry).collect()
    }

    fn old(entries: &[Entry]) -> Old {
        let folder = tempfile::tempdir().expect("a folder");
        let (backup, journal) = (folder.path().join("backup"), folder.path().join("journal"));
        let items = ["u", "v"].map(|uid| json!({"metadata": {"uid": uid}}));
        let saved_claims = json!({"apiVersion": "v1", "kind": "List", "items": items});
        std::fs::write(&backup, saved_claims.to_string()).expect("written");
        let line = |entry| serde_json::to_string(entry).expect("JSON") + "\n";
        std::fs::write(&journal, entries.iter().map(line).collect::<String>()).expect("written");
        let mut claims = saved(&backup, &journal).expect("ours");
        assert_eq!(claims.len(), 1);
        claims.remove(0)
    }

    fn names(list: &[ConsumerReference]) -> String {
        let names: Vec<&str> = list.iter().map(|entry| entry.name.as_str()).collect();
        names.join(" ")
    }

    #[test]
    fn what_comes_back_is_the_list_before_the_first_write_that_happened() {
        let cases: [Case<'_>; 11] = [
            (
                "one write",
                &["Convert: g > p0", "version 2"],
                "g",
                &["p0"],
                false,
            ),
            ("killed meanwhile", &["Convert: g > p0"], "g", &["p0"], false),
            (
                "somebody else was faster",
                &[
                    "Convert: g > p0",
                    "conflict",
                    "Convert: g p1 > p1 p0",
                    "version 3",
                ],
                "g p1",
                &["p1 p0"],
                false,
            ),
            (
                "not sent, and sent by a later run",
                &[
                    "Convert: g > p0",
                    "not sent",
                    "Convert: g p1 > p1 p0",
                    "version 3",
                ],
                "g p1",
                &["p1 p0"],
                false,
            ),
            (
                "the group came back after a write without an answer",
                &[
                    "Convert: g > p0",
                    "no answer",
                    "Convert: p0 g > p0 p1",
                    "version 3",
                ],
                "g",
                &["p0", "p0 p1"],
                false,
            ),
            (
                "the same after a kill, and the pod has ended",
                &["Convert: p0 g > p0", "Convert: p0 > p0 p1"],
                "p0 g",
                &["p0", "p0 p1"],
                false,
            ),
            (
                "nothing happened",
                &["Convert: g > p0", "not sent"],
                "g",
                &["g"],
                false,
            ),
            (
                "released",
                &["Release: g > ", "version 2", "Finalizer: > ", "version 3"],
                "g",
                &[],
                true,
            ),
            ("perhaps released", &["Release: g > "], "g", &[], true),
            (
                "a pod came before the release",
                &["Release: g > ", "conflict", "Convert: g > p0", "version 2"],
                "g",
                &["p0"],
                false,
            ),
            (
                "allocated again after the release",
                &["Release: g > ", "version 2", "Convert: h > p0", "version 5"],
                "h",
                &["p0"],
                false,
            ),
        ];
        for (what, lines, before, after, released) in cases {
            let old = old(&noted("u", lines));
            let lists: Vec<String> = old.after.iter().map(|list| names(list)).collect();
            assert_eq!(
                (names(&old.before).as_str(), old.released),
                (before, released),
                "{what}"
            );
            assert_eq!(lists, after, "{what}");
        }
    }

    #[test]
    fn a_claim_that_was_deleted_says_nothing_of_the_next_one_of_its_name() {
        let first = noted("u", &["Convert: g > p0", "version 2"]);
        let next = noted("v", &["Convert: h > p1", "version 5"]);
        let old = old(&[first, next].concat());
        assert_eq!((old.uid.as_str(), names(&old.before).as_str()), ("v", "h"));
        assert_eq!(old.after.len(), 1);
    }
}
