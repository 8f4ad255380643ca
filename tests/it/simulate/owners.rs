//! Pods that are neither deleted nor waited for: pods of a manifest, and pods of the pending pod's owner.

use serde_json::{Value, json};

use super::{Manifest, NOW};
use crate::support::command::{dra, on_screen};
use crate::support::schema::assert_valid;

/// A pod's owner and labels.
type Owned<'a> = (&'a Value, &'a Value);

/// A node with two devices, their class, and a template for one of them.
fn machine() -> Vec<Value> {
    let device = |name: &str| json!({"name": name});
    vec![
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1", "uid": "node-uid"},
            "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu", "uid": "class-uid"},
            "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "slice", "uid": "slice-uid"},
            "spec": {"driver": "gpu.example.com", "nodeName": "node-1",
                "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
                "devices": [device("gpu-0"), device("gpu-1")]}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"namespace": "n", "name": "one", "uid": "template-uid"}, "spec": {"spec": asks(1)}}),
    ]
}

fn asks(count: usize) -> Value {
    json!({"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}}]}})
}

fn owner(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": format!("{kind}-{name}-uid"), "controller": true})
}

/// The object that `of` refers to, owned by `above`.
fn object(of: &Value, above: &Value) -> Value {
    let above: Vec<&Value> = Some(above).filter(|above| !above.is_null()).into_iter().collect();
    json!({"apiVersion": of["apiVersion"], "kind": of["kind"], "metadata": {"namespace": "n", "name": of["name"], "uid": of["uid"],
        "ownerReferences": above}})
}

/// A pod with a claim of its own: one that runs with these devices, or waits for as many as `wanted`.
fn pod(name: &str, (owner, labels): (&Value, &Value), wanted: usize, devices: &[&str]) -> Vec<Value> {
    let owners: Vec<&Value> = Some(owner).filter(|owner| !owner.is_null()).into_iter().collect();
    let (uid, claim) = (format!("{name}-uid"), format!("{name}-gpu"));
    let results: Vec<Value> = devices
        .iter()
        .map(|device| json!({"request": "gpu", "driver": "gpu.example.com", "pool": "node-1", "device": device}))
        .collect();
    let runs = !devices.is_empty();
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "n", "name": name, "uid": uid, "labels": labels, "ownerReferences": owners},
        "spec": {"containers": [{"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]},
        "status": {"phase": if runs { "Running" } else { "Pending" },
            "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": claim}]}});
    let mut own = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"namespace": "n", "name": claim, "uid": format!("{claim}-uid"),
            "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": true}]},
        "spec": asks(wanted), "status": {}});
    if runs {
        pod["spec"]["nodeName"] = json!("node-1");
        own["status"] = json!({"allocation": {"devices": {"results": results}},
            "reservedFor": [{"resource": "pods", "name": name, "uid": uid}]});
    }
    vec![pod, own]
}

fn file(objects: impl IntoIterator<Item = Value>) -> Manifest {
    let items: Vec<Value> = objects.into_iter().collect();
    Manifest::new(&json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string())
}

/// Returns what a command says of a file, and its report.
fn said(args: &[&str], from: &Manifest) -> (String, Value) {
    let path = from.path().display().to_string();
    let all = [
        args,
        &[
            "--from",
            &path,
            "--complete",
            "--now",
            NOW,
            "--kubernetes-version",
            "1.37",
        ],
    ]
    .concat();
    let run = dra(&all).run();
    let report = assert_valid(&dra(&[&all[..], &["-o", "json"]].concat()).run().stdout);
    let wide = dra(&[&all[..], &["-o", "wide"]].concat()).run();
    let screen = on_screen(dra(&all), 80);
    (
        [
            run.stdout,
            run.stderr,
            wide.stdout,
            screen.stdout,
            report.to_string(),
        ]
        .concat(),
        report,
    )
}

