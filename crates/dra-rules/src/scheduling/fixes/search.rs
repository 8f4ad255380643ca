//! Trying sets of changes, smallest first.
//!
//! For each node, sets of the changes that can matter for it are made in the part of the cluster around the node and judged there. What
//! helps is made in the whole cluster and judged once more on all nodes, since a change of a claim can raise an error on another
//! node. Sets of one size are only tried once no smaller one helped, so nothing smaller suffices, and no part of what is found.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use itertools::Itertools;

use super::candidates::{MOST_CANDIDATES, all, of_claims, rank};
use super::change::Fix;
use crate::reservation::claim_names;
use crate::scheduling::cycle::{Cycle, Scheduler, Start};
use crate::scheduling::locality::Localities;
use crate::scheduling::parallel::{Run, judge_all};
use crate::scheduling::spared::Sparing;
use crate::scheduling::verdict::{Granted, Judgment, Verdict};
use dra_allocator::{Budget, Observer};
use dra_model::{Claim, Cluster, DeviceRequest, Key, Kind, Node, Pod, PoolId, Str};

/// Steps of one trial: a set of changes that takes more to judge is no answer anybody waits for.
const MOST_STEPS: u64 = 200_000;

/// Subject to make fit.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A pod, which is in the cluster.
    Pod(Arc<Pod>),
    /// Claims, which are in the cluster.
    Claims(Vec<Key>),
}

impl Subject {
    /// The claims that are to be allocated, or are already.
    pub fn own_claims(&self, cluster: &Cluster) -> Vec<Arc<Claim>> {
        match self {
            Self::Claims(keys) => keys
                .iter()
                .filter_map(|key| cluster.claim(key).cloned())
                .collect(),
            Self::Pod(pod) => {
                let names = crate::reservation::claim_names(pod);
                names.filter_map(|name| name.find(cluster).cloned()).collect()
            }
        }
    }

    /// The pod, if it is one.
    pub(in crate::scheduling) fn pod(&self) -> Option<&Arc<Pod>> {
        match self {
            Self::Pod(pod) => Some(pod),
            Self::Claims(_) => None,
        }
    }

    /// Begins its cycle.
    pub fn start<'a>(&'a self, scheduler: &'a Scheduler) -> Start<'a> {
        match self {
            Self::Pod(pod) => scheduler.pod(pod),
            Self::Claims(_) => scheduler.claims(&self.own_claims(scheduler.cluster())),
        }
    }
}

/// Limits of the search.
pub struct Effort<'e> {
    /// Sets of changes that are judged around a node.
    pub trials: u64,
    /// Most changes in a set.
    pub most_changes: usize,
    /// Number of sets to report.
    pub most_found: usize,
    /// True if an error ends the attempt as it is, so that terms are tried that do not fail.
    pub fails: bool,
    /// Steps that all searches may take together.
    pub budget: &'e Budget,
    /// Callback that decides whether to continue.
    pub observer: &'e (dyn Observer + Sync),
    /// Runs the judging of all nodes.
    pub run: Run<'e>,
}

impl Effort<'_> {
    /// Judges one node.
    pub(in crate::scheduling) fn judge(&self, cycle: &Cycle<'_>, node: &Node) -> Judgment {
        let judgment = cycle.judge(node, self.budget.limits(MOST_STEPS), self.observer);
        self.budget.spend(judgment.work);
        judgment
    }

    /// Judges all of `nodes`.
    pub(in crate::scheduling) fn judge_all<'n>(
        &self,
        cycle: &Cycle<'_>,
        nodes: &[&'n Arc<Node>],
    ) -> Vec<(&'n Arc<Node>, Judgment)> {
        judge_all(cycle, nodes, self.budget, self.observer, self.run)
    }

    /// Returns whether nothing more may be judged in the cluster.
    pub(in crate::scheduling) fn is_spent(&self, cluster: &Cluster) -> bool {
        self.budget.is_spent() || self.observer.cancelled() || cluster.meter().exhausted().is_some()
    }
}

