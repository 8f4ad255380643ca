//! Conversions that nothing gets in the way of, and those that are refused.

use serde_json::{Value, json};

use super::{
    GATES, OFF, ON, Records, cluster, convert, end_pods, final_pass, groups, is_free, list, member_of, named,
    several, small, turn_off,
};
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, pod, pod_group, template};
use crate::support::schema::assert_schema;
use crate::support::wait::wait_for;

/// The outcome of each claim in a report.
fn outcomes(report: &Value) -> Vec<String> {
    let claims = report["claims"].as_array().expect("claims");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    claims
        .iter()
        .map(|claim| format!("{} {}", text(&claim["name"]), text(&claim["outcome"])))
        .collect()
}

/// A report that is what its schema says.
fn report(stdout: &str) -> Value {
    assert_schema!(stdout)
}

#[test]
fn reservations_become_pods_and_the_devices_come_back() {
    let cluster = cluster();
    groups(&cluster, &["llm"], 3);
    several(&cluster);
    let records = Records::new();
    let backup = records.backup();
    let versions = || -> Vec<String> {
        let claims = cluster.list("claim");
        claims
            .iter()
            .map(|claim| claim["metadata"]["resourceVersion"].to_string())
            .collect()
    };

    // No question is asked and nothing is written unless a flag says so.
    let before = versions();
    cluster.kubectl_dra(["convert"]).run().exits(2);
    for mode in ["client", "server"] {
        let run = cluster
            .kubectl_dra(["convert", ON, "-o", "json", &format!("--dry-run={mode}")])
            .run()
            .exits(1);
        assert_eq!(
            outcomes(&report(&run.stdout)),
            [
                "batch Kept",
                "llm WouldConvert",
                "mixed WouldConvert",
                "pair WouldConvert"
            ],
            "{mode}"
        );
    }
    assert_eq!(versions(), before);
    assert!(!backup.exists());

    let run = convert(&cluster, &backup, &["-o", "json"]).run().exits(1);
    assert_eq!(
        outcomes(&report(&run.stdout)),
        ["batch Kept", "llm Converted", "mixed Converted", "pair Converted"]
    );
    assert_eq!(
        cluster.reservations_of("claim/batch"),
        ["jobs/render", "pods/batch"]
    );
    assert_eq!(
        cluster.reservations_of("claim/llm"),
        ["pods/llm-0", "pods/llm-1", "pods/llm-2"]
    );
    assert_eq!(
        cluster.reservations_of("claim/pair"),
        ["pods/pair-a-0", "pods/pair-b-0"]
    );
    let mut mixed = cluster.reservations_of("claim/mixed");
    mixed.sort();
    assert_eq!(mixed, ["pods/mixed-0", "pods/solo"]);

    let run = convert(&cluster, &Records::new().backup(), &["--all-kinds", "-o", "json"])
        .run()
        .exits(0);
    assert_eq!(outcomes(&report(&run.stdout)), ["batch Converted"]);
    assert_eq!(cluster.reservations_of("claim/batch"), ["pods/batch"]);

    // Without the gate no component brings the groups back, and every claim is freed when its pods end.
    turn_off(&cluster, &["DRAWorkloadResourceClaims"]);
    let last = final_pass(&cluster).run().exits(0);
    assert!(last.stderr.contains("No claims to convert"), "{}", last.stderr);
    turn_off(&cluster, &GATES);
    end_pods(&cluster);
    for claim in ["llm", "pair", "mixed", "batch"] {
        cluster.wait(&format!("claim/{claim}"), "it is free", is_free);
    }
}

#[test]
fn the_final_phase_needs_to_know_that_the_gate_is_off() {
    let cluster = cluster();
    groups(&cluster, &["a"], 1);
    let before = list(&cluster, "claim/a");
    let args = ["convert", "--yes", "--final", "--settle=1s"];
    let run = cluster.kubectl_dra(args).run().exits(4);
    assert!(
        run.stderr
            .contains("--scheduler-feature-gates DRAWorkloadResourceClaims=false"),
        "{}",
        run.stderr
    );
    cluster.kubectl_dra(args).args(&OFF[..1]).run().exits(4);
    cluster.kubectl_dra(args).args([ON]).run().exits(3);
    assert_eq!(list(&cluster, "claim/a"), before);
    // The word of the operator is enough.
    cluster.kubectl_dra(args).args(OFF).run().exits(0);
    assert_eq!(cluster.reservations_of("claim/a"), ["pods/a-0"]);
}

