//! Words syntax errors as ANTLR does.
//!
//! Mirrors the reports of `error_strategy.go` (antlr4-go v4.13.1) and `SyntaxError` of `parser/parser.go` (cel-go v0.29).

use super::super::lexer::Token;
use super::grammar::Rule;
use super::{GiveUp, Parser, Problem};
use crate::cel::source::Offset;

/// Errors that are reported before giving up.
const MAX_REPORTS: u32 = 100;

impl Parser<'_> {
    pub(super) fn report_at(&mut self, at: usize, message: &str) -> Result<(), GiveUp> {
        let at = Some(at as Offset);
        if self.reports >= MAX_REPORTS {
            self.issues
                .report(at, format!("Syntax error: More than {MAX_REPORTS} syntax errors"));
            return Err(GiveUp);
        }
        self.reports += 1;
        self.issues.report(at, format!("Syntax error: {message}"));
        Ok(())
    }

    pub(super) fn report(&mut self, ahead: usize, message: &str) -> Result<(), GiveUp> {
        let at = self.lexed.lexemes[self.number(ahead)].range.start;
        self.report_at(at, message)
    }

    /// The current token as messages show it.
    pub(super) fn shown(&self) -> String {
        let lexeme = &self.lexed.lexemes[self.number(0)];
        match lexeme.token {
            Token::End => "'<EOF>'".to_owned(),
            _ => format!("'{}'", escape(&self.source[lexeme.range.clone()])),
        }
    }

    /// The text from the current token to the one at a distance, without what is no token.
    fn text_to(&self, ahead: usize) -> String {
        let lexemes = &self.lexed.lexemes;
        let first = &lexemes[self.number(0)];
        if first.token == Token::End {
            return "<EOF>".to_owned();
        }
        let end = lexemes[self.number(ahead)].range.end;
        let start = first.range.start;
        let mut text = String::new();
        let mut from = start;
        for error in self
            .lexed
            .errors
            .iter()
            .filter(|error| error.start >= start && error.end <= end)
        {
            text.push_str(&self.source[from..error.start]);
            from = error.end;
        }
        text.push_str(&self.source[from..end]);
        text
    }

    pub(super) fn report_unwanted(&mut self) -> Result<(), GiveUp> {
        if self.recovering {
            return Ok(());
        }
        self.recovering = true;
        let message = format!(
            "extraneous input {} expecting {}",
            self.shown(),
            self.expected().describe()
        );
        self.report(0, &message)
    }

    pub(super) fn report_problem(&mut self, problem: &Problem) -> Result<(), GiveUp> {
        if self.recovering {
            return Ok(());
        }
        self.recovering = true;
        match problem {
            Problem::Mismatch => {
                let message = format!(
                    "mismatched input {} expecting {}",
                    self.shown(),
                    self.expected().describe()
                );
                self.report(0, &message)
            }
            Problem::NoViableAlternative { ahead } => {
                let text = escape(&self.text_to(*ahead));
                let message = format!("no viable alternative at input '{text}'");
                self.report(*ahead, &reserved_after_dot(message))
            }
            Problem::Precedence(rule) => {
                let name = match rule {
                    Rule::Relation => "relation",
                    Rule::Calc => "calc",
                    _ => "member",
                };
                self.report(0, &format!("rule {name} failed predicate"))
            }
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('\t', "\\t")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

/// cel-go rewords what is said of reserved words that are selected.
fn reserved_after_dot(message: String) -> String {
    let rest = message
        .strip_prefix("no viable alternative at input '")
        .and_then(|rest| rest.strip_suffix('\''));
    let mut characters = rest.unwrap_or_default().chars();
    characters.next();
    match characters.as_str() {
        word @ ("true" | "false" | "null") => format!("mismatched input '{word}' expecting IDENTIFIER"),
        _ => message,
    }
}
