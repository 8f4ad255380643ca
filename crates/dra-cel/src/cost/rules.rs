//! The cost of a call while evaluating.
//!
//! Mirrors three places that cel-go asks in this order: trackers by overload (`ext/lists.go`, `ext/sets.go`), the API
//! server's table by function (`library/cost.go`, `CallCost`), and the defaults by overload (`runtimecost.go`,
//! `costCall`). The order and all weights are those of cel-go v0.29 and apiserver v0.37.1. Arguments that are errors
//! have size one.

use std::collections::HashMap;
use std::sync::Arc;

use super::{LIST_BASE, REGEX_FACTOR, STRING_FACTOR, STRUCT_BASE};
use crate::ast::operators;
use crate::eval::Context;
use crate::release::Release;
use crate::value::list::List;
use crate::value::map::Map;
use crate::value::numbers::{Trait, has_trait};
use crate::value::{Fault, Value};

/// Cost rule of one call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    One,
    /// An authorization check, were there an authorizer to ask.
    Authorization,
    /// Reading a label or field selector.
    Selector,
    /// The size of a list that is made.
    ListResult,
    ListFlatten,
    /// The same, where a negative depth makes it less than nothing.
    ListFlattenWrapping,
    /// Comparing the elements of the argument with this number among each other.
    ListSelf(usize),
    Sets(f64),
    /// Going through the first argument as a tree.
    Traversal,
    /// Characters of the argument with this number, times a weight.
    Text(usize, f64),
    JoinResult,
    Find,
    ContainsIp {
        parses: bool,
    },
    ContainsCidr {
        parses: bool,
    },
    Validate,
    Equals,
    InList,
    /// The lesser of both sizes.
    LesserSize,
    BothSizes,
    Matches,
    Contains,
}

/// An argument or a result: `None` for an error.
type Seen<'v, 'a> = Option<&'v Value<'a>>;

