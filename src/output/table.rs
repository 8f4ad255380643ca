//! Tables shaped as kubectl's: upper-case headers, columns three spaces apart, no borders, nothing wrapped or cut.
//!
//! A pass over the cells finds the widths. `comfy-table`, which wraps the text of documents, takes several times as long for lists of
//! 100,000 rows, which are ordinary.

use std::borrow::{Borrow, Cow};
use std::fmt::{self, Write as _};
use std::io;

use itertools::Itertools as _;

use super::fold;
use super::gate::Gate;
use super::page::{Detail, Page};
use super::sanitize;
use super::styles::Tone;
use super::width::width_of;
use super::words::{NONE, UNKNOWN, list_or_none};

/// The widest cell, gap included, that other lines are lined up with.
pub(super) const MOST_WIDTH: usize = 60_000;

/// The space between columns, and the least width of a column with it, both as in kubectl.
const GAP: usize = 3;
const LEAST_WIDTH: usize = 6;

/// The space between columns that have to share a narrow terminal.
const NARROW_GAP: usize = 2;

/// Indentation of a line that continues the row above it.
const CONTINUED: usize = 4;

/// Indentation of rows below their heading.
const HEADING: usize = 2;

/// A column of a table with a `T` in each row. `C` is what rows have in common, such as the time that ages are counted from.
pub(crate) struct Column<T, C = ()> {
    pub(crate) header: &'static str,
    /// Path in the items of the JSON output, for `--sort-by`; none in a table that cannot be sorted.
    pub(crate) path: Option<&'static str>,
    shown: Shown,
    fill: Fill<T, C>,
}

/// Where a column is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Always,
    /// With `-o wide`.
    Wide,
    /// Not on a terminal.
    Piped,
}

/// What a column puts into the cell of a row.
type Fill<T, C> = fn(&T, &mut Cell<'_, C>);

impl<T, C> Column<T, C> {
    /// A column of a list, which sorts by `path`.
    pub(crate) const fn new(header: &'static str, path: &'static str, fill: Fill<T, C>) -> Self {
        Self {
            path: Some(path),
            ..Self::inner(header, fill)
        }
    }

    /// A column of a list that only `-o wide` shows.
    pub(crate) const fn wide(header: &'static str, path: &'static str, fill: Fill<T, C>) -> Self {
        Self {
            shown: Shown::Wide,
            ..Self::new(header, path, fill)
        }
    }

    /// A column of a list that a terminal has no room for.
    pub(crate) const fn piped(header: &'static str, path: &'static str, fill: Fill<T, C>) -> Self {
        Self {
            shown: Shown::Piped,
            ..Self::new(header, path, fill)
        }
    }

    /// A column of a table inside a layout.
    pub(crate) const fn inner(header: &'static str, fill: Fill<T, C>) -> Self {
        Self {
            header,
            path: None,
            shown: Shown::Always,
            fill,
        }
    }

    /// A column of a table inside a layout that only `-o wide` shows.
    pub(crate) const fn inner_wide(header: &'static str, fill: Fill<T, C>) -> Self {
        Self {
            shown: Shown::Wide,
            ..Self::inner(header, fill)
        }
    }
}

/// Rows of cells under their headers. Made by a report, printed by the printer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    headers: Vec<&'static str>,
    /// True if the first column is a heading above the rows that share it, where they stand together.
    is_grouped: bool,
    rows: Vec<Vec<Text>>,
}

/// Text of a cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    pub(crate) text: Box<str>,
    pub(crate) tone: Tone,
    /// Length and tone of each piece, where there are several.
    pieces: Box<[(usize, Tone)]>,
}

/// A cell that a column fills. One that it leaves alone is empty.
pub(crate) struct Cell<'t, C> {
    pub(crate) context: &'t C,
    pub(crate) detail: Detail,
    text: String,
    tone: Tone,
    pieces: Vec<(usize, Tone)>,
}

impl Table {
    /// All of `columns`, where none is for `-o wide` alone, with a row for each of `items`.
    pub(crate) fn of<'c, T: 'c>(
        columns: impl IntoIterator<Item = &'c Column<T>>,
        items: impl IntoIterator<Item: Borrow<T>>,
    ) -> Self {
        Self::new(columns, Detail::Normal, items)
    }

