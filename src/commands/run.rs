//! `kubectl dra run`: the claim and taint eviction controllers beside a live cluster.

mod rehearsal;
pub(super) mod supplement;
pub(super) mod take_over;
mod telling;
mod view;
mod writing;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use crate::context::{Ctx, SourceSetting};
use crate::error::Outcome;
use crate::output::{Cell, Column, Detail, LogFormat, Report, Table, Tone, View, counted};
use dra_model::Environment;
use dra_reports::{ShadowItem, ShadowReport, shadow_report};
use dra_runner::{Failure, Operation, Probes, Recheck, Watching};
use dra_sources::Needs;

use self::telling::Telling;
use self::view::Viewing;
use super::{Accepts, duration};

pub(super) const ACCEPTS: Accepts = Accepts::NAMED_REPORT;

const EXAMPLES: &str = "\
Examples:
  # Compare for ten minutes; nothing is written
  kubectl dra run --for 10m
  # What the controllers would do to a saved cluster
  kubectl dra run --from cluster.json.zst --until 30m
  # Write what the built-in controllers never do
  kubectl dra run --supplement extended-resource-eviction,overdue-release
  # Do the work of the built-in controllers, which are off
  kubectl dra run --take-over";

/// Watch the controllers of claims and taints, or do their work
///
/// Watches resourceclaim-controller and device-taint-eviction-controller, by the rules of Kubernetes 1.37.2. Nothing is written, unless
/// --take-over or --supplement says so. Findings are lines on stderr, and a report at the end: `Overdue`, `Flapping`, `Unexpected`; exit code
/// 1 if there are any.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("writes").args(["take_over", "supplement"]))]
pub(crate) struct Args {
    /// End after this time, not at Ctrl-C
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    for_: Option<Duration>,

    /// When a write is overdue [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    overdue: Option<Duration>,

    /// Ask for gates again [default: 1m]
    ///
    /// If versions, served kinds or gates are not those any more that the rules were made for, the command ends, so that the next start goes by
    /// what is true then. `0s` is never.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    recheck: Option<Duration>,

    #[command(flatten)]
    rehearsal: rehearsal::Args,

    #[command(flatten)]
    take_over: take_over::Flags,

    #[command(flatten)]
    supplement: supplement::Flags,

    #[command(flatten)]
    writing: writing::Flags,

    /// Lines on stderr: text or json
    #[arg(
        long,
        hide_possible_values = true,
        value_enum,
        default_value = "text",
        value_name = "FORMAT"
    )]
    log_format: LogFormat,

    /// Serve health and metrics, as on `:8080`
    ///
    /// As /healthz, /readyz and /metrics.
    #[arg(long, value_name = "ADDRESS", value_parser = listening)]
    metrics_address: Option<SocketAddr>,
}

/// Where to listen; without an address, everywhere.
fn listening(text: &str) -> Result<SocketAddr, String> {
    let everywhere = text.strip_prefix(':').map(|port| format!("[::]:{port}"));
    let address = everywhere.as_deref().unwrap_or(text);
    address
        .parse()
        .map_err(|_| "is not an IP address with a port, as in `127.0.0.1:8080`".to_owned())
}

/// `--overdue` unless it is given.
const OVERDUE: Duration = Duration::from_secs(30);

/// `--recheck` unless it is given.
const RECHECK: Duration = Duration::from_secs(60);

const COLUMNS: &[Column<ShadowItem>] = &[
    Column::new("FINDING", ".finding", |item, cell| {
        cell.toned(Tone::Bad, item.finding.text());
    }),
    Column::new("CONTROLLER", ".controller", |item, cell| {
        cell.text(item.controller);
    }),
    Column::new("WRITE", ".write", |item, cell| {
        cell.text(item.write);
    }),
    Column::new("OBJECT", ".object", |item, cell| {
        cell.text(&item.object);
    }),
    Column::new("SINCE", ".since", |item, cell| {
        cell.text(item.since);
    }),
    Column::new("UNTIL", ".until", until),
    Column::new("COUNT", ".count", |item, cell| {
        cell.text(item.count);
    }),
];

fn until(item: &ShadowItem, cell: &mut Cell<'_, ()>) {
    if let Some(until) = item.until {
        cell.text(until);
    }
}

impl Report for ShadowReport {
    const KIND: &'static str = "ShadowReport";

    fn view(&self, detail: Detail) -> View {
        Table::with(COLUMNS, detail, &(), &self.items).into()
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
                "Whether the built-in controllers do what the rules want is unknown: {done} seen, {} still open",
                self.open
            ));
        }
        Some(format!(
            "The built-in controllers do what the rules want: {done} seen, {} still open",
            self.open
        ))
    }
}

/// What kube-controller-manager does itself from 1.37.2 on; before, a deviation of a take-over, and a part of a supplement.
const EXTENDED: &str = "extended-resource-eviction";

