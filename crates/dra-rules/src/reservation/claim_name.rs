//! Claim of an entry of `spec.resourceClaims`.

use std::sync::Arc;

use super::PodGroups;
use super::owner::{NotOwner, check_group_owner, check_owner};
use dra_model::{Claim, Cluster, Key, Meta, Pod, PodClaim, PodClaimStatus, PodGroup, Str, go_quote};

/// The claim that an entry of `spec.resourceClaims` of a pod or a PodGroup stands for.
///
/// To name a claim is not to use it: a claim created from a template may belong to another owner with the same name.
/// Callers that act on the claim must check `may_use`, the only place that knows for which entries the owner counts.
/// The name alone is for indexes and look-ups.
///
/// Mirrors what `resourceclaim.go`, `Name`, v1.37.2 returns, and what its callers do with `mustCheckOwner`: they ask `IsForPod`
/// (`dynamicresources.go`, `foreachPodResourceClaim`; `resourceclaim/controller.go`, `podNeedsWork`, `syncPod`, `handleClaim`;
/// `device_taint_eviction.go`, `podEvictionTime`) or `IsForPodGroup` (`handlePodGroupClaim`).
#[derive(Debug)]
pub struct ClaimName<'a, By = Pod> {
    by: &'a By,
    by_metadata: &'a Meta,
    means: Means<'a>,
}

#[derive(Debug)]
enum Means<'a> {
    /// A claim that exists independently of the pod; any pod that names it may use it.
    Named(&'a Str),
    /// A claim made from a template. It must belong to the pod or its group.
    Generated(&'a Str),
    /// Intentionally no claim: the entry can be ignored.
    NotNeeded,
}

impl<'a, By> ClaimName<'a, By> {
    /// The name of the claim, unless none is needed.
    pub fn name(&self) -> Option<&'a Str> {
        match self.means {
            Means::Named(name) | Means::Generated(name) => Some(name),
            Means::NotNeeded => None,
        }
    }

    /// Returns where the claim is, unless none is needed.
    pub fn key(&self) -> Option<Key> {
        self.name().map(|name| self.by_metadata.beside(name))
    }

    /// The claim, if one is needed and there.
    pub fn find<'c>(&self, cluster: &'c Cluster) -> Option<&'c Arc<Claim>> {
        self.key().and_then(|key| cluster.claim(&key))
    }

    /// Returns whether the claim is made from a template.
    pub fn is_generated(&self) -> bool {
        matches!(self.means, Means::Generated(_))
    }
}

impl<'a> ClaimName<'a> {
    /// The claim that the scheduler made for the pod's extended resources. The API server lets no other pod name it.
    pub fn of_extended_resources(pod: &'a Pod) -> Option<Self> {
        let status = pod.status.extended_resource_claim_status.as_ref()?;
        Some(Self {
            by: pod,
            by_metadata: &pod.metadata,
            means: Means::Named(&status.resource_claim_name),
        })
    }

    /// Checks that the pod may use the claim of this name.
    ///
    /// # Errors
    /// The claim was created from a template for another owner.
    pub fn may_use(&self, claim: &Claim, groups: PodGroups) -> Result<(), NotOwner> {
        match self.means {
            Means::Generated(_) => check_owner(self.by, claim, groups),
            Means::Named(_) | Means::NotNeeded => Ok(()),
        }
    }

    /// Returns whether it means this claim, and the pod may use it.
    pub fn resolves_to(&self, claim: &Claim, groups: PodGroups) -> bool {
        self.by_metadata.namespace == claim.metadata.namespace
            && self.name() == Some(&claim.metadata.name)
            && self.may_use(claim, groups).is_ok()
    }
}

impl ClaimName<'_, PodGroup> {
    /// Checks that the group may use the claim of this name.
    ///
    /// # Errors
    /// The claim was created from a template for another owner. In the words of Kubernetes.
    pub fn may_use(&self, claim: &Claim) -> Result<(), String> {
        match self.means {
            Means::Generated(_) => check_group_owner(self.by, claim),
            Means::Named(_) | Means::NotNeeded => Ok(()),
        }
    }
}

/// The reason why the claim of a pod's entry has no name. The texts are those of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
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

/// The reason why the claim of a PodGroup's entry has no name. The texts are those of Kubernetes.
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
/// Mirrors `resourceclaim.go`, `Name`, v1.37.2. The claims of a PodGroup's templates reach the pod through its own status, like
/// those of the pod's templates.
///
/// # Errors
/// When the claim was not created yet, or the entry is not supported by this release.
pub fn claim_name<'a>(pod: &'a Pod, entry: &'a PodClaim) -> Result<ClaimName<'a>, ClaimNameError> {
    let means = means(entry, &pod.status.resource_claim_statuses).map_err(|why| match why {
        Nameless::NotCreated => ClaimNameError::NotCreated { pod: pod.key() },
        Nameless::Unsupported => ClaimNameError::Unsupported {
            pod: pod.key(),
            entry: entry.name.clone(),
        },
    })?;
    Ok(ClaimName {
        by: pod,
        by_metadata: &pod.metadata,
        means,
    })
}

/// The claim behind one entry of the group's `spec.resourceClaims`. Mirrors `resourceclaim.go`, `NameFromPodGroup`, v1.37.2.
///
/// # Errors
/// As [`claim_name`].
pub fn group_claim_name<'a>(
    group: &'a PodGroup,
    entry: &'a PodClaim,
) -> Result<ClaimName<'a, PodGroup>, GroupClaimNameError> {
    let key = group.metadata.key();
    let means = means(entry, &group.status.resource_claim_statuses).map_err(|why| match why {
        Nameless::NotCreated => GroupClaimNameError::NotCreated { group: key },
        Nameless::Unsupported => GroupClaimNameError::Unsupported {
            group: key,
            entry: entry.name.clone(),
        },
    })?;
    Ok(ClaimName {
        by: group,
        by_metadata: &group.metadata,
        means,
    })
}

/// The reason why an entry has no name of a claim.
enum Nameless {
    NotCreated,
    Unsupported,
}

fn means<'a>(entry: &'a PodClaim, statuses: &'a [PodClaimStatus]) -> Result<Means<'a>, Nameless> {
    if let Some(name) = &entry.resource_claim_name {
        return Ok(Means::Named(name));
    }
    if entry.resource_claim_template_name.is_none() {
        return Err(Nameless::Unsupported);
    }
    let status = statuses.iter().find(|status| status.name == entry.name);
    let name = status.ok_or(Nameless::NotCreated)?.resource_claim_name.as_ref();
    Ok(name.map_or(Means::NotNeeded, Means::Generated))
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
                Ok(name) => format!("{:?} {}", name.name(), name.is_generated()),
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
                Ok(name) => format!("{:?} {}", name.name(), name.is_generated()),
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
