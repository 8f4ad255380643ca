//! What the subcommands of `convert` that write have in common: confirmation, dry runs, waiting, records.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{ValueEnum, ValueHint};

use crate::commands::duration;

const WRITING: &str = "How it is written";
const RECORDS: &str = "Records";

/// Whether claims are written.
#[derive(Debug, clap::Args)]
pub(super) struct ConsentArgs {
    /// Do not ask before writing; needed without a terminal
    #[arg(long, short = 'y', help_heading = WRITING)]
    pub(super) yes: bool,

    /// Write nothing: only print (`client`), or let the API server check every patch (`server`)
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        default_value = "none",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "client",
        help_heading = WRITING,
    )]
    pub(super) dry_run: DryRun,
}

/// How claims are written.
#[derive(Debug, clap::Args)]
pub(super) struct WritingArgs {
    #[command(flatten)]
    pub(super) consent: ConsentArgs,

    /// How many claims are written at once
    #[arg(long, value_name = "NUMBER", default_value = "8", help_heading = WRITING)]
    pub(super) concurrency: NonZeroUsize,

    /// The backup of every list that is replaced, for `convert restore`; by default in the directory for state of the user
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = RECORDS)]
    pub(super) backup: Option<PathBuf>,

    /// The journal of every write; by default in the directory for state of the user
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = RECORDS)]
    pub(super) journal: Option<PathBuf>,
}

/// How passes follow each other.
#[derive(Debug, clap::Args)]
pub(super) struct PassesArgs {
    /// Wait for members that have no node yet, and convert again what the scheduler puts back; for as long as `--timeout` says
    #[arg(long, help_heading = WRITING)]
    pub(super) wait: bool,

    /// The last passes: the gate DRAWorkloadResourceClaims is off in every scheduler and controller manager, which must be known
    #[arg(long = "final", help_heading = WRITING)]
    pub(super) last: bool,

    /// Time between two passes
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "30s", help_heading = WRITING)]
    pub(super) settle: Duration,
}

/// Whether writes take effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DryRun {
    /// They do.
    #[default]
    None,
    /// Nothing is sent.
    Client,
    /// The API server checks them and forgets them.
    Server,
}

impl ValueEnum for DryRun {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::None, Self::Client, Self::Server]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::None => PossibleValue::new("none").help("Write"),
            Self::Client => PossibleValue::new("client").help("Send nothing"),
            Self::Server => {
                PossibleValue::new("server").help("Let the API server check every patch and forget it")
            }
        })
    }
}
