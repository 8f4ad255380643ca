//! What the reports say when the work that a command spends on expressions runs out, step by step.

use std::collections::BTreeSet;

use serde_json::json;

use super::findings::{CheckRequest, Code, check};
use super::testing::{World, now, texts};
use super::{DeviceFilter, SelectorFilter, Selectors, cel, describe, devices};
use crate::model::{Cluster, Kind, Meter, TOO_MUCH_WORK};

/// Three devices of two classes, one of which has a costly selector, and a pod that waits for one of them.
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
    let list = |cluster: &Cluster| devices(cluster, &DeviceFilter::default(), &Selectors::of(cluster), None);
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
        |cluster: &Cluster| describe::class(cluster, "costly", &Selectors::of(cluster), now()).unwrap();
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
