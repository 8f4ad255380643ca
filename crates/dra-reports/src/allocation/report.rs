//! The report of a simulated allocation.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use strum::{Display, IntoStaticStr};

use super::assumed::AssumedRelease;
use super::exactness::{Exactness, is_open};
use super::packing::Packing;
use super::{Judged, words};
use dra_allocator::{Certainty, Choice};
use dra_model::{Allocation, Key, PoolId, Str};
use dra_rules::scheduling::{AssumedGate, Granted, Judgment, Verdict};

/// The report.
#[macro_rules_attribute::apply(report)]
#[derive(Default)]
pub struct AllocationReport {
    /// The simulated objects.
    pub targets: Vec<Target>,
    /// The answer for all of it.
    pub result: Fit,
    /// Exactness of the answer.
    pub exactness: Exactness,
    /// Message of the scheduler if it does not fit.
    pub message: Option<String>,
    /// The nodes, by name, where one pod or claims were judged.
    pub nodes: Vec<NodeResult>,
    /// The pods, in their order, where several were judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placements: Vec<Placement>,
    /// Number of further copies, with `--max`.
    pub packing: Option<Packing>,
    /// Changes that were assumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// Plugins of the scheduler that could still refuse, because of what the pod uses.
    pub not_simulated: Vec<String>,
    /// Information that is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Gates with an unknown setting, where the other value would change the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed_gates: Vec<AssumedGate>,
    /// The release, where only objects show it and the newest one would change the answer.
    pub assumed_release: Option<AssumedRelease>,
    /// Notes about the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

const POD: &str = "Pod";

/// A pod, a claim, or what makes pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// `Pod`, `ResourceClaim`, or the kind of what makes pods.
    pub kind: Str,
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
}

impl Target {
    /// A claim.
    pub fn claim(key: &Key) -> Self {
        Self::owner("ResourceClaim", key)
    }

    /// A pod.
    pub fn pod(key: &Key) -> Self {
        Self::owner(POD, key)
    }

    /// Returns whether it is a pod.
    pub fn is_pod(&self) -> bool {
        self.kind == POD
    }

    /// Returns whether it is a claim.
    pub fn is_claim(&self) -> bool {
        self.kind == "ResourceClaim"
    }

    /// An owner of pods.
    pub fn owner(kind: &str, key: &Key) -> Self {
        let Key { namespace, name } = key.clone();
        Self {
            kind: kind.into(),
            namespace,
            name,
        }
    }
}

/// Whether something fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, IntoStaticStr, Display)]
pub enum Fit {
    /// On at least one node.
    #[default]
    Fits,
    /// On none.
    DoesNotFit,
    /// The scheduler's attempt ends with an error.
    Error,
    /// It does if the scheduler looks at the wrong node before it has found enough others.
    MayError,
    /// Undecided within the limits.
    GaveUp,
    /// Unknown, because data is missing.
    Unknown,
}

impl Fit {
    /// What it says of the judged pod or claim; nothing where it does not say.
    pub(super) fn words(self) -> Option<&'static str> {
        match self {
            Self::Fits => Some("it fits"),
            Self::DoesNotFit => Some("it does not fit"),
            Self::Error => Some("kube-scheduler fails"),
            Self::MayError => Some("kube-scheduler may fail"),
            Self::GaveUp | Self::Unknown => None,
        }
    }
}

/// The answer for one node.
#[macro_rules_attribute::apply(report)]
#[derive(Default)]
pub struct NodeResult {
    /// The node.
    pub node: Str,
    /// The answer.
    pub result: Fit,
    /// The plugin of the scheduler that rejects the node.
    pub plugin: Option<&'static str>,
    /// Why, in the scheduler's words.
    pub message: Option<String>,
    /// kube-scheduler's own search takes longer than it gives itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub times_out: bool,
    /// Binding conditions of devices that would be granted, which have to become true before the pod is bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<Str>,
    /// Score of the plugin for dynamic resources, to which other plugins add. Absent if claims have no alternatives.
    pub score: Option<NodeScore>,
    /// Requests that can get their devices from several places: only the scheduler's order determines which.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<OpenRequest>,
    /// The error that ends the attempt in some orders of pools.
    pub possible_error: Option<String>,
    /// Allocations of the claims.
    pub claims: Vec<ClaimAllocation>,
}

