//! Progress of long work, on stderr: nothing for the first second, and nothing at all where nobody would see it.
//!
//! Work that can take long takes a [`Progress`] and tells it how far it is. Whether that is drawn is decided here: only
//! on a terminal, not with `-q`, and not with `-v`, whose lines would tear it apart.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::sanitize;

/// Work that ends within this time shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

/// The lines of all running work, below which stderr continues.
#[derive(Debug)]
pub(super) struct Lines {
    lines: MultiProgress,
    visible: bool,
}

impl Lines {
    pub(super) fn new(visible: bool) -> Self {
        let target = if visible {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            lines: MultiProgress::with_draw_target(target),
            visible,
        }
    }

    /// Runs `write` with the lines out of its way.
    pub(super) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.lines.suspend(write)
    }

    pub(super) fn start(&self, what: &str, total: Option<u64>) -> Progress {
        let bar = ProgressBar::hidden();
        if !self.visible {
            return Progress { bar, waiting: None };
        }
        let template = match total {
            Some(total) => {
                bar.set_length(total);
                "{msg} [{bar:30}] {human_pos}/{human_len}, {per_sec}, {eta} left"
            }
            None => "{spinner} {msg} {human_pos}",
        };
        // A template that did not parse would be a mistake in this file; the default one does then.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(line(what));
        let (sender, ended) = mpsc::channel::<()>();
        let (lines, shown) = (self.lines.clone(), bar.clone());
        // A thread, since the work may be stuck before it has anything to tell.
        let thread = std::thread::spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                lines.add(shown).enable_steady_tick(REDRAW);
            }
        });
        Progress {
            bar,
            waiting: Some((sender, thread)),
        }
    }
}

/// `what` in a line on a terminal, which the library draws past the gate.
fn line(what: &str) -> String {
    sanitize::for_terminal(&sanitize::for_cell(what)).into_owned()
}

/// How far some work is. Its line goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Ends the wait of the thread that will show the line, and the thread.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// `by` more is done.
    pub(crate) fn advance(&self, by: u64) {
        self.bar.inc(by);
    }

    /// What is being done now.
    pub(crate) fn now(&self, what: &str) {
        self.bar.set_message(line(what));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.waiting.take() {
            drop(sender);
            // It does nothing that can panic; if it did, the work would not care.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
