//! The filters that the scheduler runs before the one for dynamic resources, in its order.

use std::iter;
use std::sync::Arc;

use super::extended::class_of;
use super::requests::{Amounts, Usage, allocatable, amount, host_ports, pod_requests, quantity};
use dra_model::{Cluster, Component, Gate, Node, Pod, Quantity, Str, Taint, Time};

/// A plain filter that rejects a node, by the name of its plugin, in the order in which the scheduler runs them. Mirrors
/// `scheduler/apis/config/v1/default_plugins.go`, `getDefaultPlugins`, v1.37.2.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
pub enum Plain {
    /// The pod asks for another node by name.
    NodeName,
    /// The node is cordoned.
    NodeUnschedulable,
    /// The node has a taint that the pod does not tolerate.
    TaintToleration(Taint),
    /// The node lacks these labels of the pod's selector; if none, it does not match its affinity.
    NodeAffinity(Vec<(Str, Str)>),
    /// This port of the node, which the pod wants, is in use.
    NodePorts(i32),
    /// There is not enough of some resources.
    NodeResourcesFit(Vec<Lack>),
}

impl Plain {
    /// Returns whether the scheduler asks if evicting other pods from the node would help.
    pub fn preemption_may_help(&self) -> bool {
        match self {
            Self::NodePorts(_) => true,
            Self::NodeResourcesFit(lacks) => !lacks.iter().any(Lack::is_beyond_node),
            _ => false,
        }
    }

    /// The scheduler's words, one for each reason it counts.
    pub fn reasons(&self) -> Vec<String> {
        let text = match self {
            Self::NodeName => "node(s) didn't match the requested node name",
            Self::NodeUnschedulable => "node(s) were unschedulable",
            Self::TaintToleration(_) => "node(s) had untolerated taint(s)",
            Self::NodeAffinity(_) => "node(s) didn't match Pod's node affinity/selector",
            Self::NodePorts(_) => "node(s) didn't have free ports for the requested pod ports",
            Self::NodeResourcesFit(lacks) => return lacks.iter().map(Lack::reason).collect(),
        };
        vec![text.to_owned()]
    }
}

/// Shortage of a node's resource for a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lack {
    /// The resource; `pods` for the number of pods.
    pub resource: Str,
    /// Request of the pod.
    pub wanted: Quantity,
    /// Remainder after other pods.
    pub left: Quantity,
    /// Total of the node.
    pub total: Quantity,
}

impl Lack {
    /// The scheduler's words.
    pub fn reason(&self) -> String {
        if self.resource == "pods" {
            "Too many pods".to_owned()
        } else {
            format!("Insufficient {}", self.resource)
        }
    }

    /// Returns what one container may ask for instead of `wanted`, so that the pod lacks nothing: half of it at least, or a quarter of its CPU,
    /// since it is only slower then, and in whole MiB where it is memory. Nothing for huge pages, whose amounts have to be multiples of their size.
    pub(super) fn without_shortage(&self, wanted: &Quantity) -> Option<Quantity> {
        const MIB: i64 = 1 << 20;
        if self.resource.starts_with("hugepages-") {
            return None;
        }
        let of = |quantity: &Quantity| amount(&self.resource, quantity);
        let wanted = of(wanted);
        let unit = if self.resource == "cpu" || wanted < MIB {
            1
        } else {
            MIB
        };
        let rest = wanted.checked_sub(of(&self.wanted).checked_sub(of(&self.left))?)?;
        let rest = rest / unit * unit;
        let least = wanted / if self.resource == "cpu" { 4 } else { 2 };
        (rest > 0 && rest >= least && rest < wanted).then(|| quantity(&self.resource, rest))
    }

    /// Returns whether the empty node has too little, too.
    pub fn is_beyond_node(&self) -> bool {
        self.resource != "pods" && self.wanted > self.total
    }
}

/// Returns what `node` has too little of for `pod` as it is.
pub(super) fn lacks(cluster: &Cluster, pod: &Pod, node: &Node) -> Vec<Lack> {
    let usage = Usage::of_others(cluster, &node.metadata.name, Some(pod));
    let extended = cluster
        .environment()
        .enabled(Component::Scheduler, Gate::DRAExtendedResource);
    PlainFilters::new(cluster, pod, extended).insufficient(node, &usage)
}

