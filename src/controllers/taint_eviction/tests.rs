//! What the controller asks for, and what it makes of the answers. How evictions go on in time is tested with the simulation.

use serde_json::{Value, json};

use super::{Outcome, TaintEviction, Work};
use crate::controllers::{ControllerName, Engine, Origin};
use crate::eviction::Release;
use crate::model::{
    Change, Cluster, ClusterBuilder, Component, Environment, Evidence, Gate, GateState, Key, Kind, Object,
    Time,
};

fn now() -> Time {
    "2026-11-21T10:00:00Z".parse().unwrap()
}

fn object(kind: Kind, json: &Value) -> Object {
    Object::from_json(kind, json.to_string().as_bytes()).unwrap()
}

fn rule(effect: &str) -> Value {
    json!({"metadata": {"name": "drain", "uid": "drain-uid", "generation": 1},
        "spec": {"deviceSelector": {}, "taint": {"key": "k", "effect": effect, "timeAdded": "2026-11-21T10:00:00Z"}}})
}

fn pod(uid: &str) -> Value {
    json!({"metadata": {"namespace": "n", "name": "p", "uid": uid},
        "spec": {"nodeName": "node", "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}})
}

fn claim(uid: &str) -> Value {
    json!({"metadata": {"namespace": "n", "name": "c", "uid": "c-uid"}, "status": {
        "reservedFor": [{"resource": "pods", "name": "p", "uid": uid}],
        "allocation": {"devices": {"results": [{"driver": "d", "pool": "p", "device": "a"}]}}}})
}

fn cluster(environment: Environment) -> Cluster {
    let mut builder = ClusterBuilder::default();
    builder.add(object(Kind::DeviceTaintRule, &rule("NoExecute")));
    builder.add(object(Kind::Pod, &pod("p-uid")));
    builder.add(object(Kind::ResourceClaim, &claim("p-uid")));
    builder.build(environment).0
}

fn start(cluster: Cluster) -> Engine {
    let controller = TaintEviction::start(&cluster, Release::of(cluster.environment()), now());
    Engine::new(cluster, None, Some(controller))
}

fn told(work: &Work) -> String {
    match work {
        Work::Evict { pod, eviction } => {
            format!(
                "evict {} {} for {} reasons",
                pod.key.name,
                pod.uid,
                eviction.reasons.len()
            )
        }
        Work::SetCondition { rule, condition, .. } => {
            format!("condition of {rule}: {} {}", condition.reason, condition.message)
        }
        other => panic!("{other:?}"),
    }
}

/// The work that is due at `at`, each job done with `outcome`.
fn due(engine: &mut Engine, at: Time, outcome: &Outcome) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(job) = engine.next(at) {
        lines.push(told(&job.work));
        engine.done(job.id, outcome.clone(), at);
    }
    lines
}

fn change(engine: &mut Engine, change: Change) -> usize {
    let notices = engine.see(change, Origin::Simulation, now());
    notices.into_iter().flatten().count()
}

fn next_due(engine: &Engine, at: Time) -> Time {
    engine
        .next_due_of(ControllerName::DeviceTaintEviction, at)
        .unwrap()
}

fn failed() -> Outcome {
    Outcome::Refused("no".to_owned())
}

const FIRST: &str = "condition of drain: PodsPendingEviction 1 pod needs to be evicted in 1 namespace.";
const EVICT: &str = "evict p p-uid for 1 reasons";

#[test]
fn what_fails_is_tried_again_later_each_time() {
    let cluster = cluster(Environment::default());
    let mut engine = start(cluster);
    let mut at = now();
    assert_eq!(due(&mut engine, at, &failed()), [FIRST, EVICT]);
    for milliseconds in [5, 10, 20] {
        let next = next_due(&engine, at);
        assert_eq!(next.since(at).as_millis(), milliseconds);
        at = next;
        assert_eq!(due(&mut engine, at, &failed()), [FIRST, EVICT]);
    }
    at = next_due(&engine, at);
    assert_eq!(due(&mut engine, at, &Outcome::Done), [FIRST, EVICT]);
}

#[test]
fn an_evicted_pod_counts_once_and_a_missing_one_not_at_all() {
    for (outcome, expected) in [
        (
            &Outcome::Done,
            Some(
                "condition of drain: PodsPendingEviction 1 pod needs to be evicted in 1 namespace. 1 pod evicted since starting the \
                 controller.",
            ),
        ),
        (&Outcome::Gone, Some(FIRST)),
    ] {
        let cluster = cluster(Environment::default());
        let mut engine = start(cluster);
        assert_eq!(due(&mut engine, now(), outcome).len(), 2);
        // The pod is seen again before its deletion is: nothing is done a second time, although it is planned.
        change(
            &mut engine,
            Change::Put(object(Kind::ResourceClaim, &claim("p-uid"))),
        );
        assert!(due(&mut engine, now(), &Outcome::Done).is_empty());
        // The condition was not written here, so it is due again with the count.
        let later = now().after(super::STATUS_PERIOD);
        let said = due(&mut engine, later, &Outcome::Done);
        assert_eq!(said.first().map(String::as_str), expected, "{outcome:?}");
    }
}

#[test]
fn a_condition_is_written_when_it_changes_and_not_before_its_time() {
    let cluster = cluster(Environment::default());
    let mut engine = start(cluster);
    let job = engine.next(now()).unwrap();
    let Work::SetCondition { condition, .. } = &job.work else {
        panic!("{}", told(&job.work));
    };
    let mut written = match object(Kind::DeviceTaintRule, &rule("NoExecute")) {
        Object::DeviceTaintRule(rule) => (*rule).clone(),
        _ => unreachable!(),
    };
    written.status.conditions.push(condition.clone());
    engine.done(job.id, Outcome::Done, now());
    let written = Object::DeviceTaintRule(std::sync::Arc::new(written));
    assert_eq!(change(&mut engine, Change::Put(written)), 0);
    // What the controller wrote itself is no reason to evict anybody again.
    assert_eq!(due(&mut engine, now(), &Outcome::Gone), [EVICT]);
    let early = now().add_nanoseconds(9_999_999_999);
    change(
        &mut engine,
        Change::Put(object(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": "other"}}),
        )),
    );
    assert!(due(&mut engine, early, &Outcome::Done).is_empty());
    // Nothing has changed by then.
    assert!(due(&mut engine, early.after(super::STATUS_PERIOD), &Outcome::Done).is_empty());
}

#[test]
fn a_rule_that_would_take_away_more_than_the_limit_evicts_nobody() {
    let held = "pods, and the limit is 0.";
    for (limit, expected) in [(0, None), (1, Some(EVICT))] {
        let cluster = cluster(Environment::default());
        let controller = TaintEviction::start(&cluster, Release::of(cluster.environment()), now());
        let mut engine = Engine::new(cluster, None, Some(controller.with_limit(limit)));
        let mut evicted = None;
        while let Some(job) = engine.next(now()) {
            match &job.work {
                Work::SetCondition {
                    condition, held: why, ..
                } => {
                    assert_eq!(condition.message.contains(held), limit == 0, "{condition:?}");
                    assert_eq!(why.is_some(), limit == 0);
                }
                work => evicted = Some(told(work)),
            }
            engine.done(job.id, Outcome::Done, now());
            // While it ends it is planned again, and counts once.
            change(
                &mut engine,
                Change::Put(object(Kind::ResourceClaim, &claim("p-uid"))),
            );
        }
        assert_eq!(evicted.as_deref(), expected);
        // A claim that is no longer tainted is let go; nothing stays held.
        let free = Change::Delete(Kind::ResourceClaim, Key::new("n", "c"));
        change(&mut engine, free);
        let later = now().after(super::STATUS_PERIOD);
        for said in due(&mut engine, later, &Outcome::Done) {
            assert!(!said.contains("held"), "{said}");
        }
    }
}

#[test]
fn a_pod_of_the_same_name_is_another_pod() {
    let cluster = cluster(Environment::default());
    let mut engine = start(cluster);
    due(&mut engine, now(), &Outcome::Gone);
    let key = Key::new("n", "p");
    change(&mut engine, Change::Delete(Kind::Pod, key));
    change(&mut engine, Change::Put(object(Kind::Pod, &pod("new"))));
    assert!(due(&mut engine, now(), &Outcome::Done).is_empty());
    change(
        &mut engine,
        Change::Put(object(Kind::ResourceClaim, &claim("new"))),
    );
    assert_eq!(
        due(&mut engine, now(), &Outcome::Done),
        ["evict p new for 1 reasons"]
    );
}

#[test]
fn gates_decide_whether_rules_count() {
    let with = |gate| {
        let state = GateState {
            enabled: false,
            evidence: Evidence::Flag,
        };
        let environment = Environment {
            gates: vec![(Component::ControllerManager, gate, state)],
            ..Environment::default()
        };
        let cluster = cluster(environment);
        let mut engine = start(cluster);
        due(&mut engine, now(), &Outcome::Done)
    };
    assert!(with(Gate::DRADeviceTaints).is_empty());
    assert!(with(Gate::DRADeviceTaintRules).is_empty());
    assert_eq!(with(Gate::DRAWorkloadResourceClaims), [FIRST, EVICT]);
}
