//! Pods whose devices have to be attached before the scheduler binds them.

use serde_json::{Value, json};

use super::{begin, codes_of, explained, message, obey, on, owner, run, runs, waits_for};
use crate::support::cluster::machine::{DRIVER, Machine};
use crate::support::cluster::{Cluster, Component, Options};
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

/// A node with devices that have to be attached.
fn fabric<'c>(cluster: &'c Cluster, node: &str, devices: usize) -> Machine<'c> {
    let machine = Machine::start(cluster, node, devices);
    let device = |number: usize| {
        json!({"name": format!("gpu-{number}"), "bindsToNode": true,
            "bindingConditions": ["example.com/attached"], "bindingFailureConditions": ["example.com/failed"]})
    };
    let devices: Vec<Value> = (0..devices).map(device).collect();
    let resources = json!({"Pools": {node: {"Slices": [{"Devices": devices}]}}});
    machine.write("resources.json", &resources.to_string());
    wait_for("the devices are published anew", || {
        let slices = cluster.list("slice");
        slices
            .iter()
            .any(|slice| {
                slice["spec"]["nodeName"] == node && slice["spec"]["devices"][0]["bindsToNode"] == true
            })
            .then_some(())
    });
    machine
}

/// The claim of the pod, once it is allocated anew: at another time than `before`.
#[track_caller]
fn allocated(cluster: &Cluster, pod: &str, before: &Value) -> String {
    let claim = cluster.claim_of(&format!("pod/{pod}"), "gpu");
    cluster.wait(&claim, "it is allocated and reserved", |claim| {
        let status = &claim["status"];
        let at = &status["allocation"]["allocationTimestamp"];
        at.is_string() && at != before && status["reservedFor"].is_array()
    });
    claim
}

/// The driver tells that it cannot attach the device.
fn fail(cluster: &Cluster, claim: &str) {
    let device = cluster.devices_of(claim)[0].clone();
    let condition = json!({"type": "example.com/failed", "status": "True", "reason": "Fabric", "message": "no path to the device",
        "lastTransitionTime": crate::support::cluster::kubelet::now()});
    let mut parts = device.split('/');
    let mut part = || parts.next().unwrap_or_default();
    let (driver, pool, device) = (part(), part(), part());
    let devices = json!([{"driver": driver, "pool": pool, "device": device, "conditions": [condition]}]);
    cluster.patch_status(claim, &json!({"status": {"devices": devices}}));
}

/// The codes that `check` finds of the claim of a pod.
fn codes_of_claim(cluster: &Cluster, claim: &str, later: i64) -> Vec<String> {
    codes_of(
        cluster,
        "ResourceClaim",
        claim.rsplit('/').next().unwrap_or_default(),
        later,
    )
}

#[test]
fn a_pod_waits_for_its_device_to_be_attached() {
    let cluster = begin(&Options::default());
    let machine = fabric(&cluster, "node", 1);
    cluster.create(&on("node", "p"));
    let claim = allocated(&cluster, "p", &Value::Null);
    let described = |later: i64| {
        let run = run(&cluster, &["describe", "pod/p"], later);
        assert_valid(&run.stdout)["stage"].clone()
    };
    // The scheduler holds the pod; its stage tells what it waits for.
    let told = waits_for(&machine, &cluster, "p", "BindingPending", 0, &[]);
    assert_eq!(owner(&told), "Driver");
    assert_eq!(told["stage"]["stage"], "Reserved");
    assert!(message(&told).contains("example.com/attached"), "{told:#}");
    assert_eq!(told["verdict"], "Waits", "{told:#}");
    let summary = told["summary"].as_str().unwrap_or_default();
    assert!(
        summary.starts_with("gpu.example.com/node/gpu-0 is not attached yet"),
        "{told:#}"
    );
    assert_eq!(described(0)["stuck"]["cause"], "BindingPending");
    assert_eq!(codes_of_claim(&cluster, &claim, 0), [""; 0]);
    // It waits for ten minutes.
    let told = explained(&cluster, "p", 700);
    assert_eq!(told["stage"]["stuck"]["cause"], "BindingTimedOut", "{told:#}");
    assert_eq!(described(700)["stuck"]["cause"], "BindingTimedOut");
    assert_eq!(codes_of_claim(&cluster, &claim, 700), ["DRA027"]);
    cluster.attach_devices();
    runs(&machine, &cluster, "p");
}

