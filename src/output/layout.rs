//! What is not a list: `Key:  value` lines, sections and small tables inside them, as `kubectl describe` prints them.
//!
//! Long values are wrapped when the output is a terminal of known width, by `comfy-table`, and never in a pipe.

use std::fmt;
use std::io;

use comfy_table::{ColumnConstraint, ContentArrangement, Width, presets};

use super::sanitize;
use super::styles::{Styles, Tone};
use super::table::{Table, Widths, width_of};
use super::words::NONE;

/// The space between the longest key and the values, and the step of a section, as in `kubectl describe`.
const GAP: usize = 2;
const INDENT: usize = 2;
/// Below this a value is not wrapped any more: a ragged word per line reads worse than what the terminal does.
const LEAST_VALUE: usize = 24;

/// Lines and sections in the order they were added.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    blocks: Vec<Block>,
}

#[derive(Debug)]
enum Block {
    Field { key: String, lines: Vec<(Tone, String)> },
    Section { title: String, body: Layout },
    Table(Table),
    Text(String),
    Verbatim(String),
}

impl Layout {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// `Key:  value`.
    pub(crate) fn field(&mut self, key: &str, value: impl fmt::Display) -> &mut Self {
        self.toned(key, Tone::Plain, value)
    }

    /// `Key:  value` with the value in a tone.
    pub(crate) fn toned(&mut self, key: &str, tone: Tone, value: impl fmt::Display) -> &mut Self {
        self.blocks.push(Block::Field {
            key: key.to_owned(),
            lines: vec![(tone, value.to_string())],
        });
        self
    }

    /// `Key:  value`, `<none>` when there is no value.
    pub(crate) fn option(&mut self, key: &str, value: Option<impl fmt::Display>) -> &mut Self {
        match value {
            Some(value) => self.field(key, value),
            None => self.field(key, NONE),
        }
    }

    /// `Key:  value` with a line for each value, `<none>` when there is none.
    pub(crate) fn list<T: fmt::Display>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        let mut lines: Vec<_> = values
            .into_iter()
            .map(|value| (Tone::Plain, value.to_string()))
            .collect();
        if lines.is_empty() {
            lines.push((Tone::Plain, NONE.to_owned()));
        }
        self.blocks.push(Block::Field {
            key: key.to_owned(),
            lines,
        });
        self
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

    /// A line that somebody copies: it is never wrapped.
    pub(crate) fn verbatim(&mut self, line: &str) -> &mut Self {
        self.blocks.push(Block::Verbatim(line.to_owned()));
        self
    }

    /// Writes the layout. `width` is that of the terminal, if the output is one.
    pub(super) fn write(
        &self,
        out: &mut dyn io::Write,
        styles: Styles,
        width: Option<usize>,
    ) -> io::Result<()> {
        Page { out, styles, width }.layout(self, 0)
    }
}

struct Page<'a> {
    out: &'a mut dyn io::Write,
    styles: Styles,
    width: Option<usize>,
}

