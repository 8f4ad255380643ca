//! Commands that reports print for people and scripts to run, built from arguments and never from text.
//!
//! Names of a cluster or a file can be anything: `foo$(touch x)`, `--all`, a line feed. A [`Command`] is a list of arguments. What this
//! program says itself is a `&'static str`; every word from outside is an argument of its own or the end of one, and its kind is checked:
//!
//! - a name is written as `KIND/NAME`, a namespace as `--namespace=NAME`, anything else as `--flag=VALUE`, so that no argument that comes
//!   from outside begins with `-`;
//! - a name that would mean something else there, such as one with `/`, gives no command but a [`NoCommand`], which says why.
//!
//! [`Script`] is one command or several: `a > file && b`, `a | b`. Those are parts of its structure, so that reports can hold the lists of
//! arguments beside the text. Its `Display` is a line for a POSIX shell; the module `word` says how a word is written there.

mod kubectl;
#[cfg(test)]
pub(crate) mod tests;
mod word;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use itertools::Itertools;
use serde::{Deserialize, Serialize, Serializer};

pub use kubectl::{
    change, convert_claim, delete, delete_in, delete_pods, describe, describe_device, describe_node,
    describe_pool, end_before, end_by_owner, evict_from_device, field_selector, keep_off_device, label_nodes,
    lift_node_taint, merge, no_finalizers, patch, recreate_pod, remake, replace_saved, save, save_and_delete,
    save_without_finalizers, taint_device, taint_driver, touch,
};

use dra_model::{Kind, go_quote};

/// What the arguments of one command may come to, in bytes. Systems allow a megabyte at least, which the environment shares.
const MOST_BYTES: usize = 500_000;

/// What the name of a file may have, in bytes.
const MOST_OF_FILE: usize = 255;

/// Flags of the user that commands repeat, so that they go to the same cluster and read the same file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Flags that `kubectl` has too, such as `--context=x`: every command has them.
    pub connection: Vec<String>,
    /// Flags of this program alone, such as `--from=x`: commands that ask about what was read have them, see [`Command::here`].
    pub source: Vec<String>,
    /// Flags that choose objects, such as `--namespace=x`: commands about the same objects have them, see [`Command::same_objects`].
    pub selection: Vec<String>,
    /// The arguments as typed, which `More:` repeats with `--details`; empty where they hold secrets.
    pub typed: Vec<String>,
}

thread_local! {
    /// Of one thread, since several clusters can be reported on side by side.
    static CARRIED: RefCell<Arc<Carried>> = RefCell::default();
}

/// Returns the flags that commands of this thread carry. A thread that makes commands for this one needs them, too.
pub fn carried() -> Arc<Carried> {
    CARRIED.with_borrow(Arc::clone)
}

/// Does `work`, whose commands carry `flags`.
pub fn carrying<T>(flags: Arc<Carried>, work: impl FnOnce() -> T) -> T {
    let before = CARRIED.replace(flags);
    let done = work();
    CARRIED.set(before);
    done
}

/// Why a name or a word gives no command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no command: {} cannot be given as {what}, since {why}", shown(.word))]
pub struct NoCommand {
    what: Cow<'static, str>,
    word: String,
    why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Why {
    #[error("it is empty")]
    Empty,
    #[error("it stands for a directory")]
    Dots,
    #[error("a name has no `/`")]
    Slash,
    #[error("an argument has no NUL characters")]
    Nul,
    #[error("a shell drops the line feed at its end")]
    LineFeed,
    #[error("it is too long")]
    Long,
    #[error("`{0}` would take it for a change")]
    Change(&'static str),
    #[error("it is read as something else there")]
    OtherMeaning,
}

/// A word that can be of any length and hold anything, for a message.
fn shown(word: &str) -> String {
    const MOST: usize = 80;
    match word.char_indices().nth(MOST) {
        None => go_quote(word),
        Some((end, _)) => format!("{}…", go_quote(&word[..end])),
    }
}

/// A kind of object in front of a name. Only this program makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    text: &'static str,
    group: &'static str,
}

impl Resource {
    /// `pod`, `jobs.batch`: as this program writes it.
    pub const fn called(text: &'static str) -> Self {
        Self { text, group: "" }
    }

