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
        Ok(Value::Bool(!any_is_in(ctx, part, list, false)?))
    },
    "list_sets_equivalent_list":
        "sets.equivalent(list(T), list(T)) -> bool" => |ctx, [Value::List(left), Value::List(right)]| {
        Ok(Value::Bool(!any_is_in(ctx, right, left, false)? && !any_is_in(ctx, left, right, false)?))
    },
    "list_sets_intersects_list":
        "sets.intersects(list(T), list(T)) -> bool" => |ctx, [Value::List(left), Value::List(right)]| {
        any_is_in(ctx, left, right, true).map(Value::Bool)
    },
};

/// Returns whether some element of `list` is in `other`, or is not.
fn any_is_in<'a>(
    ctx: &mut Context<'a>,
    list: &List<'a>,
    other: &List<'a>,
    is_in: bool,
) -> Result<bool, Fault> {
    for index in 0..ctx.list_len(list) {
        if let Some(element) = ctx.list_get(list, index)?
            && list_contains(ctx, other, &element)? == is_in
        {
            return Ok(true);
        }
    }
    Ok(false)
}
