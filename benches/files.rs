//! Reads the state of a large cluster from a file, with `kubectl dra` and with jq.
//!
//!     make bench                          # this and `live`, of the release build
//!     cargo bench --bench files           # 100,000 claims and pods, 5,000 nodes, 40,000 devices: some 700 MB
//!     cargo bench --bench files -- 10     # a tenth of it
//!
//! The file is what `kubectl get ... -A -o json` prints of such a cluster, indented, and is written to `target/tmp`. What the benchmark
//! prints is the table of `docs/internals/performance.md`. Times are medians of three runs, memory is the peak
//! resident size. jq is the baseline; it and GNU time must be installed.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads files and clocks and prints what it found"
)]

mod timed;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

const NODES: usize = 5_000;
const DEVICES_PER_NODE: usize = 8;
const PODS: usize = 100_000;
const PER_NAMESPACE: usize = 500;

fn main() {
    let part = std::env::args()
        .skip(1)
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(1);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("state-{part}.json"));
    if !file.exists() {
        write(&file, part).expect("target is writable");
    }
    let size = std::fs::metadata(&file).expect("the file is there").len();
    println!(
        "{} claims, {0} pods, {} nodes, {} devices: {:.0} MB\n",
        PODS / part,
        NODES / part,
        NODES / part * DEVICES_PER_NODE,
        size as f64 / 1e6
    );
    let from = format!("--from={}", file.display());
    let dra = |args: &[&str]| -> Vec<String> {
        std::iter::once(program().as_str())
            .chain(args.iter().copied())
            .map(str::to_owned)
            .collect()
    };
    let jq = |filter: &str| -> Vec<String> {
        ["jq", "-r", filter, &file.display().to_string()]
            .map(str::to_owned)
            .to_vec()
    };
    let devices = r#".items[]|select(.kind=="ResourceClaim" and .status.allocation)|.metadata as $m|.status as $s|
        $s.allocation.devices.results[]|[.driver,.pool,.device,$m.namespace+"/"+$m.name,
        ([$s.reservedFor[]?|.resource+"/"+.name]|join(","))]|@tsv"#;
    let rows = [
        ("kubectl dra status", dra(&["status", &from])),
        ("kubectl dra claims -A", dra(&["claims", "-A", &from])),
        ("kubectl dra devices", dra(&["devices", &from])),
        ("kubectl dra devices --map", dra(&["devices", "--map", &from])),
        ("kubectl dra explain -A", dra(&["explain", "-A", &from])),
        ("kubectl dra reserved -A", dra(&["reserved", "-A", &from])),
        ("jq device table", jq(devices)),
    ];
    // Some machines take the memory of cached files away within seconds: what is measured is not the disk.
    let in_cache = || {
        let mut file = File::open(&file).expect("the file is there");
        std::io::copy(&mut file, &mut std::io::sink()).expect("it can be read");
    };
    let measured = timed::measure(&rows, &[], in_cache);
    timed::print(&rows, &measured, rows.len() - 1, "jq");
    println!();
    size_and_start();
}

/// The program that is measured: the one of the same build, unless `KUBECTL_DRA_BENCH_PROGRAM` names another.
fn program() -> String {
    let named = std::env::var("KUBECTL_DRA_BENCH_PROGRAM");
    named.unwrap_or_else(|_| env!("CARGO_BIN_EXE_kubectl-dra").to_owned())
}

/// Size of the program, and how long it takes to start and end.
fn size_and_start() {
    const STARTS: usize = 101;
    let path = program();
    let size = std::fs::metadata(&path).expect("the program is there").len();
    println!(
        "| Program | |\n|---|---|\n| size of the binary | {:.1} MB |",
        size as f64 / 1e6
    );
    let mut times: Vec<_> = (0..STARTS)
        .map(|_| {
            let begin = Instant::now();
            let status = Command::new(&path)
                .args(["version", "--client"])
                .stdout(Stdio::null())
                .status();
            assert!(status.is_ok_and(|status| status.success()));
            begin.elapsed()
        })
        .collect();
    times.sort();
    for (name, time) in [("median", times[STARTS / 2]), ("fastest", times[0])] {
        println!(
            "| `kubectl-dra version --client`, {name} of {STARTS} | {:.1} ms |",
            time.as_secs_f64() * 1e3
        );
    }
}

