//! Functions called by macros that build maps. Mirrors `ext/comprehensions.go` (cel-go v0.29).

use super::Binding::{Guarded, Stepwise};
use super::{Declaration, overloads};
use crate::eval::Context;
use crate::value::map::Map;
use crate::value::{Fault, Outcome, Value};

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "@mapInsert_map_key_value": "cel.@mapInsert(map(K, V), K, V) -> map(K, V)" = Stepwise(insert_entry),
    "@mapInsert_map_map": "cel.@mapInsert(map(K, V), map(K, V)) -> map(K, V)" = Guarded(insert_map),
};

/// The accumulator that the macros begin with is empty, and therefore a map that grows in place.
fn insert_entry<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [map @ Value::Map(Map::Mutable(number)), key, value] = args else {
        return Err(Fault::no_such_overload());
    };
    ctx.map_insert(*number, key.clone(), Some(value.clone()))?;
    Ok(map.clone())
}

fn insert_map<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let [map @ Value::Map(Map::Mutable(number)), Value::Map(added)] = args else {
        return Err(Fault::no_such_overload());
    };
    for (key, value) in added.looked_up() {
        ctx.map_insert(*number, key, value)?;
    }
    Ok(map.clone())
}
