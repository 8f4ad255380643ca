//! A copy of files as a snapshot, with the objects as they are in a later state of the cluster.
//!
//! Unchanged objects are copied verbatim. Of the others only changed parts are rewritten, so unknown fields remain. A
//! claim that was made has everything that its template says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::bundle::{
    Compression, Part, Redaction, Snapshot, SnapshotError, SnapshotInfo, add_owner, members,
};
use super::files::{Found, RawItem, ReadError, ReadOptions, Source, read};
use super::gates::VersionSettings;
use super::load::{LoadError, Request, load_sources, sources};
use super::needs::{Needs, Unobserved};
use super::recognize::{Recognized, recognize};
use dra_model::{Claim, Cluster, Condition, Key, Kind, Meta, Object, PodClaimStatus, Time, json};

/// Data to write.
#[derive(Clone, Copy, Debug)]
pub struct Successor<'a> {
    /// The arguments of `--from`, without standard input.
    pub names: &'a [String],
    /// Namespace of objects without one.
    pub namespace: &'a str,
    /// The cluster as the files have it, with every kind but those of rights.
    pub before: &'a Cluster,
    /// The cluster as it is to be written.
    pub after: &'a Cluster,
    /// The templates of claims that were made in between, by claim.
    pub templates: &'a BTreeMap<Key, Key>,
    /// Its time, if known.
    pub at: Option<Time>,
}

/// The reason why it cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SuccessorError {
    /// The files cannot be read a second time.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The copy cannot be made.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A file that was read a moment ago is not JSON now.
    #[error("the files changed in the meantime")]
    Changed(#[from] serde_json::Error),
    /// The copy, read again, is not what was to be written.
    #[error("the copy contains the wrong {kind} `{}`", key.to_string().trim_start_matches('/'))]
    Unlike {
        /// Of the object.
        kind: Kind,
        /// Of the object.
        key: Key,
    },
}

impl From<ReadError> for SuccessorError {
    fn from(error: ReadError) -> Self {
        Self::Load(error.into())
    }
}

/// Identity of the object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Head {
    metadata: Identity,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Identity {
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
}

/// A template, unchanged from the files.
struct Template {
    api_version: String,
    json: Vec<u8>,
}

/// The lists of the copy, by kind and version.
struct Parts<'a> {
    directory: &'a Path,
    compression: Compression,
    parts: BTreeMap<(Kind, String), Part>,
}

impl Parts<'_> {
    fn of(&mut self, kind: Kind, api_version: &str) -> &mut Part {
        let key = (kind, api_version.to_owned());
        self.parts.entry(key).or_insert_with_key(|(kind, api_version)| {
            let (directory, compression) = (self.directory, self.compression);
            Part::new(*kind, api_version.clone(), Redaction::Off, directory, compression)
        })
    }
}

