//! What is said of pods on their nodes, beside the DRA manager and the plugin manager of the real kubelet and drivers made of the real
//! helper: the cause that is named is the one that was made, no other is named on the way, and what it advises lets the pod go on.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};

use crate::support::cluster::machine::{DRIVER, Machine};
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, gpu_class, pod, pod_group, template,
};
use crate::support::cluster::{Cluster, Options};
use crate::support::process::Screen;
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

/// The DaemonSet that stands for the driver's; nodes with the label `example.com/driver` get its pods.
const SET: &str = "example-gpu-kubelet-plugin";

fn begin(options: &Options) -> Cluster {
    let cluster = Cluster::start(options);
    cluster.create_all(&[gpu_class(), template("one", claim_spec([gpu()]))]);
    cluster
}

/// A pod that wants a device of the node, and ends within a second.
fn on(node: &str, name: &str) -> Value {
    plain(node, name).template_claim("gpu", "one")
}

fn plain(node: &str, name: &str) -> Value {
    pod(name).with(
        json!({"spec": {"terminationGracePeriodSeconds": 1, "nodeSelector": {"example.com/machine": node},
        "tolerations": [{"key": "example.com/gpu", "operator": "Exists"}]}}),
    )
}

/// What the kubelet says while a driver stops: its socket is gone, and the kubelet has not noticed yet.
const CLOSING: &[&str] = &["DriverFails"];

/// What `explain` tells of a pod, seconds from now.
fn explained(cluster: &Cluster, name: &str, later: i64) -> Value {
    let target = format!("pod/{name}");
    let now = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() + later).expect("a time");
    let now = now.to_string();
    let mut arguments = vec!["explain", &target, "-o", "json"];
    if later > 0 {
        arguments.extend(["--now", &now]);
    }
    let run = cluster.kubectl_dra(arguments).run();
    let report = assert_valid(&run.stdout);
    let expected = match report["verdict"].as_str() {
        Some("Bound" | "Fits" | "Allocated" | "Ended") => 0,
        Some("Unknown" | "GaveUp") => 4,
        _ => 1,
    };
    assert_eq!(run.code, Some(expected), "{report:#}");
    report
}

/// Waits until that cause is named of the pod; none but `before` may be named on the way.
#[track_caller]
fn waits_for(
    machine: &Machine<'_>,
    cluster: &Cluster,
    name: &str,
    cause: &str,
    later: i64,
    before: &[&str],
) -> Value {
    let mut last = Value::Null;
    let found = crate::support::wait::try_wait(|| {
        last = explained(cluster, name, later);
        let told = last["stage"]["stuck"]["cause"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if told == cause {
            return Ok(last.clone());
        }
        assert!(
            told.is_empty() || before.contains(&told.as_str()),
            "{told} instead of {cause}: {last:#}\n{}",
            machine.logs()
        );
        Err(())
    });
    found.unwrap_or_else(|()| panic!("no {cause}: {last:#}\n{}", machine.logs()))
}

/// Waits until the pod runs, and nothing is said against it.
#[track_caller]
fn runs(machine: &Machine<'_>, cluster: &Cluster, name: &str) {
    wait_for(&format!("{name} runs\n{}", machine.logs()), || {
        (cluster.get(&format!("pod/{name}"))["status"]["phase"] == "Running").then_some(())
    });
    // A kubelet that starts deletes slices, which drivers then publish again.
    let report = wait_for(&format!("nothing is said against {name}"), || {
        let report = explained(cluster, name, 0);
        report["stage"]["stuck"].is_null().then_some(report)
    });
    assert_eq!(report["stage"]["stage"], "Running", "{report:#}");
    assert_eq!(report["verdict"], "Bound", "{report:#}");
    assert_eq!(
        report["stage"]["devices"].as_array().map(Vec::len),
        Some(1),
        "{report:#}"
    );
}

/// Waits until the pod is gone.
#[track_caller]
fn ends(machine: &Machine<'_>, cluster: &Cluster, name: &str) {
    wait_for(&format!("{name} ends\n{}", machine.logs()), || {
        cluster.find(&format!("pod/{name}")).is_none().then_some(())
    });
}

/// The codes that `check` finds of a pod.
fn codes(cluster: &Cluster, name: &str) -> Vec<String> {
    let run = cluster.kubectl_dra(["check", "-o", "json"]).run();
    let report = assert_valid(&run.stdout);
    let items = report["items"].as_array().expect("items").iter();
    items
        .filter(|item| item["object"]["kind"] == "Pod" && item["object"]["name"] == name)
        .map(|item| item["code"].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn owner(report: &Value) -> &str {
    report["stage"]["stuck"]["owner"].as_str().unwrap_or_default()
}

fn message(report: &Value) -> &str {
    report["stage"]["stuck"]["message"].as_str().unwrap_or_default()
}

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

/// Runs a command as it was printed; pods that stand for a driver's have no kubelet that ends them.
#[track_caller]
fn obey(cluster: &Cluster, report: &Value) {
    let command = report["stage"]["stuck"]["command"].as_str();
    let command = command.unwrap_or_else(|| panic!("no command: {report:#}"));
    let shell = cluster.shell(command);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| shell.run().exits(0));
        wait_for(command, || {
            for pod in cluster.list("pod/kube-system") {
                if pod["metadata"]["deletionTimestamp"].is_string() {
                    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
                    cluster.delete_now(&format!("pod/kube-system/{name}"));
                }
            }
            running.is_finished().then_some(())
        });
    });
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
        message(&report).ends_with("no pod on stopped seems to be the driver's"),
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
        message(&report).contains("its nodeSelector asks for example.com/driver=yes, which the node lacks"),
        "{report:#}"
    );
    serve(&cluster, "tainted");
    let report = waits_for(&machine, &cluster, "tainted", cause, 0, &[]);
    assert_eq!(owner(&report), "Administrator", "{report:#}");
    assert!(
        message(&report).contains("does not tolerate the taint example.com/gpu=yes:NoSchedule"),
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
        message(&report).contains("crashes (container plugin: CrashLoopBackOff)"),
        "{report:#}"
    );
    // Its pod is started, and not ready.
    set_status(&cluster, &plugin, false, &json!({"running": {}}));
    let report = waits_for(&machine, &cluster, "crashing", cause, 0, &[]);
    assert!(message(&report).ends_with("is not ready"), "{report:#}");
    // Its pod is ready, and the kubelet does not know it.
    set_status(&cluster, &plugin, true, &json!({"running": {}}));
    let report = waits_for(&machine, &cluster, "crashing", cause, 0, &[]);
    assert!(
        message(&report).contains("but the kubelet does not know it"),
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
            .contains("but the kubelet, which was started at")
            .then_some(report)
    });
    obey(&cluster, &report);
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

