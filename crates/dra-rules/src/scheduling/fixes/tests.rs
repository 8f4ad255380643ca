//! The size of what is found, against trying everything.

use std::cell::Cell;
use std::io::Write;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::*;
use crate::scheduling::{Scheduler, Start, Verdict, in_order};
use dra_allocator::{Budget, Limits};
use dra_model::{Cluster, ClusterBuilder, Environment, Key, Kind, Object, Pod, PoolId, Str, Time};
use dra_testing::effort::by_effort;

/// A device of a random cluster.
#[derive(Clone, Debug)]
struct Device {
    large: bool,
    fast: bool,
    taint: Option<bool>,
    /// In GiB.
    memory: u32,
    /// Claim with the device.
    holder: Option<usize>,
}

/// A random node with its devices.
#[derive(Clone, Debug)]
struct Machine {
    devices: Vec<Device>,
    cordoned: bool,
    tainted: bool,
}

/// A random cluster with a pod that may not fit.
#[derive(Clone, Debug)]
struct World {
    nodes: Vec<Machine>,
    count: i64,
    memory: Option<u32>,
    /// The node that the pod's selector names.
    node: Option<usize>,
    wants_large: bool,
    wants_fast: bool,
    same_speed: bool,
    tolerates: bool,
    rule: bool,
}

const MEMORIES: [u32; 3] = [20, 40, 80];

fn worlds() -> impl Strategy<Value = World> {
    let device = (
        any::<bool>(),
        any::<bool>(),
        proptest::option::weighted(0.3, any::<bool>()),
        proptest::sample::select(&MEMORIES[..]),
        proptest::option::weighted(0.5, 0..3_usize),
    )
        .prop_map(|(large, fast, taint, memory, holder)| Device {
            large,
            fast,
            taint,
            memory,
            holder,
        });
    let machine = (
        proptest::collection::vec(device, 1..4),
        proptest::bool::weighted(0.15),
        proptest::bool::weighted(0.15),
    )
        .prop_map(|(devices, cordoned, tainted)| Machine {
            devices,
            cordoned,
            tainted,
        });
    let wanted = (
        1..4_i64,
        proptest::option::weighted(0.3, proptest::sample::select(&MEMORIES[..])),
        proptest::option::weighted(0.3, 0..3_usize),
    );
    let choices = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    );
    (proptest::collection::vec(machine, 1..3), wanted, choices).prop_map(
        |(nodes, (count, memory, node), (wants_large, wants_fast, same_speed, tolerates, rule))| World {
            nodes,
            count,
            memory,
            node,
            wants_large,
            wants_fast,
            same_speed,
            tolerates,
            rule,
        },
    )
}

const KEYS: [&str; 2] = ["broken", "hot"];

impl World {
    fn cluster(&self) -> Cluster {
        let mut objects: Vec<(Kind, Value)> =
            vec![(Kind::DeviceClass, json!({ "metadata": { "name": "gpu" } }))];
        // What a claim holds is all on one node: a claim per node and holder.
        for (number, machine) in self.nodes.iter().enumerate() {
            let node = format!("node-{number}");
            let devices = &machine.devices;
            let mut taints = Vec::new();
            if machine.tainted {
                taints.push(json!({ "key": "reserved", "effect": "NoSchedule" }));
            }
            if machine.cordoned {
                // As the node controller adds it.
                taints.push(json!({ "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule" }));
            }
            objects.push((
                Kind::Node,
                json!({ "metadata": { "name": node, "labels": { "name": node } },
                    "spec": { "unschedulable": machine.cordoned, "taints": taints },
                    "status": { "allocatable": { "pods": "110" } } }),
            ));
            let devices_json: Vec<Value> = devices
                .iter()
                .enumerate()
                .map(|(place, device)| {
                    let taint = device.taint.map(|hot| json!([{ "key": KEYS[usize::from(hot)], "effect": "NoSchedule" }]));
                    json!({ "name": format!("gpu-{place}"), "taints": taint,
                        "capacity": { "memory": { "value": format!("{}Gi", device.memory) } },
                        "attributes": { "large": { "bool": device.large }, "fast": { "bool": device.fast } } })
                })
                .collect();
            objects.push((
                Kind::ResourceSlice,
                json!({ "metadata": { "name": node }, "spec": { "driver": "d", "nodeName": node, "devices": devices_json,
                    "pool": { "name": node, "generation": 1, "resourceSliceCount": 1 } } }),
            ));
            for holder in 0..3 {
                let held = devices
                    .iter()
                    .enumerate()
                    .filter(|(_, device)| device.holder == Some(holder));
                let results: Vec<Value> = held
                    .map(|(place, _)| json!({ "request": "r", "driver": "d", "pool": node, "device": format!("gpu-{place}") }))
                    .collect();
                if !results.is_empty() {
                    objects.push((
                        Kind::ResourceClaim,
                        json!({ "metadata": { "namespace": "n", "name": format!("{node}-{holder}") },
                            "status": { "allocation": { "devices": { "results": results } } } }),
                    ));
                }
            }
        }
        if self.rule {
            objects.push((
                Kind::DeviceTaintRule,
                json!({ "metadata": { "name": "drain" }, "spec": { "deviceSelector": { "pool": "node-0" },
                    "taint": { "key": "drain", "effect": "NoExecute" } } }),
            ));
        }
        objects.push((Kind::ResourceClaim, self.claim()));
        let selector = self
            .node
            .map(|number| json!({ "name": format!("node-{number}") }));
        objects.push((
            Kind::Pod,
            json!({ "metadata": { "namespace": "n", "name": "pod", "uid": "pod" },
                "spec": { "containers": [{ "name": "main" }], "nodeSelector": selector,
                    "resourceClaims": [{ "name": "gpu", "resourceClaimName": "wanted" }] } }),
        ));
        let mut builder = ClusterBuilder::default();
        for (kind, object) in &objects {
            builder.add(Object::from_json(*kind, object.to_string().as_bytes()).unwrap());
        }
        builder.build(Environment::default()).0
    }

