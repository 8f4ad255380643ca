//! Problems without a solution that take upstream exponential time. Steps may grow with the third power of the size at most.

use serde_json::{Value, json};

use super::{World, all_features, exactly};
use crate::{Limits, Outcome};

/// Steps allowed for a problem of size one.
const FACTOR: u64 = 8;

fn alike(count: usize) -> Vec<Value> {
    (0..count)
        .map(
            |index| json!({ "name": format!("gpu-{index:03}"), "attributes": { "kind": { "string": "x" } } }),
        )
        .collect()
}

/// Builds the problem in growing sizes and holds the steps of the pruned search against the bound.
fn check(sizes: impl IntoIterator<Item = usize>, build: impl Fn(&mut World, usize)) {
    for size in sizes {
        let mut world = World::new();
        build(&mut world, size);
        let attempt = world.allocate(all_features(), Limits::pruned(10_000_000));
        assert!(
            matches!(attempt.outcome, Outcome::DoesNotFit { .. }),
            "size {size}: {:?}",
            attempt.outcome
        );
        let bound = FACTOR * (size as u64).pow(3) + 100;
        assert!(attempt.steps <= bound, "size {size}: {} steps", attempt.steps);
    }
}

fn requests(count: usize, class: impl Fn(usize) -> &'static str) -> Vec<Value> {
    (0..count)
        .map(|index| exactly(&format!("r{index}"), class(index), 1))
        .collect()
}

fn alternative(name: &str, class: &str, count: usize) -> Value {
    json!({ "name": name, "deviceClassName": class, "allocationMode": "ExactCount", "count": count })
}

#[test]
fn one_device_too_few() {
    check([2, 8, 16, 32], |world, size| {
        world.pool("p", &alike(size - 1), &[]);
        world.claim(&[exactly("r", "any", size)], &[]);
    });
    check([2, 8, 16, 32], |world, size| {
        world.pool("p", &alike(size - 1), &[]);
        world.claim(&requests(size, |_| "any"), &[]);
    });
}

#[test]
fn one_device_too_few_for_requests_of_different_classes() {
    check([2, 8, 16, 32], |world, size| {
        let mut devices = alike(size);
        for device in devices.iter_mut().skip(1) {
            device["attributes"] = json!({ "other": { "int": 1 } });
        }
        world.pool("p", &devices[..size - 1], &[]);
        world.claim(&requests(size, |index| ["any", "x"][index % 2]), &[]);
    });
}

#[test]
fn too_few_devices_with_the_same_value() {
    let same = [json!({ "matchAttribute": "d/group" })];
    for groups in [2, 3, 5] {
        check([2, 4, 8, 16], |world, size| {
            let mut devices = alike(groups * (2 * size - 1));
            for (index, device) in devices.iter_mut().enumerate() {
                // Neighbors differ, so that no group comes first.
                device["attributes"]["group"] = json!({ "int": index % groups });
            }
            world.pool("p", &devices, &[]);
            world.claim(&[exactly("a", "any", size), exactly("b", "x", size)], &same);
        });
    }
}

#[test]
fn too_few_values_for_devices_that_have_to_differ() {
    let distinct = [json!({ "distinctAttribute": "d/group" })];
    check([2, 8, 16, 32], |world, size| {
        let mut devices = alike(3 * (size - 1));
        for (index, device) in devices.iter_mut().enumerate() {
            device["attributes"]["group"] = json!({ "int": index % (size - 1) });
        }
        world.pool("p", &devices, &[]);
        world.claim(&[exactly("r", "any", size)], &distinct);
    });
    // Values with different numbers of devices cannot be swapped; matching proves it.
    check([2, 8, 16, 24], |world, size| {
        let mut devices = Vec::new();
        for round in 0..size - 1 {
            for value in round..size - 1 {
                let mut device = alike(1).remove(0);
                device["name"] = json!(format!("gpu-{round:03}-{value:03}"));
                device["attributes"]["group"] = json!({ "int": value });
                devices.push(device);
            }
        }
        world.pool("p", &devices, &[]);
        world.claim(&requests(size, |index| ["any", "x"][index % 2]), &distinct);
    });
}

