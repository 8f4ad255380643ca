//! Objects above a pod, of any kind, asked for one by one: no list of them is read.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResource, APIResourceList};
use serde_json::value::RawValue;

use super::asked::mistaken;
use super::error::Error;
use super::request::{Items, JSON};
use super::{Live, list};
use dra_model::{Key, Kind, Meta, OwnerReference, Owners, Str, json};

/// Objects above each other that are read.
const MOST_LEVELS: usize = 6;

/// Pods whose owners are read at the same time.
const AT_ONCE: usize = 8;

/// The most objects of a list that are taken.
const MOST_LISTED: usize = 50;

/// What every object has.
#[derive(serde::Deserialize)]
struct Bare {
    #[serde(default)]
    metadata: Meta,
}

/// Owners of a pod, or of its owners, to read.
#[derive(Clone, Debug, Default)]
pub struct OwnersWanted {
    /// Namespace.
    pub namespace: Str,
    /// The nearest owner; those above it are read, too.
    pub first: Option<OwnerReference>,
    /// Workloads of Kueue that stand for what has one of these UIDs, or for one of the owners; all where there is none of these.
    pub queued: Option<Vec<Str>>,
    /// True if nodes may be gathered for it.
    pub gathers: bool,
}

impl OwnersWanted {
    /// The first `most` of these owners, each with its namespace, and those above them.
    pub fn above(owners: impl IntoIterator<Item = (Str, OwnerReference)>, most: usize) -> Vec<Self> {
        let mut wanted: Vec<(Str, OwnerReference)> = Vec::new();
        for owner in owners {
            if wanted.len() < most && !wanted.contains(&owner) {
                wanted.push(owner);
            }
        }
        let each = wanted.into_iter().map(|(namespace, first)| Self {
            namespace,
            first: Some(first),
            ..Self::default()
        });
        each.collect()
    }
}

/// Owners that were read.
#[derive(Debug, Default)]
pub struct OwnersRead {
    objects: Vec<OwnerObject>,
    /// Data that could not be read, with the reason, each in a sentence.
    pub unread: Vec<String>,
}

/// An object as the server sent it.
#[derive(Debug)]
pub(super) struct OwnerObject {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) json: Box<RawValue>,
}

impl Live {
    /// Reads what is wanted of the owners of pods, or of what makes pods, each object once.
    ///
    /// # Errors
    /// When the server cannot be asked at all.
    pub async fn owners(&self, wanted: Vec<OwnersWanted>) -> Result<OwnersRead, Error> {
        let reads = wanted
            .iter()
            .map(|wanted| self.owners_of_one(wanted))
            .collect::<Vec<_>>();
        let mut all = OwnersRead::default();
        let mut seen = BTreeSet::new();
        let mut reads = stream::iter(reads).buffered(AT_ONCE);
        while let Some(OwnersRead { objects, unread }) = reads.try_next().await? {
            let new = objects
                .into_iter()
                .filter(|object| seen.insert(object.json.get().to_owned()));
            all.objects.extend(new);
            all.unread.extend(unread);
        }
        all.unread.sort();
        all.unread.dedup();
        Ok(all)
    }

    async fn owners_of_one(&self, wanted: &OwnersWanted) -> Result<OwnersRead, Error> {
        let mut read = OwnersRead::default();
        let mut known = BTreeMap::new();
        let mut uids = wanted.queued.clone().unwrap_or_default();
        let mut next = wanted.first.clone();
        for _ in 0..MOST_LEVELS {
            let Some(reference) = next.take() else { break };
            // The model has these already.
            if Kind::find(reference.group(), &reference.kind).is_some() {
                break;
            }
            let found = match self.owner(&mut known, &reference, &wanted.namespace).await {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(error) => {
                    read.note(error)?;
                    break;
                }
            };
            if let Ok(Bare { metadata }) = json::from_str::<Bare>(found.get()) {
                next = metadata.controller().cloned();
                uids.push(metadata.uid);
            }
            read.objects.push(OwnerObject {
                api_version: reference.api_version.to_string(),
                kind: reference.kind.to_string(),
                json: found,
            });
        }
        let mut lists = Vec::new();
        if wanted.queued.is_some() {
            let uids: Vec<&str> = uids
                .iter()
                .map(Str::as_str)
                .filter(|uid| !uid.is_empty())
                .collect();
            let selector = if uids.is_empty() {
                String::new()
            } else {
                format!("kueue.x-k8s.io/job-uid in ({})", uids.join(","))
            };
            lists.push((("kueue.x-k8s.io", "Workload", "workloads"), selector));
        }
        if wanted.gathers {
            let domains = ("resource.nvidia.com", "ComputeDomain", "computedomains");
            lists.push((domains, String::new()));
        }
        for ((group, kind, plural), selector) in lists {
            match self.of_group(group, plural, &wanted.namespace, &selector).await {
                Ok((version, items)) => {
                    let objects = items.into_iter().take(MOST_LISTED).map(|json| OwnerObject {
                        api_version: version.clone(),
                        kind: kind.to_owned(),
                        json,
                    });
                    read.objects.extend(objects);
                }
                Err(error) => read.note(error)?,
            }
        }
        Ok(read)
    }

