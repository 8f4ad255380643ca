//! Values as Go prints them.

use std::fmt::Write;

use super::list::List;
use super::map::Map;
use super::{Fault, Value, time};

/// Longest text that is made of a value for a message.
const MAX_TEXT: usize = 10_000;

/// A float as Go's `%g`: the shortest digits, with an exponent below 10⁻⁴ and from 10⁶ on.
pub(crate) fn float_g(value: f64) -> String {
    if !value.is_finite() {
        return float_f(value);
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs());
    }
    format!("{value}")
}

/// A float as Go's `strconv.FormatFloat(v, 'f', -1, 64)`.
pub(crate) fn float_f(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
    } else {
        format!("{value}")
    }
}

/// A value as Go's `%v`.
pub(crate) fn plain(value: &Value<'_>) -> String {
    let mut out = String::new();
    write_plain(value, &mut out);
    out
}

fn write_plain(value: &Value<'_>, out: &mut String) {
    if out.len() > MAX_TEXT {
        return;
    }
    match value {
        Value::Null => out.push('0'),
        Value::Bool(value) => out.push_str(&value.to_string()),
        Value::Int(value) => out.push_str(&value.to_string()),
        Value::Uint(value) => out.push_str(&value.to_string()),
        Value::Double(value) => out.push_str(&float_g(*value)),
        Value::String(text) => out.push_str(text),
        Value::Bytes(bytes) => {
            let numbers: Vec<_> = bytes.iter().take(MAX_TEXT).map(u8::to_string).collect();
            out.push_str(&format!("[{}]", numbers.join(" ")));
        }
        Value::Duration(nanos) => out.push_str(&go_duration(*nanos)),
        Value::Timestamp(timestamp) => {
            out.push_str(&time::date_and_time(*timestamp, ' '));
            let minutes = timestamp.offset().unsigned_abs() / 60;
            let sign = if timestamp.offset() < 0 { '-' } else { '+' };
            let offset = format!("{sign}{:02}{:02}", minutes / 60, minutes % 60);
            let name = if timestamp.offset() == 0 { "UTC" } else { &offset };
            let _ = write!(out, " {offset} {name}");
        }
        Value::Type(name) => out.push_str(name),
        Value::Optional(None) => out.push_str("optional.none()"),
        Value::Optional(Some(value)) => {
            out.push_str("optional(");
            write_plain(value, out);
            out.push(')');
        }
        Value::List(list) => write_list(list, out),
        Value::Map(map) => write_map(map, out),
        Value::Quantity(quantity) => out.push_str(&quantity.to_string()),
        Value::Semver(version) => out.push_str(&version.to_string()),
        Value::Ip(address) => out.push_str(&address.to_string()),
        Value::Cidr(cidr) => out.push_str(&cidr.to_string()),
        Value::Url(url) => out.push_str(&url.to_string()),
        Value::Format(format) => out.push_str(format.name),
    }
}

fn write_list(list: &List<'_>, out: &mut String) {
    out.push('[');
    for index in 0..list.len() {
        if index > 0 {
            out.push_str(", ");
        }
        match list.get(index) {
            Some(element) if out.len() <= MAX_TEXT => write_plain(&element, out),
            _ => break,
        }
    }
    out.push(']');
}

fn write_map(map: &Map<'_>, out: &mut String) {
    out.push('{');
    for (position, (key, value)) in map.looked_up().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        if out.len() > MAX_TEXT {
            break;
        }
        write_plain(&key, out);
        out.push_str(": ");
        if let Some(value) = value {
            write_plain(&value, out);
        }
    }
    out.push('}');
}

/// A duration as Go prints it: `1h2m3.5s`.
fn go_duration(nanos: i64) -> String {
    let absolute = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let decimal = |amount: u64, unit: u64, name: &str| {
        let digits = unit.ilog10() as usize;
        let fraction = format!("{:0digits$}", amount % unit);
        let fraction = fraction.trim_end_matches('0');
        let dot = if fraction.is_empty() { "" } else { "." };
        format!("{}{dot}{fraction}{name}", amount / unit)
    };
    let minutes = absolute / 60_000_000_000;
    let seconds = decimal(absolute % 60_000_000_000, 1_000_000_000, "s");
    match absolute {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{absolute}ns"),
        1_000..1_000_000 => format!("{sign}{}", decimal(absolute, 1_000, "µs")),
        1_000_000..1_000_000_000 => format!("{sign}{}", decimal(absolute, 1_000_000, "ms")),
        _ if minutes == 0 => format!("{sign}{seconds}"),
        _ if minutes < 60 => format!("{sign}{minutes}m{seconds}"),
        _ => format!("{sign}{}h{}m{seconds}", minutes / 60, minutes % 60),
    }
}

/// That what is written with `?` at that place of a literal is no optional.
pub(crate) fn not_optional(place: &str, value: &Value<'_>) -> Fault {
    let value = plain(value);
    Fault::error(format!(
        "cannot initialize optional {place} from non-optional value {value}"
    ))
}

/// A value as it is written in CEL, for people.
pub(crate) fn source(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => dra_values::go_quote(text),
        Value::Uint(value) => format!("{value}u"),
        Value::Double(value) => {
            let text = float_f(*value);
            if text.contains(['.', 'N', 'I']) {
                text
            } else {
                format!("{text}.0")
            }
        }
        Value::Bytes(bytes) => format!("b\"{}\"", bytes.escape_ascii()),
        Value::Duration(nanos) => format!("duration(\"{}s\")", float_f(time::duration_seconds(*nanos))),
        Value::Timestamp(timestamp) => format!("timestamp(\"{}\")", time::format_timestamp(*timestamp)),
        Value::Quantity(quantity) => format!("quantity(\"{}\")", **quantity),
        Value::Semver(version) => format!("semver(\"{}\")", **version),
        Value::List(list) => {
            let elements: Vec<_> = (0..list.len().min(100))
                .filter_map(|index| list.get(index))
                .map(|item| source(&item))
                .collect();
            format!("[{}]", elements.join(", "))
        }
        Value::Map(map) => {
            let entries: Vec<_> = map
                .keys()
                .into_iter()
                .take(100)
                .map(|key| {
                    let value = map.find(&key).map_or_else(String::new, |value| source(&value));
                    format!("{}: {value}", source(&key))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => plain(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_like_go() {
        for (value, text) in [
            (1.5, "1.5"),
            (100_000.0, "100000"),
            (1_000_000.0, "1e+06"),
            (1_234_567.891, "1.234567891e+06"),
            (123_456.789, "123456.789"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e21, "1e+21"),
            (-0.0, "-0"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(float_g(value), text);
        }
        assert_eq!(float_f(1e21), "1000000000000000000000");
    }

    #[test]
    fn durations_print_like_go() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (-2_000_000, "-2ms"),
            (3_723_500_000_000, "1h2m3.5s"),
            (60_000_000_000, "1m0s"),
        ] {
            assert_eq!(go_duration(nanos), text);
        }
    }
}
