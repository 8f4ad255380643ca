//! Sentences about allocations that explanations have, too. Nothing reads them again.

use super::assumed::AssumedRelease;
use super::gang::{Gang, GangLacks};
use crate::listing::some_of;
use dra_allocator::Choice;
use dra_model::{DeviceId, Format, Key, MOST_CONSUMERS, PoolId, Quantity, Str};
use dra_rules::health::Broken;
use dra_rules::scheduling::{Rejection, TooManyCpus};
use itertools::Itertools;

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

/// A claim that is to be created from a template.
pub(crate) fn claim_from(template: &Key) -> String {
    format!("the claim from template/{template}")
}

/// That a quota blocks the creation of a claim.
pub(crate) fn refused(what: &str, refusal: impl std::fmt::Display) -> String {
    format!("{what} cannot be created: it {refusal}")
}

/// That a claim has as many consumers as it can have.
pub(crate) fn too_many_consumers(key: &Key) -> String {
    format!(
        "{} has {MOST_CONSUMERS} consumers, the maximum: kube-scheduler cannot reserve it for the pod",
        claim(key)
    )
}

/// A device that would be granted, which is a part of one that a taint says to be broken.
pub(super) struct PartOfBroken {
    /// The device.
    pub(super) device: DeviceId,
    /// The node on which it would be granted.
    pub(super) node: Str,
    /// How many more nodes would grant such a device.
    pub(super) others: usize,
    /// The broken link.
    pub(super) broken: Broken,
}

