//! The writes, as JSON patches.
//!
//! Each is locked: replacing the version with the one that was read makes the API server answer 409 when the object has changed since.

use serde_json::{Map, Value, json};

use super::{FINALIZER, NewEntry};
use crate::model::{Claim, ConsumerReference, Str};

/// The patch of the status that makes `entries` the whole list.
pub(super) fn replace_entries(claim: &Claim, entries: Vec<Value>) -> Value {
    Value::Array(vec![
        lock(&claim.metadata.resource_version),
        list_operation(claim.status.reserved_for.is_empty(), entries),
    ])
}

fn list_operation(creates: bool, entries: Vec<Value>) -> Value {
    // Both operations do the same for a list that is there; only this one also creates it.
    let operation = if creates { "add" } else { "replace" };
    json!({"op": operation, "path": "/status/reservedFor", "value": entries})
}

/// The write of a claim's status, locked to the version that was read. It becomes JSON when that is needed: of a large cluster most
/// plans are counted and shown in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    version: Str,
    change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    /// Nothing.
    None,
    /// This becomes the list.
    List {
        /// There is none yet.
        creates: bool,
        kept: Vec<ConsumerReference>,
        added: Vec<NewEntry>,
        /// From then on not every pod may use the claim any more.
        ends_any_pod: bool,
    },
    /// List, if there is one, and allocation go.
    Release { has_list: bool },
}

impl Patch {
    /// Changes nothing.
    pub(super) fn nothing(claim: &Claim) -> Self {
        Self {
            version: claim.metadata.resource_version.clone(),
            change: Change::None,
        }
    }

    /// Makes entries that stay, and behind them new ones, the whole list.
    pub(super) fn list(
        claim: &Claim,
        kept: Vec<ConsumerReference>,
        added: Vec<NewEntry>,
        ends_any_pod: bool,
    ) -> Self {
        Self {
            version: claim.metadata.resource_version.clone(),
            change: Change::List {
                creates: claim.status.reserved_for.is_empty(),
                kept,
                added,
                ends_any_pod,
            },
        }
    }

    /// Takes the devices back: the API server accepts no list without allocation and none the other way round that would be left
    /// alone, so both go at once.
    pub(super) fn release(claim: &Claim) -> Self {
        Self {
            version: claim.metadata.resource_version.clone(),
            change: Change::Release {
                has_list: !claim.status.reserved_for.is_empty(),
            },
        }
    }

    /// Pods that get an entry, by name.
    pub(super) fn added(&self) -> &[NewEntry] {
        match &self.change {
            Change::List { added, .. } => added,
            Change::None | Change::Release { .. } => &[],
        }
    }

    /// The JSON patch, whose first operation is the lock; without any operation where there is nothing to change.
    pub fn to_json(&self) -> Value {
        let mut operations = Vec::new();
        match &self.change {
            Change::None => {}
            Change::List {
                creates,
                kept,
                added,
                ends_any_pod,
            } => {
                let kept = kept.iter().map(entry_json);
                let entries = kept.chain(added.iter().map(new_entry_json)).collect();
                operations.push(lock(&self.version));
                operations.push(list_operation(*creates, entries));
                if *ends_any_pod {
                    operations.push(json!({"op": "remove", "path": "/status/allocation/reservedForAnyPod"}));
                }
            }
            Change::Release { has_list } => {
                operations.push(lock(&self.version));
                if *has_list {
                    operations.push(json!({"op": "remove", "path": "/status/reservedFor"}));
                }
                operations.push(json!({"op": "remove", "path": "/status/allocation"}));
            }
        }
        Value::Array(operations)
    }
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

fn new_entry_json(entry: &NewEntry) -> Value {
    json!({"resource": "pods", "name": entry.name.as_str(), "uid": entry.uid.as_str()})
}
