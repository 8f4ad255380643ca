//! Influences on a claim besides its devices: PodGroups, conditions before binding, a full list of consumers; and what
//! `explain` tells people who may see only a namespace.

use serde_json::{Value, json};

use super::placement::{comparable, compare, dry_run};
use crate::support::cluster::kubelet::{condition, now};
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, class, each_device, gpu, pod, pod_group, request, slice, template,
};
use crate::support::cluster::{Cluster, Options};

const GATES: &str = "--feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true";

fn start() -> Cluster {
    let options = ["GenericWorkload", "DRAWorkloadResourceClaims"]
        .into_iter()
        .fold(Options::default(), |options, gate| options.gate(gate, true));
    let cluster = Cluster::start(&options);
    cluster.add_gpu_nodes(2);
    cluster
}

fn small(name: &str) -> Value {
    let requests =
        json!([{"name": "main", "image": "pause:3.10", "resources": {"requests": {"cpu": "10m"}}}]);
    pod(name).with(json!({"spec": {"containers": requests}}))
}

/// Places the pod, which must go where the dry run said and get what it said.
fn place(cluster: &Cluster, pod: &Value) {
    let name = format!(
        "pod/default/{}",
        pod["metadata"]["name"].as_str().expect("a name")
    );
    let mut report = Value::Null;
    let placed = cluster.place(pod, |before| {
        report = dry_run(before, &name, &[GATES]);
        true
    });
    assert_eq!(report["result"], "Fits", "{name}: {report:#}");
    assert_eq!(compare(cluster, &placed, &report), None, "{name}");
}

#[test]
fn the_scheduler_does_what_the_dry_run_says_of_shared_and_waiting_claims() {
    let cluster = start();
    groups(&cluster);
    conditions(&cluster);
    full(&cluster);
    explained_to_viewers(&cluster);
}

/// Members share what belongs to their group, named or generated, and are placed like anybody else.
fn groups(cluster: &Cluster) {
    cluster.create_all(&[
        claim("team", claim_spec([gpu().count(2)])),
        template("one", claim_spec([gpu()])),
        pod_group("named", [json!({"name": "gpu", "resourceClaimName": "team"})]),
        pod_group(
            "made",
            [json!({"name": "gpu", "resourceClaimTemplateName": "one"})],
        ),
    ]);
    for member in ["named-0", "named-1"] {
        place(
            cluster,
            &small(member).named_claim("gpu", "team").in_group("named"),
        );
    }
    assert_eq!(cluster.reservations_of("claim/team"), ["podgroups/named"]);
    for member in ["made-0", "made-1"] {
        place(
            cluster,
            &small(member).template_claim("gpu", "one").in_group("made"),
        );
    }
    let made = cluster.claim_of("pod/made-0", "gpu");
    assert_eq!(cluster.claim_of("pod/made-1", "gpu"), made);
    assert_eq!(cluster.reservations_of(&made), ["podgroups/made"]);
}

