//! The cases of `TestController`: each in a namespace of its own and with a driver of its own, so that one program serves all of them.
//!
//! On a real clock an eviction that is due in an hour is seen by moving its taint an hour back. So each case comes in steps: what is
//! there first, the events, and then the time at which the pods have to go. A second is a hundred here, so that the instants of a case
//! are too far apart to be taken for each other.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::history::Conditions;
use super::{Working, asked, nobody_works, text, worker};
use crate::support::cluster::faulty::{Fault, Gate};
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, namespace, pod, request};
use crate::support::cluster::{Cluster, path_of, reference};
use crate::support::wait::{try_wait, wait_for};

const DATA: &str = include_str!("../../../data/taint-controller-cases.json");

/// Number of seconds here are one of a case.
const SCALE: i64 = 100;

/// A UID that nobody has.
const NOBODY: &str = "00000000-0000-0000-0000-00000000000a";

/// Objects that the API server rejects.
const REFUSED: &str = "ignore-unknown-effect";

/// The pod that the claim is reserved for cannot be known before it is there; see `a_pod_that_takes_the_place_of_another`.
const REPLACED: &str = "evict-wrong-pod-replaced";

/// The objects of the cases by name, and the cases.
pub(super) struct Data(Value);

impl Data {
    pub(super) fn read() -> Self {
        Self(serde_json::from_str(DATA).expect("JSON"))
    }

    fn cases(&self) -> &[Value] {
        self.0["cases"].as_array().expect("cases")
    }

    fn case(&self, name: &str) -> &Value {
        let mut cases = self.cases().iter();
        cases
            .find(|case| case["name"] == name)
            .unwrap_or_else(|| panic!("no case {name}"))
    }

    fn object(&self, name: &str) -> &Value {
        let object = &self.0["objects"][name];
        assert!(object.is_object(), "no object {name}");
        object
    }
}

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// This second.
pub(super) fn now() -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second()).expect("a time")
}

/// Later than any test takes.
pub(super) fn much_later() -> Timestamp {
    now() + seconds(100_000)
}

/// A namespace and a driver in which the objects of a case become real ones.
pub(super) struct Scene<'a> {
    cluster: &'a Cluster,
    data: &'a Data,
    pub(super) namespace: String,
    /// By UID of the case, the real one.
    uids: BTreeMap<String, String>,
    /// By real name, the slices and rules that are there, by their names in the data.
    tainting: BTreeMap<String, String>,
    /// Placeholder for the start of the case.
    pub(super) epoch: Timestamp,
}

impl<'a> Scene<'a> {
    pub(super) fn new(cluster: &'a Cluster, data: &'a Data, name: &str) -> Self {
        for name in [name.to_owned(), format!("{name}-other")] {
            cluster.create(&namespace(&name));
        }
        Self {
            cluster,
            data,
            namespace: name.to_owned(),
            uids: BTreeMap::new(),
            tainting: BTreeMap::new(),
            epoch: now(),
        }
    }

    fn in_namespace(&self, namespace: &str) -> String {
        match namespace {
            "n" => self.namespace.clone(),
            other => format!("{}-{other}", self.namespace),
        }
    }

    /// The name of a slice or rule, which are in no namespace.
    pub(super) fn named(&self, name: &str) -> String {
        format!("{name}-{}", self.namespace)
    }

    /// An instant of the case.
    fn at(&self, second: i64) -> Timestamp {
        self.epoch + seconds(second * SCALE)
    }

    /// The real object behind a name of the data.
    fn object(&self, name: &str) -> Value {
        let mut object = self.data.object(name).clone();
        self.adapt(&mut object);
        let metadata = &mut object["metadata"];
        metadata.as_object_mut().expect("metadata").remove("uid");
        let kind = text(&object, "/kind").to_owned();
        if let Some(namespace) = object["metadata"]["namespace"].as_str() {
            object["metadata"]["namespace"] = json!(self.in_namespace(namespace));
        } else {
            object["metadata"]["name"] = json!(self.named(text(&object, "/metadata/name")));
        }
        match kind.as_str() {
            "Pod" => pod("x")
                .with(json!({"spec": {"terminationGracePeriodSeconds": 0}}))
                .with(object),
            "ResourceClaim" => claim("x", claim_spec([request("r", "gpu.example.com")])).with(object),
            "DeviceTaintRule" => {
                // Other cases have devices of the same name.
                object["spec"]["deviceSelector"]["driver"] = json!(self.driver());
                object.with(json!({"apiVersion": "resource.k8s.io/v1"}))
            }
            _ => object.with(json!({"apiVersion": "resource.k8s.io/v1"})),
        }
    }

