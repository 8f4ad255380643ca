//! The picture: the tab, its first row and the order of its rows; and what a key does. No terminal is needed for it.

use std::collections::HashSet;

use super::data::{Data, Pane};
use crate::commands::explain::Topic;
use crate::output::{INTERRUPT, KeyCode, Page, Span, Tone, folded, span, width_of};

/// The space between columns.
const GAP: usize = 2;

/// Lines above the rows: the cluster, the tabs, the headers.
const ABOVE: usize = 3;

/// Lines below the rows: all of the selected row, where its cells are cut.
const BELOW: usize = 3;

/// The tabs, in the order of the panes.
const TABS: [&str; 4] = ["Nodes", "Use", "Pending", "Events"];

/// Tabs with a row for each driver of the thing in their first column.
const PER_DRIVER: std::ops::Range<usize> = 0..2;

/// Marks the selected row, and stands in front of the others.
const MARK: &str = "> ";
const NO_MARK: &str = "  ";

const KEYS: &str = "Enter explain  Tab next  / filter  s sort  r reverse  ? keys  q quit";
const KEYS_OF_TEXT: &str = "Esc back  Up/Down, PgUp/PgDn scroll  q quit";

const HELP: &str = "\
1 2 3 4, Tab      show nodes, use, pending objects or events
Up, Down, k, j    select a row
PgUp, PgDn        go a page up or down
Home, End, g, G   go to the first or last row
Enter             explain what is in the row
/                 show only rows that contain a text; Esc shows all again
s, S              sort by the next or previous column
r                 reverse the order
q, Ctrl-C         quit

Devices: a letter for each holder, . free, - blocked, x tainted, ! unhealthy,
? unknown, # several holders, + other holders";

/// What a key makes the command do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing but to draw again.
    Draw,
    /// Show why: what the selected row is about.
    Explain(Topic),
    Quit,
}

/// Where a tab stands.
#[derive(Debug, Default)]
struct Place {
    /// The selected row, among those that are shown.
    row: usize,
    /// The first row that the terminal shows.
    top: usize,
    /// The column to sort by.
    column: Option<usize>,
    is_reversed: bool,
}

/// A text that covers the tabs.
#[derive(Debug)]
struct Text {
    title: String,
    lines: Vec<String>,
    top: usize,
}

/// What is shown.
#[derive(Debug)]
pub(super) struct View {
    cluster: String,
    data: Data,
    tab: usize,
    places: [Place; 4],
    /// Only rows with this text, in lower case.
    filter: String,
    is_typing: bool,
    text: Option<Text>,
    /// The state of the connection, and its age.
    pub(super) state: Span,
    page: Page,
    /// Columns, and lines for rows, as they were drawn last.
    columns: usize,
    room: usize,
}

impl View {
    pub(super) fn new(cluster: String, page: Page) -> Self {
        Self {
            cluster,
            data: Data::default(),
            tab: 0,
            places: Default::default(),
            filter: String::new(),
            is_typing: false,
            text: None,
            state: span(Tone::Plain, ""),
            page,
            columns: page.width(),
            room: 1,
        }
    }

    /// Shows other data. The selected row stays the same object's, if it still has one.
    pub(super) fn update(&mut self, data: Data) {
        let selected: Vec<Option<String>> = (0..self.places.len())
            .map(|tab| Some(name_of(&self.data.panes[tab], self.selected(tab)?)))
            .collect();
        self.data = data;
        for (tab, name) in selected.into_iter().enumerate() {
            let rows = self.rows(tab);
            let same = |row: &usize| name.as_ref() == Some(&name_of(&self.data.panes[tab], *row));
            let found = rows.iter().position(same);
            let place = &mut self.places[tab];
            place.row = found.unwrap_or(place.row).min(rows.len().saturating_sub(1));
        }
    }

    /// Shows sentences instead of the tabs, in lines as long as the terminal's.
    pub(super) fn tell(&mut self, title: String, text: &str) {
        self.show(title, &folded(text, self.columns, 0));
    }

    /// Shows a text instead of the tabs.
    pub(super) fn show(&mut self, title: String, text: &str) {
        self.text = Some(Text {
            title,
            lines: text.lines().map(str::to_owned).collect(),
            top: 0,
        });
    }

    /// The rows of a tab that are shown, in their order.
    fn rows(&self, tab: usize) -> Vec<usize> {
        let table = &self.data.panes[tab].table;
        let is_shown = |row: &usize| {
            self.filter.is_empty()
                || table.rows()[*row]
                    .iter()
                    .any(|cell| cell.text.to_lowercase().contains(&self.filter))
        };
        let mut rows: Vec<usize> = (0..table.rows().len()).filter(is_shown).collect();
        let Place {
            column, is_reversed, ..
        } = self.places[tab];
        if let Some(column) = column {
            let key = |row: &usize| {
                let cell = table.rows()[*row].get(column);
                cell.map_or("", |cell| &*cell.text)
            };
            rows.sort_by(|a, b| compare(key(a), key(b)));
        }
        if is_reversed {
            rows.reverse();
        }
        rows
    }

