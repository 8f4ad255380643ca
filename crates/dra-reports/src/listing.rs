//! Lists within sentences.

use std::fmt;

/// The first of `items` as text, and how many more there are.
pub fn some<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    const SHOWN: usize = 3;
    let mut items = items.into_iter();
    let mut text = String::new();
    for (index, item) in items.by_ref().take(SHOWN).enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&item.to_string());
    }
    match items.count() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}
