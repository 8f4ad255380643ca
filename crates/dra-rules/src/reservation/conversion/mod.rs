//! Replaces entries of `status.reservedFor` that are not pods with the pods that they stand for.
//!
//! Components of an older release, or with the gate for PodGroups off, understand pods only: they never remove another
//! entry, so the claim keeps its devices forever. [`plan`] says for each claim with such an entry the single write that
//! turns it into a list of pods, or why there is none. It does not determine when to write; upstream's reasons are in
//! KEP-5729, "Upgrade / Downgrade Strategy".
//!
//! What must never happen: a claim without an entry while a pod uses it or could start to, and an entry for a pod without a node
//! (`dynamicresources.go`, `PostFilter`, v1.37.2, takes the devices from a claim that is reserved for the one pod it looks at).

mod complete;
mod decide;
#[cfg(test)]
mod properties;
mod refusal;
mod repointed;
mod restore;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use dra_model::{Claim, ClaimPatch, Cluster, Component, ConsumerReference, Gap, Gate, Key, Kind, Str};

pub use self::complete::complete;
use self::decide::Waiting;
pub use self::decide::unbound;
use self::refusal::Names;
pub use self::refusal::{Code, Refusal};
use self::repointed::Repointed;
pub use self::restore::{Difference, Restoration, Saved, restore};
pub use self::verify::{Defect, DefectCode, verify};

/// Options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Entries to convert; those of other kinds stay as they are.
    pub kinds: Kinds,
    /// Change that the conversion prepares for.
    pub target: Option<Target>,
    /// Converts claims that were made for a PodGroup, where the target allows it.
    pub include_generated: bool,
    /// Treatment of a claim that no pod uses.
    pub release: Release,
}

/// Kinds of entries to convert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    /// PodGroups. Controllers of other kinds may object.
    #[default]
    PodGroups,
    /// Exactly these, as kubectl writes them: `jobs.batch`.
    Named(BTreeSet<String>),
    /// Every kind.
    All,
}

/// Returns what a word for a kind, as `jobs.batch`, selects: the kind as kubectl writes it, in lower case. The API server takes any text for a
/// resource, so a word that is no kind's name may still be what an entry says; it selects exactly that.
///
/// # Errors
/// When it selects no kind.
pub fn kind_word(text: &str) -> Result<String, &'static str> {
    let lower = text.to_ascii_lowercase();
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if lower == "pods" || lower == "pod" {
        Err("entries of pods are what others become")
    } else if lower.split('.').all(plain) {
        Ok(lower)
    } else if text.is_empty() || text == "*" || text.contains('/') || text.split('.').any(str::is_empty) {
        Err("expected the plural and the group, as in `jobs.batch`")
    } else {
        Ok(text.to_owned())
    }
}

impl Kinds {
    /// Returns whether entries of `reference`'s kind are converted.
    pub fn selects(&self, reference: &ConsumerReference) -> bool {
        match self {
            Self::PodGroups => reference.is_pod_group(),
            Self::Named(kinds) => kinds.contains(&reference.group_resource()),
            Self::All => true,
        }
    }
}

/// Upcoming change of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The control plane becomes release 1.x.
    Minor(u32),
    /// This gate is turned off, the release stays.
    GateOff(Gate),
}

impl Target {
    /// Returns whether running pods lose a claim that was made for their group, converted or not: claim controllers that know no groups make new
    /// claims for them.
    fn repoints_pods(self) -> bool {
        matches!(self, Self::Minor(minor) if !dra_model::Release::of_minor(minor).needs_groups)
    }
}

/// Treatment of a claim that no pod uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// Leave it alone.
    #[default]
    Never,
    /// Take the devices back once the object of the entry is gone, or is named here as `RESOURCE.GROUP/NAME`.
    Unused {
        /// Entries that may be dropped although their object exists, or cannot be looked up.
        entries: BTreeSet<String>,
    },
}

