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

/// Turn reservations that are not pods into lists of pods, before a downgrade
///
/// Releases of Kubernetes without PodGroups, and components with their gate off, know reservations for pods only: any other entry of
/// `status.reservedFor` stays for ever, and so do the devices. Without a subcommand all of it is done: plan, ask, back up, write, verify.
/// `convert plan` and `convert verify` only read. `convert --from IN --out OUT` rehearses: it writes the objects of a file into another one
/// as they would be, everything else byte for byte, and changes no cluster.
///
/// Each write is one patch locked to the version that was read, noted in a journal before. Whatever ends the run, another run goes on.
///
/// Exit code 0: no claim is reserved for anything else than pods any more. 1: something stays. 3: something failed, or a right is missing.
/// 4: something could not be read, and nothing was written then.
#[derive(Debug, clap::Args)]
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
