//! Carries a conversion plan out: changes claims once, as their plan says, and leaves a record of it.
//!
//! What is to be written is planned by `reservation::conversion`; here is when, how often, and what is noted on the way. The
//! decisions are functions without I/O: `step` (one claim after each answer), `pass` (whether to look again), `gates` (whether
//! `--final` may begin). `task` is one claim with its write, `worker` sends it and `reading` reads again, `record` keeps backup and journal,
//! `preflight` asks before.
//!
//! What holds whatever happens: each write is one patch locked to the version that was read, and is in the journal before it is
//! sent; after an unclear answer the claim is read again rather than written again; nothing is written while a list is missing.

mod executor;
mod gates;
mod pass;
mod preflight;
mod reading;
mod record;
mod restore;
mod step;
mod task;
mod worker;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use strum::{Display, IntoStaticStr};
use tokio::sync::watch;

use dra_model::{Claim, Cluster, ConsumerReference, Gap, Key, Str};
use dra_rules::reservation::conversion::{Action, ClaimPlan, Defect, Options, Plan, Refusal};
use dra_sources::live::{Error as LiveError, MissingRights};
use dra_sources::{Needs, VersionSettings};

pub use self::executor::Executor;
pub use self::pass::Phase;
pub use self::record::{
    Answered, Entry, Head, Lock, Paths, Record, RecordError, Write, WriteAction, check_cluster, hold,
    holders_before, read_backup, read_journal,
};
pub use self::restore::{Old, restore, saved};

/// Write mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It is.
    #[default]
    Write,
    /// The server does everything but keep it.
    Server,
    /// Nothing is sent.
    Client,
}

/// Order to execute.
pub struct Order {
    /// Objects to read: claims, the pods after them, groups, gates.
    pub needs: Needs,
    /// Common namespace of all claims; none for all namespaces.
    pub namespace: Option<String>,
    /// Selected claims.
    pub selects: Box<dyn Fn(&Claim) -> bool + Send + Sync>,
    /// The plan that is carried out, where one was made before.
    pub planned: Option<Planned>,
    /// Options.
    pub options: Options,
    /// Versions and gates given by the user.
    pub versions: VersionSettings,
    /// Before the gate is off, or after.
    pub phase: Phase,
    /// Time to wait for unscheduled pods.
    pub wait: Option<Duration>,
    /// Write mode.
    pub mode: Mode,
    /// Writes at the same time.
    pub at_once: usize,
    /// Time to try one claim.
    pub patience: Duration,
}

/// A plan that was made before. Each of its claims has a result.
pub struct Planned {
    /// Its claims.
    pub claims: BTreeMap<Key, PlannedFor>,
    /// True if it is known to be of this cluster.
    pub is_of_cluster: bool,
}

/// A claim of a plan that was made before.
pub struct PlannedFor {
    /// UID of the claim.
    pub uid: Str,
    /// The reason why the plan does not write it; nothing where it does.
    pub reason: Option<String>,
}

impl Planned {
    /// The claims that the plan writes, with their UIDs.
    pub fn writes(&self) -> BTreeMap<Key, Str> {
        let written = self.claims.iter().filter(|(_, planned)| planned.reason.is_none());
        written
            .map(|(key, planned)| (key.clone(), planned.uid.clone()))
            .collect()
    }

    /// Turns what is to be done by now into what the plan allows: it writes the claims that it was made for and no others.
    fn restrict(&self, now: &mut ClaimPlan) {
        let Some(planned) = self.claims.get(&now.key) else {
            return;
        };
        let refusal = if planned.uid != now.uid {
            Refusal::ClaimUidMismatch {
                planned: planned.uid.clone(),
                existing: now.uid.clone(),
            }
        } else if let Some(reason) = planned.reason.clone().filter(|_| now.patch().is_some()) {
            Refusal::NotPlanned { reason }
        } else {
            return;
        };
        now.remove.clear();
        now.unreserved.clear();
        now.action = Action::Refuse(refusal);
    }

