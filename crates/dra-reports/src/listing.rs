//! Lists within sentences.

use std::fmt;

use itertools::Itertools;

use dra_model::{NodeRequirement, NodeSelector, PodSelector, Str};

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

/// A selector of pods: `app=cache, tier In [a,b]`.
pub(crate) fn pod_selector(selector: &PodSelector) -> String {
    let labels = selector.match_labels.iter();
    let labels = labels.map(|(key, value)| format!("{key}={value}"));
    let others = selector.match_expressions.iter();
    labels
        .chain(others.map(|of| requirement(&of.key, &of.operator, &of.values)))
        .join(", ")
}

fn requirement(key: &Str, operator: &Str, values: &[Str]) -> String {
    if values.is_empty() {
        format!("{key} {operator}")
    } else {
        format!("{key} {operator} [{}]", values.iter().join(","))
    }
}

/// One line for each term: `zone In [a,b], metadata.name In [node-1]`.
pub(crate) fn selector_terms(selector: &NodeSelector) -> Vec<String> {
    let requirement = |of: &NodeRequirement| requirement(&of.key, &of.operator, &of.values);
    selector
        .node_selector_terms
        .iter()
        .map(|term| {
            let all = term.match_expressions.iter().chain(&term.match_fields);
            all.map(requirement).collect::<Vec<_>>().join(", ")
        })
        .collect()
}
