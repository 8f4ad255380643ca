//! The reason why a driver publishes nothing for a node: the first broken link from those who make its pods to its slices.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use strum::EnumString;

use super::drivers::{
    Failure, Plugin, Unplaced, crashes, daemon_set_of, is_called_like, is_called_plugin, is_pod_of,
    is_set_of, lacked, republishing, unselected,
};
use super::{Doing, Heartbeat, KeptOff, REGISTERING_SECONDS, STARTING_SECONDS, Stages, Waiting};
use crate::access::{Access, Answer, Request, User};
use crate::owners::refused_last;
use crate::scheduling::{drivers_named, keeps_pods_off};
use dra_model::{
    Cluster, Event, INSTANCE_TYPE, Key, Kind, Node, Owner, Pod, Slice, Str, Taint, Time, lookup,
};

/// Owner of a driver's pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString)]
pub enum Maker {
    /// A DaemonSet.
    DaemonSet,
    /// The ReplicaSet of a Deployment.
    ReplicaSet,
    /// A StatefulSet.
    StatefulSet,
}

impl Maker {
    /// Returns how kubectl calls the kind.
    pub fn resource(self) -> &'static str {
        match self {
            Self::DaemonSet => "daemonset",
            Self::ReplicaSet => "replicaset",
            Self::StatefulSet => "statefulset",
        }
    }
}

/// Returns the first of `nodes` that has fewer devices of `driver` than another machine of its type, and the one of that type that has most, each
/// with its number.
pub fn fewer_than_alike<'c>(
    cluster: &'c Cluster,
    driver: &str,
    nodes: impl IntoIterator<Item = &'c Str>,
) -> Option<[(&'c Str, usize); 2]> {
    let mut counts: BTreeMap<&'c Str, usize> = BTreeMap::new();
    for pool in cluster.pools().filter(|pool| pool.id.driver == driver) {
        for node in pool
            .devices()
            .filter_map(|(slice, _)| slice.spec.node_name.as_ref())
        {
            *counts.entry(node).or_default() += 1;
        }
    }
    let type_of = |name: &Str| cluster.node(name)?.metadata.label(INSTANCE_TYPE);
    let mut most: BTreeMap<&Str, (&'c Str, usize)> = BTreeMap::new();
    for (node, count) in &counts {
        let Some(type_) = type_of(node) else { continue };
        let known = most.entry(type_).or_insert((node, *count));
        if *count > known.1 {
            *known = (node, *count);
        }
    }
    nodes.into_iter().find_map(|node| {
        let own = *counts.get(node)?;
        let other = *most.get(type_of(node)?)?;
        (own < other.1).then_some([(node, own), other])
    })
}

/// The first broken link between a driver and its devices on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokenLink {
    /// The API server refuses the pods of what runs it, such as by a quota.
    Refused(Refused),
    /// The DaemonSet that runs it elsewhere has no pod there, and what keeps it off.
    NoPod(Key, Option<KeptOff>),
    /// The DaemonSet that is called like it has no pods: it selects no node.
    Unselected(Key, KeptOff),
    /// A container of its pod ends again and again, or cannot be started.
    Crashing(Key, Waiting),
    /// It crashes without what the first pod installs, which waits for the end of the second, which ends only with the driver.
    Circle(Key, Key),
    /// Its pod has no node yet, and why.
    Pending(Key, Unplaced),
    /// Its pod has been there for long, and is not ready; what it does, as far as the kubelet says.
    NotReady(Key, Option<Doing>),
    /// Its pod has failed on the node.
    Failed(Key, Failure),
    /// Its pod runs with a service account of this name that may not create slices.
    Forbidden(Key, Str),
    /// Its pod runs and publishes nothing.
    Silent(Key),
    /// Its pod runs and publishes no device, although the node is like others that have some, or none has.
    NoDevices(Key),
}

/// Pods that the API server does not let in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refused {
    /// The kind of what makes them.
    pub kind: Maker,
    /// Owner.
    pub maker: Key,
    /// The component that says so.
    pub component: Str,
    /// Its words.
    pub message: Str,
    /// Count of the message.
    pub times: i32,
    /// Time at which it said so last.
    pub last: Option<Time>,
}

