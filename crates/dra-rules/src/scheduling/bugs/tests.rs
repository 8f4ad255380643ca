//! Each bug is found in a world that has it and not in one like it without, at the patch before the fix and not at the fix.

use serde_json::{Value, json};

use super::*;
use dra_model::{Evidence, GateState, Kind};
use dra_testing::World;

#[test]
fn a_bug_ends_with_the_patch_that_fixed_it() {
    let version = |text: &str| text.parse::<Version>().unwrap();
    let bug = |since, fixed| Bug {
        issue: 1,
        component: Component::Scheduler,
        since: (since, 0),
        fixed,
        gates: &[],
        harm: Harm::Pending,
        is_imitated: false,
        shows: |_| Vec::new(),
        what: "",
    };
    for (since, fixed, release, expected) in [
        (34, &[(36, 3)][..], "1.34.9", Some("1.36.3")),
        (34, &[(36, 3)], "1.36.2", Some("1.36.3")),
        (34, &[(36, 3)], "1.36.3", None),
        (34, &[(36, 3)], "1.37.0", None),
        (36, &[(36, 4)], "1.35.8", None),
        (34, &[(34, 12), (37, 1)], "1.34.11", Some("1.34.12")),
        (34, &[(34, 12), (37, 1)], "1.34.12", None),
        (34, &[(34, 12), (37, 1)], "1.37.0", Some("1.37.1")),
        (34, &[(34, 2)], "1.35.0", None),
        (34, &[(37, 0)], "1.36.6", Some("1.37.0")),
        (34, &[(37, 0)], "1.38.0", None),
    ] {
        let fix = bug(since, fixed).fix_for(version(release));
        assert_eq!(fix, expected.map(version), "{release}");
    }
}

fn at(world: World, release: &str, gates: &[(Gate, bool)]) -> Cluster {
    let world = world.knowing(|environment| {
        environment.version = release.parse().unwrap();
        environment.git_version = Some(format!("v{release}"));
        environment.emulated_minor = environment.version.minor;
        environment.min_compatibility_minor = environment.version.minor - 1;
        for (gate, enabled) in gates {
            let state = GateState {
                enabled: *enabled,
                evidence: Evidence::Flag,
            };
            for component in [Component::Scheduler, Component::ControllerManager] {
                environment.gates.push((component, *gate, state.clone()));
            }
        }
    });
    world.build()
}

fn request(more: Value) -> Value {
    let mut exactly = json!({"deviceClassName": "d", "allocationMode": "ExactCount", "count": 1});
    for (key, value) in more.as_object().unwrap() {
        exactly[key] = value.clone();
    }
    json!({"name": "r", "exactly": exactly})
}

fn asking(world: World, request: Value, more: Value) -> World {
    let mut devices = json!({"requests": [request]});
    for (key, value) in more.as_object().unwrap() {
        devices[key] = value.clone();
    }
    world
        .class("d")
        .claim("c", &json!({"devices": devices}), &json!({}))
}

fn plain(world: World) -> World {
    asking(world, request(json!({})), json!({}))
}

fn of_all(world: World) -> World {
    asking(
        world,
        request(json!({"allocationMode": "All", "count": 0})),
        json!({}),
    )
}

fn slice(devices: Value) -> World {
    World::default().slice("p", &devices)
}

fn draws() -> Value {
    json!([{"counterSet": "s", "counters": {"c": {"value": "1"}}}])
}

/// Counters in a pool of the name `p` of this driver.
fn partitions(world: World, driver: &str, pool: &str) -> World {
    let spec = json!({"driver": driver, "nodeName": "node-1", "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1},
                      "devices": [{"name": "x", "consumesCounters": draws()}]});
    let metadata = json!({"name": format!("{driver}-{pool}")});
    world.with(Kind::ResourceSlice, &json!({"metadata": metadata, "spec": spec}))
}

fn rule(selector: Value) -> World {
    plain(World::default().rule("rule", &selector, "NoSchedule"))
}

fn allocated(world: World, name: &str, terms: Value) -> World {
    let mut status = json!({"allocation": {"devices": {"results": [
        {"request": "r", "driver": "d", "pool": "p", "device": "x"}]}}});
    if !terms.is_null() {
        status["allocation"]["nodeSelector"] = json!({"nodeSelectorTerms": [terms]});
    }
    world.claim(name, &json!({}), &status)
}

