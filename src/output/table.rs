//! Tables shaped as kubectl's: upper-case headers, columns three spaces apart, no borders, nothing wrapped or cut.
//!
//! The cells of a table lie in one string, one after the other, and a pass over them finds the widths. This is so because
//! lists of 100,000 rows are ordinary: with seven columns `comfy-table` takes 410 ms and 200 MiB for them, this less than
//! 100 ms and 17 MiB (one of two cores, release build). `comfy-table` wraps text in layouts, see `layout`.

use std::fmt::{self, Write as _};
use std::io;

use unicode_width::UnicodeWidthStr;

use super::gate::Gate;
use super::sanitize;
use super::styles::Tone;
use super::words::NONE;

/// The widest cell, gap included, that other lines are lined up with.
pub(super) const MOST_WIDTH: usize = 60_000;

/// The space between columns, and the least width of a column with it, both as in kubectl.
const GAP: usize = 3;
const LEAST_WIDTH: usize = 6;

/// How much of a report a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Normal,
    Wide,
}

/// A column: its header, and the field of the JSON items that it shows, by which it sorts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(super) header: &'static str,
    pub(super) path: &'static str,
    wide: bool,
}

impl Column {
    /// A column of every table.
    pub(crate) const fn new(header: &'static str, path: &'static str) -> Self {
        Self {
            header,
            path,
            wide: false,
        }
    }

    /// A column of `-o wide` only.
    pub(crate) const fn wide(header: &'static str, path: &'static str) -> Self {
        Self {
            header,
            path,
            wide: true,
        }
    }
}

/// Rows of cells. Made by a report, printed by the printer.
#[derive(Debug)]
pub(crate) struct Table {
    columns: &'static [Column],
    detail: Detail,
    /// How many of the columns are shown.
    shown: usize,
    text: String,
    /// Where each cell ends in `text`.
    ends: Vec<usize>,
    tones: Vec<Tone>,
}

/// One row being filled: a cell per column, in their order, hidden ones included.
#[derive(Debug)]
pub(crate) struct Row<'t> {
    table: &'t mut Table,
    next: usize,
}

impl Table {
    /// An empty table with those of `columns` that `detail` shows.
    pub(crate) fn new(columns: &'static [Column], detail: Detail) -> Self {
        let mut table = Self {
            columns,
            detail,
            shown: 0,
            text: String::new(),
            ends: Vec::new(),
            tones: Vec::new(),
        };
        table.shown = columns.iter().filter(|column| table.shows(column)).count();
        table
    }

    fn shows(&self, column: &Column) -> bool {
        self.detail == Detail::Wide || !column.wide
    }

