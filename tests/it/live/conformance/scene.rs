//! Objects for the cases of the claim controller, from their words in the data.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::text;
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, namespace, pod, pod_group, template,
};
use crate::support::cluster::{Cluster, User};

const ENTRY: &str = "resource.kubernetes.io/pod-claim-name";

/// UIDs that nobody has.
const GONE: [(&str, &str); 4] = [
    ("pod", "00000000-0000-0000-0000-00000000000a"),
    ("other", "00000000-0000-0000-0000-00000000000b"),
    ("group", "00000000-0000-0000-0000-00000000000c"),
    ("foreign", "00000000-0000-0000-0000-00000000000d"),
];

/// A namespace in which the words of a row become objects.
pub(super) struct Scene<'a> {
    user: &'a User,
    pub(super) namespace: String,
    /// By UID, the word for it.
    known: BTreeMap<String, String>,
    /// The claims that were made here, and not by the controller.
    given: BTreeSet<String>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(user: &'a User, name: &str) -> Self {
        for name in [name.to_owned(), format!("{name}-other")] {
            user.create(&namespace(&name).labeled("resource.kubernetes.io/admin-access", "true"));
        }
        Self {
            user,
            namespace: name.to_owned(),
            known: GONE.map(|(word, uid)| (uid.to_owned(), word.to_owned())).into(),
            given: BTreeSet::new(),
        }
    }

    /// The UID that stands for a word, which is a made-up one unless there is somebody.
    fn uid(&self, word: &str) -> &str {
        // The real one was added later.
        let of_word = self.known.iter().filter(|(_, known)| *known == word);
        let gone = |uid: &str| GONE.iter().any(|(_, gone)| *gone == uid);
        let real = of_word.clone().find(|(uid, _)| !gone(uid));
        real.or_else(|| of_word.into_iter().next())
            .expect("a known word")
            .0
    }

    /// Creates all of them, owners first.
    pub(super) fn create_all(&mut self, all: &[String]) {
        let is_claim = |words: &&String| words.starts_with("claim ");
        for words in all.iter().filter(|words| !is_claim(words)) {
            self.create(words);
        }
        for words in all.iter().filter(is_claim) {
            self.create(words);
        }
    }

    /// Returns what the words say: a kind, its object, and the object's status.
    fn read(&self, words: &str) -> (&'static str, Value, Value) {
        let words: Vec<&str> = words.split_whitespace().collect();
        let has = |word: &str| words.contains(&word);
        let value = |name: &str| {
            words
                .iter()
                .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        };
        let entry = |name: &str| json!({"name": name, "resourceClaimTemplateName": "t"});
        let entries = match (has("entry"), has("second")) {
            (_, true) => vec![entry("acme"), entry("second")],
            (true, _) => vec![entry("acme")],
            _ => Vec::new(),
        };
        let mut request = gpu();
        if has("admin") {
            request["exactly"]["adminAccess"] = json!(true);
        }
        let (kind, mut object, mut status) = match words[0] {
            "pod" => {
                let mut pod = pod(value("name").unwrap_or("p"))
                    .with(json!({"spec": {"terminationGracePeriodSeconds": 0}}));
                if !entries.is_empty() {
                    pod["spec"]["resourceClaims"] = json!(entries);
                }
                if has("member") || value("member").is_some() {
                    pod = pod.in_group(value("member").unwrap_or("g"));
                }
                if has("node") || has("ended") || has("failed") || has("running") {
                    pod = pod.on_node("worker");
                }
                let phase = [
                    ("ended", "Succeeded"),
                    ("failed", "Failed"),
                    ("running", "Running"),
                ];
                let phase = phase.into_iter().find(|(word, _)| has(word));
                let mut status = phase.map_or(json!({}), |(_, phase)| json!({"phase": phase}));
                if has("extended") {
                    pod = pod.requesting("example.com/gpu", 1);
                    status["extendedResourceClaimStatus"] = json!({"resourceClaimName": "x",
                        "requestMappings": [{"containerName": "main", "resourceName": "example.com/gpu", "requestName": "gpu"}]});
                }
                ("pod", pod, status)
            }
            "group" => (
                "podgroup",
                pod_group(value("name").unwrap_or("g"), entries),
                json!({}),
            ),
            "template" => ("template", template("t", claim_spec([request])), json!({})),
            _ => {
                let mut claim = claim(words[1], claim_spec([request]));
                if let Some(owner) = value("for") {
                    let (version, kind, name) = match owner {
                        "pod" => ("v1", "Pod", "p"),
                        _ => ("scheduling.k8s.io/v1beta1", "PodGroup", "g"),
                    };
                    claim["metadata"]["ownerReferences"] = json!([{"apiVersion": version, "kind": kind, "name": name,
                        "uid": self.uid(owner), "controller": true}]);
                }
                if has("made") {
                    claim["metadata"]["annotations"] = json!({ENTRY: "acme"});
                }
                if has("extended") {
                    claim["metadata"]["annotations"] =
                        json!({"resource.kubernetes.io/extended-resource-claim": "true"});
                }
                if has("protected") {
                    claim["metadata"]["finalizers"] = json!(["resource.kubernetes.io/delete-protection"]);
                }
                ("claim", claim, self.claim_status(&words))
            }
        };
        if let Some(name) = value("status") {
            status["resourceClaimStatuses"] = json!([{"name": "acme", "resourceClaimName": name}]);
        }
        if has("deleting") && kind != "claim" {
            object["metadata"]["finalizers"] = json!(["example.com/held"]);
        }
        let suffix = if has("elsewhere") { "-other" } else { "" };
        let namespace = format!("{}{suffix}", self.namespace);
        (kind, object.in_namespace(&namespace), status)
    }

    pub(super) fn create(&mut self, words: &str) -> String {
        let (kind, object, status) = self.read(words);
        let created = self.user.create(&object);
        let name = text(&created, "/metadata/name");
        let reference = format!("{kind}/{}/{name}", text(&created, "/metadata/namespace"));
        match kind {
            "pod" | "podgroup" => {
                let word = match (kind, name) {
                    ("pod", "p") => "pod",
                    ("podgroup", "g") => "group",
                    (_, name) => name,
                };
                self.known
                    .insert(text(&created, "/metadata/uid").to_owned(), word.to_owned());
            }
            "claim" => _ = self.given.insert(name.to_owned()),
            _ => {}
        }
        if status != json!({}) {
            self.user.patch_status(&reference, &json!({"status": status}));
        }
        if words.split_whitespace().any(|word| word == "deleting") {
            self.user.delete(&reference);
        }
        reference
    }

    /// Changes what is there to what the words say, as far as that is not settled by its creation.
    pub(super) fn change(&mut self, words: &str) {
        let (kind, object, mut status) = self.read(words);
        let reference = format!(
            "{kind}/{}/{}",
            text(&object, "/metadata/namespace"),
            text(&object, "/metadata/name")
        );
        self.user.patch(
            &reference,
            &json!({"metadata": {"labels": {"example.com/changed": "yes"}}}),
        );
        if kind == "claim" {
            for field in ["allocation", "reservedFor"] {
                if status[field].is_null() {
                    status[field] = Value::Null;
                }
            }
        }
        if status != json!({}) {
            self.user.patch_status(&reference, &json!({"status": status}));
        }
    }

    /// Removes what the words say.
    pub(super) fn remove(&mut self, words: &str) {
        let (kind, object, _) = self.read(words);
        let (namespace, name) = (
            text(&object, "/metadata/namespace"),
            text(&object, "/metadata/name"),
        );
        self.user.delete_now(&format!("{kind}/{namespace}/{name}"));
    }

    /// The status of a claim in words.
    pub(super) fn claim_status(&self, words: &[&str]) -> Value {
        let mut status = json!({});
        if words.contains(&"allocated") {
            status["allocation"] = json!({});
        }
        let reserved = words.iter().find_map(|word| word.strip_prefix("reserved="));
        if let Some(reserved) = reserved {
            let entries = reserved.split(',').map(|word| {
                let (group, resource, name) = match word {
                    "pod" => ("", "pods", "p"),
                    "other" => ("", "pods", "o"),
                    "group" => ("scheduling.k8s.io", "podgroups", "g"),
                    _ => ("foo.com", "foo", "f"),
                };
                json!({"apiGroup": group, "resource": resource, "name": name, "uid": self.uid(word)})
            });
            status["reservedFor"] = entries.collect();
        }
        status
    }

    /// The claims that are there, in words.
    pub(super) fn claims(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (namespace, elsewhere) in [
            (self.namespace.clone(), ""),
            (format!("{}-other", self.namespace), " elsewhere"),
        ] {
            for claim in self.user.list(&format!("claim/{namespace}")) {
                all.push(self.claim(&claim, elsewhere));
            }
        }
        all.sort();
        all
    }

    fn claim(&self, claim: &Value, elsewhere: &str) -> String {
        let name = text(claim, "/metadata/name");
        let is_new = !self.given.contains(name);
        let mut words = if is_new {
            "new".to_owned()
        } else {
            format!("claim {name}")
        };
        words += elsewhere;
        let owner = &claim["metadata"]["ownerReferences"][0];
        if owner.is_object() {
            let word = self
                .known
                .get(text(owner, "/uid"))
                .map_or("nobody", String::as_str);
            words += &format!(" for={word}");
        }
        let entry = text(
            &claim["metadata"]["annotations"],
            &format!("/{}", ENTRY.replace('/', "~1")),
        );
        if is_new {
            // The owner, the entry and the name of what was made belong together.
            let base = format!("{}-{entry}-", text(owner, "/name"));
            assert_eq!(text(claim, "/metadata/generateName"), base, "{claim:#}");
            let end = name.strip_prefix(&base).unwrap_or_default();
            let of_suffix = |byte: u8| b"bcdfghjklmnpqrstvwxz2456789".contains(&byte);
            assert!(end.len() == 5 && end.bytes().all(of_suffix), "{name}");
        } else if !entry.is_empty() {
            words += " made";
        }
        if claim["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] == true {
            words += " admin";
        }
        if claim["status"]["allocation"].is_object() {
            words += " allocated";
        }
        let entries = claim["status"]["reservedFor"].as_array().into_iter().flatten();
        let consumers: Vec<&str> = entries
            .map(|entry| {
                self.known
                    .get(text(entry, "/uid"))
                    .map_or("nobody", String::as_str)
            })
            .collect();
        if !consumers.is_empty() {
            words += &format!(" reserved={}", consumers.join(","));
        }
        if claim["metadata"]["finalizers"].is_array() {
            words += " protected";
        }
        if claim["metadata"]["deletionTimestamp"].is_string() {
            words += " deleting";
        }
        words
    }

    /// Returns what pods and PodGroups tell of their claims, in words.
    pub(super) fn statuses(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (kind, word) in [("podgroup", "group"), ("pod", "pod")] {
            for object in self.user.list(&format!("{kind}/{}", self.namespace)) {
                let statuses = object["status"]["resourceClaimStatuses"]
                    .as_array()
                    .into_iter()
                    .flatten();
                let told: Vec<String> = statuses
                    .map(|status| {
                        let name = text(status, "/resourceClaimName");
                        let is_new = self
                            .user
                            .find(&format!("claim/{}/{name}", self.namespace))
                            .is_some()
                            && !self.given.contains(name);
                        format!(" {}={}", text(status, "/name"), if is_new { "new" } else { name })
                    })
                    .collect();
                if !told.is_empty() {
                    all.push(format!("{word}{}", told.concat()));
                }
            }
        }
        all
    }
}

