//! Effects of object changes on evictions: affected claims and pods.
//!
//! Mirrors `device_taint_eviction.go`, v1.37.2.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{TaintEviction, evicting_rules, subject_of};
use crate::controllers::Observed;
use crate::controllers::work::PodRef;
use crate::eviction::{EvictingClaims, Eviction, claim_eviction_by, consumers};
use dra_allocator::devices::{RuleSupport, Rules, Taints};
use dra_model::{Claim, Cluster, DeviceId, Key, Object, Pod, Slice, Str, TaintRule, Time};

/// For so many claims it pays to gather the taints of the whole cluster.
const GATHERING: usize = 1000;

impl TaintEviction {
    /// Takes note of a change, and returns the pods whose planned eviction is called off.
    pub(super) fn note_change(&mut self, cluster: &Cluster, change: &Observed, now: Time) -> Vec<PodRef> {
        let mut cancelled = Vec::new();
        if !self.release.evicts {
            return cancelled;
        }
        let mut pods = Vec::new();
        let both = [&change.before, &change.after];
        match change.after.as_ref().or(change.before.as_ref()) {
            Some(Object::ResourceClaim(_)) => {
                let claims = both.map(|object| match object {
                    Some(Object::ResourceClaim(claim)) => Some(claim),
                    _ => None,
                });
                self.claim_changed(cluster, claims, now, &mut pods);
            }
            // It is gone: nothing to call off that anybody could see.
            Some(Object::Pod(pod)) if change.after.is_none() => self.forget(pod),
            Some(Object::Pod(pod)) => match &change.before {
                Some(Object::Pod(before)) if before.metadata.uid != pod.metadata.uid => {
                    self.forget(before);
                    pods.push(Arc::clone(pod));
                }
                Some(Object::Pod(before))
                    if before.spec.node_name == pod.spec.node_name
                        && !statuses_differ(before, pod, self.release.claims) =>
                {
                    if pod.metadata.is_deleting() {
                        self.plans.leaves(&PodRef::of(pod));
                    }
                }
                _ => pods.push(Arc::clone(pod)),
            },
            Some(Object::DeviceTaintRule(_)) => {
                let rules = both.map(|object| match object {
                    Some(Object::DeviceTaintRule(rule)) => Some(rule),
                    _ => None,
                });
                self.rule_changed(cluster, rules, now, &mut pods);
            }
            Some(Object::ResourceSlice(_)) => {
                for object in both.into_iter().flatten() {
                    if let Object::ResourceSlice(slice) = object {
                        self.slice_changed(cluster, slice, now, &mut pods);
                    }
                }
            }
            _ => {}
        }
        self.make_room(pods.len());
        for pod in pods {
            self.look_at(cluster, &pod, now, &mut cancelled);
        }
        cancelled
    }

    /// So many pods may have to go soon: growing bit by bit would hash all of them again each time.
    fn make_room(&mut self, pods: usize) {
        self.plans.make_room(pods);
        self.evicted.reserve(pods.saturating_sub(self.evicted.len()));
    }

    /// Mirrors `handleClaimChange`.
    fn claim_changed(
        &mut self,
        cluster: &Cluster,
        [before, after]: [Option<&Arc<Claim>>; 2],
        now: Time,
        pods: &mut Vec<Arc<Pod>>,
    ) {
        let is_allocated = |claim: &Arc<Claim>| claim.status.allocation.is_some();
        match (before, after) {
            (Some(before), Some(after)) if before.metadata.uid != after.metadata.uid => {
                self.claim_changed(cluster, [Some(before), None], now, pods);
                self.claim_changed(cluster, [None, Some(after)], now, pods);
            }
            (before, Some(after)) => {
                let was_allocated = before.is_some_and(is_allocated);
                if !was_allocated && !is_allocated(after) {
                    return;
                }
                if !is_allocated(after) {
                    self.note(&after.key(), None, now);
                } else if !was_allocated {
                    self.evaluate(cluster, after, now);
                }
                // An allocation never changes, so what was found for it stays.
                if let Some(before) =
                    before.filter(|before| before.status.reserved_for != after.status.reserved_for)
                {
                    pods.extend(self.consumers_of(cluster, before));
                }
                pods.extend(self.consumers_of(cluster, after));
            }
            (Some(before), None) => {
                self.note(&before.key(), None, now);
                pods.extend(self.consumers_of(cluster, before));
            }
            (None, None) => {}
        }
    }