/// A set of changes that suffices.
#[derive(Clone, Debug)]
pub struct Found {
    /// The changes.
    pub changes: Vec<Fix>,
    /// Nodes that it then fits on.
    pub nodes: Vec<Str>,
    /// Its devices on the first of them.
    pub granted: Vec<Granted>,
    /// True if fewer changes cannot suffice.
    pub smallest: bool,
}

/// Found fixes.
#[derive(Clone, Debug, Default)]
pub struct Fixes {
    /// Sets of changes that suffice, cheapest first.
    pub found: Vec<Found>,
    /// True if everything that could be smaller or as small was tried.
    pub complete: bool,
}

/// The smallest sets of changes of the scheduler's cluster that make `subject` fit on a node.
pub fn smallest(scheduler: &Scheduler, subject: &Subject, effort: &Effort<'_>) -> Fixes {
    let cluster = scheduler.cluster();
    let own = subject.own_claims(cluster);
    let mut search = Search {
        cluster,
        subject,
        effort,
        sparing: Sparing::of(cluster, subject.pod(), &own),
        own,
        of_claims: Vec::new(),
        localities: Localities::of(cluster),
        scheduler,
        subject_looks: 0,
        trials: 0,
        undecided: false,
        smaller_fail: true,
        found: Vec::new(),
    };
    search.of_claims = of_claims(cluster, &search.own, effort.fails);
    let parts: usize = search.own.iter().map(|claim| parts(claim)).sum();
    search.subject_looks = parts * LOOKS_PER_PART;
    let mut nodes: Vec<&Arc<Node>> = cluster.nodes().collect();
    // On those, something else than the end of other pods may help.
    let free = free_devices(cluster);
    nodes.sort_by_key(|node| Reverse(free.get(&node.metadata.name)));
    let mut kept = Kept::of(&nodes);
    let mut exhausted = true;
    for size in 1..=effort.most_changes {
        search.smaller_fail = !search.undecided;
        for place in 0..nodes.len() {
            if kept.may_have(place, size) {
                let around = kept.around(place, &search);
                exhausted &= search.sets_of(&around, size);
            }
            if search.found.len() >= effort.most_found || search.is_spent() {
                // Nodes that had no turn may have as small a set.
                exhausted = false;
                break;
            }
        }
        if !search.found.is_empty() || search.is_spent() {
            break;
        }
    }
    if search.found.is_empty() {
        search.greedy(&mut kept);
        exhausted = false;
    }
    // A template that requests something else already is not changed to what its claim requests, only with less.
    let of_template = |fix: &Fix| match fix {
        Fix::RenewClaim { claim, .. } => Some(claim.clone()),
        _ => None,
    };
    let renewed: BTreeSet<Key> = search
        .found
        .iter()
        .flat_map(|found| found.changes.iter().filter_map(of_template))
        .collect();
    let is_outdated = |fix: &Fix| fix.edits_claim().is_some_and(|claim| renewed.contains(claim));
    search
        .found
        .retain(|found| !found.changes.iter().any(is_outdated));
    let complete = exhausted && !search.undecided && !search.is_spent();
    let all = search.found;
    let is_best = |one: &Found| {
        let better = |other: &&Found| other.changes != one.changes && is_dearer(&one.changes, &other.changes);
        !all.iter().any(|other| better(&other))
    };
    let namespace = search.own.first().map(|claim| &claim.metadata.namespace);
    let mut found: Vec<Found> = all.iter().filter(|one| is_best(one)).cloned().collect();
    found.sort_by_key(|found| {
        let ranks: Vec<_> = found
            .changes
            .iter()
            .map(|fix| rank(cluster, namespace, fix))
            .collect();
        (found.changes.len(), ranks.iter().map(|rank| rank.0).max(), ranks)
    });
    Fixes { found, complete }
}

