//! What PodGroups leave behind where no component acts on them: after a downgrade, or with the gates off.
//!
//! Other traces of an unprepared downgrade are found where they belong: pods that were given a new claim, entries of kinds that the
//! claim controller stumbles over, entries of pods that have ended.

use std::sync::Arc;

use super::finding::{Subject, claim_key, counted, pod_key, some};
use super::{Code, Finding, Look};
use crate::remedy::{Remedy, end_pods};
use crate::script::touch;
use dra_model::{Claim, Kind, Pod, Str};
use dra_rules::reservation::{
    GroupsIgnored, PodGroups, consumers_of_entry, groups_are_ignored, is_reserved_for, owning_group,
};

pub(super) fn look(look: &mut Look<'_>) {
    if !look.wants_any(&[Code::LeftoverGroupReservation, Code::LeftoverGroupClaim]) {
        return;
    }
    let cluster = look.cluster;
    for claim in cluster.claims() {
        let why = match groups_are_ignored(cluster, &claim.metadata.namespace) {
            Some(GroupsIgnored::NotServed) => "PodGroups are not served",
            Some(GroupsIgnored::GateOff) => {
                "the gate DRAWorkloadResourceClaims is off in kube-controller-manager"
            }
            None => continue,
        };
        match owning_group(claim) {
            Some(group) => generated(look, claim, group, why),
            None => reservation(look, claim, why),
        }
    }
}

fn subject(claim: &Claim) -> Subject {
    Subject::of(Kind::ResourceClaim, &claim.metadata)
}

fn reservation(look: &mut Look<'_>, claim: &Claim, why: &str) {
    for entry in claim
        .status
        .reserved_for
        .iter()
        .filter(|entry| entry.is_pod_group())
    {
        let Ok(pods) = consumers_of_entry(look.cluster, claim, entry) else {
            continue;
        };
        let pods: Vec<&Arc<Pod>> = pods.collect();
        let uncovered: Vec<&Arc<Pod>> = pods
            .iter()
            .copied()
            .filter(|pod| !is_reserved_for(pod, claim, PodGroups::Ignored))
            .collect();
        let users = if pods.is_empty() {
            "no pod uses it".to_owned()
        } else if uncovered.is_empty() {
            format!(
                "{} with entries of their own",
                counted(pods.len(), "pod uses it", "pods use it")
            )
        } else {
            format!(
                "{} and of these {} no other entry",
                counted(pods.len(), "pod uses it", "pods use it"),
                has(&uncovered),
            )
        };
        let stuck = if claim.metadata.is_deleting() {
            "it stays, being deleted,"
        } else {
            "it is never freed"
        };
        let message = format!(
            "is reserved for podgroup/{}, but {why}: {stuck} unless the entry is removed; {users}",
            entry.name
        );
        let remedy = if pods.is_empty() && claim.status.reserved_for.len() == 1 {
            Remedy::command(super::reservations::release(claim))
        } else {
            super::reservations::convert_groups(look, claim)
        };
        let evidence: Vec<_> = pods.iter().map(|pod| pod_key(pod.key())).collect();
        look.add(
            Finding::new(Code::LeftoverGroupReservation, subject(claim), message)
                .remedy(remedy)
                .joins([claim_key(claim.key())])
                .joins(evidence),
        );
    }
}

fn has(pods: &[&Arc<Pod>]) -> String {
    let names = some(pods.iter().map(|pod| &pod.metadata.name));
    format!("{names} {}", if pods.len() == 1 { "has" } else { "have" })
}

/// A claim that was made for a group. Its pods do not count as its owners any more.
fn generated(look: &mut Look<'_>, claim: &Claim, group: &Str, why: &str) {
    let Some(entries) = claim
        .status
        .allocation
        .as_ref()
        .map(|_| claim.status.reserved_for.as_slice())
    else {
        return;
    };
    let users: Vec<_> = look
        .cluster
        .pods_of_claim(&claim.key())
        .filter(|pod| !dra_rules::reservation::is_done(pod))
        .collect();
    let naming: Vec<_> = users.iter().map(|pod| pod.key()).collect();
    let holds = counted(claim.results().len(), "device", "devices");
    let who = if naming.is_empty() {
        "no pod names it any more".to_owned()
    } else {
        format!(
            "{} it: no new sandbox of theirs starts, and taints do not evict them",
            if naming.len() == 1 {
                format!("pod/{} names", naming[0].name)
            } else {
                format!("{} pods name", naming.len())
            }
        )
    };
    let message = format!("was made for podgroup/{group} and holds {holds}, but {why}: {who}");
    let freed = if entries.iter().all(dra_model::ConsumerReference::is_pod) {
        // Nothing makes the controller look at it by itself, but any write does.
        touch(Kind::ResourceClaim, &claim.key())
    } else if users.is_empty() {
        super::reservations::release(claim)
    } else {
        // Entries of pods go with them, so the version that was read is not the one that is written.
        super::reservations::release_whatever_version(claim)
    };
    // The devices of a pod that runs must not go to others.
    let remedy = end_pods(&claim.metadata.namespace, users).and(Remedy::command(freed));
    look.add(
        Finding::new(Code::LeftoverGroupClaim, subject(claim), message)
            .remedy(remedy)
            .joins([claim_key(claim.key())])
            .joins(naming.into_iter().map(pod_key)),
    );
}
