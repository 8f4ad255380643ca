//! Conversions between types. Mirrors the methods `ConvertToType` and `ConvertToNative` of `common/types` (cel-go v0.29) and of the
//! API server's types.

use std::sync::Arc;

use super::{Fault, Outcome, Value, numbers, text, time};

/// Returns why a value cannot become another type.
fn refused(value: &Value<'_>, to: &str) -> Fault {
    Fault::error(format!(
        "type conversion error from '{}' to '{to}'",
        value.type_name()
    ))
}

/// `bool(value)`.
pub(crate) fn to_bool<'a>(value: &Value<'a>) -> Outcome<'a> {
    let bool = match value {
        Value::Bool(value) => Some(*value),
        Value::String(text) => match &**text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
            _ => None,
        },
        _ => None,
    };
    bool.map(Value::Bool).ok_or_else(|| refused(value, "bool"))
}

/// `bytes(value)`.
pub(crate) fn to_bytes<'a>(value: &Value<'a>) -> Outcome<'a> {
    match value {
        Value::Bytes(bytes) => Ok(Value::Bytes(Arc::clone(bytes))),
        Value::String(text) => Ok(Value::Bytes(Arc::from(text.as_bytes()))),
        _ => Err(refused(value, "bytes")),
    }
}

/// `double(value)`.
pub(crate) fn to_double<'a>(value: &Value<'a>) -> Outcome<'a> {
    let double = match value {
        Value::Double(value) => Some(*value),
        Value::Int(value) => Some(*value as f64),
        Value::Uint(value) => Some(*value as f64),
        Value::String(text) => parse_float(text),
        _ => None,
    };
    double.map(Value::Double).ok_or_else(|| refused(value, "double"))
}

/// `duration(value)`.
pub(crate) fn to_duration<'a>(value: &Value<'a>) -> Outcome<'a> {
    let nanos = match value {
        // Integers are nanoseconds, until cel-go v0.27.
        Value::Duration(nanos) | Value::Int(nanos) => Some(*nanos),
        Value::String(text) => time::parse_duration(text),
        _ => None,
    };
    nanos
        .map(Value::Duration)
        .ok_or_else(|| refused(value, "google.protobuf.Duration"))
}

/// `int(value)`.
pub(crate) fn to_int<'a>(value: &Value<'a>) -> Outcome<'a> {
    let int = match value {
        Value::Int(value) | Value::Duration(value) => Some(*value),
        Value::Double(value) => Some(numbers::double_to_int(*value)?),
        Value::Uint(value) => Some(numbers::uint_to_int(*value)?),
        Value::Timestamp(timestamp) => Some(timestamp.seconds),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    int.map(Value::Int).ok_or_else(|| refused(value, "int"))
}

/// `uint(value)`.
pub(crate) fn to_uint<'a>(value: &Value<'a>) -> Outcome<'a> {
    let uint = match value {
        Value::Uint(value) => Some(*value),
        Value::Double(value) => Some(numbers::double_to_uint(*value)?),
        Value::Int(value) => Some(numbers::int_to_uint(*value)?),
        // Go takes no sign here.
        Value::String(text) => text.parse().ok().filter(|_| !text.starts_with('+')),
        _ => None,
    };
    uint.map(Value::Uint).ok_or_else(|| refused(value, "uint"))
}

/// `string(value)`.
pub(crate) fn to_string<'a>(value: &Value<'a>) -> Outcome<'a> {
    Ok(match value {
        Value::String(text) => Value::String(text.clone()),
        Value::Null => Value::string("null"),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::string(text),
            Err(_) => return Err(Fault::error("invalid UTF-8 in bytes, cannot convert to string")),
        },
        Value::Duration(nanos) => {
            Value::string(format!("{}s", text::float_f(time::duration_seconds(*nanos))))
        }
        Value::Timestamp(timestamp) => Value::string(time::format_timestamp(*timestamp)),
        Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::Type(_)
        | Value::Ip(_)
        | Value::Cidr(_) => Value::string(text::plain(value)),
        _ => return Err(refused(value, "string")),
    })
}