impl Refused {
    /// Of what a component says of what makes the pods.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let object = &event.involved_object;
        Some(Self {
            kind: object.kind.parse().ok()?,
            maker: Key::new(object.namespace.clone(), object.name.clone()),
            component: event.component().clone(),
            message: event.message.clone(),
            times: event.times(),
            last: event.last_seen(),
        })
    }
}

impl BrokenLink {
    /// The pod of the driver on the node.
    pub fn pod(&self) -> Option<&Key> {
        match self {
            Self::Refused(_) | Self::NoPod(..) | Self::Unselected(..) | Self::Circle(..) => None,
            Self::Crashing(pod, _)
            | Self::Pending(pod, _)
            | Self::NotReady(pod, _)
            | Self::Failed(pod, _)
            | Self::Forbidden(pod, _)
            | Self::Silent(pod)
            | Self::NoDevices(pod) => Some(pod),
        }
    }
}

/// The drivers that publish something, and those that classes name.
pub fn known_drivers(cluster: &Cluster) -> BTreeSet<Str> {
    let publishing = cluster.slices().map(|slice| slice.spec.driver.clone());
    publishing
        .chain(cluster.classes().flat_map(|class| drivers_named(class)))
        .collect()
}

/// Words in the keys of labels that tell which accelerators a node has, such as `nvidia.com/gpu.product` and `cloud.google.com/gke-accelerator`.
const HARDWARE: [&str; 3] = ["accelerator", "present", "product"];

/// Returns whether labels of nodes with this key tell which devices of `driver` they have.
pub fn tells_hardware(driver: &str, key: &str) -> bool {
    let is_of_hardware = || HARDWARE.iter().any(|word| key.contains(word));
    key == INSTANCE_TYPE || is_of_hardware() || is_called_like(driver, key)
}

