//! What is reported of the health of devices, in words.

use serde::Serialize;

use dra_model::{DeviceId, ResourceHealth};
use dra_rules::health::{DeviceReport, Health, HealthIndex, Source, Told};

/// A report about the health of a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
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
    /// All reports on the device, worst first.
    pub fn all(index: &HealthIndex<'_>, device: &DeviceId) -> Vec<Self> {
        let mut reports: Vec<_> = index.reports(device).iter().map(Self::of).collect();
        reports.sort();
        reports.dedup();
        reports
    }

    fn of(report: &DeviceReport<'_>) -> Self {
        let (reporter, message) = match &report.source {
            Source::Container { pod, container, told } => (
                format!("pod/{} container {}", pod.key(), container.name),
                told_text(told),
            ),
            Source::Condition { claim, condition } => {
                let texts = [condition.reason.as_str(), condition.message.as_str()];
                let message: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
                (
                    format!("claim/{} condition {}", claim.key(), condition.type_),
                    message.join(": "),
                )
            }
            Source::Missing { claim, type_ } => {
                (format!("claim/{} condition {type_}", claim.key()), String::new())
            }
        };
        Self {
            health: report.health,
            reporter,
            message,
        }
    }

    /// What the kubelet says.
    pub(super) fn of_resource(resource: &ResourceHealth, reporter: String) -> Self {
        Self {
            health: Health::of_resource(resource),
            reporter,
            message: words_of(resource),
        }
    }
}

fn told_text(told: &Told<'_>) -> String {
    match told {
        Told::One(resource) => words_of(resource),
        Told::Alike => String::new(),
        Told::OneOf(resources) => {
            let told: Vec<String> = resources
                .iter()
                .map(|resource| format!("{} is {}", resource.resource_id, resource.health))
                .collect();
            format!("unknown which device is which: {}", told.join(", "))
        }
    }
}

fn words_of(resource: &ResourceHealth) -> String {
    resource
        .message
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_testing::{World, holding};

    #[test]
    fn a_report_names_who_says_it() {
        let resources = json!([{"resourceID": "d/node-1/g0", "health": "Unhealthy", "message": "too hot"}]);
        let cluster = World::default()
            .claim("c", &json!({}), &holding(&["g0", "g1"], &["p"]))
            .pod_with(
                "p",
                &["c"],
                &json!({"phase": "Running", "containerStatuses": [{"name": "main",
                    "allocatedResourcesStatus": [{"name": "claim:c", "resources": resources}]}]}),
            )
            .build();
        let index = HealthIndex::of(&cluster);
        let id = cluster.claims().next().unwrap().results()[0].id();
        assert_eq!(
            HealthReport::all(&index, &id),
            [HealthReport {
                health: Health::Unhealthy,
                reporter: "pod/n/p container main".to_owned(),
                message: "too hot".to_owned(),
            }]
        );
    }
}
