//! Reasons that rule out devices, one by one.

use serde_json::{Value, json};

use super::{FAILS_IF_BAD, KIND_X, World, all_features, exactly};
use crate::devices::RuledOut;
use crate::{Inputs, Limits, Outcome, Shortage, Together, Trouble};
use dra_model::{DeviceId, Key, Kind, Str};

#[test]
fn each_device_shows_the_first_thing_that_rules_it_out() {
    let mut world = World::new();
    let x = json!({ "kind": { "string": "x" }, "group": { "int": 1 } });
    let draw = |amount: &str| json!([{ "counterSet": "set", "counters": { "units": { "value": amount } } }]);
    world.pool(
        "p",
        &[
            json!({ "name": "free", "attributes": x }),
            json!({ "name": "other-kind" }),
            json!({ "name": "used", "attributes": x }),
            json!({ "name": "tainted", "attributes": x, "taints": [{ "key": "k", "effect": "NoExecute" }] }),
            json!({ "name": "large", "attributes": x, "consumesCounters": draw("3") }),
            json!({ "name": "no-group", "attributes": { "kind": { "string": "x" } } }),
            json!({ "name": "failing", "attributes": { "kind": { "string": "x" }, "bad": { "bool": true } } }),
        ],
        &[json!({ "name": "set", "counters": { "units": { "value": "2" } } })],
    );
    world.add(
        Kind::ResourceClaim,
        json!({
            "metadata": { "namespace": "default", "name": "holder" },
            "status": { "allocation": { "devices": { "results": [
                { "request": "r", "driver": "d", "pool": "p", "device": "used" },
                { "request": "r", "driver": "d", "pool": "p", "device": "free", "adminAccess": true },
            ] } } },
        }),
    );
    let mut request = exactly("r", "x", 2);
    request["exactly"]["selectors"] = json!([{ "cel": { "expression": FAILS_IF_BAD } }]);
    world.claim(&[request], &[json!({ "matchAttribute": "d/group" })]);

    let cluster = world.cluster();
    let inputs = Inputs::new(&cluster, all_features());
    let demand = inputs.demand(&world.demanded(&cluster));
    let node = cluster.node("node").unwrap();
    let mut explanation = inputs.explain(node, &demand).unwrap();
    let requests = explanation.requests.clone();
    let [request] = requests.as_slice() else {
        panic!("one request");
    };
    let [alternative] = request.alternatives.as_slice() else {
        panic!("one alternative");
    };
    assert_eq!((alternative.wanted, alternative.free()), (2, 1));
    let place = |name: &str| {
        let mut devices = 0..alternative.devices.len();
        devices
            .find(|device| explanation.device_id(*device).device == name)
            .unwrap()
    };
    let places = [
        "free",
        "other-kind",
        "used",
        "tainted",
        "large",
        "no-group",
        "failing",
    ]
    .map(place);
    let of = places.map(|device| alternative.devices[device].clone());
    assert_eq!(of[0], Ok(()));
    assert_eq!(of[1], Err(RuledOut::ClassSelector.into()));
    assert_eq!(of[2], Err(RuledOut::InUse.into()));
    assert_eq!(of[3], Err(RuledOut::Tainted.into()));
    assert_eq!(of[4], Err(RuledOut::CounterExhausted.into()));
    assert_eq!(of[5], Err(RuledOut::ConstraintAttribute.into()));
    let why = Trouble::SelectorRuntime(1, "no such key: why".into());
    assert_eq!(of[6], Err(why.into()));
    // What the checks looked at.
    assert_eq!(
        explanation.selector(alternative, places[1]).map(|text| &**text),
        Some(KIND_X)
    );
    let holder = Key {
        namespace: "default".into(),
        name: "holder".into(),
    };
    assert_eq!(explanation.holders(places[2]), [holder]);
    let taint = explanation.taints(alternative, places[3]).next().unwrap();
    assert_eq!((&*taint.key, &*taint.effect), ("k", "NoExecute"));
    let shortage = explanation.short_counter(places[4]).unwrap();
    assert_eq!(
        shortage,
        Shortage {
            set: Some("set".into()),
            name: "units".into(),
            wanted: "3".parse().unwrap(),
            left: "2".parse().unwrap(),
            total: "2".parse().unwrap(),
        }
    );
    let constraint = explanation.lacking_attribute(alternative, places[5]).unwrap();
    assert_eq!(
        (&*constraint.attribute, constraint.same, constraint.place),
        ("d/group", true, 0)
    );
}

