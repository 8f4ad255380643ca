//! Slices of a pool for a node: devices with their usage, and counters.
//!
//! Mirrors `pools_incubating.go`, `buildPool`, and `tracker.go`, `applyPatches`, v1.37.2.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use typed_index_collections::TiVec;

use dra_model::{Device, PoolId, Slice, Taint, TaintRule};

use super::super::allocated::{PoolState, TakenDevice};
use super::super::counters::{CounterIndex, CounterIx, Counters, InView, PoolFault, SetIx};
use super::super::rules::{rule_matches_in_pool, rule_matches_pool};
use super::super::selectors::{Numbered, NumberedSlice};
use super::super::taints::keeps_off;
use super::{LOOKS_PER_OBJECT, PoolSlices, Pools, uses_compatibility_groups};

/// Usability of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolStatus {
    /// Its devices can be allocated.
    Usable,
    /// The driver has not published all slices of the generation yet.
    Incomplete,
    /// The slices contradict each other.
    Invalid(PoolFault),
}

/// A pool as a node sees it.
#[derive(Debug)]
pub(crate) struct PoolView {
    pub(crate) id: PoolId,
    pub(crate) status: PoolStatus,
    /// Slices with devices that reach the node, by name.
    pub(crate) slices: Vec<Arc<NumberedSlice>>,
    /// The devices of those slices; none unless the pool is usable. In releases that use incomplete pools too, those have theirs.
    pub(crate) devices: TiVec<InView, PoolDevice>,
    /// Some device is not taken as a whole.
    pub(crate) has_free_devices: bool,
    /// Shared counters of the pool.
    pub(crate) counters: Counters,
    /// Pools with binding conditions come after those without.
    pub(crate) has_binding_conditions: bool,
    /// Not all of its slices are there, whatever else is wrong with it.
    pub(crate) misses_slices: bool,
    /// True if taints count at all.
    has_taints: bool,
    /// True if they count whatever their effect is.
    any_effect: bool,
    /// Rules that may select devices of the pool.
    rules: Vec<Arc<TaintRule>>,
}

/// Shortage caused by devices in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// The counter of that number.
    Counter(CounterIx),
    /// A compatibility group that the device could share its counters in.
    Group,
}

/// A device of a [`PoolView`].
#[derive(Clone, Debug)]
pub(crate) struct PoolDevice {
    /// Index of the slice in the view.
    pub(crate) slice: u32,
    /// Index of the device in that slice.
    pub(crate) index: u32,
    /// Taken as a whole by an allocated claim.
    pub(crate) dedicated: bool,
    /// Shares of it are taken by allocated claims.
    pub(crate) shared: bool,
    /// Several claims may hold shares of it.
    pub(crate) multiple: bool,
    /// Consumption of allocated shares, in the order of the device's capacities; empty if zero.
    pub(crate) consumed: Box<[i128]>,
}

impl PoolView {
    #[inline]
    pub(crate) fn slice(&self, device: &PoolDevice) -> &Slice {
        &self.slices[device.slice as usize].slice
    }

    #[inline]
    pub(crate) fn device(&self, device: &PoolDevice) -> &Device {
        &self.slice(device).spec.devices[device.index as usize]
    }

    /// Returns which of the view's devices is this one of `slice`; none where the pool is unusable or gates hide the slice.
    pub(crate) fn find(&self, slice: &Slice, device: &Device) -> Option<InView> {
        let devices = &mut slice.spec.devices.iter();
        let index = devices.position(|known| std::ptr::eq(known, device))?;
        let name = &slice.metadata.name;
        // They are in the order of their names, unless some of them come last.
        let by_name = self
            .slices
            .binary_search_by(|numbered| numbered.slice.metadata.name.cmp(name));
        let one_by_one = || {
            let mut slices = self.slices.iter();
            slices.position(|numbered| numbered.slice.metadata.name == *name)
        };
        let place = by_name.ok().or_else(one_by_one)?;
        let wanted = (place as u32, index as u32);
        let devices = self.devices.as_slice();
        devices
            .binary_search_by_key(&wanted, |device| (device.slice, device.index))
            .ok()
    }

