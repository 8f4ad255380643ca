//! The state of a simulation, and its clock.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::nodes::is_lost;
use super::record::Record;
use super::replacement::replacement;
use super::timeline::{Happening, What};
use crate::controllers::{
    Action, Actor, Answer, ControllerName, EVICTION_EVENT, Engine, Features, Lookup, Notice, Origin, Outcome,
    Owner, Plan, PodRef, ResourceClaims, TaintEviction, Work,
};
use crate::eviction::Release;
use crate::owners::Replacing;
use crate::reservation::lost_pod;
use dra_model::{
    Allocation, CREATION_EVENT, Change, Cluster, ConsumerReference, FINALIZER, Key, Kind, Object, Pod, Str,
    TaintRule, Time,
};

/// So many writes of one object at one instant are a loop: as of v1.37 the claim controller takes the entry of a pod that has ended
/// out of a shared claim and puts it in again for as long as the pod's object exists, and the status of a PodGroup with several
/// templates keeps only the claims that were made last.
const WRITES_OF_A_LOOP: usize = 20;

/// So many writes an object that loops may still have at each further instant, for what else happens to it.
const FURTHER_WRITES: usize = 4;

/// Controller tasks that a simulation executes per initial object, and in addition. More tasks mean an endless loop.
const TASKS_PER_OBJECT: u64 = 100;
const FURTHER_TASKS: u64 = 100_000;

/// So often what failed is tried again while nothing else happens.
const IDLE_RETRIES: u32 = 5;

/// Says where a pod can go.
pub trait Scheduler {
    /// Returns where `pod`, which is in `cluster`, fits now.
    fn place(&mut self, cluster: &Cluster, pod: &Arc<Pod>, now: Time) -> Placement;
}

/// Possible nodes of a pod.
#[derive(Clone, Debug)]
pub enum Placement {
    /// There.
    Fits {
        /// Every node that it fits on, by name; at least one.
        nodes: Vec<Str>,
        /// New allocations of its claims on the first of them.
        allocations: Vec<(Key, Allocation)>,
    },
    /// Nowhere.
    DoesNotFit {
        /// In the scheduler's words.
        message: String,
    },
    /// It is unknown.
    Unknown {
        /// The reason.
        why: String,
    },
}

/// A replacement of an evicted pod.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    /// The pod that it replaces.
    pub(super) original: PodRef,
    /// Last reported placement.
    pub(super) placement: Option<Placement>,
}

/// A cluster with its controllers on a virtual clock.
pub struct World<'s> {
    engine: Engine,
    pub(super) now: Time,
    pub(super) release: Release,
    scheduler: Option<&'s mut dyn Scheduler>,
    /// Pods that are being deleted, by the latest time of their deletion; those of one time in any order.
    pub(super) ending: BTreeMap<Time, Vec<PodRef>>,
    /// UIDs of pods that are gone, whose claims are garbage.
    pub(super) garbage: BTreeSet<Str>,
    /// Replacements, by what they are called.
    pub(super) replacements: BTreeMap<PodRef, Replacement>,
    /// Replacements that wait for a node.
    waiting: BTreeSet<PodRef>,
    /// True if something happened since the scheduler was asked last.
    stirred: bool,
    happenings: Vec<Happening>,
    /// Writes per object at this instant.
    writes: HashMap<(Kind, Key), usize, RandomState>,
    looping: BTreeSet<(Kind, Key)>,
    /// Already reported claims that cannot be created, by UID of the owner.
    told: BTreeSet<(Str, String)>,
    idle_retries: u32,
    numbers: usize,
    /// Tasks that may still be carried out.
    pub(super) tasks: u64,
    gave_up: bool,
    /// Record, in a rehearsal.
    pub(super) record: Option<Record>,
}

impl<'s> World<'s> {
    /// The cluster at `now`, whose controllers have run for a long time and have only future work left. Without a
    /// scheduler, replacements stay pending forever.
    pub fn new(cluster: Cluster, now: Time, scheduler: Option<&'s mut dyn Scheduler>) -> Self {
        Self::with(cluster, now, scheduler, |_, features| {
            ResourceClaims::idle(features)
        })
    }

