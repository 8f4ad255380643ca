//! Escapes in the parts of a URL. Mirrors `escape`, `unescape` and `shouldEscape` of Go's `net/url`.

use std::fmt::Write;

use dra_values::go_quote;

/// A part of a URL, which decides what has to be escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    Host,
    Zone,
    User,
    Query,
    Fragment,
}

fn should_escape(byte: u8, part: Part) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return false;
    }
    if matches!(part, Part::Host | Part::Zone) && b"!$&'()*+,;=:[]<>\"".contains(&byte) {
        return false;
    }
    if b"$&+,/:;=?@".contains(&byte) {
        return match part {
            Part::Path => byte == b'?',
            Part::User => b"@/?:".contains(&byte),
            Part::Fragment => false,
            Part::Query | Part::Host | Part::Zone => true,
        };
    }
    !(part == Part::Fragment && b"!()*".contains(&byte))
}

/// Escapes what has to be.
pub(super) fn escape(text: &str, part: Part) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let mut buffer = [0; 4];
        for byte in character.encode_utf8(&mut buffer).bytes() {
            if should_escape(byte, part) {
                let _ = write!(out, "%{byte:02X}");
            } else {
                out.push(char::from(byte));
            }
        }
    }
    out
}

/// Returns whether a text that was written like this needs no more escapes. An empty one was not written.
pub(super) fn is_escaped(text: &str, part: Part) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || !should_escape(byte, part))
}

fn hex_value(byte: Option<&u8>) -> Option<u8> {
    byte.and_then(|byte| char::from(*byte).to_digit(16))
        .map(|digit| digit as u8)
}

fn bad_escape(bytes: &[u8]) -> String {
    let shown = bytes.get(..3).unwrap_or(bytes);
    let mut quoted = String::from("\"");
    for chunk in shown.utf8_chunks() {
        quoted.push_str(go_quote(chunk.valid()).trim_matches('"'));
        for byte in chunk.invalid() {
            let _ = write!(quoted, "\\x{byte:02x}");
        }
    }
    format!("invalid URL escape {quoted}\"")
}

/// Replaces escapes by what they stand for.
pub(super) fn unescape(text: &str, part: Part) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut position = 0;
    while let Some(byte) = bytes.get(position) {
        match byte {
            b'%' => {
                let rest = &bytes[position..];
                let (Some(high), Some(low)) = (hex_value(rest.get(1)), hex_value(rest.get(2))) else {
                    return Err(bad_escape(rest));
                };
                let value = high << 4 | low;
                let percent = value == b'%';
                let refused = match part {
                    // Only bytes that are not ASCII may be escaped in a host.
                    Part::Host => high < 8 && !percent,
                    Part::Zone => !percent && value != b' ' && should_escape(value, Part::Host),
                    _ => false,
                };
                if refused {
                    return Err(bad_escape(rest));
                }
                out.push(value);
                position += 2;
            }
            b'+' if part == Part::Query => out.push(b' '),
            _ => {
                if matches!(part, Part::Host | Part::Zone) && byte.is_ascii() && should_escape(*byte, part) {
                    let character = char::from(*byte).to_string();
                    return Err(format!("invalid character {} in host name", go_quote(&character)));
                }
                out.push(*byte);
            }
        }
        position += 1;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}
