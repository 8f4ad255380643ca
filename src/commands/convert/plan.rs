//! `kubectl dra convert plan`: what is to be done with every claim, and why.

mod answer;

use serde::Serialize;

use crate::context::{Ctx, SourceSetting};
use crate::error::{Outcome, UsageError};
use crate::output::{Cell, Column, Format, Page, Report, SortBy, SortError, Table, Tone, View, counted};
use dra_reports::conversion::{
    ConversionPlan, DowngradeCost, PlanSummary, PlannedAction, PlannedClaim, RUNBOOK_NEEDS, planned,
};

use dra_rules::reservation::conversion::ClaimGate;

use crate::commands::presence;

use super::args::{PlanningArgs, SelectionArgs, needs};
use dra_sources::Needs;

const EXAMPLES: &str = "\
Examples:
  # Plan a downgrade
  kubectl dra convert plan --to-version 1.36
  # Save a plan for `convert apply`
  kubectl dra convert plan -o json > plan.json
  # Plan disabling a feature gate
  kubectl dra convert plan --disable-gate DRAWorkloadResourceClaims";

/// Plan the conversion or the whole downgrade, claim by claim
///
/// Lists claims with an entry that is not a pod, and with `--to-version` below 1.37 claims created for a PodGroup. ACTION is `Convert`
/// or `Release` if one write fixes the claim, `Keep` if its kind was not selected, `Refuse` if it cannot be converted; CODE and REASON
/// say why, TO RESOLVE in `-o wide` what to do. Covers all namespaces by default. Changes nothing. The JSON output is the input of
/// `convert apply --plan`.
///
/// Exit code 1: other reservations than pods remain. 4: some objects could not be read, and there is no plan.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    planning: PlanningArgs,

    /// Show only what blocks: unconverted claims, groups to stop or schedule, and steps that need a decision
    #[arg(long)]
    only_blocking: bool,
}

pub(in crate::commands) const COLUMNS: &[Column<PlannedClaim>] = &[
    Column::new("NAMESPACE", ".namespace", |claim, cell| {
        cell.text(&claim.namespace);
    }),
    Column::new("CLAIM", ".name", |claim, cell| cell.text(&claim.name)),
    Column::new("ACTION", ".action", |claim, cell| {
        cell.toned(tone(claim.action), claim.action.text());
    }),
    Column::new("CODE", ".code", |claim, cell| cell.text(claim.code)),
    Column::new("REMOVE", ".remove[0].name", |claim, cell| {
        cell.list(&claim.remove);
    }),
    Column::new("ADD", ".add[0].name", added),
    Column::new("REASON", ".reason", |claim, cell| {
        cell.option(claim.reason.as_deref());
    }),
    Column::wide("KEPT", ".kept[0].name", |claim, cell| cell.list(&claim.kept)),
    Column::wide("UID", ".uid", |claim, cell| cell.text(&claim.uid)),
    Column::wide("VERSION", ".resourceVersion", |claim, cell| {
        cell.text(&claim.resource_version);
    }),
    Column::wide("TO RESOLVE", ".wayOut", |claim, cell| {
        cell.option(claim.way_out.as_deref());
    }),
];

/// A plan, and what the command line makes of it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(with = "ConversionPlan"))]
#[serde(transparent)]
pub(in crate::commands) struct Planned {
    pub(super) plan: ConversionPlan,
    #[serde(skip)]
    pub(super) cost: Option<DowngradeCost>,
    #[serde(skip)]
    pub(super) only_blocking: bool,
}

impl From<ConversionPlan> for Planned {
    fn from(plan: ConversionPlan) -> Self {
        Self {
            plan,
            cost: None,
            only_blocking: false,
        }
    }
}

impl Planned {
    /// The claims that are shown.
    pub(super) fn claims(&self) -> impl Iterator<Item = &PlannedClaim> {
        let claims = self.plan.claims.iter();
        claims.filter(|claim| !self.only_blocking || !claim.writes())
    }
}

impl Report for Planned {
    const KIND: &'static str = "ConversionPlan";

    fn view(&self, page: Page) -> View {
        let has_steps = !self.plan.steps.is_empty();
        // What there is to say of no claim is said aside.
        if has_steps || page.is_terminal() && self.claims().next().is_some() {
            answer::of(self, page).into()
        } else {
            Table::new(COLUMNS, page.detail(), self.claims()).into()
        }
    }

