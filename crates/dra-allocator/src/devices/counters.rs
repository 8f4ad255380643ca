//! Counters that devices of a pool share, and the groups of devices that may draw from one set together.
//!
//! Mirrors `allocator_experimental.go`, `checkAvailableCounters` and `checkAndConsumeCompatibilityGroups`, v1.37.2. Counters are
//! numbered per pool, and amounts are integers, so that the search only adds and compares.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use typed_index_collections::TiVec;

use dra_model::{Component, Counter, Device, Environment, Gate, Pool, Slice, Str};

use crate::places::places;

use super::capacity::units;

places! {
    /// A shared counter of a pool.
    CounterIx;
    /// A counter set of a pool.
    SetIx;
    /// A device of a view of a pool.
    InView;
}

/// The shared counters of a pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    /// Remainder after the devices of allocated claims, by counter; negative if claims consume more than the total.
    pub(crate) available: TiVec<CounterIx, i128>,
    /// Set and name of each counter.
    pub(crate) names: TiVec<CounterIx, (Str, Str)>,
    /// Groups that devices of allocated claims left for each counter set.
    pub(crate) groups: TiVec<SetIx, Compatibility>,
    /// A device gives counters back.
    pub(crate) gives_back: bool,
    /// Overused counters: claims consume more than their total, in order. They make every device that consumes counters
    /// unavailable.
    pub(crate) overdrawn: Vec<CounterIx>,
    /// Consumption of each device of the view, if it draws from any; empty if the pool has no counters.
    usages: TiVec<InView, Option<Usage>>,
}

/// Counter consumption of one device, even if it is zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    /// Amounts by counter, each counter once.
    pub(crate) amounts: Box<[(CounterIx, i128)]>,
    /// Groups by counter set, in the order of the device; none where no allocator looks at groups.
    pub(crate) groups: Box<[(SetIx, Box<[u32]>)]>,
}

/// Groups that can still join a counter set. Mirrors `compatibility_groups.go`, `compatibilityGroupIntersection`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Compatibility {
    /// No device draws from the set.
    #[default]
    Free,
    /// Only devices without groups do, and only such may join.
    Ungrouped,
    /// Groups common to all devices that do, ascending.
    Groups(Box<[u32]>),
}

impl Counters {
    /// Returns what the device of the view takes, if it draws from counters.
    #[inline]
    pub(crate) fn usage(&self, device: InView) -> Option<&Usage> {
        self.usages.get(device)?.as_ref()
    }

    /// Takes away what a device takes.
    fn take(&mut self, usage: &Usage) {
        for (counter, amount) in &usage.amounts {
            let left = &mut self.available[*counter];
            *left = left.saturating_sub(*amount);
        }
        for (set, groups) in &usage.groups {
            let common = &mut self.groups[*set];
            *common = common.with(groups);
        }
    }

    /// Returns whether a device may be kept back by a counter that it does not draw from: one that is overdrawn, or that picks overdraw while
    /// others return to it.
    pub(crate) fn concern_all(&self) -> bool {
        self.gives_back || !self.overdrawn.is_empty()
    }
}

impl Usage {
    /// Returns what the device takes of the counter, if it draws from it.
    pub(crate) fn of(&self, counter: CounterIx) -> Option<i128> {
        let (_, amount) = self.amounts.iter().find(|(known, _)| *known == counter)?;
        Some(*amount)
    }
}

impl Compatibility {
    pub(crate) fn admits(&self, groups: &[u32]) -> bool {
        match self {
            Self::Free => true,
            Self::Ungrouped => groups.is_empty(),
            Self::Groups(common) => groups.iter().any(|group| common.contains(group)),
        }
    }

    pub(crate) fn with(&self, groups: &[u32]) -> Self {
        match self {
            Self::Free if groups.is_empty() => Self::Ungrouped,
            Self::Free => Self::Groups(groups.into()),
            Self::Groups(common) if !groups.is_empty() => Self::Groups(
                common
                    .iter()
                    .copied()
                    .filter(|group| groups.contains(group))
                    .collect(),
            ),
            Self::Ungrouped | Self::Groups(_) => self.clone(),
        }
    }
}

/// Contradiction between the slices of a pool, in upstream's words. Mirrors `pools_experimental.go`, `buildPool`, v1.37.2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolFault {
    /// Two devices that reach the node have this name.
    #[error("duplicate device name {0}")]
    DuplicateDevice(String),
    /// Two counter sets have this name.
    #[error("duplicate counter set name {0}")]
    DuplicateCounterSet(String),
    /// A device draws from a counter set of this name.
    #[error("counter set {0} not found")]
    NoCounterSet(String),
    /// A device draws from a counter that its set does not have.
    #[error("counter {counter} not found in counter set {set}")]
    NoCounter {
        /// The counter.
        counter: String,
        /// The set.
        set: String,
    },
}

/// Returns what makes a pool invalid on every node that reaches it, as far as kube-scheduler looks for it: two counter sets of one name, or a
/// device that draws from counters which do not exist.
pub fn pool_fault(environment: &Environment, pool: &Pool<'_>) -> Option<PoolFault> {
    if !environment.enabled(Component::Scheduler, Gate::DRAPartitionableDevices) {
        return None;
    }
    pool.parts().iter().find_map(part_fault)
}

fn part_fault(part: &Pool<'_>) -> Option<PoolFault> {
    let slices: Vec<&Slice> = part.slices.iter().map(|slice| &***slice).collect();
    let mut index = match CounterIndex::new(&slices, false) {
        Ok(index) => index,
        Err(fault) => return Some(fault),
    };
    slices.into_iter().find_map(|slice| index.validate(slice).err())
}

