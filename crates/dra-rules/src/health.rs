//! Reported health of allocated devices.
//!
//! Three reporters: the kubelet, which writes the health that drivers tell it into the status of containers; drivers, which write
//! conditions into the claim; and binding conditions, which say whether an attached device has arrived.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use strum::Display;

use crate::reservation::claim_name;
use crate::scheduling::DeviceBinding;
use dra_allocator::devices::{DeviceTaint, Inventory, Taints, keeps_off};
use dra_model::{
    AllocatedDevice, Claim, Cluster, Component, Condition, ContainerStatus, Device, DeviceId, Gap, Gate,
    Kind, Pod, Pool, ResourceHealth, Str, Taint, lookup,
};

/// The health of a device, worst first: the worst report decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, Display)]
pub enum Health {
    /// Broken.
    Unhealthy,
    /// It will not be attached.
    BindingFailed,
    /// It is not attached yet.
    BindingPending,
    /// The reporter does not know, or the device is unknown.
    Unknown,
    /// In order.
    Healthy,
}

impl Health {
    /// Returns what the kubelet says of a resource. Mirrors `api/core/v1/types.go`, `ResourceHealthStatus`, v1.37.2.
    pub fn of_resource(resource: &ResourceHealth) -> Self {
        match resource.health.as_str() {
            "Healthy" => Self::Healthy,
            "Unhealthy" => Self::Unhealthy,
            _ => Self::Unknown,
        }
    }

    /// Returns what a condition says that a driver wrote into a claim; none unless it has one of the customary types `Ready` and `Healthy`.
    pub fn of_condition(condition: &Condition) -> Option<Self> {
        let tells_health = matches!(condition.type_.as_str(), "Ready" | "Healthy");
        tells_health.then(|| match condition.status.as_str() {
            "True" => Self::Healthy,
            "False" => Self::Unhealthy,
            _ => Self::Unknown,
        })
    }
}

/// Words for a fault in the type of a condition.
const FAULTS: [&str; 9] = [
    "unhealth", "fail", "broken", "degrad", "defect", "lost", "error", "problem", "pressure",
];

/// The conditions that a driver has set to `False` in the claim for its devices and that only the driver understands: they tell neither health
/// nor whether the device is attached, nor by their name that there is no fault.
pub fn unmet_conditions(claim: &Claim) -> impl Iterator<Item = (DeviceId, &Condition)> {
    let of_device = |result: &AllocatedDevice, condition: &Condition| {
        let is_binding = |type_: &Str| *type_ == condition.type_;
        let lower = condition.type_.to_ascii_lowercase();
        condition.status == "False"
            && Health::of_condition(condition).is_none()
            && !result.binding_conditions.iter().any(is_binding)
            && !result.binding_failure_conditions.iter().any(is_binding)
            && !FAULTS.iter().any(|fault| lower.contains(fault))
    };
    claim.results().iter().flat_map(move |result| {
        let statuses = claim.status.devices.iter();
        let own = statuses.filter(|status| status.id() == result.id() && status.share_id == result.share_id);
        let conditions = own.flat_map(|status| &status.conditions);
        let told = conditions.filter(move |condition| of_device(result, condition));
        told.map(|condition| (result.id(), condition))
    })
}

/// A device that a taint says to be broken, with devices that are parts of the same hardware.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The device.
    pub id: DeviceId,
    /// The taint that says so, and keeps pods off.
    pub taint: Taint,
    /// The devices that no taint keeps pods off, though they draw on counters that the broken one uses up.
    pub partitions: Vec<DeviceId>,
}

/// The devices that a taint says to be broken while the scheduler may still allocate others of the same hardware: those that cannot be
/// used beside it, as both together want more of a counter than there is. No API says what a partition is a part of.
pub fn broken_with_partitions(cluster: &Cluster) -> Vec<Broken> {
    let environment = cluster.environment();
    if !environment.enabled(Component::Scheduler, Gate::DRAPartitionableDevices) {
        return Vec::new();
    }
    let taints = Taints::of(cluster);
    let mut found = Vec::new();
    for pool in cluster.pools() {
        let drawing: Vec<&Device> = (pool.devices())
            .map(|(_, device)| device)
            .filter(|device| !device.consumes_counters.is_empty())
            .collect();
        if drawing.len() < 2 {
            continue;
        }
        let kept_off = |device: &Device| {
            let id = pool.device_id(&device.name);
            let found = taints.of_device(&id);
            found.filter(|found| keeps_off(found.taint)).collect()
        };
        let tainted: Vec<Vec<DeviceTaint<'_>>> = drawing.iter().map(|device| kept_off(device)).collect();
        for (device, own) in drawing.iter().zip(&tainted) {
            let Some(taint) = own.iter().find(|found| found.says_unhealthy()) else {
                continue;
            };
            let others = drawing.iter().zip(&tainted).filter(|(_, own)| own.is_empty());
            let partitions = others.filter(|(other, _)| exclude_each_other(&pool, device, other));
            let partitions: Vec<DeviceId> =
                partitions.map(|(other, _)| pool.device_id(&other.name)).collect();
            if !partitions.is_empty() {
                found.push(Broken {
                    id: pool.device_id(&device.name),
                    taint: taint.taint.clone(),
                    partitions,
                });
            }
        }
    }
    found
}