    /// Those of `columns` that `detail` shows, with a row for each of `items`.
    pub(crate) fn new<'c, T: 'c>(
        columns: impl IntoIterator<Item = &'c Column<T>>,
        detail: Detail,
        items: impl IntoIterator<Item: Borrow<T>>,
    ) -> Self {
        Self::with(columns, detail, &(), items)
    }

    /// Those of `columns` that `detail` shows, with a row for each of `items`, which have `context` in common.
    pub(crate) fn with<'c, T: 'c, C: 'c>(
        columns: impl IntoIterator<Item = &'c Column<T, C>>,
        detail: Detail,
        context: &C,
        items: impl IntoIterator<Item: Borrow<T>>,
    ) -> Self {
        let columns = columns.into_iter();
        let shows = |column: &&Column<T, C>| detail == Detail::Wide || column.shown != Shown::Wide;
        let shown: Vec<_> = columns.filter(shows).collect();
        let row = |item: &T| {
            let filled = shown.iter().map(|column| {
                let mut cell = Cell {
                    context,
                    detail,
                    text: String::new(),
                    tone: Tone::Plain,
                    pieces: Vec::new(),
                };
                (column.fill)(item, &mut cell);
                Text {
                    text: sanitize::for_cell(&cell.text).into(),
                    tone: cell.tone,
                    pieces: cell.pieces.into(),
                }
            });
            filled.collect::<Vec<Text>>()
        };
        Self {
            headers: shown.iter().map(|column| column.header).collect(),
            is_grouped: false,
            rows: items.into_iter().map(|item| row(item.borrow())).collect(),
        }
    }

    /// The same for a list. A terminal gets the columns that are for it, the first one as headings.
    pub(crate) fn list<T, C>(
        columns: &[Column<T, C>],
        page: Page,
        context: &C,
        items: impl IntoIterator<Item: Borrow<T>>,
    ) -> Self {
        if !page.is_terminal() {
            return Self::with(columns, page.detail(), context, items);
        }
        let columns = columns.iter().filter(|column| column.shown == Shown::Always);
        Self::with(columns, page.detail(), context, items).grouped()
    }

    /// The table that has the first column as headings on a terminal, each above the rows that share it. Where such rows do not stand
    /// together, as after sorting by something else, it stays a column.
    #[must_use]
    pub(crate) fn grouped(mut self) -> Self {
        self.is_grouped = true;
        let headings = self.rows.iter_mut().filter_map(|row| row.first_mut());
        headings.for_each(|heading| heading.tone = Tone::Strong);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn headers(&self) -> &[&'static str] {
        &self.headers
    }

    pub(crate) fn rows(&self) -> &[Vec<Text>] {
        &self.rows
    }

    /// The table without the columns that have a value in no row.
    #[must_use]
    pub(crate) fn without_empty_columns(self) -> Self {
        let (kept, _) = self.on(Page::endless(Detail::Normal, true), 0, true);
        kept.into_owned()
    }

    /// The table as `page` has room for it. A part of a document leaves out the columns that have a value in no row; a list does so on a
    /// terminal only, as scripts count its columns. Where it is still too wide for a terminal, the columns that have the same in each row
    /// are left out, too, and told in a line above it.
    pub(super) fn on(&self, page: Page, indent: usize, is_part: bool) -> (Cow<'_, Self>, Option<String>) {
        let columns = self.headers.len();
        if columns == 0 || !page.is_terminal() && !is_part {
            return (Cow::Borrowed(self), None);
        }
        let mut is_shown = vec![self.is_empty(); columns];
        let mut is_same = vec![self.rows.len() > 1; columns];
        let mut widths: Vec<usize> = self.headers.iter().map(|header| width_of(header)).collect();
        for row in &self.rows {
            for (column, (cell, first)) in row.iter().zip(&self.rows[0]).enumerate() {
                let has_value = !matches!(&*cell.text, "" | NONE) && cell.tone != Tone::Nothing;
                // All that a wide page has no room for is pictures.
                is_shown[column] |= has_value || page.is_wide() && !self.headers[column].is_empty();
                is_same[column] &= cell.text == first.text;
                widths[column] = widths[column].max(width_of(&cell.text));
            }
        }
        if self.is_grouped {
            is_shown[0] = true;
            is_same[0] = false;
        }
        // Empty rows are visible.
        if is_shown.iter().all(|shown| !*shown) {
            is_shown.fill(true);
        }
        let taken: usize = widths
            .iter()
            .zip(&is_shown)
            .filter(|(_, shown)| **shown)
            .map(|(width, _)| width + GAP)
            .sum();
        let is_too_wide = indent + taken > page.width().saturating_add(GAP);
        let varies = is_shown.iter().zip(&is_same).any(|(shown, same)| *shown && !same);
        let mut same = Vec::new();
        if is_too_wide && varies {
            let first = self.rows.first().into_iter().flatten();
            for (column, (header, first)) in self.headers.iter().zip(first).enumerate() {
                if is_shown[column] && is_same[column] && !header.is_empty() {
                    is_shown[column] = false;
                    if !matches!(&*first.text, "" | NONE) {
                        same.push(format!("{header} {}", first.text));
                    }
                }
            }
        }
        let same = (!same.is_empty()).then(|| format!("All rows: {}", same.join(", ")));
        if is_shown.iter().all(|shown| *shown) {
            return (Cow::Borrowed(self), same);
        }
        let kept = Self {
            headers: kept(&self.headers, &is_shown),
            is_grouped: self.is_grouped,
            rows: self.rows.iter().map(|row| kept(row, &is_shown)).collect(),
        };
        (Cow::Owned(kept), same)
    }

    /// Prints the table, each line after `indent` spaces and within `page`. `widths` carries the widths of an earlier part of the
    /// same output, and leaves with this one's.
    pub(super) fn print(
        &self,
        gate: &mut Gate<'_>,
        indent: usize,
        headers: bool,
        page: Page,
        widths: &mut Widths,
    ) -> io::Result<()> {
        // Widths are those of what will be seen.
        let is_plain = |cell: &Text| sanitize::is_printable_ascii(&cell.text);
        let seen = if gate.is_terminal() && !self.rows.iter().flatten().all(is_plain) {
            Cow::Owned(self.sanitized())
        } else {
            Cow::Borrowed(self)
        };
        widths.0.resize(seen.headers.len(), LEAST_WIDTH);
        let groups = page.is_terminal() && seen.stand_together();
        let (first, below) = if groups {
            (1, indent + HEADING)
        } else {
            (0, indent)
        };
        if headers {
            for (width, header) in widths.0.iter_mut().zip(&seen.headers).skip(first) {
                *width = (*width).max(header.len() + GAP);
            }
        }
        for row in &seen.rows {
            for (width, cell) in widths.0.iter_mut().zip(row).skip(first) {
                let wide = width_of(&cell.text) + GAP;
                // One endless cell would only add as many spaces to every other line.
                if wide <= MOST_WIDTH {
                    *width = (*width).max(wide);
                }
            }
        }
        let shape = seen.shape(&widths.0, first, page.width().saturating_sub(below));
        let mut line = Line {
            gate,
            indent: below,
            owed: below,
            gap: shape.gap,
        };
        if headers {
            let headers = seen.headers[first..].iter().map(|header| (*header, Tone::Strong));
            line.row(&shape, headers)?;
        }
        let mut heading = None;
        for row in &seen.rows {
            if groups && heading.replace(&row[0].text) != Some(&row[0].text) {
                line.heading(&row[0].text, row[0].tone, indent)?;
            }
            let cells = row[first..].iter().map(|cell| (&*cell.text, cell.tone));
            line.row(&shape, cells)?;
        }
        Ok(())
    }

    /// Returns how the columns from `first` on share lines of `room` columns, whose cells are as wide as `widths` say with the gap.
    fn shape(&self, widths: &[usize], first: usize, room: usize) -> Shape {
        let texts: Vec<usize> = widths[first..]
            .iter()
            .map(|width| width.saturating_sub(GAP))
            .collect();
        let whole = |gap| texts.iter().sum::<usize>() + gap * texts.len().saturating_sub(1) <= room;
        let is_narrow = !whole(GAP);
        if !is_narrow || whole(NARROW_GAP) {
            return Shape {
                gap: if is_narrow { NARROW_GAP } else { GAP },
                lines: vec![texts],
                is_folded: false,
            };
        }
        let mut least: Vec<usize> = self.headers[first..]
            .iter()
            .map(|header| width_of(header))
            .collect();
        for row in &self.rows {
            for (least, cell) in least.iter_mut().zip(&row[first..]) {
                let words = fold::parts(&cell.text).map(|part| width_of(part.trim()));
                *least = (*least).max(words.max().unwrap_or(0));
            }
        }
        Shape::folded(&texts, &least, room)
    }

    /// Returns whether the rows with the same heading stand together.
    fn stand_together(&self) -> bool {
        let mut headings = self.rows.iter().map(|row| &row[0].text).dedup();
        self.is_grouped && self.headers.len() > 1 && headings.all_unique()
    }

    /// The same table with everything shown that a terminal would act on.
    pub(crate) fn sanitized(&self) -> Self {
        let shown = |cell: &Text| Text {
            text: sanitize::for_terminal(&cell.text).into(),
            tone: cell.tone,
            pieces: Box::default(),
        };
        Self {
            headers: self.headers.clone(),
            is_grouped: self.is_grouped,
            rows: self
                .rows
                .iter()
                .map(|row| row.iter().map(shown).collect())
                .collect(),
        }
    }
}

