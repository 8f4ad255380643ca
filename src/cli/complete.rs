//! Completion through kubectl: what could stand for the last of the words typed so far.
//!
//! kubectl completes plugins in every shell by running `kubectl_complete-dra` with these words; candidates come back one
//! per line, each with a description behind a tab, then `:N`, cobra's directive for the shell. The protocol is that of
//! kubectl `pkg/cmd/plugin/plugin_completion.go`, v1.37.2. Names of objects are looked up by the commands' own table.

use std::ffi::{OsStr, OsString};
use std::fmt;

use clap::{Arg, ArgAction, Command, FromArgMatches, ValueHint};

use crate::commands::{Find, Lookup, Typed, lookup};
use crate::context::Settings;
use crate::output::is_plain;

use super::argv::{Read, long_flag, normalize, read, takes_value};
use super::global::GlobalArgs;
use super::help::HELP;

/// Instruction for the shell if the candidates are not enough: cobra's `ShellCompDirective`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directive {
    /// Offer files.
    Files = 0,
    /// Offer nothing else.
    NoFiles = 4,
    /// Offer nothing else, and let the user continue the word.
    Begun = 6,
    /// Offer directories.
    Directories = 16,
}

/// The answer to one press of the key.
#[derive(Debug)]
pub(crate) struct Completion {
    candidates: Vec<(String, Option<String>)>,
    directive: Directive,
    /// Lookup of more candidates: names that only the cluster knows.
    pub(crate) lookup: Option<(Find, Typed)>,
    /// Prefix of candidates, and the text before it in the same word.
    typed: String,
    before: String,
    /// Names given already, which are not offered again.
    given: Vec<String>,
}

impl Completion {
    /// Adds names that were looked up.
    pub(crate) fn add(&mut self, names: Vec<String>) {
        for name in names {
            // What cannot be typed is not offered either: a line feed in it would make two of one.
            if is_plain(&name) && !self.given.contains(&name) {
                self.offer(&name, None);
            }
        }
    }

    fn offer(&mut self, word: &str, description: Option<String>) {
        if word.starts_with(&self.typed) {
            self.candidates
                .push((format!("{}{word}", self.before), description));
        }
    }
}

impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, description) in &self.candidates {
            match description {
                Some(description) => writeln!(f, "{word}\t{description}")?,
                None => writeln!(f, "{word}")?,
            }
        }
        let is_begun = |(word, _): &(String, _)| word.ends_with(['/', '=']);
        let directive = match self.directive {
            Directive::NoFiles if !self.candidates.is_empty() && self.candidates.iter().all(is_begun) => {
                Directive::Begun
            }
            directive => directive,
        };
        writeln!(f, ":{}", directive as u8)
    }
}

/// Returns the flags among words; the last word is incomplete.
pub(crate) fn settings_so_far(words: &[OsString]) -> Settings {
    settings_of(&words[..words.len().saturating_sub(1)])
}

/// The flags among words that need not be a command line.
pub(crate) fn settings_of(finished: &[OsString]) -> Settings {
    let mut root = super::command_line().ignore_errors(true);
    let args = normalize(
        std::iter::once("kubectl-dra".into()).chain(finished.iter().cloned()),
        &root,
    );
    let matches = root.try_get_matches_from_mut(args).ok();
    let global = matches.and_then(|matches| GlobalArgs::from_arg_matches(&matches).ok());
    global.map(GlobalArgs::resolve).unwrap_or_default()
}

/// Returns what could stand for the last of `words`, in the command line described by `root`, which must have been built.
pub(crate) fn complete(words: &[OsString], root: &Command) -> Completion {
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.to_str().unwrap_or_default())
        .collect();
    let (current, before) = words.split_last().unwrap_or((&"", &[]));
    // What can be helped with are the commands.
    let before = match before {
        [first, rest @ ..] if *first == HELP => rest,
        _ => before,
    };
    let place = Place::after(before, root);
    let mut completion = Completion {
        candidates: Vec::new(),
        directive: Directive::NoFiles,
        lookup: None,
        typed: (*current).to_owned(),
        before: String::new(),
        given: before.iter().map(|word| (*word).to_owned()).collect(),
    };
    if let Some(flag) = place.flag {
        completion.values(flag, None);
    } else if !place.names_only && current.starts_with("--") && current.contains('=') {
        if let Some((name, value)) = current.split_once('=')
            && let Some(flag) = long_flag(place.command, &name[2..]).filter(|flag| takes_value(flag))
        {
            // kubectl's scripts put the flag before what comes back.
            value.clone_into(&mut completion.typed);
            completion.values(flag, None);
        }
    } else if !place.names_only && current.starts_with('-') {
        completion.flags(place.command);
    } else {
        if place.names == 0 {
            completion.subcommands(place.command);
        }
        let names = place.command.get_positionals();
        let takes_this = |(index, name): &(usize, &Arg)| {
            *index == place.names || (*index < place.names && matches!(name.get_action(), ArgAction::Append))
        };
        if let Some((_, name)) = names.enumerate().filter(takes_this).last() {
            completion.values(name, place.last_name);
        }
    }
    completion
}

