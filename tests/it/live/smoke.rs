//! The test cluster itself: what it promises to the tests that use it.

use std::io::Write;

use http::Method;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::cluster::kubelet::condition;
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, namespace, pod, template};
use crate::support::cluster::{Cluster, Component, Options, User, runtime};
use crate::support::go;
use crate::support::process::Invocation;
use crate::support::wait::wait_for;

#[test]
fn scheduler_places_pods_and_reserves_their_claims() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(2);
    cluster.run(&[
        claim("shared", claim_spec([gpu()])),
        template("two", claim_spec([gpu().count(2)])),
        pod("named").named_claim("gpu", "shared"),
        pod("generated").template_claim("gpu", "two"),
    ]);

    let generated = cluster.claim_of("pod/generated", "gpu");
    assert_eq!(cluster.reservations_of("claim/shared"), ["pods/named"]);
    assert_eq!(cluster.reservations_of(&generated), ["pods/generated"]);
    assert_eq!(cluster.devices_of("claim/shared").len(), 1);
    assert_eq!(cluster.devices_of(&generated).len(), 2);
    for pod in ["pod/named", "pod/generated"] {
        assert_eq!(cluster.get(pod)["status"]["phase"], "Running");
    }

    cluster.delete("pod/named");
    cluster.finish_deletions();
    cluster.wait_gone("pod/named");
    cluster.wait("claim/shared", "it is freed", |claim| {
        claim["status"]["allocation"].is_null()
    });
}

#[test]
fn users_have_the_rights_they_were_given_and_no_others() {
    let cluster = Cluster::shared();
    let status = |user: &User, path: &str| user.request(&Method::GET, path, &Value::Null).status;
    let default_pods = "/api/v1/namespaces/default/pods";
    let all_pods = "/api/v1/pods";
    let slices = "/apis/resource.k8s.io/v1/resourceslices";
    let slice_rules =
        json!([{"apiGroups": ["resource.k8s.io"], "resources": ["resourceslices"], "verbs": ["list"]}]);
    let pod_rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);

    for (user, expected) in [
        (cluster.user("smoke-rightless"), [403, 403, 403]),
        (cluster.user("smoke-viewer").with_role("view"), [200, 200, 403]),
        (
            cluster.user("smoke-tenant").with_role_in("default", "view"),
            [200, 403, 403],
        ),
        (
            cluster.user("smoke-inventory").allowed(&slice_rules),
            [403, 403, 200],
        ),
        (
            cluster.user("smoke-operator").allowed_in("default", &pod_rules),
            [200, 403, 403],
        ),
    ] {
        let answers = [default_pods, all_pods, slices].map(|path| status(&user, path));
        assert_eq!(answers, expected, "{}", user.kubeconfig().display());
    }
}

#[test]
fn kubectl_runs_the_tool_as_its_plugin() {
    let cluster = Cluster::shared();

    let nodes = cluster.kubectl(["get", "nodes", "-o", "name"]).run().exits(0);
    assert_eq!(
        nodes.stdout,
        "node/gpu-node-1\nnode/gpu-node-2\nnode/gpu-node-3\n"
    );
    let pods: Value = cluster
        .kubectl(["get", "pods", "-n", "inference", "-o", "json"])
        .run()
        .json();
    assert_eq!(pods["items"].as_array().map(Vec::len), Some(2));

    let plugins = cluster.kubectl(["plugin", "list", "--name-only"]).run().exits(0);
    assert_eq!(plugins.stdout.lines().last(), Some("kubectl-dra"));
    cluster.kubectl(["dra", "version", "--client"]).run().exits(0);
    cluster.kubectl_dra(["version", "--client"]).run().exits(0);

    let refused = cluster
        .user("kubectl-user")
        .kubectl(["get", "pods"])
        .run()
        .exits(1);
    assert!(refused.stderr.contains("pods is forbidden"), "{}", refused.stderr);

    let token = cluster.service_account_token("default", "robot");
    let whoami = [
        "--kubeconfig=/dev/null",
        "auth",
        "whoami",
        "-o",
        "json",
        "--token",
        &token,
    ];
    let server = format!("--server={}", cluster.server());
    let authority = format!(
        "--certificate-authority={}",
        cluster.certificate_authority().display()
    );
    let answer = cluster.kubectl(whoami).args([&server, &authority]).run().json();
    assert_eq!(
        answer["status"]["userInfo"]["username"],
        "system:serviceaccount:default:robot"
    );
}

