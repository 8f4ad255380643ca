//! Quantities. Mirrors `library/quantity.go` (apiserver v0.37.1).

use std::cmp::Ordering;
use std::sync::Arc;

use super::Binding::{self, Guarded};
use super::{Declaration, overloads};
use crate::eval::Context;
use crate::value::{Amount, Fault, Outcome, Value};
use dra_values::{Format, Quantity};

const ADD: Binding = Guarded(|ctx, args| combine(ctx, args, Quantity::add));
const SUBTRACT: Binding = Guarded(|ctx, args| combine(ctx, args, Quantity::sub));

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "string_to_quantity": "quantity(string) -> kubernetes.Quantity" => |ctx, [Value::String(text)]| parse(ctx, text),
    "is_quantity_string": "isQuantity(string) -> bool" => |_, [Value::String(text)]| {
        Ok(Value::Bool(text.parse::<Quantity>().is_ok()))
    },
    "quantity_sign": "sign(kubernetes.Quantity) -> int" => |_, [Value::Quantity(quantity)]| {
        Ok(Value::Int(i64::from(quantity.sign())))
    },
    "quantity_is_greater_than":
        "<kubernetes.Quantity>.isGreaterThan(kubernetes.Quantity) -> bool" = Guarded(|ctx, args| {
        Ok(Value::Bool(compare(ctx, args)? == Ordering::Greater))
    }),
    "quantity_is_less_than":
        "<kubernetes.Quantity>.isLessThan(kubernetes.Quantity) -> bool" = Guarded(|ctx, args| {
        Ok(Value::Bool(compare(ctx, args)? == Ordering::Less))
    }),
    "quantity_compare_to":
        "<kubernetes.Quantity>.compareTo(kubernetes.Quantity) -> int" = Guarded(|ctx, args| {
        Ok(Value::Int(compare(ctx, args)? as i64))
    }),
    "quantity_get_float":
        "<kubernetes.Quantity>.asApproximateFloat() -> double" => |_, [Value::Quantity(quantity)]| {
        Ok(Value::Double(quantity.as_approximate_float()))
    },
    "quantity_get_int": "<kubernetes.Quantity>.asInteger() -> int" => |ctx, [Value::Quantity(quantity)]| {
        let int = as_int(ctx, quantity).map(Value::Int);
        int.ok_or_else(|| Fault::error("cannot convert value to integer"))
    },
    "quantity_is_integer": "<kubernetes.Quantity>.isInteger() -> bool" => |ctx, [Value::Quantity(quantity)]| {
        Ok(Value::Bool(as_int(ctx, quantity).is_some()))
    },
    "quantity_add": "<kubernetes.Quantity>.add(kubernetes.Quantity) -> kubernetes.Quantity" = ADD,
    "quantity_add_int": "<kubernetes.Quantity>.add(int) -> kubernetes.Quantity" = ADD,
    "quantity_sub": "<kubernetes.Quantity>.sub(kubernetes.Quantity) -> kubernetes.Quantity" = SUBTRACT,
    "quantity_sub_int": "<kubernetes.Quantity>.sub(int) -> kubernetes.Quantity" = SUBTRACT,
};

fn parse<'a>(ctx: &mut Context<'a>, text: &str) -> Outcome<'a> {
    ctx.work(text.len() as u64)?;
    let quantity = Arc::new(
        text.parse::<Quantity>()
            .map_err(|error| Fault::error(error.to_string()))?,
    );
    ctx.forget_decimal(&quantity);
    Ok(Value::Quantity(Amount::Shared(quantity)))
}

/// The integer that a quantity is, if it is stored as one: decimal digits are not, whatever their value.
fn as_int(ctx: &Context<'_>, quantity: &Quantity) -> Option<i64> {
    if ctx.is_decimal(quantity) {
        return None;
    }
    quantity.as_int()
}

fn compare<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Result<Ordering, Fault> {
    let [Value::Quantity(left), Value::Quantity(right)] = args else {
        return Err(Fault::no_such_overload());
    };
    ctx.note_comparison(left, right);
    Ok(Quantity::cmp(left, right))
}

fn combine<'a>(
    ctx: &mut Context<'a>,
    args: &[Value<'a>],
    operation: fn(&mut Quantity, &Quantity),
) -> Outcome<'a> {
    let converted;
    let (left, right) = match args {
        [Value::Quantity(left), Value::Quantity(right)] => (left, &**right),
        [Value::Quantity(left), Value::Int(right)] => {
            converted = Quantity::new(*right, Format::DecimalExponent);
            (left, &converted)
        }
        _ => return Err(Fault::no_such_overload()),
    };
    let decimal = ctx.is_decimal(left) || ctx.is_decimal(right);
    let mut result = Quantity::clone(left);
    operation(&mut result, right);
    let result = Arc::new(result);
    ctx.forget_decimal(&result);
    if decimal {
        ctx.note_decimal(&result);
    }
    Ok(Value::Quantity(Amount::Pointer(result)))
}
