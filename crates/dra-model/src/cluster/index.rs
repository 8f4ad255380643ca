//! Derived indexes: who uses a claim, who holds a device, which slices make a pool.
//!
//! An index entry is computed from one object alone, so that a change of the object is a removal of its old entries and an
//! addition of its new ones. What an entry *means* (whether a pod that names a claim may use it, say) is for the rules.

use super::layered::Layered;
use crate::{
    Claim, DeviceId, Event, Key, Meta, ObjectReference, Pod, PodClaim, PodClaimStatus, PodGroup, PoolId,
    Slice, Str,
};

/// One entry of one index, in the words of the object that it comes from.
#[derive(PartialEq, Eq)]
pub(super) enum Entry<'a> {
    PodOfClaim(Named<'a>, &'a Str),
    PodOfGroup(Named<'a>, &'a Str),
    PodOfNode(&'a Str, Named<'a>),
    PodOfTemplate(Named<'a>, &'a Str),
    GroupOfClaim(Named<'a>, &'a Str),
    GroupOfTemplate(Named<'a>, &'a Str),
    ClaimOfDevice(Placed<'a>, Named<'a>),
    ClaimOfOwner(&'a Str, Named<'a>),
    SliceOfPool(Pooled<'a>, &'a Str),
    EventOfObject(About<'a>, Named<'a>),
}

/// A [`Key`], borrowed.
#[derive(PartialEq, Eq)]
pub(super) struct Named<'a> {
    namespace: &'a Str,
    name: &'a Str,
}

impl<'a> Named<'a> {
    fn of(metadata: &'a Meta) -> Self {
        Self {
            namespace: &metadata.namespace,
            name: &metadata.name,
        }
    }

    fn key(&self) -> Key {
        Key {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }
}

/// A [`PoolId`], borrowed.
#[derive(PartialEq, Eq)]
pub(super) struct Pooled<'a> {
    driver: &'a Str,
    pool: &'a Str,
}

impl Pooled<'_> {
    fn id(&self) -> PoolId {
        PoolId {
            driver: self.driver.clone(),
            pool: self.pool.clone(),
        }
    }
}

/// A [`DeviceId`], borrowed.
#[derive(PartialEq, Eq)]
pub(super) struct Placed<'a> {
    driver: &'a Str,
    pool: &'a Str,
    device: &'a Str,
}

impl Placed<'_> {
    fn id(&self) -> DeviceId {
        DeviceId {
            driver: self.driver.clone(),
            pool: self.pool.clone(),
            device: self.device.clone(),
        }
    }
}

/// An [`ObjectReference`] without a UID, borrowed.
#[derive(PartialEq, Eq)]
pub(super) struct About<'a> {
    kind: &'a Str,
    object: Named<'a>,
}

