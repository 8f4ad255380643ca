//! `devices --map`: a row for each node, a letter for each device.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::commands::shown::numbered;
use crate::commands::usage::SHORT_BAR;
use crate::output::{Column, Doc, Page, Report, Span, Table, Tone, View, span, width_of};
use dra_allocator::devices::ClassSelectors;
use dra_model::{Cluster, Str};
use dra_reports::{DeviceFilter, DeviceList, DeviceMap, Fold, MapCell, MapHolder, MapRow, Mark, UsageBy};

/// Lines of rows that a terminal shows; the legend and headers come on top.
const MOST_LINES: usize = 16;

/// Lines of the legend that name holders.
const LEGEND_LINES: usize = 3;

/// The space between columns.
const GAP: usize = 2;

/// The picture of a list of devices. As data it is that list.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(in crate::commands) struct Picture {
    pub(in crate::commands) devices: DeviceList,
    #[serde(skip)]
    pub(in crate::commands) map: DeviceMap,
}

/// The devices of a driver on a node, or in a pool that several nodes reach: a row of the form for pipes and of `top`, and for web pages, where
/// nodes that look the same share one.
pub(in crate::commands) struct Line<'m> {
    pub(in crate::commands) nodes: &'m str,
    driver: &'m str,
    cell: &'m MapCell,
    letters: &'m [char],
}

impl<'m> Line<'m> {
    pub(in crate::commands) const COLUMNS: &'m [Column<Self, Page>] = &[
        Column::inner("NODE", |line, cell| cell.text(line.nodes)),
        Column::inner("DRIVER", |line, cell| cell.text(line.driver)),
        Column::inner("IN USE", |line, cell| cell.text(in_use(line.cell))),
        Column::inner("", |line, cell| {
            let MapCell { marks, held } = line.cell;
            if cell.context.is_terminal() {
                cell.text(cell.context.bar(*held as u64, marks.len() as u64, SHORT_BAR));
            }
        }),
        Column::inner("DEVICES", |line, cell| {
            cell.pieces(signs(&line.cell.marks, line.letters, ASCII));
        }),
    ];

    /// The lines of a row of the map.
    pub(in crate::commands) fn of(
        map: &'m DeviceMap,
        nodes: &'m str,
        row: &'m MapRow,
        letters: &'m [char],
    ) -> impl Iterator<Item = Self> {
        let cells = map.drivers.iter().zip(&row.cells);
        let cells = cells.filter(|(_, cell)| !cell.marks.is_empty());
        cells.map(move |(driver, cell)| Self {
            nodes,
            driver,
            cell,
            letters,
        })
    }
}

/// A sign of the map, and what it means.
struct Meaning {
    sign: char,
    tone: Tone,
    text: String,
}

impl Meaning {
    const COLUMNS: &'static [Column<Self>] = &[
        Column::inner("SIGN", |meaning, cell| cell.toned(meaning.tone, meaning.sign)),
        Column::inner("MEANING", |meaning, cell| cell.text(&meaning.text)),
    ];
}

impl Report for Picture {
    const KIND: &'static str = DeviceList::KIND;

    fn view(&self, page: Page) -> View {
        let letters = letters(&self.map.holders);
        if self.map.rows.is_empty() || !page.is_terminal() {
            return self.lines(&letters, page);
        }
        let folds = [Fold::None, Fold::Equal, Fold::Sorted, Fold::Anybody];
        let drawn = folds.map(|fold| (fold, Drawing::new(&self.map, fold, page)));
        let mut fitting = drawn
            .into_iter()
            .skip_while(|(fold, drawing)| *fold < Fold::Anybody && drawing.lines() > MOST_LINES);
        let mut doc = Doc::new();
        // The last one always comes through.
        if let Some((fold, mut drawing)) = fitting.next() {
            let left_out = drawing.cut();
            drawing.draw(&letters, &mut doc);
            legend(&self.map, &drawing, &letters, page, &mut doc);
            remarks(fold, left_out, &mut doc);
        }
        doc.into()
    }

    fn nothing(&self) -> Option<String> {
        self.devices.nothing()
    }
}

impl Picture {
    /// The picture of all devices, or of those that claims of a namespace hold, with their holders told `by` something.
    pub(in crate::commands) fn of(cluster: &Cluster, namespace: Option<&Str>, by: UsageBy) -> Self {
        let filter = DeviceFilter {
            namespace: namespace.cloned(),
            ..DeviceFilter::default()
        };
        let devices = dra_reports::devices(cluster, &filter, &ClassSelectors::of(cluster), None);
        let map = DeviceMap::of(cluster, &devices, by);
        Self { devices, map }
    }

