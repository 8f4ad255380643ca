//! Renaming everything in a cluster, for tests of what names do to commands and reports.

use serde_json::Value;

/// Fields that hold names, of objects or of something that a command can name.
const NAMES: &[&str] = &[
    "name",
    "namespace",
    "nodeName",
    "driver",
    "pool",
    "device",
    "resourceClaimName",
    "resourceClaimTemplateName",
    "podGroupName",
    "deviceClassName",
    "resource",
];

/// Renames everything in an object alike, in the fields that hold names and in those of `more`. What is compared with constants keeps
/// its name.
pub fn rename(value: &mut Value, more: &[&str], name: &dyn Fn(&str) -> String) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let is_name = NAMES.contains(&field.as_str()) || more.contains(&field.as_str());
                match value {
                    Value::String(text) if text == "pods" || text == "podgroups" || text.is_empty() => {}
                    Value::String(text) if is_name => *text = name(text),
                    value => rename(value, more, name),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| rename(value, more, name)),
        _ => {}
    }
}