/// The plain filters for one pod.
pub struct PlainFilters<'a> {
    pod: &'a Pod,
    requests: Amounts,
    ports: Vec<(Str, Str, i32)>,
    /// Extended resources that device classes stand behind, where a node has none of its own.
    delegated: Vec<Str>,
}

impl<'a> PlainFilters<'a> {
    /// Prepares the filters for `pod`. Extended resources of device classes are left to the plugin for dynamic resources on nodes
    /// that have none of their own, if `extended_resources` (the gate DRAExtendedResource of the scheduler) is on.
    pub fn new(cluster: &Cluster, pod: &'a Pod, extended_resources: bool) -> Self {
        let requests = pod_requests(pod);
        let delegated = if extended_resources {
            delegated(cluster, &requests)
        } else {
            Vec::new()
        };
        Self {
            pod,
            requests,
            ports: host_ports(pod).collect(),
            delegated,
        }
    }

    /// The first filter that rejects `node`, where pods take `usage`.
    pub fn reject(&self, node: &Node, usage: &Usage) -> Option<Plain> {
        self.rejections(node, usage).next()
    }

    /// The filters that reject `node`, where pods take `usage`: each untolerated taint is one. None is evaluated before it is asked for.
    pub fn rejections(&self, node: &Node, usage: &Usage) -> impl Iterator<Item = Plain> {
        let pod = self.pod;
        let is_other = pod.node().is_some_and(|name| *name != node.metadata.name);
        let is_cordoned = node.spec.unschedulable && !pod.spec.tolerations.tolerate(&unschedulable_taint());
        let taints = untolerated(pod, node).map(|taint| Plain::TaintToleration(taint.clone()));
        let affinity = move || {
            let lacks = pod.spec.node_selector.iter();
            let lacks = lacks.filter(|(key, value)| node.metadata.label(key) != Some(value));
            (!matches_affinity(pod, node)).then(|| Plain::NodeAffinity(lacks.cloned().collect()))
        };
        let ports = move || {
            let mut ports = self.ports.iter();
            let is_used = |wanted: &&(Str, Str, i32)| usage.ports.iter().any(|used| conflicts(wanted, used));
            Some(Plain::NodePorts(ports.find(is_used)?.2))
        };
        let resources = move || {
            let lacks = self.insufficient(node, usage);
            (!lacks.is_empty()).then_some(Plain::NodeResourcesFit(lacks))
        };
        is_other
            .then_some(Plain::NodeName)
            .into_iter()
            .chain(is_cordoned.then_some(Plain::NodeUnschedulable))
            .chain(taints)
            .chain(iter::once_with(affinity).flatten())
            .chain(iter::once_with(ports).flatten())
            .chain(iter::once_with(resources).flatten())
    }

    /// Mirrors `noderesources/fit.go`, `fitsRequest`.
    fn insufficient(&self, node: &Node, usage: &Usage) -> Vec<Lack> {
        let lack = |name: &str, wanted: i64, total: i64, used: i64| Lack {
            resource: name.into(),
            wanted: quantity(name, wanted),
            left: quantity(name, total.saturating_sub(used).max(0)),
            total: quantity(name, total),
        };
        let mut lacks = Vec::new();
        let (pods, allowed) = (usage.pods as i64, allocatable(node, "pods").unwrap_or(0));
        if pods + 1 > allowed {
            lacks.push(lack("pods", 1, allowed, pods));
        }
        let standard = ["cpu", "memory", "ephemeral-storage"];
        let scalar = self
            .requests
            .keys()
            .map(Str::as_str)
            .filter(|name| !standard.contains(name));
        for name in standard.into_iter().chain(scalar) {
            let wanted = self.requests.get(name).copied().unwrap_or(0);
            let has = allocatable(node, name).unwrap_or(0);
            let delegated = has == 0 && self.delegated.iter().any(|known| known == name);
            let used = usage.requested.get(name).copied().unwrap_or(0);
            if wanted > 0 && !delegated && wanted > has.saturating_sub(used) {
                lacks.push(lack(name, wanted, has, used));
            }
        }
        lacks
    }
}

/// Returns whether the node has the labels that the pod wants, and its affinity lets it there. Mirrors `nodeaffinity.go`,
/// `RequiredNodeAffinity.Match`, v1.37.2; what can't be evaluated does not match.
pub fn matches_affinity(pod: &Pod, node: &Node) -> bool {
    let mut labels = pod.spec.node_selector.iter();
    if !labels.all(|(key, value)| node.metadata.label(key) == Some(value)) {
        return false;
    }
    pod.required_affinity()
        .is_none_or(|selector| selector.matches(&node.metadata).unwrap_or(false))
}

