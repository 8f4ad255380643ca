//! Why a node cannot take a pod, down to each device.

use std::cell::Cell;

use super::report::{NodeExplanation, Reason};
use crate::allocator::{AlternativeExplanation, Fitness, RequestExplanation};
use crate::cel::DeviceInput;
use crate::devices::{ClassSelectors, PoolStatus};
use crate::inspect::allocation::{Fit, NodeResult};
use crate::model::{Cluster, DeviceId, Key, Node, PoolId, Str, TOO_MUCH_WORK};
use crate::scheduling::{ClaimProblem, Cycle, Obstacle, Plain, Refusal, RequestProblem, Verdict};

impl Reason {
    /// A reason that is about no request.
    pub(super) fn plain(code: &'static str, message: String) -> Self {
        Self {
            code,
            message,
            ..Self::default()
        }
    }

    pub(super) fn of_obstacle(obstacle: &Obstacle) -> Self {
        let code = match obstacle {
            Obstacle::Gated(_) => "SchedulingGates",
            Obstacle::Group(_) => "PodGroup",
            Obstacle::Claim(ClaimProblem::Name(_)) => "ClaimNotCreated",
            Obstacle::Claim(ClaimProblem::Missing { .. }) => "ClaimMissing",
            Obstacle::Claim(ClaimProblem::Deleting { .. }) => "ClaimDeleting",
            Obstacle::Claim(ClaimProblem::Owner { .. }) => "ClaimNotOwned",
            Obstacle::Request(RequestProblem::NoClass { .. }) => "ClassMissing",
            Obstacle::Request(RequestProblem::NoClassName { .. } | RequestProblem::UnknownType { .. }) => {
                "UnknownRequest"
            }
            Obstacle::Request(RequestProblem::PrioritizedListOff { .. }) => "PrioritizedListOff",
            Obstacle::Binding(_) => "ClaimBinding",
            Obstacle::AffinityConflict => "NodeAffinity",
        };
        let mut reason = Self::plain(code, obstacle.text());
        match obstacle {
            Obstacle::Claim(
                ClaimProblem::Missing { claim }
                | ClaimProblem::Deleting { claim }
                | ClaimProblem::Owner { claim, .. },
            ) => reason.claim = Some(claim.to_string()),
            Obstacle::Request(
                RequestProblem::NoClass { request, .. } | RequestProblem::NoClassName { request },
            ) => {
                reason.request = Some(request.as_str().into());
            }
            _ => {}
        }
        reason
    }
}

impl NodeExplanation {
    pub(super) fn new(cycle: &Cycle<'_>, node: &Node, verdict: &Verdict, words: &Words<'_>) -> Self {
        let NodeResult {
            result,
            plugin,
            message,
            ..
        } = NodeResult::new(&node.metadata.name, verdict);
        Self {
            node: node.metadata.name.clone(),
            fits: result == Fit::Fits,
            plugin,
            message,
            reasons: reasons(cycle, node, verdict, words),
        }
    }
}

fn reasons(cycle: &Cycle<'_>, node: &Node, verdict: &Verdict, words: &Words<'_>) -> Vec<Reason> {
    match verdict {
        Verdict::Fits(_) | Verdict::GaveUp => Vec::new(),
        Verdict::NotNamed => vec![Reason::plain(
            "NodeAffinity",
            "the pod's affinity names other nodes".to_owned(),
        )],
        Verdict::Plain(plain) => vec![of_plain(plain)],
        Verdict::Error(error) => vec![Reason::plain("Error", error.clone())],
        Verdict::Refused(refusal) => match refusal {
            Refusal::NotAvailable(places) => {
                places.iter().map(|place| not_available(cycle, *place)).collect()
            }
            Refusal::LeftBehind => {
                vec![Reason::plain(
                    "ExtendedResourceClaim",
                    "a claim is left from an earlier attempt".to_owned(),
                )]
            }
            Refusal::NoSuchResource(name) => {
                vec![Reason::plain(
                    "NoSuchResource",
                    format!("the node has no {name}, and no class stands behind it"),
                )]
            }
            Refusal::CannotAllocate { .. } => of_requests(cycle, node, words),
        },
    }
}

fn of_plain(plain: &Plain) -> Reason {
    let message = match plain {
        Plain::TaintToleration(taint) => format!("untolerated taint {taint}"),
        _ => plain.reasons().join(", "),
    };
    Reason::plain(plain.plugin(), message)
}

fn not_available(cycle: &Cycle<'_>, place: usize) -> Reason {
    let claim = &cycle.user_claims()[place];
    let failed = cycle
        .not_ready()
        .into_iter()
        .find(|(other, state)| other.key() == claim.key() && state.is_unavailable());
    let selector = claim
        .status
        .allocation
        .as_ref()
        .and_then(|allocation| allocation.node_selector.as_ref());
    let (code, message) = match (failed, selector.and_then(|selector| selector.single_node())) {
        (Some((_, state)), _) => ("BindingFailed", state.text()),
        (None, Some(node)) => ("AllocatedElsewhere", format!("allocated for node {node}")),
        (None, None) => ("AllocatedElsewhere", "allocated for other nodes".to_owned()),
    };
    Reason {
        claim: Some(claim.key().to_string()),
        ..Reason::plain(code, message)
    }
}

