//! Counters that devices of a pool share, and the groups of devices that may draw from one set together.
//!
//! Mirrors `allocator_experimental.go`, `checkAvailableCounters` and `checkAndConsumeCompatibilityGroups`, v1.37.1. Counters are
//! numbered per pool, and amounts are integers, so that the search only adds and compares.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::model::{Counter, Device, Slice, Str};

use super::capacity::units;

/// The shared counters of a pool.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    /// What is left after the devices of allocated claims, by counter; negative where claims took more than there is.
    pub(super) available: Vec<i128>,
    /// Set and name of each counter.
    pub(super) names: Vec<(Str, Str)>,
    /// Groups that devices of allocated claims left for each counter set.
    pub(super) groups: Vec<Compatibility>,
    /// What each device of the view takes.
    pub(super) usage: Vec<Usage>,
    /// A counter is overdrawn, or a device gives counters back: every counter has to be compared each time.
    pub(super) compare_all: bool,
}

/// What one device takes of the counters of its pool.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    /// Amounts by counter, each counter once.
    pub(super) amounts: Box<[(u32, i128)]>,
    /// Groups by counter set, in the order of the device.
    pub(super) groups: Box<[(u32, Box<[u32]>)]>,
    /// Whether the device takes anything, be it nothing of any counter.
    pub(super) consumes: bool,
}

/// Which groups may still join a counter set. Mirrors `compatibility_groups.go`, `compatibilityGroupIntersection`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Compatibility {
    /// No device draws from the set.
    #[default]
    Free,
    /// Only devices without groups do, and only such may join.
    Ungrouped,
    /// Groups common to all devices that do, ascending.
    Groups(Box<[u32]>),
}

impl Compatibility {
    pub(super) fn admits(&self, groups: &[u32]) -> bool {
        match self {
            Self::Free => true,
            Self::Ungrouped => groups.is_empty(),
            Self::Groups(common) => groups.iter().any(|group| common.contains(group)),
        }
    }

    pub(super) fn with(&self, groups: &[u32]) -> Self {
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

/// What makes a pool invalid on every node, if `slices` are its newest generation: two counter sets of one name, or a device that
/// draws from counters which do not exist.
pub fn pool_fault<'a>(slices: impl Iterator<Item = &'a Slice>) -> Option<String> {
    let slices: Vec<_> = slices.collect();
    let mut index = match CounterIndex::new(slices.iter().copied()) {
        Ok(index) => index,
        Err(fault) => return Some(fault),
    };
    slices.into_iter().find_map(|slice| index.validate(slice).err())
}

/// Numbers of counter sets, counters and groups while a pool is looked at.
pub(super) struct CounterIndex<'a> {
    /// By name.
    sets: Vec<IndexedSet<'a>>,
    groups: HashMap<&'a str, u32, RandomState>,
    built: Counters,
}

struct IndexedSet<'a> {
    name: &'a str,
    number: u32,
    /// The number of its first counter, which the others follow.
    first: u32,
    /// By name.
    counters: &'a [(Str, Counter)],
}

impl IndexedSet<'_> {
    fn counter(&self, name: &Str) -> Option<u32> {
        let place = self.counters.binary_search_by(|(known, _)| known.cmp(name));
        Some(self.first + place.ok()? as u32)
    }
}

impl<'a> CounterIndex<'a> {
    /// Numbers the counters of `slices`.
    ///
    /// # Errors
    /// Two sets of one name, which make the pool invalid.
    pub(super) fn new(slices: impl Iterator<Item = &'a Slice>) -> Result<Self, String> {
        let mut index = Self {
            sets: Vec::new(),
            groups: HashMap::default(),
            built: Counters::default(),
        };
        for set in slices.flat_map(|slice| &slice.spec.shared_counters) {
            index.sets.push(IndexedSet {
                name: &set.name,
                number: index.sets.len() as u32,
                first: index.built.available.len() as u32,
                counters: &set.counters,
            });
            for (name, counter) in &set.counters {
                index.built.available.push(units(&counter.value));
                index.built.names.push((set.name.clone(), name.clone()));
            }
        }
        index.sets.sort_by_key(|set| (set.name, set.number));
        let repeated = index.sets.windows(2).filter(|pair| pair[0].name == pair[1].name);
        // Upstream meets them in the order of their numbers.
        if let Some(pair) = repeated.min_by_key(|pair| pair[1].number) {
            return Err(format!("duplicate counter set name {}", pair[1].name));
        }
        index.built.groups = vec![Compatibility::Free; index.sets.len()];
        Ok(index)
    }

