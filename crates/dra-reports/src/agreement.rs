//! What reports say of a device is what an allocation would do with it, in made-up clusters that mix all features.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::allocation::Settings;
use super::explanation::{ClusterVerdict, explain_claims};
use super::findings::{CheckRequest, Code, check};
use super::{DeviceFilter, DeviceItem, Selection, UsageBy, describe, devices, status};
use dra_allocator::devices::{ClassSelectors, DeviceState, Features, Unavailable};
use dra_allocator::{Budget, Inputs, Limits, Outcome};
use dra_model::{Claim, Cluster, Component, Evidence, Gate, GateState, Kind};
use dra_rules::scheduling::in_order;
use dra_testing::effort::by_effort;
use dra_testing::{Dice, World, now};

const NODES: [&str; 2] = ["node-1", "node-2"];

/// A device that a selector can tell from all others by its attribute `id`.
fn device(dice: &mut Dice, name: &str, id: usize, is_of_one_node: bool) -> Value {
    let mut device = json!({"name": name, "attributes": {"id": {"int": id}}});
    if !is_of_one_node {
        match dice.below(4) {
            0 => device["allNodes"] = json!(true),
            1 => device["nodeName"] = json!("node-1"),
            2 => device["nodeSelector"] = selector(dice),
            _ => {}
        }
    }
    if dice.one_in(3) {
        let amount = (1 + dice.below(3)).to_string();
        let name = dice.of(&["a", "a", "b", "missing"]);
        let mut draws =
            json!({"counterSet": dice.of(&["s", "s", "t"]), "counters": {name: {"value": amount}}});
        if dice.one_in(4) {
            draws["compatibilityGroups"] = json!([dice.of(&["x", "y"])]);
        }
        device["consumesCounters"] = json!([draws]);
    }
    if dice.one_in(4) {
        device["allowMultipleAllocations"] = json!(true);
        device["capacity"] = json!({"memory": {"value": "4"}});
    }
    if dice.one_in(5) {
        device["taints"] =
            json!([{"key": "own", "effect": dice.of(&["NoSchedule", "NoExecute", "None", "Later"])}]);
    }
    if dice.one_in(6) {
        device["bindingConditions"] = json!(["ready"]);
        device["bindingFailureConditions"] = json!(["failed"]);
    }
    device
}

fn selector(dice: &mut Dice) -> Value {
    let zone = json!({"key": "zone", "operator": "In", "values": [dice.of(&["a", "b", "c"])]});
    json!({"nodeSelectorTerms": [{"matchExpressions": [zone]}]})
}

