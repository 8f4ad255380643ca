//! What makes devices of a problem interchangeable.
//!
//! Two devices that answer every request and constraint alike can be swapped in any solution. Devices that draw from the same
//! counters, or have a value in common that a distinct constraint forbids to share, are tied together; such a *component* can be
//! swapped as a whole with another one of the same build, and devices within it if they are twins. Counters that most devices of
//! a pool draw from tie nothing together: swapping leaves them as they are, as long as the devices draw alike.

use std::collections::HashMap;

use super::candidates::{Problem, Unfit};
use super::constraint::Rule;
use super::request::{Alternative, Amount};
use crate::devices::{Compatibility, PoolDevice, RuledOut, units};
use crate::model::Device;

/// Devices that can only be swapped together.
#[derive(Debug, Default)]
pub(super) struct Component {
    /// Its devices in the order of the search.
    pub(super) devices: Vec<u32>,
    /// For each device its class of twins, numbered within the component.
    pub(super) twins: Vec<u32>,
    /// Components of the same kind are built alike.
    pub(super) kind: u32,
    /// Counters of the view of its devices that tie it together, in the order of their first use.
    pub(super) counters: Vec<(u32, u32)>,
    /// Counter sets with groups, likewise.
    pub(super) sets: Vec<(u32, u32)>,
    /// Elements under distinct constraints: claim, constraint and element.
    pub(super) elements: Vec<(u32, u32, u32)>,
}

/// A problem seen as interchangeable parts.
#[derive(Debug)]
pub(super) struct Structure {
    /// The devices that each alternative may take, in order; with those that end the attempt with an error.
    pub(super) candidates: Vec<Vec<u32>>,
    /// By alternative and device.
    member: Vec<bool>,
    devices: usize,
    /// Position of each alternative's request among all requests of all claims.
    pub(super) slot: Vec<u32>,
    /// The last position at which a device is a candidate.
    last_slot: Vec<u32>,
    /// By position: an error may be met there or later.
    pub(super) hot_from: Vec<bool>,
    pub(super) components: Vec<Component>,
    pub(super) component_of: Vec<u32>,
    /// Counters outside of components that some candidate draws from: view and counter.
    pub(super) common_counters: Vec<(u32, u32)>,
    pub(super) common_sets: Vec<(u32, u32)>,
    /// By claim and constraint: the elements are parts of components.
    pub(super) tied: Vec<Vec<bool>>,
    /// Some request has admin access, so it matters who holds a device.
    pub(super) admin_access: bool,
    /// A claim may get more devices than its result can hold, depending on the alternatives taken.
    pub(super) exceedable: bool,
}

const NO_COMPONENT: u32 = u32::MAX;

impl Structure {
    pub(super) fn new(problem: &mut Problem<'_>) -> Self {
        let devices = problem.devices.len();
        let alternatives = problem.alternatives.len();
        let mut structure = Self {
            candidates: vec![Vec::new(); alternatives],
            member: vec![false; alternatives * devices],
            devices,
            slot: Vec::with_capacity(alternatives),
            last_slot: vec![0; devices],
            hot_from: Vec::new(),
            components: Vec::new(),
            component_of: vec![NO_COMPONENT; devices],
            common_counters: Vec::new(),
            common_sets: Vec::new(),
            tied: Vec::new(),
            admin_access: false,
            exceedable: false,
        };
        let mut answers: Vec<Vec<i128>> = vec![Vec::new(); devices];
        let hot = structure.find_candidates(problem, &mut answers);
        structure.find_slots(problem, &hot);
        Builder::new(problem, &mut structure, answers).build();
        structure
    }

    /// Whether the device is a candidate of the alternative.
    pub(super) fn is_candidate(&self, alternative: u32, device: u32) -> bool {
        self.member[alternative as usize * self.devices + device as usize]
    }

    /// Whether a request after that position may take the device.
    pub(super) fn is_needed_after(&self, slot: u32, device: u32) -> bool {
        self.last_slot[device as usize] > slot
    }

