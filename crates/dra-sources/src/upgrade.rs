//! Older API shapes, rewritten as the shape that the model reads: that of each kind's best version.
//!
//! Between the versions that are read, only few fields moved. Everything else is the same JSON, and unknown fields are left where
//! they are, so nothing is converted that does not have to be.

use std::borrow::Cow;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use dra_model::{Kind, json};

/// The reason why an object cannot become one of the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpgradeError {
    /// The version is none that was ever served.
    #[error("unsupported version `{version}` of this kind: supported {}", versions(.known))]
    UnknownVersion {
        /// The version.
        version: String,
        /// Those that there are.
        known: &'static [&'static str],
    },
    /// Not JSON, or not an object.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Fields hold something else than they should.
    #[error("{fields}")]
    Fields {
        /// Fields and problems.
        fields: String,
        /// Error of the decoder.
        error: serde_json::Error,
    },
    /// It lacks what says which devices it is about, or has a value that it cannot have.
    #[error("{field}: {wrong} value: no API server accepts {what}")]
    Refused {
        /// Field.
        field: String,
        /// `Required` or `Invalid`.
        wrong: &'static str,
        /// The object with that value, or without one.
        what: &'static str,
    },
    /// Only release 1.34 has such rules, as alpha. Without these selectors the rule would taint too many devices.
    #[error("selects devices by class or CEL expression, which only Kubernetes 1.34 supports")]
    RuleSelectors,
    /// Nothing could refer to it.
    #[error("has no `metadata.name`")]
    Nameless,
}

/// The versions that there are of a kind.
fn versions(known: &[&str]) -> String {
    match known {
        [only] => format!("version is {only}"),
        _ => format!("versions are {}", known.join(", ")),
    }
}

/// The object `json` of `kind` as its best version writes it. `group` tells the two groups of events apart.
pub(crate) fn upgrade<'a>(
    kind: Kind,
    group: &str,
    version: &str,
    json: &'a [u8],
) -> Result<Cow<'a, [u8]>, UpgradeError> {
    let rewrite: fn(&mut Map<String, Value>) -> Result<(), UpgradeError> = match (kind, version) {
        (Kind::Event, "v1") if group == "events.k8s.io" => |event| {
            new_event(event);
            Ok(())
        },
        (Kind::ResourceClaim, "v1beta1") => |claim| {
            flat_requests(claim.get_mut("spec"));
            Ok(())
        },
        (Kind::ResourceClaimTemplate, "v1beta1") => |template| {
            flat_requests(template.get_mut("spec").and_then(|spec| spec.get_mut("spec")));
            Ok(())
        },
        (Kind::ResourceSlice, "v1beta1") => basic_devices,
        (Kind::DeviceTaintRule, "v1alpha3") => selectors_of_rule,
        (Kind::PodGroup, "v1alpha2") => template_reference,
        // Everything else differs in nothing that the model reads.
        _ if kind.versions().contains(&version) => return Ok(Cow::Borrowed(json)),
        _ => {
            return Err(UpgradeError::UnknownVersion {
                version: version.to_owned(),
                known: kind.versions(),
            });
        }
    };
    let mut object: Map<String, Value> = json::from_slice(json)?;
    rewrite(&mut object)?;
    Ok(Cow::Owned(serde_json::to_vec(&object)?))
}

/// `resource.k8s.io/v1beta1` has the fields of an exact request beside its name. Mirrors `v1beta1/conversion.go`,
/// `Convert_v1beta1_DeviceRequest_To_resource_DeviceRequest`, v1.37.2.
fn flat_requests(spec: Option<&mut Value>) {
    const EXACT: [&str; 8] = [
        "deviceClassName",
        "selectors",
        "allocationMode",
        "count",
        "adminAccess",
        "tolerations",
        "capacity",
        "derivedAttributes",
    ];
    let requests = spec
        .and_then(|spec| spec.get_mut("devices"))
        .and_then(|devices| devices.get_mut("requests"));
    for request in requests.and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(request) = request.as_object_mut() else {
            continue;
        };
        let exact: Map<String, Value> = EXACT
            .iter()
            .filter_map(|&field| Some((field.to_owned(), request.remove(field)?)))
            .collect();
        let says_something = |value: &Value| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Number(number) => number.as_i64() != Some(0),
            _ => true,
        };
        if exact.values().any(says_something) {
            request.insert("exactly".to_owned(), Value::Object(exact));
        }
    }
}

/// `resource.k8s.io/v1beta1` wraps what a device is in `basic`.
fn basic_devices(slice: &mut Map<String, Value>) -> Result<(), UpgradeError> {
    let Some(spec) = slice.get_mut("spec").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    // Absent and empty are the same in this version, but not in later ones.
    if spec.get("nodeName").is_some_and(|name| name == "") {
        spec.remove("nodeName");
    }
    for device in spec
        .get_mut("devices")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        let Some(device) = device.as_object_mut() else {
            continue;
        };
        if let Some(basic) = object(device.remove("basic"))? {
            device.extend(basic);
        }
    }
    Ok(())
}

/// Returns what a field holds that takes an object, and that goes. What is left alone the decoder refuses where it is no object.
fn object(value: Option<Value>) -> Result<Option<Map<String, Value>>, UpgradeError> {
    Ok(value.map(Option::deserialize).transpose()?.flatten())
}

fn selectors_of_rule(rule: &mut Map<String, Value>) -> Result<(), UpgradeError> {
    let selector = rule.get("spec").and_then(|spec| spec.get("deviceSelector"));
    let used = |field: &str| match selector.and_then(|selector| selector.get(field)) {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(_) => true,
    };
    if used("deviceClassName") || used("selectors") {
        Err(UpgradeError::RuleSelectors)
    } else {
        Ok(())
    }
}

