//! Pods that do not start, or do not go on running.

use serde_json::json;

use super::super::{GPU, NIC, begin, end, is_replaced, leaves, nothing_is_found, on};
use crate::live::after_bind::{
    CLOSING, codes, codes_of, explained, message, obey, owner, run, runs, waits_for,
};
use crate::support::cluster::Cluster;
use crate::support::cluster::node::{IMAGE, Node, PAUSE};
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

const NODE: &str = "node-1";

#[test]
#[ignore = "needs root, cgroups and runc: make node"]
fn pods_that_do_not_start() {
    let (cluster, onlooker) = begin();
    let cluster = &cluster;
    let mut node = Node::start(cluster, NODE, &[GPU, NIC]);
    healthy(cluster, &node);
    the_sandbox_image_is_missing(cluster, &node);
    one_of_two_drivers_is_missing(cluster, &mut node);
    the_driver_refuses(cluster, &node);
    the_driver_dies_in_the_call(cluster, &mut node);
    end(cluster, onlooker, &[&node]);
}

#[test]
#[ignore = "needs root, cgroups and runc: make node"]
fn containers_that_do_not_run() {
    let (cluster, onlooker) = begin();
    let cluster = &cluster;
    let node = Node::start(cluster, NODE, &[GPU, NIC]);
    no_cdi_file_is_written(cluster, &node);
    cdi_files_are_lost(cluster, &node);
    the_image_is_missing(cluster, &node);
    the_program_is_missing(cluster, &node);
    a_volume_is_missing(cluster, &node);
    the_container_crashes(cluster, &node);
    the_device_is_sick(cluster, &node);
    end(cluster, onlooker, &[&node]);
}

fn healthy(cluster: &Cluster, node: &Node<'_>) {
    cluster.create(&on(NODE, "healthy", &["gpu", "nic"], &["env"]));
    runs(node, cluster, "healthy");
    // The devices are in the container.
    wait_for("the container sees its devices", || {
        let logs = cluster.kubectl(["logs", "healthy"]).run();
        (logs.stdout.contains("DEVICE_GPU=node-1/gpu-") && logs.stdout.contains("DEVICE_NIC=node-1/nic-"))
            .then_some(())
    });
    nothing_is_found(cluster, &[node]);
    leaves(node, cluster, "healthy");
}

/// The driver has done its part: the sandbox comes after it.
fn the_sandbox_image_is_missing(cluster: &Cluster, node: &Node<'_>) {
    node.ctr(&["images", "rm", PAUSE]).exits(0);
    cluster.create(&on(NODE, "sandbox", &["gpu"], &[]));
    let told = waits_for(node, cluster, "sandbox", "SandboxFails", 0, &[]);
    assert_eq!(told["stage"]["stage"], "Prepared", "{told:#}");
    assert_eq!(owner(&told), "Administrator");
    assert!(message(&told).contains(PAUSE), "{told:#}");
    assert_eq!(codes(cluster, "sandbox"), ["DRA086"]);
    node.load_images();
    runs(node, cluster, "sandbox");
    leaves(node, cluster, "sandbox");
}

fn one_of_two_drivers_is_missing(cluster: &Cluster, node: &mut Node<'_>) {
    node.stop_driver(NIC);
    cluster.create(&on(NODE, "two", &["gpu", "nic"], &[]));
    let told = waits_for(node, cluster, "two", "DriverNotRegistered", 0, CLOSING);
    assert_eq!(owner(&told), "Driver");
    assert_eq!(told["stage"]["stage"], "Reserved", "{told:#}");
    assert!(
        message(&told).contains(NIC) && !message(&told).contains(GPU),
        "{told:#}"
    );
    assert_eq!(codes(cluster, "two"), ["DRA080"]);
    node.start_driver(NIC);
    runs(node, cluster, "two");
    leaves(node, cluster, "two");
}

