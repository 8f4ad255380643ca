//! Pods that do not go.

use serde_json::{Value, json};

use super::super::{GPU, NIC, begin, end, on, plain};
use crate::live::after_bind::{codes, codes_of, ends, message, owner, runs, waits_for};
use crate::support::cluster::Cluster;
use crate::support::cluster::node::Node;
use crate::support::cluster::objects::{Manifest as _, claim, claim_spec, gpu};

const NODE: &str = "node-1";

/// Seconds after which a pod that is being deleted is late.
const LATE: i64 = 600;

/// What is said that late until the kubelet has reported that the containers have stopped.
const STOPPING: &[&str] = &["ContainersNotStopped"];

#[test]
#[ignore = "needs root, cgroups and runc: make node"]
fn pods_that_do_not_end() {
    let (cluster, onlooker) = begin();
    let cluster = &cluster;
    let mut node = Node::start(cluster, NODE, &[GPU, NIC]);
    a_driver_does_not_take_its_device_back(cluster, &node);
    a_driver_does_not_take_back_what_a_finished_pod_had(cluster, &node);
    a_pod_is_deleted_by_force(cluster, &mut node);
    the_driver_is_stopped(cluster, &mut node);
    the_driver_is_killed(cluster, &mut node);
    end(cluster, onlooker, &[&node]);
}

/// Which of the two drivers it is, only logs tell: they can refuse, or not answer.
fn a_driver_does_not_take_its_device_back(cluster: &Cluster, node: &Node<'_>) {
    for (name, fault) in [("refuses", "fail-unprepare"), ("hangs", "hang-unprepare")] {
        cluster.create(&on(NODE, name, &["gpu", "nic"], &[]));
        runs(node, cluster, name);
        node.tell(NIC, fault, "reset of the device failed: busy");
        cluster.delete(&format!("pod/{name}"));
        let told = waits_for(node, cluster, name, "UnprepareFails", LATE, STOPPING);
        assert_eq!(owner(&told), "Driver");
        assert!(message(&told).contains(NIC), "{told:#}");
        assert_eq!(codes_of(cluster, "Pod", name, LATE), ["DRA084"]);
        node.untell(NIC, fault);
        ends(node, cluster, name);
    }
}

/// Until it does, the pod keeps its phase.
fn a_driver_does_not_take_back_what_a_finished_pod_had(cluster: &Cluster, node: &Node<'_>) {
    node.tell(NIC, "fail-unprepare", "reset of the device failed: busy");
    let pod = on(NODE, "finished", &["nic"], &["sleep", "1", "0"]);
    cluster.create(&pod.with(json!({"spec": {"restartPolicy": "Never"}})));
    let told = waits_for(node, cluster, "finished", "UnprepareFails", LATE, STOPPING);
    assert_eq!(told["stage"]["stage"], "Unpreparing", "{told:#}");
    assert_eq!(owner(&told), "Driver");
    node.untell(NIC, "fail-unprepare");
    cluster.wait("pod/finished", "it has succeeded", |pod| {
        pod["status"]["phase"] == "Succeeded"
    });
    cluster.delete("pod/finished");
    ends(node, cluster, "finished");
}

/// The kubelet has to give back what the earlier pod had, and goes on by itself.
fn a_pod_is_deleted_by_force(cluster: &Cluster, node: &mut Node<'_>) {
    let again = claim("again", claim_spec([gpu()]));
    let pod = |args: &[&str]| plain(NODE, "forced", args).named_claim("gpu", "again");
    cluster.create(&again);
    // It goes on until it is killed.
    cluster.create(&pod(&["stubborn"]).with(json!({"spec": {"terminationGracePeriodSeconds": 40}})));
    runs(node, cluster, "forced");
    // Otherwise the kubelet may give the device back before anybody has looked.
    node.restart(&[GPU, NIC]);
    cluster.delete_now("pod/forced");
    cluster.delete("claim/again");
    cluster.wait_gone("claim/again");
    cluster.create(&again);
    cluster.create(&pod(&[]));
    let told = waits_for(node, cluster, "forced", "EarlierClaim", 0, &[]);
    assert_eq!(owner(&told), "Kubelet");
    assert_eq!(codes(cluster, "forced"), ["DRA082"]);
    runs(node, cluster, "forced");
    cluster.delete("pod/forced");
    ends(node, cluster, "forced");
    cluster.delete("claim/again");
}

fn the_driver_is_stopped(cluster: &Cluster, node: &mut Node<'_>) {
    is_gone(cluster, node, "stopped", |node| node.stop_driver(NIC));
}

/// Its sockets stay.
fn the_driver_is_killed(cluster: &Cluster, node: &mut Node<'_>) {
    is_gone(cluster, node, "killed", |node| node.kill_driver(NIC));
}

fn is_gone(cluster: &Cluster, node: &mut Node<'_>, name: &str, go: impl FnOnce(&mut Node<'_>)) {
    cluster.create(&on(NODE, name, &["gpu", "nic"], &[]));
    runs(node, cluster, name);
    go(node);
    cluster.delete(&format!("pod/{name}"));
    // Half a minute later the kubelet deletes what the driver published, which shows that it is gone.
    node.wait_withdrawn(NIC);
    let told = waits_for(
        node,
        cluster,
        name,
        "DriverNotRegistered",
        LATE,
        &["UnprepareFails", "ContainersNotStopped"],
    );
    assert_eq!(owner(&told), "Driver");
    assert!(
        message(&told).contains(NIC) && !message(&told).contains(GPU),
        "{told:#}"
    );
    assert_ne!(codes_of(cluster, "Pod", name, LATE), [""; 0]);
    assert_eq!(told["stage"]["stuck"]["command"], Value::Null, "{told:#}");
    node.start_driver(NIC);
    ends(node, cluster, name);
    node.wait_published(NIC);
}
