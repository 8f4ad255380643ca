//! What is known of a pod or of claims that are explained: typed, without a sentence. `words.rs` makes the report of it.

use std::collections::BTreeSet;

use dra_allocator::AttemptError;
use dra_allocator::devices::RuledOut;
use dra_cel::AttributeWanted;
use dra_model::{
    Claim, Cluster, Component, Condition, ContainerEnd, DeviceId, DeviceRequest, Event, Gap, Key, Kind,
    NodeSelector, Pod, PoolId, Str, Taint, Time,
};
use dra_rules::kubelet::{BrokenLink, Doing};
use dra_rules::owners::{OwnerName, Queued, ShutQueue};
use dra_rules::reservation::Lacks;
use dra_rules::scheduling::{
    AssumedGate, Kept, KnownBug, Near, Obstacle, Panic, Plain, Rejection, Spared, Stage,
};

use super::absence::Absence;
use super::events;
use super::fact::{Brief, Fact, Often, Word};
use super::items::{ClusterVerdict, DeviceCount, FilterCount, FixItem, Holding, WaitingItem};
use crate::allocation::{AssumedRelease, Exactness, Gang, GangLacks, Target};
use crate::stage::{StageFact, StageItem};

/// Facts about a pod or claims.
#[derive(Default)]
pub struct Diagnosis {
    /// The explained object.
    pub target: Target,
    /// The pod that the answer is about, if the explained object is a claim that waits for it.
    pub(super) user: Option<Key>,
    /// The answer.
    pub(super) answer: Answer,
    /// Why it does not fit.
    pub(super) cause: Option<Cause>,
    /// The nodes that are rejected, in groups.
    pub(super) node_groups: Vec<NodeGroup>,
    /// Whether waiting helps.
    pub(super) waiting: Option<WaitingItem>,
    /// Exactness of the answer.
    pub(super) exactness: Option<Exactness>,
    /// Devices and consumers of the claim.
    pub(super) holds: Option<Holding>,
    /// Progress of the pod on its node.
    pub(super) stage: Option<StageItem>,
    /// Message of the scheduler, as the rules have it.
    pub(super) message: Option<String>,
    /// What the scheduler of the pod said last.
    pub(super) said: Option<String>,
    /// Reasons that hold for all nodes.
    pub(super) reasons: Vec<Reason>,
    /// Nodes by the first filter that rejects them.
    pub(super) filters: Vec<FilterCount>,
    /// The nodes, by name.
    pub(super) nodes: Vec<NodeDiagnosis>,
    /// Fixes.
    pub(crate) fixes: Vec<FixItem>,
    /// Pods that fixes end.
    pub(super) ended: BTreeSet<Key>,
    /// Pods such that the end of any one of them is enough.
    pub(super) enough: BTreeSet<Key>,
    /// Pods that wait for the same devices and come first, where they leave it too few.
    pub(super) ahead: Vec<Key>,
    /// Plugins of the scheduler that could still refuse.
    pub(super) not_simulated: Vec<String>,
    /// Kinds that matter and could not be read.
    pub(super) gaps: Vec<Gap>,
    /// Other missing information.
    pub(super) unknown: Vec<String>,
    /// Warnings of the cluster about the object.
    pub(super) events: Vec<Warning>,
    /// Gates that decide and that nothing tells.
    pub(super) assumed_gates: Vec<AssumedGate>,
    /// The release, where it decides and only objects tell it.
    pub(super) assumed_release: Option<AssumedRelease>,
    /// What the claim controller does next, unless it says itself that it cannot.
    pub(crate) upcoming: Option<String>,
    /// Notes about the answer.
    pub(super) notes: Vec<String>,
    /// Whether a known bug is among the notes.
    pub(super) has_known_bug: bool,
    /// Those of kube-scheduler.
    pub(super) bugs: Vec<KnownBug>,
    /// The one that decides: it would fit if that were fixed.
    pub(super) deciding: Option<KnownBug>,
    /// The bug that stops the scheduler when it looks at the pod.
    pub(super) panic: Option<Panic>,
    /// Whether something could not be read.
    pub(super) lacks_objects: bool,
}

/// Nodes that the cause names besides its own.
const NAMED: usize = 3;

/// A warning of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Warning {
    pub(super) reason: Str,
    pub(super) message: String,
    /// Source of the warning.
    pub(super) component: Str,
    /// Number of times, and the first time.
    pub(super) often: Option<Often>,
    /// The last time.
    pub(super) last: Option<Time>,
}

impl Warning {
    /// The warning that an event is.
    pub(super) fn of(event: &Event) -> Self {
        Self {
            reason: event.reason.clone(),
            message: event.message.to_string(),
            component: event.component().clone(),
            often: Often::of(event),
            last: event.last_seen(),
        }
    }
}

/// A reason: a fact, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, schemars::JsonSchema)]
#[schemars(with = "super::report::ReasonItem<'_>")]
pub struct Reason {
    pub(super) claim: Option<Key>,
    /// `request` or `request/subrequest`.
    pub(super) request: Option<Str>,
    pub(super) device: Option<DeviceId>,
    pub(super) fact: Fact,
}

