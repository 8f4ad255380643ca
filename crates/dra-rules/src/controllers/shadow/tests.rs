//! A made-up controller beside the shadow: what it does, leaves undone and does wrong.

use serde_json::{Value, json};

use super::*;
use crate::controllers::{Answer, ControllerName, Features, ResourceClaims, TaintEviction};
use crate::eviction::{EvictingClaims, MARKED, Release};
use dra_model::{ClusterBuilder, Environment};

fn at(seconds: i64) -> Time {
    Time::from_unix_seconds(1_800_000_000 + seconds)
}

struct Beside {
    engine: Engine,
    shadow: Shadow,
    version: u64,
    /// Work returned to be written, with its time.
    written: Vec<String>,
    /// Outcome.
    outcome: Outcome,
}

impl Beside {
    fn with(objects: &[(Kind, Value)]) -> Self {
        Self::supplemented(objects, Supplement::default())
    }

    fn supplemented(objects: &[(Kind, Value)], supplement: Supplement) -> Self {
        let mut builder = ClusterBuilder::default();
        for (kind, json) in objects {
            builder.add(Object::from_json(*kind, json.to_string().as_bytes()).unwrap());
        }
        let cluster = builder.build(Environment::default()).0;
        let features = Features {
            workloads: true,
            groups: PodGroups::Accepted,
            deviations: crate::controllers::Deviations::ON,
            ..Features::of(cluster.environment())
        };
        let claims = ResourceClaims::start(&cluster, features);
        let mut release = Release::of(cluster.environment());
        if supplement.evictions {
            release.claims = EvictingClaims::OfExtendedResources;
        }
        let eviction = TaintEviction::resume(&cluster, release, at(0));
        let mut beside = Self {
            engine: Engine::new(cluster, Some(claims), Some(eviction)),
            shadow: Shadow::new(Duration::from_secs(30), features.groups).supplementing(supplement),
            version: 100,
            written: Vec::new(),
            outcome: Outcome::Done,
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
                let since = now.since(at(0)).as_secs();
                let wishes: Vec<&str> = Wish::of(&job.work).iter().map(Wish::write).collect();
                self.written.push(format!("{since} {}", wishes.join(", ")));
                self.shadow.answered(&job.subject);
                self.engine.done(job.id, self.outcome.clone(), now);
                continue;
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
        let dues = |beside: &Self, now| {
            [
                beside.engine.next_due(now),
                beside.shadow.next_due(&beside.engine),
            ]
        };
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
                    found.difference,
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
fn watches_may_deliver_the_effect_before_its_cause() {
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
    // Without the template there is nothing to create, no matter why it is missing.
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

const RELEASES: Supplement = Supplement {
    evictions: false,
    releases: true,
    once: false,
};

fn two_ended() -> [(Kind, Value); 2] {
    let both = json!([{"resource": "pods", "name": "other", "uid": "other"},
                      {"resource": "pods", "name": "p", "uid": "p-uid"}]);
    [
        (Kind::ResourceClaim, claim(&both)),
        (Kind::Pod, user("Succeeded")),
    ]
}

fn other(phase: &str) -> Value {
    let mut other = user(phase);
    other["metadata"] = json!({"namespace": "n", "name": "other", "uid": "other"});
    other
}

#[test]
fn a_supplement_releases_what_is_overdue_and_makes_nothing() {
    let [claim, ended] = two_ended();
    let objects = [template(), claim, ended, (Kind::Pod, other("Running"))];
    let mut beside = Beside::supplemented(&objects, RELEASES);
    // The other one ends later, which is not overdue together with the first.
    let mut unmade = pod(&json!({}));
    unmade["metadata"]["name"] = json!("unmade");
    unmade["metadata"]["uid"] = json!("unmade");
    beside.put(1, Kind::Pod, unmade);
    beside.put(20, Kind::Pod, other("Succeeded"));
    beside.until(29);
    assert_eq!(beside.written, [""; 0]);
    beside.until(30);
    assert_eq!(beside.written, ["30 remove reservation"]);
    let rest = json!([{"resource": "pods", "name": "other", "uid": "other"}]);
    beside.put(31, Kind::ResourceClaim, self::claim(&rest));
    beside.until(49);
    assert_eq!(beside.written.len(), 1, "{:?}", beside.written);
    beside.until(50);
    // With the last consumer go the devices, and with them the finalizer.
    assert_eq!(
        beside.written[1..],
        ["50 remove reservation, deallocate, remove finalizer"]
    );
    let mut free = self::claim(&json!([]));
    free["status"] = json!({});
    free["metadata"]["finalizers"] = json!([]);
    beside.put(51, Kind::ResourceClaim, free);
    beside.until(300);
    assert_eq!(beside.written.len(), 2, "{:?}", beside.written);
}

#[test]
fn claims_released_by_another_client_in_time_are_not_written() {
    let [claim, ended] = two_ended();
    let mut beside = Beside::supplemented(&[claim, ended, (Kind::Pod, other("Running"))], RELEASES);
    let rest = json!([{"resource": "pods", "name": "other", "uid": "other"}]);
    beside.put(29, Kind::ResourceClaim, self::claim(&rest));
    beside.until(300);
    assert_eq!((beside.written, beside.shadow.counts().open), (vec![], 0));
}

#[test]
fn a_supplement_tries_again_what_failed_and_a_dry_run_does_not() {
    let [claim, ended] = two_ended();
    let objects = [claim, ended, (Kind::Pod, other("Succeeded"))];
    let tried = |once: bool, outcome: &Outcome| {
        let mut beside = Beside::supplemented(&objects, Supplement { once, ..RELEASES });
        beside.outcome = outcome.clone();
        beside.until(100);
        beside.written.len()
    };
    assert!(tried(false, &Outcome::Refused("no".to_owned())) > 1);
    assert!(tried(false, &Outcome::Conflict) > 1);
    assert_eq!(tried(true, &Outcome::Parked), 1);
    // An unreachable server is not asked repeatedly, and nothing is forgotten meanwhile.
    let mut beside = Beside::supplemented(&objects, RELEASES);
    beside.outcome = Outcome::Unreachable;
    beside.until(60);
    let tries = beside.written.len();
    assert!((2..40).contains(&tries), "{tries}");
    beside.outcome = Outcome::Done;
    beside.until(70);
    let last = beside.written.last().unwrap();
    assert!(
        last.ends_with(" remove reservation, remove reservation, deallocate, remove finalizer"),
        "{last}"
    );
}

#[test]
fn a_supplement_evicts_for_extended_resources_alone() {
    let mut extended = user("Running");
    extended["spec"]["resourceClaims"] = json!([]);
    extended["status"]["extendedResourceClaimStatus"] = json!({"resourceClaimName": "c"});
    let evictions = Supplement {
        evictions: true,
        ..Supplement::default()
    };
    for (pod, expected) in [(user("Running"), None), (extended, Some("31 evict pod"))] {
        let mut claim = claim(&entry());
        claim["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"],
            "uid": pod["metadata"]["uid"], "controller": true}]);
        let objects = [(Kind::ResourceClaim, claim), (Kind::Pod, pod)];
        let mut beside = Beside::supplemented(&objects, evictions);
        let (kind, slice) = tainted();
        beside.put(1, kind, slice.clone());
        beside.until(100);
        assert_eq!(beside.written, expected.into_iter().collect::<Vec<_>>());
        // The taint goes in time.
        let mut beside = Beside::supplemented(&objects, evictions);
        beside.put(1, kind, slice);
        beside.delete(30, kind, "s");
        beside.until(100);
        assert_eq!(beside.written, [""; 0]);
    }
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
    // No controller evicts.
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
    // It is reported together with its reason: no job stays out for it, and its rule counts it.
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
