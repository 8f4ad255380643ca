//! Reasons that keep a scheduled pod from its claims' devices, by the objects alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::container::has_run;
use crate::reservation::{ClaimName, ClaimNameError, Next, PodGroups, Unusable, claim_name, unmade_of};
use crate::scheduling::other_scheduler;
use dra_model::{Claim, Cluster, Event, Gap, Key, Kind, Pod, PodClaim};

/// Something that is wrong with a claim of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// There is no template for the claim.
    TemplateMissing(Key),
    /// There is no claim for an entry of the pod. The scheduler, which would have waited for it, was passed by.
    NotCreated(ClaimNameError),
    /// The claim does not exist.
    Missing(Key),
    /// The pod cannot use the claim.
    Unusable {
        /// The claim.
        claim: Key,
        /// The reason.
        why: Unusable,
    },
}

impl Problem {
    /// In one word that stays.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TemplateMissing(_) => "TemplateMissing",
            Self::NotCreated(_) => "ClaimNotCreated",
            Self::Missing(_) => "ClaimMissing",
            Self::Unusable { why, .. } => match why {
                Unusable::NotOwned(_) => "ClaimNotOwned",
                Unusable::NotAllocated | Unusable::BoundBy(_) | Unusable::Bypassed => "NotAllocated",
                Unusable::NotReserved => "NotReserved",
            },
        }
    }
}

/// Problems of a pod's claims.
#[derive(Debug, Default)]
pub struct Problems<'c> {
    /// Problems, in the order of the pod's claims.
    pub found: Vec<Problem>,
    /// Gap that may hide problems.
    pub hidden: Option<&'c Gap>,
}

/// Returns why a pod that has its node cannot use the devices of its claims: what the kubelet looks at before it asks a driver, which
/// [`Unusable`] has of one claim.
pub fn problems<'c>(cluster: &'c Cluster, pod: &Pod) -> Problems<'c> {
    let groups = PodGroups::of_kubelets(cluster.environment());
    let own = pod.spec.resource_claims.iter();
    let own = own.map(|entry| (claim_name(pod, entry), Some(entry)));
    let extended = ClaimName::of_extended_resources(pod).map(|name| (Ok(name), None));
    // Without PodGroups it is unknown whether their traces are left over.
    let unread_groups = || {
        cluster
            .gap(Kind::PodGroup, "")
            .filter(|_| PodGroups::of_kubelets_is_guessed(cluster.environment()))
    };
    let mut problems = Problems::default();
    for (name, entry) in own.chain(extended) {
        let name = match name {
            Ok(name) => name,
            Err(why) => {
                let template = entry.and_then(|entry| missing_template(cluster, pod, entry));
                problems.found.extend(template.map(Problem::TemplateMissing));
                problems.found.push(Problem::NotCreated(why));
                continue;
            }
        };
        let Some(key) = name.key() else { continue };
        let Some(claim) = cluster.claim(&key) else {
            match cluster.gap(Kind::ResourceClaim, &key.namespace) {
                Some(gap) => problems.hidden = Some(gap),
                None => problems.found.push(Problem::Missing(key)),
            }
            continue;
        };
        match Unusable::of(pod, &name, claim, groups) {
            Some(Unusable::NotAllocated) if is_bypassed(cluster, pod, claim) => {
                let why = Unusable::Bypassed;
                problems.found.push(Problem::Unusable { claim: key, why });
            }
            Some(Unusable::NotAllocated)
                if !has_run(pod) && other_scheduler(cluster.environment(), pod).is_some() =>
            {
                let why = Unusable::BoundBy(pod.scheduler().into());
                problems.found.push(Problem::Unusable { claim: key, why });
            }
            Some(why) => problems.found.push(Problem::Unusable { claim: key, why }),
            None if Unusable::of(pod, &name, claim, PodGroups::Ignored).is_some() => {
                problems.hidden = problems.hidden.or_else(unread_groups);
            }
            None => {}
        }
    }
    problems
}

/// Least seconds until the event that a pod was placed is gone: events are kept for an hour.
const KEPT_SECONDS: u64 = 3000;

/// Returns whether the pod got its node without kube-scheduler: by the template of its owner, or as kube-scheduler reports each pod that it
/// places, and places none before its claims are allocated: there is no event of it, and one of the kubelet since the claim is there, when
/// the other would still have been.
fn is_bypassed(cluster: &Cluster, pod: &Pod, claim: &Claim) -> bool {
    let created = pod
        .metadata
        .creation_timestamp
        .max(claim.metadata.creation_timestamp);
    let owners = &cluster.environment().owners;
    let owner = pod.metadata.controller();
    let owner = owner.and_then(|owner| owners.find(owner, &pod.metadata.namespace));
    if owner.is_some_and(|owner| owner.sets_node) {
        return true;
    }
    let events = cluster.events_of(Kind::Pod, &pod.metadata);
    let is_in_time = |event: &&Arc<Event>| {
        let first = event.first_seen().zip(created);
        let last = event.last_seen().zip(pod.metadata.creation_timestamp);
        event.component() == "kubelet"
            && event.involved_object.uid == pod.metadata.uid
            && first.is_some_and(|(first, created)| first >= created)
            && last.is_some_and(|(last, created)| last.since(created).as_secs() < KEPT_SECONDS)
    };
    cluster.gap(Kind::Event, &pod.metadata.namespace).is_none()
        && other_scheduler(cluster.environment(), pod).is_none()
        && events.iter().all(|event| event.component() != pod.scheduler())
        && events.iter().any(is_in_time)
}

/// The pod and its claims: what `problems` joins, to be read again where they were listed at different times.
pub fn rests_on(pod: &Pod) -> BTreeSet<(Kind, Key)> {
    let own = pod.spec.resource_claims.iter();
    let own = own.filter_map(|entry| claim_name(pod, entry).ok()?.key());
    let extended = ClaimName::of_extended_resources(pod).and_then(|name| name.key());
    let claims = own.chain(extended).map(|key| (Kind::ResourceClaim, key));
    claims.chain([(Kind::Pod, pod.key())]).collect()
}

/// The template of an entry without a claim, if it does not exist either.
fn missing_template(cluster: &Cluster, pod: &Pod, entry: &PodClaim) -> Option<Key> {
    match unmade_of(cluster, pod, entry)?.next {
        Next::NoTemplate(template) => Some(template),
        _ => None,
    }
}
