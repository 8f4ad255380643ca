//! Reading a cluster: which requests are made, what is served, who may ask, and what is said when that is not enough.

use serde_json::{Value, json};

use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, namespace, pod, template};
use crate::support::cluster::{Cluster, Component, Options, User};
use crate::support::process::Run;
use crate::support::wait::wait_for;

/// Returns what the program asked for, without who else asked.
fn requests(cluster: &Cluster, user: &User, args: &[&str]) -> Vec<String> {
    user.kubectl_dra(args).run().exits(0);
    let mut requests = wait_for("the requests are logged", || {
        let requests = cluster.requests_of("reader");
        requests
            .iter()
            .any(|request| request.contains("resourceclaims"))
            .then_some(requests)
    });
    // The harness asks in the user's name whether a new role is in effect.
    requests.retain(|request| !request.contains("selfsubjectaccessreviews"));
    requests.sort();
    requests
}

#[test]
fn a_list_of_claims_costs_three_requests() {
    let cluster = Cluster::start(&Options::default().without(Component::Scheduler));
    cluster.create(&claim("a", claim_spec([gpu()])));
    let reader = cluster.user("reader").with_role("view");
    let asked = requests(&cluster, &reader, &["claims", "-A"]);
    assert_eq!(
        asked,
        [
            "get /apis 200",
            "get /version 200",
            "list /apis/resource.k8s.io/v1/resourceclaims 200",
        ]
    );
}

