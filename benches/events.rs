//! How long the controllers of `run` need for an event that concerns nobody, in a cluster of 100,000 pods: a pod that is as it was but
//! for a condition, once it is decoded. The goal is 20 µs.
//!
//! Decoding the event from JSON is the baseline of the same run.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]

#[expect(dead_code, reason = "what is measured here is no row of the others' table")]
mod support;

use std::time::{Duration, Instant};

use dra_model::{Change, Cluster, Environment, Kind, Object, Time};
use dra_rules::controllers::{Engine, Features, Origin, ResourceClaims, TaintEviction};
use dra_rules::eviction::Release;
use serde_json::{Value, json};

use support::Objects;

const PODS: usize = 100_000;
/// Coprime to the number of pods: their events come in no order that any index has.
const STRIDE: usize = 61_803;

/// What pods have to do with claims.
#[derive(Clone, Copy)]
enum Claims {
    None,
    /// One for each, which is allocated and reserved.
    One,
}

fn pod(number: usize, claims: Claims, version: usize) -> Value {
    let (namespace, name) = (format!("team-{}", number % 50), format!("pod-{number}"));
    let entries = match claims {
        Claims::None => json!([]),
        Claims::One => json!([{"name": "gpu", "resourceClaimName": name}]),
    };
    json!({"metadata": {"namespace": namespace, "name": name, "uid": name, "resourceVersion": version.to_string()},
        "spec": {"nodeName": format!("node-{}", number / 20), "resourceClaims": entries},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True",
            "reason": if version < PODS { "Started" } else { "Healthy" }}]}})
}

fn claim(number: usize) -> Value {
    let (namespace, name) = (format!("team-{}", number % 50), format!("pod-{number}"));
    json!({"metadata": {"namespace": namespace, "name": name, "uid": format!("claim-{number}"), "resourceVersion": "1",
            "finalizers": ["resource.kubernetes.io/delete-protection"]},
        "status": {"reservedFor": [{"resource": "pods", "name": name, "uid": name}], "allocation": {"devices": {"results":
            [{"request": "r", "driver": "gpu.example.com", "pool": format!("node-{}", number / 20), "device": "gpu-0"}]}}}})
}

fn cluster(claims: Claims) -> Cluster {
    let mut objects = Objects::default();
    for number in 0..PODS {
        objects.add(Kind::Pod, &pod(number, claims, 1));
        if let Claims::One = claims {
            objects.add(Kind::ResourceClaim, &claim(number));
        }
    }
    objects.in_order_of_lists().load(Environment::default())
}

/// Returns what an event took on average, and the longest one; and what decoding one took.
fn measure(claims: Claims) -> (Duration, Duration, Duration) {
    let now: Time = "2026-11-21T10:00:00Z".parse().expect("a time");
    let cluster = cluster(claims);
    let environment = cluster.environment();
    let (features, release) = (Features::of(environment), Release::of(environment));
    let controllers = (
        ResourceClaims::start(&cluster, features),
        TaintEviction::start(&cluster, release, now),
    );
    let mut engine = Engine::new(cluster, Some(controllers.0), Some(controllers.1));
    // What the controllers look at when they start.
    let job = engine.next(now);
    assert!(job.is_none(), "nothing is to be done: {job:?}");
    let texts: Vec<String> = (0..PODS)
        .map(|event| pod(event * STRIDE % PODS, claims, PODS + event).to_string())
        .collect();
    let begin = Instant::now();
    let events: Vec<Object> = texts
        .iter()
        .map(|json| Object::from_json(Kind::Pod, json.as_bytes()).expect("a pod"))
        .collect();
    let decoding = begin.elapsed();
    let mut longest = Duration::ZERO;
    let begin = Instant::now();
    for event in events {
        let begin = Instant::now();
        let notices = engine.see(Change::Put(event), Origin::Watch, now);
        assert!(notices.is_some_and(|notices| notices.is_empty()), "it is news");
        assert!(engine.next(now).is_none(), "nothing is to be done");
        longest = longest.max(begin.elapsed());
    }
    let events = u32::try_from(PODS).expect("a number");
    (begin.elapsed() / events, longest, decoding / events)
}

fn main() {
    // `cargo test --benches` and the like only want to know that it runs.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("| An event of a pod | Mean | To decoding it | Longest |\n|---|---:|---:|---:|");
    for (what, claims) in [
        ("without claims", Claims::None),
        ("with a claim that is in order", Claims::One),
    ] {
        let (mean, longest, decoding) = measure(claims);
        println!(
            "| {what} | {:.2} µs | {:.2} | {:.2} ms |",
            mean.as_secs_f64() * 1e6,
            mean.as_secs_f64() / decoding.as_secs_f64(),
            longest.as_secs_f64() * 1e3
        );
    }
}
