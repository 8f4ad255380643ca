//! Pods on tainted devices that are not evicted.

use std::sync::Arc;

use serde::Serialize;

use crate::eviction::{Release, consumers, evicting_claims, has_to_go};
use crate::reservation::{PodGroups, claim_names, is_reserved_for, owns, resolves_to};
use dra_allocator::devices::{RuleSupport, Taints};
use dra_model::{Claim, Cluster, Component, Environment, Gate, Pod, Str};

/// Why a pod keeps a tainted device that it has for extended resources, before the fix.
pub const PASSED_OVER: &str = "kube-controller-manager before 1.37.2 ignores claims for extended resources (kubernetes/kubernetes#141290)";

/// A pod that keeps running on a device with a taint that it does not tolerate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct MissedPod {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// The claim that holds the device.
    pub claim: Str,
    /// The reason why the controller passes it by.
    pub why: String,
}

/// Pods with a node that have not ended, use a device with a NoExecute taint that they do not tolerate for good, and are not
/// evicted because of it.
pub(super) fn missed(cluster: &Cluster, release: Release) -> Vec<MissedPod> {
    // As if every taint counted.
    let all = Taints::of(cluster);
    let counting =
        (release.rules != RuleSupport::On).then(|| Taints::of(cluster).where_rules_are(release.rules));
    let mut found = Vec::new();
    for claim in cluster.claims() {
        if !has_to_go(claim, &all) {
            continue;
        }
        let is_counted = || {
            let mut counting = counting.iter();
            counting.all(|counting| has_to_go(claim, counting))
        };
        let is_evicting = release.evicts && is_counted();
        let reached =
            (is_evicting && release.stops_at_missing_pod).then(|| consumers(cluster, claim, release));
        // Of the pods that name the claim, in releases that look at all of them.
        let is_reached = |pod: &Arc<Pod>| {
            let reached = reached.as_ref();
            is_evicting && reached.is_none_or(|reached| reached.iter().any(|other| Arc::ptr_eq(other, pod)))
        };
        for pod in cluster.pods_of_claim(&claim.key()) {
            let runs = pod.node().is_some() && !pod.is_terminal() && !pod.metadata.is_deleting();
            let uses = claim_names(pod).any(|name| name.name() == Some(&claim.metadata.name));
            if !runs || !uses {
                continue;
            }
            let counts = evicting_claims(cluster, pod, release)
                .any(|found| found.metadata.name == claim.metadata.name);
            if counts && is_reached(pod) {
                continue;
            }
            found.push(MissedPod {
                namespace: pod.metadata.namespace.clone(),
                name: pod.metadata.name.clone(),
                uid: pod.metadata.uid.clone(),
                claim: claim.metadata.name.clone(),
                why: why(pod, claim, release, counts, cluster.environment()),
            });
        }
    }
    found.sort_by(|a, b| (&a.namespace, &a.name, &a.claim).cmp(&(&b.namespace, &b.name, &b.claim)));
    found
}

fn why(pod: &Pod, claim: &Claim, release: Release, counts: bool, environment: &Environment) -> String {
    let off = |gate: Gate| {
        let state = environment.gate(Component::ControllerManager, gate);
        if state.evidence.is_of_now() {
            format!("{gate} is off in kube-controller-manager")
        } else {
            format!("{gate} is assumed off in kube-controller-manager (the default of the release)")
        }
    };
    if !release.evicts {
        return format!("{}: no pod is evicted", off(Gate::DRADeviceTaints));
    }
    let extended = pod.status.extended_resource_claim_status.as_ref();
    let is_extended = extended.is_some_and(|status| status.resource_claim_name == claim.metadata.name);
    if is_extended && !release.claims.has_extended() {
        return PASSED_OVER.to_owned();
    }
    if counts {
        return match release.rules {
            _ if release.stops_at_missing_pod => {
                "an earlier entry in status.reservedFor names a missing pod, and releases up to 1.35 stop there".to_owned()
            }
            RuleSupport::Off => format!("{}: rules do not evict pods", off(Gate::DRADeviceTaintRules)),
            RuleSupport::PublishedOnly | RuleSupport::On => {
                "no slice publishes the device, and release 1.34 taints only published devices".to_owned()
            }
        };
    }
    if !is_reserved_for(pod, claim, PodGroups::Accepted) {
        return "its claim is not reserved for it".to_owned();
    }
    let may_use = if is_extended {
        owns(pod, claim, PodGroups::Accepted)
    } else {
        resolves_to(pod, claim, PodGroups::Accepted)
    };
    if release.groups == PodGroups::Ignored && may_use {
        return format!(
            "its claim belongs to its PodGroup, and {}",
            off(Gate::DRAWorkloadResourceClaims)
        );
    }
    "its claim was created for another pod".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{Kind, Object};

    fn why_of(owner: &str, reserved_for: &str) -> String {
        let pod = br#"{"metadata":{"namespace":"n","name":"p","uid":"u"},
            "spec":{"nodeName":"a","schedulingGroup":{"podGroupName":"g"},
                    "resourceClaims":[{"name":"made","resourceClaimTemplateName":"t"}]},
            "status":{"phase":"Running","resourceClaimStatuses":[{"name":"made","resourceClaimName":"c"}]}}"#;
        let claim = format!(
            r#"{{"metadata":{{"namespace":"n","name":"c","ownerReferences":[{owner}]}},
                "status":{{"reservedFor":[{reserved_for}]}}}}"#
        );
        let objects = (
            Object::from_json(Kind::Pod, pod).unwrap(),
            Object::from_json(Kind::ResourceClaim, claim.as_bytes()).unwrap(),
        );
        let (Object::Pod(pod), Object::ResourceClaim(claim)) = objects else {
            unreachable!()
        };
        let release = Release {
            evicts: true,
            rules: RuleSupport::On,
            groups: PodGroups::Ignored,
            stops_at_missing_pod: false,
            claims: crate::eviction::EvictingClaims::Named,
        };
        why(&pod, &claim, release, false, &Environment::default())
    }

    #[test]
    fn a_claim_of_a_group_is_not_one_of_another_pod() {
        let by_group =
            r#"{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","name":"g","controller":true}"#;
        let by_other = r#"{"kind":"Pod","name":"q","uid":"other","controller":true}"#;
        let for_pod = r#"{"resource":"pods","name":"p","uid":"u"}"#;
        let for_group = r#"{"apiGroup":"scheduling.k8s.io","resource":"podgroups","name":"g","uid":"x"}"#;
        let groups = "its claim belongs to its PodGroup, and DRAWorkloadResourceClaims is assumed off in \
                     kube-controller-manager (the default of the release)";
        for (owner, reserved_for, expected) in [
            (by_group, for_group, groups),
            (by_group, for_pod, groups),
            (by_group, "", "its claim is not reserved for it"),
            (by_other, for_pod, "its claim was created for another pod"),
        ] {
            assert_eq!(why_of(owner, reserved_for), expected, "{owner} {reserved_for}");
        }
    }
}
