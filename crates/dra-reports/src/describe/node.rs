//! What is known about a node as far as devices go.

use std::collections::BTreeMap;

use super::events::{EventItem, events};
use super::identity::{ConditionItem, Identity};
use crate::stage::PodStageItem;
use crate::{ClaimFilter, ClaimItem, DeviceFilter, DeviceItem, Selection, Warnings, claims, devices};
use dra_allocator::devices::{ClassSelectors, DeviceState, WantedNode};
use dra_model::{Cluster, Kind, Node, PoolId, Str, Taint, Time};
use dra_rules::kubelet::Stages;

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct NodeDescription {
    /// Name and the like.
    #[serde(flatten)]
    pub identity: Identity,
    /// False for a node that only slices or claims name; absent when nodes could not be read.
    pub exists: Option<bool>,
    /// Cordoned.
    pub unschedulable: bool,
    /// `key=value:Effect`.
    pub taints: Vec<String>,
    /// `Ready` and others.
    pub conditions: Vec<ConditionItem>,
    /// Release of its kubelet.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub kubelet_version: Str,
    /// Pools with devices that it reaches.
    pub pools: Vec<PoolItem>,
    /// Devices that it reaches.
    pub devices: Vec<DeviceItem>,
    /// Claims that are allocated for it.
    pub claims: Vec<ClaimItem>,
    /// Pods on it that have devices, and how far they are.
    pub pods: Vec<PodStageItem>,
    /// Oldest first. Absent when they could not be read.
    pub events: Option<Vec<EventItem>>,
    /// The time that ages count from.
    #[serde(skip)]
    pub now: Time,
    /// What is unknown.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// A pool, as far as one node reaches it.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct PoolItem {
    /// Its driver.
    pub driver: Str,
    /// Its name.
    pub pool: Str,
    /// Its newest generation; absent when no slice publishes it.
    pub generation: Option<i64>,
    /// Whether all of its slices are there.
    pub complete: bool,
    /// Devices that the node reaches.
    pub devices: usize,
    /// Those among them that can be allocated.
    pub free: usize,
}

/// Kinds that the description needs.
pub const NODE_NEEDS: [Kind; 9] = [
    Kind::Node,
    Kind::ResourceSlice,
    Kind::ResourceClaim,
    Kind::DeviceClass,
    Kind::DeviceTaintRule,
    Kind::ResourceClaimTemplate,
    Kind::Pod,
    Kind::PodGroup,
    Kind::Event,
];

/// Describes the node `name`, if it exists or anything names it.
pub fn node(cluster: &Cluster, name: &Str, selectors: &ClassSelectors, now: Time) -> Option<NodeDescription> {
    let known = cluster.node(name);
    let filter = DeviceFilter {
        node: Some(name.clone()),
        ..DeviceFilter::default()
    };
    let listed = devices(cluster, &filter, selectors, None);
    let mut warnings = listed.warnings;
    warnings.unknown_without(cluster, &super::words::UNKNOWN_OF_NODE);
    let of_node = ClaimFilter {
        node: Some(name.clone()),
        ..ClaimFilter::default()
    };
    let claims = claims(cluster, &Selection::default(), &of_node, false, now).items;
    let named_by_slices = || {
        cluster
            .slices()
            .any(|slice| slice.spec.node_name.as_ref() == Some(name))
    };
    if known.is_none() && claims.is_empty() && !named_by_slices() {
        return None;
    }
    let wanted = WantedNode::of(cluster, name);
    let Node { spec, status, .. } = known.map_or_else(Node::default, |node| Node::clone(node));
    Some(NodeDescription {
        identity: Identity::of(wanted.meta()),
        exists: (known.is_some() || cluster.gap(Kind::Node, "").is_none()).then_some(known.is_some()),
        unschedulable: spec.unschedulable,
        taints: spec.taints.iter().map(Taint::to_string).collect(),
        conditions: status.conditions.iter().map(ConditionItem::of).collect(),
        kubelet_version: status.node_info.kubelet_version,
        pools: pools(cluster, &wanted, &listed.items),
        devices: listed.items,
        claims,
        pods: PodStageItem::of(&Stages::of(cluster, now), cluster.pods_of_node(name)),
        events: events(cluster, Kind::Node, wanted.meta(), &mut warnings),
        now,
        warnings,
    })
}

/// The pools of the devices, and those that have a slice for the node without any device.
fn pools(cluster: &Cluster, node: &WantedNode, items: &[DeviceItem]) -> Vec<PoolItem> {
    let mut pools: BTreeMap<PoolId, PoolItem> = BTreeMap::new();
    for slice in cluster.slices() {
        let here = slice.spec.node_name.as_ref() == Some(node.name())
            || slice
                .spec
                .devices
                .first()
                .is_some_and(|device| node.reaches(slice, device) == Ok(true));
        if here {
            let id = slice.pool_id();
            // A pool may have many slices, and looking it up looks at all of them.
            pools.entry(id).or_insert_with_key(|id| PoolItem::of(cluster, id));
        }
    }
    for device in items {
        let id = device.id().pool_id();
        let pool = pools.entry(id).or_insert_with_key(|id| PoolItem::of(cluster, id));
        pool.devices += 1;
        pool.free += usize::from(device.state == DeviceState::Free && device.unavailable.is_empty());
    }
    pools.into_values().collect()
}

impl PoolItem {
    fn of(cluster: &Cluster, id: &PoolId) -> Self {
        let pool = cluster.pool(id);
        Self {
            driver: id.driver.clone(),
            pool: id.pool.clone(),
            generation: pool.as_ref().map(|pool| pool.generation),
            complete: pool.is_some_and(|pool| pool.is_complete()),
            devices: 0,
            free: 0,
        }
    }
}
