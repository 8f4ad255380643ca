//! Names of writes and their writers, shared by all reports, and the record of a rehearsal.

use std::fmt;

use super::work::ControllerName;
use dra_model::{Key, Kind, Time};

/// Reason of the event that a claim cannot be made.
pub const CREATION_EVENT: &str = "FailedResourceClaimCreation";

/// Reason of the events about a pod that is evicted, or no longer.
pub const EVICTION_EVENT: &str = "DeviceTaintManagerEviction";

/// An action on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// A claim is made for an entry of a pod or PodGroup.
    CreateClaim,
    /// The status of a pod or PodGroup names its claims.
    UpdateStatus,
    /// A consumer is added to `status.reservedFor`.
    AddReservation,
    /// A consumer is taken out of `status.reservedFor`.
    RemoveReservation,
    /// The devices of a claim become free.
    Deallocate,
    /// A claim may go.
    RemoveFinalizer,
    /// A claim is deleted.
    DeleteClaim,
    /// A pod is deleted because of a taint.
    EvictPod,
    /// The condition of a DeviceTaintRule.
    UpdateCondition,
    /// The object of a pod that has ended goes.
    RemovePod,
    /// An event says something of an object.
    EmitEvent,
}
impl Action {
    /// Actions of this program's controllers.
    pub const OF_CONTROLLERS: [Self; 9] = [
        Self::CreateClaim,
        Self::UpdateStatus,
        Self::AddReservation,
        Self::RemoveReservation,
        Self::Deallocate,
        Self::RemoveFinalizer,
        Self::DeleteClaim,
        Self::EvictPod,
        Self::UpdateCondition,
    ];

    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::CreateClaim,
        Self::UpdateStatus,
        Self::AddReservation,
        Self::RemoveReservation,
        Self::Deallocate,
        Self::RemoveFinalizer,
        Self::DeleteClaim,
        Self::EvictPod,
        Self::UpdateCondition,
        Self::RemovePod,
        Self::EmitEvent,
    ];

    /// The words that reports show.
    pub fn text(self) -> &'static str {
        match self {
            Self::CreateClaim => "create claim",
            Self::UpdateStatus => "update status",
            Self::AddReservation => "add reservation",
            Self::RemoveReservation => "remove reservation",
            Self::Deallocate => "deallocate",
            Self::RemoveFinalizer => "remove finalizer",
            Self::DeleteClaim => "delete claim",
            Self::EvictPod => "evict pod",
            Self::UpdateCondition => "update condition",
            Self::RemovePod => "remove pod",
            Self::EmitEvent => "emit event",
        }
    }
}

/// Actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// A controller of this program.
    Controller(ControllerName),
    /// The garbage collector of kube-controller-manager.
    GarbageCollector,
    /// The kubelet of the pod's node.
    Kubelet,
}
impl Actor {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Controller(ControllerName::ResourceClaim),
        Self::Controller(ControllerName::DeviceTaintEviction),
        Self::GarbageCollector,
        Self::Kubelet,
    ];

    /// The name that reports show.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Controller(name) => name.as_str(),
            Self::GarbageCollector => "garbage-collector-controller",
            Self::Kubelet => "kubelet",
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Something that was done in a rehearsal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// Time.
    pub at: Time,
    /// The actor.
    pub actor: Actor,
    /// Action.
    pub action: Action,
    /// The object.
    pub object: (Kind, Key),
    /// Details: the created claim, the consumer, the text of an event. May be empty.
    pub detail: String,
    /// Count at that instant, if it repeats in a loop; otherwise 1.
    pub count: u64,
}
