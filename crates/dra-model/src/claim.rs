//! ResourceClaims and their templates: what is asked for, what was allocated, who holds it.

use std::fmt;
use std::sync::LazyLock;

use macro_rules_attribute::apply;
use serde::Deserialize;

use super::{
    Condition, Config, DeviceId, Key, Meta, NodeSelector, Part, Pod, Quantity, Repeated, Selector, Str, Time,
    Tolerations,
};
use crate::decoded::decoded;
use dra_values::decode::{Read, UnknownFields, field, list, or_default};

/// Keeps an allocated claim from being removed. Mirrors `resource/types.go`, `Finalizer`, v1.37.2.
pub const FINALIZER: &str = "resource.kubernetes.io/delete-protection";

/// `resource.k8s.io` ResourceClaim.
#[apply(decoded)]
pub struct Claim {
    /// Identity, owners, deletion.
    pub metadata: Meta,
    /// Specification; immutable.
    pub spec: ClaimSpec,
    /// Status: allocation and consumers.
    pub status: ClaimStatus,
}

impl Claim {
    /// Namespace and name.
    pub fn key(&self) -> Key {
        self.metadata.key()
    }

    /// Returns whether a finalizer keeps the claim from being removed, as it does while the claim is allocated.
    pub fn is_protected(&self) -> bool {
        self.metadata.finalizers.iter().any(|name| name == FINALIZER)
    }

    /// The devices of the allocation, in its order; none while unallocated.
    pub fn results(&self) -> &[AllocatedDevice] {
        self.status
            .allocation
            .as_ref()
            .map_or(&[], |allocation| &allocation.devices.results)
    }

    /// Returns whether a device of the driver is allocated for it.
    pub fn has_device_of(&self, driver: &str) -> bool {
        self.results().iter().any(|result| result.driver == *driver)
    }

    /// Returns whether an entry of `status.reservedFor` has this UID.
    pub fn lists(&self, uid: &str) -> bool {
        self.status.reserved_for.iter().any(|entry| entry.uid == *uid)
    }

    /// Returns what the request asks for that results of an allocation call `name`: `request`, or `request/subrequest` for one of its alternatives.
    pub fn asked_for(&self, name: &str) -> Option<&DeviceRequest> {
        let (base, alternative) = match name.split_once('/') {
            Some((base, alternative)) => (base, Some(alternative)),
            None => (name, None),
        };
        let request = self
            .spec
            .devices
            .requests
            .iter()
            .find(|request| request.name == base)?;
        match alternative {
            None => request.exactly.as_ref(),
            Some(alternative) => request
                .first_available
                .iter()
                .find(|spec| spec.name == alternative),
        }
    }
}

/// Requests of a claim.
#[apply(decoded)]
pub struct ClaimSpec {
    /// The devices. Claims of one template ask for the same.
    pub devices: Repeated<DeviceClaim>,
    /// Consumer named in the spec, as KEP-5194 proposes; no release serves the field.
    pub reserved_for: Option<Box<ConsumerReference>>,
}

impl ClaimSpec {
    /// What it asks for: exact requests and alternatives, in order.
    pub fn asked(&self) -> impl Iterator<Item = &DeviceRequest> {
        self.devices.requests.iter().flat_map(Request::asked)
    }

    /// Returns whether a request asks for admin access, which alternatives cannot.
    pub fn asks_for_admin_access(&self) -> bool {
        let mut exact = self
            .devices
            .requests
            .iter()
            .filter_map(|request| request.exactly.as_ref());
        exact.any(|request| request.admin_access == Some(true))
    }
}

/// Requests, constraints and configuration of a claim.
#[apply(decoded)]
pub struct DeviceClaim {
    /// In the order in which the allocator serves them.
    pub requests: Vec<Request>,
    /// Conditions on several devices together.
    pub constraints: Vec<Constraint>,
    /// Configuration for drivers.
    pub config: Vec<ClaimConfig>,
}

impl Part for DeviceClaim {
    fn absent() -> &'static Self {
        const {
            &Self {
                requests: Vec::new(),
                constraints: Vec::new(),
                config: Vec::new(),
            }
        }
    }
}

