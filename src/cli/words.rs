//! Words that people type and that are not part of the command line: kubectl's verbs and kinds, and flags with another name. Each gets a
//! command that does what was meant, with the names and flags that were typed.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use itertools::Itertools;

use super::{argv, global, values};
use crate::error::UsageError;
use dra_reports::findings::Code;
use dra_reports::script::{Arguments, Script};

/// A command for words that are typed in its place.
struct Instead {
    words: &'static [&'static str],
    /// Command without a name.
    bare: &'static str,
    /// Command for a name, which stands in place of the word in capitals; empty where `bare` takes names as they are.
    named: &'static str,
    /// Effect of the command, where its name does not say it.
    note: &'static str,
}

impl Instead {
    const fn new(words: &'static [&'static str], bare: &'static str) -> Self {
        Self {
            words,
            bare,
            named: "",
            note: "",
        }
    }

    const fn named(self, named: &'static str) -> Self {
        Self { named, ..self }
    }

    const fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }
}

/// Words in place of a command.
const COMMANDS: &[Instead] = &[
    Instead::new(&["get", "list", "ls", "show"], "kubectl dra claims").named("kubectl get NAMES"),
    Instead::new(&["pod", "pods", "po"], "kubectl dra explain").named("kubectl dra describe pod NAME"),
    Instead::new(&["node", "nodes", "no"], "kubectl dra status --by node")
        .named("kubectl dra describe node NAME"),
    Instead::new(&["pool", "pools"], "kubectl dra devices").named("kubectl dra describe pool NAME"),
    Instead::new(
        &["class", "classes", "deviceclass", "deviceclasses"],
        "kubectl get deviceclasses",
    )
    .named("kubectl dra describe class NAME"),
    Instead::new(&["driver", "drivers"], "kubectl dra status").named("kubectl dra explain driver/NAME"),
    Instead::new(&["podgroup", "podgroups"], "kubectl dra reserved"),
    Instead::new(&["free", "available"], "kubectl dra devices --free"),
    Instead::new(&["map"], "kubectl dra devices --map"),
    Instead::new(
        &["drain", "cordon", "evict", "eviction"],
        "kubectl dra simulate eviction --node NODE",
    )
    .named("kubectl dra simulate eviction --node NODE")
    .note("what it would evict"),
    Instead::new(
        &["fit", "allocate", "allocation", "schedule", "dry-run", "dryrun"],
        "kubectl dra simulate allocation pod/NAME",
    )
    .named("kubectl dra simulate allocation pod/NAME"),
    Instead::new(&["pending", "stuck", "waiting"], "kubectl dra explain -A")
        .named("kubectl dra explain pod/NAME"),
    Instead::new(&["verify"], "kubectl dra convert verify"),
    Instead::new(&["plan"], "kubectl dra convert plan"),
    Instead::new(
        &["restore", "rollback", "undo", "revert"],
        "kubectl dra convert restore --backup FILE",
    ),
    Instead::new(&["migrate", "transform"], "kubectl dra convert plan"),
    Instead::new(
        &["downgrade", "upgrade"],
        "kubectl dra check --to-version VERSION",
    )
    .named("kubectl dra check --to-version VERSION")
    .note("what it would break"),
    Instead::new(
        &[
            "fix",
            "repair",
            "health",
            "healthy",
            "unhealthy",
            "errors",
            "test",
        ],
        "kubectl dra check",
    )
    .named("kubectl dra explain pod/NAME"),
    Instead::new(&["watch"], "kubectl dra claims --watch"),
    Instead::new(&["event", "events"], "kubectl events").named("kubectl dra describe pod NAME"),
    Instead::new(
        &["controller", "controllers", "operator", "shadow"],
        "kubectl dra run",
    ),
    Instead::new(
        &["selector", "expr", "expression", "match", "query", "eval"],
        "kubectl dra cel EXPRESSION",
    )
    .named("kubectl dra cel EXPRESSION"),
    Instead::new(&["example", "examples"], "kubectl dra status --from example:"),
    Instead::new(&["login", "init", "install", "setup"], "kubectl dra status")
        .note("no setup needed: it uses the configuration of kubectl"),
];

