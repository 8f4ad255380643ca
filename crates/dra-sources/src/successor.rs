//! A copy of files as a snapshot, with the objects as they are in a later state of the cluster.
//!
//! Unchanged objects are copied verbatim. Of the others only changed parts are rewritten, so unknown fields remain. A
//! claim that was made has everything that its template says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::bundle::{Compression, Part, Redaction, Snapshot, SnapshotError, SnapshotInfo, add_owner};
use super::files::{Found, RawItem, ReadError, ReadOptions, Source, read};
use super::gates::VersionSettings;
use super::load::{LoadError, Request, load_sources, sources};
use super::needs::{Needs, Unobserved};
use super::recognize::{Recognized, recognize};
use dra_model::{
    Claim, Cluster, Condition, ConsumerReference, Key, Kind, Meta, Object, PodClaimStatus, Str, Time, json,
};

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

/// A template, unchanged from the files.
struct Template {
    api_version: String,
    object: Fields,
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

/// What says which object it is. Whatever is wrong with the rest, the object is copied.
#[derive(serde::Deserialize)]
struct Identified {
    #[serde(default)]
    metadata: Identity,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Identity {
    namespace: Option<Str>,
    name: Option<Str>,
    uid: Option<Str>,
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
            let (api_version, name) = (item.api_version.as_deref(), item.kind.as_deref());
            match recognize(api_version, name) {
                Recognized::Known { kind, .. } => {
                    let api_version = api_version.unwrap_or_default();
                    // What is no object was left out the first time too, and is a gap.
                    let Ok(key) = self.key(kind, &item) else {
                        return Ok(());
                    };
                    if kind == Kind::ResourceClaimTemplate && wanted.contains(&key.0) {
                        let template = Template {
                            api_version: api_version.to_owned(),
                            object: json::from_slice(&item.json)?,
                        };
                        templates.insert(key.0.clone(), template);
                    }
                    if let Some(json) = self.changed(kind, &key, &item)? {
                        parts.of(kind, api_version).add(json.as_bytes());
                    }
                }
                Recognized::Info => {
                    let info: Result<SnapshotInfo, _> = json::from_slice(&item.json);
                    redacted.push(info.is_ok_and(|info| info.redacted));
                }
                // It may be an owner.
                Recognized::Other => {
                    let version_and_kind = (api_version.unwrap_or_default(), name.unwrap_or_default());
                    add_owner(Redaction::On, version_and_kind, &item.json, &mut owners);
                }
                // What could not be understood is a gap.
                Recognized::Unclear { .. } => {}
            }
            Ok::<_, SuccessorError>(())
        })?;
        for (key, template) in self.templates {
            if let (Some(claim), Some(template)) = (self.after.claim(key), templates.get(template)) {
                let json = made(claim, &template.object)?;
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
            started: None,
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
    fn key(&self, kind: Kind, item: &RawItem<'_>) -> Result<(Key, Str), serde_json::Error> {
        let Identified { metadata } = json::from_slice(&item.json)?;
        let namespace = match metadata.namespace {
            _ if !kind.is_namespaced() => Str::default(),
            Some(namespace) if !namespace.is_empty() => namespace,
            _ => self.namespace.into(),
        };
        let [name, uid] = [metadata.name, metadata.uid].map(Option::unwrap_or_default);
        Ok((Key::new(namespace, name), uid))
    }

    /// The object as it is later; nothing if it is gone then.
    fn changed(
        &self,
        kind: Kind,
        (key, uid): &(Key, Str),
        item: &RawItem<'_>,
    ) -> Result<Option<String>, serde_json::Error> {
        let Ok(json) = json::from_slice::<&RawValue>(&item.json) else {
            return Ok(None);
        };
        let as_it_is = || Ok(Some(json.get().to_owned()));
        let Some(before) = self.before.get(kind, key) else {
            return as_it_is();
        };
        // Of several with one name another one counts.
        if before.metadata().uid != *uid && !uid.is_empty() {
            return as_it_is();
        }
        let Some(after) = self.after.get(kind, key) else {
            return Ok(None);
        };
        if before.says_the_same(after) {
            return as_it_is();
        }
        let mut object: Fields = json::from_str(json.get())?;
        match (before, after) {
            (Object::Pod(before), Object::Pod(after)) => {
                object.metadata(&before.metadata, &after.metadata)?;
                let (before, after) = (&before.status, &after.status);
                object.claim_statuses(&before.resource_claim_statuses, &after.resource_claim_statuses)?;
                object.conditions(&before.conditions, &after.conditions)?;
            }
            (Object::PodGroup(before), Object::PodGroup(after)) => {
                let (before, after) = (&before.status, &after.status);
                object.claim_statuses(&before.resource_claim_statuses, &after.resource_claim_statuses)?;
            }
            (Object::ResourceClaim(before), Object::ResourceClaim(after)) => object.claim(before, after)?,
            (Object::DeviceTaintRule(before), Object::DeviceTaintRule(after)) => {
                object.conditions(&before.status.conditions, &after.status.conditions)?;
            }
            // The others are not written.
            _ => {}
        }
        serde_json::to_string(&object).map(Some)
    }
}

/// An object as JSON. What is not set stays as it is written, as numbers and the parameters of a driver have to.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
struct Fields(BTreeMap<String, Box<RawValue>>);

type Edited = Result<(), serde_json::Error>;

impl Fields {
    /// The value of a field, which may not be there.
    fn get<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, serde_json::Error> {
        let value = self.0.get(name).map_or("null", |value| value.get());
        json::from_str::<Option<T>>(value).map(Option::unwrap_or_default)
    }

    fn says(&self, name: &str, text: &str) -> bool {
        self.get::<String>(name).is_ok_and(|said| said == text)
    }

    /// Puts `value` into a field; one that is empty takes the field away.
    fn set(&mut self, name: &str, value: impl Serialize) -> Edited {
        let value = to_raw_value(&value)?;
        if ["null", "[]"].contains(&value.get()) {
            self.0.remove(name);
        } else {
            self.0.insert(name.to_owned(), value);
        }
        Ok(())
    }

    /// Changes the object in a field, which is only made for something to be in it.
    fn within(&mut self, name: &str, edit: impl FnOnce(&mut Self) -> Edited) -> Edited {
        let mut inner: Self = self.get(name)?;
        edit(&mut inner)?;
        if self.0.contains_key(name) || !inner.0.is_empty() {
            self.set(name, inner)?;
        }
        Ok(())
    }

    fn metadata(&mut self, before: &Meta, after: &Meta) -> Edited {
        self.within("metadata", |fields| {
            if before.deletion_timestamp != after.deletion_timestamp {
                fields.set("deletionTimestamp", after.deletion_timestamp)?;
                let seconds = after.deletion_grace_period_seconds.unwrap_or(0);
                fields.set("deletionGracePeriodSeconds", seconds)?;
            }
            if before.finalizers != after.finalizers {
                fields.set("finalizers", &after.finalizers)?;
            }
            Ok(())
        })
    }

    /// The claims that a status names.
    fn claim_statuses(&mut self, before: &[PodClaimStatus], after: &[PodClaimStatus]) -> Edited {
        let told = |status: &PodClaimStatus| (status.name.clone(), status.resource_claim_name.clone());
        if before.iter().map(told).eq(after.iter().map(told)) {
            return Ok(());
        }
        self.within("status", |fields| {
            let mut known: Vec<Self> = fields.get("resourceClaimStatuses")?;
            let mut elements = Vec::new();
            for status in after {
                let place = known
                    .iter()
                    .position(|element| element.says("name", &status.name));
                let mut element = place.map_or_else(Self::default, |place| known.remove(place));
                element.set("name", &status.name)?;
                element.set("resourceClaimName", &status.resource_claim_name)?;
                elements.push(element);
            }
            fields.set("resourceClaimStatuses", elements)
        })
    }

    fn conditions(&mut self, before: &[Condition], after: &[Condition]) -> Edited {
        if before == after {
            return Ok(());
        }
        self.within("status", |fields| {
            let mut elements: Vec<Self> = fields.get("conditions")?;
            for condition in after.iter().filter(|condition| !before.contains(condition)) {
                let place = elements
                    .iter()
                    .position(|element| element.says("type", &condition.type_));
                let mut element = place.map_or_else(Self::default, |place| elements.remove(place));
                element.set("type", &condition.type_)?;
                element.set("status", &condition.status)?;
                element.set("reason", &condition.reason)?;
                element.set("message", &condition.message)?;
                element.set("lastTransitionTime", condition.last_transition_time)?;
                let generation = condition.observed_generation;
                element.set("observedGeneration", (generation != 0).then_some(generation))?;
                elements.insert(place.unwrap_or(elements.len()), element);
            }
            fields.set("conditions", elements)
        })
    }

    fn claim(&mut self, before: &Claim, after: &Claim) -> Edited {
        self.metadata(&before.metadata, &after.metadata)?;
        let (before, after) = (&before.status, &after.status);
        self.within("status", |fields| {
            if before.reserved_for != after.reserved_for {
                let entries: Vec<Value> = after
                    .reserved_for
                    .iter()
                    .map(ConsumerReference::to_json)
                    .collect();
                fields.set("reservedFor", entries)?;
            }
            match (&before.allocation, &after.allocation) {
                (Some(_), None) => fields.set("allocation", ())?,
                (Some(before), Some(after)) if before.reserved_for_any_pod && !after.reserved_for_any_pod => {
                    fields.within("allocation", |fields| fields.set("reservedForAnyPod", ()))?;
                }
                _ => {}
            }
            if !before.devices.is_empty() && after.devices.is_empty() {
                fields.set("devices", ())?;
            }
            Ok(())
        })
    }
}

/// The claim `made` as JSON: what its template says, under its own name, with its owner and status.
fn made(made: &Claim, template: &Fields) -> Result<String, serde_json::Error> {
    let said: Fields = template.get("spec")?;
    let said_metadata: Fields = said.get("metadata")?;
    let metadata = &made.metadata;
    let mut annotations: Fields = said_metadata.get("annotations")?;
    for (key, value) in &metadata.annotations {
        annotations.set(key, value)?;
    }
    let owners = metadata.owner_references.iter().map(|owner| {
        json!({
            "apiVersion": owner.api_version.as_str(),
            "kind": owner.kind.as_str(),
            "name": owner.name.as_str(),
            "uid": owner.uid.as_str(),
            "controller": owner.controller,
            "blockOwnerDeletion": true,
        })
    });
    let mut claim = Fields::default();
    claim.within("metadata", |fields| {
        fields.set("name", &metadata.name)?;
        fields.set("namespace", &metadata.namespace)?;
        fields.set("uid", &metadata.uid)?;
        fields.set("generateName", metadata.generate_name())?;
        fields.set("creationTimestamp", metadata.creation_timestamp)?;
        fields.set("labels", said_metadata.0.get("labels"))?;
        fields.set("annotations", annotations)?;
        fields.set("ownerReferences", owners.collect::<Vec<_>>())
    })?;
    claim.set("spec", said.0.get("spec"))?;
    // Its consumers in the meantime, and its end, as of any other claim.
    claim.claim(&Claim::default(), made)?;
    serde_json::to_string(&claim)
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
            started: None,
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

    #[test]
    fn what_cannot_be_decoded_is_copied_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("node.json");
        let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","labels":{"version":1.0}}}"#;
        std::fs::write(&file, node).unwrap();
        let state = Cluster::default();
        let successor = Successor {
            names: &[file.to_str().unwrap().to_owned()],
            namespace: "default",
            before: &state,
            after: &state,
            templates: &BTreeMap::new(),
            at: None,
        };
        let mut copy = successor.snapshot(folder.path(), Compression::None).unwrap();
        let mut text = Vec::new();
        copy.copy_to(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(r#""labels":{"version":1.0}"#), "{text}");
    }
}
