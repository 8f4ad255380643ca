//! `run --take-over` instead of the built-in controllers: the cluster ends as with them, whatever happens on the way.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::operation::{Operated, PROBES};
use crate::support::cluster::faulty::{Fault, Faulty};
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, gpu_class, namespace, pod, pod_group, taint, taint_rule, template,
};
use crate::support::cluster::{Cluster, Component, Options, User};
use crate::support::process::{Process, Run};
use crate::support::wait::wait_for;

pub(super) const OFF: &str = "--controllers=-resourceclaim-controller,-device-taint-eviction-controller";
const GATES: &str = "GenericWorkload=true,DRAWorkloadResourceClaims=true";
const TAKE_OVER: [&str; 4] = ["run", "--take-over", "--feature-gates", GATES];
const LEASE: [&str; 2] = ["--lease", "kubectl-dra/take-over"];

/// The rules of the ClusterRole or Role that is shipped for the mode.
pub(super) fn shipped(mode: &str, kind: &str) -> Value {
    let path = format!("{}/deploy/{mode}/rbac.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let role = documents.into_iter().find(|document| document["kind"] == kind);
    role.unwrap_or_else(|| panic!("{path} has no {kind}"))["rules"].clone()
}

/// A control plane, with both controllers as it has them or without.
pub(super) fn cluster(built_in: bool) -> Cluster {
    let options = Options::default()
        .gate("GenericWorkload", true)
        .gate("DRAWorkloadResourceClaims", true);
    Cluster::start(&if built_in {
        options
    } else {
        options.arg(Component::ControllerManager, OFF)
    })
}

pub(super) fn worker(cluster: &Cluster) -> User {
    cluster.create(&namespace("kubectl-dra"));
    let user = cluster
        .user("worker")
        .allowed(&shipped("take-over", "ClusterRole"));
    user.allowed_in("kubectl-dra", &shipped("take-over", "Role"))
}

/// The controllers at work, by way of a proxy if there is one.
pub(super) fn at_work(user: &User, by: Option<&Faulty>, more: &[&str]) -> Process {
    started(user, by, more, "-controller for ")
}

/// The same, once it tells `told`.
pub(super) fn started(user: &User, by: Option<&Faulty>, more: &[&str], told: &str) -> Process {
    let mut invocation = user
        .kubectl_dra(TAKE_OVER)
        .args(["--assume-builtin-disabled"])
        .args(more);
    if !more.contains(&"--no-lease") {
        invocation = invocation.args(LEASE);
    }
    if let Some(by) = by {
        invocation = invocation.args(by.flags());
    }
    let process = invocation.start();
    wait_for("it has begun", || process.stderr().contains(told).then_some(()));
    process
}

/// The controllers at work, with probes.
pub(super) fn probed(user: &User, more: &[&str]) -> Operated {
    Operated::of(at_work(user, None, &[more, &PROBES].concat()))
}

/// Ends what has seen every change. An API server that has just started refuses lists until it knows the roles, and a run that ends
/// meanwhile says that it misses changes.
pub(super) fn end_in_step(operated: Operated) -> Run {
    operated.wait_until_in_step();
    end(operated.process)
}

pub(super) fn end(process: Process) -> Run {
    process.signal(Signal::INT);
    process.finish()
}

/// A pod that always comes to the same node.
pub(super) fn pinned(name: &str, node: u32) -> Value {
    let hostname = format!("gpu-node-{node}");
    pod(name).with(
        json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": hostname},
        "containers": [{"name": "main", "image": "pause:3.10", "resources": {"requests": {"cpu": "10m"}}}]}}),
    )
}