/// Returns whether two devices of a pool want more of a counter together than there is.
fn exclude_each_other(pool: &Pool<'_>, one: &Device, other: &Device) -> bool {
    one.consumes_counters.iter().any(|own| {
        let mut sets = pool.slices.iter().flat_map(|slice| &slice.spec.shared_counters);
        let Some(set) = sets.find(|set| set.name == own.counter_set) else {
            return false;
        };
        let others = other
            .consumes_counters
            .iter()
            .filter(|other| other.counter_set == own.counter_set);
        others.flat_map(|other| &other.counters).any(|(name, wanted)| {
            let (Some(own), Some(total)) = (lookup(&own.counters, name), lookup(&set.counters, name)) else {
                return false;
            };
            let mut sum = own.value.clone();
            sum.add(&wanted.value);
            sum > total.value
        })
    })
}

/// Health of a claim or one of its requests in a container's status, written by the kubelet.
#[derive(Clone, Copy, Debug)]
pub struct ClaimHealth<'a> {
    /// The container.
    pub container: &'a ContainerStatus,
    /// The claim's name in the pod.
    pub entry: &'a str,
    /// The request, where the container uses only that.
    pub request: Option<&'a str>,
    /// Health of each device.
    pub resources: &'a [ResourceHealth],
}

/// Returns what the kubelet says of the claims of the containers of `pod`. What it says of devices of device plugins is left out: those have the
/// name of a resource, not of a claim.
///
/// Mirrors `kubelet/cm/dra/manager.go`, `UpdateAllocatedResourcesStatus`, v1.37.2, backwards.
pub fn health_of_claims(pod: &Pod) -> impl Iterator<Item = ClaimHealth<'_>> {
    pod.status.container_statuses.iter().flat_map(|container| {
        container.allocated_resources_status.iter().filter_map(|status| {
            let name = status.name.strip_prefix("claim:")?;
            let (entry, request) = match name.split_once('/') {
                Some((entry, request)) => (entry, request.split('/').next()),
                None => (name, None),
            };
            Some(ClaimHealth {
                container,
                entry,
                request,
                resources: &status.resources,
            })
        })
    })
}

/// Report about a device.
#[derive(Clone, Debug)]
pub struct DeviceReport<'a> {
    /// Health.
    pub health: Health,
    /// Source.
    pub source: Source<'a>,
}

/// Source of a device's health.
#[derive(Clone, Debug)]
pub enum Source<'a> {
    /// The kubelet.
    Container {
        /// The pod.
        pod: &'a Pod,
        /// Its container.
        container: &'a ContainerStatus,
        /// Report about the device.
        told: Told<'a>,
    },
    /// A condition in the claim.
    Condition {
        /// The claim.
        claim: &'a Claim,
        /// The condition.
        condition: &'a Condition,
    },
    /// A binding condition that the claim lacks.
    Missing {
        /// The claim.
        claim: &'a Claim,
        /// The type of the condition.
        type_: &'a Str,
    },
}

/// The kubelet's report about a device.
#[derive(Clone, Debug)]
pub enum Told<'a> {
    /// This.
    One(&'a ResourceHealth),
    /// The same for several devices, and the device of each report is unknown.
    Alike,
    /// One of these; which one is unknown.
    OneOf(Vec<&'a ResourceHealth>),
}

/// Reported health of devices.
#[derive(Debug, Default)]
pub struct HealthIndex<'a> {
    /// Only looked up in.
    by_device: HashMap<DeviceId, Vec<DeviceReport<'a>>>,
    /// Pods that could not be read may report on any device in use.
    gap: Option<&'a Gap>,
}

impl<'a> HealthIndex<'a> {
    /// Returns what the pods and claims of `cluster` report.
    pub fn of(cluster: &'a Cluster) -> Self {
        let mut index = Self {
            by_device: HashMap::new(),
            gap: cluster.gap(Kind::Pod, ""),
        };
        for claim in cluster.claims() {
            index.add_conditions(claim);
        }
        for pod in cluster.pods() {
            index.add_pod(cluster, pod);
        }
        index
    }

