//! Help pages: the purpose of a command, examples, its own flags. The flags that all commands share have a page of their own, as
//! `kubectl options` has.
//!
//! The text of a command is in its file: the doc comment of its `Args`, and examples as `before_help`.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::builder::{Resettable, StyledStr};
use clap::{Arg, ArgAction, Command};

use super::argv;
use crate::output::{Tone, glued, unglued, whole};

/// Word for the help of the command whose words follow.
pub(super) const HELP: &str = "help";
/// Flag that the word is rewritten to.
const AT_LENGTH: &str = "help-at-length";
/// The same as it is typed, by `help COMMAND`.
pub(super) const ASKED: &str = "--help-at-length";
/// Command for long help, without the command that it is about.
const AT_LENGTH_BY: &str = "kubectl dra help";
/// Word for the flags that all commands share.
pub(super) const OPTIONS: &str = "options";

/// Commands on the first page, most wanted first.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Diagnose", &["explain", "check", "describe", "cel"]),
    (
        "Look",
        &[
            "status", "top", "claims", "devices", "taints", "reserved", "diff", "report",
        ],
    ),
    ("Simulate", &["simulate allocation", "simulate eviction"]),
    ("Change", &["convert", "run"]),
    (
        "Other",
        &["export", "snapshot", "version", "completion", OPTIONS, HELP],
    ),
];

/// Template of the first page, in front of the groups.
const FIRST: &str = "{before-help}{usage-heading} {usage}";

/// Shared flags that are used so often that the help of each command lists them.
const COMMON: [&str; 5] = ["namespace", "all_namespaces", "selector", "output", "from"];

const COMMON_HEADING: &str = "Global options (all: `kubectl dra options`)";

const TEMPLATE: &str = "{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// Gives `root` and all commands below it the same form of help, for `-h`, `--help` and `help`, before it is [`kept`] whole.
pub(super) fn shape(root: Command) -> Command {
    let words = [
        Command::new(OPTIONS).about("Print the options that all commands share"),
        Command::new(HELP).about("Print help for a command"),
    ];
    let shared = root.mut_args(|arg| {
        if COMMON.contains(&arg.get_id().as_str()) {
            arg.help_heading(COMMON_HEADING)
        } else {
            arg.hide_short_help(true).hide_long_help(true)
        }
    });
    let shared = shared.next_help_heading(None).disable_help_subcommand(true);
    let root = shaped(shared.subcommands(words), "");
    let groups = groups(&root);
    root.help_template(format!(
        "{FIRST}\n\n{groups}{COMMON_HEADING}:\n{{options}}{{after-help}}"
    ))
}

/// The commands below `root` by group, which clap has no means for.
fn groups(root: &Command) -> String {
    let names = root.get_subcommands().map(|command| command.get_name().len());
    let least = names.max().unwrap_or_default();
    let mut text = String::new();
    for (heading, paths) in GROUPS {
        let width = paths.iter().fold(least, |width, path| width.max(path.len()));
        text.push_str(heading);
        text.push_str(":\n");
        for path in paths {
            let found = path
                .split(' ')
                .try_fold(root, |command, word| command.find_subcommand(word));
            let about = found.and_then(Command::get_about).map(StyledStr::to_string);
            // Writing to a text does not fail.
            let _ = writeln!(text, "  {path:width$}  {}", about.unwrap_or_default());
        }
        text.push('\n');
    }
    text
}

/// The built-in examples, for `--from example:`.
pub(super) fn examples() -> String {
    let width = dra_sources::examples::all()
        .map(|example| example.name.len())
        .max();
    let width = width.unwrap_or_default();
    let mut text = "Examples (`--from example:NAME`):\n".to_owned();
    for example in dra_sources::examples::all() {
        // Writing to a text does not fail.
        let _ = writeln!(text, "  {:width$}  {}", example.name, example.about);
    }
    text
}

