//! The log of commands that go on until they are told to end: lines on stderr that collectors read, or people.
//!
//! What is logged are events of `tracing` from this program; what the libraries below log stays out. Like everything else a line leaves
//! through the gate, so that no text of a cluster drives a terminal.

use std::io::{self, Write};
use std::sync::Arc;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::sanitize::Notation;
use super::stream::Stream;

/// How lines of the log look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object on each line.
    Json,
}

/// Begins to log on `stream`. `verbosity` is the level of `-v`: 2 and more show what is done, 6 and more the requests; nothing, as with
/// `-q`, shows errors alone.
pub(super) fn begin(stream: Arc<Stream>, format: LogFormat, verbosity: Option<u8>) {
    let Some(verbosity) = verbosity else {
        return begin_at(stream, format, LevelFilter::ERROR);
    };
    let level = match verbosity {
        0 | 1 => LevelFilter::INFO,
        2..=5 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    begin_at(stream, format, level);
}

fn begin_at(stream: Arc<Stream>, format: LogFormat, level: LevelFilter) {
    let own = Targets::new().with_target("kubectl_dra", level);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_target(false)
        .with_writer(Lines { stream, format });
    let registry = tracing_subscriber::registry().with(own);
    // A process has one log; whoever began it first keeps it.
    _ = match format {
        LogFormat::Text => registry.with(lines).try_init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true)).try_init(),
    };
}

/// Takes whole lines to a stream.
#[derive(Clone)]
struct Lines {
    stream: Arc<Stream>,
    format: LogFormat,
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.stream.print(|gate| match self.format {
            LogFormat::Text => gate.text(&String::from_utf8_lossy(line)),
            LogFormat::Json => gate.document(Notation::Json, |out| out.write_all(line)),
        })?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
