//! Takes over from a controller that has run for a long time and whose state is known only from the cluster.

use std::collections::BTreeMap;

use super::{PodRef, STATUS_PERIOD, TaintEviction, subject_of};
use crate::eviction::{MARKED, Release, condition_of, evicted_so_far};
use dra_allocator::devices::{Origin, RuleSupport};
use dra_model::{Cluster, NO_EXECUTE, Pod, Str, TaintRule, Time};

impl TaintEviction {
    /// A controller that has run for a long time, as far as `cluster` shows its state: it does not rewrite conditions
    /// of rules without cause, and continues their counts.
    pub fn resume(cluster: &Cluster, release: Release, now: Time) -> Self {
        let mut controller = Self::planned(cluster, release, now);
        if release.rules == RuleSupport::On {
            let marked = controller.marked(cluster, now);
            for rule in cluster.rules() {
                controller.resume_rule(rule, &marked, now);
            }
        }
        // Pods that are being deleted have had their turn.
        let leaving: Vec<PodRef> = controller
            .plans()
            .into_iter()
            .filter(|(pod, eviction)| eviction.at <= now && is_deleting(cluster, pod))
            .map(|(pod, _)| pod.clone())
            .collect();
        for pod in leaving {
            controller.plans.remove(&pod);
            controller.evicted.insert(pod.uid);
        }
        controller.push_plans(now);
        controller
    }

    /// By the rules that are the reason, when pods that are being deleted by now were marked for it, or had to be.
    fn marked(&self, cluster: &Cluster, now: Time) -> BTreeMap<Str, Vec<Time>> {
        let mut marked: BTreeMap<Str, Vec<Time>> = BTreeMap::new();
        for (pod, eviction) in self.plans.iter().filter(|(_, eviction)| eviction.at <= now) {
            let Some(pod) = cluster.pod(&pod.key).filter(|pod| pod.metadata.is_deleting()) else {
                continue;
            };
            let at = marked_at(pod).unwrap_or(eviction.at);
            for rule in eviction.reasons.iter().filter_map(Origin::rule) {
                marked.entry(rule.metadata.uid.clone()).or_default().push(at);
            }
        }
        marked
    }

    fn resume_rule(&mut self, rule: &TaintRule, marked: &BTreeMap<Str, Vec<Time>>, now: Time) {
        let written = condition_of(rule)
            .filter(|condition| condition.observed_generation == rule.metadata.generation)
            .and_then(|condition| Some((condition, condition.last_transition_time?)));
        let Some((condition, written)) = written else {
            self.queue.add(subject_of(rule));
            return;
        };
        let of_rule = marked.get(&rule.metadata.uid).map_or(&[][..], Vec::as_slice);
        let evicted_since = of_rule.iter().filter(|time| **time >= written).count();
        let evicted = evicted_so_far(condition) + evicted_since;
        if evicted > 0 {
            self.evicted_by_rule.insert(rule.metadata.uid.clone(), evicted);
        }
        if rule.spec.taint.effect == NO_EXECUTE {
            self.queue
                .push(subject_of(rule), written.after(STATUS_PERIOD), now);
        }
    }
}

fn is_deleting(cluster: &Cluster, pod: &PodRef) -> bool {
    cluster
        .pod(&pod.key)
        .is_some_and(|pod| pod.metadata.is_deleting())
}

/// Returns when the controller marked the pod for deletion.
fn marked_at(pod: &Pod) -> Option<Time> {
    let mut conditions = pod.status.conditions.iter();
    conditions
        .find(|condition| condition.reason == MARKED)?
        .last_transition_time
}
