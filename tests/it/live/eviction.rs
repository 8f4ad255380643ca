//! The real eviction controller against the simulation: the same pods, at the planned instants and in their order, with the events and
//! conditions that were predicted before.
//!
//! Many scenarios share a control plane: each has a namespace and a node of its own, and all predictions are made from one dump, before
//! anything is tainted. The controller's latency is its own affair: no pod may go before its instant, and pods whose instants are more
//! than a second apart must go in that order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dra_model::{Change, Cluster as State, Key, Kind, Object, Time};
use dra_rules::simulation::{What, World};
use dra_sources::{GateSetting, Needs, Request, Unobserved, VersionSettings, load};
use serde_json::{Value, json};

use crate::support::cluster::kubelet::{Phase, condition, now};
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, gpu_class, gpu_slice, namespace, pod, pod_group, taint_rule, template,
};
use crate::support::cluster::{Cluster, Component, Options, reference};
use crate::support::wait::wait_for;

const KEY: &str = "example.com/broken";

/// Seconds that are predicted and waited for.
const HORIZON: u64 = 60;

/// The time so many seconds after the start, which is not known when objects are written down.
fn at(seconds: i64) -> String {
    format!("@{seconds}")
}

/// Replaces times that count from the start.
fn dated(value: &Value, start: Time) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('@').and_then(|text| text.parse::<i64>().ok()) {
            Some(seconds) => json!(start.add_nanoseconds(seconds * 1_000_000_000).to_string()),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| dated(item, start)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), dated(value, start)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        _ => value.clone(),
    }
}

/// Change of the cluster, real and simulated.
#[derive(Clone)]
enum Step {
    /// The object is created, or written over.
    Put(Value),
    /// The object, `KIND/NAME`, is deleted.
    Delete(&'static str, String),
}

/// One scenario: what there is, what is done, and in how many seconds.
struct Scenario {
    name: &'static str,
    objects: Vec<Value>,
    steps: Vec<(u64, Step)>,
    /// Preparation of running pods before anything is tainted.
    prepare: fn(&Cluster, &str),
}

impl Scenario {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            objects: Vec::new(),
            steps: Vec::new(),
            prepare: |_, _| {},
        }
    }

    /// A running pod with a GPU of its own.
    fn pod(self, name: &str, tolerations: Value) -> Self {
        let request = gpu().exactly(json!({"tolerations": tolerations}));
        self.with(template(name, claim_spec([request])))
            .with(pod(name).template_claim("gpu", name))
    }

    fn with(mut self, object: Value) -> Self {
        self.objects.push(object);
        self
    }

    fn step(mut self, seconds: u64, step: Step) -> Self {
        self.steps.push((seconds, step));
        self
    }

    fn prepare(mut self, prepare: fn(&Cluster, &str)) -> Self {
        self.prepare = prepare;
        self
    }

    /// A rule about the scenario's GPUs, at the start.
    fn rule(self, effect: &str, added: &str) -> Self {
        let rule = rule(self.name, effect, added);
        self.step(0, Step::Put(rule))
    }
}

/// The name of a scenario's node, which is that of its pool.
fn node(scenario: &str) -> String {
    format!("node-{scenario}")
}

fn taint(effect: &str, added: &str) -> Value {
    json!({"key": KEY, "effect": effect, "timeAdded": added})
}

fn rule(scenario: &str, effect: &str, added: &str) -> Value {
    let selector = json!({"driver": "gpu.example.com", "pool": node(scenario)});
    taint_rule(scenario, selector, taint(effect, added))
}

fn tolerates(more: Value) -> Value {
    json!([json!({"key": KEY, "operator": "Exists", "effect": "NoExecute"}).with(more)])
}

fn for_seconds(seconds: i64) -> Value {
    tolerates(json!({"tolerationSeconds": seconds}))
}

/// The slice of the scenario's node with taints on the devices that `tainted` names.
fn tainted_slice(scenario: &str, generation: u32, tainted: &[(&str, Value)]) -> Value {
    let mut slice = gpu_slice(&node(scenario), 8);
    slice["spec"]["pool"]["generation"] = json!(generation);
    for device in slice["spec"]["devices"].as_array_mut().into_iter().flatten() {
        let taints: Vec<&Value> = tainted
            .iter()
            .filter(|(name, _)| device["name"] == *name)
            .map(|(_, taint)| taint)
            .collect();
        if !taints.is_empty() {
            device["taints"] = json!(taints);
        }
    }
    slice
}

