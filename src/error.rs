//! Results of a run: outcomes, kinds of failure, exit codes and hints.
//!
//! A command that did its job returns an [`Outcome`]; one that could not returns an error, whose kind is found by its
//! type. Advice to the user is found by that type, too: the core says what is wrong, and what it knows of a way out. `docs/reference/exit-codes.md` shows the codes to users; a test holds both together.

use std::error::Error as StdError;
use std::io;
use std::process::ExitCode;

use itertools::Itertools;
use thiserror::Error;

use crate::output::{PrintError, SortError};
use dra_reports::presence::Absence;
use dra_runner::conversion;
use dra_sources::bundle::SnapshotError;
use dra_sources::destination::DestinationError;
use dra_sources::{LoadError, live};

/// Result of a command that did its job, with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// There is no verdict to give, or it is good.
    Done = 0,
    /// The verdict is bad: findings, does not fit, not convertible.
    Findings = 1,
    /// No verdict, since data was missing.
    Unknown = 4,
}

/// Reason that kept a command from doing its job, with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line cannot be understood, or a file that it names is none that Kubernetes would take.
    Usage = 2,
    /// The cluster, its API, a file or a stream failed.
    World = 3,
    /// The requested data could not be read, so that there is no answer.
    Unknown = 4,
    /// The user interrupted: 128 and the number of the signal, as shells count.
    Interrupted = 130,
    /// The reader of the output has enough, as `head` does: not a failure for the user.
    ClosedPipe = 0,
}

impl Outcome {
    /// The verdict of a command that looks for something bad, which it has found or not. What it did not find may still be there if something
    /// is unknown.
    pub(crate) fn of(is_bad: bool, is_unknown: bool) -> Self {
        match (is_bad, is_unknown) {
            (true, _) => Self::Findings,
            (false, true) => Self::Unknown,
            (false, false) => Self::Done,
        }
    }

    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

impl Failure {
    /// The kind of `error`, from the types in its chain. What has no kind of its own is a failure of the world.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        let kind = |cause: &(dyn StdError + 'static)| {
            let is_closed = |io: &io::Error| io.kind() == io::ErrorKind::BrokenPipe;
            let is_usage = cause.is::<UsageError>()
                || cause.is::<clap::Error>()
                || matches!(cause.downcast_ref(), Some(PrintError::Sort(_)))
                || matches!(cause.downcast_ref(), Some(live::Error::Flag { .. }))
                || matches!(cause.downcast_ref(), Some(DestinationError::Unusable { .. }))
                || matches!(
                    cause.downcast_ref(),
                    Some(LoadError::Refused(_) | LoadError::TooManyPods(_))
                );
            if cause.downcast_ref().is_some_and(is_closed) {
                Some(Self::ClosedPipe)
            } else if cause.is::<Interrupted>() {
                Some(Self::Interrupted)
            } else if cause.is::<Unread>() {
                Some(Self::Unknown)
            } else {
                is_usage.then_some(Self::Usage)
            }
        };
        error.chain().find_map(kind).unwrap_or(Self::World)
    }

    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.code())
    }
}

impl From<Failure> for ExitCode {
    fn from(failure: Failure) -> Self {
        Self::from(failure.code())
    }
}

/// A command line that parses but makes no sense.
#[derive(Debug, Error)]
#[error("{message}")]
pub(crate) struct UsageError {
    message: String,
    hint: Option<String>,
}