/// The part of the plugin for dynamic resources in a node's score, which other plugins add to.
#[macro_rules_attribute::apply(report)]
#[derive(Copy, PartialEq, Eq)]
pub struct NodeScore {
    /// Eight for each request that gets its first alternative, seven for the second, and so on.
    pub points: u64,
    /// The same where the best node has a hundred; absent where not all nodes that are compared are known.
    pub normalized: Option<u64>,
}

/// A request that can get its devices from several places: only the scheduler's order determines which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenRequest {
    /// Namespace of the claim.
    pub namespace: Str,
    /// The claim.
    pub claim: Str,
    /// `request` or `request/subrequest`.
    pub request: Str,
    /// Pools that have devices for it, as `driver/pool`.
    pub pools: Vec<String>,
    /// Their slices that have.
    pub slices: Vec<Str>,
}

impl From<&Choice> for OpenRequest {
    fn from(choice: &Choice) -> Self {
        let Key { namespace, name } = choice.claim.clone();
        Self {
            namespace,
            claim: name,
            request: choice.request.clone(),
            pools: choice.pools.iter().map(PoolId::to_string).collect(),
            slices: choice.slices.clone(),
        }
    }
}

/// Allocation of a claim.
#[macro_rules_attribute::apply(report)]
pub struct ClaimAllocation {
    /// Its namespace.
    pub namespace: Str,
    /// Its name. `<extended-resources>` for the claim that the scheduler makes itself.
    pub name: Str,
    /// Its `status.allocation`, without `allocationTimestamp`.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub allocation: Value,
    /// Whether it was allocated before. Absent where it was not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
    /// Share IDs in the allocation that the simulation made up: the scheduler takes random ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "simulatedShareIDs")]
    pub simulated_share_ids: Vec<Str>,
    /// For tables.
    #[serde(skip)]
    pub devices: Vec<String>,
}

impl From<&Granted> for ClaimAllocation {
    fn from(granted: &Granted) -> Self {
        let Key { namespace, name } = granted.claim.clone();
        let Allocation { devices, .. } = &granted.allocation;
        let made_up = devices
            .results
            .iter()
            .filter_map(|result| result.share_id.clone());
        Self {
            namespace,
            name,
            allocation: granted.allocation.to_json(),
            existing: granted.existing,
            simulated_share_ids: if granted.existing {
                Vec::new()
            } else {
                made_up.collect()
            },
            devices: devices
                .results
                .iter()
                .map(|result| result.id().to_string())
                .collect(),
        }
    }
}

impl NodeResult {
    /// A node without anything.
    pub(super) fn open(node: &Str) -> Self {
        Self {
            node: node.clone(),
            result: Fit::DoesNotFit,
            plugin: Some("DynamicResources"),
            ..Self::default()
        }
    }

    /// What the verdict for a node looks like.
    pub fn new(node: &Str, verdict: &Verdict) -> Self {
        let mut result = Self::open(node);
        match verdict {
            Verdict::Fits(granted) => {
                result.result = Fit::Fits;
                result.plugin = None;
                result.claims = granted.iter().map(Into::into).collect();
                let new = granted.iter().filter(|granted| !granted.existing);
                let results = new.flat_map(|granted| &granted.allocation.devices.results);
                let conditions: BTreeSet<&Str> =
                    results.flat_map(|result| &result.binding_conditions).collect();
                result.waits_for = conditions.into_iter().cloned().collect();
            }
            Verdict::NotNamed => {
                result.plugin = Some("NodeAffinity");
                result.message = Some("node(s) didn't satisfy plugin(s) [NodeAffinity]".to_owned());
            }
            Verdict::Plain(plain) => {
                result.plugin = Some(plain.into());
                result.message = Some(plain.reasons().join(", "));
            }
            Verdict::Refused(refusal) => result.message = Some(refusal.reasons().join(", ")),
            Verdict::Error(error) => {
                result.result = Fit::Error;
                result.message = Some(error.to_string());
            }
            Verdict::GaveUp => {
                result.result = Fit::GaveUp;
                result.message = Some(words::UNDECIDED.to_owned());
            }
        }
        result
    }