/// Plan for all requested claims.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Claims with an entry that is not a pod, and with a target below 1.37 those made for a PodGroup; by namespace and name. None
    /// while anything is unknown.
    pub claims: Vec<ClaimPlan>,
    /// Data that could not be read. Nothing may be written while there is any.
    pub unknown: Vec<Gap>,
    /// State of the gate: if kube-scheduler reserves for PodGroups, entries may come back.
    pub gate: ClaimGate,
}

/// State of the gate `DRAWorkloadResourceClaims` in kube-scheduler and the claim controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum ClaimGate {
    /// In none of them.
    Off,
    /// In at least one of them.
    #[default]
    On,
    /// Nothing but the default of the release is known, so it counts as on.
    Assumed,
}

impl ClaimGate {
    /// Returns what is known of it. Without the API for PodGroups no component can reserve for one.
    pub fn of(cluster: &Cluster) -> Self {
        let environment = cluster.environment();
        let gate = Gate::DRAWorkloadResourceClaims;
        let known = gate.default_in(environment.emulated_minor, environment.min_compatibility_minor);
        if known.is_none() || environment.not_served.contains(&Kind::PodGroup) {
            return Self::Off;
        }
        let states = [Component::Scheduler, Component::ControllerManager]
            .map(|component| environment.gate(component, gate));
        // Entries stay when the gate is turned off, so objects do not show that it is still on.
        if states
            .iter()
            .any(|state| state.enabled && state.evidence.is_of_now())
        {
            Self::On
        } else if states.iter().any(|state| !state.evidence.is_of_now()) {
            Self::Assumed
        } else {
            Self::Off
        }
    }

    /// Returns whether entries for PodGroups may come back.
    pub fn may_be_on(self) -> bool {
        self != Self::Off
    }
}

/// Plan for one claim.
#[derive(Clone, Debug)]
pub struct ClaimPlan {
    /// Namespace and name.
    pub key: Key,
    /// UID of the claim that was planned for.
    pub uid: Str,
    /// The version that the patch is locked to.
    pub resource_version: Str,
    /// Action.
    pub action: Action,
    /// Entries that go.
    pub remove: Vec<ConsumerReference>,
    /// Among the pods that get an entry those that use the claim although no entry covered them.
    pub unreserved: Vec<Str>,
    /// Pods without a node that could begin to use the claim. While the gate is on, a scheduling attempt that began before the write
    /// can bind them without an entry.
    pub unbound: Vec<Str>,
    /// The group of an entry could not be looked up, since PodGroups are not served.
    pub unverified: bool,
    /// No component acts on PodGroups, so that neither their end nor a gate frees the claim.
    pub ignored: bool,
    /// Entries of kinds that were not selected; they stay.
    pub kept: Vec<ConsumerReference>,
    /// Every pod may use the claim, and stays allowed to.
    pub any_pod_stays: bool,
}

/// Action for a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Apply this to the status.
    Convert(ClaimPatch),
    /// No pod uses the claim: apply this to the status, then [`ClaimPatch::without_finalizer`] to the object.
    Release(ClaimPatch),
    /// Leave it as it is: it has no entry of the kinds selected.
    Keep,
    /// It cannot be converted.
    Refuse(Refusal),
}

impl ClaimPlan {
    /// That `action` is done with `claim`, which leaves nothing else to say.
    pub fn of(claim: &Claim, action: Action) -> Self {
        Self {
            key: claim.key(),
            uid: claim.metadata.uid.clone(),
            resource_version: claim.metadata.resource_version.clone(),
            action,
            remove: Vec::new(),
            unreserved: Vec::new(),
            unbound: Vec::new(),
            unverified: false,
            ignored: false,
            kept: Vec::new(),
            any_pod_stays: false,
        }
    }

    /// Pods that get an entry, by name.
    pub fn add(&self) -> &[ConsumerReference] {
        self.patch().map_or(&[], ClaimPatch::added)
    }

    /// The write of the status, where there is one.
    pub fn patch(&self) -> Option<&ClaimPatch> {
        match &self.action {
            Action::Convert(patch) | Action::Release(patch) => Some(patch),
            Action::Keep | Action::Refuse(_) => None,
        }
    }

