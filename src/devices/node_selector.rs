//! Which nodes reach a slice or a device.

use crate::model::{Node, NodeRequirement, NodeSelector, NodeSelectorTerm, Str};

use super::node_selector_errors::parse_error;

/// Whether `node` reaches what is bound to `name`, to all nodes or to those of `selector`. Mirrors `pools_incubating.go`,
/// `NodeMatches`.
///
/// # Errors
/// A selector with an invalid requirement, even where another term of it matches: the allocator parses the whole selector.
pub(crate) fn node_matches(
    node: &Node,
    name: Option<&Str>,
    all_nodes: bool,
    selector: Option<&NodeSelector>,
) -> Result<bool, String> {
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        return Ok(node.metadata.name == *name);
    }
    if all_nodes {
        return Ok(true);
    }
    let Some(selector) = selector else {
        return Ok(false);
    };
    let terms = || {
        selector
            .node_selector_terms
            .iter()
            .filter(|term| !term.match_expressions.is_empty() || !term.match_fields.is_empty())
    };
    if let Some(why) = parse_error(selector) {
        return Err(why);
    }
    Ok(terms().any(|term| term_matches(term, node)))
}

fn term_matches(term: &NodeSelectorTerm, node: &Node) -> bool {
    let labels = term
        .match_expressions
        .iter()
        .all(|requirement| label_matches(requirement, node));
    // A field other than the name is absent, which reads as the empty text.
    labels
        && term.match_fields.iter().all(|requirement| {
            let field = if requirement.key == "metadata.name" {
                node.metadata.name.as_str()
            } else {
                ""
            };
            (requirement.values[0] == field) == (requirement.operator == "In")
        })
}

fn label_matches(requirement: &NodeRequirement, node: &Node) -> bool {
    let label = node.metadata.label(&requirement.key);
    let listed = || label.is_some_and(|label| requirement.values.contains(label));
    match requirement.operator.as_str() {
        "In" => listed(),
        "NotIn" => !listed(),
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        operator => {
            let (Some(Ok(label)), Ok(bound)) = (
                label.map(|label| label.parse::<i64>()),
                requirement.values[0].parse::<i64>(),
            ) else {
                return false;
            };
            if operator == "Gt" {
                label > bound
            } else {
                label < bound
            }
        }
    }
}
