//! Devices that several claims hold, that consume more than there is, or that are broken while they are in use.
//!
//! All of it is computed from all claims. kube-scheduler keeps such sums itself, and has allocated devices twice when events arrived late
//! and out of order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use itertools::Itertools;

use super::finding::{Subject, claim_key, slice_key};
use super::reservations::free;
use super::stages::stages;
use super::{Code, Finding, Look, Severity, words};
use crate::remedy::{Remedy, UNHEALTHY, can_taint};
use crate::script::{
    Command, describe_device, describe_pool, evict_from_device, field_selector, taint_device,
};
use crate::words::EVICTS_FROM_DEVICE;
use crate::{ClaimNode, HealthReport};
use dra_allocator::devices::{Holder, PoolCounters, is_allocated_twice};
use dra_model::{Claim, Cluster, Device, DeviceId, Key, Kind, Pool, Quantity, Str};
use dra_rules::health::{Broken, Health, HealthIndex, broken_with_partitions};
use dra_rules::kubelet::republishing;

pub(super) fn look(look: &mut Look<'_>) {
    if look.wants(Code::DeviceAllocatedTwice) {
        allocated_twice(look);
    }
    if look.wants(Code::DeviceNotPublished) && !look.is_hidden(Kind::ResourceSlice, "") {
        not_published(look);
    }
    if look.wants_any(&[Code::CountersOversubscribed, Code::CapacityOversubscribed]) {
        oversubscribed(look);
    }
    if look.wants(Code::DeviceUnhealthy) {
        unhealthy(look);
    }
    if look.wants(Code::BrokenPartitions) && !look.is_hidden(Kind::ResourceSlice, "") {
        broken_partitions(look);
    }
}

/// Devices that a taint marks as broken, with partitions that are free.
fn broken_partitions(look: &mut Look<'_>) {
    for Broken {
        id,
        taint,
        partitions,
    } in broken_with_partitions(look.cluster)
    {
        let inventory = look.inventory();
        let free: Vec<&DeviceId> = partitions
            .iter()
            .filter(|id| !inventory.is_allocated(id))
            .collect();
        if free.is_empty() {
            continue;
        }
        let slices: Vec<_> = look
            .cluster
            .pool(&id.pool_id())
            .as_ref()
            .map(slices_of)
            .unwrap_or_default();
        let message = words::broken_partitions(&taint, &free);
        look.add(
            Finding::new(Code::BrokenPartitions, Subject::device(&id), message)
                .ask_driver(&id.driver, words::TAINT_PARTITIONS)
                .look(describe_pool(&id.pool_id()))
                .joins(slices),
        );
    }
}

/// Devices that claims hold, each once.
fn allocated(cluster: &Cluster) -> impl Iterator<Item = &DeviceId> {
    cluster.allocated_devices().map(|(device, _)| device).dedup()
}

/// Devices with more than one holder that takes something, unless each has a share of its own.
///
/// The allocator counts a device once, however many hold it (`allocateddevices.go`, `addDevices`, v1.37.2). So it counts as free as soon as
/// the first of them is deallocated.
fn allocated_twice(look: &mut Look<'_>) {
    let mut found = Vec::new();
    let inventory = look.inventory();
    for device in allocated(look.cluster) {
        let takers: Vec<&Holder<'_>> = inventory
            .holders(device)
            .iter()
            .filter(|holder| holder.takes())
            .collect();
        if is_allocated_twice(takers.iter().map(|taker| taker.result)) {
            found.push(twice(look, device, &takers));
        }
    }
    look.add_all(found);
}

fn twice(look: &Look<'_>, device: &DeviceId, takers: &[&Holder<'_>]) -> Finding {
    let claims: BTreeSet<Key> = takers.iter().map(|taker| taker.claim.key()).collect();
    let as_a_whole = takers.iter().any(|taker| taker.result.share_id.is_none());
    let message = crate::words::allocated_twice(&claims, as_a_whole);
    Finding::new(Code::DeviceAllocatedTwice, Subject::device(device), message).remedy(give_back(
        look,
        &claims,
        |keeps| {
            let kept = takers.iter().filter(|taker| keeps(taker));
            is_allocated_twice(kept.map(|taker| taker.result))
        },
    ))
}

