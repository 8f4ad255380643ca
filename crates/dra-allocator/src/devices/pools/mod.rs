//! Pools as one node sees them: which slices count, in which order, and whether they can be used.
//!
//! Mirrors `pools_incubating.go`, `GatherPools`, v1.37.2. A view of a pool depends on the node only through the slices that reach
//! the node, so views are kept by that set and shared by all nodes with the same one. Nothing is worked out before a node asks.
//! What becomes of the slices that reach a node is the business of `view`.

mod view;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::fast::RandomState;

use dra_model::{Meter, Node, PoolId, Slice, Str, TaintRule};

use super::allocated::AllocatedState;
use super::features::Features;
use super::reach::Nodes;
use super::selectors::{NumberedSlice, SelectorCache};

pub(crate) use self::view::Lack;
pub use self::view::PoolStatus;
pub(crate) use self::view::{PoolDevice, PoolView};

/// Number of objects that are only compared and skipped and together count as one evaluated object.
pub(crate) const LOOKS_PER_OBJECT: usize = 16;

/// For how many objects that are looked at a device counts that a view is built of.
const LOOKS_PER_BUILT_DEVICE: usize = 8;

/// Views of one pool that are kept.
const MOST_VIEWS: usize = 256;

/// Known views of a pool so far; none if a newer generation reaches other nodes only.
#[derive(Debug, Default)]
struct KnownViews {
    /// Of a pool with one slice, or with slices of one node: every node that they reach sees the same.
    only: OnceLock<Option<Arc<PoolView>>>,
    /// Of other pools, by the places of the slices that reach a node.
    by_slices: Mutex<HashMap<Vec<u32>, Option<Arc<PoolView>>, RandomState>>,
}

/// Every slice of a pool, whatever its generation, by name.
#[derive(Debug)]
struct PoolSlices {
    id: PoolId,
    slices: Vec<Arc<NumberedSlice>>,
    /// The node whose own all of them are.
    node: Option<Str>,
    /// Cost of finding those that reach a node.
    looks: usize,
}

/// All pools, with an index of those a node may reach.
#[derive(Debug, Default)]
struct PoolIndex {
    all: Vec<PoolSlices>,
    by_id: HashMap<PoolId, u32, RandomState>,
    /// Pools with slices of one node only, by that node.
    of_node: HashMap<Str, BTreeSet<u32>, RandomState>,
    /// Pools with other slices.
    shared: BTreeSet<u32>,
    /// Cost of finding their slices that reach a node.
    shared_looks: usize,
}

/// The pools of a cluster and what is known of them so far. A clone shares both.
#[derive(Clone, Debug)]
pub(crate) struct Pools {
    index: Arc<PoolIndex>,
    /// By pool.
    views: Arc<[KnownViews]>,
    /// Views of pools that have changed since.
    changed: HashMap<u32, Arc<KnownViews>, RandomState>,
    features: Features,
    rules: Arc<[Arc<TaintRule>]>,
    meter: Arc<Meter>,
}

impl PoolIndex {
    /// Groups `slices`, which come in the order of their names.
    fn new(slices: impl Iterator<Item = Arc<NumberedSlice>>, features: Features) -> Self {
        let mut index = Self::default();
        for numbered in slices {
            let node = own_node(&numbered.slice, features);
            let pool = *index
                .by_id
                .entry(numbered.slice.pool_id())
                .or_insert_with_key(|id| {
                    index.all.push(PoolSlices {
                        id: id.clone(),
                        slices: Vec::with_capacity(1),
                        node: node.cloned(),
                        looks: 0,
                    });
                    index.all.len() as u32 - 1
                });
            match node {
                Some(node) => index.of_node.entry(node.clone()).or_default().insert(pool),
                None => index.shared.insert(pool),
            };
            let known = &mut index.all[pool as usize];
            if known.node.as_ref() != node {
                known.node = None;
            }
            known.looks += looks(&numbered.slice);
            known.slices.push(numbered);
        }
        let of_pool = |pool: &u32| index.all[*pool as usize].looks;
        index.shared_looks = index.shared.iter().map(of_pool).sum();
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
    /// No pools.
    pub(crate) fn new(features: Features, meter: &Arc<Meter>) -> Self {
        Self {
            index: Arc::default(),
            views: Arc::default(),
            changed: HashMap::default(),
            features,
            rules: Arc::default(),
            meter: Arc::clone(meter),
        }
    }

    /// Groups `slices`, which come in the order of their names. Devices of those that are known keep their numbers.
    pub(crate) fn replace_slices<'a>(
        &mut self,
        slices: impl Iterator<Item = &'a Arc<Slice>>,
        selectors: &SelectorCache,
    ) {
        let known = &self.index;
        let numbered = slices.map(|slice| {
            let numbered = known.numbered(slice);
            numbered.map_or_else(|| selectors.number(slice), Arc::clone)
        });
        self.index = Arc::new(PoolIndex::new(numbered, self.features));
        self.forget_all();
    }

