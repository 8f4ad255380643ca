//! Pods whose driver is not registered with their kubelet, for whatever reason.

use http::Method;
use serde_json::{Value, json};

use super::{
    CLOSING, begin, codes, explained, is_told_everywhere, message, obey, on, owner, runs, waits_for,
};
use crate::support::cluster::machine::Machine;
use crate::support::cluster::objects::{Manifest, pod};
use crate::support::cluster::{Cluster, Options};
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

/// The DaemonSet that stands for the driver's; nodes with the label `example.com/driver` get its pods.
const SET: &str = "example-gpu-kubelet-plugin";

/// Creates the DaemonSet of the driver.
fn install(cluster: &Cluster, tolerations: &Value) {
    let set = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": SET, "namespace": "kube-system"}, "spec": {
        "selector": {"matchLabels": {"app": SET}},
        "template": {
            "metadata": {"labels": {"app": SET}, "annotations": {"kubelet.test/driven-by-test": "yes"}},
            "spec": {"nodeSelector": {"example.com/driver": "yes"}, "tolerations": tolerations,
                "containers": [{"name": "plugin", "image": "driver"}],
                "volumes": [{"name": "registry", "hostPath": {"path": "/var/lib/kubelet/plugins_registry"}}]}}}});
    let answer = cluster.request(
        &Method::POST,
        "/apis/apps/v1/namespaces/kube-system/daemonsets",
        &set,
    );
    assert!(answer.is_success(), "{answer:?}");
}

fn serve(cluster: &Cluster, node: &str) {
    cluster.patch(
        &format!("node/{node}"),
        &json!({"metadata": {"labels": {"example.com/driver": "yes"}}}),
    );
}

/// The driver's pod on the node, once it is there, as another than `but`.
#[track_caller]
fn driver_pod(cluster: &Cluster, node: &str, but: &str) -> String {
    wait_for(&format!("a pod of the driver on {node}"), || {
        let pods = cluster.list("pod/kube-system");
        let found = pods.iter().find(|pod| {
            pod["spec"]["nodeName"] == node
                && pod["metadata"]["labels"]["app"] == SET
                && pod["metadata"]["deletionTimestamp"].is_null()
                && pod["metadata"]["name"] != but
        })?;
        found["metadata"]["name"].as_str().map(str::to_owned)
    })
}

fn set_status(cluster: &Cluster, name: &str, ready: bool, state: &Value) {
    let now = crate::support::cluster::kubelet::now();
    let ready = if ready { "True" } else { "False" };
    cluster.patch_status(
        &format!("pod/kube-system/{name}"),
        &json!({"status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": now}],
            "containerStatuses": [{"name": "plugin", "image": "driver", "imageID": "", "ready": ready == "True", "restartCount": 3,
                "state": state}]}}),
    );
}

