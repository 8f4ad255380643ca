//! Estimates by function. cel-go asks in this order: [`by_overload`] of its extensions (`ext/lists.go`, `ext/sets.go`, v0.29),
//! [`by_function`] of the API server (`library/cost.go`, `EstimateCallCost`, apiserver v0.37.1), [`by_default`] (`checker/cost.go`).

use super::amount::Range;
use super::place::{Limits, Place};
use super::{CallEstimate, Node};
use crate::ast::{Expr, ExprKind, Literal, operators};
use crate::cost::{LIST_BASE, REGEX_FACTOR, STRING_FACTOR, STRUCT_BASE};
use crate::types::Type;

const ONE: Range = Range::fixed(1);

/// The size of a node as the libraries ask for it.
fn size(limits: &Limits, node: &Node<'_>) -> Range {
    node.size
        .or_else(|| limits.size(node.place))
        .unwrap_or(Range::ANY)
}

/// The number that a node is, if it is written down.
fn literal_int(node: &Node<'_>) -> Option<i64> {
    match node.expr {
        Some(Expr {
            kind: ExprKind::Literal(Literal::Int(value)),
            ..
        }) => Some(*value),
        _ => None,
    }
}

fn uint_or(node: &Node<'_>, default: u64) -> u64 {
    literal_int(node).map_or(default, |value| u64::try_from(value).unwrap_or(0))
}

/// A call that makes a list.
fn allocating(factor: f64, size: Range) -> CallEstimate {
    CallEstimate::sized(size.times(factor).add(Range::fixed(1 + LIST_BASE)), size)
}

/// Estimates of cel-go's extensions.
pub(super) fn by_overload(
    limits: &Limits,
    overload: &str,
    target: Option<Node<'_>>,
    args: &[Node<'_>],
) -> Option<CallEstimate> {
    let sorted = |node: &Node<'_>| {
        let text = overload.starts_with("list_string_") || overload.starts_with("list_bytes_");
        let size = size(limits, node);
        allocating(if text { 2.0 + STRING_FACTOR } else { 2.0 }, size.multiply(size))
    };
    Some(match (overload, &target, args) {
        ("list_slice", Some(list), [start, end]) => {
            let end = uint_or(end, size(limits, list).max);
            allocating(1.0, Range::fixed(end.wrapping_sub(uint_or(start, 0))))
        }
        ("lists_range", None, [length]) => allocating(1.0, Range::fixed(uint_or(length, u64::MAX))),
        ("list_reverse", Some(list), []) => allocating(1.0, size(limits, list)),
        ("list_flatten", Some(list), []) => allocating(1.0, size(limits, list)),
        ("list_flatten_int", Some(list), [depth]) => {
            allocating(uint_or(depth, u64::MAX) as f64, size(limits, list))
        }
        ("list_distinct", Some(list), []) => {
            let size = size(limits, list);
            allocating(2.0, size.multiply(size))
        }
        (_, Some(list), []) if overload.starts_with("list_") && overload.ends_with("_sort") => sorted(list),
        (_, Some(_), [keys]) if overload.ends_with("_sortByAssociatedKeys") => sorted(keys),
        (
            "list_sets_contains_list" | "list_sets_intersects_list" | "list_sets_equivalent_list",
            _,
            [left, right],
        ) => {
            let factor = if overload == "list_sets_equivalent_list" {
                2.0
            } else {
                1.0
            };
            let product = size(limits, left).multiply(size(limits, right));
            CallEstimate::of(product.times(factor).add(ONE))
        }
        _ => return None,
    })
}

/// The node that stands for the elements of a list.
fn element<'e>(list: &Node<'e>) -> Option<Node<'e>> {
    let of = list.of.params().into_iter().next()?;
    let place = if list.place == Place::Nowhere {
        Place::Nowhere
    } else {
        list.place.step("@items")
    };
    Some(Node {
        place,
        of,
        expr: None,
        size: None,
    })
}

