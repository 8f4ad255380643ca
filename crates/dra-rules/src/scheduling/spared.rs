//! Pods that can neither be deleted nor waited for.
//!
//! What a manifest says is not there to end. What has the same owner as the pod is replaced by that owner as soon as it ends, or was kept
//! on purpose: what the owner does next is not simulated.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::given_up::remaining_consumers;
use crate::owners::{Kinship, Lineage, OwnerName};
use crate::reservation::{is_former, pod_of_entry, users};
use dra_model::{Claim, Cluster, ConsumerReference, Key, Node, Pod};

/// The reason why a pod is not deleted for the subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spared {
    /// It has this owner, as the subject has.
    Kin(OwnerName),
    /// These two owners may have the same owner.
    MaybeKin(OwnerName, OwnerName),
    /// It is of the PodGroup of the subject, or that group itself.
    Group(Key),
    /// It stands in a manifest only.
    Written,
}

/// Spared pods for a subject.
pub(super) struct Sparing<'c> {
    cluster: &'c Cluster,
    pod: Option<&'c Arc<Pod>>,
    /// The claims of the subject.
    own: BTreeSet<Key>,
    /// Of the pod, or of those whom the claims are for.
    lineages: Vec<Lineage>,
    known: RefCell<BTreeMap<Key, Option<Spared>>>,
}

impl<'c> Sparing<'c> {
    /// For a pod, or for claims without one, which are its `own`.
    pub(super) fn of(cluster: &'c Cluster, pod: Option<&'c Arc<Pod>>, own: &[Arc<Claim>]) -> Self {
        let keys: BTreeSet<Key> = own.iter().map(|claim| claim.key()).collect();
        let lineages = match pod {
            Some(pod) => vec![Lineage::of_pod(cluster, pod)],
            None => {
                let made = own.iter().map(|claim| Lineage::of(cluster, &claim.metadata));
                let used = keys.iter().flat_map(|key| cluster.pods_of_claim(key));
                made.chain(used.map(|pod| Lineage::of_pod(cluster, pod)))
                    .collect()
            }
        };
        Self {
            cluster,
            pod,
            own: keys,
            lineages,
            known: RefCell::default(),
        }
    }

    /// The PodGroup of the subject.
    fn own_group(&self) -> Option<Key> {
        let pod = self.pod?;
        Some(pod.metadata.beside(pod.pod_group()?))
    }

    /// The consumers of a claim that have to end for the subject to get it.
    pub(super) fn consumers<'a>(&self, claim: &'a Claim) -> Vec<&'a ConsumerReference> {
        remaining_consumers(self.cluster, self.pod.map(|pod| &**pod), claim)
    }

    /// Returns whether all of them are pods that are being deleted, or that are gone or have finished.
    pub(super) fn are_ending(&self, claim: &Claim) -> bool {
        self.consumers(claim).into_iter().all(|entry| {
            is_former(self.cluster, claim, entry)
                || pod_of_entry(self.cluster, claim, entry).is_some_and(|pod| pod.metadata.is_deleting())
        })
    }

    /// Returns whether others use the claim, which is the subject's, too, where the subject can join them: on a node that is there and that all of its
    /// claims reach.
    pub(super) fn is_shared(&self, claim: &Claim) -> bool {
        let own = self.own.iter().filter_map(|key| self.cluster.claim(key));
        let allocations = own.filter_map(|claim| claim.status.allocation.as_ref());
        let selectors: Vec<_> = allocations
            .filter_map(|made| made.node_selector.as_ref())
            .collect();
        let reaches = |node: &Node| {
            let mut selectors = selectors.iter();
            selectors.all(|selector| selector.matches(&node.metadata).unwrap_or(false))
        };
        claim.status.allocation.is_some()
            && !self.are_ending(claim)
            && self.cluster.nodes().any(|node| reaches(node))
    }

    /// Returns why the pod may not be ended for the subject, if so. One that is being deleted ends in any case.
    pub(super) fn pod(&self, pod: &Pod) -> Option<Spared> {
        if pod.metadata.is_deleting() {
            return None;
        }
        let group = pod.pod_group().map(|group| pod.metadata.beside(group));
        if let Some(group) = group.filter(|group| self.own_group().as_ref() == Some(group)) {
            return Some(Spared::Group(group));
        }
        if pod.metadata.is_of_manifest() {
            return Some(Spared::Written);
        }
        let lineage = Lineage::of_pod(self.cluster, pod);
        let found = self.lineages.iter().map(|own| own.kinship(&lineage));
        found.filter_map(Spared::of).min()
    }

    /// The same of a PodGroup and its pods.
    pub(super) fn group(&self, key: &Key) -> Option<Spared> {
        if self.own_group().as_ref() == Some(key) {
            return Some(Spared::Group(key.clone()));
        }
        let group = self.cluster.pod_group(key);
        if group.is_some_and(|group| group.metadata.is_of_manifest()) {
            return Some(Spared::Written);
        }
        let members = self
            .cluster
            .pods_of_group(key)
            .filter(|pod| !self.is_subject(pod));
        members.filter_map(|pod| self.pod(pod)).min()
    }

    /// The same of those who use a claim, without the subject; and of the claim.
    pub(super) fn claim(&self, claim: &Claim) -> Option<Spared> {
        let key = claim.key();
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let mut found = Vec::new();
        if claim.metadata.is_of_manifest() && !self.own.contains(&key) {
            found.push(Spared::Written);
        }
        for entry in self.consumers(claim) {
            if entry.is_pod_group() {
                found.extend(self.group(&claim.metadata.beside(&entry.name)));
            } else if let Some(pod) = pod_of_entry(self.cluster, claim, entry)
                && !self.is_subject(pod)
            {
                found.extend(self.pod(pod));
            }
        }
        let users = users(self.cluster, claim).unwrap_or_default();
        let others = users.into_iter().filter(|pod| !self.is_subject(pod));
        found.extend(others.filter_map(|pod| self.pod(pod)));
        let spared = found.into_iter().min();
        self.known.borrow_mut().insert(key, spared.clone());
        spared
    }

    fn is_subject(&self, pod: &Pod) -> bool {
        self.pod.is_some_and(|own| own.metadata.uid == pod.metadata.uid)
    }
}

/// Returns why none may end who uses the claim, so that `pod` gets it, if so.
pub fn spared(cluster: &Cluster, pod: Option<&Arc<Pod>>, claim: &Arc<Claim>) -> Option<Spared> {
    Sparing::of(cluster, pod, std::slice::from_ref(claim)).claim(claim)
}

impl Spared {
    fn of(kinship: Kinship) -> Option<Self> {
        match kinship {
            Kinship::Same(owner) => Some(Self::Kin(owner)),
            Kinship::Unknown(one, other) => Some(Self::MaybeKin(one, other)),
            Kinship::Different => None,
        }
    }
}
