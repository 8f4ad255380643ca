//! What there is to say of a node that fits: that devices are parts of one that is broken, or that it has too few CPUs.

use std::cell::OnceCell;
use std::sync::Arc;

use super::words::{self, PartOfBroken};
use crate::words::tainted;
use dra_allocator::devices::Taints;
use dra_model::{AllocatedDevice, Cluster, DeviceId, Node, Pod, Taint, Time};
use dra_rules::eviction::{Release, evicting_taint, has_to_go_by};
use dra_rules::health::{Broken, broken_with_partitions};
use dra_rules::scheduling::{Granted, too_many_cpus};

/// Notes on the nodes that fit, with what each of them grants.
pub(crate) fn caveats<'n>(
    cluster: &Cluster,
    pod: Option<&Pod>,
    fitting: impl Iterator<Item = (&'n Arc<Node>, &'n [Granted])> + Clone,
) -> Vec<String> {
    let evicted = evicted(cluster, fitting.clone());
    let broken = part_of_broken(cluster, fitting.clone());
    let mut crowded = fitting.filter_map(|(node, granted)| too_many_cpus(cluster, node, pod, granted));
    let first = crowded.next();
    let crowded = first.map(|first| words::crowded(&first, crowded.count()));
    let broken = broken.map(|part| words::part_of_broken(&part));
    evicted.into_iter().chain(broken).chain(crowded).collect()
}

/// That the pod is evicted again wherever it fits, with a taint that does it.
fn evicted<'n>(
    cluster: &Cluster,
    fitting: impl Iterator<Item = (&'n Arc<Node>, &'n [Granted])>,
) -> Option<String> {
    let (device, taint, rule) = wherever_it_fits(cluster, fitting, evicting_taint)?;
    Some(words::evicted_again(&tainted(&device, &taint, rule.as_ref())))
}

/// The taint that evicts a pod as soon as it has its devices, wherever it fits: its request tolerates it for a time that is over, or without effect.
pub(crate) fn evicting_at_once<'n>(
    cluster: &Cluster,
    fitting: impl Iterator<Item = (&'n Arc<Node>, &'n [Granted])>,
    now: Time,
) -> Option<Taint> {
    wherever_it_fits(cluster, fitting, |results, taints| {
        let found = evicting_taint(results, taints).filter(|_| has_to_go_by(results, taints, now));
        found.map(|(_, taint, _)| taint)
    })
}

/// What the devices of the first node show, if those of every node that fits show such.
fn wherever_it_fits<'n, T>(
    cluster: &Cluster,
    fitting: impl Iterator<Item = (&'n Arc<Node>, &'n [Granted])>,
    shows: impl Fn(&[AllocatedDevice], &Taints<'_>) -> Option<T>,
) -> Option<T> {
    let release = Release::of(cluster.environment());
    if !release.evicts {
        return None;
    }
    let taints = OnceCell::new();
    let mut first = None;
    for (_, granted) in fitting {
        let taints = taints.get_or_init(|| Taints::of(cluster).where_rules_are(release.rules));
        let mut results = granted.iter().map(|granted| &granted.allocation.devices.results);
        let found = results.find_map(|results| shows(results, taints))?;
        first.get_or_insert(found);
    }
    first
}

fn part_of_broken<'n>(
    cluster: &Cluster,
    fitting: impl Iterator<Item = (&'n Arc<Node>, &'n [Granted])>,
) -> Option<PartOfBroken> {
    let new = |granted: &'n [Granted]| {
        let new = granted.iter().filter(|granted| !granted.existing);
        new.flat_map(|granted| &granted.allocation.devices.results)
    };
    let is_partition = |id: &DeviceId| {
        let pool = cluster.pool(&id.pool_id());
        let device = pool.and_then(|pool| pool.device(&id.device));
        device.is_some_and(|(_, device)| !device.consumes_counters.is_empty())
    };
    let mut known: Option<Vec<Broken>> = None;
    let mut found: Option<PartOfBroken> = None;
    for (node, granted) in fitting {
        let mut partitions = new(granted)
            .map(|result| result.id())
            .filter(is_partition)
            .peekable();
        if partitions.peek().is_none() {
            continue;
        }
        let known = known.get_or_insert_with(|| broken_with_partitions(cluster));
        let part = partitions.find_map(|device| {
            let mut all = known.iter();
            let broken = all.find(|broken| broken.partitions.contains(&device))?;
            Some((device, broken.clone()))
        });
        match (&mut found, part) {
            (_, None) => {}
            (Some(found), Some(_)) => found.others += 1,
            (None, Some((device, broken))) => {
                found = Some(PartOfBroken {
                    device,
                    node: node.metadata.name.clone(),
                    others: 0,
                    broken,
                });
            }
        }
    }
    found
}
