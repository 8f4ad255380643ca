//! Devices that are more than a name: partitions, shares of capacity, conditions of binding.

use serde_json::{Map, Value, json};

use crate::support::cluster::Cluster;
use crate::support::cluster::kubelet::now;
use crate::support::cluster::objects::{
    Manifest, claim_spec, each_device, first_available, gpu, gpu_class, gpu_slice, nic_class, nic_slice, pod,
    request, slice, subrequest, template,
};

/// One GPU of `mig-node-1`, published whole and as nine partitions over shared counters in a slice of its
/// own; claims with alternatives; the pods `whole` and `large` do not fit.
pub(crate) fn partitionable(cluster: &Cluster) {
    cluster.add_nodes(["mig-node-1"]);
    let mut devices = vec![partition("gpu-0", "full", "80Gi", 0..8)];
    devices
        .extend((0..7).map(|slot| partition(&format!("gpu-0-1g-{slot}"), "1g.10gb", "10Gi", slot..slot + 1)));
    devices
        .extend([0, 4].map(|slot| partition(&format!("gpu-0-3g-{slot}"), "3g.40gb", "40Gi", slot..slot + 4)));
    let pool = json!({"spec": {"pool": {"resourceSliceCount": 2}}});
    let counters = json!({"metadata": {"name": "mig-node-1-counters"}, "spec": {"devices": null,
        "sharedCounters": [{"name": "gpu-0-counters", "counters": counters("80Gi", 0..8)}]}});
    cluster.create_all(&[
        gpu_class(),
        slice("gpu.example.com", "mig-node-1", [])
            .with(pool.clone())
            .with(counters),
        slice("gpu.example.com", "mig-node-1", devices).with(pool),
    ]);
    let profile = |profile: &str| format!("device.attributes['gpu.example.com'].profile == '{profile}'");
    let alternatives = [("whole", "full"), ("large", "3g.40gb"), ("small", "1g.10gb")]
        .map(|(name, wanted)| subrequest(name, "gpu.example.com").selecting(&profile(wanted)));
    cluster.create_all(&[
        template("small", claim_spec([gpu().selecting(&profile("1g.10gb"))])),
        template("large", claim_spec([gpu().selecting(&profile("3g.40gb"))])),
        template("whole", claim_spec([gpu().selecting(&profile("full"))])),
        template("best", claim_spec([first_available("gpu", alternatives)])),
    ]);
    for (name, template) in [("small-0", "small"), ("best-0", "best"), ("best-1", "best")] {
        cluster.run(&[pod(name).template_claim("gpu", template)]);
    }
    cluster.create_all(&["whole", "large"].map(|name| pod(name).template_claim("gpu", name)));
    cluster.wait_unschedulable(["pod/whole", "pod/large"]);
}

fn partition(name: &str, profile: &str, memory: &str, slots: std::ops::Range<u32>) -> Value {
    let kind = if profile == "full" { "gpu" } else { "mig" };
    json!({"name": name,
        "attributes": {"type": {"string": kind}, "profile": {"string": profile}, "parentIndex": {"int": 0}},
        "capacity": {"memory": {"value": memory}},
        "consumesCounters": [{"counterSet": "gpu-0-counters", "counters": counters(memory, slots)}]})
}

fn counters(memory: &str, slots: std::ops::Range<u32>) -> Value {
    let mut counters = Map::new();
    counters.insert("memory".to_owned(), json!({"value": memory}));
    counters.extend(slots.map(|slot| (format!("memory-slice-{slot}"), json!({"value": "1"}))));
    Value::Object(counters)
}

/// Two NICs of `net-node-1` that are shared by capacity, with policies: consumed capacity is rounded up or a
/// default, shares have IDs, `pair` has one of each NIC; `six-2` and `nine` do not fit.
pub(crate) fn consumable_capacity(cluster: &Cluster) {
    cluster.add_nodes(["net-node-1"]);
    let shared = json!({"allowMultipleAllocations": true, "capacity": {
        "bandwidth": {"value": "10G", "requestPolicy": {
            "default": "1G", "validRange": {"min": "1G", "max": "8G", "step": "1G"}}},
        "vfs": {"value": "4", "requestPolicy": {"default": "1", "validValues": ["1", "2"]}}}});
    let nic = || request("nic", "nic.example.com");
    let bandwidth = |amount: &str| nic().exactly(json!({"capacity": {"requests": {"bandwidth": amount}}}));
    let distinct = json!({"requests": ["nic"], "distinctAttribute": "nic.example.com/ifName"});
    cluster.create_all(&[
        nic_class(),
        each_device(nic_slice("net-node-1", 2), |device| {
            *device = device.take().with(shared.clone());
        }),
        template("six", claim_spec([bandwidth("6G")])),
        template("small", claim_spec([nic()])),
        template("odd", claim_spec([bandwidth("2500M")])),
        template("nine", claim_spec([bandwidth("9G")])),
        template(
            "pair",
            claim_spec([bandwidth("1G").count(2)]).constrained(distinct),
        ),
    ]);
    let pods = [
        ("six-0", "six"),
        ("six-1", "six"),
        ("pair", "pair"),
        ("small-0", "small"),
        ("odd", "odd"),
    ];
    for (name, template) in pods {
        cluster.run(&[pod(name).template_claim("nic", template)]);
    }
    cluster.create_all(
        &[("six-2", "six"), ("nine", "nine")].map(|(name, from)| pod(name).template_claim("nic", from)),
    );
    cluster.wait_unschedulable(["pod/six-2", "pod/nine"]);
}

/// Two GPUs that are attached to `fabric-node-1` only once they are allocated: `attached` got its one and
/// runs, `waits` is allocated and reserved but not on a node.
pub(crate) fn binding_conditions(cluster: &Cluster) {
    cluster.add_nodes(["fabric-node-1"]);
    let fabric = json!({"spec": {"nodeName": null, "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-a"]}]}]}}});
    let conditional = json!({"bindsToNode": true, "bindingConditions": ["example.com/attached"],
        "bindingFailureConditions": ["example.com/attach-failed"]});
    let devices = |device: &mut Value| *device = device.take().with(conditional.clone());
    cluster.create_all(&[
        gpu_class(),
        each_device(gpu_slice("fabric-node-1", 2).with(fabric), devices),
        template("one", claim_spec([gpu()])),
        pod("waits").template_claim("gpu", "one"),
        pod("attached").template_claim("gpu", "one"),
    ]);
    let reserved = |claim: &Value| claim["status"]["reservedFor"].is_array();
    cluster.wait(&cluster.claim_of("pod/waits", "gpu"), "it is reserved", reserved);
    let attached = cluster.claim_of("pod/attached", "gpu");
    cluster.wait(&attached, "it is reserved", reserved);
    cluster.update_status(&attached, |claim| {
        let device = &claim["status"]["allocation"]["devices"]["results"][0];
        claim["status"]["devices"] = json!([{
            "driver": device["driver"], "pool": device["pool"], "device": device["device"],
            "conditions": [{"type": "example.com/attached", "status": "True", "reason": "Attached", "message": "",
                "lastTransitionTime": now()}]}]);
    });
    cluster.wait_scheduled(["pod/attached"]);
    cluster.run_kubelets();
}
