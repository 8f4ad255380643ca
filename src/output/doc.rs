//! The document that people read: a headline, `Key:  value` lines, sections, small tables and commands.
//!
//! A report makes one of it for every page; how lines are folded and commands broken is decided here. Long values are wrapped when the
//! output is a terminal of known width, by `comfy-table`, and never in a pipe.

use std::fmt;
use std::io;

use comfy_table::{ColumnConstraint, ContentArrangement, Width, presets};

use super::fold;
use super::gate::Gate;
use super::page::Page;
use super::sanitize;
use super::styles::Tone;
use super::table::{MOST_WIDTH, Table, Widths};
use super::width::width_of;
use super::words::NONE;
use dra_reports::script::Script;

/// The space between the longest key and the values, and the step of a section, as in `kubectl describe`.
const GAP: usize = 2;
const INDENT: usize = 2;
/// Below this a value is not wrapped any more: a ragged word per line reads worse than what the terminal does.
const LEAST_VALUE: usize = 24;

/// Lines and sections in the order they were added.
#[derive(Debug, Default)]
pub(crate) struct Doc {
    pub(super) blocks: Vec<Block>,
}

/// A piece of a line.
pub(crate) type Span = (Tone, String);

/// A piece as it is meant.
pub(crate) fn span(tone: Tone, text: impl fmt::Display) -> Span {
    (tone, text.to_string())
}

/// A line of a value.
#[derive(Debug)]
pub(super) struct ValueLine {
    pub(super) tone: Tone,
    pub(super) text: String,
    /// True if users copy it, so that it is never wrapped.
    pub(super) copied: bool,
}

impl ValueLine {
    fn new(tone: Tone, text: String) -> Self {
        Self {
            tone,
            text,
            copied: false,
        }
    }

    /// A value that stays in its line.
    fn one(value: impl fmt::Display) -> Self {
        Self::new(Tone::Plain, sanitize::for_cell(&value.to_string()).into_owned())
    }
}

/// Pieces, with whatever is in one kept in its line.
fn in_one_line(spans: impl IntoIterator<Item = Span>) -> Vec<Span> {
    let spans = spans.into_iter();
    let spans = spans.map(|(tone, text)| (tone, sanitize::for_cell(&text).into_owned()));
    spans.collect()
}

#[derive(Debug)]
pub(super) enum Block {
    Field {
        key: String,
        lines: Vec<ValueLine>,
    },
    Section {
        title: String,
        body: Doc,
    },
    Table(Table),
    Text(String),
    /// Spans of one line, and how far what does not fit into it is indented below it.
    Line {
        spans: Vec<Span>,
        hanging: usize,
    },
    /// Something to do, with a box to tick, and how far what does not fit into its line is indented behind the box.
    Task {
        spans: Vec<Span>,
        hanging: usize,
    },
    Verbatim(String),
    Gap,
    /// The command that shows everything.
    More,
    /// A command to copy, and what stands before it in its first line.
    Command {
        before: String,
        script: Script,
    },
}

impl Doc {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// `Key:  value`.
    pub(crate) fn field(&mut self, key: &str, value: impl fmt::Display) -> &mut Self {
        self.toned(key, Tone::Plain, value)
    }

    /// `Key:  value` with the value in a tone.
    pub(crate) fn toned(&mut self, key: &str, tone: Tone, value: impl fmt::Display) -> &mut Self {
        self.lines(key, vec![ValueLine::new(tone, value.to_string())])
    }

    /// `Key:  value` with a value that users copy: never wrapped. It cannot break a line.
    pub(crate) fn copied(&mut self, key: &str, value: impl fmt::Display) -> &mut Self {
        let mut line = ValueLine::one(value);
        line.copied = true;
        self.lines(key, vec![line])
    }

    fn lines(&mut self, key: &str, lines: Vec<ValueLine>) -> &mut Self {
        let key = key.to_owned();
        self.blocks.push(Block::Field { key, lines });
        self
    }