#[test]
fn alternatives_within_alternatives() {
    check([2, 8, 16, 32], |world, size| {
        world.pool("p", &alike(size - 1), &[]);
        let requests: Vec<Value> = (0..size)
            .map(|index| {
                json!({ "name": format!("r{index}"), "firstAvailable": [
                    alternative("two", "x", 2), alternative("one", "any", 1), alternative("other", "x", 1),
                ] })
            })
            .collect();
        world.claim(&requests, &[]);
    });
}

#[test]
fn more_results_than_a_claim_may_have() {
    check([2, 8, 16, 24], |world, size| {
        // No two of them can be swapped.
        let mut devices = alike(32);
        for (index, device) in devices.iter_mut().enumerate() {
            device["allowMultipleAllocations"] = json!(true);
            device["capacity"] = json!({ "memory": { "value": format!("{}Gi", 1 + index) } });
            device["attributes"] = json!({});
        }
        world.pool("p", &devices, &[]);
        let first = json!({ "name": "a", "firstAvailable": [alternative("most", "any", size), alternative("none", "x", 1)] });
        world.claim(&[first, exactly("b", "any", 33 - size)], &[]);
    });
}

fn partitions(gpus: usize, links: bool) -> (Vec<Value>, Vec<Value>) {
    let set = |name: String, amount: usize| json!({ "name": name, "counters": { "slices": { "value": amount.to_string() } } });
    let mut sets: Vec<Value> = (0..gpus).map(|gpu| set(format!("gpu-{gpu}"), 7)).collect();
    if links {
        sets.push(set("links".to_owned(), 7 * gpus));
    }
    let mut devices = Vec::new();
    for gpu in 0..gpus {
        for (kind, amount, placements) in [("whole", 7, 1), ("third", 2, 3), ("seventh", 1, 7)] {
            for placement in 0..placements {
                let draw = |set: String, amount: usize| json!({ "counterSet": set, "counters": { "slices": { "value": amount.to_string() } } });
                let mut consumes = vec![draw(format!("gpu-{gpu}"), amount)];
                if links {
                    consumes.push(draw("links".to_owned(), 1));
                }
                devices.push(json!({
                    "name": format!("gpu-{gpu}-{kind}-{placement}"),
                    "attributes": { "kind": { "string": if kind == "third" { "x" } else { "y" } } },
                    "consumesCounters": consumes,
                }));
            }
        }
    }
    (devices, sets)
}

#[test]
fn one_partition_too_many() {
    for links in [false, true] {
        check([2, 4, 8, 10], |world, size| {
            let (devices, sets) = partitions(size, links);
            world.pool("p", &devices, &sets);
            world.claim(&[exactly("r", "x", 3 * size + 1)], &[]);
        });
        // Each in a request of its own, which may take any GPU.
        check([2, 4, 6], |world, size| {
            let (devices, sets) = partitions(size, links);
            world.pool("p", &devices, &sets);
            world.claim(&requests(3 * size + 1, |_| "x"), &[]);
        });
    }
}

#[test]
fn more_than_a_counter_of_the_whole_pool_holds() {
    check([2, 8, 16, 31], |world, size| {
        let mut devices = alike(2 * size);
        for (index, device) in devices.iter_mut().enumerate() {
            device["attributes"]["index"] = json!({ "int": index });
            device["consumesCounters"] = json!([{ "counterSet": "set", "counters": { "slices": { "value": (1 + index % 3).to_string() } } }]);
        }
        let set = json!({ "name": "set", "counters": { "slices": { "value": size.to_string() } } });
        world.pool("p", &devices, &[set]);
        world.claim(&[exactly("r", "any", size + 1)], &[]);
    });
}

#[test]
fn one_share_too_many() {
    for shares in [2, 3] {
        check([2, 5, 10, 15], |world, size| {
            let count = (size * shares + 1).min(32);
            let size = (count - 1) / shares;
            let mut devices = alike(size);
            for device in &mut devices {
                device["allowMultipleAllocations"] = json!(true);
                device["capacity"] = json!({ "memory": { "value": format!("{}Gi", 10 * shares) } });
            }
            world.pool("p", &devices, &[]);
            let mut requests = requests(size * shares + 1, |_| "any");
            for request in &mut requests {
                request["exactly"]["capacity"] = json!({ "requests": { "memory": "10Gi" } });
            }
            world.claim(&requests, &[]);
        });
    }
}