/// Commands of kubectl that have no counterpart here.
const KUBECTL: &[&str] = &[
    "annotate",
    "api-resources",
    "apply",
    "attach",
    "auth",
    "config",
    "cp",
    "create",
    "delete",
    "edit",
    "exec",
    "label",
    "log",
    "logs",
    "patch",
    "port-forward",
    "replace",
    "rollout",
    "scale",
    "uncordon",
    "wait",
];

/// Flags that are typed for others, with their commands, or none for all.
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
    (
        &["-f", "--filename", "--file", "--input", "--snapshot"],
        &[],
        "--from",
    ),
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

/// Minimum similarity of two words for a suggestion, 1 for equality.
const ALIKE: f64 = 0.85;

/// Replaces the parser's error by one with the command that was probably meant. `args` are those that `root` could not read.
pub(super) fn meant(error: clap::Error, args: &[OsString], root: &Command) -> anyhow::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let typed = Typed::of(args, root);
    let better = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            text(ContextKind::InvalidSubcommand).map(|word| typed.unknown_command(&word))
        }
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg).map(|word| {
            if word.starts_with('-') {
                typed.unknown_flag(&word)
            } else {
                typed.unknown_name(&word)
            }
        }),
        ErrorKind::InvalidValue => text(ContextKind::InvalidArg)
            .filter(|flag| flag.starts_with("--output"))
            .and_then(|_| typed.unknown_format(&text(ContextKind::InvalidValue)?)),
        _ => None,
    };
    better.map_or_else(|| error.into(), Into::into)
}

/// A command line that could not be read.
struct Typed<'a> {
    root: &'a Command,
    /// Command as far as it could be read, such as `kubectl dra simulate`.
    path: String,
    command: &'a Command,
    /// Arguments of the command.
    rest: &'a [OsString],
}

impl<'a> Typed<'a> {
    fn of(args: &'a [OsString], root: &'a Command) -> Self {
        let mut typed = Self {
            root,
            path: "kubectl dra".to_owned(),
            command: root,
            rest: args.get(1..).unwrap_or_default(),
        };
        while let [word, rest @ ..] = typed.rest
            && let Some(subcommand) = argv::subcommand(typed.command, word)
        {
            typed.path = format!("{} {}", typed.path, subcommand.get_name());
            typed.command = subcommand;
            typed.rest = rest;
        }
        typed
    }

    fn unknown_command(&self, word: &str) -> UsageError {
        let error = UsageError::new(match self.path.strip_prefix("kubectl dra ") {
            None => format!("unknown command `{word}`"),
            Some(command) => format!("unknown command `{word}` of `{command}`"),
        });
        let lower = word.to_lowercase();
        let is_meant = |instead: &&Instead| instead.words.contains(&lower.as_str());
        if let Some(instead) = COMMANDS.iter().find(is_meant) {
            return error.hint(self.instead(word, instead));
        }
        if KUBECTL.contains(&lower.as_str()) {
            let verb = if lower == "log" { "logs" } else { lower.as_str() };
            return error.hint(line(
                ["kubectl", verb]
                    .into_iter()
                    .map(str::to_owned)
                    .chain(self.but(word)),
            ));
        }
        if let Some((kind, name)) = word.split_once('/') {
            return error.hint(self.about(kind, name, word));
        }
        let names: Vec<&str> = self
            .command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        let begun = names.iter().filter(|name| name.starts_with(&lower)).copied();
        let path = &self.path;
        match begun.collect_vec().as_slice() {
            [] => error.hint(match alike(&lower, names.into_iter()) {
                Some(name) => self.first_read(&format!("{path} {name}"), &self.but(word)),
                None => format!("{path} --help"),
            }),
            begun => error.hint(format!(
                "did you mean {}?",
                begun.iter().map(|name| format!("`{name}`")).join(" or ")
            )),
        }
    }

    /// The command line of `instead`, with the typed names and flags as far as it takes them.
    fn instead(&self, word: &str, instead: &Instead) -> String {
        let rest = self.but(word);
        let names: Vec<&String> = self.names(&rest).collect();
        let command = match (names.first(), instead.named) {
            (Some(name), named) if !named.is_empty() => {
                let template = named.rsplit_once(' ').unwrap_or((named, ""));
                let rest: Vec<String> = rest.iter().filter(|arg| arg != name).cloned().collect();
                if template.1 == "NAMES" {
                    line(words(template.0).chain(self.but(word)))
                } else {
                    let filled = words(template.0).chain([placed(template.1, name)]);
                    self.first_read(&line(filled), &rest)
                }
            }
            (None, _) if has_gap(instead.bare) => {
                // A manifest or a flag can stand in place of the name.
                let command = instead.bare.rsplit_once(' ').map_or("", |(command, _)| command);
                let flags: Vec<String> = words(command).chain(rest.iter().cloned()).collect();
                if !rest.is_empty() && self.is_read(&flags) {
                    line(flags)
                } else {
                    instead.bare.to_owned()
                }
            }
            _ => self.first_read(instead.bare, &rest),
        };
        if instead.note.is_empty() {
            command
        } else {
            format!("{command}   ({})", instead.note)
        }
    }

