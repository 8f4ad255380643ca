//! Why a node cannot take a pod, down to each device.

use std::cell::Cell;

use super::groups;
use super::report::{Amounts, DeviceCount, NODE_OPERATIONS, NodeExplanation, Reason};
use crate::allocation::{Fit, NodeResult};
use dra_allocator::devices::{ClassSelectors, PoolStatus, RuledOut, slice_device};
use dra_allocator::{
    AlternativeExplanation, ConstraintName, Explanation, RequestExplanation, Shortage, Together, Unfit,
};
use dra_cel::DeviceInput;
use dra_model::{Cluster, DeviceId, Format, Gate, Key, Node, PoolId, Quantity, RequestPolicy, Str};
use dra_rules::scheduling::{
    ClaimProblem, Cycle, NoUse, Obstacle, Plain, Refusal, RequestProblem, Unavailable, Verdict,
};

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
        let (reasons, devices) = reasons(cycle, node, verdict, words);
        Self {
            node: node.metadata.name.clone(),
            fits: result == Fit::Fits,
            plugin,
            message,
            reasons,
            devices,
        }
    }
}

/// Why, and how the devices of the node count.
fn reasons(
    cycle: &Cycle<'_>,
    node: &Node,
    verdict: &Verdict,
    words: &Words<'_>,
) -> (Vec<Reason>, Vec<DeviceCount>) {
    if let Verdict::Refused(Refusal::CannotAllocate { .. }) = verdict {
        return of_requests(cycle, node, words);
    }
    (of_verdict(cycle, verdict), Vec::new())
}