    /// Returns messages about claims of the plan without remaining work, as in `existing`: UIDs by name.
    fn absent(
        &self,
        existing: impl Fn(&Key) -> Option<Str>,
    ) -> impl Iterator<Item = (&Key, Outcome, String)> {
        let existing: Vec<_> = self.claims.keys().map(existing).collect();
        let is_known = self.is_of_cluster
            || self
                .claims
                .values()
                .zip(&existing)
                .any(|(planned, existing)| existing.as_ref() == Some(&planned.uid));
        self.claims.iter().zip(existing).map(move |((key, planned), existing)| match existing {
            _ if !is_known => (
                key,
                Outcome::Refused,
                "no claim in the plan exists with its UID: the plan is for another cluster, or all its claims \
                were deleted".to_owned(),
            ),
            None => (key, Outcome::AlreadyDone, "the claim no longer exists".to_owned()),
            Some(existing) if existing != planned.uid => (
                key,
                Outcome::AlreadyDone,
                format!("the claim was recreated with UID {existing} and needs no conversion"),
            ),
            Some(_) => (key, Outcome::AlreadyDone, "nothing is left to convert".to_owned()),
        })
    }
}

/// Told how far the work is. The default does nothing.
pub trait Watcher: Sync {
    /// A pass begins that writes so many claims.
    fn pass(&self, _number: u32, _writes: usize) {}
    /// One claim is through.
    fn done(&self) {}
    /// Nothing is done for so long.
    fn waits(&self, _pause: Duration) {}
}

/// Time for requests in flight after a run is asked to stop. A slower server may never respond.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// The wish to end early: what is in flight is finished, nothing new begins.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Stops when `wish` becomes true.
    pub fn when(wish: watch::Receiver<bool>) -> Self {
        Self(wish)
    }

    fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Comes to its end when asked to stop.
    async fn asked(&self) {
        let mut wish = self.0.clone();
        if wish.wait_for(|asked| *asked).await.is_err() {
            // No task is left that could ask.
            std::future::pending::<()>().await;
        }
    }

    /// Waits for `pause`, or less when asked to stop.
    async fn or_after(&self, pause: Duration) {
        _ = self.unless_asked(tokio::time::sleep(pause)).await;
    }

    /// Returns what `work` comes to, which changes nothing in the cluster; nothing when asked to stop meanwhile.
    fn unless_asked<T>(&self, work: impl Future<Output = T>) -> impl Future<Output = Option<T>> {
        let work = Box::pin(work);
        async move {
            tokio::select! {
                biased;
                () = self.asked() => None,
                done = work => Some(done),
            }
        }
    }

    /// Returns what `work` comes to, which has [`GRACE`] left once asked to stop; nothing when that is over.
    fn within_grace<T>(&self, work: impl Future<Output = T>) -> impl Future<Output = Option<T>> {
        let mut work = Box::pin(work);
        async move {
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                () = self.asked() => {}
            }
            tokio::time::timeout(GRACE, work).await.ok()
        }
    }
}

/// Outcome of one claim.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, IntoStaticStr, Display,
)]
pub enum Outcome {
    /// Written as planned.
    Converted,
    /// Written, but not as planned first: the claim or its pods had changed.
    Replanned,
    /// Its devices were deallocated.
    Released,
    /// Another client did it, or the claim was deleted.
    AlreadyDone,
    /// It has entries of other kinds only than those selected.
    Kept,
    /// It cannot be converted.
    Refused,
    /// Tried without success.
    Failed,
    /// Not begun, since the run ended before.
    NotTried,
    /// Without `--dry-run` it would be converted.
    WouldConvert,
    /// Without `--dry-run` its devices would be deallocated.
    WouldRelease,
}

impl Outcome {
    /// Returns whether the claim got another list.
    pub fn is_of_new_list(self) -> bool {
        matches!(self, Self::Converted | Self::Replanned)
    }

    /// Returns whether the claim was written.
    pub fn is_written(self) -> bool {
        self.is_of_new_list() || self == Self::Released
    }

    /// Returns whether something stays that was to go.
    pub fn leaves_something(self) -> bool {
        matches!(self, Self::Kept | Self::Refused | Self::Failed | Self::NotTried)
    }
}

/// Result of one claim.
#[derive(Clone, Debug)]
pub struct ClaimResult {
    /// Namespace and name.
    pub key: Key,
    /// As it was read when that was planned; absent for one that does not exist any more.
    pub claim: Option<Arc<Claim>>,
    /// Last plan for it; none when restoring.
    pub plan: Option<ClaimPlan>,
    /// Outcome.
    pub outcome: Outcome,
    /// Reason, if any.
    pub message: Option<String>,
}

