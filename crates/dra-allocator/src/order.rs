//! Influence of the order of pools and slices on an answer, in releases with random order.
//!
//! The search is complete, so the existence of a solution does not depend on the order. The first solution does, where
//! a request can be served from several slices, and so does which comes first, a solution or an error.

use std::collections::BTreeSet;

use super::candidates::{Problem, Unfit};
use super::index::{AlternativeIx, DeviceIx};
use super::request::Amount;
use super::search::{Flow, Pick, State};
use super::{Limits, Observer, Stop, search};
use dra_model::{Key, MOST_RESULTS, PoolId, Str, TOO_MUCH_WORK};

/// Certainty of an answer across all orders of pools and slices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// It is the same in all of them. In which order a claim's status lists the devices of one request may differ.
    #[default]
    Sure,
    /// It fits in all of them, and which devices it gets is one of several choices.
    OneOf(Vec<Choice>),
    /// In some of them this error comes first, which ends the attempt.
    MayError(String),
    /// The result may differ, for this reason.
    MayDiffer(String),
}

/// A request that can be served from several places; the order determines which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The claim.
    pub claim: Key,
    /// `request` or `request/subrequest`.
    pub request: Str,
    /// The pools that have devices for it, by driver and name.
    pub pools: Vec<PoolId>,
    /// Their slices that have, by name.
    pub slices: Vec<Str>,
}

/// Devices of the node for an alternative.
#[derive(Default)]
struct Reach {
    /// Devices that it could take.
    candidates: usize,
    /// One of them allows several allocations, so that it may be taken in place of another one.
    shareable: bool,
    /// The slices that they are in, by view and place there. In mode All, those of devices that it fails over, too.
    slices: BTreeSet<(u32, u32)>,
    /// Error that ends the attempt when the search meets it.
    stop: Option<Stop>,
    /// The slices of devices that do so.
    stopping: BTreeSet<(u32, u32)>,
}

impl Reach {
    /// Returns whether everything that it may meet is in one slice, whose order is known.
    fn is_in_order(&self) -> bool {
        self.slices.union(&self.stopping).count() < 2
    }
}

/// Returns how sure the answer is that a search of `problem` gave, which took the devices of `state` if it is [`Flow::Done`].
pub(super) fn certainty(
    problem: &mut Problem<'_>,
    flow: Flow,
    state: &State,
    limits: Limits,
    observer: &dyn Observer,
) -> Certainty {
    if !problem.features.takes_pools_as_they_come() || flow == Flow::GaveUp {
        return Certainty::Sure;
    }
    let invalid = usize::from(problem.invalid_pool.is_some());
    let slices: usize = problem.views.iter().map(|view| view.slices.len()).sum();
    if slices + invalid < 2 {
        return Certainty::Sure;
    }
    let numbers = problem.alternatives.keys();
    let reaches: Vec<Reach> = numbers.map(|number| reach(problem, number)).collect();
    let of = |number: AlternativeIx| &reaches[usize::from(number)];
    let is_open = |number: AlternativeIx| {
        problem.alternative(number).amount != Amount::All
            && of(number).slices.len() > 1
            && !takes_each(problem, number, of(number))
    };
    let open: Vec<AlternativeIx> = problem
        .alternatives
        .keys()
        .filter(|number| is_open(*number))
        .collect();
    if let Some(number) = loses_its_way(problem, &open, |number| of(number).slices.len() > 1) {
        return Certainty::MayDiffer(format!(
            "order decides: {} requests all devices as one of several alternatives, and kube-scheduler keeps \
            the first alternative once it has allocated one of them",
            problem.shown_request(number)
        ));
    }
    let mut trouble = problem.invalid_pool.clone();
    let stops = reaches
        .iter()
        .filter(|reach| !open.is_empty() || !reach.is_in_order());
    for stop in stops.filter_map(|reach| reach.stop.as_ref()) {
        trouble.get_or_insert_with(|| match stop {
            Stop::Error(error) => error.to_string(),
            Stop::NotTried => TOO_MUCH_WORK.to_owned(),
        });
    }
    if trouble.is_none() {
        let is_forced = flow == Flow::Done && has_one_way(problem, &reaches);
        trouble = forbidden(problem, is_forced, &open, |number| of(number).slices.len() > 1);
    }
    match (trouble, flow) {
        (Some(error), Flow::Done) => Certainty::MayError(error),
        (Some(error), Flow::Error) => {
            problem.forgives = true;
            let (forgiven, ..) = search(problem, limits, observer);
            problem.forgives = false;
            match forgiven {
                Flow::Fail | Flow::Exceeded if meets_all_errors(problem) => Certainty::Sure,
                _ => Certainty::MayError(error),
            }
        }
        (Some(error), _) if !meets_all_errors(problem) => Certainty::MayError(error),
        (_, Flow::Done) => one_of(problem, state, &open, &reaches),
        _ => Certainty::Sure,
    }
}