impl UsageError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }

    /// That `what` cannot be done on files.
    pub(crate) fn needs_cluster(what: &str) -> Self {
        Self::new(format!("{what} needs a cluster and cannot be used with `--from`"))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// An object that the command line names does not exist, and its kind is not listed.
#[derive(Debug, Error)]
#[error("{message}")]
pub(crate) struct NotFound {
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// Names on the command line that do not exist.
#[derive(Debug, Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
pub(crate) struct Absent(pub(crate) Vec<Absence>);

impl Absent {
    fn hints(&self) -> Vec<String> {
        let of_one = |absence: &Absence| {
            let instead = instead(absence);
            match self.0.len() {
                1 => instead,
                _ => format!("instead of `{}`: {instead}", absence.name),
            }
        };
        self.0.iter().map(of_one).collect()
    }
}

/// Minimum similarity of two names for a suggestion, 1 for equality.
const ALIKE: f64 = 0.85;
/// Maximum number of names to print.
const TOLD: usize = 5;

/// Returns what could have been meant, or what there is.
pub(crate) fn instead(absence: &Absence) -> String {
    let quoted = |names: &[&str], separator| names.iter().map(|name| format!("`{name}`")).join(separator);
    let some_of = |names: &[&str]| {
        let (told, rest) = (&names[..names.len().min(TOLD)], names.len().saturating_sub(TOLD));
        match rest {
            0 => quoted(told, ", "),
            rest => format!("{} and {rest} more", quoted(told, ", ")),
        }
    };
    if !absence.elsewhere.is_empty() {
        let mut elsewhere: Vec<&str> = absence.elsewhere.iter().map(String::as_str).collect();
        // Sources may have an object several times.
        elsewhere.dedup();
        if let [flag] = elsewhere.as_slice()
            && flag.starts_with("--")
        {
            return format!("did you mean `{flag}`?");
        }
        return format!("there is {}", some_of(&elsewhere));
    }
    let wanted = absence.name.to_lowercase();
    let likeness = |other: &String| strsim::jaro_winkler(&wanted, &other.to_lowercase());
    let others = absence
        .others
        .iter()
        .map(|other| (likeness(other), other.as_str()));
    let mut alike: Vec<(f64, &str)> = others.filter(|(likeness, _)| *likeness >= ALIKE).collect();
    // Likeness is no NaN; equal ones keep the order of names.
    alike.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    if !alike.is_empty() {
        let names: Vec<&str> = alike.into_iter().take(3).map(|(_, name)| name).collect();
        return format!("did you mean {}?", quoted(&names, " or "));
    }
    let others: Vec<&str> = absence.others.iter().map(String::as_str).collect();
    let (one, several) = absence.nouns;
    match others.as_slice() {
        [] => format!("there are no {several}"),
        [only] => format!("the only {one} is `{only}`"),
        _ => format!("there are {} {several}: {}", others.len(), some_of(&others)),
    }
}

/// The subject could not be read, so that there is no verdict.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Unread(String);

impl Unread {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// The user pressed Ctrl-C.
#[derive(Debug, Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// The time that `--timeout` gives is over.
#[derive(Debug, Error)]
#[error("timed out after {} s (`--timeout`){}", limit.as_secs_f64(), while_doing(doing.as_deref()))]
pub(crate) struct TimedOut {
    pub(crate) limit: std::time::Duration,
    /// Current operation.
    pub(crate) doing: Option<String>,
}

fn while_doing(doing: Option<&str>) -> String {
    doing.map_or_else(String::new, |doing| format!(", while {doing}"))
}

/// Ways out of the errors that know some: one sentence each, with the command or flag to use. A typed error that has some is one more line
/// here.
const HINTING: &[fn(&(dyn StdError + 'static)) -> Vec<String>] = &[
    |cause| hints_of(cause, |error: &UsageError| error.hint.clone()),
    |cause| hints_of(cause, Absent::hints),
    |cause| hints_of(cause, |error: &NotFound| Some(error.hint.clone())),
    |cause| hints_of(cause, dra_runner::Failure::hint),
    |cause| hints_of(cause, |_: &TimedOut| Some(TAKES_LONG.to_owned())),
    |cause| hints_of(cause, sort_hint),
    |cause| hints_of(cause, live::Error::hint),
    |cause| hints_of(cause, conversion::Error::hint),
    |cause| hints_of(cause, conversion::RecordError::hint),
    |cause| hints_of(cause, |error: &conversion::Trouble| error.hint.clone()),
    |cause| hints_of(cause, |_: &conversion::Trouble| Some(RUN_AGAIN.to_owned())),
    |cause| hints_of(cause, LoadError::hint),
    |cause| hints_of(cause, SnapshotError::hint),
    |cause| hints_of(cause, DestinationError::hint),
];

const TAKES_LONG: &str =
    "increase `--timeout`, or limit the command to one namespace with `-n` or to fewer objects";
const RUN_AGAIN: &str = "run it again afterwards to continue where it stopped";

/// The hints that `hints` finds where `cause` is an error of its type.
fn hints_of<E: StdError + 'static, H: IntoIterator<Item = String>>(
    cause: &(dyn StdError + 'static),
    hints: impl Fn(&E) -> H,
) -> Vec<String> {
    let error = cause.downcast_ref::<E>();
    error.into_iter().flat_map(hints).collect()
}

fn sort_hint(error: &PrintError) -> Option<String> {
    match error {
        PrintError::Sort(SortError::NoSuchField { columns, .. }) => Some(format!(
            "sort by a column ({}) or by a field of `-o json`, as in `.name`",
            columns.join(", ")
        )),
        PrintError::Sort(SortError::NotSortable(_)) | PrintError::Write(_) => None,
    }
}

/// The hints of everything in the chain of `error`, each once.
pub(crate) fn hints(error: &anyhow::Error) -> Vec<String> {
    let all = error
        .chain()
        .flat_map(|cause| HINTING.iter().flat_map(|hints| hints(cause)));
    all.unique().collect()
}

/// The chain of `error` in one line, from what was being done down to its cause.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain() {
        let text = cause.to_string();
        // Some libraries repeat their source in their own text.
        if message.ends_with(&text) {
            continue;
        }
        if !message.is_empty() {
            message.push_str(": ");
        }
        message.push_str(&text);
    }
    message
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    #[test]
    fn codes_and_their_documentation_agree() {
        #[expect(clippy::disallowed_methods, reason = "a test compares the code with a page")]
        let page = std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/docs/reference/exit-codes.md"
        ))
        .expect("docs/reference/exit-codes.md is there");
        let documented: Vec<u8> = page
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok())
            .collect();
        let outcomes = [Outcome::Done, Outcome::Findings, Outcome::Unknown].map(Outcome::code);
        let failures = [
            Failure::Usage,
            Failure::World,
            Failure::Interrupted,
            Failure::ClosedPipe,
        ]
        .map(Failure::code);
        let mut known: Vec<u8> = outcomes.into_iter().chain(failures).collect();
        known.sort_unstable();
        known.dedup();
        assert_eq!(documented, known);
    }

    #[test]
    fn the_kind_is_found_anywhere_in_the_chain() {
        let broken = io::Error::from(io::ErrorKind::BrokenPipe);
        let cases = [
            (
                anyhow!(broken).context("cannot write to standard output"),
                Failure::ClosedPipe,
            ),
            (
                anyhow!(UsageError::new("no such kind")).context("cannot describe `x/y`"),
                Failure::Usage,
            ),
            (anyhow!(Interrupted).context("loading"), Failure::Interrupted),
            (anyhow!("connection refused"), Failure::World),
        ];
        for (error, expected) in cases {
            assert_eq!(Failure::of(&error), expected, "{error:#}");
        }
    }

    #[test]
    fn a_hint_is_given_once_and_a_repeated_cause_is_not_printed_twice() {
        let error = anyhow!(UsageError::new("b: c").hint("do d"));
        let error = Err::<(), _>(error)
            .context("a: b: c")
            .context("x")
            .expect_err("an error");
        assert_eq!(message(&error), "x: a: b: c");
        assert_eq!(hints(&error), ["do d"]);
    }
}