/// Estimates of the API server.
pub(super) fn by_function(
    limits: &Limits,
    function: &str,
    overload: &str,
    target: Option<Node<'_>>,
    args: &[Node<'_>],
) -> Option<CallEstimate> {
    let size = |node: &Node<'_>| size(limits, node);
    let target = target.as_ref();
    let estimate = match (function, args) {
        // As many values as an attribute can have, whatever the target is.
        ("includes", _) if overload == "dra_includes_dyn_dyn" => {
            target?;
            CallEstimate::of(Range { min: 0, max: 48 })
        }
        ("check", _) => CallEstimate::of(Range::fixed(350_000)),
        (
            "serviceAccount"
            | "path"
            | "group"
            | "resource"
            | "subresource"
            | "namespace"
            | "name"
            | "allowed"
            | "reason"
            | "error"
            | "errored"
            | "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast"
            | "format.named"
            | "sign"
            | "asInteger"
            | "isInteger"
            | "asApproximateFloat"
            | "isGreaterThan"
            | "isLessThan"
            | "compareTo"
            | "add"
            | "sub"
            | "major"
            | "minor"
            | "patch"
            | "getScheme"
            | "getHostname"
            | "getHost"
            | "getPort"
            | "getEscapedPath"
            | "getQuery",
            _,
        ) => CallEstimate::of(ONE),
        ("fieldSelector" | "labelSelector", [selector]) => CallEstimate::of(selector_cost(size(selector))),
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes", _) => {
            let target = target?;
            CallEstimate::of(match element(target) {
                Some(element) => {
                    let each = if matches!(element.of, Type::String | Type::Bytes) {
                        ONE.add(size(&element).traversed())
                    } else {
                        ONE
                    };
                    size(target).multiply(each)
                }
                None if function == "includes" => size(target),
                None => size(target).traversed(),
            })
        }
        ("url", [text]) => CallEstimate::sized(size(text).traversed(), size(text)),
        ("lowerAscii" | "upperAscii" | "substring" | "trim", _) => {
            let size = size(target?);
            CallEstimate::sized(size.traversed(), size)
        }
        ("replace", [old, new, ..]) => {
            let text = size(target?);
            CallEstimate::sized(
                text.times(2.0 * STRING_FACTOR),
                replaced(text, size(old), size(new)),
            )
        }
        ("split", _) => {
            let text = size(target?);
            let parts = args
                .get(1)
                .and_then(literal_int)
                .map_or(text.max, |limit| limit as u64);
            CallEstimate::sized(text.times(2.0 * STRING_FACTOR), Range { min: 0, max: parts })
        }
        ("join", _) => {
            let list = target?;
            let length = size(list);
            let mut joined = element(list).map_or(Range::fixed(0), |element| length.multiply(size(&element)));
            if let Some(separator) = args.first() {
                let separators = Range {
                    min: length.min.saturating_sub(1),
                    max: length.max.saturating_sub(1),
                };
                joined = joined.add(size(separator).multiply(separators));
            }
            CallEstimate::sized(joined.traversed(), joined)
        }
        ("find" | "findAll", [pattern, ..]) => {
            let text = size(target?);
            let cost = text.add(ONE).traversed().multiply(size(pattern).matched());
            CallEstimate::sized(
                cost,
                Range {
                    min: 0,
                    max: text.max,
                },
            )
        }
        ("ip", _) if overload == "cidr_ip" => CallEstimate::of(ONE),
        (
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver",
            [text, ..],
        ) => CallEstimate::of(size(text).traversed()),
        ("ip.isCanonical", [text, ..]) => CallEstimate::of(size(text).times(2.0 * STRING_FACTOR)),
        ("containsIP" | "containsCIDR", [other, ..]) => {
            let address = Range { min: 4, max: 16 };
            let mut cost = address.add(address).traversed();
            if function == "containsCIDR" {
                cost = cost.add(address.traversed()).add(ONE);
            }
            if matches!(overload, "cidr_contains_ip_string" | "cidr_contains_cidr_string") {
                cost = cost.add(size(other).traversed());
            }
            CallEstimate::of(cost)
        }
        ("validate", [text, ..]) => {
            CallEstimate::of(size(text).traversed().times(FORMAT_PATTERN_SIZE * REGEX_FACTOR))
        }
        (operators::EQUALS, [left, right]) => CallEstimate::of(equality(left, right)?),
        _ => return None,
    };
    Some(estimate)
}