fn mixed(terms: Value) -> World {
    let world = plain(allocated(World::default(), "shared", terms));
    let claims: Vec<_> = ["shared", "c"]
        .into_iter()
        .map(|name| json!({"name": name, "resourceClaimName": name}))
        .collect();
    let metadata = json!({"namespace": "n", "name": "p", "uid": "p-uid"});
    world.with(
        Kind::Pod,
        &json!({"metadata": metadata, "spec": {"resourceClaims": claims}}),
    )
}

fn configured(requests: Value) -> World {
    let config = json!([{"requests": requests, "opaque": {"driver": "d", "parameters": {}}}]);
    let second =
        json!({"name": "q", "exactly": {"deviceClassName": "d", "allocationMode": "ExactCount", "count": 1}});
    let devices = json!({"requests": [request(json!({})), second], "config": config});
    World::default()
        .class("d")
        .claim("c", &json!({"devices": devices}), &json!({}))
}

fn class(config: Value) -> World {
    let metadata = json!({"name": "k"});
    plain(World::default()).with(
        Kind::DeviceClass,
        &json!({"metadata": metadata, "spec": {"config": config}}),
    )
}

fn distinct(count: i64) -> World {
    let constraints = json!([{"distinctAttribute": "d/a"}]);
    asking(
        World::default(),
        request(json!({"count": count})),
        json!({"constraints": constraints}),
    )
}

/// A claim for an amount of a capacity with a default and no steps.
fn of_amount(amount: &str) -> World {
    let memory = json!({"value": "8Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi"}}});
    asking(
        slice(json!([{"name": "x", "allowMultipleAllocations": true, "capacity": {"m": memory}}])),
        request(json!({"capacity": {"requests": {"m": amount}}})),
        json!({}),
    )
}

/// A claim for a capacity, and a device of driver `d` that has one.
fn of_capacity(published: &str, requested: &str) -> World {
    asking(
        slice(json!([{"name": "x", "capacity": {published: {"value": "1"}}}])),
        request(json!({"capacity": {"requests": {requested: "1"}}})),
        json!({}),
    )
}

/// A claim beside a device that draws so much of a counter.
fn drawing(amount: &str) -> World {
    let draws = json!([{"counterSet": "s", "counters": {"c": {"value": amount}}}]);
    plain(slice(json!([{"name": "x", "consumesCounters": draws}])))
}

/// A pod whose claim for an extended resource has a device with a taint.
fn of_extended(effect: &str) -> World {
    let taints = json!([{"key": "k", "effect": effect, "timeAdded": "2026-11-21T10:00:00Z"}]);
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p-uid", "controller": true});
    let world = slice(json!([{"name": "x", "taints": taints}]));
    let world = world.with(
        Kind::ResourceClaim,
        &json!({"metadata": {"namespace": "n", "name": "c", "ownerReferences": [owner]}, "status": {
            "allocation": {"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]}},
            "reservedFor": [{"resource": "pods", "name": "p", "uid": "p-uid"}]}}),
    );
    world.with(
        Kind::Pod,
        &json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid"}, "spec": {"nodeName": "node-1"},
            "status": {"phase": "Running", "extendedResourceClaimStatus": {"resourceClaimName": "c"}}}),
    )
}

/// A claim for the class of a device that draws from counters and is held as a share, with this much of its capacity.
fn shared(consumed: &Value) -> World {
    let device = json!([{"name": "x", "allowMultipleAllocations": true, "consumesCounters": draws()}]);
    let result = json!({"request": "r", "driver": "d", "pool": "p", "device": "x",
        "shareID": "0b7c1a52-3f0e-4a57-9f31-8f1f3c8d7e11", "consumedCapacity": consumed});
    let status = json!({"allocation": {"devices": {"results": [result]}}});
    plain(slice(device)).claim("held", &json!({}), &status)
}

/// A claim whose devices have to share an attribute that a device has as this.
fn matching(value: Value) -> World {
    let constraints = json!([{"matchAttribute": "d/a"}]);
    asking(
        slice(json!([{"name": "x", "attributes": {"a": value}}])),
        request(json!({})),
        json!({"constraints": constraints}),
    )
}

