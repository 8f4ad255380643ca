//! Gates of the controllers that affect an eviction and are unknown.

use std::collections::BTreeSet;

use super::World;
use super::report::{EvictionReport, PodVerdict, evicted_pods};
use crate::scheduling::{AssumedGate, Hanging};
use dra_model::{Change, Cluster, Component, Gate, Key, Str, Time};

/// Gates that decide who is evicted.
const GATES: [Gate; 3] = [
    Gate::DRADeviceTaintRules,
    Gate::DRADeviceTaints,
    Gate::DRAWorkloadResourceClaims,
];

/// Pods that are named before the rest is counted.
const NAMED: usize = 3;

/// The gates that affect `report`, the result of `changes` to `cluster` at `now` in `namespace` or in all: for each,
/// the pods that are evicted or spared with the other value.
pub fn assumed_gates(
    cluster: &Cluster,
    changes: &[Change],
    now: Time,
    namespace: Option<&Str>,
    report: &EvictionReport,
) -> Vec<AssumedGate> {
    let mut changed = cluster.clone();
    for change in changes {
        changed.apply(change.clone());
    }
    let evicted = report.pods.iter();
    let evicted: BTreeSet<Key> = evicted
        .filter(|pod| pod.verdict == PodVerdict::Evicted)
        .map(|pod| Key::new(pod.namespace.clone(), pod.name.clone()))
        .collect();
    let mut found = Vec::new();
    for hanging in Hanging::of(&changed, &GATES, &[Component::ControllerManager]) {
        // The set of evicted pods does not depend on the placement of replacements.
        let mut world = World::new(hanging.otherwise(cluster), now, None);
        for change in changes {
            world.apply(change.clone());
        }
        world.run();
        let mut other: BTreeSet<Key> = evicted_pods(&world, cluster);
        other.retain(|pod| namespace.is_none_or(|namespace| pod.namespace == *namespace));
        let more: Vec<&Key> = other.difference(&evicted).collect();
        let fewer: Vec<&Key> = evicted.difference(&other).collect();
        let parts = [(more, "evicted as well"), (fewer, "not evicted")];
        let parts = parts.iter().filter(|(pods, _)| !pods.is_empty());
        let parts: Vec<String> = parts.map(|(pods, what)| told(pods, what)).collect();
        if !parts.is_empty() {
            found.extend(AssumedGate::new(&hanging, parts.join(", and ")));
        }
    }
    found
}

/// `3 pods are evicted, too: pod/n/a, …`
fn told(pods: &[&Key], what: &str) -> String {
    let (count, are) = match pods.len() {
        1 => ("1 pod".to_owned(), "is"),
        many => (format!("{many} pods"), "are"),
    };
    let named: Vec<String> = pods.iter().take(NAMED).map(|pod| format!("pod/{pod}")).collect();
    let rest = match pods.len() - named.len() {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    format!("{count} {are} {what}: {}{rest}", named.join(", "))
}
