//! Arguments as people type them for kubectl, rewritten for the parser.
//!
//! kubectl's flags are pflag's, which differ from clap's in two habits that scripts rely on: a switch can have a value
//! (`--all-namespaces=false`), and global flags work before the subcommand as well as after it. clap supports the second
//! too, but drops the first of a repeated flag (`--from a claims --from b`). With all flags after the subcommand they add
//! up, and clap reports conflicts between them.
//!
//! Commands can be abbreviated (`sim alloc`), and lists can be typed as in kubectl (`get claims`).

use std::ffi::{OsStr, OsString};

use clap::{Arg, ArgAction, Command};
use dra_sources::go_bool;

/// kubectl's verbs for a list, in front of the commands that print one.
const LIST_VERBS: [&str; 4] = ["get", "list", "ls", "show"];
const LISTS: [&str; 4] = ["claims", "devices", "taints", "reserved"];

/// Returns `args` with the full names of subcommands first and switches without values. Flags of `root` are those of all commands.
///
/// Arguments that are not understood keep their place, so that the parser reports them.
pub(super) fn normalize(args: impl IntoIterator<Item = OsString>, root: &Command) -> Vec<OsString> {
    let mut args = args.into_iter().peekable();
    let mut commands: Vec<OsString> = args.next().into_iter().collect();
    let mut rest = Vec::new();
    let mut command = root;
    let mut may_be_command = true;
    while let Some(arg) = args.next() {
        match read(&arg, &[command, root]) {
            Read::End => {
                rest.push(arg);
                rest.extend(args);
                break;
            }
            Read::Word => {
                if let Some(found) = subcommand(command, &arg).filter(|_| may_be_command) {
                    command = found;
                    commands.push(found.get_name().into());
                } else if may_be_command
                    && LIST_VERBS.iter().any(|verb| arg == *verb)
                    && args.peek().is_some_and(|next| is_list(root, next))
                {
                    // The list follows, which needs no verb.
                } else {
                    may_be_command = false;
                    rest.push(arg);
                }
            }
            Read::Flag(awaiting) => {
                rest.push(arg);
                if awaiting.is_some() {
                    rest.extend(args.next());
                }
            }
            Read::Switch { name, on } => rest.extend(on.then(|| OsString::from(name))),
        }
    }
    commands.append(&mut rest);
    commands
}

/// Returns the subcommand with this name, or the only one whose name or alias starts with it. Names are not abbreviated where a command also
/// takes objects: they would hide objects.
pub(super) fn subcommand<'c>(command: &'c Command, word: &OsStr) -> Option<&'c Command> {
    command.find_subcommand(word).or_else(|| {
        let word = word.to_str().filter(|word| !word.is_empty())?;
        let mut begun = command.get_subcommands().filter(|subcommand| {
            let mut names = subcommand.get_all_aliases().chain([subcommand.get_name()]);
            names.any(|name| name.starts_with(word))
        });
        let only = begun.next().filter(|_| begun.next().is_none());
        only.filter(|_| command.get_positionals().next().is_none())
    })
}

fn is_list(root: &Command, word: &OsStr) -> bool {
    subcommand(root, word).is_some_and(|found| LISTS.contains(&found.get_name()))
}

/// Returns the words among `args` that are neither flags of `command` nor their values.
pub(super) fn names<'a>(args: &'a [String], command: &Command) -> impl Iterator<Item = &'a String> {
    let mut is_value = false;
    args.iter().filter(move |arg| {
        let read = read(OsStr::new(arg.as_str()), &[command]);
        let is_name = !is_value && matches!(read, Read::Word);
        is_value = matches!(read, Read::Flag(Some(_)));
        is_name
    })
}

/// Kind of an argument.
pub(super) enum Read<'c> {
    /// `--`: no flags follow.
    End,
    /// A subcommand or a name.
    Word,
    /// A flag to keep. Where there is one here, the next argument is its value.
    Flag(Option<&'c Arg>),
    /// A switch with its value.
    Switch { name: String, on: bool },
}

/// Reads an argument where the flags of these commands can stand.
pub(super) fn read<'c>(arg: &OsStr, commands: &[&'c Command]) -> Read<'c> {
    let Some(text) = arg.to_str() else {
        return Read::Word;
    };
    if text == "--" {
        Read::End
    } else if let Some(long) = text.strip_prefix("--") {
        let (name, value) = long
            .split_once('=')
            .map_or((long, None), |(name, value)| (name, Some(value)));
        let flag = commands.iter().find_map(|command| long_flag(command, name));
        match (flag, value) {
            (Some(flag), Some(value)) if !takes_value(flag) => switch(format!("--{name}"), value),
            (flag, None) => Read::Flag(flag.filter(|flag| takes_value(flag))),
            _ => Read::Flag(None),
        }
    } else if text.len() > 1 && text.starts_with('-') {
        short_flags(text, commands)
    } else {
        Read::Word
    }
}

