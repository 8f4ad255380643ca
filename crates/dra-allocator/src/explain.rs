//! The reason why claims do not get their devices on a node: for each device the check of the search that rules it out, and for requests that
//! have enough devices each, what keeps them from being served together.
//!
//! Nothing is judged a second time here. A single device is placed as the search places its first one, and what stops
//! several requests is taken from the search where it came furthest, and then shown by a search without that limit.

use std::collections::BTreeSet;
use std::sync::Arc;

use dra_model::{
    Claim, Device, DeviceId, DeviceRequest, Key, Node, PoolId, Quantity, RequestPolicy, Str, Taint, lookup,
};

use super::candidates::{Problem, Trouble, Unfit};
use super::constraint::Rule;
use super::deepest::{Clash, ClashingValues, Deepest};
use super::index::{AlternativeIx, ClaimIx, ConstraintIx, DeviceIx, stretch};
use super::request::Alternative;
use super::search::{Flow, Search, State};
use super::{Demand, Inputs, Limits, Outcome, Stop};
use crate::devices::{CounterIx, Lack, Need, PoolStatus, RuledOut, named_otherwise, need, units};

/// Devices of a node for claims that do not fit, device by device.
pub struct Explanation<'a> {
    inputs: &'a Inputs,
    node: &'a Node,
    problem: Problem<'a>,
    /// Work of the problem that the meter has counted.
    searched: u64,
    /// The requests of all claims, in the order of the search.
    pub requests: Vec<RequestExplanation>,
}

/// Devices of a node for one request.
#[derive(Clone, Debug)]
pub struct RequestExplanation {
    /// Its claim, by its place in the demand.
    pub claim: usize,
    /// Its name.
    pub name: Str,
    /// The request, or each of its subrequests.
    pub alternatives: Vec<AlternativeExplanation>,
}

/// Devices of a node for one request without alternatives, or for one subrequest.
#[derive(Clone, Debug)]
pub struct AlternativeExplanation {
    number: AlternativeIx,
    /// `request` or `request/subrequest`.
    pub name: Str,
    /// Number of devices it takes; in mode All that many are selected.
    pub wanted: i64,
    /// For every device of the node's usable pools, in the order of the search, whether it could be taken as the first one.
    pub devices: Vec<Result<(), Unfit>>,
}

impl AlternativeExplanation {
    /// Returns how many devices could be picked, each separately.
    pub fn free(&self) -> usize {
        self.devices.iter().filter(|device| device.is_ok()).count()
    }

    /// Returns the maximum number of devices that could be picked: usable and unknown ones.
    pub fn most(&self) -> usize {
        let is_unknown = |device: &&Result<(), Unfit>| **device == Err(Trouble::NotTried.into());
        self.free() + self.devices.iter().filter(is_unknown).count()
    }

    /// Returns whether so many devices are as many as it takes.
    pub fn reaches(&self, devices: usize) -> bool {
        self.wanted > 0 && i64::try_from(devices).unwrap_or(i64::MAX) >= self.wanted
    }
}

/// A limited amount.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shortage {
    /// The counter set; none for a capacity of the device.
    pub set: Option<Str>,
    /// The counter or capacity.
    pub name: Str,
    /// Consumption by the device.
    pub wanted: Quantity,
    /// Remainder; negative if claims consume more than the total.
    pub left: Quantity,
    /// Total.
    pub total: Quantity,
}

/// A constraint of a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConstraintName {
    /// The claim.
    pub claim: Key,
    /// Its place in the claim.
    pub place: usize,
    /// Fully qualified name of the attribute.
    pub attribute: Str,
    /// True if all values have to be the same rather than different.
    pub same: bool,
}

/// Reason why requests with enough devices each do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Together {
    /// Without these constraints the node could serve the claims. No search showed that it could with one of them.
    Constraints(Vec<ConstraintName>, Option<ClashingValues>),
    /// Without limits of shared counters the node could serve the claims. The shortage is the one met furthest in the search, and these claims
    /// have devices that draw from the counter.
    Counters(PoolId, Shortage, Vec<Key>),
    /// The devices do not suffice for these requests together.
    Requests {
        /// The requests, with their claims.
        requests: Vec<(Key, Str)>,
        /// True if it was shown that the devices suffice where any one of them is left out.
        is_smallest: bool,
    },
    /// Obstacle at the deepest point of the search, which is not proven to be the reason.
    NotShown(RuledOut),
    /// They fit, or that is not decided.
    Unknown,
}

