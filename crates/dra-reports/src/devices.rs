//! `kubectl dra devices`: every device with its holders, what is left of it, its taints and its health.

use serde::Serialize;

use super::claim_filter::names_device;
use super::{
    CapacityItem, ClaimNode, ClassError, CounterItem, DeviceItem, DeviceTaintItem, HealthReport, HolderItem,
    LeftOut, Warnings,
};
use dra_allocator::devices::{
    CachedSelector, ClassSelectors, DeviceNode, DeviceState, Inventory, Match, PoolFacts, SelectableDevice,
    Taints, WantedNode, node_of,
};
use dra_model::{Cluster, Device, DeviceId, Kind, Pool, PoolId, Quantity, Slice, Str, TOO_MUCH_WORK};
use dra_rules::health::HealthIndex;

/// The report.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct DeviceList {
    /// By driver and pool; in a pool in the order in which the scheduler tries them, then those that are only held.
    pub items: Vec<DeviceItem>,
    /// Whether no device of a listed pool was left out.
    #[serde(skip)]
    pub whole_pools: bool,
    /// What could not be found out.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// Which devices to list. The default lists all.
#[derive(Clone, Debug, Default)]
pub struct DeviceFilter {
    /// These: `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`; empty means all.
    pub names: Vec<String>,
    /// Of this driver.
    pub driver: Option<Str>,
    /// Of this pool.
    pub pool: Option<PoolId>,
    /// Of this class.
    pub class: Option<Str>,
    /// That can be allocated.
    pub free: bool,
    /// With a taint.
    pub tainted: bool,
    /// That this node reaches.
    pub node: Option<Str>,
    /// That a claim of this namespace holds.
    pub namespace: Option<Str>,
}

impl DeviceFilter {
    /// Whether it takes all devices of a pool or none.
    fn takes_whole_pools(&self) -> bool {
        let Self {
            names,
            driver: _,
            pool: _,
            class,
            free,
            tainted,
            node,
            namespace,
        } = self;
        names.is_empty() && class.is_none() && !free && !tainted && node.is_none() && namespace.is_none()
    }
}

/// Kinds that the report is made from.
pub const DEVICES_NEEDS: [Kind; 5] = [
    Kind::ResourceSlice,
    Kind::ResourceClaim,
    Kind::DeviceClass,
    Kind::DeviceTaintRule,
    Kind::Pod,
];

/// The devices of `cluster` that pass `filter` and that the expression `selects` matches.
///
/// The expression is asked last, as it is the most expensive. With it a device that is not published, and so unknown, is
/// not listed.
pub fn devices(
    cluster: &Cluster,
    filter: &DeviceFilter,
    selectors: &ClassSelectors,
    selects: Option<&CachedSelector>,
) -> DeviceList {
    let mut listing = Listing::new(cluster, filter);
    let mut items = Vec::new();
    let unpublished = if selects.is_some() {
        Vec::new()
    } else {
        listing.inventory.unpublished()
    };
    let mut unpublished = unpublished.into_iter().peekable();
    for pool in cluster.pools() {
        // Those of pools that are not published any more come where their pool would.
        while let Some(id) = unpublished.next_if(|id| id.pool_id() < pool.id) {
            items.extend(listing.unpublished(id));
        }
        let facts = listing.inventory.pool_facts(&pool);
        for (slice, device, selectable) in selectors.devices(&pool) {
            let device = (&**slice, device, &selectable);
            items.extend(listing.published(&pool, &facts, device, selectors, selects));
        }
        while let Some(id) = unpublished.next_if(|id| id.pool_id() == pool.id) {
            items.extend(listing.unpublished(id));
        }
    }
    for id in unpublished {
        items.extend(listing.unpublished(id));
    }
    let mut warnings = listing.warnings();
    let free = items
        .iter()
        .filter(|item| item.state == DeviceState::Free && item.unavailable.is_empty());
    let free = free.filter_map(|item| Some((item.driver.clone(), item.node.clone()?)));
    warnings.beside_plugins(cluster, free.collect());
    DeviceList {
        items,
        whole_pools: selects.is_none() && filter.takes_whole_pools(),
        warnings,
    }
}

/// Taints that the devices of a report have altogether. Every rule may select every device.
const MOST_TAINTS: usize = 300_000;