/// A slice of a pool that lacks another one.
fn incomplete(counters: Value) -> World {
    let pool = json!({"name": "p", "generation": 1, "resourceSliceCount": 2});
    let spec = json!({"driver": "d", "nodeName": "node-1", "pool": pool, "sharedCounters": counters});
    World::default().with(
        Kind::ResourceSlice,
        &json!({"metadata": {"name": "s"}, "spec": spec}),
    )
}

/// A request with alternatives in these modes.
/// A pod with a claim on a node whose kubelet has this version.
fn on_kubelet(version: &str) -> World {
    let node = json!({"metadata": {"name": "node-1"}, "status": {"nodeInfo": {"kubeletVersion": version}}});
    let pod = json!({"metadata": {"namespace": "n", "name": "p"},
        "spec": {"nodeName": "node-1", "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}});
    World::default().with(Kind::Node, &node).with(Kind::Pod, &pod)
}

/// A pod that waits with these claims beside one that runs with the first, `shared`.
fn behind(version: &str, claims: &[&str]) -> World {
    let pod = |name: &str, phase: &str, claims: &[&str]| {
        let entries: Vec<Value> = claims
            .iter()
            .map(|claim| json!({"name": claim, "resourceClaimName": claim}))
            .collect();
        json!({"metadata": {"namespace": "n", "name": name, "uid": name}, "status": {"phase": phase},
            "spec": {"nodeName": "node-1", "resourceClaims": entries}})
    };
    on_kubelet(version)
        .claim("shared", &json!({}), &json!({}))
        .claim("own", &json!({}), &json!({}))
        .with(Kind::Pod, &pod("p", "Pending", claims))
        .with(Kind::Pod, &pod("q", "Running", &["shared"]))
}

/// A pod whose extended resource DRA provides, and that the kubelet has rejected for this reason.
fn rejected(version: &str, reason: &str) -> World {
    let node = json!({"metadata": {"name": "node-1"}, "status": {
        "nodeInfo": {"kubeletVersion": version}, "allocatable": {"cpu": "8", "example.com/gpu": "0"}}});
    let mapping = json!({"containerName": "main", "resourceName": "example.com/gpu", "requestName": "r"});
    let pod = json!({"metadata": {"namespace": "n", "name": "p"}, "spec": {"nodeName": "node-1"},
        "status": {"phase": "Failed", "reason": reason,
            "extendedResourceClaimStatus": {"resourceClaimName": "c", "requestMappings": [mapping]}}});
    World::default().with(Kind::Node, &node).with(Kind::Pod, &pod)
}

/// Another resource that the node lacks is no bug.
#[test]
fn a_pod_is_rejected_by_the_bug_only_for_what_dra_provides() {
    let found = |reason: &str| {
        let cluster = at(rejected("v1.35.8", reason), "1.35.8", &[]);
        exposures(&cluster)
            .iter()
            .any(|exposure| exposure.bug.issue == 135_669)
    };
    assert!(found("OutOfexample.com/gpu"));
    assert!(!found("OutOfcpu"));
}

fn alternatives(modes: [&str; 2]) -> World {
    let alternative = |(number, mode): (usize, &str)| {
        let count = i32::from(mode != "All");
        json!({"name": format!("a{number}"), "deviceClassName": "d", "allocationMode": mode, "count": count})
    };
    let alternatives: Vec<Value> = modes.into_iter().enumerate().map(alternative).collect();
    let spec = json!({"devices": {"requests": [{"name": "r", "firstAvailable": alternatives}]}});
    World::default().class("d").claim("c", &spec, &json!({}))
}

/// A request that tolerates any taint of this effect.
fn tolerating(effect: &str) -> World {
    let tolerations = json!([{"operator": "Exists", "effect": effect}]);
    asking(
        World::default(),
        request(json!({"tolerations": tolerations})),
        json!({}),
    )
}

/// A pool with two slices, for these nodes.
fn of_nodes(nodes: [&str; 2]) -> World {
    let slice = |world: World, (number, node): (usize, &str)| {
        let pool = json!({"name": "p", "generation": 1, "resourceSliceCount": 2});
        let spec = json!({"driver": "d", "nodeName": node, "pool": pool, "devices": [{"name": format!("x{number}")}]});
        let metadata = json!({"name": format!("s{number}")});
        world.with(Kind::ResourceSlice, &json!({"metadata": metadata, "spec": spec}))
    };
    nodes.into_iter().enumerate().fold(World::default(), slice)
}

/// A message about the pods that stay, not about requests for devices.
#[test]
fn a_pod_that_stays_on_a_tainted_device_is_reported_alone() {
    let cluster = at(of_extended("NoExecute"), "1.37.1", &[]);
    let pods: Vec<_> = cluster.pods().collect();
    let told = told(&cluster, Some(pods[0]), &[], false);
    assert_eq!((told.doubts, told.notes), (Vec::new(), Vec::new()));
    let about = of_placed(&cluster, Some(pods[0])).pop().expect("it stays");
    assert_eq!(
        about.text(&cluster),
        "a known bug: kube-controller-manager before 1.37.2 never evicts a pod from a tainted device that it \
        uses through an extended resource (kubernetes/kubernetes#141290)"
    );
    let mut other = (**pods[0]).clone();
    other.metadata.name = "other".into();
    assert!(of_placed(&cluster, Some(&other)).is_empty());
    assert!(of_placed(&at(of_extended("NoExecute"), "1.37.2", &[]), None).is_empty());
}

#[test]
fn a_name_of_a_capacity_is_a_bug_where_a_device_has_it_in_the_other_form() {
    let of_names = |published: &[&str], requested: &[&str], more: Value| {
        let capacity = |names: &[&str], amount: fn() -> Value| {
            let entries = names.iter().map(|name| ((*name).to_owned(), amount()));
            Value::Object(entries.collect())
        };
        let capacities = capacity(published, || json!({"value": "1"}));
        let mut ask = request(json!({"capacity": {"requests": capacity(requested, || json!("1"))}}));
        for (key, value) in more.as_object().unwrap() {
            ask["exactly"][key] = value.clone();
        }
        asking(
            slice(json!([{"name": "x", "capacity": capacities}])),
            ask,
            json!({}),
        )
    };
    let selecting = |expression: &str| json!({"selectors": [{"cel": {"expression": expression}}]});
    for (published, requested, more, expected) in [
        (&["d/m"][..], &["m"][..], json!({}), true),
        (&["m"], &["d/m"], json!({}), true),
        (&["m", "d/n"], &["m", "n"], json!({}), true),
        // The device has it under both names, and it is what the request gets.
        (&["m", "d/m"], &["m"], json!({}), false),
        (&["m", "d/m"], &["d/m"], json!({}), false),
        (&["m"], &["m"], json!({}), false),
        // Other capacities, be it beside one that is named otherwise.
        (&["e/m"], &["m"], json!({}), false),
        (&["m"], &["e/m"], json!({}), false),
        (&["d/m"], &["m", "n"], json!({}), false),
        // The device is not for the request.
        (&["d/m"], &["m"], json!({"deviceClassName": "other"}), false),
        (&["d/m"], &["m"], selecting("device.driver == 'e'"), false),
        (&["d/m"], &["m"], selecting("device.driver == 'd'"), true),
        // Whether it is remains open.
        (&["d/m"], &["m"], selecting("device.attributes['d'].a == 1"), true),
        // A request without capacities.
        (&["d/m"], &[], json!({}), false),
    ] {
        let world = of_names(published, requested, more.clone());
        let cluster = at(world, "1.37.2", SHARES);
        let mut found = exposures(&cluster).into_iter();
        let is_found = found.any(|exposure| exposure.bug.issue == 140_650);
        assert_eq!(is_found, expected, "{requested:?} of {published:?}, {more}");
        let claims: Vec<_> = cluster.claims().collect();
        let claims: Vec<&Claim> = claims.iter().map(|claim| &***claim).collect();
        let notes = told(&cluster, None, &claims, false).notes.join(" ");
        assert_eq!(notes.contains("#140650)"), expected, "{notes}");
    }
}

#[test]
fn an_alternative_or_a_template_can_name_a_capacity_in_the_other_form() {
    let capacity = json!({"requests": {"m": "1"}});
    let alternatives = json!([{"name": "a", "deviceClassName": "d", "allocationMode": "ExactCount", "count": 1},
        {"name": "b", "deviceClassName": "d", "allocationMode": "ExactCount", "count": 1, "capacity": capacity}]);
    let spec = json!({"devices": {"requests": [{"name": "r", "firstAvailable": alternatives}]}});
    let device = json!([{"name": "x", "capacity": {"d/m": {"value": "1"}}}]);
    let world = slice(device).class("d").claim("c", &spec, &json!({})).with(
        Kind::ResourceClaimTemplate,
        &json!({"metadata": {"namespace": "n", "name": "t"}, "spec": {"spec": spec}}),
    );
    let cluster = at(world, "1.37.2", SHARES);
    let mut found = exposures(&cluster).into_iter();
    let exposure = found.find(|exposure| exposure.bug.issue == 140_650).unwrap();
    assert_eq!(exposure.by, ["claim/n/c", "template/n/t"]);
}

#[test]
fn an_amount_that_is_rounded_or_taken_as_it_is_does_not_change() {
    for policy in [
        json!({"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}),
        json!({"default": "1Gi", "validValues": ["1Gi", "2Gi"]}),
        Value::Null,
    ] {
        let memory = json!({"value": "8Gi", "requestPolicy": policy});
        let world = asking(
            slice(json!([{"name": "x", "allowMultipleAllocations": true, "capacity": {"m": memory}}])),
            request(json!({"capacity": {"requests": {"m": "1.5Gi"}}})),
            json!({}),
        );
        let cluster = at(world, "1.36.6", SHARES);
        let found = exposures(&cluster);
        assert!(
            found.iter().all(|one| one.bug.issue != 140_702),
            "{policy}: {found:?}"
        );
    }
}

#[test]
fn an_amount_does_not_change_where_a_pod_asks_for_one_device() {
    let cluster = at(of_amount("1.5Gi"), "1.36.6", SHARES);
    let claim = cluster.claims().next().unwrap().clone();
    let again = told(&cluster, None, &[&claim, &claim], false);
    assert!(
        again.doubts.iter().any(|doubt| doubt.contains("140702")),
        "{again:?}"
    );
    let once = told(&cluster, None, &[&claim], false);
    assert_eq!(once.doubts, [""; 0]);
}

/// A world that has the bug and one that has not, otherwise alike; releases that are the last to have it, and the first without.
struct Row {
    issue: u32,
    has: fn() -> World,
    has_not: fn() -> World,
    by: &'static str,
    last: &'static [&'static str],
    first_without: &'static [&'static str],
    gates: &'static [(Gate, bool)],
}

const TAINT_RULES: &[(Gate, bool)] = &[(Gate::DRADeviceTaints, true), (Gate::DRADeviceTaintRules, true)];
const SHARES: &[(Gate, bool)] = &[(Gate::DRAConsumableCapacity, true)];
const PARTITIONS: &[(Gate, bool)] = &[(Gate::DRAPartitionableDevices, true)];
const BOTH: &[(Gate, bool)] = &[
    (Gate::DRAConsumableCapacity, true),
    (Gate::DRAPartitionableDevices, true),
];

const ROWS: &[Row] = &[
    Row {
        issue: 141_998,
        has: || rule(Value::Null),
        has_not: || rule(json!({"driver": "d"})),
        by: "devicetaintrule/rule",
        last: &["1.34.13", "1.35.10", "1.36.6", "1.37.0"],
        first_without: &["1.37.1"],
        gates: TAINT_RULES,
    },
    Row {
        issue: 141_922,
        has: || {
            let second = json!({"name": "q", "exactly": {"deviceClassName": "d", "allocationMode": "ExactCount", "count": 1}});
            let first = request(json!({"count": i64::MAX}));
            World::default().class("d").claim(
                "c",
                &json!({"devices": {"requests": [first, second]}}),
                &json!({}),
            )
        },
        has_not: || asking(World::default(), request(json!({"count": i64::MAX})), json!({})),
        by: "claim/n/c",
        last: &["1.34.11", "1.35.8", "1.36.4", "1.37.0"],
        first_without: &["1.34.12", "1.35.9", "1.36.5", "1.37.1"],
        gates: &[],
    },
    Row {
        issue: 141_898,
        has: || {
            let spec = json!({"nodeName": "node-1", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 2}});
            of_all(World::default().slice_with("p", &spec))
        },
        has_not: || of_all(slice(json!([{"name": "x"}]))),
        by: "pool/d/p",
        last: &["1.34.13", "1.35.10", "1.36.6", "1.37.2"],
        first_without: &["1.38.0"],
        gates: &[],
    },
    Row {
        issue: 141_290,
        has: || of_extended("NoExecute"),
        has_not: || of_extended("NoSchedule"),
        by: "pod/n/p (taint k:NoExecute)",
        last: &["1.34.13", "1.35.10", "1.36.6", "1.37.1"],
        first_without: &["1.37.2"],
        gates: &[(Gate::DRADeviceTaints, true)],
    },
    Row {
        issue: 140_769,
        has: || of_all(slice(json!([{"name": "x", "allowMultipleAllocations": true}]))),
        has_not: || of_all(slice(json!([{"name": "x"}]))),
        by: "claim/n/c",
        last: &["1.34.13", "1.35.10", "1.36.6"],
        first_without: &["1.37.0"],
        gates: SHARES,
    },
    Row {
        issue: 140_702,
        has: || of_amount("1.5Gi"),
        has_not: || of_amount("2Gi"),
        by: "claim/n/c",
        last: &["1.34.13", "1.35.10", "1.36.6"],
        first_without: &["1.37.0"],
        gates: SHARES,
    },
    Row {
        issue: 140_650,
        has: || of_capacity("d/m", "m"),
        has_not: || of_capacity("m", "m"),
        by: "claim/n/c",
        last: &["1.34.13", "1.35.10", "1.36.6", "1.37.2"],
        first_without: &["1.38.0"],
        gates: SHARES,
    },
    Row {
        issue: 140_518,
        has: || drawing("1.5Gi"),
        has_not: || drawing("1536Mi"),
        by: "pool/d/p",
        last: &["1.34.13", "1.35.10", "1.36.6"],
        first_without: &["1.37.0"],
        gates: PARTITIONS,
    },
    Row {
        issue: 140_442,
        has: || {
            asking(
                World::default(),
                request(json!({"capacity": {"requests": {"m": "-1"}}})),
                json!({}),
            )
        },
        has_not: || {
            asking(
                World::default(),
                request(json!({"capacity": {"requests": {"m": "1Gi"}}})),
                json!({}),
            )
        },
        by: "claim/n/c",
        last: &["1.34.13", "1.35.10", "1.36.6"],
        first_without: &["1.37.0"],
        gates: SHARES,
    },
    Row {
        issue: 140_438,
        has: || distinct(3),
        has_not: || distinct(1),
        by: "claim/n/c",
        last: &["1.34.13", "1.35.10", "1.36.6"],
        first_without: &["1.37.0"],
        gates: SHARES,
    },
    Row {
        issue: 140_437,
        has: || shared(&json!({})),
        has_not: || shared(&json!({"m": "1"})),
        by: "claim/n/c",
        last: &["1.36.2", "1.36.6"],
        // Before 1.36.2 the counters of shares do not count at all.
        first_without: &["1.36.1", "1.37.0"],
        gates: BOTH,
    },
    Row {
        issue: 140_435,
        has: || plain(partitions(partitions(World::default(), "d", "p"), "e", "p")),
        has_not: || plain(partitions(partitions(World::default(), "d", "p"), "e", "q")),
        by: "pool/d/p",
        last: &["1.35.10", "1.36.3"],
        first_without: &["1.36.4", "1.37.0"],
        gates: PARTITIONS,
    },
    Row {
        issue: 140_431,
        has: || plain(partitions(World::default(), "d", "p")),
        has_not: || plain(slice(json!([{"name": "x"}]))),
        by: "claim/n/c",
        last: &["1.34.13", "1.35.10", "1.36.2"],
        first_without: &["1.36.3", "1.37.0"],
        gates: PARTITIONS,
    },
    Row {
        issue: 139_732,
        has: || configured(json!(["r", "q"])),
        has_not: || configured(json!([])),
        by: "claim/n/c",
        last: &["1.34.13", "1.35.10", "1.36.6"],
        first_without: &["1.37.0"],
        gates: &[],
    },
    Row {
        issue: 139_681,
        has: || rule(json!({"driver": "d"})),
        has_not: || plain(World::default()),
        by: "devicetaintrule/rule",
        last: &["1.36.0", "1.36.2"],
        first_without: &["1.35.10", "1.36.3", "1.37.0"],
        gates: TAINT_RULES,
    },
    Row {
        issue: 139_332,
        has: || matching(json!({"strings": ["x", "y"]})),
        has_not: || matching(json!({"string": "x"})),
        by: "claim/n/c",
        last: &["1.36.0", "1.36.6"],
        first_without: &["1.35.10", "1.37.0"],
        gates: &[(Gate::DRAListTypeAttributes, true)],
    },
    Row {
        issue: 139_040,
        has: || {
            let device =
                json!([{"name": "x", "allowMultipleAllocations": true, "consumesCounters": draws()}]);
            plain(slice(device))
        },
        has_not: || {
            let devices = json!([{"name": "x", "allowMultipleAllocations": true}, {"name": "y", "consumesCounters": draws()}]);
            plain(slice(devices))
        },
        by: "device/d/p/x",
        last: &["1.35.10", "1.36.1"],
        first_without: &["1.36.2", "1.37.0"],
        gates: BOTH,
    },
    Row {
        issue: 139_016,
        has: || mixed(Value::Null),
        has_not: || {
            mixed(json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}))
        },
        by: "pod/n/p",
        last: &["1.35.5", "1.36.1"],
        first_without: &["1.34.13", "1.35.6", "1.36.2", "1.37.0"],
        gates: &[],
    },
    Row {
        issue: 138_917,
        has: || {
            of_all(incomplete(
                json!([{"name": "s", "counters": {"c": {"value": "1"}}}]),
            ))
        },
        has_not: || of_all(incomplete(json!([]))),
        by: "pool/d/p",
        last: &["1.35.10", "1.36.6"],
        first_without: &["1.34.13", "1.37.0"],
        gates: PARTITIONS,
    },
    Row {
        issue: 138_885,
        has: || of_all(partitions(World::default(), "d", "p")),
        // The class selects devices of another driver.
        has_not: || of_all(partitions(World::default(), "e", "p")),
        by: "claim/n/c",
        last: &["1.35.5", "1.36.1"],
        first_without: &["1.34.13", "1.35.6", "1.36.2", "1.37.0"],
        gates: PARTITIONS,
    },
    Row {
        issue: 137_347,
        has: || alternatives(["ExactCount", "All"]),
        has_not: || alternatives(["All", "ExactCount"]),
        by: "claim/n/c",
        last: &["1.34.13", "1.35.10"],
        first_without: &["1.36.0"],
        gates: &[(Gate::DRAPrioritizedList, true)],
    },
    Row {
        issue: 136_566,
        has: || plain(World::default()),
        has_not: World::default,
        by: "claim/n/c",
        last: &["1.34.3", "1.35.0"],
        first_without: &["1.34.4", "1.35.1", "1.36.0"],
        gates: &[],
    },
    Row {
        issue: 135_901,
        has: || behind("v1.34.3", &["shared", "own"]),
        has_not: || behind("v1.34.3", &["own", "shared"]),
        by: "pod/n/p",
        last: &["1.34.3", "1.36.0"],
        first_without: &[],
        gates: &[],
    },
    Row {
        issue: 135_669,
        has: || rejected("v1.35.8", "OutOfexample.com/gpu"),
        has_not: || rejected("v1.36.0", "OutOfexample.com/gpu"),
        by: "pod/n/p",
        last: &["1.35.8", "1.36.0", "1.37.0"],
        first_without: &[],
        gates: &[],
    },
    Row {
        issue: 135_098,
        has: || class(json!([{"opaque": {"driver": "d", "parameters": {}}}])),
        has_not: || class(json!([])),
        by: "deviceclass/k",
        last: &["1.34.1"],
        first_without: &["1.34.2", "1.35.0"],
        gates: &[],
    },
    Row {
        issue: 134_479,
        has: || tolerating("NoExecute"),
        has_not: || tolerating("NoSchedule"),
        by: "claim/n/c",
        last: &["1.34.0", "1.34.13"],
        first_without: &["1.35.0"],
        gates: &[(Gate::DRADeviceTaints, true)],
    },
    Row {
        issue: 134_466,
        has: || of_all(of_nodes(["node-1", "node-2"])),
        has_not: || of_all(of_nodes(["node-1", "node-1"])),
        by: "pool/d/p",
        last: &["1.34.0", "1.34.13"],
        first_without: &["1.35.0"],
        gates: &[],
    },
    Row {
        issue: 133_920,
        has: || on_kubelet("v1.34.1+vendor.1"),
        has_not: || on_kubelet("v1.34.2"),
        by: "node/node-1",
        // The release of the control plane does not matter.
        last: &["1.34.1", "1.35.0", "1.37.0"],
        first_without: &[],
        gates: &[],
    },
    Row {
        issue: 133_706,
        has: || plain(slice(json!([{"name": "x", "allowMultipleAllocations": true}]))),
        has_not: || plain(slice(json!([{"name": "x"}]))),
        by: "device/d/p/x",
        last: &["1.34.0", "1.34.13"],
        first_without: &["1.35.0", "1.36.0"],
        gates: SHARES,
    },
];