    /// `command` with `rest`, or with the names among it, or alone: the first line that can be read.
    fn first_read(&self, command: &str, rest: &[String]) -> String {
        let names: Vec<String> = self.names(rest).cloned().collect();
        for more in [rest, names.as_slice()] {
            let args: Vec<String> = words(command).chain(more.iter().cloned()).collect();
            if !more.is_empty() && self.is_read(&args) {
                return format!("{command} {}", line(more.iter().cloned()));
            }
        }
        command.to_owned()
    }

    fn is_read(&self, line: &[String]) -> bool {
        let args = line.iter().skip(1).map(OsString::from);
        let mut root = self.root.clone();
        root.try_get_matches_from_mut(argv::normalize(args, self.root))
            .is_ok()
    }

    /// Everything typed except for `word`.
    fn but(&self, word: &str) -> Vec<String> {
        let text = self.rest.iter().map(|arg| arg.to_string_lossy().into_owned());
        let mut rest: Vec<String> = text.collect();
        if let Some(place) = rest.iter().position(|arg| arg == word) {
            rest.remove(place);
        }
        rest
    }

    /// The words among `args` that are neither flags nor their values.
    fn names<'r>(&self, args: &'r [String]) -> impl Iterator<Item = &'r String> {
        argv::names(args, self.command)
    }

    /// A command about `KIND/NAME`.
    fn about(&self, kind: &str, name: &str, word: &str) -> String {
        let command: &[&str] = match (self.command.get_name(), crate::commands::kind_called(kind)) {
            ("simulate", Some("pod" | "claim")) => &["dra", "simulate", "allocation", word],
            ("simulate", Some("node")) => &["dra", "simulate", "eviction", "--node", name],
            ("kubectl-dra", Some("pod")) => &["dra", "explain", word],
            (_, Some(_)) => &["dra", "describe", word],
            (_, None) if kind == "driver" => &["dra", "explain", word],
            (_, None) => &["describe", kind, name],
        };
        line(["kubectl"].iter().chain(command).map(|word| (*word).to_owned()))
    }

    fn unknown_name(&self, word: &str) -> UsageError {
        let command = self.command.get_name();
        let error = UsageError::new(format!("`{command}` does not take the name `{word}`"));
        let path = &self.path;
        let with = |flag: &str, value: &str| line(words(path).chain([flag.to_owned(), value.to_owned()]));
        let is_choice = |flag: &str| {
            argv::long_flag(self.command, flag).is_some_and(|flag| {
                let mut values = flag.get_possible_values().into_iter();
                values.any(|value| value.matches(word, true))
            })
        };
        let is_switch = argv::long_flag(self.command, word).is_some_and(|flag| !argv::takes_value(flag));
        let parts: Vec<&str> = word.split('/').collect();
        error.hint(match (command, parts.as_slice()) {
            _ if is_switch => line(words(path).chain([format!("--{word}")])),
            ("check", [code]) if code.parse::<Code>().is_ok() => with("--explain", code),
            ("check", [version]) if values::kubernetes_version(version).is_ok() => {
                with("--to-version", version)
            }
            ("check" | "eviction", ["driver", driver]) => with("--driver", driver),
            ("check", [driver]) if driver.contains('.') => with("--driver", driver),
            ("eviction", [node] | ["node" | "nodes" | "no", node]) => with("--node", node),
            ("eviction", ["pool", pool] | ["pool", _, pool]) => with("--pool", pool),
            ("eviction", [pool, device] | [_, pool, device] | ["device", _, pool, device]) => {
                let flags = ["--pool", *pool, "--device", *device].map(str::to_owned);
                line(words(path).chain(flags))
            }
            ("status", [_]) if is_choice("by") => with("--by", word),
            ("snapshot", _) => with("--out", word),
            ("check" | "status" | "taints", [kind, name @ ..]) if !name.is_empty() => {
                self.about(kind, &name.join("/"), word)
            }
            ("check" | "status", [_]) => line(words("kubectl dra describe KIND").chain([word.to_owned()])),
            _ => format!("{path} --help"),
        })
    }

    fn unknown_flag(&self, flag: &str) -> UsageError {
        let command = self.path.strip_prefix("kubectl dra").unwrap_or_default().trim();
        let error = UsageError::new(if command.is_empty() {
            format!("unknown flag `{flag}`")
        } else {
            format!("`{command}` has no flag `{flag}`")
        });
        // A long flag is written with two dashes in front of its name.
        let name = |flag: &str| flag.trim_start_matches('-').to_owned();
        let flags: Vec<&str> = self
            .command
            .get_arguments()
            .filter(|arg| !arg.is_hide_set() && !is_about_connection(arg))
            .filter_map(Arg::get_long)
            .collect();
        let known = FLAGS.iter().find(|(words, commands, instead)| {
            words.contains(&flag)
                && (commands.is_empty() || commands.contains(&self.command.get_name()))
                && flags.contains(&name(instead).as_str())
        });
        if let Some((.., instead)) = known {
            return error.hint(format!("did you mean `{instead}`?"));
        }
        let word = name(flag);
        let mut begun = flags
            .iter()
            .filter(|known| word.len() > 1 && known.starts_with(&word));
        let begun = begun.next().filter(|_| begun.next().is_none());
        error.hint(
            match begun.copied().or_else(|| alike(&word, flags.iter().copied())) {
                Some(found) => format!("did you mean `--{found}`?"),
                None => format!("{} --help", self.path),
            },
        )
    }

    /// The error of a format that is kubectl's, or the name of a file.
    fn unknown_format(&self, value: &str) -> Option<UsageError> {
        let error = UsageError::new(format!("unknown output format `{value}`"));
        let path = &self.path;
        if self.command.get_name() == "snapshot" {
            return Some(error.hint(line(words(path).chain(["--out".to_owned(), value.to_owned()]))));
        }
        let is_template = ["jsonpath", "custom-columns", "go-template"]
            .iter()
            .any(|format| value.starts_with(format));
        is_template.then(|| error.hint(format!("{path} -o json | jq FILTER")))
    }
}

