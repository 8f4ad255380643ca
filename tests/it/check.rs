//! `kubectl dra check`: on every snapshot exactly what is wrong there, and on those of 1.37 exactly what a downgrade breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::support::command::{dra, dra_snapshot};
use crate::support::process::Invocation;
use crate::support::schema::{assert_schema, assert_valid};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

/// Some hours after all snapshots were taken.
const NOW: &str = "2026-11-21T14:00:00Z";

fn check(args: &[&str], snapshot: &str) -> Invocation {
    let file = format!("tests/data/snapshots/{snapshot}.yaml");
    dra(&[&["check"], args, &["--from", &file, "--now", NOW]].concat())
}

/// A list written by hand, by name of the snapshot.
fn by_hand(name: &str) -> BTreeMap<String, Value> {
    let path = Path::new(DATA).join("check").join(name);
    let text = std::fs::read_to_string(path).expect("a list written by hand");
    serde_saphyr::from_str(&text).expect("YAML")
}

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .map(|item| item.as_str().expect("a text").to_owned())
        .collect()
}

/// The report as JSON, which its schema allows, and the exit code.
fn report(args: &[&str], snapshot: &str) -> (Value, i32) {
    let run = check(&[args, &["-o", "json"]].concat(), snapshot).run();
    assert!(!run.stdout.is_empty(), "{snapshot}: {}", run.stderr);
    (assert_valid(&run.stdout), run.code.expect("an exit code"))
}