/// The number of devices of each node alone that no claim holds, or only one of pods that are to end.
fn free_devices(cluster: &Cluster) -> HashMap<&Str, usize> {
    let mut free: HashMap<&Str, usize> = HashMap::new();
    let mut nodes = HashMap::new();
    for slice in cluster.slices() {
        if let Some(node) = &slice.spec.node_name {
            *free.entry(node).or_default() += slice.spec.devices.len();
            nodes.insert((&slice.spec.driver, &slice.spec.pool.name), node);
        }
    }
    let ending = cluster.pods().filter(|pod| pod.metadata.is_deleting());
    let of_ending: HashSet<Key> = ending
        .flat_map(|pod| claim_names(pod))
        .filter_map(|name| Some(name.find(cluster)?.key()))
        .collect();
    let are_ending = |claim: &Claim| {
        let key = claim.key();
        of_ending.contains(&key) && cluster.pods_of_claim(&key).all(|pod| pod.metadata.is_deleting())
    };
    let mut last = None;
    for (device, claim) in cluster.allocated_devices() {
        let node = nodes.get(&(&device.driver, &device.pool));
        if last != Some(device)
            && (of_ending.is_empty() || !are_ending(claim))
            && let Some(free) = node.and_then(|node| free.get_mut(*node))
        {
            *free = free.saturating_sub(1);
        }
        last = Some(device);
    }
    free
}

struct Search<'s> {
    cluster: &'s Cluster,
    subject: &'s Subject,
    effort: &'s Effort<'s>,
    /// The claims of the subject.
    own: Vec<Arc<Claim>>,
    /// Changes of what they ask for.
    of_claims: Vec<Fix>,
    localities: Localities,
    sparing: Sparing<'s>,
    /// Of the cluster as it is.
    scheduler: &'s Scheduler,
    /// Cost of preparing the subject for a trial.
    subject_looks: usize,
    trials: u64,
    /// True if the judging of a set gave up, so that it may suffice.
    undecided: bool,
    /// True if all sets with fewer changes than those that are tried now are known not to suffice.
    smaller_fail: bool,
    found: Vec<Found>,
}

/// A node with the part of the cluster around it, and the changes that can matter there.
struct Around {
    node: Arc<Node>,
    cluster: Cluster,
    /// Prepared for the first trial: there is none on most nodes.
    scheduler: OnceCell<Scheduler>,
    candidates: Vec<Fix>,
    /// True if there are no more.
    are_all: bool,
}

impl Around {
    /// Returns how much it takes to keep it.
    fn size(&self) -> usize {
        let cluster = &self.cluster;
        let devices = cluster.slices().map(|slice| slice.spec.devices.len());
        let objects = Kind::all().map(|kind| cluster.count(kind));
        SIZE_OF_A_CLUSTER + devices.chain(objects).sum::<usize>() + self.candidates.len()
    }
}

/// For how many objects that are looked at each part of a claim counts that is prepared for a trial.
const LOOKS_PER_PART: usize = 16;

/// Returns how many parts a claim has.
fn parts(claim: &Claim) -> usize {
    let devices = &claim.spec.devices;
    let of_spec = |spec: &DeviceRequest| {
        let amounts = spec
            .capacity
            .as_ref()
            .map_or(0, |capacity| capacity.requests.len());
        1 + spec.selectors.len() + spec.tolerations.len() + amounts
    };
    let requests = claim.spec.asked().map(of_spec);
    let of_status = claim.results().len() + claim.status.reserved_for.len();
    requests.sum::<usize>() + devices.constraints.len() + devices.config.len() + of_status
}

/// For how many objects a cluster counts that is kept, however few it has.
const SIZE_OF_A_CLUSTER: usize = 50;

/// Objects and devices around nodes that are kept: some 100 MB.
const MOST_KEPT: usize = 500_000;

/// Surroundings of nodes, built on demand, because fixes are often found on the first ones.
struct Kept<'n> {
    nodes: &'n [&'n Arc<Node>],
    /// Number of nodes that had a turn.
    seen: usize,
    known: Vec<Option<Rc<Around>>>,
    /// By node, how many changes can matter there.
    candidates: Vec<Option<usize>>,
    /// Number of additional results to keep. The rest is recomputed.
    room: usize,
}