fn the_driver_refuses(cluster: &Cluster, node: &Node<'_>) {
    node.tell(NIC, "fail-prepare", "device is in use by the host: link is up");
    cluster.create(&on(NODE, "refused", &["nic"], &[]));
    let told = waits_for(node, cluster, "refused", "PrepareRefused", 0, &[]);
    assert_eq!(owner(&told), "Driver");
    assert!(message(&told).contains("link is up"), "{told:#}");
    assert_eq!(codes(cluster, "refused"), ["DRA081"]);
    node.untell(NIC, "fail-prepare");
    runs(node, cluster, "refused");
    leaves(node, cluster, "refused");
}

fn the_driver_dies_in_the_call(cluster: &Cluster, node: &mut Node<'_>) {
    node.tell(NIC, "crash-prepare", "");
    cluster.create(&on(NODE, "crashed", &["gpu", "nic"], &[]));
    let told = waits_for(node, cluster, "crashed", "DriverDown", 0, &[]);
    assert_eq!(owner(&told), "Driver");
    assert_eq!(codes(cluster, "crashed"), ["DRA081"]);
    node.untell(NIC, "crash-prepare");
    node.kill_driver(NIC);
    node.start_driver(NIC);
    runs(node, cluster, "crashed");
    leaves(node, cluster, "crashed");
}

fn no_cdi_file_is_written(cluster: &Cluster, node: &Node<'_>) {
    node.tell(NIC, "no-cdi", "");
    let pod = on(NODE, "unwritten", &["gpu", "nic"], &[]);
    cluster.create(&pod);
    let told = waits_for(node, cluster, "unwritten", "DevicesUnresolvable", 0, &[]);
    assert_eq!(owner(&told), "Driver");
    assert!(
        told["stage"]["stuck"]["command"].is_null(),
        "a new pod does not help: {told:#}"
    );
    assert_eq!(codes(cluster, "unwritten"), ["DRA083"]);
    node.untell(NIC, "no-cdi");
    is_replaced(node, cluster, &pod);
    leaves(node, cluster, "unwritten");
}

fn cdi_files_are_lost(cluster: &Cluster, node: &Node<'_>) {
    let pod = on(NODE, "lost", &["nic"], &["sleep", "8", "1"]);
    cluster.create(&pod);
    runs(node, cluster, "lost");
    node.lose_cdi_files();
    let told = waits_for(
        node,
        cluster,
        "lost",
        "DevicesUnresolvable",
        0,
        &["ContainerEnds"],
    );
    assert_eq!(owner(&told), "User");
    // Until the kubelet has written the status of the container that it cannot make, the one that ended counts.
    wait_for("it is a finding", || {
        (codes(cluster, "lost") == ["DRA083"]).then_some(())
    });
    obey(cluster, &told);
    crate::live::after_bind::ends(node, cluster, "lost");
    cluster.create(&pod);
    runs(node, cluster, "lost");
    leaves(node, cluster, "lost");
}

fn the_image_is_missing(cluster: &Cluster, node: &Node<'_>) {
    let mut pod = on(NODE, "image", &["gpu"], &[]);
    pod["spec"]["containers"][0]["image"] = json!("localhost/none:1");
    cluster.create(&pod);
    let told = waits_for(node, cluster, "image", "ContainerNotStarted", 0, &[]);
    assert_eq!(owner(&told), "User");
    assert!(message(&told).contains("localhost/none:1"), "{told:#}");
    assert_eq!(codes(cluster, "image"), ["DRA088"]);
    let image = format!("main={IMAGE}");
    cluster
        .kubectl(["set", "image", "pod/image", &image])
        .run()
        .exits(0);
    runs(node, cluster, "image");
    leaves(node, cluster, "image");
}

fn the_program_is_missing(cluster: &Cluster, node: &Node<'_>) {
    let pod = on(NODE, "program", &["gpu"], &[]);
    let mut wrong = pod.clone();
    wrong["spec"]["containers"][0]["command"] = json!(["/none"]);
    cluster.create(&wrong);
    // The runtime makes the container, fails to start it, and the kubelet tries again.
    let told = waits_for(node, cluster, "program", "ContainerNotStarted", 0, &[]);
    assert_eq!(owner(&told), "User");
    assert!(message(&told).contains("/none"), "{told:#}");
    assert_eq!(codes(cluster, "program"), ["DRA088"]);
    is_replaced(node, cluster, &pod);
    leaves(node, cluster, "program");
}

