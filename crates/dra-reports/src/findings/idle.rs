//! Claims that hold devices while no pod runs with them.
//!
//! A claim that is reserved for no consumer, or only for what has finished or is gone, is found by the rules for reservations, however
//! briefly that lasts. Here are consumers that exist and do not run, while nothing else says why.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::claims::describe;
use super::finding::{Subject, claim_key, pod_key};
use super::reservations::free;
use super::stages::stages;
use super::{Code, Finding, Look, words};
use crate::remedy::{Remedy, replace_pods};
use dra_model::{Claim, Key, Kind, Pod, Time};
use dra_rules::kubelet::{Stages, has_run};
use dra_rules::owners::comes_back;
use dra_rules::reservation::{EntryStatus, PodGroups, may_run, resolves_to, status_of};

pub(super) fn look(look: &mut Look<'_>) {
    if look.wants(Code::ClaimIdle) {
        let stages = stages(look);
        for claim in look.cluster.claims() {
            of_claim(look, &stages, claim);
        }
    }
}

fn of_claim<'a>(look: &mut Look<'a>, stages: &Stages<'a>, claim: &Claim) {
    let cluster = look.cluster;
    let Some(allocation) = &claim.status.allocation else {
        return;
    };
    if allocation.reserved_for_any_pod
        || claim.metadata.is_deleting()
        || look.is_hidden(Kind::Pod, &claim.metadata.namespace)
    {
        return;
    }
    let mut waiting = Vec::new();
    for entry in &claim.status.reserved_for {
        match status_of(cluster, claim, entry) {
            Ok(EntryStatus::Running | EntryStatus::Pending | EntryStatus::Group) => waiting.push(entry),
            Ok(EntryStatus::Done | EntryStatus::Gone | EntryStatus::OtherUid) => {}
            // Unknown whether what is unknown runs.
            Ok(EntryStatus::UnknownKind | EntryStatus::Unknown) | Err(_) => return,
        }
    }
    let key = claim.key();
    let with_key = |pod: &'a Arc<Pod>| (pod.key(), pod);
    let users = cluster
        .pods_of_claim(&key)
        .filter(|pod| resolves_to(pod, claim, PodGroups::Accepted));
    let mut pods: BTreeMap<Key, &Arc<Pod>> = users.map(with_key).collect();
    // A downgrade gives pods other claims while they keep the devices of this one.
    for entry in &waiting {
        let named = claim.metadata.beside(&entry.name);
        if entry.is_pod_group() {
            pods.extend(cluster.pods_of_group(&named).map(with_key));
        } else {
            pods.extend(cluster.pod(&named).map(with_key));
        }
    }
    let pods: Vec<_> = pods.into_values().collect();
    if waiting.is_empty() || pods.iter().any(|pod| may_run(pod)) {
        return;
    }
    let starting: Vec<&Arc<Pod>> = pods.iter().filter(|pod| !pod.is_terminal()).copied().collect();
    if starting
        .iter()
        .any(|pod| has_run(pod) || is_explained(stages, pod))
    {
        return;
    }
    // A pod that got its node got its devices before.
    let allocated = allocation
        .allocation_timestamp
        .or_else(|| pods.iter().filter_map(|pod| scheduled(pod)).min());
    let groups = waiting
        .iter()
        .filter(|entry| entry.is_pod_group())
        .filter_map(|entry| cluster.pod_group(&claim.metadata.beside(&entry.name)))
        .filter_map(|group| group.metadata.creation_timestamp);
    let signs = pods.iter().filter_map(|pod| last_sign(pod)).chain(groups);
    let Some(since) = allocated.map(|allocated| signs.fold(allocated, Time::max)) else {
        return;
    };
    if !look.has_lasted(Some(since), look.request.idle.as_secs()) {
        return;
    }
    let message = words::idle(claim, &waiting, since);
    let pods: Vec<_> = pods.iter().map(|pod| pod_key(pod.key())).collect();
    look.add(
        Finding::new(Code::ClaimIdle, Subject::claim(claim), message)
            .remedy(remedy(look, claim, &starting))
            .look(describe(claim))
            .joins([claim_key(key)])
            .joins(pods),
    );
}

