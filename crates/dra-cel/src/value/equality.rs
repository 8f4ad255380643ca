//! Equality, with the peculiarities of cel-go and the API server's types.
//!
//! Versions, quantities, addresses and the like refuse to be compared with anything else, but only when they are on the
//! left. Lists and maps take an element that cannot be compared for equal, except lists made by `+`.

use super::list::List;
use super::map::Map;
use super::numbers::numbers_equal;
use super::{Amount, Fault, Value};
use crate::eval::Context;

/// Returns whether two values are equal. Mirrors `common/types/util.go`, `Equal` (cel-go v0.29).
pub(crate) fn equal<'a>(ctx: &mut Context<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool, Fault> {
    if let (Value::Null, _) | (_, Value::Null) = (left, right) {
        ctx.work(1)?;
        return Ok(matches!((left, right), (Value::Null, Value::Null)));
    }
    method(ctx, left, right)
}

/// Returns whether the left value finds the right one equal. Mirrors the methods `Equal` of `common/types` (cel-go v0.29).
pub(crate) fn method<'a>(ctx: &mut Context<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool, Fault> {
    ctx.work(1)?;
    if let Some(equal) = numbers_equal(left, right) {
        return Ok(equal);
    }
    Ok(match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::String(left), Value::String(right)) => {
            ctx.work(left.len().min(right.len()) as u64 / 16)?;
            **left == **right
        }
        (Value::Bytes(left), Value::Bytes(right)) => left == right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Timestamp(left), Value::Timestamp(right)) => left.instant() == right.instant(),
        (Value::Type(left), Value::Type(right)) => left == right,
        (Value::List(left), Value::List(right)) => return ctx.nested(|ctx| lists(ctx, left, right)),
        (Value::Map(left), Value::Map(right)) => return ctx.nested(|ctx| maps(ctx, left, right)),
        (Value::Optional(left), Value::Optional(right)) => match (left, right) {
            (None, None) => true,
            (Some(left), Some(right)) => return ctx.nested(|ctx| method(ctx, left, right)),
            _ => false,
        },
        (Value::Quantity(left), Value::Quantity(Amount::Borrowed(right))) => **left == **right,
        (Value::Quantity(left), Value::Quantity(Amount::Shared(right))) => **left == **right,
        (Value::Semver(left), Value::Semver(right)) => **left == **right,
        (Value::Ip(left), Value::Ip(right)) => left == right,
        (Value::Cidr(left), Value::Cidr(right)) => left == right,
        (Value::Url(left), Value::Url(right)) => left.to_string() == right.to_string(),
        (Value::Format(left), Value::Format(right)) => left.name == right.name,
        _ if left.is_of_api_server() => return Err(Fault::no_such_overload()),
        _ => false,
    })
}

fn lists<'a>(ctx: &mut Context<'a>, left: &List<'a>, right: &List<'a>) -> Result<bool, Fault> {
    let length = ctx.list_len(left);
    if length != ctx.list_len(right) {
        return Ok(false);
    }
    let mut first_error = None;
    for index in 0..length {
        let (Some(one), Some(other)) = (ctx.list_get(left, index)?, ctx.list_get(right, index)?) else {
            return Ok(false);
        };
        match equal(ctx, &one, &other) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(Fault::Error(message)) => {
                first_error.get_or_insert(message);
            }
            Err(abort) => return Err(abort),
        }
    }
    match (left, first_error) {
        (List::Concat(_), Some(message)) => Err(Fault::Error(message)),
        _ => Ok(true),
    }
}

fn maps<'a>(ctx: &mut Context<'a>, left: &Map<'a>, right: &Map<'a>) -> Result<bool, Fault> {
    if left.len() != right.len() {
        return Ok(false);
    }
    for key in left.keys() {
        ctx.work(1)?;
        let (Some(one), Some(other)) = (left.find(&key), right.find(&key)) else {
            return Ok(false);
        };
        match equal(ctx, &one, &other) {
            Ok(true) | Err(Fault::Error(_)) => {}
            Ok(false) => return Ok(false),
            Err(abort) => return Err(abort),
        }
    }
    Ok(true)
}

/// Returns whether the left value finds the right one equal. Errors do not count.
pub(crate) fn finds_equal<'a>(
    ctx: &mut Context<'a>,
    left: &Value<'a>,
    right: &Value<'a>,
) -> Result<bool, Fault> {
    match method(ctx, left, right) {
        Err(Fault::Error(_)) => Ok(false),
        result => result,
    }
}

/// Returns whether a list has an element that `value` finds equal. Errors do not count.
pub(crate) fn list_contains<'a>(
    ctx: &mut Context<'a>,
    list: &List<'a>,
    value: &Value<'a>,
) -> Result<bool, Fault> {
    if let List::Concat(concat) = list {
        for part in concat.parts() {
            if list_contains(ctx, part, value)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    let grown;
    let list = match list {
        // Whatever is in it by now.
        List::Seen { number, .. } => {
            grown = List::Mutable(*number as usize);
            &grown
        }
        other => other,
    };
    for index in 0..ctx.list_len(list) {
        let Some(element) = ctx.list_get(list, index)? else {
            break;
        };
        if finds_equal(ctx, value, &element)? {
            return Ok(true);
        }
    }
    Ok(false)
}
