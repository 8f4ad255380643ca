//! Wanted work of controllers, and its results.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::eviction::Eviction;
use crate::reservation::ENTRY_ANNOTATION;
use dra_model::{Claim, ClaimTemplate, Condition, ConsumerReference, Key, Kind, Object, Pod, Str};

/// One of the two controllers, by the name that kube-controller-manager has for it. Mirrors
/// `cmd/kube-controller-manager/names/controller_names.go`, v1.37.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr, strum::Display)]
pub enum ControllerName {
    /// Claims from templates, reservations, deallocation.
    #[strum(serialize = "resourceclaim-controller")]
    ResourceClaim,
    /// Evictions by device taints.
    #[strum(serialize = "device-taint-eviction-controller")]
    DeviceTaintEviction,
}

impl ControllerName {
    /// Both.
    pub const ALL: [Self; 2] = [Self::ResourceClaim, Self::DeviceTaintEviction];

    /// Returns whether kube-controller-manager runs it with this value of `--controllers`. Mirrors controller-manager `app/helper.go`,
    /// `IsControllerEnabled`, v0.37.1: the first word about it counts, and `*` stands for both.
    pub fn runs_with(self, controllers: &str) -> bool {
        let is_it = |name: &str| {
            name == <&str>::from(self) || (self == Self::ResourceClaim && name == "resource-claim-controller")
        };
        let mut rest = false;
        for word in controllers.split(',').map(str::trim) {
            match word.strip_prefix('-') {
                Some(name) if is_it(name) => return false,
                None if is_it(word) => return true,
                _ => rest = rest || word == "*",
            }
        }
        rest
    }
}

/// A job that is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub(super) u64);

/// Returned work. Report its outcome with [`Engine::done`](super::Engine::done).
#[derive(Clone, Debug)]
pub struct Job {
    /// Name in the report.
    pub id: JobId,
    /// Controller.
    pub controller: ControllerName,
    /// Subject.
    pub subject: Subject,
    /// Work.
    pub work: Work,
}

/// Subject of a controller: an item of its queue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
pub enum Subject {
    /// The claims of a pod.
    #[display("claims of pod {_0}")]
    Pod(Key),
    /// The claims of a PodGroup.
    #[display("claims of PodGroup {_0}")]
    PodGroup(Key),
    /// The consumers of a claim.
    #[display("claim {_0}")]
    Claim(Key),
    /// The eviction of a pod.
    #[display("eviction of pod {}", _0.key)]
    Eviction(PodRef),
    /// The status of the DeviceTaintRule with this name and UID.
    #[display("DeviceTaintRule {_0}")]
    Rule(Str, Str),
}

impl Subject {
    /// Returns which controller looks at it.
    pub fn controller(&self) -> ControllerName {
        match self {
            Self::Pod(_) | Self::PodGroup(_) | Self::Claim(_) => ControllerName::ResourceClaim,
            Self::Eviction(_) | Self::Rule(..) => ControllerName::DeviceTaintEviction,
        }
    }
}

/// Something to be done.
#[derive(Clone, Debug)]
pub enum Work {
    /// Ask for these objects.
    Look(Vec<Lookup>),
    /// Carry the plan out.
    Carry(Plan),
    /// The pod has to go now: read it, and unless it is gone, another one or being deleted already, say "Marking for deletion" in an
    /// event, set its condition `DisruptionTarget`, and delete it with its UID as precondition.
    Evict {
        /// The pod.
        pod: PodRef,
        /// Since when, and why.
        eviction: Eviction,
    },
    /// Apply the condition to the rule with that UID.
    SetCondition {
        /// Name of the rule.
        rule: Str,
        /// Its UID.
        uid: Str,
        /// The condition.
        condition: Condition,
        /// The reason why the rule does not evict pods, for an event with reason `EvictionHeld`.
        held: Option<String>,
    },
}

/// Writes for one item, in their order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The writes. The first that fails is the last that is tried.
    pub writes: Vec<ClaimWrite>,
    /// An event to emit once the writes are done: reason `FailedResourceClaimCreation`.
    pub warning: Option<Warning>,
    /// Continuation after the writes.
    pub ending: Ending,
}

impl Plan {
    /// Returns whether there is something to write or to tell.
    pub(super) fn is_to_be_carried_out(&self) -> bool {
        !self.writes.is_empty() || self.warning.is_some()
    }

    /// The objects that exist and that the plan writes: claims, and the pod or PodGroup whose status it sets.
    pub fn objects(&self) -> BTreeSet<(Kind, Key)> {
        let objects = self.writes.iter().filter_map(|write| match write {
            ClaimWrite::Create { .. } => None,
            ClaimWrite::SetStatuses { of, .. } => Some((of.kind, of.key.clone())),
            ClaimWrite::Reserve { claim, .. }
            | ClaimWrite::Release { claim, .. }
            | ClaimWrite::RemoveFinalizer(claim)
            | ClaimWrite::Delete(claim) => Some((Kind::ResourceClaim, claim.key())),
        });
        objects.collect()
    }
}