/// Reason that stops a run, or one write of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Trouble {
    /// The problem.
    pub message: String,
    /// Remedy for the user.
    pub hint: Option<String>,
}

impl From<&LiveError> for Trouble {
    fn from(error: &LiveError) -> Self {
        Self {
            message: error.to_string(),
            hint: error.hint(),
        }
    }
}

impl From<&RecordError> for Trouble {
    fn from(error: &RecordError) -> Self {
        use std::error::Error as _;
        let cause = error.source().map(|cause| format!(": {cause}"));
        Self {
            message: format!("{error}{}", cause.unwrap_or_default()),
            hint: error.hint(),
        }
    }
}

impl From<&Error> for Trouble {
    fn from(error: &Error) -> Self {
        if let Error::Record(error) = error {
            return Self::from(error);
        }
        Self {
            message: error.to_string(),
            hint: error.hint(),
        }
    }
}

/// Result of a whole run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Every claim that had something to do, by namespace and name.
    pub claims: BTreeMap<Key, ClaimResult>,
    /// Defects of the lists at the end.
    pub defects: Vec<(Key, Defect)>,
    /// Objects that could not be read. Nothing was written in that pass.
    pub unknown: Vec<Gap>,
    /// Pods without a node that could begin to use a converted claim while the gate is on.
    pub unbound: BTreeMap<Key, Vec<Str>>,
    /// Passes over all claims.
    pub passes: u32,
    /// The user asked to stop.
    pub interrupted: bool,
    /// Error that interrupted the run.
    pub failure: Option<Trouble>,
}

impl Report {
    /// Returns whether a claim failed, or all did.
    pub fn failed(&self) -> bool {
        self.failure.is_some() || self.claims.values().any(|claim| claim.outcome == Outcome::Failed)
    }

    /// Returns whether no work is left.
    pub fn is_finished(&self) -> bool {
        !self.interrupted && !self.failed()
    }

    /// Returns whether entries of PodGroups were taken away, which while the gate is on their members bring back.
    pub fn replaced_groups(&self) -> bool {
        self.claims
            .values()
            .filter(|claim| claim.outcome.is_of_new_list())
            .filter_map(|claim| claim.plan.as_ref())
            .any(|plan| plan.remove.iter().any(ConsumerReference::is_pod_group))
    }

    /// Returns whether everything that was asked for is done.
    pub fn is_clean(&self) -> bool {
        self.defects.is_empty()
            && self.unbound.is_empty()
            && self.unknown.is_empty()
            && self.is_finished()
            && !self.claims.values().any(|claim| claim.outcome.leaves_something())
    }
}

/// The cluster as it was read, and what is to be done with it.
pub struct Survey {
    /// Read state.
    pub cluster: Cluster,
    /// Plan.
    pub plan: Plan,
}

/// The reason why nothing could be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cluster.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// Backup or journal.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The user's rights.
    #[error(transparent)]
    Rights(#[from] MissingRights),
    /// The plan to carry out is of another cluster.
    #[error(
        "the plan is for another cluster: its kube-system namespace has UID {of}, but on {server} it has UID \
        {here}"
    )]
    OtherCluster {
        /// UID of the namespace kube-system in the plan.
        of: Str,
        /// The server that is connected.
        server: String,
        /// UID of its namespace kube-system.
        here: Str,
    },
    /// The gate is still on.
    #[error("--final: {0}")]
    GateOn(String),
    /// Nothing shows that the gate is off.
    #[error("--final: {0}")]
    GateUnknown(String),
}

impl Error {
    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Live(error) => error.hint(),
            Self::Rights(rights) => Some(format!(
                "grant the missing permissions:\n{}",
                rights.manifest("kubectl-dra-convert")
            )),
            Self::GateOn(_) => Some(
                "turn the gate off in every replica of both components, and wait for the restarts".to_owned(),
            ),
            Self::Record(error) => error.hint(),
            Self::OtherCluster { .. } => {
                Some("select the plan's cluster with `--context`, or create a new plan".to_owned())
            }
            Self::GateUnknown(_) => None,
        }
    }
}
