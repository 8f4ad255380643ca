//! Consumers that a claim is reserved for, and consumers that it should be reserved for.

use std::sync::Arc;

use dra_model::{
    Claim, Cluster, Component, ConsumerReference, Environment, Gate, Key, Pod, PodClaim, PodGroup, Str,
};

/// Support of a component for PodGroups as owners and consumers of claims: its gate `DRAWorkloadResourceClaims`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodGroups {
    /// The gate is on.
    Accepted,
    /// The gate is off, or the release does not have it.
    Ignored,
}

impl PodGroups {
    /// Returns what `component` does with PodGroups.
    pub fn of(environment: &Environment, component: Component) -> Self {
        if environment.enabled(component, Gate::DRAWorkloadResourceClaims) {
            Self::Accepted
        } else {
            Self::Ignored
        }
    }

    /// The group that the pod is a member of, where groups are accepted and it is there.
    pub fn group_of<'c>(self, cluster: &'c Cluster, pod: &Pod) -> Option<&'c Arc<PodGroup>> {
        match self {
            Self::Accepted => cluster.pod_group(&pod.metadata.beside(pod.pod_group()?)),
            Self::Ignored => None,
        }
    }
}

/// Returns whether the claim is reserved for the pod, or for its group where those are accepted.
///
/// Mirrors `resourceclaim.go`, `IsReservedForPod`, v1.37.2: a pod is recognized by its UID alone, whatever the kind and name of the
/// entry; a group by its name alone, as the pod does not know the UID.
pub fn is_reserved_for(pod: &Pod, claim: &Claim, groups: PodGroups) -> bool {
    claim.status.reserved_for.iter().any(|entry| {
        entry.uid == pod.metadata.uid
            || groups == PodGroups::Accepted
                && entry.is_pod_group()
                && pod.pod_group().is_some_and(|group| *group == entry.name)
    })
}

/// Returns who becomes the consumer of the claim behind `entry`: the group when it has the same entry, else the pod.
///
/// Mirrors `resourceclaim.go`, `BindTo`, v1.37.2. Give the group only where groups are accepted.
///
/// # Errors
/// When an entry names neither claim nor template, or the pod is not a member of `group`.
pub fn bind_to(
    pod: &Pod,
    group: Option<&PodGroup>,
    entry: &PodClaim,
) -> Result<ConsumerReference, BindError> {
    let is_set = |entry: &PodClaim| {
        entry.resource_claim_name.is_some() || entry.resource_claim_template_name.is_some()
    };
    if !is_set(entry) {
        return Err(BindError::PodEntry {
            pod: pod.key(),
            entry: entry.name.clone(),
        });
    }
    if let Some(group) = group {
        check_member(pod, group)?;
        for shared in &group.spec.resource_claims {
            if !is_set(shared) {
                return Err(BindError::GroupEntry {
                    group: group.metadata.key(),
                    entry: shared.name.clone(),
                });
            }
            if shared == entry {
                return Ok(ConsumerReference {
                    api_group: "scheduling.k8s.io".into(),
                    resource: "podgroups".into(),
                    name: group.metadata.name.clone(),
                    uid: group.metadata.uid.clone(),
                    unknown: None,
                });
            }
        }
    }
    Ok(ConsumerReference::of_pod(pod))
}

/// Returns the consumer to add to the claim that `entry` of a scheduled pod resolves to, if no scheduler reserved it;
/// nothing if it is reserved for the pod or not allocated.
///
/// Mirrors `resourceclaim/controller.go`, `syncPod`, v1.37.2, its second half, which does not ask whether the pod has ended.
///
/// # Errors
/// As those of [`bind_to`].
pub fn missing_consumer(
    pod: &Pod,
    group: Option<&PodGroup>,
    entry: &PodClaim,
    claim: &Claim,
    groups: PodGroups,
) -> Result<Option<ConsumerReference>, BindError> {
    if claim.status.allocation.is_none() || is_reserved_for(pod, claim, groups) {
        return Ok(None);
    }
    let consumer = bind_to(pod, group, entry)?;
    Ok(Some(consumer).filter(|consumer| !consumer.is_pod_group() || groups == PodGroups::Accepted))
}

/// The PodGroup of the pod. Without it the claim controller does nothing for the pod.
///
/// Mirrors `resourceclaim/controller.go`, `getPodGroup`, v1.37.2. `workloads` is the gate `GenericWorkload`.
///
/// # Errors
/// The gate is off, or there is no such group.
pub fn group_of_member<'c>(
    cluster: &'c Cluster,
    pod: &Pod,
    workloads: bool,
) -> Result<Option<&'c Arc<PodGroup>>, NoGroup> {
    let Some(name) = pod.pod_group() else {
        return Ok(None);
    };
    if !workloads {
        return Err(NoGroup::Disabled(name.clone()));
    }
    let group = cluster.pod_group(&pod.metadata.beside(name));
    group.map(Some).ok_or_else(|| NoGroup::Missing(name.clone()))
}

/// Reasons why the group of a pod is missing, in the words of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGroup {
    /// The controller does not know groups.
    #[error("Pod is a member of PodGroup {0} but {gate} feature is disabled", gate = Gate::GenericWorkload)]
    Disabled(Str),
    /// There is none of that name.
    #[error("podgroup.scheduling.k8s.io \"{0}\" not found")]
    Missing(Str),
}

/// Mirrors `resourceclaim.go`, `podMatchesPodGroup`.
fn check_member(pod: &Pod, group: &PodGroup) -> Result<(), BindError> {
    let Some(name) = pod.pod_group() else {
        return Err(BindError::NoMember { pod: pod.key() });
    };
    if pod.metadata.namespace != group.metadata.namespace || *name != group.metadata.name {
        return Err(BindError::OtherGroup {
            pod: pod.key(),
            own: name.clone(),
            group: group.metadata.key(),
        });
    }
    Ok(())
}

