//! The sentences of the findings before a downgrade.

use crate::findings::facts::Changed;
use crate::findings::target::Target;
pub(super) use crate::findings::words::remove_gate;
use crate::findings::words::{change, pods};
use crate::listing::some;
use crate::words::{consumers, counted};
use dra_model::{
    Claim, Component, ConsumerReference, DeviceId, Gate, Key, MOST_CONSUMERS, NO_EXECUTE, NO_SCHEDULE, Slice,
    Str, Taint,
};
use std::collections::BTreeSet;

pub(super) fn gate_on(gate: Gate) -> String {
    format!("ask the control plane's owner to start the target with {gate}=true")
}

pub(super) fn unknown_gate(gate: Gate) -> String {
    format!("it is unknown what turning {gate} off breaks")
}

pub(super) fn keeps_claim(to: &Target) -> String {
    format!(
        "was created for extended resources: with {to} its devices stay allocated after the pod finishes, until the pod is deleted"
    )
}

pub(super) fn delete_finished(pod: &Key) -> String {
    format!("delete pod/{pod} after it finishes")
}

pub(super) const POD_IS_GONE: &str =
    "no action needed: garbage collection deletes the claim, because its pod is gone";

pub(super) fn no_extended_resource(resource: &Str, to: &Target) -> String {
    format!(
        "provides devices for extended resource {resource}: with {to} new pods that request it stay pending"
    )
}

/// Fields that are dropped, and the attribute of a constraint that can never be met then.
pub(super) fn fields_are_dropped(fields: &[&str], attribute: Option<&Str>, to: &Target) -> String {
    let then = attribute.map_or_else(String::new, |attribute| {
        format!(
            "; the constraint on {attribute} stays and cannot be met, so the claim is not allocated again"
        )
    });
    format!("uses {}, which {to} drops{then}", fields.join(" and "))
}

pub(super) fn without_fields(changed: &Changed) -> String {
    change(changed, "without these fields")
}

pub(super) fn is_bound_early(missing: &[&Str], pods: &[Key], to: &Target) -> String {
    format!(
        "lacks the conditions {}: {to} binds {} immediately, although the device is not attached",
        some(missing),
        self::pods(pods)
    )
}

pub(super) const OR_WAIT_UNTIL_BOUND: &str = "or wait until the pod is bound";

pub(super) fn share_is_whole(devices: &[DeviceId], to: &Target) -> String {
    format!(
        "holds a share of {}: {to} treats it as the whole device",
        some(devices)
    )
}

pub(super) fn tolerations_are_ignored(to: &Target) -> String {
    format!("tolerates NoExecute taints, which {to} ignores: its pods are evicted immediately")
}

pub(super) const REMOVE_TOLERATED: &str =
    "remove tolerated NoExecute taints before the downgrade, or expect the evictions";

pub(super) fn skips_releases(to: &Target) -> String {
    format!("cannot be downgraded to {to} in one step: downgrade to each release in between")
}

pub(super) fn downgrade_first(minor: u32) -> String {
    format!("ask the control plane's owner to downgrade to 1.{minor} first")
}

/// Why a gate does not go with an older release.
pub(super) enum OldGate {
    Unknown,
    NeverReady,
}

pub(super) fn old_gate(gate: &str, components: &[Component], why: &OldGate, to: &Target) -> String {
    let who = some(components);
    match why {
        OldGate::Unknown => {
            format!("is unknown to {who} of {to}, which will not start (unrecognized feature gate: {gate})")
        }
        OldGate::NeverReady => format!(
            "is on in {who}: on {to}, together with scheduling.k8s.io/v1beta1, the API server never becomes ready"
        ),
    }
}

pub(super) fn needs_gang_gate(to: &Target) -> String {
    format!("exists only in {to}, where members of a gang are scheduled one by one without it")
}

pub(super) const UNKNOWN_APISERVER_GATES: &str = "DRA122 was not checked for kube-apiserver: its feature gates are unknown (see --apiserver-feature-gates)";

pub(super) fn unknown_old_gates(components: &[&str], to: &Target) -> String {
    format!(
        "the feature gates of {} are unknown; {to} does not start with an unrecognized gate",
        components.join(" and ")
    )
}

pub(super) fn loses_membership(group: &Key, to: &Target) -> String {
    format!(
        "is a member of podgroup/{group}: {to} drops spec.schedulingGroup for good when it writes the pod, and a later upgrade does not restore \
         it"
    )
}

pub(super) const RECREATE_MEMBERS: &str =
    "recreate the pods after a later upgrade; no action needed if the groups are no longer used";