#[test]
fn a_pod_does_not_start_as_something_refuses_its_claim() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 16);

    // The driver fails once, twice, for ever, and is slow.
    for times in [1, 2] {
        let name = format!("fails-{times}");
        machine.write("fail-prepare", &format!("times: {times}\nthe device is busy"));
        cluster.create(&on("node", &name));
        runs(&machine, &cluster, &name);
    }
    // Whatever the driver's words are, they are the driver's.
    let words = "DRA driver gpu.example.com is not registered \u{1b}[31m\nle pilote refuse";
    machine.write("fail-prepare", words);
    cluster.create(&on("node", "refused"));
    let report = waits_for(&machine, &cluster, "refused", "PrepareRefused", 0, &[]);
    assert_eq!(owner(&report), "Driver");
    assert!(message(&report).contains("le pilote refuse"), "{report:#}");
    assert_eq!(codes(&cluster, "refused"), ["DRA081"]);
    let run = cluster
        .kubectl_dra(["explain", "pod/refused"])
        .run_on_screen(80, Screen::Stdout);
    assert!(run.stdout.contains("the driver refuses"), "{:?}", run.stdout);
    assert!(!run.stdout.contains("registered \u{1b}"), "{:?}", run.stdout);
    machine.remove("fail-prepare");
    runs(&machine, &cluster, "refused");
    machine.write("slow-prepare", "4");
    cluster.create(&on("node", "slow"));
    cluster.wait("pod/slow", "it has its node", |pod| {
        pod["spec"]["nodeName"].is_string()
    });
    let report = explained(&cluster, "slow", 0);
    assert!(report["stage"]["stuck"].is_null(), "{report:#}");
    runs(&machine, &cluster, "slow");
    machine.remove("slow-prepare");

    // Objects that are not as the kubelet needs them: the scheduler was passed by.
    let forced = |name: &str| {
        pod(name)
            .on_node("node")
            .with(json!({"spec": {"terminationGracePeriodSeconds": 1}}))
    };
    cluster.create(&claim("unallocated", claim_spec([gpu()])));
    cluster.create(&forced("unallocated").named_claim("gpu", "unallocated"));
    waits_for(&machine, &cluster, "unallocated", "NotAllocated", 0, &[]);
    cluster.delete_now("pod/unallocated");
    cluster.create(&plain("node", "unallocated").named_claim("gpu", "unallocated"));
    runs(&machine, &cluster, "unallocated");
    cluster.create(&forced("missing").named_claim("gpu", "missing"));
    waits_for(&machine, &cluster, "missing", "ClaimMissing", 0, &[]);
    cluster.create(&claim("missing", claim_spec([gpu()])));
    cluster.delete_now("pod/missing");
    cluster.create(&plain("node", "missing").named_claim("gpu", "missing"));
    runs(&machine, &cluster, "missing");
    cluster.create(&forced("template").template_claim("gpu", "nowhere"));
    waits_for(&machine, &cluster, "template", "TemplateMissing", 0, &[]);
    cluster.create(&template("nowhere", claim_spec([gpu()])));
    cluster.delete_now("pod/template");
    cluster.create(&plain("node", "template").template_claim("gpu", "nowhere"));
    runs(&machine, &cluster, "template");

    // An earlier claim of the same name, whose pod was deleted by force.
    cluster.create(&claim("again", claim_spec([gpu()])));
    cluster.create(&plain("node", "earlier").named_claim("gpu", "again"));
    runs(&machine, &cluster, "earlier");
    cluster.delete_now("pod/earlier");
    cluster.delete("claim/again");
    cluster.wait_gone("claim/again");
    cluster.create(&claim("again", claim_spec([gpu()])));
    cluster.create(&plain("node", "later").named_claim("gpu", "again"));
    let report = waits_for(&machine, &cluster, "later", "EarlierClaim", 0, &[]);
    assert_eq!(owner(&report), "Kubelet");
    assert_eq!(codes(&cluster, "later"), ["DRA082"]);
    // As advised, nothing is done: the kubelet goes on by itself.
    runs(&machine, &cluster, "later");
    machine.stop_driver();
}

