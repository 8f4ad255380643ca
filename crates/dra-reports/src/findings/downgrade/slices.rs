//! What devices are published with, and how an older control plane treats it. One finding for each slice and row.

use std::collections::BTreeSet;

use super::Target;
use super::words;
use crate::findings::finding::Subject;
use crate::findings::requests::has_list;
use crate::findings::{Code, Finding, Look, Severity};
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

/// What becomes of the devices of `slice` that are meant; nothing for none.
fn of_devices(code: Code, slice: &Slice, meant: impl Fn(&Device) -> bool, what: &str) -> Option<Finding> {
    let devices = slice.spec.devices.iter().filter(|device| meant(device));
    let names: Vec<&Str> = devices.map(|device| &device.name).collect();
    (!names.is_empty()).then(|| finding(code, slice, words::of_slice(slice, &names, what)))
}

fn list_attributes(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    let gate = Gate::DRAListTypeAttributes;
    if !target.lacks(gate) {
        return;
    }
    let attributes: BTreeSet<&Str> = slice
        .spec
        .devices
        .iter()
        .flat_map(|device| &device.attributes)
        .filter(|(_, value)| value.is_list())
        .map(|(name, _)| name)
        .collect();
    let (severity, what, known) = if target.older {
        let known = gate.stage_in(target.minor).map(|_| gate);
        (Severity::Error, words::lists_fail(&attributes, target), known)
    } else {
        (Severity::Warning, words::lists_are_dropped(&attributes), None)
    };
    if let Some(finding) = of_devices(Code::ListAttributes, slice, has_list, &what) {
        let advice = words::publish_no_lists(&slice.spec.driver, known);
        look.add(finding.severity(severity).advice(advice));
    }
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
    look.add(finding(Code::AlphaFields, slice, message).ask_driver(&spec.driver, words::PUBLISH_NO_FIELDS));
}

fn taints(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    let acts = |device: &Device| device.taints.iter().any(keeps_off);
    let what = words::taints_are_ignored(target);
    if target.lacks(Gate::DRADeviceTaints)
        && let Some(finding) = of_devices(Code::TaintsIgnored, slice, acts, &what)
    {
        look.add(finding.advice(words::publish_no_taints(&slice.spec.driver)));
    }
    let refused = |device: &Device| {
        device.taints.len() > FEW_TAINTS || device.taints.iter().any(|taint| taint.effect == "None")
    };
    let what = words::too_many_taints(FEW_TAINTS, target);
    if target.is_older_and(|release| release.limits_taints)
        && let Some(finding) = of_devices(Code::TaintsLimit, slice, refused, &what)
    {
        look.add(finding.ask_driver(&slice.spec.driver, words::PUBLISH_FEWER_TAINTS));
    }
}

fn binding_conditions(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    let gate = Gate::DRADeviceBindingConditions;
    let waits = |device: &Device| !device.binding_conditions.is_empty();
    if target.lacks(gate)
        && let Some(finding) = of_devices(Code::BindingConditions, slice, waits, &words::binds_early(target))
    {
        look.add(finding.severity(Severity::Warning).advice(words::gate_on(gate)));
    }
}

fn partitions(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    let gate = Gate::DRAPartitionableDevices;
    if !target.lacks(gate) {
        return;
    }
    let own: BTreeSet<&Str> = slice.spec.shared_counters.iter().map(|set| &set.name).collect();
    let elsewhere = |device: &Device| {
        device
            .consumes_counters
            .iter()
            .any(|consumption| !own.contains(&consumption.counter_set))
    };
    let what = words::counters_are_elsewhere(target);
    if target.is_older_and(|release| release.counters_are_of_slice)
        && let Some(finding) = of_devices(Code::Partitions, slice, elsewhere, &what)
    {
        let finding = finding.severity(Severity::Error);
        look.add(finding.ask_driver(&slice.spec.driver, words::PUBLISH_ONE_SLICE));
        return;
    }
    let is_partition = |device: &Device| !device.consumes_counters.is_empty();
    let partitions = of_devices(
        Code::Partitions,
        slice,
        is_partition,
        &words::no_partitions(target),
    );
    let counters = || finding(Code::Partitions, slice, words::no_counters(slice, &own, target));
    let found = partitions.or_else(|| (!own.is_empty()).then(counters));
    look.add_all(found.map(|finding| finding.advice(words::gate_on(gate))));
}

fn shared_devices(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    let gate = Gate::DRAConsumableCapacity;
    let is_shared = |device: &Device| device.allow_multiple_allocations;
    let what = words::shared_as_whole(target);
    if target.lacks(gate)
        && let Some(finding) = of_devices(Code::SharedDevices, slice, is_shared, &what)
    {
        look.add(finding.advice(words::gate_on(gate)));
    }
}
