//! Pods of drivers, and their state on a node.
//!
//! Nothing of the API says which pod belongs to a driver. A pod is treated as a driver's if it mounts the kubelet's
//! plugin directory, or if its DaemonSet is named like such plugins; and as a certain driver's if it is named like it, or mounts the
//! directory of its name.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::container::{Waiting, containers, is_ready, why_ended};
use super::reach::{nodes_of_devices, nodes_of_slice};
use super::{Unknown, said};
use crate::scheduling::{keeps_pods_off, port_in_use};
use dra_model::{
    Cluster, Condition, Event, Key, Kind, Meta, Node, NodeSelector, Owner, Pod, Pool, Slice, Str, Taint, Time,
};

/// The DaemonSet that a pod belongs to.
pub fn daemon_set_of(pod: &Pod) -> Option<&Str> {
    let owner = pod.metadata.controller()?;
    (owner.kind == "DaemonSet" && owner.api_version.starts_with("apps/")).then_some(&owner.name)
}

/// Words in names of drivers that tell nothing: where domains end, and what every driver is.
const COMMON: [&str; 12] = [
    "com",
    "org",
    "net",
    "io",
    "dev",
    "k8s",
    "x-k8s",
    "sigs",
    "kubernetes",
    "dra",
    "driver",
    "resource",
];

/// Words in names of drivers that tell what the devices are: drivers of several vendors have them.
const PRODUCTS: [&str; 14] = [
    "gpu",
    "vgpu",
    "mig",
    "nic",
    "network",
    "rdma",
    "sriov",
    "cpu",
    "memory",
    "tpu",
    "npu",
    "fpga",
    "accelerator",
    "device",
];

/// Clouds whose names are in those of their drivers, and in labels of nodes without devices of theirs.
const CLOUDS: [&str; 4] = ["google", "gke", "aws", "azure"];

/// Vendors, and projects that are drivers: what is called like one, or like a cloud, is not another's.
const VENDORS: [&str; 14] = [
    "nvidia",
    "amd",
    "intel",
    "habana",
    "xilinx",
    "mellanox",
    "broadcom",
    "qualcomm",
    "furiosa",
    "rebellions",
    "huawei",
    "ascend",
    "tenstorrent",
    "dranet",
];

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|character: char| !character.is_ascii_alphanumeric())
}

fn is_in(part: &str, name: &str) -> bool {
    const LONG: usize = 3;
    words(name).any(|word| word == part) || part.len() >= LONG && name.contains(part)
}

/// The parts of a driver's domain name that tell something.
fn parts(driver: &str) -> impl Iterator<Item = &str> {
    driver.split('.').filter(|part| !COMMON.contains(part))
}

/// Returns whether something is called like a driver: by a part of the driver's domain name, or the beginning of one, as `sriov` is of
/// `sriovnetwork`. What several drivers may be called, such as `gpu`, is enough only where no other vendor is named.
pub fn is_called_like(driver: &str, name: &str) -> bool {
    const LONG: usize = 5;
    let is_foreign = || {
        let mut known = VENDORS.iter().chain(&CLOUDS);
        known.any(|vendor| is_in(vendor, name) && !driver.contains(vendor))
    };
    let begins = |part: &str| {
        words(name).any(|word| word.len() >= LONG && !COMMON.contains(&word) && part.starts_with(word))
    };
    is_called_after(driver, name)
        || parts(driver).any(|part| is_in(part, name) || begins(part)) && !is_foreign()
}

/// Returns whether something is called after a driver, and not only like its devices.
fn is_called_after(driver: &str, name: &str) -> bool {
    let mut own = parts(driver).filter(|part| !PRODUCTS.contains(part));
    // `dra.net` is the driver of `dranet`.
    let joined = || driver.split('.').collect::<String>();
    own.any(|part| is_in(part, name)) || is_in(&joined(), name)
}

/// Returns whether what runs in the namespace, on nodes with such labels, is another vendor's.
fn is_placed_for_another(driver: &str, namespace: &str, node_selector: &[(Str, Str)]) -> bool {
    let labels = node_selector
        .iter()
        .flat_map(|(key, value)| words(key).chain(words(value)));
    let mut placed = words(namespace).chain(labels);
    placed.any(|word| VENDORS.contains(&word) && !driver.contains(word))
}

