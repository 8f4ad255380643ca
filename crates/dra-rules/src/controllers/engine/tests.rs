//! Changes that count as new, and waiting items.

use serde_json::{Value, json};

use super::*;
use crate::controllers::{Deviations, Features, Work};
use crate::eviction::Release;
use dra_model::{ClusterBuilder, Environment};

fn at(milliseconds: i64) -> Time {
    Time::from_unix_seconds(0).add_nanoseconds(milliseconds * 1_000_000)
}

fn object(kind: Kind, json: &Value) -> Object {
    Object::from_json(kind, json.to_string().as_bytes()).unwrap()
}

fn claim(name: &str, uid: &str, version: &str) -> Object {
    object(
        Kind::ResourceClaim,
        &json!({"metadata": {"namespace": "n", "name": name, "uid": uid, "resourceVersion": version},
            "status": {"reservedFor": [{"resource": "pods", "name": "gone", "uid": "gone"}]}}),
    )
}

fn engine(objects: impl IntoIterator<Item = Object>) -> Engine {
    let mut builder = ClusterBuilder::default();
    for object in objects {
        builder.add(object);
    }
    let cluster = builder.build(Environment::default()).0;
    let features = Features {
        deviations: Deviations::ON,
        ..Features::of(cluster.environment())
    };
    let claims = ResourceClaims::start(&cluster, features);
    let eviction = TaintEviction::start(&cluster, Release::of(cluster.environment()), at(0));
    Engine::new(cluster, Some(claims), Some(eviction))
}

fn version(engine: &Engine, name: &str) -> Option<String> {
    let claim = engine.cluster().claim(&Key::new("n", name))?;
    Some(claim.metadata.resource_version.to_string())
}

#[test]
fn only_what_is_newer_is_news() {
    let mut engine = engine([claim("c", "u", "9")]);
    let mut see = |change, origin| engine.see(change, origin, at(0)).is_some();
    // As numbers, not as texts: 10 is newer than 9. The watch tells again what the answer to a write told.
    assert!(see(Change::Put(claim("c", "u", "10")), Origin::Watch));
    assert!(!see(Change::Put(claim("c", "u", "10")), Origin::Watch));
    assert!(!see(Change::Put(claim("c", "u", "9")), Origin::Watch));
    // An earlier object of the name is not news, nor is the answer about one that is gone.
    assert!(see(Change::Put(claim("c", "v", "12")), Origin::Watch));
    assert!(!see(Change::Put(claim("c", "u", "11")), Origin::Watch));
    assert!(see(
        Change::Delete(Kind::ResourceClaim, Key::new("n", "c")),
        Origin::Watch
    ));
    assert!(!see(Change::Put(claim("c", "v", "13")), Origin::Watch));
    assert!(see(Change::Put(claim("c", "w", "14")), Origin::Watch));
    // A minute later no response about it is expected, and it is forgotten.
    let key = Key::new("n", "c");
    engine.see(
        Change::Delete(Kind::ResourceClaim, key),
        Origin::Watch,
        at(70_000),
    );
    assert_eq!(engine.gone.keys().collect::<Vec<_>>(), ["w"]);
}

#[test]
fn a_list_takes_away_what_is_not_newer_than_itself() {
    let mut engine = engine([claim("old", "a", "5"), claim("same", "b", "6")]);
    // This one was made by a write of ours after the list was read.
    engine.see(Change::Put(claim("own", "c", "11")), Origin::Watch, at(0));
    let listed = vec![claim("same", "b", "6"), claim("new", "d", "7")];
    engine.see_list(Kind::ResourceClaim, "", listed, "10", at(0));
    let names: Vec<_> = engine
        .cluster()
        .claims()
        .map(|claim| claim.metadata.name.to_string())
        .collect();
    assert_eq!(names, ["new", "own", "same"]);
    assert_eq!(version(&engine, "same").as_deref(), Some("6"));
    // A list of one namespace does not cover the others.
    engine.see_list(Kind::ResourceClaim, "elsewhere", Vec::new(), "20", at(0));
    assert_eq!(engine.cluster().claims().count(), 3);
}

