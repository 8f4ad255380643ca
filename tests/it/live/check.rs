//! `check` on a cluster: what joins kinds is read again, and then sure.

use serde_json::{Value, json};

use super::remedies::obey;
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::kubelet::now;
use crate::support::cluster::objects::{Manifest, class, pod};
use crate::support::cluster::{Cluster, Options, scenario};
use crate::support::process::Run;
use crate::support::wait::wait_for;

/// The report, of a run with this exit code.
fn report(run: Run, code: i32) -> Value {
    serde_json::from_str(&run.exits(code).stdout).expect("JSON")
}

/// `CODE kind/name` of each finding.
fn found(report: &Value) -> Vec<String> {
    let items = report["items"].as_array().expect("items");
    items
        .iter()
        .map(|item| {
            let (code, object) = (&item["code"], &item["object"]);
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            format!(
                "{} {}/{}",
                text(code),
                text(&object["kind"]),
                text(&object["name"])
            )
        })
        .collect()
}

#[test]
fn findings_of_a_cluster_are_confirmed() {
    let cluster = scenario::named("stale-reservations").start();
    let report = report(cluster.kubectl_dra(["check", "-o", "json"]).run(), 1);
    // The scheduler chose the node of the recreated pod, which may or may not be the one with the devices of its claim.
    let mut found = found(&report);
    found.retain(|finding| *finding != "DRA018 Pod/again");
    assert_eq!(
        found,
        [
            "DRA014 Pod/again",
            "DRA010 ResourceClaim/pod-gone",
            "DRA011 ResourceClaim/pod-done",
            "DRA012 ResourceClaim/pod-recreated",
            "DRA013 ResourceClaim/foreign",
            "DRA015 ResourceClaim/unreserved",
        ]
    );
    for item in report["items"].as_array().into_iter().flatten() {
        assert_eq!(item["certainty"], "Confirmed", "{item}");
    }
    assert_eq!(report["unknown"], json!([]));
}