    /// Returns the device of `pod` that `resource`, from the status of one of its containers, reports on, if that is certain.
    pub fn device_of(cluster: &'a Cluster, pod: &'a Pod, resource: &ResourceHealth) -> Option<DeviceId> {
        let mut index = Self::default();
        index.add_pod(cluster, pod);
        let is_it = |report: &DeviceReport<'_>| match &report.source {
            Source::Container {
                told: Told::One(one), ..
            } => std::ptr::eq(*one, resource),
            _ => false,
        };
        let mut devices = index.by_device.into_iter();
        devices.find_map(|(device, reports)| reports.iter().any(is_it).then_some(device))
    }

    fn add_pod(&mut self, cluster: &'a Cluster, pod: &'a Pod) {
        for of_claim in health_of_claims(pod) {
            self.add_resources(cluster, pod, &of_claim);
        }
    }

    /// Returns what keeps the reports of kubelets from being known.
    pub fn gap(&self) -> Option<&'a Gap> {
        self.gap
    }

    /// All reports on the device.
    pub fn reports(&self, device: &DeviceId) -> &[DeviceReport<'a>] {
        self.by_device.get(device).map_or(&[], Vec::as_slice)
    }

    /// The worst that is reported of the device.
    pub fn reported(&self, device: &DeviceId) -> Option<Health> {
        self.reports(device).iter().map(|report| report.health).min()
    }

    /// The health of the device; absent when no pod reports any. Unread pods make a device in use unknown unless something worse is
    /// known.
    pub fn health(&self, inventory: &Inventory<'_>, device: &DeviceId) -> Option<Health> {
        let hidden = self.gap.is_some() && !inventory.holders(device).is_empty();
        let unknown = hidden.then_some(Health::Unknown);
        self.reported(device).into_iter().chain(unknown).min()
    }

    fn add(&mut self, device: DeviceId, health: Health, source: Source<'a>) {
        self.by_device
            .entry(device)
            .or_default()
            .push(DeviceReport { health, source });
    }

    /// Conditions that drivers wrote into the claim, and those that the allocation waits for.
    fn add_conditions(&mut self, claim: &'a Claim) {
        for status in &claim.status.devices {
            for condition in &status.conditions {
                if let Some(health) = Health::of_condition(condition) {
                    self.add(status.id(), health, Source::Condition { claim, condition });
                }
            }
        }
        for result in claim.results() {
            let DeviceBinding { failed, missing, .. } = DeviceBinding::of(claim, result);
            if let Some(condition) = failed {
                let source = Source::Condition { claim, condition };
                self.add(result.id(), Health::BindingFailed, source);
            }
            for type_ in missing {
                let source = Source::Missing { claim, type_ };
                self.add(result.id(), Health::BindingPending, source);
            }
        }
    }

    /// What the kubelet wrote about one claim of a container.
    ///
    /// An identifier is `driver/pool/device`, or the name of a CDI device, which nothing in the API connects with a
    /// device of the claim, and which several devices may share. It is assigned to a device only if there is no other.
    fn add_resources(&mut self, cluster: &Cluster, pod: &'a Pod, of_claim: &ClaimHealth<'a>) {
        let mut entries = pod.spec.resource_claims.iter();
        let Some(entry) = entries.find(|known| known.name == *of_claim.entry) else {
            return;
        };
        let Some(claim) = claim_name(pod, entry).ok().and_then(|name| name.find(cluster)) else {
            return;
        };
        let source = |told| Source::Container {
            pod,
            container: of_claim.container,
            told,
        };
        let mut candidates: Vec<DeviceId> = claim
            .results()
            .iter()
            .filter(|result| {
                of_claim
                    .request
                    .is_none_or(|request| result.base_request() == request)
            })
            .map(AllocatedDevice::id)
            .collect();
        let mut rest: Vec<&ResourceHealth> = Vec::new();
        for resource in of_claim.resources {
            let named = candidates
                .iter()
                .position(|device| device.to_string() == resource.resource_id.as_str());
            match named {
                Some(at) => {
                    let device = candidates.remove(at);
                    self.add(device, Health::of_resource(resource), source(Told::One(resource)));
                }
                None => rest.push(resource),
            }
        }
        let Some(first) = rest.first() else { return };
        let health = Health::of_resource(first);
        let alike = rest
            .iter()
            .all(|resource| Health::of_resource(resource) == health);
        let (health, told) = if !alike || rest.len() != candidates.len() {
            (Health::Unknown, Told::OneOf(rest))
        } else if let [only] = *rest {
            (health, Told::One(only))
        } else {
            // All are alike, so it does not matter which is which; whose words are whose would.
            (health, Told::Alike)
        };
        for device in candidates {
            self.add(device, health, source(told.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_testing::{World, holding, status};

    fn answers(world: World, devices: &[&str]) -> Vec<Option<Health>> {
        let cluster = world.build();
        let inventory = Inventory::of(&cluster);
        let index = HealthIndex::of(&cluster);
        devices
            .iter()
            .map(|device| {
                let id = DeviceId {
                    driver: "d".into(),
                    pool: "node-1".into(),
                    device: (*device).into(),
                };
                index.health(&inventory, &id)
            })
            .collect()
    }

    /// A pod with the claim `c`; the kubelet reports this under `name`.
    fn reporting(name: &str, resources: &Value) -> World {
        World::default()
            .claim("c", &json!({}), &holding(&["g0", "g1"], &["p"]))
            .pod_with(
                "p",
                &["c"],
                &json!({"phase": "Running", "containerStatuses": [{"name": "main",
                    "allocatedResourcesStatus": [{"name": name, "resources": resources}]}]}),
            )
    }

    #[test]
    fn a_kubelet_speaks_of_devices_by_name_or_of_all_alike() {
        let (good, bad, unknown) = (
            Some(Health::Healthy),
            Some(Health::Unhealthy),
            Some(Health::Unknown),
        );
        let of = |id: &str, health: &str| json!({"resourceID": id, "health": health});
        for (resources, expected) in [
            (
                json!([of("d/node-1/g0", "Healthy"), of("d/node-1/g1", "Unhealthy")]),
                [good, bad],
            ),
            // The second can only be the other device.
            (
                json!([of("d/node-1/g0", "Healthy"), of("v.com/gpu=1", "Unhealthy")]),
                [good, bad],
            ),
            (
                json!([of("v.com/gpu=0", "Healthy"), of("v.com/gpu=1", "Healthy")]),
                [good, good],
            ),
            // Which is which?
            (
                json!([of("v.com/gpu=0", "Healthy"), of("v.com/gpu=1", "Unhealthy")]),
                [unknown, unknown],
            ),
            // Two devices behind one identifier: only the first one was reported.
            (json!([of("v.com/gpu=all", "Healthy")]), [unknown, unknown]),
            (json!([of("d/node-1/g0", "Odd")]), [unknown, None]),
        ] {
            assert_eq!(
                answers(reporting("claim:c", &resources), &["g0", "g1"]),
                expected,
                "{resources}"
            );
        }
        let one = json!([of("v.com/gpu=0", "Unhealthy")]);
        assert_eq!(answers(reporting("claim:c/r", &one), &["g0"]), [unknown]);
        assert_eq!(answers(reporting("claim:c/other", &one), &["g0"]), [None]);
        assert_eq!(answers(reporting("claim:x", &one), &["g0"]), [None]);
        assert_eq!(answers(reporting("nvidia.com/gpu", &one), &["g0"]), [None]);
    }

    #[test]
    fn drivers_report_by_conditions_and_bindings_must_arrive() {
        let results = json!([
            {"request": "r", "driver": "d", "pool": "node-1", "device": "g0"},
            {"request": "r", "driver": "d", "pool": "node-1", "device": "g1",
             "bindingConditions": ["attached"], "bindingFailureConditions": ["broken"]},
        ]);
        let condition =
            |type_: &str, status: &str| json!({"type": type_, "status": status, "reason": "Because"});
        for (first, second, expected) in [
            (json!([]), json!([]), [None, Some(Health::BindingPending)]),
            (
                json!([condition("Ready", "True")]),
                json!([condition("attached", "False")]),
                [Some(Health::Healthy), Some(Health::BindingPending)],
            ),
            (
                json!([condition("Ready", "False"), condition("Healthy", "True")]),
                json!([condition("attached", "True")]),
                [Some(Health::Unhealthy), None],
            ),
            (
                json!([condition("Ready", "Unknown"), condition("Lit", "False")]),
                json!([condition("attached", "True"), condition("broken", "True")]),
                [Some(Health::Unknown), Some(Health::BindingFailed)],
            ),
        ] {
            let mut status = status(&results, &[]);
            status["devices"] = json!([
                {"driver": "d", "pool": "node-1", "device": "g0", "conditions": first},
                {"driver": "d", "pool": "node-1", "device": "g1", "conditions": second},
            ]);
            let world = World::default().claim("c", &json!({}), &status);
            assert_eq!(answers(world, &["g0", "g1"]), expected, "{first} {second}");
        }
        // The scheduler does not look at a device that has nothing to wait for.
        let mut status = status(&results, &[]);
        status["allocation"]["devices"]["results"][1]["bindingConditions"] = json!([]);
        status["devices"] = json!([{"driver": "d", "pool": "node-1", "device": "g1", "conditions": [condition("broken", "True")]}]);
        let world = World::default().claim("c", &json!({}), &status);
        assert_eq!(answers(world, &["g1"]), [None]);
    }

    #[test]
    fn unread_pods_leave_devices_in_use_unknown() {
        let world = World::default()
            .claim("c", &json!({}), &holding(&["g0"], &["p"]))
            .without(Kind::Pod);
        assert_eq!(answers(world, &["g0", "g1"]), [Some(Health::Unknown), None]);
    }
}
