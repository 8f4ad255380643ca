//! How fast `run --take-over` works, beside kube-controller-manager with only the same two controllers: the same work on the same API
//! server, in turns, in the same run.
//!
//!     make bench-run                      # of the release build
//!     cargo bench --bench run -- 200      # so many pods
//!     cargo bench --bench run -- evicted  # only what has that in its name
//!
//! The work is there before a controller starts, so the time is that from the start of the process to the last write, and processor time
//! and memory are those of the whole process. With evictions it is the time from the rule to the deletion of the last pod, and the
//! processor time in between. The medians of the rounds are printed, and the ratio of the medians.

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

use std::fmt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::{AsyncBufReadExt as _, StreamExt as _};
use http::{Method, Request};
use kube::client::Body;
use serde_json::{Value, json};

use support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, namespace, pod, taint, taint_rule, template,
};
use support::cluster::{Cluster, Component, Options, runtime};
use support::go;

const ROUNDS: usize = 3;
const AT_ONCE: usize = 16;
const CONTROLLERS: &str = "resourceclaim-controller,device-taint-eviction-controller";
/// Pods and claims that nothing has to be done for, where a cluster is to be large.
const CACHED_PER_POD: usize = 10;

/// Who works.
#[derive(Clone, Copy, PartialEq)]
enum Who {
    Upstream,
    Ours,
}

/// Requests of a controller in a second, and at once.
#[derive(Clone, Copy)]
enum Limits {
    Some,
    None,
}

/// What one turn took.
#[derive(Clone, Copy, Default)]
struct Taken {
    wall: f64,
    processor: f64,
    mebibytes: f64,
}

fn main() {
    // Cargo passes `--bench` along.
    let count = std::env::args()
        .skip(1)
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(2_000);
    let wanted = std::env::args()
        .skip(1)
        .find(|arg| !arg.starts_with('-') && arg.parse::<usize>().is_err());
    let is_wanted = |what: &str| wanted.as_ref().is_none_or(|wanted| what.contains(wanted));
    let cluster = Cluster::start(
        &Options::default()
            .without(Component::Scheduler)
            .without(Component::ControllerManager),
    );
    cluster.create(&namespace("work"));
    cluster.create(&template("one", claim_spec([gpu()])).in_namespace("work"));
    println!("| What | Limit | kube-controller-manager | `kubectl dra run` | Wall | CPU | Memory |");
    println!("|---|---|---|---|---:|---:|---:|");
    let what = format!("{count} pods with a template");
    for limits in [Limits::Some, Limits::None] {
        if is_wanted(&what) {
            compare(&what, limits, |who| templates(&cluster, count, who, limits));
        }
    }
    let what = format!("{} pods evicted by one rule", count / 2);
    if is_wanted(&what) {
        compare(&what, Limits::Some, |who| evictions(&cluster, count / 2, who));
    }
    let cached = count * CACHED_PER_POD;
    let what = format!("{count} pods with a template, beside {cached} pods with claims");
    let hand_over = format!("first write of a new leader, beside {cached} pods with claims");
    if is_wanted(&what) || is_wanted(&hand_over) {
        fill(&cluster, cached);
    }
    if is_wanted(&what) {
        compare(&what, Limits::Some, |who| {
            templates(&cluster, count, who, Limits::Some)
        });
    }
    if is_wanted(&hand_over) {
        println!(
            "\n{hand_over}: {:.3} s after it has the lease",
            first_write(&cluster)
        );
    }
}