    pub(super) fn with(
        mut cluster: Cluster,
        now: Time,
        scheduler: Option<&'s mut dyn Scheduler>,
        claims: impl FnOnce(&Cluster, Features) -> ResourceClaims,
    ) -> Self {
        tell_rules_apart(&mut cluster);
        let release = Release::of(cluster.environment());
        let eviction = TaintEviction::resume(&cluster, release, now);
        let claims = claims(&cluster, Features::of(cluster.environment())).knowing_all();
        let kinds = [
            Kind::Pod,
            Kind::PodGroup,
            Kind::ResourceClaim,
            Kind::DeviceTaintRule,
        ];
        let objects: usize = kinds.into_iter().map(|kind| cluster.count(kind)).sum();
        let tasks = TASKS_PER_OBJECT
            .saturating_mul(objects as u64)
            .saturating_add(FURTHER_TASKS);
        let mut ending: BTreeMap<Time, Vec<PodRef>> = BTreeMap::new();
        for pod in cluster.pods().filter(|pod| !is_lost(&cluster, pod)) {
            if let Some(at) = pod.metadata.deletion_timestamp {
                ending.entry(at.max(now)).or_default().push(PodRef::of(pod));
            }
        }
        Self {
            engine: Engine::new(cluster, Some(claims), Some(eviction)),
            now,
            release,
            scheduler,
            ending,
            garbage: BTreeSet::new(),
            replacements: BTreeMap::new(),
            waiting: BTreeSet::new(),
            stirred: false,
            happenings: Vec::new(),
            writes: HashMap::default(),
            looping: BTreeSet::new(),
            told: BTreeSet::new(),
            idle_retries: 0,
            numbers: 0,
            tasks,
            gave_up: false,
            record: None,
        }
    }

    /// The cluster as it is now.
    pub fn cluster(&self) -> &Cluster {
        self.engine.cluster()
    }

    /// Returns what has happened so far, in order.
    pub fn happenings(&self) -> &[Happening] {
        &self.happenings
    }

    /// Returns whether the simulation ended before nothing was left to happen, as too much did.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Objects that a controller writes without end: claims, and pods and PodGroups for their statuses.
    pub fn looping(&self) -> &BTreeSet<(Kind, Key)> {
        &self.looping
    }

    /// Returns why the result is incomplete, in sentences without a full stop.
    pub fn troubles(&self) -> Vec<String> {
        let mut troubles = Vec::new();
        if self.gave_up {
            troubles.push(format!(
                "the simulation stopped at {}: it took more steps than controllers need for this many \
                objects, so the result may be incomplete",
                self.now
            ));
        }
        troubles.extend(self.looping.iter().map(|(kind, key)| match kind {
            Kind::ResourceClaim => format!(
                "the claim controller keeps rewriting claim/{key} because of a finished pod that still \
                exists: its entries may be either"
            ),
            _ => format!(
                "the claim controller keeps rewriting the status of {kind} {key}, because each write drops \
                the claims of other entries: it may name either"
            ),
        }));
        troubles
    }

    /// A client changes the cluster: the controllers see it. Nothing happens before [`Self::run`].
    pub fn apply(&mut self, change: Change) {
        self.idle_retries = 0;
        // What a rule's status says moves no pod.
        self.stirred |= !matches!(change, Change::Put(Object::DeviceTaintRule(_)));
        let notices = self.engine.see(change, Origin::Simulation, self.now);
        for Notice::EvictionCancelled(pod) in notices.into_iter().flatten() {
            self.note(&pod.key, &pod.uid, What::EvictionCancelled);
            self.record_event(
                ControllerName::DeviceTaintEviction,
                (Kind::Pod, &pod.key),
                EVICTION_EVENT,
                "Cancelling deletion",
            );
        }
    }

    /// Lets happen what happens, until nothing is left to happen.
    pub fn run(&mut self) {
        self.run_to(None);
    }

    /// Lets happen what happens up to `end`, which it is then.
    pub fn run_until(&mut self, end: Time) {
        self.run_to(Some(end));
        self.now = self.now.max(end);
        self.allow_writes();
    }

    fn run_to(&mut self, end: Option<Time>) {
        loop {
            self.settle();
            if self.gave_up {
                return;
            }
            let Some(next) = self.next_due().filter(|next| end.is_none_or(|end| *next <= end)) else {
                return;
            };
            if next > self.now {
                self.allow_writes();
            }
            self.now = next;
            while let Some(ending) = self.ending.first_entry().filter(|entry| *entry.key() <= next) {
                let mut pods = ending.remove();
                // They are usually sorted, which a sort detects immediately.
                pods.sort();
                pods.dedup();
                for pod in pods {
                    self.remove_pod(&pod);
                }
            }
        }
    }

