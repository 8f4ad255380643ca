//! What the reports say when the work that a command spends on expressions runs out, step by step.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::allocation::{Settings, Units, allocation, pack};
use super::explanation::{Explanation, explain_claims, explain_pod};
use super::findings::{CheckRequest, Code, check};
use super::{DeviceFilter, SelectorFilter, cel, describe, devices};
use crate::warnings::texts;
use dra_allocator::Budget;
use dra_allocator::devices::ClassSelectors;
use dra_model::{Cluster, Key, Kind, Meter, TOO_MANY_LOOKS, TOO_MUCH_SEARCH, TOO_MUCH_WORK};
use dra_rules::scheduling::in_order;
use dra_testing::effort::by_effort;
use dra_testing::{World, json_of, now};

/// Three devices of two classes, one with a costly selector, and a pod that waits for one of them.
fn cluster() -> Cluster {
    let cel = |expression: &str| json!([{"cel": {"expression": expression}}]);
    let spec = json!({"devices": {"requests": [{"name": "r", "exactly": {
        "deviceClassName": "costly", "allocationMode": "ExactCount", "count": 1,
        "selectors": [{"cel": {"expression": "device.attributes['d'].size > 1"}}]}}]}});
    World::default()
        .class_with("any", &json!([]))
        .class_with(
            "costly",
            &cel("[1, 2, 3, 4, 5, 6, 7, 8].all(n, n > 0) && device.driver == 'd'"),
        )
        .node("node-1", &json!({}))
        .slice(
            "node-1",
            &json!([
                {"name": "a", "attributes": {"size": {"int": 1}}},
                {"name": "b", "attributes": {"size": {"int": 2}}},
                {"name": "c", "attributes": {"size": {"int": 3}}},
            ]),
        )
        .claim("c", &spec, &json!({}))
        .with(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid"},
                    "spec": {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}],
                             "schedulerName": "default-scheduler"}}),
        )
        .build()
}

/// What `judge` says for each number of steps from none to more than it takes, which a meter that never runs out tells.
fn by_steps<T: std::fmt::Debug>(judge: impl Fn(&Cluster) -> T, mut look: impl FnMut(u64, bool, T)) {
    let all = cluster().metered(Meter::new(u64::MAX));
    let unlimited = judge(&all);
    let needed = all.meter().spent();
    assert!(needed > 0, "no expression was evaluated: {unlimited:?}");
    for steps in 0..=needed + 1 {
        look(
            steps,
            steps > needed,
            judge(&cluster().metered(Meter::new(steps))),
        );
    }
}

#[test]
fn classes_of_devices_that_were_not_judged_are_unknown() {
    let list = |cluster: &Cluster| {
        devices(
            cluster,
            &DeviceFilter::default(),
            &ClassSelectors::of(cluster),
            None,
        )
    };
    let mut unknown = BTreeSet::new();
    by_steps(list, |steps, enough, list| {
        assert_eq!(list.items.len(), 3);
        let open = list.items.iter().filter(|item| item.classes.is_none()).count();
        for classes in list.items.iter().filter_map(|item| item.classes.as_ref()) {
            assert_eq!(*classes, ["any", "costly"], "{steps} steps");
        }
        assert_eq!(
            open > 0,
            texts(&list.warnings)
                .iter()
                .any(|text| text.contains(TOO_MUCH_WORK))
        );
        assert!(!enough || open == 0, "{steps} steps");
        unknown.insert(open);
    });
    assert_eq!(unknown, BTreeSet::from([0, 1, 2, 3]));
}

#[test]
fn devices_that_were_not_judged_are_left_out_and_told() {
    let filter = SelectorFilter::default();
    let judge = |cluster: &Cluster| cel(cluster, "device.attributes['d'].size > 1", &filter);
    by_steps(judge, |steps, enough, report| {
        let is_whole = report.devices.len() == 3;
        assert_eq!(report.incomplete, !is_whole, "{steps} steps");
        assert!(!enough || is_whole, "{steps} steps");
        assert!(report.devices.iter().all(|device| device.error.is_none()));
    });
    let judge =
        |cluster: &Cluster| describe::class(cluster, "costly", &ClassSelectors::of(cluster), now()).unwrap();
    by_steps(judge, |steps, enough, class| {
        let total = class.drivers.first().map_or(0, |driver| driver.total);
        assert_eq!(total == 3, class.warnings.is_empty(), "{steps} steps");
        assert!(!enough || total == 3, "{steps} steps");
        assert!(class.errors.is_empty());
    });
}

