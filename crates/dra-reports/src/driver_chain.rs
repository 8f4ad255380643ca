//! `kubectl dra explain driver/NAME`: the chain from the classes of a driver to its devices, and where it is broken.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use serde::Serialize;

use super::Sentence;
use super::script::{Script, describe_pool};
use super::stage::{
    StageFact, broken_link_text, cause_of_node, look_at_link, mend_link, republishing_text, stuck_text,
};
use super::warnings::all_missing;
use super::words::{self, NoDevices};
use dra_allocator::devices::{ClassSelectors, DeviceState, Inventory, Match, node_of, pool_fault};
use dra_model::{Cluster, Gap, Kind, NodeSelector, Pod, Pool, Slice, Str, Time};
use dra_rules::kubelet::{
    BrokenLink, Cause, Plugin, STARTING_SECONDS, Stages, offered_by_plugin, republishing,
};
use dra_rules::scheduling::{drivers_named, is_waited_for};

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct DriverChain {
    /// The driver.
    pub driver: Str,
    /// Whether it serves its nodes.
    pub verdict: DriverVerdict,
    /// The answer in a sentence.
    pub summary: Sentence,
    /// The classes whose devices are its own, by name; absent if classes were not read.
    pub classes: Option<Vec<Str>>,
    /// What makes its pods: `daemonset/NAMESPACE/NAME`.
    pub workloads: Vec<String>,
    /// The nodes that it serves or should serve, those alike together.
    pub nodes: Vec<DriverNodes>,
    /// What would help.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<DriverFix>,
    /// What is missing for an answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// Whether a driver serves its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum DriverVerdict {
    /// It publishes devices, everything was read, and nothing shows that it should publish others.
    Serves,
    /// It publishes nothing, nothing for nodes that it should serve, or only a part of a pool; or it cannot prepare what it publishes.
    Broken,
    /// Unknown.
    Unknown,
}

/// How the pod of a driver on a node is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub enum DriverPod {
    /// It is ready.
    Ready,
    /// It is there and not ready.
    NotReady,
    /// It has no node yet.
    Pending,
    /// A container of it ends again and again, or cannot be started.
    Crashing,
    /// There is none that may be the driver's.
    None,
    /// Not all pods were read.
    Unknown,
}

impl DriverPod {
    fn of(plugin: &Plugin) -> Self {
        match plugin {
            Plugin::Hidden => Self::Unknown,
            Plugin::None { .. } => Self::None,
            Plugin::Crashing(..) => Self::Crashing,
            Plugin::Pending(..) => Self::Pending,
            Plugin::NotReady(_) | Plugin::Starting(..) | Plugin::Failed(..) => Self::NotReady,
            Plugin::OtherFolder(..) | Plugin::Ready(..) => Self::Ready,
        }
    }
}

/// Nodes with the same state of a driver.
#[macro_rules_attribute::apply(report)]
pub struct DriverNodes {
    /// The nodes; none for devices that several nodes reach.
    pub nodes: Vec<Str>,
    /// How its pod there is doing.
    pub pod_state: DriverPod,
    /// Its pod on the first of them.
    pub pod: Option<String>,
    /// Devices that it publishes for each.
    pub devices: usize,
    /// Those of all of these nodes that claims hold; absent if claims were not read.
    pub in_use: Option<usize>,
    /// What is broken first between the pods and their devices, or keeps the driver from preparing them.
    pub broken: Option<Sentence>,
    #[serde(skip)]
    link: Option<BrokenLink>,
    /// It may be meant to be so: the DaemonSet has no pod there, and no machine of its type has devices.
    #[serde(skip)]
    is_meant: bool,
}

/// What would help a driver.
#[macro_rules_attribute::apply(report)]
pub struct DriverFix {
    /// Who can do what.
    pub message: Sentence,
    /// A command that shows more and changes nothing.
    pub look: Option<Script>,
}

/// What makes the pod, as kubectl calls it, or else the pod itself.
fn maker_of(pod: &Pod) -> String {
    let namespace = &pod.metadata.namespace;
    match pod.metadata.controller() {
        Some(owner) => format!("{}/{namespace}/{}", owner.kind.to_ascii_lowercase(), owner.name),
        None => format!("pod/{}", pod.key()),
    }
}