    /// `podgroups.scheduling.k8s.io`, which no other kind of the same name can hide.
    pub fn full(kind: Kind) -> Self {
        Self {
            text: kind.plural(),
            group: kind.group(),
        }
    }
}

impl From<Kind> for Resource {
    /// `podgroup`: the kind as kubectl writes it in front of a name.
    fn from(kind: Kind) -> Self {
        Self::called(kind.singular())
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}

/// One command in the making. The first word that it cannot hold ends in a [`NoCommand`].
#[derive(Clone, Debug, Default)]
pub struct Command {
    argv: Vec<String>,
    stdout: Option<String>,
    fault: Option<NoCommand>,
    /// The name of a command that takes an argument with `=`, or with `-` at its end, for a change.
    changes: Option<&'static str>,
    /// Whether it asks about what was read.
    is_here: bool,
    /// Whether it asks about the objects that were asked about.
    is_selecting: bool,
}

impl Command {
    /// `kubectl VERB`.
    pub fn kubectl(verb: &'static str) -> Self {
        Self::default().arg("kubectl").arg(verb)
    }

    /// `kubectl dra VERB`.
    pub fn dra(verb: &'static str) -> Self {
        Self::kubectl("dra").arg(verb)
    }

    /// With the flags that name what was read: the file, the release, the gates.
    #[must_use]
    pub fn here(self) -> Self {
        Self {
            is_here: true,
            ..self
        }
    }

    /// With the flags that name what was read, and those that choose objects of it.
    #[must_use]
    pub fn same_objects(self) -> Self {
        Self {
            is_selecting: true,
            ..self.here()
        }
    }

    /// `kubectl label`, `annotate` or `taint`: they tell objects from changes by how an argument looks.
    fn changing(verb: &'static str) -> Self {
        Self {
            changes: Some(verb),
            ..Self::kubectl(verb)
        }
    }

    /// A word of this program.
    #[must_use]
    pub fn arg(mut self, word: &'static str) -> Self {
        self.argv.push(word.to_owned());
        self
    }

