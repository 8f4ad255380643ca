//! Determines whether waiting helps: whether the subject would fit if all other devices were free, and which pods would
//! have to finish.
//!
//! [`emptied`] is the cluster in which every other claim and pod has ended, and no device and no node has a taint. A
//! subject that does not fit there never fits by waiting, as long as slices, classes and node labels stay the same.
//! Otherwise pods with devices of such a node are removed in a copy of the cluster, one by one and then together, and
//! only results that fit are reported. [Spared] pods are not waited for. Pods without devices are removed too
//! if they use resources that a plain filter of the node requires.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use itertools::Itertools;

use super::cycle::{Cycle, Scheduler, Start};
use super::fixes::{Effort, Subject};
use super::locality::Localities;
use super::placement::release;
use super::plain::{Lack, UNSCHEDULABLE, lacks, matches_affinity, tells_unfit};
use super::profiles::other_scheduler;
use super::spared::{Spared, Sparing};
use super::verdict::{Judgment, Refusal, Verdict};
use crate::owners::{Lineage, OwnerName, Replacing, Rollout, is_starting, waiting_for};
use crate::reservation::{claim_names, is_abandoned, is_former};
use dra_allocator::devices::PoolStatus;
use dra_model::{
    AllocatedDevice, Change, Claim, ClaimStatus, Cluster, ClusterBuilder, Gap, Key, Kind, Node, NodeSpec,
    Object, Pod, PoolId, Slice, Str, Strategy,
};

/// Maximum number of nodes searched for sufficient pods: those judged first, fewest consumers first.
const MOST_NODES: usize = 16;

/// Nodes judged with everything free before checking whether enough of them fit.
const TOGETHER: usize = 256;

/// Dry runs around a node that are made for that, half of them for one consumer each.
const MOST_TRIALS: usize = 128;

/// Maximum number of alternative consumers to find, each of which is sufficient.
const MOST_ALIKE: usize = 8;

/// Sets of consumers that are tried to show that any of so many suffice.
const MOST_SUBSETS: usize = 64;

/// Result of waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It does not fit with every device free and untainted either: these nodes are too small for it, and the plain
    /// filters reject all others regardless of their pods.
    Never(Vec<Str>),
    /// It fits once others have ended.
    Ends(Ends),
    /// It fits once these have ended, whom their owner, which is that of the subject too, does not end for it.
    Kept(KeptConsumers),
    /// It fits once the rollout of its owner has deleted one of these, which happens automatically.
    RolledOut {
        /// Pods of the new revision that have to be ready before.
        once_ready: Vec<Key>,
        /// Sufficient consumers, by name.
        consumers: Vec<Consumer>,
        /// The owner.
        owner: OwnerName,
        /// Nodes it then fits on.
        nodes: Vec<Str>,
    },
    /// It fits once the claim controller has deallocated claims whose consumers are gone.
    Deallocated {
        /// The claims, by name.
        claims: Vec<Key>,
        /// Nodes it then fits on.
        nodes: Vec<Str>,
    },
    /// It fits once someone takes the devices of claims back that no pod uses and no controller does so for.
    Abandoned {
        /// The claims, by name.
        claims: Vec<Key>,
        /// Nodes it then fits on.
        nodes: Vec<Str>,
    },
    /// It fits on these nodes once their devices have no taints, regardless of other pods.
    Untainted(Vec<Str>),
    /// It fits on these nodes once they are no longer cordoned, regardless of other pods.
    Uncordoned(Vec<Str>),
    /// It fits on these nodes once they can run pods again, regardless of other pods.
    Restored(Vec<Str>),
    /// It fits on these nodes once their taints are removed or tolerated, regardless of other pods.
    NodesUntainted(Vec<Str>),
    /// Unknown.
    Unknown(Uncertain),
}

/// Consumers whose end lets the subject fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Tried consumers, by name.
    pub consumers: Vec<Consumer>,
    /// Any so many of them suffice.
    pub count: usize,
    /// Nodes it then fits on.
    pub nodes: Vec<Str>,
    /// True if all were tried who hold devices where it could fit.
    pub complete: bool,
    /// Shortages on the first of these nodes, besides devices.
    pub lacks: Vec<Lack>,
    /// Old pods of the subject's own rollout, which keeps them: the end of one of them would do, too.
    pub kept: Option<KeptConsumers>,
}

/// Consumers whose end would let the subject fit, and whom their common owner does not end for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptConsumers {
    /// The consumers, by name.
    pub consumers: Vec<Consumer>,
    /// Their owner.
    pub owner: OwnerName,
    /// The reason that keeps them.
    pub why: Kept,
    /// Nodes it then fits on.
    pub nodes: Vec<Str>,
}

