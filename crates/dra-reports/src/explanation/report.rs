//! The report of an explanation.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::allocation::{Exactness, Target};
use crate::remedy::{Remake, Remedy};
use crate::script::{NoCommand, Script};
use crate::stage::StageItem;
use crate::warnings::missing;
use dra_model::{Gap, Quantity, Str};
use dra_rules::scheduling::AssumedGate;

/// The code for devices that skip node operations where the node does not declare that it can.
pub(super) const NODE_OPERATIONS: &str = "NodeOperations";

/// The report.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// What is explained.
    pub target: Target,
    /// The answer.
    pub verdict: ClusterVerdict,
    /// The answer in a sentence.
    pub summary: String,
    /// Why it does not fit or fails, in half a sentence that goes on from "waits:" or "fails:".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The nodes that are rejected, in groups of those with the same reason: those that lack least first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_groups: Vec<NodeGroup>,
    /// Whether waiting helps. Absent where the scheduler did not reject every node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingItem>,
    /// How far the answer is the scheduler's own. Absent where the scheduler has nothing to decide any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exactness: Option<Exactness>,
    /// What the claim has, if it is allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<Holding>,
    /// How far the devices of a pod are on its node, and what keeps it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<StageItem>,
    /// What the scheduler says; absent where it says nothing, or something that depends on what is not simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What holds for all nodes alike.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// Nodes by the first filter of the scheduler that rejects them, in the scheduler's order.
    pub filters: Vec<FilterCount>,
    /// The nodes, by name.
    pub nodes: Vec<NodeExplanation>,
    /// What would help: what can only be waited for, what the object asks for, idle claims, those of others, taints, and last what is
    /// risky.
    pub fixes: Vec<FixItem>,
    /// Plugins of the scheduler that could still refuse, because of what the pod uses.
    pub not_simulated: Vec<String>,
    /// What would have to be known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Warnings that the cluster itself has about the object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Gates of which nothing tells how they are set, where the other value would change the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed_gates: Vec<AssumedGate>,
    /// What else is to be known of the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether something could not be read.
    #[serde(skip)]
    pub(super) lacks_objects: bool,
}

/// What an allocated claim holds, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Holding {
    /// The only node that reaches them, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Str>,
    /// The devices: `driver/pool/device`.
    pub devices: Vec<String>,
    /// Who has it reserved: `pod/NAMESPACE/NAME`, `podgroup/NAMESPACE/NAME`, else `RESOURCE.GROUP/NAME`.
    pub consumers: Vec<String>,
}

/// Whether waiting helps.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WaitingItem {
    /// The answer.
    pub helps: Helps,
    /// The answer in a sentence.
    pub summary: String,
    /// Any so many of the `consumers` have to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: Option<usize>,
    /// Whose end helps: `pod/NAMESPACE/NAME`, `podgroup/NAMESPACE/NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub consumers: Vec<String>,
    /// Where it fits then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Str>,
    /// Whether the end of others, who were not tried, may help too. Absent where not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bounded: bool,
}

/// Whether waiting helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Helps {
    /// Nothing, as long as devices, classes and labels of nodes stay as they are: it does not fit with every device free and untainted
    /// either.
    Never,
    /// The end of one consumer suffices.
    WhenOneEnds,
    /// So many consumers have to end.
    WhenEnd,
    /// It fits once devices have no taints.
    WhenUntainted,
    /// It fits once kube-scheduler has deallocated claims of the pod that hold devices elsewhere, which it does automatically.
    WhenDeallocated,
    /// Not known; the summary says why.
    Unknown,
}

/// What becomes of the pod or the claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ClusterVerdict {
    /// At least one node can take it.
    Fits,
    /// It has its node.
    Bound,
    /// It has its node, but not its devices: the kubelet does not let it start, or they may go to others.
    Broken,
    /// The claim has its devices.
    Allocated,
    /// It has ended.
    Ended,
    /// The scheduler does not look at it yet.
    Waits,
    /// No node can take it.
    DoesNotFit,
    /// The attempt ends with an error.
    Error,
    /// Not decided within the limits.
    GaveUp,
    /// Not known, since data is missing.
    Unknown,
}

/// How many nodes a filter rejects before any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FilterCount {
    /// The plugin.
    pub plugin: &'static str,
    /// The number of nodes.
    pub nodes: u64,
    /// What it says, with the number of nodes.
    pub messages: Vec<String>,
}