/// Devices, and those in use if that is known, by the only node that reaches them.
fn devices_of(cluster: &Cluster, driver: &Str) -> BTreeMap<Option<Str>, (usize, Option<usize>)> {
    let inventory = Inventory::of(cluster);
    let none = cluster.gap(Kind::ResourceClaim, "").is_none().then_some(0);
    let mut devices: BTreeMap<Option<Str>, (usize, Option<usize>)> = BTreeMap::new();
    for pool in cluster.pools().filter(|pool| pool.id.driver == *driver) {
        for (slice, device) in pool.devices() {
            let (node, _) = node_of(slice, device);
            let (count, in_use) = devices.entry(node).or_insert((0, none));
            *count += 1;
            let state = inventory.state(&pool.device_id(&device.name));
            let is_used = matches!(state, DeviceState::Allocated | DeviceState::Shared);
            *in_use = in_use.map(|in_use| in_use + usize::from(is_used));
        }
    }
    devices
}

/// The classes that name the driver, and those that name none and have devices of it.
fn classes_of(cluster: &Cluster, driver: &Str) -> Vec<Str> {
    let selectors = ClassSelectors::of(cluster);
    let has_devices = |class: &Str| {
        let mut pools = cluster.pools().filter(|pool| pool.id.driver == *driver);
        pools.any(|pool| {
            selectors
                .devices(&pool)
                .any(|(_, _, device)| selectors.matches(class, &device) == Match::Yes)
        })
    };
    let classes = cluster.classes().filter(|class| {
        let named = drivers_named(class);
        if named.is_empty() {
            has_devices(&class.metadata.name)
        } else {
            named.contains(driver)
        }
    });
    classes.map(|class| class.metadata.name.clone()).collect()
}

/// Whether anything in the cluster shows that there is, or was to be, a driver of this name.
fn is_known(cluster: &Cluster, driver: &Str) -> bool {
    cluster.slices().any(|slice| slice.spec.driver == *driver)
        || cluster
            .allocated_devices()
            .any(|(device, _)| device.driver == *driver)
}

/// What is found of a driver.
struct Found {
    /// What is broken first.
    rows: Vec<DriverNodes>,
    /// What makes its pods.
    workloads: BTreeSet<String>,
    /// Nodes whose devices it publishes anew, and since when.
    awaited: Vec<(Str, Time)>,
}

impl Found {
    fn of(stages: &Stages<'_>, driver: &Str, now: Time) -> Self {
        let cluster = stages.cluster();
        let mut devices = devices_of(cluster, driver);
        let mut workloads = BTreeSet::new();
        let mut rows: Vec<DriverNodes> = Vec::new();
        let mut awaited = Vec::new();
        let unserved = unserved(stages, driver);
        for node in cluster.nodes() {
            let name = &node.metadata.name;
            let plugin = stages.plugin(driver, name);
            let unprepared = || stages.unprepared(driver, node);
            let link = stages.broken_link(driver, node).or_else(unprepared);
            let published = devices.remove(&Some(name.clone()));
            awaited.extend(republishing(cluster, name, Some(driver), now).map(|since| (name.clone(), since)));
            let pod = stages.pod_of(&plugin);
            workloads.extend(pod.map(|pod| maker_of(pod)));
            if let Plugin::None {
                elsewhere: Some((pod, _)),
                ..
            } = &plugin
            {
                workloads.extend(cluster.pod(pod).map(|pod| maker_of(pod)));
            }
            if published.is_none() && link.is_none() && pod.is_none() {
                continue;
            }
            let (count, in_use) = published.unwrap_or((0, Some(0)));
            let of_node = || {
                let stuck = stages.not_ready(name).filter(|_| count > 0)?;
                Some(format!("node/{name} {}", cause_of_node(&stuck.cause)))
            };
            let broken = match &link {
                Some(link) => Some(broken_link_text(link)),
                None => unserved.get(name).cloned().or_else(of_node),
            };
            let pod_state = DriverPod::of(&plugin);
            let kind = |link: &Option<BrokenLink>| link.as_ref().map(discriminant);
            // A device plugin may serve the node instead.
            let is_meant = matches!(link, Some(BrokenLink::NoPod(..)))
                && (!stages.is_like_served(driver, node) || offered_by_plugin(node, driver).next().is_some());
            let is_alike = |row: &&mut DriverNodes| {
                row.pod_state == pod_state
                    && row.devices == count
                    && row.is_meant == is_meant
                    && kind(&row.link) == kind(&link)
                    && row.broken.is_some() == broken.is_some()
            };
            match rows.iter_mut().find(is_alike) {
                Some(row) => {
                    row.nodes.push(name.clone());
                    row.in_use = row.in_use.zip(in_use).map(|(before, more)| before + more);
                }
                None => rows.push(DriverNodes {
                    nodes: vec![name.clone()],
                    pod_state,
                    pod: pod.map(|pod| format!("pod/{}", pod.key())),
                    devices: count,
                    in_use,
                    broken: broken.map(Sentence::from),
                    link,
                    is_meant,
                }),
            }
        }
        // What several nodes reach, or one that does not exist.
        for (node, (count, in_use)) in devices {
            rows.push(DriverNodes {
                nodes: node.into_iter().collect(),
                pod_state: DriverPod::Unknown,
                pod: None,
                devices: count,
                in_use,
                broken: None,
                link: None,
                is_meant: false,
            });
        }
        rows.sort_by_key(|row| (rank(row), std::cmp::Reverse(row.nodes.len())));
        Self {
            rows,
            workloads,
            awaited,
        }
    }

