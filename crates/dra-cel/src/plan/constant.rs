//! Part of an expression that can be computed without a device.
//!
//! cel-go computes literals, conversions, and sets of constants, which then cost nothing. Other functions of constants are
//! computed here too, but they cost what they would.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::Frame;
use super::node::{Call, Known, ListNode, MapEntry, Member, Node};
use crate::eval::Context;
use crate::library::dispatch;
use crate::release::Release;
use crate::value::device::DeviceInput;
use crate::value::map::{Entries, Map, MapKey, hashable};
use crate::value::{Value, numbers, text};

/// Conversions, which cel-go computes when their argument is constant.
const CONVERSIONS: [&str; 10] = [
    "bool",
    "bytes",
    "double",
    "duration",
    "dyn",
    "int",
    "string",
    "timestamp",
    "type",
    "uint",
];

/// Functions without side effects that selectors call with constants.
const PURE: [&str; 10] = [
    "quantity",
    "semver",
    "isQuantity",
    "isSemver",
    "ip",
    "cidr",
    "isIP",
    "isCIDR",
    "ip.isCanonical",
    "format.named",
];

/// Runs `compute` without a device.
fn without_device<T>(compute: impl FnOnce(&mut Context<'static>) -> T) -> T {
    static NOTHING: OnceLock<DeviceInput> = OnceLock::new();
    let device = NOTHING.get_or_init(|| DeviceInput::new("", [], [], false));
    let frame = Frame {
        slots: 0,
        release: Release::of(u32::MAX),
    };
    compute(&mut Context::new(device, frame, u64::MAX))
}

fn constant(node: &Node) -> Option<&Value<'static>> {
    match node {
        Node::Constant(value) => Some(value),
        _ => None,
    }
}

pub(super) fn fold_list(list: ListNode) -> Node {
    let constants: Option<Vec<_>> = list.elements.iter().map(constant).collect();
    let Some(constants) = constants else {
        return Node::List(Box::new(list));
    };
    let mut items = Vec::with_capacity(constants.len());
    for (value, optional) in constants.into_iter().zip(&list.optional) {
        if *optional {
            return Node::Broken(text::not_optional("list element", value));
        }
        items.push(value.clone());
    }
    Node::Constant(Value::list(items))
}

pub(super) fn fold_map(map: Vec<MapEntry>) -> Result<Node, String> {
    let constants: Option<Vec<_>> = map
        .iter()
        .map(|entry| Some((constant(&entry.key)?, constant(&entry.value)?, entry.optional)))
        .collect();
    let Some(constants) = constants else {
        return Ok(Node::Map(map));
    };
    let mut entries = Entries::default();
    for (key, value, optional) in constants {
        if optional {
            let place = format!("entry '{}'", text::plain(key));
            return Ok(Node::Broken(text::not_optional(&place, value)));
        }
        hashable(key).map_err(|unhashable| unhashable.to_string())?;
        entries.insert(key.clone(), value.clone());
    }
    Ok(Node::Constant(Value::Map(Map::of_entries(entries))))
}

pub(super) fn fold_call(call: Call) -> Result<Node, String> {
    let function = call.function();
    if CONVERSIONS.contains(&function) {
        return match call.args.as_slice() {
            [Node::Constant(value)] => {
                match without_device(|ctx| dispatch(ctx, &call.overloads, std::slice::from_ref(value))) {
                    Ok(value) => Ok(Node::Constant(value)),
                    Err(fault) => Err(fault.message().to_owned()),
                }
            }
            [Node::Broken(fault)] => Err(fault.message().to_owned()),
            _ => Ok(Node::Call(Box::new(call))),
        };
    }
    if matches!(call.overloads.as_slice(), [only] if only.id == "in_list") {
        return Ok(fold_membership(call));
    }
    let is_pure = PURE.contains(&function) || (function.starts_with("format.") && call.args.is_empty());
    let constants: Option<Vec<_>> = call.args.iter().map(|arg| constant(arg).cloned()).collect();
    match constants {
        Some(args) if is_pure => without_device(|ctx| {
            let outcome = dispatch(ctx, &call.overloads, &args);
            let seen: Vec<_> = args.iter().map(Some).collect();
            match call.rule.cost(ctx, &seen, outcome.as_ref().ok()) {
                Ok(cost) => Ok(Node::Known(Box::new(Known { outcome, cost }))),
                Err(fault) => Err(fault.message().to_owned()),
            }
        }),
        _ => Ok(Node::Call(Box::new(call))),
    }
}

/// `in` a list of constants of simple types is a lookup.
fn fold_membership(mut call: Call) -> Node {
    let Some(Node::Constant(Value::List(list))) = call.args.get(1) else {
        return Node::Call(Box::new(call));
    };
    if list.len() == 0 {
        return Node::Constant(Value::Bool(false));
    }
    let mut set = HashSet::new();
    for item in (0..list.len()).filter_map(|index| list.get(index)) {
        match &item {
            Value::Bool(_) | Value::String(_) => {}
            Value::Double(value) => {
                set.extend(numbers::lossless_int(*value).map(MapKey::Int));
                set.extend(numbers::lossless_uint(*value).map(MapKey::Uint));
                if value.is_nan() {
                    continue;
                }
            }
            Value::Int(value) => {
                set.extend(MapKey::of(&Value::Double(*value as f64)));
                set.extend(u64::try_from(*value).map(MapKey::Uint));
            }
            Value::Uint(value) => {
                set.extend(MapKey::of(&Value::Double(*value as f64)));
                set.extend(i64::try_from(*value).map(MapKey::Int));
            }
            _ => return Node::Call(Box::new(call)),
        }
        set.extend(MapKey::of(&item));
    }
    call.args.truncate(1);
    match call.args.pop() {
        Some(value) => Node::Member(Box::new(Member::new(value, set))),
        None => Node::Call(Box::new(call)),
    }
}
