//! What drivers publish: pools that are incomplete or contradict themselves.

use std::collections::BTreeSet;

use super::finding::Subject;
use super::{Code, Finding, Look, words};
use crate::script::{delete, describe_pool};
use crate::words::{pool_is_incomplete, pool_is_invalid, republish, same_pool};
use dra_allocator::devices::pool_fault;
use dra_model::{Kind, Pool, Str};
use dra_rules::kubelet::is_being_published;

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

/// A finding about a pool that its driver has to publish again.
fn to_republish(pool: &Pool<'_>, code: Code, message: String) -> Finding {
    Finding::new(code, Subject::pool(&pool.id), message)
        .advice(republish(&pool.id.driver))
        .look(describe_pool(&pool.id))
}

fn of_pool(look: &mut Look<'_>, pool: &Pool<'_>) {
    // A slice that could not be read may be the one that is missing.
    let is_anew = !pool.outdated.is_empty() && is_being_published(pool, look.request.now);
    let all_are_known = !look.is_hidden(Kind::ResourceSlice, "");
    if all_are_known && pool.expected_slices < 1 {
        let message = words::declares_none(pool);
        look.add(
            Finding::new(Code::PoolIncomplete, Subject::pool(&pool.id), message)
                .advice(words::declare(pool.slices.len()))
                .look(describe_pool(&pool.id)),
        );
    } else if all_are_known && !pool.is_complete() {
        let finding = to_republish(pool, Code::PoolIncomplete, pool_is_incomplete(pool));
        look.add(finding.warning_if(!is_anew));
    }
    // A driver deletes them when it has published the others.
    if !pool.outdated.is_empty() && !is_anew {
        let names = pool.outdated.iter().map(|slice| &slice.metadata.name);
        let message = words::pool_is_outdated(pool);
        look.add(if pool.only_outdated().is_empty() {
            Finding::new(Code::PoolOutdated, Subject::pool(&pool.id), message)
                .fix(delete(Kind::ResourceSlice, names))
        } else {
            to_republish(pool, Code::PoolOutdated, message)
        });
    }
    let parts = pool.parts();
    let counts: BTreeSet<i64> = pool
        .slices
        .iter()
        .map(|slice| slice.spec.pool.resource_slice_count)
        .collect();
    if counts.len() > 1 && parts.len() == 1 {
        look.add(to_republish(
            pool,
            Code::PoolInvalid,
            words::counts_disagree(&counts),
        ));
    }
    if all_are_known && let Some(fault) = pool_fault(look.cluster.environment(), pool) {
        look.add(to_republish(pool, Code::PoolInvalid, pool_is_invalid(&fault)));
    }
    let duplicates: BTreeSet<&Str> = parts.iter().flat_map(Pool::duplicate_devices).collect();
    if !duplicates.is_empty() {
        let message = crate::words::duplicates(&duplicates);
        look.add(to_republish(pool, Code::DeviceDuplicate, message));
    }
    if let Some(message) = same_pool(pool) {
        look.add(
            Finding::new(Code::DeviceDuplicate, Subject::pool(&pool.id), message)
                .ask_driver(&pool.id.driver, words::NAME_POOLS)
                .look(describe_pool(&pool.id)),
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