    /// The form without a picture: a line for the devices of each driver on a node.
    fn lines(&self, letters: &[char], page: Page) -> View {
        let fold = if page.is_web() { Fold::Equal } else { Fold::None };
        let rows: Vec<(String, MapRow)> = self
            .map
            .folded(fold)
            .into_iter()
            .map(|row| {
                let names = std::iter::once(&row.name).chain(&row.others);
                (numbered(names.map(String::as_str), page).join(", "), row)
            })
            .collect();
        let lines = rows
            .iter()
            .flat_map(|(nodes, row)| Line::of(&self.map, nodes, row, letters));
        let table = Table::with(Line::COLUMNS, page.detail(), &page, lines);
        if table.is_empty() {
            return table.into();
        }
        let mut doc = Doc::new();
        doc.table(table);
        let holders = letters.iter().zip(&self.map.holders).enumerate();
        let mut meanings: Vec<Meaning> = holders
            .map(|(place, (letter, holder))| Meaning {
                sign: *letter,
                tone: tone(Mark::Held(Some(place))),
                text: format!("{}: {}", holder.group, holder.devices),
            })
            .collect();
        let all = self.map.rows.iter().flat_map(|row| &row.cells);
        let marks: BTreeSet<Mark> = all.flat_map(|cell| cell.marks.iter().copied()).collect();
        let others = self.map.holders.len() > letters.len();
        meanings.extend(states(&marks, others, ASCII));
        if page.is_web() {
            doc.titled("Legend", Table::of(Meaning::COLUMNS, meanings));
        } else {
            let lines = meanings.iter();
            doc.list(
                "Legend",
                lines.map(|Meaning { sign, text, .. }| format!("{sign} {text}")),
            );
        }
        doc.into()
    }
}

fn in_use(cell: &MapCell) -> String {
    format!("{}/{}", cell.held, cell.marks.len())
}

/// The sign of a device that can be allocated, where no other characters can be seen.
const ASCII: char = '.';

/// The letter of each holder, as far as letters go: one of its name, if no other has it. None is an `x`, which marks taints.
pub(in crate::commands) fn letters(holders: &[MapHolder]) -> Vec<char> {
    let mut given: BTreeSet<char> = BTreeSet::from(['x', 'X']);
    let mut letters = Vec::new();
    for holder in holders {
        let own = holder.group.name().chars().filter(char::is_ascii_alphabetic);
        let own = own.flat_map(|letter| [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()]);
        let mut choices = own.chain('a'..='z').chain('A'..='Z');
        let Some(letter) = choices.find(|letter| !given.contains(letter)) else {
            break;
        };
        given.insert(letter);
        letters.push(letter);
    }
    letters
}

/// Returns what stands for a device.
fn sign(mark: Mark, letters: &[char], free: char) -> char {
    match mark {
        Mark::Held(Some(holder)) => letters.get(holder).copied().unwrap_or('+'),
        Mark::Held(None) => '#',
        Mark::Unhealthy => '!',
        Mark::Tainted => 'x',
        Mark::Blocked => '-',
        Mark::Unknown => '?',
        Mark::Free => free,
    }
}

/// The signs of devices, those that are alike in one piece.
fn signs(marks: &[Mark], letters: &[char], free: char) -> Vec<Span> {
    let pieces = marks.chunk_by(|a, b| a == b).filter_map(|alike| {
        let signs: String = alike.iter().map(|mark| sign(*mark, letters, free)).collect();
        alike.first().map(|mark| span(tone_among(*mark, letters), signs))
    });
    pieces.collect()
}

/// The tone of a sign. Holders without a letter share one sign, and so they share its tone.
fn tone_among(mark: Mark, letters: &[char]) -> Tone {
    match mark {
        Mark::Held(Some(holder)) if holder >= letters.len() => Tone::Plain,
        mark => tone(mark),
    }
}

fn tone(mark: Mark) -> Tone {
    match mark {
        Mark::Held(Some(holder)) => Tone::Number(holder),
        Mark::Unhealthy => Tone::Bad,
        Mark::Tainted | Mark::Unknown => Tone::Notice,
        Mark::Held(None) | Mark::Blocked | Mark::Free => Tone::Plain,
    }
}