impl From<Fact> for Reason {
    fn from(fact: Fact) -> Self {
        Self {
            claim: None,
            request: None,
            device: None,
            fact,
        }
    }
}

impl Reason {
    /// A fact about a claim.
    pub(super) fn of_claim(claim: Key, fact: Fact) -> Self {
        Self {
            claim: Some(claim),
            ..fact.into()
        }
    }
}

/// The answer for one node.
#[macro_rules_attribute::apply(report)]
pub struct NodeDiagnosis {
    /// The node.
    pub node: Str,
    /// Whether it can take it.
    pub fits: bool,
    /// The first plugin of the scheduler that rejects the node.
    pub plugin: Option<&'static str>,
    /// Message of the plugin.
    pub message: Option<String>,
    /// Why, down to each device.
    pub reasons: Vec<Reason>,
    /// Numbers of devices for each request, if the plugin for devices rejects the node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCount>,
}

/// Nodes that are rejected for the same reason, by the same numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeGroup {
    pub(super) nodes: Vec<Str>,
    /// The numbers of the requests that have too few devices there.
    pub(super) devices: Vec<DeviceCount>,
    /// The cause where numbers do not tell it.
    pub(super) reason: Option<Brief>,
}

/// The verdict about the pod or the claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing is known yet.
    #[default]
    Unjudged,
    /// Unknown which node fits, because kinds could not be read.
    Hidden(Vec<Gap>),
    /// Objects could not be read, or it depends on an order that only the scheduler knows, or on what is not simulated; the sentence says
    /// on what.
    Open(String),
    /// Whether it fits on this node depends on such an order.
    OpenNode(Str),
    /// The scheduler looks at no node.
    Obstacle(Obstacle),
    /// An error on one node ends the attempt.
    Error,
    /// By the rules this would be the answer, but the scheduler ends when it looks at the pod, by a known bug.
    Panics(Box<Answer>, Panic),
    /// It fits on so many of so many nodes.
    Fits(usize, usize),
    /// The same, and it would be evicted as soon as it runs.
    Evicted(usize, usize),
    /// It would, but this claim has as many consumers as it can have.
    Full(usize, usize, Key),
    /// Not decided, as this is used up; nothing for the budget of the search.
    GaveUp(Option<&'static str>),
    /// None of so many nodes can take it.
    Nowhere(usize),
    /// Its PodGroup is not placed.
    Gang(Gang),
    /// A quota keeps this claim from being created; with it, this would be the answer.
    KeptByQuota(String, Box<Answer>),
    /// The claim is allocated.
    Allocated(Holding),
    /// The claim gets no devices, as no pod needs it; or, with true, keeps those that it has.
    NotNeeded(NoNeed, bool),
    /// The pod has ended, in this phase, and the container that failed with how it ended.
    Ended(Str, Option<(Str, ContainerEnd)>),
    /// The pod was deleted before it had a node, and goes once these finalizers are removed.
    Deleted(Vec<Str>),
    /// The pod is being deleted, nothing of it runs, and it is not gone.
    NotGone(Fact),
    /// The pod has failed as a whole, for this reason.
    Failed(Fact),
    /// The pod has its node.
    Bound(Bound),
    /// Its node is chosen, and devices are to be attached first.
    Attaching(Box<StageFact>),
    /// A component contradicts this answer.
    Contradicted(Box<Answer>, Word),
    /// By the rules this would be the answer, but the scheduler of this name has said nothing of the pod since it was created then.
    Silent(Box<Answer>, Str, Option<Time>),
    /// It fits, and the scheduler of this name takes nothing from the queue of its PodGroup.
    Queued(ShutQueue, Str),
    /// It fits, and kube-scheduler chose a node and was not let bind the pod, in its words.
    NotBound(Box<Answer>, Word),
    /// An owner has no pods, for this reason.
    NoPods(OwnerName, NoPods),
    /// An owner has so many of so many pods, and was refused another one.
    FewerPods(OwnerName, usize, i64, Word),
}

/// Why what makes pods has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoPods {
    /// Kueue holds it back.
    Queued(Queued),
    /// Another controller than that of Kubernetes runs it, as in another cluster.
    Managed(Str),
    /// It is suspended: by its user, or until Kueue admits it from this queue.
    Suspended(Option<Str>),
    /// What it says is wrong.
    Says(Condition),
    /// The last time that it was to make one it was refused.
    Refused(Word),
    /// So many of its pods have failed, and it makes another one after some time, up to a limit of failures.
    Failed {
        /// Number of failed pods.
        failed: i64,
        /// The limit.
        limit: i64,
        /// The last of them.
        last: Key,
        /// The container of it that failed, with how it ended.
        end: Option<(Str, ContainerEnd)>,
        /// That the kubelet did not let it start.
        rejected: Option<Box<StageFact>>,
    },
    /// It has ended, as this condition says, which has a reason and a message, and its deadline, if that is why.
    Ended(Condition, Option<Overdue>),
    /// It is to have none, by this field of its spec.
    Zero(&'static str),
    /// Unknown controllers create its rollouts and the like; and the last warning about it.
    Unknown(Option<Word>),
}

