//! What drivers publish for nodes: nodes that are gone, and nodes that a driver should serve as it serves others like them.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;
use std::sync::Arc;

use super::facts::{Likeness, PluginPod, Similar};
use super::finding::{Subject, pod_key, scoped_key, slice_key};
use super::stages::stages;
use super::{Code, Finding, Look, words};
use crate::driver_chain::unmatched_selector;
use crate::script::{Command, delete, describe_node, describe_pool};
use crate::stage::{look_at_link, mend_link, pods_on};
use dra_model::names::is_within;
use dra_model::{
    Cluster, Component, Gate, INSTANCE_TYPE, Key, Kind, Meta, Node, Pod, Pool, PoolId, Slice, Str,
};
use dra_rules::kubelet::{
    BrokenLink, KeptOff, STARTING_SECONDS, beside_driver, daemon_set_of, is_called_plugin, is_pod_of,
    is_ready, kept_off, known_drivers, nodes_of_devices, nodes_of_slice, republishing,
};
use dra_rules::scheduling::{classes_of_resources, is_waited_for};

/// Labels that node-feature-discovery sets for the hardware of a machine.
const HARDWARE: [&str; 2] = [
    "feature.node.kubernetes.io/pci-",
    "feature.node.kubernetes.io/usb-",
];

pub(super) fn look(look: &mut Look<'_>) {
    let cluster = look.cluster;
    if look.is_hidden(Kind::Node, "") || look.is_hidden(Kind::ResourceSlice, "") {
        return;
    }
    if look.wants(Code::NodeMissing) {
        for slice in cluster.slices() {
            node_is_missing(look, slice);
        }
    }
    let mut told = BTreeSet::new();
    if look.wants_any(&[Code::NodeWithoutSlices, Code::PoolWithoutDevices]) {
        told = drivers(look);
    }
    if look.wants(Code::DriverSilent) {
        silent_drivers(look, &told);
    }
    if look.wants(Code::NodesUnmatched) {
        for pool in cluster.pools() {
            unmatched(look, &pool);
        }
    }
    if look.wants(Code::HardwareTwice) {
        hardware_twice(look);
    }
}

fn node_is_missing(look: &mut Look<'_>, slice: &Slice) {
    let named = slice.spec.node_name.iter().filter(|name| !name.is_empty());
    let named: BTreeSet<&Str> = named.chain(nodes_of_devices(slice)).collect();
    let gone: Vec<&Str> = named
        .into_iter()
        .filter(|name| look.cluster.node(name).is_none())
        .collect();
    if gone.is_empty() {
        return;
    }
    let message = words::node_is_missing(slice, &gone);
    let nodes: Vec<_> = gone.iter().map(|name| scoped_key(Kind::Node, name)).collect();
    look.add(
        Finding::new(Code::NodeMissing, Subject::slice(slice), message)
            .fix(delete(Kind::ResourceSlice, [&slice.metadata.name]))
            .joins(nodes)
            .joins([slice_key(slice)]),
    );
}

/// What a driver publishes for single nodes, by their names or by selectors that only one fits.
#[derive(Default)]
struct Service<'a> {
    /// Nodes with devices.
    with: BTreeSet<&'a Str>,
    /// Nodes with slices, possibly without devices.
    named: BTreeSet<&'a Str>,
}

fn services(cluster: &Cluster) -> BTreeMap<&Str, Service<'_>> {
    let mut services: BTreeMap<&Str, Service<'_>> = BTreeMap::new();
    for slice in cluster.slices() {
        let service = services.entry(&slice.spec.driver).or_default();
        service.named.extend(nodes_of_slice(slice));
        if !slice.spec.devices.is_empty() {
            service.with.extend(nodes_of_slice(slice));
        }
        service.named.extend(nodes_of_devices(slice));
        service.with.extend(nodes_of_devices(slice));
    }
    services
}

