//! Pods of extended resources on tainted devices: kube-controller-manager evicts them from 1.37.2 on, and not before. What
//! `simulate eviction` and `taints` predict beforehand is what the real controller does, in both.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::cluster::objects::{Manifest, claim, claim_spec, pod, request, taint, taint_rule};
use crate::support::cluster::{Cluster, Component, Options, Recorded};

/// Pods of extended resources: one with a claim of its own, one with the claim of an earlier pod, one whose claim is not reserved.
const RECORDED: &str = "tests/data/evictions/extended-tainted.yaml";

/// Only the controller of taints: the others would delete or release what is to stay as it is.
const CONTROLLERS: &str = "--controllers=*,-resourceclaim-controller,-garbage-collector-controller";

fn rule(effect: &str) -> Value {
    taint_rule(
        "sick",
        json!({"driver": "drv.example.com"}),
        taint("sick", "", effect),
    )
}

/// An allocated claim of the pod, which it owns if that is said.
fn held_by(cluster: &Cluster, name: &str, pod: &str, device: &str, owned: bool) {
    let uid = cluster.get(&format!("pod/{pod}"))["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid, "controller": true});
    let owners = if owned { json!([owner]) } else { json!([]) };
    let metadata =
        json!({"ownerReferences": owners, "finalizers": ["resource.kubernetes.io/delete-protection"]});
    cluster.create(&claim(name, claim_spec([request("r", "gpu")])).with(json!({"metadata": metadata})));
    let results = json!([{"request": "r", "driver": "drv.example.com", "pool": "node-a", "device": device}]);
    cluster.patch_status(
        &format!("claim/{name}"),
        &json!({"status": {"allocation": {"devices": {"results": results}},
            "reservedFor": [{"resource": "pods", "name": pod, "uid": uid}]}}),
    );
}

/// The names of what is in a part of a report, or of pods.
fn names(items: &Value, fits: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    let items = items.as_array().expect("items").iter();
    let fitting = items.filter(|item| fits(item));
    fitting
        .map(|item| item["name"].as_str().expect("a name").to_owned())
        .collect()
}

fn leaving(cluster: &Cluster) -> BTreeSet<String> {
    let pods: Vec<Value> = cluster.list("pod");
    let pods = pods
        .iter()
        .filter(|pod| pod["metadata"]["deletionTimestamp"].is_string());
    pods.map(|pod| pod["metadata"]["name"].as_str().expect("a name").to_owned())
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Lets the real controller of `options` at the pods, and compares with what is predicted. `evicts` says whether it evicts those of
/// extended resources.
#[track_caller]
pub(super) fn play(options: &Options, evicts: bool) {
    let waiting = options.clone().without(Component::Scheduler);
    let cluster = Cluster::start(&waiting.clone().without(Component::ControllerManager));
    cluster.restore(&Recorded::read_file(RECORDED));
    cluster.update("slice/node-a-drv", |slice| {
        for device in slice["spec"]["devices"].as_array_mut().into_iter().flatten() {
            device["taints"] = Value::Null;
        }
    });
    // One that every release evicts, and one whose claim its status does not name yet.
    cluster.create(&pod("named").named_claim("r", "named").on_node("node-a"));
    held_by(&cluster, "named", "named", "d-3", false);
    cluster.create(&pod("late").requesting("example.com/gpu", 1).on_node("node-a"));
    held_by(&cluster, "late", "late", "d-4", true);
    cluster.create(&rule("None"));

    // What is predicted.
    let expected = if evicts {
        set(&["named", "owner"])
    } else {
        set(&["named"])
    };
    let mut file = tempfile::NamedTempFile::with_suffix(".json").expect("a temporary file");
    file.write_all(rule("NoExecute").to_string().as_bytes())
        .expect("a written file");
    let file = file.path().to_str().expect("UTF-8").to_owned();
    let simulated = ["simulate", "eviction", "-o", "json", "--rule", &file];
    let simulated = cluster.kubectl_dra(simulated).run().exits(0).json();
    assert_eq!(
        names(&simulated["pods"], |pod| pod["verdict"] == "Evicted"),
        expected
    );
    let passed_by = |why: &str| names(&simulated["missed"], |pod| pod["why"].to_string().contains(why));
    let others = set(&["other-owner", "not-reserved"]);
    if evicts {
        assert_eq!(names(&simulated["missed"], |_| true), others);
        assert_eq!(passed_by("created for another pod"), set(&["other-owner"]));
        assert_eq!(passed_by("not reserved for it"), set(&["not-reserved"]));
    } else {
        let with_owner: BTreeSet<String> = others.union(&set(&["owner"])).cloned().collect();
        assert_eq!(passed_by("before 1.37.2 ignores"), with_owner);
    }
    let preview = || {
        let taints = cluster
            .kubectl_dra(["taints", "-o", "json"])
            .run()
            .exits(0)
            .json();
        taints["items"][0]["preview"]["message"].clone()
    };
    let would_go = preview();
    assert!(would_go.to_string().contains(" would be evicted"), "{would_go}");

    // What the controller counts, and does.
    let working = waiting.arg(Component::ControllerManager, CONTROLLERS);
    cluster.reconfigure(|options| *options = working);
    let told = |reason: &str| {
        let rule = cluster.wait("rule/sick", reason, |rule| {
            rule["status"]["conditions"][0]["reason"] == reason
        });
        rule["status"]["conditions"][0]["message"].clone()
    };
    assert_eq!(told("NoEffect"), would_go);
    cluster.update("rule/sick", |object| {
        object["spec"]["taint"]["effect"] = json!("NoExecute");
    });
    for name in &expected {
        cluster.wait(&format!("pod/{name}"), "is being deleted", |pod| {
            pod["metadata"]["deletionTimestamp"].is_string()
        });
    }
    let completed = &simulated["rules"][0]["timeline"];
    let completed = completed
        .as_array()
        .and_then(|all| all.last())
        .expect("a condition");
    assert_eq!(completed["reason"], "Completed", "{completed}");
    assert_eq!(told("Completed"), completed["message"]);
    assert_eq!(leaving(&cluster), expected);

    // A pod is judged again when its status names the claim.
    let mapping = json!({"containerName": "main", "resourceName": "example.com/gpu", "requestName": "r"});
    cluster.patch_status(
        "pod/late",
        &json!({"status": {"extendedResourceClaimStatus": {"resourceClaimName": "late", "requestMappings": [mapping]}}}),
    );
    let mut expected = expected;
    if evicts {
        cluster.wait("pod/late", "is being deleted", |pod| {
            pod["metadata"]["deletionTimestamp"].is_string()
        });
        expected.insert("late".to_owned());
    }
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(leaving(&cluster), expected);

    // What is said of those that stay.
    let check = cluster
        .kubectl_dra(["check", "--only", "known-bug", "-o", "json"])
        .run()
        .exits(i32::from(!evicts));
    let found: Value = serde_json::from_str(&check.stdout).expect("a report");
    let found = found["items"].to_string();
    let taints = cluster.kubectl_dra(["taints"]).run();
    let explained = cluster.kubectl_dra(["explain", "pod/owner"]).run();
    for text in [&found, &taints.stderr, &explained.stdout] {
        let is_told = text.contains("kubernetes/kubernetes#141290");
        assert_eq!(is_told, !evicts, "{text}");
    }
    if !evicts {
        for pod in ["pod/default/late", "pod/default/owner"] {
            assert!(
                found.contains(pod) && taints.stderr.contains(pod),
                "{pod}: {found}"
            );
        }
        assert!(
            !found.contains("other-owner") && !found.contains("not-reserved"),
            "{found}"
        );
    }
}

#[test]
fn pods_of_extended_resources_are_evicted_as_predicted() {
    play(&Options::default(), true);
}