/// The answer for one node.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeExplanation {
    /// The node.
    pub node: Str,
    /// Whether it can take it.
    pub fits: bool,
    /// The first plugin of the scheduler that rejects the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<&'static str>,
    /// What the plugin says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why, down to each device.
    pub reasons: Vec<Reason>,
    /// How the devices of its usable pools count for each request, where the plugin for devices rejects the node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCount>,
}

/// How the devices of a node's usable pools count for a request. What is in use by a claim is not counted as tainted too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeviceCount {
    /// The claim: `namespace/name`.
    pub claim: String,
    /// `request` or `request/subrequest`.
    pub request: Str,
    /// How many devices the request takes; absent where it takes all that match and none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<u64>,
    /// Devices that class and request select on this node.
    pub matching: u64,
    /// Matching devices that claims hold.
    pub in_use: u64,
    /// Matching devices with a taint that the request does not tolerate. Those in use are not counted again.
    pub tainted: u64,
    /// Matching devices that something else rules out.
    pub blocked: u64,
    /// Devices that could be taken, each by itself.
    pub usable: u64,
    /// Devices of which it was not found out. Absent where there is none.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown: u64,
}

impl DeviceCount {
    /// Whether there are surely too few.
    pub fn is_short(&self) -> bool {
        self.wanted
            .is_none_or(|wanted| self.usable + self.unknown < wanted)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Nodes that are rejected for the same reason, by the same numbers.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeGroup {
    /// The nodes, by name.
    pub nodes: Vec<Str>,
    /// The numbers of the requests that have too few devices there, where that is the cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCount>,
    /// The cause in words, where numbers do not tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// The claim that it is about: `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// `request` or `request/subrequest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Str>,
    /// `driver/pool/device`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// What kind of reason, in one word that stays.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[A-Z][A-Za-z]+$")))]
    pub code: &'static str,
    /// The numbers of a limit, where the reason is one.
    #[serde(flatten)]
    pub amounts: Option<Amounts>,
    /// For people.
    pub message: String,
    /// In few words, which are the same for nodes and devices that are alike.
    #[serde(skip)]
    pub(super) brief: Option<String>,
}

/// What is wanted of something and what is left of how much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Amounts {
    /// What the request takes of what is short, where the reason is a limit.
    pub wanted: Quantity,
    /// What is left of it; negative where claims took more than there is.
    pub left: Quantity,
    /// What there is in all.
    pub total: Quantity,
}

/// Kinds of changes that help, each of which has a row on the page of `explain` and is tried on a real API server.
pub(super) const KINDS: &[&str] = &[
    "AdmitDriver",
    "AwaitBinding",
    "AwaitFinalizer",
    "AwaitGate",
    "AwaitKubelet",
    "CreateClaim",
    "CreateClass",
    "CreateTemplate",
    "DropConstraint",
    "FewerDevices",
    "GuardSelector",
    "LessCapacity",
    "LiftNodeTaint",
    "LiftTaint",
    "RaiseQuota",
    "ReadKubelet",
    "RecreatePod",
    "RelaxNodeAffinity",
    "RelaxNodeSelector",
    "RelaxSelector",
    "ReleaseClaim",
    "RemoveFinalizer",
    "RemoveGates",
    "RepairDriver",
    "RestartDriver",
    "RestoreDriver",
    "RestoreNode",
    "Several",
    "TaintDevice",
    "TolerateNodeTaint",
    "TolerateTaint",
    "Uncordon",
    "UpgradeKubelet",
    "UseClass",
    "WaitForDeletion",
];

/// Changes that would help together.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FixItem {
    /// Kind of the change; `Several` where it takes more than one.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[A-Z][A-Za-z]+$")))]
    pub kind: &'static str,
    /// What is changed.
    pub target: String,
    /// For people.
    pub message: String,
    /// A command that does it as it stands, where there is one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub command: Option<Script>,
    /// Who can do it where there is no command, and what is to be known of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// A command that shows more and changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<Script>,
    /// Whether a simulation of the changed cluster shows that it helps.
    pub proven: bool,
    /// Whether it is shown that fewer changes do not suffice.
    pub minimal: bool,
    /// The changes one by one, where there is more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FixChange>,
    /// Where it fits then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Str>,
    /// Which devices requests with relaxed selectors get on the first of these nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gets: Vec<GetsItem>,
    /// Whether it hands out devices that are reported as unhealthy. Absent where not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub risky: bool,
    /// The objects that are made again, as manifests can say it; none where something else has to be done as well.
    #[serde(skip)]
    pub remakes: Vec<Remake>,
}