/// Those of `all` that are shown.
fn kept<T: Clone>(all: &[T], is_shown: &[bool]) -> Vec<T> {
    let kept = all.iter().zip(is_shown).filter(|(_, is_shown)| **is_shown);
    kept.map(|(one, _)| one.clone()).collect()
}

impl Text {
    /// Returns whether it is made of signs that stand below each other.
    pub(super) fn is_picture(&self) -> bool {
        !self.pieces.is_empty()
    }

    /// Its pieces.
    pub(super) fn pieces(&self) -> Vec<(Tone, &str)> {
        let mut rest = &*self.text;
        let pieces = self.pieces.iter().map(|(length, tone)| {
            let (piece, after) = rest.split_at_checked(*length).unwrap_or((rest, ""));
            rest = after;
            (*tone, piece)
        });
        let pieces: Vec<_> = pieces.collect();
        if pieces.is_empty() {
            vec![(self.tone, &self.text)]
        } else {
            pieces
        }
    }
}

impl<C> Cell<'_, C> {
    pub(crate) fn text(&mut self, value: impl fmt::Display) {
        // Writing to a string cannot fail; a `Display` that does has written what it could.
        let _ = write!(self.text, "{value}");
    }

    pub(crate) fn toned(&mut self, tone: Tone, value: impl fmt::Display) {
        self.tone = tone;
        self.text(value);
    }

    /// Several pieces, each in its tone where the medium shows more than one tone of a cell.
    pub(crate) fn pieces(&mut self, pieces: impl IntoIterator<Item = (Tone, String)>) {
        for (tone, text) in pieces {
            let text = sanitize::for_cell(&text);
            self.text.push_str(&text);
            self.pieces.push((text.len(), tone));
        }
    }

    /// `<none>` when there is no value.
    pub(crate) fn option(&mut self, value: Option<impl fmt::Display>) {
        match value {
            Some(value) => self.text(value),
            None => self.text(NONE),
        }
    }

    /// `<unknown>` when there is no value.
    pub(crate) fn known(&mut self, value: Option<impl fmt::Display>) {
        match value {
            Some(value) => self.text(value),
            None => self.text(UNKNOWN),
        }
    }

    /// `NAMESPACE/NAME`, or another name of two parts.
    pub(crate) fn path(&mut self, first: impl fmt::Display, last: impl fmt::Display) {
        self.text(format_args!("{first}/{last}"));
    }

    /// A number in a tone; a column without one is left out on a terminal.
    pub(crate) fn unless_zero(&mut self, tone: Tone, count: u64) {
        self.toned(if count > 0 { tone } else { Tone::Nothing }, count);
    }

    /// Several values in one cell, or `<none>`.
    pub(crate) fn list<T: fmt::Display>(&mut self, values: impl IntoIterator<Item = T>) {
        self.text(list_or_none(values));
    }
}