    /// Words of this program.
    #[must_use]
    pub fn args(self, words: &[&'static str]) -> Self {
        words.iter().fold(self, |command, word| command.arg(word))
    }

    /// `FLAG=VALUE`. What the value means is for the parser of the flag: it must take any, or refuse it.
    #[must_use]
    pub fn option(self, flag: &'static str, value: &str) -> Self {
        self.word(flag, format!("{flag}={value}"), value, fault_of_word(value))
    }

    /// `--namespace=NAME`.
    #[must_use]
    pub fn namespace(self, name: &str) -> Self {
        let word = format!("--namespace={name}");
        self.word("a namespace", word, name, fault_of_name(name))
    }

    /// `KIND/NAME`.
    #[must_use]
    pub fn object(self, resource: impl Into<Resource>, name: &str) -> Self {
        let resource = resource.into();
        let fault = fault_of_name(name).or_else(|| {
            let verb = self.changes?;
            let is_change = name.contains(['=', ':']) || name.ends_with('-');
            is_change.then_some(Why::Change(verb))
        });
        let word = format!("{resource}/{name}");
        self.word(format!("the name of a {resource}"), word, name, fault)
    }

    /// `KIND/NAME` of each.
    #[must_use]
    pub fn objects<N: AsRef<str>>(
        self,
        resource: impl Into<Resource>,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        let resource = resource.into();
        names
            .into_iter()
            .fold(self, |command, name| command.object(resource, name.as_ref()))
    }

    /// `claim/NAMESPACE/NAME`, which this program's own commands take.
    #[must_use]
    pub fn claim(self, namespace: &str, name: &str) -> Self {
        let word = format!("claim/{namespace}/{name}");
        self.word("a namespace", String::new(), namespace, fault_of_name(namespace))
            .word("the name of a claim", word, name, fault_of_name(name))
    }

    /// `-p JSON`. A document begins with a bracket or a brace.
    #[must_use]
    pub fn patch(mut self, document: &serde_json::Value) -> Self {
        self.argv.push("-p".to_owned());
        let text = document.to_string();
        let fault = fault_of_word(&text);
        self.word("a patch", text.clone(), &text, fault)
    }

    /// Its output goes to a file, whose name begins with a word of this program.
    #[must_use]
    pub fn into_file(mut self, begin: impl Into<Resource>, rest: &str, end: &'static str) -> Self {
        let begin = begin.into();
        let file = format!("{begin}{rest}{end}");
        let too_long = (file.len() > MOST_OF_FILE).then_some(Why::Long);
        let fault = fault_of_name(rest).or(too_long);
        self.stdout = Some(file);
        self.word("the name of a file", String::new(), rest, fault)
    }

    /// Its output goes to a file that this program names.
    #[must_use]
    pub fn saved_as(mut self, file: &'static str) -> Self {
        self.stdout = Some(file.to_owned());
        self
    }

    /// The command, or why there is none.
    ///
    /// # Errors
    /// When a word cannot be given.
    pub fn done(self) -> Result<Script, NoCommand> {
        let Self {
            mut argv,
            stdout,
            fault,
            is_here,
            is_selecting,
            ..
        } = self;
        if let Some(fault) = fault {
            return Err(fault);
        }
        let carried = carried();
        argv.extend_from_slice(&carried.connection);
        if is_selecting {
            argv.extend_from_slice(&carried.selection);
        }
        if is_here {
            argv.extend_from_slice(&carried.source);
        }
        if argv.iter().map(|word| word.len() + 1).sum::<usize>() > MOST_BYTES {
            return Err(NoCommand {
                what: "the arguments of one command".into(),
                word: argv.join(" "),
                why: Why::Long,
            });
        }
        let run = Run {
            argv,
            stdout,
            then: None,
        };
        Ok(Script { runs: vec![run] })
    }

    /// Takes a word from outside, which is the whole argument or its end. An empty argument stands for none.
    fn word(
        mut self,
        what: impl Into<Cow<'static, str>>,
        argument: String,
        word: &str,
        fault: Option<Why>,
    ) -> Self {
        match fault {
            Some(why) if self.fault.is_none() => {
                self.fault = Some(NoCommand {
                    what: what.into(),
                    word: word.to_owned(),
                    why,
                });
            }
            Some(_) => {}
            None if argument.is_empty() => {}
            None => self.argv.push(argument),
        }
        self
    }

    /// What this program knows of a word that the checks above cannot see.
    #[must_use]
    pub fn unless(mut self, means_something_else: bool, what: &'static str, word: &str) -> Self {
        if means_something_else && self.fault.is_none() {
            self.fault = Some(NoCommand {
                what: what.into(),
                word: word.to_owned(),
                why: Why::OtherMeaning,
            });
        }
        self
    }
}

/// Why `word` can be no argument that a shell line carries.
fn fault_of_word(word: &str) -> Option<Why> {
    // Linux takes 128 KiB. Each byte may need four in a line.
    const MOST: usize = 100_000;
    if word.contains('\0') {
        Some(Why::Nul)
    } else if word.ends_with('\n') {
        Some(Why::LineFeed)
    } else if word.len() > MOST {
        Some(Why::Long)
    } else {
        None
    }
}

/// Why nothing can be called `name` in an argument: `KIND/NAME` is split at `/`, and paths of the API at directories.
fn fault_of_name(name: &str) -> Option<Why> {
    match name {
        "" => Some(Why::Empty),
        "." | ".." => Some(Why::Dots),
        _ if name.contains('/') => Some(Why::Slash),
        _ => fault_of_word(name),
    }
}

/// One command of a [`Script`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Run {
    /// Its arguments, the program first.
    #[schemars(length(min = 2))]
    pub argv: Vec<String>,
    /// The file that its output goes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// How the next one follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Then>,
}

/// How a command follows the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Then {
    /// It reads what the one before prints: `|`.
    Pipe,
    /// It runs once the one before has succeeded: `&&`.
    And,
}

impl Then {
    /// What stands between the two in a line for a shell.
    fn text(self) -> &'static str {
        match self {
            Self::Pipe => "|",
            Self::And => "&&",
        }
    }
}

/// One command or several, as a line for a shell and as lists of arguments.
///
/// As JSON it is `command`, the line, and beside it `argv` where it is one plain command, or else `script`.
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema, derive_more::Display)]
#[display("{}", runs.iter().format(""))]
#[schemars(with = "View")]
pub struct Script {
    runs: Vec<Run>,
}

