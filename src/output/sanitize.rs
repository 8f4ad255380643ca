//! Text from a cluster must not drive the terminal it is printed on.
//!
//! Labels, events, attributes and messages of the API are free text. On a terminal every control character in them is
//! shown instead of obeyed, and so are the characters that reorder text, with which a name can pretend to be another.
//! Pipes get the text as it is, with one exception: a cell of a table is one line for whoever reads it.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` with everything shown that a terminal would act on. Line feeds and tabs pass: this is for running text.
pub(super) fn for_terminal(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_dangerous(c) && c != '\n' && c != '\t')
}

/// `text` as one line: what would break the row it stands in is shown.
pub(super) fn for_cell(text: &str) -> Cow<'_, str> {
    escape(text, breaks_a_row)
}

/// `json` or YAML on a terminal. In both, a dangerous character can only stand inside a string, where `\u` is an escape.
pub(super) fn for_document(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_dangerous(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_dangerous(c) && c != '\n' && c != '\t' {
            push_formatted(&mut shown, format_args!("\\u{:04x}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether `text` has a character that [`for_cell`] would show.
pub(super) fn breaks_rows(text: &str) -> bool {
    // Nearly every cell is printable ASCII, which needs no second look.
    !is_printable_ascii(text) && text.chars().any(breaks_a_row)
}

/// Whether there is nothing in `text` that any rule here is about.
pub(super) fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' '..=b'~'))
}

fn breaks_a_row(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn is_dangerous(c: char) -> bool {
    // C0, DEL and C1 by `is_control`; then the marks that reorder text or hide in it.
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn escape(text: &str, shown: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&shown) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !shown(c) => escaped.push(c),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            // Caret notation, as kubectl and `cat -v` show control characters.
            '\0'..='\u{1f}' => {
                escaped.push('^');
                escaped.extend(char::from_u32(u32::from(c) + 0x40));
            }
            '\u{7f}' => escaped.push_str("^?"),
            c => push_formatted(&mut escaped, format_args!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(escaped)
}

fn push_formatted(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_terminal_sees_control_characters_and_does_not_obey_them() {
        for (text, shown) in [
            ("gpu-0", "gpu-0"),
            ("größe ☃", "größe ☃"),
            ("\u{1b}[2J", "^[[2J"),
            ("a\u{7}b", "a^Gb"),
            ("a\rb", "a\\rb"),
            ("a\nb\tc", "a\nb\tc"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{7f}", "^?"),
            ("\u{202e}txt", "\\u{202e}txt"),
            ("a\u{200b}b", "a\\u{200b}b"),
        ] {
            assert_eq!(for_terminal(text), shown, "{text:?}");
        }
    }

    #[test]
    fn a_cell_is_one_line_everywhere() {
        assert_eq!(
            for_cell("a\nb\tc\r\u{b}\u{85}\u{1b}"),
            "a\\nb\\tc\\r^K\\u{85}\u{1b}"
        );
    }

    #[test]
    fn a_document_stays_valid() {
        let text = serde_json::to_string("\u{9b}31m\u{202e}").expect("a string");
        let shown = for_document(&text);
        assert_eq!(shown, "\"\\u009b31m\\u202e\"");
        assert_eq!(
            serde_json::from_str::<String>(&shown).expect("still JSON"),
            "\u{9b}31m\u{202e}"
        );
    }

    proptest! {
        #[test]
        fn nothing_dangerous_survives(text in any::<String>()) {
            let shown = for_terminal(&text);
            prop_assert!(shown.chars().all(|c| c == '\n' || c == '\t' || !is_dangerous(c)));
            prop_assert!(!breaks_rows(&for_cell(&text)));
            prop_assert_eq!(for_terminal(&shown), shown.as_ref());
        }
    }
}
