//! Pools as one node sees them: which slices count, in which order, and whether they can be used.
//!
//! Mirrors `pools_incubating.go`, `GatherPools`, v1.37.1. A view of a pool depends on the node only through the slices that reach
//! the node, so views are kept by that set and shared by all nodes with the same one. Nothing is worked out before a node asks.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::fast::RandomState;

use crate::model::{Device, Node, PoolId, Slice, Str, Taint, TaintRule};

use super::counters::{CounterIndex, Counters};
use super::features::Features;
use super::node_selection::node_matches;
use super::selectors::{Numbered, NumberedSlice, Selectors};
use super::state::{AllocatedState, DeviceState, PoolState};

/// Slices of a pool by their place, and the view that they make.
type KnownView = (Vec<u32>, Option<Arc<PoolView>>);

/// What is known of a pool so far; no view where a newer generation reaches other nodes only.
#[derive(Debug, Default)]
struct KnownViews {
    /// Of a pool with one slice: every node that the slice reaches sees the same.
    only: OnceLock<Option<Arc<PoolView>>>,
    /// Of other pools, by the slices that reach a node.
    by_slices: Mutex<Vec<KnownView>>,
}

/// Every slice of a pool, whatever its generation, by name.
#[derive(Debug)]
struct PoolSlices {
    id: PoolId,
    slices: Vec<Arc<NumberedSlice>>,
}

/// All pools, with an index of those a node may reach.
#[derive(Debug, Default)]
struct PoolIndex {
    all: Vec<PoolSlices>,
    by_id: HashMap<PoolId, u32, RandomState>,
    /// Pools with slices of one node only, by that node.
    of_node: HashMap<Str, Reached, RandomState>,
    /// Pools with other slices.
    shared: Vec<u32>,
}

/// Pools with slices of one node: mostly one.
#[derive(Debug)]
struct Reached {
    first: u32,
    others: Vec<u32>,
}

/// The pools of a cluster and what is known of them so far. A clone shares both.
#[derive(Clone, Debug)]
pub(super) struct Pools {
    index: Arc<PoolIndex>,
    /// By pool.
    views: Arc<[KnownViews]>,
    /// Views of pools that have changed since.
    changed: HashMap<u32, Arc<KnownViews>, RandomState>,
    features: Features,
    rules: Arc<[Arc<TaintRule>]>,
}

/// Whether a pool can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolStatus {
    /// Its devices can be allocated.
    Usable,
    /// The driver has not published all slices of the generation yet.
    Incomplete,
    /// The slices contradict each other, in the way that the text says.
    Invalid(String),
}

/// A pool as a node sees it.
#[derive(Debug)]
pub(super) struct PoolView {
    pub(super) id: PoolId,
    pub(super) status: PoolStatus,
    /// Slices with devices that reach the node, by name.
    pub(super) slices: Vec<Arc<NumberedSlice>>,
    /// The devices of those slices; none unless the pool is usable.
    pub(super) devices: Vec<PoolDevice>,
    /// Shared counters of the pool.
    pub(super) counters: Counters,
    /// Pools with binding conditions come after those without.
    has_binding_conditions: bool,
}

/// A device of a [`PoolView`].
#[derive(Clone, Debug)]
pub(super) struct PoolDevice {
    /// Which of the view's slices.
    pub(super) slice: u32,
    /// Which device of that slice.
    pub(super) index: u32,
    /// Taken as a whole by an allocated claim.
    pub(super) dedicated: bool,
    /// Shares of it are taken by allocated claims.
    pub(super) shared: bool,
    /// Several claims may hold shares of it.
    pub(super) multiple: bool,
    /// What few devices have.
    more: Option<Box<MoreOfDevice>>,
}

/// What only few devices have.
#[derive(Clone, Debug)]
struct MoreOfDevice {
    consumed: Vec<i128>,
    taints: Vec<Taint>,
}

impl PoolDevice {
    /// What allocated shares take, in the order of the device's capacities; empty where they take nothing.
    pub(super) fn consumed(&self) -> &[i128] {
        self.more.as_ref().map_or(&[], |more| &more.consumed)
    }

    /// Taints that keep pods without toleration off.
    pub(super) fn taints(&self) -> &[Taint] {
        self.more.as_ref().map_or(&[], |more| &more.taints)
    }
}

