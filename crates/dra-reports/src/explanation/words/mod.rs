//! The sentences of explanations. Nothing reads them again.

pub(super) mod advice;
pub(super) mod fixes;
mod headline;
mod notes;
mod reasons;
mod waiting;

use std::fmt;

use dra_model::{Event, Key};

use super::diagnosis::{Among, DeviceKind, Warning};
use super::fact::{Often, Speaker, Word};
use crate::allocation::words::claim;

#[cfg(test)]
pub(super) use headline::absent;
pub(crate) use headline::why;
pub(super) use headline::{
    answer, cause_with, failures, next_pod, of_member, one_of_pods, owner_ended, replacement, republishing,
};
pub(super) use notes::{
    CLAIM_IS_DELETED, CLEANED_UP, CORDONED_ONLY, FOR_ONE_POD, FULL, HAS_CHANGED, NO_MIGRATION, ON_ONE_NODE,
    RETRIES, UNUSED, Upcoming, abandoned, assumed_on, fails_by_default, former_users, idle, idle_holder,
    kept_claim, lasting_holder, left_behind, lost_devices, lost_user, may_be_a_bug, may_be_meant,
    may_have_changed, may_lack_namespaces, may_not_be_simulated, misspelled_driver, no_group,
    not_even_recreated, nth_pod, offered_twice, other_classes, pending_users, placed_before, preempted,
    preempting, rounded, shared_by_all, shared_class, shares_alone, short_gang, stuck_user, tainting,
    told_by_driver, took_all, unknown_recreated, unread_domain, unread_recreated, upcoming, without_gates,
};
pub(super) use reasons::{ADMIN_ACCESS, brief, keeps_alignment, of_reason};
pub(super) use waiting::{
    NO_PREEMPTION, NODES_UNTAINTED, UNCORDONED, UNTAINTED, but_evicted, come_first, deallocated, deleted,
    error_ends_all, fits_once, held_up, keeps_own, kept, never, never_offered, never_together,
    node_is_coming, not_simulated, or_node_comes, ready_again, recreated, released, rolled_out, spared,
    unknown_wait, unreleased, unusable_pools, waiting_for, when_driver_started, when_finished,
    when_published, why_unknown,
};

fn claims(keys: &[Key]) -> String {
    let names: Vec<String> = keys.iter().map(claim).collect();
    if names.is_empty() {
        "an unknown claim".to_owned()
    } else {
        names.join(", ")
    }
}

/// The nodes in a sentence that none of them has something.
fn which(among: Among) -> String {
    match among {
        Among::All => "no node".to_owned(),
        Among::Left(1) => "no eligible node".to_owned(),
        Among::Left(nodes) => format!("none of the {nodes} eligible nodes"),
        Among::Other => "no other node".to_owned(),
    }
}

/// Several devices of that kind.
fn several(kind: &DeviceKind) -> String {
    of_kind("devices", kind)
}

/// So many available devices of that kind.
fn available(count: u64, kind: &DeviceKind) -> String {
    match count {
        1 => format!("an available {}", of_kind("device", kind)),
        count => format!("{count} available {}", several(kind)),
    }
}

fn of_kind(devices: &str, kind: &DeviceKind) -> String {
    match kind {
        DeviceKind::Model(model) => format!("{model} {devices}"),
        DeviceKind::Attribute(name, value) => format!("{devices} with {name} {value}"),
        DeviceKind::Class(class) => format!("{devices} of class {class}"),
        DeviceKind::Selected(class) => format!("{devices} of class {class} that the request selects"),
    }
}

/// The word for one, or that for several.
fn one_or_many<T>(count: usize, one: T, many: T) -> T {
    if count == 1 { one } else { many }
}

/// A small number in a word.
fn number(count: i64) -> String {
    match count {
        2 => "two".to_owned(),
        count => count.to_string(),
    }
}

/// Consumers and nodes that a sentence names.
const NAMED: usize = 3;

/// The first few names, and how many there are besides.
fn listed<T: fmt::Display>(names: impl IntoIterator<Item = T>, last: &str) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    let rest = names.len().saturating_sub(NAMED);
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., end] if rest == 0 => format!("{} {last} {end}", all.join(", ")),
        _ => format!("{} and {rest} more", names[..NAMED].join(", ")),
    }
}

/// What a component said, and when.
fn word(Word { who, said, at, often }: &Word) -> String {
    let when = match (often, at) {
        (Some(often), Some(at)) => format!(" ({}, last at {at})", self::often(often)),
        (Some(often), None) => format!(" ({})", self::often(often)),
        (None, Some(at)) => format!(" (at {at})"),
        (None, None) => String::new(),
    };
    format!("{}{when}: {}", speaker(who), said.replace('\n', " "))
}

/// How often something was said.
fn often(Often { times, since }: &Often) -> String {
    match since {
        Some(since) => format!("{times}×, first at {since}"),
        None => format!("{times}×"),
    }
}

/// A warning of the cluster.
pub(super) fn warning(warning: &Warning) -> String {
    let Warning {
        reason,
        message,
        component,
        often,
        last,
    } = warning;
    let often = often.as_ref().map(self::often);
    let last = last.map(|last| format!("last at {last}"));
    let who = Some(component.to_string()).filter(|component| !component.is_empty());
    let who: Vec<String> = who.into_iter().chain(often).chain(last).collect();
    if who.is_empty() {
        return format!("{reason}: {message}");
    }
    format!("{reason} ({}): {message}", who.join(", "))
}

/// For how long a scheduler has tried in vain, where it has more than once.
pub(super) fn tried(event: &Event) -> Option<String> {
    let often = Often::of(event)?;
    let last = event
        .last_seen()
        .map_or_else(String::new, |last| format!(", last at {last}"));
    Some(format!("scheduling has failed: {}{last}", self::often(&often)))
}

/// A component that says something.
fn speaker(who: &Speaker) -> String {
    match who {
        Speaker::Scheduler => "kube-scheduler".to_owned(),
        Speaker::OtherScheduler(name) | Speaker::Component(name) => name.to_string(),
        Speaker::Kubelet => "kubelet".to_owned(),
        Speaker::ClaimController => "claim controller".to_owned(),
    }
}
