//! Functions of lists: those of Kubernetes (`library/lists.go`, apiserver v0.37.1) and cel-go's extension (`ext/lists.go`,
//! v0.29).

mod order;

use std::cmp::Ordering;

use super::Binding::{self, Guarded, Shared, Unguarded};
use super::{Declaration, OLDEST, overloads};
use crate::cost::{LIST_BASE, not_a_list};
use crate::eval::Context;
use crate::value::equality::finds_equal;
use crate::value::list::List;
use crate::value::numbers::{self, Trait, has_trait};
use crate::value::{Fault, Outcome, Value};

/// The overloads for lists of each type that can be compared.
macro_rules! comparable {
    ($($of:literal),*) => {
        &[$(
            Declaration::new(
                concat!("list_", $of, "_sort"),
                concat!("<list(", $of, ")>.sort() -> list(", $of, ")"),
                SORT,
            ),
            Declaration::new(
                concat!("list_", $of, "_sortByAssociatedKeys"),
                concat!("<list(T)>.@sortByAssociatedKeys(list(", $of, ")) -> list(T)"),
                SORT_BY_KEYS,
            ),
            Declaration::new(
                concat!("list_", $of, "_is_sorted_bool"),
                concat!("<list(", $of, ")>.isSorted() -> bool"),
                Guarded(is_sorted),
            ),
            Declaration::new(
                concat!("list_", $of, "_max_", $of),
                concat!("<list(", $of, ")>.max() -> ", $of),
                MAX,
            ),
            Declaration::new(
                concat!("list_", $of, "_min_", $of),
                concat!("<list(", $of, ")>.min() -> ", $of),
                MIN,
            ),
        )*]
    };
}

const SORT: Binding = Shared(Some(Trait::Lister), |ctx, args| match args {
    [Value::List(list)] => sort(ctx, list, list),
    _ => Err(Fault::no_such_overload()),
});
const SORT_BY_KEYS: Binding = Shared(Some(Trait::Lister), |ctx, args| match args {
    [Value::List(list), Value::List(keys)] => sort(ctx, list, keys),
    [_, other] => Err(not_a_list(Some(other))),
    _ => Err(Fault::no_such_overload()),
});
const MAX: Binding = Guarded(|ctx, args| extreme(ctx, args, "max", Ordering::Less));
const MIN: Binding = Guarded(|ctx, args| extreme(ctx, args, "min", Ordering::Greater));
const INDEX_OF: Binding = Guarded(|ctx, args| position(ctx, args, false));
const LAST_INDEX_OF: Binding = Guarded(|ctx, args| position(ctx, args, true));

/// Position of functions in selectors compatible with 1.36, before the functions of strings, and in 1.37, after all others. It shows where a
/// call could be both: of the overloads that match, the first decides which type an operand of no known type has.
pub(super) const FUNCTIONS_BEFORE_STRINGS: &[Declaration] = overloads! {
    "list_a_index_of_int" [OLDEST, 36]: "<list(A)>.indexOf(A) -> int" = INDEX_OF,
    "list_a_last_index_of_int" [OLDEST, 36]: "<list(A)>.lastIndexOf(A) -> int" = LAST_INDEX_OF,
};

/// The functions.
pub(super) const FUNCTIONS: &[&[Declaration]] = &[
    overloads! {
        "list_slice":
            "<list(T)>.slice(int, int) -> list(T)" => |ctx, [Value::List(list), Value::Int(start), Value::Int(end)]| {
            slice(ctx, list, *start, *end)
        },
        "list_flatten": "<list(list(T))>.flatten() -> list(T)" = Unguarded(flatten),
        "list_flatten_int": "<list(dyn)>.flatten(int) -> list(dyn)" = Unguarded(flatten),
        "lists_range" [37, u32::MAX]: "lists.range(int) -> list(int)" => |ctx, [Value::Int(size)]| range(ctx, *size),
        "lists_range" [OLDEST, 36]: "lists.range(int) -> list(int)" => |ctx, [Value::Int(size)]| {
            range_of_any_size(ctx, *size)
        },
        "list_reverse": "<list(T)>.reverse() -> list(T)" => |ctx, [Value::List(list)]| {
            afford_list(ctx, ctx.list_len(list))?;
            let mut items = ctx.list_items(list)?;
            items.reverse();
            Ok(Value::list(items))
        },
        "list_distinct": "<list(T)>.distinct() -> list(T)" => |ctx, [Value::List(list)]| distinct(ctx, list),
    },
    comparable!(
        "int",
        "uint",
        "double",
        "bool",
        "duration",
        "timestamp",
        "string",
        "bytes"
    ),
    overloads! {
        "list_int_sum_int": "<list(int)>.sum() -> int" = Guarded(|ctx, args| sum(ctx, args, Value::Int(0))),
        "list_uint_sum_uint": "<list(uint)>.sum() -> uint" = Guarded(|ctx, args| sum(ctx, args, Value::Uint(0))),
        "list_double_sum_double": "<list(double)>.sum() -> double" = Guarded(|ctx, args| {
            sum(ctx, args, Value::Double(0.0))
        }),
        "list_duration_sum_duration": "<list(duration)>.sum() -> duration" = Guarded(|ctx, args| {
            sum(ctx, args, Value::Duration(0))
        }),
        "list_a_index_of_int" [37, u32::MAX]: "<list(A)>.indexOf(A) -> int" = INDEX_OF,
        "list_a_last_index_of_int" [37, u32::MAX]: "<list(A)>.lastIndexOf(A) -> int" = LAST_INDEX_OF,
        "list_includes_dyn_dyn" [37, u32::MAX]: "<dyn>.includes(dyn) -> bool" = Guarded(includes),
        "dra_includes_dyn_dyn" [36, 36]: "<dyn>.includes(dyn) -> bool" = Guarded(includes_in_few),
    },
];

