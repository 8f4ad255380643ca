//! Unknown or differing rules of a scheduler.

use dra_allocator::devices::{Features, Implementation};
use dra_model::{Cluster, Component, Gate, Version};

/// Returns why the scheduler of `cluster` may answer otherwise, whatever is asked: it is newer or older than the
/// compared releases, or the objects use gates that are not simulated for its release. Each is a sentence without a
/// full stop.
pub fn unlike(cluster: &Cluster) -> Vec<String> {
    let environment = cluster.environment();
    let mut reasons = Vec::new();
    let minor = environment.version.minor;
    let (oldest, newest) = (Version::OLDEST_MINOR, Version::NEWEST_MINOR);
    if minor > newest || environment.emulated_minor > newest {
        reasons.push(format!(
            "this build supports kube-scheduler up to 1.{newest}; 1.{minor} is simulated with the rules of \
            1.{newest}"
        ));
    } else if minor < oldest {
        reasons.push(format!(
            "this build supports kube-scheduler 1.{oldest} and later; 1.{minor} is simulated with the rules \
            of 1.{oldest}"
        ));
    }
    let on = |gate| environment.enabled(Component::Scheduler, gate);
    if on(Gate::DRANodeAllocatableResources) {
        reasons.push(
            "with DRANodeAllocatableResources devices consume CPU and memory of their node; this was not \
            compared with kube-scheduler"
                .to_owned(),
        );
    }
    let features = Features::of(environment);
    let release = &features.release;
    if release.implementations_lag && features.implementation() == Implementation::Stable {
        reasons.push(format!(
            "with these gates kube-scheduler 1.{minor} runs its stable allocator; this build was not compared \
            with it"
        ));
    }
    let devices = || cluster.slices().flat_map(|slice| &slice.spec.devices);
    let mut experimental = |is_exposed: bool, gate: Gate, what: &str| {
        if is_exposed && on(gate) {
            reasons.push(format!(
                "the gate {gate} is alpha in 1.{minor}: {what} as in newer releases; 1.{minor} was not compared"
            ));
        }
    };
    if release.implementations_lag {
        experimental(
            devices().any(|device| device.allow_multiple_allocations),
            Gate::DRAConsumableCapacity,
            "devices are shared",
        );
        experimental(
            devices().any(|device| !device.binding_conditions.is_empty()),
            Gate::DRADeviceBindingConditions,
            "devices with binding conditions are chosen",
        );
    }
    if release.counters_are_of_slice {
        experimental(
            devices().any(|device| !device.consumes_counters.is_empty()),
            Gate::DRAPartitionableDevices,
            "counters are counted",
        );
    }
    if release.rules_need_only_taints {
        experimental(
            cluster.rules().next().is_some(),
            Gate::DRADeviceTaints,
            "DeviceTaintRules select devices",
        );
    }
    if release.explicit_name_replaces {
        experimental(
            cluster
                .classes()
                .any(|class| class.spec.extended_resource_name.is_some()),
            Gate::DRAExtendedResource,
            "extended resources are found",
        );
    }
    reasons
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_model::{Evidence, GateState, Kind};
    use dra_testing::World;

    fn reasons(minor: u32, gates: &[Gate], devices: &Value) -> usize {
        let on = GateState {
            enabled: true,
            evidence: Evidence::Flag,
        };
        let world = World::default()
            .slice("node-1", devices)
            .with(
                Kind::DeviceClass,
                &json!({"metadata": {"name": "c"}, "spec": {"extendedResourceName": "example.com/gpu"}}),
            )
            .knowing(|environment| {
                environment.version = Version::minor(minor);
                environment.emulated_minor = minor;
                let gates = gates.iter().map(|gate| (Component::Scheduler, *gate, on.clone()));
                environment.gates.extend(gates);
            });
        unlike(&world.build()).len()
    }

    #[test]
    fn only_what_a_cluster_makes_use_of_keeps_its_answers_from_being_exact() {
        let plain = json!([{"name": "a"}]);
        let shared = json!([{"name": "a", "allowMultipleAllocations": true}]);
        let binding = json!([{"name": "a", "bindingConditions": ["ready"]}]);
        let draws = json!([{"name": "a", "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}]}]);
        let consumable = Gate::DRAConsumableCapacity;
        for (minor, gates, devices, expected) in [
            (33, &[][..], &plain, 1),
            (34, &[], &plain, 0),
            (34, &[], &shared, 0),
            (34, &[consumable], &plain, 0),
            (34, &[consumable], &shared, 1),
            (35, &[consumable], &shared, 1),
            (36, &[consumable], &shared, 0),
            (35, &[Gate::DRADeviceBindingConditions], &binding, 1),
            (36, &[], &binding, 0),
            (34, &[Gate::DRAPartitionableDevices], &draws, 1),
            (35, &[Gate::DRAPartitionableDevices], &draws, 0),
            (34, &[Gate::DRAExtendedResource], &plain, 1),
            (35, &[Gate::DRAExtendedResource], &plain, 0),
            (37, &[], &shared, 0),
            (37, &[Gate::DRANodeAllocatableResources], &plain, 1),
            (38, &[], &plain, 1),
        ] {
            assert_eq!(
                reasons(minor, gates, devices),
                expected,
                "1.{minor} {gates:?} {devices}"
            );
        }
    }
}