/// A cluster with random devices, slices, taint rules and allocations, and nothing known of gates.
pub(crate) fn world(dice: &mut Dice) -> World {
    let mut world = World::default().class_with("all", &json!([]));
    for (node, zone) in NODES.iter().zip(["a", "b"]) {
        world = world.node(node, &json!({"zone": zone}));
    }
    let mut ids = 0;
    for pool in ["p", "q"] {
        let slices = 1 + dice.below(2);
        let has_counters = dice.one_in(2);
        let published = slices + usize::from(has_counters);
        let expected = if dice.one_in(6) { published + 1 } else { published };
        let reach = match dice.below(4) {
            0 => json!({"nodeName": NODES[dice.below(2)]}),
            1 => json!({"allNodes": true}),
            2 => json!({"nodeSelector": selector(dice)}),
            _ => json!({"perDeviceNodeSelection": true}),
        };
        let add = |world: World, name: String, generation: usize, more: &Value| {
            let mut spec = json!({
                "driver": "d", "pool": {"name": pool, "generation": generation, "resourceSliceCount": expected},
            });
            for part in [&reach, more] {
                for (key, value) in part.as_object().unwrap() {
                    spec[key] = value.clone();
                }
            }
            let slice = json!({"metadata": {"name": name}, "spec": spec});
            world.with(Kind::ResourceSlice, &slice)
        };
        for slice in 0..slices {
            let mut list = Vec::new();
            for number in 0..dice.below(4) {
                let name = if dice.one_in(12) {
                    "twice".to_owned()
                } else {
                    format!("{pool}{slice}{number}")
                };
                list.push(device(
                    dice,
                    &name,
                    ids,
                    reach.get("perDeviceNodeSelection").is_none(),
                ));
                ids += 1;
            }
            let generation = if dice.one_in(10) { 1 } else { 2 };
            world = add(
                world,
                format!("{pool}-{slice}"),
                generation,
                &json!({"devices": list}),
            );
        }
        if has_counters {
            let sets = json!([{"name": "s", "counters": {"a": {"value": "3"}, "b": {"value": "2"}}}]);
            world = add(
                world,
                format!("{pool}-counters"),
                2,
                &json!({"sharedCounters": sets}),
            );
        }
    }
    for number in 0..dice.below(4) {
        let pool = dice.of(&["p", "q"]);
        let device = format!("{pool}{}{}", dice.below(2), dice.below(3));
        let mut result = json!({"request": "r", "driver": "d", "pool": pool, "device": device});
        match dice.below(4) {
            0 => result["adminAccess"] = json!(true),
            1 => {
                result["shareID"] = json!(format!("share-{number}"));
                result["consumedCapacity"] = json!({"memory": "1"});
            }
            _ => {}
        }
        let held = json!({"allocation": {"devices": {"results": [result]}}});
        world = world.claim(&format!("held-{number}"), &json!({}), &held);
    }
    for number in 0..dice.below(3) {
        let selector = match dice.below(4) {
            0 => json!({"driver": "d", "pool": "p"}),
            1 => json!({"pool": "q", "device": "q00"}),
            2 => json!({"device": "p01"}),
            _ => Value::Null,
        };
        let effect = dice.of(&["NoSchedule", "NoExecute", "None"]);
        world = world.rule(&format!("r{number}"), &selector, effect);
    }
    world
}

/// The same with random gates.
fn cluster(dice: &mut Dice) -> Cluster {
    let mut world = world(dice);
    let gates = [
        Gate::DRADeviceTaints,
        Gate::DRAPartitionableDevices,
        Gate::DRADeviceCompatibilityGroups,
        Gate::DRADeviceBindingConditions,
        Gate::DRAResourceClaimDeviceStatus,
        Gate::DRAConsumableCapacity,
    ];
    for gate in gates {
        let state = GateState {
            enabled: !dice.one_in(4),
            evidence: Evidence::Flag,
        };
        world = world.knowing(|known| known.gates.push((Component::Scheduler, gate, state)));
    }
    world.build()
}

/// A claim for the device that is numbered `id`, and nothing else.
fn claim_for(id: i64) -> Vec<Arc<Claim>> {
    let expression = format!("device.attributes['d'].id == {id}");
    let claim = json!({
        "metadata": {"namespace": "n", "name": "wants"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {
            "deviceClassName": "all", "allocationMode": "ExactCount", "count": 1,
            "selectors": [{"cel": {"expression": expression}}]}}]}},
    });
    let wants = World::default().with(Kind::ResourceClaim, &claim).build();
    wants.claims().cloned().collect()
}

/// Whether any node could take the claims.
fn dry_run_fits(cluster: &Cluster, inputs: &Inputs, claims: &[Arc<Claim>]) -> bool {
    let demand = inputs.demand(claims);
    NODES.iter().any(|name| {
        let node = cluster.node(name).unwrap();
        let attempt = inputs.allocate(node, &demand, Limits::default(), &());
        match attempt.outcome {
            Outcome::Allocated(_) => true,
            Outcome::DoesNotFit { .. } => false,
            other => panic!("{other:?}"),
        }
    })
}

/// What `explain` says of the claims.
fn explained(cluster: &Cluster, claims: &[Arc<Claim>]) -> ClusterVerdict {
    let settings = Settings {
        nodes: Vec::new(),
        now: now(),
        // Enough for the verdict. What would help is of no interest.
        budget: &Budget::new(2_000),
        observer: &(),
        run: &in_order,
        has_fixes: true,
    };
    explain_claims(cluster, claims, &settings).verdict()
}

