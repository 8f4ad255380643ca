//! What `deploy` has for a cluster, on a real control plane.

use serde_json::{Value, json};

use crate::support::cluster::{Cluster, Options};
use crate::support::wait::wait_for;

const NAMESPACE: &str = "kubectl-dra";

/// A cluster whose namespace for the program admits no pod with more rights than it needs.
fn restricted(options: &Options) -> Cluster {
    let cluster = Cluster::start(options);
    cluster.create(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": NAMESPACE,
        "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
    }}));
    cluster
}

/// `kubectl VERB -k` of a base.
fn base(cluster: &Cluster, verb: &[&str], base: &str) -> String {
    let folder = format!("{}/deploy/{base}", env!("CARGO_MANIFEST_DIR"));
    let run = cluster.kubectl(verb).args(["-k", folder.as_str()]).run();
    run.exits(0).stdout
}

/// Applies a base, and returns the pods of its service account once there are so many.
fn applied(cluster: &Cluster, folder: &str, account: &str, pods: usize) -> Vec<Value> {
    let created = base(cluster, &["apply", "--validate=strict"], folder);
    if created.contains("cronjob.batch/") {
        let job = [
            "create",
            "job",
            "now",
            "--from=cronjob/kubectl-dra-check",
            "-n",
            NAMESPACE,
        ];
        cluster.kubectl(job).run().exits(0);
    }
    wait_for(&format!("{folder} has {pods} pods"), || {
        let mut found = cluster.list("pod");
        found.retain(|pod| pod["spec"]["serviceAccountName"] == account);
        (found.len() == pods).then_some(found)
    })
}

#[test]
fn each_base_is_applied_and_taken_away_and_its_pods_are_admitted_where_pods_are_restricted() {
    let cluster = restricted(&Options::default());
    let bases = [
        ("shadow", "kubectl-dra-run", 1),
        ("supplement", "kubectl-dra-supplement", 2),
        ("take-over", "kubectl-dra-take-over", 2),
        ("check", "kubectl-dra-check", 1),
    ];
    for (folder, account, pods) in bases {
        applied(&cluster, folder, account, pods);
    }
    for (folder, ..) in bases {
        base(
            &cluster,
            &["delete", "--wait=false", "--ignore-not-found"],
            folder,
        );
    }
    let roles = cluster.list("clusterrole");
    let names = roles.iter().filter_map(|role| role["metadata"]["name"].as_str());
    let left: Vec<&str> = names.filter(|name| name.starts_with("kubectl-dra")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The service account of the CronJob may do all that its command wants, and has no right to list for nothing.
#[test]
fn the_rights_of_the_cron_job_are_those_that_check_uses() {
    let options = Options::default().gate("GenericWorkload", true).audited();
    let cluster = restricted(&options);
    let pods = applied(&cluster, "check", "kubectl-dra-check", 1);
    let args = pods[0]["spec"]["containers"][0]["args"]
        .as_array()
        .expect("arguments");
    let args = args.iter().map(|arg| arg.as_str().expect("text"));
    let run = cluster
        .service_account(NAMESPACE, "kubectl-dra-check")
        .kubectl_dra(args)
        .run();
    assert!(matches!(run.code, Some(0 | 1)), "{}{}", run.stdout, run.stderr);
    let requests = cluster.requests_of("system:serviceaccount:kubectl-dra:kubectl-dra-check");
    let refused = requests.iter().filter(|request| request.ends_with(" 403"));
    let refused: Vec<_> = refused.collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let role = cluster.get("clusterrole/kubectl-dra-check");
    for rule in role["rules"].as_array().expect("rules") {
        let of = rule["resources"]
            .as_array()
            .or(rule["nonResourceURLs"].as_array());
        for resource in of.expect("what it is about") {
            let resource = resource.as_str().expect("text").trim_start_matches('/');
            let is_asked = |request: &String| request.contains(&format!("/{resource}"));
            // Reviews are asked for where a driver is seen to need a right.
            let is_used = resource == "subjectaccessreviews" || requests.iter().any(is_asked);
            assert!(is_used, "{resource}: {requests:#?}");
        }
    }
}
