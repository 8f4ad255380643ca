//! The pruned search gives the answer of the plain one, on made-up problems that mix all features.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{FAILS_IF_BAD, World, all_features};
use crate::allocator::search::{Flow, Search};
use crate::allocator::{ConstraintName, Inputs, Limits, Outcome, Together, Unfit};
use crate::devices::testing::Dice;
use crate::devices::{Features, RuledOut};
use crate::model::{Claim, Kind};

fn device(dice: &mut Dice, name: String, sets: usize) -> Value {
    let mut device = json!({ "name": name, "attributes": {}, "capacity": {} });
    device["attributes"]["kind"] = json!({ "string": dice.of(&["x", "y"]) });
    match dice.below(6) {
        0..=3 => device["attributes"]["group"] = json!({ "int": dice.below(3) }),
        4 => device["attributes"]["group"] = json!({ "ints": [dice.below(3), dice.below(3)] }),
        _ => {}
    }
    if dice.one_in(10) {
        device["attributes"]["bad"] = json!({ "bool": true });
    }
    if dice.one_in(4) {
        device["allowMultipleAllocations"] = json!(true);
        device["capacity"]["memory"] = json!({ "value": dice.of(&["4", "8"]) });
    }
    if sets > 0 && dice.below(3) > 0 {
        let draw = |dice: &mut Dice| {
            let mut draw = json!({
                "counterSet": format!("set-{}", dice.below(sets)),
                "counters": { "units": { "value": (1 + dice.below(2)).to_string() } },
            });
            if dice.one_in(4) {
                draw["compatibilityGroups"] = json!([dice.of(&["a", "b"])]);
            }
            draw
        };
        let mut draws = vec![draw(dice)];
        if dice.one_in(3) {
            draws.push(draw(dice));
        }
        device["consumesCounters"] = json!(draws);
    }
    if dice.one_in(12) {
        device["taints"] = json!([{ "key": "k", "effect": "NoSchedule" }]);
    }
    device
}

