//! Reports as a web page: the same documents in one file that loads nothing.
//!
//! Text from a cluster is hostile. It gets into the page through [`escaped`] alone, and should anything else get in, the page's policy
//! lets a browser run and load nothing but the script and the style of this program.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

use super::doc::{Block, Doc, Span, ValueLine};
use super::envelope::{Envelope, Source};
use super::page::{Detail, Page};
use super::report::{Report, View};
use super::sanitize;
use super::styles::Tone;
use super::table::Table;
use super::words::{NONE, UNKNOWN, counted};
use dra_model::Time;
use dra_reports::script::Script;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Cells of a table, after which the other rows are counted: a map has four columns, and a browser shows 5,000 nodes without delay.
const MOST_CELLS: usize = 20_000;

/// Bytes of a page. A table takes at most half of what is left of them.
const MOST_BYTES: usize = 1_900_000;

/// Deepest heading that HTML has.
const DEEPEST: usize = 6;

/// Deepest indentation that the style has.
const MOST_INDENT: usize = 5;

/// A report on a web page of several.
pub(crate) struct Part {
    /// Word for it in links.
    name: &'static str,
    title: String,
    doc: Doc,
    /// The command that prints all of it.
    more: Option<Script>,
}

impl Part {
    /// A part that shows `report`.
    pub(crate) fn of<R: Report>(
        name: &'static str,
        title: impl Into<String>,
        report: &R,
        more: Option<Script>,
    ) -> Self {
        Self::with(name, title, doc(report, Detail::Normal), more)
    }

    /// A part that shows a document.
    pub(crate) fn with(name: &'static str, title: impl Into<String>, doc: Doc, more: Option<Script>) -> Self {
        Self {
            name,
            title: title.into(),
            doc,
            more,
        }
    }
}

/// The document of a report on a web page. What standard error says of an empty list is in it.
fn doc<R: Report>(report: &R, detail: Detail) -> Doc {
    match report.view(Page::web(detail)) {
        View::Doc(doc) => doc,
        View::Table(table) => {
            let mut doc = Doc::new();
            if let Some(nothing) = report.nothing().filter(|_| table.is_empty()) {
                doc.text(nothing);
            }
            doc.table(table);
            doc
        }
    }
}

/// A page with one report; `more` is the command that shows everything.
pub(super) fn of_report<R: Report>(
    title: &str,
    envelope: &Envelope,
    report: &R,
    detail: Detail,
    more: Option<Script>,
) -> String {
    let part = Part::with("report", title, doc(report, detail), more);
    page(title, envelope, None, &[part])
}

/// Times of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Time of the state, if it is known.
    pub(crate) read: Option<Time>,
    /// Time that ages and deadlines are counted from.
    pub(crate) now: Time,
}

/// A page with these parts, and with the facts behind them at its head.
pub(crate) fn page(title: &str, envelope: &Envelope, times: Option<Times>, parts: &[Part]) -> String {
    let mut writer = Writer {
        html: String::new(),
        lacks: false,
        label: String::new(),
    };
    let tab = match &envelope.source {
        Some(Source::Cluster { context, server }) => {
            format!("{title}: {}", context.as_ref().unwrap_or(server))
        }
        Some(Source::Files { names }) => format!("{title}: {}", names.join(", ")),
        None => title.to_owned(),
    };
    let (tab, title) = (escaped(&tab), escaped(title));
    let (style, script) = (integrity(STYLE), integrity(SCRIPT));
    let html = &mut writer.html;
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n\
         <meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src '{style}'; script-src '{script}'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n<meta name=referrer content=no-referrer>\n\
         <title>{tab}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n"
    );
    writer.doc(&head(envelope, times), 2);
    writer.html.push_str(CONTROLS);
    if parts.len() > 1 {
        writer
            .html
            .push_str("<nav aria-label=Sections>\n<a href=\"#\">All</a>\n");
        for Part { name, title, .. } in parts {
            let _ = writeln!(writer.html, "<a href=\"#s={name}\">{}</a>", escaped(title));
        }
        writer.html.push_str("</nav>\n");
    }
    writer.html.push_str("</header>\n<main>\n");
    let level = if parts.len() > 1 { 3 } else { 2 };
    for part in parts {
        let label = escaped(&part.title);
        let _ = writeln!(
            writer.html,
            "<section id=\"s={}\" aria-label=\"{label}\">",
            part.name
        );
        if parts.len() > 1 {
            let _ = writeln!(writer.html, "<h2>{label}</h2>");
        }
        writer.label = label;
        writer.lacks = parts.len() > 1;
        writer.doc(&part.doc, level);
        if let Some(more) = part.more.as_ref().filter(|_| writer.lacks) {
            writer.html.push_str("<div class=entry>\n");
            writer.command("More: ", more);
            writer.html.push_str("</div>\n");
        }
        writer.html.push_str("</section>\n");
    }
    let _ = write!(
        writer.html,
        "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    );
    writer.html
}

