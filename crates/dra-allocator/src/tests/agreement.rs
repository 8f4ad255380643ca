//! The pruned search gives the answer of the plain one, on made-up problems that mix all features.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{FAILS_IF_BAD, World, all_features, exactly};
use crate::devices::{Features, RuledOut};
use crate::search::{Flow, Search};
use crate::{ConstraintName, Inputs, Limits, Outcome, Together, Unfit};
use dra_model::{Key, Kind, Str};
use dra_testing::Dice;
use dra_testing::effort::by_effort;

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
                    constraint["requests"] = json!([dice.of(&["r0", "r0/s0"]), "r1"]);
                }
                constraint
            })
            .collect();
        world.claim(&requests, &constraints);
    }
    world
}

/// The answer where nothing but the devices is the reason.
const DOES_NOT_FIT: &str = "does not fit";

/// Steps of the plain search, the reference for comparisons.
const PLAIN: u64 = 20_000;

/// The allocations, or why there are none; nothing where that is not decided within the limits.
fn answer(world: &World, features: Features, limits: Limits) -> Option<Result<String, String>> {
    match world.allocate(features, limits).outcome {
        Outcome::Allocated(allocations) => {
            let texts = allocations
                .iter()
                .map(|allocation| allocation.to_json().to_string());
            Some(Ok(texts.collect()))
        }
        Outcome::DoesNotFit { .. } => Some(Err(DOES_NOT_FIT.to_owned())),
        Outcome::Error(error) => Some(Err(error.to_string())),
        Outcome::GaveUp => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(by_effort(100, 1_500, 15_000)))]
    #[test]
    fn pruning_changes_no_answer(bytes in prop::collection::vec(any::<u8>(), 40..300), lists in any::<bool>()) {
        let world = world(bytes);
        let features = Features { list_type_attributes: lists, ..all_features() };
        // Problems that are too hard for the plain search have nothing to be compared with.
        if let Some(plain) = answer(&world, features, Limits::plain(PLAIN)) {
            prop_assert_eq!(answer(&world, features, Limits::pruned(1_000_000)), Some(plain.clone()));
            prop_assert_eq!(answer(&world, features, Limits::default()), Some(plain));
        }
    }
}

/// Comparison with the plain search.
struct Held {
    /// Reported conflict between requests.
    told: Together,
    /// Number of dry runs that the plain search did not finish. They prove nothing.
    undecided: usize,
}

