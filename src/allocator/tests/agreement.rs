//! The pruned search gives the answer of the plain one, on made-up problems that mix all features.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{FAILS_IF_BAD, World, all_features};
use crate::allocator::{Limits, Outcome};
use crate::devices::Features;
use crate::devices::testing::Dice;
use crate::model::Kind;

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
