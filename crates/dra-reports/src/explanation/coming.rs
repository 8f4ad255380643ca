//! Nodes that an autoscaler adds, and nodes that were added just now.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Explained;
use super::diagnosis::{Beside, Diagnosis, NodeDiagnosis};
use super::fact::Fact;
use super::items::FixItem;
use dra_allocator::devices::RuledOut;
use dra_model::{Cluster, Event, Kind, Pod, Str, Time};
use dra_rules::kubelet::{BrokenLink, KeptOff, PodStage, Stages, daemon_set_of, known_drivers};
use dra_rules::scheduling::{tells_unfit, unfit_taint, update_of};

/// Reasons of the events of the cluster autoscaler and of Karpenter that a node is to come for the pod.
const SCALE_UP: [&str; 2] = ["TriggeredScaleUp", "Nominated"];

/// Reason of the events of the cluster autoscaler that no node is to come for the pod, which are no warnings.
const NO_SCALE_UP: &str = "NotTriggerScaleUp";

/// Reason of the events of the cluster autoscaler that the node which was to come for the pod could not be created.
const FAILED_SCALE_UP: &str = "FailedScaleUp";

/// Seconds within which a node that was added has its devices, and has lost the taints that it started with, as a rule.
const NEW_NODE_SECONDS: u64 = 600;

/// Seconds within which a node that is to come is there as a rule.
const SCALE_UP_SECONDS: u64 = 1800;

/// Seconds within which an operator has updated a node, as a rule.
const UPDATE_SECONDS: u64 = 3600;

/// The pod of the operator on the node, which the key of its label or annotation has the name of, if it does not run.
fn operator_of<'c>(stages: &Stages<'c>, node: &Str, key: &str) -> Option<PodStage<'c>> {
    let is_its = |pod: &&Arc<Pod>| {
        let set = daemon_set_of(pod).filter(|_| pod.node() == Some(node));
        set.is_some_and(|set| key.contains(set.as_str()))
    };
    stages
        .cluster()
        .pods()
        .filter(is_its)
        .find_map(|pod| stages.stuck(pod))
}

/// What shows whether a node without slices may have devices.
pub(super) struct Unpublished<'c> {
    stages: Stages<'c>,
    drivers: BTreeSet<Str>,
    /// The nodes that slices are published for.
    published: BTreeSet<&'c Str>,
}

impl<'c> Unpublished<'c> {
    pub(super) fn of(cluster: &'c Cluster, now: Time) -> Self {
        let nodes = cluster.slices().filter_map(|slice| slice.spec.node_name.as_ref());
        Self {
            stages: Stages::of(cluster, now),
            drivers: known_drivers(cluster),
            published: nodes.collect(),
        }
    }
}

/// Returns whether the event says if a node is to come for a pod.
pub(super) fn is_of_autoscaler(event: &Event) -> bool {
    SCALE_UP.contains(&event.reason.as_str())
        || event.reason == NO_SCALE_UP
        || event.reason == FAILED_SCALE_UP
}

/// What the cluster autoscaler or Karpenter said last of the pod, if that is that a node is to come, and that may still be so.
pub(super) fn coming_node<'c>(cluster: &'c Cluster, pod: &Pod, now: Time) -> Option<&'c Event> {
    let events = cluster.events_of(Kind::Pod, &pod.metadata).into_iter();
    let own = events.filter(|event| is_of_autoscaler(event));
    let last = own.max_by_key(|event| event.last_seen())?;
    let seen = last.last_seen()?;
    let is_recent = now.since(seen).as_secs() < SCALE_UP_SECONDS;
    // It came, and does not become ready.
    let has_come = cluster.nodes().any(|node| {
        let created = node.metadata.creation_timestamp;
        let is_its = created.is_some_and(|at| at >= seen && now.since(at).as_secs() >= NEW_NODE_SECONDS);
        is_its && unfit_taint(node).is_some()
    });
    (is_recent && !has_come && SCALE_UP.contains(&last.reason.as_str())).then_some(last)
}

/// The newest node that was added since the event.
pub(super) fn added_since<'c>(cluster: &'c Cluster, event: &Event) -> Option<&'c Str> {
    let created = cluster
        .nodes()
        .map(|node| (node.metadata.creation_timestamp, &node.metadata.name));
    let (at, name) = created.max()?;
    (at? >= event.last_seen()?).then_some(name)
}

