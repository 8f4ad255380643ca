//! `kubectl dra export`: the state of a cluster as metrics, counted by the rules of the other reports.

mod family;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use family::{Facts, Family, MOST_SERIES, Samples};

use super::findings::{CheckRequest, check_by};
use super::pending::Started;
use super::stage::StageCount;
use super::status::{DeviceCounts, SeenDevice, drivers};
use super::{
    ClaimNode, DriverUsage, Selection, UsageBy, UsageGroup, UsageItem, UsedAmount, Warnings, explain_all,
    reserved,
};
use crate::allocation::Settings;
use dra_allocator::devices::{ClassSelectors, Inventory, Taints, Unavailable, node_of};
use dra_model::{Cluster, Format, Key, Kind, Quantity, Str, Time};
use dra_rules::controllers::TaintEviction;
use dra_rules::eviction::{Release, condition_of, evicted_so_far};
use dra_rules::health::HealthIndex;
use dra_rules::reservation::ClaimState;
use dra_rules::scheduling::Run;

/// Kinds that the metrics are computed from.
pub const METRICS_NEEDS: [Kind; 11] = super::STATUS_NEEDS;

/// Choices of the user.
#[derive(Clone, Debug, Default)]
pub struct MetricsOptions {
    /// Label of nodes whose value is the node pool of their devices.
    pub node_pool_label: Option<Str>,
    /// Adds series for each claim.
    pub per_claim: bool,
}

/// The metrics of `cluster` at `now`, except those of [`pending_metrics`]. The most work is done on the threads of `run`.
pub fn state_metrics(cluster: &Cluster, options: &MetricsOptions, now: Time, run: Run<'_>) -> Samples {
    let mut samples = Samples::default();
    let version = cluster.environment().version.to_string();
    samples.set(Family::ClusterInfo, [version.as_str()], 1.0);
    for gap in &cluster.environment().gaps {
        let resource = gap.kind.plural();
        samples.set(Family::Unread, [resource, gap.namespace.as_str()], 1.0);
    }
    devices(cluster, options, &mut samples);
    usage(cluster, &mut samples);
    pools(cluster, &mut samples);
    if cluster.gap(Kind::ResourceClaim, "").is_none() {
        of_claims(cluster, options, &mut samples);
        reservations(cluster, &mut samples);
        if cluster.gap(Kind::Pod, "").is_none() {
            for StageCount { stage, count, stuck } in StageCount::of(cluster, now, |_| true) {
                samples.add(Family::Stages, [stage.into()], count);
                samples.add(Family::Stuck, [stage.into()], stuck);
            }
        }
    }
    evictions(cluster, now, &mut samples);
    let request = CheckRequest::now(now).told_of(cluster, &[]);
    let findings = check_by(cluster, &request, run);
    for finding in &findings.items {
        let labels = [finding.code.facts().code, finding.name, finding.severity.into()];
        samples.add(Family::Findings, labels, 1);
    }
    samples.add(Family::ChecksIncomplete, [], findings.unknown.len());
    samples.limit(MOST_SERIES);
    samples
}

/// The metrics about what is pending. Each kind of pod takes a cycle of the scheduler, which `settings` limit.
pub fn pending_metrics(cluster: &Cluster, settings: &Settings<'_>) -> Samples {
    let mut samples = Samples::default();
    let is_unread = |kind| cluster.gap(kind, "").is_some();
    if is_unread(Kind::Pod) || is_unread(Kind::ResourceClaim) {
        return samples;
    }
    let list = explain_all(cluster, None, settings);
    for item in &list.items {
        for target in &item.pods {
            let key = Key::new(target.namespace.clone(), target.name.clone());
            let Some(pod) = cluster.pod(&key) else { continue };
            if Started::of(pod).count() > 0 {
                samples.add(Family::Disturbed, [item.code], 1);
                continue;
            }
            samples.add(Family::Pending, [item.code], 1);
            if let Some(created) = pod.metadata.creation_timestamp {
                samples.least(Family::OldestPending, [item.code], seconds(created));
            }
        }
        if !item.claims.is_empty() {
            samples.add(Family::PendingClaims, [item.code], item.claims.len());
        }
    }
    samples.add(Family::NotJudged, [], list.not_explained);
    samples.add(Family::WithoutDevices, [], list.pods_without_devices);
    samples.limit(MOST_SERIES);
    samples
}

/// Seconds since the epoch.
fn seconds(time: Time) -> f64 {
    time.unix_nanoseconds() as f64 / 1e9
}

/// Devices of a driver on a node.
#[derive(Default)]
struct OfNode {
    counts: DeviceCounts,
    reasons: BTreeMap<Unavailable, usize>,
}