#[test]
fn every_bug_is_found_where_it_is_and_not_where_it_is_not() {
    let issues: Vec<u32> = ROWS.iter().map(|row| row.issue).collect();
    assert_eq!(issues, BUGS.iter().map(|bug| bug.issue).collect::<Vec<_>>());
    for row in ROWS {
        let found = |world: World, release: &str, gates: &[(Gate, bool)]| {
            let cluster = at(world, release, gates);
            let mut exposures = exposures(&cluster).into_iter();
            exposures.find(|exposure| exposure.bug.issue == row.issue)
        };
        for release in row.last {
            let exposure = found((row.has)(), release, row.gates);
            let Some(exposure) = exposure else {
                panic!("{} is not found in {release}", row.issue);
            };
            assert_eq!(exposure.by[0], row.by, "{} in {release}", row.issue);
            assert!(
                found((row.has_not)(), release, row.gates).is_none(),
                "{} in {release}",
                row.issue
            );
            for gate in BUGS.iter().find(|bug| bug.issue == row.issue).unwrap().gates {
                let minor = release.parse::<Version>().unwrap().minor;
                if gate.stage_in(minor).is_some() && !gate.is_locked_in(minor) {
                    let off: Vec<_> = row
                        .gates
                        .iter()
                        .copied()
                        .filter(|(of, _)| of != gate)
                        .chain([(*gate, false)])
                        .collect();
                    assert!(
                        found((row.has)(), release, &off).is_none(),
                        "{} without {gate}",
                        row.issue
                    );
                }
            }
        }
        for release in row.first_without {
            assert!(
                found((row.has)(), release, row.gates).is_none(),
                "{} in {release}",
                row.issue
            );
        }
    }
}

