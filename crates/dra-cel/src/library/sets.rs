//! Lists as sets. Mirrors `ext/sets.go` (cel-go v0.29).

use super::{Declaration, global};
use crate::eval::Context;
use crate::value::equality::list_contains;
use crate::value::list::List;
use crate::value::{Fault, Outcome, Value};

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = &[
    global(
        "sets.contains",
        "list_sets_contains_list",
        "list(T), list(T)",
        "bool",
        |ctx, args| with_lists(ctx, args, contains),
    ),
    global(
        "sets.equivalent",
        "list_sets_equivalent_list",
        "list(T), list(T)",
        "bool",
        |ctx, args| {
            with_lists(ctx, args, |ctx, left, right| {
                Ok(contains(ctx, left, right)? && contains(ctx, right, left)?)
            })
        },
    ),
    global(
        "sets.intersects",
        "list_sets_intersects_list",
        "list(T), list(T)",
        "bool",
        |ctx, args| with_lists(ctx, args, intersects),
    ),
];

fn with_lists<'a>(
    ctx: &mut Context<'a>,
    args: &[Value<'a>],
    test: impl FnOnce(&mut Context<'a>, &List<'a>, &List<'a>) -> Result<bool, Fault>,
) -> Outcome<'a> {
    match args {
        [Value::List(left), Value::List(right)] => test(ctx, left, right).map(Value::Bool),
        _ => Err(Fault::no_such_overload()),
    }
}

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
