//! `kubectl dra reserved`: what every entry of `status.reservedFor` really is, and which pods lack one.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::references::Consumer;
use super::{Selection, Warnings};
use crate::model::{Claim, Cluster, ConsumerReference, Kind, Str};
use crate::reservation::{
    EntryStatus, GroupsKnown, PodGroups, groups_are_known, is_consumer, is_reserved_for, judge,
};

/// The report.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReservationList {
    /// Every entry, by claim, in the order of the claim.
    pub items: Vec<ReservationItem>,
    /// Pods that use a claim on a node without a reservation, by claim and pod.
    pub missing: Vec<MissingItem>,
    /// Claims that every pod may use, as KEP-5194 has it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_pod: Vec<AnyPodItem>,
    /// What could not be found out.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// One entry.
#[derive(Clone, Debug)]
pub struct ReservationItem {
    claim: Arc<Claim>,
    index: usize,
    /// What it is.
    pub status: EntryStatus,
    /// Whether a pod uses the claim by it; absent when unknown.
    pub consumer: Option<bool>,
}

impl ReservationItem {
    /// The claim.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The entry.
    pub fn entry(&self) -> &ConsumerReference {
        &self.claim.status.reserved_for[self.index]
    }
}

impl Serialize for ReservationItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct View<'a> {
            namespace: &'a Str,
            claim: &'a Str,
            #[serde(rename = "claimUID")]
            claim_uid: &'a Str,
            api_group: &'a Str,
            resource: &'a Str,
            name: &'a Str,
            uid: &'a Str,
            status: EntryStatus,
            #[serde(skip_serializing_if = "Option::is_none")]
            consumer: Option<bool>,
        }
        let entry = self.entry();
        View {
            namespace: &self.claim.metadata.namespace,
            claim: &self.claim.metadata.name,
            claim_uid: &self.claim.metadata.uid,
            api_group: &entry.api_group,
            resource: &entry.resource,
            name: &entry.name,
            uid: &entry.uid,
            status: self.status,
            consumer: self.consumer,
        }
        .serialize(serializer)
    }
}

/// A pod on a node that uses a claim which is reserved neither for it nor for its group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingItem {
    /// Namespace of both.
    pub namespace: Str,
    /// The claim.
    pub claim: Str,
    /// The pod.
    pub pod: Str,
    /// The pod's UID.
    #[serde(rename = "podUID")]
    pub pod_uid: Str,
}

/// A claim that every pod may use.
#[derive(Clone, Debug)]
pub struct AnyPodItem {
    claim: Arc<Claim>,
}

impl AnyPodItem {
    /// The claim.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }
}

impl Serialize for AnyPodItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct View<'a> {
            namespace: &'a Str,
            claim: &'a Str,
            #[serde(rename = "claimUID")]
            claim_uid: &'a Str,
            #[serde(skip_serializing_if = "Option::is_none")]
            reserved_for: Option<Consumer<'a>>,
        }
        View {
            namespace: &self.claim.metadata.namespace,
            claim: &self.claim.metadata.name,
            claim_uid: &self.claim.metadata.uid,
            reserved_for: self.claim.spec.reserved_for.as_ref().map(Consumer),
        }
        .serialize(serializer)
    }
}

/// Kinds that the report is made from.
pub const RESERVED_NEEDS: [Kind; 3] = [Kind::ResourceClaim, Kind::Pod, Kind::PodGroup];

/// The reservations of the claims of `selection`.
pub fn reserved(cluster: &Cluster, selection: &Selection) -> ReservationList {
    let mut report = ReservationList {
        items: Vec::new(),
        missing: Vec::new(),
        any_pod: Vec::new(),
        warnings: Warnings::default(),
    };
    for claim in selection.claims(cluster) {
        for (index, entry) in claim.status.reserved_for.iter().enumerate() {
            let judged = judge(cluster, claim, entry);
            if let Some(gap) = judged.gap {
                report
                    .warnings
                    .unknown("what some reservations are is unknown", gap);
            } else if entry.is_pod_group()
                && groups_are_known(cluster, &claim.metadata.namespace) == GroupsKnown::NotServed
            {
                report.warnings.add(
                    "PodGroups are not there to look up: whether the groups that claims are reserved for still exist is not known"
                        .to_owned(),
                );
            }
            report.items.push(ReservationItem {
                claim: Arc::clone(claim),
                index,
                status: judged.status,
                consumer: judged.consumer,
            });
        }
        let any_pod = claim
            .status
            .allocation
            .as_ref()
            .is_some_and(|allocation| allocation.reserved_for_any_pod);
        if any_pod {
            report.any_pod.push(AnyPodItem {
                claim: Arc::clone(claim),
            });
        } else {
            add_missing(cluster, claim, &mut report);
        }
    }
    report
}

/// Whatever a component's gate says, the entry of a pod's group is an entry: what gates make of it is not asked here.
fn add_missing(cluster: &Cluster, claim: &Claim, report: &mut ReservationList) {
    if let Some(gap) = cluster.gap(Kind::Pod, &claim.metadata.namespace) {
        report
            .warnings
            .unknown("pods without a reservation are not listed", gap);
        return;
    }
    let key = claim.key();
    let lacking = cluster.pods_of_claim(&key).filter(|pod| {
        is_consumer(pod, claim, PodGroups::Accepted) && !is_reserved_for(pod, claim, PodGroups::Accepted)
    });
    report.missing.extend(lacking.map(|pod| MissingItem {
        namespace: claim.metadata.namespace.clone(),
        claim: claim.metadata.name.clone(),
        pod: pod.metadata.name.clone(),
        pod_uid: pod.metadata.uid.clone(),
    }));
}
