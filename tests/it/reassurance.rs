//! Answers that must not reassure where nothing was looked at, and that must not contradict themselves.

use serde_json::{Value, json};

use crate::support::command::{dra, on_screen};
use crate::support::process::Run;

const NOW: &str = "2026-11-26T12:00:00Z";

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": format!("{name}-uid"), "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}})
}

/// A node's slice with these devices.
fn slice(node: &str, devices: &Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": node, "uid": format!("{node}-slice")},
        "spec": {"driver": "d.example.com", "nodeName": node, "devices": devices,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}})
}

fn class() -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c", "uid": "class-uid"}, "spec": {}})
}

/// A claim with this status.
fn claim(name: &str, status: &Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid"), "finalizers": ["resource.kubernetes.io/delete-protection"]},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}}]}},
        "status": status})
}

/// Holds a device of a node for these pods.
fn holding(node: &str, device: &str, pods: &[&str]) -> Value {
    let reserved = |pod: &&str| json!({"resource": "pods", "name": pod, "uid": format!("{pod}-uid")});
    json!({
        "allocation": {
            "devices": {"results": [{"request": "r", "driver": "d.example.com", "pool": node, "device": device}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}},
        "reservedFor": pods.iter().map(reserved).collect::<Vec<_>>()})
}

/// A pod that uses a claim, with more of its spec, metadata and status.
fn pod(name: &str, claim: &str, more: &Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid"), "creationTimestamp": "2026-11-26T11:00:00Z"},
        "spec": {"schedulerName": "default-scheduler",
            "containers": [{"name": "main", "image": "x", "resources": {"claims": [{"name": "r"}]}}],
            "resourceClaims": [{"name": "r", "resourceClaimName": claim}]},
        "status": {"phase": "Pending"}});
    for (part, fields) in more.as_object().into_iter().flatten() {
        for (field, value) in fields.as_object().into_iter().flatten() {
            pod[part][field] = value.clone();
        }
    }
    pod
}

fn run(objects: &[Value], args: &[&str]) -> Run {
    run_on(objects, args, true, None)
}

fn run_on(objects: &[Value], args: &[&str], complete: bool, columns: Option<u16>) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cluster.json");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    std::fs::write(&file, list.to_string()).expect("written");
    let from = file.display().to_string();
    let more: &[&str] = if complete { &["--complete"] } else { &[] };
    let all = [
        args,
        &["--from", &from, "--now", NOW, "--kubernetes-version", "1.37"],
        more,
    ]
    .concat();
    match columns {
        Some(columns) => on_screen(dra(&all), columns),
        None => dra(&all).run(),
    }
}

fn plain(objects: &[Value]) -> Vec<Value> {
    let machine = [
        node("n1"),
        class(),
        slice("n1", &json!([{"name": "d0"}, {"name": "d1"}])),
    ];
    [&machine[..], objects].concat()
}

fn report(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr))
}

#[test]
fn nothing_is_called_checked_that_no_object_names() {
    let objects = plain(&[]);
    for (more, code) in [(&[][..], 4), (&["--allow-missing"], 0)] {
        for (args, what) in [
            (
                ["check", "--driver", "typo.example.com"],
                "driver/typo.example.com",
            ),
            (
                ["check", "-l", "app=typo"],
                "an object with the labels `app=typo`",
            ),
        ] {
            let run = run(&objects, &[&args[..], more].concat()).exits(code);
            let expected = format!("Nothing checked in all namespaces: {what} not found");
            assert!(run.stderr.contains(&expected), "{}", run.stderr);
            assert!(!run.stderr.contains("No findings"), "{}", run.stderr);
        }
    }
    let known = run(
        &objects,
        &["check", "--driver", "d.example.com", "--only", "DRA060"],
    )
    .exits(0);
    assert!(
        known
            .stderr
            .contains("No findings in all namespaces before removing driver"),
        "{}",
        known.stderr
    );
}

#[test]
fn only_what_was_read_is_counted() {
    let counts = |objects: &[Value], args: &[&str], complete| {
        let run = run_on(objects, &[&["check"], args].concat(), complete, Some(200));
        run.stdout.lines().next().unwrap_or_default().to_owned()
    };
    let without_nodes = [class(), slice("n1", &json!([{"name": "d0"}]))];
    for (args, unread) in [
        (&["--to-version", "1.36"][..], "node"),
        (&["--only", "DRA024"], "pod"),
    ] {
        let text = counts(&without_nodes, args, true);
        assert!(!text.contains(&format!("0 {unread}s")), "{args:?}: {text}");
    }
    let all = counts(&plain(&[]), &[], true);
    assert!(all.contains("0 claims, 0 pods, 2 devices, 1 node"), "{all}");
    let incomplete = counts(&without_nodes, &[], false);
    assert!(!incomplete.contains(" 0 "), "{incomplete}");
}