/// Numbers of counter sets, counters and groups while a pool is looked at.
pub(crate) struct CounterIndex<'a> {
    /// By name.
    sets: HashMap<&'a str, IndexedSet<'a>, RandomState>,
    groups: HashMap<&'a str, u32, RandomState>,
    /// Groups count; otherwise none is noted.
    with_groups: bool,
    built: Counters,
}

struct IndexedSet<'a> {
    number: SetIx,
    /// The number of its first counter, which the others follow.
    first: CounterIx,
    /// By name.
    counters: &'a [(Str, Counter)],
}

impl IndexedSet<'_> {
    fn counter(&self, name: &Str) -> Option<CounterIx> {
        let place = self.counters.binary_search_by(|(known, _)| known.cmp(name));
        Some(CounterIx(self.first.0 + place.ok()? as u32))
    }
}

impl<'a> CounterIndex<'a> {
    /// Numbers the counters of `slices`.
    ///
    /// # Errors
    /// Two sets of one name, which make the pool invalid.
    pub(crate) fn new(slices: &[&'a Slice], with_groups: bool) -> Result<Self, PoolFault> {
        let mut index = Self {
            sets: HashMap::default(),
            groups: HashMap::default(),
            with_groups,
            built: Counters::default(),
        };
        for set in slices.iter().flat_map(|slice| &slice.spec.shared_counters) {
            let indexed = IndexedSet {
                number: SetIx::from(index.sets.len()),
                first: index.built.available.next_key(),
                counters: &set.counters,
            };
            if index.sets.insert(&set.name, indexed).is_some() {
                return Err(PoolFault::DuplicateCounterSet(set.name.to_string()));
            }
            for (name, counter) in &set.counters {
                index.built.available.push(units(&counter.value));
                index.built.names.push((set.name.clone(), name.clone()));
            }
        }
        index.built.groups = vec![Compatibility::Free; index.sets.len()].into();
        Ok(index)
    }

    /// Looks whether the devices of `slice` draw from counters that exist.
    ///
    /// # Errors
    /// What is missing, which makes the pool invalid.
    pub(crate) fn validate(&mut self, slice: &'a Slice) -> Result<(), PoolFault> {
        let mut devices = slice.spec.devices.iter();
        devices.try_for_each(|device| self.draw(device).map(drop))
    }

    /// The counters with what the `taken` devices of both kinds of slices leave, and what each device of `targeting` takes.
    ///
    /// # Errors
    /// A counter that is missing, which makes the pool invalid.
    pub(crate) fn build(
        mut self,
        targeting: impl Iterator<Item = &'a Slice>,
        others: impl Iterator<Item = &'a Slice>,
        taken: impl Fn(&Device) -> bool,
    ) -> Result<Counters, PoolFault> {
        for device in targeting.flat_map(|slice| &slice.spec.devices) {
            let usage = self.draw(device)?;
            if let Some(usage) = usage.as_ref().filter(|_| taken(device)) {
                self.built.take(usage);
            }
            self.built.usages.push(usage);
        }
        for device in others.flat_map(|slice| &slice.spec.devices) {
            if let Some(usage) = self.draw(device)?.filter(|_| taken(device)) {
                self.built.take(&usage);
            }
        }
        if self.sets.is_empty() {
            return Ok(Counters::default());
        }
        let mut amounts = self
            .built
            .usages
            .iter()
            .flatten()
            .flat_map(|usage| &usage.amounts);
        self.built.gives_back = amounts.any(|(_, amount)| *amount < 0);
        let overdrawn = self
            .built
            .available
            .iter_enumerated()
            .filter(|(_, left)| **left < 0);
        self.built.overdrawn = overdrawn.map(|(counter, _)| counter).collect();
        Ok(self.built)
    }

    /// Returns what `device` takes, if it takes anything, be it nothing of any counter.
    ///
    /// # Errors
    /// A counter that does not exist.
    fn draw(&mut self, device: &'a Device) -> Result<Option<Usage>, PoolFault> {
        let (mut amounts, mut groups) = (Vec::new(), Vec::new());
        for consumption in &device.consumes_counters {
            let Some(set) = self.sets.get(consumption.counter_set.as_str()) else {
                return Err(PoolFault::NoCounterSet(consumption.counter_set.to_string()));
            };
            for (name, counter) in &consumption.counters {
                let Some(number) = set.counter(name) else {
                    return Err(PoolFault::NoCounter {
                        counter: name.to_string(),
                        set: consumption.counter_set.to_string(),
                    });
                };
                let amount = units(&counter.value);
                match amounts.iter_mut().find(|(known, _)| *known == number) {
                    Some((_, sum)) => *sum = amount.saturating_add(*sum),
                    None => amounts.push((number, amount)),
                }
            }
            if self.with_groups {
                let mut numbers: Vec<u32> = Vec::with_capacity(consumption.compatibility_groups.len());
                for name in &consumption.compatibility_groups {
                    let next = self.groups.len() as u32;
                    numbers.push(*self.groups.entry(name).or_insert(next));
                }
                numbers.sort_unstable();
                numbers.dedup();
                groups.push((set.number, numbers.into()));
            }
        }
        // There may be many devices: nothing is held beyond what they take.
        let usage = || Usage {
            amounts: amounts.into(),
            groups: groups.into(),
        };
        Ok((!device.consumes_counters.is_empty()).then(usage))
    }
}
