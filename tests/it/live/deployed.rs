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

/// Applies a base, and returns the pods of its service account once there are so many. A CronJob whose time comes makes one more.
fn applied(cluster: &Cluster, folder: &str, account: &str, pods: usize) -> Vec<Value> {
    let created = base(cluster, &["apply", "--validate=strict"], folder);
    if created.contains("cronjob.batch/") {
        let (job, cron_job) = (format!("now-{account}"), format!("--from=cronjob/{account}"));
        let create = ["create", "job", &job, &cron_job, "-n", NAMESPACE];
        cluster.kubectl(create).run().exits(0);
    }
    wait_for(&format!("{folder} has {pods} pods"), || {
        let mut found = cluster.list("pod");
        found.retain(|pod| pod["spec"]["serviceAccountName"] == account);
        (found.len() >= pods).then_some(found)
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
        ("snapshot", "kubectl-dra-snapshot", 1),
        ("export", "kubectl-dra-export", 2),
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

#[test]
fn dashboards_are_in_the_config_map_that_grafana_looks_for() {
    let cluster = Cluster::start(&Options::default());
    base(&cluster, &["apply", "--validate=strict"], "export/dashboards");
    let maps = cluster.list("configmap/default");
    let labeled = maps
        .iter()
        .find(|map| map["metadata"]["labels"]["grafana_dashboard"] == "1");
    let files = labeled.expect("a ConfigMap")["data"].as_object().expect("files");
    for (name, file) in files {
        let dashboard: Value = serde_json::from_str(file.as_str().expect("text")).expect("JSON");
        let uid = dashboard["uid"].as_str().expect("text");
        assert_eq!(*name, format!("{uid}.json"));
    }
    assert_eq!(files.len(), 2);
}

/// The service account of the CronJob may do all that its command wants, and has no right to list for nothing.
#[test]
fn the_rights_of_the_cron_job_are_those_that_check_uses() {
    let options = Options::default().gate("GenericWorkload", true);
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

/// The service account of the CronJob may do all that a snapshot of a cluster with pending pods needs, and the snapshot is complete.
#[test]
fn the_rights_of_the_snapshot_job_are_those_that_a_snapshot_uses() {
    let cluster = restricted(&Options::default().gate("GenericWorkload", true));
    let pods = applied(&cluster, "snapshot", "kubectl-dra-snapshot", 1);
    let container = &pods[0]["spec"]["containers"][0];
    assert_eq!(
        container["env"][0]["valueFrom"]["configMapKeyRef"]["name"],
        "kubectl-dra-snapshot"
    );
    assert_eq!(
        cluster.get("configmap/kubectl-dra/kubectl-dra-snapshot")["data"]["cluster"],
        "cluster"
    );
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mounted = directory.path().display().to_string();
    let args = container["args"]
        .as_array()
        .expect("arguments")
        .iter()
        .map(|arg| {
            let arg = arg.as_str().expect("text");
            arg.replace("/snapshots", &mounted)
                .replace("$(CLUSTER)", "prod-a")
        });
    let run = cluster
        .service_account(NAMESPACE, "kubectl-dra-snapshot")
        .kubectl_dra(args)
        .run()
        .exits(0);
    assert!(!run.stderr.contains("warning: "), "{}", run.stderr);
    let requests = cluster.requests_of("system:serviceaccount:kubectl-dra:kubectl-dra-snapshot");
    // Configurations of a scheduler that runs as a Deployment are read if they may be.
    let refused = requests
        .iter()
        .filter(|request| request.ends_with(" 403") && !request.contains("/kube-system/configmaps"));
    let refused: Vec<_> = refused.collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let role = cluster.get("clusterrole/kubectl-dra-snapshot");
    for rule in role["rules"].as_array().expect("rules") {
        // Owners are read only where pods wait.
        let group = rule["apiGroups"][0].as_str().unwrap_or_default();
        if ["apps", "batch", "kueue.x-k8s.io", "resource.nvidia.com"].contains(&group) {
            continue;
        }
        let of = rule["resources"]
            .as_array()
            .or(rule["nonResourceURLs"].as_array());
        for resource in of.expect("what it is about") {
            let resource = format!("/{}", resource.as_str().expect("text").trim_start_matches('/'));
            // A gate that is off in this cluster serves them.
            let is_served = resource != "/compositepodgroups";
            let is_asked = requests.iter().any(|request| request.contains(&resource));
            assert!(is_asked || !is_served, "{resource}: {requests:#?}");
        }
    }
    let fleet = cluster
        .kubectl_dra(["status", "-o", "json", "--fleet", &mounted])
        .run()
        .exits(0)
        .json();
    assert_eq!(fleet["clusters"][0]["cluster"], "prod-a");
    assert_eq!(fleet["clusters"][0]["report"]["kind"], "ClusterStatus");
}
