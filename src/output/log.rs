//! Log of long-running commands: lines on stderr for people or log collectors.
//!
//! What is logged are events of `tracing` from this program; what the libraries below log stays out. Like everything else a line leaves
//! through the gate, so that no text of a cluster drives a terminal.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span;
use tracing::{Event, Metadata, Subscriber};

use super::sanitize::Notation;
use super::stream::Stream;

/// Format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// Human-readable lines
    #[default]
    Text,
    /// One JSON object per line, for log collectors
    Json,
}

/// Log target of events written to the cluster, which needs more than other lines of its level.
const EVENTS: &str = "dra_runner::events";

/// Begins to log on `stream`. `verbosity` is the level of `-v`: 2 and more show what is done, 3 and more the events
/// written to the cluster, as kube-controller-manager has them, 6 and more the requests; nothing, as with `-q`, shows
/// errors alone.
pub(super) fn begin(stream: Arc<Stream>, format: LogFormat, verbosity: Option<u8>) {
    let level = match verbosity {
        None => LevelFilter::ERROR,
        Some(0 | 1) => LevelFilter::INFO,
        Some(2..=5) => LevelFilter::DEBUG,
        Some(_) => LevelFilter::TRACE,
    };
    // A process has one log: the first call wins.
    _ = tracing::subscriber::set_global_default(Log {
        stream,
        format,
        level,
        events: verbosity.is_some_and(|verbosity| verbosity >= 3),
    });
}

/// Prints each event. There are no spans: an event says itself what it is about.
struct Log {
    stream: Arc<Stream>,
    format: LogFormat,
    level: LevelFilter,
    /// True if events written to the cluster are logged.
    events: bool,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let target = metadata.target();
        let is_ours = target
            .split("::")
            .next()
            .is_some_and(|krate| krate == env!("CARGO_CRATE_NAME") || krate.starts_with("dra_"));
        *metadata.level() <= self.level && is_ours && (self.events || target != EVENTS)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = event.metadata().level().as_str();
        let line = fields.line(self.format, Timestamp::now(), level);
        // A reader that closed stderr does not see the reason.
        _ = self.stream.print(|gate| match self.format {
            LogFormat::Text => gate.text(&line),
            LogFormat::Json => gate.document(Notation::Json, |out| out.write_all(line.as_bytes())),
        });
    }
}

/// Fields of an event.
#[derive(Default)]
struct Fields {
    message: String,
    others: Vec<(&'static str, Value)>,
}

impl Fields {
    fn line(self, format: LogFormat, now: Timestamp, level: &str) -> String {
        let mut line = String::new();
        match format {
            LogFormat::Text => {
                _ = write!(line, "{now:.6} {level} {}", self.message.replace('\n', " "));
                for (name, value) in self.others {
                    _ = write!(line, " {name}={value}");
                }
            }
            LogFormat::Json => {
                let message = Value::from(self.message);
                _ = write!(
                    line,
                    r#"{{"timestamp":"{now:.6}","level":"{level}","message":{message}"#
                );
                for (name, value) in self.others {
                    _ = write!(line, ",{}:{value}", Value::from(name));
                }
                line.push('}');
            }
        }
        line.push('\n');
        line
    }

    fn push(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(message)) => self.message = message,
            (name, value) => self.others.push((name, value)),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.push(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.push(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use parking_lot::Mutex;

    use super::super::styles::{Color, ColorWish, Styles};
    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns what is logged while `act` runs.
    fn logged(format: LogFormat, level: LevelFilter, terminal: bool, act: impl FnOnce()) -> String {
        let kept = Kept::default();
        let stream = Stream {
            writer: Mutex::new(Box::new(kept.clone())),
            terminal,
            styles: Styles::decide(Color::Never, ColorWish::default(), terminal),
            width: || None,
            unicode: false,
        };
        let log = Log {
            stream: Arc::new(stream),
            format,
            level,
            events: false,
        };
        tracing::subscriber::with_default(log, act);
        let bytes = kept.0.lock().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_of_json_has_what_the_event_says_and_nothing_for_a_terminal_to_obey() {
        let act = || {
            tracing::warn!(controller = "c", count = 3_usize, refused = true, object = %"a/b", "{}", "it\u{1b}[31m\n\u{202e}");
        };
        for terminal in [false, true] {
            let text = logged(LogFormat::Json, LevelFilter::INFO, terminal, act);
            assert_eq!(text.matches('\n').count(), 1, "{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
            assert!(!terminal || !text.contains('\u{202e}'), "{text}");
            let line: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(line["message"], "it\u{1b}[31m\n\u{202e}");
            assert_eq!(line["level"], "WARN");
            assert_eq!(line["controller"], "c");
            assert_eq!(line["count"], 3);
            assert_eq!(line["refused"], true);
            assert_eq!(line["object"], "a/b");
            let timestamp = line["timestamp"].as_str().unwrap();
            assert_eq!(
                timestamp.len(),
                "2026-11-23T10:00:00.000000Z".len(),
                "{timestamp}"
            );
            timestamp.parse::<Timestamp>().unwrap();
        }
    }

    #[test]
    fn people_get_one_line_and_only_what_they_asked_for() {
        let text = logged(LogFormat::Text, LevelFilter::DEBUG, false, || {
            tracing::debug!(resource = "pods", "the watch\nis open");
            tracing::trace!("not asked for");
            tracing::error!(target: "hyper", "of a library");
            tracing::error!(target: "kubectl_drafts", "of another program");
        });
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        assert!(
            text.ends_with(" DEBUG the watch is open resource=\"pods\"\n"),
            "{text}"
        );
    }
}
