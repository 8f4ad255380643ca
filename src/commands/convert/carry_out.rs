//! Steps shared by `convert` and `convert apply`: check, ask, write, and report each claim.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use itertools::Itertools;
use serde::Serialize;

use crate::commands::places;
use crate::commands::presence;
use crate::context::Ctx;
use crate::error::{Interrupted, Outcome, UsageError};
use crate::output::{
    Column, Page, Report, SortBy, SortError, Table, Tone, View, can_ask, counted, list_or_none, one_line,
};
use dra_model::{ClaimPatch, Environment, Gap, Key, Str};
use dra_reports::Selection;
use dra_reports::conversion::{ConversionPlan, PlannedClaim};
use dra_rules::reservation::conversion::{Action, ClaimGate, ClaimPlan, DefectCode, Options};
use dra_runner::conversion::{
    self, Executor, Mode, Order, Outcome as ClaimOutcome, Paths, Phase, Planned, PlannedFor, Record, Stop,
    Survey, Watcher,
};
use dra_sources::live::Live;

use super::args::needs;
use super::writing::{ConsentArgs, DryRun, PassesArgs, WritingArgs};

/// Time to try one claim while others write it or the server is unavailable.
const PATIENCE: Duration = Duration::from_secs(60);
/// `--wait` ends automatically when its time is over, after one more look at all claims with this limit.
const LAST_LOOK: Duration = Duration::from_secs(60);

/// Work to carry out.
pub(super) struct Work<'a> {
    pub(super) selection: Selection,
    pub(super) passes: &'a PassesArgs,
    pub(super) writing: &'a WritingArgs,
    /// The plan that was made before, where there is one; then no other claim is written.
    pub(super) plan: Option<&'a ConversionPlan>,
}

/// Refuses what can only fail: files, and a question that no user can answer.
pub(super) fn check(ctx: &Ctx, consent: &ConsentArgs) -> Result<(), UsageError> {
    if !ctx.is_live() {
        let error = UsageError::new("cannot write claims: `--from` reads files");
        return Err(error.hint("`kubectl dra convert plan --from FILE` shows what would be written"));
    }
    if !consent.yes && consent.dry_run == DryRun::None && !can_ask() {
        let error = UsageError::new("cannot ask for confirmation: standard input is not a terminal");
        return Err(error.hint("pass --yes to write, or --dry-run=server to see what would happen"));
    }
    Ok(())
}

pub(super) fn mode(dry_run: DryRun) -> Mode {
    match dry_run {
        DryRun::None => Mode::Write,
        DryRun::Client => Mode::Client,
        DryRun::Server => Mode::Server,
    }
}

/// Directory for the records of this cluster.
pub(super) fn records(cluster: &str) -> PathBuf {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    let mut name: String = cluster.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    if name.starts_with('.') {
        name.insert(0, '_');
    }
    Ctx::state_folder().join("kubectl-dra").join("convert").join(name)
}

/// Refuses records that would be written over each other or over what is read, and such that keep nothing. `plan` is the file of a
/// plan.
pub(super) fn check_records(ctx: &Ctx, writing: &WritingArgs, plan: Option<&Path>) -> anyhow::Result<()> {
    let Some(paths) = Paths::named(writing.backup.clone(), writing.journal.clone()) else {
        return Ok(());
    };
    let mut read = places::connection(ctx);
    read.extend(plan.and_then(|plan| places::named("--plan", plan)));
    let backup = places::record("--backup", &paths.backup)?;
    let journal = places::record("--journal", &paths.journal)?;
    places::check(backup.into_iter().chain(journal), &read)?;
    Ok(())
}