    /// The selected row of a tab, as a row of its table.
    fn selected(&self, tab: usize) -> Option<usize> {
        self.rows(tab).get(self.places[tab].row).copied()
    }

    /// Does what a key asks for.
    pub(super) fn press(&mut self, key: KeyCode) -> Action {
        match key {
            INTERRUPT => return Action::Quit,
            _ if self.is_typing => self.typed(key),
            KeyCode::Char('q') => return Action::Quit,
            _ if self.text.is_some() => self.scroll(key),
            KeyCode::Enter => {
                let row = self.selected(self.tab);
                let opens = &self.data.panes[self.tab].opens;
                return match row.and_then(|row| opens.get(row)).cloned().flatten() {
                    Some(topic) => Action::Explain(topic),
                    None => Action::Draw,
                };
            }
            KeyCode::Char('?') => self.help(),
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Esc => self.filter_by(String::new()),
            KeyCode::Tab => self.tab = (self.tab + 1) % self.places.len(),
            KeyCode::BackTab => self.tab = (self.tab + self.places.len() - 1) % self.places.len(),
            KeyCode::Char(digit @ '1'..='4') => self.tab = digit as usize - '1' as usize,
            KeyCode::Char('s') => self.sort(1),
            KeyCode::Char('S') => self.sort(-1),
            KeyCode::Char('r') => {
                let place = &mut self.places[self.tab];
                place.is_reversed = !place.is_reversed;
            }
            _ => {
                let last = self.rows(self.tab).len().saturating_sub(1);
                let place = &mut self.places[self.tab];
                place.row = moved(place.row, key, self.room, last);
            }
        }
        Action::Draw
    }

    /// Shows the keys, and what is unknown.
    fn help(&mut self) {
        let mut text = HELP.to_owned();
        if !self.data.unknown.is_empty() {
            text.push_str("\n\nUnknown:\n");
            text.push_str(&self.data.unknown.join("\n"));
        }
        self.tell("Keys".to_owned(), &text);
    }

