//! Nodes of which something goes down and comes back.

use serde_json::{Value, json};

use super::super::{GPU, NIC, begin, end, leaves, nothing_is_found, on, plain, wait_for_event};
use crate::live::after_bind::{codes, codes_of, ends, explained, message, obey, owner, runs, waits_for};
use crate::support::cluster::Cluster;
use crate::support::cluster::node::Node;
use crate::support::cluster::objects::Manifest as _;
use crate::support::wait::wait_for;

const NODE: &str = "node-1";

#[test]
#[ignore = "needs root, cgroups and runc: make node"]
fn the_kubelet_and_the_machine_start_anew() {
    let (cluster, onlooker) = begin();
    let cluster = &cluster;
    let mut node = Node::start(cluster, NODE, &[GPU, NIC]);
    the_kubelet_starts_anew(cluster, &mut node);
    the_kubelet_forgets(cluster, &mut node);
    the_machine_starts_anew_and_a_driver_is_late(cluster, &mut node);
    the_machine_starts_anew_and_a_driver_writes_nothing(cluster, &mut node);
    end(cluster, onlooker, &[&node]);
}

#[test]
#[ignore = "needs root, cgroups and runc: make node"]
fn the_kubelet_and_its_runtime_go_down() {
    let (cluster, onlooker) = begin();
    let cluster = &cluster;
    let mut node = Node::start(cluster, NODE, &[GPU, NIC]);
    the_node_is_drained(cluster, &node);
    the_network_is_not_ready(cluster, &node);
    the_kubelet_is_silent(cluster, &mut node);
    the_runtime_is_down(cluster, &mut node);
    end(cluster, onlooker, &[&node]);
}

/// For half a minute after that no driver has slices. Nothing is wrong, and waiting helps.
fn the_kubelet_starts_anew(cluster: &Cluster, node: &mut Node<'_>) {
    cluster.create(&on(NODE, "runs", &["gpu"], &[]));
    runs(node, cluster, "runs");
    node.stop_kubelet();
    node.start_kubelet();
    node.wait_withdrawn(GPU);
    cluster.create(&on(NODE, "waits", &["gpu"], &[]));
    cluster.wait("pod/waits", "the scheduler finds no device", |pod| {
        pod["status"]["conditions"].is_array()
    });
    let told = explained(cluster, "waits", 0);
    assert_eq!(told["verdict"], "DoesNotFit", "{told:#}");
    assert_eq!(told["waiting"]["helps"], "whenPublished", "{told:#}");
    let told = explained(cluster, "runs", 0);
    assert_eq!(told["verdict"], "Bound", "{told:#}");
    assert_eq!(told["stage"]["stage"], "Running", "{told:#}");
    assert_eq!(told["stage"]["stuck"], Value::Null, "{told:#}");
    assert_eq!(codes_of(cluster, "Pod", "runs", 0), [""; 0]);
    runs(node, cluster, "waits");
    node.wait_published(NIC);
    nothing_is_found(cluster, &[node]);
    leaves(node, cluster, "runs");
    leaves(node, cluster, "waits");
}

/// What was prepared for a pod that has its sandbox is not prepared again.
fn the_kubelet_forgets(cluster: &Cluster, node: &mut Node<'_>) {
    let pod = on(NODE, "forgotten", &["gpu"], &["sleep", "10", "1"]);
    cluster.create(&pod);
    runs(node, cluster, "forgotten");
    node.stop_kubelet();
    std::fs::remove_file(node.path("kubelet/dra_manager_state")).expect("the kubelet has a checkpoint");
    node.start_kubelet();
    let before = ["ContainerEnds", "DeviceNotPublished"];
    let told = waits_for(node, cluster, "forgotten", "PreparationForgotten", 0, &before);
    assert_eq!(owner(&told), "User");
    // Until the kubelet has written the status of the container that it cannot make, the one that ended counts.
    wait_for("it is a finding", || {
        (codes(cluster, "forgotten") == ["DRA083"]).then_some(())
    });
    obey(cluster, &told);
    ends(node, cluster, "forgotten");
    node.wait_published(GPU);
    node.wait_published(NIC);
    cluster.create(&pod);
    runs(node, cluster, "forgotten");
    leaves(node, cluster, "forgotten");
}

