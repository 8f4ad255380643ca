//! CPUs that claims and pods have of a node together.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::node_share::devices;
use super::requests::{allocatable, pod_requests};
use super::verdict::Granted;
use crate::reservation::claim_names;
use dra_model::{Allocation, Cluster, Component, Gate, Key, Node, Pod, Str, lookup};

/// CPUs that claims and pods have of a node together, where that is more than the node has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooManyCpus {
    /// The node.
    pub node: Str,
    /// The first driver whose devices are CPUs.
    pub driver: Str,
    /// Usage by claims, in thousandths of a CPU.
    pub of_claims: i64,
    /// Usage by other requests of pods.
    pub of_pods: i64,
    /// Resources of the node for pods.
    pub allocatable: i64,
}

/// The CPUs of `node` where claims and requests of pods exceed them together, once `pod` is there with what is `granted`: the scheduler
/// adds up requests alone, unless the gate DRANodeAllocatableResources is on and a device says what it takes of its node (KEP-5517). A
/// pod that has its CPUs in a claim and requests them as well has them once. Devices are CPUs if they have a capacity of that name.
pub fn too_many_cpus(
    cluster: &Cluster,
    node: &Node,
    pod: Option<&Pod>,
    granted: &[Granted],
) -> Option<TooManyCpus> {
    const CPU: &str = "cpu";
    let gate = Gate::DRANodeAllocatableResources;
    let counts = cluster.environment().enabled(Component::Scheduler, gate);
    let mut driver: Option<Str> = None;
    let mut cpus_of = |allocation: &Allocation| -> i64 {
        let cpus = devices(cluster, allocation).filter_map(|(result, device)| {
            if counts && lookup(&device.node_allocatable_resources, CPU).is_some() {
                return None;
            }
            let is_cpus = |name: &Str| name.rsplit('/').next() == Some(CPU);
            let consumed = result.consumed_capacity.iter().find(|(name, _)| is_cpus(name));
            let whole = device.capacity.iter().find(|(name, _)| is_cpus(name));
            let (_, whole) = whole?;
            driver.get_or_insert_with(|| result.driver.clone());
            let amount = consumed.map_or(&whole.value, |(_, amount)| amount);
            Some(amount.milli_value())
        });
        cpus.fold(0, i64::saturating_add)
    };
    let of_new: i64 = granted.iter().map(|granted| cpus_of(&granted.allocation)).sum();
    if of_new == 0 {
        return None;
    }
    let requested = |pod: &Pod| pod_requests(pod).get(CPU).copied().unwrap_or_default();
    let mut seen: BTreeSet<Key> = granted.iter().map(|granted| granted.claim.clone()).collect();
    let mut of_claims = of_new;
    let mut of_pods = pod.map_or(0, |pod| requested(pod).saturating_sub(of_new).max(0));
    let is_other = |other: &&Arc<Pod>| {
        !other.is_terminal() && pod.is_none_or(|pod| pod.metadata.uid != other.metadata.uid)
    };
    for other in cluster.pods_of_node(&node.metadata.name).filter(is_other) {
        let claims = claim_names(other).filter_map(|name| name.find(cluster));
        let own = claims.filter_map(|claim| Some((claim.key(), claim.status.allocation.as_ref()?)));
        let own: i64 = own
            .filter(|(key, _)| seen.insert(key.clone()))
            .map(|(_, allocation)| cpus_of(allocation))
            .sum();
        of_claims = of_claims.saturating_add(own);
        of_pods = of_pods.saturating_add(requested(other).saturating_sub(own).max(0));
    }
    let allocatable = allocatable(node, CPU)?;
    (of_claims.saturating_add(of_pods) > allocatable).then_some(TooManyCpus {
        node: node.metadata.name.clone(),
        driver: driver?,
        of_claims,
        of_pods,
        allocatable,
    })
}