/// A claim that was created for a group and is used by so many pods.
pub(super) fn group_claim_is_lost(group: &Key, users: usize, to: &Target) -> String {
    let users = counted(users, "pod", "pods");
    if to.older {
        format!(
            "was created for podgroup/{group} and is used by {users}: the claim controller of {to} creates a new claim without devices for each \
             of them while it runs, converted or not"
        )
    } else {
        format!(
            "was created for podgroup/{group} and is used by {users}: without the gate their sandboxes cannot be recreated, taints do not evict \
             them, and the claim is never deallocated while it is reserved for the group"
        )
    }
}

pub(super) fn group_is_gone(group: &Key) -> String {
    format!(
        "no action needed: podgroup/{group} and its pods are gone, and garbage collection deletes the claim"
    )
}

fn groups(claim: &Claim, entries: &[&ConsumerReference]) -> String {
    consumers(&claim.metadata.namespace, entries.iter().copied())
}

pub(super) fn deleting_for_group(claim: &Claim, entries: &[&ConsumerReference]) -> String {
    format!(
        "is reserved for {} and is being deleted, so no entry can be added: it cannot be converted, and its deletion never finishes after the \
         downgrade",
        groups(claim, entries)
    )
}

pub(super) const WHILE_GATE_IS_ON: &str = "while the gate is still on";

pub(super) fn group_is_idle(claim: &Claim, entries: &[&ConsumerReference]) -> String {
    format!(
        "is reserved for {}, which has no running members; it would never be freed",
        groups(claim, entries)
    )
}

pub(super) fn group_is_too_large(claim: &Claim, entries: &[&ConsumerReference], members: usize) -> String {
    format!(
        "is reserved for {}, whose {members} members and the other entries exceed the {MOST_CONSUMERS} that a claim can have",
        groups(claim, entries)
    )
}

pub(super) fn shrink_group(group: &Key) -> String {
    format!("delete pods of podgroup/{group} until {MOST_CONSUMERS} entries are enough, or split the group")
}

/// A claim that is reserved for groups with so many running members, where that is known.
pub(super) fn group_reservation_stays(
    claim: &Claim,
    entries: &[&ConsumerReference],
    members: Option<usize>,
    blocks_controller: bool,
    to: &Target,
) -> String {
    let members = members.map_or_else(
        || "an unknown number of pods".to_owned(),
        |members| counted(members, "running pod", "running pods"),
    );
    let also = if blocks_controller {
        ", and neither is any other entry of the claim"
    } else {
        ""
    };
    format!(
        "is reserved for {} with {members}: with {to} the claim is never freed and its namespace never deleted, because the entry is never \
         removed{also}",
        groups(claim, entries)
    )
}

pub(super) fn foreign_stays(
    claim: &Claim,
    entries: &[&ConsumerReference],
    blocks_controller: bool,
) -> String {
    let what = if blocks_controller {
        "which its claim controller does not support: it never removes any entry of the claim"
    } else {
        "which is never removed, as today"
    };
    format!("is reserved for {}, {what}", groups(claim, entries))
}

/// A pending member of a group: it is scheduled alone and may lose its membership, or never gets a claim of the group.
pub(super) fn member_is_pending(group: &Key, alone: Option<bool>) -> String {
    match alone {
        Some(loses_membership) => format!(
            "is pending with podgroup/{group}: it will be scheduled alone, without the gang and without the claims of the group{}",
            if loses_membership {
                ", and will lose its membership"
            } else {
                ""
            }
        ),
        None => format!(
            "is pending with podgroup/{group} and uses a claim that was created for it: it stays pending"
        ),
    }
}

pub(super) const OR_WAIT_UNTIL_SCHEDULED: &str = "or wait until it is scheduled";

/// Why a stored PodGroup or Workload cannot be used.
pub(super) enum Stored {
    NeverReady,
    Hidden,
    UnknownKind,
}

pub(super) fn stored(how: &Stored, to: &Target) -> String {
    match how {
        Stored::NeverReady => format!(
            "is stored in a format that {to} cannot decode: with GenericWorkload on, its API server never becomes ready"
        ),
        Stored::Hidden => {
            format!("cannot be read or deleted with {to}, but stays stored and reappears with the gate")
        }
        Stored::UnknownKind => format!(
            "has a kind that {to} does not know: it cannot be read or deleted there, but stays stored and reappears later"
        ),
    }
}

pub(super) const AFTER_CONVERSION: &str = "first convert its claims";

/// How a PodGroup goes without its pods.
pub(super) const KEEP_MEMBERS: &str =
    "follow `kubectl dra convert plan`, which deletes it while its pods keep running";

pub(super) const HIDDEN_GROUPS: &str =
    "PodGroups and Workloads are not served; etcd may still contain some from when GenericWorkload was on";

