//! The rows of `TestSyncHandler`: each in a namespace of its own, with the controller started on what is there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Working, asked, nobody_works, text, told, worker};
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, namespace, pod, pod_group, template,
};
use crate::support::cluster::{Cluster, User};
use crate::support::wait::{try_wait, wait_for};

const ROWS: &str = include_str!("../../../data/claim-controller-cases.json");
type Words = &'static [&'static str];

const ENTRY: &str = "resource.kubernetes.io/pod-claim-name";

/// Rows that end otherwise where the controller goes on until all is done, and not only looks once at one item: what is there, which
/// claims, and which statuses.
const TO_THE_END: [(&str, Words, Words, Words); 5] = [
    // The group gets what the pod does not make for itself.
    (
        "skip-create-podgroup-claim-for-pod",
        &["pod entry member", "group entry", "template"],
        &["new for=group"],
        &["group acme=new", "pod acme=new"],
    ),
    (
        "update-pod-status-with-podgroup-claim",
        &[
            "pod entry member",
            "group entry",
            "template",
            "claim c for=group made",
        ],
        &["claim c for=group made"],
        &["group acme=c", "pod acme=c"],
    ),
    // A claim of a pod is not the one that a group's entry means.
    (
        "add-reserved-podgroup",
        &[
            "pod entry member node status=c",
            "group entry status=c",
            "template",
            "claim c for=group made allocated",
        ],
        &["claim c for=group made allocated reserved=group"],
        &["group acme=c", "pod acme=c"],
    ),
    // A template would let them have claims, if anybody made some.
    ("pod-deleted", &["pod entry deleting", "template"], &[], &[]),
    (
        "podgroup-deleted",
        &["group entry deleting", "template"],
        &[],
        &[],
    ),
];

/// Rows that nobody gets to by a start, as their item would not be looked at: what is there first, the end of the event that then
/// comes, if one does, and what comes after it.
const IN_STEPS: [(&str, Words, Option<&str>, Words); 3] = [
    // An item that failed is looked at again, with a claim there now that is not its own.
    (
        "recreate-wrong-owner",
        &["pod entry status=c"],
        Some("resourceclaimtemplate.resource.k8s.io \"t\" not found"),
        &["claim c", "template"],
    ),
    (
        "recreate-wrong-owner-podgroup",
        &["group entry status=c"],
        Some("resourceclaimtemplate.resource.k8s.io \"t\" not found"),
        &["claim c", "template"],
    ),
    // No event tells of the group that is missing, nor does it upstream.
    (
        "skip-create-for-pod-podgroup-does-not-exist",
        &["pod entry member", "template"],
        None,
        &[],
    ),
];

/// The gates of the controllers in the words of the rows, and of the program.
pub(super) const GATES: [(&[&str], &str); 3] = [
    (
        &["admin", "workloads", "groups"],
        "GenericWorkload=true,DRAWorkloadResourceClaims=true",
    ),
    (
        &["admin", "workloads"],
        "GenericWorkload=true,DRAWorkloadResourceClaims=false",
    ),
    (
        &["admin"],
        "GenericWorkload=false,DRAWorkloadResourceClaims=false",
    ),
];

/// UIDs that nobody has.
const GONE: [(&str, &str); 4] = [
    ("pod", "00000000-0000-0000-0000-00000000000a"),
    ("other", "00000000-0000-0000-0000-00000000000b"),
    ("group", "00000000-0000-0000-0000-00000000000c"),
    ("foreign", "00000000-0000-0000-0000-00000000000d"),
];

pub(super) fn is_in(gates: &Value, on: &[&str]) -> bool {
    let gates = gates.as_str().unwrap_or_default();
    gates.split_whitespace().all(|gate| match gate.strip_prefix('-') {
        Some(gate) => !on.contains(&gate),
        None => on.contains(&gate),
    })
}

fn words_of(list: &Value) -> Vec<String> {
    let words = list.as_array().into_iter().flatten();
    words
        .map(|word| word.as_str().expect("words").to_owned())
        .collect()
}

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

    pub(super) fn create(&mut self, words: &str) -> String {
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
        let created = self.user.create(&object.in_namespace(&namespace));
        let name = text(&created, "/metadata/name");
        let reference = format!("{kind}/{namespace}/{name}");
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
        if has("deleting") {
            self.user.delete(&reference);
        }
        reference
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

    /// What pods and PodGroups tell of their claims, in words.
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

/// What is expected of a row in the end.
struct Expected {
    cached: Vec<String>,
    claims: Vec<String>,
    statuses: Vec<String>,
    /// The text of the event, if there is one.
    event: Option<String>,
    /// What comes once there is an event.
    after: &'static [&'static str],
}

fn expected(row: &Value) -> Expected {
    let name = text(row, "/name");
    let is_final = row["final"] == true;
    let mut event = row["error"].as_str().filter(|_| !is_final).map(str::to_owned);
    let strings = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut expected = match TO_THE_END.iter().find(|(known, ..)| *known == name) {
        Some((_, cached, claims, statuses)) => Expected {
            cached: strings(cached),
            claims: strings(claims),
            statuses: strings(statuses),
            event: event.take(),
            after: &[],
        },
        None => Expected {
            cached: words_of(&row["cached"]),
            claims: words_of(&row["claims"]),
            statuses: words_of(&row["statuses"]),
            event,
            after: &[],
        },
    };
    if let Some((_, first, event, after)) = IN_STEPS.iter().find(|(known, ..)| *known == name) {
        expected.cached = strings(first);
        expected.event = event.map(str::to_owned);
        expected.after = after;
    }
    expected.claims.sort();
    expected
}