/// Returns what a dump of the cluster holds, with the gates that the test set.
fn state(cluster: &Cluster, gates: &[&str]) -> State {
    let mut file = tempfile::NamedTempFile::with_suffix(".json").expect("a temporary file");
    std::io::Write::write_all(&mut file, cluster.dump().to_string().as_bytes()).expect("a written file");
    let versions = VersionSettings {
        controller_manager_gates: gates
            .iter()
            .map(|gate| GateSetting {
                name: (*gate).to_owned(),
                enabled: true,
            })
            .collect(),
        ..VersionSettings::default()
    };
    let request = Request {
        names: &[file.path().to_str().expect("UTF-8").to_owned()],
        namespace: "default",
        strict: true,
        versions: &versions,
        started: None,
    };
    load(
        &request,
        &Needs::everything().files_are_whole(),
        Arc::new(Unobserved),
    )
    .expect("the dump")
    .cluster
}

/// The object of a manifest, as the API server stores it.
fn stored(state: &State, manifest: &Value) -> Object {
    let kind = manifest["kind"].as_str().expect("a kind");
    let kind = Kind::all()
        .find(|known| known.name() == kind)
        .expect("a known kind");
    let mut manifest = manifest.clone();
    let name = manifest["metadata"]["name"].as_str().expect("a name").to_owned();
    if kind == Kind::DeviceTaintRule {
        let known = state.rule(&name);
        manifest["metadata"]["uid"] = known.map_or_else(
            || json!(format!("uid-of-{name}")),
            |rule| json!(rule.metadata.uid),
        );
        manifest["metadata"]["generation"] = json!(known.map_or(1, |rule| rule.metadata.generation + 1));
    }
    Object::from_json(kind, manifest.to_string().as_bytes()).expect("an object")
}

/// Prediction.
#[derive(Debug, Default)]
struct Prediction {
    /// Deletion times of pods, up to the end.
    deleted: BTreeMap<String, Time>,
    cancelled: BTreeSet<String>,
    /// The first condition of each rule and its last one up to the end.
    conditions: BTreeMap<String, (String, String)>,
}

/// Everything that happens within a minute.
fn predict(state: &State, start: Time, steps: &[(u64, Step)]) -> Prediction {
    let mut world = World::new(state.clone(), start, None);
    let mut steps = steps.to_vec();
    steps.sort_by_key(|(seconds, _)| *seconds);
    for (seconds, step) in steps {
        if seconds > 0 {
            world.run_until(start.after(Duration::from_secs(seconds)));
        }
        world.apply(match step {
            Step::Put(manifest) => Change::Put(stored(world.cluster(), &manifest)),
            Step::Delete(kind, name) => {
                let kind = Kind::all()
                    .find(|known| known.name() == kind)
                    .expect("a known kind");
                Change::Delete(kind, Key::new("", name))
            }
        });
    }
    world.run_until(start.after(Duration::from_secs(HORIZON)));
    let mut prediction = Prediction::default();
    for happening in world.happenings() {
        let name = happening.key.to_string();
        match &happening.what {
            What::PodDeleted { .. } => {
                prediction.deleted.insert(name, happening.at);
            }
            What::EvictionCancelled => {
                prediction.cancelled.insert(name);
            }
            What::RuleStatus { condition } => {
                let text = format!("{} {} {}", condition.status, condition.reason, condition.message);
                prediction
                    .conditions
                    .entry(happening.key.name.to_string())
                    .and_modify(|(_, last)| last.clone_from(&text))
                    .or_insert_with(|| (text.clone(), text));
            }
            _ => {}
        }
    }
    prediction
}

/// Does a step for real.
fn perform(cluster: &Cluster, step: &Step) {
    match step {
        Step::Put(manifest) => {
            let reference = reference(manifest);
            if cluster.find(&reference).is_some() {
                cluster.update(&reference, |object| object["spec"] = manifest["spec"].clone());
            } else {
                cluster.create(manifest);
            }
        }
        Step::Delete(kind, name) => {
            let word = if *kind == "ResourceSlice" { "slice" } else { "rule" };
            cluster.delete(&format!("{word}/{name}"));
        }
    }
}

/// The texts of the controller's events on pods, with the pod's name.
fn events(cluster: &Cluster, text: &str) -> BTreeSet<String> {
    cluster
        .list("event")
        .iter()
        .filter(|event| event["reason"] == "DeviceTaintManagerEviction" && event["message"] == text)
        .map(|event| {
            let object = &event["involvedObject"];
            assert_eq!(event["source"]["component"], "device-taint-eviction-controller");
            assert_eq!(event["type"], "Normal");
            format!(
                "{}/{}",
                object["namespace"].as_str().unwrap_or_default(),
                object["name"].as_str().unwrap_or_default()
            )
        })
        .collect()
}

