//! Display width of a text.

use unicode_width::UnicodeWidthStr;

/// The columns that `text` takes on a screen.
pub(crate) fn width_of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}