/// Writes the list, under another name until it is complete.
fn write(file: &Path, part: usize) -> std::io::Result<()> {
    let unfinished: PathBuf = file.with_extension("unfinished");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
    out.write_all(b"{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n")?;
    let nodes = NODES / part;
    let objects = (0..nodes)
        .map(node)
        .chain((0..nodes).map(slice))
        .chain(std::iter::once_with(class))
        .chain((0..PODS / part).map(|number| claim(number, nodes)))
        .chain((0..PODS / part).map(|number| pod(number, nodes)));
    for (at, object) in objects.enumerate() {
        let separator = if at == 0 { "        " } else { ",\n        " };
        out.write_all(separator.as_bytes())?;
        let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        let mut text = Vec::new();
        serde::Serialize::serialize(
            &object,
            &mut serde_json::Serializer::with_formatter(&mut text, formatter),
        )?;
        out.write_all(
            &text
                .split(|byte| *byte == b'\n')
                .collect::<Vec<_>>()
                .join(&b"\n        "[..]),
        )?;
    }
    out.write_all(b"\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")?;
    out.into_inner()?.sync_all()?;
    std::fs::rename(unfinished, file)
}

fn uid(kind: u16, number: usize) -> String {
    format!("{kind:08x}-0000-4000-8000-{number:012x}")
}

fn namespace_of(number: usize) -> String {
    format!("team-{}", number / PER_NAMESPACE)
}

/// Every node has eight devices; claims go to nodes in turn, and those beyond the devices wait.
fn place(number: usize, nodes: usize) -> Option<(String, String)> {
    let device = number / nodes;
    (device < DEVICES_PER_NODE).then(|| (format!("gpu-node-{}", number % nodes), format!("gpu-{device}")))
}

fn node(number: usize) -> Value {
    let name = format!("gpu-node-{number}");
    let condition = |type_: &str, status: &str, reason: &str| {
        json!({"lastHeartbeatTime": "2026-11-21T00:00:00Z", "lastTransitionTime": "2026-11-21T00:00:00Z",
            "message": "kubelet has said so", "reason": reason, "status": status, "type": type_})
    };
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "uid": uid(1, number), "resourceVersion": number.to_string(),
            "creationTimestamp": "2026-11-01T00:00:00Z",
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/zone": format!("zone-{}", number % 3)}},
        "spec": {"podCIDR": "10.0.0.0/24"},
        "status": {"allocatable": {"cpu": "128", "memory": "1048576Mi", "pods": "110"},
            "capacity": {"cpu": "128", "memory": "1048576Mi", "pods": "110"},
            "conditions": [condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure"), condition("Ready", "True", "KubeletReady")],
            "images": (0..20).map(|image| json!({"names": [format!("registry.example.com/team/image-{image}:v1.2.3")],
                "sizeBytes": 1_234_567_890_u64})).collect::<Vec<_>>(),
            "nodeInfo": {"kubeletVersion": "v1.37.1", "operatingSystem": "linux", "architecture": "amd64"}}})
}

fn slice(number: usize) -> Value {
    let node = format!("gpu-node-{number}");
    let device = |device: usize| {
        json!({"name": format!("gpu-{device}"),
            "attributes": {"model": {"string": "H100-SXM5-80GB"}, "index": {"int": device},
                "uuid": {"string": format!("GPU-{}", uid(3, number * DEVICES_PER_NODE + device))},
                "driverVersion": {"version": "570.86.15"}, "numaNode": {"int": device / 4},
                "resource.kubernetes.io/pcieRoot": {"string": format!("pci0000:{device:02x}")}},
            "capacity": {"memory": {"value": "80Gi"}}})
    };
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
        "metadata": {"name": format!("{node}-gpu.example.com-abcde"), "uid": uid(2, number),
            "resourceVersion": number.to_string(), "creationTimestamp": "2026-11-01T00:00:00Z",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid(1, number), "controller": true}]},
        "spec": {"driver": "gpu.example.com", "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": (0..DEVICES_PER_NODE).map(device).collect::<Vec<_>>()}})
}

