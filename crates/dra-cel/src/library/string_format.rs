//! `format`: clauses like `%s` and `%.2f`, filled with the elements of a list.
//!
//! Mirrors `ext/formatting.go` (cel-go v0.29) at the version that Kubernetes uses, which writes numbers as American English does.
//! The same clauses are read when checking, when only types are known: [`interpret`] calls a function with each.

mod number;

use std::fmt::Write;

use crate::eval::Context;
use crate::value::list::List;
use crate::value::map::Map;
use crate::value::{Fault, Outcome, Value, convert};
use dra_values::go_quote;

/// A clause of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    String,
    Decimal,
    /// With the precision.
    Fixed(Option<u64>),
    /// Written as a precision, but interpreted as the width.
    Scientific(Option<u64>),
    Binary,
    Hex {
        upper: bool,
    },
    Octal,
}

impl Clause {
    /// Returns what is said of an argument that the clause does not take.
    pub(crate) fn complaint(self, type_name: &str) -> String {
        let takes = match self {
            Self::String => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, \
                 durations, and timestamps"
            }
            Self::Decimal => "decimal clause can only be used on integers",
            Self::Fixed(_) => "fixed-point clause can only be used on doubles",
            Self::Scientific(_) => "scientific clause can only be used on doubles",
            Self::Binary => "only integers and bools can be formatted as binary",
            Self::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            Self::Octal => "octal clause can only be used on integers",
        };
        format!("{takes}, was given {type_name}")
    }
}

/// Reason why a format cannot be filled: of an argument, where that has a place or a fault of its own, and its text.
pub(crate) type FormatProblem<P> = (Option<P>, String);

/// Fills `count` arguments into `format`, each as `write` does by its place and clause. Returns the text, and how many arguments the
/// clauses take.
///
/// With `looks_first`, whether there is an argument for a clause is looked at before the clause is.
pub(crate) fn interpret<P>(
    format: &str,
    count: usize,
    looks_first: bool,
    mut write: impl FnMut(usize, Clause, &mut String) -> Result<(), FormatProblem<P>>,
) -> Result<(String, usize), FormatProblem<P>> {
    let mut out = String::new();
    let mut rest = format;
    let mut index = 0;
    while let Some(percent) = rest.find('%') {
        out.push_str(&rest[..percent]);
        rest = &rest[percent + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            out.push('%');
            rest = behind;
            continue;
        }
        let is_there = index < count;
        if rest.is_empty() && (is_there || !looks_first) {
            return Err((None, "unexpected end of string".to_owned()));
        }
        if !is_there {
            return Err((None, format!("index {index} out of range")));
        }
        let (clause, behind) = read_clause(rest)
            .map_err(|problem| (None, format!("could not parse formatting clause: {problem}")))?;
        write(index, clause, &mut out)
            .map_err(|(place, problem)| (place, format!("error during formatting: {problem}")))?;
        rest = behind;
        index += 1;
    }
    out.push_str(rest);
    Ok((out, index))
}

/// Reads the non-empty text after a `%`.
fn read_clause(text: &str) -> Result<(Clause, &str), String> {
    let (precision, rest) = match text.strip_prefix('.') {
        None => (None, text),
        Some(behind) => {
            let wrap = |problem: String| format!("error while parsing precision: {problem}");
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, rest) = behind.split_at(digits);
            if rest.is_empty() {
                return Err(wrap("could not find end of precision specifier".to_owned()));
            }
            let number = digits.parse::<i64>().map_err(|_| {
                let problem = if digits.is_empty() {
                    "invalid syntax"
                } else {
                    "value out of range"
                };
                wrap(format!(
                    "error while converting precision to integer: strconv.Atoi: parsing {}: {problem}",
                    go_quote(digits)
                ))
            })?;
            (Some(number.unsigned_abs()), rest)
        }
    };
    let letter = rest.as_bytes().first().copied().unwrap_or_default();
    let clause = match letter {
        b's' => Clause::String,
        b'd' => Clause::Decimal,
        b'f' => Clause::Fixed(precision),
        b'e' => Clause::Scientific(precision),
        b'b' => Clause::Binary,
        b'x' => Clause::Hex { upper: false },
        b'X' => Clause::Hex { upper: true },
        b'o' => Clause::Octal,
        // A byte is interpreted as a character.
        _ => {
            return Err(format!(
                "unrecognized formatting clause \"{}\"",
                char::from(letter)
            ));
        }
    };
    Ok((clause, &rest[1..]))
}

