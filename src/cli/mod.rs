//! The command line: global flags, subcommands, and what kubectl users expect of both.
//!
//! Parsing only looks at the arguments. It ends in [`Settings`] and a command, or in text for the user; running is the
//! library's `main`.

mod argv;
mod complete;
mod global;
mod help;
mod values;
mod words;

use std::ffi::{OsStr, OsString};

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};

use crate::commands::{ACCEPTED, Command};
use crate::context::{FleetSetting, Settings, SourceSetting};
use crate::error::UsageError;

pub(crate) use complete::{complete, settings_of, settings_so_far};
pub(crate) use global::printable;
pub(crate) use help::toned;

/// Inspect, explain and simulate Dynamic Resource Allocation (DRA)
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-dra",
    bin_name = "kubectl dra",
    version,
    args_override_self = true,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = WIDTH,
    next_line_help = false,
    before_help = EXAMPLES,
    after_help = EXIT_CODES
)]
struct Cli {
    #[command(flatten)]
    global: global::GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

/// Help is not set wider than this.
const WIDTH: usize = 110;

const EXAMPLES: &str = "\
Examples:
  # Show what is in use in the current cluster
  kubectl dra status
  # Explain why a pod is pending, and how to fix it
  kubectl dra explain pod/trainer-0 -n training
  # Try it on a built-in example, without a cluster
  kubectl dra explain pod/too-many --from example:pending";

const EXIT_CODES: &str = "\
Exit codes, the same for every format:
  0  done, or no problems found
  1  problems found, or it does not fit
  2  invalid usage
  3  the cluster, its API, a file or a stream failed
  4  unknown, because data is missing";

/// First argument of calls from the completion script.
const COMPLETE: &str = "__complete";

/// Result of parsing a command line.
#[derive(Debug)]
pub(crate) enum Invocation {
    Run(Box<Settings>, Box<Command>),
    /// Help or the version, printed to stdout.
    Show(String),
    /// The words typed so far, the last one being completed.
    Complete(Vec<OsString>),
}

/// Reads the arguments, the program's name first.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> anyhow::Result<Invocation> {
    let mut args = args.into_iter().peekable();
    let program = args.next().unwrap_or_else(|| "kubectl-dra".into());
    // Words that are not finished are no command line yet.
    let called_to_complete = complete::is_completion_script(&program);
    if called_to_complete || args.next_if(|first| first == OsStr::new(COMPLETE)).is_some() {
        return Ok(Invocation::Complete(args.collect()));
    }
    let mut command = command_line();
    let args = argv::normalize(std::iter::once(program).chain(args), &command);
    let args = help::asked_by_word(args, &command);
    let mut matches = match command.try_get_matches_from_mut(&args) {
        Ok(matches) => matches,
        Err(error) => return shown(error, &args),
    };
    if matches.subcommand_name() == Some(help::OPTIONS) {
        return Ok(Invocation::Show(help::options(&all_flags())));
    }
    let Cli {
        global,
        command: subcommand,
    } = Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))?;
    let settings = global.resolve();
    if let SourceSetting::Files(names) = &settings.source
        && names.iter().any(|name| name == "example:")
    {
        return Ok(Invocation::Show(help::examples()));
    }
    if let (Some(FleetSetting::Contexts(contexts)), SourceSetting::Cluster(connection)) =
        (&settings.fleet, &settings.source)
        && contexts.len() > 1
        && (connection.cluster.is_some() || connection.server.is_some())
    {
        let error = UsageError::new("`--cluster` and `--server` cannot be used with several contexts");
        return Err(error.hint("remove them: each context names its cluster").into());
    }
    let (name, accepts) = subcommand.accepts();
    let checked = accepts.check(name, &settings);
    checked.map_err(|(error, flag)| match flag {
        Some(flag) => words::refused(error, flag, &args, &built()),
        None => error,
    })?;
    Ok(Invocation::Run(Box::new(settings), Box::new(subcommand)))
}

/// The commands with their flags, those of the program being everybody's. Files replace a cluster: there is nothing that the flags of a
/// connection could apply to.
fn all_flags() -> clap::Command {
    let command = Cli::command();
    let connection = command
        .get_arguments()
        .filter(|flag| words::is_about_connection(flag));
    let connection: Vec<_> = connection.map(|flag| flag.get_id().clone()).collect();
    command.mut_args(|flag| match flag.get_id().as_str() {
        "from" | "fleet" => flag.global(true).conflicts_with_all(&connection),
        _ => flag.global(true),
    })
}

/// The whole command line as data, in which each command has the flags of the program.
pub(crate) fn built() -> clap::Command {
    let mut command = command_line();
    command.build();
    command
}

/// The whole command line as data. Every run makes it: the texts are not ready to be shown as help.
pub(crate) fn command_line() -> clap::Command {
    let mut command = help::shape(all_flags());
    for (name, accepts) in ACCEPTED {
        // A flag that a command does not take is one of its own that help does not show: global flags give way to it,
        // and the command can say why it is refused.
        let hidden: Vec<_> = command
            .get_arguments()
            .filter(|flag| accepts.refuses(flag.get_id().as_str()))
            .map(|flag| flag.clone().hide(true))
            .collect();
        let formats = command
            .get_arguments()
            .filter(|flag| flag.get_id() == "output" && !accepts.refuses("output"))
            .map(|flag| flag.clone().value_parser(values::formats(&accepts.formats())))
            .collect::<Vec<_>>();
        command = command.mut_subcommand(*name, |subcommand| subcommand.args(hidden).args(formats));
    }
    command
}

/// Help that was asked for, or that lists what can follow, is an answer and goes to stdout, as with kubectl.
fn shown(error: clap::Error, args: &[OsString]) -> anyhow::Result<Invocation> {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let again = help::kept(command_line()).try_get_matches_from(args);
            let error = again.err().unwrap_or(error);
            Ok(Invocation::Show(help::set(&error.render())))
        }
        _ => Err(words::meant(error, args, &built())),
    }
}

#[cfg(test)]
mod tests;
