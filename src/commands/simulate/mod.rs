//! `kubectl dra simulate`: what would happen, computed without changing anything.

mod allocation;
mod eviction;

use crate::context::Ctx;
use crate::error::Outcome;

use super::Accepts;

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

const EXAMPLES: &str = "\
Examples:
  # Does a pod fit, where, and with which devices
  kubectl dra simulate allocation pod/trainer-0 -n training
  # Which pods go if the devices of a node are tainted
  kubectl dra simulate eviction --node gpu-node-1";

/// Simulate what would happen; nothing is changed
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

/// What can be simulated.
#[derive(Debug, clap::Subcommand)]
enum What {
    #[command(visible_alias = "fit")]
    Allocation(allocation::Args),
    Eviction(eviction::Args),
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    match args.what {
        What::Allocation(args) => allocation::run(ctx, args).await,
        What::Eviction(args) => eviction::run(ctx, args).await,
    }
}