impl Stages<'_> {
    /// Returns why `driver` publishes nothing for `node`. Nothing where it does, or where nothing shows that it should.
    pub fn broken_link(&self, driver: &Str, node: &Node) -> Option<BrokenLink> {
        let link = self.own_link(driver, node)?;
        // It waits for what it runs upon, or was taken off the node for that.
        let waits = match &link {
            BrokenLink::NotReady(_, Some(Doing::Initializing(..)))
            | BrokenLink::NoPod(_, Some(KeptOff::Paused { .. })) => true,
            BrokenLink::NoPod(_, Some(KeptOff::Labels(labels))) => labels
                .iter()
                .any(|(key, _)| lookup(&node.metadata.labels, key).is_some()),
            _ => false,
        };
        if let Some((waiting, pod)) = self.circle(driver, node, &link) {
            return Some(BrokenLink::Circle(waiting.key(), pod.key()));
        }
        Some(
            self.crashing_beside(driver, node)
                .filter(|_| waits)
                .unwrap_or(link),
        )
    }

    /// The pod on the node that waits for the end of another one before it installs what the driver crashes without, and that one, which has
    /// devices of the driver and so ends only with it.
    fn circle(&self, driver: &Str, node: &Node, link: &BrokenLink) -> Option<(&Arc<Pod>, &Arc<Pod>)> {
        if !matches!(link, BrokenLink::Crashing(..)) {
            return None;
        }
        let has_devices = |pod: &&Arc<Pod>| {
            pod.metadata.is_deleting() && self.claims(pod).any(|claim| claim.has_device_of(driver))
        };
        let mut pods = self.cluster.pods_of_node(&node.metadata.name).filter(has_devices);
        pods.find_map(|pod| Some((self.awaits_end(pod)?, pod)))
    }

    /// The pod of another DaemonSet on the node that is called like the driver and does not start, such as that of the kernel's driver.
    fn crashing_beside(&self, driver: &Str, node: &Node) -> Option<BrokenLink> {
        let is_like = |pod: &&Arc<Pod>| {
            let set = daemon_set_of(pod).filter(|_| pod.node() == Some(&node.metadata.name));
            set.is_some_and(|set| is_called_like(driver, set))
        };
        let mut pods = self.cluster.pods().filter(is_like);
        pods.find_map(|pod| Some(BrokenLink::Crashing(pod.key(), crashes(self.cluster, pod)?)))
    }

    /// The same, as far as the driver's own pod tells.
    fn own_link(&self, driver: &Str, node: &Node) -> Option<BrokenLink> {
        let cluster = self.cluster;
        let name = &node.metadata.name;
        match self.publishes_for(driver, name) {
            None => return None,
            Some(true) => return self.lacks_devices(driver, node),
            Some(false) => {}
        }
        let plugin = self.plugin(driver, name);
        // A driver that runs publishes again what the start of the kubelet deleted.
        if matches!(
            plugin,
            Plugin::Ready(..) | Plugin::NotReady(_) | Plugin::Starting(..) | Plugin::Hidden
        ) && republishing(cluster, name, Some(driver), self.now).is_some()
        {
            return None;
        }
        let pod = self.pod_of(&plugin);
        // Of a pod for several drivers, the container tells whose it is.
        let is_own = matches!(&plugin, Plugin::Crashing(_, why) if is_container_of(driver, &why.container));
        if !is_own && pod.is_some_and(|pod| !self.is_for(driver, node, pod)) {
            return None;
        }
        // A driver that may not do what it is to do mostly crashes.
        if let Some(pod) = pod
            && let Some(account) = self.lacks_rights(pod)
        {
            return Some(BrokenLink::Forbidden(pod.key(), account));
        }
        match plugin {
            Plugin::Hidden | Plugin::Starting(..) => None,
            Plugin::None { elsewhere, kept_off } => {
                let set = elsewhere.map(|(pod, set)| Key::new(pod.namespace, set));
                let refused = if kept_off.is_none() {
                    refused(cluster, driver, set.as_ref())
                } else {
                    None
                };
                let of_refused = refused
                    .as_ref()
                    .filter(|refused| refused.kind == Maker::DaemonSet);
                let set = set.or_else(|| of_refused.map(|refused| refused.maker.clone()));
                let kept_off = kept_off.or_else(|| set_kept_off(daemon_set(cluster, set.as_ref()?)?, node));
                match (set, refused) {
                    (_, Some(refused)) if kept_off.is_none() => Some(BrokenLink::Refused(refused)),
                    (Some(set), _) => Some(BrokenLink::NoPod(set, kept_off)),
                    (None, _) => without_pods(cluster, driver, node),
                }
            }
            // Its pods are said to be unready.
            Plugin::NotReady(_) if Heartbeat::of(node).is_silent() => None,
            Plugin::Crashing(..) | Plugin::NotReady(_) => self.is_down(plugin),
            Plugin::Failed(pod, failure) => Some(BrokenLink::Failed(pod, failure)),
            Plugin::Pending(pod, why) => Some(BrokenLink::Pending(pod, why)),
            Plugin::OtherFolder(pod, ..) => Some(BrokenLink::Silent(pod)),
            Plugin::Ready(pod, since, _) => self.lasts(since).then_some(BrokenLink::Silent(pod)),
        }
    }

    /// Returns that the slices of a driver for `node` are all empty, where those of like nodes, or all of the driver's, tell that they should not be.
    fn lacks_devices(&self, driver: &Str, node: &Node) -> Option<BrokenLink> {
        let of_driver = || self.cluster.slices().filter(|slice| slice.spec.driver == *driver);
        let name = Some(&node.metadata.name);
        let mut of_node = of_driver()
            .filter(|slice| slice.spec.node_name.as_ref() == name)
            .peekable();
        of_node.peek()?;
        let has_devices = |slice: &Arc<Slice>| !slice.spec.devices.is_empty();
        let is_like = || self.is_like_served(driver, node) || self.has_like_hardware(driver, node);
        if of_node.any(has_devices) || of_driver().any(has_devices) && !is_like() {
            return None;
        }
        match self.plugin(driver, &node.metadata.name) {
            Plugin::Ready(pod, since, _) if self.lasts(since) => Some(BrokenLink::NoDevices(pod)),
            _ => None,
        }
    }

    /// Returns whether the node may have devices that are not published: one of the `drivers` is there and publishes none, or would be if the node
    /// were able to run its pod.
    pub fn may_hide_devices(&self, drivers: &BTreeSet<Str>, node: &Node) -> bool {
        let is_meant = |plugin: &Plugin| match plugin {
            Plugin::Hidden => false,
            Plugin::None { elsewhere, kept_off } => {
                elsewhere.is_some() && !kept_off.as_ref().is_some_and(KeptOff::is_unselected)
            }
            _ => true,
        };
        self.is_silent(drivers, node, is_meant)
    }

    /// Returns whether one of the `drivers` publishes nothing for the node, and its pod there is such.
    fn is_silent(&self, drivers: &BTreeSet<Str>, node: &Node, is_such: impl Fn(&Plugin) -> bool) -> bool {
        // That of the pod is cheaper to find out.
        drivers.iter().any(|driver| {
            is_such(&self.plugin(driver, &node.metadata.name))
                && self.publishes_for(driver, &node.metadata.name) == Some(false)
        })
    }

    /// Returns whether the kubelet and a driver may be about to find each other: one of them started just now.
    pub fn is_registering(&self, plugin: &Plugin) -> bool {
        let Plugin::Ready(_, since, kubelet_since) = plugin else {
            return false;
        };
        let since = (*since).max(*kubelet_since);
        since.is_some_and(|since| self.now.since(since).as_secs() < REGISTERING_SECONDS)
    }

    /// Returns whether one of the `drivers`, which publishes nothing for the node, may be about to: its pod there has not been there, or ready, for
    /// long. What the start of the kubelet deleted is another matter: [`republishing`].
    pub fn is_starting(&self, drivers: &BTreeSet<Str>, node: &Node) -> bool {
        let is_recent = |since: Option<Time>| since.is_some() && !self.lasts(since);
        let is_new = |plugin: &Plugin| match plugin {
            Plugin::Ready(_, since, started) => is_recent((*since).max(*started)),
            Plugin::Starting(..) => true,
            Plugin::NotReady(pod) | Plugin::Pending(pod, _) => {
                let pod = self.cluster.pod(pod);
                is_recent(pod.and_then(|pod| pod.metadata.creation_timestamp))
            }
            _ => false,
        };
        self.is_silent(drivers, node, is_new)
            && republishing(self.cluster, &node.metadata.name, None, self.now).is_none()
    }

    /// Returns whether the node is a machine of a type that `driver` publishes devices for, so that it should have some, too.
    pub fn is_like_served(&self, driver: &Str, node: &Node) -> bool {
        let Some(type_) = node.metadata.label(INSTANCE_TYPE) else {
            return false;
        };
        let of_driver = || {
            let slices = self.cluster.slices();
            let slices =
                slices.filter(|slice| slice.spec.driver == *driver && !slice.spec.devices.is_empty());
            let nodes = slices.filter_map(|slice| self.cluster.node(slice.spec.node_name.as_ref()?));
            nodes
                .filter_map(|node| node.metadata.label(INSTANCE_TYPE))
                .collect()
        };
        let mut known = self.served.borrow_mut();
        known
            .entry(driver.clone())
            .or_insert_with(of_driver)
            .contains(type_)
    }

    /// Returns whether a label that names hardware like that of `driver` is the same on a node that it publishes devices for.
    fn has_like_hardware(&self, driver: &Str, node: &Node) -> bool {
        let slices = || {
            let slices = self.cluster.slices();
            slices.filter(|slice| slice.spec.driver == *driver && !slice.spec.devices.is_empty())
        };
        node.metadata.labels.iter().any(|(key, value)| {
            HARDWARE.iter().any(|word| key.contains(word))
                && (is_called_like(driver, key) || is_called_like(driver, value))
                && slices()
                    .filter_map(|slice| self.cluster.node(slice.spec.node_name.as_ref()?))
                    .any(|served| served.metadata.label(key) == Some(value))
        })
    }

    /// Returns why `driver` cannot prepare on `node` the devices that it publishes for it: they stay published when its pod stops working.
    pub fn unprepared(&self, driver: &Str, node: &Node) -> Option<BrokenLink> {
        let plugin = self.plugin(driver, &node.metadata.name);
        // The container of another driver in the same pod.
        if let Plugin::Crashing(_, why) = &plugin
            && !is_container_of(driver, &why.container)
            && let Some(pod) = self.pod_of(&plugin)
        {
            let mut containers = pod.spec.containers.iter();
            if containers.any(|container| is_container_of(driver, &container.name)) {
                return None;
            }
        }
        self.is_down(plugin)
            .filter(|_| self.publishes_for(driver, &node.metadata.name) == Some(true))
    }

    /// The DaemonSet of `driver`, if it does not select `node`: devices that are for several nodes may be allocated to pods there all the same.
    pub fn unselected(&self, driver: &Str, node: &Node) -> Option<BrokenLink> {
        match self.plugin(driver, &node.metadata.name) {
            Plugin::None {
                elsewhere: Some((pod, set)),
                kept_off: kept_off @ Some(_),
            } => Some(BrokenLink::NoPod(Key::new(pod.namespace, set), kept_off)),
            _ => None,
        }
    }

    /// The driver's pod does not work, for longer than it needs to start.
    fn is_down(&self, plugin: Plugin) -> Option<BrokenLink> {
        match plugin {
            Plugin::Crashing(pod, why) => Some(BrokenLink::Crashing(pod, why)),
            Plugin::NotReady(pod) => {
                let found = self.cluster.pod(&pod);
                let since = found.and_then(|pod| pod.metadata.creation_timestamp);
                let doing = || found.and_then(|pod| self.failing(pod).or_else(|| self.doing(pod)));
                self.lasts(since).then(|| BrokenLink::NotReady(pod, doing()))
            }
            _ => None,
        }
    }

    pub(super) fn lasts(&self, since: Option<Time>) -> bool {
        since.is_none_or(|since| self.now.since(since).as_secs() >= STARTING_SECONDS)
    }

    /// Returns whether `driver` is to publish again what the start of the node's kubelet deleted: it runs there, or has devices in use there.
    pub fn publishes_again(&self, driver: &Str, node: &Str) -> bool {
        match self.plugin(driver, node) {
            Plugin::Ready(..)
            | Plugin::NotReady(_)
            | Plugin::Starting(..)
            | Plugin::OtherFolder(..)
            | Plugin::Hidden => true,
            Plugin::Crashing(..) | Plugin::Pending(..) => false,
            Plugin::None { .. } | Plugin::Failed(..) => self.cluster.claims().any(|claim| {
                let allocation = claim.status.allocation.as_ref();
                let of = allocation.and_then(|allocation| allocation.node_selector.as_ref());
                of.and_then(|selector| selector.single_node()) == Some(node) && claim.has_device_of(driver)
            }),
        }
    }

    /// The service account of the pod, if it may not create slices.
    fn lacks_rights(&self, pod: &Pod) -> Option<Str> {
        let account: Str = match &pod.spec.service_account_name {
            name if name.is_empty() => "default".into(),
            name => name.clone(),
        };
        let key = pod.metadata.beside(&account);
        let mut known = self.refused.borrow_mut();
        let refused = known
            .entry(key)
            .or_insert_with_key(|key| is_refused(self.cluster, &key.namespace, &key.name));
        refused.then_some(account)
    }

    /// Returns whether the pod is this driver's, and not that of another which is called like it and publishes for the node: then pods of its
    /// DaemonSet are where this driver publishes.
    fn is_for(&self, driver: &Str, node: &Node, pod: &Pod) -> bool {
        let cluster = self.cluster;
        let others: BTreeSet<&Str> = cluster.slices().map(|slice| &slice.spec.driver).collect();
        let is_other = |other: &&Str| {
            *other != driver
                && is_pod_of(other, pod)
                && self.publishes_for(other, &node.metadata.name) == Some(true)
        };
        if !others.into_iter().any(|other| is_other(&other)) {
            return true;
        }
        let Some(set) = daemon_set_of(pod) else {
            return false;
        };
        cluster.pods_in(&pod.metadata.namespace).any(|other| {
            daemon_set_of(other) == Some(set)
                && other
                    .node()
                    .and_then(|name| cluster.node(name))
                    .is_some_and(|node| self.publishes_for(driver, &node.metadata.name) == Some(true))
        })
    }
}