#[test]
fn a_background_program_can_be_watched_signaled_and_is_killed_when_dropped() {
    let cluster = Cluster::shared();
    let watch = ["claims", "--all-namespaces", "--watch", "-o", "name"];

    // Not kubectl, which loses signals that come before it looks after them.
    let watching = cluster.kubectl_dra(watch).start();
    watching.wait_for_stdout("it lists the claims", |text| text.contains("resourceclaim"));
    watching.signal(Signal::INT);
    let run = watching.finish();
    assert_eq!((run.code, run.signal), (Some(130), None));

    let pid = {
        let watching = cluster.kubectl_dra(watch).start();
        watching.wait_for_stdout("it lists the claims", |text| text.contains("resourceclaim"));
        watching.id()
    };
    assert!(!is_alive(pid));
}

#[test]
fn dump_holds_what_kubectl_gets() {
    let cluster = Cluster::shared();
    let dump = cluster.dump();
    let names = |list: &Value, kind: &str| -> Vec<String> {
        objects(list, kind)
            .map(|item| format!("{}/{}", item["metadata"]["namespace"], item["metadata"]["name"]))
            .collect()
    };
    for (kind, plural) in [
        ("ResourceClaim", "resourceclaims"),
        ("ResourceSlice", "resourceslices"),
        ("Pod", "pods"),
    ] {
        let got: Value = cluster.kubectl(["get", plural, "-A", "-o", "json"]).run().json();
        assert_eq!(names(&dump, kind), names(&got, kind));
        assert!(!names(&dump, kind).is_empty());
    }
}

#[test]
fn clusters_are_apart_and_components_can_be_stopped_and_changed() {
    let first = Cluster::start(&Options::default());
    let second = Cluster::start(
        &Options::default()
            .gate("GenericWorkload", true)
            .without(Component::ControllerManager),
    );
    first.create(&namespace("only-here"));
    assert!(second.find("namespace/only-here").is_none());

    let group_version = "/apis/scheduling.k8s.io/v1beta1";
    let status = |cluster: &Cluster| cluster.request(&Method::GET, group_version, &Value::Null).status;
    assert_eq!((status(&first), status(&second)), (404, 200));
    second.reconfigure(|options| options.set_gate(&Component::GATED, "GenericWorkload", false));
    assert_eq!(status(&second), 404);

    let metrics = |component| {
        first
            .at(component)
            .request(&Method::GET, "/metrics", &Value::Null)
    };
    for component in Component::GATED {
        let answer = metrics(component);
        let text = answer.body.as_str().unwrap_or_default();
        assert!(
            text.contains("kubernetes_feature_enabled{name=\"GenericWorkload\""),
            "{component:?}: {}",
            answer.status
        );
    }

    first.add_nodes(["node-1"]);
    first.stop(Component::Scheduler);
    first.create(&pod("waits"));
    assert!(first.get("pod/waits")["spec"]["nodeName"].is_null());
    first.resume(Component::Scheduler);
    first.wait_scheduled(["pod/waits"]);
}

#[test]
fn the_scheduler_can_be_watched_deciding_on_one_pod() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(1);
    cluster.create(&template("five", claim_spec([gpu().count(5)])));

    let placed = cluster.place(&pod("first").template_claim("gpu", "five"), |before| {
        let claims: Vec<&Value> = objects(before, "ResourceClaim").collect();
        assert_eq!(claims.len(), 1);
        assert!(claims[0]["status"]["allocation"].is_null());
        assert_eq!(objects(before, "Pod").count(), 1);
        assert_eq!(objects(before, "ResourceSlice").count(), 2);
        true
    });
    assert_eq!(placed["spec"]["nodeName"], "gpu-node-1");
    let refused = cluster.place(&pod("second").template_claim("gpu", "five"), |_| false);
    assert!(refused["spec"]["nodeName"].is_null());
    assert_eq!(
        condition(&refused, "PodScheduled").map(|found| &found["reason"]),
        Some(&json!("Unschedulable"))
    );
}

#[test]
fn requests_of_a_user_can_be_read_back() {
    let options = Options::default()
        .without(Component::Scheduler)
        .without(Component::ControllerManager);
    let cluster = Cluster::start(&options);
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "create"]}]);
    let user = cluster.user("watched").allowed(&rules);
    let before = cluster.requests_of("watched").len();
    user.kubectl(["get", "--raw", "/api/v1/namespaces/default/pods?limit=7"])
        .run()
        .exits(0);
    user.create(&pod("new"));
    user.kubectl(["get", "--raw", "/api/v1/nodes"]).run().exits(1);
    assert_eq!(
        cluster.requests_of("watched")[before..],
        [
            "list /api/v1/namespaces/default/pods?limit=7 200",
            "create /api/v1/namespaces/default/pods 201",
            "list /api/v1/nodes 403",
        ]
    );
}

