//! A cluster as a snapshot file has it, built again on a control plane.
//!
//! Objects keep their names and what they say, statuses included; the server gives them other UIDs, which are put in wherever one
//! object names another.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Cluster;
use super::api::reference;
use super::kubelet::now;

/// The objects of a snapshot file.
pub(crate) struct Recorded {
    items: Vec<Value>,
}

/// Kinds in the order in which they are created, owners first.
const ORDER: &[&str] = &[
    "Namespace",
    "Node",
    "DeviceClass",
    "ResourceSlice",
    "DeviceTaintRule",
    "ResourceClaimTemplate",
    "Workload",
    "PodGroup",
    "Pod",
    "ResourceClaim",
];

impl Recorded {
    /// Reads `tests/data/snapshots/NAME.yaml`.
    pub(crate) fn read(name: &str) -> Self {
        Self::read_file(&format!("tests/data/snapshots/{name}.yaml"))
    }

    /// Reads a file, whose path begins in the folder of the project.
    pub(crate) fn read_file(path: &str) -> Self {
        let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}"));
        let mut list: Value = serde_saphyr::from_str(&text).unwrap_or_else(|why| panic!("{path}: {why}"));
        let Value::Array(mut items) = list["items"].take() else {
            panic!("{path} is no list");
        };
        // Whoever leaves objects out has other numbers than those of the file.
        items.retain(|item| item["kind"] != "SnapshotInfo");
        items.iter_mut().for_each(fill_attributes);
        Self { items }
    }

    /// The pods without a node that have not ended.
    pub(crate) fn pending(&self) -> Vec<&Value> {
        let is_pending = |item: &&Value| {
            let ended =
                ["Succeeded", "Failed"].contains(&item["status"]["phase"].as_str().unwrap_or_default());
            item["kind"] == "Pod" && !item["spec"]["nodeName"].is_string() && !ended
        };
        self.items.iter().filter(is_pending).collect()
    }

    /// Returns whether a pod holds the allocation of a claim that was made for it.
    fn holds(&self, pod: &Value) -> bool {
        let mut claims = self.items.iter().filter(|item| item["kind"] == "ResourceClaim");
        claims.any(|claim| {
            claim["status"]["allocation"].is_object()
                && claim["metadata"]["ownerReferences"][0]["uid"] == pod["metadata"]["uid"]
        })
    }

    /// The file's objects without pending pods other than `pod` that hold nothing, and without what was made for those: they
    /// would compete for what is freed.
    pub(crate) fn only(&self, pod: &Value) -> Self {
        let others: Vec<&Value> = self
            .pending()
            .into_iter()
            .filter(|other| *other != pod && !self.holds(other))
            .map(|other| &other["metadata"]["uid"])
            .collect();
        let is_left = |item: &&Value| {
            !others.contains(&&item["metadata"]["uid"])
                && !others.contains(&&item["metadata"]["ownerReferences"][0]["uid"])
        };
        Self {
            items: self.items.iter().filter(is_left).cloned().collect(),
        }
    }

    /// Lets all allocations be of now.
    pub(crate) fn allocate_now(&mut self) {
        for item in &mut self.items {
            if item["status"]["allocation"]["allocationTimestamp"].is_string() {
                item["status"]["allocation"]["allocationTimestamp"] = json!(now());
            }
        }
    }

    /// As one `kind: List`, which does not say that it is all there is.
    pub(crate) fn list(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "List", "items": self.items})
    }
}

impl Cluster {
    /// Creates what was recorded. Neither scheduler nor controllers may run.
    #[track_caller]
    pub(crate) fn restore(&self, recorded: &Recorded) {
        let mut uids: BTreeMap<String, Value> = BTreeMap::new();
        for kind in ORDER {
            for item in recorded.items.iter().filter(|item| item["kind"] == *kind) {
                let made = self.restore_one(item, &uids);
                if let Some(uid) = item["metadata"]["uid"].as_str() {
                    uids.insert(uid.to_owned(), made["metadata"]["uid"].clone());
                }
            }
        }
    }

    fn restore_one(&self, recorded: &Value, uids: &BTreeMap<String, Value>) -> Value {
        let mut object = recorded.clone();
        rename(&mut object, uids);
        let status = object["status"].take();
        let metadata = object["metadata"].as_object_mut().expect("objects have metadata");
        let is_deleting = metadata.contains_key("deletionTimestamp");
        for field in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "generation",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "managedFields",
        ] {
            metadata.remove(field);
        }
        let name = reference(&object);
        if recorded["kind"] == "Namespace" {
            let labels = object["metadata"]["labels"].clone();
            return match self.find(&name) {
                Some(_) => self.patch(&name, &json!({"metadata": {"labels": labels}})),
                None => self.create(&object),
            };
        }
        self.create(&object);
        if recorded["kind"] == "Node" {
            // Admission taints every new node.
            let taints = object["spec"]["taints"].clone();
            self.patch(&name, &json!({"spec": {"taints": taints}}));
        }
        if status.as_object().is_some_and(|status| !status.is_empty()) {
            self.update_status(&name, |made| made["status"] = status.clone());
        }
        let made = self.get(&name);
        if is_deleting {
            self.delete(&name);
        }
        made
    }

    /// Removes everything that [`restore`](Self::restore) creates. Neither scheduler nor controllers may run.
    #[track_caller]
    pub(crate) fn clear(&self) {
        for kind in [
            "pod", "claim", "podgroup", "workload", "template", "rule", "slice", "class", "node",
        ] {
            for object in self.list(kind) {
                let name = reference(&object);
                if object["metadata"]["finalizers"].is_array() {
                    self.patch(&name, &json!({"metadata": {"finalizers": null}}));
                }
                self.delete_now(&name);
                self.wait_gone(&name);
            }
        }
    }
}

/// A release that does not know lists leaves nothing of an attribute, which no release accepts.
fn fill_attributes(item: &mut Value) {
    for device in item["spec"]["devices"].as_array_mut().into_iter().flatten() {
        for (_, attribute) in device["attributes"].as_object_mut().into_iter().flatten() {
            if attribute.as_object().is_some_and(serde_json::Map::is_empty) {
                *attribute = json!({"strings": ["not known"]});
            }
        }
    }
}

/// Puts in the UIDs that objects have now. An owner that is not there keeps its old one.
fn rename(value: &mut Value, uids: &BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_str().and_then(|uid| uids.get(uid)) {
                    Some(uid) if name == "uid" => *field = uid.clone(),
                    _ => rename(field, uids),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, uids)),
        _ => {}
    }
}
