//! `kubectl dra devices`: every device with its holders, what is left of it, its taints and its health.

use std::fmt;

use serde::Serialize;

use super::claim_filter::names_device;
use super::inventory::PoolFacts;
use super::{
    CounterBalance, DeviceState, Health, HealthIndex, HealthReport, Holder, Inventory, Match, Unavailable,
    Warnings, classes,
};
use crate::eviction::{DeviceTaint, Origin, Taints};
use crate::model::{
    Class, Cluster, Device, DeviceId, Kind, Meta, NodeSelector, Pool, Quantity, Slice, Str, Time,
};
use crate::reservation::users;

/// The report.
#[derive(Debug, Serialize)]
pub struct DeviceList {
    /// By driver and pool; in a pool in the order in which the scheduler tries them, then those that are only held.
    pub items: Vec<DeviceItem>,
    /// What could not be found out.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// One device.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceItem {
    /// Its driver.
    pub driver: Str,
    /// Its pool.
    pub pool: Str,
    /// Its name in the pool.
    pub device: Str,
    /// The only node that reaches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Str>,
    /// Which nodes reach it, where it is not one.
    #[serde(skip)]
    pub nodes: DeviceNode,
    /// Classes it belongs to, by name.
    pub classes: Vec<Str>,
    /// Classes whose selectors fail on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_errors: Vec<ClassError>,
    /// Whether claims hold it.
    pub state: DeviceState,
    /// Why it is not given out although nobody holds it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
    /// False for a device that is held, but that no slice of the newest generation publishes.
    pub published: bool,
    /// Who holds it, by namespace and name.
    pub claims: Vec<HolderItem>,
    /// Its taints: those of its slice, then those of rules.
    pub taints: Vec<DeviceTaintItem>,
    /// How it is; absent when nobody reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Every report, worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub health_reports: Vec<HealthReport>,
    /// What it has, and what is left where several claims may share it. By name.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_name")]
    pub capacity: Vec<(Str, CapacityItem)>,
    /// What is left of the shared counters that it consumes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<CounterItem>,
}

/// Which nodes reach a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceNode {
    /// One: see [`DeviceItem::node`].
    One,
    /// All.
    Any,
    /// Those that a selector matches.
    Several,
    /// Nothing says.
    Unknown,
}

/// A class whose selectors fail on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassError {
    /// The class.
    pub class: Str,
    /// The error.
    pub error: String,
}

/// A claim that has a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HolderItem {
    /// Namespace of the claim.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// The request that got the device.
    pub request: Str,
    /// Which share of the device.
    #[serde(rename = "shareID", skip_serializing_if = "Option::is_none")]
    pub share_id: Option<Str>,
    /// What the share takes, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_name")]
    pub consumed_capacity: Vec<(Str, Quantity)>,
    /// It only looks on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub admin_access: bool,
    /// Pods for which the claim holds it, by name; absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<Vec<PodItem>>,
}

/// A pod in the claim's namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PodItem {
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
}

/// A taint of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceTaintItem {
    /// Its key.
    pub key: Str,
    /// Its value.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub value: Str,
    /// Its effect.
    pub effect: Str,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_added: Option<Time>,
    /// The rule that it comes from; absent when the slice has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Str>,
}

impl DeviceTaintItem {
    fn of(tainted: &DeviceTaint<'_>) -> Self {
        let taint = tainted.taint;
        Self {
            key: taint.key.clone(),
            value: taint.value.clone(),
            effect: taint.effect.clone(),
            time_added: taint.time_added,
            rule: match tainted.origin {
                Origin::Rule(rule) => Some(rule.metadata.name.clone()),
                Origin::Slice { .. } => None,
            },
        }
    }
}

impl fmt::Display for DeviceTaintItem {
    /// `key=value:effect`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if !self.value.is_empty() {
            write!(f, "={}", self.value)?;
        }
        write!(f, ":{}", self.effect)
    }
}

