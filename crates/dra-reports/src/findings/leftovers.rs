//! What PodGroups leave behind where no component acts on them: after a downgrade, or with the gates off.
//!
//! Other traces of an unprepared downgrade are found where they belong: pods with a new claim, entries of kinds that the claim controller
//! does not support, entries of pods that have finished.

use super::finding::{Subject, claim_key, pod_key};
use super::{Code, Finding, Look, words};
use crate::remedy::{Remedy, end_pods, release, release_whatever_version};
use crate::script::touch;
use dra_model::{Claim, Key, Kind, Str};
use dra_rules::reservation::{
    GroupsIgnored, PodGroups, consumers_of_entry, groups_are_ignored, is_reserved_for, owning_group,
};

pub(super) fn look(look: &mut Look<'_>) {
    if !look.wants_any(&[Code::LeftoverGroupReservation, Code::LeftoverGroupClaim]) {
        return;
    }
    let cluster = look.cluster;
    for claim in cluster.claims() {
        let Some(why) = groups_are_ignored(cluster, &claim.metadata.namespace) else {
            continue;
        };
        match owning_group(claim) {
            Some(group) => generated(look, claim, group, why),
            None => reservation(look, claim, why),
        }
    }
}

fn reservation(look: &mut Look<'_>, claim: &Claim, why: GroupsIgnored) {
    for entry in claim
        .status
        .reserved_for
        .iter()
        .filter(|entry| entry.is_pod_group())
    {
        let Ok(pods) = consumers_of_entry(look.cluster, claim, entry) else {
            continue;
        };
        let uncovered: Vec<Key> = pods
            .iter()
            .filter(|pod| !is_reserved_for(pod, claim, PodGroups::Ignored))
            .map(|pod| pod.key())
            .collect();
        let message = words::group_reservation(claim, &entry.name, why, pods.len(), &uncovered);
        let remedy = if pods.is_empty() && claim.status.reserved_for.len() == 1 {
            Remedy::command(release(claim))
        } else {
            super::reservations::convert_groups(look, claim)
        };
        let evidence: Vec<_> = pods.iter().map(|pod| pod_key(pod.key())).collect();
        look.add(
            Finding::new(Code::LeftoverGroupReservation, Subject::claim(claim), message)
                .remedy(remedy)
                .joins([claim_key(claim.key())])
                .joins(evidence),
        );
    }
}

/// A claim that was created for a group. Its pods do not count as its owners anymore.
fn generated(look: &mut Look<'_>, claim: &Claim, group: &Str, why: GroupsIgnored) {
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
    let naming: Vec<Key> = users.iter().map(|pod| pod.key()).collect();
    let message = words::group_claim(claim, group, why, &naming);
    let freed = if entries.iter().all(dra_model::ConsumerReference::is_pod) {
        // Nothing makes the controller sync it, but any write does.
        touch(Kind::ResourceClaim, &claim.key())
    } else if users.is_empty() {
        release(claim)
    } else {
        // Entries of pods go with them, so the version that was read is not the one that is written.
        release_whatever_version(claim)
    };
    // The devices of a running pod must not be allocated to others.
    let remedy = end_pods(look.cluster, &claim.metadata.namespace, users).and(Remedy::command(freed));
    look.add(
        Finding::new(Code::LeftoverGroupClaim, Subject::claim(claim), message)
            .remedy(remedy)
            .joins([claim_key(claim.key())])
            .joins(naming.into_iter().map(pod_key)),
    );
}