    /// A new instant: objects may be written again, those that are known to loop a few times.
    fn allow_writes(&mut self) {
        self.writes.clear();
        for object in &self.looping {
            self.writes
                .insert(object.clone(), WRITES_OF_A_LOOP - FURTHER_WRITES);
        }
    }

    fn next_due(&self) -> Option<Time> {
        let retries = (self.idle_retries < IDLE_RETRIES)
            .then(|| self.engine.next_due_of(ControllerName::ResourceClaim, self.now))
            .flatten();
        let evictions = self
            .engine
            .next_due_of(ControllerName::DeviceTaintEviction, self.now);
        let gone = self.ending.keys().next().copied();
        [evictions, retries, gone].into_iter().flatten().min()
    }

    /// Everything that is due now.
    fn settle(&mut self) {
        loop {
            let Some(tasks) = self.tasks.checked_sub(1) else {
                self.gave_up = true;
                return;
            };
            self.tasks = tasks;
            if self.step() || self.collect_garbage() {
            } else if self.stirred {
                self.stirred = false;
                self.schedule();
            } else {
                return;
            }
        }
    }

    /// One job of a controller. Says whether there was one.
    fn step(&mut self) -> bool {
        let Some(job) = self.engine.next(self.now) else {
            return false;
        };
        let retries = self.idle_retries;
        let outcome = match &job.work {
            Work::Look(lookups) => Outcome::Answers(self.look(lookups)),
            Work::Carry(plan) => self.carry(plan),
            Work::Evict { pod, eviction } => self.evict(pod, eviction),
            Work::SetCondition {
                rule, uid, condition, ..
            } => self.set_condition(rule, uid, condition),
        };
        let idle = match (&job.work, &outcome) {
            // What could not be read will not be readable next time either.
            (_, Outcome::Answers(answers)) => answers
                .iter()
                .any(|(_, answer)| matches!(answer, Answer::Failed(_))),
            (Work::Carry(plan), _) => plan.writes.is_empty(),
            _ => false,
        };
        if idle {
            self.idle_retries = retries + 1;
        }
        self.engine.done(job.id, outcome, self.now);
        true
    }

    /// Treats objects that the cluster does not contain as missing, unless they could not be read.
    fn look(&self, lookups: &[Lookup]) -> Vec<(Lookup, Answer)> {
        let answer = |lookup: &Lookup| match self.cluster().gap(lookup.kind, &lookup.key.namespace) {
            Some(gap) => Answer::Failed(gap.reason.clone()),
            None => Answer::Absent,
        };
        lookups
            .iter()
            .map(|lookup| (lookup.clone(), answer(lookup)))
            .collect()
    }

    /// Carries the writes of `plan` out, unless they go in circles.
    fn carry(&mut self, plan: &Plan) -> Outcome {
        let mut is_loop = false;
        for object in plan.objects() {
            let writes = self.writes.entry(object.clone()).or_default();
            *writes += 1;
            if *writes > WRITES_OF_A_LOOP {
                is_loop = true;
                self.looping.insert(object);
            }
        }
        if is_loop {
            return Outcome::Done;
        }
        match self.write_all(plan) {
            Ok(()) => Outcome::Done,
            Err(why) => Outcome::Refused(why),
        }
    }

    /// Claims whose pod is gone are deleted. Says whether there was one.
    fn collect_garbage(&mut self) -> bool {
        let Some(uid) = self.garbage.pop_first() else {
            return false;
        };
        let keys: Vec<Key> = self
            .cluster()
            .claims_of_owner(&uid)
            .filter(|claim| lost_pod(self.cluster(), claim).is_some())
            .map(|claim| claim.key())
            .collect();
        for key in keys {
            self.record(
                Actor::GarbageCollector,
                Action::DeleteClaim,
                (Kind::ResourceClaim, &key),
                || "its pod no longer exists".to_owned(),
            );
            self.delete_claim(&key);
        }
        true
    }

    pub(super) fn note(&mut self, key: &Key, uid: &Str, what: What) {
        self.happenings.push(Happening {
            at: self.now,
            key: key.clone(),
            uid: uid.clone(),
            what,
        });
    }

