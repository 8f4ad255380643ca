//! The page that a report is shown on: how much of it, how wide, and the small pictures that its characters allow.
//!
//! A report is the same for a terminal and a pipe but for what [`Page`] says. Lists are the exception: a pipe gets their plain table,
//! which scripts read by column.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar as _;

use super::styles::Tone;
use super::width::width_of;

/// Assumed width of a terminal that does not report it.
const USUAL_WIDTH: usize = 80;

/// Below this nothing fits, and lines are broken by the terminal.
const LEAST_WIDTH: usize = 20;

/// Rows that a web page shows at least where a terminal shows a few: it can be searched.
const WEB_ROWS: usize = 100;

/// Eighths of a cell, from one on.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Level of detail of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Normal,
    Wide,
}

/// Medium of a report: level of detail, width, and supported characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    detail: Detail,
    /// The columns of a terminal; none where lines have no end.
    columns: Option<usize>,
    unicode: bool,
    is_web: bool,
}

impl Page {
    /// A terminal of so many columns, if it says so, that shows other characters than those of ASCII or not.
    pub(crate) fn terminal(columns: Option<usize>, unicode: bool) -> Self {
        let columns = columns.filter(|columns| *columns >= LEAST_WIDTH);
        Self {
            detail: Detail::Normal,
            columns: Some(columns.unwrap_or(USUAL_WIDTH)),
            unicode,
            is_web: false,
        }
    }

    /// The same page with this detail: `--details` shows everything on a terminal.
    pub(crate) const fn with(self, detail: Detail) -> Self {
        Self { detail, ..self }
    }

    /// The same page of a terminal with so many columns.
    pub(crate) fn sized(self, columns: usize) -> Self {
        Self::terminal(Some(columns), self.unicode).with(self.detail)
    }

    /// A pipe or a file, or a terminal where `-o wide` asks for lines as long as they are.
    pub(crate) const fn endless(detail: Detail, unicode: bool) -> Self {
        Self {
            detail,
            columns: None,
            unicode,
            is_web: false,
        }
    }

    /// A web page.
    pub(crate) const fn web(detail: Detail) -> Self {
        Self {
            is_web: true,
            ..Self::endless(detail, true)
        }
    }

    /// Returns how much of the report is shown.
    pub(crate) fn detail(self) -> Detail {
        self.detail
    }

    /// Returns whether all of the report is shown, as `-o wide` asks.
    pub(crate) fn is_wide(self) -> bool {
        self.detail == Detail::Wide
    }

    /// Returns whether lines have to fit into a terminal.
    pub(crate) fn is_terminal(self) -> bool {
        self.columns.is_some()
    }

    /// Returns whether it is a web page.
    pub(crate) fn is_web(self) -> bool {
        self.is_web
    }

    /// Returns whether only people read it: they get pictures, and paragraphs where scripts get columns.
    pub(crate) fn is_for_people(self) -> bool {
        self.is_web || self.is_terminal()
    }

    /// Returns the number of `all` rows to print one by one, `few` of them by default: all on a wide page.
    pub(crate) fn told(self, few: usize, all: usize) -> usize {
        let few = if self.is_web { few.max(WEB_ROWS) } else { few };
        if self.is_wide() { all } else { few.min(all) }
    }

    /// The columns of a line.
    pub(crate) fn width(self) -> usize {
        self.columns.unwrap_or(usize::MAX)
    }

    /// One of two texts that mean the same: the second one has only characters of ASCII.
    pub(crate) fn either(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    /// Stands where something was left out of a text.
    fn ellipsis(self) -> &'static str {
        self.either("…", "..")
    }

