//! Is another controller at work beside this one?

use std::collections::HashSet;

use super::preflight::Rival;
use crate::controllers::{ControllerName, Engine, Owner, is_made_elsewhere, is_marked};
use crate::model::{Change, Claim, Key, Kind, Object, Str, Time};

/// What tells this writer's doings from those of others.
#[derive(Default)]
pub(super) struct Own {
    /// UIDs of pods that it has begun to evict and that are still there.
    pub(super) evicted: HashSet<Str>,
    /// Since when nobody else may write, by the API server's clock.
    pub(super) alone_from: Option<Time>,
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
                let known = cluster.claim(&claim.key());
                let (name, kind) = (ControllerName::ResourceClaim, Kind::ResourceClaim);
                let uid = &claim.metadata.uid;
                if known.is_none() && is_made_elsewhere(cluster, claim) {
                    return beside(name, "claim", kind, claim.key(), uid);
                }
                if known.is_some_and(|known| self.was_set_by_built_in(known, claim)) {
                    return beside(name, "the status of claim", kind, claim.key(), uid);
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

    /// Whether kube-controller-manager has written the status of a claim since it was known, and since it may not. A reservation that it adds
    /// stands under its name; one that it takes away leaves no trace of it. The change has to be seen as well, as the clocks of several API
    /// servers need not agree.
    fn was_set_by_built_in(&self, known: &Claim, claim: &Claim) -> bool {
        let (before, after) = (
            known.metadata.status_set_by_built_in,
            claim.metadata.status_set_by_built_in,
        );
        let is_later = |from: Time| after.is_some_and(|at| i64::from(at.get()) > from.unix_seconds());
        known.metadata.uid == claim.metadata.uid && after > before && self.alone_from.is_some_and(is_later)
    }
}
