//! The subcommands, one file each: arguments, then look up, compute, print.
//!
//! A command's file has its `Args`, whose doc comment is the command's help, what it `ACCEPTS` of the global flags about
//! output, the `COLUMNS` of its table, and `run`. A new command is that file, its `mod` line, and its line in `commands!` below.

mod cel;
mod check;
mod claims;
mod completion;
mod convert;
mod describe;
mod devices;
mod diff;
mod explain;
mod export;
mod fleet;
mod judging;
mod names;
mod objects;
mod places;
mod presence;
mod report;
mod reserved;
mod run;
#[cfg(test)]
mod schemas;
mod service;
mod shown;
mod simulate;
mod snapshot;
mod status;
mod successor;
mod taints;
mod threads;
mod top;
mod usage;
mod version;
mod watching;
mod words;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use clap::ValueEnum;

use crate::context::{Ctx, Settings};
use crate::error::{Outcome, UsageError};
use crate::output::{Format, present};
use dra_reports::findings::Counts;

pub(crate) use completion::{Lookup, lookup};
pub(crate) use describe::kind_called;
pub(crate) use names::{Find, Typed};
pub(crate) use objects::is_file;
pub(crate) use threads::STACK;

/// Declares the commands, each with the threads that run its I/O.
macro_rules! commands {
    ($($variant:ident => $module:ident, $threads:ident;)+) => {
        /// Commands of `kubectl dra`.
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum Command {
            $($variant($module::Args),)+
        }

        /// Output flags that each command accepts.
        pub(crate) const ACCEPTED: &[(&str, Accepts)] = &[$((stringify!($module), $module::ACCEPTS),)+];

        impl Command {
            /// Returns how the command is called, which is how its file is called, and what it makes of the flags about output.
            pub(crate) fn accepts(&self) -> (&'static str, Accepts) {
                match self {
                    $(Self::$variant(_) => (stringify!($module), $module::ACCEPTS),)+
                }
            }

            /// Returns what is to be done to run the command.
            pub(crate) fn job(self) -> (Threads, Job) {
                match self {
                    $(Self::$variant(args) => (
                        Threads::$threads,
                        Box::new(move |ctx| Box::pin($module::run(ctx, args))),
                    ),)+
                }
            }
        }
    };
}

commands! {
    Status => status, Many;
    Claims => claims, Many;
    Reserved => reserved, Many;
    Devices => devices, Many;
    Taints => taints, Many;
    Describe => describe, Many;
    Check => check, Many;
    Convert => convert, Many;
    Explain => explain, Many;
    Simulate => simulate, Many;
    Cel => cel, Many;
    Run => run, One;
    Export => export, One;
    Top => top, One;
    Report => report, Many;
    Diff => diff, Many;
    Snapshot => snapshot, Many;
    Version => version, Many;
    Completion => completion, Many;
}

/// A duration such as `30s` or `1m30s`.
fn duration(text: &str) -> std::result::Result<Duration, String> {
    let duration: Option<jiff::SignedDuration> = text.parse().ok();
    duration
        .and_then(|duration| duration.try_into().ok())
        .ok_or_else(|| "expected a duration such as 30s or 1m30s".to_owned())
}

/// `2 errors, 1 warning`, or `none`: how `check` and `status` tell numbers of findings.
fn words_of(counts: &Counts) -> String {
    let Counts {
        errors,
        warnings,
        infos,
    } = *counts;
    let found = present([
        (errors, "error", "errors"),
        (warnings, "warning", "warnings"),
        (infos, "info", "infos"),
    ]);
    if found.is_empty() {
        "none".to_owned()
    } else {
        found.join(", ")
    }
}

/// A command with its arguments, ready to run on a runtime.
pub(crate) type Job = Box<dyn Send + for<'c> FnOnce(&'c Ctx) -> Waiting<'c>>;

/// Threads that run a command's I/O.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Threads {
    /// As many threads as there are processors: for long answers, which are decrypted and decoded.
    Many,
    /// The command's own thread: for many short responses that would each wake another thread, which costs as much as
    /// the response.
    One,
}

/// The future of a command. It stays on one thread, so it need not be `Send`.
pub(crate) type Waiting<'c> = Pin<Box<dyn Future<Output = Result> + 'c>>;

/// Result of a command.
pub(crate) type Result = anyhow::Result<Outcome>;

/// Global output flags that a command accepts. The others are rejected: a flag that is silently
/// without effect is worse.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accepts {
    formats: &'static [Format],
    /// The formats of other programs that show findings, too.
    exports: bool,
    /// `--no-headers`, `--sort-by` and `-l`.
    list: bool,
    watch: bool,
    /// Several clusters.
    fleet: bool,
}