/// An event about a claim that could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Subject: a pod or a PodGroup.
    pub about: Owner,
    /// The text.
    pub message: String,
}

impl Warning {
    /// The claim of `entry` could not be made, for this reason.
    pub(super) fn new(about: Owner, entry: &str, why: &str) -> Self {
        let subject = match about.kind {
            Kind::Pod => "PodResourceClaim",
            _ => "PodGroupResourceClaim",
        };
        Self {
            message: format!("{subject} {entry}: {why}"),
            about,
        }
    }

    /// The API server did not create the claim, in these words of its own; nothing for a claim that was not made for an entry.
    pub fn refused(claim: &Claim, message: &str) -> Option<Self> {
        let (owner, entry) = made_for(claim)?;
        // Upstream has no name for the claim before it is there.
        Some(Self::new(
            owner,
            &entry,
            &format!("create ResourceClaim : {message}"),
        ))
    }
}

/// Owner and entry that the claim was created for.
pub(super) fn made_for(claim: &Claim) -> Option<(Owner, Str)> {
    let owner = claim.metadata.controller()?;
    let entry = claim.metadata.annotation(ENTRY_ANNOTATION)?;
    let kind = if owner.kind == "Pod" {
        Kind::Pod
    } else {
        Kind::PodGroup
    };
    let owner = Owner {
        kind,
        key: claim.metadata.beside(&owner.name),
        uid: owner.uid.clone(),
    };
    Some((owner, entry.clone()))
}

/// Fate of an item after its writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing is left to do.
    Done,
    /// It is tried again, for this reason.
    Retry(String),
    /// It cannot be done, for this reason, and is not tried again.
    Drop(String),
}

/// A pod or PodGroup that a claim is created for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// Pod or PodGroup.
    pub kind: Kind,
    /// Namespace and name.
    pub key: Key,
    /// Its UID.
    pub uid: Str,
}

/// The name of a claim that the status of its owner tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimName {
    /// It exists.
    Known(Str),
    /// It is the claim that the `Create` with this number among the plan's `Create`s makes.
    Created(usize),
}

/// One write.
#[derive(Clone, Debug)]
pub enum ClaimWrite {
    /// Create the claim, under the name that it has here and that no other writer of these rules would give to another claim.
    Create {
        /// The claim, as far as rules look at it.
        claim: Arc<Claim>,
        /// Template, in the version that was read.
        template: Arc<ClaimTemplate>,
    },
    /// Apply `status.resourceClaimStatuses` of the pod or PodGroup.
    SetStatuses {
        /// Owner.
        of: Owner,
        /// Entry and claim.
        statuses: Vec<(Str, ClaimName)>,
    },
    /// Add the consumer to the claim's `status.reservedFor`, if the claim is unchanged.
    Reserve {
        /// The claim as it was read.
        claim: Arc<Claim>,
        /// New consumer.
        consumer: ConsumerReference,
    },
    /// Replace `status.reservedFor`, if the claim is unchanged.
    Release {
        /// The claim as it was read.
        claim: Arc<Claim>,
        /// Remaining consumers.
        remaining: Vec<ConsumerReference>,
        /// True if the allocation goes in the same write.
        deallocate: bool,
    },
    /// Remove the finalizer of the claim, which was read like this before the plan's other writes.
    RemoveFinalizer(Arc<Claim>),
    /// Delete the claim, and no other of the same name.
    Delete(Arc<Claim>),
}

/// A pod, and no other of the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodRef {
    /// Namespace and name.
    pub key: Key,
    /// Its UID.
    pub uid: Str,
}

impl PodRef {
    /// A reference to `pod`.
    pub fn of(pod: &Pod) -> Self {
        Self {
            key: pod.key(),
            uid: pod.metadata.uid.clone(),
        }
    }
}

/// An object that the caches do not have, and that has to be asked for before anything is decided.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lookup {
    /// Its kind.
    pub kind: Kind,
    /// Namespace and name.
    pub key: Key,
}

/// Result of looking up an object.
#[derive(Clone, Debug)]
pub enum Answer {
    /// There is none.
    Absent,
    /// This one.
    Found(Object),
    /// Asking failed; the item is tried again.
    Failed(String),
}

/// Outcome of a job. Objects returned by the API server are shown to the engine before.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Lookups with their answers. Only for [`Work::Look`].
    Answers(Vec<(Lookup, Answer)>),
    /// It is done. Also said of a pod that was being deleted already, as upstream counts it as evicted.
    Done,
    /// The object does not exist or is another one, or another client has done it.
    Gone,
    /// The object is not as it was read. The item is looked at again once a watch shows the newer one.
    Conflict,
    /// The name is taken by an object that was looked up and shown to the engine: the item is retried immediately.
    Taken,
    /// It was refused for a reason of its own, and is tried again later each time.
    Refused(String),
    /// The API server is unavailable. The item is not at fault and keeps its place.
    Unreachable,
    /// It was not tried, on purpose. A change of an object brings the item back.
    Parked,
}

/// A message without work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The pod's planned eviction is called off: an event "Cancelling deletion".
    EvictionCancelled(PodRef),
}