/// What is unknown without a kind.
const UNKNOWN: [(Kind, &str); 5] = [
    (Kind::ResourceSlice, "only devices in use are listed"),
    (Kind::ResourceClaim, "whether a device is free is unknown"),
    (
        Kind::Pod,
        "pods that use a device, and the health they report, are unknown",
    ),
    (Kind::DeviceTaintRule, "taints of rules are unknown"),
    (Kind::DeviceClass, "classes of devices are unknown"),
];

/// A listing in the making.
struct Listing<'a> {
    filter: &'a DeviceFilter,
    inventory: Inventory<'a>,
    taints: Taints<'a>,
    health: HealthIndex<'a>,
    /// The node that is filtered by.
    node: Option<WantedNode>,
    /// What could be read in whole.
    slices_are_known: bool,
    rules_are_known: bool,
    classes_are_known: bool,
    not_known_to_be: Unknowns,
    /// How many more taints are listed.
    taints_left: usize,
    without_taints: usize,
    warnings: Warnings,
}

/// Devices that are left out because a filter could not be applied to them.
#[derive(Default)]
struct Unknowns {
    reached: LeftOut,
    of_class: LeftOut,
    selected: LeftOut,
}

impl<'a> Listing<'a> {
    fn new(cluster: &'a Cluster, filter: &'a DeviceFilter) -> Self {
        let inventory = Inventory::of(cluster);
        let health = HealthIndex::of(cluster);
        let mut warnings = Warnings::default();
        warnings.unknown_without(cluster, &UNKNOWN);
        let node = filter.node.as_ref().map(|name| WantedNode::of(cluster, name));
        Self {
            filter,
            inventory,
            taints: Taints::of(cluster),
            health,
            node,
            slices_are_known: cluster.gap(Kind::ResourceSlice, "").is_none(),
            rules_are_known: cluster.gap(Kind::DeviceTaintRule, "").is_none(),
            classes_are_known: cluster.gap(Kind::DeviceClass, "").is_none(),
            not_known_to_be: Unknowns::default(),
            taints_left: MOST_TAINTS,
            without_taints: 0,
            warnings,
        }
    }

    fn warnings(self) -> Warnings {
        let Self {
            filter,
            not_known_to_be,
            without_taints,
            mut warnings,
            ..
        } = self;
        let mut warn = |left_out: LeftOut, what: &str| left_out.warn(what, "devices", &mut warnings);
        if let Some(node) = &filter.node {
            warn(
                not_known_to_be.reached,
                &format!("whether node `{node}` reaches them"),
            );
        }
        if let Some(class) = &filter.class {
            warn(
                not_known_to_be.of_class,
                &format!("whether class `{class}` has them"),
            );
        }
        warn(not_known_to_be.selected, "whether the selector matches");
        if without_taints > 0 {
            warnings.add(format!(
                "taints of {without_taints} devices are not listed: all of them have more than {MOST_TAINTS} together"
            ));
        }
        warnings
    }

    fn is_named(&self, id: &DeviceId) -> bool {
        let is_of = |pool: &PoolId| (&pool.driver, &pool.pool) == (&id.driver, &id.pool);
        let is_driver = |driver: &Str| *driver == id.driver;
        if !self.filter.pool.as_ref().is_none_or(is_of) || !self.filter.driver.as_ref().is_none_or(is_driver)
        {
            return false;
        }
        self.filter.names.is_empty() || self.filter.names.iter().any(|name| names_device(name, id))
    }