    /// Finds the candidates of all alternatives and says which alternatives may meet an error. Each device gets its answers.
    fn find_candidates(&mut self, problem: &mut Problem<'_>, answers: &mut [Vec<i128>]) -> Vec<bool> {
        let mut hot = vec![false; self.candidates.len()];
        for number in 0..self.candidates.len() as u32 {
            // As with the fields of a device: what the search asks of an alternative is in the answers of the devices.
            let Alternative {
                // Its place, its name, and what verdicts are made from.
                claim: _,
                request: _,
                subrequest: _,
                name: _,
                class: _,
                selectors: _,
                // The attempt ends before the search.
                error: _,
                amount,
                admin_access,
                constraints,
            } = problem.alternative(number);
            self.admin_access |= admin_access;
            let all = *amount == Amount::All;
            if all {
                // A constraint that forbids one of them ends the attempt.
                hot[number as usize] = constraints.iter().any(Option::is_some);
            }
            for device in 0..self.devices as u32 {
                let answer = if !admin_access && problem.pool_device(device).dedicated && !all {
                    0
                } else {
                    match problem.verdict(number, device) {
                        Ok(()) => 1,
                        Err(Unfit::RuledOut(RuledOut::CapacityExhausted)) if all => 3,
                        Err(Unfit::RuledOut(why)) if all && why.is_selected() => 2,
                        Err(Unfit::RuledOut(_)) => 0,
                        Err(Unfit::Trouble(_)) => 4,
                    }
                };
                answers[device as usize].push(answer);
                if answer == 0 {
                    continue;
                }
                if all && hot[number as usize] {
                    // Mode All stops at the first device that it cannot have, so which one that is decides whether it gets as far
                    // as the one that a constraint forbids.
                    answers[device as usize].push(i128::from(device));
                }
                hot[number as usize] |= answer == 4;
                self.candidates[number as usize].push(device);
                self.member[number as usize * self.devices + device as usize] = true;
                if problem.pool_device(device).multiple {
                    answers[device as usize].extend(problem.share_units(number, device));
                }
                for source in constraints.iter().flatten() {
                    hot[number as usize] |= problem.attribute(*source, device).is_err();
                }
            }
        }
        hot
    }

    fn find_slots(&mut self, problem: &Problem<'_>, hot: &[bool]) {
        let mut slot = 0;
        let mut number = 0;
        for (claim, demand) in problem.demand.claims.iter().enumerate() {
            let mut most: i64 = 0;
            for request in 0..demand.requests.len() {
                let (first, count) = problem.alternatives_of(claim, request);
                let mut most_here = 0;
                self.hot_from.push(false);
                for alternative in first..first + count {
                    self.slot.push(slot);
                    self.hot_from[slot as usize] |= hot[number];
                    most_here = most_here.max(problem.counts[alternative as usize]);
                    for device in &self.candidates[number] {
                        self.last_slot[*device as usize] = slot;
                    }
                    number += 1;
                }
                most = most.saturating_add(most_here);
                slot += 1;
            }
            self.exceedable |= most > super::candidates::MAX_RESULTS;
        }
        for slot in (1..self.hot_from.len()).rev() {
            self.hot_from[slot - 1] |= self.hot_from[slot];
        }
    }

    /// Whether an error may be met anywhere.
    pub(super) fn is_hot(&self) -> bool {
        self.hot_from.first().is_some_and(|hot| *hot)
    }
}

/// What ties devices together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Tie {
    Counter {
        view: u32,
        counter: u32,
    },
    Set {
        view: u32,
        set: u32,
    },
    Element {
        claim: u32,
        constraint: u32,
        element: u32,
    },
}

struct Builder<'s, 'p, 'a> {
    problem: &'p mut Problem<'a>,
    structure: &'s mut Structure,
    /// What is fixed about each device, but for its ties.
    answers: Vec<Vec<i128>>,
    ties: Vec<Vec<(Tie, Vec<i128>)>>,
    parents: Vec<u32>,
}

