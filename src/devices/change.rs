//! Changes of the cluster below facts that are there already.
//!
//! A what-if or a packing run changes a claim at a time in a cluster of thousands of pools. Programs, devices prepared for
//! expressions and results stay; what was worked out about a pool is dropped where a change touches it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::facts::{Facts, objects};
use super::pools::LOOKS_PER_OBJECT;
use crate::model::{Change, Claim, Cluster, DeviceId, Kind, Object};

impl Facts {
    /// Makes `change` part of the cluster of these facts. What changes a claim costs as much as the claim is large.
    pub fn apply(&mut self, change: Change) {
        let kind = match &change {
            Change::Put(object) => object.kind(),
            Change::Delete(kind, _) => *kind,
        };
        let mut devices = BTreeSet::new();
        if let Change::Put(Object::ResourceClaim(claim)) = &change {
            add_devices(&mut devices, claim);
        }
        if let Some(Object::ResourceClaim(claim)) = self.cluster.apply(change) {
            add_devices(&mut devices, &claim);
        }
        match kind {
            Kind::ResourceClaim => self.refresh(devices),
            Kind::ResourceSlice => self.pools.replace_slices(self.cluster.slices(), &self.selectors),
            Kind::DeviceTaintRule => self.pools.replace_rules(self.cluster.rules()),
            _ => {}
        }
    }

    /// Facts of `cluster`, which is a fork of the cluster of these facts with some changes. Expressions are evaluated again only
    /// for devices of slices that differ.
    ///
    /// Gates and versions are taken to be the same.
    #[must_use]
    pub fn fork(&self, cluster: &Cluster) -> Self {
        let mut fork = self.clone();
        fork.cluster = cluster.clone();
        let mut devices = BTreeSet::new();
        self.selectors.meter().look(objects(cluster) / LOOKS_PER_OBJECT);
        different(self.cluster.claims(), cluster.claims(), |claim| {
            add_devices(&mut devices, claim);
        });
        let mut slices = false;
        different(self.cluster.slices(), cluster.slices(), |_| slices = true);
        if slices {
            fork.pools.replace_slices(cluster.slices(), &fork.selectors);
        }
        let mut rules = false;
        different(self.cluster.rules(), cluster.rules(), |_| rules = true);
        if rules {
            fork.pools.replace_rules(cluster.rules());
        }
        fork.refresh(devices);
        fork
    }

    /// Works out again who holds `devices`.
    fn refresh(&mut self, devices: BTreeSet<DeviceId>) {
        for device in devices {
            let claims = self.cluster.claims_of_device(&device).map(|claim| &**claim);
            self.allocated
                .refresh(&device, claims, self.features.consumable_capacity);
            self.pools.forget(&device.pool_id());
        }
    }
}

fn add_devices(devices: &mut BTreeSet<DeviceId>, claim: &Claim) {
    let results = claim.results().iter().filter(|result| result.takes());
    devices.extend(results.map(|result| result.id()));
}

/// Calls `report` for the objects that are in one of the lists only.
fn different<'a, T: 'a>(
    before: impl Iterator<Item = &'a Arc<T>>,
    after: impl Iterator<Item = &'a Arc<T>>,
    mut report: impl FnMut(&'a Arc<T>),
) {
    let (mut before, mut after) = (before.peekable(), after.peekable());
    // Both ends of an unchanged stretch are equal, so nothing has to be remembered until the first difference.
    while let (Some(a), Some(b)) = (before.peek(), after.peek()) {
        if !Arc::ptr_eq(a, b) {
            break;
        }
        before.next();
        after.next();
    }
    let mut rest: HashMap<*const T, &Arc<T>> = before.map(|object| (Arc::as_ptr(object), object)).collect();
    for object in after {
        if rest.remove(&Arc::as_ptr(object)).is_none() {
            report(object);
        }
    }
    for object in rest.into_values() {
        report(object);
    }
}
