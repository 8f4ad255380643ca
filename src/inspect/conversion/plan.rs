//! The plan: every claim with a reservation that is not a pod, and the one write that mends it or why there is none.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{GroupPlan, PlanOptions, PlanScope, Step, groups, runbook};
use crate::inspect::{Selection, warnings};
use crate::model::{Claim, Cluster, ConsumerReference, Kind, Str};
use crate::reservation::conversion::{self, Action, ClaimGate, ClaimPlan, Options, Patch, entry_json};

/// The report, and the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversionPlan {
    /// Which claims it covers.
    pub scope: PlanScope,
    /// How it was made.
    pub options: PlanOptions,
    /// Whether the scheduler and the controller manager may reserve for PodGroups: `On`, `Off`, or `Assumed` to be on.
    pub claim_gate: Str,
    /// Numbers of claims.
    pub summary: PlanSummary,
    /// By namespace and name. None while something is unknown.
    pub claims: Vec<PlannedClaim>,
    /// What could not be read.
    pub unknown: Vec<String>,
    /// In front of a downgrade: what becomes of each PodGroup, by namespace and name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupPlan>,
    /// In front of a downgrade: the steps of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

/// How many claims there are of each action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSummary {
    /// To be converted.
    pub convert: usize,
    /// To be freed.
    pub release: usize,
    /// Left alone, since their kinds were not selected.
    pub keep: usize,
    /// Not convertible.
    pub refuse: usize,
}

/// What is to be done with a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PlannedAction {
    /// Its list becomes pods.
    Convert,
    /// Its devices are taken back.
    Release,
    /// Nothing: it has no entry of the kinds selected.
    Keep,
    /// It cannot be converted.
    Refuse,
}

impl PlannedAction {
    /// The word that reports show.
    pub fn text(self) -> &'static str {
        match self {
            Self::Convert => "Convert",
            Self::Release => "Release",
            Self::Keep => "Keep",
            Self::Refuse => "Refuse",
        }
    }
}

/// One claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedClaim {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// The claim that was planned for.
    pub uid: Str,
    /// The version of it that the patch is locked to.
    pub resource_version: Str,
    /// What to do.
    pub action: PlannedAction,
    /// The stable name of the decision.
    pub code: Str,
    /// The decision in words, where there is more to say than the code does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What can be done where nothing is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way_out: Option<String>,
    /// Entries that go.
    pub remove: Vec<Entry>,
    /// Pods that get an entry.
    pub add: Vec<Pod>,
    /// Those of them that no entry covered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreserved: Vec<Str>,
    /// Pods without a node that could begin to use the claim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbound: Vec<Str>,
    /// Entries that are not pods and stay, since their kinds were not selected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Entry>,
    /// Every pod may use the claim, as KEP-5194 proposes, and stays allowed to, since that was not selected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_pod_stays: bool,
    /// The group could not be looked up, since the API server does not serve PodGroups.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub group_unverified: bool,
    /// `status.reservedFor` as it is, every field.
    pub before: Vec<Value>,
    /// `status.reservedFor` as it will be; the same where nothing is planned.
    pub after: Vec<Value>,
    /// The JSON patch of the status, whose first operation is the lock; empty where nothing is planned.
    pub patch: Vec<Value>,
}

/// An entry of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Empty for the core group.
    pub api_group: Str,
    /// Plural, lower case.
    pub resource: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
}

impl Entry {
    pub(super) fn of(reference: &ConsumerReference) -> Self {
        let ConsumerReference {
            api_group,
            resource,
            name,
            uid,
            unknown: _,
        } = reference;
        Self {
            api_group: api_group.clone(),
            resource: resource.clone(),
            name: name.clone(),
            uid: uid.clone(),
        }
    }
}

impl Entry {
    /// Whether it is a pod.
    pub fn is_pod(&self) -> bool {
        self.api_group.is_empty() && self.resource == "pods"
    }
}

impl std::fmt::Display for Entry {
    /// `podgroups.scheduling.k8s.io/NAME`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.resource)?;
        if !self.api_group.is_empty() {
            write!(f, ".{}", self.api_group)?;
        }
        write!(f, "/{}", self.name)
    }
}

/// A pod that gets an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pod {
    /// Its name, in the claim's namespace.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
}

impl ConversionPlan {
    /// Whether applying the plan leaves something that is not a pod in a list.
    pub fn leaves_something(&self) -> bool {
        let stays = |claim: &PlannedClaim| {
            !claim.kept.is_empty()
                || claim.any_pod_stays
                || claim.action == PlannedAction::Keep
                || claim.action == PlannedAction::Refuse
        };
        self.claims.iter().any(stays)
    }
}

