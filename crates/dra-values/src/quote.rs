//! Go's quoting of text, for the messages of upstream that quote.

use std::fmt::Write;

/// `text` as Go's `%q` shows it: double quotes, with escapes for what is not printable.
pub fn go_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{07}' => out.push_str("\\a"),
            '\u{08}' => out.push_str("\\b"),
            '\u{0c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{0b}' => out.push_str("\\v"),
            // Writing to a `String` cannot fail.
            _ if is_printable(character) => out.push(character),
            '\0'..=' ' | '\u{7f}' => {
                let _ = write!(out, "\\x{:02x}", u32::from(character));
            }
            '\u{80}'..='\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => {
                let _ = write!(out, "\\U{:08x}", u32::from(character));
            }
        }
    }
    out.push('"');
    out
}

/// Go's `strconv.IsPrint`, as far as Rust's notion of what debug output shows unescaped agrees with it.
///
/// Both take letters, marks, numbers, punctuation, symbols and the ASCII space for printable. Rust also escapes
/// characters that extend the one before, which is why those are asked for behind a letter.
fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return character == ' ' || character.is_ascii_graphic();
    }
    format!("a{character}").escape_debug().nth(1) != Some('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_like_go() {
        for (text, quoted) in [
            ("plain", r#""plain""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            (
                "tab\tnew\nbell\u{7}nul\0del\u{7f}",
                r#""tab\tnew\nbell\anul\x00del\x7f""#,
            ),
            ("é日本\u{301}", "\"é日本\u{301}\""),
            (
                "\u{a0}\u{200b}\u{1f600}\u{e0001}",
                "\"\\u00a0\\u200b\u{1f600}\\U000e0001\"",
            ),
        ] {
            assert_eq!(go_quote(text), quoted);
        }
    }
}