/// What the cluster autoscaler said last of the pod, if that is that no node which it could add would have the devices. It does not know those of a
/// group without nodes.
pub(super) fn unknown_devices<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Event> {
    let events = cluster.events_of(Kind::Pod, &pod.metadata).into_iter();
    let own = events.filter(|event| is_of_autoscaler(event));
    let last = own.max_by_key(|event| event.last_seen())?;
    let is_so = last.reason == NO_SCALE_UP && last.message.contains("cannot allocate all claims");
    is_so.then_some(last)
}

/// Why an autoscaler adds no node.
#[derive(Clone, Copy)]
pub(super) enum NoNode {
    /// A group of nodes is as large as it may be.
    Maximum,
    /// The last one could not be added.
    Failed,
    /// A pool of nodes has reached its limits.
    Limits,
    /// It adds none for pods with claims.
    Claims,
    /// It does not know which devices a new node would have.
    Devices,
}

impl NoNode {
    /// cluster-autoscaler's `processors/status/eventing_scale_up_processor.go` joins the reasons of all its groups; Karpenter's
    /// `controllers/provisioning/provisioner.go` ignores pods with claims.
    fn of(event: &Event) -> Option<Self> {
        let says = |words| event.message.contains(words);
        if event.reason == FAILED_SCALE_UP {
            return Some(Self::Failed);
        }
        if event.reason == NO_SCALE_UP {
            let failed = says("in backoff after failed scale-up").then_some(Self::Failed);
            return says("max node group size reached")
                .then_some(Self::Maximum)
                .or(failed);
        }
        if event.reason != "FailedScheduling" || event.component() != "karpenter" {
            return None;
        }
        if says("Dynamic Resource Allocation") && says("not yet supported") {
            Some(Self::Claims)
        } else if says("exceed limits for nodepool") {
            Some(Self::Limits)
        } else {
            says("allocating dynamic resources, no instance type").then_some(Self::Devices)
        }
    }
}

