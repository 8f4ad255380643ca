//! Words that people type and that are not part of the command line: kubectl's verbs and kinds, and flags with another name. Each gets a
//! command that does what was meant, with the names and flags that were typed.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use itertools::Itertools;

use super::{argv, global, help, values};
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
    Instead::new(
        &[
            "template",
            "templates",
            "resourceclaimtemplate",
            "resourceclaimtemplates",
        ],
        "kubectl get resourceclaimtemplates",
    )
    .named("kubectl describe resourceclaimtemplate NAME"),
    Instead::new(
        &["who", "owner", "owners", "users"],
        "kubectl dra status --by owner",
    )
    .named("kubectl dra claims --device NAME"),
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
    (
        &["--file", "--output-file"],
        &["export", "report", "snapshot"],
        "--out",
    ),
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
    (&["--verbose", "--long", "--full", "--wide"], &[], "--details"),
    (&["--nodes", "--node-name", "--on"], &[], "--node"),
    (&["--drivers"], &[], "--driver"),
    (&["--dry-run-only", "--dryrun"], &[], "--dry-run"),
    (&["--fix", "--apply"], &["explain"], "--emit-fix"),
    (&["--available", "--unused", "--idle"], &["devices"], "--free"),
    (&["--unhealthy", "--taints"], &["devices"], "--tainted"),
    (&["--list", "--codes-only"], &["check"], "--explain"),
    (&["--short"], &["version"], "--client"),
    (&["--once", "--duration", "--until"], &["run"], "--for"),
];

/// States of a claim, which are typed as flags.
const STATES: [&str; 4] = ["pending", "allocated", "reserved", "deleted"];

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
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            text(ContextKind::InvalidArg).map(|arg| {
                let value = text(ContextKind::InvalidValue).unwrap_or_default();
                typed.invalid_value(&arg, &value, cause)
            })
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = match error.get(ContextKind::InvalidArg) {
                Some(ContextValue::Strings(missing)) => missing.clone(),
                _ => Vec::new(),
            };
            Some(typed.missing(&missing))
        }
        ErrorKind::MissingSubcommand => Some(typed.missing(&["COMMAND".to_owned()])),
        ErrorKind::ArgumentConflict => {
            let prior = match error.get(ContextKind::PriorArg) {
                Some(ContextValue::Strings(prior)) => prior.first().cloned(),
                Some(ContextValue::String(prior)) => Some(prior.clone()),
                _ => None,
            };
            text(ContextKind::InvalidArg).map(|arg| typed.conflict(&arg, prior.as_deref()))
        }
        _ => None,
    };
    better.map_or_else(|| error.into(), Into::into)
}

/// The error of a flag that the command called `path` refuses, with the command line without it.
pub(super) fn refused(error: UsageError, flag: &str, args: &[OsString], root: &Command) -> UsageError {
    let typed = Typed::of(args, root);
    let rest = typed.without(flag, &typed.rest());
    error.hint(line(words(&typed.path).chain(rest)))
}

