//! The search as upstream does it: one device after the other, in order, backtracking.
//!
//! Mirrors `allocator_incubating.go`, `allocateOne` and `allocateDevice`, v1.37.2. This search serves the problems that need
//! little backtracking, which are nearly all; `pruned` takes over where it does not end soon, and must give the same answer.

use typed_index_collections::{TiSlice, TiVec};

use super::candidates::{Problem, Unfit};
use super::constraint::ConstraintState;
use super::deepest::Deepest;
use super::error::AttemptError;
use super::index::{AlternativeIx, ClaimIx, ConstraintIx, DeviceIx, ViewIx, stretch};
use super::request::{Alternative, Amount, ClaimDemand};
use super::{Observer, PLAIN_STEPS, Stop};
use crate::devices::{Compatibility, CounterIx, Counters, RuledOut, SetIx, units};
use dra_model::MOST_RESULTS;

/// Result of a part of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Everything is allocated.
    Done,
    /// No solution here.
    Fail,
    /// No solution here, because the claim's result would be too large whatever devices are taken.
    Exceeded,
    /// An error ends the attempt; it is kept in the state.
    Error,
    /// The budget is used up, the observer asks to stop, or an expression was not tried.
    GaveUp,
}

impl Flow {
    /// Returns what alternatives of a request come to, tried in order until one does not fail. All exceed the claim's result only together.
    /// Mirrors the loop over subrequests in `allocateOne`.
    pub(super) fn of_alternatives(flows: impl Iterator<Item = Self>) -> Self {
        let mut all_exceeded = true;
        for flow in flows {
            match flow {
                Self::Exceeded => {}
                Self::Fail => all_exceeded = false,
                flow => return flow,
            }
        }
        if all_exceeded { Self::Exceeded } else { Self::Fail }
    }

    /// Returns what it means for a claim that the next one ended so: another choice for this claim does not make the next one smaller, but may
    /// make it fit.
    pub(super) fn of_next_claim(self) -> Self {
        match self {
            Self::Exceeded => Self::Fail,
            flow => flow,
        }
    }
}

/// A device chosen for an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pick {
    pub(super) alternative: AlternativeIx,
    pub(super) device: DeviceIx,
}

/// State changed by the picks so far.
pub(super) struct State {
    /// Picks of each claim, in order.
    pub(super) picks: TiVec<ClaimIx, Vec<Pick>>,
    /// Number of picks hold each device that allows one allocation only.
    pub(super) holders: TiVec<DeviceIx, u16>,
    /// Shares of each device that allows multiple allocations; empty until one has any.
    sharing: TiVec<DeviceIx, Sharing>,
    /// Consumption of each view's counters by the picks.
    pub(super) drawn: TiVec<ViewIx, Drawn>,
    /// Groups that the picks left for each counter set of each view; absent where no pick draws from the set.
    groups: TiVec<ViewIx, TiVec<SetIx, Option<Compatibility>>>,
    /// By claim and constraint.
    pub(super) constraints: TiVec<ClaimIx, TiVec<ConstraintIx, ConstraintState>>,
    /// The error that ends the attempt with [`Flow::Error`].
    pub(super) error: AttemptError,
}

/// Consumption of a view's counters by picks.
pub(super) struct Drawn {
    /// By counter.
    pub(super) amounts: TiVec<CounterIx, i128>,
    /// Of how many counters more is taken than there is, claims and picks together.
    overdrawn: usize,
}

impl Drawn {
    /// Adds what a device takes, or takes it back with a factor of -1.
    fn add(&mut self, usage: &[(CounterIx, i128)], factor: i128, available: &TiSlice<CounterIx, i128>) {
        for (counter, amount) in usage {
            let (taken, left) = (&mut self.amounts[*counter], available[*counter]);
            let was_overdrawn = *taken > left;
            *taken = taken.saturating_add(factor * amount);
            match (was_overdrawn, *taken > left) {
                (false, true) => self.overdrawn += 1,
                (true, false) => self.overdrawn -= 1,
                _ => {}
            }
        }
    }
}

/// Shares of a device in the picks.
#[derive(Default)]
struct Sharing {
    /// Number of picks.
    picks: u16,
    /// Their consumption, in the order of the device's capacities.
    taken: Box<[i128]>,
}

