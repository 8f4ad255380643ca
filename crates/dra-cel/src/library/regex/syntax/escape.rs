//! Repeats and escapes.

use super::error;

/// `{n}`, `{n,}` or `{n,m}`. Counts that are too large to be numbers are returned as too large.
pub(super) fn parse_repeat(rest: &str) -> Option<(u32, Option<u32>, &str)> {
    let (min, rest) = parse_count(rest.strip_prefix('{')?)?;
    let Some(after_comma) = rest.strip_prefix(',') else {
        return Some((min, Some(min), rest.strip_prefix('}')?));
    };
    if let Some(after) = after_comma.strip_prefix('}') {
        return Some((min, None, after));
    }
    let (max, rest) = parse_count(after_comma)?;
    Some((min, Some(max), rest.strip_prefix('}')?))
}

fn parse_count(text: &str) -> Option<(u32, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let digits = &text[..length];
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().unwrap_or(u32::MAX), &text[length..]))
}

/// The character that the escape sequence at the beginning of `rest` stands for.
pub(super) fn escape(rest: &str) -> Result<(char, &str), String> {
    let mut after = &rest[1..];
    let Some(kind) = after.chars().next() else {
        return Err(error("trailing backslash at end of expression", ""));
    };
    after = &after[kind.len_utf8()..];
    let invalid = |after: &str| {
        Err(error(
            "invalid escape sequence",
            &rest[..rest.len() - after.len()],
        ))
    };
    let octal = |text: &str| text.bytes().next().filter(|byte| matches!(byte, b'0'..=b'7'));
    match kind {
        'a' => Ok(('\u{7}', after)),
        'f' => Ok(('\u{c}', after)),
        'n' => Ok(('\n', after)),
        'r' => Ok(('\r', after)),
        't' => Ok(('\t', after)),
        'v' => Ok(('\u{b}', after)),
        '1'..='7' if octal(after).is_none() => invalid(after),
        '0'..='7' => {
            let mut value = kind as u32 - '0' as u32;
            for _ in 0..2 {
                let Some(digit) = octal(after) else { break };
                value = value * 8 + u32::from(digit - b'0');
                after = &after[1..];
            }
            char::from_u32(value).map_or_else(|| invalid(after), |character| Ok((character, after)))
        }
        'x' => hexadecimal(rest, after),
        _ if kind.is_ascii() && !kind.is_ascii_alphanumeric() => Ok((kind, after)),
        _ => invalid(after),
    }
}

/// `\xFF` or `\x{10FFFF}`, from behind the `x`.
fn hexadecimal<'p>(rest: &'p str, start: &'p str) -> Result<(char, &'p str), String> {
    let mut after = start;
    let mut next = || {
        let character = after.chars().next()?;
        after = &after[character.len_utf8()..];
        Some(character)
    };
    let mut value = Some(0_u32);
    match next() {
        Some('{') => {
            let mut digits = 0;
            loop {
                match next() {
                    Some('}') => break,
                    Some(character) => {
                        value = value
                            .zip(character.to_digit(16))
                            .map(|(value, digit)| value * 16 + digit)
                            .filter(|value| *value <= 0x0010_ffff);
                        digits += 1;
                    }
                    None => value = None,
                }
                if value.is_none() {
                    break;
                }
            }
            value = value.filter(|_| digits > 0);
        }
        Some(high) => {
            let low = next();
            value = high
                .to_digit(16)
                .zip(low.and_then(|low| low.to_digit(16)))
                .map(|(high, low)| high * 16 + low);
        }
        None => value = None,
    }
    match value.and_then(char::from_u32) {
        Some(character) => Ok((character, after)),
        None => Err(error(
            "invalid escape sequence",
            &rest[..rest.len() - after.len()],
        )),
    }
}