/// The widths of columns, gap included. A watch keeps them from one part of its output to the next, so that columns
/// only ever grow.
#[derive(Debug, Default)]
pub(crate) struct Widths(Vec<usize>);

impl Widths {
    /// Returns whether nothing was printed yet.
    pub(super) fn is_new(&self) -> bool {
        self.0.is_empty()
    }
}

/// Layout of a table's columns.
struct Shape {
    /// Gap between two columns.
    gap: usize,
    /// The room for the text of each, by the lines of a row: a further one begins where the one before is full.
    lines: Vec<Vec<usize>>,
    /// True if there are cells that take several lines.
    is_folded: bool,
}

impl Shape {
    /// Narrower columns for `texts`: the widest shrink first, none below its longest word, given by `least`. The rest
    /// continues on the next line.
    fn folded(texts: &[usize], least: &[usize], room: usize) -> Self {
        let gap = NARROW_GAP;
        let mut lines = Vec::new();
        let mut start = 0;
        while start < texts.len() {
            let room = if start > 0 {
                room.saturating_sub(CONTINUED)
            } else {
                room
            };
            let mut taken = 0;
            let fitting = least[start..].iter().take_while(|least| {
                taken += **least + gap;
                taken <= room + gap
            });
            let end = start + fitting.count().max(1);
            let room = room.saturating_sub(gap * (end - start - 1));
            lines.push(shared(&texts[start..end], &least[start..end], room));
            start = end;
        }
        Self {
            gap,
            lines,
            is_folded: true,
        }
    }
}

