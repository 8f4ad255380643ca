//! The resource claim controller: makes claims from templates, reserves them for pods that run already, and deallocates those whose
//! consumers ended.
//!
//! Mirrors `pkg/controller/resourceclaim/controller.go`, v1.37.2. An item of the queue becomes a [`Plan`]: ordered
//! writes; after a failure the rest is skipped.

mod changes;
mod names;
mod sync_claim;
mod sync_group;
mod sync_pod;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;

pub use names::{generated_name_base, is_made_elsewhere};

use super::work::{
    Answer, ClaimName, ClaimWrite, Ending, JobId, Lookup, Notice, Outcome, Owner, Plan, Subject, Warning,
    Work,
};
use super::{Controller, Observed, Queue, RecentUids};
use crate::reservation::{ENTRY_ANNOTATION, NoGroup, PodGroups, claims_made_for, group_of_member, is_done};
use dra_model::{Claim, Cluster, Component, Environment, Gate, Key, Kind, Object, Pod, PodGroup, Str, Time};

/// An item whose object was not as it was read is looked at again when a watch shows the newer one, and at the latest then.
const CONFLICT_PAUSE: Duration = Duration::from_secs(1);

/// So long, and so many, claims are remembered that were made here. Mirrors `controller.go`, `claimMutationCacheSize`, v1.37.2, and
/// the time to live beside it.
const MADE_FOR: Duration = Duration::from_secs(60 * 60);
const MOST_MADE: usize = 1000;

/// Features determined by gates and release of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Gate `DRAAdminAccess`.
    pub admin_access: bool,
    /// Gate `DRAPrioritizedList`.
    pub prioritized_list: bool,
    /// Gate `GenericWorkload`.
    pub workloads: bool,
    /// Gate `DRAWorkloadResourceClaims`.
    pub groups: PodGroups,
    /// Up to 1.36 a member of a PodGroup is a pod like any other for a controller that does not make claims for groups.
    pub needs_groups: bool,
    /// Up to 1.36 the status of a pod lost the claims that were not made in the same turn.
    pub keeps_statuses: bool,
    /// Improvements over upstream.
    pub deviations: Deviations,
}

/// Allowed deviations from kube-controller-manager 1.37.2. The default is none, which is what
/// a simulation of it has to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deviations {
    /// A pod that has ended gets neither claims nor reservations. Upstream reserves for it without end where the claim stays allocated
    /// (kubernetes/kubernetes#141274), and makes its deleted claim again once after a restart.
    pub terminal_reservations: bool,
    /// The members of a PodGroup are looked at when it appears, also where it has no claims; upstream leaves them to their back-off.
    pub members_of_groups: bool,
    /// What cannot be done with the gates that are set is not tried again; upstream loses that the reason is final.
    pub final_errors: bool,
    /// The status of a PodGroup keeps the claims that were not made in the same turn, as that of a pod does.
    pub group_statuses: bool,
    /// Of several claims that were made for one entry, the oldest that is not being deleted counts; upstream takes any.
    pub oldest_claim: bool,
    /// A deleted claim that was created here counts as deleted; upstream treats it as existing for an hour, so that the
    /// claim of a finished pod is not recreated repeatedly.
    pub deleted_claims: bool,
    /// A pod is evicted for the taints of its extended resources too, which upstream does from 1.37.2 on (kubernetes/kubernetes#141290).
    /// Before, this deletes more pods than upstream, so it has to be asked for.
    pub extended_resource_eviction: bool,
}

impl Deviations {
    /// All that are on by default.
    pub const ON: Self = Self {
        terminal_reservations: true,
        members_of_groups: true,
        final_errors: true,
        group_statuses: true,
        oldest_claim: true,
        deleted_claims: true,
        extended_resource_eviction: false,
    };
}

impl Features {
    /// Those of kube-controller-manager in `environment`.
    pub fn of(environment: &Environment) -> Self {
        let enabled = |gate| environment.enabled(Component::ControllerManager, gate);
        Self {
            admin_access: enabled(Gate::DRAAdminAccess),
            prioritized_list: enabled(Gate::DRAPrioritizedList),
            workloads: enabled(Gate::GenericWorkload),
            groups: PodGroups::of(environment, Component::ControllerManager),
            needs_groups: environment.release().needs_groups,
            keeps_statuses: environment.release().keeps_statuses,
            deviations: Deviations::default(),
        }
    }
}

impl Features {
    /// The same gates with the rules of the newest release, without the bugs of older ones.
    #[must_use]
    pub fn repaired(self) -> Self {
        Self {
            needs_groups: true,
            keeps_statuses: true,
            ..self
        }
    }
}