/// Reason that keeps pods of the subject's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kept {
    /// A rollout of a Deployment: no old pod ends before a new one is ready.
    Rollout {
        /// So many pods may be there beyond those that are wanted.
        surge: i64,
        /// So many of those that are wanted may be unavailable.
        unavailable: i64,
        /// True if it would do that one old pod of several ends before a new one is made: maxSurge 0, maxUnavailable 1.
        one_by_one: bool,
    },
    /// The rollout of the Deployment is paused.
    Paused,
    /// A rollout of a DaemonSet with maxSurge, on the node of the subject.
    Surge,
    /// The owner wants them all beside each other.
    Beside,
    /// They wait for the subject: the owner starts none of its pods before all have nodes.
    Circle,
}

/// The reason why it is unknown whether waiting helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uncertain {
    /// The scheduler of the pod, in a sentence.
    Scheduler(String),
    /// Objects that could not be read.
    Missing(Vec<Gap>),
    /// The attempt ends before any node is looked at, for this reason.
    Obstacle(String),
    /// With everything free the attempt ends with this error.
    Error(String),
    /// The search ended before.
    GaveUp,
    /// A claim that it uses is allocated already.
    Allocated(Key),
    /// It depends on unusable pools.
    Pools {
        /// The pools.
        pools: Vec<PoolId>,
        /// Nodes that they do not reach, and that have too little for it with every device free and untainted.
        elsewhere: Vec<Str>,
    },
    /// It fits on these nodes once these have ended, who are spared, with others perhaps.
    Spared {
        /// The consumers, by name.
        consumers: Vec<Consumer>,
        /// The reason why the first of them is.
        why: Spared,
        /// True if others have to end, too.
        others: bool,
        /// The nodes.
        nodes: Vec<Str>,
    },
    /// It fits on these nodes with everything free, but not by the end of those alone who could be tried.
    NotFound(Vec<Str>),
}

/// A pod or claim whose end releases devices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
pub enum Consumer {
    /// A pod.
    #[display("pod/{_0}")]
    Pod(Key),
    /// A PodGroup, with all its pods.
    #[display("podgroup/{_0}")]
    PodGroup(Key),
}

/// The cluster of `scheduler` when everything has ended but the subject and its PodGroup, and no device and no node has a taint.
pub fn emptied(scheduler: &Scheduler, subject: &Subject) -> Scheduler {
    let cluster = scheduler.cluster();
    let mut builder = ClusterBuilder::default();
    for node in cluster.nodes() {
        builder.add(Object::Node(changed(node, open)));
    }
    for class in cluster.classes() {
        builder.add(Object::DeviceClass(Arc::clone(class)));
    }
    for slice in cluster.slices() {
        builder.add(Object::ResourceSlice(untainted(slice)));
    }
    for claim in subject.own_claims(cluster) {
        builder.add(Object::ResourceClaim(unallocated(&claim)));
    }
    if let Some(pod) = subject.pod() {
        builder.add(Object::Pod(Arc::clone(pod)));
        if let Some(group) = pod.pod_group() {
            let key = pod.metadata.beside(group);
            if let Some(group) = cluster.pod_group(&key) {
                builder.add(Object::PodGroup(Arc::clone(group)));
            }
            for member in cluster.pods_of_group(&key).filter(|member| !is_same(member, pod)) {
                for claim in claim_names(member).filter_map(|name| name.find(cluster)) {
                    builder.add(Object::ResourceClaim(unallocated(claim)));
                }
                let mut member = Pod::clone(member);
                member.spec.node_name = None;
                builder.add(Object::Pod(Arc::new(member)));
            }
        }
    }
    let emptied = builder.build(cluster.environment().clone()).0;
    scheduler.beside(&emptied.metered(Arc::clone(cluster.meter())))
}

fn unallocated(claim: &Arc<Claim>) -> Arc<Claim> {
    let mut claim = Claim::clone(claim);
    claim.status = ClaimStatus::default();
    Arc::new(claim)
}

fn is_same(one: &Pod, other: &Pod) -> bool {
    one.key() == other.key()
}

/// The node with another spec; the same one where nothing changes.
fn changed(node: &Arc<Node>, change: fn(&mut NodeSpec)) -> Arc<Node> {
    let mut spec = node.spec.clone();
    change(&mut spec);
    if spec == node.spec {
        return Arc::clone(node);
    }
    let mut changed = Node::clone(node);
    changed.spec = spec;
    Arc::new(changed)
}

fn open(spec: &mut NodeSpec) {
    spec.unschedulable = false;
    spec.taints.clear();
}

/// Takes the flag from a cordoned node, and the taint that the node controller puts there for it.
fn uncordon(spec: &mut NodeSpec) {
    if spec.unschedulable {
        spec.unschedulable = false;
        spec.taints.retain(|taint| taint.key != UNSCHEDULABLE);
    }
}

