//! Nodes, PodDisruptionBudgets, ResourceQuotas and events.

use serde::Deserialize;

use super::{Meta, Quantity, Str, Time};
use dra_values::decode::{interned, interned_list, interned_pairs, keyed, list, or_default};

/// The label with the type of machine of a node: machines of one type have the same devices. Mirrors `core/v1/well_known_labels.go`,
/// `LabelInstanceTypeStable`.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// `core/v1` Node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Identity and labels.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Meta,
    /// Taints and the unschedulable flag.
    #[serde(deserialize_with = "or_default")]
    pub spec: NodeSpec,
    /// Status of the node.
    #[serde(deserialize_with = "or_default")]
    pub status: NodeStatus,
}

/// Settings that keep pods off a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeSpec {
    /// Cordoned.
    #[serde(deserialize_with = "or_default")]
    pub unschedulable: bool,
    /// Taints of the node.
    #[serde(deserialize_with = "list")]
    pub taints: Vec<super::Taint>,
}

/// Resources and conditions of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    /// Amounts for pods, sorted by resource name.
    #[serde(deserialize_with = "keyed")]
    pub allocatable: Vec<(Str, Quantity)>,
    /// `Ready` and others.
    #[serde(deserialize_with = "list")]
    pub conditions: Vec<super::Condition>,
    /// Versions.
    #[serde(deserialize_with = "or_default")]
    pub node_info: NodeInfo,
    /// Features that the kubelet declares, by name of their gate.
    #[serde(deserialize_with = "interned_list")]
    pub declared_features: Vec<Str>,
}

/// Information that the kubelet reports about itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeInfo {
    /// `v1.37.2`.
    #[serde(deserialize_with = "interned")]
    pub kubelet_version: Str,
    /// `containerd://2.1.4`.
    #[serde(deserialize_with = "interned")]
    pub container_runtime_version: Str,
}

/// `policy/v1` PodDisruptionBudget.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DisruptionBudget {
    /// Identity.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Meta,
    /// Selected pods.
    #[serde(deserialize_with = "or_default")]
    pub spec: DisruptionBudgetSpec,
    /// Number of may go.
    #[serde(deserialize_with = "or_default")]
    pub status: DisruptionBudgetStatus,
}

/// Pods of a budget.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DisruptionBudgetSpec {
    /// Absent matches no pod, empty every pod of the namespace.
    pub selector: Option<PodSelector>,
    /// A number or a percentage.
    pub min_available: Option<IntOrPercent>,
    /// A number or a percentage.
    pub max_unavailable: Option<IntOrPercent>,
}

/// A number, or a percentage such as `50%`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum IntOrPercent {
    /// A number.
    Int(i64),
    /// A percentage, as written.
    Percent(Str),
}

/// Number of pods of a budget may go.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DisruptionBudgetStatus {
    /// May be evicted now.
    #[serde(deserialize_with = "or_default")]
    pub disruptions_allowed: i32,
    /// Healthy now.
    #[serde(deserialize_with = "or_default")]
    pub current_healthy: i32,
    /// Must stay healthy.
    #[serde(deserialize_with = "or_default")]
    pub desired_healthy: i32,
    /// Counted pods.
    #[serde(deserialize_with = "or_default")]
    pub expected_pods: i32,
}

/// `meta/v1` LabelSelector, as a disruption budget holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSelector {
    /// Must be equal.
    #[serde(deserialize_with = "interned_pairs")]
    pub match_labels: Vec<(Str, Str)>,
    /// Must hold.
    #[serde(deserialize_with = "list")]
    pub match_expressions: Vec<PodRequirement>,
}

/// One requirement of a label selector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PodRequirement {
    /// The label.
    #[serde(deserialize_with = "interned")]
    pub key: Str,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[serde(deserialize_with = "interned")]
    pub operator: Str,
    /// Values of the operator.
    #[serde(deserialize_with = "interned_list")]
    pub values: Vec<Str>,
}

/// `core/v1` ResourceQuota.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Quota {
    /// Identity.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Meta,
    /// Counted objects.
    #[serde(deserialize_with = "or_default")]
    pub spec: QuotaSpec,
    /// Limits and usage.
    #[serde(deserialize_with = "or_default")]
    pub status: QuotaStatus,
}

/// Objects that a quota counts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QuotaSpec {
    /// Scopes that an object must be in.
    #[serde(deserialize_with = "interned_list")]
    pub scopes: Vec<Str>,
    /// Conditions on further scopes.
    #[serde(deserialize_with = "or_default")]
    pub scope_selector: ScopeSelector,
}

/// Conditions on the scopes of an object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScopeSelector {
    /// All must hold.
    #[serde(deserialize_with = "list")]
    pub match_expressions: Vec<ScopeRequirement>,
}

/// A condition on one scope. Its operator and values are about pods and volumes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScopeRequirement {
    /// The scope.
    #[serde(deserialize_with = "interned")]
    pub scope_name: Str,
}

/// Limits and usage of a quota.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct QuotaStatus {
    /// Limits, sorted by resource name.
    #[serde(deserialize_with = "keyed")]
    pub hard: Vec<(Str, Quantity)>,
    /// Usage, sorted by resource name.
    #[serde(deserialize_with = "keyed")]
    pub used: Vec<(Str, Quantity)>,
}

/// `core/v1` Event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    /// Identity.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Meta,
    /// Object of the event.
    #[serde(deserialize_with = "or_default")]
    pub involved_object: ObjectReference,
    /// Machine-readable cause.
    #[serde(deserialize_with = "interned")]
    pub reason: Str,
    /// Text for people.
    #[serde(deserialize_with = "or_default")]
    pub message: Str,
    /// `Normal` or `Warning`.
    #[serde(rename = "type", deserialize_with = "interned")]
    pub type_: Str,
    /// Reporter, in the older form.
    #[serde(deserialize_with = "or_default")]
    pub source: EventSource,
    /// Reporter.
    #[serde(deserialize_with = "interned")]
    pub reporting_component: Str,
    /// First time, in the older form.
    pub first_timestamp: Option<Time>,
    /// Last time, in the older form.
    pub last_timestamp: Option<Time>,
    /// First time.
    pub event_time: Option<Time>,
    /// Count, in the older form.
    #[serde(deserialize_with = "or_default")]
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
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventSeries {
    /// Count.
    #[serde(deserialize_with = "or_default")]
    pub count: i32,
    /// Last time.
    pub last_observed_time: Option<Time>,
}

/// Reporter of an event, in the older form.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct EventSource {
    /// The component.
    #[serde(deserialize_with = "interned")]
    pub component: Str,
}

/// Object of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(default)]
pub struct ObjectReference {
    /// Kind.
    #[serde(deserialize_with = "interned")]
    pub kind: Str,
    /// Namespace.
    #[serde(deserialize_with = "interned")]
    pub namespace: Str,
    /// Name.
    #[serde(deserialize_with = "or_default")]
    pub name: Str,
    /// UID.
    #[serde(deserialize_with = "or_default")]
    pub uid: Str,
    /// The part of it: `spec.containers{name}`.
    #[serde(deserialize_with = "interned", rename = "fieldPath")]
    pub field_path: Str,
}