/// Given-up items are reported on request only.
const MOST_UNTOLD: usize = 1000;

/// The state of the controller.
#[derive(Clone, Debug)]
pub struct ResourceClaims {
    features: Features,
    queue: Queue<Subject>,
    /// Claims that were there at the start. The controller looks at them when it is asked for its first job, which in a replica that waits
    /// for its lease can be days later. A claim that needs nothing does not enter the queue, where it would take several times the memory.
    unseen: Vec<Key>,
    /// UIDs of pods and groups that are known to be gone.
    deleted: RecentUids,
    /// New claims that no other controller creates: when they appeared, in order.
    made: HashMap<Key, Time, RandomState>,
    made_in_order: VecDeque<Key>,
    /// Jobs that are out.
    jobs: HashMap<JobId, Out, RandomState>,
    /// Items whose questions are answered: their turn comes first.
    answered: VecDeque<(Subject, Answers)>,
    /// Items that cannot be processed as they are, with the reason.
    given_up: HashMap<Subject, String, RandomState>,
    /// Those that are not reported yet.
    untold: Vec<(Subject, String)>,
    /// True if what the cluster does not have does not exist, unless it could not be read: then no request is needed.
    knows_all: bool,
}

/// State of objects that an item asked for.
type Answers = BTreeMap<Lookup, Answer>;

/// A job that is out.
#[derive(Clone, Debug)]
struct Out {
    item: Subject,
    /// Answers to the item's lookups.
    answers: Answers,
    /// Continuation after the writes of its plan; none while it asks.
    ending: Option<Ending>,
}

/// The reason why planning stops.
enum Stop {
    /// These have to be asked for first.
    Look(Vec<Lookup>),
    Retry(String),
    Drop(String),
}

impl Stop {
    fn text(self) -> Result<String, Self> {
        match self {
            Self::Retry(why) | Self::Drop(why) => Ok(why),
            Self::Look(_) => Err(self),
        }
    }
}

/// Collects what has to be asked for, so that it is asked for together.
#[derive(Default)]
struct Questions(Vec<Lookup>);

impl Questions {
    /// Returns what was found out, or nothing where it has to be asked for.
    fn note<T>(&mut self, found: Result<T, Stop>) -> Result<Option<T>, Stop> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(Stop::Look(lookups)) => {
                self.0.extend(lookups);
                Ok(None)
            }
            Err(stop) => Err(stop),
        }
    }

    fn asked(self) -> Result<(), Stop> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Stop::Look(self.0))
        }
    }
}

impl ResourceClaims {
    /// A controller that knows of nothing to do yet.
    pub fn idle(features: Features) -> Self {
        Self {
            features,
            queue: Queue::default(),
            unseen: Vec::new(),
            deleted: RecentUids::default(),
            made: HashMap::default(),
            made_in_order: VecDeque::new(),
            jobs: HashMap::default(),
            answered: VecDeque::new(),
            given_up: HashMap::default(),
            untold: Vec::new(),
            knows_all: false,
        }
    }

    /// The same where there is nothing but the cluster, as in a simulation.
    #[must_use]
    pub fn knowing_all(self) -> Self {
        Self {
            knows_all: true,
            ..self
        }
    }

    /// Items that were given up since this was asked last, with why: they are not tried again before something of them
    /// changes. Each is reported once per reason.
    pub(super) fn given_up(&mut self) -> Vec<(Subject, String)> {
        std::mem::take(&mut self.untold)
    }

    /// A controller that starts with the state of `cluster` and looks at all of it.
    pub fn start(cluster: &Cluster, features: Features) -> Self {
        let mut controller = Self::idle(features);
        for pod in cluster.pods() {
            controller.pod_changed(cluster, pod, false);
        }
        controller.unseen = cluster.claims().map(|claim| claim.key()).collect();
        if features.groups == PodGroups::Accepted {
            for group in cluster.pod_groups() {
                controller.group_changed(cluster, group, false);
            }
        }
        controller
    }

    /// Returns whether the pod may get claims and reservations, as far as its phase decides.
    fn may_get_claims(&self, pod: &Pod) -> bool {
        !(self.features.deviations.terminal_reservations && is_done(pod))
    }

