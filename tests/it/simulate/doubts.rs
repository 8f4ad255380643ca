//! Limits of the commands' knowledge, and their reports.

use serde_json::{Value, json};

use crate::support::command::dra;
use crate::support::schema::assert_valid;

const NOW: &str = "2026-11-21T12:00:00Z";

fn meta(name: &str) -> Value {
    json!({"namespace": "default", "name": name, "uid": name, "creationTimestamp": "2026-11-21T10:00:00Z"})
}

/// A class, a node with slices of one pool that say they are as many as `counts`, a claim with this status and a pod that names it.
fn world(counts: &[i64], spec: Value, pod_status: Value, claim_status: Value) -> Vec<Value> {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta("p"), "spec": {
        "resourceClaims": [{"name": "c", "resourceClaimName": "c"}], "containers": [{"name": "a"}]}});
    for (key, value) in spec.as_object().expect("an object") {
        pod["spec"][key] = value.clone();
    }
    pod["status"] = pod_status;
    let mut objects = vec![
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}}),
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "spec": {},
            "status": {"allocatable": {"pods": "10"}}}),
        pod,
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta("c"), "status": claim_status,
            "spec": {"devices": {"requests": [{"name": "r", "exactly":
                {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]}}}),
    ];
    for (number, count) in counts.iter().enumerate() {
        objects.push(
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": format!("s{number}"), "creationTimestamp": "2026-11-21T10:00:00Z"},
            "spec": {"driver": "d", "nodeName": "a", "devices": [{"name": format!("g{number}")}],
                     "pool": {"name": "a", "generation": 1, "resourceSliceCount": count}}}),
        );
    }
    objects
}

fn event(uid: &str, reason: &str, message: &str, at: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Event", "metadata": meta(&format!("e-{uid}")), "type": "Warning", "reason": reason,
        "message": message, "lastTimestamp": at,
        "source": {"component": if reason == "FailedScheduling" { "default-scheduler" } else { "kubelet" }},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p", "uid": uid}})
}

fn asked(args: &[&str], objects: &[Value]) -> (Option<i32>, Value) {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let given = ["--from", "-", "--complete", "--now", NOW, "-o", "json"];
    let run = dra(&[args, &given].concat()).stdin(list).run();
    (run.code, assert_valid(&run.stdout))
}

fn holding(reserved: Value) -> Value {
    json!({"reservedFor": reserved, "allocation": {"allocationTimestamp": "2026-11-21T10:00:00Z",
        "devices": {"results": [{"request": "r", "driver": "d", "pool": "a", "device": "g0"}]}}})
}

#[test]
fn a_newer_word_of_the_scheduler_or_the_kubelet_makes_the_verdict_unknown() {
    let failed = |uid: &str, at: &str| event(uid, "FailedScheduling", "0/1 nodes are available", at);
    let (late, early) = ("2026-11-21T11:00:00Z", "2026-11-21T09:00:00Z");
    for (said, verdict, code) in [
        (failed("p", late), "Unknown", 4),
        (failed("p", early), "Fits", 0),
        // Too soon after the pod was created for its scheduler to be called silent.
        (failed("earlier-pod", "2026-11-21T10:04:00Z"), "Fits", 0),
    ] {
        let mut objects = world(&[1], json!({}), json!({}), json!({}));
        objects.push(said.clone());
        let (exit, report) = asked(&["explain", "pod/p"], &objects);
        assert_eq!(
            (report["verdict"].as_str(), exit),
            (Some(verdict), Some(code)),
            "{said} {report:#}"
        );
    }
    let own = json!([{"resource": "pods", "name": "p", "uid": "p"}]);
    let mut objects = world(
        &[1],
        json!({"nodeName": "a"}),
        json!({"phase": "Pending", "startTime": NOW}),
        holding(own),
    );
    let (exit, report) = asked(&["explain", "pod/p"], &objects);
    assert_eq!((report["verdict"].as_str(), exit), (Some("Bound"), Some(0)));
    objects.push(event(
        "p",
        "FailedPrepareDynamicResources",
        "driver d is not registered",
        late,
    ));
    let (exit, report) = asked(&["explain", "pod/p"], &objects);
    assert_eq!((report["verdict"].as_str(), exit), (Some("Unknown"), Some(4)));
    assert_eq!(report["reasons"][0]["code"], "KubeletDisagrees");
    // What is known to mean something is no doubt.
    let refused =
        "Failed to prepare dynamic resources: prepare dynamic resources: DRA driver d is not registered";
    objects.push(event("p", "FailedPrepareDynamicResources", refused, NOW));
    let last = objects.len() - 1;
    objects[last]["metadata"]["name"] = json!("newer");
    let (exit, report) = asked(&["explain", "pod/p"], &objects);
    assert_eq!((report["verdict"].as_str(), exit), (Some("Broken"), Some(1)));
    assert_eq!(report["stage"]["stuck"]["cause"], "DriverNotRegistered");
}

