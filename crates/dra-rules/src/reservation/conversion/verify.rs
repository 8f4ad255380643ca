//! Compatibility of a claim's list with components that know only pods.

use super::{foreign_entries, is_for_any_pod};
use crate::reservation::{EntryStatus, PodGroups, is_consumer, is_reserved_for, judge, resolves_to};
use dra_model::{Claim, Cluster, ConsumerReference, Gap, Kind, Str};

/// Something that is wrong with the list.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display, strum::EnumDiscriminants)]
#[strum_discriminants(name(DefectCode), doc = "The stable name of a defect.")]
#[strum_discriminants(derive(serde::Serialize, schemars::JsonSchema, strum::Display))]
pub enum Defect {
    /// An entry is not a pod.
    #[display("still reserved for {_0}")]
    NonPodEntry(ConsumerReference),
    /// Every pod may use the claim without an entry.
    #[display("reserved for any pod")]
    ReservedForAnyPod,
    /// A pod uses the claim and has no entry of its own.
    #[display("pod {pod} uses it without an entry")]
    ConsumerNotListed {
        /// The pod.
        pod: Str,
        /// Its UID.
        uid: Str,
    },
    /// The pod of an entry cannot use the claim.
    #[display("reserved for pod {}, which {}", _0.name, fault(*_1))]
    EntryWithoutConsumer(ConsumerReference, EntryStatus),
}

/// What is wrong with the pod of an entry that is so.
fn fault(status: EntryStatus) -> &'static str {
    match status {
        EntryStatus::Done => "has finished",
        EntryStatus::Gone => "does not exist",
        EntryStatus::OtherUid => "was recreated",
        EntryStatus::Running
        | EntryStatus::Pending
        | EntryStatus::Group
        | EntryStatus::UnknownKind
        | EntryStatus::Unknown => "does not use it",
    }
}

/// Returns what is wrong with the claim's list; nothing for most.
///
/// # Errors
/// The gap, when pods of the namespace could not be read.
pub fn verify<'a>(cluster: &'a Cluster, claim: &Claim) -> Result<Vec<Defect>, &'a Gap> {
    if let Some(gap) = cluster.gap(Kind::Pod, &claim.metadata.namespace) {
        return Err(gap);
    }
    let mut defects: Vec<_> = foreign_entries(claim).cloned().map(Defect::NonPodEntry).collect();
    if is_for_any_pod(claim) {
        defects.push(Defect::ReservedForAnyPod);
    }
    if claim.status.allocation.is_some() {
        let key = claim.key();
        let consumers = cluster
            .pods_of_claim(&key)
            .filter(|pod| is_consumer(pod, claim, PodGroups::Accepted));
        for pod in consumers.filter(|pod| !is_reserved_for(pod, claim, PodGroups::Ignored)) {
            defects.push(Defect::ConsumerNotListed {
                pod: pod.metadata.name.clone(),
                uid: pod.metadata.uid.clone(),
            });
        }
    }
    for entry in claim.status.reserved_for.iter().filter(|entry| entry.is_pod()) {
        let judged = judge(cluster, claim, entry);
        // The claim controller of an older release gives pods of a group other claims, and their entries stay.
        let key = claim.metadata.beside(&entry.name);
        let means_another = cluster
            .pod(&key)
            .is_some_and(|pod| !resolves_to(pod, claim, PodGroups::Accepted));
        if judged.consumer == Some(false) || means_another {
            defects.push(Defect::EntryWithoutConsumer(entry.clone(), judged.status));
        }
    }
    Ok(defects)
}