/// The deadline of a Job that was over before it had succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overdue {
    /// Seconds from the start of the Job.
    pub(super) seconds: i64,
    /// What was said last of a pod of it, if its pods are known to have had no node.
    pub(super) unplaced: Option<(Key, Word)>,
}

/// Why no pod needs a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoNeed {
    /// This pod, which it was created for, is gone.
    Gone(Key),
    /// It was created for an earlier pod with this name.
    Earlier(Key),
    /// This pod, which it was created for, has finished, or was deleted before it got a node.
    Done(Key),
    /// It is being deleted, and no pod uses it.
    Deleted,
}

/// State of a pod with a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(super) node: Str,
    /// The devices that it has.
    pub(super) devices: Vec<String>,
    pub(super) how: OnNode,
}

/// Progress of a pod on its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OnNode {
    /// It starts, as far as devices go, and what it does.
    Starts(Option<Doing>),
    /// It runs, and whether its startup probe has yet to succeed.
    Runs(bool),
    /// It is being ended.
    Ends(Ending),
    /// It does not start yet, for this reason, which passes as things are.
    Waits(Fact),
    /// It does not start, for this reason, and what is behind that.
    Stuck(Fact, Option<Root>),
    /// It runs and is in danger.
    Endangered(Fact),
    /// It does not end.
    NotEnding(Fact),
    /// Whether it has its devices depends on a kind that could not be read.
    Hidden(Kind),
    /// Unknown progress, for these reasons.
    Unknown(Vec<String>),
}

/// What makes a container of a pod end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A device of the pod is reported unhealthy.
    Unhealthy(Box<Fact>),
    /// The container finds its device in use, and these pods may have it from a device plugin.
    Plugin(Vec<Key>),
}

/// The end of a pod on its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// When it is to be over, if the pod is being deleted.
    pub(super) due: Option<Time>,
    /// Who evicts it and why.
    pub(super) eviction: Option<Condition>,
    /// What it waits for.
    pub(super) waits: Option<String>,
}

impl Answer {
    /// True if the pod runs, as far as Kubernetes itself says.
    pub(super) fn runs(&self) -> bool {
        matches!(self, Self::Bound(bound) if matches!(bound.how, OnNode::Runs(_)))
    }

    /// The verdict that it is.
    pub(super) fn verdict(&self) -> ClusterVerdict {
        match self {
            Self::Contradicted(was, _) if was.runs() => ClusterVerdict::Broken,
            Self::Unjudged | Self::Hidden(_) | Self::Open(_) | Self::OpenNode(_) | Self::Contradicted(..) => {
                ClusterVerdict::Unknown
            }
            Self::Obstacle(obstacle) => match obstacle.stage() {
                Stage::PreEnqueue => ClusterVerdict::Waits,
                Stage::PreFilter => ClusterVerdict::DoesNotFit,
                Stage::Error => ClusterVerdict::Error,
            },
            Self::Panics(_, panic) if !panic.is_known => ClusterVerdict::Unknown,
            Self::Error | Self::Full(..) | Self::Panics(..) => ClusterVerdict::Error,
            Self::Fits(..) => ClusterVerdict::Fits,
            Self::GaveUp(_) => ClusterVerdict::GaveUp,
            Self::Nowhere(_) => ClusterVerdict::DoesNotFit,
            Self::Gang(gang) => match gang.lacks {
                GangLacks::Error(_) => ClusterVerdict::Error,
                GangLacks::Fits(..) | GangLacks::Pods(_) => ClusterVerdict::DoesNotFit,
            },
            Self::KeptByQuota(..)
            | Self::Silent(..)
            | Self::Queued(..)
            | Self::NotBound(..)
            | Self::Evicted(..)
            | Self::Attaching(_)
            | Self::FewerPods(..) => ClusterVerdict::Waits,
            Self::NoPods(_, why) => match why {
                NoPods::Queued(_)
                | NoPods::Suspended(Some(_))
                | NoPods::Says(_)
                | NoPods::Refused(_)
                | NoPods::Failed { .. } => ClusterVerdict::Waits,
                NoPods::Ended(..) | NoPods::Zero(_) | NoPods::Suspended(None) | NoPods::Managed(_) => {
                    ClusterVerdict::Ended
                }
                NoPods::Unknown(_) => ClusterVerdict::Unknown,
            },
            Self::Allocated(_) => ClusterVerdict::Allocated,
            Self::Ended(..) | Self::Deleted(_) | Self::NotNeeded(..) => ClusterVerdict::Ended,
            Self::NotGone(_) | Self::Failed(_) => ClusterVerdict::Broken,
            Self::Bound(bound) => match bound.how {
                OnNode::Starts(_) | OnNode::Runs(_) | OnNode::Ends(_) => ClusterVerdict::Bound,
                OnNode::Waits(_) => ClusterVerdict::Waits,
                OnNode::Stuck(..) | OnNode::Endangered(_) | OnNode::NotEnding(_) => ClusterVerdict::Broken,
                OnNode::Hidden(_) | OnNode::Unknown(_) => ClusterVerdict::Unknown,
            },
        }
    }

