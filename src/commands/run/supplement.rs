//! `kubectl dra run --supplement`: what the built-in controllers never do, or have left undone.

use std::sync::Arc;

use super::telling::Telling;
use super::view::Viewing;
use super::{EXTENDED, OVERDUE, Run, is_superfluous};
use crate::context::Ctx;
use crate::error::Outcome;
use dra_rules::controllers::Supplement;
use dra_runner::{Failure, Supplementing};

/// The Lease of a supplement, unless another one is named.
const LEASE: &str = "kubectl-dra-supplement";

/// What the command line says of a supplement.
#[derive(Debug, clap::Args)]
#[group(id = "supplements")]
pub(super) struct Flags {
    /// Write what the built-in controllers leave undone
    ///
    /// `extended-resource-eviction`, which they do from Kubernetes 1.37.2 on, and `overdue-release`, once it is overdue.
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
        name: EXTENDED,
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

pub(super) async fn run(ctx: &Ctx, mut flags: Flags, run: Run<'_>) -> anyhow::Result<Outcome> {
    let Run {
        writing,
        needs,
        for_,
        overdue,
        format,
        operation,
        recheck,
    } = run;
    let lease = writing.lease(LEASE);
    let loaded = ctx.load_to_watch(needs).await?;
    ctx.ends_by_itself();
    let live = ctx.live().await?;
    let environment = loaded.cluster.environment();
    dra_runner::check_gates(environment)?;
    let is_asked_for = |parts: &[Part], name: &str| parts.iter().any(|part| part.name == name);
    if is_asked_for(&flags.supplement, EXTENDED) && is_superfluous(ctx, environment, "--supplement") {
        flags.supplement.retain(|part| part.name != EXTENDED);
    }
    let noted = Arc::clone(&operation);
    let mut supplement = Supplement {
        once: writing.dry_run,
        ..Supplement::default()
    };
    for part in &flags.supplement {
        (part.set)(&mut supplement);
    }
    let wanted = dra_runner::supplement_rights(supplement, environment, lease.as_ref());
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
    let names = PARTS.map(|part| part.name).into_iter();
    let mut names: Vec<&str> = names
        .filter(|name| is_asked_for(&flags.supplement, name))
        .collect();
    if names.is_empty() {
        // It goes on all the same: in a Deployment it would be started again and again.
        names.push("nothing to supplement");
    }
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
    let done = dra_runner::supplement(live, needs, loaded, ctx.clock(), how, tell).await?;
    viewing.clear();
    ctx.printer().note(&done.to_string());
    Ok(super::written(ctx, &noted))
}