/// The kubelet mounts volumes before it has devices prepared.
fn a_volume_is_missing(cluster: &Cluster, node: &Node<'_>) {
    let mut pod = on(NODE, "volume", &["gpu"], &[]);
    pod["spec"]["volumes"] = json!([{"name": "settings", "configMap": {"name": "settings"}}]);
    pod["spec"]["containers"][0]["volumeMounts"] = json!([{"name": "settings", "mountPath": "/settings"}]);
    cluster.create(&pod);
    let told = waits_for(node, cluster, "volume", "VolumesNotMounted", 120, &[]);
    assert_eq!(owner(&told), "User");
    assert!(message(&told).contains("settings"), "{told:#}");
    cluster
        .kubectl(["create", "configmap", "settings"])
        .run()
        .exits(0);
    runs(node, cluster, "volume");
    leaves(node, cluster, "volume");
}

fn the_container_crashes(cluster: &Cluster, node: &Node<'_>) {
    cluster.create(&on(NODE, "crashes", &["gpu"], &["sleep", "1", "3"]));
    let told = waits_for(node, cluster, "crashes", "ContainerEnds", 0, &[]);
    assert_eq!(owner(&told), "User");
    // While it waits to be started again, as well. Between its ends it runs for a second, in which nothing is wrong: what is told then does not
    // count.
    let backs_off = || {
        let pod = cluster.get("pod/crashes");
        let status = &pod["status"]["containerStatuses"][0];
        let waits = status["state"]["waiting"]["reason"] == "CrashLoopBackOff";
        waits.then(|| status["restartCount"].clone())
    };
    let (told, found) = wait_for("it is asked while the kubelet backs off", || {
        let before = backs_off()?;
        let answers = (explained(cluster, "crashes", 0), codes(cluster, "crashes"));
        (backs_off() == Some(before)).then_some(answers)
    });
    assert_eq!(told["stage"]["stuck"]["cause"], "ContainerEnds", "{told:#}");
    assert_eq!(found, ["DRA088"]);
    let look = told["stage"]["stuck"]["look"]["command"]
        .as_str()
        .expect("a command that shows the logs");
    cluster.shell(look).run().exits(0);
    leaves(node, cluster, "crashes");
}

fn the_device_is_sick(cluster: &Cluster, node: &Node<'_>) {
    let pod = on(NODE, "sick", &["nic"], &[]);
    cluster.create(&pod);
    runs(node, cluster, "sick");
    let device = cluster.devices_of(&cluster.claim_of("pod/sick", "nic"))[0].clone();
    let name = device.rsplit('/').next().unwrap_or_default();
    let health = json!({"Devices": [{"PoolName": NODE, "DeviceName": name, "Health": "Unhealthy", "Message": "link down"}]});
    node.tell(NIC, "health", &health.to_string());
    let told = waits_for(node, cluster, "sick", "DeviceUnhealthy", 0, &[]);
    assert_eq!(owner(&told), "Driver");
    assert!(message(&told).contains("link down"), "{told:#}");
    assert!(message(&told).contains(&device), "{told:#}");
    assert_eq!(told["stage"]["stage"], "Running", "{told:#}");
    assert_eq!(codes_of(cluster, "Device", &device, 0), ["DRA005"]);
    // Tainted, as advised, it is not allocated again.
    let report = assert_valid(&run(cluster, &["check", "--only=DRA005"], 0).stdout);
    let taint = report["items"][0]["fix"]
        .as_str()
        .unwrap_or_else(|| panic!("no command: {report:#}"));
    cluster.shell(taint).run().exits(0);
    is_replaced(node, cluster, &pod);
    assert_ne!(
        cluster.devices_of(&cluster.claim_of("pod/sick", "nic"))[0],
        device
    );
    node.untell(NIC, "health");
    for rule in cluster.list("rule") {
        cluster.delete(&format!(
            "rule/{}",
            rule["metadata"]["name"].as_str().unwrap_or_default()
        ));
    }
    leaves(node, cluster, "sick");
}
