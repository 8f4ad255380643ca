//! Everything that is known about a pool.

use std::sync::Arc;

use crate::{CounterItem, DeviceFilter, DeviceItem, Warnings, devices};
use dra_allocator::devices::{ClassSelectors, Inventory};
use dra_model::{Cluster, Kind, Pool, PoolId, Slice, Str, Time};

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct PoolDescription {
    /// Its driver.
    pub driver: Str,
    /// Its name.
    pub pool: Str,
    /// The newest generation.
    pub generation: i64,
    /// How many slices that generation says it has.
    pub expected_slices: i64,
    /// Whether they are all there.
    pub complete: bool,
    /// Slices of the newest generation, by name.
    pub slices: Vec<SliceItem>,
    /// Slices of older generations, by name. Their devices do not count.
    pub outdated_slices: Vec<SliceItem>,
    /// Names that several devices have. With any, nothing of the pool is allocated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicate_devices: Vec<Str>,
    /// What is left of its counters, by set and name.
    pub counters: Vec<CounterItem>,
    /// Its devices, in the scheduler's order.
    pub devices: Vec<DeviceItem>,
    /// The time that ages count from.
    #[serde(skip)]
    pub now: Time,
    /// What is unknown.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// A slice of a pool.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct SliceItem {
    /// Its name.
    pub name: Str,
    /// The generation of the pool that it belongs to.
    pub generation: i64,
    /// The node it is for.
    pub node: Option<Str>,
    /// How many devices it has.
    pub devices: usize,
    /// When it was created.
    pub creation_timestamp: Option<Time>,
}

impl SliceItem {
    fn of(slice: &Arc<Slice>) -> Self {
        Self {
            name: slice.metadata.name.clone(),
            generation: slice.spec.pool.generation,
            node: slice.spec.node_name.clone(),
            devices: slice.spec.devices.len(),
            creation_timestamp: slice.metadata.creation_timestamp,
        }
    }
}

/// Kinds that the description needs.
pub const POOL_NEEDS: [Kind; 6] = [
    Kind::ResourceSlice,
    Kind::ResourceClaim,
    Kind::DeviceClass,
    Kind::DeviceTaintRule,
    Kind::Pod,
    Kind::Node,
];

/// Pools that `name` can mean: `POOL` or `DRIVER/POOL`.
pub fn pool(cluster: &Cluster, name: &str, selectors: &ClassSelectors, now: Time) -> Vec<PoolDescription> {
    let is_meant = |id: &PoolId| {
        let rest = name.strip_suffix(id.pool.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_suffix('/') == Some(&id.driver))
    };
    let meant: Vec<_> = cluster.pools().filter(|pool| is_meant(&pool.id)).collect();
    if meant.is_empty() {
        return Vec::new();
    }
    let inventory = Inventory::of(cluster);
    meant
        .iter()
        .map(|pool| describe(&inventory, pool, selectors, now))
        .collect()
}

fn describe(
    inventory: &Inventory<'_>,
    pool: &Pool<'_>,
    selectors: &ClassSelectors,
    now: Time,
) -> PoolDescription {
    let filter = DeviceFilter {
        pool: Some(pool.id.clone()),
        ..DeviceFilter::default()
    };
    let listed = devices(inventory.cluster(), &filter, selectors, None);
    PoolDescription {
        driver: pool.id.driver.clone(),
        pool: pool.id.pool.clone(),
        generation: pool.generation,
        expected_slices: pool.expected_slices,
        complete: pool.is_complete(),
        slices: pool.slices.iter().map(|slice| SliceItem::of(slice)).collect(),
        outdated_slices: pool.outdated.iter().map(|slice| SliceItem::of(slice)).collect(),
        duplicate_devices: pool.duplicate_devices().into_iter().cloned().collect(),
        counters: inventory
            .counters(pool)
            .iter()
            .map(|(set, name, balance)| CounterItem::of(set, name, balance))
            .collect(),
        devices: listed.items,
        now,
        warnings: listed.warnings,
    }
}