/// Whether the row is about what only the API server has, or refuses, or about a gate that this API server knows no more.
fn is_elsewhere(row: &Value) -> bool {
    ["later", "made", "answered", "refused"]
        .iter()
        .any(|field| !row[*field].is_null())
        || text(row, "/name") == "create-adminaccess-feature-disabled"
}

fn compare(cluster: &Cluster, scene: &Scene<'_>, expected: &Expected) -> Result<(), String> {
    let (claims, statuses) = (scene.claims(), scene.statuses());
    if claims != expected.claims {
        return Err(format!("claims are {claims:?} instead of {:?}", expected.claims));
    }
    if statuses != expected.statuses {
        return Err(format!(
            "statuses are {statuses:?} instead of {:?}",
            expected.statuses
        ));
    }
    let told = told(cluster, &scene.namespace, "FailedResourceClaimCreation");
    match &expected.event {
        Some(event) if !told.iter().any(|told| told.contains(event)) => {
            Err(format!("{event} is not in {told:?}"))
        }
        // Some rows leave a pod without template beside what they are about.
        None if told
            .iter()
            .any(|told| !told.contains("resourceclaimtemplate.resource.k8s.io \"t\" not found")) =>
        {
            Err(format!("{told:?}"))
        }
        _ => Ok(()),
    }
}

#[test]
fn sync_handler() {
    let cluster = nobody_works();
    let user = worker(&cluster);
    let rows: Vec<Value> = serde_json::from_str(ROWS).expect("JSON");
    let rows: Vec<&Value> = rows.iter().filter(|row| !is_elsewhere(row)).collect();
    assert_eq!(rows.len(), 56 - 11);
    let mut seen = BTreeSet::new();
    for (run, (on, gates)) in GATES.iter().enumerate() {
        let mut scenes = Vec::new();
        for (number, row) in rows
            .iter()
            .enumerate()
            .filter(|(_, row)| is_in(&row["gates"], on))
        {
            let mut scene = Scene::new(&cluster, &format!("c{run}-{number}"));
            let expected = expected(row);
            scene.create_all(&expected.cached);
            seen.insert(number);
            scenes.push((text(row, "/name"), scene, expected));
        }
        let working = Working::start(&user, None, gates, &["--controllers", "resourceclaim"]);
        for (name, scene, expected) in scenes
            .iter_mut()
            .filter(|(.., expected)| !expected.after.is_empty())
        {
            let event = expected.event.as_deref().expect("what to wait for");
            wait_for(&format!("{name}: {event}"), || {
                let told = told(&cluster, &scene.namespace, "FailedResourceClaimCreation");
                told.iter().any(|told| told.ends_with(event)).then_some(())
            });
            for words in expected.after {
                scene.create(words);
            }
        }
        let check = || {
            let wrong: Vec<String> = scenes
                .iter()
                .filter_map(|(name, scene, expected)| {
                    let why = compare(&cluster, scene, expected).err()?;
                    Some(format!("{name} in {}: {why}", scene.namespace))
                })
                .collect();
            if wrong.is_empty() { Ok(()) } else { Err(wrong) }
        };
        let done = try_wait(check);
        assert_eq!(done, Ok(()), "with {gates}\n{}", working.process.stderr());
        // Whoever would do too much has done it by now, as everything else is done.
        working.wait_for_metric("workqueue_depth", &["workqueue_depth{name=\"resource_claim\"} 0"]);
        std::thread::sleep(std::time::Duration::from_secs(1));
        assert_eq!(check(), Ok(()), "with {gates}");
        let stderr = working.end().stderr;
        let asked = asked(&cluster);
        for (name, scene, _) in &scenes {
            // Nobody asks about what needs nothing.
            let quiet = [
                "nop",
                "nop-podgroup",
                "no-volumes",
                "stay-reserved-seen",
                "no-such-pod",
                "no-such-podgroup",
            ];
            let path = format!("/namespaces/{}/", scene.namespace);
            let of_row: Vec<&String> = asked
                .iter()
                .filter(|request| request.contains(&path) && !request.contains("/events"))
                .collect();
            assert!(
                !quiet.contains(name) || of_row.is_empty(),
                "{name}: {of_row:?}\n{stderr}"
            );
            // Two entries are told of by one write.
            if *name == "flapping-resourceclaim-statuses" {
                let statuses = of_row.iter().filter(|request| request.contains("/status"));
                assert_eq!(statuses.count(), 1, "{of_row:?}");
            }
        }
        // The next gates have nothing to do with these.
        for (_, scene, _) in &scenes {
            for kind in ["pod", "podgroup", "template", "claim"] {
                clear(&cluster, kind, &scene.namespace);
            }
        }
    }
    assert_eq!(seen.len(), rows.len());
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
