//! Consumption of node resources, such as CPU, by devices (gate `DRANodeAllocatableResources`, alpha).
//!
//! Mirrors `nodeallocatabledynamicresources.go`, v1.37.2. Limits of the pod as a whole, and what members of a PodGroup share in one cycle,
//! are not looked at. The objects of 1.36 say it in another form, which is not simulated.

use std::collections::BTreeMap;

use crate::reservation::{PodGroups, claim_name, claim_names, is_reserved_for};
use dra_model::{
    AllocatedDevice, Allocation, Claim, Cluster, Device, Format, Key, NodeAllocatable, Pod, Quantity, Str,
    lookup,
};

/// A claim with what it has, or gets.
pub(super) type Held<'h> = (&'h Key, &'h Allocation);

/// Returns what the devices of a claim are to the node.
pub(super) fn devices<'c>(
    cluster: &'c Cluster,
    allocation: &'c Allocation,
) -> impl Iterator<Item = (&'c AllocatedDevice, &'c Device)> {
    let results = allocation.devices.results.iter();
    results.filter_map(|result| {
        let id = result.id();
        let (_, device) = cluster.pool(&id.pool_id())?.device(&id.device)?;
        Some((result, device))
    })
}

/// Returns whether a device of these claims takes anything of the node, in the form of 1.36.
pub(super) fn takes_some(cluster: &Cluster, held: &[Held<'_>]) -> bool {
    let mut all = held
        .iter()
        .flat_map(|(_, allocation)| devices(cluster, allocation));
    all.any(|(_, device)| !device.node_allocatable_resource_mappings.is_empty())
}

/// Returns whether others have the claim, which stands for a part of the node and cannot be shared. Mirrors
/// `validateNodeAllocatableDRAClaimSharing`.
pub(super) fn is_of_others(cluster: &Cluster, pod: &Pod, claim: &Claim, groups: PodGroups) -> bool {
    let is_mapped = |result: &AllocatedDevice| {
        let id = result.id();
        let pool = cluster.pool(&id.pool_id());
        let device = pool.and_then(|pool| pool.device(&id.device));
        device.is_some_and(|(_, device)| {
            let mut resources = device.node_allocatable_resources.iter();
            resources.any(|(_, resource)| resource.mapping.is_some())
        })
    };
    !claim.status.reserved_for.is_empty()
        && !is_reserved_for(pod, claim, groups)
        && claim.results().iter().any(is_mapped)
}

/// Returns what the devices of these claims take of the node of the pod.
///
/// # Errors
/// In the scheduler's words.
pub(super) fn taken(cluster: &Cluster, pod: &Pod, held: &[Held<'_>]) -> Result<Vec<(Str, Quantity)>, String> {
    let mut sums: BTreeMap<Str, i128> = BTreeMap::new();
    for (claim, allocation) in held {
        let containers = containers_with(pod, claim);
        for (result, device) in devices(cluster, allocation) {
            for (name, resource) in &device.node_allocatable_resources {
                let NodeAllocatable { mapping, overhead } = resource;
                let mut add = |nanos: Option<i128>| {
                    let sum = sums.entry(name.clone()).or_default();
                    *sum = sum.saturating_add(nanos.unwrap_or(i128::MAX));
                };
                if let Some(mapping) = mapping {
                    match &mapping.capacity_key {
                        Some(key) if !key.is_empty() => {
                            if result.consumed_capacity.is_empty() {
                                return Err(format!(
                                    "claim {}/{}, device {}: ConsumedCapacity is nil, but Capacity key '{key}' is set in \
                                     NodeAllocatableResources for resource {name}",
                                    claim.namespace, claim.name, result.device
                                ));
                            }
                            if let Some(consumed) = lookup(&result.consumed_capacity, key) {
                                add(times(consumed, mapping.capacity_multiplier.as_ref()));
                            }
                        }
                        _ => mapping
                            .device_multiplier
                            .iter()
                            .for_each(|amount| add(amount.nanos())),
                    }
                }
                if let Some(overhead) = overhead {
                    overhead.per_pod.iter().for_each(|amount| add(amount.nanos()));
                    if let Some(amount) = &overhead.per_container {
                        let count = i128::try_from(containers).unwrap_or(i128::MAX);
                        add(amount.nanos().and_then(|nanos| nanos.checked_mul(count)));
                    }
                }
            }
        }
    }
    let amounts = sums
        .into_iter()
        .map(|(name, nanos)| (name, Quantity::from_nanos(nanos, Format::DecimalSi)));
    Ok(amounts.collect())
}

/// Returns the node resources that the devices of a scheduled pod consume. Unknown amounts count as zero.
pub(super) fn of_pod(cluster: &Cluster, pod: &Pod) -> Vec<(Str, Quantity)> {
    let claims = claim_names(pod).filter_map(|name| name.find(cluster));
    let keys: Vec<(Key, &Allocation)> = claims
        .filter_map(|claim| Some((claim.key(), claim.status.allocation.as_ref()?)))
        .collect();
    let held: Vec<Held<'_>> = keys.iter().map(|(key, allocation)| (key, *allocation)).collect();
    taken(cluster, pod, &held).unwrap_or_default()
}

/// Returns how many containers of the pod use the claim.
fn containers_with(pod: &Pod, claim: &Key) -> usize {
    let is_it = |entry: &Str| {
        let mut entries = pod.spec.resource_claims.iter();
        let found = entries.find(|own| own.name == *entry);
        found.is_some_and(|own| claim_name(pod, own).is_ok_and(|name| name.name() == Some(&claim.name)))
    };
    let containers = pod.spec.init_containers.iter().chain(&pod.spec.containers);
    let used = containers.flat_map(|container| &container.resources.claims);
    used.filter(|used| is_it(&used.name)).count()
}

fn times(amount: &Quantity, factor: Option<&Quantity>) -> Option<i128> {
    const ONE: i128 = 1_000_000_000;
    let nanos = amount.nanos()?;
    match factor {
        None => Some(nanos),
        Some(factor) => Some(nanos.checked_mul(factor.nanos()?)? / ONE),
    }
}