    fn driver(&self) -> String {
        format!("{}.example.com", self.namespace)
    }

    /// Makes times, drivers and UIDs real.
    fn adapt(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.adapt(item)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    match (name.as_str(), &*field) {
                        ("timeAdded", Value::String(time)) => {
                            let start: Timestamp = "2000-01-01T00:00:00Z".parse().expect("a time");
                            let time: Timestamp = time.parse().expect("a time");
                            let second = time.duration_since(start).as_secs();
                            *field = json!(self.at(second).to_string());
                        }
                        ("tolerationSeconds", Value::Number(count)) => {
                            *field = json!(count.as_i64().expect("seconds") * SCALE);
                        }
                        ("driver", _) => *field = json!(self.driver()),
                        ("uid", Value::String(uid)) => {
                            *field = json!(self.uids.get(uid).map_or(NOBODY, String::as_str));
                        }
                        _ => self.adapt(field),
                    }
                }
            }
            _ => {}
        }
    }

    fn reference(object: &Value) -> String {
        reference(object)
    }

    /// Brings an object of the data about, whatever is there of it.
    pub(super) fn put(&mut self, name: &str) {
        let object = self.object(name);
        let reference = Self::reference(&object);
        if ["ResourceSlice", "DeviceTaintRule"].contains(&text(&object, "/kind")) {
            self.tainting
                .insert(text(&object, "/metadata/name").to_owned(), name.to_owned());
        }
        match self.cluster.find(&reference) {
            None => {
                let created = self.cluster.create(&object);
                if let Some(uid) = self.data.object(name)["metadata"]["uid"].as_str() {
                    let real = text(&created, "/metadata/uid").to_owned();
                    self.uids.insert(uid.to_owned(), real);
                }
            }
            // As if somebody had seen it anew.
            Some(_) => {
                let bound = &object["spec"]["nodeName"];
                let found = self.cluster.update(&reference, |found| {
                    found["metadata"]["labels"]["example.com/seen"] = json!("again");
                    if found["kind"] == "ResourceSlice" || found["kind"] == "DeviceTaintRule" {
                        found["spec"] = object["spec"].clone();
                    }
                });
                if bound.is_string() && found["spec"]["nodeName"].is_null() {
                    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": text(&found, "/metadata/name")},
                        "target": {"apiVersion": "v1", "kind": "Node", "name": bound}});
                    let path = path_of(&reference) + "/binding";
                    let answer = self.cluster.request(&Method::POST, &path, &binding);
                    assert!(answer.is_success(), "{path}: {answer:?}");
                }
            }
        }
        let mut status = object["status"].clone();
        if object["kind"] == "ResourceClaim" && status.is_null() {
            status = json!({"allocation": null, "reservedFor": null});
        }
        if status.is_object() {
            self.cluster.patch_status(&reference, &json!({"status": status}));
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        let object = self.object(name);
        self.tainting.remove(text(&object, "/metadata/name"));
        self.cluster.delete_now(&Self::reference(&object));
    }

    /// Carries an event of a case out.
    pub(super) fn apply(&mut self, event: &str) {
        let uid = |name: &str| self.data.object(name)["metadata"]["uid"].as_str();
        if let Some(name) = event.strip_prefix('+') {
            self.put(name);
        } else if let Some(name) = event.strip_prefix('-') {
            self.remove(name);
        } else {
            let (old, new) = event.split_once('>').expect("an event");
            // Under another UID it is another object.
            if uid(old) != uid(new) {
                self.remove(old);
            }
            self.put(new);
        }
    }

    /// Lets time pass or go back: taints are as if they had been added that much later or earlier.
    pub(super) fn move_to(&mut self, epoch: Timestamp) {
        self.epoch = epoch;
        for name in self.tainting.values().cloned().collect::<Vec<_>>() {
            self.put(&name);
        }
    }

    /// Lets the first so many seconds of the case pass.
    pub(super) fn pass(&mut self, second: i64) {
        self.move_to(now() - seconds(second * SCALE));
    }

    /// Returns what was told of a pod, which may be in another namespace of the case.
    pub(super) fn told(&self, pod: &str) -> Vec<Value> {
        let (namespace, name) = pod.split_once('/').expect("a namespace");
        let events = self
            .cluster
            .list(&format!("event/{}", self.in_namespace(namespace)));
        let of_pod = events.into_iter().filter(|event| {
            event["reason"] == "DeviceTaintManagerEviction" && event["involvedObject"]["name"] == name
        });
        of_pod.collect()
    }

    /// The pods that are there, as in the case, and whether something is to become of them.
    pub(super) fn pods(&self) -> BTreeSet<String> {
        let of_namespace = |namespace: &'static str| {
            let pods = self
                .cluster
                .list(&format!("pod/{}", self.in_namespace(namespace)));
            pods.into_iter().map(move |pod| {
                let name = format!("{namespace}/{}", text(&pod, "/metadata/name"));
                let marked = pod["status"]["conditions"]
                    .to_string()
                    .contains("DisruptionTarget");
                if marked || pod["metadata"]["deletionTimestamp"].is_string() {
                    name + " going"
                } else {
                    name
                }
            })
        };
        of_namespace("n").chain(of_namespace("other")).collect()
    }

    /// Returns what was asked about a pod.
    pub(super) fn asked(&self, pod: &str, asked: &[String]) -> Vec<String> {
        let (namespace, name) = pod.split_once('/').expect("a namespace");
        let path = format!("/api/v1/namespaces/{}/pods/{name}", self.in_namespace(namespace));
        let of_pod = asked.iter().filter(|request| {
            let asked = request.split(' ').nth(1).unwrap_or_default();
            let asked = asked.split('?').next().unwrap_or_default();
            asked == path || asked.strip_prefix(&path).is_some_and(|rest| rest == "/status")
        });
        of_pod
            .map(|request| request[..request.find(' ').unwrap_or(0)].to_owned())
            .collect()
    }

    /// Returns how often each of two things was told of a pod: that it goes, and that it stays after all.
    pub(super) fn counts(&self, pod: &str) -> (u64, u64) {
        let told = self.told(pod);
        let count = |message: &str| {
            let events = told.iter().filter(|event| event["message"] == message);
            events.map(|event| event["count"].as_u64().unwrap_or(1)).sum()
        };
        (count("Marking for deletion"), count("Cancelling deletion"))
    }
}

