//! Back to the list that a claim had before it was converted.

use itertools::Itertools as _;

use crate::reservation::{PodGroups, is_consumer, is_done, is_reserved_for};
use dra_model::{Claim, ClaimPatch, Cluster, ConsumerReference, Gap, Key, Kind, Pod, Str};

/// Record of a converted claim.
#[derive(Clone, Debug)]
pub struct Saved {
    /// Namespace and name.
    pub key: Key,
    /// UID.
    pub uid: Str,
    /// The list before.
    pub before: Vec<ConsumerReference>,
    /// The list that was written.
    pub after: Vec<ConsumerReference>,
}

/// Plan for restoring the old list.
#[derive(Clone, Debug, PartialEq)]
pub enum Restoration {
    /// Apply this to the status.
    Write(ClaimPatch),
    /// The claim has the old list.
    Nothing,
    /// The world is another one than then.
    Refuse(Difference),
}

/// Obstacle to restoring the old list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// There is no such claim any more.
    #[error("the claim no longer exists")]
    Gone,
    /// Another claim has the name.
    #[error("the claim was recreated: its UID is {0}")]
    OtherClaim(Str),
    /// Another client has changed the list since.
    #[error("the list has changed since: {}", signed(added, missing))]
    Changed {
        /// Entries that were not written.
        added: Vec<ConsumerReference>,
        /// Entries that were written and are not there.
        missing: Vec<ConsumerReference>,
    },
    /// The object of the old entry no longer exists.
    #[error("{} {} with UID {} no longer exists", .0.group_resource(), .0.name, .0.uid)]
    ObjectGone(ConsumerReference),
    /// Pods use the claim, or are about to, that the old list does not cover.
    #[error("the old list does not include pods that use the claim: {}", .0.iter().join(", "))]
    Dropped(Vec<Str>),
}

/// Entries with a sign that tells which of them were added.
fn signed(added: &[ConsumerReference], missing: &[ConsumerReference]) -> String {
    if added.is_empty() && missing.is_empty() {
        return "different order or fields".to_owned();
    }
    let added = added.iter().map(|entry| format!("+{entry}"));
    added
        .chain(missing.iter().map(|entry| format!("-{entry}")))
        .join(", ")
}

/// Plans the way back for one claim. `exists` tells whether the object of an entry that is not a pod exists with the entry's UID.
///
/// # Errors
/// The gap, when pods of the namespace could not be read.
pub fn restore<'a>(
    cluster: &'a Cluster,
    saved: &Saved,
    exists: &dyn Fn(&ConsumerReference) -> bool,
) -> Result<Restoration, &'a Gap> {
    if let Some(gap) = cluster.gap(Kind::Pod, &saved.key.namespace) {
        return Err(gap);
    }
    let Some(claim) = cluster.claim(&saved.key) else {
        return Ok(Restoration::Refuse(Difference::Gone));
    };
    if claim.metadata.uid != saved.uid {
        return Ok(Restoration::Refuse(Difference::OtherClaim(
            claim.metadata.uid.clone(),
        )));
    }
    let current = &claim.status.reserved_for;
    if *current == saved.before {
        return Ok(Restoration::Nothing);
    }
    if *current != saved.after {
        let without = |list: &[ConsumerReference], other: &[ConsumerReference]| -> Vec<_> {
            list.iter()
                .filter(|entry| !other.contains(entry))
                .cloned()
                .collect()
        };
        return Ok(Restoration::Refuse(Difference::Changed {
            added: without(current, &saved.after),
            missing: without(&saved.after, current),
        }));
    }
    let comes_back = |entry: &&ConsumerReference| !entry.is_pod() && !current.contains(entry);
    if let Some(gone) = saved
        .before
        .iter()
        .filter(comes_back)
        .find(|entry| !exists(entry))
    {
        return Ok(Restoration::Refuse(Difference::ObjectGone(gone.clone())));
    }
    let mut old = Claim::clone(claim);
    old.status.reserved_for.clone_from(&saved.before);
    let everyone = saved
        .before
        .iter()
        .any(|entry| !entry.is_pod() && !entry.is_pod_group());
    // A pod with an entry and without a node is about to get one.
    let begins = |pod: &Pod| current.iter().any(|entry| entry.uid == pod.metadata.uid) && !is_done(pod);
    let dropped: Vec<_> = cluster
        .pods_of_claim(&saved.key)
        .filter(|pod| is_consumer(pod, claim, PodGroups::Accepted) || begins(pod))
        .filter(|pod| !everyone && !is_reserved_for(pod, &old, PodGroups::Accepted))
        .map(|pod| pod.metadata.name.clone())
        .collect();
    if !dropped.is_empty() {
        return Ok(Restoration::Refuse(Difference::Dropped(dropped)));
    }
    let list = saved.before.clone();
    Ok(Restoration::Write(ClaimPatch::list(
        claim,
        list,
        Vec::new(),
        false,
    )))
}