/// What the script filters by. Without it there is nothing to operate.
const CONTROLS: &str = "\
<div role=search id=controls hidden>
<label for=q>Search</label> <input type=search id=q autocomplete=off spellcheck=false>
<label for=level>Show</label> <select id=level>
<option value=0>everything</option><option value=1>warnings and errors</option><option value=2>errors</option>
</select>
<output id=count for=\"q level\"></output>
</div>
";

/// Source and state of the page.
fn head(envelope: &Envelope, times: Option<Times>) -> Doc {
    let mut doc = Doc::new();
    match &envelope.source {
        Some(Source::Cluster { context, server }) => {
            doc.field("Cluster", context.as_ref().unwrap_or(server));
        }
        Some(Source::Files { names }) => {
            doc.list("Files", names);
        }
        None => {}
    }
    doc.some("Kubernetes", envelope.kubernetes_version.as_ref());
    let seconds = |time: Time| Time::from_unix_seconds(time.unix_seconds());
    if let Some(Times { read, now }) = times {
        let (read, now) = (read.map(seconds), seconds(now));
        doc.field(
            "State of",
            read.map_or(UNKNOWN.to_owned(), |read| read.to_string()),
        );
        doc.some("Ages as of", Some(now).filter(|_| read != Some(now)));
    }
    doc.any("Warnings", &envelope.warnings);
    doc
}

/// What the page's policy calls `text`.
fn integrity(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(digest(&SHA256, text.as_bytes())))
}