    /// `Key:  value`, `<none>` when there is no value.
    pub(crate) fn option(&mut self, key: &str, value: Option<impl fmt::Display>) -> &mut Self {
        match value {
            Some(value) => self.field(key, value),
            None => self.field(key, NONE),
        }
    }

    /// `Key:  value`, where there is a value.
    pub(crate) fn some(&mut self, key: &str, value: Option<impl fmt::Display>) -> &mut Self {
        match value {
            Some(value) => self.field(key, value),
            None => self,
        }
    }

    /// `Key:  value`, where the value is not empty.
    pub(crate) fn filled(&mut self, key: &str, value: impl fmt::Display) -> &mut Self {
        let value = value.to_string();
        self.some(key, (!value.is_empty()).then_some(value))
    }

    /// `Key:  value` with a line for each value, `<none>` when there is none. No value can make two of one.
    pub(crate) fn list<T: fmt::Display>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        let mut lines: Vec<_> = values.into_iter().map(ValueLine::one).collect();
        if lines.is_empty() {
            lines.push(ValueLine::one(NONE));
        }
        self.lines(key, lines)
    }

    /// The same list, where there are values.
    pub(crate) fn any<T: fmt::Display>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        let mut values = values.into_iter().peekable();
        match values.peek() {
            Some(_) => self.list(key, values),
            None => self,
        }
    }

    /// A title and what `fill` puts below it, indented. `<none>` stands in the title's line when that is nothing.
    pub(crate) fn section(&mut self, title: &str, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let mut body = Self::new();
        fill(&mut body);
        self.blocks.push(Block::Section {
            title: title.to_owned(),
            body,
        });
        self
    }

    /// The same section, where there is something to put below its title.
    pub(crate) fn section_if_any(&mut self, title: &str, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let mut body = Self::new();
        fill(&mut body);
        if !body.blocks.is_empty() {
            self.section(title, |section| *section = body);
        }
        self
    }

    /// A section that is a small table.
    pub(crate) fn titled(&mut self, title: &str, table: Table) -> &mut Self {
        self.section(title, |section| {
            section.table(table);
        })
    }

    /// The same, where the table has rows.
    pub(crate) fn titled_if_any(&mut self, title: &str, table: Table) -> &mut Self {
        if table.is_empty() {
            return self;
        }
        self.titled(title, table)
    }

    /// A small table. One without rows is left out.
    pub(crate) fn table(&mut self, table: Table) -> &mut Self {
        if !table.is_empty() {
            self.blocks.push(Block::Table(table));
        }
        self
    }

    /// A sentence or more; lines stay lines.
    pub(crate) fn text(&mut self, text: impl fmt::Display) -> &mut Self {
        self.blocks.push(Block::Text(text.to_string()));
        self
    }

    /// A line of pieces. On a terminal, long text continues on the next line, indented by `hanging` columns. Without
    /// pieces the line is empty.
    pub(crate) fn line(&mut self, hanging: usize, spans: impl IntoIterator<Item = Span>) -> &mut Self {
        let spans = in_one_line(spans);
        self.blocks.push(Block::Line { spans, hanging });
        self
    }

    /// Something to do: a line with a box to tick. What does not fit into the line is indented by `hanging` columns behind the box.
    pub(crate) fn task(&mut self, hanging: usize, spans: impl IntoIterator<Item = Span>) -> &mut Self {
        let spans = in_one_line(spans);
        self.blocks.push(Block::Task { spans, hanging });
        self
    }

    /// The first line of an answer: its sign, what it is about, and what is so.
    pub(crate) fn headline(
        &mut self,
        page: Page,
        tone: Tone,
        subject: impl fmt::Display,
        text: impl fmt::Display,
    ) -> &mut Self {
        self.line(
            2,
            [
                span(tone, format!("{} ", page.sign(tone))),
                span(Tone::Strong, subject),
                span(Tone::Plain, text),
            ],
        )
    }

    /// The first line of an answer that is about no single object: its sign and what is so, in its tone.
    pub(crate) fn verdict(&mut self, page: Page, tone: Tone, text: impl fmt::Display) -> &mut Self {
        self.line(2, [span(tone, format_args!("{} {text}", page.sign(tone)))])
    }

    /// A line without tones. On a terminal, long text continues on the next line, indented by `hanging` columns.
    pub(crate) fn hanging(&mut self, hanging: usize, text: impl fmt::Display) -> &mut Self {
        self.line(hanging, [span(Tone::Plain, text)])
    }

    /// A sentence; long text continues on the next line, indented.
    pub(crate) fn remark(&mut self, text: impl fmt::Display) -> &mut Self {
        self.hanging(2, text)
    }

    /// An empty line before what follows, if anything does.
    pub(crate) fn gap(&mut self) -> &mut Self {
        self.blocks.push(Block::Gap);
        self
    }

    /// Shows the first `few` of `items`, or all where the page is wide, and says how many `more` there are.
    pub(crate) fn first<T>(
        &mut self,
        page: Page,
        few: usize,
        items: &[T],
        mut show: impl FnMut(&mut Self, &T),
        more: impl FnOnce(&[T]) -> String,
    ) -> &mut Self {
        let (told, rest) = items.split_at(page.told(few, items.len()));
        for item in told {
            show(self, item);
        }
        if !rest.is_empty() {
            self.remark(more(rest));
        }
        self
    }

    /// A line that users copy: never wrapped.
    pub(crate) fn verbatim(&mut self, line: &str) -> &mut Self {
        self.blocks.push(Block::Verbatim(line.to_owned()));
        self
    }

    /// A command that is copied: in one line, or on a terminal broken between words so that a shell reads its lines as one.
    pub(crate) fn command(&mut self, before: impl fmt::Display, script: &Script) -> &mut Self {
        self.blocks.push(Block::Command {
            before: before.to_string(),
            script: script.clone(),
        });
        self
    }

    /// `More: COMMAND`, the last line of a report that does not show everything.
    pub(crate) fn more(&mut self) -> &mut Self {
        self.blocks.push(Block::More);
        self
    }

    /// Prints the document. `width` is that of the terminal, if the output is one that says how wide it is, and `more` the command that
    /// shows everything.
    pub(super) fn print(
        &self,
        gate: &mut Gate<'_>,
        width: Option<usize>,
        page: Page,
        more: Option<&Script>,
    ) -> io::Result<()> {
        Writer {
            gate,
            width,
            page,
            more,
        }
        .doc(self, 0)
    }
}

