//! Ownership of a claim created from a template by the pod that names it.

use std::fmt;
use std::sync::Arc;

use itertools::Itertools as _;

use super::PodGroups;
use dra_model::{
    Claim, ClaimTemplate, Cluster, Key, Kind, Meta, OwnerReference, Pod, PodGroup, Release, Str,
};

/// The annotation that ties a claim to the entry it was made for.
pub const ENTRY_ANNOTATION: &str = "resource.kubernetes.io/pod-claim-name";

/// Checks that the claim was made for the pod, or for its PodGroup where those are accepted.
///
/// Mirrors `resourceclaim.go`, `IsForPod`, v1.37.2. A group is recognized by kind, API group and name, as the pod does not know
/// its UID. The crash of 1.36 for a pod without a group is not imitated.
///
/// # Errors
/// When the claim has another owner; see [`NotOwner::text_in`] for the message.
pub(super) fn check_owner(pod: &Pod, claim: &Claim, groups: PodGroups) -> Result<(), NotOwner> {
    let not_owner = |reason| {
        Err(NotOwner {
            claim: claim.key(),
            pod: pod.key(),
            reason,
        })
    };
    if claim.metadata.namespace != pod.metadata.namespace {
        return not_owner(NotOwnerReason::OtherNamespace);
    }
    if claim
        .metadata
        .controller()
        .is_some_and(|owner| owner.uid == pod.metadata.uid)
    {
        return Ok(());
    }
    match pod.pod_group() {
        Some(group) if groups == PodGroups::Accepted => {
            if owning_group(claim) == Some(group) {
                Ok(())
            } else {
                not_owner(NotOwnerReason::NeitherPodNorGroup { group: group.clone() })
            }
        }
        _ => not_owner(NotOwnerReason::NotThePod),
    }
}

/// Returns whether the claim was made for the pod, or for its PodGroup where those are accepted.
pub fn owns(pod: &Pod, claim: &Claim, groups: PodGroups) -> bool {
    check_owner(pod, claim, groups).is_ok()
}

/// The name of the PodGroup that the claim was made for, if it was made for one.
///
/// Mirrors `resourceclaim.go`, `isForPodGroupByPod`, v1.37.2: the version of the owner's API may change, its group may not.
pub fn owning_group(claim: &Claim) -> Option<&Str> {
    let owner = claim.metadata.controller()?;
    is_group(owner).then_some(&owner.name)
}

/// Returns whether the owner is a PodGroup, of whatever version.
pub fn is_group(owner: &OwnerReference) -> bool {
    owner.kind == "PodGroup" && owner.api_version.starts_with("scheduling.k8s.io/")
}

/// The claims that were made from a template for `entry` of the pod or PodGroup that has this UID.
///
/// Mirrors `resourceclaim/controller.go`, `findPodResourceClaim` and `findPodGroupResourceClaim`, v1.37.2: the annotation tells the
/// entry before the status of the owner names the claim.
pub fn claims_made_for<'c>(
    cluster: &'c Cluster,
    kind: Kind,
    namespace: &Str,
    uid: &Str,
    entry: &Str,
) -> impl Iterator<Item = &'c Arc<Claim>> {
    let is_owner = move |owner: &OwnerReference| {
        owner.uid == *uid
            && match kind {
                Kind::Pod => owner.kind == "Pod" && owner.api_version == "v1",
                _ => is_group(owner),
            }
    };
    cluster.claims_of_owner(uid).filter(move |claim| {
        let metadata = &claim.metadata;
        metadata.namespace == *namespace
            && metadata.annotation(ENTRY_ANNOTATION) == Some(entry)
            && metadata.controller().is_some_and(is_owner)
    })
}