impl Likeness<'_> {
    /// The machine is the same, not only what people say of it.
    fn is_hardware(&self) -> bool {
        match &self.similar {
            Similar::Type(_) => true,
            Similar::Labels(labels) => labels.iter().all(|label| is_hardware(&label.0)),
        }
    }
}

fn is_hardware(label: &str) -> bool {
    HARDWARE.iter().any(|prefix| label.starts_with(prefix))
}

/// Whether a label may tell what a machine is for. Those of Kubernetes tell where it is, what runs on it, and what it is called.
fn sets_apart(label: &str) -> bool {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    let is_general =
        is_within(domain, "kubernetes.io") || is_within(domain, "k8s.io") || domain.starts_with("topology.");
    is_hardware(label) || !is_general
}

/// Whether so many of the nodes that are alike are enough to expect the same of the others.
fn are_enough(with: usize, of: usize) -> bool {
    with >= 2 && with * 2 >= of && with < of
}

/// Nodes without devices of a driver that are like those `with` some: machines of one type; or those that have all labels which each of
/// the nodes with devices has and others lack. What the machine says of its hardware decides before what people say of it.
fn alike<'a>(cluster: &'a Cluster, with: &BTreeSet<&'a Str>) -> BTreeMap<&'a Str, Likeness<'a>> {
    let mut found = BTreeMap::new();
    let served = with.iter().filter_map(|name| Some(&cluster.node(name)?.metadata));
    let served: Vec<&Meta> = served.collect();
    if served.len() < 2 {
        return found;
    }
    let nodes: Vec<&Meta> = cluster.nodes().map(|node| &node.metadata).collect();
    let mut add = |alike: &[&'a Meta], similar: Similar<'a>| {
        let (has, lacks): (Vec<&'a Meta>, Vec<&'a Meta>) =
            alike.iter().copied().partition(|node| with.contains(&node.name));
        if !are_enough(has.len(), alike.len()) {
            return;
        }
        for node in lacks {
            found.entry(&node.name).or_insert_with(|| Likeness {
                with: has.len(),
                of: alike.len(),
                similar: similar.clone(),
            });
        }
    };
    let mut types: BTreeMap<&Str, Vec<&Meta>> = BTreeMap::new();
    for node in &nodes {
        if let Some(type_) = node.label(INSTANCE_TYPE) {
            types.entry(type_).or_default().push(node);
        }
    }
    for (type_, nodes) in types {
        add(&nodes, Similar::Type(type_));
    }
    let has = |node: &Meta, (key, value): &(Str, Str)| node.label(key) == Some(value);
    let common: Vec<&'a (Str, Str)> = served[0]
        .labels
        .iter()
        .filter(|label| sets_apart(&label.0))
        .filter(|label| {
            served.iter().all(|node| has(node, label)) && !nodes.iter().all(|node| has(node, label))
        })
        .collect();
    let of_hardware: Vec<_> = common
        .iter()
        .copied()
        .filter(|label| is_hardware(&label.0))
        .collect();
    for labels in [of_hardware, common] {
        if labels.is_empty() {
            continue;
        }
        let alike: Vec<&Meta> = nodes
            .iter()
            .copied()
            .filter(|node| labels.iter().all(|label| has(node, label)))
            .collect();
        add(&alike, Similar::Labels(labels));
    }
    found
}