fn is_free(item: &DeviceItem) -> bool {
    item.published == Some(true) && item.state == DeviceState::Free && item.unavailable.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(by_effort(50, 500, 5_000)))]

    /// A device is free exactly if a dry run of a request for it alone fits, and all reports count the same devices.
    #[test]
    fn a_device_is_free_exactly_if_a_request_for_it_fits(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let cluster = cluster(&mut Dice::of_bytes(bytes));
        let selectors = ClassSelectors::of(&cluster);
        let inputs = Inputs::new(&cluster, Features::of(cluster.environment()));
        let all = devices(&cluster, &DeviceFilter::default(), &selectors, None).items;
        let filter = DeviceFilter { free: true, ..DeviceFilter::default() };
        let listed = devices(&cluster, &filter, &selectors, None).items;
        prop_assert_eq!(listed.len(), all.iter().filter(|item| is_free(item)).count());
        let mut published = 0;
        let mut rows = all.iter().filter(|item| item.published == Some(true));
        for pool in cluster.pools() {
            for (slice, device) in pool.devices() {
                published += 1;
                let id = pool.device_id(&device.name);
                // Of two devices of one name each has its own row.
                let item = rows.next().unwrap();
                prop_assert_eq!(&item.id(), &id);
                // Of a device that is shared a share may be left, which no word of the listing says.
                if item.state != DeviceState::Free {
                    continue;
                }
                let reached = NODES.iter().any(|node| {
                    dra_allocator::devices::WantedNode::of(&cluster, &(*node).into()).reaches(slice, device) == Ok(true)
                });
                let number = device.attributes.iter().find(|(name, _)| *name == *"id").map(|(_, value)| value);
                let Some(dra_model::AttributeValue::Int(number)) = number else { panic!("{number:?}") };
                let claims = claim_for(*number);
                let fits = dry_run_fits(&cluster, &inputs, &claims);
                prop_assert_eq!(is_free(item) && reached, fits, "{}: {:?} {:?}", id, item.state, &item.unavailable);
                prop_assert_eq!(explained(&cluster, &claims) == ClusterVerdict::Fits, fits, "{}", id);
            }
        }
        let found = check(&cluster, &CheckRequest::now(now())).items;
        for item in &all {
            let pool = format!("{}/{}", item.driver, item.pool);
            let has = |codes: &[Code]| found.iter().any(|finding| *finding.object.name == *pool && codes.contains(&finding.code));
            let is = |why: Unavailable| item.unavailable.contains(&why);
            if item.published == Some(true) && item.state == DeviceState::Free {
                // A slice may be ignored in an incomplete pool as well.
                let (is_incomplete, is_told) = (is(Unavailable::PoolIncomplete), has(&[Code::PoolIncomplete]));
                prop_assert!(!is_incomplete || is_told, "{}: {:?}", item.device, item.unavailable);
                prop_assert!(!is_told || !is_free(item), "{}: {:?}", item.device, item.unavailable);
                prop_assert!(!is(Unavailable::PoolInvalid) || has(&[Code::PoolInvalid, Code::DeviceDuplicate]), "{}", item.device);
            }
        }
        let free = all.iter().filter(|item| is_free(item)).count();
        let report = status(
            &cluster,
            &Selection::default(),
            UsageBy::default(),
            now(),
            &in_order,
        );
        let of_status: usize = report.drivers.iter().map(|driver| driver.devices.free).sum();
        prop_assert_eq!(of_status, free);
        let class = describe::class(&cluster, "all", &selectors, now()).unwrap();
        let of_class: usize = class.drivers.iter().map(|driver| driver.free).sum();
        prop_assert_eq!(of_class, free);
        let total: usize = class.drivers.iter().map(|driver| driver.total).sum();
        prop_assert_eq!(total, published);
    }
}
