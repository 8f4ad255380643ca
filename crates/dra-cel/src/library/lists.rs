//! Functions of lists: those of Kubernetes (`library/lists.go`, apiserver v0.37.1) and cel-go's extension (`ext/lists.go`,
//! v0.29).

mod order;

use std::cmp::Ordering;

use super::{Binding, Declaration, OLDEST, declare, global, member};
use crate::ast::operators::SORT_BY;
use crate::cost::{LIST_BASE, not_a_list};
use crate::eval::Context;
use crate::value::list::List;
use crate::value::numbers::{self, Trait, has_trait};
use crate::value::{Fault, Outcome, Value, equality};

/// An overload for each type that can be compared.
macro_rules! comparable {
    ($overload:ident) => {
        &[
            $overload!("int"),
            $overload!("uint"),
            $overload!("double"),
            $overload!("bool"),
            $overload!("duration"),
            $overload!("timestamp"),
            $overload!("string"),
            $overload!("bytes"),
        ]
    };
}

macro_rules! is_sorted {
    ($of:literal) => {
        member(
            "isSorted",
            concat!("list_", $of, "_is_sorted_bool"),
            concat!("list(", $of, ")"),
            "bool",
            is_sorted,
        )
    };
}

macro_rules! sum {
    ($of:literal, $zero:expr) => {
        member(
            "sum",
            concat!("list_", $of, "_sum_", $of),
            concat!("list(", $of, ")"),
            $of,
            |ctx, args| sum(ctx, args, $zero),
        )
    };
}

macro_rules! max {
    ($of:literal) => {
        member(
            "max",
            concat!("list_", $of, "_max_", $of),
            concat!("list(", $of, ")"),
            $of,
            |ctx, args| extreme(ctx, args, "max", Ordering::Less),
        )
    };
}

macro_rules! min {
    ($of:literal) => {
        member(
            "min",
            concat!("list_", $of, "_min_", $of),
            concat!("list(", $of, ")"),
            $of,
            |ctx, args| extreme(ctx, args, "min", Ordering::Greater),
        )
    };
}

macro_rules! sort {
    ($of:literal) => {
        shared(
            "sort",
            concat!("list_", $of, "_sort"),
            concat!("list(", $of, ")"),
            concat!("list(", $of, ")"),
            |ctx, args| match args {
                [Value::List(list)] => sort(ctx, list, list),
                _ => Err(Fault::no_such_overload()),
            },
        )
    };
}

macro_rules! sort_by {
    ($of:literal) => {
        shared(
            SORT_BY,
            concat!("list_", $of, "_sortByAssociatedKeys"),
            concat!("list(T), list(", $of, ")"),
            "list(T)",
            |ctx, args| match args {
                [Value::List(list), Value::List(keys)] => sort(ctx, list, keys),
                [_, other] => Err(not_a_list(Some(other))),
                _ => Err(Fault::no_such_overload()),
            },
        )
    };
}

/// An overload of a function whose overloads share one implementation, which is for lists.
const fn shared(
    function: &'static str,
    id: &'static str,
    args: &'static str,
    result: &'static str,
    op: super::Op,
) -> Declaration {
    Declaration {
        member: true,
        ..declare(
            function,
            id,
            args,
            result,
            Binding::Shared(Some(Trait::Lister), op),
        )
    }
}

const INDEX_OF: Declaration = member(
    "indexOf",
    "list_a_index_of_int",
    "list(A), A",
    "int",
    |ctx, args| position(ctx, args, false),
);

const LAST_INDEX_OF: Declaration = member(
    "lastIndexOf",
    "list_a_last_index_of_int",
    "list(A), A",
    "int",
    |ctx, args| position(ctx, args, true),
);

/// Position of functions in selectors compatible with 1.36, before the functions of strings, and in 1.37, after all others. It shows where a
/// call could be both: of the overloads that match, the first decides which type an operand of no known type has.
pub(super) const FUNCTIONS_BEFORE_STRINGS: &[Declaration] = &[
    Declaration {
        minors: (OLDEST, 36),
        ..INDEX_OF
    },
    Declaration {
        minors: (OLDEST, 36),
        ..LAST_INDEX_OF
    },
];

