//! Gangs whose members do not fit together, and claims that are reserved for a PodGroup that fits nowhere.

use serde_json::{Value, json};

use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, gpu_slice, pod, pod_group};
use crate::support::cluster::{Cluster, Component, Options};
use crate::support::schema::assert_valid;
use crate::support::wait::try_wait;

/// No object of a gang shows that the scheduler has its gates on.
const GATES: &str = "--feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true";

fn start() -> Cluster {
    let options = ["GenericWorkload", "DRAWorkloadResourceClaims"]
        .into_iter()
        .fold(Options::default(), |options, gate| options.gate(gate, true));
    let cluster = Cluster::start(&options);
    cluster.add_gpu_nodes(1);
    cluster
}

fn explained(cluster: &Cluster, object: &str) -> Value {
    assert_valid(
        &cluster
            .kubectl_dra(["explain", object, "-o", "json", GATES])
            .run()
            .stdout,
    )
}

/// Returns what the scheduler says of the pod.
fn said(pod: &Value) -> Option<&str> {
    let conditions = pod["status"]["conditions"].as_array()?;
    let scheduled = conditions.iter().find(|one| one["type"] == "PodScheduled")?;
    scheduled["message"].as_str()
}

#[test]
fn the_scheduler_says_of_a_gang_what_explain_says() {
    let cluster = start();
    // The node has eight devices: one member fits, and the third has no turn.
    let mut gang = pod_group("gang", []);
    gang["spec"]["schedulingPolicy"] = json!({"gang": {"minCount": 3}});
    cluster.create(&gang);
    for number in 0..3 {
        let (own, name) = (format!("c-{number}"), format!("g-{number}"));
        cluster.create(&claim(&own, claim_spec([gpu().count(6)])));
        cluster.create(&pod(&name).named_claim("gpu", &own).in_group("gang"));
    }
    for number in 0..3 {
        let name = format!("pod/g-{number}");
        cluster.wait(&name, "is unschedulable", |pod| said(pod).is_some());
    }
    for number in 0..3 {
        let name = format!("pod/g-{number}");
        // It may have said something else before it had seen everything.
        let agreed = try_wait(|| {
            let live = cluster.get(&name);
            let report = explained(&cluster, &name);
            let message = report["message"].as_str().unwrap_or_default();
            let said = said(&live).unwrap_or_default();
            if !message.is_empty() && said.starts_with(message) {
                Ok(report)
            } else {
                Err(format!("{said}\n{report:#}"))
            }
        });
        let report = agreed.unwrap_or_else(|differs| panic!("{name}: {differs}"));
        assert_eq!(report["verdict"], "DoesNotFit", "{name}: {report:#}");
    }
    // With enough devices they are placed together.
    cluster.add_nodes(["gpu-node-2", "gpu-node-3"]);
    cluster.create_all(&[gpu_slice("gpu-node-2", 8), gpu_slice("gpu-node-3", 8)]);
    for number in 0..3 {
        cluster.wait(&format!("pod/g-{number}"), "has its node", |pod| {
            pod["spec"]["nodeName"].is_string()
        });
    }
}

#[test]
fn the_scheduler_gives_up_what_is_reserved_for_a_group_that_fits_nowhere() {
    let cluster = start();
    let entry = json!({"name": "gpu", "resourceClaimName": "c"});
    cluster.create_all(&[claim("c", claim_spec([gpu()])), pod_group("group", [entry])]);
    let uid = cluster.get("podgroup/group")["metadata"]["uid"].clone();
    cluster.update_status("claim/c", |claim| {
        claim["status"] = json!({
            "allocation": {
                "devices": {"results": [{"request": "gpu", "driver": "gpu.example.com", "pool": "gone", "device": "gpu-0"}]},
                "nodeSelector": {"nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]}},
            "reservedFor": [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "group", "uid": uid}]});
    });
    cluster.stop(Component::Scheduler);
    cluster.create(&pod("p").named_claim("gpu", "c").in_group("group"));
    let report = explained(&cluster, "pod/p");
    assert_eq!(report["verdict"], "DoesNotFit", "{report:#}");
    let reasons = report["reasons"].as_array().cloned().unwrap_or_default();
    let is_released = |reason: &Value| reason["code"] == "ReleasedByScheduler";
    assert!(reasons.iter().any(is_released), "{report:#}");
    assert!(!report.to_string().contains("kubectl delete"), "{report:#}");
    cluster.resume(Component::Scheduler);
    cluster.wait("pod/p", "has its node", |pod| pod["spec"]["nodeName"].is_string());
}
