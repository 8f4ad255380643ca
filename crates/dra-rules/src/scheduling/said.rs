//! Filters that are not simulated, in kube-scheduler's own words.

use super::plain::untolerated;
use dra_model::{Cluster, Pod};

/// What a filter that is not simulated looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsimulated {
    /// Volumes that another pod uses.
    VolumeRestrictions,
    /// A PersistentVolumeClaim that does not exist, which the filter for volumes in use finds first.
    NoVolumeClaim,
    /// A PersistentVolumeClaim that is being deleted.
    DeletedVolumeClaim,
    /// The number of volumes that a node can have.
    NodeVolumeLimits,
    /// Volumes that are not there yet, or not for every node.
    VolumeBinding,
    /// Zones of volumes.
    VolumeZone,
    /// The pod's rules of spreading over the topology.
    PodTopologySpread,
    /// The pod's affinity to other pods.
    PodAffinity,
    /// The pod's anti-affinity to other pods.
    PodAntiAffinity,
    /// The anti-affinity of pods that have their nodes.
    OthersAntiAffinity,
}

impl Unsimulated {
    /// The plugin's name.
    pub fn plugin(self) -> &'static str {
        match self {
            Self::VolumeRestrictions | Self::NoVolumeClaim => "VolumeRestrictions",
            Self::NodeVolumeLimits => "NodeVolumeLimits",
            Self::DeletedVolumeClaim | Self::VolumeBinding => "VolumeBinding",
            Self::VolumeZone => "VolumeZone",
            Self::PodTopologySpread => "PodTopologySpread",
            Self::PodAffinity | Self::PodAntiAffinity | Self::OthersAntiAffinity => "InterPodAffinity",
        }
    }

    /// The filter whose words these are.
    fn of(words: &str) -> Option<Self> {
        let known = TEXTS.iter().find(|(text, _)| *text == words);
        known.map(|(_, filter)| *filter).or_else(|| of_names(words))
    }
}

/// The constants `ErrReason…` and `ConflictReason` of these plugins, v1.37.2, and one of earlier releases.
const TEXTS: [(&str, Unsimulated); 15] = [
    ("node(s) had no available disk", Unsimulated::VolumeRestrictions),
    (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
        Unsimulated::VolumeRestrictions,
    ),
    (
        "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
        Unsimulated::VolumeRestrictions,
    ),
    ("node(s) exceed max volume count", Unsimulated::NodeVolumeLimits),
    (
        "pod has unbound immediate PersistentVolumeClaims",
        Unsimulated::VolumeBinding,
    ),
    (
        "node(s) didn't find available persistent volumes to bind",
        Unsimulated::VolumeBinding,
    ),
    (
        "node(s) didn't match PersistentVolume's node affinity",
        Unsimulated::VolumeBinding,
    ),
    (
        "node(s) did not have enough free storage",
        Unsimulated::VolumeBinding,
    ),
    (
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
        Unsimulated::VolumeBinding,
    ),
    ("node(s) had no available volume zone", Unsimulated::VolumeZone),
    (
        "node(s) didn't match pod topology spread constraints",
        Unsimulated::PodTopologySpread,
    ),
    (
        "node(s) didn't match pod topology spread constraints (missing required label)",
        Unsimulated::PodTopologySpread,
    ),
    (
        "node(s) didn't match pod affinity rules",
        Unsimulated::PodAffinity,
    ),
    (
        "node(s) didn't match pod anti-affinity rules",
        Unsimulated::PodAntiAffinity,
    ),
    (
        "node(s) didn't satisfy existing pods anti-affinity rules",
        Unsimulated::OthersAntiAffinity,
    ),
];

/// The filter whose words have a name in them: `volumebinding/volume_binding.go`, `podHasPVCs`, and `nodevolumelimits/csi.go`, `Filter`,
/// v1.37.2.
fn of_names(words: &str) -> Option<Unsimulated> {
    if words.ends_with(" CSI driver is not installed on the node") {
        return Some(Unsimulated::NodeVolumeLimits);
    }
    if words.starts_with("waiting for ephemeral volume controller to create the persistentvolumeclaim ") {
        return Some(Unsimulated::VolumeBinding);
    }
    let said = words.strip_prefix("persistentvolumeclaim \"")?;
    let (_, said) = said.split_once("\" ")?;
    match said {
        "not found" => Some(Unsimulated::NoVolumeClaim),
        "is being deleted" => Some(Unsimulated::DeletedVolumeClaim),
        _ if said.starts_with("bound to non-existent persistentvolume ") => Some(Unsimulated::VolumeBinding),
        _ => None,
    }
}

