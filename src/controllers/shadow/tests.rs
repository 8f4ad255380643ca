//! A made-up controller beside the shadow: what it does, leaves undone and does wrong.

use serde_json::{Value, json};

use super::*;
use crate::controllers::{Answer, ControllerName, Features, ResourceClaims, TaintEviction};
use crate::eviction::{MARKED, Release};
use crate::model::{ClusterBuilder, Environment};

fn at(seconds: i64) -> Time {
    Time::from_unix_seconds(1_800_000_000 + seconds)
}

struct Beside {
    engine: Engine,
    shadow: Shadow,
    version: u64,
}

impl Beside {
    fn with(objects: &[(Kind, Value)]) -> Self {
        let mut builder = ClusterBuilder::default();
        for (kind, json) in objects {
            builder.add(Object::from_json(*kind, json.to_string().as_bytes()).unwrap());
        }
        let cluster = builder.build(Environment::default()).0;
        let features = Features {
            workloads: true,
            groups: PodGroups::Accepted,
            deviations: crate::controllers::Deviations::ALL,
            ..Features::of(cluster.environment())
        };
        let claims = ResourceClaims::start(&cluster, features);
        let eviction = TaintEviction::resume(&cluster, Release::of(cluster.environment()), at(0));
        let mut beside = Self {
            engine: Engine::new(cluster, Some(claims), Some(eviction)),
            shadow: Shadow::new(Duration::from_secs(30), features.groups),
            version: 100,
        };
        beside.turn(at(0));
        beside
    }

    fn put(&mut self, seconds: i64, kind: Kind, mut json: Value) {
        self.version += 1;
        json["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let object = Object::from_json(kind, json.to_string().as_bytes()).unwrap();
        self.shadow
            .see(&mut self.engine, Change::Put(object), at(seconds));
        self.turn(at(seconds));
    }

    fn delete(&mut self, seconds: i64, kind: Kind, name: &str) {
        let key = if kind.is_namespaced() {
            Key::new("n", name)
        } else {
            Key::new("", name)
        };
        self.shadow
            .see(&mut self.engine, Change::Delete(kind, key), at(seconds));
        self.turn(at(seconds));
    }

    /// What the loop of the program does each time. What is asked for does not exist.
    fn turn(&mut self, now: Time) {
        self.shadow.doubt(&mut self.engine, now);
        while let Some(job) = self.engine.next(now) {
            let Some(job) = self.shadow.take(&mut self.engine, job, now) else {
                continue;
            };
            let Work::Look(lookups) = job.work else {
                unreachable!()
            };
            let answers = lookups
                .into_iter()
                .map(|lookup| (lookup, Answer::Absent))
                .collect();
            self.shadow.answered(&job.subject);
            self.engine.done(job.id, Outcome::Answers(answers), now);
        }
        self.shadow.judge(&mut self.engine, now);
    }

    /// Lets time pass, one wake after the other.
    fn until(&mut self, seconds: i64) {
        let dues = |beside: &Self, now| [beside.engine.next_due(now), beside.shadow.next_due()];
        let mut now = at(0);
        while let Some(due) = dues(self, now)
            .into_iter()
            .flatten()
            .min()
            .filter(|due| *due <= at(seconds))
        {
            now = due.max(now.add_nanoseconds(1));
            self.turn(now);
        }
        self.turn(at(seconds));
    }

    fn found(&self) -> Vec<String> {
        self.shadow
            .found()
            .map(|found| {
                let (kind, key) = found.wish.object();
                let until = found.until.map_or(String::new(), |until| {
                    format!(" until {}", until.since(at(0)).as_secs())
                });
                format!(
                    "{} {}: {kind} {}, since {}{until}",
                    found.difference.text(),
                    found.wish.write(),
                    key.name,
                    found.since.since(at(0)).as_secs()
                )
            })
            .collect()
    }

    /// Open, overdue, fulfilled, moot.
    fn counts(&self) -> (usize, usize, u64, u64) {
        let Counts {
            open,
            overdue,
            fulfilled,
            moot,
        } = self.shadow.counts();
        (open, overdue, fulfilled, moot)
    }
}

fn template() -> (Kind, Value) {
    (
        Kind::ResourceClaimTemplate,
        json!({"metadata": {"namespace": "n", "name": "t", "uid": "t"}, "spec": {"spec": {}}}),
    )
}

fn pod(status: &Value) -> Value {
    json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid"}, "status": status,
        "spec": {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}})
}

