//! The way back: the lists that claims had before a conversion.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::reading::objects_of;
use super::record::{Answered, Entry, Record, Write, WriteAction, read_backup, read_journal};
use super::task::{Purpose, Task};
use super::worker::{Shared, Traffic};
use super::{ClaimResult, Error, Mode, Outcome, RecordError, Report, Stop, Watcher};
use dra_model::{Claim, ConsumerReference, Key, Kind, Str, json};
use dra_rules::reservation::conversion::{Difference, Restoration, Saved, restore as plan};
use dra_sources::live::Live;
use dra_sources::{Needs, Unobserved, VersionSettings};

/// Recorded state of one claim.
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
    /// Its devices may have been deallocated last, and then the list means nothing any more.
    pub released: bool,
    /// The reason why it is not certain what the list was, unless the claim shows that nothing is to be done.
    pub doubt: Option<Doubt>,
}

/// Missing data about a claim, because backup or journal is damaged or belongs to another conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Doubt {
    /// There is no write of it.
    #[error(
        "its list differs from the backup, and the journal has no write for it: the journal is truncated or \
        belongs to another conversion. Pass the complete journal with `--journal`, or compare the claim with \
        the backup yourself"
    )]
    NotInJournal,
    /// The first write that happened was not to the list of the backup.
    #[error(
        "the journal does not start with the list in the backup: one of them was truncated or changed, or \
        belongs to another conversion. Pass the complete files with `--backup` and `--journal`, or compare \
        the claim with the backup yourself"
    )]
    OtherList,
    /// There is a write of it, but not the claim as it was.
    #[error(
        "the journal has a write for it, but the backup does not contain the claim: the backup is truncated \
        or belongs to another conversion. Pass the complete backup with `--backup`"
    )]
    NotInBackup,
}

/// Returns what a conversion noted of the claims in its backup.
///
/// # Errors
/// When the files cannot be read, or are none of ours.
pub fn saved(backup: &Path, journal: &Path) -> Result<Vec<Old>, RecordError> {
    let foreign = |path: &Path, message: String| RecordError::Foreign {
        path: path.to_owned(),
        message,
    };
    // As they were, by UID.
    let mut wanted: BTreeMap<Str, (Key, Vec<ConsumerReference>)> = BTreeMap::new();
    for claim in read_backup(backup)? {
        let Named { metadata, status } =
            json::from_str(claim.get()).map_err(|error| foreign(backup, error.to_string()))?;
        let key = Key::new(metadata.namespace, metadata.name);
        let list = status.unwrap_or_default().reserved_for.unwrap_or_default();
        wanted.insert(metadata.uid, (key, list));
    }
    if wanted.is_empty() {
        return Err(foreign(backup, "it has no claims".to_owned()));
    }
    let mut found: BTreeMap<Key, (Str, Vec<Noted>)> = BTreeMap::new();
    let mut written = BTreeSet::new();
    // Where the write is whose result comes next, by UID.
    let mut open: BTreeMap<Str, Key> = BTreeMap::new();
    for entry in read_journal(journal)? {
        match entry {
            Entry::Write(write) if write.action != WriteAction::Finalizer => {
                let key = Key::new(write.namespace.clone(), write.name.clone());
                open.insert(write.uid.clone(), key.clone());
                written.insert(write.uid.clone());
                let (uid, writes) = found.entry(key).or_default();
                if *uid != write.uid {
                    // Another claim had the name.
                    uid.clone_from(&write.uid);
                    writes.clear();
                }
                writes.push(Noted { write, answer: None });
            }
            Entry::Write(write) => _ = open.remove(&write.uid),
            Entry::Result { uid, answer, .. } => {
                let key = open.remove(&uid);
                if let Some((_, writes)) = key.and_then(|key| found.get_mut(&key))
                    && let Some(last) = writes.last_mut()
                {
                    last.answer = Some(answer);
                }
            }
            Entry::Start { .. } | Entry::End { .. } => {}
        }
    }
    let mut all = Vec::new();
    for (key, (uid, writes)) in found {
        let mut old = Old::of(key, uid, &writes);
        match wanted.remove(&old.uid) {
            None => old.doubt = Some(Doubt::NotInBackup),
            Some((_, list)) if !Noted::begin_with(&writes, &list) => {
                old.doubt = Some(Doubt::OtherList);
                old.before = list;
            }
            Some(_) => {}
        }
        all.push(old);
    }
    wanted.retain(|uid, _| !written.contains(uid));
    let unwritten = wanted.into_iter().map(|(uid, (key, list))| Old {
        key,
        uid,
        after: vec![list.clone()],
        before: list,
        released: false,
        doubt: Some(Doubt::NotInJournal),
    });
    all.extend(unwritten);
    Ok(all)
}

/// As much of a claim in a backup as is compared.
#[derive(serde::Deserialize)]
struct Named {
    metadata: NamedMetadata,
    #[serde(default)]
    status: Option<NamedStatus>,
}

#[derive(serde::Deserialize)]
struct NamedMetadata {
    #[serde(default)]
    namespace: Str,
    #[serde(default)]
    name: Str,
    uid: Str,
}

#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedStatus {
    #[serde(default)]
    reserved_for: Option<Vec<ConsumerReference>>,
}

