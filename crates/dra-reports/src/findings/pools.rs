//! What drivers publish: pools that are incomplete or contradict themselves.

use std::collections::BTreeSet;

use super::finding::Subject;
use super::{Code, Finding, Look, words};
use crate::script::{delete, describe_pool};
use crate::words::{pool_is_incomplete, pool_is_invalid, republish, same_pool};
use dra_allocator::devices::pool_fault;
use dra_model::{Kind, Pool, Str};

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
    let republished = || republish(&pool.id.driver);
    let there = pool.slices.len();
    // A slice that could not be read may be the one that is missing.
    let all_are_known = !look.is_hidden(Kind::ResourceSlice, "");
    if all_are_known && pool.expected_slices < 1 {
        look.add(
            Finding::new(Code::PoolIncomplete, about(), words::declares_none(pool))
                .advice(words::declare(there))
                .look(describe()),
        );
    } else if all_are_known && !pool.is_complete() {
        let message = pool_is_incomplete(pool);
        look.add(
            Finding::new(Code::PoolIncomplete, about(), message)
                .advice(republished())
                .look(describe()),
        );
    }
    if !pool.outdated.is_empty() {
        let names = pool.outdated.iter().map(|slice| &slice.metadata.name);
        let finding = Finding::new(Code::PoolOutdated, about(), words::pool_is_outdated(pool));
        look.add(if pool.only_outdated().is_empty() {
            finding.fix(delete(Kind::ResourceSlice, names))
        } else {
            finding.advice(republished()).look(describe())
        });
    }
    let parts = pool.parts();
    let counts: BTreeSet<i64> = pool
        .slices
        .iter()
        .map(|slice| slice.spec.pool.resource_slice_count)
        .collect();
    if counts.len() > 1 && parts.len() == 1 {
        let message = words::counts_disagree(&counts);
        look.add(
            Finding::new(Code::PoolInvalid, about(), message)
                .advice(republished())
                .look(describe()),
        );
    }
    if all_are_known && let Some(fault) = pool_fault(look.cluster.environment(), pool) {
        let message = pool_is_invalid(&fault);
        look.add(
            Finding::new(Code::PoolInvalid, about(), message)
                .advice(republished())
                .look(describe()),
        );
    }
    let duplicates: BTreeSet<&Str> = parts.iter().flat_map(Pool::duplicate_devices).collect();
    if !duplicates.is_empty() {
        let message = crate::words::duplicates(&duplicates);
        look.add(
            Finding::new(Code::DeviceDuplicate, about(), message)
                .advice(republished())
                .look(describe()),
        );
    }
    if let Some(message) = same_pool(pool) {
        look.add(
            Finding::new(Code::DeviceDuplicate, about(), message)
                .ask_driver(&pool.id.driver, words::NAME_POOLS)
                .look(describe()),
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::ask;
    use super::super::{Code, Question};
    use dra_testing::World;

    #[test]
    fn a_pool_that_declares_no_slices_is_from_a_file() {
        for (count, begins) in [
            (2, "publishes 1 of 2 slices (generation 1)"),
            (0, "publishes 1 slice but declares 0"),
            (-1, "publishes 1 slice but declares -1"),
        ] {
            let pool = json!({"name": "node-1", "generation": 1, "resourceSliceCount": count});
            let slice = json!({"nodeName": "node-1", "pool": pool, "devices": [{"name": "x"}]});
            let world = World::default().node("node-1", &json!({}));
            let list = ask(&world.slice_with("node-1", &slice).build(), Question::Now);
            let [finding] = list.items.as_slice() else {
                panic!("{list:?}")
            };
            assert_eq!(finding.code, Code::PoolIncomplete);
            let message = finding.message.to_string();
            assert!(message.starts_with(begins), "{message}");
        }
    }
}
