//! The resource claim controller: makes claims from templates, reserves them for pods that run already, and deallocates those whose
//! consumers ended.
//!
//! Mirrors `pkg/controller/resourceclaim/controller.go`, v1.37.1. An item of the queue becomes a [`Plan`]: writes in their order,
//! of which none is tried once one has failed.

mod names;
mod sync_claim;
mod sync_group;
mod sync_pod;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use names::generated_name_base;

use super::{Observed, Queue, RecentUids};
use crate::model::{
    Claim, Cluster, Component, ConsumerReference, Environment, Gate, Key, Kind, Object, Pod, PodGroup, Str,
    Version,
};
use crate::reservation::{
    ENTRY_ANNOTATION, NoGroup, PodGroups, claim_name, claim_names, group_claim_name, group_of_member,
    is_done, is_made_for, is_reserved_for,
};

/// What gates and release of the controller decide.
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
    /// Up to 1.36 the status of a pod lost the claims that were not made in the same turn.
    pub keeps_statuses: bool,
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
            keeps_statuses: environment.version >= Version::minor(37),
        }
    }
}

/// What the queue holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Item {
    Pod(Key),
    Group(Key),
    Claim(Key),
}

/// An object that the caches do not have, and that has to be asked for before anything is decided.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lookup {
    /// Its kind.
    pub kind: Kind,
    /// Namespace and name.
    pub key: Key,
}

/// What asking for an object found.
#[derive(Clone, Debug)]
pub enum Answer {
    /// There is none.
    Absent,
    /// This one.
    Found(Object),
    /// Asking failed; the item is tried again.
    Failed(String),
}

/// Something to be done.
#[derive(Clone, Debug)]
pub enum ClaimTask {
    /// Ask for the object, and hand the answer to [`ResourceClaims::answer`].
    Look(Lookup),
    /// Carry the plan out, and report it to [`ResourceClaims::finish`].
    Carry(Plan),
}

/// Writes for one item, in their order.
#[derive(Clone, Debug)]
pub struct Plan {
    item: Item,
    /// The writes. The first that fails is the last that is tried.
    pub writes: Vec<ClaimWrite>,
    /// An event to emit once the writes are done: reason `FailedResourceClaimCreation`.
    pub warning: Option<Warning>,
    /// What comes after the writes.
    pub ending: Ending,
}

impl Plan {
    /// The claims that exist and that the plan writes.
    pub fn claims(&self) -> Vec<Key> {
        let keys = self.writes.iter().filter_map(|write| match write {
            ClaimWrite::Create(_) | ClaimWrite::SetStatuses { .. } => None,
            ClaimWrite::Reserve { claim, .. } | ClaimWrite::Release { claim, .. } => Some(claim.key()),
            ClaimWrite::RemoveFinalizer(key) | ClaimWrite::Delete(key) => Some(key.clone()),
        });
        let keys: std::collections::BTreeSet<Key> = keys.collect();
        keys.into_iter().collect()
    }
}

/// An event about a claim that could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about: a pod or a PodGroup.
    pub about: Owner,
    /// The text.
    pub message: String,
}

/// What becomes of an item once its writes are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing is left to do.
    Done,
    /// It is tried again, for this reason.
    Retry(String),
    /// It cannot be done, for this reason, and is not tried again.
    Drop(String),
}

/// A pod or a PodGroup for which a claim is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Pod or PodGroup.
    pub kind: Kind,
    /// Namespace and name.
    pub key: Key,
    /// Its UID.
    pub uid: Str,
}

/// The name of a claim that the status of its owner tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimName {
    /// It exists.
    Known(Str),
    /// It is the claim that the `Create` with this number among the plan's `Create`s makes.
    Created(usize),
}

