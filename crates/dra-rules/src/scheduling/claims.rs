//! The claims of a pod as the plugin for dynamic resources finds them before it looks at any node.

use std::sync::Arc;

use crate::reservation::{ClaimNameError, PodGroups, claim_name};
use dra_model::{Claim, Cluster, Key, Kind, Pod, Str, go_quote};

/// The reason why the claims of a pod cannot be used yet. The texts are those of the scheduler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum ClaimProblem {
    /// A claim has no name yet, or its entry is not supported.
    #[error(transparent)]
    Name(#[from] ClaimNameError),
    /// There is no claim of that name.
    #[error("could not find ResourceClaim {}", go_quote(&claim.to_string()))]
    Missing {
        /// The claim.
        claim: Key,
    },
    /// The claim is going away.
    #[error("resourceclaim {} is being deleted", go_quote(&claim.name))]
    Deleting {
        /// The claim.
        claim: Key,
    },
    /// The claim was created for another owner.
    #[error("{text}")]
    Owner {
        /// The claim.
        claim: Key,
        /// In the words of the cluster's release.
        text: String,
    },
}

/// Known state of a pod's claims.
#[derive(Clone, Debug)]
pub enum PodClaims {
    /// The claims, in the order of the pod's entries.
    Found(Vec<Arc<Claim>>),
    /// The pod has to wait.
    Problem(ClaimProblem),
    /// Claims of this namespace could not be read.
    Unknown,
}

/// The claims that `pod` names, as long as it may use them.
///
/// Mirrors `dynamicresources.go`, `foreachPodResourceClaim`, v1.37.2: PreEnqueue and PreFilter both stop at the first problem.
pub fn pod_claims(cluster: &Cluster, pod: &Pod, groups: PodGroups) -> PodClaims {
    let release = cluster.environment().release();
    let mut claims = Vec::with_capacity(pod.spec.resource_claims.len());
    for entry in &pod.spec.resource_claims {
        let name = match claim_name(pod, entry) {
            Ok(name) => name,
            Err(why) => return PodClaims::Problem(why.into()),
        };
        let Some(key) = name.key() else { continue };
        let Some(claim) = cluster.claim(&key) else {
            if cluster.gap(Kind::ResourceClaim, &key.namespace).is_some() {
                return PodClaims::Unknown;
            }
            return PodClaims::Problem(ClaimProblem::Missing { claim: key });
        };
        if claim.metadata.is_deleting() {
            return PodClaims::Problem(ClaimProblem::Deleting { claim: key });
        }
        if let Err(why) = name.may_use(claim, groups) {
            let text = why.text_in(&release);
            return PodClaims::Problem(ClaimProblem::Owner { claim: key, text });
        }
        claims.push(Arc::clone(claim));
    }
    PodClaims::Found(claims)
}

/// Problem with a claim's request that applies to all nodes. Mirrors `dynamicresources.go`, `PreFilter`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum RequestProblem {
    /// The class does not exist.
    #[error("request {request}: device class {class} does not exist")]
    NoClass {
        /// `request` or `request/subrequest`.
        request: String,
        /// The class.
        class: Str,
    },
    /// No class is named.
    #[error("request {request}: unsupported request type")]
    NoClassName {
        /// `request` or `request/subrequest`.
        request: String,
    },
    /// Subrequests without their feature.
    #[error(
        "resource claim {claim}, request {request}: has subrequests, but the DRAPrioritizedList feature is disabled"
    )]
    PrioritizedListOff {
        /// The claim.
        claim: Key,
        /// The request.
        request: Str,
    },
    /// A form of request that this release does not know.
    #[error("resource claim {claim}, request {request}: unknown request type")]
    UnknownType {
        /// The claim.
        claim: Key,
        /// The request.
        request: Str,
    },
}

impl RequestProblem {
    /// Returns whether the scheduler calls it an error rather than finding the pod unschedulable.
    pub fn is_error(&self) -> bool {
        matches!(self, Self::NoClassName { .. })
    }
}

/// Checks the requests of a claim that is still to be allocated.
///
/// # Errors
/// The first problem.
pub fn check_requests(
    cluster: &Cluster,
    claim: &Claim,
    prioritized_list: bool,
) -> Result<(), RequestProblem> {
    let check_class = |request: String, class: &Str| {
        if class.is_empty() {
            return Err(RequestProblem::NoClassName { request });
        }
        if cluster.class(class).is_none() {
            let class = class.clone();
            return Err(RequestProblem::NoClass { request, class });
        }
        Ok(())
    };
    for request in &claim.spec.devices.requests {
        if let Some(exactly) = &request.exactly {
            check_class(request.name.to_string(), &exactly.device_class_name)?;
        } else if request.first_available.is_empty() {
            return Err(RequestProblem::UnknownType {
                claim: claim.key(),
                request: request.name.clone(),
            });
        } else if !prioritized_list {
            return Err(RequestProblem::PrioritizedListOff {
                claim: claim.key(),
                request: request.name.clone(),
            });
        } else {
            for subrequest in &request.first_available {
                let name = format!("{}/{}", request.name, subrequest.name);
                check_class(name, &subrequest.device_class_name)?;
            }
        }
    }
    Ok(())
}
