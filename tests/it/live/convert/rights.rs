//! The rights of a writing `convert`: with those of the documentation it works, and without one of them it says so before it begins.

use serde_json::{Value, json};

use super::{Records, convert, groups, list};
use crate::support::cluster::Component;

fn rule(group: &str, resource: &str, verb: &str) -> Value {
    json!({"apiGroups": [group], "resources": [resource], "verbs": [verb]})
}

/// Returns what is read: the row of `convert plan` in docs/reference/permissions.md.
fn reading() -> Vec<Value> {
    vec![
        rule("resource.k8s.io", "resourceclaims", "list"),
        rule("", "pods", "list"),
        rule("scheduling.k8s.io", "podgroups", "list"),
    ]
}

#[test]
fn each_right_of_a_writing_convert_is_asked_for_before_anything_is_written() {
    let cluster = super::cluster();
    groups(&cluster, &["llm"], 2);
    groups(&cluster, &["unused"], 1);
    // The claim controller would put the entry of the group back.
    cluster.stop(Component::ControllerManager);
    // Nothing but the entry of a job that is gone holds this one.
    cluster.update_status("claim/unused", |claim| {
        claim["status"]["reservedFor"] =
            json!([{"apiGroup": "batch", "resource": "jobs", "name": "render", "uid": "11111111"}]);
    });
    cluster.delete_now("pod/unused-0");
    let lists = || ["llm", "unused"].map(|name| list(&cluster, &format!("claim/{name}")));
    let before = lists();
    // The order is that of the flags: without `--release-unused` the last one is not needed.
    let writing = [
        "resourceclaims/status",
        "resourceclaims/binding",
        "resourceclaims",
    ];
    let flags = ["--all-kinds", "--release-unused", "--entry=jobs.batch/render"];
    for (number, left_out) in writing.iter().enumerate() {
        let mut rules = reading();
        rules.extend(
            writing
                .iter()
                .filter(|one| one != &left_out)
                .map(|target| rule("resource.k8s.io", target, "patch")),
        );
        let user = cluster
            .user(&format!("converts-less-{number}"))
            .allowed(&Value::Array(rules));
        let records = Records::new();
        let run = convert(&user, &records.backup(), &flags).run().exits(3);
        for words in [
            format!("may not patch {left_out} in"),
            "kind: ClusterRole\n".to_owned(),
            format!("resources: [\"{left_out}\"]\n"),
            "verbs: [\"patch\"]".to_owned(),
        ] {
            assert!(
                run.stderr.contains(&words),
                "without {left_out}: {words}: {}",
                run.stderr
            );
        }
        // It prints what is missing, and nothing that is there.
        assert_eq!(run.stderr.matches("  resources: ").count(), 1, "{}", run.stderr);
        assert!(
            !records.backup().exists() && !records.journal().exists(),
            "without {left_out}"
        );
        assert_eq!(lists(), before, "without {left_out}");
    }
    // Reading less: nothing is written either.
    for (number, left_out) in ["resourceclaims", "pods", "podgroups"].iter().enumerate() {
        let mut rules = reading();
        rules.retain(|rule| rule["resources"][0] != *left_out);
        rules.extend(writing.map(|target| rule("resource.k8s.io", target, "patch")));
        let user = cluster
            .user(&format!("converts-blind-{number}"))
            .allowed(&Value::Array(rules));
        let records = Records::new();
        let run = convert(&user, &records.backup(), &flags).run();
        assert!(matches!(run.code, Some(3 | 4)), "without {left_out}: {run:?}");
        assert!(
            run.stderr.contains(left_out),
            "without {left_out}: {}",
            run.stderr
        );
        assert!(
            !records.backup().exists() && !records.journal().exists(),
            "without {left_out}"
        );
        assert_eq!(lists(), before, "without {left_out}");
    }
    // Exactly these are enough, and fewer where nothing is released.
    let mut rules = reading();
    rules.extend(
        writing[..2]
            .iter()
            .map(|target| rule("resource.k8s.io", target, "patch")),
    );
    let user = cluster.user("converts").allowed(&Value::Array(rules.clone()));
    convert(&user, &Records::new().backup(), &["claim/default/llm"])
        .run()
        .exits(0);
    assert_eq!(cluster.reservations_of("claim/llm"), ["pods/llm-0", "pods/llm-1"]);
    rules.push(rule("resource.k8s.io", "resourceclaims", "patch"));
    let user = cluster.user("releases").allowed(&Value::Array(rules));
    convert(&user, &Records::new().backup(), &flags).run().exits(0);
    assert!(cluster.get("claim/unused")["status"]["allocation"].is_null());
}