/// Whether something says why the pod does not run: another finding, its node, a container, the scheduler, or a warning about it.
fn is_explained<'a>(stages: &Stages<'a>, pod: &'a Arc<Pod>) -> bool {
    let found = stages.pod(pod);
    let mut conditions = pod.status.conditions.iter();
    pod.metadata.is_deleting()
        || found.is_some_and(|found| found.stuck.is_some())
        || conditions.any(|condition| condition.type_ == "PodScheduled" && condition.status == "False")
        || stages
            .cluster()
            .events_of(Kind::Pod, &pod.metadata)
            .iter()
            .any(|event| event.type_ == "Warning")
}

/// The pods are deleted only where others replace them, and nothing that was read would keep those from running.
fn remedy(look: &Look<'_>, claim: &Claim, starting: &[&Arc<Pod>]) -> Remedy {
    let cluster = look.cluster;
    let by_hand = |events_are_hidden| {
        let pods: Vec<Key> = starting.iter().map(|pod| pod.key()).collect();
        Remedy::by_hand(words::find_out_why(&pods, events_are_hidden))
    };
    if starting.is_empty() {
        free(cluster, claim).note(words::OR_FIND_OUT_WHY)
    } else if look.is_hidden(Kind::Event, &claim.metadata.namespace) {
        by_hand(true)
    } else if starting.iter().all(|pod| comes_back(cluster, pod)) {
        replace_pods(cluster, &claim.metadata.namespace, starting.iter().copied())
            .note(words::OR_FIND_OUT_WHY)
    } else {
        by_hand(false)
    }
}

/// When the pod got its node.
fn scheduled(pod: &Pod) -> Option<Time> {
    let mut conditions = pod.status.conditions.iter();
    let condition =
        conditions.find(|condition| condition.type_ == "PodScheduled" && condition.status == "True")?;
    condition.last_transition_time
}