#[test]
fn what_cannot_be_converted_is_refused_and_nothing_is_written() {
    let cluster = cluster();
    cluster.create_all(&[
        claim("deleting", claim_spec([gpu()])),
        pod_group("deleting", [named("deleting")]),
        claim("late", claim_spec([gpu()])),
        pod_group("late", [named("late")]),
        template("one-gpu", claim_spec([gpu()])),
        pod_group(
            "sim",
            [json!({"name": "gpu", "resourceClaimTemplateName": "one-gpu"})],
        ),
        claim("unused", claim_spec([gpu()])),
        pod_group("unused", [named("unused")]),
    ]);
    cluster.run(&[
        member_of("deleting", 0),
        member_of("late", 0),
        small(pod("sim-0"))
            .template_claim("gpu", "one-gpu")
            .in_group("sim"),
        member_of("unused", 0),
    ]);
    cluster.set_phase("pod/unused-0", Phase::Succeeded);
    cluster.delete("claim/deleting");
    let nowhere = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "nowhere"}}});
    cluster.create(&member_of("late", 1).with(nowhere));
    let lists = || -> Vec<String> {
        let claims = cluster.list("claim");
        claims
            .iter()
            .map(|claim| format!("{} {}", claim["metadata"]["name"], claim["status"]["reservedFor"]))
            .collect()
    };
    let before = lists();
    let run = convert(&cluster, &Records::new().backup(), &["-o", "json"])
        .run()
        .exits(1);
    let result = report(&run.stdout);
    let codes: Vec<String> = result["claims"]
        .as_array()
        .expect("claims")
        .iter()
        .map(|claim| {
            format!(
                "{} {}",
                claim["outcome"].as_str().unwrap_or_default(),
                claim["code"].as_str().unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(
        codes,
        [
            "Refused ClaimDeleting",
            "Refused UnscheduledMembers",
            "Refused GeneratedForPodGroup",
            "Refused NoLiveConsumer"
        ]
    );
    assert_eq!(lists(), before);

    // Who waits gets what becomes possible.
    let witness = cluster.faulty(|_, _| Fault::None);
    let waiting = convert(
        &cluster,
        &Records::new().backup(),
        &["claim/default/late", "--wait", "--timeout=10m"],
    )
    .args(witness.flags())
    .start_unguarded();
    wait_for("it has looked at the pods in vain, and does so again", || {
        let asked = witness.asked();
        let looks = asked.iter().filter(|asked| asked.contains("/pods?")).count();
        (looks > 2).then_some(())
    });
    cluster.delete_now("pod/late-1");
    let run = waiting.finish().exits(0);
    assert!(run.stdout.contains("Converted"), "{}", run.stdout);
    assert_eq!(cluster.reservations_of("claim/late"), ["pods/late-0"]);
}

#[test]
fn old_lists_are_restored_where_nothing_has_changed() {
    let cluster = cluster();
    groups(&cluster, &["a", "b", "c"], 2);
    let claims = ["claim/a", "claim/b", "claim/c"];
    let before = claims.map(|claim| list(&cluster, claim));
    let records = Records::new();
    let backup = records.backup();
    convert(&cluster, &backup, &[]).run().exits(0);
    assert!(records.journal().exists());
    // Somebody changes one of them, and the object of another's entry goes.
    cluster.update_status("claim/b", |claim| {
        let entry = json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "uj"});
        claim["status"]["reservedFor"]
            .as_array_mut()
            .expect("a list")
            .push(entry);
    });
    cluster.patch("podgroup/c", &json!({"metadata": {"finalizers": null}}));
    cluster.delete("podgroup/c");
    cluster.wait_gone("podgroup/c");
    let kept = list(&cluster, "claim/b");
    let restore = |more: &[&str]| {
        let backup = backup.display().to_string();
        cluster
            .kubectl_dra(["convert", "restore", "--yes", "--backup", &backup])
            .args(more)
            .run()
    };
    let faulty = cluster.faulty(|_, _| Fault::None);
    let flags = faulty.flags();
    let rehearsed = restore(&["--dry-run=server", &flags[0], &flags[1]]).exits(1);
    assert!(rehearsed.stdout.contains("WouldRestore"), "{}", rehearsed.stdout);
    // Groups that were listed with the pods are not asked for one by one.
    let single = |name| {
        faulty
            .asked()
            .iter()
            .any(|asked| asked.ends_with(&format!("/podgroups/{name}")))
    };
    assert_eq!(["a", "b", "c"].map(single), [false, false, true]);
    let run = restore(&[]).exits(1);
    for words in ["Restored", "+jobs.batch/j", "podgroups.scheduling.k8s.io c"] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
    assert_eq!(list(&cluster, "claim/a"), before[0]);
    assert_eq!(list(&cluster, "claim/b"), kept);
    assert!(!list(&cluster, "claim/c").contains("podgroups"));
    // The second time there is nothing to do.
    let again = restore(&["claim/default/a", "-o", "json"]).exits(0);
    assert_eq!(report(&again.stdout)["claims"][0]["outcome"], "AlreadyDone");
}