#[test]
fn a_cluster_in_order_has_no_findings_and_a_hidden_one_no_verdict() {
    let cluster = Cluster::shared();
    let report = report(cluster.kubectl_dra(["check", "-o", "json"]).run(), 0);
    assert_eq!(found(&report), [""; 0]);
    let tenant = cluster.user("checking-tenant").with_role_in("inference", "view");
    let run = tenant.kubectl_dra(["check", "-n", "inference"]).run().exits(4);
    assert!(
        run.stderr.contains("warning: unknown: ")
            && run.stderr.contains("No findings in namespace `inference`"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_gate_of_the_api_server_is_seen_before_a_downgrade() {
    let cluster = scenario::named("podgroups").start();
    let run = cluster
        .kubectl_dra(["check", "--to-version", "1.36", "--only", "DRA122", "-o", "json"])
        .run();
    let report = report(run, 1);
    assert_eq!(found(&report), ["DRA122 FeatureGate/GenericWorkload"]);
    assert_eq!(report["unknown"], json!([]));
}

/// The list of pods is from before a pod came: there is no finding, as the pod is asked for again.
#[test]
fn a_pod_that_came_between_two_lists_makes_no_finding() {
    let cluster = Cluster::shared();
    let faulty = cluster.faulty(|path, _| {
        if path.split('?').next() == Some("/api/v1/pods") {
            Fault::Replaced(r#""name":"notebook","#, r#""name":"not-yet","#)
        } else {
            Fault::None
        }
    });
    let check = ["check", "-o", "json", "--only", "DRA010"];
    let report = report(cluster.kubectl_dra(check).args(faulty.flags()).run(), 0);
    assert_eq!(found(&report), [""; 0]);
    // There was a suspicion, which this answered.
    let asked = faulty.asked();
    let again = |path: &String| path.starts_with("/api/v1/namespaces/") && path.ends_with("/pods/notebook");
    assert!(asked.iter().any(again), "{asked:#?}");

    // Where the object cannot be read again, the suspicion stays one.
    let silent = cluster.faulty(|path, _| {
        if path.split('?').next() == Some("/api/v1/pods") {
            Fault::Replaced(r#""name":"notebook","#, r#""name":"not-yet","#)
        } else if path.ends_with("/pods/notebook") {
            Fault::Refusal(403, "", "forbidden".to_owned())
        } else {
            Fault::None
        }
    });
    let run = cluster.kubectl_dra(check).args(silent.flags()).run();
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(found(&report), ["DRA010 ResourceClaim/notebook-gpu"]);
    assert_eq!(report["items"][0]["certainty"], "Possible");
}

/// What DRA070 says of kube-scheduler is so: of several classes the newest counts, not the first by name, and any class that gives the name
/// up takes it from the one that keeps it. Its command repairs that.
#[test]
fn of_classes_with_one_extended_resource_the_newest_counts_and_the_command_keeps_it_so() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(1);
    let providing = |name: &str, driver: &str| {
        let spec = json!({"spec": {"extendedResourceName": "example.com/any"}});
        let created = cluster.create(&class(name, &format!("device.driver == '{driver}'")).with(spec));
        // Classes of one second are equally old.
        wait_for("the second is over", || {
            (now().as_str() > created["metadata"]["creationTimestamp"].as_str()?).then_some(())
        });
    };
    providing("a-older", "gpu.example.com");
    providing("b-newer", "nic.example.com");
    // The scheduler watches classes and pods apart. It sees changes of classes in their order: one whose pod has a node is behind all others.
    let classes_are_seen = |before: &str| {
        let name = format!("before-{before}");
        let resource = format!("example.com/{name}");
        let spec = json!({"spec": {"extendedResourceName": resource}});
        cluster.create(&class(&name, "device.driver == 'gpu.example.com'").with(spec));
        cluster.create(&pod(&name).requesting(&resource, 1));
        cluster.wait_scheduled([format!("pod/{name}").as_str()]);
    };
    let driver_of = |name: &str| {
        classes_are_seen(name);
        cluster.create(&pod(name).requesting("example.com/any", 1));
        let pod = cluster.wait(&format!("pod/{name}"), "it has a node", |pod| {
            pod["spec"]["nodeName"].is_string()
        });
        let claim = &pod["status"]["extendedResourceClaimStatus"]["resourceClaimName"];
        let claim = cluster.get(&format!("claim/{}", claim.as_str().expect("a claim")));
        claim["status"]["allocation"]["devices"]["results"][0]["driver"].clone()
    };
    let check = || {
        cluster
            .kubectl_dra(["check", "--only", "DRA070", "-o", "json"])
            .run()
    };
    assert_eq!(driver_of("first"), "nic.example.com");
    let told = report(check(), 1);
    assert_eq!(found(&told), ["DRA070 DeviceClass/b-newer"]);
    obey(&cluster, told["items"][0]["command"].as_str().expect("a command"));
    assert_eq!(found(&report(check(), 0)), [""; 0]);
    assert_eq!(driver_of("second"), "nic.example.com");

    // Without the last part of the command the name would be lost.
    providing("c-newest", "gpu.example.com");
    cluster.delete("class/c-newest");
    classes_are_seen("third");
    cluster.create(&pod("third").requesting("example.com/any", 1));
    cluster.wait_unschedulable(["pod/third"]);
    cluster.patch(
        "class/b-newer",
        &json!({"metadata": {"labels": {"example.com/seen": "again"}}}),
    );
    // Only what is asked for from now on: kube-scheduler does not try the third pod again for that.
    assert_eq!(driver_of("fourth"), "nic.example.com");
}

/// The label of a namespace is looked at when admin access is asked for and when it is granted, and never again.
#[test]
fn admin_access_outlives_the_label_of_its_namespace() {
    let cluster = scenario::named("admin-access").start();
    let check = || {
        cluster
            .kubectl_dra(["check", "--only", "DRA071,DRA072", "-o", "json"])
            .run()
    };
    assert_eq!(found(&report(check(), 0)), ["DRA071 Namespace/monitoring"]);
    cluster.patch(
        "namespace/monitoring",
        &json!({"metadata": {"labels": {"resource.kubernetes.io/admin-access": null}}}),
    );
    let told = report(check(), 1);
    let items = told["items"].as_array().expect("items");
    assert!(
        items
            .iter()
            .all(|item| item["code"] == "DRA072" && item["certainty"] == "Confirmed"),
        "{told:#}"
    );
    let claim = items.iter().find(|item| item["object"]["name"] == "all-gpus");
    let message = claim
        .and_then(|claim| claim["message"].as_str())
        .unwrap_or_default();
    assert!(
        message.starts_with("has admin access to gpu.example.com/"),
        "{told:#}"
    );
    let template = items
        .iter()
        .find(|item| item["object"]["kind"] == "ResourceClaimTemplate");
    let message = template
        .and_then(|template| template["message"].as_str())
        .unwrap_or_default();
    assert!(
        message.contains("rejects every claim that is created from it"),
        "{told:#}"
    );
}
