//! Entries that are missing from a list of pods.
//!
//! A scheduling attempt that began before a claim was converted binds its pod without any entry, since the scheduler's copy of the
//! claim still has that of the group (`dynamicresources.go`, `PreBind`, v1.37.2). With the gate off no component repairs that: the claim
//! controller leaves members of groups alone (`resourceclaim/controller.go`, `syncPod`, v1.37.2).

use super::{Action, ClaimPlan, Refusal, foreign_entries, is_for_any_pod};
use crate::reservation::{PodGroups, groups_are_ignored, is_consumer, is_reserved_for};
use dra_model::{Claim, ClaimPatch, Cluster, ConsumerReference, Gap, Kind, MOST_CONSUMERS};

/// Plans the entries that `claim`, which has pod entries only, lacks. Nothing when it lacks none.
///
/// # Errors
/// The gap, when pods of the namespace could not be read.
pub fn complete<'a>(cluster: &'a Cluster, claim: &Claim) -> Result<Option<ClaimPlan>, &'a Gap> {
    if let Some(gap) = cluster.gap(Kind::Pod, &claim.metadata.namespace) {
        return Err(gap);
    }
    if claim.status.allocation.is_none() || foreign_entries(claim).next().is_some() {
        return Ok(None);
    }
    let add: Vec<_> = cluster
        .pods_of_claim(&claim.key())
        .filter(|pod| is_consumer(pod, claim, PodGroups::Accepted))
        .filter(|pod| !is_reserved_for(pod, claim, PodGroups::Ignored))
        .map(|pod| ConsumerReference::of_pod(pod))
        .collect();
    if add.is_empty() {
        return Ok(None);
    }
    let entries = claim.status.reserved_for.len() + add.len();
    let mut unreserved = Vec::new();
    let action = if claim.metadata.is_deleting() {
        let pods = add.iter().map(|entry| entry.name.clone()).collect();
        Action::Refuse(Refusal::ClaimDeleting { pods })
    } else if entries > MOST_CONSUMERS {
        Action::Refuse(Refusal::TooManyConsumers { entries })
    } else {
        let kept = claim.status.reserved_for.clone();
        unreserved = add.iter().map(|entry| entry.name.clone()).collect();
        Action::Convert(ClaimPatch::list(claim, kept, add, false))
    };
    Ok(Some(ClaimPlan {
        unreserved,
        ignored: groups_are_ignored(cluster, &claim.metadata.namespace).is_some(),
        any_pod_stays: is_for_any_pod(claim),
        ..ClaimPlan::of(claim, action)
    }))
}