fn of_verdict(cycle: &Cycle<'_>, verdict: &Verdict) -> Vec<Reason> {
    match verdict {
        Verdict::Fits(_) | Verdict::GaveUp => Vec::new(),
        Verdict::NotNamed => vec![Reason::plain(
            "NodeAffinity",
            "the pod's affinity names other nodes".to_owned(),
        )],
        Verdict::Plain(plain) => vec![of_plain(plain)],
        Verdict::Error(error) => vec![Reason::plain("Error", error.clone())],
        Verdict::Refused(refusal) => match refusal {
            Refusal::NotAvailable(claims) => {
                claims.iter().map(|claim| not_available(cycle, *claim)).collect()
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
                    format!("the node has no {name}, and no DeviceClass provides it"),
                )]
            }
            Refusal::NodeResources(reasons) => reasons
                .iter()
                .map(|reason| Reason::plain("NodeResources", reason.clone()))
                .collect(),
            Refusal::CannotAllocate { .. } => Vec::new(),
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

fn not_available(cycle: &Cycle<'_>, Unavailable { place, why }: Unavailable) -> Reason {
    let claim = &cycle.user_claims()[place];
    let mut brief = None;
    let (code, message) = match why {
        NoUse::OtherNodes => {
            let allocation = claim.status.allocation.as_ref();
            let selector = allocation.and_then(|allocation| allocation.node_selector.as_ref());
            let which = match selector.and_then(|selector| selector.single_node()) {
                Some(node) => format!("node {node}"),
                None => "other nodes".to_owned(),
            };
            brief = Some(format!("claim/{} is allocated for {which}", claim.key()));
            ("AllocatedElsewhere", format!("allocated for {which}"))
        }
        NoUse::NodeOperations => (
            NODE_OPERATIONS,
            format!(
                "claim/{} has devices that skip node operations, for which the node does not declare the feature {}",
                claim.key(),
                Gate::DRAOptionalNodeOperations
            ),
        ),
        NoUse::NotReady => {
            let mut known = cycle.not_ready().into_iter();
            let state = known.find(|(other, _)| other.key() == claim.key());
            (
                "BindingFailed",
                state.map_or_else(String::new, |(_, state)| state.text()),
            )
        }
    };
    Reason {
        brief,
        claim: Some(claim.key().to_string()),
        ..Reason::plain(code, message)
    }
}

fn of_requests(cycle: &Cycle<'_>, node: &Node, words: &Words<'_>) -> (Vec<Reason>, Vec<DeviceCount>) {
    let cluster = cycle.scheduler().cluster();
    if let Some(why) = cycle.meter().exhausted() {
        return (vec![Reason::plain("NotLookedAt", why.to_owned())], Vec::new());
    }
    let explained = cycle.explain(node, |explanation| {
        let counts = groups::counts(explanation);
        (of_explanation(cluster, explanation, words), counts)
    });
    match explained {
        Ok(explained) => explained.unwrap_or_default(),
        Err(error) => (vec![Reason::plain("Error", error.to_string())], Vec::new()),
    }
}

fn of_explanation(cluster: &Cluster, explanation: &mut Explanation<'_>, words: &Words<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let requests = std::mem::take(&mut explanation.requests);
    for request in &requests {
        let claim = explanation.claim(request.claim);
        for (pool, status) in explanation.unusable_pools() {
            let (code, message) = match status {
                PoolStatus::Usable => continue,
                PoolStatus::Incomplete => ("PoolIncomplete", incomplete(cluster, pool)),
                PoolStatus::Invalid(why) => ("PoolInvalid", format!("pool {pool} is invalid: {why}")),
            };
            let brief = match status {
                PoolStatus::Incomplete => slices_there(cluster, pool),
                _ => None,
            };
            let reason = Reason {
                brief,
                claim: Some(claim.to_string()),
                request: Some(request.name.clone()),
                ..Reason::plain(code, message)
            };
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        for alternative in &request.alternatives {
            of_alternative(cluster, explanation, &claim, alternative, words, &mut reasons);
        }
    }
    // Every request could be served by itself.
    let suffices = |request: &RequestExplanation| {
        let mut alternatives = request.alternatives.iter();
        alternatives.any(|one| one.reaches(one.free()))
    };
    let is_enough = !requests.is_empty() && requests.iter().all(suffices);
    explanation.requests = requests;
    if is_enough {
        reasons.insert(0, together(explanation));
    }
    reasons
}

/// What keeps requests from being served together that each have enough devices.
fn together(explanation: &mut Explanation<'_>) -> Reason {
    match explanation.together() {
        Some(Together::Constraints(constraints, values)) => {
            let names: Vec<String> = constraints.iter().map(constraint_name).collect();
            let clash = values.map_or_else(String::new, |values| {
                let ((taken, value), (refused, other)) = (values.taken, values.refused);
                format!(": {taken} has {value}, {refused} has {other}")
            });
            let text = format!(
                "the devices that are left do not meet {}{clash}; without {} the claims fit",
                names.join(" and "),
                if names.len() == 1 { "it" } else { "these" },
            );
            let claims = constraints.first().map(|constraint| constraint.claim.to_string());
            Reason {
                claim: claims,
                ..Reason::plain("Constraint", text)
            }
        }
        Some(Together::Counters(pool, shortage)) => {
            let text = format!(
                "the devices that are taken first leave too little of counter {} in pool {pool} for the next; without the limits of shared counters the claims fit",
                short(&shortage)
            );
            Reason {
                amounts: Some(amounts(shortage)),
                ..Reason::plain("CounterExhausted", text)
            }
        }
        Some(Together::Requests { requests, is_smallest }) => {
            let several_claims = requests.iter().any(|(claim, _)| Some(claim) != requests.first().map(|(first, _)| first));
            let names: Vec<String> = requests
                .iter()
                .map(|(claim, request)| {
                    if several_claims {
                        format!("{request} of claim/{}", explanation.claim(*claim))
                    } else {
                        request.to_string()
                    }
                })
                .collect();
            let text = match names.as_slice() {
                [one] => format!("the devices that are left do not suffice for request {one}, although there are enough that could be taken first"),
                _ if is_smallest => format!(
                    "the devices that are left do not suffice for requests {} together; without any one of these the others fit",
                    names.join(", ")
                ),
                _ => format!(
                    "the devices that are left do not suffice for requests {} together; whether fewer of these would fit was not found out",
                    names.join(", ")
                ),
            };
            let brief = format!("too few for {} together", names.join(" and "));
            Reason {
                brief: (names.len() > 1).then_some(brief),
                ..Reason::plain("NotTogether", text)
            }
        }
        Some(Together::NotShown(ruled_out)) => Reason::plain(
            "NotTogether",
            format!(
                "the devices that are left do not suffice for the requests together; the search came furthest before {}, but that this is the reason was not shown",
                ruled_out.code()
            ),
        ),
        None => Reason::plain(
            "NotTogether",
            "the devices that are left do not suffice for the requests together; which limit is the reason was not found out".to_owned(),
        ),
    }
}

fn constraint_name(constraint: &ConstraintName) -> String {
    format!(
        "constraint #{} of claim/{} ({} {})",
        constraint.place,
        constraint.claim,
        rule(constraint),
        constraint.attribute
    )
}

fn rule(constraint: &ConstraintName) -> &'static str {
    if constraint.same {
        "matchAttribute"
    } else {
        "distinctAttribute"
    }
}

/// A limited amount with its numbers.
fn short(shortage: &Shortage) -> String {
    let Shortage {
        set,
        name,
        wanted,
        left,
        total,
    } = shortage;
    let of_set = set.as_ref().map_or_else(String::new, |set| format!(" in {set}"));
    format!("{name}{of_set} (wants {wanted}, {left} of {total} left)")
}

fn amounts(shortage: Shortage) -> Amounts {
    Amounts {
        wanted: shortage.wanted,
        left: shortage.left,
        total: shortage.total,
    }
}

/// How many slices of a pool there are, without its name, which differs from node to node.
fn slices_there(cluster: &Cluster, id: &PoolId) -> Option<String> {
    let pool = cluster.pool(id)?;
    let (there, all) = (pool.slices.len(), pool.expected_slices);
    Some(format!("pool incomplete, {there} of {all} slices"))
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
    explanation: &mut Explanation<'_>,
    claim: &Key,
    alternative: &AlternativeExplanation,
    words: &Words<'_>,
    reasons: &mut Vec<Reason>,
) {
    let of = |reason: Reason, device: Option<&DeviceId>| Reason {
        claim: Some(claim.to_string()),
        request: Some(alternative.name.clone()),
        device: device.map(ToString::to_string),
        ..reason
    };
    if alternative.devices.is_empty() {
        let text = "the node reaches no devices that can be used".to_owned();
        reasons.push(of(Reason::plain("NoDevices", text), None));
        return;
    }
    let (free, most) = (alternative.free(), alternative.most());
    // Devices that were not tried may suffice.
    if !alternative.reaches(most) {
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
        let count = |devices: usize| Quantity::new(devices as i64, Format::DecimalSi);
        let amounts = (alternative.wanted > 0 && most == free).then(|| Amounts {
            wanted: Quantity::new(alternative.wanted, Format::DecimalSi),
            left: count(free),
            total: count(total),
        });
        let reason = Reason {
            amounts,
            ..Reason::plain("TooFewDevices", text)
        };
        reasons.push(of(reason, None));
    }
    let mut not_listed = 0;
    for (device, unfit) in alternative.devices.iter().enumerate() {
        let Err(unfit) = unfit else { continue };
        if words.reasons.get() == 0 {
            not_listed += 1;
            continue;
        }
        words.reasons.set(words.reasons.get() - 1);
        let id = explanation.device_id(device);
        let reason = match unfit {
            Unfit::RuledOut(why) => of_device(cluster, explanation, alternative, (device, &id), *why, words),
            Unfit::Trouble(trouble) => Reason::plain(trouble.code(), trouble.to_string()),
        };
        reasons.push(of(reason, Some(&id)));
    }
    if not_listed > 0 {
        let text = format!("{not_listed} more devices are ruled out, for reasons that are not listed");
        reasons.push(of(Reason::plain("NotListed", text), None));
    }
}

/// What rules devices out that a request would take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// The same for each of them, in short.
    Same(String),
    /// It differs from device to device, or has no words.
    Several,
}

