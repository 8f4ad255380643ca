//! Overload of a function for given arguments.
//!
//! Mirrors `common/decls/decls.go` (cel-go v0.29): an overload the checker settled on is guarded by its argument types;
//! if several remain, the first whose types agree is called. Of lists and maps only the first element is looked at.

use super::{Binding, Overload};
use crate::eval::Context;
use crate::types::Type;
use crate::value::numbers::{Trait, has_trait};
use crate::value::{Fault, Kind, Outcome, Value};

/// Requirement on an argument.
#[derive(Debug)]
pub(crate) enum Guard {
    Any,
    /// A value of this type; none for a type that no value has.
    Of(Option<Kind>),
    List(Box<Guard>),
    Map(Box<(Guard, Guard)>),
}

impl Guard {
    pub(crate) fn of(declared: &Type) -> Self {
        match declared {
            Type::Dyn | Type::Any | Type::Param(_) => Self::Any,
            Type::List(element) => Self::List(Box::new(Self::of(element))),
            Type::Map(entry) => Self::Map(Box::new((Self::of(&entry.0), Self::of(&entry.1)))),
            other => Self::Of(Kind::called(other.name())),
        }
    }

    fn accepts<'a>(&self, ctx: &Context<'a>, value: &Value<'a>) -> bool {
        match (self, value) {
            (Self::Any, _) => true,
            (Self::Of(kind), _) => *kind == Some(value.kind()),
            (Self::List(element), Value::List(list)) => ctx
                .list_get(list, 0)
                .ok()
                .flatten()
                .is_none_or(|first| element.accepts(ctx, &first)),
            (Self::Map(entry), Value::Map(map)) => match map.keys().first() {
                Some(key) => {
                    entry.0.accepts(ctx, key)
                        && map.find(key).is_none_or(|value| entry.1.accepts(ctx, &value))
                }
                None => true,
            },
            _ => false,
        }
    }
}

impl Overload {
    fn accepts<'a>(&self, ctx: &Context<'a>, args: &[Value<'a>]) -> bool {
        self.guards.len() == args.len()
            && self
                .guards
                .iter()
                .zip(args)
                .all(|(guard, arg)| guard.accepts(ctx, arg))
    }

    /// Calls this overload.
    pub(crate) fn call<'a>(&self, ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
        match self.binding {
            Binding::Guarded(op) | Binding::Stepwise(op) => {
                if self.accepts(ctx, args) {
                    op(ctx, args)
                } else {
                    Err(no_such_overload(self.function, args))
                }
            }
            Binding::Unguarded(op) => op(ctx, args),
            Binding::Shared(wanted, op) => call_shared(ctx, self.function, wanted, op, args),
            Binding::None => Err(Fault::error(format!("no such overload: {}", self.function))),
        }
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