impl Successor<'_> {
    /// Reads the files once more, makes the copy in temporary files in `directory`, and reads that: it has the objects of the later
    /// state and no others.
    ///
    /// # Errors
    /// When the files cannot be read, nothing can be written in the directory, or the copy is not what it should be.
    pub fn snapshot(&self, directory: &Path, compression: Compression) -> Result<Snapshot, SuccessorError> {
        let sources = sources(self.names)?;
        let mut parts = Parts {
            directory,
            compression,
            parts: BTreeMap::new(),
        };
        let mut templates = BTreeMap::new();
        let wanted: BTreeSet<&Key> = self.templates.values().collect();
        let mut redacted = Vec::new();
        let mut owners = Vec::new();
        read(&sources, &ReadOptions::default(), |found| {
            let Found::Item(item) = found else { return Ok(()) };
            match recognize(item.api_version, item.kind) {
                Recognized::Known { kind, .. } => {
                    let api_version = item.api_version.unwrap_or_default();
                    // What is no object was left out the first time too, and is a gap.
                    let Ok(key) = self.key(kind, &item) else {
                        return Ok(());
                    };
                    if kind == Kind::ResourceClaimTemplate && wanted.contains(&key.0) {
                        let template = Template {
                            api_version: api_version.to_owned(),
                            json: item.json.to_vec(),
                        };
                        templates.insert(key.0.clone(), template);
                    }
                    if let Some(json) = self.changed(kind, &key, &item)? {
                        parts.of(kind, api_version).add(json.as_bytes());
                    }
                }
                Recognized::Info => {
                    let info: Result<SnapshotInfo, _> = json::from_slice(item.json);
                    redacted.push(info.is_ok_and(|info| info.redacted));
                }
                // It may be an owner.
                Recognized::Other => {
                    let version_and_kind = (
                        item.api_version.unwrap_or_default(),
                        item.kind.unwrap_or_default(),
                    );
                    add_owner(Redaction::On, version_and_kind, item.json, &mut owners);
                }
                // What could not be understood is a gap.
                Recognized::Unclear { .. } => {}
            }
            Ok::<_, SuccessorError>(())
        })?;
        for (key, template) in self.templates {
            if let (Some(claim), Some(template)) = (self.after.claim(key), templates.get(template)) {
                let json = made(claim, &template.json)?;
                parts
                    .of(Kind::ResourceClaim, &template.api_version)
                    .add(json.as_bytes());
            }
        }
        // What is not listed would be unknown.
        for kind in Needs::everything().kind_set() {
            if self.before.count(kind) == 0 && self.before.gap(kind, "").is_none() {
                parts.of(kind, &kind.api_version(kind.versions()[0]));
            }
        }
        let parts: Vec<Part> = parts.parts.into_values().collect();
        let lists = parts.iter().map(|part| part.info(String::new())).collect();
        let mut environment = self.after.environment().clone();
        environment.read_at = self.at;
        let redacted = !redacted.is_empty() && redacted.into_iter().all(|redacted| redacted);
        let info = SnapshotInfo::new(&environment, lists, redacted, None);
        let mut snapshot = Snapshot::new(info, parts, &owners, directory, compression)?;
        self.prove(&mut snapshot, directory)?;
        Ok(snapshot)
    }

    /// Reads the copy and compares it with the later state.
    fn prove(&self, snapshot: &mut Snapshot, directory: &Path) -> Result<(), SuccessorError> {
        let mut text = Vec::new();
        snapshot
            .copy_to(&mut text)
            .map_err(|source| SnapshotError::Temporary {
                directory: directory.to_owned(),
                source,
            })?;
        let sources = [Source::Text {
            name: "the copy".into(),
            text: text.into(),
        }];
        let request = Request {
            names: self.names,
            namespace: self.namespace,
            strict: false,
            versions: &VersionSettings::default(),
        };
        let copy = load_sources(&sources, &request, &Needs::everything(), Arc::new(Unobserved))?.cluster;
        let mut unlike = None;
        for kind in Needs::everything().kind_set() {
            self.after.differences(&copy, kind, |wanted, found| {
                let is_same = wanted
                    .zip(found)
                    .is_some_and(|(wanted, found)| wanted.says_the_same(found));
                if !is_same && let Some(object) = wanted.or(found) {
                    unlike.get_or_insert_with(|| (kind, object.metadata().key()));
                }
            });
        }
        match unlike {
            Some((kind, key)) => Err(SuccessorError::Unlike { kind, key }),
            None => Ok(()),
        }
    }

    /// Returns which object it is: its key, and its UID if it has one.
    fn key(&self, kind: Kind, item: &RawItem<'_>) -> Result<(Key, String), serde_json::Error> {
        let Head { metadata } = json::from_slice(item.json)?;
        let namespace = match metadata.namespace.filter(|namespace| !namespace.is_empty()) {
            _ if !kind.is_namespaced() => String::new(),
            Some(namespace) => namespace,
            None => self.namespace.to_owned(),
        };
        let key = Key::new(namespace, metadata.name.unwrap_or_default());
        Ok((key, metadata.uid.unwrap_or_default()))
    }

    /// The object as it is later; nothing if it is gone then.
    fn changed(
        &self,
        kind: Kind,
        (key, uid): &(Key, String),
        item: &RawItem<'_>,
    ) -> Result<Option<String>, serde_json::Error> {
        let Ok(json) = json::from_slice::<&RawValue>(item.json) else {
            return Ok(None);
        };
        let as_it_is = || Ok(Some(json.get().to_owned()));
        let Some(before) = self.before.get(kind, key) else {
            return as_it_is();
        };
        // Of several with one name another one counts.
        if before.metadata().uid != **uid && !uid.is_empty() {
            return as_it_is();
        }
        let Some(after) = self.after.get(kind, key) else {
            return Ok(None);
        };
        let mut text = Text(json.get().to_owned());
        match (before, after) {
            (Object::Pod(before), Object::Pod(after)) => {
                text.metadata(&before.metadata, &after.metadata)?;
                let names = [&before.status, &after.status].map(|status| &status.resource_claim_statuses);
                text.statuses(names)?;
                text.conditions(&before.status.conditions, &after.status.conditions)?;
            }
            (Object::PodGroup(before), Object::PodGroup(after)) => {
                let names = [&before.status, &after.status].map(|status| &status.resource_claim_statuses);
                text.statuses(names)?;
            }
            (Object::ResourceClaim(before), Object::ResourceClaim(after)) => text.claim(before, after)?,
            (Object::DeviceTaintRule(before), Object::DeviceTaintRule(after)) => {
                text.conditions(&before.status.conditions, &after.status.conditions)?;
            }
            // The others are not written.
            _ => {}
        }
        Ok(Some(text.0))
    }
}

