//! Real upgrades: a control plane of 1.35 is replaced by 1.36 and that by 1.37, on the same data and with pods running all the time.
//!
//! Before each step `check --to-version` lists what will be otherwise. Exactly that is then.

use std::collections::BTreeMap;
use std::io::Write as _;

use http::Method;
use serde_json::{Value, json};

use super::{control_plane, findings, version_of};
use crate::live::convert::downgrade::{changes, state};
use crate::live::placement::{small, to_node};
use crate::support::cluster::objects::{
    Manifest, claim_spec, class, each_device, gpu, gpu_slice, request, slice, taint, template,
};
use crate::support::cluster::{Cluster, Component, older, reference};
use crate::support::schema::assert_valid;

/// Writes an object through an older version of the API, as a client of that name.
#[track_caller]
fn create_as(cluster: &Cluster, manager: &str, path: &str, object: &Value) {
    let path = format!("{path}?fieldManager={manager}");
    let answer = cluster.request(&Method::POST, &path, object);
    assert!(answer.is_success(), "{path}: {answer:?}");
}

/// Returns what `check` finds before an upgrade.
fn foretold(cluster: &Cluster, to: &str) -> Value {
    let run = cluster
        .kubectl_dra(["check", "--to-version", to, "-o", "json"])
        .run();
    assert!(!run.stdout.is_empty(), "{}", run.stderr);
    assert_valid(&run.stdout)
}

/// Replaces the control plane, by the everyday one where no release is given.
fn upgrade(cluster: &Cluster, to: Option<&str>) {
    cluster.reconfigure(|options| {
        for component in Component::GATED {
            match to {
                Some(release) => options.set_release(component, release),
                None => options.clear_release(component),
            }
        }
    });
}

/// The devices of each claim and the UID of each running pod.
fn lasting(cluster: &Cluster) -> BTreeMap<String, Value> {
    let claims = cluster.list("claim");
    let pods = cluster.list("pod");
    let devices = claims
        .iter()
        .map(|claim| (reference(claim), claim["status"]["allocation"].clone()));
    let running = pods.iter().filter(|pod| pod["status"]["phase"] == "Running");
    devices
        .chain(running.map(|pod| (reference(pod), pod["metadata"]["uid"].clone())))
        .collect()
}

fn index(number: u32) -> String {
    format!("device.attributes['gpu.example.com'].index == {number}")
}

