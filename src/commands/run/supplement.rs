//! `kubectl dra run --supplement`: what the built-in controllers never do, or have left undone.

use super::{EXTENDED, Run, is_superfluous};
use crate::error::Outcome;
use dra_rules::controllers::Supplement;
use dra_sources::Loaded;

/// The Lease of a supplement, unless another one is named.
const LEASE: &str = "kubectl-dra-supplement";

/// Flags of a supplement.
#[derive(Debug, clap::Args)]
#[group(id = "supplements")]
pub(super) struct Flags {
    /// Do what the built-in controllers leave undone
    ///
    /// `extended-resource-eviction`, which they do since Kubernetes 1.37.2, and `overdue-release`.
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

/// Returns what can stand for `--supplement`.
pub(in crate::commands) fn parts() -> impl Iterator<Item = &'static str> {
    PARTS.into_iter().map(|part| part.name)
}

fn part(text: &str) -> Result<Part, String> {
    let part = PARTS.into_iter().find(|part| part.name == text);
    part.ok_or_else(|| {
        let names = PARTS.map(|part| part.name).join(" or ");
        format!("expected {names}")
    })
}

pub(super) async fn run(run: &Run<'_>, mut flags: Flags, loaded: Loaded) -> anyhow::Result<Outcome> {
    let writing = run.writing.writing(LEASE);
    let environment = loaded.cluster.environment();
    dra_runner::check_gates(environment)?;
    let is_asked_for = |parts: &[Part], name: &str| parts.iter().any(|part| part.name == name);
    if is_asked_for(&flags.supplement, EXTENDED) && is_superfluous(run.ctx, environment, "--supplement") {
        flags.supplement.retain(|part| part.name != EXTENDED);
    }
    let mut supplement = Supplement {
        once: writing.dry_run,
        ..Supplement::default()
    };
    for part in &flags.supplement {
        (part.set)(&mut supplement);
    }
    let rights = dra_runner::supplement_rights(supplement, environment, writing.lease.as_ref());
    run.check_rights(rights).await?;
    let names = PARTS.map(|part| part.name).into_iter();
    let mut names: Vec<&str> = names
        .filter(|name| is_asked_for(&flags.supplement, name))
        .collect();
    if names.is_empty() {
        // It continues: a Deployment would restart it again and again.
        names.push("nothing to supplement");
    }
    let log = run.log(&names);
    let tell = |message| log.message(message);
    let (listed, options) = (run.listed(loaded), run.options.clone());
    let jobs = dra_runner::supplement(listed, supplement, run.overdue, writing, options, tell).await?;
    Ok(run.end(jobs))
}
