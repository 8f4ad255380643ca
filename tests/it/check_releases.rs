//! `kubectl dra check` of releases: the bugs of the one that runs, the way up to a newer one, and who may do what by roles of a file.

use serde_json::{Value, json};

use crate::support::command::dra;
use crate::support::schema::assert_valid;

const NOW: &str = "2026-11-21T12:00:00Z";

fn check(args: &[&str], objects: &[Value]) -> (Option<i32>, Value, String) {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let given = ["--from", "-", "--complete", "--now", NOW, "-o", "json"];
    let run = dra(&[&["check"], args, &given].concat()).stdin(list).run();
    assert!(!run.stdout.is_empty(), "{}", run.stderr);
    (run.code, assert_valid(&run.stdout), run.stderr)
}

fn told(report: &Value) -> Vec<String> {
    let items = report["items"].as_array().expect("items");
    let text = |item: &Value, field: &str| item[field].as_str().unwrap_or_default().to_owned();
    items
        .iter()
        .map(|item| {
            let step = item["order"]
                .as_u64()
                .map_or_else(String::new, |step| format!(" {step}"));
            format!("{} {}{step}", text(item, "code"), text(&item["object"], "name"))
        })
        .collect()
}

/// A claim for one device in namespace `n`.
fn claim() -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "n"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d", "allocationMode": "ExactCount", "count": 1}}]}}})
}

fn class(managers: &Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "d", "managedFields": managers},
        "spec": {"selectors": [{"cel": {"expression": "device.driver == 'd'"}}]}})
}

fn slice(device: &Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
        "spec": {"driver": "d", "nodeName": "a", "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1}, "devices": [device]}})
}

#[test]
fn the_bugs_of_the_exact_release_are_reported_by_check_and_beside_an_answer() {
    let counters = json!([{"counterSet": "s", "counters": {"c": {"value": "1"}}}]);
    let shared = json!({"name": "x", "allowMultipleAllocations": true, "consumesCounters": counters});
    let objects = [claim(), class(&json!([])), slice(&shared)];
    for (release, expected) in [
        (
            "1.36.1",
            vec!["DRA090 kubernetes/139040", "DRA090 kubernetes/140431"],
        ),
        ("1.36.2", vec!["DRA090 kubernetes/140431"]),
        ("1.36.3", vec![]),
    ] {
        let args = ["--only", "known-bug", "--kubernetes-version", release];
        let (code, report, stderr) = check(&args, &objects);
        assert_eq!(told(&report), expected, "{release}: {stderr}");
        assert_eq!(code, Some(i32::from(!expected.is_empty())), "{release}");
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
        let args = [
            "simulate",
            "allocation",
            "claim/n/c",
            "--from",
            "-",
            "--complete",
            "--now",
            NOW,
            "-o",
            "json",
            "--kubernetes-version",
            release,
        ];
        let run = dra(&args).stdin(list).run();
        let answer = assert_valid(&run.stdout);
        let notes = answer["notes"].to_string();
        for bug in ["139040", "140431"] {
            let is_expected = expected.iter().any(|finding| finding.ends_with(bug));
            assert_eq!(
                notes.contains(&format!("kubernetes/kubernetes#{bug}")),
                is_expected,
                "{release}: {notes}"
            );
        }
    }
}

#[test]
fn a_capacity_with_another_name_is_reported_with_the_name_to_write() {
    const GATE: &[&str] = &["--feature-gates", "DRAConsumableCapacity=true"];
    const BOTH: &[&str] = &["d/m", "m"];
    for (release, gates, published, requested, reason, is_bug) in [
        (
            "1.37.2",
            &[][..],
            &["d/m"][..],
            "m",
            Some("has no capacity m (did you mean d/m?)"),
            true,
        ),
        (
            "1.37.2",
            &[],
            &["m"],
            "d/m",
            Some("has no capacity d/m (did you mean m?)"),
            true,
        ),
        (
            "1.36.6",
            &[],
            &["d/m"],
            "m",
            Some("has no capacity m (did you mean d/m?)"),
            true,
        ),
        (
            "1.35.10",
            GATE,
            &["m"],
            "d/m",
            Some("has no capacity d/m (did you mean m?)"),
            true,
        ),
        (
            "1.34.13",
            GATE,
            &["m"],
            "d/m",
            Some("has no capacity d/m (did you mean m?)"),
            true,
        ),
        // Without the gate nobody looks at capacities.
        ("1.35.10", &[], &["m"], "d/m", None, false),
        ("1.37.2", &[], &["m"], "m", None, false),
        ("1.37.2", &[], BOTH, "m", None, false),
        ("1.37.2", &[], BOTH, "d/m", None, false),
        (
            "1.37.2",
            &[],
            &["other.example.com/m"],
            "m",
            Some("has no capacity m (did you mean other.example.com/m?)"),
            false,
        ),
        (
            "1.37.2",
            &[],
            &["m"],
            "other.example.com/m",
            Some("has no capacity other.example.com/m (did you mean m?)"),
            false,
        ),
    ] {
        let capacity: serde_json::Map<_, _> = published
            .iter()
            .map(|name| ((*name).to_owned(), json!({"value": "8Gi"})))
            .collect();
        let mut claim = claim();
        claim["spec"]["devices"]["requests"][0]["exactly"]["capacity"] =
            json!({"requests": {requested: "1Gi"}});
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}});
        let objects = [
            claim,
            class(&json!([])),
            slice(&json!({"name": "x", "capacity": capacity})),
            node,
        ];
        let what = format!("{requested} of {published:?} in {release}");
        let of_release = [&["--kubernetes-version", release], gates].concat();
        let (_, report, stderr) = check(&[&["--only", "known-bug"], &of_release[..]].concat(), &objects);
        let finding = "DRA090 kubernetes/140650".to_owned();
        assert_eq!(
            told(&report).contains(&finding),
            is_bug,
            "{what}: {report:#}{stderr}"
        );

        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
        let given = ["--from", "-", "--complete", "--now", NOW, "-o", "json"];
        for command in [&["explain"][..], &["simulate", "allocation"]] {
            let run = dra(&[command, &["claim/n/c"], &given, &of_release[..]].concat())
                .stdin(list.clone())
                .run();
            let answer = assert_valid(&run.stdout);
            let notes = answer["notes"].to_string();
            assert_eq!(
                notes.contains("kubernetes/kubernetes#140650)"),
                is_bug,
                "{what}: {notes}"
            );
            if command == ["explain"] {
                let reasons = answer["nodes"][0]["reasons"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                let mut messages = reasons.iter().filter(|reason| reason["code"] == "NoSuchCapacity");
                let message = messages.next().and_then(|reason| reason["message"].as_str());
                assert_eq!(message, reason, "{what}: {answer:#}");
            }
        }
    }
}