/// A capacity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapacityItem {
    /// What the device has.
    pub total: Quantity,
    /// What its shares leave; absent for a device that only one claim can hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<Quantity>,
}

/// A shared counter that a device consumes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CounterItem {
    /// Its set.
    pub counter_set: Str,
    /// Its name.
    pub name: Str,
    /// What there is.
    pub total: Quantity,
    /// What allocated devices leave of it.
    pub remaining: Quantity,
}

fn by_name<T: Serialize, S: serde::Serializer>(pairs: &[(Str, T)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

impl DeviceItem {
    /// Which device it is.
    pub fn id(&self) -> DeviceId {
        DeviceId {
            driver: self.driver.clone(),
            pool: self.pool.clone(),
            device: self.device.clone(),
        }
    }

    /// Whether the scheduler could give it out: nobody holds it and nothing keeps it back. Taints are for each claim to tolerate.
    pub fn is_free(&self) -> bool {
        self.state == DeviceState::Free && self.unavailable.is_empty()
    }
}

/// Which devices to list. The default lists all.
#[derive(Clone, Debug, Default)]
pub struct DeviceFilter {
    /// These: `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`; empty means all.
    pub names: Vec<String>,
    /// Of this class.
    pub class: Option<Str>,
    /// That can be given out.
    pub free: bool,
    /// With a taint.
    pub tainted: bool,
    /// That this node reaches.
    pub node: Option<Str>,
}

/// Kinds that the report is made from.
pub const DEVICES_NEEDS: [Kind; 5] = [
    Kind::ResourceSlice,
    Kind::ResourceClaim,
    Kind::DeviceClass,
    Kind::DeviceTaintRule,
    Kind::Pod,
];

/// The devices of `cluster` that pass `filter` and `selects`. `matches` evaluates the selectors of a class.
///
/// `selects` is asked last, as it is the most expensive; a device that is not published is not asked about.
pub fn devices(
    cluster: &Cluster,
    filter: &DeviceFilter,
    matches: &impl Fn(&Class, &Slice, &Device) -> Match,
    mut selects: impl FnMut(&Slice, &Device) -> bool,
) -> DeviceList {
    let mut listing = Listing::new(cluster, filter);
    let mut items = Vec::new();
    let mut unpublished = listing.inventory.unpublished().into_iter().peekable();
    for pool in cluster.pools() {
        // Those of pools that nobody publishes any more come where their pool would.
        while let Some(id) = unpublished.next_if(|id| id.pool_id() < pool.id) {
            items.extend(listing.unpublished(id));
        }
        let facts = listing.inventory.pool_facts(&pool);
        for (slice, device) in pool.devices() {
            if let Some(item) = listing.published(&pool, &facts, slice, device, matches)
                && selects(slice, device)
            {
                items.push(item);
            }
        }
        while let Some(id) = unpublished.next_if(|id| id.pool_id() == pool.id) {
            items.extend(listing.unpublished(id));
        }
    }
    for id in unpublished {
        items.extend(listing.unpublished(id));
    }
    DeviceList {
        items,
        warnings: listing.warnings,
    }
}

/// A listing in the making.
struct Listing<'a> {
    filter: &'a DeviceFilter,
    inventory: Inventory<'a>,
    taints: Taints<'a>,
    health: HealthIndex<'a>,
    /// The node that is filtered by; only its name where it is not known.
    node: Option<Meta>,
    warnings: Warnings,
}

impl<'a> Listing<'a> {
    fn new(cluster: &'a Cluster, filter: &'a DeviceFilter) -> Self {
        let inventory = Inventory::of(cluster);
        let health = HealthIndex::of(cluster);
        let mut warnings = Warnings::default();
        if let Some(gap) = cluster.gap(Kind::ResourceSlice, "") {
            warnings.unknown("only devices in use are listed", gap);
        }
        if let Some(gap) = inventory.gap() {
            warnings.unknown("whether a device is free is unknown", gap);
        }
        if let Some(gap) = health.gap() {
            warnings.unknown(
                "pods that use a device, and the health they report, are unknown",
                gap,
            );
        }
        if let Some(gap) = cluster.gap(Kind::DeviceTaintRule, "") {
            warnings.unknown("taints of rules are unknown", gap);
        }
        if let Some(gap) = cluster.gap(Kind::DeviceClass, "") {
            warnings.unknown("classes of devices are unknown", gap);
        }
        let node = filter.node.as_ref().map(|name| {
            cluster.node(name).map_or_else(
                || Meta {
                    name: name.clone(),
                    ..Meta::default()
                },
                |node| node.metadata.clone(),
            )
        });
        Self {
            filter,
            inventory,
            taints: Taints::of(cluster),
            health,
            node,
            warnings,
        }
    }

    fn is_named(&self, id: &DeviceId) -> bool {
        self.filter.names.is_empty() || self.filter.names.iter().any(|name| names_device(name, id))
    }

    fn published(
        &mut self,
        pool: &Pool<'_>,
        facts: &PoolFacts,
        slice: &Slice,
        device: &Device,
        matches: &impl Fn(&Class, &Slice, &Device) -> Match,
    ) -> Option<DeviceItem> {
        let id = pool.device_id(&device.name);
        if !self.is_named(&id)
            || self
                .node
                .as_ref()
                .is_some_and(|node| !reaches(node, slice, device))
        {
            return None;
        }
        let unavailable = self.inventory.unavailable(facts, &id, device);
        if self.filter.free && (self.inventory.state(&id) != DeviceState::Free || !unavailable.is_empty()) {
            return None;
        }
        let found = classes(self.inventory.cluster(), slice, device, matches);
        if self
            .filter
            .class
            .as_ref()
            .is_some_and(|class| !found.names.contains(class))
        {
            return None;
        }
        let mut item = self.item(id)?;
        let (node, nodes) = node_of(slice, device);
        item.node = node;
        item.nodes = nodes;
        item.classes = found.names;
        item.class_errors = found
            .errors
            .into_iter()
            .map(|(class, error)| ClassError { class, error })
            .collect();
        item.unavailable = unavailable;
        item.published = true;
        item.capacity = self.capacity(&item, device);
        item.counters = facts
            .counters
            .of_device(device)
            .map(|(set, name, balance)| {
                let CounterBalance { total, remaining } = balance.clone();
                CounterItem {
                    counter_set: set.clone(),
                    name: name.clone(),
                    total,
                    remaining,
                }
            })
            .collect();
        Some(item)
    }

    /// A device that is only known from the claims that hold it.
    fn unpublished(&mut self, id: DeviceId) -> Option<DeviceItem> {
        let holders = self.inventory.holders(&id);
        let node = holders
            .first()
            .and_then(|holder| match super::ClaimNode::of(holder.claim) {
                super::ClaimNode::One(name) => Some(name.clone()),
                _ => None,
            });
        let elsewhere = self
            .node
            .as_ref()
            .is_some_and(|wanted| node.as_ref() != Some(&wanted.name));
        if !self.is_named(&id) || elsewhere || self.filter.class.is_some() || self.filter.free {
            return None;
        }
        let mut item = self.item(id)?;
        item.nodes = if node.is_some() {
            DeviceNode::One
        } else {
            DeviceNode::Unknown
        };
        item.node = node;
        Some(item)
    }

    /// What is known of a device whether it is published or not.
    fn item(&mut self, id: DeviceId) -> Option<DeviceItem> {
        let taints: Vec<_> = self
            .taints
            .of_device(&id)
            .map(|tainted| DeviceTaintItem::of(&tainted))
            .collect();
        if self.filter.tainted && taints.is_empty() {
            return None;
        }
        let state = self.inventory.state(&id);
        let claims = self
            .inventory
            .holders(&id)
            .iter()
            .map(|holder| holder_item(self.inventory.cluster(), holder))
            .collect();
        let health = self.health.health(&self.inventory, &id);
        let health_reports = self.health.reports(&id).to_vec();
        let DeviceId { driver, pool, device } = id;
        Some(DeviceItem {
            driver,
            pool,
            device,
            node: None,
            nodes: DeviceNode::Unknown,
            classes: Vec::new(),
            class_errors: Vec::new(),
            state,
            unavailable: Vec::new(),
            published: false,
            claims,
            taints,
            health,
            health_reports,
            capacity: Vec::new(),
            counters: Vec::new(),
        })
    }

    /// The capacities of the device with what its shares leave. Somebody who holds all of it leaves nothing.
    fn capacity(&self, item: &DeviceItem, device: &Device) -> Vec<(Str, CapacityItem)> {
        let holders = self.inventory.holders(&item.id());
        let left = |name: &Str, total: &Quantity| {
            if !device.allow_multiple_allocations {
                return None;
            }
            let mut left = total.clone();
            for holder in holders.iter().filter(|holder| holder.takes()) {
                if holder.result.share_id.is_none() {
                    left.sub(total);
                    continue;
                }
                let consumed = &holder.result.consumed_capacity;
                if let Some((_, amount)) = consumed.iter().find(|(known, _)| known == name) {
                    left.sub(amount);
                }
            }
            Some(left)
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

fn holder_item(cluster: &Cluster, holder: &Holder<'_>) -> HolderItem {
    let Holder { claim, result } = holder;
    let pods = users(cluster, claim).ok().map(|pods| {
        pods.iter()
            .map(|pod| PodItem {
                name: pod.metadata.name.clone(),
                uid: pod.metadata.uid.clone(),
            })
            .collect()
    });
    HolderItem {
        namespace: claim.metadata.namespace.clone(),
        name: claim.metadata.name.clone(),
        uid: claim.metadata.uid.clone(),
        request: result.request.clone(),
        share_id: result.share_id.clone(),
        consumed_capacity: result.consumed_capacity.clone(),
        admin_access: result.admin_access,
        pods,
    }
}

/// The node that alone reaches the device, or which do.
fn node_of(slice: &Slice, device: &Device) -> (Option<Str>, DeviceNode) {
    let (name, selector, all) = node_selection(slice, device);
    if all && name.is_none() {
        (None, DeviceNode::Any)
    } else if let Some(name) = name.or_else(|| selector?.single_node()) {
        (Some(name.clone()), DeviceNode::One)
    } else if selector.is_some() {
        (None, DeviceNode::Several)
    } else {
        (None, DeviceNode::Unknown)
    }
}

/// Node name, selector and all-nodes flag that decide for the device. An empty name is none.
pub(super) fn node_selection<'a>(
    slice: &'a Slice,
    device: &'a Device,
) -> (Option<&'a Str>, Option<&'a NodeSelector>, bool) {
    let (name, selector, all) = if slice.spec.per_device_node_selection {
        (&device.node_name, &device.node_selector, device.all_nodes)
    } else {
        let spec = &slice.spec;
        (&spec.node_name, &spec.node_selector, spec.all_nodes)
    };
    let name = name.as_ref().filter(|name| !name.is_empty());
    (name, selector.as_ref(), all)
}

/// Whether the device can be used on the node. Mirrors `pools_incubating.go`, `NodeMatches`, v1.37.1; what cannot be evaluated
/// reaches no node.
pub(super) fn reaches(node: &Meta, slice: &Slice, device: &Device) -> bool {
    match node_selection(slice, device) {
        (Some(name), _, _) => *name == node.name,
        (None, _, true) => true,
        (None, Some(selector), false) => selector.matches(node).unwrap_or(false),
        (None, None, false) => false,
    }
}
