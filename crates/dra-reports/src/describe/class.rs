//! Everything that is known about a class.

use std::collections::BTreeMap;

use serde::Serialize;

use super::claim::{ConfigItem, expressions};
use super::identity::Identity;
use crate::words::more_devices;
use crate::{ObjectReference, StateCount, Warnings};
use dra_allocator::devices::{ClassSelectors, DeviceState, Inventory, Match};
use dra_model::{CLASS_RESOURCE, ClaimSpec, Cluster, Kind, Str, Time};
use dra_rules::reservation::ClaimState;

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct ClassDescription {
    /// Name and the like.
    #[serde(flatten)]
    pub identity: Identity,
    /// CEL expressions that must hold.
    pub selectors: Vec<Str>,
    /// Configuration for drivers.
    pub config: Vec<ConfigItem>,
    /// Resources that containers can request to get a device of the class: the class's own name for it, and the implicit one.
    pub extended_resources: Vec<String>,
    /// Its devices, by driver.
    pub drivers: Vec<ClassDevices>,
    /// Errors of its selectors, each once, with the first device that raises it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<DeviceError>,
    /// Claims that name it, by state.
    pub claims: Vec<StateCount>,
    /// Templates that name it, by namespace and name.
    pub templates: Vec<ObjectReference>,
    /// The time that ages count from.
    #[serde(skip)]
    pub now: Time,
    /// What is unknown.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// Devices of a class that one driver publishes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ClassDevices {
    /// The driver.
    pub driver: Str,
    /// All.
    pub total: usize,
    /// Those that can be allocated.
    pub free: usize,
}

/// An error of a selector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct DeviceError {
    /// `DRIVER/POOL/DEVICE`.
    pub device: String,
    /// In CEL's words.
    pub error: String,
}

/// Kinds that the description needs.
pub const CLASS_NEEDS: [Kind; 4] = [
    Kind::DeviceClass,
    Kind::ResourceSlice,
    Kind::ResourceClaim,
    Kind::ResourceClaimTemplate,
];

/// Describes the class `name`, if it exists.
pub fn class(
    cluster: &Cluster,
    name: &str,
    selectors: &ClassSelectors,
    now: Time,
) -> Option<ClassDescription> {
    let class = cluster.class(name)?;
    let mut warnings = Warnings::default();
    warnings.unknown_without(cluster, &super::words::UNKNOWN_OF_CLASS);
    let mut states: BTreeMap<ClaimState, usize> = BTreeMap::new();
    for claim in cluster.claims().filter(|claim| names(&claim.spec, name)) {
        *states.entry(ClaimState::of(claim)).or_default() += 1;
    }
    let (drivers, errors, not_judged) = devices(cluster, name, selectors);
    if not_judged > 0 {
        warnings.add(more_devices(not_judged));
    }
    let own = class.spec.extended_resource_name.iter().map(ToString::to_string);
    let implicit = format!("{CLASS_RESOURCE}{name}");
    Some(ClassDescription {
        identity: Identity::of(&class.metadata),
        selectors: expressions(&class.spec.selectors),
        config: class
            .spec
            .config
            .iter()
            .map(|config| ConfigItem::of(config.opaque.as_ref(), Str::default(), &[]))
            .collect(),
        extended_resources: own.chain([implicit]).collect(),
        drivers,
        errors,
        claims: states
            .into_iter()
            .map(|(state, count)| StateCount { state, count })
            .collect(),
        templates: cluster
            .templates()
            .filter(|template| names(&template.spec.spec, name))
            .map(|template| ObjectReference::of(&template.metadata))
            .collect(),
        now,
        warnings,
    })
}

fn names(spec: &ClaimSpec, class: &str) -> bool {
    spec.asked().any(|one| one.device_class_name == *class)
}

/// Its devices by driver, the errors of its selectors, and how many devices were not judged.
fn devices(
    cluster: &Cluster,
    class: &str,
    selectors: &ClassSelectors,
) -> (Vec<ClassDevices>, Vec<DeviceError>, usize) {
    let mut not_judged = 0;
    let inventory = Inventory::of(cluster);
    let mut drivers: BTreeMap<Str, ClassDevices> = BTreeMap::new();
    let mut errors: Vec<DeviceError> = Vec::new();
    for pool in cluster.pools() {
        let facts = inventory.pool_facts(&pool);
        for (slice, device, selectable) in selectors.devices(&pool) {
            let id = pool.device_id(&device.name);
            match selectors.matches(class, &selectable) {
                Match::No => {}
                Match::Unknown => not_judged += 1,
                Match::Error(error) => {
                    if !errors.iter().any(|known| known.error == error) {
                        let device = id.to_string();
                        errors.push(DeviceError { device, error });
                    }
                }
                Match::Yes => {
                    let of_driver = drivers
                        .entry(pool.id.driver.clone())
                        .or_insert_with(|| ClassDevices {
                            driver: pool.id.driver.clone(),
                            total: 0,
                            free: 0,
                        });
                    of_driver.total += 1;
                    let free = inventory.state(&id) == DeviceState::Free
                        && inventory.unavailable(&facts, &id, (slice, device)).is_empty();
                    of_driver.free += usize::from(free);
                }
            }
        }
    }
    (drivers.into_values().collect(), errors, not_judged)
}