/// Returns what the alternative finds.
fn reach(problem: &mut Problem<'_>, number: AlternativeIx) -> Reach {
    let alternative = problem.alternative(number);
    let mut reach = Reach::default();
    for device in problem.devices.keys() {
        let place = problem.devices[device].view;
        let found = problem.pool_device(device);
        // Whether a device is in use is asked before anything else.
        if found.dedicated && !alternative.admin_access && alternative.amount != Amount::All {
            continue;
        }
        let slice = (place.0, found.slice);
        let shareable = found.multiple;
        let stop = match problem.verdict(number, device) {
            Ok(()) => {
                reach.candidates += 1;
                reach.shareable |= shareable;
                reach.slices.insert(slice);
                error_of_constraints(problem, number, device)
                    .or_else(|| error_of_selector(problem, number, device))
            }
            Err(Unfit::RuledOut(why)) => {
                // The order says how far the request comes before it fails.
                if alternative.amount == Amount::All && problem.is_among_all(why) {
                    reach.slices.insert(slice);
                }
                None
            }
            Err(Unfit::Trouble(trouble)) => Some(problem.stop(number, device, *trouble)),
        };
        if let Some(stop) = stop {
            reach.stopping.insert(slice);
            reach.stop.get_or_insert(stop);
        }
    }
    reach
}

fn error_of_constraints(problem: &mut Problem<'_>, number: AlternativeIx, device: DeviceIx) -> Option<Stop> {
    let sources = &problem.alternative(number).constraints;
    sources.iter().flatten().find_map(|source| {
        let trouble = problem.attribute(*source, device).err()?;
        Some(problem.stop(number, device, trouble))
    })
}

/// Returns what the node selector of a device says that no allocation can hold.
fn error_of_selector(problem: &Problem<'_>, number: AlternativeIx, device: DeviceIx) -> Option<Stop> {
    let claim = &problem.demand.claims[problem.alternatives[number].claim].claim;
    let why = super::result::unsupported_selector(problem, device)?;
    let error = format!("create NodeSelector for claim {}: {why}", claim.metadata.name);
    Some(error.into())
}

/// The alternative in mode All that continues as another one, if that happens in some order.
fn loses_its_way(
    problem: &Problem<'_>,
    open: &[AlternativeIx],
    has_several: impl Fn(AlternativeIx) -> bool,
) -> Option<AlternativeIx> {
    if !problem.features.release.loses_subrequest_in_all {
        return None;
    }
    let mut numbers = problem.alternatives.keys();
    numbers.find(|number| {
        let first = || problem.request_of(*number).first;
        problem.alternative(*number).is_later_all()
            && (has_several(*number) || !open.is_empty() || has_several(first()))
    })
}

