//! What becomes of a cluster when a pod gets its claims and its node: the steps that controllers and the scheduler take, done on a
//! fork of the cluster.

use std::sync::Arc;

use super::extended::IN_MEMORY_CLAIM;
use super::verdict::Granted;
use crate::model::{
    AllocationMode, Change, Claim, Cluster, Component, ConsumerReference, DeviceRequest, Environment, Gap,
    Gate, Key, Kind, Meta, Object, OwnerReference, Pod, PodClaimStatus, Str, uid_of_simulation,
};
use crate::reservation::{ClaimNameError, PodGroups, bind_to, claim_name, group_claim_name};

/// Puts in what the API server defaults in a claim.
pub fn with_defaults(claim: &mut Claim) {
    let default = |request: &mut DeviceRequest| {
        if request.allocation_mode == AllocationMode::ExactCount && request.count == 0 {
            request.count = 1;
        }
    };
    for request in &mut claim.spec.devices.requests {
        request.exactly.iter_mut().for_each(default);
        request.first_available.iter_mut().for_each(default);
    }
}

/// Why the claims of a pod cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// There is no such template.
    #[error("resource claim template {} not found", .0)]
    NoTemplate(Key),
    /// The claim is that of the pod's PodGroup, and the claim controller is known not to make claims for groups.
    #[error("claim {entry} is a PodGroup claim but the {gate} feature is disabled", gate = Gate::DRAWorkloadResourceClaims)]
    GroupsOff {
        /// The entry of the pod.
        entry: Str,
    },
    /// Templates could not be read, so that it is unknown whether there is one.
    #[error("whether resource claim template {template} exists is unknown: {}", gap.reason)]
    Unread {
        /// The template.
        template: Key,
        /// Why not.
        gap: Gap,
    },
}

/// Makes the claims that a pod's entries name templates for, and are not there yet. Returns the pod as it is then.
///
/// Names are not those that the claim controller would find, which are random.
///
/// # Errors
/// A template does not exist, or the claim controller makes no claims for groups. The claims before it were made.
pub fn generate_claims(cluster: &mut Cluster, pod: &Arc<Pod>) -> Result<Arc<Pod>, GenerateError> {
    let environment = cluster.environment();
    let groups = PodGroups::of(environment, Component::ControllerManager);
    let knows_groups = Gate::DRAWorkloadResourceClaims
        .stage_in(environment.emulated_minor)
        .is_some();
    let mut made = Pod::clone(pod);
    for entry in &pod.spec.resource_claims {
        match claim_name(pod, entry) {
            Ok(name) if name.is_generated() && name.find(cluster).is_none() => {}
            Err(ClaimNameError::NotCreated { .. }) => {}
            Ok(_) | Err(ClaimNameError::Unsupported { .. }) => continue,
        }
        let Some(template) = &entry.resource_claim_template_name else {
            continue;
        };
        let template_key = pod.metadata.beside(template);
        let of_group = PodGroups::Accepted
            .group_of(cluster, pod)
            .cloned()
            .filter(|group| {
                bind_to(pod, Some(group.as_ref()), entry).is_ok_and(|consumer| consumer.is_pod_group())
            });
        let of_group = match groups {
            PodGroups::Accepted => of_group,
            // Mirrors what the claim controller says; a release without the gate takes the pod for any other.
            PodGroups::Ignored if of_group.is_some() && knows_groups => {
                return Err(GenerateError::GroupsOff {
                    entry: entry.name.clone(),
                });
            }
            PodGroups::Ignored => None,
        };
        let owner = match &of_group {
            Some(group) => ("scheduling.k8s.io/v1beta1", "PodGroup", &group.metadata),
            None => ("v1", "Pod", &pod.metadata),
        };
        let known = of_group.as_ref().and_then(|group| {
            let shared = group
                .spec
                .resource_claims
                .iter()
                .find(|shared| *shared == entry)?;
            group_claim_name(group, shared).ok()?.name().cloned()
        });
        let name = known.unwrap_or_else(|| format!("{}-{}", owner.2.name, entry.name).into());
        let key = pod.metadata.beside(&name);
        if cluster.claim(&key).is_none() {
            let template = cluster
                .template(&template_key)
                .ok_or_else(|| no_template(cluster, &template_key))?;
            let mut claim = Claim {
                metadata: Meta {
                    uid: uid_of_simulation(&key.to_string()).into(),
                    namespace: key.namespace,
                    name: key.name,
                    owner_references: vec![OwnerReference {
                        api_version: owner.0.into(),
                        kind: owner.1.into(),
                        name: owner.2.name.clone(),
                        uid: owner.2.uid.clone(),
                        controller: true,
                    }],
                    ..template.spec.metadata.clone()
                },
                spec: template.spec.spec.clone(),
                ..Claim::default()
            };
            with_defaults(&mut claim);
            cluster.apply(Change::Put(Object::ResourceClaim(Arc::new(claim))));
        }
        made.status
            .resource_claim_statuses
            .retain(|status| status.name != entry.name);
        made.status.resource_claim_statuses.push(PodClaimStatus {
            name: entry.name.clone(),
            resource_claim_name: Some(name),
        });
    }
    let made = Arc::new(made);
    cluster.apply(Change::Put(Object::Pod(Arc::clone(&made))));
    Ok(made)
}

