//! The listing of devices on small clusters, written object by object.

use serde_json::{Value, json};

use super::*;
use crate::warnings::texts;
use crate::{Selection, UsageBy, describe};
use dra_allocator::devices::Unavailable;
use dra_rules::health::Health;
use dra_rules::scheduling::in_order;
use dra_testing::{World, holding, json_of, status};

fn list(cluster: &Cluster, filter: &DeviceFilter) -> DeviceList {
    devices(cluster, filter, &ClassSelectors::of(cluster), None)
}

fn names(list: &DeviceList) -> Vec<String> {
    list.items.iter().map(|item| item.id().to_string()).collect()
}

#[test]
fn an_item_has_the_promised_fields() {
    let cluster = World::default()
        .class("d")
        .class_with("odd", &json!([{}]))
        .slice(
            "node-1",
            &json!([{"name": "g0", "taints": [{"key": "k", "value": "v", "effect": "NoSchedule",
                                               "timeAdded": "2026-11-21T11:00:00Z"}],
                     "capacity": {"memory": {"value": "80Gi"}}}]),
        )
        .rule("drain", &json!({}), "NoExecute")
        .claim("c", &json!({}), &holding(&["g0"], &["p"]))
        .pod("p", &["c"])
        .build();
    assert_eq!(
        json_of(&list(&cluster, &DeviceFilter::default())),
        json!({"items": [{
            "driver": "d", "pool": "node-1", "device": "g0", "node": "node-1",
            "classes": ["d"], "classErrors": [{"class": "odd", "error": "selector #0: no CEL expression"}],
            "state": "Allocated", "published": true,
            "claims": [{"namespace": "n", "name": "c", "uid": "c-uid", "request": "r",
                        "pods": [{"name": "p", "uid": "p-uid"}]}],
            "taints": [{"key": "k", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-11-21T11:00:00Z"},
                       {"key": "drain", "effect": "NoExecute", "timeAdded": "2026-11-21T11:30:00Z",
                        "rule": "drain"}],
            "capacity": {"memory": {"total": "80Gi"}},
        }]})
    );
}

#[test]
fn shares_leave_what_they_do_not_take() {
    let share = |id: &str, amount: &str| {
        json!({"request": "r", "driver": "d", "pool": "node-1", "device": "x", "shareID": id,
               "consumedCapacity": {"bandwidth": amount}})
    };
    let world = |results: &Value| {
        World::default()
            .slice(
                "node-1",
                &json!([{"name": "x", "allowMultipleAllocations": true,
                         "capacity": {"bandwidth": {"value": "10G"}, "vfs": {"value": "4"}}}]),
            )
            .claim("c", &json!({}), &status(results, &[]))
            .build()
    };
    let capacity = |results: &Value| {
        let list = list(&world(results), &DeviceFilter::default());
        (list.items[0].state, json_of(&list.items[0].capacity))
    };
    let of = |bandwidth: &str, vfs: &str| json!([["bandwidth", {"total": "10G", "remaining": bandwidth}], ["vfs", {"total": "4", "remaining": vfs}]]);
    assert_eq!(capacity(&json!([])), (DeviceState::Free, of("10G", "4")));
    assert_eq!(
        capacity(&json!([share("1", "3G"), share("2", "2500M")])),
        (DeviceState::Shared, of("4500M", "4"))
    );
    // A holder without a share has everything.
    let whole = json!([{"request": "r", "driver": "d", "pool": "node-1", "device": "x"}]);
    assert_eq!(capacity(&whole), (DeviceState::Allocated, of("0", "0")));
}

#[test]
fn devices_come_by_pool_and_place_and_held_ones_are_never_lost() {
    let held = |pool: &str, device: &str| {
        status(
            &json!([{"request": "r", "driver": "d", "pool": pool, "device": device}]),
            &[],
        )
    };
    let cluster = World::default()
        .slice("b", &json!([{"name": "g2"}, {"name": "g10"}, {"name": "g1"}]))
        .slice("d", &json!([{"name": "g0"}]))
        .claim("1", &json!({}), &held("a", "old"))
        .claim("2", &json!({}), &held("b", "g0"))
        .claim("3", &json!({}), &held("c", "old"))
        .claim("4", &json!({}), &held("e", "old"))
        .build();
    let report = list(&cluster, &DeviceFilter::default());
    assert_eq!(
        names(&report),
        [
            "d/a/old", "d/b/g2", "d/b/g10", "d/b/g1", "d/b/g0", "d/c/old", "d/d/g0", "d/e/old"
        ]
    );
    let unpublished: Vec<_> = report
        .items
        .iter()
        .filter(|item| item.published == Some(false))
        .map(|item| {
            (
                item.device.as_str(),
                item.node.as_ref().map(Str::as_str),
                item.state,
            )
        })
        .collect();
    let allocated = DeviceState::Allocated;
    assert_eq!(
        unpublished,
        [
            ("old", Some("node-1"), allocated),
            ("g0", Some("node-1"), allocated),
            ("old", Some("node-1"), allocated),
            ("old", Some("node-1"), allocated),
        ]
    );
}

fn of_kind(name: &str) -> Value {
    json!({"name": name, "attributes": {"kind": {"string": "g"}}})
}

#[test]
fn devices_are_chosen_by_name_class_state_taint_and_node() {
    let zone = json!({"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "zone", "operator": "In", "values": ["a"]}]}]});
    let cluster = World::default()
        .class("d")
        .class_with(
            "g",
            &json!([{"cel": {"expression": "device.attributes['d'].kind == 'g'"}}]),
        )
        .slice(
            "node-1",
            &json!([of_kind("g0"), of_kind("g1"), {"name": "h0", "attributes": {"kind": {"int": 1}}}]),
        )
        .slice_with(
            "fabric",
            &json!({"nodeSelector": zone, "devices": [{"name": "g0"}]}),
        )
        .slice_with("open", &json!({"allNodes": true, "devices": [{"name": "g0"}]}))
        .slice_with(
            "mixed",
            &json!({"perDeviceNodeSelection": true, "devices": [
                {"name": "h0", "nodeName": "node-2"}, {"name": "h1", "allNodes": true}, {"name": "h2"}]}),
        )
        .rule("drain", &json!({"pool": "node-1", "device": "g1"}), "NoExecute")
        .claim("c", &json!({}), &holding(&["g0", "gone"], &[]))
        .node("node-1", &json!({"zone": "a"}))
        .node("node-2", &json!({}))
        .build();
    let base = DeviceFilter::default;
    for (filter, expected) in [
        (
            DeviceFilter {
                names: vec!["g1".to_owned(), "d/open/g0".to_owned(), "node-1/gone".to_owned()],
                ..base()
            },
            vec!["d/node-1/g1", "d/node-1/gone", "d/open/g0"],
        ),
        (
            DeviceFilter {
                class: Some("g".into()),
                ..base()
            },
            vec!["d/node-1/g0", "d/node-1/g1"],
        ),
        (
            DeviceFilter {
                free: true,
                node: Some("node-1".into()),
                ..base()
            },
            // A rule taints g1.
            vec!["d/fabric/g0", "d/mixed/h1", "d/node-1/h0", "d/open/g0"],
        ),
        (
            DeviceFilter {
                node: Some("node-2".into()),
                ..base()
            },
            vec!["d/mixed/h0", "d/mixed/h1", "d/open/g0"],
        ),
        (
            DeviceFilter {
                tainted: true,
                ..base()
            },
            vec!["d/node-1/g1"],
        ),
    ] {
        assert_eq!(names(&list(&cluster, &filter)), expected, "{filter:?}");
    }
    let nodes: Vec<_> = list(&cluster, &base())
        .items
        .iter()
        .map(|item| (item.pool.to_string(), item.nodes))
        .collect();
    assert_eq!(
        nodes,
        [
            ("fabric".to_owned(), DeviceNode::Several),
            ("mixed".to_owned(), DeviceNode::One),
            ("mixed".to_owned(), DeviceNode::Any),
            ("mixed".to_owned(), DeviceNode::Unknown),
            ("node-1".to_owned(), DeviceNode::One),
            ("node-1".to_owned(), DeviceNode::One),
            ("node-1".to_owned(), DeviceNode::One),
            ("node-1".to_owned(), DeviceNode::One),
            ("open".to_owned(), DeviceNode::Any),
        ]
    );
    let selectors = ClassSelectors::of(&cluster);
    let expression = selectors.selector(&"device.attributes['d'].kind == 'g'".into());
    let chosen = devices(&cluster, &base(), &selectors, Some(&expression));
    assert_eq!(names(&chosen), ["d/node-1/g0", "d/node-1/g1"]);
    assert_eq!(
        texts(&chosen.warnings),
        [
            "whether the selector matches is unknown for 5 of the devices, which are not listed; for example d/fabric/g0: no such key: kind"
        ]
    );
}

#[test]
fn what_cannot_be_evaluated_is_left_out_with_a_warning() {
    let zone = |operator: &str| json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": operator, "values": ["a"]}]}]});
    let cluster = World::default()
        .class("d")
        .slice(
            "node-1",
            &json!([{"name": "g0"}, {"name": "g1", "attributes": {"new": {"matrix": [[1]]}}}]),
        )
        .slice_with(
            "fabric",
            &json!({"nodeSelector": zone("In"), "devices": [{"name": "g0"}]}),
        )
        .slice_with(
            "future",
            &json!({"nodeSelector": zone("Near"), "devices": [{"name": "g0"}]}),
        )
        .claim("c", &json!({}), &holding(&["g0", "gone"], &[]))
        .node("node-1", &json!({"zone": "b"}))
        .build();
    let by_class = |class: &str| DeviceFilter {
        class: Some(class.into()),
        ..DeviceFilter::default()
    };
    let by_node = |node: &str| DeviceFilter {
        node: Some(node.into()),
        ..DeviceFilter::default()
    };
    for (filter, devices, warning) in [
        (
            by_class("d"),
            vec!["d/fabric/g0", "d/future/g0", "d/node-1/g0"],
            "whether class `d` has them is unknown for 2 of the devices, which are not listed; for example d/node-1/g1: \
             selector #0: CEL runtime error: attribute new: unsupported attribute value",
        ),
        (
            by_node("node-1"),
            vec!["d/node-1/g0", "d/node-1/g1", "d/node-1/gone"],
            "whether node `node-1` reaches them is unknown for 1 of the devices, which are not listed; for example d/future/g0: \
             invalid node selector: nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: \"Near\": supported values: \"DoesNotExist\", \"Exists\", \"Gt\", \"In\", \"Lt\", \"NotIn\"",
        ),
        (
            by_node("node-2"),
            vec![],
            "whether node `node-2` reaches them is unknown for 2 of the devices, which are not listed; for example d/fabric/g0: \
             the node's labels are unknown",
        ),
    ] {
        let listed = list(&cluster, &filter);
        assert_eq!(names(&listed), devices, "{filter:?}");
        assert_eq!(texts(&listed.warnings), [warning]);
    }
    let nowhere = list(&cluster, &by_class("e"));
    assert!(nowhere.items.is_empty());
}

#[test]
fn what_could_not_be_read_is_unknown() {
    let world = || {
        World::default()
            .slice("node-1", &json!([{"name": "g0"}, {"name": "g1"}]))
            .claim("c", &json!({}), &holding(&["g0"], &["p"]))
    };
    let no_pods = list(&world().without(Kind::Pod).build(), &DeviceFilter::default());
    assert_eq!(no_pods.items[0].claims[0].pods, None);
    assert_eq!(no_pods.items[0].health, Some(Health::Unknown));
    assert_eq!(no_pods.items[1].health, None);
    let no_claims = list(
        &world().without(Kind::ResourceClaim).build(),
        &DeviceFilter::default(),
    );
    let states: Vec<_> = no_claims.items.iter().map(|item| item.state).collect();
    assert_eq!(states, [DeviceState::Allocated, DeviceState::Unknown]);
    assert_eq!(
        texts(&no_claims.warnings),
        ["whether a device is free is unknown: resourceclaims could not be read: forbidden"]
    );
    let free = DeviceFilter {
        free: true,
        ..DeviceFilter::default()
    };
    let unsure = list(&world().without(Kind::ResourceClaim).build(), &free);
    assert!(unsure.items.is_empty());

    let g0 = |kind: Kind| {
        let report = list(
            &world().class("d").without(kind).build(),
            &DeviceFilter::default(),
        );
        let mut item = json_of(&report.items[0]);
        item.as_object_mut()
            .unwrap()
            .retain(|key, _| ["classes", "published", "taints", "taintsUnknown"].contains(&key.as_str()));
        item
    };
    assert_eq!(
        g0(Kind::Node),
        json!({"classes": ["d"], "published": true, "taints": []})
    );
    assert_eq!(g0(Kind::DeviceClass), json!({"published": true, "taints": []}));
    assert_eq!(
        g0(Kind::DeviceTaintRule),
        json!({"classes": ["d"], "published": true, "taints": [], "taintsUnknown": true})
    );
    let unseen = World::default()
        .claim("c", &json!({}), &holding(&["g0"], &[]))
        .without(Kind::ResourceSlice)
        .build();
    let unseen = json_of(&list(&unseen, &DeviceFilter::default()).items[0]);
    assert_eq!(unseen.get("classes"), None);
    assert_eq!(unseen.get("published"), None);
    assert_eq!(unseen["taintsUnknown"], json!(true));
}

#[test]
fn more_taints_than_are_listed_are_unknown() {
    // Each rule is about each device.
    let devices: Vec<Value> = (0..560)
        .map(|number| json!({"name": format!("g{number}")}))
        .collect();
    let world = (0..560).fold(World::default().slice("n", &json!(devices)), |world, number| {
        world.rule(&format!("r{number}"), &json!({"driver": "d"}), "NoExecute")
    });
    let list = list(&world.build(), &DeviceFilter::default());
    assert_eq!(list.items.len(), 560);
    let unknown = list.items.iter().filter(|item| item.taints_unknown).count();
    assert_eq!(unknown, 560 - MOST_TAINTS / 560);
    for item in &list.items {
        assert_eq!(item.taints.len(), if item.taints_unknown { 0 } else { 560 });
    }
    let warning =
        format!("taints of {unknown} devices are not listed: all of them have more than 300000 together");
    assert!(
        texts(&list.warnings).contains(&warning.as_str()),
        "{:?}",
        texts(&list.warnings)
    );
}

/// A pool whose devices draw from a counter set that does not exist.
fn without_its_counter_set() -> Cluster {
    let consumes = json!([{"counterSet": "missing", "counters": {"memory": {"value": "1Gi"}}}]);
    World::default()
        .class("d")
        .slice(
            "node-1",
            &json!([{"name": "g0", "consumesCounters": consumes}, {"name": "g1"}]),
        )
        .node("node-1", &json!({}))
        .build()
}

#[test]
fn reports_agree_that_nothing_of_an_invalid_pool_is_free() {
    let cluster = without_its_counter_set();
    let free = DeviceFilter {
        free: true,
        ..DeviceFilter::default()
    };
    assert_eq!(names(&list(&cluster, &free)), Vec::<String>::new());
    let all = list(&cluster, &DeviceFilter::default());
    for item in &all.items {
        assert_eq!(item.unavailable, [Unavailable::PoolInvalid], "{}", item.device);
    }
    let now = dra_testing::now();
    let report = crate::status(
        &cluster,
        &Selection::default(),
        UsageBy::default(),
        now,
        &in_order,
    );
    let counts = &report.drivers[0].devices;
    assert_eq!((counts.total, counts.free, counts.unavailable), (2, 0, 2));
    let selectors = ClassSelectors::of(&cluster);
    let class = describe::class(&cluster, "d", &selectors, now).unwrap();
    assert_eq!((class.drivers[0].total, class.drivers[0].free), (2, 0));
}