/// What reports hold beside the line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(extend("minProperties" = 1))]
pub struct Arguments {
    /// The arguments of one plain command, the program first. They are the command; its text is how a POSIX shell writes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 2))]
    pub argv: Vec<String>,
    /// In place of `argv`, where there are several commands or one's output goes to a file: the commands in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub script: Vec<Run>,
}

impl Script {
    /// `kubectl dra` with the words that the user typed.
    pub fn typed<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let program = ["kubectl", "dra"].into_iter();
        Self::plain(program.chain(words).map(str::to_owned).collect())
    }

    /// The shell that reads commands from standard input.
    pub fn shell() -> Self {
        Self::plain(vec!["sh".to_owned()])
    }

    /// One command, whose output goes nowhere else.
    fn plain(argv: Vec<String>) -> Self {
        let run = Run {
            argv,
            ..Run::default()
        };
        Self { runs: vec![run] }
    }

    /// This one, and what follows it.
    #[must_use]
    pub fn then(mut self, how: Then, next: Self) -> Self {
        if let Some(last) = self.runs.last_mut() {
            last.then = Some(how);
        }
        self.runs.extend(next.runs);
        self
    }

    /// All of them, each once the one before has succeeded. None of none.
    pub fn all(scripts: impl IntoIterator<Item = Self>) -> Option<Self> {
        scripts
            .into_iter()
            .reduce(|before, next| before.then(Then::And, next))
    }

    /// The commands, one after the other.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The lists of arguments.
    pub fn arguments(&self) -> Arguments {
        match self.runs.as_slice() {
            [
                Run {
                    argv, stdout: None, ..
                },
            ] => Arguments {
                argv: argv.clone(),
                script: Vec::new(),
            },
            runs => Arguments {
                argv: Vec::new(),
                script: runs.to_vec(),
            },
        }
    }

    /// The line, broken between words so that its lines have no more than `columns` bytes; a shell reads them as one. A word that is longer
    /// has a line for itself, which the terminal breaks: it is copied as it is. Lines have room for some words at least.
    pub fn within(&self, columns: usize) -> Vec<String> {
        const BREAK: &str = " \\";
        const INDENT: &str = "  ";
        const LEAST: usize = 20;
        let whole = self.to_string();
        if whole.len() <= columns {
            return vec![whole];
        }
        let columns = columns.max(LEAST);
        let mut lines = Vec::new();
        let mut line = String::new();
        for run in &self.runs {
            let arguments = run.argv.iter().map(|word| word::Quoted(word).to_string());
            let file = run.stdout.iter();
            let file = file.map(|file| format!("> {}", word::Quoted(file)));
            let then = run.then.map(|then| then.text().to_owned());
            for (number, word) in arguments.chain(file).chain(then).enumerate() {
                // Each command begins a line, at most behind what joins it to the one before.
                let begins = number == 0
                    && ![Then::Pipe, Then::And]
                        .iter()
                        .any(|then| line.trim() == then.text());
                let has_room = !begins && line.len() + 1 + word.len() + BREAK.len() <= columns;
                if line.is_empty() {
                    line.push_str(&word);
                } else if has_room {
                    line.push(' ');
                    line.push_str(&word);
                } else {
                    line.push_str(BREAK);
                    lines.push(std::mem::replace(&mut line, format!("{INDENT}{word}")));
                }
            }
        }
        lines.push(line);
        lines
    }
}

#[derive(Serialize, schemars::JsonSchema)]
struct View {
    /// A command that runs unchanged: a line for a POSIX shell.
    command: String,
    #[serde(flatten)]
    arguments: Arguments,
}

impl Serialize for Script {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let command = self.to_string();
        let arguments = self.arguments();
        View { command, arguments }.serialize(serializer)
    }
}

impl From<&Arguments> for Script {
    /// What a report has of it.
    fn from(arguments: &Arguments) -> Self {
        let Arguments { argv, script } = arguments;
        if script.is_empty() {
            return Self::plain(argv.clone());
        }
        Self { runs: script.clone() }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.argv.iter().map(|argument| word::Quoted(argument));
        write!(f, "{}", words.format(" "))?;
        if let Some(file) = &self.stdout {
            write!(f, " > {}", word::Quoted(file))?;
        }
        match self.then {
            Some(then) => write!(f, " {} ", then.text()),
            None => Ok(()),
        }
    }
}
