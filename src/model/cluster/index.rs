//! Derived indexes: who uses a claim, who holds a device, which slices make a pool.
//!
//! An index entry is computed from one object alone, so that a change of the object is a removal of its old entries and an
//! addition of its new ones. What an entry *means* (whether a pod that names a claim may use it, say) is for the rules.

use super::layered::Layered;
use crate::model::{
    Claim, DeviceId, Event, Key, Meta, ObjectReference, Pod, PodClaim, PodClaimStatus, PodGroup, PoolId,
    Slice, Str,
};

/// One entry of one index.
#[derive(PartialEq, Eq)]
pub(super) enum Entry {
    PodOfClaim(Key, Str),
    PodOfGroup(Key, Str),
    PodOfNode(Str, Key),
    PodOfTemplate(Key, Str),
    GroupOfClaim(Key, Str),
    GroupOfTemplate(Key, Str),
    ClaimOfDevice(DeviceId, Key),
    ClaimOfOwner(Str, Key),
    SliceOfPool(PoolId, Str),
    EventOfObject(ObjectReference, Key),
}

type Pairs<A, B> = Layered<(A, B), ()>;

/// All indexes of a cluster.
#[derive(Debug, Default, Clone)]
pub(super) struct Indexes {
    pods_of_claim: Pairs<Key, Str>,
    pods_of_group: Pairs<Key, Str>,
    pods_of_node: Pairs<Str, Key>,
    pods_of_template: Pairs<Key, Str>,
    groups_of_claim: Pairs<Key, Str>,
    groups_of_template: Pairs<Key, Str>,
    claims_of_device: Pairs<DeviceId, Key>,
    claims_of_owner: Pairs<Str, Key>,
    slices_of_pool: Pairs<PoolId, Str>,
    events_of_object: Pairs<ObjectReference, Key>,
}

impl Indexes {
    pub(super) fn add(&mut self, entry: Entry) {
        match entry {
            Entry::PodOfClaim(claim, pod) => self.pods_of_claim.insert((claim, pod), ()),
            Entry::PodOfGroup(group, pod) => self.pods_of_group.insert((group, pod), ()),
            Entry::PodOfNode(node, pod) => self.pods_of_node.insert((node, pod), ()),
            Entry::PodOfTemplate(template, pod) => self.pods_of_template.insert((template, pod), ()),
            Entry::GroupOfClaim(claim, group) => self.groups_of_claim.insert((claim, group), ()),
            Entry::GroupOfTemplate(template, group) => self.groups_of_template.insert((template, group), ()),
            Entry::ClaimOfDevice(device, claim) => self.claims_of_device.insert((device, claim), ()),
            Entry::ClaimOfOwner(owner, claim) => self.claims_of_owner.insert((owner, claim), ()),
            Entry::SliceOfPool(pool, slice) => self.slices_of_pool.insert((pool, slice), ()),
            Entry::EventOfObject(object, event) => self.events_of_object.insert((object, event), ()),
        };
    }

    pub(super) fn remove(&mut self, entry: Entry) {
        match entry {
            Entry::PodOfClaim(claim, pod) => self.pods_of_claim.remove(&(claim, pod)),
            Entry::PodOfGroup(group, pod) => self.pods_of_group.remove(&(group, pod)),
            Entry::PodOfNode(node, pod) => self.pods_of_node.remove(&(node, pod)),
            Entry::PodOfTemplate(template, pod) => self.pods_of_template.remove(&(template, pod)),
            Entry::GroupOfClaim(claim, group) => self.groups_of_claim.remove(&(claim, group)),
            Entry::GroupOfTemplate(template, group) => self.groups_of_template.remove(&(template, group)),
            Entry::ClaimOfDevice(device, claim) => self.claims_of_device.remove(&(device, claim)),
            Entry::ClaimOfOwner(owner, claim) => self.claims_of_owner.remove(&(owner, claim)),
            Entry::SliceOfPool(pool, slice) => self.slices_of_pool.remove(&(pool, slice)),
            Entry::EventOfObject(object, event) => self.events_of_object.remove(&(object, event)),
        };
    }

    /// Names of the pods, in the claim's namespace, that mention the claim.
    pub(super) fn pods_of_claim(&self, claim: &Key) -> impl Iterator<Item = &Str> {
        self.pods_of_claim.members((claim.clone(), Str::default()))
    }

    /// Names of the pods, in the group's namespace, that say they are members of the group.
    pub(super) fn pods_of_group(&self, group: &Key) -> impl Iterator<Item = &Str> {
        self.pods_of_group.members((group.clone(), Str::default()))
    }

