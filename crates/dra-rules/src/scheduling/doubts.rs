//! Reasons why an answer can differ from the scheduler's, whatever the rules say: another scheduler, bugs of its
//! release, and orders that only the scheduler knows.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::bugs::{self, Told, is_for_several_nodes};
use super::profiles::{Decider, foreign_scheduler};
use dra_model::{Claim, Cluster, Pod, PoolId};

/// Those of `claims` that are to be allocated.
fn wanted(claims: &[Arc<Claim>]) -> Vec<&Claim> {
    let wanted = claims.iter().filter(|claim| claim.status.allocation.is_none());
    wanted.map(|claim| &**claim).collect()
}

/// Reasons why the scheduler may answer differently for `pod`, or for claims, when `claims` are allocated, and messages
/// about bugs that its answer shows. Each is a sentence without a full stop. None if nothing is allocated and the pod
/// uses kube-scheduler.
pub fn doubts(cluster: &Cluster, pod: Option<&Pod>, claims: &[Arc<Claim>]) -> Told {
    let environment = cluster.environment();
    let decider = pod.and_then(|pod| Decider::of(environment, pod).doubt());
    let wanted = wanted(claims);
    // Another scheduler has bugs of its own.
    let is_foreign = pod.is_some_and(|pod| foreign_scheduler(environment, pod).is_some());
    let mut told = if wanted.is_empty() || is_foreign {
        Told::default()
    } else {
        let is_mixed = claims.iter().any(|claim| is_for_several_nodes(claim));
        bugs::told(cluster, pod, &wanted, is_mixed)
    };
    told.doubts.splice(..0, decider);
    told
}

/// Pools whose slices of the newest generation disagree on how many there are, with the numbers that they say. The scheduler takes
/// that of the first slice in its list, which has no order. Mirrors `pools_incubating.go`, `GatherPools`, v1.37.2, where it asks
/// whether a pool is complete.
pub fn disagreeing_pools(cluster: &Cluster) -> Vec<(PoolId, BTreeSet<i64>)> {
    let counts = |pool: dra_model::Pool<'_>| {
        let slices = pool.slices.iter();
        let counts: BTreeSet<i64> = slices.map(|slice| slice.spec.pool.resource_slice_count).collect();
        (counts.len() > 1).then_some((pool.id, counts))
    };
    cluster.pools().filter_map(counts).collect()
}

/// Returns what depends on the order of the scheduler's lists when `claims` are allocated, in every release: the choice
/// of devices. Each is a sentence without a full stop.
pub fn orders(cluster: &Cluster, claims: &[Arc<Claim>]) -> Vec<String> {
    if wanted(claims).is_empty() {
        return Vec::new();
    }
    let pools = disagreeing_pools(cluster).into_iter();
    pools
        .map(|(pool, counts)| {
            let counts: Vec<String> = counts.iter().map(i64::to_string).collect();
            format!(
                "order decides: the slices of pool {pool} declare resourceSliceCount {}, and kube-scheduler \
                uses the count of the first slice in its list, whose order is not fixed",
                counts.join(" and ")
            )
        })
        .collect()
}