/// Steps of a search that shows what a limit is worth, and of the one that says where the limits are met.
const STEPS: u64 = 20_000;

/// Requests to reduce to a smallest set that cannot be served together.
const MOST_REQUESTS: usize = 64;

impl Inputs {
    /// Says for each request of `demand` and each device of `node` whether the device could be picked for it, or what rules it out.
    ///
    /// # Errors
    /// What ends an attempt before any device is tried.
    pub fn explain<'a>(&'a self, node: &'a Node, demand: &'a Demand) -> Result<Explanation<'a>, Stop> {
        let mut problem = self.problem(node, demand)?;
        let mut state = State::new(&problem);
        let mut requests = Vec::new();
        for (claim, of_claim) in demand.claims.iter().enumerate() {
            for request in &of_claim.requests {
                let devices = problem.devices.len();
                problem
                    .work
                    .take((request.alternatives().count() * devices) as u64);
                let alternatives = request.alternatives().map(|number| AlternativeExplanation {
                    number,
                    name: problem.alternative(number).name.clone(),
                    wanted: problem.counts[number],
                    devices: stretch(DeviceIx(0), problem.devices.len())
                        .map(|device| state.try_alone(&mut problem, number, device))
                        .collect(),
                });
                requests.push(RequestExplanation {
                    claim,
                    name: request.name.clone(),
                    alternatives: alternatives.collect(),
                });
            }
        }
        let searched = problem.work.done();
        self.facts.selectors.meter().search(searched);
        Ok(Explanation {
            inputs: self,
            node,
            problem,
            searched,
            requests,
        })
    }
}