/// Reports the drivers that publish something, and returns each with the nodes that it should serve as it serves others like them.
fn drivers<'a>(look: &mut Look<'a>) -> BTreeSet<(&'a Str, &'a Str)> {
    let cluster = look.cluster;
    let mut told = BTreeSet::new();
    let plugins = plugins(cluster);
    let mut pools: BTreeMap<Str, Vec<Pool<'_>>> = BTreeMap::new();
    // Some drivers leave devices out that are in use.
    if look.wants(Code::PoolWithoutDevices) && !look.is_hidden(Kind::ResourceClaim, "") {
        for pool in cluster.pools() {
            pools.entry(pool.id.driver.clone()).or_default().push(pool);
        }
    }
    let used = cluster.allocated_devices().map(|(device, _)| device.pool_id());
    let used: BTreeSet<PoolId> = used.collect();
    let mut found = Vec::new();
    for (driver, service) in services(cluster) {
        let alike = alike(cluster, &service.with);
        let pools = pools.get(driver).map_or(&[][..], Vec::as_slice);
        let filled = pools.iter().filter(|pool| has_devices(pool)).count();
        found.extend(
            pools
                .iter()
                .filter(|pool| !used.contains(&pool.id))
                .filter_map(|pool| without_devices(pool, filled, &alike)),
        );
        let plugin = Plugin::of_driver(&plugins, driver, &service.with);
        let is_expected = !service.with.is_empty() && (plugin.is_some() || !alike.is_empty());
        if look.wants(Code::NodeWithoutSlices) && is_expected {
            for node in cluster.nodes() {
                let name = &node.metadata.name;
                if !service.named.contains(name)
                    && republishing(cluster, name, Some(driver), look.request.now).is_none()
                    && let Some(finding) = without_slices(look, driver, node, &alike, plugin)
                {
                    found.push(finding);
                    told.insert((driver, &node.metadata.name));
                }
            }
        }
    }
    look.add_all(found);
    told
}

fn has_devices(pool: &Pool<'_>) -> bool {
    pool.devices().next().is_some()
}

/// A complete pool without devices, while so many `others` of its driver have some.
fn without_devices(pool: &Pool<'_>, others: usize, alike: &BTreeMap<&Str, Likeness<'_>>) -> Option<Finding> {
    if !pool.is_complete() || has_devices(pool) {
        return None;
    }
    let driver = &pool.id.driver;
    let nodes: BTreeSet<&Str> = pool
        .slices
        .iter()
        .flat_map(|slice| nodes_of_slice(slice))
        .collect();
    let likeness = nodes.iter().find_map(|node| alike.get(*node));
    let message = words::pool_is_empty(driver, nodes.first().copied(), others, likeness);
    let finding = Finding::new(Code::PoolWithoutDevices, Subject::pool(&pool.id), message)
        .warning_if(others == 0 || likeness.is_some())
        .ask_driver(driver, words::FINDS_NOTHING)
        .look(describe_pool(&pool.id));
    Some(match likeness {
        Some(_) => finding
            .joins(pool.slices.iter().map(|slice| slice_key(slice)))
            .joins(nodes.iter().map(|node| scoped_key(Kind::Node, node))),
        None => finding,
    })
}

/// A DaemonSet that seems to run a driver on nodes: nothing of the API says whose pods publish which slices.
struct Plugin<'a> {
    namespace: &'a Str,
    name: &'a Str,
    pods: BTreeMap<&'a Str, &'a Arc<Pod>>,
}

/// DaemonSets that are called like plugins of the kubelet for devices, by their pods.
fn plugins(cluster: &Cluster) -> Vec<Plugin<'_>> {
    let mut plugins: BTreeMap<(&Str, &Str), Plugin<'_>> = BTreeMap::new();
    for pod in cluster
        .pods()
        .filter(|pod| !pod.is_terminal() && !pod.metadata.is_deleting())
    {
        let Some((owner, node)) = daemon_set_of(pod).zip(pod.node()) else {
            continue;
        };
        let name = owner.as_str();
        if is_called_plugin(name) {
            let namespace = &pod.metadata.namespace;
            plugins
                .entry((namespace, owner))
                .or_insert_with(|| Plugin {
                    namespace,
                    name: owner,
                    pods: BTreeMap::new(),
                })
                .pods
                .insert(node, pod);
        }
    }
    plugins.into_values().collect()
}