    /// The fact that its sentence tells.
    pub(super) fn fact(&self) -> Option<Fact> {
        match self {
            Self::Obstacle(obstacle) => Some(Fact::Obstacle(obstacle.clone())),
            Self::Gang(gang) => Some(Fact::Gang(gang.clone())),
            Self::NotGone(fact) | Self::Failed(fact) => Some(fact.clone()),
            Self::Bound(bound) => match &bound.how {
                OnNode::Stuck(_, Some(Root::Unhealthy(fact))) => Some(Fact::clone(fact)),
                OnNode::Waits(fact)
                | OnNode::Stuck(fact, _)
                | OnNode::Endangered(fact)
                | OnNode::NotEnding(fact) => Some(fact.clone()),
                _ => None,
            },
            Self::Attaching(fact) => Some(Fact::Stage(fact.clone())),
            Self::NotBound(_, word) => Some(Fact::NotBound(word.clone())),
            Self::Contradicted(_, word) => Some(Fact::Contradicted(word.clone())),
            _ => None,
        }
    }

    /// Returns whether its sentence tells the cause.
    pub(super) fn tells(&self, cause: &Cause) -> bool {
        match (self, cause) {
            (Self::Full(..), Cause::TooManyConsumers(_)) => true,
            (Self::Nowhere(_), Cause::Nowhere(_, groups)) => groups.is_empty(),
            (Self::Gang(gang), Cause::Gang(other, None)) => gang == other,
            _ => false,
        }
    }
}

/// Why something does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// None of so many nodes takes it, for different reasons.
    Nowhere(usize, Vec<NodeGroup>),
    /// The error that ends the attempt.
    Error(AttemptError),
    /// A claim has as many consumers as it can have.
    TooManyConsumers(Key),
    /// A claim is allocated for a node on which this keeps the pod from running.
    Allocated(Key, Str, Place),
    /// A claim is allocated for nodes with labels that no node has.
    AllocatedNowhere(Key, NodeSelector),
    /// Claims are allocated for these nodes, which are not all the same.
    Apart(Vec<(Key, Str, Holding)>),
    /// The same on all nodes, or before any is looked at.
    Alike(Brief),
    /// What keeps requests from being served together on a node.
    OnNode(Str, Fact),
    /// No device is left for the request at this step, so that no node has any.
    Absent(Absence),
    /// No node that is left has a device for the request, as its driver publishes nothing there.
    Unserved(Unserved),
    /// The cause, and what else is known of it.
    Besides(Box<Self>, Beside),
    /// Devices of these pools skip node operations, which this component does not support; the nodes, if it is the kubelet.
    SkipsOperations(BTreeSet<PoolId>, Component, Vec<Str>),
    /// Nothing is published for nodes as their kubelets have just been started.
    Republishing(Republishing),
    /// No node and no class offers an extended resource, and how many devices are free of a class that could.
    Unoffered(Str, Option<(Str, usize)>),
    /// None of these nodes has so many usable devices of the kind, and what rules devices out if none is in use.
    TooFew(Among, u64, DeviceKind, Option<Lost>),
    /// This node has so many usable devices of the kind, and these other filters reject it.
    Filtered(Str, u64, DeviceKind, Vec<Plain>),
    /// It fits on these nodes, as far as filters are simulated, and kube-scheduler says that others reject so many. The pods that it has to be
    /// near, where that is why, with the nodes near them that lack devices.
    Rejected(Vec<Str>, Vec<Rejection>, Option<(Near, Vec<Str>)>),
    /// No node has all of its devices of a kind free.
    NotAll(Box<NotAll>),
    /// Each alternative of the request has a cause of its own.
    Alternatives(Str, Vec<(Str, Self)>),
    /// No node has usable devices that share an attribute, or differ in it.
    NotAlike(Alike),
    /// No node has enough devices for these requests together.
    NotEnough(RequestsTogether),
    /// A queue holds the pod back.
    Queued(Queued),
    /// The pod's PodGroup is not placed, and what the first of its pods lacks.
    Gang(Gang, Option<GangCause>),
    /// The status of the pod names this claim, which it cannot use.
    Status(Key, StatusProblem),
}

impl Cause {
    /// Returns whether pods name one claim that is for one pod only.
    pub(super) fn is_of_sharing(&self) -> bool {
        match self {
            Self::Alike(Brief::Fact(fact)) => matches!(fact, Fact::NotShared(_)),
            Self::Besides(cause, _) => cause.is_of_sharing(),
            _ => false,
        }
    }