    pub(super) fn pods_of_node(&self, node: &Str) -> impl Iterator<Item = &Key> {
        self.pods_of_node.members((node.clone(), Key::default()))
    }

    /// Names of the pods, in the template's namespace, whose claims are made from it.
    pub(super) fn pods_of_template(&self, template: &Key) -> impl Iterator<Item = &Str> {
        self.pods_of_template.members((template.clone(), Str::default()))
    }

    /// Names of the PodGroups, in the claim's namespace, that mention the claim.
    pub(super) fn groups_of_claim(&self, claim: &Key) -> impl Iterator<Item = &Str> {
        self.groups_of_claim.members((claim.clone(), Str::default()))
    }

    /// Names of the PodGroups, in the template's namespace, whose claims are made from it.
    pub(super) fn groups_of_template(&self, template: &Key) -> impl Iterator<Item = &Str> {
        self.groups_of_template
            .members((template.clone(), Str::default()))
    }

    pub(super) fn claims_of_device(&self, device: &DeviceId) -> impl Iterator<Item = &Key> {
        self.claims_of_device.members((device.clone(), Key::default()))
    }

    pub(super) fn claims_of_owner(&self, uid: &Str) -> impl Iterator<Item = &Key> {
        self.claims_of_owner.members((uid.clone(), Key::default()))
    }

    pub(super) fn slices_of_pool(&self, pool: &PoolId) -> impl Iterator<Item = &Str> {
        self.slices_of_pool.members((pool.clone(), Str::default()))
    }

    pub(super) fn events_of_object(&self, object: &ObjectReference) -> impl Iterator<Item = &Key> {
        self.events_of_object.members((object.clone(), Key::default()))
    }

    /// Allocated devices with the claims that hold them, ordered by device.
    pub(super) fn allocated_devices(&self) -> impl Iterator<Item = (&DeviceId, &Key)> {
        self.claims_of_device
            .iter()
            .map(|((device, claim), ())| (device, claim))
    }

    /// Allocated devices of one pool with the claims that hold them, ordered by device.
    pub(super) fn allocated_devices_of_pool(&self, pool: &PoolId) -> impl Iterator<Item = (&DeviceId, &Key)> {
        let PoolId { driver, pool } = pool.clone();
        let first = DeviceId {
            driver: driver.clone(),
            pool: pool.clone(),
            device: Str::default(),
        };
        let devices = self
            .claims_of_device
            .stretch(&(first, Key::default()), move |(device, _)| {
                device.driver == driver && device.pool == pool
            });
        devices.map(|((device, claim), ())| (device, claim))
    }

    /// Every pool with each of its slices, ordered by pool.
    pub(super) fn pool_slices(&self) -> impl Iterator<Item = (&PoolId, &Str)> {
        self.slices_of_pool
            .iter()
            .map(|((pool, slice), ())| (pool, slice))
    }
}

/// Collects entries and sorts them once, which is several times faster than adding them one by one.
#[derive(Default)]
pub(super) struct Bulk {
    pods_of_claim: Vec<((Key, Str), ())>,
    pods_of_group: Vec<((Key, Str), ())>,
    pods_of_node: Vec<((Str, Key), ())>,
    pods_of_template: Vec<((Key, Str), ())>,
    groups_of_claim: Vec<((Key, Str), ())>,
    groups_of_template: Vec<((Key, Str), ())>,
    claims_of_device: Vec<((DeviceId, Key), ())>,
    claims_of_owner: Vec<((Str, Key), ())>,
    slices_of_pool: Vec<((PoolId, Str), ())>,
    events_of_object: Vec<((ObjectReference, Key), ())>,
}

impl Bulk {
    pub(super) fn add(&mut self, entry: Entry) {
        match entry {
            Entry::PodOfClaim(claim, pod) => self.pods_of_claim.push(((claim, pod), ())),
            Entry::PodOfGroup(group, pod) => self.pods_of_group.push(((group, pod), ())),
            Entry::PodOfNode(node, pod) => self.pods_of_node.push(((node, pod), ())),
            Entry::PodOfTemplate(template, pod) => self.pods_of_template.push(((template, pod), ())),
            Entry::GroupOfClaim(claim, group) => self.groups_of_claim.push(((claim, group), ())),
            Entry::GroupOfTemplate(template, group) => self.groups_of_template.push(((template, group), ())),
            Entry::ClaimOfDevice(device, claim) => self.claims_of_device.push(((device, claim), ())),
            Entry::ClaimOfOwner(owner, claim) => self.claims_of_owner.push(((owner, claim), ())),
            Entry::SliceOfPool(pool, slice) => self.slices_of_pool.push(((pool, slice), ())),
            Entry::EventOfObject(object, event) => self.events_of_object.push(((object, event), ())),
        }
    }

