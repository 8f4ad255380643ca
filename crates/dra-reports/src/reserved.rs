//! `kubectl dra reserved`: what every entry of `status.reservedFor` really is, and which pods lack one.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::claim_item::is_for_any_pod;
use super::references::Consumer;
use super::{Selection, Warnings, words};
use dra_model::{Claim, Cluster, ConsumerReference, Kind, Str};
use dra_rules::reservation::{
    EntryStatus, GroupsKnown, PodGroups, groups_are_known, is_consumer, is_reserved_for, judge,
};

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct ReservationList {
    /// Every entry, by claim, in the order of the claim.
    pub items: Vec<ReservationItem>,
    /// Pods that use a claim on a node without a reservation, by claim and pod.
    pub missing: Vec<MissingItem>,
    /// Claims that every pod may use, as KEP-5194 proposes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_pod: Vec<AnyPodItem>,
    /// What is unknown.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// An entry of `status.reservedFor`.
#[derive(Clone, Debug, schemars::JsonSchema)]
#[schemars(with = "Reservation<'_>")]
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

#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Reservation<'a> {
    /// Namespace of the claim.
    namespace: &'a Str,
    /// The claim.
    claim: &'a Str,
    /// The claim's UID.
    #[serde(rename = "claimUID")]
    claim_uid: &'a Str,
    /// API group of the entry. Empty for the core group.
    api_group: &'a Str,
    /// Resource of the entry: plural, as in `pods`.
    resource: &'a Str,
    /// Name of the entry.
    name: &'a Str,
    /// UID of the entry.
    uid: &'a Str,
    /// What the entry really is.
    status: EntryStatus,
    /// Whether a pod uses the claim by the entry. Absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    consumer: Option<bool>,
}

impl Serialize for ReservationItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = self.entry();
        Reservation {
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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

/// A claim that every pod may use, as KEP-5194 proposes.
#[derive(Clone, Debug, schemars::JsonSchema)]
#[schemars(with = "AnyPod<'_>")]
pub struct AnyPodItem {
    claim: Arc<Claim>,
}

impl AnyPodItem {
    /// The claim.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }
}

#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AnyPod<'a> {
    /// Namespace of the claim.
    namespace: &'a Str,
    /// The claim.
    claim: &'a Str,
    /// The claim's UID.
    #[serde(rename = "claimUID")]
    claim_uid: &'a Str,
    /// The consumer that the spec names.
    #[serde(skip_serializing_if = "Option::is_none")]
    reserved_for: Option<Consumer<'a>>,
}

impl Serialize for AnyPodItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AnyPod {
            namespace: &self.claim.metadata.namespace,
            claim: &self.claim.metadata.name,
            claim_uid: &self.claim.metadata.uid,
            reserved_for: self.claim.spec.reserved_for.as_deref().map(Consumer),
        }
        .serialize(serializer)
    }
}

/// Kinds that the report needs.
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
                report.warnings.unknown(words::UNKNOWN_RESERVATIONS, gap);
            } else if entry.is_pod_group()
                && groups_are_known(cluster, &claim.metadata.namespace) == GroupsKnown::NotServed
            {
                report.warnings.add(words::GROUPS_NOT_SERVED.to_owned());
            }
            report.items.push(ReservationItem {
                claim: Arc::clone(claim),
                index,
                status: judged.status,
                consumer: judged.consumer,
            });
        }
        if is_for_any_pod(claim) {
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
        report.warnings.unknown(words::UNLISTED_PODS, gap);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::warnings::texts;
    use dra_testing::{World, holding, json_of};

    #[test]
    fn entries_are_judged_and_pods_without_one_are_found() {
        let mut status = holding(&["g0"], &["a", "gone"]);
        let foreign = json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "v"});
        status["reservedFor"].as_array_mut().unwrap().push(foreign);
        let cluster = World::default()
            .claim("c", &json!({}), &status)
            .pod("a", &["c"])
            .pod("b", &["c"])
            .pod_with("ended", &["c"], &json!({"phase": "Failed"}))
            .build();
        let report = reserved(&cluster, &Selection::default());
        let common = |resource: &str, name: &str, uid: &str| {
            json!({"namespace": "n", "claim": "c", "claimUID": "c-uid", "apiGroup": "", "resource": resource,
                   "name": name, "uid": uid})
        };
        let item = |mut common: serde_json::Value, status: &str, consumer: bool| {
            common["status"] = json!(status);
            common["consumer"] = json!(consumer);
            common
        };
        let mut job = item(common("jobs", "j", "v"), "UnknownKind", true);
        job["apiGroup"] = json!("batch");
        assert_eq!(
            json_of(&report),
            json!({
                "items": [
                    item(common("pods", "a", "a-uid"), "Running", true),
                    item(common("pods", "gone", "gone-uid"), "Gone", false),
                    job,
                ],
                "missing": [{"namespace": "n", "claim": "c", "pod": "b", "podUID": "b-uid"}],
            })
        );
        assert!(report.warnings.is_empty());
    }

    #[test]
    fn the_entry_of_a_group_covers_its_members_whatever_the_gates() {
        let group =
            json!([{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "u"}]);
        let member = |name: &str, group: &str| {
            json!({
                "metadata": {"namespace": "n", "name": name, "uid": name},
                "spec": {"nodeName": "node-1", "schedulingGroup": {"podGroupName": group},
                         "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]},
            })
        };
        let cluster = World::default()
            .claim("c", &json!({}), &json!({"allocation": {}, "reservedFor": group}))
            .with(Kind::Pod, &member("inside", "g"))
            .with(Kind::Pod, &member("outside", "h"))
            .build();
        let report = reserved(&cluster, &Selection::default());
        let missing: Vec<_> = report.missing.iter().map(|item| item.pod.as_str()).collect();
        assert_eq!(missing, ["outside"]);
        assert_eq!(
            texts(&report.warnings),
            [
                "PodGroups are not served: it is unknown whether the groups that claims are reserved for still exist"
            ]
        );
    }

    #[test]
    fn without_pods_nothing_is_accused() {
        let cluster = World::default()
            .claim("c", &json!({}), &holding(&["g0"], &["a"]))
            .without(Kind::Pod)
            .build();
        let report = reserved(&cluster, &Selection::default());
        let json = json_of(&report);
        assert_eq!(json["items"][0]["status"], "Unknown");
        assert!(json["items"][0].get("consumer").is_none());
        assert_eq!(json["missing"], json!([]));
        assert_eq!(
            texts(&report.warnings),
            [
                "the status of some reservations is unknown; pods without a reservation are not listed: pods could not be read: forbidden",
            ]
        );
    }

    #[test]
    fn a_claim_for_any_pod_lacks_no_entry() {
        let cluster = World::default()
            .claim(
                "c",
                &json!({}),
                &json!({"allocation": {"reservedForAnyPod": true}}),
            )
            .pod("a", &["c"])
            .build();
        let json = json_of(&reserved(&cluster, &Selection::default()));
        assert_eq!(
            json,
            json!({"items": [], "missing": [], "anyPod": [{"namespace": "n", "claim": "c", "claimUID": "c-uid"}]})
        );
    }
}