/// Permissions for an eviction, and no others.
pub(super) const EVICTION: [&str; 3] = ["get", "patch", "delete"];

fn strings(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

/// The place of events about rules.
const RULES: u8 = 3;

/// The place of an event among those that come together, by the kind of its object.
fn place(data: &Data, event: &str) -> u8 {
    let name = event.trim_start_matches(['+', '-']);
    let name = name.split('>').next().unwrap_or_default();
    match text(data.object(name), "/kind") {
        "Pod" => 0,
        "ResourceClaim" => 1,
        "ResourceSlice" => 2,
        _ => RULES,
    }
}

/// A case at work, and what has to come of it.
struct Played<'a> {
    case: &'a Value,
    name: &'a str,
    scene: Scene<'a>,
    pods: BTreeSet<String>,
    evicted: BTreeSet<String>,
    cancelled: Vec<&'a str>,
    /// By rule, its conditions in their order.
    conditions: BTreeMap<String, Vec<String>>,
    /// Time at which the pods have to go, in seconds of the case.
    due: i64,
    /// True if the events come long before that.
    comes_early: bool,
}

impl<'a> Played<'a> {
    fn new(cluster: &'a Cluster, data: &'a Data, case: &'a Value, namespace: &str) -> Self {
        let scene = Scene::new(cluster, data, namespace);
        let mut evicted = BTreeSet::new();
        let mut conditions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in strings(&case["handled"]) {
            let words: Vec<&str> = line.splitn(4, ' ').collect();
            if words[1] == "evict" {
                evicted.insert(words[2].to_owned());
                continue;
            }
            let told = conditions.entry(scene.named(words[2])).or_default();
            // What a server has already need not be written.
            if told.last().is_none_or(|last| last != words[3]) {
                told.push(words[3].to_owned());
            }
        }
        // Rules come one by one here, before the pod goes.
        if case["name"] == "multiple-claims-different-rules-order-1" {
            let pending = "PodsPendingEviction 1 pod needs to be evicted in 1 namespace.".to_owned();
            let later = conditions.get_mut(&scene.named("evict-later")).expect("the rule");
            assert_eq!(later.len(), 1);
            later.insert(0, pending);
        }
        let plans = case["plans"].as_object().into_iter().flatten();
        let due = plans.filter_map(|(_, plan)| plan.as_str()?.split(' ').next()?.parse().ok());
        let due = due.min().unwrap_or(0);
        let pends = conditions
            .values()
            .flatten()
            .any(|told| told.starts_with("PodsPendingEviction"));
        Self {
            case,
            name: text(case, "/name"),
            scene,
            pods: BTreeSet::new(),
            evicted,
            cancelled: strings(&case["cancelled"]),
            conditions,
            due,
            comes_early: pends || due > 0,
        }
    }