    /// Mirrors `handleRuleChange`.
    fn rule_changed(
        &mut self,
        cluster: &Cluster,
        [before, after]: [Option<&Arc<TaintRule>>; 2],
        now: Time,
        pods: &mut Vec<Arc<Pod>>,
    ) {
        if self.release.rules == RuleSupport::Off {
            return;
        }
        if let (Some(before), Some(after)) = (before, after) {
            if before.metadata.uid != after.metadata.uid {
                self.rule_changed(cluster, [Some(before), None], now, pods);
                self.rule_changed(cluster, [None, Some(after)], now, pods);
                return;
            }
            let (old, new) = (&before.spec, &after.spec);
            if old.device_selector == new.device_selector && old.taint == new.taint {
                return;
            }
        }
        match (before, after) {
            (_, Some(after)) if self.release.rules == RuleSupport::On => {
                // Before any pod, so that the first status tells how many there are.
                self.queue.add(subject_of(after));
            }
            (Some(before), None) => {
                self.evicted_by_rule.remove(&before.metadata.uid);
            }
            _ => {}
        }
        self.rules = evicting_rules(cluster);
        let concerned: Vec<&Arc<Claim>> = {
            let of_rules = Rules::of([before, after].into_iter().flatten());
            cluster
                .claims()
                .filter(|claim| {
                    claim
                        .results()
                        .iter()
                        .any(|result| of_rules.count(&result.id()) > 0)
                })
                .collect()
        };
        self.evaluate_all(cluster, &concerned, now, pods, Eviction::is_unchanged);
    }

    /// Mirrors `handleSliceChange`: claims are looked at again whose device's taints are not what they were.
    fn slice_changed(&mut self, cluster: &Cluster, slice: &Arc<Slice>, now: Time, pods: &mut Vec<Arc<Pod>>) {
        let id = slice.pool_id();
        // Also of outdated slices, as the generation may have changed.
        let in_pool = cluster.slices_of_pool(&id);
        let devices: BTreeSet<DeviceId> = in_pool
            .chain([slice])
            .flat_map(|slice| &slice.spec.devices)
            .map(|device| id.device(&device.name))
            .collect();
        let claims: BTreeMap<Key, &Arc<Claim>> = devices
            .iter()
            .flat_map(|device| cluster.claims_of_device(device))
            .map(|claim| (claim.key(), claim))
            .collect();
        let claims: Vec<_> = claims.into_values().collect();
        let same_taints = |eviction: &Eviction, before: &Eviction| {
            eviction == before
                && (eviction.reasons.iter().zip(&*before.reasons)).all(|(a, b)| a.taint() == b.taint())
        };
        self.evaluate_all(cluster, &claims, now, pods, same_taints);
    }

    /// Reevaluates claims, and collects the pods whose eviction changes.
    pub(super) fn evaluate_all(
        &mut self,
        cluster: &Cluster,
        claims: &[&Arc<Claim>],
        now: Time,
        pods: &mut Vec<Arc<Pod>>,
        is_same: impl Fn(&Eviction, &Eviction) -> bool,
    ) {
        let evictions: Vec<Option<Eviction>> = {
            let taints = if claims.len() < GATHERING {
                Taints::lookup(cluster, &self.rules)
            } else {
                Taints::of(cluster)
            };
            let taints = taints.where_rules_are(self.release.rules);
            let scale = &self.timescale;
            let mut last: Option<Eviction> = None;
            let evictions = claims.iter().map(|claim| {
                let eviction = claim_eviction_by(claim, &taints, scale, now)?.sharing(last.as_ref());
                last = Some(eviction.clone());
                Some(eviction)
            });
            evictions.collect()
        };
        let going = evictions.iter().flatten().count();
        self.claims.reserve(going.saturating_sub(self.claims.len()));
        for (claim, eviction) in claims.iter().zip(evictions) {
            let key = claim.key();
            let changed = match (&eviction, self.claims.get(&key)) {
                (None, None) => false,
                (Some(eviction), Some(before)) => !is_same(eviction, &before.eviction),
                _ => true,
            };
            self.note(&key, eviction, now);
            if changed {
                pods.extend(self.consumers_of(cluster, claim));
            }
        }
    }

    fn evaluate(&mut self, cluster: &Cluster, claim: &Claim, now: Time) {
        let taints = Taints::lookup(cluster, &self.rules).where_rules_are(self.release.rules);
        let eviction = claim_eviction_by(claim, &taints, &self.timescale, now);
        self.note(&claim.key(), eviction, now);
    }

    fn consumers_of(&self, cluster: &Cluster, claim: &Claim) -> Vec<Arc<Pod>> {
        let pods = consumers(cluster, claim, self.release);
        pods.into_iter().cloned().collect()
    }
}

/// Returns whether the pod may have other claims now. Mirrors `handlePodChange`, which asks `PodStatusEqual` of `resourceclaim/pod.go`, and from
/// 1.37.2 on `PodExtendedStatusEqual`. The order of statuses counts.
fn statuses_differ(a: &Pod, b: &Pod, counting: EvictingClaims) -> bool {
    fn names(pod: &Pod) -> impl Iterator<Item = (&Str, Option<&Str>)> {
        let statuses = pod.status.resource_claim_statuses.iter();
        statuses.map(|status| (&status.name, status.resource_claim_name.as_ref()))
    }
    let (before, after) = (&a.status, &b.status);
    !names(a).eq(names(b))
        || counting.has_extended()
            && before.extended_resource_claim_status != after.extended_resource_claim_status
}