fn no_template(cluster: &Cluster, template: &Key) -> GenerateError {
    let template = template.clone();
    match cluster.gap(Kind::ResourceClaimTemplate, &template.namespace) {
        Some(gap) => GenerateError::Unread {
            template,
            gap: gap.clone(),
        },
        None => GenerateError::NoTemplate(template),
    }
}

/// Binds a pod to `node` with what it was granted there.
pub fn place(cluster: &mut Cluster, pod: &Pod, node: &Str, granted: &[Granted]) {
    for grant in granted {
        let consumer = consumer(cluster, pod, &grant.claim);
        let mut claim = match cluster.claim(&grant.claim) {
            Some(claim) => Claim::clone(claim),
            None => extended_claim(pod, &grant.claim),
        };
        claim.status.allocation = Some(grant.allocation.clone());
        let reserved = &mut claim.status.reserved_for;
        if !reserved.iter().any(|entry| entry.uid == consumer.uid) {
            reserved.push(consumer);
        }
        cluster.apply(Change::Put(Object::ResourceClaim(Arc::new(claim))));
    }
    let mut bound = pod.clone();
    bound.spec.node_name = Some(node.clone());
    cluster.apply(Change::Put(Object::Pod(Arc::new(bound))));
}

/// Allocates claims without a pod.
pub fn allocate(cluster: &mut Cluster, granted: &[Granted]) {
    for grant in granted {
        if let Some(claim) = cluster.claim(&grant.claim) {
            let mut claim = Claim::clone(claim);
            claim.status.allocation = Some(grant.allocation.clone());
            cluster.apply(Change::Put(Object::ResourceClaim(Arc::new(claim))));
        }
    }
}

/// Takes the allocation of a claim back. Its consumers stay, as if they had ended without their own requests being given back.
/// Returns whether there was one.
pub fn release(cluster: &mut Cluster, key: &Key) -> bool {
    let Some(claim) = cluster.claim(key) else {
        return false;
    };
    let mut claim = Claim::clone(claim);
    let was_allocated = claim.status.allocation.take().is_some();
    claim.status = crate::model::ClaimStatus::default();
    cluster.apply(Change::Put(Object::ResourceClaim(Arc::new(claim))));
    was_allocated
}

fn consumer(cluster: &Cluster, pod: &Pod, claim: &Key) -> ConsumerReference {
    let environment: &Environment = cluster.environment();
    let group = PodGroups::of(environment, Component::Scheduler).group_of(cluster, pod);
    let entry = pod
        .spec
        .resource_claims
        .iter()
        .find(|entry| claim_name(pod, entry).is_ok_and(|name| name.name() == Some(&claim.name)));
    let bound = entry.and_then(|entry| bind_to(pod, group.map(|group| &**group), entry).ok());
    bound.unwrap_or_else(|| ConsumerReference::of_pod(pod))
}

/// The claim that the scheduler makes for extended resources; until then it has no name that the API server would take.
fn extended_claim(pod: &Pod, key: &Key) -> Claim {
    let name: Str = if key.name == IN_MEMORY_CLAIM {
        format!("{}-extended-resources", pod.metadata.name).into()
    } else {
        key.name.clone()
    };
    Claim {
        metadata: Meta {
            namespace: key.namespace.clone(),
            uid: uid_of_simulation(&format!("{}/{name}", key.namespace)).into(),
            name,
            ..Meta::default()
        },
        ..Claim::default()
    }
}
