//! Evictions while the API server's clock changes.

use serde_json::{Value, json};

use super::TaintEviction;
use crate::controllers::{Engine, Origin, Outcome, Work};
use crate::eviction::{ClockStep, Release};
use dra_model::{Change, ClusterBuilder, Environment, Kind, Object, Time};

const HOUR: i64 = 3600;

fn at(second: i64) -> Time {
    let start: Time = "2026-11-21T10:00:00Z".parse().unwrap();
    start.add_nanoseconds(second * 1_000_000_000)
}

fn object(kind: Kind, json: &Value) -> Object {
    Object::from_json(kind, json.to_string().as_bytes()).unwrap()
}

/// A rule that taints one device since the server's clock said `added`.
fn rule(device: &str, added: Time) -> Object {
    object(
        Kind::DeviceTaintRule,
        &json!({"metadata": {"name": device, "uid": device, "generation": 1}, "spec": {"deviceSelector": {"device": device},
            "taint": {"key": "k", "effect": "NoExecute", "timeAdded": added.to_string()}}}),
    )
}

/// A pod with the name of its device, which tolerates the taint for a minute.
fn pod(device: &str) -> [Object; 2] {
    let tolerations =
        json!([{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]);
    [
        object(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": device, "uid": device},
                "spec": {"nodeName": "node", "resourceClaims": [{"name": "gpu", "resourceClaimName": device}]}}),
        ),
        object(
            Kind::ResourceClaim,
            &json!({"metadata": {"namespace": "n", "name": device, "uid": device}, "status": {
                "reservedFor": [{"resource": "pods", "name": device, "uid": device}],
                "allocation": {"devices": {"results": [
                    {"driver": "d", "pool": "p", "device": device, "tolerations": tolerations}]}}}}),
        ),
    ]
}

/// Returns when each pod goes, in seconds from the start.
fn gone(engine: &mut Engine, from: i64) -> Vec<(String, i64)> {
    let mut gone = Vec::new();
    for second in from..3 * HOUR {
        while let Some(job) = engine.next(at(second)) {
            if let Work::Evict { pod, .. } = &job.work {
                gone.push((pod.key.name.to_string(), second));
            }
            engine.done(job.id, Outcome::Done, at(second));
        }
    }
    gone
}

/// The pods `old` and `late` are there, and a taint of the device of `old`. In the tenth second the clock is set, in the twelfth the
/// device of `new` is tainted, and in the fifteenth it is noticed.
fn set_by(seconds: i64) -> Engine {
    let mut builder = ClusterBuilder::default();
    for object in ["old", "late", "new"].into_iter().flat_map(pod) {
        builder.add(object);
    }
    builder.add(rule("old", at(0)));
    let cluster = builder.build(Environment::default()).0;
    let controller = TaintEviction::start(&cluster, Release::of(cluster.environment()), at(1));
    let mut engine = Engine::new(cluster, None, Some(controller));
    while let Some(job) = engine.next(at(1)) {
        engine.done(job.id, Outcome::Done, at(1));
    }
    engine.see(
        Change::Put(rule("new", at(12 + seconds))),
        Origin::Simulation,
        at(12),
    );
    let step = ClockStep {
        by: seconds * 1_000_000_000,
        after: at(10),
    };
    engine.clock_was_set(step, at(15));
    engine
}

#[test]
fn what_waits_goes_in_its_time_and_new_taints_are_of_the_new_time() {
    for seconds in [HOUR, -HOUR] {
        let mut engine = set_by(seconds);
        // This taint comes when all is known.
        engine.see(
            Change::Put(rule("late", at(20 + seconds))),
            Origin::Simulation,
            at(20),
        );
        let expected = [("old", 60), ("new", 72), ("late", 80)].map(|(name, at)| (name.to_owned(), at));
        assert_eq!(gone(&mut engine, 15), expected, "{seconds}");
    }
}

#[test]
fn looking_again_at_what_waits_changes_nothing() {
    for seconds in [HOUR, -HOUR] {
        let mut engine = set_by(seconds);
        let again = json!({"metadata": {"name": "old", "uid": "old", "generation": 2}, "spec": {"deviceSelector": {"device": "old"},
            "taint": {"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": at(0).to_string()}}});
        let again = object(Kind::DeviceTaintRule, &again);
        engine.see(Change::Put(again), Origin::Simulation, at(20));
        let expected = [("old", 60), ("new", 72)].map(|(name, at)| (name.to_owned(), at));
        assert_eq!(gone(&mut engine, 20), expected, "{seconds}");
    }
}

#[test]
fn what_is_written_has_the_time_that_the_server_has_and_comes_in_time() {
    for seconds in [HOUR, -HOUR] {
        let mut engine = set_by(seconds);
        let mut written = Vec::new();
        for second in 15..100 {
            while let Some(job) = engine.next(at(second)) {
                if let Work::SetCondition { rule, condition, .. } = &job.work
                    && *rule == "new"
                {
                    let time = condition.last_transition_time.unwrap();
                    let then = json!({"metadata": {"name": "new", "uid": "new", "generation": 1},
                        "spec": {"deviceSelector": {"device": "new"}, "taint": {"key": "k", "effect": "NoExecute",
                            "timeAdded": at(12 + seconds).to_string()}},
                        "status": {"conditions": [{"type": condition.type_, "status": condition.status, "reason": condition.reason,
                            "message": condition.message, "lastTransitionTime": time.to_string(), "observedGeneration": 1}]}});
                    written.push((second, time));
                    let then = object(Kind::DeviceTaintRule, &then);
                    engine.see(Change::Put(then), Origin::Simulation, at(second));
                }
                engine.done(job.id, Outcome::Done, at(second));
            }
        }
        let of_eviction: Vec<i64> = written.iter().map(|(second, _)| *second).collect();
        assert_eq!(of_eviction, [15, 82], "{seconds}");
        for (second, time) in written {
            assert_eq!(time, at(second + seconds));
        }
    }
}

#[test]
fn a_status_that_was_under_way_while_the_clock_was_set_holds_up_no_other() {
    for seconds in [HOUR, -HOUR] {
        let mut engine = set_by(seconds);
        // It was written with the old time, and is seen with the new one.
        let then = json!({"metadata": {"name": "old", "uid": "old", "generation": 1},
            "spec": {"deviceSelector": {"device": "old"}, "taint": {"key": "k", "effect": "NoExecute", "timeAdded": at(0).to_string()}},
            "status": {"conditions": [{"type": "EvictionInProgress", "status": "True", "reason": "PodsPendingEviction",
                "message": "1 pod needs to be evicted in 1 namespace.", "lastTransitionTime": at(13).to_string(),
                "observedGeneration": 1}]}});
        engine.see(
            Change::Put(object(Kind::DeviceTaintRule, &then)),
            Origin::Simulation,
            at(16),
        );
        let mut written = Vec::new();
        for second in 16..100 {
            while let Some(job) = engine.next(at(second)) {
                if let Work::SetCondition { rule, condition, .. } = &job.work
                    && *rule == "old"
                {
                    written.push((second, condition.reason.to_string()));
                }
                engine.done(job.id, Outcome::Done, at(second));
            }
        }
        let (second, reason) = written.last().expect("its end is told").clone();
        assert_eq!(reason, "Completed", "{seconds}");
        assert!((60..=80).contains(&second), "{seconds}: {second}");
    }
}