/// A write of the journal, and its answer; nothing where the process was killed before.
struct Noted {
    write: Write,
    answer: Option<Answered>,
}

impl Noted {
    fn releases(&self) -> bool {
        self.write.action == WriteAction::Release
    }

    /// Returns whether the first write that happened, or one before it that did not, was to `list`: the backup is made between the reading and
    /// the first write, and others write meanwhile. What is there after devices were deallocated is another story.
    fn begin_with(writes: &[Self], list: &[ConsumerReference]) -> bool {
        let happened = |(at, write): (usize, &Self)| write.may_have_happened(writes.get(at + 1));
        let first = writes.iter().enumerate().position(happened);
        let until_first = first.map_or(writes, |first| &writes[..=first]);
        writes.iter().any(Self::releases) || until_first.iter().any(|noted| noted.write.before == list)
    }

    /// Returns whether the write may have happened, as far as `next`, which was planned from what was there afterwards, does not show otherwise.
    fn may_have_happened(&self, next: Option<&Self>) -> bool {
        let Write { before, after, .. } = &self.write;
        match (&self.answer, next) {
            (Some(Answered::NotSent), _) => false,
            (Some(Answered::Version(_)), _) | (_, None) => true,
            (Some(Answered::Otherwise(_)) | None, Some(next)) => {
                let is_there = |entry: &ConsumerReference| next.write.before.contains(entry);
                let mut added = after.iter().filter(|entry| !before.contains(entry)).peekable();
                let mut removed = before.iter().filter(|entry| !after.contains(entry));
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
        // What was there before the devices were deallocated means nothing any more.
        let release = happened.iter().rposition(|write| write.releases());
        let released = release.is_some_and(|at| at + 1 == happened.len());
        happened.drain(..release.map_or(0, |at| if released { at } else { at + 1 }));
        let first = happened.first().copied().or(writes.last());
        let before = first.map(|noted| noted.write.before.clone()).unwrap_or_default();
        let after = if happened.is_empty() {
            vec![before.clone()]
        } else {
            let lists = happened.iter().filter(|noted| !noted.releases());
            lists.map(|noted| noted.write.after.clone()).collect()
        };
        Self {
            key,
            uid,
            before,
            after,
            released,
            doubt: None,
        }
    }

    /// Returns whether the devices of the old list are released: a release that may have happened did, unless the claim
    /// shows otherwise.
    fn is_void(&self, claim: Option<&Arc<Claim>>) -> bool {
        let differs = |claim: &Arc<Claim>| {
            claim.metadata.uid != self.uid
                || claim.status.allocation.is_none()
                || claim.status.reserved_for != self.before
        };
        self.released && claim.is_none_or(differs)
    }

    /// Returns what is to be compared with the claim, whose list is `current`: of the writes the one that it shows, else the last.
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
    let mut report = Report {
        passes: 1,
        ..Report::default()
    };
    let load = live.load(&needs, versions, now, Arc::new(Unobserved));
    let Some(loaded) = stop.unless_asked(load).await else {
        report.interrupted = true;
        return Ok(report);
    };
    let cluster = loaded?.cluster;
    let (mut lists, mut tasks) = (Vec::new(), Vec::new());
    for old in old {
        let claim = cluster.claim(&old.key);
        let is_told = report.claims.contains_key(&old.key);
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
        if let Some(doubt) = old.doubt {
            let same = claim.filter(|claim| claim.metadata.uid == old.uid);
            match same.map(|claim| &claim.status.reserved_for) {
                // Another claim with the name is reported where it is meant.
                None if is_told => {}
                None if doubt == Doubt::NotInBackup => {}
                None => result(Outcome::Refused, Some(Difference::Gone.to_string())),
                Some(list) if doubt == Doubt::NotInBackup => {
                    if *list != old.before && old.after.contains(list) {
                        result(Outcome::Refused, Some(doubt.to_string()));
                    }
                }
                Some(list) if *list == old.before => result(Outcome::AlreadyDone, None),
                Some(_) => result(Outcome::Refused, Some(doubt.to_string())),
            }
            continue;
        }
        if old.is_void(claim) {
            let message = "it was deallocated; kube-scheduler allocates it again when a pod needs it";
            result(Outcome::Refused, Some(message.to_owned()));
            continue;
        }
        let Some(claim) = claim else {
            result(Outcome::Refused, Some(Difference::Gone.to_string()));
            continue;
        };
        let saved = old.saved(&claim.status.reserved_for);
        let Some(existing) = stop.unless_asked(objects_of(live, &cluster, &saved)).await else {
            result(Outcome::NotTried, Some("interrupted".to_owned()));
            continue;
        };
        let existing = existing?;
        let exists = |entry: &ConsumerReference| existing.contains(&entry.uid);
        match plan(&cluster, &saved, &exists) {
            Ok(Restoration::Write(patch)) => {
                let task = Task {
                    key: old.key.clone(),
                    claim: Arc::clone(claim),
                    patch,
                    plan: None,
                };
                tasks.push(task);
                lists.push(saved);
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
    watcher.pass(1, tasks.len());
    let work = lists.iter().map(Purpose::Restore).zip(tasks);
    report.failure = shared.carry_all(work, &mut report, watcher).await.failure;
    report.interrupted = stop.is_asked();
    Ok(report)
}

#[cfg(test)]
mod tests;
