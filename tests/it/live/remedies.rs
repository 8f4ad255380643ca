//! What `explain` says would help, done on the real control plane: the pod must be scheduled then.

use serde_json::{Value, json};

use crate::support::cluster::objects::{Manifest, pod, template};
use crate::support::cluster::scenario::unschedulable_pods;
use crate::support::cluster::{Cluster, Options};
use crate::support::schema::assert_valid;

fn explain(cluster: &Cluster, pod: &str) -> Value {
    let output = cluster.kubectl_dra(["explain", pod, "-o", "json"]).run().exits(1);
    assert_valid(&output.stdout)
}

/// The text between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let rest = text
        .split_once(before)
        .unwrap_or_else(|| panic!("no {before:?} in {text:?}"))
        .1;
    if after.is_empty() {
        rest
    } else {
        rest.split_once(after).map_or(rest, |(found, _)| found)
    }
}

/// Makes a change of a pod or of its claim's spec in their manifests.
fn change(spec: &mut Value, pod: &mut Value, kind: &str, message: &str) {
    if kind == "RelaxNodeSelector" {
        pod["spec"]
            .as_object_mut()
            .expect("a spec")
            .remove("nodeSelector");
        return;
    }
    if kind == "DropConstraint" {
        spec["devices"]
            .as_object_mut()
            .expect("devices")
            .remove("constraints");
        return;
    }
    let request = message.rsplit(' ').next().expect("a request");
    let requests = spec["devices"]["requests"].as_array_mut().expect("requests");
    let found = requests.iter_mut().find(|found| found["name"] == request);
    let exactly = &mut found.unwrap_or_else(|| panic!("no request {request}"))["exactly"];
    match kind {
        "FewerDevices" => {
            exactly["allocationMode"] = json!("ExactCount");
            exactly["count"] = json!(
                between(message, "ask for ", " in")
                    .parse::<u64>()
                    .expect("a number")
            );
        }
        "TolerateTaint" => {
            let (key, effect) = between(message, "device taint ", " in")
                .rsplit_once(':')
                .expect("a taint");
            let toleration = json!({"key": key, "operator": "Exists", "effect": effect});
            match exactly["tolerations"].as_array_mut() {
                Some(tolerations) => tolerations.push(toleration),
                None => exactly["tolerations"] = json!([toleration]),
            }
        }
        "RelaxSelector" => {
            let term = between(message, "leave out `", "` in");
            let selectors = exactly["selectors"].as_array_mut().expect("selectors");
            selectors.retain(|selector| selector["cel"]["expression"] != term);
        }
        "UseClass" => exactly["deviceClassName"] = json!(between(message, "name class ", " in")),
        _ => panic!("{kind} is no change of a manifest"),
    }
}

/// Lifts a taint from the devices of a pool, as its driver would.
fn lift(cluster: &Cluster, target: &str, message: &str) {
    let (key, effect) = between(message, "lift the taint ", " from")
        .rsplit_once(':')
        .expect("a taint");
    let pool = target.rsplit('/').next().expect("a pool");
    for slice in cluster.list("slice") {
        if slice["spec"]["pool"]["name"] != pool {
            continue;
        }
        let name = slice["metadata"]["name"].as_str().expect("a name");
        cluster.update(&format!("slice/{name}"), |slice| {
            for device in slice["spec"]["devices"].as_array_mut().into_iter().flatten() {
                if let Some(taints) = device["taints"].as_array_mut() {
                    taints.retain(|taint| taint["key"] != key || taint["effect"] != effect);
                }
            }
        });
    }
}

#[test]
fn what_explain_says_helps() {
    let cluster = Cluster::start(&Options::default());
    unschedulable_pods(&cluster);
    // Those that take least go first, so that later ones still find what they were told of.
    for cause in [
        "cel-mismatch",
        "cel-error",
        "missing-class",
        "old-generation",
        "all-incomplete-pool",
        "constraint-conflict",
        "wrong-node",
        "two-requests",
        "tainted",
        "not-enough-free",
        "too-many",
    ] {
        let explanation = explain(&cluster, &format!("pod/{cause}"));
        let fixes = explanation["fixes"].as_array().expect("fixes");
        let proven = fixes.iter().find(|fix| fix["proven"] == true);
        let fix = proven.unwrap_or_else(|| panic!("nothing helps {cause}: {explanation:#}"));
        assert_eq!(fix["minimal"], true, "{cause}: {fix:#}");

        let single = [fix.clone()];
        let changes = fix["changes"].as_array().map_or(&single[..], Vec::as_slice);
        let mut spec = match cluster.find(&format!("template/{cause}")) {
            Some(template) => template["spec"]["spec"].clone(),
            None => Value::Null,
        };
        let mut again = pod(&format!("{cause}-again"));
        let own = cluster.get(&format!("pod/{cause}"));
        if own["spec"]["nodeSelector"].is_object() {
            again["spec"]["nodeSelector"] = own["spec"]["nodeSelector"].clone();
        }
        for one in changes {
            let text = |field: &str| one[field].as_str().unwrap_or_default();
            match text("kind") {
                "LiftTaint" => lift(&cluster, text("target"), text("message")),
                "ReleaseClaim" => {
                    let pods = between(text("command"), "delete pod ", " -n")
                        .split(' ')
                        .map(str::to_owned);
                    for name in pods {
                        cluster.delete(&format!("pod/{name}"));
                    }
                    cluster.finish_deletions();
                }
                kind => change(&mut spec, &mut again, kind, text("message")),
            }
        }
        let again = if spec.is_null() {
            again.named_claim("gpu", "on-node-1")
        } else {
            cluster.create(&template(&format!("{cause}-again"), spec));
            again.template_claim("gpu", &format!("{cause}-again"))
        };
        // The pod that did not fit would compete for what is freed.
        cluster.delete_now(&format!("pod/{cause}"));
        let placed = cluster.place(&again, |_| true);
        let node = &placed["spec"]["nodeName"];
        let foretold = fix["nodes"].as_array().expect("nodes");
        assert!(
            foretold.contains(node),
            "{cause} went to {node}, not to one of {foretold:?}"
        );
        // What was only to be shown makes room for the next.
        cluster.delete_now(&format!("pod/{cause}-again"));
    }
}