/// Signs that are not letters, with their meaning. Rare ones are explained where they occur.
fn states(marks: &BTreeSet<Mark>, others: bool, free: char) -> impl Iterator<Item = Meaning> + use<> {
    let is_seen = |mark: Mark| marks.contains(&mark);
    [
        (others, Mark::Held(Some(usize::MAX)), "others"),
        (is_seen(Mark::Held(None)), Mark::Held(None), "in use"),
        (true, Mark::Free, "free"),
        (true, Mark::Blocked, "blocked"),
        (true, Mark::Tainted, "tainted"),
        (true, Mark::Unhealthy, "unhealthy"),
        (is_seen(Mark::Unknown), Mark::Unknown, "unknown"),
    ]
    .into_iter()
    .filter(|(shown, ..)| *shown)
    .map(move |(_, mark, word)| Meaning {
        sign: sign(mark, &[], free),
        tone: tone_among(mark, &[]),
        text: word.to_owned(),
    })
}

/// A driver's column.
struct Wide {
    /// Index of the map's driver.
    driver: usize,
    header: String,
    /// Columns of a line of marks.
    marks: usize,
    /// Columns of all that stands there.
    whole: usize,
}

/// Rows as they fit into a terminal.
struct Drawing {
    page: Page,
    rows: Vec<MapRow>,
    labels: Vec<String>,
    label: usize,
    /// Drivers that have room beside each other.
    blocks: Vec<Vec<Wide>>,
}

impl Drawing {
    fn new(map: &DeviceMap, fold: Fold, page: Page) -> Self {
        let rows = map.folded(fold);
        let most = page.width() / 3;
        let labels: Vec<String> = rows
            .iter()
            .map(|row| match row.others.len() {
                0 => row.name.clone(),
                more => format!("{} +{more}", row.name),
            })
            .collect();
        // A longer one gets a line of its own.
        let widths = labels.iter().map(|label| width_of(label));
        let label = widths.filter(|width| *width <= most).max().unwrap_or(0);
        let room = page.width().saturating_sub(label + GAP);
        let columns = map.drivers.iter().enumerate().map(|(driver, name)| {
            let cells = || rows.iter().map(|row| &row.cells[driver]);
            let count = cells().map(|cell| in_use(cell).len()).max().unwrap_or(0);
            let marks = cells().map(|cell| cell.marks.len()).max().unwrap_or(0);
            let marks = marks.min(room.saturating_sub(1 + count)).max(1);
            Wide {
                driver,
                header: name.to_string(),
                marks,
                whole: marks + 1 + count,
            }
        });
        let mut blocks: Vec<Vec<Wide>> = Vec::new();
        for column in columns {
            let taken = |block: &Vec<Wide>| block.iter().map(|known| known.whole + GAP).sum::<usize>();
            match blocks.last_mut() {
                Some(block) if taken(block) + column.whole <= room => block.push(column),
                _ => blocks.push(vec![column]),
            }
        }
        for block in &mut blocks {
            let taken: usize = block.iter().map(|column| column.whole + GAP).sum();
            let mut spare = (room + GAP).saturating_sub(taken);
            for column in block {
                let more = width_of(&column.header).saturating_sub(column.whole).min(spare);
                column.whole += more;
                spare -= more;
                column.header = page.fit(&column.header, column.whole).into_owned();
            }
        }
        Self {
            page,
            rows,
            labels,
            label,
            blocks,
        }
    }

    /// Lines that a row takes in a block.
    fn height(row: &MapRow, block: &[Wide]) -> usize {
        let heights = block
            .iter()
            .map(|column| row.cells[column.driver].marks.len().div_ceil(column.marks));
        heights.max().unwrap_or(0)
    }

    fn lines_of(&self, row: &MapRow) -> usize {
        self.blocks.iter().map(|block| Self::height(row, block)).sum()
    }

    fn lines(&self) -> usize {
        self.rows.iter().map(|row| self.lines_of(row)).sum()
    }

    /// Leaves out what does not fit, and returns how many rows and nodes that are.
    fn cut(&mut self) -> (usize, usize) {
        let mut lines = 0;
        let fitting = self.rows.iter().take_while(|row| {
            lines += self.lines_of(row);
            lines <= MOST_LINES
        });
        let rest = self.rows.split_off(fitting.count().max(1));
        (rest.len(), rest.iter().map(|row| row.others.len() + 1).sum())
    }

