//! `kubectl dra convert restore`: the lists of a backup come back, where nobody has changed anything since.

use std::path::PathBuf;

use clap::ValueHint;

use super::args::SelectionArgs;
use super::writing::DryRun;

/// Bring back the lists that a conversion replaced
///
/// An entry comes back only while its object exists with that UID and no pod that uses the claim is dropped by it; else the claim is
/// refused and the difference shown.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) selection: SelectionArgs,

    /// The backup that the conversion has written
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) backup: PathBuf,

    /// Do not ask before writing; needed without a terminal
    #[arg(long, short = 'y')]
    pub(super) yes: bool,

    /// Write nothing: only print (`client`), or let the API server check every patch (`server`)
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        default_value = "none",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "client"
    )]
    pub(super) dry_run: DryRun,
}