    /// The devices that it publishes.
    fn published(&self) -> usize {
        self.rows
            .iter()
            .map(|row| row.devices * row.nodes.len().max(1))
            .sum()
    }

    /// What is broken first between pods and devices.
    fn first(&self) -> Option<(&DriverNodes, &BrokenLink)> {
        self.rows.iter().find_map(|row| Some((row, row.link.as_ref()?)))
    }

    /// Whether the driver serves its nodes, and the answer in a sentence.
    fn verdict(
        &self,
        cluster: &Cluster,
        driver: &Str,
        unusable: Option<&(Pool<'_>, String)>,
        is_idle: bool,
        is_all_read: bool,
    ) -> (DriverVerdict, String) {
        use DriverVerdict::{Broken, Serves, Unknown};
        let published = self.published();
        let serves = || {
            let nodes = self.rows.iter().filter(|row| row.devices > 0);
            words::publishes(published, nodes.map(|row| row.nodes.len()).sum())
        };
        let mut served = self.rows.iter().filter(|row| row.devices > 0);
        let down = served.find_map(|row| Some((row, row.broken.as_ref()?)));
        let serves_none = || {
            self.rows
                .iter()
                .all(|row| row.devices == 0 || row.nodes.is_empty())
        };
        match (self.first(), self.awaited.first()) {
            (Some((row, link)), _) if row.devices == 0 && (!row.is_meant || published == 0) => {
                let verdict = if is_idle { Unknown } else { Broken };
                let why = broken_link_text(link);
                (verdict, words::publishes_nothing(&row.nodes, &why))
            }
            // What no node reaches serves none.
            _ if serves_none()
                && let Some(text) = unreached(cluster, driver) =>
            {
                (Broken, text)
            }
            _ if published > 0
                && let Some((pool, why)) = unusable =>
            {
                (Broken, words::publishes_in_part(&serves(), &pool.id, why))
            }
            _ if let Some((row, why)) = down => {
                let text = words::publishes_unprepared(&serves(), &row.nodes, why);
                (Broken, text)
            }
            _ if published > 0 => (if is_all_read { Serves } else { Unknown }, serves()),
            _ if !is_all_read => (Unknown, words::no_devices(&NoDevices::Unknown)),
            (_, Some((node, since))) => {
                let why = republishing_text(std::slice::from_ref(node), *since, "the driver publishes");
                (Unknown, words::no_devices(&NoDevices::Awaited(&why)))
            }
            _ => {
                let workloads: Vec<&String> = self.workloads.iter().collect();
                let why = match workloads.as_slice() {
                    [] => NoDevices::NoPods,
                    workloads => NoDevices::Of(workloads),
                };
                (Broken, words::no_devices(&why))
            }
        }
    }
}

/// Explains `driver` at the time `now`; nothing where nothing shows that there is one.
pub fn driver_chain(cluster: &Cluster, driver: &Str, now: Time) -> Option<DriverChain> {
    let stages = Stages::of(cluster, now);
    let classes = classes_of(cluster, driver);
    if classes.is_empty() && !is_known(cluster, driver) {
        return None;
    }
    let found = Found::of(&stages, driver, now);
    let unusable = unusable(cluster, driver, now);
    let kinds = [
        Kind::Node,
        Kind::DeviceClass,
        Kind::ResourceSlice,
        Kind::ResourceClaim,
        Kind::Pod,
    ];
    let gaps: Vec<Gap> = kinds
        .into_iter()
        .filter_map(|kind| cluster.gap(kind, "").cloned())
        .collect();
    // Its nodes may be added when they are needed.
    let is_idle = matches!(found.first(), Some((_, BrokenLink::Unselected(..))))
        && gaps.is_empty()
        && !is_waited_for(cluster, driver);
    let (verdict, summary) = found.verdict(cluster, driver, unusable.as_ref(), is_idle, gaps.is_empty());
    let published = found.published();
    let Found { rows, workloads, .. } = found;
    let is_wrong = |row: &&DriverNodes| !is_idle && (!row.is_meant || published == 0);
    let links = rows.iter().filter(is_wrong).filter_map(|row| row.link.as_ref());
    Some(DriverChain {
        driver: driver.clone(),
        verdict,
        summary: summary.into(),
        classes: cluster.gap(Kind::DeviceClass, "").is_none().then_some(classes),
        workloads: workloads.into_iter().collect(),
        fixes: links
            .map(|link| DriverFix {
                message: mend_link(driver, link).into(),
                look: look_at_link(link).ok(),
            })
            .chain(unusable.map(|(pool, _)| DriverFix {
                message: words::republish(driver).into(),
                look: describe_pool(&pool.id).ok(),
            }))
            .collect(),
        nodes: rows,
        unknown: all_missing(&gaps).collect(),
    })
}

/// The nodes whose kubelet has a pod wait because it cannot reach the driver, each with what it says.
fn unserved(stages: &Stages<'_>, driver: &Str) -> BTreeMap<Str, String> {
    let waiting = stages.all().filter_map(|found| {
        let stuck = found.stuck?;
        let is_own = match &stuck.cause {
            Cause::DriverNotRegistered { driver: of, .. } => of == driver,
            Cause::DriverDown { drivers, .. } => drivers.as_slice() == std::slice::from_ref(driver),
            _ => false,
        };
        let node = found.pod.node().filter(|_| is_own)?;
        Some((node.clone(), stuck_text(&StageFact::of(&stuck, found.pod))))
    });
    waiting.collect()
}

/// A pool of the driver with the reason why its devices cannot be allocated: slices that are not all there, for longer than a driver needs to publish
/// them as far as it is known, or that contradict each other.
fn unusable<'c>(cluster: &'c Cluster, driver: &Str, now: Time) -> Option<(Pool<'c>, String)> {
    if cluster.gap(Kind::ResourceSlice, "").is_some() {
        return None;
    }
    let mut pools = cluster.pools().filter(|pool| pool.id.driver == *driver);
    pools.find_map(|pool| {
        let lasts = pool
            .newest()
            .is_none_or(|newest| now.since(newest).as_secs() >= STARTING_SECONDS);
        let parts = pool.parts();
        let names: BTreeSet<&Str> = parts.iter().flat_map(Pool::duplicate_devices).collect();
        let why = if !pool.is_complete() {
            // What it lacks may explain the rest.
            lasts.then(|| words::pool_is_incomplete(&pool))?
        } else if !names.is_empty() {
            words::duplicates(&names)
        } else {
            words::pool_is_invalid(&pool_fault(cluster.environment(), &pool)?)
        };
        Some((pool, why))
    })
}