/// Pods of all sorts come, run and end. One after the other, so that each run makes the same of them.
fn live_a_while(cluster: &Cluster) {
    let scheduled = |pod: &Value| {
        let created = cluster.create(pod);
        let name = created["metadata"]["name"].as_str().unwrap();
        cluster.wait(&format!("pod/default/{name}"), "has a node", |pod| {
            pod["spec"]["nodeName"].is_string()
        });
        cluster.run_kubelets();
    };
    let tolerant = gpu().exactly(
        json!({"tolerations": [{"key": "example.com/broken", "operator": "Exists", "effect": "NoExecute"}]}),
    );
    let colored = template("one", claim_spec([gpu()])).with(json!({"spec": {"metadata": {
        "labels": {"example.com/team": "a"}, "annotations": {"example.com/color": "blue"}}}}));
    cluster.create_all(&[
        colored,
        template("tolerant", claim_spec([tolerant])),
        claim("shared", claim_spec([gpu()])),
        gpu_class().with(
            json!({"metadata": {"name": "extended"}, "spec": {"extendedResourceName": "example.com/gpu"}}),
        ),
    ]);
    for number in 0..4 {
        scheduled(&pinned(&format!("own-{number}"), 1).template_claim("gpu", "one"));
    }
    scheduled(
        &pinned("both", 1)
            .template_claim("a", "one")
            .template_claim("b", "one"),
    );
    scheduled(&pinned("shares-1", 2).named_claim("gpu", "shared"));
    scheduled(&pinned("shares-2", 2).named_claim("gpu", "shared"));
    scheduled(&pinned("struck", 3).template_claim("gpu", "one"));
    scheduled(&pinned("tolerates", 3).template_claim("gpu", "tolerant"));
    scheduled(&pinned("extended", 3).requesting("example.com/gpu", 1));
    let entry = json!({"name": "gpu", "resourceClaimTemplateName": "one"});
    cluster.create(&pod_group("group", [entry]));
    for member in ["member-1", "member-2"] {
        scheduled(&pinned(member, 1).template_claim("gpu", "one").in_group("group"));
    }
    // The template comes after its pod.
    cluster.create(&pinned("early", 1).template_claim("gpu", "late"));
    cluster.wait("pod/default/early", "is told of", |_| {
        let told = cluster.list("event");
        told.iter().any(|event| {
            event["reason"] == "FailedResourceClaimCreation" && event["involvedObject"]["name"] == "early"
        })
    });
    cluster.create(&template("late", claim_spec([gpu()])));
    cluster.wait("pod/default/early", "has a node", |pod| {
        pod["spec"]["nodeName"].is_string()
    });
    // A pod that no scheduler placed.
    cluster.create(
        &pinned("preset", 2)
            .named_claim("gpu", "shared")
            .on_node("gpu-node-2"),
    );
    cluster.run_kubelets();

    cluster.set_phase("pod/default/own-0", Phase::Succeeded);
    cluster.delete_now("pod/default/own-1");
    cluster.delete("pod/default/own-2");
    cluster.delete("pod/default/shares-1");
    cluster.finish_deletions();
    cluster.create(&taint_rule(
        "broken",
        json!({"pool": "gpu-node-3"}),
        taint("example.com/broken", "", "NoExecute"),
    ));
    for pod in ["struck", "extended"] {
        cluster.wait(&format!("pod/default/{pod}"), "is being deleted", |pod| {
            pod["metadata"]["deletionTimestamp"].is_string()
        });
    }
    cluster.finish_deletions();
    // The status of a rule is told every 10 s.
    cluster.wait("rule/broken", "tells of the eviction", |rule| {
        let told = &rule["status"]["conditions"][0];
        told["reason"] == "Completed" && told["message"].to_string().contains("evicted")
    });
    wait_until_released(cluster);
}

/// Waits until pods that are gone or have ended have neither claims nor reservations.
fn wait_until_released(cluster: &Cluster) {
    wait_for("nothing is kept for a pod that is gone", || {
        let pods = cluster.list("pod").into_iter();
        let live = pods.filter(|pod| pod["status"]["phase"] != "Succeeded");
        let live: Vec<Value> = live.map(|mut pod| pod["metadata"]["uid"].take()).collect();
        let is_released = |claim: &Value| {
            let owners = claim["metadata"]["ownerReferences"].as_array();
            let entries = claim["status"]["reservedFor"].as_array();
            let mut owners = owners
                .into_iter()
                .flatten()
                .filter(|owner| owner["kind"] == "Pod");
            let mut entries = entries
                .into_iter()
                .flatten()
                .filter(|entry| entry["resource"] == "pods");
            owners.all(|owner| live.contains(&owner["uid"]))
                && entries.all(|entry| live.contains(&entry["uid"]))
        };
        cluster.list("claim").iter().all(is_released).then_some(())
    });
}