    /// Takes other rules.
    pub(crate) fn replace_rules<'a>(&mut self, rules: impl Iterator<Item = &'a Arc<TaintRule>>) {
        if self.features.device_taints {
            self.rules = rules.map(Arc::clone).collect();
        }
        self.forget_all();
    }

    /// Drops what is known of one pool.
    pub(crate) fn forget(&mut self, id: &PoolId) {
        if let Some(pool) = self.index.by_id.get(id) {
            self.changed.insert(*pool, Arc::default());
        }
    }

    fn forget_all(&mut self) {
        self.views = self.index.all.iter().map(|_| KnownViews::default()).collect();
        self.changed.clear();
    }

    /// The pools that `node` reaches, in the order of the search.
    ///
    /// # Errors
    /// Upstream's error text for the attempt.
    pub(crate) fn of_node(
        &self,
        node: &Node,
        allocated: &AllocatedState,
    ) -> Result<Vec<Arc<PoolView>>, String> {
        let own = self.index.of_node.get(&node.metadata.name);
        let mut looks = self.looks(own);
        let mut views = Vec::new();
        let reached: Result<(), String> = self.reached(own).try_for_each(|pool| {
            if let Some(view) = self.view(*pool, node, allocated)? {
                looks += view.size();
                views.push(view);
            }
            Ok(())
        });
        self.meter.look(looks);
        reached?;
        if views.len() > 1 {
            views.sort_by(|a, b| (a.has_binding_conditions, &a.id).cmp(&(b.has_binding_conditions, &b.id)));
        }
        Ok(views)
    }

    /// The pools that a node with `own` pools may reach.
    fn reached<'s>(&'s self, own: Option<&'s BTreeSet<u32>>) -> impl Iterator<Item = &'s u32> {
        let is_other = move |pool: &&u32| own.is_none_or(|own| !own.contains(pool));
        let others = self.index.shared.iter().filter(is_other);
        own.into_iter().flatten().chain(others)
    }

    /// Returns how much it takes to see which slices reach a node.
    pub(crate) fn looks_at_slices(&self, node: &Node) -> usize {
        self.looks(self.index.of_node.get(&node.metadata.name))
    }

    fn looks(&self, own: Option<&BTreeSet<u32>>) -> usize {
        let own = own.into_iter().flatten();
        let of_own = own.map(|pool| self.index.all[*pool as usize].looks);
        of_own.sum::<usize>() + self.index.shared_looks
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
        if pool.node.as_ref().is_some_and(|name| *name != node.metadata.name) {
            return Ok(None);
        }
        let build = |relevant: &[u32]| {
            let devices = relevant.iter().map(|place| {
                let spec = &pool.slices[*place as usize].slice.spec;
                spec.devices.len() + spec.shared_counters.len()
            });
            let looks = devices.sum::<usize>() * LOOKS_PER_BUILT_DEVICE;
            self.meter.look(looks + self.rules.len() / LOOKS_PER_OBJECT);
            let allocated = allocated.pool(&pool.id);
            self.build(pool, relevant, allocated).map(Arc::new)
        };
        if let [only] = pool.slices.as_slice() {
            let view = views.only.get_or_init(|| {
                if self.is_ignored(&only.slice) {
                    return None;
                }
                build(&[0])
            });
            return Ok(match view {
                // A slice that is ignored must not be asked whom it reaches, which may be an error.
                Some(view) if self.reaches(&only.slice, node)? => Some(Arc::clone(view)),
                _ => None,
            });
        }
        if pool.node.is_some()
            && let Some(view) = views.only.get()
        {
            return Ok(view.clone());
        }
        let relevant = self.relevant(pool, node)?;
        if relevant.is_empty() {
            return Ok(None);
        }
        if pool.node.is_some() {
            let view = views.only.get_or_init(|| build(&relevant));
            return Ok(view.clone());
        }
        let mut views = views.by_slices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = views.get(&relevant) {
            return Ok(view.clone());
        }
        let view = build(&relevant);
        // Where each node sees other slices, keeping all would take memory for nothing.
        if views.len() < MOST_VIEWS {
            views.insert(relevant, view.clone());
        }
        Ok(view)
    }

    /// The pool as a node would see it that all slices of the newest generation reach; none where all of them are ignored.
    pub(crate) fn whole(&self, id: &PoolId, allocated: &AllocatedState) -> Option<Arc<PoolView>> {
        self.newest(id, allocated, |_| true)
    }

    /// The pool as `node` sees it, which reaches no slices of the newest generation but its own.
    pub(crate) fn own_part(
        &self,
        id: &PoolId,
        node: &Str,
        allocated: &AllocatedState,
    ) -> Option<Arc<PoolView>> {
        self.newest(id, allocated, |slice| slice.spec.node_name.as_ref() == Some(node))
    }

    /// The pool as a node would see it that those slices of the newest generation reach.
    fn newest(
        &self,
        id: &PoolId,
        allocated: &AllocatedState,
        reach: impl Fn(&Slice) -> bool,
    ) -> Option<Arc<PoolView>> {
        let pool = &self.index.all[*self.index.by_id.get(id)? as usize];
        let generation = |numbered: &Arc<NumberedSlice>| numbered.slice.spec.pool.generation;
        let newest = pool.slices.iter().map(generation).max()?;
        let slices = (0..).zip(&pool.slices);
        let relevant = slices.filter(|(_, numbered)| {
            let slice = &numbered.slice;
            generation(numbered) == newest && !self.is_ignored(slice) && reach(slice)
        });
        let relevant: Vec<u32> = relevant.map(|(place, _)| place).collect();
        if relevant.is_empty() {
            return None;
        }
        self.build(pool, &relevant, allocated.pool(id)).map(Arc::new)
    }

    /// The pool as `node` sees it; none where it does not reach the pool, or where the driver is replacing the slices.
    ///
    /// # Errors
    /// The error that ends upstream's attempt.
    pub(crate) fn seen_from(
        &self,
        id: &PoolId,
        node: &Node,
        allocated: &AllocatedState,
    ) -> Result<Option<Arc<PoolView>>, String> {
        match self.index.by_id.get(id) {
            Some(pool) => self.view(*pool, node, allocated),
            None => Ok(None),
        }
    }

    /// Returns whether every node that reaches one slice of the pool reaches all of them.
    pub(crate) fn is_seen_alike(&self, id: &PoolId) -> bool {
        let Some(pool) = self.index.by_id.get(id) else {
            return true;
        };
        let pool = &self.index.all[*pool as usize];
        let mut nodes = pool
            .slices
            .iter()
            .map(|numbered| Nodes::of_slice(&numbered.slice));
        let first = nodes.next();
        pool.slices.len() < 2
            || pool.node.is_some()
            || first.is_some_and(|first| !first.is_absent() && nodes.all(|nodes| nodes == first))
    }

    /// The slices of the newest generation that reaches the node. Those that name the node come first, as upstream keeps them
    /// apart from the others.
    fn relevant(&self, pool: &PoolSlices, node: &Node) -> Result<Vec<u32>, String> {
        let mut relevant: Vec<u32> = Vec::with_capacity(pool.slices.len());
        let mut generation = i64::MIN;
        for named in [true, false] {
            for (place, numbered) in pool.slices.iter().enumerate() {
                let slice = &numbered.slice;
                let visible = match own_node(slice, self.features) {
                    Some(name) => named && *name == node.metadata.name,
                    None => !named,
                };
                if !visible || self.is_ignored(slice) || !self.reaches(slice, node)? {
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

    fn reaches(&self, slice: &Slice, node: &Node) -> Result<bool, String> {
        if is_everywhere(slice, self.features) {
            return Ok(true);
        }
        reaches(slice, node)
    }

    /// Slices that an allocator without the feature does not see.
    fn is_ignored(&self, slice: &Slice) -> bool {
        let counters_are_apart =
            !self.features.release.counters_are_of_slice && !self.features.is_first_stable();
        (!self.features.partitionable_devices
            && (slice.spec.per_device_node_selection
                || (counters_are_apart && !slice.spec.shared_counters.is_empty())))
            || (!self.features.compatibility_groups && uses_compatibility_groups(slice))
    }
}

/// Returns whether the slice belongs to its pool on every node, whichever nodes it names.
fn is_everywhere(slice: &Slice, features: Features) -> bool {
    !slice.spec.shared_counters.is_empty() && features.counter_slices_reach_all()
}

fn own_node(slice: &Slice, features: Features) -> Option<&Str> {
    let name = slice.spec.node_name.as_ref().filter(|name| !name.is_empty());
    name.filter(|_| !is_everywhere(slice, features))
}

/// Returns how much it takes to see whether `slice` reaches a node.
fn looks(slice: &Slice) -> usize {
    if !slice.spec.per_device_node_selection {
        return Nodes::of_slice(slice).looks();
    }
    let devices = slice.spec.devices.iter();
    let of_devices = devices.map(|device| Nodes::of_device(slice, device).looks());
    1 + of_devices.sum::<usize>()
}

/// Returns whether at least one device of the slice reaches the node.
fn reaches(slice: &Slice, node: &Node) -> Result<bool, String> {
    let nodes = Nodes::of_slice(slice);
    if !nodes.is_absent() {
        return nodes.include(&node.metadata).map_err(|why| {
            format!(
                "failed to perform node selection for slice {}: {why}",
                slice.metadata.name
            )
        });
    }
    if slice.spec.per_device_node_selection {
        for device in &slice.spec.devices {
            let reached = Nodes::of_device(slice, device)
                .include(&node.metadata)
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