/// One request of a claim: exactly one of its two forms is set in a valid object.
#[apply(decoded)]
pub struct Request {
    /// Name, unique in the claim.
    pub name: Str,
    /// A request for one kind of device.
    pub exactly: Option<DeviceRequest>,
    /// Alternatives; the first that can be satisfied is taken.
    pub first_available: Vec<DeviceRequest>,
}

impl Request {
    /// What it asks for: exactly this, or one of these alternatives, in order.
    pub fn asked(&self) -> impl Iterator<Item = &DeviceRequest> {
        self.exactly.iter().chain(&self.first_available)
    }
}

/// An exact request, or one alternative of a prioritized list (which then has a name and never admin access).
#[apply(decoded)]
pub struct DeviceRequest {
    /// Name of the alternative; empty for an exact request.
    pub name: Str,
    /// The class whose selectors and configuration apply.
    pub device_class_name: Str,
    /// All must match.
    pub selectors: Vec<Selector>,
    /// Number of devices of those that match.
    pub allocation_mode: AllocationMode,
    /// Number of devices in mode `ExactCount`.
    #[serde(default = "one", deserialize_with = "one_by_default")]
    pub count: i64,
    /// Access beside the device's owner, for monitoring. With the gate off even `false` is refused by the allocator.
    pub admin_access: Option<bool>,
    /// Taints that do not rule a device out.
    pub tolerations: Tolerations,
    /// Amounts asked of each device.
    pub capacity: Option<CapacityRequirements>,
    /// Attributes computed from those of the device.
    pub derived_attributes: Vec<DerivedAttribute>,
}

/// The default of the API server for `count`. Mirrors `api/resource/v1/defaults.go`, `SetDefaults_ExactDeviceRequest`, v1.37.2.
fn one() -> i64 {
    1
}

/// A number that is 1 where it is null or 0.
fn one_by_default<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let count: i64 = or_default(deserializer)?;
    Ok(if count == 0 { one() } else { count })
}

/// Most devices in the allocation of one claim. Mirrors `api/resource/v1/types.go`, `AllocationResultsMaxSize`, v1.37.2.
pub const MOST_RESULTS: i64 = 32;

/// Most entries that `status.reservedFor` can have. Mirrors `api/resource/v1/types.go`, `ResourceClaimReservedForMaxSize`, v1.37.2.
pub const MOST_CONSUMERS: usize = 256;

/// Most alternatives of a request. Mirrors `api/resource/v1/types.go`, `FirstAvailableDeviceRequestMaxSize`, v1.37.2.
pub const MOST_ALTERNATIVES: usize = 8;

/// Number of devices a request wants. Unknown modes are kept, since the allocator must name them in its error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AllocationMode {
    /// `count` devices.
    #[default]
    ExactCount,
    /// Every device that matches.
    All,
    /// A mode that this release does not know.
    Other(Str),
}

impl Read<'_> for AllocationMode {}

impl<'de> Deserialize<'de> for AllocationMode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mode = Str::deserialize(deserializer)?;
        Ok(match mode.as_str() {
            // The API server defaults an absent mode.
            "ExactCount" | "" => Self::ExactCount,
            "All" => Self::All,
            _ => Self::Other(mode),
        })
    }
}

/// Amounts asked of each device of a request.
#[apply(decoded)]
pub struct CapacityRequirements {
    /// Amount by capacity name, sorted.
    pub requests: Vec<(Str, Quantity)>,
}

/// An attribute computed by a CEL expression.
#[apply(decoded)]
pub struct DerivedAttribute {
    /// Fully qualified name.
    pub name: Str,
    /// The expression.
    pub expression: Str,
}

/// A condition over the devices of several requests.
#[apply(decoded)]
pub struct Constraint {
    /// Requests it covers; empty means all.
    pub requests: Vec<Str>,
    /// All devices must have the same value of this attribute.
    pub match_attribute: Option<Str>,
    /// All devices must have different values of this attribute.
    pub distinct_attribute: Option<Str>,
}

impl Constraint {
    /// The attribute that it compares.
    pub fn attribute(&self) -> Option<&Str> {
        self.match_attribute.as_ref().or(self.distinct_attribute.as_ref())
    }
}

/// Configuration in a claim's spec.
#[apply(decoded)]
pub struct ClaimConfig {
    /// Requests it applies to; empty means all.
    pub requests: Vec<Str>,
    /// For the driver.
    pub opaque: Option<Config>,
}