/// `timestamp(value)`.
pub(crate) fn to_timestamp<'a>(value: &Value<'a>) -> Outcome<'a> {
    match value {
        Value::Timestamp(timestamp) => Ok(Value::Timestamp(*timestamp)),
        Value::Int(seconds) => time::Timestamp::from_unix(*seconds).map(Value::Timestamp),
        Value::String(text) => time::parse_timestamp(text)
            .ok_or_else(|| refused(value, "google.protobuf.Timestamp"))?
            .map(Value::Timestamp),
        _ => Err(refused(value, "google.protobuf.Timestamp")),
    }
}

/// Returns what Go's `strconv.ParseFloat` reads: also hexadecimal floats, but nothing beyond the range of floats.
fn parse_float(text: &str) -> Option<f64> {
    if text.contains('_') {
        return separates_digits(text).then(|| parse_float(&text.replace('_', "")))?;
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    if unsigned.len() + 1 < text.len() {
        return None;
    }
    if let Some(hexadecimal) = unsigned
        .strip_prefix("0x")
        .or_else(|| unsigned.strip_prefix("0X"))
    {
        let value = parse_hexadecimal(hexadecimal)?;
        return value
            .is_finite()
            .then_some(if text.starts_with('-') { -value } else { value });
    }
    let value: f64 = text.parse().ok()?;
    let spelled_out = unsigned.starts_with(['i', 'I', 'n', 'N']);
    // Go knows no sign before `nan`.
    let signed_nan = value.is_nan() && unsigned.len() < text.len();
    ((value.is_finite() || spelled_out) && !signed_nan).then_some(value)
}

/// Returns whether every underscore stands between two digits, or between a base prefix and a digit. Mirrors `strconv/atoi.go`,
/// `underscoreOK`.
fn separates_digits(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let hexadecimal = unsigned.starts_with("0x") || unsigned.starts_with("0X");
    // The prefix counts as a digit.
    let number = if hexadecimal { &unsigned[2..] } else { unsigned };
    let is_digit =
        |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || hexadecimal && c.is_ascii_hexdigit());
    let mut before = hexadecimal.then_some('0');
    let mut rest = number.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '_' && !(is_digit(before) && is_digit(rest.peek().copied())) {
            return false;
        }
        before = Some(c);
    }
    true
}

/// A hexadecimal mantissa and a binary exponent, which has to be there.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0_f64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    Some(value * 2.0_f64.powi(exponent.saturating_sub(4 * fraction.len() as i32)))
}

/// The string that Go's reflection makes of a value that is used as a string.
pub(crate) fn native_string(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Optional(Some(value)) => native_string(value),
        Value::Format(_) => None,
        Value::String(_) => Some(text::plain(value)),
        _ => value.is_of_api_server().then(|| text::plain(value)),
    }
}

/// The result of a selector as Go's bool, or why it is none.
pub(crate) fn native_bool(value: &Value<'_>) -> Result<bool, String> {
    let from = |name: &str| Err(format!("type conversion error from {name} to 'bool'"));
    match value {
        Value::Bool(value) => Ok(*value),
        Value::Null => from("'null_type'"),
        Value::Int(_) => Err("unsupported type conversion from 'int' to bool".to_owned()),
        Value::Uint(_) => Err("unsupported type conversion from 'uint' to bool".to_owned()),
        Value::Double(_) => from("Double"),
        Value::String(_) => Err("unsupported native conversion from string to 'bool'".to_owned()),
        Value::Bytes(_) => from("Bytes"),
        Value::Duration(_) => from("'Duration'"),
        Value::Timestamp(_) => from("'Timestamp'"),
        Value::List(_) => from("list"),
        Value::Map(_) => from("map"),
        Value::Type(_) => Err("type conversion not supported for 'type'".to_owned()),
        Value::Optional(None) => Err("optional.none() dereference".to_owned()),
        Value::Optional(Some(value)) => native_bool(value),
        Value::Quantity(_) => from("'Quantity'"),
        Value::Semver(_) => from("'Semver'"),
        Value::Ip(_) => from("'IP'"),
        Value::Cidr(_) => from("'CIDR'"),
        Value::Url(_) => from("'URL'"),
        Value::Format(_) => from("'Format'"),
    }
}
