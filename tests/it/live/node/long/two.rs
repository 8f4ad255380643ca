//! Two nodes: what goes wrong on one of them is not said of the other.

use serde_json::Value;

use super::super::{GPU, NIC, begin, end, leaves, on};
use crate::live::after_bind::{CLOSING, codes, codes_of, explained, message, runs, waits_for};
use crate::support::cluster::Cluster;
use crate::support::cluster::node::Node;

/// Nothing is said of a pod that runs on the first node.
#[track_caller]
fn the_first_is_well(cluster: &Cluster) {
    let told = explained(cluster, "first", 0);
    assert_eq!(told["stage"]["stage"], "Running", "{told:#}");
    assert_eq!(told["stage"]["stuck"], Value::Null, "{told:#}");
    assert_eq!(codes(cluster, "first"), [""; 0]);
    assert_eq!(codes_of(cluster, "Node", "node-1", 0), [""; 0]);
}

#[test]
#[ignore = "needs root, cgroups and runc, and takes minutes: make node"]
fn one_of_two_nodes_fails() {
    let (cluster, onlooker) = begin();
    let cluster = &cluster;
    let one = Node::start(cluster, "node-1", &[GPU, NIC]);
    let mut two = Node::start(cluster, "node-2", &[GPU, NIC]);
    for (node, name) in [(&one, "first"), (&two, "second")] {
        cluster.create(&on(
            if name == "first" { "node-1" } else { "node-2" },
            name,
            &["gpu", "nic"],
            &["env"],
        ));
        runs(node, cluster, name);
    }
    // One driver is gone.
    two.stop_driver(NIC);
    cluster.create(&on("node-2", "waits", &["nic"], &[]));
    let told = waits_for(&two, cluster, "waits", "DriverNotRegistered", 0, CLOSING);
    assert!(
        message(&told).contains("node-2") && !message(&told).contains("node-1"),
        "{told:#}"
    );
    the_first_is_well(cluster);
    two.start_driver(NIC);
    runs(&two, cluster, "waits");
    leaves(&two, cluster, "waits");
    // The machine starts anew, and one driver is late.
    two.reboot();
    two.start_driver(NIC);
    let before = ["ContainerEnds", "DeviceNotPublished"];
    let told = waits_for(&two, cluster, "second", "DriverNotRegistered", 0, &before);
    assert!(message(&told).contains(GPU), "{told:#}");
    the_first_is_well(cluster);
    two.start_driver(GPU);
    runs(&two, cluster, "second");
    two.wait_published(NIC);
    // The kubelet is silent.
    two.stop_kubelet();
    cluster.create(&on("node-2", "waits", &["nic"], &[]));
    two.wait_ready("Unknown");
    waits_for(&two, cluster, "waits", "NodeSilent", 0, &[]);
    assert_eq!(codes_of(cluster, "Node", "node-2", 0), ["DRA087"]);
    the_first_is_well(cluster);
    two.start_kubelet();
    runs(&two, cluster, "waits");
    two.wait_ready("True");
    two.wait_published(GPU);
    two.wait_published(NIC);
    runs(&one, cluster, "first");
    for (node, name) in [(&one, "first"), (&two, "second"), (&two, "waits")] {
        leaves(node, cluster, name);
    }
    end(cluster, onlooker, &[&one, &two]);
}