/// What rules devices out that are of the class and for the node, though nobody holds them; nothing where selectors alone do.
pub(super) fn limits(
    cluster: &Cluster,
    explanation: &mut Explanation<'_>,
    alternative: &AlternativeExplanation,
    words: &Words<'_>,
) -> Option<Limit> {
    let mut found: Option<Limit> = None;
    for (device, unfit) in alternative.devices.iter().enumerate() {
        let Err(unfit) = unfit else { continue };
        let text = match unfit {
            // Some checks come before the selectors.
            Unfit::RuledOut(_) if explanation.is_wanted(alternative, device) == Some(false) => continue,
            Unfit::RuledOut(why) => {
                let id = explanation.device_id(device);
                let reason = of_device(cluster, explanation, alternative, (device, &id), *why, words);
                Limit::Same(reason.in_short_of_device())
            }
            Unfit::Trouble(_) => Limit::Several,
        };
        match &found {
            Some(known) if *known != text => return Some(Limit::Several),
            _ => found = Some(text),
        }
    }
    found
}

/// The words for what rules a device out, with what the check looked at.
fn of_device(
    cluster: &Cluster,
    explanation: &mut Explanation<'_>,
    alternative: &AlternativeExplanation,
    (device, id): (usize, &DeviceId),
    ruled_out: RuledOut,
    words: &Words<'_>,
) -> Reason {
    let held = |claims: &[Key]| {
        let names: Vec<String> = claims.iter().map(|claim| format!("claim/{claim}")).collect();
        if names.is_empty() {
            "a claim that is not known".to_owned()
        } else {
            names.join(", ")
        }
    };
    let name = |name: Option<&Str>| name.cloned().unwrap_or_default();
    let mut numbers = None;
    let mut brief = None;
    let message = match ruled_out {
        RuledOut::InUse => format!("in use by {}", held(&explanation.holders(device))),
        RuledOut::BindingConditionsOff => "has binding conditions, whose feature is off".to_owned(),
        RuledOut::ClassSelector | RuledOut::RequestSelector => {
            let whose = if ruled_out == RuledOut::ClassSelector {
                "of the class"
            } else {
                "of the request"
            };
            let expression = name(explanation.selector(alternative, device));
            let (message, seen) = not_selected(cluster, id, &expression, whose, words);
            brief = seen;
            message
        }
        RuledOut::OtherNode => "is for other nodes".to_owned(),
        RuledOut::NoSuchCapacity => match explanation.refused_capacity(alternative, device) {
            Some((name, Some(meant))) => format!("has no capacity {name} (did you mean {meant}?)"),
            Some((name, None)) => format!("has no capacity {name}"),
            None => "has no such capacity".to_owned(),
        },
        RuledOut::CapacityPolicy => match explanation.refused_amount(alternative, device) {
            Some((name, wanted, policy)) => {
                format!("wants {wanted} of {name}, {}", allowed(&wanted, policy))
            }
            None => "the policy of a capacity does not allow the amount".to_owned(),
        },
        RuledOut::CapacityTooSmall => match explanation.short_capacity(alternative, device) {
            Some(shortage) => {
                let Shortage {
                    name, wanted, total, ..
                } = &shortage;
                let text = format!("has {total} of {name}, and the request takes {wanted}");
                numbers = Some(amounts(shortage));
                text
            }
            None => "has too little of a capacity".to_owned(),
        },
        RuledOut::CapacityExhausted => {
            let claims = held(&explanation.holders(device));
            match explanation.short_capacity(alternative, device) {
                Some(shortage) => {
                    let text = format!("too little is left of {}, used by {claims}", short(&shortage));
                    numbers = Some(amounts(shortage));
                    text
                }
                None => format!("too little is left of a capacity, used by {claims}"),
            }
        }
        RuledOut::NodeOperations => {
            "skips node operations, which node or scheduler do not support".to_owned()
        }
        RuledOut::PartitionableDevicesOff => "draws from shared counters, whose feature is off".to_owned(),
        RuledOut::CounterExhausted => match explanation.short_counter(device) {
            Some(shortage) => {
                let text = format!("other devices leave too little of counter {}", short(&shortage));
                numbers = Some(amounts(shortage));
                text
            }
            None => "other devices leave too little of a counter".to_owned(),
        },
        RuledOut::Incompatible => "devices in use belong to other compatibility groups".to_owned(),
        RuledOut::Tainted => match explanation.taint(alternative, device) {
            Some(taint) => format!("untolerated taint {taint}"),
            None => "untolerated taint".to_owned(),
        },
        RuledOut::ConstraintAttribute => match explanation.lacking_attribute(alternative, device) {
            Some(constraint) => format!(
                "has no attribute {}, which {} compares",
                constraint.attribute,
                rule(&constraint)
            ),
            None => "lacks an attribute that a constraint compares".to_owned(),
        },
        RuledOut::Constraint => "does not meet a constraint".to_owned(),
    };
    Reason {
        amounts: numbers,
        brief,
        ..Reason::plain(ruled_out.code(), message)
    }
}

