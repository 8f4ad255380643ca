//! Comparison of a real control plane with the simulation: pods, instants, and texts of conditions.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use dra_model::{Cluster, Kind, Time};
use dra_sources::{Needs, Request, Unobserved, VersionSettings, load};
use serde_json::Value;

use crate::support::command::dra;
use crate::support::schema::assert_valid;

fn path(snapshot: &str) -> String {
    format!("tests/data/snapshots/{snapshot}.yaml")
}

/// Returns what was read from the control plane.
fn history(snapshot: &str) -> Cluster {
    let request = Request {
        names: &[path(snapshot)],
        namespace: "default",
        strict: true,
        versions: &VersionSettings::default(),
        started: None,
    };
    let needs = Needs::kinds([Kind::Pod, Kind::DeviceTaintRule, Kind::ResourceSlice]);
    load(&request, &needs, Arc::new(Unobserved))
        .expect("the snapshot")
        .cluster
}

fn simulated(snapshot: &str, now: &str, args: &[&str]) -> Value {
    let from = path(snapshot);
    // Among the rules are some that select nothing.
    let command = [
        "simulate",
        "eviction",
        "-o",
        "json",
        "--from",
        &from,
        "--now",
        now,
        "--allow-missing",
    ];
    let run = dra(&[&command, args].concat()).run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_valid(&run.stdout)
}

/// Returns when the simulation deletes which pod.
fn predicted(report: &Value) -> BTreeMap<String, Time> {
    let events = report["events"].as_array().expect("events");
    events
        .iter()
        .filter(|event| event["type"] == "PodDeleted")
        .map(|event| {
            let text = |field: &str| event[field].as_str().expect("text");
            let at = text("at").parse().expect("a time");
            (format!("{}/{}", text("namespace"), text("name")), at)
        })
        .collect()
}

/// Returns when the eviction controller deleted which pod: the end of the grace period less the grace period, in whole seconds.
fn deleted(cluster: &Cluster) -> BTreeMap<String, Time> {
    cluster
        .pods()
        .filter(|pod| {
            let mut conditions = pod.status.conditions.iter();
            conditions.any(|condition| condition.reason == "DeletionByDeviceTaintManager")
        })
        .map(|pod| {
            let end = pod.metadata.deletion_timestamp.expect("it is being deleted");
            let grace = pod
                .metadata
                .deletion_grace_period_seconds
                .expect("a grace period");
            (pod.key().to_string(), end.add_nanoseconds(-grace * 1_000_000_000))
        })
        .collect()
}

/// The same pods, each at its instant. The controller takes less than a second.
fn assert_same(predicted: &BTreeMap<String, Time>, real: &BTreeMap<String, Time>) {
    assert!(!real.is_empty());
    assert_eq!(
        predicted.keys().collect::<Vec<_>>(),
        real.keys().collect::<Vec<_>>()
    );
    for (pod, at) in real {
        assert!(
            at.since(predicted[pod]).as_secs() <= 1 && *at >= predicted[pod],
            "{pod}: {at} instead of {}",
            predicted[pod]
        );
    }
}

#[test]
fn taints_of_slices_evict_whom_they_evicted() {
    let after = history("device-taints-after");
    // The taints that the slices got, one by one.
    let mut taints = Vec::new();
    let mut added = None;
    for slice in after.slices() {
        for device in &slice.spec.devices {
            for taint in &device.taints {
                added = taint.time_added;
                taints.push(format!(
                    "--taint={}/{}/{}={taint}",
                    slice.spec.driver, slice.spec.pool.name, device.name
                ));
            }
        }
    }
    assert_eq!(taints.len(), 16);
    let added = added.expect("a time").to_string();
    let args: Vec<&str> = taints.iter().map(String::as_str).collect();
    let report = simulated("device-taints-before", &added, &args);
    let mut predicted = predicted(&report);
    // The last snapshot was taken half a minute later.
    let tolerates = predicted
        .remove("default/tolerates-1h")
        .expect("it goes after an hour");
    assert_eq!(
        tolerates,
        added
            .parse::<Time>()
            .unwrap()
            .after(std::time::Duration::from_secs(3600))
    );
    assert_same(&predicted, &deleted(&after));

    let early: BTreeMap<_, _> = predicted
        .into_iter()
        .filter(|(pod, _)| pod != "default/tolerates-20s")
        .collect();
    assert_same(&early, &deleted(&history("device-taints-marked")));

    let budgets = report["disruptionBudgets"].as_array().expect("budgets");
    assert_eq!((budgets.len(), &budgets[0]["violated"]), (1, &Value::Bool(true)));
}

