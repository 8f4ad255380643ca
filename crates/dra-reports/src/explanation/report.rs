//! The report of an explanation, made of a diagnosis.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::diagnosis::{Answer, Cause, Diagnosis, NodeDiagnosis, NodeGroup, Reason, Warning};
use super::fact::{Brief, Fact, Limited};
use super::items::{Amounts, ClusterVerdict, DeviceCount, FilterCount, FixItem, Holding, WaitingItem};
use super::words;
use crate::Sentence;
use crate::allocation::{AssumedRelease, Exactness, Target};
use crate::stage::StageItem;
use crate::warnings::all_missing;
use dra_model::{Gap, Key, Str};
use dra_rules::scheduling::AssumedGate;

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct Explanation {
    /// The explained object.
    pub target: Target,
    /// The pod that the answer is about, if the explained object is a claim that waits for it.
    pub user: Option<Target>,
    /// The answer.
    pub verdict: ClusterVerdict,
    /// The answer in a sentence.
    pub summary: Sentence,
    /// Why it does not fit or fails, in half a sentence that follows "is pending:" or "fails:".
    pub cause: Option<Sentence>,
    /// The nodes that are rejected, in groups of those with the same reason: those that lack least first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_groups: Vec<NodeGroupItem>,
    /// Whether waiting helps. Absent unless the scheduler rejects every node.
    pub waiting: Option<WaitingItem>,
    /// Exactness of the answer. Absent if the scheduler has nothing to decide.
    pub exactness: Option<Exactness>,
    /// Devices and consumers of an allocated claim.
    pub holds: Option<Holding>,
    /// Progress of a pod with devices on its node, and what blocks it.
    pub stage: Option<StageItem>,
    /// Message of the scheduler; absent if there is none, or if it depends on something that is not simulated.
    pub message: Option<String>,
    /// Reasons that hold for all nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// Nodes by the first filter of the scheduler that rejects them, in the scheduler's order.
    pub filters: Vec<FilterCount>,
    /// The nodes, by name.
    pub nodes: Vec<NodeDiagnosis>,
    /// Fixes: no action needed, what the object requests, idle claims, claims of others, taints, and last what is
    /// risky.
    pub fixes: Vec<FixItem>,
    /// Plugins of the scheduler that could still refuse, because of what the pod uses.
    pub not_simulated: Vec<String>,
    /// Information that is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Those of it that the summary does not name.
    #[serde(skip)]
    pub untold_unknown: Vec<String>,
    /// Warnings that the cluster itself has about the object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Gates with an unknown setting, where the other value would change the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed_gates: Vec<AssumedGate>,
    /// The release, where only objects show it and the newest one would change the answer.
    pub assumed_release: Option<AssumedRelease>,
    /// Notes about the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the scheduler of the pod said last itself, where there is a message.
    #[serde(skip)]
    pub said: Option<String>,
    /// Whether the summary tells the cause.
    #[serde(skip)]
    pub tells_cause: bool,
    /// The fact at the end of cause or summary.
    #[serde(skip)]
    told: Option<Fact>,
    /// Those of the events that do not only repeat what the scheduler says.
    #[serde(skip)]
    pub news: Vec<String>,
    /// Whether the verdict is unknown for want of objects, which rights would show.
    #[serde(skip)]
    pub lacks_objects: bool,
    /// Whether it passes without any action.
    #[serde(skip)]
    pub passes: bool,
    /// Whether the pod has ended as it was to end.
    #[serde(skip)]
    pub has_succeeded: bool,
}

/// Counters of a node that are named with their holders.
const COUNTERS: usize = 2;

