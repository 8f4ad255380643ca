//! Node selectors and how they match.

use std::sync::LazyLock;

use serde::Deserialize;

use super::decode::{interned, interned_list, list};
use super::{Meta, Part, Str};

/// `core/v1` NodeSelector: matches when any of its terms does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    /// Alternatives.
    #[serde(deserialize_with = "list")]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

impl Part for NodeSelector {
    const ABSENT: &'static Self = &Self {
        node_selector_terms: Vec::new(),
    };
}

/// Requirements that must all hold. A term without requirements matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm {
    /// On labels.
    #[serde(deserialize_with = "list")]
    pub match_expressions: Vec<NodeRequirement>,
    /// On fields; `metadata.name` is the only one.
    #[serde(deserialize_with = "list")]
    pub match_fields: Vec<NodeRequirement>,
}

/// One requirement on a label or field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct NodeRequirement {
    /// Label or field.
    #[serde(deserialize_with = "interned")]
    pub key: Str,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`.
    #[serde(deserialize_with = "interned")]
    pub operator: Str,
    /// Values of the operator.
    #[serde(deserialize_with = "interned_list")]
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

    /// Whether `node` matches. Mirrors `component-helpers/scheduling/corev1/nodeaffinity`, `NodeSelector.Match`.
    ///
    /// # Errors
    /// Says which requirement can't be evaluated when no term matches and one of them is invalid.
    pub fn matches(&self, node: &Meta) -> Result<bool, InvalidNodeSelector> {
        let mut invalid = None;
        for term in &self.node_selector_terms {
            match term.matches(node) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(why) => invalid = invalid.or(Some(why)),
            }
        }
        invalid.map_or(Ok(false), Err)
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
    fn matches(&self, node: &Meta) -> Result<bool, InvalidNodeSelector> {
        if self.match_expressions.is_empty() && self.match_fields.is_empty() {
            return Ok(false);
        }
        for requirement in &self.match_expressions {
            if !requirement.matches(node.label(&requirement.key))? {
                return Ok(false);
            }
        }
        for requirement in &self.match_fields {
            if requirement.key != "metadata.name" {
                return Err(InvalidNodeSelector(format!(
                    "field `{}` is not supported",
                    requirement.key
                )));
            }
            if !matches!(requirement.operator.as_str(), "In" | "NotIn") || requirement.values.len() != 1 {
                return Err(InvalidNodeSelector(format!(
                    "field `{}` takes the operators In and NotIn with one value, not `{}` with {}",
                    requirement.key,
                    requirement.operator,
                    requirement.values.len()
                )));
            }
            if !requirement.matches(Some(&node.name))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl NodeRequirement {
    fn matches(&self, value: Option<&Str>) -> Result<bool, InvalidNodeSelector> {
        let listed = || value.is_some_and(|value| self.values.contains(value));
        match self.operator.as_str() {
            "In" | "NotIn" if self.values.is_empty() => Err(self.invalid("needs values")),
            "In" => Ok(listed()),
            "NotIn" => Ok(!listed()),
            "Exists" | "DoesNotExist" if !self.values.is_empty() => Err(self.invalid("takes no values")),
            "Exists" => Ok(value.is_some()),
            "DoesNotExist" => Ok(value.is_none()),
            "Gt" | "Lt" => {
                let [bound] = self.values.as_slice() else {
                    return Err(self.invalid("takes one value"));
                };
                let bound: i64 = bound.parse().map_err(|_| self.invalid("takes an integer"))?;
                // A label that is not an integer does not match, it is no error.
                let Some(value) = value.and_then(|value| value.parse::<i64>().ok()) else {
                    return Ok(false);
                };
                Ok(if self.operator == "Gt" {
                    value > bound
                } else {
                    value < bound
                })
            }
            _ => Err(self.invalid("is not a node selector operator")),
        }
    }

    fn invalid(&self, why: &str) -> InvalidNodeSelector {
        InvalidNodeSelector(format!("key `{}`: operator `{}` {why}", self.key, self.operator))
    }
}

/// A node selector that Kubernetes could not evaluate either; the text says which part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid node selector: {0}")]
pub struct InvalidNodeSelector(String);

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
