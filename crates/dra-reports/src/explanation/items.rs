//! Parts of an explanation that are serialized as they are known.

use serde::Serialize;

use crate::Sentence;
use crate::remedy::{Remake, Remedy};
use crate::script::{NoCommand, Script};
use crate::stage::Advice;
use dra_model::{Format, Key, Quantity, Str};

/// Devices and consumers of an allocated claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Holding {
    /// Their only node, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Str>,
    /// The devices: `driver/pool/device`.
    pub devices: Vec<String>,
    /// Consumers: `pod/NAMESPACE/NAME`, `podgroup/NAMESPACE/NAME`, otherwise `RESOURCE.GROUP/NAME`.
    pub consumers: Vec<String>,
}

/// Whether waiting helps.
#[macro_rules_attribute::apply(report)]
pub struct WaitingItem {
    /// The answer.
    pub helps: Helps,
    /// The answer in a sentence.
    pub summary: Sentence,
    /// Number of `consumers` that have to finish.
    #[schemars(range(min = 1))]
    pub count: Option<usize>,
    /// Consumers that have to finish: `pod/NAMESPACE/NAME`, `podgroup/NAMESPACE/NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub consumers: Vec<String>,
    /// Nodes that it fits on then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Str>,
    /// Whether the end of others, who were not tried, may help too. Absent where not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bounded: bool,
}

/// Whether waiting helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Helps {
    /// Waiting does not help while devices, classes and labels of nodes stay unchanged: it does not fit even with every device available and untainted
    /// either.
    Never,
    /// It fits once one consumer finishes.
    WhenOneEnds,
    /// It fits once this number of consumers finish.
    WhenEnd,
    /// It fits once taints of devices, or of nodes, are removed.
    WhenUntainted,
    /// It fits once kube-scheduler has deallocated claims of the pod that hold devices elsewhere, or deleted one of its earlier attempt, which it does automatically.
    WhenDeallocated,
    /// It fits once nodes are uncordoned.
    WhenUncordoned,
    /// It fits once nodes that cannot run pods are ready again.
    WhenRestored,
    /// It may fit once drivers have published again what the start of a kubelet deleted, which they do within a minute.
    WhenPublished,
    /// Nothing, as long as its owner is as it is: pods of the same owner have what it needs, and the owner does not end them for it, or
    /// they wait for it.
    Kept,
    /// Unknown; the summary has the reason.
    Unknown,
}

/// The verdict about the pod or the claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema, strum::IntoStaticStr)]
pub enum ClusterVerdict {
    /// It fits on at least one node.
    Fits,
    /// It has a node.
    Bound,
    /// It has its node, but not its devices: the kubelet does not let it start, or they may go to others.
    Broken,
    /// The claim is allocated.
    Allocated,
    /// It has finished, or no pod needs it.
    Ended,
    /// The scheduler does not consider it yet, or waits until its devices are attached.
    Waits,
    /// It fits on no node.
    DoesNotFit,
    /// The scheduling attempt ends with an error.
    Error,
    /// Undecided within the limits.
    GaveUp,
    /// Unknown, because data is missing.
    Unknown,
}

/// Number of nodes that a filter rejects first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilterCount {
    /// The plugin.
    pub plugin: &'static str,
    /// The number of nodes.
    pub nodes: u64,
    /// Messages, with the number of nodes.
    pub messages: Vec<String>,
}

/// Numbers of a node's devices for a request, without incomplete and invalid pools. Devices in use are not counted as tainted.
#[macro_rules_attribute::apply(report)]
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceCount {
    /// The claim: `namespace/name`.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub claim: Key,
    /// `request` or `request/subrequest`.
    pub request: Str,
    /// Number of devices that the request takes; absent if it takes all that match and none does.
    pub wanted: Option<u64>,
    /// Devices that class and request select on this node.
    pub matching: u64,
    /// Matching devices that claims hold.
    pub in_use: u64,
    /// Matching devices with a taint that the request does not tolerate. Those in use are not counted again.
    pub tainted: u64,
    /// Matching devices that something else excludes.
    pub blocked: u64,
    /// Devices that could be allocated, each on its own.
    pub usable: u64,
    /// Devices with an unknown state. Absent where there is none.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown: u64,
}

impl DeviceCount {
    /// Returns whether there are surely too few.
    pub fn is_short(&self) -> bool {
        self.wanted
            .is_none_or(|wanted| self.usable + self.unknown < wanted)
    }
}

fn as_text<S: serde::Serializer>(key: &Key, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(key)
}

fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

/// Requested, available and total amount.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub struct Amounts {
    /// Requested amount of a limited resource.
    pub wanted: Quantity,
    /// Available amount; negative if claims use more than there is.
    pub left: Quantity,
    /// Total amount.
    pub total: Quantity,
}

impl Amounts {
    pub(super) fn of_devices(wanted: i64, left: usize, total: usize) -> Self {
        let count = |devices: i64| Quantity::new(devices, Format::DecimalSi);
        Self {
            wanted: count(wanted),
            left: count(left as i64),
            total: count(total as i64),
        }
    }
}