#[test]
fn what_the_scheduler_does_automatically_is_what_waiting_helps() {
    let elsewhere = || json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "n2"}}});
    let two = [
        node("n1"),
        node("n2"),
        class(),
        slice("n1", &json!([{"name": "d0"}])),
        slice("n2", &json!([{"name": "d0"}])),
    ];
    for reserved in [&[][..], &["p"]] {
        let own = [
            claim("idle", &holding("n1", "d0", reserved)),
            pod("p", "idle", &elsewhere()),
        ];
        let args = ["explain", "pod/n/p", "-o", "json"];
        let report = report(&run(&[&two[..], &own].concat(), &args).exits(1));
        assert_eq!(report["waiting"]["helps"], "whenDeallocated", "{report:#}");
        assert_eq!(report["waiting"]["nodes"], json!(["n2"]), "{report:#}");
        let fix = &report["fixes"][0];
        assert_eq!(
            fix["note"], "no action needed: kube-scheduler deallocates claim/n/idle automatically",
            "{report:#}"
        );
        let text = report.to_string();
        assert!(!text.contains("unknown whether waiting helps"), "{report:#}");
    }
}

#[test]
fn a_pod_without_a_reservation_has_one_consequence_everywhere() {
    for (phase, says, says_not) in [
        (
            "Running",
            "the pod keeps running until its sandbox is recreated",
            "does not start",
        ),
        ("Pending", "the kubelet does not start it", "keeps running"),
    ] {
        let more = json!({"spec": {"nodeName": "n1"}, "status": {"phase": phase}});
        for status in [
            holding("n1", "d0", &["other"]),
            holding("n1", "d0", &[]),
            json!({}),
        ] {
            let objects = plain(&[claim("k", &status), pod("p", "k", &more)]);
            for args in [
                &["check", "--only", "DRA014,DRA019"][..],
                &["describe", "pod/n/p"],
                &["describe", "claim/n/k"],
                &["explain", "pod/n/p"],
            ] {
                let run = run(&objects, args);
                let all = format!("{}{}", run.stdout, run.stderr);
                let is_of_claim = args.contains(&"claim/n/k");
                assert!(all.contains(says) || is_of_claim, "{phase} {args:?}: {all}");
                for wrong in [says_not, "runs all the same", "refuses to start"] {
                    assert!(!all.contains(wrong), "{phase} {args:?} {wrong}: {all}");
                }
                // No controller recreates it.
                assert!(!all.contains("kubectl delete pod"), "{phase} {args:?}: {all}");
            }
        }
    }
}

#[test]
fn a_pod_is_replaced_by_a_command_only_where_it_is_recreated() {
    let owned = |kind: &str| {
        json!({"spec": {"nodeName": "n1"}, "metadata": {"ownerReferences": [
            {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "web-uid", "controller": true}]}})
    };
    let elsewhere = holding("n2", "d0", &["p"]);
    for (status, code) in [
        (holding("n1", "d0", &["other"]), "DRA014"),
        (elsewhere, "DRA018"),
        (json!({}), "DRA019"),
    ] {
        for (kind, is_command) in [("ReplicaSet", true), ("StatefulSet", true), ("Unheard", false)] {
            let objects = plain(&[node("n2"), claim("k", &status), pod("p", "k", &owned(kind))]);
            let args = ["check", "--only", code, "-o", "json"];
            let report = report(&run(&objects, &args).exits(1));
            let finding = &report["items"][0];
            let command = finding["command"].as_str().unwrap_or_default();
            assert_eq!(
                command.contains("kubectl delete pod/p"),
                is_command,
                "{code} {kind}: {finding:#}"
            );
        }
    }
}

#[test]
fn a_full_claim_takes_no_further_consumer() {
    let names: Vec<String> = (0..256).map(|number| format!("u{number}")).collect();
    for (consumers, fits) in [(255, true), (256, false)] {
        let names: Vec<&str> = names.iter().take(consumers).map(String::as_str).collect();
        let objects = plain(&[
            claim("crowd", &holding("n1", "d0", &names)),
            pod("late", "crowd", &json!({})),
        ]);
        let explained = report(&run(&objects, &["explain", "pod/n/late", "-o", "json"]));
        assert_eq!(
            explained["verdict"],
            if fits { "Fits" } else { "Error" },
            "{explained:#}"
        );
        let simulated = run(&objects, &["simulate", "allocation", "pod/n/late", "-o", "json"]);
        assert_eq!(simulated.code, Some(i32::from(!fits)), "{}", simulated.stderr);
        let simulated = report(&simulated);
        assert_eq!(
            simulated["result"],
            if fits { "Fits" } else { "Error" },
            "{simulated:#}"
        );
        for args in [
            &["explain", "pod/n/late"][..],
            &["simulate", "allocation", "pod/n/late"],
            &["explain", "-A"],
        ] {
            let screen = run_on(&objects, args, true, Some(120));
            let is_good = screen.stdout.contains('√') || screen.stdout.contains("Result:  Fits");
            assert_eq!(is_good, fits, "{args:?}: {}", screen.stdout);
        }
    }
}