/// Returns when the controller marked which pod, in whole seconds.
fn marked(cluster: &Cluster) -> BTreeMap<String, Time> {
    let pods = cluster.list("pod");
    let mut found = BTreeMap::new();
    for pod in &pods {
        let Some(condition) = condition(pod, "DisruptionTarget") else {
            continue;
        };
        assert_eq!(condition["reason"], "DeletionByDeviceTaintManager");
        assert_eq!(
            condition["message"],
            "Device Taint manager: deleting due to NoExecute taint"
        );
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let name = format!(
            "{}/{}",
            text(&pod["metadata"]["namespace"]),
            text(&pod["metadata"]["name"])
        );
        found.insert(
            name,
            text(&condition["lastTransitionTime"]).parse().expect("a time"),
        );
    }
    found
}

fn condition_text(cluster: &Cluster, rule: &str) -> Option<String> {
    let rule = cluster.find(&format!("rule/{rule}"))?;
    let condition = condition(&rule, "EvictionInProgress")?;
    let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    Some(format!(
        "{} {} {}",
        text("status"),
        text("reason"),
        text("message")
    ))
}

/// Waits for what was predicted and compares.
fn compare(cluster: &Cluster, prediction: &Prediction) {
    // A terminal pod is gone at once, with its mark; the event stays.
    wait_for("all predicted pods are marked", || {
        let marked = events(cluster, "Marking for deletion");
        prediction
            .deleted
            .keys()
            .all(|pod| marked.contains(pod))
            .then_some(())
    });
    wait_for("all predicted evictions are called off", || {
        (prediction
            .cancelled
            .is_subset(&events(cluster, "Cancelling deletion")))
        .then_some(())
    });
    for (rule, (_, last)) in &prediction.conditions {
        wait_for(&format!("the last condition of {rule}: {last}"), || {
            let now = cluster.find(&format!("rule/{rule}")).is_none()
                || condition_text(cluster, rule).as_ref() == Some(last);
            now.then_some(())
        });
    }
    // All that was due later has happened by now, so these are all.
    let predicted: BTreeSet<String> = prediction.deleted.keys().cloned().collect();
    assert_eq!(events(cluster, "Marking for deletion"), predicted);
    assert_eq!(events(cluster, "Cancelling deletion"), prediction.cancelled);
    let marked = marked(cluster);
    for (pod, at) in &marked {
        let planned = prediction.deleted[pod];
        assert!(*at >= planned, "{pod} went at {at}, before {planned}");
        for (other, other_at) in &marked {
            let apart = prediction.deleted[other].since(planned);
            assert!(
                apart <= Duration::from_secs(1) || other_at >= at,
                "{other} went at {other_at}, before {pod} at {at}"
            );
        }
    }
}

/// Runs scenarios, and returns what was predicted.
fn play(cluster: &Cluster, gates: &[&str], scenarios: &[Scenario]) -> Prediction {
    cluster.create_all(&[gpu_class()]);
    let names: Vec<String> = scenarios.iter().map(|scenario| node(scenario.name)).collect();
    cluster.add_nodes(names.iter().map(String::as_str));
    let mut objects = Vec::new();
    for scenario in scenarios {
        cluster.create_all(&[namespace(scenario.name), gpu_slice(&node(scenario.name), 8)]);
        for object in &scenario.objects {
            let mut object = object.clone().in_namespace(scenario.name);
            if object["kind"] == "Pod" {
                let hostname = json!({"kubernetes.io/hostname": node(scenario.name)});
                object = object.with(json!({"spec": {"nodeSelector": hostname}}));
            }
            objects.push(object);
        }
    }
    cluster.run(&objects);
    for scenario in scenarios {
        (scenario.prepare)(cluster, scenario.name);
    }
    let steps: Vec<(u64, Step)> = scenarios
        .iter()
        .flat_map(|scenario| scenario.steps.clone())
        .collect();
    act(cluster, gates, &steps)
}

