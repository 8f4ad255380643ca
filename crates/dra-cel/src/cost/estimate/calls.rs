//! Estimates by function.
//!
//! The worst case of what [`Rule`] counts, with the rules of the last release. Mirrors `ext/lists.go` and `ext/sets.go` (cel-go v0.29),
//! `library/cost.go`, `EstimateCallCost` (apiserver v0.37.1), and `checker/cost.go`.

use super::amount::Range;
use super::{CallEstimate, Node};
use crate::ast::{ExprKind, Literal, operators};
use crate::cost::{LIST_BASE, REGEX_FACTOR, Rule, STRING_FACTOR, STRUCT_BASE};
use crate::release::Release;
use crate::types::Type;

const ONE: Range = Range::fixed(1);

/// An address: 4 or 16 bytes.
const ADDRESS: Range = Range { min: 4, max: 16 };

/// As many values as an attribute can have.
const ATTRIBUTE_VALUES: Range = Range::up_to(48);

/// The size of the regular expression that any format is estimated with.
const FORMAT_PATTERN_SIZE: f64 = 128.0;

/// The size of a format, which is compared by its name.
const MAX_FORMAT_SIZE: u64 = 64;

/// The number that a node is, if it is written down.
fn literal_int(node: &Node<'_>) -> Option<i64> {
    match &node.expr.kind {
        ExprKind::Literal(Literal::Int(value)) => Some(*value),
        _ => None,
    }
}

fn uint_or(node: &Node<'_>, default: u64) -> u64 {
    literal_int(node).map_or(default, |value| u64::try_from(value).unwrap_or(0))
}

/// The cost of making a list.
fn allocating(factor: f64, size: Range) -> Range {
    size.times(factor).add(Range::fixed(1 + LIST_BASE))
}

/// The type and the size of the elements of a list.
fn elements<'e>(list: &Node<'e>) -> Option<(&'e Type, Range)> {
    let of = list.of.params().into_iter().next()?;
    Some((of, list.place.step("@items").size().unwrap_or(Range::ANY)))
}