fn generated(name: &str) -> Value {
    json!({"metadata": {"namespace": "n", "name": name, "uid": name,
        "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p-uid", "controller": true}]}})
}

fn told(claim: &str) -> Value {
    json!({"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": claim}]})
}

#[test]
fn what_is_done_in_time_is_no_finding() {
    let mut beside = Beside::with(&[template()]);
    beside.put(1, Kind::Pod, pod(&json!({})));
    assert_eq!(beside.counts(), (2, 0, 0, 0));
    beside.put(2, Kind::ResourceClaim, generated("c"));
    beside.put(3, Kind::Pod, pod(&told("c")));
    beside.until(200);
    assert_eq!(beside.counts(), (0, 0, 2, 0));
    assert_eq!(beside.found(), [""; 0]);
}

#[test]
fn watches_may_tell_the_effect_before_its_cause() {
    let mut beside = Beside::with(&[template()]);
    beside.put(1, Kind::ResourceClaim, generated("c"));
    beside.put(2, Kind::Pod, pod(&told("c")));
    beside.until(200);
    assert_eq!(beside.found(), [""; 0]);
}

#[test]
fn what_is_not_done_is_overdue_until_it_is() {
    let mut beside = Beside::with(&[template()]);
    beside.put(1, Kind::Pod, pod(&json!({})));
    beside.until(30);
    assert_eq!(beside.found(), [""; 0]);
    beside.until(31);
    let overdue = [
        "Overdue create claim: Pod p, since 1",
        "Overdue update status: Pod p, since 1",
    ];
    assert_eq!(beside.found(), overdue);
    assert_eq!(beside.counts(), (2, 2, 0, 0));
    beside.put(60, Kind::ResourceClaim, generated("c"));
    beside.put(61, Kind::Pod, pod(&told("c")));
    beside.until(300);
    assert_eq!(
        beside.found(),
        [
            "Overdue create claim: Pod p, since 1 until 60",
            "Overdue update status: Pod p, since 1 until 61"
        ]
    );
    assert_eq!(beside.counts(), (0, 0, 2, 0));
}

#[test]
fn what_is_no_longer_wanted_is_not_overdue() {
    let mut beside = Beside::with(&[template()]);
    beside.put(1, Kind::Pod, pod(&json!({})));
    beside.delete(5, Kind::Pod, "p");
    beside.until(200);
    assert_eq!((beside.found(), beside.counts().0), (vec![], 0));
    // Without the template there is nothing to make, whoever is missing it.
    let mut beside = Beside::with(&[template()]);
    beside.put(1, Kind::Pod, pod(&json!({})));
    beside.delete(5, Kind::ResourceClaimTemplate, "t");
    beside.until(200);
    assert_eq!((beside.found(), beside.counts().0), (vec![], 0));
}

fn claim(entries: &Value) -> Value {
    json!({"metadata": {"namespace": "n", "name": "c", "uid": "c-uid", "finalizers": ["resource.kubernetes.io/delete-protection"]},
        "status": {"reservedFor": entries, "allocation": {"devices": {"results": [{"driver": "d", "pool": "p", "device": "a"}]}}}})
}

fn entry() -> Value {
    json!([{"resource": "pods", "name": "p", "uid": "p-uid"}])
}

fn user(phase: &str) -> Value {
    json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid"}, "status": {"phase": phase},
        "spec": {"nodeName": "node", "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}})
}

#[test]
fn a_running_pod_that_loses_its_reservation_is_unexpected() {
    let mut beside = Beside::with(&[
        (Kind::ResourceClaim, claim(&entry())),
        (Kind::Pod, user("Running")),
    ]);
    beside.put(5, Kind::ResourceClaim, claim(&json!([])));
    // It is wanted back.
    assert_eq!(beside.counts(), (1, 0, 0, 0));
    beside.until(40);
    assert_eq!(
        beside.found(),
        [
            "Overdue add reservation: ResourceClaim c, since 5",
            "Unexpected remove reservation: ResourceClaim c, since 5"
        ]
    );
    // One that has ended may lose it.
    let mut beside = Beside::with(&[
        (Kind::ResourceClaim, claim(&entry())),
        (Kind::Pod, user("Succeeded")),
    ]);
    let mut free = claim(&json!([]));
    free["status"] = json!({});
    free["metadata"]["finalizers"] = json!([]);
    beside.put(5, Kind::ResourceClaim, free);
    beside.until(40);
    assert_eq!(beside.found(), [""; 0]);
}

#[test]
fn a_reservation_of_an_ended_pod_that_comes_and_goes_is_flapping() {
    let shared = json!([{"resource": "pods", "name": "other", "uid": "other"}]);
    let both = json!([{"resource": "pods", "name": "other", "uid": "other"},
                      {"resource": "pods", "name": "p", "uid": "p-uid"}]);
    let mut other = user("Running");
    other["metadata"] = json!({"namespace": "n", "name": "other", "uid": "other"});
    let mut beside = Beside::with(&[
        (Kind::ResourceClaim, claim(&both)),
        (Kind::Pod, other),
        (Kind::Pod, user("Succeeded")),
    ]);
    for round in 0..10 {
        beside.put(2 * round, Kind::ResourceClaim, claim(&shared));
        beside.put(2 * round + 1, Kind::ResourceClaim, claim(&both));
    }
    let found = beside.found();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].starts_with("Flapping remove reservation: ResourceClaim c"),
        "{found:#?}"
    );
}