impl Rule {
    /// The rule for a call of `function` in `release`, with the overload if the checker settled on one.
    pub(crate) fn of(function: &str, overload: Option<&str>, release: Release) -> Self {
        let overload = overload.unwrap_or("");
        if release.miscounts_calls {
            match overload {
                "list_flatten_int" => return Self::ListFlattenWrapping,
                "starts_with_string" | "ends_with_string" => return Self::Text(0, STRING_FACTOR),
                "matches" | "dra_includes_dyn_dyn" => return Self::One,
                _ => {}
            }
        }
        match overload {
            "list_slice" | "lists_range" | "list_reverse" => return Self::ListResult,
            "list_flatten" | "list_flatten_int" => return Self::ListFlatten,
            "list_distinct" => return Self::ListSelf(0),
            "list_sets_contains_list" | "list_sets_intersects_list" => return Self::Sets(1.0),
            "list_sets_equivalent_list" => return Self::Sets(2.0),
            _ if overload.ends_with("_sortByAssociatedKeys") => return Self::ListSelf(1),
            _ if overload.starts_with("list_") && overload.ends_with("_sort") => return Self::ListSelf(0),
            _ => {}
        }
        match function {
            "check" => return Self::Authorization,
            "fieldSelector" | "labelSelector" => return Self::Selector,
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes" => {
                return Self::Traversal;
            }
            "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR"
            | "quantity" | "isQuantity" | "semver" | "isSemver" => return Self::Text(0, STRING_FACTOR),
            "replace" | "split" | "ip.isCanonical" => return Self::Text(0, 2.0 * STRING_FACTOR),
            "join" => return Self::JoinResult,
            "find" | "findAll" => return Self::Find,
            "ip" if overload == "cidr_ip" => return Self::One,
            "ip" => return Self::Text(0, STRING_FACTOR),
            "containsIP" => {
                return Self::ContainsIp {
                    parses: overload == "cidr_contains_ip_string",
                };
            }
            "containsCIDR" => {
                return Self::ContainsCidr {
                    parses: overload == "cidr_contains_cidr_string",
                };
            }
            "validate" => return Self::Validate,
            operators::EQUALS => return Self::Equals,
            _ => {}
        }
        match overload {
            "starts_with_string" | "ends_with_string" => Self::Text(1, STRING_FACTOR),
            "string_to_bytes" | "bytes_to_string" | "strings_quote" | "string_format" => {
                Self::Text(0, STRING_FACTOR)
            }
            "in_list" => Self::InList,
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "not_equals" => Self::LesserSize,
            "add_string" | "add_bytes" => Self::BothSizes,
            "matches" | "matches_string" => Self::Matches,
            "contains_string" => Self::Contains,
            _ => Self::One,
        }
    }

    /// The cost of a call with these arguments.
    pub(crate) fn cost<'a>(
        self,
        ctx: &mut Context<'a>,
        args: &[Seen<'_, 'a>],
        result: Seen<'_, 'a>,
    ) -> Result<u64, Fault> {
        let arg = |position: usize| args.get(position).copied().flatten();
        let size = |ctx: &Context<'a>, seen: Seen<'_, 'a>| seen.map_or(1, |value| ctx.size(value));
        let deep_size =
            |ctx: &Context<'a>, seen: Seen<'_, 'a>| seen.map_or(1, |value| ctx.size_in_optional(value));
        let parsing = |ctx: &Context<'a>, parses: bool| {
            if parses {
                weighted(size(ctx, arg(1)), STRING_FACTOR)
            } else {
                0
            }
        };
        Ok(match self {
            Self::One => 1,
            Self::Authorization => 350_000,
            Self::Selector => {
                let length = size(ctx, arg(1));
                LIST_BASE
                    + weighted(length, STRING_FACTOR)
                    + weighted(length, 0.5) * (LIST_BASE + STRUCT_BASE)
            }
            Self::ListResult => allocating(1.0, size(ctx, result)),
            Self::ListFlatten | Self::ListFlattenWrapping => {
                let depth = match args {
                    [_, Some(Value::Int(depth))] => *depth as f64,
                    [_, None] => return Err(Fault::panic(type_assertion("*types.Err", "types.Int"))),
                    [_, Some(other)] => {
                        return Err(Fault::panic(type_assertion(other.go_type(), "types.Int")));
                    }
                    _ => 1.0,
                };
                let length = size(ctx, arg(0));
                if depth < 0.0 && matches!(self, Self::ListFlattenWrapping) {
                    ((length as f64 * depth) as i64 as u64).wrapping_add(1 + LIST_BASE)
                } else {
                    allocating(depth, length)
                }
            }
            Self::ListSelf(position) => match arg(position) {
                Some(Value::List(list)) => {
                    let length = ctx.list_len(list) as u64;
                    let text = matches!(ctx.list_get(list, 0)?, Some(Value::String(_) | Value::Bytes(_)));
                    let factor = if text { 2.0 + STRING_FACTOR } else { 2.0 };
                    allocating(factor, length.saturating_mul(length))
                }
                other => return Err(not_a_list(other)),
            },
            Self::Sets(factor) => {
                let product = size(ctx, arg(0)).wrapping_mul(size(ctx, arg(1)));
                1_u64.saturating_add((product as f64 * factor) as u64)
            }
            Self::Traversal => match arg(0) {
                Some(value) => traverse(ctx, value, &mut Joined::default())?,
                None => 1,
            },
            // The defaults take the size of what an optional holds, the API server's table does not. No optional gets past the types of the
            // functions concerned, so the difference is for arguments that are refused.
            Self::Text(1, factor) => weighted(deep_size(ctx, arg(1)), factor),
            Self::Text(position, factor) => weighted(size(ctx, arg(position)), factor),
            Self::JoinResult => weighted(size(ctx, result), 2.0 * STRING_FACTOR),
            Self::Find => matching(size(ctx, arg(0)), size(ctx, arg(1))),
            Self::ContainsIp { parses } => {
                let cidr = size(ctx, arg(0));
                weighted(cidr + cidr, STRING_FACTOR) + parsing(ctx, parses)
            }
            Self::ContainsCidr { parses } => {
                let cidr = size(ctx, arg(0));
                let networks = weighted(cidr + cidr, STRING_FACTOR) + weighted(cidr, STRING_FACTOR);
                networks + 1 + parsing(ctx, parses)
            }
            Self::Validate => match arg(0) {
                Some(Value::Format(format)) => matching(size(ctx, arg(1)), format.regex_size),
                _ => 1,
            },
            Self::Equals => match arg(0) {
                Some(left) if left.is_of_api_server() => 1,
                left => weighted(deep_size(ctx, left).min(deep_size(ctx, arg(1))), STRING_FACTOR),
            },
            Self::InList => deep_size(ctx, arg(1)),
            Self::LesserSize => weighted(deep_size(ctx, arg(0)).min(deep_size(ctx, arg(1))), STRING_FACTOR),
            Self::BothSizes => weighted(deep_size(ctx, arg(0)) + deep_size(ctx, arg(1)), STRING_FACTOR),
            Self::Matches => matching(deep_size(ctx, arg(0)), deep_size(ctx, arg(1))),
            Self::Contains => {
                let text = weighted(deep_size(ctx, arg(0)), STRING_FACTOR);
                text.wrapping_mul(weighted(deep_size(ctx, arg(1)), STRING_FACTOR))
            }
        })
    }
}