impl About<'_> {
    fn reference(&self) -> ObjectReference {
        ObjectReference {
            kind: self.kind.clone(),
            namespace: self.object.namespace.clone(),
            name: self.object.name.clone(),
            uid: Str::default(),
        }
    }
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
    pub(super) fn add(&mut self, entry: Entry<'_>) {
        match entry {
            Entry::PodOfClaim(claim, pod) => self.pods_of_claim.insert((claim.key(), pod.clone()), ()),
            Entry::PodOfGroup(group, pod) => self.pods_of_group.insert((group.key(), pod.clone()), ()),
            Entry::PodOfNode(node, pod) => self.pods_of_node.insert((node.clone(), pod.key()), ()),
            Entry::PodOfTemplate(template, pod) => {
                self.pods_of_template.insert((template.key(), pod.clone()), ())
            }
            Entry::GroupOfClaim(claim, group) => {
                self.groups_of_claim.insert((claim.key(), group.clone()), ())
            }
            Entry::GroupOfTemplate(template, group) => self
                .groups_of_template
                .insert((template.key(), group.clone()), ()),
            Entry::ClaimOfDevice(device, claim) => {
                self.claims_of_device.insert((device.id(), claim.key()), ())
            }
            Entry::ClaimOfOwner(owner, claim) => {
                self.claims_of_owner.insert((owner.clone(), claim.key()), ())
            }
            Entry::SliceOfPool(pool, slice) => self.slices_of_pool.insert((pool.id(), slice.clone()), ()),
            Entry::EventOfObject(object, event) => self
                .events_of_object
                .insert((object.reference(), event.key()), ()),
        };
    }

    pub(super) fn remove(&mut self, entry: Entry<'_>) {
        match entry {
            Entry::PodOfClaim(claim, pod) => self.pods_of_claim.remove(&(claim.key(), pod.clone())),
            Entry::PodOfGroup(group, pod) => self.pods_of_group.remove(&(group.key(), pod.clone())),
            Entry::PodOfNode(node, pod) => self.pods_of_node.remove(&(node.clone(), pod.key())),
            Entry::PodOfTemplate(template, pod) => {
                self.pods_of_template.remove(&(template.key(), pod.clone()))
            }
            Entry::GroupOfClaim(claim, group) => self.groups_of_claim.remove(&(claim.key(), group.clone())),
            Entry::GroupOfTemplate(template, group) => {
                self.groups_of_template.remove(&(template.key(), group.clone()))
            }
            Entry::ClaimOfDevice(device, claim) => self.claims_of_device.remove(&(device.id(), claim.key())),
            Entry::ClaimOfOwner(owner, claim) => self.claims_of_owner.remove(&(owner.clone(), claim.key())),
            Entry::SliceOfPool(pool, slice) => self.slices_of_pool.remove(&(pool.id(), slice.clone())),
            Entry::EventOfObject(object, event) => {
                self.events_of_object.remove(&(object.reference(), event.key()))
            }
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
    pub(super) fn add(&mut self, entry: Entry<'_>) {
        match entry {
            Entry::PodOfClaim(claim, pod) => self.pods_of_claim.push(((claim.key(), pod.clone()), ())),
            Entry::PodOfGroup(group, pod) => self.pods_of_group.push(((group.key(), pod.clone()), ())),
            Entry::PodOfNode(node, pod) => self.pods_of_node.push(((node.clone(), pod.key()), ())),
            Entry::PodOfTemplate(template, pod) => {
                self.pods_of_template.push(((template.key(), pod.clone()), ()));
            }
            Entry::GroupOfClaim(claim, group) => {
                self.groups_of_claim.push(((claim.key(), group.clone()), ()));
            }
            Entry::GroupOfTemplate(template, group) => self
                .groups_of_template
                .push(((template.key(), group.clone()), ())),
            Entry::ClaimOfDevice(device, claim) => {
                self.claims_of_device.push(((device.id(), claim.key()), ()));
            }
            Entry::ClaimOfOwner(owner, claim) => {
                self.claims_of_owner.push(((owner.clone(), claim.key()), ()));
            }
            Entry::SliceOfPool(pool, slice) => self.slices_of_pool.push(((pool.id(), slice.clone()), ())),
            Entry::EventOfObject(object, event) => self
                .events_of_object
                .push(((object.reference(), event.key()), ())),
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
pub(super) fn of_pod<'a>(pod: &'a Pod, mut add: impl FnMut(Entry<'a>)) {
    let Meta { namespace, name, .. } = &pod.metadata;
    let beside = |name| Named { namespace, name };
    let named = named(&pod.spec.resource_claims);
    let made = made(&pod.status.resource_claim_statuses);
    let extended = pod
        .status
        .extended_resource_claim_status
        .iter()
        .map(|status| &status.resource_claim_name);
    for claim in named.chain(made).chain(extended) {
        add(Entry::PodOfClaim(beside(claim), name));
    }
    for template in templates(&pod.spec.resource_claims) {
        add(Entry::PodOfTemplate(beside(template), name));
    }
    if let Some(group) = pod.pod_group() {
        add(Entry::PodOfGroup(beside(group), name));
    }
    if let Some(node) = pod.node() {
        add(Entry::PodOfNode(node, Named::of(&pod.metadata)));
    }
}

/// Entries of a PodGroup: every claim it mentions, and the templates of its claims.
pub(super) fn of_group<'a>(group: &'a PodGroup, mut add: impl FnMut(Entry<'a>)) {
    let Meta { namespace, name, .. } = &group.metadata;
    let beside = |name| Named { namespace, name };
    let entries = &group.spec.resource_claims;
    for claim in named(entries).chain(made(&group.status.resource_claim_statuses)) {
        add(Entry::GroupOfClaim(beside(claim), name));
    }
    for template in templates(entries) {
        add(Entry::GroupOfTemplate(beside(template), name));
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
pub(super) fn of_claim<'a>(claim: &'a Claim, mut add: impl FnMut(Entry<'a>)) {
    for result in claim.results() {
        let device = Placed {
            driver: &result.driver,
            pool: &result.pool,
            device: &result.device,
        };
        add(Entry::ClaimOfDevice(device, Named::of(&claim.metadata)));
    }
    if let Some(owner) = claim.metadata.controller() {
        add(Entry::ClaimOfOwner(&owner.uid, Named::of(&claim.metadata)));
    }
}

/// The entry of a slice: its pool.
pub(super) fn of_slice<'a>(slice: &'a Slice, mut add: impl FnMut(Entry<'a>)) {
    let pool = Pooled {
        driver: &slice.spec.driver,
        pool: &slice.spec.pool.name,
    };
    add(Entry::SliceOfPool(pool, &slice.metadata.name));
}

/// The entry of an event: what it is about, without the UID that events may lack.
pub(super) fn of_event<'a>(event: &'a Event, mut add: impl FnMut(Entry<'a>)) {
    let object = About {
        kind: &event.involved_object.kind,
        object: Named {
            namespace: &event.involved_object.namespace,
            name: &event.involved_object.name,
        },
    };
    add(Entry::EventOfObject(object, Named::of(&event.metadata)));
}