pub(super) fn part_of_broken(part: &PartOfBroken) -> String {
    let PartOfBroken {
        device,
        node,
        others,
        broken,
    } = part;
    let others = match others {
        0 => String::new(),
        1 => " (and similarly on 1 more node)".to_owned(),
        others => format!(" (and similarly on {others} more nodes)"),
    };
    format!(
        "it gets {device} on {node}{others}: this device is a partition of {}, whose taint {} reports it as broken, but the partition \
         itself is not tainted",
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
        others => format!(" (and similarly on {others} more)"),
    };
    format!(
        "overcommitted: on {node}{others} claims hold {} CPUs of {driver} and pods request {} more, {} of {} in total; CPUs of claims do \
         not count as CPUs of the node (KEP-5517)",
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
    let needs = format!("podgroup/{group} needs {min_count} of its pods together");
    match lacks {
        GangLacks::Error(why) => format!("podgroup/{group} cannot be placed: {why}"),
        GangLacks::Fits(scheduled, first, others) => {
            let more = match others {
                0 => String::new(),
                more => format!(", nor do {more} more"),
            };
            let fit = if *scheduled == 1 { "fits" } else { "fit" };
            format!(
                "{needs}, but only {scheduled} {fit}: {} does not{more}",
                pod(first)
            )
        }
        GangLacks::Pods(there) => {
            format!("{needs}, but only {there} have a node or can be scheduled")
        }
    }
}

/// That several devices may be allocated on this node and others.
pub(super) fn open_devices(first: &str, nodes: usize, open: &[Choice]) -> String {
    let choices: Vec<String> = open.iter().map(choice).collect();
    format!(
        "the devices on {} depend on an order only kube-scheduler knows: {}",
        among(first, nodes),
        choices.join("; ")
    )
}

/// That an error may end the attempt on this node and others.
pub(super) fn may_error(first: &str, nodes: usize, error: &str) -> String {
    format!(
        "on {}, depending on its order, kube-scheduler may hit an error first, which ends its attempt: {error}",
        among(first, nodes)
    )
}

/// That it is unknown whether it fits on this node and others.
pub(super) fn may_differ(first: &str, nodes: usize, why: &str) -> String {
    format!("unknown whether it fits on {}: {why}", among(first, nodes))
}

/// That other placements of a group were not all tried.
pub(crate) const HANGS_ON_NODES: &str = "each pod of the PodGroup is simulated with the pods before it on the first fitting node by name, \
     or on one of a few others that were tried";

/// That kube-scheduler itself refused the pod last time for what is not simulated.
pub(super) fn rejected(by: &[Rejection]) -> Option<String> {
    let by = by.iter().map(|rejection| &*rejection.words).join(", ");
    (!by.is_empty()).then(|| format!("kube-scheduler rejected the pod for what is not simulated: {by}"))
}

/// That the search was not finished.
pub(super) const UNDECIDED: &str = "undecided within the search budget";

/// Why no more copies are packed.
pub(super) const MOST_SIMULATED: &str = "the limit of the simulation";

/// Why no more copies are packed.
pub(super) const BUDGET: &str = "the budget of the search";

/// What keeps a copy off a node whose devices do not fit together.
pub(super) const TOGETHER: &str = "devices that fit together";

/// Devices that run out.
pub(super) fn devices_for(request: &str) -> String {
    format!("devices for request {request}")
}

/// Consumers that run out.
pub(super) fn consumers_of(claim: &Key) -> String {
    format!("consumers of claim/{claim}")
}

/// The first of several nodes.
fn among(first: &str, nodes: usize) -> String {
    match nodes - 1 {
        0 => first.to_owned(),
        more => format!("{first} and {more} more"),
    }
}

/// Where a request gets devices from.
fn choice(choice: &Choice) -> String {
    const SHOWN: usize = 4;
    let Choice {
        claim,
        request,
        pools,
        slices,
    } = choice;
    let places = match pools.as_slice() {
        [pool] => format!("slices {} of pool {pool}", some_of(SHOWN, slices)),
        pools => format!("pools {}", some_of(SHOWN, pools)),
    };
    format!(
        "request {request} of claim/{claim} gets devices from one or more of the {places}, in no fixed order"
    )
}

/// That kube-scheduler times out on a pod.
pub(super) const TIMES_OUT: &str = "kube-scheduler's own search takes longer than its limit of 10 s per node: it retries the pod again and again";

/// That kube-scheduler times out on a node, in releases that only skip the node.
pub(super) const NODE_TIMES_OUT: &str = "kube-scheduler's own search takes longer than its limit of 10 s per node: it skips the node with \
     `timed out trying to allocate devices`";

/// That kube-scheduler may time out on a pod, depending on its machine.
pub(super) const MAY_TIME_OUT: &str = "kube-scheduler's own search may take longer than its limit of 10 s per node: it then retries the pod again and again";

/// That kube-scheduler may time out on a node, in releases that only skip the node.
pub(super) const NODE_MAY_TIME_OUT: &str = "kube-scheduler's own search may take longer than its limit of 10 s per node: it then skips the \
     node with `timed out trying to allocate devices`";

/// That the budget did not suffice to find out.
pub(super) const UNTOLD_TIMEOUT: &str = "unknown whether kube-scheduler's own search exceeds its limit of 10 s per node: the search budget ran out";

/// That pods are simulated one after the other.
pub(super) const AS_SHOWN: &str = "each pod is simulated as if the pods before it had the devices shown";

/// That a newer release has another answer.
pub(super) fn depends_on_release(assumed: &AssumedRelease) -> String {
    let AssumedRelease {
        version,
        newest,
        otherwise,
    } = assumed;
    format!(
        "this depends on the Kubernetes version, assumed to be {version} as no object shows a newer one: in {newest}, {otherwise}"
    )
}

/// That it does not fit then either, for another cause.
pub(super) fn neither(cause: &str) -> String {
    format!("it does not fit either, but the cause differs: {cause}")
}

/// The answer in this release, and that in a newer one.
pub(super) fn here_and_in(here: &str, release: &str, newest: &str) -> String {
    format!("{here}, and in {release} {newest}")
}

/// The answer in a newer release.
pub(super) fn only_in(release: &str, newest: &str) -> String {
    format!("{newest} in {release}")
}

/// That slices of a pool contradict each other about their number, which decides.
pub(super) fn unknown_size(pool: &PoolId) -> String {
    format!("unknown whether it fits: {}", open_size(pool))
}

/// That slices of a pool contradict each other about their number.
pub(super) fn open_size(pool: &PoolId) -> String {
    format!(
        "the slices of pool {pool} disagree about their number, and only kube-scheduler knows which one it reads first"
    )
}

/// That a gate decides.
pub(super) fn depends_on_gate(gate: &str) -> String {
    format!("it depends on gate {gate}, whose state is unknown")
}

/// That the devices of an allocated claim are not ready.
pub(super) fn not_ready(claim: &Key, why: &str) -> String {
    format!("claim/{claim} is not ready: {why}")
}

/// How kube-scheduler ranks nodes of claims with alternatives.
pub(super) fn scored(weight: impl std::fmt::Display, compares_all: bool) -> String {
    let points = if compares_all {
        ""
    } else {
        "; SCORE is in points, because not all compared nodes are known"
    };
    format!(
        "kube-scheduler prefers nodes that allocate earlier alternatives: their score counts {weight} times, and other plugins add theirs{points}"
    )
}

/// That a pod is bound only after its binding conditions are true.
pub(super) fn bound_later(nodes: &str, conditions: &str, seconds: u64) -> String {
    format!(
        "on {nodes} the pod is bound only after its binding conditions are true: drivers have to set {conditions} within {seconds} s"
    )
}

/// That devices of the pod have a taint that evicts it, wherever it fits.
pub(super) fn evicted_again(tainted: &str) -> String {
    format!(
        "it would be evicted once it has its devices: {tainted}, which the request does not tolerate forever"
    )
}