impl Explained<'_> {
    /// Advises to add a node, where an autoscaler says why it adds none.
    pub(super) fn add_node(&self, report: &mut Diagnosis, pod: &Pod) {
        let events = self.cluster().events_of(Kind::Pod, &pod.metadata);
        let last = |is_it: fn(&Event) -> bool| {
            let found = events.iter().copied().filter(|event| is_it(event));
            found.max_by_key(|event| event.last_seen())
        };
        let of_autoscaler = last(|event| is_of_autoscaler(event) || event.component() == "karpenter");
        // Why, which it says only once.
        let failure = || last(|event| event.reason == FAILED_SCALE_UP);
        let fix = of_autoscaler.and_then(|event| {
            let why = NoNode::of(event)?;
            let failure = matches!(why, NoNode::Failed).then(failure).flatten();
            if matches!(why, NoNode::Claims) {
                report.add_beside(Beside::NoNode(event.component().clone()));
            }
            Some(FixItem::add_node(event, why, failure.map(std::ops::Deref::deref)))
        });
        if let Some(fix) = fix {
            report.fixes.retain(|known| known.kind != fix.kind);
            report.fixes.insert(0, fix);
        }
    }

    /// Advises to wait for a node that is cordoned while an operator updates it.
    pub(super) fn await_updated_node(&self, report: &mut Diagnosis, unpublished: &Unpublished<'_>) {
        let mut cordoned = report
            .nodes
            .iter()
            .filter(|node| node.plugin == Some("NodeUnschedulable"));
        let upgrade = cordoned.find_map(|node| {
            let (key, state) = update_of(self.cluster().node(&node.node)?)?;
            // Who writes the time at which it begins.
            let begun = state.parse::<Time>().ok();
            let lasts = |begun: Time| self.settings.now.since(begun).as_secs() >= UPDATE_SECONDS;
            Some(if begun.is_some_and(lasts) {
                let operator = operator_of(&unpublished.stages, &node.node, key);
                FixItem::finish_update(&node.node, key, state, operator.as_ref())
            } else {
                FixItem::await_update(&node.node, key, state)
            })
        });
        report.fixes.splice(0..0, upgrade);
    }

    /// Advises to make a node ready that cannot run pods, where a driver would say then what devices it has.
    pub(super) fn restore_node(&self, report: &mut Diagnosis, unpublished: &Unpublished<'_>) {
        let is_hidden = |node: &&NodeDiagnosis| {
            node.plugin == Some("TaintToleration")
                && !unpublished.published.contains(&node.node)
                && self.cluster().node(&node.node).is_some_and(|found| {
                    found.spec.taints.iter().any(|taint| tells_unfit(&taint.key))
                        && unpublished.stages.may_hide_devices(&unpublished.drivers, found)
                })
        };
        let cluster = self.cluster();
        let hidden = report.nodes.iter().find(is_hidden);
        let fix = hidden.map(|node| {
            let found = cluster.node(&node.node);
            let kept_off = found.and_then(|found| {
                let mut drivers = unpublished.drivers.iter();
                drivers.find_map(|driver| match unpublished.stages.broken_link(driver, found)? {
                    BrokenLink::NoPod(set, Some(KeptOff::Taint(_))) => Some(set),
                    _ => None,
                })
            });
            FixItem::of_unfit(cluster, &node.node, kept_off.as_ref())
        });
        report.fixes.splice(0..0, fix);
    }

    /// Advises to wait for nodes that were added just now and lack devices, or have taints: drivers on them may be starting, and new nodes lose
    /// some of their taints. The same of nodes without devices whose driver was started just now, which are returned.
    pub(super) fn await_new_nodes(&self, report: &mut Diagnosis, unpublished: &Unpublished<'_>) -> Vec<Str> {
        let cluster = self.cluster();
        let lacks_devices = |node: &NodeDiagnosis| {
            node.plugin == Some("DynamicResources")
                && node.devices.iter().all(|count| count.matching == 0)
                && !unpublished.published.contains(&node.node)
        };
        let is_new = |node: &NodeDiagnosis| {
            let created = cluster
                .node(&node.node)
                .and_then(|found| found.metadata.creation_timestamp);
            let lacks = lacks_devices(node) || node.plugin == Some("TaintToleration");
            lacks && created.is_some_and(|at| self.settings.now.since(at).as_secs() < NEW_NODE_SECONDS)
        };
        let is_starting = |node: &NodeDiagnosis| {
            let found = cluster.node(&node.node);
            let is_starting = |node| unpublished.stages.is_starting(&unpublished.drivers, node);
            lacks_devices(node) && found.is_some_and(|node| is_starting(node))
        };
        let names = |is_so: &dyn Fn(&NodeDiagnosis) -> bool| -> Vec<Str> {
            let nodes = report.nodes.iter().filter(|node| is_so(node));
            nodes.map(|node| node.node.clone()).collect()
        };
        let (new, starting) = (names(&is_new), names(&is_starting));
        if !starting.is_empty() {
            report.fixes.insert(0, FixItem::await_drivers(&starting));
        }
        let reasons = report.nodes.iter().flat_map(|node| &node.reasons);
        let in_use = reasons.filter(|reason| matches!(reason.fact, Fact::RuledOut(RuledOut::InUse, _)));
        let wanted = in_use.filter_map(|reason| Some(reason.device.as_ref()?.driver.clone()));
        let wanted: BTreeSet<Str> = wanted.collect();
        let starts = |name: &&Str| {
            let node = cluster.node(name);
            node.is_some_and(|node| unpublished.stages.is_starting(&wanted, node))
        };
        if let Some(node) = starting.iter().find(starts) {
            let created = cluster
                .node(node)
                .and_then(|node| node.metadata.creation_timestamp);
            let added = created.filter(|_| new.contains(node));
            report.add_beside(Beside::Starting(node.clone(), added));
        }
        if let Some(first) = new.first()
            && new.len() < report.nodes.len()
        {
            // The node that was to come is one of these, and its driver starts.
            report
                .fixes
                .retain(|fix| !matches!(fix.kind, "AwaitNode" | "AwaitDriver"));
            report.fixes.insert(0, FixItem::await_nodes(first, &new));
        }
        starting
    }
}
