//! Each scenario reaches the state that its description promises, and the next stage, if it has one.

use http::Method;
use serde_json::Value;

use crate::support::cluster::kubelet::condition;
use crate::support::cluster::{Cluster, scenario};

fn start(name: &str) -> Cluster {
    scenario::named(name).start()
}

/// The claims of all namespaces with the names of their devices, as `name: device device`; generated names
/// without their random end.
fn allocations(cluster: &Cluster) -> Vec<String> {
    let mut lines: Vec<String> = cluster
        .list("claim")
        .iter()
        .map(|claim| {
            let name = claim["metadata"]["name"].as_str().unwrap_or_default();
            let generated = claim["metadata"]["generateName"]
                .as_str()
                .map(|prefix| prefix.trim_end_matches('-'));
            let results = claim["status"]["allocation"]["devices"]["results"].as_array();
            let devices: Vec<&str> = results
                .into_iter()
                .flatten()
                .filter_map(|result| result["device"].as_str())
                .collect();
            format!("{}: {}", generated.unwrap_or(name), devices.join(" "))
                .trim_end()
                .to_owned()
        })
        .collect();
    lines.sort();
    lines
}

fn phases(cluster: &Cluster, phase: &str) -> usize {
    cluster
        .list("pod")
        .iter()
        .filter(|pod| pod["status"]["phase"] == phase)
        .count()
}

fn scheduler_says(pod: &Value) -> &str {
    condition(pod, "PodScheduled")
        .and_then(|found| found["message"].as_str())
        .unwrap_or_default()
}

#[test]
fn bound_pods() {
    let cluster = start("bound-pods");
    assert_eq!((phases(&cluster, "Running"), cluster.list("pod").len()), (7, 7));
    let claims = cluster.list("claim");
    assert_eq!(claims.len(), 9);
    for claim in claims {
        let spare = claim["metadata"]["name"] == "spare";
        assert_eq!(claim["status"]["allocation"].is_null(), spare, "{claim:#}");
        assert_eq!(claim["status"]["reservedFor"].is_null(), spare, "{claim:#}");
    }
    // A GPU and the NIC behind the same PCIe root have the same number.
    let aligned = cluster.devices_of(&cluster.claim_of("pod/training/trainer-0", "devices"));
    let numbers: Vec<_> = aligned.iter().map(|device| device.chars().last()).collect();
    assert_eq!((numbers[0], numbers[2]), (numbers[1], numbers[3]), "{aligned:?}");
}

#[test]
fn unschedulable_pods() {
    let cluster = start("unschedulable-pods");
    assert_eq!(phases(&cluster, "Running"), 2);
    for (pod, message) in [
        ("pod/cel-mismatch", "cannot allocate all claims"),
        ("pod/cel-error", "no such key: firmware"),
        ("pod/too-many", "cannot allocate all claims"),
        ("pod/not-enough-free", "cannot allocate all claims"),
        ("pod/tainted", "cannot allocate all claims"),
        ("pod/constraint-conflict", "cannot allocate all claims"),
        ("pod/missing-class", "device class tpu.example.com does not exist"),
        ("pod/all-incomplete-pool", "is currently being updated"),
        ("pod/old-generation", "cannot allocate all claims"),
        ("pod/two-requests", "cannot allocate all claims"),
        ("pod/wrong-node", "resourceclaim not available on the node"),
    ] {
        // Its first word may come from before it has seen every slice.
        cluster.wait(pod, message, |pod| scheduler_says(pod).contains(message));
    }
    for pod in ["pod/missing-claim", "pod/missing-template"] {
        assert!(cluster.get(pod)["spec"]["nodeName"].is_null());
    }
}