/// Returns how long after it has the lease of one that died a standby writes first. Pods wait for their claims meanwhile.
fn first_write(cluster: &Cluster) -> f64 {
    let lease = "/apis/coordination.k8s.io/v1/namespaces/work/leases?watch=true&resourceVersion=0";
    let pods = "/api/v1/namespaces/work/pods?watch=true&resourceVersion=0";
    let holder = |lease: &Value| {
        lease["spec"]["holderIdentity"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let first = Worker::with(cluster, Who::Ours, Limits::Some, "--lease=work/run");
    let seen = |lease: &Value| !holder(lease).is_empty();
    let (_, held) = runtime().block_on(first_that(cluster, lease, seen));
    let second = Worker::with(cluster, Who::Ours, Limits::Some, "--lease=work/run");
    // Until it has read everything, and looks on.
    std::thread::sleep(Duration::from_secs(20));
    drop(first);
    write_all(cluster, 100, |number| {
        let pod = pod(&format!("pod-{number}")).template_claim("gpu", "one");
        vec![(
            "/api/v1/namespaces/work/pods".to_owned(),
            pod.in_namespace("work"),
        )]
    });
    let (from, until) = runtime().block_on(async {
        let other = |lease: &Value| seen(lease) && holder(lease) != holder(&held);
        let written = |pod: &Value| pod["status"]["resourceClaimStatuses"].is_array();
        let has_it = first_that(cluster, lease, other);
        let has_written = first_that(cluster, pods, written);
        let ((from, _), (until, _)) = futures::future::join(has_it, has_written).await;
        (from, until)
    });
    drop(second);
    clear(cluster);
    until.saturating_duration_since(from).as_secs_f64()
}

/// The first object of a watch that is as wanted, and when it came.
async fn first_that(cluster: &Cluster, path: &str, is_it: impl Fn(&Value) -> bool) -> (Instant, Value) {
    let request = Request::get(path).body(Vec::new()).expect("a request");
    let stream = cluster.client().request_stream(request).await.expect("a watch");
    let mut lines = stream.lines();
    loop {
        let line = lines.next().await.expect("the watch goes on").expect("a line");
        let mut event: Value = serde_json::from_str(&line).expect("JSON");
        if is_it(&event["object"]) {
            return (Instant::now(), event["object"].take());
        }
    }
}

fn compare(what: &str, limits: Limits, mut turn: impl FnMut(Who) -> Taken) {
    let (mut upstream, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        upstream.push(turn(Who::Upstream));
        ours.push(turn(Who::Ours));
    }
    let (upstream, ours) = (median(&upstream), median(&ours));
    println!(
        "| {what} | {} | {upstream} | {ours} | {:.2} | {:.2} | {:.2} |",
        match limits {
            Limits::Some => "500/s, 1,000 at once",
            Limits::None => "none",
        },
        ours.wall / upstream.wall,
        ours.processor / upstream.processor,
        ours.mebibytes / upstream.mebibytes
    );
}

fn median(turns: &[Taken]) -> Taken {
    let of = |value: fn(&Taken) -> f64| {
        let mut values: Vec<f64> = turns.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Taken {
        wall: of(|taken| taken.wall),
        processor: of(|taken| taken.processor),
        mebibytes: of(|taken| taken.mebibytes),
    }
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            wall,
            processor,
            mebibytes,
        } = self;
        write!(f, "{wall:.1} s, {processor:.2} s CPU, {mebibytes:.0} MiB")
    }
}

/// Pods that wait for the claims of their template.
fn templates(cluster: &Cluster, count: usize, who: Who, limits: Limits) -> Taken {
    write_all(cluster, count, |number| {
        let pod = pod(&format!("pod-{number}")).template_claim("gpu", "one");
        vec![(
            "/api/v1/namespaces/work/pods".to_owned(),
            pod.in_namespace("work"),
        )]
    });
    collect_garbage(cluster);
    let begin = Instant::now();
    let worker = Worker::start(cluster, who, limits);
    wait_for_pods(cluster, count, |pod| {
        pod["status"]["resourceClaimStatuses"].is_array()
    });
    let taken = worker.taken(begin, Duration::ZERO);
    drop(worker);
    clear(cluster);
    taken
}

/// Running pods that one rule takes away.
fn evictions(cluster: &Cluster, count: usize, who: Who) -> Taken {
    write_all(cluster, count, |number| {
        let name = format!("pod-{number}");
        let claim = claim(&name, claim_spec([gpu()])).in_namespace("work");
        let pod = pod(&name)
            .named_claim("gpu", &name)
            .in_namespace("work")
            .with(json!({"spec": {"nodeName": format!("node-{}", number / 8)}}));
        let claims = "/apis/resource.k8s.io/v1/namespaces/work/resourceclaims".to_owned();
        vec![(claims, claim), ("/api/v1/namespaces/work/pods".to_owned(), pod)]
    });
    allocate(cluster, count);
    let worker = Worker::start(cluster, who, Limits::Some);
    // Both tell nobody when they have read everything; a pod that gets its claim shows it.
    let path = "/api/v1/namespaces/work/pods".to_owned();
    let sign = pod("sign").template_claim("gpu", "one").in_namespace("work");
    runtime().block_on(answered(&cluster.client(), request(Method::POST, path, &sign)));
    wait_for_pods(cluster, 1, |pod| {
        pod["status"]["resourceClaimStatuses"].is_array()
    });
    collect_garbage(cluster);
    let (begin, before) = (Instant::now(), worker.processor_time());
    let broken = taint("example.com/broken", "", "NoExecute");
    cluster.create(&taint_rule(
        "broken",
        json!({"driver": "gpu.example.com"}),
        broken,
    ));
    wait_for_pods(cluster, count, |pod| {
        pod["metadata"]["deletionTimestamp"].is_string()
    });
    let taken = worker.taken(begin, before);
    drop(worker);
    cluster.delete("rule/broken");
    clear(cluster);
    taken
}

/// A controller at work.
struct Worker(Child);

impl Worker {
    fn start(cluster: &Cluster, who: Who, limits: Limits) -> Self {
        Self::with(cluster, who, limits, "--no-lease")
    }

    /// With a flag of ours about the lease.
    fn with(cluster: &Cluster, who: Who, limits: Limits, lease: &str) -> Self {
        let mut command = match who {
            Who::Upstream => {
                let mut command = Command::new(go::build("controlplane"));
                command
                    .args([
                        "kube-controller-manager",
                        "--leader-elect=false",
                        "--secure-port=0",
                    ])
                    .arg(format!("--controllers={CONTROLLERS}"))
                    .arg("--kubeconfig")
                    .arg(cluster.kubeconfig());
                command
            }
            Who::Ours => {
                let program = std::env::var("KUBECTL_DRA_BENCH_PROGRAM")
                    .unwrap_or_else(|_| env!("CARGO_BIN_EXE_kubectl-dra").to_owned());
                let mut command = Command::new(program);
                command
                    .args(["run", "--take-over", "--assume-builtin-disabled", lease])
                    .env("KUBECONFIG", cluster.kubeconfig());
                command
            }
        };
        let (qps, burst) = match (limits, who) {
            (Limits::Some, _) => (500, 1_000),
            // What no limit is, for a program that takes 0 for its default.
            (Limits::None, Who::Upstream) => (5_000, 10_000),
            (Limits::None, Who::Ours) => (0, 0),
        };
        command
            .args([
                format!("--kube-api-qps={qps}"),
                format!("--kube-api-burst={burst}"),
            ])
            // The programs of the test cluster end with their input.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self(command.spawn().expect("the program starts"))
    }

    fn taken(&self, begin: Instant, before: Duration) -> Taken {
        Taken {
            wall: begin.elapsed().as_secs_f64(),
            processor: self.processor_time().saturating_sub(before).as_secs_f64(),
            mebibytes: self.peak(),
        }
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.0.id())).expect("the program still runs")
    }

    /// In user mode and in the kernel.
    fn processor_time(&self) -> Duration {
        let text = self.file("stat");
        // Behind the name of the program, which may have any character in it.
        let (_, fields) = text.rsplit_once(") ").expect("a name");
        let ticks = |field: usize| -> u64 {
            let text = fields.split(' ').nth(field).expect("a field");
            text.parse().expect("a number")
        };
        Duration::from_millis((ticks(11) + ticks(12)) * 10)
    }

    /// The most memory that it had at once.
    fn peak(&self) -> f64 {
        let text = self.file("status");
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.expect("a peak").trim().trim_end_matches(" kB");
        kibibytes.parse::<f64>().expect("a number") / 1024.0
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// Waits until so many pods are as they should be. They are watched, as asking for all of them again and again would cost the server more
/// than the controllers do.
fn wait_for_pods(cluster: &Cluster, count: usize, is_done: impl Fn(&Value) -> bool) {
    let client = cluster.client();
    runtime().block_on(async {
        let mut done = std::collections::HashSet::new();
        let path = "/api/v1/namespaces/work/pods?watch=true&resourceVersion=0";
        let request = Request::get(path).body(Vec::new()).expect("a request");
        let mut lines = client.request_stream(request).await.expect("a watch").lines();
        while done.len() < count {
            let line = lines.next().await.expect("the watch goes on").expect("a line");
            let event: Value = serde_json::from_str(&line).expect("JSON");
            assert_ne!(event["type"], "ERROR", "{line}");
            if is_done(&event["object"]) {
                done.insert(event["object"]["metadata"]["uid"].to_string());
            }
        }
    });
}

/// Pods with claims, for which nothing is to be done.
fn fill(cluster: &Cluster, count: usize) {
    cluster.create(&namespace("idle"));
    write_all(cluster, count, |number| {
        let name = format!("idle-{number}");
        let claim = claim(&name, claim_spec([gpu()])).in_namespace("idle");
        let pod = pod(&name).named_claim("gpu", &name).in_namespace("idle");
        let claims = "/apis/resource.k8s.io/v1/namespaces/idle/resourceclaims".to_owned();
        vec![(claims, claim), ("/api/v1/namespaces/idle/pods".to_owned(), pod)]
    });
}

/// Gives each claim a device and its pod as consumer.
fn allocate(cluster: &Cluster, count: usize) {
    let client = cluster.client();
    let pods = cluster.list("pod/work");
    assert_eq!(pods.len(), count);
    let writes = pods.into_iter().enumerate().map(|(number, pod)| {
        let client = client.clone();
        async move {
            let (name, uid) = (&pod["metadata"]["name"], &pod["metadata"]["uid"]);
            let name = name.as_str().expect("a name");
            let patch = json!({"status": {
                "allocation": {"devices": {"results": [{"request": "gpu", "driver": "gpu.example.com",
                    "pool": format!("node-{}", number / 8), "device": format!("gpu-{}", number % 8)}]}},
                "reservedFor": [{"resource": "pods", "name": name, "uid": uid}]}});
            let path = format!("/apis/resource.k8s.io/v1/namespaces/work/resourceclaims/{name}/status");
            let request =
                Request::patch(path).header(http::header::CONTENT_TYPE, "application/merge-patch+json");
            let body = Body::from(patch.to_string().into_bytes());
            answered(&client, request.body(body).expect("a request")).await;
        }
    });
    runtime().block_on(futures::stream::iter(writes).buffer_unordered(AT_ONCE).count());
}

/// Takes away what a turn left in the namespace, so that the next one finds what the first one found.
fn clear(cluster: &Cluster) {
    let client = cluster.client();
    for path in [
        "/api/v1/namespaces/work/pods?gracePeriodSeconds=0",
        "/apis/resource.k8s.io/v1/namespaces/work/resourceclaims",
        "/api/v1/namespaces/work/events",
    ] {
        let request = Request::delete(path).body(Body::empty());
        runtime().block_on(body(&client, request.expect("a request")));
    }
}

/// Sends the creations of each number, one after the other, for many numbers at once.
fn write_all(cluster: &Cluster, count: usize, objects: impl Fn(usize) -> Vec<(String, Value)>) {
    let client = cluster.client();
    let writes = (0..count).map(|number| {
        let (client, objects) = (client.clone(), objects(number));
        async move {
            for (path, object) in objects {
                answered(&client, request(Method::POST, path, &object)).await;
            }
        }
    });
    runtime().block_on(futures::stream::iter(writes).buffer_unordered(AT_ONCE).count());
}

/// Has the API server collect its garbage now. A collection takes seconds on two cores, and would be in one turn and not in another.
fn collect_garbage(cluster: &Cluster) {
    let request = Request::get("/debug/pprof/heap?gc=1").body(Body::empty());
    runtime().block_on(body(&cluster.client(), request.expect("a request")));
}

fn request(method: Method, path: String, body: &Value) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, "application/json")
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