/// Kinds of changes that help. Each has a row on the page of `explain` and is tried on a real API server.
const KINDS: &[&str] = &[
    "AddNode",
    "AdmitDriver",
    "AllowAdminAccess",
    "AwaitBinding",
    "AwaitDriver",
    "AwaitFinalizer",
    "AwaitGate",
    "AwaitKubelet",
    "AwaitNode",
    "ChangeStrategy",
    "CompleteGang",
    "CorrectPods",
    "CorrectSelector",
    "CreateClaim",
    "CreateClass",
    "CreateTemplate",
    "DropConstraint",
    "DropToleration",
    "EnableGate",
    "FewerDevices",
    "ForceDelete",
    "GatherNodes",
    "GuardSelector",
    "LessCapacity",
    "LessResource",
    "LetBind",
    "LiftNodeTaint",
    "LiftTaint",
    "MountVolumes",
    "OfferResource",
    "RaiseQuota",
    "ReadKubelet",
    "RecreatePod",
    "RelaxNodeAffinity",
    "RelaxNodeSelector",
    "RelaxPlacement",
    "RelaxSelector",
    "ReleaseClaim",
    "RemoveFinalizer",
    "RemoveGates",
    "RenewClaim",
    "RepairContainer",
    "RepairDevice",
    "RepairDriver",
    "RepairRuntime",
    "RestartDriver",
    "RestoreController",
    "RestoreDriver",
    "RestoreNode",
    "RestoreWebhook",
    "Several",
    "StopPlugin",
    "TaintDevice",
    "TolerateNodeTaint",
    "TolerateTaint",
    "Uncordon",
    "UpgradeKubelet",
    "UpgradeScheduler",
    "UseClass",
    "UseResource",
    "WaitForDeletion",
];

/// Changes that would help together.
#[macro_rules_attribute::apply(report)]
pub struct FixItem {
    /// Kind of the change; `Several` where it takes more than one.
    #[schemars(regex(pattern = "^[A-Z][A-Za-z]+$"))]
    pub kind: &'static str,
    /// Object of the change.
    pub target: String,
    /// Message.
    pub message: String,
    /// The command, if there is one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub command: Option<Script>,
    /// What to know before running the command, or who can do it if there is none.
    pub note: Option<String>,
    /// A read-only command that shows more.
    pub look: Option<Script>,
    /// Whether a simulation of the changed cluster shows that it helps.
    pub proven: bool,
    /// Whether it is shown that fewer changes do not suffice.
    pub minimal: bool,
    /// The changes one by one, where there is more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FixChange>,
    /// Nodes that it fits on then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Str>,
    /// Number of pods with a higher priority that wait, too, and may take what it makes room for. Absent where none.
    #[serde(skip_serializing_if = "is_zero")]
    pub ahead: usize,
    /// Devices that requests with relaxed selectors get on the first of these nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gets: Vec<GetsItem>,
    /// Whether it allocates devices that are reported as unhealthy. Absent where not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub risky: bool,
    /// The objects that are recreated, as manifests can say it; none where something else has to be done as well.
    #[serde(skip)]
    pub remakes: Vec<Remake>,
}

/// Device of a request with a relaxed selector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetsItem {
    /// The claim: `namespace/name`.
    pub claim: String,
    /// `request` or `request/subrequest`.
    pub request: Str,
    /// Its first device: `driver/pool/device`.
    pub device: String,
    /// Number of further devices. Absent if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(min = 1))]
    pub more: usize,
    /// Known differences to a requested device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
}

/// A single change.
#[macro_rules_attribute::apply(report)]
pub struct FixChange {
    /// Kind of the change.
    #[schemars(regex(pattern = "^[A-Z][A-Za-z]+$"))]
    pub kind: &'static str,
    /// Object of the change.
    pub target: String,
    /// Message.
    pub message: String,
    /// The command, if there is one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub command: Option<Script>,
    /// What to know before running the command, or who can do it if there is none.
    pub note: Option<String>,
}

impl FixChange {
    pub(super) fn new(kind: &'static str, target: String, message: String, remedy: Remedy) -> Self {
        Self {
            kind,
            target,
            message,
            note: remedy.text(),
            command: remedy.command,
        }
    }
}

impl FixItem {
    /// What lets a pod continue from its stage.
    pub(super) fn of_advice(advice: Advice) -> Self {
        Self {
            look: advice.look,
            ..Self::unproven(advice.kind, advice.target, advice.message, advice.remedy)
        }
    }

    /// A fix that cannot be simulated.
    pub(super) fn unproven(
        kind: &'static str,
        target: impl Into<String>,
        message: impl Into<String>,
        remedy: Remedy,
    ) -> Self {
        debug_assert!(KINDS.contains(&kind), "{kind} is none of the kinds");
        Self {
            kind,
            target: target.into(),
            message: message.into(),
            note: remedy.text(),
            command: remedy.command,
            look: None,
            proven: false,
            minimal: false,
            changes: Vec::new(),
            nodes: Vec::new(),
            ahead: 0,
            gets: Vec::new(),
            risky: false,
            remakes: Vec::new(),
        }
    }

    /// A fix that no command makes: `how` says what follows, or who can do it.
    pub(super) fn by_hand(
        kind: &'static str,
        target: impl Into<String>,
        message: impl Into<String>,
        how: impl Into<String>,
    ) -> Self {
        Self::unproven(kind, target, message, Remedy::by_hand(how))
    }

    /// What shows more. A name that gives no command is in the message already.
    pub(super) fn look(self, look: Result<Script, NoCommand>) -> Self {
        Self {
            look: look.ok(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_page_has_a_row_for_each_kind_of_change() {
        let page = include_str!("../../../../docs/reference/commands/explain.md");
        let (_, rest) = page.split_once("| Kind | ").unwrap();
        let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
        let told: BTreeSet<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
        assert_eq!(told, KINDS.iter().copied().collect());
    }
}
