//! The cases of upstream's own tests of the controller, from `tests/data/claim-controller-cases.json`.
//!
//! Each case says what is cached, what only the API server knows, which item is looked at, and what is there
//! afterwards. Objects are written as text, which `object` reads and `words` writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::tests::{ALL, cluster, now, object};
use super::{Answer, Answers, ClaimName, ClaimWrite, Ending, Features, Plan, ResourceClaims, Stop, Subject};
use crate::controllers::{Controller, JobId, Observed, Outcome, Work};
use crate::reservation::{ENTRY_ANNOTATION, PodGroups};
use dra_model::{Change, Claim, Cluster, FINALIZER, Key, Kind, Object, PodClaimStatus, Str, Time};

const EVENTS: &str = include_str!("../../../../../tests/data/claim-controller-events.json");
const CASES: &str = include_str!("../../../../../tests/data/claim-controller-cases.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Gates that must be on, or off with `-`; all sets of gates without it.
    #[serde(default)]
    gates: String,
    cached: Vec<String>,
    /// Objects that only the API server has.
    #[serde(default)]
    later: Vec<String>,
    /// Claims that were made here and that are in no cache.
    #[serde(default)]
    made: Vec<String>,
    /// Claims known only from the response to their creation.
    #[serde(default)]
    answered: Vec<String>,
    sync: String,
    /// The reason why the API server refuses to create claims.
    refused: Option<String>,
    error: Option<String>,
    /// True if the error is not retried.
    #[serde(default)]
    r#final: bool,
    #[serde(default)]
    claims: Vec<String>,
    #[serde(default)]
    statuses: Vec<String>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(CASES).unwrap()
}

/// The twelve sets of gates that upstream tries, with their names.
fn gate_sets() -> Vec<(Vec<&'static str>, Features)> {
    let mut sets = Vec::new();
    for bits in 0..16_u32 {
        let [admin, prioritized, workloads, groups] = [0, 1, 2, 3].map(|bit| bits >> bit & 1 == 1);
        if groups && !workloads {
            continue;
        }
        let names = [("admin", admin), ("workloads", workloads), ("groups", groups)];
        let on = names.into_iter().filter(|(_, on)| *on).map(|(name, _)| name);
        let features = Features {
            admin_access: admin,
            prioritized_list: prioritized,
            workloads,
            groups: if groups {
                PodGroups::Accepted
            } else {
                PodGroups::Ignored
            },
            ..ALL
        };
        sets.push((on.collect(), features));
    }
    sets
}

fn is_in(gates: &str, on: &[&str]) -> bool {
    gates.split_whitespace().all(|gate| match gate.strip_prefix('-') {
        Some(gate) => !on.contains(&gate),
        None => on.contains(&gate),
    })
}

