//! Interface of printable results.

use serde::Serialize;

use super::doc::Doc;
use super::page::Page;
use super::sort::{SortBy, SortError};
use super::table::Table;

/// A result for readers: serialized for scripts, viewed for people. Made for this, never a type of the model or of a
/// solver, since its fields are a promise.
pub(crate) trait Report: Serialize {
    /// The `kind` of the document, as in `docs/reference/schema/KIND.json`.
    const KIND: &'static str;

    /// Returns what people read. Lists are plain tables unless the page is a terminal; everything else is one document for all pages. What is
    /// not fitted to the page here is fitted by the printer: columns without a value are left out, text is wrapped.
    fn view(&self, page: Page) -> View;

    /// Returns the report in the format of another program. Without an answer, Markdown and HTML are made of the view.
    fn export(&self, _format: Format) -> Option<String> {
        None
    }

    /// Returns what `-o name` prints, one per line. Only asked of commands that offer the format.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Sorts the items, with [`SortBy::sort`]. A report without items has nothing to sort.
    fn sort(&mut self, _by: &SortBy) -> Result<(), SortError> {
        Err(SortError::NotSortable(Self::KIND))
    }

    /// Returns what stderr says when the table has no row.
    fn nothing(&self) -> Option<String> {
        None
    }
}

/// A report as people see it.
#[derive(Debug, derive_more::From)]
pub(crate) enum View {
    Table(Table),
    Doc(Doc),
}

/// The values of `-o`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Human-readable table or text
    #[default]
    Table,
    /// Table with more columns
    Wide,
    /// JSON (schemas in docs/reference/schema)
    Json,
    /// YAML with the same content
    Yaml,
    /// One line of JSON per cluster
    Ndjson,
    /// Names only, one per line
    Name,
    /// SARIF for code scanners
    Sarif,
    /// JUnit XML for CI servers
    Junit,
    /// GitHub Actions annotations
    Github,
    /// Markdown for a comment or an issue
    Markdown,
    /// Web page in one file
    Html,
}
