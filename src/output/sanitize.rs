//! Text from a cluster must not drive the terminal it is printed on.
//!
//! Labels, events, attributes and messages of the API are free text. On a terminal every character that is no picture
//! of itself is shown instead of obeyed: control characters, and those that reorder text or hide in it, which could
//! make a name look like another. Pipes get the text unchanged, with one exception: a line, such as a table row, stays
//! one line.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};

/// Characters that a terminal does not display.
///
/// These are Unicode's general categories Cc (controls), Cf (formats, with them all that change the direction of text, and tags),
/// Zl and Zp (separators of lines and paragraphs), and the property Default_Ignorable_Code_Point, which is Cf and the two lines in
/// the middle: Other_Default_Ignorable_Code_Point and Variation_Selector. U+2800 is the one symbol that is drawn as nothing.
const HIDDEN: &str = r"(?x)[
    \p{Cc} \p{Cf} \p{Zl} \p{Zp}
    \x{34f} \x{115f} \x{1160} \x{17b4} \x{17b5} \x{2065} \x{3164} \x{ffa0} \x{fff0}-\x{fff8} \x{e0000}-\x{e0fff}
    \x{180b}-\x{180d} \x{180f} \x{fe00}-\x{fe0f} \x{e0100}-\x{e01ef}
    \x{2800}
]";

/// The ranges of [`HIDDEN`], in order.
static RANGES: LazyLock<Vec<ClassUnicodeRange>> = LazyLock::new(|| {
    match regex_syntax::parse(HIDDEN).map(Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class.ranges().to_vec(),
        // It always parses. If it did not, nothing but ASCII would be safe.
        _ => vec![ClassUnicodeRange::new('\u{80}', char::MAX)],
    }
});

/// Escape notation of a format for unprintable characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// `\u009b`, and two of these beyond U+FFFF.
    Json,
    /// `\u009b` and `\U000e0041`.
    Yaml,
}

/// `text` with everything shown that a terminal would act on. Line feeds pass: this is for running text.
pub(super) fn for_terminal(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_hidden(c) && c != '\n')
}

/// `text` as one line: what would break the row it stands in is shown.
pub(crate) fn for_cell(text: &str) -> Cow<'_, str> {
    escape(text, breaks_a_row)
}

/// JSON or YAML on a terminal. What is hidden can only stand inside a string. In JSON and in YAML's double quotes it stays what it is;
/// elsewhere in YAML it can be seen, which is what a terminal is for.
pub(super) fn for_document(text: &str, notation: Notation) -> Cow<'_, str> {
    let hidden = |c: char| is_hidden(c) && c != '\n';
    replaced(text, hidden, |escaped, c| match notation {
        _ if c == '\t' => escaped.push_str("\\t"),
        Notation::Yaml if u32::from(c) > 0xffff => {
            push_formatted(escaped, format_args!("\\U{:08x}", u32::from(c)));
        }
        Notation::Json | Notation::Yaml => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                push_formatted(escaped, format_args!("\\u{unit:04x}"));
            }
        }
    })
}

/// Returns whether everything in `text` is what it looks like.
pub(crate) fn is_plain(text: &str) -> bool {
    is_printable_ascii(text) || !text.chars().any(is_hidden)
}

/// Returns whether there is nothing in `text` that any rule here is about.
pub(super) fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' '..=b'~'))
}

fn breaks_a_row(c: char) -> bool {
    matches!(
        c,
        // Some programs also take the separators of files, groups and records for ends of lines.
        '\t'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let found = RANGES.binary_search_by(|range| {
        if range.end() < c {
            std::cmp::Ordering::Less
        } else if range.start() > c {
            std::cmp::Ordering::Greater
        } else {
            std::cmp::Ordering::Equal
        }
    });
    found.is_ok()
}

fn escape(text: &str, is_shown: impl Fn(char) -> bool) -> Cow<'_, str> {
    replaced(text, is_shown, |escaped, c| match c {
        '\n' => escaped.push_str("\\n"),
        '\r' => escaped.push_str("\\r"),
        '\t' => escaped.push_str("\\t"),
        // Caret notation, as kubectl and `cat -v` show control characters.
        '\0'..='\u{1f}' => {
            escaped.push('^');
            escaped.extend(char::from_u32(u32::from(c) + 0x40));
        }
        '\u{7f}' => escaped.push_str("^?"),
        c => push_formatted(escaped, format_args!("\\u{{{:x}}}", u32::from(c))),
    })
}