    /// What is there before the controller starts. Pods whose eviction is called off are not to go before that.
    fn begin(&mut self) {
        if !self.cancelled.is_empty() || self.name == "evict-pod-resourceclaim-unrelated-changes" {
            self.scene.epoch = much_later();
        }
        let initial = strings(&self.case["initial"]);
        self.put_all(initial.iter().map(|name| format!("+{name}")).collect());
    }

    /// Pods come first, as their UIDs have to be known, and rules last.
    fn put_all(&mut self, mut events: Vec<String>) {
        let data = self.scene.data;
        events.sort_by_key(|event| place(data, event));
        for event in events {
            self.scene.apply(&event);
            let name = event.trim_start_matches(['+', '-']);
            let object = data.object(name.split('>').next().unwrap_or_default());
            if object["kind"] == "Pod" {
                let metadata = &object["metadata"];
                let pod = format!("{}/{}", text(metadata, "/namespace"), text(metadata, "/name"));
                // What went by hand was not evicted.
                if event.starts_with('-') {
                    self.pods.remove(&pod);
                } else {
                    self.pods.insert(pod);
                }
            }
        }
    }

    /// What comes, but for rules.
    fn play(&mut self) {
        if self.comes_early {
            self.scene.epoch = much_later();
        } else if self.name == "evict-pod-resourceclaim-again" {
            // It is the slice that comes back which makes the pod go.
            self.scene.epoch = now();
        }
        let (_, others) = self.events();
        self.put_all(others);
    }

    /// The rules that come. The first status of a new one is computed at once, so that all that it is about has to be seen before.
    fn play_rules(&mut self) {
        let (rules, _) = self.events();
        self.put_all(rules);
    }

    /// The events about rules, and the others.
    fn events(&self) -> (Vec<String>, Vec<String>) {
        let mut events = Vec::new();
        for event in self.case["events"].as_array().into_iter().flatten() {
            match event {
                Value::String(event) => events.push(event.clone()),
                together => events.extend(strings(together).into_iter().map(str::to_owned)),
            }
        }
        let data = self.scene.data;
        events.into_iter().partition(|event| place(data, event) == RULES)
    }

    /// Returns whether all that comes before the eviction is there.
    fn is_prepared(&self, conditions: &Conditions) -> Result<(), String> {
        for (rule, expected) in &self.conditions {
            let told = conditions.of(rule);
            if !expected.starts_with(&told) || told.is_empty() {
                return Err(format!("{}: {rule} has {told:?}", self.name));
            }
        }
        Ok(())
    }

    /// Lets the time come at which the pods go.
    fn let_pass(&mut self) {
        if !self.evicted.is_empty() && self.scene.epoch > now() {
            let soon = if self.due > 0 { seconds(3) } else { seconds(0) };
            self.scene.move_to(now() + soon - seconds(self.due * SCALE));
        }
    }

    /// Returns what is not as it has to be in the end.
    fn check(&self, conditions: &Conditions) -> Result<(), String> {
        let name = self.name;
        let there = self.scene.pods();
        let expected: BTreeSet<String> = self.pods.difference(&self.evicted).cloned().collect();
        if there != expected {
            return Err(format!("{name}: pods are {there:?} instead of {expected:?}"));
        }
        for (rule, expected) in &self.conditions {
            let told = conditions.of(rule);
            if told != *expected {
                return Err(format!("{name}: {rule} has {told:?} instead of {expected:?}"));
            }
        }
        for pod in &self.pods {
            let expected = (
                u64::from(self.evicted.contains(pod)),
                u64::from(self.cancelled.contains(&pod.as_str())),
            );
            let counts = self.scene.counts(pod);
            if counts != expected {
                return Err(format!("{name}: {pod} was told of {counts:?} times"));
            }
            // Never too early.
            for event in self.scene.told(pod) {
                let told: Timestamp = text(&event, "/lastTimestamp").parse().expect("a time");
                if event["message"] == "Marking for deletion" && told < self.scene.at(self.due) {
                    return Err(format!("{name}: {pod} went at {told}"));
                }
            }
        }
        Ok(())
    }
}

