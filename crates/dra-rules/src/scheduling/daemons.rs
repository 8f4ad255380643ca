//! The pods of a DaemonSet: one on each node that takes it.

use std::sync::Arc;

use super::plain::{UNSCHEDULABLE, matches_affinity, untolerated};
use dra_model::{
    Cluster, Meta, Node, NodeAffinity, NodeSelector, Pod, Toleration, Tolerations, uid_of_manifest,
};

/// The pods that the DaemonSet controller makes of `pod` on the nodes of `cluster`: one for each node that its selector, its affinity and its
/// tolerations let it on, and which it names then.
///
/// Mirrors `daemon_controller.go`, `nodeShouldRunDaemonPod`, and `daemonset_util.go`, `ReplaceDaemonSetPodNodeNameNodeAffinity`, v1.37.2.
pub fn daemon_pods(cluster: &Cluster, pod: &Pod) -> Vec<Arc<Pod>> {
    let mut tolerant = pod.clone();
    tolerate(&mut tolerant);
    let nodes = cluster.nodes().filter(|node| runs_on(&tolerant, node));
    nodes.map(|node| Arc::new(on_node(&tolerant, node))).collect()
}

fn runs_on(pod: &Pod, node: &Node) -> bool {
    pod.node().is_none_or(|name| *name == node.metadata.name)
        && matches_affinity(pod, node)
        && untolerated(pod, node).next().is_none()
}

fn tolerate(pod: &mut Pod) {
    let added = daemon_tolerations(pod);
    let tolerations: Tolerations = pod.spec.tolerations.iter().cloned().chain(added).collect();
    pod.spec.tolerations = tolerations.into();
}

/// The tolerations that the DaemonSet controller adds to those of the template of `pod`.
///
/// Mirrors `daemonset_util.go`, `AddOrUpdateDaemonPodTolerations`, v1.37.2.
pub fn daemon_tolerations(pod: &Pod) -> Vec<Toleration> {
    let mut taints = vec![
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
        (UNSCHEDULABLE, "NoSchedule"),
    ];
    if pod.spec.host_network {
        taints.push(("node.kubernetes.io/network-unavailable", "NoSchedule"));
    }
    let added = taints.into_iter();
    added
        .map(|(key, effect)| Toleration::of_key(key, effect))
        .collect()
}

fn on_node(pod: &Pod, node: &Node) -> Pod {
    let name = format!("{}-{}", pod.metadata.name, node.metadata.name);
    let mut of_node = Pod {
        metadata: Meta {
            uid: uid_of_manifest(&format!("Pod/{}/{name}", pod.metadata.namespace)).into(),
            name: name.into(),
            ..pod.metadata.clone()
        },
        ..pod.clone()
    };
    let affinity = of_node.spec.affinity.get_or_insert_default();
    affinity
        .node_affinity
        .get_or_insert_with(NodeAffinity::default)
        .required_during_scheduling_ignored_during_execution =
        Some(NodeSelector::of_node(&node.metadata.name));
    of_node
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{Change, Kind, Object};

    #[test]
    fn a_daemon_runs_where_selector_and_taints_let_it() {
        let mut cluster = Cluster::default();
        for node in [
            r#"{"metadata":{"name":"a","labels":{"gpu":"yes"}},"spec":{"unschedulable":true,
                "taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]}}"#,
            r#"{"metadata":{"name":"b","labels":{"gpu":"yes"}},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}"#,
            r#"{"metadata":{"name":"c","labels":{"gpu":"yes"}}}"#,
            r#"{"metadata":{"name":"d"}}"#,
        ] {
            cluster.apply(Change::Put(
                Object::from_json(Kind::Node, node.as_bytes()).unwrap(),
            ));
        }
        let pod: Pod = serde_json::from_str(
            r#"{"metadata":{"namespace":"n","name":"ds"},"spec":{"nodeSelector":{"gpu":"yes"}}}"#,
        )
        .unwrap();
        let pods = daemon_pods(&cluster, &pod);
        let names: Vec<_> = pods.iter().map(|pod| pod.metadata.name.as_str()).collect();
        assert_eq!(names, ["ds-a", "ds-c"]);
        let alone: Vec<bool> = cluster.nodes().map(|node| runs_on(&pods[1], node)).collect();
        assert_eq!(alone, [false, false, true, false]);
    }
}
