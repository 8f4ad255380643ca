//! Pods that run, and what their devices are in danger of.

use super::cause::{Cause, Evidence};
use super::drivers::republishing;
use super::{Stages, Stuck};
use crate::health::{Health, HealthIndex, health_of_claims};
use dra_allocator::devices::Inventory;
use dra_model::{AllocatedDevice, DeviceId, Kind, Pod};

impl<'c> Stages<'c> {
    /// Returns what a pod that runs has to fear.
    pub(super) fn endangered(&self, pod: &'c Pod) -> Option<Stuck<'c>> {
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
        let is_lost = |result: &&&AllocatedDevice| {
            let node = pod.node();
            node.and_then(|node| republishing(self.cluster, node, Some(&result.driver), self.now))
                .is_none()
        };
        let devices: Vec<DeviceId> = lost.iter().filter(is_lost).map(|result| result.id()).collect();
        (!devices.is_empty())
            .then(|| Stuck::new(Cause::DeviceNotPublished { devices }, None, Evidence::NoSlice))
    }

    fn is_published(&self, result: &AllocatedDevice) -> bool {
        let unpublished = self
            .unpublished
            .get_or_init(|| Inventory::of(self.cluster).unpublished().into_iter().collect());
        self.cluster.gap(Kind::ResourceSlice, "").is_some() || !unpublished.contains(&result.id())
    }
}
