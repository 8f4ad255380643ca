//! The cases of upstream's own tests of the controller, from `tests/data/taint-controller-cases.json`, in every order of their events.
//!
//! As there, nobody shows the controller the conditions that it writes, and pods are gone as soon as they are evicted.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{Queue, TaintEviction};
use crate::controllers::{Controller, JobId, Observed, Outcome, Work};
use crate::devices::Origin;
use crate::eviction::{Eviction, Release};
use crate::model::{Change, Cluster, ClusterBuilder, Environment, Kind, Object, Time};
use crate::reservation::PodGroups;

const DATA: &str = include_str!("../../../tests/data/taint-controller-cases.json");

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
    /// Whether claims of PodGroups are known.
    #[serde(default)]
    groups: bool,
    /// What is there when the controller starts, whose work has been done.
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
    /// What is done then, by second.
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
}

impl Scene {
    fn new(data: &Data, case: &Case) -> Self {
        let mut builder = ClusterBuilder::default();
        for name in &case.initial {
            builder.add(data.object(name));
        }
        let cluster = builder.build(Environment::default()).0;
        let release = Release {
            groups: if case.groups {
                PodGroups::Accepted
            } else {
                PodGroups::Ignored
            },
            ..Release::of(cluster.environment())
        };
        let mut controller = TaintEviction::start(&cluster, release, start());
        controller.queue = Queue::default();
        Self {
            cluster,
            controller,
            now: start(),
            cancelled: Vec::new(),
        }
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
            .map(|(key, eviction)| (key.to_string(), Self::text(eviction)))
            .collect()
    }

    fn plans(&self) -> BTreeMap<String, String> {
        let plans = self.controller.plans();
        plans
            .into_iter()
            .map(|(pod, eviction)| (pod.key.to_string(), Self::text(eviction)))
            .collect()
    }

    /// What is done until nothing is left to do, in the order of time.
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
    assert_eq!((data.cases.len(), runs), (52, 1718));
}
