//! ResourceSlices: the devices that drivers publish.

use std::fmt;

use macro_rules_attribute::apply;

use super::{AttributeValue, Meta, NodeSelector, Quantity, Str, Time};
use crate::decoded::decoded;

/// Identity of a pool: pools of different drivers may share a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
#[display("{driver}/{pool}")]
pub struct PoolId {
    /// The driver.
    pub driver: Str,
    /// The pool's name, often that of its node.
    pub pool: Str,
}

/// Identity of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
#[display("{driver}/{pool}/{device}")]
pub struct DeviceId {
    /// The driver.
    pub driver: Str,
    /// The pool.
    pub pool: Str,
    /// Name within the pool.
    pub device: Str,
}

impl PoolId {
    /// The pool `pool` of `driver`.
    pub fn new(driver: &Str, pool: &Str) -> Self {
        Self {
            driver: driver.clone(),
            pool: pool.clone(),
        }
    }

    /// The device of the pool that is called `name`.
    pub fn device(&self, name: &Str) -> DeviceId {
        DeviceId::new(&self.driver, &self.pool, name)
    }
}

impl DeviceId {
    /// The device `device` of the pool `pool` of `driver`.
    pub fn new(driver: &Str, pool: &Str, device: &Str) -> Self {
        Self {
            driver: driver.clone(),
            pool: pool.clone(),
            device: device.clone(),
        }
    }

    /// The pool that the device belongs to.
    pub fn pool_id(&self) -> PoolId {
        PoolId::new(&self.driver, &self.pool)
    }
}

/// `resource.k8s.io` ResourceSlice.
#[apply(decoded)]
pub struct Slice {
    /// Identity.
    pub metadata: Meta,
    /// The devices.
    pub spec: SliceSpec,
}

impl Slice {
    /// The pool that the slice is a part of.
    pub fn pool_id(&self) -> PoolId {
        PoolId::new(&self.spec.driver, &self.spec.pool.name)
    }
}

/// Devices of one slice and the nodes that reach them.
#[apply(decoded)]
pub struct SliceSpec {
    /// Publishing driver.
    pub driver: Str,
    /// Part of the pool.
    pub pool: PoolPart,
    /// The only node that reaches the devices.
    pub node_name: Option<Str>,
    /// Nodes that reach the devices.
    pub node_selector: Option<NodeSelector>,
    /// Every node reaches the devices.
    pub all_nodes: bool,
    /// The devices, in the order in which the allocator tries them.
    pub devices: Vec<Device>,
    /// Each device says which nodes reach it.
    pub per_device_node_selection: bool,
    /// Counters that devices of the pool draw from.
    pub shared_counters: Vec<CounterSet>,
    /// Attribute that tells partitions apart, for people.
    pub partition_type_attribute: Option<Str>,
    /// Node operations that the driver does not need.
    pub skip_node_operations: Vec<Str>,
}

/// Part of a pool that a slice contains.
#[apply(decoded)]
pub struct PoolPart {
    /// The pool's name.
    pub name: Str,
    /// Only slices of the newest generation count.
    pub generation: i64,
    /// Number of slices of this generation make the pool complete.
    pub resource_slice_count: i64,
}

/// Counters shared by devices of a pool.
#[apply(decoded)]
pub struct CounterSet {
    /// Name, unique in the pool.
    pub name: Str,
    /// Counters, sorted by name.
    pub counters: Vec<(Str, Counter)>,
}

/// An amount of a counter.
#[apply(decoded)]
pub struct Counter {
    /// The amount.
    pub value: Quantity,
}