fn weighted(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

/// The cost of a regular expression on a text.
fn matching(text: u64, pattern: u64) -> u64 {
    let text = ((1.0 + text as f64) * STRING_FACTOR).ceil() as u64;
    text.wrapping_mul(weighted(pattern, REGEX_FACTOR))
}

fn allocating(factor: f64, size: u64) -> u64 {
    let factor = if factor < 0.0 { 1.0 } else { factor };
    ((size as f64 * factor) as u64)
        .saturating_add(1)
        .saturating_add(LIST_BASE)
}

fn type_assertion(found: &str, wanted: &str) -> String {
    format!("interface conversion: ref.Val is {found}, not {wanted}")
}

/// The panic of Go's type assertion to a list.
pub(crate) fn not_a_list(value: Seen<'_, '_>) -> Fault {
    match value {
        None => Fault::conversion("*types.Err", "traits.Lister", "Add"),
        Some(value) => {
            let adds = has_trait(value, Trait::Adder);
            let method = if adds { "Contains" } else { "Add" };
            Fault::conversion(value.go_type(), "traits.Lister", method)
        }
    }
}

/// The costs of lists made by `+`, by address.
type Joined = HashMap<usize, u64>;

/// Mirrors `library/cost.go`, `traversalCost` (apiserver v0.37.1), which counts bytes and rounds each string down.
fn traverse<'a>(ctx: &mut Context<'a>, value: &Value<'a>, joined: &mut Joined) -> Result<u64, Fault> {
    ctx.work(1)?;
    Ok(match value {
        Value::String(text) => (text.len() as f64 * STRING_FACTOR) as u64,
        Value::Bytes(bytes) => (bytes.len() as f64 * STRING_FACTOR) as u64,
        Value::List(list) => ctx.nested(|ctx| traverse_list(ctx, list, joined))?,
        Value::Map(map) => ctx.nested(|ctx| traverse_map(ctx, map, joined))?,
        _ => 1,
    })
}

/// A list made by `+` can hold another one very often, which is gone through once.
fn traverse_list<'a>(ctx: &mut Context<'a>, list: &List<'a>, joined: &mut Joined) -> Result<u64, Fault> {
    let mut cost = 0_u64;
    if let List::Concat(concat) = list {
        let address = Arc::as_ptr(concat) as usize;
        if let Some(known) = joined.get(&address) {
            return Ok(*known);
        }
        for part in concat.parts() {
            cost = cost.wrapping_add(traverse_list(ctx, part, joined)?);
        }
        joined.insert(address, cost);
        return Ok(cost);
    }
    for index in 0..ctx.list_len(list) {
        if let Some(element) = ctx.list_get(list, index)? {
            cost = cost.wrapping_add(traverse(ctx, &element, joined)?);
        }
    }
    Ok(cost)
}

fn traverse_map<'a>(ctx: &mut Context<'a>, map: &Map<'a>, joined: &mut Joined) -> Result<u64, Fault> {
    let mut cost = 0_u64;
    for (key, value) in map.looked_up() {
        cost = cost.wrapping_add(traverse(ctx, &key, joined)?);
        cost = cost.wrapping_add(match value {
            Some(value) => traverse(ctx, &value, joined)?,
            // Upstream continues with the error that the key does not exist.
            None => 1,
        });
    }
    Ok(cost)
}