/// Carries `work` out. `options` says how to convert in a cluster with this environment.
pub(super) async fn carry_out(
    ctx: &Ctx,
    work: Work<'_>,
    options: impl FnOnce(&Environment) -> anyhow::Result<Options>,
) -> anyhow::Result<Outcome> {
    let (passes, writing, plan) = (work.passes, work.writing, work.plan);
    check(ctx, &writing.consent)?;
    let live = ctx.live().await?;
    let needs = needs(&work.selection);
    let cluster = ctx.load(needs.clone()).await?;
    // What a plan names and is gone by now has a row.
    let (planned, nothing) = match plan {
        Some(plan) => (Some(planned(live, plan).await?), Vec::new()),
        None => {
            let nothing = presence::demand_claims(ctx, &cluster, &work.selection).await?;
            (None, nothing)
        }
    };
    if !nothing.is_empty() {
        ctx.warn_all(
            nothing
                .iter()
                .map(|nothing| format!("nothing was written: {nothing}")),
        );
        return Ok(Outcome::Unknown);
    }
    let namespace = one_namespace(&work.selection);
    let writes = planned.as_ref().map(Planned::writes);
    let order = Order {
        needs,
        namespace,
        options: options(cluster.environment())?,
        selects: Box::new(move |claim| {
            work.selection.includes(&claim.metadata)
                && writes
                    .as_ref()
                    .is_none_or(|writes| writes.get(&claim.key()) == Some(&claim.metadata.uid))
        }),
        planned,
        versions: ctx.settings().versions.clone(),
        phase: if passes.last {
            Phase::Final {
                settle: passes.settle,
            }
        } else {
            Phase::Before
        },
        wait: passes
            .wait
            .then(|| ctx.settings().timeout.unwrap_or(Duration::MAX)),
        mode: mode(writing.consent.dry_run),
        at_once: writing.concurrency.get(),
        patience: PATIENCE,
    };
    let stop = Stop::when(ctx.interruption());
    let shown = Shown(ctx);
    let executor = Executor::new(live, &order, stop, &shown);
    let survey = executor.plan(cluster);
    ctx.end_computing();
    if !survey.plan.unknown.is_empty() {
        warn_of(ctx, "nothing was written", &survey.plan.unknown);
        return Ok(Outcome::Unknown);
    }
    if survey.plan.gate == ClaimGate::Assumed && !passes.last && !survey.plan.claims.is_empty() {
        ctx.warn(
            "DRAWorkloadResourceClaims is unknown for kube-scheduler and kube-controller-manager and assumed \
            on: set it with `--scheduler-feature-gates` and `--kcm-feature-gates`",
        );
    }
    let folder = records(live.name());
    let head = executor.head().await?;
    let before = conversion::holders_before(&folder, &head)?;
    let asking = ctx.progress("asking the API server for permission to write claims", None);
    let preflight = executor.preflight(&survey, &before).await;
    drop(asking);
    match preflight {
        Ok(()) => {}
        Err(error @ conversion::Error::GateUnknown(_)) => {
            ctx.warn(format!("nothing was written: {error}"));
            return Ok(Outcome::Unknown);
        }
        Err(error) => return Err(error.into()),
    }
    let comes_back = survey.plan.gate.may_be_on();
    let writes = survey.plan.claims.iter().any(|claim| claim.patch().is_some());
    let mut record = None;
    let mut asked = false;
    if order.mode == Mode::Write {
        let paths = Paths::choose(writing.backup.clone(), writing.journal.clone(), &folder, &head)?;
        let half_released = Executor::half_released(&survey, &paths)?;
        if writes || half_released > 0 || passes.wait || passes.last {
            if !writing.consent.yes {
                let summary = summary_of(&survey, half_released, live.name(), live.server());
                ctx.printer().note(&summary);
                if !agreed(ctx)? {
                    return Ok(Outcome::Findings);
                }
                asked = true;
            }
            // From here on there is something to finish.
            ctx.ends_by_itself();
            if passes.wait {
                ctx.keep_time(LAST_LOOK);
            }
            record = Some(Record::open(paths, &head)?);
        }
    }
    // Pods change while the user decides.
    let first = (!asked).then_some(survey);
    let paths = record.as_ref().map(|record| record.paths().clone());
    if let Some(record) = record.as_ref().filter(|record| !record.earlier().is_empty()) {
        ctx.printer().note(&format!(
            "continuing the conversion that {} records",
            record.paths().journal.display()
        ));
    }
    let report = executor.apply(first, record.as_mut()).await;
    ctx.end_computing();
    if let Some(record) = record {
        record.close(report.as_ref().is_ok_and(conversion::Report::is_finished));
    }
    let mut report = report?;
    let claims = plan.iter().flat_map(|plan| &plan.claims);
    let claims: FileClaims<'_> = claims
        .map(|claim| (Key::new(claim.namespace.clone(), claim.name.clone()), claim))
        .collect();
    note_replanned(&mut report, &claims);
    // Where nothing was to be written there is no backup.
    let outcome = finish(ctx, &report, &claims, paths.filter(|paths| paths.backup.exists()));
    if comes_back && report.replaced_groups() {
        ctx.printer().note(
            "while DRAWorkloadResourceClaims is on, members that start or finish restore the entries of their \
            groups: convert again with --final once it is off",
        );
    }
    outcome
}

