//! The search for problems in which upstream backtracks a lot.
//!
//! It walks like `search` and changes nothing about the order, so the first solution and the first error are
//! upstream's. It leaves out what is known to hold neither. **Symmetry**: where a device failed, one that is
//! interchangeable with it at this point fails too, as swapping the two in a solution (or in the way to an error) would
//! give one that was there before. **Dead states**: a point of the search that looks like an earlier one, but for
//! interchangeable devices, ends like it. Both hold for errors as well as for solutions, with one exception: "too many
//! results" ends a part of upstream's search early, and what it thereby skips depends on the order. A problem in which
//! that and an error are possible is left to the plain search. **Bounds** ([`super::bounds`]) prove that there is no
//! solution ahead; they do not apply to errors, and are used only if no error is possible.

use std::collections::{HashMap, HashSet};

use typed_index_collections::TiVec;

use super::Observer;
use super::bounds::excludes;
use super::candidates::Problem;
use super::constraint::Rule;
use super::index::{AlternativeIx, ClaimIx, ComponentIx, DeviceIx};
use super::request::Amount;
use super::search::{Flow, Pick, State};
use super::structure::{Structure, compatibility_code};

/// Dead states take no more memory than this many words; further ones are not kept.
const MAX_WORDS: usize = 8 << 20;

/// Evaluations allowed per step.
pub(super) const LOOKS_PER_SURVEY: u64 = 64;

/// Evaluations always allowed to a search: a few steps of a problem with many parts need more than their share.
const LEAST_LOOKS: u64 = 4 << 20;

/// Steps after which bounds are asked for every device rather than for every request.
const BOUND_ALWAYS_AFTER: u64 = 1_000;

pub(super) struct Pruned<'p, 'a> {
    problem: &'p mut Problem<'a>,
    structure: Structure,
    pub(super) state: State,
    dead: HashSet<Box<[u64]>>,
    words: usize,
    numbers: Numbers,
    pub(super) steps: u64,
    limit: u64,
    /// Devices, counters and what else surveys and bounds compare that may still be looked at. Where they abound, that is more work than
    /// a step.
    looks: u64,
    observer: &'p dyn Observer,
}

/// Numbers of what keys are made of: amounts, shares of a device, states of a component.
#[derive(Default)]
struct Numbers(HashMap<Box<[i128]>, u32>);

impl Numbers {
    fn of(&mut self, part: &[i128]) -> u32 {
        if let Some(number) = self.0.get(part) {
            return *number;
        }
        let next = self.0.len() as u32;
        self.0.insert(part.into(), next);
        next
    }
}

/// The devices at one point of the search, seen without their identity.
struct Survey {
    key: Box<[u64]>,
    /// State of each component.
    states: TiVec<ComponentIx, u32>,
}

/// Ends what makes up one part of a key.
const END: u64 = u64::MAX;

impl<'p, 'a> Pruned<'p, 'a> {
    /// The search, unless the problem is one of those that have to be searched as upstream does.
    pub(super) fn new(problem: &'p mut Problem<'a>, limit: u64, observer: &'p dyn Observer) -> Option<Self> {
        if problem.needs_plain_search() {
            return None;
        }
        let structure = Structure::new(problem);
        // What "too many results" skips depends on the order of the devices, so with an error possible none may be swapped.
        if structure.is_hot() && structure.exceedable {
            return None;
        }
        let state = State::new(problem);
        Some(Self {
            problem,
            structure,
            state,
            dead: HashSet::new(),
            words: 0,
            numbers: Numbers::default(),
            steps: 0,
            limit,
            looks: limit.saturating_mul(LOOKS_PER_SURVEY).max(LEAST_LOOKS),
            observer,
        })
    }

    pub(super) fn run(&mut self) -> Flow {
        self.request(ClaimIx(0), 0)
    }

    fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps <= self.limit && (!self.steps.is_multiple_of(256) || !self.observer.cancelled())
    }

    /// Looks at so much; whether it may.
    fn look(&mut self, looks: u64) -> bool {
        let left = self.looks.checked_sub(looks);
        self.looks = left.unwrap_or(0);
        self.problem.work.take(looks) && left.is_some()
    }

    fn request(&mut self, claim: ClaimIx, request: usize) -> Flow {
        let Some(demand) = self.problem.demand.claims.get(claim) else {
            return Flow::Done;
        };
        if request >= demand.requests.len() {
            return self.request(ClaimIx(claim.0 + 1), 0).of_next_claim();
        }
        let alternatives = demand.requests[request].alternatives();
        Flow::of_alternatives(alternatives.map(|alternative| self.pick(alternative, 0, DeviceIx(0))))
    }

    fn pick(&mut self, alternative: AlternativeIx, index: i64, start: DeviceIx) -> Flow {
        if !self.step() {
            return Flow::GaveUp;
        }
        let demanded = self.problem.alternative(alternative);
        let place = &self.problem.alternatives[alternative];
        let (claim, request) = (place.claim, place.request as usize);
        let count = self.problem.counts[alternative];
        let all = demanded.amount == Amount::All;
        if all && count == 0 {
            return Flow::Fail;
        }
        if index >= count {
            return self.request(claim, request + 1);
        }
        if self.state.exceeds(claim, count - index) {
            return Flow::Exceeded;
        }
        let slot = self.structure.slot[alternative];
        // Nothing ahead may be an error, or it would come before the end of this part. A bound then proves that each way from here
        // fails, as upstream finds out by trying all of them.
        //
        // Bounds cost more than a step, so easy problems are spared most of them.
        let ask = index == 0 || self.steps > BOUND_ALWAYS_AFTER;
        if ask && !self.structure.hot_from[slot] {
            let mut looks = 0;
            let is_excluded = excludes(
                self.problem,
                &self.structure,
                &self.state,
                alternative,
                index,
                start,
                &mut looks,
            );
            if !self.look(looks) {
                return Flow::GaveUp;
            }
            if is_excluded {
                return Flow::Fail;
            }
        }
        let structure = &self.structure;
        let parts = structure.components.len()
            + structure.common_counters.len()
            + structure.common_sets.len()
            + self.problem.demand.claims[claim].constraints.len();
        if !self.look(parts as u64) {
            return Flow::GaveUp;
        }
        let survey = self.survey(alternative, index, start);
        // An earlier point of the search with the same key has failed, without an error, or the search would have ended. Whatever is
        // possible from here was possible there with interchangeable devices.
        if self.dead.contains(&survey.key) {
            return Flow::Fail;
        }
        let flow = if all {
            let device = self.problem.all[alternative][index as usize];
            self.try_device(alternative, index, device)
        } else {
            self.scan(alternative, index, start, &survey)
        };
        if flow == Flow::Fail && self.words + survey.key.len() <= MAX_WORDS {
            self.words += survey.key.len();
            self.dead.insert(survey.key);
        }
        flow
    }

    fn scan(&mut self, alternative: AlternativeIx, index: i64, start: DeviceIx, survey: &Survey) -> Flow {
        let mut tried: HashSet<(u32, u32, u32, u64)> = HashSet::new();
        let first = self.structure.candidates[alternative].partition_point(|device| *device < start);
        for at in first..self.structure.candidates[alternative].len() {
            let device = self.structure.candidates[alternative][at];
            if !self.look(1) {
                return Flow::GaveUp;
            }
            if self.state.in_use(self.problem, alternative, device) {
                continue;
            }
            let number = self.structure.component_of[device];
            let code = self.code(alternative, device, start);
            let component = &self.structure.components[number];
            let at = component
                .devices
                .binary_search_by_key(&device, |(device, _)| *device);
            let twin = at.map_or(0, |at| component.devices[at].1);
            // A device that is interchangeable with this one has failed at this very point. It came first in upstream's order, so the
            // first solution never has this one in its place, and an error that is met with this one is met with that one before.
            if !tried.insert((component.kind, survey.states[number], twin, code)) {
                continue;
            }
            if !self.step() {
                return Flow::GaveUp;
            }
            match self.try_device(alternative, index, device) {
                Flow::Fail => {}
                flow => return flow,
            }
        }
        Flow::Fail
    }

    fn try_device(&mut self, alternative: AlternativeIx, index: i64, device: DeviceIx) -> Flow {
        let undo = match self.state.place(self.problem, alternative, device) {
            Ok(undo) => undo,
            Err(unfit) => return self.state.flow(self.problem, alternative, device, unfit),
        };
        match self.pick(alternative, index + 1, DeviceIx(device.0 + 1)) {
            Flow::Done => Flow::Done,
            flow => {
                self.state
                    .remove(self.problem, Pick { alternative, device }, &undo);
                flow
            }
        }
    }

    /// Returns what matters of a device from here on: zero if nothing does.
    fn code(&mut self, alternative: AlternativeIx, device: DeviceIx, start: DeviceIx) -> u64 {
        let structure = &self.structure;
        let ahead = device >= start && structure.is_candidate(alternative, device);
        // Neither the rest of this request nor a later one can take it, so what becomes of it changes nothing ahead.
        if !ahead && !structure.is_needed_after(structure.slot[alternative], device) {
            return 0;
        }
        let held = self.state.holders[device] > 0;
        // Only requests with admin access look at a device that is held.
        if held && !structure.admin_access {
            return 0;
        }
        let mut code = 1 | u64::from(ahead) << 1 | u64::from(held) << 2;
        if held {
            let claim = self.problem.alternatives[alternative].claim;
            let by_claim = self.state.picks[claim].iter().any(|pick| pick.device == device);
            code |= u64::from(by_claim) << 3;
        }
        if let Some(shares) = self.state.shares_of(device) {
            code |= (u64::from(self.numbers.of(shares)) + 1) << 4;
        }
        code
    }

    fn survey(&mut self, alternative: AlternativeIx, index: i64, start: DeviceIx) -> Survey {
        let place = &self.problem.alternatives[alternative];
        let claim = place.claim;
        let results = if self.structure.exceedable {
            self.state.picks[claim].len() as u64
        } else {
            0
        };
        let mut key = vec![u64::from(alternative.0), index as u64, results];
        self.constraints_key(claim, &mut key);
        for (view, counter) in &self.structure.common_counters {
            let taken = self.state.drawn[*view].amounts[*counter];
            key.push(self.numbers.of(&[taken]).into());
        }
        for (view, set) in &self.structure.common_sets {
            if let Some(groups) = &self.state.groups_of(*view)[*set] {
                for part in compatibility_code(groups) {
                    key.push(self.numbers.of(&[part]).into());
                }
            }
            key.push(END);
        }
        let mut states = TiVec::with_capacity(self.structure.components.len());
        let mut seen = Vec::with_capacity(self.structure.components.len());
        for number in self.structure.components.keys() {
            let state = self.component_state(number, alternative, start, claim);
            states.push(state);
            if state != 0 {
                seen.push(u64::from(self.structure.components[number].kind) << 32 | u64::from(state));
            }
        }
        seen.sort_unstable();
        let mut rest = seen.as_slice();
        while let Some(first) = rest.first() {
            let count = rest.iter().take_while(|state| *state == first).count();
            key.extend([*first, count as u64]);
            rest = &rest[count..];
        }
        Survey {
            key: key.into(),
            states,
        }
    }

    fn constraints_key(&self, claim: ClaimIx, key: &mut Vec<u64>) {
        for (place, constraint) in self.problem.demand.claims[claim].constraints.iter_enumerated() {
            let values = &self.state.constraints[claim][place].values;
            match constraint.rule {
                // Only what is common to all devices so far matters.
                Rule::Match => key.push(values.last().map_or(END, |value| u64::from(value.0))),
                // Whether any device is there, and what the last ones have.
                Rule::Present | Rule::DistinctFromLast => key.push(u64::from(values.is_empty())),
                Rule::Distinct => {
                    key.push(u64::from(!values.is_empty()));
                    if !self.structure.tied[claim][place] {
                        let mut elements: Vec<u64> = values
                            .iter()
                            .flat_map(|value| self.problem.values.elements(*value))
                            .map(|element| u64::from(element.0))
                            .collect();
                        elements.sort_unstable();
                        key.extend(elements);
                        key.push(END);
                    }
                }
            }
        }
    }

    /// The number of the state of a component; zero if none of its devices matters any more.
    fn component_state(
        &mut self,
        number: ComponentIx,
        alternative: AlternativeIx,
        start: DeviceIx,
        claim: ClaimIx,
    ) -> u32 {
        let component = &self.structure.components[number];
        let (devices, resources) = (
            component.devices.len(),
            component.counters.len() + component.sets.len() + component.elements.len(),
        );
        if devices == 1 && resources == 0 {
            let (device, _) = component.devices[0];
            let code = self.code(alternative, device, start);
            // Few shares make small codes; others get a number like any state.
            if code < 1 << 16 {
                return code as u32;
            }
        }
        let mut codes: Vec<(u32, u64)> = Vec::with_capacity(devices);
        let mut relevant: Vec<DeviceIx> = Vec::with_capacity(devices);
        for at in 0..devices {
            let (device, twin) = self.structure.components[number].devices[at];
            let code = self.code(alternative, device, start);
            if code != 0 {
                codes.push((twin, code));
                relevant.push(device);
            }
        }
        if codes.is_empty() {
            return 0;
        }
        codes.sort_unstable();
        let mut state: Vec<i128> = Vec::with_capacity(2 * codes.len() + resources);
        for (twin, code) in codes {
            state.extend([i128::from(twin), i128::from(code)]);
        }
        state.push(-1);
        let component = &self.structure.components[number];
        for (view, counter) in &component.counters {
            let draws = |device: &DeviceIx| {
                let usage = self.problem.usage(*device);
                self.problem.devices[*device].view == *view
                    && usage.is_some_and(|usage| usage.of(*counter).is_some())
            };
            let matters = relevant.iter().any(draws);
            state.push(if matters {
                self.state.drawn[*view].amounts[*counter]
            } else {
                -1
            });
        }
        for (view, set) in &component.sets {
            match &self.state.groups_of(*view)[*set] {
                Some(groups) => state.extend(compatibility_code(groups)),
                None => state.push(-9),
            }
        }
        for (of_claim, constraint, element) in &component.elements {
            let used = *of_claim == claim
                && self.state.constraints[claim][*constraint]
                    .values
                    .iter()
                    .any(|value| self.problem.values.elements(*value).contains(element));
            state.push(i128::from(used));
        }
        // Below are the codes of single devices.
        (1 << 16) + self.numbers.of(&state)
    }
}