    /// `text` in at most `columns`: what is too long is left out of its middle, since names often differ at their end.
    pub(crate) fn fit(self, text: &str, columns: usize) -> Cow<'_, str> {
        if width_of(text) <= columns {
            return Cow::Borrowed(text);
        }
        let ellipsis = self.ellipsis();
        let Some(left) = columns.checked_sub(width_of(ellipsis)).filter(|left| *left > 0) else {
            return Cow::Owned(within(text.chars(), columns).into_iter().collect());
        };
        let head = within(text.chars(), left.div_ceil(2));
        let tail = within(text.chars().rev(), left / 2);
        let mut fitted: String = head.into_iter().collect();
        fitted.push_str(ellipsis);
        fitted.extend(tail.into_iter().rev());
        Cow::Owned(fitted)
    }

    /// The beginning of `text` in at most `columns`.
    pub(crate) fn begin(self, text: &str, columns: usize) -> Cow<'_, str> {
        if width_of(text) <= columns {
            return Cow::Borrowed(text);
        }
        let ellipsis = self.ellipsis();
        let mut begin: String = within(text.chars(), columns.saturating_sub(width_of(ellipsis)))
            .into_iter()
            .collect();
        begin.push_str(ellipsis);
        Cow::Owned(begin)
    }

    /// Returns how much `part` is of `whole`, as a bar of so many columns. Whatever is not nothing is seen, and so is what lacks to the whole.
    pub(crate) fn bar(self, part: u64, whole: u64, columns: usize) -> String {
        let steps = if self.unicode { EIGHTHS.len() } else { 1 };
        let all = (columns * steps) as u64;
        let part = part.min(whole);
        let exact = u128::from(part) * u128::from(all);
        // A whole of nothing is an empty bar.
        let filled = exact.checked_div(u128::from(whole)).unwrap_or(0) as u64;
        let least = u64::from(part > 0);
        let most = all.saturating_sub(u64::from(part < whole));
        let filled = filled.clamp(least.min(most), most) as usize;
        let (cells, rest) = (filled / steps, filled % steps);
        let (full, free) = if self.unicode { ('█', '·') } else { ('#', '.') };
        let mut bar: String = std::iter::repeat_n(full, cells).collect();
        if rest > 0 {
            bar.push(EIGHTHS[rest - 1]);
        }
        let drawn = cells + usize::from(rest > 0);
        bar.extend(std::iter::repeat_n(free, columns.saturating_sub(drawn)));
        bar
    }

    /// The sign before a line that is good, worth a look or bad.
    pub(crate) fn sign(self, tone: Tone) -> &'static str {
        match tone {
            Tone::Good => self.either("√", "ok"),
            Tone::Notice => self.either("‼", "!!"),
            Tone::Bad => self.either("×", "x"),
            Tone::Plain | Tone::Nothing | Tone::Strong | Tone::Number(_) => self.either("·", "-"),
        }
    }
}

/// The first of `chars` that take at most `columns`.
fn within(chars: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut taken = 0;
    let fits = |one: &char| {
        taken += one.width().unwrap_or(0);
        taken <= columns
    };
    chars.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SCREEN: Page = Page {
        detail: Detail::Normal,
        columns: Some(80),
        unicode: true,
        is_web: false,
    };
    const ASCII: Page = Page {
        unicode: false,
        ..SCREEN
    };

    #[test]
    fn a_long_text_keeps_both_its_ends() {
        for (columns, unicode, ascii) in [
            (40, "training/trainer-1-gpu-zp8bf", "training/trainer-1-gpu-zp8bf"),
            (11, "train…zp8bf", "train..p8bf"),
            (3, "t…f", "t.."),
            (2, "t…", "tr"),
            (1, "t", "t"),
            (0, "", ""),
        ] {
            let text = "training/trainer-1-gpu-zp8bf";
            assert_eq!(SCREEN.fit(text, columns), unicode);
            if columns != 3 {
                assert_eq!(ASCII.fit(text, columns), ascii);
            }
        }
    }

    #[test]
    fn a_bar_shows_little_and_what_lacks_little() {
        for (part, whole, unicode, ascii) in [
            (0, 8, "········", "........"),
            (1, 1000, "▏·······", "#......."),
            (4, 8, "████····", "####...."),
            (5, 16, "██▌·····", "##......"),
            (999, 1000, "███████▉", "#######."),
            (8, 8, "████████", "########"),
            (9, 8, "████████", "########"),
            (0, 0, "········", "........"),
        ] {
            assert_eq!(SCREEN.bar(part, whole, 8), unicode, "{part} of {whole}");
            assert_eq!(ASCII.bar(part, whole, 8), ascii, "{part} of {whole}");
        }
    }

    proptest! {
        #[test]
        fn what_is_fitted_fits(text in "[a-zé漢/-]{0,60}", columns in 0..50_usize, unicode: bool) {
            let page = Page { unicode, ..SCREEN };
            let fitted = page.fit(&text, columns);
            prop_assert!(width_of(&fitted) <= columns, "{fitted}");
            prop_assert!(width_of(&text) > columns || fitted == text);
        }

        #[test]
        fn a_bar_has_its_width(part in 0..2000_u64, whole in 0..2000_u64, columns in 0..40_usize, unicode: bool) {
            let bar = Page { unicode, ..SCREEN }.bar(part, whole, columns);
            prop_assert_eq!(width_of(&bar), columns);
        }
    }
}