#[test]
fn a_build_of_a_vendor_counts_as_its_upstream_patch() {
    for (said, told) in [
        ("v1.36.2", None),
        (
            "v1.36.2-gke.1234000",
            Some("v1.36.2-gke.1234000 is treated as 1.36.2; its vendor may have backported fixes"),
        ),
        (
            "v1.36.2+k3s1",
            Some("v1.36.2+k3s1 is treated as 1.36.2; its vendor may have backported fixes"),
        ),
    ] {
        let world = rule(json!({"driver": "d"})).knowing(|environment| {
            environment.version = said.parse().unwrap();
            environment.emulated_minor = environment.version.minor;
            environment.git_version = Some(said.to_owned());
            for (gate, enabled) in TAINT_RULES {
                let state = GateState {
                    enabled: *enabled,
                    evidence: Evidence::Flag,
                };
                environment.gates.push((Component::Scheduler, *gate, state));
            }
        });
        let cluster = world.build();
        assert_eq!(vendor(&cluster).as_deref(), told, "{said}");
        assert!(
            exposures(&cluster)
                .iter()
                .any(|exposure| exposure.bug.issue == 139_681),
            "{said}"
        );
        let claims: Vec<_> = cluster.claims().collect();
        let claims: Vec<&Claim> = claims.iter().map(|claim| &***claim).collect();
        let doubts = super::told(&cluster, None, &claims, false).doubts;
        let expected = "a known bug: kube-scheduler before 1.36.3 can panic on DeviceTaintRules, or ignore \
                       them (kubernetes/kubernetes#139681)";
        assert!(doubts[0].starts_with(expected), "{doubts:?}");
        assert_eq!(doubts[0].len() > expected.len(), told.is_some(), "{doubts:?}");
    }
}

/// As the allocators of 1.35.10 and 1.36.6 write configurations, and a real 1.35.8 did.
#[test]
fn a_configuration_is_repeated_only_where_it_names_several_requests() {
    for (requests, expected) in [
        (json!([]), false),
        (json!(["r"]), false),
        (json!(["r/a", "r/b"]), false),
        (json!(["r", "q"]), true),
        (json!(["r/a", "q"]), true),
    ] {
        let cluster = at(configured(requests.clone()), "1.36.6", &[]);
        let mut exposures = exposures(&cluster).into_iter();
        let found = exposures.any(|exposure| exposure.bug.issue == 139_732);
        assert_eq!(found, expected, "{requests}");
    }
}
