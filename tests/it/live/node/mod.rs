//! Pods on a real node: the kubelet, containerd and runc, with drivers made of the real helper. Each situation is made, the cause that is named has to be
//! the one that was made, no other may be named on the way, and what is advised is done until the pod runs or is gone. `run` looks on all the time and
//! finds nothing.

mod long;
mod short;

use std::io::Write as _;
use std::process::Command;

use serde_json::{Value, json};

use super::after_bind::{ends, run, runs};
use super::run::{looking_on, report};
use crate::support::cluster::machine::Host as _;
use crate::support::cluster::node::{IMAGE, Node, obstacles};
use crate::support::cluster::objects::{
    Manifest, claim_spec, gpu, gpu_class, nic_class, pod, request, template,
};
use crate::support::cluster::{Cluster, Options};
use crate::support::process::Process;
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

const GPU: &str = "gpu.example.com";
const NIC: &str = "nic.example.com";

/// With this variable a machine that cannot run a node fails the test.
const REQUIRED: &str = "KUBECTL_DRA_TEST_CONTAINERS";

/// The tests of [`short`] count as ignored where no node can run. Here they are run where one can.
#[test]
fn short_situations_where_the_machine_can_run_a_node() {
    let obstacles = obstacles();
    if !obstacles.is_empty() {
        let why = format!(
            "this machine cannot run a node, which live::node needs: {}",
            obstacles.join("; ")
        );
        assert!(std::env::var_os(REQUIRED).is_none(), "{why}");
        // Straight to the stream, which the test harness does not hide.
        let _ = writeln!(std::io::stderr(), "warning: {why}");
        return;
    }
    let output = Command::new(std::env::current_exe().expect("this program has a path"))
        .args(["live::node::short::", "--ignored", "--test-threads=4"])
        .output()
        .expect("this program can be started");
    let text = format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("running 0 tests"), "{text}");
}

/// A cluster whose nodes have real kubelets, and a `run` that looks on.
fn begin() -> (Cluster, Process) {
    let cluster = Cluster::start(&Options::default().with_kubelets());
    cluster.create_all(&[
        gpu_class(),
        nic_class(),
        template("gpu", claim_spec([gpu()])),
        template("nic", claim_spec([request("nic", NIC)])),
    ]);
    let onlooker = looking_on(&cluster, &[]);
    (cluster, onlooker)
}

/// Nothing is wrong in the end, and `run` has found nothing all the time.
#[track_caller]
fn end(cluster: &Cluster, onlooker: Process, nodes: &[&Node<'_>]) {
    wait_for_no_claim(cluster);
    nothing_is_found(cluster, nodes);
    let (run, report) = report(onlooker);
    assert_eq!(report["items"], json!([]), "{report:#}\n{}", run.stderr);
    run.exits(0);
}

/// A pod on a node with a device of each of the drivers, by the names of their templates.
fn on(node: &str, name: &str, templates: &[&str], args: &[&str]) -> Value {
    templates.iter().fold(plain(node, name, args), |pod, template| {
        pod.template_claim(template, template)
    })
}

/// A pod on a node, which ends within seconds.
fn plain(node: &str, name: &str, args: &[&str]) -> Value {
    pod(name).with(json!({"spec": {"restartPolicy": "Always", "terminationGracePeriodSeconds": 2,
        "nodeSelector": {"kubernetes.io/hostname": node},
        "containers": [{"name": "main", "image": IMAGE, "imagePullPolicy": "IfNotPresent", "args": args, "resources": {}}]}}))
}

/// Neither `check` nor `explain` nor `status` finds anything.
#[track_caller]
fn nothing_is_found(cluster: &Cluster, nodes: &[&Node<'_>]) {
    let json = |arguments: &[&str]| {
        let run = run(cluster, arguments, 0);
        let report = assert_valid(&run.stdout);
        run.exits(0);
        report
    };
    let found = json(&["check"]);
    assert_eq!(found["items"], json!([]), "{found:#}\n{}", logs(nodes));
    let waiting = json(&["explain", "-A"]);
    assert_eq!(waiting["items"], json!([]), "{waiting:#}\n{}", logs(nodes));
    let status = json(&["status"]);
    for count in status["podStages"].as_array().into_iter().flatten() {
        assert_eq!(count["stuck"], 0, "{status:#}\n{}", logs(nodes));
    }
}

fn logs(nodes: &[&Node<'_>]) -> String {
    nodes.iter().map(|node| node.logs()).collect()
}

/// The pod is deleted, made again, and runs.
#[track_caller]
fn is_replaced(node: &Node<'_>, cluster: &Cluster, pod: &Value) {
    let name = pod["metadata"]["name"].as_str().expect("a name");
    cluster.delete(&format!("pod/{name}"));
    ends(node, cluster, name);
    cluster.create(pod);
    runs(node, cluster, name);
}

/// The pod is deleted and gone.
#[track_caller]
fn leaves(node: &Node<'_>, cluster: &Cluster, name: &str) {
    cluster.delete(&format!("pod/{name}"));
    ends(node, cluster, name);
}

/// Waits until every claim is gone. Where no pod is left, controllers have yet to take its claims back, and `check` finds them until then.
#[track_caller]
fn wait_for_no_claim(cluster: &Cluster) {
    wait_for("no claim is left", || {
        cluster.list("claim").is_empty().then_some(())
    });
}

/// Waits until the kubelet has sent an event about the pod with that text.
#[track_caller]
fn wait_for_event(cluster: &Cluster, pod: &str, text: &str) {
    wait_for(&format!("an event of {pod} says {text}"), || {
        let events = cluster.list("event");
        let said = events.iter().any(|event| {
            event["involvedObject"]["name"] == pod
                && event["message"]
                    .as_str()
                    .is_some_and(|message| message.contains(text))
        });
        said.then_some(())
    });
}