    fn published(
        &mut self,
        pool: &Pool<'_>,
        facts: &PoolFacts,
        (slice, device, selectable): (&Slice, &Device, &SelectableDevice),
        selectors: &ClassSelectors,
        selects: Option<&CachedSelector>,
    ) -> Option<DeviceItem> {
        let id = pool.device_id(&device.name);
        if !self.is_named(&id) {
            return None;
        }
        match self.node.as_ref().map(|node| node.reaches(slice, device)) {
            None | Some(Ok(true)) => {}
            Some(Ok(false)) => return None,
            Some(Err(why)) => {
                self.not_known_to_be.reached.add(&id, why);
                return None;
            }
        }
        let unavailable = self.inventory.unavailable(facts, &id, (slice, device));
        if self.filter.free && (self.inventory.state(&id) != DeviceState::Free || !unavailable.is_empty()) {
            return None;
        }
        match self
            .filter
            .class
            .as_ref()
            .map(|class| selectors.matches(class, selectable))
        {
            None | Some(Match::Yes) => {}
            Some(Match::No) => return None,
            Some(Match::Error(why)) => {
                self.not_known_to_be.of_class.add(&id, why);
                return None;
            }
            Some(Match::Unknown) => {
                self.not_known_to_be.of_class.add(&id, TOO_MUCH_WORK);
                return None;
            }
        }
        let found = selectors.classes(selectable);
        let mut item = self.item(id)?;
        if let Some(selects) = selects {
            match selectors.is_selected(selects, selectable) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(why) => {
                    self.not_known_to_be.selected.add(&item.id(), why);
                    return None;
                }
            }
        }
        let (node, nodes) = node_of(slice, device);
        item.node = node;
        item.nodes = nodes;
        item.classes = Some(found.names).filter(|_| self.classes_are_known && found.not_judged.is_empty());
        if !found.not_judged.is_empty() {
            self.warnings
                .add(format!("classes of some devices are unknown: {TOO_MUCH_WORK}"));
        }
        item.class_errors = found
            .errors
            .into_iter()
            .map(|(class, error)| ClassError { class, error })
            .collect();
        item.unavailable = unavailable;
        item.published = Some(true);
        item.capacity = self.capacity(&item, device);
        item.counters = facts
            .counters
            .of_device(device)
            .map(|(set, name, balance)| CounterItem::of(set, name, balance))
            .collect();
        Some(item)
    }

    /// A device that is only known from the claims that hold it.
    fn unpublished(&mut self, id: DeviceId) -> Option<DeviceItem> {
        let holders = self.inventory.holders(&id);
        let first = holders.first();
        let node = first.and_then(|holder| ClaimNode::of(holder.claim).only().cloned());
        let elsewhere = self
            .node
            .as_ref()
            .is_some_and(|wanted| node.as_ref() != Some(wanted.name()));
        // A claim may hold it without taking it, but what is not published is not allocated.
        if !self.is_named(&id) || elsewhere || self.filter.free {
            return None;
        }
        if self.filter.class.is_some() {
            self.not_known_to_be.of_class.add(&id, "no slice publishes it");
            return None;
        }
        let mut item = self.item(id)?;
        item.nodes = if node.is_some() {
            DeviceNode::One
        } else {
            DeviceNode::Unknown
        };
        item.node = node;
        item.taints_unknown |= !self.slices_are_known;
        Some(item)
    }

    /// What is known of a device whether it is published or not.
    fn item(&mut self, id: DeviceId) -> Option<DeviceItem> {
        let mut taints: Vec<_> = self
            .taints
            .of_device(&id)
            .take(self.taints_left + 1)
            .map(|tainted| DeviceTaintItem::of(&tainted))
            .collect();
        if self.filter.tainted && taints.is_empty() {
            return None;
        }
        let holders = self.inventory.holders(&id);
        let is_held = |namespace: &Str| {
            holders
                .iter()
                .any(|holder| holder.claim.metadata.namespace == *namespace)
        };
        if !self.filter.namespace.as_ref().is_none_or(is_held) {
            return None;
        }
        let has_too_many_taints = taints.len() > self.taints_left;
        if has_too_many_taints {
            taints = Vec::new();
            self.taints_left = 0;
            self.without_taints += 1;
        }
        self.taints_left -= taints.len();
        let state = self.inventory.state(&id);
        let claims = self
            .inventory
            .holders(&id)
            .iter()
            .map(|holder| HolderItem::of(self.inventory.cluster(), holder))
            .collect();
        let health = self.health.health(&self.inventory, &id);
        let health_reports = HealthReport::all(&self.health, &id);
        let DeviceId { driver, pool, device } = id;
        Some(DeviceItem {
            driver,
            pool,
            device,
            node: None,
            nodes: DeviceNode::Unknown,
            classes: None,
            class_errors: Vec::new(),
            state,
            unavailable: Vec::new(),
            published: self.slices_are_known.then_some(false),
            claims,
            taints,
            taints_unknown: !self.rules_are_known || has_too_many_taints,
            health,
            health_reports,
            capacity: Vec::new(),
            counters: Vec::new(),
        })
    }

    /// The capacities of the device with what its shares leave.
    fn capacity(&self, item: &DeviceItem, device: &Device) -> Vec<(Str, CapacityItem)> {
        let id = item.id();
        let left = |name: &Str, total: &Quantity| {
            let may_be_shared = device.allow_multiple_allocations;
            may_be_shared.then(|| self.inventory.capacity_left(&id, name, total))
        };
        device
            .capacity
            .iter()
            .map(|(name, capacity)| {
                let item = CapacityItem {
                    total: capacity.value.clone(),
                    remaining: left(name, &capacity.value),
                };
                (name.clone(), item)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