/// Whether [`EXTENDED`], as `flag` asks for it, has no effect on a cluster of this release; says so.
fn is_superfluous(ctx: &Ctx, environment: &Environment, flag: &str) -> bool {
    let is_upstreams = environment.release().evicts_for_extended_resources;
    if is_upstreams {
        ctx.printer().warning(&format!(
            "`{flag} {EXTENDED}` has no effect: kube-controller-manager evicts these pods itself from Kubernetes 1.37.2 on \
             (kubernetes/kubernetes#142289), and this cluster is {}",
            environment.version
        ));
    }
    is_upstreams
}

/// What the modes that write have in common.
struct Run<'a> {
    writing: &'a writing::Flags,
    needs: &'a Needs,
    for_: Option<Duration>,
    overdue: Option<Duration>,
    format: LogFormat,
    operation: Arc<Operation>,
    recheck: Option<Recheck>,
}

/// Warns of a kind that could not be watched when the work ended.
fn not_seen(ctx: &Ctx, unknown: &str) {
    ctx.warn(format!("changes were not seen when this ended: {unknown}"));
}

/// What a run that writes ends with.
fn written(ctx: &Ctx, operation: &Operation) -> Outcome {
    let unknown = operation.blind();
    for unknown in &unknown {
        not_seen(ctx, unknown);
    }
    if unknown.is_empty() {
        Outcome::Done
    } else {
        Outcome::Unknown
    }
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args {
        for_,
        overdue,
        recheck,
        rehearsal,
        take_over,
        supplement,
        writing,
        log_format,
        metrics_address,
    } = args;
    if let SourceSetting::Files(names) = &ctx.settings().source {
        let live_flag = for_
            .map(|_| "--for")
            .or(overdue.map(|_| "--overdue"))
            .or(recheck.map(|_| "--recheck"))
            .or(take_over.take_over.then_some("--take-over"))
            .or((!supplement.supplement.is_empty()).then_some("--supplement"))
            .or(metrics_address.map(|_| "--metrics-address"));
        return rehearsal::run(ctx, names, rehearsal, live_flag).await;
    }
    rehearsal.refuse_live()?;
    ctx.printer().begin_log(log_format);
    let operation = Arc::new(match metrics_address {
        Some(_) => Operation::measured(),
        None => Operation::default(),
    });
    let every = recheck.unwrap_or(RECHECK);
    let recheck = (!every.is_zero()).then(|| Recheck {
        every,
        versions: ctx.settings().versions.clone(),
    });
    let probes = match metrics_address {
        Some(address) => {
            let probes = Probes::listen(address, Arc::clone(&operation))
                .await
                .with_context(|| format!("cannot listen on {address}"))?;
            ctx.printer()
                .note(&format!("metrics and probes are at {}", probes.address()));
            Some(probes)
        }
        None => None,
    };
    // Without the rules every eviction would look unexpected, and without PodGroups every claim of a group.
    let mut said = Environment::default();
    // What is wrong with it is told where it is put over what the cluster says.
    let _ = ctx.settings().versions.apply(&mut said);
    let needs = dra_runner::needed(&said)
        .into_iter()
        .fold(Needs::none(), Needs::require)
        .with_gates();
    let is_supplement = !supplement.supplement.is_empty();
    if take_over.take_over || is_supplement {
        let run = Run {
            writing: &writing,
            needs: &needs,
            for_,
            overdue,
            format: log_format,
            operation,
            recheck,
        };
        return if is_supplement {
            supplement::run(ctx, supplement, run).await
        } else {
            take_over::run(ctx, take_over, run).await
        };
    }
    let loaded = ctx.load_to_watch(&needs).await?;
    ctx.ends_by_itself();
    let live = ctx.live().await?;
    let viewing = Viewing::begin(ctx, live.name());
    let watching = Watching {
        overdue: overdue.unwrap_or(OVERDUE),
        for_,
        interruption: ctx.interruption(),
        as_released: ctx.settings().versions.kubernetes.is_some(),
        wall: ctx.wall(),
        operation: Arc::clone(&operation),
        recheck,
        is_viewed: viewing.is_seen(),
    };
    let telling = Telling {
        ctx,
        format: log_format,
        cluster: live.name(),
        viewing: &viewing,
    };
    let tell = |happening| telling.happening(happening);
    let ending = dra_runner::shadow(live, &needs, loaded, ctx.clock(), watching, tell).await?;
    drop(probes);
    viewing.clear();
    let unknown = operation.blind();
    let outcome = match (ending.found.is_empty(), unknown.is_empty()) {
        (false, _) => Outcome::Findings,
        (true, false) => Outcome::Unknown,
        (true, true) => Outcome::Done,
    };
    let report = ShadowReport {
        unknown,
        ..shadow_report(&ending.found, ending.counts, ending.time)
    };
    report.unknown.iter().for_each(|unknown| not_seen(ctx, unknown));
    ctx.print(report)?;
    match ending.moved {
        Some(differences) => Err(Failure::Moved { differences }.into()),
        None => Ok(outcome),
    }
}
