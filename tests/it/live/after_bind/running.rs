//! Pods that run: what becomes of their devices while drivers, kubelets and nodes start anew.

use serde_json::{Value, json};

use super::{
    begin, codes, ends, explained, is_told_everywhere, message, obey, on, owner, run, runs, waits_for,
};
use crate::support::cluster::Options;
use crate::support::cluster::machine::{DRIVER, Machine};
use crate::support::process::Screen;
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

/// The kubelet starts anew and knows nothing. It deletes the slices of drivers that it does not know yet, and the driver publishes them again.
fn restart_without_checkpoint(machine: &mut Machine) {
    machine.stop_kubelet();
    machine.lose_checkpoint();
    machine.start_kubelet();
    machine.stop_driver();
    machine.start_driver();
    machine.wait_published();
}

#[test]
fn a_running_pod_keeps_its_devices_or_their_loss_is_reported() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 8);
    cluster.create(&on("node", "a"));
    runs(&machine, &cluster, "a");
    let device = cluster.devices_of(&cluster.claim_of("pod/a", "gpu"))[0].clone();
    let device = device.rsplit('/').next().unwrap_or_default().to_owned();

    // Health lost and back.
    let report = |health: &str, text: &str| {
        json!({"Devices": [{"PoolName": "node", "DeviceName": device, "Health": health, "Message": text}]})
            .to_string()
    };
    machine.write("health", &report("Unhealthy", "xid 79"));
    let told = waits_for(&machine, &cluster, "a", "DeviceUnhealthy", 0, &[]);
    assert_eq!(owner(&told), "Driver");
    assert!(message(&told).ends_with("xid 79"), "{told:#}");
    is_told_everywhere(&machine, &cluster, "a", "DeviceUnhealthy", 0);
    let list = assert_valid(&run(&cluster, &["devices", &device], 0).stdout);
    assert_eq!(list["items"][0]["health"], "Unhealthy", "{list:#}");
    assert_eq!(
        list["items"][0]["healthReports"][0]["message"], "xid 79",
        "{list:#}"
    );
    let shown = cluster.kubectl_dra(["devices"]);
    let shown = shown.run_on_screen(100, Screen::Stdout).stdout;
    assert!(shown.contains("Unhealthy: xid 79"), "{shown}");
    machine.write("health", &report("Healthy", ""));
    wait_for("the device is healthy", || {
        explained(&cluster, "a", 0)["stage"]["stuck"]
            .is_null()
            .then_some(())
    });

    // The driver reports it in the claim, and takes that back.
    let claim = cluster.claim_of("pod/a", "gpu");
    let reported = |devices: Value| cluster.patch_status(&claim, &json!({"status": {"devices": devices}}));
    let now = crate::support::cluster::kubelet::now();
    let condition = json!({"type": "Ready", "status": "False", "reason": "Link", "message": "link down", "lastTransitionTime": now});
    reported(json!([{"driver": DRIVER, "pool": "node", "device": device, "conditions": [condition]}]));
    let told = waits_for(&machine, &cluster, "a", "DeviceUnhealthy", 0, &[]);
    assert!(message(&told).ends_with("link down"), "{told:#}");
    reported(Value::Null);
    runs(&machine, &cluster, "a");

    // Slices withdrawn and back.
    machine.publish(0);
    let told = waits_for(&machine, &cluster, "a", "DeviceNotPublished", 0, &[]);
    assert_eq!(told["stage"]["stage"], "Running");
    machine.publish(8);
    wait_for("the device is published", || {
        explained(&cluster, "a", 0)["stage"]["stuck"]
            .is_null()
            .then_some(())
    });

    // The driver restarts, and comes back as another that has more.
    machine.stop_driver();
    machine.start_driver();
    runs(&machine, &cluster, "a");
    machine.stop_driver();
    machine.publish(10);
    machine.start_driver();
    runs(&machine, &cluster, "a");
    cluster.create(&on("node", "b"));
    runs(&machine, &cluster, "b");

    // The kubelet restarts, with its checkpoint and without.
    machine.stop_kubelet();
    machine.start_kubelet();
    machine.wait_published();
    runs(&machine, &cluster, "a");
    cluster.create(&on("node", "c"));
    runs(&machine, &cluster, "c");
    restart_without_checkpoint(&mut machine);
    cluster.create(&on("node", "d"));
    runs(&machine, &cluster, "d");

    // The node starts anew, and the driver prepares again what it is asked for.
    machine.reboot();
    for name in ["a", "b", "c", "d"] {
        runs(&machine, &cluster, name);
    }
    // A driver that finds the claim on its list does not write its files again.
    machine.write("keeps-prepared", "");
    for name in ["e", "f"] {
        cluster.create(&on("node", name));
        runs(&machine, &cluster, name);
    }
    machine.reboot();
    let told = waits_for(
        &machine,
        &cluster,
        "e",
        "DevicesUnresolvable",
        0,
        &["DriverNotRegistered", "DeviceNotPublished"],
    );
    assert_eq!(owner(&told), "User");
    assert!(message(&told).contains("rebooted at"), "{told:#}");
    assert_eq!(codes(&cluster, "e"), ["DRA083"]);
    is_told_everywhere(&machine, &cluster, "e", "DevicesUnresolvable", 0);
    obey(&cluster, &told);
    ends(&machine, &cluster, "e");
    cluster.create(&on("node", "e"));
    runs(&machine, &cluster, "e");

    // The kubelet loses its checkpoint meanwhile, and does not prepare again what has its sandbox.
    restart_without_checkpoint(&mut machine);
    let told = waits_for(
        &machine,
        &cluster,
        "f",
        "PreparationForgotten",
        0,
        &["DevicesUnresolvable", "DriverNotRegistered"],
    );
    assert_eq!(owner(&told), "User");
    assert_eq!(codes(&cluster, "f"), ["DRA083"]);
    obey(&cluster, &told);
    ends(&machine, &cluster, "f");
    cluster.create(&on("node", "f"));
    runs(&machine, &cluster, "f");

    // Deleted by force, and made again.
    cluster.delete_now("pod/b");
    cluster.create(&on("node", "b"));
    runs(&machine, &cluster, "b");
    let run = cluster.kubectl_dra(["status", "-o", "json"]).run().exits(0);
    let status = assert_valid(&run.stdout);
    assert_eq!(
        status["podStages"],
        json!([{"stage": "Running", "count": 6, "stuck": 0}]),
        "{status:#}"
    );
}