impl Explanation<'_> {
    /// The key of the claim at that place.
    pub fn claim(&self, place: usize) -> Key {
        self.demanded(place).key()
    }

    fn demanded(&self, place: usize) -> &Arc<Claim> {
        &self.problem.demand.claims[ClaimIx::from(place)].claim
    }

    /// Pools of the node that cannot be used, in their order.
    pub fn unusable_pools(&self) -> impl Iterator<Item = (&PoolId, &PoolStatus)> {
        let views = self.problem.views.iter();
        views
            .filter(|view| view.status != PoolStatus::Usable)
            .map(|view| (&view.id, &view.status))
    }

    /// The device at that place in the lists of the alternatives.
    pub fn device_id(&self, device: usize) -> DeviceId {
        self.problem.device_id(device.into())
    }

    /// Returns whether several claims may hold shares of the device.
    pub fn is_shareable(&self, device: usize) -> bool {
        self.problem.device(device.into()).allow_multiple_allocations
    }

    /// The claims that hold the device; none where only the allocated state knows of them.
    pub fn holders(&self, device: usize) -> Vec<Key> {
        let device = self.device_id(device);
        self.inputs
            .facts
            .takers(&device)
            .map(|claim| claim.key())
            .collect()
    }

    /// The claims that hold devices of the pool of `device` which draw from the counter that is short.
    pub fn drawing(&self, device: usize, shortage: &Shortage) -> Vec<Key> {
        let facts = &self.inputs.facts;
        let id = self.device_id(device).pool_id();
        let Some(pool) = facts.cluster.pool(&id) else {
            return Vec::new();
        };
        let draws = |device: &Device| {
            let mut consumed = device.consumes_counters.iter();
            consumed.any(|consumed| {
                Some(&consumed.counter_set) == shortage.set.as_ref()
                    && lookup(&consumed.counters, &shortage.name).is_some()
            })
        };
        let drawing = pool.devices().filter(|(_, device)| draws(device));
        let held = drawing.flat_map(|(_, device)| {
            let id = pool.device_id(&device.name);
            facts.takers(&id).map(|claim| claim.key()).collect::<Vec<_>>()
        });
        held.collect::<BTreeSet<Key>>().into_iter().collect()
    }

    fn alternative(&self, one: &AlternativeExplanation) -> &Alternative {
        self.problem.alternative(one.number)
    }

    fn spec(&self, one: &AlternativeExplanation) -> &DeviceRequest {
        let alternative = self.alternative(one);
        alternative.spec(self.demanded(alternative.claim.into()))
    }

    /// The first selector that does not select the device.
    pub fn selector(&self, one: &AlternativeExplanation, device: usize) -> Option<&Str> {
        let selector = self.problem.first_unmatched(one.number, device.into()).ok()??;
        Some(&selector.expression.text)
    }

    /// Returns whether class and request select the device and it is for this node, be it in use or not. Nothing where that fails or was not
    /// tried.
    pub fn is_wanted(&self, one: &AlternativeExplanation, device: usize) -> Option<bool> {
        match self.problem.select(one.number, device.into()) {
            Ok(()) => Some(true),
            Err(Unfit::RuledOut(_)) => Some(false),
            Err(Unfit::Trouble(_)) => None,
        }
    }

    /// The capacity whose policy refuses the amount, what the request takes of it, and the policy.
    pub fn refused_amount(
        &self,
        one: &AlternativeExplanation,
        device: usize,
    ) -> Option<(&Str, Quantity, &RequestPolicy)> {
        let spec = self.spec(one);
        let found = self.problem.device(device.into());
        let need = need(spec, found, &self.problem.features).ok()?;
        let Need::AgainstPolicy(place) = need else {
            return None;
        };
        let (name, capacity) = found.capacity.get(place)?;
        let policy = capacity.request_policy.as_ref()?;
        let requested = spec
            .capacity
            .as_ref()
            .and_then(|capacity| lookup(&capacity.requests, name));
        let wanted = requested.or(policy.default.as_ref()).unwrap_or(&capacity.value);
        Some((name, wanted.clone(), policy))
    }

    /// The capacity that the device does not have, and the one that may have been meant: one that differs from it only in the driver's
    /// domain, or the only one of the device.
    pub fn refused_capacity(
        &self,
        one: &AlternativeExplanation,
        device: usize,
    ) -> Option<(&Str, Option<&Str>)> {
        let spec = self.spec(one);
        let found = self.problem.device(device.into());
        let Need::NoSuchCapacity(place) = need(spec, found, &self.problem.features).ok()? else {
            return None;
        };
        let (name, _) = spec.capacity.as_ref()?.requests.get(place)?;
        let driver = &self.problem.slice(device.into()).spec.driver;
        let only = match found.capacity.as_slice() {
            [(only, _)] => Some(only),
            _ => None,
        };
        Some((name, named_otherwise(found, driver, name).or(only)))
    }

    /// The first capacity that the device has too little of.
    pub fn short_capacity(&self, one: &AlternativeExplanation, device: usize) -> Option<Shortage> {
        let found = self.problem.device(device.into());
        let need = need(self.spec(one), found, &self.problem.features);
        let Ok(Need::Amounts(amounts)) = need else {
            return None;
        };
        let taken = &self.problem.pool_device(device.into()).consumed;
        let mut capacities = found.capacity.iter().zip(amounts).enumerate();
        capacities.find_map(|(place, ((name, capacity), wanted))| {
            let taken = taken.get(place).copied().unwrap_or(0);
            let left = units(&capacity.value).saturating_sub(taken);
            (units(&wanted) > left).then(|| Shortage {
                set: None,
                name: name.clone(),
                wanted,
                left: Quantity::from_nanos(left, capacity.value.format()),
                total: capacity.value.clone(),
            })
        })
    }

    /// The first counter that claims have overused for the device.
    pub fn short_counter(&self, device: usize) -> Option<Shortage> {
        let place = self.problem.devices[DeviceIx::from(device)];
        match self.problem.views[place.view].lacks(place.device)? {
            Lack::Counter(counter) => self.shortage(device.into(), counter, 0),
            Lack::Group => None,
        }
    }

    /// Returns the device's shortage of a counter of its pool; picks have consumed this much of it.
    fn shortage(&self, device: DeviceIx, counter: CounterIx, picked: i128) -> Option<Shortage> {
        let view = self.problem.view(device);
        let (set, name) = view.counters.names.get(counter)?;
        let cluster = &self.inputs.facts.cluster;
        let pool = cluster.pool(&view.id)?;
        let mut sets = pool.slices.iter().flat_map(|slice| &slice.spec.shared_counters);
        let published = sets.find(|published| published.name == *set)?;
        let total = lookup(&published.counters, name)?.value.clone();
        let wanted = self.problem.usage(device).and_then(|usage| usage.of(counter));
        let left = view.counters.available[counter].saturating_sub(picked);
        Some(Shortage {
            set: Some(set.clone()),
            name: name.clone(),
            wanted: Quantity::from_nanos(wanted.unwrap_or(0), total.format()),
            left: Quantity::from_nanos(left, total.format()),
            total,
        })
    }

    /// The taints that the request does not tolerate.
    pub fn taints(&self, one: &AlternativeExplanation, device: usize) -> impl Iterator<Item = &Taint> {
        let view = self.problem.view(device.into());
        let tolerations = &self.spec(one).tolerations;
        let taints = view.taints(self.problem.device(device.into()));
        taints.filter(|taint| !tolerations.tolerate(taint))
    }

    /// The first constraint that compares an attribute which the device does not have.
    pub fn lacking_attribute(
        &mut self,
        one: &AlternativeExplanation,
        device: usize,
    ) -> Option<ConstraintName> {
        let alternative = self.problem.alternative(one.number);
        let mut sources = alternative.constraints.iter_enumerated();
        let (place, _) = sources.find(|(_, source)| {
            source.is_some_and(|source| self.problem.attribute(source, device.into()) == Ok(None))
        })?;
        Some(constraint_name(&self.problem, alternative.claim, place))
    }

    /// Returns what keeps the claims from being served together.
    pub fn together(&mut self) -> Together {
        let mut search = Search::new(&mut self.problem, STEPS, &());
        search.deepest = Some(Deepest::default());
        let flow = search.run();
        let clashes = search.deepest.take().unwrap_or_default().clashes;
        let before = std::mem::replace(&mut self.searched, self.problem.work.done());
        self.inputs.facts.selectors.meter().search(self.searched - before);
        if flow != Flow::Fail {
            return Together::Unknown;
        }
        let mut counters = self.counters(&clashes);
        // What others use may end. What the claims compare is meant.
        let is_of_others =
            |found: &mut Together| matches!(found, Together::Counters(_, _, by) if !by.is_empty());
        if let Some(found) = counters.take_if(is_of_others) {
            return found;
        }
        let furthest = || Some(Together::NotShown(clashes.first()?.ruled_out()));
        self.constraints(&clashes)
            .or(counters)
            .or_else(|| self.smallest())
            .or_else(furthest)
            .unwrap_or(Together::Unknown)
    }

    /// Returns whether a search for `claims` instead of those of the demand finds devices; nothing where it does not end.
    fn fits(&self, claims: &[Arc<Claim>], ignores_counters: bool) -> Option<bool> {
        let mut demand = self.inputs.demand(claims);
        demand.ignores_counters = ignores_counters;
        let meter = self.inputs.facts.selectors.meter();
        if meter.exhausted().is_some() {
            return None;
        }
        let attempt = self
            .inputs
            .allocate(self.node, &demand, Limits::steps(STEPS), &());
        match attempt.outcome {
            Outcome::Allocated(_) => Some(true),
            Outcome::DoesNotFit { .. } => Some(false),
            Outcome::Error(_) | Outcome::GaveUp => None,
        }
    }

    fn claims(&self) -> Vec<Arc<Claim>> {
        self.problem.demand.claims().cloned().collect()
    }

    /// The constraints that prevent a fit: the one that stopped the search furthest, any other one, or several
    /// together.
    fn constraints(&mut self, clashes: &[Clash]) -> Option<Together> {
        let claims = self.claims();
        let met = clashes.iter().filter_map(|clash| match clash {
            Clash::Constraint { claim, place, .. } => Some((*claim, *place)),
            _ => None,
        });
        let mut all: Vec<(ClaimIx, ConstraintIx)> = met.collect();
        if all.is_empty() {
            return None;
        }
        for (claim, of) in self.problem.demand.claims.iter_enumerated() {
            all.extend(of.constraints.keys().map(|place| (claim, place)));
        }
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|constraint| seen.insert(*constraint));
        let fits_without = |left_out: &[(ClaimIx, ConstraintIx)]| {
            let claims = without_constraints(&claims, left_out);
            self.fits(&claims, false) == Some(true)
        };
        let found = match all.iter().find(|one| fits_without(&[**one])) {
            Some(one) => vec![*one],
            None if fits_without(&all) => {
                let mut needed = all.clone();
                for one in &all {
                    let fewer: Vec<_> = needed.iter().filter(|other| *other != one).copied().collect();
                    if fits_without(&fewer) {
                        needed = fewer;
                    }
                }
                needed
            }
            None => return None,
        };
        let values = clashes.iter().find_map(|clash| match clash {
            Clash::Constraint { claim, place, values } if found.contains(&(*claim, *place)) => values.clone(),
            _ => None,
        });
        let names = found
            .iter()
            .map(|(claim, place)| constraint_name(&self.problem, *claim, *place));
        Some(Together::Constraints(names.collect(), values))
    }

    fn counters(&mut self, clashes: &[Clash]) -> Option<Together> {
        let (device, counter, picked) = clashes.iter().find_map(|clash| match clash {
            Clash::Counter {
                device,
                counter,
                picked,
            } => Some((*device, *counter, *picked)),
            _ => None,
        })?;
        let shortage = self.shortage(device, counter, picked)?;
        let pool = self.problem.view(device).id.clone();
        let by = self.drawing(device.into(), &shortage);
        (self.fits(&self.claims(), true) == Some(true)).then_some(Together::Counters(pool, shortage, by))
    }

    /// The smallest requests that cannot be served together: none of them can be left out.
    fn smallest(&mut self) -> Option<Together> {
        let claims = self.claims();
        let mut kept: Vec<(usize, Str)> = self
            .requests
            .iter()
            .map(|request| (request.claim, request.name.clone()))
            .collect();
        if kept.len() > MOST_REQUESTS {
            return None;
        }
        let without = |kept: &[(usize, Str)], one: &(usize, Str)| -> Vec<(usize, Str)> {
            kept.iter().filter(|other| *other != one).cloned().collect()
        };
        let mut undecided = Vec::new();
        for one in kept.clone() {
            let fewer = without(&kept, &one);
            match self.fits(&with_requests(&claims, &fewer), false) {
                Some(true) => {}
                Some(false) => kept = fewer,
                None => undecided.push(one),
            }
        }
        // Of fewer requests it may be decided.
        let is_smallest = undecided.iter().filter(|one| kept.contains(one)).all(|one| {
            let fewer = without(&kept, one);
            fewer.is_empty() || self.fits(&with_requests(&claims, &fewer), false) == Some(true)
        });
        let requests = kept.into_iter().map(|(claim, name)| (self.claim(claim), name));
        Some(Together::Requests {
            requests: requests.collect(),
            is_smallest,
        })
    }
}