    fn typed(&mut self, key: KeyCode) {
        let mut filter = self.filter.clone();
        match key {
            KeyCode::Char(character) => filter.extend(character.to_lowercase()),
            KeyCode::Backspace => {
                filter.pop();
            }
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                filter.clear();
            }
            _ => {}
        }
        self.filter_by(filter);
    }

    fn filter_by(&mut self, filter: String) {
        if filter != self.filter {
            self.filter = filter;
            for place in &mut self.places {
                place.row = 0;
            }
        }
    }

    fn scroll(&mut self, key: KeyCode) {
        let Some(text) = &mut self.text else { return };
        if matches!(key, KeyCode::Esc | KeyCode::Backspace | KeyCode::Enter) {
            self.text = None;
            return;
        }
        let last = text.lines.len().saturating_sub(self.room);
        text.top = moved(text.top, key, self.room, last);
    }

    /// Sorts by the next column that has a header, or by the order that the rows come in.
    fn sort(&mut self, step: isize) {
        let headers = self.data.panes[self.tab].table.headers();
        let choices = headers
            .iter()
            .enumerate()
            .filter(|(_, header)| !header.is_empty());
        let choices: Vec<Option<usize>> = std::iter::once(None)
            .chain(choices.map(|(column, _)| Some(column)))
            .collect();
        let place = &mut self.places[self.tab];
        let now = choices
            .iter()
            .position(|choice| *choice == place.column)
            .unwrap_or(0);
        let next = (now as isize + step).rem_euclid(choices.len() as isize) as usize;
        place.column = choices[next];
        place.is_reversed = false;
    }

    /// The lines of a terminal of this size.
    pub(super) fn draw(&mut self, columns: usize, lines: usize) -> Vec<Vec<Span>> {
        self.columns = columns;
        if let Some(text) = &mut self.text {
            self.room = lines.saturating_sub(2).max(1);
            text.top = text.top.min(text.lines.len().saturating_sub(self.room));
            let mut drawn = vec![vec![span(Tone::Strong, &text.title)]];
            let shown = text.lines.iter().skip(text.top).take(self.room);
            drawn.extend(shown.map(|line| vec![span(Tone::Plain, line)]));
            drawn.resize_with(self.room + 1, Vec::new);
            let last = text.top + self.room.min(text.lines.len() - text.top);
            let part = format!("   lines {}-{last} of {}", text.top + 1, text.lines.len());
            let part = if text.lines.len() > self.room {
                part
            } else {
                String::new()
            };
            drawn.push(vec![span(Tone::Plain, format!("{KEYS_OF_TEXT}{part}"))]);
            return drawn;
        }
        let rows = self.rows(self.tab);
        let widths = self.widths(&rows, columns);
        let below = if lines > 4 * BELOW && rows.iter().any(|row| !self.cut(*row, &widths).is_empty()) {
            BELOW
        } else {
            0
        };
        self.room = lines.saturating_sub(ABOVE + below + 1).max(1);
        let place = &mut self.places[self.tab];
        place.row = place.row.min(rows.len().saturating_sub(1));
        place.top = place
            .top
            .min(place.row)
            .max((place.row + 1).saturating_sub(self.room));
        let (top, selected) = (place.top, rows.get(place.row).copied());
        let mut drawn = vec![self.headline(), self.tabs(&rows)];
        drawn.push(self.headers(&widths));
        let table = &self.data.panes[self.tab].table;
        drawn.extend(rows.iter().skip(top).take(self.room).map(|row| {
            let is_selected = Some(*row) == selected;
            let mut line = vec![span(Tone::Strong, if is_selected { MARK } else { NO_MARK })];
            for (column, (filled, width)) in table.rows()[*row].iter().zip(&widths).enumerate() {
                let tone = if is_selected { Tone::Strong } else { filled.tone };
                let text = if column + 1 == widths.len() {
                    self.page.begin(&filled.text, *width)
                } else {
                    self.page.fit(&filled.text, *width)
                };
                line.extend(cell(tone, &text, *width));
            }
            line
        }));
        if rows.is_empty() {
            let nothing = if self.filter.is_empty() {
                self.data.nothing
            } else {
                "no row contains this text"
            };
            drawn.push(vec![span(Tone::Plain, format!("{NO_MARK}{nothing}"))]);
        }
        drawn.resize_with(self.room + ABOVE, Vec::new);
        if below > 0 {
            let whole = selected.map_or_else(Vec::new, |row| self.cut(row, &widths));
            let whole = folded(&whole.join("  "), columns, 0);
            let lines: Vec<&str> = whole.lines().collect();
            let (first, rest) = lines.split_at(lines.len().min(BELOW - 1));
            drawn.extend(first.iter().map(|line| vec![span(Tone::Plain, line)]));
            drawn.push(vec![span(Tone::Plain, rest.join(" "))]);
            drawn.resize_with(self.room + ABOVE + below, Vec::new);
        }
        drawn.push(vec![span(Tone::Plain, self.footer())]);
        let table = ABOVE - 1..ABOVE + self.room;
        for (place, line) in drawn.iter_mut().enumerate() {
            if !table.contains(&place) {
                *line = within(std::mem::take(line), columns, self.page);
            }
        }
        drawn
    }

    /// The cluster in a line. Its name is cut before what is said of it.
    fn headline(&self) -> Vec<Span> {
        let mut said = vec![span(Tone::Plain, " "), self.state.clone()];
        said.extend(self.data.summary.iter().cloned());
        let taken = said.iter().map(|(_, text)| width_of(text)).sum();
        let room = self.columns.saturating_sub(taken).max(self.columns / 4);
        let name = self.page.fit(&self.cluster, room);
        std::iter::once(span(Tone::Strong, name)).chain(said).collect()
    }

    /// The cells of a row that are cut.
    fn cut(&self, row: usize, widths: &[usize]) -> Vec<&str> {
        let cells = self.data.panes[self.tab].table.rows()[row].iter().zip(widths);
        let cut = cells.filter(|(cell, width)| width_of(&cell.text) > **width);
        cut.map(|(cell, _)| &*cell.text).collect()
    }

    /// Number of things that these rows are about.
    fn count(&self, tab: usize, rows: impl Iterator<Item = usize>) -> usize {
        let table = &self.data.panes[tab].table;
        if PER_DRIVER.contains(&tab) {
            let names = rows.filter_map(|row| table.rows()[row].first());
            let names: HashSet<&str> = names.map(|name| &*name.text).collect();
            names.len()
        } else {
            rows.count()
        }
    }

    /// The tabs with their numbers of things. The shown one is in brackets.
    fn tabs(&self, rows: &[usize]) -> Vec<Span> {
        let mut line = Vec::new();
        for (tab, (pane, title)) in self.data.panes.iter().zip(TABS).enumerate() {
            let all = self.count(tab, 0..pane.table.rows().len());
            let count = match self.count(self.tab, rows.iter().copied()) {
                shown if tab == self.tab && shown < all => format!("{shown} of {all}"),
                _ => all.to_string(),
            };
            let name = format!("{} {title} {count}", tab + 1);
            line.push(if tab == self.tab {
                span(Tone::Strong, format!("[{name}]  "))
            } else {
                span(Tone::Plain, format!(" {name}   "))
            });
        }
        line
    }

    fn headers(&self, widths: &[usize]) -> Vec<Span> {
        let place = &self.places[self.tab];
        let mut line = vec![span(Tone::Plain, NO_MARK)];
        let headers = self.data.panes[self.tab].table.headers();
        for (column, (header, width)) in headers.iter().zip(widths).enumerate() {
            let is_sorted = place.column == Some(column);
            let sign = match (is_sorted, place.is_reversed) {
                (false, _) => "",
                (true, false) => self.page.either("▲", "^"),
                (true, true) => self.page.either("▼", "v"),
            };
            let header = format!("{header}{sign}");
            line.extend(cell(Tone::Strong, &self.page.begin(&header, *width), *width));
        }
        line
    }

    /// The width of each column: as its widest cell needs, as long as there is room. Otherwise the last one, which has sentences, gets up to
    /// a quarter of it, and the widest of the others become narrower. What is left over is the last one's.
    fn widths(&self, rows: &[usize], columns: usize) -> Vec<usize> {
        let table = &self.data.panes[self.tab].table;
        // A sign behind the header shows the order.
        let mut widths: Vec<usize> = table
            .headers()
            .iter()
            .map(|header| width_of(header) + 1)
            .collect();
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(&table.rows()[*row]) {
                *width = (*width).max(width_of(&cell.text));
            }
        }
        let gaps = GAP * widths.len().saturating_sub(1);
        let room = columns.saturating_sub(width_of(MARK) + gaps);
        let Some((last, others)) = widths.split_last_mut() else {
            return widths;
        };
        let room_of_others = room - (*last).min(room / 4);
        while others.iter().sum::<usize>() > room_of_others
            && let Some(widest) = others.iter_mut().max_by_key(|width| **width)
        {
            *widest -= 1;
        }
        *last = room.saturating_sub(others.iter().sum());
        widths
    }

    fn footer(&self) -> String {
        if self.is_typing {
            return format!("/{}_   Enter keep  Esc show all", self.filter);
        }
        if self.filter.is_empty() {
            return KEYS.to_owned();
        }
        format!("only rows with `{}`: Esc shows all   {KEYS}", self.filter)
    }
}