/// The claim `key` from a template, for `entry` of the pod or PodGroup that has this name and UID.
pub fn claim_of_template(
    template: &ClaimTemplate,
    key: Key,
    entry: &Str,
    (kind, name, uid): (Kind, &Str, &Str),
) -> Claim {
    let made = &template.spec.metadata;
    let others = made.annotations.iter().filter(|(key, _)| key != ENTRY_ANNOTATION);
    let own = (ENTRY_ANNOTATION.into(), entry.clone());
    let (api_version, kind) = match kind {
        Kind::Pod => ("v1", "Pod"),
        _ => ("scheduling.k8s.io/v1beta1", "PodGroup"),
    };
    Claim {
        metadata: Meta {
            namespace: key.namespace,
            name: key.name,
            labels: made.labels.clone(),
            annotations: others.cloned().chain([own]).sorted().collect(),
            owner_references: vec![OwnerReference {
                api_version: api_version.into(),
                kind: kind.into(),
                name: name.clone(),
                uid: uid.clone(),
                controller: true,
            }],
            ..Meta::default()
        },
        spec: template.spec.spec.clone(),
        ..Claim::default()
    }
}

/// The deleted pod that alone owns the claim, by its UID. The garbage collector deletes such a claim; its replacement
/// first asks the API server about the pod.
///
/// Mirrors `pkg/controller/garbagecollector/garbagecollector.go`, `attemptToDeleteItem`, v1.37.2, as far as pods are the owners.
pub fn lost_pod<'a>(cluster: &Cluster, claim: &'a Claim) -> Option<&'a OwnerReference> {
    let [owner] = claim.metadata.owner_references.as_slice() else {
        return None;
    };
    if owner.kind != "Pod" || owner.api_version != "v1" {
        return None;
    }
    let pod = cluster.pod(&claim.metadata.beside(&owner.name));
    pod.is_none_or(|pod| pod.metadata.uid != owner.uid)
        .then_some(owner)
}

/// Checks that the claim was made for the group itself. Mirrors `resourceclaim.go`, `IsForPodGroup`, v1.37.2.
///
/// # Errors
/// In the words of Kubernetes.
pub(super) fn check_group_owner(group: &PodGroup, claim: &Claim) -> Result<(), String> {
    let (claim_key, group_key) = (claim.key(), group.metadata.key());
    if claim_key.namespace != group_key.namespace {
        return Err(format!(
            "ResourceClaim {claim_key} is not in the same namespace as PodGroup {group_key}"
        ));
    }
    let owner = claim.metadata.controller();
    if owner.is_none_or(|owner| owner.uid != group.metadata.uid) {
        return Err(format!(
            "ResourceClaim {claim_key} was not created for PodGroup {group_key} (PodGroup is not owner)"
        ));
    }
    Ok(())
}

/// A claim that does not belong to the pod that names it. Displays in the words of the newest release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotOwner {
    /// The claim.
    pub claim: Key,
    /// The pod.
    pub pod: Key,
    /// The reason.
    pub reason: NotOwnerReason,
}

/// Problem with the owner of a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotOwnerReason {
    /// Claim and pod live in different namespaces.
    OtherNamespace,
    /// The pod is not the claim's controller, and only the pod was asked for.
    NotThePod,
    /// Neither the pod nor its group is.
    NeitherPodNorGroup {
        /// The group that the pod is a member of.
        group: Str,
    },
}

impl NotOwner {
    /// The words of that release.
    pub fn text_in(&self, release: &Release) -> String {
        if release.owner_has_one_text {
            format!(
                "ResourceClaim {} was not created for pod {} (pod is not owner)",
                self.claim, self.pod
            )
        } else {
            self.to_string()
        }
    }
}

impl fmt::Display for NotOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { claim, pod, reason } = self;
        match reason {
            NotOwnerReason::OtherNamespace => {
                write!(
                    f,
                    "ResourceClaim {claim} is not in the same namespace as Pod {pod}"
                )
            }
            NotOwnerReason::NotThePod => {
                write!(
                    f,
                    "ResourceClaim {claim} was not created for Pod {pod} (Pod is not owner)"
                )
            }
            NotOwnerReason::NeitherPodNorGroup { group } => write!(
                f,
                "ResourceClaim {claim} was not created for Pod {pod} (neither Pod nor PodGroup {group} is the owner)"
            ),
        }
    }
}

impl std::error::Error for NotOwner {}

#[cfg(test)]
mod tests {
    use super::super::testing::{claim, group, pod};
    use super::*;
    use dra_model::Version;

