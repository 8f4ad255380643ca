//! stdout or stderr, and what is known of it.

use std::io::{self, BufWriter, Write};

use parking_lot::Mutex;

use super::gate::Gate;
use super::page::Detail;
use super::page::Page;
use super::styles::Styles;

/// A stream that everything leaves through the gate.
pub(super) struct Stream {
    pub(super) writer: Mutex<Box<dyn Write + Send>>,
    pub(super) terminal: bool,
    pub(super) styles: Styles,
    /// Number of columns the terminal has.
    pub(super) width: fn() -> Option<usize>,
    /// True if the terminal shows characters beyond ASCII.
    pub(super) unicode: bool,
}

impl Stream {
    /// Prints through the gate, with a buffer around the stream: stdout's own is flushed at each line feed.
    pub(super) fn print(&self, print: impl FnOnce(&mut Gate<'_>) -> io::Result<()>) -> io::Result<()> {
        let mut writer = self.writer.lock();
        let mut buffer = BufWriter::with_capacity(1 << 16, &mut *writer);
        print(&mut Gate::new(&mut buffer, self.styles, self.terminal))?;
        buffer.flush()
    }

    /// What is shown here: a page that is not fitted has no end of lines on a terminal either.
    pub(super) fn page(&self, detail: Detail, is_fitted: bool) -> Page {
        if self.terminal && is_fitted {
            Page::terminal(self.width(), self.unicode).with(detail)
        } else {
            Page::endless(detail, self.unicode)
        }
    }

    /// The columns that lines have, where that is known: not in a pipe, and a terminal may say that it has none.
    pub(super) fn width(&self) -> Option<usize> {
        (self.width)().filter(|width| self.terminal && *width > 0)
    }
}
