//! State of a cluster after a pod gets its claims and its node: the steps of controllers and kube-scheduler, performed on a
//! fork of the cluster.

use std::sync::Arc;

use super::extended::IN_MEMORY_CLAIM;
use super::verdict::Granted;
use crate::quota::Quotas;
use crate::reservation::{Next, PodGroups, bind_to, claim_name, claim_names, claim_of_template, unmade_of};
use dra_model::{
    Change, Claim, ClaimTemplate, Cluster, Component, ConsumerReference, Environment, Gap, Key, Kind, Meta,
    Object, Pod, PodClaimStatus, Str, uid_of_simulation,
};

/// The reason why the claims of a pod cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// There is no such template.
    #[error("resource claim template {} not found", .0)]
    NoTemplate(Key),
    /// The claim controller makes none, for this reason.
    #[error("{0}")]
    Refused(String),
    /// Objects that tell which claims are made could not be read.
    #[error("the claims created for the pod are unknown without {}: {}", .0.kind.plural(), .0.reason)]
    Unread(Gap),
}

/// Makes the claims that a pod has yet to get from templates, or takes those that were made for it before. Returns the pod as it is then.
///
/// Names are not those that the claim controller would find, which are random.
///
/// # Errors
/// A template does not exist, or the claim controller makes no claim. The claims before it were made.
pub fn generate_claims(cluster: &mut Cluster, pod: &Arc<Pod>) -> Result<Arc<Pod>, GenerateError> {
    let mut made = Pod::clone(pod);
    for entry in &pod.spec.resource_claims {
        let Some(unmade) = unmade_of(cluster, pod, entry) else {
            continue;
        };
        let name = match unmade.next {
            Next::Adopt(claim) => claim.metadata.name.clone(),
            Next::Make(template) => {
                let (kind, owner) = match unmade.group {
                    Some(group) => (Kind::PodGroup, group.metadata.clone()),
                    None => (Kind::Pod, pod.metadata.clone()),
                };
                let template = Arc::clone(template);
                make(cluster, &template, kind, &owner, &entry.name)
            }
            Next::NoTemplate(template) => return Err(GenerateError::NoTemplate(template)),
            Next::Nothing(why) | Next::GateOff(_, why) => return Err(GenerateError::Refused(why)),
            Next::Unknown(gap) => return Err(GenerateError::Unread(gap.clone())),
        };
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

/// Makes the claim of an entry of `owner`, and returns its name, which no other has.
fn make(cluster: &mut Cluster, template: &ClaimTemplate, kind: Kind, owner: &Meta, entry: &Str) -> Str {
    let mut name = format!("{}-{entry}", owner.name);
    while cluster.claim(&owner.beside(&Str::from(name.as_str()))).is_some() {
        name.push_str("-0");
    }
    let key = owner.beside(&Str::from(name.as_str()));
    let by = (kind, &owner.name, &owner.uid);
    let mut claim = claim_of_template(template, key.clone(), entry, by);
    claim.metadata.uid = uid_of_simulation(&key.to_string()).into();
    for quota in Quotas::of(cluster).counting(&key.namespace, &claim.spec) {
        cluster.apply(Change::Put(Object::ResourceQuota(Arc::new(quota))));
    }
    cluster.apply(Change::Put(Object::ResourceClaim(Arc::new(claim))));
    key.name
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

/// Takes a pod away, as if it had ended and been deleted: claims that were made for it go with it, and others lose its reservation, with the
/// last one their devices.
pub fn remove_pod(cluster: &mut Cluster, key: &Key) {
    let Some(pod) = cluster.pod(key).cloned() else {
        return;
    };
    let uid = &pod.metadata.uid;
    let known: &Cluster = cluster;
    let own: Vec<Arc<Claim>> = claim_names(&pod)
        .filter_map(|name| name.find(known).cloned())
        .collect();
    for claim in own {
        if claim.metadata.controller().is_some_and(|owner| owner.uid == *uid) {
            cluster.apply(Change::Delete(Kind::ResourceClaim, claim.key()));
            continue;
        }
        change_claim(cluster, &claim.key(), |claim| {
            claim.status.reserved_for.retain(|entry| entry.uid != *uid);
            if claim.status.reserved_for.is_empty() {
                claim.status = dra_model::ClaimStatus::default();
            }
        });
    }
    cluster.apply(Change::Delete(Kind::Pod, key.clone()));
}

/// Allocates claims without a pod.
pub fn allocate(cluster: &mut Cluster, granted: &[Granted]) {
    for grant in granted {
        change_claim(cluster, &grant.claim, |claim| {
            claim.status.allocation = Some(grant.allocation.clone());
        });
    }
}

/// Changes a claim, if it is there.
pub(super) fn change_claim(cluster: &mut Cluster, key: &Key, change: impl FnOnce(&mut Claim)) {
    if let Some(claim) = cluster.claim(key) {
        let mut claim = Claim::clone(claim);
        change(&mut claim);
        cluster.apply(Change::Put(Object::ResourceClaim(Arc::new(claim))));
    }
}

/// Takes the allocation of a claim back. Its consumers stay, as if they had ended without their own requests being given back.
/// Returns whether there was one.
pub fn release(cluster: &mut Cluster, key: &Key) -> bool {
    let mut was_allocated = false;
    change_claim(cluster, key, |claim| {
        was_allocated = claim.status.allocation.is_some();
        claim.status = dra_model::ClaimStatus::default();
    });
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