/// Returns what columns as wide as `texts` get of `room`, none less than `least` says.
fn shared(texts: &[usize], least: &[usize], room: usize) -> Vec<usize> {
    let of = |most: usize| {
        texts
            .iter()
            .zip(least)
            .map(move |(text, least)| *text.min(&most.max(*least)))
    };
    let widest = texts.iter().max().copied().unwrap_or(0).min(room);
    let most = (0..=widest)
        .rev()
        .find(|most| of(*most).sum::<usize>() <= room)
        .unwrap_or(0);
    let mut widths: Vec<usize> = of(most).collect();
    // What is left over goes to the first ones that have less than they need.
    let mut left = room.saturating_sub(widths.iter().sum());
    for (width, text) in widths.iter_mut().zip(texts) {
        let more = text.saturating_sub(*width).min(left).min(1);
        left -= more;
        *width += more;
    }
    widths
}

/// One line in the making. Padding is owed until the next cell comes, so that no line ends in spaces.
struct Line<'l, 'g> {
    gate: &'l mut Gate<'g>,
    indent: usize,
    owed: usize,
    gap: usize,
}

impl Line<'_, '_> {
    fn cell(&mut self, text: &str, tone: Tone, width: usize) -> io::Result<()> {
        if text.is_empty() {
            self.owed += width;
            return Ok(());
        }
        self.gate.pad(self.owed)?;
        self.gate.toned(tone, text)?;
        // A cell that is wider than its column still ends before the next one.
        self.owed = width.saturating_sub(width_of(text)).max(self.gap);
        Ok(())
    }

