//! Work on a claim: removes entries of finished consumers, and deallocates after the last one.

use std::sync::Arc;

use super::{Answers, ClaimWrite, Plan, Questions, ResourceClaims, Stop};
use crate::reservation::{is_done, is_kept, looked_up_kind};
use dra_model::{Claim, Cluster, ConsumerReference, Key, Object};

impl ResourceClaims {
    /// Mirrors `syncClaim`.
    pub(super) fn sync_claim(
        &mut self,
        cluster: &Cluster,
        key: &Key,
        answers: &Answers,
        plan: &mut Plan,
    ) -> Result<(), Stop> {
        let Some(claim) = cluster.claim(key) else {
            return Ok(());
        };
        let mut remaining = Vec::new();
        let mut questions = Questions::default();
        for entry in &claim.status.reserved_for {
            let stays = self.stays(cluster, claim, entry, answers);
            if questions.note(stays)? == Some(true) {
                remaining.push(entry.clone());
            }
        }
        questions.asked()?;
        let protected = claim.is_protected();
        let allocated = claim.status.allocation.is_some();
        let unused = remaining.is_empty();
        let release = |remaining, deallocate| ClaimWrite::Release {
            claim: Arc::clone(claim),
            remaining,
            deallocate,
        };
        if remaining.len() < claim.status.reserved_for.len() {
            let deallocate = unused && protected;
            plan.writes.push(release(remaining, deallocate));
            if protected && (deallocate || !allocated) {
                plan.writes.push(ClaimWrite::RemoveFinalizer(Arc::clone(claim)));
            }
        } else if protected && claim.metadata.is_deleting() && unused {
            if allocated {
                plan.writes.push(release(remaining, true));
            }
            plan.writes.push(ClaimWrite::RemoveFinalizer(Arc::clone(claim)));
        }
        if unused && owner_is_done(cluster, claim) {
            plan.writes.push(ClaimWrite::Delete(Arc::clone(claim)));
        }
        Ok(())
    }

    /// Returns whether the entry stays. One that the controller cannot judge does.
    fn stays(
        &mut self,
        cluster: &Cluster,
        claim: &Claim,
        entry: &ConsumerReference,
        answers: &Answers,
    ) -> Result<bool, Stop> {
        let Some(kind) = looked_up_kind(entry, self.features.groups) else {
            return Ok(true);
        };
        if self.deleted.has(&entry.uid) {
            return Ok(false);
        }
        if let Some(kept) = is_kept(cluster, claim, entry, kind) {
            return Ok(kept);
        }
        // It may be being scheduled right now: only the API server knows. Finished pods are not excluded.
        let key = claim.metadata.beside(&entry.name);
        let found = self.found(cluster, answers, kind, &key)?.map(Object::metadata);
        Ok(found.is_some_and(|metadata| metadata.uid == entry.uid))
    }
}

/// Returns whether the pod that the claim was made for is known not to need it. A pod that is gone is left to the garbage collector.
fn owner_is_done(cluster: &Cluster, claim: &Claim) -> bool {
    let owner = claim.metadata.owner_references.iter();
    let Some(owner) = owner
        .filter(|owner| owner.controller)
        .find(|owner| owner.api_version == "v1" && owner.kind == "Pod")
    else {
        return false;
    };
    let key = claim.metadata.beside(&owner.name);
    cluster
        .pod(&key)
        .is_some_and(|pod| pod.metadata.uid != owner.uid || is_done(pod))
}
