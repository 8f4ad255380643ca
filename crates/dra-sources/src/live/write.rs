//! Writes of claims, and what is asked before them: rights, leases, whether an object is still there.
//!
//! Each write is one JSON patch and is sent once. The caller decides whether to send it again: after an error it may
//! still have taken effect.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Method;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIGroup;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::asked::{self, mistaken, mistaken_name};
use super::discovery::discover;
use super::error::Error;
use super::list::{self, Listing, Meter, Sink};
use super::request::JSON;
use super::{Live, Unobserved};
use crate::bundle::Redaction;
use crate::decode::key_of;
use crate::needs::Want;
use dra_model::{Claim, ClaimPatch, ConsumerReference, Key, Kind, Object, Str, json};

const JSON_PATCH: &str = "application/json-patch+json";
const GROUP: &str = "resource.k8s.io";

/// Field manager of claim writes. Without it the server derives one from the user agent.
pub(super) const FIELD_MANAGER: &str = "?fieldManager=kubectl-dra";

impl Live {
    /// Applies a patch to a claim, once; the claim as the API server answers with it. With `dry_run` the server does everything but keep it.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer.
    pub async fn patch_claim(&self, key: &Key, patch: &ClaimPatch, dry_run: bool) -> Result<Claim, Error> {
        let version = self.claim_version().await?;
        let mut path = claim_path(version, key);
        if patch.is_of_status() {
            path.push_str("/status");
        }
        path.push_str(FIELD_MANAGER);
        if dry_run {
            path.push_str("&dryRun=All");
        }
        self.send_claim(version, key, &path, &patch.to_json()).await
    }

    /// Sends the JSON patch of a claim, once.
    pub(super) async fn send_claim(
        &self,
        version: &'static str,
        key: &Key,
        path: &str,
        patch: &Value,
    ) -> Result<Claim, Error> {
        let what = format!("patch resourceclaim/{key}");
        let body = patch.to_string().into_bytes();
        let answer = self.submit(Method::PATCH, path, JSON_PATCH, body, &what).await?;
        let kind = Kind::ResourceClaim;
        match asked::object(&answer, (kind, version), key) {
            Ok(Object::ResourceClaim(claim)) => Ok(Arc::unwrap_or_clone(claim)),
            Ok(_) => Err(self.foreign(what, "it is not a claim".to_owned())),
            Err(why) => Err(self.foreign(what, why)),
        }
    }