    const ALONE: &str = r#"{"metadata":{"namespace":"n","name":"p","uid":"pod-uid"}}"#;
    const MEMBER: &str = r#"{"metadata":{"namespace":"n","name":"p","uid":"pod-uid"},
        "spec":{"schedulingGroup":{"podGroupName":"g"}}}"#;

    fn owned_by(namespace: &str, owner: &str) -> std::sync::Arc<Claim> {
        claim(&format!(
            r#"{{"metadata":{{"namespace":"{namespace}","name":"c","ownerReferences":[{owner}]}}}}"#
        ))
    }

    #[test]
    fn owners_are_checked_as_in_kubernetes() {
        let by_pod =
            r#"{"apiVersion":"v1","kind":"Pod","name":"other-name","uid":"pod-uid","controller":true}"#;
        let not_controller = r#"{"apiVersion":"v1","kind":"Pod","name":"p","uid":"pod-uid"}"#;
        let by_group = r#"{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup","name":"g","uid":"x","controller":true}"#;
        let other_group = r#"{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","name":"h","uid":"x","controller":true}"#;
        let other_api = r#"{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","name":"g","uid":"x","controller":true}"#;
        let prefix = "ResourceClaim n/c was not created for Pod n/p ";
        let neither = format!("{prefix}(neither Pod nor PodGroup g is the owner)");
        let not_pod = format!("{prefix}(Pod is not owner)");
        for (pod_json, namespace, owner, groups, expected) in [
            (ALONE, "n", by_pod, PodGroups::Ignored, None),
            (MEMBER, "n", by_pod, PodGroups::Accepted, None),
            (
                ALONE,
                "n",
                not_controller,
                PodGroups::Ignored,
                Some(not_pod.as_str()),
            ),
            (ALONE, "n", "", PodGroups::Ignored, Some(&not_pod)),
            (MEMBER, "n", by_group, PodGroups::Accepted, None),
            (MEMBER, "n", by_group, PodGroups::Ignored, Some(&not_pod)),
            (MEMBER, "n", other_group, PodGroups::Accepted, Some(&neither)),
            (MEMBER, "n", other_api, PodGroups::Accepted, Some(&neither)),
            (ALONE, "n", by_group, PodGroups::Accepted, Some(&not_pod)),
            (
                ALONE,
                "m",
                by_pod,
                PodGroups::Ignored,
                Some("ResourceClaim m/c is not in the same namespace as Pod n/p"),
            ),
        ] {
            let answer = check_owner(&pod(pod_json), &owned_by(namespace, owner), groups);
            let text = answer.err().map(|why| why.to_string());
            assert_eq!(text.as_deref(), expected, "{owner} {groups:?}");
        }
    }

    #[test]
    fn older_releases_have_one_text() {
        let why = check_owner(&pod(MEMBER), &owned_by("m", ""), PodGroups::Accepted).unwrap_err();
        let old = "ResourceClaim m/c was not created for pod n/p (pod is not owner)";
        let of = |minor| Release::of(Version::minor(minor));
        assert_eq!(why.text_in(&of(34)), old);
        assert_eq!(why.text_in(&of(35)), old);
        assert_eq!(why.text_in(&of(36)), why.to_string());
    }

    #[test]
    fn a_group_owns_by_uid() {
        let group = group(r#"{"metadata":{"namespace":"n","name":"g","uid":"group-uid"}}"#);
        let by = |uid: &str| {
            owned_by(
                "n",
                &format!(r#"{{"kind":"PodGroup","name":"g","uid":"{uid}","controller":true}}"#),
            )
        };
        assert_eq!(check_group_owner(&group, &by("group-uid")), Ok(()));
        assert_eq!(
            check_group_owner(&group, &by("older")),
            Err("ResourceClaim n/c was not created for PodGroup n/g (PodGroup is not owner)".to_owned())
        );
        assert_eq!(
            check_group_owner(&group, &owned_by("m", "")),
            Err("ResourceClaim m/c is not in the same namespace as PodGroup n/g".to_owned())
        );
    }
}
