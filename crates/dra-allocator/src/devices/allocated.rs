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

/// Usage of the devices of one pool by allocated claims.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoolState {
    /// By name, once [`Self::sort`] has run.
    devices: Vec<(Str, TakenDevice)>,
}

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
        // Most claims have their devices of one pool.
        let of_pools = claims.flat_map(|claim| {
            claim
                .results()
                .chunk_by(|a, b| (&a.pool, &a.driver) == (&b.pool, &b.driver))
        });
        for results in of_pools {
            let mut held = results.iter().filter(|result| result.takes()).peekable();
            let Some(first) = held.peek() else { continue };
            let pool = PoolId::new(&first.driver, &first.pool);
            let state = pools.entry(pool).or_default();
            for result in held {
                state.add(result, consumable_capacity);
            }
        }
        pools.values_mut().for_each(PoolState::sort);
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
        state.devices.retain(|(name, _)| *name != device.device);
        let held = claims
            .flat_map(Claim::results)
            .filter(|result| result.takes() && result.id() == *device);
        for result in held {
            state.add(result, consumable_capacity);
        }
        state.sort();
        self.pools.insert(pool, state);
    }

    /// Returns what is taken of the pool's devices, if anything is.
    pub(crate) fn pool(&self, id: &PoolId) -> Option<&PoolState> {
        self.pools.get(id)
    }
}

impl PoolState {
    fn add(&mut self, result: &AllocatedDevice, consumable_capacity: bool) {
        let mut state = TakenDevice::default();
        state.add(result, consumable_capacity);
        self.devices.push((result.device.clone(), state));
    }

    /// Brings the devices into the order of their names, each once.
    fn sort(&mut self) {
        self.devices.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.devices.dedup_by(|(name, state), (kept_name, kept)| {
            let same = name == kept_name;
            if same {
                kept.join(state);
            }
            same
        });
    }

    /// Returns what is taken of the device `name`, if anything is.
    ///
    /// A caller that iterates over devices in order passes the same `next` each time, zero at first: the next device
    /// usually follows the last one found.
    #[inline]
    pub(crate) fn device(&self, name: &Str, next: &mut usize) -> Option<&TakenDevice> {
        let place = match self.devices.get(*next) {
            Some((known, _)) if known == name => *next,
            _ => self.devices.binary_search_by(|(known, _)| known.cmp(name)).ok()?,
        };
        *next = place + 1;
        Some(&self.devices[place].1)
    }

    /// Returns whether anything is taken of the device `name`.
    pub(crate) fn has(&self, name: &Str) -> bool {
        self.device(name, &mut 0).is_some()
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
            self.consume(name, units(amount));
        }
    }

    /// Adds what `other` says of the same device.
    fn join(&mut self, other: &Self) {
        self.dedicated |= other.dedicated;
        self.shared |= other.shared;
        for (name, amount) in &other.consumed {
            self.consume(name, *amount);
        }
    }

    fn consume(&mut self, name: &Str, amount: i128) {
        match self.consumed.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum = sum.saturating_add(amount),
            None => self.consumed.push((name.clone(), amount)),
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
