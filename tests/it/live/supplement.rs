//! `run --supplement` beside the real controllers: it writes what they do not do or have left undone, and nothing else.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::take_over::{is_write, shipped};
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, gpu_class, namespace, pod, taint, taint_rule, template,
};
use crate::support::cluster::{Cluster, Component, Options, User};
use crate::support::process::{Process, Run};
use crate::support::wait::wait_for;

const BOTH: &str = "--supplement=extended-resource-eviction,overdue-release";

/// A user who has the rights that are shipped for the mode.
fn worker(cluster: &Cluster) -> User {
    cluster.create(&namespace("kubectl-dra"));
    let user = cluster
        .user("worker")
        .allowed(&shipped("supplement", "ClusterRole"));
    user.allowed_in("kubectl-dra", &shipped("supplement", "Role"))
}

/// The supplement at work.
fn at_work(user: &User, more: &[&str]) -> Process {
    let lease = ["--lease", "kubectl-dra/supplement"];
    let lease = if more.contains(&"--dry-run") {
        &[][..]
    } else {
        &lease[..]
    };
    let process = user
        .kubectl_dra(["run", "--overdue", "10s"])
        .args(more)
        .args(lease)
        .start();
    wait_for("it has begun", || {
        process.stderr().contains(" for ").then_some(())
    });
    process
}

fn end(process: Process) -> Run {
    process.signal(Signal::INT);
    process.finish().exits(0)
}

/// Returns what the supplement has written, with the names of events made alike.
fn written(cluster: &Cluster) -> Vec<String> {
    let asked = cluster.requests_of("worker").into_iter();
    let forbidden = |request: &String| request.ends_with(" 403") && request != "get /metrics 403";
    let (forbidden, allowed): (Vec<String>, Vec<String>) = asked.partition(forbidden);
    assert_eq!(forbidden, [""; 0]);
    let writes = allowed.into_iter().filter(|request| is_write(request));
    writes
        .map(|request| {
            let (path, _) = request.split_once('?').expect("every write has a timeout");
            path.replace("/api/v1/namespaces/default/", "")
                .replace("/apis/resource.k8s.io/v1/namespaces/default/", "")
        })
        .collect()
}

