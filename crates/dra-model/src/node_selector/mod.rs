//! Node selectors and how they match.

mod errors;

use std::sync::LazyLock;

use macro_rules_attribute::apply;

use super::{Meta, Operator, Part, Str};
use crate::decoded::decoded;

/// `core/v1` NodeSelector: matches when any of its terms does.
#[apply(decoded)]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeSelector {
    /// Alternatives.
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

impl Part for NodeSelector {
    fn absent() -> &'static Self {
        const {
            &Self {
                node_selector_terms: Vec::new(),
            }
        }
    }
}

/// Requirements that must all hold. A term without requirements matches nothing.
#[apply(decoded)]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeSelectorTerm {
    /// On labels.
    pub match_expressions: Vec<NodeRequirement>,
    /// On fields; `metadata.name` is the only one.
    pub match_fields: Vec<NodeRequirement>,
}

/// One requirement on a label or field.
#[apply(decoded)]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeRequirement {
    /// Label or field.
    pub key: Str,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`.
    pub operator: Str,
    /// Values of the operator.
    pub values: Vec<Str>,
}

impl NodeSelector {
    /// The selector that matches the node `name` only, as allocations carry it.
    pub fn of_node(name: &Str) -> Self {
        // Made for each node that is judged.
        static WORDS: LazyLock<(Str, Str)> = LazyLock::new(|| ("metadata.name".into(), "In".into()));
        let (key, operator) = &*WORDS;
        let field = NodeRequirement {
            key: key.clone(),
            operator: operator.clone(),
            values: vec![name.clone()],
        };
        Self {
            node_selector_terms: vec![NodeSelectorTerm {
                match_fields: vec![field],
                ..Default::default()
            }],
        }
    }

    /// Says what of the selector Kubernetes cannot parse.
    ///
    /// # Errors
    /// Everything that is wrong with any term.
    pub fn check(&self) -> Result<(), InvalidNodeSelector> {
        let terms = self.node_selector_terms.iter().enumerate();
        let found = terms.flat_map(|(place, term)| errors::of_term(place, term));
        InvalidNodeSelector::of(found.collect())
    }

    /// Returns whether `node` matches. Mirrors `nodeaffinity.go`, `LazyErrorNodeSelector.Match`, v1.37.2: a term
    /// that cannot be parsed counts only where no other one matches. Who parses the whole selector first asks [`Self::check`].
    ///
    /// # Errors
    /// What is wrong with the terms, where none matches.
    pub fn matches(&self, node: &Meta) -> Result<bool, InvalidNodeSelector> {
        let mut found = Vec::new();
        for (place, term) in self.node_selector_terms.iter().enumerate() {
            let of_term = errors::of_term(place, term);
            if of_term.is_empty() && term.matches(node) {
                return Ok(true);
            }
            found.extend(of_term);
        }
        InvalidNodeSelector::of(found).map(|()| false)
    }

    /// The only node that can match, where the selector names one by its field and nothing else.
    pub fn single_node(&self) -> Option<&Str> {
        let [term] = self.node_selector_terms.as_slice() else {
            return None;
        };
        let ([], [field]) = (term.match_expressions.as_slice(), term.match_fields.as_slice()) else {
            return None;
        };
        match field.values.as_slice() {
            [name] if field.key == "metadata.name" && field.operator == "In" => Some(name),
            _ => None,
        }
    }
}

impl NodeSelectorTerm {
    /// Returns whether `node` matches a term that can be parsed. Mirrors `nodeaffinity.go`, `nodeSelectorTerm.match`, v1.37.2.
    fn matches(&self, node: &Meta) -> bool {
        if self.match_expressions.is_empty() && self.match_fields.is_empty() {
            return false;
        }
        let labels = &mut self.match_expressions.iter();
        // A field other than the name is absent, which reads as the empty text.
        let field = |key: &Str| {
            if *key == "metadata.name" {
                node.name.as_str()
            } else {
                ""
            }
        };
        labels.all(|requirement| requirement.matches(node.label(&requirement.key)))
            && self.match_fields.iter().all(|requirement| {
                let is_value = requirement
                    .values
                    .iter()
                    .any(|value| *value == *field(&requirement.key));
                is_value == (requirement.operator == "In")
            })
    }
}

impl NodeRequirement {
    /// Returns whether a label of that value, or none, meets the requirement, if its operator is known.
    fn matches(&self, value: Option<&Str>) -> bool {
        let are_listed = |value: &str| self.values.iter().any(|listed| *listed == *value);
        let first = self.values.first().map(Str::as_str);
        let operator = self.operator.parse::<Operator>();
        operator.is_ok_and(|operator| operator.is_met(value.map(Str::as_str), are_listed, first))
    }
}

/// A node selector that Kubernetes cannot parse. The text says where, in upstream's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid node selector: {0}")]
pub struct InvalidNodeSelector(String);

impl InvalidNodeSelector {
    /// Nothing is wrong, or all of `errors` is.
    fn of(errors: Vec<String>) -> Result<(), Self> {
        errors::aggregated(errors).map_or(Ok(()), |why| Err(Self(why)))
    }

    /// Returns what is wrong, as upstream says it.
    pub fn why(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Meta {
        serde_json::from_str(r#"{"name":"node-1","labels":{"zone":"a","size":"8","odd":"x"}}"#).unwrap()
    }

    fn check(selector: &str) -> Result<bool, InvalidNodeSelector> {
        serde_json::from_str::<NodeSelector>(selector)
            .unwrap()
            .matches(&node())
    }

    fn expression(key: &str, operator: &str, values: &str) -> Result<bool, InvalidNodeSelector> {
        check(&format!(
            r#"{{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"{key}","operator":"{operator}","values":{values}}}]}}]}}"#
        ))
    }

    #[test]
    fn operators_match_as_in_kubernetes() {
        for (key, operator, values, expected) in [
            ("zone", "In", r#"["a","b"]"#, true),
            ("zone", "NotIn", r#"["a","b"]"#, false),
            ("none", "NotIn", r#"["a"]"#, true),
            ("zone", "Exists", "[]", true),
            ("none", "DoesNotExist", "null", true),
            ("size", "Gt", r#"["7"]"#, true),
            ("size", "Lt", r#"["8"]"#, false),
            ("odd", "Gt", r#"["1"]"#, false),
        ] {
            assert_eq!(
                expression(key, operator, values),
                Ok(expected),
                "{key} {operator} {values}"
            );
        }
        for (operator, values) in [
            ("In", "[]"),
            ("Exists", r#"["a"]"#),
            ("Gt", r#"["x"]"#),
            ("Near", r#"["a"]"#),
        ] {
            assert!(
                expression("zone", operator, values).is_err(),
                "{operator} {values}"
            );
        }
    }

    #[test]
    fn no_terms_and_empty_terms_match_nothing_and_any_term_suffices() {
        assert_eq!(check(r#"{"nodeSelectorTerms":[]}"#), Ok(false));
        assert_eq!(check(r#"{"nodeSelectorTerms":[{}]}"#), Ok(false));
        let own = NodeSelector::of_node(&"node-1".into());
        assert_eq!(own.matches(&node()), Ok(true));
        assert_eq!(own.single_node(), Some(&Str::from("node-1")));
        assert_eq!(
            NodeSelector::of_node(&"node-2".into()).matches(&node()),
            Ok(false)
        );
    }
}
