//! Laws that hold for the answer about every pod on a node, over made-up pods: a known reason that it does not run and a tick are never
//! said together, and every report counts it by the same cause.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::allocation::Settings;
use crate::explain_all;
use crate::explanation::{ClusterVerdict, Explanation, explain_pod};
use crate::findings::{CheckRequest, check};
use crate::stage::StageCount;
use dra_allocator::Budget;
use dra_model::{Cluster, Kind, Pod, Str};
use dra_rules::kubelet::{Cause, Stages};
use dra_testing::effort::by_effort;
use dra_testing::{Dice, World, now};

/// Pods of a cluster.
const PODS: usize = 50;

const KUBELET: &[&str] = &[
    "prepare dynamic resources: NodePrepareResources failed for ResourceClaim c: no such device",
    "prepare dynamic resources: DRA driver d is not registered",
    "prepare dynamic resources: rpc error: code = Unavailable desc = error reading from server: EOF",
    "prepare dynamic resources: something unknown",
    "failed to create containerd task: unresolvable CDI devices d/claim=x",
    "failed to set up sandbox: the network plugin says no",
    "Back-off restarting failed container",
];

fn container(dice: &mut Dice) -> Value {
    let state = match dice.below(5) {
        0 => json!({"running": {"startedAt": "2026-11-21T11:40:00Z"}}),
        1 => {
            json!({"terminated": {"exitCode": dice.below(2), "reason": "Error", "finishedAt": "2026-11-21T11:41:00Z"}})
        }
        2 => {
            json!({"waiting": {"reason": dice.of(&["ContainerCreating", "CrashLoopBackOff", "ErrImagePull", "CreateContainerError"]),
                                "message": dice.of(&["", "unresolvable CDI devices d/claim=x", "no such image"])}})
        }
        3 => json!({"waiting": {"reason": "PodInitializing"}}),
        _ => json!({}),
    };
    json!({"name": "main", "ready": dice.one_in(2), "restartCount": dice.below(3), "state": state})
}

/// Adds a pod on `node-1` with a claim. Each may be in any state.
fn pod(dice: &mut Dice, world: World, number: usize) -> World {
    let (name, claim) = (format!("p-{number}"), format!("c-{number}"));
    let mut status = json!({
        "phase": dice.of(&["Pending", "Running", "Running", "", "Failed", "Succeeded"]),
        "startTime": "2026-11-21T11:30:00Z",
    });
    if dice.one_in(2) {
        status["containerStatuses"] = json!([container(dice)]);
    }
    if dice.one_in(3) {
        status["conditions"] =
            json!([{"type": "PodReadyToStartContainers", "status": dice.of(&["True", "False"])}]);
    }
    if dice.one_in(8) {
        status["reason"] = json!("UnexpectedAdmissionError");
        status["message"] = json!("Pod was rejected");
    }
    let mut metadata = json!({"namespace": "n", "name": name, "uid": format!("{name}-uid")});
    if dice.one_in(5) {
        metadata["deletionTimestamp"] = json!("2026-11-21T11:45:00Z");
        metadata["deletionGracePeriodSeconds"] = json!(30);
    }
    let mut world = world.with(
        Kind::Pod,
        &json!({"metadata": metadata, "status": status,
                "spec": {"nodeName": "node-1", "containers": [{"name": "main"}],
                         "resourceClaims": [{"name": "r", "resourceClaimName": claim}]}}),
    );
    let held = |device: &str, user: &str| dra_testing::holding(&[device], &[user]);
    let claim_status = match dice.below(6) {
        0 => None,
        1 => Some(json!({})),
        2 => Some(held("a", "another-pod")),
        3 => Some(held("gone", &name)),
        _ => Some(held("a", &name)),
    };
    if let Some(status) = claim_status {
        world = world.claim(&claim, &json!({}), &status);
    }
    if dice.one_in(2) {
        let (reason, type_) = match dice.below(4) {
            0 => ("FailedPrepareDynamicResources", "Warning"),
            1 => ("FailedCreatePodSandBox", "Warning"),
            2 => ("Failed", "Warning"),
            _ => ("Started", "Normal"),
        };
        world = world.with(
            Kind::Event,
            &json!({"metadata": {"namespace": "n", "name": format!("{name}.1")},
                    "involvedObject": {"kind": "Pod", "namespace": "n", "name": name, "uid": format!("{name}-uid")},
                    "reason": reason, "type": type_, "message": format!("Failed to {}", dice.of(KUBELET)),
                    "count": 1 + dice.below(40), "source": {"component": "kubelet"},
                    "firstTimestamp": "2026-11-21T11:31:00Z", "lastTimestamp": "2026-11-21T11:59:00Z"}),
        );
    }
    world
}

