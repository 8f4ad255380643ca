//! What breaks when the control plane is downgraded to an older release, or when a gate is turned off.
//!
//! Each rule is a row of a table that was measured: the control plane of 1.37.1 was replaced by real binaries of 1.36.4, 1.35.8 and
//! 1.34.10 on the same data. `order` is the step that must resolve a finding: 1 groups with generated claims are stopped, gates on;
//! 2 convert; 3 the claim gate is turned off in scheduler and controller-manager; 4 convert again; 5 PodGroups and Workloads are deleted;
//! 6 taint rules are deleted; 7 all gates off; 8 the downgrade itself. All of it comes before the first component is changed.

mod features;
mod gates;
mod groups;
mod rules;
mod slices;
mod words;

use super::Look;
use super::target::Target;
use dra_model::Gate;

/// Gates whose effect when they are turned off is known.
const WITH_RULES: &[Gate] = &[
    Gate::DRAConsumableCapacity,
    Gate::DRADerivedAttributes,
    Gate::DRADeviceBindingConditions,
    Gate::DRADeviceCompatibilityGroups,
    Gate::DRADeviceTaintRules,
    Gate::DRADeviceTaints,
    Gate::DRAExtendedResource,
    Gate::DRAListTypeAttributes,
    Gate::DRANodeAllocatableResources,
    Gate::DRAOptionalNodeOperations,
    Gate::DRAPartitionableDevices,
    Gate::DRAPartitionableDevicesType,
    Gate::DRAWorkloadResourceClaims,
    Gate::GenericWorkload,
];

pub(super) fn look(look: &mut Look<'_>, target: &Target) {
    for gate in target.disabled().filter(|gate| !WITH_RULES.contains(gate)) {
        look.found.unknown.add(words::unknown_gate(gate));
    }
    groups::look(look, target);
    rules::look(look, target);
    slices::look(look, target);
    features::look(look, target);
    gates::look(look, target);
}
