//! Control planes that tests use one after the other.
//!
//! A control plane takes some seconds of processor time to start, most of them its API server. When a test is over, its control plane
//! waits here, unless the test failed, or changed the API server or etcd. The next test that wants these as they are gets it,
//! emptied, and with the scheduler and the controller manager that it wants.

use std::collections::BTreeMap;
use std::sync::Mutex;

use http::Method;
use serde_json::{Value, json};

use super::api::{Api, Response};
use super::options::Options;
use super::{Plane, lock};
use crate::support::wait::{try_wait, wait_for};

/// Number of control planes wait at most. Each has 1 GB of memory.
const MOST: usize = 5;

/// The waiting control planes, the one that has waited longest first.
static WAITING: Mutex<Vec<Plane>> = Mutex::new(Vec::new());

/// Hands over a control plane that has nothing but what every new one has, if one waits that can be made to have these options.
pub(super) fn take(options: &Options) -> Option<Plane> {
    let plane = {
        let mut waiting = lock(&WAITING);
        let (place, _) = waiting
            .iter()
            .enumerate()
            .filter_map(|(place, plane)| Some((place, plane.differs(options)?)))
            .min_by_key(|(_, unlike)| *unlike)?;
        waiting.remove(place)
    };
    empty(&plane.admin);
    plane.become_like(options);
    plane.begin_audit();
    Some(plane)
}

/// Keeps a control plane for another test.
pub(super) fn give(plane: Plane) {
    let mut waiting = lock(&WAITING);
    waiting.push(plane);
    let surplus = (waiting.len() > MOST).then(|| waiting.remove(0));
    // Its components take a moment to end.
    drop(waiting);
    drop(surplus);
}

/// The namespaces that every cluster has.
const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Resources that the API server keeps for itself, and those that no test makes. Events are those of `v1`.
const KEPT: [&str; 7] = [
    "apiservices",
    "componentstatuses",
    "flowschemas",
    "ipaddresses",
    "prioritylevelconfigurations",
    "servicecidrs",
    "storageversions",
];

/// Deletes whatever tests have made.
fn empty(admin: &Api) {
    let collections = collections(admin);
    let emptied = try_wait(|| {
        let mut left = Vec::new();
        for (resource, collection) in &collections {
            let list = admin.request(&Method::GET, collection, &Value::Null);
            if is_refused(&list) {
                left.push(format!("{collection}: {}", list.body));
            }
            for object in list.body["items"].as_array().into_iter().flatten() {
                if !is_of_every_cluster(resource, object) {
                    delete(admin, resource, collection, object);
                    left.push(object["metadata"]["name"].to_string());
                }
            }
        }
        if left.is_empty() { Ok(()) } else { Err(left) }
    });
    emptied.unwrap_or_else(|left| panic!("a control plane cannot be emptied: {left:?}"));
    forget_rights(admin);
}

/// The collections of all resources that can be listed and deleted, by resource, each in the version that the server likes best. Pods
/// come behind what makes them, and namespaces last.
fn collections(admin: &Api) -> Vec<(String, String)> {
    let get = |path: &str| {
        wait_for(&format!("{path} is answered"), || {
            let answer = admin.request(&Method::GET, path, &Value::Null);
            (!is_refused(&answer)).then_some(answer.body)
        })
    };
    let mut roots = vec!["/api/v1".to_owned()];
    for group in get("/apis")["groups"].as_array().into_iter().flatten() {
        let versions = group["versions"].as_array().into_iter().flatten();
        roots.extend(
            versions
                .filter_map(|version| version["groupVersion"].as_str())
                .map(|version| format!("/apis/{version}")),
        );
    }
    let mut found = BTreeMap::new();
    for root in roots {
        let group = root
            .rsplit_once('/')
            .map_or(root.as_str(), |(group, _)| group)
            .to_owned();
        for resource in get(&root)["resources"].as_array().into_iter().flatten() {
            let name = resource["name"].as_str().unwrap_or_default();
            let verbs = &resource["verbs"];
            let has = |verb| verbs.as_array().is_some_and(|verbs| verbs.contains(&json!(verb)));
            if !KEPT.contains(&name) && group != "/apis/events.k8s.io" && has("list") && has("delete") {
                found
                    .entry((group.clone(), name.to_owned()))
                    .or_insert_with(|| format!("{root}/{name}"));
            }
        }
    }
    let mut collections: Vec<(String, String)> = found
        .into_iter()
        .map(|((_, resource), collection)| (resource, collection))
        .collect();
    collections.sort_by_key(|(resource, _)| match resource.as_str() {
        "pods" => 1,
        "resourceclaims" => 2,
        "namespaces" => 3,
        _ => 0,
    });
    collections
}