fn the_machine_starts_anew_and_a_driver_is_late(cluster: &Cluster, node: &mut Node<'_>) {
    cluster.create(&on(NODE, "late", &["gpu"], &[]));
    runs(node, cluster, "late");
    node.reboot();
    node.start_driver(NIC);
    let told = waits_for(
        node,
        cluster,
        "late",
        "DriverNotRegistered",
        0,
        &["ContainerEnds"],
    );
    assert_eq!(owner(&told), "Driver");
    assert!(message(&told).contains(GPU), "{told:#}");
    assert_eq!(codes(cluster, "late"), ["DRA080"]);
    node.start_driver(GPU);
    runs(node, cluster, "late");
    node.wait_published(GPU);
    node.wait_published(NIC);
    leaves(node, cluster, "late");
}

fn the_machine_starts_anew_and_a_driver_writes_nothing(cluster: &Cluster, node: &mut Node<'_>) {
    node.tell(GPU, "keeps-prepared", "");
    let pod = on(NODE, "kept", &["gpu"], &[]);
    cluster.create(&pod);
    runs(node, cluster, "kept");
    node.reboot();
    node.start_driver(GPU);
    node.start_driver(NIC);
    let before = ["ContainerEnds", "DriverNotRegistered", "DeviceNotPublished"];
    let told = waits_for(node, cluster, "kept", "DevicesUnresolvable", 0, &before);
    assert_eq!(owner(&told), "User");
    // Until the kubelet has written the status of the container that it cannot make, the one that ended counts.
    wait_for("it is a finding", || {
        (codes(cluster, "kept") == ["DRA083"]).then_some(())
    });
    obey(cluster, &told);
    ends(node, cluster, "kept");
    node.wait_published(GPU);
    cluster.create(&pod);
    runs(node, cluster, "kept");
    node.untell(GPU, "keeps-prepared");
    leaves(node, cluster, "kept");
    node.wait_published(NIC);
}

/// Everything on it is free: only what took it out of service is in the way.
fn the_node_is_drained(cluster: &Cluster, node: &Node<'_>) {
    let labels = json!({"app": "web"});
    let template = json!({"metadata": {"labels": labels}, "spec": on(NODE, "web", &["gpu"], &[])["spec"]});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}});
    cluster
        .kubectl(["create", "-f", "-"])
        .stdin(deployment.to_string())
        .run()
        .exits(0);
    let pod = |is_it: &dyn Fn(&Value) -> bool| {
        wait_for("the deployment has such a pod", || {
            let pods = cluster.list("pod");
            let pod = pods.iter().find(|pod| is_it(pod))?;
            pod["metadata"]["name"].as_str().map(str::to_owned)
        })
    };
    let first = pod(&|_| true);
    runs(node, cluster, &first);
    cluster.kubectl(["drain", NODE, "--timeout=60s"]).run().exits(0);
    ends(node, cluster, &first);
    let next = pod(&|pod| pod["status"]["conditions"][0]["reason"] == "Unschedulable");
    let told = explained(cluster, &next, 0);
    assert_eq!(told["verdict"], "DoesNotFit", "{told:#}");
    assert_eq!(told["waiting"]["helps"], "whenUncordoned", "{told:#}");
    assert_eq!(codes(cluster, &next), [""; 0]);
    let commands = told["fixes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|fix| fix["command"].as_str());
    let commands: Vec<&str> = commands.collect();
    let [uncordon] = commands[..] else {
        panic!("one command: {told:#}")
    };
    cluster.shell(uncordon).run().exits(0);
    runs(node, cluster, &next);
    cluster.kubectl(["delete", "deployment", "web"]).run().exits(0);
    ends(node, cluster, &next);
}