/// The functions.
pub(super) const FUNCTIONS: &[&[Declaration]] = &[
    &[
        member("slice", "list_slice", "list(T), int, int", "list(T)", slice),
        unguarded("list_flatten", "list(list(T))", "list(T)"),
        unguarded("list_flatten_int", "list(dyn), int", "list(dyn)"),
        Declaration {
            minors: (37, u32::MAX),
            ..global("lists.range", "lists_range", "int", "list(int)", range)
        },
        Declaration {
            minors: (OLDEST, 36),
            ..global(
                "lists.range",
                "lists_range",
                "int",
                "list(int)",
                range_of_any_size,
            )
        },
        member(
            "reverse",
            "list_reverse",
            "list(T)",
            "list(T)",
            |ctx, args| match args {
                [Value::List(list)] => {
                    afford_list(ctx, ctx.list_len(list))?;
                    let mut items = ctx.list_items(list)?;
                    items.reverse();
                    Ok(Value::list(items))
                }
                _ => Err(Fault::no_such_overload()),
            },
        ),
        member("distinct", "list_distinct", "list(T)", "list(T)", distinct),
    ],
    comparable!(sort),
    comparable!(sort_by),
    comparable!(is_sorted),
    &[
        sum!("int", Value::Int(0)),
        sum!("uint", Value::Uint(0)),
        sum!("double", Value::Double(0.0)),
        sum!("duration", Value::Duration(0)),
    ],
    comparable!(max),
    comparable!(min),
    &[
        Declaration {
            minors: (37, u32::MAX),
            ..INDEX_OF
        },
        Declaration {
            minors: (37, u32::MAX),
            ..LAST_INDEX_OF
        },
        Declaration {
            minors: (37, u32::MAX),
            ..member("includes", "list_includes_dyn_dyn", "dyn, dyn", "bool", includes)
        },
        Declaration {
            minors: (36, 36),
            ..member(
                "includes",
                "dra_includes_dyn_dyn",
                "dyn, dyn",
                "bool",
                includes_in_few,
            )
        },
    ],
];

const fn unguarded(id: &'static str, args: &'static str, result: &'static str) -> Declaration {
    Declaration {
        member: true,
        ..declare("flatten", id, args, result, Binding::Unguarded(flatten))
    }
}

fn slice<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list), Value::Int(start), Value::Int(end)] = args else {
        return Err(Fault::no_such_overload());
    };
    let length = ctx.list_len(list);
    let refused = |why: &str| Err(Fault::error(format!("cannot slice({start}, {end}), {why}")));
    let (Ok(from), Ok(to)) = (usize::try_from(*start), usize::try_from(*end)) else {
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

fn range<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::Int(size)] = args else {
        return Err(Fault::no_such_overload());
    };
    if *size < 0 {
        return Err(Fault::error(format!(
            "lists.range: size must be non-negative, got {size}"
        )));
    }
    if *size > MAX_RANGE {
        return Err(Fault::error(format!(
            "lists.range: size {size} exceeds maximum allowed ({MAX_RANGE})"
        )));
    }
    ctx.allocate_list(*size as usize)?;
    Ok(Value::list((0..*size).map(Value::Int).collect()))
}

/// Stops before a list is made that costs too much.
fn afford_list(ctx: &mut Context<'_>, length: usize) -> Result<(), Fault> {
    ctx.afford((length as u64).saturating_add(1 + LIST_BASE))
}

/// cel-go before v0.29 has no limit.
fn range_of_any_size<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::Int(size)] = args else {
        return Err(Fault::no_such_overload());
    };
    let size = (*size).max(0);
    afford_list(ctx, size as usize)?;
    ctx.allocate_list(size as usize)?;
    Ok(Value::list((0..size).map(Value::Int).collect()))
}

