//! Arguments shared by the subcommands of `convert` that write: confirmation, dry runs, waiting, records.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ValueEnum, ValueHint};

use crate::commands::duration;

const WRITING: &str = "Writing";

/// Consent flags.
#[derive(Debug, clap::Args)]
pub(super) struct ConsentArgs {
    /// Do not ask; required without a terminal
    #[arg(long, short = 'y', help_heading = WRITING)]
    pub(super) yes: bool,

    /// `client` only prints, `server` validates
    ///
    /// Writes nothing. With `server` the API server validates every patch without persisting it.
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        default_value = "none",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "client",
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = WRITING,
    )]
    pub(super) dry_run: DryRun,
}

/// Write flags.
#[derive(Debug, clap::Args)]
pub(super) struct WritingArgs {
    #[command(flatten)]
    pub(super) consent: ConsentArgs,

    /// Concurrent writes
    #[arg(long, value_name = "NUMBER", default_value = "8", help_heading = WRITING)]
    pub(super) concurrency: NonZeroUsize,

    /// Backup file for `restore`
    ///
    /// By default in the user's state directory.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = WRITING)]
    pub(super) backup: Option<PathBuf>,

    /// Journal of every write
    ///
    /// By default in the user's state directory.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = WRITING)]
    pub(super) journal: Option<PathBuf>,
}

/// Pass flags.
#[derive(Debug, clap::Args)]
pub(super) struct PassesArgs {
    /// Wait for unscheduled members, then convert again
    ///
    /// Until `--timeout`. Entries that kube-scheduler restores are converted again.
    #[arg(long, help_heading = WRITING)]
    pub(super) wait: bool,

    /// Final passes: DRAWorkloadResourceClaims is off
    ///
    /// Requires that the gate is known to be off in every kube-scheduler and kube-controller-manager.
    #[arg(long = "final", help_heading = WRITING)]
    pub(super) last: bool,

    /// Time between two passes
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "30s", help_heading = WRITING)]
    pub(super) settle: Duration,
}

/// Dry-run mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum DryRun {
    /// Write
    #[default]
    None,
    /// Send nothing
    Client,
    /// Let the API server check every patch and forget it
    Server,
}