    fn expression(&self) -> Option<String> {
        let mut terms = Vec::new();
        if self.wants_large {
            terms.push("device.attributes['d'].large");
        }
        if self.wants_fast {
            terms.push("device.attributes['d'].fast");
        }
        (!terms.is_empty()).then(|| terms.join(" && "))
    }

    fn claim(&self) -> Value {
        let selectors: Vec<Value> = self
            .expression()
            .iter()
            .map(|expression| json!({ "cel": { "expression": expression } }))
            .collect();
        let tolerations = if self.tolerates {
            json!([{ "key": "hot", "operator": "Exists" }])
        } else {
            json!([])
        };
        let constraints = if self.same_speed {
            json!([{ "matchAttribute": "d/fast" }])
        } else {
            json!([])
        };
        let capacity = self
            .memory
            .map(|memory| json!({ "requests": { "memory": format!("{memory}Gi") } }));
        json!({ "metadata": { "namespace": "n", "name": "wanted" }, "spec": { "devices": { "constraints": constraints,
            "requests": [{ "name": "r", "exactly": { "deviceClassName": "gpu", "count": self.count,
                "selectors": selectors, "tolerations": tolerations, "capacity": capacity } }] } } })
    }

    /// Every change that anybody could make, as long as it changes anything.
    fn changes(&self, cluster: &Cluster) -> Vec<Fix> {
        let claim = wanted();
        let request = Str::from("r");
        let mut all = Vec::new();
        for found in cluster.claims().filter(|found| found.metadata.name != "wanted") {
            all.push(Fix::Release {
                claim: found.key(),
                in_use: false,
            });
        }
        let mut taints: Vec<(&str, &str)> = Vec::new();
        for (number, machine) in self.nodes.iter().enumerate() {
            for (hot, key) in KEYS.into_iter().enumerate() {
                let is_tainted = |device: &Device| device.taint == Some(hot == 1);
                if !machine.devices.iter().any(is_tainted) {
                    continue;
                }
                taints.push((key, "NoSchedule"));
                all.push(Fix::LiftTaint {
                    pool: PoolId {
                        driver: "d".into(),
                        pool: format!("node-{number}").into(),
                    },
                    key: key.into(),
                    effect: "NoSchedule".into(),
                });
            }
        }
        if self.rule {
            taints.push(("drain", "NoExecute"));
            all.push(Fix::DeleteRule { rule: "drain".into() });
        }
        taints.sort_unstable();
        taints.dedup();
        for (key, effect) in taints {
            let spec = cluster.claim(&claim).and_then(|claim| claim.asked_for(&request));
            all.push(Fix::Tolerate {
                claim: claim.clone(),
                request: request.clone(),
                key: key.into(),
                value: Str::default(),
                effect: effect.into(),
                other: spec
                    .filter(|spec| spec.tolerations.iter().any(|known| known.key == *key))
                    .map(|_| OtherToleration::OfRequest),
            });
        }
        self.changes_of_nodes(&mut all);
        self.changes_of_claim(&mut all);
        all
    }