#[test]
fn what_one_may_not_read_is_a_stated_gap() {
    let cluster = Cluster::shared();
    let in_one_namespace = cluster.user("gap-tenant").with_role_in("inference", "view");

    let claims = in_one_namespace
        .kubectl_dra(["claims", "-n", "inference", "-o", "json"])
        .run()
        .json();
    assert_eq!(claims["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(claims["warnings"], json!([]));

    let refused = in_one_namespace.kubectl_dra(["claims", "-A"]).run().exits(3);
    assert!(
        refused
            .stderr
            .contains("cannot list resourceclaims.resource.k8s.io: ")
            && refused
                .stderr
                .contains(r#"User "gap-tenant" cannot list resource "resourceclaims""#)
            && refused.stderr.contains("hint: "),
        "{}",
        refused.stderr
    );

    // The built-in role allows to see neither slices nor classes.
    let viewer = cluster.user("gap-viewer").with_role("view");
    let status = viewer.kubectl_dra(["status"]).run().exits(0);
    assert!(
        status
            .stderr
            .contains("user `gap-viewer` needs a ClusterRole to list resourceslices.resource.k8s.io"),
        "{}",
        status.stderr
    );
}

#[test]
fn every_refusal_names_a_remedy() {
    let cluster = Cluster::shared();
    let server = format!("--server={}", cluster.server());
    let authority = format!(
        "--certificate-authority={}",
        cluster.certificate_authority().display()
    );
    for (args, error, hint) in [
        (
            vec!["--kubeconfig=/nonexistent"],
            "kubeconfig `/nonexistent` does not exist",
            "--from example:gpus",
        ),
        (
            vec!["--context=other"],
            "context `other` does not exist",
            "existing contexts: `test`",
        ),
        (
            vec!["--cluster=other"],
            "cluster `other` does not exist",
            "existing clusters: `test`",
        ),
        (
            vec!["--user=other"],
            "user `other` does not exist",
            "existing users: `admin`",
        ),
        (
            vec!["--server=https://127.0.0.1:1"],
            "Connection refused",
            "check the address",
        ),
        (
            vec!["--server=https://cluster.invalid:6443"],
            "cannot reach the API server `https://cluster.invalid:6443`",
            "check the address",
        ),
        (
            vec!["--kubeconfig=/dev/null", &server, &authority, "--token=expired"],
            "rejected the credentials: Unauthorized",
            "log in again",
        ),
        (
            vec!["--kubeconfig=/dev/null", &server, "--token=any"],
            "invalid peer certificate",
            "--certificate-authority",
        ),
    ] {
        let run = cluster.kubectl_dra(["claims"]).args(&args).run().exits(3);
        assert_eq!(run.stdout, "", "{args:?}");
        assert!(
            run.stderr.starts_with("error: ") && run.stderr.contains(error),
            "{args:?}: {}",
            run.stderr
        );
        assert!(
            run.stderr.contains("hint: ") && run.stderr.contains(hint),
            "{args:?}: {}",
            run.stderr
        );
    }
}

#[test]
fn the_flags_of_kubectl_say_who_asks_and_whom() {
    let cluster = Cluster::shared();
    let server = format!("--server={}", cluster.server());
    let authority = format!(
        "--certificate-authority={}",
        cluster.certificate_authority().display()
    );
    let token = cluster.service_account_token("default", "robot");
    let run = |args: &[&str]| -> Run {
        cluster
            .kubectl_dra(["claims", "-A", "-o", "name"])
            .args(args)
            .run()
    };

    run(&[]).exits(0);
    run(&["--insecure-skip-tls-verify"]).exits(0);
    run(&["--as=admin", "--as-group=system:masters"]).exits(0);
    for (args, user) in [
        (vec!["--as=somebody"], "somebody"),
        (
            vec!["--kubeconfig=/dev/null", &server, &authority, "--token", &token],
            "system:serviceaccount:default:robot",
        ),
        (
            vec![
                "--kubeconfig=/dev/null",
                &server,
                "--insecure-skip-tls-verify",
                "--token",
                &token,
            ],
            "system:serviceaccount:default:robot",
        ),
    ] {
        let refused = run(&args).exits(3);
        assert!(
            refused.stderr.contains(&format!("User \"{user}\"")),
            "{args:?}: {}",
            refused.stderr
        );
    }
    let nonsense = run(&["--as-group=a"]).exits(2);
    assert!(
        nonsense.stderr.contains("`--as` is needed"),
        "{}",
        nonsense.stderr
    );
}

#[test]
fn a_credential_plugin_runs_once() {
    let cluster = Cluster::shared();
    let token = cluster.service_account_token("default", "robot");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let log = directory.path().join("log");
    let credential = json!({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "status": {"token": token}});
    let script = format!("echo run >> {}; echo '{credential}'", log.display());
    let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "inference"}}],
        "clusters": [{"name": "c", "cluster": {
            "server": cluster.server(), "certificate-authority": cluster.certificate_authority()}}],
        "users": [{"name": "u", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1",
            "command": "/bin/sh", "args": ["-c", script], "interactiveMode": "Never"}}}]});
    let path = directory.path().join("config");
    std::fs::write(&path, kubeconfig.to_string()).expect("the folder is writable");
    let run = cluster
        .kubectl_dra(["claims"])
        .env("KUBECONFIG", &path)
        .run()
        .exits(3);
    assert!(
        run.stderr.contains("system:serviceaccount:default:robot"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains(r#"in the namespace "inference""#),
        "the context's namespace: {}",
        run.stderr
    );
    assert_eq!(std::fs::read_to_string(&log).expect("the plugin ran"), "run\n");
}

#[test]
fn a_token_file_may_end_in_a_line_break_and_a_missing_kubeconfig_in_the_list_is_no_error() {
    let cluster = Cluster::shared();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let token = directory.path().join("token");
    std::fs::write(&token, cluster.service_account_token("default", "robot") + "\n").expect("a file");
    let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {
            "server": cluster.server(), "certificate-authority": cluster.certificate_authority()}}],
        "users": [{"name": "u", "user": {"tokenFile": token}}]});
    let path = directory.path().join("config");
    std::fs::write(&path, kubeconfig.to_string()).expect("a file");
    let list = format!("/nonexistent:{}", path.display());
    let run = cluster
        .kubectl_dra(["claims"])
        .env("KUBECONFIG", list)
        .run()
        .exits(3);
    assert!(
        run.stderr.contains("system:serviceaccount:default:robot"),
        "{}",
        run.stderr
    );
}