    pub(super) fn build(self) -> Indexes {
        Indexes {
            pods_of_claim: self.pods_of_claim.into_iter().collect(),
            pods_of_group: self.pods_of_group.into_iter().collect(),
            pods_of_node: self.pods_of_node.into_iter().collect(),
            pods_of_template: self.pods_of_template.into_iter().collect(),
            groups_of_claim: self.groups_of_claim.into_iter().collect(),
            groups_of_template: self.groups_of_template.into_iter().collect(),
            claims_of_device: self.claims_of_device.into_iter().collect(),
            claims_of_owner: self.claims_of_owner.into_iter().collect(),
            slices_of_pool: self.slices_of_pool.into_iter().collect(),
            events_of_object: self.events_of_object.into_iter().collect(),
        }
    }
}

/// Entries of a pod: every claim it mentions, the templates of its claims, its group, its node.
pub(super) fn of_pod(pod: &Pod, mut add: impl FnMut(Entry)) {
    let Meta { namespace, name, .. } = &pod.metadata;
    let claim = |name: &Str| Key {
        namespace: namespace.clone(),
        name: name.clone(),
    };
    let named = named(&pod.spec.resource_claims);
    let made = made(&pod.status.resource_claim_statuses);
    let extended = pod
        .status
        .extended_resource_claim_status
        .iter()
        .map(|status| &status.resource_claim_name);
    for of in named.chain(made).chain(extended) {
        add(Entry::PodOfClaim(claim(of), name.clone()));
    }
    for template in templates(&pod.spec.resource_claims) {
        add(Entry::PodOfTemplate(claim(template), name.clone()));
    }
    if let Some(group) = pod.pod_group() {
        add(Entry::PodOfGroup(claim(group), name.clone()));
    }
    if let Some(node) = pod.node() {
        add(Entry::PodOfNode(node.clone(), pod.key()));
    }
}

/// Entries of a PodGroup: every claim it mentions, and the templates of its claims.
pub(super) fn of_group(group: &PodGroup, mut add: impl FnMut(Entry)) {
    let Meta { namespace, name, .. } = &group.metadata;
    let key = |name: &Str| Key {
        namespace: namespace.clone(),
        name: name.clone(),
    };
    let entries = &group.spec.resource_claims;
    for claim in named(entries).chain(made(&group.status.resource_claim_statuses)) {
        add(Entry::GroupOfClaim(key(claim), name.clone()));
    }
    for template in templates(entries) {
        add(Entry::GroupOfTemplate(key(template), name.clone()));
    }
}

fn named(entries: &[PodClaim]) -> impl Iterator<Item = &Str> {
    entries
        .iter()
        .filter_map(|entry| entry.resource_claim_name.as_ref())
}

fn templates(entries: &[PodClaim]) -> impl Iterator<Item = &Str> {
    entries
        .iter()
        .filter_map(|entry| entry.resource_claim_template_name.as_ref())
}

fn made(statuses: &[PodClaimStatus]) -> impl Iterator<Item = &Str> {
    statuses
        .iter()
        .filter_map(|status| status.resource_claim_name.as_ref())
}

/// Entries of a claim: every device it holds, its controlling owner.
pub(super) fn of_claim(claim: &Claim, mut add: impl FnMut(Entry)) {
    for result in claim.results() {
        add(Entry::ClaimOfDevice(result.id(), claim.key()));
    }
    if let Some(owner) = claim.metadata.controller() {
        add(Entry::ClaimOfOwner(owner.uid.clone(), claim.key()));
    }
}

/// The entry of a slice: its pool.
pub(super) fn of_slice(slice: &Slice, mut add: impl FnMut(Entry)) {
    add(Entry::SliceOfPool(slice.pool_id(), slice.metadata.name.clone()));
}

/// The entry of an event: what it is about, without the UID that events may lack.
pub(super) fn of_event(event: &Event, mut add: impl FnMut(Entry)) {
    let object = ObjectReference {
        uid: Str::default(),
        ..event.involved_object.clone()
    };
    add(Entry::EventOfObject(object, event.metadata.key()));
}