/// The one namespace of all selected claims.
fn one_namespace(selection: &Selection) -> Option<String> {
    if selection.names.is_empty() {
        return selection.namespace.as_ref().map(Str::to_string);
    }
    let mut namespaces = selection.names.iter().map(|key| &key.namespace);
    let first = namespaces.next()?;
    namespaces
        .all(|namespace| namespace == first)
        .then(|| first.to_string())
}

/// Asks whether to continue.
pub(super) fn agreed(ctx: &Ctx) -> anyhow::Result<bool> {
    ctx.end_computing();
    match ctx.printer().confirm("Write?") {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => {
            Err(UsageError::new("cannot ask for confirmation: standard input is not a terminal").into())
        }
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Err(Interrupted.into()),
        Err(error) => Err(anyhow!(error).context("cannot ask")),
    }
}

/// Returns what is about to be written, for the question.
fn summary_of(survey: &Survey, half_released: usize, context: &str, server: &str) -> String {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let (mut convert, mut release, mut pods) = (0, 0, 0);
    for claim in &survey.plan.claims {
        match claim.action {
            Action::Convert(_) => convert += 1,
            Action::Release(_) => release += 1,
            Action::Keep | Action::Refuse(_) => continue,
        }
        pods += claim.add().len();
        for entry in &claim.remove {
            *kinds.entry(entry.group_resource()).or_default() += 1;
        }
    }
    let kinds = kinds
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .join(", ");
    let mut text = format!("On cluster `{}` ({}):", one_line(context), one_line(server));
    if convert > 0 {
        let claims = counted(convert, "claim will be converted", "claims will be converted");
        text += &format!(
            "\n  {claims}: {kinds} replaced by {}",
            counted(pods, "entry of a pod", "entries of pods")
        );
    }
    if release > 0 {
        let claims = counted(release, "unused claim", "unused claims");
        text += &format!("\n  {claims} will be deallocated");
    }
    if half_released > 0 {
        let claims = counted(half_released, "claim that", "claims that");
        text += &format!("\n  {claims} that an earlier run deallocated will lose the finalizer");
    }
    if convert + release + half_released == 0 {
        text += "\n  nothing can be written now";
    }
    text
}

/// The claims of a plan that was made before, which must not be one of another cluster.
async fn planned(live: &Live, plan: &ConversionPlan) -> anyhow::Result<Planned> {
    let here = live.cluster_uid().await?;
    if let (Some(of), Some(here)) = (&plan.cluster_uid, &here)
        && of != here
    {
        return Err(conversion::Error::OtherCluster {
            of: of.clone(),
            server: one_line(live.server()).into_owned(),
            here: here.clone(),
        }
        .into());
    }
    let claims = plan.claims.iter().map(|claim| {
        let reason = claim.reason.clone().unwrap_or_else(|| claim.code.to_string());
        let planned = PlannedFor {
            uid: claim.uid.clone(),
            reason: (!claim.writes()).then_some(reason),
        };
        (Key::new(claim.namespace.clone(), claim.name.clone()), planned)
    });
    Ok(Planned {
        claims: claims.collect(),
        is_of_cluster: plan.cluster_uid.is_some() && here.is_some(),
    })
}

/// Claims of a plan that was made before.
type FileClaims<'a> = BTreeMap<Key, &'a PlannedClaim>;

/// Claims that were written otherwise than the plan's file has it.
fn note_replanned(report: &mut conversion::Report, planned: &FileClaims<'_>) {
    for (key, planned) in planned {
        let Some(result) = report.claims.get_mut(key) else {
            continue;
        };
        let now = result
            .plan
            .as_ref()
            .and_then(ClaimPlan::patch)
            .map(ClaimPatch::after);
        if result.outcome == ClaimOutcome::Converted && now != Some(planned.after.as_slice()) {
            result.outcome = ClaimOutcome::Replanned;
        }
    }
}

/// Says what could not be read.
pub(super) fn warn_of(ctx: &Ctx, what: &str, gaps: &[Gap]) {
    for gap in gaps {
        let kinds = gap.kind.plural();
        ctx.warn(format!("{what}: {kinds} are missing: {}", gap.reason));
    }
}