/// `format.format(arguments)`
pub(super) fn format<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::String(format), Value::List(list)] = args else {
        return Err(Fault::no_such_overload());
    };
    ctx.allocate(format.len())?;
    let count = ctx.list_len(list);
    let write = |index: usize, clause: Clause, out: &mut String| {
        write_argument(ctx, list, index, clause, out).map_err(|fault| match fault {
            Fault::Error(message) => (None, String::clone(&message)),
            abort @ Fault::Abort(_) => (Some(abort), String::new()),
        })
    };
    match interpret(format, count, true, write) {
        Ok((text, _)) => Ok(Value::string(text)),
        Err((abort, problem)) => Err(abort.unwrap_or_else(|| Fault::error(problem))),
    }
}

fn write_argument<'a>(
    ctx: &mut Context<'a>,
    list: &List<'a>,
    index: usize,
    clause: Clause,
    out: &mut String,
) -> Result<(), Fault> {
    let Some(value) = ctx.list_get(list, index)? else {
        return Ok(());
    };
    let length = out.len();
    write_clause(ctx, &value, clause, out)?;
    ctx.allocate(out.len() - length)
}

fn write_clause<'a>(
    ctx: &mut Context<'a>,
    value: &Value<'a>,
    clause: Clause,
    out: &mut String,
) -> Result<(), Fault> {
    let sign = |value: i64| if value < 0 { "-" } else { "" };
    let number = match (clause, value) {
        (Clause::String, _) => return write_string(ctx, value, out),
        (Clause::Decimal, Value::Int(value)) => value.to_string(),
        (Clause::Decimal, Value::Uint(value)) => value.to_string(),
        (Clause::Fixed(precision), Value::Double(value)) => {
            number::write_fixed(*value, precision, out);
            return Ok(());
        }
        (Clause::Scientific(width), Value::Double(value)) => {
            number::write_scientific(*value, width, out);
            return Ok(());
        }
        (Clause::Fixed(_) | Clause::Scientific(_), Value::String(text)) => {
            let value = match &**text {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                _ => return Err(Fault::error(clause.complaint(value.type_name()))),
            };
            return write_clause(ctx, &Value::Double(value), clause, out);
        }
        (Clause::Binary, Value::Int(value)) => format!("{}{:b}", sign(*value), value.unsigned_abs()),
        (Clause::Binary, Value::Uint(value)) => format!("{value:b}"),
        (Clause::Binary, Value::Bool(value)) => u8::from(*value).to_string(),
        (Clause::Hex { .. }, Value::Int(value)) => format!("{}{:x}", sign(*value), value.unsigned_abs()),
        (Clause::Hex { .. }, Value::Uint(value)) => format!("{value:x}"),
        (Clause::Hex { .. }, Value::String(text)) => hexadecimal(text.as_bytes()),
        (Clause::Hex { .. }, Value::Bytes(bytes)) => hexadecimal(bytes),
        (Clause::Octal, Value::Int(value)) => format!("{}{:o}", sign(*value), value.unsigned_abs()),
        (Clause::Octal, Value::Uint(value)) => format!("{value:o}"),
        _ => return Err(Fault::error(clause.complaint(value.type_name()))),
    };
    if clause == (Clause::Hex { upper: true }) {
        out.push_str(&number.to_ascii_uppercase());
    } else {
        out.push_str(&number);
    }
    Ok(())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns what `%s` makes of a value.
fn write_string<'a>(ctx: &mut Context<'a>, value: &Value<'a>, out: &mut String) -> Result<(), Fault> {
    match value {
        Value::List(list) => ctx.nested(|ctx| write_list(ctx, list, out)),
        Value::Map(map) => ctx.nested(|ctx| write_map(ctx, map, out)),
        Value::Null => {
            out.push_str("null");
            Ok(())
        }
        Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::Bool(_)
        | Value::String(_)
        | Value::Timestamp(_)
        | Value::Bytes(_)
        | Value::Duration(_)
        | Value::Type(_) => match convert::to_string(value) {
            Ok(Value::String(text)) => {
                out.push_str(&text);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(fault) => Err(Fault::error(format!(
                "could not convert argument {} to string",
                go_quote(fault.message())
            ))),
        },
        _ => Err(Fault::error(Clause::String.complaint(value.type_name()))),
    }
}

/// A value inside a list or map.
fn write_member<'a>(ctx: &mut Context<'a>, value: &Value<'a>, out: &mut String) -> Result<(), Fault> {
    let length = out.len();
    let mut inner = String::new();
    match value {
        Value::String(text) => out.push_str(&go_quote(text)),
        Value::Bytes(_) => {
            write_string(ctx, value, &mut inner)?;
            out.push('b');
            out.push_str(&go_quote(&inner));
        }
        Value::Timestamp(_) | Value::Duration(_) => {
            write_string(ctx, value, &mut inner)?;
            let name = if matches!(value, Value::Timestamp(_)) {
                "timestamp"
            } else {
                "duration"
            };
            let _ = write!(out, "{name}({})", go_quote(&inner));
        }
        Value::Double(value) if value.is_finite() => {
            let _ = write!(out, "{value:.6}");
        }
        Value::Double(_) => {
            write_string(ctx, value, &mut inner)?;
            out.push_str(&go_quote(&inner));
        }
        Value::Int(_)
        | Value::Uint(_)
        | Value::Bool(_)
        | Value::Null
        | Value::Type(_)
        | Value::List(_)
        | Value::Map(_) => write_string(ctx, value, out)?,
        _ => {
            return Err(Fault::error(format!(
                "no formatting function for {}",
                value.type_name()
            )));
        }
    }
    ctx.allocate(out.len() - length)
}