/// Returns a port of the node that the pod needs and another pod there has, with that pod.
pub fn port_in_use<'c>(cluster: &'c Cluster, pod: &Pod, node: &Str) -> Option<(i32, &'c Arc<Pod>)> {
    let wanted: Vec<_> = host_ports(pod).collect();
    if wanted.is_empty() {
        return None;
    }
    let mut others = cluster
        .pods_of_node(node)
        .filter(|other| !other.is_terminal() && other.metadata.uid != pod.metadata.uid);
    others.find_map(|other| {
        let port =
            host_ports(other).find_map(|used| wanted.iter().find(|wanted| conflicts(wanted, &used)))?;
        Some((port.2, other))
    })
}

/// Returns whether the taint keeps pods off a node that do not tolerate it.
pub fn keeps_pods_off(taint: &Taint) -> bool {
    matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute")
}

/// Taints of the node that keep the pod off.
pub(super) fn untolerated<'n>(pod: &Pod, node: &'n Node) -> impl Iterator<Item = &'n Taint> {
    let taints = node.spec.taints.iter().filter(|taint| keeps_pods_off(taint));
    taints.filter(|taint| !pod.spec.tolerations.tolerate(taint))
}

/// Requested resources that some device class provides.
fn delegated(cluster: &Cluster, requests: &Amounts) -> Vec<Str> {
    let served = requests.keys().filter(|name| class_of(cluster, name).is_some());
    served.cloned().collect()
}

/// Keys of taints that the node controller and cloud providers put on a node for as long as it cannot run pods. Mirrors
/// `nodelifecycle/node_lifecycle_controller.go`, `taintKeyToNodeConditionMap`, v1.37.2, and `cloud-provider/api/well_known_taints.go`.
const UNFIT: [&str; 8] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cloudprovider.kubernetes.io/shutdown",
];

/// Returns whether a taint with this key tells that the node cannot run pods: it goes once the node can, and comes back while it cannot. Those of
/// what checks nodes, or sets them up, have words in common.
pub fn tells_unfit(key: &str) -> bool {
    const WORDS: [&str; 8] = [
        "health",
        "quarantine",
        "repair",
        "faulty",
        "not-ready",
        "startup-taint",
        "uninitialized",
        "unregistered",
    ];
    let is_word = |word: &str| key.to_ascii_lowercase().contains(word);
    UNFIT.contains(&key) || WORDS.iter().any(|word| is_word(word))
}

/// The taint of the node that tells that it cannot run pods, and is not the node controller's.
pub fn unfit_taint(node: &Node) -> Option<&Taint> {
    let mut taints = node.spec.taints.iter();
    taints.find(|taint| tells_unfit(&taint.key) && !taint.key.starts_with("node.kubernetes.io/"))
}

/// Returns whether a taint with this key tells that the node is about to go: an autoscaler deletes it, or the cloud takes it back.
pub fn tells_removal(key: &str) -> bool {
    matches!(
        key,
        "karpenter.sh/disrupted"
            | "karpenter.sh/disruption"
            | TO_BE_DELETED
            | "cloud.google.com/impending-node-termination"
    ) || key.starts_with("aws-node-termination-handler/")
}

/// Returns whether the taint only keeps pods off that need no devices, or that do not bear the end of a cheap node, as its key or value tells: other taints
/// may keep the node for the pods of others.
pub(super) fn is_for_devices(taint: &Taint) -> bool {
    const WORDS: [&str; 10] = [
        "gpu",
        "npu",
        "tpu",
        "gaudi",
        "neuron",
        "accelerator",
        "spot",
        "preemptible",
        "scalesetpriority",
        "capacity",
    ];
    let key = taint.key.to_ascii_lowercase();
    WORDS
        .iter()
        .any(|word| key.contains(word) || taint.value.eq_ignore_ascii_case(word))
}

/// Key of the taint of a node that cluster-autoscaler is about to delete.
const TO_BE_DELETED: &str = "ToBeDeletedByClusterAutoscaler";

/// Seconds within which cluster-autoscaler has deleted a node or given that up, as a rule: pods get 10 minutes by default.
const REMOVAL_SECONDS: u64 = 3600;