/// One write.
#[derive(Clone, Debug)]
pub enum ClaimWrite {
    /// Create the claim, whose name begins with its `generateName`.
    Create(Arc<Claim>),
    /// Apply `status.resourceClaimStatuses` of the pod or PodGroup.
    SetStatuses {
        /// Whose.
        of: Owner,
        /// Entry and claim.
        statuses: Vec<(Str, ClaimName)>,
    },
    /// Add the consumer to the claim's `status.reservedFor`, if the claim is unchanged.
    Reserve {
        /// The claim as it was read.
        claim: Arc<Claim>,
        /// Who is added.
        consumer: ConsumerReference,
    },
    /// Replace `status.reservedFor`, if the claim is unchanged.
    Release {
        /// The claim as it was read.
        claim: Arc<Claim>,
        /// Who stays.
        remaining: Vec<ConsumerReference>,
        /// Whether the allocation goes in the same write.
        deallocate: bool,
    },
    /// Remove the finalizer.
    RemoveFinalizer(Key),
    /// Delete the claim.
    Delete(Key),
}

/// The state of the controller.
#[derive(Clone, Debug)]
pub struct ResourceClaims {
    features: Features,
    queue: Queue<Item>,
    /// UIDs of pods and groups that are known to be gone.
    deleted: RecentUids,
    /// Claims that were created and that no watch has shown yet.
    created: BTreeMap<Key, Arc<Claim>>,
    /// Answers that wait for the item that asked.
    answers: BTreeMap<Lookup, Answer>,
    /// The item that waits for an answer.
    asking: Option<Item>,
}

/// Why planning stops.
enum Stop {
    Look(Lookup),
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

impl ResourceClaims {
    /// A controller that knows of nothing to do yet.
    pub fn idle(features: Features) -> Self {
        Self {
            features,
            queue: Queue::default(),
            deleted: RecentUids::default(),
            created: BTreeMap::new(),
            answers: BTreeMap::new(),
            asking: None,
        }
    }

    /// A controller that starts with the state of `cluster` and looks at all of it.
    pub fn start(cluster: &Cluster, features: Features) -> Self {
        let mut controller = Self::idle(features);
        for pod in cluster.pods() {
            controller.pod_changed(cluster, pod, false);
        }
        for claim in cluster.claims() {
            controller.queue.add(Item::Claim(claim.key()));
        }
        if features.groups == PodGroups::Accepted {
            for group in cluster.pod_groups() {
                controller.group_changed(cluster, group, false);
            }
        }
        controller
    }

    /// Takes note of a change, which `cluster` has in it already.
    pub fn observe(&mut self, cluster: &Cluster, change: &Observed) {
        let Some(object) = change.after.as_ref().or(change.before.as_ref()) else {
            return;
        };
        let deleted = change.after.is_none();
        match object {
            Object::Pod(pod) => {
                if let (Some(Object::Pod(before)), false) = (&change.before, deleted)
                    && before.metadata.uid != pod.metadata.uid
                {
                    self.pod_changed(cluster, before, true);
                }
                self.pod_changed(cluster, pod, deleted);
            }
            Object::ResourceClaim(claim) => self.claim_changed(cluster, claim, deleted),
            Object::ResourceClaimTemplate(template) if !deleted => {
                let name = Some(&template.metadata.name);
                let pods: Vec<_> = cluster
                    .pods_in(&template.metadata.namespace)
                    .filter(|pod| uses_template(&pod.spec.resource_claims, name))
                    .cloned()
                    .collect();
                for pod in pods {
                    self.pod_changed(cluster, &pod, false);
                }
                if self.features.groups == PodGroups::Accepted {
                    for group in cluster.pod_groups() {
                        if group.metadata.namespace == template.metadata.namespace
                            && uses_template(&group.spec.resource_claims, name)
                        {
                            self.group_changed(cluster, group, false);
                        }
                    }
                }
            }
            Object::PodGroup(group) if self.features.groups == PodGroups::Accepted => {
                self.group_changed(cluster, group, deleted);
            }
            _ => {}
        }
    }