/// What is short on `node` in all words, where `brief` says it in few and one fact is behind it.
fn short_of(nodes: &[NodeDiagnosis], node: &Str, brief: &Brief) -> Option<String> {
    let Brief::Amounts(limited @ (Limited::Counter(_) | Limited::Capacity(_)), amounts) = brief else {
        return None;
    };
    let node = nodes.iter().find(|known| known.node == *node)?;
    // Other counters that are as short are those of other devices.
    let is_alike = |other: &Limited| match (limited, other) {
        (Limited::Counter(_), Limited::Counter(_)) => true,
        _ => limited == other,
    };
    let mut facts: BTreeMap<Limited, BTreeSet<&Fact>> = BTreeMap::new();
    for fact in node.reasons.iter().map(|reason| &reason.fact) {
        if let Some((other, _)) = fact
            .limit()
            .filter(|(other, of)| is_alike(other) && of == amounts)
        {
            facts.entry(other).or_default().insert(fact);
        }
    }
    let is_told = (1..=COUNTERS).contains(&facts.len()) && facts.values().all(|facts| facts.len() == 1);
    let texts = facts.values().flatten().map(|fact| words::of_reason(None, fact));
    is_told.then(|| texts.collect::<Vec<_>>().join("; "))
}

impl From<Diagnosis> for Explanation {
    fn from(known: Diagnosis) -> Self {
        let is_untold = |gap: &&Gap| match &known.answer {
            Answer::Hidden(told) => !told.contains(gap),
            _ => true,
        };
        let passes = known.passes();
        let untold: Vec<Gap> = known.gaps.iter().filter(is_untold).cloned().collect();
        let unknown =
            |gaps: &[Gap]| -> Vec<String> { all_missing(gaps).chain(known.unknown.clone()).collect() };
        let (unknown, untold_unknown) = (unknown(&known.gaps), unknown(&untold));
        let said = known.said.filter(|_| known.message.is_some());
        let shown = said.as_ref().or(known.message.as_ref());
        let is_news = |warning: &&Warning| shown != Some(&warning.message);
        let is_only = known.node_groups.len() == 1;
        let group = |group: NodeGroup| NodeGroupItem {
            is_cause: group.devices.is_empty()
                && match &known.cause {
                    Some(Cause::Alike(cause)) => is_only || group.reason.as_ref() == Some(cause),
                    Some(Cause::OnNode(_, Fact::Plain(_)) | Cause::Rejected(..)) => is_only,
                    _ => false,
                },
            // Of one node there is room to say whose counter it is, and who draws from it.
            reason: group.reason.as_ref().map(|brief| {
                let of_one = match group.nodes.as_slice() {
                    [only] => short_of(&known.nodes, only, brief),
                    _ => None,
                };
                of_one.unwrap_or_else(|| words::brief(brief)).into()
            }),
            nodes: group.nodes,
            devices: group.devices,
        };
        Self {
            passes,
            verdict: known.answer.verdict(),
            summary: words::answer(&known.answer).into(),
            tells_cause: known
                .cause
                .as_ref()
                .is_some_and(|cause| known.answer.tells(cause)),
            told: match &known.cause {
                None => known.answer.fact(),
                Some(cause) => cause.fact(),
            },
            news: known.events.iter().filter(is_news).map(words::warning).collect(),
            node_groups: known.node_groups.into_iter().map(group).collect(),
            cause: known
                .cause
                .as_ref()
                .map(|cause| words::cause_with(cause, known.deciding.as_ref()).into()),
            waiting: known.waiting,
            exactness: known.exactness,
            holds: known.holds,
            stage: known.stage,
            message: known.message,
            said,
            reasons: known.reasons,
            filters: known.filters,
            nodes: known.nodes,
            fixes: known.fixes,
            not_simulated: known.not_simulated,
            unknown,
            untold_unknown,
            events: known.events.iter().map(words::warning).collect(),
            assumed_gates: known.assumed_gates,
            assumed_release: known.assumed_release,
            notes: known.upcoming.into_iter().chain(known.notes).collect(),
            lacks_objects: known.lacks_objects,
            has_succeeded: matches!(&known.answer, Answer::Ended(phase, _) if phase == "Succeeded"),
            user: known.user.as_ref().map(Target::pod),
            target: known.target,
        }
    }
}

