//! What a command works with: the settings, resolved once from flags and environment, the printer, the clock.
//!
//! Flags are parsed in `cli`; here they have become plain values that commands and sources can use. Loading objects is
//! added here, since it turns settings into a cluster.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::model::{Cluster, LabelSelector, Time};
use crate::output::{ColorWish, Envelope, Options, PrintError, Printer, Progress, Report, Terminal};
use crate::sources::Needs;

/// Everything the global flags say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) source: SourceSetting,
    /// A malformed object ends the command instead of being reported and left out.
    pub(crate) strict: bool,
    pub(crate) scope: Scope,
    pub(crate) selector: LabelSelector,
    pub(crate) watch: bool,
    pub(crate) versions: VersionSettings,
    /// `--now`; the clock's time otherwise.
    pub(crate) now: Option<Time>,
    pub(crate) output: Options,
}

/// Where objects come from.
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

/// kubectl's connection flags. What is not set comes from the kubeconfig, or from the pod that the process runs in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Connection {
    pub(crate) kubeconfig: Option<PathBuf>,
    pub(crate) context: Option<String>,
    pub(crate) cluster: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) server: Option<String>,
    pub(crate) tls_server_name: Option<String>,
    /// Without it the kubeconfig decides.
    pub(crate) insecure_skip_tls_verify: bool,
    pub(crate) certificate_authority: Option<PathBuf>,
    pub(crate) client_certificate: Option<PathBuf>,
    pub(crate) client_key: Option<PathBuf>,
    pub(crate) token: Option<String>,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) impersonate: Impersonation,
    /// How long one request may take; `None` is for ever.
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) proxy_url: Option<String>,
    pub(crate) disable_compression: bool,
}

/// Whom to act as.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Impersonation {
    pub(crate) user: Option<String>,
    pub(crate) uid: Option<String>,
    pub(crate) groups: Vec<String>,
    /// Keys may repeat.
    pub(crate) extra: Vec<(String, String)>,
}

/// Which namespaces to look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// As the command has it: all namespaces, or the current one of the kubeconfig.
    #[default]
    Unset,
    Namespace(String),
    All,
}

/// What the user knows better than the source about versions and gates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct VersionSettings {
    pub(crate) kubernetes: Option<MinorVersion>,
    /// Gates of every component.
    pub(crate) gates: Vec<GateSetting>,
    pub(crate) scheduler_gates: Vec<GateSetting>,
    pub(crate) controller_manager_gates: Vec<GateSetting>,
    pub(crate) api_server_gates: Vec<GateSetting>,
    pub(crate) kubelet_gates: Vec<GateSetting>,
}

/// A release of Kubernetes, as far as rules depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MinorVersion {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

/// One `NAME=true` of a `--feature-gates`. Of several with the same name the last one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GateSetting {
    pub(crate) name: String,
    pub(crate) enabled: bool,
}

/// What the process finds around it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Environment {
    pub(crate) terminal: Terminal,
}

impl Environment {
    /// Looks once, at the start.
    pub(crate) fn read() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let wish = ColorWish {
            no_color: set("NO_COLOR").is_some(),
            force: set("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            dumb: set("TERM").is_some_and(|value| value == "dumb"),
        };
        let (stdout, stderr) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        Self {
            terminal: Terminal { wish, stdout, stderr },
        }
    }
}

/// The context of one run of a command.
pub(crate) struct Ctx {
    settings: Settings,
    printer: Printer,
    now: Time,
    /// Filled while objects are loaded, printed with the report.
    envelope: Mutex<Envelope>,
    /// The whole command line, for those who print it. A function, since most commands do not need it built again.
    command_line: fn() -> clap::Command,
}

impl Ctx {
    pub(crate) fn new(
        settings: Settings,
        environment: Environment,
        command_line: fn() -> clap::Command,
    ) -> Self {
        let printer = Printer::new(settings.output.clone(), environment.terminal);
        let now = settings.now.unwrap_or_else(|| Timestamp::now().into());
        Self {
            settings,
            printer,
            now,
            envelope: Mutex::default(),
            command_line,
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn printer(&self) -> &Printer {
        &self.printer
    }

    /// The time that ages and deadlines are counted from: one for the whole run.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    pub(crate) fn command_line(&self) -> clap::Command {
        (self.command_line)()
    }

    /// Prints `report` with what was noted about its source.
    pub(crate) fn print(&self, report: impl Report) -> Result<(), PrintError> {
        let envelope = self
            .envelope
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        self.printer.report(&envelope, report)
    }

    /// Notes a fact about where the objects come from.
    pub(crate) fn describe_source(&self, note: impl FnOnce(&mut Envelope)) {
        note(&mut self.envelope.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Warns on stderr and in the report. The same warning is given once.
    pub(crate) fn warn(&self, warning: impl Into<String>) {
        let warning = warning.into();
        let mut envelope = self.envelope.lock().unwrap_or_else(PoisonError::into_inner);
        if !envelope.warnings.contains(&warning) {
            self.printer.warning(&warning);
            envelope.warnings.push(warning);
        }
    }

    /// Loads what a command needs.
    #[expect(clippy::unused_async, reason = "provisional")]
    pub(crate) async fn load(&self, _needs: Needs) -> anyhow::Result<Cluster> {
        match &self.settings.source {
            SourceSetting::Files(names) => {
                let cluster = crate::sources::load_files(names)?;
                let version = cluster.environment().version.to_string();
                self.describe_source(|envelope| {
                    envelope.kubernetes_version = Some(version);
                    envelope.source = Some(crate::output::Source::Files { names: names.clone() });
                });
                Ok(cluster)
            }
            SourceSetting::Cluster(_) => anyhow::bail!("not yet"),
        }
    }

    /// The namespace that commands look at unless told otherwise: that of the kubeconfig's context, `default` for files.
    pub(crate) fn current_namespace(&self) -> String {
        "default".to_owned()
    }

    /// Shows that `what` is going on, once it takes long.
    pub(crate) fn progress(&self, what: &str, total: Option<u64>) -> Progress {
        self.printer.progress(what, total)
    }
}
