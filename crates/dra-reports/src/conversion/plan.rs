//! The plan: every claim with a reservation that is not a pod, and the one write that fixes it or why there is none.

use serde::{Deserialize, Serialize};

use super::claim::{PlanSummary, PlannedClaim};
use super::groups::{self, GroupPlan};
use super::options::{PlanOptions, PlanScope};
use super::runbook::{self, Step};
use crate::{Selection, warnings};
use dra_model::names::{label, subdomain};
use dra_model::{Cluster, Kind, Str, json};
use dra_rules::reservation::conversion::{self, ClaimGate, ClaimPlan, Options, Plan};

/// The report, and the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversionPlan {
    /// UID of the namespace kube-system, which identifies the cluster; absent where it may not be read, and for files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_uid: Option<Str>,
    /// Which claims it covers.
    pub scope: PlanScope,
    /// How it was made, so that the same can be planned again.
    pub options: PlanOptions,
    /// Whether kube-scheduler and kube-controller-manager may reserve for PodGroups.
    pub claim_gate: ClaimGate,
    /// Numbers of claims.
    pub summary: PlanSummary,
    /// By namespace and name. None while something is unknown.
    pub claims: Vec<PlannedClaim>,
    /// What could not be read. Nothing may be written while there is any.
    pub unknown: Vec<String>,
    /// With `--to-version` or `--disable-gate`: what happens to each PodGroup, by namespace and name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupPlan>,
    /// With `--to-version` or `--disable-gate`, and without names and labels: the steps, to be followed one after the other. In each,
    /// components are restarted, then commands are run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

impl ConversionPlan {
    /// What readers get of `plan`, which was computed with `options` for the claims of `selection`.
    pub fn of(cluster: &Cluster, selection: &Selection, options: &Options, plan: &Plan) -> Self {
        let claim = |plan: &ClaimPlan| Some(PlannedClaim::of(cluster.claim(&plan.key)?, plan));
        let claims: Vec<_> = plan.claims.iter().filter_map(claim).collect();
        let scope = PlanScope::of(selection);
        // Steps are for a whole cluster, or for a namespace of it at least.
        let whole = selection.names.is_empty() && selection.labels.is_empty();
        let target = options.target.filter(|_| whole && plan.unknown.is_empty());
        let groups = target.map(|_| groups::groups(cluster, &scope, plan));
        let groups = groups.unwrap_or_default();
        let steps = target.map(|target| runbook::steps(cluster, target, &scope, options, plan, &groups));
        Self {
            cluster_uid: None,
            scope,
            options: PlanOptions::from(options),
            claim_gate: plan.gate,
            summary: PlanSummary::of(&claims),
            claims,
            unknown: warnings::all_missing(&plan.unknown).collect(),
            groups,
            steps: steps.unwrap_or_default(),
        }
    }

    /// Whether applying the plan leaves something that is not a pod in a list.
    pub fn leaves_something(&self) -> bool {
        let stays = |claim: &PlannedClaim| !claim.kept.is_empty() || claim.any_pod_stays || !claim.writes();
        self.claims.iter().any(stays)
    }
}

/// Plans the conversion of the claims of `selection`.
pub fn plan_of(cluster: &Cluster, selection: &Selection, options: &Options) -> Plan {
    let claims = selection.claims(cluster).into_iter().map(|claim| &**claim);
    let mut plan = conversion::plan(cluster, claims, options);
    let namespace = selection.namespace.as_deref().unwrap_or_default();
    if let Some(gap) = cluster.gap(Kind::ResourceClaim, namespace) {
        plan.unknown.insert(0, gap.clone());
        plan.claims.clear();
    }
    plan
}

/// The report about the conversion of the claims of `selection`.
pub fn planned(cluster: &Cluster, selection: &Selection, options: &Options) -> ConversionPlan {
    ConversionPlan::of(cluster, selection, options, &plan_of(cluster, selection, options))
}

/// Why a file is not a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// It is not JSON, or lacks fields of a plan.
    #[error("not a plan: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It is something else, or a format of the future.
    #[error(
        "`apiVersion: {api_version}`, `kind: {kind}` is not a plan: expected `dra.kubectl.io/v1`, `ConversionPlan`"
    )]
    OtherKind {
        /// What it says.
        api_version: String,
        /// What it says.
        kind: String,
    },
    /// A claim in it has a name that none has.
    #[error("not a plan: claims[{index}].{field}: Invalid value: \"{value}\": {problem}")]
    InvalidName {
        /// Place of the claim.
        index: usize,
        /// Field.
        field: &'static str,
        /// Name.
        value: Str,
        /// The problem.
        problem: String,
    },
}

/// Reads what `convert plan -o json` has printed.
///
/// # Errors
/// When it is not a plan of this version.
pub fn read_plan(json: &[u8]) -> Result<ConversionPlan, PlanFileError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Head {
        #[serde(default)]
        api_version: String,
        #[serde(default)]
        kind: String,
    }
    let Head { api_version, kind } = json::from_slice(json)?;
    if api_version != "dra.kubectl.io/v1" || kind != "ConversionPlan" {
        return Err(PlanFileError::OtherKind { api_version, kind });
    }
    let plan: ConversionPlan = json::from_slice(json)?;
    for (index, claim) in plan.claims.iter().enumerate() {
        for (field, value, problems) in [
            ("namespace", &claim.namespace, label(claim.namespace.as_bytes())),
            ("name", &claim.name, subdomain(claim.name.as_bytes())),
        ] {
            if let Some(problem) = problems.into_iter().next() {
                return Err(PlanFileError::InvalidName {
                    index,
                    field,
                    value: value.clone(),
                    problem,
                });
            }
        }
    }
    Ok(plan)
}