#[test]
fn a_pod_that_runs_keeps_its_devices_or_is_told_what_became_of_them() {
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
    machine.stop_kubelet();
    machine.lose_checkpoint();
    machine.start_kubelet();
    // It deletes the slices of drivers that it does not know yet, and the driver publishes them again.
    machine.stop_driver();
    machine.start_driver();
    machine.wait_published();
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
    assert!(message(&told).contains("was started anew at"), "{told:#}");
    assert_eq!(codes(&cluster, "e"), ["DRA083"]);
    obey(&cluster, &told);
    ends(&machine, &cluster, "e");
    cluster.create(&on("node", "e"));
    runs(&machine, &cluster, "e");

    // The kubelet loses its checkpoint meanwhile, and does not prepare again what has its sandbox.
    machine.stop_kubelet();
    machine.lose_checkpoint();
    machine.start_kubelet();
    machine.stop_driver();
    machine.start_driver();
    machine.wait_published();
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

#[test]
fn a_pod_that_does_not_end_is_told_whom_it_waits_for() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 8);
    for name in ["failing", "gone", "easy"] {
        cluster.create(&on("node", name));
    }
    for name in ["failing", "gone", "easy"] {
        runs(&machine, &cluster, name);
    }
    let served = codes_of_driver(&cluster, "DRA063");
    assert_eq!(served, [""; 0]);

    cluster.delete("pod/easy");
    ends(&machine, &cluster, "easy");

    machine.write("fail-unprepare", "the device does not answer");
    cluster.delete("pod/failing");
    let report = waits_for(&machine, &cluster, "failing", "UnprepareFails", 600, &[]);
    assert_eq!(owner(&report), "Driver");
    assert_eq!(report["stage"]["stage"], "Unpreparing");
    // It needs the driver now; the other one runs and does not.
    assert_eq!(codes_of_driver(&cluster, "DRA063"), ["failing"]);
    machine.remove("fail-unprepare");
    ends(&machine, &cluster, "failing");

    machine.stop_driver();
    cluster.delete("pod/gone");
    // The slices go half a minute after the driver.
    let report = waits_for(
        &machine,
        &cluster,
        "gone",
        "DriverNotRegistered",
        600,
        &["UnprepareFails"],
    );
    assert_eq!(owner(&report), "Driver");
    machine.start_driver();
    ends(&machine, &cluster, "gone");
}

