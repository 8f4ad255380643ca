//! The parts of the report: what readers of its JSON and its tables get.

use std::sync::Arc;

use serde::Serialize;

use crate::controllers::PodRef;
use crate::owners::Replacing;
use crate::scheduling::{AssumedGate, not_simulated};
use crate::simulation::MissedPod;
use crate::simulation::reason::{DeviceReference, ReasonItem, Reasons};
use crate::simulation::timeline::{EventType, Happening, What};
use crate::simulation::world::{Placement, Replacement};
use dra_model::{Condition, Pod, Str, Time};

/// Writes parts that items share like those of one alone.
fn shared<T: Serialize, S: serde::Serializer>(parts: &Arc<[T]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(&**parts)
}

/// The report.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvictionReport {
    /// Time at which the simulation starts.
    pub start: Time,
    /// Events, ordered by time. Types may be added.
    pub events: Vec<EventItem>,
    /// Pods that have to go, by time and name, then those that tolerate every taint of their devices for good.
    pub pods: Vec<PodItem>,
    /// With `--toleration-report`: how each pod tolerates each NoExecute taint of its devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerations: Option<Vec<TolerationItem>>,
    /// Pods on tainted devices that the controller does not evict although their claims say it should.
    pub missed: Vec<MissedPod>,
    /// Claims whose devices become free, by time and name.
    pub claims: Vec<ClaimItem>,
    /// PodDisruptionBudgets that lose pods. The controller does not ask them.
    pub disruption_budgets: Vec<BudgetItem>,
    /// DeviceTaintRules with their conditions, by name.
    pub rules: Vec<RuleItem>,
    /// True if the simulation ended before nothing was left to happen, so that events are missing.
    pub gave_up: bool,
    /// True if more pods may have to go than is known, since objects could not be read or nothing was selected.
    #[serde(skip)]
    pub may_be_more: bool,
    /// Unknown gates whose other value would change the set of evicted pods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed_gates: Vec<AssumedGate>,
    /// Additional warnings.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "EvictionEvent")]
#[serde(rename_all = "camelCase")]
pub struct EventItem {
    /// Time.
    pub at: Time,
    /// Type.
    #[serde(rename = "type")]
    pub type_: EventType,
    /// Namespace of the object; absent for rules.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID. Begins with `simulated-` for what the simulation made.
    pub uid: Str,
    /// The reason why a pod has to go: the taints.
    #[serde(serialize_with = "shared", skip_serializing_if = "<[ReasonItem]>::is_empty")]
    pub reasons: Arc<[ReasonItem]>,
    /// Devices that become free.
    #[serde(
        serialize_with = "shared",
        skip_serializing_if = "<[DeviceReference]>::is_empty"
    )]
    pub devices: Arc<[DeviceReference]>,
    /// Nodes that a replacement fits on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Str>,
    /// More, for people.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub message: Str,
}

/// Fate of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum PodVerdict {
    /// It has to go.
    Evicted,
    /// It tolerates every taint of its devices for good.
    Tolerates,
}

/// A pod on tainted devices.
#[serde_with_macros::skip_serializing_none]
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "TaintedPod")]
#[serde(rename_all = "camelCase")]
pub struct PodItem {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// Its node.
    pub node: Option<Str>,
    /// Fate.
    pub verdict: PodVerdict,
    /// Time at which it is deleted.
    pub at: Option<Time>,
    /// Time at which it is gone at the latest.
    pub gone_at: Option<Time>,
    /// Its grace period.
    pub grace_period_seconds: Option<i64>,
    /// The taints that make it go.
    #[serde(serialize_with = "shared", skip_serializing_if = "<[ReasonItem]>::is_empty")]
    pub reasons: Arc<[ReasonItem]>,
    /// Its priority; the controller does not look at it.
    pub priority: Option<i32>,
    /// Owner.
    pub owner: Option<OwnerItem>,
    /// Reaction of its owner.
    pub replacing: Option<Replacing>,
    /// The pod that takes its place.
    pub replacement: Option<ReplacementItem>,
    /// Other pods of its group, which are recreated with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub restarts: Vec<Str>,
}

/// The owner of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnerItem {
    /// Its kind.
    pub kind: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// Pods that it has and that have not ended.
    pub pods: usize,
    /// Number of them to be evicted.
    pub evicted: usize,
}

/// A pod that takes the place of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ReplacementItem {
    /// A made-up name, except for a StatefulSet's pod.
    pub name: Str,
    /// True if it fits.
    pub fits: Fit,
    /// Nodes, once it fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Str>,
    /// The reason why not, or why it is unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Filters of the scheduler that could still reject it on these nodes, and are not simulated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_simulated: Vec<Str>,
    /// Whether it is evicted, too, on its only node.
    #[serde(rename = "evictedAgain", skip_serializing_if = "std::ops::Not::not")]
    pub evicted_again: bool,
}

/// Fit of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "ReplacementFit")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Fit {
    Fits,
    DoesNotFit,
    Unknown,
}

