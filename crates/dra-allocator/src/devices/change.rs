//! Changes of the cluster below facts that are there already.
//!
//! A what-if or a packing run changes a claim at a time in a cluster of thousands of pools. Programs, devices prepared for
//! expressions and results stay; what was worked out about a pool is dropped where a change touches it.

use std::collections::BTreeSet;

use super::facts::Facts;
use super::rules::rules_of_scheduler;
use dra_model::{Change, Claim, Cluster, DeviceId, Kind, Object};

/// For how many objects that are looked at a claim counts that may hold a device.
const LOOKS_PER_HOLDER: usize = 4;

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
            Kind::DeviceTaintRule => self.pools.replace_rules(rules_of_scheduler(&self.cluster).iter()),
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
        self.cluster
            .differences(cluster, Kind::ResourceClaim, |before, after| {
                for object in before.into_iter().chain(after) {
                    if let Object::ResourceClaim(claim) = object {
                        add_devices(&mut devices, claim);
                    }
                }
            });
        let differs = |kind: Kind| {
            let mut differs = false;
            self.cluster.differences(cluster, kind, |_, _| differs = true);
            differs
        };
        if differs(Kind::ResourceSlice) {
            self.selectors.meter().look(cluster.count(Kind::ResourceSlice));
            fork.pools.replace_slices(cluster.slices(), &fork.selectors);
        }
        if differs(Kind::DeviceTaintRule) {
            fork.pools.replace_rules(rules_of_scheduler(cluster).iter());
        }
        fork.refresh(devices);
        fork
    }

    /// Works out again who holds `devices`.
    fn refresh(&mut self, devices: BTreeSet<DeviceId>) {
        for device in devices {
            let mut looks = 0;
            let claims = self.cluster.claims_of_device(&device).map(|claim| {
                looks += LOOKS_PER_HOLDER;
                &**claim
            });
            self.allocated
                .refresh(&device, claims, self.features.consumable_capacity);
            self.selectors.meter().look(looks);
            self.pools.forget(&device.pool_id());
        }
    }
}

fn add_devices(devices: &mut BTreeSet<DeviceId>, claim: &Claim) {
    let results = claim.results().iter().filter(|result| result.takes());
    devices.extend(results.map(|result| result.id()));
}
