//! Lookups of the controller, and handling of their answers. The timing of evictions is tested with the
//! simulation.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{JobId, Observed, Outcome, TaintEviction, Work};
use crate::controllers::{Controller as _, ControllerName, Engine, Origin};
use crate::eviction::{Release, count};
use dra_model::{
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

/// More pods than upstream remembers.
const MANY: usize = 600;

#[test]
fn however_many_pods_go_each_counts_once() {
    let mut builder = ClusterBuilder::default();
    builder.add(object(Kind::DeviceTaintRule, &rule("NoExecute")));
    let claims: Vec<Object> = (0..MANY)
        .map(|number| {
            let name = format!("p{number}");
            let mut owner = pod(&name);
            owner["metadata"]["name"] = json!(name);
            owner["spec"]["resourceClaims"][0]["resourceClaimName"] = json!(name);
            builder.add(object(Kind::Pod, &owner));
            let mut held = claim(&name);
            held["metadata"]["name"] = json!(name);
            held["metadata"]["uid"] = json!(format!("{name}-claim"));
            held["status"]["reservedFor"][0]["name"] = json!(name);
            object(Kind::ResourceClaim, &held)
        })
        .collect();
    for claim in &claims {
        builder.add(claim.clone());
    }
    let mut engine = start(builder.build(Environment::default()).0);
    assert_eq!(due(&mut engine, now(), &Outcome::Done).len(), MANY + 1);
    // Pods that end are looked at again with every change of their claims.
    for claim in claims {
        change(&mut engine, Change::Put(claim));
    }
    assert!(due(&mut engine, now(), &Outcome::Done).is_empty());
    let said = due(&mut engine, now().after(super::STATUS_PERIOD), &Outcome::Done);
    assert!(
        said[0].ends_with("600 pods evicted since starting the controller."),
        "{said:?}"
    );
}

#[test]
fn a_pod_that_is_gone_before_the_answer_leaves_nothing_behind() {
    let cluster = cluster(Environment::default());
    let mut controller = TaintEviction::start(&cluster, Release::of(cluster.environment()), now());
    let mut evictions = Vec::new();
    for number in 1..=2 {
        let id = JobId(number);
        let (_, work) = controller.next(id, &cluster, now()).unwrap();
        if matches!(work, Work::Evict { .. }) {
            evictions.push(id);
        } else {
            controller.done(id, Outcome::Done, now());
        }
    }
    let before = cluster.pod(&Key::new("n", "p")).cloned().map(Object::Pod);
    let change = Observed { before, after: None };
    controller.observe(&cluster, &change, now());
    controller.done(evictions[0], Outcome::Done, now());
    assert!(controller.evicted.is_empty() && controller.jobs.is_empty());
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
    // Nothing has changed yet.
    assert!(due(&mut engine, early.after(super::STATUS_PERIOD), &Outcome::Done).is_empty());
}

#[test]
fn a_rule_above_the_limit_evicts_no_pods() {
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

/// A change of a small cluster: which object, and how it is.
#[derive(Clone, Copy, Debug)]
enum Step {
    Pod { number: u8, on_node: bool, ending: bool },
    NoPod(u8),
    Claim { number: u8, pods: u8, tolerated: bool },
    NoClaim(u8),
    Rule { on: bool },
}

impl Step {
    fn change(self) -> Change {
        let namespace = |number: u8| if number < 2 { "m" } else { "n" };
        let key = |of: &str, number: u8| Key::new(namespace(number), format!("{of}{number}"));
        match self {
            // Each pod has two of the claims of its namespace.
            Self::Pod {
                number,
                on_node,
                ending,
            } => {
                let first = number / 2 * 2;
                let named = [first, first + 1].map(
                    |claim| json!({"name": format!("of-{claim}"), "resourceClaimName": format!("c{claim}")}),
                );
                let mut pod = json!({"metadata": {"namespace": namespace(number), "name": format!("p{number}"),
                    "uid": format!("p{number}-uid")}, "spec": {"resourceClaims": named}});
                if on_node {
                    pod["spec"]["nodeName"] = json!("node");
                }
                if ending {
                    pod["metadata"]["deletionTimestamp"] = json!("2026-11-21T10:00:30Z");
                }
                Change::Put(object(Kind::Pod, &pod))
            }
            Self::NoPod(number) => Change::Delete(Kind::Pod, key("p", number)),
            Self::Claim {
                number,
                pods,
                tolerated,
            } => {
                let entry = |pod: u8| json!({"resource": "pods", "name": format!("p{pod}"), "uid": format!("p{pod}-uid")});
                let entries: Vec<Value> = (0..4).filter(|pod| pods >> pod & 1 == 1).map(entry).collect();
                let tolerations = if tolerated {
                    json!([{"operator": "Exists", "effect": "NoExecute"}])
                } else {
                    json!([])
                };
                let result = json!({"driver": "d", "pool": "p", "device": "a", "tolerations": tolerations});
                let claim = json!({"metadata": {"namespace": namespace(number), "name": format!("c{number}"),
                    "uid": format!("c{number}-{tolerated}")},
                    "status": {"reservedFor": entries, "allocation": {"devices": {"results": [result]}}}});
                Change::Put(object(Kind::ResourceClaim, &claim))
            }
            Self::NoClaim(number) => Change::Delete(Kind::ResourceClaim, key("c", number)),
            Self::Rule { on: true } => Change::Put(object(Kind::DeviceTaintRule, &rule("NoExecute"))),
            Self::Rule { on: false } => Change::Delete(Kind::DeviceTaintRule, Key::new("", "drain")),
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..4u8, any::<bool>(), any::<bool>())
            .prop_map(|(number, on_node, ending)| Step::Pod { number, on_node, ending }),
        1 => (0..4u8).prop_map(Step::NoPod),
        4 => (0..4u8, 0..16u8, any::<bool>())
            .prop_map(|(number, pods, tolerated)| Step::Claim { number, pods, tolerated }),
        1 => (0..4u8).prop_map(Step::NoClaim),
        1 => any::<bool>().prop_map(|on| Step::Rule { on }),
    ];
    proptest::collection::vec(step, 1..40)
}

proptest! {
    /// The number in a rule's condition is kept up to date; upstream counts anew each time.
    #[test]
    fn pods_that_have_to_go_are_counted_as_a_walk_over_all_counts_them(steps in steps()) {
        let environment = Environment::default();
        let release = Release::of(&environment);
        let mut cluster = ClusterBuilder::default().build(environment).0;
        let mut controller = TaintEviction::start(&cluster, release, now());
        for step in steps {
            let change = step.change();
            // A pod that is being deleted stays so.
            if let Change::Put(Object::Pod(pod)) = &change
                && !pod.metadata.is_deleting()
                && cluster.pod(&pod.key()).is_some_and(|known| known.metadata.is_deleting())
            {
                continue;
            }
            let after = match &change {
                Change::Put(object) => Some(object.clone()),
                Change::Delete(..) => None,
            };
            let before = cluster.apply(change);
            if before.is_some() || after.is_some() {
                controller.note_change(&cluster, &Observed { before, after }, now());
            }
            if let Some(rule) = cluster.rules().next() {
                let (kept, walked) = (controller.count_pending(&cluster, rule), count(&cluster, rule, release));
                prop_assert_eq!((kept.pods, kept.namespaces), (walked.pods, walked.namespaces), "{:?}", step);
            }
        }
    }
}
