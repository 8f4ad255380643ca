//! Which devices are taken, as the scheduler sees it.
//!
//! Mirrors `allocateddevices.go` and `dra_manager.go`, `GatherAllocatedState`, v1.37.1. Two properties of upstream show: the state
//! is a set, so two claims that hold one device count once, and a result without share ID takes a device as a whole even if the
//! device allows several allocations.

use std::collections::{BTreeMap, HashMap};

use crate::model::{AllocatedDevice, Claim, DeviceId, PoolId, Quantity, Str};

use super::capacity::units;
use super::overlay::Overlay;

/// What allocated claims take of the devices of one pool.
pub(super) type PoolState = BTreeMap<Str, DeviceState>;

/// What allocated claims take of one device.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceState {
    /// Taken as a whole.
    pub(super) dedicated: bool,
    /// Taken in shares.
    pub(super) shared: bool,
    /// Sum of what the shares take, by capacity.
    pub(super) consumed: Vec<(Str, i128)>,
}

/// What allocated claims take, by pool. Devices that no slice lists any more are in it, too.
#[derive(Clone, Debug, Default)]
pub(super) struct AllocatedState {
    pools: Overlay<PoolId, PoolState>,
}

impl AllocatedState {
    /// The state that `claims` make together.
    pub(super) fn gather<'a>(claims: impl Iterator<Item = &'a Claim>, consumable_capacity: bool) -> Self {
        let mut pools: HashMap<PoolId, PoolState> = HashMap::new();
        // Most claims have their devices of one pool.
        let of_pools = claims.flat_map(|claim| {
            claim
                .results()
                .chunk_by(|a, b| (&a.pool, &a.driver) == (&b.pool, &b.driver))
        });
        for results in of_pools {
            let mut held = results.iter().filter(|result| !result.admin_access).peekable();
            let Some(first) = held.peek() else { continue };
            let pool = PoolId {
                driver: first.driver.clone(),
                pool: first.pool.clone(),
            };
            let devices = pools.entry(pool).or_default();
            for result in held {
                let device = devices.entry(result.device.clone()).or_default();
                device.add(result, consumable_capacity);
            }
        }
        Self {
            pools: Overlay::new(pools),
        }
    }

    /// Makes the state of `device` anew, of which `claims` are all that name it.
    pub(super) fn refresh<'a>(
        &mut self,
        device: &DeviceId,
        claims: impl Iterator<Item = &'a Claim>,
        consumable_capacity: bool,
    ) {
        let pool = device.pool_id();
        let mut devices = self.pools.get(&pool).cloned().unwrap_or_default();
        devices.remove(&device.device);
        let held = claims
            .flat_map(Claim::results)
            .filter(|result| !result.admin_access && result.id() == *device);
        for result in held {
            let state = devices.entry(device.device.clone()).or_default();
            state.add(result, consumable_capacity);
        }
        self.pools.insert(pool, devices);
    }

    /// What is taken of the pool's devices, if anything is.
    pub(super) fn pool(&self, id: &PoolId) -> Option<&PoolState> {
        self.pools.get(id)
    }
}

impl DeviceState {
    fn add(&mut self, result: &AllocatedDevice, consumable_capacity: bool) {
        if !consumable_capacity || result.share_id.is_none() {
            self.dedicated = true;
            return;
        }
        self.shared = true;
        for (name, amount) in &result.consumed_capacity {
            self.consume(name, amount);
        }
    }

    fn consume(&mut self, name: &Str, amount: &Quantity) {
        match self.consumed.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum = sum.saturating_add(units(amount)),
            None => self.consumed.push((name.clone(), units(amount))),
        }
    }

    /// What the shares take of the capacity `name`.
    pub(super) fn consumed(&self, name: &Str) -> i128 {
        self.consumed
            .iter()
            .find(|(known, _)| known == name)
            .map_or(0, |(_, sum)| *sum)
    }
}