impl<'s, 'p, 'a> Builder<'s, 'p, 'a> {
    fn new(problem: &'p mut Problem<'a>, structure: &'s mut Structure, answers: Vec<Vec<i128>>) -> Self {
        let devices = structure.devices;
        Self {
            problem,
            structure,
            answers,
            ties: vec![Vec::new(); devices],
            parents: (0..devices as u32).collect(),
        }
    }

    fn build(mut self) {
        let used: Vec<u32> = (0..self.structure.devices as u32)
            .filter(|device| self.is_used(*device))
            .collect();
        for device in &used {
            self.describe(*device);
        }
        self.constraints(&used);
        self.counters(&used);
        let mut first_of_tie: HashMap<Tie, u32> = HashMap::new();
        for device in &used {
            let ties: Vec<Tie> = self.ties[*device as usize].iter().map(|(tie, _)| *tie).collect();
            for tie in ties {
                let other = *first_of_tie.entry(tie).or_insert(*device);
                let (a, b) = (self.root(*device), self.root(other));
                self.parents[a.max(b) as usize] = a.min(b);
            }
        }
        self.components(&used);
    }

    fn is_used(&self, device: u32) -> bool {
        (0..self.structure.candidates.len() as u32).any(|number| self.structure.is_candidate(number, device))
    }

    fn root(&mut self, device: u32) -> u32 {
        let mut root = device;
        while self.parents[root as usize] != root {
            root = self.parents[root as usize];
        }
        self.parents[device as usize] = root;
        root
    }

    /// Adds what the search looks at of a device beside verdicts, attributes and counters.
    ///
    /// Devices with equal keys are swapped for one another, so whatever the search may ask of a device has to be in its key. Each field
    /// is named here, with the place that accounts for it: a new one does not compile before somebody has thought of it.
    fn describe(&mut self, device: u32) {
        let PoolDevice {
            // Where it is. The search's order decides between equals.
            slice: _,
            index: _,
            dedicated,
            shared,
            multiple,
            consumed,
        } = self.problem.pool_device(device);
        let Device {
            // Only results have names.
            name: _,
            // `constraints` for those that a constraint compares; selectors read the others, and verdicts are part of the key.
            attributes: _,
            capacity,
            // `counters`.
            consumes_counters: _,
            // Verdicts: `Problem::judge` compares them with the node and the request.
            node_name: _,
            node_selector: _,
            all_nodes: _,
            taints: _,
            binding_conditions: _,
            // Copied into results only.
            binds_to_node: _,
            binding_failure_conditions: _,
            node_allocatable_resources: _,
            // `multiple`, where the gate is on.
            allow_multiple_allocations: _,
        } = self.problem.device(device);
        let answers = &mut self.answers[device as usize];
        answers.push(i128::from(*dedicated) | i128::from(*shared) << 1 | i128::from(*multiple) << 2);
        if *multiple {
            for (place, (_, capacity)) in capacity.iter().enumerate() {
                let taken = consumed.get(place).copied().unwrap_or(0);
                answers.push(units(&capacity.value).saturating_sub(taken));
            }
        }
    }

