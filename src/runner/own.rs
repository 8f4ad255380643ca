//! Is another controller at work beside this one?

use std::collections::HashSet;

use super::preflight::Rival;
use crate::controllers::{ControllerName, Engine, is_made_elsewhere, is_marked};
use crate::model::{Change, Kind, Object, Str};

/// What tells this writer's doings from those of others.
#[derive(Default)]
pub(super) struct Own {
    /// UIDs of pods that it has begun to evict and that are still there.
    pub(super) evicted: HashSet<Str>,
}

impl Own {
    /// Whether another controller did what the change shows.
    pub(super) fn rival(
        &mut self,
        engine: &Engine,
        works: impl Fn(ControllerName) -> bool,
        change: &Change,
    ) -> Option<Rival> {
        let cluster = engine.cluster();
        let beside = |name, object: String| works(name).then_some(Rival::Beside { name, object });
        match change {
            Change::Put(Object::ResourceClaim(claim)) => {
                let is_new = cluster.claim(&claim.key()).is_none();
                if is_new && is_made_elsewhere(cluster, claim) {
                    return beside(ControllerName::ResourceClaim, format!("claim/{}", claim.key()));
                }
            }
            Change::Put(Object::Pod(pod)) => {
                let known = cluster.pod(&pod.key())?;
                let is_new = known.metadata.uid == pod.metadata.uid && !is_marked(known) && is_marked(pod);
                if is_new && !self.evicted.contains(&pod.metadata.uid) {
                    return beside(ControllerName::DeviceTaintEviction, format!("pod/{}", pod.key()));
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