    /// Returns what the devices in use leave too little of for the device, if there is such a thing and it draws from counters. Mirrors
    /// `allocator_experimental.go`, `checkAvailableCounters` and `checkAndConsumeCompatibilityGroups`, v1.37.2, before any device is
    /// picked.
    pub(crate) fn lacks(&self, device: InView) -> Option<Lack> {
        let usage = self.counters.usage(device)?;
        let found = &self.devices[device];
        // Who shares it has drawn for all.
        if found.multiple && found.shared {
            return None;
        }
        let admitted = |(set, groups): &(SetIx, Box<[u32]>)| self.counters.groups[*set].admits(groups);
        if !usage.groups.iter().all(admitted) {
            return Some(Lack::Group);
        }
        let available = &self.counters.available;
        let exceeding = usage
            .amounts
            .iter()
            .filter(|(counter, amount)| *amount > available[*counter]);
        // An overdrawn counter keeps all devices of the pool back that draw from any, unless they give enough back to it.
        let overdrawn = self.counters.overdrawn.iter();
        let exhausted = exceeding
            .map(|(counter, _)| *counter)
            .chain(overdrawn.copied().find(|counter| usage.of(*counter).is_none()))
            .min();
        exhausted.map(Lack::Counter)
    }

    /// Returns how much it takes to look at the view's devices once.
    pub(crate) fn size(&self) -> usize {
        self.devices.len() * (1 + self.rules.len() / LOOKS_PER_OBJECT)
    }

    /// Taints of the device and of the rules that select it, as far as they keep pods without toleration off. Mirrors `tracker.go`,
    /// `applyPatches`.
    pub(crate) fn taints<'a>(&'a self, device: &'a Device) -> impl Iterator<Item = &'a Taint> {
        let rules = self.rules.iter();
        let of_rules = rules.filter(|rule| rule_matches_in_pool(rule, &device.name));
        let of_rules = of_rules.map(|rule| &rule.spec.taint);
        // Where the feature is off there are no rules either.
        let own = if self.has_taints { &*device.taints } else { &[] };
        own.iter()
            .chain(of_rules)
            .filter(|taint| self.any_effect || keeps_off(taint))
    }

    /// The device as expressions know it.
    pub(crate) fn numbered(&self, device: &PoolDevice) -> Numbered<'_> {
        Numbered {
            slice: &self.slices[device.slice as usize],
            index: device.index,
        }
    }
}

fn has_binding_conditions(slice: &Slice) -> bool {
    let mut devices = slice.spec.devices.iter();
    devices.any(|device| !device.binding_conditions.is_empty())
}

impl Pools {
    /// The view that consists of the `relevant` slices. There is none where the driver is replacing them: a newer generation
    /// exists, though not for this node.
    pub(super) fn build(
        &self,
        pool: &PoolSlices,
        relevant: &[u32],
        allocated: Option<&PoolState>,
    ) -> Option<PoolView> {
        let mut view = PoolView {
            id: pool.id.clone(),
            status: PoolStatus::Usable,
            slices: Vec::new(),
            devices: TiVec::new(),
            has_free_devices: false,
            counters: Counters::default(),
            // Also where the pool contradicts itself.
            has_binding_conditions: self.features.release.pool_is_of_node
                && relevant
                    .iter()
                    .any(|place| has_binding_conditions(&pool.slices[*place as usize].slice)),
            misses_slices: false,
            has_taints: self.features.device_taints,
            any_effect: self.features.release.any_effect_blocks,
            rules: self.rules_of(&pool.id),
        };
        let first = &pool.slices[relevant[0] as usize].slice.spec.pool;
        let expected = first.resource_slice_count;
        let mut others: Vec<&Arc<NumberedSlice>> = Vec::new();
        if relevant.len() as i64 != expected && self.features.release.pool_is_of_node {
            view.status = PoolStatus::Incomplete;
            view.misses_slices = true;
        } else if relevant.len() as i64 != expected {
            // Slices that do not reach the node decide whether the pool is complete.
            let newer =
                |numbered: &Arc<NumberedSlice>| numbered.slice.spec.pool.generation > first.generation;
            if pool.slices.iter().any(newer) {
                return None;
            }
            let current: Vec<(u32, &Arc<NumberedSlice>)> = (0..)
                .zip(&pool.slices)
                .filter(|(_, numbered)| {
                    numbered.slice.spec.pool.generation == first.generation
                        && (self.features.compatibility_groups || !uses_compatibility_groups(&numbered.slice))
                })
                .collect();
            if current.len() as i64 != expected {
                view.misses_slices = true;
                let there = relevant.iter().map(|place| &pool.slices[*place as usize]);
                view.status = match duplicate_device(there) {
                    Err(why) if self.features.is_first_stable() => PoolStatus::Invalid(why),
                    _ => PoolStatus::Incomplete,
                };
                return Some(view);
            }
            if relevant.len() < current.len() {
                let relevant: HashSet<u32, RandomState> = relevant.iter().copied().collect();
                let others_of_pool = current.iter().filter(|(place, _)| !relevant.contains(place));
                others.extend(others_of_pool.map(|(_, numbered)| *numbered));
            }
        }
        let has_counters = |numbered: &Arc<NumberedSlice>| {
            self.features.partitionable_devices && !numbered.slice.spec.shared_counters.is_empty()
        };
        let mut slices = Vec::with_capacity(relevant.len());
        slices.extend(relevant.iter().map(|place| &pool.slices[*place as usize]));
        slices.sort_by(|a, b| a.slice.metadata.name.cmp(&b.slice.metadata.name));
        if self.features.takes_binding_slices_last() {
            slices.sort_by_key(|numbered| has_binding_conditions(&numbered.slice));
        }
        let (mut targeting, mut counter_slices) = (Vec::with_capacity(slices.len()), Vec::new());
        for numbered in slices {
            if has_counters(numbered) {
                counter_slices.push(&*numbered.slice);
            } else {
                targeting.push(Arc::clone(numbered));
            }
        }
        others.retain(|numbered| {
            let counters = has_counters(numbered);
            if counters {
                counter_slices.push(&*numbered.slice);
            }
            !counters
        });

        let counters = duplicate_device(targeting.iter()).and_then(|()| {
            if !self.features.partitionable_devices {
                return Ok(Counters::default());
            }
            let index = CounterIndex::new(&counter_slices, self.features.compatibility_groups)?;
            let taken = |device: &Device| allocated.is_some_and(|pool| pool.contains_key(&device.name));
            index.build(
                targeting.iter().map(|numbered| &*numbered.slice),
                others.iter().map(|numbered| &*numbered.slice),
                taken,
            )
        });
        match counters {
            Ok(counters) => view.counters = counters,
            Err(why) => {
                view.status = PoolStatus::Invalid(why);
                return Some(view);
            }
        }
        view.slices = targeting;
        view.devices = self.devices_of(&view, allocated);
        view.has_free_devices = view.devices.iter().any(|device| !device.dedicated);
        view.has_binding_conditions = view
            .devices
            .iter()
            .any(|device| !view.device(device).binding_conditions.is_empty());
        Some(view)
    }

