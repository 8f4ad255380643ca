//! Why something does not get its devices, as facts. `words.rs` has their sentences.

use dra_allocator::devices::RuledOut;
use dra_allocator::{AttemptError, ConstraintName, Shortage, Together, Trouble};
use dra_cel::Seen;
use dra_model::{Event, Gate, Key, PoolId, Quantity, Str, Taint, Time};
use dra_rules::scheduling::{
    ClaimProblem, Lack, NoUse, Obstacle, Plain, Readiness, Rejection, RequestProblem,
};

use super::items::Amounts;
use crate::allocation::Gang;
use crate::stage::StageFact;

/// Why a pod or a claim does not get its devices, or a node, a pool or a device does not serve it. The reason that has it names claim,
/// request and device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
pub(crate) enum Fact {
    /// The scheduler looks at no node.
    Obstacle(Obstacle),
    /// A template that claims of this pod are created from is missing.
    NoTemplate(Key, Key),
    /// The claim controller makes no claim, for this reason.
    NotMade(NotMade),
    /// A quota blocks the creation of a claim: what is to be created, and what the quota says.
    Quota(String, String),
    /// The pod's affinity names other nodes.
    NotNamed,
    /// A plain filter rejects the node.
    Plain(Plain),
    /// Filters that are not simulated reject nodes, as kube-scheduler says: this node may be rejected by any of them.
    Rejected(Vec<Rejection>),
    /// The attempt ends with this error.
    Error(AttemptError),
    /// The node was not looked at, as the work of the command was used up.
    NotLookedAt(&'static str),
    /// The claim is allocated for this node, or for nodes that have no name in common.
    AllocatedElsewhere(Option<Str>),
    /// Devices of the claim skip node operations, and the node does not declare that feature.
    NodeOperations,
    /// Devices of the claim are not ready to be bound.
    Binding(Readiness),
    /// The claim has as many consumers as it can have.
    TooManyConsumers,
    /// This claim for extended resources is left from an earlier attempt.
    LeftBehind(Key),
    /// Neither the node nor a class has this extended resource.
    NoSuchResource(Str),
    /// The node has too little for what devices take of it, in the scheduler's words.
    NodeResources(String),
    /// This claim is another pod's, and cannot be shared, as its devices stand for a part of the node.
    NotShared(Key),
    /// Slices of the pool are missing.
    PoolIncomplete(PoolId, Option<Slices>),
    /// The pool contradicts itself.
    PoolInvalid(PoolId, String),
    /// The node reaches no devices that can be used.
    NoDevices,
    /// Too few devices could be taken.
    TooFewDevices {
        /// Number of devices that the request takes; none if it takes all that match.
        wanted: Option<i64>,
        /// Number of devices that could be allocated, each on its own.
        free: usize,
        /// The same including untested devices.
        most: usize,
        /// Number of devices of the node.
        total: usize,
    },
    /// So many more devices are ruled out.
    NotListed(usize),
    /// A check of the scheduler rules the device out.
    RuledOut(RuledOut, Evidence),
    /// The search would end with an error where it meets the device.
    Trouble(Trouble),
    /// Requests that have enough devices each cannot be served together.
    Together(Together),
    /// The PodGroup of the pod is not placed.
    Gang(Gang),
    /// The scheduler deallocates the claim and tries again; the PodGroup that it is reserved for has no pod with a node.
    Released(NoUse, Option<Key>),
    /// The claim stays reserved for the pod's own PodGroup; whether the scheduler knows claims of PodGroups.
    ReservedForGroup(Key, bool),
    /// The scheduler takes back the reservation for this PodGroup, and these keep the claim.
    UnreservedByScheduler(Key, Vec<String>),
    /// A component says otherwise.
    Contradicted(Word),
    /// kube-scheduler could not bind the pod to the node that it chose.
    NotBound(Word),
    /// Problem of a pod with a node.
    Stage(Box<StageFact>),
}

/// Why a claim is not made from a template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NotMade {
    /// The claim controller has this reason, in the words of Kubernetes where it has some.
    Rule(String),
    /// kube-controller-manager has this gate off, which the claim needs.
    GateOff(Gate),
    /// The API server refuses the claim, in its words.
    Refused(String),
    /// The claim controller has said nothing since then.
    Silent(Option<Time>),
}