/// Changes of a pick besides marking its device.
#[derive(Default)]
pub(super) struct Undo {
    counters: bool,
    groups: Vec<(SetIx, Option<Compatibility>)>,
}

impl State {
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        let claims = &problem.demand.claims;
        let counters = || problem.views.iter().map(|view| &view.counters);
        let drawn = |counters: &Counters| Drawn {
            amounts: vec![0; counters.available.len()].into(),
            overdrawn: counters.overdrawn.len(),
        };
        Self {
            picks: vec![Vec::new(); claims.len()].into(),
            holders: vec![0; problem.devices.len()].into(),
            sharing: TiVec::new(),
            drawn: counters().map(drawn).collect(),
            groups: counters()
                .map(|counters| vec![None; counters.groups.len()].into())
                .collect(),
            constraints: claims.iter().map(constraint_states).collect(),
            error: String::new().into(),
        }
    }

    /// Returns whether so many more devices make the claim's result too large, whatever devices they are.
    #[inline]
    pub(super) fn exceeds(&self, claim: ClaimIx, more: i64) -> bool {
        more > MOST_RESULTS - self.picks[claim].len() as i64
    }

    /// Returns whether a request may not even look at the device.
    #[inline]
    pub(super) fn in_use(&self, problem: &Problem<'_>, alternative: AlternativeIx, device: DeviceIx) -> bool {
        if problem.alternative(alternative).admin_access {
            // Admin access ignores who holds the device, except the same claim.
            return self.holders[device] > 0
                && self.picks[problem.alternatives[alternative].claim]
                    .iter()
                    .any(|pick| pick.device == device);
        }
        self.holders[device] > 0 || problem.pool_device(device).dedicated
    }

    /// Returns what picks take of a device that they share, in the order of its capacities.
    pub(super) fn shares_of(&self, device: DeviceIx) -> Option<&[i128]> {
        let sharing = self.sharing.get(device)?;
        (sharing.picks > 0).then_some(&*sharing.taken)
    }

    fn share_fits(&self, problem: &Problem<'_>, alternative: AlternativeIx, device: DeviceIx) -> bool {
        let pool_device = problem.pool_device(device);
        let picked = self.shares_of(device).unwrap_or_default();
        let capacity = &problem.device(device).capacity;
        problem
            .share_units(alternative, device)
            .iter()
            .zip(capacity)
            .enumerate()
            .all(|(place, (amount, (_, capacity)))| {
                let allocated = pool_device.consumed.get(place).copied().unwrap_or(0);
                let picked = picked.get(place).copied().unwrap_or(0);
                allocated.saturating_add(picked).saturating_add(*amount) <= units(&capacity.value)
            })
    }

    /// Takes the device if no check rules it out.
    ///
    /// # Errors
    /// The first check that rules it out, or what ends the attempt. Everything is then as it was.
    #[expect(
        clippy::inline_always,
        reason = "called for each device that a search looks at"
    )]
    #[inline(always)]
    pub(super) fn place(
        &mut self,
        problem: &mut Problem<'_>,
        alternative: AlternativeIx,
        device: DeviceIx,
    ) -> Result<Undo, Unfit> {
        // What rules out most devices that a search meets stays in the caller's loop.
        if self.in_use(problem, alternative, device) {
            return Err(RuledOut::InUse.into());
        }
        self.place_unused(problem, alternative, device)
    }

    fn place_unused(
        &mut self,
        problem: &mut Problem<'_>,
        alternative: AlternativeIx,
        device: DeviceIx,
    ) -> Result<Undo, Unfit> {
        let all = problem.alternative(alternative).amount == Amount::All;
        // Where all devices are asked for, what is left of a capacity counts after the constraints, which may end the attempt.
        let mut is_exhausted = false;
        match problem.verdict(alternative, device) {
            Ok(()) => {}
            Err(Unfit::RuledOut(RuledOut::CapacityExhausted)) if all => is_exhausted = true,
            Err(unfit) => return Err(unfit),
        }
        let multiple = problem.pool_device(device).multiple;
        if multiple && !all && !self.share_fits(problem, alternative, device) {
            return Err(RuledOut::CapacityExhausted.into());
        }
        let undo = self.reserve(problem, device, multiple)?;
        let place = &problem.alternatives[alternative];
        let (claim, request) = (place.claim, place.request);
        let sources = &problem.alternative(alternative).constraints;
        for (added, source) in sources.iter_enumerated() {
            let Some(source) = source else { continue };
            let unfit = match problem.attribute(*source, device) {
                Ok(Some(value)) => {
                    if self.constraints[claim][added].add(value, request, &mut problem.values) {
                        continue;
                    }
                    RuledOut::Constraint.into()
                }
                Ok(None) => RuledOut::ConstraintAttribute.into(),
                Err(trouble) => trouble.into(),
            };
            self.unwind(problem, alternative, device, added, &undo);
            return Err(unfit);
        }
        if all && (is_exhausted || (multiple && !self.share_fits(problem, alternative, device))) {
            self.unwind(problem, alternative, device, sources.next_key(), &undo);
            return Err(RuledOut::CapacityExhausted.into());
        }
        if multiple {
            self.take_share(problem, alternative, device);
        } else {
            self.holders[device] += 1;
        }
        self.picks[claim].push(Pick { alternative, device });
        Ok(undo)
    }

    /// Returns whether the device can be taken beside the picks so far, which stay as they are.
    ///
    /// # Errors
    /// As those of [`Self::place`].
    pub(super) fn try_alone(
        &mut self,
        problem: &mut Problem<'_>,
        alternative: AlternativeIx,
        device: DeviceIx,
    ) -> Result<(), Unfit> {
        let undo = self.place(problem, alternative, device)?;
        self.remove(problem, Pick { alternative, device }, &undo);
        Ok(())
    }

    /// Continuation of the search after a device that it cannot pick.
    #[expect(
        clippy::inline_always,
        reason = "called for each device that a search looks at"
    )]
    #[inline(always)]
    pub(super) fn flow(
        &mut self,
        problem: &Problem<'_>,
        alternative: AlternativeIx,
        device: DeviceIx,
        unfit: Unfit,
    ) -> Flow {
        if problem.forgives {
            return Flow::Fail;
        }
        let stop = match unfit {
            // Upstream takes a claim for wrong that asks for all devices and forbids some of them.
            Unfit::RuledOut(RuledOut::Constraint | RuledOut::ConstraintAttribute)
                if problem.alternative(alternative).amount == Amount::All =>
            {
                let device = problem.device_id(device);
                let what =
                    format!("cannot add device {device} because a claim constraint would not be satisfied");
                problem.error_of_request(alternative, what).into()
            }
            Unfit::RuledOut(_) => return Flow::Fail,
            Unfit::Trouble(trouble) => problem.stop(alternative, device, *trouble),
        };
        self.stopped(stop)
    }

    #[cold]
    fn stopped(&mut self, stop: Stop) -> Flow {
        match stop {
            Stop::Error(error) => {
                self.error = error;
                Flow::Error
            }
            Stop::NotTried => Flow::GaveUp,
        }
    }

    /// Takes back the last pick of the alternative's claim.
    pub(super) fn remove(&mut self, problem: &Problem<'_>, pick: Pick, undo: &Undo) {
        let Pick { alternative, device } = pick;
        let claim = problem.alternatives[alternative].claim;
        self.picks[claim].pop();
        if problem.pool_device(device).multiple {
            let sharing = &mut self.sharing[device];
            sharing.picks -= 1;
            let amounts = problem.share_units(alternative, device);
            for (sum, amount) in sharing.taken.iter_mut().zip(amounts) {
                *sum -= amount;
            }
        } else {
            self.holders[device] -= 1;
        }
        let constraints = problem.alternative(alternative).constraints.next_key();
        self.unwind(problem, alternative, device, constraints, undo);
    }

    fn take_share(&mut self, problem: &Problem<'_>, alternative: AlternativeIx, device: DeviceIx) {
        if self.sharing.is_empty() {
            self.sharing.resize_with(problem.devices.len(), Sharing::default);
        }
        let sharing = &mut self.sharing[device];
        sharing.picks += 1;
        let amounts = problem.share_units(alternative, device);
        if sharing.taken.len() < amounts.len() {
            sharing.taken = vec![0; amounts.len()].into();
        }
        for (sum, amount) in sharing.taken.iter_mut().zip(amounts) {
            *sum += amount;
        }
    }

    fn unwind(
        &mut self,
        problem: &Problem<'_>,
        alternative: AlternativeIx,
        device: DeviceIx,
        end: ConstraintIx,
        undo: &Undo,
    ) {
        let Alternative { claim, request, .. } = problem.alternatives[alternative];
        let sources = &problem.alternative(alternative).constraints;
        for (place, source) in sources[..end].iter_enumerated().rev() {
            if source.is_some() {
                self.constraints[claim][place].remove(request);
            }
        }
        self.release(problem, device, undo);
    }

    /// Reserves groups and counters, unless the device is shared already and has reserved them.
    ///
    /// # Errors
    /// What picks and claims leave too little of. Everything is then as it was.
    fn reserve(&mut self, problem: &Problem<'_>, device: DeviceIx, multiple: bool) -> Result<Undo, RuledOut> {
        let mut undo = Undo::default();
        let place = problem.devices[device];
        let view = &problem.views[place.view];
        let Some(usage) = view.counters.usage(place.device) else {
            return Ok(undo);
        };
        if problem.demand.ignores_counters {
            return Ok(undo);
        }
        if multiple && (self.shares_of(device).is_some() || problem.pool_device(device).shared) {
            return Ok(undo);
        }
        for (set, joining) in &usage.groups {
            let slot = &mut self.groups[place.view][*set];
            let current = slot.as_ref().unwrap_or(&view.counters.groups[*set]);
            if !current.admits(joining) {
                self.release(problem, device, &undo);
                return Err(RuledOut::Incompatible);
            }
            let next = current.with(joining);
            undo.groups.push((*set, slot.replace(next)));
        }
        let drawn = &mut self.drawn[place.view];
        drawn.add(&usage.amounts, 1, &view.counters.available);
        undo.counters = true;
        // One that the device does not draw from counts too: claims may have overdrawn it.
        if drawn.overdrawn > 0 {
            self.release(problem, device, &undo);
            return Err(RuledOut::CounterExhausted);
        }
        Ok(undo)
    }

    /// Takes back what was reserved for the device.
    fn release(&mut self, problem: &Problem<'_>, device: DeviceIx, undo: &Undo) {
        let view = problem.devices[device].view;
        for (set, before) in undo.groups.iter().rev() {
            self.groups[view][*set].clone_from(before);
        }
        if undo.counters
            && let Some(usage) = problem.usage(device)
        {
            let available = &problem.views[view].counters.available;
            self.drawn[view].add(&usage.amounts, -1, available);
        }
    }

    /// Groups left for the counter sets of a view, as far as picks draw from them.
    pub(super) fn groups_of(&self, view: ViewIx) -> &TiSlice<SetIx, Option<Compatibility>> {
        &self.groups[view]
    }
}

