//! From text to tree.
//!
//! [`lexer`] makes tokens, [`parser`] reads them by the grammar, [`builder`] makes the nodes and expands [`macros`] on
//! the way. The parser stops at the first syntax error, and says where. cel-go's parser, which ANTLR generates,
//! continues after an error, and its message depends on the recovery; the API server rejects such a text, so no cluster
//! contains one, and these messages are not reproduced.

mod builder;
mod lexer;
mod macros;
mod parser;
mod unescape;

pub(crate) use lexer::{Lexeme, Token, lex};
pub(crate) use macros::Macros;

use super::ast::Ast;
use super::source::{Issues, Offset};
use builder::Builder;
use parser::Stop;

/// Code points that a text may have.
const MAX_LENGTH: usize = 100_000;

/// The value of a string literal as it is written, if it has one.
pub(super) fn string_value(literal: &str) -> Option<String> {
    unescape::unescape_string(literal).ok()
}

/// Parses `source` and expands its macros.
pub(crate) fn parse(source: &str, macros: Macros) -> Result<Ast, Issues> {
    let fail = |message: String| Err(Issues::of(None, message));
    if source.len() > MAX_LENGTH {
        let length = source.chars().count();
        if length > MAX_LENGTH {
            return fail(format!(
                "expression code point size exceeds limit: size: {length}, limit {MAX_LENGTH}"
            ));
        }
    }
    let lexed = lexer::lex(source);
    if let Some(range) = lexed.errors.first() {
        return Err(Issues::of(
            Some(range.start as Offset),
            syntax_error_at(&source[range.clone()]),
        ));
    }
    let mut builder = Builder::new(source, macros);
    match parser::parse(&mut builder, &lexed.lexemes) {
        Ok(_) if builder.is_too_large() => fail("expression is too large".to_owned()),
        Ok((_, true)) => fail("max recursion depth exceeded".to_owned()),
        Ok(_) if !builder.issues.is_empty() => Err(builder.issues),
        Ok((root, false)) => {
            let Builder { places, terms, .. } = builder;
            Ok(Ast { root, places, terms })
        }
        Err(Stop::RuleDepth) => fail("expression recursion limit exceeded: 250".to_owned()),
        Err(Stop::TooLarge) => fail("expression is too large".to_owned()),
        Err(Stop::Syntax(range)) if range.is_empty() => Err(Issues::of(
            Some(range.start as Offset),
            "Syntax error: unexpected end of the expression",
        )),
        Err(Stop::Syntax(range)) => Err(Issues::of(
            Some(range.start as Offset),
            format!("Syntax error: unexpected '{}'", &source[range]),
        )),
    }
}

/// Returns what is wrong with a text that no token begins with.
fn syntax_error_at(text: &str) -> String {
    let opening = text.trim_start_matches(['r', 'R', 'b', 'B']);
    if opening.starts_with(['\'', '"', '`']) {
        return "Syntax error: unterminated string or invalid escape sequence".to_owned();
    }
    let first: String = text.chars().take(1).collect();
    format!("Syntax error: unexpected character '{first}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_reported_with_its_place() {
        for (source, expected) in [
            (
                "",
                "ERROR: <input>:1:0: Syntax error: unexpected end of the expression",
            ),
            (
                "a..b",
                "ERROR: <input>:1:3: Syntax error: unexpected '.'\n | a..b\n | ..^",
            ),
            (
                "a.",
                "ERROR: <input>:1:3: Syntax error: unexpected end of the expression\n | a.\n | ..^",
            ),
            (
                "(a",
                "ERROR: <input>:1:3: Syntax error: unexpected end of the expression\n | (a\n | ..^",
            ),
            (
                "a b",
                "ERROR: <input>:1:3: Syntax error: unexpected 'b'\n | a b\n | ..^",
            ),
            (
                "a &&\n) c",
                "ERROR: <input>:2:1: Syntax error: unexpected ')'\n | ) c\n | ^",
            ),
            (
                "a = 1",
                "ERROR: <input>:1:3: Syntax error: unexpected character '='\n | a = 1\n | ..^",
            ),
            (
                "'a' == 'b",
                "ERROR: <input>:1:8: Syntax error: unterminated string or invalid escape sequence\n | 'a' == 'b\n | .......^",
            ),
        ] {
            let issues = parse(source, Macros { sort_by: true }).expect_err(source);
            assert_eq!(issues.display(source), expected, "{source}");
        }
    }
}