fn ask(dice: &mut Dice, may_be_admin: bool) -> Value {
    let mut ask = json!({ "deviceClassName": dice.of(&["any", "x"]) });
    match dice.below(8) {
        0 => ask["allocationMode"] = json!("All"),
        _ => {
            ask["allocationMode"] = json!("ExactCount");
            ask["count"] = json!(1 + dice.below(3));
        }
    }
    if dice.one_in(8) {
        ask["selectors"] = json!([{ "cel": { "expression": dice.of(&[FAILS_IF_BAD, r#"device.attributes["d"].kind == "y""#]) } }]);
    }
    if dice.one_in(4) {
        ask["capacity"] = json!({ "requests": { "memory": dice.of(&["2", "4", "3"]) } });
    }
    if may_be_admin && dice.one_in(8) {
        ask["adminAccess"] = json!(true);
    }
    if dice.one_in(8) {
        ask["derivedAttributes"] = json!([{ "name": "d/computed", "expression": dice.of(&[r#"device.attributes["d"].kind"#, r#"device.attributes["d"].group"#]) }]);
    }
    if dice.one_in(6) {
        ask["tolerations"] = json!([{ "operator": "Exists" }]);
    }
    ask
}

fn request(dice: &mut Dice, name: String) -> Value {
    if !dice.one_in(4) {
        return json!({ "name": name, "exactly": ask(dice, true) });
    }
    let alternatives: Vec<Value> = (0..=dice.below(3))
        .map(|number| {
            let mut alternative = ask(dice, false);
            alternative["name"] = json!(format!("s{number}"));
            if dice.one_in(12) {
                alternative["count"] = json!(31);
            }
            alternative
        })
        .collect();
    json!({ "name": name, "firstAvailable": alternatives })
}

pub(super) fn world(bytes: Vec<u8>) -> World {
    let mut dice = Dice::of_bytes(bytes);
    let mut world = World::new();
    let mut results = Vec::new();
    for pool in 0..=dice.below(2) {
        let sets = dice.below(4);
        let counters: Vec<Value> = (0..sets)
            .map(|set| json!({ "name": format!("set-{set}"), "counters": { "units": { "value": (1 + dice.below(4)).to_string() } } }))
            .collect();
        let devices: Vec<Value> = (0..=dice.below(6))
            .map(|number| device(&mut dice, format!("d{number}"), sets))
            .collect();
        for device in &devices {
            if dice.one_in(8) {
                results.push(json!({ "request": "r", "driver": "d", "pool": format!("p{pool}"), "device": device["name"] }));
            }
        }
        world.pool(&format!("p{pool}"), &devices, &counters);
    }
    world.add(
        Kind::ResourceClaim,
        json!({ "metadata": { "namespace": "default", "name": "used" }, "status": { "allocation": { "devices": { "results": results } } } }),
    );
    for _ in 0..=dice.below(2) {
        let requests: Vec<Value> = (0..=dice.below(4))
            .map(|number| request(&mut dice, format!("r{number}")))
            .collect();
        let constraints: Vec<Value> = (0..dice.below(3))
            .map(|_| {
                let rule = dice.of(&["matchAttribute", "distinctAttribute"]);
                let attribute = dice.of(&["d/group", "d/kind", "d/computed"]);
                let mut constraint = json!({ rule: attribute });
                if dice.one_in(3) {
                    constraint["requests"] = json!(["r0", "r1"]);
                }
                constraint
            })
            .collect();
        world.claim(&requests, &constraints);
    }
    world
}

fn answer(world: &World, features: Features, limits: Limits) -> Option<String> {
    match world.allocate(features, limits).outcome {
        Outcome::Allocated(allocations) => Some(
            allocations
                .iter()
                .map(|allocation| allocation.to_json().to_string())
                .collect(),
        ),
        Outcome::DoesNotFit { .. } => Some("does not fit".to_owned()),
        Outcome::Error(error) => Some(error.to_string()),
        Outcome::GaveUp => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn pruning_changes_no_answer(bytes in prop::collection::vec(any::<u8>(), 40..300), lists in any::<bool>()) {
        let world = world(bytes);
        let features = Features { list_type_attributes: lists, ..all_features() };
        // Problems that are too hard for the plain search have nothing to be compared with.
        if let Some(plain) = answer(&world, features, Limits::plain(20_000)) {
            prop_assert_eq!(answer(&world, features, Limits::pruned(1_000_000)), Some(plain.clone()));
            prop_assert_eq!(answer(&world, features, Limits::default()), Some(plain));
        }
    }
}

/// Holds what is said of each device against what the plain search met, and what is said to keep requests from being served together
/// against dry runs. Returns whether the search failed.
fn hold_reasons_against_the_search(world: &World) -> Result<bool, TestCaseError> {
    let cluster = world.cluster();
    let inputs = Inputs::new(&cluster, all_features());
    let claims = world.demanded(&cluster);
    let demand = inputs.demand(&claims);
    let node = cluster.node("node").expect("the node is there");
    let Ok(mut explanation) = inputs.explain(node, &demand) else {
        return Ok(false);
    };
    let Ok(mut problem) = inputs.problem(node, &demand) else {
        return Ok(false);
    };
    let mut search = Search::new(&mut problem, 20_000, &());
    if search.run() != Flow::Fail {
        return Ok(false);
    }
    let alone: Vec<_> = explanation
        .requests
        .iter()
        .flat_map(|request| &request.alternatives)
        .map(|alternative| alternative.devices.clone())
        .collect();
    for (taken, pick, met) in search.met {
        let said = &alone[usize::from(pick.alternative)][usize::from(pick.device)];
        let is_before_others =
            |why: &Unfit| matches!(why, Unfit::RuledOut(why) if *why < RuledOut::Incompatible);
        match (said, &met) {
            // What others take may rule out a device that could be taken first.
            (Ok(()), Err(_)) if taken > 0 => {}
            (Err(said), Err(why)) if taken > 0 => {
                // The first check is whether another request has taken the device. Those that do not look at others come before those
                // that do.
                let is_in_use = *why == Unfit::RuledOut(RuledOut::InUse);
                prop_assert!(
                    said == why || is_in_use || !is_before_others(said),
                    "{said:?} {why:?}"
                );
            }
            _ => prop_assert_eq!(said, &met, "{:?} after {} devices", pick, taken),
        }
    }
    let fits = |claims: &[Arc<Claim>]| {
        let demand = inputs.demand(claims);
        let outcome = inputs.allocate(node, &demand, Limits::plain(20_000), &()).outcome;
        matches!(outcome, Outcome::Allocated(_))
    };
    match explanation.together() {
        Some(Together::Constraints(constraints, _)) => {
            let mut without = claims.clone();
            for (claim, changed) in claims.iter().zip(&mut without) {
                let mut relaxed = Claim::clone(claim);
                let mut place = 0;
                relaxed.spec.devices.constraints.retain(|_| {
                    place += 1;
                    let named = |one: &ConstraintName| one.claim == claim.key() && one.place == place - 1;
                    !constraints.iter().any(named)
                });
                *changed = Arc::new(relaxed);
            }
            prop_assert!(fits(&without), "{constraints:?}");
        }
        Some(Together::Requests {
            requests,
            is_smallest,
        }) => {
            prop_assert!(!requests.is_empty());
            prop_assert!(is_smallest || requests.len() > 1);
        }
        Some(Together::Counters(..) | Together::NotShown(_)) | None => {}
    }
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn the_reasons_of_a_failed_search_are_what_it_met(bytes in prop::collection::vec(any::<u8>(), 40..300)) {
        hold_reasons_against_the_search(&world(bytes))?;
    }
}

/// Mode All stops at the first device that it cannot have. With the first device taken it does not fit; with another one taken it
/// meets the constraint at the first device, which is an error.
#[test]
fn devices_of_mode_all_are_not_interchangeable_before_an_error() {
    let mut world = World::new();
    let devices: Vec<Value> = ["a", "b", "c"].map(|name| json!({ "name": name })).to_vec();
    world.pool("p", &devices, &[]);
    let all = json!({ "name": "all", "exactly": { "deviceClassName": "any", "allocationMode": "All" } });
    world.claim(
        &[super::exactly("one", "any", 1), all],
        &[json!({ "matchAttribute": "d/missing", "requests": ["all"] })],
    );
    let expected = "claim default/claim-0, request all: cannot add device d/p/a because a claim constraint would not be satisfied";
    for limits in [Limits::plain(1000), Limits::pruned(1000)] {
        assert_eq!(answer(&world, all_features(), limits).as_deref(), Some(expected));
    }
}