#[test]
fn extended_resource() {
    let cluster = start("extended-resource");
    assert_eq!((phases(&cluster, "Running"), phases(&cluster, "Pending")), (4, 1));
    let claim_of = |pod: &str| {
        let status = cluster.get(pod)["status"]["extendedResourceClaimStatus"].clone();
        format!(
            "claim/{}",
            status["resourceClaimName"].as_str().unwrap_or_default()
        )
    };
    for (pod, devices) in [
        ("explicit", 2),
        ("implicit", 1),
        ("two-containers", 2),
        ("mixed", 1),
    ] {
        assert_eq!(
            cluster.devices_of(&claim_of(&format!("pod/{pod}"))).len(),
            devices,
            "{pod}"
        );
    }
    assert_eq!(cluster.list("claim").len(), 5);
}

#[test]
fn admin_access() {
    let cluster = start("admin-access");
    assert_eq!(phases(&cluster, "Running"), 3);
    let all = cluster.get("claim/monitoring/all-gpus");
    let results = all["status"]["allocation"]["devices"]["results"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    assert_eq!(
        results
            .iter()
            .filter(|result| result["adminAccess"] == true)
            .count(),
        8
    );
    assert_eq!(cluster.devices_of(&cluster.claim_of("pod/user", "gpu")).len(), 1);
    assert_eq!(
        cluster
            .devices_of(&cluster.claim_of("pod/monitoring/probe", "gpu"))
            .len(),
        1
    );
}

#[test]
fn shared_claims() {
    let cluster = start("shared-claims");
    let mut users = cluster.reservations_of("claim/shared");
    users.sort();
    assert_eq!(
        users,
        ["pods/done", "pods/reader-0", "pods/reader-1", "pods/reader-2"]
    );
    assert_eq!(cluster.reservations_of("claim/tool"), ["pods/only-user"]);

    scenario::end_shared_claims(&cluster);
    assert!(cluster.reservations_of("claim/tool").is_empty());
    assert!(!cluster.devices_of("claim/shared").is_empty());
    assert!(cluster.get("pod/reader-2")["metadata"]["deletionTimestamp"].is_string());
}

#[test]
fn stale_reservations() {
    let cluster = start("stale-reservations");
    let claims = [
        "pod-gone",
        "pod-recreated",
        "pod-done",
        "unreserved",
        "foreign",
        "deleting",
    ];
    for (claim, entries) in claims.iter().zip([
        &["pods/gone"][..],
        &["pods/again"],
        &["pods/done"],
        &[],
        &["pods/f", "jobs/render"],
        &["pods/d"],
    ]) {
        let claim = format!("claim/{claim}");
        assert_eq!(cluster.reservations_of(&claim), entries, "{claim}");
        assert_eq!(cluster.devices_of(&claim).len(), 1, "{claim}");
    }
    assert!(cluster.find("pod/gone").is_none());
    let entry = &cluster.get("claim/pod-recreated")["status"]["reservedFor"][0]["uid"];
    assert_ne!(*entry, cluster.get("pod/again")["metadata"]["uid"]);
    assert!(cluster.get("claim/deleting")["metadata"]["deletionTimestamp"].is_string());
}

#[test]
fn podgroups() {
    let cluster = start("podgroups");
    assert_eq!(
        cluster.reservations_of("claim/llm-gpus"),
        ["podgroups/llm-workers"]
    );
    assert_eq!(cluster.reservations_of("claim/pair-gpu"), ["podgroups/pair"]);
    let mut mixed = cluster.reservations_of("claim/mixed");
    mixed.sort();
    // A member that names the claim under another name is let in by the group's entry, and gets an entry of its own where the
    // scheduler saw it before that one.
    mixed.retain(|entry| entry != "pods/mix-other-name");
    assert_eq!(mixed, ["podgroups/mix", "pods/solo"]);
    let generated = cluster.claim_of("pod/sim-0", "gpu");
    assert_eq!(cluster.claim_of("pod/sim-1", "gpu"), generated);
    assert_eq!(cluster.reservations_of(&generated), ["podgroups/sim"]);
    assert_eq!(
        cluster.reservations_of(&cluster.claim_of("pod/pair-1", "nic")),
        ["pods/pair-1"]
    );
    assert_eq!(cluster.list("podgroup").len(), 4);
    assert_eq!(cluster.list("workload").len(), 1);
}

#[test]
fn podgroups_gates_off() {
    let cluster = start("podgroups-gates-off");
    let answer = cluster.request(
        &Method::GET,
        "/apis/scheduling.k8s.io/v1beta1/podgroups",
        &Value::Null,
    );
    assert_eq!(answer.status, 404);
    assert_eq!(
        cluster.reservations_of("claim/llm-gpus"),
        ["podgroups/llm-workers", "pods/llm-late"]
    );
    assert_eq!(
        cluster.reservations_of("claim/conv-gpus"),
        ["pods/conv-0", "pods/conv-1"]
    );
    assert_eq!(
        cluster.reservations_of(&cluster.claim_of("pod/sim-0", "gpu")),
        ["podgroups/sim"]
    );
    assert_eq!(
        cluster.get("pod/llm-0")["spec"]["schedulingGroup"]["podGroupName"],
        "llm-workers"
    );
    assert!(cluster.get("pod/llm-late")["spec"]["schedulingGroup"].is_null());
}

#[test]
fn device_taints() {
    let cluster = start("device-taints");
    assert_eq!(phases(&cluster, "Running"), 9);
    scenario::taint_all_gpus(&cluster);
    for pod in ["pod/tolerates", "pod/tolerates-1h", "pod/no-device"] {
        assert!(
            cluster.get(pod)["metadata"]["deletionTimestamp"].is_null(),
            "{pod}"
        );
    }
    let evicted = cluster.get("pod/plain");
    let disrupted = condition(&evicted, "DisruptionTarget")
        .cloned()
        .unwrap_or_default();
    assert_eq!(disrupted["reason"], "DeletionByDeviceTaintManager");
}

#[test]
fn taint_rules() {
    let cluster = start("taint-rules");
    for (rule, reason) in [
        ("rule/drain-node-1", "NoEffect"),
        ("rule/drain-all", "NoEffect"),
        ("rule/no-new", "OtherEffect"),
        ("rule/no-selector", "NoEffect"),
        ("rule/empty-selector", "NoEffect"),
    ] {
        let rule = cluster.get(rule);
        assert_eq!(
            condition(&rule, "EvictionInProgress")
                .cloned()
                .unwrap_or_default()["reason"],
            reason,
            "{rule:#}"
        );
    }
    assert_eq!(phases(&cluster, "Running"), 5);
    scenario::enforce_taint_rule(&cluster);
    assert!(cluster.get("pod/tolerates-1h")["metadata"]["deletionTimestamp"].is_null());
}

#[test]
fn partitionable() {
    let cluster = start("partitionable");
    assert_eq!(
        allocations(&cluster),
        [
            "best-0-gpu: gpu-0-3g-4",
            "best-1-gpu: gpu-0-1g-1",
            "large-gpu:",
            "small-0-gpu: gpu-0-1g-0",
            "whole-gpu:"
        ]
    );
}

#[test]
fn consumable_capacity() {
    let cluster = start("consumable-capacity");
    assert_eq!(
        allocations(&cluster),
        [
            "nine-nic:",
            "odd-nic: rdma1",
            "pair-nic: rdma0 rdma1",
            "six-0-nic: rdma0",
            "six-1-nic: rdma1",
            "six-2-nic:",
            "small-0-nic: rdma0",
        ]
    );
    let odd = cluster.get(&cluster.claim_of("pod/odd", "nic"));
    let share = &odd["status"]["allocation"]["devices"]["results"][0];
    assert_eq!(share["consumedCapacity"]["bandwidth"], "3G");
    assert!(share["shareID"].is_string());
}

#[test]
fn binding_conditions() {
    let cluster = start("binding-conditions");
    assert_eq!(allocations(&cluster).len(), 2);
    assert_eq!(cluster.get("pod/attached")["status"]["phase"], "Running");
    assert!(cluster.get("pod/waits")["spec"]["nodeName"].is_null());
    assert_eq!(
        cluster.reservations_of(&cluster.claim_of("pod/waits", "gpu")),
        ["pods/waits"]
    );
}
