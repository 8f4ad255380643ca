//! Clusters in a state worth looking at, built by the real components.
//!
//! Each function takes an empty cluster with the gates that [`SCENARIOS`] names for it, and returns when the
//! state is reached. Nodes are `gpu-node-1` and so on unless said otherwise.

mod devices;
mod groups;
mod pods;
mod taints;

pub(crate) use devices::{binding_conditions, consumable_capacity, partitionable};
pub(crate) use groups::{podgroups, podgroups_gates_off};
pub(crate) use pods::{
    admin_access, bound_pods, end_shared_claims, extended_resource, shared_claims, stale_reservations,
    unschedulable_pods,
};
pub(crate) use taints::{device_taints, enforce_taint_rule, taint_all_gpus, taint_rules};

use super::{Cluster, Options};

/// A scenario with what its cluster needs.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Feature gates that every component has on.
    pub(crate) gates: &'static [&'static str],
    pub(crate) build: fn(&Cluster),
}

impl Scenario {
    /// Starts a cluster and builds the scenario in it.
    #[track_caller]
    pub(crate) fn start(&self) -> Cluster {
        let options = self
            .gates
            .iter()
            .fold(Options::default(), |options, gate| options.gate(gate, true));
        let cluster = Cluster::start(&options);
        (self.build)(&cluster);
        cluster
    }
}

/// The gates of claims that belong to a PodGroup.
const GROUP_GATES: &[&str] = &["GenericWorkload", "DRAWorkloadResourceClaims"];

/// Every scenario, for tests that go through all of them.
pub(crate) const SCENARIOS: &[Scenario] = &[
    scenario("bound-pods", &[], bound_pods),
    scenario("unschedulable-pods", &[], unschedulable_pods),
    scenario("extended-resource", &[], extended_resource),
    scenario("admin-access", &[], admin_access),
    scenario("shared-claims", &[], shared_claims),
    scenario("stale-reservations", &[], stale_reservations),
    scenario("podgroups", GROUP_GATES, podgroups),
    scenario("podgroups-gates-off", GROUP_GATES, podgroups_gates_off),
    scenario("device-taints", &[], device_taints),
    scenario("taint-rules", &[], taint_rules),
    scenario("partitionable", &[], partitionable),
    scenario("consumable-capacity", &[], consumable_capacity),
    scenario("binding-conditions", &[], binding_conditions),
];

const fn scenario(name: &'static str, gates: &'static [&'static str], build: fn(&Cluster)) -> Scenario {
    Scenario { name, gates, build }
}

/// The scenario of that name.
#[track_caller]
pub(crate) fn named(name: &str) -> &'static Scenario {
    SCENARIOS
        .iter()
        .find(|scenario| scenario.name == name)
        .unwrap_or_else(|| panic!("no scenario `{name}`"))
}
