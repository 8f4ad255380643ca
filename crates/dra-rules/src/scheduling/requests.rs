//! Requests of pods for node resources, and their usage.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::node_share;
use dra_model::{Cluster, Component, Container, Format, Gate, Node, Pod, Quantity, Str, lookup};

/// Amounts by resource name: thousandths of a core for `cpu`, whole units for everything else, rounded up.
pub type Amounts = BTreeMap<Str, i64>;

/// Returns what a pod asks of a node. Mirrors `component-helpers/resource/helpers.go`, `PodRequests`, v1.37.2.
///
/// Sidecars count from their start on; ordinary init containers run one after the other and only need the most of any of them.
pub fn pod_requests(pod: &Pod) -> Amounts {
    pod_requests_with(pod, &[])
}

/// The same for a pod whose devices take `share` of the node besides.
pub(super) fn pod_requests_with(pod: &Pod, share: &[(Str, Quantity)]) -> Amounts {
    let mut total = Amounts::new();
    for container in &pod.spec.containers {
        add(&mut total, &container_requests(container));
    }
    let mut sidecars = Amounts::new();
    let mut starting = Amounts::new();
    for container in &pod.spec.init_containers {
        let mut requests = container_requests(container);
        if is_sidecar(container) {
            add(&mut total, &requests);
            add(&mut sidecars, &requests);
            requests.clone_from(&sidecars);
        } else {
            add(&mut requests, &sidecars);
        }
        raise(&mut starting, &requests);
    }
    raise(&mut total, &starting);
    for (name, quantity) in share {
        let sum = total.entry(name.clone()).or_default();
        *sum = sum.saturating_add(amount(name, quantity));
    }
    if let Some(resources) = &pod.spec.resources {
        // Requests of the whole pod replace what the containers add up to, for the resources that allow it.
        for (name, quantity) in &resources.requests {
            if matches!(name.as_str(), "cpu" | "memory") || name.starts_with("hugepages-") {
                total.insert(name.clone(), amount(name, quantity));
            }
        }
    }
    for (name, quantity) in &pod.spec.overhead {
        let sum = total.entry(name.clone()).or_default();
        *sum = sum.saturating_add(amount(name, quantity));
    }
    total
}

/// Returns whether an init container keeps running beside the ordinary ones.
pub(crate) fn is_sidecar(container: &Container) -> bool {
    container
        .restart_policy
        .as_ref()
        .is_some_and(|policy| policy == "Always")
}

fn container_requests(container: &Container) -> Amounts {
    let amounts = |list: &[(Str, Quantity)]| -> Amounts {
        list.iter()
            .map(|(name, quantity)| (name.clone(), amount(name, quantity)))
            .collect()
    };
    // The API server copies limits into absent requests; a manifest that never met it may lack them.
    let mut requests = amounts(&container.resources.limits);
    requests.extend(amounts(&container.resources.requests));
    requests
}

/// The amount of a resource as the scheduler counts it. Mirrors `framework/types.go`, `Resource.Add`.
pub(super) fn amount(name: &str, quantity: &Quantity) -> i64 {
    if name == "cpu" {
        quantity.milli_value()
    } else {
        quantity.value()
    }
}

/// An amount that [`amount`] counts, as people write it.
pub(super) fn quantity(name: &str, amount: i64) -> Quantity {
    let is_bytes = matches!(name, "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
    match name {
        "cpu" => Quantity::new_milli(amount, Format::DecimalSi),
        _ if is_bytes => Quantity::new(amount, Format::BinarySi),
        _ => Quantity::new(amount, Format::DecimalSi),
    }
}

/// Returns how much a node has for pods of the resource `name`.
pub fn allocatable(node: &Node, name: &str) -> Option<i64> {
    lookup(&node.status.allocatable, name).map(|has| amount(name, has))
}

fn add(total: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let sum = total.entry(name.clone()).or_default();
        *sum = sum.saturating_add(*amount);
    }
}

fn raise(total: &mut Amounts, least: &Amounts) {
    for (name, amount) in least {
        let known = total.entry(name.clone()).or_default();
        *known = (*known).max(*amount);
    }
}

/// Usage by the pods of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sum of their requests.
    pub requested: Amounts,
    /// Their number.
    pub pods: usize,
    /// Ports of the node that they use: address, protocol, port.
    pub ports: Vec<(Str, Str, i32)>,
}

impl Usage {
    /// Returns what the pods bound to `node` take. Pods that have ended do not count: the scheduler does not watch them.
    pub fn of_node(cluster: &Cluster, node: &Str) -> Self {
        Self::of_others(cluster, node, None)
    }

    /// The same without `pod`, should it be bound to the node.
    pub fn of_others(cluster: &Cluster, node: &Str, pod: Option<&Pod>) -> Self {
        let mut usage = Self::default();
        let is_other = |other: &&Arc<Pod>| {
            !other.is_terminal() && pod.is_none_or(|pod| pod.metadata.uid != other.metadata.uid)
        };
        let gate = Gate::DRANodeAllocatableResources;
        let have_shares = cluster.environment().enabled(Component::Scheduler, gate);
        for pod in cluster.pods_of_node(node).filter(is_other) {
            let requests = if have_shares {
                pod_requests_with(pod, &node_share::of_pod(cluster, pod))
            } else {
                pod_requests(pod)
            };
            add(&mut usage.requested, &requests);
            usage.pods += 1;
            usage.ports.extend(host_ports(pod));
        }
        usage
    }
}

/// Ports of the node that a pod uses. Mirrors `scheduler/util/utils.go`, `GetHostPorts`.
pub(super) fn host_ports(pod: &Pod) -> impl Iterator<Item = (Str, Str, i32)> + '_ {
    let sidecars = pod
        .spec
        .init_containers
        .iter()
        .filter(|container| is_sidecar(container));
    sidecars
        .chain(&pod.spec.containers)
        .flat_map(|container| &container.ports)
        .filter_map(|port| {
            // On the node's network every container port is a port of the node.
            let number = if port.host_port == 0 && pod.spec.host_network {
                port.container_port
            } else {
                port.host_port
            };
            let or = |text: &Str, default: &str| {
                if text.is_empty() {
                    default.into()
                } else {
                    text.clone()
                }
            };
            (number > 0).then(|| (or(&port.host_ip, "0.0.0.0"), or(&port.protocol, "TCP"), number))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(json: &str) -> Pod {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn init_containers_count_by_their_most_and_sidecars_from_their_start() {
        let pod = pod(r#"{"spec":{"overhead":{"cpu":"10m"},
                "containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}},{"resources":{"limits":{"cpu":"500m"}}}],
                "initContainers":[
                    {"resources":{"requests":{"cpu":"100m"}},"restartPolicy":"Always"},
                    {"resources":{"requests":{"cpu":"3","memory":"512Mi"}}}]}}"#);
        let requests = pod_requests(&pod);
        // The second init container runs beside the sidecar: 3.1 cores; afterwards 1.6 are needed.
        assert_eq!(requests[&Str::from("cpu")], 3110);
        assert_eq!(requests[&Str::from("memory")], 1 << 30);
    }

    #[test]
    fn requests_of_the_pod_replace_the_sum_of_its_containers() {
        let pod = pod(
            r#"{"spec":{"resources":{"requests":{"cpu":"2","example.com/gpu":"9"}},
                "containers":[{"resources":{"requests":{"cpu":"3","example.com/gpu":"1"}}}]}}"#,
        );
        let requests = pod_requests(&pod);
        assert_eq!(requests[&Str::from("cpu")], 2000);
        assert_eq!(requests[&Str::from("example.com/gpu")], 1);
    }
}