/// Allocation and consumers of a claim.
#[apply(decoded)]
pub struct ClaimStatus {
    /// Absent until the scheduler allocated the claim.
    pub allocation: Option<Allocation>,
    /// Consumers, in the order of the object; at most [`MOST_CONSUMERS`] entries.
    pub reserved_for: Vec<ConsumerReference>,
    /// Status of allocated devices, reported by drivers.
    pub devices: Vec<DeviceStatus>,
}

/// The result of an allocation.
#[apply(decoded)]
pub struct Allocation {
    /// Devices and their configuration.
    pub devices: DeviceAllocation,
    /// Nodes that can use the devices; absent means all.
    pub node_selector: Option<Repeated<NodeSelector>>,
    /// Time at which the scheduler allocated; absent for releases and gates that do not record it.
    pub allocation_timestamp: Option<Time>,
    /// KEP-5194: any pod may use the claim without an entry; no release serves the field.
    pub reserved_for_any_pod: bool,
}

/// Devices of an allocation and the configuration for their drivers.
#[apply(decoded)]
pub struct DeviceAllocation {
    /// In the order of the requests.
    pub results: Vec<AllocatedDevice>,
    /// Of classes and claim.
    pub config: Vec<AllocatedConfig>,
}

/// One allocated device, or one share of it.
#[apply(decoded)]
pub struct AllocatedDevice {
    /// `request` or `request/subrequest`.
    pub request: Str,
    /// Driver of the device.
    pub driver: Str,
    /// Pool of the device.
    pub pool: Str,
    /// Name of the device in its pool.
    pub device: Str,
    /// Granted beside the device's owner: takes nothing from others.
    pub admin_access: bool,
    /// Copied from the request.
    pub tolerations: Tolerations,
    /// Copied from the device.
    pub binding_conditions: Vec<Str>,
    /// Copied from the device.
    pub binding_failure_conditions: Vec<Str>,
    /// Share of a device that allows multiple allocations.
    #[serde(rename = "shareID")]
    pub share_id: Option<Str>,
    /// Amounts that this share takes, sorted by name.
    pub consumed_capacity: Vec<(Str, Quantity)>,
    /// Copied from the slice.
    pub skip_node_operations: Vec<Str>,
}

impl AllocatedDevice {
    /// Returns whether it takes something from others, which admin access does not. Mirrors `allocateddevices.go`,
    /// `foreachAllocatedDevice`, v1.37.2.
    pub fn takes(&self) -> bool {
        !self.admin_access
    }

    /// Returns whether it takes all of the device rather than a share. Mirrors `dra_manager.go`, `GatherAllocatedState`,
    /// v1.37.2: without the gate `DRAConsumableCapacity` a share takes all, too.
    pub fn takes_all(&self, consumable_capacity: bool) -> bool {
        self.takes() && (!consumable_capacity || self.share_id.is_none())
    }

    /// Returns which device was allocated.
    pub fn id(&self) -> DeviceId {
        DeviceId::new(&self.driver, &self.pool, &self.device)
    }

    /// The request's name without its subrequest. Mirrors `resourceclaim.go`, `BaseRequestRef`.
    pub fn base_request(&self) -> &str {
        self.request.split('/').next().unwrap_or_default()
    }
}

/// Configuration of an allocation.
#[apply(decoded)]
pub struct AllocatedConfig {
    /// `FromClass` or `FromClaim`.
    pub source: Str,
    /// Requests it applies to; empty means all.
    pub requests: Vec<Str>,
    /// For the driver.
    pub opaque: Option<Config>,
}

/// An entry of `status.reservedFor`: a consumer that may use the claim. The API server does not validate it.
#[derive(Clone, Debug, Default, PartialEq, Eq, derive_more::Display)]
#[display("{}/{name}", self.group_resource())]
pub struct ConsumerReference {
    /// Empty for the core group.
    pub api_group: Str,
    /// Plural, lower case: `pods`, `podgroups`.
    pub resource: Str,
    /// Name, in the claim's namespace.
    pub name: Str,
    /// Decides who is meant.
    pub uid: Str,
    /// Fields this build does not know.
    pub unknown: Option<Box<UnknownFields>>,
}