fn cluster(dice: &mut Dice) -> Cluster {
    let ready = dice.of(&["True", "True", "False", "Unknown"]);
    let world = World::default().class("d").slice("node-1", &json!([{"name": "a"}])).with(
        Kind::Node,
        &json!({"metadata": {"name": "node-1"}, "status": {"conditions": [{"type": "Ready", "status": ready}]}}),
    );
    (0..PODS)
        .fold(world, |world, number| pod(dice, world, number))
        .build()
}

fn holds(dice: &mut Dice) -> Result<(), TestCaseError> {
    let cluster = cluster(dice);
    let budget = Budget::new(1_000_000);
    let settings = Settings::of_test(&budget);
    let stages = Stages::of(&cluster, now());
    let list = explain_all(&cluster, None, &settings);
    let listed: BTreeSet<&Str> = list
        .items
        .iter()
        .flat_map(|item| &item.pods)
        .map(|pod| &pod.name)
        .collect();
    let findings = check(&cluster, &CheckRequest::now(now())).items;
    let is_found = |pod: &Pod| {
        let mut evidence = findings.iter().flat_map(|finding| &finding.evidence);
        evidence.any(|(kind, key)| *kind == Kind::Pod && *key == pod.key())
    };
    let mut stuck = 0;
    for pod in cluster.pods() {
        let found = stages.pod(pod).expect("it has a claim");
        let report = Explanation::from(explain_pod(&cluster, pod, &settings));
        let what = format!("{:?} {}\n{pod:#?}", report.verdict, report.summary);
        let codes: Vec<&str> = report.reasons.iter().map(|reason| reason.code()).collect();
        let is_good = matches!(report.verdict, ClusterVerdict::Bound | ClusterVerdict::Ended);
        // A tick has no reason beside it.
        prop_assert!(!is_good || codes.is_empty(), "{codes:?} {what}");
        prop_assert!(
            report.verdict != ClusterVerdict::Broken || !codes.is_empty(),
            "{what}"
        );
        stuck += usize::from(found.is_stuck());
        prop_assert!(!found.is_stuck() || is_found(pod), "{what}");
        prop_assert!(!found.is_stuck() || listed.contains(&pod.metadata.name), "{what}");
        if let Some(known) = &found.stuck {
            // What is not recognized leaves it open, and a pod that runs with a device that is gone from the slices lacks nothing.
            let is_open = matches!(
                known.cause,
                Cause::Unrecognized { .. } | Cause::DeviceNotPublished { .. }
            );
            let expected = if stages.is_passing(&found) {
                ClusterVerdict::Waits
            } else {
                ClusterVerdict::Broken
            };
            prop_assert!(is_open || report.verdict == expected, "{what}");
            // `explain`, `describe` and `status` name the same cause.
            prop_assert!(
                is_open || codes.first() == Some(&known.cause.code()),
                "{codes:?} {what}"
            );
        }
    }
    let counted = StageCount::of(&cluster, now(), |_| true);
    prop_assert_eq!(counted.iter().map(|count| count.stuck).sum::<usize>(), stuck);
    Ok(())
}

#[test]
fn no_tick_stands_beside_a_known_reason() {
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(by_effort(40, 2_000, 2_000)));
    let bytes = prop::collection::vec(any::<u8>(), 2_048);
    runner
        .run(&bytes, |bytes| holds(&mut Dice::of_bytes(bytes)))
        .unwrap_or_else(|error| panic!("{error}"));
}
