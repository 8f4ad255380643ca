//! Quantities. Mirrors `library/quantity.go` (apiserver v0.37.1).

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Declaration, global, member};
use crate::eval::Context;
use crate::value::{Amount, Fault, Outcome, Value};
use dra_values::{Format, Quantity};

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = &[
    global(
        "quantity",
        "string_to_quantity",
        "string",
        "kubernetes.Quantity",
        parse,
    ),
    global(
        "isQuantity",
        "is_quantity_string",
        "string",
        "bool",
        |_, args| match args {
            [Value::String(text)] => Ok(Value::Bool(text.parse::<Quantity>().is_ok())),
            _ => Err(Fault::no_such_overload()),
        },
    ),
    global(
        "sign",
        "quantity_sign",
        "kubernetes.Quantity",
        "int",
        |_, args| match args {
            [Value::Quantity(quantity)] => Ok(Value::Int(i64::from(quantity.sign()))),
            _ => Err(Fault::no_such_overload()),
        },
    ),
    member(
        "isGreaterThan",
        "quantity_is_greater_than",
        "kubernetes.Quantity, kubernetes.Quantity",
        "bool",
        |ctx, args| Ok(Value::Bool(compare(ctx, args)? == Ordering::Greater)),
    ),
    member(
        "isLessThan",
        "quantity_is_less_than",
        "kubernetes.Quantity, kubernetes.Quantity",
        "bool",
        |ctx, args| Ok(Value::Bool(compare(ctx, args)? == Ordering::Less)),
    ),
    member(
        "compareTo",
        "quantity_compare_to",
        "kubernetes.Quantity, kubernetes.Quantity",
        "int",
        |ctx, args| Ok(Value::Int(compare(ctx, args)? as i64)),
    ),
    member(
        "asApproximateFloat",
        "quantity_get_float",
        "kubernetes.Quantity",
        "double",
        |_, args| match args {
            [Value::Quantity(quantity)] => Ok(Value::Double(quantity.as_approximate_float())),
            _ => Err(Fault::no_such_overload()),
        },
    ),
    member(
        "asInteger",
        "quantity_get_int",
        "kubernetes.Quantity",
        "int",
        |ctx, args| {
            as_int(ctx, args)?
                .map(Value::Int)
                .ok_or_else(|| Fault::error("cannot convert value to integer"))
        },
    ),
    member(
        "isInteger",
        "quantity_is_integer",
        "kubernetes.Quantity",
        "bool",
        |ctx, args| Ok(Value::Bool(as_int(ctx, args)?.is_some())),
    ),
    member(
        "add",
        "quantity_add",
        "kubernetes.Quantity, kubernetes.Quantity",
        "kubernetes.Quantity",
        |ctx, args| combine(ctx, args, Quantity::add),
    ),
    member(
        "add",
        "quantity_add_int",
        "kubernetes.Quantity, int",
        "kubernetes.Quantity",
        |ctx, args| combine(ctx, args, Quantity::add),
    ),
    member(
        "sub",
        "quantity_sub",
        "kubernetes.Quantity, kubernetes.Quantity",
        "kubernetes.Quantity",
        |ctx, args| combine(ctx, args, Quantity::sub),
    ),
    member(
        "sub",
        "quantity_sub_int",
        "kubernetes.Quantity, int",
        "kubernetes.Quantity",
        |ctx, args| combine(ctx, args, Quantity::sub),
    ),
];

fn parse<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::String(text)] = args else {
        return Err(Fault::no_such_overload());
    };
    ctx.work(text.len() as u64)?;
    let quantity = Arc::new(
        text.parse::<Quantity>()
            .map_err(|error| Fault::error(error.to_string()))?,
    );
    ctx.forget_decimal(&quantity);
    Ok(Value::Quantity(Amount::Shared(quantity)))
}

/// The integer that a quantity is, if it is stored as one: decimal digits are not, whatever their value.
fn as_int<'a>(ctx: &Context<'a>, args: &[Value<'a>]) -> Result<Option<i64>, Fault> {
    match args {
        [Value::Quantity(quantity)] if ctx.is_decimal(quantity) => Ok(None),
        [Value::Quantity(quantity)] => Ok(quantity.as_int()),
        _ => Err(Fault::no_such_overload()),
    }
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
