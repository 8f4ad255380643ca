//! Context of a command: the settings, resolved once from flags and environment, the printer, the clock.
//!
//! Flags are parsed in `cli`; here they have become plain values that commands and sources can use. `load` turns them into a
//! cluster.

#![expect(clippy::disallowed_methods, reason = "asks whether they are terminals")]

mod load;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::error::Outcome;
use crate::output::{
    ColorWish, Envelope, Options, Part, PrintError, Printer, Progress, Report, Terminal, Times, web_page,
};
use dra_model::{Change, Cluster, Key, Kind, LabelSelector, NewerFields, Time};
use dra_reports::script::Carried;
use dra_sources::VersionSettings;
use dra_sources::live::{Connection, Live, OwnersWanted};

pub(crate) use load::beyond;

/// So many warnings are kept for the report. A command that watches for weeks may give more of them, on stderr alone.
const MOST_WARNINGS: usize = 1_000;

/// Everything the global flags say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) source: SourceSetting,
    /// Several clusters in the place of `source`.
    pub(crate) fleet: Option<FleetSetting>,
    /// `--parallel`.
    pub(crate) parallel: Option<NonZeroUsize>,
    /// A malformed object ends the command instead of being reported and left out.
    pub(crate) strict: bool,
    /// Files hold everything that there is: a kind without objects has none.
    pub(crate) complete: bool,
    /// What is named and not there is warned of instead of ending the command.
    pub(crate) allow_missing: bool,
    pub(crate) scope: Scope,
    pub(crate) selector: LabelSelector,
    pub(crate) versions: VersionSettings,
    /// After this long the command ends, whatever it does; with several clusters the reading of each.
    pub(crate) timeout: Option<Duration>,
    /// `--now`; the clock's time otherwise.
    pub(crate) now: Option<Time>,
    /// The flags that printed commands repeat.
    pub(crate) carried: Carried,
    pub(crate) output: Options,
}

/// Source of objects.
#[derive(Debug, Clone)]
pub(crate) enum SourceSetting {
    Cluster(Box<Connection>),
    /// The arguments of `--from`: files, directories, `-` or `example:NAME`.
    Files(Vec<String>),
}

impl Default for SourceSetting {
    fn default() -> Self {
        Self::Cluster(Box::default())
    }
}

/// Several clusters, which are asked the same.
#[derive(Debug, Clone)]
pub(crate) enum FleetSetting {
    /// The contexts of `--context`.
    Contexts(Vec<Member>),
    /// The argument of `--fleet`: a directory with a snapshot of each cluster.
    Directory(String),
}

/// One of several clusters.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Its name in the report.
    pub(crate) name: String,
    pub(crate) source: SourceSetting,
    /// The flag that names it alone.
    pub(crate) flag: String,
    /// The flags of commands about it.
    pub(crate) carried: Carried,
}

/// Namespaces in scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// As the command has it: all namespaces, or the current one of the kubeconfig.
    #[default]
    Unset,
    Namespace(String),
    All,
}

