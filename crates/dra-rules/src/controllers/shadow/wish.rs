//! Wanted writes of a controller, and whether their effect is visible.

use std::time::Duration;

use crate::controllers::trace::Action;
use crate::controllers::work::{ClaimWrite, ControllerName, Owner, PodRef, Work, made_for};
use crate::eviction::{MARKED, condition_of};
use crate::reservation::claims_made_for;
use dra_model::{Claim, Cluster, Condition, Key, Kind, Object, Pod, Str};

/// A status of a rule may be this late; kube-controller-manager itself writes it every 10 s.
const STATUS_PATIENCE: Duration = Duration::from_secs(20);

/// A claim, and no other of the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimRef {
    /// Namespace and name.
    pub key: Key,
    /// Its UID.
    pub uid: Str,
}

/// One thing that a controller wants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wish {
    /// A claim for an entry of a pod or PodGroup.
    Create(Owner, Str),
    /// The status of a pod or PodGroup tells the claims of these entries.
    SetStatuses(Owner, Vec<Str>),
    /// The claim is reserved for the consumer with this UID.
    Reserve(ClaimRef, Str),
    /// The claim is no longer reserved for the consumer with this UID.
    Release(ClaimRef, Str),
    /// The claim has no devices.
    Deallocate(ClaimRef),
    /// The claim has no finalizer.
    Unprotect(ClaimRef),
    /// The claim is deleted.
    Delete(ClaimRef),
    /// The pod is deleted.
    Evict(PodRef),
    /// The rule with this name and UID has its condition.
    SetCondition(Str, Str),
}

impl Wish {
    /// Returns what is written.
    pub fn action(&self) -> Action {
        match self {
            Self::Create(..) => Action::CreateClaim,
            Self::SetStatuses(..) => Action::UpdateStatus,
            Self::Reserve(..) => Action::AddReservation,
            Self::Release(..) => Action::RemoveReservation,
            Self::Deallocate(_) => Action::Deallocate,
            Self::Unprotect(_) => Action::RemoveFinalizer,
            Self::Delete(_) => Action::DeleteClaim,
            Self::Evict(_) => Action::EvictPod,
            Self::SetCondition(..) => Action::UpdateCondition,
        }
    }

