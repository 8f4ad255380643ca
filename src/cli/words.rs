//! Words that people type and that are no part of the command line: kubectl's verbs and kinds, and flags with another name. Each gets the
//! command that does it.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use super::global;
use crate::error::UsageError;

/// What is typed for a command, and what does it.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &["get", "list", "ls", "show"],
        "kubectl dra claims, devices, taints or reserved lists what there is",
    ),
    (
        &["claim", "resourceclaim", "resourceclaims", "rclaim", "rc"],
        "kubectl dra claims lists claims; kubectl dra describe claim NAME tells about one",
    ),
    (
        &[
            "device",
            "slice",
            "slices",
            "resourceslice",
            "resourceslices",
            "gpu",
            "gpus",
            "nic",
            "nics",
            "pool",
            "pools",
        ],
        "kubectl dra devices lists devices; kubectl dra describe device NAME or pool NAME tells about one",
    ),
    (
        &["class", "classes", "deviceclass", "deviceclasses"],
        "kubectl dra devices --class CLASS lists the devices of a class; kubectl dra describe class NAME tells about it",
    ),
    (
        &["po", "pod", "pods"],
        "kubectl dra describe pod NAME tells what a pod has; kubectl dra explain pod/NAME why it waits",
    ),
    (
        &["no", "node", "nodes"],
        "kubectl dra devices --node NODE lists the devices of a node; kubectl dra describe node NODE tells about it",
    ),
    (
        &[
            "podgroup",
            "podgroups",
            "reservation",
            "reservations",
            "consumers",
        ],
        "kubectl dra reserved lists whom claims are reserved for",
    ),
    (
        &["top", "usage", "use", "capacity", "summary", "overview"],
        "kubectl dra status tells how much is in use, and by whom; kubectl dra devices --map draws it",
    ),
    (
        &["free", "available"],
        "kubectl dra devices --free lists what can be allocated",
    ),
    (
        &["drain", "cordon", "evict", "eviction"],
        "kubectl dra simulate eviction --node NODE tells what the taint of a node's devices does; nothing is changed",
    ),
    (
        &["why", "debug", "diagnose", "stuck", "waiting"],
        "kubectl dra explain pod/NAME tells why a pod waits, kubectl dra explain -A why all do",
    ),
    (
        &["pending"],
        "kubectl dra explain -A tells what waits, and why; kubectl dra claims -A --state pending lists claims without devices",
    ),
    (
        &["fit", "allocate", "allocation", "schedule", "dry-run", "dryrun"],
        "kubectl dra simulate allocation pod/NAME tells where something fits; nothing is changed",
    ),
    (
        &[
            "taint",
            "tainted",
            "rule",
            "rules",
            "devicetaintrule",
            "devicetaintrules",
        ],
        "kubectl dra taints lists taints; kubectl dra simulate eviction --taint TAINT tells what another one would do",
    ),
    (
        &[
            "doctor",
            "lint",
            "validate",
            "verify",
            "audit",
            "test",
            "health",
            "healthy",
            "unhealthy",
        ],
        "kubectl dra check looks for what is wrong",
    ),
    (
        &["downgrade", "upgrade", "rollback"],
        "kubectl dra check --to-version VERSION tells what another release breaks, kubectl dra convert plan --to-version VERSION the steps of a downgrade",
    ),
    (
        &["migrate", "transform", "fix", "repair"],
        "kubectl dra convert plan tells which reservations can be converted; kubectl dra check names what to repair",
    ),
    (
        &["backup", "dump", "export", "save", "capture", "must-gather"],
        "kubectl dra snapshot --out FILE writes the state of the cluster into a file",
    ),
    (
        &["watch"],
        "kubectl dra claims -w and devices -w go on and print what changes",
    ),
    (
        &["event", "events", "logs", "log"],
        "kubectl dra describe shows the events of an object; kubectl logs shows those of a driver's pod",
    ),
    (
        &[
            "delete", "remove", "release", "free-up", "apply", "create", "edit", "patch",
        ],
        "only kubectl dra convert and run change a cluster; kubectl delete, apply, edit and patch do the rest",
    ),
    (
        &["controller", "controllers", "operator", "shadow"],
        "kubectl dra run compares the controllers with the rules, or does their work",
    ),
    (
        &["selector", "expr", "expression", "match", "query"],
        "kubectl dra cel EXPRESSION tries a selector",
    ),
    (
        &["driver", "drivers"],
        "kubectl dra status lists drivers; kubectl dra check --driver DRIVER tells what keeps one in use",
    ),
    (
        &["flags"],
        "kubectl dra options lists the flags that all commands have",
    ),
    (
        &["config", "login", "init", "install"],
        "there is nothing to set up: the configuration is that of kubectl",
    ),
];