#[test]
fn a_rule_evicts_whom_it_evicted_and_says_what_it_said() {
    let (early, late) = (
        history("taint-rules-noexecute"),
        history("taint-rules-noexecute-later"),
    );
    let mut file = tempfile::NamedTempFile::with_suffix(".json").expect("a temporary file");
    let selector = serde_json::json!({"driver": "gpu.example.com"});
    let taint = serde_json::json!({"key": "example.com/maintenance", "value": "all", "effect": "NoExecute"});
    let rule = serde_json::json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule",
        "metadata": {"name": "drain-all"}, "spec": {"deviceSelector": selector, "taint": taint}});
    write!(file, "{rule}").expect("a written file");
    let rule = early.rule("drain-all").expect("the rule");
    let added = rule.spec.taint.time_added.expect("a time").to_string();
    let name = file.path().to_str().expect("UTF-8");
    let report = simulated("taint-rules-none", &added, &["--rule", name]);

    let at_once: BTreeMap<_, _> = predicted(&report)
        .into_iter()
        .filter(|(_, at)| at.to_string() == added)
        .collect();
    assert_same(&at_once, &deleted(&early));

    let rules = report["rules"].as_array().expect("rules");
    let drain = rules
        .iter()
        .find(|rule| rule["name"] == "drain-all")
        .expect("the rule");
    let said = |cluster: &Cluster| {
        let condition = &cluster.rule("drain-all").expect("the rule").status.conditions[0];
        serde_json::json!({"at": condition.last_transition_time, "status": condition.status,
            "reason": condition.reason, "message": condition.message})
    };
    assert_eq!(drain["condition"], said(&early));
    let timeline = drain["timeline"].as_array().expect("a timeline");
    assert!(timeline.contains(&said(&late)), "{timeline:#?}");

    // Seen from three seconds later the same follows, although three pods are on their way.
    let later = simulated("taint-rules-noexecute", "2026-11-21T10:13:42Z", &[]);
    let rules = later["rules"].as_array().expect("rules");
    let drain = rules
        .iter()
        .find(|rule| rule["name"] == "drain-all")
        .expect("the rule");
    assert_eq!(drain["timeline"].as_array(), Some(timeline));
    // The others do not change.
    for rule in rules.iter().filter(|rule| rule["name"] != "drain-all") {
        assert_eq!(rule["timeline"], serde_json::json!([]), "{rule}");
    }
}

#[test]
fn effect_none_counts_what_the_controller_counted() {
    let real = history("taint-rules-none");
    for rule in real.rules() {
        let name = rule.metadata.name.as_str();
        // Made anew under another name, so that the simulation has to count itself.
        let mut file = tempfile::NamedTempFile::with_suffix(".json").expect("a temporary file");
        let selector = rule.spec.device_selector.as_ref().map(|selector| {
            serde_json::json!({"driver": selector.driver, "pool": selector.pool, "device": selector.device})
        });
        let copy = serde_json::json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule",
            "metadata": {"name": "copy"}, "spec": {"deviceSelector": selector,
                "taint": {"key": rule.spec.taint.key, "effect": rule.spec.taint.effect}}});
        write!(file, "{copy}").expect("a written file");
        let file = file.path().to_str().expect("UTF-8").to_owned();
        let report = simulated("taint-rules-none", "2026-11-21T10:13:36Z", &["--rule", &file]);
        let rules = report["rules"].as_array().expect("rules");
        let copy = rules
            .iter()
            .find(|rule| rule["name"] == "copy")
            .expect("the rule");
        let condition = &rule.status.conditions[0];
        assert_eq!(copy["condition"]["message"], condition.message.as_str(), "{name}");
        assert_eq!(copy["condition"]["reason"], condition.reason.as_str(), "{name}");
    }
}