/// Claims and pods of 1.35, written through every version of the API, and devices with taints that nobody minds there: their driver wrote
/// them while the gate was on.
fn populate(cluster: &Cluster) {
    cluster.add_nodes(["gpu-node-1"]);
    let tainted = each_device(gpu_slice("gpu-node-1", 8), |device| {
        let taints = match device["name"].as_str() {
            Some("gpu-0") => json!([taint("example.com/old", "", "NoSchedule")]),
            Some("gpu-1") => json!([taint("example.com/old", "", "NoExecute")]),
            _ => return,
        };
        device["taints"] = taints;
    });
    cluster.create(&tainted);
    cluster.reconfigure(|options| options.clear_gates(Component::ApiServer));
    let slice = &cluster.list("slice")[0];
    assert!(slice["spec"]["devices"][0]["taints"].is_array(), "{slice:#}");

    let group = "/apis/resource.k8s.io";
    let selectors = json!([{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]);
    create_as(
        cluster,
        "helm",
        &format!("{group}/v1beta1/deviceclasses"),
        &json!({"apiVersion": "resource.k8s.io/v1beta1", "kind": "DeviceClass", "metadata": {"name": "gpu.example.com"},
            "spec": {"selectors": selectors}}),
    );
    create_as(
        cluster,
        "old-operator",
        &format!("{group}/v1beta1/namespaces/default/resourceclaims"),
        &json!({"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "metadata": {"name": "oldest"},
            "spec": {"devices": {"requests": [{"name": "gpu", "deviceClassName": "gpu.example.com",
                "selectors": [{"cel": {"expression": index(2)}}]}]}}}),
    );
    create_as(
        cluster,
        "less-old-operator",
        &format!("{group}/v1beta2/namespaces/default/resourceclaims"),
        &json!({"apiVersion": "resource.k8s.io/v1beta2", "kind": "ResourceClaim", "metadata": {"name": "old"},
            "spec": claim_spec([gpu().selecting(&index(3))])}),
    );
    let configured = claim_spec([
        request("a", "gpu.example.com").selecting(&index(4)),
        request("b", "gpu.example.com").selecting(&index(5)),
    ])
    .with(json!({"devices": {"config": [{"requests": ["a", "b"], "opaque": {"driver": "gpu.example.com", "parameters": {"mode": "fast"}}}]}}));
    cluster.create_all(&[
        template("blocked", claim_spec([gpu().selecting(&index(0))])),
        template("evicted", claim_spec([gpu().selecting(&index(1))])),
        template("configured", configured),
    ]);
    cluster.run(&[
        small("oldest").named_claim("gpu", "oldest"),
        small("old").named_claim("gpu", "old"),
        small("blocked").template_claim("gpu", "blocked"),
        small("evicted").template_claim("gpu", "evicted"),
        small("configured").template_claim("gpu", "configured"),
    ]);
}

/// Waits until the control plane works: it has placed a new pod, and its claim is gone with it.
fn settle(cluster: &Cluster) {
    cluster.create(&template("sentinel", claim_spec([gpu().selecting(&index(7))])));
    cluster.run(&[small("sentinel").template_claim("gpu", "sentinel")]);
    let made = cluster.claim_of("pod/sentinel", "gpu");
    cluster.delete_now("pod/sentinel");
    cluster.wait_gone(&made);
    cluster.delete("template/sentinel");
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make upgrade"]
fn what_check_says_before_an_upgrade_is_what_it_changes() {
    older("1.36");
    let mut options = control_plane("1.35");
    options.set_gate(&[Component::ApiServer], "DRADeviceTaints", true);
    let cluster = Cluster::start(&options);
    populate(&cluster);
    let tell = |what: &str, report: &Value| {
        let _ = writeln!(
            std::io::stderr(),
            "{} {what}: {}",
            version_of(&cluster),
            findings(report).join(", ")
        );
    };

    // The taints count from 1.36 on: one pod goes, and no other can come. What was written through old versions stays as it is.
    let before = foretold(&cluster, "1.36");
    tell("to 1.36", &before);
    assert_eq!(
        findings(&before),
        [
            "DRA134 gpu.example.com/gpu-node-1/gpu-0",
            "DRA134 gpu.example.com/gpu-node-1/gpu-1"
        ],
        "{before:#}"
    );
    let (begin, was) = (lasting(&cluster), state(&cluster));
    let evicted = cluster.claim_of("pod/evicted", "gpu");
    upgrade(&cluster, Some("1.36"));
    cluster.wait("pod/evicted", "it is evicted", |pod| {
        pod["metadata"]["deletionTimestamp"].is_string()
    });
    cluster.finish_deletions();
    cluster.wait_gone(&evicted);
    settle(&cluster);
    let gone = |name: &str| name.contains("evicted") && !name.contains("template");
    let expected: BTreeMap<_, _> = begin.into_iter().filter(|(name, _)| !gone(name)).collect();
    assert_eq!(lasting(&cluster), expected);
    let other: Vec<_> = changes(&was, &state(&cluster))
        .into_iter()
        .filter(|change| !gone(change))
        .collect();
    assert!(other.is_empty(), "the upgrade changed {other:#?}");
    let freed = cluster.claim_of("pod/blocked", "gpu");
    cluster.delete_now("pod/blocked");
    cluster.wait_gone(&freed);
    cluster.create(&small("blocked-too").template_claim("gpu", "blocked"));
    cluster.wait_unschedulable(["pod/blocked-too"]);
    cluster.delete_now("pod/blocked-too");

    // 1.37 compares all distinct values and writes a configuration once.
    let sides = (0..3)
        .map(|number| json!({"name": format!("dev-{number}"), "attributes": {"side": {"int": number % 2}}}));
    let distinct = claim_spec([request("dev", "side.example.com").count(3)])
        .constrained(json!({"requests": ["dev"], "distinctAttribute": "side.example.com/side"}));
    cluster.create_all(&[
        class("side.example.com", "device.driver == 'side.example.com'"),
        slice("side.example.com", "gpu-node-1", sides),
        template("distinct", distinct),
    ]);
    cluster.run(&[small("distinct").template_claim("dev", "distinct")]);
    let before = foretold(&cluster, "1.37");
    tell("to 1.37", &before);
    assert_eq!(
        findings(&before),
        ["DRA135 kubernetes/139732", "DRA135 kubernetes/140438"],
        "{before:#}"
    );
    let configs = |pod: &str| {
        let claim = cluster.get(&cluster.claim_of(pod, "gpu"));
        claim["status"]["allocation"]["devices"]["config"]
            .as_array()
            .map_or(0, Vec::len)
    };
    assert_eq!(configs("pod/configured"), 2);
    let (begin, was) = (lasting(&cluster), state(&cluster));
    upgrade(&cluster, None);
    settle(&cluster);
    assert_eq!(lasting(&cluster), begin);
    let other = changes(&was, &state(&cluster));
    assert!(other.is_empty(), "the upgrade changed {other:#?}");
    for name in ["distinct", "configured"] {
        let pod = format!("pod/{name}");
        let claim = cluster.claim_of(&pod, if name == "distinct" { "dev" } else { "gpu" });
        cluster.delete_now(&pod);
        cluster.wait_gone(&claim);
    }
    cluster.run(&[to_node(
        small("configured-anew").template_claim("gpu", "configured"),
        "gpu-node-1",
    )]);
    assert_eq!(configs("pod/configured-anew"), 1);
    cluster.create(&small("distinct-anew").template_claim("dev", "distinct"));
    cluster.wait_unschedulable(["pod/distinct-anew"]);

    // The old versions are served, and their writers are told only before they are not.
    for version in ["v1beta1", "v1beta2", "v1"] {
        let path = format!("/apis/resource.k8s.io/{version}/namespaces/default/resourceclaims/oldest");
        assert!(
            cluster.request(&Method::GET, &path, &Value::Null).is_success(),
            "{version}"
        );
    }
    let before = foretold(&cluster, "1.38");
    tell("to 1.38", &before);
    assert_eq!(
        findings(&before),
        ["DRA130 helm", "DRA130 old-operator"],
        "{before:#}"
    );
}