fn object(item: &Value) -> String {
    let object = &item["object"];
    let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
    let parts = [text("kind").to_ascii_lowercase(), text("namespace"), text("name")];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

fn items(report: &Value) -> &[Value] {
    report["items"].as_array().expect("items")
}

fn code(item: &Value) -> &str {
    item["code"].as_str().expect("a code")
}

#[test]
fn each_snapshot_has_exactly_the_defects_that_were_written_down_for_it() {
    let expected = by_hand("defects.yaml");
    let files: BTreeSet<String> = std::fs::read_dir(Path::new(DATA).join("snapshots"))
        .expect("the folder of snapshots")
        .filter_map(|file| {
            let name = file.expect("a file").file_name().into_string().expect("UTF-8");
            name.strip_suffix(".yaml").map(str::to_owned)
        })
        .collect();
    assert_eq!(files, expected.keys().cloned().collect());
    assert!(files.len() > 20);
    for (snapshot, entry) in expected {
        let args = strings(&entry["args"]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (report, exit) = report(&args, &snapshot);
        let found: BTreeSet<String> = items(&report)
            .iter()
            .map(|item| format!("{} {}", code(item), object(item)))
            .collect();
        let expected: BTreeSet<String> = strings(&entry["findings"]).into_iter().collect();
        assert_eq!(found, expected, "{snapshot}");
        let bad = items(&report).iter().any(|item| item["severity"] != "Info");
        let otherwise = if entry["unknown"].is_array() { 4 } else { 0 };
        assert_eq!(exit, if bad { 1 } else { otherwise }, "{snapshot}");
        assert_eq!(
            strings(&report["unknown"]),
            strings(&entry["unknown"]),
            "{snapshot}"
        );
        // Nothing can be read again from a file.
        let joining = ["DRA010", "DRA014", "DRA019", "DRA022", "DRA035", "DRA050"];
        for item in items(&report).iter().filter(|item| joining.contains(&code(item))) {
            assert_eq!(item["certainty"], "Possible", "{snapshot} {item}");
        }
    }
}

#[test]
fn each_downgrade_breaks_exactly_what_was_written_down_for_it() {
    for (snapshot, entry) in by_hand("downgrades.yaml") {
        let args = strings(&entry["args"]);
        // By code and object, so that an older target can make a finding worse.
        let mut expected: BTreeMap<(String, String), String> = BTreeMap::new();
        for target in ["1.36", "1.35", "1.34"] {
            for line in strings(&entry[target]) {
                let parts: Vec<&str> = line.split(' ').collect();
                let [code, severity, object] = parts.as_slice() else {
                    panic!("{line}");
                };
                expected.insert(((*code).to_owned(), (*object).to_owned()), (*severity).to_owned());
            }
            let mut all: Vec<&str> = args.iter().map(String::as_str).collect();
            all.extend(["--to-version", target]);
            let (report, exit) = report(&all, &snapshot);
            let found: BTreeMap<(String, String), String> = items(&report)
                .iter()
                .map(|item| {
                    let severity = item["severity"].as_str().expect("a severity");
                    ((code(item).to_owned(), object(item)), severity.to_owned())
                })
                .collect();
            assert_eq!(found, expected, "{snapshot} to {target}");
            assert_eq!(exit, i32::from(!expected.is_empty()), "{snapshot} to {target}");
            let orders: Vec<_> = items(&report).iter().map(|item| item["order"].as_u64()).collect();
            assert!(orders.is_sorted(), "{snapshot} to {target}: {orders:?}");
        }
    }
}

fn objects(snapshot: &str) -> Vec<Value> {
    let path = Path::new(DATA).join("snapshots").join(format!("{snapshot}.yaml"));
    let text = std::fs::read_to_string(path).expect("a snapshot");
    let list: Value = serde_saphyr::from_str(&text).expect("YAML");
    list["items"].as_array().expect("items").clone()
}

fn name_of(object: &Value) -> String {
    let metadata = &object["metadata"];
    let kind = object["kind"].as_str().expect("a kind").to_ascii_lowercase();
    let name = metadata["name"].as_str().expect("a name");
    match metadata["namespace"].as_str() {
        Some(namespace) => format!("{kind}/{namespace}/{name}"),
        None => format!("{kind}/{name}"),
    }
}

/// Returns what decides who has which device.
fn essence(object: &Value) -> Value {
    let mut essence = object.clone();
    for field in [
        "resourceVersion",
        "generation",
        "labels",
        "annotations",
        "finalizers",
    ] {
        if let Some(metadata) = essence["metadata"].as_object_mut() {
            metadata.remove(field);
        }
    }
    if let Some(object) = essence.as_object_mut() {
        object.remove("apiVersion");
    }
    // What the scheduler says of pods that wait, and when it tried last.
    if let Some(status) = essence["status"].as_object_mut() {
        status.remove("conditions");
        status.remove("nominatedNodeName");
    }
    if let Some(allocation) = essence["status"]["allocation"].as_object_mut() {
        allocation.remove("allocationTimestamp");
    }
    essence
}

/// Objects of the snapshot of 1.37 that are gone or different in that of `after`.
fn changed(before: &str, after: &str) -> BTreeSet<String> {
    let after: BTreeMap<String, Value> = objects(after)
        .iter()
        .map(|object| (name_of(object), essence(object)))
        .collect();
    objects(before)
        .iter()
        .filter(|object| {
            !matches!(
                object["kind"].as_str(),
                Some("Event" | "Node" | "Namespace" | "SnapshotInfo")
            )
        })
        .filter(|object| after.get(&name_of(object)) != Some(&essence(object)))
        .map(name_of)
        .collect()
}

/// What really changed must have been told, and what was told as lost must have changed. Findings about what happens later, as when the
/// pods end or new ones come, show in no object yet.
#[test]
fn changes_of_older_control_planes_were_reported_before() {
    for (family, target, args) in [
        (
            "groups",
            "1.36",
            "GenericWorkload=true,DRAWorkloadResourceClaims=true",
        ),
        (
            "groups",
            "1.35",
            "GenericWorkload=true,DRAWorkloadResourceClaims=true",
        ),
        ("features", "1.36", "DRAListTypeAttributes=true"),
        ("features", "1.35", "DRAListTypeAttributes=true"),
        ("prepared", "1.35", "GenericWorkload=false"),
    ] {
        let before = format!("downgrade-{family}-1.37");
        let gates = format!("--feature-gates={args}");
        let (report, _) = report(&[&gates, "--to-version", target], &before);
        let told: BTreeSet<String> = items(&report).iter().map(object).collect();
        let all_changed = changed(&before, &format!("downgrade-{family}-{target}"));
        let mut changed = all_changed.clone();
        // Pods are told of with their claims: the fix names them.
        let fixes: String = items(&report)
            .iter()
            .map(|item| item["fix"].to_string())
            .collect();
        changed.retain(|name| {
            let pod = name.strip_prefix("pod/default/");
            !pod.is_some_and(|pod| fixes.split([' ', '"', '/']).any(|word| word == pod))
        });
        let untold: Vec<_> = changed.difference(&told).collect();
        assert!(untold.is_empty(), "{before} to {target}: {untold:?}");
        assert!(!changed.is_empty(), "{before} to {target}");
        // Fields and objects that are dropped are gone at once.
        let dropped = ["DRA108", "DRA109", "DRA110", "DRA114"];
        let lost: BTreeSet<String> = items(&report)
            .iter()
            .filter(|item| dropped.contains(&code(item)))
            .map(object)
            .collect();
        let unchanged: Vec<_> = lost.difference(&all_changed).collect();
        assert!(unchanged.is_empty(), "{before} to {target}: {unchanged:?}");
    }
}

#[test]
fn defects_are_shown_worst_first() {
    dra_snapshot!(check(&[], "stale-reservations"), @"
    exit_code: 1
    ----- stdout -----
    SEVERITY   CODE     CERTAINTY   OBJECT                                MESSAGE
    Error      DRA014   Possible    pod/default/again                     is on node/gpu-node-1 and uses claim/default/pod-recreated, which is not reserved for it: the pod keeps running until its sandbox is recreated, but its devices may be allocated to others
    Error      DRA018   Possible    pod/default/again                     is on node/gpu-node-1, which cannot reach the devices of claim/default/pod-recreated
    Warning    DRA010   Possible    resourceclaim/default/pod-gone        is reserved for pod/default/gone, which does not exist: its devices stay allocated, unused, until the claim controller removes the entry
    Warning    DRA011   Possible    resourceclaim/default/pod-done        is reserved for pod/default/done, which has finished: its devices stay allocated, unused, until the claim controller removes the entry
    Warning    DRA012   Possible    resourceclaim/default/pod-recreated   is reserved for an earlier pod/default/again with UID 37b74c3f-02d8-41d0-b320-7809f957c516: its devices stay allocated, unused, until the claim controller removes the entry
    Warning    DRA013   Confirmed   resourceclaim/default/foreign         is reserved for jobs.batch/default/render, which no controller of Kubernetes removes: its devices stay allocated until its owner removes the entry
    Warning    DRA015   Possible    resourceclaim/default/unreserved      holds 1 device but is reserved for no consumer: no pod on a node uses it, and no controller deallocates it

    ----- stderr -----
    warning: tests/data/snapshots/stale-reservations.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    2 errors, 5 warnings in all namespaces
    ");
    dra_snapshot!(check(&["-o", "wide", "--only", "reservation-none"], "stale-reservations"), @r#"
    exit_code: 1
    ----- stdout -----
    SEVERITY   CODE     CERTAINTY   OBJECT                             MESSAGE                                                                                                      NAME               STEP     FIX NOTE   FIX                                                                                                                                                                                                                LOOK     DOCS
    Warning    DRA015   Possible    resourceclaim/default/unreserved   holds 1 device but is reserved for no consumer: no pod on a node uses it, and no controller deallocates it   reservation-none   <none>   <none>     kubectl patch resourceclaim/unreserved --namespace=default --subresource=status --type=json -p '[{"op":"replace","path":"/metadata/resourceVersion","value":"306"},{"op":"remove","path":"/status/allocation"}]'   <none>   https://github.com/kubectl-dra/kubectl-dra/blob/main/docs/reference/findings/DRA015.md

    ----- stderr -----
    warning: tests/data/snapshots/stale-reservations.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    1 warning in all namespaces
    "#);
    dra_snapshot!(check(&["-o", "name"], "stale-reservations"), @r"
    exit_code: 1
    ----- stdout -----
    pod/default/again
    resourceclaim/default/pod-gone
    resourceclaim/default/pod-done
    resourceclaim/default/pod-recreated
    resourceclaim/default/foreign
    resourceclaim/default/unreserved

    ----- stderr -----
    warning: tests/data/snapshots/stale-reservations.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    2 errors, 5 warnings in all namespaces
    ");
    dra_snapshot!(check(&[], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    No findings in all namespaces
    ");
}

#[test]
fn a_code_alone_finds_what_it_finds_among_all() {
    let groups = "--feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true";
    for (snapshot, args) in [
        ("stale-reservations", &[][..]),
        ("unschedulable-pods", &[]),
        ("downgrade-groups-1.36", &["--kubernetes-version=1.36"]),
        ("downgrade-groups-1.37", &[groups, "--to-version=1.35"]),
        ("stale-reservations", &["--driver", "gpu.example.com"]),
        ("unschedulable-pods", &["--driver", "gpu.example.com"]),
    ] {
        let (all, _) = report(args, snapshot);
        let codes: BTreeSet<&str> = items(&all).iter().map(code).collect();
        assert!(!codes.is_empty(), "{snapshot}");
        for one in codes {
            let (alone, _) = report(&[args, &["--only", one]].concat(), snapshot);
            let expected: Vec<_> = items(&all).iter().filter(|item| code(item) == one).collect();
            assert_eq!(
                items(&alone).iter().collect::<Vec<_>>(),
                expected,
                "{snapshot} {one}"
            );
        }
    }
}

#[test]
fn the_exit_code_is_the_verdict() {
    let code = |args: &[&str], snapshot: &str| check(args, snapshot).run().code;
    let stale = "stale-reservations";
    assert_eq!(code(&[], stale), Some(1));
    assert_eq!(code(&["--fail-on", "error"], stale), Some(1));
    assert_eq!(code(&["--fail-on", "never"], stale), Some(0));
    assert_eq!(
        code(&["--skip", "DRA014,DRA018", "--fail-on", "error"], stale),
        Some(0)
    );
    assert_eq!(code(&["--only", "DRA010,reservation-ended"], stale), Some(1));
    assert_eq!(code(&["--only", "DRA001"], stale), Some(0));
    assert_eq!(code(&["-n", "nowhere"], stale), Some(3));
    assert_eq!(code(&["-l", "app=none"], stale), Some(4));
    assert_eq!(code(&["-n", "nowhere", "--allow-missing"], stale), Some(0));
    let rules = "taint-rules-none";
    assert_eq!(code(&[], rules), Some(0));
    assert_eq!(code(&["--fail-on", "info"], rules), Some(1));
    for format in ["table", "wide", "json", "yaml", "name"] {
        assert_eq!(code(&["-o", format], stale), Some(1), "{format}");
    }
    for wrong in [
        &["--only", "DRA999"][..],
        &["--only", "DRA101"],
        &["--only", "DRA001", "--skip", "DRA001"],
        &["--to-version", "1.37"],
        &["--to-version", "1.33"],
        &["--to-version", "2.1"],
        &["--disable-gate", "Nonsense"],
        &["--node", "gpu-node-1"],
        &["--driver", "x", "--to-version", "1.36"],
        &["--fail-on", "sometimes"],
    ] {
        assert_eq!(code(wrong, stale), Some(2), "{wrong:?}");
    }
}

#[test]
fn without_evidence_of_gates_a_downgrade_is_not_called_safe() {
    dra_snapshot!(check(&["--to-version", "1.36"], "downgrade-prepared-1.37"), @"
    exit_code: 4
    ----- stdout -----

    ----- stderr -----
    warning: tests/data/snapshots/downgrade-prepared-1.37.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    warning: unknown: DRA122 was not checked for kube-apiserver: its feature gates are unknown (see --apiserver-feature-gates)
    warning: PodGroups and Workloads are not served; etcd may still contain some from when GenericWorkload was on
    warning: the feature gates of kube-scheduler and kube-controller-manager are unknown; 1.36 does not start with an unrecognized gate
    No findings in all namespaces before a downgrade to 1.36; some checks were incomplete
    ");
    dra_snapshot!(
        check(&["--to-version", "1.36", "--feature-gates", "GenericWorkload=false"], "downgrade-prepared-1.37"),
        @"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    warning: tests/data/snapshots/downgrade-prepared-1.37.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    warning: PodGroups and Workloads are not served; etcd may still contain some from when GenericWorkload was on
    No findings in all namespaces before a downgrade to 1.36
    "
    );
}

#[test]
fn a_driver_can_be_asked_about() {
    dra_snapshot!(check(&["--driver", "gpu.example.com", "--node", "gpu-node-2"], "stale-reservations"), @"
    exit_code: 1
    ----- stdout -----
    SEVERITY   CODE     CERTAINTY   OBJECT                                MESSAGE
    Error      DRA060   Possible    resourceclaim/default/deleting        holds gpu.example.com/gpu-node-2/gpu-2; used by pod/default/d
    Error      DRA060   Possible    resourceclaim/default/pod-recreated   holds gpu.example.com/gpu-node-2/gpu-0; used by pod/default/again
    Warning    DRA060   Possible    resourceclaim/default/unreserved      holds gpu.example.com/gpu-node-2/gpu-1, but no pod uses it
    Info       DRA062   Confirmed   driver/gpu.example.com                5 devices can still be allocated, such as gpu.example.com/gpu-node-2/gpu-3: taint them first, so that no new pod gets one

    ----- stderr -----
    warning: tests/data/snapshots/stale-reservations.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    2 errors, 1 warning, 1 info in all namespaces before removing driver `gpu.example.com` on node `gpu-node-2`
    ");
    dra_snapshot!(check(&["--driver", "tpu.example.com"], "stale-reservations"), @"
    exit_code: 4
    ----- stdout -----

    ----- stderr -----
    warning: tests/data/snapshots/stale-reservations.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    warning: unknown: no slice, claim, class or taint rule names the driver `tpu.example.com`; did you mean `gpu.example.com` or `nic.example.com`?
    Nothing checked in all namespaces: driver/tpu.example.com not found; some checks were incomplete
    ");
    dra_snapshot!(check(&["--driver", "gpu.example.com", "--only", "DRA061"], "unschedulable-pods"), @"
    exit_code: 1
    ----- stdout -----
    SEVERITY   CODE     CERTAINTY   OBJECT                                                MESSAGE
    Warning    DRA061   Possible    resourceclaim/default/all-incomplete-pool-gpu-sgsh4   request gpu needs a class that only driver gpu.example.com serves; pod/default/all-incomplete-pool is pending
    Warning    DRA061   Possible    resourceclaim/default/cel-error-gpu-jb8xb             request gpu needs a class that only driver gpu.example.com serves; pod/default/cel-error is pending
    Warning    DRA061   Possible    resourceclaim/default/cel-mismatch-gpu-kjdcc          request gpu needs a class that only driver gpu.example.com serves; pod/default/cel-mismatch is pending
    Warning    DRA061   Possible    resourceclaim/default/constraint-conflict-gpu-5qjcg   request gpu needs a class that only driver gpu.example.com serves; pod/default/constraint-conflict is pending
    Warning    DRA061   Possible    resourceclaim/default/not-enough-free-gpu-x4fqs       request gpu needs a class that only driver gpu.example.com serves; pod/default/not-enough-free is pending
    Warning    DRA061   Possible    resourceclaim/default/old-generation-gpu-5m9g7        request gpu needs a class that only driver gpu.example.com serves; pod/default/old-generation is pending
    Warning    DRA061   Possible    resourceclaim/default/tainted-gpu-7t4c4               request gpu needs a class that only driver gpu.example.com serves; pod/default/tainted is pending
    Warning    DRA061   Possible    resourceclaim/default/too-many-gpu-g4ndh              request gpu needs a class that only driver gpu.example.com serves; pod/default/too-many is pending
    Warning    DRA061   Possible    resourceclaim/default/two-requests-gpu-lwk9c          request a needs a class that only driver gpu.example.com serves; pod/default/two-requests is pending

    ----- stderr -----
    warning: tests/data/snapshots/unschedulable-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    9 warnings in all namespaces before removing driver `gpu.example.com`
    ");
}

#[test]
fn a_gate_can_be_asked_about() {
    dra_snapshot!(check(&["--disable-gate", "DRAConsumableCapacity"], "consumable-capacity"), @"
    exit_code: 1
    ----- stdout -----
    SEVERITY   CODE     CERTAINTY   OBJECT                                     MESSAGE
    Warning    DRA119   Confirmed   resourceslice/net-node-1-nic.example.com   rdma0, rdma1 of driver nic.example.com: 1.37 without DRAConsumableCapacity allocates them as a whole, regardless of capacity, and not at all while shares are allocated

    ----- stderr -----
    warning: tests/data/snapshots/consumable-capacity.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    1 warning in all namespaces before disabling DRAConsumableCapacity
    ");
    dra_snapshot!(check(&["--disable-gate", "DRAAdminAccess"], "admin-access"), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    warning: tests/data/snapshots/admin-access.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    error: `--disable-gate`: 1.37 locks feature gate DRAAdminAccess: a component with DRAAdminAccess=false does not start
    ");
}

#[test]
fn the_status_prints_the_number_of_findings() {
    let file = "tests/data/snapshots/stale-reservations.yaml";
    let report = assert_schema!(["status", "--from", file, "--now", NOW, "-o", "json"]);
    assert_eq!(
        report["findings"],
        serde_json::json!({"errors": 2, "warnings": 5, "infos": 0})
    );
}

#[test]
fn the_idle_time_of_a_claim_is_set_on_the_command_line() {
    let found = |args: &[&str]| -> Vec<String> {
        let (report, _) = report(
            &[&["--only", "claim-idle"], args].concat(),
            "downgrade-groups-1.37",
        );
        items(&report).iter().map(object).collect()
    };
    // Its group was made at 11:13, and NOW is 14:00.
    assert_eq!(found(&["--idle", "2h30m"]), ["resourceclaim/default/ended-gpu"]);
    assert_eq!(found(&["--idle", "3h"]), [""; 0]);
    assert_eq!(found(&[]), [""; 0]);
    let long = dra(&["check", "--idle", "soon", "--from", "example:gpus"])
        .run()
        .exits(2);
    assert!(
        long.stderr.contains("expected a duration such as 30s or 1m30s"),
        "{}",
        long.stderr
    );
    let other = dra(&[
        "check",
        "--idle",
        "1h",
        "--driver",
        "gpu.example.com",
        "--from",
        "example:gpus",
    ])
    .run();
    assert!(other.exits(2).stderr.contains("cannot be used with"));
}
