//! Fields shared by several kinds.

use serde_json::Value;

use super::checker::{Checker, Path, as_text, entries, has, items, text};
use dra_model::names;

/// Most selectors of a request or a class. Mirrors `api/resource/v1/types.go`, `DeviceSelectorsMaxSize`, v1.37.2.
const MOST_SELECTORS: usize = 32;
/// Most bytes of parameters for a driver.
const MOST_PARAMETERS: usize = 10 << 10;

/// The effects that taints of devices have.
const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

/// Name and labels.
pub(super) fn metadata(checker: &mut Checker<'_>, root: &Path<'_>, object: &Value) {
    let metadata = &object["metadata"];
    let at = root.child("metadata");
    let name = text(metadata, "name");
    if name.is_empty() {
        checker.required(&at.child("name"), "name or generateName is required");
    } else {
        checker.all_invalid(&at.child("name"), name, names::subdomain(name.as_bytes()));
    }
    labels(checker, &at.child("labels"), metadata);
}

fn labels(checker: &mut Checker<'_>, at: &Path<'_>, metadata: &Value) {
    for (key, value) in entries(metadata, "labels") {
        checker.all_invalid(at, key, names::qualified_name(key));
        let value = as_text(value);
        checker.all_invalid(at, value, names::label_value(value));
    }
}

/// Metadata of a template's claims, which has labels and annotations only. Mirrors `core/validation/validation.go`,
/// `ValidateTemplateObjectMeta`, v1.37.2.
pub(super) fn template_metadata(checker: &mut Checker<'_>, at: &Path<'_>, metadata: &Value) {
    // The server makes the names from those that Go has.
    const OTHERS: [(&str, &str); 7] = [
        ("name", "name"),
        ("generateName", "generateName"),
        ("namespace", "namespace"),
        ("uid", "uID"),
        ("resourceVersion", "resourceVersion"),
        ("ownerReferences", "ownerReferences"),
        ("finalizers", "finalizers"),
    ];
    labels(checker, &at.child("labels"), metadata);
    for (field, called) in OTHERS {
        let is_set = match &metadata[field] {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(list) => !list.is_empty(),
            _ => true,
        };
        if is_set {
            checker.forbidden(&at.child(called), "cannot be set");
        }
    }
}

/// The name of a driver. Mirrors `core/validation/validation.go`, `ValidateCSIDriverName`, v1.37.2.
pub(super) fn driver(checker: &mut Checker<'_>, at: &Path<'_>, name: &str) {
    const MOST: usize = 63;
    if name.is_empty() {
        return checker.required(at, "");
    }
    if name.len() > MOST {
        checker.too_long(at, MOST);
    }
    checker.all_invalid(at, name, names::subdomain(name.to_lowercase().as_bytes()));
}

/// The name of a pool. Mirrors `resource/validation/validation.go`, `validatePoolName`, v1.37.2.
pub(super) fn pool(checker: &mut Checker<'_>, at: &Path<'_>, name: &str) {
    const MOST: usize = 253;
    if name.is_empty() {
        return checker.required(at, "");
    }
    if name.len() > MOST {
        return checker.too_long(at, MOST);
    }
    for part in name.split('/') {
        checker.all_invalid(at, part, names::subdomain(part.as_bytes()));
    }
}

/// A name of one part, which requests, devices and counters have.
pub(super) fn label(checker: &mut Checker<'_>, at: &Path<'_>, name: &str) {
    checker.all_invalid(at, name, names::label(name.as_bytes()));
}

/// A name of parts with dots between them.
pub(super) fn subdomain(checker: &mut Checker<'_>, at: &Path<'_>, name: &str) {
    checker.all_invalid(at, name, names::subdomain(name.as_bytes()));
}

/// The name of an attribute or a capacity, with its domain or without. Mirrors `resource/validation/validation.go`,
/// `validateQualifiedName`, v1.37.2, which has nothing against a second slash.
pub(super) fn qualified_name(checker: &mut Checker<'_>, at: &Path<'_>, name: &str) {
    let parts: Vec<&str> = name.split('/').collect();
    match parts.as_slice() {
        [name] => identifier(checker, at, name),
        [domain, name] => {
            if domain.is_empty() {
                checker.invalid_text(at, "", "the domain must not be empty");
            } else {
                driver(checker, at, domain);
            }
            if name.is_empty() {
                checker.invalid_text(at, "", "the name must not be empty");
            } else {
                identifier(checker, at, name);
            }
        }
        _ => {}
    }
}

/// The same with a domain, in lower case. Mirrors `api/validate/strfmt.go`, `ResourceFullyQualifiedName`, v0.37.1.
pub(super) fn fully_qualified_name(checker: &mut Checker<'_>, at: &Path<'_>, name: &str) {
    match name.split_once('/') {
        Some((domain, _)) if domain.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            subdomain(checker, at, domain);
        }
        Some(_) => qualified_name(checker, at, name),
        None => {
            identifier(checker, at, name);
            let why = "a fully qualified name must be a domain and a name separated by a slash";
            checker.invalid_text(at, name, why);
        }
    }
}

fn identifier(checker: &mut Checker<'_>, at: &Path<'_>, name: &str) {
    const MOST: usize = 32;
    if name.len() > MOST {
        checker.too_long(at, MOST);
    }
    checker.all_invalid(at, name, names::c_identifier(name));
}

