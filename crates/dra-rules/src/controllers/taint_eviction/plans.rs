//! Eviction times of pods, and counts per rule.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use crate::controllers::work::PodRef;
use crate::eviction::Eviction;
use dra_allocator::devices::Origin;
use dra_model::Str;

/// The planned evictions. A pod that had its turn may be planned again while it ends, and is not counted then.
#[derive(Clone, Debug, Default)]
pub(super) struct Plans {
    by_pod: HashMap<PodRef, Plan, RandomState>,
    /// By UID of the rule, the plans that it is a reason for.
    of_rule: BTreeMap<Str, OfRule>,
}

#[derive(Clone, Debug)]
struct Plan {
    eviction: Eviction,
    /// True if it has not had its turn.
    counts: bool,
    /// True if the pod is not being deleted.
    stays: bool,
}

/// Number of plans with a rule among their reasons.
#[derive(Clone, Debug, Default)]
struct OfRule {
    /// Those that have not had their turn.
    counted: usize,
    /// Those whose pods are not being deleted, by namespace.
    staying: BTreeMap<Str, usize>,
}

impl Plans {
    /// Plans the eviction of a pod, which counts unless it had its turn already. `stays` unless it is being deleted.
    pub(super) fn insert(&mut self, pod: PodRef, eviction: Eviction, counts: bool, stays: bool) {
        let plan = Plan {
            eviction,
            counts,
            stays,
        };
        // The new one first, so that what both have is not taken away to be put there again.
        count(&mut self.of_rule, &pod.key.namespace, &plan, 1);
        let namespace = pod.key.namespace.clone();
        if let Some(before) = self.by_pod.insert(pod, plan) {
            count(&mut self.of_rule, &namespace, &before, -1);
        }
    }

    /// There may be so many plans soon: growing bit by bit would hash all of them again each time.
    pub(super) fn make_room(&mut self, pods: usize) {
        self.by_pod.reserve(pods.saturating_sub(self.by_pod.len()));
    }

    /// Forgets the eviction of the pod; whether there was one.
    pub(super) fn remove(&mut self, pod: &PodRef) -> bool {
        let before = self.by_pod.remove(pod);
        if let Some(before) = &before {
            count(&mut self.of_rule, &pod.key.namespace, before, -1);
        }
        before.is_some()
    }

    /// The pod is being deleted, by any client.
    pub(super) fn leaves(&mut self, pod: &PodRef) {
        let Some(plan) = self.by_pod.get_mut(pod).filter(|plan| plan.stays) else {
            return;
        };
        // It counts on where it has not had its turn.
        let counts = std::mem::replace(&mut plan.counts, false);
        count(&mut self.of_rule, &pod.key.namespace, plan, -1);
        (plan.counts, plan.stays) = (counts, false);
    }

    pub(super) fn get(&self, pod: &PodRef) -> Option<&Eviction> {
        self.by_pod.get(pod).map(|plan| &plan.eviction)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&PodRef, &Eviction)> {
        self.by_pod.iter().map(|(pod, plan)| (pod, &plan.eviction))
    }

    /// Returns how many pods have to go because of the rule with this UID, now or later.
    pub(super) fn of_rule(&self, uid: &Str) -> usize {
        self.of_rule.get(uid).map_or(0, |of_rule| of_rule.counted)
    }

    /// Returns how many of the rule's pods are not being deleted yet, and of how many namespaces they are.
    pub(super) fn staying(&self, uid: &Str) -> (usize, usize) {
        self.of_rule.get(uid).map_or((0, 0), |of_rule| {
            (of_rule.staying.values().sum(), of_rule.staying.len())
        })
    }
}

fn count(of_rules: &mut BTreeMap<Str, OfRule>, namespace: &Str, plan: &Plan, change: isize) {
    for rule in plan.eviction.reasons.iter().filter_map(Origin::rule) {
        let uid = &rule.metadata.uid;
        let of_rule = match of_rules.get_mut(uid) {
            Some(of_rule) => of_rule,
            None => of_rules.entry(uid.clone()).or_default(),
        };
        if plan.counts {
            of_rule.counted = of_rule.counted.saturating_add_signed(change);
        }
        if plan.stays {
            let pods = match of_rule.staying.get_mut(namespace) {
                Some(pods) => pods,
                None => of_rule.staying.entry(namespace.clone()).or_default(),
            };
            *pods = pods.saturating_add_signed(change);
            if *pods == 0 {
                of_rule.staying.remove(namespace);
            }
        }
        if of_rule.counted == 0 && of_rule.staying.is_empty() {
            of_rules.remove(uid);
        }
    }
}