    /// The same in the words of reports.
    pub fn write(&self) -> &'static str {
        self.action().into()
    }

    /// Returns who wants it.
    pub fn controller(&self) -> ControllerName {
        match self {
            Self::Evict(_) | Self::SetCondition(..) => ControllerName::DeviceTaintEviction,
            _ => ControllerName::ResourceClaim,
        }
    }

    /// Returns what it is about.
    pub fn object(&self) -> (Kind, Key) {
        match self {
            Self::Create(owner, _) | Self::SetStatuses(owner, _) => (owner.kind, owner.key.clone()),
            Self::Reserve(claim, _)
            | Self::Release(claim, _)
            | Self::Deallocate(claim)
            | Self::Unprotect(claim)
            | Self::Delete(claim) => (Kind::ResourceClaim, claim.key.clone()),
            Self::Evict(pod) => (Kind::Pod, pod.key.clone()),
            Self::SetCondition(rule, _) => (Kind::DeviceTaintRule, Key::new("", rule.clone())),
        }
    }

    /// Returns what `claim` fulfils if it was made for an entry.
    pub(super) fn made(claim: &Claim) -> Option<Self> {
        let (owner, entry) = made_for(claim)?;
        Some(Self::Create(owner, entry))
    }

    /// Returns whether only the controller can have caused the visible effect. Claims are deleted and pods finish for
    /// many reasons; a missing object proves nothing.
    pub(super) fn is_proof(&self, cluster: &Cluster) -> bool {
        let is_there = |claim: &ClaimRef| {
            let found = cluster.claim(&claim.key);
            found.is_some_and(|found| found.metadata.uid == claim.uid)
        };
        match self {
            Self::Create(..) | Self::SetStatuses(..) | Self::SetCondition(..) => true,
            // The scheduler takes back what it reserved itself, of pods that have no node.
            Self::Reserve(claim, _) | Self::Release(claim, _) => is_there(claim),
            Self::Deallocate(_) | Self::Unprotect(_) | Self::Delete(_) => false,
            Self::Evict(pod) => cluster
                .pod(&pod.key)
                .is_some_and(|found| found.metadata.uid == pod.uid && is_marked(found)),
        }
    }

    /// For how long it may stay undone, if other writes may for `patience`.
    pub(super) fn patience(&self, patience: Duration) -> Duration {
        match self {
            Self::SetCondition(..) => patience.max(STATUS_PATIENCE),
            _ => patience,
        }
    }

    /// The wishes of a job.
    pub fn of(work: &Work) -> Vec<Self> {
        match work {
            Work::Look(_) => Vec::new(),
            Work::Carry(plan) => plan.writes.iter().flat_map(Self::of_write).collect(),
            Work::Evict { pod, .. } => vec![Self::Evict(pod.clone())],
            Work::SetCondition { rule, uid, .. } => vec![Self::SetCondition(rule.clone(), uid.clone())],
        }
    }

    /// The wishes of a write.
    pub fn of_write(write: &ClaimWrite) -> Vec<Self> {
        match write {
            ClaimWrite::Create { claim, .. } => Self::made(claim).into_iter().collect(),
            ClaimWrite::SetStatuses { of, statuses } => {
                let entries = statuses.iter().map(|(entry, _)| entry.clone()).collect();
                vec![Self::SetStatuses(of.clone(), entries)]
            }
            ClaimWrite::Reserve { claim, consumer } => {
                vec![Self::Reserve(ClaimRef::of(claim), consumer.uid.clone())]
            }
            ClaimWrite::Release {
                claim,
                remaining,
                deallocate,
            } => {
                let goes = |uid: &&Str| !remaining.iter().any(|kept| kept.uid == **uid);
                let uids = claim.status.reserved_for.iter().map(|entry| &entry.uid);
                let mut wishes: Vec<Self> = uids
                    .filter(goes)
                    .map(|uid| Self::Release(ClaimRef::of(claim), uid.clone()))
                    .collect();
                if *deallocate {
                    wishes.push(Self::Deallocate(ClaimRef::of(claim)));
                }
                wishes
            }
            ClaimWrite::RemoveFinalizer(claim) => vec![Self::Unprotect(ClaimRef::of(claim))],
            ClaimWrite::Delete(claim) => vec![Self::Delete(ClaimRef::of(claim))],
        }
    }

    /// Returns whether the effect shows.
    pub(super) fn effect(&self, cluster: &Cluster, condition: Option<&Condition>) -> Effect {
        let shows = |shows: bool| if shows { Effect::Shows } else { Effect::Missing };
        let claim = |claim: &ClaimRef| {
            let found = cluster.claim(&claim.key)?;
            (found.metadata.uid == claim.uid).then_some(found)
        };
        match self {
            Self::Create(owner, entry) => {
                let mut made = claims_made_for(cluster, owner.kind, &owner.key.namespace, &owner.uid, entry);
                if made.next().is_some() {
                    Effect::Shows
                } else if is_there(cluster, owner) {
                    Effect::Missing
                } else {
                    Effect::Moot
                }
            }
            Self::SetStatuses(owner, entries) => {
                let statuses = match cluster.get(owner.kind, &owner.key) {
                    Some(Object::Pod(pod)) => &pod.status.resource_claim_statuses,
                    Some(Object::PodGroup(group)) => &group.status.resource_claim_statuses,
                    _ => return Effect::Moot,
                };
                if !is_there(cluster, owner) {
                    return Effect::Moot;
                }
                let is_told = |entry: &Str| {
                    let mut named = statuses.iter().filter(|status| status.name == *entry);
                    named.any(|status| status.resource_claim_name.is_some())
                };
                shows(entries.iter().all(is_told))
            }
            Self::Reserve(reference, consumer) => match claim(reference) {
                Some(claim) => shows(claim.lists(consumer)),
                None => Effect::Moot,
            },
            Self::Release(reference, consumer) => {
                shows(claim(reference).is_none_or(|claim| !claim.lists(consumer)))
            }
            Self::Deallocate(reference) => {
                shows(claim(reference).is_none_or(|claim| claim.status.allocation.is_none()))
            }
            Self::Unprotect(reference) => shows(claim(reference).is_none_or(|claim| !claim.is_protected())),
            Self::Delete(reference) => {
                shows(claim(reference).is_none_or(|claim| claim.metadata.is_deleting()))
            }
            Self::Evict(reference) => match cluster.pod(&reference.key) {
                Some(pod) if pod.metadata.uid == reference.uid => shows(pod.metadata.is_deleting()),
                _ => Effect::Shows,
            },
            Self::SetCondition(name, uid) => {
                let Some(rule) = cluster.rule(name).filter(|rule| rule.metadata.uid == *uid) else {
                    return Effect::Moot;
                };
                let known = condition_of(rule);
                shows(known.zip(condition).is_some_and(|(known, wanted)| {
                    // How many were evicted is counted by each controller for itself, since its start.
                    known.status == wanted.status
                        && known.reason == wanted.reason
                        && known.observed_generation == wanted.observed_generation
                }))
            }
        }
    }
}

/// Visible effect of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It has come true.
    Shows,
    /// Not yet.
    Missing,
    /// Whatever it was for is gone.
    Moot,
}

impl ClaimRef {
    pub(super) fn of(claim: &Claim) -> Self {
        Self {
            key: claim.key(),
            uid: claim.metadata.uid.clone(),
        }
    }
}

pub(super) fn is_there(cluster: &Cluster, owner: &Owner) -> bool {
    cluster.get(owner.kind, &owner.key).is_some_and(|object| {
        let metadata = object.metadata();
        metadata.uid == owner.uid && !metadata.is_deleting()
    })
}

/// Returns whether the pod is marked for deletion by device taints.
pub fn is_marked(pod: &Pod) -> bool {
    pod.status
        .conditions
        .iter()
        .any(|condition| condition.reason == MARKED && condition.status == "True")
}