/// A page in parts with their tones: headings, and the commands, flags and values that begin the lines of lists.
pub(crate) fn toned(page: &str) -> impl Iterator<Item = (Tone, &str)> {
    page.split_inclusive('\n').flat_map(|line| {
        let begin = line.len() - line.trim_start().len();
        let (tone, end) = match line.trim_start() {
            rest if begin == 0 && rest.starts_with("Usage:") => (Tone::Strong, "Usage:".len()),
            rest if begin == 0 && rest.trim_end().ends_with(':') => (Tone::Strong, line.len()),
            // What begins a line of a list ends at two spaces.
            rest if matches!(begin, 2 | 6) && (rest.starts_with('-') || rest.contains("  ")) => {
                let end = rest.find("  ").unwrap_or(rest.trim_end().len());
                (Tone::Number(0), begin + end)
            }
            _ => (Tone::Plain, begin),
        };
        let begin = if tone == Tone::Strong { 0 } else { begin };
        [
            (Tone::Plain, &line[..begin]),
            (tone, &line[begin..end]),
            (Tone::Plain, &line[end..]),
        ]
    })
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

/// `command` and all commands below it with their help kept whole: takes longer than most commands do.
pub(super) fn kept(command: Command) -> Command {
    let about = kept_text(command.get_about());
    let (before, after) = (
        kept_text(command.get_before_help()),
        kept_text(command.get_after_help()),
    );
    command
        .about(about)
        .before_help(before)
        .after_help(after)
        .mut_args(kept_flag)
        .mut_subcommands(kept)
}

/// The flag with its help kept whole.
fn kept_flag(flag: Arg) -> Arg {
    let (short, long) = (kept_text(flag.get_help()), kept_text(flag.get_long_help()));
    flag.help(short).long_help(long)
}

fn kept_text(text: Option<&StyledStr>) -> Resettable<StyledStr> {
    text.map(|text| StyledStr::from(kept_whole(&text.to_string())))
        .into()
}

/// Returns what clap has set, as people read it.
pub(super) fn set(rendered: &StyledStr) -> String {
    unglued(&rendered.to_string())
}

/// `path` is the names of the commands above `command` and its own, each behind a space.
fn shaped(command: Command, path: &str) -> Command {
    let text = |part: Option<&StyledStr>| part.map(StyledStr::to_string);
    let about = text(command.get_about()).unwrap_or_default();
    // The first paragraph of the long form is the short form.
    let details =
        text(command.get_long_about()).and_then(|long| Some(long.strip_prefix(&about)?.trim().to_owned()));
    let top = [Some(about), text(command.get_before_help())];
    let end = [details, text(command.get_after_help())];
    let joined = |parts: [Option<String>; 2]| parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    let more = if path.is_empty() { " COMMAND" } else { path };
    // Values of the program are typed in any case, as `-o JSON`.
    let any_case = |flag: Arg| {
        let is_choice = argv::takes_value(&flag) && !flag.get_possible_values().is_empty();
        flag.ignore_case(is_choice)
    };
    let help = Arg::new(HELP)
        .short('h')
        .long(HELP)
        .action(ArgAction::HelpShort)
        .help(format!("Print help (more: `{AT_LENGTH_BY}{more}`)"));
    let at_length = Arg::new(AT_LENGTH)
        .long(AT_LENGTH)
        .action(ArgAction::HelpLong)
        .hide(true);
    command
        .mut_args(any_case)
        .before_help(joined(top))
        .after_help(joined(end))
        .help_template(TEMPLATE)
        .disable_help_flag(true)
        .args([help, at_length])
        .mut_subcommands(|subcommand| {
            let path = format!("{path} {}", subcommand.get_name());
            shaped(subcommand, &path)
        })
}

/// The page of the flags of `root` that all commands have. `root` is not in its shape yet.
pub(super) fn options(root: &Command) -> String {
    let flags = root.get_arguments().map(|flag| kept_flag(flag.clone()));
    let rendered = Command::new("kubectl dra options")
        .args(flags)
        .disable_help_flag(true)
        .max_term_width(super::WIDTH)
        .before_help("Options that all commands share, where they apply.")
        .help_template("{before-help}{all-args}")
        .render_help();
    set(&rendered)
}

/// Returns `args`, the program's name first, with `help COMMAND` rewritten as `COMMAND` with the flag for long help.
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
        match argv::subcommand(command, &args[at]) {
            Some(subcommand) => command = subcommand,
            None => break,
        }
    }
    args
}
