//! Pods that run, and what their devices are in danger of.

use super::cause::{Cause, Evidence};
use super::drivers::kubelet_started;
use super::{Stages, Stuck};
use crate::health::{Health, health_of_claims};
use dra_allocator::devices::Inventory;
use dra_model::{AllocatedDevice, DeviceId, Kind, Pod};

/// How long drivers may take until they have published again what the start of a kubelet deleted.
const PUBLISHING_SECONDS: u64 = 60;

impl<'c> Stages<'c> {
    /// What a pod that runs has to fear.
    pub(super) fn endangered(&self, pod: &'c Pod) -> Option<Stuck<'c>> {
        for of_claim in health_of_claims(pod) {
            let mut resources = of_claim.resources.iter();
            let broken = resources.find(|resource| Health::of_resource(resource) == Health::Unhealthy);
            if let Some(resource) = broken {
                let text = resource.message.as_ref().map(ToString::to_string);
                let cause = Cause::DeviceUnhealthy {
                    device: resource.resource_id.to_string(),
                    text: text.unwrap_or_default(),
                };
                return Some(Stuck::new(cause, None, Evidence::Status(of_claim.container)));
            }
        }
        let mut lost = Vec::new();
        for claim in self.claims(pod) {
            for status in &claim.status.devices {
                let mut conditions = status.conditions.iter();
                let broken =
                    conditions.find(|condition| Health::of_condition(condition) == Some(Health::Unhealthy));
                if let Some(condition) = broken {
                    let cause = Cause::DeviceUnhealthy {
                        device: status.id().to_string(),
                        text: condition.message.to_string(),
                    };
                    let evidence = Evidence::Condition(claim, condition);
                    return Some(Stuck::new(cause, condition.last_transition_time, evidence));
                }
            }
            lost.extend(claim.results().iter().filter(|result| !self.is_published(result)));
        }
        let devices: Vec<DeviceId> = lost.into_iter().map(AllocatedDevice::id).collect();
        // Each start of a kubelet deletes the slices of its node, and drivers publish them again when it asks them to.
        let has_just_started = || {
            let started = pod.node().and_then(|node| kubelet_started(self.cluster, node));
            started.is_some_and(|started| self.now.since(started).as_secs() < PUBLISHING_SECONDS)
        };
        (!devices.is_empty() && !has_just_started())
            .then(|| Stuck::new(Cause::DeviceNotPublished { devices }, None, Evidence::NoSlice))
    }

    fn is_published(&self, result: &AllocatedDevice) -> bool {
        let unpublished = self
            .unpublished
            .get_or_init(|| Inventory::of(self.cluster).unpublished().into_iter().collect());
        self.cluster.gap(Kind::ResourceSlice, "").is_some() || !unpublished.contains(&result.id())
    }
}