/// A pod whose containers end by themselves is not told to have ended before its devices are given back, as a Job notices.
#[test]
fn a_pod_that_completes_waits_for_its_driver() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 4);
    let end = |name: &str| {
        cluster.patch(
            &format!("pod/{name}"),
            &json!({"metadata": {"annotations": {"kubelet.test/ends": "yes"}}}),
        );
    };
    let succeeds = |machine: &Machine<'_>, name: &str| {
        wait_for(&format!("{name} succeeds\n{}", machine.logs()), || {
            (cluster.get(&format!("pod/{name}"))["status"]["phase"] == "Succeeded").then_some(())
        });
    };
    for name in ["easy", "failing", "gone"] {
        cluster.create(&on("node", name).with(json!({"spec": {"restartPolicy": "Never"}})));
        runs(&machine, &cluster, name);
    }
    end("easy");
    succeeds(&machine, "easy");
    let report = explained(&cluster, "easy", 600);
    assert!(report["stage"]["stuck"].is_null(), "{report:#}");

    machine.write("fail-unprepare", "the device does not answer");
    end("failing");
    let report = waits_for(&machine, &cluster, "failing", "UnprepareFails", 600, &[]);
    assert_eq!(report["stage"]["stage"], "Unpreparing");
    assert_eq!(codes_of_driver(&cluster, "DRA063"), ["failing"]);
    machine.remove("fail-unprepare");
    succeeds(&machine, "failing");

    machine.stop_driver();
    end("gone");
    // The slices go half a minute after the driver.
    let report = waits_for(
        &machine,
        &cluster,
        "gone",
        "DriverNotRegistered",
        600,
        &["UnprepareFails"],
    );
    assert_eq!(report["stage"]["stage"], "Unpreparing");
    machine.start_driver();
    succeeds(&machine, "gone");

    // The kubelet is not there: nothing is expected of it, whatever there is of drivers.
    machine.stop_kubelet();
    cluster.create(&on("node", "silent"));
    cluster.wait("pod/silent", "it has its node", |pod| {
        pod["spec"]["nodeName"].is_string()
    });
    let heard = |ready: &str| {
        let now = crate::support::cluster::kubelet::now();
        let condition = json!({"type": "Ready", "status": ready, "reason": "Test", "message": "", "lastTransitionTime": now});
        cluster.patch_status("node/node", &json!({"status": {"conditions": [condition]}}));
    };
    heard("Unknown");
    let report = waits_for(&machine, &cluster, "silent", "NodeSilent", 0, &[]);
    assert_eq!(owner(&report), "Administrator");
    heard("True");
    machine.start_kubelet();
    runs(&machine, &cluster, "silent");
}

/// A device is given out again while the kubelet still has it prepared for a pod that was deleted by force.
#[test]
fn a_pod_waits_for_the_device_of_one_that_was_deleted_by_force() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 1);
    machine.write("exclusive", "");
    cluster.create(&on("node", "first"));
    runs(&machine, &cluster, "first");
    let claim = cluster.claim_of("pod/first", "gpu");
    cluster.delete_now("pod/first");
    cluster.wait_gone(&claim);
    cluster.create(&on("node", "second"));
    let report = waits_for(&machine, &cluster, "second", "PreparedForDeletedClaim", 0, &[]);
    assert_eq!(owner(&report), "Kubelet");
    assert_eq!(codes(&cluster, "second"), ["DRA082"]);
    let described = cluster
        .kubectl_dra(["describe", "device/gpu-0", "-o", "json"])
        .run();
    let device = assert_valid(&described.stdout);
    assert_eq!(
        device["pods"][0]["stuck"]["cause"], "PreparedForDeletedClaim",
        "{device:#}"
    );
    // As advised, nothing is done: the kubelet goes on by itself.
    runs(&machine, &cluster, "second");

    // A driver that does not answer in time is told apart from one that refuses.
    machine.publish(2);
    machine.write("slow-prepare", "3600");
    cluster.create(&on("node", "third"));
    let report = waits_for(&machine, &cluster, "third", "DriverFails", 0, &[]);
    assert_eq!(owner(&report), "Driver");
    assert_eq!(codes(&cluster, "third"), ["DRA081"]);
    machine.remove("slow-prepare");
    machine.stop_driver();
    machine.start_driver();
    runs(&machine, &cluster, "third");
}