fn distinct<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return Err(Fault::no_such_overload());
    };
    let items = ctx.list_items(list)?;
    let mut unique: Vec<Value<'a>> = Vec::new();
    'items: for item in items {
        for other in &unique {
            match equality::method(ctx, &item, other) {
                Ok(true) => continue 'items,
                Ok(false) | Err(Fault::Error(_)) => {}
                Err(abort) => return Err(abort),
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

fn is_sorted<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return Err(Fault::no_such_overload());
    };
    let mut previous: Option<Value<'a>> = None;
    for index in 0..ctx.list_len(list) {
        let Some(item) = ctx.list_get(list, index)? else {
            break;
        };
        ctx.work(1)?;
        if !has_trait(&item, Trait::Comparer) {
            return Err(Fault::no_such_overload());
        }
        if let Some(previous) = &previous
            && matches!(numbers::compare(previous, &item), Ok(Ordering::Greater))
        {
            return Ok(Value::Bool(false));
        }
        previous = Some(item);
    }
    Ok(Value::Bool(true))
}

fn sum<'a>(ctx: &mut Context<'a>, args: &[Value<'a>], zero: Value<'a>) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return Err(Fault::no_such_overload());
    };
    let mut total = zero;
    for index in 0..ctx.list_len(list) {
        let Some(item) = ctx.list_get(list, index)? else {
            break;
        };
        ctx.work(1)?;
        if !has_trait(&item, Trait::Adder) {
            return Err(Fault::no_such_overload());
        }
        total = numbers::add(ctx, &total, &item)?;
    }
    Ok(total)
}

/// The element that no other is beyond; one is replaced by what it compares as `worse` with.
fn extreme<'a>(ctx: &mut Context<'a>, args: &[Value<'a>], name: &str, worse: Ordering) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return Err(Fault::no_such_overload());
    };
    let mut best: Option<Value<'a>> = None;
    for index in 0..ctx.list_len(list) {
        let Some(item) = ctx.list_get(list, index)? else {
            break;
        };
        ctx.work(1)?;
        if !has_trait(&item, Trait::Comparer) {
            return Err(Fault::no_such_overload());
        }
        if best
            .as_ref()
            .is_none_or(|best| matches!(numbers::compare(best, &item), Ok(order) if order == worse))
        {
            best = Some(item);
        }
    }
    best.ok_or_else(|| Fault::error(format!("{name} called on empty list")))
}

/// Returns whether `left` finds `right` equal; errors do not count.
fn finds_equal<'a>(ctx: &mut Context<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool, Fault> {
    match equality::method(ctx, left, right) {
        Ok(equal) => Ok(equal),
        Err(Fault::Error(_)) => Ok(false),
        Err(abort) => Err(abort),
    }
}

fn position<'a>(ctx: &mut Context<'a>, args: &[Value<'a>], last: bool) -> Outcome<'a> {
    let [Value::List(list), item] = args else {
        return Err(Fault::no_such_overload());
    };
    let length = ctx.list_len(list);
    for step in 0..length {
        let index = if last { length - 1 - step } else { step };
        let Some(element) = ctx.list_get(list, index)? else {
            break;
        };
        if finds_equal(ctx, &element, item)? {
            return Ok(Value::Int(index as i64));
        }
    }
    Ok(Value::Int(-1))
}

/// The most values that an attribute can have.
const MAX_ATTRIBUTE_VALUES: usize = 48;

/// Mirrors `compile.go`, `includesFunc`, of Kubernetes 1.36.
fn includes_in_few<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let found = match args {
        [Value::List(list), item] => {
            for index in 0..ctx.list_len(list).min(MAX_ATTRIBUTE_VALUES) {
                let Some(element) = ctx.list_get(list, index)? else {
                    break;
                };
                if finds_equal(ctx, &element, item)? {
                    return Ok(Value::Bool(true));
                }
            }
            if ctx.list_len(list) > MAX_ATTRIBUTE_VALUES {
                return Err(Fault::error(format!(
                    "'includes' function cannot be applied to lists longer than {MAX_ATTRIBUTE_VALUES} values"
                )));
            }
            false
        }
        [value, item] => finds_equal(ctx, value, item)?,
        _ => return Err(Fault::no_such_overload()),
    };
    Ok(Value::Bool(found))
}

fn includes<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::List(list), item] => {
            for index in 0..ctx.list_len(list) {
                let Some(element) = ctx.list_get(list, index)? else {
                    break;
                };
                if finds_equal(ctx, &element, item)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        [value, item] => finds_equal(ctx, value, item).map(Value::Bool),
        _ => Err(Fault::no_such_overload()),
    }
}