    /// Adds a row. Cells that `fill` leaves out are empty.
    pub(crate) fn row(&mut self, fill: impl FnOnce(&mut Row<'_>)) {
        let mut row = Row { table: self, next: 0 };
        fill(&mut row);
        debug_assert!(
            row.next <= row.table.columns.len(),
            "a row has more cells than there are columns"
        );
        while row.next < row.table.columns.len() {
            row.cell("");
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn rows(&self) -> usize {
        self.ends.len().checked_div(self.shown).unwrap_or(0)
    }

    /// Prints the table, each line after `indent` spaces. `widths` carries the widths of an earlier part of the same output, and leaves
    /// with this one's.
    pub(super) fn print(
        &self,
        gate: &mut Gate<'_>,
        indent: usize,
        headers: bool,
        widths: &mut Widths,
    ) -> io::Result<()> {
        // Widths are those of what will be seen.
        if gate.is_terminal() && !sanitize::is_printable_ascii(&self.text) {
            return self.sanitized().lines(gate, indent, headers, widths);
        }
        self.lines(gate, indent, headers, widths)
    }

    fn lines(
        &self,
        gate: &mut Gate<'_>,
        indent: usize,
        headers: bool,
        widths: &mut Widths,
    ) -> io::Result<()> {
        widths.0.resize(self.shown, LEAST_WIDTH);
        let shown = || self.columns.iter().filter(|column| self.shows(column));
        if headers {
            for (width, column) in widths.0.iter_mut().zip(shown()) {
                *width = (*width).max(column.header.len() + GAP);
            }
        }
        let mut start = 0;
        for row in self.ends.chunks_exact(self.shown.max(1)) {
            for (width, end) in widths.0.iter_mut().zip(row) {
                let wide = width_of(&self.text[start..*end]) + GAP;
                // One endless cell would only add as many spaces to every other line.
                if wide <= MOST_WIDTH {
                    *width = (*width).max(wide);
                }
                start = *end;
            }
        }
        let mut line = Line::new(gate, indent);
        if headers {
            for (width, column) in widths.0.iter().zip(shown()) {
                line.cell(column.header, Tone::Strong, *width)?;
            }
            line.end()?;
        }
        let mut cell = 0;
        let mut start = 0;
        for _ in 0..self.rows() {
            for width in &widths.0 {
                line.cell(&self.text[start..self.ends[cell]], self.tones[cell], *width)?;
                start = self.ends[cell];
                cell += 1;
            }
            line.end()?;
        }
        Ok(())
    }

    /// The same table with everything shown that a terminal would act on.
    fn sanitized(&self) -> Self {
        let mut copy = Self::new(self.columns, self.detail);
        copy.tones.clone_from(&self.tones);
        let mut start = 0;
        for end in &self.ends {
            copy.text
                .push_str(&sanitize::for_terminal(&self.text[start..*end]));
            copy.ends.push(copy.text.len());
            start = *end;
        }
        copy
    }
}

impl Row<'_> {
    /// The next cell.
    pub(crate) fn cell(&mut self, value: impl fmt::Display) -> &mut Self {
        self.toned(Tone::Plain, value)
    }

    /// The next cell, in a tone.
    pub(crate) fn toned(&mut self, tone: Tone, value: impl fmt::Display) -> &mut Self {
        self.put(tone, |text| {
            // Writing to a string cannot fail; a `Display` that does has written what it could.
            let _ = write!(text, "{value}");
        })
    }

    /// The next cell, `<none>` when there is no value.
    pub(crate) fn option(&mut self, value: Option<impl fmt::Display>) -> &mut Self {
        match value {
            Some(value) => self.cell(value),
            None => self.cell(NONE),
        }
    }

    /// The next cell, with several values in it, or `<none>`.
    pub(crate) fn list<T: fmt::Display>(&mut self, values: impl IntoIterator<Item = T>) -> &mut Self {
        self.put(Tone::Plain, |text| {
            let start = text.len();
            for value in values {
                if text.len() > start {
                    text.push(',');
                }
                let _ = write!(text, "{value}");
            }
            if text.len() == start {
                text.push_str(NONE);
            }
        })
    }

    /// `write` is not called for a column that is not shown.
    fn put(&mut self, tone: Tone, write: impl FnOnce(&mut String)) -> &mut Self {
        let table = &mut *self.table;
        let shown = table
            .columns
            .get(self.next)
            .is_some_and(|column| table.shows(column));
        self.next += 1;
        if shown {
            let start = table.text.len();
            write(&mut table.text);
            if sanitize::breaks_rows(&table.text[start..]) {
                let cell = sanitize::for_cell(&table.text[start..]).into_owned();
                table.text.truncate(start);
                table.text.push_str(&cell);
            }
            table.ends.push(table.text.len());
            table.tones.push(tone);
        }
        self
    }
}

/// The widths of columns, gap included. A watch keeps them from one part of its output to the next, so that columns
/// only ever grow.
#[derive(Debug, Default)]
pub(crate) struct Widths(Vec<usize>);

impl Widths {
    /// Whether nothing was printed yet.
    pub(super) fn is_new(&self) -> bool {
        self.0.is_empty()
    }
}

/// One line in the making. Padding is owed until the next cell comes, so that no line ends in spaces.
struct Line<'l, 'g> {
    gate: &'l mut Gate<'g>,
    indent: usize,
    owed: usize,
}

impl<'l, 'g> Line<'l, 'g> {
    fn new(gate: &'l mut Gate<'g>, indent: usize) -> Self {
        Self {
            gate,
            indent,
            owed: indent,
        }
    }

    fn cell(&mut self, text: &str, tone: Tone, width: usize) -> io::Result<()> {
        if text.is_empty() {
            self.owed += width;
            return Ok(());
        }
        self.gate.pad(self.owed)?;
        self.gate.toned(tone, text)?;
        // A cell that is wider than its column still ends before the next one.
        self.owed = width.saturating_sub(width_of(text)).max(GAP);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.owed = self.indent;
        self.gate.text("\n")
    }
}

/// The columns that `text` takes on a screen.
pub(super) fn width_of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::styles::{Color, ColorWish, Styles};
    use super::*;

    const COLUMNS: &[Column] = &[
        Column::new("NAME", ".name"),
        Column::wide("UID", ".uid"),
        Column::new("NODES", ".nodes"),
    ];

    fn print(table: &Table, headers: bool, terminal: bool) -> String {
        let mut out = Vec::new();
        let mut gate = Gate::new(&mut out, Styles::PLAIN, terminal);
        table
            .print(&mut gate, 0, headers, &mut Widths::default())
            .expect("writing to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    fn two_rows(detail: Detail) -> Table {
        let mut table = Table::new(COLUMNS, detail);
        table.row(|row| {
            row.cell("a-long-name").cell(12).list(["n1", "n2"]);
        });
        table.row(|row| {
            row.cell("b").option(None::<&str>).list::<&str>([]);
        });
        table
    }

    #[test]
    fn a_table_looks_like_kubectls() {
        assert_eq!(
            print(&two_rows(Detail::Normal), true, false),
            "NAME          NODES\na-long-name   n1,n2\nb             <none>\n"
        );
        assert_eq!(
            print(&two_rows(Detail::Wide), true, false),
            "NAME          UID      NODES\na-long-name   12       n1,n2\nb             <none>   <none>\n"
        );
        assert_eq!(
            print(&two_rows(Detail::Normal), false, false),
            "a-long-name   n1,n2\nb             <none>\n"
        );
    }

    #[test]
    fn narrow_columns_have_kubectls_least_width_and_no_line_ends_in_spaces() {
        let mut table = Table::new(COLUMNS, Detail::Normal);
        table.row(|row| {
            row.cell("a").cell("").cell("x");
        });
        table.row(|row| {
            row.cell("b");
        });
        assert_eq!(print(&table, false, false), "a     x\nb\n");
    }

    #[test]
    fn a_cell_stays_in_its_row_and_a_terminal_is_not_driven() {
        let mut table = Table::new(COLUMNS, Detail::Normal);
        table.row(|row| {
            row.cell("a\nb").cell("").cell("\u{1b}[2J");
        });
        table.row(|row| {
            row.cell("größe").cell("").cell("\u{202e}x");
        });
        assert_eq!(
            print(&table, false, false),
            "a\\nb    \u{1b}[2J\ngröße   \u{202e}x\n"
        );
        assert_eq!(print(&table, false, true), "a\\nb    ^[[2J\ngröße   \\u{202e}x\n");
    }

    #[test]
    fn colour_does_not_move_columns() {
        let mut table = Table::new(COLUMNS, Detail::Normal);
        table.row(|row| {
            row.toned(Tone::Bad, "gone").cell("").cell("x");
        });
        let mut out = Vec::new();
        let styles = Styles::decide(Color::Always, ColorWish::default(), false);
        table
            .print(
                &mut Gate::new(&mut out, styles, true),
                0,
                true,
                &mut Widths::default(),
            )
            .expect("writing to memory");
        assert_eq!(
            String::from_utf8(out).expect("UTF-8"),
            "\u{1b}[1mNAME\u{1b}[0m   \u{1b}[1mNODES\u{1b}[0m\n\u{1b}[31mgone\u{1b}[0m   x\n"
        );
    }

    #[test]
    fn a_cell_that_is_too_wide_widens_no_other_line() {
        let wide = "x".repeat(100_000);
        let mut table = Table::new(COLUMNS, Detail::Normal);
        table.row(|row| {
            row.cell(&wide).cell("b").list(["n"]);
        });
        table.row(|row| {
            row.cell("a").cell("b").list(["n"]);
        });
        assert_eq!(
            print(&table, true, false),
            format!("NAME   NODES\n{wide}   n\na      n\n")
        );
    }

    #[test]
    fn a_watch_keeps_its_widths() {
        let mut widths = Widths::default();
        let mut out = Vec::new();
        two_rows(Detail::Normal)
            .print(
                &mut Gate::new(&mut out, Styles::PLAIN, false),
                0,
                true,
                &mut widths,
            )
            .expect("memory");
        let mut later = Table::new(COLUMNS, Detail::Normal);
        later.row(|row| {
            row.cell("c").cell("").cell("n3");
        });
        out.clear();
        later
            .print(
                &mut Gate::new(&mut out, Styles::PLAIN, false),
                0,
                false,
                &mut widths,
            )
            .expect("memory");
        assert_eq!(out, b"c             n3\n");
    }

    proptest! {
        #[test]
        fn every_cell_begins_where_its_header_does(
            rows in prop::collection::vec(("[a-z]{1,9}", "[a-zé漢]{1,9}"), 1..9),
        ) {
            let mut table = Table::new(COLUMNS, Detail::Normal);
            for (name, nodes) in &rows {
                table.row(|row| {
                    row.cell(name).cell("").cell(nodes);
                });
            }
            let text = print(&table, true, false);
            let mut lines = text.lines();
            let start = lines.next().and_then(|header| header.find("NODES")).expect("the header");
            for (line, (name, nodes)) in lines.zip(&rows) {
                prop_assert_eq!(&line[start..], nodes.as_str());
                prop_assert_eq!(line[..start].trim_end(), name.as_str());
            }
        }
    }
}
