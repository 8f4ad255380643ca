//! `kubectl dra convert`: reservations that are not pods become lists of pods, before a downgrade.
//!
//! `args` has what the subcommands share, `plan` and `verify` read, `runbook` shows the steps of a downgrade, `files` rehearses on files. `run`, `apply` and `restore` write to a cluster; of them there
//! are only the arguments so far, and the command line does not offer them.

mod apply;
mod args;
mod files;
mod plan;
mod restore;
mod run;
mod runbook;
mod verify;
mod writing;

use crate::context::Ctx;
use crate::error::Outcome;

use super::Accepts;

pub(super) const ACCEPTS: Accepts = Accepts::LIST;

/// Turn reservations that are not pods into lists of pods, before a downgrade
///
/// Releases of Kubernetes without PodGroups, and components with their gate off, know reservations for pods only: any other entry of
/// `status.reservedFor` stays for ever, and so do the devices. `convert plan` says what is to be done with each claim, `convert verify`
/// whether anything is left to do. Both only read. `convert --from IN --out OUT` rehearses: it writes the objects of a file into another
/// one as they would be, everything else byte for byte, and changes no cluster.
///
/// Exit code 1: something is left that is not a pod. 4: something could not be read, and nothing was written.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    files: files::Args,
}

/// The steps, each alone.
#[derive(Debug, clap::Subcommand)]
enum What {
    Plan(plan::Args),
    Verify(verify::Args),
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    match args.what {
        Some(What::Plan(args)) => plan::run(ctx, args).await,
        Some(What::Verify(args)) => verify::run(ctx, args).await,
        None => files::run(ctx, args.files).await,
    }
}