/// Position of the last word in the command line.
struct Place<'c> {
    command: &'c Command,
    /// The flag whose value it is.
    flag: Option<&'c Arg>,
    /// Number of names stand before it.
    names: usize,
    /// The last of these names.
    last_name: Option<&'c str>,
    /// `--` stands before it.
    names_only: bool,
}

impl<'c> Place<'c> {
    fn after(words: &[&'c str], root: &'c Command) -> Self {
        let mut place = Self {
            command: root,
            flag: None,
            names: 0,
            last_name: None,
            names_only: false,
        };
        for word in words {
            place.pass(word);
        }
        place
    }

    fn pass(&mut self, word: &'c str) {
        if self.flag.take().is_some() {
            return;
        }
        match read(OsStr::new(word), &[self.command]) {
            Read::End if !self.names_only => self.names_only = true,
            Read::Flag(flag) if !self.names_only => self.flag = flag,
            Read::Switch { .. } if !self.names_only => {}
            _ => match self.command.find_subcommand(word).filter(|_| self.names == 0) {
                Some(command) => self.command = command,
                None => {
                    self.names += 1;
                    self.last_name = Some(word);
                }
            },
        }
    }
}

impl Completion {
    fn subcommands(&mut self, command: &Command) {
        for subcommand in command
            .get_subcommands()
            .filter(|subcommand| !subcommand.is_hide_set())
        {
            self.offer(subcommand.get_name(), subcommand.get_about().map(first_line));
        }
    }

    fn flags(&mut self, command: &Command) {
        for flag in command.get_arguments().filter(|flag| !flag.is_hide_set()) {
            let Some(long) = flag.get_long() else { continue };
            let word = format!("--{long}");
            let once = !matches!(flag.get_action(), ArgAction::Append);
            if once && self.given.contains(&word) {
                continue;
            }
            self.offer(&word, flag.get_help().map(first_line));
        }
    }

    /// The values of a flag or a positional argument, the latter behind the name `before`.
    fn values(&mut self, arg: &Arg, before: Option<&str>) {
        let value_names = arg.get_value_names().unwrap_or_default();
        let lookup = value_names.first().and_then(|name| lookup(name));
        // Of several values in one word the last one is completed. Words of the program never have a comma.
        let is_list = arg.get_value_delimiter().is_some() || matches!(lookup, Some(Lookup::Here(_)));
        if is_list && let Some((given, last)) = self.typed.rsplit_once(',') {
            self.before.push_str(given);
            self.before.push(',');
            self.typed = last.to_owned();
        }
        for value in arg
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set())
        {
            self.offer(value.get_name(), value.get_help().map(first_line));
        }
        self.directive = match arg.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath => Directive::Files,
            ValueHint::DirPath => Directive::Directories,
            _ => Directive::NoFiles,
        };
        match lookup {
            Some(Lookup::Here(words)) => {
                for (word, description) in words() {
                    self.offer(&word, description);
                }
            }
            Some(Lookup::Away(find)) => {
                let typed = Typed {
                    before: before.map(str::to_owned),
                    word: self.typed.clone(),
                };
                self.lookup = Some((find, typed));
            }
            None => {}
        }
    }
}

