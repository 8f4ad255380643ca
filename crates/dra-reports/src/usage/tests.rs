use serde_json::{Value, json};

use super::*;
use crate::ClusterStatus;
use dra_rules::scheduling::in_order;
use dra_testing::{World, holding, json_of, now, status};

fn status_by(cluster: &Cluster, by: UsageBy) -> ClusterStatus {
    crate::status(cluster, &Selection::default(), by, now(), &in_order)
}

fn usage(cluster: &Cluster, by: UsageBy) -> Value {
    json_of(&status_by(cluster, by).usage)
}

/// A claim in a namespace, with what else its object says.
fn claim(world: World, namespace: &str, name: &str, more: &Value) -> World {
    let mut object =
        json!({"metadata": {"namespace": namespace, "name": name, "uid": format!("{name}-uid")}});
    for (key, value) in more.as_object().unwrap() {
        match (object.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(value)) => known.extend(value.clone()),
            _ => object[key] = value.clone(),
        }
    }
    world.with(Kind::ResourceClaim, &object)
}

/// A GPU of 80Gi as its driver publishes what could be made of it: the whole, two halves, four quarters.
fn partitioned(held: &[(&str, &str)]) -> Cluster {
    let consumes = |amount: &str| json!([{"counterSet": "gpu", "counters": {"memory": {"value": amount}, "engines": {"value": "1"}}}]);
    let pool = json!({"name": "node-1", "generation": 1, "resourceSliceCount": 2});
    let device = |name: &str, amount: &str| json!({"name": name, "consumesCounters": consumes(amount)});
    let mut world = World::default()
        .slice_with(
            "counters",
            &json!({"nodeName": "node-1", "pool": pool, "sharedCounters": [
                {"name": "gpu", "counters": {"memory": {"value": "80Gi"}, "engines": {"value": "7"}}}]}),
        )
        .slice_with(
            "node-1",
            &json!({"nodeName": "node-1", "pool": pool, "devices": [
                device("whole", "80Gi"),
                device("half-0", "40Gi"), device("half-1", "40Gi"),
                device("quarter-0", "20Gi"), device("quarter-1", "20Gi"),
                device("quarter-2", "20Gi"), device("quarter-3", "20Gi")]}),
        );
    for (number, (namespace, device)) in held.iter().enumerate() {
        let more = json!({"status": holding(&[device], &[])});
        world = claim(world, namespace, &format!("c{number}"), &more);
    }
    world.build()
}

#[test]
fn a_partitioned_gpu_is_one_unit_that_is_used_as_its_fullest_counter_is() {
    let cluster = partitioned(&[("a", "half-0"), ("b", "quarter-2")]);
    let report = status_by(&cluster, UsageBy::Namespace);
    let driver = &report.drivers[0];
    assert_eq!(
        json_of(&driver.units),
        json!({"total": 1, "used": "750m", "counters": [
            {"name": "engines", "total": "7", "used": "2"},
            {"name": "memory", "total": "80Gi", "used": "60Gi"}]})
    );
    // The counters leave a quarter, which two devices stand for; the halves and the whole no longer fit.
    assert_eq!((driver.devices.free, driver.most_free_on_one_node), (3, Some(3)));
    assert_eq!(
        json_of(&report.usage),
        json!([
            {"namespace": "a", "claims": 1, "pendingClaims": 0, "idleClaims": 1, "drivers": [
                {"driver": "d", "devices": 1, "shares": 0, "units": "500m", "ofUnits": 1,
                 "counters": {"engines": "1", "memory": "40Gi"}, "idleDevices": 1}]},
            {"namespace": "b", "claims": 1, "pendingClaims": 0, "idleClaims": 1, "drivers": [
                {"driver": "d", "devices": 1, "shares": 0, "units": "250m", "ofUnits": 1,
                 "counters": {"engines": "1", "memory": "20Gi"}, "idleDevices": 1}]},
        ])
    );
    let by_node = usage(&cluster, UsageBy::Node);
    assert_eq!(by_node[0]["node"], "node-1");
    assert_eq!(
        (
            &by_node[0]["drivers"][0]["units"],
            &by_node[0]["drivers"][0]["ofUnits"]
        ),
        (&json!("750m"), &json!(1))
    );
}

