//! `kubectl dra run`: the claim and taint eviction controllers beside a live cluster.

mod rehearsal;

use std::time::Duration;

use crate::context::{Ctx, SourceSetting};
use crate::error::Outcome;
use crate::inspect::{ShadowItem, ShadowReport, shadow_report};
use crate::model::Kind;
use crate::output::{Cell, Column, Detail, Report, Table, Tone, View, counted};
use crate::runner::{self, Happening, Watching};
use crate::sources::Needs;

use super::{Accepts, duration};

pub(super) const ACCEPTS: Accepts = Accepts::NAMED_REPORT;

/// Compare the built-in controllers for claims and taints with the rules, live
///
/// Watches the cluster and says what kube-controller-manager leaves undone, does again and again, or does without a reason. It looks at
/// resourceclaim-controller (claims from templates, reservations, deallocation) and device-taint-eviction-controller, and goes by the
/// rules of Kubernetes 1.37.1. Nothing is ever written to the cluster.
///
/// Each finding is a line on stderr as it comes. At the end, after --for or with Ctrl-C, the report is printed; the command ends with 1 if there is one.
///
/// - Overdue: the rules have wanted a write for longer than --overdue
/// - Flapping: it is done and undone more than five times a minute
/// - Unexpected: it was done, and no rule wants it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// End after this time; without it, go on until Ctrl-C
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    for_: Option<Duration>,

    /// From when on something undone is overdue [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    overdue: Option<Duration>,

    #[command(flatten)]
    rehearsal: rehearsal::Args,
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
        Some(format!(
            "The built-in controllers do what the rules want: {done} seen, {} still open",
            self.open
        ))
    }
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args {
        for_,
        overdue,
        rehearsal,
    } = args;
    if let SourceSetting::Files(names) = &ctx.settings().source {
        let live_flag = for_.map(|_| "--for").or(overdue.map(|_| "--overdue"));
        return rehearsal::run(ctx, names, rehearsal, live_flag).await;
    }
    rehearsal.refuse_live()?;
    let required = runner::NEEDS.into_iter().filter(|kind| !is_optional(*kind));
    let needs = required
        .fold(Needs::kinds(runner::NEEDS), Needs::require)
        .with_gates();
    let loaded = ctx.load_to_watch(&needs).await?;
    ctx.ends_by_itself();
    let watching = Watching {
        overdue: overdue.unwrap_or(OVERDUE),
        for_,
        interruption: ctx.interruption(),
    };
    let live = ctx.live().await?;
    let tell = |happening: Happening| match happening {
        Happening::Started(counts) => ctx.printer().note(&format!(
            "watching {}: {} wanted now",
            live.name(),
            counted(counts.open, "write", "writes")
        )),
        Happening::Found(found) => {
            let item = ShadowItem::of(&found);
            ctx.printer().note(&format!(
                "{}: {}, since {}",
                item.finding,
                item.meaning(),
                item.since
            ));
        }
        Happening::Trouble(message) => ctx.warn(message),
    };
    let ending = runner::shadow(live, &needs, loaded, ctx.clock(), watching, tell).await?;
    let report = shadow_report(&ending.found, ending.counts, ending.time);
    let outcome = if report.items.is_empty() {
        Outcome::Done
    } else {
        Outcome::Findings
    };
    ctx.print(report)?;
    Ok(outcome)
}

/// Kinds that clusters without a feature do not serve.
fn is_optional(kind: Kind) -> bool {
    matches!(kind, Kind::PodGroup | Kind::DeviceTaintRule)
}
