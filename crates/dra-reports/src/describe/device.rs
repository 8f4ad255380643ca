//! Everything that is known about a device.

use std::collections::{BTreeMap, BTreeSet};

use super::text::attribute;
use crate::shape::by_name;
use crate::stage::PodStageItem;
use crate::{DeviceFilter, DeviceItem, Warnings, devices};
use dra_allocator::devices::ClassSelectors;
use dra_model::{Cluster, DeviceId, Key, Kind, Str, Time};
use dra_rules::kubelet::Stages;

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct DeviceDescription {
    /// What a listing says.
    #[serde(flatten)]
    pub item: DeviceItem,
    /// The slice that publishes it.
    pub slice: Option<Str>,
    /// Generation of its pool.
    pub pool_generation: Option<i64>,
    /// By name; text in quotes.
    #[serde(serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<Str, String>")]
    pub attributes: Vec<(Str, String)>,
    /// Several claims may hold shares of it.
    pub allow_multiple_allocations: bool,
    /// What must be true before a pod is bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub binding_conditions: Vec<Str>,
    /// What makes binding fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub binding_failure_conditions: Vec<Str>,
    /// Once allocated it is tied to the chosen node.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binds_to_node: bool,
    /// Pods of the claims that hold it, and how far they are on their nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<PodStageItem>,
    /// The time that ages count from.
    #[serde(skip)]
    pub now: Time,
    /// What is unknown.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// Kinds that the description needs.
pub const DEVICE_NEEDS: [Kind; 9] = [
    Kind::ResourceSlice,
    Kind::ResourceClaim,
    Kind::DeviceClass,
    Kind::DeviceTaintRule,
    Kind::Pod,
    Kind::Node,
    Kind::ResourceClaimTemplate,
    Kind::PodGroup,
    Kind::Event,
];

/// Devices that `name` can mean: `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`.
pub fn device(
    cluster: &Cluster,
    name: &str,
    selectors: &ClassSelectors,
    now: Time,
) -> Vec<DeviceDescription> {
    let filter = DeviceFilter {
        names: vec![name.to_owned()],
        ..DeviceFilter::default()
    };
    let report = devices(cluster, &filter, selectors, None);
    let warnings = report.warnings;
    let describe = |item: DeviceItem| of_item(cluster, item, now, warnings.clone());
    report.items.into_iter().map(describe).collect()
}

fn of_item(cluster: &Cluster, item: DeviceItem, now: Time, mut warnings: Warnings) -> DeviceDescription {
    let DeviceId { device, .. } = item.id();
    let pool = cluster.pool(&item.id().pool_id());
    let found = pool.as_ref().and_then(|pool| pool.device(&device));
    let holders: BTreeSet<Key> = item
        .claims
        .iter()
        .map(|holder| Key::new(holder.namespace.clone(), holder.name.clone()))
        .collect();
    if !holders.is_empty() {
        warnings.unknown_without(cluster, &super::words::UNKNOWN_OF_USERS);
    }
    let users: BTreeMap<Key, _> = holders
        .iter()
        .flat_map(|claim| cluster.pods_of_claim(claim))
        .map(|pod| (pod.key(), pod))
        .collect();
    let pods = PodStageItem::of(&Stages::of(cluster, now), users.into_values());
    let (slice, device) = found.unzip();
    let device = device.cloned().unwrap_or_default();
    let attributes = device.attributes.iter();
    DeviceDescription {
        pods,
        item,
        slice: slice.map(|slice| slice.metadata.name.clone()),
        pool_generation: pool.map(|pool| pool.generation),
        attributes: attributes
            .map(|(name, value)| (name.clone(), attribute(value)))
            .collect(),
        allow_multiple_allocations: device.allow_multiple_allocations,
        binding_conditions: device.binding_conditions,
        binding_failure_conditions: device.binding_failure_conditions,
        binds_to_node: device.binds_to_node,
        now,
        warnings,
    }
}
