//! The reason why a claim is not converted, and the way out.

use std::fmt;

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::Display;

use dra_model::{MOST_CONSUMERS, Str};

/// Stable names for what a plan says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Display)]
#[schemars(rename = "DecisionCode")]
pub enum Code {
    /// One write makes it a list of pods.
    Convertible,
    /// The same, and it lists a pod that uses the claim without an entry so far.
    UnreservedConsumer,
    /// No pod uses it, and its devices can be deallocated.
    Releasable,
    /// It has entries of other kinds only than those selected.
    KindNotSelected,
    /// It was made for a PodGroup.
    GeneratedForPodGroup,
    /// More entries than the API server accepts.
    TooManyConsumers,
    /// It is being deleted, so nothing can be added.
    ClaimDeleting,
    /// No pod uses it.
    NoLiveConsumer,
    /// Another PodGroup of the name exists.
    #[serde(rename = "PodGroupUIDMismatch")]
    #[strum(serialize = "PodGroupUIDMismatch")]
    PodGroupUidMismatch,
    /// The PodGroup does not exist.
    PodGroupGone,
    /// Members of the PodGroup have no node yet.
    UnscheduledMembers,
    /// An unknown kind, and no pod uses the claim.
    UnknownKindUnused,
    /// The claim was recreated since the plan was made.
    #[serde(rename = "ClaimUIDMismatch")]
    #[strum(serialize = "ClaimUIDMismatch")]
    ClaimUidMismatch,
    /// The plan that is carried out does not write the claim.
    NotPlanned,
}

/// The reason why a claim is not converted. The text says what is the matter.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
pub enum Refusal {
    /// It was made for a PodGroup.
    #[display("created for PodGroup {group}{}", of_generated(*doomed, repointed))]
    GeneratedForPodGroup {
        /// The group.
        group: Str,
        /// The target's claim controller gives its pods new claims, converted or not.
        doomed: bool,
        /// Pods that may have been given new claims already, and run with the devices of this one.
        repointed: Vec<Str>,
    },
    /// More entries than the API server accepts.
    #[display("would have {entries} entries, more than {}", MOST_CONSUMERS)]
    TooManyConsumers {
        /// Entries there would be.
        entries: usize,
    },
    /// It is being deleted, and pods would have to be added.
    #[display("is being deleted, so no entry can be added for {}", Names("pod", pods))]
    ClaimDeleting {
        /// Pods without an entry.
        pods: Vec<Str>,
    },
    /// No pod uses it.
    #[display("reserved for {entry}, and no pod uses it{}", of_unbound(unbound))]
    NoLiveConsumer {
        /// The entry in question.
        entry: String,
        /// Pods that could begin to.
        unbound: Vec<Str>,
    },
    /// Another PodGroup of the name exists.
    #[display("reserved for PodGroup {group} with UID {reserved}, but the existing one has UID {existing}")]
    PodGroupUidMismatch {
        /// The group.
        group: Str,
        /// UID in the entry.
        reserved: Str,
        /// UID of the group that exists.
        existing: Str,
    },
    /// The PodGroup does not exist although PodGroups are served.
    #[display("reserved for PodGroup {group}, which does not exist")]
    PodGroupGone {
        /// The group.
        group: Str,
    },
    /// Members of the PodGroup have no node yet while the scheduler may reserve for the group.
    #[display("members of PodGroup {group} are not scheduled yet: {}", Names("pod", pods))]
    UnscheduledMembers {
        /// The group.
        group: Str,
        /// The members.
        pods: Vec<Str>,
    },
    /// An unknown kind, and no pod uses the claim.
    #[display("reserved for {entry}, and no pod uses it")]
    UnknownKindUnused {
        /// The entry in question.
        entry: String,
    },
    /// The claim was recreated since the plan that is carried out was made.
    #[display("the plan is for the claim with UID {planned}, but the existing one has UID {existing}")]
    ClaimUidMismatch {
        /// UID in the plan.
        planned: Str,
        /// UID of the claim that exists.
        existing: Str,
    },
    /// The plan that is carried out does not write the claim, which could be written now.
    #[display("the plan leaves it alone ({reason}), but it could be converted now")]
    NotPlanned {
        /// Reason in the plan.
        reason: String,
    },
}

impl Refusal {
    /// Its stable name.
    pub fn code(&self) -> Code {
        match self {
            Self::GeneratedForPodGroup { .. } => Code::GeneratedForPodGroup,
            Self::TooManyConsumers { .. } => Code::TooManyConsumers,
            Self::ClaimDeleting { .. } => Code::ClaimDeleting,
            Self::NoLiveConsumer { .. } => Code::NoLiveConsumer,
            Self::PodGroupUidMismatch { .. } => Code::PodGroupUidMismatch,
            Self::PodGroupGone { .. } => Code::PodGroupGone,
            Self::UnscheduledMembers { .. } => Code::UnscheduledMembers,
            Self::UnknownKindUnused { .. } => Code::UnknownKindUnused,
            Self::ClaimUidMismatch { .. } => Code::ClaimUidMismatch,
            Self::NotPlanned { .. } => Code::NotPlanned,
        }
    }