/// Published devices, by driver, node pool and class.
fn devices(cluster: &Cluster, options: &MetricsOptions, samples: &mut Samples) {
    let inventory = Inventory::of(cluster);
    let taints = Taints::of(cluster);
    let health = HealthIndex::of(cluster);
    let selectors = ClassSelectors::of(cluster);
    let knows = |kind| cluster.gap(kind, "").is_none();
    let knows_classes = knows(Kind::DeviceClass);
    let knows_taints = knows(Kind::DeviceTaintRule);
    let knows_health = health.gap().is_none();
    // By driver and node: a sample for each device would be looked up by texts.
    let mut by_node: BTreeMap<(Str, Option<Str>), OfNode> = BTreeMap::new();
    let mut by_class: BTreeMap<(Str, Str), DeviceCounts> = BTreeMap::new();
    for pool in cluster.pools() {
        let driver = &pool.id.driver;
        let facts = inventory.pool_facts(&pool);
        for (slice, device, selectable) in selectors.devices(&pool) {
            let id = pool.device_id(&device.name);
            let seen = SeenDevice::of((&inventory, &taints, &health), &facts, &id, (slice, device));
            let (node, _) = node_of(slice, device);
            let OfNode { counts, reasons } = by_node.entry((driver.clone(), node)).or_default();
            counts.count(&seen);
            for reason in &seen.unavailable {
                *reasons.entry(*reason).or_default() += 1;
            }
            if !knows_classes {
                continue;
            }
            let classes = selectors.classes(&selectable);
            for class in classes.names {
                by_class.entry((class, driver.clone())).or_default().count(&seen);
            }
            let errors = classes.errors.iter().map(|(class, _)| class);
            for class in errors.chain(&classes.not_judged) {
                samples.add(Family::ClassErrors, [class.as_str()], 1);
            }
        }
    }
    for ((driver, node), OfNode { counts, reasons }) in &by_node {
        let pool = node_pool(cluster, options, node.as_ref());
        for (state, count) in states(counts) {
            samples.add(Family::Devices, [driver.as_str(), pool, state], count);
        }
        let labels = [driver.as_str(), pool];
        if knows_taints {
            samples.add(Family::DevicesTainted, labels, counts.tainted);
        }
        if knows_health {
            samples.add(Family::DevicesUnhealthy, labels, counts.unhealthy);
        }
        for (reason, count) in reasons {
            let reason = reason.to_string();
            samples.add(
                Family::DevicesUnavailable,
                [driver.as_str(), pool, &reason],
                *count,
            );
        }
    }
    for ((class, driver), counts) in &by_class {
        for (state, count) in states(counts) {
            samples.add(
                Family::ClassDevices,
                [class.as_str(), driver.as_str(), state],
                count,
            );
        }
    }
}

/// Numbers of devices by state, which are disjoint. If some are unknown, the others are minimums, and those of zero are unknown, too.
fn states(counts: &DeviceCounts) -> impl Iterator<Item = (&'static str, usize)> {
    let DeviceCounts {
        total: _,
        allocated,
        shared,
        free,
        unavailable,
        unknown,
        tainted: _,
        unhealthy: _,
        unpublished: _,
    } = *counts;
    let known = [
        ("allocated", allocated),
        ("free", free),
        ("shared", shared),
        ("unavailable", unavailable),
    ];
    let known = known
        .into_iter()
        .filter(move |(_, count)| unknown == 0 || *count > 0);
    known.chain([("unknown", unknown)].into_iter().filter(|(_, count)| *count > 0))
}

/// The node pool of a node; empty without a label, and for devices that several nodes reach.
fn node_pool<'c>(cluster: &'c Cluster, options: &MetricsOptions, node: Option<&Str>) -> &'c str {
    let value = || {
        let node = cluster.node(node?)?;
        node.metadata.label(options.node_pool_label.as_deref()?)
    };
    value().map_or("", |value| value.as_str())
}

/// Units, counters and capacity of each driver, and who uses them.
fn usage(cluster: &Cluster, samples: &mut Samples) {
    let knows_slices = cluster.gap(Kind::ResourceSlice, "").is_none();
    let is_known = knows_slices && cluster.gap(Kind::ResourceClaim, "").is_none();
    let all = Selection::default();
    for by in [UsageBy::Namespace, UsageBy::Owner, UsageBy::Class] {
        let (drivers, items, idle) = drivers(cluster, &all, by, &mut Warnings::default());
        if is_known {
            for item in &items {
                used(item, samples);
            }
        }
        if by != UsageBy::Namespace {
            continue;
        }
        for status in &drivers {
            let driver = status.driver.as_str();
            samples.add(Family::Pools, [driver], status.pools);
            samples.add(Family::PoolsIncomplete, [driver], status.incomplete_pools);
            if let Some(unpublished) = status.devices.unpublished.filter(|_| is_known) {
                samples.add(Family::DevicesUnpublished, [driver], unpublished);
            }
            samples.add(Family::Units, [driver], status.units.total);
            if let Some(used) = &status.units.used {
                samples.set(Family::UnitsUsed, [driver], used.as_approximate_float());
            }
            let (counters, capacity) = (&status.units.counters, &status.units.capacity);
            amounts(
                driver,
                counters,
                [Family::Counters, Family::CountersUsed],
                samples,
            );
            amounts(
                driver,
                capacity,
                [Family::Capacity, Family::CapacityUsed],
                samples,
            );
        }
        for claim in idle.iter().flatten().filter(|_| is_known) {
            let namespace = [claim.namespace.as_str()];
            samples.add(Family::IdleClaims, namespace, 1);
            if let Some(since) = claim.allocation_timestamp.or(claim.creation_timestamp) {
                samples.least(Family::OldestIdle, namespace, seconds(since));
            }
        }
    }
}

