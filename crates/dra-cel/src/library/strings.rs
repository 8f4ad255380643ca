//! Functions of strings. Mirrors `ext/strings.go` (cel-go v0.29) at the version that Kubernetes uses.
//!
//! Positions count code points.

use std::fmt::Write;

use super::Binding::{Guarded, Stepwise};
use super::string_format::format;
use super::{Declaration, overloads};
use crate::cost::STRING_FACTOR;
use crate::eval::Context;
use crate::value::{Fault, Outcome, Value, text};

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "string_char_at_int": "<string>.charAt(int) -> string" => |ctx, [Value::String(text), Value::Int(index)]| {
        char_at(ctx, text, *index)
    },
    "string_index_of_string": "<string>.indexOf(string) -> int" = Guarded(index_of),
    "string_index_of_string_int": "<string>.indexOf(string, int) -> int" = Guarded(index_of),
    "string_last_index_of_string": "<string>.lastIndexOf(string) -> int" = Guarded(last_index_of),
    "string_last_index_of_string_int": "<string>.lastIndexOf(string, int) -> int" = Guarded(last_index_of),
    "string_lower_ascii": "<string>.lowerAscii() -> string" => |ctx, [Value::String(text)]| {
        made(ctx, text.len(), || text.to_ascii_lowercase())
    },
    "string_replace_string_string": "<string>.replace(string, string) -> string" = Guarded(replace),
    "string_replace_string_string_int": "<string>.replace(string, string, int) -> string" = Guarded(replace),
    "string_split_string": "<string>.split(string) -> list(string)" = Guarded(split),
    "string_split_string_int": "<string>.split(string, int) -> list(string)" = Guarded(split),
    "string_substring_int": "<string>.substring(int) -> string" = Guarded(substring),
    "string_substring_int_int": "<string>.substring(int, int) -> string" = Guarded(substring),
    "string_trim": "<string>.trim() -> string" => |ctx, [Value::String(text)]| {
        made(ctx, text.len(), || text.trim().to_owned())
    },
    "string_upper_ascii": "<string>.upperAscii() -> string" => |ctx, [Value::String(text)]| {
        made(ctx, text.len(), || text.to_ascii_uppercase())
    },
    "string_format": "<string>.format(list(dyn)) -> string" = Stepwise(format),
    "strings_quote": "strings.quote(string) -> string" => |ctx, [Value::String(text)]| {
        made(ctx, text.len() * 2, || quote(text))
    },
    "list_join": "<list(string)>.join() -> string" = Guarded(join),
    "list_join_string": "<list(string)>.join(string) -> string" = Guarded(join),
};

fn made<'a>(ctx: &mut Context<'a>, length: usize, make: impl FnOnce() -> String) -> Outcome<'a> {
    ctx.allocate(length)?;
    Ok(Value::string(make()))
}

fn out_of_range(index: i64) -> Fault {
    Fault::error(format!("index out of range: {index}"))
}

/// The byte position of a code point, if the text has as many; its end counts.
fn byte_position(text: &str, index: i64) -> Option<usize> {
    let index = usize::try_from(index).ok()?;
    if text.is_ascii() {
        return (index <= text.len()).then_some(index);
    }
    text.char_indices()
        .map(|(position, _)| position)
        .chain([text.len()])
        .nth(index)
}

fn char_at<'a>(ctx: &mut Context<'a>, text: &str, index: i64) -> Outcome<'a> {
    ctx.work(text.len() as u64 / 8)?;
    let start = byte_position(text, index).ok_or_else(|| out_of_range(index))?;
    made(ctx, 4, || text[start..].chars().take(1).collect())
}

fn index_of<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, part, offset) = match args {
        [Value::String(text), Value::String(part)] => (text, part, 0),
        [Value::String(text), Value::String(part), Value::Int(offset)] => (text, part, *offset),
        _ => return Err(Fault::no_such_overload()),
    };
    ctx.work((text.len() + part.len()) as u64 / 8)?;
    if part.is_empty() && ctx.release.trusts_offsets {
        return Ok(Value::Int(offset));
    }
    if offset < 0 {
        return Err(out_of_range(offset));
    }
    if part.is_empty() {
        return Ok(Value::Int(offset.min(text.chars().count() as i64)));
    }
    let found = byte_position(text, offset).and_then(|start| {
        text[start..]
            .find(&**part)
            .map(|found| text[..start + found].chars().count() as i64)
    });
    Ok(Value::Int(found.unwrap_or(-1)))
}