    /// A row: its cells side by side, those that are too long on several lines.
    fn row<'t>(&mut self, shape: &Shape, mut cells: impl Iterator<Item = (&'t str, Tone)>) -> io::Result<()> {
        for (number, widths) in shape.lines.iter().enumerate() {
            let part = widths.iter().zip(cells.by_ref());
            if shape.is_folded {
                let part =
                    part.map(|(width, (text, tone))| (fold::within(text, *width), tone, width + shape.gap));
                self.part(&part.collect::<Vec<_>>(), if number > 0 { CONTINUED } else { 0 })?;
            } else {
                for (width, (text, tone)) in part {
                    self.cell(text, tone, width + shape.gap)?;
                }
                self.end()?;
            }
        }
        Ok(())
    }

    /// Cells side by side, each of several lines. Nothing of cells that are empty.
    fn part(&mut self, cells: &[(Vec<String>, Tone, usize)], indent: usize) -> io::Result<()> {
        let lines = cells.iter().map(|(lines, ..)| lines.len()).max().unwrap_or(0);
        for number in 0..lines {
            self.owed += indent;
            for (lines, tone, width) in cells {
                self.cell(lines.get(number).map_or("", String::as_str), *tone, *width)?;
            }
            self.end()?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.owed = self.indent;
        self.gate.text("\n")
    }

    /// A line of its own between two others.
    fn heading(&mut self, text: &str, tone: Tone, indent: usize) -> io::Result<()> {
        self.gate.pad(indent)?;
        self.gate.toned(tone, text)?;
        self.gate.text("\n")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::styles::{Color, ColorWish, Styles};
    use super::*;

    const PIPE: Page = Page::endless(Detail::Normal, true);

    struct Item {
        name: &'static str,
        uid: Option<u32>,
        nodes: &'static [&'static str],
    }

    const COLUMNS: &[Column<Item>] = &[
        Column::inner("NAME", |item, cell| cell.text(item.name)),
        Column::inner_wide("UID", |item, cell| cell.option(item.uid)),
        Column::inner("NODES", |item, cell| cell.list(item.nodes)),
    ];

    const PAIRS: &[Column<[String; 2]>] = &[
        Column::inner("NAME", |[name, _], cell| cell.text(name)),
        Column::inner("NODES", |[_, nodes], cell| cell.text(nodes)),
    ];

    fn pairs<const ROWS: usize>(pairs: [[&str; 2]; ROWS]) -> Table {
        Table::new(PAIRS, Detail::Normal, pairs.map(|pair| pair.map(str::to_owned)))
    }

    fn print(table: &Table, headers: bool, terminal: bool) -> String {
        let mut out = Vec::new();
        let mut gate = Gate::new(&mut out, Styles::PLAIN, terminal);
        table
            .print(&mut gate, 0, headers, PIPE, &mut Widths::default())
            .expect("writing to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    fn two_rows(detail: Detail) -> Table {
        let rows = [
            Item {
                name: "a-long-name",
                uid: Some(12),
                nodes: &["n1", "n2"],
            },
            Item {
                name: "b",
                uid: None,
                nodes: &[],
            },
        ];
        Table::new(COLUMNS, detail, rows)
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
        let table = pairs([["a", "x"], ["b", ""]]);
        assert_eq!(print(&table, false, false), "a     x\nb\n");
    }

    #[test]
    fn a_cell_stays_in_its_row_and_a_terminal_is_not_driven() {
        let table = pairs([["a\nb", "\u{1b}[2J"], ["größe", "\u{202e}x"]]);
        assert_eq!(
            print(&table, false, false),
            "a\\nb    \u{1b}[2J\ngröße   \u{202e}x\n"
        );
        assert_eq!(print(&table, false, true), "a\\nb    ^[[2J\ngröße   \\u{202e}x\n");
    }

    #[test]
    fn colour_does_not_move_columns() {
        const TONED: &[Column<&str>] = &[
            Column::inner("NAME", |name, cell| cell.toned(Tone::Bad, name)),
            Column::inner("NODES", |_, cell| cell.text("x")),
        ];
        let table = Table::new(TONED, Detail::Normal, ["gone"]);
        let mut out = Vec::new();
        let styles = Styles::decide(Color::Always, ColorWish::default(), false);
        table
            .print(
                &mut Gate::new(&mut out, styles, true),
                0,
                true,
                PIPE,
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
        let table = pairs([[wide.as_str(), "n"], ["a", "n"]]);
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
                PIPE,
                &mut widths,
            )
            .expect("memory");
        out.clear();
        pairs([["c", "n3"]])
            .print(
                &mut Gate::new(&mut out, Styles::PLAIN, false),
                0,
                false,
                PIPE,
                &mut widths,
            )
            .expect("memory");
        assert_eq!(out, b"c             n3\n");
    }

    fn on_screen(table: &Table, width: usize) -> String {
        let mut out = Vec::new();
        let mut gate = Gate::new(&mut out, Styles::PLAIN, true);
        let page = Page::terminal(Some(width), true);
        let (table, _) = table.on(page, 0, true);
        table
            .print(&mut gate, 0, true, page, &mut Widths::default())
            .expect("writing to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_table_fits_the_screen_and_nothing_is_cut() {
        let table = pairs([
            [
                "training/trainer-1-extra-zp8bf",
                "gpu.example.com/gpu-node-1/gpu-7",
            ],
            ["a", "b"],
        ]);
        assert_eq!(
            on_screen(&table, 80),
            "NAME                             NODES\n\
             training/trainer-1-extra-zp8bf   gpu.example.com/gpu-node-1/gpu-7\n\
             a                                b\n"
        );
        assert_eq!(
            on_screen(&table, 40),
            "NAME\n    NODES\ntraining/trainer-1-extra-zp8bf\n    gpu.example.com/gpu-node-1/gpu-7\na\n    b\n"
        );
    }

    const IN_GROUPS: &[Column<[&str; 3]>] = &[
        Column::inner("NAMESPACE", |[namespace, ..], cell| {
            cell.toned(Tone::Strong, namespace);
        }),
        Column::inner("NAME", |[_, name, _], cell| cell.text(name)),
        Column::inner("STATE", |[_, _, state], cell| cell.text(state)),
    ];

    #[test]
    fn rows_with_the_same_heading_stand_below_it() {
        let rows = [
            ["default", "notebook-gpu-579qp", "allocated,reserved"],
            ["team", "b", "pending"],
            ["team", "c", "pending"],
        ];
        let table = Table::new(IN_GROUPS, Detail::Normal, rows).grouped();
        let expected = "  NAME                STATE\ndefault\n  notebook-gpu-579qp  allocated,\n                      reserved\nteam\n  b                   pending\n  c                   pending\n";
        assert_eq!(on_screen(&table, 34), expected);
        let piped = print(&table, true, false);
        assert!(piped.starts_with("NAMESPACE   NAME "), "{piped}");
        let rows = [
            ["team", "b", "pending"],
            ["default", "a", "pending"],
            ["team", "c", "pending"],
        ];
        let table = Table::new(IN_GROUPS, Detail::Normal, rows).grouped();
        assert!(on_screen(&table, 80).starts_with("NAMESPACE   NAME "));
    }

    #[test]
    fn words_stay_whole_where_58_columns_have_to_do() {
        const CLAIMS: &[Column<[&str; 6]>] = &[
            Column::inner("NAME", |row, cell| cell.text(row[0])),
            Column::inner("STATE", |row, cell| cell.text(row[1])),
            Column::inner("NODE", |row, cell| cell.text(row[2])),
            Column::inner("DEVICES", |row, cell| cell.text(row[3])),
            Column::inner("CONSUMERS", |row, cell| cell.text(row[4])),
            Column::inner("AGE", |row, cell| cell.text(row[5])),
        ];
        let row = [
            "sweep-glg98-gpu-m9x2c",
            "allocated,reserved",
            "gpu-node-2",
            "gpu-2,rdma3",
            "pod/sweep-glg98",
            "12m",
        ];
        let shown = on_screen(&Table::new(CLAIMS, Detail::Normal, [row]), 58);
        let expected = "\
NAME                   STATE        NODE        DEVICES
    CONSUMERS        AGE
sweep-glg98-gpu-m9x2c  allocated,   gpu-node-2  gpu-2,
                       reserved                 rdma3
    pod/sweep-glg98  12m
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn columns_without_a_value_are_left_out() {
        let table = pairs([["a", NONE], ["b", ""]]);
        assert_eq!(on_screen(&table, 80), "NAME\na\nb\n");
        let table = pairs([["", NONE]]);
        assert_eq!(on_screen(&table, 80), "NAME   NODES\n       <none>\n");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_screen(
            rows in prop::collection::vec(("[a-z/]{0,90}", "[a-zé漢]{0,90}"), 1..9),
            width in 20..120_usize,
        ) {
            let items = rows.iter().map(|(name, nodes)| [name.clone(), nodes.clone()]);
            let text = on_screen(&Table::new(PAIRS, Detail::Normal, items), width);
            for line in text.lines() {
                prop_assert!(width_of(line) <= width || line.split_whitespace().count() == 1, "{text}");
            }
            let cells = rows.iter().flat_map(|(name, nodes)| [name, nodes]);
            for cell in cells.filter(|cell| !cell.is_empty()) {
                prop_assert!(text.contains(cell), "{cell}: {text}");
            }
        }

        #[test]
        fn what_is_the_same_in_all_rows_is_said_once(count in 2..5_usize, width in 40..120_usize) {
            let rows = (0..count).map(|row| [format!("{row}"), "same".repeat(20)]);
            let table = Table::new(PAIRS, Detail::Normal, rows);
            let (on_page, told) = table.on(Page::terminal(Some(width), true), 0, true);
            let fits = width >= "NAME".len() + GAP + 80;
            prop_assert_eq!(told.is_none(), fits);
            prop_assert_eq!(on_page.headers.len(), if fits { 2 } else { 1 });
        }

        #[test]
        fn every_cell_begins_where_its_header_does(
            rows in prop::collection::vec(("[a-z]{1,9}", "[a-zé漢]{1,9}"), 1..9),
        ) {
            let items = rows.iter().map(|(name, nodes)| [name.clone(), nodes.clone()]);
            let table = Table::new(PAIRS, Detail::Normal, items);
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
