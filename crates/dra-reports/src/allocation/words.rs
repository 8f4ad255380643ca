//! Sentences about allocations that explanations have, too. Nothing reads them again.

use super::gang::{Gang, GangLacks};
use dra_model::{DeviceId, Format, Key, MOST_CONSUMERS, Quantity, Str};
use dra_rules::health::Broken;
use dra_rules::scheduling::TooManyCpus;

/// A claim; the empty key stands for one that is the subject's own.
pub(crate) fn claim(key: &Key) -> String {
    if *key == Key::default() {
        "its claim".to_owned()
    } else {
        format!("claim/{key}")
    }
}

/// A pod; the empty key stands for the subject.
pub(crate) fn pod(key: &Key) -> String {
    if *key == Key::default() {
        "it".to_owned()
    } else {
        format!("pod/{key}")
    }
}

/// That a claim has as many consumers as it can have.
pub(crate) fn too_many_consumers(key: &Key) -> String {
    format!(
        "{} has {MOST_CONSUMERS} consumers, and no claim can have more: kube-scheduler cannot reserve it for the pod",
        claim(key)
    )
}

/// That a device, which would be granted on this node and so many others, is a part of one that is broken.
pub(super) fn part_of_broken(device: &DeviceId, node: &Str, others: usize, broken: &Broken) -> String {
    let others = match others {
        0 => String::new(),
        1 => ", and so on one more node".to_owned(),
        others => format!(", and so on {others} more nodes"),
    };
    format!(
        "it gets {device} on {node}{others}: this device draws on the counters of {}, whose taint {} says that it is broken; no taint \
         keeps pods off the partition",
        broken.id.device, broken.taint
    )
}

/// That claims and pods have more CPUs of a node than there are.
pub(super) fn crowded(crowded: &TooManyCpus, others: usize) -> String {
    let TooManyCpus {
        node,
        driver,
        of_claims,
        of_pods,
        allocatable,
    } = crowded;
    let cpus = |amount: i64| Quantity::from_nanos(i128::from(amount) * 1_000_000, Format::DecimalSi);
    let others = match others {
        0 => String::new(),
        others => format!(" (and so on {others} more)"),
    };
    format!(
        "overcommitted: on {node}{others} claims have {} CPUs of {driver} and pods request {} beside them, {} of {} in all; CPUs of claims \
         do not count as CPUs of the node (KEP-5517)",
        cpus(*of_claims),
        cpus(*of_pods),
        cpus(of_claims.saturating_add(*of_pods)),
        cpus(*allocatable)
    )
}

/// How many members are needed and how many fit, and which one does not.
pub(crate) fn of_gang(gang: &Gang) -> String {
    let Gang {
        group,
        min_count,
        lacks,
    } = gang;
    let needs = format!("podgroup/{group} needs {min_count} of its pods at once");
    match lacks {
        GangLacks::Error(why) => format!("podgroup/{group} cannot be placed: {why}"),
        GangLacks::Fits(scheduled, first, others) => {
            let more = match others {
                0 => String::new(),
                more => format!(", like {more} more"),
            };
            let fit = if *scheduled == 1 { "fits" } else { "fit" };
            format!("{needs}, and {scheduled} {fit}: {} does not{more}", pod(first))
        }
        GangLacks::Pods(there) => {
            format!("{needs}, and only {there} of them have a node or can be scheduled")
        }
    }
}