/// Devices that have to be attached before the pod may run: the claim gets what was foretold, and the pod waits.
fn conditions(cluster: &Cluster) {
    let conditional = json!({"bindsToNode": true, "bindingConditions": ["example.com/attached"],
        "bindingFailureConditions": ["example.com/failed"]});
    let devices = [json!({"name": "a"}), json!({"name": "b"})];
    cluster.create_all(&[
        class("fabric.example.com", "device.driver == 'fabric.example.com'"),
        each_device(slice("fabric.example.com", "gpu-node-1", devices), |device| {
            *device = device.take().with(conditional.clone());
        }),
        claim("attach", claim_spec([request("port", "fabric.example.com")])),
        small("waits")
            .named_claim("port", "attach")
            .with(json!({"spec": {"schedulingGates": [{"name": "example.com/held"}]}})),
    ]);
    let report = dry_run(&cluster.dump(), "pod/default/waits", &[GATES]);
    let nodes = report["nodes"].as_array().expect("nodes");
    let fitting: Vec<&Value> = nodes.iter().filter(|node| node["result"] == "Fits").collect();
    assert_eq!(fitting.len(), 1, "{report:#}");
    cluster.patch("pod/waits", &json!({"spec": {"schedulingGates": null}}));
    let allocated = cluster.wait("claim/attach", "it is allocated and reserved", |claim| {
        claim["status"]["reservedFor"].is_array()
    });
    let real = &allocated["status"]["allocation"];
    assert_eq!(
        real["devices"]["results"][0]["bindingConditions"][0],
        "example.com/attached"
    );
    assert_eq!(
        comparable(real),
        comparable(&fitting[0]["claims"][0]["allocation"])
    );
    assert!(cluster.get("pod/waits")["spec"]["nodeName"].is_null());
    let device = &real["devices"]["results"][0];
    cluster.update_status("claim/attach", |claim| {
        claim["status"]["devices"] = json!([{
            "driver": device["driver"], "pool": device["pool"], "device": device["device"],
            "conditions": [{"type": "example.com/attached", "status": "True", "reason": "Attached", "message": "",
                "lastTransitionTime": now()}]}]);
    });
    let placed = cluster.wait("pod/waits", "it is on a node", |pod| {
        pod["spec"]["nodeName"].is_string()
    });
    assert_eq!(placed["spec"]["nodeName"], fitting[0]["node"]);
}

/// A claim with 256 consumers takes no other one: every filter passes, and the write that reserves it is refused.
fn full(cluster: &Cluster) {
    cluster.create(&claim("crowd", claim_spec([gpu()])));
    place(cluster, &small("first").named_claim("gpu", "crowd"));
    cluster.update_status("claim/crowd", |claim| {
        let entries = claim["status"]["reservedFor"].as_array_mut().expect("the first");
        // Of a kind that no controller knows, so that none takes them away.
        entries.extend((1..256).map(|number| {
            json!({"apiGroup": "batch", "resource": "jobs", "name": format!("j-{number}"), "uid": format!("uid-{number}")})
        }));
    });
    let mut report = Value::Null;
    let late = small("one-too-many").named_claim("gpu", "crowd");
    cluster.place(&late, |before| {
        report = dry_run(before, "pod/default/one-too-many", &[GATES]);
        false
    });
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("claim/default/crowd has 256 consumers"),
        "{report:#}"
    );
    let refused = cluster.wait("pod/one-too-many", "the write was refused", |pod| {
        condition(pod, "PodScheduled").is_some_and(|found| {
            found["message"]
                .as_str()
                .is_some_and(|message| message.contains("must have at most 256 items"))
        })
    });
    assert!(refused["spec"]["nodeName"].is_null());
    let run = cluster.kubectl_dra(["explain", "pod/one-too-many"]).run();
    assert!(run.stdout.contains("has 256 consumers"), "{}", run.stdout);
}

/// With the built-in role `view` one sees pods and claims, but neither slices nor classes nor nodes.
fn explained_to_viewers(cluster: &Cluster) {
    cluster.create_all(&[
        template("many", claim_spec([gpu().count(20)])),
        small("too-many").template_claim("gpu", "many"),
        small("lacks-claim").named_claim("gpu", "never-made"),
    ]);
    cluster.wait_unschedulable(["pod/too-many"]);
    let viewer = cluster.user("explained-viewer").with_role("view");
    // What is missing can be seen all the same.
    let run = viewer.kubectl_dra(["explain", "pod/lacks-claim"]).run().exits(1);
    assert!(run.stdout.contains("never-made"), "{}", run.stdout);
    // Whether any device would do cannot.
    let run = viewer.kubectl_dra(["explain", "pod/too-many"]).run().exits(4);
    assert!(
        run.stdout.contains("cannot allocate all claims"),
        "{}",
        run.stdout
    );
    for kind in ["resourceslices", "deviceclasses", "nodes"] {
        assert!(
            run.stdout.contains(kind) || run.stderr.contains(kind),
            "{kind}: {}{}",
            run.stdout,
            run.stderr
        );
    }
    assert!(run.stderr.contains("kubectl-dra-viewer"), "{}", run.stderr);
}
