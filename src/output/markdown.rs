//! Reports as Markdown, for comments and issues: the same document, with headings, lists and tables.

use std::fmt::Write as _;

use super::doc::{Block, Doc, Span};
use super::sanitize;
use super::styles::Tone;
use super::table::Table;
use dra_reports::script::Script;

/// Level of the first heading: a comment stands below headings of its own page.
const HEADING: usize = 3;

/// Deepest heading that Markdown has.
const DEEPEST: usize = 6;

/// The document; `more` is the command that shows everything.
pub(super) fn of_doc(doc: &Doc, more: Option<&Script>) -> String {
    let mut text = String::new();
    blocks(&mut text, doc, HEADING, more);
    text
}

/// Text that is no markup, in one line.
pub(crate) fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => safe.push(' '),
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' | '@' => {
                safe.push('\\');
                safe.push(c);
            }
            c => safe.push(c),
        }
    }
    safe
}

/// Text as code in one line, between more backticks than it has in a row.
pub(crate) fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let text = text.replace('|', "\\|").replace(['\n', '\r'], " ");
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Begins a paragraph.
fn apart(text: &mut String) {
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
}

fn blocks(text: &mut String, doc: &Doc, level: usize, more: Option<&Script>) {
    // Fields and tasks that follow each other are one list; lines are one paragraph.
    let mut last = None;
    for block in &doc.blocks {
        let kind = std::mem::discriminant(block);
        if last != Some(kind)
            || !matches!(
                block,
                Block::Field { .. } | Block::Task { .. } | Block::Line { .. }
            )
        {
            apart(text);
        }
        last = Some(kind);
        match block {
            Block::Gap => {}
            Block::Field { key, lines } => {
                let _ = write!(text, "- **{}:**", plain(key));
                let lines = lines.iter().flat_map(|line| line.text.split('\n'));
                let lines: Vec<String> = lines.map(plain).collect();
                match lines.as_slice() {
                    [line] => {
                        let _ = writeln!(text, " {line}");
                    }
                    lines => {
                        text.push('\n');
                        for line in lines {
                            let _ = writeln!(text, "  - {line}");
                        }
                    }
                }
            }
            Block::Section { title, body } => {
                let _ = writeln!(text, "{} {}", "#".repeat(level.min(DEEPEST)), plain(title));
                blocks(text, body, level + 1, more);
            }
            Block::Table(table) => text.push_str(&of_table(table)),
            Block::Text(lines) => {
                for line in lines.trim_end().split('\n') {
                    // Two spaces keep the lines apart.
                    let _ = writeln!(text, "{}  ", plain(line));
                }
            }
            Block::Line { spans, .. } => {
                let line = inline(spans);
                if !line.is_empty() {
                    let _ = writeln!(text, "{line}  ");
                }
            }
            Block::Task { spans, .. } => {
                let _ = writeln!(text, "- [ ] {}", inline(spans));
            }
            Block::Verbatim(lines) => fenced(text, lines),
            Block::Command { before, script } => {
                let before = before.trim();
                if !before.is_empty() {
                    let _ = writeln!(text, "{}\n", plain(before));
                }
                fenced(text, &script.to_string());
            }
            Block::More => {
                if let Some(more) = more {
                    let _ = writeln!(text, "More: {}", code(&more.to_string()));
                }
            }
        }
    }
}

/// The pieces of a line: what is strong is bold.
fn inline(spans: &[Span]) -> String {
    let mut line = String::new();
    for (tone, text) in spans {
        let bare = text.trim();
        if *tone == Tone::Strong && !bare.is_empty() {
            let start = &text[..text.len() - text.trim_start().len()];
            let end = &text[text.trim_end().len()..];
            let _ = write!(line, "{start}**{}**{end}", plain(bare));
        } else {
            line.push_str(&plain(text));
        }
    }
    line.trim().to_owned()
}

/// A command or another text that is copied.
fn fenced(text: &mut String, code: &str) {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(text, "{fence}sh\n{}\n{fence}", code.trim_end());
}

/// The table.
pub(super) fn of_table(table: &Table) -> String {
    let mut text = String::new();
    let headers: Vec<String> = table.headers().iter().map(|header| plain(header)).collect();
    let _ = writeln!(text, "| {} |", headers.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(headers.len()));
    for row in table.rows() {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| plain(&sanitize::for_cell(&cell.text)))
            .collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Detail, span};
    use super::*;

    #[test]
    fn a_document_is_readable_as_markdown() {
        const COLUMNS: &[Column<&str>] = &[
            Column::inner("NODE", |node, cell| cell.text(node)),
            Column::inner("WHY", |_, cell| cell.text("a|b")),
        ];
        let command = dra_reports::script::Command::dra("check")
            .done()
            .expect("a command");
        let mut doc = Doc::new();
        doc.line(
            2,
            [
                span(Tone::Bad, "× "),
                span(Tone::Strong, "pod/n/p"),
                span(Tone::Plain, " is *pending*"),
            ],
        )
        .line(2, [span(Tone::Plain, "  second line")])
        .table(Table::new(COLUMNS, Detail::Normal, ["node-1", "node-2"]))
        .task(2, [span(Tone::Strong, "1a  "), span(Tone::Plain, "stop")])
        .task(2, [span(Tone::Strong, "2   "), span(Tone::Plain, "convert")])
        .section("Step 1", |section| {
            section.field("Why", "because").list("Manual", ["one", "two"]);
        })
        .command("Next: ", &command)
        .more();
        assert_eq!(
            of_doc(&doc, Some(&command)),
            "× **pod/n/p** is \\*pending\\*  \nsecond line  \n\n| NODE | WHY |\n|---|---|\n| node-1 | a\\|b |\n| node-2 | a\\|b |\n\n\
             - [ ] **1a**  stop\n- [ ] **2**   convert\n\n### Step 1\n\n- **Why:** because\n- **Manual:**\n  - one\n  - two\n\n\
             Next:\n\n```sh\nkubectl dra check\n```\n\nMore: `kubectl dra check`\n"
        );
    }

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            plain("<b> a|b `c` #1\n[x](y)"),
            "&lt;b> a\\|b \\`c\\` \\#1 \\[x\\](y)"
        );
        assert_eq!(code("a`b"), "`` a`b ``");
        let mut text = String::new();
        fenced(&mut text, "echo '```'");
        assert_eq!(text, "````sh\necho '```'\n````\n");
    }
}