impl<'n> Kept<'n> {
    fn of(nodes: &'n [&'n Arc<Node>]) -> Self {
        Self {
            nodes,
            seen: 0,
            known: vec![None; nodes.len()],
            candidates: vec![None; nodes.len()],
            room: MOST_KEPT,
        }
    }

    /// Returns whether the node may have a set of so many changes.
    fn may_have(&self, place: usize, size: usize) -> bool {
        self.candidates[place].is_none_or(|candidates| candidates >= size)
    }

    fn around(&mut self, place: usize, search: &Search<'_>) -> Rc<Around> {
        self.seen = self.seen.max(place + 1);
        if let Some(known) = &self.known[place] {
            return Rc::clone(known);
        }
        let made = Rc::new(search.around(self.nodes[place]));
        self.candidates[place] = Some(made.candidates.len());
        if let Some(room) = self.room.checked_sub(made.size()) {
            self.room = room;
            self.known[place] = Some(Rc::clone(&made));
        }
        made
    }
}

impl Search<'_> {
    fn is_spent(&self) -> bool {
        self.trials >= self.effort.trials || self.is_out_of_work()
    }

    /// Returns whether nothing more may be judged, however few sets were tried.
    fn is_out_of_work(&self) -> bool {
        self.effort.is_spent(self.cluster)
    }

    fn around(&self, node: &Arc<Node>) -> Around {
        let pod = self.subject.pod();
        let cluster = self.localities.around(
            self.cluster,
            node,
            &self.own,
            pod.map_or(&[], std::slice::from_ref),
        );
        let mut candidates = all(
            &cluster,
            &self.localities,
            node,
            pod.map(|pod| &**pod),
            &self.own,
            (&self.of_claims, &self.sparing),
            self.scheduler.now(),
        );
        let are_all = candidates.len() <= MOST_CANDIDATES;
        candidates.truncate(MOST_CANDIDATES);
        Around {
            node: Arc::clone(node),
            cluster,
            scheduler: OnceCell::new(),
            candidates,
            are_all,
        }
    }

    /// Tries the sets of `size` changes for a node. Returns whether all were.
    fn sets_of(&mut self, node: &Around, size: usize) -> bool {
        for set in node.candidates.iter().combinations(size) {
            if self.found.len() >= self.effort.most_found || self.is_spent() {
                return false;
            }
            self.try_set(node, set.into_iter().cloned().collect());
        }
        node.are_all
    }

    fn try_set(&mut self, node: &Around, set: Vec<Fix>) {
        let mut pairs = set.iter().array_combinations();
        if pairs.any(|[one, other]| one.excludes(other)) {
            return;
        }
        if self
            .found
            .iter()
            .any(|known| known.changes == set || is_dearer(&set, &known.changes))
        {
            return;
        }
        self.trials += 1;
        if !self.fits_around(node, &set) {
            return;
        }
        let (nodes, granted) = self.fits(&set);
        if !nodes.is_empty() {
            self.found.push(Found {
                changes: set,
                nodes,
                granted,
                smallest: self.smaller_fail,
            });
        }
    }

    /// Returns whether `set` makes the subject fit on the node.
    fn fits_around(&mut self, node: &Around, set: &[Fix]) -> bool {
        self.cluster.meter().look(set.len() + self.subject_looks);
        let mut cluster = node.cluster.clone();
        let subject = self.changed(&mut cluster, set);
        let scheduler = node
            .scheduler
            .get_or_init(|| self.scheduler.beside(&node.cluster))
            .fork(&cluster);
        let Some(node) = cluster.node(&node.node.metadata.name).cloned() else {
            return false;
        };
        match &subject.start(&scheduler) {
            Start::Cycle(cycle) => {
                let judgment = self.effort.judge(cycle, &node);
                self.undecided |= matches!(judgment.verdict, Verdict::GaveUp);
                judgment.verdict.fits()
            }
            _ => false,
        }
    }

    /// The nodes that the subject fits on after `set`, unless the scheduler fails, and its devices on the first of
    /// them. None where an expression was not tried, which may fail and end the attempt for all nodes.
    fn fits(&mut self, set: &[Fix]) -> (Vec<Str>, Vec<Granted>) {
        let none = (Vec::new(), Vec::new());
        let mut cluster = self.cluster.clone();
        let subject = self.changed(&mut cluster, set);
        let scheduler = self.scheduler.fork(&cluster);
        let start = subject.start(&scheduler);
        let Start::Cycle(cycle) = &start else {
            return none;
        };
        let freed = self.freed(set);
        let is_touched = |node: &&Arc<Node>| {
            let mut pools = self.localities.pools(&node.metadata.name);
            freed
                .as_ref()
                .is_none_or(|freed| pools.any(|pool| freed.contains(pool)))
        };
        let nodes: Vec<&Arc<Node>> = cluster.nodes().filter(is_touched).collect();
        let answers = self.effort.judge_all(cycle, &nodes);
        if answers
            .iter()
            .any(|(_, judgment)| matches!(judgment.verdict, Verdict::Error(_)))
        {
            return none;
        }
        let gave_up = answers
            .iter()
            .any(|(_, judgment)| matches!(judgment.verdict, Verdict::GaveUp));
        if gave_up && cycle.meter().is_exhausted() {
            self.undecided = true;
            return none;
        }
        let mut first = Vec::new();
        let mut fits = Vec::new();
        for (node, judgment) in answers {
            if let Verdict::Fits(granted) = judgment.verdict {
                if fits.is_empty() {
                    first = granted;
                }
                fits.push(node.metadata.name.clone());
            }
        }
        (fits, first)
    }

    /// The pools whose devices `set` frees, where it does nothing else: nodes that they do not reach take the subject as little as before.
    fn freed(&self, set: &[Fix]) -> Option<BTreeSet<PoolId>> {
        let mut pools = BTreeSet::new();
        for fix in set {
            let Fix::Release { claim, .. } = fix else {
                return None;
            };
            if self.effort.fails || self.own.iter().any(|own| own.key() == *claim) {
                return None;
            }
            let results = self.cluster.claim(claim)?.results();
            pools.extend(results.iter().map(|result| result.id().pool_id()));
        }
        Some(pools)
    }

    /// Makes the changes, and returns the subject as it is then.
    fn changed(&self, cluster: &mut Cluster, set: &[Fix]) -> Subject {
        let mut pod = self.subject.pod().cloned();
        Fix::apply_all(set, cluster, &mut pod);
        pod.map_or_else(|| self.subject.clone(), Subject::Pod)
    }

    /// Makes every change that can be made together, and undoes one after the other what is not needed.
    fn greedy(&mut self, nodes: &mut Kept<'_>) {
        for place in 0..nodes.seen {
            if self.is_out_of_work() {
                return;
            }
            if !nodes.may_have(place, 1) {
                continue;
            }
            let node = &*nodes.around(place, self);
            let mut set: Vec<Fix> = Vec::new();
            for candidate in &node.candidates {
                let is_release = matches!(candidate, Fix::Release { .. });
                if is_release && !set.iter().any(|known| known.excludes(candidate)) {
                    set.push(candidate.clone());
                }
            }
            if set.is_empty() || !self.fits_around(node, &set) {
                continue;
            }
            // The dearest goes first.
            for candidate in set.clone().into_iter().rev() {
                if self.is_out_of_work() {
                    return;
                }
                let less: Vec<Fix> = set.iter().filter(|known| **known != candidate).cloned().collect();
                if self.fits_around(node, &less) {
                    set = less;
                }
            }
            let (nodes, granted) = self.fits(&set);
            if !nodes.is_empty() {
                self.found.push(Found {
                    changes: set,
                    nodes,
                    granted,
                    smallest: false,
                });
                return;
            }
        }
    }
}

/// Returns whether `set` is what is known already, only with fewer devices or less of a capacity.
fn is_dearer(set: &[Fix], known: &[Fix]) -> bool {
    let dearer = |one: &Fix, other: &Fix| {
        one == other
            || match (one, other) {
                (Fix::LessCapacity { amount, .. }, Fix::LessCapacity { amount: more, .. })
                | (Fix::LessResource { amount, .. }, Fix::LessResource { amount: more, .. }) => {
                    amount <= more && one.excludes(other)
                }
                (Fix::Fewer { count, .. }, Fix::Fewer { count: more, .. }) => {
                    count <= more && one.excludes(other)
                }
                _ => false,
            }
    };
    set.len() == known.len() && set.iter().zip(known).all(|(one, other)| dearer(one, other))
}
