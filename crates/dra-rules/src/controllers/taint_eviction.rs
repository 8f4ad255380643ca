//! The device taint eviction controller: plans when pods have to go, lets them go, and tells so in the status of rules.
//!
//! Mirrors `device_taint_eviction.go`, v1.37.2; releases that differ are described by a [`Release`].

mod changes;
mod noted;
mod plans;
mod resume;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;

use self::noted::Noted;
use self::plans::Plans;
use super::work::{JobId, Notice, Outcome, PodRef, Subject, Work};
use super::{Controller, Observed, Queue};
use crate::eviction::{
    ClockStep, Eviction, Release, RuleCounts, Timescale, claim_eviction_by, condition_of, consumers, count,
    pod_eviction, rule_condition,
};
use dra_allocator::devices::{Origin, RuleSupport, Rules, Taints};
use dra_model::{Claim, Cluster, Condition, Key, NO_EFFECT, NO_EXECUTE, Pod, Str, TaintRule, Time};

/// The shortest time between updates of a rule's status during an eviction.
const STATUS_PERIOD: Duration = Duration::from_secs(10);

/// The state of the controller.
#[derive(Clone, Debug)]
pub struct TaintEviction {
    release: Release,
    /// Rules whose effect is NoExecute.
    rules: Rules,
    /// Eviction times of pods.
    plans: Plans,
    /// Allocated claims whose pods have to go. Not computed again before a taint changes.
    claims: HashMap<Key, Noted, RandomState>,
    /// Reading of taint times.
    timescale: Timescale,
    /// UIDs of the pods that had their turn and are still there. Upstream forgets them behind 500 others, and then counts them again.
    evicted: HashSet<Str, RandomState>,
    /// By UID of the rule, how many pods were evicted because of it.
    evicted_by_rule: BTreeMap<Str, usize>,
    /// A rule that would evict more pods is paused.
    limit: Option<usize>,
    queue: Queue<Subject>,
    /// Jobs that are out.
    jobs: HashMap<JobId, Out, RandomState>,
}

/// A job that is out.
#[derive(Clone, Debug)]
struct Out {
    item: Subject,
    /// Wanted evictions.
    eviction: Option<Eviction>,
    /// True if the pod was seen to be gone meanwhile.
    is_gone: bool,
}

impl TaintEviction {
    /// A controller that starts with the state of `cluster`.
    pub fn start(cluster: &Cluster, release: Release, now: Time) -> Self {
        let mut controller = Self::planned(cluster, release, now);
        if release.rules == RuleSupport::On {
            for rule in cluster.rules() {
                controller.queue.add(subject_of(rule));
            }
        }
        controller.push_plans(now);
        controller
    }

    fn planned(cluster: &Cluster, release: Release, now: Time) -> Self {
        let mut controller = Self {
            release,
            rules: Rules::default(),
            plans: Plans::default(),
            claims: HashMap::default(),
            timescale: Timescale::default(),
            evicted: HashSet::default(),
            evicted_by_rule: BTreeMap::new(),
            limit: None,
            queue: Queue::default(),
            jobs: HashMap::default(),
        };
        if !release.evicts {
            return controller;
        }
        controller.rules = evicting_rules(cluster);
        let taints = Taints::of(cluster).where_rules_are(release.rules);
        let mut last: Option<Eviction> = None;
        for claim in cluster.claims() {
            let eviction = claim_eviction_by(claim, &taints, &controller.timescale, now);
            let eviction = eviction.map(|eviction| eviction.sharing(last.as_ref()));
            if eviction.is_some() {
                last.clone_from(&eviction);
            }
            controller.note(&claim.key(), eviction, now);
        }
        let mut pods: BTreeMap<Key, &Arc<Pod>> = BTreeMap::new();
        for key in controller.claims.keys() {
            let Some(claim) = cluster.claim(key) else {
                continue;
            };
            if release.stops_at_missing_pod {
                let found = consumers(cluster, claim, release);
                pods.extend(found.into_iter().map(|pod| (pod.key(), pod)));
            } else {
                pods.extend(cluster.pods_of_claim(key).map(|pod| (pod.key(), pod)));
            }
        }
        for pod in pods.into_values() {
            if let Some(eviction) = controller.eviction_of(cluster, pod) {
                let stays = !pod.metadata.is_deleting();
                controller.plans.insert(PodRef::of(pod), eviction, true, stays);
            }
        }
        controller
    }

    fn push_plans(&mut self, now: Time) {
        let plans: BTreeMap<_, _> = self.plans.iter().collect();
        for (pod, eviction) in plans {
            self.queue.push(Subject::Eviction(pod.clone()), eviction.at, now);
        }
    }