#[test]
fn older_shapes_read_like_the_newest() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(2);
    cluster.create(&namespace("team"));
    cluster.run(&[
        claim("shared", claim_spec([gpu()])),
        template("two", claim_spec([gpu().count(2)])),
        pod("a")
            .named_claim("gpu", "shared")
            .template_claim("more", "two"),
    ]);
    let ask = |command: &str| -> Value {
        let mut answer = cluster.kubectl_dra([command, "-A", "-o", "json"]).run().json();
        // Gates are known by what is served, among others.
        answer.as_object_mut().map(|answer| answer.remove("featureGates"));
        answer
    };
    let newest = ["claims", "devices", "reserved", "taints"].map(ask);
    cluster.stop(Component::Scheduler);
    cluster.stop(Component::ControllerManager);
    for served in ["v1beta2", "v1beta1"] {
        cluster.reconfigure(|options| {
            let versions = ["v1", "v1beta2", "v1beta1"]
                .map(|version| format!("resource.k8s.io/{version}={}", version == served));
            *options = options.clone().runtime_config(&versions.join(","));
        });
        assert_eq!(
            ["claims", "devices", "reserved", "taints"].map(ask),
            newest,
            "{served}"
        );
    }
}

#[test]
fn gates_are_known_by_what_is_served_by_metrics_and_by_arguments() {
    let cluster = Cluster::start(&Options::default().gate("GenericWorkload", true));
    cluster.create(&json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "kube-scheduler-a", "namespace": "kube-system", "labels": {"component": "kube-scheduler"}},
        "spec": {"containers": [{"name": "kube-scheduler", "image": "registry.k8s.io/kube-scheduler:v1.37.2",
            "command": ["kube-scheduler", "--feature-gates=DRAWorkloadResourceClaims=true"]}]}}));
    let gate = |report: &Value, component: &str, name: &str| -> (bool, String) {
        let gates = report["featureGates"].as_array().expect("gates");
        let found = gates
            .iter()
            .find(|gate| gate["component"] == component && gate["name"] == name);
        let found = found.unwrap_or_else(|| panic!("{component} {name} in {gates:?}"));
        let evidence = found["evidence"].as_str().unwrap_or_default().to_owned();
        (found["enabled"].as_bool().expect("a state"), evidence)
    };
    let admin = cluster.kubectl_dra(["status", "-o", "json"]).run().json();
    assert_eq!(
        gate(&admin, "kube-apiserver", "GenericWorkload"),
        (true, "metrics".to_owned())
    );
    assert_eq!(
        gate(&admin, "kube-apiserver", "DRAListTypeAttributes"),
        (false, "metrics".to_owned())
    );
    let arguments = "arguments of kube-system/kube-scheduler-a".to_owned();
    assert_eq!(
        gate(&admin, "kube-scheduler", "DRAWorkloadResourceClaims"),
        (true, arguments.clone())
    );
    assert_eq!(
        gate(&admin, "kube-scheduler", "GenericWorkload"),
        (false, arguments)
    );

    let viewer = cluster
        .user("viewer")
        .kubectl_dra(["status", "-o", "json"])
        .run()
        .json();
    let (enabled, evidence) = gate(&viewer, "kube-apiserver", "GenericWorkload");
    assert!(
        enabled && evidence.starts_with("served: podgroups.scheduling.k8s.io/"),
        "{evidence}"
    );

    let told = [
        "status",
        "-o",
        "json",
        "--scheduler-feature-gates=DRAWorkloadResourceClaims=false",
    ];
    let told = cluster.kubectl_dra(told).run().json();
    assert_eq!(
        gate(&told, "kube-scheduler", "DRAWorkloadResourceClaims"),
        (false, "flag".to_owned())
    );
}

