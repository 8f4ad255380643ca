//! A rehearsal on a snapshot, and the real controller manager that starts after it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::rehearsal::{Claims, claims, evicted, objects_of};
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, pod, taint, taint_rule, template};
use crate::support::cluster::{Cluster, Component, Options};
use crate::support::command::dra;
use crate::support::schema::assert_valid;
use crate::support::wait::try_wait;

/// Claims, the pods that are being evicted, and whether the status of the ended pod tells of another claim than `before`.
fn state(objects: &[Value], before: &str) -> (Claims, BTreeSet<String>, bool) {
    let mut ended = objects
        .iter()
        .filter(|object| object["kind"] == "Pod" && object["metadata"]["name"] == "done");
    let ended = ended.next().expect("the pod");
    let told = &ended["status"]["resourceClaimStatuses"][0]["resourceClaimName"];
    let evicted = evicted(objects).into_keys().collect();
    (claims(objects), evicted, *told != *before)
}

/// What a controller manager that starts has left to do. What it does with the claim of the ended pod happens with every start.
fn left(snapshot: &str) -> Vec<Value> {
    let run = dra(&["run", "--from", snapshot, "--until", "1s", "-o", "json"]);
    let mut report = assert_valid(&run.run().exits(0).stdout);
    let events = report["events"].as_array_mut().expect("events");
    events.retain(|event| {
        !event["object"]
            .as_str()
            .is_some_and(|object| object.contains("/done"))
    });
    std::mem::take(events)
}

#[test]
fn what_is_rehearsed_is_what_a_controller_manager_does_that_starts() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(2);
    let shared = |name: &str| pod(name).named_claim("gpu", "shared");
    let own = |name: &str| pod(name).template_claim("gpu", "one");
    cluster.run(&[
        template("one", claim_spec([gpu()])),
        claim("shared", claim_spec([gpu()])),
        shared("stays"),
        shared("goes"),
        own("victim"),
        own("done"),
        own("gone"),
    ]);
    let of_done = cluster.claim_of("pod/default/done", "gpu");
    let of_done = of_done.rsplit('/').next().expect("a name");
    let device = cluster.devices_of(&cluster.claim_of("pod/default/victim", "gpu"));
    let parts: Vec<&str> = device[0].split('/').collect();

    // Nobody looks while this happens.
    cluster.stop(Component::Scheduler);
    cluster.stop(Component::ControllerManager);
    cluster.create_all(&[own("unmade"), shared("unreserved").on_node("gpu-node-1")]);
    cluster.set_phase("pod/default/done", Phase::Succeeded);
    cluster.delete_now("pod/default/goes");
    cluster.delete_now("pod/default/gone");
    cluster.create(&taint_rule(
        "broken",
        json!({"driver": parts[0], "pool": parts[1], "device": parts[2]}),
        taint("example.com/broken", "", "NoExecute"),
    ));
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (before, end, after) = (file("before.json"), file("end.json"), file("after.json"));
    cluster.kubectl_dra(["snapshot", "--out", &before]).run().exits(0);
    let run = dra(&[
        "run", "--from", &before, "--until", "15s", "--out", &end, "-o", "json",
    ]);
    let report = assert_valid(&run.run().exits(0).stdout);
    assert_eq!(report["loops"], json!([]));
    let expected = state(&objects_of(&end), of_done);

    cluster.resume(Component::ControllerManager);
    let same = try_wait(|| {
        cluster.kubectl_dra(["snapshot", "--out", &after]).run().exits(0);
        let real = state(&objects_of(&after), of_done);
        let left = left(&after);
        if real == expected && left.is_empty() {
            Ok(())
        } else {
            Err((real, left))
        }
    });
    assert_eq!(same, Ok(()), "rehearsed was {expected:#?}");
    assert_eq!(expected.1, BTreeSet::from(["pod/default/victim".to_owned()]));
    // After its deletion the claim of the ended pod was made again, and deleted again.
    assert!(expected.2);
}