    /// The same, but pauses a rule that would evict more than `limit` pods, including those already evicted. Upstream
    /// has no such limit (kubernetes/kubernetes#141422).
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Self {
            limit: Some(limit),
            ..self
        }
    }

    /// Returns how many pods the rule with this UID would take away in all, if that is more than the limit.
    fn is_held(&self, rule: &Str) -> Option<(usize, usize)> {
        let limit = self.limit?;
        let evicted = self.evicted_by_rule.get(rule).copied().unwrap_or(0);
        let all = self.plans.of_rule(rule) + evicted;
        (all > limit).then_some((all, limit))
    }

    /// Returns when each pod has to go, and why.
    pub fn plans(&self) -> BTreeMap<&PodRef, &Eviction> {
        self.plans.iter().collect()
    }

    /// Returns whether the pod has to go, now or later.
    pub(super) fn has_plan(&self, pod: &PodRef) -> bool {
        self.plans.get(pod).is_some()
    }

    fn eviction_of(&self, cluster: &Cluster, pod: &Pod) -> Option<Eviction> {
        let of_claim = |claim: &Arc<Claim>| {
            let noted = self.claims.get(&claim.key());
            noted.map(|noted| noted.eviction.clone())
        };
        pod_eviction(cluster, pod, self.release, of_claim)
    }

    /// Mirrors `handlePod`.
    fn look_at(&mut self, cluster: &Cluster, pod: &Pod, now: Time, cancelled: &mut Vec<PodRef>) {
        let reference = PodRef::of(pod);
        let Some(eviction) = self.eviction_of(cluster, pod) else {
            if self.plans.remove(&reference) {
                cancelled.push(reference);
            }
            return;
        };
        self.queue
            .push(Subject::Eviction(reference.clone()), eviction.at, now);
        for rule in eviction.reasons.iter().filter_map(Origin::rule) {
            self.push_status(rule, now);
        }
        let counts = !self.evicted.contains(&reference.uid);
        let stays = !pod.metadata.is_deleting();
        self.plans.insert(reference, eviction, counts, stays);
    }

    fn push_status(&mut self, rule: &TaintRule, now: Time) {
        if self.release.rules == RuleSupport::On {
            self.queue.push(subject_of(rule), now.after(STATUS_PERIOD), now);
        }
    }

    /// Mirrors `maybeDeletePod`.
    fn pod_is_due(&mut self, pod: &PodRef, now: Time) -> Option<Work> {
        let eviction = self.plans.get(pod)?.clone();
        if self.evicted.contains(&pod.uid) {
            return None;
        }
        if eviction.at > now {
            self.queue.push(Subject::Eviction(pod.clone()), eviction.at, now);
            return None;
        }
        let mut rules = eviction.reasons.iter().filter_map(Origin::rule);
        if rules.any(|rule| self.is_held(&rule.metadata.uid).is_some()) {
            // The rule may be narrowed, or the pods may finish.
            let later = now.after(STATUS_PERIOD);
            self.queue.push(Subject::Eviction(pod.clone()), later, now);
            return None;
        }
        Some(Work::Evict {
            pod: pod.clone(),
            eviction,
        })
    }

    /// Mirrors `maybeUpdateRuleStatus`.
    fn status_is_due(&mut self, cluster: &Cluster, name: &Str, uid: &Str, now: Time) -> Option<Work> {
        let rule = cluster.rule(name).filter(|rule| rule.metadata.uid == *uid)?;
        let existing = condition_of(rule);
        if let Some(existing) = existing.filter(|c| c.observed_generation == rule.metadata.generation) {
            // One that seems to be written in the future tells nothing: it was under way while the clock was set back.
            let last = existing
                .last_transition_time
                .map(|last| self.timescale.read(last));
            let next = last
                .filter(|last| *last <= now)
                .map(|last| last.after(STATUS_PERIOD));
            if let Some(next) = next.filter(|next| *next > now) {
                self.queue.push(subject_of(rule), next, now);
                return None;
            }
        }
        let mut counts = match rule.spec.taint.effect.as_str() {
            NO_EFFECT => count(cluster, rule, self.release),
            NO_EXECUTE => self.count_pending(cluster, rule),
            _ => RuleCounts::default(),
        };
        counts.evicted = self.evicted_by_rule.get(uid).copied().unwrap_or(0);
        if counts.pods == 0 && self.is_evicting(uid) {
            // The watch may show that a pod is gone before it is known that this was its eviction.
            self.queue.push(subject_of(rule), now.after(STATUS_PERIOD), now);
            return None;
        }
        let written = self.timescale.written(now).unix_seconds();
        let mut condition = rule_condition(rule, counts, Time::from_unix_seconds(written));
        let held = self.is_held(uid).map(|(all, limit)| {
            format!("Eviction is paused: the rule would evict {all} pods, and the limit is {limit}.")
        });
        if let Some(held) = &held {
            condition.message = format!("{} {held}", condition.message).into();
        }
        let is_same = existing.is_some_and(|existing| {
            let last_transition_time = existing.last_transition_time;
            *existing
                == Condition {
                    last_transition_time,
                    ..condition.clone()
                }
        });
        (!is_same).then(|| Work::SetCondition {
            rule: name.clone(),
            uid: uid.clone(),
            condition,
            held,
        })
    }

    /// Returns whether an eviction because of this rule is under way.
    fn is_evicting(&self, uid: &Str) -> bool {
        let mut under_way = self.jobs.values().filter_map(|out| out.eviction.as_ref());
        under_way.any(|eviction| {
            let mut rules = eviction.reasons.iter().filter_map(Origin::rule);
            rules.any(|rule| rule.metadata.uid == *uid)
        })
    }

    /// Mirrors `countPendingPods`, without its walk over all pods.
    fn count_pending(&self, cluster: &Cluster, rule: &TaintRule) -> RuleCounts {
        // Not every pod that counts is planned for there.
        if self.release.stops_at_missing_pod {
            return count(cluster, rule, self.release);
        }
        let (pods, namespaces) = self.plans.staying(&rule.metadata.uid);
        RuleCounts {
            pods,
            namespaces,
            ..RuleCounts::default()
        }
    }

    /// The pod is gone, and with it whatever is known of it.
    fn forget(&mut self, pod: &Pod) {
        let pod = PodRef::of(pod);
        self.plans.remove(&pod);
        self.evicted.remove(&pod.uid);
        let item = Subject::Eviction(pod);
        for out in self.jobs.values_mut().filter(|out| out.item == item) {
            out.is_gone = true;
        }
    }

    /// A pod had its turn; `is_own` says whether that was this controller's doing.
    fn had_its_turn(&mut self, pod: &PodRef, eviction: &Eviction, is_own: bool, now: Time) {
        self.plans.remove(pod);
        if is_own {
            for rule in eviction.reasons.iter().filter_map(Origin::rule) {
                *self.evicted_by_rule.entry(rule.metadata.uid.clone()).or_default() += 1;
                self.push_status(rule, now);
            }
        }
    }
}

