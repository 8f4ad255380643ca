//! Help as people read it: what the command is for, examples, its own flags. The flags that all commands share have a page of their own,
//! as `kubectl options` has.
//!
//! What a command says of itself stands in its file: the doc comment of its `Args`, and examples as `before_help`.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};

use crate::output::{glued, unglued, whole};

/// The word for the help of the command that the words behind it name.
pub(super) const HELP: &str = "help";
/// The flag that the word stands for, which is for the word alone.
const AT_LENGTH: &str = "help-at-length";
/// How the help at length is called for, but for the command that it is of.
const AT_LENGTH_BY: &str = "kubectl dra help";
/// The word for the flags that all commands have.
pub(super) const OPTIONS: &str = "options";

/// Shared flags that are used so often that each command's help shows them.
const COMMON: [&str; 5] = ["namespace", "all_namespaces", "selector", "output", "from"];

const COMMON_HEADING: &str = "Options of every command (all: `kubectl dra options`)";

const TEMPLATE: &str = "{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// Gives `root` and all commands below it one form of help, for `-h`, `--help` and `help`.
pub(super) fn shape(root: Command) -> Command {
    let words = [
        Command::new(OPTIONS).about("Print the options that every command has"),
        Command::new(HELP).about("Print the help of a command"),
    ];
    let shared = root.mut_args(|arg| {
        if !arg.is_global_set() {
            arg
        } else if COMMON.contains(&arg.get_id().as_str()) {
            arg.help_heading(COMMON_HEADING)
        } else {
            arg.hide_short_help(true).hide_long_help(true)
        }
    });
    shaped(shared.disable_help_subcommand(true).subcommands(words), "")
}

/// Help is set by clap, which breaks lines at any space: at none within what is copied, the lines of examples above all.
fn kept_whole(text: &str) -> String {
    let mut is_example = false;
    let lines = text.split('\n').map(|line| {
        is_example = line == "Examples:" || is_example && line.starts_with("  ");
        if is_example { whole(line) } else { glued(line) }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The flag with its help kept whole.
fn kept(flag: Arg) -> Arg {
    let text = |part: Option<&StyledStr>| part.map(|text| kept_whole(&text.to_string()));
    let (short, long) = (text(flag.get_help()), text(flag.get_long_help()));
    let flag = match short {
        Some(short) => flag.help(short),
        None => flag,
    };
    match long {
        Some(long) => flag.long_help(long),
        None => flag,
    }
}

/// What clap has set, as people read it.
pub(super) fn set(rendered: &StyledStr) -> String {
    unglued(&rendered.to_string())
}

/// `path` is the names of the commands above `command` and its own, each behind a space.
fn shaped(command: Command, path: &str) -> Command {
    let text = |part: Option<&StyledStr>| part.map(StyledStr::to_string);
    let about = text(command.get_about()).unwrap_or_default();
    let listed = kept_whole(&about);
    // The first paragraph of the long form is the short form.
    let details =
        text(command.get_long_about()).and_then(|long| Some(long.strip_prefix(&about)?.trim().to_owned()));
    let top = [Some(about), text(command.get_before_help())];
    let end = [details, text(command.get_after_help())];
    let joined = |parts: [Option<String>; 2]| parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    let more = if path.is_empty() { " COMMAND" } else { path };
    let help = Arg::new(HELP)
        .short('h')
        .long(HELP)
        .action(ArgAction::HelpShort)
        .help(format!("Print help (more: `{AT_LENGTH_BY}{more}`)"));
    let at_length = Arg::new(AT_LENGTH)
        .long(AT_LENGTH)
        .action(ArgAction::HelpLong)
        .hide(true);
    let command = if listed.is_empty() {
        command
    } else {
        command.about(listed)
    };
    command
        .mut_args(kept)
        .before_help(kept_whole(&joined(top)))
        .after_help(kept_whole(&joined(end)))
        .help_template(TEMPLATE)
        .disable_help_flag(true)
        .args([kept(help), at_length])
        .mut_subcommands(|subcommand| {
            let path = format!("{path} {}", subcommand.get_name());
            shaped(subcommand, &path)
        })
}

/// The page of the flags of `root` that all commands have. `root` is not in its shape yet.
pub(super) fn options(root: &Command) -> String {
    let flags = root
        .get_arguments()
        .filter(|flag| flag.is_global_set())
        .map(|flag| kept(flag.clone()).hide_short_help(false));
    let rendered = Command::new("kubectl dra options")
        .args(flags)
        .disable_help_flag(true)
        .max_term_width(super::WIDTH)
        .before_help("Every command takes these options, as far as they mean something to it.")
        .help_template("{before-help}{all-args}")
        .render_help();
    set(&rendered)
}

/// `args`, the program's name first, with `help COMMAND` written as `COMMAND` and the flag for help at length.
pub(super) fn asked_by_word(mut args: Vec<OsString>, root: &Command) -> Vec<OsString> {
    let mut command = root;
    for at in 1..args.len() {
        if args[at] == HELP {
            args.remove(at);
            args.push(
                if args.len() > 1 {
                    format!("--{AT_LENGTH}")
                } else {
                    format!("--{HELP}")
                }
                .into(),
            );
            break;
        }
        match command.find_subcommand(&args[at]) {
            Some(subcommand) => command = subcommand,
            None => break,
        }
    }
    args
}
