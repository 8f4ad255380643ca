//! Objects of kinds that the model does not hold, as far as they matter as owners of others.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Meta, OwnerReference, Str};
use dra_values::json;

/// An object that may make others.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// The controller of the object itself.
    pub controller: Option<OwnerReference>,
    /// Whether it makes no further pod when one of its pods goes.
    pub stops: bool,
}

/// The owners that a source has, by group, kind, namespace and name.
#[derive(Clone, Debug, Default)]
pub struct Owners(BTreeMap<[Str; 4], Owner>);

impl OwnerReference {
    /// The API group of the owner; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl Owners {
    /// Adds the object that `json` is, of this version and kind. What has no metadata is no owner.
    pub fn add(&mut self, api_version: &str, kind: &str, json: &[u8]) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Read {
            metadata: Meta,
            spec: Spec,
            status: Status,
        }
        let Ok(read) = json::from_slice::<Read>(json) else {
            return;
        };
        let Meta { namespace, name, .. } = &read.metadata;
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let owner = Owner {
            controller: read.metadata.controller().cloned(),
            stops: read.metadata.is_deleting() || stops(group, kind, &read.spec, &read.status),
        };
        let key = [group.into(), kind.into(), namespace.clone(), name.clone()];
        self.0.insert(key, owner);
    }

    /// About how many bytes they take.
    pub fn weight(&self) -> u64 {
        let of_one =
            |key: &[Str; 4]| key.iter().map(|part| part.len()).sum::<usize>() + 4 * size_of::<Owner>();
        self.0.keys().map(of_one).sum::<usize>() as u64
    }

    /// Adds all of `others`.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The owner that an object in `namespace` refers to, which may be in no namespace.
    pub fn find(&self, owner: &OwnerReference, namespace: &Str) -> Option<&Owner> {
        let key = |namespace: Str| {
            [
                owner.group().into(),
                owner.kind.clone(),
                namespace,
                owner.name.clone(),
            ]
        };
        let found = self.0.get(&key(namespace.clone()));
        found.or_else(|| self.0.get(&key(Str::default())))
    }
}

/// What tells whether an owner makes further pods.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    replicas: Value,
    suspend: Value,
    backoff_limit: Value,
    backoff_limit_per_index: Value,
    pod_failure_policy: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    replicas: Value,
    failed: Value,
    conditions: Value,
}

/// Whether the controller of such an object makes no pod in the place of one that goes: it has more than it wants, or may lose no further one.
///
/// Mirrors `job/job_controller.go`, `syncJob`, v1.37.2, which counts a pod that was deleted as one that failed.
fn stops(group: &str, kind: &str, spec: &Spec, status: &Status) -> bool {
    let number = |value: &Value, default| value.as_i64().unwrap_or(default);
    match (group, kind) {
        ("apps", "ReplicaSet" | "StatefulSet") | ("", "ReplicationController") => {
            let wanted = number(&spec.replicas, 1);
            wanted == 0 || number(&status.replicas, 0) > wanted
        }
        ("batch", "Job") => {
            let conditions = status.conditions.as_array().into_iter().flatten();
            let mut ends = conditions.filter(|condition| condition["status"] == "True");
            let has_own_limits =
                !spec.pod_failure_policy.is_null() || !spec.backoff_limit_per_index.is_null();
            has_own_limits
                || spec.suspend == true
                || ends.any(|condition| condition["type"] != "Suspended")
                || number(&status.failed, 0) >= number(&spec.backoff_limit, 6)
        }
        _ => false,
    }
}
