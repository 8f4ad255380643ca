//! `kubectl dra convert` itself, on a cluster: plan, confirm, back up, write, verify.

use super::args::{PlanningArgs, SelectionArgs};
use super::writing::{PassesArgs, WritingArgs};

/// What a conversion from plan to proof takes.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) selection: SelectionArgs,

    #[command(flatten)]
    pub(super) planning: PlanningArgs,

    #[command(flatten)]
    pub(super) passes: PassesArgs,

    #[command(flatten)]
    pub(super) writing: WritingArgs,
}
