//! `kubectl dra convert plan`: what is to be done with every claim, and why.

mod answer;

use serde::Serialize;

use crate::context::Ctx;
use crate::error::{Outcome, UsageError};
use crate::output::{Cell, Column, Format, Page, Report, SortBy, SortError, Table, Tone, View, present};
use dra_reports::conversion::{
    ConversionPlan, DowngradeCost, PlanSummary, PlannedAction, PlannedClaim, RUNBOOK_NEEDS, Step, planned,
};

use dra_model::{Cluster, Version};
use dra_reports::Selection;
use dra_rules::reservation::conversion::{ClaimGate, Kinds};

use crate::commands::presence;

use super::args::{PlanningArgs, SelectionArgs, check_kinds, needs};
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
/// With a target, the steps are a checklist; `--step` shows one with its commands, `--details` all. `-o markdown` is for an issue.
///
/// Exit code 1: the plan leaves reservations that are not pods. 4: some objects could not be read, and there is no plan.
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

    /// Show only this step of a downgrade, such as `1a`
    #[arg(long, value_name = "STEP", conflicts_with = "only_blocking")]
    step: Option<String>,
}

pub(in crate::commands) const COLUMNS: &[Column<PlannedClaim>] = &[
    Column::new("NAMESPACE", ".namespace", |claim, cell| {
        cell.text(&claim.namespace);
    }),
    Column::new("CLAIM", ".name", |claim, cell| cell.text(&claim.name)),
    Column::new("ACTION", ".action", |claim, cell| {
        cell.toned(tone(claim.action), claim.action);
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
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(with = "ConversionPlan")]
#[serde(transparent)]
pub(in crate::commands) struct Planned {
    pub(super) plan: ConversionPlan,
    #[serde(skip)]
    pub(super) cost: Option<DowngradeCost>,
    #[serde(skip)]
    pub(super) shown: Shown,
}

/// How much of the steps is shown.
#[derive(Debug, Default)]
pub(super) enum Shown {
    /// All steps.
    #[default]
    All,
    /// Those in which something has to be decided.
    Blocking,
    /// The one with this name.
    Step(String),
}

impl From<ConversionPlan> for Planned {
    fn from(plan: ConversionPlan) -> Self {
        Self {
            plan,
            cost: None,
            shown: Shown::All,
        }
    }
}

impl Planned {
    /// The plan of a downgrade to `version`.
    ///
    /// # Errors
    /// When it is no release to go back to.
    pub(in crate::commands) fn toward(
        ctx: &Ctx,
        cluster: &Cluster,
        selection: &Selection,
        version: Version,
    ) -> Result<Self, UsageError> {
        let planning = PlanningArgs::toward(version);
        let options = planning.options(Kinds::PodGroups, cluster.environment())?;
        let plan = planned(cluster, selection, &options);
        warn(ctx, &plan);
        Ok(Self {
            cost: options
                .target
                .and_then(|target| DowngradeCost::of(cluster, &plan, target)),
            plan,
            shown: Shown::All,
        })
    }

    /// The claims that are shown.
    pub(super) fn claims(&self) -> impl Iterator<Item = &PlannedClaim> {
        let claims = self.plan.claims.iter();
        claims.filter(|claim| !matches!(self.shown, Shown::Blocking) || !claim.writes())
    }
}

impl Report for Planned {
    const KIND: &'static str = "ConversionPlan";

    fn view(&self, page: Page) -> View {
        let has_steps = !self.plan.steps.is_empty();
        // What there is to say of no claim is said aside.
        if has_steps || page.is_web() || page.is_terminal() && self.claims().next().is_some() {
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
    let shown = match args.step {
        Some(step) => Shown::Step(step),
        None if args.only_blocking => Shown::Blocking,
        None => Shown::All,
    };
    let flag = match shown {
        Shown::All => None,
        Shown::Blocking => Some("--only-blocking"),
        Shown::Step(_) => Some("--step"),
    };
    let format = ctx.settings().output.format;
    let is_for_people = matches!(
        format,
        Format::Table | Format::Wide | Format::Markdown | Format::Html
    );
    if let Some(flag) = flag.filter(|_| !is_for_people) {
        let error = UsageError::new(format!("`{flag}` applies to table output only"));
        return Err(error
            .hint("remove it: other formats contain the whole plan, as `convert apply --plan` needs it")
            .into());
    }
    let kinds = args.selection.kinds();
    let selection = args.selection.selection(ctx)?;
    let mut needs = needs(&selection);
    if args.planning.has_target() {
        needs = RUNBOOK_NEEDS.into_iter().fold(needs, Needs::and);
        if let Some(namespace) = &selection.namespace {
            needs = needs.in_namespace(namespace);
        }
    }
    let cluster = ctx.load(needs).await?;
    let nothing = presence::demand_claims(ctx, &cluster, &selection).await?;
    check_kinds(&kinds, &cluster)?;
    let options = args.planning.options(kinds, cluster.environment())?;
    let mut plan = planned(&cluster, &selection, &options);
    plan.unknown.extend(nothing);
    if ctx.is_live() {
        plan.cluster_uid = ctx.live().await?.cluster_uid().await?;
    }
    if let Shown::Step(step) = &shown {
        let names = Step::names(&plan.steps);
        if !names.contains(step) {
            return Err(no_step(step, &names).into());
        }
    }
    let outcome = outcome(&plan);
    warn(ctx, &plan);
    let (verdict, empty) = (verdict(&plan.summary), plan.claims.is_empty());
    let known = plan.unknown.is_empty();
    let target = options.target;
    let cost = target.and_then(|target| DowngradeCost::of(&cluster, &plan, target));
    ctx.print(Planned { plan, cost, shown })?;
    if known {
        ctx.printer().note(if empty {
            "no claim is reserved for anything other than pods"
        } else {
            &verdict
        });
    }
    Ok(outcome)
}

/// A step that the plan does not have.
fn no_step(step: &str, names: &[String]) -> UsageError {
    let error = UsageError::new(format!("the plan has no step `{step}`"));
    if names.is_empty() {
        error.hint("only a plan with `--to-version` or `--disable-gate` for all claims has steps")
    } else {
        error.hint(format!("steps: {}", names.join(", ")))
    }
}

/// Reports unknown assumptions of the plan.
pub(super) fn warn(ctx: &Ctx, plan: &ConversionPlan) {
    for unknown in &plan.unknown {
        ctx.warn(format!("cannot plan: {unknown}"));
    }
    // To claims of other kinds the gate does not matter.
    if plan.claim_gate == ClaimGate::Assumed && plan.claims.len() > plan.summary.keep {
        ctx.warn(
            "assuming that DRAWorkloadResourceClaims is on in kube-scheduler and kube-controller-manager: set it with \
            `--scheduler-feature-gates` and `--kcm-feature-gates`",
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
    let parts = present([
        (convert, "claim to convert", "claims to convert"),
        (release, "claim to release", "claims to release"),
        (keep, "claim kept", "claims kept"),
        (refuse, "claim refused", "claims refused"),
    ]);
    parts.join(", ")
}