/// Returns whether a DaemonSet may be the driver's.
pub(super) fn is_set_of(driver: &str, set: &Owner) -> bool {
    is_called_plugin(&set.key.name)
        && is_called_like(driver, &set.key.name)
        && (is_called_after(driver, &set.key.name)
            || !is_placed_for_another(driver, &set.key.namespace, &set.node_selector))
}

/// Returns whether a pod may be the driver's.
pub fn is_pod_of(driver: &str, pod: &Pod) -> bool {
    is_named_after(driver, pod)
        || names(pod).any(|name| is_called_like(driver, name))
            && !is_placed_for_another(driver, &pod.metadata.namespace, &pod.spec.node_selector)
}

fn is_named_after(driver: &str, pod: &Pod) -> bool {
    pod.spec
        .volumes
        .plugin
        .as_deref()
        .is_some_and(|plugin| plugin == driver)
        || names(pod).any(|name| is_called_after(driver, name))
}

/// The names of a pod and of its DaemonSet.
fn names(pod: &Pod) -> impl Iterator<Item = &Str> {
    [Some(&pod.metadata.name), daemon_set_of(pod)]
        .into_iter()
        .flatten()
}

/// Returns whether a DaemonSet is called like plugins of the kubelet for devices are.
pub fn is_called_plugin(name: &str) -> bool {
    ["kubelet-plugin", "kubeletplugin", "resource-driver", "dra"]
        .iter()
        .any(|word| name.contains(word))
}

/// The pods that run what controls the objects of a domain, such as `kueue.x-k8s.io`: those that are called like it and a controller.
pub fn controllers<'c>(cluster: &'c Cluster, domain: &str) -> impl Iterator<Item = &'c Arc<Pod>> {
    cluster.pods().filter(move |pod| {
        let name = &pod.metadata.name;
        !pod.is_terminal()
            && daemon_set_of(pod).is_none()
            && name.contains("controller")
            && is_called_like(domain, name)
    })
}

/// Pods that do not run of what may attach the devices of a driver, with their containers: they are called like parts of drivers, belong to no
/// DaemonSet, and no other vendor is named.
pub fn down_controllers(cluster: &Cluster, driver: &str) -> impl Iterator<Item = (Key, Waiting)> {
    cluster.pods().filter_map(move |pod| {
        let Meta { name, namespace, .. } = &pod.metadata;
        let is_its = is_called_plugin(name)
            && daemon_set_of(pod).is_none()
            && ![name, namespace]
                .into_iter()
                .any(|name| is_placed_for_another(driver, name, &[]));
        Some((
            pod.key(),
            crashes(cluster, pod).filter(|_| is_its && !pod.is_terminal())?,
        ))
    })
}

/// Deployments without replicas that may be what attaches the devices of a driver, which need not be called like them: they are called
/// controllers of devices, and no other vendor is named.
pub fn scaled_down<'c>(cluster: &'c Cluster, driver: &'c str) -> impl Iterator<Item = &'c Owner> {
    const CONTROLLERS: [&str; 2] = ["controller", "operator"];
    const OF_DEVICES: [&str; 5] = ["dra", "resource", "device", "fabric", "composable"];
    let is_its = move |owner: &&Owner| {
        let names = [&owner.key.name, &owner.key.namespace].into_iter();
        let has = |of: &[&str]| {
            names
                .clone()
                .flat_map(|name| words(name))
                .any(|word| of.contains(&word))
        };
        owner.kind == "Deployment"
            && owner.replicas == Some(0)
            && has(&CONTROLLERS)
            && (has(&OF_DEVICES) || names.clone().any(|name| is_called_like(driver, name)))
            && !names.clone().any(|name| is_placed_for_another(driver, name, &[]))
    };
    cluster.environment().owners.iter().filter(is_its)
}

/// The node of a pod, or the one that the controller of DaemonSets has made it for.
fn node_of(pod: &Pod) -> Option<&Str> {
    pod.node().or_else(|| pod.required_affinity()?.single_node())
}

/// Returns what keeps pods like `pod`, of a DaemonSet, off a node. The node affinity of the DaemonSet shows in none of its pods, nor does what it selects
/// since they were created.
pub fn kept_off(cluster: &Cluster, pod: &Pod, node: &Node) -> Option<KeptOff> {
    let set = cluster.owner(&pod.metadata);
    let selectors = [Some(&pod.spec.node_selector), set.map(|set| &set.node_selector)];
    let mut selectors = selectors.into_iter().flatten();
    selectors
        .find_map(|selector| unselected(selector, set, node))
        .or_else(|| {
            let mut taints = node.spec.taints.iter().filter(|taint| keeps_pods_off(taint));
            let taint = taints.find(|taint| !pod.spec.tolerations.tolerate(taint))?;
            Some(KeptOff::Taint(taint.clone()))
        })
}

