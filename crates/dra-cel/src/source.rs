//! A source text, places in it, and how cel-go shows an error at a place.

use std::fmt::Write;

/// A place in the text: a byte offset.
pub(crate) type Offset = u32;

/// The problems found so far; cel-go shows the first hundred.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    /// Each with its place; problems of the whole text have none.
    found: Vec<(Option<Offset>, String)>,
    count: usize,
}

const MAX_SHOWN: usize = 100;

impl Issues {
    /// One problem alone.
    pub(crate) fn of(at: Option<Offset>, message: impl Into<String>) -> Self {
        let mut issues = Self::default();
        issues.report(at, message);
        issues
    }

    pub(crate) fn report(&mut self, at: Option<Offset>, message: impl Into<String>) {
        self.count += 1;
        if self.count <= MAX_SHOWN {
            self.found.push((at, message.into()));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Shows the problems by their place. Mirrors `Errors.ToDisplayString`.
    pub(crate) fn display(&self, source: &str) -> String {
        let found = self.found.iter();
        let mut located: Vec<_> = found
            .map(|(at, message)| (locate(source, *at), message))
            .collect();
        located.sort_by_key(|(place, _)| *place);
        let located = located.into_iter();
        let mut lines: Vec<String> = located
            .map(|((line, column), message)| display_issue(source, line, column, message))
            .collect();
        if self.count > MAX_SHOWN {
            lines.push(format!("{} more errors were truncated", self.count - MAX_SHOWN));
        }
        lines.join("\n")
    }
}

/// Line from one and column from zero, both -1 for nowhere. A text without a character has no column.
fn locate(source: &str, at: Option<Offset>) -> (i64, i64) {
    let Some(at) = at else { return (-1, -1) };
    if source.is_empty() {
        return (1, -1);
    }
    let before = &source[..floor_char_boundary(source, at as usize)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line as i64, before[line_start..].chars().count() as i64)
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut boundary = at.min(text.len());
    while !text.is_char_boundary(boundary) {
        boundary -= 1;
    }
    boundary
}

/// Longest line that is shown below its problem.
const MAX_SNIPPET: usize = 16_384;

fn display_issue(source: &str, line: i64, column: i64, message: &str) -> String {
    let mut out = format!("ERROR: <input>:{line}:{}: {message}", column + 1);
    let snippet = usize::try_from(line)
        .ok()
        .and_then(|line| source.split('\n').nth(line.saturating_sub(1)));
    if let Some(snippet) = snippet
        && !source.is_empty()
        && snippet.len() <= MAX_SNIPPET
    {
        let shown = snippet.replace('\t', " ");
        let _ = write!(out, "\n | {shown}\n | ");
        let mut characters = shown.chars();
        for _ in 0..column {
            match characters.next() {
                Some(character) => out.push(if character.len_utf8() > 1 { '\u{ff0e}' } else { '.' }),
                None => break,
            }
        }
        let wide = characters
            .next()
            .is_some_and(|character| character.len_utf8() > 1);
        out.push(if wide { '\u{ff3e}' } else { '^' });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_place_below_the_line() {
        let mut issues = Issues::default();
        issues.report(Some(6), "second");
        issues.report(Some(0), "first");
        assert_eq!(
            issues.display("日a\t+\nx"),
            "ERROR: <input>:1:1: first\n | 日a +\n | \u{ff3e}\nERROR: <input>:1:5: second\n | 日a +\n | \u{ff0e}...^"
        );
    }

    #[test]
    fn shows_the_first_hundred() {
        let mut issues = Issues::default();
        for _ in 0..102 {
            issues.report(None, "again");
        }
        let shown = issues.display("x");
        assert_eq!(shown.lines().count(), 101);
        assert!(shown.ends_with("ERROR: <input>:-1:0: again\n2 more errors were truncated"));
    }
}