fn of_requests(cycle: &Cycle<'_>, node: &Node, words: &Words<'_>) -> Vec<Reason> {
    let cluster = cycle.scheduler().cluster();
    if let Some(why) = cycle.meter().exhausted() {
        return vec![Reason::plain("NotLookedAt", why.to_owned())];
    }
    let explained = match cycle.explain(node) {
        Ok(explained) => explained,
        Err(error) => return vec![Reason::plain("Error", error.to_string())],
    };
    let mut reasons = Vec::new();
    for (claim, request, explanation) in &explained {
        for (pool, status) in &explanation.unusable_pools {
            let (code, message) = match status {
                PoolStatus::Usable => continue,
                PoolStatus::Incomplete => ("PoolIncomplete", incomplete(cluster, pool)),
                PoolStatus::Invalid(why) => ("PoolInvalid", format!("pool {pool} is invalid: {why}")),
            };
            let reason = Reason {
                claim: Some(claim.to_string()),
                request: Some(request.clone()),
                ..Reason::plain(code, message)
            };
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        for alternative in &explanation.alternatives {
            of_alternative(cluster, claim, alternative, words, &mut reasons);
        }
    }
    let enough = |(_, _, request): &(Key, Str, RequestExplanation)| request.alternatives.iter().any(suffices);
    if !explained.is_empty() && explained.iter().all(enough) {
        reasons.insert(0, together(cycle, &explained));
    }
    reasons
}

/// Whether there are enough devices, each by itself.
fn suffices(one: &AlternativeExplanation) -> bool {
    reaches(one.free(), one.wanted)
}

fn reaches(devices: usize, wanted: i64) -> bool {
    wanted > 0 && i64::try_from(devices).unwrap_or(i64::MAX) >= wanted
}

/// Every request could be served by itself.
fn together(cycle: &Cycle<'_>, explained: &[(Key, Str, RequestExplanation)]) -> Reason {
    let constrained = cycle
        .user_claims()
        .iter()
        .filter(|claim| claim.status.allocation.is_none());
    let mut attributes: Vec<&str> = Vec::new();
    for constraint in constrained.flat_map(|claim| &claim.spec.devices.constraints) {
        let attribute = constraint
            .match_attribute
            .as_ref()
            .or(constraint.distinct_attribute.as_ref());
        attributes.extend(attribute.map(Str::as_str));
    }
    if attributes.is_empty() {
        let requests: Vec<&str> = explained.iter().map(|(_, request, _)| request.as_str()).collect();
        let text = format!(
            "the devices that are left do not suffice for {} together",
            requests.join(", ")
        );
        Reason::plain("NotTogether", text)
    } else {
        let text = format!(
            "no devices that are left meet the constraints on {} together",
            attributes.join(", ")
        );
        Reason::plain("Constraint", text)
    }
}

fn incomplete(cluster: &Cluster, id: &PoolId) -> String {
    match cluster.pool(id) {
        Some(pool) => format!(
            "pool {id} is incomplete: {} of {} slices of generation {}",
            pool.slices.len(),
            pool.expected_slices,
            pool.generation
        ),
        None => format!("pool {id} is incomplete"),
    }
}

fn of_alternative(
    cluster: &Cluster,
    claim: &Key,
    alternative: &AlternativeExplanation,
    words: &Words<'_>,
    reasons: &mut Vec<Reason>,
) {
    let reason = |code, message, device: Option<&DeviceId>| Reason {
        claim: Some(claim.to_string()),
        request: Some(alternative.name.clone()),
        device: device.map(ToString::to_string),
        code,
        message,
    };
    if alternative.devices.is_empty() {
        reasons.push(reason(
            "NoDevices",
            "the node reaches no devices that can be used".to_owned(),
            None,
        ));
        return;
    }
    let (free, most) = (alternative.free(), alternative.most());
    // Devices that were not tried may suffice.
    if !reaches(most, alternative.wanted) {
        let total = alternative.devices.len();
        let some = if most == free {
            most.to_string()
        } else {
            format!("at most {most}")
        };
        let text = match alternative.wanted {
            wanted if wanted > 0 => format!("wants {wanted}, and {some} of {total} devices could be taken"),
            _ => format!("wants all devices that match, and {some} of {total} could be taken"),
        };
        reasons.push(reason("TooFewDevices", text, None));
    }
    let mut not_listed = 0;
    for (id, fitness) in &alternative.devices {
        if words.reasons.get() == 0 {
            not_listed += usize::from(*fitness != Fitness::Free);
        } else if let Some((code, message)) = of_device(cluster, id, fitness, words) {
            words.reasons.set(words.reasons.get() - 1);
            reasons.push(reason(code, message, Some(id)));
        }
    }
    if not_listed > 0 {
        let text = format!("{not_listed} more devices are ruled out, for reasons that are not listed");
        reasons.push(reason("NotListed", text, None));
    }
}

fn of_device(
    cluster: &Cluster,
    id: &DeviceId,
    fitness: &Fitness,
    words: &Words<'_>,
) -> Option<(&'static str, String)> {
    let held = |claims: &[Key]| {
        let names: Vec<String> = claims.iter().map(|claim| format!("claim/{claim}")).collect();
        if names.is_empty() {
            "a claim that is not known".to_owned()
        } else {
            names.join(", ")
        }
    };
    Some(match fitness {
        Fitness::Free => return None,
        Fitness::InUse { claims } => ("InUse", format!("in use by {}", held(claims))),
        Fitness::BindingConditionsOff => (
            "BindingConditionsOff",
            "has binding conditions, whose feature is off".to_owned(),
        ),
        Fitness::ClassSelector { expression, .. } => (
            "ClassSelector",
            not_selected(cluster, id, expression, "of the class", words),
        ),
        Fitness::RequestSelector { expression, .. } => (
            "RequestSelector",
            not_selected(cluster, id, expression, "of the request", words),
        ),
        Fitness::SelectorError(why) => ("SelectorError", why.clone()),
        Fitness::NotTried => ("SelectorError", TOO_MUCH_WORK.to_owned()),
        Fitness::OtherNode => ("OtherNode", "is for other nodes".to_owned()),
        Fitness::NoSuchCapacity(name) => ("NoSuchCapacity", format!("has no capacity {name}")),
        Fitness::CapacityPolicy => (
            "CapacityPolicy",
            "its policy does not allow the amounts".to_owned(),
        ),
        Fitness::CapacityError(why) => ("CapacityError", why.clone()),
        Fitness::CapacityExhausted { name, claims } => (
            "CapacityExhausted",
            format!("too little is left of {name}, used by {}", held(claims)),
        ),
        Fitness::NodeOperations => (
            "NodeOperations",
            "skips node operations, which node or scheduler do not support".to_owned(),
        ),
        Fitness::PartitionableDevicesOff => (
            "PartitionableDevicesOff",
            "draws from shared counters, whose feature is off".to_owned(),
        ),
        Fitness::CounterExhausted { set, counter } => (
            "CounterExhausted",
            format!("other devices leave too little of counter {counter} in {set}"),
        ),
        Fitness::Incompatible => (
            "Incompatible",
            "devices in use belong to other compatibility groups".to_owned(),
        ),
        Fitness::Tainted(taint) => ("Tainted", format!("untolerated taint {taint}")),
        Fitness::ConstraintAttribute { attribute, same } => {
            let rule = if *same {
                "matchAttribute"
            } else {
                "distinctAttribute"
            };
            (
                "ConstraintAttribute",
                format!("has no attribute {attribute}, which {rule} compares"),
            )
        }
    })
}

/// Finds the words for selectors that do not match. The terms are looked at for so many devices; with thousands of nodes the rest is
/// alike.
pub(super) struct Words<'s> {
    selectors: &'s ClassSelectors,
    left: Cell<u32>,
    /// How many more reasons are given for single devices.
    reasons: Cell<u32>,
}

