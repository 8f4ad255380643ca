//! What the exporter costs on a large cluster, beside kube-state-metrics on the same one.

#![expect(clippy::print_stderr, reason = "the figures are what it is run for")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::extremes::number;
use super::operation::{Operated, PROBES, ask};
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, gpu_class, gpu_slice, namespace, nic_class, nic_slice, pod, request,
};
use crate::support::cluster::{Cluster, Component, Options, free_port};
use crate::support::command::isolated;
use crate::support::process::Process;
use crate::support::wait::{try_wait, wait_for};
use crate::top::User;

/// Threads that write.
const WRITERS: usize = 16;
const PER_NAMESPACE: usize = 500;
/// Pods with devices on a node; each has a GPU and a NIC.
const PER_NODE: usize = 8;
/// Changes in a second.
const RATE: u32 = 100;
const SCRAPES: Duration = Duration::from_secs(15);

/// A pod with a claim for a GPU and one for a NIC. One in twenty-five does not fit, the others run.
#[derive(Clone, Copy)]
struct Trainer(usize);

impl Trainer {
    fn name(self) -> String {
        format!("trainer-{}", self.0)
    }

    fn namespace(self) -> String {
        format!("team-{}", self.0 / PER_NAMESPACE)
    }

    fn fits(self) -> bool {
        !self.0.is_multiple_of(25)
    }

    fn node(self) -> String {
        format!("gpu-node-{}", self.0 / PER_NODE)
    }

    /// The status of a claim with its device, which is reserved for the pod.
    fn allocated(self, what: &str) -> Value {
        let (driver, device) = match what {
            "gpu" => ("gpu.example.com", format!("gpu-{}", self.0 % PER_NODE)),
            _ => ("nic.example.com", format!("rdma{}", self.0 % PER_NODE)),
        };
        let node = self.node();
        json!({
            "allocation": {
                "devices": {"results": [{"request": what, "driver": driver, "pool": node, "device": device}]},
                "nodeSelector": {"nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}},
            "reservedFor": [{"resource": "pods", "name": self.name(), "uid": self.name()}]})
    }

    /// The pod and its claims, with their places in etcd.
    fn objects(self) -> [(String, Value); 3] {
        let (name, namespace) = (self.name(), self.namespace());
        // Twenty kinds of pods that do not fit.
        let count = if self.fits() {
            1
        } else {
            9 + (self.0 / 25 % 20) as u32
        };
        let claims = [
            ("gpu", gpu().count(count)),
            ("nic", request("nic", "nic.example.com")),
        ];
        let [gpu, nic] = claims.map(|(what, request)| {
            let name = format!("{name}-{what}");
            let mut claim = claim(&name, claim_spec([request])).in_namespace(&namespace);
            if self.fits() {
                claim["status"] = self.allocated(what);
            }
            (format!("resourceclaims/{namespace}/{name}"), stored(claim, &name))
        });
        let owner = format!("trainer-{}", self.0 / 50);
        let mut pod = pod(&name)
            .named_claim("gpu", &format!("{name}-gpu"))
            .named_claim("nic", &format!("{name}-nic"))
            .in_namespace(&namespace)
            .with(json!({"metadata": {"ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": true}]}}));
        pod["status"] = json!({"phase": "Pending"});
        if self.fits() {
            pod = pod.on_node(&self.node());
            pod["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        }
        [gpu, nic, (format!("pods/{namespace}/{name}"), stored(pod, &name))]
    }
}

/// The object with what the API server adds.
fn stored(object: Value, uid: &str) -> Value {
    object.with(json!({"metadata": {"uid": uid, "creationTimestamp": "2026-11-28T00:00:00Z"}}))
}

/// Calls `work` for each number below `count`, on all writers, so many in a second.
fn write(count: usize, rate: u32, work: impl Fn(usize) + Sync) {
    let (begun, next) = (Instant::now(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let at = Duration::from_secs_f64(number as f64 / f64::from(rate));
                    std::thread::sleep(at.saturating_sub(begun.elapsed()));
                    work(number);
                }
            });
        }
    });
}