fn constraint_states(claim: &ClaimDemand) -> TiVec<ConstraintIx, ConstraintState> {
    let states = claim.constraints.iter();
    states
        .map(|constraint| ConstraintState::new(constraint.rule))
        .collect()
}

/// The search with its position-independent state.
pub(super) struct Search<'p, 'a> {
    pub(super) problem: &'p mut Problem<'a>,
    pub(super) state: State,
    /// The alternative chosen for each request of each claim, once a solution is found.
    pub(super) steps: u64,
    limit: u64,
    /// Devices that may still be looked at. Most steps look at few; where devices abound and none can be taken, looking is the work.
    looks: u64,
    observer: &'p dyn Observer,
    /// Obstacle at the deepest point, if requested.
    pub(super) deepest: Option<Deepest>,
    /// Result for each tried device, with the number of devices picked before.
    #[cfg(test)]
    pub(super) met: Vec<(usize, Pick, Result<(), Unfit>)>,
}

/// Devices that may be looked at for each step.
const LOOKS_PER_STEP: u64 = 16;

impl<'p, 'a> Search<'p, 'a> {
    pub(super) fn new(problem: &'p mut Problem<'a>, limit: u64, observer: &'p dyn Observer) -> Self {
        let state = State::new(problem);
        Self {
            problem,
            state,
            steps: 0,
            limit,
            looks: if limit > PLAIN_STEPS {
                limit.saturating_mul(LOOKS_PER_STEP)
            } else {
                // Another search takes over, which knows what of the devices can be taken.
                u64::MAX
            },
            observer,
            deepest: None,
            #[cfg(test)]
            met: Vec::new(),
        }
    }

