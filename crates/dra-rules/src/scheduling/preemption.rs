//! Preemption that is under way: pods that kube-scheduler ends so that others fit.

use std::sync::Arc;

use dra_model::{Cluster, Pod};

use crate::eviction::DISRUPTION_TARGET;

/// Reason of the condition `DisruptionTarget` of pods that kube-scheduler deletes. Mirrors `api/core/v1/types.go`,
/// `PodReasonPreemptionByScheduler`, v1.37.2.
const PREEMPTED: &str = "PreemptionByScheduler";

/// Returns whether kube-scheduler is ending the pod so that others fit.
fn is_victim(pod: &Pod) -> bool {
    let mut conditions = pod.status.conditions.iter();
    pod.metadata.is_deleting()
        && !pod.is_terminal()
        && conditions.any(|condition| {
            condition.type_ == DISRUPTION_TARGET
                && condition.status == "True"
                && condition.reason == PREEMPTED
        })
}

/// Returns whether the pod waits for room on the node of a victim, which has a lower priority.
fn may_need(pod: &Pod, victim: &Pod) -> bool {
    let priority = |pod: &Pod| pod.spec.priority.unwrap_or(0);
    pod.node().is_none()
        && !pod.is_terminal()
        && pod.status.nominated_node_name.is_some()
        && pod.status.nominated_node_name.as_ref() == victim.node()
        && priority(pod) > priority(victim)
}

/// The pods that kube-scheduler is ending on the node that `pod` is nominated for.
pub fn victims<'c>(cluster: &'c Cluster, pod: &Pod) -> Vec<&'c Arc<Pod>> {
    let Some(node) = &pod.status.nominated_node_name else {
        return Vec::new();
    };
    let pods = cluster.pods_of_node(node);
    pods.filter(|victim| is_victim(victim) && may_need(pod, victim))
        .collect()
}

/// The pods that `victim`, which kube-scheduler is ending, makes room for.
pub fn preemptors<'c>(cluster: &'c Cluster, victim: &Pod) -> Vec<&'c Arc<Pod>> {
    if !is_victim(victim) {
        return Vec::new();
    }
    let pods = cluster.pods();
    pods.filter(|pod| may_need(pod, victim)).collect()
}