/// When cluster-autoscaler marked a node with this taint, so that it is deleted. Mirrors `cluster-autoscaler/utils/taints/taints.go`, `GetTaintTime`.
pub fn marked_for_removal(taint: &Taint) -> Option<Time> {
    let seconds = taint.value.parse().ok().filter(|_| taint.key == TO_BE_DELETED)?;
    Some(Time::from_unix_seconds(seconds))
}

/// Returns whether the taint was left on a node that is ready by a removal that has not ended: cluster-autoscaler was stopped meanwhile.
pub(super) fn is_left_over(taint: &Taint, node: &Node, now: Time) -> bool {
    let mut taints = node.spec.taints.iter();
    let lasts = |marked| now.since(marked).as_secs() >= REMOVAL_SECONDS;
    !node.metadata.is_deleting()
        && marked_for_removal(taint).is_some_and(lasts)
        && !taints.any(|taint| tells_unfit(&taint.key))
}

/// The label or annotation of a node that an operator updates, and its value: the operator cordons the node before and uncordons it after that.
pub fn update(node: &Node) -> Option<(&Str, &Str)> {
    fn of(pairs: &[(Str, Str)], is_under_way: fn(&str, &str) -> bool) -> Option<(&Str, &Str)> {
        let found = pairs.iter().find(|(key, value)| is_under_way(key, value));
        found.map(|(key, value)| (key, value))
    }
    // Operators of drivers of several vendors have the same label, each in its own domain. The machine config daemon's `Degraded` has failed.
    let driver = of(&node.metadata.labels, |key, value| {
        key.ends_with("-driver-upgrade-state") && !matches!(value, "" | "upgrade-done" | "upgrade-failed")
    });
    driver.or_else(|| {
        of(&node.metadata.annotations, |key, value| match key {
            "machineconfiguration.openshift.io/state" => matches!(value, "Working" | "Rebooting"),
            _ => key == "weave.works/kured-reboot-in-progress" && !value.is_empty(),
        })
    })
}

/// Returns whether a controller puts taints with this key back: it is about to remove the node, or keeps pods off until the node is set up.
pub(super) fn is_of_controller(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    tells_unfit(key)
        || matches!(
            domain,
            "karpenter.sh" | "node.cloudprovider.kubernetes.io" | "node.cilium.io"
        )
        || key.ends_with("OfClusterAutoscaler")
        || tells_removal(key)
}

/// Key of the taint that a person sets on a node that is down, so that its pods end without their kubelet.
pub(super) const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Key of the taint that goes with a node's flag.
pub(super) const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

fn unschedulable_taint() -> Taint {
    Taint {
        key: UNSCHEDULABLE.into(),
        effect: "NoSchedule".into(),
        ..Taint::default()
    }
}

/// Mirrors `kube-scheduler/framework/types.go`, `HostPortInfo.CheckConflict`.
fn conflicts(
    (ip, protocol, port): &(Str, Str, i32),
    (used_ip, used_protocol, used_port): &(Str, Str, i32),
) -> bool {
    let everywhere = |ip: &Str| ip == "0.0.0.0";
    port == used_port && protocol == used_protocol && (ip == used_ip || everywhere(ip) || everywhere(used_ip))
}