/// Flags that are typed for others: with the commands for which it is so, or none for all.
const FLAGS: &[(&[&str], &[&str], &str)] = &[
    (&["--status", "--phase", "--states"], &["claims"], "--state"),
    (
        &[
            "--to",
            "--version",
            "--target",
            "--target-version",
            "--downgrade",
            "--upgrade",
        ],
        &["check", "plan", "verify", "convert"],
        "--to-version",
    ),
    (
        &["--code", "--codes", "--finding", "--rule", "--select"],
        &["check"],
        "--only",
    ),
    (&["--ignore", "--exclude", "--except"], &["check"], "--skip"),
    (&["--gate", "--without-gate"], &["check"], "--disable-gate"),
    (&["--severity", "--level"], &["check"], "--fail-on"),
    (&["--ns", "--namespaces", "--name-space"], &[], "--namespace"),
    (&["--all", "--all-namespace"], &[], "--all-namespaces"),
    (&["--file", "--output-file"], &["snapshot"], "--out"),
    (&["--file", "--input", "--snapshot"], &[], "--from"),
    (&["--format"], &[], "--output"),
    (&["--label", "--labels"], &[], "--selector"),
    (&["--follow"], &[], "--watch"),
    (&["--sort"], &[], "--sort-by"),
    (&["--no-color", "--no-colour", "--colour"], &[], "--color"),
    (&["--verbose"], &[], "--v"),
    (&["--nodes", "--node-name", "--on"], &[], "--node"),
    (&["--drivers"], &[], "--driver"),
    (&["--dry-run-only", "--dryrun"], &[], "--dry-run"),
    (&["--short"], &["version"], "--client"),
    (&["--once", "--duration", "--until"], &["run"], "--for"),
];

/// What is named where a command takes no names, and what is about one thing in its place.
const NAMES: &[(&str, &str)] = &[
    (
        "check",
        "kubectl dra describe KIND NAME ends with the findings of one object",
    ),
    (
        "eviction",
        "kubectl dra simulate eviction --node NODE tells of the devices of a node, --driver, --pool and --device of others",
    ),
    (
        "status",
        "kubectl dra status --by owner, class or node tells who uses devices; -n NAMESPACE looks at one namespace",
    ),
    (
        "taints",
        "kubectl dra describe device NAME tells about one device, kubectl dra devices --node NODE about those of a node",
    ),
    (
        "snapshot",
        "kubectl dra snapshot --out FILE writes the state of the cluster into a file",
    ),
];

/// How alike two flags must be for one to be meant by the other, of 1 for the same.
const ALIKE: f64 = 0.85;

/// The error of the parser, or one that says what was probably meant. `args` are those that `root` could not read.
pub(super) fn meant(error: clap::Error, args: &[OsString], root: &Command) -> anyhow::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (path, command) = called(args, root);
    let hint = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            text(ContextKind::InvalidSubcommand).map(|word| of_command(&word, &path, command))
        }
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg).map(|word| {
            if word.starts_with('-') {
                of_flag(&word, &path, command)
            } else {
                of_name(&word, &path, command)
            }
        }),
        _ => None,
    };
    hint.map_or_else(|| error.into(), Into::into)
}

/// The command that `args` call, and its name.
fn called<'c>(args: &[OsString], root: &'c Command) -> (String, &'c Command) {
    let mut path = "kubectl dra".to_owned();
    let mut command = root;
    for arg in args.iter().skip(1) {
        match command.find_subcommand(arg) {
            Some(subcommand) => command = subcommand,
            None => break,
        }
        path.push(' ');
        path.push_str(command.get_name());
    }
    (path, command)
}