impl PoolView {
    #[inline]
    pub(super) fn slice(&self, device: &PoolDevice) -> &Slice {
        &self.slices[device.slice as usize].slice
    }

    #[inline]
    pub(super) fn device(&self, device: &PoolDevice) -> &Device {
        &self.slice(device).spec.devices[device.index as usize]
    }

    /// The device as expressions know it.
    pub(super) fn numbered(&self, device: &PoolDevice) -> Numbered<'_> {
        Numbered {
            slice: &self.slices[device.slice as usize],
            index: device.index,
        }
    }
}

impl Reached {
    fn pools(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }
}

impl PoolIndex {
    /// Groups `slices`, which come in the order of their names.
    fn new(slices: impl Iterator<Item = Arc<NumberedSlice>>) -> Self {
        let mut index = Self::default();
        for numbered in slices {
            let pool = *index
                .by_id
                .entry(numbered.slice.pool_id())
                .or_insert_with_key(|id| {
                    index.all.push(PoolSlices {
                        id: id.clone(),
                        slices: Vec::with_capacity(1),
                    });
                    index.all.len() as u32 - 1
                });
            match own_node(&numbered.slice) {
                Some(node) => {
                    let reached = index.of_node.entry(node.clone()).or_insert_with(|| Reached {
                        first: pool,
                        others: Vec::new(),
                    });
                    if reached.first != pool && !reached.others.contains(&pool) {
                        reached.others.push(pool);
                    }
                }
                // Slices of one pool mostly come one after the other.
                None if index.shared.last() != Some(&pool) && !index.shared.contains(&pool) => {
                    index.shared.push(pool);
                }
                None => {}
            }
            index.all[pool as usize].slices.push(numbered);
        }
        index
    }

    /// The slice with its numbers, if it is among those here.
    fn numbered(&self, slice: &Arc<Slice>) -> Option<&Arc<NumberedSlice>> {
        let slices = &self.all[*self.by_id.get(&slice.pool_id())? as usize].slices;
        let name = &slice.metadata.name;
        let place = slices.binary_search_by(|numbered| numbered.slice.metadata.name.cmp(name));
        slices
            .get(place.ok()?)
            .filter(|numbered| Arc::ptr_eq(&numbered.slice, slice))
    }
}