/// Returns the DaemonSet that is called like plugins and `driver`, if it has no pods since no node has the labels that it asks for, or if it
/// does not tolerate a taint of `node`.
fn without_pods(cluster: &Cluster, driver: &str, node: &Node) -> Option<BrokenLink> {
    let is_read = cluster.gap(Kind::Node, "").is_none();
    if !is_read || cluster.slices().any(|slice| slice.spec.driver == driver) {
        return None;
    }
    let sets = cluster.environment().owners.iter();
    let mut sets = sets.filter(|owner| owner.kind == "DaemonSet" && is_set_of(driver, owner));
    sets.find_map(|set| {
        let selects_none = |kept_off| Some(BrokenLink::Unselected(set.key.clone(), kept_off));
        let has_labels = |node: &Node| lacked(&set.node_selector, node).next().is_none();
        if !cluster.nodes().any(|node| has_labels(node)) {
            return selects_none(KeptOff::Labels(set.node_selector.clone()));
        }
        if let Some(affinity) = &set.affinity
            && !cluster.nodes().any(|node| has_labels(node) && set.attracts(node))
        {
            return selects_none(KeptOff::Affinity(affinity.clone()));
        }
        let taint = set_kept_off(set, node).filter(|why| matches!(why, KeptOff::Taint(_)))?;
        Some(BrokenLink::NoPod(set.key.clone(), Some(taint)))
    })
}

