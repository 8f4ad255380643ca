//! How fast `convert` writes, beside bare patches: the same JSON patches to the same API server, as many at the same time, in the same run.
//!
//!     make bench-convert                  # of the release build
//!     cargo bench --bench writes -- 500   # so many claims
//!
//! A rate is the number of claims by the time from the first write to the last answer, which `convert` has in its journal; reading and
//! planning are not in it. Both take turns, and the lists are put back in between. The server's speed changes from one second to the
//! next, so it collects its garbage before each turn, and there are many rounds: the medians of both sides are printed, and the median of
//! the ratios of the rounds with the middle half of them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints what it found"
)]

#[path = "../tests/it/support/mod.rs"]
#[expect(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "made for all tests, of which this uses the cluster"
)]
mod support;

use std::process::Command;
use std::time::Instant;

use futures::StreamExt as _;
use http::{Method, Request};
use kube::client::Body;
use serde_json::{Value, json};

use support::cluster::objects::{Manifest, claim, claim_spec, gpu, namespace, pod, pod_group};
use support::cluster::{Cluster, Component, Options, runtime};

const AT_ONCE: usize = 8;
const MEMBERS: usize = 4;
const PER_NAMESPACE: usize = 250;
const ROUNDS: usize = 20;
const GATES: &str = "--feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true";

fn main() {
    // Cargo passes `--bench` along.
    let count = std::env::args()
        .skip(1)
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(1_000);
    let cluster = Cluster::start(
        &Options::default()
            .gate("GenericWorkload", true)
            .without(Component::Scheduler)
            .without(Component::ControllerManager),
    );
    fill(&cluster, count);
    let (mut tool, mut bare, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        // The plan of the lists as they are now has the very patches that `convert` would send.
        let plan = run(&cluster, &["convert", "plan", "-o", "json", GATES]);
        let plan: Value = serde_json::from_slice(&plan).expect("a plan");
        let claims = plan["claims"].as_array().expect("claims");
        assert_eq!(claims.len(), count);
        collect_garbage(&cluster);
        let begin = Instant::now();
        send(&cluster, claims, "?fieldManager=kubectl-dra", |claim| {
            claim["patch"].clone()
        });
        bare.push(rate(count, begin.elapsed().as_secs_f64()));
        put_back(&cluster, claims);

        let folder = tempfile::tempdir().expect("a temporary folder");
        let backup = folder.path().join("a.backup.json").display().to_string();
        collect_garbage(&cluster);
        run(
            &cluster,
            &["convert", "--yes", GATES, "--concurrency=8", "--backup", &backup],
        );
        let journal = std::fs::read_to_string(folder.path().join("a.journal.jsonl")).expect("a journal");
        tool.push(rate(count, seconds(&journal)));
        ratios.extend(tool.last().zip(bare.last()).map(|(tool, bare)| tool / bare));
        put_back(&cluster, claims);
    }
    let (tool, bare, ratio) = (quartiles(tool), quartiles(bare), quartiles(ratios));
    println!(
        "| {count} claims, {AT_ONCE} at once | Claims per second | To bare patches | Half of the rounds |"
    );
    println!("|---|---:|---:|---:|");
    println!("| bare patches | {:.0} | 1.00 | |", bare[1]);
    println!(
        "| `kubectl dra convert` | {:.0} | {:.2} | {:.2} to {:.2} |",
        tool[1], ratio[1], ratio[0], ratio[2]
    );
}

fn rate(count: usize, seconds: f64) -> f64 {
    count as f64 / seconds
}

/// The lower quartile, the median and the upper quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[quarter * values.len() / 4])
}

/// From the first write of a journal to the last answer.
fn seconds(journal: &str) -> f64 {
    let times = |event: &str| -> Vec<jiff::Timestamp> {
        let entries = journal
            .lines()
            .map(|line| -> Value { serde_json::from_str(line).expect("JSON") });
        entries
            .filter(|entry| entry["event"] == event)
            .map(|entry| entry["time"].as_str().expect("a time").parse().expect("a time"))
            .collect()
    };
    let (writes, answers) = (times("Write"), times("Result"));
    let (first, last) = (writes.iter().min(), answers.iter().max());
    let taken = last.expect("answers").duration_since(*first.expect("writes"));
    taken.as_secs_f64()
}