/// As after an outage of the scheduler: it takes the allocation back as soon as it sees how old it is, as the note says, and tries again.
#[test]
fn a_device_that_was_not_attached_in_time_is_given_up_by_the_scheduler() {
    let cluster = begin(&Options::default());
    let machine = fabric(&cluster, "node", 1);
    cluster.create(&on("node", "p"));
    let claim = allocated(&cluster, "p", &Value::Null);
    cluster.stop(Component::Scheduler);
    let status = cluster.get(&claim)["status"].clone();
    cluster.patch_status(
        &claim,
        &json!({"status": {"reservedFor": null, "allocation": null}}),
    );
    let long_ago = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() - 3_600).expect("a time");
    cluster.update_status(&claim, |claim| {
        claim["status"] = status.clone();
        claim["status"]["allocation"]["allocationTimestamp"] = json!(long_ago.to_string());
    });
    let told = waits_for(&machine, &cluster, "p", "BindingTimedOut", 0, &["BindingPending"]);
    let stuck = &told["stage"]["stuck"];
    assert_eq!(stuck["since"], long_ago.to_string(), "{told:#}");
    assert!(stuck["command"].is_null(), "{told:#}");
    let note = stuck["note"].as_str().unwrap_or_default();
    assert!(
        note.contains("kube-scheduler deallocates the claim and retries automatically"),
        "{told:#}"
    );
    assert_eq!(codes_of_claim(&cluster, &claim, 0), ["DRA027"]);
    let before = json!(long_ago.to_string());
    cluster.resume(Component::Scheduler);
    allocated(&cluster, "p", &before);
    waits_for(&machine, &cluster, "p", "BindingPending", 0, &["BindingTimedOut"]);
    cluster.attach_devices();
    runs(&machine, &cluster, "p");
}

#[test]
fn a_device_that_cannot_be_attached_is_allocated_again_unless_it_is_tainted() {
    let cluster = begin(&Options::default());
    let machine = fabric(&cluster, "node", 2);

    // The scheduler gives it up by itself, and takes the same one again.
    cluster.create(&on("node", "again"));
    let claim = allocated(&cluster, "again", &Value::Null);
    let first = cluster.get(&claim)["status"]["allocation"].clone();
    fail(&cluster, &claim);
    allocated(&cluster, "again", &first["allocationTimestamp"]);
    assert_eq!(
        cluster.get(&claim)["status"]["allocation"]["devices"],
        first["devices"],
        "the scheduler takes the first device that is free"
    );
    cluster.attach_devices();
    runs(&machine, &cluster, "again");
    cluster.delete("pod/again");
    super::ends(&machine, &cluster, "again");

    // While the scheduler is away, it is told that the device cannot be attached. Tainted as advised, it is not given out again.
    cluster.create(&on("node", "other"));
    let claim = allocated(&cluster, "other", &Value::Null);
    cluster.stop(Component::Scheduler);
    let before = cluster.get(&claim)["status"]["allocation"].clone();
    let device = cluster.devices_of(&claim)[0].clone();
    fail(&cluster, &claim);
    let told = waits_for(
        &machine,
        &cluster,
        "other",
        "BindingFailed",
        0,
        &["BindingPending"],
    );
    assert_eq!(owner(&told), "Driver");
    assert_eq!(told["stage"]["stage"], "Reserved");
    assert!(message(&told).contains("no path to the device"), "{told:#}");
    assert_eq!(codes_of_claim(&cluster, &claim, 0), ["DRA028"]);
    let described = run(&cluster, &["describe", "pod/other"], 0);
    assert_eq!(
        assert_valid(&described.stdout)["stage"]["stuck"]["cause"],
        "BindingFailed"
    );
    // `check` prints the same command.
    let report = assert_valid(&run(&cluster, &["check", "--only=DRA028"], 0).stdout);
    assert_eq!(
        report["items"][0]["fix"], told["stage"]["stuck"]["command"],
        "{report:#}"
    );
    obey(&cluster, &told);
    cluster.resume(Component::Scheduler);
    allocated(&cluster, "other", &before["allocationTimestamp"]);
    let next = cluster.devices_of(&claim)[0].clone();
    assert!(
        next != device && next.starts_with(DRIVER),
        "{next} after {device}"
    );
    cluster.attach_devices();
    runs(&machine, &cluster, "other");
}
