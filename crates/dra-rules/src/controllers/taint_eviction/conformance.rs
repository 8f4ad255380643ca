//! The cases of upstream's own tests of the controller, from `tests/data/taint-controller-cases.json`, in every order of their events.
//!
//! As there, the controller does not see the conditions that it writes, and evicted pods are deleted immediately.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{Queue, TaintEviction};
use crate::controllers::{Controller, JobId, Observed, Outcome, Work};
use crate::eviction::{EvictingClaims, Eviction, Release};
use crate::reservation::PodGroups;
use dra_allocator::devices::Origin;
use dra_model::{Change, Cluster, ClusterBuilder, DeviceId, Environment, Kind, Object, Time};

const DATA: &str = include_str!("../../../../../tests/data/taint-controller-cases.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    objects: HashMap<String, Value>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// True if claims of PodGroups are known.
    #[serde(default)]
    groups: bool,
    /// Initial objects whose work is done.
    #[serde(default)]
    initial: Vec<String>,
    /// `+NAME`, `-NAME` or `OLD>NEW`. They come in every order; those in a list of their own stay together.
    events: Vec<Value>,
    /// By claim, when its pods have to go and why, as far as they have to.
    #[serde(default)]
    claims: BTreeMap<String, String>,
    /// The same by pod.
    #[serde(default)]
    plans: BTreeMap<String, String>,
    /// Pods whose eviction was called off.
    #[serde(default)]
    cancelled: Vec<String>,
    /// Handled items, by second.
    #[serde(default)]
    handled: Vec<String>,
}

fn start() -> Time {
    "2000-01-01T00:00:00Z".parse().unwrap()
}

impl Data {
    fn read() -> Self {
        serde_json::from_str(DATA).unwrap()
    }

    fn object(&self, name: &str) -> Object {
        let json = self
            .objects
            .get(name)
            .unwrap_or_else(|| panic!("no object {name}"));
        let kind = Kind::all().find(|kind| kind.name() == json["kind"]).unwrap();
        Object::from_json(kind, json.to_string().as_bytes()).unwrap()
    }

    fn change(&self, event: &str) -> Change {
        let put = |name: &str| Change::Put(self.object(name));
        match (
            event.strip_prefix('+'),
            event.strip_prefix('-'),
            event.split_once('>'),
        ) {
            (Some(name), ..) => put(name),
            (_, Some(name), _) => {
                let gone = self.object(name);
                Change::Delete(gone.kind(), gone.metadata().key())
            }
            (.., Some((_, new))) => put(new),
            _ => panic!("{event}"),
        }
    }

    fn changes(&self, event: &Value) -> Vec<Change> {
        match event {
            Value::String(event) => vec![self.change(event)],
            Value::Array(events) => events.iter().flat_map(|event| self.changes(event)).collect(),
            other => panic!("{other}"),
        }
    }
}

/// The controller with the caches that it looks at.
struct Scene {
    cluster: Cluster,
    controller: TaintEviction,
    now: Time,
    cancelled: Vec<String>,
    /// True if the controller sees the conditions that it writes.
    sees_conditions: bool,
    /// Duration of a deletion.
    deletion_takes: Duration,
}

impl Scene {
    /// A controller that starts with these objects.
    fn start(data: &Data, initial: &[&str], groups: PodGroups) -> Self {
        let mut builder = ClusterBuilder::default();
        for name in initial {
            builder.add(data.object(name));
        }
        let cluster = builder.build(Environment::default()).0;
        let release = Release {
            groups,
            ..Release::of(cluster.environment())
        };
        Self {
            controller: TaintEviction::start(&cluster, release, start()),
            cluster,
            now: start(),
            cancelled: Vec::new(),
            sees_conditions: false,
            deletion_takes: Duration::ZERO,
        }
    }

    fn new(data: &Data, case: &Case) -> Self {
        let groups = if case.groups {
            PodGroups::Accepted
        } else {
            PodGroups::Ignored
        };
        let initial: Vec<&str> = case.initial.iter().map(String::as_str).collect();
        let mut scene = Self::start(data, &initial, groups);
        scene.controller.queue = Queue::default();
        scene
    }

    fn apply(&mut self, change: Change) {
        let after = match &change {
            Change::Put(object) => Some(object.clone()),
            Change::Delete(..) => None,
        };
        let before = self.cluster.apply(change);
        let observed = Observed { before, after };
        let cancelled = self.controller.note_change(&self.cluster, &observed, self.now);
        self.cancelled
            .extend(cancelled.into_iter().map(|pod| pod.key.to_string()));
    }