    /// Adds the values of attributes. Those that only distinct constraints ask for tie devices instead.
    fn constraints(&mut self, used: &[u32]) {
        let sources = self.problem.demand.sources.len();
        let mut matched = vec![false; sources];
        let mut distinct: Vec<(u32, u32, u32)> = Vec::new();
        for number in 0..self.structure.candidates.len() as u32 {
            let place = &self.problem.alternatives[number as usize];
            let demand = &self.problem.demand.claims[place.claim as usize];
            for (constraint, source) in self.problem.alternative(number).constraints.iter().enumerate() {
                let Some(source) = source else { continue };
                match demand.constraints[constraint].rule {
                    Rule::Match => matched[*source as usize] = true,
                    Rule::Distinct => distinct.push((place.claim, constraint as u32, *source)),
                }
            }
        }
        distinct.sort_unstable();
        distinct.dedup();
        // A constraint with several sources (a computed attribute in some requests) is left untied.
        let tied = |(claim, constraint, source): (u32, u32, u32)| {
            !matched[source as usize]
                && distinct
                    .iter()
                    .filter(|(other_claim, other, _)| (*other_claim, *other) == (claim, constraint))
                    .count()
                    == 1
        };
        self.structure.tied = self
            .problem
            .demand
            .claims
            .iter()
            .map(|claim| vec![false; claim.constraints.len()])
            .collect();
        let mut shown = matched.clone();
        for entry in &distinct {
            let is_tied = tied(*entry);
            self.structure.tied[entry.0 as usize][entry.1 as usize] = is_tied;
            shown[entry.2 as usize] |= !is_tied;
        }
        for device in used {
            for source in 0..sources as u32 {
                let value = self.problem.attribute(source, *device);
                self.answers[*device as usize].push(match value {
                    Err(_) => -2,
                    Ok(None) => -1,
                    Ok(Some(value)) if shown[source as usize] => i128::from(value),
                    Ok(Some(value)) => -3 - i128::from(self.problem.values.elements(value).is_empty()),
                });
            }
            for (claim, constraint, source) in &distinct {
                if !self.structure.tied[*claim as usize][*constraint as usize] {
                    continue;
                }
                if let Ok(Some(value)) = self.problem.attribute(*source, *device) {
                    for element in self.problem.values.elements(value) {
                        let tie = Tie::Element {
                            claim: *claim,
                            constraint: *constraint,
                            element: *element,
                        };
                        self.ties[*device as usize].push((tie, Vec::new()));
                    }
                }
            }
        }
    }

    /// Adds what devices draw from counters: as ties, but for counters that most devices of the pool draw from.
    fn counters(&mut self, used: &[u32]) {
        let mut users: HashMap<(u32, bool, u32), usize> = HashMap::new();
        let mut consumers: HashMap<u32, usize> = HashMap::new();
        for device in used {
            let place = self.problem.devices[*device as usize];
            let Some(usage) = self.problem.usage(*device) else {
                continue;
            };
            *consumers.entry(place.view).or_default() += 1;
            for (counter, _) in usage.amounts {
                *users.entry((place.view, false, *counter)).or_default() += 1;
            }
            for (set, _) in usage.groups {
                *users.entry((place.view, true, *set)).or_default() += 1;
            }
        }
        let mut common_counters = Vec::new();
        let mut common_sets = Vec::new();
        // Devices of a view follow one another.
        let mut last_view = None;
        for device in used {
            let place = self.problem.devices[*device as usize];
            let counters = &self.problem.views[place.view as usize].counters;
            let Some(usage) = counters.usage(place.device) else {
                continue;
            };
            self.answers[*device as usize].push(-10);
            let concern_all = counters.concern_all();
            let is_common = |set: bool, number: u32| {
                concern_all
                    || users.get(&(place.view, set, number)).map_or(0, |users| users * 2)
                        > consumers.get(&place.view).copied().unwrap_or(0)
            };
            if concern_all {
                self.answers[*device as usize].push(i128::from(place.view));
                if last_view != Some(place.view) {
                    last_view = Some(place.view);
                    common_counters
                        .extend((0..counters.available.len() as u32).map(|counter| (place.view, counter)));
                }
            }
            for (counter, amount) in usage.amounts {
                if is_common(false, *counter) {
                    self.answers[*device as usize].extend([
                        i128::from(place.view),
                        i128::from(*counter),
                        *amount,
                    ]);
                    common_counters.push((place.view, *counter));
                } else {
                    let tie = Tie::Counter {
                        view: place.view,
                        counter: *counter,
                    };
                    self.ties[*device as usize].push((tie, vec![*amount]));
                }
            }
            for (set, joined) in usage.groups {
                let mut joined: Vec<i128> = joined.iter().map(|group| i128::from(*group)).collect();
                // Groups are numbered within their pool.
                joined.push(i128::from(place.view));
                if is_common(true, *set) {
                    self.answers[*device as usize].extend([-11, i128::from(*set)]);
                    self.answers[*device as usize].extend(joined);
                    common_sets.push((place.view, *set));
                } else {
                    let tie = Tie::Set {
                        view: place.view,
                        set: *set,
                    };
                    self.ties[*device as usize].push((tie, joined));
                }
            }
        }
        for list in [&mut common_counters, &mut common_sets] {
            list.sort_unstable();
            list.dedup();
        }
        self.structure.common_counters = common_counters;
        self.structure.common_sets = common_sets;
    }

