//! The allocator beside the Go library, on the same problems in the same run.
//!
//! The oracle in `tests/go` makes the problems and measures the library; both sides do the same work for a figure: every node of
//! the problem is judged, by an allocator that knows the cluster but has not looked at any node. All figures are the least of several
//! runs, which on a shared machine says more than their median. The output is the table of `docs/internals/performance.md`. Arguments name
//! parts of the families to measure, `explain` among them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]

#[expect(dead_code, reason = "nothing is compared here")]
#[path = "../tests/allocator/case.rs"]
mod case;
#[path = "../tests/it/support/go.rs"]
mod go;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dra_allocator::{Budget, Inputs, Limits};
use dra_model::{Change, Claim, Cluster, Key, Kind, Object, Pod, Time};
use dra_reports::allocation::Settings;
use dra_reports::explanation::{Explanation, explain_pod};
use dra_rules::scheduling::in_order;
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use case::Case;

/// Problems that both sides solve.
const BOTH: &[(&str, usize)] = &[
    ("nodes", 500),
    ("nodes-selector", 500),
    ("nodes-match", 500),
    ("nodes-partitions", 500),
    ("nodes-shares", 500),
    ("full", 500),
    ("gpus", 5000),
];

/// Problems without a solution: the largest size that Go takes on in the benchmark, and sizes for Rust alone.
const WITHOUT_SOLUTION: &[(&str, usize, &[usize])] = &[
    ("short", 20, &[24, 32]),
    ("short-requests", 9, &[16, 32]),
    ("classes", 6, &[8, 12, 16]),
    ("distinct", 8, &[16, 32]),
    ("alternatives", 5, &[16, 32]),
    ("partitions", 8, &[12, 15]),
    ("partitions-two", 6, &[12, 15]),
    ("shares", 5, &[10, 15]),
];

fn main() {
    // `cargo test --benches` and the like only want to know that it runs.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let names: Vec<&String> = arguments.iter().filter(|name| !name.starts_with('-')).collect();
    let wanted = |family: &str| names.is_empty() || names.iter().any(|name| family.contains(name.as_str()));
    let oracle = go::build("oracle");
    let upstream = upstream(&oracle, wanted);
    println!("| Problem | Go | Rust | ratio |\n|---|---:|---:|---:|");
    for (family, size) in BOTH.iter().filter(|(family, _)| wanted(family)) {
        let case = family_case(&oracle, family, *size);
        let nodes = case.cluster.nodes().count() as u32;
        let (preparing, judging) = judge(&case);
        let name = format!("{family}/{size}");
        row(
            &format!("{name}, a node"),
            upstream.get(&name).map(|time| *time / nodes),
            judging / nodes,
        );
        let gather = upstream.get(&format!("{name}/gather"));
        row(&format!("{name}, once before"), gather.copied(), preparing);
        let whole = upstream.get(&name).zip(gather);
        row(
            &format!("{name}, all"),
            whole.map(|(a, b)| *a + *b),
            preparing + judging,
        );
        if *family == "gpus" {
            for threads in [1, 2] {
                row(
                    &format!("{name}, all, {threads} threads"),
                    None,
                    in_threads(&case, threads),
                );
            }
        }
    }
    if wanted("explain") {
        println!("\n| `explain`, one thread | Rust |\n|---|---:|");
        let gpus = family_case(&oracle, "gpus", 5000);
        for count in [4, 8, 9] {
            let time = explain(&gpus, count);
            println!(
                "| a pod that wants {count} of 8 GPUs on 5,000 nodes | {} |",
                shown(time)
            );
        }
    }
    println!("\n| Problem | steps | Go | Rust | ratio |\n|---|---:|---:|---:|---:|");
    for (family, size, larger) in WITHOUT_SOLUTION.iter().filter(|(family, ..)| wanted(family)) {
        for size in std::iter::once(size).chain(*larger) {
            let case = family_case(&oracle, family, *size);
            let name = format!("{family}/{size}");
            let (steps, time) = search(&case);
            row(&format!("{name} | {steps}"), upstream.get(&name).copied(), time);
        }
    }
}

fn row(name: &str, go: Option<Duration>, rust: Duration) {
    let (go, ratio) = go.map_or_else(Default::default, |go| {
        (shown(go), format!("{:.0}", go.as_secs_f64() / rust.as_secs_f64()))
    });
    println!("| {name} | {go} | {} | {ratio} |", shown(rust));
}

fn shown(time: Duration) -> String {
    let nanos = time.as_nanos();
    match nanos {
        0..10_000 => format!("{nanos} ns"),
        10_000..10_000_000 => format!("{} µs", nanos / 1_000),
        _ => format!("{} ms", nanos / 1_000_000),
    }
}

/// Returns what the oracle measures of the families that are `wanted`, by name.
fn upstream(oracle: &Path, wanted: impl Fn(&str) -> bool) -> BTreeMap<String, Duration> {
    let both = BOTH.iter().map(|(name, size)| (name, size));
    let searches = WITHOUT_SOLUTION.iter().map(|(name, size, _)| (name, size));
    let names: Vec<String> = both
        .chain(searches)
        .filter(|(name, _)| wanted(name))
        .map(|(name, size)| format!("{name}/{size}"))
        .collect();
    let pattern = format!("^({})(/gather)?$", names.join("|"));
    let output = Command::new(oracle)
        .args(["bench", "--time", "1s", "--run", &pattern])
        .env("GOMAXPROCS", "1")
        .output()
        .expect("the oracle can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).expect("a measurement");
            let nanos = line["least"].as_u64().expect("nanoseconds");
            let name = line["name"].as_str().expect("a name");
            (name.to_owned(), Duration::from_nanos(nanos))
        })
        .collect()
}