/// An object from its words.
fn read(text: &str) -> (Kind, Value) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    let value = |name: &str| {
        words
            .iter()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let mut object = json!({"metadata": {"namespace": "n"}, "spec": {}, "status": {}});
    let entry = json!({"name": "acme", "resourceClaimTemplateName": "t"});
    let kind = match words[0] {
        "pod" | "group" => {
            let (kind, name) = if words[0] == "pod" {
                (Kind::Pod, "p")
            } else {
                (Kind::PodGroup, "g")
            };
            let name = value("name").unwrap_or(name);
            object["metadata"]["name"] = name.into();
            object["metadata"]["uid"] = format!("{name}-uid").into();
            if has("extended") {
                object["status"]["extendedResourceClaimStatus"] = json!({"resourceClaimName": "x"});
            }
            if has("unknown-entry") {
                object["spec"]["resourceClaims"] = json!([{"name": "acme"}]);
            }
            if has("failed") {
                object["status"]["phase"] = "Failed".into();
            }
            if has("running") {
                object["status"]["phase"] = "Running".into();
            }
            if let Some(group) = value("member") {
                object["spec"]["schedulingGroup"] = json!({"podGroupName": group});
            }
            if has("entry") {
                object["spec"]["resourceClaims"] = json!([entry]);
            }
            if has("second") {
                object["spec"]["resourceClaims"] =
                    json!([entry, {"name": "second", "resourceClaimTemplateName": "t"}]);
            }
            if has("member") {
                object["spec"]["schedulingGroup"] = json!({"podGroupName": "g"});
            }
            if has("node") {
                object["spec"]["nodeName"] = "node".into();
            }
            if has("ended") {
                object["status"]["phase"] = "Succeeded".into();
            }
            if let Some(name) = value("status") {
                object["status"]["resourceClaimStatuses"] =
                    json!([{"name": "acme", "resourceClaimName": name}]);
            }
            kind
        }
        "template" => {
            object["metadata"]["name"] = "t".into();
            if has("admin") {
                object["spec"] = json!({"spec": {"devices": {"requests": [
                    {"name": "r", "exactly": {"deviceClassName": "c", "adminAccess": true}}]}}});
            }
            Kind::ResourceClaimTemplate
        }
        _ => {
            object["metadata"]["name"] = words[1].into();
            object["metadata"]["uid"] = format!("{}-uid", words[1]).into();
            if has("admin") {
                object["spec"] = json!({"devices": {"requests": [
                    {"name": "r", "exactly": {"deviceClassName": "c", "adminAccess": true}}]}});
            }
            if let Some(owner) = value("for") {
                let (version, kind, name) = match owner {
                    "pod" => ("v1", "Pod", "p"),
                    _ => ("scheduling.k8s.io/v1beta1", "PodGroup", "g"),
                };
                object["metadata"]["ownerReferences"] = json!([{"apiVersion": version, "kind": kind, "name": name,
                    "uid": format!("{name}-uid"), "controller": true}]);
            }
            if has("made") {
                object["metadata"]["annotations"] = json!({ENTRY_ANNOTATION: "acme"});
            }
            if has("protected") {
                object["metadata"]["finalizers"] = json!([FINALIZER]);
            }
            if has("allocated") {
                object["status"]["allocation"] = json!({});
            }
            let consumers = value("reserved")
                .unwrap_or_default()
                .split(',')
                .filter(|name| !name.is_empty());
            object["status"]["reservedFor"] = consumers
                .map(|consumer| match consumer {
                    "pod" => json!({"resource": "pods", "name": "p", "uid": "p-uid"}),
                    "other" => json!({"resource": "pods", "name": "o", "uid": "o-uid"}),
                    "group" => json!({"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "g-uid"}),
                    _ => json!({"apiGroup": "foo.com", "resource": "foo", "name": "f", "uid": "f-uid"}),
                })
                .collect();
            Kind::ResourceClaim
        }
    };
    if has("elsewhere") {
        object["metadata"]["namespace"] = "other".into();
    }
    if has("deleting") {
        object["metadata"]["deletionTimestamp"] = "2026-11-21T10:00:00Z".into();
    }
    (kind, object)
}

fn read_object(text: &str) -> Object {
    let (kind, json) = read(text);
    object(kind, &json)
}

/// A claim in words.
fn words(claim: &Claim, is_new: bool) -> String {
    let metadata = &claim.metadata;
    let mut words = if is_new {
        vec!["new".to_owned()]
    } else {
        vec!["claim".to_owned(), metadata.name.to_string()]
    };
    if metadata.namespace == "other" {
        words.push("elsewhere".to_owned());
    }
    if let Some(owner) = metadata.controller() {
        let owner = if owner.kind == "Pod" { "pod" } else { "group" };
        words.push(format!("for={owner}"));
    }
    // That of a new claim is checked with the entry that it is for.
    if metadata.annotation(ENTRY_ANNOTATION).is_some() && !is_new {
        words.push("made".to_owned());
    }
    let requests = &claim.spec.devices.requests;
    let admin = |request: &dra_model::Request| {
        let exactly = request.exactly.as_ref();
        exactly.is_some_and(|exactly| exactly.admin_access == Some(true))
    };
    if requests.iter().any(admin) {
        words.push("admin".to_owned());
    }
    if claim.status.allocation.is_some() {
        words.push("allocated".to_owned());
    }
    let consumers: Vec<&str> = claim
        .status
        .reserved_for
        .iter()
        .map(|entry| match entry.uid.as_str() {
            "p-uid" => "pod",
            "o-uid" => "other",
            "g-uid" => "group",
            _ => "foreign",
        })
        .collect();
    if !consumers.is_empty() {
        words.push(format!("reserved={}", consumers.join(",")));
    }
    if !metadata.finalizers.is_empty() {
        words.push("protected".to_owned());
    }
    if metadata.is_deleting() {
        words.push("deleting".to_owned());
    }
    words.join(" ")
}

/// An API server that has the objects of the cluster and some that no watch has shown.
struct Server {
    cluster: Cluster,
    later: Vec<Object>,
    refused: Option<String>,
    new: Vec<Key>,
}

impl Server {
    fn answer(&self, lookup: &super::Lookup) -> Answer {
        let mut later = self.later.iter();
        let found =
            later.find(|object| object.kind() == lookup.kind && object.metadata().key() == lookup.key);
        found.map_or(Answer::Absent, |object| Answer::Found(object.clone()))
    }

    fn write(&mut self, plan: &Plan) -> Result<(), String> {
        let mut created = Vec::new();
        for write in &plan.writes {
            match write {
                ClaimWrite::Create { claim, .. } => {
                    if let Some(why) = &self.refused {
                        return Err(why.clone());
                    }
                    assert!(self.cluster.claim(&claim.key()).is_none(), "the name is taken");
                    self.new.push(claim.key());
                    created.push(Arc::clone(claim));
                    self.put(Object::ResourceClaim(Arc::clone(claim)));
                }
                ClaimWrite::SetStatuses { of, statuses } => {
                    let statuses = statuses.iter().map(|(entry, claim)| PodClaimStatus {
                        name: entry.clone(),
                        resource_claim_name: Some(match claim {
                            ClaimName::Known(name) => name.clone(),
                            ClaimName::Created(index) => created[*index].metadata.name.clone(),
                        }),
                    });
                    let statuses: Vec<PodClaimStatus> = statuses.collect();
                    let changed = match self.cluster.get(of.kind, &of.key).cloned().unwrap() {
                        Object::Pod(pod) => {
                            let mut pod = (*pod).clone();
                            pod.status.resource_claim_statuses = statuses;
                            Object::Pod(Arc::new(pod))
                        }
                        Object::PodGroup(group) => {
                            let mut group = (*group).clone();
                            group.status.resource_claim_statuses = statuses;
                            Object::PodGroup(Arc::new(group))
                        }
                        other => panic!("{other:?}"),
                    };
                    self.put(changed);
                }
                ClaimWrite::Reserve { claim, consumer } => {
                    let mut claim = (**claim).clone();
                    claim.status.reserved_for.push(consumer.clone());
                    self.put(Object::ResourceClaim(Arc::new(claim)));
                }
                ClaimWrite::Release {
                    claim,
                    remaining,
                    deallocate,
                } => {
                    let mut claim = (**claim).clone();
                    claim.status.reserved_for.clone_from(remaining);
                    if *deallocate {
                        claim.status.allocation = None;
                    }
                    self.put(Object::ResourceClaim(Arc::new(claim)));
                }
                ClaimWrite::RemoveFinalizer(claim) => {
                    let key = &claim.key();
                    let mut claim = (**self.cluster.claim(key).unwrap()).clone();
                    claim.metadata.finalizers.clear();
                    // A real API server has nothing to wait for then.
                    if claim.metadata.is_deleting() {
                        self.cluster
                            .apply(Change::Delete(Kind::ResourceClaim, key.clone()));
                    } else {
                        self.put(Object::ResourceClaim(Arc::new(claim)));
                    }
                }
                ClaimWrite::Delete(claim) => {
                    let key = &claim.key();
                    self.cluster
                        .apply(Change::Delete(Kind::ResourceClaim, key.clone()));
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, object: Object) {
        self.cluster.apply(Change::Put(object));
    }

    fn claims(&self) -> Vec<String> {
        let mut claims: Vec<String> = self
            .cluster
            .claims()
            .map(|claim| words(claim, self.new.contains(&claim.key())))
            .collect();
        claims.sort();
        claims
    }

    fn statuses(&self) -> Vec<String> {
        let told = |owner: &str, statuses: &[PodClaimStatus]| {
            let names: Vec<String> = statuses
                .iter()
                .map(|status| {
                    let name = status.resource_claim_name.clone().unwrap_or_default();
                    let is_new = self.new.iter().any(|key| key.name == name);
                    format!(" {}={}", status.name, if is_new { "new" } else { &name })
                })
                .collect();
            (!names.is_empty()).then(|| format!("{owner}{}", names.concat()))
        };
        let pods = self
            .cluster
            .pods()
            .filter_map(|pod| told("pod", &pod.status.resource_claim_statuses));
        let groups = self.cluster.pod_groups();
        let groups = groups.filter_map(|group| told("group", &group.status.resource_claim_statuses));
        pods.chain(groups).collect()
    }
}

fn subject(text: &str) -> Subject {
    let key = |name: &str| Key::new("n", Str::from(name));
    match text {
        "pod" => Subject::Pod(key("p")),
        "group" => Subject::PodGroup(key("g")),
        claim => Subject::Claim(key(claim.rsplit(' ').next().unwrap())),
    }
}

/// Looks at the item of `case` once: what the API server has then, and how it ended.
fn sync(case: &Case, features: Features) -> (Server, Result<(), String>, ResourceClaims) {
    let cached: Vec<(Kind, Value)> = case
        .cached
        .iter()
        .chain(&case.answered)
        .map(|text| read(text))
        .collect();
    let mut server = Server {
        cluster: cluster(&cached),
        later: case.later.iter().map(|text| read_object(text)).collect(),
        refused: case.refused.clone(),
        new: Vec::new(),
    };
    let mut controller = ResourceClaims::idle(features);
    for claim in &case.made {
        let after = Some(read_object(claim));
        controller.remember(&Observed { before: None, after }, now());
    }
    let item = subject(&case.sync);
    let mut answers = Answers::new();
    let plan = loop {
        match controller.plan(&item, &answers, &server.cluster) {
            Ok(plan) => break plan,
            Err(Stop::Look(lookups)) => {
                answers.extend(lookups.into_iter().map(|lookup| {
                    let answer = server.answer(&lookup);
                    (lookup, answer)
                }));
            }
            Err(Stop::Retry(why) | Stop::Drop(why)) => panic!("{why}"),
        }
    };
    let ended = match (server.write(&plan), &plan.ending) {
        (Err(why), _) => Err(why),
        (Ok(()), Ending::Done) => Ok(()),
        (Ok(()), Ending::Retry(why)) => {
            assert!(!case.r#final, "{}: {why}", case.name);
            Err(why.clone())
        }
        (Ok(()), Ending::Drop(why)) => {
            assert!(case.r#final, "{}: {why}", case.name);
            Err(why.clone())
        }
    };
    (server, ended, controller)
}

#[test]
fn sync_handler() {
    let mut names = std::collections::BTreeSet::new();
    let mut runs = 0;
    for case in cases() {
        assert!(names.insert(case.name.clone()), "{} is there twice", case.name);
        for (on, features) in gate_sets().into_iter().filter(|(on, _)| is_in(&case.gates, on)) {
            runs += 1;
            let name = format!("{} with {on:?}", case.name);
            let (server, ended, _) = sync(&case, features);
            match (&case.error, &ended) {
                (None, Ok(())) => {}
                (Some(expected), Err(why)) if why.contains(expected.as_str()) => {}
                _ => panic!("{name}: {ended:?} instead of {:?}", case.error),
            }
            let mut claims = case.claims.clone();
            claims.sort();
            assert_eq!(server.claims(), claims, "{name}");
            assert_eq!(server.statuses(), case.statuses, "{name}");
            for key in &server.new {
                let made = server.cluster.claim(key).unwrap();
                let entry = made.metadata.annotation(ENTRY_ANNOTATION).unwrap();
                let owner = made.metadata.controller().unwrap();
                let base = format!("{}-{entry}-", owner.name);
                assert_eq!(made.metadata.generate_name, base.as_str(), "{name}");
                assert!(made.metadata.name.starts_with(&base), "{name}");
            }
        }
    }
    assert_eq!((names.len(), runs), (56, 454));
}

#[test]
fn creating_a_claim_leaves_the_template_alone() {
    let annotated = json!({"metadata": {"namespace": "n", "name": "t"},
        "spec": {"metadata": {"annotations": {"resource.kubernetes.io/color": "blue"}}}});
    for owner in ["pod", "group"] {
        let cluster = cluster(&[
            read(&format!("{owner} entry")),
            (Kind::ResourceClaimTemplate, annotated.clone()),
        ]);
        let mut controller = ResourceClaims::idle(ALL);
        let Ok(plan) = controller.plan(&subject(owner), &Answers::new(), &cluster) else {
            panic!("a plan");
        };
        let [
            ClaimWrite::Create { claim, template },
            ClaimWrite::SetStatuses { .. },
        ] = plan.writes.as_slice()
        else {
            panic!("{:?}", plan.writes);
        };
        let kept = cluster.template(&Key::new("n", "t")).unwrap();
        assert!(Arc::ptr_eq(kept, template));
        assert_eq!(kept.spec.metadata.annotations.len(), 1);
        let annotations: BTreeMap<&str, &str> = claim
            .metadata
            .annotations
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            annotations,
            BTreeMap::from([
                ("resource.kubernetes.io/color", "blue"),
                (ENTRY_ANNOTATION, "acme")
            ])
        );
    }
}

#[test]
fn a_claim_exists_where_it_is_known() {
    let claim = || read("claim c for=pod made");
    let Object::ResourceClaim(made) = read_object("claim c for=pod made") else {
        panic!("a claim");
    };
    let key = made.key();
    let lookup = super::Lookup {
        kind: Kind::ResourceClaim,
        key: key.clone(),
    };
    let answered = |answer: Answer| Answers::from([(lookup.clone(), answer)]);
    let found = || Answer::Found(Object::ResourceClaim(Arc::clone(&made)));
    let exists = |controller: &ResourceClaims, cached: &[(Kind, Value)], answers: &Answers, right: bool| {
        match controller.claim_exists(&cluster(cached), answers, &key, |_| right) {
            Ok(exists) => Ok(exists),
            Err(Stop::Look(lookups)) => Err(format!("look for {}", lookups.len())),
            Err(Stop::Retry(why) | Stop::Drop(why)) => Err(why),
        }
    };
    let idle = ResourceClaims::idle(ALL);
    let mut made_here = ResourceClaims::idle(ALL);
    let after = Some(Object::ResourceClaim(Arc::clone(&made)));
    made_here.remember(&Observed { before: None, after }, now());
    // Found in the mutation cache, in the store, and by asking.
    assert_eq!(exists(&made_here, &[], &Answers::new(), true), Ok(true));
    assert_eq!(exists(&idle, &[claim()], &Answers::new(), true), Ok(true));
    assert_eq!(
        exists(&idle, &[], &Answers::new(), true),
        Err("look for 1".to_owned())
    );
    assert_eq!(exists(&idle, &[], &answered(found()), true), Ok(true));
    // For an hour, and not where that is done better.
    let later = now().after(super::MADE_FOR);
    assert!(made_here.next(JobId(1), &cluster(&[]), later).is_none());
    assert_eq!(
        exists(&made_here, &[], &Answers::new(), true),
        Err("look for 1".to_owned())
    );
    let mut better = ResourceClaims::idle(super::tests::BETTER);
    let after = Some(Object::ResourceClaim(Arc::clone(&made)));
    better.remember(&Observed { before: None, after }, now());
    assert_eq!(
        exists(&better, &[], &Answers::new(), true),
        Err("look for 1".to_owned())
    );
    // Nowhere, unknown, and the wrong one.
    assert_eq!(exists(&idle, &[], &answered(Answer::Absent), true), Ok(false));
    let failed = answered(Answer::Failed("internal".to_owned()));
    assert_eq!(exists(&idle, &[], &failed, true), Err("internal".to_owned()));
    assert_eq!(exists(&idle, &[claim()], &Answers::new(), false), Ok(false));
}

#[test]
fn the_queue_keeps_what_has_to_be_tried_again() {
    let item = || subject("pod");
    for (ending, due) in [
        (Ending::Done, None),
        (Ending::Retry("fake error".to_owned()), Some(5)),
        // However it is wrapped.
        (Ending::Drop("fake error".to_owned()), None),
    ] {
        let mut controller = ResourceClaims::idle(ALL);
        controller.queue.add(item());
        assert_eq!(controller.queue.pop(now()), Some(item()));
        controller.end(&item(), &ending, now());
        let next: Option<Time> = controller.queue.next_due(now());
        let milliseconds = next.map(|next| next.since(now()).as_millis());
        assert_eq!(milliseconds, due, "{ending:?}");
    }
    // What the API server refuses is tried again too.
    let refused = cases().into_iter().find(|case| case.refused.is_some()).unwrap();
    let objects: Vec<_> = refused.cached.iter().map(|text| read(text)).collect();
    let cluster = cluster(&objects);
    let mut controller = ResourceClaims::start(&cluster, ALL);
    let id = JobId(1);
    let Some((_, Work::Carry(_))) = controller.next(id, &cluster, now()) else {
        panic!("a plan");
    };
    controller.done(id, Outcome::Refused("fake conflict".to_owned()), now());
    let next = controller.queue.next_due(now()).unwrap();
    assert_eq!(next.since(now()).as_millis(), 5);
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventCase {
    name: String,
    #[serde(default)]
    gates: String,
    /// Initial objects, already processed.
    #[serde(default)]
    initial: Vec<String>,
    /// `+OBJECT` for a new one, `=OBJECT` for a changed one, `-OBJECT` for one that goes.
    events: Vec<String>,
    /// Items processed because of them.
    queued: Vec<String>,
}

#[test]
fn event_handlers() {
    let cases: Vec<EventCase> = serde_json::from_str(EVENTS).unwrap();
    for case in &cases {
        for (on, features) in gate_sets().into_iter().filter(|(on, _)| is_in(&case.gates, on)) {
            let initial: Vec<_> = case.initial.iter().map(|text| read(text)).collect();
            let mut cluster = cluster(&initial);
            let mut controller = ResourceClaims::idle(features);
            for event in &case.events {
                let (sign, text) = event.split_at(1);
                let object = read_object(text);
                let (kind, key) = (object.kind(), object.metadata().key());
                assert_eq!(cluster.has(kind, &key), sign != "+", "{}", case.name);
                let after = (sign != "-").then(|| object.clone());
                let before = cluster.apply(match sign {
                    "-" => Change::Delete(kind, key),
                    _ => Change::Put(object),
                });
                controller.note(&cluster, &Observed { before, after });
            }
            let mut queued: Vec<String> = std::iter::from_fn(|| controller.queue.pop(now()))
                .map(|item| match item {
                    Subject::Pod(key) => format!("pod {key}"),
                    Subject::PodGroup(key) => format!("group {key}"),
                    Subject::Claim(key) => format!("claim {}", key.name),
                    other => panic!("{other:?}"),
                })
                .collect();
            queued.sort();
            assert_eq!(queued, case.queued, "{} with {on:?}", case.name);
        }
    }
    assert_eq!(cases.len(), 35);
}