/// The node is not ready then, and keeps off pods that do not tolerate it.
fn the_network_is_not_ready(cluster: &Cluster, node: &Node<'_>) {
    let path = node.path("cni/10-ptp.conflist");
    let configuration = std::fs::read(&path).expect("the node has a network");
    std::fs::remove_file(&path).expect("root may write there");
    node.wait_ready("False");
    let tolerations = json!({"spec": {"tolerations": [{"operator": "Exists"}]}});
    cluster.create(&on(NODE, "network", &["gpu"], &[]).with(tolerations));
    let told = waits_for(node, cluster, "network", "NetworkNotReady", 0, &["NodeNotReady"]);
    assert_eq!(owner(&told), "Administrator");
    assert_eq!(told["stage"]["stage"], "Reserved", "{told:#}");
    // containerd does not notice a file that is moved there.
    std::fs::write(&path, configuration).expect("root may write there");
    runs(node, cluster, "network");
    node.wait_ready("True");
    leaves(node, cluster, "network");
}

fn the_kubelet_is_silent(cluster: &Cluster, node: &mut Node<'_>) {
    for name in ["goes", "stays"] {
        cluster.create(&on(NODE, name, &["gpu"], &[]));
        runs(node, cluster, name);
    }
    node.stop_kubelet();
    cluster.delete("pod/goes");
    cluster.create(&on(NODE, "comes", &["nic"], &[]));
    node.wait_ready("Unknown");
    for (name, later) in [("comes", 0), ("goes", 600)] {
        let told = waits_for(node, cluster, name, "NodeSilent", later, &[]);
        assert_eq!(owner(&told), "Administrator");
        assert!(message(&told).contains(NODE), "{told:#}");
    }
    let told = explained(cluster, "stays", 0);
    assert_eq!(told["stage"]["stage"], "Running", "{told:#}");
    assert_eq!(told["stage"]["stuck"], Value::Null, "{told:#}");
    assert_eq!(codes_of(cluster, "Node", NODE, 0), ["DRA087"]);
    node.start_kubelet();
    ends(node, cluster, "goes");
    runs(node, cluster, "comes");
    node.wait_ready("True");
    node.wait_published(GPU);
    node.wait_published(NIC);
    leaves(node, cluster, "comes");
    leaves(node, cluster, "stays");
}

/// The kubelet says so in events at once, and half a minute later by its node. It answers, and devices are prepared.
fn the_runtime_is_down(cluster: &Cluster, node: &mut Node<'_>) {
    for name in ["goes", "late"] {
        cluster.create(&on(NODE, name, &["gpu"], &[]));
        runs(node, cluster, name);
    }
    cluster.create(&plain(NODE, "bystander", &[]));
    cluster.wait("pod/bystander", "it runs", |pod| {
        pod["status"]["phase"] == "Running"
    });
    node.stop_containerd();
    // Before the kubelet sees that its runtime is gone, when it stops to do anything.
    cluster.delete("pod/goes");
    cluster.create(&on(NODE, "comes", &["nic"], &[]));
    wait_for_event(cluster, "goes", "error killing pod");
    wait_for_event(cluster, "comes", "Failed to create pod sandbox");
    for name in ["comes", "goes"] {
        let told = waits_for(node, cluster, name, "RuntimeDown", 0, &[]);
        assert_eq!(owner(&told), "Administrator");
        assert_eq!(codes(cluster, name), ["DRA086"]);
    }
    node.wait_ready("False");
    // Of one that is deleted now the kubelet says nothing any more.
    cluster.delete("pod/late");
    for (name, later) in [("comes", 0), ("goes", 0), ("late", 600)] {
        waits_for(node, cluster, name, "RuntimeDown", later, &[]);
    }
    node.start_containerd();
    ends(node, cluster, "goes");
    ends(node, cluster, "late");
    runs(node, cluster, "comes");
    node.wait_ready("True");
    leaves(node, cluster, "comes");
    leaves(node, cluster, "bystander");
}