    fn draw(&self, letters: &[char], doc: &mut Doc) {
        for (number, block) in self.blocks.iter().enumerate() {
            if number > 0 {
                doc.gap();
            }
            let mut header = vec![padding(self.label + GAP)];
            for column in block {
                header.push(span(Tone::Strong, &column.header));
                header.push(gap(column.whole + GAP, &column.header));
            }
            doc.line(0, header);
            for (row, label) in self.rows.iter().zip(&self.labels) {
                let height = Self::height(row, block);
                let is_long = width_of(label) > self.label;
                if is_long {
                    doc.hanging(0, label);
                }
                for line in 0..height {
                    let label = if line == 0 && !is_long { label.as_str() } else { "" };
                    let mut spans = vec![span(Tone::Plain, label), gap(self.label + GAP, label)];
                    for column in block {
                        self.cell(&row.cells[column.driver], column, line, letters, &mut spans);
                    }
                    doc.line(0, spans);
                }
            }
        }
    }

    /// A line of a cell, filled up to the width of its column.
    fn cell(&self, cell: &MapCell, column: &Wide, line: usize, letters: &[char], spans: &mut Vec<Span>) {
        let free = self.free();
        let marks = cell.marks.chunks(column.marks).nth(line).unwrap_or_default();
        spans.extend(signs(marks, letters, free));
        let count = if line == 0 && !cell.marks.is_empty() {
            in_use(cell)
        } else {
            String::new()
        };
        spans.push(padding(column.marks + 1 - marks.len()));
        let rest = column.whole + GAP - column.marks - 1 - count.len();
        spans.push(span(Tone::Plain, count));
        spans.push(padding(rest));
    }

    fn free(&self) -> char {
        self.page.either("·", ".").chars().next().unwrap_or(ASCII)
    }
}

/// Returns what fills `columns` up behind `text`. A name with characters that terminals do not show may be wider than it was cut to be.
fn gap(columns: usize, text: &str) -> Span {
    padding(columns.saturating_sub(width_of(text)).max(1))
}

fn padding(columns: usize) -> Span {
    span(Tone::Plain, " ".repeat(columns))
}

/// What the letters and signs of a drawing mean, in lines of the terminal's width.
fn legend(map: &DeviceMap, drawing: &Drawing, letters: &[char], page: Page, doc: &mut Doc) {
    let cells = drawing.rows.iter().flat_map(|row| &row.cells);
    let marks: BTreeSet<Mark> = cells.flat_map(|cell| cell.marks.iter().copied()).collect();
    let is_seen = |holder: usize| marks.contains(&Mark::Held(Some(holder)));
    let seen: Vec<usize> = (0..letters.len()).filter(|holder| is_seen(*holder)).collect();
    let entries: Vec<(char, Tone, String)> = seen
        .iter()
        .map(|holder| {
            let mark = Mark::Held(Some(*holder));
            let name = map.holders[*holder].group.to_string();
            let name = page.fit(&name, page.width() / 2).into_owned();
            (sign(mark, letters, ' '), tone(mark), name)
        })
        .collect();
    doc.gap();
    let mut lines: Vec<Vec<Span>> = Vec::new();
    let mut taken = 0;
    let mut told = 0;
    for (sign, tone, name) in &entries {
        let columns = 2 + width_of(name);
        if lines.is_empty() || taken + GAP + columns > page.width() {
            if lines.len() == LEGEND_LINES {
                break;
            }
            lines.push(Vec::new());
            taken = 0;
        }
        if let Some(line) = lines.last_mut() {
            if taken > 0 {
                line.push(padding(GAP));
                taken += GAP;
            }
            line.push(span(*tone, sign));
            line.push(span(Tone::Plain, format!(" {name}")));
        }
        taken += columns;
        told += 1;
    }
    for line in lines {
        doc.line(0, line);
    }
    if told < entries.len() {
        let rest = crate::output::counted(entries.len() - told, "more holder", "more holders");
        doc.remark(format_args!("{rest}: -o wide"));
    }
    let others = (letters.len()..map.holders.len()).any(is_seen);
    let mut line = Vec::new();
    for Meaning { sign, text, .. } in states(&marks, others, drawing.free()) {
        if !line.is_empty() {
            line.push(padding(GAP));
        }
        line.push(span(Tone::Plain, format!("{sign} {text}")));
    }
    doc.line(0, line);
}