impl Plugin<'_> {
    /// The only one that is called like the driver and has a pod wherever the driver has devices.
    fn of_driver<'p>(plugins: &'p [Self], driver: &str, with: &BTreeSet<&Str>) -> Option<&'p Self> {
        let mut fitting = plugins.iter().filter(|plugin| {
            plugin.pods.values().any(|pod| is_pod_of(driver, pod))
                && with.iter().all(|node| plugin.pods.contains_key(*node))
        });
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first)
    }

    /// What keeps its pods off a node.
    fn kept_off(&self, cluster: &Cluster, node: &Node) -> Option<KeptOff> {
        kept_off(cluster, self.pods.values().next()?, node)
    }
}

/// A node without slices of a driver that it should have.
fn without_slices(
    look: &Look<'_>,
    driver: &Str,
    node: &Node,
    alike: &BTreeMap<&Str, Likeness<'_>>,
    plugin: Option<&Plugin<'_>>,
) -> Option<Finding> {
    let name = &node.metadata.name;
    let likeness = alike.get(name);
    let pod = plugin.and_then(|plugin| plugin.pods.get(name));
    let is_late = pod.is_some_and(|pod| {
        !is_ready(pod) && look.has_lasted(pod.metadata.creation_timestamp, STARTING_SECONDS)
    });
    if likeness.is_none() && !is_late {
        return None;
    }
    let key: Option<Key> = pod.map(|pod| pod.key());
    let of_plugin = plugin.map(|plugin| {
        let pod = match pod.zip(key.as_ref()) {
            Some((pod, key)) => PluginPod::There(key, is_ready(pod)),
            None => PluginPod::Missing(plugin.kept_off(look.cluster, node)),
        };
        (format!("daemonset/{}/{}", plugin.namespace, plugin.name), pod)
    });
    let message = words::without_slices(driver, likeness, of_plugin);
    // Where pods are hidden the worse is assumed: what is unknown must not improve the answer.
    let is_sure =
        likeness.is_none_or(Likeness::is_hardware) || plugin.is_some() || look.is_hidden(Kind::Pod, "");
    let finding = Finding::new(Code::NodeWithoutSlices, Subject::node(node), message)
        .warning_if(is_sure)
        .ask_driver(driver, words::SERVES_NOT)
        .look(pods_on(name))
        .joins([scoped_key(Kind::Node, name)])
        .joins(key.map(pod_key));
    Some(finding)
}

/// Drivers that publish nothing for nodes that they should serve, or cannot prepare what they publish, each with what is broken first. A
/// DaemonSet may have no pod on a node on purpose, and a ready pod may have found nothing there, unless no node has anything of the driver or
/// a claim is pending for it. Nodes that were `told` already do not count again.
fn silent_drivers(look: &mut Look<'_>, told: &BTreeSet<(&Str, &Str)>) {
    let cluster = look.cluster;
    let stages = stages(look);
    for driver in known_drivers(cluster) {
        let mut broken: Vec<(BrokenLink, bool, Vec<&Str>)> = Vec::new();
        for node in cluster.nodes() {
            let silent = stages.broken_link(&driver, node);
            let publishes = silent.is_none();
            let Some(link) = silent.or_else(|| stages.unprepared(&driver, node)) else {
                continue;
            };
            let is_same = |known: &BrokenLink| discriminant(known) == discriminant(&link);
            let name = &node.metadata.name;
            let mut known = broken.iter_mut();
            match known.find(|(known, of_published, _)| is_same(known) && *of_published == publishes) {
                _ if matches!(link, BrokenLink::NoPod(..)) || told.contains(&(&driver, name)) => {}
                Some((.., nodes)) => nodes.push(name),
                None => broken.push((link, publishes, vec![name])),
            }
        }
        let is_waited_for = is_waited_for(cluster, &driver);
        let publishes = cluster.slices().any(|slice| slice.spec.driver == driver);
        for (link, of_published, nodes) in broken {
            let is_wrong = match link {
                BrokenLink::Silent(_) => is_waited_for || !publishes,
                // The finding about empty slices tells that.
                BrokenLink::NoDevices(_) => false,
                // The nodes may be added when they are needed.
                BrokenLink::Unselected(..) => is_waited_for,
                _ => true,
            };
            if is_wrong {
                look.add(silent(&driver, &link, of_published, &nodes));
            }
        }
    }
}