fn amounts(driver: &str, amounts: &[UsedAmount], [all, used]: [Family; 2], samples: &mut Samples) {
    for amount in amounts {
        let labels = [driver, amount.name.as_str(), unit(&amount.total)];
        samples.set(all, labels, amount.total.as_approximate_float());
        samples.set(used, labels, amount.used.as_approximate_float());
    }
}

/// The unit of an amount: the API has none, but only amounts of bytes are written with binary suffixes.
fn unit(amount: &Quantity) -> &'static str {
    match amount.format() {
        Format::BinarySi => "byte",
        Format::DecimalSi | Format::DecimalExponent | Format::Unset => "1",
    }
}

/// What a group uses.
fn used(item: &UsageItem, samples: &mut Samples) {
    let (group, [devices, units, idle]) = match &item.group {
        UsageGroup::Namespace(name) => {
            let families = [
                Family::NamespaceDevices,
                Family::NamespaceUnits,
                Family::NamespaceIdle,
            ];
            (name.as_str(), families)
        }
        UsageGroup::Owner { kind, .. } => {
            let families = [Family::OwnerDevices, Family::OwnerUnits, Family::OwnerIdle];
            (kind.as_str(), families)
        }
        UsageGroup::Class(name) => {
            let families = [
                Family::RequestedDevices,
                Family::RequestedUnits,
                Family::RequestedIdle,
            ];
            (name.as_str(), families)
        }
        UsageGroup::Node(_) | UsageGroup::Nodes | UsageGroup::Unknown => return,
    };
    for DriverUsage {
        driver,
        devices: count,
        units: used,
        idle_devices,
        ..
    } in &item.drivers
    {
        let labels = [group, driver.as_str()];
        samples.add(devices, labels, *count);
        samples.sum(units, labels, used.as_approximate_float());
        if let Some(count) = idle_devices {
            samples.add(idle, labels, *count);
        }
    }
}

fn pools(cluster: &Cluster, samples: &mut Samples) {
    for pool in cluster.pools() {
        let is_outdated = usize::from(!pool.outdated.is_empty());
        samples.add(Family::PoolsOutdated, [pool.id.driver.as_str()], is_outdated);
    }
}

fn of_claims(cluster: &Cluster, options: &MetricsOptions, samples: &mut Samples) {
    for claim in cluster.claims() {
        let state = ClaimState::of(claim).text();
        let namespace = claim.metadata.namespace.as_str();
        samples.add(Family::Claims, [namespace, state], 1);
        let created = claim.metadata.creation_timestamp.map(seconds);
        if let Some(created) = created {
            samples.least(Family::OldestClaim, [namespace, state], created);
        }
        if !options.per_claim {
            continue;
        }
        let name = claim.metadata.name.as_str();
        let node = ClaimNode::of(claim).only().map_or("", Str::as_str);
        samples.set(Family::ClaimInfo, [namespace, name, state, node], 1.0);
        for result in claim.results().iter().filter(|result| result.takes()) {
            samples.add(Family::ClaimDevices, [namespace, name, result.driver.as_str()], 1);
        }
        if let Some(created) = created {
            samples.set(Family::ClaimCreated, [namespace, name], created);
        }
    }
}

fn reservations(cluster: &Cluster, samples: &mut Samples) {
    let list = reserved(cluster, &Selection::default());
    for item in &list.items {
        let entry = item.entry();
        let consumer = match (entry.is_pod(), entry.is_pod_group()) {
            (true, _) => "Pod",
            (_, true) => "PodGroup",
            // Any text.
            _ => "other",
        };
        samples.add(Family::Reservations, [consumer, item.status.into()], 1);
    }
    if cluster.gap(Kind::Pod, "").is_none() {
        samples.add(Family::Unreserved, [], list.missing.len());
    }
}

/// Pods that taints evict, planned by the controller's own rules, and what it has reported.
fn evictions(cluster: &Cluster, now: Time, samples: &mut Samples) {
    let needs = [Kind::Pod, Kind::ResourceClaim, Kind::ResourceSlice];
    if needs.iter().all(|kind| cluster.gap(*kind, "").is_none()) {
        let controller = TaintEviction::resume(cluster, Release::of(cluster.environment()), now);
        for (pod, eviction) in controller.plans() {
            let namespace = [pod.key.namespace.as_str()];
            samples.add(Family::PlannedEvictions, namespace, 1);
            samples.least(Family::NextEviction, namespace, seconds(eviction.at));
        }
    }
    for rule in cluster.rules() {
        if let Some(condition) = condition_of(rule) {
            let evicted = evicted_so_far(condition);
            samples.add(Family::Evicted, [rule.metadata.name.as_str()], evicted);
        }
    }
}