    /// The group that the pod is a member of. Up to 1.36 one gate decided about all that has to do with groups.
    fn group_of<'a>(&self, cluster: &'a Cluster, pod: &Pod) -> Result<Option<&'a Arc<PodGroup>>, NoGroup> {
        let Features {
            needs_groups,
            workloads,
            groups,
            ..
        } = self.features;
        match groups {
            PodGroups::Ignored if !needs_groups => Ok(None),
            PodGroups::Accepted if !needs_groups => group_of_member(cluster, pod, true),
            _ => group_of_member(cluster, pod, workloads),
        }
    }

    /// Looks at the claims that were there at the start, and queues those that need work.
    fn look_at_unseen(&mut self, cluster: &Cluster) {
        for key in std::mem::take(&mut self.unseen) {
            let item = Subject::Claim(key);
            let planned = self.plan(&item, &Answers::new(), cluster);
            let is_nothing =
                |plan: &Plan| !plan.is_to_be_carried_out() && matches!(plan.ending, Ending::Done);
            if !planned.is_ok_and(|plan| is_nothing(&plan)) {
                self.queue.add(item);
            }
        }
    }

    /// The item whose turn it is at `now`, with what it knows by asking.
    fn turn(&mut self, now: Time) -> Option<(Subject, Answers)> {
        let fresh = |item| (item, Answers::new());
        self.answered
            .pop_front()
            .or_else(|| self.queue.pop(now).map(fresh))
    }

    /// Returns what is wanted for the item.
    fn plan(&mut self, item: &Subject, answers: &Answers, cluster: &Cluster) -> Result<Plan, Stop> {
        let mut plan = Plan {
            writes: Vec::new(),
            warning: None,
            ending: Ending::Done,
        };
        let planned = match item {
            Subject::Pod(key) => self.sync_pod(cluster, key, answers, &mut plan),
            Subject::PodGroup(key) => self.sync_group(cluster, key, answers, &mut plan),
            Subject::Claim(key) => self.sync_claim(cluster, key, answers, &mut plan),
            // These are the other controller's.
            Subject::Eviction(_) | Subject::Rule(..) => Ok(()),
        };
        match planned {
            Ok(()) => {}
            Err(Stop::Retry(why)) => plan.ending = Ending::Retry(why),
            Err(Stop::Drop(why)) => plan.ending = Ending::Drop(why),
            Err(look) => return Err(look),
        }
        Ok(plan)
    }

    fn end(&mut self, item: &Subject, ending: &Ending, now: Time) {
        match ending {
            Ending::Retry(_) => self.queue.retry(item.clone(), now),
            Ending::Done | Ending::Drop(_) => self.queue.forget(item),
        }
        if let Ending::Drop(why) = ending {
            let before = self.given_up.insert(item.clone(), why.clone());
            if before.as_ref() != Some(why) && self.untold.len() < MOST_UNTOLD {
                self.untold.push((item.clone(), why.clone()));
            }
        } else {
            self.given_up.remove(item);
        }
        self.queue.done(item);
    }

    /// Remembers a claim that has just been made.
    fn remember(&mut self, change: &Observed, now: Time) {
        let (None, Some(Object::ResourceClaim(claim))) = (&change.before, &change.after) else {
            return;
        };
        if self.features.deviations.deleted_claims || claim.metadata.annotation(ENTRY_ANNOTATION).is_none() {
            return;
        }
        let key = claim.key();
        if self.made.insert(key.clone(), now).is_none() {
            self.made_in_order.push_back(key);
        }
        if self.made_in_order.len() > MOST_MADE
            && let Some(oldest) = self.made_in_order.pop_front()
        {
            self.made.remove(&oldest);
        }
    }

    /// Returns whether the claim exists and `is_right`. Mirrors `claimExists`. A claim that was made here lately counts, also if it is gone.
    fn claim_exists(
        &self,
        cluster: &Cluster,
        answers: &Answers,
        key: &Key,
        is_right: impl Fn(&Claim) -> bool,
    ) -> Result<bool, Stop> {
        if let Some(claim) = cluster.claim(key) {
            return Ok(is_right(claim));
        }
        if self.made.contains_key(key) {
            return Ok(true);
        }
        Ok(match self.found(cluster, answers, Kind::ResourceClaim, key)? {
            Some(Object::ResourceClaim(claim)) => is_right(claim),
            _ => false,
        })
    }

    /// An object that the cluster does not have, once it was asked for.
    fn found<'a>(
        &self,
        cluster: &Cluster,
        answers: &'a Answers,
        kind: Kind,
        key: &Key,
    ) -> Result<Option<&'a Object>, Stop> {
        if self.knows_all && cluster.gap(kind, &key.namespace).is_none() {
            return Ok(None);
        }
        let lookup = Lookup {
            kind,
            key: key.clone(),
        };
        match answers.get(&lookup) {
            None => Err(Stop::Look(vec![lookup])),
            Some(Answer::Absent) => Ok(None),
            Some(Answer::Found(object)) => Ok(Some(object)),
            Some(Answer::Failed(why)) => Err(Stop::Retry(why.clone())),
        }
    }

    /// The claim that was made for `entry` of the owner.
    fn made_for<'a>(&self, cluster: &'a Cluster, owner: &Owner, entry: &Str) -> Option<&'a Arc<Claim>> {
        let mut made = claims_made_for(cluster, owner.kind, &owner.key.namespace, &owner.uid, entry);
        if !self.features.deviations.oldest_claim {
            return made.next();
        }
        made.filter(|claim| !claim.metadata.is_deleting())
            .min_by_key(|claim| claim.metadata.creation_timestamp)
    }
}

