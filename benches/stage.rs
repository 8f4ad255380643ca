//! How long it takes to tell how far pods are on their nodes: 100,000 pods with claims on 5,000 nodes, an event of the kubelet for each;
//! once where all of them run, and once where every fifth is stuck.
//!
//! Loading is not counted; it is the baseline. Objects come in the order in which a server lists them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]

mod support;

use dra_model::{Environment, Kind, Time};
use dra_reports::stage::StageCount;
use serde_json::json;

use support::{Objects, head, least, row};

const NODES: usize = 5_000;
const DEVICES: usize = 20;
const PODS: usize = 100_000;
const DRIVER: &str = "gpu.example.com";

/// Every so many pods are stuck; none with 0.
fn objects(stuck: usize) -> Objects {
    let mut objects = Objects::default();
    for node in 0..NODES {
        let name = format!("node-{node}");
        let devices: Vec<_> = (0..DEVICES)
            .map(|device| json!({"name": format!("gpu-{device}")}))
            .collect();
        objects.add(
            Kind::Node,
            &json!({"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
        );
        objects.add(
            Kind::ResourceSlice,
            &json!({"metadata": {"name": format!("slice-{node}")}, "spec": {"driver": DRIVER, "nodeName": name, "devices": devices,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}}),
        );
        let plugin = json!({
            "metadata": {"namespace": "kube-system", "name": format!("example-gpu-plugin-{node}"), "uid": format!("plugin-{node}"),
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "example-gpu-plugin", "uid": "set", "controller": true}]},
            "spec": {"nodeName": name, "volumes": [{"name": "v", "hostPath": {"path": "/var/lib/kubelet/plugins_registry"}}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        objects.add(Kind::Pod, &plugin);
    }
    for index in 0..PODS {
        let (node, device) = (index % NODES, index / NODES % DEVICES);
        let (namespace, name) = (format!("team-{}", index % 50), format!("p-{index}"));
        let results = json!([{"request": "r", "driver": DRIVER, "pool": format!("node-{node}"), "device": format!("gpu-{device}")}]);
        objects.add(
            Kind::ResourceClaim,
            &json!({"metadata": {"namespace": namespace, "name": name, "uid": format!("claim-{index}")}, "status": {
                "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
                "allocation": {"allocationTimestamp": "2026-11-21T09:00:00Z", "devices": {"results": results}}}}),
        );
        let is_stuck = stuck > 0 && index % stuck == 0;
        let (phase, state) = if is_stuck {
            ("Pending", json!({"waiting": {"reason": "ContainerCreating"}}))
        } else {
            (
                "Running",
                json!({"running": {"startedAt": "2026-11-21T09:30:00Z"}}),
            )
        };
        objects.add(
            Kind::Pod,
            &json!({"metadata": {"namespace": namespace, "name": name, "uid": name},
                "spec": {"nodeName": format!("node-{node}"), "containers": [{"name": "main"}],
                         "resourceClaims": [{"name": "gpu", "resourceClaimName": name}]},
                "status": {"phase": phase, "startTime": "2026-11-21T09:30:00Z",
                    "containerStatuses": [{"name": "main", "state": state}]}}),
        );
        let (kind, reason, message) = if is_stuck {
            let text = format!(
                "Failed to prepare dynamic resources: prepare dynamic resources: DRA driver {DRIVER} is not registered"
            );
            ("Warning", "FailedPrepareDynamicResources", text)
        } else {
            ("Normal", "Started", "Started container main".to_owned())
        };
        objects.add(
            Kind::Event,
            &json!({"metadata": {"namespace": namespace, "name": format!("{name}.1")}, "type": kind, "reason": reason, "message": message,
                "involvedObject": {"kind": "Pod", "namespace": namespace, "name": name, "uid": name},
                "source": {"component": "kubelet"}, "lastTimestamp": "2026-11-21T09:59:00Z", "count": 3}),
        );
    }
    objects.in_order_of_lists()
}

fn main() {
    // `cargo test --benches` and the like only want to know that it runs.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    head();
    let now: Time = "2026-11-21T10:00:00Z".parse().expect("a time");
    for (stuck, what) in [(0, "all run"), (5, "every fifth is stuck")] {
        let objects = objects(stuck);
        let (wall, decoding, cluster) = least(2, || objects.load(Environment::default()));
        drop(objects);
        row(
            &format!("decoding all objects, {what}"),
            0,
            (wall, decoding),
            decoding,
        );
        let (wall, cpu, counts) = least(5, || StageCount::of(&cluster, now, |_| true));
        let found = counts.iter().map(|count| count.stuck).sum();
        row(
            &format!("the stages of all pods, {what}"),
            found,
            (wall, cpu),
            decoding,
        );
    }
}