/// The state of the cluster without what differs from run to run: names, UIDs, times, versions, and who manages which field.
fn end_state(cluster: &Cluster) -> Value {
    let pods = cluster.list("pod");
    let claims = cluster.list("claim");
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for claim in &claims {
        let metadata = &claim["metadata"];
        if let Some(entry) = metadata["annotations"]["resource.kubernetes.io/pod-claim-name"].as_str() {
            let name = metadata["name"].as_str().unwrap();
            let base = metadata["generateName"].as_str().unwrap();
            let end = name
                .strip_prefix(base)
                .unwrap_or_else(|| panic!("{name} begins with {base}"));
            assert!(is_generated(&format!("-{end}")), "{name}");
            let owner = metadata["ownerReferences"][0]["name"].as_str().unwrap();
            let meant = format!("<{owner} {entry}>");
            assert!(
                names.values().all(|known| *known != meant),
                "{meant} has two claims"
            );
            names.insert(name.to_owned(), meant);
        }
    }
    for object in pods.iter().chain(&claims).chain(&cluster.list("podgroup")) {
        let metadata = &object["metadata"];
        let uid = metadata["uid"].as_str().unwrap().to_owned();
        names.insert(uid, format!("<uid of {}>", metadata["name"].as_str().unwrap()));
    }
    let clean = |mut object: Value| {
        for field in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "managedFields",
            "deletionTimestamp",
        ] {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove(field);
            }
        }
        replace(&mut object, &names);
        // The claim of a pod that ended is gone, and its name with it.
        let statuses = object["status"]["resourceClaimStatuses"].as_array_mut();
        for status in statuses.into_iter().flatten() {
            let name = status["resourceClaimName"].as_str().unwrap_or_default();
            if !name.starts_with('<') && is_generated(name) {
                status["resourceClaimName"] = json!(format!("{}<gone>", &name[..name.len() - 5]));
            }
        }
        object
    };
    let told = cluster.list("event").into_iter().filter(|event| {
        ["FailedResourceClaimCreation", "DeviceTaintManagerEviction"]
            .contains(&event["reason"].as_str().unwrap_or_default())
    });
    let mut events: Vec<String> = told
        .map(|event| {
            format!(
                "{} {} {} {}: {}",
                event["source"]["component"],
                event["type"],
                event["reason"],
                event["involvedObject"]["name"],
                event["message"]
            )
        })
        .collect();
    events.sort();
    events.dedup();
    let list = |kind: &str| {
        let mut objects: Vec<Value> = cluster.list(kind).into_iter().map(clean).collect();
        objects.sort_by_key(|object| object["metadata"]["name"].to_string());
        objects
    };
    json!({"pods": list("pod"), "claims": list("claim"), "groups": list("podgroup"), "rules": list("rule"), "events": events})
}

/// Returns whether the name ends as those do that the API server or these rules make.
fn is_generated(name: &str) -> bool {
    let end = name.rsplit('-').next().unwrap_or_default();
    end.len() == 5
        && end
            .bytes()
            .all(|byte| b"bcdfghjklmnpqrstvwxz2456789".contains(&byte))
}

/// Replaces names that differ from run to run, and times.
fn replace(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(known) = names.get(text) {
                known.clone_into(text);
            } else if text.parse::<jiff::Timestamp>().is_ok() {
                "<time>".clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, names)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, names)),
        _ => {}
    }
}

#[test]
fn the_same_workload_ends_as_with_the_built_in_controllers() {
    let built_in = cluster(true);
    built_in.add_gpu_nodes(3);
    live_a_while(&built_in);
    let expected = end_state(&built_in);
    drop(built_in);

    let ours = cluster(false);
    ours.add_gpu_nodes(3);
    let user = worker(&ours);
    let process = at_work(&user, None, &[]);
    live_a_while(&ours);
    let actual = end_state(&ours);
    let run = end(process).exits(0);
    for part in ["pods", "claims", "groups", "rules", "events"] {
        similar_asserts(part, &expected[part], &actual[part], &run.stderr);
    }
    // Nothing that it wanted was forbidden.
    let forbidden: Vec<String> = ours
        .requests_of("worker")
        .into_iter()
        // Evidence of gates, where it is to be had.
        .filter(|request| request.ends_with(" 403") && request != "get /metrics 403")
        .collect();
    assert_eq!(forbidden, [""; 0], "{}", run.stderr);

    // A settled cluster is left alone by the next one.
    let before = ours.requests_of("worker").len();
    let process = at_work(&user, None, &[]);
    std::thread::sleep(Duration::from_secs(12));
    end(process).exits(0);
    let writes: Vec<String> = ours
        .requests_of("worker")
        .split_off(before)
        .into_iter()
        // A rule tells how many pods were evicted since its controller started.
        .filter(|request| is_write(request) && !request.contains("/devicetaintrules/"))
        .collect();
    assert_eq!(writes, [""; 0]);
}