fn family_case(oracle: &Path, family: &str, size: usize) -> Case {
    let output = Command::new(oracle)
        .args(["family", family, &size.to_string()])
        .output()
        .expect("the oracle can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Case::read(&String::from_utf8_lossy(&output.stdout)).expect("a case")
}

/// The least time of several runs of `run`, each prepared by `prepare`, of which the least time comes first.
fn best<T>(mut prepare: impl FnMut() -> T, mut run: impl FnMut(&mut T)) -> (Duration, Duration) {
    let start = Instant::now();
    let (mut least_preparing, mut least) = (Duration::MAX, Duration::MAX);
    while least == Duration::MAX || start.elapsed() < Duration::from_secs(1) {
        let before = Instant::now();
        let mut prepared = prepare();
        let between = Instant::now();
        run(&mut prepared);
        least_preparing = least_preparing.min(between - before);
        least = least.min(between.elapsed());
    }
    (least_preparing, least)
}

/// Times of preparing the cluster and of judging all nodes.
fn judge(case: &Case) -> (Duration, Duration) {
    best(
        || Inputs::new(&case.cluster, case.features),
        |inputs| {
            let demand = inputs.demand(&case.claims);
            for node in case.cluster.nodes() {
                black_box(inputs.allocate(node, &demand, Limits::default(), &()));
            }
        },
    )
}

/// Time of preparing the cluster and of judging all nodes in threads.
fn in_threads(case: &Case, threads: usize) -> Duration {
    let nodes: Vec<_> = case.cluster.nodes().collect();
    let run = || {
        let inputs = Inputs::new(&case.cluster, case.features);
        let demand = inputs.demand(&case.claims);
        std::thread::scope(|scope| {
            for part in nodes.chunks(nodes.len().div_ceil(threads)) {
                let (inputs, demand) = (&inputs, &demand);
                scope.spawn(move || {
                    for node in part {
                        black_box(inputs.allocate(node, demand, Limits::default(), &()));
                    }
                });
            }
        });
    };
    best(|| (), |()| run()).1
}

/// Steps and time of one search on an allocator that has not looked at the node.
fn search(case: &Case) -> (u64, Duration) {
    let mut steps = 0;
    let (_, time) = best(
        || Inputs::new(&case.cluster, case.features),
        |inputs| {
            let demand = inputs.demand(&case.claims);
            let attempt = inputs.allocate(&case.node, &demand, Limits::default(), &());
            steps = attempt.steps;
            black_box(attempt);
        },
    );
    (steps, time)
}

/// Time of explaining a pod whose claim wants `count` devices.
fn explain(case: &Case, count: u64) -> Duration {
    let (cluster, pod) = with_pod(case, count);
    let budget = Budget::new(u64::MAX);
    let settings = Settings {
        nodes: Vec::new(),
        now: Time::from_unix_seconds(1_800_000_000),
        budget: &budget,
        observer: &(),
        run: &in_order,
        has_fixes: true,
    };
    best(
        || (),
        |()| {
            black_box(Explanation::from(explain_pod(&cluster, &pod, &settings)));
        },
    )
    .1
}

/// The cluster of the case with a pod that uses the claim, which then wants `count` devices, and with nodes that take pods.
fn with_pod(case: &Case, count: u64) -> (Cluster, Arc<Pod>) {
    let mut cluster = case.cluster.clone();
    let nodes: Vec<_> = cluster.nodes().map(|node| node.metadata.name.clone()).collect();
    for name in nodes {
        let node = json!({
            "metadata": {"name": name},
            "status": {"allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110"}},
        });
        put(&mut cluster, Kind::Node, &node);
    }
    let key = case.claims[0].key();
    let mut claim = Claim::clone(&case.claims[0]);
    for request in &mut claim.spec.devices.requests {
        if let Some(exactly) = &mut request.exactly {
            exactly.count = count as i64;
        }
    }
    cluster.apply(Change::Put(Object::ResourceClaim(Arc::new(claim))));
    let pod = json!({
        "metadata": {"name": "pod", "namespace": key.namespace, "uid": "00000000-0000-4000-9000-000000000001"},
        "spec": {
            "containers": [{"name": "main", "resources": {"claims": [{"name": "gpus"}]}}],
            "resourceClaims": [{"name": "gpus", "resourceClaimName": key.name}],
        },
    });
    put(&mut cluster, Kind::Pod, &pod);
    let key = Key {
        namespace: key.namespace,
        name: "pod".into(),
    };
    let pod = cluster.pod(&key).expect("the pod was put there").clone();
    (cluster, pod)
}

fn put(cluster: &mut Cluster, kind: Kind, json: &Value) {
    let object = Object::from_json(kind, json.to_string().as_bytes()).expect("an object of its kind");
    cluster.apply(Change::Put(object));
}
