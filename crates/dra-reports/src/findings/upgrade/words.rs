//! The sentences of the findings before an upgrade.

use crate::findings::facts::GateFault;
use crate::findings::words::claims;
pub(super) use crate::findings::words::remove_gate;
use crate::listing::some;
use crate::words::counted;
use dra_model::{Component, DeviceId, Key, Str, Taint, Time, Version};
use dra_rules::scheduling::Exposure;
use std::collections::BTreeSet;

pub(super) fn gate_is_refused(gate: &str, minor: u32, fault: GateFault, components: &[Component]) -> String {
    let why = match fault {
        GateFault::Unknown => {
            format!("1.{minor} does not know the gate (unrecognized feature gate: {gate})")
        }
        GateFault::LockedTo(value) => format!(
            "1.{minor} locks the gate to {value} (cannot set feature gate {gate} to {}, feature is locked to {value})",
            !value
        ),
    };
    format!(
        "is set in {}, which will not start with it: {why}",
        some(components)
    )
}

pub(super) fn unknown_new_gates(components: &[&str]) -> String {
    format!(
        "the feature gates of {} are unknown; a newer release does not start with an unrecognized or locked gate",
        components.join(", ")
    )
}

// What a release that fixes a bug does instead.
pub(super) const BARE_RULE_MATCHES_NOTHING: &str =
    "a DeviceTaintRule without a selector matches no device: devices that it kept pods off are allocated";
pub(super) const EVICTED_TOO: &str = "a pod is evicted from a device that it has for an extended resource, if it does not tolerate a NoExecute taint of the device";
pub(super) const ALL_DEVICES: &str = "a request for all devices fails where a device that can be shared is used up, instead of omitting that device";
pub(super) const AMOUNT_OUT_OF_RANGE: &str =
    "a negative amount of capacity, or one that exceeds 64 bits, fails the scheduling attempt with an error";
pub(super) const DISTINCT_WITHIN_REQUEST: &str = "a constraint with distinctAttribute applies to every two devices, also of one request: what fit before may not fit anymore";
pub(super) const CONFIGURED_ONCE: &str = "each configuration appears once in the allocation, without requests if it applies to all: a driver must not expect one for each";

/// What the release that fixes a bug does instead.
pub(super) fn new_meaning(text: &str, exposure: &Exposure) -> String {
    let Exposure { bug, fix, by } = exposure;
    format!(
        "from {fix} on, {text}. This affects {}; see kubernetes/kubernetes#{}",
        some(by),
        bug.issue
    )
}

pub(super) const CHECK_MEANING: &str =
    "check with the owners of these objects that the new behavior is what they want";

pub(super) fn unknown_releases() -> String {
    format!(
        "for releases after 1.{} only the served API versions are known: other changes were not checked",
        Version::NEWEST_MINOR
    )
}

pub(super) fn evicted_from(minor: u32, taints: &[&Taint], holders: &[Key]) -> String {
    format!(
        "has the taint {}, which is on by default from 1.{minor} on: the pods of {} are evicted immediately",
        some(taints),
        claims(holders)
    )
}

pub(super) const REMOVE_TAINT: &str = "to remove the taint, or delete the pods before the upgrade";

pub(super) fn needs_toleration(minor: u32, taint: &Taint) -> String {
    format!(
        "has the taint {taint}: from 1.{minor} on, where taints are on by default, it is allocated only to requests that tolerate the taint"
    )
}

pub(super) const REMOVE_TAINT_TO_USE: &str = "to remove the taint if the device is to be used";

pub(super) fn binds_later(minor: u32) -> String {
    format!(
        "has devices with bindingConditions: from 1.{minor} on, pods are bound only once a controller has set them to True in status.devices"
    )
}

pub(super) const ATTACH: &str =
    "to make sure that the controller that attaches the devices runs, and can write status.devices";

pub(super) fn extended_resource(minor: u32, resource: &Str) -> String {
    format!(
        "provides devices for extended resource {resource} from 1.{minor} on: pods that request it get a claim on nodes where no device plugin \
         offers it"
    )
}

pub(super) const REMOVE_RESOURCE: &str =
    "ask a cluster administrator to remove extendedResourceName if this is not intended";

pub(super) fn partitions_are_allocated(minor: u32, partitions: usize) -> String {
    format!(
        "publishes {} that consume counters: they are allocated from 1.{minor} on",
        counted(partitions, "device", "devices")
    )
}

pub(super) const PARTITIONS_ARE_FINE: &str = "no action needed, unless other devices of the same hardware are already allocated: those stay allocated until their pods finish";

pub(super) fn rule_takes_effect(minor: u32, taint: &Taint) -> String {
    format!("has no effect now, but from 1.{minor} on taints the devices that it selects with {taint}")
}

pub(super) const IF_NOT_TO_TAINT: &str = "only if the devices are not to be tainted";

pub(super) const OLD_COUNTERS: &str = "has counters and devices in one slice, a format of 1.34 only: from 1.35 on kube-scheduler allocates none of its devices, and the API \
     server rejects writes of the slice";

pub(super) const PUBLISH_COUNTERS: &str =
    "to upgrade it to a version that publishes counters in separate slices";

pub(super) fn cannot_be_read(minor: u32, version: &str) -> String {
    format!(
        "is stored as scheduling.k8s.io/{version}, which 1.{minor} cannot read: with GenericWorkload on, its API server never becomes ready"
    )
}

pub(super) const DELETE_ITS_PODS: &str = "first delete its pods";
pub(super) const RECREATE_LATER: &str = "recreate it on the new release";

pub(super) fn tolerations_are_lost(minor: u32, devices: &[DeviceId]) -> String {
    format!(
        "tolerates taints of {}, but was allocated by 1.34, which does not record that in the allocation: from 1.{minor} on, a NoExecute taint \
         evicts its pods anyway",
        some(devices)
    )
}

pub(super) const ALLOCATE_AGAIN: &str =
    "delete its pods, so that 1.35 or later allocates it again, or leave its devices untainted";

pub(super) const NO_MANAGED_FIELDS: &str = "the API versions in use are unknown: no object has managedFields (kubectl get --show-managed-fields prints them)";

pub(super) fn old_writer(
    minor: u32,
    version: &Str,
    objects: &BTreeSet<String>,
    last: Option<Time>,
) -> String {
    let last = last.map_or_else(String::new, |time| format!(", last at {time}"));
    format!(
        "wrote {} through {version}{last}: {}. From 1.{minor} on, the API server does not serve this version, and rejects clients that use it",
        counted(objects.len(), "object", "objects"),
        some(objects),
    )
}

pub(super) fn upgrade_writer(manager: &Str) -> String {
    format!(
        "ask the owner of {manager} to upgrade it, or the manifests that it applies, to resource.k8s.io/v1; the API server converts stored \
         objects"
    )
}
