//! The switches that change how the allocator works, and which of upstream's implementations they select.

use dra_model::{Component, Environment, Gate, Release};

/// One switch for each change of control flow, and the rules of the release. Mirrors `structured.Features`, v1.37.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each switch is the feature of its name in `structured.Features`"
)]
pub struct Features {
    pub admin_access: bool,
    pub compatibility_groups: bool,
    pub consumable_capacity: bool,
    pub derived_attributes: bool,
    pub device_binding_and_status: bool,
    /// One of the two gates of `device_binding_and_status`, which in 1.34 are features of their own.
    pub device_status: bool,
    pub device_taints: bool,
    pub fractional_capacity_range: bool,
    pub list_type_attributes: bool,
    pub optional_node_operations: bool,
    pub partitionable_devices: bool,
    pub prioritized_list: bool,
    /// The rules of the release beside its gates.
    pub release: Release,
}

/// Upstream's implementations of the allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// Selected where few gates are on. Takes pools in the order in which they come, in every release.
    Stable,
    /// Selected by the default gates of 1.35 and later.
    Incubating,
    /// Selected by any alpha feature of the allocator, and by the default gates of 1.34.
    Experimental,
}

/// Returns how the API server of `environment` compiles expressions of objects that are being written.
pub fn expressions_of_new_objects(environment: &Environment) -> dra_cel::Environment {
    let on = |gate| environment.enabled(Component::ApiServer, gate);
    let features = dra_cel::Features {
        consumable_capacity: on(Gate::DRAConsumableCapacity),
        list_type_attributes: on(Gate::DRAListTypeAttributes),
    };
    dra_cel::Environment::new(environment.version.minor, features)
        .compatible_with(environment.min_compatibility_minor)
}

impl Features {
    /// The features that the gates of the scheduler switch on. Mirrors `dynamicresources.go`, `AllocatorFeatures`, v1.34.10 to
    /// v1.37.2.
    pub fn of(environment: &Environment) -> Self {
        let on = |gate| environment.enabled(Component::Scheduler, gate);
        let release = environment.release();
        Self {
            admin_access: on(Gate::DRAAdminAccess),
            compatibility_groups: on(Gate::DRADeviceCompatibilityGroups),
            consumable_capacity: on(Gate::DRAConsumableCapacity),
            derived_attributes: on(Gate::DRADerivedAttributes),
            device_binding_and_status: on(Gate::DRADeviceBindingConditions)
                && on(Gate::DRAResourceClaimDeviceStatus),
            device_status: on(Gate::DRAResourceClaimDeviceStatus) || on(Gate::DRADeviceBindingConditions),
            device_taints: on(Gate::DRADeviceTaints),
            fractional_capacity_range: on(Gate::DRAFractionalCapacityRange),
            list_type_attributes: on(Gate::DRAListTypeAttributes) && !release.constraints_know_no_lists,
            optional_node_operations: on(Gate::DRAOptionalNodeOperations),
            partitionable_devices: on(Gate::DRAPartitionableDevices),
            prioritized_list: on(Gate::DRAPrioritizedList),
            release,
        }
    }

    /// Returns how the scheduler of `environment` compiles expressions with these features: those of objects that are stored, with the
    /// libraries of its binary.
    pub fn selectors(&self, environment: &Environment) -> dra_cel::Environment {
        let of_selectors = self.release.constraints_know_no_lists
            && environment.enabled(Component::Scheduler, Gate::DRAListTypeAttributes);
        let features = dra_cel::Features {
            consumable_capacity: self.consumable_capacity,
            list_type_attributes: self.list_type_attributes || of_selectors,
        };
        dra_cel::Environment::new(environment.version.minor, features)
    }

    /// The implementation that upstream selects. Mirrors `structured/allocator.go`, `NewAllocator`, v1.34.13 to v1.37.2: the most
    /// stable one that supports everything.
    pub fn implementation(&self) -> Implementation {
        let alpha = self.compatibility_groups
            || self.derived_attributes
            || self.list_type_attributes
            || self.optional_node_operations;
        let shares =
            self.consumable_capacity || self.fractional_capacity_range || self.device_binding_and_status;
        let others =
            self.admin_access || self.prioritized_list || self.partitionable_devices || self.device_taints;
        let release = &self.release;
        if alpha
            || (release.implementations_lag && shares)
            || (release.status_selects_experimental && self.device_status)
        {
            Implementation::Experimental
        } else if shares || (release.implementations_lag && others) {
            Implementation::Incubating
        } else {
            Implementation::Stable
        }
    }