    /// Returns whether what keeps it from its devices is about to end.
    fn passes(&self) -> bool {
        match self {
            Self::Besides(_, Beside::Ending(..) | Beside::Starting(..)) => true,
            Self::Besides(cause, _) => cause.passes(),
            _ => false,
        }
    }

    /// Returns whether the pod would be evicted as soon as it had what it waits for.
    pub(super) fn is_evicted_again(&self) -> bool {
        match self {
            Self::Besides(_, Beside::EvictedAgain(_)) => true,
            Self::Besides(cause, _) => cause.is_evicted_again(),
            _ => false,
        }
    }
}

/// What is known of a cause besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// A fault of a driver takes devices of other nodes away.
    Fault(Box<Cause>),
    /// Filters that are not simulated reject the pod before devices are looked at, and without them it would not fit for this cause.
    Rejected(Vec<Rejection>),
    /// The outdated slice has devices.
    Outdated(Outdated),
    /// The devices are held by pods that are not to end for this one.
    Held(Spared),
    /// The devices are held by pods of the subject's owner, which does not end them for it.
    Kept(OwnerName, Kept),
    /// The devices are held by these pods, which wait for the subject: the owner starts no pod before all have nodes.
    Circle(OwnerName, Vec<Key>),
    /// The devices are held by this pod, which this keeps from running.
    NotRunning(Key, Box<StageFact>),
    /// The devices are held by this pod, whose work is done and which this keeps from ending.
    Lasting(Key, Box<StageFact>),
    /// The devices are held by these claims, which no pod uses and no controller deallocates.
    Abandoned(Vec<Key>),
    /// The devices are held by pods of this owner, whose work has ended.
    LeftOver(OwnerName),
    /// The pod is of an earlier pod template than this owner has.
    Superseded(OwnerName),
    /// This autoscaler adds no nodes for pods with claims.
    NoNode(Str),
    /// This autoscaler knows no node with such devices that it could add.
    NotScaledUp(Str),
    /// The scheduler deallocates the claim automatically.
    Deallocated,
    /// Several nodes publish the pool under one name, so that devices in use on one of them count as in use on the others.
    SamePool(PoolId),
    /// The rule of this name taints all devices, or all of this driver.
    TaintsAll(Str, Option<Str>),
    /// The devices are held by this pod, among others, whose end is due at this time and enough.
    Ending(Key, Time),
    /// The driver of such devices, which publishes none for the node, was started there just now; when the node was added, if that is new, too.
    Starting(Str, Option<Time>),
    /// The other nodes, which are all rejected for this other reason.
    Others(NodeGroup),
    /// The devices of these nodes have this taint, which the pod tolerates as if it were one of nodes.
    Misplaced(Taint, Vec<Str>),
    /// This taint evicts the pod as soon as it has such a device: the pod tolerates it without effect.
    EvictedAgain(Taint),
    /// A device plugin hides devices that are free.
    Hidden(HiddenByPlugin),
}

/// Free devices of a node whose device plugin offers the extended resource that they would be allocated for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HiddenByPlugin {
    pub(super) node: Str,
    pub(super) resource: Str,
    pub(super) class: Str,
    /// How many devices of the class are free on the node.
    pub(super) free: usize,
    /// The pods that may have these devices from the device plugin.
    pub(super) users: Vec<Key>,
}

/// A driver that publishes nothing for nodes that a pod could use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unserved {
    pub(super) driver: Str,
    /// The nodes with the same broken link; the first is the one that `link` is about.
    pub(super) nodes: Vec<Str>,
    pub(super) link: BrokenLink,
}

/// Nodes whose drivers have yet to publish again what the start of a kubelet deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Republishing {
    pub(super) nodes: Vec<Str>,
    /// When the kubelet of the first of them was started.
    pub(super) since: Time,
    /// The drivers of the devices that are wanted, as far as their class names them.
    pub(super) drivers: BTreeSet<Str>,
    /// Whether no other node has a device of the kind.
    pub(super) is_cause: bool,
}

/// What the first pod of a PodGroup lacks that is not placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GangCause {
    Why(Box<Why>),
    /// This pod is not looked at yet.
    Waits(Key, Obstacle),
}

/// Reason why a pod cannot use the node of its claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The pod names another node.
    NodeName,
    /// The pod's node selector or affinity.
    NodeAffinity,
    /// The node is cordoned.
    Cordoned,
    /// The node does not declare that devices may skip its operations.
    NodeOperations,
    /// Something else.
    Other(Box<Fact>),
}

/// Nodes that have too few devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// All.
    All,
    /// So many that the other filters leave.
    Left(usize),
    /// Those that pools which cannot be used do not reach.
    Other,
}

/// What rules devices out that a request selects, and that are not in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Number of devices with taints.
    pub(super) tainted: u64,
    /// Their taints, where they have the same.
    pub(super) taints: Vec<Taint>,
    /// What rules out others.
    pub(super) why: Option<Brief>,
}