/// Which amounts `policy` allows, instead of `wanted`.
fn allowed(wanted: &Quantity, policy: &RequestPolicy) -> String {
    let listed = |values: &[Quantity]| {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        values.join(", ")
    };
    if let Some(range) = &policy.valid_range {
        if let Some(max) = range.max.as_ref().filter(|max| wanted > *max) {
            return format!("at most {max} per claim allowed");
        }
        let from = range
            .min
            .as_ref()
            .map_or_else(String::new, |min| format!(" from {min}"));
        let step = range
            .step
            .as_ref()
            .map_or_else(String::new, |step| format!(" in steps of {step}"));
        return format!("allowed are amounts{from}{step}");
    }
    match policy.valid_values.iter().max() {
        Some(max) if wanted > max => format!("at most {max} per claim allowed"),
        _ => format!("allowed are {}", listed(&policy.valid_values)),
    }
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

/// The terms of the selector that are not true, with what they see; and only what they see, in short.
fn not_selected(
    cluster: &Cluster,
    id: &DeviceId,
    expression: &str,
    whose: &str,
    words: &Words<'_>,
) -> (String, Option<String>) {
    let whole = || (format!("selector {whose} does not match: {expression}"), None);
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
    let input = DeviceInput::of(slice_device(&slice.spec.driver, device));
    let terms = program.explain(&input);
    let seen = terms.iter().flat_map(|term| &term.seen);
    let brief: Vec<String> = seen
        .map(|seen| match &seen.value {
            Ok(value) => format!("{} is {value}", last_name(&seen.text)),
            Err(why) => why.to_string(),
        })
        .collect();
    let failing: Vec<String> = terms
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
        let brief = (!brief.is_empty()).then(|| brief.join(", "));
        (format!("selector {whose}: {}", failing.join("; ")), brief)
    }
}

/// The last name of a path such as `device.attributes["gpu.example.com"].model`; all of what is no such path.
pub(super) fn last_name(path: &str) -> &str {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
    match path.rsplit_once('.') {
        Some((_, name)) if is_name(name) => name,
        _ => path,
    }
}