    /// Returns whether the implementation knows what came with shares and binding conditions: constraints on distinct values, and devices that
    /// bind to their node.
    pub fn knows_shares_and_binding(&self) -> bool {
        match self.implementation() {
            Implementation::Stable => false,
            Implementation::Incubating => !self.release.implementations_lag,
            Implementation::Experimental => true,
        }
    }

    /// Returns whether a claim that asks for amounts ends the attempt where the feature is off; it is ignored otherwise.
    pub fn refuses_amounts(&self) -> bool {
        !self.consumable_capacity && self.knows_shares_and_binding()
    }

    /// Returns whether slices with counter sets belong to their pool on every node.
    pub(crate) fn counter_slices_reach_all(&self) -> bool {
        let stays_behind =
            !self.release.counters_are_of_slice && self.implementation() == Implementation::Stable;
        self.partitionable_devices && (self.release.counter_slices_reach_all || stays_behind)
    }

    /// Returns whether the stable implementation runs as it was before it became what had been the incubating one: it looks for contradictions in
    /// pools that miss slices, too, and takes slices with counter sets for any others.
    pub(crate) fn is_first_stable(&self) -> bool {
        self.release.implementations_lag && self.implementation() == Implementation::Stable
    }

    /// Returns whether each order of the devices of a request is a way of its own.
    pub fn permutes(&self) -> bool {
        self.release.starts_over_in_request || self.implementation() == Implementation::Stable
    }

    /// Returns whether slices with binding conditions are the last ones of their pool, where the others have no order. Mirrors
    /// `pools_experimental.go`, `GatherPools`, v0.35.10.
    pub(crate) fn takes_binding_slices_last(&self) -> bool {
        self.release.takes_pools_as_they_come && self.implementation() == Implementation::Experimental
    }

    /// Returns whether pools and slices are taken in an order that only the scheduler knows.
    pub fn takes_pools_as_they_come(&self) -> bool {
        self.release.takes_pools_as_they_come || self.implementation() == Implementation::Stable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::Version;

    fn features(minor: u32, gates: &[(Gate, bool)]) -> Features {
        let version = Version::minor(minor);
        Features::of(&dra_testing::of_release(version, Component::Scheduler, gates))
    }

    #[test]
    fn release_and_gates_select_the_implementation() {
        use Gate::{
            DRAAdminAccess, DRAConsumableCapacity, DRADeviceBindingConditions, DRADeviceTaints,
            DRAFractionalCapacityRange, DRAListTypeAttributes, DRAPartitionableDevices, DRAPrioritizedList,
            DRAResourceClaimDeviceStatus,
        };
        use Implementation::{Experimental, Incubating, Stable};
        let no_shares = [
            (DRAConsumableCapacity, false),
            (DRADeviceBindingConditions, false),
        ];
        for (minor, gates, expected) in [
            (34, &[][..], Experimental),
            (34, &[(DRAResourceClaimDeviceStatus, false)], Incubating),
            (
                34,
                &[
                    (DRAResourceClaimDeviceStatus, false),
                    (DRAAdminAccess, false),
                    (DRAPrioritizedList, false),
                ],
                Stable,
            ),
            (35, &[], Incubating),
            (
                35,
                &[(DRAPartitionableDevices, true), (DRADeviceTaints, true)],
                Incubating,
            ),
            (35, &[(DRAConsumableCapacity, true)], Experimental),
            (35, &[(DRADeviceBindingConditions, true)], Experimental),
            (
                35,
                &[(DRAAdminAccess, false), (DRAPrioritizedList, false)],
                Stable,
            ),
            (36, &[], Incubating),
            (36, &[(DRAListTypeAttributes, true)], Incubating),
            (36, &no_shares, Stable),
            (37, &[], Incubating),
            (37, &[(DRAListTypeAttributes, true)], Experimental),
            (37, &no_shares, Stable),
            (
                37,
                &[no_shares[0], no_shares[1], (DRAFractionalCapacityRange, true)],
                Incubating,
            ),
        ] {
            assert_eq!(
                features(minor, gates).implementation(),
                expected,
                "1.{minor} {gates:?}"
            );
        }
    }

    #[test]
    fn pools_have_an_order_from_1_36_on_unless_the_stable_allocator_runs() {
        let no_shares = [
            (Gate::DRAConsumableCapacity, false),
            (Gate::DRADeviceBindingConditions, false),
        ];
        for (minor, gates, expected) in [
            (34, &[][..], true),
            (35, &[], true),
            (36, &[], false),
            (36, &no_shares, true),
            (37, &[], false),
            (37, &no_shares, true),
        ] {
            assert_eq!(
                features(minor, gates).takes_pools_as_they_come(),
                expected,
                "1.{minor} {gates:?}"
            );
        }
    }
}