/// A request for all devices of a node, some of them unavailable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotAll {
    /// The node that lacks least.
    pub(super) node: Str,
    /// The nodes that are looked at: none has all of its devices available.
    pub(super) among: Among,
    /// How many others lack some, too.
    pub(super) others: usize,
    pub(super) kind: DeviceKind,
    /// Number of devices that the request selects there.
    pub(super) matching: u64,
    pub(super) in_use: u64,
    /// Their consumers.
    pub(super) users: BTreeSet<String>,
    pub(super) tainted: u64,
    /// Names of those, and their taints.
    pub(super) taints: (BTreeSet<Str>, BTreeSet<Taint>),
    /// Those that something else rules out.
    pub(super) blocked: u64,
}

/// Devices that have to share an attribute, or to differ in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alike {
    /// Whether they have to share it.
    pub(super) same: bool,
    pub(super) attribute: Str,
    /// A driver that publishes it as a list, which counts as no value.
    pub(super) lists_of: Option<Str>,
    /// Whether a pool has enough of them, and their shared counters do not suffice.
    pub(super) shares_counters: bool,
    pub(super) of: Compared,
}

/// Why it does not fit even with every device available and untainted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Never {
    /// No reason is one for all nodes, or no device is left at this step.
    EvenEmpty(Option<Absence>),
    /// No node meets the pod's other requirements.
    NoNode,
    /// The same on all nodes.
    Same(Brief),
    /// None of these nodes has a device of the kind.
    NoDevice(Among, DeviceKind),
    /// None of these nodes has more than so many devices of the kind.
    AtMost {
        /// The nodes.
        among: Among,
        /// Number of devices requested.
        wanted: u64,
        /// Number of devices on the node with the most.
        most: u64,
        /// The kind.
        kind: DeviceKind,
    },
    /// None of these nodes has enough devices for the requests together.
    NotEnough(Among, RequestsTogether),
    /// None of these nodes has devices with the same, or with different, values.
    NotAlike(Among, Alike),
}

/// Devices of a request in an outdated slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outdated {
    /// The slice.
    pub(super) slice: Str,
    /// Generation of the slice.
    pub(super) generation: i64,
    /// Newest generation of the pool.
    pub(super) current: i64,
    /// Number of devices that the request selects, and that the newest generation does not have.
    pub(super) devices: usize,
}

/// Requests that have too few devices together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestsTogether {
    /// The requests.
    pub(super) requests: Vec<Str>,
    /// The attribute, the value and the number of devices, where all requests select the same.
    pub(super) same: Option<(String, String, i64)>,
}

impl RequestsTogether {
    /// The requests with these specs.
    pub(super) fn of(requests: Vec<Str>, specs: &[&DeviceRequest]) -> Self {
        let wanted = |spec: &DeviceRequest| match spec.selectors.as_slice() {
            [only] => dra_cel::value_wanted(&only.cel.as_ref()?.expression),
            _ => None,
        };
        let first = specs.first().and_then(|spec| wanted(spec));
        let is_same = |spec: &&DeviceRequest| {
            spec.device_class_name == specs[0].device_class_name && wanted(spec) == first
        };
        let same = first.clone().filter(|_| specs.iter().all(is_same));
        Self {
            requests,
            same: same.map(|wanted| {
                let count = specs.iter().map(|spec| spec.count).sum();
                (wanted.name, wanted.value, count)
            }),
        }
    }
}

/// Devices that a constraint compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// So many devices of one request.
    Devices(i64, DeviceKind),
    /// Devices of these requests.
    Requests(Vec<Str>),
}

/// Name of the devices that a request selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeviceKind {
    /// By their model.
    Model(String),
    /// By an attribute and its value.
    Attribute(String, String),
    /// By their class.
    Class(Str),
    /// By their class and selectors that no words are short for.
    Selected(Str),
}

impl DeviceKind {
    /// By the attribute that the request's only selector compares, else by the class and the selectors.
    pub(super) fn of(spec: &DeviceRequest) -> Self {
        if let [selector] = spec.selectors.as_slice()
            && let Some(cel) = &selector.cel
            && let Some(AttributeWanted { name, value, .. }) = dra_cel::attribute_wanted(&cel.expression)
            && value.chars().any(|one| one.is_ascii_alphabetic())
            && value
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || "-_. ".contains(one))
        {
            // A model alone names devices, as other values do not.
            return match name.as_str() {
                "model" | "productName" => Self::Model(value),
                _ => Self::Attribute(name, value),
            };
        }
        let class = spec.device_class_name.clone();
        if spec.selectors.is_empty() {
            Self::Class(class)
        } else {
            Self::Selected(class)
        }
    }
}

/// Problem of a claim in the status of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StatusProblem {
    /// It does not exist any more.
    Gone,
    /// It was made for an earlier pod of the same name.
    OfEarlierPod,
    /// It was made for this one.
    Of(String),
    /// It was created for no pod.
    NotMade,
}