/// Returns whether a command line needs a word in place of its last one.
fn has_gap(command: &str) -> bool {
    let last = command.rsplit([' ', '/']).next().unwrap_or_default();
    last.chars().all(|letter| letter.is_ascii_uppercase())
}

fn words(command: &str) -> impl Iterator<Item = String> {
    command.split(' ').map(str::to_owned)
}

/// `name` in the place of a gap: behind the kind that stands there, or without its own.
fn placed(gap: &str, name: &str) -> String {
    match gap.split_once('/') {
        Some(_) if name.contains('/') => name.to_owned(),
        Some((kind, _)) => format!("{kind}/{name}"),
        None if gap == "NODE" => name.rsplit('/').next().unwrap_or(name).to_owned(),
        None => name.to_owned(),
    }
}

/// The line for a shell.
fn line(argv: impl IntoIterator<Item = String>) -> String {
    let arguments = Arguments {
        argv: argv.into_iter().collect(),
        script: Vec::new(),
    };
    Script::from(&arguments).to_string()
}

/// Returns whether a flag only says which cluster to ask, and how. A mistyped flag of a command never means one of those.
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
    fn each_word_appears_once_and_is_not_a_command_itself() {
        let root = command_line();
        let mut seen = BTreeSet::new();
        for word in COMMANDS.iter().flat_map(|instead| instead.words).chain(KUBECTL) {
            assert!(seen.insert(*word), "{word} twice");
            assert!(root.find_subcommand(word).is_none(), "{word}");
        }
    }

    #[test]
    fn every_command_in_a_hint_parses() {
        let mut root = command_line();
        root.build();
        let typed = Typed::of(&[], &root);
        for template in COMMANDS.iter().flat_map(|instead| [instead.bare, instead.named]) {
            if template.starts_with("kubectl dra") && !template.ends_with("/NAME") {
                let filled = template.replace("VERSION", "1.36");
                assert!(typed.is_read(&words(&filled).collect_vec()), "{template}");
            }
        }
    }
}
