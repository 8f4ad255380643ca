//! The script and the Job of docs/examples, with the rights that the manifest grants and no others. Only exit codes say how it went.

use std::path::Path;

use serde_json::{Value, json};

use super::{GATES, Records, cluster, end_pods, groups, list, several, sorted, turn_off};
use crate::support::cluster::{Cluster, User};
use crate::support::process::Run;
use crate::support::wait::wait_for;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples");
const ACCOUNT: &str = "system:serviceaccount:kube-system:pre-downgrade";

fn example(file: &str) -> String {
    Path::new(EXAMPLES).join(file).display().to_string()
}

/// What the Job's container runs.
fn script(robot: &User, records: &Records, phase: &str) -> Run {
    robot
        .shell(&format!("sh {} {phase} 1.36", example("pre-downgrade.sh")))
        .env("XDG_STATE_HOME", records.folder.path())
        .run()
}

/// Waits until the authorizer knows whether the account has the right.
fn wait_allowed(cluster: &Cluster, rule: &Value, expected: bool) {
    let resource = rule["resources"][0].as_str().expect("a resource");
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {"user": ACCOUNT,
        "resourceAttributes": {"verb": rule["verbs"][0], "group": rule["apiGroups"][0], "resource": resource,
            "subresource": subresource, "name": rule["resourceNames"][0], "namespace": if rule["resourceNames"].is_array() { "kube-system" } else { "" }}}});
    wait_for(&format!("{resource}/{subresource}: {expected}"), || {
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let answer = cluster.request(&http::Method::POST, path, &review);
        (answer.body["status"]["allowed"] == expected).then_some(())
    });
}

#[test]
fn the_script_leads_to_a_downgrade_with_the_rights_of_the_manifest() {
    let cluster = cluster();
    groups(&cluster, &["llm"], 2);
    several(&cluster);
    let script_map = format!("--from-file={}", example("pre-downgrade.sh"));
    cluster
        .kubectl([
            "create",
            "configmap",
            "pre-downgrade",
            "-n",
            "kube-system",
            &script_map,
        ])
        .run()
        .exits(0);
    cluster
        .kubectl(["apply", "-f", &example("pre-downgrade-job.yaml")])
        .run()
        .exits(0);
    // The Job is one that Kubernetes carries out: its pod waits for the volume only.
    let job_pod = wait_for("the Job's pod", || {
        let pods = cluster.list("pod/kube-system");
        pods.into_iter()
            .find(|pod| pod["metadata"]["labels"]["job-name"] == "pre-downgrade")
    });
    assert_eq!(job_pod["spec"]["serviceAccountName"], "pre-downgrade");

    let robot = cluster.service_account("kube-system", "pre-downgrade");
    let records = Records::new();
    let rules = cluster.get("clusterrole/pre-downgrade")["rules"].clone();
    let rules = rules.as_array().expect("rules");
    for rule in rules {
        wait_allowed(&cluster, rule, true);
    }
    // Without any one of the rights that are needed before, nothing is written, and the exit code says why.
    let lists = || ["llm", "pair", "mixed", "batch"].map(|name| list(&cluster, &format!("claim/{name}")));
    let before = lists();
    for (missing, code) in [
        ("resourceclaims", 3),
        ("pods", 4),
        ("podgroups", 4),
        ("resourceclaims/status", 3),
        ("resourceclaims/binding", 3),
    ] {
        let (gone, rest): (Vec<&Value>, Vec<&Value>) =
            rules.iter().partition(|rule| rule["resources"][0] == missing);
        cluster.update("clusterrole/pre-downgrade", |role| role["rules"] = json!(rest));
        wait_allowed(&cluster, gone[0], false);
        let run = script(&robot, &records, "before");
        assert_eq!(
            run.code,
            Some(code),
            "without {missing}: {}\n{}",
            run.stdout,
            run.stderr
        );
        assert_eq!(lists(), before, "without {missing}");
        cluster.update("clusterrole/pre-downgrade", |role| role["rules"] = json!(rules));
        wait_allowed(&cluster, gone[0], true);
    }

    // Everything but the reservation for a job, which somebody has to decide about.
    let run = script(&robot, &records, "before");
    assert_eq!(run.code, Some(1), "{}\n{}", run.stdout, run.stderr);
    assert_eq!(sorted(&cluster, "claim/llm"), ["pods/llm-0", "pods/llm-1"]);
    assert_eq!(sorted(&cluster, "claim/batch"), ["jobs/render", "pods/batch"]);
    cluster.update_status("claim/batch", |claim| {
        let entries = claim["status"]["reservedFor"].as_array_mut().expect("a list");
        entries.retain(|entry| entry["resource"] == "pods");
    });
    let run = script(&robot, &records, "before");
    assert_eq!(run.code, Some(0), "{}\n{}", run.stdout, run.stderr);

    turn_off(&cluster, &["DRAWorkloadResourceClaims"]);
    let run = script(&robot, &records, "final");
    assert_eq!(run.code, Some(0), "{}\n{}", run.stdout, run.stderr);
    turn_off(&cluster, &GATES);
    end_pods(&cluster);
    for name in ["llm", "pair", "mixed", "batch"] {
        cluster.wait(&format!("claim/{name}"), "it is free", |claim| {
            claim["status"]["allocation"].is_null() && claim["status"]["reservedFor"].is_null()
        });
    }
}