#[test]
fn bound_is_not_running_and_allocated_is_not_fitting() {
    let other = json!([{"resource": "pods", "name": "p", "uid": "earlier-pod"}]);
    let bound = json!({"nodeName": "a"});
    for (status, code) in [(holding(other), "NotReserved"), (json!({}), "NotAllocated")] {
        let objects = world(&[1], bound.clone(), json!({"phase": "Pending"}), status);
        let (exit, report) = asked(&["explain", "pod/p"], &objects);
        assert_eq!(
            (report["verdict"].as_str(), exit),
            (Some("Broken"), Some(1)),
            "{report:#}"
        );
        assert_eq!(report["reasons"][0]["code"], code);
        let (_, described) = asked(&["describe", "pod", "p"], &objects);
        assert!(described["claims"][0]["problem"].is_string(), "{described:#}");
    }
    let own = json!([{"resource": "pods", "name": "p", "uid": "p"}]);
    let objects = world(&[1], bound, json!({"phase": "Running"}), holding(own));
    let (exit, report) = asked(&["explain", "claim/c"], &objects);
    assert_eq!((report["verdict"].as_str(), exit), (Some("Allocated"), Some(0)));
    assert_eq!(report["holds"]["devices"], json!(["d/a/g0"]));
    assert_eq!(report["holds"]["consumers"], json!(["pod/default/p"]));
}

#[test]
fn only_what_was_compared_and_decided_by_kube_scheduler_is_exact() {
    let plain = || world(&[1], json!({}), json!({}), json!({}));
    let volcano = || world(&[1], json!({"schedulerName": "volcano"}), json!({}), json!({}));
    let config = json!({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "volcano"}]});
    let configured = [volcano(), vec![config]].concat();
    for (objects, release, exactness) in [
        (plain(), "1.37", "Exact"),
        (plain(), "1.37.0", "Exact"),
        (plain(), "1.38", "FitOnly"),
        (plain(), "1.36", "Exact"),
        (plain(), "1.35", "Exact"),
        (plain(), "1.34", "Exact"),
        (volcano(), "1.37", "FitOnly"),
        (configured, "1.37", "Exact"),
    ] {
        let args = ["simulate", "allocation", "pod/p", "--kubernetes-version", release];
        let (_, report) = asked(&args, &objects);
        assert_eq!(report["exactness"], exactness, "{release} {report:#}");
        let warned = report["warnings"].to_string().contains("newer than 1.37");
        assert_eq!(warned, release == "1.38", "{report:#}");
    }
}