#[test]
fn missing_rights_are_named_before_anything_is_written() {
    let cluster = cluster();
    groups(&cluster, &["a"], 1);
    let before = list(&cluster, "claim/a");
    let rule = |resources: &[&str], verbs: &[&str]| json!({"apiGroups": ["", "resource.k8s.io", "scheduling.k8s.io"], "resources": resources, "verbs": verbs});
    let read = rule(&["resourceclaims", "pods", "podgroups"], &["get", "list"]);
    let status = rule(&["resourceclaims/status"], &["patch"]);
    let binding = rule(&["resourceclaims/binding"], &["patch"]);
    let try_it = |user: &crate::support::cluster::User| user.kubectl_dra(["convert", "--yes", ON]).run();

    let reader = cluster.user("reader").allowed(&json!([read]));
    let run = try_it(&reader).exits(3);
    for words in [
        "user `reader` may not",
        "patch resourceclaims/status in namespace `default`",
        "patch resourceclaims/binding in all namespaces",
        "kind: ClusterRole\n",
        "resources: [\"resourceclaims/binding\"]",
    ] {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    // A right on `binding` in one namespace is none.
    let local = cluster
        .user("local")
        .allowed(&json!([read]))
        .allowed_in("default", &json!([status.clone(), binding.clone()]));
    let run = try_it(&local).exits(3);
    assert!(
        run.stderr.contains("patch resourceclaims/binding"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("resourceclaims/status in"), "{}", run.stderr);
    let blind = cluster.user("blind").allowed(&json!([
        rule(&["resourceclaims", "podgroups"], &["get", "list"]),
        status.clone(),
        binding.clone()
    ]));
    let run = try_it(&blind).exits(4);
    assert!(
        run.stderr.contains("nothing was written: pods are missing"),
        "{}",
        run.stderr
    );
    assert_eq!(list(&cluster, "claim/a"), before);

    let enough = cluster.user("enough").allowed(&json!([read, status, binding]));
    try_it(&enough).exits(0);
    assert_eq!(cluster.reservations_of("claim/a"), ["pods/a-0"]);
}

#[test]
fn devices_of_unused_claims_are_taken_back() {
    let cluster = cluster();
    groups(&cluster, &["a", "b"], 1);
    turn_off(&cluster, &GATES);
    for name in ["a", "b"] {
        cluster.delete_now(&format!("pod/{name}-0"));
    }
    cluster.patch("podgroup/a", &json!({"metadata": {"finalizers": null}}));
    cluster.delete("podgroup/a");
    cluster.wait_gone("podgroup/a");
    let run = cluster
        .kubectl_dra(["convert", "--yes", "--release-unused", "-o", "json"])
        .args(OFF)
        .run()
        .exits(1);
    assert_eq!(outcomes(&report(&run.stdout)), ["a Released", "b Refused"]);
    let claim = cluster.get("claim/a");
    assert!(claim["status"]["allocation"].is_null(), "{claim:#}");
    assert!(claim["metadata"]["finalizers"].is_null(), "{claim:#}");
    assert_eq!(cluster.reservations_of("claim/b"), ["podgroups/b"]);
    // Its group exists, so the operator has to name it.
    let run = cluster
        .kubectl_dra([
            "convert",
            "--yes",
            "--release-unused",
            "--entry=podgroups.scheduling.k8s.io/b",
            "-o",
            "json",
        ])
        .args(OFF)
        .run()
        .exits(0);
    assert_eq!(outcomes(&report(&run.stdout)), ["b Released"]);
}
