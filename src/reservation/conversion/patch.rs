//! The writes, as JSON patches.
//!
//! Each is locked: replacing the version with the one that was read makes the API server answer 409 when the object has changed since.

use serde_json::{Map, Value, json};

use super::{FINALIZER, NewEntry};
use crate::model::{Claim, ConsumerReference, Str};

/// The patch of the status that makes `entries` the whole list.
pub(super) fn replace_entries(claim: &Claim, entries: Vec<Value>) -> Value {
    Value::Array(list_operations(claim, entries))
}

/// The same, and from then on not every pod may use the claim any more.
pub(super) fn replace_entries_for_any_pod(claim: &Claim, entries: Vec<Value>) -> Value {
    let mut patch = list_operations(claim, entries);
    patch.push(json!({"op": "remove", "path": "/status/allocation/reservedForAnyPod"}));
    Value::Array(patch)
}

fn list_operations(claim: &Claim, entries: Vec<Value>) -> Vec<Value> {
    // Both operations do the same for a list that is there; only this one also creates it.
    let operation = if claim.status.reserved_for.is_empty() {
        "add"
    } else {
        "replace"
    };
    vec![
        lock(&claim.metadata.resource_version),
        json!({"op": operation, "path": "/status/reservedFor", "value": entries}),
    ]
}

/// The patch of the status that takes the devices back: the API server accepts no list without allocation and none the other way
/// round that would be left alone, so both go at once.
pub(super) fn release(claim: &Claim) -> Value {
    let mut patch = vec![lock(&claim.metadata.resource_version)];
    if !claim.status.reserved_for.is_empty() {
        patch.push(json!({"op": "remove", "path": "/status/reservedFor"}));
    }
    patch.push(json!({"op": "remove", "path": "/status/allocation"}));
    Value::Array(patch)
}

/// The patch of the object that drops the finalizer of a claim that was released; none when it has no such finalizer.
pub fn finalizer_patch(claim: &Claim) -> Option<Value> {
    let finalizers = &claim.metadata.finalizers;
    let rest: Vec<&str> = finalizers
        .iter()
        .map(Str::as_str)
        .filter(|name| *name != FINALIZER)
        .collect();
    if rest.len() == finalizers.len() {
        return None;
    }
    let change = if rest.is_empty() {
        json!({"op": "remove", "path": "/metadata/finalizers"})
    } else {
        json!({"op": "replace", "path": "/metadata/finalizers", "value": rest})
    };
    Some(json!([lock(&claim.metadata.resource_version), change]))
}

fn lock(version: &Str) -> Value {
    json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version.as_str()})
}

/// An entry as the API server has it, fields that this build does not know included.
pub fn entry_json(entry: &ConsumerReference) -> Value {
    let mut map = Map::new();
    if !entry.api_group.is_empty() {
        map.insert("apiGroup".to_owned(), json!(entry.api_group.as_str()));
    }
    for (field, text) in [
        ("resource", &entry.resource),
        ("name", &entry.name),
        ("uid", &entry.uid),
    ] {
        map.insert(field.to_owned(), json!(text.as_str()));
    }
    for (field, value) in entry.unknown.iter().flat_map(|fields| fields.iter()) {
        map.insert(field.clone(), value.clone());
    }
    Value::Object(map)
}

pub(super) fn new_entry_json(entry: &NewEntry) -> Value {
    json!({"resource": "pods", "name": entry.name.as_str(), "uid": entry.uid.as_str()})
}
