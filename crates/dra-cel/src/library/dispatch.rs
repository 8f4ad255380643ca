//! Overload of a function for given arguments.
//!
//! Mirrors `common/decls/decls.go` (cel-go v0.29): the first overload whose argument types agree is called, of the one that the checker
//! settled on, or of all where several remain. Of lists and maps only the first element is looked at.

use super::{Binding, Overload};
use crate::eval::Context;
use crate::types::Type;
use crate::value::numbers::{Trait, has_trait};
use crate::value::{Fault, Outcome, Value};

/// Returns whether an argument is of the declared type.
fn fits<'a>(ctx: &Context<'a>, declared: &Type, value: &Value<'a>) -> bool {
    match (declared, value) {
        (Type::Dyn | Type::Any | Type::Param(_), _) => true,
        (Type::List(element), Value::List(list)) => ctx
            .list_get(list, 0)
            .ok()
            .flatten()
            .is_none_or(|first| fits(ctx, element, &first)),
        (Type::Map(entry), Value::Map(map)) => map.keys().first().is_none_or(|key| {
            fits(ctx, &entry.0, key) && map.find(key).is_none_or(|value| fits(ctx, &entry.1, &value))
        }),
        _ => declared.name() == value.type_name(),
    }
}

impl Overload {
    fn accepts<'a>(&self, ctx: &Context<'a>, args: &[Value<'a>]) -> bool {
        self.args.len() == args.len() && self.args.iter().zip(args).all(|(of, arg)| fits(ctx, of, arg))
    }
}

fn call_shared<'a>(
    ctx: &mut Context<'a>,
    function: &str,
    wanted: Option<Trait>,
    op: super::Op,
    args: &[Value<'a>],
) -> Outcome<'a> {
    let Some(first) = args.first() else {
        return Err(Fault::no_such_overload());
    };
    if wanted.is_none_or(|wanted| has_trait(first, wanted)) {
        op(ctx, args)
    } else if has_trait(first, Trait::Receiver) {
        Err(Fault::no_such_overload())
    } else {
        Err(Fault::error(format!("no such overload: {function}")))
    }
}

/// Calls the first of `overloads` that takes the arguments.
pub(crate) fn dispatch<'a>(
    ctx: &mut Context<'a>,
    overloads: &[&'static Overload],
    args: &[Value<'a>],
) -> Outcome<'a> {
    for overload in overloads {
        match overload.binding {
            Binding::Guarded(op) | Binding::Stepwise(op) if overload.accepts(ctx, args) => {
                return op(ctx, args);
            }
            Binding::Unguarded(op) if overload.args.len() == args.len() => return op(ctx, args),
            Binding::Shared(wanted, op) => return call_shared(ctx, overload.function, wanted, op, args),
            _ => {}
        }
    }
    let function = overloads.first().map_or("", |overload| overload.function);
    Err(no_such_overload(function, args))
}

fn no_such_overload(function: &str, args: &[Value<'_>]) -> Fault {
    let types: Vec<_> = args.iter().map(Value::type_name).collect();
    Fault::error(format!("no such overload: {function}({})", types.join(", ")))
}
