//! Pods that run with the devices of a claim that was made for their PodGroup, although they name another claim by now.
//!
//! The claim controllers of releases before 1.37 do not know that such a claim is theirs: they make one of its own for each of the pods,
//! running or not, and no scheduler allocates it (`resourceclaim/controller.go`, `handleClaim`, v1.36.4).

use std::cell::OnceCell;
use std::sync::Arc;

use crate::reservation::{ClaimNameError, ENTRY_ANNOTATION, claim_name, is_done, owning_group};
use dra_model::{Claim, Cluster, Pod, Str};

/// Finds them. Reads all pods in one pass, and only if a claim was created for a group.
pub(super) struct Repointed<'a> {
    cluster: &'a Cluster,
    /// Pods on nodes with an entry whose claim is not allocated, and the name of that entry.
    suspects: OnceCell<Vec<(&'a Arc<Pod>, &'a Str)>>,
}

impl<'a> Repointed<'a> {
    /// In a cluster with all claims of the namespaces in question.
    pub(super) fn new(cluster: &'a Cluster) -> Self {
        Self {
            cluster,
            suspects: OnceCell::new(),
        }
    }

    /// Names of the pods that may run with the devices of `claim`, each once. Releases before 1.36 do not show which group a pod belongs
    /// to, so every pod counts that could.
    pub(super) fn of(&self, claim: &Claim) -> Vec<Str> {
        let Some(group) = owning_group(claim) else {
            return Vec::new();
        };
        let made_for = claim.metadata.annotation(ENTRY_ANNOTATION);
        let could = |pod: &Pod, entry: &Str| {
            pod.metadata.namespace == claim.metadata.namespace
                && pod.pod_group().is_none_or(|own| own == group)
                && made_for.is_none_or(|made_for| made_for == entry)
        };
        let suspects = self.suspects.get_or_init(|| suspects(self.cluster));
        let mut names: Vec<Str> = suspects
            .iter()
            .filter(|(pod, entry)| could(pod, entry))
            .map(|(pod, _)| pod.metadata.name.clone())
            .collect();
        names.dedup();
        names
    }
}

fn suspects(cluster: &Cluster) -> Vec<(&Arc<Pod>, &Str)> {
    let is_allocated = |claim: &Arc<Claim>| claim.status.allocation.is_some();
    let running = cluster.pods().filter(|pod| pod.node().is_some() && !is_done(pod));
    let entries = running.flat_map(|pod| {
        let entries = pod.spec.resource_claims.iter();
        entries.map(move |entry| (pod, entry))
    });
    entries
        .filter(|(pod, entry)| match claim_name(pod, entry) {
            Ok(name) => name.is_generated() && !name.find(cluster).is_some_and(is_allocated),
            Err(ClaimNameError::NotCreated { .. }) => true,
            Err(ClaimNameError::Unsupported { .. }) => false,
        })
        .map(|(pod, entry)| (pod, &entry.name))
        .collect()
}
