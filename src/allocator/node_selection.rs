//! Which nodes reach a slice or a device.

use crate::model::{Node, NodeRequirement, NodeSelector, NodeSelectorTerm, Str};

/// Whether `node` reaches what is bound to `name`, to all nodes or to those of `selector`. Mirrors `pools_incubating.go`,
/// `NodeMatches`.
///
/// # Errors
/// A selector with an invalid requirement, even where another term of it matches: the allocator parses the whole selector.
pub(super) fn node_matches(
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
    for term in terms() {
        validate(term).map_err(|why| format!("failed to parse node selector: {why}"))?;
    }
    Ok(terms().any(|term| term_matches(term, node)))
}

fn validate(term: &NodeSelectorTerm) -> Result<(), String> {
    for requirement in &term.match_expressions {
        let values = requirement.values.len();
        let invalid = |why: &str| Err(format!("key {}: {why}", requirement.key));
        match requirement.operator.as_str() {
            "In" | "NotIn" if values == 0 => {
                return invalid("for 'in', 'notin' operators, values set can't be empty");
            }
            "Exists" | "DoesNotExist" if values != 0 => {
                return invalid("values set must be empty for exists and does not exist");
            }
            "Gt" | "Lt" if values != 1 => {
                return invalid("for 'Gt', 'Lt' operators, exactly one value is required");
            }
            "Gt" | "Lt" if requirement.values[0].parse::<i64>().is_err() => {
                return invalid("for 'Gt', 'Lt' operators, the value must be an integer");
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            operator => return invalid(&format!("\"{operator}\" is not a valid operator")),
        }
        if !is_label_key(&requirement.key) {
            return invalid("is not a valid label key");
        }
        if let Some(value) = requirement.values.iter().find(|value| !is_label_value(value)) {
            return invalid(&format!("\"{value}\" is not a valid label value"));
        }
    }
    for requirement in &term.match_fields {
        match requirement.operator.as_str() {
            "In" | "NotIn" if requirement.values.len() != 1 => {
                return Err(format!("field {}: must have one element", requirement.key));
            }
            "In" | "NotIn" => {}
            operator => {
                return Err(format!(
                    "field {}: \"{operator}\" is not a valid operator",
                    requirement.key
                ));
            }
        }
    }
    Ok(())
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

fn is_label_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    !name.is_empty()
        && is_label_value(name)
        && prefix.is_none_or(|prefix| {
            !prefix.is_empty()
                && prefix.len() <= 253
                && prefix.split('.').all(|label| {
                    let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
                    label.bytes().all(|byte| lower(byte) || byte == b'-')
                        && label.bytes().next().is_some_and(lower)
                        && label.bytes().next_back().is_some_and(lower)
                })
        })
}

fn is_label_value(value: &str) -> bool {
    let edge = |byte: Option<u8>| byte.is_none_or(|byte| byte.is_ascii_alphanumeric());
    value.len() <= 63
        && edge(value.bytes().next())
        && edge(value.bytes().next_back())
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}