/// That no node matches the selector of a slice, if there is such a slice of the driver.
fn unreached(cluster: &Cluster, driver: &Str) -> Option<String> {
    let slices = cluster.slices().filter(|slice| slice.spec.driver == *driver);
    slices
        .filter_map(|slice| Some((slice, unmatched_selector(cluster, slice)?)))
        .map(|(slice, selector)| format!("publishes {}", words::for_no_node(slice, selector)))
        .next()
}

/// The node selector of a slice, if it selects nodes by labels and no node matches.
pub(crate) fn unmatched_selector<'s>(cluster: &Cluster, slice: &'s Slice) -> Option<&'s NodeSelector> {
    let selector = slice.spec.node_selector.as_ref()?;
    is_unmatched(cluster, selector).then_some(selector)
}

/// Returns whether `selector` selects nodes by labels and no node matches.
pub(crate) fn is_unmatched(cluster: &Cluster, selector: &NodeSelector) -> bool {
    let mut nodes = cluster.nodes();
    // A single node that is gone is another matter.
    selector.single_node().is_none() && nodes.all(|node| selector.matches(&node.metadata) == Ok(false))
}

/// A pod that is there and does not do its work comes before a DaemonSet that has none there, and that before what works.
fn rank(row: &DriverNodes) -> u8 {
    match row.link {
        Some(BrokenLink::NoPod(..)) => 1,
        Some(_) => 0,
        None => 2,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_testing::{World, json_of, now};

    /// The driver `d` serves node-1; its pod on node-2 has been ready for long and publishes nothing there.
    #[test]
    fn the_chain_from_classes_to_devices_shows_what_is_broken() {
        let pod = |name: &str, node: &str| {
            json!({"metadata": {"namespace": "kube-system", "name": name, "uid": name, "ownerReferences": [
                        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "gpu-kubelet-plugin", "uid": "s", "controller": true}]},
                   "spec": {"nodeName": node},
                   "status": {"phase": "Running", "conditions": [
                        {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T10:00:00Z"}]}})
        };
        let cluster = World::default()
            .node("node-1", &json!({}))
            .node("node-2", &json!({}))
            .with(
                Kind::DeviceClass,
                &json!({"metadata": {"name": "gpus"}, "spec": {"selectors": [
                    {"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}}),
            )
            .slice_with(
                "node-1",
                &json!({"driver": "gpu.example.com", "nodeName": "node-1", "devices": [{"name": "a"}, {"name": "b"}]}),
            )
            .with(Kind::Pod, &pod("gpu-kubelet-plugin-1", "node-1"))
            .with(Kind::Pod, &pod("gpu-kubelet-plugin-2", "node-2"))
            .build();
        let found = driver_chain(&cluster, &"gpu.example.com".into(), now()).unwrap();
        assert_eq!(
            json_of(&found),
            json!({
                "driver": "gpu.example.com",
                "verdict": "Broken",
                "summary": "publishes no devices for node-2: pod/kube-system/gpu-kubelet-plugin-2 is ready but publishes nothing",
                "classes": ["gpus"],
                "workloads": ["daemonset/kube-system/gpu-kubelet-plugin"],
                "nodes": [
                    {"nodes": ["node-2"], "podState": "Ready", "pod": "pod/kube-system/gpu-kubelet-plugin-2", "devices": 0,
                     "inUse": 0, "broken": "pod/kube-system/gpu-kubelet-plugin-2 is ready but publishes nothing"},
                    {"nodes": ["node-1"], "podState": "Ready", "pod": "pod/kube-system/gpu-kubelet-plugin-1", "devices": 2,
                     "inUse": 0},
                ],
                "fixes": [{
                    "message": "ask the owner of driver gpu.example.com to check the logs of its pod for why it publishes nothing",
                    "look": {
                        "argv": ["kubectl", "logs", "pod/gpu-kubelet-plugin-2", "--namespace=kube-system", "--all-containers", "--tail=50"],
                        "command": "kubectl logs pod/gpu-kubelet-plugin-2 --namespace=kube-system --all-containers --tail=50",
                    },
                }],
            })
        );
        assert!(driver_chain(&cluster, &"other.example.com".into(), now()).is_none());
    }
}