    /// Returns who holds a lease of kube-system; nothing where there is none or it may not be read.
    ///
    /// # Errors
    /// When the server cannot be asked at all.
    pub async fn lease_holder(&self, name: &str) -> Result<Option<String>, Error> {
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{name}");
        match self.get::<Value>(&path, JSON, "read a lease").await {
            Ok(lease) => {
                let holder = lease["spec"]["holderIdentity"].as_str();
                Ok(holder.filter(|holder| !holder.is_empty()).map(str::to_owned))
            }
            Err(error) if error.is_fatal() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// UID of the namespace kube-system, which identifies a cluster whatever address leads to it; nothing where it may not be read.
    ///
    /// # Errors
    /// When the server cannot be asked at all.
    pub async fn cluster_uid(&self) -> Result<Option<Str>, Error> {
        let path = "/api/v1/namespaces/kube-system";
        let what = "read namespace kube-system";
        match self.get::<Box<RawValue>>(path, JSON, what).await {
            Ok(namespace) => {
                let key = Key::new("", "kube-system");
                if let Some(why) = mistaken(namespace.get().as_bytes(), "v1", "Namespace", &key) {
                    return Err(self.foreign(what.to_owned(), why));
                }
                let uid = self.uid_in(&namespace, what)?;
                Ok(Some(uid).filter(|uid| !uid.is_empty()))
            }
            Err(error) if error.is_fatal() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The UID of the object that an entry of a claim in `namespace` names, whatever its kind; nothing when there is none.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub async fn uid_of(&self, entry: &ConsumerReference, namespace: &str) -> Result<Option<Str>, Error> {
        let what = format!("read {}/{namespace}/{}", entry.group_resource(), entry.name);
        let [namespaced, plural, name] = [namespace, &entry.resource, &entry.name].map(list::encoded);
        let object = format!("/namespaces/{namespaced}/{plural}/{name}");
        // A group may serve the kind in another version than its preferred one, as it is with PodGroups.
        let versions = if entry.api_group.is_empty() {
            vec!["/api/v1".to_owned()]
        } else {
            let group = format!("/apis/{}", list::encoded(&entry.api_group));
            let group = self.find::<APIGroup>(&group, JSON, &what).await?;
            if group.as_ref().is_some_and(|group| group.versions.is_empty()) {
                let message = "the response has no `versions`".to_owned();
                return Err(self.foreign(what, message));
            }
            let versions = group.into_iter().flat_map(|group| group.versions);
            versions
                .map(|version| format!("/apis/{}", version.group_version))
                .collect()
        };
        for version in versions {
            let path = format!("{version}{object}");
            let Some(object) = self.find::<Box<RawValue>>(&path, JSON, &what).await? else {
                continue;
            };
            let key = Key::new(namespace, entry.name.clone());
            return match mistaken_name(object.get().as_bytes(), &key) {
                None => self.uid_in(&object, &what).map(Some),
                Some(why) => Err(self.foreign(what, why)),
            };
        }
        Ok(None)
    }

    /// The UID of the object in an answer.
    fn uid_in(&self, object: &RawValue, what: &str) -> Result<Str, Error> {
        #[derive(Deserialize)]
        struct Bare {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        struct Metadata {
            uid: Str,
        }
        let bare: Result<Bare, _> = json::from_str(object.get());
        bare.map(|bare| bare.metadata.uid)
            .map_err(|error| self.foreign(what.to_owned(), error.to_string()))
    }

    /// The claims `wanted` as the server sends them, of one namespace or of all. Those that are gone are left out.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn claims_as_sent(
        &self,
        namespace: Option<&str>,
        wanted: &BTreeSet<Key>,
    ) -> Result<Vec<Box<RawValue>>, Error> {
        let version = self.claim_version().await?;
        let listing = Listing {
            kind: Kind::ResourceClaim,
            version,
            namespace,
            want: &Want::default(),
        };
        let meter = Arc::new(Meter::new(Arc::new(Unobserved)));
        let wanted = Arc::new(wanted.clone());
        let api_version = format!("{GROUP}/{version}");
        let sink = || Raw {
            wanted: Arc::clone(&wanted),
            api_version: api_version.clone(),
            found: Vec::new(),
        };
        let listed = list::whole(self, listing, &meter, sink).await?;
        Ok(listed.sink.found)
    }

    /// The version in which claims are written.
    pub(super) async fn claim_version(&self) -> Result<&'static str, Error> {
        let kind = Kind::ResourceClaim;
        if let Some(version) = self.claim_version.get() {
            return Ok(version);
        }
        let served = discover(self, &BTreeSet::from([kind])).await?;
        Ok(self.claim_version.get_or_init(|| served.version(kind)))
    }

    pub(super) async fn ask(&self, path: &str, question: &Value, what: &str) -> Result<Value, Error> {
        let body = question.to_string().into_bytes();
        let answer = self.submit(Method::POST, path, JSON, body, what).await?;
        json::from_slice(&answer).map_err(|error| self.foreign(what.to_owned(), error.to_string()))
    }
}

pub(super) fn claim_path(version: &str, key: &Key) -> String {
    list::object(Kind::ResourceClaim, version, key)
}

/// Keeps some claims of a list as they are.
struct Raw {
    wanted: Arc<BTreeSet<Key>>,
    api_version: String,
    found: Vec<Box<RawValue>>,
}

impl Sink for Raw {
    fn item(&mut self, json: &[u8]) {
        if !key_of(json).is_some_and(|key| self.wanted.contains(&key)) {
            return;
        }
        // Items of a list need not say what they are; objects in a file must.
        let mut text = Vec::new();
        let written = Redaction::Off.write(Kind::ResourceClaim, &self.api_version, json, &mut text);
        if written.is_ok() {
            let text = String::from_utf8_lossy(&text).into_owned();
            self.found.extend(RawValue::from_string(text).ok());
        }
    }

    fn bad(&mut self, _: String, _: String) {}
}
