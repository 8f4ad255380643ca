use serde_json::Value;

use super::*;
use dra_cel::Features;
use dra_model::Change;

/// The manifests that a real API server was asked about, each with the paths of what it refuses. A live test asks it again.
fn cases() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/manifests.jsonl");
    #[expect(clippy::disallowed_methods, reason = "a test reads its cases")]
    std::fs::read_to_string(path).expect("the cases are there")
}

fn expressions() -> Environment {
    let features = Features {
        consumable_capacity: true,
        list_type_attributes: true,
    };
    Environment::new(37, features)
}

#[test]
fn what_the_api_server_refuses_is_refused_at_the_same_paths() {
    let expressions = expressions();
    let mut cluster = Cluster::default();
    let namespace = Object::from_json(Kind::Namespace, br#"{"metadata": {"name": "default"}}"#);
    cluster.apply(Change::Put(namespace.expect("a namespace")));
    let mut wrong = Vec::new();
    for line in cases().lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let object = &case["object"];
        let api_version = object["apiVersion"].as_str().expect("it has an apiVersion");
        // What older versions are rewritten as is tested where that is done.
        if api_version != "resource.k8s.io/v1" && api_version != "v1" {
            continue;
        }
        let group = if api_version == "v1" {
            ""
        } else {
            "resource.k8s.io"
        };
        let kind = Kind::find(group, object["kind"].as_str().expect("it has a kind")).expect("it is known");
        let mut found = validate(kind, object, "", &expressions).list;
        if let Ok(decoded) = Object::from_json(kind, object.to_string().as_bytes())
            && let AdminAccess::Refused(why) = admin_access(&cluster, &decoded)
        {
            found.push(why);
        }
        let mut paths: Vec<&str> = found
            .iter()
            .map(|violation| violation.split_once(": ").map_or("", |(path, _)| path))
            .collect();
        paths.sort_unstable();
        paths.dedup();
        let expected: Vec<&str> = case["paths"]
            .as_array()
            .expect("paths")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if paths != expected {
            wrong.push(format!("{}: {expected:?}, found {found:#?}", case["what"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_violation_is_reported_once_and_a_bounded_number_described() {
    let devices: Vec<Value> = (0..120)
        .map(|_| serde_json::json!({"name": "-", "attributes": {"a": {}}}))
        .collect();
    let slice = serde_json::json!({"metadata": {"name": "s"}, "spec": {"driver": "d", "nodeName": "n",
        "pool": {"name": "p", "resourceSliceCount": 1}, "devices": devices}});
    let found = validate(Kind::ResourceSlice, &slice, "", &expressions());
    assert_eq!((found.list.len(), found.more), (100, 3 * 120 - 1 - 100));
}
