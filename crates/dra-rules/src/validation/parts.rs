//! Fields shared by several kinds.

use serde_json::Value;

use super::checker::{Checker, Place, as_text, entries, text};
use dra_model::names;

/// Most selectors of a request or a class. Mirrors `api/resource/v1/types.go`, `DeviceSelectorsMaxSize`, v1.37.2.
const MOST_SELECTORS: usize = 32;
/// Most bytes of parameters for a driver.
const MOST_PARAMETERS: usize = 10 << 10;

/// The effects that taints of devices have.
const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

/// Looks at a text that must not be empty.
pub(super) fn needed(
    checker: &mut Checker<'_>,
    at: &Place<'_>,
    look: impl FnOnce(&mut Checker<'_>, &Place<'_>),
) {
    if at.text().is_empty() {
        checker.required(at, "");
    } else {
        look(checker, at);
    }
}

/// Name and labels.
pub(super) fn metadata(checker: &mut Checker<'_>, at: &Place<'_>) {
    let name = at.child("name");
    if name.text().is_empty() {
        checker.required(&name, "name or generateName is required");
    } else {
        subdomain(checker, &name);
    }
    labels(checker, &at.child("labels"));
}

fn labels(checker: &mut Checker<'_>, at: &Place<'_>) {
    for (key, value) in entries(at.value) {
        checker.all_invalid(at, key, names::qualified_name(key));
        let value = as_text(value);
        checker.all_invalid(at, value, names::label_value(value));
    }
}