struct Writer<'p, 'g> {
    gate: &'p mut Gate<'g>,
    width: Option<usize>,
    page: Page,
    more: Option<&'p Script>,
}

impl Writer<'_, '_> {
    fn doc(&mut self, doc: &Doc, indent: usize) -> io::Result<()> {
        let keys = doc.blocks.iter().filter_map(|block| match block {
            Block::Field { key, .. } => Some(key),
            Block::Section { body, title } if body.blocks.is_empty() => Some(title),
            _ => None,
        });
        let widths = keys.map(|key| width_of(&self.key(key)) + GAP);
        let key_width = widths.filter(|width| *width <= MOST_WIDTH).max().unwrap_or(GAP);
        let none = [ValueLine::one(NONE)];
        let mut is_owed = false;
        for block in &doc.blocks {
            if matches!(block, Block::Gap) {
                is_owed = true;
                continue;
            }
            if std::mem::take(&mut is_owed) {
                self.gate.text("\n")?;
            }
            match block {
                Block::Gap => {}
                Block::Field { key, lines } => self.field(key, lines, indent, key_width)?,
                Block::Section { title, body } if body.blocks.is_empty() => {
                    self.field(title, &none, indent, key_width)?;
                }
                Block::Section { title, body } => {
                    let title = self.key(title);
                    for (number, line) in self.wrapped(&title, indent + INDENT).iter().enumerate() {
                        self.line(indent + if number > 0 { INDENT } else { 0 }, line)?;
                    }
                    self.doc(body, indent + INDENT)?;
                }
                Block::Table(table) => {
                    let (table, same) = table.on(self.page, indent, true);
                    for line in same
                        .iter()
                        .flat_map(|same| self.wrapped(same, indent))
                        .collect::<Vec<_>>()
                    {
                        self.line(indent, &line)?;
                    }
                    table.print(self.gate, indent, true, self.page, &mut Widths::default())?;
                }
                Block::Line { spans, hanging } => self.spans(spans, indent, *hanging)?,
                Block::Task { spans, hanging } => {
                    const BOX: &str = "[ ] ";
                    let spans: Vec<Span> = [span(Tone::Plain, BOX)]
                        .into_iter()
                        .chain(spans.iter().cloned())
                        .collect();
                    self.spans(&spans, indent + INDENT, BOX.len() + hanging)?;
                }
                Block::Verbatim(text) => {
                    for line in text.split('\n') {
                        self.line(indent, line)?;
                    }
                }
                Block::More => match self.more {
                    Some(more) => self.command("More: ", more, indent)?,
                    None => self.line(indent, "More: --details")?,
                },
                Block::Command { before, script } => self.command(before, script, indent)?,
                Block::Text(text) => {
                    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
                        for line in self.wrapped(line, indent) {
                            self.line(indent, &line)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A key or a title as it is printed. It has a line of its own, so whatever is in it stays in that.
    fn key(&self, key: &str) -> String {
        let key = sanitize::for_cell(key);
        format!("{}:", self.gate.shown(&key))
    }

    /// The key before the first line of the values, space before the others.
    fn field(&mut self, key: &str, lines: &[ValueLine], indent: usize, key_width: usize) -> io::Result<()> {
        let mut key = self.key(key);
        for ValueLine { tone, text, copied } in lines {
            // A value of several lines keeps them, each below the first.
            let lines: Vec<_> = text
                .split('\n')
                .flat_map(|line| {
                    if *copied {
                        vec![self.gate.shown(line).into_owned()]
                    } else {
                        self.wrapped(line, indent + key_width)
                    }
                })
                .collect();
            for line in lines {
                if !key.is_empty() || !line.is_empty() {
                    self.gate.pad(indent)?;
                }
                self.gate.text(&key)?;
                if !line.is_empty() {
                    self.gate.pad(key_width.saturating_sub(width_of(&key)).max(GAP))?;
                }
                self.gate.toned(*tone, &line)?;
                self.gate.text("\n")?;
                key.clear();
            }
        }
        Ok(())
    }

    /// The pieces one behind the other, broken between words where the terminal ends.
    fn spans(&mut self, spans: &[Span], indent: usize, hanging: usize) -> io::Result<()> {
        let room = self.width.unwrap_or(usize::MAX);
        // A ragged word per line reads worse than what the terminal does.
        let below = if room.saturating_sub(indent + hanging) < LEAST_VALUE {
            indent
        } else {
            indent + hanging
        };
        let (mut owed, mut taken) = (indent, 0);
        for word in words(spans, |text| self.gate.shown(text).into_owned()) {
            let width: usize = word.pieces.iter().map(|(_, text)| width_of(text)).sum();
            owed += word.spaces;
            if taken > 0 && taken + owed + width > room {
                self.gate.text("\n")?;
                (owed, taken) = (below, 0);
            }
            self.gate.pad(owed)?;
            taken += owed;
            owed = 0;
            for (tone, text) in &word.pieces {
                self.gate.toned(*tone, text)?;
            }
            taken += width;
        }
        self.gate.text("\n")
    }

    fn command(&mut self, before: &str, script: &Script, indent: usize) -> io::Result<()> {
        let room = self.page.width().saturating_sub(indent + width_of(before));
        let mut before = before.to_owned();
        for line in script.within(room).iter().flat_map(|line| line.split('\n')) {
            self.line(indent, &format!("{before}{line}"))?;
            before = " ".repeat(width_of(&before));
        }
        Ok(())
    }

    fn line(&mut self, indent: usize, text: &str) -> io::Result<()> {
        if !text.is_empty() {
            self.gate.pad(indent)?;
        }
        self.gate.text(text)?;
        self.gate.text("\n")
    }

    /// The lines that `text` takes when `taken` columns of the terminal are used before it.
    fn wrapped(&self, text: &str, taken: usize) -> Vec<String> {
        let text = self.gate.shown(text);
        let Some(width) = self.width else {
            return vec![text.into_owned()];
        };
        let left = width.saturating_sub(taken);
        if width_of(&text) <= left || left < LEAST_VALUE {
            return vec![text.into_owned()];
        }
        let mut lines = Vec::new();
        let mut run = String::new();
        for word in fold::words(&text) {
            let bare = word.trim_start_matches(' ');
            if width_of(bare) > left {
                wrap(&mut lines, std::mem::take(&mut run), left);
                lines.push(bare.to_owned());
            } else {
                let is_first = run.is_empty() && !lines.is_empty();
                run.push_str(&fold::glued(if is_first { bare } else { word }));
            }
        }
        wrap(&mut lines, run, left);
        lines
    }
}

/// Adds the lines that `text` takes in so many columns, which its words fit into.
fn wrap(lines: &mut Vec<String>, text: String, columns: usize) {
    if text.is_empty() {
        return;
    }
    let mut table = comfy_table::Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .add_row([text])
        .set_constraints([ColumnConstraint::Absolute(Width::Fixed(
            u16::try_from(columns).unwrap_or(u16::MAX),
        ))]);
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 0));
    }
    lines.extend(table.lines().map(|line| fold::unglued(line.trim_end())));
}

/// Text between spaces: parts of one piece or of several.
struct Word {
    /// The spaces before it.
    spaces: usize,
    pieces: Vec<Span>,
}

/// The words of `spans`, which are seen as `shown` says.
fn words(spans: &[Span], shown: impl Fn(&str) -> String) -> Vec<Word> {
    let mut words = Vec::new();
    let mut spaces = 0;
    let mut is_open = false;
    for (tone, text) in spans {
        for part in fold::words(text) {
            let part_begin = part.len();
            let part = part.trim_start_matches(' ');
            if part.len() < part_begin {
                spaces += part_begin - part.len();
                is_open = false;
            }
            if part.is_empty() {
                continue;
            }
            let piece = (*tone, shown(part));
            match words.last_mut().filter(|_| is_open) {
                Some(Word { pieces, .. }) => pieces.push(piece),
                None => words.push(Word {
                    spaces: std::mem::take(&mut spaces),
                    pieces: vec![piece],
                }),
            }
            is_open = true;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::page::Detail;
    use super::super::styles::Styles;
    use super::super::table::Column;
    use super::*;

    const COLUMNS: &[Column<&str>] = &[
        Column::inner("DEVICE", |device, cell| cell.text(device)),
        Column::inner("STATE", |_, cell| cell.text("free")),
    ];

    fn page(width: Option<usize>) -> Page {
        match width {
            Some(_) => Page::terminal(width, true),
            None => Page::endless(Detail::Normal, true),
        }
    }

    fn print(doc: &Doc, width: Option<usize>) -> String {
        let mut out = Vec::new();
        doc.print(
            &mut Gate::new(&mut out, Styles::PLAIN, width.is_some()),
            width,
            page(width),
            None,
        )
        .expect("writing to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn keys_titles_and_values_drive_no_terminal_of_unknown_width() {
        let hostile = "a\u{1b}[2J\nb";
        let mut doc = Doc::new();
        doc.field(hostile, hostile)
            .section(hostile, |section| {
                section.text(hostile).verbatim(hostile);
            })
            .section(hostile, |_| {});
        for width in [None, Some(1), Some(80)] {
            let mut out = Vec::new();
            doc.print(
                &mut Gate::new(&mut out, Styles::PLAIN, true),
                width,
                page(width),
                None,
            )
            .expect("writing to memory");
            assert_eq!(
                String::from_utf8(out).expect("UTF-8"),
                "\
a^[[2J\\nb:  a^[[2J
            b
a^[[2J\\nb:
  a^[[2J
  b
  a^[[2J
  b
a^[[2J\\nb:  <none>
",
                "{width:?}"
            );
        }
        let piped = print(&doc, None);
        assert!(piped.starts_with("a\u{1b}[2J\\nb:  a\u{1b}[2J\n"), "{piped:?}");
    }

    #[test]
    fn a_doc_looks_like_kubectl_describe() {
        let mut doc = Doc::new();
        doc.field("Name", "gpu")
            .list("Labels", ["a=b", "c=d"])
            .option("Owner", None::<&str>)
            .section("Allocation", |section| {
                let table = Table::new(COLUMNS, Detail::Normal, ["gpu-0"]);
                section.field("Node", "n1").section("Devices", |section| {
                    section.table(table);
                });
            })
            .section("Events", |_| {})
            .text("Two\nlines.");
        assert_eq!(
            print(&doc, None),
            "\
Name:    gpu
Labels:  a=b
         c=d
Owner:   <none>
Allocation:
  Node:  n1
  Devices:
    DEVICE   STATE
    gpu-0    free
Events:  <none>
Two
lines.
"
        );
    }

    #[test]
    fn long_values_wrap_below_themselves_on_a_terminal_only() {
        let mut doc = Doc::new();
        doc.field("Message", "cannot allocate all claims on this node\u{1b}[2J")
            .field("Name", "gpu");
        assert_eq!(
            print(&doc, Some(40)),
            "\
Message:  cannot allocate all claims on
          this node^[[2J
Name:     gpu
"
        );
        assert_eq!(
            print(&doc, None),
            "Message:  cannot allocate all claims on this node\u{1b}[2J\nName:     gpu\n"
        );
    }

    #[test]
    fn nothing_breaks_within_what_is_copied() {
        let long = "resource.kubernetes.io/a-name-that-no-line-has-room-for-1234567890";
        let text =
            format!("see {long} and `kubectl get pods -A` or kubectl patch pod/a -p 'a b c' 98765432 now");
        let mut doc = Doc::new();
        doc.field("Key", &text)
            .line(2, [span(Tone::Plain, &text)])
            .text(&text);
        for width in 34..120 {
            let printed = print(&doc, Some(width));
            for whole in [long, "`kubectl get pods -A`", "'a b c'", "98765432"] {
                assert_eq!(printed.matches(whole).count(), 3, "{width}: {whole}\n{printed}");
            }
            let words: Vec<&str> = printed
                .split_whitespace()
                .filter(|word| *word != "Key:")
                .collect();
            let expected: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(words, expected.repeat(3), "{width}\n{printed}");
        }
    }

    #[test]
    fn a_line_of_pieces_breaks_between_words_only() {
        let piece = |text: &str| (Tone::Plain, text.to_owned());
        let mut doc = Doc::new();
        doc.line(
            2,
            [
                piece("pod/default/"),
                piece("not-enough-free"),
                piece(" waits: no node has 3 usable"),
                piece(" devices"),
            ],
        )
        .line(0, [])
        .line(0, [piece("a\nb   c")]);
        assert_eq!(
            print(&doc, Some(40)),
            "pod/default/not-enough-free waits: no\n  node has 3 usable devices\n\na\\nb   c\n"
        );
        assert_eq!(
            print(&doc, None),
            "pod/default/not-enough-free waits: no node has 3 usable devices\n\na\\nb   c\n"
        );
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_too_long(
            words in prop::collection::vec("[a-z]{1,12}", 1..40),
            width in 40..100_usize,
        ) {
            let mut doc = Doc::new();
            doc.field("Key", words.join(" "));
            let text = print(&doc, Some(width));
            prop_assert!(text.lines().all(|line| line.len() <= width));
            let printed: Vec<_> = text.split_whitespace().skip(1).collect();
            prop_assert_eq!(printed, words);
        }
    }
}
