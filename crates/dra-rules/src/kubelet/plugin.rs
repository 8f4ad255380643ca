//! Device plugins beside drivers: both may offer the same hardware.

use std::sync::Arc;

use crate::scheduling::pod_requests;
use dra_model::{Cluster, Key, Node, Pod, Quantity, Str};

/// The extended resources of the node whose device plugin offers hardware of the driver, with their amounts.
pub fn offered_by_plugin<'n>(node: &'n Node, driver: &str) -> impl Iterator<Item = &'n (Str, Quantity)> {
    let allocatable = node.status.allocatable.iter();
    allocatable.filter(move |(resource, amount)| amount.value() > 0 && is_same_hardware(driver, resource))
}

/// The extended resources of the node whose device plugin offers hardware of the driver, or has given some to pods, with their amounts and these pods.
pub fn beside_driver<'n>(
    cluster: &'n Cluster,
    node: &'n Node,
    driver: &str,
) -> impl Iterator<Item = (&'n Str, &'n Quantity, Vec<Key>)> {
    let resources = node.status.allocatable.iter();
    let resources = resources.filter(move |(resource, _)| is_same_hardware(driver, resource));
    let used =
        resources.map(|(resource, amount)| (resource, amount, users_of_plugin(cluster, node, resource)));
    used.filter(|(_, amount, users)| amount.value() > 0 || !users.is_empty())
}

/// The pods on a node that have some of an extended resource from its device plugin.
pub fn users_of_plugin(cluster: &Cluster, node: &Node, resource: &str) -> Vec<Key> {
    let has_some = |pod: &&Arc<Pod>| {
        let of_class = pod.status.extended_resource_claim_status.is_some();
        !of_class && !pod.is_terminal() && pod_requests(pod).get(resource).is_some_and(|amount| *amount > 0)
    };
    let pods = cluster.pods_of_node(&node.metadata.name).filter(has_some);
    pods.map(|pod| pod.key()).collect()
}

/// Returns whether an extended resource of a device plugin is about the same hardware as a driver: `example.com/gpu` and `gpu.example.com`, or
/// `gpu.example.com/large` and `gpu.example.com`. Other resources of the same vendor are other hardware.
fn is_same_hardware(driver: &str, resource: &str) -> bool {
    let Some((domain, name)) = resource.split_once('/') else {
        return false;
    };
    if driver == domain {
        return true;
    }
    let Some(kinds) = driver
        .strip_suffix(domain)
        .and_then(|rest| rest.strip_suffix('.'))
        .filter(|_| domain.contains('.'))
    else {
        return false;
    };
    let first = name
        .split(|character: char| !character.is_ascii_alphanumeric())
        .next();
    let is_partition = domain == "nvidia.com" && first == Some("mig");
    kinds
        .split('.')
        .any(|kind| first == Some(kind) || is_partition && kind == "gpu")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_of_a_device_plugin_is_matched_with_the_driver_of_the_same_hardware_alone() {
        for (driver, resource, same) in [
            ("gpu.example.com", "example.com/gpu", true),
            ("gpu.example.com", "example.com/gpu.shared", true),
            ("gpu.example.com", "gpu.example.com/large", true),
            ("gpu.nvidia.com", "nvidia.com/mig-1g.5gb", true),
            ("compute-domain.nvidia.com", "nvidia.com/gpu", false),
            ("compute-domain.nvidia.com", "nvidia.com/mig-1g.5gb", false),
            ("gpu.example.com", "example.com/nic", false),
            ("gpu.example.com", "other.com/gpu", false),
            ("notexample.com", "example.com/gpu", false),
            ("gpu.com", "com/gpu", false),
            ("gpu.example.com", "memory", false),
        ] {
            assert_eq!(is_same_hardware(driver, resource), same, "{driver} {resource}");
        }
    }
}
