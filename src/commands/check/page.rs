//! `--explain`: the page of a code, which is part of the program.

use serde::Serialize;

use crate::output::{Doc, Page, Report, Tone, View, span};
use dra_reports::findings::{Code, Severity};

/// Page of a code.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct CodePage {
    /// The code.
    code: Code,
    /// The code in words.
    name: &'static str,
    /// One-line description.
    title: &'static str,
    /// Usual severity.
    severity: Severity,
    /// Path of its page in the project.
    docs: String,
    /// The page, as Markdown.
    text: &'static str,
}

impl CodePage {
    pub(super) fn of(code: Code) -> Self {
        let facts = code.facts();
        Self {
            code,
            name: facts.name,
            title: facts.title,
            severity: facts.severity,
            docs: code.docs(),
            text: facts.page,
        }
    }
}

impl Report for CodePage {
    const KIND: &'static str = "CodePage";

    fn view(&self, _: Page) -> View {
        let mut doc = Doc::new();
        for paragraph in paragraphs(self.text) {
            match paragraph {
                Paragraph::Heading(text) => doc.line(2, [span(Tone::Strong, text)]),
                Paragraph::Text { text, hanging } => doc.hanging(hanging, text),
                Paragraph::Verbatim(line) => doc.verbatim(line),
                Paragraph::End => doc.line(0, []),
            };
        }
        doc.gap();
        doc.verbatim(&format!("see {}", self.docs));
        doc.into()
    }
}

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
enum Paragraph<'p> {
    Heading(&'p str),
    /// A block of lines; continuation lines have this indentation.
    Text {
        text: String,
        hanging: usize,
    },
    /// A line of a table or of commands.
    Verbatim(&'p str),
    /// An empty line.
    End,
}

/// The parts of a page. Its Markdown has headings, paragraphs, lists, tables and commands.
fn paragraphs(page: &str) -> Vec<Paragraph<'_>> {
    let mut parts = Vec::new();
    for line in page.trim_end().lines() {
        let is_item = line.starts_with("- ")
            || line
                .split_once(". ")
                .is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        let part = if line.is_empty() {
            Paragraph::End
        } else if let Some(heading) = line.strip_prefix('#') {
            Paragraph::Heading(heading.trim_start_matches('#').trim_start())
        } else if line.starts_with('|') || line.starts_with("    ") || line.starts_with("```") {
            Paragraph::Verbatim(line)
        } else if let (Some(Paragraph::Text { text, .. }), false) = (parts.last_mut(), is_item) {
            text.push(' ');
            text.push_str(line.trim_start());
            continue;
        } else {
            Paragraph::Text {
                text: line.to_owned(),
                hanging: if is_item { 2 } else { 0 },
            }
        };
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_paragraph_are_one_and_what_is_aligned_stays() {
        let page = "# A: b\n\none\ntwo\n\n- three\n  four\n- five\n\n    kubectl get pods\n| a | b |\n";
        let text = |text: &str, hanging| Paragraph::Text {
            text: text.to_owned(),
            hanging,
        };
        assert_eq!(
            paragraphs(page),
            [
                Paragraph::Heading("A: b"),
                Paragraph::End,
                text("one two", 0),
                Paragraph::End,
                text("- three four", 2),
                text("- five", 2),
                Paragraph::End,
                Paragraph::Verbatim("    kubectl get pods"),
                Paragraph::Verbatim("| a | b |"),
            ]
        );
    }
}
