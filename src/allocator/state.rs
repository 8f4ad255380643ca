//! Which devices are taken, as the scheduler sees it.
//!
//! Mirrors `allocateddevices.go` and `dra_manager.go`, `GatherAllocatedState`, v1.37.1. Two properties of upstream show: the state
//! is a set, so two claims that hold one device count once, and a result without share ID takes a device as a whole even if the
//! device allows several allocations.

use std::collections::HashMap;

use crate::model::{AllocatedDevice, Claim, PoolId, Quantity, Str};

use super::capacity::units;

/// What allocated claims take of the devices of one pool.
pub(super) type PoolState = HashMap<Str, DeviceState>;

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
    pools: HashMap<PoolId, PoolState>,
}

impl AllocatedState {
    /// The state that `claims` make together.
    pub(super) fn gather<'a>(claims: impl Iterator<Item = &'a Claim>, consumable_capacity: bool) -> Self {
        let mut state = Self::default();
        for claim in claims {
            for result in claim.results() {
                if !result.admin_access {
                    state.add(result, consumable_capacity);
                }
            }
        }
        state
    }

    fn add(&mut self, result: &AllocatedDevice, consumable_capacity: bool) {
        let pool = PoolId {
            driver: result.driver.clone(),
            pool: result.pool.clone(),
        };
        let device = self
            .pools
            .entry(pool)
            .or_default()
            .entry(result.device.clone())
            .or_default();
        if !consumable_capacity || result.share_id.is_none() {
            device.dedicated = true;
            return;
        }
        device.shared = true;
        for (name, amount) in &result.consumed_capacity {
            device.consume(name, amount);
        }
    }

    /// What is taken of the pool's devices, if anything is.
    pub(super) fn pool(&self, id: &PoolId) -> Option<&PoolState> {
        self.pools.get(id)
    }
}

impl DeviceState {
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