/// Nodes and pods; returns the number of pods.
fn fill(cluster: &Cluster, claims: usize) -> usize {
    let begun = Instant::now();
    let (pods, nodes) = (claims / 2, claims / 10);
    cluster.create_all(&[gpu_class(), nic_class()]);
    cluster.store((0..nodes).map(|number| {
        let name = format!("gpu-node-{number}");
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {},
            "status": {"allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110"},
                "conditions": [{"type": "Ready", "status": "True"}]}});
        (format!("minions/{name}"), stored(node, &name))
    }));
    cluster.store((0..nodes).flat_map(|number| {
        let name = format!("gpu-node-{number}");
        [gpu_slice(&name, PER_NODE), nic_slice(&name, PER_NODE)].map(|slice| {
            let name = slice["metadata"]["name"].as_str().expect("a name").to_owned();
            (format!("resourceslices/{name}"), stored(slice, &name))
        })
    }));
    cluster.store((0..pods.div_ceil(PER_NAMESPACE)).map(|number| {
        let name = format!("team-{number}");
        (format!("namespaces/{name}"), stored(namespace(&name), &name))
    }));
    cluster.store((0..pods).flat_map(|number| Trainer(number).objects()));
    eprintln!(
        "{nodes} nodes, {claims} claims and {pods} pods in {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    pods
}

/// Half of the changes are to pods. The others deallocate claims, or allocate them again.
fn change(cluster: &Cluster, pods: usize, number: usize) {
    let mut trainer = Trainer(number / 4 % pods);
    if !trainer.fits() {
        trainer = Trainer(trainer.0 + 1);
    }
    let (name, namespace) = (trainer.name(), trainer.namespace());
    let status = match number % 4 {
        0 => json!({"allocation": null, "reservedFor": null}),
        1 => trainer.allocated("gpu"),
        _ => {
            let label = json!({"metadata": {"labels": {"change": number.to_string()}}});
            cluster.patch(&format!("pod/{namespace}/{name}"), &label);
            return;
        }
    };
    let claim = format!("claim/{namespace}/{name}-gpu");
    cluster.patch_status(&claim, &json!({"status": status}));
}

/// A program that is scraped.
struct Scraped {
    name: &'static str,
    process: Process,
    address: String,
}

/// What it cost in a time.
struct Cost {
    /// Processors in use.
    cpu: f64,
    /// Bytes.
    memory: u64,
    /// Each scrape.
    times: Vec<Duration>,
    /// Length of the last answer.
    bytes: usize,
}

impl Scraped {
    /// The costs until `count` scrapes are over.
    fn measure(&self, count: u32) -> Cost {
        let (begun, before) = (Instant::now(), self.process.processor_time());
        let (mut times, mut bytes) = (Vec::new(), 0);
        for number in 1..=count {
            std::thread::sleep((SCRAPES * number).saturating_sub(begun.elapsed()));
            let asked = Instant::now();
            bytes = ask(&self.address, "/metrics").len();
            times.push(asked.elapsed());
        }
        let cpu = self.process.processor_time().saturating_sub(before).as_secs_f64()
            / begun.elapsed().as_secs_f64();
        let memory = self.process.resident();
        times.sort();
        Cost {
            cpu,
            memory,
            times,
            bytes,
        }
    }

    fn print(&self, when: &str, cost: &Cost) {
        let [median, longest] = [cost.times.len() / 2, cost.times.len() - 1].map(|place| cost.times[place]);
        eprintln!(
            "| `{}` | {when} | {:.1} % | {:.0} MiB | {:.3} s | {:.3} s | {:.0} kB |",
            self.name,
            cost.cpu * 100.0,
            cost.memory as f64 / f64::from(1 << 20),
            median.as_secs_f64(),
            longest.as_secs_f64(),
            cost.bytes as f64 / 1e3
        );
    }
}

/// The costs at rest and with changes, which are printed.
fn measured(cluster: &Cluster, pods: usize, scraped: &Scraped, scrapes: u32) -> [Cost; 2] {
    let rest = scraped.measure(scrapes);
    scraped.print("at rest", &rest);
    let changes = (RATE * scrapes) as usize * SCRAPES.as_secs() as usize;
    let busy = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let begun = Instant::now();
            write(changes, RATE, |number| change(cluster, pods, number));
            changes as f64 / begun.elapsed().as_secs_f64()
        });
        let busy = scraped.measure(scrapes);
        let rate = writer.join().expect("no change is refused");
        scraped.print(&format!("{rate:.0} changes/s"), &busy);
        busy
    });
    [rest, busy]
}