/// The size of the regular expression that any format is estimated with.
const FORMAT_PATTERN_SIZE: f64 = 128.0;

/// The size of a format, which is compared by its name.
const MAX_FORMAT_SIZE: u64 = 64;

/// Equality of the API server's own types.
fn equality(left: &Node<'_>, right: &Node<'_>) -> Option<Range> {
    if left.of.name() != right.of.name() {
        return None;
    }
    match left.of {
        Type::Opaque("net.IP" | "net.CIDR", _) => Some(ONE),
        Type::Struct(name) => match *name {
            "kubernetes.Quantity" | "kubernetes.Semver" => Some(ONE),
            "kubernetes.NamedFormat" => Some(
                Range {
                    min: 1,
                    max: MAX_FORMAT_SIZE,
                }
                .traversed(),
            ),
            "kubernetes.URL" => Some(
                Range {
                    min: 1,
                    max: right.size.map_or(1, |size| size.max),
                }
                .traversed(),
            ),
            _ if name.starts_with("kubernetes.authorization.") => Some(ONE),
            _ => None,
        },
        _ => None,
    }
}

/// The cost of reading a label or field selector of this size.
fn selector_cost(size: Range) -> Range {
    size.traversed()
        .add(size.times(0.5).times((LIST_BASE + STRUCT_BASE) as f64))
        .add(Range::fixed(LIST_BASE))
}

/// The size of a text in which occurrences of one text are replaced by another.
fn replaced(text: Range, old: Range, new: Range) -> Range {
    let (most, most_kept) = if old.min == 0 {
        (text.max.saturating_add(1), text.max)
    } else if new.max <= old.min {
        (0, text.max)
    } else {
        ((text.max as f64 / old.min as f64).ceil() as u64, 0)
    };
    let (least, least_kept) = if old.max == 0 {
        (text.min.saturating_add(1), text.min)
    } else if old.max <= new.min {
        (0, text.min)
    } else {
        ((text.min as f64 / old.max as f64).ceil() as u64, 0)
    };
    Range {
        min: least,
        max: most,
    }
    .multiply(new)
    .add(Range {
        min: least_kept,
        max: most_kept,
    })
}

/// Estimates of cel-go.
pub(super) fn by_default(
    limits: &Limits,
    overload: &str,
    target: Option<Node<'_>>,
    args: &[Node<'_>],
) -> CallEstimate {
    let size = |node: &Node<'_>| node.size.unwrap_or(Range::ANY);
    let cost = match (overload, &target, args) {
        ("string_format", Some(format), _) => size(format).traversed(),
        ("string_to_bytes", _, [text]) => {
            let Range { min, max } = size(text);
            return CallEstimate::sized(
                size(text).traversed(),
                Range {
                    min,
                    max: max.wrapping_mul(4),
                },
            );
        }
        ("bytes_to_string", _, [bytes]) => {
            let Range { min, max } = size(bytes);
            return CallEstimate::sized(size(bytes).traversed(), Range { min: min / 4, max });
        }
        ("strings_quote", _, [text]) => {
            let Range { min, max } = size(text);
            let quoted = Range {
                min: min.wrapping_add(2),
                max: max.wrapping_mul(2).wrapping_add(2),
            };
            return CallEstimate::sized(size(text).traversed(), quoted);
        }
        ("starts_with_string" | "ends_with_string", _, [part]) => size(part).traversed(),
        ("in_list", _, [_, list]) => size(list),
        ("matches", None, _) if limits.release.overlooks_matches => ONE,
        ("matches_string", Some(text), [pattern]) | ("matches", None, [text, pattern]) => {
            size(text).add(ONE).traversed().multiply(size(pattern).matched())
        }
        ("contains_string", Some(text), [part]) => size(text).traversed().multiply(size(part).traversed()),
        (
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals",
            _,
            [left, right],
        ) => {
            let max = size(left).max.min(size(right).max);
            Range {
                min: u64::from(max > 0),
                max,
            }
            .traversed()
        }
        _ => ONE,
    };
    CallEstimate::of(cost)
}