#[test]
fn many_jobs_are_out_and_each_item_is_in_one() {
    let mut engine = engine((0..50).map(|n| claim(&format!("c{n}"), &format!("u{n}"), "1")));
    let jobs: Vec<Job> = std::iter::from_fn(|| engine.next(at(0))).collect();
    assert_eq!(jobs.len(), 50);
    assert_eq!(engine.jobs_of(ControllerName::ResourceClaim), 50);
    // A change meanwhile brings the item back, once the job is done and not before.
    engine.see(Change::Put(claim("c7", "u7", "2")), Origin::Watch, at(0));
    assert!(engine.next(at(0)).is_none());
    for job in &jobs {
        engine.done(job.id, Outcome::Parked, at(0));
    }
    let again: Vec<Job> = std::iter::from_fn(|| engine.next(at(0))).collect();
    assert_eq!(again.len(), 1);
}

#[test]
fn an_outage_pauses_all_without_a_penalty() {
    let mut engine = engine((0..3).map(|n| claim(&format!("c{n}"), &format!("u{n}"), "1")));
    let jobs: Vec<Job> = std::iter::from_fn(|| engine.next(at(0))).collect();
    for job in &jobs {
        engine.done(job.id, Outcome::Unreachable, at(0));
    }
    // One tries, the others wait for it.
    let mut now = at(0);
    for pause in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
        let due = engine.next_due(now).unwrap();
        assert_eq!(due.since(now).as_millis(), pause);
        assert!(engine.next(now).is_none());
        now = due;
        let probe = engine.next(now).unwrap();
        assert!(engine.next(now).is_none());
        assert_eq!(engine.next_due(now), None);
        engine.done(probe.id, Outcome::Unreachable, now);
    }
    now = engine.next_due(now).unwrap();
    let probe = engine.next(now).unwrap();
    assert!(matches!(probe.work, Work::Look(_)));
    engine.done(probe.id, Outcome::Answers(Vec::new()), now);
    // There is no backoff.
    assert_eq!(std::iter::from_fn(|| engine.next(now)).count(), 3);
}

#[test]
fn what_changed_meanwhile_waits_for_the_watch() {
    let mut engine = engine([claim("c", "u", "1")]);
    let job = engine.next(at(0)).unwrap();
    engine.done(job.id, Outcome::Conflict, at(0));
    assert!(engine.next(at(0)).is_none());
    engine.see(Change::Put(claim("c", "u", "2")), Origin::Watch, at(10));
    assert!(engine.next(at(10)).is_some());
    // And where the watch shows nothing, it is looked at again after a second.
    let mut engine = self::engine([claim("c", "u", "1")]);
    let job = engine.next(at(0)).unwrap();
    engine.done(job.id, Outcome::Conflict, at(0));
    assert_eq!(engine.next_due(at(0)), Some(at(1000)));
}

#[test]
fn what_was_refused_is_wanted_until_its_object_is_gone_or_needs_nothing() {
    let mut engine = engine([claim("c", "u", "1")]);
    let job = engine.next(at(0)).unwrap();
    assert!(!engine.still_wants(&job.subject), "nothing was refused yet");
    engine.done(job.id, Outcome::Refused("no".to_owned()), at(0));
    assert!(engine.still_wants(&job.subject));
    let without = json!({"metadata": {"namespace": "n", "name": "c", "uid": "u", "resourceVersion": "2"}});
    let without = object(Kind::ResourceClaim, &without);
    let mut settled = engine.clone();
    settled.see(Change::Put(without), Origin::Watch, at(10));
    assert!(settled.next(at(10)).is_none());
    assert!(!settled.still_wants(&job.subject));
    engine.see(
        Change::Delete(Kind::ResourceClaim, Key::new("n", "c")),
        Origin::Watch,
        at(10),
    );
    // Its turn would come much later.
    assert!(!engine.still_wants(&job.subject));
}