    pub(super) fn run(&mut self) -> Flow {
        self.request(ClaimIx(0), 0)
    }

    fn step(&mut self) -> bool {
        self.steps += 1;
        self.problem.work.take(1)
            && self.steps <= self.limit
            && (!self.steps.is_multiple_of(1024) || !self.observer.cancelled())
    }

    /// Serves the request `request` of claim `claim` and all after it.
    fn request(&mut self, claim: ClaimIx, request: usize) -> Flow {
        if !self.step() {
            return Flow::GaveUp;
        }
        let Some(demand) = self.problem.demand.claims.get(claim) else {
            return Flow::Done;
        };
        if request >= demand.requests.len() {
            return self.request(ClaimIx(claim.0 + 1), 0).of_next_claim();
        }
        let request = &demand.requests[request];
        if !request.prioritized {
            return match request.alternatives().next() {
                Some(only) => self.pick(only, 0, DeviceIx(0)),
                None => Flow::Fail,
            };
        }
        Flow::of_alternatives(request.alternatives().map(|alternative| {
            if self.step() {
                self.pick(alternative, 0, DeviceIx(0))
            } else {
                Flow::GaveUp
            }
        }))
    }

    /// Finds the device `index` of the alternative, from the device `start` on, and serves all that follows.
    fn pick(&mut self, alternative: AlternativeIx, index: i64, start: DeviceIx) -> Flow {
        let demanded = self.problem.alternative(alternative);
        let place = &self.problem.alternatives[alternative];
        let (claim, request) = (place.claim, place.request as usize);
        let count = self.problem.counts[alternative];
        if demanded.amount == Amount::All && count == 0 {
            return Flow::Fail;
        }
        if index >= count {
            return self.request(claim, request + 1);
        }
        if self.state.exceeds(claim, count - index) {
            return Flow::Exceeded;
        }
        if demanded.amount == Amount::All {
            let device = self.problem.all[alternative][index as usize];
            return self.try_device(alternative, index, device);
        }
        let rest = self.problem.devices.len().saturating_sub(usize::from(start));
        for device in stretch(start, rest) {
            if device >= self.problem.invalid_at && !self.problem.forgives {
                break;
            }
            let left = self.looks.checked_sub(1);
            let Some(looks) = left.filter(|_| self.problem.work.take(1)) else {
                self.steps = self.steps.max(self.limit.saturating_add(1));
                return Flow::GaveUp;
            };
            self.looks = looks;
            match self.try_device(alternative, index, device) {
                Flow::Fail => {}
                flow => return flow,
            }
        }
        if let Some(error) = &self.problem.invalid_pool
            && !self.problem.forgives
        {
            self.state.error = error.clone().into();
            return Flow::Error;
        }
        Flow::Fail
    }

    #[expect(
        clippy::inline_always,
        reason = "called for each device that a search looks at"
    )]
    #[inline(always)]
    fn try_device(&mut self, alternative: AlternativeIx, index: i64, device: DeviceIx) -> Flow {
        #[cfg(test)]
        let taken = self.state.picks.iter().map(Vec::len).sum();
        let placed = self.state.place(self.problem, alternative, device);
        #[cfg(test)]
        self.met.push((
            taken,
            Pick { alternative, device },
            placed.as_ref().map(|_| ()).map_err(Clone::clone),
        ));
        let undo = match placed {
            Ok(undo) => undo,
            Err(unfit) => {
                if let Some(deepest) = &mut self.deepest {
                    deepest.note(self.problem, &self.state, alternative, device, &unfit);
                }
                return self.state.flow(self.problem, alternative, device, unfit);
            }
        };
        if !self.step() {
            return Flow::GaveUp;
        }
        let (next, start) = self.problem.after(alternative, device);
        match self.pick(next, index + 1, start) {
            Flow::Done => Flow::Done,
            flow => {
                self.state
                    .remove(self.problem, Pick { alternative, device }, &undo);
                flow
            }
        }
    }
}
