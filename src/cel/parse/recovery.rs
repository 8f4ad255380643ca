//! Words the syntax errors of a text.

use super::lexer::Lexed;
use super::macros::Macros;
use crate::cel::source::Issues;

/// The problems of a text that does not parse.
pub(super) fn explain(_source: &str, lexed: &Lexed, _macros: Macros) -> Issues {
    let mut issues = Issues::default();
    let at = lexed.errors.first().map_or(0, |range| range.start);
    issues.report(Some(at as u32), "Syntax error");
    issues
}