impl Pools {
    /// Groups `slices`, which come in the order of their names.
    pub(super) fn new<'a>(
        slices: impl Iterator<Item = &'a Arc<Slice>>,
        rules: impl Iterator<Item = &'a Arc<TaintRule>>,
        features: Features,
        selectors: &Selectors,
    ) -> Self {
        let mut pools = Self {
            index: Arc::new(PoolIndex::new(slices.map(|slice| selectors.number(slice)))),
            views: Arc::default(),
            changed: HashMap::default(),
            features,
            rules: Arc::default(),
        };
        pools.replace_rules(rules);
        pools
    }

    /// Groups other slices. Devices of those that are known keep their numbers.
    pub(super) fn replace_slices<'a>(
        &mut self,
        slices: impl Iterator<Item = &'a Arc<Slice>>,
        selectors: &Selectors,
    ) {
        let known = &self.index;
        let index = PoolIndex::new(slices.map(|slice| {
            let numbered = known.numbered(slice);
            numbered.map_or_else(|| selectors.number(slice), Arc::clone)
        }));
        self.index = Arc::new(index);
        self.forget_all();
    }

    /// The pools of another cluster. Devices of slices that are known keep their numbers.
    pub(super) fn beside<'a>(
        &self,
        slices: impl Iterator<Item = &'a Arc<Slice>>,
        rules: impl Iterator<Item = &'a Arc<TaintRule>>,
        selectors: &Selectors,
    ) -> Self {
        let mut pools = Self {
            index: Arc::clone(&self.index),
            views: Arc::default(),
            changed: HashMap::default(),
            features: self.features,
            rules: Arc::default(),
        };
        pools.replace_slices(slices, selectors);
        pools.replace_rules(rules);
        pools
    }

    /// Takes other rules.
    pub(super) fn replace_rules<'a>(&mut self, rules: impl Iterator<Item = &'a Arc<TaintRule>>) {
        if self.features.device_taints {
            self.rules = rules.map(Arc::clone).collect();
        }
        self.forget_all();
    }

    /// Drops what is known of one pool.
    pub(super) fn forget(&mut self, id: &PoolId) {
        if let Some(pool) = self.index.by_id.get(id) {
            self.changed.insert(*pool, Arc::default());
        }
    }

    fn forget_all(&mut self) {
        self.views = self.index.all.iter().map(|_| KnownViews::default()).collect();
        self.changed.clear();
    }

    /// The pools that `node` reaches, in the order in which the search takes them.
    ///
    /// # Errors
    /// The text of the error with which upstream ends the attempt.
    pub(super) fn of_node(
        &self,
        node: &Node,
        allocated: &AllocatedState,
    ) -> Result<Vec<Arc<PoolView>>, String> {
        let mut views = Vec::new();
        let own = self.index.of_node.get(&node.metadata.name);
        for pool in own.iter().flat_map(|own| own.pools()) {
            views.extend(self.view(pool, node, allocated)?);
        }
        for pool in &self.index.shared {
            if own.is_none_or(|own| own.pools().all(|own| own != *pool)) {
                views.extend(self.view(*pool, node, allocated)?);
            }
        }
        if views.len() > 1 {
            views.sort_by(|a, b| (a.has_binding_conditions, &a.id).cmp(&(b.has_binding_conditions, &b.id)));
        }
        Ok(views)
    }

    fn view(
        &self,
        number: u32,
        node: &Node,
        allocated: &AllocatedState,
    ) -> Result<Option<Arc<PoolView>>, String> {
        let pool = &self.index.all[number as usize];
        let changed = self.changed.get(&number);
        let views = changed.map_or(&self.views[number as usize], |views| &**views);
        if let [only] = pool.slices.as_slice() {
            if own_node(&only.slice).is_some_and(|name| *name != node.metadata.name) {
                return Ok(None);
            }
            let view = views.only.get_or_init(|| {
                if self.is_ignored(&only.slice) {
                    return None;
                }
                let allocated = allocated.pool(&pool.id);
                let view = self.build_plain(pool, only, allocated);
                view.or_else(|| self.build(pool, &[0], allocated)).map(Arc::new)
            });
            return Ok(match view {
                // A slice that is ignored must not be asked whom it reaches, which may be an error.
                Some(view) if reaches(&only.slice, node)? => Some(Arc::clone(view)),
                _ => None,
            });
        }
        let relevant = self.relevant(pool, node)?;
        if relevant.is_empty() {
            return Ok(None);
        }
        let mut views = views.by_slices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, view)) = views.iter().find(|(known, _)| *known == relevant) {
            return Ok(view.clone());
        }
        let view = self
            .build(pool, &relevant, allocated.pool(&pool.id))
            .map(Arc::new);
        views.push((relevant, view.clone()));
        Ok(view)
    }

    /// The slices of the newest generation that reaches the node. Those that name the node come first, as upstream keeps them
    /// apart from the others.
    fn relevant(&self, pool: &PoolSlices, node: &Node) -> Result<Vec<u32>, String> {
        let mut relevant: Vec<u32> = Vec::with_capacity(1);
        let mut generation = i64::MIN;
        for named in [true, false] {
            for (place, numbered) in pool.slices.iter().enumerate() {
                let slice = &numbered.slice;
                let visible = match own_node(slice) {
                    Some(name) => named && *name == node.metadata.name,
                    None => !named,
                };
                if !visible || self.is_ignored(slice) || !reaches(slice, node)? {
                    continue;
                }
                match slice.spec.pool.generation.cmp(&generation) {
                    std::cmp::Ordering::Less if !relevant.is_empty() => continue,
                    std::cmp::Ordering::Greater => relevant.clear(),
                    _ => {}
                }
                generation = slice.spec.pool.generation;
                relevant.push(place as u32);
            }
        }
        Ok(relevant)
    }

    /// Slices that an allocator without the feature does not see.
    fn is_ignored(&self, slice: &Slice) -> bool {
        (!self.features.partitionable_devices
            && (slice.spec.per_device_node_selection || !slice.spec.shared_counters.is_empty()))
            || (!self.features.compatibility_groups && uses_compatibility_groups(slice))
    }

    /// The view of a pool that consists of one slice without anything shared, which is what most drivers publish. Nothing where it
    /// takes [`Self::build`] to see what to make of the slice.
    fn build_plain(
        &self,
        pool: &PoolSlices,
        only: &Arc<NumberedSlice>,
        allocated: Option<&PoolState>,
    ) -> Option<PoolView> {
        let spec = &only.slice.spec;
        if spec.pool.resource_slice_count != 1 || !spec.shared_counters.is_empty() {
            return None;
        }
        let rules = self.rules_of(&pool.id);
        let mut devices = Vec::with_capacity(spec.devices.len());
        let mut previous = None;
        let mut has_binding_conditions = false;
        let mut next = 0;
        for device in &spec.devices {
            let name = Some(device.name.as_str());
            if previous >= name || !device.consumes_counters.is_empty() {
                return None;
            }
            previous = name;
            has_binding_conditions |= !device.binding_conditions.is_empty();
            let state = allocated.and_then(|pool| pool.device(&device.name, &mut next));
            let place = (0, devices.len() as u32);
            devices.push(self.pool_device(place, device, state, &rules));
        }
        Some(PoolView {
            id: pool.id.clone(),
            status: PoolStatus::Usable,
            slices: vec![Arc::clone(only)],
            devices,
            counters: Counters::default(),
            has_binding_conditions,
        })
    }

    /// The view that consists of the `relevant` slices. There is none where the driver is replacing them: a newer generation
    /// exists, though not for this node.
    fn build(&self, pool: &PoolSlices, relevant: &[u32], allocated: Option<&PoolState>) -> Option<PoolView> {
        let mut view = PoolView {
            id: pool.id.clone(),
            status: PoolStatus::Usable,
            slices: Vec::new(),
            devices: Vec::new(),
            counters: Counters::default(),
            has_binding_conditions: false,
        };
        let first = &pool.slices[relevant[0] as usize].slice.spec.pool;
        let expected = first.resource_slice_count;
        let mut others: Vec<&Arc<NumberedSlice>> = Vec::new();
        if relevant.len() as i64 != expected {
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
                view.status = PoolStatus::Incomplete;
                return Some(view);
            }
            if relevant.len() < current.len() {
                others.extend(
                    current
                        .iter()
                        .filter(|(place, _)| !relevant.contains(place))
                        .map(|(_, numbered)| *numbered),
                );
            }
        }
        let mut targeting: Vec<&Arc<NumberedSlice>> = relevant
            .iter()
            .map(|place| &pool.slices[*place as usize])
            .collect();
        targeting.sort_by(|a, b| a.slice.metadata.name.cmp(&b.slice.metadata.name));
        let has_counters = |numbered: &&Arc<NumberedSlice>| {
            self.features.partitionable_devices && !numbered.slice.spec.shared_counters.is_empty()
        };
        let (mut counter_slices, targeting): (Vec<_>, Vec<_>) = targeting.into_iter().partition(has_counters);
        let (other_counters, others): (Vec<_>, Vec<_>) = others.into_iter().partition(has_counters);
        counter_slices.extend(other_counters);

        let counters = duplicate_device(&targeting).and_then(|()| {
            if !self.features.partitionable_devices {
                return Ok(Counters::default());
            }
            let index = CounterIndex::new(counter_slices.iter().map(|numbered| &*numbered.slice))?;
            let taken = |device: &Device| allocated.is_some_and(|pool| pool.has(&device.name));
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
        view.slices = targeting.into_iter().cloned().collect();
        view.devices = self.devices_of(&view, allocated);
        view.has_binding_conditions = view
            .devices
            .iter()
            .any(|device| !view.device(device).binding_conditions.is_empty());
        Some(view)
    }

    /// The rules that may select devices of the pool.
    fn rules_of(&self, pool: &PoolId) -> Vec<&TaintRule> {
        let selects = |rule: &&TaintRule| {
            rule.spec.device_selector.as_ref().is_some_and(|selector| {
                selector
                    .driver
                    .as_ref()
                    .is_none_or(|driver| *driver == pool.driver)
                    && selector.pool.as_ref().is_none_or(|name| *name == pool.pool)
            })
        };
        self.rules.iter().map(|rule| &**rule).filter(selects).collect()
    }

    fn devices_of(&self, view: &PoolView, allocated: Option<&PoolState>) -> Vec<PoolDevice> {
        let rules = self.rules_of(&view.id);
        let total = view
            .slices
            .iter()
            .map(|numbered| numbered.slice.spec.devices.len())
            .sum();
        let mut devices = Vec::with_capacity(total);
        let mut next = 0;
        for (place, numbered) in (0..).zip(&view.slices) {
            for (index, device) in (0..).zip(&numbered.slice.spec.devices) {
                let state = allocated.and_then(|pool| pool.device(&device.name, &mut next));
                devices.push(self.pool_device((place, index), device, state, &rules));
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
        state: Option<&DeviceState>,
        rules: &[&TaintRule],
    ) -> PoolDevice {
        let has_more = state.is_some_and(|state| !state.consumed.is_empty())
            || !device.taints.is_empty()
            || !rules.is_empty();
        PoolDevice {
            slice,
            index,
            dedicated: state.is_some_and(|state| state.dedicated),
            shared: state.is_some_and(|state| state.shared),
            multiple: self.features.consumable_capacity && device.allow_multiple_allocations,
            more: has_more.then(|| Box::new(self.more_of(device, state, rules))),
        }
    }

    fn more_of(&self, device: &Device, state: Option<&DeviceState>, rules: &[&TaintRule]) -> MoreOfDevice {
        let state = state.filter(|state| !state.consumed.is_empty());
        let consumed = state.map_or_else(Vec::new, |state| {
            let capacities = device.capacity.iter();
            capacities.map(|(name, _)| state.consumed(name)).collect()
        });
        let taints = self.taints_of(device, rules);
        MoreOfDevice { consumed, taints }
    }

    /// Taints of the device and of the rules that select it, as far as they keep pods off. Mirrors `tracker.go`, `applyPatches`.
    fn taints_of(&self, device: &Device, rules: &[&TaintRule]) -> Vec<Taint> {
        if !self.features.device_taints {
            return Vec::new();
        }
        let of_rules = rules
            .iter()
            .filter(|rule| {
                rule.spec
                    .device_selector
                    .as_ref()
                    .is_some_and(|selector| selector.device.as_ref().is_none_or(|name| *name == device.name))
            })
            .map(|rule| &rule.spec.taint);
        device
            .taints
            .iter()
            .chain(of_rules)
            .filter(|taint| matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute"))
            .cloned()
            .collect()
    }
}

fn own_node(slice: &Slice) -> Option<&Str> {
    slice.spec.node_name.as_ref().filter(|name| !name.is_empty())
}

/// Whether at least one device of the slice reaches the node.
fn reaches(slice: &Slice, node: &Node) -> Result<bool, String> {
    let spec = &slice.spec;
    if own_node(slice).is_some() || spec.all_nodes || spec.node_selector.is_some() {
        return node_matches(
            node,
            spec.node_name.as_ref(),
            spec.all_nodes,
            spec.node_selector.as_ref(),
        )
        .map_err(|why| {
            format!(
                "failed to perform node selection for slice {}: {why}",
                slice.metadata.name
            )
        });
    }
    if spec.per_device_node_selection {
        for device in &spec.devices {
            let reached = node_matches(
                node,
                device.node_name.as_ref(),
                device.all_nodes,
                device.node_selector.as_ref(),
            )
            .map_err(|why| {
                format!(
                    "failed to perform node selection for device {} in slice {}: {why}",
                    device.name, slice.metadata.name
                )
            })?;
            if reached {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn uses_compatibility_groups(slice: &Slice) -> bool {
    slice.spec.devices.iter().any(|device| {
        device
            .consumes_counters
            .iter()
            .any(|consumption| !consumption.compatibility_groups.is_empty())
    })
}

fn duplicate_device(slices: &[&Arc<NumberedSlice>]) -> Result<(), String> {
    // Most drivers publish a few devices in the order of their names.
    if let [numbered] = slices
        && numbered
            .slice
            .spec
            .devices
            .is_sorted_by(|a, b| a.name.as_str() < b.name.as_str())
    {
        return Ok(());
    }
    let mut names = BTreeSet::new();
    for numbered in slices {
        for device in &numbered.slice.spec.devices {
            if !names.insert(device.name.as_str()) {
                return Err(format!("duplicate device name {}", device.name));
            }
        }
    }
    Ok(())
}