/// Nodes that a filter which is not simulated rejects, as kube-scheduler says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// The filter.
    pub filter: Unsimulated,
    /// kube-scheduler's words.
    pub words: String,
    /// Number of nodes; none if the filter rejects the pod before it looks at any.
    pub nodes: Option<usize>,
}

/// The rejections in kube-scheduler's message about a pod that fits no node: what [`message`](super::message()) writes is read here. What follows
/// the first sentence is about preemption.
pub fn rejections(message: &str) -> Vec<Rejection> {
    let message = message.strip_prefix("0/");
    let Some((_, said)) = message.and_then(|message| message.split_once(" nodes are available: ")) else {
        return Vec::new();
    };
    let (said, _) = said.split_once(". ").unwrap_or((said, ""));
    let said = said.strip_suffix('.').unwrap_or(said);
    if let Some(filter) = Unsimulated::of(said) {
        return vec![Rejection {
            filter,
            words: said.to_owned(),
            nodes: None,
        }];
    }
    let counted = said.split(", ").filter_map(|counted| {
        let (nodes, words) = counted.split_once(' ')?;
        Some(Rejection {
            filter: Unsimulated::of(words)?,
            words: words.to_owned(),
            nodes: Some(nodes.parse().ok()?),
        })
    });
    counted.collect()
}

/// Returns whether the message names taints or cordoned nodes where no node has them any more: then the state has changed since.
pub fn is_outdated(cluster: &Cluster, pod: &Pod, message: &str) -> bool {
    let mut tainted = cluster
        .nodes()
        .filter(|node| untolerated(pod, node).next().is_some());
    let mut cordoned = cluster.nodes().filter(|node| node.spec.unschedulable);
    (message.contains("node(s) had untolerated taint") && tainted.next().is_none())
        || (message.contains("node(s) were unschedulable") && cordoned.next().is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_model::{Kind, PodSpec};
    use dra_testing::World;

    #[test]
    fn a_message_is_outdated_once_no_node_has_what_it_names() {
        let world = |taint: bool, cordoned: bool| {
            let taints = if taint {
                json!([{"key": "k", "value": "v", "effect": "NoSchedule"}])
            } else {
                json!([])
            };
            let node =
                json!({"metadata": {"name": "n"}, "spec": {"taints": taints, "unschedulable": cordoned}});
            World::default().with(Kind::Node, &node).build()
        };
        let tolerant = Pod {
            spec: PodSpec {
                tolerations: serde_json::from_value(json!([{"operator": "Exists"}])).unwrap(),
                ..PodSpec::default()
            },
            ..Pod::default()
        };
        let tainted = "0/1 nodes are available: 1 node(s) had untolerated taint(s).";
        let older = "0/1 nodes are available: 1 node(s) had untolerated taint {k: v}.";
        let cordoned = "0/1 nodes are available: 1 node(s) were unschedulable.";
        let short = "0/1 nodes are available: 1 Insufficient cpu.";
        for (message, pod, cluster, expected) in [
            (tainted, &Pod::default(), world(true, false), false),
            (tainted, &tolerant, world(true, false), true),
            (tainted, &Pod::default(), world(false, false), true),
            (older, &Pod::default(), world(false, true), true),
            (cordoned, &Pod::default(), world(true, true), false),
            (cordoned, &Pod::default(), world(true, false), true),
            (short, &Pod::default(), world(false, false), false),
        ] {
            assert_eq!(is_outdated(&cluster, pod, message), expected, "{message}");
        }
    }

    #[test]
    fn a_message_names_filters_that_are_not_simulated() {
        let found = |message: &str| -> Vec<(&'static str, Option<usize>)> {
            let found = rejections(message).into_iter();
            found.map(|found| (found.filter.plugin(), found.nodes)).collect()
        };
        for (message, expected) in [
            (
                "0/3 nodes are available: 1 cannot allocate all claims, 2 node(s) didn't match pod topology spread constraints. preemption: \
                 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 node(s) didn't match pod affinity rules.",
                vec![("PodTopologySpread", Some(2))],
            ),
            (
                "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label), 1 node(s) didn't \
                 match pod anti-affinity rules.",
                vec![("PodTopologySpread", Some(1)), ("InterPodAffinity", Some(1))],
            ),
            (
                "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/1 nodes are available: 1 Preemption \
                 is not helpful for scheduling.",
                vec![("VolumeBinding", None)],
            ),
            (
                "0/1 nodes are available: persistentvolumeclaim \"a.b\" not found.",
                vec![("VolumeRestrictions", None)],
            ),
            ("0/1 nodes are available: 1 Insufficient cpu.", vec![]),
            ("running \"DynamicResources\" filter plugin: timed out", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(found(message), expected, "{message}");
        }
    }
}
