//! Which claim an entry of `spec.resourceClaims` means.

use crate::model::{Key, Pod, PodClaim, PodClaimStatus, PodGroup, Str, go_quote};

/// What an entry of `spec.resourceClaims` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimName<'a> {
    /// A claim that exists independently of the pod; whoever names it may use it.
    Named(&'a Str),
    /// A claim made from a template. It must belong to the pod or its group: see [`super::check_owner`].
    Generated(&'a Str),
    /// Intentionally no claim: the entry can be ignored.
    NotNeeded,
}

impl<'a> ClaimName<'a> {
    /// The name of the claim, unless none is needed.
    pub fn name(self) -> Option<&'a Str> {
        match self {
            Self::Named(name) | Self::Generated(name) => Some(name),
            Self::NotNeeded => None,
        }
    }

    /// Whether the claim's owner decides if the pod may use it.
    pub fn must_check_owner(self) -> bool {
        matches!(self, Self::Generated(_))
    }
}

/// Why the claim of a pod's entry has no name. The texts are those of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClaimNameError {
    /// The claim controller has not made the claim yet.
    #[error("pod \"{pod}\": ResourceClaim not created yet")]
    NotCreated {
        /// The pod.
        pod: Key,
    },
    /// Neither a claim nor a template is named: a field of a later release, or an invalid object.
    #[error(
        "pod \"{pod}\", spec.resourceClaim {}: none of the supported fields are set",
        go_quote(entry)
    )]
    Unsupported {
        /// The pod.
        pod: Key,
        /// Name of the entry.
        entry: Str,
    },
}

/// Why the claim of a PodGroup's entry has no name. The texts are those of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupClaimNameError {
    /// The claim controller has not made the claim yet.
    #[error("PodGroup {group}: ResourceClaim not created yet")]
    NotCreated {
        /// The group.
        group: Key,
    },
    /// Neither a claim nor a template is named.
    #[error("PodGroup {group}, spec.resourceClaim {entry}: none of the supported fields are set")]
    Unsupported {
        /// The group.
        group: Key,
        /// Name of the entry.
        entry: Str,
    },
}

/// The claim behind one entry of the pod's `spec.resourceClaims`.
///
/// Mirrors `resourceclaim.go`, `Name`, v1.37.1. The claims of a PodGroup's templates reach the pod through its own status, like
/// those of the pod's templates.
///
/// # Errors
/// When the claim was not made yet, or the entry says nothing that this release understands.
pub fn claim_name<'a>(pod: &'a Pod, entry: &'a PodClaim) -> Result<ClaimName<'a>, ClaimNameError> {
    if let Some(name) = &entry.resource_claim_name {
        return Ok(ClaimName::Named(name));
    }
    if entry.resource_claim_template_name.is_none() {
        return Err(ClaimNameError::Unsupported {
            pod: pod.key(),
            entry: entry.name.clone(),
        });
    }
    generated(&pod.status.resource_claim_statuses, &entry.name)
        .ok_or_else(|| ClaimNameError::NotCreated { pod: pod.key() })
}

/// The claim behind one entry of the group's `spec.resourceClaims`. Mirrors `resourceclaim.go`, `NameFromPodGroup`, v1.37.1.
///
/// # Errors
/// As [`claim_name`].
pub fn group_claim_name<'a>(
    group: &'a PodGroup,
    entry: &'a PodClaim,
) -> Result<ClaimName<'a>, GroupClaimNameError> {
    if let Some(name) = &entry.resource_claim_name {
        return Ok(ClaimName::Named(name));
    }
    if entry.resource_claim_template_name.is_none() {
        return Err(GroupClaimNameError::Unsupported {
            group: group.metadata.key(),
            entry: entry.name.clone(),
        });
    }
    generated(&group.status.resource_claim_statuses, &entry.name).ok_or_else(|| {
        GroupClaimNameError::NotCreated {
            group: group.metadata.key(),
        }
    })
}

fn generated<'a>(statuses: &'a [PodClaimStatus], entry: &Str) -> Option<ClaimName<'a>> {
    let status = statuses.iter().find(|status| status.name == *entry)?;
    Some(
        status
            .resource_claim_name
            .as_ref()
            .map_or(ClaimName::NotNeeded, ClaimName::Generated),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{group, pod};
    use super::*;

    #[test]
    fn a_pod_entry_resolves_as_in_kubernetes() {
        let pod = pod(r#"{"metadata":{"namespace":"n","name":"p"},
                "spec":{"resourceClaims":[
                    {"name":"named","resourceClaimName":"shared"},
                    {"name":"both","resourceClaimName":"shared","resourceClaimTemplateName":"t"},
                    {"name":"made","resourceClaimTemplateName":"t"},
                    {"name":"unneeded","resourceClaimTemplateName":"t"},
                    {"name":"waiting","resourceClaimTemplateName":"t"},
                    {"name":"od\"d"}]},
                "status":{"resourceClaimStatuses":[
                    {"name":"made","resourceClaimName":"p-made-x"},{"name":"unneeded"},
                    {"name":"named","resourceClaimName":"ignored"}]}}"#);
        let answers: Vec<_> = pod
            .spec
            .resource_claims
            .iter()
            .map(|entry| match claim_name(&pod, entry) {
                Ok(name) => format!("{:?} {}", name.name(), name.must_check_owner()),
                Err(why) => why.to_string(),
            })
            .collect();
        assert_eq!(
            answers,
            [
                r#"Some("shared") false"#,
                r#"Some("shared") false"#,
                r#"Some("p-made-x") true"#,
                "None false",
                r#"pod "n/p": ResourceClaim not created yet"#,
                r#"pod "n/p", spec.resourceClaim "od\"d": none of the supported fields are set"#,
            ]
        );
    }

    #[test]
    fn a_group_entry_resolves_as_in_kubernetes() {
        let group = group(
            r#"{"metadata":{"namespace":"n","name":"g"},
                "spec":{"resourceClaims":[
                    {"name":"named","resourceClaimName":"shared"},
                    {"name":"made","resourceClaimTemplateName":"t"},
                    {"name":"waiting","resourceClaimTemplateName":"t"},
                    {"name":"odd"}]},
                "status":{"resourceClaimStatuses":[{"name":"made","resourceClaimName":"g-made-x"}]}}"#,
        );
        let answers: Vec<_> = group
            .spec
            .resource_claims
            .iter()
            .map(|entry| match group_claim_name(&group, entry) {
                Ok(name) => format!("{:?} {}", name.name(), name.must_check_owner()),
                Err(why) => why.to_string(),
            })
            .collect();
        assert_eq!(
            answers,
            [
                r#"Some("shared") false"#,
                r#"Some("g-made-x") true"#,
                "PodGroup n/g: ResourceClaim not created yet",
                "PodGroup n/g, spec.resourceClaim odd: none of the supported fields are set",
            ]
        );
    }
}
