//! `kubectl dra simulate`: what would happen, computed without changing anything.

mod allocation;
pub(super) mod eviction;

use crate::context::Ctx;
use crate::error::Outcome;

use super::Accepts;

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

const EXAMPLES: &str = "\
Examples:
  # Find out where a pod fits, and with which devices
  kubectl dra simulate allocation pod/trainer-0 -n training
  # Find out which pods are evicted if the devices of a node are tainted
  kubectl dra simulate eviction --node gpu-node-1";

/// Simulate allocation or eviction; changes nothing
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

/// Simulations.
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
