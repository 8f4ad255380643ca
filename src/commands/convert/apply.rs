//! `kubectl dra convert apply`: a plan that was made before is carried out, as far as it still holds.

use std::path::PathBuf;

use clap::ValueHint;

use super::writing::{PassesArgs, WritingArgs};

/// Carry out a plan that `convert plan -o json` has printed
///
/// Pods are listed again, and what has changed is planned again before it is written.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The plan; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) plan: PathBuf,

    #[command(flatten)]
    pub(super) passes: PassesArgs,

    #[command(flatten)]
    pub(super) writing: WritingArgs,
}