/// Prints what became of the claims and turns it into an outcome.
fn finish(
    ctx: &Ctx,
    report: &conversion::Report,
    planned: &FileClaims<'_>,
    paths: Option<Paths>,
) -> anyhow::Result<Outcome> {
    warn_of(ctx, "unknown", &report.unknown);
    for (key, pods) in &report.unbound {
        ctx.warn(format!(
            "claim/{key} is converted, but pending pods may restore the entry: {}",
            list_or_none(pods)
        ));
    }
    for (key, defect) in &report.defects {
        ctx.warn(format!("claim/{key}: {defect}"));
    }
    let result = ConversionResult::new(report, planned, paths.as_ref());
    let verdict = result.verdict();
    ctx.print(result)?;
    ctx.printer().note(&verdict);
    if let Some(paths) = paths {
        ctx.printer().note(&format!(
            "backup: {}\njournal: {}",
            paths.backup.display(),
            paths.journal.display()
        ));
    }
    outcome(ctx, report, "the conversion")
}

/// The exit code that `report` stands for. `what` names the work in the error of one that ended early.
pub(super) fn outcome(ctx: &Ctx, report: &conversion::Report, what: &str) -> anyhow::Result<Outcome> {
    if report.interrupted {
        ctx.printer().note(&format!(
            "{what} was interrupted: run it again to continue where it stopped"
        ));
        return Err(Interrupted.into());
    }
    if let Some(failure) = &report.failure {
        return Err(anyhow::Error::new(failure.clone()).context(format!("{what} was interrupted")));
    }
    if report.failed() {
        return Err(anyhow!("some claims could not be written"));
    }
    Ok(if !report.unknown.is_empty() {
        Outcome::Unknown
    } else if report.is_clean() {
        Outcome::Done
    } else {
        Outcome::Findings
    })
}

/// Result of each claim.
#[serde_with_macros::skip_serializing_none]
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct ConversionResult {
    /// Number of claims came to each outcome.
    #[schemars(with = "BTreeMap<&str, std::num::NonZeroUsize>")]
    summary: BTreeMap<&'static str, usize>,
    /// By namespace and name: what was planned last for each claim, and what became of it.
    claims: Vec<ResultClaim>,
    /// Defects of the selected claims at the end, as in `convert verify`.
    defects: Vec<ResultDefect>,
    /// Converted claims that pods without a node could begin to use, which may bring the entry back.
    waiting: Vec<WaitingClaim>,
    /// Objects that could not be read. A pass with unreadable objects writes nothing.
    unknown: Vec<String>,
    /// Number of passes.
    #[schemars(range(min = 1))]
    passes: u32,
    /// True if it was ended before it was finished.
    interrupted: bool,
    /// Error that interrupted the run.
    failure: Option<String>,
    /// The file with the claims as they were. Absent where nothing was written.
    backup: Option<String>,
    /// The file with every write.
    journal: Option<String>,
}

/// Plan and result of a claim.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct ResultClaim {
    #[serde(flatten)]
    planned: PlannedClaim,
    /// Outcome.
    outcome: ClaimOutcome,
    /// Reason, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// A defect of a claim's list.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct ResultDefect {
    /// Namespace of the claim.
    namespace: Str,
    /// The claim.
    name: Str,
    /// The stable name of the defect.
    code: DefectCode,
    /// The defect in words.
    message: String,
}

/// A claim that pods without a node could begin to use.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct WaitingClaim {
    /// Its namespace.
    namespace: Str,
    /// Its name.
    name: Str,
    /// Those pods.
    pods: Vec<Str>,
}

impl ConversionResult {
    fn new(report: &conversion::Report, planned: &FileClaims<'_>, paths: Option<&Paths>) -> Self {
        let mut summary = BTreeMap::new();
        let mut claims = Vec::new();
        for result in report.claims.values() {
            let of_file = || planned.get(&result.key).map(|claim| PlannedClaim::clone(claim));
            let now = result.claim.as_ref().zip(result.plan.as_ref());
            let Some(planned) = now
                .map(|(claim, plan)| PlannedClaim::of(claim, plan))
                .or_else(of_file)
            else {
                continue;
            };
            *summary.entry(result.outcome.into()).or_default() += 1;
            claims.push(ResultClaim {
                planned,
                outcome: result.outcome,
                message: result.message.clone(),
            });
        }
        Self {
            summary,
            claims,
            defects: report
                .defects
                .iter()
                .map(|(key, defect)| ResultDefect {
                    namespace: key.namespace.clone(),
                    name: key.name.clone(),
                    code: DefectCode::from(defect),
                    message: defect.to_string(),
                })
                .collect(),
            waiting: report
                .unbound
                .iter()
                .map(|(key, pods)| WaitingClaim {
                    namespace: key.namespace.clone(),
                    name: key.name.clone(),
                    pods: pods.clone(),
                })
                .collect(),
            unknown: unknown(report),
            passes: report.passes,
            interrupted: report.interrupted,
            failure: report.failure.as_ref().map(ToString::to_string),
            backup: paths.map(|paths| paths.backup.display().to_string()),
            journal: paths.map(|paths| paths.journal.display().to_string()),
        }
    }

