//! Optional values. Mirrors `optionalLib` (`cel/library.go`, cel-go v0.29). What selects, indexes and short-circuits is the
//! planner's.

use std::sync::Arc;

use super::Binding::{self, Guarded};
use super::{Declaration, overloads};
use crate::eval::Context;
use crate::value::map::Map;
use crate::value::time::Timestamp;
use crate::value::{Fault, Outcome, Value, text};

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "optional_of": "optional.of(V) -> optional(V)" => |_, [value]| some(value),
    "optional_ofNonZeroValue": "optional.ofNonZeroValue(V) -> optional(V)" => |ctx, [value]| {
        if is_zero(ctx, value) {
            Ok(Value::Optional(None))
        } else {
            some(value)
        }
    },
    "optional_none": "optional.none() -> optional(V)" = Guarded(|_, _| Ok(Value::Optional(None))),
    "optional_value": "<optional(V)>.value() -> V" => |_, [Value::Optional(value)]| {
        let value = value.as_deref().cloned();
        value.ok_or_else(|| Fault::error("optional.none() dereference"))
    },
    "optional_hasValue": "<optional(V)>.hasValue() -> bool" => |_, [Value::Optional(value)]| {
        Ok(Value::Bool(value.is_some()))
    },
    "optional_or_optional": "<optional(V)>.or(optional(V)) -> optional(V)" = Binding::None,
    "optional_orValue_value": "<optional(V)>.orValue(V) -> V" = Binding::None,
    "select_optional_field": "_?._(dyn, string) -> optional(V)" = Binding::None,
    "list_optindex_optional_int": "_[?_](list(V), int) -> optional(V)" = Binding::None,
    "optional_list_optindex_optional_int": "_[?_](optional(list(V)), int) -> optional(V)" = Binding::None,
    "map_optindex_optional_value": "_[?_](map(K, V), K) -> optional(V)" = Binding::None,
    "optional_map_optindex_optional_value": "_[?_](optional(map(K, V)), K) -> optional(V)" = Binding::None,
    "optional_list_index_int": "_[_](optional(list(V)), int) -> optional(V)" = Binding::None,
    "optional_map_index_value": "_[_](optional(map(K, V)), K) -> optional(V)" = Binding::None,
    "list_last": "<list(V)>.last() -> optional(V)" => |ctx, [Value::List(list)]| {
        let last = match ctx.list_len(list).checked_sub(1) {
            Some(last) => ctx.list_get(list, last)?,
            None => None,
        };
        Ok(Value::Optional(last.map(Arc::new)))
    },
    "list_first": "<list(V)>.first() -> optional(V)" => |ctx, [Value::List(list)]| {
        Ok(Value::Optional(ctx.list_get(list, 0)?.map(Arc::new)))
    },
    "optional_unwrap": "optional.unwrap(list(optional(V))) -> list(V)" = Guarded(unwrap),
    "optional_unwrapOpt": "<list(optional(V))>.unwrapOpt() -> list(V)" = Guarded(unwrap),
};

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
        Value::Map(Map::Domains(..)) => false,
        Value::Map(map) => map.len() == 0,
        _ => false,
    }
}