#[test]
fn an_argument_reaches_its_component() {
    let off = "--controllers=-resourceclaim-controller";
    let cluster = Cluster::start(&Options::default().arg(Component::ControllerManager, off));
    cluster.add_gpu_nodes(1);
    let objects = [
        template("one", claim_spec([gpu()])),
        pod("waits").template_claim("gpu", "one"),
    ];
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    let created = cluster
        .kubectl(["create", "-o", "name", "-f", "-"])
        .stdin(list.to_string())
        .run()
        .exits(0);
    assert_eq!(
        created.stdout,
        "resourceclaimtemplate.resource.k8s.io/one\npod/waits\n"
    );
    // The other controllers run, and the scheduler waits for the claim which that one does not make.
    cluster.create(&deployment("web"));
    let other_pod = || {
        let pods = cluster.list("pod");
        pods.into_iter()
            .find(|pod| pod["metadata"]["name"] != "waits" && pod["spec"]["nodeName"].is_string())
    };
    wait_for("the deployment has a pod on a node", other_pod);
    assert!(cluster.list("claim").is_empty());
    assert!(cluster.get("pod/waits")["spec"]["nodeName"].is_null());
}

fn deployment(name: &str) -> Value {
    let labels = json!({"app": name});
    let spec = pod("unused")["spec"]
        .clone()
        .with(json!({"restartPolicy": "Always"}));
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}})
}

#[test]
fn an_older_version_is_emulated_in_what_is_served() {
    let options = Options::default()
        .emulated_version("1.36")
        .without(Component::Scheduler)
        .without(Component::ControllerManager);
    let cluster = Cluster::start(&options);
    let served = |version: &str| {
        let path = format!("/apis/resource.k8s.io/{version}/devicetaintrules");
        cluster.request(&Method::GET, &path, &Value::Null).status
    };
    assert_eq!(["v1", "v1beta2", "v1alpha3"].map(served), [404, 200, 200]);
    let version = cluster.request(&Method::GET, "/version", &Value::Null).body;
    assert_eq!(version["gitVersion"], "v1.37.2");
    assert_eq!(version["emulationMinor"], "36");
    let typed = runtime()
        .block_on(cluster.client().apiserver_version())
        .expect("the client is connected");
    assert_eq!(typed.git_version, "v1.37.2");

    // Nothing but the default versions when nothing else is asked for.
    let plain = Cluster::start(
        &Options::default()
            .runtime_config("")
            .without(Component::Scheduler),
    );
    let answer = plain.request(&Method::GET, "/apis/resource.k8s.io/v1beta2", &Value::Null);
    assert_eq!(answer.status, 404);
}

/// The objects of one kind in a list.
fn objects<'a>(list: &'a Value, kind: &str) -> impl Iterator<Item = &'a Value> {
    list["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(move |item| item["kind"] == kind)
}

/// Returns whether a process exists and is not merely waiting for its parent to look at it.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may contain some itself.
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Set in the process that [`a_killed_test_leaves_no_process_behind`] kills.
const VICTIM: &str = "KUBECTL_DRA_TEST_VICTIM";

#[test]
fn a_killed_test_leaves_no_process_behind() {
    if std::env::var_os(VICTIM).is_some() {
        let cluster = Cluster::start(&Options::default().without(Component::ControllerManager));
        let watching = cluster
            .kubectl(["get", "namespaces", "--watch", "-o", "name"])
            .start();
        watching.wait_for_stdout("it lists namespaces", |text| text.contains("namespace/default"));
        let mut pids = cluster.process_ids();
        pids.push(watching.id());
        // What is not written on a stream of its own would wait for the end of the test.
        writeln!(std::io::stdout(), "pids {pids:?}").expect("the parent reads");
        loop {
            std::thread::park();
        }
    }

    // Not within the time that the other process is given.
    go::build("controlplane");
    let this = std::env::current_exe().expect("the test knows its program");
    let name = "live::smoke::a_killed_test_leaves_no_process_behind";
    let victim = Invocation::new(this)
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", std::env::var_os("HOME").unwrap_or_default())
        .env(VICTIM, "1")
        .start_unguarded();
    let written = victim.wait_for_stdout("it starts a cluster", |text| {
        text.contains("pids [") && text.contains(']')
    });
    let pids: Vec<u32> = written
        .split_once("pids [")
        .and_then(|(_, rest)| rest.split_once(']'))
        .map(|(list, _)| list.split(", ").filter_map(|pid| pid.parse().ok()).collect())
        .unwrap_or_default();
    assert_eq!(pids.len(), 4, "{written}");
    assert!(pids.iter().all(|pid| is_alive(*pid)), "{pids:?}");

    victim.signal(Signal::KILL);
    assert_eq!(victim.finish().signal, Some(9));
    wait_for("every process of the killed test is gone", || {
        pids.iter().all(|pid| !is_alive(*pid)).then_some(())
    });
}