    /// Returns whether the claim cannot be freed but by the end of its group. Members without a node are a matter of time; an entry of a group
    /// that is gone or was replaced is removed by the claim controller.
    pub fn ends_its_group(&self) -> bool {
        match self {
            Self::GeneratedForPodGroup { .. }
            | Self::TooManyConsumers { .. }
            | Self::ClaimDeleting { .. }
            | Self::NoLiveConsumer { .. } => true,
            Self::PodGroupUidMismatch { .. }
            | Self::PodGroupGone { .. }
            | Self::UnscheduledMembers { .. }
            | Self::UnknownKindUnused { .. }
            | Self::ClaimUidMismatch { .. }
            | Self::NotPlanned { .. } => false,
        }
    }

    /// Returns whether it can resolve automatically once pods are scheduled.
    pub fn waits_for_nodes(&self) -> bool {
        match self {
            Self::UnscheduledMembers { .. } => true,
            Self::NoLiveConsumer { unbound, .. } => !unbound.is_empty(),
            Self::GeneratedForPodGroup { .. }
            | Self::TooManyConsumers { .. }
            | Self::ClaimDeleting { .. }
            | Self::PodGroupUidMismatch { .. }
            | Self::PodGroupGone { .. }
            | Self::UnknownKindUnused { .. }
            | Self::ClaimUidMismatch { .. }
            | Self::NotPlanned { .. } => false,
        }
    }

    /// Returns what can be done about it. Where PodGroups are `ignored` no component acts on them, so that neither their end nor a gate helps.
    pub fn way_out(&self, ignored: bool) -> String {
        let convert = "or, if only a feature gate is disabled, convert it with --include-generated";
        match self {
            Self::GeneratedForPodGroup { repointed, .. } if !repointed.is_empty() => {
                let pods = Names("pod", repointed);
                format!("delete {pods}, then release the devices with --release-unused")
            }
            Self::GeneratedForPodGroup { group, doomed, .. } if ignored => {
                let release = format!(
                    "delete its pods, then release the devices: --release-unused --entry \
                    podgroups.scheduling.k8s.io/{group}"
                );
                if *doomed {
                    release
                } else {
                    format!("{release}; {convert}")
                }
            }
            Self::GeneratedForPodGroup { doomed: true, .. } => {
                "delete its pods and the PodGroup while the gates are on, then recreate the workload with \
                named or per-pod claims"
                    .to_owned()
            }
            Self::GeneratedForPodGroup { .. } => {
                format!("delete its pods and the PodGroup while the gates are on, {convert}")
            }
            Self::TooManyConsumers { .. } => format!(
                "delete pods until {MOST_CONSUMERS} are left, or split \
                                                     the group"
            ),
            Self::ClaimDeleting { .. } if ignored => {
                "wait for its pods to finish; if an entry remains, release the devices with --release-unused"
                    .to_owned()
            }
            Self::ClaimDeleting { .. } => {
                "wait for its pods to finish, then delete the PodGroup while the gate is on".to_owned()
            }
            Self::NoLiveConsumer { unbound, .. } if !unbound.is_empty() => {
                "wait until they are scheduled (--wait), or delete them".to_owned()
            }
            Self::NoLiveConsumer { entry, .. } if ignored => {
                format!("release the devices: --release-unused --entry {entry}")
            }
            Self::NoLiveConsumer { .. } => {
                "delete the PodGroup while the gate is on, which releases the claim, or use --release-unused"
                    .to_owned()
            }
            Self::PodGroupUidMismatch { .. } | Self::PodGroupGone { .. } if ignored => {
                "release the claim with --release-unused once no pod uses it".to_owned()
            }
            Self::PodGroupUidMismatch { .. } | Self::PodGroupGone { .. } => {
                "with the gate on, the claim controller removes the entry automatically; with the gate off, \
                release the claim with --release-unused once no pod uses it"
                    .to_owned()
            }
            Self::UnscheduledMembers { .. } if ignored => {
                "wait until they are scheduled (--wait), or delete them".to_owned()
            }
            Self::UnscheduledMembers { .. } => {
                "wait until they are scheduled (--wait), delete them, or turn the gate off first".to_owned()
            }
            Self::UnknownKindUnused { entry } => format!(
                "ask its owner to remove the entry, or release the devices: --release-unused --entry {entry}"
            ),
            Self::ClaimUidMismatch { .. } | Self::NotPlanned { .. } => {
                "create a new plan: kubectl dra convert plan -o json".to_owned()
            }
        }
    }
}

/// That pods which may begin to use a claim have no node yet.
fn of_unbound(unbound: &[Str]) -> String {
    if unbound.is_empty() {
        return String::new();
    }
    format!(" yet; not scheduled: {}", Names("pod", unbound))
}

/// What follows for a claim that was made for a PodGroup.
fn of_generated(doomed: bool, repointed: &[Str]) -> String {
    if !repointed.is_empty() {
        let pods = Names("pod", repointed);
        return format!(
            "; {pods} may still use its devices, although an older claim controller created other claims for them"
        );
    }
    if doomed {
        return ", and the older claim controller creates new, unallocated claims for its running pods"
            .to_owned();
    }
    String::new()
}

/// `pod a`, `pods a, b and 3 more`.
pub(super) struct Names<'a>(pub(super) &'static str, pub(super) &'a [Str]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        let Self(noun, names) = self;
        let plural = if names.len() == 1 { "" } else { "s" };
        write!(f, "{noun}{plural} {}", names.iter().take(SHOWN).format(", "))?;
        match names.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
