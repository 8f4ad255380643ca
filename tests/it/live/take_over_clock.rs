//! A take-over while the clock of the API server is set: pods that wait for their eviction wait neither longer nor shorter.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::take_over::{cluster, end, started, worker};
use crate::support::cluster::Cluster;
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, pod, taint, taint_rule};
use crate::support::wait::wait_for;

/// Time that pods tolerate the taint from before the clock change. It has to be noticed within that time.
const BEFORE: i64 = 40;

/// Time that pods tolerate the taint after it.
const AFTER: i64 = 15;

/// A pod that uses the GPU of this number on the first node, and tolerates the taint for so many seconds.
fn tolerating(cluster: &Cluster, name: &str, device: usize, seconds: i64) {
    let tolerations = json!([{"key": "example.com/broken", "operator": "Exists", "effect": "NoExecute",
        "tolerationSeconds": seconds}]);
    let request = gpu().exactly(json!({"tolerations": tolerations}));
    cluster.create(&claim(name, claim_spec([request])));
    let made = cluster.create(&pod(name).named_claim("gpu", name).on_node("gpu-node-1"));
    let result = json!({"request": "gpu", "driver": "gpu.example.com", "pool": "gpu-node-1",
        "device": format!("gpu-{device}"), "tolerations": tolerations});
    let consumer = json!({"resource": "pods", "name": name, "uid": made["metadata"]["uid"]});
    let status = json!({"allocation": {"devices": {"results": [result]}}, "reservedFor": [consumer]});
    cluster.patch_status(&format!("claim/default/{name}"), &json!({"status": status}));
}

/// A rule that taints the GPU of this number, as from `added`, or from now.
fn taint_device(cluster: &Cluster, name: &str, device: usize, added: Option<Timestamp>) -> Timestamp {
    let mut taint = taint("example.com/broken", "", "NoExecute");
    if let Some(added) = added {
        taint["timeAdded"] = json!(added.to_string());
    }
    let selector = json!({"pool": "gpu-node-1", "device": format!("gpu-{device}")});
    time(&cluster.create(&taint_rule(name, selector, taint))["spec"]["taint"]["timeAdded"])
}

fn time(value: &Value) -> Timestamp {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is a time"));
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Waits until the pod is being deleted, and says since when by the API server's real clock.
fn deleted(cluster: &Cluster, name: &str) -> Timestamp {
    let pod = cluster.wait(&format!("pod/default/{name}"), "is being deleted", |pod| {
        pod["metadata"]["deletionTimestamp"].is_string()
    });
    let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_i64();
    let grace = SignedDuration::from_secs(grace.unwrap_or_default());
    time(&pod["metadata"]["deletionTimestamp"]) - grace
}

/// Sets the clock that the API server tells by so many seconds, while pods wait.
fn evicts_in_time_though_the_clock_is_set_by(jump: i64) {
    let seconds = SignedDuration::from_secs;
    // Of what the server tells, whole seconds; half of one is added to that.
    let exact = seconds(2);
    let cluster = cluster(false);
    cluster.add_gpu_nodes(1);
    for (name, device, tolerated) in [
        ("waits", 0, BEFORE),
        ("stays", 1, 3 * 3600),
        ("comes", 2, AFTER),
        ("goes", 3, 0),
    ] {
        tolerating(&cluster, name, device, tolerated);
    }
    let user = worker(&cluster);
    let ahead = Arc::new(AtomicI64::new(0));
    let told = Arc::clone(&ahead);
    let by = user.faulty(move |_, _| Fault::Dated(told.load(Ordering::SeqCst)));
    let args = ["--controllers", "device-taint-eviction", "--log-format", "json"];
    let process = started(&user, Some(&by), &args, "running");
    let added = taint_device(&cluster, "before", 0, None);
    taint_device(&cluster, "stays", 1, None);
    for rule in ["rule/before", "rule/stays"] {
        cluster.wait(rule, "is known", |rule| rule["status"]["conditions"].is_array());
    }
    ahead.store(jump, Ordering::SeqCst);
    let asked = by.asked().len();
    // The lease is renewed every two seconds.
    wait_for("the time is told", || {
        (by.asked().len() > asked + 10).then_some(())
    });
    // What waits is looked at again.
    cluster.update("slice/gpu-node-1-gpu.example.com", |slice| {
        slice["spec"]["devices"][7]["attributes"]["index"]["int"] = json!(70);
    });
    for name in ["waits", "stays"] {
        let label = json!({"metadata": {"labels": {"looked": "at"}}});
        cluster.patch(&format!("pod/default/{name}"), &label);
    }
    // These taints come with the new time.
    let now = Timestamp::now();
    let comes = taint_device(&cluster, "comes", 2, Some(now + seconds(jump))) - seconds(jump);
    taint_device(&cluster, "goes", 3, Some(now + seconds(jump)));

    let gone = deleted(&cluster, "goes");
    assert!(gone.duration_since(comes) < seconds(AFTER), "{gone} {comes}");
    let gone = deleted(&cluster, "comes");
    assert!(gone + exact >= comes + seconds(AFTER), "{gone} {comes}");
    let gone = deleted(&cluster, "waits");
    assert!(
        gone + exact >= added + seconds(BEFORE),
        "{gone} {added}\n{}",
        process.stderr()
    );
    // Whatever is written has the API server's time, and no status waits for that to come.
    let told = wait_for("its deletion is told", || {
        let mut events = cluster.list("event").into_iter();
        events.find(|event| event["involvedObject"]["name"] == "waits")
    });
    let told = time(&told["lastTimestamp"]);
    let off = (told - seconds(jump)).duration_since(gone).abs();
    assert!(off < seconds(600), "{told} {gone}");
    cluster.wait("rule/before", "tells of the eviction", |rule| {
        rule["status"]["conditions"][0]["reason"] == "Completed"
    });
    let stays = cluster.get("pod/default/stays");
    assert!(stays["metadata"]["deletionTimestamp"].is_null(), "{stays:#}");
    let run = end(process).exits(0);
    let told = if jump > 0 { "forward" } else { "back" };
    assert!(
        run.stderr
            .contains(&format!("the API server's clock was set {told}")),
        "{}",
        run.stderr
    );
}

#[test]
fn pods_go_in_time_though_the_clock_of_the_api_server_is_set_forward() {
    evicts_in_time_though_the_clock_is_set_by(3600);
}

#[test]
fn pods_go_in_time_though_the_clock_of_the_api_server_is_set_back() {
    evicts_in_time_though_the_clock_is_set_by(-3600);
}