/// Pods with an extended resource on two nodes, a pod with a claim and one that ends, and a taint on the first node's devices.
fn with_tainted_devices(cluster: &Cluster) {
    cluster.add_gpu_nodes(3);
    let on = |name: &str, node: u32| {
        let hostname = format!("gpu-node-{node}");
        pod(name).with(json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": hostname}}}))
    };
    cluster.run(&[
        gpu_class().with(json!({"metadata": {"name": "extended"},
            "spec": {"extendedResourceName": "example.com/gpu"}})),
        template("one", claim_spec([gpu()])),
        on("extended", 1).requesting("example.com/gpu", 1),
        on("healthy", 2).requesting("example.com/gpu", 1),
        on("plain", 1).template_claim("gpu", "one"),
        on("ends", 2).template_claim("gpu", "one"),
    ]);
}

fn taint_devices(cluster: &Cluster) {
    cluster.create(&taint_rule(
        "broken",
        json!({"pool": "gpu-node-1"}),
        taint("example.com/broken", "", "NoExecute"),
    ));
    cluster.set_phase("pod/default/ends", Phase::Succeeded);
}

fn wait_until_leaving(cluster: &Cluster, pod: &str) {
    cluster.wait(&format!("pod/default/{pod}"), "is being deleted", |pod| {
        pod["metadata"]["deletionTimestamp"].is_string()
    });
}

/// A controller of taints as in 1.37.1 leaves the pods of extended resources alone. Here none runs, so that the pod with a claim stays.
#[test]
fn pods_with_extended_resources_are_evicted_and_nothing_else_is_written() {
    let off = "--controllers=*,-device-taint-eviction-controller";
    let options = Options::default().arg(Component::ControllerManager, off);
    let cluster = Cluster::start(&options);
    with_tainted_devices(&cluster);
    let user = worker(&cluster);
    let process = at_work(&user, &[BOTH, "--kubernetes-version", "1.37.1"]);
    taint_devices(&cluster);
    wait_until_leaving(&cluster, "extended");
    cluster.finish_deletions();
    std::thread::sleep(Duration::from_secs(25));
    let run = end(process);
    assert!(
        run.stderr
            .contains("evict pod for pod/default/extended (overdue)"),
        "{}",
        run.stderr
    );
    let mut written = written(&cluster);
    // The event is sent beside the rest.
    written.sort();
    assert_eq!(
        written,
        [
            "create events",
            "delete pods/extended",
            "patch pods/extended/status"
        ],
        "{}",
        run.stderr
    );
    for pod in ["healthy", "plain"] {
        let pod = cluster.get(&format!("pod/default/{pod}"));
        assert!(pod["metadata"]["deletionTimestamp"].is_null(), "{pod:#}");
    }
}

#[test]
fn from_1_37_2_on_there_is_no_eviction_to_supplement() {
    const SUPERFLUOUS: &str = "`--supplement extended-resource-eviction` has no effect: \
                              kube-controller-manager evicts these pods since Kubernetes 1.37.2 \
                              (kubernetes/kubernetes#142289), and this cluster runs 1.37.2";
    let cluster = Cluster::start(&Options::default());
    with_tainted_devices(&cluster);
    let user = worker(&cluster);
    let processes = [
        at_work(&user, &["--supplement=extended-resource-eviction"]),
        at_work(&user, &[BOTH, "--dry-run"]),
    ];
    taint_devices(&cluster);
    for pod in ["extended", "plain"] {
        wait_until_leaving(&cluster, pod);
    }
    std::thread::sleep(Duration::from_secs(15));
    let [evictions, both] = processes.map(end);
    assert!(
        evictions.stderr.contains("nothing to supplement for "),
        "{}",
        evictions.stderr
    );
    assert!(
        !both.stderr.contains("extended-resource-eviction and"),
        "{}",
        both.stderr
    );
    for run in [evictions, both] {
        assert!(run.stderr.contains(SUPERFLUOUS), "{}", run.stderr);
        assert!(!run.stderr.contains("(overdue)"), "{}", run.stderr);
    }
    assert_eq!(written(&cluster), [""; 0]);
}

#[test]
fn what_the_claim_controller_left_undone_is_released_and_nothing_is_made() {
    let off = "--controllers=*,-resourceclaim-controller";
    let cluster = Cluster::start(&Options::default().arg(Component::ControllerManager, off));
    cluster.add_gpu_nodes(2);
    cluster.run(&[
        template("one", claim_spec([gpu()])),
        claim("stale", claim_spec([gpu()])),
        claim("gone", claim_spec([gpu()])),
        claim("used", claim_spec([gpu()])),
        pod("ended").named_claim("gpu", "stale"),
        pod("deleted").named_claim("gpu", "gone"),
        pod("running").named_claim("gpu", "used"),
    ]);
    cluster.create(&pod("unmade").template_claim("gpu", "one"));
    cluster.set_phase("pod/default/ended", Phase::Succeeded);
    cluster.delete_now("pod/default/deleted");
    let user = worker(&cluster);
    let tried = |told: &str| {
        told.contains("would deallocate for claim/default/stale")
            && told.contains("would deallocate for claim/default/gone")
    };
    let process = at_work(&user, &["--supplement=overdue-release", "--dry-run"]);
    wait_for("it has tried", || tried(&process.stderr()).then_some(()));
    end(process);
    assert!(cluster.get("claim/default/stale")["status"]["allocation"].is_object());
    let before = written(&cluster).len();

    let process = at_work(&user, &[BOTH]);
    let is_free = |claim: &serde_json::Value| {
        claim["status"]["allocation"].is_null()
            && claim["status"]["reservedFor"].is_null()
            && claim["metadata"]["finalizers"].is_null()
    };
    for claim in ["stale", "gone"] {
        cluster.wait(&format!("claim/default/{claim}"), "is free", is_free);
    }
    // The built-in controller would make a claim; nobody else may.
    std::thread::sleep(Duration::from_secs(15));
    let run = end(process);
    let mut written = written(&cluster).split_off(before);
    written.sort();
    assert_eq!(
        written,
        [
            "patch resourceclaims/gone",
            "patch resourceclaims/gone/status",
            "patch resourceclaims/stale",
            "patch resourceclaims/stale/status"
        ],
        "{}",
        run.stderr
    );
    assert_eq!(cluster.list("claim").len(), 3);
    assert!(cluster.get("claim/default/used")["status"]["allocation"].is_object());
}

#[test]
fn a_take_over_evicts_for_extended_resources_on_request() {
    let off = "--controllers=*,-resourceclaim-controller,-device-taint-eviction-controller";
    let cluster = Cluster::start(&Options::default().arg(Component::ControllerManager, off));
    cluster.add_gpu_nodes(1);
    cluster.run(&[
        gpu_class().with(json!({"metadata": {"name": "extended"},
            "spec": {"extendedResourceName": "example.com/gpu"}})),
        pod("extended").requesting("example.com/gpu", 1),
    ]);
    cluster.create(&taint_rule(
        "broken",
        json!({"pool": "gpu-node-1"}),
        taint("example.com/broken", "", "NoExecute"),
    ));
    let is_leaving = || !cluster.get("pod/default/extended")["metadata"]["deletionTimestamp"].is_null();
    let user = cluster
        .user("worker")
        .allowed(&shipped("take-over", "ClusterRole"));
    let take_over = |more: &[&str]| {
        let run = user
            .kubectl_dra(["run", "--take-over", "--assume-builtin-disabled", "--no-lease"])
            .args(more)
            .run();
        run.exits(0).stderr
    };
    let older = ["--kubernetes-version", "1.37.1"];
    let fix = ["--fix", "extended-resource-eviction"];
    assert!(!take_over(&[&["--for", "3s"][..], &older].concat()).contains("has no effect"));
    assert!(!is_leaving());
    let told = take_over(&[&["--for", "10s"][..], &older, &fix].concat());
    assert!(!told.contains("has no effect"), "{told}");
    assert!(is_leaving());
    let told = &cluster.get("rule/broken")["status"]["conditions"][0]["message"];
    assert!(told.to_string().contains("1 pod"), "{told}");

    // From 1.37.2 on upstream does so itself, and so does a take-over, whatever is asked for.
    cluster.finish_deletions();
    cluster.delete("rule/broken");
    cluster.run(&[pod("again").requesting("example.com/gpu", 1)]);
    cluster.create(&taint_rule(
        "broken",
        json!({"pool": "gpu-node-1"}),
        taint("example.com/broken", "", "NoExecute"),
    ));
    let told = take_over(&["--for", "10s", "--fix=-extended-resource-eviction"]);
    assert!(
        told.contains("`--fix extended-resource-eviction` has no effect"),
        "{told}"
    );
    let again = cluster.get("pod/default/again");
    assert!(again["metadata"]["deletionTimestamp"].is_string(), "{again:#}");
}

#[test]
fn without_its_rights_a_supplement_does_not_begin() {
    let cluster = Cluster::shared();
    let reader = cluster
        .user("supplement-reader")
        .allowed(&shipped("shadow", "ClusterRole"));
    let missing = |part: &str| {
        let run = reader
            .kubectl_dra(["run", "--kubernetes-version", "1.37.1", "--supplement", part])
            .run();
        run.exits(3).stderr
    };
    let evictions = missing("extended-resource-eviction");
    let releases = missing("overdue-release");
    for right in ["delete pods", "patch pods/status", "create events"] {
        assert!(evictions.contains(right), "{right}: {evictions}");
        assert!(!releases.contains(right), "{right}: {releases}");
    }
    for right in ["patch resourceclaims", "patch resourceclaims/status"] {
        assert!(releases.contains(right), "{right}: {releases}");
        assert!(!evictions.contains(right), "{right}: {evictions}");
    }
}