    fn text(eviction: &Eviction) -> String {
        let reasons = eviction.reasons.iter().map(|origin| match origin {
            Origin::Rule(rule) => format!(" rule/{}", rule.metadata.name),
            Origin::Slice { device, index, .. } => format!(" {device}/{index}"),
        });
        let seconds = eviction.at.since(start()).as_secs();
        format!("{seconds}{}", reasons.collect::<String>())
    }

    fn claims(&self) -> BTreeMap<String, String> {
        let claims = self.controller.claims.iter();
        claims
            .map(|(key, noted)| (key.to_string(), Self::text(&noted.eviction)))
            .collect()
    }

    fn plans(&self) -> BTreeMap<String, String> {
        let plans = self.controller.plans();
        plans
            .into_iter()
            .map(|(pod, eviction)| (pod.key.to_string(), Self::text(eviction)))
            .collect()
    }

    /// Returns what is done until nothing is left to do, in the order of time.
    fn handle(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut jobs = 0;
        while let Some(due) = self.controller.next_due(self.now) {
            self.now = due;
            let seconds = due.since(start()).as_secs();
            let mut at_once = Vec::new();
            loop {
                jobs += 1;
                assert!(jobs < 100, "{lines:?}");
                let Some((_, work)) = self.controller.next(JobId(jobs), &self.cluster, self.now) else {
                    break;
                };
                match work {
                    Work::Evict { pod, .. } => {
                        at_once.push(format!("{seconds} evict {}", pod.key));
                        self.now = self.now.after(self.deletion_takes);
                        self.cluster.apply(Change::Delete(Kind::Pod, pod.key));
                    }
                    Work::SetCondition { rule, condition, .. } => {
                        assert_eq!(
                            condition.status == "True",
                            condition.reason == "PodsPendingEviction"
                        );
                        assert_eq!(condition.last_transition_time, Some(self.now));
                        let text = format!(
                            "{seconds} condition {rule} {} {}",
                            condition.reason, condition.message
                        );
                        at_once.push(text.trim_end().to_owned());
                        if self.sees_conditions {
                            let mut changed = (**self.cluster.rule(&rule).unwrap()).clone();
                            changed.status.conditions = vec![condition];
                            self.apply(Change::Put(Object::DeviceTaintRule(changed.into())));
                        }
                    }
                    other => panic!("{other:?}"),
                }
                self.controller.done(JobId(jobs), Outcome::Done, self.now);
            }
            at_once.sort();
            lines.extend(at_once);
        }
        lines
    }
}

/// Every order of `count` things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..count {
        orders = orders
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                let next = (0..count).filter(|one| !order.contains(one)).collect::<Vec<_>>();
                next.into_iter()
                    .map(move |one| [order.as_slice(), &[one]].concat())
            })
            .collect();
    }
    orders
}

#[test]
fn controller() {
    let data = Data::read();
    let mut runs = 0;
    for case in &data.cases {
        for order in orders(case.events.len()) {
            runs += 1;
            let name = format!("{} {order:?}", case.name);
            let mut scene = Scene::new(&data, case);
            for place in order {
                for change in data.changes(&case.events[place]) {
                    scene.apply(change);
                }
            }
            assert_eq!(scene.claims(), case.claims, "{name}");
            assert_eq!(scene.plans(), case.plans, "{name}");
            assert_eq!(scene.handle(), case.handled, "{name}");
            assert_eq!(scene.cancelled, case.cancelled, "{name}");
        }
    }
    assert_eq!((data.cases.len(), runs), (55, 1767));
}

#[test]
fn before_1_37_2_no_pod_is_evicted_for_its_extended_resources() {
    let data = Data::read();
    let extended = |case: &&Case| case.name.contains("-extended-");
    assert_eq!(data.cases.iter().filter(extended).count(), 3);
    for case in data.cases.iter().filter(extended) {
        let mut scene = Scene::new(&data, case);
        let release = Release {
            claims: EvictingClaims::Named,
            ..Release::of(scene.cluster.environment())
        };
        scene.controller = TaintEviction::start(&scene.cluster, release, start());
        for change in case.events.iter().flat_map(|event| data.changes(event)) {
            scene.apply(change);
        }
        assert_eq!(scene.claims(), case.claims, "{}", case.name);
        assert_eq!(scene.handle(), [""; 0], "{}", case.name);
    }
}