fn last_index_of<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, part, offset) = match args {
        [Value::String(text), Value::String(part)] => (text, part, None),
        [Value::String(text), Value::String(part), Value::Int(offset)] => (text, part, Some(*offset)),
        _ => return Err(Fault::no_such_overload()),
    };
    ctx.work((text.len() + part.len()) as u64 / 8)?;
    let length = text.chars().count() as i64;
    if let Some(offset) = offset.filter(|_| part.is_empty() && ctx.release.trusts_offsets) {
        return Ok(Value::Int(offset));
    }
    if let Some(offset @ ..0) = offset {
        return Err(out_of_range(offset));
    }
    if part.is_empty() {
        return Ok(Value::Int(offset.map_or(length, |offset| offset.min(length))));
    }
    let offset = offset.unwrap_or(length - 1);
    if offset >= length {
        return Ok(Value::Int(-1));
    }
    // The match may begin at the offset at the latest.
    let end = byte_position(text, offset).map_or(0, |start| (start + part.len()).min(text.len()));
    let end = (end..=text.len())
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(text.len());
    let mut found = text[..end].rfind(&**part);
    // Where the part is longer than what its code points cover in the text, the match can begin too late.
    while let Some(position) = found
        && text[..position].chars().count() as i64 > offset
    {
        found = text[..position + part.len() - 1].rfind(&**part);
    }
    Ok(Value::Int(
        found.map_or(-1, |found| text[..found].chars().count() as i64),
    ))
}

fn replace<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, old, new, limit) = match args {
        [Value::String(text), Value::String(old), Value::String(new)] => (text, old, new, -1),
        [
            Value::String(text),
            Value::String(old),
            Value::String(new),
            Value::Int(limit),
        ] => (text, old, new, *limit),
        _ => return Err(Fault::no_such_overload()),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    ctx.work(text.len() as u64)?;
    let count = text.matches(&**old).take(limit).count();
    ctx.allocate(count.saturating_mul(new.len()).saturating_add(text.len()))?;
    Ok(Value::string(text.replacen(&**old, new, limit)))
}

fn split<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, separator, limit) = match args {
        [Value::String(text), Value::String(separator)] => (text, separator, -1),
        [Value::String(text), Value::String(separator), Value::Int(limit)] => (text, separator, *limit),
        _ => return Err(Fault::no_such_overload()),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    ctx.allocate(text.len())?;
    let parts: Vec<&str> = match (limit, separator.is_empty()) {
        (0, _) => Vec::new(),
        (_, true) => characters(text, limit),
        _ => text.splitn(limit, &**separator).collect(),
    };
    // Each part is a string of its own.
    ctx.allocate(parts.len().saturating_mul(64))?;
    Ok(Value::list(parts.into_iter().map(Value::string).collect()))
}

/// The code points of a text, the last of at most `limit` parts being the rest.
fn characters(text: &str, limit: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if parts.len() + 1 == limit {
            parts.push(rest);
            break;
        }
        let (head, tail) = rest.split_at(first.len_utf8());
        parts.push(head);
        rest = tail;
    }
    parts
}

fn substring<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, start, end) = match args {
        [Value::String(text), Value::Int(start)] => (text, *start, None),
        [Value::String(text), Value::Int(start), Value::Int(end)] => (text, *start, Some(*end)),
        _ => return Err(Fault::no_such_overload()),
    };
    ctx.work(text.len() as u64 / 8)?;
    if let Some(end) = end
        && start > end
    {
        return Err(Fault::error(format!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    let from = byte_position(text, start).ok_or_else(|| out_of_range(start))?;
    let to = match end {
        Some(end) => byte_position(text, end).ok_or_else(|| out_of_range(end))?,
        None => text.len(),
    };
    made(ctx, to - from, || text[from..to].to_owned())
}

fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        let escaped = match character {
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\u{c}' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\u{b}' => 'v',
            '\\' | '"' => character,
            _ => {
                quoted.push(character);
                continue;
            }
        };
        let _ = write!(quoted, "\\{escaped}");
    }
    quoted.push('"');
    quoted
}

fn join<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (list, separator) = match args {
        [Value::List(list)] => (list, ""),
        [Value::List(list), Value::String(separator)] => (list, &**separator),
        _ => return Err(Fault::no_such_overload()),
    };
    let mut joined = String::new();
    for index in 0..ctx.list_len(list) {
        let Some(element) = ctx.list_get(list, index)? else {
            break;
        };
        ctx.work(1)?;
        let Value::String(part) = &element else {
            return Err(Fault::error(format!(
                "join: invalid input: {}",
                text::plain(&element)
            )));
        };
        ctx.allocate(separator.len() + part.len())?;
        // Each character of the result costs, and has four bytes at most.
        ctx.afford(((joined.len() / 4) as f64 * 2.0 * STRING_FACTOR) as u64)?;
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(part);
    }
    Ok(Value::string(joined))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_end_with_the_rest() {
        assert_eq!(characters("aéb", usize::MAX), ["a", "é", "b"]);
        assert_eq!(characters("aéb", 2), ["a", "éb"]);
        assert!(characters("", 3).is_empty());
    }

    #[test]
    fn positions_count_code_points() {
        assert_eq!(byte_position("aéb", 2), Some(3));
        assert_eq!(byte_position("aéb", 3), Some(4));
        assert_eq!(byte_position("aéb", 4), None);
        assert_eq!(byte_position("ab", -1), None);
    }
}