/// The labels that a nodeSelector asks for and the node lacks.
pub(super) fn lacked<'s>(
    node_selector: &'s [(Str, Str)],
    node: &Node,
) -> impl Iterator<Item = &'s (Str, Str)> {
    let labels = node_selector.iter();
    labels.filter(|(key, value)| node.metadata.label(key) != Some(value))
}

/// Returns why pods with this nodeSelector, of a DaemonSet that may not have been read, do not select the node.
pub(super) fn unselected(node_selector: &[(Str, Str)], set: Option<&Owner>, node: &Node) -> Option<KeptOff> {
    let missing: Vec<(Str, Str)> = lacked(node_selector, node).cloned().collect();
    if let Some(paused) = missing.iter().find_map(|(key, _)| paused(node, key)) {
        return Some(paused);
    }
    if !missing.is_empty() {
        return Some(KeptOff::Labels(missing));
    }
    let affinity = set.filter(|set| !set.attracts(node))?.affinity.as_ref()?;
    Some(KeptOff::Affinity(affinity.clone()))
}

/// Returns that an operator has taken pods off the node for a change, such as one of MIG, and has yet to put them back. NVIDIA's
/// `k8s-driver-manager` and `mig-parted` write `paused-for-…` into the labels that they take away.
fn paused(node: &Node, key: &Str) -> Option<KeptOff> {
    let value = node
        .metadata
        .label(key)
        .filter(|value| value.starts_with("paused-for-"))?;
    let has_failed = value.contains("mig")
        && node
            .metadata
            .label(MIG_STATE)
            .is_some_and(|state| *state == "failed");
    Some(KeptOff::Paused {
        label: key.clone(),
        value: value.clone(),
        has_failed,
    })
}

/// The label with how far a change of MIG is.
pub const MIG_STATE: &str = "nvidia.com/mig.config.state";

/// Reason that keeps the pods of a DaemonSet off a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeptOff {
    /// Labels that its nodeSelector asks for.
    Labels(Vec<(Str, Str)>),
    /// A label that its nodeSelector asks for has another value for as long as an operator changes the node.
    Paused {
        /// The label.
        label: Str,
        /// What it is for.
        value: Str,
        /// Whether the change has failed.
        has_failed: bool,
    },
    /// The node affinity that it requires.
    Affinity(NodeSelector),
    /// A taint that it does not tolerate.
    Taint(Taint),
}

impl KeptOff {
    /// Returns whether the DaemonSet does not select the node.
    pub fn is_unselected(&self) -> bool {
        matches!(self, Self::Labels(_) | Self::Affinity(_))
    }
}

/// State of a driver's pod on a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plugin {
    /// Not all pods were read, so it is unknown.
    Hidden,
    /// There is none that may be the driver's.
    None {
        /// A pod of the DaemonSet that brings it to other nodes, if there is one, and the name of that.
        elsewhere: Option<(Key, Str)>,
        /// Reason that keeps it off this node.
        kept_off: Option<KeptOff>,
    },
    /// A container of it ends again and again, or cannot be started.
    Crashing(Key, Waiting),
    /// It has no node yet.
    Pending(Key, Unplaced),
    /// It is there and not ready.
    NotReady(Key),
    /// The same, and it was created just now, at this time.
    Starting(Key, Time),
    /// It has failed: the kubelet did not accept it, or evicted it.
    Failed(Key, Failure),
    /// It is ready but registers in a different directory than the plugins that serve this node: its directory, and
    /// theirs.
    OtherFolder(Key, Str, Str),
    /// It is ready, since then; and when the kubelet started, if that was later.
    Ready(Key, Option<Time>, Option<Time>),
}

/// The reason why a pod has no node yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unplaced {
    /// What the scheduler says; empty for nothing.
    pub said: Str,
    /// A port of the node that it needs, and the pod that has it.
    pub port: Option<(i32, Key)>,
}

/// What the kubelet says of a pod that has failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// Machine-readable cause.
    pub reason: Str,
    /// Text for people.
    pub message: Str,
}

impl Failure {
    fn of(pod: &Pod) -> Self {
        let text = |text: Option<&Str>| text.cloned().unwrap_or_default();
        Self {
            reason: text(pod.status.reason.as_deref()),
            message: text(pod.status.message.as_deref()),
        }
    }