/// An object as JSON, which changes field by field.
struct Text(String);

type Edited = Result<(), serde_json::Error>;

impl Text {
    /// Puts `value` at `path`, or takes away what is there.
    fn set(&mut self, path: &[&str], value: Option<String>) -> Edited {
        let object: &RawValue = json::from_str(&self.0)?;
        self.0 = with(object, path, value.as_deref())?;
        Ok(())
    }

    /// Puts a list at `path`; an empty one is none.
    fn set_list(&mut self, path: &[&str], elements: &[String]) -> Edited {
        let list = (!elements.is_empty()).then(|| format!("[{}]", elements.join(",")));
        self.set(path, list)
    }

    /// The elements of the list at `path`, which may not be there.
    fn list(&self, path: &[&str]) -> Result<Vec<String>, serde_json::Error> {
        let mut value: &RawValue = json::from_str(&self.0)?;
        for key in path {
            let Some((_, inner)) = members(value)?.into_iter().find(|(name, _)| name == key) else {
                return Ok(Vec::new());
            };
            value = inner;
            if value.get() == "null" {
                return Ok(Vec::new());
            }
        }
        let elements: Option<Vec<&RawValue>> = json::from_str(value.get())?;
        Ok(elements
            .into_iter()
            .flatten()
            .map(|element| element.get().to_owned())
            .collect())
    }

    fn metadata(&mut self, before: &Meta, after: &Meta) -> Edited {
        if before.deletion_timestamp != after.deletion_timestamp {
            let at = after.deletion_timestamp.map(|at| json!(at).to_string());
            self.set(&["metadata", "deletionTimestamp"], at)?;
            let seconds = after.deletion_grace_period_seconds.unwrap_or(0);
            self.set(
                &["metadata", "deletionGracePeriodSeconds"],
                Some(seconds.to_string()),
            )?;
        }
        if before.finalizers != after.finalizers {
            let finalizers: Vec<String> = after
                .finalizers
                .iter()
                .map(|name| json!(name.as_str()).to_string())
                .collect();
            self.set_list(&["metadata", "finalizers"], &finalizers)?;
        }
        Ok(())
    }

