//! Why a node cannot take a pod, down to each device.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::diagnosis::{NodeDiagnosis, Reason};
use super::fact::{Allowed, Brief, Evidence, Fact, Lacking, Slices, Term};
use super::groups;
use super::items::DeviceCount;
use crate::allocation::{Fit, NodeResult};
use dra_allocator::devices::{ClassSelectors, PoolStatus, RuledOut, slice_device};
use dra_allocator::{
    AlternativeExplanation, ConstraintName, Explanation, RequestExplanation, Stop, Together, Unfit,
    attribute_of,
};
use dra_cel::DeviceInput;
use dra_model::{Cluster, DeviceId, Key, Node, Quantity, RequestPolicy, Str, Taint, is_similar};
use dra_rules::scheduling::{
    ClaimProblem, Cycle, NoUse, Obstacle, Readiness, Refusal, RequestProblem, Unavailable, Verdict,
};

impl Reason {
    pub(super) fn of_obstacle(obstacle: &Obstacle) -> Self {
        let mut reason = Self::from(Fact::Obstacle(obstacle.clone()));
        match obstacle {
            Obstacle::Claim(
                ClaimProblem::Missing { claim }
                | ClaimProblem::Deleting { claim }
                | ClaimProblem::Owner { claim, .. },
            ) => reason.claim = Some(claim.clone()),
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

impl NodeDiagnosis {
    pub(super) fn new(cycle: &Cycle<'_>, node: &Node, verdict: &Verdict, looks: &Looks<'_>) -> Self {
        let NodeResult {
            result,
            plugin,
            message,
            ..
        } = NodeResult::new(&node.metadata.name, verdict);
        let (reasons, devices) = reasons(cycle, node, verdict, looks);
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
    looks: &Looks<'_>,
) -> (Vec<Reason>, Vec<DeviceCount>) {
    let facts = match verdict {
        Verdict::Fits(_) | Verdict::GaveUp => Vec::new(),
        Verdict::NotNamed => vec![Fact::NotNamed],
        Verdict::Plain(plain) => vec![Fact::Plain(plain.clone())],
        Verdict::Error(error) => vec![Fact::Error(error.clone())],
        Verdict::Refused(Refusal::NotAvailable(claims)) => {
            let reasons = claims.iter().map(|claim| not_available(cycle, *claim));
            return (reasons.collect(), Vec::new());
        }
        Verdict::Refused(Refusal::LeftBehind) => {
            let left = cycle.left_behind().map(|claim| claim.key());
            vec![Fact::LeftBehind(left.unwrap_or_default())]
        }
        Verdict::Refused(Refusal::NoSuchResource(name)) => vec![Fact::NoSuchResource(name.clone())],
        Verdict::Refused(Refusal::NodeResources(reasons)) => {
            reasons.iter().cloned().map(Fact::NodeResources).collect()
        }
        Verdict::Refused(Refusal::NotShared(claim)) => vec![Fact::NotShared(claim.clone())],
        Verdict::Refused(Refusal::CannotAllocate { .. }) => return of_requests(cycle, node, looks),
    };
    (facts.into_iter().map(Reason::from).collect(), Vec::new())
}

fn not_available(cycle: &Cycle<'_>, Unavailable { place, why }: Unavailable) -> Reason {
    let claim = &cycle.user_claims()[place];
    let fact = match why {
        NoUse::OtherNodes => {
            let allocation = claim.status.allocation.as_ref();
            let selector = allocation.and_then(|allocation| allocation.node_selector.as_ref());
            Fact::AllocatedElsewhere(selector.and_then(|selector| selector.single_node()).cloned())
        }
        NoUse::NodeOperations => Fact::NodeOperations,
        NoUse::NotReady => {
            let mut known = cycle.not_ready().into_iter();
            let state = known.find(|(other, _)| other.key() == claim.key());
            Fact::Binding(state.map_or(Readiness::TimedOut(None), |(_, state)| state))
        }
    };
    Reason::of_claim(claim.key(), fact)
}

fn of_requests(cycle: &Cycle<'_>, node: &Node, looks: &Looks<'_>) -> (Vec<Reason>, Vec<DeviceCount>) {
    let cluster = cycle.scheduler().cluster();
    if let Some(why) = cycle.meter().exhausted() {
        return (vec![Fact::NotLookedAt(why).into()], Vec::new());
    }
    let explained = cycle.explain(node, |explanation| {
        let counts = groups::counts(explanation);
        (of_explanation(cluster, explanation, looks), counts)
    });
    match explained {
        Ok(explained) => explained.unwrap_or_default(),
        Err(Stop::Error(error)) => (vec![Fact::Error(error).into()], Vec::new()),
        Err(stop @ Stop::NotTried) => (vec![Fact::Error(stop.to_string().into()).into()], Vec::new()),
    }
}

fn of_explanation(cluster: &Cluster, explanation: &mut Explanation<'_>, looks: &Looks<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let requests = std::mem::take(&mut explanation.requests);
    for request in &requests {
        let claim = explanation.claim(request.claim);
        for (pool, status) in explanation.unusable_pools() {
            let fact = match status {
                PoolStatus::Usable => continue,
                PoolStatus::Incomplete => {
                    let slices = cluster.pool(pool).map(|pool| Slices {
                        there: pool.slices.len(),
                        expected: pool.expected_slices,
                        generation: pool.generation,
                    });
                    Fact::PoolIncomplete(pool.clone(), slices)
                }
                PoolStatus::Invalid(why) => Fact::PoolInvalid(pool.clone(), why.to_string()),
            };
            let reason = Reason {
                request: Some(request.name.clone()),
                ..Reason::of_claim(claim.clone(), fact)
            };
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        for alternative in &request.alternatives {
            of_alternative(cluster, explanation, &claim, alternative, looks, &mut reasons);
        }
    }
    // Every request could be satisfied on its own.
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
    let found = explanation.together();
    let claim = match &found {
        Together::Constraints(constraints, _) => {
            constraints.first().map(|constraint| constraint.claim.clone())
        }
        _ => None,
    };
    Reason {
        claim,
        ..Fact::Together(found).into()
    }
}

fn of_alternative(
    cluster: &Cluster,
    explanation: &mut Explanation<'_>,
    claim: &Key,
    alternative: &AlternativeExplanation,
    looks: &Looks<'_>,
    reasons: &mut Vec<Reason>,
) {
    let of = |fact: Fact, device: Option<DeviceId>| Reason {
        claim: Some(claim.clone()),
        request: Some(alternative.name.clone()),
        device,
        fact,
    };
    if alternative.devices.is_empty() {
        reasons.push(of(Fact::NoDevices, None));
        return;
    }
    let (free, most) = (alternative.free(), alternative.most());
    // Devices that were not tried may suffice.
    if !alternative.reaches(most) {
        let fact = Fact::TooFewDevices {
            wanted: (alternative.wanted > 0).then_some(alternative.wanted),
            free,
            most,
            total: alternative.devices.len(),
        };
        reasons.push(of(fact, None));
    }
    let mut not_listed = 0;
    for (device, unfit) in alternative.devices.iter().enumerate() {
        let Err(unfit) = unfit else { continue };
        if looks.reasons.get() == 0 {
            not_listed += 1;
            continue;
        }
        looks.reasons.set(looks.reasons.get() - 1);
        let id = explanation.device_id(device);
        let fact = match unfit {
            Unfit::RuledOut(why) => of_device(cluster, explanation, alternative, (device, &id), *why, looks),
            Unfit::Trouble(trouble) => Fact::Trouble((**trouble).clone()),
        };
        reasons.push(of(fact, Some(id)));
    }
    if not_listed > 0 {
        reasons.push(of(Fact::NotListed(not_listed), None));
    }
}

/// What rules devices out that a request would take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// The same for each of them, in short.
    Same(Box<Brief>),
    /// It differs from device to device.
    Several,
}

/// What rules devices out that are of the class and for the node, though no claim holds them; nothing where selectors alone do.
pub(super) fn limits(
    cluster: &Cluster,
    explanation: &mut Explanation<'_>,
    alternative: &AlternativeExplanation,
    looks: &Looks<'_>,
) -> Option<Limit> {
    let mut found: Option<Limit> = None;
    for (device, unfit) in alternative.devices.iter().enumerate() {
        let Err(unfit) = unfit else { continue };
        let limit = match unfit {
            // Some checks come before the selectors.
            Unfit::RuledOut(_) if explanation.is_wanted(alternative, device) == Some(false) => continue,
            Unfit::RuledOut(why) => {
                let id = explanation.device_id(device);
                let fact = of_device(cluster, explanation, alternative, (device, &id), *why, looks);
                Limit::Same(Box::new(Reason::from(fact).brief()))
            }
            Unfit::Trouble(_) => Limit::Several,
        };
        match &found {
            Some(known) if *known != limit => return Some(Limit::Several),
            _ => found = Some(limit),
        }
    }
    found
}

/// The check that rules a device out, with its evidence.
fn of_device(
    cluster: &Cluster,
    explanation: &mut Explanation<'_>,
    alternative: &AlternativeExplanation,
    (device, id): (usize, &DeviceId),
    ruled_out: RuledOut,
    looks: &Looks<'_>,
) -> Fact {
    let evidence = match ruled_out {
        RuledOut::InUse => Some(Evidence::Held(explanation.holders(device), None)),
        RuledOut::ClassSelector | RuledOut::RequestSelector => {
            let expression = explanation
                .selector(alternative, device)
                .cloned()
                .unwrap_or_default();
            let terms = failing_terms(cluster, id, &expression, looks);
            Some(Evidence::Selector(expression, terms))
        }
        RuledOut::NoSuchCapacity => explanation
            .refused_capacity(alternative, device)
            .map(|(name, meant)| Evidence::NoCapacity(name.clone(), meant.cloned())),
        RuledOut::CapacityPolicy => {
            explanation
                .refused_amount(alternative, device)
                .map(|(name, wanted, policy)| {
                    Evidence::Amount(name.clone(), wanted.clone(), allowed(&wanted, policy))
                })
        }
        RuledOut::CapacityTooSmall => explanation
            .short_capacity(alternative, device)
            .map(Evidence::Short),
        RuledOut::CapacityExhausted => Some(Evidence::Held(
            explanation.holders(device),
            explanation.short_capacity(alternative, device),
        )),
        RuledOut::CounterExhausted => explanation.short_counter(device).map(|shortage| {
            let by = explanation.drawing(device, &shortage);
            Evidence::Held(by, Some(shortage))
        }),
        RuledOut::Tainted => {
            let taints: BTreeSet<&Taint> = explanation.taints(alternative, device).collect();
            Some(Evidence::Taints(taints.into_iter().cloned().collect()))
        }
        RuledOut::ConstraintAttribute => explanation
            .lacking_attribute(alternative, device)
            .map(|constraint| Evidence::Lacking(lacking(cluster, &id.driver, constraint, looks))),
        RuledOut::BindingConditionsOff
        | RuledOut::OtherNode
        | RuledOut::NodeOperations
        | RuledOut::PartitionableDevicesOff
        | RuledOut::Incompatible
        | RuledOut::Constraint => None,
    };
    Fact::RuledOut(ruled_out, evidence.unwrap_or(Evidence::None))
}

/// Amounts that `policy` allows instead of `wanted`.
fn allowed(wanted: &Quantity, policy: &RequestPolicy) -> Allowed {
    if let Some(range) = &policy.valid_range {
        return match range.max.as_ref().filter(|max| wanted > *max) {
            Some(max) => Allowed::AtMost(max.clone()),
            None => Allowed::Range(range.min.clone(), range.step.clone()),
        };
    }
    match policy.valid_values.iter().max() {
        Some(max) if wanted > max => Allowed::AtMost(max.clone()),
        _ => Allowed::Values(policy.valid_values.clone()),
    }
}

/// How much more is looked at for reasons; with thousands of nodes the rest is alike.
pub(super) struct Looks<'s> {
    selectors: &'s ClassSelectors,
    /// For how many more devices the terms of a selector are looked at.
    terms: Cell<u32>,
    /// How many more reasons are given for single devices.
    reasons: Cell<u32>,
    /// What drivers lack of attributes, by driver and constraint.
    lacking: RefCell<BTreeMap<(Str, ConstraintName), Lacking>>,
}

/// Reasons for single devices that a report has: some 100 MB.
const MOST_REASONS: u32 = 300_000;

/// Devices that the terms of a selector are evaluated on.
const DETAILED: u32 = 512;

impl<'s> Looks<'s> {
    pub(super) fn new(selectors: &'s ClassSelectors) -> Self {
        Self {
            selectors,
            terms: Cell::new(DETAILED),
            reasons: Cell::new(MOST_REASONS),
            lacking: RefCell::default(),
        }
    }
}

/// What is known of the attribute of `constraint`, which a device of `driver` lacks.
fn lacking(cluster: &Cluster, driver: &Str, constraint: ConstraintName, looks: &Looks<'_>) -> Lacking {
    let key = (driver.clone(), constraint);
    if let Some(known) = looks.lacking.borrow().get(&key) {
        return known.clone();
    }
    let (_, constraint) = &key;
    let mut others = BTreeSet::new();
    let mut values: BTreeSet<String> = BTreeSet::new();
    let mut own: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut is_of_all = true;
    for slice in cluster.slices() {
        let spec = &slice.spec;
        let is_own = spec.driver == *driver;
        for device in &spec.devices {
            if let Some(value) = attribute_of(device, &spec.driver, &constraint.attribute) {
                values.insert(value.to_string());
                is_of_all &= !is_own;
                if !is_own {
                    others.insert(spec.driver.clone());
                }
            } else if is_own {
                for (name, value) in &device.attributes {
                    let name = qualified(driver, name);
                    own.entry(name).or_default().insert(value.to_string());
                }
            }
        }
    }
    let local = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let wanted = local(&constraint.attribute);
    let candidates = own.into_iter().filter_map(|(name, own)| {
        let is_similar = is_similar(&wanted, &local(&name));
        if values.is_empty() {
            return is_similar.then_some((false, name, None));
        }
        let common = own.intersection(&values).next()?.clone();
        // Small numbers and flags have values in common with anything.
        let is_telling =
            common.chars().any(char::is_alphabetic) && common.chars().any(|one| one.is_ascii_digit());
        (is_similar || is_telling).then_some((!is_similar, name, Some(common)))
    });
    // What the devices of the other drivers have, too, can be compared instead.
    let is_everywhere = |name: &str| {
        let has = |driver: &Str| {
            let mut slices = cluster.slices().filter(|slice| slice.spec.driver == *driver);
            slices.any(|slice| {
                let mut devices = slice.spec.devices.iter();
                devices.any(|device| attribute_of(device, driver, name).is_some())
            })
        };
        others.iter().all(has)
    };
    let found = Lacking {
        constraint: key.1.clone(),
        driver: driver.clone(),
        is_of_all,
        others: others.iter().cloned().collect(),
        similar: candidates
            .min()
            .map(|(_, name, common)| (name.clone(), common.filter(|_| !is_everywhere(&name)))),
    };
    looks.lacking.borrow_mut().insert(key, found.clone());
    found
}

/// The name of an attribute with the domain of its driver, unless it has one.
fn qualified(driver: &str, name: &str) -> String {
    if name.contains('/') {
        name.to_owned()
    } else {
        format!("{driver}/{name}")
    }
}

/// The terms of the selector that are not true for a device, with what they see; none where that is not looked at.
fn failing_terms(cluster: &Cluster, id: &DeviceId, expression: &Str, looks: &Looks<'_>) -> Vec<Term> {
    if looks.terms.get() == 0 {
        return Vec::new();
    }
    looks.terms.set(looks.terms.get() - 1);
    let Some(pool) = cluster.pool(&id.pool_id()) else {
        return Vec::new();
    };
    let selector = looks.selectors.selector(expression);
    let (Some((slice, device)), Ok(program)) = (pool.device(&id.device), selector.program()) else {
        return Vec::new();
    };
    let input = DeviceInput::of(slice_device(&slice.spec.driver, device));
    let terms = program.explain(&input).into_iter().map(|term| Term {
        text: term.text,
        seen: term.seen,
    });
    terms.collect()
}
