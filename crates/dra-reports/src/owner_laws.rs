//! A law about what is said to help a pod, over made-up clusters with owners: what is said to be proven is carried out with the controllers
//! of the owners, and the pod runs then, without the end of what has its own owner; what is said never to come by waiting does not come.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::allocation::Settings;
use crate::explanation::{ClusterVerdict, Explanation, Helps, explain_pod};
use dra_allocator::Budget;
use dra_model::{Change, Cluster, Key, Kind, Object, Owners, Pod, Str};
use dra_rules::owners::{Kinship, Lineage};
use dra_rules::scheduling::{Scheduler, Start, Verdict, judge_all, place, remove_pod};
use dra_testing::effort::by_effort;
use dra_testing::{Dice, World, holding, now};

/// Rounds of all controllers after which nothing changes any more.
const ROUNDS: usize = 40;

/// The Deployment whose pod is explained.
struct Deployment {
    replicas: usize,
    strategy: Value,
    surge: usize,
    unavailable: usize,
}

fn deployment(dice: &mut Dice) -> Deployment {
    let replicas = 1 + dice.below(4);
    if dice.one_in(6) {
        let strategy = json!({"type": "Recreate"});
        return Deployment {
            replicas,
            strategy,
            surge: 0,
            unavailable: replicas,
        };
    }
    // As numbers, or as percentages: one is rounded up, the other down.
    let (surge, unavailable, written) = match dice.below(4) {
        0 => (1, 0, json!({"maxSurge": 1, "maxUnavailable": 0})),
        1 => (0, 1, json!({"maxSurge": 0, "maxUnavailable": 1})),
        2 => (
            replicas.div_ceil(2),
            replicas / 2,
            json!({"maxSurge": "50%", "maxUnavailable": "50%"}),
        ),
        _ => (replicas.div_ceil(4), replicas / 4, Value::Null),
    };
    Deployment {
        replicas,
        strategy: json!({"type": "RollingUpdate", "rollingUpdate": written}),
        surge,
        unavailable,
    }
}

fn owner(version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": version, "kind": kind, "name": name, "uid": format!("{name}-uid"), "controller": true})
}

/// Adds a pod with a claim for so many devices, which it holds where it has a node.
fn pod(
    world: World,
    name: &str,
    owner: Option<Value>,
    wants: usize,
    holds: &[String],
    is_ready: bool,
) -> World {
    let mut metadata = json!({"namespace": "n", "name": name, "uid": format!("{name}-uid")});
    metadata["ownerReferences"] = owner.map_or(json!([]), |owner| json!([owner]));
    let mut spec = json!({"resourceClaims": [{"name": "c", "resourceClaimName": format!("{name}-c")}], "containers": [{"name": "main"}]});
    let mut status = json!({"phase": "Pending"});
    let mut of_claim = json!({});
    if !holds.is_empty() {
        spec["nodeName"] = json!("node-1");
        let ready = if is_ready { "True" } else { "False" };
        status = json!({"phase": if is_ready { "Running" } else { "Pending" }, "conditions": [{"type": "Ready", "status": ready}]});
        let devices: Vec<&str> = holds.iter().map(String::as_str).collect();
        of_claim = holding(&devices, &[name]);
    }
    let request = json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d", "count": wants}}]}});
    world.claim(&format!("{name}-c"), &request, &of_claim).with(
        Kind::Pod,
        &json!({"metadata": metadata, "spec": spec, "status": status}),
    )
}