#[test]
fn a_pod_that_has_ended_is_not_lost() {
    for (phase, lost) in [("Succeeded", false), ("Failed", false), ("Running", true)] {
        let more = json!({"spec": {"nodeName": "n1"}, "status": {"phase": phase}});
        let objects = plain(&[claim("k", &holding("n1", "d0", &["p"])), pod("p", "k", &more)]);
        let args = ["simulate", "eviction", "--driver", "d.example.com", "-A"];
        let screen = run_on(&objects, &args, true, Some(120));
        assert_eq!(
            screen.stdout.contains("not recreated"),
            lost,
            "{phase}: {}",
            screen.stdout
        );
    }
}

#[test]
fn the_most_that_is_left_is_named() {
    let device = |name: &str| json!({"name": name, "allowMultipleAllocations": true, "capacity": {"bandwidth": {"value": "10G"}}});
    let taking = |name: &str, device: &str, amount: &str| {
        let mut status = holding("n1", device, &[]);
        status["allocation"]["devices"]["results"][0]["consumedCapacity"] = json!({"bandwidth": amount});
        status["allocation"]["devices"]["results"][0]["shareID"] =
            json!(format!("00000000-0000-0000-0000-00000000000{name}"));
        claim(&format!("t{name}"), &status)
    };
    let mut want = claim("want", &json!({}));
    want["spec"]["devices"]["requests"][0]["exactly"]["capacity"] = json!({"requests": {"bandwidth": "6G"}});
    let objects = [
        node("n1"),
        class(),
        slice("n1", &json!([device("a"), device("b"), device("z")])),
        taking("1", "a", "10G"),
        taking("2", "b", "6G"),
        taking("3", "z", "10G"),
        want,
    ];
    let run = run_on(&objects, &["explain", "claim/n/want"], true, Some(160));
    assert!(run.stdout.contains("4G of 10G left"), "{}", run.stdout);
    assert!(!run.stdout.contains("0 of 10G left"), "{}", run.stdout);
}

#[test]
fn an_event_that_says_why_is_not_denied() {
    let mut waiting = pod("p", "k", &json!({}));
    waiting["spec"]["resourceClaims"] = json!([{"name": "r", "resourceClaimTemplateName": "none"}]);
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "n", "name": "e", "uid": "e-uid"},
        "involvedObject": {"kind": "Pod", "namespace": "n", "name": "p", "uid": "p-uid"}, "type": "Warning",
        "reason": "FailedResourceClaimCreation", "message": "PodResourceClaim r: resource claim template \"none\" not found"});
    for objects in [plain(&[waiting.clone(), event]), plain(&[waiting])] {
        for args in [&["check"][..], &["describe", "pod/n/p"]] {
            let run = run(&objects, args);
            assert!(
                run.stdout.contains("does not exist: it stays pending"),
                "{}",
                run.stdout
            );
            assert!(!run.stdout.contains("kubelet event"), "{}", run.stdout);
        }
    }
}

#[test]
fn a_file_is_not_answered_as_a_cluster_with_few_rights() {
    let objects = [pod("p", "k", &json!({}))];
    for args in [
        &["explain", "pod/n/p"][..],
        &["explain", "-A"],
        &["explain", "claim/n/k"],
        &["explain", "node/n1"],
        &["explain", "pod/n/p", "-o", "json"],
        &["simulate", "allocation", "pod/n/p"],
        &["simulate", "eviction"],
        &["check"],
        &["check", "--driver", "d.example.com"],
        &["describe", "pod/n/p"],
        &["status"],
        &["devices"],
        &["taints"],
        &["convert", "plan"],
        &["convert", "verify"],
    ] {
        for columns in [None, Some(120)] {
            let run = run_on(&objects, args, false, columns);
            let all = format!("{}\n{}", run.stdout, run.stderr);
            assert!(
                !all.contains("ClusterRole") && !all.contains("needs a Role"),
                "{args:?}: {all}"
            );
            let unread: Vec<&str> = all
                .lines()
                .filter(|line| line.contains("could not be read"))
                .collect();
            for kind in [
                "nodes",
                "deviceclasses",
                "resourceslices",
                "resourceclaims",
                "resourceclaimtemplates",
            ] {
                let count = unread
                    .iter()
                    .filter(|line| {
                        line.split(|c: char| !c.is_ascii_alphabetic())
                            .any(|word| word == kind)
                    })
                    .count();
                // Findings that join kinds say so of each.
                let is_json = args.contains(&"json") || args[0] == "describe";
                assert!(count <= 1 || is_json && count <= 2, "{args:?}: {kind}: {all}");
            }
        }
    }
}
