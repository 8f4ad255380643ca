//! Progress of long work, on stderr: nothing for the first second, and nothing at all where it would not be seen.
//!
//! Work that can take long takes a [`Progress`] and tells it how far it is. Whether that is drawn is decided here: only
//! on a terminal, not with `-q`, and not with `-v`, whose lines would tear it apart.

#![expect(
    clippy::disallowed_methods,
    reason = "a library draws text there that was escaped"
)]

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{HumanCount, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use parking_lot::Mutex;

use super::sanitize;

/// Work that ends within this time shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

/// The lines of all running work, below which stderr continues.
#[derive(Debug)]
pub(super) struct Lines {
    lines: MultiProgress,
    /// Current operations, the latest last.
    doing: Doing,
}

/// Current operations, each with a number that distinguishes equal names.
type Doing = Arc<Mutex<Vec<(u64, String)>>>;

impl Lines {
    pub(super) fn new(visible: bool) -> Self {
        let target = if visible {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            lines: MultiProgress::with_draw_target(target),
            doing: Doing::default(),
        }
    }

    /// Runs `write` with the lines out of its way.
    pub(super) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.lines.suspend(write)
    }

    /// Returns what has been begun last of what is being done.
    pub(super) fn doing(&self) -> Option<String> {
        self.doing.lock().last().map(|(_, what)| what.clone())
    }

    /// Lines that are drawn anew below everything else; nothing where they would not be seen, as on a terminal that cannot.
    pub(super) fn view(&self) -> Option<LiveView> {
        (!self.lines.is_hidden()).then(|| LiveView {
            lines: self.lines.clone(),
            shown: Mutex::default(),
        })
    }

    pub(super) fn start(&self, what: &str, total: Option<u64>) -> Progress {
        let bar = ProgressBar::hidden();
        let number = {
            let mut doing = self.doing.lock();
            let number = doing.last().map_or(0, |(number, _)| number + 1);
            doing.push((number, what.to_owned()));
            number
        };
        let doing = (number, Arc::clone(&self.doing));
        if self.lines.is_hidden() {
            return Progress {
                bar,
                doing,
                waiting: None,
            };
        }
        let template = match total {
            Some(total) => {
                bar.set_length(total);
                "{msg} [{bar:30}] {human_pos}/{human_len}, {per_sec}, {eta} left"
            }
            None => "{spinner} {msg}{count}",
        };
        // A template that did not parse would be a mistake in this file; the default one does then.
        if let Ok(style) = ProgressStyle::with_template(template) {
            let count = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // What is not counted has no number.
                if state.pos() > 0 {
                    let _ = write!(out, " {}", HumanCount(state.pos()));
                }
            };
            bar.set_style(style.progress_chars("=> ").with_key("count", count));
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
            doing,
            waiting: Some((sender, thread)),
        }
    }
}

/// `what` in a line on a terminal, which the library draws past the gate.
fn line(what: &str) -> String {
    sanitize::for_terminal(&sanitize::for_cell(what)).into_owned()
}

/// Status lines of work without end. They stay below all other output, are cut at the terminal's width, and disappear
/// when dropped.
#[derive(Debug)]
pub(crate) struct LiveView {
    lines: MultiProgress,
    shown: Mutex<Vec<ProgressBar>>,
}

impl LiveView {
    /// Shows these lines instead of those before.
    pub(crate) fn show(&self, lines: &[String]) {
        let mut shown = self.shown.lock();
        while shown.len() > lines.len()
            && let Some(bar) = shown.pop()
        {
            bar.finish_and_clear();
            self.lines.remove(&bar);
        }
        while shown.len() < lines.len() {
            let bar = self.lines.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                bar.set_style(style);
            }
            shown.push(bar);
        }
        for (bar, text) in shown.iter().zip(lines) {
            bar.set_message(line(text));
            bar.tick();
        }
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.show(&[]);
    }
}

/// Progress of an operation. Its line disappears when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    doing: (u64, Doing),
    /// Ends the wait of the thread that will show the line, and the thread.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// `by` more is done.
    pub(crate) fn advance(&self, by: u64) {
        self.bar.inc(by);
    }

    /// So much is done.
    pub(crate) fn reach(&self, done: u64) {
        // Lists that are read beside each other may come in any order.
        self.bar.inc(done.saturating_sub(self.bar.position()));
    }

    /// What is being done now.
    pub(crate) fn now(&self, what: &str) {
        self.bar.set_message(line(what));
        let (number, doing) = &self.doing;
        for (_, known) in doing.lock().iter_mut().filter(|(other, _)| other == number) {
            what.clone_into(known);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let (number, doing) = &self.doing;
        doing.lock().retain(|(other, _)| other != number);
        if let Some((sender, thread)) = self.waiting.take() {
            drop(sender);
            // It does nothing that can panic; if it did, the work would not care.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