    fn components(&mut self, used: &[u32]) {
        let mut of_root: HashMap<u32, u32> = HashMap::new();
        let mut ties_of: Vec<Vec<Tie>> = Vec::new();
        let mut descriptions: Vec<Vec<i128>> = Vec::new();
        let mut parts: Vec<HashMap<Vec<i128>, u32>> = Vec::new();
        for device in used {
            let root = self.root(*device);
            let next = self.structure.components.len() as u32;
            let number = *of_root.entry(root).or_insert(next);
            if number == next {
                self.structure.components.push(Component::default());
                ties_of.push(Vec::new());
                descriptions.push(Vec::new());
                parts.push(HashMap::new());
            }
            self.structure.component_of[*device as usize] = number;
            let ties = &mut ties_of[number as usize];
            let mut part = std::mem::take(&mut self.answers[*device as usize]);
            part.push(i128::MIN);
            for (tie, details) in &self.ties[*device as usize] {
                let local = ties.iter().position(|known| known == tie).unwrap_or_else(|| {
                    ties.push(*tie);
                    ties.len() - 1
                });
                part.push(local as i128);
                part.push(match tie {
                    Tie::Counter { .. } => -1,
                    Tie::Set { .. } => -2,
                    // The same element may be forbidden by one constraint and not by another.
                    Tie::Element {
                        claim, constraint, ..
                    } => i128::from(*claim) << 32 | i128::from(*constraint),
                });
                part.extend(details);
            }
            part.push(i128::MAX);
            let known = &mut parts[number as usize];
            let next = known.len() as u32;
            let component = &mut self.structure.components[number as usize];
            component.devices.push(*device);
            component.twins.push(*known.entry(part.clone()).or_insert(next));
            descriptions[number as usize].extend(part);
        }
        let mut kinds: HashMap<Vec<i128>, u32> = HashMap::new();
        for ((component, ties), mut description) in self
            .structure
            .components
            .iter_mut()
            .zip(ties_of)
            .zip(descriptions)
        {
            for tie in ties {
                match tie {
                    Tie::Counter { view, counter } => {
                        component.counters.push((view, counter));
                        description
                            .push(self.problem.views[view as usize].counters.available[counter as usize]);
                    }
                    Tie::Set { view, set } => {
                        component.sets.push((view, set));
                        let base = &self.problem.views[view as usize].counters.groups[set as usize];
                        description.extend(compatibility_code(base));
                    }
                    Tie::Element {
                        claim,
                        constraint,
                        element,
                    } => component.elements.push((claim, constraint, element)),
                }
            }
            let next = kinds.len() as u32;
            component.kind = *kinds.entry(description).or_insert(next);
        }
    }
}

/// A compatibility as numbers, for keys.
pub(super) fn compatibility_code(compatibility: &Compatibility) -> Vec<i128> {
    use crate::devices::Compatibility;
    match compatibility {
        Compatibility::Free => vec![-1],
        Compatibility::Ungrouped => vec![-2],
        Compatibility::Groups(groups) => std::iter::once(-3)
            .chain(groups.iter().map(|group| i128::from(*group)))
            .chain([-4])
            .collect(),
    }
}
