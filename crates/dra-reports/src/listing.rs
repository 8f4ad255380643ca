//! Lists within sentences.

use std::fmt;

use itertools::Itertools;

use dra_model::{NodeRequirement, NodeSelector};

/// The first of `items` as text, and how many more there are.
pub fn some<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    some_of(3, items)
}

/// The first `most` of `items` as text, and how many more there are.
pub(crate) fn some_of<T: fmt::Display>(most: usize, items: impl IntoIterator<Item = T>) -> String {
    let mut items = items.into_iter();
    let text = items.by_ref().take(most).join(", ");
    match items.count() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// One line for each term: `zone In [a,b], metadata.name In [node-1]`.
pub(crate) fn selector_terms(selector: &NodeSelector) -> Vec<String> {
    let requirement = |requirement: &NodeRequirement| {
        let NodeRequirement {
            key,
            operator,
            values,
        } = requirement;
        let values: Vec<_> = values.iter().map(|value| value.as_str()).collect();
        if values.is_empty() {
            format!("{key} {operator}")
        } else {
            format!("{key} {operator} [{}]", values.join(","))
        }
    };
    selector
        .node_selector_terms
        .iter()
        .map(|term| {
            let all = term.match_expressions.iter().chain(&term.match_fields);
            all.map(requirement).collect::<Vec<_>>().join(", ")
        })
        .collect()
}
