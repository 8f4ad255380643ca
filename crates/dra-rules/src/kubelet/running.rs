//! Pods that run, and what their devices are in danger of.

use std::sync::Arc;

use super::cause::{Cause, Due, Evidence};
use super::container::{is_ready, outlasted};
use super::drivers::{PUBLISHING_SECONDS, republishing, unready};
use super::starting::MOUNTING_SECONDS;
use super::{EVICTING, Stages, Stuck, said};
use crate::eviction::{
    EvictingClaims, Release, claim_eviction, evicting_claims, evicting_taint, lacks_effect, pod_eviction,
    rules_are_guessed,
};
use crate::health::{Health, HealthIndex, health_of_claims};
use dra_allocator::devices::{Taints, keeps_off};
use dra_model::{AllocatedDevice, DeviceId, Event, Kind, Pod, Pool, PoolId, Str, TaintRule, Time};

/// Returns whether all that these events of probes tell is that containers are starting, and none was restarted.
fn are_starting(pod: &Pod, of_probes: &[&Arc<Event>]) -> bool {
    let mut statuses = pod.status.container_statuses.iter();
    !of_probes.is_empty()
        && of_probes.iter().all(|event| said::is_of_startup(event))
        && !statuses.any(|status| status.restart_count > 0)
}

impl<'c> Stages<'c> {
    /// Returns what a pod that runs has to fear.
    pub(super) fn endangered(&self, pod: &'c Pod, node: &Str) -> Option<Stuck<'c>> {
        self.unhealthy(pod)
            .or_else(|| self.lags_behind(pod))
            .or_else(|| self.evicted(pod, node))
            .or_else(|| self.unready(pod, node))
            .or_else(|| self.unlisted(pod))
    }

    /// Returns that a taint of a device of the pod evicts it.
    fn evicted(&self, pod: &'c Pod, node: &Str) -> Option<Stuck<'c>> {
        let mut release = Release::of(self.cluster.environment());
        if !release.evicts {
            return None;
        }
        let is_passed_over = !release.claims.has_extended()
            && pod.status.extended_resource_claim_status.is_some()
            && pod_eviction(self.cluster, pod, release, |claim| {
                claim_eviction(claim, self.taints(), self.now)
            })
            .is_none();
        if is_passed_over {
            release.claims = EvictingClaims::OfExtendedResources;
        }
        let taints = self.taints();
        let mut claims = evicting_claims(self.cluster, pod, release);
        let (results, (device, taint, rule)) =
            claims.find_map(|claim| Some((claim.results(), evicting_taint(claim.results(), taints)?)))?;
        let lacks_effect = results
            .iter()
            .any(|result| result.id() == device && lacks_effect(&taint, &result.tolerations));
        let eviction = pod_eviction(self.cluster, pod, release, |claim| {
            claim_eviction(claim, taints, self.now)
        })?;
        let since = taint.time_added;
        // The controller writes the status of each rule.
        let of_name = |found: &&Arc<TaintRule>| rule.as_ref() == Some(&found.metadata.name);
        let mut rules = self.cluster.rules().filter(of_name);
        let is_unserved = rules_are_guessed(self.cluster.environment())
            && rules.any(|rule| rule.status.conditions.is_empty());
        let there = [pod.metadata.creation_timestamp, pod.status.start_time]
            .into_iter()
            .flatten();
        let cause = Cause::ToBeEvicted {
            device,
            rule,
            lacks_effect,
            taint,
            due: match self.due(node, there.fold(eviction.at, Time::max)) {
                _ if is_passed_over => Due::PassedOver,
                Due::Overdue(at) if is_unserved => Due::Unserved(at),
                due => due,
            },
        };
        Some(Stuck::new(cause, since, Evidence::Tainted(since)))
    }

    /// Returns what becomes of an eviction that is due then. The controller evicts within seconds; a file may have been written before.
    fn due(&self, node: &Str, at: Time) -> Due {
        if at > self.now {
            Due::Later(at)
        } else if self.has_reported(node, at.after(EVICTING)) {
            Due::Overdue(at)
        } else {
            Due::Now
        }
    }

    /// Returns that the pod is not ready, for longer than containers need to start.
    fn unready(&self, pod: &'c Pod, node: &Str) -> Option<Stuck<'c>> {
        let ready = unready(pod)?;
        let since = ready.last_transition_time?;
        if self.now.since(since).as_secs() < MOUNTING_SECONDS {
            return None;
        }
        // A node that is not ready makes its pods unready.
        if let Some(of_node) = self.not_ready(node) {
            return Some(of_node);
        }
        if let Some((container, end, others)) = outlasted(pod) {
            let cause = Cause::ContainersLeft {
                container: container.clone(),
                end: end.clone(),
                others: others.into_iter().cloned().collect(),
            };
            return Some(Stuck::new(cause, end.finished_at, Evidence::Ended(container)));
        }
        let of_probe = self.failed_probes(pod, since);
        if are_starting(pod, &of_probe) {
            return None;
        }
        // A restart makes the container unready, too.
        let mut statuses = pod.status.container_statuses.iter();
        let restarts = statuses.any(|status| status.restart_count > 0);
        let ends = |event: &Event| restarts && said::is_of_restarting_probe(event);
        let told = of_probe
            .into_iter()
            .max_by_key(|event| (ends(event), event.last_seen()));
        Some(match told {
            Some(event) => {
                let cause = Cause::NotReady {
                    container: event.container().map(Str::from),
                    text: event.message.to_string(),
                };
                Stuck::told(cause, event)
            }
            None => {
                let cause = Cause::NotReady {
                    container: None,
                    text: ready.message.to_string(),
                };
                Stuck::new(cause, Some(since), Evidence::Unready(ready))
            }
        })
    }

    /// Returns whether the pod runs and is not ready, as a container of it is starting: its startup probe alone has failed since.
    pub fn is_starting_up(&self, pod: &Pod) -> bool {
        let since = unready(pod).and_then(|ready| ready.last_transition_time);
        since.is_some_and(|since| are_starting(pod, &self.failed_probes(pod, since)))
    }

    /// The failures of probes of the pod since then.
    fn failed_probes(&self, pod: &Pod, since: Time) -> Vec<&'c Arc<Event>> {
        let events = self.cluster.events_of(Kind::Pod, &pod.metadata).into_iter();
        let of_probe = events
            .filter(|event| event.reason == said::UNHEALTHY && event.involved_object.uid == pod.metadata.uid);
        of_probe
            .filter(|event| event.last_seen().is_some_and(|seen| seen >= since))
            .collect()
    }

    /// Returns that a device of the pod is reported to be broken, by the kubelet or by a driver.
    pub fn unhealthy(&self, pod: &'c Pod) -> Option<Stuck<'c>> {
        for of_claim in health_of_claims(pod) {
            let mut resources = of_claim.resources.iter();
            let broken = resources.find(|resource| Health::of_resource(resource) == Health::Unhealthy);
            if let Some(resource) = broken {
                let text = resource.message.as_ref().map(ToString::to_string);
                let device = HealthIndex::device_of(self.cluster, pod, resource);
                let cause = Cause::DeviceUnhealthy {
                    device: device
                        .map_or_else(|| resource.resource_id.to_string(), |device| device.to_string()),
                    text: text.unwrap_or_default(),
                };
                return Some(Stuck::new(cause, None, Evidence::Status(of_claim.container)));
            }
        }
        self.claims(pod).find_map(|claim| {
            claim.status.devices.iter().find_map(|status| {
                let mut conditions = status.conditions.iter();
                let condition = conditions
                    .find(|condition| Health::of_condition(condition) == Some(Health::Unhealthy))?;
                let cause = Cause::DeviceUnhealthy {
                    device: status.id().to_string(),
                    text: condition.message.to_string(),
                };
                let evidence = Evidence::Condition(claim, condition);
                Some(Stuck::new(cause, condition.last_transition_time, evidence))
            })
        })
    }

    /// Returns whether a device of the pod, by its name, has a taint that keeps it from being allocated again.
    pub fn is_kept_off(&self, pod: &Pod, device: &str) -> bool {
        let taints = self.taints();
        let mut results = self.claims(pod).flat_map(|claim| claim.results());
        results.any(|result| {
            let id = result.id();
            id.to_string() == device
                && taints
                    .of_device(&id)
                    .any(|found| keeps_off(found.taint) && !result.tolerations.tolerate(found.taint))
        })
    }

    /// The taints of devices, with those of rules that evict pods.
    fn taints(&self) -> &Taints<'c> {
        let release = Release::of(self.cluster.environment());
        self.taints
            .get_or_init(|| Taints::of(self.cluster).where_rules_are(release.rules))
    }

    /// Returns that devices of the pod are not published any more.
    fn unlisted(&self, pod: &Pod) -> Option<Stuck<'c>> {
        let results = self.claims(pod).flat_map(|claim| claim.results());
        let lost = results.filter(|result| !self.is_published(result));
        let is_lost = |result: &&AllocatedDevice| {
            let node = pod.node();
            node.and_then(|node| republishing(self.cluster, node, Some(&result.driver), self.now))
                .is_none()
        };
        let devices: Vec<DeviceId> = lost.filter(is_lost).map(|result| result.id()).collect();
        let first = devices.first()?;
        let are_gone = pod
            .node()
            .is_some_and(|node| self.publishes_all(&first.pool_id(), node));
        let cause = Cause::DeviceNotPublished { devices, are_gone };
        Some(Stuck::new(cause, None, Evidence::NoSlice))
    }

    /// Returns whether the driver of a pool, which it still publishes, and other devices for the node, does not omit devices in use: it publishes one that a
    /// pod has run with for a while.
    pub fn publishes_all(&self, pool: &PoolId, node: &Str) -> bool {
        let (cluster, driver) = (self.cluster, &pool.driver);
        let runs = |pod: &Arc<Pod>| {
            let start = pod.status.start_time;
            is_ready(pod) && start.is_some_and(|start| self.now.since(start).as_secs() >= PUBLISHING_SECONDS)
        };
        let is_shown = |result: &AllocatedDevice| {
            let is_whole = result.takes() && result.share_id.is_none();
            result.driver == *driver && is_whole && self.is_published(result)
        };
        let shows = || {
            cluster.claims().any(|claim| {
                claim.results().iter().any(is_shown) && cluster.pods_of_claim(&claim.key()).any(runs)
            })
        };
        cluster.node(node).is_some()
            && self.publishes_for(driver, node) == Some(true)
            && cluster.pool(pool).is_some()
            && *self
                .shown
                .borrow_mut()
                .entry(driver.clone())
                .or_insert_with(shows)
    }

    fn is_published(&self, result: &AllocatedDevice) -> bool {
        let names = |id: &PoolId| {
            let pool = self.cluster.pool(id);
            let devices = pool.iter().flat_map(Pool::devices);
            devices.map(|(_, device)| device.name.clone()).collect()
        };
        let mut published = self.published.borrow_mut();
        let of_pool = published.entry(result.id().pool_id()).or_insert_with_key(names);
        self.cluster.gap(Kind::ResourceSlice, "").is_some() || of_pool.contains(&result.device)
    }
}