/// The last that is known to have happened to the pod, its end included.
fn last_sign(pod: &Pod) -> Option<Time> {
    let conditions = pod.status.conditions.iter();
    conditions
        .filter_map(|condition| condition.last_transition_time)
        .chain(pod.status.start_time)
        .chain(pod.metadata.creation_timestamp)
        .max()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::super::{CheckRequest, Code, check};
    use dra_model::{Kind, Owners};
    use dra_testing::{World, holding, now};

    fn found(world: World, hours: u64) -> Vec<String> {
        let request = CheckRequest {
            codes: BTreeSet::from([Code::ClaimIdle]),
            idle: Duration::from_secs(hours * 3600),
            in_part: false,
            ..CheckRequest::now(now())
        };
        let items = check(&world.build(), &request).items.into_iter();
        items.map(|finding| finding.message.to_string()).collect()
    }

    /// A claim that was allocated on the 19th, for pod `p`.
    fn claim(allocated: &Value) -> World {
        let mut status = holding(&["x"], &["p"]);
        status["allocation"]["allocationTimestamp"] = allocated.clone();
        World::default().claim("c", &json!({}), &status)
    }

    #[test]
    fn a_claim_is_idle_since_the_last_sign_of_its_pods() {
        let at = json!("2026-11-19T12:00:00Z");
        let scheduled = |time: &str| {
            json!({"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": time}]})
        };
        let with = |allocated: &Value, status: &Value| claim(allocated).pod_with("p", &["c"], status);
        let pending = scheduled("2026-11-19T12:00:05Z");
        assert_eq!(
            found(with(&at, &pending), 24),
            [
                "holds 1 device for pod/n/p, but no pod has run with it since 2026-11-19T12:00:05Z, as far as the existing objects show"
            ]
        );
        assert!(found(with(&at, &pending), 48).is_empty());
        // What runs, has run lately, or is unknown.
        assert!(found(with(&at, &json!({"phase": "Running"})), 24).is_empty());
        assert!(found(with(&at, &json!({"phase": "Unknown"})), 24).is_empty());
        assert!(found(with(&at, &scheduled("2026-11-21T11:00:00Z")), 24).is_empty());
        assert!(found(with(&json!(null), &json!({"phase": "Pending"})), 0).is_empty());
        // Another pod that has ended meanwhile used it.
        let ended = json!({"phase": "Succeeded", "conditions": [
            {"type": "Ready", "status": "False", "lastTransitionTime": "2026-11-21T10:00:00Z"}]});
        let shared = || with(&at, &pending).pod_with("q", &["c"], &ended);
        assert!(found(shared(), 24).is_empty());
        assert_eq!(found(shared(), 1).len(), 1);
        // Without the time of the allocation, that of the pod's node is known to be later.
        assert_eq!(found(with(&json!(null), &pending), 24).len(), 1);
        assert!(found(with(&at, &pending).without(Kind::Pod), 24).is_empty());
        // The pod has another claim since a downgrade, and keeps using the devices of this one.
        let elsewhere = |phase: &str| {
            claim(&at)
                .claim("other", &json!({}), &holding(&["y"], &["p"]))
                .pod_with("p", &["other"], &json!({"phase": phase}))
        };
        assert!(found(elsewhere("Running"), 24).is_empty());
        assert_eq!(found(elsewhere("Pending"), 24).len(), 1);
        // Told as other findings.
        assert!(found(claim(&at), 24).is_empty());
    }

    /// The finding of a pod that has not started for two days, of this owner, where the source has these owners.
    fn of_pod(owner: &Value, status: &Value, event: Option<&Value>, owners: &[Value]) -> Option<String> {
        let mut held = holding(&["x"], &["p"]);
        held["allocation"]["allocationTimestamp"] = json!("2026-11-19T12:00:00Z");
        let owned: Vec<&Value> = Some(owner).filter(|owner| !owner.is_null()).into_iter().collect();
        let pod = json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid", "ownerReferences": owned},
            "spec": {"nodeName": "node-1", "containers": [{"name": "main"}], "initContainers": [{"name": "fetch"}],
                "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}, "status": status});
        let mut world = World::default()
            .claim("c", &json!({}), &held)
            .with(Kind::Pod, &pod);
        if let Some(event) = event {
            let mut object = json!({"metadata": {"namespace": "n", "name": "e"}, "type": "Warning",
                "involvedObject": {"kind": "Pod", "namespace": "n", "name": "p", "uid": "p-uid"}});
            for (key, value) in event.as_object().unwrap() {
                object[key] = value.clone();
            }
            world = world.with(Kind::Event, &object);
        }
        let mut all = Owners::default();
        for owner in owners {
            let text = |field: &str| owner[field].as_str().unwrap().to_owned();
            all.add(&text("apiVersion"), &text("kind"), owner.to_string().as_bytes());
        }
        let cluster = world
            .knowing(|environment| environment.owners = std::sync::Arc::new(all))
            .build();
        let request = CheckRequest {
            codes: BTreeSet::from([Code::ClaimIdle]),
            idle: Duration::from_secs(24 * 3600),
            in_part: false,
            ..CheckRequest::now(now())
        };
        let found = check(&cluster, &request).items.pop()?;
        found.fix.map(|fix| fix.to_string())
    }

    const ENDS: &str = "kubectl delete pod/p --namespace=n";

    #[test]
    fn a_claim_is_not_idle_if_something_explains_why_its_pod_does_not_run() {
        let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "s", "uid": "s-uid", "controller": true});
        let pending = |more: Value| {
            let mut status = json!({"phase": "Pending"});
            for (key, value) in more.as_object().unwrap() {
                status[key] = value.clone();
            }
            status
        };
        let plain = pending(json!({}));
        let waiting = |reason: &str| json!({"name": "main", "state": {"waiting": {"reason": reason}}});
        assert_eq!(of_pod(&set, &plain, None, &[]).as_deref(), Some(ENDS));
        let beginning = pending(json!({"containerStatuses": [waiting("PodInitializing")],
            "initContainerStatuses": [{"name": "fetch", "state": {"waiting": {"reason": "PodInitializing"}}}]}));
        assert_eq!(of_pod(&set, &beginning, None, &[]).as_deref(), Some(ENDS));
        for explained in [
            // A container waits for something else, or has run, or runs: that of an init container that runs tells nothing.
            json!({"containerStatuses": [waiting("ImagePullBackOff")]}),
            json!({"containerStatuses": [waiting("CrashLoopBackOff")]}),
            json!({"containerStatuses": [waiting("PodInitializing")],
                "initContainerStatuses": [{"name": "fetch", "state": {"terminated": {"exitCode": 0}}}]}),
            json!({"containerStatuses": [waiting("PodInitializing")],
                "initContainerStatuses": [{"name": "fetch", "state": {"running": {"startedAt": "2026-11-19T12:00:00Z"}}}]}),
            json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "lastTransitionTime": "2026-11-19T12:00:00Z"}]}),
        ] {
            assert_eq!(
                of_pod(&set, &pending(explained.clone()), None, &[]),
                None,
                "{explained}"
            );
        }
        // What the kubelet or anybody else says of it, of devices or of something else.
        for (reason, message) in [
            (
                "FailedPrepareDynamicResources",
                "Failed to prepare dynamic resources: prepare dynamic resources: DRA driver d is not registered",
            ),
            (
                "FailedCreatePodSandBox",
                "failed to move device enP4096s1: resource busy",
            ),
            ("FailedMount", "secret not found"),
            ("FailedScheduling", "0/1 nodes are available"),
        ] {
            let event = json!({"reason": reason, "message": message, "source": {"component": "kubelet"}});
            assert_eq!(of_pod(&set, &plain, Some(&event), &[]), None, "{reason}");
        }
        let normal = json!({"type": "Normal", "reason": "Scheduled"});
        assert_eq!(of_pod(&set, &plain, Some(&normal), &[]).as_deref(), Some(ENDS));
    }

    #[test]
    fn a_pod_is_deleted_only_if_it_is_recreated() {
        let pending = json!({"phase": "Pending"});
        let owner = |api_version: &str, kind: &str| json!({"apiVersion": api_version, "kind": kind, "name": "o", "uid": "o-uid", "controller": true});
        let known = |api_version: &str, kind: &str, more: Value| {
            let mut object =
                json!({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": "n", "name": "o"}});
            for (key, value) in more.as_object().unwrap() {
                object[key] = value.clone();
            }
            vec![object]
        };
        let ends = |owner: &Value, owners: &[Value]| of_pod(owner, &pending, None, owners).unwrap() == ENDS;
        for kind in ["ReplicaSet", "StatefulSet", "DaemonSet"] {
            assert!(ends(&owner("apps/v1", kind), &[]), "{kind}");
        }
        assert!(!ends(&Value::Null, &[]));
        assert!(!ends(&owner("batch.volcano.sh/v1alpha1", "Job"), &[]));
        let job = owner("batch/v1", "Job");
        assert!(!ends(&job, &[]));
        assert!(ends(&job, &known("batch/v1", "Job", json!({}))));
        assert!(ends(
            &job,
            &known(
                "batch/v1",
                "Job",
                json!({"spec": {"backoffLimit": 3}, "status": {"failed": 2}})
            )
        ));
        for stops in [
            json!({"spec": {"backoffLimit": 3}, "status": {"failed": 3}}),
            json!({"spec": {"backoffLimit": 0}}),
            json!({"spec": {"suspend": true}}),
            json!({"spec": {"backoffLimitPerIndex": 1}}),
            json!({"status": {"conditions": [{"type": "Failed", "status": "True"}]}}),
            json!({"metadata": {"namespace": "n", "name": "o", "deletionTimestamp": "2026-11-21T11:00:00Z"}}),
        ] {
            assert!(!ends(&job, &known("batch/v1", "Job", stops.clone())), "{stops}");
        }
        let set = owner("apps/v1", "ReplicaSet");
        let scaled = json!({"spec": {"replicas": 0}, "status": {"replicas": 1}});
        assert!(!ends(&set, &known("apps/v1", "ReplicaSet", scaled)));
        assert!(ends(
            &set,
            &known(
                "apps/v1",
                "ReplicaSet",
                json!({"spec": {"replicas": 2}, "status": {"replicas": 2}})
            )
        ));
    }
}
