//! Everything that reaches the user: reports on stdout, everything else on stderr.
//!
//! A command builds a [`Report`] and hands it to the [`Printer`]; formats, sorting, colour, escaping and widths are
//! decided here once. Whatever it is, it leaves through the `gate`, where a terminal is kept from obeying it. Of the model only times and quantities are known here: what a column means is said by the command.

mod doc;
mod envelope;
mod fold;
mod fullscreen;
mod gate;
mod html;
mod json;
mod log;
mod markdown;
mod metrics;
mod page;
mod path;
mod printer;
mod progress;
mod prompt;
mod report;
mod sanitize;
mod sort;
mod stream;
mod styles;
mod table;
mod width;
mod words;
mod yaml;

pub(crate) use doc::{Doc, Span, span};
pub(crate) use envelope::{Document, Envelope, GateState, Source};
pub(crate) use fold::{folded, glued, unglued, whole};
pub(crate) use fullscreen::{FullScreen, INTERRUPT, KeyCode};
pub(crate) use html::{Part, Times, page as web_page};
pub(crate) use log::LogFormat;
pub(crate) use markdown::{code as markdown_code, plain as markdown_text};
pub(crate) use metrics::{ended_metrics, metrics_text};
pub(crate) use page::{Detail, Page};
pub(crate) use printer::{Options, PrintError, Printer};
pub(crate) use progress::{LiveView, Progress};
pub(crate) use prompt::can_ask;
pub(crate) use report::{Format, Report, View};
pub(crate) use sanitize::{for_cell as one_line, is_plain};
pub(crate) use sort::{SortBy, SortError};
#[cfg(test)]
pub(crate) use styles::Color;
pub(crate) use styles::{ColorWish, Terminal, Tone};
pub(crate) use table::{Cell, Column, Table, Widths};
pub(crate) use width::width_of;
pub(crate) use words::{NONE, UNKNOWN, age, counted, human_duration, list_or_none, present, when};

/// `text` as a terminal gets it.
#[cfg(any(test, fuzzing))]
pub(crate) fn on_a_terminal(text: &str) -> String {
    sanitize::for_terminal(text).into_owned()
}