/// Deallocates as many claims as needed, the last allocated first: `is_wrong` is asked with the holders that keep what they have.
fn give_back(
    look: &Look<'_>,
    claims: &BTreeSet<Key>,
    is_wrong: impl Fn(&dyn Fn(&Holder<'_>) -> bool) -> bool,
) -> Remedy {
    let mut claims: Vec<&Arc<Claim>> = claims.iter().filter_map(|key| look.cluster.claim(key)).collect();
    let allocated = |claim: &Claim| {
        let allocation = claim.status.allocation.as_ref();
        allocation.and_then(|allocation| allocation.allocation_timestamp)
    };
    claims.sort_by_key(|claim| std::cmp::Reverse((allocated(claim), claim.key())));
    let is_wrong_without = |count: usize| {
        let released: BTreeSet<Key> = claims.iter().take(count).map(|claim| claim.key()).collect();
        is_wrong(&|holder| !released.contains(&holder.claim.key()))
    };
    // Thousands of claims can have one device.
    let counts: Vec<usize> = (1..claims.len()).collect();
    let needed = 1 + counts.partition_point(|count| is_wrong_without(*count));
    let needed = claims.iter().take(needed);
    needed.fold(Remedy::default(), |remedy, claim| {
        remedy.and(free(look.cluster, claim))
    })
}

/// One finding for each claim that holds devices which no slice publishes.
fn not_published(look: &mut Look<'_>) {
    let mut by_claim: BTreeMap<Key, Vec<DeviceId>> = BTreeMap::new();
    let inventory = look.inventory();
    let stages = stages(look);
    for device in inventory.unpublished() {
        for holder in inventory.holders(&device) {
            by_claim
                .entry(holder.claim.key())
                .or_default()
                .push(device.clone());
        }
    }
    for (key, mut devices) in by_claim {
        devices.dedup();
        let Some(claim) = look.cluster.claim(&key) else {
            continue;
        };
        let node = node_of(look.cluster, claim);
        let is_awaited = |device: &DeviceId| {
            node.and_then(|node| republishing(look.cluster, node, Some(&device.driver), look.request.now))
                .is_some()
        };
        devices.retain(|device| !is_awaited(device));
        let Some(first) = devices.first() else { continue };
        let driver = &first.driver;
        let published = node
            .filter(|name| look.cluster.node(name).is_some())
            .and_then(|name| stages.publishes_for(driver, name));
        let there = node.filter(|_| published == Some(true));
        let lacks = there.filter(|node| stages.publishes_all(&first.pool_id(), node));
        let severity = match (there, lacks) {
            (Some(_), None) => Severity::Info,
            _ => Severity::Warning,
        };
        let slices = devices
            .iter()
            .filter_map(|device| look.cluster.pool(&device.pool_id()));
        let slices: Vec<_> = slices
            .flat_map(|pool| pool.slices)
            .map(|slice| slice_key(slice))
            .collect();
        let message = words::not_published(&devices, driver, there, lacks.is_some());
        let finding = Finding::new(Code::DeviceNotPublished, Subject::claim(claim), message)
            .severity(severity)
            .advice(lacks.map_or_else(
                || words::publish_again(driver),
                |node| words::replace(driver, node),
            ))
            .look(
                Command::kubectl("get")
                    .arg("resourceslices")
                    .option("--field-selector", &field_selector("spec.driver", driver))
                    .done(),
            )
            .joins(slices)
            .joins([claim_key(key)]);
        look.add(finding);
    }
}

/// The node where the devices of the claim are used: the only one that reaches them, or that of a pod which has the claim.
fn node_of<'c>(cluster: &'c Cluster, claim: &'c Claim) -> Option<&'c Str> {
    claim.status.allocation.as_ref()?;
    let key = claim.key();
    let mut pods = cluster.pods_of_claim(&key);
    let only = ClaimNode::of(claim).only();
    only.or_else(|| pods.find_map(|pod| pod.node()))
}

/// Counters of pools and capacity of devices that are overdrawn.
fn oversubscribed(look: &mut Look<'_>) {
    let mut found = Vec::new();
    let inventory = look.inventory();
    for pool in look.cluster.pools() {
        let counters = inventory.counters(&pool);
        let overdrawn: Vec<String> = counters
            .iter()
            .filter(|(_, _, balance)| balance.remaining.sign() < 0)
            .map(|(set, name, balance)| {
                let mut taken = balance.total.clone();
                taken.sub(&balance.remaining);
                words::overdrawn(&taken, &balance.total, &format_args!("counter {set}/{name}"))
            })
            .collect();
        if !overdrawn.is_empty() {
            let holders: BTreeSet<Key> = pool
                .devices()
                .filter(|(_, device)| !device.consumes_counters.is_empty())
                .flat_map(|(_, device)| inventory.holders(&pool.device_id(&device.name)))
                .filter(|holder| holder.takes())
                .map(|holder| holder.claim.key())
                .collect();
            let message = words::counters_overdrawn(&overdrawn, &holders);
            found.push(
                Finding::new(Code::CountersOversubscribed, Subject::pool(&pool.id), message)
                    .remedy(give_back(look, &holders, |keeps| {
                        let counters = PoolCounters::of(&pool, |device| {
                            let mut holders = inventory.holders(device).iter();
                            holders.any(|holder| holder.takes() && keeps(holder))
                        });
                        counters.iter().any(|(.., balance)| balance.remaining.sign() < 0)
                    }))
                    .look(describe_pool(&pool.id))
                    .joins(slices_of(&pool))
                    .joins(holders.into_iter().map(claim_key)),
            );
        }
        for (slice, device) in pool.devices() {
            let id = pool.device_id(&device.name);
            let shares: Vec<&Holder<'_>> = inventory
                .holders(&id)
                .iter()
                .filter(|holder| is_share(holder))
                .collect();
            if shares.is_empty() {
                continue;
            }
            let overdrawn = overdrawn_capacity(device, &shares);
            if overdrawn.is_empty() {
                continue;
            }
            let claims: BTreeSet<Key> = shares.iter().map(|share| share.claim.key()).collect();
            let message = words::capacity_overdrawn(&overdrawn, &claims);
            found.push(
                Finding::new(Code::CapacityOversubscribed, Subject::device(&id), message)
                    .remedy(give_back(look, &claims, |keeps| {
                        let shares: Vec<_> = shares.iter().copied().filter(|share| keeps(share)).collect();
                        !overdrawn_capacity(device, &shares).is_empty()
                    }))
                    .look(describe_device(&id))
                    .joins([slice_key(slice)])
                    .joins(claims.into_iter().map(claim_key)),
            );
        }
    }
    look.add_all(found);
}

fn is_share(holder: &Holder<'_>) -> bool {
    holder.takes() && holder.result.share_id.is_some()
}

/// Amounts that shares consume more of than the device has.
fn overdrawn_capacity(device: &Device, shares: &[&Holder<'_>]) -> Vec<String> {
    let overdrawn = device.capacity.iter().filter_map(|(name, capacity)| {
        let taken = consumed(shares, name);
        (taken > capacity.value).then(|| words::overdrawn(&taken, &capacity.value, name))
    });
    overdrawn.collect()
}

fn consumed(shares: &[&Holder<'_>], name: &Str) -> Quantity {
    let mut sum: Option<Quantity> = None;
    let amounts = shares.iter().flat_map(|share| &share.result.consumed_capacity);
    for (_, amount) in amounts.filter(|(of, _)| of == name) {
        match &mut sum {
            Some(sum) => sum.add(amount),
            None => sum = Some(amount.clone()),
        }
    }
    sum.unwrap_or_default()
}

fn slices_of(pool: &Pool<'_>) -> Vec<(Kind, Key)> {
    pool.slices.iter().map(|slice| slice_key(slice)).collect()
}

/// Devices that are in use and reported as broken.
fn unhealthy(look: &mut Look<'_>) {
    let health = HealthIndex::of(look.cluster);
    let mut found = Vec::new();
    for device in allocated(look.cluster) {
        if health.reported(device) != Some(Health::Unhealthy) {
            continue;
        }
        let reports = HealthReport::all(&health, device);
        let Some(first) = reports.first() else {
            continue;
        };
        let holders = look.inventory().holders(device);
        let claims: BTreeSet<Key> = holders.iter().map(|holder| holder.claim.key()).collect();
        let message = words::unhealthy(first, &claims);
        let pods = claims
            .iter()
            .flat_map(|key| look.cluster.pods_of_claim(key))
            .map(|pod| super::finding::pod_key(pod.key()))
            .collect::<Vec<_>>();
        let finding = Finding::new(Code::DeviceUnhealthy, Subject::device(device), message);
        let finding = if can_taint(look.cluster.environment()) {
            finding
                .fix(evict_from_device(device, UNHEALTHY))
                .note(EVICTS_FROM_DEVICE)
        } else {
            finding.ask_driver(&device.driver, words::TAINT_AND_DELETE)
        };
        found.push(
            finding
                .look(taint_device(device, UNHEALTHY))
                .joins(pods)
                .joins(claims.into_iter().map(claim_key)),
        );
    }
    look.add_all(found);
}
