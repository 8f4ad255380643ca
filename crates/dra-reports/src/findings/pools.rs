//! What drivers publish: pools that are incomplete or contradict themselves.

use std::collections::BTreeSet;

use super::finding::{Subject, counted, some};
use super::{Code, Finding, Look};
use crate::script::{delete, describe_pool};
use dra_allocator::devices::pool_fault;
use dra_model::{Component, Gate, Kind, Pool};

pub(super) fn look(look: &mut Look<'_>) {
    let cluster = look.cluster;
    let codes = [
        Code::PoolIncomplete,
        Code::PoolOutdated,
        Code::PoolInvalid,
        Code::DeviceDuplicate,
    ];
    if look.wants_any(&codes) {
        for pool in cluster.pools() {
            of_pool(look, &pool);
        }
    }
}

fn of_pool(look: &mut Look<'_>, pool: &Pool<'_>) {
    let about = || Subject::pool(&pool.id);
    let describe = || describe_pool(&pool.id);
    let there = pool.slices.len();
    // A slice that could not be read may be the one that is missing.
    let all_are_known = !look.is_hidden(Kind::ResourceSlice, "");
    if all_are_known && pool.expected_slices < 1 {
        look.add(
            Finding::new(Code::PoolIncomplete, about(), counted_below_one(pool))
                .advice(format!(
                    "whoever wrote the slice has it say how many slices the pool has: {there}, if these are all"
                ))
                .look(describe()),
        );
    } else if all_are_known && !pool.is_complete() {
        let message = format!(
            "has {there} of {} slices (generation {}): the scheduler allocates none of its devices, and ends requests for all devices with \
             an error. The driver is publishing it, or has stopped in between",
            pool.expected_slices, pool.generation,
        );
        look.add(
            Finding::new(Code::PoolIncomplete, about(), message)
                .advice(driver_publishes(pool))
                .look(describe()),
        );
    }
    if !pool.outdated.is_empty() {
        let names: Vec<&str> = pool
            .outdated
            .iter()
            .map(|slice| slice.metadata.name.as_str())
            .collect();
        let message = format!(
            "has {} of generations before {}: {}. The scheduler does not look at {}; the driver should have deleted {}",
            counted(names.len(), "slice", "slices"),
            pool.generation,
            some(&names),
            if names.len() == 1 { "it" } else { "them" },
            if names.len() == 1 { "it" } else { "them" },
        );
        look.add(Finding::new(Code::PoolOutdated, about(), message).fix(delete(Kind::ResourceSlice, names)));
    }
    let counts: BTreeSet<i64> = pool
        .slices
        .iter()
        .map(|slice| slice.spec.pool.resource_slice_count)
        .collect();
    if counts.len() > 1 {
        let message = format!(
            "its slices disagree about how many there are: {}. Which one counts depends on the node",
            counts.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
        );
        look.add(
            Finding::new(Code::PoolInvalid, about(), message)
                .advice(driver_publishes(pool))
                .look(describe()),
        );
    }
    let environment = look.cluster.environment();
    if all_are_known
        && environment.enabled(Component::Scheduler, Gate::DRAPartitionableDevices)
        && let Some(fault) = pool_fault(pool.slices.iter().map(|slice| &***slice))
    {
        let message = format!("is invalid, and the scheduler allocates none of its devices: {fault}");
        look.add(
            Finding::new(Code::PoolInvalid, about(), message)
                .advice(driver_publishes(pool))
                .look(describe()),
        );
    }
    let duplicates = pool.duplicate_devices();
    if !duplicates.is_empty() {
        let message = format!(
            "has more than one device of the name {}: where a node reaches several of one name, the scheduler allocates no device of the pool",
            some(duplicates)
        );
        look.add(
            Finding::new(Code::DeviceDuplicate, about(), message)
                .advice(driver_publishes(pool))
                .look(describe()),
        );
    }
}

/// Slices that say that there are none of them. No API server stores such slices (`validation.go`, `validateResourcePool`, v1.37.2), but
/// whoever simulates scheduling with slices from elsewhere meets them.
fn counted_below_one(pool: &Pool<'_>) -> String {
    format!(
        "says that it has {} slices, although {} there: the API server refuses to store that (`resourceSliceCount` must be greater than zero), so \
         it comes from a file, such as the template of a node that an autoscaler may add. Whoever schedules by it takes the pool for \
         incomplete and allocates none of its devices",
        pool.expected_slices,
        match pool.slices.len() {
            1 => "one is".to_owned(),
            there => format!("{there} are"),
        },
    )
}

/// What slices say is the driver's to say.
fn driver_publishes(pool: &Pool<'_>) -> String {
    format!(
        "whoever runs the driver {} has it publish the pool again: look at the logs of its pods",
        pool.id.driver
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::ask;
    use super::super::{Code, Question};
    use dra_testing::World;

    #[test]
    fn a_pool_that_counts_no_slices_is_one_from_a_file() {
        for (count, begins) in [
            (2, "has 1 of 2 slices (generation 1)"),
            (0, "says that it has 0 slices, although one is there"),
            (-1, "says that it has -1 slices, although one is there"),
        ] {
            let pool = json!({"name": "node-1", "generation": 1, "resourceSliceCount": count});
            let slice = json!({"nodeName": "node-1", "pool": pool, "devices": [{"name": "x"}]});
            let world = World::default().node("node-1", &json!({}));
            let list = ask(&world.slice_with("node-1", &slice).build(), Question::Now);
            let [finding] = list.items.as_slice() else {
                panic!("{list:?}")
            };
            assert_eq!(finding.code, Code::PoolIncomplete);
            assert!(finding.message.starts_with(begins), "{}", finding.message);
        }
    }
}