    fn set(&self, name: &str) -> Option<&IndexedSet<'a>> {
        let place = self.sets.binary_search_by_key(&name, |set| set.name).ok()?;
        Some(&self.sets[place])
    }

    /// Looks whether the devices of `slice` draw from counters that exist.
    ///
    /// # Errors
    /// What is missing, which makes the pool invalid.
    pub(super) fn validate(&mut self, slice: &'a Slice) -> Result<(), String> {
        slice
            .spec
            .devices
            .iter()
            .try_for_each(|device| self.usage(device).map(drop))
    }

    /// The counters with what the `taken` devices of both kinds of slices leave, and what each device of `targeting` takes.
    ///
    /// # Errors
    /// A counter that is missing, which makes the pool invalid.
    pub(super) fn build(
        mut self,
        targeting: impl Iterator<Item = &'a Slice>,
        others: impl Iterator<Item = &'a Slice>,
        taken: impl Fn(&Device) -> bool,
    ) -> Result<Counters, String> {
        let mut usage = Vec::new();
        for device in targeting.flat_map(|slice| &slice.spec.devices) {
            let used = self.usage(device)?;
            if taken(device) {
                self.take(&used);
            }
            usage.push(used);
        }
        for device in others.flat_map(|slice| &slice.spec.devices) {
            let used = self.usage(device)?;
            if taken(device) {
                self.take(&used);
            }
        }
        if self.sets.is_empty() {
            return Ok(self.built);
        }
        let gives_back = |usage: &Usage| usage.amounts.iter().any(|(_, amount)| *amount < 0);
        self.built.compare_all =
            self.built.available.iter().any(|left| *left < 0) || usage.iter().any(gives_back);
        self.built.usage = usage;
        Ok(self.built)
    }

    /// What `device` takes, if it draws from counters that exist.
    fn usage(&mut self, device: &'a Device) -> Result<Usage, String> {
        if device.consumes_counters.is_empty() {
            return Ok(Usage::default());
        }
        let counters = device
            .consumes_counters
            .iter()
            .map(|consumption| consumption.counters.len());
        let mut amounts: Vec<(u32, i128)> = Vec::with_capacity(counters.sum());
        let mut groups = Vec::with_capacity(device.consumes_counters.len());
        for consumption in &device.consumes_counters {
            let Some(set) = self.set(&consumption.counter_set) else {
                return Err(format!("counter set {} not found", consumption.counter_set));
            };
            for (name, counter) in &consumption.counters {
                let Some(number) = set.counter(name) else {
                    return Err(format!(
                        "counter {name} not found in counter set {}",
                        consumption.counter_set
                    ));
                };
                let amount = units(&counter.value);
                match amounts.iter_mut().find(|(known, _)| *known == number) {
                    Some((_, sum)) => *sum = sum.saturating_add(amount),
                    None => amounts.push((number, amount)),
                }
            }
            let set = set.number;
            let mut numbers: Vec<u32> = Vec::with_capacity(consumption.compatibility_groups.len());
            for name in &consumption.compatibility_groups {
                let next = self.groups.len() as u32;
                numbers.push(*self.groups.entry(name).or_insert(next));
            }
            numbers.sort_unstable();
            numbers.dedup();
            groups.push((set, numbers.into()));
        }
        Ok(Usage {
            amounts: amounts.into(),
            groups: groups.into(),
            consumes: true,
        })
    }

    fn take(&mut self, usage: &Usage) {
        for (counter, amount) in &usage.amounts {
            let left = &mut self.built.available[*counter as usize];
            *left = left.saturating_sub(*amount);
        }
        for (set, groups) in &usage.groups {
            let common = &mut self.built.groups[*set as usize];
            *common = common.with(groups);
        }
    }
}