/// The pods that `check --driver` names under a code.
fn codes_of_driver(cluster: &Cluster, code: &str) -> Vec<String> {
    let run = cluster
        .kubectl_dra(["check", "--driver", DRIVER, "--only", code, "-o", "json"])
        .run();
    let report = assert_valid(&run.stdout);
    let items = report["items"].as_array().expect("items").iter();
    let mut names: Vec<String> = items
        .map(|item| item["object"]["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names
}

/// Which pods hang without the driver is foretold: those that wait for it now, and at their end all that hold its devices.
#[test]
fn check_foretells_which_pods_hang_without_the_driver() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 8);
    for name in ["a", "b"] {
        cluster.create(&on("node", name));
        runs(&machine, &cluster, name);
    }
    machine.write("fail-prepare", "not now");
    cluster.create(&on("node", "c"));
    waits_for(&machine, &cluster, "c", "PrepareRefused", 0, &[]);
    cluster.create(&pod("without"));
    assert_eq!(codes_of_driver(&cluster, "DRA063"), ["c"]);
    let claims = codes_of_driver(&cluster, "DRA060");
    let holders: BTreeSet<String> = ["a", "b", "c"]
        .into_iter()
        .filter(|name| {
            let claim = cluster.claim_of(&format!("pod/{name}"), "gpu");
            claims.contains(&claim.rsplit('/').next().unwrap_or_default().to_owned())
        })
        .map(str::to_owned)
        .collect();

    // Stop: those that run go on, the one that waits goes on waiting.
    machine.stop_driver();
    machine.remove("fail-prepare");
    waits_for(
        &machine,
        &cluster,
        "c",
        "DriverNotRegistered",
        0,
        &["PrepareRefused", CLOSING[0]],
    );
    for name in ["a", "b"] {
        assert_eq!(cluster.get(&format!("pod/{name}"))["status"]["phase"], "Running");
    }
    // Upgrade: another comes, and the one that waited starts.
    machine.start_driver();
    runs(&machine, &cluster, "c");
    assert_eq!(codes_of_driver(&cluster, "DRA063"), [""; 0]);

    // Uninstall: of all pods that end, those with devices hang.
    machine.stop_driver();
    for name in ["a", "b", "c", "without"] {
        cluster.delete(&format!("pod/{name}"));
    }
    cluster.delete_now("pod/without");
    for name in ["a", "b", "c"] {
        waits_for(
            &machine,
            &cluster,
            name,
            "DriverNotRegistered",
            600,
            &["UnprepareFails"],
        );
    }
    let hang: BTreeSet<String> = cluster
        .list("pod")
        .iter()
        .filter(|pod| pod["metadata"]["namespace"] == "default")
        .filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(hang, holders);
    machine.start_driver();
    for name in ["a", "b", "c"] {
        ends(&machine, &cluster, name);
    }
}

/// The kubelet of the test has its gates at their defaults, and so does not know claims of PodGroups.
#[test]
fn a_kubelet_without_a_feature_is_told() {
    let options = Options::default()
        .gate("GenericWorkload", true)
        .gate("DRAWorkloadResourceClaims", true);
    let cluster = begin(&options);
    let machine = Machine::start(&cluster, "node", 4);
    let entry = json!({"name": "gpu", "resourceClaimTemplateName": "one"});
    cluster.create(&pod_group("group", [entry]));
    cluster.create(&on("node", "member").in_group("group"));
    let report = waits_for(&machine, &cluster, "member", "KubeletTooOld", 0, &[]);
    assert_eq!(owner(&report), "Administrator");
    assert!(
        message(&report).contains("DRAWorkloadResourceClaims"),
        "{report:#}"
    );
}

#[test]
fn a_pod_waits_for_its_device_to_be_attached() {
    let options = Options::default();
    let cluster = begin(&options);
    let machine = Machine::start(&cluster, "node", 4);
    let devices = json!({"Pools": {"node": {"Slices": [{"Devices": [{"name": "gpu-0", "bindsToNode": true,
        "bindingConditions": ["example.com/attached"], "bindingFailureConditions": ["example.com/failed"]}]}]}}});
    machine.write("resources.json", &devices.to_string());
    wait_for("the device is published anew", || {
        let slices = cluster.list("slice");
        slices
            .iter()
            .any(|slice| slice["spec"]["devices"][0]["bindsToNode"] == true)
            .then_some(())
    });
    cluster.create(&on("node", "p"));
    let described = |code: &str| {
        wait_for(&format!("{code} is told"), || {
            let run = cluster.kubectl_dra(["describe", "pod/p", "-o", "json"]).run();
            let report = assert_valid(&run.stdout);
            (report["stage"]["stuck"]["cause"] == code).then_some(report)
        })
    };
    described("BindingPending");
    // The scheduler waits for ten minutes.
    let later = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() + 700).expect("a time");
    let run = cluster
        .kubectl_dra(["describe", "pod/p", "-o", "json", "--now", &later.to_string()])
        .run();
    let report = assert_valid(&run.stdout);
    assert_eq!(report["stage"]["stuck"]["cause"], "BindingTimedOut", "{report:#}");
    cluster.attach_devices();
    runs(&machine, &cluster, "p");
}