    /// Returns whether the node lacks a resource that the pod requests. Mirrors `kubelet/lifecycle/predicate.go`, `rejectPodAdmissionBasedOnReasons`, v1.37.2.
    pub fn is_of_resource(&self) -> bool {
        self.reason.starts_with("OutOf")
    }
}

impl Plugin {
    /// Its pod on the node.
    pub fn pod(&self) -> Option<&Key> {
        match self {
            Self::Hidden | Self::None { .. } => None,
            Self::Crashing(pod, _)
            | Self::Pending(pod, _)
            | Self::NotReady(pod)
            | Self::Starting(pod, _)
            | Self::Failed(pod, _)
            | Self::OtherFolder(pod, ..)
            | Self::Ready(pod, ..) => Some(pod),
        }
    }
}

/// Pods that may be drivers'.
#[derive(Debug, Default)]
pub(super) struct Drivers<'c> {
    /// Only looked up in.
    of_node: HashMap<&'c Str, Vec<&'c Arc<Pod>>>,
    /// The DaemonSets among them: one pod of each.
    sets: BTreeMap<(&'c Str, &'c Str), &'c Arc<Pod>>,
    /// Objects that were not read.
    pub(super) hidden: Option<Unknown<'c>>,
}

impl<'c> Drivers<'c> {
    /// The drivers of `cluster`; says whether pods of all namespaces were read.
    pub(super) fn of(cluster: &'c Cluster, reads_all: bool) -> Self {
        let mut found = Self {
            hidden: match cluster.gap(Kind::Pod, "") {
                Some(gap) => Some(Unknown::Gap(gap)),
                None => (!reads_all).then_some(Unknown::OtherNamespaces),
            },
            ..Self::default()
        };
        for pod in cluster.pods() {
            // What wants devices itself is no driver of them.
            let is_over = pod.status.phase == "Succeeded" || pod.metadata.is_deleting();
            if is_over || !pod.spec.resource_claims.is_empty() {
                continue;
            }
            let set = daemon_set_of(pod);
            if pod.spec.volumes.plugin_folder.is_none() && !set.is_some_and(|set| is_called_plugin(set)) {
                continue;
            }
            if let Some(node) = node_of(pod) {
                found.of_node.entry(node).or_default().push(pod);
            }
            if let Some(set) = set {
                found.sets.entry((&pod.metadata.namespace, set)).or_insert(pod);
            }
        }
        found
    }

    /// Returns how the pod of `driver` on `node` is doing.
    pub(super) fn plugin(&self, cluster: &Cluster, driver: &str, node: &Str) -> Plugin {
        let of_node = self.of_node.get(node).map_or(&[][..], Vec::as_slice);
        // A product alone, such as `gpu`, does not make it the driver's where another is called after that.
        let has_own = OnceCell::new();
        let has_own = || *has_own.get_or_init(|| self.sets.values().any(|pod| is_named_after(driver, pod)));
        let is_of = |pod: &Pod| is_named_after(driver, pod) || is_pod_of(driver, pod) && !has_own();
        let mut own: Vec<&'c Arc<Pod>> = of_node.iter().copied().filter(|pod| is_of(pod)).collect();
        // The best that is there: a driver whose old pod crashes while the new one is ready is served.
        own.sort_by_key(|pod| (!is_ready(pod), pod.is_terminal(), pod.key()));
        let Some(pod) = own.first() else {
            if self.hidden.is_some() {
                return Plugin::Hidden;
            }
            let mut sets = self.sets.iter().filter(|(_, pod)| is_of(pod));
            let found = sets.next();
            let on_node = found.zip(cluster.node(node));
            let kept_off = on_node.and_then(|((_, pod), node)| kept_off(cluster, pod, node));
            let elsewhere = found.map(|((_, set), pod)| (pod.key(), (*set).clone()));
            return Plugin::None { elsewhere, kept_off };
        };
        if pod.is_terminal() {
            return Plugin::Failed(pod.key(), Failure::of(pod));
        }
        if pod.node().is_none() {
            let port = port_in_use(cluster, pod, node).map(|(port, user)| (port, user.key()));
            let said = unscheduled(pod).cloned().unwrap_or_default();
            return Plugin::Pending(pod.key(), Unplaced { said, port });
        }
        if !is_ready(pod) {
            return match crashes(cluster, pod) {
                Some(why) => Plugin::Crashing(pod.key(), why),
                None => Plugin::NotReady(pod.key()),
            };
        }
        let folder = pod.spec.volumes.plugin_folder.as_ref();
        let mut others = of_node.iter().filter(|other| !is_of(other) && is_ready(other));
        let other = others.find_map(|other| other.spec.volumes.plugin_folder.as_ref());
        match (folder, other) {
            (Some(own), Some(other)) if !is_same_folder(own, other) => {
                Plugin::OtherFolder(pod.key(), own.clone(), other.clone())
            }
            _ => {
                let since = ready_since(pod);
                let started =
                    kubelet_started(cluster, node).filter(|at| since.is_none_or(|since| since < *at));
                Plugin::Ready(pod.key(), since, started)
            }
        }
    }
}

