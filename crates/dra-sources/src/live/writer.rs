//! Writes of the controllers, in the form that kube-controller-manager gives them.
//!
//! Each is sent once and times out at the server within [`WRITE_TIMEOUT`], because its writer may have lost its lease
//! by then. The caller decides whether to send it again.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::discovery::{Served, discover};
use super::error::Error;
use super::request::JSON;
use super::write::{FIELD_MANAGER, claim_path};
use super::{Live, asked, list};
use dra_model::{
    Claim, ClaimPatch, ClaimTemplate, Condition, Key, Kind, Meta, Object, ReservationPatch, Str, Time,
};

const APPLY: &str = "application/apply-patch+yaml";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

/// Server-side timeout of a write. Mirrors apiserver `pkg/endpoints/filters/request_deadline.go`, which ends the request.
const WRITE_TIMEOUT: &str = "timeout=4s";

/// Number of templates whose text is kept. More are rarely used at the same time.
const TEMPLATES: usize = 1000;

/// A writer for the controllers.
pub struct Writer {
    live: Live,
    served: Served,
    claims: &'static str,
    dry_run: bool,
    /// Templates as the server sent them, since a claim gets the fields too that this build does not know.
    templates: Mutex<HashMap<Key, Arc<SentTemplate>, RandomState>>,
}

/// A template as the server sent it.
#[derive(Deserialize)]
struct SentTemplate {
    metadata: Meta,
    spec: TemplateSpec,
}

#[derive(Deserialize)]
struct TemplateSpec {
    #[serde(default)]
    metadata: Value,
    spec: Value,
}

impl Live {
    /// A writer that goes by what the server serves now. With `dry_run` the server does everything but keep it.
    ///
    /// # Errors
    /// When the server cannot be asked what it serves.
    pub async fn writer(&self, dry_run: bool) -> Result<Writer, Error> {
        let kinds = BTreeSet::from([Kind::ResourceClaim, Kind::PodGroup, Kind::DeviceTaintRule]);
        let served = discover(self, &kinds).await?;
        Ok(Writer {
            live: self.clone(),
            claims: served.version(Kind::ResourceClaim),
            served,
            dry_run,
            templates: Mutex::default(),
        })
    }
}

impl Writer {
    /// Returns whether nothing is kept of what is written.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// `group/version` of a kind.
    pub fn api_version(&self, kind: Kind) -> String {
        kind.api_version(self.served.version(kind))
    }