#[test]
fn a_pod_does_not_start_without_its_driver() {
    let cluster = begin(&Options::default());
    let cause = "DriverNotRegistered";

    // Stopped, and started again.
    let mut machine = Machine::start(&cluster, "stopped", 4);
    machine.stop_driver();
    cluster.create(&on("stopped", "stopped"));
    let report = waits_for(&machine, &cluster, "stopped", cause, 0, CLOSING);
    assert_eq!(owner(&report), "Driver");
    assert!(
        message(&report).ends_with("no pod on stopped appears to be the driver's"),
        "{report:#}"
    );
    assert_eq!(report["stage"]["stage"], "Reserved");
    assert_eq!(codes(&cluster, "stopped"), ["DRA080"]);
    // Who may see one namespace only is told no more than was seen.
    let viewer = cluster.user("viewer").with_role_in("default", "view").allowed_in(
        "default",
        &json!([{"apiGroups": ["resource.k8s.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]),
    );
    let run = viewer.kubectl_dra(["explain", "pod/stopped", "-o", "json"]).run();
    let report = assert_valid(&run.stdout);
    assert_eq!(report["stage"]["stuck"]["cause"], cause, "{report:#}");
    assert!(!message(&report).contains("no pod"), "{report:#}");
    is_told_everywhere(&machine, &cluster, "stopped", cause, 0);
    // Events are gone after an hour, and then nothing shows what it waits for.
    machine.stop_kubelet();
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
    let answer = cluster.request(&Method::DELETE, "/api/v1/namespaces/default/events", &options);
    assert!(answer.is_success(), "{answer:?}");
    let report = explained(&cluster, "stopped", 600);
    assert_eq!(report["stage"]["stage"], "Unknown", "{report:#}");
    assert_eq!(report["verdict"], "Unknown", "{report:#}");
    assert!(report["stage"]["stuck"].is_null(), "{report:#}");
    assert!(
        report["stage"]["unknown"][0]
            .as_str()
            .is_some_and(|text| text.contains("no event of the kubelet was found")),
        "{report:#}"
    );
    machine.start_kubelet();
    machine.start_driver();
    runs(&machine, &cluster, "stopped");
    assert_eq!(codes(&cluster, "stopped"), [""; 0]);

    install(&cluster, &json!([]));
    // A taint of the node keeps the driver off.
    let mut machine = Machine::bare(&cluster, "tainted", 4);
    machine.start_driver_in("elsewhere");
    machine.wait_published();
    let taint = json!([{"key": "example.com/gpu", "value": "yes", "effect": "NoSchedule"}]);
    cluster.patch("node/tainted", &json!({"spec": {"taints": taint}}));
    // Another node has its pod, from which the DaemonSet is known.
    serve(&cluster, "stopped");
    driver_pod(&cluster, "stopped", "");
    cluster.create(&on("tainted", "tainted"));
    // So does a label that it lacks.
    let report = waits_for(&machine, &cluster, "tainted", cause, 0, &[]);
    assert_eq!(owner(&report), "Administrator", "{report:#}");
    assert!(
        message(&report).contains("its nodeSelector requires example.com/driver=yes, which the node lacks"),
        "{report:#}"
    );
    serve(&cluster, "tainted");
    let report = waits_for(&machine, &cluster, "tainted", cause, 0, &[]);
    assert_eq!(owner(&report), "Administrator", "{report:#}");
    assert!(
        message(&report).contains("does not tolerate the node's taint example.com/gpu=yes:NoSchedule"),
        "{report:#}"
    );
    obey(&cluster, &report);
    driver_pod(&cluster, "tainted", "");
    machine.stop_driver();
    machine.start_driver();
    runs(&machine, &cluster, "tainted");

    // Its pod crashes.
    let mut machine = Machine::bare(&cluster, "crashing", 4);
    machine.start_driver_in("elsewhere");
    machine.wait_published();
    serve(&cluster, "crashing");
    let plugin = driver_pod(&cluster, "crashing", "");
    set_status(
        &cluster,
        &plugin,
        false,
        &json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}),
    );
    cluster.create(&on("crashing", "crashing"));
    let report = waits_for(&machine, &cluster, "crashing", cause, 0, &[]);
    assert!(
        message(&report).contains("is crashing (container plugin: CrashLoopBackOff)"),
        "{report:#}"
    );
    // Its pod is started just now, and then not ready for long.
    set_status(&cluster, &plugin, false, &json!({"running": {}}));
    let report = waits_for(&machine, &cluster, "crashing", cause, 0, &[]);
    assert!(message(&report).contains("is starting (created at"), "{report:#}");
    assert_eq!(report["verdict"], "Waits", "{report:#}");
    let report = waits_for(&machine, &cluster, "crashing", cause, 600, &[]);
    assert!(message(&report).ends_with("is not ready"), "{report:#}");
    // Its pod is ready, and the kubelet does not know it.
    set_status(&cluster, &plugin, true, &json!({"running": {}}));
    let report = waits_for(&machine, &cluster, "crashing", cause, 0, &[]);
    assert!(
        message(&report).contains("but the kubelet has no registration of it"),
        "{report:#}"
    );
    // The kubelet was restarted since, and has yet to hear of the driver.
    let ready = crate::support::cluster::kubelet::now();
    machine.stop_kubelet();
    wait_for("another second", || {
        (crate::support::cluster::kubelet::now() != ready).then_some(())
    });
    machine.start_kubelet();
    let report = wait_for("the restart is told", || {
        let report = waits_for(&machine, &cluster, "crashing", cause, 0, &[]);
        message(&report)
            .contains("but the kubelet (started at")
            .then_some(report)
    });
    // They may be about to find each other. Where they have not after two minutes, the driver is restarted.
    assert!(report["stage"]["stuck"]["command"].is_null(), "{report:#}");
    obey(&cluster, &explained(&cluster, "crashing", 125));
    driver_pod(&cluster, "crashing", &plugin);
    machine.stop_driver();
    machine.start_driver();
    runs(&machine, &cluster, "crashing");

    // Its pod registers in another folder than others do.
    let mut machine = Machine::bare(&cluster, "folder", 4);
    machine.start_driver_in("elsewhere");
    machine.wait_published();
    serve(&cluster, "folder");
    let plugin = driver_pod(&cluster, "folder", "");
    set_status(&cluster, &plugin, true, &json!({"running": {}}));
    let storage = pod("csi-node").in_namespace("kube-system").on_node("folder").with(json!({
        "metadata": {"annotations": {"kubelet.test/driven-by-test": "yes"}},
        "spec": {"volumes": [{"name": "registry", "hostPath": {"path": "/var/lib/k0s/kubelet/plugins_registry"}}]}}));
    cluster.create(&storage);
    cluster.patch_status(
        "pod/kube-system/csi-node",
        &json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}),
    );
    cluster.create(&on("folder", "folder"));
    let report = waits_for(&machine, &cluster, "folder", cause, 0, &[]);
    assert!(
        message(&report).contains("looks for plugins in /var/lib/k0s/kubelet/plugins_registry"),
        "{report:#}"
    );
    machine.stop_driver();
    machine.start_driver();
    runs(&machine, &cluster, "folder");
}
