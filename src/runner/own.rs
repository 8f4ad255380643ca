//! Is another controller at work beside this one?

use std::collections::HashSet;

use super::preflight::Rival;
use crate::controllers::{ControllerName, Engine, Owner, is_made_elsewhere, is_marked};
use crate::model::{Change, Key, Kind, Object, Str};

/// What tells this writer's doings from those of others.
#[derive(Default)]
pub(super) struct Own {
    /// UIDs of pods that it has begun to evict and that are still there.
    pub(super) evicted: HashSet<Str>,
}

impl Own {
    /// Whether another controller did what the change shows, and the object that it wrote.
    pub(super) fn rival(
        &mut self,
        engine: &Engine,
        works: impl Fn(ControllerName) -> bool,
        change: &Change,
    ) -> Option<(Rival, Owner)> {
        let cluster = engine.cluster();
        let beside = |name, word, kind, key: Key, uid: &Str| {
            let object = format!("{word}/{key}");
            let uid = uid.clone();
            works(name).then_some((Rival::Beside { name, object }, Owner { kind, key, uid }))
        };
        match change {
            Change::Put(Object::ResourceClaim(claim)) => {
                let is_new = cluster.claim(&claim.key()).is_none();
                if is_new && is_made_elsewhere(cluster, claim) {
                    let name = ControllerName::ResourceClaim;
                    let uid = &claim.metadata.uid;
                    return beside(name, "claim", Kind::ResourceClaim, claim.key(), uid);
                }
            }
            Change::Put(Object::Pod(pod)) => {
                let known = cluster.pod(&pod.key())?;
                let is_new = known.metadata.uid == pod.metadata.uid && !is_marked(known) && is_marked(pod);
                if is_new && !self.evicted.contains(&pod.metadata.uid) {
                    let name = ControllerName::DeviceTaintEviction;
                    return beside(name, "pod", Kind::Pod, pod.key(), &pod.metadata.uid);
                }
            }
            Change::Delete(Kind::Pod, key) => {
                if let Some(pod) = cluster.pod(key) {
                    self.evicted.remove(&pod.metadata.uid);
                }
            }
            _ => {}
        }
        None
    }
}