    /// Returns the claims in a status, before and after.
    fn statuses(&mut self, [before, after]: [&Vec<PodClaimStatus>; 2]) -> Edited {
        let told = |statuses: &[PodClaimStatus]| -> Vec<_> {
            let pairs = statuses.iter();
            pairs
                .map(|status| (status.name.clone(), status.resource_claim_name.clone()))
                .collect()
        };
        if told(before) == told(after) {
            return Ok(());
        }
        let path = ["status", "resourceClaimStatuses"];
        let known = self.list(&path)?;
        let element = |status: &PodClaimStatus| {
            let name = json!(status.name.as_str()).to_string();
            let mut element =
                Text(found(&known, "name", &status.name).unwrap_or_else(|| format!("{{\"name\":{name}}}")));
            let claim = status
                .resource_claim_name
                .as_ref()
                .map(|name| json!(name.as_str()).to_string());
            element.set(&["resourceClaimName"], claim)?;
            Ok(element.0)
        };
        let elements = after
            .iter()
            .map(element)
            .collect::<Result<Vec<_>, serde_json::Error>>()?;
        self.set_list(&path, &elements)
    }

    fn conditions(&mut self, before: &[Condition], after: &[Condition]) -> Edited {
        let changed = after.iter().filter(|condition| !before.contains(condition));
        let path = ["status", "conditions"];
        for condition in changed {
            let mut elements = self.list(&path)?;
            let place = elements
                .iter()
                .position(|element| is(element, "type", &condition.type_));
            let mut element = Text(place.map_or_else(|| "{}".to_owned(), |place| elements[place].clone()));
            let fields = [
                ("type", &condition.type_),
                ("status", &condition.status),
                ("reason", &condition.reason),
                ("message", &condition.message),
            ];
            for (field, text) in fields {
                element.set(&[field], Some(json!(text.as_str()).to_string()))?;
            }
            let at = condition.last_transition_time.map(|at| json!(at).to_string());
            element.set(&["lastTransitionTime"], at)?;
            let generation =
                (condition.observed_generation != 0).then(|| condition.observed_generation.to_string());
            element.set(&["observedGeneration"], generation)?;
            match place {
                Some(place) => elements[place] = element.0,
                None => elements.push(element.0),
            }
            self.set_list(&path, &elements)?;
        }
        Ok(())
    }

    fn claim(&mut self, before: &Claim, after: &Claim) -> Edited {
        self.metadata(&before.metadata, &after.metadata)?;
        if before.status.reserved_for != after.status.reserved_for {
            let entries = after.status.reserved_for.iter();
            let elements: Vec<String> = entries.map(|entry| entry.to_json().to_string()).collect();
            self.set_list(&["status", "reservedFor"], &elements)?;
        }
        match (&before.status.allocation, &after.status.allocation) {
            (Some(_), None) => self.set(&["status", "allocation"], None)?,
            (Some(before), Some(after)) if before.reserved_for_any_pod && !after.reserved_for_any_pod => {
                self.set(&["status", "allocation", "reservedForAnyPod"], None)?;
            }
            _ => {}
        }
        if !before.status.devices.is_empty() && after.status.devices.is_empty() {
            self.set(&["status", "devices"], None)?;
        }
        Ok(())
    }
}

