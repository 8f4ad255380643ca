//! Devices in use, as kube-scheduler sees them.
//!
//! Mirrors `allocateddevices.go` and `dra_manager.go`, `GatherAllocatedState`, v1.37.2. Two properties of upstream show: the state
//! is a set, so two claims that hold one device count once, and a result without share ID takes a device as a whole even if the
//! device allows several allocations.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use dra_model::{AllocatedDevice, Claim, DeviceId, PoolId, Str};

use super::capacity::units;
use super::overlay::Overlay;

/// Usage of the devices of one pool by allocated claims, by name.
pub(crate) type PoolState = HashMap<Str, TakenDevice, RandomState>;

/// Usage of one device by allocated claims.
#[derive(Clone, Debug, Default)]
pub(crate) struct TakenDevice {
    /// Taken as a whole.
    pub(crate) dedicated: bool,
    /// Taken in shares.
    pub(crate) shared: bool,
    /// Sum of what the shares take, by capacity.
    pub(crate) consumed: Vec<(Str, i128)>,
}

/// Usage by allocated claims, by pool. Includes devices that no slice publishes.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllocatedState {
    pools: Overlay<PoolId, PoolState>,
}

impl AllocatedState {
    /// The state that `claims` make together.
    pub(crate) fn gather<'a>(claims: impl Iterator<Item = &'a Claim>, consumable_capacity: bool) -> Self {
        let mut pools: HashMap<PoolId, PoolState, RandomState> = HashMap::default();
        for result in claims.flat_map(Claim::results).filter(|result| result.takes()) {
            let pool = pools
                .entry(PoolId::new(&result.driver, &result.pool))
                .or_default();
            let device = pool.entry(result.device.clone()).or_default();
            device.add(result, consumable_capacity);
        }
        Self {
            pools: Overlay::new(pools),
        }
    }

    /// Rebuilds the state of `device`; `claims` are all claims that name it.
    pub(crate) fn refresh<'a>(
        &mut self,
        device: &DeviceId,
        claims: impl Iterator<Item = &'a Claim>,
        consumable_capacity: bool,
    ) {
        let pool = device.pool_id();
        let mut state = self.pools.get(&pool).cloned().unwrap_or_default();
        state.remove(&device.device);
        let held = claims
            .flat_map(Claim::results)
            .filter(|result| result.takes() && result.id() == *device);
        for result in held {
            let taken = state.entry(device.device.clone()).or_default();
            taken.add(result, consumable_capacity);
        }
        self.pools.insert(pool, state);
    }

    /// Returns what is taken of the pool's devices, if anything is.
    pub(crate) fn pool(&self, id: &PoolId) -> Option<&PoolState> {
        self.pools.get(id)
    }
}

impl TakenDevice {
    fn add(&mut self, result: &AllocatedDevice, consumable_capacity: bool) {
        if result.takes_all(consumable_capacity) {
            self.dedicated = true;
            return;
        }
        self.shared = true;
        for (name, amount) in &result.consumed_capacity {
            let amount = units(amount);
            match self.consumed.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum = sum.saturating_add(amount),
                None => self.consumed.push((name.clone(), amount)),
            }
        }
    }

    /// Returns what the shares take of the capacity `name`.
    pub(crate) fn consumed(&self, name: &Str) -> i128 {
        self.consumed
            .iter()
            .find(|(known, _)| known == name)
            .map_or(0, |(_, sum)| *sum)
    }
}