pub(super) fn rule_is_off(taint: &Taint, to: &Target) -> String {
    let effect = match taint.effect.as_str() {
        NO_EXECUTE => "no longer evicts pods, and new pods get the devices",
        NO_SCHEDULE => "is no longer enforced, and new pods get the devices",
        _ => "no longer counts pods",
    };
    format!("{taint} {effect} with {to}; the rule is not served, but stays stored")
}

pub(super) const TAINT_SLICES_FIRST: &str = "first taint the devices in their slices, or cordon the nodes";

/// A rule that may be stored in a form that the scheduler of the target cannot decode; `is_off` where it does not serve rules by default.
pub(super) fn rule_is_undecodable(is_certain: bool, is_off: bool, to: &Target) -> String {
    let stored = if is_certain {
        "is stored as v1beta2"
    } else {
        "may be stored as v1beta2, unless it was written on 1.36"
    };
    let when = if is_off {
        "if it serves resource.k8s.io/v1alpha3, "
    } else {
        ""
    };
    format!("{stored}, which {to} cannot decode: {when}its scheduler never starts")
}

// When a rule without selector blocks scheduling on the target.
pub(super) const WITH_RULES: &str = "with DRADeviceTaintRules on, ";
pub(super) const ALWAYS: &str = "";
pub(super) const WITH_EFFECT: &str = "once its effect is NoSchedule or NoExecute, ";

pub(super) fn bare_rule(when: &str, to: &Target) -> String {
    format!(
        "has no deviceSelector, which the scheduler of {to} treats as every device: {when}no pod with claims is scheduled"
    )
}

/// Devices of a slice, and what becomes of them.
pub(super) fn of_slice(slice: &Slice, devices: &[&Str], what: &str) -> String {
    format!("{} of driver {}: {what}", some(devices), slice.spec.driver)
}

pub(super) fn lists_are_dropped(attributes: &BTreeSet<&Str>) -> String {
    format!(
        "the API server drops list attribute {} once the slice is recreated",
        some(attributes)
    )
}

pub(super) fn lists_fail(attributes: &BTreeSet<&Str>, to: &Target) -> String {
    format!(
        "list attribute {} makes every class selector fail. Once such a device is free, no pod with claims of any driver is scheduled on {to}",
        some(attributes)
    )
}

/// `gate` is the one that lets the target read lists.
pub(super) fn publish_no_lists(driver: &Str, gate: Option<Gate>) -> String {
    let gate = gate.map_or_else(String::new, |gate| format!(", or {}", gate_on(gate)));
    format!("ask the owner of driver {driver} to stop publishing lists first{gate}")
}

pub(super) fn slice_fields_are_dropped(driver: &Str, fields: &[&str], to: &Target) -> String {
    format!(
        "driver {driver} uses {}, which {to} drops: the devices are allocated without that restriction",
        fields.join(" and ")
    )
}

pub(super) const PUBLISH_NO_FIELDS: &str = "to run it without these fields";

pub(super) fn taints_are_ignored(to: &Target) -> String {
    format!("tainted, but {to} allocates them and evicts no pods")
}

pub(super) fn publish_no_taints(driver: &Str) -> String {
    format!(
        "{}, or ask the owner of driver {driver} to publish no tainted devices",
        gate_on(Gate::DRADeviceTaints)
    )
}

pub(super) fn too_many_taints(most: usize, to: &Target) -> String {
    format!("more than {most} taints, or one with the effect None, so {to} rejects every write of the slice")
}

pub(super) const PUBLISH_FEWER_TAINTS: &str = "to publish fewer taints";

pub(super) fn binds_early(to: &Target) -> String {
    format!("{to} binds pods before the device is attached")
}

pub(super) fn counters_are_elsewhere(to: &Target) -> String {
    format!(
        "their counters are in another slice, so {to} rejects every write of this one, and new pods get none of them"
    )
}

pub(super) const PUBLISH_ONE_SLICE: &str = "to publish counters and devices in one slice";

/// Partitions that new pods do not get.
pub(super) fn no_partitions(to: &Target) -> String {
    format!("new pods get no partitions with {to}; pods that have one keep it")
}

/// Counters that the partitions of other slices draw from.
pub(super) fn no_counters(slice: &Slice, counters: &BTreeSet<&Str>, to: &Target) -> String {
    let counters = some(counters);
    format!(
        "counters {counters} of driver {}: {}",
        slice.spec.driver,
        no_partitions(to)
    )
}

pub(super) fn shared_as_whole(to: &Target) -> String {
    format!(
        "{to} allocates them as a whole, regardless of capacity, and not at all while shares are allocated"
    )
}
