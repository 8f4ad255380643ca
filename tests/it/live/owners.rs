//! Reactions of owners' controllers to pods with devices, and reports about pods without devices.

use serde_json::{Value, json};

use super::remedies::obey;
use crate::support::cluster::objects::{Manifest as _, claim_spec, gpu, pod, template};
use crate::support::cluster::{Cluster, Options};
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

/// Pods of the Deployment, with or without a node.
fn pods(cluster: &Cluster, with_node: bool) -> Vec<Value> {
    let pods = cluster.list("pod").into_iter();
    pods.filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
        .filter(|pod| pod["spec"]["nodeName"].is_string() == with_node)
        .collect()
}

fn template_of_pods(image: &str) -> Value {
    let mut spec = pod("unused").template_claim("gpu", "all")["spec"].clone();
    spec["restartPolicy"] = json!("Always");
    spec["containers"][0]["image"] = json!(image);
    json!({"metadata": {"labels": {"app": "web"}}, "spec": spec})
}

#[test]
fn a_rollout_that_waits_for_itself_ends_with_another_strategy() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(1);
    cluster.create(&template("all", claim_spec([gpu().count(8)])));
    cluster.create(
        &json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template_of_pods("x:1")}}),
    );
    let old = wait_for("the first pod has a node", || pods(&cluster, true).pop());
    let name = |pod: &Value| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let old = name(&old);
    cluster.patch_status(
        &format!("pod/{old}"),
        &json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}),
    );
    cluster.wait("deployment/web", "is available", |web| {
        web["status"]["availableReplicas"] == 1
    });
    cluster.update("deployment/web", |web| {
        web["spec"]["template"] = template_of_pods("x:2");
    });
    let new = wait_for("the new pod has its claim", || {
        let mut all = pods(&cluster, false).into_iter();
        all.find(|pod| pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"].is_string())
    });
    let explain = |object: &str| {
        let run = cluster
            .kubectl_dra(["explain", object, "-o", "json"])
            .run()
            .exits(1);
        assert_valid(&run.stdout)
    };
    let report = explain(&format!("pod/{}", name(&new)));
    assert_eq!(report["waiting"]["helps"], "kept", "{report:#}");
    assert_eq!(report["fixes"].as_array().map(Vec::len), Some(1), "{report:#}");
    assert_eq!(report["fixes"][0]["kind"], "ChangeStrategy", "{report:#}");
    let of_deployment = explain("deployment/web");
    assert_eq!(
        of_deployment["target"]["name"], new["metadata"]["name"],
        "{of_deployment:#}"
    );
    assert_eq!(of_deployment["waiting"]["helps"], "kept", "{of_deployment:#}");
    // A snapshot has the owner, too.
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("cluster.json");
    let out = format!("--out={}", file.display());
    cluster.kubectl_dra(["snapshot", &out]).run().exits(0);
    let from = format!("--from={}", file.display());
    let object = format!("pod/{}", name(&new));
    let run = cluster
        .kubectl_dra(["explain", &object, "-o", "json", &from])
        .run();
    let recorded = assert_valid(&run.exits(1).stdout);
    for part in ["cause", "waiting", "summary"] {
        assert_eq!(recorded[part], report[part], "{part}: {recorded:#}");
    }
    assert_eq!(recorded["fixes"][0]["command"], report["fixes"][0]["command"]);
    let command = report["fixes"][0]["command"].as_str().expect("a command");
    obey(&cluster, command);
    wait_for("the new pod has the devices", || {
        cluster.finish_deletions();
        pods(&cluster, true).into_iter().find(|pod| name(pod) != old)
    });
}

#[test]
fn an_owner_without_pods_says_why() {
    let cluster = Cluster::shared();
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "held"}, "spec": {
        "suspend": true, "template": {"spec": pod("unused")["spec"].clone().with(json!({"restartPolicy": "Never"}))}}});
    cluster.create(&job);
    let run = cluster
        .kubectl_dra(["explain", "job/held", "-o", "json"])
        .run()
        .exits(0);
    let report = assert_valid(&run.stdout);
    assert_eq!(report["verdict"], "Ended", "{report:#}");
    assert!(
        report["summary"]
            .as_str()
            .unwrap_or_default()
            .contains("suspended"),
        "{report:#}"
    );
    cluster.delete_now("job/held");
    let run = cluster.kubectl_dra(["explain", "job/held"]).run().exits(3);
    assert!(
        run.stderr
            .contains("job/default/held not found, and no pod belongs to it"),
        "{}",
        run.stderr
    );
}