#[test]
fn a_check_that_could_not_try_all_selectors_is_not_clean() {
    let judge = |cluster: &Cluster| {
        let codes = BTreeSet::from([Code::SelectorFails, Code::SelectorInvalid]);
        check(
            cluster,
            &CheckRequest {
                codes,
                ..CheckRequest::now(now())
            },
        )
    };
    let mut whole = BTreeSet::new();
    by_steps(judge, |steps, enough, list| {
        assert!(list.items.is_empty(), "{steps} steps");
        assert!(
            !enough || list.unknown.is_empty(),
            "{steps} steps: {:?}",
            list.unknown
        );
        whole.insert(list.unknown.is_empty());
    });
    assert_eq!(whole.len(), 2);
}

/// One node of three devices; two have the size that the claim `c` asks for `count` of, besides another device. The selector
/// fails on a device of a second node, if `fails`.
fn placeable(count: u32, fails: bool) -> World {
    let other = json!({"name": "s", "exactly": {"deviceClassName": "costly", "allocationMode": "ExactCount", "count": 1}});
    with_requests(count, &[other], fails)
}

fn with_requests(count: u32, more: &[Value], fails: bool) -> World {
    let mut requests = vec![json!({"name": "r", "exactly": {
        "deviceClassName": "costly", "allocationMode": "ExactCount", "count": count,
        "selectors": [{"cel": {"expression": "device.attributes['d'].size > 1 && device.driver != 'e'"}}]}})];
    requests.extend_from_slice(more);
    let spec = json!({"devices": {"requests": requests}});
    let devices = json!([
        {"name": "a", "attributes": {"size": {"int": 1}}},
        {"name": "b", "attributes": {"size": {"int": 2}}},
        {"name": "c", "attributes": {"size": {"int": 3}}},
    ]);
    let other = if fails { json!([{"name": "x"}]) } else { json!([]) };
    let node = |name: &str| json!({"metadata": {"name": name}, "status": {"allocatable": {"pods": "110"}}});
    World::default()
        .class_with(
            "costly",
            &json!([{"cel": {"expression": "[1, 2, 3, 4].all(n, n > 0) && device.driver == 'd'"}}]),
        )
        .with(Kind::Node, &node("node-1"))
        .with(Kind::Node, &node("node-2"))
        .slice("node-1", &devices)
        .slice("node-2", &other)
        .claim("c", &spec, &json!({}))
        .with(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid"},
                    "spec": {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}],
                             "schedulerName": "default-scheduler"}}),
        )
}