/// Returns what keeps the demanded claims of `world` from being served together.
fn together(world: &World) -> Together {
    let cluster = world.cluster();
    let inputs = Inputs::new(&cluster, all_features());
    let demand = inputs.demand(&world.demanded(&cluster));
    let node = cluster.node("node").unwrap();
    let attempt = inputs.allocate(node, &demand, Limits::default(), &());
    assert!(matches!(attempt.outcome, Outcome::DoesNotFit { .. }));
    let mut explanation = inputs.explain(node, &demand).unwrap();
    for request in &explanation.requests {
        let mut alternatives = request.alternatives.iter();
        assert!(alternatives.any(|one| one.reaches(one.free())), "{request:?}");
    }
    explanation.together()
}

fn grouped(name: &str, group: u8) -> Value {
    json!({ "name": name, "attributes": { "kind": { "string": "x" }, "group": { "int": group } } })
}

fn requests(names: &[&str]) -> Together {
    Together::Requests {
        requests: names
            .iter()
            .map(|name| (Key::new("default", "claim-0"), Str::from(*name)))
            .collect(),
        is_smallest: true,
    }
}

#[test]
fn a_constraint_that_had_nothing_to_do_with_the_failure_is_not_blamed() {
    let mut world = World::new();
    world.pool("p", &[grouped("only", 1)], &[]);
    let constraint = json!({ "requests": ["a"], "matchAttribute": "d/group" });
    world.claim(&[exactly("a", "x", 1), exactly("b", "x", 1)], &[constraint]);
    assert_eq!(together(&world), requests(&["a", "b"]));
}

#[test]
fn the_requests_that_cannot_be_served_together_are_the_fewest() {
    let mut world = World::new();
    let other = json!({ "name": "other", "attributes": { "kind": { "string": "y" } } });
    world.pool("p", &[grouped("one", 1), other, grouped("two", 1)], &[]);
    let of_y = json!({ "name": "y", "exactly": { "deviceClassName": "any", "count": 1,
        "selectors": [{ "cel": { "expression": "device.attributes['d'].kind == 'y'" } }] } });
    world.claim(&[of_y, exactly("a", "x", 2), exactly("b", "x", 1)], &[]);
    assert_eq!(together(&world), requests(&["a", "b"]));
}

#[test]
fn the_constraint_that_stops_the_search_is_named_with_the_values_that_clash() {
    let mut world = World::new();
    world.pool("p", &[grouped("one", 1), grouped("two", 2)], &[]);
    world.claim(
        &[exactly("a", "x", 1), exactly("b", "x", 1)],
        &[
            json!({ "distinctAttribute": "d/group" }),
            json!({ "requests": ["a", "b"], "matchAttribute": "d/group" }),
        ],
    );
    let Together::Constraints(constraints, Some(values)) = together(&world) else {
        panic!("no constraint");
    };
    let named: Vec<_> = constraints.iter().map(|one| (one.place, one.same)).collect();
    assert_eq!(named, [(1, true)]);
    let text = |(id, value): &(DeviceId, String)| format!("{} {value}", id.device);
    assert_eq!(
        (text(&values.taken), text(&values.refused)),
        ("one 1".to_owned(), "two 2".to_owned())
    );
}

#[test]
fn constraints_that_only_stop_the_search_together_are_both_named() {
    let mut world = World::new();
    let device = |name: &str, group: u8, zone: u8| json!({ "name": name, "attributes": { "kind": { "string": "x" }, "group": { "int": group }, "zone": { "int": zone } } });
    world.pool("p", &[device("one", 1, 1), device("two", 2, 2)], &[]);
    world.claim(
        &[exactly("a", "x", 2)],
        &[
            json!({ "matchAttribute": "d/group" }),
            json!({ "matchAttribute": "d/zone" }),
        ],
    );
    let Together::Constraints(constraints, _) = together(&world) else {
        panic!("no constraint");
    };
    let named: Vec<_> = constraints.iter().map(|one| one.place).collect();
    assert_eq!(named, [0, 1]);
}

#[test]
fn counters_that_stop_the_search_are_reported_with_the_wanted_and_available_amount() {
    let mut world = World::new();
    let draw = json!([{ "counterSet": "set", "counters": { "units": { "value": "2" } } }]);
    let device = |name: &str| json!({ "name": name, "attributes": { "kind": { "string": "x" } }, "consumesCounters": draw });
    world.pool(
        "p",
        &[device("one"), device("two")],
        &[json!({ "name": "set", "counters": { "units": { "value": "3" } } })],
    );
    world.claim(&[exactly("a", "x", 2)], &[]);
    let Together::Counters(pool, shortage, _) = together(&world) else {
        panic!("no counter");
    };
    assert_eq!(pool.pool, "p");
    let numbers = [&shortage.wanted, &shortage.left, &shortage.total].map(ToString::to_string);
    assert_eq!(numbers, ["2", "1", "3"]);
}