/// Shows the live view, and returns how much of a processor it takes while nothing changes.
fn top_at_rest(cluster: &Cluster, program: &str, time: Duration) -> f64 {
    let begun = Instant::now();
    let user = User::of_cluster(program, cluster.kubeconfig(), 100, 30);
    let screen = user.sees("as of");
    let first = begun.elapsed();
    // What the start has left to compute is over then.
    std::thread::sleep(SCRAPES);
    let (begun, before) = (Instant::now(), user.process().processor_time());
    std::thread::sleep(time);
    let used = user.process().processor_time().saturating_sub(before);
    let cpu = used.as_secs_f64() / begun.elapsed().as_secs_f64();
    let memory = user.process().resident() as f64 / f64::from(1 << 20);
    eprintln!(
        "| `kubectl dra top` | at rest | {:.1} % | {memory:.0} MiB | | | |\n{screen}\nthere after {:.1} s",
        cpu * 100.0,
        first.as_secs_f64()
    );
    user.leaves();
    cpu
}

fn kube_state_metrics(cluster: &Cluster, program: &str) -> Scraped {
    let [port, telemetry] = [free_port(), free_port()];
    let process = isolated(program, &["--resources=pods,nodes", "--host=127.0.0.1"])
        .args([
            format!("--kubeconfig={}", cluster.kubeconfig().display()),
            format!("--port={port}"),
            "--telemetry-host=127.0.0.1".to_owned(),
            format!("--telemetry-port={telemetry}"),
        ])
        .start_unguarded();
    let address = format!("127.0.0.1:{port}");
    wait_for("kube-state-metrics has its pods", || {
        std::net::TcpStream::connect(&address).ok()?;
        ask(&address, "/metrics")
            .contains("\nkube_pod_info{")
            .then_some(())
    });
    Scraped {
        name: "kube-state-metrics",
        process,
        address,
    }
}

#[test]
#[ignore = "takes minutes: make export-scale"]
fn an_exporter_at_rest_takes_less_than_a_twentieth_of_a_processor() {
    let claims = number("KUBECTL_DRA_SCALE_CLAIMS", 5_000);
    let scrapes = number("KUBECTL_DRA_SCALE_SCRAPES", 12) as u32;
    let cluster = Cluster::start(
        &Options::default()
            .without(Component::Scheduler)
            .without(Component::ControllerManager),
    );
    let pods = fill(&cluster, claims);
    eprintln!(
        "| Program | When | CPU | Memory | Scrape, median | Longest | Size |\n|---|---|---:|---:|---:|---:|---:|"
    );
    let program = std::env::var("KUBECTL_DRA_BENCH_PROGRAM")
        .unwrap_or_else(|_| env!("CARGO_BIN_EXE_kubectl-dra").to_owned());
    let process = isolated(&program, &["export"])
        .args(PROBES)
        .env("KUBECONFIG", cluster.kubeconfig())
        .start_unguarded();
    let begun = Instant::now();
    let exporter = Operated::of(process);
    let counted = || {
        let metrics = exporter.ask("/metrics");
        let of_claims = metrics.lines().filter(|line| line.starts_with("dra_claims{"));
        let all: f64 = of_claims
            .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
            .sum();
        let is_all = all as usize == claims && metrics.contains("\ndra_pending_pods{");
        if is_all { Ok(metrics) } else { Err(all) }
    };
    // On a busy machine the API server needs minutes until it can list all that was stored.
    let metrics = (0..5).find_map(|_| try_wait(counted).ok());
    let metrics = metrics.expect("metrics of all claims");
    let first = begun.elapsed();
    let parts = metrics
        .lines()
        .filter(|line| line.starts_with("kubectl_dra_export_computation_seconds{"));
    let parts: Vec<&str> = parts.collect();
    let exporter = Scraped {
        name: "kubectl dra export",
        address: exporter.address().to_owned(),
        process: exporter.process,
    };
    let [rest, busy] = measured(&cluster, pods, &exporter, scrapes);
    drop(exporter);
    let of_top = top_at_rest(&cluster, &program, SCRAPES * scrapes);
    if let Ok(program) = std::env::var("KUBECTL_DRA_KUBE_STATE_METRICS") {
        measured(&cluster, pods, &kube_state_metrics(&cluster, &program), scrapes);
    }
    eprintln!(
        "everything exported {:.1} s after the start; {}",
        first.as_secs_f64(),
        parts.join(", ")
    );
    assert!(rest.cpu < 0.05, "{}", rest.cpu);
    assert!(of_top < 0.05, "{of_top}");
    let longest = [rest, busy].iter().flat_map(|cost| cost.times.clone()).max();
    assert!(longest < Some(Duration::from_secs(5)), "{longest:?}");
}