/// What a request gets that asks for less than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GetsItem {
    /// The claim: `namespace/name`.
    pub claim: String,
    /// `request` or `request/subrequest`.
    pub request: Str,
    /// Its first device: `driver/pool/device`.
    pub device: String,
    /// How many more it gets. Absent where there are none.
    #[serde(skip_serializing_if = "is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub more: usize,
    /// How the device differs from one that was asked for, as far as that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

impl GetsItem {
    /// `gets gpu-1, memory 10Gi instead of 80Gi`.
    pub fn text(&self) -> String {
        let device = self.device.rsplit('/').next().unwrap_or(&self.device);
        let more = match self.more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let differs: String = self.differs.iter().map(|text| format!(", {text}")).collect();
        format!("gets {device}{more}{differs}")
    }
}

/// A single change.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FixChange {
    /// Kind of the change.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[A-Z][A-Za-z]+$")))]
    pub kind: &'static str,
    /// What is changed.
    pub target: String,
    /// For people.
    pub message: String,
    /// A command that does it as it stands, where there is one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub command: Option<Script>,
    /// Who can do it where there is no command, and what is to be known of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Explanation {
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            verdict: ClusterVerdict::Unknown,
            summary: String::new(),
            cause: None,
            node_groups: Vec::new(),
            waiting: None,
            exactness: None,
            holds: None,
            stage: None,
            message: None,
            reasons: Vec::new(),
            filters: Vec::new(),
            nodes: Vec::new(),
            fixes: Vec::new(),
            not_simulated: Vec::new(),
            unknown: Vec::new(),
            events: Vec::new(),
            assumed_gates: Vec::new(),
            notes: Vec::new(),
            lacks_objects: false,
        }
    }

    /// Whether the verdict is unknown for want of objects, which rights would show.
    pub fn lacks_objects(&self) -> bool {
        self.lacks_objects
    }

    /// Names what could not be read, once.
    pub(super) fn tell_unknown(&mut self, gap: &Gap) {
        self.lacks_objects = true;
        let text = missing(gap);
        if !self.unknown.contains(&text) {
            self.unknown.push(text);
        }
    }

    pub(super) fn conclude(&mut self, verdict: ClusterVerdict, summary: String) {
        self.verdict = verdict;
        self.summary = summary;
        if !matches!(verdict, ClusterVerdict::DoesNotFit | ClusterVerdict::Error) {
            self.cause = None;
            self.waiting = None;
        }
    }
}

/// The filters in the order in which the scheduler runs them.
const ORDER: [&str; 7] = [
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "DynamicResources",
];

impl FilterCount {
    /// Counts each node under the first filter that rejects it.
    pub(super) fn of(nodes: &[NodeExplanation]) -> Vec<Self> {
        let mut counts: BTreeMap<usize, BTreeMap<&str, u64>> = BTreeMap::new();
        for node in nodes {
            let Some(plugin) = node.plugin else { continue };
            let place = ORDER
                .iter()
                .position(|known| *known == plugin)
                .unwrap_or(ORDER.len() - 1);
            let message = node.message.as_deref().unwrap_or_default();
            *counts.entry(place).or_default().entry(message).or_default() += 1;
        }
        counts
            .into_iter()
            .map(|(place, messages)| Self {
                plugin: ORDER[place],
                nodes: messages.values().sum(),
                messages: messages
                    .into_iter()
                    .map(|(message, count)| format!("{count} {message}"))
                    .collect(),
            })
            .collect()
    }
}

impl FixItem {
    /// What has to happen first, and cannot be simulated.
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
            gets: Vec::new(),
            risky: false,
            remakes: Vec::new(),
        }
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
        let page = include_str!("../../../../docs/commands/explain.md");
        let (_, rest) = page.split_once("| Kind | ").unwrap();
        let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
        let told: BTreeSet<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
        assert_eq!(told, KINDS.iter().copied().collect());
    }
}