/// Predicts what the steps come to, takes them, and compares.
fn act(cluster: &Cluster, gates: &[&str], steps: &[(u64, Step)]) -> Prediction {
    let state = state(cluster, gates);
    // The prediction takes a while, and the first steps are not to be late.
    let start = now()
        .parse::<Time>()
        .expect("a time")
        .after(Duration::from_secs(10));
    let mut steps: Vec<(u64, Step)> = steps
        .iter()
        .map(|(seconds, step)| {
            let step = match step {
                Step::Put(manifest) => Step::Put(dated(manifest, start)),
                delete @ Step::Delete(..) => delete.clone(),
            };
            (*seconds, step)
        })
        .collect();
    steps.sort_by_key(|(seconds, _)| *seconds);
    let prediction = predict(&state, start, &steps);
    for (seconds, step) in &steps {
        let due = start.after(Duration::from_secs(*seconds));
        wait_for("the time of the next step", || {
            let at: Time = now().parse().expect("a time");
            (at >= due).then_some(())
        });
        perform(cluster, step);
    }
    compare(cluster, &prediction);
    prediction
}

fn put(manifest: Value) -> Step {
    Step::Put(manifest)
}

/// A pod whose claim, `shared`, is named.
fn sharer(name: &str) -> Value {
    pod(name).named_claim("gpu", "shared")
}

fn shared_claim() -> Value {
    claim("shared", claim_spec([gpu()]))
}

/// Reference of a scenario's object.
fn of(kind: &str, scenario: &str, name: &str) -> String {
    format!("{kind}/{scenario}/{name}")
}

fn scenarios() -> Vec<Scenario> {
    let plain = json!([]);
    vec![
        Scenario::new("plain").pod("p", plain.clone()).rule("NoExecute", &at(0)),
        Scenario::new("seconds").pod("p", for_seconds(20)).rule("NoExecute", &at(0)),
        Scenario::new("forever").pod("p", tolerates(json!({}))).rule("NoExecute", &at(0)),
        Scenario::new("any-effect")
            .pod("p", json!([{"key": KEY, "operator": "Exists"}]))
            .rule("NoExecute", &at(0)),
        Scenario::new("other-key")
            .pod("p", json!([{"key": "example.com/other", "operator": "Exists", "effect": "NoExecute"}]))
            .rule("NoExecute", &at(0)),
        Scenario::new("every-key")
            .pod("p", json!([{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 22}]))
            .rule("NoExecute", &at(0)),
        Scenario::new("negative").pod("p", for_seconds(-5)).rule("NoExecute", &at(0)),
        Scenario::new("huge").pod("p", for_seconds(9_000_000_000)).rule("NoExecute", &at(0)),
        Scenario::new("overflow").pod("p", for_seconds(9_300_000_000)).rule("NoExecute", &at(0)),
        Scenario::new("shortest")
            .pod(
                "p",
                json!([for_seconds(3600)[0].clone(), {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 18}]),
            )
            .rule("NoExecute", &at(0)),
        Scenario::new("slice")
            .pod("p", for_seconds(16))
            .pod("q", plain.clone())
            .step(0, put(tainted_slice("slice", 1, &[("gpu-0", taint("NoExecute", &at(0)))]))),
        Scenario::new("slice-only").pod("p", plain.clone()).step(
            0,
            put(tainted_slice("slice-only", 1, &[("gpu-0", taint("NoSchedule", &at(0)))])),
        ),
        // The taint of the slice is the earlier one.
        Scenario::new("both")
            .pod("p", for_seconds(30))
            .step(0, put(tainted_slice("both", 1, &[("gpu-0", taint("NoExecute", &at(-5)))])))
            .rule("NoExecute", &at(0)),
        Scenario::new("none").pod("p", plain.clone()).pod("q", for_seconds(5)).rule("None", &at(0)),
        Scenario::new("no-schedule").pod("p", plain.clone()).rule("NoSchedule", &at(0)),
        Scenario::new("no-selector")
            .pod("p", plain.clone())
            .step(0, put(taint_rule("no-selector", Value::Null, taint("NoExecute", &at(0))))),
        Scenario::new("one-device").pod("p", plain.clone()).pod("q", plain.clone()).step(
            0,
            put(taint_rule(
                "one-device",
                json!({"pool": node("one-device"), "device": "gpu-1"}),
                taint("NoExecute", &at(0)),
            )),
        ),
        Scenario::new("shared")
            .with(shared_claim())
            .with(sharer("a"))
            .with(sharer("b"))
            .with(sharer("c"))
            .rule("NoExecute", &at(0)),
        // The effect changes, and with it the time.
        Scenario::new("changed")
            .pod("p", for_seconds(12))
            .pod("q", for_seconds(3600))
            .rule("None", &at(0))
            .step(6, put(rule("changed", "NoExecute", &at(6)))),
        Scenario::new("removed")
            .pod("p", for_seconds(25))
            .rule("NoExecute", &at(0))
            .step(8, Step::Delete("DeviceTaintRule", "removed".to_owned())),
        Scenario::new("republished")
            .pod("p", for_seconds(25))
            .step(0, put(tainted_slice("republished", 1, &[("gpu-0", taint("NoExecute", &at(0)))])))
            .step(9, put(tainted_slice("republished", 2, &[]))),
        Scenario::new("tainted-again")
            .pod("p", for_seconds(14))
            .step(0, put(tainted_slice("tainted-again", 1, &[("gpu-0", taint("NoExecute", &at(0)))])))
            .step(7, put(tainted_slice("tainted-again", 2, &[("gpu-0", taint("NoExecute", &at(7)))]))),
        // A rule is about names: the device need not be published.
        Scenario::new("unpublished")
            .pod("p", for_seconds(24))
            .rule("NoExecute", &at(0))
            .step(
                5,
                Step::Delete("ResourceSlice", format!("{}-gpu.example.com", node("unpublished"))),
            ),
        // Without the slice its taints are gone.
        Scenario::new("slice-removed")
            .pod("p", for_seconds(24))
            .step(0, put(tainted_slice("slice-removed", 1, &[("gpu-0", taint("NoExecute", &at(0)))])))
            .step(
                5,
                Step::Delete("ResourceSlice", format!("{}-gpu.example.com", node("slice-removed"))),
            ),
        Scenario::new("deleting")
            .pod("p", plain.clone())
            .pod("q", plain.clone())
            .prepare(|cluster, scenario| cluster.delete(&of("pod", scenario, "p")))
            .rule("NoExecute", &at(0)),
        Scenario::new("two-claims")
            .with(template("early", claim_spec([gpu().exactly(json!({"tolerations": for_seconds(10)}))])))
            .with(template("late", claim_spec([gpu().exactly(json!({"tolerations": for_seconds(40)}))])))
            .with(pod("p").template_claim("early", "early").template_claim("late", "late"))
            .rule("NoExecute", &at(0)),
    ]
}

