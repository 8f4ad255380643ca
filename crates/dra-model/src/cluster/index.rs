//! Derived indexes: who uses a claim, who holds a device, which slices make a pool.
//!
//! An index entry is computed from one object alone, so that a change of the object is a removal of its old entries and an
//! addition of its new ones. What an entry *means* (whether a pod that names a claim may use it, say) is for the rules.

use super::layered::Layered;
use crate::{
    Claim, DeviceId, Event, Key, Meta, ObjectReference, Pod, PodClaim, PodClaimStatus, PodGroup, PoolId,
    Slice, Str,
};

/// What an object says, borrowed from it: most entries of a changed object are those that it had before.
trait Kept {
    /// What an index keeps of it.
    type Kept;

    fn kept(&self) -> Self::Kept;
}

impl Kept for &Str {
    type Kept = Str;

    fn kept(&self) -> Str {
        Str::clone(self)
    }
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
}

impl Kept for Named<'_> {
    type Kept = Key;

    fn kept(&self) -> Key {
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

impl Kept for Pooled<'_> {
    type Kept = PoolId;

    fn kept(&self) -> PoolId {
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

impl Kept for Placed<'_> {
    type Kept = DeviceId;

    fn kept(&self) -> DeviceId {
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

impl Kept for About<'_> {
    type Kept = ObjectReference;

    fn kept(&self) -> ObjectReference {
        ObjectReference {
            kind: self.kind.clone(),
            namespace: self.object.namespace.clone(),
            name: self.object.name.clone(),
            ..ObjectReference::default()
        }
    }
}

/// Declares the indexes: what each is asked for and what it finds, as an object says it and as the index keeps it.
macro_rules! indexes {
    ($a:lifetime; $($(#[$doc:meta])* $index:ident: $entry:ident($of:ty, $member:ty) keeps ($asked:ty, $found:ty);)+) => {
        /// One entry of one index, in the words of the object that it comes from.
        #[derive(PartialEq, Eq)]
        pub(super) enum Entry<$a> {
            $($entry($of, $member),)+
        }

        /// All indexes of a cluster.
        #[derive(Debug, Default, Clone)]
        pub(super) struct Indexes {
            $($index: Layered<($asked, $found), ()>,)+
        }

        impl Indexes {
            pub(super) fn add(&mut self, entry: Entry<'_>) {
                match entry {
                    $(Entry::$entry(of, member) => self.$index.insert((of.kept(), member.kept()), ()),)+
                };
            }

            pub(super) fn remove(&mut self, entry: Entry<'_>) {
                match entry {
                    $(Entry::$entry(of, member) => self.$index.remove(&(of.kept(), member.kept())),)+
                };
            }

            $($(#[$doc])*
            pub(super) fn $index(&self, of: &$asked) -> impl Iterator<Item = &$found> {
                self.$index.members((of.clone(), <$found>::default()))
            })+
        }

        /// Collects entries and sorts them once, which is several times faster than adding them one by one.
        #[derive(Default)]
        pub(super) struct Bulk {
            $($index: Vec<(($asked, $found), ())>,)+
        }

        impl Bulk {
            pub(super) fn add(&mut self, entry: Entry<'_>) {
                match entry {
                    $(Entry::$entry(of, member) => self.$index.push(((of.kept(), member.kept()), ())),)+
                }
            }

            pub(super) fn build(self) -> Indexes {
                Indexes {
                    $($index: self.$index.into_iter().collect(),)+
                }
            }
        }
    };
}

indexes! {
    'a;
    /// Names of the pods, in the claim's namespace, that mention the claim.
    pods_of_claim: PodOfClaim(Named<'a>, &'a Str) keeps (Key, Str);
    /// Names of the pods, in the group's namespace, that say they are members of the group.
    pods_of_group: PodOfGroup(Named<'a>, &'a Str) keeps (Key, Str);
    pods_of_node: PodOfNode(&'a Str, Named<'a>) keeps (Str, Key);
    /// Names of the pods, in the template's namespace, whose claims are made from it.
    pods_of_template: PodOfTemplate(Named<'a>, &'a Str) keeps (Key, Str);
    /// Names of the PodGroups, in the claim's namespace, that mention the claim.
    groups_of_claim: GroupOfClaim(Named<'a>, &'a Str) keeps (Key, Str);
    /// Names of the PodGroups, in the template's namespace, whose claims are made from it.
    groups_of_template: GroupOfTemplate(Named<'a>, &'a Str) keeps (Key, Str);
    claims_of_device: ClaimOfDevice(Placed<'a>, Named<'a>) keeps (DeviceId, Key);
    claims_of_owner: ClaimOfOwner(&'a Str, Named<'a>) keeps (Str, Key);
    slices_of_pool: SliceOfPool(Pooled<'a>, &'a Str) keeps (PoolId, Str);
    events_of_object: EventOfObject(About<'a>, Named<'a>) keeps (ObjectReference, Key);
}

impl Indexes {
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
