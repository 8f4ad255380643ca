//! `kubectl dra convert`: reservations that are not pods become lists of pods, before a downgrade.
//!
//! `args` has what the subcommands share, `plan` and `verify` read, `runbook` shows the steps of a downgrade, `files` rehearses on
//! files. `run` (without a subcommand), `apply` and `restore` write to a cluster, the first two by `carry_out`.

mod apply;
mod args;
pub(super) mod carry_out;
mod files;
pub(super) mod plan;
pub(super) mod restore;
mod run;
pub(super) mod runbook;
pub(super) mod verify;
mod writing;

use crate::context::Ctx;
use crate::error::Outcome;

use super::Accepts;

pub(super) const ACCEPTS: Accepts = Accepts::LIST;

const EXAMPLES: &str = "\
Examples:
  # Plan a downgrade
  kubectl dra convert plan --to-version 1.36
  # Validate each write on the server without persisting it
  kubectl dra convert --dry-run=server
  # Plan, ask, back up, write and verify
  kubectl dra convert
  # Rehearse on a file
  kubectl dra convert --from before.yaml --out after.json";

/// Replace PodGroup with pod reservations before a downgrade
///
/// Without a subcommand, runs all steps. Writes require the version that was read.
///
/// Exit code 0: only pod reservations remain. 1: others do. 3: failed. 4: unknown.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,

    #[command(flatten)]
    all: run::WholeArgs,
}

/// The steps, each alone.
#[derive(Debug, clap::Subcommand)]
enum What {
    Plan(plan::Args),
    Apply(apply::Args),
    Verify(verify::Args),
    #[command(aliases = ["rollback", "undo", "revert"])]
    Restore(restore::Args),
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    match args.what {
        None => run::run(ctx, args.all).await,
        Some(What::Plan(args)) => plan::run(ctx, args).await,
        Some(What::Apply(args)) => apply::run(ctx, args).await,
        Some(What::Verify(args)) => verify::run(ctx, args).await,
        Some(What::Restore(args)) => restore::run(ctx, args).await,
    }
}