fn silent(driver: &Str, link: &BrokenLink, publishes: bool, nodes: &[&Str]) -> Finding {
    let message = words::driver_is_silent(nodes, link, publishes);
    Finding::new(Code::DriverSilent, Subject::driver(driver), message)
        .advice(mend_link(driver, link))
        .look(look_at_link(link))
        .joins(nodes.iter().map(|node| scoped_key(Kind::Node, node)))
        .joins(link.pod().cloned().map(pod_key))
}

/// A pool with a slice for nodes by their labels, where no node has them.
fn unmatched(look: &mut Look<'_>, pool: &Pool<'_>) {
    let cluster = look.cluster;
    let mut slices = pool.slices.iter();
    let unmatched = slices.find_map(|slice| Some((slice, unmatched_selector(cluster, slice)?)));
    let Some((slice, selector)) = unmatched else {
        return;
    };
    let message = words::no_node_matches(slice, selector);
    look.add(
        Finding::new(Code::NodesUnmatched, Subject::pool(&pool.id), message)
            .ask_driver(&pool.id.driver, words::LABEL_NODES)
            .look(Command::kubectl("get").args(&["nodes", "--show-labels"]).done())
            .joins([slice_key(slice)]),
    );
}

/// Nodes where a device plugin reports what a driver publishes, too. What the scheduler allocates for an extended resource through a class
/// never shows in what a node reports.
fn hardware_twice(look: &mut Look<'_>) {
    let cluster = look.cluster;
    let mut drivers: BTreeMap<&Str, Vec<&Str>> = BTreeMap::new();
    for (driver, service) in services(cluster) {
        for node in service.with {
            drivers.entry(node).or_default().push(driver);
        }
    }
    let classes = classes_of_resources(cluster);
    let by_class = cluster
        .environment()
        .enabled(Component::Scheduler, Gate::DRAExtendedResource);
    for node in cluster.nodes() {
        let name = &node.metadata.name;
        let Some(drivers) = drivers.get(name) else {
            continue;
        };
        for driver in drivers {
            for (resource, amount, users) in beside_driver(cluster, node, driver) {
                let class = classes.get(resource).and_then(|classes| classes.first());
                let decides = by_class && amount.value() > 0;
                let class = class.filter(|_| decides).map(|class| &class.metadata.name);
                let message = words::hardware_twice(resource, amount, driver, &users, class);
                look.add(
                    Finding::new(Code::HardwareTwice, Subject::node(node), message)
                        .advice(words::keep_one_off(driver))
                        .look(describe_node(name))
                        .joins([scoped_key(Kind::Node, name)]),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::{ask, codes_of};
    use super::super::{Question, Severity};
    use dra_model::Kind;
    use dra_testing::World;

    fn nodes(nodes: &[(&str, &Value)], slices: &[&str]) -> World {
        let world = nodes
            .iter()
            .fold(World::default(), |world, (name, labels)| world.node(name, labels));
        slices
            .iter()
            .fold(world, |world, name| world.slice(name, &json!([{"name": "x"}])))
    }

    /// Severity and message of each finding.
    fn told(world: World) -> Vec<(Severity, String)> {
        let list = ask(&world.build(), Question::Now);
        let told = list.items.into_iter();
        told.map(|finding| {
            (
                finding.severity,
                format!("{} {} {}", finding.code, finding.object, finding.message),
            )
        })
        .collect()
    }

    #[test]
    fn peers_are_nodes_of_one_type_that_mostly_have_the_driver() {
        let world = |named: &[(&str, &str)], slices: &[&str]| {
            let labels: Vec<Value> = named
                .iter()
                .map(|(_, type_)| json!({(super::INSTANCE_TYPE): type_}))
                .collect();
            let named: Vec<_> = named
                .iter()
                .zip(&labels)
                .map(|((name, _), labels)| (*name, labels))
                .collect();
            codes_of(&nodes(&named, slices).build())
        };
        let all = [("a", "t"), ("b", "t"), ("c", "t")];
        assert_eq!(world(&all, &["a", "b"]), ["DRA035 node/c"]);
        assert!(world(&all, &["a", "b", "c"]).is_empty());
        // One is no majority, and a node of another type no peer.
        assert!(world(&all, &["a"]).is_empty());
        assert!(world(&[("a", "t"), ("b", "t"), ("c", "u")], &["a", "b"]).is_empty());
    }

    #[test]
    fn peers_without_types_are_those_with_the_labels_that_set_served_nodes_apart() {
        let pci = "feature.node.kubernetes.io/pci-0302_10de.present";
        let vga = "feature.node.kubernetes.io/pci-0300_1a03.present";
        let gpu = json!({(pci): "true", (vga): "true", "gpu": "yes", "kubernetes.io/os": "linux"});
        let unlabelled = json!({(pci): "true", (vga): "true", "kubernetes.io/os": "linux"});
        let other = json!({(vga): "true", "kubernetes.io/os": "linux"});
        let virtual_ = json!({"kubernetes.io/os": "linux"});
        let world = |third: &Value| {
            nodes(
                &[("a", &gpu), ("b", &gpu), ("c", third), ("v", &virtual_)],
                &["a", "b"],
            )
        };
        let (severity, message) = told(world(&unlabelled)).remove(0);
        assert_eq!(severity, Severity::Warning);
        assert_eq!(
            message,
            format!(
                "DRA035 node/c has no ResourceSlice of driver d, unlike 2 of the 3 nodes with {vga}=true, {pci}=true"
            )
        );
        assert!(told(world(&other)).is_empty());
        // What people wrote on nodes is a hint, and what Kubernetes writes on all of a kind none.
        let label = |labels: &Value| {
            told(nodes(
                &[("a", labels), ("b", labels), ("c", labels), ("v", &virtual_)],
                &["a", "b"],
            ))
        };
        let hint = label(&json!({"gpu": "yes"}));
        assert_eq!(hint.len(), 1);
        assert_eq!(hint[0].0, Severity::Info);
        for ordinary in [
            "kubernetes.io/arch",
            "node-role.kubernetes.io/worker",
            "topology.example.com/rack",
        ] {
            assert!(label(&json!({(ordinary): "x"})).is_empty(), "{ordinary}");
        }
        let (everywhere, none) = (json!({"gpu": "yes"}), json!({"gpu": "no"}));
        let same = |third: &Value| {
            told(nodes(
                &[("a", &everywhere), ("b", &everywhere), ("c", third)],
                &["a", "b"],
            ))
        };
        // What all nodes have sets none apart.
        assert!(same(&everywhere).is_empty());
        assert!(same(&none).is_empty());
    }

    fn daemon_pod(world: World, set: &str, node: &str, ready: &str, spec: &Value) -> World {
        let mut full = json!({"nodeName": node});
        for (key, value) in spec.as_object().unwrap() {
            full[key] = value.clone();
        }
        world.with(
            Kind::Pod,
            &json!({
                "metadata": {"namespace": "kube-system", "name": format!("{set}-{node}"), "uid": format!("{set}-{node}"),
                    "creationTimestamp": "2026-11-21T11:00:00Z",
                    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": set, "uid": "u", "controller": true}]},
                "spec": full,
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]},
            }),
        )
    }

    #[test]
    fn the_daemon_set_of_a_driver_shows_where_it_should_run() {
        let plain = json!({});
        let none = || nodes(&[("a", &plain), ("b", &plain), ("c", &plain)], &["a", "b"]);
        let set = "d-dra-driver-kubeletplugin";
        let with = |world: World, third: Option<&str>| {
            let world = ["a", "b"]
                .into_iter()
                .fold(world, |world, node| daemon_pod(world, set, node, "True", &plain));
            match third {
                Some(ready) => daemon_pod(world, set, "c", ready, &plain),
                None => world,
            }
        };
        assert_eq!(
            told(with(none(), Some("False"))),
            [(
                Severity::Warning,
                "DRA035 node/c has no ResourceSlice of driver d; pod/kube-system/d-dra-driver-kubeletplugin-c of \
                 daemonset/kube-system/d-dra-driver-kubeletplugin, which runs on every node where the driver has devices, is not ready"
                    .to_owned()
            )]
        );
        // Where it runs, it may have found nothing; and where it does not, it may not be wanted there.
        assert!(told(with(none(), Some("True"))).is_empty());
        assert!(told(with(none(), None)).is_empty());
        // Another DaemonSet.
        let other = daemon_pod(none(), "csi-kubelet-plugin", "c", "False", &plain);
        assert!(told(other).is_empty());

        let gpu = json!({"gpu": "yes"});
        let labelled = || {
            nodes(
                &[("a", &gpu), ("b", &gpu), ("c", &gpu), ("v", &plain)],
                &["a", "b"],
            )
        };
        let (severity, message) = told(with(labelled(), None)).remove(0);
        assert_eq!(severity, Severity::Warning);
        assert!(
            message.ends_with(
                "unlike 2 of the 3 nodes with gpu=yes; daemonset/kube-system/d-dra-driver-kubeletplugin, which runs on every node \
                 where the driver has devices, has no pod there"
            ),
            "{message}"
        );
        let selecting = ["a", "b"].into_iter().fold(labelled(), |world, node| {
            daemon_pod(world, set, node, "True", &json!({"nodeSelector": {"dra": "on"}}))
        });
        let message = told(selecting).remove(0).1;
        assert!(
            message.ends_with("has no pod there: its nodeSelector requires dra=on, which the node lacks"),
            "{message}"
        );
    }

    #[test]
    fn the_first_broken_link_of_a_driver_is_reported() {
        let set = "d-kubelet-plugin";
        let base = || World::default().node("a", &json!({})).class("d");
        let event = |name: &str, reason: &str, last: &str| {
            json!({"metadata": {"namespace": "kube-system", "name": name}, "reason": reason, "type": "Warning",
                   "involvedObject": {"kind": "DaemonSet", "namespace": "kube-system", "name": set},
                   "message": "pods is forbidden: exceeded quota: critical", "count": 3,
                   "reportingComponent": "daemonset-controller", "lastTimestamp": last})
        };
        let refused = || base().with(Kind::Event, &event("one", "FailedCreate", "2026-01-01T00:00:00Z"));
        let (severity, message) = told(refused()).remove(0);
        assert_eq!(severity, Severity::Warning);
        assert_eq!(
            message,
            "DRA038 driver/d publishes no devices for node/a: the API server rejects the pods of daemonset/kube-system/d-kubelet-plugin: \
             daemonset-controller, 3 times, last at 2026-01-01T00:00:00Z: pods is forbidden: exceeded quota: critical"
        );
        let later = event("two", "SuccessfulCreate", "2026-01-01T00:01:00Z");
        assert!(told(refused().with(Kind::Event, &later)).is_empty());

        let running = || daemon_pod(base(), set, "a", "True", &json!({"serviceAccountName": "driver"}));
        let message = told(running()).remove(0).1;
        assert!(message.ends_with("is ready but publishes nothing"), "{message}");
        // Which may create slices depends on what is bound to its account.
        let with_role = |account: &str| {
            let rule = json!({"verbs": ["create"], "apiGroups": ["resource.k8s.io"], "resources": ["resourceslices"]});
            let subject = json!({"kind": "ServiceAccount", "namespace": "kube-system", "name": account});
            let role = json!({"metadata": {"name": "r"}, "rules": [rule]});
            let reference = json!({"kind": "ClusterRole", "name": "r"});
            let binding = json!({"metadata": {"name": "r"}, "roleRef": reference, "subjects": [subject]});
            running()
                .with(Kind::ClusterRole, &role)
                .with(Kind::ClusterRoleBinding, &binding)
        };
        let of_driver = |world: World| {
            let mut told = told(world).into_iter();
            told.find(|(_, message)| message.starts_with("DRA038")).unwrap().1
        };
        assert!(of_driver(with_role("driver")).ends_with("is ready but publishes nothing"));
        assert!(
            of_driver(with_role("other")).ends_with(
                "serviceaccount/kube-system/driver, which is not allowed to create resourceslices"
            )
        );
    }

    #[test]
    fn hardware_is_offered_twice_where_the_node_reports_what_a_driver_publishes() {
        let world = |amount: &str, with_class: bool| {
            let world = World::default()
                .with(
                    Kind::Node,
                    &json!({"metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "example.com/gpu": amount}}}),
                )
                .slice_with("a", &json!({"driver": "gpu.example.com", "nodeName": "a", "devices": [{"name": "x"}]}));
            if with_class {
                world.with(
                    Kind::DeviceClass,
                    &json!({"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}),
                )
            } else {
                world
            }
        };
        let plain = "DRA037 node/a reports 8 example.com/gpu of a device plugin, and driver gpu.example.com publishes devices for the same \
                     hardware: neither knows what the other has allocated, so two pods can get the same hardware";
        assert_eq!(told(world("8", false)), [(Severity::Warning, plain.to_owned())]);
        let decides = ". A pod that requests example.com/gpu gets it from the device plugin here, because kube-scheduler uses \
                       deviceclass/gpu only on nodes that report none";
        assert_eq!(
            told(world("8", true)),
            [(Severity::Warning, format!("{plain}{decides}"))]
        );
        // A device plugin that was removed leaves a zero behind.
        assert!(told(world("0", true)).is_empty());
    }

    #[test]
    fn a_pool_without_devices_is_judged_by_the_others_of_its_driver() {
        let typed = json!({(super::INSTANCE_TYPE): "t"});
        let plain = json!({});
        let empty = |world: World, pool: &str| world.slice(pool, &json!([]));
        // No node has anything.
        let (severity, message) = told(empty(nodes(&[("a", &plain)], &[]), "a")).remove(0);
        assert_eq!(severity, Severity::Warning);
        assert_eq!(
            message,
            "DRA036 pool/d/a publishes no devices for node/a, and no other pool of driver d has any: the driver found nothing to publish"
        );
        // Others do, and the node is like them, or is not.
        for (labels, severity, says) in [
            (&typed, Severity::Warning, "unlike 2 of the 3 nodes of type t"),
            (
                &plain,
                Severity::Info,
                "which is fine if the node has no such hardware",
            ),
        ] {
            let world = nodes(&[("a", &typed), ("b", &typed), ("c", labels)], &["a", "b"]);
            let all = told(empty(world, "c"));
            assert_eq!(all.len(), 1, "{all:?}");
            assert_eq!(all[0].0, severity);
            assert!(all[0].1.contains(says), "{all:?}");
        }
        // Half a pool is another finding, and devices may be in another slice than counters.
        let half = json!({"nodeName": "a", "devices": [],
            "pool": {"name": "a", "generation": 1, "resourceSliceCount": 2}});
        let half = told(nodes(&[("a", &plain)], &[]).slice_with("a", &half));
        assert!(
            half.iter().all(|(_, text)| text.starts_with("DRA030")),
            "{half:?}"
        );
    }
}