#[test]
fn a_counter_that_devices_use_up_does_not_measure_the_use() {
    let pool = json!({"name": "node-1", "generation": 1, "resourceSliceCount": 2});
    let positions = |taken: &[usize], more: &Value| {
        let mut counters = more.clone();
        for place in taken {
            counters[format!("slice-{place}")] = json!({"value": "1"});
        }
        json!([{"counterSet": "gpu", "counters": counters}])
    };
    let gpu = |memory: &Value, half: &Value| {
        let cluster = World::default()
            .slice_with(
                "counters",
                &json!({"nodeName": "node-1", "pool": pool, "sharedCounters": [
                    {"name": "gpu", "counters": positions(&[0, 1, 2, 3], memory)[0]["counters"]}]}),
            )
            .slice_with(
                "node-1",
                &json!({"nodeName": "node-1", "pool": pool, "devices": [
                    {"name": "first", "consumesCounters": positions(&[0], half)},
                    {"name": "second", "consumesCounters": positions(&[1], half)}]}),
            )
            .claim("c", &json!({}), &holding(&["first"], &[]))
            .build();
        let report = status_by(&cluster, UsageBy::Namespace);
        let usage = report.usage.unwrap();
        let used = [
            report.drivers[0].units.used.as_ref(),
            Some(&usage[0].drivers[0].units),
        ];
        used.map(|used| used.unwrap().to_string())
    };
    // Half of the memory is used, and one of four positions.
    let (all, half) = (
        json!({"memory": {"value": "80Gi"}}),
        json!({"memory": {"value": "40Gi"}}),
    );
    assert_eq!(gpu(&all, &half), ["500m", "500m"]);
    // Without a counter that devices take parts of, positions are all that there is.
    assert_eq!(gpu(&json!({}), &json!({})), ["250m", "250m"]);
}

#[test]
fn shares_are_counted_by_what_they_take_of_the_fullest_capacity() {
    let device = json!({"name": "nic", "allowMultipleAllocations": true, "capacity": {
        "bandwidth": {"value": "10G"}, "queues": {"value": "100"}}});
    let share = |id: &str, bandwidth: &str| {
        json!({"request": "r", "driver": "d", "pool": "node-1", "device": "nic", "shareID": id,
               "consumedCapacity": {"bandwidth": bandwidth, "queues": "1"}})
    };
    let world = World::default().slice("node-1", &json!([device, {"name": "idle"}]));
    let more = json!({"status": status(&json!([share("1", "2G"), share("2", "3G")]), &[])});
    let world = claim(world, "a", "1", &more);
    let more = json!({"status": status(&json!([share("3", "4G")]), &[])});
    let cluster = claim(world, "b", "2", &more).build();
    let report = status_by(&cluster, UsageBy::Namespace);
    assert_eq!(
        json_of(&report.drivers[0].units),
        json!({"total": 2, "used": "900m", "capacity": [
            {"name": "bandwidth", "total": "10G", "used": "9G"},
            {"name": "queues", "total": "100", "used": "3"}]})
    );
    assert_eq!(
        json_of(&report.usage.unwrap()[0].drivers[0]),
        json!({"driver": "d", "devices": 2, "shares": 2, "units": "500m", "ofUnits": 2,
               "capacity": {"bandwidth": "5G", "queues": "2"}, "idleDevices": 2})
    );
}

#[test]
fn owners_are_the_controllers_of_the_pods() {
    let owned_by = |kind: &str, name: &str| json!([{"apiVersion": "v1", "kind": kind, "name": name, "uid": format!("{name}-uid"), "controller": true}]);
    let pod = |name: &str, owners: &Value| json!({"metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid"), "ownerReferences": owners}});
    let made = |pod: &str, device: &str| json!({"metadata": {"ownerReferences": owned_by("Pod", pod)}, "status": holding(&[device], &[pod])});
    let mut world = World::default()
        .slice(
            "node-1",
            &json!([{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}, {"name": "e"}]),
        )
        .with(Kind::Pod, &pod("sweep-1", &owned_by("Job", "sweep")))
        .with(Kind::Pod, &pod("sweep-2", &owned_by("Job", "sweep")))
        .with(Kind::Pod, &pod("alone", &json!([])));
    for (name, more) in [
        ("1", made("sweep-1", "a")),
        ("2", made("sweep-2", "b")),
        ("3", made("alone", "c")),
        ("4", json!({"status": holding(&["d"], &["sweep-1", "sweep-2"])})),
        ("5", json!({"status": holding(&["e"], &["sweep-1", "alone"])})),
    ] {
        world = claim(world, "n", name, &more);
    }
    let cluster = world.build();
    let owners: Vec<_> = status_by(&cluster, UsageBy::Owner)
        .usage
        .unwrap()
        .iter()
        .map(|item| (item.group.to_string(), item.drivers[0].devices))
        .collect();
    assert_eq!(
        owners,
        [
            ("n/Job/sweep".to_owned(), 3),
            ("n/Pod/alone".to_owned(), 1),
            ("n/ResourceClaim/5".to_owned(), 1),
        ]
    );
}

