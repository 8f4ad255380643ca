//! What is planned for one claim, as readers and files get it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::Display;

use dra_model::{Claim, ClaimPatch, ConsumerReference, Str};
use dra_rules::reservation::conversion::{Action, ClaimPlan, Code};

/// Number of claims of each action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// What is planned for a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Display)]
pub enum PlannedAction {
    /// Its list becomes pods.
    Convert,
    /// Its devices are deallocated.
    Release,
    /// Nothing: it has no entry of the kinds selected.
    Keep,
    /// It cannot be converted.
    Refuse,
}

/// What is planned for a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedClaim {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// The claim that was planned for.
    pub uid: Str,
    /// The version that the patch is locked to.
    pub resource_version: Str,
    /// What is planned.
    pub action: PlannedAction,
    /// The stable name of the decision.
    pub code: Code,
    /// What the code does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How to resolve it, where nothing is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way_out: Option<String>,
    /// Entries that are removed.
    pub remove: Vec<Entry>,
    /// Pods that get an entry.
    pub add: Vec<Pod>,
    /// Names of those of them without an entry so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreserved: Vec<Str>,
    /// Names of pods without a node that could start using the claim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbound: Vec<Str>,
    /// Entries that are not pods and stay, since their kinds were not selected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Entry>,
    /// Every pod may use the claim, as KEP-5194 proposes, and stays allowed to, since that was not selected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub any_pod_stays: bool,
    /// The group could not be looked up, since the API server does not serve PodGroups.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub group_unverified: bool,
    /// `status.reservedFor`, every field.
    #[serde(serialize_with = "ConsumerReference::serialize_list")]
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    pub before: Vec<ConsumerReference>,
    /// `status.reservedFor` as it will be; the same where nothing is planned.
    #[serde(serialize_with = "ConsumerReference::serialize_list")]
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    pub after: Vec<ConsumerReference>,
    /// The JSON patch of the status, whose first operation is the lock; empty where nothing is planned.
    #[schemars(schema_with = "operations")]
    pub patch: Vec<Value>,
}

/// The operations of a plan's JSON patch.
fn operations(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "op": { "type": "string", "enum": ["add", "remove", "replace"] },
                "path": { "type": "string" },
                "value": {},
            },
            "required": ["op", "path"],
        },
    })
}

/// An entry of `status.reservedFor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReservationEntry")]
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

/// A pod, in the claim's namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReservedPod")]
pub struct Pod {
    /// Its name, in the claim's namespace.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
}

impl From<&Action> for PlannedAction {
    fn from(action: &Action) -> Self {
        match action {
            Action::Convert(_) => Self::Convert,
            Action::Release(_) => Self::Release,
            Action::Keep => Self::Keep,
            Action::Refuse(_) => Self::Refuse,
        }
    }
}

impl PlanSummary {
    /// Of the claims of a plan.
    pub(super) fn of(claims: &[PlannedClaim]) -> Self {
        let mut summary = Self::default();
        for claim in claims {
            match claim.action {
                PlannedAction::Convert => summary.convert += 1,
                PlannedAction::Release => summary.release += 1,
                PlannedAction::Keep => summary.keep += 1,
                PlannedAction::Refuse => summary.refuse += 1,
            }
        }
        summary
    }
}

impl PlannedClaim {
    /// The claim's plan as readers get it. `claim` is the one that was planned for.
    pub fn of(claim: &Claim, plan: &ClaimPlan) -> Self {
        // What an earlier run began ends with the finalizer, and changes nothing of the status.
        let patch = plan.patch().filter(|patch| patch.is_of_status());
        let before = &claim.status.reserved_for;
        let added = plan.add().iter().map(|entry| Pod {
            name: entry.name.clone(),
            uid: entry.uid.clone(),
        });
        Self {
            namespace: plan.key.namespace.clone(),
            name: plan.key.name.clone(),
            uid: plan.uid.clone(),
            resource_version: plan.resource_version.clone(),
            action: PlannedAction::from(&plan.action),
            code: plan.code(),
            reason: plan.reason(),
            way_out: plan.way_out(),
            remove: plan.remove.iter().map(Entry::of).collect(),
            add: added.collect(),
            unreserved: plan.unreserved.clone(),
            unbound: plan.unbound.clone(),
            kept: plan.kept.iter().map(Entry::of).collect(),
            any_pod_stays: plan.any_pod_stays,
            group_unverified: plan.unverified,
            before: before.clone(),
            after: patch.map_or(before.as_slice(), ClaimPatch::after).to_vec(),
            patch: patch.map(ClaimPatch::operations).unwrap_or_default(),
        }
    }

    /// Whether the plan writes something.
    pub fn writes(&self) -> bool {
        match self.action {
            PlannedAction::Convert | PlannedAction::Release => true,
            PlannedAction::Keep | PlannedAction::Refuse => false,
        }
    }
}