/// Values that are valid, by the name of a flag's value.
const VALUES: &[(&str, &str)] = &[
    ("SOURCE", "example:gpus"),
    ("NAMESPACE", "default"),
    ("LABELS", "app=web"),
    ("DURATION", "10m"),
    ("TIME", "2026-08-01T12:00:00Z"),
    ("VERSION", "1.36"),
    ("NUMBER", "1"),
    ("LEVEL", "6"),
    ("GATE=BOOL", "DRADeviceTaints=true"),
    ("GATE", "DRADeviceTaints"),
    ("CODE", "DRA014"),
    ("STEPS", "100000"),
    ("COLUMN|PATH", "NAME"),
    ("FORMAT", "json"),
    ("STATE", "pending"),
    ("TAINT", "gpu.example.com/gpu-node-1/gpu-0=maintenance:NoExecute"),
];

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

    /// Everything typed behind the command.
    fn rest(&self) -> Vec<String> {
        let text = self.rest.iter().map(|arg| arg.to_string_lossy().into_owned());
        text.collect()
    }

    /// The flag that clap calls `arg`, such as `--by <BY>` or `-o, --output <FORMAT>`.
    fn flag(&self, arg: &str) -> Option<&Arg> {
        let long = arg
            .split([' ', ',', '='])
            .find_map(|word| word.strip_prefix("--"));
        argv::long_flag(self.command, long?)
    }

    /// `args` without the flag and its value.
    fn without(&self, flag: &str, args: &[String]) -> Vec<String> {
        self.replaced(flag, args, None)
    }

    /// `args` with another value of the flag, or without it.
    fn replaced(&self, flag: &str, args: &[String], value: Option<&str>) -> Vec<String> {
        let long = flag.trim_start_matches('-');
        let known = argv::long_flag(self.command, long);
        let takes_value = known.is_some_and(argv::takes_value);
        let short = known.and_then(Arg::get_short).map(|short| format!("-{short}"));
        let mut kept = Vec::new();
        let mut args = args.iter().peekable();
        while let Some(arg) = args.next() {
            let name = arg.split('=').next().unwrap_or(arg);
            let is_long = name == format!("--{long}");
            let is_short = short.as_ref().is_some_and(|short| {
                arg == short || takes_value && arg.starts_with(short) && !arg.starts_with("--")
            });
            if !is_long && !is_short {
                kept.push(arg.clone());
                continue;
            }
            let is_alone = arg == name && (is_long || short.as_ref() == Some(arg));
            if takes_value && is_alone {
                args.next_if(|next| !next.starts_with('-') || next.len() == 1);
            }
            if let Some(value) = value {
                let name = if is_long {
                    name
                } else {
                    short.as_deref().unwrap_or(name)
                };
                kept.extend([name.to_owned(), value.to_owned()]);
            }
        }
        kept
    }

    /// The error of a flag or a name with a value that it does not take, or without one.
    fn invalid_value(&self, arg: &str, value: &str, cause: Option<String>) -> UsageError {
        let flag = self.flag(arg);
        if flag.is_some_and(|flag| flag.get_id() == "output")
            && let Some(error) = self.unknown_format(value)
        {
            return error;
        }
        let name = flag.and_then(Arg::get_long).map(|long| format!("--{long}"));
        if value == "ersion" {
            return UsageError::new("unknown flag `-version`").hint("kubectl dra version");
        }
        let shown = name
            .clone()
            .unwrap_or_else(|| arg.replace(['<', '>', '[', ']', '.'], ""));
        let error = UsageError::new(match (value.is_empty(), cause) {
            (true, _) => format!("`{shown}` needs a value"),
            (false, Some(cause)) => format!("invalid value `{value}` for `{shown}`: {cause}"),
            (false, None) => format!("invalid value `{value}` for `{shown}`"),
        });
        let Some((flag, name)) = flag.zip(name) else {
            let mut positionals = self.command.get_positionals();
            let positional = positionals.find(|positional| {
                let names = positional.get_value_names().unwrap_or_default();
                names.iter().any(|name| *name == shown)
            });
            return error.hint(match positional.map(choices).unwrap_or_default().as_slice() {
                [] => self.example(),
                choices => use_one_of(choices),
            });
        };
        let choices = choices(flag);
        let lower = value.to_lowercase();
        let of_name = flag
            .get_value_names()
            .and_then(|names| VALUES.iter().find(|(of, _)| names.iter().any(|name| name == of)));
        let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let candidates = alike(&lower, choices.iter().map(String::as_str))
            .map(str::to_owned)
            .into_iter()
            .chain(is_number.then(|| format!("{value}m")))
            .chain(of_name.map(|(_, value)| (*value).to_owned()))
            .chain(choices.iter().cloned());
        let lines = candidates.map(|value| {
            let rest = self.replaced(&name, &self.rest(), Some(&value));
            words(&self.path).chain(rest).collect::<Vec<_>>()
        });
        let mut lines = lines.filter(|line| self.is_read(line));
        error.hint(match (lines.next(), choices.as_slice()) {
            (Some(found), [] | [_]) => line(found),
            (Some(found), choices) => {
                format!("{}   ({})", line(found), use_one_of(choices))
            }
            (None, [_, _, ..]) => use_one_of(&choices),
            (None, _) => {
                let gap = flag.get_value_names().and_then(<[_]>::first);
                let gap = gap.map_or_else(|| "VALUE".to_owned(), ToString::to_string);
                let rest = self.replaced(&name, &self.rest(), Some(&gap));
                words(&self.path).chain(rest).join(" ")
            }
        })
    }

    /// The error of a command line that lacks something.
    fn missing(&self, missing: &[String]) -> UsageError {
        let command = self.path.strip_prefix("kubectl dra ").unwrap_or_default();
        let clean = |arg: &String| {
            arg.replace(['<', '>', '[', ']'], "")
                .trim_end_matches('.')
                .to_owned()
        };
        let what = missing.iter().map(clean).join(" and ");
        let error = UsageError::new(format!("`{command}` needs {what}"));
        let flags = missing.iter().filter_map(|arg| {
            let flag = self.flag(arg)?;
            let names = flag.get_value_names()?;
            Some([format!("--{}", flag.get_long()?), names.first()?.to_string()])
        });
        let flags: Vec<String> = flags.flatten().collect();
        if flags.len() == 2 * missing.len() && !flags.is_empty() {
            return error.hint(words(&self.path).chain(self.rest()).chain(flags).join(" "));
        }
        error.hint(self.example())
    }

    /// The error of two flags that exclude each other.
    fn conflict(&self, one: &str, other: Option<&str>) -> UsageError {
        let name = |arg: &str| {
            let flag = self.flag(arg).and_then(Arg::get_long);
            flag.map_or_else(
                || arg.replace(['<', '>', '[', ']'], ""),
                |long| format!("--{long}"),
            )
        };
        let (one, other) = (name(one), other.map(name));
        let error = UsageError::new(match &other {
            Some(other) if *other != one => format!("`{one}` cannot be used with `{other}`"),
            _ => format!("`{one}` cannot be used more than once, or with these arguments"),
        });
        let rest = self.rest();
        let lines = other
            .iter()
            .chain([&one])
            .filter(|name| name.starts_with("--"))
            .map(|flag| {
                words(&self.path)
                    .chain(self.without(flag, &rest))
                    .collect::<Vec<_>>()
            });
        let mut lines = lines.filter(|line| self.is_read(line));
        error.hint(lines.next().map_or_else(|| self.example(), line))
    }

    /// The first example of the command's help, with the source that was typed.
    fn example(&self) -> String {
        let help = self
            .command
            .get_before_help()
            .map(|help| help.to_string())
            .unwrap_or_default();
        let begin = format!("{} ", self.path);
        let example = help
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with(&begin) && !line.ends_with(['|', '\\']) && !line.contains(" > "));
        match example {
            Some(example) if !example.contains(['|', '\'', '"']) => {
                self.first_read(example, &self.common(&self.rest()))
            }
            Some(example) => example.to_owned(),
            None => format!("{} --help", self.path),
        }
    }

    /// The flags among `args` that every command has, with their values: the source, the namespace, the output.
    fn common(&self, args: &[String]) -> Vec<String> {
        let mut kept = Vec::new();
        let mut args = args.iter().peekable();
        while let Some(arg) = args.next() {
            let name = arg.split('=').next().unwrap_or(arg);
            let is_global = |flag: &&Arg| {
                let is_long = name
                    .strip_prefix("--")
                    .is_some_and(|name| flag.get_long() == Some(name));
                let is_short = flag.get_short().is_some_and(|short| name == format!("-{short}"));
                is_long || is_short
            };
            let Some(flag) = self.root.get_arguments().find(is_global) else {
                continue;
            };
            kept.push(arg.clone());
            if argv::takes_value(flag) && name == arg.as_str() {
                kept.extend(args.next().cloned());
            }
        }
        kept
    }

    fn unknown_command(&self, word: &str) -> UsageError {
        let error = UsageError::new(match self.path.strip_prefix("kubectl dra ") {
            None => format!("unknown command `{word}`"),
            Some(command) => format!("unknown command `{word}` of `{command}`"),
        });
        let lower = match (self.command.get_name(), word.to_lowercase()) {
            ("simulate", word) if word == "taint" => "drain".to_owned(),
            (_, word) => word,
        };
        let is_meant = |instead: &&Instead| instead.words.contains(&lower.as_str());
        if let Some(instead) = COMMANDS.iter().find(is_meant) {
            return error.hint(self.instead(word, instead));
        }
        if KUBECTL.contains(&lower.as_str()) {
            let verb = if lower == "log" { "logs" } else { lower.as_str() };
            return error.hint(self.of_kubectl(verb, &self.but(word)));
        }
        if let Some(command) = self.command.find_subcommand(&lower) {
            let path = format!("{} {}", self.path, command.get_name());
            return error.hint(self.first_read(&path, &self.but(word)));
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
                Some(name) if self.rest.iter().any(|arg| arg == help::ASKED) => format!("{path} help {name}"),
                Some("allocation") if self.names(&self.but(word)).next().is_none() => line(
                    words(path)
                        .chain(["allocation".to_owned(), "pod/NAME".to_owned()])
                        .chain(self.common(&self.but(word))),
                ),
                Some(name) => self.first_read(&format!("{path} {name}"), &self.but(word)),
                None => format!("{path} --help"),
            }),
            begun => error.hint(format!(
                "did you mean {}?",
                begun.iter().map(|name| format!("`{name}`")).join(" or ")
            )),
        }
    }

    /// A command of kubectl, which knows kinds by their full names and changes no file.
    fn of_kubectl(&self, verb: &str, args: &[String]) -> String {
        const FULL: &[(&str, &str)] = &[
            ("claim", "resourceclaim"),
            ("claims", "resourceclaims"),
            ("template", "resourceclaimtemplate"),
            ("templates", "resourceclaimtemplates"),
            ("rule", "devicetaintrule"),
            ("rules", "devicetaintrules"),
            ("class", "deviceclass"),
            ("classes", "deviceclasses"),
            ("slice", "resourceslice"),
            ("slices", "resourceslices"),
        ];
        let args = self.without("--from", args).into_iter().map(|arg| {
            let (kind, name) = match arg.split_once('/') {
                Some((kind, name)) => (kind, Some(name)),
                None => (arg.as_str(), None),
            };
            let full = FULL
                .iter()
                .find(|(short, _)| *short == kind)
                .map(|(_, full)| *full);
            match (full, name) {
                (Some(full), Some(name)) => format!("{full}/{name}"),
                (Some(full), None) => full.to_owned(),
                (None, _) => arg,
            }
        });
        line(["kubectl".to_owned(), verb.to_owned()].into_iter().chain(args))
    }

    /// The command that describes `object`.
    fn describe(&self, object: String, rest: &[String]) -> String {
        let command = line(words("kubectl dra describe").chain([object]));
        self.first_read(&command, rest)
    }

    /// A list or an object of a file, which only this program reads.
    fn listed(&self, rest: &[String]) -> String {
        let names: Vec<&String> = self.names(rest).collect();
        let common = self.common(rest);
        let of = |kind: &str| COMMANDS.iter().find(|instead| instead.words.contains(&kind));
        match names.as_slice() {
            [kind, name, ..] if crate::commands::kind_called(kind).is_some() => {
                self.describe(format!("{kind}/{name}"), &common)
            }
            [object, ..] if object.contains('/') => self.describe((*object).clone(), &common),
            [kind, ..] => {
                let listing = of(&kind.to_lowercase()).map(|instead| instead.bare);
                let listing = listing.filter(|bare| bare.starts_with("kubectl dra"));
                self.first_read(listing.unwrap_or("kubectl dra status"), &common)
            }
            [] => self.first_read("kubectl dra claims", &common),
        }
    }

    /// The command line of `instead`, with the typed names and flags as far as it takes them.
    fn instead(&self, word: &str, instead: &Instead) -> String {
        let rest = self.but(word);
        // The file of a manifest is no name.
        let is_manifest = |arg: &String| arg == "-f" || arg.starts_with("--filename");
        let mut names = self.names(&rest);
        let name = names.next().filter(|_| !rest.iter().any(is_manifest));
        let command = match (name, instead.named) {
            (Some(name), named) if !named.is_empty() => {
                let template = named.rsplit_once(' ').unwrap_or((named, ""));
                let rest: Vec<String> = rest.iter().filter(|arg| *arg != name).cloned().collect();
                let kind = name
                    .split_once('/')
                    .and_then(|(kind, _)| crate::commands::kind_called(kind));
                if template.1 == "NAMES" && rest.iter().any(|arg| arg.starts_with("--from")) {
                    self.listed(&self.but(word))
                } else if template.1 == "NAMES" {
                    self.of_kubectl("get", &self.but(word))
                } else if template.1 == "NODE" && kind.is_some_and(|kind| kind != "node") {
                    return self.describe((*name).clone(), &rest);
                } else {
                    let filled = words(template.0).chain([placed(template.1, name)]);
                    self.first_read(&line(filled), &rest)
                }
            }
            (None, _) if has_gap(instead.bare) => {
                // A manifest or a flag can stand in place of the name.
                let command = instead.bare.rsplit_once(' ').map_or("", |(command, _)| command);
                let flags: Vec<String> = words(command).chain(rest.iter().cloned()).collect();
                let common = self.common(&rest);
                if rest.len() > common.len() && self.is_read(&flags) {
                    line(flags)
                } else if common.is_empty() {
                    instead.bare.to_owned()
                } else {
                    format!("{} {}", instead.bare, line(common))
                }
            }
            _ => {
                // What needs a cluster has another form for a file.
                let is_file = rest.iter().any(|arg| arg.starts_with("--from"));
                let bare = match instead.bare {
                    "kubectl dra run" if is_file => "kubectl dra run --until 30m",
                    "kubectl dra claims --watch" if is_file => "kubectl dra claims",
                    bare => bare,
                };
                self.first_read(bare, &rest)
            }
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
        let common = self.common(rest);
        let both: Vec<String> = names.iter().chain(&common).cloned().collect();
        for more in [rest, &both, &common, &names] {
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
        let mut rest = self.rest();
        if let Some(place) = rest.iter().position(|arg| arg == word) {
            rest.remove(place);
        }
        rest
    }

    /// The command with these words behind it.
    fn with(&self, more: &[&str]) -> String {
        line(words(&self.path).chain(more.iter().map(|word| (*word).to_owned())))
    }

    /// The words among `args` that are neither flags nor their values.
    fn names<'r>(&self, args: &'r [String]) -> impl Iterator<Item = &'r String> {
        argv::names(args, self.command)
    }

    /// A command about `KIND/NAME`.
    fn about(&self, kind: &str, name: &str, word: &str) -> String {
        let rest = self.common(&self.rest());
        let command: &[&str] = match (self.command.get_name(), crate::commands::kind_called(kind)) {
            ("simulate", Some("pod" | "claim")) => &["simulate", "allocation", word],
            ("simulate", Some("node")) => &["simulate", "eviction", "--node", name],
            ("kubectl-dra", Some("pod")) => &["explain", word],
            ("taints", _) if matches!(kind, "rule" | "devicetaintrule") => &["taints"],
            (_, Some(_)) => &["describe", word],
            (_, None) if kind == "driver" => &["explain", word],
            (_, None) => return self.of_kubectl("describe", &[format!("{kind}/{name}")]),
        };
        let command = line(["kubectl", "dra"].iter().chain(command).copied());
        self.first_read(&command, &rest)
    }

    fn unknown_name(&self, word: &str) -> UsageError {
        let command = self.command.get_name();
        let error = UsageError::new(format!("`{command}` does not take the name `{word}`"));
        let path = &self.path;
        let rest = self.but(word);
        let with = |flag: &str, value: &str| self.first_read(&self.with(&[flag, value]), &rest);
        // `KIND NAME` in two words.
        let next = self.names(&rest).next().map(String::as_str);
        let other =
            |flag: &str, value: &str| self.first_read(&self.with(&[flag, value]), &self.common(&rest));
        let is_choice = |flag: &str| {
            argv::long_flag(self.command, flag).is_some_and(|flag| {
                let mut values = flag.get_possible_values().into_iter();
                values.any(|value| value.matches(word, true))
            })
        };
        let is_switch = argv::long_flag(self.command, word).is_some_and(|flag| !argv::takes_value(flag));
        let parts: Vec<&str> = word.split('/').collect();
        error.hint(match (command, parts.as_slice()) {
            _ if is_switch => self.first_read(&format!("{path} --{word}"), &rest),
            ("taints", ["node" | "nodes" | "no"]) if next.is_some() => {
                let node = next.unwrap_or_default();
                let key = self.names(&rest).nth(1).and_then(|taint| taint.split(':').next());
                let flags = key.into_iter().flat_map(|key| ["--key", key]);
                let command = ["kubectl", "dra", "simulate", "eviction", "--node", node];
                let begin = line(command.into_iter().chain(flags));
                self.first_read(&begin, &self.common(&rest))
            }
            ("check" | "status" | "taints", _) if crate::commands::is_file(word) => with("--from", word),
            ("check" | "eviction", ["driver"]) if next.is_some() => {
                other("--driver", next.unwrap_or_default())
            }
            ("eviction", ["node" | "nodes" | "no"]) if next.is_some() => {
                other("--node", next.unwrap_or_default())
            }
            ("check" | "status" | "taints", [kind])
                if next.is_some() && crate::commands::kind_called(kind).is_some() =>
            {
                self.about(
                    kind,
                    next.unwrap_or_default(),
                    &format!("{kind}/{}", next.unwrap_or_default()),
                )
            }
            ("check" | "status" | "taints", ["all"]) => self.first_read(&format!("{path} -A"), &rest),
            ("check", [code]) if code.parse::<Code>().is_ok() => with("--explain", code),
            ("check", [version]) if values::kubernetes_version(version).is_ok() => {
                with("--to-version", version)
            }
            ("check" | "eviction", ["driver", driver]) => with("--driver", driver),
            ("check", [driver]) if driver.contains('.') => with("--driver", driver),
            ("eviction", [node] | ["node" | "nodes" | "no", node]) => with("--node", node),
            ("eviction", ["pool", pool] | ["pool", _, pool]) => with("--pool", pool),
            ("eviction", [pool, device] | [_, pool, device] | ["device", _, pool, device]) => {
                self.first_read(&self.with(&["--pool", pool, "--device", device]), &rest)
            }
            ("status", [_]) if is_choice("by") => with("--by", word),
            // It records a cluster.
            ("snapshot", _) => self.first_read(&self.with(&["--out", word]), &self.without("--from", &rest)),
            ("check" | "status" | "taints", [kind, name @ ..]) if !name.is_empty() => {
                self.about(kind, &name.join("/"), word)
            }
            ("check" | "status", [_]) if crate::commands::kind_called(word).is_some() => {
                self.first_read(path, &self.common(&rest))
            }
            ("status", [_]) => self.describe(format!("node/{word}"), &rest),
            ("check", [_]) => self.first_read(
                &line(words("kubectl dra explain").chain([word.to_owned()])),
                &rest,
            ),
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
        // The flags of a misspelt subcommand are not those of its parent.
        let rest = self.rest();
        let subcommands = self.command.get_subcommands().map(Command::get_name);
        let meant = self
            .names(&rest)
            .next()
            .and_then(|word| Some((word, alike(word, subcommands)?)));
        if let Some((word, name)) = meant {
            return error.hint(self.first_read(&format!("{} {name}", self.path), &self.but(word)));
        }
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
        if flag == "--name" && self.command.get_positionals().next().is_some() {
            return error.hint(format!("{} NAME   (a name needs no flag)", self.path));
        }
        let word = name(flag);
        let state = argv::long_flag(self.command, "state").filter(|_| STATES.contains(&word.as_str()));
        if state.is_some() {
            let rest = self.without(flag, &rest);
            return error.hint(self.first_read(&format!("{} --state {word}", self.path), &rest));
        }
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
        if value.is_empty() {
            return None;
        }
        let error = UsageError::new(format!("unknown output format `{value}`"));
        let path = &self.path;
        let rest = self.without("--output", &self.rest());
        if self.command.get_name() == "snapshot" {
            let rest = self.without("--from", &rest);
            return Some(error.hint(self.first_read(&self.with(&["--out", value]), &rest)));
        }
        let is_template = ["jsonpath", "custom-columns", "go-template"]
            .iter()
            .any(|format| value.starts_with(format));
        let all = line(words(path).chain(rest));
        is_template.then(|| error.hint(format!("{all} -o json | jq FILTER")))
    }
}

/// The values of a flag or an argument that has a few.
fn choices(arg: &Arg) -> Vec<String> {
    let values = arg.get_possible_values().into_iter();
    let shown = values.filter(|value| !value.is_hide_set());
    shown.map(|value| value.get_name().to_owned()).collect()
}

fn use_one_of(choices: &[String]) -> String {
    let quoted = choices.iter().map(|choice| format!("`{choice}`"));
    format!("use {}", quoted.format(", "))
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
fn line(argv: impl IntoIterator<Item: Into<String>>) -> String {
    let arguments = Arguments {
        argv: argv.into_iter().map(Into::into).collect(),
        script: Vec::new(),
    };
    Script::from(&arguments).to_string()
}

/// Returns whether a flag only says which cluster to ask, and how. A mistyped flag of a command never means one of those.
pub(super) fn is_about_connection(arg: &Arg) -> bool {
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