#[test]
fn the_way_up_goes_through_each_release() {
    let written = json!([{"manager": "helm", "apiVersion": "resource.k8s.io/v1beta1", "operation": "Update", "time": "2026-10-01T00:00:00Z"}]);
    let tainted = json!({"name": "x", "taints": [{"key": "k", "effect": "NoSchedule"}]});
    let mut spread = claim();
    spread["spec"]["devices"]["requests"][0]["exactly"]["count"] = json!(3);
    spread["spec"]["devices"]["constraints"] = json!([{"distinctAttribute": "d/a"}]);
    let objects = [spread, class(&written), slice(&tainted)];
    for (from, to, path, expected) in [
        ("1.35.8", "1.36", vec!["1.36"], vec!["DRA134 d/a/x 1"]),
        ("1.35.8", "1.37", vec!["1.36", "1.37"], vec!["DRA134 d/a/x 1"]),
        ("1.36.4", "1.37", vec!["1.37"], vec!["DRA135 kubernetes/140438 1"]),
        ("1.37.1", "1.38", vec!["1.38"], vec!["DRA130 helm 1"]),
    ] {
        let args = ["--to-version", to, "--kubernetes-version", from];
        let (code, report, stderr) = check(&args, &objects);
        assert_eq!(report["scope"]["path"], json!(path), "{from} to {to}: {stderr}");
        assert_eq!(told(&report), expected, "{from} to {to}: {stderr}");
        assert_eq!(code, Some(1), "{from} to {to}");
        let is_unknown = !report["unknown"].as_array().expect("a list").is_empty();
        assert_eq!(is_unknown, to == "1.38", "{report:#}");
    }
    let run = dra(&[
        "check",
        "--from",
        "-",
        "--complete",
        "--to-version",
        "1.37",
        "--kubernetes-version",
        "1.37",
    ])
    .stdin(json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string())
    .run();
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr
            .contains("`--to-version`: this cluster already runs 1.37"),
        "{}",
        run.stderr
    );
    // Without managed fields it is unknown who writes how.
    let objects = [class(&Value::Null)];
    let (code, report, _) = check(&["--to-version", "1.38", "--only", "api-version"], &objects);
    assert_eq!(code, Some(4));
    assert!(
        report["unknown"]
            .to_string()
            .contains("no object has managedFields"),
        "{report:#}"
    );
}

fn role(name: &str, rules: &Value, subject: &Value) -> [Value; 2] {
    let api = "rbac.authorization.k8s.io";
    let version = format!("{api}/v1");
    [
        json!({"apiVersion": version, "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}),
        json!({"apiVersion": version, "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": name}, "subjects": [subject]}),
    ]
}

/// Objects that make the kinds known of which the test has none.
fn others() -> [Value; 2] {
    ["Role", "RoleBinding"].map(|kind| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": format!("{kind}List"), "items": []})
    })
}

#[test]
fn roles_of_a_file_say_who_may_do_what_and_without_them_nothing_is_said() {
    let rules = json!([
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["patch"]},
        {"apiGroups": ["resource.k8s.io"], "resources": ["*"], "verbs": ["create", "update"]},
    ]);
    let jane = json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"});
    let root = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    let masters = json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "root"});
    let mut objects = vec![claim(), class(&json!([]))];
    let without = check(&["--fail-on", "info"], &objects);
    assert!(
        !without.1["checked"]["codes"].to_string().contains("DRA093"),
        "{:#}",
        without.1
    );
    assert!(
        told(&without.1)
            .iter()
            .all(|finding| !finding.starts_with("DRA08")),
        "{:#}",
        without.1
    );
    // Asked for by name, it is unknown.
    let named = check(&["--only", "DRA093"], &objects);
    assert_eq!(named.0, Some(4), "{:#}", named.1);
    objects.extend(role("some", &rules, &jane));
    objects.extend(role("all", &root, &masters));
    objects.extend(others());
    let (code, report, stderr) = check(&["--only", "DRA092,DRA093,DRA094", "--fail-on", "info"], &objects);
    assert_eq!(
        told(&report),
        ["DRA092 jane", "DRA093 jane", "DRA094 jane"],
        "{stderr}"
    );
    assert_eq!(code, Some(1));
}