/// Waits until the object tells of its claim, and returns the claim's name.
pub(super) fn wait_for_claim(cluster: &Cluster, object: &str) -> String {
    let path = "/status/resourceClaimStatuses/0/resourceClaimName";
    let found = cluster.wait(object, "has its claim", |object| !text(object, path).is_empty());
    text(&found, path).to_owned()
}

/// A pod and a PodGroup that get their claims after all that came before, as far as the controller looks at PodGroups.
pub(super) fn serve_a_marker(cluster: &Cluster, name: &str, with_group: bool) {
    let mut marker = Scene::new(cluster, name);
    marker.create("template");
    if with_group {
        marker.create("group entry");
        wait_for_claim(cluster, &format!("podgroup/{name}/g"));
    }
    marker.create("pod entry");
    wait_for_claim(cluster, &format!("pod/{name}/p"));
}

/// Removes all objects of a kind, whatever holds them.
pub(super) fn clear(cluster: &Cluster, kind: &str, namespace: &str) {
    for object in cluster.list(&format!("{kind}/{namespace}")) {
        let reference = format!("{kind}/{namespace}/{}", text(&object, "/metadata/name"));
        if object["metadata"]["finalizers"].is_array() {
            cluster.patch(&reference, &json!({"metadata": {"finalizers": null}}));
        }
        cluster.delete_now(&reference);
    }
}