/// The slice of a pool of its own on that node.
fn slice(pool: &str, node: &str, device: &Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
        "metadata": {"name": format!("{pool}-slice"), "creationTimestamp": "2026-11-21T10:00:00Z"},
        "spec": {"driver": "d", "nodeName": node, "devices": [device],
                 "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1}}})
}

#[test]
fn up_to_1_35_an_order_decides_which_devices_are_granted() {
    let second = slice("b", "a", &json!({"name": "g0"}));
    let objects = [world(&[1], json!({}), json!({}), json!({})), vec![second]].concat();
    for (release, exactness) in [
        ("1.34", "OneOf"),
        ("1.35", "OneOf"),
        ("1.36", "Exact"),
        ("1.37", "Exact"),
    ] {
        let args = ["simulate", "allocation", "pod/p", "--kubernetes-version", release];
        let (exit, report) = asked(&args, &objects);
        assert_eq!(
            (report["result"].as_str(), exit),
            (Some("Fits"), Some(0)),
            "{release}"
        );
        assert_eq!(report["exactness"], exactness, "{release}");
        let is_open = exactness == "OneOf";
        assert_eq!(
            report["notes"].to_string().contains(
                "the devices on a depend on an order only kube-scheduler knows: request r of claim/default/c"
            ),
            is_open,
            "{release} {report:#}"
        );
        let choices = &report["nodes"][0]["choices"];
        let expected = json!([{"namespace": "default", "claim": "c", "request": "r", "pools": ["d/a", "d/b"],
            "slices": ["b-slice", "s0"]}]);
        assert_eq!(
            *choices,
            if is_open { expected } else { Value::Null },
            "{release}"
        );
        let args = ["explain", "pod/p", "--kubernetes-version", release];
        assert_eq!(asked(&args, &objects).1["exactness"], exactness, "{release}");
    }
}

#[test]
fn shares_are_granted_by_name_under_distinct_values_too() {
    let shared = |name: &str| {
        json!({"name": name, "allowMultipleAllocations": true, "attributes": {"socket": {"string": name}},
            "capacity": {"memory": {"value": "10"}}})
    };
    let pools = ["b", "c"].map(|pool| slice(pool, "a", &shared(pool)));
    let mut objects = [world(&[1], json!({}), json!({}), json!({})), pools.into()].concat();
    let spec = &mut objects[3]["spec"]["devices"];
    spec["requests"][0]["exactly"]["selectors"] =
        json!([{"cel": {"expression": "device.allowMultipleAllocations == true"}}]);
    spec["requests"][0]["exactly"]["count"] = json!(2);
    spec["constraints"] = json!([{"distinctAttribute": "d/socket"}]);
    for release in ["1.36.4", "1.37"] {
        let args = ["simulate", "allocation", "pod/p", "--kubernetes-version", release];
        let (exit, report) = asked(&args, &objects);
        assert_eq!(report["result"], "Fits", "{release} {report:#}");
        assert_eq!(exit, Some(0));
        assert_eq!(report["exactness"], "Exact", "{release} {report:#}");
    }
}

#[test]
fn up_to_1_35_an_error_may_come_before_a_device() {
    let bad = slice(
        "b",
        "a",
        &json!({"name": "bad", "attributes": {"bad": {"bool": true}}}),
    );
    let mut objects = [world(&[1], json!({}), json!({}), json!({})), vec![bad]].concat();
    let selector = "!has(device.attributes['d'].bad) || device.attributes['d'].missing == 1";
    objects[3]["spec"]["devices"]["requests"][0]["exactly"]["selectors"] =
        json!([{"cel": {"expression": selector}}]);
    for (release, result, exactness) in [("1.35", "MayError", "MayError"), ("1.36", "Fits", "Exact")] {
        let args = ["simulate", "allocation", "pod/p", "--kubernetes-version", release];
        let (exit, report) = asked(&args, &objects);
        assert_eq!(report["result"], result, "{release} {report:#}");
        assert_eq!(report["nodes"][0]["result"], result);
        assert_eq!(report["exactness"], exactness);
        assert_eq!(exit, Some(i32::from(result == "MayError")));
        let error = report["nodes"][0]["possibleError"].as_str().unwrap_or_default();
        assert_eq!(
            error.contains("no such key: missing"),
            result == "MayError",
            "{report:#}"
        );
    }
}

#[test]
fn nodes_are_ranked_by_the_alternatives_that_they_grant() {
    let class = |name: &str| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": format!("device.attributes['d'].size == '{name}'")}}]}})
    };
    let sized = |size: &str| json!({"name": "g0", "attributes": {"size": {"string": size}}});
    let node = |name: &str| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {}, "status": {"allocatable": {"pods": "10"}}});
    let alternative = |name: &str| json!({"name": name, "deviceClassName": name, "allocationMode": "ExactCount", "count": 1});
    let objects = vec![
        class("large"),
        class("small"),
        node("a"),
        node("b"),
        node("c"),
        slice("a", "a", &sized("small")),
        slice("b", "b", &sized("large")),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta("c"),
            "spec": {"devices": {"requests": [{"name": "r", "firstAvailable": [alternative("large"), alternative("small")]}]}}}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta("p"), "spec": {
            "resourceClaims": [{"name": "c", "resourceClaimName": "c"}], "containers": [{"name": "a"}]}}),
    ];
    let scores = |args: &[&str]| -> Vec<Value> {
        let args = [&["simulate", "allocation", "pod/p"], args].concat();
        let (_, report) = asked(&args, &objects);
        let nodes = report["nodes"].as_array().expect("an array");
        let told = report["notes"].to_string().contains("other plugins add theirs");
        assert_eq!(
            told,
            nodes.iter().any(|node| node["score"].is_object()),
            "{report:#}"
        );
        nodes.iter().map(|node| node["score"].clone()).collect()
    };
    let ranked = [
        json!({"points": 7, "normalized": 87}),
        json!({"points": 8, "normalized": 100}),
        Value::Null,
    ];
    for release in ["1.35", "1.36", "1.37"] {
        assert_eq!(scores(&["--kubernetes-version", release]), ranked, "{release}");
    }
    // The plugin of 1.34 ranks no nodes.
    assert_eq!(
        scores(&["--kubernetes-version", "1.34"]),
        [Value::Null, Value::Null, Value::Null]
    );
    // The best node may be one that was not looked at.
    assert_eq!(scores(&["--node", "a"]), [json!({"points": 7})]);
}