/// A pod that is evicted after all that came before.
pub(super) fn evict_a_marker(cluster: &Cluster, data: &Data, name: &str) {
    let mut marker = Scene::new(cluster, data, name);
    for object in ["pod", "claim", "tainted"] {
        marker.put(object);
    }
    cluster.wait_gone(&format!("pod/{name}/p"));
    marker.remove("tainted");
}

#[test]
fn controller() {
    let data = Data::read();
    let cluster = nobody_works();
    let user = worker(&cluster);
    let cases = data.cases().iter();
    let cases = cases.filter(|case| ![REFUSED, REPLACED].contains(&text(case, "/name")));
    let mut played: Vec<Played<'_>> = cases
        .enumerate()
        .map(|(number, case)| Played::new(&cluster, &data, case, &format!("t{number}")))
        .collect();
    assert_eq!(played.len(), 55 - 2);
    let conditions = Conditions::watch(&cluster);
    for case in &mut played {
        case.begin();
    }
    let working = Working::start(
        &user,
        None,
        super::GATES,
        &["--controllers", "device-taint-eviction"],
    );
    evict_a_marker(&cluster, &data, "first");
    for case in &mut played {
        case.play();
    }
    // Rules have a watch of their own.
    evict_a_marker(&cluster, &data, "seen");
    for case in &mut played {
        case.play_rules();
    }
    evict_a_marker(&cluster, &data, "second");
    let prepared = try_wait(|| played.iter().try_for_each(|case| case.is_prepared(&conditions)));
    assert_eq!(prepared, Ok(()), "{}", working.process.stderr());
    for case in &mut played {
        case.let_pass();
    }
    evict_a_marker(&cluster, &data, "third");
    let all = || {
        let wrong: Vec<String> = played
            .iter()
            .filter_map(|case| case.check(&conditions).err())
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    };
    assert_eq!(try_wait(all), Ok(()), "{}", working.process.stderr());
    let stderr = working.end().stderr;
    // What was begun by then has ended too.
    assert_eq!(all(), Ok(()), "{stderr}");
    let asked = asked(&cluster);
    for case in &played {
        for pod in &case.pods {
            let expected: &[&str] = if case.evicted.contains(pod) {
                &EVICTION
            } else {
                &[]
            };
            assert_eq!(
                case.scene.asked(pod, &asked),
                expected,
                "{} {pod}\n{stderr}",
                case.name
            );
        }
    }
}

/// The claim is reserved for a pod that no watch has shown, in place of which one of the same name is there.
#[test]
fn a_pod_that_takes_the_place_of_another() {
    let data = Data::read();
    let cluster = nobody_works();
    let user = worker(&cluster);
    let case = data.case(REPLACED);
    let mut scene = Scene::new(&cluster, &data, "replaced");
    for name in strings(&case["initial"]) {
        scene.put(name);
    }
    let pods = Gate::default();
    let by = user.faulty({
        let pods = pods.clone();
        move |path, _| {
            if path.starts_with("/api/v1/pods?") && path.contains("watch=true") {
                Fault::Held(pods.clone())
            } else {
                Fault::None
            }
        }
    });
    let working = Working::start(
        &user,
        Some(&by),
        super::GATES,
        &["--controllers", "device-taint-eviction"],
    );
    evict_a_marker(&cluster, &data, "before");
    pods.close();
    let events = case["events"][0].as_array().expect("two at once");
    for event in events.iter().filter_map(Value::as_str) {
        scene.apply(event);
    }
    // Now it is known who the claim is for.
    scene.put("claim");
    cluster.create(&claim("marker", claim_spec([gpu()])));
    wait_for("the claims are seen", || {
        let metric = working.metric("dynamic_resource_allocation_resource_claims{allocated=\"false\"");
        metric.iter().any(|line| line.ends_with(" 1")).then_some(())
    });
    assert_eq!(scene.counts("n/p"), (0, 0));
    pods.open();
    cluster.wait_gone("pod/replaced/p");
    working.end();
    assert_eq!(scene.counts("n/p"), (1, 0));
    assert_eq!(scene.asked("n/p", &asked(&cluster)), EVICTION);
}