impl Explanation {
    /// The reasons that neither cause nor summary tells.
    pub fn untold(&self) -> impl Iterator<Item = &Reason> {
        self.reasons
            .iter()
            .filter(|reason| self.told.as_ref() != Some(&reason.fact))
    }

    /// The nodes that are rejected, those for the same reasons together: the largest groups first.
    pub fn alike(&self) -> Vec<(Vec<AlikeReason>, Vec<&Str>)> {
        let mut alike: BTreeMap<Vec<AlikeReason>, Vec<&Str>> = BTreeMap::new();
        for node in &self.nodes {
            if !node.fits && !node.reasons.is_empty() {
                alike
                    .entry(AlikeReason::of(&node.reasons))
                    .or_default()
                    .push(&node.node);
            }
        }
        let mut groups: Vec<_> = alike.into_iter().collect();
        groups.sort_by(|(_, of_a), (_, of_b)| of_b.len().cmp(&of_a.len()).then_with(|| of_a.cmp(of_b)));
        groups
    }
}

/// Reasons of a node that only differ in the device.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct AlikeReason {
    claim: Option<Key>,
    /// `request` or `request/subrequest`.
    pub request: Option<Str>,
    fact: Fact,
    /// The names of the devices.
    pub devices: Vec<Str>,
}

impl AlikeReason {
    fn of(reasons: &[Reason]) -> Vec<Self> {
        let mut alike: Vec<Self> = Vec::new();
        for reason in reasons {
            let device = reason.device.as_ref().map(|id| id.device.clone());
            let is_same = |known: &&mut Self| known.request == reason.request && known.fact == reason.fact;
            match alike.iter_mut().find(is_same) {
                Some(known) => known.devices.extend(device),
                None => alike.push(Self {
                    claim: reason.claim.clone(),
                    request: reason.request.clone(),
                    fact: reason.fact.clone(),
                    devices: device.into_iter().collect(),
                }),
            }
        }
        alike
    }

    /// Kind of the reason, a stable word.
    pub fn code(&self) -> &'static str {
        self.fact.code()
    }

    /// Message.
    pub fn message(&self) -> Sentence {
        words::of_reason(self.claim.as_ref(), &self.fact).into()
    }
}

/// Nodes that are rejected for the same reason, by the same numbers.
#[macro_rules_attribute::apply(report)]
pub struct NodeGroupItem {
    /// The nodes, by name.
    pub nodes: Vec<Str>,
    /// The numbers of the requests that have too few devices there, where that is the cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCount>,
    /// The cause in words, where numbers do not tell it.
    pub reason: Option<Sentence>,
    /// Whether the cause of the report is that of these nodes.
    #[serde(skip)]
    pub is_cause: bool,
}

/// A reason as it is serialized.
#[macro_rules_attribute::apply(report)]
pub(super) struct ReasonItem<'r> {
    /// The claim that it is about: `namespace/name`.
    claim: Option<String>,
    /// `request` or `request/subrequest`.
    request: Option<&'r Str>,
    /// `driver/pool/device`.
    device: Option<String>,
    /// Kind of the reason, a stable word.
    #[schemars(regex(pattern = "^[A-Z][A-Za-z]+$"))]
    code: &'static str,
    /// The numbers of a limit, where the reason is one.
    #[serde(flatten)]
    amounts: Option<Amounts>,
    /// Message.
    message: Sentence,
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let item = ReasonItem {
            claim: self.claim.as_ref().map(Key::to_string),
            request: self.request.as_ref(),
            device: self.device.as_ref().map(ToString::to_string),
            code: self.code(),
            amounts: self.fact.limit().map(|(_, amounts)| amounts),
            message: self.message(),
        };
        item.serialize(serializer)
    }
}

impl Reason {
    /// Kind of the reason, a stable word.
    pub fn code(&self) -> &'static str {
        self.fact.code()
    }

    /// Message.
    pub fn message(&self) -> Sentence {
        words::of_reason(self.claim.as_ref(), &self.fact).into()
    }
}
