//! Events with their times.

use std::sync::Arc;

use super::reason::DeviceReference;
use crate::eviction::Eviction;
use dra_model::{Condition, Key, Str, Time};

/// Something that happens.
#[derive(Clone, Debug)]
pub struct Happening {
    /// Time.
    pub at: Time,
    /// The object: a pod, a claim or, without a namespace, a rule.
    pub key: Key,
    /// Its UID. Objects that the simulation made have made-up ones.
    pub uid: Str,
    /// Event.
    pub what: What,
}

/// Possible events.
#[derive(Clone, Debug, strum::EnumDiscriminants)]
#[strum_discriminants(name(EventType), doc = "Type of an event, as in reports.")]
#[strum_discriminants(derive(serde::Serialize, schemars::JsonSchema, strum::Display))]
pub enum What {
    /// The eviction controller deletes the pod.
    PodDeleted {
        /// Since when it should go, and why.
        eviction: Eviction,
        /// Its grace period, in seconds, in which it has to end.
        grace_seconds: i64,
    },
    /// The eviction controller cancels a planned eviction.
    EvictionCancelled,
    /// The pod has ended and is removed, at the latest now.
    PodGone,
    /// The claim's devices are free.
    ClaimReleased {
        /// Devices.
        devices: Arc<[DeviceReference]>,
    },
    /// The claim is removed.
    ClaimDeleted,
    /// A claim is made from a template.
    ClaimCreated {
        /// The pod or PodGroup that it is made for.
        owner: Key,
    },
    /// A claim cannot be made.
    ClaimFailed {
        /// The reason.
        message: String,
    },
    /// The owner of a pod makes another one in its place.
    PodReplaced {
        /// The pod that is replaced.
        original: Key,
    },
    /// The replacement got a node.
    PodScheduled {
        /// The nodes that it fits on. The first is taken, which is a guess unless it is the only one.
        nodes: Vec<Str>,
    },
    /// The replacement does not fit now.
    PodUnschedulable {
        /// The reason.
        message: String,
    },
    /// The condition of a rule changes.
    RuleStatus {
        /// The condition.
        condition: Box<Condition>,
    },
}