#[test]
fn pods_of_the_same_owner_are_neither_deleted_nor_waited_for() {
    let none = json!({});
    let nobody = Value::Null;
    let hash = |hash: &str| json!({"pod-template-hash": hash});
    let set = |name: &str| owner("apps/v1", "ReplicaSet", name);
    let job = |name: &str| owner("batch/v1", "Job", name);
    let (old, new) = (set("web-6b8f"), set("web-7c9d"));
    let web = owner("apps/v1", "Deployment", "web");
    let stateful = owner("apps/v1", "StatefulSet", "web");
    let jobset = json!({"jobset.sigs.k8s.io/jobset-name": "js"});
    let (cron, farm) = (
        owner("batch/v1", "CronJob", "c"),
        owner("example.com/v1", "Farm", "f"),
    );
    let (one, two) = (
        owner("example.com/v1", "Ring", "r1"),
        owner("example.com/v1", "Ring", "r2"),
    );
    let kin: [(Owned<'_>, Owned<'_>, Vec<Value>, &str); 9] = [
        ((&old, &none), (&old, &none), vec![], "same ReplicaSet web-6b8f"),
        (
            (&old, &none),
            (&new, &none),
            vec![object(&old, &web), object(&new, &web)],
            "same Deployment web",
        ),
        (
            (&old, &hash("6b8f")),
            (&new, &hash("7c9d")),
            vec![],
            "same Deployment web",
        ),
        (
            (&old, &none),
            (&new, &none),
            vec![],
            "and ReplicaSet web-6b8f have the same owner",
        ),
        (
            (&stateful, &none),
            (&stateful, &none),
            vec![],
            "same StatefulSet web",
        ),
        (
            (&job("c-29384640"), &none),
            (&job("c-29386080"), &none),
            vec![],
            "same CronJob c",
        ),
        (
            (&job("x"), &none),
            (&job("y"), &none),
            vec![object(&job("x"), &cron), object(&job("y"), &cron)],
            "same CronJob c",
        ),
        (
            (&job("js-a-0"), &jobset),
            (&job("js-b-0"), &jobset),
            vec![],
            "same JobSet js",
        ),
        (
            (&one, &none),
            (&two, &none),
            vec![object(&one, &farm), object(&two, &farm)],
            "same Farm f",
        ),
    ];
    for (theirs, ours, owners, expected) in kin {
        let objects = machine()
            .into_iter()
            .chain(pod("older", theirs, 2, &["gpu-0", "gpu-1"]))
            .chain(pod("newer", ours, 2, &[]))
            .chain(owners);
        let from = file(objects);
        for args in [
            &["explain", "pod/newer", "-n", "n"][..],
            &["explain", "claim/newer-gpu", "-n", "n"],
            &["explain", "-A"],
        ] {
            let (text, report) = said(args, &from);
            assert!(
                !text.contains("kubectl delete pod"),
                "{expected} {args:?}: {text}"
            );
            // It does nothing to the Jobs of its earlier runs, which end.
            let is_waited_for = expected.contains("CronJob");
            assert!(
                args[1] == "-A" || text.contains("node-1 once ") == is_waited_for,
                "{expected} {args:?}: {text}"
            );
            if args[1] != "-A" && !is_waited_for {
                let waiting = report["waiting"]["summary"].as_str().unwrap_or_default();
                assert!(waiting.contains("pod/n/older"), "{expected}: {report:#}");
                let owner = expected.trim_start_matches("same ");
                assert!(waiting.contains(owner), "{expected}: {report:#}");
                // These want all of their pods beside each other.
                let is_kept = ["ReplicaSet ", "StatefulSet "]
                    .iter()
                    .any(|kind| owner.starts_with(kind));
                let helps = if is_kept { "kept" } else { "unknown" };
                assert_eq!(report["waiting"]["helps"], helps, "{expected}: {report:#}");
            }
        }
    }
    // Others are named as before, beside such ones too.
    let objects = machine()
        .into_iter()
        .chain(pod("older", (&old, &hash("6b8f")), 1, &["gpu-0"]))
        .chain(pod("other", (&nobody, &none), 1, &["gpu-1"]))
        .chain(pod("newer", (&new, &hash("7c9d")), 1, &[]));
    let (text, report) = said(&["explain", "pod/newer", "-n", "n"], &file(objects));
    assert_eq!(report["waiting"]["consumers"], json!(["pod/n/other"]));
    assert!(text.contains("kubectl delete pod/other --namespace=n"), "{text}");
    assert!(!text.contains("kubectl delete pod/older"), "{text}");
    for (theirs, owners) in [
        (
            set("api-1"),
            vec![object(&set("api-1"), &Value::Null), object(&new, &web)],
        ),
        (job("sweep"), vec![]),
    ] {
        let objects = machine()
            .into_iter()
            .chain(pod("older", (&theirs, &none), 2, &["gpu-0", "gpu-1"]))
            .chain(pod("newer", (&new, &none), 2, &[]))
            .chain(owners);
        let (text, _) = said(&["explain", "pod/newer", "-n", "n"], &file(objects));
        assert!(
            text.contains("pod/n/older") && text.contains("releases claim/n/older-gpu"),
            "{text}"
        );
    }
}

