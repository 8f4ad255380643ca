//! `check` on a cluster: what joins kinds is read again, and then sure.

use serde_json::{Value, json};

use crate::support::cluster::faulty::Fault;
use crate::support::cluster::{Cluster, scenario};
use crate::support::process::Run;

/// The report, of a run with this exit code.
fn report(run: Run, code: i32) -> Value {
    serde_json::from_str(&run.exits(code).stdout).expect("JSON")
}

/// `CODE kind/name` of each finding.
fn found(report: &Value) -> Vec<String> {
    let items = report["items"].as_array().expect("items");
    items
        .iter()
        .map(|item| {
            let (code, object) = (&item["code"], &item["object"]);
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            format!(
                "{} {}/{}",
                text(code),
                text(&object["kind"]),
                text(&object["name"])
            )
        })
        .collect()
}

#[test]
fn findings_of_a_cluster_are_confirmed() {
    let cluster = scenario::named("stale-reservations").start();
    let report = report(cluster.kubectl_dra(["check", "-o", "json"]).run(), 1);
    // The scheduler chose the node of the recreated pod, which may or may not be the one with the devices of its claim.
    let mut found = found(&report);
    found.retain(|finding| *finding != "DRA018 Pod/again");
    assert_eq!(
        found,
        [
            "DRA014 Pod/again",
            "DRA010 ResourceClaim/pod-gone",
            "DRA011 ResourceClaim/pod-done",
            "DRA012 ResourceClaim/pod-recreated",
            "DRA013 ResourceClaim/foreign",
            "DRA015 ResourceClaim/unreserved",
        ]
    );
    for item in report["items"].as_array().into_iter().flatten() {
        assert_eq!(item["certainty"], "Confirmed", "{item}");
    }
    assert_eq!(report["unknown"], json!([]));
}

#[test]
fn a_cluster_in_order_has_no_findings_and_a_hidden_one_no_verdict() {
    let cluster = Cluster::shared();
    let report = report(cluster.kubectl_dra(["check", "-o", "json"]).run(), 0);
    assert_eq!(found(&report), [""; 0]);
    let tenant = cluster.user("checking-tenant").with_role_in("inference", "view");
    let run = tenant.kubectl_dra(["check", "-n", "inference"]).run().exits(4);
    assert!(
        run.stderr.contains("warning: unknown: ")
            && run.stderr.contains("No findings in namespace `inference`"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_gate_of_the_api_server_is_seen_before_a_downgrade() {
    let cluster = scenario::named("podgroups").start();
    let run = cluster
        .kubectl_dra(["check", "--to-version", "1.36", "--only", "DRA122", "-o", "json"])
        .run();
    let report = report(run, 1);
    assert_eq!(found(&report), ["DRA122 FeatureGate/GenericWorkload"]);
    assert_eq!(report["unknown"], json!([]));
}

/// The list of pods is from before a pod came: there is no finding, as the pod is asked for again.
#[test]
fn a_pod_that_came_between_two_lists_makes_no_finding() {
    let cluster = Cluster::shared();
    let faulty = cluster.faulty(|path, _| {
        if path.split('?').next() == Some("/api/v1/pods") {
            Fault::Replaced(r#""name":"notebook","#, r#""name":"not-yet","#)
        } else {
            Fault::None
        }
    });
    let check = ["check", "-o", "json", "--only", "DRA010"];
    let report = report(cluster.kubectl_dra(check).args(faulty.flags()).run(), 0);
    assert_eq!(found(&report), [""; 0]);
    // There was a suspicion, which this answered.
    let asked = faulty.asked();
    let again = |path: &String| path.starts_with("/api/v1/namespaces/") && path.ends_with("/pods/notebook");
    assert!(asked.iter().any(again), "{asked:#?}");

    // Where the object cannot be read again, the suspicion stays one.
    let silent = cluster.faulty(|path, _| {
        if path.split('?').next() == Some("/api/v1/pods") {
            Fault::Replaced(r#""name":"notebook","#, r#""name":"not-yet","#)
        } else if path.ends_with("/pods/notebook") {
            Fault::Refusal(403, "", "forbidden".to_owned())
        } else {
            Fault::None
        }
    });
    let run = cluster.kubectl_dra(check).args(silent.flags()).run();
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(found(&report), ["DRA010 ResourceClaim/notebook-gpu"]);
    assert_eq!(report["items"][0]["certainty"], "Possible");
}
