//! When which pod has to go, and how many because of each rule.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use crate::controllers::work::PodRef;
use crate::devices::Origin;
use crate::eviction::Eviction;
use crate::model::Str;

/// The planned evictions. A pod that had its turn may be planned again while it ends, and is not counted then.
#[derive(Clone, Debug, Default)]
pub(super) struct Plans {
    /// Each with whether it counts.
    by_pod: HashMap<PodRef, (Eviction, bool), RandomState>,
    /// By UID of the rule, how many of them it is a reason for.
    of_rule: BTreeMap<Str, usize>,
}

impl Plans {
    /// Plans the eviction of a pod, which counts unless it had its turn already.
    pub(super) fn insert(&mut self, pod: PodRef, eviction: Eviction, counts: bool) {
        if counts {
            self.count(&eviction, 1);
        }
        if let Some((before, true)) = self.by_pod.insert(pod, (eviction, counts)) {
            self.count(&before, -1);
        }
    }

    /// Forgets the eviction of the pod; whether there was one.
    pub(super) fn remove(&mut self, pod: &PodRef) -> bool {
        let before = self.by_pod.remove(pod);
        if let Some((before, true)) = &before {
            self.count(before, -1);
        }
        before.is_some()
    }

    fn count(&mut self, eviction: &Eviction, change: isize) {
        for rule in eviction.reasons.iter().filter_map(Origin::rule) {
            let uid = &rule.metadata.uid;
            let count = self.of_rule.entry(uid.clone()).or_default();
            *count = count.saturating_add_signed(change);
            if *count == 0 {
                self.of_rule.remove(uid);
            }
        }
    }

    pub(super) fn get(&self, pod: &PodRef) -> Option<&Eviction> {
        self.by_pod.get(pod).map(|(eviction, _)| eviction)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&PodRef, &Eviction)> {
        self.by_pod.iter().map(|(pod, (eviction, _))| (pod, eviction))
    }

    /// How many pods have to go because of the rule with this UID, now or later.
    pub(super) fn of_rule(&self, uid: &Str) -> usize {
        self.of_rule.get(uid).copied().unwrap_or(0)
    }
}