/// `-A`, `-nNAME`, `-n NAME`, `-wA`, `-A=false`.
fn short_flags<'c>(text: &str, commands: &[&'c Command]) -> Read<'c> {
    for (at, name) in text.char_indices().skip(1) {
        let mut flags = commands.iter().flat_map(|command| command.get_arguments());
        let Some(flag) = flags.find(|arg| arg.get_short() == Some(name)) else {
            break;
        };
        let rest = &text[at + name.len_utf8()..];
        if takes_value(flag) {
            return Read::Flag(Some(flag).filter(|_| rest.is_empty()));
        }
        if let Some(value) = rest.strip_prefix('=') {
            return match switch(text[..at + name.len_utf8()].to_owned(), value) {
                // The switches before this one are on in any case.
                Read::Switch { name, on: false } if at > 1 => Read::Switch {
                    name: name[..at].to_owned(),
                    on: true,
                },
                other => other,
            };
        }
    }
    Read::Flag(None)
}

fn switch(name: String, value: &str) -> Read<'static> {
    match go_bool(value) {
        Some(on) => Read::Switch { name, on },
        None => Read::Flag(None),
    }
}

pub(super) fn long_flag<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    let is_called = |arg: &&Arg| {
        arg.get_long() == Some(name)
            || arg
                .get_all_aliases()
                .is_some_and(|aliases| aliases.contains(&name))
    };
    command.get_arguments().find(is_called)
}

pub(super) fn takes_value(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Set | ArgAction::Append)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        let switch = |name: &'static str, short| {
            Arg::new(name)
                .long(name)
                .short(short)
                .action(ArgAction::SetTrue)
                .global(true)
        };
        let value = |name: &'static str, short| {
            Arg::new(name)
                .long(name)
                .short(short)
                .action(ArgAction::Append)
                .global(true)
        };
        Command::new("kubectl-dra")
            .args([
                switch("all", 'A'),
                switch("watch", 'w'),
                value("namespace", 'n'),
                value("from", 'f'),
            ])
            .subcommand(Command::new("claims").arg(Arg::new("names").num_args(0..)))
            .subcommand(Command::new("convert").subcommand(Command::new("plan")))
    }

    #[test]
    fn arguments_are_put_as_the_parser_wants_them() {
        let command = command();
        for (typed, expected) in [
            ("claims", "claims"),
            ("-n a claims x", "claims -n a x"),
            ("cl x", "claims x"),
            ("-n a conv pl", "convert plan -n a"),
            ("get claims x", "claims x"),
            ("-A get cl", "claims -A"),
            ("get pods", "get pods"),
            ("--from a claims --from b", "claims --from a --from b"),
            ("--from claims claims", "claims --from claims"),
            ("-n=a convert -A plan", "convert plan -n=a -A"),
            ("-na claims", "claims -na"),
            ("-wn a claims", "claims -wn a"),
            ("claims --all=false", "claims"),
            ("claims --all=true x", "claims --all x"),
            ("claims -A=false", "claims"),
            ("claims -A=1", "claims -A"),
            ("claims -wA=false", "claims -w"),
            ("claims -wA=true", "claims -wA"),
            ("claims --all=maybe", "claims --all=maybe"),
            ("claims --namespace=true", "claims --namespace=true"),
            ("claims --namespace --all=false", "claims --namespace --all=false"),
            ("--nope claims", "claims --nope"),
            ("claims convert", "claims convert"),
            ("claims -- --all=false -n", "claims -- --all=false -n"),
            ("-- claims", "-- claims"),
            ("nope claims", "nope claims"),
            ("claims -", "claims -"),
            ("--from", "--from"),
            ("help claims", "help claims"),
            ("", ""),
        ] {
            let args = ["kubectl-dra"]
                .into_iter()
                .chain(typed.split_whitespace())
                .map(OsString::from);
            let normalized = normalize(args, &command);
            let text: Vec<_> = normalized[1..].iter().map(|arg| arg.to_string_lossy()).collect();
            assert_eq!(text.join(" "), expected, "{typed:?}");
        }
    }
}