    /// Mirrors `enqueuePod`.
    fn pod_changed(&mut self, cluster: &Cluster, pod: &Pod, deleted: bool) {
        let extended = pod.status.extended_resource_claim_status.is_some();
        if pod.spec.resource_claims.is_empty() && !extended {
            return;
        }
        if deleted {
            self.deleted.add(&pod.metadata.uid);
        }
        if deleted || is_done(pod) {
            for key in claim_names(pod).filter_map(|name| name.key()) {
                self.queue.add(Item::Claim(key));
            }
        }
        if self.pod_needs_work(cluster, pod) {
            self.queue.add(Item::Pod(pod.key()));
        }
    }

    /// Mirrors `podNeedsWork`.
    fn pod_needs_work(&self, cluster: &Cluster, pod: &Pod) -> bool {
        if pod.metadata.is_deleting() {
            return false;
        }
        pod.spec.resource_claims.iter().any(|entry| {
            let Ok(meant) = claim_name(pod, entry) else {
                return true;
            };
            let Some(key) = meant.key() else { return false };
            let Some(claim) = cluster.claim(&key) else {
                return entry.resource_claim_template_name.is_some()
                    && match self.group_of(cluster, pod) {
                        Err(_) => true,
                        Ok(group) => crate::reservation::bind_to(pod, group.map(|group| &**group), entry)
                            .is_ok_and(|consumer| !consumer.is_pod_group()),
                    };
            };
            let groups = self.features.groups;
            if meant.may_use(claim, groups).is_err() {
                return false;
            }
            pod.node().is_some() && claim.status.allocation.is_some() && !is_reserved_for(pod, claim, groups)
        })
    }