/// The reason why no consumer can be named. The texts are those of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The pod's entry names neither claim nor template.
    #[error("Pod {pod} claim {entry}: none of the supported fields are set")]
    PodEntry {
        /// The pod.
        pod: Key,
        /// Name of the entry.
        entry: Str,
    },
    /// An entry of the group names neither claim nor template.
    #[error("PodGroup {group} claim {entry}: none of the supported fields are set")]
    GroupEntry {
        /// The group.
        group: Key,
        /// Name of the entry.
        entry: Str,
    },
    /// The pod is a member of no group.
    #[error("Pod {pod} does not belong to a PodGroup")]
    NoMember {
        /// The pod.
        pod: Key,
    },
    /// The pod is a member of another group.
    #[error("Pod {pod} belongs to PodGroup {}/{own}, not PodGroup {group}", pod.namespace)]
    OtherGroup {
        /// The pod.
        pod: Key,
        /// Its group.
        own: Str,
        /// The group that was given.
        group: Key,
    },
}

#[cfg(test)]
mod tests {
    use super::super::testing::{claim, group, pod};
    use super::*;

    const MEMBER: &str = r#"{"metadata":{"namespace":"n","name":"p","uid":"u"},
        "spec":{"schedulingGroup":{"podGroupName":"g"}}}"#;

    #[test]
    fn a_reservation_is_found_by_the_pods_uid_or_the_groups_name() {
        let by_uid = r#"{"resource":"pods","name":"other","uid":"u"}"#;
        let odd_kind = r#"{"apiGroup":"batch","resource":"jobs","name":"j","uid":"u"}"#;
        let same_name = r#"{"resource":"pods","name":"p","uid":"older"}"#;
        let by_group = r#"{"apiGroup":"scheduling.k8s.io","resource":"podgroups","name":"g","uid":"any"}"#;
        let other_group = r#"{"apiGroup":"scheduling.k8s.io","resource":"podgroups","name":"h","uid":"any"}"#;
        let other_api = r#"{"apiGroup":"x.io","resource":"podgroups","name":"g","uid":"any"}"#;
        for (entry, accepted, ignored) in [
            (by_uid, true, true),
            (odd_kind, true, true),
            (same_name, false, false),
            (by_group, true, false),
            (other_group, false, false),
            (other_api, false, false),
            ("", false, false),
        ] {
            let claim = claim(&format!(r#"{{"status":{{"reservedFor":[{entry}]}}}}"#));
            let pod = pod(MEMBER);
            assert_eq!(
                is_reserved_for(&pod, &claim, PodGroups::Accepted),
                accepted,
                "{entry}"
            );
            assert_eq!(
                is_reserved_for(&pod, &claim, PodGroups::Ignored),
                ignored,
                "{entry}"
            );
        }
    }

    #[test]
    fn the_group_is_the_consumer_of_what_it_shares() {
        let pod = pod(r#"{"metadata":{"namespace":"n","name":"p","uid":"u"},
                "spec":{"schedulingGroup":{"podGroupName":"g"},"resourceClaims":[
                    {"name":"a","resourceClaimName":"shared"},
                    {"name":"b","resourceClaimName":"shared"},
                    {"name":"t","resourceClaimTemplateName":"template"},
                    {"name":"a","resourceClaimTemplateName":"shared"},
                    {"name":"odd"}]}}"#);
        let group = group(
            r#"{"metadata":{"namespace":"n","name":"g","uid":"v"},
                "spec":{"resourceClaims":[
                    {"name":"a","resourceClaimName":"shared"},
                    {"name":"t","resourceClaimTemplateName":"template"}]}}"#,
        );
        let answer = |group| -> Vec<String> {
            pod.spec
                .resource_claims
                .iter()
                .map(|entry| match bind_to(&pod, group, entry) {
                    Ok(consumer) => format!("{}/{}", consumer.group_resource(), consumer.uid),
                    Err(why) => why.to_string(),
                })
                .collect()
        };
        let odd = "Pod n/p claim odd: none of the supported fields are set";
        let shared = "podgroups.scheduling.k8s.io/v";
        assert_eq!(answer(Some(&group)), [shared, "pods/u", shared, "pods/u", odd]);
        assert_eq!(answer(None), ["pods/u", "pods/u", "pods/u", "pods/u", odd]);
    }

    #[test]
    fn a_group_must_be_the_pods_own_and_whole() {
        let entry = PodClaim {
            name: "a".into(),
            resource_claim_name: Some("shared".into()),
            ..PodClaim::default()
        };
        let of = |pod_json: &str, group_json: &str| {
            bind_to(&pod(pod_json), Some(&group(group_json)), &entry)
                .unwrap_err()
                .to_string()
        };
        let alone = r#"{"metadata":{"namespace":"n","name":"p"}}"#;
        let other = r#"{"metadata":{"namespace":"n","name":"h"}}"#;
        let odd = r#"{"metadata":{"namespace":"n","name":"g"},"spec":{"resourceClaims":[{"name":"x"}]}}"#;
        assert_eq!(of(alone, other), "Pod n/p does not belong to a PodGroup");
        assert_eq!(
            of(MEMBER, other),
            "Pod n/p belongs to PodGroup n/g, not PodGroup n/h"
        );
        assert_eq!(
            of(MEMBER, odd),
            "PodGroup n/g claim x: none of the supported fields are set"
        );
    }
}
