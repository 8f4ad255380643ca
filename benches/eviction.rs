//! How long a simulated eviction takes on a large cluster: 100,000 claims and pods, 40,000 devices, 1,000 rules.
//!
//! Prints the best of several runs: on a shared machine the least time is the one least disturbed. Loading is not counted.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]

use std::time::{Duration, Instant};

use kubectl_dra::model::{Change, Cluster, ClusterBuilder, Environment, Kind, Object, Time};
use kubectl_dra::simulation::{World, report};
use serde_json::{Value, json};

const POOLS: usize = 5_000;
const DEVICES_PER_POOL: usize = 8;
const CLAIMS: usize = 100_000;
const RULES: usize = 1_000;

fn object(kind: Kind, json: &Value) -> Object {
    Object::from_json(kind, json.to_string().as_bytes()).expect("a valid object")
}

fn rule(name: &str, selector: &Value, effect: &str) -> Object {
    let json = json!({"metadata": {"name": name, "uid": name, "generation": 1}, "spec": {"deviceSelector": selector,
        "taint": {"key": "example.com/k", "effect": effect, "timeAdded": "2026-11-21T10:00:00Z"}}});
    object(Kind::DeviceTaintRule, &json)
}

/// Shared devices: two or three claims each, as with shares of a device, and a pod for every claim.
fn cluster() -> Cluster {
    let mut builder = ClusterBuilder::default();
    for pool in 0..POOLS {
        let devices: Vec<_> = (0..DEVICES_PER_POOL)
            .map(|device| json!({"name": format!("gpu-{device}")}))
            .collect();
        let spec = json!({"driver": "gpu.example.com", "nodeName": format!("node-{pool}"), "devices": devices,
            "pool": {"name": format!("node-{pool}"), "generation": 1, "resourceSliceCount": 1}});
        builder.add(object(
            Kind::ResourceSlice,
            &json!({"metadata": {"name": format!("slice-{pool}")}, "spec": spec}),
        ));
    }
    for index in 0..CLAIMS {
        let (pool, device) = (index % POOLS, index / POOLS % DEVICES_PER_POOL);
        let (namespace, name) = (format!("team-{}", index % 50), format!("c-{index}"));
        let tolerations = if index % 10 == 0 {
            json!([{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": index % 600}])
        } else {
            json!([])
        };
        let status = json!({"reservedFor": [{"resource": "pods", "name": name, "uid": name}], "allocation": {"devices": {
            "results": [{"request": "r", "driver": "gpu.example.com", "pool": format!("node-{pool}"),
                         "device": format!("gpu-{device}"), "tolerations": tolerations}]}}});
        builder.add(object(
            Kind::ResourceClaim,
            &json!({"metadata": {"namespace": namespace, "name": name, "uid": format!("claim-{index}"),
                "finalizers": ["resource.kubernetes.io/delete-protection"]}, "status": status}),
        ));
        builder.add(object(
            Kind::Pod,
            &json!({"metadata": {"namespace": namespace, "name": name, "uid": name},
                "spec": {"nodeName": format!("node-{pool}"), "terminationGracePeriodSeconds": 30,
                         "resourceClaims": [{"name": "gpu", "resourceClaimName": name}]},
                "status": {"phase": "Running"}}),
        ));
    }
    for index in 0..RULES {
        // Most are about devices that nobody has any more, some about pools.
        let selector = if index % 100 == 0 {
            json!({"driver": "gpu.example.com", "pool": format!("node-{index}")})
        } else {
            json!({"driver": "gpu.example.com", "pool": format!("gone-{index}"), "device": "gpu-0"})
        };
        builder.add(rule(&format!("rule-{index}"), &selector, "NoExecute"));
    }
    builder.build(Environment::default()).0
}

fn main() {
    let cluster = cluster();
    let now: Time = "2026-11-21T10:00:00Z".parse().expect("a time");
    let pool = json!({"driver": "gpu.example.com", "pool": "node-7"});
    for (what, selector) in [
        ("the rules that there are", None),
        ("one more rule about a node", Some(pool)),
        ("one more rule about every device", Some(json!({}))),
    ] {
        let mut best = Duration::MAX;
        let mut evicted = 0;
        for _ in 0..3 {
            let fork = cluster.clone();
            let started = Instant::now();
            let mut world = World::new(fork, now, None);
            if let Some(selector) = &selector {
                world.apply(Change::Put(rule("more", selector, "NoExecute")));
            }
            let report = report(world, false);
            best = best.min(started.elapsed());
            evicted = report.pods.len();
        }
        println!("{what}: {evicted} pods, {:.0} ms", best.as_secs_f64() * 1000.0);
    }
}