    /// Notes once that a claim cannot be made.
    pub(super) fn warn(&mut self, about: &Owner, message: &str) {
        if self.told.insert((about.uid.clone(), message.to_owned())) {
            self.record_event(
                ControllerName::ResourceClaim,
                (about.kind, &about.key),
                CREATION_EVENT,
                message,
            );
            self.note(
                &about.key,
                &about.uid,
                What::ClaimFailed {
                    message: message.to_owned(),
                },
            );
        }
    }

    /// A number that nothing had before.
    pub(super) fn number(&mut self) -> usize {
        self.numbers += 1;
        self.numbers
    }

    /// Replaces the pod, if its owner does that at this time.
    pub(super) fn replace(&mut self, pod: &Arc<Pod>, when: Replacing) {
        let original = PodRef::of(pod);
        // A taint that is tolerated for some time lets the replacement in and evicts it too: this would never end.
        if Replacing::of(self.cluster(), pod) != when
            || self.is_rehearsal()
            || self.replacements.contains_key(&original)
        {
            return;
        }
        let number = self.number();
        let made = replacement(pod, number, self.now);
        let reference = PodRef::of(&made);
        self.note(
            &reference.key,
            &reference.uid,
            What::PodReplaced {
                original: original.key.clone(),
            },
        );
        self.replacements.insert(
            reference.clone(),
            Replacement {
                original,
                placement: None,
            },
        );
        self.waiting.insert(reference);
        self.apply(Change::Put(Object::Pod(made)));
    }

    /// Offers waiting replacements to the scheduler, in their order.
    fn schedule(&mut self) {
        for reference in self.waiting.clone() {
            let Some(pod) = self.cluster().pod(&reference.key).cloned() else {
                continue;
            };
            let Some(scheduler) = &mut self.scheduler else {
                return;
            };
            let placement = scheduler.place(self.engine.cluster(), &pod, self.now);
            let before = self
                .replacements
                .get_mut(&reference)
                .and_then(|replacement| replacement.placement.replace(placement.clone()));
            match placement {
                Placement::Fits { nodes, allocations } => {
                    self.waiting.remove(&reference);
                    self.bind(&pod, nodes, allocations);
                }
                Placement::DoesNotFit { message } => {
                    let known = matches!(&before, Some(Placement::DoesNotFit { message: known }) if *known == message);
                    if !known {
                        self.note(&reference.key, &reference.uid, What::PodUnschedulable { message });
                    }
                }
                Placement::Unknown { .. } => {}
            }
        }
    }

    /// What the scheduler writes: allocations and reservations, then the node.
    fn bind(&mut self, pod: &Arc<Pod>, nodes: Vec<Str>, allocations: Vec<(Key, Allocation)>) {
        let node = nodes.first().cloned();
        self.note(&pod.key(), &pod.metadata.uid, What::PodScheduled { nodes });
        let mut allocations: BTreeMap<Key, Allocation> = allocations.into_iter().collect();
        let names: BTreeSet<Key> = crate::reservation::claim_names(pod)
            .filter_map(|name| name.key())
            .collect();
        for key in names {
            let Some(claim) = self.cluster().claim(&key) else {
                continue;
            };
            let mut changed = (**claim).clone();
            if let Some(allocation) = allocations.remove(&key) {
                changed.status.allocation = Some(allocation);
                if !changed.is_protected() {
                    changed.metadata.finalizers.push(FINALIZER.into());
                }
            }
            let is_reserved = crate::reservation::is_reserved_for(pod, &changed, self.release.groups);
            if changed.status.allocation.is_some() && !is_reserved {
                changed.status.reserved_for.push(ConsumerReference::of_pod(pod));
            }
            self.apply(Change::Put(Object::ResourceClaim(Arc::new(changed))));
        }
        let mut bound = (**pod).clone();
        bound.spec.node_name = node;
        bound.status.phase = "Running".into();
        self.apply(Change::Put(Object::Pod(Arc::new(bound))));
    }
}

/// The controller knows rules by their UIDs, which manifests lack that no API server has seen.
fn tell_rules_apart(cluster: &mut Cluster) {
    let nameless: Vec<Arc<TaintRule>> = cluster
        .rules()
        .filter(|rule| rule.metadata.uid.is_empty())
        .cloned()
        .collect();
    for rule in nameless {
        let mut named = TaintRule::clone(&rule);
        named.metadata.uid = format!("simulated-rule-{}", rule.metadata.name).into();
        cluster.apply(Change::Put(Object::DeviceTaintRule(Arc::new(named))));
    }
}