/// Metadata of a template's claims, which has labels and annotations only. Mirrors `core/validation/validation.go`,
/// `ValidateTemplateObjectMeta`, v1.37.2.
pub(super) fn template_metadata(checker: &mut Checker<'_>, at: &Place<'_>) {
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
    labels(checker, &at.child("labels"));
    for (field, called) in OTHERS {
        let is_set = match &at.value[field] {
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
pub(super) fn driver(checker: &mut Checker<'_>, at: &Place<'_>) {
    needed(checker, at, |checker, at| domain(checker, at, at.text()));
}

fn domain(checker: &mut Checker<'_>, at: &Place<'_>, name: &str) {
    const MOST: usize = 63;
    if name.len() > MOST {
        checker.too_long(at, MOST);
    }
    checker.all_invalid(at, name, names::subdomain(name.to_lowercase().as_bytes()));
}

/// The name of a pool. Mirrors `resource/validation/validation.go`, `validatePoolName`, v1.37.2.
pub(super) fn pool(checker: &mut Checker<'_>, at: &Place<'_>) {
    const MOST: usize = 253;
    needed(checker, at, |checker, at| {
        if at.text().len() > MOST {
            return checker.too_long(at, MOST);
        }
        for part in at.text().split('/') {
            checker.all_invalid(at, part, names::subdomain(part.as_bytes()));
        }
    });
}

/// A name of one part, which requests, devices and counters have.
pub(super) fn label(checker: &mut Checker<'_>, at: &Place<'_>) {
    checker.all_invalid(at, at.text(), names::label(at.text().as_bytes()));
}

/// A name of parts with dots between them.
pub(super) fn subdomain(checker: &mut Checker<'_>, at: &Place<'_>) {
    checker.all_invalid(at, at.text(), names::subdomain(at.text().as_bytes()));
}

/// The name of an attribute or a capacity, with its domain or without. Mirrors `resource/validation/validation.go`,
/// `validateQualifiedName`, v1.37.2, which has nothing against a second slash.
pub(super) fn qualified_name(checker: &mut Checker<'_>, at: &Place<'_>, name: &str) {
    let parts: Vec<&str> = name.split('/').collect();
    match parts.as_slice() {
        [name] => identifier(checker, at, name),
        [domain, name] => {
            if domain.is_empty() {
                checker.invalid_text(at, "", "the domain must not be empty");
            } else {
                self::domain(checker, at, domain);
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
pub(super) fn fully_qualified_name(checker: &mut Checker<'_>, at: &Place<'_>) {
    let name = at.text();
    match name.split_once('/') {
        Some((domain, _)) if domain.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            checker.all_invalid(at, domain, names::subdomain(domain.as_bytes()));
        }
        Some(_) => qualified_name(checker, at, name),
        None => {
            identifier(checker, at, name);
            let why = "a fully qualified name must be a domain and a name separated by a slash";
            checker.invalid_text(at, name, why);
        }
    }
}

fn identifier(checker: &mut Checker<'_>, at: &Place<'_>, name: &str) {
    const MOST: usize = 32;
    if name.len() > MOST {
        checker.too_long(at, MOST);
    }
    checker.all_invalid(at, name, names::c_identifier(name));
}

/// The selectors of a request or of a class.
pub(super) fn selectors(checker: &mut Checker<'_>, at: &Place<'_>) {
    checker.list(&at.child("selectors"), MOST_SELECTORS, |checker, at| {
        let cel = at.child("cel");
        if cel.value.is_null() {
            checker.required(&cel, "");
        } else {
            checker.expression(&cel.child("expression"), false);
        }
    });
}

/// Configuration for a driver. Mirrors `resource/validation/validation.go`, `validateDeviceConfiguration`, v1.37.2.
pub(super) fn configuration(checker: &mut Checker<'_>, at: &Place<'_>) {
    let at = at.child("opaque");
    if at.value.is_null() {
        return checker.required(&at, "");
    }
    driver(checker, &at.child("driver"));
    let at = at.child("parameters");
    if at.value.is_null() {
        checker.required(&at, "");
    } else if at.value.to_string().len() > MOST_PARAMETERS {
        checker.too_long(&at, MOST_PARAMETERS);
    } else if !at.value.is_object() {
        checker.invalid_text(&at, "<value omitted>", "must be a valid JSON object");
    }
}

pub(super) fn label_key(checker: &mut Checker<'_>, at: &Place<'_>) {
    checker.all_invalid(at, at.text(), names::qualified_name(at.text()));
}

fn label_value(checker: &mut Checker<'_>, at: &Place<'_>) {
    checker.all_invalid(at, at.text(), names::label_value(at.text()));
}

/// A taint of a device. Mirrors `resource/validation/validation.go`, `validateDeviceTaint`, v1.37.2.
pub(super) fn taint(checker: &mut Checker<'_>, at: &Place<'_>) {
    label_key(checker, &at.child("key"));
    label_value(checker, &at.child("value"));
    needed(checker, &at.child("effect"), effect);
}

fn effect(checker: &mut Checker<'_>, at: &Place<'_>) {
    if !EFFECTS.contains(&at.text()) {
        checker.not_supported(at, at.text(), &EFFECTS);
    }
}

/// A toleration of such a taint. Mirrors `resource/validation/validation.go`, `validateDeviceToleration`, v1.37.2.
pub(super) fn toleration(checker: &mut Checker<'_>, at: &Place<'_>) {
    if !text(at.value, "key").is_empty() {
        label_key(checker, &at.child("key"));
    }
    let value = at.child("value");
    let operator = at.child("operator");
    match operator.text() {
        "Exists" if !value.text().is_empty() => {
            checker.invalid_text(&value, value.text(), "must be empty for operator `Exists`");
        }
        "Exists" => {}
        // What the server defaults.
        "Equal" | "" => label_value(checker, &value),
        other => checker.not_supported(&operator, other, &["Equal", "Exists"]),
    }
    if !text(at.value, "effect").is_empty() {
        effect(checker, &at.child("effect"));
    }
}

/// The nodes that reach devices. Mirrors `core/validation/validation.go`, `ValidateNodeSelector`, v1.37.2.
pub(super) fn node_selector(checker: &mut Checker<'_>, at: &Place<'_>) {
    let at = at.child("nodeSelectorTerms");
    if at.each().next().is_none() {
        checker.required(&at, "must have at least one node selector term");
    }
    for term in at.each() {
        for requirement in term.child("matchExpressions").each() {
            label_requirement(checker, &requirement);
        }
        for requirement in term.child("matchFields").each() {
            field_requirement(checker, &requirement);
        }
    }
}

fn label_requirement(checker: &mut Checker<'_>, at: &Place<'_>) {
    let values = at.child("values");
    let count = values.each().count();
    let operator = at.child("operator");
    match operator.text() {
        "In" | "NotIn" if count == 0 => {
            checker.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if count > 0 => {
            let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            checker.forbidden(&values, why);
        }
        "Gt" | "Lt" if count != 1 => {
            let why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            checker.required(&values, why);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => checker.invalid_text(&operator, other, "not a valid selector operator"),
    }
    label_key(checker, &at.child("key"));
    for value in values.each() {
        label_value(checker, &value);
    }
}

fn field_requirement(checker: &mut Checker<'_>, at: &Place<'_>) {
    let values = at.child("values");
    let operator = at.child("operator");
    match operator.text() {
        "In" | "NotIn" if values.each().count() == 1 => {}
        "In" | "NotIn" => checker.required(
            &values,
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ),
        other => checker.invalid_text(&operator, other, "not a valid selector operator"),
    }
    let key = at.child("key");
    if key.text() == "metadata.name" {
        for value in values.each() {
            subdomain(checker, &value);
        }
    } else {
        checker.invalid_text(&key, key.text(), "not a valid field selector key");
    }
}
