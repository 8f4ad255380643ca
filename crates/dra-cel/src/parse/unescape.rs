//! The values of string and bytes literals. Mirrors `parser/unescape.go` of cel-go v0.29.

/// The reason why a literal has no value, in cel-go's words.
pub(super) type UnescapeError = &'static str;

const UNABLE: UnescapeError = "unable to unescape string";
const CODE_POINT: UnescapeError = "invalid unicode code point";

/// The content between the quotes and whether escapes mean nothing in it.
fn content(literal: &str) -> (&str, bool) {
    let unprefixed = literal.strip_prefix(['r', 'R']);
    let raw = unprefixed.is_some();
    let quoted = unprefixed.unwrap_or(literal);
    let quotes = if quoted.len() >= 6 && (quoted.starts_with("'''") || quoted.starts_with("\"\"\"")) {
        3
    } else {
        1
    };
    (
        quoted
            .get(quotes..quoted.len() - quotes.min(quoted.len()))
            .unwrap_or(""),
        raw,
    )
}

fn normalize_newlines(literal: &str) -> String {
    literal.replace("\r\n", "\n").replace('\r', "\n")
}

/// The value of a string literal as written, with quotes and prefix.
pub(super) fn unescape_string(literal: &str) -> Result<String, UnescapeError> {
    let bytes = unescape(literal, |escape, out| {
        let character = char::from_u32(escape.value).ok_or(CODE_POINT)?;
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    })?;
    String::from_utf8(bytes).map_err(|_| UNABLE)
}

/// The value of a bytes literal as written, without the `b`.
pub(super) fn unescape_bytes(literal: &str) -> Result<Vec<u8>, UnescapeError> {
    unescape(literal, |escape, out| {
        if escape.unicode {
            return Err(UNABLE);
        }
        out.push(escape.value as u8);
        Ok(())
    })
}

/// The content of a literal, with what `put` makes of each escape sequence.
fn unescape(
    literal: &str,
    put: impl Fn(&Escape, &mut Vec<u8>) -> Result<(), UnescapeError>,
) -> Result<Vec<u8>, UnescapeError> {
    let normalized = normalize_newlines(literal);
    let (content, raw) = content(&normalized);
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(position) = rest.find('\\').filter(|_| !raw) {
        out.extend_from_slice(&rest.as_bytes()[..position]);
        let escape = escape(&rest[position..])?;
        put(&escape, &mut out)?;
        rest = &rest[position + escape.length..];
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

struct Escape {
    value: u32,
    length: usize,
    /// Written with `\u` or `\U`.
    unicode: bool,
}

/// The escape sequence that `text` begins with.
fn escape(text: &str) -> Result<Escape, UnescapeError> {
    let Some(kind) = text[1..].chars().next() else {
        return Err("unable to unescape string, found '\\' as last character");
    };
    let simple = |value: char| {
        Ok(Escape {
            value: value.into(),
            length: 2,
            unicode: false,
        })
    };
    let (digits, radix) = match kind {
        'a' => return simple('\u{07}'),
        'b' => return simple('\u{08}'),
        'f' => return simple('\u{0c}'),
        'n' => return simple('\n'),
        'r' => return simple('\r'),
        't' => return simple('\t'),
        'v' => return simple('\u{0b}'),
        '\\' | '\'' | '"' | '`' | '?' => return simple(kind),
        'x' | 'X' => (2..4, 16),
        'u' => (2..6, 16),
        'U' => (2..10, 16),
        '0'..='3' => (1..4, 8),
        _ => return Err(UNABLE),
    };
    let value = text.get(digits.clone());
    Ok(Escape {
        value: value
            .and_then(|digits| u32::from_str_radix(digits, radix).ok())
            .ok_or(UNABLE)?,
        length: digits.end,
        unicode: matches!(kind, 'u' | 'U'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_escapes() {
        for (literal, value) in [
            (r#""a\n\x41\u00e9\101\U0001F600""#, "a\nAéA😀"),
            (r#"r"\d""#, "\\d"),
            ("'''a\r\nb'''", "a\nb"),
            (r#""\xff""#, "ÿ"),
            ("''", ""),
            (r"'\'\`\?'", "'`?"),
        ] {
            assert_eq!(unescape_string(literal).unwrap(), value, "{literal}");
        }
        assert_eq!(
            unescape_bytes(r#""é\xff\000a""#).unwrap(),
            [0xc3, 0xa9, 0xff, 0, b'a']
        );
        assert_eq!(unescape_string(r#""\ud800""#), Err(CODE_POINT));
        assert_eq!(unescape_bytes(r#""\u0041""#), Err(UNABLE));
    }
}
