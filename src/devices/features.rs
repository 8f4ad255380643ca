//! The switches that change how the allocator works, and which of upstream's implementations they select.

use crate::cel;
use crate::model::{Component, Environment, Gate};

/// One switch for each change of control flow. Mirrors `structured.Features`, v1.37.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each field is the feature of its name in `structured.Features`"
)]
pub struct Features {
    pub admin_access: bool,
    pub compatibility_groups: bool,
    pub consumable_capacity: bool,
    pub derived_attributes: bool,
    pub device_binding_and_status: bool,
    pub device_taints: bool,
    pub fractional_capacity_range: bool,
    pub list_type_attributes: bool,
    pub optional_node_operations: bool,
    pub partitionable_devices: bool,
    pub prioritized_list: bool,
}

/// Upstream's implementations of the allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// Takes pools in the order in which they arrived, so that its result differs between runs. What this allocator answers is
    /// then one of the possible results.
    Stable,
    /// Selected by the default gates of 1.36 and later.
    Incubating,
    /// Selected by any alpha feature of the allocator.
    Experimental,
}

/// How the API server of `environment` compiles expressions of objects that are being written.
pub fn expressions_of_new_objects(environment: &Environment) -> cel::Environment {
    let on = |gate| environment.enabled(Component::ApiServer, gate);
    let features = cel::Features {
        consumable_capacity: on(Gate::DRAConsumableCapacity),
        list_type_attributes: on(Gate::DRAListTypeAttributes),
    };
    cel::Environment::new(environment.emulated_minor, features)
        .compatible_with(environment.min_compatibility_minor)
}

impl Features {
    /// The features that the gates of the scheduler switch on. Mirrors `dynamicresources.go`, `AllocatorFeatures`.
    pub fn of(environment: &Environment) -> Self {
        let on = |gate| environment.enabled(Component::Scheduler, gate);
        Self {
            admin_access: on(Gate::DRAAdminAccess),
            compatibility_groups: on(Gate::DRADeviceCompatibilityGroups),
            consumable_capacity: on(Gate::DRAConsumableCapacity),
            derived_attributes: on(Gate::DRADerivedAttributes),
            device_binding_and_status: on(Gate::DRADeviceBindingConditions)
                && on(Gate::DRAResourceClaimDeviceStatus),
            device_taints: on(Gate::DRADeviceTaints),
            fractional_capacity_range: on(Gate::DRAFractionalCapacityRange),
            list_type_attributes: on(Gate::DRAListTypeAttributes),
            optional_node_operations: on(Gate::DRAOptionalNodeOperations),
            partitionable_devices: on(Gate::DRAPartitionableDevices),
            prioritized_list: on(Gate::DRAPrioritizedList),
        }
    }

    /// How the scheduler of `environment` compiles expressions with these features.
    pub fn selectors(&self, environment: &Environment) -> cel::Environment {
        let features = cel::Features {
            consumable_capacity: self.consumable_capacity,
            list_type_attributes: self.list_type_attributes,
        };
        cel::Environment::new(environment.emulated_minor, features)
    }

    /// The implementation that upstream selects. Mirrors `structured/allocator.go`, `NewAllocator`: the most stable one that
    /// supports everything.
    pub fn implementation(&self) -> Implementation {
        if self.compatibility_groups
            || self.derived_attributes
            || self.list_type_attributes
            || self.optional_node_operations
        {
            Implementation::Experimental
        } else if self.consumable_capacity || self.fractional_capacity_range || self.device_binding_and_status
        {
            Implementation::Incubating
        } else {
            Implementation::Stable
        }
    }
}
