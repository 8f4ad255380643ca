//! Tolerations and attributes in one line, as people read them.

use dra_model::{AttributeValue, Toleration};

/// As `kubectl describe` writes tolerations of nodes: `key=value:Effect for 20s`, `key:Effect op=Exists`.
pub fn toleration(toleration: &Toleration) -> String {
    let Toleration {
        key,
        operator,
        value,
        effect,
        toleration_seconds,
    } = toleration;
    let mut text = key.to_string();
    if !value.is_empty() {
        text.push('=');
        text.push_str(value);
    }
    if !effect.is_empty() {
        text.push(':');
        text.push_str(effect);
    }
    if operator == "Exists" && value.is_empty() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str("op=Exists");
    }
    if let Some(seconds) = toleration_seconds {
        return format!("{text} for {seconds}s");
    }
    text
}

/// The value of an attribute. Text is in quotes, to distinguish it from a number.
pub fn attribute(value: &AttributeValue) -> String {
    fn list<T>(values: &[T], one: impl Fn(&T) -> String) -> String {
        let values: Vec<_> = values.iter().map(one).collect();
        format!("[{}]", values.join(", "))
    }
    match value {
        AttributeValue::Bool(value) => value.to_string(),
        AttributeValue::Int(value) => value.to_string(),
        AttributeValue::String(text) => format!("{:?}", text.as_str()),
        AttributeValue::Version(text) => text.to_string(),
        AttributeValue::Bools(values) => list(values, ToString::to_string),
        AttributeValue::Ints(values) => list(values, ToString::to_string),
        AttributeValue::Strings(values) => list(values, |text| format!("{:?}", text.as_str())),
        AttributeValue::Versions(values) => list(values, ToString::to_string),
        AttributeValue::Unknown => "<unknown type>".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::selector_terms;
    use dra_model::NodeSelector;

    #[test]
    fn selectors_tolerations_and_attributes_fit_one_line() {
        let selector: NodeSelector = serde_json::from_str(
            r#"{"nodeSelectorTerms":[
                {"matchExpressions":[{"key":"zone","operator":"In","values":["a","b"]},{"key":"gpu","operator":"Exists"}]},
                {"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}"#,
        )
        .unwrap();
        assert_eq!(
            selector_terms(&selector),
            ["zone In [a,b], gpu Exists", "metadata.name In [n]"]
        );
        for (json, expected) in [
            (
                r#"{"key":"k","operator":"Equal","value":"v","effect":"NoExecute","tolerationSeconds":20}"#,
                "k=v:NoExecute for 20s",
            ),
            (
                r#"{"key":"k","operator":"Exists","effect":"NoSchedule"}"#,
                "k:NoSchedule op=Exists",
            ),
            (r#"{"operator":"Exists"}"#, "op=Exists"),
        ] {
            assert_eq!(toleration(&serde_json::from_str(json).unwrap()), expected);
        }
        for (json, expected) in [
            (r#"{"string":"5"}"#, "\"5\""),
            (r#"{"int":5}"#, "5"),
            (r#"{"version":"1.2.3"}"#, "1.2.3"),
            (r#"{"bool":true}"#, "true"),
            (r#"{"strings":["a","b"]}"#, r#"["a", "b"]"#),
            (r#"{"ints":[1,2]}"#, "[1, 2]"),
            (r#"{"other":1}"#, "<unknown type>"),
        ] {
            assert_eq!(attribute(&serde_json::from_str(json).unwrap()), expected);
        }
    }
}