/// `kubectl-dra ARGS…`, the release build where that is named.
fn run(cluster: &Cluster, args: &[&str]) -> Vec<u8> {
    let program = std::env::var("KUBECTL_DRA_BENCH_PROGRAM")
        .unwrap_or_else(|_| env!("CARGO_BIN_EXE_kubectl-dra").to_owned());
    let output = Command::new(program)
        .args(args)
        .env("KUBECONFIG", cluster.kubeconfig())
        .output()
        .expect("the program starts");
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// Sends a JSON patch of the status of each claim.
fn send(cluster: &Cluster, claims: &[Value], query: &str, patch: impl Fn(&Value) -> Value) {
    let client = cluster.client();
    let writes = claims.iter().map(|claim| {
        let text = |field: &str| claim[field].as_str().expect("a text").to_owned();
        let path = format!(
            "/apis/resource.k8s.io/v1/namespaces/{}/resourceclaims/{}/status{query}",
            text("namespace"),
            text("name")
        );
        request(Method::PATCH, path, "application/json-patch+json", &patch(claim))
    });
    let requests: Vec<_> = writes.collect();
    runtime().block_on(async {
        let mut writes = futures::stream::iter(requests)
            .map(|request| {
                let client = client.clone();
                tokio::spawn(async move { answered(&client, request).await })
            })
            .buffer_unordered(AT_ONCE);
        while let Some(written) = writes.next().await {
            written.expect("nothing panics");
        }
    });
}

/// Has the API server collect its garbage now. A collection takes seconds on two cores and halves the rate of whoever it meets.
fn collect_garbage(cluster: &Cluster) {
    let client = cluster.client();
    let request = Request::get("/debug/pprof/heap?gc=1").body(Body::empty());
    runtime().block_on(body(&client, request.expect("a request")));
}

/// Gives the claims the lists that they had when they were planned for.
fn put_back(cluster: &Cluster, claims: &[Value]) {
    send(
        cluster,
        claims,
        "",
        |claim| json!([{"op": "replace", "path": "/status/reservedFor", "value": claim["before"]}]),
    );
}

fn request(method: Method, path: String, content_type: &str, body: &Value) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, content_type)
        .body(Body::from(body.to_string().into_bytes()))
        .expect("a request")
}

async fn answered(client: &kube::Client, request: Request<Body>) -> Value {
    serde_json::from_slice(&body(client, request).await).expect("JSON")
}

async fn body(client: &kube::Client, request: Request<Body>) -> Vec<u8> {
    let path = request.uri().to_string();
    let response = client.send(request).await.expect("an answer");
    let status = response.status();
    let bytes = response.into_body().collect_bytes().await.expect("an answer");
    assert!(status.is_success(), "{path}: {}", String::from_utf8_lossy(&bytes));
    bytes.to_vec()
}

/// Writes claims that are reserved for a PodGroup each, with the group and its running members.
fn fill(cluster: &Cluster, count: usize) {
    for team in 0..count.div_ceil(PER_NAMESPACE) {
        cluster.create(&namespace(&format!("team-{team}")));
    }
    let client = cluster.client();
    runtime().block_on(async {
        let mut writes = futures::stream::iter(0..count)
            .map(|number| {
                let client = client.clone();
                tokio::spawn(async move { write_group(&client, number).await })
            })
            .buffer_unordered(4 * AT_ONCE);
        while let Some(written) = writes.next().await {
            written.expect("nothing panics");
        }
    });
}

async fn write_group(client: &kube::Client, number: usize) {
    let team = format!("team-{}", number / PER_NAMESPACE);
    let name = format!("group-{number}");
    let create = async |group: &str, plural: &str, object: Value| {
        let path = format!("{group}/namespaces/{team}/{plural}");
        answered(client, request(Method::POST, path, "application/json", &object)).await
    };
    let of_claim = json!({"name": "gpu", "resourceClaimName": name});
    let group = create(
        "/apis/scheduling.k8s.io/v1beta1",
        "podgroups",
        pod_group(&name, [of_claim]),
    )
    .await;
    let mut made = create(
        "/apis/resource.k8s.io/v1",
        "resourceclaims",
        claim(&name, claim_spec([gpu()])),
    )
    .await;
    made["status"] = json!({
        "allocation": {"devices": {"results": [{"request": "gpu", "driver": "gpu.example.com", "pool": format!("node-{}", number / 8),
            "device": format!("gpu-{}", number % 8)}]}},
        "reservedFor": [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": name, "uid": group["metadata"]["uid"]}]});
    let path = format!("/apis/resource.k8s.io/v1/namespaces/{team}/resourceclaims/{name}/status");
    answered(client, request(Method::PUT, path, "application/json", &made)).await;
    for member in 0..MEMBERS {
        let member = pod(&format!("{name}-{member}"))
            .named_claim("gpu", &name)
            .in_group(&name)
            .with(json!({"spec": {"nodeName": format!("node-{}", number / 8)}}));
        create("/api/v1", "pods", member).await;
    }
}
