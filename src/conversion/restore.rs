//! The way back: the lists that claims had before a conversion.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use futures::StreamExt as _;

use super::executor::note;
use super::record::{Entry, Record, read_backup, read_journal};
use super::worker::{Purpose, Shared, Task, Traffic, objects_of};
use super::{ClaimResult, Error, Mode, Outcome, RecordError, Report, Stop, Watcher};
use crate::model::{ConsumerReference, Key, Kind, Str};
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
    /// The list before the first write.
    pub before: Vec<ConsumerReference>,
    /// The list of each write that may have happened, in order.
    pub after: Vec<Vec<ConsumerReference>>,
    /// Its devices were taken back, so the list means nothing any more.
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
    let mut found: BTreeMap<Key, Old> = BTreeMap::new();
    for entry in read_journal(journal)? {
        let Entry::Write(write) = entry else { continue };
        if !wanted.contains(&write.uid) || write.action == "Finalizer" {
            continue;
        }
        let list = |values: Vec<serde_json::Value>| {
            let entries = values.into_iter().map(serde_json::from_value);
            entries
                .collect::<Result<Vec<ConsumerReference>, _>>()
                .map_err(|error| foreign(journal, error.to_string()))
        };
        let (before, after) = (list(write.before)?, list(write.after)?);
        let old = found
            .entry(Key::new(write.namespace.clone(), write.name.clone()))
            .or_insert_with(|| Old {
                key: Key::new(write.namespace, write.name),
                uid: write.uid,
                before,
                after: Vec::new(),
                released: false,
            });
        old.released |= write.action == "Release";
        old.after.push(after);
    }
    Ok(found.into_values().collect())
}

impl Old {
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
        if old.released {
            let message = "its devices were taken back; the scheduler allocates it again when a pod needs it";
            result(Outcome::Refused, Some(message.to_owned()));
            continue;
        }
        let Some(claim) = claim else {
            result(Outcome::Refused, Some(Difference::Gone.to_string()));
            continue;
        };
        let saved = old.saved(&claim.status.reserved_for);
        let existing = objects_of(live, &saved).await?;
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