/// `text` with something else for each character that `is_meant`, which `push` adds.
fn replaced(text: &str, is_meant: impl Fn(char) -> bool, push: impl Fn(&mut String, char)) -> Cow<'_, str> {
    // Nearly every text is printable ASCII, which needs no second look.
    if is_printable_ascii(text) || !text.chars().any(&is_meant) {
        return Cow::Borrowed(text);
    }
    let mut replaced = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_meant(c) {
            push(&mut replaced, c);
        } else {
            replaced.push(c);
        }
    }
    Cow::Owned(replaced)
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
            ("a\nb\tc", "a\nb\\tc"),
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
        let hostile = "\u{9b}31m\u{202e}\u{e0041}";
        let text = serde_json::to_string(hostile).expect("a string");
        let json = for_document(&text, Notation::Json);
        assert_eq!(json, "\"\\u009b31m\\u202e\\udb40\\udc41\"");
        assert_eq!(
            serde_json::from_str::<String>(&json).expect("still JSON"),
            hostile
        );
        let yaml = for_document(&text, Notation::Yaml);
        assert_eq!(yaml, "\"\\u009b31m\\u202e\\U000e0041\"");
        assert_eq!(
            serde_saphyr::from_str::<String>(&yaml).expect("still YAML"),
            hostile
        );
    }

    #[test]
    fn what_a_terminal_hides_is_known() {
        for hidden in [
            // Controls of both kinds, and separators.
            '\0'..='\u{1f}',
            '\u{7f}'..='\u{9f}',
            '\u{2028}'..='\u{2029}',
            // Soft hyphen, joiners, marks of direction, word joiner, invisible operators.
            '\u{ad}'..='\u{ad}',
            '\u{34f}'..='\u{34f}',
            '\u{61c}'..='\u{61c}',
            '\u{180b}'..='\u{180f}',
            '\u{200b}'..='\u{200f}',
            '\u{202a}'..='\u{202e}',
            '\u{2060}'..='\u{206f}',
            '\u{feff}'..='\u{feff}',
            // Fillers, blanks and vowels that are not written.
            '\u{115f}'..='\u{1160}',
            '\u{17b4}'..='\u{17b5}',
            '\u{2800}'..='\u{2800}',
            '\u{3164}'..='\u{3164}',
            '\u{ffa0}'..='\u{ffa0}',
            // Variation selectors, annotations, musical and shorthand controls, tags.
            '\u{fe00}'..='\u{fe0f}',
            '\u{fff0}'..='\u{fffb}',
            '\u{1bca0}'..='\u{1bca3}',
            '\u{1d173}'..='\u{1d17a}',
            '\u{e0000}'..='\u{e0fff}',
        ] {
            for c in hidden {
                assert!(is_hidden(c), "U+{:04X}", u32::from(c));
            }
        }
        for seen in "aZ~ ü漢字🎉é\u{301}\u{a0}\u{3000}\u{fffd}\u{e000}ᄀ".chars() {
            assert!(!is_hidden(seen), "U+{:04X}", u32::from(seen));
        }
    }

    proptest! {
        #[test]
        fn nothing_dangerous_survives(text in any::<String>()) {
            let shown = for_terminal(&text);
            prop_assert!(shown.chars().all(|c| c == '\n' || !is_hidden(c)));
            prop_assert!(!for_cell(&text).contains(breaks_a_row));
            prop_assert_eq!(for_terminal(&shown), shown.as_ref());
        }
    }
}
