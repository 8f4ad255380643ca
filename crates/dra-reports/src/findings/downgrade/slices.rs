//! What devices are published with, and what an older control plane makes of it. One finding for each slice and row.

use std::collections::BTreeSet;

use super::{Target, gate_on};
use crate::findings::finding::{Subject, some};
use crate::findings::requests::has_list;
use crate::findings::{Code, Finding, Look, Severity};
use dra_allocator::devices::keeps_off;
use dra_model::{Device, Gate, Kind, Slice, Str};

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
    Finding::new(code, Subject::of(Kind::ResourceSlice, &slice.metadata), message).order(8)
}

/// Names of the devices of `slice` that are meant; nothing for none.
fn devices(slice: &Slice, meant: impl Fn(&Device) -> bool) -> Option<String> {
    let mut names = slice
        .spec
        .devices
        .iter()
        .filter(|device| meant(device))
        .map(|device| &device.name)
        .peekable();
    names.peek()?;
    Some(some(names))
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
        let message = format!(
            "{names} of {}: once the slice is made anew, the API server drops the list attribute {}",
            slice.spec.driver,
            some(attributes),
        );
        look.add(
            finding(Code::ListAttributes, slice, message)
                .severity(Severity::Warning)
                .advice(format!(
                    "whoever runs the driver {} has it publish no lists before",
                    slice.spec.driver
                )),
        );
        return;
    }
    let message = format!(
        "{names} of {}: the list attribute {} makes every class selector fail. As soon as such a device is free, no pod with claims of \
         any driver is scheduled on {}",
        slice.spec.driver,
        some(attributes),
        target.name()
    );
    let knows_gate = Gate::DRAListTypeAttributes.stage_in(target.minor).is_some();
    let fix = format!(
        "whoever runs the driver {} has it publish no lists before",
        slice.spec.driver
    );
    let fix = if knows_gate {
        format!("{fix}, or {}", gate_on(Gate::DRAListTypeAttributes))
    } else {
        fix
    };
    look.add(finding(Code::ListAttributes, slice, message).advice(fix));
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
    let message = format!(
        "{} uses {}, which {} drops: the devices are handed out without that restriction",
        spec.driver,
        dropped.join(" and "),
        target.name()
    );
    look.add(
        finding(Code::AlphaFields, slice, message)
            .advice(format!("whoever runs the driver {} runs it without", spec.driver)),
    );
}

fn taints(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    let acts = |device: &Device| device.taints.iter().any(keeps_off);
    if target.lacks(Gate::DRADeviceTaints)
        && let Some(names) = devices(slice, acts)
    {
        let message = format!(
            "{names} of {}: tainted, but {} hands them out and evicts no pod",
            slice.spec.driver,
            target.name()
        );
        look.add(finding(Code::TaintsIgnored, slice, message).advice(format!(
            "{}, or whoever runs the driver {} has it publish no tainted devices",
            gate_on(Gate::DRADeviceTaints),
            slice.spec.driver
        )));
    }
    let refused = |device: &Device| {
        device.taints.len() > FEW_TAINTS || device.taints.iter().any(|taint| taint.effect == "None")
    };
    if target.is_older_and(|release| release.limits_taints)
        && let Some(names) = devices(slice, refused)
    {
        let message = format!(
            "{names} of {}: more than {FEW_TAINTS} taints, or one with the effect None, with which {} refuses every write of the slice",
            slice.spec.driver,
            target.name()
        );
        look.add(finding(Code::TaintsLimit, slice, message).advice(format!(
            "whoever runs the driver {} has it publish fewer taints",
            slice.spec.driver
        )));
    }
}

fn binding_conditions(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    if !target.lacks(Gate::DRADeviceBindingConditions) {
        return;
    }
    let Some(names) = devices(slice, |device| !device.binding_conditions.is_empty()) else {
        return;
    };
    let message = format!(
        "{names} of {}: pods are bound on {} before the device is attached",
        slice.spec.driver,
        target.name()
    );
    look.add(
        finding(Code::BindingConditions, slice, message)
            .severity(Severity::Warning)
            .advice(gate_on(Gate::DRADeviceBindingConditions)),
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
        let message = format!(
            "{names} of {}: their counters are in another slice, with which {} refuses every write of this one; new pods get none of them",
            slice.spec.driver,
            target.name()
        );
        look.add(
            finding(Code::Partitions, slice, message)
                .severity(Severity::Error)
                .advice(format!(
                    "whoever runs the driver {} has it publish counters and devices in one slice",
                    slice.spec.driver
                )),
        );
        return;
    }
    let what = match devices(slice, |device| !device.consumes_counters.is_empty()) {
        Some(names) => names,
        None if !own.is_empty() => format!("counters {}", some(&own)),
        None => return,
    };
    let message = format!(
        "{what} of {}: new pods get no partitions with {}; those that have one keep it",
        slice.spec.driver,
        target.name()
    );
    look.add(finding(Code::Partitions, slice, message).advice(gate_on(Gate::DRAPartitionableDevices)));
}

fn shared_devices(look: &mut Look<'_>, target: &Target, slice: &Slice) {
    if !target.lacks(Gate::DRAConsumableCapacity) {
        return;
    }
    let Some(names) = devices(slice, |device| device.allow_multiple_allocations) else {
        return;
    };
    let message = format!(
        "{names} of {}: handed out whole by {}, without regard to capacity; none while somebody has a share",
        slice.spec.driver,
        target.name()
    );
    look.add(finding(Code::SharedDevices, slice, message).advice(gate_on(Gate::DRAConsumableCapacity)));
}