/// Number of slices of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slices {
    /// Those of the newest generation.
    pub there: usize,
    /// Expected number.
    pub expected: i64,
    /// The generation.
    pub generation: i64,
}

/// Evidence of a check that rules a device out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evidence {
    /// Nothing more is known.
    None,
    /// Claims that hold the device, and what is left of it.
    Held(Vec<Key>, Option<Shortage>),
    /// An amount that is short.
    Short(Shortage),
    /// A capacity that the device does not have, and the one that may have been meant.
    NoCapacity(Str, Option<Str>),
    /// An amount of a capacity that its policy does not allow.
    Amount(Str, Quantity, Allowed),
    /// A selector, with those of its terms that are not true.
    Selector(Str, Vec<Term>),
    /// The taints.
    Taints(Vec<Taint>),
    /// An attribute that a constraint compares.
    Lacking(Lacking),
}

/// An attribute that a constraint compares and devices of a driver lack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lacking {
    /// The constraint.
    pub constraint: ConstraintName,
    /// The driver.
    pub driver: Str,
    /// Whether no device of the driver has the attribute.
    pub is_of_all: bool,
    /// The other drivers that publish it.
    pub others: Vec<Str>,
    /// An attribute of the driver that may be meant, and a value that it has in common with the one compared, unless no device has that.
    pub similar: Option<(String, Option<String>)>,
}

/// Allowed amounts of a capacity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Allowed {
    /// No more than this.
    AtMost(Quantity),
    /// From the first on, in steps of the second.
    Range(Option<Quantity>, Option<Quantity>),
    /// One of these.
    Values(Vec<Quantity>),
}

/// A term of a selector that is not true, and what it sees of the device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term {
    /// As it is written.
    pub text: String,
    /// Values that it sees.
    pub seen: Vec<Seen>,
}

/// The last word of a component about a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word {
    /// Whose it is.
    pub who: Speaker,
    /// The message.
    pub said: String,
    /// When it said it last; unknown for events without a time.
    pub at: Option<Time>,
    /// Number of times, and the first time.
    pub often: Option<Often>,
}

/// Number of times that a message was repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Often {
    /// Number of times.
    pub times: i32,
    /// The first time.
    pub since: Option<Time>,
}

impl Often {
    /// Of an event; nothing where it was seen once.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let times = event.times();
        (times > 1).then(|| Self {
            times,
            since: event.first_seen(),
        })
    }

    /// Of an event, and of others that said the same: so often, the first time at `first`.
    pub(super) fn together(event: &Event, others: Option<Self>, first: Option<Time>) -> Self {
        let times = others.map_or(1, |others| others.times);
        Self {
            times: times.saturating_add(event.times()),
            since: event.first_seen().into_iter().chain(first).min(),
        }
    }
}

/// A component that says something about a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Speaker {
    /// kube-scheduler.
    Scheduler,
    /// The scheduler of this name, which may not be kube-scheduler.
    OtherScheduler(Str),
    /// The component of this name.
    Component(Str),
    /// The kubelet of the pod's node.
    Kubelet,
    /// The controller of kube-controller-manager that makes claims.
    ClaimController,
}