/// The object with `value` at `path`; without what is there if there is no value. What surrounds it stays as it is.
fn with(object: &RawValue, path: &[&str], value: Option<&str>) -> Result<String, serde_json::Error> {
    let [key, rest @ ..] = path else {
        return Ok(value.unwrap_or("null").to_owned());
    };
    let is_null = object.get() == "null";
    let mut members = if is_null { Vec::new() } else { members(object)? };
    let place = members.iter().position(|(name, _)| name == key);
    let nothing = RawValue::NULL;
    let text = match (place, rest) {
        (_, []) => value.map(str::to_owned),
        (Some(place), rest) => Some(with(members[place].1, rest, value)?),
        (None, _) if value.is_none() => None,
        (None, rest) => Some(with(nothing, rest, value)?),
    };
    let text: Option<Box<RawValue>> = text.map(RawValue::from_string).transpose()?;
    match (place, &text) {
        (Some(place), Some(text)) => members[place].1 = text,
        (Some(place), None) => {
            members.remove(place);
        }
        (None, Some(text)) => members.push(((*key).to_owned(), text)),
        (None, None) => {}
    }
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("{}:{}", json!(name), value.get()))
        .collect();
    Ok(format!("{{{}}}", members.join(",")))
}

/// The element whose `field` says `text`.
fn found(elements: &[String], field: &str, text: &str) -> Option<String> {
    elements.iter().find(|element| is(element, field, text)).cloned()
}

fn is(element: &str, field: &str, text: &str) -> bool {
    let element: Result<Value, _> = json::from_str(element);
    element.is_ok_and(|element| element[field] == *text)
}

/// The claim `made` as JSON: what its template says, under its own name, with its owner and status.
fn made(made: &Claim, template: &[u8]) -> Result<String, serde_json::Error> {
    let template: Value = json::from_slice(template)?;
    let said = &template["spec"];
    let metadata = &made.metadata;
    let mut claim = json!({
        "metadata": {
            "name": metadata.name.as_str(),
            "namespace": metadata.namespace.as_str(),
            "uid": metadata.uid.as_str(),
            "generateName": metadata.generate_name(),
            "creationTimestamp": metadata.creation_timestamp,
            "labels": said["metadata"]["labels"],
            "annotations": said["metadata"]["annotations"],
            "ownerReferences": metadata.owner_references.iter().map(|owner| json!({
                "apiVersion": owner.api_version.as_str(),
                "kind": owner.kind.as_str(),
                "name": owner.name.as_str(),
                "uid": owner.uid.as_str(),
                "controller": owner.controller,
                "blockOwnerDeletion": true,
            })).collect::<Vec<_>>(),
        },
        "spec": said["spec"],
    });
    for (key, value) in &metadata.annotations {
        claim["metadata"]["annotations"][key.as_str()] = value.as_str().into();
    }
    if let Some(metadata) = claim["metadata"].as_object_mut() {
        metadata.retain(|_, value| !value.is_null());
    }
    // Its consumers in the meantime, and its end, as of any other claim.
    let mut text = Text(claim.to_string());
    let fresh = Claim::default();
    text.claim(&fresh, made)?;
    Ok(text.0)
}

#[cfg(test)]
mod tests {
    use dra_model::Change;

    use super::*;
    use crate::load::load;

    #[test]
    fn a_change_that_the_copy_does_not_have_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("node.json");
        std::fs::write(
            &file,
            r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}"#,
        )
        .unwrap();
        let names = [file.to_str().unwrap().to_owned()];
        let request = Request {
            names: &names,
            namespace: "default",
            strict: false,
            versions: &VersionSettings::default(),
        };
        let before = load(&request, &Needs::everything(), Arc::new(Unobserved))
            .unwrap()
            .cluster;
        let copy = |after: &Cluster| {
            let successor = Successor {
                names: &names,
                namespace: "default",
                before: &before,
                after,
                templates: &BTreeMap::new(),
                at: None,
            };
            successor.snapshot(folder.path(), Compression::None).map(|_| ())
        };
        copy(&before).unwrap();
        // No rehearsal changes nodes, so nothing would write that.
        let mut after = before.clone();
        let node = Object::from_json(
            Kind::Node,
            br#"{"metadata":{"name":"a"},"spec":{"unschedulable":true}}"#,
        );
        after.apply(Change::Put(node.unwrap()));
        let error = copy(&after).unwrap_err();
        assert_eq!(error.to_string(), "the copy contains the wrong Node `a`");
    }
}