/// The DaemonSet of this name, if it was read.
fn daemon_set<'c>(cluster: &'c Cluster, key: &Key) -> Option<&'c Owner> {
    let owners = &cluster.environment().owners;
    let mut sets = owners.of_kind("apps", "DaemonSet", &key.namespace);
    sets.find(|set| set.key == *key)
}

/// Returns what keeps the pods of a DaemonSet off a node.
fn set_kept_off(set: &Owner, node: &Node) -> Option<KeptOff> {
    unselected(&set.node_selector, Some(set), node)
        .or_else(|| untolerated(set, node).cloned().map(KeptOff::Taint))
}

/// Returns the taint of the node that keeps pods of a DaemonSet off. Its controller adds tolerations of what Kubernetes itself says of a node.
pub(super) fn untolerated<'n>(set: &Owner, node: &'n Node) -> Option<&'n Taint> {
    let taints = node.spec.taints.iter();
    let mut taints =
        taints.filter(|taint| keeps_pods_off(taint) && !taint.key.starts_with("node.kubernetes.io/"));
    taints.find(|taint| !set.tolerations.tolerate(taint))
}

/// Returns whether a container is called like the driver: `gpus` like `gpu.nvidia.com`.
fn is_container_of(driver: &str, container: &str) -> bool {
    driver
        .split('.')
        .next()
        .is_some_and(|first| container.contains(first))
}