#[test]
fn pods_go_when_and_only_when_predicted() {
    let cluster = Cluster::start(&Options::default());
    let scenarios = scenarios();
    assert!(scenarios.len() >= 20);
    let prediction = play(&cluster, &[], &scenarios);
    // The prediction is about something.
    assert!(prediction.deleted.len() >= 15, "{prediction:#?}");
    assert_eq!(prediction.cancelled.len(), 3, "{prediction:#?}");

    // What is left goes by a rule about everything, but for those who tolerate it.
    let everything = taint_rule("everything", json!({}), taint("NoExecute", &at(0)));
    let all = predict_more(&cluster, &[(0, put(everything))]);
    assert!(all.deleted.contains_key("none/p") && !all.deleted.contains_key("forever/p"));
}

/// Predicts and takes steps on a cluster in which pods went before.
fn predict_more(cluster: &Cluster, steps: &[(u64, Step)]) -> Prediction {
    let before = events(cluster, "Marking for deletion");
    let cancelled = events(cluster, "Cancelling deletion");
    let state = state(cluster, &[]);
    let start: Time = now().parse().expect("a time");
    let steps: Vec<(u64, Step)> = steps
        .iter()
        .map(|(seconds, step)| match step {
            Step::Put(manifest) => (*seconds, Step::Put(dated(manifest, start))),
            delete @ Step::Delete(..) => (*seconds, delete.clone()),
        })
        .collect();
    let prediction = predict(&state, start, &steps);
    for (_, step) in &steps {
        perform(cluster, step);
    }
    wait_for("all predicted pods are marked", || {
        let marked = events(cluster, "Marking for deletion");
        prediction
            .deleted
            .keys()
            .all(|pod| marked.contains(pod))
            .then_some(())
    });
    let after: BTreeSet<String> = events(cluster, "Marking for deletion")
        .difference(&before)
        .cloned()
        .collect();
    assert_eq!(after, prediction.deleted.keys().cloned().collect());
    assert_eq!(events(cluster, "Cancelling deletion"), cancelled);
    prediction
}

