//! The log of commands that go on until they are told to end: lines on stderr that collectors read, or people.
//!
//! What is logged are events of `tracing` from this program; what the libraries below log stays out. Like everything else a line leaves
//! through the [`Gate`], so that no text of a cluster drives a terminal.

use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::gate::Gate;
use super::sanitize::Notation;
use super::styles::{Color, ColorWish, Styles};

/// How lines of the log look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object on each line.
    Json,
}

/// Whether everything on stderr is a line of JSON from here on.
static JSON: AtomicBool = AtomicBool::new(false);

/// Begins to log. `verbosity` is the level of `-v`: 2 and more show what is done, 6 and more the requests.
pub(crate) fn begin(format: LogFormat, verbosity: u8) {
    let level = match verbosity {
        0 | 1 => LevelFilter::INFO,
        2..=5 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let own = Targets::new().with_target("kubectl_dra", level);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(Writer { format });
    let registry = tracing_subscriber::registry().with(own);
    // A process has one log; whoever began it first keeps it.
    _ = match format {
        LogFormat::Text => registry.with(lines.with_target(false)).try_init(),
        LogFormat::Json => {
            JSON.store(true, Ordering::Relaxed);
            let lines = lines.json().flatten_event(true).with_target(false);
            registry.with(lines).try_init()
        }
    };
}

/// Whether stderr is read by a collector, which every line has to be JSON for.
pub(super) fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Takes whole lines to stderr.
struct Writer {
    format: LogFormat,
}

impl Write for Writer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut stderr = io::stderr().lock();
        let terminal = stderr.is_terminal();
        let plain = Styles::decide(Color::Never, ColorWish::default(), terminal);
        let mut gate = Gate::new(&mut stderr, plain, terminal);
        match self.format {
            LogFormat::Text => gate.text(&String::from_utf8_lossy(line))?,
            LogFormat::Json => gate.document(Notation::Json, |out| out.write_all(line))?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl MakeWriter<'_> for Writer {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        Self { format: self.format }
    }
}