/// A cluster with pods of a Deployment in a rollout and of others. All hold devices of one node.
fn cluster(dice: &mut Dice) -> (Cluster, Deployment) {
    let deployment = deployment(dice);
    let devices = 1 + dice.below(6);
    let listed: Vec<Value> = (0..devices)
        .map(|number| json!({"name": format!("d{number}")}))
        .collect();
    let mut world = World::default()
        .class("d")
        .with(
            Kind::Node,
            &json!({"metadata": {"name": "node-1"}, "status": {"allocatable": {"pods": "110"}}}),
        )
        .slice("node-1", &json!(listed));
    let mut free: Vec<String> = (0..devices).map(|number| format!("d{number}")).collect();
    let mut take = |wants: usize| -> Vec<String> {
        if wants > free.len() {
            Vec::new()
        } else {
            free.drain(..wants).collect()
        }
    };
    let set = |name: &str| Some(owner("apps/v1", "ReplicaSet", name));
    let wants = 1 + dice.below(2);
    for number in 0..dice.below(deployment.replicas + 1) {
        let holds = take(wants);
        if !holds.is_empty() {
            world = pod(
                world,
                &format!("old-{number}"),
                set("web-old"),
                wants,
                &holds,
                !dice.one_in(5),
            );
        }
    }
    for number in 0..dice.below(4) {
        let owner = match dice.below(5) {
            0 => None,
            1 => Some(owner("batch/v1", "Job", "job")),
            2 => Some(owner("apps/v1", "StatefulSet", "db")),
            3 => set("other-rs"),
            _ => Some(owner("apps/v1", "DaemonSet", "agent")),
        };
        let wants = 1 + dice.below(2);
        let holds = take(wants);
        if !holds.is_empty() {
            world = pod(world, &format!("other-{number}"), owner, wants, &holds, true);
        }
    }
    for number in 0..dice.below(2) {
        let holds = take(wants);
        if !holds.is_empty() {
            world = pod(
                world,
                &format!("new-{number}"),
                set("web-new"),
                wants,
                &holds,
                dice.one_in(2),
            );
        }
    }
    world = pod(world, "subject", set("web-new"), wants, &[], false);
    let mut owners = Owners::default();
    let mut add = |version: &str, kind: &str, name: &str, above: Option<Value>, spec: Value| {
        let mut object =
            json!({"metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid")}, "spec": spec});
        if let Some(above) = above {
            object["metadata"]["ownerReferences"] = json!([above]);
        }
        owners.add(version, kind, object.to_string().as_bytes());
    };
    let web = || Some(owner("apps/v1", "Deployment", "web"));
    add(
        "apps/v1",
        "Deployment",
        "web",
        None,
        json!({"replicas": deployment.replicas, "strategy": deployment.strategy}),
    );
    for name in ["web-old", "web-new"] {
        add("apps/v1", "ReplicaSet", name, web(), json!({}));
    }
    add("apps/v1", "ReplicaSet", "other-rs", None, json!({}));
    for (version, kind, name) in [
        ("batch/v1", "Job", "job"),
        ("apps/v1", "StatefulSet", "db"),
        ("apps/v1", "DaemonSet", "agent"),
    ] {
        add(version, kind, name, None, json!({}));
    }
    let built = world
        .knowing(|environment| environment.owners = Arc::new(owners))
        .build();
    (built, deployment)
}

fn is_new(pod: &Pod) -> bool {
    pod.metadata
        .controller()
        .is_some_and(|owner| owner.name == "web-new")
}

fn is_old(pod: &Pod) -> bool {
    pod.metadata
        .controller()
        .is_some_and(|owner| owner.name == "web-old")
}

