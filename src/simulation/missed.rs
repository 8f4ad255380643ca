//! Pods on tainted devices that are not evicted.

use serde::Serialize;

use crate::devices::{RuleSupport, Taints};
use crate::eviction::{Release, claim_eviction, consumers, evicting_claims};
use crate::model::{Claim, Cluster, Key, Pod, Str, Time};
use crate::reservation::{PodGroups, check_owner, claim_names, is_reserved_for};

/// A pod that keeps running on a device with a taint that it does not tolerate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissedPod {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// The claim that holds the device.
    pub claim: Str,
    /// Why the controller passes it by.
    pub why: String,
}

/// Pods with a node that have not ended, use a device with a NoExecute taint that they do not tolerate for good, and are not
/// evicted because of it.
pub(super) fn missed(cluster: &Cluster, release: Release, now: Time) -> Vec<MissedPod> {
    // As if every taint counted.
    let all = Taints::of(cluster);
    let counting =
        (release.rules != RuleSupport::On).then(|| Taints::of(cluster).where_rules_are(release.rules));
    let mut found = Vec::new();
    for claim in cluster.claims() {
        if claim_eviction(claim, &all, now).is_none() {
            continue;
        }
        let is_counted = || {
            let mut counting = counting.iter();
            counting.all(|counting| claim_eviction(claim, counting, now).is_some())
        };
        let reached: Vec<Key> = if release.evicts && is_counted() {
            if release.stops_at_missing_pod {
                consumers(cluster, claim, release)
                    .iter()
                    .map(|pod| pod.key())
                    .collect()
            } else {
                cluster.pods_of_claim(&claim.key()).map(|pod| pod.key()).collect()
            }
        } else {
            Vec::new()
        };
        for pod in cluster.pods_of_claim(&claim.key()) {
            let runs = pod.node().is_some() && !pod.is_terminal() && !pod.metadata.is_deleting();
            let uses = claim_names(pod).any(|name| name.name() == Some(&claim.metadata.name));
            if !runs || !uses {
                continue;
            }
            let counts = evicting_claims(cluster, pod, release.groups)
                .any(|found| found.metadata.name == claim.metadata.name);
            if counts && reached.contains(&pod.key()) {
                continue;
            }
            found.push(MissedPod {
                namespace: pod.metadata.namespace.clone(),
                name: pod.metadata.name.clone(),
                uid: pod.metadata.uid.clone(),
                claim: claim.metadata.name.clone(),
                why: why(pod, claim, release, counts).to_owned(),
            });
        }
    }
    found.sort_by(|a, b| (&a.namespace, &a.name, &a.claim).cmp(&(&b.namespace, &b.name, &b.claim)));
    found
}

fn why(pod: &Pod, claim: &Claim, release: Release, counts: bool) -> &'static str {
    if !release.evicts {
        return "DRADeviceTaints is off in kube-controller-manager: no pod is evicted";
    }
    let extended = pod.status.extended_resource_claim_status.as_ref();
    if extended.is_some_and(|status| status.resource_claim_name == claim.metadata.name) {
        return "the controller does not look at claims for extended resources";
    }
    let grouped = check_owner(pod, claim, PodGroups::Accepted).is_ok()
        || is_reserved_for(pod, claim, PodGroups::Accepted);
    if counts {
        return match release.rules {
            _ if release.stops_at_missing_pod => {
                "an entry before its own in status.reservedFor names a missing pod: releases up to 1.35 stop there"
            }
            RuleSupport::Off => "DRADeviceTaintRules is off in kube-controller-manager: rules evict no pod",
            RuleSupport::PublishedOnly | RuleSupport::On => {
                "no slice publishes the device: release 1.34 taints only what is published"
            }
        };
    }
    if !is_reserved_for(pod, claim, PodGroups::Accepted) {
        return "the claim is not reserved for it";
    }
    if grouped && release.groups == PodGroups::Ignored {
        return "the claim is its PodGroup's, and DRAWorkloadResourceClaims is off in kube-controller-manager";
    }
    "the claim was made for another pod"
}