#[test]
fn version_asks_the_server_and_knows_what_it_emulates() {
    let cluster = Cluster::start(
        &Options::default()
            .emulated_version("1.36")
            .without(Component::Scheduler),
    );
    let version = cluster.kubectl_dra(["version", "-o", "json"]).run().json();
    assert_eq!(version["serverVersion"]["emulatedVersion"], "1.36");
    assert!(
        version["serverVersion"]["kubernetesVersion"]
            .as_str()
            .is_some_and(|text| text.starts_with("1.37.")),
        "{version}"
    );
    cluster.stop(Component::ApiServer);
    let gone = cluster.kubectl_dra(["version"]).run().exits(3);
    assert!(gone.stdout.contains("Client Version:"), "{}", gone.stdout);
    assert!(gone.stderr.contains("Connection refused"), "{}", gone.stderr);
}

#[test]
fn watches_show_what_changes() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(1);
    cluster.create(&claim("a", claim_spec([gpu()])));
    let claims = cluster.kubectl_dra(["claims", "-w"]).start();
    claims.wait_for_stdout("the table", |text| {
        text.contains("a ") && text.contains("pending")
    });
    let devices = cluster.kubectl_dra(["devices", "-w", "-o", "name"]).start();
    devices.wait_for_stdout("the table", |text| text.lines().count() == 16);

    cluster.run(&[pod("user").named_claim("gpu", "a")]);
    claims.wait_for_stdout("the allocation", |text| text.contains("allocated,reserved"));
    let text = devices.wait_for_stdout("the device", |text| text.lines().count() > 16);
    assert!(
        text.lines()
            .skip(16)
            .all(|line| line.starts_with("device/gpu.example.com/")),
        "{text}"
    );

    // The API server closes its watches when it ends, and knows the old versions when it is back.
    // A controller manager that has not started all its controllers by then ends.
    cluster.stop(Component::ControllerManager);
    cluster.stop(Component::ApiServer);
    cluster.resume(Component::ApiServer);
    cluster.create(&claim("b", claim_spec([gpu()])));
    let text = claims.wait_for_stdout("the new claim", |text| text.contains("\ndefault     b"));
    assert_eq!(text.matches("NAMESPACE").count(), 1, "one header: {text}");
    cluster.delete("claim/b");
    claims.wait_for_stdout("its last row", |text| {
        text.matches("\ndefault     b").count() == 2
    });
    claims.signal(rustix::process::Signal::INT);
    assert_eq!(claims.finish().code, Some(130));
}

#[test]
fn names_are_completed_through_kubectl() {
    let cluster = Cluster::shared();
    let complete = |args: &[&str]| -> Vec<String> {
        let words = ["__complete", "dra"].iter().chain(args);
        let run = cluster.kubectl(words).run().exits(0);
        run.stdout
            .lines()
            .filter(|line| !line.starts_with(':'))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(
        complete(&["claims", "-n", "default", ""]),
        ["notebook-gpu", "spare"]
    );
    assert_eq!(complete(&["claims", "-n", "default", "sp"]), ["spare"]);
    assert!(
        complete(&["claims", "-A", "claim/infer"])
            .iter()
            .all(|name| name.starts_with("claim/inference/web-"))
    );
    assert_eq!(
        complete(&["claims", "--node", ""]),
        ["gpu-node-1", "gpu-node-2", "gpu-node-3"]
    );
    assert_eq!(
        complete(&["claims", "--driver", ""]),
        ["gpu.example.com", "nic.example.com"]
    );
    assert_eq!(complete(&["claims", "-n", "tr"]), ["training"]);
    assert_eq!(complete(&["claims", "--context", ""]), ["test"]);
    assert!(complete(&["devices", "gpu.example.com/gpu-node-1/"]).len() == 8);
}
