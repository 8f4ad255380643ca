//! Preemption that is under way: pods that kube-scheduler ends so that others fit.

use dra_model::{Cluster, Key, Pod};

use crate::eviction::eviction_of;

/// Reason of the condition `DisruptionTarget` of pods that kube-scheduler deletes. Mirrors `api/core/v1/types.go`,
/// `PodReasonPreemptionByScheduler`, v1.37.2.
const PREEMPTED: &str = "PreemptionByScheduler";

/// Returns whether kube-scheduler is ending the pod so that others fit.
fn is_victim(pod: &Pod) -> bool {
    pod.metadata.is_deleting()
        && !pod.is_terminal()
        && eviction_of(pod).is_some_and(|condition| condition.reason == PREEMPTED)
}

/// Returns whether the pod waits for room on the node of a victim, which has a lower priority.
fn may_need(pod: &Pod, victim: &Pod) -> bool {
    pod.node().is_none()
        && !pod.is_terminal()
        && pod.status.nominated_node_name.is_some()
        && pod.status.nominated_node_name.as_ref() == victim.node()
        && pod.priority() > victim.priority()
}

/// The pods that kube-scheduler is ending on the node that `pod` is nominated for.
pub fn victims(cluster: &Cluster, pod: &Pod) -> Vec<Key> {
    let Some(node) = &pod.status.nominated_node_name else {
        return Vec::new();
    };
    let pods = cluster.pods_of_node(node);
    let victims = pods.filter(|victim| is_victim(victim) && may_need(pod, victim));
    victims.map(|victim| victim.key()).collect()
}

/// The pods that `victim`, which kube-scheduler is ending, makes room for.
pub fn preemptors(cluster: &Cluster, victim: &Pod) -> Vec<Key> {
    if !is_victim(victim) {
        return Vec::new();
    }
    let pods = cluster.pods().filter(|pod| may_need(pod, victim));
    pods.map(|pod| pod.key()).collect()
}