fn slice<'a>(ctx: &mut Context<'a>, list: &List<'a>, start: i64, end: i64) -> Outcome<'a> {
    let length = ctx.list_len(list);
    let refused = |why: &str| Err(Fault::error(format!("cannot slice({start}, {end}), {why}")));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return refused("negative indexes not supported");
    };
    if from > to {
        return refused("start index must be less than or equal to end index");
    }
    if length < to {
        return refused(&format!("list is length {length}"));
    }
    afford_list(ctx, to - from)?;
    ctx.allocate_list(to - from)?;
    let items: Result<_, _> = (from..to)
        .filter_map(|index| ctx.list_get(list, index).transpose())
        .collect();
    Ok(Value::list(items?))
}

fn flatten<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (list, depth) = match args {
        [Value::List(list)] => (list, 1),
        [Value::List(list), Value::Int(depth)] => (list, *depth),
        [receiver, others @ ..] => {
            let others: Vec<_> = others.iter().map(type_text).collect();
            let message = format!(
                "no such overload: {}.flatten({})",
                type_text(receiver),
                others.join(", ")
            );
            return Err(Fault::error(message));
        }
        [] => return Err(Fault::no_such_overload()),
    };
    if depth < 0 {
        return Err(Fault::error("level must be non-negative"));
    }
    let mut flat = Vec::new();
    flatten_into(ctx, list, depth, &mut flat)?;
    Ok(Value::list(flat))
}

/// The text of the type of a value, with the parameters that lists, maps and optionals have in general.
fn type_text(value: &Value<'_>) -> &'static str {
    match value {
        Value::List(_) => "list(dyn)",
        Value::Map(_) => "map(dyn, dyn)",
        Value::Optional(_) => "optional_type(dyn)",
        other => other.type_name(),
    }
}

fn flatten_into<'a>(
    ctx: &mut Context<'a>,
    list: &List<'a>,
    depth: i64,
    flat: &mut Vec<Value<'a>>,
) -> Result<(), Fault> {
    for index in 0..ctx.list_len(list) {
        match ctx.list_get(list, index)? {
            Some(Value::List(inner)) if depth > 0 => {
                ctx.work(1)?;
                ctx.nested(|ctx| flatten_into(ctx, &inner, depth - 1, flat))?;
            }
            Some(item) => {
                ctx.allocate_list(1)?;
                flat.push(item);
            }
            None => break,
        }
    }
    Ok(())
}

/// Longest list that `lists.range` makes.
const MAX_RANGE: i64 = 1_000_000;

fn range<'a>(ctx: &mut Context<'a>, size: i64) -> Outcome<'a> {
    if size < 0 {
        return Err(Fault::error(format!(
            "lists.range: size must be non-negative, got {size}"
        )));
    }
    if size > MAX_RANGE {
        return Err(Fault::error(format!(
            "lists.range: size {size} exceeds maximum allowed ({MAX_RANGE})"
        )));
    }
    ctx.allocate_list(size as usize)?;
    Ok(Value::list((0..size).map(Value::Int).collect()))
}

/// Stops before a list is made that costs too much.
fn afford_list(ctx: &mut Context<'_>, length: usize) -> Result<(), Fault> {
    ctx.afford((length as u64).saturating_add(1 + LIST_BASE))
}

/// cel-go before v0.29 has no limit.
fn range_of_any_size<'a>(ctx: &mut Context<'a>, size: i64) -> Outcome<'a> {
    let size = size.max(0);
    afford_list(ctx, size as usize)?;
    ctx.allocate_list(size as usize)?;
    Ok(Value::list((0..size).map(Value::Int).collect()))
}

fn distinct<'a>(ctx: &mut Context<'a>, list: &List<'a>) -> Outcome<'a> {
    let items = ctx.list_items(list)?;
    let mut unique: Vec<Value<'a>> = Vec::new();
    'items: for item in items {
        for other in &unique {
            if finds_equal(ctx, &item, other)? {
                continue 'items;
            }
        }
        unique.push(item);
    }
    Ok(Value::list(unique))
}

