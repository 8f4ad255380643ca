//! How long a simulated eviction takes on a large cluster: 100,000 claims and pods, 40,000 devices, 1,000 rules.
//!
//! Loading is not counted; it is the baseline. Objects come in the order in which a server lists them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]

mod support;

use dra_model::{Change, Environment, Kind, Object, Time};
use dra_rules::simulation::{World, report};
use serde_json::{Value, json};

use support::{Objects, head, least, row};

const POOLS: usize = 5_000;
const DEVICES_PER_POOL: usize = 8;
const CLAIMS: usize = 100_000;
const RULES: usize = 1_000;
const FORKS: usize = 1_000;

fn rule(name: &str, selector: &Value, effect: &str) -> Value {
    json!({"metadata": {"name": name, "uid": name, "generation": 1}, "spec": {"deviceSelector": selector,
        "taint": {"key": "example.com/k", "effect": effect, "timeAdded": "2026-11-21T10:00:00Z"}}})
}

/// Shared devices: two or three claims each, as with shares of a device, and a pod for every claim.
fn objects() -> Objects {
    let mut objects = Objects::default();
    for pool in 0..POOLS {
        let devices: Vec<_> = (0..DEVICES_PER_POOL)
            .map(|device| json!({"name": format!("gpu-{device}")}))
            .collect();
        let spec = json!({"driver": "gpu.example.com", "nodeName": format!("node-{pool}"), "devices": devices,
            "pool": {"name": format!("node-{pool}"), "generation": 1, "resourceSliceCount": 1}});
        objects.add(
            Kind::ResourceSlice,
            &json!({"metadata": {"name": format!("slice-{pool}")}, "spec": spec}),
        );
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
        objects.add(
            Kind::ResourceClaim,
            &json!({"metadata": {"namespace": namespace, "name": name, "uid": format!("claim-{index}"),
                "finalizers": ["resource.kubernetes.io/delete-protection"]}, "status": status}),
        );
        objects.add(
            Kind::Pod,
            &json!({"metadata": {"namespace": namespace, "name": name, "uid": name},
                "spec": {"nodeName": format!("node-{pool}"), "terminationGracePeriodSeconds": 30,
                         "resourceClaims": [{"name": "gpu", "resourceClaimName": name}]},
                "status": {"phase": "Running"}}),
        );
    }
    for index in 0..RULES {
        // Most are about devices that no pool has any more, some about pools, some do nothing yet but count.
        let selector = if index % 100 == 0 {
            json!({"driver": "gpu.example.com", "pool": format!("node-{index}")})
        } else {
            json!({"driver": "gpu.example.com", "pool": format!("gone-{index}"), "device": "gpu-0"})
        };
        let effect = if index % 5 == 1 { "None" } else { "NoExecute" };
        objects.add(
            Kind::DeviceTaintRule,
            &rule(&format!("rule-{index}"), &selector, effect),
        );
    }
    objects.in_order_of_lists()
}

fn main() {
    // `cargo test --benches` and the like only want to know that it runs.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let objects = objects();
    let (wall, decoding, cluster) = least(2, || objects.load(Environment::default()));
    drop(objects);
    head();
    row("decoding all objects", 0, (wall, decoding), decoding);
    let now: Time = "2026-11-21T10:00:00Z".parse().expect("a time");
    let more = |selector: &Value| {
        let json = rule("more", selector, "NoExecute").to_string();
        Change::Put(Object::from_json(Kind::DeviceTaintRule, json.as_bytes()).expect("a rule"))
    };
    let pool = json!({"driver": "gpu.example.com", "pool": "node-7"});
    let (wall, cpu, forks) = least(3, || {
        let forks = (0..FORKS).map(|_| {
            let mut fork = cluster.clone();
            fork.apply(more(&pool));
            fork
        });
        forks.count()
    });
    row(
        "forks of the cluster with a change each",
        forks,
        (wall, cpu),
        decoding,
    );
    for (what, selector) in [
        ("the rules that there are", None),
        ("one more rule about a node", Some(pool.clone())),
        ("one more rule about every device", Some(json!({}))),
    ] {
        let (wall, cpu, evicted) = least(3, || {
            let mut world = World::new(cluster.clone(), now, None);
            if let Some(selector) = &selector {
                world.apply(more(selector));
            }
            let pods = report(&mut world, false).pods.len();
            // As the command does.
            std::mem::forget(world);
            pods
        });
        row(&format!("eviction, {what}"), evicted, (wall, cpu), decoding);
    }
}