/// That a constraint may keep a request from all of its devices, which is an error unless something else keeps it from one before.
fn forbidden(
    problem: &Problem<'_>,
    is_forced: bool,
    open: &[AlternativeIx],
    has_several: impl Fn(AlternativeIx) -> bool,
) -> Option<String> {
    let number = problem
        .alternatives
        .keys()
        .find(|number| is_all_under_constraint(problem, *number))?;
    let mut numbers = problem.alternatives.keys();
    let several = numbers.any(|number| is_all_under_constraint(problem, number) && has_several(number));
    // A solution has all of its devices in every order, unless the search comes by there on another way first.
    (!open.is_empty() || (several && !is_forced)).then(|| {
        let what = "cannot add a device because a claim constraint would not be satisfied".to_owned();
        problem.error_of_request(number, what).to_string()
    })
}

fn is_all_under_constraint(problem: &Problem<'_>, number: AlternativeIx) -> bool {
    let alternative = problem.alternative(number);
    alternative.amount == Amount::All && alternative.constraints.iter().any(Option::is_some)
}

fn takes_all_under_constraint(problem: &Problem<'_>) -> bool {
    let mut numbers = problem.alternatives.keys();
    numbers.any(|number| is_all_under_constraint(problem, number))
}

/// Returns whether every request takes all that it finds, so that a solution is the only way through the search.
fn has_one_way(problem: &Problem<'_>, reaches: &[Reach]) -> bool {
    let mut requests = problem.demand.claims.iter().flat_map(|claim| &claim.requests);
    requests.all(|request| {
        !request.prioritized
            && request.alternatives().all(|number| {
                let reach = &reaches[usize::from(number)];
                problem.alternative(number).amount == Amount::All || takes_each(problem, number, reach)
            })
    })
}

/// Returns whether the alternative takes each of its candidates.
fn takes_each(problem: &Problem<'_>, number: AlternativeIx, reach: &Reach) -> bool {
    let count = usize::try_from(problem.counts[number]).unwrap_or(usize::MAX);
    reach.candidates == count && !reach.shareable
}

/// Returns whether a search that finds nothing meets every error that there is, in whatever order. What fails or exceeds the limit of a claim
/// before keeps it from looking further.
fn meets_all_errors(problem: &Problem<'_>) -> bool {
    !takes_all_under_constraint(problem) && !may_exceed(problem)
}

/// Returns whether a claim can get more devices than it may have.
fn may_exceed(problem: &Problem<'_>) -> bool {
    problem.demand.claims.iter().any(|claim| {
        let most = claim.requests.iter().map(|request| {
            let counts = request.alternatives().map(|number| problem.counts[number]);
            counts.max().unwrap_or_default()
        });
        most.fold(0, i64::saturating_add) > MOST_RESULTS
    })
}

/// The choices of a solution: picked alternatives, determined by the order.
fn one_of(problem: &Problem<'_>, state: &State, open: &[AlternativeIx], reaches: &[Reach]) -> Certainty {
    let taken: BTreeSet<AlternativeIx> = state
        .picks
        .iter()
        .flatten()
        .map(|pick: &Pick| pick.alternative)
        .collect();
    let choices: Vec<Choice> = open
        .iter()
        .filter(|number| taken.contains(number))
        .map(|number| choice(problem, *number, &reaches[usize::from(*number)]))
        .collect();
    if choices.is_empty() {
        Certainty::Sure
    } else {
        Certainty::OneOf(choices)
    }
}

fn choice(problem: &Problem<'_>, number: AlternativeIx, reach: &Reach) -> Choice {
    let mut pools = BTreeSet::new();
    let mut slices = BTreeSet::new();
    for (view, slice) in &reach.slices {
        let view = &problem.views[super::index::ViewIx(*view)];
        pools.insert(view.id.clone());
        slices.insert(view.slices[*slice as usize].slice.metadata.name.clone());
    }
    Choice {
        claim: problem.demand.claims[problem.alternatives[number].claim]
            .claim
            .key(),
        request: problem.alternative(number).name.clone(),
        pools: pools.into_iter().collect(),
        slices: slices.into_iter().collect(),
    }
}