    /// The object that is referred to; nothing where there is none, or its kind is not served.
    async fn owner(
        &self,
        known: &mut BTreeMap<String, Vec<APIResource>>,
        reference: &OwnerReference,
        namespace: &Str,
    ) -> Result<Option<Box<RawValue>>, Error> {
        let key = Key::new(namespace.clone(), reference.name.clone());
        let what = format!("read {} {key}", reference.kind);
        let version = reference.api_version.to_string();
        let root = list::root(&version);
        if !known.contains_key(&version) {
            let Some(list) = self.find::<APIResourceList>(&root, JSON, &what).await? else {
                return Ok(None);
            };
            known.insert(version.clone(), list.resources);
        }
        let mut resources = known.get(&version).into_iter().flatten();
        let is_it =
            |resource: &&APIResource| !resource.name.contains('/') && reference.kind == *resource.kind;
        let Some(resource) = resources.find(is_it) else {
            return Ok(None);
        };
        let (plural, name) = (list::encoded(&resource.name), list::encoded(&reference.name));
        let (path, asked) = if resource.namespaced {
            let namespace = list::encoded(namespace);
            (format!("{root}/namespaces/{namespace}/{plural}/{name}"), key)
        } else {
            let key = Key::new("", reference.name.clone());
            (format!("{root}/{plural}/{name}"), key)
        };
        let Some(object) = self.find::<Box<RawValue>>(&path, JSON, &what).await? else {
            return Ok(None);
        };
        match mistaken(object.get().as_bytes(), &version, &reference.kind, &asked) {
            None => Ok(Some(object)),
            Some(why) => Err(self.foreign(what, why)),
        }
    }

    /// The objects of a group's preferred version in the namespace; none where the group is not served.
    async fn of_group(
        &self,
        group: &str,
        plural: &str,
        namespace: &str,
        selector: &str,
    ) -> Result<(String, Vec<Box<RawValue>>), Error> {
        let what = format!("list {plural}.{group} in namespace `{namespace}`");
        let path = format!("/apis/{group}");
        let Some(group) = self.find::<APIGroup>(&path, JSON, &what).await? else {
            return Ok((String::new(), Vec::new()));
        };
        let Some(version) = group.preferred_version.map(|version| version.group_version) else {
            let message = "the response has no `preferredVersion`".to_owned();
            return Err(self.foreign(what, message));
        };
        let mut path = format!(
            "{}/namespaces/{}/{plural}?limit={MOST_LISTED}",
            list::root(&version),
            list::encoded(namespace)
        );
        if !selector.is_empty() {
            path.push_str(&format!("&labelSelector={}", list::encoded(selector)));
        }
        let found = self.find::<Items>(&path, JSON, &what).await?;
        Ok((version, found.map(|found| found.items).unwrap_or_default()))
    }
}

impl OwnersRead {
    /// The owners.
    pub fn owners(&self) -> Owners {
        let mut owners = Owners::default();
        for OwnerObject {
            api_version,
            kind,
            json,
        } in &self.objects
        {
            owners.add(api_version, kind, json.get().as_bytes());
        }
        owners
    }

    /// The objects as they were read.
    pub(super) fn objects(&self) -> &[OwnerObject] {
        &self.objects
    }

    /// Notes that something could not be read.
    fn note(&mut self, error: Error) -> Result<(), Error> {
        if error.is_fatal() && !matches!(error, Error::Foreign { .. }) {
            return Err(error);
        }
        self.unread.push(error.to_string());
        Ok(())
    }
}
