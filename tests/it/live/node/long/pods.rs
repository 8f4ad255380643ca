//! A driver that runs as the pods of a DaemonSet.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::{GPU, NIC, begin, end, leaves, nothing_is_found, on, wait_for_no_claim};
use crate::live::after_bind::{CLOSING, codes, explained, message, obey, owner, runs, waits_for};
use crate::support::cluster::Cluster;
use crate::support::cluster::node::{IMAGE, Node};
use crate::support::cluster::objects::{Manifest as _, namespace};
use crate::support::wait::wait_for;

const SET: &str = "nic-kubelet-plugin";

/// What the driver's pods, but no others, keep off a node.
const TAINT: &str = "example.com/nic=yes:NoExecute";

fn second(name: &str) -> Value {
    on("node-2", name, &["nic"], &[])
        .with(json!({"spec": {"tolerations": [{"key": "example.com/nic", "operator": "Exists"}]}}))
}

/// Each node has its folders elsewhere, so that each has a command of its own.
fn install(cluster: &Cluster, commands: &TempDir, nodes: &[(&str, &Node<'_>)]) {
    for (name, node) in nodes {
        let command = node.driver_command(NIC).join(" ");
        std::fs::write(commands.path().join(name), format!("exec {command}\n"))
            .expect("the folder is writable");
        label(cluster, name, "example.com/nic=yes");
    }
    let command = format!("exec /bin/sh {}/$NODE", commands.path().display());
    let labels = json!({"app": SET});
    let set = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": SET, "namespace": "drivers"}, "spec": {
        "selector": {"matchLabels": labels}, "updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}},
        "template": {"metadata": {"labels": labels}, "spec": {"hostNetwork": true, "terminationGracePeriodSeconds": 5,
            "nodeSelector": {"example.com/nic": "yes"},
            "containers": [{"name": "plugin", "image": IMAGE, "imagePullPolicy": "IfNotPresent",
                "args": ["chroot", "/host", "/bin/sh", "-c", command],
                "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                "volumeMounts": [{"name": "host", "mountPath": "/host"}]}],
            "volumes": [{"name": "host", "hostPath": {"path": "/"}}]}}}});
    cluster.create(&namespace("drivers"));
    let rights = [
        "create",
        "clusterrolebinding",
        SET,
        "--clusterrole=cluster-admin",
        "--serviceaccount=drivers:default",
    ];
    cluster.kubectl(rights).run().exits(0);
    cluster
        .kubectl(["create", "-f", "-"])
        .stdin(set.to_string())
        .run()
        .exits(0);
}

fn label(cluster: &Cluster, node: &str, label: &str) {
    cluster.kubectl(["label", "node", node, label]).run().exits(0);
}

/// Waits until so many pods of the driver are ready, and none else is left.
#[track_caller]
fn wait_for_drivers(cluster: &Cluster, count: usize) {
    wait_for(&format!("{count} pods of the driver are ready"), || {
        let pods = cluster.list("pod/drivers");
        let ready = pods.iter().filter(|pod| {
            let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
            conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
        });
        (pods.len() == count && ready.count() == count).then_some(())
    });
}

#[test]
#[ignore = "needs root, cgroups and runc, and takes minutes: make node"]
fn drivers_are_pods() {
    let (cluster, onlooker) = begin();
    let cluster = &cluster;
    let one = Node::start(cluster, "node-1", &[GPU]);
    let mut two = Node::start(cluster, "node-2", &[GPU]);
    let commands = tempfile::tempdir().expect("a temporary folder");
    install(cluster, &commands, &[("node-1", &one), ("node-2", &two)]);
    wait_for_drivers(cluster, 2);
    one.wait_published(NIC);
    two.wait_published(NIC);
    cluster.create(&on("node-1", "stays", &["nic"], &[]));
    runs(&one, cluster, "stays");
    nothing_is_found(cluster, &[&one, &two]);

    // A taint puts its pod off a node; the command that is printed brings it back.
    cluster.kubectl(["taint", "node", "node-2", TAINT]).run().exits(0);
    wait_for_drivers(cluster, 1);
    cluster.create(&second("tainted"));
    let told = waits_for(&two, cluster, "tainted", "DriverNotRegistered", 0, CLOSING);
    assert_eq!(owner(&told), "Administrator", "{told:#}");
    assert!(message(&told).contains(TAINT), "{told:#}");
    assert_eq!(codes(cluster, "tainted"), ["DRA080"]);
    obey(cluster, &told);
    runs(&two, cluster, "tainted");
    wait_for_drivers(cluster, 2);
    two.wait_published(NIC);

    // The node lacks a label.
    label(cluster, "node-2", "example.com/nic-");
    wait_for_drivers(cluster, 1);
    cluster.create(&second("unlabeled"));
    let told = waits_for(&two, cluster, "unlabeled", "DriverNotRegistered", 0, CLOSING);
    assert_eq!(owner(&told), "Administrator", "{told:#}");
    assert!(message(&told).contains("example.com/nic=yes"), "{told:#}");
    label(cluster, "node-2", "example.com/nic=yes");
    runs(&two, cluster, "unlabeled");
    two.wait_published(NIC);

    // A new version crashes.
    let args = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": ["sleep", "1", "1"]}]);
    let set = format!("daemonset/{SET}");
    let of_set = |command: &[&str]| {
        cluster
            .kubectl(command)
            .args([set.as_str(), "--namespace=drivers"])
    };
    of_set(&["patch", "--type=json", "--patch", &args.to_string()])
        .run()
        .exits(0);
    wait_for("the driver crashes on both nodes", || {
        let pods = cluster.list("pod/drivers");
        let crashing = pods.iter().filter(|pod| {
            pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        });
        (crashing.count() == 2).then_some(())
    });
    two.wait_withdrawn(NIC);
    // The scheduler finds no device, since the driver publishes none.
    cluster.create(&second("upgraded"));
    let told = wait_for("the scheduler has looked at it", || {
        let told = explained(cluster, "upgraded", 0);
        (!told["message"].is_null()).then_some(told)
    });
    assert_eq!(told["verdict"], "DoesNotFit", "{told:#}");
    let cause = told["cause"].as_str().unwrap_or_default();
    assert!(cause.contains(&format!("drivers/{SET}-")), "{told:#}");
    let look = told["fixes"][0]["look"]["command"]
        .as_str()
        .expect("a command that shows the logs");
    cluster.shell(look).run().exits(0);
    of_set(&["rollout", "undo"]).run().exits(0);
    runs(&two, cluster, "upgraded");
    wait_for_drivers(cluster, 2);
    one.wait_published(NIC);
    two.wait_published(NIC);

    // Its pods are replaced in order: those with devices run on.
    of_set(&["rollout", "restart"]).run().exits(0);
    of_set(&["rollout", "status", "--timeout=100s"]).run().exits(0);
    wait_for_drivers(cluster, 2);
    one.wait_published(NIC);
    two.wait_published(NIC);
    runs(&one, cluster, "stays");
    cluster.create(&second("later"));
    runs(&two, cluster, "later");

    // The machine starts anew, and all goes on by itself.
    for name in ["tainted", "unlabeled", "upgraded"] {
        leaves(&two, cluster, name);
    }
    two.reboot();
    two.start_driver(GPU);
    runs(&two, cluster, "later");
    wait_for_drivers(cluster, 2);
    two.wait_published(NIC);
    two.wait_published(GPU);
    leaves(&two, cluster, "later");
    leaves(&one, cluster, "stays");
    wait_for_no_claim(cluster);
    nothing_is_found(cluster, &[&one, &two]);
    of_set(&["delete"]).run().exits(0);
    wait_for_drivers(cluster, 0);
    end(cluster, onlooker, &[&one, &two]);
}
