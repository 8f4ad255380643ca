//! How allocated devices are, as far as anybody reports it.
//!
//! Three reporters: the kubelet, which writes the health that drivers tell it into the status of containers; drivers, which write
//! conditions into the claim; and binding conditions, which say whether an attached device has arrived.

use std::collections::HashMap;

use serde::Serialize;

use dra_allocator::devices::Inventory;
use dra_model::{Claim, Cluster, Condition, DeviceId, Gap, Kind, Pod, ResourceHealth, ResourceStatus};
use dra_rules::reservation::claim_name;
use dra_rules::scheduling::DeviceBinding;

/// The health of a device, worst first: the worst report decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Health {
    /// Broken.
    Unhealthy,
    /// It will not be attached.
    BindingFailed,
    /// It is not attached yet.
    BindingPending,
    /// The reporter does not know, or it is not known which device it means.
    Unknown,
    /// In order.
    Healthy,
}

impl Health {
    /// The word that reports show.
    pub fn text(self) -> &'static str {
        match self {
            Self::Unhealthy => "Unhealthy",
            Self::BindingFailed => "BindingFailed",
            Self::BindingPending => "BindingPending",
            Self::Unknown => "Unknown",
            Self::Healthy => "Healthy",
        }
    }
}

/// What somebody says about a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct HealthReport {
    /// How it is.
    pub health: Health,
    /// Who says so: `pod/NAMESPACE/NAME container NAME`, `claim/NAMESPACE/NAME condition TYPE`.
    pub reporter: String,
    /// In the reporter's words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl HealthReport {
    /// What the kubelet says.
    pub(super) fn of_resource(resource: &ResourceHealth, reporter: String) -> Self {
        Self {
            health: health_of(resource),
            reporter,
            message: resource
                .message
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        }
    }
}

/// What is reported of devices.
#[derive(Debug, Default)]
pub struct HealthIndex<'a> {
    /// Only looked up in.
    by_device: HashMap<DeviceId, Vec<HealthReport>>,
    /// Pods that could not be read may report on any device in use.
    gap: Option<&'a Gap>,
}

impl<'a> HealthIndex<'a> {
    /// What the pods and claims of `cluster` report.
    pub fn of(cluster: &'a Cluster) -> Self {
        let mut index = Self {
            by_device: HashMap::new(),
            gap: cluster.gap(Kind::Pod, ""),
        };
        for claim in cluster.claims() {
            index.add_conditions(claim);
        }
        for pod in cluster.pods() {
            for container in &pod.status.container_statuses {
                for status in &container.allocated_resources_status {
                    let reporter = format!("pod/{} container {}", pod.key(), container.name);
                    index.add_resources(cluster, pod, status, &reporter);
                }
            }
        }
        for reports in index.by_device.values_mut() {
            reports.sort();
            reports.dedup();
        }
        index
    }