    /// The group that the pod is a member of.
    fn group_of<'a>(&self, cluster: &'a Cluster, pod: &Pod) -> Result<Option<&'a Arc<PodGroup>>, NoGroup> {
        group_of_member(cluster, pod, self.features.workloads)
    }

    /// Mirrors `enqueuePodGroup`.
    fn group_changed(&mut self, cluster: &Cluster, group: &PodGroup, deleted: bool) {
        if group.spec.resource_claims.is_empty() {
            return;
        }
        let names = || {
            group
                .spec
                .resource_claims
                .iter()
                .map(|entry| group_claim_name(group, entry))
        };
        if deleted {
            self.deleted.add(&group.metadata.uid);
            for key in names().filter_map(|name| name.ok()?.key()) {
                self.queue.add(Item::Claim(key));
            }
        }
        let needs_work = !group.metadata.is_deleting()
            && group
                .spec
                .resource_claims
                .iter()
                .zip(names())
                .any(|(entry, name)| match name.map(|name| name.key()) {
                    Err(_) => true,
                    Ok(None) => false,
                    Ok(Some(key)) => {
                        entry.resource_claim_template_name.is_some() && cluster.claim(&key).is_none()
                    }
                });
        if needs_work {
            self.queue.add(Item::Group(group.metadata.key()));
        }
        let members: Vec<_> = cluster.pods_of_group(&group.metadata.key()).cloned().collect();
        for pod in members {
            self.pod_changed(cluster, &pod, false);
        }
    }

    /// Mirrors `enqueueResourceClaim`.
    fn claim_changed(&mut self, cluster: &Cluster, claim: &Claim, deleted: bool) {
        let key = claim.key();
        self.created.remove(&key);
        if !deleted {
            self.queue.add(Item::Claim(key.clone()));
        }
        let pods: Vec<_> = cluster.pods_of_claim(&key).cloned().collect();
        for pod in pods {
            self.pod_changed(cluster, &pod, false);
        }
        if self.features.groups == PodGroups::Accepted {
            for group in cluster.pod_groups() {
                let entries = &group.spec.resource_claims;
                let means_it = |entry| {
                    group_claim_name(group, entry).is_ok_and(|name| name.key().as_ref() == Some(&key))
                };
                if entries.iter().any(means_it) {
                    self.group_changed(cluster, group, false);
                }
            }
        }
    }

    /// When there is something to do.
    pub fn next_due(&self, now: crate::model::Time) -> Option<crate::model::Time> {
        self.queue.next_due(now)
    }

    /// The next task that is due at `now`.
    pub fn next(&mut self, cluster: &Cluster, now: crate::model::Time) -> Option<ClaimTask> {
        loop {
            let item = match self.asking.take() {
                Some(item) => item,
                None => self.queue.pop(now)?,
            };
            let mut plan = Plan {
                item,
                writes: Vec::new(),
                warning: None,
                ending: Ending::Done,
            };
            let planned = match plan.item.clone() {
                Item::Pod(key) => self.sync_pod(cluster, &key, &mut plan),
                Item::Group(key) => self.sync_group(cluster, &key, &mut plan),
                Item::Claim(key) => self.sync_claim(cluster, &key, &mut plan),
            };
            match planned {
                Ok(()) => {}
                Err(Stop::Retry(why)) => plan.ending = Ending::Retry(why),
                Err(Stop::Drop(why)) => plan.ending = Ending::Drop(why),
                Err(Stop::Look(lookup)) => {
                    self.asking = Some(plan.item);
                    return Some(ClaimTask::Look(lookup));
                }
            }
            self.answers.clear();
            if plan.writes.is_empty() && plan.warning.is_none() {
                self.end(&plan.item, &plan.ending, now);
            } else {
                return Some(ClaimTask::Carry(plan));
            }
        }
    }

    /// Takes the answer to a lookup; the item that asked comes next.
    pub fn answer(&mut self, lookup: Lookup, answer: Answer) {
        self.answers.insert(lookup, answer);
    }

    /// Says how far the plan was carried out: the claims that were created, and whether a write failed.
    pub fn finish(
        &mut self,
        plan: &Plan,
        created: Vec<Arc<Claim>>,
        failure: Option<String>,
        now: crate::model::Time,
    ) {
        for claim in created {
            self.created.insert(claim.key(), claim);
        }
        match failure {
            Some(why) => self.end(&plan.item, &Ending::Retry(why), now),
            None => self.end(&plan.item, &plan.ending, now),
        }
    }

    fn end(&mut self, item: &Item, ending: &Ending, now: crate::model::Time) {
        match ending {
            Ending::Retry(_) => self.queue.retry(item.clone(), now),
            Ending::Done | Ending::Drop(_) => self.queue.forget(item),
        }
        self.queue.done(item);
    }

    /// The object, once it was asked for.
    fn ask(&self, kind: Kind, key: &Key) -> Result<Option<&Object>, Stop> {
        let lookup = Lookup {
            kind,
            key: key.clone(),
        };
        match self.answers.get(&lookup) {
            None => Err(Stop::Look(lookup)),
            Some(Answer::Absent) => Ok(None),
            Some(Answer::Found(object)) => Ok(Some(object)),
            Some(Answer::Failed(why)) => Err(Stop::Retry(why.clone())),
        }
    }

    /// Whether the claim exists and `is_right`. Mirrors `claimExists`.
    fn claim_exists(
        &self,
        cluster: &Cluster,
        key: &Key,
        is_right: impl Fn(&Claim) -> bool,
    ) -> Result<bool, Stop> {
        if let Some(claim) = cluster.claim(key).or_else(|| self.created.get(key)) {
            return Ok(is_right(claim));
        }
        Ok(match self.ask(Kind::ResourceClaim, key)? {
            Some(Object::ResourceClaim(claim)) => is_right(claim),
            _ => false,
        })
    }

    /// The claim that was made for `entry` of the owner.
    fn made_for<'a>(&'a self, cluster: &'a Cluster, owner: &Owner, entry: &Str) -> Option<&'a Arc<Claim>> {
        let is_own =
            |claim: &&Arc<Claim>| is_made_for(claim, owner.kind, &owner.key.namespace, &owner.uid, entry);
        cluster
            .claims_of_owner(&owner.uid)
            .find(is_own)
            .or_else(|| self.created.values().find(is_own))
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

fn uses_template(entries: &[crate::model::PodClaim], name: Option<&Str>) -> bool {
    entries
        .iter()
        .any(|entry| entry.resource_claim_template_name.as_ref() == name)
}

#[cfg(test)]
mod tests;
