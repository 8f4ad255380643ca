//! Names of writes and their writers, shared by all reports, and the record of a rehearsal.

use strum::{Display, IntoStaticStr, VariantNames};

use super::work::ControllerName;
use dra_model::{Key, Kind, Time};

/// Reason of the events about a pod that is evicted, or no longer.
pub const EVICTION_EVENT: &str = "DeviceTaintManagerEviction";

/// An action on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantNames)]
pub enum Action {
    /// A claim is made for an entry of a pod or PodGroup.
    #[strum(serialize = "create claim")]
    CreateClaim,
    /// The status of a pod or PodGroup names its claims.
    #[strum(serialize = "update status")]
    UpdateStatus,
    /// A consumer is added to `status.reservedFor`.
    #[strum(serialize = "add reservation")]
    AddReservation,
    /// A consumer is taken out of `status.reservedFor`.
    #[strum(serialize = "remove reservation")]
    RemoveReservation,
    /// The devices of a claim become free.
    #[strum(serialize = "deallocate")]
    Deallocate,
    /// A claim may go.
    #[strum(serialize = "remove finalizer")]
    RemoveFinalizer,
    /// A claim is deleted.
    #[strum(serialize = "delete claim")]
    DeleteClaim,
    /// A pod is deleted because of a taint.
    #[strum(serialize = "evict pod")]
    EvictPod,
    /// The condition of a DeviceTaintRule.
    #[strum(serialize = "update condition")]
    UpdateCondition,
    /// The object of a pod that has ended goes.
    #[strum(serialize = "remove pod")]
    RemovePod,
    /// An event says something of an object.
    #[strum(serialize = "emit event")]
    EmitEvent,
}

impl Action {
    /// Names of what this program's controllers do: everything but the end of a pod, and events.
    pub fn of_controllers() -> Vec<&'static str> {
        let others = [Self::RemovePod, Self::EmitEvent].map(Self::into);
        let all = Self::VARIANTS.iter().copied();
        all.filter(|name| !others.contains(name)).collect()
    }
}

/// Actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, Display)]
pub enum Actor {
    /// A controller of this program.
    #[strum(transparent)]
    Controller(ControllerName),
    /// The garbage collector of kube-controller-manager.
    #[strum(serialize = "garbage-collector-controller")]
    GarbageCollector,
    /// The kubelet of the pod's node.
    #[strum(serialize = "kubelet")]
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
