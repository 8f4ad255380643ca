//! Device taints, in slices and by rules, and the pods that they drive away.

use serde_json::{Value, json};

use crate::support::cluster::Cluster;
use crate::support::cluster::kubelet::condition;
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, disruption_budget, gpu, namespace, pod, taint, taint_rule, template,
};

/// A template for one GPU with one toleration.
fn tolerating(name: &str, toleration: &Value) -> Value {
    template(
        name,
        claim_spec([gpu().exactly(json!({"tolerations": [toleration]}))]),
    )
}

/// Running pods with and without tolerations, a shared claim, a pod without devices. No taint yet.
pub(crate) fn device_taints(cluster: &Cluster) {
    cluster.add_gpu_nodes(2);
    let toleration = |more: Value| json!({"key": "example.com/unhealthy", "operator": "Exists"}).with(more);
    let for_seconds = |seconds: u32| toleration(json!({"effect": "NoExecute", "tolerationSeconds": seconds}));
    cluster.create_all(&[
        namespace("batch"),
        template("plain", claim_spec([gpu()])),
        template("plain", claim_spec([gpu()])).in_namespace("batch"),
        tolerating("tolerates", &toleration(json!({"effect": "NoExecute"}))),
        tolerating("tolerates-20s", &for_seconds(20)),
        tolerating("tolerates-1h", &for_seconds(3600)),
        tolerating("tolerates-any-effect", &toleration(json!({}))),
        claim("shared", claim_spec([gpu()])),
        disruption_budget("a", "a", 1),
    ]);
    let from_template = |name: &str| pod(name).template_claim("gpu", name);
    cluster.run(&[
        from_template("plain").labeled("app", "a"),
        from_template("plain").in_namespace("batch"),
        from_template("tolerates"),
        from_template("tolerates-20s"),
        from_template("tolerates-1h"),
        from_template("tolerates-any-effect"),
        pod("sharer-0").named_claim("gpu", "shared"),
        pod("sharer-1").named_claim("gpu", "shared"),
        pod("no-device"),
    ]);
}

/// What follows in [`device_taints`] when every GPU gets a NoExecute taint in its slice: returns when all
/// pods without a toleration that counts are being deleted. One with an empty effect does not count.
pub(crate) fn taint_all_gpus(cluster: &Cluster) {
    for node in ["gpu-node-1", "gpu-node-2"] {
        cluster.update(&format!("slice/{node}-gpu.example.com"), |slice| {
            for device in slice["spec"]["devices"].as_array_mut().into_iter().flatten() {
                device["taints"] = json!([taint("example.com/unhealthy", "xid-79", "NoExecute")]);
            }
        });
    }
    wait_deleting(
        cluster,
        &[
            "pod/plain",
            "pod/batch/plain",
            "pod/tolerates-any-effect",
            "pod/sharer-0",
            "pod/sharer-1",
        ],
    );
}

/// DeviceTaintRules with effect None (by pool, by driver, with an empty selector, without one) and
/// NoSchedule, each with the controller's condition; running pods, two of which tolerate such a taint for a
/// time.
pub(crate) fn taint_rules(cluster: &Cluster) {
    cluster.add_gpu_nodes(2);
    let any = json!({"operator": "Exists", "effect": "NoExecute"});
    let maintenance = any.clone().with(json!({"key": "example.com/maintenance"}));
    cluster.create_all(&[
        namespace("batch"),
        template("plain", claim_spec([gpu()])),
        template("plain", claim_spec([gpu()])).in_namespace("batch"),
        tolerating(
            "tolerates-1h",
            &maintenance.with(json!({"tolerationSeconds": 3600})),
        ),
        tolerating("tolerates-15s", &any.with(json!({"tolerationSeconds": 15}))),
    ]);
    cluster.run(&[
        pod("p-0").template_claim("gpu", "plain"),
        pod("p-1").template_claim("gpu", "plain"),
        pod("q").in_namespace("batch").template_claim("gpu", "plain"),
        pod("tolerates-1h").template_claim("gpu", "tolerates-1h"),
        pod("tolerates-15s").template_claim("gpu", "tolerates-15s"),
    ]);
    let rules = [
        taint_rule(
            "drain-node-1",
            json!({"driver": "gpu.example.com", "pool": "gpu-node-1"}),
            taint("example.com/maintenance", "", "None"),
        ),
        taint_rule(
            "drain-all",
            json!({"driver": "gpu.example.com"}),
            taint("example.com/maintenance", "all", "None"),
        ),
        taint_rule(
            "no-new",
            json!({"driver": "nic.example.com", "device": "rdma7"}),
            taint("example.com/reserved", "", "NoSchedule"),
        ),
        taint_rule(
            "no-selector",
            Value::Null,
            taint("example.com/nothing", "", "None"),
        ),
        taint_rule(
            "empty-selector",
            json!({}),
            taint("example.com/everything", "", "None"),
        ),
    ];
    cluster.create_all(&rules);
    for rule in &rules {
        cluster.wait(
            &super::super::reference(rule),
            "the controller has looked at it",
            |rule| condition(rule, "EvictionInProgress").is_some(),
        );
    }
}

/// What follows in [`taint_rules`] when `drain-all` becomes NoExecute: returns when all pods without a
/// toleration are being deleted.
pub(crate) fn enforce_taint_rule(cluster: &Cluster) {
    cluster.patch(
        "rule/drain-all",
        &json!({"spec": {"taint": {"effect": "NoExecute"}}}),
    );
    wait_deleting(cluster, &["pod/p-0", "pod/p-1", "pod/batch/q"]);
}

fn wait_deleting(cluster: &Cluster, pods: &[&str]) {
    for pod in pods {
        cluster.wait(pod, "it is being deleted", |pod| {
            pod["metadata"]["deletionTimestamp"].is_string()
        });
    }
}