impl PlannedClaim {
    /// The claim's plan as readers get it. `claim` is the one that was planned for.
    pub fn of(claim: &Claim, plan: &ClaimPlan) -> Self {
        let (action, patch) = match &plan.action {
            Action::Convert(patch) => (PlannedAction::Convert, Some(patch)),
            Action::Release(patch) => (PlannedAction::Release, Some(patch)),
            Action::Keep => (PlannedAction::Keep, None),
            Action::Refuse(_) => (PlannedAction::Refuse, None),
        };
        let before: Vec<_> = claim.status.reserved_for.iter().map(entry_json).collect();
        let patch = match patch.map(Patch::to_json) {
            Some(Value::Array(operations)) => operations,
            _ => Vec::new(),
        };
        let after = match action {
            PlannedAction::Convert => patch
                .get(1)
                .and_then(|operation| operation["value"].as_array())
                .cloned()
                .unwrap_or_default(),
            PlannedAction::Release => Vec::new(),
            PlannedAction::Keep | PlannedAction::Refuse => before.clone(),
        };
        Self {
            namespace: plan.key.namespace.clone(),
            name: plan.key.name.clone(),
            uid: plan.uid.clone(),
            resource_version: plan.resource_version.clone(),
            action,
            code: plan.code().text().into(),
            reason: plan.reason(),
            way_out: plan.way_out(),
            remove: plan.remove.iter().map(Entry::of).collect(),
            add: plan
                .add()
                .iter()
                .map(|entry| Pod {
                    name: entry.name.clone(),
                    uid: entry.uid.clone(),
                })
                .collect(),
            unreserved: plan.unreserved.clone(),
            unbound: plan.unbound.clone(),
            kept: plan.kept.iter().map(Entry::of).collect(),
            any_pod_stays: plan.any_pod_stays,
            group_unverified: plan.unverified,
            before,
            after,
            patch,
        }
    }
}

/// Plans what is to be done with the claims of `selection`.
pub fn planned(cluster: &Cluster, selection: &Selection, options: &Options) -> ConversionPlan {
    let claims = selection.claims(cluster).into_iter().map(|claim| &**claim);
    let plan = conversion::plan(cluster, claims, options);
    let mut unknown: Vec<String> = plan.unknown.iter().map(warnings::missing).collect();
    let namespace = selection.namespace.as_deref().unwrap_or_default();
    if let Some(gap) = cluster.gap(Kind::ResourceClaim, namespace) {
        unknown.insert(0, warnings::missing(gap));
    }
    let claims: Vec<_> = if unknown.is_empty() {
        let claim = |plan: &ClaimPlan| Some(PlannedClaim::of(cluster.claim(&plan.key)?, plan));
        plan.claims.iter().filter_map(claim).collect()
    } else {
        Vec::new()
    };
    let number = |action| claims.iter().filter(|claim| claim.action == action).count();
    let mut plan = ConversionPlan {
        scope: PlanScope::of(selection),
        options: PlanOptions::from(options),
        claim_gate: match plan.gate {
            ClaimGate::On => "On",
            ClaimGate::Off => "Off",
            ClaimGate::Assumed => "Assumed",
        }
        .into(),
        summary: PlanSummary {
            convert: number(PlannedAction::Convert),
            release: number(PlannedAction::Release),
            keep: number(PlannedAction::Keep),
            refuse: number(PlannedAction::Refuse),
        },
        claims,
        unknown,
        groups: Vec::new(),
        steps: Vec::new(),
    };
    // Steps are for a whole cluster, or for a namespace of it at least.
    let whole = selection.names.is_empty() && selection.labels.is_empty();
    if let Some(target) = options.target.filter(|_| whole && plan.unknown.is_empty()) {
        plan.groups = groups::groups(cluster, &plan);
        plan.steps = runbook::steps(cluster, target, &plan, &plan.groups);
    }
    plan
}

/// Why a file is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// It is no JSON, or lacks what a plan has.
    #[error("not a plan: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It is something else, or a format of the future.
    #[error(
        "`apiVersion: {api_version}`, `kind: {kind}` is not a plan; `dra.kubectl.io/v1`, `ConversionPlan` is"
    )]
    OtherKind {
        /// What it says.
        api_version: String,
        /// What it says.
        kind: String,
    },
}

/// Reads what `convert plan -o json` has printed.
///
/// # Errors
/// When it is no plan of this version.
pub fn read_plan(json: &[u8]) -> Result<ConversionPlan, PlanFileError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Head {
        #[serde(default)]
        api_version: String,
        #[serde(default)]
        kind: String,
    }
    let Head { api_version, kind } = serde_json::from_slice(json)?;
    if api_version != "dra.kubectl.io/v1" || kind != "ConversionPlan" {
        return Err(PlanFileError::OtherKind { api_version, kind });
    }
    Ok(serde_json::from_slice(json)?)
}