/// What else is to be known to read the picture.
fn remarks(fold: Fold, (rows, nodes): (usize, usize), doc: &mut Doc) {
    let how = match fold {
        Fold::None => None,
        Fold::Equal => Some("+N: N more nodes look the same"),
        Fold::Sorted => Some("+N: N more nodes have the same devices, in any order"),
        Fold::Anybody => Some(
            "+N: N more nodes have the same devices, in any order and used by anyone; users: kubectl dra status",
        ),
    };
    if let Some(how) = how {
        doc.remark(format_args!("{how}; all: -o wide"));
    }
    if rows > 0 {
        let rows = crate::output::counted(rows, "more row", "more rows");
        let nodes = crate::output::counted(nodes, "node", "nodes");
        doc.remark(format_args!("{rows} of {nodes}: -o wide"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_reports::UsageGroup;

    #[test]
    fn names_that_no_terminal_shows_are_drawn_somehow() {
        let hostile = "node\u{1b}[2J\u{7f}\u{200b}\r\n-that-is-rather-long-and-has-to-be-cut";
        let cell = |count| MapCell {
            marks: vec![Mark::Free; count],
            held: 0,
        };
        let row = |name: &str, count| MapRow {
            name: name.to_owned(),
            others: Vec::new(),
            cells: vec![cell(count)],
        };
        let map = DeviceMap {
            drivers: vec![hostile.into()],
            rows: vec![row(hostile, 3), row("node", 90)],
            holders: Vec::new(),
        };
        for width in [20, 60, 80] {
            let page = Page::terminal(Some(width), true);
            for fold in [Fold::None, Fold::Equal, Fold::Sorted, Fold::Anybody] {
                let mut drawing = Drawing::new(&map, fold, page);
                drawing.cut();
                drawing.draw(&[], &mut Doc::new());
            }
        }
    }

    /// 5,000 nodes with eight devices: all alike, in any order, held by anybody, and all different.
    #[test]
    fn thousands_of_nodes_fit_on_a_screen_and_each_is_counted() {
        /// Marks of a node's devices.
        type Marks = fn(usize, usize) -> Option<usize>;
        const NODES: usize = 5_000;
        let holder = |number| Mark::Held(Some(number));
        let row = |number: usize, marks: Vec<Mark>| MapRow {
            name: format!("node-{number}"),
            others: Vec::new(),
            cells: vec![MapCell {
                held: marks.iter().filter(|mark| matches!(mark, Mark::Held(_))).count(),
                marks,
            }],
        };
        let kinds: [(Fold, Marks); 4] = [
            (Fold::Equal, |_, device| (device < 3).then_some(0)),
            (Fold::Sorted, |node, device| (device == node % 8).then_some(0)),
            (Fold::Anybody, |node, device| {
                (device < node % 8).then_some((node * 7 + device) % 40)
            }),
            // Nodes with equal usage share a row, no matter who uses them, so these need sizes of their own.
            (Fold::Anybody, |_, _| None),
        ];
        for (number, (fold, held)) in kinds.into_iter().enumerate() {
            let rows = (0..NODES).map(|node| {
                let devices = if number == 3 { 1 + node % 70 } else { 8 };
                let marks = (0..devices).map(|device| held(node, device).map_or(Mark::Free, holder));
                row(node, marks.collect())
            });
            let map = DeviceMap {
                drivers: vec!["gpu.example.com".into()],
                rows: rows.collect(),
                holders: Vec::new(),
            };
            for width in [60, 80, 200] {
                let page = Page::terminal(Some(width), true);
                let mut drawing = Drawing::new(&map, fold, page);
                let (rows, nodes) = drawing.cut();
                assert!(drawing.lines() <= MOST_LINES, "{fold:?} at {width}");
                let shown: usize = drawing.rows.iter().map(|row| row.others.len() + 1).sum();
                assert_eq!(shown + nodes, NODES, "{fold:?} at {width}");
                assert_eq!(rows > 0, number == 3, "{fold:?} at {width}");
            }
        }
    }

    #[test]
    fn holders_get_letters_of_their_names_as_long_as_there_are_any() {
        let holders = |names: &[&str]| {
            let holder = |name: &&str| MapHolder {
                group: UsageGroup::Namespace((*name).into()),
                devices: 1,
            };
            letters(&names.iter().map(holder).collect::<Vec<_>>())
        };
        let names = ["training", "team", "tx", "xx", "t", "1"];
        assert_eq!(holders(&names), ['t', 'T', 'a', 'b', 'c', 'd']);
        let many: Vec<String> = (0..80).map(|number| format!("n{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let given = holders(&many);
        let distinct: BTreeSet<char> = given.iter().copied().collect();
        assert_eq!((given.len(), distinct.len()), (50, 50));
        assert!(!distinct.contains(&'x') && !distinct.contains(&'X'));
    }
}