fn of_command(word: &str, path: &str, command: &Command) -> UsageError {
    let error = UsageError::new(format!("`{path}` has no command `{word}`"));
    let lower = word.to_lowercase();
    let known = COMMANDS.iter().find(|(words, _)| words.contains(&lower.as_str()));
    let names = command.get_subcommands().filter(|one| !one.is_hide_set());
    let alike = alike(&lower, names.map(Command::get_name));
    match (known, alike) {
        (Some((_, hint)), _) => error.hint(*hint),
        (None, Some(name)) => error.hint(format!("{path} {name}")),
        (None, None) => error.hint(format!("{path} --help lists the commands")),
    }
}

fn of_name(word: &str, path: &str, command: &Command) -> UsageError {
    let error = UsageError::new(format!("`{path}` does not take `{word}`"));
    let known = NAMES.iter().find(|(name, _)| *name == command.get_name());
    match known {
        Some((_, hint)) => error.hint(*hint),
        None => error.hint(format!("{path} --help lists what it takes")),
    }
}

fn of_flag(flag: &str, path: &str, command: &Command) -> UsageError {
    let error = UsageError::new(format!("`{path}` has no flag `{flag}`"));
    let help = format!("{path} --help lists the flags");
    // A long flag is written with two dashes in front of its name.
    let name = |flag: &str| flag.trim_start_matches('-').to_owned();
    let flags: Vec<&str> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !is_about_connection(arg))
        .filter_map(Arg::get_long)
        .collect();
    let known = FLAGS.iter().find(|(words, commands, instead)| {
        words.contains(&flag)
            && (commands.is_empty() || commands.contains(&command.get_name()))
            && flags.contains(&name(instead).as_str())
    });
    if let Some((.., instead)) = known {
        return error.hint(format!("`{instead}` is meant, perhaps; {help}"));
    }
    let word = name(flag);
    let mut begun = flags
        .iter()
        .filter(|known| word.len() > 1 && known.starts_with(&word));
    let begun = begun.next().filter(|_| begun.next().is_none());
    match begun.copied().or_else(|| alike(&word, flags.iter().copied())) {
        Some(found) => error.hint(format!("`--{found}` is meant, perhaps; {help}")),
        None => error.hint(help),
    }
}

/// Whether a flag only says which cluster to ask, and how. A mistyped flag of a command never means one of those.
fn is_about_connection(arg: &Arg) -> bool {
    arg.get_help_heading() == Some(global::CONNECTION)
}

/// The one of `names` that is most like `word`, if one is alike at all.
fn alike<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names
        .map(|name| (name, strsim::jaro_winkler(word, name)))
        .filter(|(_, likeness)| *likeness >= ALIKE)
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::command_line;
    use super::*;

    #[test]
    fn each_word_stands_once_and_is_no_command_itself() {
        let root = command_line();
        let mut words = BTreeSet::new();
        for word in COMMANDS.iter().flat_map(|(words, _)| *words) {
            assert!(words.insert(*word), "{word} twice");
            assert!(root.find_subcommand(word).is_none(), "{word}");
        }
    }

    #[test]
    fn what_a_hint_names_exists() {
        let mut root = command_line();
        root.build();
        let names = NAMES.iter().map(|(_, hint)| hint);
        for hint in COMMANDS.iter().map(|(_, hint)| hint).chain(names) {
            for rest in hint.split("kubectl dra ").skip(1) {
                let words: Vec<&str> = rest.split([' ', ',', ';', ':']).collect();
                let command = root.find_subcommand(words[0]).unwrap_or_else(|| panic!("{hint}"));
                let command = command.find_subcommand(words[1]).unwrap_or(command);
                for flag in words.iter().filter_map(|word| word.strip_prefix("--")) {
                    let mut longs = command.get_arguments().filter_map(Arg::get_long);
                    assert!(longs.any(|long| long == flag), "{hint}: --{flag}");
                }
            }
        }
    }
}