#[test]
fn pods_that_wait_for_each_other_are_the_cause() {
    let domain = owner("resource.nvidia.com/v1beta1", "ComputeDomain", "imex");
    let mut all = object(&domain, &Value::Null);
    all["spec"] = json!({"numNodes": 2, "channel": {"resourceClaimTemplate": {"name": "one"}}});
    all["status"] = json!({"status": "NotReady", "nodes": [{"name": "node-1", "status": "Ready"}]});
    let (none, nobody) = (json!({}), Value::Null);
    let first = |phase: &str| {
        let mut first = pod("first", (&nobody, &none), 2, &["gpu-0", "gpu-1"]);
        first[0]["status"]["phase"] = json!(phase);
        first
    };
    let with = |first: Vec<Value>, domain: Option<&Value>| {
        let objects = machine().into_iter().chain(first);
        file(
            objects
                .chain(pod("second", (&nobody, &none), 1, &[]))
                .chain(domain.cloned()),
        )
    };
    let (text, report) = said(
        &["explain", "pod/second", "-n", "n"],
        &with(first("Pending"), Some(&all)),
    );
    for part in [
        "pod/n/first holds them and cannot start without this pod, because ComputeDomain imex starts its pods when all have nodes",
        "waiting will not help: pod/n/first holds what it needs",
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("kubectl delete pod"), "{text}");
    assert_eq!(report["waiting"]["helps"], "kept", "{report:#}");
    assert_eq!(report["verdict"], "DoesNotFit", "{report:#}");
    // One that runs waits for nobody, nor does one of no domain.
    for (first, domain) in [(first("Running"), Some(&all)), (first("Pending"), None)] {
        let (_, report) = said(&["explain", "pod/second", "-n", "n"], &with(first, domain));
        assert_ne!(report["waiting"]["helps"], "kept", "{report:#}");
    }
}

