//! Nodes, PodDisruptionBudgets, ResourceQuotas and events.

use macro_rules_attribute::apply;

use super::{Meta, Quantity, Str, Time};
use crate::decoded::decoded;
use dra_values::decode::{field, or_default};

/// The label with the type of machine of a node: machines of one type have the same devices. Mirrors `core/v1/well_known_labels.go`,
/// `LabelInstanceTypeStable`.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// `core/v1` Node.
#[apply(decoded)]
pub struct Node {
    /// Identity and labels.
    pub metadata: Meta,
    /// Taints and the unschedulable flag.
    pub spec: NodeSpec,
    /// Status of the node.
    pub status: NodeStatus,
}

impl Node {
    /// What the kubelet says of itself, or the node controller of a silent one.
    pub fn ready(&self) -> Option<&super::Condition> {
        let mut conditions = self.status.conditions.iter();
        conditions.find(|condition| condition.type_ == "Ready")
    }
}

/// Settings that keep pods off a node.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct NodeSpec {
    /// Cordoned.
    pub unschedulable: bool,
    /// Taints of the node.
    pub taints: Vec<super::Taint>,
}

/// Resources and conditions of a node.
#[apply(decoded)]
pub struct NodeStatus {
    /// Amounts for pods, sorted by resource name.
    pub allocatable: Vec<(Str, Quantity)>,
    /// `Ready` and others.
    pub conditions: Vec<super::Condition>,
    /// Versions.
    pub node_info: NodeInfo,
    /// Features that the kubelet declares, by name of their gate.
    pub declared_features: Vec<Str>,
}

/// Information that the kubelet reports about itself.
#[apply(decoded)]
pub struct NodeInfo {
    /// `v1.37.2`.
    pub kubelet_version: Str,
    /// `containerd://2.1.4`.
    pub container_runtime_version: Str,
}

/// `policy/v1` PodDisruptionBudget.
#[apply(decoded)]
pub struct DisruptionBudget {
    /// Identity.
    pub metadata: Meta,
    /// Selected pods.
    pub spec: DisruptionBudgetSpec,
    /// Number of may go.
    pub status: DisruptionBudgetStatus,
}

/// Pods of a budget.
#[apply(decoded)]
pub struct DisruptionBudgetSpec {
    /// Absent matches no pod, empty every pod of the namespace.
    pub selector: Option<PodSelector>,
}

/// Number of pods of a budget may go.
#[apply(decoded)]
pub struct DisruptionBudgetStatus {
    /// May be evicted now.
    pub disruptions_allowed: i32,
}

/// `meta/v1` LabelSelector, as disruption budgets and affinities to pods hold it.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct PodSelector {
    /// Must be equal.
    pub match_labels: Vec<(Str, Str)>,
    /// Must hold.
    pub match_expressions: Vec<PodRequirement>,
}

/// One requirement of a label selector.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct PodRequirement {
    /// The label.
    pub key: Str,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: Str,
    /// Values of the operator.
    pub values: Vec<Str>,
}

/// `core/v1` ResourceQuota.
#[apply(decoded)]
pub struct Quota {
    /// Identity.
    pub metadata: Meta,
    /// Counted objects.
    pub spec: QuotaSpec,
    /// Limits and usage.
    pub status: QuotaStatus,
}

/// Objects that a quota counts.
#[apply(decoded)]
pub struct QuotaSpec {
    /// Scopes that an object must be in.
    pub scopes: Vec<Str>,
    /// Conditions on further scopes.
    pub scope_selector: ScopeSelector,
}

/// Conditions on the scopes of an object.
#[apply(decoded)]
pub struct ScopeSelector {
    /// All must hold.
    pub match_expressions: Vec<ScopeRequirement>,
}

/// A condition on one scope. Its operator and values are about pods and volumes.
#[apply(decoded)]
pub struct ScopeRequirement {
    /// The scope.
    pub scope_name: Str,
}

/// Limits and usage of a quota.
#[apply(decoded)]
pub struct QuotaStatus {
    /// Limits, sorted by resource name.
    pub hard: Vec<(Str, Quantity)>,
    /// Usage, sorted by resource name.
    pub used: Vec<(Str, Quantity)>,
}

/// `core/v1` Event.
#[apply(decoded)]
pub struct Event {
    /// Identity.
    pub metadata: Meta,
    /// Object of the event.
    pub involved_object: ObjectReference,
    /// Machine-readable cause.
    pub reason: Str,
    /// Text for people.
    #[serde(deserialize_with = "or_default")]
    pub message: Str,
    /// `Normal` or `Warning`.
    #[serde(rename = "type", deserialize_with = "field")]
    pub type_: Str,
    /// Reporter, in the older form.
    pub source: EventSource,
    /// Reporter.
    pub reporting_component: Str,
    /// First time, in the older form.
    pub first_timestamp: Option<Time>,
    /// Last time, in the older form.
    pub last_timestamp: Option<Time>,
    /// First time.
    pub event_time: Option<Time>,
    /// Count, in the older form.
    pub count: i32,
    /// Repetitions.
    pub series: Option<EventSeries>,
}

impl Event {
    /// Returns when the event was seen last.
    pub fn last_seen(&self) -> Option<Time> {
        let repeated = self.series.as_ref().and_then(|series| series.last_observed_time);
        repeated
            .or(self.last_timestamp)
            .or(self.event_time)
            .or(self.metadata.creation_timestamp)
    }

    /// Returns when the event was seen first, as far as it says so.
    pub fn first_seen(&self) -> Option<Time> {
        self.first_timestamp.or(self.event_time).or(self.last_seen())
    }

    /// The container that it is about, if it is about one.
    pub fn container(&self) -> Option<&str> {
        let (_, name) = self.involved_object.field_path.split_once('{')?;
        name.strip_suffix('}')
    }

    /// Returns how often the event was seen.
    pub fn times(&self) -> i32 {
        self.series
            .as_ref()
            .map_or(self.count, |series| series.count)
            .max(1)
    }

    /// Returns who reports.
    pub fn component(&self) -> &Str {
        if self.reporting_component.is_empty() {
            &self.source.component
        } else {
            &self.reporting_component
        }
    }
}

/// Repetitions of an event.
#[apply(decoded)]
pub struct EventSeries {
    /// Count.
    pub count: i32,
    /// Last time.
    pub last_observed_time: Option<Time>,
}

/// Reporter of an event, in the older form.
#[apply(decoded)]
pub struct EventSource {
    /// The component.
    pub component: Str,
    /// The node that it runs on.
    pub host: Str,
}

/// Object of an event.
#[apply(decoded)]
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectReference {
    /// Kind.
    pub kind: Str,
    /// Namespace.
    pub namespace: Str,
    /// Name.
    #[serde(deserialize_with = "or_default")]
    pub name: Str,
    /// UID.
    #[serde(deserialize_with = "or_default")]
    pub uid: Str,
    /// The part of it: `spec.containers{name}`.
    pub field_path: Str,
}