/// Reasons for single devices that a report has: some 100 MB.
const MOST_REASONS: u32 = 300_000;

/// Devices for which the terms of a selector are looked at.
const DETAILED: u32 = 512;

impl<'s> Words<'s> {
    pub(super) fn new(selectors: &'s ClassSelectors) -> Self {
        Self {
            selectors,
            left: Cell::new(DETAILED),
            reasons: Cell::new(MOST_REASONS),
        }
    }
}

/// The terms of the selector that are not true, with what they see.
fn not_selected(
    cluster: &Cluster,
    id: &DeviceId,
    expression: &str,
    whose: &str,
    words: &Words<'_>,
) -> String {
    let whole = || format!("selector {whose} does not match: {expression}");
    let pool = PoolId {
        driver: id.driver.clone(),
        pool: id.pool.clone(),
    };
    if words.left.get() == 0 {
        return whole();
    }
    words.left.set(words.left.get() - 1);
    let Some(pool) = cluster.pool(&pool) else {
        return whole();
    };
    let selector = words.selectors.selector(&expression.into());
    let (Some((slice, device)), Ok(program)) = (pool.device(&id.device), selector.program()) else {
        return whole();
    };
    let input = DeviceInput::of(&slice.spec.driver, device);
    let failing: Vec<String> = program
        .explain(&input)
        .into_iter()
        .map(|term| {
            let seen: Vec<String> = term
                .seen
                .iter()
                .map(|seen| match &seen.value {
                    Ok(value) => format!("{} is {value}", seen.text),
                    Err(why) => format!("{}: {why}", seen.text),
                })
                .collect();
            if seen.is_empty() {
                term.text
            } else {
                format!("{} ({})", term.text, seen.join(", "))
            }
        })
        .collect();
    if failing.is_empty() {
        whole()
    } else {
        format!("selector {whose}: {}", failing.join("; "))
    }
}
