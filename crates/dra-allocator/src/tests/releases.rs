//! The facts in which releases differ, each with a small world in which it changes the answer.

use serde_json::{Value, json};

use super::{World, exactly};
use crate::devices::Features;
use crate::{Certainty, Inputs, Limits, Outcome};
use dra_model::{Component, Gate, Kind, Release, Version};

/// The gates of a release, with some that are set.
fn features(release: &str, gates: &[(Gate, bool)]) -> Features {
    let version: Version = release.parse().unwrap();
    Features::of(&dra_testing::of_release(version, Component::Scheduler, gates))
}

/// The newest gates with one fact changed.
fn with(change: impl FnOnce(&mut Release)) -> Features {
    let mut features = features("1.37.1", &[]);
    change(&mut features.release);
    features
}

/// Returns what is allocated: pool and device of each result, or what is said instead.
fn answer(world: &World, features: Features) -> String {
    let searches = [Limits::plain(100_000), Limits::pruned(100_000), Limits::default()];
    let answers = searches.map(|limits| match world.allocate(features, limits).outcome {
        Outcome::Allocated(allocations) => {
            let results = allocations
                .iter()
                .flat_map(|allocation| &allocation.devices.results);
            let devices: Vec<String> = results
                .map(|result| format!("{}:{}/{}", result.request, result.pool, result.device))
                .collect();
            devices.join(" ")
        }
        Outcome::DoesNotFit { invalid_pools } => {
            format!("no fit{}", if invalid_pools { ", invalid" } else { "" })
        }
        Outcome::Error(error) => format!("error: {error}"),
        Outcome::GaveUp => "gave up".to_owned(),
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    let [answer, ..] = answers;
    answer
}

fn certainty(world: &World, features: Features) -> Certainty {
    world.allocate(features, Limits::default()).certainty
}

fn config(world: &World, features: Features) -> Vec<(String, Vec<String>)> {
    let Outcome::Allocated(allocations) = world.allocate(features, Limits::default()).outcome else {
        panic!("it fits");
    };
    let config = &allocations[0].devices.config;
    config
        .iter()
        .map(|entry| {
            let requests = entry.requests.iter().map(ToString::to_string);
            (entry.source.to_string(), requests.collect())
        })
        .collect()
}

fn device(name: &str) -> Value {
    json!({ "name": name })
}

fn group(name: &str, group: &str) -> Value {
    json!({ "name": name, "attributes": { "group": { "string": group } } })
}

fn all(name: &str, class: &str) -> Value {
    json!({ "name": name, "exactly": { "deviceClassName": class, "allocationMode": "All" } })
}

fn slice(world: &mut World, name: &str, pool: &str, count: usize, more: &Value) {
    let mut spec = json!({ "driver": "d", "nodeName": "node",
        "pool": { "name": pool, "generation": 1, "resourceSliceCount": count } });
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    if spec["nodeName"].is_null() {
        spec.as_object_mut().unwrap().remove("nodeName");
    }
    world.add(
        Kind::ResourceSlice,
        json!({ "metadata": { "name": name }, "spec": spec }),
    );
}

#[test]
fn distinct_values_are_those_of_all_devices_or_of_the_last_of_each_request() {
    let mut world = World::new();
    world.pool("p", &[group("a", "1"), group("b", "2"), group("c", "1")], &[]);
    world.claim(
        &[exactly("r", "any", 3)],
        &[json!({ "distinctAttribute": "d/group" })],
    );
    assert_eq!(answer(&world, with(|_| {})), "no fit");
    let per_request = with(|release| release.compares_distinct_per_request = true);
    assert_eq!(answer(&world, per_request), "r:p/a r:p/b r:p/c");
    assert_eq!(answer(&world, features("1.36.4", &[])), "r:p/a r:p/b r:p/c");
    // One device for each request is compared with all others in either.
    let mut world = World::new();
    world.pool("p", &[group("a", "1"), group("b", "1"), group("c", "2")], &[]);
    let requests = [exactly("r", "any", 1), exactly("s", "any", 1)];
    world.claim(&requests, &[json!({ "distinctAttribute": "d/group" })]);
    assert_eq!(answer(&world, with(|_| {})), "r:p/a s:p/c");
    assert_eq!(answer(&world, per_request), "r:p/a s:p/c");
}

#[test]
fn a_request_that_gave_a_device_back_is_compared_with_nothing() {
    let mut world = World::new();
    // After a and b, c is refused for the second request; b is given back, and then any device passes for the first.
    world.pool("p", &[group("a", "1"), group("b", "2"), group("c", "1")], &[]);
    world.claim(
        &[exactly("r", "any", 2), exactly("s", "any", 1)],
        &[json!({ "distinctAttribute": "d/group" })],
    );
    assert_eq!(answer(&world, with(|_| {})), "no fit");
    let per_request = with(|release| release.compares_distinct_per_request = true);
    assert_eq!(answer(&world, per_request), "r:p/a r:p/b s:p/c");
}

#[test]
fn what_a_distinct_value_refused_fits_behind_another_device() {
    let mut world = World::new();
    world.pool("p", &[group("a", "1"), group("b", "1"), group("c", "2")], &[]);
    world.claim(
        &[exactly("r", "any", 3)],
        &[json!({ "distinctAttribute": "d/group" })],
    );
    // Behind c, the search begins anew and finds b.
    let shares = [(Gate::DRAConsumableCapacity, true)];
    assert_eq!(answer(&world, features("1.35.10", &shares)), "r:p/a r:p/c r:p/b");
    assert_eq!(answer(&world, features("1.36.4", &[])), "no fit");
}

#[test]
fn a_pool_that_contradicts_itself_comes_before_those_with_binding_conditions() {
    let gate = [(Gate::DRADeviceBindingConditions, true)];
    let binds = |name: &str| {
        let mut device = device(name);
        device["bindingConditions"] = json!(["d/ready"]);
        device["bindingFailureConditions"] = json!(["d/failed"]);
        device
    };
    let asked = |good: Value, odd: Value| {
        let mut world = World::new();
        world.pool("good", &[good], &[]);
        world.pool("odd", &[odd.clone(), odd], &[]);
        world.claim(&[exactly("r", "any", 1)], &[]);
        answer(&world, features("1.34.13", &gate))
    };
    let error = "error: pool odd is invalid: duplicate device name b";
    assert_eq!(asked(binds("a"), device("b")), error);
    assert_eq!(asked(binds("a"), binds("b")), "r:good/a");
    assert_eq!(asked(device("a"), binds("b")), "r:good/a");
}

#[test]
fn slices_with_binding_conditions_are_last_in_their_pool_where_slices_have_no_order() {
    let mut world = World::new();
    let mut binds = device("a");
    binds["bindingConditions"] = json!(["d/ready"]);
    binds["bindingFailureConditions"] = json!(["d/failed"]);
    slice(&mut world, "p-0", "p", 2, &json!({ "devices": [binds] }));
    slice(&mut world, "p-1", "p", 2, &json!({ "devices": [device("b")] }));
    world.claim(&[exactly("r", "any", 1)], &[]);
    let gate = [(Gate::DRADeviceBindingConditions, true)];
    assert_eq!(answer(&world, features("1.35.10", &gate)), "r:p/b");
    assert_eq!(answer(&world, features("1.36.4", &gate)), "r:p/a");
}

#[test]
fn distinct_values_were_compared_with_nothing_once() {
    let mut world = World::new();
    world.pool("p", &[device("none"), group("a", "1"), group("b", "1")], &[]);
    world.claim(
        &[exactly("r", "any", 2)],
        &[json!({ "distinctAttribute": "d/group" })],
    );
    assert_eq!(answer(&world, with(|_| {})), "no fit");
    let nothing = with(|release| release.compares_distinct_with_nothing = true);
    assert_eq!(answer(&world, nothing), "r:p/a r:p/b");
    // The allocator of 1.35 does not know such constraints by default, that of 1.34 does.
    assert_eq!(answer(&world, features("1.34.13", &[])), "r:p/a r:p/b");
    let unknown =
        "error: claim default/claim-0, constraint #0: empty constraint (unsupported constraint type?)";
    assert_eq!(answer(&world, features("1.35.10", &[])), unknown);
}

#[test]
fn configuration_stands_once_for_each_request_or_once_for_all() {
    let mut world = World::new();
    world.pool("p", &[device("a"), device("b"), device("c")], &[]);
    let entry = |requests: Value| json!({ "requests": requests, "opaque": { "driver": "d", "parameters": { "x": 1 } } });
    world.add(
        Kind::ResourceClaim,
        json!({
            "metadata": { "namespace": "default", "name": "claim-0" },
            "spec": { "devices": {
                "requests": [exactly("r", "x", 1), exactly("s", "x", 1)],
                "config": [entry(json!(["r", "s"])), entry(json!(["s"])), entry(json!([]))],
            } },
        }),
    );
    world.claims = 1;
    world.pool(
        "q",
        &[
            json!({ "name": "a", "attributes": { "kind": { "string": "x" } } }),
            json!({ "name": "b", "attributes": { "kind": { "string": "x" } } }),
        ],
        &[],
    );
    let of = |requests: &[&str]| {
        let requests = requests.iter().map(|name| (*name).to_owned());
        ("FromClaim".to_owned(), requests.collect::<Vec<_>>())
    };
    assert_eq!(config(&world, with(|_| {})), [of(&[]), of(&["s"]), of(&[])]);
    assert_eq!(
        config(&world, with(|release| release.keeps_covering_requests = true)),
        [of(&["r", "s"]), of(&["s"]), of(&[])]
    );
    assert_eq!(
        config(&world, with(|release| release.repeats_configs = true)),
        [of(&[]), of(&[]), of(&["s"]), of(&[])]
    );
    for release in ["1.34.13", "1.35.10", "1.36.4"] {
        assert_eq!(
            config(&world, features(release, &[])),
            [of(&["r", "s"]), of(&["r", "s"]), of(&["s"]), of(&[])],
            "{release}"
        );
    }
}

#[test]
fn an_amount_that_is_none_is_an_error_or_skips_the_device() {
    let mut world = World::new();
    let capacity = |value: &str| json!({ "memory": { "value": value } });
    world.pool(
        "p",
        &[
            json!({ "name": "odd", "allowMultipleAllocations": true, "capacity": capacity("-1") }),
            json!({ "name": "good", "allowMultipleAllocations": true, "capacity": capacity("1") }),
        ],
        &[],
    );
    world.claim(&[exactly("r", "any", 1)], &[]);
    let error = "error: claim default/claim-0, request r: checking capacity for device d/p/odd: capacity \"memory\": capacity value \
                 is negative";
    assert_eq!(answer(&world, with(|_| {})), error);
    // What comes of it is not more than there is.
    assert_eq!(
        answer(&world, with(|release| release.capacity_errors_skip = true)),
        "r:p/odd"
    );
    assert_eq!(answer(&world, features("1.36.4", &[])), "r:p/odd");
}

#[test]
fn a_negative_amount_makes_room_for_others_or_is_an_error() {
    let asks = |name: &str, amount: &str| {
        let mut request = exactly(name, "any", 1);
        request["exactly"]["capacity"] = json!({ "requests": { "memory": amount } });
        request
    };
    let mut world = World::new();
    let capacity = json!({ "memory": { "value": "8" } });
    world.pool(
        "p",
        &[json!({ "name": "a", "allowMultipleAllocations": true, "capacity": capacity })],
        &[],
    );
    world.claim(&[asks("gives", "-1"), asks("takes", "9")], &[]);
    assert_eq!(answer(&world, features("1.36.4", &[])), "gives:p/a takes:p/a");
    let error = "error: claim default/claim-0, request gives: checking capacity for device d/p/a: capacity \"memory\": capacity value \
                 is negative";
    assert_eq!(answer(&world, features("1.37.1", &[])), error);
}

#[test]
fn a_full_device_fails_a_request_for_all_or_drops_out() {
    let mut world = World::new();
    let shareable = |name: &str| json!({ "name": name, "allowMultipleAllocations": true, "capacity": { "memory": { "value": "8" } } });
    world.pool("p", &[shareable("a"), shareable("b")], &[]);
    world.add(
        Kind::ResourceClaim,
        json!({
            "metadata": { "namespace": "default", "name": "holder" },
            "status": { "allocation": { "devices": { "results": [
                { "request": "r", "driver": "d", "pool": "p", "device": "a", "shareID": "1", "consumedCapacity": { "memory": "8" } },
            ] } } },
        }),
    );
    let request = json!({ "name": "r", "exactly": { "deviceClassName": "any", "allocationMode": "All",
        "capacity": { "requests": { "memory": "1" } } } });
    world.claim(&[request], &[]);
    assert_eq!(answer(&world, with(|_| {})), "no fit");
    assert_eq!(
        answer(&world, with(|release| release.all_drops_full_devices = true)),
        "r:p/b"
    );
    assert_eq!(answer(&world, features("1.36.4", &[])), "r:p/b");
}

#[test]
fn a_share_without_amounts_uses_counters_or_not() {
    let mut world = World::new();
    let draw = json!([{ "counterSet": "set", "counters": { "units": { "value": "1" } } }]);
    world.pool(
        "p",
        &[json!({ "name": "a", "allowMultipleAllocations": true, "consumesCounters": draw })],
        &[json!({ "name": "set", "counters": { "units": { "value": "1" } } })],
    );
    world.add(
        Kind::ResourceClaim,
        json!({
            "metadata": { "namespace": "default", "name": "holder" },
            "status": { "allocation": { "devices": { "results": [
                { "request": "r", "driver": "d", "pool": "p", "device": "a", "shareID": "1" },
            ] } } },
        }),
    );
    world.claim(&[exactly("r", "any", 1)], &[]);
    assert_eq!(answer(&world, with(|_| {})), "r:p/a");
    assert_eq!(
        answer(&world, with(|release| release.bare_shares_use_nothing = true)),
        "no fit"
    );
    assert_eq!(answer(&world, features("1.36.4", &[])), "no fit");
}

#[test]
fn counters_of_another_node_make_its_pool_count_or_not() {
    let mut world = World::new();
    world.pool("p", &[device("a")], &[]);
    // One of three slices of a pool of another node, which the driver is about to complete.
    let counters = json!([{ "name": "set", "counters": { "units": { "value": "1" } } }]);
    slice(
        &mut world,
        "q-counters",
        "q",
        3,
        &json!({ "nodeName": "other", "sharedCounters": counters }),
    );
    slice(
        &mut world,
        "q-devices",
        "q",
        3,
        &json!({ "nodeName": "other", "devices": [device("b")] }),
    );
    world.claim(&[all("r", "any")], &[]);
    assert_eq!(answer(&world, with(|_| {})), "r:p/a");
    let error = "error: claim default/claim-0, request r: asks for all devices, but resource pool d/q is currently being updated";
    let reach_all = with(|release| release.counter_slices_reach_all = true);
    assert_eq!(answer(&world, reach_all), error);
    assert_eq!(answer(&world, features("1.36.4", &[])), error);
    // Without the feature the allocator ignores them.
    assert_eq!(
        answer(
            &world,
            features("1.36.4", &[(Gate::DRAPartitionableDevices, false)])
        ),
        "r:p/a"
    );
    assert_eq!(answer(&world, features("1.35.10", &[])), "r:p/a");
}

#[test]
fn lists_are_values_of_constraints_from_1_37_on() {
    let mut world = World::new();
    let list =
        |name: &str, value: &[&str]| json!({ "name": name, "attributes": { "group": { "strings": value } } });
    world.pool("p", &[list("a", &["1", "2"]), list("b", &["2"])], &[]);
    world.claim(
        &[exactly("r", "any", 2)],
        &[json!({ "matchAttribute": "d/group" })],
    );
    let gate = [(Gate::DRAListTypeAttributes, true)];
    assert_eq!(answer(&world, features("1.37.1", &gate)), "r:p/a r:p/b");
    assert_eq!(answer(&world, features("1.36.4", &gate)), "no fit");
}

#[test]
fn errors_of_selectors_name_the_device_from_1_37_on() {
    let mut world = World::new();
    world.pool("p", &[device("a")], &[]);
    let mut request = exactly("r", "any", 1);
    request["exactly"]["selectors"] =
        json!([{ "cel": { "expression": r#"device.attributes["d"].why == 1"# } }]);
    world.claim(&[request], &[]);
    let why = "no such key: why";
    assert_eq!(
        answer(&world, features("1.36.4", &[])),
        format!("error: claim default/claim-0: selector #0: CEL runtime error: {why}")
    );
    assert_eq!(
        answer(&world, features("1.37.1", &[])),
        format!(
            "error: claim default/claim-0: selector #0 on device d/p/a: CEL runtime error: {why}. consider using CEL optional chaining \
             (.? followed by orValue()) or guarding the check with has() for optional fields"
        )
    );
}

#[test]
fn the_second_of_two_devices_is_another_one_or_the_same_again() {
    let mut world = World::new();
    let shareable = |name: &str| {
        json!({ "name": name, "allowMultipleAllocations": true,
            "capacity": { "memory": { "value": "8", "requestPolicy": { "default": "4" } } } })
    };
    world.pool("p", &[shareable("a"), shareable("b")], &[]);
    world.claim(&[exactly("r", "any", 3)], &[]);
    assert_eq!(answer(&world, with(|_| {})), "no fit");
    let again = with(|release| release.starts_over_in_request = true);
    assert_eq!(answer(&world, again), "r:p/a r:p/a r:p/b");
}

#[test]
fn who_starts_over_goes_through_each_order_of_the_devices() {
    let mut world = World::new();
    let devices: Vec<Value> = ["1", "2", "3", "4", "5"]
        .iter()
        .map(|name| group(&format!("d{name}"), name))
        .collect();
    world.pool("p", &devices, &[]);
    // Each device alone is sufficient, but no two of them fit together.
    let mut requests = vec![exactly("r", "any", 3)];
    requests.push(exactly("s", "x", 1));
    world.claim(&requests, &[]);
    let again = with(|release| release.starts_over_in_request = true);
    assert_eq!(answer(&world, again), "no fit");
    let steps = |features| world.allocate(features, Limits::plain(100_000)).steps;
    let (once, each) = (steps(with(|_| {})), steps(again));
    // Ten sets of three devices, in six orders each.
    assert!(each > 4 * once, "{each} {once}");
}

#[test]
fn an_alternative_for_all_devices_continues_as_the_first_one() {
    let x = |name: &str| json!({ "name": name, "attributes": { "kind": { "string": "x" } } });
    let alternatives =
        |first: Value, second: Value| json!({ "name": "r", "firstAvailable": [first, second] });
    let three_of_any =
        json!({ "name": "three", "deviceClassName": "any", "allocationMode": "ExactCount", "count": 3 });
    let all_of_x = json!({ "name": "all", "deviceClassName": "x", "allocationMode": "All" });
    let mut world = World::new();
    world.pool("p", &[x("a"), x("b")], &[]);
    world.claim(&[alternatives(three_of_any, all_of_x.clone())], &[]);
    assert_eq!(answer(&world, with(|_| {})), "r/all:p/a r/all:p/b");
    let loses = with(|release| release.loses_subrequest_in_all = true);
    // One exclusive device, and two more of any three when only one is left.
    assert_eq!(answer(&world, loses), "no fit");
    assert_eq!(answer(&world, features("1.35.10", &[])), "no fit");
    assert_eq!(answer(&world, features("1.36.4", &[])), "r/all:p/a r/all:p/b");

    // Both want all devices: the devices of the first are allocated to the second.
    let mut world = World::new();
    let tainted = json!({ "name": "t", "taints": [{ "key": "k", "effect": "NoSchedule" }] });
    world.pool("p", &[tainted, x("a")], &[]);
    let all_of_any = json!({ "name": "any", "deviceClassName": "any", "allocationMode": "All" });
    world.claim(&[alternatives(all_of_any, all_of_x)], &[]);
    assert_eq!(answer(&world, with(|_| {})), "r/all:p/a");
    assert_eq!(answer(&world, loses), "no fit");
}

#[test]
fn a_pool_that_is_not_whole_is_used_or_not() {
    let mut world = World::new();
    slice(&mut world, "p-0", "p", 2, &json!({ "devices": [device("a")] }));
    world.claim(&[exactly("r", "any", 1)], &[]);
    assert_eq!(answer(&world, with(|_| {})), "no fit");
    assert_eq!(
        answer(&world, with(|release| release.pool_is_of_node = true)),
        "r:p/a"
    );
    for (release, expected) in [("1.34.13", "r:p/a"), ("1.35.10", "no fit"), ("1.36.4", "no fit")] {
        assert_eq!(answer(&world, features(release, &[])), expected, "{release}");
    }
    // The rest of it is on another node. For all devices a pool has to be whole on this one then.
    let mut world = World::new();
    slice(&mut world, "p-0", "p", 2, &json!({ "devices": [device("a")] }));
    slice(
        &mut world,
        "p-1",
        "p",
        2,
        &json!({ "nodeName": "other", "devices": [device("b")] }),
    );
    world.claim(&[all("r", "any")], &[]);
    assert_eq!(answer(&world, features("1.35.10", &[])), "r:p/a");
    let error = "error: claim default/claim-0, request r: asks for all devices, but resource pool d/p is currently being updated";
    assert_eq!(answer(&world, features("1.34.13", &[])), error);
    // A newer generation elsewhere is not noticed.
    let mut world = World::new();
    slice(&mut world, "p-0", "p", 2, &json!({ "devices": [device("a")] }));
    slice(
        &mut world,
        "p-1",
        "p",
        1,
        &json!({ "nodeName": "other", "devices": [device("b")],
        "pool": { "name": "p", "generation": 2, "resourceSliceCount": 1 } }),
    );
    world.claim(&[exactly("r", "any", 1)], &[]);
    assert_eq!(answer(&world, features("1.35.10", &[])), "no fit");
    assert_eq!(answer(&world, features("1.34.13", &[])), "r:p/a");
}

#[test]
fn a_pool_that_contradicts_itself_is_skipped_or_ends_the_attempt() {
    let mut world = World::new();
    world.pool("good", &[device("a")], &[]);
    world.pool("odd", &[device("b"), device("b")], &[]);
    world.claim(&[exactly("r", "any", 1)], &[]);
    let error = "pool odd is invalid: duplicate device name b";
    for release in ["1.35.10", "1.36.4", "1.37.1"] {
        assert_eq!(answer(&world, features(release, &[])), "r:good/a", "{release}");
        assert_eq!(
            certainty(&world, features(release, &[])),
            Certainty::Sure,
            "{release}"
        );
    }
    let old = features("1.34.13", &[]);
    assert_eq!(answer(&world, old), "r:good/a");
    assert_eq!(certainty(&world, old), Certainty::MayError(error.to_owned()));
    // Where nothing else has enough, every order comes to it.
    world.claims = 0;
    world.objects.retain(|(kind, _)| *kind != Kind::ResourceClaim);
    world.claim(&[exactly("r", "any", 2)], &[]);
    assert_eq!(answer(&world, old), format!("error: {error}"));
    assert_eq!(certainty(&world, old), Certainty::Sure);
    assert_eq!(answer(&world, features("1.35.10", &[])), "no fit, invalid");
    // Also where no device is free.
    let mut world = World::new();
    world.pool("odd", &[device("b"), device("b")], &[]);
    world.claim(&[exactly("r", "any", 1)], &[]);
    assert_eq!(answer(&world, old), format!("error: {error}"));
    assert_eq!(answer(&world, features("1.35.10", &[])), "no fit, invalid");
}

#[test]
fn the_first_stable_allocator_looks_for_contradictions_where_slices_are_missing() {
    let no_gates = [(Gate::DRAAdminAccess, false), (Gate::DRAPrioritizedList, false)];
    let no_shares = [
        (Gate::DRAConsumableCapacity, false),
        (Gate::DRADeviceBindingConditions, false),
    ];
    let asked = |request: Value| {
        let mut world = World::new();
        let twice = json!({ "devices": [device("a"), device("a")] });
        slice(&mut world, "p-0", "p", 2, &twice);
        world.claim(&[request], &[]);
        world
    };
    let world = asked(exactly("r", "any", 1));
    assert_eq!(answer(&world, features("1.35.10", &no_gates)), "no fit, invalid");
    assert_eq!(answer(&world, features("1.35.10", &[])), "no fit");
    assert_eq!(answer(&world, features("1.36.4", &no_shares)), "no fit");
    // For all devices, what is missing comes first.
    let error = "error: claim default/claim-0, request r: asks for all devices, but resource pool d/p is currently being updated";
    let world = asked(all("r", "any"));
    assert_eq!(answer(&world, features("1.35.10", &no_gates)), error);
}

#[test]
fn the_first_stable_allocator_takes_slices_with_counters_for_any_others() {
    let no_gates = [(Gate::DRAAdminAccess, false), (Gate::DRAPrioritizedList, false)];
    let counters = json!([{ "name": "set", "counters": { "memory": { "value": "1" } } }]);
    let newer = json!({ "name": "p", "generation": 2, "resourceSliceCount": 1 });
    let mut world = World::new();
    slice(&mut world, "p-0", "p", 1, &json!({ "devices": [device("a")] }));
    slice(
        &mut world,
        "p-1",
        "p",
        1,
        &json!({ "sharedCounters": counters, "pool": newer }),
    );
    world.claim(&[exactly("r", "any", 1)], &[]);
    assert_eq!(answer(&world, features("1.35.10", &no_gates)), "no fit");
    assert_eq!(answer(&world, features("1.35.10", &[])), "r:p/a");
}

#[test]
fn a_taint_without_effect_keeps_pods_off_or_not() {
    let taints = [(Gate::DRADeviceTaints, true)];
    let mut world = World::new();
    world.pool(
        "p",
        &[json!({ "name": "a", "taints": [{ "key": "k", "effect": "None" }] })],
        &[],
    );
    world.claim(&[exactly("r", "any", 1)], &[]);
    assert_eq!(answer(&world, with(|_| {})), "r:p/a");
    assert_eq!(
        answer(&world, with(|release| release.any_effect_blocks = true)),
        "no fit"
    );
    assert_eq!(answer(&world, features("1.34.13", &taints)), "no fit");
    assert_eq!(answer(&world, features("1.34.13", &[])), "r:p/a");
    assert_eq!(answer(&world, features("1.35.10", &taints)), "r:p/a");
}

#[test]
fn an_allocation_names_the_tolerations_or_not() {
    let mut world = World::new();
    world.pool("p", &[device("a")], &[]);
    let mut request = exactly("r", "any", 1);
    request["exactly"]["tolerations"] = json!([{ "key": "k", "operator": "Exists" }]);
    world.claim(&[request], &[]);
    let told = |features| {
        let Outcome::Allocated(allocations) = world.allocate(features, Limits::default()).outcome else {
            panic!("it fits");
        };
        !allocations[0].devices.results[0].tolerations.is_empty()
    };
    assert!(told(with(|_| {})));
    assert!(!told(with(|release| release.omits_tolerations = true)));
    assert!(!told(features("1.34.13", &[])));
    assert!(told(features("1.35.10", &[])));
}

#[test]
fn amounts_are_refused_or_ignored_where_their_gate_is_off() {
    let mut world = World::new();
    world.pool("p", &[device("a")], &[]);
    let mut request = exactly("r", "any", 1);
    request["exactly"]["capacity"] = json!({ "requests": { "memory": "1" } });
    world.claim(&[request], &[]);
    let off = [(Gate::DRAConsumableCapacity, false)];
    let error = "error: claim default/claim-0, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled";
    assert_eq!(answer(&world, features("1.34.13", &[])), error);
    assert_eq!(answer(&world, features("1.35.10", &[])), "r:p/a");
    assert_eq!(answer(&world, features("1.36.4", &off)), error);
}

#[test]
fn devices_are_one_of_several_where_a_request_finds_some_in_several_slices() {
    let mut world = World::new();
    world.pool("p", &[device("a")], &[]);
    world.pool("q", &[device("b")], &[]);
    world.claim(&[exactly("r", "any", 1)], &[]);
    assert_eq!(certainty(&world, features("1.36.4", &[])), Certainty::Sure);
    for release in ["1.34.13", "1.35.10"] {
        let Certainty::OneOf(choices) = certainty(&world, features(release, &[])) else {
            panic!("order decides in {release}");
        };
        let [choice] = choices.as_slice() else {
            panic!("{choices:?}");
        };
        let pools: Vec<&str> = choice.pools.iter().map(|pool| pool.pool.as_str()).collect();
        assert_eq!((choice.request.as_str(), pools), ("r", vec!["p", "q"]));
        assert_eq!(choice.slices, ["p-devices", "q-devices"]);
    }
    // Every device is taken, in whatever order.
    let mut world = World::new();
    world.pool("p", &[device("a")], &[]);
    world.pool("q", &[device("b")], &[]);
    world.claim(&[exactly("r", "any", 2)], &[]);
    assert_eq!(certainty(&world, features("1.35.10", &[])), Certainty::Sure);
    // All that can be taken is in one slice.
    let mut world = World::new();
    world.pool("p", &[device("a")], &[]);
    world.pool(
        "q",
        &["b", "c"].map(|name| json!({ "name": name, "attributes": { "kind": { "string": "x" } } })),
        &[],
    );
    world.claim(&[exactly("r", "x", 1)], &[]);
    assert_eq!(certainty(&world, features("1.35.10", &[])), Certainty::Sure);
}

#[test]
fn an_error_comes_first_in_some_orders_in_every_one_or_in_none() {
    let failing = |name: &str| json!({ "name": name, "attributes": { "bad": { "bool": true } } });
    let claim = |world: &mut World, count| {
        let mut request = exactly("r", "any", count);
        request["exactly"]["selectors"] = json!([{ "cel": { "expression": super::FAILS_IF_BAD } }]);
        world.claim(&[request], &[]);
    };
    let old = features("1.35.10", &[]);
    let fails = |world: &World| matches!(certainty(world, old), Certainty::MayError(_));
    // By name the device comes first, or the error does.
    for (good, bad) in [("p", "q"), ("q", "p")] {
        let mut world = World::new();
        world.pool(good, &[device("a")], &[]);
        world.pool(bad, &[failing("b")], &[]);
        claim(&mut world, 1);
        assert!(fails(&world), "{good}");
        let mut world = World::new();
        world.pool(good, &[device("a")], &[]);
        world.pool(bad, &[failing("b")], &[]);
        claim(&mut world, 2);
        assert!(answer(&world, old).starts_with("error: "));
        assert_eq!(certainty(&world, old), Certainty::Sure, "{good}");
    }
    // Within a slice the order is known.
    let mut world = World::new();
    world.pool("p", &[device("a"), failing("b")], &[]);
    world.pool("q", &[], &[]);
    claim(&mut world, 1);
    assert_eq!(answer(&world, old), "r:p/a");
    assert_eq!(certainty(&world, old), Certainty::Sure);
}

#[test]
fn an_alternative_for_all_devices_may_take_some_before_it_fails() {
    // By name the tainted device comes first. After the other device the request continues as its first alternative and
    // is satisfied.
    let mut world = World::new();
    let x = json!({ "kind": { "string": "x" } });
    let taints = json!([{ "key": "k", "effect": "NoSchedule" }]);
    world.pool(
        "p",
        &[json!({ "name": "a", "attributes": x, "taints": taints })],
        &[],
    );
    world.pool("q", &[json!({ "name": "b", "attributes": x })], &[]);
    let none = json!([{ "cel": { "expression": "false" } }]);
    let one = json!({ "name": "one", "deviceClassName": "any", "allocationMode": "ExactCount", "count": 1, "selectors": none });
    let all = json!({ "name": "all", "deviceClassName": "x", "allocationMode": "All" });
    world.claim(&[json!({ "name": "r", "firstAvailable": [one, all] })], &[]);
    let old = features("1.35.10", &[(Gate::DRADeviceTaints, true)]);
    assert_eq!(answer(&world, old), "no fit");
    assert!(matches!(certainty(&world, old), Certainty::MayDiffer(_)));
}

#[test]
fn a_constraint_over_all_devices_ends_the_attempt_before_a_later_alternative_in_some_orders() {
    // By name the device in use comes first, and the next alternative is tried. In other orders b and c contradict each other before.
    let mut world = World::new();
    world.pool("p", &[group("a", "1")], &[]);
    world.pool("q", &[group("b", "1")], &[]);
    world.pool("r", &[group("c", "2")], &[]);
    let attributes = json!({ "kind": { "string": "x" }, "group": { "string": "1" } });
    world.pool("s", &[json!({ "name": "d", "attributes": attributes })], &[]);
    world.add(
        Kind::ResourceClaim,
        json!({
            "metadata": { "namespace": "default", "name": "holder" },
            "status": { "allocation": { "devices": { "results": [
                { "request": "r", "driver": "d", "pool": "p", "device": "a" },
            ] } } },
        }),
    );
    let all = json!({ "name": "all", "deviceClassName": "any", "allocationMode": "All" });
    let one = json!({ "name": "one", "deviceClassName": "x", "allocationMode": "ExactCount", "count": 1 });
    let request = json!({ "name": "r", "firstAvailable": [all, one] });
    world.claim(&[request], &[json!({ "matchAttribute": "d/group" })]);
    let old = features("1.35.10", &[]);
    assert_eq!(answer(&world, old), "r/one:s/d");
    assert!(matches!(certainty(&world, old), Certainty::MayError(_)));
    assert_eq!(certainty(&world, features("1.36.4", &[])), Certainty::Sure);
}

#[test]
fn a_selector_that_no_allocation_can_hold_ends_the_attempt_in_some_orders() {
    let mut world = World::new();
    world.pool("p", &[device("a")], &[]);
    let term = json!({ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["node"] }] });
    let selector = json!({ "nodeSelectorTerms": [term, term] });
    slice(
        &mut world,
        "q-0",
        "q",
        1,
        &json!({ "nodeName": null, "nodeSelector": selector, "devices": [device("b")] }),
    );
    world.claim(&[exactly("r", "any", 1)], &[]);
    assert_eq!(certainty(&world, features("1.36.4", &[])), Certainty::Sure);
    let error = "create NodeSelector for claim claim-0: unsupported ResourceSlice.NodeSelector with 2 terms";
    assert_eq!(
        certainty(&world, features("1.35.10", &[])),
        Certainty::MayError(error.to_owned())
    );
}

#[test]
fn a_view_of_old_releases_is_shared_like_any_other() {
    let mut world = World::new();
    slice(
        &mut world,
        "p-0",
        "p",
        2,
        &json!({ "nodeName": null, "allNodes": true, "devices": [device("a")] }),
    );
    world.claim(&[exactly("r", "any", 1)], &[]);
    let cluster = world.cluster();
    let inputs = Inputs::new(&cluster, features("1.34.13", &[]));
    let demand = inputs.demand(&world.demanded(&cluster));
    let node = cluster.node("node").unwrap();
    for _ in 0..2 {
        let attempt = inputs.allocate(node, &demand, Limits::default(), &());
        assert!(matches!(attempt.outcome, Outcome::Allocated(_)));
    }
}