impl Cause {
    /// That of the status of the pod, which lacks this; nothing where it names no claim.
    pub(super) fn of_status(cluster: &Cluster, pod: &Pod, lacks: &Lacks) -> Option<Self> {
        let (key, problem) = match lacks {
            Lacks::Name => return None,
            Lacks::Claim(key) => (key, StatusProblem::Gone),
            Lacks::Owner(key) => {
                let owner = cluster.claim(key).and_then(|claim| claim.metadata.controller());
                let problem = match owner {
                    Some(owner) if owner.kind == "Pod" && owner.name == pod.metadata.name => {
                        StatusProblem::OfEarlierPod
                    }
                    Some(owner) => StatusProblem::Of(dra_rules::reservation::manager(owner)),
                    None => StatusProblem::NotMade,
                };
                (key, problem)
            }
        };
        Some(Self::Status(key.clone(), problem))
    }
}

/// Why something waits, so that what waits for the same can be put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Cause(Cause),
    Fact(Fact),
    Answer(Answer),
}

impl From<Fact> for Cause {
    fn from(fact: Fact) -> Self {
        Self::Alike(Brief::Fact(fact))
    }
}

impl Cause {
    /// The fact at the end of its sentence.
    pub(super) fn fact(&self) -> Option<Fact> {
        match self {
            Self::Alike(Brief::Fact(fact)) | Self::OnNode(_, fact) => Some(fact.clone()),
            Self::Rejected(_, by, _) => Some(Fact::Rejected(by.clone())),
            Self::Besides(cause, Beside::Rejected(_) | Beside::Superseded(_) | Beside::Others(_)) => {
                cause.fact()
            }
            Self::Allocated(_, _, Place::Other(fact)) => Some((**fact).clone()),
            Self::TooManyConsumers(_) => Some(Fact::TooManyConsumers),
            Self::Gang(gang, _) => Some(Fact::Gang(gang.clone())),
            _ => None,
        }
    }
}

/// Code of a cause that differs between nodes, or between the alternatives of a request.
const SEVERAL: &str = "SeveralReasons";

impl Why {
    /// Stable code; that of the reason, where there is one.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Cause(cause) => cause.code(),
            Self::Fact(fact) => fact.code(),
            Self::Answer(answer) => answer.code(),
        }
    }
}

impl Cause {
    fn code(&self) -> &'static str {
        match self {
            Self::Nowhere(..) => SEVERAL,
            Self::Error(_) => "Error",
            Self::TooManyConsumers(_) => Fact::TooManyConsumers.code(),
            Self::Allocated(..) | Self::AllocatedNowhere(..) | Self::Apart(_) => "AllocatedElsewhere",
            Self::Alike(brief) => brief.code(),
            Self::OnNode(_, fact) => fact.code(),
            Self::Filtered(.., why) => why.first().map_or(SEVERAL, Into::into),
            Self::Rejected(_, by, _) | Self::Besides(_, Beside::Rejected(by)) => {
                Fact::Rejected(by.clone()).code()
            }
            Self::Absent(_) => Fact::NoDevices.code(),
            Self::Unserved(_) | Self::Republishing(_) => "NotPublished",
            Self::SkipsOperations(..) => RuledOut::NodeOperations.into(),
            Self::Unoffered(..) => "NoSuchResource",
            Self::TooFew(..) => "TooFewDevices",
            Self::NotAll(_) => "NotAllFree",
            Self::Alternatives(_, alternatives) => {
                let mut codes = alternatives.iter().map(|(_, cause)| cause.code());
                let first = codes.next().unwrap_or(SEVERAL);
                if codes.all(|code| code == first) {
                    first
                } else {
                    SEVERAL
                }
            }
            Self::NotAlike(_) => "Constraint",
            Self::NotEnough(_) => "NotTogether",
            Self::Besides(_, Beside::Outdated(_)) => "PoolOutdated",
            Self::Besides(_, Beside::Circle(..)) => "OwnerWaits",
            Self::Besides(cause, _) => cause.code(),
            Self::Queued(_) => "Queued",
            Self::Gang(gang, _) => Fact::Gang(gang.clone()).code(),
            Self::Status(_, StatusProblem::Gone) => "ClaimMissing",
            Self::Status(..) => "ClaimNotOwned",
        }
    }
}

impl Answer {
    fn code(&self) -> &'static str {
        match self {
            Self::Nowhere(_) => SEVERAL,
            Self::Full(..) => Fact::TooManyConsumers.code(),
            Self::KeptByQuota(..) => "QuotaExceeded",
            Self::Silent(..) => "SchedulerSilent",
            Self::Queued(..) => "Queued",
            Self::NoPods(..) | Self::FewerPods(..) => "NoPods",
            _ => match self.fact() {
                Some(fact) => fact.code(),
                None => self.verdict().into(),
            },
        }
    }
}

