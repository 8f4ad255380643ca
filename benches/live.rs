//! Reads many claims from a real API server, with `kubectl dra` and with kubectl, in the same run.
//!
//!     make bench                          # this and `files`, of the release build
//!     cargo bench --bench live            # 50,000 claims
//!     cargo bench --bench live -- 5000
//!
//! What it prints is the table of `docs/internals/performance.md`. Times are medians of three runs, taken alternately, so that whatever
//! else the machine does hits all of them. Memory is the peak resident size. Only the ratios mean
//! something on another machine. jq and GNU time must be installed.

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
mod timed;

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use http::{Method, Request};
use kube::client::Body;
use serde_json::{Value, json};

use support::cluster::{Cluster, Component, Options, runtime};

/// Requests that are under way at the same time while the cluster is filled.
const WRITERS: usize = 64;
const PER_NAMESPACE: usize = 500;

fn main() {
    // Cargo passes `--bench` along.
    let count = std::env::args()
        .skip(1)
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(50_000);
    let cluster = Cluster::start(
        &Options::default()
            .without(Component::Scheduler)
            .without(Component::ControllerManager),
    );
    let begin = Instant::now();
    fill(&cluster, count);
    println!(
        "{count} allocated claims written in {:.0} s\n",
        begin.elapsed().as_secs_f64()
    );

    let directory = tempfile::tempdir().expect("a temporary folder");
    let saved = directory.path().join("claims.json");
    let kubectl = |args: &[&str]| -> Vec<String> { command(&cluster, "kubectl", args) };
    let dra = |args: &[&str]| -> Vec<String> { command(&cluster, "kubectl-dra", args) };
    let raw = "/apis/resource.k8s.io/v1/resourceclaims";
    let from = format!("--from={}", saved.display());
    save(&cluster, &kubectl(&["get", "--raw", raw]), &saved);
    let size = std::fs::metadata(&saved).expect("the list was saved").len();
    println!("The list is {:.0} MB of JSON.\n", size as f64 / 1e6);

    let devices = r#".items[]|select(.status.allocation)|.metadata as $m|.status as $s|$s.allocation.devices.results[]|
        [.driver,.pool,.device,$m.namespace+"/"+$m.name,([$s.reservedFor[]?|.resource+"/"+.name]|join(","))]|@tsv"#;
    let jq = ["jq", "-r", devices, &saved.display().to_string()]
        .map(str::to_owned)
        .to_vec();
    let rows = [
        ("kubectl get --raw", kubectl(&["get", "--raw", raw])),
        ("kubectl dra claims -A", dra(&["claims", "-A"])),
        (
            "kubectl dra claims -A -o json",
            dra(&["claims", "-A", "-o", "json"]),
        ),
        ("kubectl dra snapshot", dra(&["snapshot"])),
        (
            "kubectl get resourceclaims -A",
            kubectl(&["get", "resourceclaims", "-A"]),
        ),
        ("jq device table from the saved list", jq),
        (
            "kubectl dra claims -A --from the saved list",
            dra(&["claims", "-A", &from]),
        ),
    ];
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let measured = timed::measure(&rows, &[("KUBECONFIG", kubeconfig)], || ());
    timed::print(&rows, &measured, 0, "`kubectl get --raw`");
    println!(
        "\nFrom the saved list, the claims table is {:.0} times as fast as jq's.",
        measured[5].wall / measured[6].wall
    );
}

fn command(cluster: &Cluster, program: &str, args: &[&str]) -> Vec<String> {
    // The harness puts its programs beside the kubeconfig.
    let folder = cluster.kubeconfig().parent().expect("a file in a folder");
    let path = match std::env::var("KUBECTL_DRA_BENCH_PROGRAM") {
        Ok(named) if program == "kubectl-dra" => named,
        _ => folder.join("bin").join(program).display().to_string(),
    };
    std::iter::once(path)
        .chain(args.iter().map(|&arg| arg.to_owned()))
        .collect()
}

fn save(cluster: &Cluster, command: &[String], to: &Path) {
    let status = Command::new(&command[0])
        .args(&command[1..])
        .env("KUBECONFIG", cluster.kubeconfig())
        .stdout(File::create(to).expect("the folder is writable"))
        .status()
        .expect("the program starts");
    assert!(status.success(), "{command:?}");
}

/// Writes allocated claims as the scheduler leaves them: created, then their status.
fn fill(cluster: &Cluster, count: usize) {
    for namespace in 0..count.div_ceil(PER_NAMESPACE) {
        let name = format!("team-{namespace}");
        cluster.create(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    }
    let client = cluster.client();
    runtime().block_on(async {
        let mut writes = futures::stream::iter(0..count)
            .map(|number| {
                let client = client.clone();
                tokio::spawn(async move { write_claim(&client, number).await })
            })
            .buffer_unordered(WRITERS);
        let mut done = 0;
        let mut last = Instant::now();
        while let Some(written) = writes.next().await {
            written.expect("nothing panics").expect("claims are accepted");
            done += 1;
            if last.elapsed() > Duration::from_secs(10) {
                let _ = writeln!(std::io::stderr(), "{done} of {count} claims");
                last = Instant::now();
            }
        }
    });
}

async fn write_claim(client: &kube::Client, number: usize) -> Result<(), kube::Error> {
    let namespace = format!("team-{}", number / PER_NAMESPACE);
    let collection = format!("/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims");
    let node = format!("gpu-node-{}", number / 8);
    let (pod, uid) = (
        format!("trainer-{number}"),
        format!("00000000-0000-4000-8000-{number:012}"),
    );
    let name = format!("{pod}-gpu-{number:05}");
    let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace,
            "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
            "finalizers": ["resource.kubernetes.io/delete-protection"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid, "controller": true}]},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", "selectors": [
            {"cel": {"expression": "device.attributes['gpu.example.com'].model == 'H100-SXM5-80GB'"}},
            {"cel": {"expression": "device.capacity['gpu.example.com'].memory.compareTo(quantity('64Gi')) >= 0"}}]}}]}}});
    let mut created = send(client, Method::POST, &collection, &claim).await?;
    created["status"] = json!({
        "allocation": {"allocationTimestamp": "2026-11-21T00:00:00Z",
            "devices": {"results": [
                {"request": "gpu", "driver": "gpu.example.com", "pool": node, "device": format!("gpu-{}", number % 8)}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": [node]}]}]}},
        "reservedFor": [{"resource": "pods", "name": pod, "uid": uid}]});
    send(
        client,
        Method::PUT,
        &format!("{collection}/{name}/status"),
        &created,
    )
    .await?;
    Ok(())
}

async fn send(
    client: &kube::Client,
    method: Method,
    path: &str,
    object: &Value,
) -> Result<Value, kube::Error> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(Body::from(object.to_string().into_bytes()))
        .map_err(kube::Error::HttpError)?;
    let response = client.send(request).await?;
    let status = response.status();
    let bytes = response.into_body().collect_bytes().await?;
    assert!(status.is_success(), "{path}: {}", String::from_utf8_lossy(&bytes));
    serde_json::from_slice(&bytes).map_err(kube::Error::SerdeError)
}