fn write_list<'a>(ctx: &mut Context<'a>, list: &List<'a>, out: &mut String) -> Result<(), Fault> {
    out.push('[');
    for index in 0..ctx.list_len(list) {
        let Some(member) = ctx.list_get(list, index)? else {
            break;
        };
        if index > 0 {
            out.push_str(", ");
        }
        write_member(ctx, &member, out)?;
    }
    out.push(']');
    Ok(())
}

fn write_map<'a>(ctx: &mut Context<'a>, map: &Map<'a>, out: &mut String) -> Result<(), Fault> {
    let mut entries = Vec::new();
    for key in map.keys() {
        if !matches!(
            key,
            Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_)
        ) {
            let message = format!("no formatting function for map key of type {}", key.type_name());
            return Err(Fault::error(message));
        }
        let mut name = String::new();
        write_member(ctx, &key, &mut name)?;
        let mut value = String::new();
        if let Some(found) = map.find(&key) {
            write_member(ctx, &found, &mut value)?;
        }
        entries.push((name, value));
    }
    entries.sort_by(|(name, _), (other, _)| name.cmp(other));
    out.push('{');
    for (position, (name, value)) in entries.iter().enumerate() {
        let separator = if position > 0 { ", " } else { "" };
        let _ = write!(out, "{separator}{name}:{value}");
    }
    out.push('}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_refused_in_upstreams_words() {
        for (text, problem) in [
            (
                ".f",
                "error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax",
            ),
            (
                ".2",
                "error while parsing precision: could not find end of precision specifier",
            ),
            ("5d", "unrecognized formatting clause \"5\""),
            ("é", "unrecognized formatting clause \"Ã\""),
        ] {
            assert_eq!(read_clause(text), Err(problem.to_owned()));
        }
        assert_eq!(read_clause(".12ex"), Ok((Clause::Scientific(Some(12)), "x")));
    }
}