impl Controller for TaintEviction {
    fn observe(&mut self, cluster: &Cluster, change: &Observed, now: Time) -> Vec<Notice> {
        let cancelled = self.note_change(cluster, change, now);
        cancelled.into_iter().map(Notice::EvictionCancelled).collect()
    }

    fn clock_was_set(&mut self, cluster: &Cluster, step: ClockStep, now: Time) {
        self.read_anew(cluster, step, now);
    }

    fn next_due(&self, now: Time) -> Option<Time> {
        self.queue.next_due(now)
    }

    fn still_wants(&self, cluster: &Cluster, item: &Subject) -> bool {
        let is_there = match item {
            Subject::Eviction(pod) => self.has_plan(pod),
            Subject::Rule(name, uid) => cluster.rule(name).is_some_and(|rule| rule.metadata.uid == *uid),
            Subject::Pod(_) | Subject::PodGroup(_) | Subject::Claim(_) => false,
        };
        is_there && self.queue.has_failed(item)
    }

    fn queue(&mut self) -> &mut Queue<Subject> {
        &mut self.queue
    }

    fn next(&mut self, id: JobId, cluster: &Cluster, now: Time) -> Option<(Subject, Work)> {
        while let Some(item) = self.queue.pop(now) {
            let work = match &item {
                Subject::Eviction(pod) => self.pod_is_due(pod, now),
                Subject::Rule(name, uid) => self.status_is_due(cluster, name, uid, now),
                // These are the other controller's.
                Subject::Pod(_) | Subject::PodGroup(_) | Subject::Claim(_) => None,
            };
            let Some(work) = work else {
                self.queue.forget(&item);
                self.queue.done(&item);
                continue;
            };
            let eviction = match &work {
                Work::Evict { eviction, .. } => Some(eviction.clone()),
                _ => None,
            };
            let out = Out {
                item: item.clone(),
                eviction,
                is_gone: false,
            };
            self.jobs.insert(id, out);
            return Some((item, work));
        }
        None
    }

    fn done(&mut self, id: JobId, outcome: Outcome, now: Time) {
        let Some(out) = self.jobs.remove(&id) else {
            return;
        };
        let Out {
            item,
            eviction,
            is_gone,
        } = out;
        match outcome {
            Outcome::Unreachable => return self.queue.put_back(&item),
            Outcome::Refused(_) | Outcome::Conflict | Outcome::Taken => {
                self.queue.retry(item.clone(), now);
                return self.queue.done(&item);
            }
            Outcome::Done | Outcome::Gone | Outcome::Answers(_) => {
                if let (Subject::Eviction(pod), Some(eviction)) = (&item, eviction) {
                    if !is_gone {
                        self.evicted.insert(pod.uid.clone());
                    }
                    self.had_its_turn(pod, &eviction, matches!(outcome, Outcome::Done), now);
                }
            }
            Outcome::Parked => {}
        }
        self.queue.forget(&item);
        self.queue.done(&item);
    }
}

fn subject_of(rule: &TaintRule) -> Subject {
    Subject::Rule(rule.metadata.name.clone(), rule.metadata.uid.clone())
}

fn evicting_rules(cluster: &Cluster) -> Rules {
    Rules::of(
        cluster
            .rules()
            .filter(|rule| rule.spec.taint.effect == NO_EXECUTE),
    )
}

#[cfg(test)]
mod clock_tests;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;
