//! What devices are published with, and how an older control plane treats it. One finding for each slice and row.

use std::collections::BTreeSet;

use super::Target;
use crate::findings::finding::Subject;
use crate::findings::requests::has_list;
use crate::findings::{Code, Finding, Look, Severity, words};
use dra_allocator::devices::keeps_off;
use dra_model::{Device, Gate, Slice, Str};

/// Taints that a device may have where they are limited.
const FEW_TAINTS: usize = 4;

pub(super) fn look(look: &mut Look<'_>, target: &Target) {
    let cluster = look.cluster;
    for slice in cluster.slices() {
        list_attributes(look, target, slice);
        alpha_fields(look, target, slice);
        taints(look, target, slice);
        binding_conditions(look, target, slice);
        partitions(look, target, slice);
        shared_devices(look, target, slice);
    }
}

fn finding(code: Code, slice: &Slice, message: String) -> Finding {
    Finding::new(code, Subject::slice(slice), message).order(8)
}

/// Names of the devices of `slice` that are meant; nothing for none.
fn devices(slice: &Slice, meant: impl Fn(&Device) -> bool) -> Option<Vec<&Str>> {
    let devices = slice.spec.devices.iter().filter(|device| meant(device));
    let names: Vec<&Str> = devices.map(|device| &device.name).collect();
    (!names.is_empty()).then_some(names)
}

fn list_attributes(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    if !target.lacks(Gate::DRAListTypeAttributes) {
        return;
    }
    let Some(names) = devices(slice, has_list) else {
        return;
    };
    let attributes: BTreeSet<&Str> = slice
        .spec
        .devices
        .iter()
        .flat_map(|device| &device.attributes)
        .filter(|(_, value)| value.is_list())
        .map(|(name, _)| name)
        .collect();
    if !target.older {
        let message = words::lists_are_dropped(slice, &names, &attributes);
        look.add(
            finding(Code::ListAttributes, slice, message)
                .severity(Severity::Warning)
                .advice(words::publish_no_lists(&slice.spec.driver, None)),
        );
        return;
    }
    let message = words::lists_fail(slice, &names, &attributes, target);
    let gate = Gate::DRAListTypeAttributes;
    let known = gate.stage_in(target.minor).map(|_| gate);
    look.add(
        finding(Code::ListAttributes, slice, message)
            .advice(words::publish_no_lists(&slice.spec.driver, known)),
    );
}

fn alpha_fields(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    let spec = &slice.spec;
    let any = |has: fn(&Device) -> bool| spec.devices.iter().any(has);
    let fields = [
        (
            "skipNodeOperations",
            Gate::DRAOptionalNodeOperations,
            !spec.skip_node_operations.is_empty(),
        ),
        (
            "partitionTypeAttribute",
            Gate::DRAPartitionableDevicesType,
            spec.partition_type_attribute.is_some(),
        ),
        (
            "nodeAllocatableResources",
            Gate::DRANodeAllocatableResources,
            any(|device| !device.node_allocatable_resources.is_empty()),
        ),
        (
            "compatibilityGroups",
            Gate::DRADeviceCompatibilityGroups,
            any(|device| {
                device
                    .consumes_counters
                    .iter()
                    .any(|consumption| !consumption.compatibility_groups.is_empty())
            }),
        ),
    ];
    let dropped: Vec<&str> = fields
        .into_iter()
        .filter(|(_, gate, used)| *used && target.lacks(*gate))
        .map(|(name, ..)| name)
        .collect();
    if dropped.is_empty() {
        return;
    }
    let message = words::slice_fields_are_dropped(&spec.driver, &dropped, target);
    look.add(finding(Code::AlphaFields, slice, message).advice(words::publish_no_fields(&spec.driver)));
}

fn taints(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    let acts = |device: &Device| device.taints.iter().any(keeps_off);
    if target.lacks(Gate::DRADeviceTaints)
        && let Some(names) = devices(slice, acts)
    {
        let message = words::taints_are_ignored(slice, &names, target);
        look.add(
            finding(Code::TaintsIgnored, slice, message).advice(words::publish_no_taints(&slice.spec.driver)),
        );
    }
    let refused = |device: &Device| {
        device.taints.len() > FEW_TAINTS || device.taints.iter().any(|taint| taint.effect == "None")
    };
    if target.is_older_and(|release| release.limits_taints)
        && let Some(names) = devices(slice, refused)
    {
        let message = words::too_many_taints(slice, &names, FEW_TAINTS, target);
        look.add(
            finding(Code::TaintsLimit, slice, message)
                .advice(words::publish_fewer_taints(&slice.spec.driver)),
        );
    }
}

fn binding_conditions(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    if !target.lacks(Gate::DRADeviceBindingConditions) {
        return;
    }
    let Some(names) = devices(slice, |device| !device.binding_conditions.is_empty()) else {
        return;
    };
    let message = words::binds_early(slice, &names, target);
    look.add(
        finding(Code::BindingConditions, slice, message)
            .severity(Severity::Warning)
            .advice(words::gate_on(Gate::DRADeviceBindingConditions)),
    );
}

fn partitions(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    if !target.lacks(Gate::DRAPartitionableDevices) {
        return;
    }
    let own: BTreeSet<&Str> = slice.spec.shared_counters.iter().map(|set| &set.name).collect();
    let elsewhere = |device: &Device| {
        device
            .consumes_counters
            .iter()
            .any(|consumption| !own.contains(&consumption.counter_set))
    };
    if target.is_older_and(|release| release.counters_are_of_slice)
        && let Some(names) = devices(slice, elsewhere)
    {
        let message = words::counters_are_elsewhere(slice, &names, target);
        look.add(
            finding(Code::Partitions, slice, message)
                .severity(Severity::Error)
                .advice(words::publish_one_slice(&slice.spec.driver)),
        );
        return;
    }
    let partitions = devices(slice, |device| !device.consumes_counters.is_empty());
    if partitions.is_none() && own.is_empty() {
        return;
    }
    let message = words::no_partitions(slice, partitions.as_deref(), &own, target);
    look.add(finding(Code::Partitions, slice, message).advice(words::gate_on(Gate::DRAPartitionableDevices)));
}

fn shared_devices(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    if !target.lacks(Gate::DRAConsumableCapacity) {
        return;
    }
    let Some(names) = devices(slice, |device| device.allow_multiple_allocations) else {
        return;
    };
    let message = words::shared_as_whole(slice, &names, target);
    look.add(
        finding(Code::SharedDevices, slice, message).advice(words::gate_on(Gate::DRAConsumableCapacity)),
    );
}