/// Judges the pod `p`, or the claim `c`, for each number of steps, and of objects to look at, and compares with the JSON of the report without a limit.
fn compare<T: serde::Serialize>(
    world: impl Fn() -> World,
    judge: impl Fn(&Cluster, &Units, &Settings<'_>) -> T,
    mut look: impl FnMut(&Value, &Value),
) {
    let key = |name: &str| Key {
        namespace: "n".into(),
        name: name.into(),
    };
    for of_pod in [true, false] {
        let with = |meter: Meter| {
            let cluster = world().build().metered(meter);
            let units = if of_pod {
                Units::Pods(vec![cluster.pod(&key("p")).unwrap().clone()])
            } else {
                Units::Claims(vec![cluster.claim(&key("c")).unwrap().clone()])
            };
            let settings = Settings {
                nodes: Vec::new(),
                now: now(),
                budget: &Budget::new(100_000),
                observer: &(),
                run: &in_order,
                has_fixes: true,
            };
            let report = json_of(&judge(&cluster, &units, &settings));
            (report, cluster.meter().spent(), cluster.meter().looked_at())
        };
        let (whole, needed, looks) = with(Meter::new(u64::MAX));
        assert!(needed > 0 && looks > 0, "nothing was looked at: {whole:#}");
        // The last one that is too few, and the first that is enough, are among them.
        let stride = by_effort(7, 1, 1);
        let some = (0..=needed + 1).filter(|steps| steps % stride == 0 || *steps >= needed);
        let by_steps = some.map(|steps| (Meter::new(steps), steps > needed));
        // One object fewer than none: not even the first node may be judged.
        let nothing = Meter::default().with_looks(0);
        nothing.look(1);
        let by_looks = (0..=looks).map(|most| (Meter::default().with_looks(most), most == looks));
        for (meter, is_enough) in by_steps.chain(by_looks).chain([(nothing, false)]) {
            let of_meter = format!("{meter:?}");
            let (report, ..) = with(meter);
            assert!(!is_enough || report == whole, "{of_meter}: {report:#}\n{whole:#}");
            look(&report, &whole);
        }
    }
}

fn explain(cluster: &Cluster, units: &Units, settings: &Settings<'_>) -> Explanation {
    match units {
        Units::Pods(pods) => explain_pod(cluster, &pods[0], settings).into(),
        Units::Claims(claims) => explain_claims(cluster, claims, settings).into(),
    }
}

/// What the clusters come to: whether a claim of so many devices fits, and where an error ends the attempt.
const PLACEABLE: [(u32, bool, &str); 3] = [(1, false, "Fits"), (3, false, "DoesNotFit"), (1, true, "Error")];

#[test]
fn an_allocation_is_right_or_undecided() {
    for (count, fails, expected) in PLACEABLE {
        let mut seen = BTreeSet::new();
        compare(
            || placeable(count, fails),
            allocation,
            |report, whole| {
                assert_eq!(whole["result"], expected, "{whole:#}");
                let result = report["result"].as_str().unwrap();
                assert!(result == "GaveUp" || result == expected, "{report:#}");
                if result == "GaveUp" {
                    assert!(is_open(&report["notes"].to_string()), "{report:#}");
                }
                for (node, whole) in items(&report["nodes"]).zip(items(&whole["nodes"])) {
                    assert!(
                        node["result"] == "GaveUp" || node["result"] == whole["result"],
                        "{report:#}"
                    );
                }
                seen.insert(result.to_owned());
            },
        );
        assert_eq!(seen.len(), 2, "{seen:?}");
    }
}

#[test]
fn copies_are_never_too_many_nor_too_few_for_sure() {
    let mut exact = BTreeSet::new();
    compare(
        || with_requests(1, &[], false),
        pack,
        |packing, whole| {
            // Two claims, or as many pods as share one.
            assert!(whole["copies"] == 2 || whole["copies"] == 110, "{whole:#}");
            assert_eq!(
                (&whole["exact"], &packing["unlimited"]),
                (&json!(true), &json!(false))
            );
            assert!(packing["copies"].as_u64() <= whole["copies"].as_u64());
            if packing["exact"] == true {
                assert_eq!(packing["copies"], whole["copies"], "{packing:#}");
            }
            exact.insert(packing["exact"].to_string());
        },
    );
    assert_eq!(exact.len(), 2);
}

#[test]
fn an_explanation_is_right_or_undecided() {
    for (count, fails, expected) in PLACEABLE {
        let mut seen = BTreeSet::new();
        compare(
            || placeable(count, fails),
            explain,
            |report, whole| {
                assert_eq!(whole["verdict"], expected, "{whole:#}");
                let verdict = report["verdict"].as_str().unwrap();
                assert!(verdict == "GaveUp" || verdict == expected, "{report:#}");
                assert_eq!(
                    verdict == "GaveUp",
                    is_open(report["summary"].as_str().unwrap()),
                    "{report:#}"
                );
                for (node, whole) in items(&report["nodes"]).zip(items(&whole["nodes"])) {
                    reasons_are_right(node, whole);
                }
                // What is called smallest is so.
                for fix in items(&report["fixes"]).filter(|fix| fix["minimal"] == true) {
                    let is_known =
                        |known: &Value| known["changes"] == fix["changes"] && known["minimal"] == true;
                    assert!(items(&whole["fixes"]).any(is_known), "{fix:#}\n{whole:#}");
                }
                seen.insert(verdict.to_owned());
            },
        );
        assert_eq!(seen.len(), 2, "{seen:?}");
    }
}

/// Whether what is said of the node is said with enough work too, unless it says that something was not tried.
fn reasons_are_right(node: &Value, whole: &Value) {
    assert!(node["fits"] == false || whole["fits"] == true);
    for reason in items(&node["reasons"]) {
        let message = reason["message"].as_str().unwrap();
        let about =
            |reason: &Value| ["claim", "request", "device", "code"].map(|field| reason[field].clone());
        let is_known = |known: &Value| about(known) == about(reason);
        assert!(
            is_open(message) || items(&whole["reasons"]).any(is_known),
            "{reason:#}\n{whole:#}"
        );
    }
}

/// Whether the text says that the work was too much.
fn is_open(text: &str) -> bool {
    [TOO_MUCH_WORK, TOO_MANY_LOOKS, TOO_MUCH_SEARCH]
        .iter()
        .any(|why| text.contains(why))
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