#[test]
fn a_rule_without_selector_is_about_all_devices_before_its_fix() {
    let rule = json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "r"},
        "spec": {"taint": {"key": "k", "effect": "NoSchedule"}}});
    let objects = [world(&[1], json!({}), json!({}), json!({})), vec![rule]].concat();
    for (release, result) in [("1.37.0", "DoesNotFit"), ("1.37.1", "Fits")] {
        let args = ["simulate", "allocation", "pod/p", "--kubernetes-version", release];
        assert_eq!(asked(&args, &objects).1["result"], result, "{release}");
    }
}

#[test]
fn the_order_of_slices_decides_where_they_disagree() {
    let objects = world(&[2, 3], json!({}), json!({}), json!({}));
    let (exit, report) = asked(&["simulate", "allocation", "pod/p"], &objects);
    assert_eq!(
        (report["result"].as_str(), exit),
        (Some("Unknown"), Some(4)),
        "{report:#}"
    );
    assert_eq!(report["exactness"], "FitOnly");
    assert!(
        report["notes"].to_string().contains("order decides"),
        "{report:#}"
    );
    assert_eq!(asked(&["explain", "pod/p"], &objects).1["verdict"], "Unknown");
}

#[test]
fn members_of_a_group_share_its_claim() {
    let group = json!({"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta("g"),
        "spec": {"resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}]}});
    let template = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": meta("t"),
        "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}}});
    let member = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta(name), "spec": {"containers": [{"name": "a"}],
            "schedulingGroup": {"podGroupName": "g"},
            "resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}]}})
    };
    let mut objects = world(&[1], json!({}), json!({}), json!({}));
    objects.extend([group, template, member("m0"), member("m1")]);
    let args = ["simulate", "allocation", "pod/m0", "pod/m1"];
    let (exit, report) = asked(&args, &objects);
    assert_eq!(
        (report["result"].as_str(), exit),
        (Some("Fits"), Some(0)),
        "{report:#}"
    );
    let devices = |pod: usize| report["placements"][pod]["claims"][0]["allocation"]["devices"].clone();
    assert_eq!(devices(0), devices(1));
    // Known to be off, the claim is never made.
    let off = [
        "--feature-gates",
        "DRAWorkloadResourceClaims=false,GenericWorkload=true",
    ];
    let (_, report) = asked(&[&args[..], &off].concat(), &objects);
    assert_eq!(report["result"], "DoesNotFit", "{report:#}");
}