impl Fact {
    /// Kind of the reason, a stable word.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Obstacle(obstacle) => match obstacle {
                Obstacle::Gated(_) => "SchedulingGates",
                Obstacle::Group(_) => "PodGroup",
                Obstacle::Claim(ClaimProblem::Name(_)) => "ClaimNotCreated",
                Obstacle::Claim(ClaimProblem::Missing { .. }) => "ClaimMissing",
                Obstacle::Claim(ClaimProblem::Deleting { .. }) => "ClaimDeleting",
                Obstacle::Claim(ClaimProblem::Owner { .. }) => "ClaimNotOwned",
                Obstacle::Request(RequestProblem::NoClass { .. }) => "ClassMissing",
                Obstacle::Request(
                    RequestProblem::NoClassName { .. } | RequestProblem::UnknownType { .. },
                ) => "UnknownRequest",
                Obstacle::Request(RequestProblem::PrioritizedListOff { .. }) => "PrioritizedListOff",
                Obstacle::Binding(_) => "ClaimBinding",
                Obstacle::AffinityConflict => "NodeAffinity",
            },
            Self::NoTemplate(..) => "TemplateMissing",
            Self::NotMade(_) => "ClaimNotMade",
            Self::Quota(..) => "QuotaExceeded",
            Self::NotNamed => "NodeAffinity",
            Self::Plain(plain) => plain.into(),
            Self::Rejected(by) => by
                .first()
                .map_or("SchedulerDisagrees", |first| first.filter.plugin()),
            Self::Binding(state) if state.is_unavailable() => "BindingFailed",
            Self::Binding(_) => "BindingPending",
            Self::LeftBehind(_) => "ExtendedResourceClaim",
            Self::NotShared(_) => "NodeResources",
            Self::RuledOut(why, _) => why.into(),
            Self::Trouble(trouble) => trouble.code(),
            Self::Together(Together::Constraints(..)) => "Constraint",
            Self::Together(Together::Counters(..)) => "CounterExhausted",
            Self::Together(_) => "NotTogether",
            Self::Gang(_) => "PodGroup",
            Self::Released(..) => "ReleasedByScheduler",
            Self::Contradicted(word) => match word.who {
                Speaker::Scheduler | Speaker::OtherScheduler(_) => "SchedulerDisagrees",
                Speaker::Kubelet => "KubeletDisagrees",
                Speaker::ClaimController | Speaker::Component(_) => "ClaimControllerDisagrees",
            },
            Self::Stage(fact) => fact.code(),
            _ => self.into(),
        }
    }

    /// What is limited, and the numbers of the limit, where the reason is one.
    pub(crate) fn limit(&self) -> Option<(Limited, Amounts)> {
        match self {
            Self::TooFewDevices {
                wanted: Some(wanted),
                free,
                most,
                total,
            } if most == free => Some((Limited::Devices, Amounts::of_devices(*wanted, *free, *total))),
            Self::RuledOut(_, Evidence::Short(shortage) | Evidence::Held(_, Some(shortage)))
            | Self::Together(Together::Counters(_, shortage, _)) => {
                let limited = match &shortage.set {
                    Some(_) => Limited::Counter(shortage.name.clone()),
                    None => Limited::Capacity(shortage.name.clone()),
                };
                let amounts = Amounts {
                    wanted: shortage.wanted.clone(),
                    left: shortage.left.clone(),
                    total: shortage.total.clone(),
                };
                Some((limited, amounts))
            }
            _ => None,
        }
    }

    /// Returns whether the fact is about the node or about requests together rather than about a single request or device.
    pub(super) fn is_of_pool(&self) -> bool {
        matches!(self, Self::PoolIncomplete(..) | Self::PoolInvalid(..))
    }
}

/// A limited resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Limited {
    /// Devices.
    Devices,
    /// A counter that devices of a pool share.
    Counter(Str),
    /// A capacity of devices.
    Capacity(Str),
}

/// A fact with as much as is the same for nodes and devices that are alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Brief {
    /// An amount that is short: of what, and the numbers.
    Amounts(Limited, Amounts),
    /// A claim that is allocated for another node.
    Elsewhere(Key, Option<Str>),
    /// A pool of so many slices, which has to have so many.
    Slices(usize, i64),
    /// What nodes have too little of besides devices, and whether some have less left than that.
    Lacks(Vec<Lack>, bool),
    /// Values that the terms of a selector see.
    Seen(Vec<Seen>),
    /// Requests that cannot be served together.
    Requests(Vec<(Key, Str)>),
    /// The fact as it is.
    Fact(Fact),
}

impl Brief {
    /// Kind of the reason, a stable word.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Amounts(Limited::Devices, _) => "TooFewDevices",
            Self::Amounts(Limited::Counter(_), _) => "CounterExhausted",
            Self::Amounts(Limited::Capacity(_), _) => "CapacityExhausted",
            Self::Elsewhere(..) => "AllocatedElsewhere",
            Self::Slices(..) => "PoolIncomplete",
            Self::Lacks(..) => "NodeResourcesFit",
            Self::Seen(_) => "RequestSelector",
            Self::Requests(_) => "NotTogether",
            Self::Fact(fact) => fact.code(),
        }
    }
}
