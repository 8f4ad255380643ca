//! `kubectl dra run --supplement`: what the built-in controllers never do, or have left undone.

use super::telling::Telling;
use super::view::Viewing;
use super::{OVERDUE, Run};
use crate::context::Ctx;
use crate::controllers::Supplement;
use crate::error::Outcome;
use crate::runner::{self, Failure, Supplementing};

/// The Lease of a supplement, unless another one is named.
const LEASE: &str = "kubectl-dra-supplement";

/// What the command line says of a supplement.
#[derive(Debug, clap::Args)]
#[group(id = "supplements")]
pub(super) struct Flags {
    /// Write what the built-in controllers leave undone
    ///
    /// `extended-resource-eviction`, which they never do, and `overdue-release`, once it is overdue.
    #[arg(
        long,
        value_name = "PART",
        value_delimiter = ',',
        value_parser = part,
        hide_possible_values = true,
        help_heading = "Supplement"
    )]
    pub(super) supplement: Vec<Part>,
}

/// A part of a supplement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    name: &'static str,
    set: fn(&mut Supplement),
}

const PARTS: [Part; 2] = [
    Part {
        name: "extended-resource-eviction",
        set: |supplement| supplement.evictions = true,
    },
    Part {
        name: "overdue-release",
        set: |supplement| supplement.releases = true,
    },
];

/// What can stand for `--supplement`.
pub(in crate::commands) fn parts() -> impl Iterator<Item = &'static str> {
    PARTS.into_iter().map(|part| part.name)
}

fn part(text: &str) -> Result<Part, String> {
    let part = PARTS.into_iter().find(|part| part.name == text);
    part.ok_or_else(|| {
        let names = PARTS.map(|part| part.name).join(" and ");
        format!("no such part of a supplement; there are {names}")
    })
}

pub(super) async fn run(ctx: &Ctx, flags: Flags, run: Run<'_>) -> anyhow::Result<Outcome> {
    let Run {
        writing,
        needs,
        for_,
        overdue,
        format,
        operation,
        recheck,
    } = run;
    let mut supplement = Supplement {
        once: writing.dry_run,
        ..Supplement::default()
    };
    for part in &flags.supplement {
        (part.set)(&mut supplement);
    }
    let lease = writing.lease(LEASE);
    let loaded = ctx.load_to_watch(needs).await?;
    ctx.ends_by_itself();
    let live = ctx.live().await?;
    let environment = loaded.cluster.environment();
    runner::check_gates(environment)?;
    let wanted = runner::supplement_rights(supplement, environment, lease.as_ref());
    if let Some(missing) = live.missing_rights(wanted).await? {
        return Err(Failure::from(missing).into());
    }
    let viewing = Viewing::begin(ctx, live.name());
    let telling = Telling {
        ctx,
        format,
        cluster: live.name(),
        viewing: &viewing,
    };
    let is_asked_for = |name: &&str| flags.supplement.iter().any(|part| part.name == *name);
    let names = PARTS.map(|part| part.name).into_iter();
    let names: Vec<&str> = names.filter(is_asked_for).collect();
    let how = Supplementing {
        supplement,
        overdue: overdue.unwrap_or(OVERDUE),
        qps: writing.kube_api_qps,
        burst: writing.kube_api_burst,
        as_released: ctx.settings().versions.kubernetes.is_some(),
        wall: ctx.wall(),
        operation,
        recheck,
        is_viewed: viewing.is_seen(),
        lease,
        dry_run: writing.dry_run,
        for_,
        interruption: ctx.interruption(),
    };
    let tell = |report| telling.report(report, &names, writing.dry_run);
    let done = runner::supplement(live, needs, loaded, ctx.clock(), how, tell).await?;
    viewing.clear();
    ctx.printer().note(&done.to_string());
    Ok(Outcome::Done)
}