    fn changes_of_nodes(&self, all: &mut Vec<Fix>) {
        let tolerate = |key: &str| Fix::TolerateNode {
            key: key.into(),
            value: Str::default(),
            effect: "NoSchedule".into(),
            has_other: false,
            is_reserved: true,
        };
        for (number, machine) in self.nodes.iter().enumerate() {
            let node = Str::from(format!("node-{number}"));
            if machine.cordoned {
                all.push(Fix::Uncordon { node: node.clone() });
            }
            if machine.tainted {
                all.push(Fix::LiftNodeTaint {
                    node,
                    key: "reserved".into(),
                    effect: "NoSchedule".into(),
                });
            }
        }
        if self.nodes.iter().any(|machine| machine.cordoned) {
            all.push(tolerate("node.kubernetes.io/unschedulable"));
        }
        if self.nodes.iter().any(|machine| machine.tainted) {
            all.push(tolerate("reserved"));
        }
        if self.node.is_some() {
            all.push(Fix::DropNodeLabel { key: "name".into() });
        }
    }

    fn changes_of_claim(&self, all: &mut Vec<Fix>) {
        let claim = wanted();
        let request = Str::from("r");
        let is_less = |memory: &u32| self.memory.is_some_and(|wanted| *memory < wanted);
        for memory in MEMORIES.into_iter().filter(is_less) {
            all.push(Fix::LessCapacity {
                claim: claim.clone(),
                request: request.clone(),
                capacity: "memory".into(),
                amount: format!("{memory}Gi").parse().unwrap(),
            });
        }
        for count in 1..self.count {
            all.push(Fix::Fewer {
                claim: claim.clone(),
                request: request.clone(),
                count,
            });
        }
        for place in 0..usize::from(self.wants_large) + usize::from(self.wants_fast) {
            all.push(Fix::DropTerm {
                claim: claim.clone(),
                request: request.clone(),
                selector: 0,
                place,
                term: String::new(),
            });
        }
        if self.same_speed {
            all.push(Fix::DropConstraint {
                claim,
                place: 0,
                attribute: "d/fast".into(),
                instead: None,
            });
        }
    }
}

fn wanted() -> Key {
    Key::new("n", "wanted")
}

fn now() -> Time {
    Time::from_unix_seconds(0)
}

fn pod(cluster: &Cluster) -> Arc<Pod> {
    Arc::clone(cluster.pod(&Key::new("n", "pod")).unwrap())
}

fn fits(base: &Scheduler, changes: &[&Fix]) -> bool {
    let mut cluster = base.cluster().clone();
    let mut pod = Some(pod(&cluster));
    Fix::apply_all(changes.iter().copied(), &mut cluster, &mut pod);
    let scheduler = base.fork(&cluster);
    let pod = pod.unwrap();
    let Start::Cycle(cycle) = scheduler.pod(&pod) else {
        return false;
    };
    let verdicts: Vec<Verdict> = cluster
        .nodes()
        .map(|node| cycle.judge(node, Limits::default(), &()).verdict)
        .collect();
    verdicts.iter().any(Verdict::fits)
        && !verdicts
            .iter()
            .any(|verdict| matches!(verdict, Verdict::Error(_)))
}

static ENOUGH: Budget = Budget::new(u64::MAX);

fn effort() -> Effort<'static> {
    Effort {
        trials: 1_000_000,
        most_changes: 2,
        most_found: 4,
        fails: false,
        budget: &ENOUGH,
        observer: &(),
        run: &in_order,
    }
}

/// The size of the smallest set of at most two of all changes, found by trying each.
fn best(base: &Scheduler, changes: &[Fix]) -> Option<usize> {
    if changes.iter().any(|change| fits(base, &[change])) {
        return Some(1);
    }
    let mut pairs = changes
        .iter()
        .enumerate()
        .flat_map(|(place, first)| changes[place + 1..].iter().map(move |second| [first, second]));
    pairs.any(|pair| fits(base, &pair)).then_some(2)
}

fn check(world: &World, base: &Scheduler) -> Result<Option<usize>, TestCaseError> {
    let best = best(base, &world.changes(base.cluster()));
    let found = smallest(base, &Subject::Pod(pod(base.cluster())), &effort());
    let proven: Vec<_> = found.found.iter().filter(|found| found.smallest).collect();
    prop_assert_eq!(
        proven.first().map(|found| found.changes.len()),
        best,
        "{:?}",
        found
    );
    for found in proven {
        // Every reported set helps, and no part of it does.
        let all: Vec<&Fix> = found.changes.iter().collect();
        prop_assert!(fits(base, &all), "{:?}", found);
        for left_out in 0..all.len() {
            let mut part = all.clone();
            part.remove(left_out);
            prop_assert!(!fits(base, &part), "{:?} without {left_out}", found);
        }
    }
    Ok(best)
}