fn is_ready(pod: &Pod) -> bool {
    pod.status
        .conditions
        .iter()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

fn keys(cluster: &Cluster, is: impl Fn(&Pod) -> bool) -> Vec<Key> {
    cluster
        .pods()
        .filter(|pod| is(pod))
        .map(|pod| pod.key())
        .collect()
}

/// Gives the subject a node, if it fits.
fn schedule(cluster: &mut Cluster) -> bool {
    let key = Key::new("n", "subject");
    let pod = cluster.pod(&key).cloned().expect("it is there");
    if pod.node().is_some() {
        return true;
    }
    let scheduler = Scheduler::new(cluster, now());
    let Start::Cycle(cycle) = scheduler.pod(&pod) else {
        return false;
    };
    let nodes: Vec<_> = cluster.nodes().collect();
    let budget = Budget::new(1_000_000);
    let answers = judge_all(&cycle, &nodes, &budget, &(), &dra_rules::scheduling::in_order);
    let granted = answers
        .into_iter()
        .find_map(|(_, judgment)| match judgment.verdict {
            Verdict::Fits(granted) => Some(granted),
            _ => None,
        });
    let Some(granted) = granted else { return false };
    place(cluster, &pod, &Str::from("node-1"), &granted);
    true
}

/// Lets kubelet, scheduler and the controller of the Deployment run until nothing changes, and says whether the subject got its node. What
/// others hold they keep.
fn wait(cluster: &mut Cluster, of: &Deployment) -> bool {
    for _ in 0..ROUNDS {
        if schedule(cluster) {
            return true;
        }
        let starting = keys(cluster, |pod| {
            is_new(pod) && pod.node().is_some() && !is_ready(pod)
        });
        let new = keys(cluster, is_new).len() as i64;
        let old: Vec<(bool, Key)> = cluster
            .pods()
            .filter(|pod| is_old(pod))
            .map(|pod| (is_ready(pod), pod.key()))
            .collect();
        let is_recreate = of.strategy["type"] == "Recreate";
        let ready_new = keys(cluster, |pod| is_new(pod) && is_ready(pod)).len() as i64;
        let lowest = of.replicas as i64 - of.unavailable as i64;
        // As the controller of Deployments counts: no more than keeps enough of them, unready ones first.
        let mut may_end = if is_recreate {
            old.len() as i64
        } else {
            old.len() as i64 + new - lowest - (new - ready_new)
        };
        let mut available = ready_new + old.iter().filter(|(is_ready, _)| *is_ready).count() as i64;
        let mut ended = 0;
        let mut sorted = old.clone();
        sorted.sort();
        for (is_ready, key) in sorted {
            let may_lose = !is_ready || is_recreate || available > lowest;
            if may_end > 0 && may_lose {
                remove_pod(cluster, &key);
                remove_claim(cluster, &key);
                may_end -= 1;
                available -= i64::from(is_ready);
                ended += 1;
            }
        }
        for key in &starting {
            let mut pod = Pod::clone(cluster.pod(key).expect("it is there"));
            let ready: dra_model::Condition =
                serde_json::from_value(json!({"type": "Ready", "status": "True"})).unwrap();
            pod.status.conditions = vec![ready];
            pod.status.phase = "Running".into();
            cluster.apply(Change::Put(Object::Pod(Arc::new(pod))));
        }
        if ended == 0 && starting.is_empty() {
            return false;
        }
    }
    panic!("the rollout does not end: surge {}", of.surge);
}

/// The claims of these tests are named by their pods only.
fn remove_claim(cluster: &mut Cluster, pod: &Key) {
    let claim = Key::new(pod.namespace.clone(), format!("{}-c", pod.name));
    cluster.apply(Change::Delete(Kind::ResourceClaim, claim));
}

/// What was met: proven changes of a strategy, proven ends of pods, pods that are kept, and rollouts that end pods.
#[derive(Default)]
struct Met {
    changed: Cell<usize>,
    one_by_one: Cell<usize>,
    ended: Cell<usize>,
    kept: Cell<usize>,
    rolled: Cell<usize>,
}

fn count(met: &Cell<usize>) {
    met.set(met.get() + 1);
}

fn holds(dice: &mut Dice, met: &Met) -> Result<(), TestCaseError> {
    let (cluster, deployment) = cluster(dice);
    let key = Key::new("n", "subject");
    let subject = cluster.pod(&key).cloned().expect("it is there");
    let budget = Budget::new(1_000_000);
    let report = Explanation::from(explain_pod(&cluster, &subject, &Settings::of_test(&budget)));
    if report.verdict != ClusterVerdict::DoesNotFit {
        return Ok(());
    }
    let told = || format!("{:?}\n{:#?}", report.waiting, cluster.pods().collect::<Vec<_>>());
    let lineage = Lineage::of_pod(&cluster, &subject);
    let is_kin = |pod: &Pod| lineage.kinship(&Lineage::of_pod(&cluster, pod)) != Kinship::Different;
    for fix in report.fixes.iter().filter(|fix| fix.proven) {
        let mut world = cluster.clone();
        match fix.kind {
            "ChangeStrategy" => {
                let command = fix.command.as_ref().expect("a patch").to_string();
                let one_by_one = command.contains("maxSurge");
                let replicas = deployment.replicas;
                let (strategy, unavailable) = if one_by_one {
                    (json!({"type": "RollingUpdate"}), 1)
                } else {
                    (json!({"type": "Recreate"}), replicas)
                };
                let changed = Deployment {
                    replicas,
                    strategy,
                    surge: 0,
                    unavailable,
                };
                count(if one_by_one { &met.one_by_one } else { &met.changed });
                prop_assert!(wait(&mut world, &changed), "{} {}", fix.message, told());
            }
            "ReleaseClaim" => {
                count(&met.ended);
                let claim = fix.target.strip_prefix("claim/n/").expect("a claim");
                let victim = Key::new("n", claim.strip_suffix("-c").expect("of a pod"));
                let pod = world.pod(&victim).cloned().expect("it is there");
                prop_assert!(!is_kin(&pod), "{} {}", fix.message, told());
                remove_pod(&mut world, &victim);
                remove_claim(&mut world, &victim);
                prop_assert!(schedule(&mut world), "{} {}", fix.message, told());
            }
            _ => {}
        }
    }
    if let Some(waiting) = &report.waiting {
        let mut world = cluster.clone();
        let named: BTreeSet<&str> = waiting.consumers.iter().map(String::as_str).collect();
        let mut named = cluster
            .pods()
            .filter(|pod| named.contains(format!("pod/{}", pod.key()).as_str()));
        match waiting.helps {
            Helps::Never | Helps::Kept => {
                count(&met.kept);
                prop_assert!(!wait(&mut world, &deployment), "{}", told());
            }
            Helps::WhenOneEnds | Helps::WhenEnd if named.any(|pod| is_kin(pod)) => {
                count(&met.rolled);
                prop_assert!(wait(&mut world, &deployment), "{}", told());
            }
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn what_is_proven_holds_with_the_owners_at_work() {
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(by_effort(150, 2_000, 10_000)));
    let bytes = prop::collection::vec(any::<u8>(), 64);
    let met = Met::default();
    runner
        .run(&bytes, |bytes| holds(&mut Dice::of_bytes(bytes), &met))
        .unwrap_or_else(|error| panic!("{error}"));
    let all = [&met.changed, &met.one_by_one, &met.ended, &met.kept, &met.rolled].map(Cell::get);
    assert!(all.iter().all(|times| *times > 0), "{all:?}");
}