/// Looks at the terminal of the process, once, at the start.
pub(crate) fn terminal() -> Terminal {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let wish = ColorWish {
        no_color: set("NO_COLOR").is_some(),
        force: set("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
        dumb: set("TERM").is_some_and(|value| value == "dumb"),
    };
    Terminal {
        wish,
        stdout: std::io::stdout().is_terminal(),
        stderr: std::io::stderr().is_terminal(),
        unicode: !wish.dumb && has_unicode(["LC_ALL", "LC_CTYPE", "LANG"].map(set)),
    }
}

/// Returns whether the first of the variables of the locale that is set names an encoding of Unicode.
fn has_unicode(locale: impl IntoIterator<Item = Option<OsString>>) -> bool {
    let first = locale.into_iter().flatten().next();
    let name = first.map(|name| name.to_string_lossy().to_ascii_lowercase());
    // Terminals of Windows have no locale, and show all of it.
    name.map_or(cfg!(windows), |name| {
        name.ends_with("utf-8") || name.ends_with("utf8")
    })
}

/// Ctrl-C and the end of the time, as a command that must not be cut off sees them.
#[derive(Default)]
struct Interruption {
    /// True if the command ends without Ctrl-C.
    awaited: AtomicBool,
    /// Grace period after `--timeout` for a command that handles it itself.
    last_grace: Mutex<Option<Duration>>,
    sender: watch::Sender<bool>,
    /// Current operation when the command was interrupted.
    doing: OnceLock<String>,
}

/// The context of one run of a command.
pub(crate) struct Ctx {
    settings: Settings,
    printer: Printer,
    /// Time at which the run began.
    started: Time,
    /// The cluster, once it was asked.
    live: tokio::sync::OnceCell<Live>,
    /// Filled while objects are loaded, printed with the report.
    envelope: Mutex<Envelope>,
    /// Loaded clusters, see [`Self::keep`].
    kept: Mutex<Vec<Cluster>>,
    /// Effect of Ctrl-C.
    interruption: Interruption,
    /// Shown between loading and printing.
    computing: Mutex<Option<Progress>>,
    /// The whole command line, for those who print it. A function, since most commands do not need it built again.
    command_line: fn() -> clap::Command,
}

impl Ctx {
    pub(crate) fn new(settings: Settings, terminal: Terminal, command_line: fn() -> clap::Command) -> Self {
        let printer = Printer::new(settings.output.clone(), terminal);
        Self::with(settings, printer, command_line)
    }

    /// A run that prints on `printer`.
    pub(crate) fn with(settings: Settings, printer: Printer, command_line: fn() -> clap::Command) -> Self {
        Self {
            settings,
            printer,
            started: Timestamp::now().into(),
            live: tokio::sync::OnceCell::new(),
            envelope: Mutex::default(),
            kept: Mutex::default(),
            interruption: Interruption::default(),
            computing: Mutex::default(),
            command_line,
        }
    }

    /// Shares what was loaded for as long as this lives, which is to the end of the process: giving back the memory of a large
    /// cluster object by object takes a noticeable part of a run, and is of no use.
    fn keep(&self, cluster: Cluster) {
        self.kept.lock().push(cluster);
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns whether a cluster is asked, and not files.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.settings.source, SourceSetting::Cluster(_))
    }

    pub(crate) fn printer(&self) -> &Printer {
        &self.printer
    }

    /// The time that ages and deadlines of `cluster` are counted from: what `--now` says, else when a snapshot was
    /// taken, else the newest time of old files, else the clock's. So a snapshot shows the ages that the cluster had.
    /// It is unknown before something is loaded.
    pub(crate) fn now(&self, cluster: &Cluster) -> Time {
        let environment = cluster.environment();
        let recorded = environment.read_at.or(environment.assumed_now);
        self.settings.now.or(recorded).unwrap_or(self.started)
    }

    /// Returns when the run began, unless `--now` says otherwise: the time of what is read from a cluster.
    pub(crate) fn begun(&self) -> Time {
        self.settings.now.unwrap_or(self.started)
    }

    /// The current time, for waiting code.
    pub(crate) fn clock(&self) -> Time {
        self.settings.now.unwrap_or_else(|| Timestamp::now().into())
    }

    /// The clock of this machine; nothing where the user says what the time is.
    pub(crate) fn wall(&self) -> Option<fn() -> Time> {
        let wall: fn() -> Time = || Timestamp::now().into();
        self.settings.now.is_none().then_some(wall)
    }

    /// Becomes true when a command that [finishes its own work](Self::ends_by_itself) is asked to stop.
    pub(crate) fn interruption(&self) -> watch::Receiver<bool> {
        self.interruption.sender.subscribe()
    }

    /// From now on neither Ctrl-C nor the end of the time ends the process: the command is asked to stop, and finishes
    /// with [`Interrupted`].
    ///
    /// [`Interrupted`]: crate::error::Interrupted
    pub(crate) fn ends_by_itself(&self) {
        self.interruption.awaited.store(true, Ordering::Relaxed);
    }

    /// Returns the operation during which the command was asked to stop, otherwise the current one.
    pub(crate) fn doing(&self) -> Option<String> {
        let told = self.interruption.doing.get().cloned();
        told.or_else(|| self.printer.doing())
    }

    /// Passes Ctrl-C to the command; returns whether it then finishes its work. The second time it has no choice.
    pub(crate) fn interrupt(&self) -> bool {
        self.stop("interrupted: finishing requests in flight; press Ctrl-C again to stop immediately")
    }

    /// Passes the timeout to the command; returns whether it then finishes its work, as after Ctrl-C.
    pub(crate) fn time_is_over(&self) -> bool {
        self.stop("`--timeout` expired: finishing requests in flight; press Ctrl-C to stop immediately")
    }

    fn stop(&self, note: &str) -> bool {
        if let Some(doing) = self.printer.doing() {
            _ = self.interruption.doing.set(doing);
        }
        let ends_by_itself =
            self.interruption.awaited.load(Ordering::Relaxed) && !self.interruption.sender.send_replace(true);
        if ends_by_itself {
            // Without a message, users would press the key again.
            self.printer.interrupted();
            self.printer.note(note);
        }
        ends_by_itself
    }

    /// From now on the command handles the end of `--timeout` itself, with `grace` more time.
    pub(crate) fn keep_time(&self, grace: Duration) {
        *self.interruption.last_grace.lock() = Some(grace);
    }

    /// Returns how much longer the command gets whose time is over, once.
    pub(crate) fn keeps_time(&self) -> Option<Duration> {
        self.interruption.last_grace.lock().take()
    }

    /// From now on it is shown that the command computes, until it prints.
    pub(crate) fn begin_computing(&self) {
        self.begin("computing", None);
    }

    /// From now on this is shown instead of what was computed, until the command prints; `total` is the number of steps, if known.
    pub(crate) fn begin(&self, what: &str, total: Option<u64>) {
        self.end_computing();
        *self.computing.lock() = Some(self.progress(what, total));
    }

    /// Says more exactly what is computed.
    pub(crate) fn now_computing(&self, what: &str) {
        if let Some(computing) = &*self.computing.lock() {
            computing.now(what);
        }
    }

    /// One more of what is computed is begun.
    pub(crate) fn count_computed(&self) {
        if let Some(computing) = &*self.computing.lock() {
            computing.advance(1);
        }
    }

    /// Removes the progress display.
    pub(crate) fn end_computing(&self) {
        drop(self.computing.lock().take());
    }

    /// Returns where the user's programs keep what they remember.
    pub(crate) fn state_folder() -> PathBuf {
        let folder = std::env::var_os("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute());
        folder.unwrap_or_else(|| {
            let home = std::env::home_dir().unwrap_or_default();
            home.join(".local").join("state")
        })
    }

    /// Reads `objects` again into `cluster`, and says which of them could not be read.
    pub(crate) async fn read_again(
        &self,
        cluster: &mut Cluster,
        objects: BTreeSet<(Kind, Key)>,
    ) -> anyhow::Result<BTreeSet<(Kind, Key)>> {
        let again = self.live().await?.read_again(objects).await?;
        let mut newer = NewerFields::of(cluster.environment().version);
        for mut change in again.changes {
            if let Change::Put(object) = &mut change {
                newer.drop_from_one(object);
            }
            cluster.apply(change);
        }
        self.warn_all(again.warnings);
        Ok(again.unread)
    }

    /// Adds what is wanted of owners to `cluster`, where it is live, and says what could not be read.
    pub(crate) async fn learn_owners(
        &self,
        cluster: &mut Cluster,
        wanted: Vec<OwnersWanted>,
    ) -> anyhow::Result<Vec<String>> {
        if !self.is_live() || wanted.is_empty() {
            return Ok(Vec::new());
        }
        let read = self.live().await?.owners(wanted).await?;
        cluster.learn_owners(read.owners());
        Ok(read.unread)
    }

    pub(crate) fn command_line(&self) -> clap::Command {
        (self.command_line)()
    }

    /// Prints `report` with what was noted about its source.
    pub(crate) fn print(&self, mut report: impl Report) -> Result<(), PrintError> {
        self.end_computing();
        self.printer.report(&self.envelope(), &mut report)
    }

    /// The same, and the verdict of the report.
    pub(crate) fn answer(&self, report: impl Report, outcome: Outcome) -> anyhow::Result<Outcome> {
        self.print(report)?;
        Ok(outcome)
    }

    /// Returns a web page with what was noted about its source.
    pub(crate) fn web_page(&self, title: &str, cluster: &Cluster, parts: &[Part]) -> String {
        self.end_computing();
        let times = Times {
            read: cluster.environment().read_at,
            now: self.now(cluster),
        };
        web_page(title, &self.envelope(), Some(times), parts)
    }

    /// Prints `report` on stderr, since stdout is for something else.
    pub(crate) fn print_aside(&self, mut report: impl Report) -> Result<(), PrintError> {
        self.end_computing();
        self.printer.report_aside(&self.envelope(), &mut report)
    }

    /// The context of the same command on one of several clusters. It prints nothing.
    pub(crate) fn of_member(&self, member: Member) -> Self {
        let settings = Settings {
            source: member.source,
            carried: member.carried,
            fleet: None,
            ..self.settings.clone()
        };
        Self::with(settings, self.printer.muted(), self.command_line)
    }

    /// Returns what was noted about the source.
    pub(crate) fn envelope(&self) -> Envelope {
        self.envelope.lock().clone()
    }

    /// Warns on stderr and in the report. The same warning is given once.
    pub(crate) fn warn(&self, warning: impl Into<String>) {
        let warning = warning.into();
        let mut envelope = self.envelope.lock();
        if !envelope.warnings.contains(&warning) {
            self.printer.warning(&warning);
            if envelope.warnings.len() < MOST_WARNINGS {
                envelope.warnings.push(warning);
            }
        }
    }

    /// Gives each of these warnings.
    pub(crate) fn warn_all(&self, warnings: impl IntoIterator<Item: Into<String>>) {
        warnings.into_iter().for_each(|warning| self.warn(warning));
    }

    /// Shows the progress of `what`, once it takes long.
    pub(crate) fn progress(&self, what: &str, total: Option<u64>) -> Progress {
        self.printer.progress(what, total)
    }
}