/// Filters that could still refuse the pod and are not simulated, because of what the pod uses.
pub fn not_simulated(pod: &Pod) -> Vec<&'static str> {
    let mut plugins = Vec::new();
    if pod.spec.volumes.bind {
        plugins.extend([
            "VolumeRestrictions",
            "NodeVolumeLimits",
            "VolumeBinding",
            "VolumeZone",
        ]);
    }
    if pod.spec.has_topology_spread {
        plugins.push("PodTopologySpread");
    }
    let affinity = pod.spec.affinity.as_ref();
    if affinity
        .is_some_and(|affinity| affinity.pod_affinity.is_some() || affinity.pod_anti_affinity.is_some())
    {
        plugins.push("InterPodAffinity");
    }
    plugins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reject(pod: &str, node: &str, usage: &Usage) -> Option<Plain> {
        let pod: Pod = serde_json::from_str(pod).unwrap();
        let node: Node = serde_json::from_str(node).unwrap();
        PlainFilters::new(&Cluster::default(), &pod, true).reject(&node, usage)
    }

    const ROOMY: &str = r#""status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"2"}}"#;

    #[test]
    fn the_first_filter_in_the_scheduler_s_order_is_named() {
        let node =
            |rest: &str| format!(r#"{{"metadata":{{"name":"a","labels":{{"zone":"x"}}}},{rest}{ROOMY}}}"#);
        let taint = r#""spec":{"unschedulable":false,"taints":[{"key":"k","effect":"NoSchedule"}]},"#;
        let none = Usage::default();
        let full = Usage {
            pods: 2,
            ..Usage::default()
        };
        for (pod, node, usage, expected) in [
            (
                r#"{"spec":{"nodeName":"b"}}"#,
                node(taint),
                &none,
                Some("NodeName"),
            ),
            (
                "{}",
                node(r#""spec":{"unschedulable":true},"#),
                &none,
                Some("NodeUnschedulable"),
            ),
            (
                r#"{"spec":{"nodeSelector":{"zone":"y"}}}"#,
                node(taint),
                &none,
                Some("TaintToleration"),
            ),
            (
                r#"{"spec":{"tolerations":[{"operator":"Exists"}]}}"#,
                node(taint),
                &none,
                None,
            ),
            (
                r#"{"spec":{"nodeSelector":{"zone":"y"}}}"#,
                node(""),
                &none,
                Some("NodeAffinity"),
            ),
            (r#"{"spec":{"nodeSelector":{"zone":"x"}}}"#, node(""), &none, None),
            ("{}", node(""), &full, Some("NodeResourcesFit")),
            (
                r#"{"spec":{"containers":[{"resources":{"requests":{"cpu":"5"}}}]}}"#,
                node(""),
                &none,
                Some("NodeResourcesFit"),
            ),
            (
                r#"{"spec":{"containers":[{"resources":{"requests":{"cpu":"4"}}}]}}"#,
                node(""),
                &none,
                None,
            ),
        ] {
            assert_eq!(
                reject(pod, &node, usage).as_ref().map(<&str>::from),
                expected,
                "{pod} on {node}"
            );
        }
    }

    #[test]
    fn ports_conflict_across_the_wildcard_address() {
        let port = |ip: &str, protocol: &str, port: i32| (ip.into(), protocol.into(), port);
        for (used, expected) in [
            (port("0.0.0.0", "TCP", 80), true),
            (port("10.0.0.1", "TCP", 80), true),
            (port("10.0.0.2", "TCP", 80), false),
            (port("0.0.0.0", "UDP", 80), false),
            (port("0.0.0.0", "TCP", 81), false),
        ] {
            assert_eq!(
                conflicts(&port("10.0.0.1", "TCP", 80), &used),
                expected,
                "{used:?}"
            );
        }
    }

    #[test]
    fn a_shortage_is_reported_in_the_schedulers_words() {
        let pod = r#"{"spec":{"containers":[{"resources":{"requests":{"cpu":"5","x/y":"1"}}}]}}"#;
        let node = format!(r#"{{"metadata":{{"name":"a"}},{ROOMY}}}"#);
        let reasons = reject(
            pod,
            &node,
            &Usage {
                pods: 2,
                ..Usage::default()
            },
        )
        .unwrap()
        .reasons();
        assert_eq!(reasons, ["Too many pods", "Insufficient cpu", "Insufficient x/y"]);
    }

    #[test]
    fn a_container_gives_up_what_the_pod_lacks_and_a_part_of_its_own_at_most() {
        let quantity = |text: &str| text.parse::<Quantity>().unwrap();
        for (resource, [wanted, left, own], expected) in [
            ("cpu", ["7", "6", "7"], Some("6")),
            ("cpu", ["1500m", "1", "1"], Some("500m")),
            ("cpu", ["24", "10", "24"], Some("10")),
            ("cpu", ["24", "5", "24"], None),
            ("cpu", ["4", "0", "4"], None),
            ("memory", ["400Gi", "312Gi", "400Gi"], Some("312Gi")),
            ("memory", ["24Gi", "10Gi", "24Gi"], None),
            ("memory", ["8Gi", "7340033Ki", "8Gi"], Some("7Gi")),
            ("hugepages-2Mi", ["8Mi", "6Mi", "8Mi"], None),
            ("example.com/nic", ["3", "2", "3"], Some("2")),
        ] {
            let lack = Lack {
                resource: resource.into(),
                wanted: quantity(wanted),
                left: quantity(left),
                total: quantity(wanted),
            };
            let found = lack.without_shortage(&quantity(own));
            assert_eq!(found, expected.map(quantity), "{resource} {wanted} {left}");
        }
    }
}