/// One device.
#[apply(decoded)]
pub struct Device {
    /// Name, unique in the pool.
    pub name: Str,
    /// Sorted by name; a name without domain belongs to the driver's domain.
    pub attributes: Vec<(Str, AttributeValue)>,
    /// Sorted by name.
    pub capacity: Vec<(Str, Capacity)>,
    /// Consumption of shared counters when allocated.
    pub consumes_counters: Vec<CounterConsumption>,
    /// With per-device node selection: the only node.
    pub node_name: Option<Str>,
    /// With per-device node selection: the nodes.
    pub node_selector: Option<NodeSelector>,
    /// With per-device node selection: every node.
    pub all_nodes: bool,
    /// Set by the driver.
    pub taints: Vec<Taint>,
    /// Once allocated the device is tied to the chosen node.
    pub binds_to_node: bool,
    /// Must be true before a pod is bound.
    pub binding_conditions: Vec<Str>,
    /// Any of them true makes binding fail.
    pub binding_failure_conditions: Vec<Str>,
    /// Several claims may hold shares of the device at the same time.
    pub allow_multiple_allocations: bool,
    /// Node resources that the device accounts for, by resource name (alpha).
    pub node_allocatable_resources: Vec<(Str, NodeAllocatable)>,
    /// The same in the form of 1.36, the only release that has it.
    pub node_allocatable_resource_mappings: Vec<(Str, serde::de::IgnoredAny)>,
}

/// Node resources that a device accounts for.
#[apply(decoded)]
pub struct NodeAllocatable {
    /// The device is so much of the resource.
    pub mapping: Option<NodeMapping>,
    /// It takes so much besides.
    pub overhead: Option<NodeOverhead>,
}

/// Amount of a node resource that a device stands for: fixed, or a multiple of a consumed capacity.
#[apply(decoded)]
pub struct NodeMapping {
    /// The capacity.
    pub capacity_key: Option<Str>,
    /// Multiplier; one if absent.
    pub capacity_multiplier: Option<Quantity>,
    /// The amount.
    pub device_multiplier: Option<Quantity>,
}

/// Additional consumption of node resources by a device.
#[apply(decoded)]
pub struct NodeOverhead {
    /// For each pod.
    pub per_pod: Option<Quantity>,
    /// For each container that uses the claim.
    pub per_container: Option<Quantity>,
}

/// An amount that a device has.
#[apply(decoded)]
pub struct Capacity {
    /// The amount.
    pub value: Quantity,
    /// Rounding of requests for a share of it.
    pub request_policy: Option<RequestPolicy>,
}

impl AsRef<Quantity> for Capacity {
    fn as_ref(&self) -> &Quantity {
        &self.value
    }
}

/// Allowed amounts of a capacity.
#[apply(decoded)]
pub struct RequestPolicy {
    /// Taken by requests that name no amount.
    pub default: Option<Quantity>,
    /// The only amounts, ascending.
    pub valid_values: Vec<Quantity>,
    /// A range of amounts.
    pub valid_range: Option<RequestRange>,
}

/// A range of amounts.
#[apply(decoded)]
pub struct RequestRange {
    /// Smallest amount.
    pub min: Option<Quantity>,
    /// Largest amount; absent means the capacity.
    pub max: Option<Quantity>,
    /// Amounts are `min` plus a multiple of this.
    pub step: Option<Quantity>,
}

/// Consumption of one counter set by a device.
#[apply(decoded)]
pub struct CounterConsumption {
    /// Counter set.
    pub counter_set: Str,
    /// Amounts, sorted by name.
    pub counters: Vec<(Str, Counter)>,
    /// Devices of other groups can't be in use at the same time (alpha).
    pub compatibility_groups: Vec<Str>,
}

/// The only effect that evicts pods.
pub const NO_EXECUTE: &str = "NoExecute";
/// The effect that keeps new pods off a device, as [`NO_EXECUTE`] does too.
pub const NO_SCHEDULE: &str = "NoSchedule";
/// The effect that does nothing, and lets the controller count what NoExecute would do.
pub const NO_EFFECT: &str = "None";

/// A taint on a device. Unknown effects are kept as text: they neither block nor evict.
#[apply(decoded)]
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Taint {
    /// Kind of problem.
    pub key: Str,
    /// In which way.
    pub value: Str,
    /// `None`, `NoSchedule` or `NoExecute`.
    pub effect: Str,
    /// Since when; the API server sets it.
    pub time_added: Option<Time>,
}

impl fmt::Display for Taint {
    /// `key=value:effect`, as kubectl writes node taints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if !self.value.is_empty() {
            write!(f, "={}", self.value)?;
        }
        write!(f, ":{}", self.effect)
    }
}