/// `scheduling.k8s.io/v1alpha2` nests the reference to the Workload and has another name for the template.
fn template_reference(group: &mut Map<String, Value>) -> Result<(), UpgradeError> {
    let Some(spec) = group.get_mut("spec").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    let Some(mut reference) = object(spec.remove("podGroupTemplateRef"))? else {
        return Ok(());
    };
    let Some(mut workload) = object(reference.remove("workload"))? else {
        return Ok(());
    };
    if let Some(name) = workload.remove("podGroupTemplateName") {
        workload.insert("templateName".to_owned(), name);
    }
    spec.insert("workloadRef".to_owned(), Value::Object(workload));
    Ok(())
}

/// `events.k8s.io/v1` names the fields of `v1` anew.
fn new_event(event: &mut Map<String, Value>) {
    for (new, old) in [
        ("regarding", "involvedObject"),
        ("note", "message"),
        ("reportingController", "reportingComponent"),
        ("deprecatedSource", "source"),
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
    ] {
        if let Some(value) = event.remove(new) {
            event.insert(old.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: Kind, group: &str, version: &str, old: &str, new: &str) {
        let upgraded = upgrade(kind, group, version, old.as_bytes()).unwrap();
        let value = |json: &[u8]| serde_json::from_slice::<Value>(json).unwrap();
        assert_eq!(value(&upgraded), value(new.as_bytes()));
    }

    #[test]
    fn flat_requests_become_exact_ones_and_alternatives_stay() {
        check(
            Kind::ResourceClaim,
            "resource.k8s.io",
            "v1beta1",
            r#"{"spec":{"devices":{"requests":[
                {"name":"a","deviceClassName":"gpu","allocationMode":"ExactCount","count":2},
                {"name":"b","firstAvailable":[{"name":"x","deviceClassName":"gpu"}]},
                {"name":"c","count":0,"deviceClassName":""}]}},
                "status":{"allocation":{"devices":{"results":[{"request":"a"}]}}}}"#,
            r#"{"spec":{"devices":{"requests":[
                {"name":"a","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":2}},
                {"name":"b","firstAvailable":[{"name":"x","deviceClassName":"gpu"}]},
                {"name":"c"}]}},
                "status":{"allocation":{"devices":{"results":[{"request":"a"}]}}}}"#,
        );
        check(
            Kind::ResourceClaimTemplate,
            "resource.k8s.io",
            "v1beta1",
            r#"{"spec":{"spec":{"devices":{"requests":[{"name":"a","adminAccess":false}]}}}}"#,
            r#"{"spec":{"spec":{"devices":{"requests":[{"name":"a","exactly":{"adminAccess":false}}]}}}}"#,
        );
    }

    #[test]
    fn basic_devices_are_unwrapped() {
        check(
            Kind::ResourceSlice,
            "resource.k8s.io",
            "v1beta1",
            r#"{"spec":{"nodeName":"","allNodes":true,"devices":[
                {"name":"gpu-0","basic":{"attributes":{"model":{"string":"H100"}},"taints":[{"key":"k"}]}},{"name":"gpu-1"}]}}"#,
            r#"{"spec":{"allNodes":true,"devices":[
                {"name":"gpu-0","attributes":{"model":{"string":"H100"}},"taints":[{"key":"k"}]},{"name":"gpu-1"}]}}"#,
        );
    }

    #[test]
    fn a_rule_with_alpha_selectors_is_refused_rather_than_widened() {
        let rule = |selector: &str| {
            let json = format!(r#"{{"spec":{{"deviceSelector":{selector}}}}}"#);
            upgrade(
                Kind::DeviceTaintRule,
                "resource.k8s.io",
                "v1alpha3",
                json.as_bytes(),
            )
            .map(Cow::into_owned)
        };
        assert!(rule(r#"{"driver":"gpu.example.com","selectors":[]}"#).is_ok());
        assert!(matches!(
            rule(r#"{"deviceClassName":"gpu"}"#),
            Err(UpgradeError::RuleSelectors)
        ));
        assert!(matches!(
            rule(r#"{"selectors":[{"cel":{"expression":"true"}}]}"#),
            Err(UpgradeError::RuleSelectors)
        ));
    }

    #[test]
    fn a_group_of_1_36_refers_to_its_workload_like_one_of_1_37() {
        check(
            Kind::PodGroup,
            "scheduling.k8s.io",
            "v1alpha2",
            r#"{"spec":{"podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"t"}}}}"#,
            r#"{"spec":{"workloadRef":{"workloadName":"w","templateName":"t"}}}"#,
        );
    }

    #[test]
    fn events_of_both_groups_read_alike() {
        check(
            Kind::Event,
            "events.k8s.io",
            "v1",
            r#"{"regarding":{"kind":"Pod"},"note":"n","reportingController":"c","deprecatedCount":2,"reason":"r"}"#,
            r#"{"involvedObject":{"kind":"Pod"},"message":"n","reportingComponent":"c","count":2,"reason":"r"}"#,
        );
    }

    #[test]
    fn current_versions_are_not_touched_and_unknown_ones_named() {
        let json = br#"{"spec": {}}"#;
        assert!(matches!(
            upgrade(Kind::ResourceClaim, "resource.k8s.io", "v1beta2", json),
            Ok(Cow::Borrowed(_))
        ));
        let error = upgrade(Kind::ResourceClaim, "resource.k8s.io", "v1alpha3", json).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unsupported version `v1alpha3` of this kind: supported versions are v1, v1beta2, v1beta1"
        );
    }
}
