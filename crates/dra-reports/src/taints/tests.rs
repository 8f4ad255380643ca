//! Rows of taints: whom they are about, and what a rule that does nothing yet would do.

use serde_json::{Value, json};

use super::*;
use crate::warnings::texts;
use dra_testing::{World, json_of, now, status};

fn result(device: &str, tolerations: &Value) -> Value {
    json!({"request": "r", "driver": "d", "pool": "node-1", "device": device, "tolerations": tolerations})
}

fn tainted(name: &str) -> Value {
    json!({"name": name, "taints": [
        {"key": "k", "effect": "NoExecute", "timeAdded": "2026-11-21T11:00:00Z"},
        {"key": "l", "effect": "NoSchedule", "timeAdded": "2026-11-21T11:00:00Z"}]})
}

#[test]
fn a_row_shows_who_tolerates_the_taint_until_when() {
    let for_good = json!([{"operator": "Exists", "effect": "NoExecute"}]);
    let for_a_minute =
        json!([{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]);
    let placed = json!([{"operator": "Exists"}]);
    let cluster = World::default()
        .slice(
            "node-1",
            &json!([tainted("a"), tainted("b"), tainted("c"), {"name": "d"}]),
        )
        .claim(
            "1",
            &json!({}),
            &status(&json!([result("a", &for_good)]), &["good"]),
        )
        .claim(
            "2",
            &json!({}),
            &status(&json!([result("b", &for_a_minute)]), &["good", "both"]),
        )
        .claim("3", &json!({}), &status(&json!([result("c", &placed)]), &[]))
        .pod("good", &["1"])
        .pod("both", &["1", "2"])
        .build();
    let report = taints(&cluster, &Selection::default(), now());
    let tolerated = |name: &str, tolerated: &str| json!({"namespace": "n", "name": name, "uid": format!("{name}-uid"), "tolerated": tolerated});
    let with = |mut object: Value, fields: Value| {
        let fields = fields.as_object().unwrap().clone();
        object.as_object_mut().unwrap().extend(fields);
        object
    };
    let first = with(
        tolerated("1", "Forever"),
        json!({"tolerations": [":NoExecute op=Exists"]}),
    );
    let minute = json!({"until": "2026-11-21T11:01:00Z", "due": "2026-11-21T11:01:00Z"});
    let second = with(
        with(tolerated("2", "Until"), minute.clone()),
        json!({"tolerations": ["k:NoExecute op=Exists for 60s"]}),
    );
    // An empty effect lets the scheduler use the device, and does not keep pods from being evicted.
    let any_effect = json!({"tolerations": ["op=Exists"]});
    let third = with(
        with(tolerated("3", "No"), any_effect.clone()),
        json!({"due": "2026-11-21T11:00:00Z"}),
    );
    let both = with(tolerated("both", "Until"), minute);
    let device = |name: &str| json!({"driver": "d", "pool": "node-1", "device": name});
    assert_eq!(
        json_of(&report),
        json!({"items": [
            {
                "source": "Slice", "slice": "node-1-slice", "key": "k", "effect": "NoExecute",
                "timeAdded": "2026-11-21T11:00:00Z",
                "devices": [device("a"), device("b"), device("c")],
                "claims": [first, second, third],
                "pods": [both, tolerated("good", "Forever")],
            },
            {
                "source": "Slice", "slice": "node-1-slice", "key": "l", "effect": "NoSchedule",
                "timeAdded": "2026-11-21T11:00:00Z",
                "devices": [device("a"), device("b"), device("c")],
                // A NoExecute toleration says nothing about NoSchedule.
                "claims": [tolerated("1", "No"), tolerated("2", "No"),
                           with(tolerated("3", "Forever"), any_effect)],
                "pods": [tolerated("both", "No"), tolerated("good", "No")],
            },
        ]})
    );
}

#[test]
fn a_toleration_of_one_device_does_not_lack_what_another_device_has_none_of() {
    let for_good = json!([{"operator": "Exists", "effect": "NoExecute"}]);
    let any_effect = json!([{"operator": "Exists"}]);
    for (tolerations, lacks) in [(for_good, false), (any_effect, true)] {
        let results = json!([result("a", &tolerations), result("b", &json!([]))]);
        let cluster = World::default()
            .slice("node-1", &json!([tainted("a"), tainted("b")]))
            .claim("1", &json!({}), &status(&results, &[]))
            .build();
        let report = taints(&cluster, &Selection::default(), now());
        let claims = report.items.iter().flat_map(|item| &item.claims);
        let found: Vec<_> = claims
            .map(|claim| (claim.tolerated, claim.lacks_effect))
            .collect();
        // The second taint is NoSchedule.
        assert_eq!(found, [(Tolerates::No, lacks), (Tolerates::No, false)]);
    }
}

#[test]
fn rules_reach_held_devices_that_no_slice_publishes() {
    let cluster = World::default()
        .slice("node-1", &json!([{"name": "a"}, {"name": "b"}]))
        .slice("node-2", &json!([{"name": "a"}]))
        .claim(
            "1",
            &json!({}),
            &status(&json!([result("gone", &json!([]))]), &[]),
        )
        .rule("all", &json!({}), "NoExecute")
        .rule("none", &Value::Null, "NoExecute")
        .rule("one", &json!({"pool": "node-2"}), "None")
        .build();
    let report = taints(&cluster, &Selection::default(), now());
    let rows: Vec<_> = report
        .items
        .iter()
        .map(|item| {
            let devices: Vec<_> = item.devices.iter().map(ToString::to_string).collect();
            format!("{:?} {} {}", item.rule, devices.join(","), item.claims.len())
        })
        .collect();
    assert_eq!(
        rows,
        [
            r#"Some("all") d/node-1/a,d/node-1/b,d/node-1/gone,d/node-2/a 1"#,
            r#"Some("none")  0"#,
            r#"Some("one") d/node-2/a 0"#,
        ]
    );
}

#[test]
fn pods_are_due_as_the_release_evicts_them() {
    let cluster = |minor: u32| {
        World::default()
            .version(minor)
            .slice("node-1", &json!([tainted("a")]))
            .claim(
                "1",
                &json!({}),
                &status(&json!([result("a", &json!([]))]), &["listed"]),
            )
            .claim(
                "2",
                &json!({}),
                &status(&json!([result("gone", &json!([]))]), &["of-gone"]),
            )
            .pod("listed", &["1"])
            .pod("unlisted", &["1"])
            .pod("of-gone", &["2"])
            .rule("all", &json!({}), "NoExecute")
            .rule("later", &json!({}), "NoSchedule")
            .build()
    };
    let due = |minor: u32| -> Vec<String> {
        let report = taints(&cluster(minor), &Selection::default(), now());
        let of_item = |item: &TaintItem| {
            let pods = item.pods.iter().flatten();
            let due: Vec<_> = pods
                .filter_map(|pod| Some(format!("{} {}", pod.object.name, pod.due?)))
                .collect();
            format!("{}: {}", item.key, due.join(", "))
        };
        report.items.iter().map(of_item).collect()
    };
    let (of_slice, of_rule) = ("listed 2026-11-21T11:00:00Z", "listed 2026-11-21T11:30:00Z");
    let both = format!("all: {of_rule}, of-gone 2026-11-21T11:30:00Z");
    let of_slices = [format!("k: {of_slice}"), "l: ".to_owned()];
    let rows = |all: &str| [&[all.to_owned(), "later: ".to_owned()], &of_slices[..]].concat();
    assert_eq!(due(37), rows(&both));
    // Release 1.34 put the taints of rules into slices.
    assert_eq!(due(34), rows(&format!("all: {of_rule}")));
}

#[test]
fn a_taint_of_another_time_or_slice_is_another_row() {
    let at = |time: &str| json!({"key": "k", "effect": "NoExecute", "timeAdded": time});
    let (early, late) = (at("2026-11-21T11:00:00Z"), at("2026-11-21T11:00:01Z"));
    let cluster = World::default()
        .slice(
            "node-2",
            &json!([{"name": "a", "taints": [early]}, {"name": "b", "taints": [late, early]}]),
        )
        .slice("node-1", &json!([{"name": "a", "taints": [early, early]}]))
        .build();
    let report = taints(&cluster, &Selection::default(), now());
    let rows: Vec<_> = report
        .items
        .iter()
        .map(|item| {
            let devices: Vec<_> = item.devices.iter().map(ToString::to_string).collect();
            devices.join(",")
        })
        .collect();
    assert_eq!(rows, ["d/node-1/a", "d/node-2/a,d/node-2/b", "d/node-2/b"]);
}

#[test]
fn unread_pods_are_unknown_and_a_namespace_restricts_claims() {
    let world = || {
        World::default().slice("node-1", &json!([tainted("a")])).claim(
            "1",
            &json!({}),
            &status(&json!([result("a", &json!([]))]), &[]),
        )
    };
    let hidden = taints(&world().without(Kind::Pod).build(), &Selection::default(), now());
    assert_eq!(hidden.items[0].pods, None);
    assert_eq!(
        texts(&hidden.warnings),
        ["it is unknown which pods use tainted devices: pods could not be read: forbidden"]
    );
    let elsewhere = Selection {
        namespace: Some("m".into()),
        ..Selection::default()
    };
    let restricted = taints(&world().build(), &elsewhere, now());
    assert!(restricted.items[0].claims.is_empty());
    assert_eq!(restricted.items[0].devices.len(), 1);
}

#[test]
fn a_rule_with_the_effect_none_is_previewed() {
    let world = |effect: &str| {
        World::default()
            .version(37)
            .slice("node-1", &json!([{"name": "a"}, {"name": "b"}]))
            .claim(
                "c",
                &json!({}),
                &status(&json!([result("a", &json!([]))]), &["p"]),
            )
            .pod("p", &["c"])
            .rule("r", &json!({"driver": "d"}), effect)
    };
    let preview = |world: World| {
        taints(&world.build(), &Selection::default(), now()).items[0]
            .preview
            .clone()
    };
    let found = preview(world("None")).unwrap();
    assert_eq!(
        (
            found.published_devices,
            found.allocated_devices,
            found.pods,
            found.namespaces
        ),
        (2, 1, 1, 1)
    );
    assert!(
        found.message.starts_with(
            "2 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace"
        ),
        "{}",
        found.message
    );
    assert_eq!(preview(world("NoExecute")), None);
    assert_eq!(preview(world("None").without(Kind::Pod)), None);
    // No controller counts there.
    assert_eq!(preview(world("None").version(34)), None);
}
