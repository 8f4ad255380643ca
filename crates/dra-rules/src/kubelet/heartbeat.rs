//! Kubelet state, from its node.

use dra_model::{Condition, Node, Time};

/// Kubelet state in the `Ready` condition of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heartbeat {
    /// The kubelet works, or the node does not say anything of it.
    Ready,
    /// The kubelet itself says that the node is not ready. It does not start pods that need the missing part, but still
    /// terminates pods, unless its container runtime is down (`kubelet.go`, `syncLoop`, v1.37.2).
    NotReady {
        /// Since when.
        since: Option<Time>,
    },
    /// The kubelet has not been heard of for a while: nothing is done for pods, neither to start nor to end them.
    Silent {
        /// Since when.
        since: Option<Time>,
    },
}

impl Heartbeat {
    /// Returns what `node` says.
    ///
    /// Mirrors `kubelet/nodestatus/setters.go`, `ReadyCondition`, which sets `True` or `False`, and
    /// `controller/nodelifecycle/node_lifecycle_controller.go`, `tryUpdateNodeHealth`, which sets `Unknown`, v1.37.2.
    pub fn of(node: &Node) -> Self {
        let Some(ready) = node.ready() else {
            return Self::Ready;
        };
        let since = ready.last_transition_time;
        match ready.status.as_str() {
            "True" => Self::Ready,
            "False" => Self::NotReady { since },
            _ => Self::Silent { since },
        }
    }

    /// Returns whether nothing comes from the node.
    pub fn is_silent(self) -> bool {
        matches!(self, Self::Silent { .. })
    }
}

/// Returns whether this is what the kubelet says where its container runtime is gone. Mirrors `kubelet/runtime.go`, `runtimeErrors`, v1.37.2.
pub(super) fn is_of_runtime(text: &str) -> bool {
    text.contains("container runtime is down")
}

/// The words of the condition `Ready` of a node.
pub(super) fn why_not_ready(node: &Node) -> Option<&str> {
    Some(node.ready()?.message.as_str())
}

/// Returns when the kubelet reported last: it does so at least every eight minutes (`kubelet_node_status.go`, `updateNodeStatus`, v1.37.2).
pub(super) fn reported(node: &Node) -> Option<Time> {
    node.ready()?.last_heartbeat_time
}

/// The condition of a node that says that its network is not set up: a cloud provider or the network plugin sets it (`core/v1/types.go`,
/// `NodeNetworkUnavailable`, v1.37.2).
pub fn without_network(node: &Node) -> Option<&Condition> {
    let mut conditions = node.status.conditions.iter();
    conditions.find(|condition| condition.type_ == "NetworkUnavailable" && condition.status == "True")
}

/// The condition of the node that says that it is broken, of what watches nodes beside Kubernetes. Most such conditions are true then, as those of
/// node-problem-detector; others say that something is healthy, or ready.
pub fn ailment(node: &Node) -> Option<&Condition> {
    const BROKEN: [&str; 9] = [
        "Corrupt", "Deadlock", "Error", "Fail", "Fault", "Hang", "Lost", "Problem", "Readonly",
    ];
    let is_ready = |condition: &&Condition| condition.type_ == "Ready";
    let broken = |condition: &&Condition| match condition.status.as_str() {
        "True" => BROKEN.iter().any(|word| condition.type_.contains(word)),
        "False" => {
            !is_ready(condition)
                && ["Ready", "Healthy"]
                    .iter()
                    .any(|end| condition.type_.ends_with(end))
        }
        _ => false,
    };
    let conditions = || node.status.conditions.iter();
    // What the kubelet itself says of that.
    let of_kubelet = || conditions().find(|condition| is_ready(condition) && condition.status == "False");
    conditions().find(broken).or_else(of_kubelet)
}