    /// `3 Converted, 1 Refused`.
    fn verdict(&self) -> String {
        if self.claims.is_empty() {
            return "No claims to convert".to_owned();
        }
        told(&self.summary)
    }
}

/// `Converted: 3 claims, Refused: 1 claim`.
pub(super) fn told(summary: &BTreeMap<&'static str, usize>) -> String {
    let parts = summary.iter();
    let mut parts =
        parts.map(|(outcome, count)| format!("{outcome}: {}", counted(*count, "claim", "claims")));
    parts.join(", ")
}

/// What could not be read, in words.
pub(super) fn unknown(report: &conversion::Report) -> Vec<String> {
    let gaps = report.unknown.iter();
    gaps.map(|gap| format!("{}: {}", gap.kind.plural(), gap.reason))
        .collect()
}

pub(in crate::commands) const COLUMNS: &[Column<ResultClaim>] = &[
    Column::new("NAMESPACE", ".namespace", |claim, cell| {
        cell.text(&claim.planned.namespace);
    }),
    Column::new("CLAIM", ".name", |claim, cell| cell.text(&claim.planned.name)),
    Column::new("OUTCOME", ".outcome", |claim, cell| {
        cell.toned(tone(claim.outcome), claim.outcome);
    }),
    Column::new("CODE", ".code", |claim, cell| cell.text(claim.planned.code)),
    Column::new("REMOVE", ".remove[0].name", |claim, cell| {
        cell.list(&claim.planned.remove);
    }),
    Column::new("ADD", ".add[0].name", |claim, cell| {
        cell.text(claim.planned.add.len());
    }),
    Column::new("MESSAGE", ".message", |claim, cell| {
        cell.option(claim.message.as_deref().or(claim.planned.reason.as_deref()));
    }),
    Column::wide("UID", ".uid", |claim, cell| cell.text(&claim.planned.uid)),
    Column::wide("TO RESOLVE", ".wayOut", |claim, cell| {
        cell.option(claim.planned.way_out.as_deref());
    }),
];

/// Returns how an outcome looks.
pub(super) fn tone(outcome: ClaimOutcome) -> Tone {
    match outcome {
        ClaimOutcome::Converted
        | ClaimOutcome::Replanned
        | ClaimOutcome::Released
        | ClaimOutcome::WouldConvert
        | ClaimOutcome::WouldRelease => Tone::Good,
        ClaimOutcome::Failed | ClaimOutcome::Refused => Tone::Bad,
        ClaimOutcome::Kept | ClaimOutcome::NotTried => Tone::Notice,
        ClaimOutcome::AlreadyDone => Tone::Plain,
    }
}

impl Report for ConversionResult {
    const KIND: &'static str = "ConversionResult";

    fn view(&self, page: Page) -> View {
        Table::new(COLUMNS, page.detail(), &self.claims).into()
    }

    fn names(&self) -> Vec<String> {
        let name = |claim: &ResultClaim| format!("resourceclaim.resource.k8s.io/{}", claim.planned.name);
        self.claims.iter().map(name).collect()
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        by.sort(&mut self.claims, COLUMNS)
    }
}

/// Shows how far the writing is.
pub(super) struct Shown<'a>(pub(super) &'a Ctx);

impl Watcher for Shown<'_> {
    fn pass(&self, number: u32, writes: usize) {
        let what = format!("pass {number}: writing claims");
        self.0.begin(&what, Some(writes as u64));
    }

    fn done(&self) {
        self.0.count_computed();
    }

    fn waits(&self, pause: Duration) {
        let what = format!("next pass in {} s", pause.as_secs_f32().ceil());
        self.0.begin(&what, None);
    }
}