#[test]
fn nothing_smaller_would_do() {
    // In which the pod does not fit.
    let cases = by_effort(200, 1_000, 10_000);
    let config = ProptestConfig {
        cases,
        max_global_rejects: 10 * cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let [fitting, one, two, none] = [const { Cell::new(0_u32) }; 4];
    let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    let result = TestRunner::new(config).run(&worlds(), |world| {
        let base = Scheduler::new(&world.cluster(), now());
        if fits(&base, &[]) {
            count(&fitting);
            return Err(TestCaseError::reject("nothing has to be changed"));
        }
        count(match check(&world, &base)? {
            Some(1) => &one,
            Some(_) => &two,
            None => &none,
        });
        Ok(())
    });
    let _ = writeln!(
        std::io::stderr(),
        "{} pods that fit anyhow; of {cases} that do not: {} need one change, {} two, {} more",
        fitting.get(),
        one.get(),
        two.get(),
        none.get()
    );
    if let Err(why) = result {
        panic!("{why}");
    }
    // A generator that shows too little of something proves nothing of it.
    assert!(
        [&one, &two, &none]
            .into_iter()
            .all(|cell| cell.get() >= cases / 20)
    );
}

#[test]
fn a_cordoned_node_takes_one_command() {
    let device = Device {
        large: true,
        fast: true,
        taint: None,
        memory: 80,
        holder: None,
    };
    let machine = Machine {
        devices: vec![device],
        cordoned: true,
        tainted: false,
    };
    let world = World {
        nodes: vec![machine],
        count: 1,
        memory: None,
        node: None,
        wants_large: false,
        wants_fast: false,
        same_speed: false,
        tolerates: false,
        rule: false,
    };
    let cluster = world.cluster();
    let found = smallest(
        &Scheduler::new(&cluster, now()),
        &Subject::Pod(pod(&cluster)),
        &effort(),
    );
    let sets: Vec<&[Fix]> = found.found.iter().map(|found| &*found.changes).collect();
    let uncordon = Fix::Uncordon {
        node: "node-0".into(),
    };
    assert_eq!(sets, [&[uncordon]]);
}

/// Dropping some of several terms and constraints keeps the others, in whatever order the changes are listed.
#[test]
fn changes_that_count_places_do_not_move_each_other() {
    let mut builder = ClusterBuilder::default();
    let constraint = |attribute: &str| json!({ "matchAttribute": attribute });
    let claim = json!({
        "metadata": { "name": "wanted", "namespace": "default", "uid": "u" },
        "spec": { "devices": {
            "requests": [{ "name": "gpu", "exactly": {
                "deviceClassName": "gpu",
                "selectors": [{ "cel": { "expression": "1 == 1 && 2 == 2 && 3 == 3" } },
                              { "cel": { "expression": "4 == 4" } },
                              { "cel": { "expression": "5 == 5" } }],
            } }],
            "constraints": [constraint("d/a"), constraint("d/b"), constraint("d/c")],
        } },
    });
    builder.add(Object::from_json(Kind::ResourceClaim, claim.to_string().as_bytes()).unwrap());
    let cluster = builder.build(Environment::default()).0;
    let claim = Key::new("default", "wanted");
    let term = |selector: usize, place: usize| Fix::DropTerm {
        claim: claim.clone(),
        request: "gpu".into(),
        selector,
        place,
        term: String::new(),
    };
    let constraint = |place: usize| Fix::DropConstraint {
        claim: claim.clone(),
        place,
        attribute: "d/a".into(),
        instead: None,
    };
    let mut fixes = [term(0, 0), term(0, 1), term(1, 0), constraint(0), constraint(1)];
    for _ in 0..2 {
        let edited = Edited::by(&cluster, None, &fixes);
        let devices = &edited.claim(&claim).unwrap().devices;
        let left: Vec<_> = devices
            .constraints
            .iter()
            .map(|left| &left.match_attribute)
            .collect();
        assert_eq!(left, [&Some("d/c".into())]);
        let selectors = &devices.requests[0].exactly.as_ref().unwrap().selectors;
        let left: Vec<&str> = selectors
            .iter()
            .filter_map(|selector| selector.cel.as_ref())
            .map(|cel| &*cel.expression)
            .collect();
        assert_eq!(left, ["3 == 3", "5 == 5"]);
        fixes.reverse();
    }
}