fn first_line(text: &clap::builder::StyledStr) -> String {
    text.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Returns whether the program was called under the name of the completion script. A link of that name does what the script
/// does, also where there is no shell to run it.
pub(super) fn is_completion_script(program: &OsStr) -> bool {
    std::path::Path::new(program).file_stem() == Some(OsStr::new("kubectl_complete-dra"))
}

#[cfg(test)]
mod tests {
    use clap::builder::PossibleValuesParser;

    use super::*;

    fn root() -> Command {
        let mut root = Command::new("kubectl-dra")
            .arg(
                Arg::new("namespace")
                    .long("namespace")
                    .short('n')
                    .global(true)
                    .help("Where\nto look"),
            )
            .arg(
                Arg::new("all")
                    .long("all")
                    .short('A')
                    .action(ArgAction::SetTrue)
                    .global(true),
            )
            .arg(
                Arg::new("file")
                    .long("from")
                    .value_hint(ValueHint::AnyPath)
                    .action(ArgAction::Append)
                    .global(true),
            )
            .arg(Arg::new("secret").long("secret").hide(true).global(true))
            .arg(
                Arg::new("output")
                    .long("output")
                    .short('o')
                    .value_parser(PossibleValuesParser::new(["json", "yaml"]))
                    .global(true),
            )
            .subcommand(
                Command::new("claims")
                    .about("List claims")
                    .arg(Arg::new("names").num_args(0..)),
            )
            .subcommand(
                Command::new("completion")
                    .arg(Arg::new("shell").value_parser(PossibleValuesParser::new(["bash"]))),
            )
            .subcommand(Command::new("hidden").hide(true))
            .disable_help_flag(true)
            .disable_help_subcommand(true);
        root.build();
        root
    }

    #[test]
    fn the_last_word_is_completed_from_what_can_stand_there() {
        let root = root();
        for (words, expected) in [
            (&[""][..], "claims\tList claims\ncompletion\n:4\n"),
            (&["cl"], "claims\tList claims\n:4\n"),
            (&["hid"], ":4\n"),
            (&["-n", "x", "cl"], "claims\tList claims\n:4\n"),
            (&["-n", "cl"], ":4\n"),
            (&["-n=x", "cl"], "claims\tList claims\n:4\n"),
            (&["-nx", "cl"], "claims\tList claims\n:4\n"),
            (&["-A", "cl"], "claims\tList claims\n:4\n"),
            (&["claims", "--na"], "--namespace\tWhere\n:4\n"),
            (&["claims", "--namespace", "x", "--na"], ":4\n"),
            (&["claims", "--from", "x", "--fr"], "--from\n:4\n"),
            (&["claims", "--se"], ":4\n"),
            (&["claims", "-o", ""], "json\nyaml\n:4\n"),
            (&["claims", "-Ao", "y"], "yaml\n:4\n"),
            (&["claims", "--output=j"], "json\n:4\n"),
            (&["claims", "--from", ""], ":0\n"),
            (&["claims", "--from=d"], ":0\n"),
            (&["claims", "--nope=d"], ":4\n"),
            (&["claims", "x", "cl"], ":4\n"),
            (&["completion", ""], "bash\n:4\n"),
            (&["completion", "bash", ""], ":4\n"),
            (&["claims", "--", "--na"], ":4\n"),
            (&[], "claims\tList claims\ncompletion\n:4\n"),
        ] {
            let typed: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(complete(&typed, &root).to_string(), expected, "{words:?}");
        }
    }

    #[test]
    fn names_that_are_looked_up_must_fit_and_are_offered_once() {
        let typed = ["claims", "gpu-1", "gpu"].map(OsString::from);
        let mut completion = complete(&typed, &root());
        completion.add(["gpu-0", "gpu-1", "nic-0"].map(str::to_owned).into());
        assert_eq!(completion.to_string(), "gpu-0\n:4\n");
    }

    #[test]
    fn flags_are_read_from_a_line_that_is_not_finished() {
        let words = ["-n", "a", "nope", "--from", "x.yaml", "--from", ""].map(OsString::from);
        let settings = settings_so_far(&words);
        assert_eq!(settings.scope, crate::context::Scope::Namespace("a".to_owned()));
    }

    #[test]
    fn a_link_under_the_scripts_name_is_known() {
        assert!(is_completion_script(OsStr::new(
            "/usr/local/bin/kubectl_complete-dra"
        )));
        assert!(is_completion_script(OsStr::new("kubectl_complete-dra.exe")));
        assert!(!is_completion_script(OsStr::new("kubectl-dra")));
    }
}
