//! Arithmetic and order. Mirrors `overflow.go`, `compare.go` and the operators of `common/types` (cel-go v0.29).

use std::cmp::Ordering;

use super::{Fault, Outcome, Value, time};
use crate::eval::Context;

/// Capability of a type, as operators ask the type of their left operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trait {
    Adder,
    Comparer,
    Divider,
    Lister,
    Matcher,
    Modder,
    Multiplier,
    Negator,
    Receiver,
    Sizer,
    Subtractor,
}

/// Returns whether the type of `value` has `wanted`.
pub(crate) fn has_trait(value: &Value<'_>, wanted: Trait) -> bool {
    use Value::{Bool, Bytes, Double, Duration, Int, List, Map, String, Timestamp, Uint};
    match wanted {
        Trait::Adder => {
            matches!(
                value,
                Bytes(_) | Double(_) | Duration(_) | Int(_) | List(_) | String(_) | Timestamp(_) | Uint(_)
            )
        }
        Trait::Comparer => matches!(
            value,
            Bool(_) | Bytes(_) | Double(_) | Duration(_) | Int(_) | String(_) | Timestamp(_) | Uint(_)
        ),
        Trait::Divider | Trait::Multiplier => matches!(value, Double(_) | Int(_) | Uint(_)),
        Trait::Lister => matches!(value, List(_)),
        Trait::Matcher => matches!(value, String(_)),
        Trait::Modder => matches!(value, Int(_) | Uint(_)),
        Trait::Negator => matches!(value, Bool(_) | Double(_) | Duration(_) | Int(_)),
        Trait::Receiver => matches!(value, Duration(_) | String(_) | Timestamp(_)),
        Trait::Sizer => matches!(value, Bytes(_) | List(_) | Map(_) | String(_)),
        Trait::Subtractor => matches!(value, Double(_) | Duration(_) | Int(_) | Timestamp(_) | Uint(_)),
    }
}

pub(crate) fn int_overflow() -> Fault {
    Fault::error("integer overflow")
}

fn uint_overflow() -> Fault {
    Fault::error("unsigned integer overflow")
}

fn int<'a>(value: Option<i64>) -> Outcome<'a> {
    value.map(Value::Int).ok_or_else(int_overflow)
}

fn uint<'a>(value: Option<u64>) -> Outcome<'a> {
    value.map(Value::Uint).ok_or_else(uint_overflow)
}

fn duration<'a>(value: Option<i64>) -> Outcome<'a> {
    value.map(Value::Duration).ok_or_else(int_overflow)
}

/// `left + right`, where `left` has [`Trait::Adder`].
pub(crate) fn add<'a>(ctx: &mut Context<'a>, left: &Value<'a>, right: &Value<'a>) -> Outcome<'a> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_add(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_add(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left + right)),
        (Value::String(left), Value::String(right)) => {
            ctx.allocate(left.len() + right.len())?;
            Ok(Value::string([&**left, &**right].concat()))
        }
        (Value::Bytes(left), Value::Bytes(right)) => {
            ctx.allocate(left.len() + right.len())?;
            Ok(Value::Bytes([&**left, &**right].concat().into()))
        }
        (Value::List(left), Value::List(right)) => ctx.concat(left, right).map(Value::List),
        (Value::Duration(left), Value::Duration(right)) => duration(left.checked_add(*right)),
        (Value::Duration(duration), Value::Timestamp(timestamp))
        | (Value::Timestamp(timestamp), Value::Duration(duration)) => {
            time::add_duration(*timestamp, *duration).map(Value::Timestamp)
        }
        _ => Err(Fault::no_such_overload()),
    }
}

/// `left - right`, where `left` has [`Trait::Subtractor`].
pub(crate) fn subtract<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(left), Value::Int(right)] => int(left.checked_sub(*right)),
        [Value::Uint(left), Value::Uint(right)] => uint(left.checked_sub(*right)),
        [Value::Double(left), Value::Double(right)] => Ok(Value::Double(left - right)),
        [Value::Duration(left), Value::Duration(right)] => duration(left.checked_sub(*right)),
        [Value::Timestamp(left), Value::Duration(right)] => {
            let negated = right.checked_neg().ok_or_else(int_overflow)?;
            time::add_duration(*left, negated).map(Value::Timestamp)
        }
        [Value::Timestamp(left), Value::Timestamp(right)] => {
            time::between(*left, *right).map(Value::Duration)
        }
        _ => Err(Fault::no_such_overload()),
    }
}

/// `left * right`, where `left` has [`Trait::Multiplier`].
pub(crate) fn multiply<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(left), Value::Int(right)] => int(left.checked_mul(*right)),
        [Value::Uint(left), Value::Uint(right)] => uint(left.checked_mul(*right)),
        [Value::Double(left), Value::Double(right)] => Ok(Value::Double(left * right)),
        _ => Err(Fault::no_such_overload()),
    }
}

