//! The answers of a scheduling cycle: why no node is looked at, what a node's verdict is, and the scheduler's words for both.

use super::claims::{ClaimProblem, RequestProblem};
use super::plain::Plain;
use dra_allocator::{AttemptError, Certainty, INVALID_POOLS};
use dra_model::{Allocation, Key, Str};

/// The reason why the scheduler looks at no node at all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// Gates of the pod are to be removed first.
    Gated(Vec<Str>),
    /// The PodGroup, or enough of its members, is not there.
    Group(String),
    /// A claim cannot be used yet.
    Claim(ClaimProblem),
    /// A request cannot be served, whatever the node.
    Request(RequestProblem),
    /// The consumer to reserve a claim for is unknown.
    Binding(String),
    /// The terms of the pod's affinity contradict each other.
    AffinityConflict,
}

/// Stage at which an obstacle appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The pod does not enter the queue: it has neither condition nor event.
    PreEnqueue,
    /// The pod is unschedulable on all nodes alike.
    PreFilter,
    /// The attempt ends with an error and is repeated.
    Error,
}

impl Obstacle {
    /// Returns where it shows.
    pub fn stage(&self) -> Stage {
        match self {
            Self::Gated(_) | Self::Group(_) | Self::Claim(_) => Stage::PreEnqueue,
            Self::Request(problem) if !problem.is_error() => Stage::PreFilter,
            Self::Binding(_) | Self::AffinityConflict => Stage::PreFilter,
            Self::Request(_) => Stage::Error,
        }
    }

    /// The scheduler's words.
    pub fn text(&self) -> String {
        match self {
            Self::Gated(names) => {
                let names: Vec<&str> = names.iter().map(Str::as_str).collect();
                format!("waiting for scheduling gates: [{}]", names.join(" "))
            }
            Self::Group(text) | Self::Binding(text) => text.clone(),
            Self::Claim(problem) => problem.to_string(),
            Self::Request(problem) => problem.to_string(),
            Self::AffinityConflict => "pod affinity terms conflict".to_owned(),
        }
    }
}

/// Devices of a claim on a node.
#[derive(Clone, Debug)]
pub struct Granted {
    /// The claim; [`super::IN_MEMORY_CLAIM`] for the extended resources of a pod.
    pub claim: Key,
    /// Its `status.allocation`.
    pub allocation: Allocation,
    /// True if the claim was allocated before.
    pub existing: bool,
}

/// The reason why the plugin for dynamic resources rejects a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Claims that are allocated and of no use on the node.
    NotAvailable(Vec<Unavailable>),
    /// The allocator found nothing.
    CannotAllocate {
        /// A pool of the node contradicts itself.
        invalid_pools: bool,
    },
    /// A claim for extended resources is left from an earlier attempt. The scheduler deletes it and tries again.
    LeftBehind,
    /// Neither the node nor a class has this extended resource.
    NoSuchResource(Str),
    /// The node has too little for what the devices take of it. In the scheduler's words.
    NodeResources(Vec<String>),
    /// The claim is another pod's, and cannot be shared, as its devices stand for a part of the node.
    NotShared(Key),
}

/// A claim that is allocated, but of no use on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// Its place among the claims of the pod.
    pub place: usize,
    /// The reason.
    pub why: NoUse,
}

/// The reason why a claim that is allocated is of no use on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoUse {
    /// Its allocation is for other nodes.
    OtherNodes,
    /// Its devices are not ready and will not be.
    NotReady,
    /// Its devices skip node operations, and the node does not declare that feature.
    NodeOperations,
}

impl Refusal {
    /// The scheduler's words, one for each reason it counts.
    pub fn reasons(&self) -> Vec<String> {
        let text = match self {
            Self::NodeResources(reasons) => return reasons.clone(),
            Self::NotShared(claim) => {
                return vec![format!(
                    "node allocatable resource claim {} has a mapped device and cannot be shared across pods",
                    claim.name
                )];
            }
            Self::NotAvailable(_) => "resourceclaim not available on the node",
            Self::CannotAllocate { invalid_pools: false } => "cannot allocate all claims",
            Self::CannotAllocate { invalid_pools: true } => INVALID_POOLS,
            Self::LeftBehind => "cannot schedule extended resource claim",
            Self::NoSuchResource(_) => "cannot fit resource",
        };
        vec![text.to_owned()]
    }
}

/// The answer for one node.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The pod can run there.
    Fits(Vec<Granted>),
    /// The pod's affinity names other nodes, so the scheduler does not look at this one.
    NotNamed,
    /// A plain filter rejects the node.
    Plain(Plain),
    /// The plugin for dynamic resources does.
    Refused(Refusal),
    /// The attempt ends here, for all nodes.
    Error(AttemptError),
    /// Not decided within the limits.
    GaveUp,
}

impl Verdict {
    /// Returns whether the pod can run there.
    pub fn fits(&self) -> bool {
        matches!(self, Self::Fits(_))
    }
}

/// The verdict for a node and the work it took.
#[derive(Clone, Debug)]
pub struct Judgment {
    /// The answer.
    pub verdict: Verdict,
    /// Certainty where pools are in random order.
    pub certainty: Certainty,
    /// With how many points the plugin for dynamic resources ranks the node, where it fits and the claims have alternatives.
    pub points: Option<u64>,
    /// Steps of the allocator's search.
    pub steps: u64,
    /// Steps that it counts for.
    pub work: u64,
}

impl From<Verdict> for Judgment {
    fn from(verdict: Verdict) -> Self {
        Self {
            verdict,
            certainty: Certainty::Sure,
            points: None,
            steps: 0,
            work: 0,
        }
    }
}