#[test]
fn two_claims_for_one_entry_are_one_too_many() {
    let mut beside = Beside::with(&[
        template(),
        (Kind::Pod, pod(&told("c"))),
        (Kind::ResourceClaim, generated("c")),
    ]);
    beside.put(5, Kind::ResourceClaim, generated("again"));
    beside.until(40);
    assert_eq!(beside.found(), ["Unexpected create claim: Pod p, since 5"]);
}

fn tainted() -> (Kind, Value) {
    let taint = json!({"key": "broken", "effect": "NoExecute", "timeAdded": "2027-01-15T08:00:00Z"});
    (
        Kind::ResourceSlice,
        json!({"metadata": {"name": "s", "uid": "s"}, "spec": {"driver": "d", "nodeName": "node",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "a", "taints": [taint]}]}}),
    )
}

fn marked() -> Value {
    let mut pod = user("Running");
    pod["status"]["conditions"] = json!([{"type": "DisruptionTarget", "status": "True", "reason": MARKED}]);
    pod
}

#[test]
fn evictions_are_wanted_or_not() {
    let objects = [
        (Kind::ResourceClaim, claim(&entry())),
        (Kind::Pod, user("Running")),
    ];
    // Nobody evicts.
    let mut beside = Beside::with(&objects);
    let (kind, slice) = tainted();
    beside.put(1, kind, slice.clone());
    beside.until(40);
    assert_eq!(beside.found(), ["Overdue evict pod: Pod p, since 1"]);
    // The taint goes, and with it the reason.
    let mut beside = Beside::with(&objects);
    beside.put(1, kind, slice.clone());
    beside.delete(5, kind, "s");
    beside.until(60);
    assert_eq!((beside.found(), beside.counts().0), (vec![], 0));
    // It is evicted in time, or even before the taint is seen.
    for (first, second) in [(1, 2), (2, 1)] {
        let mut beside = Beside::with(&objects);
        for seconds in 1..3 {
            if seconds == first {
                beside.put(seconds, kind, slice.clone());
            } else if seconds == second {
                beside.put(seconds, Kind::Pod, marked());
            }
        }
        let mut leaving = marked();
        leaving["metadata"]["deletionTimestamp"] = json!("2027-01-15T08:00:30Z");
        beside.put(3, Kind::Pod, leaving);
        beside.until(40);
        assert_eq!(beside.found(), [""; 0], "{first} {second}");
    }
    // It is told of together with its reason: no job stays out for it, and its rule counts it.
    let mut beside = Beside::with(&objects);
    let mut leaving = marked();
    leaving["metadata"]["deletionTimestamp"] = json!("2027-01-15T08:00:30Z");
    for (kind, mut json) in [(Kind::Pod, leaving), (kind, slice)] {
        json["metadata"]["resourceVersion"] = json!("200");
        let object = Object::from_json(kind, json.to_string().as_bytes()).unwrap();
        beside.shadow.see(&mut beside.engine, Change::Put(object), at(1));
    }
    beside.turn(at(1));
    assert_eq!(beside.engine.jobs_of(ControllerName::DeviceTaintEviction), 0);
    assert_eq!((beside.found(), beside.counts().0), (vec![], 0));
    // Nothing is tainted.
    let mut beside = Beside::with(&objects);
    beside.put(1, Kind::Pod, marked());
    beside.until(40);
    assert_eq!(beside.found(), ["Unexpected evict pod: Pod p, since 1"]);
}