impl ConsumerReference {
    /// Returns whether the entry is of the kind that releases without PodGroups know.
    pub fn is_pod(&self) -> bool {
        self.api_group.is_empty() && self.resource == "pods"
    }

    /// Returns whether the entry names a PodGroup.
    pub fn is_pod_group(&self) -> bool {
        self.api_group == "scheduling.k8s.io" && self.resource == "podgroups"
    }

    /// The entry of a pod.
    pub fn of_pod(pod: &Pod) -> Self {
        static PODS: LazyLock<Str> = LazyLock::new(|| "pods".into());
        Self {
            api_group: Str::default(),
            resource: PODS.clone(),
            name: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
            unknown: None,
        }
    }

    /// `pods`, or `podgroups.scheduling.k8s.io`: resource and group as kubectl writes them.
    pub fn group_resource(&self) -> String {
        if self.api_group.is_empty() {
            self.resource.to_string()
        } else {
            format!("{}.{}", self.resource, self.api_group)
        }
    }
}

impl Read<'_> for ConsumerReference {}

impl<'de> Deserialize<'de> for ConsumerReference {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Text(#[serde(deserialize_with = "field")] Str);

        struct Entry;
        impl<'de> serde::de::Visitor<'de> for Entry {
            type Value = ConsumerReference;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a reference to a consumer")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entry = ConsumerReference::default();
                while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                    match &*key {
                        "apiGroup" => entry.api_group = map.next_value::<Text>()?.0,
                        "resource" => entry.resource = map.next_value::<Text>()?.0,
                        "name" => entry.name = map.next_value::<Option<Str>>()?.unwrap_or_default(),
                        "uid" => entry.uid = map.next_value::<Option<Str>>()?.unwrap_or_default(),
                        _ => {
                            let value = map.next_value()?;
                            entry
                                .unknown
                                .get_or_insert_default()
                                .insert(key.into_owned(), value);
                        }
                    }
                }
                Ok(entry)
            }
        }
        deserializer.deserialize_map(Entry)
    }
}

/// Status of an allocated device, reported by its driver.
#[apply(decoded)]
pub struct DeviceStatus {
    /// Driver.
    pub driver: Str,
    /// Pool.
    pub pool: Str,
    /// Device.
    pub device: Str,
    /// Share of the device.
    #[serde(rename = "shareID")]
    pub share_id: Option<Str>,
    /// Binding conditions among them.
    pub conditions: Vec<Condition>,
    /// Network interface, for network devices.
    pub network_data: Option<NetworkData>,
}

impl DeviceStatus {
    /// Returns which device the report is about.
    pub fn id(&self) -> DeviceId {
        DeviceId::new(&self.driver, &self.pool, &self.device)
    }
}

/// Network data of an allocated device.
#[apply(decoded)]
pub struct NetworkData {
    /// Name of the interface in the pod.
    #[serde(deserialize_with = "or_default")]
    pub interface_name: Str,
    /// Addresses with prefix length.
    #[serde(deserialize_with = "list")]
    pub ips: Vec<Str>,
    /// MAC or other hardware address.
    #[serde(deserialize_with = "or_default")]
    pub hardware_address: Str,
}

/// `resource.k8s.io` ResourceClaimTemplate.
#[apply(decoded)]
pub struct ClaimTemplate {
    /// Identity of the template itself.
    pub metadata: Meta,
    /// Specification of its claims.
    pub spec: ClaimTemplateSpec,
}

/// Metadata and spec of the claims made from a template.
#[apply(decoded)]
pub struct ClaimTemplateSpec {
    /// Labels and annotations of the claims.
    pub metadata: Meta,
    /// Spec of the claims.
    pub spec: ClaimSpec,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_that_does_not_say_so_is_none_for_admin_access() {
        let takes = |field: &str| {
            let json = format!(
                "{{\"request\": \"r\", \"driver\": \"d\", \"pool\": \"p\", \"device\": \"x\"{field}}}"
            );
            serde_json::from_str::<AllocatedDevice>(&json).unwrap().takes()
        };
        assert!(takes(""));
        assert!(takes(", \"adminAccess\": null"));
        assert!(takes(", \"adminAccess\": false"));
        assert!(!takes(", \"adminAccess\": true"));
    }
}