fn class() -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
        "metadata": {"name": "gpu.example.com", "uid": uid(9, 0), "creationTimestamp": "2026-11-01T00:00:00Z"},
        "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}})
}

fn claim(number: usize, nodes: usize) -> Value {
    let pod = format!("trainer-{number}");
    let mut claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": format!("{pod}-gpu-{:05}", number % 100_000), "generateName": format!("{pod}-gpu-"),
            "namespace": namespace_of(number), "uid": uid(4, number), "resourceVersion": number.to_string(),
            "creationTimestamp": "2026-11-20T00:00:00Z",
            "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
            "finalizers": ["resource.kubernetes.io/delete-protection"],
            "ownerReferences": [{"apiVersion": "v1", "blockOwnerDeletion": true, "controller": true, "kind": "Pod",
                "name": pod, "uid": uid(5, number)}]},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"allocationMode": "ExactCount", "count": 1,
            "deviceClassName": "gpu.example.com", "selectors": [
                {"cel": {"expression": "device.attributes['gpu.example.com'].model == 'H100-SXM5-80GB'"}},
                {"cel": {"expression": "device.capacity['gpu.example.com'].memory.compareTo(quantity('64Gi')) >= 0"}}]}}]}}});
    if let Some((node, device)) = place(number, nodes) {
        claim["status"] = json!({"allocation": {"allocationTimestamp": "2026-11-20T00:00:01Z",
            "devices": {"results": [{"request": "gpu", "driver": "gpu.example.com", "pool": node, "device": device}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": [node]}]}]}},
            "reservedFor": [{"resource": "pods", "name": pod, "uid": uid(5, number)}]});
    }
    claim
}

fn pod(number: usize, nodes: usize) -> Value {
    let name = format!("trainer-{number}");
    let at = "2026-11-20T00:00:02Z";
    let condition = |type_: &str| json!({"lastProbeTime": null, "lastTransitionTime": at, "status": "True", "type": type_});
    let placed = place(number, nodes);
    let conditions = if placed.is_some() {
        json!(["Ready", "PodScheduled"].map(condition))
    } else {
        json!([{"lastProbeTime": null, "lastTransitionTime": at, "status": "False", "type": "PodScheduled",
            "reason": "Unschedulable", "message": format!("0/{nodes} nodes are available: {nodes} cannot allocate all claims.")}])
    };
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace_of(number), "uid": uid(5, number),
            "resourceVersion": number.to_string(), "creationTimestamp": "2026-11-20T00:00:00Z", "generation": 1,
            "labels": {"app.kubernetes.io/name": "trainer", "app.kubernetes.io/part-of": "training",
                "batch.kubernetes.io/job-name": format!("job-{}", number / 8)},
            "ownerReferences": [{"apiVersion": "batch/v1", "blockOwnerDeletion": true, "controller": true, "kind": "Job",
                "name": format!("job-{}", number / 8), "uid": uid(6, number / 8)}]},
        "spec": {"containers": [{"name": "main", "image": "registry.example.com/team/trainer:v1.2.3",
                "imagePullPolicy": "IfNotPresent",
                "resources": {"claims": [{"name": "gpu"}], "limits": {"memory": "64Gi"},
                    "requests": {"cpu": "8", "memory": "64Gi"}},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
            "dnsPolicy": "ClusterFirst", "enableServiceLinks": true, "preemptionPolicy": "PreemptLowerPriority", "priority": 0,
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
            "restartPolicy": "Never", "schedulerName": "default-scheduler", "securityContext": {},
            "serviceAccount": "default", "serviceAccountName": "default", "terminationGracePeriodSeconds": 30,
            "tolerations": [
                {"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300},
                {"effect": "NoExecute", "key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300}]},
        "status": {"phase": "Pending", "conditions": conditions, "qosClass": "Burstable",
            "resourceClaimStatuses": [{"name": "gpu",
                "resourceClaimName": format!("{name}-gpu-{:05}", number % 100_000)}]}});
    if let Some((node, _)) = placed {
        pod["spec"]["nodeName"] = json!(node);
        pod["status"]["phase"] = json!("Running");
        pod["status"]["startTime"] = json!(at);
    }
    pod
}