/// Toleration of a NoExecute taint of a pod's device, as the eviction controller sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TolerationItem {
    /// Namespace of the pod.
    pub namespace: Str,
    /// Name of the pod.
    pub name: Str,
    /// UID of the pod.
    pub uid: Str,
    /// The claim that holds the device.
    pub claim: Str,
    /// The device.
    pub device: DeviceReference,
    /// The taint and where it comes from.
    pub taint: ReasonItem,
    /// Toleration of the taint.
    pub tolerated: Tolerated,
    /// Whether tolerations are meant for the taint and do not count, as they lack effect NoExecute. Absent where not.
    #[serde(rename = "lacksEffect", skip_serializing_if = "std::ops::Not::not")]
    pub lacks_effect: bool,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

/// Toleration of a taint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "PodToleration")]
pub enum Tolerated {
    /// It is not.
    No,
    /// For some time.
    Until,
    /// For good.
    Forever,
}

/// A claim that is released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "ReleasedClaim")]
#[serde(rename_all = "camelCase")]
pub struct ClaimItem {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// Time at which its devices are free.
    pub released_at: Time,
    /// Time at which it is removed, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Time>,
    /// Its devices.
    #[serde(serialize_with = "shared")]
    pub devices: Arc<[DeviceReference]>,
}

/// A PodDisruptionBudget that loses pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetItem {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// Number of pods the disruption controller allowed to go last.
    pub disruptions_allowed: i32,
    /// Its pods that have to go.
    pub pods: Vec<Str>,
    /// True if that breaks it.
    pub violated: bool,
    /// Time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violated_at: Option<Time>,
}

/// A rule and its condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct RuleItem {
    /// Its name.
    pub name: Str,
    /// The condition right after the start; absent where the controller writes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<StatusItem>,
    /// Later ones.
    pub timeline: Vec<StatusItem>,
}

/// The condition `EvictionInProgress` of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct StatusItem {
    /// Since when; of a condition that was there before, its own time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// `True` or `False`.
    #[schemars(extend("enum" = ["True", "False"]))]
    pub status: Str,
    /// The reason.
    pub reason: Str,
    /// For people.
    pub message: Str,
}

impl ReplacementItem {
    pub(super) fn of(
        pod: &Pod,
        (reference, replacement): (&PodRef, &Replacement),
        evicted_again: bool,
    ) -> Self {
        let name = reference.key.name.clone();
        let (fits, nodes, message) = match &replacement.placement {
            Some(Placement::Fits { nodes, .. }) => (Fit::Fits, nodes.clone(), String::new()),
            Some(Placement::DoesNotFit { message }) => (Fit::DoesNotFit, Vec::new(), message.clone()),
            Some(Placement::Unknown { why }) => (Fit::Unknown, Vec::new(), why.clone()),
            None => (Fit::Unknown, Vec::new(), "scheduling is not simulated".to_owned()),
        };
        Self {
            name,
            fits,
            // Which of several nodes it gets is a guess.
            evicted_again: evicted_again && nodes.len() == 1,
            not_simulated: match fits {
                Fit::Fits => not_simulated(pod).into_iter().map(Str::from).collect(),
                Fit::DoesNotFit | Fit::Unknown => Vec::new(),
            },
            nodes,
            message,
        }
    }
}

impl StatusItem {
    pub(super) fn of(condition: &Condition) -> Self {
        Self {
            at: condition.last_transition_time,
            status: condition.status.clone(),
            reason: condition.reason.clone(),
            message: condition.message.clone(),
        }
    }
}

impl EventItem {
    pub(super) fn of(happening: &Happening, reasons: &mut Reasons) -> Self {
        let mut item = Self {
            at: happening.at,
            type_: EventType::from(&happening.what),
            namespace: happening.key.namespace.clone(),
            name: happening.key.name.clone(),
            uid: happening.uid.clone(),
            reasons: Arc::default(),
            devices: Arc::default(),
            nodes: Vec::new(),
            message: Str::default(),
        };
        match &happening.what {
            What::PodDeleted {
                eviction,
                grace_seconds,
            } => {
                item.reasons = reasons.all(eviction);
                item.message = format!("grace period {grace_seconds}s").into();
            }
            What::ClaimReleased { devices } => {
                item.devices = Arc::clone(devices);
            }
            What::ClaimCreated { owner } => item.message = format!("for {}", owner.name).into(),
            What::PodReplaced { original } => item.message = format!("in place of {}", original.name).into(),
            What::PodScheduled { nodes } => item.nodes.clone_from(nodes),
            What::ClaimFailed { message } | What::PodUnschedulable { message } => {
                item.message = message.as_str().into();
            }
            What::RuleStatus { condition } => {
                let text = format!("{} {} {}", condition.status, condition.reason, condition.message);
                item.message = text.trim_end().into();
            }
            What::EvictionCancelled | What::PodGone | What::ClaimDeleted => {}
        }
        item
    }
}