#[test]
fn members_of_groups_go_when_and_only_when_predicted() {
    let gates = ["GenericWorkload", "DRAWorkloadResourceClaims"];
    let options = gates
        .iter()
        .fold(Options::default(), |options, gate| options.gate(gate, true));
    let cluster = Cluster::start(&options);
    let named = |claim: &str| json!({"name": "gpu", "resourceClaimName": claim});
    let generated = json!({"name": "gpu", "resourceClaimTemplateName": "made"});
    let scenarios = [
        Scenario::new("group-named")
            .with(shared_claim())
            .with(pod_group("g", [named("shared")]))
            .with(sharer("a").in_group("g"))
            .with(sharer("b").in_group("g"))
            .rule("NoExecute", &at(0)),
        Scenario::new("group-generated")
            .with(template(
                "made",
                claim_spec([gpu().exactly(json!({"tolerations": for_seconds(12)}))]),
            ))
            .with(pod_group("g", [generated]))
            .with(pod("a").template_claim("gpu", "made").in_group("g"))
            .with(pod("b").template_claim("gpu", "made").in_group("g"))
            .rule("NoExecute", &at(0)),
        // A member that has ended goes too, as its group keeps the reservation.
        Scenario::new("group-ended")
            .with(shared_claim())
            .with(pod_group("g", [named("shared")]))
            .with(sharer("a").in_group("g"))
            .with(sharer("done").in_group("g"))
            .prepare(|cluster, scenario| cluster.set_phase(&of("pod", scenario, "done"), Phase::Succeeded))
            .rule("NoExecute", &at(0)),
        Scenario::new("group-mixed")
            .with(shared_claim())
            .with(pod_group("g", [named("shared")]))
            .with(sharer("a").in_group("g"))
            .with(sharer("alone"))
            .rule("NoExecute", &at(0)),
    ];
    let prediction = play(&cluster, &gates, &scenarios);
    assert_eq!(prediction.deleted.len(), 8, "{prediction:#?}");
    assert!(cluster.find("pod/group-ended/done").is_none());
}

/// With the claim controller off, entries of pods that are gone or were replaced stay where they are.
#[test]
fn entries_of_missing_pods_hide_no_pod() {
    let without = "--controllers=-resourceclaim-controller";
    let cluster = Cluster::start(&Options::default().arg(Component::ControllerManager, without));
    let scenarios = [
        Scenario::new("gone-between")
            .with(shared_claim())
            .with(sharer("a"))
            .with(sharer("gone"))
            .with(sharer("b"))
            .prepare(|cluster, scenario| {
                cluster.delete_now(&of("pod", scenario, "gone"));
                cluster.wait_gone(&of("pod", scenario, "gone"));
            })
            .rule("NoExecute", &at(0)),
        Scenario::new("gone-first")
            .with(shared_claim())
            .with(sharer("gone"))
            .with(sharer("a"))
            .prepare(|cluster, scenario| {
                cluster.delete_now(&of("pod", scenario, "gone"));
                cluster.wait_gone(&of("pod", scenario, "gone"));
            })
            .rule("NoExecute", &at(0)),
        // The new pod of the name has no entry of its own, and no node.
        Scenario::new("replaced-between")
            .with(shared_claim())
            .with(sharer("a"))
            .with(sharer("again"))
            .with(sharer("b"))
            .prepare(|cluster, scenario| {
                let again = of("pod", scenario, "again");
                cluster.delete_now(&again);
                cluster.wait_gone(&again);
                let nowhere = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "nowhere"}}});
                cluster.create(&sharer("again").in_namespace(scenario).with(nowhere));
            })
            .rule("NoExecute", &at(0)),
        Scenario::new("foreign-first")
            .with(shared_claim())
            .with(sharer("a"))
            .prepare(|cluster, scenario| {
                cluster.update_status(&of("claim", scenario, "shared"), |claim| {
                    let job =
                        json!({"apiGroup": "batch", "resource": "jobs", "name": "render", "uid": "5a3f6a52"});
                    if let Some(entries) = claim["status"]["reservedFor"].as_array_mut() {
                        entries.insert(0, job);
                    }
                });
            })
            .rule("NoExecute", &at(0)),
        Scenario::new("unreserved")
            .with(shared_claim())
            .with(sharer("a"))
            .prepare(|cluster, scenario| {
                cluster.update_status(&of("claim", scenario, "shared"), |claim| {
                    claim["status"]["reservedFor"] = json!([]);
                });
            })
            .rule("NoExecute", &at(0)),
    ];
    let prediction = play(&cluster, &[], &scenarios);
    assert_eq!(
        prediction.deleted.keys().collect::<Vec<_>>(),
        [
            "foreign-first/a",
            "gone-between/a",
            "gone-between/b",
            "gone-first/a",
            "replaced-between/a",
            "replaced-between/b"
        ]
    );
}