/// `left / right`, where `left` has [`Trait::Divider`].
pub(crate) fn divide<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => {
            Err(Fault::error("division by zero"))
        }
        [Value::Int(left), Value::Int(right)] => int(left.checked_div(*right)),
        [Value::Uint(left), Value::Uint(right)] => Ok(Value::Uint(left / right)),
        [Value::Double(left), Value::Double(right)] => Ok(Value::Double(left / right)),
        _ => Err(Fault::no_such_overload()),
    }
}

/// `left % right`, where `left` has [`Trait::Modder`].
pub(crate) fn modulo<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => {
            Err(Fault::error("modulus by zero"))
        }
        [Value::Int(left), Value::Int(right)] => int(left.checked_rem(*right)),
        [Value::Uint(left), Value::Uint(right)] => Ok(Value::Uint(left % right)),
        _ => Err(Fault::no_such_overload()),
    }
}

/// `-value`, where `value` has [`Trait::Negator`].
pub(crate) fn negate<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(value)] => int(value.checked_neg()),
        [Value::Double(value)] => Ok(Value::Double(-value)),
        [Value::Duration(value)] => duration(value.checked_neg()),
        _ => Err(Fault::no_such_overload()),
    }
}

/// The order of two values, where `left` has [`Trait::Comparer`].
pub(crate) fn compare(left: &Value<'_>, right: &Value<'_>) -> Result<Ordering, Fault> {
    let unordered = || Err(Fault::error("NaN values cannot be ordered"));
    Ok(match (left, right) {
        (Value::Double(left), _) if left.is_nan() => return unordered(),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Double(right)) if right.is_nan() => {
            return unordered();
        }
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        (Value::Uint(left), Value::Uint(right)) => left.cmp(right),
        (Value::Double(left), Value::Double(right)) => compare_doubles(*left, *right),
        (Value::Int(left), Value::Uint(right)) => compare_int_uint(*left, *right),
        (Value::Uint(left), Value::Int(right)) => compare_int_uint(*right, *left).reverse(),
        (Value::Double(left), Value::Int(right)) => compare_doubles(*left, *right as f64),
        (Value::Int(left), Value::Double(right)) => compare_doubles(*left as f64, *right),
        (Value::Double(left), Value::Uint(right)) => compare_doubles(*left, *right as f64),
        (Value::Uint(left), Value::Double(right)) => compare_doubles(*left as f64, *right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.as_bytes().cmp(right.as_bytes()),
        (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
        (Value::Duration(left), Value::Duration(right)) => left.cmp(right),
        (Value::Timestamp(left), Value::Timestamp(right)) => left.instant().cmp(&right.instant()),
        _ => return Err(Fault::no_such_overload()),
    })
}

/// Returns whether two numbers are equal, whatever their types. `None` if one is not a number.
pub(crate) fn numbers_equal(left: &Value<'_>, right: &Value<'_>) -> Option<bool> {
    let is_number = |value: &Value<'_>| matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_));
    (is_number(left) && is_number(right)).then(|| compare(left, right) == Ok(Ordering::Equal))
}

/// The order of two floats that are numbers. An integer beside one is compared as the nearest float: what is beyond the integers of
/// its type is beyond those floats too.
fn compare_doubles(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or(Ordering::Equal)
}

fn compare_int_uint(left: i64, right: u64) -> Ordering {
    match u64::try_from(left) {
        Ok(left) => left.cmp(&right),
        Err(_) => Ordering::Less,
    }
}

/// 2⁶³ as a float, which is also what `i64::MAX` rounds to.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// The integer part, if it fits. The bounds themselves do not.
pub(crate) fn double_to_int(value: f64) -> Result<i64, Fault> {
    if value.is_nan() || value <= -TWO_TO_63 || value >= TWO_TO_63 {
        return Err(int_overflow());
    }
    Ok(value as i64)
}

/// The integer part, if it fits.
pub(crate) fn double_to_uint(value: f64) -> Result<u64, Fault> {
    if !(0.0..2.0 * TWO_TO_63).contains(&value) {
        return Err(uint_overflow());
    }
    Ok(value as u64)
}

/// The integer that equals the float.
pub(crate) fn lossless_int(value: f64) -> Option<i64> {
    double_to_int(value).ok().filter(|int| *int as f64 == value)
}

/// The unsigned integer that equals the float.
pub(crate) fn lossless_uint(value: f64) -> Option<u64> {
    double_to_uint(value).ok().filter(|uint| *uint as f64 == value)
}

pub(crate) fn int_to_uint(value: i64) -> Result<u64, Fault> {
    u64::try_from(value).map_err(|_| uint_overflow())
}

pub(crate) fn uint_to_int(value: u64) -> Result<i64, Fault> {
    i64::try_from(value).map_err(|_| int_overflow())
}
