//! `kubectl dra run`: the claim and taint eviction controllers beside a live cluster.

pub(super) mod log;
mod rehearsal;
pub(super) mod status_line;
pub(super) mod supplement;
pub(super) mod take_over;
mod writing;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::context::{Ctx, SourceSetting};
use crate::error::Outcome;
use crate::output::{Cell, Column, LogFormat, Page, Report, Table, Tone, View, counted};
use dra_model::Environment;
use dra_reports::{ShadowItem, ShadowReport, shadow_report};
use dra_runner::{Failure, JobCounts, Listed, Options, Telemetry};
use dra_sources::live::{Live, Right};
use dra_sources::{Loaded, Needs};

use self::log::Log;
use self::status_line::StatusLine;
pub(super) use self::writing::lease;
use super::service::{self, listening};
use super::{Accepts, duration};

pub(super) const ACCEPTS: Accepts = Accepts::NAMED_REPORT;

const EXAMPLES: &str = "\
Examples:
  # Audit the controllers for ten minutes; writes nothing
  kubectl dra run --for 10m
  # Rehearse the controllers on a saved cluster
  kubectl dra run --from cluster.json.zst --until 30m
  # Do what the built-in controllers leave undone
  kubectl dra run \\
    --supplement extended-resource-eviction,overdue-release
  # Run in place of the disabled built-in controllers
  kubectl dra run --take-over";

/// Audit the claim and taint controllers, or run in their place
///
/// Compares resourceclaim-controller and device-taint-eviction-controller with the rules of Kubernetes 1.37.2. Writes nothing without
/// --take-over or --supplement. Logs findings on stderr and prints a report at the end: `Overdue`, `Flapping`, `Unexpected`. Exit code 1: findings.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("writes").args(["take_over", "supplement"]))]
pub(crate) struct Args {
    /// Stop after this duration, not at Ctrl-C
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    for_: Option<Duration>,

    /// Time until a write is overdue [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    overdue: Option<Duration>,

    #[command(flatten)]
    service: service::Flags,

    #[command(flatten)]
    rehearsal: rehearsal::Args,

    #[command(flatten)]
    take_over: take_over::Flags,

    #[command(flatten)]
    supplement: supplement::Flags,

    #[command(flatten)]
    writing: writing::Flags,

    /// Serve health and metrics, such as on `:8080`
    ///
    /// Serves /healthz, /readyz and /metrics.
    #[arg(long, value_name = "ADDRESS", value_parser = listening)]
    metrics_address: Option<SocketAddr>,
}

/// `--overdue` unless it is given.
const OVERDUE: Duration = Duration::from_secs(30);

const COLUMNS: &[Column<ShadowItem>] = &[
    Column::new("FINDING", ".finding", |item, cell| {
        cell.toned(Tone::Bad, item.finding);
    }),
    Column::new("CONTROLLER", ".controller", |item, cell| {
        cell.text(item.controller);
    }),
    Column::new("WRITE", ".write", |item, cell| cell.text(item.write)),
    Column::new("OBJECT", ".object", |item, cell| cell.text(&item.object)),
    Column::new("SINCE", ".since", |item, cell| cell.text(item.since)),
    Column::new("UNTIL", ".until", until),
    Column::new("COUNT", ".count", |item, cell| cell.text(item.count)),
];

fn until(item: &ShadowItem, cell: &mut Cell<'_, ()>) {
    if let Some(until) = item.until {
        cell.text(until);
    }
}

impl Report for ShadowReport {
    const KIND: &'static str = "ShadowReport";

    fn view(&self, _: Page) -> View {
        Table::of(COLUMNS, &self.items).into()
    }

    fn names(&self) -> Vec<String> {
        self.items.iter().map(|item| item.object.clone()).collect()
    }

    fn nothing(&self) -> Option<String> {
        let done = counted(
            usize::try_from(self.fulfilled).unwrap_or(usize::MAX),
            "write",
            "writes",
        );
        if !self.unknown.is_empty() {
            return Some(format!(
                "Cannot tell whether the built-in controllers follow the rules: {done} seen, {} still open",
                self.open
            ));
        }
        Some(format!(
            "The built-in controllers follow the rules: {done} seen, {} still open",
            self.open
        ))
    }
}

/// Work of kube-controller-manager since 1.37.2; before, a deviation of a take-over, and a part of a supplement.
const EXTENDED: &str = "extended-resource-eviction";

/// Reports whether [`EXTENDED`], as `flag` asks for it, has no effect on a cluster of this release, and warns of it.
fn is_superfluous(ctx: &Ctx, environment: &Environment, flag: &str) -> bool {
    let is_upstreams = environment.release().evicts_for_extended_resources;
    if is_upstreams {
        ctx.printer().warning(&format!(
            "`{flag} {EXTENDED}` has no effect: kube-controller-manager evicts these pods since Kubernetes \
            1.37.2 (kubernetes/kubernetes#142289), and this cluster runs {}",
            environment.version
        ));
    }
    is_upstreams
}

