//! The controllers of kube-controller-manager that look after claims, as state machines.
//!
//! A controller is told what changed in the cluster ([`Observed`]), queues what that concerns, and hands out one task after the
//! other for the queue's due items. Whoever carries a task out, against an API server or in memory, reports back, and so the
//! controller knows what to retry and when. Nothing here waits, reads a clock or calls anybody: the time is an argument, and
//! [`Queue::next_due`] says when to look again. The cluster that is handed in stands for the informers' caches and already has the
//! change in it.

mod queue;
mod recent;
mod resource_claim;
mod taint_eviction;

pub use queue::Queue;
pub use recent::RecentUids;
pub use resource_claim::{
    Answer, ClaimName, ClaimTask, ClaimWrite, Ending, Features, Lookup, Owner, Plan, ResourceClaims, Warning,
    generated_name_base,
};
pub use taint_eviction::{EvictionAction, EvictionResult, EvictionTask, PodRef, TaintEviction};

use crate::model::Object;

/// A change that a watch reports.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The object before; absent when it is new.
    pub before: Option<Object>,
    /// The object now; absent when it is gone.
    pub after: Option<Object>,
}