#[test]
fn classes_are_those_of_the_requests() {
    let spec = json!({"devices": {"requests": [
        {"name": "r", "exactly": {"deviceClassName": "gpu"}},
        {"name": "s", "firstAvailable": [
            {"name": "large", "deviceClassName": "large"}, {"name": "small", "deviceClassName": "small"}]}]}});
    let result = |request: &str, device: &str| json!({"request": request, "driver": "d", "pool": "node-1", "device": device});
    let results = json!([result("r", "a"), result("s/small", "b"), result("forgotten", "c")]);
    let cluster = World::default()
        .slice("node-1", &json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]))
        .claim("held", &spec, &status(&results, &[]))
        .claim("pending", &spec, &json!({}))
        .build();
    let classes: Vec<_> = status_by(&cluster, UsageBy::Class)
        .usage
        .unwrap()
        .iter()
        .map(|item| (item.group.to_string(), item.claims, item.pending_claims))
        .collect();
    assert_eq!(
        classes,
        [
            ("gpu".to_owned(), 1, 1),
            ("large".to_owned(), 0, 1),
            ("small".to_owned(), 1, 1),
            ("<unknown>".to_owned(), 1, 0),
        ]
    );
}

#[test]
fn idle_claims_show_since_when_as_far_as_known() {
    let mut allocated = holding(&["b"], &["waits"]);
    allocated["allocation"]["allocationTimestamp"] = json!("2026-11-21T11:30:00Z");
    let world = World::default()
        .slice("node-1", &json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]))
        .pod("runs", &["used"])
        .pod_with("waits", &["kept"], &json!({"phase": "Pending"}))
        .claim("forgotten", &json!({}), &holding(&["a"], &[]))
        .claim("kept", &json!({}), &allocated)
        .claim("used", &json!({}), &holding(&["c"], &["runs"]));
    let cluster = world.build();
    let report = status_by(&cluster, UsageBy::Namespace);
    assert_eq!(
        json_of(&report.idle),
        json!([
            {"namespace": "n", "name": "forgotten", "uid": "forgotten-uid", "devices": 1,
             "creationTimestamp": "2026-11-21T11:00:00Z"},
            {"namespace": "n", "name": "kept", "uid": "kept-uid", "devices": 1,
             "allocationTimestamp": "2026-11-21T11:30:00Z", "creationTimestamp": "2026-11-21T11:00:00Z"},
        ])
    );
    let hidden = World::default()
        .slice("node-1", &json!([{"name": "a"}]))
        .claim("c", &json!({}), &holding(&["a"], &[]))
        .without(Kind::Pod)
        .build();
    let report = status_by(&hidden, UsageBy::Namespace);
    assert_eq!(report.idle, None);
    assert_eq!(report.usage.unwrap()[0].idle_claims, None);
}

#[test]
fn the_most_free_on_one_node_adds_up_what_the_node_reaches() {
    let zone = json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]});
    let pool = |name: &str| json!({"name": name, "generation": 1, "resourceSliceCount": 1});
    let cluster = World::default()
        .node("node-1", &json!({}))
        .node("node-2", &json!({"zone": "a"}))
        .slice("node-1", &json!([{"name": "a"}, {"name": "b"}]))
        .slice("node-2", &json!([{"name": "a"}]))
        .slice_with(
            "zone",
            &json!({"pool": pool("zone"), "nodeSelector": zone, "devices": [{"name": "x"}, {"name": "y"}]}),
        )
        .slice_with(
            "all",
            &json!({"pool": pool("all"), "allNodes": true, "devices": [{"name": "z"}]}),
        )
        .build();
    let report = status_by(&cluster, UsageBy::Namespace);
    assert_eq!(report.drivers[0].most_free_on_one_node, Some(4));
    assert_eq!(report.drivers[0].devices.free, 6);
}