fn workload(api_version: &str, kind: &str, name: &str, replicas: usize, more: Value) -> Value {
    let mut spec = json!({"replicas": replicas, "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": {
            "containers": [{"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}}});
    if kind == "Job" {
        spec = json!({"parallelism": replicas, "template": spec["template"]});
        spec["template"]["spec"]["restartPolicy"] = json!("Never");
    }
    for (key, value) in more.as_object().expect("fields of the spec") {
        spec[key] = value.clone();
    }
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": "n", "name": name}, "spec": spec})
}

#[test]
fn pods_of_a_manifest_are_neither_deleted_nor_waited_for() {
    let none = json!({});
    let nobody = Value::Null;
    let web = owner("apps/v1", "StatefulSet", "web");
    let with = |pods: Vec<Value>| file(machine().into_iter().chain(pods));
    let real = || with(pod("web-0", (&web, &none), 1, &["gpu-0"]));
    for (kind, api_version) in [
        ("StatefulSet", "apps/v1"),
        ("Deployment", "apps/v1"),
        ("Job", "batch/v1"),
    ] {
        // What somebody else has is no harm to name.
        let others = (kind == "StatefulSet").then(real);
        for from in [with(vec![])].into_iter().chain(others) {
            let manifest = Manifest::new(&workload(api_version, kind, "web", 4, json!({})).to_string());
            let path = manifest.path().display().to_string();
            for command in [
                &["explain", "-f", &path][..],
                &["simulate", "allocation", "-f", &path],
            ] {
                let (text, _) = said(command, &from);
                assert!(!text.contains("kubectl delete"), "{kind} {command:?}: {text}");
                assert!(!text.contains("node-1 once "), "{kind} {command:?}: {text}");
            }
        }
    }
    // What runs is not ended for what is not there.
    let others = with(pod("other", (&nobody, &none), 2, &["gpu-0", "gpu-1"]));
    for manifest in [
        workload("apps/v1", "StatefulSet", "web", 1, json!({})),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"namespace": "n", "name": "new"}, "spec": asks(1)}),
    ] {
        let manifest = Manifest::new(&manifest.to_string());
        let (text, report) = said(
            &["explain", "-f", &manifest.path().display().to_string()],
            &others,
        );
        assert_eq!(
            report["waiting"]["consumers"],
            json!(["pod/n/other"]),
            "{report:#}"
        );
        assert!(!text.contains("kubectl delete"), "{text}");
    }
    // A name that is taken is said, and what has it gives its devices back.
    let manifest = Manifest::new(&workload("apps/v1", "StatefulSet", "web", 2, json!({})).to_string());
    let path = manifest.path().display().to_string();
    let (text, report) = said(&["explain", "-f", &path], &real());
    assert_eq!(report["verdict"], "Fits", "{report:#}");
    assert!(
        text.contains("statefulset/n/web exists; simulated as if replaced, without its 1 pod"),
        "{text}"
    );
    let bare = || with(pod("web-0", (&nobody, &none), 1, &["gpu-0"]));
    let (text, report) = said(&["simulate", "allocation", "-f", &path], &bare());
    assert_eq!(report["result"], "Fits", "{report:#}");
    assert!(
        text.contains("pod/n/web-0 exists; simulated as if replaced"),
        "{text}"
    );
    // A claim, and what a server wrote of a pod that is there.
    let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"namespace": "n", "name": "web-0-gpu", "uid": "web-0-gpu-uid"}, "spec": asks(2)});
    let manifest = Manifest::new(&claim.to_string());
    let (text, _) = said(
        &["explain", "-f", &manifest.path().display().to_string()],
        &real(),
    );
    assert!(
        text.contains("resourceclaim/n/web-0-gpu exists; simulated as if replaced"),
        "{text}"
    );
    // A Deployment keeps its old pods during a rollout, unless it may not surge; they are not ended for the new ones.
    let rollout = |strategy: Value| {
        let set = owner("apps/v1", "ReplicaSet", "web-6b8f");
        let labels = json!({"pod-template-hash": "6b8f"});
        let from = with(pod("web-6b8f-x", (&set, &labels), 2, &["gpu-0", "gpu-1"]));
        let manifest = workload("apps/v1", "Deployment", "web", 1, json!({"strategy": strategy}));
        let manifest = Manifest::new(&manifest.to_string());
        said(&["explain", "-f", &manifest.path().display().to_string()], &from)
    };
    let (text, report) = rollout(json!({}));
    assert_eq!(report["verdict"], "DoesNotFit", "{report:#}");
    assert!(
        text.contains("a rollout that keeps its 1 pod until new ones are ready"),
        "{text}"
    );
    assert!(!text.contains("kubectl delete"), "{text}");
    for strategy in [
        json!({"type": "Recreate"}),
        json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
    ] {
        assert_eq!(rollout(strategy).1["verdict"], "Fits");
    }
}

/// What an earlier run of a CronJob, or the other half of a Rollout, has stays where it is.
#[test]
fn earlier_runs_and_rollouts_keep_their_pods() {
    let judged = |manifest: &Value, (set, labels): (&Value, &Value)| {
        let from = file(
            machine()
                .into_iter()
                .chain(pod("old", (set, labels), 2, &["gpu-0", "gpu-1"])),
        );
        let manifest = Manifest::new(&manifest.to_string());
        said(&["explain", "-f", &manifest.path().display().to_string()], &from)
    };
    let run = owner("batch/v1", "Job", "web-29384640");
    let none = json!({});
    let template = workload("batch/v1", "Job", "web", 1, json!({}))["spec"].clone();
    for (policy, verdict, told) in [
        (
            Value::Null,
            "DoesNotFit",
            "simulated as another run beside its 1 pod",
        ),
        (
            json!("Allow"),
            "DoesNotFit",
            "simulated as another run beside its 1 pod",
        ),
        (
            json!("Replace"),
            "Fits",
            "simulated as if replaced, without its 1 pod",
        ),
        (
            json!("Forbid"),
            "Fits",
            "simulated as if replaced, without its 1 pod",
        ),
    ] {
        let spec =
            json!({"schedule": "* * * * *", "jobTemplate": {"spec": template}, "concurrencyPolicy": policy});
        let manifest = json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"namespace": "n", "name": "web"}, "spec": spec});
        let (text, report) = judged(&manifest, (&run, &none));
        assert_eq!(report["verdict"], verdict, "{policy}: {report:#}");
        assert!(text.contains(told), "{policy}: {text}");
        assert!(!text.contains("kubectl delete"), "{policy}: {text}");
    }
    let rollout = workload(
        "argoproj.io/v1alpha1",
        "Rollout",
        "web",
        1,
        json!({"strategy": {"blueGreen": {}}}),
    );
    let labels = json!({"rollouts-pod-template-hash": "6b8f"});
    let (text, report) = judged(&rollout, (&owner("apps/v1", "ReplicaSet", "web-6b8f"), &labels));
    assert_eq!(report["verdict"], "DoesNotFit", "{report:#}");
    assert!(
        text.contains("a rollout that keeps its 1 pod until new ones are ready"),
        "{text}"
    );
}