/// A trailing slash makes no difference to a directory.
fn is_same_folder(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// The condition of the pod, where it is not ready.
pub(super) fn unready(pod: &Pod) -> Option<&Condition> {
    pod.condition("Ready").filter(|ready| ready.status != "True")
}

/// Since when the pod is ready.
fn ready_since(pod: &Pod) -> Option<Time> {
    pod.ready()?.last_transition_time
}

/// Returns whether the pod has got further than what the event warns of, as far as its status and events of the kubelet tell.
pub fn is_over(cluster: &Cluster, pod: &Pod, event: &Event) -> bool {
    let Some(seen) = event.last_seen() else {
        return false;
    };
    let step = said::step(&event.reason);
    let is_further = |later: &Arc<Event>| {
        let reason = later.reason.as_str();
        later.component() == "kubelet"
            && later.involved_object.uid == pod.metadata.uid
            && later.last_seen().is_some_and(|later| later >= seen)
            && (reason == "Started"
                || matches!(reason, "Pulling" | "Pulled" | "Created")
                    && step.is_some_and(|step| said::step(reason) > Some(step)))
    };
    // Events are written some time after what they are about.
    let was_placed_since = pod.status.phase == "Running" && event.reason == "FailedScheduling";
    was_placed_since
        || ready_since(pod).is_some_and(|ready| ready >= seen)
        || cluster
            .events_of(Kind::Pod, &pod.metadata)
            .into_iter()
            .any(is_further)
}

/// Returns when the kubelet of a node started last, as far as events still tell. Which plugins there are it learns anew each time.
fn kubelet_started(cluster: &Cluster, node: &Str) -> Option<Time> {
    let node = cluster.node(node)?;
    let events = cluster.events_of(Kind::Node, &node.metadata).into_iter();
    let starts = events.filter(|event| event.reason == "Starting" && event.component() == "kubelet");
    starts.filter_map(|event| event.last_seen()).max()
}

/// Time that drivers need to republish devices after a kubelet start.
pub const PUBLISHING_SECONDS: u64 = 60;

/// Returns whether the slices of a pool are not all there, and its driver published some just now.
pub fn is_being_published(pool: &Pool<'_>, now: Time) -> bool {
    let is_new = |newest: Time| now.since(newest).as_secs() < PUBLISHING_SECONDS;
    !pool.is_complete() && pool.newest().is_some_and(is_new)
}

/// Returns when the kubelet of `node` started, if drivers may have yet to publish again what that deleted: it was just now, and no slice is for the
/// node, or none of `driver` where one is asked about.
///
/// Each start of a kubelet deletes the slices of its node (`kubelet/cm/dra/plugin/dra_plugin_manager.go`, `wipeResourceSlices`, v1.37.2), and
/// drivers that use `dynamic-resource-allocation/resourceslice` publish them again 30 seconds later.
pub fn republishing(cluster: &Cluster, node: &Str, driver: Option<&Str>, now: Time) -> Option<Time> {
    let started = kubelet_started(cluster, node)?;
    let is_recent = now.since(started).as_secs() < PUBLISHING_SECONDS;
    let is_for_node = |slice: &Arc<Slice>| {
        driver.is_none_or(|driver| slice.spec.driver == *driver)
            && nodes_of_slice(slice)
                .chain(nodes_of_devices(slice))
                .any(|name| name == node)
    };
    (is_recent && cluster.gap(Kind::ResourceSlice, "").is_none() && !cluster.slices().any(is_for_node))
        .then_some(started)
}

/// What the scheduler says of a pod without a node.
pub fn unscheduled(pod: &Pod) -> Option<&Str> {
    let scheduled = pod.condition("PodScheduled")?;
    (scheduled.status == "False").then_some(&scheduled.message)
}

/// Pods that are crashing of what sets up a node, with their containers: those of DaemonSets there, such as the agents of networks and storage.
pub fn crashing_daemons(cluster: &Cluster, node: &Str) -> impl Iterator<Item = (Key, Waiting)> {
    let daemons = cluster
        .pods_of_node(node)
        .filter(|pod| daemon_set_of(pod).is_some());
    daemons.filter_map(|pod| crashing(cluster, pod))
}

/// Pods that are crashing of the cloud controller manager, by its name: wherever they run, it removes a taint of all new nodes.
pub fn crashing_cloud_controllers(cluster: &Cluster) -> impl Iterator<Item = (Key, Waiting)> {
    let is_its = |pod: &&Arc<Pod>| pod.metadata.name.contains("cloud-controller-manager");
    let pods = cluster.pods().filter(is_its);
    pods.filter_map(|pod| crashing(cluster, pod))
}

/// The container of a pod that ends again and again.
fn crashing(cluster: &Cluster, pod: &Pod) -> Option<(Key, Waiting)> {
    let waiting = crashes(cluster, pod).filter(|waiting| waiting.end.is_some())?;
    Some((pod.key(), waiting))
}

/// The label with the revision of its DaemonSet that a pod is of.
const REVISION: &str = "controller-revision-hash";

/// The DaemonSet of a pod that is not ready, if that stops its update: all pods that are ready are older, and of another revision. By default one
/// pod at a time may be unavailable (`daemon/update.go`, v1.37.2).
fn stopped_by<'p>(cluster: &Cluster, pod: &'p Pod) -> Option<&'p Str> {
    let set = daemon_set_of(pod)?;
    let own = pod.metadata.label(REVISION)?;
    let is_older = |other: &Meta| {
        other.label(REVISION).is_some_and(|revision| revision != own)
            && other.creation_timestamp < pod.metadata.creation_timestamp
    };
    let siblings = cluster.pods_in(&pod.metadata.namespace);
    let siblings = siblings.filter(|other| other.metadata.is_sibling(&pod.metadata) && is_ready(other));
    let mut ready = siblings.map(|other| is_older(&other.metadata)).peekable();
    let is_paused = cluster.owner(&pod.metadata).is_some_and(|set| set.is_paused);
    (!is_paused && ready.peek().is_some() && ready.all(|is_older| is_older)).then_some(set)
}