    /// The rules that may select devices of the pool.
    fn rules_of(&self, pool: &PoolId) -> Vec<Arc<TaintRule>> {
        let rules = self.rules.iter();
        let of_pool = rules.filter(|rule| rule_matches_pool(rule, pool));
        of_pool.map(Arc::clone).collect()
    }

    fn devices_of(&self, view: &PoolView, allocated: Option<&PoolState>) -> TiVec<InView, PoolDevice> {
        let total = view
            .slices
            .iter()
            .map(|numbered| numbered.slice.spec.devices.len())
            .sum();
        let mut devices = TiVec::with_capacity(total);
        for (place, numbered) in (0..).zip(&view.slices) {
            for (index, device) in (0..).zip(&numbered.slice.spec.devices) {
                let state = allocated.and_then(|pool| pool.get(&device.name));
                devices.push(self.pool_device((place, index), device, state));
            }
        }
        devices
    }

    /// The device at that place: which slice, and which device of it.
    #[inline]
    fn pool_device(
        &self,
        (slice, index): (u32, u32),
        device: &Device,
        state: Option<&TakenDevice>,
    ) -> PoolDevice {
        let shares = state.filter(|state| !state.consumed.is_empty());
        PoolDevice {
            slice,
            index,
            dedicated: state.is_some_and(|state| state.dedicated),
            shared: state.is_some_and(|state| {
                state.shared && (!self.features.release.bare_shares_use_nothing || !state.consumed.is_empty())
            }),
            multiple: self.features.consumable_capacity && device.allow_multiple_allocations,
            consumed: shares.map_or_else(Box::default, |state| {
                let capacities = device.capacity.iter();
                capacities.map(|(name, _)| state.consumed(name)).collect()
            }),
        }
    }
}

fn duplicate_device<'a>(
    mut slices: impl ExactSizeIterator<Item = &'a Arc<NumberedSlice>>,
) -> Result<(), PoolFault> {
    let mut names = BTreeSet::new();
    let is_only = slices.len() == 1;
    slices.try_for_each(|numbered| {
        let devices = &numbered.slice.spec.devices;
        // Most drivers publish a few devices in the order of their names.
        if is_only && devices.is_sorted_by(|a, b| a.name.as_str() < b.name.as_str()) {
            return Ok(());
        }
        let mut devices = devices.iter();
        match devices.find(|device| !names.insert(device.name.as_str())) {
            Some(device) => Err(PoolFault::DuplicateDevice(device.name.to_string())),
            None => Ok(()),
        }
    })
}
