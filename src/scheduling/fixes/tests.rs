//! The size of what is found, against trying everything.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::allocator::Limits;
use crate::model::{Cluster, ClusterBuilder, Environment, Key, Kind, Object, PoolId, Str, Time};
use crate::scheduling::{Scheduler, Start, Verdict, in_order};

/// A device of a random cluster.
#[derive(Clone, Debug)]
struct Device {
    large: bool,
    fast: bool,
    taint: Option<bool>,
    /// Which claim holds it.
    holder: Option<usize>,
}

/// A random cluster with a claim that may not fit.
#[derive(Clone, Debug)]
struct World {
    nodes: Vec<Vec<Device>>,
    count: i64,
    wants_large: bool,
    wants_fast: bool,
    same_speed: bool,
    tolerates: bool,
    rule: bool,
}

fn worlds() -> impl Strategy<Value = World> {
    let device = (
        any::<bool>(),
        any::<bool>(),
        proptest::option::weighted(0.3, any::<bool>()),
        proptest::option::weighted(0.5, 0..3_usize),
    )
        .prop_map(|(large, fast, taint, holder)| Device {
            large,
            fast,
            taint,
            holder,
        });
    let nodes = proptest::collection::vec(proptest::collection::vec(device, 1..4), 1..3);
    (
        nodes,
        1..4_i64,
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(nodes, count, wants_large, wants_fast, same_speed, tolerates, rule)| World {
                nodes,
                count,
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
        for (number, devices) in self.nodes.iter().enumerate() {
            let node = format!("node-{number}");
            objects.push((Kind::Node, json!({ "metadata": { "name": node } })));
            let devices_json: Vec<Value> = devices
                .iter()
                .enumerate()
                .map(|(place, device)| {
                    let taint = device.taint.map(|hot| json!([{ "key": KEYS[usize::from(hot)], "effect": "NoSchedule" }]));
                    json!({ "name": format!("gpu-{place}"), "taints": taint,
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
        json!({ "metadata": { "namespace": "n", "name": "wanted" }, "spec": { "devices": { "constraints": constraints,
            "requests": [{ "name": "r", "exactly": { "deviceClassName": "gpu", "count": self.count,
                "selectors": selectors, "tolerations": tolerations } }] } } })
    }

    /// Every change that anybody could make.
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
        for (key, effect) in [
            ("broken", "NoSchedule"),
            ("hot", "NoSchedule"),
            ("drain", "NoExecute"),
        ] {
            all.push(Fix::Tolerate {
                claim: claim.clone(),
                request: request.clone(),
                key: key.into(),
                effect: effect.into(),
            });
            for number in 0..self.nodes.len() {
                all.push(Fix::LiftTaint {
                    pool: PoolId {
                        driver: "d".into(),
                        pool: format!("node-{number}").into(),
                    },
                    key: key.into(),
                    effect: effect.into(),
                });
            }
        }
        all.push(Fix::DeleteRule { rule: "drain".into() });
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
            });
        }
        all
    }
}

fn wanted() -> Key {
    Key::new("n", "wanted")
}

fn now() -> Time {
    Time::from_unix_seconds(0)
}

fn fits(cluster: &Cluster, changes: &[&Fix]) -> bool {
    let mut cluster = cluster.clone();
    // Terms are counted in the selector as it is.
    let mut ordered = changes.to_vec();
    ordered.sort_by(|a, b| b.cmp(a));
    for change in ordered {
        change.apply(&mut cluster, &mut None);
    }
    let scheduler = Scheduler::new(&cluster, now());
    let claim = cluster.claim(&wanted()).unwrap().clone();
    let Start::Cycle(cycle) = scheduler.claims(&[claim]) else {
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

fn effort() -> Effort<'static> {
    Effort {
        now: now(),
        trials: 1_000_000,
        most_changes: 2,
        most_found: 4,
        limits: Limits::default(),
        observer: &(),
        run: &in_order,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_smaller_would_do(world in worlds()) {
        let cluster = world.cluster();
        if fits(&cluster, &[]) {
            return Ok(());
        }
        let changes = world.changes(&cluster);
        let one = changes.iter().any(|change| fits(&cluster, &[change]));
        let two = || changes.iter().enumerate().any(|(place, first)| {
            changes[place + 1..].iter().any(|second| fits(&cluster, &[first, second]))
        });
        let best = if one { Some(1) } else if two() { Some(2) } else { None };
        let found = smallest(&cluster, &Subject::Claims(vec![wanted()]), &effort());
        let proven: Vec<_> = found.found.iter().filter(|found| found.smallest).collect();
        prop_assert_eq!(proven.first().map(|found| found.changes.len()), best, "{:?}", found);
        for found in proven {
            // What is told does help, and no part of it does.
            let all: Vec<&Fix> = found.changes.iter().collect();
            prop_assert!(fits(&cluster, &all), "{:?}", found);
            for left_out in 0..all.len() {
                let mut part = all.clone();
                part.remove(left_out);
                prop_assert!(!fits(&cluster, &part), "{:?} without {left_out}", found);
            }
        }
    }
}
