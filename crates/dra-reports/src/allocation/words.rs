//! Sentences about allocations that explanations have, too. Nothing reads them again.

use super::gang::{Gang, GangLacks};
use dra_model::{Key, MOST_CONSUMERS};

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
