//! Answers about pods on their nodes, with the DRA manager and the plugin manager of the real kubelet and drivers made of the real
//! helper: the cause that is named is the one that was made, no other is named on the way, and what it advises lets the pod go on.

mod binding;
mod claims;
mod driver;
mod ending;
mod healthy;
mod registered;
mod running;

use serde_json::{Value, json};

use crate::support::cluster::machine::{DRIVER, Host};
use crate::support::cluster::objects::{Manifest, claim_spec, gpu, gpu_class, pod, template};
use crate::support::cluster::{Cluster, Options};
use crate::support::process::Run;
use crate::support::schema::assert_valid;
use crate::support::wait::{try_wait, wait_for};

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

/// Kubelet messages while a driver stops: its socket is gone, and the kubelet has not noticed yet.
pub(super) const CLOSING: &[&str] = &["DriverFails", "DriverDown"];

/// Runs the program, seconds from now.
pub(super) fn run(cluster: &Cluster, arguments: &[&str], later: i64) -> Run {
    let run = cluster.kubectl_dra(arguments).args(["-o", "json"]);
    let now = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() + later).expect("a time");
    if later > 0 {
        return run.args(["--now", &now.to_string()]).run();
    }
    run.run()
}

/// Returns what `explain` tells of a pod, seconds from now.
pub(super) fn explained(cluster: &Cluster, name: &str, later: i64) -> Value {
    let run = run(cluster, &["explain", &format!("pod/{name}")], later);
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
pub(super) fn waits_for(
    host: &impl Host,
    cluster: &Cluster,
    name: &str,
    cause: &str,
    later: i64,
    before: &[&str],
) -> Value {
    let mut last = Value::Null;
    let found = try_wait(|| {
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
            host.logs()
        );
        Err(())
    });
    found.unwrap_or_else(|()| panic!("no {cause}: {last:#}\n{}", host.logs()))
}

/// Waits until the pod runs, and nothing is said against it.
#[track_caller]
pub(super) fn runs(host: &impl Host, cluster: &Cluster, name: &str) {
    host.wait_for(&format!("{name} runs"), || {
        (cluster.get(&format!("pod/{name}"))["status"]["phase"] == "Running").then_some(())
    });
    // A kubelet that starts deletes slices, which drivers then publish again.
    let report = try_wait(|| {
        let report = explained(cluster, name, 0);
        let is_stuck = !report["stage"]["stuck"].is_null();
        if is_stuck { Err(report) } else { Ok(report) }
    });
    let report = report.unwrap_or_else(|report| panic!("{name} is stuck: {report:#}\n{}", host.logs()));
    assert_eq!(report["stage"]["stage"], "Running", "{report:#}");
    assert_eq!(report["verdict"], "Bound", "{report:#}");
    let claims = cluster.get(&format!("pod/{name}"))["spec"]["resourceClaims"].clone();
    assert_eq!(
        report["stage"]["devices"].as_array().map(Vec::len),
        claims.as_array().map(Vec::len),
        "one device for each claim: {report:#}"
    );
}

/// Waits until the pod is gone.
#[track_caller]
pub(super) fn ends(host: &impl Host, cluster: &Cluster, name: &str) {
    host.wait_for(&format!("{name} ends"), || {
        cluster.find(&format!("pod/{name}")).is_none().then_some(())
    });
}

/// The codes that `check` finds of an object, seconds from now.
pub(super) fn codes_of(cluster: &Cluster, kind: &str, name: &str, later: i64) -> Vec<String> {
    let run = run(cluster, &["check"], later);
    let report = assert_valid(&run.stdout);
    let items = report["items"].as_array().expect("items").iter();
    items
        .filter(|item| item["object"]["kind"] == kind && item["object"]["name"] == name)
        .map(|item| item["code"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// The codes that `check` finds of a pod.
pub(super) fn codes(cluster: &Cluster, name: &str) -> Vec<String> {
    codes_of(cluster, "Pod", name, 0)
}

/// The cause is told by the descriptions of the pod, of its claim, of its device and of its node, and counted by `status`.
#[track_caller]
fn is_told_everywhere(host: &impl Host, cluster: &Cluster, name: &str, cause: &str, later: i64) {
    let claim = cluster.claim_of(&format!("pod/{name}"), "gpu");
    let claim = format!("claim/{}", claim.rsplit('/').next().unwrap_or_default());
    is_told_by(cluster, &format!("pod/{name}"), cause, later);
    is_told_by(cluster, &claim, cause, later);
    is_told_of_all(host, cluster, name, cause, later);
}

/// The same without what reads the pods of one namespace only, among which the driver's is not.
#[track_caller]
fn is_told_of_all(host: &impl Host, cluster: &Cluster, name: &str, cause: &str, later: i64) {
    let device = cluster.devices_of(&cluster.claim_of(&format!("pod/{name}"), "gpu"))[0].clone();
    is_told_by(cluster, &format!("device/{device}"), cause, later);
    is_told_by(cluster, &format!("node/{}", host.name()), cause, later);
    // A pod that runs with a sick device is not stuck.
    if cause == "DeviceUnhealthy" {
        return;
    }
    let report = assert_valid(&run(cluster, &["status"], later).stdout);
    let counts = report["podStages"].as_array().expect("stages");
    assert!(
        counts.iter().any(|count| count["stuck"].as_u64() > Some(0)),
        "{report:#}"
    );
}

#[track_caller]
fn is_told_by(cluster: &Cluster, object: &str, cause: &str, later: i64) {
    let report = assert_valid(&run(cluster, &["describe", object], later).stdout);
    let stages = match report["pods"].as_array() {
        Some(pods) => pods.iter().collect(),
        None => vec![&report["stage"]],
    };
    assert!(
        stages.iter().any(|stage| stage["stuck"]["cause"] == cause),
        "{object}: {report:#}"
    );
}

pub(super) fn owner(report: &Value) -> &str {
    report["stage"]["stuck"]["owner"].as_str().unwrap_or_default()
}

pub(super) fn message(report: &Value) -> &str {
    report["stage"]["stuck"]["message"].as_str().unwrap_or_default()
}

/// Runs a command as it was printed; pods that stand for a driver's have no kubelet that ends them. A pod that no controller recreates is
/// deleted, as its owner is advised to.
#[track_caller]
pub(super) fn obey(cluster: &Cluster, report: &Value) {
    let stuck = &report["stage"]["stuck"];
    let note = stuck["note"].as_str().unwrap_or_default();
    let owners = || {
        assert!(
            note.contains("delete it, and apply its original manifest"),
            "no command: {report:#}"
        );
        let name = report["target"]["name"].as_str().expect("a name");
        format!("kubectl delete pod/{name}")
    };
    let command = stuck["command"].as_str().map_or_else(owners, str::to_owned);
    let command = command.as_str();
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