/// A ReplicaSet or a Job that the source lacks, and that is called after a workload of the manifest, may be its own.
#[test]
fn what_may_be_made_by_a_workload_of_the_manifest_is_spared() {
    let none = json!({});
    for (api_version, kind, (maker, made)) in [
        ("apps/v1", "Deployment", ("apps/v1", "ReplicaSet")),
        ("batch/v1", "CronJob", ("batch/v1", "Job")),
    ] {
        let own = owner(maker, made, "web-5c");
        let from = file(
            machine()
                .into_iter()
                .chain(pod("web-5c-a", (&own, &none), 2, &["gpu-0", "gpu-1"])),
        );
        let job = workload("batch/v1", "Job", "web", 1, json!({}))["spec"].clone();
        let manifest = match kind {
            "CronJob" => {
                json!({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": "n", "name": "web"},
                "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job}}})
            }
            _ => workload(api_version, kind, "web", 1, json!({})),
        };
        let manifest = Manifest::new(&manifest.to_string());
        let (text, report) = said(&["explain", "-f", &manifest.path().display().to_string()], &from);
        assert_eq!(report["verdict"], "DoesNotFit", "{report:#}");
        assert!(!text.contains("delete pod"), "{kind}: {text}");
    }
}

/// What a fix does besides is said of each fix that does it, wherever fixes are told.
#[test]
fn side_effects_are_reported_for_every_fix_in_every_form() {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for object in [
        "pod/too-many",
        "pod/constraint-conflict",
        "pod/cel-mismatch",
        "pod/two-requests",
        "pod/tainted",
    ] {
        let args = ["explain", object, "--from", "example:pending", "--details"];
        let report = assert_valid(&dra(&[&args[..4], &["-o", "json"]].concat()).run().stdout);
        let fixes = report["fixes"].as_array().expect("fixes");
        assert!(fixes.iter().any(|fix| fix["note"].is_string()), "{object}");
        let texts = [
            dra(&args).run().stdout,
            dra(&[&args[..4], &["-o", "wide"]].concat()).run().stdout,
            on_screen(dra(&args), 80).stdout,
            on_screen(dra(&args), 200).stdout,
        ];
        for text in &texts {
            let (_, shown) = text.split_once("Fix:").expect("fixes");
            let ends = (2..=fixes.len()).map(|number| format!("\n  {number}. "));
            let mut rest = shown.to_owned();
            let mut noted = Vec::new();
            for (fix, end) in fixes.iter().zip(ends.chain(["\nMore: ".to_owned()])) {
                let (block, more) = rest.split_once(&end).unwrap_or((&rest, ""));
                let block = plain(block);
                if let Some(note) = fix["note"].as_str() {
                    // What several fixes share is written out once, and named by each.
                    let remade = note.split_once("recreates ");
                    let remade = remade.and_then(|(_, rest)| rest.split([',', ';', ':', ' ']).next());
                    let is_named = noted.contains(&note)
                        && remade.is_some_and(|remade| block.contains(&format!("; recreates {remade}")));
                    assert!(
                        is_named || block.contains(&plain(note)),
                        "{object}: {note}\n{text}"
                    );
                    noted.push(note);
                }
                rest = more.to_owned();
            }
        }
    }
    let args = ["explain", "-A", "--from", "example:pending"];
    let report = assert_valid(&dra(&[&args[..], &["-o", "json"]].concat()).run().stdout);
    let first = &report["items"].as_array().expect("causes")[..8];
    let screen = plain(&on_screen(dra(&args), 80).stdout);
    let (table, wide) = (
        dra(&args).run().stdout,
        dra(&[&args[..4], &["-o", "wide"]].concat()).run().stdout,
    );
    for note in first.iter().filter_map(|cause| cause["fix"]["note"].as_str()) {
        for text in [&screen, &table, &wide] {
            assert!(text.contains(note), "{note}: {text}");
        }
    }
}