/// Returns whether a busy server gave no answer: what there is would stay for the next test.
fn is_refused(answer: &Response) -> bool {
    answer.status == 429 || answer.status >= 500
}

fn is_of_every_cluster(resource: &str, object: &Value) -> bool {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    let labels = &metadata["labels"];
    match resource {
        "namespaces" => NAMESPACES.contains(&name),
        "serviceaccounts" => name == "default" || metadata["namespace"] == "kube-system",
        "configmaps" => name == "kube-root-ca.crt" || metadata["namespace"] == "kube-system",
        "services" | "endpoints" | "endpointslices" => name == "kubernetes",
        "priorityclasses" => name.starts_with("system-"),
        "leases" => labels["apiserver.kubernetes.io/identity"].is_string(),
        _ => labels["kubernetes.io/bootstrapping"].is_string(),
    }
}

/// Deletes an object, whatever its finalizers and its kubelet might say. It may be gone already, or be one that cannot be deleted.
fn delete(admin: &Api, resource: &str, collection: &str, object: &Value) {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    let path = match metadata["namespace"].as_str() {
        Some(namespace) => {
            let (root, _) = collection.rsplit_once('/').unwrap_or_default();
            format!("{root}/namespaces/{namespace}/{resource}/{name}")
        }
        None => format!("{collection}/{name}"),
    };
    if metadata["finalizers"].is_array() {
        let without = json!({"metadata": {"finalizers": null}});
        admin.request_as(&Method::PATCH, &path, "application/merge-patch+json", &without);
    }
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "propagationPolicy": "Background"});
    admin.request(&Method::DELETE, &path, &options);
    if resource == "namespaces" {
        // What was in it is gone.
        let mut namespace = object.clone();
        namespace["spec"]["finalizers"] = json!([]);
        namespace["metadata"]["resourceVersion"] = Value::Null;
        admin.request(&Method::PUT, &format!("{path}/finalize"), &namespace);
    }
}

/// Waits until the authorizer has seen that the bindings of earlier users are gone: it sees changes of a kind in their order.
fn forget_rights(admin: &Api) {
    const MARKER: &str = "emptied";
    let metadata = json!({"name": MARKER});
    let subjects = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": MARKER}]);
    for (kind, collection, namespace) in [
        ("ClusterRoleBinding", "clusterrolebindings", None),
        ("RoleBinding", "namespaces/default/rolebindings", Some("default")),
    ] {
        let collection = format!("/apis/rbac.authorization.k8s.io/v1/{collection}");
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "subjects": subjects,
            // A role whose rules no controller has to fill in.
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}});
        let may = || {
            let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {"user": MARKER,
                "resourceAttributes": {"namespace": namespace, "verb": "list", "resource": "pods"}}});
            let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            admin.request(&Method::POST, path, &review).body["status"]["allowed"] == true
        };
        admin.request(&Method::POST, &collection, &binding);
        wait_for("the authorizer knows the last binding", || may().then_some(()));
        admin.request(&Method::DELETE, &format!("{collection}/{MARKER}"), &Value::Null);
        wait_for("the authorizer knows that it is gone", || (!may()).then_some(()));
    }
}
