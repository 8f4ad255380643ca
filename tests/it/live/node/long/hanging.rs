//! A driver that does not answer.

use serde_json::Value;

use super::super::{GPU, NIC, begin, end, leaves, on};
use crate::live::after_bind::{codes, explained, owner, runs, waits_for};
use crate::support::cluster::node::Node;

/// The kubelet says nothing until it gives up, 45 s later.
#[test]
#[ignore = "needs root, cgroups and runc, and takes minutes: make node"]
fn a_driver_hangs_while_it_prepares() {
    let (cluster, onlooker) = begin();
    let cluster = &cluster;
    let node = Node::start(cluster, "node-1", &[GPU, NIC]);
    node.tell(NIC, "hang-prepare", "");
    cluster.create(&on("node-1", "hangs", &["gpu", "nic"], &[]));
    cluster.wait("pod/hangs", "it has its node", |pod| {
        pod["spec"]["nodeName"].is_string()
    });
    let told = explained(cluster, "hangs", 0);
    assert_eq!(told["stage"]["stage"], "Reserved", "{told:#}");
    assert_eq!(told["stage"]["stuck"], Value::Null, "{told:#}");
    let told = waits_for(&node, cluster, "hangs", "DriverFails", 0, &[]);
    assert_eq!(owner(&told), "Driver");
    assert_eq!(codes(cluster, "hangs"), ["DRA081"]);
    node.untell(NIC, "hang-prepare");
    runs(&node, cluster, "hangs");
    leaves(&node, cluster, "hangs");
    end(cluster, onlooker, &[&node]);
}