fn untainted(slice: &Arc<Slice>) -> Arc<Slice> {
    if slice.spec.devices.iter().all(|device| device.taints.is_empty()) {
        return Arc::clone(slice);
    }
    let mut slice = Slice::clone(slice);
    for device in &mut slice.spec.devices {
        device.taints.clear();
    }
    Arc::new(slice)
}

/// Returns whether waiting helps `subject`, which does not fit; `emptied` is the cluster of `scheduler` as [`emptied`] makes it.
pub fn waiting(
    scheduler: &Scheduler,
    emptied: &Scheduler,
    subject: &Subject,
    effort: &Effort<'_>,
) -> Waiting {
    let cluster = scheduler.cluster();
    let other = |pod: &Arc<Pod>| other_scheduler(cluster.environment(), pod);
    if let Some(doubt) = subject.pod().and_then(other) {
        return Waiting::Unknown(Uncertain::Scheduler(doubt));
    }
    let start = subject.start(emptied);
    let cycle = match &start {
        Start::Cycle(cycle) => cycle,
        Start::Obstacle(obstacle) => return Waiting::Unknown(Uncertain::Obstacle(obstacle.text())),
        Start::Unknown(gaps) => return Waiting::Unknown(Uncertain::Missing(gaps.clone())),
    };
    let nodes: Vec<&Arc<Node>> = emptied.cluster().nodes().collect();
    let mut answers = Vec::new();
    let mut fitting = Vec::new();
    // If it fits on some, more of them add nothing.
    for some in nodes.chunks(TOGETHER) {
        let judged = effort.judge_all(cycle, some);
        fitting.extend(self::fitting(&judged));
        answers.extend(judged);
        if fitting.len() >= MOST_NODES {
            break;
        }
    }
    let are_all = answers.len() == nodes.len();
    let own = subject.own_claims(cluster);
    let search = Search {
        scheduler,
        subject,
        effort,
        sparing: Sparing::of(cluster, subject.pod(), &own),
        own,
        localities: Localities::of(cluster),
        spares: true,
        trials: Cell::new(0),
    };
    if fitting.is_empty() {
        return search.nowhere(cycle, &answers);
    }
    let is_left = |claim: &Claim| {
        let consumers = search.sparing.consumers(claim);
        !consumers.is_empty() && consumers.iter().all(|entry| is_former(cluster, claim, entry))
    };
    if let Some((claims, nodes)) = search.deallocated(is_left) {
        return Waiting::Deallocated { claims, nodes };
    }
    if let Some(mut ends) = search.ends(&fitting, are_all) {
        if let Some(pod) = subject.pod()
            && let Some(node) = ends.nodes.first().and_then(|name| cluster.node(name))
        {
            ends.lacks = lacks(cluster, pod, node);
        }
        ends.kept = search.own_alike(&fitting);
        return Waiting::Ends(ends);
    }
    search
        .untainted(emptied.cluster(), &fitting)
        .or_else(|| search.changed(&fitting, uncordon).map(Waiting::Uncordoned))
        .or_else(|| {
            // What tells that a node cannot run pods.
            let restore = |spec: &mut NodeSpec| spec.taints.retain(|taint| !tells_unfit(&taint.key));
            search.changed(&fitting, restore).map(Waiting::Restored)
        })
        .or_else(|| {
            let bare = |spec: &mut NodeSpec| spec.taints.clear();
            search.changed(&fitting, bare).map(Waiting::NodesUntainted)
        })
        .or_else(|| {
            let found = search.deallocated(|claim| is_abandoned(cluster, claim));
            found.map(|(claims, nodes)| Waiting::Abandoned { claims, nodes })
        })
        .or_else(|| search.spared(&fitting))
        .unwrap_or(Waiting::Unknown(Uncertain::NotFound(fitting)))
}

fn is_incomplete(cluster: &Cluster, id: &PoolId) -> bool {
    cluster.pool(id).is_some_and(|pool| !pool.is_complete())
}

fn fitting(answers: &[(&Arc<Node>, Judgment)]) -> Vec<Str> {
    let fits = answers.iter().filter(|(_, judgment)| judgment.verdict.fits());
    fits.map(|(node, _)| node.metadata.name.clone()).collect()
}

fn error(answers: &[(&Arc<Node>, Judgment)]) -> Option<String> {
    answers.iter().find_map(|(_, judgment)| match &judgment.verdict {
        Verdict::Error(error) => Some(error.to_string()),
        _ => None,
    })
}

fn gave_up(judgment: &Judgment) -> bool {
    matches!(judgment.verdict, Verdict::GaveUp)
}

