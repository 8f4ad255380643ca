//! Pods that are to end, and what keeps them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cause::{Cause, Evidence};
use super::container::{has_run, has_stopped, is_ready};
use super::drivers::{Plugin, republishing};
use super::heartbeat::Heartbeat;
use super::said;
use super::{
    ENDING_SECONDS, PodStage, SILENT_SECONDS, Stage, Stages, Stuck, Unknown, Waits, needs_unprepare,
};
use crate::eviction::eviction_of;
use crate::owners::replacement;
use crate::reservation::{Lacks, PodGroups, is_consumer, unmade};
use dra_model::{Claim, Event, Key, Kind, Pod, Str, Time};

/// The reason of the kubelet for a pod whose containers it cannot end.
const KILL: &str = "FailedKillPod";

impl<'c> Stages<'c> {
    /// Only finalizers keep a pod that has ended, or that was deleted before it had a node.
    pub(super) fn kept_by_finalizers(&self, pod: &Pod) -> Option<Stuck<'c>> {
        let metadata = &pod.metadata;
        let since = metadata.deletion_timestamp?;
        let is_late = self.now.since(since).as_secs() >= ENDING_SECONDS;
        (is_late && !metadata.finalizers.is_empty()).then(|| {
            Stuck::new(
                Cause::Finalizers(metadata.finalizers.clone()),
                Some(since),
                Evidence::ToBeGone(since),
            )
        })
    }

    /// The kubelet reports the end of a pod once its devices are unprepared, and removes it once its volumes and directories are cleaned up.
    /// Mirrors `kubelet/status/status_manager.go`, `canBeDeleted`, v1.37.2.
    pub(super) fn not_removed(&self, pod: &Pod) -> Option<Stuck<'c>> {
        let since = pod.metadata.deletion_timestamp?;
        let node = pod.node()?;
        let is_late = self.now.since(since).as_secs() >= SILENT_SECONDS && self.has_reported(node, since);
        (is_late && !self.heartbeat(node).is_silent())
            .then(|| Stuck::new(Cause::NotRemoved, Some(since), Evidence::ToBeGone(since)))
    }

    /// The entry of a pod that is being deleted whose claim was never made: the claim controller makes none any more, and the kubelet, which
    /// has prepared nothing, fails as it looks for the name. Mirrors `kubelet/cm/dra/manager.go`, `unprepareResourcesForPod`, v1.37.2.
    fn never_made(&self, pod: &Pod) -> Option<Cause> {
        let has_claims = || self.cluster.claims_of_owner(&pod.metadata.uid).next().is_some();
        if !pod.metadata.is_deleting() || has_run(pod) || has_claims() {
            return None;
        }
        let mut entries = unmade(self.cluster, pod);
        let (entry, _) = entries.find(|(_, unmade)| unmade.lacks == Lacks::Name)?;
        Some(Cause::ClaimNeverMade {
            entry: entry.name.clone(),
        })
    }

    /// Returns why a pod has failed as a whole, in words of its own.
    pub(super) fn failed(&self, pod: &'c Pod) -> Option<Stuck<'c>> {
        let status = &pod.status;
        if status.phase != "Failed" {
            return None;
        }
        let of_status = status.reason.as_deref().filter(|reason| !reason.is_empty());
        let (reason, message) = match of_status {
            Some(reason) => (reason, status.message.as_deref()),
            None => eviction_of(pod).map(|condition| (&condition.reason, Some(&condition.message)))?,
        };
        Some(Stuck::new(
            Cause::PodFailed {
                reason: reason.clone(),
                message: message.cloned(),
                is_replaced: replacement(self.cluster, pod).is_some_and(|other| is_ready(other)),
            },
            None,
            Evidence::Failed,
        ))
    }

    /// The newest event of the kubelet about the pod, if that is that its containers cannot be ended.
    fn kill_fails(&self, pod: &Pod) -> Option<&'c Event> {
        let events = self.cluster.events_of(Kind::Pod, &pod.metadata).into_iter();
        let own = events
            .filter(|event| event.component() == "kubelet" && event.involved_object.uid == pod.metadata.uid);
        let newest = own.max_by_key(|event| (event.last_seen(), event.reason == KILL))?;
        (newest.reason == KILL).then_some(newest)
    }

    /// The last pod that is gone from the API while the kubelet of the node could not end its containers: it was deleted by force, and they may run on.
    pub(super) fn survivor(&self, node: &Str) -> Option<Key> {
        let is_gone = |event: &&Arc<Event>| {
            let object = &event.involved_object;
            let key = Key::new(object.namespace.clone(), object.name.clone());
            let pod = self.cluster.pod(&key);
            pod.is_none_or(|pod| pod.metadata.uid != object.uid)
        };
        if !self.reads_all || self.cluster.gap(Kind::Pod, "").is_some() {
            return None;
        }
        let failed = self
            .cluster
            .events()
            .filter(|event| event.reason == KILL && event.source.host == *node);
        let last = failed.filter(is_gone).max_by_key(|event| event.last_seen())?;
        let object = &last.involved_object;
        Some(Key::new(object.namespace.clone(), object.name.clone()))
    }

    /// A pod that is being deleted, or has finished, since then, as `ended` shows. No event shows what the kubelet is
    /// missing to terminate it: it only logs that a driver does not unprepare devices.
    pub(super) fn ends(&self, found: &mut PodStage<'c>, node: &Str, since: Time, ended: Evidence<'c>) {
        let pod = found.pod;
        let heartbeat = self.heartbeat(node);
        if !heartbeat.is_silent()
            && let Some(event) = self.kill_fails(pod)
        {
            if !has_stopped(pod) {
                found.stage = Stage::Running;
            }
            let text = event.message.trim().to_owned();
            let cause = if said::is_unanswered(&text) {
                Cause::RuntimeDown { text }
            } else {
                Cause::KillFails {
                    text,
                    only_sandbox: has_stopped(pod),
                }
            };
            found.stuck = Some(Stuck::told(cause, event));
            return;
        }
        let late = self.now.since(since).as_secs();
        if late < ENDING_SECONDS {
            return;
        }
        if heartbeat.is_silent() || self.lacks_runtime(node, heartbeat) {
            found.stuck = self.not_ready(node).map(|mut stuck| {
                stuck.since = Some(since);
                stuck.evidence.insert(0, ended);
                stuck
            });
            return;
        }
        // The time to end is part of the grace period: what comes after that takes the container runtime seconds.
        if !has_stopped(pod) && late >= SILENT_SECONDS && self.has_reported(node, since) {
            let cause = Cause::ContainersNotStopped;
            found.stuck = Some(Stuck::new(cause, Some(since), ended));
            return;
        }
        if !has_stopped(pod) {
            found.waits = Some(Waits {
                node_is_ready: heartbeat == Heartbeat::Ready,
            });
            return;
        }
        if let Some(gap) = self.cluster.gap(Kind::ResourceClaim, &pod.metadata.namespace) {
            found.unknown.push(Unknown::Gap(gap));
            return;
        }
        let stopped = |cause| Stuck {
            cause,
            since: Some(since),
            evidence: vec![ended.clone(), Evidence::Stopped],
        };
        if let Some(cause) = self.never_made(pod) {
            found.stuck = Some(stopped(cause));
            return;
        }
        // What another pod on the node uses is not taken back yet. Mirrors `kubelet/cm/dra/manager.go`, `unprepareResources`, v1.37.2.
        let is_last = |claim: &&Arc<Claim>| {
            let key = claim.key();
            let mut others = self.cluster.pods_of_claim(&key);
            !others.any(|other| {
                other.metadata.uid != pod.metadata.uid
                    && other.node() == Some(node)
                    && is_consumer(other, claim, PodGroups::Accepted)
            })
        };
        let drivers: BTreeSet<Str> = self
            .claims(pod)
            .filter(is_last)
            .flat_map(|claim| claim.results())
            .filter(|result| needs_unprepare(result))
            .map(|result| result.driver.clone())
            .collect();
        // A driver that is not there explains it better than one that is.
        let mut present = Vec::new();
        for driver in drivers {
            // What it publishes was deleted just now, and it may have yet to register.
            if republishing(self.cluster, node, Some(&driver), self.now).is_some() {
                return;
            }
            let plugin = self.plugin(&driver, node);
            let absent = match &plugin {
                Plugin::Hidden => {
                    found.unknown.extend(self.drivers().hidden);
                    continue;
                }
                Plugin::None { .. } | Plugin::Failed(..) => self.publishes(&driver, node) == Some(false),
                Plugin::Crashing(..) | Plugin::Pending(..) | Plugin::OtherFolder(..) => true,
                // What has no container running yet cannot have registered.
                Plugin::NotReady(pod)
                    if self
                        .cluster
                        .pod(pod)
                        .is_some_and(|pod| pod.status.phase == "Pending") =>
                {
                    true
                }
                Plugin::NotReady(_) | Plugin::Starting(..) | Plugin::Ready(..) => false,
            };
            if absent {
                found.stuck = Some(stopped(Cause::DriverNotRegistered { driver, plugin }));
                return;
            }
            present.push((driver, plugin));
        }
        if !present.is_empty() {
            found.stuck = Some(stopped(Cause::UnprepareFails { drivers: present }));
        }
    }

    /// Returns whether a driver publishes anything for a node: what the kubelet deletes half a minute after it is gone.
    fn publishes(&self, driver: &Str, node: &Str) -> Option<bool> {
        if self.cluster.gap(Kind::ResourceSlice, "").is_some() {
            return None;
        }
        self.cluster.node(node)?;
        self.publishes_for(driver, node)
    }
}