impl Controller for ResourceClaims {
    fn observe(&mut self, cluster: &Cluster, change: &Observed, now: Time) -> Vec<Notice> {
        self.remember(change, now);
        self.note(cluster, change);
        Vec::new()
    }

    fn next_due(&self, now: Time) -> Option<Time> {
        if self.answered.is_empty() && self.unseen.is_empty() {
            self.queue.next_due(now)
        } else {
            Some(now)
        }
    }

    fn still_wants(&self, cluster: &Cluster, item: &Subject) -> bool {
        let is_there = match item {
            Subject::Pod(key) => cluster
                .pod(key)
                .is_some_and(|pod| self.pod_needs_work(cluster, pod)),
            Subject::PodGroup(key) => cluster
                .pod_group(key)
                .is_some_and(|group| !group.metadata.is_deleting()),
            Subject::Claim(key) => cluster.claim(key).is_some(),
            Subject::Eviction(_) | Subject::Rule(..) => false,
        };
        is_there && self.queue.has_failed(item)
    }

    fn queue(&mut self) -> &mut Queue<Subject> {
        &mut self.queue
    }

    fn next(&mut self, id: JobId, cluster: &Cluster, now: Time) -> Option<(Subject, Work)> {
        while let Some(oldest) = self.made_in_order.front()
            && self
                .made
                .get(oldest)
                .is_none_or(|made| made.after(MADE_FOR) <= now)
        {
            self.made.remove(oldest);
            self.made_in_order.pop_front();
        }
        self.look_at_unseen(cluster);
        loop {
            let (item, answers) = self.turn(now)?;
            let (work, ending) = match self.plan(&item, &answers, cluster) {
                Ok(plan) if !plan.is_to_be_carried_out() => {
                    self.end(&item, &plan.ending, now);
                    continue;
                }
                Ok(plan) => {
                    let ending = plan.ending.clone();
                    (Work::Carry(plan), Some(ending))
                }
                Err(Stop::Look(lookups)) => (Work::Look(lookups), None),
                // The plan has them as its ending.
                Err(Stop::Retry(_) | Stop::Drop(_)) => continue,
            };
            let out = Out {
                item: item.clone(),
                answers,
                ending,
            };
            self.jobs.insert(id, out);
            return Some((item, work));
        }
    }

    fn done(&mut self, id: JobId, outcome: Outcome, now: Time) {
        let Some(Out {
            item,
            mut answers,
            ending,
        }) = self.jobs.remove(&id)
        else {
            return;
        };
        match (outcome, ending) {
            (Outcome::Answers(more), _) => {
                answers.extend(more);
                self.answered.push_back((item, answers));
            }
            (Outcome::Done | Outcome::Gone, Some(ending)) => self.end(&item, &ending, now),
            (Outcome::Parked, _) => self.end(&item, &Ending::Done, now),
            (Outcome::Taken, _) => self.answered.push_back((item, Answers::new())),
            (Outcome::Conflict, _) => {
                self.queue.push(item.clone(), now.after(CONFLICT_PAUSE), now);
                self.queue.done(&item);
            }
            (Outcome::Refused(why), _) => self.end(&item, &Ending::Retry(why), now),
            // A query alone has no effect.
            (Outcome::Unreachable | Outcome::Done | Outcome::Gone, _) => self.queue.put_back(&item),
        }
    }
}

impl Owner {
    fn pod(pod: &Pod) -> Self {
        Self {
            kind: Kind::Pod,
            key: pod.key(),
            uid: pod.metadata.uid.clone(),
        }
    }

    fn group(group: &PodGroup) -> Self {
        Self {
            kind: Kind::PodGroup,
            key: group.metadata.key(),
            uid: group.metadata.uid.clone(),
        }
    }
}

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;