/// A container of the pod that does not run.
pub(super) fn crashes(cluster: &Cluster, pod: &Pod) -> Option<Waiting> {
    containers(pod).find_map(|container| {
        let waiting = Waiting::of(container)?;
        let end = container.last_state.terminated.as_ref();
        let ended_for = end.and_then(|end| why_ended(cluster, pod, &container.name, end));
        Some(Waiting {
            ended_for: ended_for.map(|event| event.message.clone()),
            stops: stopped_by(cluster, pod).cloned(),
            ..waiting
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_known_by_its_vendor_before_its_product() {
        for (driver, name, is_like) in [
            ("gpu.nvidia.com", "nvidia-dra-driver-gpu-kubelet-plugin", true),
            (
                "compute-domain.nvidia.com",
                "nvidia-dra-driver-gpu-kubelet-plugin",
                true,
            ),
            ("gpu.example.com", "dra-example-driver-kubeletplugin", true),
            ("gpu.example.com", "gpu-kubelet-plugin", true),
            ("gpu.amd.com", "dra-driver-nvidia-gpu-kubelet-plugin", false),
            ("gpu.amd.com", "k8s-gpu-dra-driver-kubelet-plugin", true),
            ("gpu.intel.com", "amd-gpu-dra-driver", false),
            ("dra.net", "dra-driver-nvidia-gpu-kubelet-plugin", false),
            ("dra.net", "dranet", true),
            ("dra.cpu", "dra-driver-cpu", true),
            ("cpu.dra.k8s.io", "dracpu-driver", true),
            (
                "sriovnetwork.k8snetworkplumbingwg.io",
                "dra-driver-sriov-sriovnetwork",
                true,
            ),
            (
                "sriovnetwork.k8snetworkplumbingwg.io",
                "dra-driver-sriov-kubeletplugin",
                true,
            ),
            ("d", "d-kubelet-plugin", true),
            ("d", "other-kubelet-plugin", false),
        ] {
            assert_eq!(is_called_like(driver, name), is_like, "{driver} {name}");
        }
    }
}