/// Sorts a list by keys of the same number. Mirrors `sortListByAssociatedKeys`.
fn sort<'a>(ctx: &mut Context<'a>, list: &List<'a>, keys: &List<'a>) -> Outcome<'a> {
    let items = ctx.list_items(list)?;
    let keys = ctx.list_items(keys)?;
    if items.len() != keys.len() {
        return Err(Fault::error(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} \
             elements respectively",
            items.len(),
            keys.len()
        )));
    }
    let Some(first) = keys.first() else {
        return Ok(Value::List(list.clone()));
    };
    if !has_trait(first, Trait::Comparer) {
        return Err(Fault::error("list elements must be comparable"));
    }
    let of = first.type_name();
    // A single element is not compared with anything.
    if keys.len() > 1 && keys.iter().any(|key| key.type_name() != of) {
        return Err(Fault::error("list elements must have the same type"));
    }
    ctx.work(keys.len() as u64 * (1 + u64::from(keys.len().ilog2())))?;
    let mut positions: Vec<usize> = (0..keys.len()).collect();
    order::sort(&mut positions, |left, right| {
        matches!(numbers::compare(&keys[*left], &keys[*right]), Ok(Ordering::Less))
    });
    Ok(Value::list(
        positions
            .into_iter()
            .map(|position| items[position].clone())
            .collect(),
    ))
}

/// Calls `with` for one element of the only argument after the other, as long as it returns true. Each must have the trait `wanted`.
fn each<'a>(
    ctx: &mut Context<'a>,
    args: &[Value<'a>],
    wanted: Trait,
    mut with: impl FnMut(&mut Context<'a>, Value<'a>) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let [Value::List(list)] = args else {
        return Err(Fault::no_such_overload());
    };
    for index in 0..ctx.list_len(list) {
        let Some(item) = ctx.list_get(list, index)? else {
            break;
        };
        ctx.work(1)?;
        if !has_trait(&item, wanted) {
            return Err(Fault::no_such_overload());
        }
        if !with(ctx, item)? {
            break;
        }
    }
    Ok(())
}

fn is_sorted<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let mut previous: Option<Value<'a>> = None;
    let mut is_sorted = true;
    each(ctx, args, Trait::Comparer, |_, item| {
        let is_less = |previous| matches!(numbers::compare(previous, &item), Ok(Ordering::Greater));
        is_sorted = !previous.as_ref().is_some_and(is_less);
        previous = Some(item);
        Ok(is_sorted)
    })?;
    Ok(Value::Bool(is_sorted))
}

fn sum<'a>(ctx: &mut Context<'a>, args: &[Value<'a>], zero: Value<'a>) -> Outcome<'a> {
    let mut total = zero;
    each(ctx, args, Trait::Adder, |ctx, item| {
        total = numbers::add(ctx, &total, &item)?;
        Ok(true)
    })?;
    Ok(total)
}

/// The element that no other is beyond; one is replaced by what it compares as `worse` with.
fn extreme<'a>(ctx: &mut Context<'a>, args: &[Value<'a>], name: &str, worse: Ordering) -> Outcome<'a> {
    let mut best: Option<Value<'a>> = None;
    each(ctx, args, Trait::Comparer, |_, item| {
        let is_worse = |best| matches!(numbers::compare(best, &item), Ok(order) if order == worse);
        if best.as_ref().is_none_or(is_worse) {
            best = Some(item);
        }
        Ok(true)
    })?;
    best.ok_or_else(|| Fault::error(format!("{name} called on empty list")))
}

/// The first of `positions` whose element finds `item` equal.
fn find<'a>(
    ctx: &mut Context<'a>,
    list: &List<'a>,
    item: &Value<'a>,
    positions: impl Iterator<Item = usize>,
) -> Result<Option<usize>, Fault> {
    for index in positions {
        let Some(element) = ctx.list_get(list, index)? else {
            break;
        };
        if finds_equal(ctx, &element, item)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn position<'a>(ctx: &mut Context<'a>, args: &[Value<'a>], last: bool) -> Outcome<'a> {
    let [Value::List(list), item] = args else {
        return Err(Fault::no_such_overload());
    };
    let positions = 0..ctx.list_len(list);
    let found = if last {
        find(ctx, list, item, positions.rev())?
    } else {
        find(ctx, list, item, positions)?
    };
    Ok(Value::Int(found.map_or(-1, |index| index as i64)))
}

/// The most values that an attribute can have.
const MAX_ATTRIBUTE_VALUES: usize = 48;

/// Mirrors `compile.go`, `includesFunc`, of Kubernetes 1.36.
fn includes_in_few<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list), item] = args else {
        return includes(ctx, args);
    };
    let length = ctx.list_len(list);
    let found = find(ctx, list, item, 0..length.min(MAX_ATTRIBUTE_VALUES))?;
    if found.is_none() && ctx.list_len(list) > MAX_ATTRIBUTE_VALUES {
        return Err(Fault::error(format!(
            "'includes' function cannot be applied to lists longer than {MAX_ATTRIBUTE_VALUES} values"
        )));
    }
    Ok(Value::Bool(found.is_some()))
}

fn includes<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(match args {
        [Value::List(list), item] => find(ctx, list, item, 0..ctx.list_len(list))?.is_some(),
        [value, item] => finds_equal(ctx, value, item)?,
        _ => return Err(Fault::no_such_overload()),
    }))
}
