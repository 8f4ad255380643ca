//! Reservations for what is neither a pod nor a PodGroup, as KEP-5194 and other controllers make them, and for groups that are gone.

use http::Method;
use serde_json::{Value, json};

use super::{ON, Records, cluster, convert, end_pods, groups, is_free, list, small, sorted};
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, pod};
use crate::support::cluster::{Cluster, Component};
use crate::support::schema::assert_schema;

/// Kinds that controllers reserve for; the last one is unknown.
const KINDS: [(&str, &str, &str); 4] = [
    ("render", "batch", "jobs"),
    ("web", "apps", "statefulsets"),
    ("train", "jobset.x-k8s.io", "jobsets"),
    ("study", "example.com", "experiments"),
];

/// Reserves a claim for an object of that kind and for nothing else.
fn reserve(cluster: &Cluster, name: &str, group: &str, resource: &str) {
    cluster.update_status(&format!("claim/{name}"), |claim| {
        claim["status"]["reservedFor"] =
            json!([{"apiGroup": group, "resource": resource, "name": name, "uid": format!("uid-{name}")}]);
    });
}

/// Outcome and code of each claim in a report.
fn outcomes(stdout: &str) -> Vec<String> {
    let report: Value = assert_schema!(stdout);
    let claims = report["claims"].as_array().expect("claims");
    claims
        .iter()
        .map(|claim| {
            ["name", "outcome", "code"]
                .map(|field| claim[field].as_str().unwrap_or_default())
                .join(" ")
        })
        .collect()
}

#[test]
fn entries_of_any_kind_become_the_pods_that_use_the_claim() {
    let cluster = cluster();
    let pods =
        |name: &str| [0, 1].map(|number| small(pod(&format!("{name}-{number}"))).named_claim("gpu", name));
    let claims: Vec<Value> = KINDS
        .iter()
        .map(|(name, ..)| claim(name, claim_spec([gpu()])))
        .collect();
    cluster.create_all(&claims);
    cluster.run(&KINDS.map(|(name, ..)| pods(name)).concat());
    cluster.run(&[
        claim("idle", claim_spec([gpu()])),
        small(pod("idle-0")).named_claim("gpu", "idle"),
    ]);
    // As the KEP has it: the claim lists its owner only, and whoever owns it answers for the pods.
    cluster.stop(Component::ControllerManager);
    cluster.stop(Component::Scheduler);
    cluster.delete_now("pod/idle-0");
    for (name, group, resource) in KINDS {
        reserve(&cluster, name, group, resource);
    }
    reserve(&cluster, "idle", "example.com", "experiments");

    let names = KINDS.map(|(name, ..)| format!("claim/{name}"));
    let before = names.clone().map(|claim| list(&cluster, &claim));
    let run = |args: &[&str]| {
        convert(&cluster, &Records::new().backup(), args)
            .args(["-o", "json"])
            .run()
    };
    let kept = |name: &str| format!("{name} Kept KindNotSelected");
    let plain = run(&[]).exits(1);
    assert_eq!(
        outcomes(&plain.stdout),
        ["idle", "render", "study", "train", "web"].map(kept)
    );
    assert_eq!(names.clone().map(|claim| list(&cluster, &claim)), before);

    let jobs = run(&["--kind=jobs.batch", "--kind=jobsets.jobset.x-k8s.io"]).exits(1);
    assert_eq!(
        outcomes(&jobs.stdout),
        [
            kept("idle"),
            "render Converted Convertible".to_owned(),
            kept("study"),
            "train Converted Convertible".to_owned(),
            kept("web")
        ]
    );
    let all = run(&["--all-kinds"]).exits(1);
    assert_eq!(
        outcomes(&all.stdout),
        [
            "idle Refused UnknownKindUnused",
            "study Converted Convertible",
            "web Converted Convertible"
        ]
    );
    for (name, ..) in KINDS {
        let pods = [0, 1].map(|number| format!("pods/{name}-{number}"));
        assert_eq!(sorted(&cluster, &format!("claim/{name}")), pods);
    }
    // Its entry has to be named, since it is unknown whether the object is needed.
    let release = ["--all-kinds", "--release-unused"];
    assert_eq!(
        outcomes(&run(&release).exits(1).stdout),
        ["idle Refused UnknownKindUnused"]
    );
    let released = run(&[&release[..], &["--entry=experiments.example.com/idle"]].concat()).exits(0);
    assert_eq!(outcomes(&released.stdout), ["idle Released Releasable"]);

    cluster.resume(Component::ControllerManager);
    cluster.resume(Component::Scheduler);
    end_pods(&cluster);
    for claim in names.iter().map(String::as_str).chain(["claim/idle"]) {
        cluster.wait(claim, "it is free", is_free);
    }
}

/// What the KEP adds to a claim is unknown to this release: it does not get as far as the store.
#[test]
fn fields_that_no_release_has_yet_are_dropped_by_the_server() {
    let cluster = cluster();
    let owner = json!({"apiGroup": "batch", "resource": "jobs", "name": "render", "uid": "uid-render"});
    let made = claim("render", claim_spec([gpu()])).with(json!({"spec": {"reservedFor": owner}}));
    let path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
    let strict = cluster.request(&Method::POST, &format!("{path}?fieldValidation=Strict"), &made);
    assert_eq!(strict.status, 400, "{strict:?}");
    cluster.run(&[made, small(pod("render-0")).named_claim("gpu", "render")]);
    cluster.update_status("claim/render", |claim| {
        claim["status"]["allocation"]["reservedForAnyPod"] = json!(true);
    });
    let stored = cluster.get("claim/render");
    assert!(stored["spec"]["reservedFor"].is_null(), "{stored:#}");
    assert!(
        stored["status"]["allocation"]["reservedForAnyPod"].is_null(),
        "{stored:#}"
    );
    let run = convert(&cluster, &Records::new().backup(), &["--all-kinds"])
        .run()
        .exits(0);
    assert!(run.stderr.contains("No claims to convert"), "{}", run.stderr);
}

#[test]
fn entries_of_groups_that_are_gone_are_refused() {
    let cluster = cluster();
    groups(&cluster, &["gone", "other"], 1);
    // It would take the devices from the pod.
    cluster.stop(Component::ControllerManager);
    cluster.stop(Component::Scheduler);
    cluster.patch("podgroup/gone", &json!({"metadata": {"finalizers": null}}));
    cluster.delete("podgroup/gone");
    cluster.wait_gone("podgroup/gone");
    cluster.update_status("claim/other", |claim| {
        claim["status"]["reservedFor"][0]["uid"] = json!("22222222");
    });
    let lists = || ["claim/gone", "claim/other"].map(|claim| list(&cluster, claim));
    let before = lists();
    for more in [&[][..], &["--all-kinds", "--release-unused"]] {
        let run = cluster
            .kubectl_dra(["convert", "--yes", ON, "-o", "json"])
            .args(more)
            .run()
            .exits(1);
        assert_eq!(
            outcomes(&run.stdout),
            ["gone Refused PodGroupGone", "other Refused PodGroupUIDMismatch"]
        );
        assert_eq!(lists(), before);
    }
}