    /// One object; nothing where the server says that there is none.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub async fn object(&self, kind: Kind, key: &Key) -> Result<Option<Object>, Error> {
        self.live.object(&self.served, kind, key).await
    }

    fn path(&self, kind: Kind, key: &Key) -> String {
        list::object(kind, self.served.version(kind), key)
    }

    fn limited(&self, mut path: String) -> String {
        path.push(if path.contains('?') { '&' } else { '?' });
        path.push_str(WRITE_TIMEOUT);
        if self.dry_run {
            path.push_str("&dryRun=All");
        }
        path
    }

    async fn send(
        &self,
        method: Method,
        path: String,
        content_type: &str,
        body: &Value,
        what: &str,
    ) -> Result<Vec<u8>, Error> {
        let body = body.to_string().into_bytes();
        let path = self.limited(path);
        self.live.submit(method, &path, content_type, body, what).await
    }

    /// The object that was written, which has the name `key`.
    fn decode(&self, kind: Kind, key: &Key, answer: &[u8], what: String) -> Result<Object, Error> {
        let version = self.served.version(kind);
        asked::object(answer, (kind, version), key).map_err(|why| self.live.foreign(what, why))
    }

    /// Creates the claim from the template as the server has it; nothing where that is no longer the template that was read.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer.
    pub async fn create_claim(
        &self,
        claim: &Claim,
        template: &ClaimTemplate,
    ) -> Result<Option<Object>, Error> {
        let Some(sent) = self.template(template).await? else {
            return Ok(None);
        };
        let body = self.claim_body(claim, &sent.spec);
        let metadata = &claim.metadata;
        let what = format!("create resourceclaim/{}", metadata.key());
        let path = list::collection(Kind::ResourceClaim, self.claims, Some(&metadata.namespace));
        let answer = self
            .send(Method::POST, path + FIELD_MANAGER, JSON, &body, &what)
            .await?;
        self.decode(Kind::ResourceClaim, &metadata.key(), &answer, what)
            .map(Some)
    }

    fn claim_body(&self, claim: &Claim, template: &TemplateSpec) -> Value {
        let metadata = &claim.metadata;
        let annotations = template.metadata["annotations"].as_object();
        let mut annotations = annotations.cloned().unwrap_or_default();
        for (name, value) in &metadata.annotations {
            annotations.insert(name.to_string(), json!(value.as_str()));
        }
        let owners: Vec<Value> = metadata
            .owner_references
            .iter()
            .map(|owner| {
                // A server that does not have the version of the rules yet knows the group by its own.
                let api_version = match owner.kind.as_str() {
                    "PodGroup" => self.api_version(Kind::PodGroup),
                    _ => owner.api_version.to_string(),
                };
                json!({"apiVersion": api_version, "kind": owner.kind.as_str(), "name": owner.name.as_str(),
                       "uid": owner.uid.as_str(), "controller": owner.controller})
            })
            .collect();
        let mut head = Map::from_iter([
            ("name".to_owned(), json!(metadata.name.as_str())),
            ("namespace".to_owned(), json!(metadata.namespace.as_str())),
            ("annotations".to_owned(), Value::Object(annotations)),
            ("ownerReferences".to_owned(), Value::Array(owners)),
        ]);
        if let Some(prefix) = metadata.generate_name() {
            head.insert("generateName".to_owned(), json!(prefix));
        }
        let labels = &template.metadata["labels"];
        if !labels.is_null() {
            head.insert("labels".to_owned(), labels.clone());
        }
        json!({"apiVersion": format!("{}/{}", Kind::ResourceClaim.group(), self.claims),
               "kind": "ResourceClaim", "metadata": head, "spec": template.spec})
    }

    /// The template as the server sends it; nothing where it is not the one that was read.
    async fn template(&self, read: &ClaimTemplate) -> Result<Option<Arc<SentTemplate>>, Error> {
        let key = read.metadata.key();
        let is_it = |known: &SentTemplate| {
            known.metadata.uid == read.metadata.uid
                && known.metadata.resource_version == read.metadata.resource_version
        };
        let known = self
            .templates
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .map(Arc::clone);
        if let Some(known) = known.filter(|known| is_it(known)) {
            return Ok(Some(known));
        }
        let what = format!("read resourceclaimtemplate/{key}");
        // In the version in which the claim is written, as fields can differ.
        let path = list::object(Kind::ResourceClaimTemplate, self.claims, &key);
        let Some(sent) = self.live.find::<SentTemplate>(&path, JSON, &what).await? else {
            return Ok(None);
        };
        let sent = Arc::new(sent);
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if templates.len() >= TEMPLATES {
            templates.clear();
        }
        templates.insert(key, Arc::clone(&sent));
        Ok(is_it(&sent).then_some(sent))
    }

    /// Changes entries of the claim's `status.reservedFor`.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer.
    pub async fn reserve(&self, key: &Key, patch: &ReservationPatch) -> Result<Object, Error> {
        let path = claim_path(self.claims, key) + "/status";
        self.send_claim(key, path, &patch.to_json()).await
    }

    /// Changes the claim itself.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer.
    pub async fn patch_claim(&self, key: &Key, patch: &ClaimPatch) -> Result<Object, Error> {
        let path = claim_path(self.claims, key);
        self.send_claim(key, path, &patch.to_json()).await
    }

    async fn send_claim(&self, key: &Key, path: String, patch: &Value) -> Result<Object, Error> {
        let path = self.limited(path + FIELD_MANAGER);
        let claim = self.live.send_claim(self.claims, key, &path, patch).await?;
        Ok(Object::ResourceClaim(Arc::new(claim)))
    }

    /// Deletes the object, if it has this UID. What the server answers is no news: it may hold the object as it was before.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer.
    pub async fn delete(&self, kind: Kind, key: &Key, uid: &Str) -> Result<(), Error> {
        let what = format!("delete {}/{key}", kind.name());
        let body = json!({"apiVersion": "v1", "kind": "DeleteOptions",
                          "preconditions": {"uid": uid.as_str()}});
        let path = self.path(kind, key);
        self.send(Method::DELETE, path, JSON, &body, &what).await?;
        Ok(())
    }

    /// Applies the claims of a pod's or PodGroup's entries to its status, of the object with this UID alone: upstream does not ask for
    /// it, so that another object of the name can get them.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer.
    pub async fn apply_statuses(
        &self,
        kind: Kind,
        key: &Key,
        uid: &Str,
        statuses: &[(Str, Str)],
    ) -> Result<Object, Error> {
        let statuses: Vec<Value> = statuses
            .iter()
            .map(|(entry, claim)| json!({"name": entry.as_str(), "resourceClaimName": claim.as_str()}))
            .collect();
        let status = json!({"resourceClaimStatuses": statuses});
        self.apply(kind, key, uid, "ResourceClaimController", &status)
            .await
    }

    /// Applies the condition to the rule with that UID.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer.
    pub async fn apply_condition(
        &self,
        rule: &Str,
        uid: &Str,
        condition: &Condition,
    ) -> Result<Object, Error> {
        let mut applied = condition_json(condition);
        applied["observedGeneration"] = json!(condition.observed_generation);
        let status = json!({"conditions": [applied]});
        let key = Key::new("", rule.clone());
        let manager = "device-taint-eviction-controller";
        self.apply(Kind::DeviceTaintRule, &key, uid, manager, &status)
            .await
    }

    async fn apply(
        &self,
        kind: Kind,
        key: &Key,
        uid: &Str,
        manager: &str,
        status: &Value,
    ) -> Result<Object, Error> {
        let what = format!("update the status of {}/{key}", kind.name());
        let mut metadata = json!({"name": key.name.as_str(), "uid": uid.as_str()});
        if kind.is_namespaced() {
            metadata["namespace"] = json!(key.namespace.as_str());
        }
        let body = json!({"apiVersion": self.api_version(kind), "kind": kind.name(),
                          "metadata": metadata, "status": status});
        let path = self.path(kind, key) + &format!("/status?fieldManager={manager}&force=true");
        let answer = self.send(Method::PATCH, path, APPLY, &body, &what).await?;
        self.decode(kind, key, &answer, what)
    }

    /// Sets the condition of the pod with that UID.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer.
    pub async fn set_pod_condition(
        &self,
        key: &Key,
        uid: &Str,
        condition: &Condition,
    ) -> Result<Object, Error> {
        let what = format!("update the status of pod/{key}");
        let body =
            json!({"metadata": {"uid": uid.as_str()}, "status": {"conditions": [condition_json(condition)]}});
        let path = self.path(Kind::Pod, key) + "/status" + FIELD_MANAGER;
        let answer = self.send(Method::PATCH, path, STRATEGIC, &body, &what).await?;
        self.decode(Kind::Pod, key, &answer, what)
    }

    /// Creates an event; `name` and `namespace` are those of its metadata.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer.
    pub async fn create_event(&self, namespace: &str, event: &Value) -> Result<(), Error> {
        let path = format!("/api/v1/namespaces/{}/events", list::encoded(namespace));
        self.send(Method::POST, path, JSON, event, "create an event")
            .await
            .map(drop)
    }

    /// Changes an event that was created.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer.
    pub async fn patch_event(&self, namespace: &str, name: &str, patch: &Value) -> Result<(), Error> {
        let [namespace, name] = [namespace, name].map(list::encoded);
        let path = format!("/api/v1/namespaces/{namespace}/events/{name}");
        self.send(Method::PATCH, path, STRATEGIC, patch, "update an event")
            .await
            .map(drop)
    }
}

fn condition_json(condition: &Condition) -> Value {
    let mut json = json!({"type": condition.type_.as_str(), "status": condition.status.as_str(),
                          "reason": condition.reason.as_str(), "message": condition.message.as_str()});
    if let Some(time) = condition.last_transition_time {
        json["lastTransitionTime"] = json!(Time::from_unix_seconds(time.unix_seconds()).to_string());
    }
    json
}