    /// The stable name of what is to be done, or of why nothing can be.
    pub fn code(&self) -> Code {
        match &self.action {
            Action::Convert(_) if !self.unreserved.is_empty() => Code::UnreservedConsumer,
            Action::Convert(_) => Code::Convertible,
            Action::Release(_) => Code::Releasable,
            Action::Keep => Code::KindNotSelected,
            Action::Refuse(refusal) => refusal.code(),
        }
    }

    /// Returns what the code does not say.
    pub fn reason(&self) -> Option<String> {
        match &self.action {
            Action::Convert(_) if !self.unreserved.is_empty() => Some(format!(
                "no entry covers {} so far",
                Names("pod", &self.unreserved)
            )),
            Action::Convert(_) if self.unverified => Some(
                "the API server does not serve PodGroups, so every pod that uses the claim counts".to_owned(),
            ),
            Action::Convert(_) if self.any_pod_stays => Some("any pod may still use it".to_owned()),
            Action::Convert(_) => None,
            Action::Release(_) => Some("no pod uses it or could start using it".to_owned()),
            Action::Keep if self.kept.is_empty() => Some("any pod may use it".to_owned()),
            Action::Keep => Some(format!("reserved for {} only", self.kept_kinds().join(", "))),
            Action::Refuse(refusal) => Some(refusal.to_string()),
        }
    }

    /// Returns what can be done where nothing is planned.
    pub fn way_out(&self) -> Option<String> {
        match &self.action {
            Action::Convert(_) if self.any_pod_stays => Some("select it with --all-kinds".to_owned()),
            Action::Convert(_) | Action::Release(_) => None,
            Action::Keep if self.kept.is_empty() => Some("select it with --all-kinds".to_owned()),
            Action::Keep => Some(format!(
                "ask its owner to remove the entry, or select it with --kind {}",
                self.kept_kinds().join(" --kind ")
            )),
            Action::Refuse(refusal) => Some(refusal.way_out(self.ignored)),
        }
    }

    /// Kinds of the entries that stay, each once.
    fn kept_kinds(&self) -> Vec<String> {
        let kinds: BTreeSet<_> = self.kept.iter().map(ConsumerReference::group_resource).collect();
        kinds.into_iter().collect()
    }
}

/// Plans the conversion of `claims`, which should be in order. While anything is unknown nothing is planned.
pub fn plan<'a>(cluster: &Cluster, claims: impl IntoIterator<Item = &'a Claim>, options: &Options) -> Plan {
    let gate = ClaimGate::of(cluster);
    let mut plan = Plan {
        gate,
        ..Plan::default()
    };
    let repointed = Repointed::new(cluster);
    let waiting = Waiting::new(cluster);
    for claim in claims {
        match decide::decide(cluster, claim, options, gate, &repointed, &waiting) {
            Ok(None) => {}
            Ok(Some(claim)) => plan.claims.push(claim),
            Err(gap) if plan.unknown.contains(gap) => {}
            Err(gap) => plan.unknown.push(gap.clone()),
        }
    }
    if !plan.unknown.is_empty() {
        plan.claims.clear();
    }
    plan
}

/// Returns what the claim is reserved for besides pods: entries, and what KEP-5194 proposes for the spec. That cannot be changed, so it
/// counts only until pods are listed instead.
fn foreign_entries(claim: &Claim) -> impl Iterator<Item = &ConsumerReference> {
    let in_force =
        claim.status.allocation.is_some() && (is_for_any_pod(claim) || claim.status.reserved_for.is_empty());
    let in_spec = claim.spec.reserved_for.as_deref().filter(|_| in_force);
    claim
        .status
        .reserved_for
        .iter()
        .chain(in_spec)
        .filter(|entry| !entry.is_pod())
}

/// Returns whether the allocation says that every pod may use it, as KEP-5194 proposes.
fn is_for_any_pod(claim: &Claim) -> bool {
    claim
        .status
        .allocation
        .as_ref()
        .is_some_and(|allocation| allocation.reserved_for_any_pod)
}
