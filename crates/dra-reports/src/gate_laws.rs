//! A law about gates, over generated clusters without evidence of flags: a gate is named as assumed exactly if the other value changes the
//! verdict or the cause.

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agreement::world;
use crate::allocation::{Fit, Settings, Units, alone};
use crate::explanation::{ClusterVerdict, Diagnosis, explain_claims};
use dra_allocator::Budget;
use dra_model::{Cluster, Component, Evidence, Gate, Key, Stage};
use dra_testing::effort::by_effort;
use dra_testing::{Dice, World};

/// Gates of kube-scheduler that an allocation can depend on. Listed apart from those that the program tries, so that one missing there shows.
const GATES: [Gate; 13] = [
    Gate::DRAAdminAccess,
    Gate::DRAConsumableCapacity,
    Gate::DRADerivedAttributes,
    Gate::DRADeviceBindingConditions,
    Gate::DRADeviceCompatibilityGroups,
    Gate::DRADeviceTaintRules,
    Gate::DRADeviceTaints,
    Gate::DRAExtendedResource,
    Gate::DRAListTypeAttributes,
    Gate::DRANodeAllocatableResources,
    Gate::DRAOptionalNodeOperations,
    Gate::DRAPartitionableDevices,
    Gate::DRAPrioritizedList,
];

/// Adds a claim for some devices, with or without what a gate is asked about.
fn with_claim(world: World, dice: &mut Dice) -> World {
    let mut exactly =
        json!({"deviceClassName": "all", "allocationMode": "ExactCount", "count": 1 + dice.below(4)});
    if dice.one_in(4) {
        let id = dice.below(4);
        exactly["selectors"] = json!([{"cel": {"expression": format!("device.attributes['d'].id >= {id}")}}]);
    }
    if dice.one_in(4) {
        exactly["tolerations"] = json!([{"operator": "Exists"}]);
    }
    if dice.one_in(6) {
        exactly["adminAccess"] = json!(true);
    }
    if dice.one_in(6) {
        exactly["capacity"] = json!({"requests": {"memory": "1"}});
    }
    if dice.one_in(6) {
        exactly["allocationMode"] = json!("All");
        exactly.as_object_mut().expect("an object").remove("count");
    }
    let request = if dice.one_in(5) {
        let mut least = exactly.clone();
        least["allocationMode"] = json!("ExactCount");
        least["count"] = json!(1);
        let named = |name: &str, mut request: Value| {
            request["name"] = json!(name);
            request
        };
        json!({"name": "r", "firstAvailable": [named("most", exactly), named("least", least)]})
    } else {
        json!({"name": "r", "exactly": exactly})
    };
    world.claim("wants", &json!({"devices": {"requests": [request]}}), &json!({}))
}

fn explained(cluster: &Cluster) -> Diagnosis {
    let budget = Budget::new(100_000);
    let claim = cluster.claim(&Key::new("n", "wants")).expect("the claim").clone();
    explain_claims(cluster, &[claim], &Settings::of_test(&budget))
}

/// Returns the answer of a dry run for the claim.
fn fit(cluster: &Cluster) -> Fit {
    let budget = Budget::new(100_000);
    let claim = cluster.claim(&Key::new("n", "wants")).expect("the claim").clone();
    alone(cluster, &Units::Claims(vec![claim]), &Settings::of_test(&budget)).result
}

fn is_decided(verdict: ClusterVerdict) -> bool {
    matches!(
        verdict,
        ClusterVerdict::Fits | ClusterVerdict::DoesNotFit | ClusterVerdict::Error
    )
}

/// Whether nothing tells how kube-scheduler has the gate: it can be set, and no flag and no object says how it is.
fn is_open(cluster: &Cluster, gate: Gate) -> bool {
    let environment = cluster.environment();
    let can_be_set = gate
        .stage_in(environment.emulated_minor)
        .is_some_and(|stage| stage != Stage::Stable);
    let is_shown = cluster.gates_shown().contains_key(&(Component::Scheduler, gate));
    can_be_set && !is_shown && environment.gate(Component::Scheduler, gate).evidence == Evidence::Assumed
}

fn holds(dice: &mut Dice, named: &Cell<usize>, other_causes: &Cell<usize>) -> Result<(), TestCaseError> {
    let minor = [34, 35, 36, 37][dice.below(4)];
    let world = world(dice);
    let cluster = with_claim(world, dice)
        .knowing(|environment| {
            environment.version = dra_model::Version::minor(minor);
            environment.emulated_minor = minor;
            environment.min_compatibility_minor = minor - 1;
        })
        .build();
    let report = explained(&cluster);
    if !is_decided(report.verdict()) {
        return Ok(());
    }
    let said: BTreeSet<&str> = report
        .assumed_gates()
        .iter()
        .filter(|gate| gate.component == <&str>::from(Component::Scheduler))
        .map(|gate| gate.name)
        .collect();
    for gate in GATES.into_iter().filter(|gate| is_open(&cluster, *gate)) {
        let enabled = cluster.environment().enabled(Component::Scheduler, gate);
        let other = cluster.with_gate(Component::Scheduler, gate, !enabled);
        let (known, otherwise) = (fit(&cluster), fit(&other));
        let explained = explained(&other);
        if !is_decided(explained.verdict()) {
            continue;
        }
        // That the scheduler may fail, in an order that it alone knows, is another answer.
        let is_other_cause = known == Fit::DoesNotFit && explained.why() != report.why();
        let differs = known != otherwise || is_other_cause;
        other_causes.set(other_causes.get() + usize::from(is_other_cause && known == otherwise));
        named.set(named.get() + usize::from(differs));
        prop_assert!(
            said.contains(gate.name()) == differs,
            "{} in 1.{}: {:?} ({:?}), otherwise {:?} ({:?}): {:#?}",
            gate.name(),
            minor,
            known,
            report.why(),
            otherwise,
            explained.why(),
            (
                cluster.slices().collect::<Vec<_>>(),
                cluster.rules().collect::<Vec<_>>(),
                cluster.claims().collect::<Vec<_>>()
            )
        );
    }
    Ok(())
}

#[test]
fn a_gate_is_named_exactly_if_its_other_value_changes_the_verdict_or_the_cause() {
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(by_effort(100, 2_000, 20_000)));
    let bytes = prop::collection::vec(any::<u8>(), 400);
    let (named, other_causes) = (Cell::new(0), Cell::new(0));
    runner
        .run(&bytes, |bytes| {
            holds(&mut Dice::of_bytes(bytes), &named, &other_causes)
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(named.get() > 0 && other_causes.get() > 0);
}
