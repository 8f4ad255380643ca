//! Lists within sentences.

use std::fmt;

use dra_model::{NodeRequirement, NodeSelector};

/// The first of `items` as text, and how many more there are.
pub fn some<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    const SHOWN: usize = 3;
    let mut items = items.into_iter();
    let mut text = String::new();
    for (index, item) in items.by_ref().take(SHOWN).enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&item.to_string());
    }
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