/// The estimate of a call. `args` begin with the receiver.
pub(super) fn estimate(release: Release, function: &str, overload: &str, args: &[Node<'_>]) -> CallEstimate {
    let size = |position: usize| args.get(position).map_or(Range::ANY, Node::size_or_any);
    let made = made(function, overload, args);
    let parsing = |parses: bool| {
        if parses {
            size(1).traversed()
        } else {
            Range::fixed(0)
        }
    };
    let cost = match (Rule::of(function, Some(overload), Release::of(u32::MAX)), args) {
        (Rule::Authorization, _) => Range::fixed(350_000),
        (Rule::Selector, _) => size(1)
            .traversed()
            .add(size(1).times(0.5).times((LIST_BASE + STRUCT_BASE) as f64))
            .add(Range::fixed(LIST_BASE)),
        (Rule::ListResult, _) => allocating(1.0, made.unwrap_or(Range::ANY)),
        (Rule::ListFlatten, [_, depth]) => allocating(uint_or(depth, u64::MAX) as f64, size(0)),
        (Rule::ListFlatten, _) => allocating(1.0, size(0)),
        (Rule::ListSelf(_), _) => {
            let text = overload.starts_with("list_string_") || overload.starts_with("list_bytes_");
            let factor = if text { 2.0 + STRING_FACTOR } else { 2.0 };
            allocating(factor, made.unwrap_or(Range::ANY))
        }
        (Rule::Sets(factor), _) => size(0).multiply(size(1)).times(factor).add(ONE),
        // Whatever the receiver is.
        (Rule::Traversal, _) if overload == "dra_includes_dyn_dyn" => ATTRIBUTE_VALUES,
        (Rule::Traversal, [list, ..]) => match elements(list) {
            Some((Type::String | Type::Bytes, size_of_each)) => {
                size(0).multiply(ONE.add(size_of_each.traversed()))
            }
            Some(_) => size(0),
            None if function == "includes" => size(0),
            None => size(0).traversed(),
        },
        (Rule::Text(position, factor), _) => size(position).times(factor),
        (Rule::JoinResult, _) => made.unwrap_or(Range::ANY).traversed(),
        (Rule::Matches, _) if overload == "matches" && release.overlooks_matches => ONE,
        (Rule::Find | Rule::Matches, _) => size(0).add(ONE).traversed().multiply(size(1).matched()),
        (Rule::ContainsIp { parses }, _) => ADDRESS.add(ADDRESS).traversed().add(parsing(parses)),
        (Rule::ContainsCidr { parses }, _) => {
            let networks = ADDRESS.add(ADDRESS).traversed().add(ADDRESS.traversed());
            networks.add(ONE).add(parsing(parses))
        }
        (Rule::Validate, _) => size(1).traversed().times(FORMAT_PATTERN_SIZE * REGEX_FACTOR),
        (Rule::Equals, [left, right]) => {
            equality(left, right).unwrap_or_else(|| lesser(size(0), size(1)).traversed())
        }
        (Rule::LesserSize, _) => lesser(size(0), size(1)).traversed(),
        (Rule::InList, _) => size(1),
        (Rule::Contains, _) => size(0).traversed().multiply(size(1).traversed()),
        _ => ONE,
    };
    (cost, made)
}

/// The size of what a call makes, if it is known.
fn made(function: &str, overload: &str, args: &[Node<'_>]) -> Option<Range> {
    let size = Node::size_or_any;
    Some(match (function, args) {
        ("slice", [list, start, end]) => {
            let end = uint_or(end, size(list).max);
            Range::fixed(end.wrapping_sub(uint_or(start, 0)))
        }
        ("lists.range", [length]) => Range::fixed(uint_or(length, u64::MAX)),
        ("reverse" | "flatten" | "url" | "lowerAscii" | "upperAscii" | "substring" | "trim", [whole, ..]) => {
            size(whole)
        }
        ("distinct" | "sort", [list]) => size(list).multiply(size(list)),
        (operators::SORT_BY, [_, keys]) => size(keys).multiply(size(keys)),
        ("replace", [text, old, new, ..]) => replaced(size(text), size(old), size(new)),
        ("split", [text, _, limit]) => {
            Range::up_to(literal_int(limit).map_or(size(text).max, |limit| limit as u64))
        }
        ("split" | "find" | "findAll", [text, ..]) => Range::up_to(size(text).max),
        ("join", [list, separator @ ..]) => {
            let length = size(list);
            let joined = elements(list).map_or(Range::fixed(0), |(_, element)| length.multiply(element));
            let separators = Range {
                min: length.min.saturating_sub(1),
                max: length.max.saturating_sub(1),
            };
            separator.iter().fold(joined, |joined, separator| {
                joined.add(size(separator).multiply(separators))
            })
        }
        (_, [text]) => {
            let Range { min, max } = size(text);
            match overload {
                "string_to_bytes" => Range {
                    min,
                    max: max.wrapping_mul(4),
                },
                "bytes_to_string" => Range { min: min / 4, max },
                "strings_quote" => Range {
                    min: min.wrapping_add(2),
                    max: max.wrapping_mul(2).wrapping_add(2),
                },
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// Equality of the API server's own types.
fn equality(left: &Node<'_>, right: &Node<'_>) -> Option<Range> {
    if left.of.name() != right.of.name() {
        return None;
    }
    let named = |max: u64| Range { min: 1, max }.traversed();
    match left.of.name() {
        "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver" => Some(ONE),
        "kubernetes.NamedFormat" => Some(named(MAX_FORMAT_SIZE)),
        "kubernetes.URL" => Some(named(right.size.map_or(1, |size| size.max))),
        name if name.starts_with("kubernetes.authorization.") => Some(ONE),
        _ => None,
    }
}

/// The least and the most that two things of these sizes can have in common.
fn lesser(left: Range, right: Range) -> Range {
    let max = left.max.min(right.max);
    Range {
        min: u64::from(max > 0),
        max,
    }
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
