//! Lists as sets. Mirrors `ext/sets.go` (cel-go v0.29).

use super::{Declaration, overloads};
use crate::eval::Context;
use crate::value::equality::list_contains;
use crate::value::list::List;
use crate::value::{Fault, Value};

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "list_sets_contains_list":
        "sets.contains(list(T), list(T)) -> bool" => |ctx, [Value::List(list), Value::List(part)]| {
        contains(ctx, list, part).map(Value::Bool)
    },
    "list_sets_equivalent_list":
        "sets.equivalent(list(T), list(T)) -> bool" => |ctx, [Value::List(left), Value::List(right)]| {
        Ok(Value::Bool(contains(ctx, left, right)? && contains(ctx, right, left)?))
    },
    "list_sets_intersects_list":
        "sets.intersects(list(T), list(T)) -> bool" => |ctx, [Value::List(left), Value::List(right)]| {
        intersects(ctx, left, right).map(Value::Bool)
    },
};

fn contains<'a>(ctx: &mut Context<'a>, list: &List<'a>, part: &List<'a>) -> Result<bool, Fault> {
    for index in 0..ctx.list_len(part) {
        if let Some(element) = ctx.list_get(part, index)?
            && !list_contains(ctx, list, &element)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects<'a>(ctx: &mut Context<'a>, left: &List<'a>, right: &List<'a>) -> Result<bool, Fault> {
    for index in 0..ctx.list_len(left) {
        if let Some(element) = ctx.list_get(left, index)?
            && list_contains(ctx, right, &element)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