pub(super) fn is_write(request: &str) -> bool {
    let mut reads = ["get ", "list ", "watch "].into_iter();
    !reads.any(|verb| request.starts_with(verb))
        && !request.contains("/selfsubject")
        && !request.contains("/leases")
}

fn similar_asserts(part: &str, expected: &Value, actual: &Value, stderr: &str) {
    let lines = |value: &Value| {
        format!("{value:#}")
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (expected, actual) = (lines(expected), lines(actual));
    let at = expected.iter().zip(&actual).position(|(one, other)| one != other);
    let at = at.unwrap_or(expected.len().min(actual.len()));
    if expected != actual {
        let around = |lines: &[String]| lines[at.saturating_sub(25)..lines.len().min(at + 15)].join("\n");
        panic!(
            "{part} differ\n--- with the built-in controllers\n{}\n--- with these\n{}\n--- stderr\n{stderr}",
            around(&expected),
            around(&actual)
        );
    }
}

#[test]
fn only_disabled_controllers_are_replaced() {
    let cluster = cluster(true);
    cluster.add_gpu_nodes(1);
    cluster.create(&template("one", claim_spec([gpu()])));
    let user = worker(&cluster);
    let start = |more: &[&str]| {
        let process = user.kubectl_dra(TAKE_OVER).args(LEASE).args(more).start();
        wait_for("it watches", || {
            process.stderr().contains("watching ").then_some(())
        });
        process
    };
    // Nothing to do proves nothing.
    let run = start(&["--observe", "2s"]).finish().exits(3);
    assert!(run.stderr.contains("cannot tell whether"), "{}", run.stderr);
    assert!(run.stderr.contains("--assume-builtin-disabled"), "{}", run.stderr);
    // Who works is not off.
    let mut process = start(&["--observe", "15s"]);
    // That a claim is made proves something only if the program has wanted it before, which of many claims is so of some.
    let mut made = 0;
    wait_for("it has ended", || {
        make_pod(&cluster, made);
        made += 1;
        process.has_ended().then_some(())
    });
    let run = process.finish().exits(3);
    assert!(
        run.stderr.contains("resourceclaim-controller is running"),
        "{}",
        run.stderr
    );
    // Switched on later, it is seen too.
    let process = at_work(&user, None, &["--controllers", "device-taint-eviction"]);
    end(process).exits(0);
    let writes: Vec<String> = cluster
        .requests_of("worker")
        .into_iter()
        .filter(|request| is_write(request))
        .collect();
    assert_eq!(writes, [""; 0]);

    let without = cluster.user("reader").allowed(&shipped("shadow", "ClusterRole"));
    let run = without
        .kubectl_dra(TAKE_OVER)
        .args(["--assume-builtin-disabled"])
        .run()
        .exits(3);
    for right in [
        "create resourceclaims",
        "delete pods",
        "patch podgroups/status",
        "update leases",
    ] {
        assert!(run.stderr.contains(right), "{right}: {}", run.stderr);
    }
}

/// What must be true of every generated claim and its owner, however bad the way was.
pub(super) fn assert_sound(cluster: &Cluster, pods: usize, stderr: &str) {
    // One claim for each, which its status names.
    let mut claims = cluster.list("claim");
    // The first list of a run can be older than the last deletion before the test: the garbage collector takes what was made for that owner.
    let uids: Vec<Value> = cluster
        .list("pod")
        .into_iter()
        .map(|mut pod| pod["metadata"]["uid"].take())
        .collect();
    claims.retain(|claim| uids.contains(&claim["metadata"]["ownerReferences"][0]["uid"]));
    assert_eq!(claims.len(), pods, "{stderr}");
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    for claim in &claims {
        *owners
            .entry(claim["metadata"]["ownerReferences"][0]["name"].to_string())
            .or_default() += 1;
    }
    assert_eq!(owners.len(), pods, "{owners:?}\n{stderr}");
    for pod in cluster.list("pod") {
        let named = &pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"];
        let claim = claims.iter().find(|claim| claim["metadata"]["name"] == *named);
        let claim = claim.unwrap_or_else(|| panic!("{named}: {pod:#}"));
        assert_eq!(
            claim["metadata"]["ownerReferences"][0]["uid"],
            pod["metadata"]["uid"]
        );
    }
}

/// Number of pods the tests of faults make.
const PODS: usize = 40;

/// Makes pods whose every request goes through `fault`, and checks what came of it.
fn through(fault: impl Fn(&str, usize) -> Fault + Send + Sync + 'static) -> Vec<String> {
    let cluster = making_claims();
    let user = worker(&cluster);
    let by = user.faulty(fault);
    let process = at_work(&user, Some(&by), &[]);
    for number in 0..PODS {
        make_pod(&cluster, number);
    }
    wait_for_claims(&cluster, PODS);
    let run = end(process).exits(0);
    assert_sound(&cluster, PODS, &run.stderr);
    by.asked()
}

fn is_create(path: &str) -> bool {
    path.starts_with("POST ") && path.contains("/resourceclaims?")
}

#[test]
fn a_create_whose_answer_is_lost_is_not_done_twice() {
    // Each claim is there, and its writer is told otherwise.
    let asked = through(|path, before| match (is_create(path), before % 2) {
        (true, 0) => Fault::After(500),
        (true, _) => Fault::After(0),
        _ => Fault::None,
    });
    assert!(asked.iter().filter(|path| is_create(path)).count() >= PODS);
}

#[test]
fn storms_of_refusals_are_waited_out() {
    through(|path, before| {
        let refusal = |code| Fault::Refusal(code, "", "busy".to_owned());
        match before {
            0..12 if is_create(path) => refusal([429, 500, 503][before % 3]),
            _ => Fault::None,
        }
    });
}

#[test]
fn watches_that_end_all_the_time_lose_nothing() {
    through(|path, _| {
        if path.contains("watch=true") {
            // Each watch has to show that it works meanwhile, on a busy machine too.
            Fault::Passing(Duration::from_secs(3))
        } else {
            Fault::None
        }
    });
}

/// A cluster whose pods get claims and nothing else.
pub(super) fn making_claims() -> Cluster {
    let cluster = cluster(false);
    cluster.create_all(&[gpu_class(), template("one", claim_spec([gpu()]))]);
    cluster
}

pub(super) fn make_pod(cluster: &Cluster, number: usize) {
    cluster.create(&pinned(&format!("p{number}"), 1).template_claim("gpu", "one"));
}

pub(super) fn wait_for_claims(cluster: &Cluster, count: usize) {
    wait_for("every pod has its claim", || {
        let pods = cluster.list("pod");
        let named = pods
            .iter()
            .filter(|pod| pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"].is_string());
        (named.count() == count).then_some(())
    });
}

#[test]
fn a_writer_that_is_killed_at_any_time_leaves_no_claim_twice() {
    let cluster = making_claims();
    let user = worker(&cluster);
    let mut process = at_work(&user, None, &["--no-lease"]);
    for number in 0..PODS {
        make_pod(&cluster, number);
        if number % 4 == 3 {
            process.signal(Signal::KILL);
            process = at_work(&user, None, &["--no-lease"]);
        }
    }
    wait_for_claims(&cluster, PODS);
    assert_sound(&cluster, PODS, &end(process).exits(0).stderr);
}

#[test]
fn a_restart_of_the_api_server_is_survived() {
    let cluster = making_claims();
    let user = worker(&cluster);
    // A lease is lost after ten seconds without an API server, which may take longer to start here.
    let operated = probed(&user, &["--no-lease"]);
    for number in 0..PODS {
        make_pod(&cluster, number);
        if number % 20 == 10 {
            cluster.stop(Component::ApiServer);
            std::thread::sleep(Duration::from_secs(2));
            cluster.resume(Component::ApiServer);
        }
    }
    wait_for_claims(&cluster, PODS);
    assert_sound(&cluster, PODS, &end_in_step(operated).exits(0).stderr);
}

#[test]
fn two_concurrent_writers_create_each_claim_once() {
    let cluster = making_claims();
    let user = worker(&cluster);
    let writers = [(); 2].map(|()| at_work(&user, None, &["--no-lease"]));
    for number in 0..PODS {
        make_pod(&cluster, number);
    }
    wait_for_claims(&cluster, PODS);
    std::thread::sleep(Duration::from_secs(2));
    let told: String = writers.map(|writer| end(writer).exits(0).stderr).concat();
    assert_sound(&cluster, PODS, &told);
}

#[test]
fn it_stops_when_the_built_in_controllers_are_switched_on_beside_it() {
    let cluster = making_claims();
    let user = worker(&cluster);
    let mut process = at_work(&user, None, &[]);
    make_pod(&cluster, 0);
    cluster.reconfigure(|options| options.clear_arguments(Component::ControllerManager));
    let mut made = 1;
    wait_for("it has stopped", || {
        make_pod(&cluster, made);
        made += 1;
        process.has_ended().then_some(())
    });
    let run = process.finish().exits(3);
    let told = "another resourceclaim-controller is running";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    // Whoever operates it finds why beside the lease.
    let told = cluster.list("event/kubectl-dra");
    let told: Vec<&Value> = told
        .iter()
        .filter(|event| event["reason"] == "AnotherControllerAtWork")
        .collect();
    assert_eq!(told.len(), 1, "{told:#?}");
    let lease = cluster.get("lease/kubectl-dra/take-over");
    assert_eq!(told[0]["involvedObject"]["kind"], "Lease");
    assert_eq!(told[0]["involvedObject"]["uid"], lease["metadata"]["uid"]);
    assert_eq!(told[0]["type"], "Warning");
    wait_for_claims(&cluster, made);
}

/// The built-in controller that only adds reservations makes no claim and marks no pod.
#[test]
fn it_stops_when_kube_controller_manager_manages_the_status_of_a_claim_again() {
    let cluster = cluster(false);
    cluster.add_gpu_nodes(1);
    cluster.run(&[
        claim("shared", claim_spec([gpu()])),
        pinned("user", 1).named_claim("gpu", "shared"),
    ]);
    let user = worker(&cluster);
    let mut process = at_work(&user, None, &[]);
    let path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/shared/status";
    let mut number = 0;
    wait_for("it has stopped", || {
        number += 1;
        // What the built-in controller writes, under its name.
        let consumer =
            json!({"resource": "pods", "name": format!("other-{number}"), "uid": format!("uid-{number}")});
        let answer = cluster.request_as(
            &http::Method::PATCH,
            &format!("{path}?fieldManager=kube-controller-manager"),
            "application/strategic-merge-patch+json",
            &json!({"status": {"reservedFor": [consumer]}}),
        );
        assert!(answer.is_success(), "{answer:?}");
        process.has_ended().then_some(())
    });
    let run = process.finish().exits(3);
    let told = "another resourceclaim-controller is running: it wrote the status of claim/default/shared";
    assert!(run.stderr.contains(told), "{}", run.stderr);
}

#[test]
fn of_two_replicas_one_works_and_the_other_continues_after_it() {
    let cluster = making_claims();
    let user = worker(&cluster);
    let first = at_work(&user, None, &[]);
    let second = started(&user, None, &[], "holds the lease");
    make_pod(&cluster, 0);
    wait_for_claims(&cluster, 1);
    // Who is told to end gives the lease up.
    end(first).exits(0);
    make_pod(&cluster, 1);
    wait_for_claims(&cluster, 2);
    // Of who is killed it has to expire.
    let third = started(&user, None, &[], "holds the lease");
    second.signal(Signal::KILL);
    make_pod(&cluster, 2);
    wait_for_claims(&cluster, 3);
    assert_sound(&cluster, 3, &end(third).exits(0).stderr);
    // Who finds that somebody works need not find out whether the built-in controllers are off.
    let fourth = at_work(&user, None, &[]);
    let next = user.kubectl_dra(TAKE_OVER).args(LEASE).start();
    wait_for("it stands by", || {
        next.stderr().contains("standing by").then_some(())
    });
    end(fourth).exits(0);
    let run = end(next).exits(0);
    assert!(
        !run.stderr
            .contains("to see whether the built-in controllers are off"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_dry_run_tries_each_write_and_leaves_the_cluster_as_it_is() {
    let cluster = making_claims();
    make_pod(&cluster, 0);
    let user = worker(&cluster);
    let process = at_work(&user, None, &["--no-lease", "--dry-run"]);
    wait_for("it has tried", || {
        let asked = cluster.requests_of("worker");
        let mut tried = asked.iter().filter(|request| request.contains("dryRun=All"));
        tried.any(|request| request.starts_with("create ")).then_some(())
    });
    end(process).exits(0);
    assert_eq!(cluster.list("claim").len(), 0);
    assert!(cluster.get("pod/default/p0")["status"]["resourceClaimStatuses"].is_null());
    let kept: Vec<String> = cluster
        .requests_of("worker")
        .into_iter()
        .filter(|request| is_write(request) && !request.contains("dryRun=All"))
        .collect();
    assert_eq!(kept, [""; 0]);
}