/// Returns who makes pods of `driver` and was refused the last time: `set`, or what is called like plugins and the driver.
fn refused(cluster: &Cluster, driver: &str, set: Option<&Key>) -> Option<Refused> {
    let is_of_driver = |event: &&Arc<Event>| {
        let object = &event.involved_object;
        let Ok(kind) = object.kind.parse::<Maker>() else {
            return false;
        };
        let maker = Key::new(object.namespace.clone(), object.name.clone());
        let known = || daemon_set(cluster, &maker).filter(|_| kind == Maker::DaemonSet);
        match set {
            Some(set) => *set == maker,
            None => known().map_or_else(
                || is_called_plugin(&maker.name) && is_called_like(driver, &maker.name),
                |set| is_set_of(driver, set),
            ),
        }
    };
    Refused::of(refused_last(cluster.events().filter(is_of_driver))?)
}

/// Returns whether a service account may not create slices: no role lets it, or, where roles were not read, an event says that it was refused.
fn is_refused(cluster: &Cluster, namespace: &Str, account: &Str) -> bool {
    if cluster.cluster_role_bindings().next().is_some() {
        let request = Request {
            verb: "create",
            group: "resource.k8s.io",
            resource: "resourceslices",
            ..Request::default()
        };
        let user = User::service_account(namespace, account);
        match Access::of(cluster).allowed_by_roles(&user, &request) {
            Answer::Yes => return false,
            Answer::No => return true,
            Answer::Unknown(_) => {}
        }
    }
    // `resourceslices.resource.k8s.io is forbidden: User "system:serviceaccount:N:A" cannot create resource …`
    let user = format!("\"system:serviceaccount:{namespace}:{account}\" cannot");
    let says = |text: &str| text.contains(&user) && text.contains("resourceslices");
    cluster.events().any(|event| says(&event.message))
}