/// The selectors of a request or of a class.
pub(super) fn selectors(checker: &mut Checker<'_>, at: &Path<'_>, of: &Value) {
    let at = at.child("selectors");
    let selectors = items(of, "selectors");
    if !checker.has_room(&at, selectors.len(), MOST_SELECTORS) {
        return;
    }
    for (index, selector) in selectors.iter().enumerate() {
        let at = at.index(index);
        let cel = at.child("cel");
        if has(selector, "cel") {
            let expression = text(&selector["cel"], "expression");
            checker.expression(&cel.child("expression"), expression, false);
        } else {
            checker.required(&cel, "");
        }
    }
}

/// Configuration for a driver. Mirrors `resource/validation/validation.go`, `validateDeviceConfiguration`, v1.37.2.
pub(super) fn configuration(checker: &mut Checker<'_>, at: &Path<'_>, config: &Value) {
    let at = at.child("opaque");
    if !has(config, "opaque") {
        return checker.required(&at, "");
    }
    let opaque = &config["opaque"];
    driver(checker, &at.child("driver"), text(opaque, "driver"));
    let parameters = &opaque["parameters"];
    let at = at.child("parameters");
    if parameters.is_null() {
        checker.required(&at, "");
    } else if parameters.to_string().len() > MOST_PARAMETERS {
        checker.too_long(&at, MOST_PARAMETERS);
    } else if !parameters.is_object() {
        checker.invalid_text(&at, "<value omitted>", "must be a valid JSON object");
    }
}

/// A taint of a device. Mirrors `resource/validation/validation.go`, `validateDeviceTaint`, v1.37.2.
pub(super) fn taint(checker: &mut Checker<'_>, at: &Path<'_>, taint: &Value) {
    let (key, value, effect) = (text(taint, "key"), text(taint, "value"), text(taint, "effect"));
    checker.all_invalid(&at.child("key"), key, names::qualified_name(key));
    checker.all_invalid(&at.child("value"), value, names::label_value(value));
    let at = at.child("effect");
    if effect.is_empty() {
        checker.required(&at, "");
    } else if !EFFECTS.contains(&effect) {
        checker.not_supported(&at, effect, &EFFECTS);
    }
}

/// A toleration of such a taint. Mirrors `resource/validation/validation.go`, `validateDeviceToleration`, v1.37.2.
pub(super) fn toleration(checker: &mut Checker<'_>, at: &Path<'_>, toleration: &Value) {
    let (key, value, effect) = (
        text(toleration, "key"),
        text(toleration, "value"),
        text(toleration, "effect"),
    );
    if !key.is_empty() {
        checker.all_invalid(&at.child("key"), key, names::qualified_name(key));
    }
    match text(toleration, "operator") {
        "Exists" if !value.is_empty() => {
            checker.invalid_text(&at.child("value"), value, "must be empty for operator `Exists`");
        }
        "Exists" => {}
        // What the server defaults.
        "Equal" | "" => checker.all_invalid(&at.child("value"), value, names::label_value(value)),
        other => checker.not_supported(&at.child("operator"), other, &["Equal", "Exists"]),
    }
    if !effect.is_empty() && !EFFECTS.contains(&effect) {
        checker.not_supported(&at.child("effect"), effect, &EFFECTS);
    }
}

/// The nodes that reach devices. Mirrors `core/validation/validation.go`, `ValidateNodeSelector`, v1.37.2.
pub(super) fn node_selector(checker: &mut Checker<'_>, at: &Path<'_>, selector: &Value) {
    let at = at.child("nodeSelectorTerms");
    let terms = items(selector, "nodeSelectorTerms");
    if terms.is_empty() {
        checker.required(&at, "must have at least one node selector term");
    }
    for (index, term) in terms.iter().enumerate() {
        let at = at.index(index);
        for (field, look) in [
            (
                "matchExpressions",
                label_requirement as fn(&mut Checker<'_>, &Path<'_>, &Value),
            ),
            ("matchFields", field_requirement),
        ] {
            let at = at.child(field);
            for (index, requirement) in items(term, field).iter().enumerate() {
                look(checker, &at.index(index), requirement);
            }
        }
    }
}

fn label_requirement(checker: &mut Checker<'_>, at: &Path<'_>, requirement: &Value) {
    let values = items(requirement, "values");
    let at_values = at.child("values");
    match text(requirement, "operator") {
        "In" | "NotIn" if values.is_empty() => {
            checker.required(&at_values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            checker.forbidden(
                &at_values,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            );
        }
        "Gt" | "Lt" if values.len() != 1 => {
            checker.required(
                &at_values,
                "must be specified single value when `operator` is 'Lt' or 'Gt'",
            );
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => checker.invalid_text(&at.child("operator"), other, "not a valid selector operator"),
    }
    let key = text(requirement, "key");
    checker.all_invalid(&at.child("key"), key, names::qualified_name(key));
    for (index, value) in values.iter().map(as_text).enumerate() {
        checker.all_invalid(&at_values.index(index), value, names::label_value(value));
    }
}

fn field_requirement(checker: &mut Checker<'_>, at: &Path<'_>, requirement: &Value) {
    let values = items(requirement, "values");
    let at_values = at.child("values");
    match text(requirement, "operator") {
        "In" | "NotIn" if values.len() == 1 => {}
        "In" | "NotIn" => checker.required(
            &at_values,
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ),
        other => checker.invalid_text(&at.child("operator"), other, "not a valid selector operator"),
    }
    let key = text(requirement, "key");
    if key == "metadata.name" {
        for (index, value) in values.iter().map(as_text).enumerate() {
            subdomain(checker, &at_values.index(index), value);
        }
    } else {
        checker.invalid_text(&at.child("key"), key, "not a valid field selector key");
    }
}