impl Page<'_> {
    fn layout(&mut self, layout: &Layout, indent: usize) -> io::Result<()> {
        let keys = layout.blocks.iter().filter_map(|block| match block {
            Block::Field { key, .. } => Some(width_of(key) + 1),
            Block::Section { body, title } if body.blocks.is_empty() => Some(width_of(title) + 1),
            _ => None,
        });
        let key_width = keys.max().unwrap_or(0) + GAP;
        let none = [(Tone::Plain, NONE.to_owned())];
        for block in &layout.blocks {
            match block {
                Block::Field { key, lines } => self.field(key, lines, indent, key_width)?,
                Block::Section { title, body } if body.blocks.is_empty() => {
                    self.field(title, &none, indent, key_width)?;
                }
                Block::Section { title, body } => {
                    self.line(indent, &format!("{title}:"))?;
                    self.layout(body, indent + INDENT)?;
                }
                Block::Table(table) => self.table(table, indent)?,
                Block::Verbatim(line) if self.width.is_some() => {
                    self.line(indent, &sanitize::for_terminal(line))?;
                }
                Block::Verbatim(line) => self.line(indent, line)?,
                Block::Text(text) => {
                    for line in text.lines() {
                        for line in self.wrapped(line, indent) {
                            self.line(indent, &line)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The key before the first line of the values, space before the others.
    fn field(
        &mut self,
        key: &str,
        lines: &[(Tone, String)],
        indent: usize,
        key_width: usize,
    ) -> io::Result<()> {
        let mut key = format!("{key}:");
        for (tone, text) in lines {
            // A value of several lines keeps them, each below the first.
            let lines: Vec<_> = text
                .split('\n')
                .flat_map(|line| self.wrapped(line, indent + key_width))
                .collect();
            for line in lines {
                let pad = if line.is_empty() {
                    0
                } else {
                    key_width.saturating_sub(width_of(&key))
                };
                let line = self.styles.paint(*tone, &line).into_owned();
                self.line(indent, &format!("{key}{:pad$}{line}", ""))?;
                key.clear();
            }
        }
        Ok(())
    }

    fn table(&mut self, table: &Table, indent: usize) -> io::Result<()> {
        let mut text = Vec::new();
        table.write(
            &mut text,
            self.styles,
            true,
            self.width.is_some(),
            &mut Widths::default(),
        )?;
        for line in String::from_utf8_lossy(&text).lines() {
            self.line(indent, line)?;
        }
        Ok(())
    }

    fn line(&mut self, indent: usize, text: &str) -> io::Result<()> {
        let indent = if text.is_empty() { 0 } else { indent };
        writeln!(self.out, "{:indent$}{text}", "")
    }

    /// The lines that `text` takes when `taken` columns of the terminal are used before it.
    fn wrapped(&self, text: &str, taken: usize) -> Vec<String> {
        let Some(width) = self.width else {
            return vec![text.to_owned()];
        };
        let text = sanitize::for_terminal(text);
        let left = width.saturating_sub(taken);
        if width_of(&text) <= left || left < LEAST_VALUE {
            return vec![text.into_owned()];
        }
        let mut table = comfy_table::Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .add_row([text.as_ref()])
            .set_constraints([ColumnConstraint::Absolute(Width::Fixed(
                u16::try_from(left).unwrap_or(u16::MAX),
            ))]);
        if let Some(column) = table.column_mut(0) {
            column.set_padding((0, 0));
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::table::Column;
    use super::super::table::Detail;
    use super::*;

    const COLUMNS: &[Column] = &[Column::new("DEVICE", ".device"), Column::new("STATE", ".state")];

    fn print(layout: &Layout, width: Option<usize>) -> String {
        let mut out = Vec::new();
        layout
            .write(&mut out, Styles::PLAIN, width)
            .expect("writing to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_layout_looks_like_kubectl_describe() {
        let mut layout = Layout::new();
        layout
            .field("Name", "gpu")
            .list("Labels", ["a=b", "c=d"])
            .option("Owner", None::<&str>)
            .section("Allocation", |section| {
                let mut table = Table::new(COLUMNS, Detail::Normal);
                table.row(|row| {
                    row.cell("gpu-0").cell("free");
                });
                section.field("Node", "n1").section("Devices", |section| {
                    section.table(table);
                });
            })
            .section("Events", |_| {})
            .text("Two\nlines.");
        assert_eq!(
            print(&layout, None),
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
        let mut layout = Layout::new();
        layout
            .field("Message", "cannot allocate all claims on this node\u{1b}[2J")
            .field("Name", "gpu");
        assert_eq!(
            print(&layout, Some(40)),
            "\
Message:  cannot allocate all claims on
          this node^[[2J
Name:     gpu
"
        );
        assert_eq!(
            print(&layout, None),
            "Message:  cannot allocate all claims on this node\u{1b}[2J\nName:     gpu\n"
        );
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_too_long(
            words in prop::collection::vec("[a-z]{1,12}", 1..40),
            width in 40..100_usize,
        ) {
            let mut layout = Layout::new();
            layout.field("Key", words.join(" "));
            let text = print(&layout, Some(width));
            prop_assert!(text.lines().all(|line| line.len() <= width));
            let printed: Vec<_> = text.split_whitespace().skip(1).collect();
            prop_assert_eq!(printed, words);
        }
    }
}