    /// The same with how sure it is.
    pub(super) fn of_judgment(node: &Str, judgment: &Judgment) -> Self {
        let mut result = Self::new(node, &judgment.verdict);
        match &judgment.certainty {
            Certainty::OneOf(choices) => result.choices = choices.iter().map(Into::into).collect(),
            Certainty::MayError(error) => {
                result.result = Fit::MayError;
                result.possible_error = Some(error.clone());
                result.message = Some(error.clone());
            }
            Certainty::MayDiffer(why) if is_open(judgment) => {
                result.result = Fit::Unknown;
                result.message = Some(why.clone());
            }
            Certainty::Sure | Certainty::MayDiffer(_) => {}
        }
        result
    }
}

/// Placement of one of several pods.
#[macro_rules_attribute::apply(report)]
pub struct Placement {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Whether it fits on what the pods before it leave.
    pub result: Fit,
    /// The node that it is assumed to get.
    pub node: Option<Str>,
    /// Whether the scheduler could choose another one.
    pub other_nodes: bool,
    /// Why it does not fit, in the scheduler's words.
    pub message: Option<String>,
    /// Allocations of its claims.
    pub claims: Vec<ClaimAllocation>,
}

impl Placement {
    pub(super) fn new(pod: &Key, judged: Judged) -> Self {
        let Key { namespace, name } = pod.clone();
        let (node, claims, only) = match judged.first {
            Some((node, granted, only)) if judged.fit == Fit::Fits => {
                (Some(node), granted.iter().map(Into::into).collect(), only)
            }
            _ => (None, Vec::new(), true),
        };
        Self {
            namespace,
            name,
            result: judged.fit,
            node,
            other_nodes: !only,
            message: judged.message,
            claims,
        }
    }
}

impl AllocationReport {
    pub(super) fn of_one(targets: Vec<Target>, judged: Judged) -> Self {
        Self {
            result: judged.fit,
            exactness: judged.trust.exactness,
            message: judged.message,
            nodes: judged.nodes,
            not_simulated: judged.not_simulated,
            unknown: judged.unknown,
            notes: judged.notes,
            ..Self::of_sequence(targets)
        }
    }

    /// The report of what could not be judged, because of what `why` says.
    pub fn unjudged(targets: Vec<Target>, why: &str) -> Self {
        Self {
            result: Fit::Unknown,
            exactness: Exactness::FitOnly,
            unknown: vec![why.to_owned()],
            ..Self::of_sequence(targets)
        }
    }

    pub(super) fn of_sequence(targets: Vec<Target>) -> Self {
        Self {
            targets,
            ..Self::default()
        }
    }

    /// Takes over what the judging of one of several pods says of the whole.
    pub(super) fn note(&mut self, judged: &Judged) {
        let badness = |fit: Fit| match fit {
            Fit::Fits => 0,
            Fit::MayError => 1,
            Fit::GaveUp => 2,
            Fit::Unknown => 3,
            Fit::Error => 4,
            Fit::DoesNotFit => 5,
        };
        if badness(judged.fit) > badness(self.result) {
            self.result = judged.fit;
        }
        self.exactness = self.exactness.max(judged.trust.exactness);
        let add = |known: &mut Vec<String>, more: &[String]| {
            for one in more {
                if !known.contains(one) {
                    known.push(one.clone());
                }
            }
        };
        add(&mut self.not_simulated, &judged.not_simulated);
        add(&mut self.unknown, &judged.unknown);
        add(&mut self.notes, &judged.notes);
    }
}