fn constraint_name(problem: &Problem<'_>, claim: ClaimIx, place: ConstraintIx) -> ConstraintName {
    let of = &problem.demand.claims[claim];
    let constraint = &of.constraints[place];
    ConstraintName {
        claim: of.claim.key(),
        place: place.into(),
        attribute: constraint.attribute.clone(),
        same: constraint.rule == Rule::Match,
    }
}

/// The claims without the constraints at those places.
fn without_constraints(claims: &[Arc<Claim>], left_out: &[(ClaimIx, ConstraintIx)]) -> Vec<Arc<Claim>> {
    let without = |(number, claim): (usize, &Arc<Claim>)| {
        let number = ClaimIx::from(number);
        if !left_out.iter().any(|(of, _)| *of == number) {
            return Arc::clone(claim);
        }
        let mut claim = Claim::clone(claim);
        let mut places = stretch(ConstraintIx(0), claim.spec.devices.constraints.len());
        let mut is_kept = || {
            places
                .next()
                .is_none_or(|place| !left_out.contains(&(number, place)))
        };
        claim.spec.devices.constraints.retain(|_| is_kept());
        Arc::new(claim)
    };
    claims.iter().enumerate().map(without).collect()
}

/// The claims with those requests only. A constraint that covered others only is gone, as it would cover all requests without them.
fn with_requests(claims: &[Arc<Claim>], kept: &[(usize, Str)]) -> Vec<Arc<Claim>> {
    let reduce = |(number, claim): (usize, &Arc<Claim>)| {
        let is_kept = |name: &Str| kept.iter().any(|(of, kept)| *of == number && kept == name);
        let mut claim = Claim::clone(claim);
        claim
            .spec
            .devices
            .requests
            .retain(|request| is_kept(&request.name));
        claim.spec.devices.constraints.retain_mut(|constraint| {
            let covered_all = constraint.requests.is_empty();
            constraint.requests.retain(|name| {
                let request = name.split('/').next().unwrap_or_default();
                is_kept(&request.into())
            });
            covered_all || !constraint.requests.is_empty()
        });
        Arc::new(claim)
    };
    claims.iter().enumerate().map(reduce).collect()
}
