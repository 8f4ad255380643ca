//! `kubectl dra convert`: reservations that are not pods become lists of pods, before a downgrade.
//!
//! `args` has what the subcommands share, `plan` and `verify` read. `run`, `apply` and `restore` write to a cluster; of them there
//! are only the arguments so far, and the command line does not offer them.

mod apply;
mod args;
mod plan;
mod restore;
mod run;
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
/// whether anything is left to do. Both only read.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

/// The steps, each alone.
#[derive(Debug, clap::Subcommand)]
enum What {
    Plan(plan::Args),
    Verify(verify::Args),
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    match args.what {
        What::Plan(args) => plan::run(ctx, args).await,
        What::Verify(args) => verify::run(ctx, args).await,
    }
}