/// A run beside a live cluster: what its modes have in common.
struct Run<'a> {
    ctx: &'a Ctx,
    live: &'a Live,
    needs: &'a Needs,
    writing: &'a writing::Flags,
    overdue: Duration,
    format: LogFormat,
    status_line: StatusLine<'a>,
    options: Options,
}

impl Run<'_> {
    fn listed(&self, loaded: Loaded) -> Listed<'_> {
        Listed {
            live: self.live,
            needs: self.needs,
            loaded,
            at: self.ctx.clock(),
        }
    }

    /// The log, in which `names` write.
    fn log<'a>(&'a self, names: &'a [&'a str]) -> Log<'a> {
        Log {
            ctx: self.ctx,
            format: self.format,
            cluster: self.live.name(),
            status_line: &self.status_line,
            names,
            dry_run: self.writing.dry_run,
        }
    }

    async fn check_rights(&self, rights: BTreeSet<Right>) -> anyhow::Result<()> {
        match self.live.missing_rights(rights).await? {
            Some(missing) => Err(Failure::from(missing).into()),
            None => Ok(()),
        }
    }

    /// The end of a mode that writes.
    fn end(&self, jobs: JobCounts) -> Outcome {
        self.status_line.clear();
        self.ctx.printer().note(&jobs.to_string());
        written(self.ctx, &self.options.telemetry)
    }
}

/// Warns of a kind that could not be watched when the work ended.
fn not_seen(ctx: &Ctx, unknown: &str) {
    ctx.warn(format!("some changes were not seen: {unknown}"));
}

/// Outcome of a run that writes.
fn written(ctx: &Ctx, telemetry: &Telemetry) -> Outcome {
    let unknown = telemetry.blind();
    for unknown in &unknown {
        not_seen(ctx, unknown);
    }
    Outcome::of(false, !unknown.is_empty())
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let (service, take_over) = (args.service, args.take_over);
    if let SourceSetting::Files(names) = &ctx.settings().source {
        let live_flags = [
            (args.for_.is_some(), "--for"),
            (args.overdue.is_some(), "--overdue"),
            (service.recheck.is_some(), "--recheck"),
            (take_over.take_over, "--take-over"),
            (!args.supplement.supplement.is_empty(), "--supplement"),
            (args.metrics_address.is_some(), "--metrics-address"),
        ];
        let live_flag = live_flags.into_iter().find(|(is_given, _)| *is_given);
        return rehearsal::run(ctx, names, args.rehearsal, live_flag.map(|(_, flag)| flag)).await;
    }
    args.rehearsal.refuse_live()?;
    ctx.printer().begin_log(service.log_format);
    let workers = take_over.workers()?;
    let telemetry = Arc::new(match args.metrics_address {
        Some(_) => Telemetry::measured(),
        None => Telemetry::default(),
    });
    // They are served until this function returns.
    let _probes = match args.metrics_address {
        Some(address) => Some(service::probes(ctx, address, Arc::clone(&telemetry)).await?),
        None => None,
    };
    // Without the rules every eviction would look unexpected, and without PodGroups every claim of a group.
    let mut said = Environment::default();
    // Errors are reported where it is merged with what the cluster says.
    let _ = ctx.settings().versions.apply(&mut said);
    let needs = dra_runner::needed(&said)
        .into_iter()
        .fold(Needs::none(), Needs::require)
        .with_gates();
    let loaded = ctx.load_to_watch(&needs).await?;
    ctx.ends_by_itself();
    let live = ctx.live().await?;
    let status_line = StatusLine::begin(ctx, live.name());
    let run = Run {
        ctx,
        live,
        needs: &needs,
        writing: &args.writing,
        overdue: args.overdue.unwrap_or(OVERDUE),
        format: service.log_format,
        options: Options {
            for_: args.for_,
            shows_status: status_line.is_seen(),
            ..service.options(ctx, telemetry)
        },
        status_line,
    };
    if take_over.take_over {
        take_over::run(&run, take_over, workers, loaded).await
    } else if !args.supplement.supplement.is_empty() {
        supplement::run(&run, args.supplement, loaded).await
    } else {
        shadow(&run, loaded).await
    }
}

async fn shadow(run: &Run<'_>, loaded: Loaded) -> anyhow::Result<Outcome> {
    let Run {
        ctx,
        overdue,
        options,
        ..
    } = run;
    let log = run.log(&[]);
    let tell = |message| log.message(message);
    let ending = dra_runner::shadow(run.listed(loaded), *overdue, options.clone(), tell).await?;
    run.status_line.clear();
    let unknown = options.telemetry.blind();
    let outcome = Outcome::of(!ending.found.is_empty(), !unknown.is_empty());
    let report = ShadowReport {
        unknown,
        ..shadow_report(&ending.found, ending.counts, ending.time)
    };
    report.unknown.iter().for_each(|unknown| not_seen(ctx, unknown));
    ctx.print(report)?;
    ending.failure.map_or(Ok(outcome), |failure| Err(failure.into()))
}
