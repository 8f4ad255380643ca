//! Reactions of a real API server to manifests: acceptance, and the paths of violations.

use dra_model::{Kind, Looking, check_fields};
use http::Method;
use serde_json::{Map, Value, json};

use crate::support::cluster::Cluster;

/// Manifests with the paths at which they are refused. A unit test asks the rules of the program the same.
fn cases() -> String {
    std::fs::read_to_string("tests/data/manifests.jsonl").expect("the cases are there")
}

fn path_of(object: &Value, query: &str) -> String {
    let api_version = object["apiVersion"].as_str().expect("an apiVersion");
    let (plural, namespaced) = match object["kind"].as_str().expect("a kind") {
        "Pod" => ("pods", true),
        "ResourceClaim" => ("resourceclaims", true),
        "ResourceClaimTemplate" => ("resourceclaimtemplates", true),
        "DeviceClass" => ("deviceclasses", false),
        "ResourceSlice" => ("resourceslices", false),
        "DeviceTaintRule" => ("devicetaintrules", false),
        kind => panic!("{kind} is not among the cases"),
    };
    let root = if api_version == "v1" { "/api" } else { "/apis" };
    let within = if namespaced { "namespaces/default/" } else { "" };
    format!("{root}/{api_version}/{within}{plural}?dryRun=All&{query}")
}

#[test]
fn the_api_server_refuses_manifests_at_the_paths_that_are_written_down() {
    let cluster = Cluster::shared();
    let mut wrong = Vec::new();
    for line in cases().lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let response = cluster.request(&Method::POST, &path_of(&case["object"], ""), &case["object"]);
        let answer = &response.body;
        let causes = answer["details"]["causes"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let mut paths: Vec<String> = causes
            .iter()
            .filter_map(|cause| cause["field"].as_str().map(str::to_owned))
            .collect();
        if paths.is_empty() && response.status != 201 {
            paths.push(format!("{}: {}", response.status, answer["message"]));
        }
        paths.sort();
        paths.dedup();
        if json!(paths) != case["paths"] {
            wrong.push(
                json!({"what": case["what"], "paths": paths, "message": answer["message"]}).to_string(),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An object with every field that the schema has, to the given depth.
fn filled(schemas: &Value, schema: &Value) -> Value {
    let referred = |schema: &Value| {
        let all_of = schema["allOf"].as_array().and_then(|all| all.first()).cloned();
        let of = all_of.unwrap_or_else(|| schema.clone());
        let name = of["$ref"].as_str()?.rsplit('/').next()?.to_owned();
        Some((name.clone(), schemas[name].clone()))
    };
    if let Some((name, schema)) = referred(schema) {
        return match name.as_str() {
            name if name.ends_with("Quantity") => json!("1"),
            name if name.ends_with("Time") => json!("2026-11-21T11:00:00Z"),
            name if name.ends_with("FieldsV1") || name.ends_with("RawExtension") => json!({}),
            _ => filled(schemas, &schema),
        };
    }
    match schema["type"].as_str() {
        Some("array") => json!([filled(schemas, &schema["items"])]),
        Some("object") if schema["properties"].is_object() => {
            let fields = schema["properties"].as_object().expect("it is one").iter();
            let fields: Map<String, Value> = fields
                .map(|(name, schema)| (name.clone(), filled(schemas, schema)))
                .collect();
            Value::Object(fields)
        }
        Some("object") => json!({"key": filled(schemas, &schema["additionalProperties"])}),
        Some("integer") => json!(1),
        Some("boolean") => json!(true),
        Some("string") => json!("text"),
        _ => json!({}),
    }
}

#[test]
fn every_field_that_the_api_server_knows_is_known() {
    let cluster = Cluster::shared();
    for kind in Kind::all().filter(|kind| kind.group() == "resource.k8s.io") {
        for version in kind.versions() {
            let path = format!("/openapi/v3/apis/resource.k8s.io/{version}");
            let document = cluster.request(&Method::GET, &path, &Value::Null).body;
            let schemas = &document["components"]["schemas"];
            let named = schemas.as_object().expect("schemas").iter();
            let mut ours = named.filter(|(_, schema)| {
                let kinds = schema["x-kubernetes-group-version-kind"].as_array();
                kinds.is_some_and(|kinds| {
                    kinds
                        .iter()
                        .any(|one| one["kind"] == kind.name() && one["version"] == *version)
                })
            });
            // A release may not serve a kind in each version.
            let Some((_, schema)) = ours.next() else {
                assert_eq!(
                    (kind, *version),
                    (Kind::DeviceTaintRule, "v1beta1"),
                    "it is served"
                );
                continue;
            };
            let object = filled(schemas, schema);
            let faults = check_fields(kind, version, object.to_string().as_bytes(), Looking::ForAll);
            let faults: Vec<String> = faults.list.iter().map(ToString::to_string).collect();
            assert!(faults.is_empty(), "{kind} {version}: {faults:#?}\n{object}");
        }
    }
}

#[test]
fn unknown_fields_are_those_that_the_api_server_does_not_know() {
    let cluster = Cluster::shared();
    for (kind, version, spec) in [
        (
            Kind::ResourceSlice,
            "v1",
            json!({"driver": "d.example.com", "nodeName": "n", "pool": {"name": "n", "resourceSliceCount": 1, "count": 1},
                "devices": [{"name": "a", "basic": {"attributes": {}}}, {"name": "b", "attributes": {"x": {"strng": "y"}}}]}),
        ),
        (
            Kind::ResourceClaim,
            "v1",
            json!({"devices": {"requests": [{"name": "r", "deviceClassName": "gpu"}]}, "device": 1}),
        ),
        (
            Kind::ResourceClaim,
            "v1beta1",
            json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}),
        ),
        (
            Kind::DeviceTaintRule,
            "v1",
            json!({"deviceSelector": {"deviceClassName": "gpu"}, "taint": {"key": "k", "effect": "None", "time": 1}}),
        ),
    ] {
        let api_version = format!("resource.k8s.io/{version}");
        let object =
            json!({"apiVersion": api_version, "kind": kind.name(), "metadata": {"name": "x"}, "spec": spec});
        let path = path_of(&object, "fieldValidation=Strict");
        let answer = cluster.request(&Method::POST, &path, &object).body;
        let message = answer["message"].as_str().unwrap_or_default();
        let mut said: Vec<&str> = message
            .split("unknown field \"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        let faults = check_fields(kind, version, object.to_string().as_bytes(), Looking::ForUnknown);
        // The server writes keys of maps as fields.
        let plain = |path: &str| path.replace("attributes[x]", "attributes.x");
        let mut found: Vec<String> = faults.list.iter().map(|fault| plain(&fault.path)).collect();
        said.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, said, "{message}");
        assert!(!found.is_empty());
    }
}
