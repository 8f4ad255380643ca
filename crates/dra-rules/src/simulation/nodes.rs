//! Nodes that are not heard of: what is deleted there stays.

use crate::kubelet::Heartbeat;
use dra_model::{Cluster, Pod};

/// The taint that declares a node permanently out of service.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Returns whether no kubelet confirms the end of the pod: its kubelet has not been heard of, and its node is not marked as out of service.
///
/// Mirrors `pkg/controller/podgc/gc_controller.go`, `gcTerminating`, v1.37.2.
pub(super) fn is_lost(cluster: &Cluster, pod: &Pod) -> bool {
    let Some(node) = pod.node().and_then(|name| cluster.node(name)) else {
        return false;
    };
    Heartbeat::of(node).is_silent() && !node.spec.taints.iter().any(|taint| taint.key == OUT_OF_SERVICE)
}