/// Holds what is said of each device against what the plain search met, and what is said to keep requests from being served together
/// against dry runs. Returns nothing where the search does not fail.
fn hold_reasons_against_the_search(world: &World) -> Result<Option<Held>, TestCaseError> {
    let cluster = world.cluster();
    let inputs = Inputs::new(&cluster, all_features());
    let demand = inputs.demand(&world.demanded(&cluster));
    let node = cluster.node("node").expect("the node is there");
    let Ok(mut explanation) = inputs.explain(node, &demand) else {
        return Ok(None);
    };
    let Ok(mut problem) = inputs.problem(node, &demand) else {
        return Ok(None);
    };
    let mut search = Search::new(&mut problem, PLAIN, &());
    if search.run() != Flow::Fail {
        return Ok(None);
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
    let told = explanation.together();
    let mut undecided = 0;
    for (changed, expected) in dry_runs(world, &told) {
        match answer(&changed, all_features(), Limits::plain(PLAIN)) {
            // An error ends an attempt before it is known whether the claims fit.
            Some(Err(why)) if why != DOES_NOT_FIT => undecided += 1,
            Some(answer) => prop_assert_eq!(answer.is_ok(), expected, "{:?}: {:?}", told, answer),
            None => undecided += 1,
        }
    }
    Ok(Some(Held { told, undecided }))
}

/// Worlds whose reason says whether the claims fit, with that reason.
fn dry_runs(world: &World, told: &Together) -> Vec<(World, bool)> {
    match told {
        Together::Constraints(constraints, _) => {
            let without = |left_out: &[ConstraintName]| {
                world.changed(|object| {
                    let name = object["metadata"]["name"].clone();
                    let of_object = left_out.iter().filter(|one| name == *one.claim.name);
                    let places: Vec<usize> = of_object.map(|one| one.place).collect();
                    retain(object, "constraints", |place, _| !places.contains(&place));
                })
            };
            let too_few = all_but_one(constraints).map(|others| (without(&others), false));
            too_few.chain([(without(constraints), true)]).collect()
        }
        Together::Counters(..) => {
            let without = world.changed(|object| {
                let devices = object.pointer_mut("/spec/devices").and_then(Value::as_array_mut);
                for device in devices.into_iter().flatten() {
                    device["consumesCounters"] = json!([]);
                }
            });
            vec![(without, true)]
        }
        Together::Requests {
            requests,
            is_smallest,
        } => {
            let only = |kept: &[(Key, Str)]| {
                world.changed(|object| {
                    let claim = object["metadata"]["name"].clone();
                    let is_kept = |name: &Value| {
                        let request = name.as_str().and_then(|name| name.split('/').next());
                        kept.iter()
                            .any(|(of, kept)| claim == *of.name && request == Some(&**kept))
                    };
                    retain(object, "requests", |_, request| is_kept(&request["name"]));
                    retain(object, "constraints", |_, constraint| {
                        let Some(covered) = constraint.get_mut("requests").and_then(Value::as_array_mut)
                        else {
                            return true;
                        };
                        covered.retain(is_kept);
                        !covered.is_empty()
                    });
                })
            };
            let fewer = all_but_one(requests).filter(|_| *is_smallest);
            let fewer = fewer.map(|others| (only(&others), true));
            fewer.chain([(only(requests), false)]).collect()
        }
        Together::NotShown(_) | Together::Unknown => Vec::new(),
    }
}

fn all_but_one<T: Clone>(all: &[T]) -> impl Iterator<Item = Vec<T>> {
    (0..all.len()).map(|place| [&all[..place], &all[place + 1..]].concat())
}

/// Drops items of a list of the object, if it is a claim.
fn retain(object: &mut Value, list: &str, mut is_kept: impl FnMut(usize, &mut Value) -> bool) {
    let list = object.pointer_mut(&format!("/spec/devices/{list}"));
    if let Some(list) = list.and_then(Value::as_array_mut) {
        let mut places = 0..;
        list.retain_mut(|item| places.next().is_some_and(|place| is_kept(place, item)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(by_effort(100, 1_500, 15_000)))]
    #[test]
    fn the_reasons_of_a_failed_search_are_what_it_met(bytes in prop::collection::vec(any::<u8>(), 40..300)) {
        hold_reasons_against_the_search(&world(bytes))?;
    }
}

/// Claims that a node cannot serve together.
struct Case<'a> {
    devices: Vec<Value>,
    counters: &'a [Value],
    /// Requests and constraints of each claim.
    claims: &'a [(&'a [Value], &'a [Value])],
    /// The reason.
    told: &'a str,
    undecided: usize,
}

/// Each kind of reason is compared with dry runs. In the last case only the search that prunes finds what fits without the constraint:
/// the first claim takes the device with memory first, and request c needs a share of it, so the plain search reaches its limit.
#[test]
fn dry_runs_confirm_each_kind_of_reason_or_reach_their_limit() {
    let device = |name: &str, group: u8| json!({ "name": name, "attributes": { "group": { "int": group } } });
    let shared = json!({ "name": "shared", "attributes": { "group": { "int": 1 } },
        "allowMultipleAllocations": true, "capacity": { "memory": { "value": "4" } } });
    let partition = |name: &str| {
        json!({ "name": name,
            "consumesCounters": [{ "counterSet": "set", "counters": { "units": { "value": "2" } } }] })
    };
    let all = json!({ "name": "c", "exactly": { "deviceClassName": "any", "allocationMode": "All",
        "capacity": { "requests": { "memory": "2" } } } });
    let set = json!({ "name": "set", "counters": { "units": { "value": "3" } } });
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    let many: Vec<Value> = [shared]
        .into_iter()
        .chain(names.map(|name| device(name, 1)))
        .collect();
    let one = |name: &str| exactly(name, "any", 1);
    let pair = [one("a"), one("b")];
    let (same, distinct) = (
        json!({ "matchAttribute": "d/group" }),
        json!({ "distinctAttribute": "d/group" }),
    );

    let cases = [
        Case {
            devices: vec![device("a", 1), device("b", 2)],
            counters: &[],
            claims: &[(&pair, std::slice::from_ref(&same))],
            told: "constraints 0",
            undecided: 0,
        },
        Case {
            devices: vec![device("a", 1), device("b", 2)],
            counters: &[],
            claims: &[(&pair, &[same.clone(), same.clone()])],
            told: "constraints 0 1",
            undecided: 0,
        },
        Case {
            devices: vec![partition("a"), partition("b")],
            counters: &[set],
            claims: &[(&pair, &[])],
            told: "counters",
            undecided: 0,
        },
        Case {
            devices: vec![device("a", 1)],
            counters: &[],
            claims: &[(&pair, &[])],
            told: "requests a b",
            undecided: 0,
        },
        Case {
            devices: many,
            counters: &[],
            claims: &[
                (&pair, &[same.clone(), distinct]),
                (&[exactly("a", "any", 3), exactly("b", "any", 3), all], &[]),
            ],
            told: "constraints 1",
            undecided: 1,
        },
    ];
    for case in cases {
        let mut world = World::new();
        world.pool("p", &case.devices, case.counters);
        for (requests, constraints) in case.claims {
            world.claim(requests, constraints);
        }
        let held = hold_reasons_against_the_search(&world)
            .unwrap()
            .expect("the search fails");
        let told = match held.told {
            Together::Constraints(constraints, _) => {
                constraints.iter().fold("constraints".to_owned(), |told, one| {
                    format!("{told} {}", one.place)
                })
            }
            Together::Counters(..) => "counters".to_owned(),
            Together::Requests { requests, .. } => requests
                .iter()
                .fold("requests".to_owned(), |told, (_, name)| format!("{told} {name}")),
            other => format!("{other:?}"),
        };
        assert_eq!((told.as_str(), held.undecided), (case.told, case.undecided));
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
        &[exactly("one", "any", 1), all],
        &[json!({ "matchAttribute": "d/missing", "requests": ["all"] })],
    );
    let expected = "claim default/claim-0, request all: cannot add device d/p/a because a claim constraint would not be satisfied";
    let expected = Some(Err(expected.to_owned()));
    for limits in [Limits::plain(1000), Limits::pruned(1000)] {
        assert_eq!(answer(&world, all_features(), limits), expected);
    }
}
