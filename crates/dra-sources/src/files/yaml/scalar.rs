//! Meaning of an unquoted YAML scalar.
//!
//! YAML has several answers. kubectl's is that of `go.yaml.in/yaml/v2` (`resolve.go`, `resolve`, v2.4.4), which is YAML
//! 1.1 for booleans (`yes`, `on`, `y`) and octal numbers (`010`), takes Go's notations for other integers, and leaves
//! dates and numbers of base 60 as they are. A manifest must mean the same here as there, so this mirrors it.

use crate::files::fault::Fault;

/// A scalar's meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Integer(i64),
    /// An integer beyond those of `i64`.
    Unsigned(u64),
    Float(f64),
    /// The text itself.
    Text,
}

/// Returns what `text` means, being unquoted or tagged: `int` for `!!int`. Unknown tags make a scalar a string.
pub(super) fn resolve(text: &str, tag: Option<&str>) -> Result<Scalar, Fault> {
    match (tag, meaning(text)) {
        (None, scalar)
        | (Some("null"), scalar @ Scalar::Null)
        | (Some("bool"), scalar @ Scalar::Bool(_))
        | (Some("int"), scalar @ (Scalar::Integer(_) | Scalar::Unsigned(_)))
        | (Some("float"), scalar @ Scalar::Float(_)) => Ok(scalar),
        (Some("float"), Scalar::Integer(number)) => Ok(Scalar::Float(number as f64)),
        (Some("timestamp"), Scalar::Text) if looks_like_date(text) => Ok(Scalar::Text),
        (Some(tag @ ("null" | "bool" | "int" | "float" | "timestamp")), _) => Err(Fault::WrongTag {
            text: text.chars().take(40).collect(),
            tag: tag.to_owned(),
        }),
        (Some(_), _) => Ok(Scalar::Text),
    }
}

fn looks_like_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-'
}

fn meaning(text: &str) -> Scalar {
    let Some(first) = text.bytes().next() else {
        return Scalar::Null;
    };
    // Most scalars are names; their first letter settles it.
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'.' => point(text),
        b'0'..=b'9' | b'+' | b'-' => number(text),
        _ => Scalar::Text,
    }
}

fn word(text: &str) -> Scalar {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => Scalar::Text,
    }
}

fn point(text: &str) -> Scalar {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" => return Scalar::Float(f64::INFINITY),
        _ => {}
    }
    // Go takes underscores here where they stand between digits.
    let bytes = text.as_bytes();
    let separates = |position: usize| {
        let digit = |position: usize| bytes.get(position).is_some_and(u8::is_ascii_digit);
        digit(position.wrapping_sub(1)) && digit(position + 1)
    };
    if memchr::memchr_iter(b'_', bytes).any(|position| !separates(position)) {
        return Scalar::Text;
    }
    float(&text.replace('_', "")).unwrap_or(Scalar::Text)
}

fn number(text: &str) -> Scalar {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let plain = text.replace('_', "");
    integer(&plain).or_else(|| float(&plain)).unwrap_or(Scalar::Text)
}

/// An integer as Go writes it, with the base in a prefix.
fn integer(text: &str) -> Option<Scalar> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (base, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', _, ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    // `from_str_radix` accepts a sign, and one was already read.
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, base).ok()?;
    if negative {
        return 0_i64.checked_sub_unsigned(magnitude).map(Scalar::Integer);
    }
    Some(match i64::try_from(magnitude) {
        Ok(number) => Scalar::Integer(number),
        // Go's parser of unsigned integers takes no sign.
        Err(_) if text.starts_with('+') => return None,
        Err(_) => Scalar::Unsigned(magnitude),
    })
}

/// A decimal fraction. Too large a number is text.
fn float(text: &str) -> Option<Scalar> {
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(Scalar::Float(number))
}

/// Writes a scalar as a JSON value.
pub(super) fn write_value(out: &mut Vec<u8>, text: &str, scalar: Scalar) -> Result<(), Fault> {
    match scalar {
        Scalar::Null => out.extend_from_slice(b"null"),
        Scalar::Bool(true) => out.extend_from_slice(b"true"),
        Scalar::Bool(false) => out.extend_from_slice(b"false"),
        Scalar::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Scalar::Unsigned(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Scalar::Float(number) if !number.is_finite() => return Err(Fault::NotFinite),
        Scalar::Float(number) => {
            // Whole numbers stay such, as Go writes them: `1e3` is what a count may be written as.
            let magnitude = number.abs();
            let exponent = magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude);
            let text = if exponent {
                format!("{number:e}")
            } else {
                format!("{number}")
            };
            out.extend_from_slice(text.as_bytes());
        }
        Scalar::Text => write_text(out, text),
    }
    Ok(())
}

/// The text a scalar becomes as a key, without quotes.
pub(super) fn key(text: &str, scalar: Scalar) -> Result<String, Fault> {
    Ok(match scalar {
        Scalar::Null => return Err(Fault::NullKey),
        Scalar::Unsigned(number) => return Err(Fault::KeyTooLarge { number }),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Integer(number) => number.to_string(),
        Scalar::Float(number) => float_key(number as f32),
        Scalar::Text => text.to_owned(),
    })
}

/// A float as `strconv.FormatFloat(number, 'g', -1, 32)` writes it, which is how keys come about.
fn float_key(number: f32) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // Go decides with a precision of 6 when the shortest digits are asked for.
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Writes text as a JSON string.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    // Memory takes whatever is written.
    _ = serde_json::to_writer(out, text);
}