    fn names(&self) -> Vec<String> {
        let name = |claim: &PlannedClaim| format!("resourceclaim.resource.k8s.io/{}", claim.name);
        self.plan.claims.iter().map(name).collect()
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        by.sort(&mut self.plan.claims, COLUMNS)
    }
}

pub(super) fn tone(action: PlannedAction) -> Tone {
    match action {
        PlannedAction::Convert | PlannedAction::Release => Tone::Good,
        PlannedAction::Keep => Tone::Notice,
        PlannedAction::Refuse => Tone::Bad,
    }
}

/// The pods, or the first ones and how many more there are: a group can have hundreds.
fn added(claim: &PlannedClaim, cell: &mut Cell<'_, ()>) {
    const SHOWN: usize = 4;
    cell.list(claim.add.iter().take(SHOWN).map(|pod| &pod.name));
    if claim.add.len() > SHOWN {
        cell.text(format_args!(" and {} more", claim.add.len() - SHOWN));
    }
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args {
        selection,
        planning,
        only_blocking,
    } = args;
    if only_blocking && !matches!(ctx.settings().output.format, Format::Table | Format::Wide) {
        let error = UsageError::new("`--only-blocking` applies to table output only");
        return Err(error
            .hint("remove it: other formats contain the whole plan, as `convert apply --plan` needs it")
            .into());
    }
    let kinds = selection.kinds();
    let selection = selection.selection(ctx)?;
    let mut needs = needs(&selection);
    if planning.has_target() {
        needs = RUNBOOK_NEEDS.into_iter().fold(needs, Needs::and);
        if let Some(namespace) = &selection.namespace {
            needs = needs.in_namespace(namespace);
        }
    }
    let cluster = ctx.load(needs).await?;
    let nothing = presence::demand_claims(ctx, &cluster, &selection).await?;
    let options = planning.options(kinds, cluster.environment())?;
    let mut plan = planned(&cluster, &selection, &options);
    plan.unknown.extend(nothing);
    if let SourceSetting::Cluster(_) = ctx.settings().source {
        plan.cluster_uid = ctx.live().await?.cluster_uid().await?;
    }
    let outcome = outcome(&plan);
    warn(ctx, &plan);
    let (verdict, empty) = (verdict(&plan.summary), plan.claims.is_empty());
    let known = plan.unknown.is_empty();
    let target = options.target;
    let cost = target.and_then(|target| DowngradeCost::of(&cluster, &plan, target));
    ctx.print(Planned {
        plan,
        cost,
        only_blocking,
    })?;
    if known {
        ctx.printer().note(if empty {
            "All claims are reserved for pods only"
        } else {
            &verdict
        });
    }
    Ok(outcome)
}

/// Reports unknown assumptions of the plan.
pub(super) fn warn(ctx: &Ctx, plan: &ConversionPlan) {
    for unknown in &plan.unknown {
        ctx.warn(format!("cannot plan: {unknown}"));
    }
    // To claims of other kinds the gate does not matter.
    if plan.claim_gate == ClaimGate::Assumed && plan.claims.len() > plan.summary.keep {
        ctx.warn(
            "DRAWorkloadResourceClaims is unknown for kube-scheduler and kube-controller-manager and assumed \
            on: set it with `--scheduler-feature-gates` and `--kcm-feature-gates`",
        );
    }
}

/// Returns what the plan comes to: bad when something stays that is not a pod.
pub(super) fn outcome(plan: &ConversionPlan) -> Outcome {
    if !plan.unknown.is_empty() {
        Outcome::Unknown
    } else if plan.leaves_something() {
        Outcome::Findings
    } else {
        Outcome::Done
    }
}

/// `3 claims to convert, 1 refused`.
pub(super) fn verdict(summary: &PlanSummary) -> String {
    let PlanSummary {
        convert,
        release,
        keep,
        refuse,
    } = *summary;
    let parts: Vec<String> = [
        (convert, "to convert"),
        (release, "to release"),
        (keep, "kept"),
        (refuse, "refused"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{} {what}", counted(count, "claim", "claims")))
    .collect();
    parts.join(", ")
}
