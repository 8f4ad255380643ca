//! From text to tree.
//!
//! [`lexer`] makes tokens, [`parser`] reads them by the grammar, [`builder`] makes the nodes and expands [`macros`] on
//! the way. The parser stops at the first syntax error. Of a text that it refuses, and of one with anything else wrong in it,
//! [`recovery`] finds the problems: it reads the text again as ANTLR would, with its attempts at recovery, and lists all that
//! cel-go lists.

mod builder;
mod lexer;
mod macros;
mod parser;
mod recovery;
mod unescape;

pub(crate) use lexer::{Lexeme, Token, lex};
pub(crate) use macros::Macros;

use super::ast::Ast;
use super::source::Issues;
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
    let explain = |otherwise: Issues| {
        let issues = recovery::explain(source, &lexed, macros);
        Err(if issues.is_empty() { otherwise } else { issues })
    };
    let syntax_error = || Issues::of(Some(0), "Syntax error");
    if !lexed.errors.is_empty() {
        return explain(syntax_error());
    }
    let mut builder = Builder::new(source, macros);
    match parser::parse(&mut builder, &lexed.lexemes) {
        Ok(_) if builder.is_too_large() => fail("expression is too large".to_owned()),
        Ok((_, true)) => fail("max recursion depth exceeded".to_owned()),
        Ok(_) if !builder.issues.is_empty() => explain(builder.issues),
        Ok((root, false)) => {
            let Builder { places, terms, .. } = builder;
            Ok(Ast { root, places, terms })
        }
        Err(Stop::RuleDepth) => fail("expression recursion limit exceeded: 250".to_owned()),
        Err(Stop::TooLarge) => fail("expression is too large".to_owned()),
        Err(Stop::Syntax) => explain(syntax_error()),
    }
}