/// Text that is no markup, and that is what it looks like.
fn escaped(text: &str) -> String {
    sanitize::for_terminal(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// The class of a tone that is seen.
fn class(tone: Tone) -> Option<String> {
    Some(match tone {
        Tone::Plain | Tone::Nothing => return None,
        Tone::Good => "good".to_owned(),
        Tone::Notice => "notice".to_owned(),
        Tone::Bad => "bad".to_owned(),
        Tone::Strong => "strong".to_owned(),
        Tone::Number(number) => format!("k{}", number % 6),
    })
}

/// Lists that blocks which follow each other share.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Fields,
    Tasks,
    /// Lines that are found together: one that is not indented, and those below it.
    Entry,
}

struct Writer {
    html: String,
    /// True if the part lacks something that its command prints.
    lacks: bool,
    /// What the tables are about, escaped.
    label: String,
}

impl Writer {
    fn doc(&mut self, doc: &Doc, level: usize) {
        let mut open = Open::Nothing;
        for block in &doc.blocks {
            let next = match block {
                Block::Field { .. } => Open::Fields,
                Block::Section { body, .. } if body.blocks.is_empty() => Open::Fields,
                Block::Task { .. } => Open::Tasks,
                Block::Gap | Block::More | Block::Section { .. } | Block::Table(_) => Open::Nothing,
                Block::Text(_) | Block::Line { .. } | Block::Verbatim(_) | Block::Command { .. } => {
                    Open::Entry
                }
            };
            let begins = match block {
                Block::Line { spans, .. } => indent(spans) == 0,
                Block::Command { before, .. } => !before.starts_with(' '),
                Block::Text(_) => true,
                _ => false,
            };
            if next != open || begins {
                self.end(open);
                self.html.push_str(match next {
                    Open::Nothing => "",
                    Open::Fields => "<dl>\n",
                    Open::Tasks => "<ul>\n",
                    Open::Entry => "<div class=entry>\n",
                });
                open = next;
            }
            self.block(block, level);
        }
        self.end(open);
    }

    fn end(&mut self, open: Open) {
        self.html.push_str(match open {
            Open::Nothing => "",
            Open::Fields => "</dl>\n",
            Open::Tasks => "</ul>\n",
            Open::Entry => "</div>\n",
        });
    }

    fn block(&mut self, block: &Block, level: usize) {
        match block {
            Block::Gap => {}
            Block::Field { key, lines } => {
                let _ = write!(self.html, "<div class=entry><dt>{}</dt>", escaped(key));
                for ValueLine { tone, text, copied } in lines {
                    for line in text.split('\n') {
                        self.html.push_str("<dd>");
                        if *copied {
                            let _ = write!(self.html, "<code>{}</code>", escaped(line));
                        } else {
                            self.toned(*tone, line);
                        }
                        self.html.push_str("</dd>");
                    }
                }
                self.html.push_str("</div>\n");
            }
            Block::Section { title, body } if body.blocks.is_empty() => {
                let (title, none) = (escaped(title), escaped(NONE));
                let _ = writeln!(
                    self.html,
                    "<div class=entry><dt>{title}</dt><dd>{none}</dd></div>"
                );
            }
            Block::Section { title, body } => {
                let (title, heading) = (escaped(title), level.min(DEEPEST));
                let _ = write!(self.html, "<section>\n<h{heading}>{title}</h{heading}>\n");
                let label = std::mem::replace(&mut self.label, title);
                self.doc(body, level + 1);
                self.label = label;
                self.html.push_str("</section>\n");
            }
            Block::Table(table) => self.table(table),
            Block::Text(text) => {
                for line in text.trim_end().split('\n') {
                    let _ = writeln!(self.html, "<p>{}</p>", escaped(line));
                }
            }
            Block::Line { spans, .. } => {
                let _ = write!(self.html, "<p{}>", indented(indent(spans)));
                self.spans(spans);
                self.html.push_str("</p>\n");
            }
            Block::Task { spans, .. } => {
                self.html.push_str("<li class=entry>");
                self.spans(spans);
                self.html.push_str("</li>\n");
            }
            Block::Verbatim(text) => {
                let _ = writeln!(self.html, "<pre>{}</pre>", escaped(text));
            }
            Block::Command { before, script } => self.command(before, script),
            Block::More => self.lacks = true,
        }
    }

    /// The pieces of a line. Spaces in front of it are its indentation.
    fn spans(&mut self, spans: &[Span]) {
        let mut is_first = true;
        for (tone, text) in spans {
            let text = if is_first { text.trim_start() } else { text };
            if !text.is_empty() {
                self.toned(*tone, text);
                is_first = false;
            }
        }
    }

    fn toned(&mut self, tone: Tone, text: &str) {
        let text = escaped(text);
        let _ = match class(tone) {
            Some(class) => write!(self.html, "<b class={class}>{text}</b>"),
            None => write!(self.html, "{text}"),
        };
    }

    fn command(&mut self, before: &str, script: &Script) {
        let class = indented(before.len() - before.trim_start_matches(' ').len());
        let (before, script) = (escaped(before.trim()), escaped(&script.to_string()));
        let _ = writeln!(self.html, "<p{class}>{before} <code>{script}</code></p>");
    }

    fn table(&mut self, table: &Table) {
        let (table, _) = table.on(Page::web(Detail::Normal), 0, true);
        let _ = write!(
            self.html,
            "<div class=scroll tabindex=0 role=group aria-label=\"{}\"><table>\n<thead><tr>",
            self.label
        );
        for header in table.headers() {
            // A picture has no header.
            let _ = match *header {
                "" => write!(self.html, "<td>"),
                header => write!(self.html, "<th scope=col>{}", escaped(header)),
            };
        }
        self.html.push_str("\n<tbody>\n");
        let end = self.html.len().midpoint(MOST_BYTES);
        let mut rows = table.rows().iter();
        let most = MOST_CELLS / table.headers().len().max(1);
        let least = rows.len().saturating_sub(most);
        while self.html.len() < end
            && rows.len() > least
            && let Some(row) = rows.next()
        {
            self.html.push_str("<tr>");
            for (cell, header) in row.iter().zip(table.headers()) {
                let is_picture = header.is_empty() || cell.is_picture();
                self.html
                    .push_str(if is_picture { "<td class=picture>" } else { "<td>" });
                for (tone, text) in cell.pieces() {
                    self.toned(tone, text);
                }
            }
            self.html.push('\n');
        }
        self.html.push_str("</table></div>\n");
        if rows.len() > 0 {
            self.lacks = true;
            let rest = counted(rows.len(), "more row", "more rows");
            let _ = writeln!(self.html, "<p>{rest}</p>");
        }
    }
}

/// What a paragraph has that is indented by so many spaces.
fn indented(spaces: usize) -> String {
    match spaces.div_ceil(2).min(MOST_INDENT) {
        0 => String::new(),
        indent => format!(" class=i{indent}"),
    }
}

/// Number of spaces in front of a line.
fn indent(spans: &[Span]) -> usize {
    let mut indent = 0;
    for (_, text) in spans {
        let rest = text.trim_start_matches(' ').len();
        indent += text.len() - rest;
        if rest > 0 {
            return indent;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::super::{Column, span};
    use super::*;

    const COLUMNS: &[Column<&str>] = &[
        Column::inner("NODE", |node, cell| cell.text(node)),
        Column::inner("DEVICES", |_, cell| {
            cell.pieces([
                span(Tone::Number(7), "tt"),
                span(Tone::Bad, "!"),
                span(Tone::Plain, "."),
            ]);
        }),
    ];

    fn body(doc: Doc) -> String {
        let page = page(
            "T",
            &Envelope::default(),
            None,
            &[Part::with("a", "A", doc, None)],
        );
        let (_, rest) = page.split_once("<main>\n").expect("a beginning");
        let (body, _) = rest.split_once("</main>").expect("an end");
        body.to_owned()
    }

    #[test]
    fn a_document_is_readable_as_a_page() {
        let command = dra_reports::script::Command::dra("check")
            .done()
            .expect("a command");
        let mut doc = Doc::new();
        doc.line(
            2,
            [
                span(Tone::Bad, "× "),
                span(Tone::Strong, "pod/n/p"),
                span(Tone::Plain, " is pending"),
            ],
        )
        .line(2, [span(Tone::Plain, "    fix  delete it")])
        .command("      ", &command)
        .line(0, [span(Tone::Plain, "another")])
        .table(Table::new(COLUMNS, Detail::Normal, ["node-1"]))
        .task(2, [span(Tone::Strong, "1a  "), span(Tone::Plain, "stop")])
        .section("Step 1", |section| {
            section.field("Why", "because").list("Manual", ["one", "two"]);
        })
        .section("None", |_| {});
        assert_eq!(
            body(doc),
            "<section id=\"s=a\" aria-label=\"A\">\n\
             <div class=entry>\n<p><b class=bad>× </b><b class=strong>pod/n/p</b> is pending</p>\n\
             <p class=i2>fix  delete it</p>\n<p class=i3> <code>kubectl dra check</code></p>\n</div>\n\
             <div class=entry>\n<p>another</p>\n</div>\n\
             <div class=scroll tabindex=0 role=group aria-label=\"A\"><table>\n\
             <thead><tr><th scope=col>NODE<th scope=col>DEVICES\n<tbody>\n\
             <tr><td>node-1<td class=picture><b class=k1>tt</b><b class=bad>!</b>.\n</table></div>\n\
             <ul>\n<li class=entry><b class=strong>1a  </b>stop</li>\n</ul>\n\
             <section>\n<h2>Step 1</h2>\n<dl>\n<div class=entry><dt>Why</dt><dd>because</dd></div>\n\
             <div class=entry><dt>Manual</dt><dd>one</dd><dd>two</dd></div>\n</dl>\n</section>\n\
             <dl>\n<div class=entry><dt>None</dt><dd>&lt;none&gt;</dd></div>\n</dl>\n</section>\n"
        );
    }

    #[test]
    fn nothing_in_a_text_is_markup_and_everything_is_seen() {
        let hostile = "</title><script>\"'&\u{202e}\u{1b}\u{7f}\n";
        let shown = "&lt;/title&gt;&lt;script&gt;&quot;&#39;&amp;\\u{202e}^[^?";
        assert_eq!(escaped(hostile), format!("{shown}\n"));
        let mut doc = Doc::new();
        doc.field(hostile, hostile)
            .copied(hostile, hostile)
            .text(hostile)
            .verbatim(hostile)
            .remark(hostile)
            .table(Table::new(COLUMNS, Detail::Normal, [hostile]))
            .section(hostile, |section| {
                section.table(Table::new(COLUMNS, Detail::Normal, [hostile]));
            });
        let envelope = Envelope {
            source: Some(Source::Files {
                names: vec![hostile.to_owned()],
            }),
            warnings: vec![hostile.to_owned()],
            ..Envelope::default()
        };
        let parts = || Part::with("a", hostile, Doc::new(), None);
        let page = page(
            hostile,
            &envelope,
            None,
            &[Part::with("b", hostile, doc, None), parts()],
        );
        let is_hidden = |c: char| c != '\n' && sanitize::for_terminal(&c.to_string()) != c.to_string();
        assert_eq!(page.chars().find(|c| is_hidden(*c)), None);
        assert_eq!(page.matches("<script").count(), 1);
        assert_eq!(page.matches("</title").count(), 1);
        assert!(page.matches(shown).count() > 12, "{page}");
    }

    #[test]
    fn rows_that_a_page_has_no_room_for_are_counted() {
        const ALL: usize = 12_000;
        const MOST: usize = MOST_CELLS / 2;
        for (length, most) in [(10, MOST), (1_000, MOST - 1)] {
            let name: &str = "x".repeat(length).leak();
            let table = || Table::new(COLUMNS, Detail::Normal, std::iter::repeat_n(name, ALL));
            let mut doc = Doc::new();
            doc.table(table()).table(table()).table(table());
            let body = body(doc);
            assert!(body.len() < MOST_BYTES, "{length}");
            for table in body.split("<table>").skip(1) {
                let shown = table.matches("<tr><td>").count();
                assert!(0 < shown && shown <= most, "{length}: {shown}");
                let rest = counted(ALL - shown, "more row", "more rows");
                assert!(table.contains(&rest), "{length}: {rest}");
            }
        }
    }
}