    /// What keeps the reports of kubelets from being known.
    pub fn gap(&self) -> Option<&'a Gap> {
        self.gap
    }

    /// All reports on the device, worst first.
    pub fn reports(&self, device: &DeviceId) -> &[HealthReport] {
        self.by_device.get(device).map_or(&[], Vec::as_slice)
    }

    /// The health of the device; absent when no pod reports any. Unread pods make a device in use unknown unless something worse is
    /// known.
    pub fn health(&self, inventory: &Inventory<'_>, device: &DeviceId) -> Option<Health> {
        let reported = self.reports(device).first().map(|report| report.health);
        let hidden = self.gap.is_some() && !inventory.holders(device).is_empty();
        let unknown = hidden.then_some(Health::Unknown);
        reported.into_iter().chain(unknown).min()
    }

    fn add(&mut self, device: DeviceId, report: HealthReport) {
        self.by_device.entry(device).or_default().push(report);
    }

    /// Conditions that drivers wrote into the claim: `Ready` and `Healthy`, which are the customary types, and those that the
    /// allocation waits for.
    fn add_conditions(&mut self, claim: &Claim) {
        for status in &claim.status.devices {
            for condition in &status.conditions {
                if !matches!(condition.type_.as_str(), "Ready" | "Healthy") {
                    continue;
                }
                let health = match condition.status.as_str() {
                    "True" => Health::Healthy,
                    "False" => Health::Unhealthy,
                    _ => Health::Unknown,
                };
                self.add(status.id(), condition_report(claim, condition, health));
            }
        }
        for result in claim.results() {
            let DeviceBinding { failed, missing } = DeviceBinding::of(claim, result);
            if let Some(failed) = failed {
                self.add(
                    result.id(),
                    condition_report(claim, failed, Health::BindingFailed),
                );
            }
            for type_ in missing {
                let report = HealthReport {
                    health: Health::BindingPending,
                    reporter: format!("claim/{} condition {type_}", claim.key()),
                    message: String::new(),
                };
                self.add(result.id(), report);
            }
        }
    }

    /// What the kubelet wrote about one claim of a container, in whole or for one request.
    ///
    /// Mirrors `kubelet/cm/dra/manager.go`, `UpdateAllocatedResourcesStatus`, v1.37.2, backwards. An identifier is
    /// `driver/pool/device`, or the name of a CDI device, which nothing in the API connects with a device of the claim, and which
    /// several devices may share. It is taken for a certain device only where there is no other.
    fn add_resources(&mut self, cluster: &Cluster, pod: &Pod, status: &ResourceStatus, reporter: &str) {
        let Some(name) = status.name.strip_prefix("claim:") else {
            return;
        };
        let (entry, request) = match name.split_once('/') {
            Some((entry, request)) => (entry, request.split('/').next()),
            None => (name, None),
        };
        let Some(entry) = pod.spec.resource_claims.iter().find(|known| known.name == *entry) else {
            return;
        };
        let Some(claim) = claim_name(pod, entry).ok().and_then(|name| name.find(cluster)) else {
            return;
        };
        let mut candidates: Vec<DeviceId> = claim
            .results()
            .iter()
            .filter(|result| request.is_none_or(|request| result.base_request() == request))
            .map(dra_model::AllocatedDevice::id)
            .collect();
        let mut rest: Vec<&ResourceHealth> = Vec::new();
        for resource in &status.resources {
            let named = candidates
                .iter()
                .position(|device| device.to_string() == resource.resource_id.as_str());
            match named {
                Some(at) => {
                    let device = candidates.remove(at);
                    self.add(device, HealthReport::of_resource(resource, reporter.to_owned()));
                }
                None => rest.push(resource),
            }
        }
        if rest.is_empty() {
            return;
        }
        let alike = rest
            .iter()
            .all(|resource| health_of(resource) == health_of(rest[0]));
        if alike && rest.len() == candidates.len() {
            // All are alike, so it does not matter which is which; whose words are whose would.
            let mut report = HealthReport::of_resource(rest[0], reporter.to_owned());
            if rest.len() > 1 {
                report.message.clear();
            }
            for device in candidates {
                self.add(device, report.clone());
            }
            return;
        }
        let told: Vec<String> = rest
            .iter()
            .map(|resource| format!("{} is {}", resource.resource_id, resource.health))
            .collect();
        for device in candidates {
            let report = HealthReport {
                health: Health::Unknown,
                reporter: reporter.to_owned(),
                message: format!("which device is which is not known: {}", told.join(", ")),
            };
            self.add(device, report);
        }
    }
}

fn health_of(resource: &ResourceHealth) -> Health {
    match resource.health.as_str() {
        "Healthy" => Health::Healthy,
        "Unhealthy" => Health::Unhealthy,
        _ => Health::Unknown,
    }
}

fn condition_report(claim: &Claim, condition: &Condition, health: Health) -> HealthReport {
    let texts = [condition.reason.as_str(), condition.message.as_str()];
    HealthReport {
        health,
        reporter: format!("claim/{} condition {}", claim.key(), condition.type_),
        message: texts
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(": "),
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

    /// A pod with the claim `c`, for which the kubelet reports this under `name`.
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
            // Two devices behind one identifier: only the first one was told.
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

    #[test]
    fn a_report_names_who_says_it() {
        let resources = json!([{"resourceID": "d/node-1/g0", "health": "Unhealthy", "message": "too hot"}]);
        let cluster = reporting("claim:c", &resources).build();
        let index = HealthIndex::of(&cluster);
        let id = cluster.claims().next().unwrap().results()[0].id();
        assert_eq!(
            index.reports(&id),
            [HealthReport {
                health: Health::Unhealthy,
                reporter: "pod/n/p container main".to_owned(),
                message: "too hot".to_owned(),
            }]
        );
    }
}