impl Diagnosis {
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            ..Self::default()
        }
    }

    /// Of a claim, with what the cluster says of it.
    pub(super) fn of_claim(cluster: &Cluster, claim: &Claim) -> Self {
        Self {
            events: events(cluster, Kind::ResourceClaim, &claim.metadata, |_| false),
            ..Self::new(Target::claim(&claim.key()))
        }
    }

    /// The pod that the answer is about.
    pub fn pod(&self) -> Option<Key> {
        let of_target = || Key::new(self.target.namespace.clone(), self.target.name.clone());
        self.user.clone().or_else(|| self.target.is_pod().then(of_target))
    }

    /// The verdict.
    pub fn verdict(&self) -> ClusterVerdict {
        self.answer.verdict()
    }

    /// The gates that the answer depends on, for laws.
    #[cfg(test)]
    pub(crate) fn assumed_gates(&self) -> &[AssumedGate] {
        &self.assumed_gates
    }

    /// Why it waits; of a pod with a node, what keeps it from starting is the same on other nodes.
    pub(crate) fn why(&self) -> Why {
        let first = self.reasons.first();
        match (&self.cause, first) {
            (Some(cause), _) => Why::Cause(cause.clone()),
            (None, Some(reason)) if self.verdict() == ClusterVerdict::Broken => {
                Why::Fact(reason.fact.clone())
            }
            _ => Why::Answer(self.answer.clone()),
        }
    }

    /// Returns whether owners may say more of it: it waits, or does not start.
    pub fn asks_for_owners(&self) -> bool {
        match self.verdict() {
            ClusterVerdict::DoesNotFit => {
                let waiting = self.waiting.as_ref();
                let may_wait = waiting.is_none_or(|waiting| waiting.helps != super::items::Helps::Never);
                // Whether the owner recreates the pod decides whether a command does.
                may_wait || self.fixes.iter().any(|fix| fix.command.is_none())
            }
            verdict => matches!(verdict, ClusterVerdict::Waits | ClusterVerdict::Broken),
        }
    }

    /// Returns the pods that fixes end: their owners tell how.
    pub fn ended(&self) -> &BTreeSet<Key> {
        &self.ended
    }

    /// Notes what could not be read of owners.
    pub fn lack(&mut self, unread: Vec<String>) {
        self.unknown.extend(unread);
    }

    /// Names what could not be read, once: not again where a warning about the files of `cluster` has told it.
    pub(super) fn tell_unknown(&mut self, cluster: &Cluster, gap: &Gap) {
        self.lacks_objects = true;
        if cluster.environment().told.contains(&gap.kind) {
            return;
        }
        if !self.gaps.contains(gap) {
            self.gaps.push(gap.clone());
        }
    }

    /// Adds the fault of a driver to the cause, unless it is the cause.
    pub(super) fn add_fault(&mut self, fault: Cause) {
        if self.cause.as_ref() != Some(&fault) {
            self.add_beside(Beside::Fault(Box::new(fault)));
        }
    }

    /// Adds to the cause, where there is one, what else is known of it.
    pub(super) fn add_beside(&mut self, known: Beside) {
        let cause = self.cause.take();
        self.cause = cause.map(|cause| Cause::Besides(Box::new(cause), known));
    }

    /// Returns whether what it waits for comes without any action, as far as is known: the first fix is to wait.
    pub(crate) fn passes(&self) -> bool {
        let is_wait = |fix: &FixItem| match fix.kind {
            "AwaitDriver" | "AwaitNode" => true,
            "ReleaseClaim" => fix.command.is_none(),
            _ => false,
        };
        self.verdict() == ClusterVerdict::DoesNotFit
            && self.ahead.is_empty()
            && self.fixes.first().is_some_and(is_wait)
            && self.cause.as_ref().is_some_and(Cause::passes)
    }

    /// Adds to a cause of some nodes why the others are rejected, where that is one reason which needs a change of its own: amounts that are short,
    /// devices that are not free, and devices of another kind. What is known of the cause besides is more than that.
    pub(super) fn add_others(&mut self) {
        let node = match &self.cause {
            Some(Cause::Filtered(node, ..) | Cause::OnNode(node, _)) => Some(node),
            Some(Cause::Rejected(nodes, _, None)) => nodes.first(),
            _ => None,
        };
        let (Some(node), [one, other]) = (node, self.node_groups.as_slice()) else {
            return;
        };
        let others = if one.nodes.contains(node) { other } else { one };
        let is_telling = match (others.devices.first(), &others.reason) {
            (None, reason) => matches!(reason, Some(Brief::Lacks(..))),
            // Devices of another driver are no news.
            (Some(first), Some(Brief::Seen(seen))) => {
                first.matching > 0 || seen.iter().all(|seen| seen.name != "driver")
            }
            (Some(first), _) => first.matching > 0,
        };
        if is_telling && others.nodes.len() <= NAMED {
            self.add_beside(Beside::Others(others.clone()));
        }
    }

    pub(super) fn conclude(&mut self, answer: Answer) {
        self.answer = answer;
        if !matches!(self.verdict(), ClusterVerdict::DoesNotFit | ClusterVerdict::Error) {
            self.cause = None;
            self.waiting = None;
        }
    }
}
