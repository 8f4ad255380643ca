//! Optional values. Mirrors `optionalLib` (`cel/library.go`, cel-go v0.29). What selects, indexes and short-circuits is the
//! planner's.

use std::sync::Arc;

use super::{Binding, Declaration, declare, global, member};
use crate::ast::operators;
use crate::eval::Context;
use crate::value::map::Map;
use crate::value::time::Timestamp;
use crate::value::{Fault, Outcome, Value, text};

/// An overload that the planner replaces by something else.
const fn planned(
    function: &'static str,
    id: &'static str,
    args: &'static str,
    result: &'static str,
) -> Declaration {
    declare(function, id, args, result, Binding::None)
}

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = &[
    global(
        "optional.of",
        "optional_of",
        "V",
        "optional(V)",
        |_, args| match args {
            [value] => some(value),
            _ => Err(Fault::no_such_overload()),
        },
    ),
    global(
        "optional.ofNonZeroValue",
        "optional_ofNonZeroValue",
        "V",
        "optional(V)",
        |ctx, args| match args {
            [value] if is_zero(ctx, value) => Ok(Value::Optional(None)),
            [value] => some(value),
            _ => Err(Fault::no_such_overload()),
        },
    ),
    global("optional.none", "optional_none", "", "optional(V)", |_, _| {
        Ok(Value::Optional(None))
    }),
    member(
        "value",
        "optional_value",
        "optional(V)",
        "V",
        |_, args| match args {
            [Value::Optional(Some(value))] => Ok((**value).clone()),
            [Value::Optional(None)] => Err(Fault::error("optional.none() dereference")),
            _ => Err(Fault::no_such_overload()),
        },
    ),
    member(
        "hasValue",
        "optional_hasValue",
        "optional(V)",
        "bool",
        |_, args| match args {
            [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
            _ => Err(Fault::no_such_overload()),
        },
    ),
    Declaration {
        member: true,
        ..planned(
            "or",
            "optional_or_optional",
            "optional(V), optional(V)",
            "optional(V)",
        )
    },
    Declaration {
        member: true,
        ..planned("orValue", "optional_orValue_value", "optional(V), V", "V")
    },
    planned(
        operators::OPT_SELECT,
        "select_optional_field",
        "dyn, string",
        "optional(V)",
    ),
    planned(
        operators::OPT_INDEX,
        "list_optindex_optional_int",
        "list(V), int",
        "optional(V)",
    ),
    planned(
        operators::OPT_INDEX,
        "optional_list_optindex_optional_int",
        "optional(list(V)), int",
        "optional(V)",
    ),
    planned(
        operators::OPT_INDEX,
        "map_optindex_optional_value",
        "map(K, V), K",
        "optional(V)",
    ),
    planned(
        operators::OPT_INDEX,
        "optional_map_optindex_optional_value",
        "optional(map(K, V)), K",
        "optional(V)",
    ),
    planned(
        operators::INDEX,
        "optional_list_index_int",
        "optional(list(V)), int",
        "optional(V)",
    ),
    planned(
        operators::INDEX,
        "optional_map_index_value",
        "optional(map(K, V)), K",
        "optional(V)",
    ),
    member(
        "last",
        "list_last",
        "list(V)",
        "optional(V)",
        |ctx, args| match args {
            [Value::List(list)] => {
                let last = match ctx.list_len(list).checked_sub(1) {
                    Some(last) => ctx.list_get(list, last)?,
                    None => None,
                };
                Ok(Value::Optional(last.map(Arc::new)))
            }
            _ => Err(Fault::no_such_overload()),
        },
    ),
    member(
        "first",
        "list_first",
        "list(V)",
        "optional(V)",
        |ctx, args| match args {
            [Value::List(list)] => Ok(Value::Optional(ctx.list_get(list, 0)?.map(Arc::new))),
            _ => Err(Fault::no_such_overload()),
        },
    ),
    global(
        "optional.unwrap",
        "optional_unwrap",
        "list(optional(V))",
        "list(V)",
        unwrap,
    ),
    member(
        "unwrapOpt",
        "optional_unwrapOpt",
        "list(optional(V))",
        "list(V)",
        unwrap,
    ),
];

fn some<'a>(value: &Value<'a>) -> Outcome<'a> {
    Context::bound_nesting(value)?;
    Ok(Value::some(value.clone()))
}

fn unwrap<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return Err(Fault::no_such_overload());
    };
    let mut unwrapped = Vec::new();
    for item in ctx.list_items(list)? {
        match item {
            Value::Optional(None) => {}
            Value::Optional(Some(value)) => unwrapped.push((*value).clone()),
            other => {
                return Err(Fault::error(format!(
                    "value {} is not optional",
                    text::plain(&other)
                )));
            }
        }
    }
    Ok(Value::list(unwrapped))
}

/// Returns whether a value is empty or zero, of the types that can be.
fn is_zero<'a>(ctx: &Context<'a>, value: &Value<'a>) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(value) => *value == 0,
        Value::Uint(value) => *value == 0,
        Value::Double(value) => *value == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::Duration(nanos) => *nanos == 0,
        Value::Timestamp(timestamp) => timestamp.instant() == Timestamp::FIRST.instant(),
        Value::List(list) => ctx.list_len(list) == 0,
        Value::Map(Map::Attributes(_) | Map::Capacities(_)) => false,
        Value::Map(map) => map.len() == 0,
        _ => false,
    }
}
