//! Derived indexes: who uses a claim, who holds a device, which slices make a pool.
//!
//! An index entry is computed from one object alone, so that a change of the object is a removal of its old entries and an
//! addition of its new ones. What an entry *means* (whether a pod that names a claim may use it, say) is for the rules.

use super::layered::Layered;
use crate::{
    Claim, DeviceId, Event, Key, ObjectReference, Pod, PodClaim, PodClaimStatus, PodGroup, PoolId, Slice, Str,
};

/// Declares the indexes: what each is asked for and what it finds.
macro_rules! indexes {
    ($($(#[$doc:meta])* $index:ident: $entry:ident($asked:ty, $found:ty);)+) => {
        /// One entry of one index.
        #[derive(PartialEq, Eq)]
        pub(super) enum Entry {
            $($entry($asked, $found),)+
        }

        /// All indexes of a cluster.
        #[derive(Debug, Default, Clone)]
        pub(super) struct Indexes {
            $($index: Layered<($asked, $found), ()>,)+
        }

        impl Indexes {
            pub(super) fn add(&mut self, entry: Entry) {
                match entry {
                    $(Entry::$entry(of, member) => self.$index.insert((of, member), ()),)+
                };
            }

            pub(super) fn remove(&mut self, entry: Entry) {
                match entry {
                    $(Entry::$entry(of, member) => self.$index.remove(&(of, member)),)+
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
            pub(super) fn add(&mut self, entry: Entry) {
                match entry {
                    $(Entry::$entry(of, member) => self.$index.push(((of, member), ())),)+
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
    /// The pods that mention the claim, in its namespace.
    pods_of_claim: PodOfClaim(Key, Key);
    /// The pods that say they are members of the group, in its namespace.
    pods_of_group: PodOfGroup(Key, Key);
    pods_of_node: PodOfNode(Str, Key);
    /// The pods whose claims are made from the template, in its namespace.
    pods_of_template: PodOfTemplate(Key, Key);
    /// The PodGroups that mention the claim, in its namespace.
    groups_of_claim: GroupOfClaim(Key, Key);
    /// The PodGroups whose claims are made from the template, in its namespace.
    groups_of_template: GroupOfTemplate(Key, Key);
    claims_of_device: ClaimOfDevice(DeviceId, Key);
    claims_of_owner: ClaimOfOwner(Str, Key);
    slices_of_pool: SliceOfPool(PoolId, Str);
    events_of_object: EventOfObject(ObjectReference, Key);
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
        let first = DeviceId::new(&driver, &pool, &Str::default());
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
pub(super) fn of_pod(pod: &Pod, mut add: impl FnMut(Entry)) {
    let metadata = &pod.metadata;
    let named = named(&pod.spec.resource_claims);
    let made = made(&pod.status.resource_claim_statuses);
    let extended = pod
        .status
        .extended_resource_claim_status
        .iter()
        .map(|status| &status.resource_claim_name);
    for claim in named.chain(made).chain(extended) {
        add(Entry::PodOfClaim(metadata.beside(claim), metadata.key()));
    }
    for template in templates(&pod.spec.resource_claims) {
        add(Entry::PodOfTemplate(metadata.beside(template), metadata.key()));
    }
    if let Some(group) = pod.pod_group() {
        add(Entry::PodOfGroup(metadata.beside(group), metadata.key()));
    }
    if let Some(node) = pod.node() {
        add(Entry::PodOfNode(node.clone(), metadata.key()));
    }
}

/// Entries of a PodGroup: every claim it mentions, and the templates of its claims.
pub(super) fn of_group(group: &PodGroup, mut add: impl FnMut(Entry)) {
    let metadata = &group.metadata;
    let entries = &group.spec.resource_claims;
    for claim in named(entries).chain(made(&group.status.resource_claim_statuses)) {
        add(Entry::GroupOfClaim(metadata.beside(claim), metadata.key()));
    }
    for template in templates(entries) {
        add(Entry::GroupOfTemplate(metadata.beside(template), metadata.key()));
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
        field_path: Str::default(),
        ..event.involved_object.clone()
    };
    add(Entry::EventOfObject(object, event.metadata.key()));
}
