//! Claims that hold devices while no pod runs with them.
//!
//! A claim that nobody is reserved for, or only what has ended or is gone, is told by the rules for reservations, however short that
//! lasts. Here are consumers that exist and do not run.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::claims::{describe, subject};
use super::finding::{claim_key, counted, pod_key, some};
use super::reservations::free;
use super::{Code, Finding, Look};
use crate::inspect::Consumer;
use crate::model::{Claim, Key, Kind, Pod, Time};
use crate::reservation::{EntryStatus, PodGroups, may_run, resolves_to, status_of};

pub(super) fn look(look: &mut Look<'_>) {
    if look.wants(Code::ClaimIdle) {
        for claim in look.cluster.claims() {
            of_claim(look, claim);
        }
    }
}

fn of_claim<'a>(look: &mut Look<'a>, claim: &Claim) {
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
            // Whether what is not known runs is not known either.
            Ok(EntryStatus::UnknownKind | EntryStatus::Unknown) | Err(_) => return,
        }
    }
    let key = claim.key();
    let with_key = |pod: &'a Arc<Pod>| (pod.key(), pod);
    let users = cluster
        .pods_of_claim(&key)
        .filter(|pod| resolves_to(pod, claim, PodGroups::Accepted));
    let mut pods: BTreeMap<Key, &Arc<Pod>> = users.map(with_key).collect();
    // A downgrade gives pods other claims while they go on with the devices of this one.
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
    if !look.has_lasted(Some(since), look.idle.as_secs()) {
        return;
    }
    let message = format!(
        "holds {} for {}, and no pod has run with it since {since}, as far as the objects that are there tell",
        counted(claim.results().len(), "device", "devices"),
        some(waiting.iter().map(|entry| Consumer(entry))),
    );
    let pods: Vec<_> = pods.iter().map(|pod| pod_key(pod.key())).collect();
    look.add(
        Finding::new(Code::ClaimIdle, subject(claim), message)
            .remedy(free(cluster, claim).note(
                "or whoever owns what the claim is reserved for finds out why it does not run, and the devices are kept for it",
            ))
            .look(describe(claim))
            .joins([claim_key(key)])
            .joins(pods),
    );
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
    use crate::devices::testing::{World, holding, now};
    use crate::model::Kind;

    fn found(world: World, hours: u64) -> Vec<String> {
        let request = CheckRequest {
            codes: BTreeSet::from([Code::ClaimIdle]),
            idle: Duration::from_secs(hours * 3600),
            in_part: false,
            ..CheckRequest::now(now())
        };
        let items = check(&world.build(), &request).items.into_iter();
        items.map(|finding| finding.message).collect()
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
                "holds 1 device for pod/p, and no pod has run with it since 2026-11-19T12:00:05Z, as far as the objects that are there tell"
            ]
        );
        assert!(found(with(&at, &pending), 48).is_empty());
        // What runs, has run lately, or cannot be told.
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
        // The pod has another claim since a downgrade, and goes on with the devices of this one.
        let elsewhere = |phase: &str| claim(&at).pod_with("p", &["other"], &json!({"phase": phase}));
        assert!(found(elsewhere("Running"), 24).is_empty());
        assert_eq!(found(elsewhere("Pending"), 24).len(), 1);
        // Told as other findings.
        assert!(found(claim(&at), 24).is_empty());
    }
}
