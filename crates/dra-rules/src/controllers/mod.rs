//! The controllers of kube-controller-manager that look after claims, as state machines, and the engine that drives them.
//!
//! A controller receives changes of the cluster ([`Observed`]), queues affected items, and returns work for due items.
//! The executor, against an API server or in memory, reports the [`Outcome`], and so the controller knows what to retry
//! and when. Nothing here waits, reads a clock or performs I/O: the time is an argument.
//!
//! The [`Engine`] owns the cluster that stands for the informers' caches, and both controllers: a change reaches all of them in one
//! step, and any number of jobs may be out. The simulation and the live program use it alike.

mod engine;
mod queue;
mod recent;
mod resource_claim;
mod shadow;
mod taint_eviction;
mod trace;
mod work;

pub use engine::{Engine, Origin};
pub use queue::{Queue, QueueEvent};
pub use recent::RecentUids;
pub use resource_claim::{Deviations, Features, ResourceClaims, generated_name_base, is_made_elsewhere};
pub use shadow::{ClaimRef, Counts, Difference, Evidence, Found, Shadow, Supplement, Wish, is_marked};
pub use taint_eviction::TaintEviction;
pub use trace::{Action, Actor, EVICTION_EVENT, Traced};
pub use work::{
    Answer, ClaimName, ClaimWrite, ControllerName, Ending, Job, JobId, Lookup, Notice, Outcome, Owner, Plan,
    PodRef, Subject, Warning, Work,
};

use crate::eviction::ClockStep;
use dra_model::{Cluster, Object, Time};

/// A change that a watch reports.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The object before; absent when it is new.
    pub before: Option<Object>,
    /// The object now; absent when it is gone.
    pub after: Option<Object>,
}

/// Interface of both controllers for the engine.
trait Controller {
    /// Records a change that `cluster` already contains, and returns what to report.
    fn observe(&mut self, cluster: &Cluster, change: &Observed, now: Time) -> Vec<Notice>;

    /// The API server's clock was set, as is seen at `now`.
    fn clock_was_set(&mut self, _cluster: &Cluster, _step: ClockStep, _now: Time) {}

    /// Returns when there is something to do: `now` if there is already.
    fn next_due(&self, now: Time) -> Option<Time>;

    /// Returns whether the failed work for `item` still has to be done, as far as that is known before its next turn.
    fn still_wants(&self, cluster: &Cluster, item: &Subject) -> bool;

    /// Its queue.
    fn queue(&mut self) -> &mut Queue<Subject>;

    /// Returns what is due at `now`, which is job `id` from here on.
    fn next(&mut self, id: JobId, cluster: &Cluster, now: Time) -> Option<(Subject, Work)>;

    /// How the job went.
    fn done(&mut self, id: JobId, outcome: Outcome, now: Time);
}