#[test]
fn eviction() {
    let data = Data::read();
    let evicted = ["0 evict n/p"];
    let mut initial = Scene::start(&data, &["tainted", "claim", "pod"], PodGroups::Ignored);
    assert_eq!(initial.handle(), evicted);
    for (initial, events) in [
        (&[][..], ["+pod", "+tainted", "+claim"]),
        (
            &["slice", "free", "pod-unscheduled"][..],
            ["pod-unscheduled>pod", "slice>tainted", "free>claim"],
        ),
    ] {
        for order in orders(events.len()) {
            let mut scene = Scene::start(&data, initial, PodGroups::Ignored);
            for place in &order {
                scene.apply(data.change(events[*place]));
            }
            assert_eq!(scene.handle(), evicted, "{events:?} {order:?}");
        }
    }
    let mut shadowed = Scene::start(&data, &["tainted", "shadow", "free", "pod"], PodGroups::Ignored);
    assert!(shadowed.handle().is_empty());
    for event in ["-shadow", "-free", "+claim"] {
        shadowed.apply(data.change(event));
    }
    assert_eq!(shadowed.handle(), evicted);
}

#[test]
fn device_taint_rule() {
    let data = Data::read();
    let counted = "0 condition evict NoEffect 0 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 \
                   namespace if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to \
                   trigger an update.";
    let pending = "20 condition evict PodsPendingEviction 1 pod needs to be evicted in 1 namespace.";
    for (claim, takes, evicted, completed) in [
        ("claim", 0, 20, 30),
        ("claim-tolerating-30", 0, 50, 60),
        ("claim-tolerating-30", 3, 50, 63),
    ] {
        let mut scene = Scene::start(&data, &["pod", claim, "none"], PodGroups::Ignored);
        scene.sees_conditions = true;
        scene.deletion_takes = Duration::from_secs(takes);
        assert_eq!(scene.handle(), [counted]);
        scene.now = start().after(Duration::from_secs(20));
        let Change::Put(Object::DeviceTaintRule(evicts)) = data.change("+none-evicts") else {
            panic!("a rule");
        };
        let mut evicts = (*evicts).clone();
        evicts.status = scene.cluster.rule("evict").unwrap().status.clone();
        scene.apply(Change::Put(Object::DeviceTaintRule(evicts.into())));
        let expected = [
            pending.to_owned(),
            format!("{evicted} evict n/p"),
            format!("{completed} condition evict Completed 1 pod evicted since starting the controller."),
        ];
        assert_eq!(scene.handle(), expected);
        // Nothing of a rule is kept that is gone.
        assert_eq!(scene.controller.evicted_by_rule.len(), 1);
        scene.apply(data.change("-none"));
        assert!(scene.controller.evicted_by_rule.is_empty());
        assert!(scene.handle().is_empty());
    }
}

#[test]
fn cancel_eviction() {
    let data = Data::read();
    for (event, cancelled) in [("-pod", &[][..]), ("-tainted", &["n/p"][..])] {
        let mut scene = Scene::start(
            &data,
            &["tainted", "claim-tolerating-60", "pod"],
            PodGroups::Ignored,
        );
        assert_eq!(scene.plans().len(), 1);
        scene.apply(data.change(event));
        assert!(scene.plans().is_empty());
        assert_eq!(scene.cancelled, cancelled);
        assert!(scene.handle().is_empty(), "{event}");
    }
}

#[test]
fn only_evicting_rules_are_walked() {
    let data = Data::read();
    let device = DeviceId {
        driver: "d".into(),
        pool: "worker".into(),
        device: "instance".into(),
    };
    for (rule, walked) in [("none", 0), ("evict", 1)] {
        let scene = Scene::start(&data, &["claim", rule], PodGroups::Ignored);
        assert_eq!(scene.controller.rules.matching(&device).len(), walked, "{rule}");
    }
}

/// The watch may show that a pod is gone before the answer to its deletion has come.
#[test]
fn a_rule_does_not_report_no_evictions_while_a_pod_is_evicted() {
    let data = Data::read();
    let mut scene = Scene::start(&data, &["claim", "pod", "evict"], PodGroups::Ignored);
    let mut evicting = None;
    for id in [JobId(1), JobId(2)] {
        match scene.controller.next(id, &scene.cluster, scene.now) {
            Some((_, Work::Evict { .. })) => evicting = Some(id),
            Some((_, Work::SetCondition { condition, .. })) => {
                assert_eq!(condition.reason, "PodsPendingEviction");
                scene.controller.done(id, Outcome::Done, scene.now);
            }
            other => panic!("{other:?}"),
        }
    }
    scene.apply(data.change("-pod"));
    let rule = Arc::clone(scene.cluster.rule("evict").unwrap());
    scene.controller.queue().add(super::subject_of(&rule));
    let told = scene.controller.next(JobId(3), &scene.cluster, scene.now);
    assert!(told.is_none(), "{told:?}");
    scene.controller.done(evicting.unwrap(), Outcome::Done, scene.now);
    let completed = "10 condition evict Completed 1 pod evicted since starting the controller.";
    assert_eq!(scene.handle(), [completed]);
}