struct Search<'s> {
    /// Of the cluster as it is.
    scheduler: &'s Scheduler,
    subject: &'s Subject,
    effort: &'s Effort<'s>,
    own: Vec<Arc<Claim>>,
    localities: Localities,
    sparing: Sparing<'s>,
    /// True if those do not end who are spared.
    spares: bool,
    trials: Cell<usize>,
}

/// Consumers with the claims that they alone hold.
type Held = BTreeMap<Key, BTreeSet<Consumer>>;

/// A node with the part of the cluster around it, and who holds devices there.
struct Around {
    node: Arc<Node>,
    cluster: Cluster,
    scheduler: Scheduler,
    held: Held,
    /// Pods without devices that take what a plain filter wants.
    others: BTreeSet<Consumer>,
}

impl Around {
    fn consumers(&self) -> BTreeSet<Consumer> {
        let holders = self.held.values().flatten();
        holders.chain(&self.others).cloned().collect()
    }
}

impl Search<'_> {
    fn cluster(&self) -> &Cluster {
        self.scheduler.cluster()
    }

    fn is_spent(&self) -> bool {
        self.trials.get() >= MOST_TRIALS || self.effort.is_spent(self.cluster())
    }

    /// Returns why it fits on no node with everything free, as `answers` say.
    fn nowhere(&self, cycle: &Cycle<'_>, answers: &[(&Arc<Node>, Judgment)]) -> Waiting {
        if let Some(error) = error(answers) {
            return Waiting::Unknown(Uncertain::Error(error));
        }
        if answers.iter().any(|(_, judgment)| gave_up(judgment)) {
            return Waiting::Unknown(Uncertain::GaveUp);
        }
        let mut own = self.own.iter();
        if let Some(claim) = own.find(|claim| claim.status.allocation.is_some()) {
            return Waiting::Unknown(Uncertain::Allocated(claim.key()));
        }
        let mut pools = BTreeSet::new();
        let mut judged = Vec::new();
        for (node, judgment) in answers {
            let Verdict::Refused(Refusal::CannotAllocate { invalid_pools }) = &judgment.verdict else {
                continue;
            };
            let known = self.localities.pools(&node.metadata.name);
            let is_suspect = *invalid_pools || known.into_iter().any(|id| is_incomplete(self.cluster(), id));
            if !is_suspect {
                judged.push(node.metadata.name.clone());
                continue;
            }
            let unusable = cycle.explain(node, |explanation| -> Vec<PoolId> {
                let pools = explanation.unusable_pools();
                pools
                    .filter(|(_, status)| **status != PoolStatus::Usable)
                    .map(|(id, _)| id.clone())
                    .collect()
            });
            match unusable {
                Ok(Some(unusable)) if unusable.is_empty() => judged.push(node.metadata.name.clone()),
                Ok(Some(unusable)) => pools.extend(unusable),
                Ok(None) | Err(_) => return Waiting::Unknown(Uncertain::GaveUp),
            }
        }
        if pools.is_empty() {
            Waiting::Never(judged)
        } else {
            Waiting::Unknown(Uncertain::Pools {
                pools: pools.into_iter().collect(),
                elsewhere: judged,
            })
        }
    }

    /// Returns the pods that would have to finish for the subject to fit on one of the nodes; `all` are the nodes it
    /// could fit on.
    fn ends(&self, fitting: &[Str], all: bool) -> Option<Ends> {
        let mut nodes: Vec<(usize, &Str)> = fitting
            .iter()
            .map(|node| (self.localities.holders(self.cluster(), node).len(), node))
            .collect();
        nodes.sort();
        let mut complete = all && nodes.len() <= MOST_NODES;
        nodes.truncate(MOST_NODES);
        let mut arounds = Vec::new();
        for (_, node) in nodes {
            arounds.extend(self.around(node));
        }
        let mut alike: BTreeSet<Consumer> = BTreeSet::new();
        let mut freed: BTreeSet<Str> = BTreeSet::new();
        for around in &arounds {
            for consumer in around.consumers() {
                if self.is_spent() || self.trials.get() >= MOST_TRIALS / 2 || alike.len() >= MOST_ALIKE {
                    complete = false;
                    break;
                }
                let ended = BTreeSet::from([consumer]);
                if self.fits_around(around, &ended)
                    && let Some(nodes) = self.fits(&ended)
                {
                    freed.extend(nodes);
                    alike.extend(ended);
                }
            }
        }
        if !alike.is_empty() {
            return Some(Ends {
                consumers: alike.into_iter().collect(),
                count: 1,
                nodes: freed.into_iter().collect(),
                complete,
                lacks: Vec::new(),
                kept: None,
            });
        }
        let mut best: Option<(BTreeSet<Consumer>, &Around)> = None;
        for around in &arounds {
            if self.is_spent() {
                complete = false;
                break;
            }
            if let Some(needed) = self.needed(around)
                && best.as_ref().is_none_or(|(known, _)| needed.len() < known.len())
            {
                best = Some((needed, around));
            }
        }
        let (needed, around) = best?;
        let nodes = self.fits(&needed)?;
        let count = needed.len();
        let consumers = match self.any_of(around, count) {
            Some(all) => all,
            None => needed,
        };
        Some(Ends {
            consumers: consumers.into_iter().collect(),
            count,
            nodes,
            complete,
            lacks: Vec::new(),
            kept: None,
        })
    }

    /// The old pods of the subject's own rollout, which keeps them, whose end alone would let it fit.
    fn own_alike(mut self, fitting: &[Str]) -> Option<KeptConsumers> {
        let (_, Rollout::Keeps { .. } | Rollout::Paused) = Rollout::of(self.cluster(), self.subject.pod()?)?
        else {
            return None;
        };
        self.spares = false;
        self.trials = Cell::new(0);
        let (mut own, mut freed) = (BTreeSet::new(), BTreeSet::new());
        let nodes = fitting.iter().take(MOST_NODES);
        for around in nodes.filter_map(|node| self.around(node)) {
            let is_own = |consumer: &Consumer| matches!(self.why(consumer), Some(Spared::Kin(_)));
            for consumer in around.consumers().into_iter().filter(is_own) {
                let ended = BTreeSet::from([consumer]);
                if !self.is_spent()
                    && self.fits_around(&around, &ended)
                    && let Some(nodes) = self.fits(&ended)
                {
                    freed.extend(nodes);
                    own.extend(ended);
                }
            }
        }
        let own: Vec<Consumer> = own.into_iter().collect();
        let freed: Vec<Str> = freed.into_iter().collect();
        // A pod that its owner wants beside the subject does not end for it.
        match (!own.is_empty()).then(|| self.kept(&own, 1, &freed))?? {
            Waiting::Kept(kept) if matches!(kept.why, Kept::Rollout { .. } | Kept::Paused) => Some(kept),
            _ => None,
        }
    }

    /// Returns whose end would let the subject fit, if they were not spared.
    fn spared(mut self, fitting: &[Str]) -> Option<Waiting> {
        self.spares = false;
        self.trials = Cell::new(0);
        let found = self.ends(fitting, true)?;
        // A CronJob does nothing to the Jobs of its earlier runs.
        let is_of_earlier_run = |consumer: &Consumer| match self.why(consumer) {
            None => true,
            Some(Spared::Kin(owner)) => owner.kind == "CronJob",
            Some(_) => false,
        };
        if found.consumers.iter().all(is_of_earlier_run) {
            return Some(Waiting::Ends(found));
        }
        let (consumers, nodes) = (found.consumers, found.nodes);
        let all = consumers.len();
        if let Some(known) = self.kept(&consumers, found.count, &nodes) {
            return Some(known);
        }
        let why = consumers.iter().filter_map(|consumer| self.why(consumer)).min()?;
        // Those that are spared for another reason are others.
        let is_so = |consumer: &Consumer| self.why(consumer).as_ref() == Some(&why);
        let consumers: Vec<Consumer> = consumers.into_iter().filter(is_so).collect();
        Some(Waiting::Unknown(Uncertain::Spared {
            why,
            others: consumers.len() < all,
            consumers,
            nodes,
        }))
    }

    /// Returns what the owner of the subject does with these pods, this many of which must finish, if it owns them too
    /// and is known.
    fn kept(&self, consumers: &[Consumer], count: usize, nodes: &[Str]) -> Option<Waiting> {
        let pod = self.subject.pod()?;
        let pod_of = |consumer: &Consumer| match consumer {
            Consumer::Pod(key) => self.cluster().pod(key),
            Consumer::PodGroup(_) => None,
        };
        let others: Vec<&Arc<Pod>> = consumers.iter().map(pod_of).collect::<Option<_>>()?;
        let kept = |owner, why| {
            Waiting::Kept(KeptConsumers {
                consumers: consumers.to_vec(),
                owner,
                why,
                nodes: nodes.to_vec(),
            })
        };
        if let Some((owner, members)) = waiting_for(self.cluster(), pod)
            && others
                .iter()
                .all(|other| members.iter().any(|member| Arc::ptr_eq(member, other)))
        {
            return Some(kept(owner, Kept::Circle));
        }
        let mut owner = None;
        for other in &others {
            let Some(Spared::Kin(kin)) = self.sparing.pod(other) else {
                return None;
            };
            if owner.get_or_insert_with(|| kin.clone()) != &kin {
                return None;
            }
        }
        let owner = owner?;
        let controller = pod.metadata.controller()?;
        let is_beside = |other: &Arc<Pod>| other.metadata.is_sibling(&pod.metadata);
        let beside: Vec<&Arc<Pod>> = others.iter().copied().filter(|other| is_beside(other)).collect();
        let why = if beside.len() == others.len() {
            // A Job or similar owner lets its pods finish.
            match Replacing::of(self.cluster(), pod) {
                // Mirrors `daemon/update.go`, `rollingUpdate`, v1.37.2: only a surge has a node run two.
                Replacing::OnceGone if controller.kind == "DaemonSet" => {
                    let is_on_its_node = |other: &&Arc<Pod>| {
                        let node = other.node().and_then(|node| self.cluster().node(node));
                        node.is_some_and(|node| matches_affinity(pod, node))
                    };
                    if others.iter().all(is_on_its_node) {
                        Kept::Surge
                    } else {
                        Kept::Beside
                    }
                }
                Replacing::AtOnce | Replacing::OnceGone if controller.kind != "Job" => Kept::Beside,
                _ => return None,
            }
        } else {
            let (deployment, rollout) = Rollout::of(self.cluster(), pod)?;
            // Other controllers roll out from one Deployment to the next, which ends no pods of the other.
            let is_of_it = |other: &&Arc<Pod>| {
                let namespace = &other.metadata.namespace;
                Lineage::of_pod(self.cluster(), other).has(&deployment.reference(), namespace)
            };
            if !others.iter().all(is_of_it) {
                return None;
            }
            let is_new = |consumer: &Consumer| beside.iter().any(|pod| pod.key() == *consumer.key());
            let consumers: Vec<Consumer> = consumers
                .iter()
                .filter(|consumer| !is_new(consumer))
                .cloned()
                .collect();
            // Which of them end, nothing tells: so many that those who are left do not suffice to keep it out.
            let suffices = |ends: usize, old: usize| ends + consumers.len() >= old + count;
            match rollout {
                Rollout::Keeps { surge, unavailable } => {
                    let one = Strategy::RollingUpdate {
                        surge: 0,
                        unavailable: 1,
                    };
                    let then = Rollout::by(self.cluster(), pod, deployment, one);
                    let several = deployment.replicas.is_some_and(|replicas| replicas > 1);
                    Kept::Rollout {
                        surge,
                        unavailable,
                        one_by_one: several
                            && matches!(then, Rollout::Ends(ends, old) if suffices(ends, old)),
                    }
                }
                Rollout::Paused => Kept::Paused,
                how @ (Rollout::Ends(ends, old) | Rollout::Continues(ends, old)) => {
                    let starting = self
                        .cluster()
                        .pods()
                        .filter(|pod| is_beside(pod) && is_starting(pod));
                    return suffices(ends, old).then(|| Waiting::RolledOut {
                        once_ready: match how {
                            Rollout::Continues(..) => starting.map(|pod| pod.key()).collect(),
                            _ => Vec::new(),
                        },
                        consumers,
                        owner,
                        nodes: nodes.to_vec(),
                    });
                }
            }
        };
        Some(kept(owner, why))
    }

    /// Returns why a consumer is spared, if so.
    fn why(&self, consumer: &Consumer) -> Option<Spared> {
        match consumer {
            Consumer::Pod(key) => self.sparing.pod(self.cluster().pod(key)?),
            Consumer::PodGroup(key) => self.sparing.group(key),
        }
    }

    /// A minimal set of consumers that must finish for the subject to fit on the node.
    fn needed(&self, around: &Around) -> Option<BTreeSet<Consumer>> {
        let mut needed = around.consumers();
        if needed.is_empty() || !self.fits_around(around, &needed) {
            return None;
        }
        for consumer in needed.clone() {
            if self.is_spent() {
                break;
            }
            let mut fewer = needed.clone();
            fewer.remove(&consumer);
            if self.fits_around(around, &fewer) {
                needed = fewer;
            }
        }
        Some(needed)
    }

    /// All who hold devices of the node, if any `count` of them suffice.
    fn any_of(&self, around: &Around, count: usize) -> Option<BTreeSet<Consumer>> {
        let all = around.consumers();
        if all.len() <= count {
            return None;
        }
        let mut subsets = all.iter().combinations(count);
        for some in subsets.by_ref().take(MOST_SUBSETS) {
            let some = some.into_iter().cloned().collect();
            if self.is_spent() || !self.fits_around(around, &some) || self.fits(&some).is_none() {
                return None;
            }
        }
        let are_all = subsets.next().is_none();
        are_all.then_some(all)
    }

    fn around(&self, node: &Str) -> Option<Around> {
        let cluster = self.cluster();
        let node = cluster.node(node)?;
        let pods = self.subject.pod().map_or(&[][..], std::slice::from_ref);
        let part = self.localities.around(cluster, node, &self.own, pods);
        let mut keys = self.localities.holders(cluster, &node.metadata.name);
        keys.extend(self.own.iter().map(|claim| claim.key()));
        let held = keys.iter().filter_map(|key| cluster.claim(key));
        let held: Held = held.filter_map(|claim| self.holding(claim)).collect();
        let scheduler = self.scheduler.beside(&part);
        Some(Around {
            node: Arc::clone(node),
            others: self.others(node, &scheduler, &held),
            scheduler,
            held,
            cluster: part,
        })
    }

    /// Pods of the node that hold none of its devices and may end, where a plain filter rejects the node that counts what pods take.
    fn others(&self, node: &Arc<Node>, scheduler: &Scheduler, held: &Held) -> BTreeSet<Consumer> {
        let Start::Cycle(cycle) = self.subject.start(scheduler) else {
            return BTreeSet::new();
        };
        self.trials.set(self.trials.get() + 1);
        let Verdict::Plain(plain) = self.effort.judge(&cycle, node).verdict else {
            return BTreeSet::new();
        };
        if !plain.preemption_may_help() {
            return BTreeSet::new();
        }
        let known: BTreeSet<&Consumer> = held.values().flatten().collect();
        let may_end = |pod: &&Arc<Pod>| {
            // A pod of the node or of a DaemonSet is recreated immediately.
            let owner = pod.metadata.controller();
            let is_bound_to_node =
                owner.is_some_and(|owner| owner.kind == "Node" || owner.kind == "DaemonSet");
            let is_spared = self.spares && self.sparing.pod(pod).is_some();
            !(pod.is_terminal() || is_bound_to_node || is_spared)
        };
        let pods = self.cluster().pods_of_node(&node.metadata.name).filter(may_end);
        let others = pods.map(|pod| Consumer::Pod(pod.key()));
        others.filter(|consumer| !known.contains(consumer)).collect()
    }

    /// A claim with devices, and the pods whose end releases them. None if no pod's end does.
    fn holding(&self, claim: &Claim) -> Option<(Key, BTreeSet<Consumer>)> {
        if !claim.results().iter().any(|result| result.takes()) {
            return None;
        }
        let mut consumers = BTreeSet::new();
        for entry in self.sparing.consumers(claim) {
            let key = claim.metadata.beside(&entry.name);
            if entry.is_pod() {
                // The claim controller removes the entries of pods that are gone with that of the last one.
                if !is_former(self.cluster(), claim, entry) {
                    self.cluster().pod(&key)?;
                    consumers.insert(Consumer::Pod(key));
                }
            } else if entry.is_pod_group() {
                self.cluster().pod_group(&key)?;
                consumers.insert(Consumer::PodGroup(key));
            } else {
                return None;
            }
        }
        if self.spares && consumers.iter().any(|consumer| self.why(consumer).is_some()) {
            return None;
        }
        (!consumers.is_empty()).then(|| (claim.key(), consumers))
    }

    /// Returns whether the subject fits on the node when these have ended.
    fn fits_around(&self, around: &Around, ended: &BTreeSet<Consumer>) -> bool {
        self.trials.set(self.trials.get() + 1);
        let mut cluster = around.cluster.clone();
        end(&mut cluster, &around.held, ended);
        let scheduler = around.scheduler.fork(&cluster);
        match &self.subject.start(&scheduler) {
            Start::Cycle(cycle) => self.effort.judge(cycle, &around.node).verdict.fits(),
            _ => false,
        }
    }

    /// Nodes that the subject fits on after these have finished in the whole cluster. None if the scheduler fails.
    fn fits(&self, ended: &BTreeSet<Consumer>) -> Option<Vec<Str>> {
        let mut cluster = self.cluster().clone();
        let held = self.cluster().claims().filter(|claim| {
            let reserved = claim.status.reserved_for.first();
            reserved.is_some_and(|entry| ended.iter().any(|consumer| consumer.key().name == entry.name))
                || claim.status.reserved_for.len() > 1
        });
        let held: Held = held.filter_map(|claim| self.holding(claim)).collect();
        let pools = end(&mut cluster, &held, ended);
        // What is free now, and whose place: all other nodes are as they were.
        let left: BTreeSet<&Str> = ended
            .iter()
            .filter_map(|consumer| self.cluster().pod(consumer.key())?.node())
            .collect();
        let is_own = |claim: &Arc<Claim>| held.contains_key(&claim.key());
        let is_everywhere = self.own.iter().any(is_own);
        self.fits_among(&cluster, |node| {
            let name = &node.metadata.name;
            is_everywhere
                || left.contains(name)
                || self.localities.pools(name).any(|pool| pools.contains(pool))
        })
    }

    /// Returns the nodes that the subject fits on when no pod finishes but claims like that are deallocated, with the claims that matter.
    fn deallocated(&self, is_left: impl Fn(&Claim) -> bool) -> Option<(Vec<Key>, Vec<Str>)> {
        let takes = |claim: &&Arc<Claim>| claim.results().iter().any(AllocatedDevice::takes);
        let left = self
            .cluster()
            .claims()
            .filter(takes)
            .filter(|claim| is_left(claim));
        let mut claims: Vec<Key> = left.map(|claim| claim.key()).collect();
        if claims.is_empty() {
            return None;
        }
        let mut cluster = self.cluster().clone();
        for claim in &claims {
            release(&mut cluster, claim);
        }
        let nodes = self.fits_in(&cluster)?;
        // What is left over elsewhere has nothing to do with it.
        let near = nodes
            .iter()
            .flat_map(|node| self.localities.holders(self.cluster(), node));
        let mut near: BTreeSet<Key> = near.collect();
        near.extend(self.own.iter().map(|claim| claim.key()));
        claims.retain(|claim| near.contains(claim));
        Some((claims, nodes))
    }

    /// Returns whether the subject fits when no pod finishes but devices lose their taints.
    fn untainted(&self, emptied: &Cluster, fitting: &[Str]) -> Option<Waiting> {
        let mut cluster = self.cluster().clone();
        let pools: BTreeSet<&PoolId> = fitting
            .iter()
            .flat_map(|node| self.localities.pools(node))
            .collect();
        let mut is_tainted = false;
        for id in pools {
            for slice in self.cluster().pool(id).into_iter().flat_map(|pool| pool.slices) {
                let Some(clean) = emptied.slice(&slice.metadata.name) else {
                    continue;
                };
                if !Arc::ptr_eq(clean, slice) {
                    cluster.apply(Change::Put(Object::ResourceSlice(Arc::clone(clean))));
                    is_tainted = true;
                }
            }
        }
        let rules: Vec<Key> = self.cluster().rules().map(|rule| rule.metadata.key()).collect();
        is_tainted |= !rules.is_empty();
        for rule in rules {
            cluster.apply(Change::Delete(Kind::DeviceTaintRule, rule));
        }
        if !is_tainted {
            return None;
        }
        self.fits_in(&cluster).map(Waiting::Untainted)
    }

    /// The nodes that the subject fits on once those of `fitting` that `change` can change are changed.
    fn changed(&self, fitting: &[Str], change: fn(&mut NodeSpec)) -> Option<Vec<Str>> {
        let mut cluster = self.cluster().clone();
        let mut is_changed = false;
        for node in fitting.iter().filter_map(|name| self.cluster().node(name)) {
            let changed = changed(node, change);
            is_changed |= !Arc::ptr_eq(&changed, node);
            cluster.apply(Change::Put(Object::Node(changed)));
        }
        is_changed.then(|| self.fits_in(&cluster)).flatten()
    }

    /// The nodes of `cluster` that the subject fits on; nothing if there are none, or if some are unknown.
    fn fits_in(&self, cluster: &Cluster) -> Option<Vec<Str>> {
        self.fits_among(cluster, |_| true)
    }

    /// The same among some nodes.
    fn fits_among(&self, cluster: &Cluster, is_one: impl Fn(&Node) -> bool) -> Option<Vec<Str>> {
        let scheduler = self.scheduler.fork(cluster);
        let start = self.subject.start(&scheduler);
        let Start::Cycle(cycle) = &start else { return None };
        let nodes: Vec<&Arc<Node>> = cluster.nodes().filter(|node| is_one(node)).collect();
        let answers = self.effort.judge_all(cycle, &nodes);
        let fits = fitting(&answers);
        let is_known = error(&answers).is_none() && !cycle.meter().is_exhausted();
        (is_known && !fits.is_empty()).then_some(fits)
    }
}

impl Consumer {
    /// Its namespace and name.
    pub fn key(&self) -> &Key {
        match self {
            Self::Pod(key) | Self::PodGroup(key) => key,
        }
    }
}

/// Ends `ended` in `cluster`: their pods go, and claims are deallocated that only they hold. Returns the pools of what is free then.
fn end(cluster: &mut Cluster, held: &Held, ended: &BTreeSet<Consumer>) -> BTreeSet<PoolId> {
    let mut pools = BTreeSet::new();
    for (key, consumers) in held {
        if !consumers.is_subset(ended) {
            continue;
        }
        if let Some(claim) = cluster.claim(key) {
            pools.extend(claim.results().iter().map(|result| result.id().pool_id()));
        }
        release(cluster, key);
    }
    for consumer in ended {
        let pods: Vec<Key> = match consumer {
            Consumer::Pod(key) => vec![key.clone()],
            Consumer::PodGroup(key) => cluster.pods_of_group(key).map(|pod| pod.key()).collect(),
        };
        for pod in pods {
            cluster.apply(Change::Delete(Kind::Pod, pod));
        }
    }
    pools
}
