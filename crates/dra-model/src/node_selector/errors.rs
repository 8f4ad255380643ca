//! Problems of a node selector, in upstream's words.
//!
//! The API server lets selectors through that cannot be parsed: a bound of `Gt` that is no integer, a value that no label can
//! have. Mirrors `nodeaffinity.go`, `NewNodeSelector`, and `labels/selector.go`, `NewRequirement`, v1.37.2.

use itertools::Itertools;

use super::super::{Str, go_quote, names};
use super::{NodeRequirement, NodeSelectorTerm};

/// Returns what is wrong with `term`, which is the one at `place`.
pub(super) fn of_term(place: usize, term: &NodeSelectorTerm) -> Vec<String> {
    let mut errors = Vec::new();
    for (of, requirements) in [
        ("matchExpressions", &term.match_expressions),
        ("matchFields", &term.match_fields),
    ] {
        for (index, requirement) in requirements.iter().enumerate() {
            let path = Path { place, of, index };
            let found = match of {
                "matchFields" => field_errors(path, requirement),
                _ => label_errors(path, requirement),
            };
            errors.extend(aggregated(found));
        }
    }
    errors
}

/// Path of a requirement.
#[derive(Clone, Copy, derive_more::Display)]
#[display("nodeSelectorTerms[{place}].{of}[{index}]")]
struct Path {
    place: usize,
    of: &'static str,
    index: usize,
}

/// The combined text of several errors; nothing for no errors.
pub(super) fn aggregated(mut errors: Vec<String>) -> Option<String> {
    if errors.len() <= 1 {
        return errors.pop();
    }
    let distinct = errors.into_iter().unique().collect_vec();
    Some(match distinct.as_slice() {
        [only] => only.clone(),
        several => format!("[{}]", several.join(", ")),
    })
}

fn label_errors(path: Path, requirement: &NodeRequirement) -> Vec<String> {
    let operator = requirement.operator.as_str();
    if !matches!(operator, "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt") {
        let supported = ["DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"];
        return vec![unsupported(path, operator, &supported)];
    }
    let mut errors = Vec::new();
    let problems = label_key_problems(&requirement.key);
    if !problems.is_empty() {
        errors.push(invalid(
            &format!("{path}.key"),
            &go_quote(&requirement.key),
            &problems.join("; "),
        ));
    }
    let values = &requirement.values;
    let invalid_list = |why: &str| invalid(&format!("{path}.values"), &listed(values), why);
    match operator {
        "In" | "NotIn" if values.is_empty() => errors.push(invalid_list(
            "for 'in', 'notin' operators, values set can't be empty",
        )),
        "Exists" | "DoesNotExist" if !values.is_empty() => errors.push(invalid_list(
            "values set must be empty for exists and does not exist",
        )),
        "Gt" | "Lt" => {
            if values.len() != 1 {
                errors.push(invalid_list(
                    "for 'Gt', 'Lt' operators, exactly one value is required",
                ));
            }
            for (index, value) in values.iter().enumerate() {
                if value.parse::<i64>().is_err() {
                    errors.push(invalid(
                        &format!("{path}.values[{index}]"),
                        &go_quote(value),
                        "for 'Gt', 'Lt' operators, the value must be an integer",
                    ));
                }
            }
        }
        _ => {}
    }
    for (index, value) in values.iter().enumerate() {
        let problems = label_value_problems(value);
        if !problems.is_empty() {
            errors.push(invalid(
                &format!("{path}.values[{index}][{}]", requirement.key),
                &go_quote(value),
                &problems.join("; "),
            ));
        }
    }
    errors
}

fn field_errors(path: Path, requirement: &NodeRequirement) -> Vec<String> {
    match requirement.operator.as_str() {
        "In" | "NotIn" if requirement.values.len() == 1 => Vec::new(),
        "In" | "NotIn" => {
            let values = listed(&requirement.values);
            vec![invalid(
                &format!("{path}.values"),
                &values,
                "must have one element",
            )]
        }
        operator => vec![unsupported(path, operator, &["In", "NotIn"])],
    }
}

fn invalid(path: &str, value: &str, why: &str) -> String {
    format!("{path}: Invalid value: {value}: {why}")
}

fn unsupported(path: Path, operator: &str, supported: &[&str]) -> String {
    let supported: Vec<String> = supported.iter().map(|name| go_quote(name)).collect();
    format!(
        "{path}.operator: Unsupported value: {}: supported values: {}",
        go_quote(operator),
        supported.join(", ")
    )
}

/// Values as JSON.
fn listed(values: &[Str]) -> String {
    values
        .iter()
        .map(Str::as_str)
        .collect::<serde_json::Value>()
        .to_string()
}

/// The texts of the library that the scheduler uses have two spaces before each further example.
fn spaced(problems: Vec<String>) -> Vec<String> {
    let spaced = |problem: String| problem.replace("', or '", "',  or '");
    problems.into_iter().map(spaced).collect()
}

fn label_value_problems(value: &str) -> Vec<String> {
    spaced(names::label_value(value))
}

fn label_key_problems(key: &str) -> Vec<String> {
    spaced(names::qualified_name(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_checked_as_upstream_does() {
        let problems = label_value_problems("-a");
        assert!(
            problems[0].ends_with("'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"),
            "{problems:?}"
        );
        assert!(label_value_problems("").is_empty());
        assert!(label_key_problems("example.com/rack").is_empty());
        assert_eq!(
            label_key_problems("/"),
            ["prefix part must be non-empty", "name part must be non-empty"]
                .into_iter()
                .map(str::to_owned)
                .chain(label_key_problems("-").into_iter())
                .collect::<Vec<_>>()
        );
    }
}