impl Accepts {
    /// The command prints something that has no other form.
    pub(crate) const NOTHING: Self = Self {
        formats: &[Format::Table],
        exports: false,
        list: false,
        watch: false,
        fleet: false,
    };
    /// The command prints a report that is no list.
    pub(crate) const REPORT: Self = Self {
        formats: &[
            Format::Table,
            Format::Wide,
            Format::Json,
            Format::Yaml,
            Format::Markdown,
            Format::Html,
        ],
        ..Self::NOTHING
    };
    /// The command prints a report that is no list, and that names objects.
    pub(crate) const NAMED_REPORT: Self = Self {
        formats: Self::LIST.formats,
        ..Self::REPORT
    };
    /// The command prints a list with a name for each item.
    pub(crate) const LIST: Self = Self {
        formats: &[
            Format::Table,
            Format::Wide,
            Format::Json,
            Format::Yaml,
            Format::Name,
            Format::Markdown,
            Format::Html,
        ],
        list: true,
        ..Self::NOTHING
    };

    /// The command prints a list of findings.
    pub(crate) const FINDINGS: Self = Self {
        exports: true,
        ..Self::LIST
    };

    /// The same with `-w`.
    pub(crate) const fn watch(self) -> Self {
        Self { watch: true, ..self }
    }

    /// The same with several clusters.
    pub(crate) const fn fleet(self) -> Self {
        Self { fleet: true, ..self }
    }

    /// The formats that the command prints.
    pub(crate) fn formats(self) -> Vec<Format> {
        let exports = [Format::Sarif, Format::Junit, Format::Github];
        let exports = exports.iter().filter(|_| self.exports);
        let lines = self.fleet.then_some(&Format::Ndjson);
        self.formats.iter().chain(lines).chain(exports).copied().collect()
    }

    /// Returns whether the command has no use for the flag with this id.
    pub(crate) fn refuses(self, flag: &str) -> bool {
        match flag {
            "no_headers" | "sort_by" | "selector" => !self.list,
            "watch" => !self.watch,
            "output" => self.formats.len() < 2,
            "details" => !self.formats.contains(&Format::Wide),
            "fleet" | "parallel" => !self.fleet,
            _ => false,
        }
    }

    /// Refuses what the command called `name` could only ignore. The error comes with the flag that causes it, if it is one.
    pub(crate) fn check(
        self,
        name: &str,
        settings: &Settings,
    ) -> std::result::Result<(), (UsageError, Option<&'static str>)> {
        let output = &settings.output;
        if settings.fleet.is_some() && !self.fleet {
            let error = UsageError::new(format!("`{name}` reads one cluster"));
            return Err((error.hint(ONE_CLUSTER), None));
        }
        if settings.fleet.is_none() && settings.parallel.is_some() {
            let error = UsageError::new("`--parallel` applies to several clusters");
            return Err((error, Some("--parallel")));
        }
        let flags = [
            ("--no-headers", "no_headers", output.no_headers),
            ("--sort-by", "sort_by", output.sort_by.is_some()),
            ("--selector", "selector", !settings.selector.is_empty()),
            ("--watch", "watch", output.watch),
            ("--output", "output", output.format != Format::default()),
            ("--details", "details", output.details),
        ];
        if let Some((flag, ..)) = flags
            .into_iter()
            .find(|(_, id, given)| *given && self.refuses(id))
        {
            let error = UsageError::new(format!("`{name}` does not support `{flag}`"));
            return Err((error, Some(flag)));
        }
        let mut formats = self.formats();
        if settings.fleet.is_some() {
            formats.retain(|format| is_of_fleet(*format));
        }
        if !formats.contains(&output.format) {
            let called = |format: &Format| Some(format.to_possible_value()?.get_name().to_owned());
            let names: Vec<String> = formats.iter().filter_map(called).collect();
            let given = called(&output.format).unwrap_or_default();
            let error = UsageError::new(match output.format {
                _ if self.formats().contains(&output.format) => {
                    format!("`{name}` does not support `-o {given}` for several clusters")
                }
                Format::Sarif | Format::Junit | Format::Github => {
                    format!("`{name}` does not support this format; only `check` does")
                }
                _ => format!("`{name}` does not support `-o {given}`"),
            });
            return Err((
                error.hint(format!("supported formats: `{}`", names.join("`, `"))),
                None,
            ));
        }
        let is_for_people = matches!(output.format, Format::Table | Format::Markdown | Format::Html);
        if output.details && !is_for_people {
            let error = UsageError::new(
                "`--details` cannot be used with `-o`, except with `-o markdown` and `-o html`",
            );
            return Err((error, Some("--output")));
        }
        // A list of names has no headers, so that it comes out as asked: scripts give both to kubectl, too.
        if output.no_headers && !matches!(output.format, Format::Table | Format::Wide | Format::Name) {
            let format = output.format.to_possible_value();
            let error = UsageError::new(format!(
                "`--no-headers` applies to tables, not to `-o {}`",
                format.as_ref().map_or("", |format| format.get_name())
            ));
            return Err((error, Some("--no-headers")));
        }
        Ok(())
    }
}

/// What to do instead of several clusters.
pub(super) const ONE_CLUSTER: &str = "choose one with `--context NAME` or `--from FILE`; `status`, `check`, and `explain` \
                                      without a name read several";

/// Returns whether a format can hold what is said of several clusters.
fn is_of_fleet(format: Format) -> bool {
    matches!(
        format,
        Format::Table | Format::Wide | Format::Json | Format::Yaml | Format::Ndjson | Format::Markdown
    )
}

#[cfg(test)]
mod tests;