/// The beginning of a line in at most `columns`.
fn within(line: Vec<Span>, columns: usize, page: Page) -> Vec<Span> {
    let whole: String = line.iter().map(|(_, text)| text.as_str()).collect();
    let begin = page.begin(&whole, columns);
    let mut rest = &*begin;
    let pieces = line
        .into_iter()
        .map(|(tone, text)| match rest.strip_prefix(&text) {
            Some(after) => {
                rest = after;
                (tone, text)
            }
            None => (tone, std::mem::take(&mut rest).to_owned()),
        });
    pieces.collect()
}

/// A cell with the space up to the next one.
fn cell(tone: Tone, text: &str, width: usize) -> [Span; 2] {
    let rest = width.saturating_sub(width_of(text)) + GAP;
    [span(tone, text), span(Tone::Plain, " ".repeat(rest))]
}

/// What distinguishes a row from others: its first two cells, in which names stand, without numbers.
fn name_of(pane: &Pane, row: usize) -> String {
    let cells = pane.table.rows()[row].iter().map(|cell| &*cell.text);
    let names = cells.filter(|text| number(text).is_none());
    names.take(2).collect::<Vec<_>>().join("\n")
}

/// Returns where a key goes from `at`, with `page` lines on a page, and `last` as the last place.
fn moved(at: usize, key: KeyCode, page: usize, last: usize) -> usize {
    let to = match key {
        KeyCode::Up | KeyCode::Char('k') => at.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => at + 1,
        KeyCode::PageUp => at.saturating_sub(page),
        KeyCode::PageDown | KeyCode::Char(' ') => at + page,
        KeyCode::Home | KeyCode::Char('g') => 0,
        KeyCode::End | KeyCode::Char('G') => last,
        _ => at,
    };
    to.min(last)
}

/// The number that a cell begins with, in its smallest unit: `3/8`, `62%`, `5m10s`.
fn number(text: &str) -> Option<f64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let value: f64 = digits.parse().ok()?;
    let unit = rest.chars().next();
    let seconds = match unit {
        Some('m') => 60.,
        Some('h') => 3_600.,
        Some('d') => 86_400.,
        Some('y') => 31_536_000.,
        None | Some('s' | '%' | '/') => 1.,
        Some(_) => return None,
    };
    let rest = match unit {
        Some('s' | 'm' | 'h' | 'd' | 'y') => number(&rest[1..]).unwrap_or(0.),
        _ => 0.,
    };
    Some(value * seconds + rest)
}

/// Numbers by their value and before texts, and these as they are.
fn compare(a: &str, b: &str) -> std::cmp::Ordering {
    match (number(a), number(b)) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (one, other) => other.is_some().cmp(&one.is_some()).then_with(|| a.cmp(b)),
    }
}
