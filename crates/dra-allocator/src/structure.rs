//! Interchangeability of the devices of a problem.
//!
//! Two devices that answer every request and constraint alike can be swapped in any solution. Devices that draw from the same
//! counters, or have a value in common that a distinct constraint forbids to share, are tied together; such a *component* can be
//! swapped as a whole with another one of the same build, and devices within it if they are twins. Counters that most devices of
//! a pool draw from tie nothing together: swapping leaves them as they are, as long as the devices draw alike.

use std::collections::HashMap;

use typed_index_collections::{TiSlice, TiVec};

use super::candidates::{Problem, Unfit};
use super::constraint::Rule;
use super::index::{
    AlternativeIx, ClaimIx, ComponentIx, ConstraintIx, DeviceIx, ElementIx, SlotIx, SourceIx, ViewIx,
};
use super::request::{Alternative, Amount};
use crate::devices::{Compatibility, CounterIx, PoolDevice, RuledOut, SetIx, units};
use dra_model::Device;

/// Devices that can only be swapped together.
#[derive(Debug, Default)]
pub(super) struct Component {
    /// Its devices in the order of the search, each with its class of twins, numbered within the component.
    pub(super) devices: Vec<(DeviceIx, u32)>,
    /// Components of the same kind are built alike.
    pub(super) kind: u32,
    /// Counters of the view of its devices that tie it together, in the order of their first use.
    pub(super) counters: Vec<(ViewIx, CounterIx)>,
    /// Counter sets with groups, likewise.
    pub(super) sets: Vec<(ViewIx, SetIx)>,
    /// Elements under distinct constraints: claim, constraint and element.
    pub(super) elements: Vec<(ClaimIx, ConstraintIx, ElementIx)>,
}

/// A problem seen as interchangeable parts.
#[derive(Debug)]
pub(super) struct Structure {
    /// The devices that each alternative may take, in order; with those that end the attempt with an error.
    pub(super) candidates: TiVec<AlternativeIx, Vec<DeviceIx>>,
    /// By alternative and device.
    member: Vec<bool>,
    devices: usize,
    /// Position of each alternative's request among all requests of all claims.
    pub(super) slot: TiVec<AlternativeIx, SlotIx>,
    /// The alternatives of each request.
    pub(super) alternatives: TiVec<SlotIx, Vec<AlternativeIx>>,
    /// The last position at which a device is a candidate.
    last_slot: TiVec<DeviceIx, SlotIx>,
    /// By position: an error may be met there or later.
    pub(super) hot_from: TiVec<SlotIx, bool>,
    pub(super) components: TiVec<ComponentIx, Component>,
    pub(super) component_of: TiVec<DeviceIx, ComponentIx>,
    /// Counters outside of components that some candidate draws from: view and counter.
    pub(super) common_counters: Vec<(ViewIx, CounterIx)>,
    pub(super) common_sets: Vec<(ViewIx, SetIx)>,
    /// By claim and constraint: the elements are parts of components.
    pub(super) tied: TiVec<ClaimIx, TiVec<ConstraintIx, bool>>,
    /// Some request has admin access, so it matters who holds a device.
    pub(super) admin_access: bool,
    /// A claim may get more devices than its result can hold, depending on the alternatives taken.
    pub(super) exceedable: bool,
}

const NO_COMPONENT: ComponentIx = ComponentIx(u32::MAX);

impl Structure {
    pub(super) fn new(problem: &mut Problem<'_>) -> Self {
        let devices = problem.devices.len();
        let alternatives = problem.alternatives.len();
        let mut structure = Self {
            candidates: vec![Vec::new(); alternatives].into(),
            member: vec![false; alternatives * devices],
            devices,
            slot: TiVec::with_capacity(alternatives),
            alternatives: TiVec::new(),
            last_slot: vec![SlotIx(0); devices].into(),
            hot_from: TiVec::new(),
            components: TiVec::new(),
            component_of: vec![NO_COMPONENT; devices].into(),
            common_counters: Vec::new(),
            common_sets: Vec::new(),
            tied: TiVec::new(),
            admin_access: false,
            exceedable: false,
        };
        let mut answers = TiVec::from(vec![Vec::new(); devices]);
        let hot = structure.find_candidates(problem, &mut answers);
        structure.find_slots(problem, &hot);
        Builder::new(problem, &mut structure, answers).build();
        structure
    }

    /// Returns whether the device is a candidate of the alternative.
    pub(super) fn is_candidate(&self, alternative: AlternativeIx, device: DeviceIx) -> bool {
        self.member[self.place(alternative, device)]
    }

    fn place(&self, alternative: AlternativeIx, device: DeviceIx) -> usize {
        usize::from(alternative) * self.devices + usize::from(device)
    }

    /// Returns whether a request after that position may take the device.
    pub(super) fn is_needed_after(&self, slot: SlotIx, device: DeviceIx) -> bool {
        self.last_slot[device] > slot
    }

    /// Finds the candidates of all alternatives and says which alternatives may meet an error. Each device gets its answers.
    fn find_candidates(
        &mut self,
        problem: &mut Problem<'_>,
        answers: &mut TiSlice<DeviceIx, Vec<i128>>,
    ) -> TiVec<AlternativeIx, bool> {
        let mut hot = TiVec::from(vec![false; self.candidates.len()]);
        for number in self.candidates.keys() {
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
                hot[number] = constraints.iter().any(Option::is_some);
            }
            for device in problem.devices.keys() {
                let answer = if !admin_access && problem.pool_device(device).dedicated && !all {
                    0
                } else {
                    match problem.verdict(number, device) {
                        Ok(()) => 1,
                        Err(Unfit::RuledOut(why)) if all && problem.is_among_all(why) => {
                            2 + i128::from(why == RuledOut::CapacityExhausted)
                        }
                        Err(Unfit::RuledOut(_)) => 0,
                        Err(Unfit::Trouble(_)) => 4,
                    }
                };
                answers[device].push(answer);
                if answer == 0 {
                    continue;
                }
                if all && hot[number] {
                    // Mode All stops at the first device that it cannot have, so which one that is decides whether it gets as far
                    // as the one that a constraint forbids.
                    answers[device].push(i128::from(device.0));
                }
                hot[number] |= answer == 4;
                self.candidates[number].push(device);
                let place = self.place(number, device);
                self.member[place] = true;
                if problem.pool_device(device).multiple {
                    answers[device].extend(problem.share_units(number, device));
                }
                for source in constraints.iter().flatten() {
                    hot[number] |= problem.attribute(*source, device).is_err();
                }
            }
        }
        hot
    }

    fn find_slots(&mut self, problem: &Problem<'_>, hot: &TiSlice<AlternativeIx, bool>) {
        for demand in &problem.demand.claims {
            let mut most: i64 = 0;
            for request in &demand.requests {
                let mut most_here = 0;
                let slot = self.hot_from.push_and_get_key(false);
                self.alternatives.push(request.alternatives().collect());
                for alternative in request.alternatives() {
                    self.slot.push(slot);
                    self.hot_from[slot] |= hot[alternative];
                    most_here = most_here.max(problem.counts[alternative]);
                    for device in &self.candidates[alternative] {
                        self.last_slot[*device] = slot;
                    }
                }
                most = most.saturating_add(most_here);
            }
            self.exceedable |= most > dra_model::MOST_RESULTS;
        }
        let mut is_hot_later = false;
        for hot in self.hot_from.iter_mut().rev() {
            *hot |= is_hot_later;
            is_hot_later = *hot;
        }
    }

    /// Returns whether an error may be met anywhere.
    pub(super) fn is_hot(&self) -> bool {
        self.hot_from.first().is_some_and(|hot| *hot)
    }
}

/// Relation between devices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Tie {
    Counter(ViewIx, CounterIx),
    Set(ViewIx, SetIx),
    Element(ClaimIx, ConstraintIx, ElementIx),
}

struct Builder<'s, 'p, 'a> {
    problem: &'p mut Problem<'a>,
    structure: &'s mut Structure,
    /// Fixed answers about each device, except for its ties.
    answers: TiVec<DeviceIx, Vec<i128>>,
    ties: TiVec<DeviceIx, Vec<(Tie, Vec<i128>)>>,
    parents: TiVec<DeviceIx, DeviceIx>,
}

impl<'s, 'p, 'a> Builder<'s, 'p, 'a> {
    fn new(
        problem: &'p mut Problem<'a>,
        structure: &'s mut Structure,
        answers: TiVec<DeviceIx, Vec<i128>>,
    ) -> Self {
        let devices = structure.devices;
        let parents = problem.devices.keys().collect();
        Self {
            problem,
            structure,
            answers,
            ties: vec![Vec::new(); devices].into(),
            parents,
        }
    }

    fn build(mut self) {
        let devices = self.problem.devices.keys();
        let used: Vec<DeviceIx> = devices.filter(|device| self.is_used(*device)).collect();
        for device in &used {
            self.describe(*device);
        }
        self.constraints(&used);
        self.counters(&used);
        let mut first_of_tie: HashMap<Tie, DeviceIx> = HashMap::new();
        for device in &used {
            let ties: Vec<Tie> = self.ties[*device].iter().map(|(tie, _)| *tie).collect();
            for tie in ties {
                let other = *first_of_tie.entry(tie).or_insert(*device);
                let (a, b) = (self.root(*device), self.root(other));
                self.parents[a.max(b)] = a.min(b);
            }
        }
        self.components(&used);
    }

    fn is_used(&self, device: DeviceIx) -> bool {
        let mut alternatives = self.structure.candidates.keys();
        alternatives.any(|number| self.structure.is_candidate(number, device))
    }

    fn root(&mut self, device: DeviceIx) -> DeviceIx {
        let mut root = device;
        while self.parents[root] != root {
            root = self.parents[root];
        }
        self.parents[device] = root;
        root
    }

    /// Adds what the search looks at of a device beside verdicts, attributes and counters.
    ///
    /// Devices with equal keys are swapped for one another, so whatever the search may ask of a device has to be in its
    /// key. Each field is named here, with the place that accounts for it: a new field does not compile until it is
    /// handled.
    fn describe(&mut self, device: DeviceIx) {
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
            node_allocatable_resource_mappings: _,
            // `multiple`, where the gate is on.
            allow_multiple_allocations: _,
        } = self.problem.device(device);
        let answers = &mut self.answers[device];
        answers.push(i128::from(*dedicated) | i128::from(*shared) << 1 | i128::from(*multiple) << 2);
        if *multiple {
            for (place, (_, capacity)) in capacity.iter().enumerate() {
                let taken = consumed.get(place).copied().unwrap_or(0);
                answers.push(units(&capacity.value).saturating_sub(taken));
            }
        }
    }

    /// Adds the values of attributes. Those that only distinct constraints ask for tie devices instead.
    fn constraints(&mut self, used: &[DeviceIx]) {
        let sources = self.problem.demand.sources.len();
        let mut matched: TiVec<SourceIx, bool> = vec![false; sources].into();
        let mut distinct: Vec<(ClaimIx, ConstraintIx, SourceIx)> = Vec::new();
        for number in self.structure.candidates.keys() {
            let place = &self.problem.alternatives[number];
            let demand = &self.problem.demand.claims[place.claim];
            for (constraint, source) in self.problem.alternative(number).constraints.iter_enumerated() {
                let Some(source) = source else { continue };
                match demand.constraints[constraint].rule {
                    Rule::Match | Rule::Present | Rule::DistinctFromLast => matched[*source] = true,
                    Rule::Distinct => distinct.push((place.claim, constraint, *source)),
                }
            }
        }
        distinct.sort_unstable();
        distinct.dedup();
        // A constraint with several sources (a computed attribute in some requests) is left untied.
        let tied = |(claim, constraint, source): (ClaimIx, ConstraintIx, SourceIx)| {
            !matched[source]
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
            .map(|claim| vec![false; claim.constraints.len()].into())
            .collect();
        let mut shown = matched.clone();
        for entry in &distinct {
            let is_tied = tied(*entry);
            self.structure.tied[entry.0][entry.1] = is_tied;
            shown[entry.2] |= !is_tied;
        }
        for device in used {
            for source in shown.keys() {
                let value = self.problem.attribute(source, *device);
                self.answers[*device].push(match value {
                    Err(_) => -2,
                    Ok(None) => -1,
                    Ok(Some(value)) if shown[source] => i128::from(value.0),
                    Ok(Some(value)) => -3 - i128::from(self.problem.values.elements(value).is_empty()),
                });
            }
            for (claim, constraint, source) in &distinct {
                if !self.structure.tied[*claim][*constraint] {
                    continue;
                }
                if let Ok(Some(value)) = self.problem.attribute(*source, *device) {
                    for element in self.problem.values.elements(value) {
                        let tie = Tie::Element(*claim, *constraint, *element);
                        self.ties[*device].push((tie, Vec::new()));
                    }
                }
            }
        }
    }

    /// Adds what devices draw from counters: as ties, but for counters that most devices of the pool draw from.
    fn counters(&mut self, used: &[DeviceIx]) {
        let mut users: HashMap<Tie, usize> = HashMap::new();
        let mut consumers: HashMap<ViewIx, usize> = HashMap::new();
        for device in used {
            let view = self.problem.devices[*device].view;
            let Some(usage) = self.problem.usage(*device) else {
                continue;
            };
            *consumers.entry(view).or_default() += 1;
            let counters = usage
                .amounts
                .iter()
                .map(|(counter, _)| Tie::Counter(view, *counter));
            let sets = usage.groups.iter().map(|(set, _)| Tie::Set(view, *set));
            for tie in counters.chain(sets) {
                *users.entry(tie).or_default() += 1;
            }
        }
        let mut common_counters = Vec::new();
        let mut common_sets = Vec::new();
        // Devices of a view follow one another.
        let mut last_view = None;
        for device in used {
            let place = self.problem.devices[*device];
            let counters = &self.problem.views[place.view].counters;
            let Some(usage) = counters.usage(place.device) else {
                continue;
            };
            self.answers[*device].push(-10);
            let concern_all = counters.concern_all();
            let is_common = |tie: Tie| {
                concern_all
                    || users.get(&tie).map_or(0, |users| users * 2)
                        > consumers.get(&place.view).copied().unwrap_or(0)
            };
            if concern_all {
                self.answers[*device].push(i128::from(place.view.0));
                if last_view != Some(place.view) {
                    last_view = Some(place.view);
                    common_counters.extend(counters.available.keys().map(|counter| (place.view, counter)));
                }
            }
            for (counter, amount) in &usage.amounts {
                let tie = Tie::Counter(place.view, *counter);
                if is_common(tie) {
                    self.answers[*device].extend([i128::from(place.view.0), i128::from(counter.0), *amount]);
                    common_counters.push((place.view, *counter));
                } else {
                    self.ties[*device].push((tie, vec![*amount]));
                }
            }
            for (set, joined) in &usage.groups {
                let mut joined: Vec<i128> = joined.iter().map(|group| i128::from(*group)).collect();
                // Groups are numbered within their pool.
                joined.push(i128::from(place.view.0));
                let tie = Tie::Set(place.view, *set);
                if is_common(tie) {
                    self.answers[*device].extend([-11, i128::from(set.0)]);
                    self.answers[*device].extend(joined);
                    common_sets.push((place.view, *set));
                } else {
                    self.ties[*device].push((tie, joined));
                }
            }
        }
        common_counters.sort_unstable();
        common_counters.dedup();
        common_sets.sort_unstable();
        common_sets.dedup();
        self.structure.common_counters = common_counters;
        self.structure.common_sets = common_sets;
    }

    fn components(&mut self, used: &[DeviceIx]) {
        let mut of_root: HashMap<DeviceIx, ComponentIx> = HashMap::new();
        let mut ties_of: TiVec<ComponentIx, Vec<Tie>> = TiVec::new();
        let mut descriptions: TiVec<ComponentIx, Vec<i128>> = TiVec::new();
        let mut parts: TiVec<ComponentIx, HashMap<Vec<i128>, u32>> = TiVec::new();
        for device in used {
            let root = self.root(*device);
            let next = self.structure.components.next_key();
            let number = *of_root.entry(root).or_insert(next);
            if number == next {
                self.structure.components.push(Component::default());
                ties_of.push(Vec::new());
                descriptions.push(Vec::new());
                parts.push(HashMap::new());
            }
            self.structure.component_of[*device] = number;
            let ties = &mut ties_of[number];
            let mut part = std::mem::take(&mut self.answers[*device]);
            part.push(i128::MIN);
            for (tie, details) in &self.ties[*device] {
                let local = ties.iter().position(|known| known == tie).unwrap_or_else(|| {
                    ties.push(*tie);
                    ties.len() - 1
                });
                part.push(local as i128);
                part.push(match tie {
                    Tie::Counter(..) => -1,
                    Tie::Set(..) => -2,
                    // The same element may be forbidden by one constraint and not by another.
                    Tie::Element(claim, constraint, _) => {
                        i128::from(claim.0) << 32 | i128::from(constraint.0)
                    }
                });
                part.extend(details);
            }
            part.push(i128::MAX);
            let known = &mut parts[number];
            let next = known.len() as u32;
            let component = &mut self.structure.components[number];
            let twin = *known.entry(part.clone()).or_insert(next);
            component.devices.push((*device, twin));
            descriptions[number].extend(part);
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
                    Tie::Counter(view, counter) => {
                        component.counters.push((view, counter));
                        description.push(self.problem.views[view].counters.available[counter]);
                    }
                    Tie::Set(view, set) => {
                        component.sets.push((view, set));
                        let base = &self.problem.views[view].counters.groups[set];
                        description.extend(compatibility_code(base));
                    }
                    Tie::Element(claim, constraint, element) => {
                        component.elements.push((claim, constraint, element));
                    }
                }
            }
            let next = kinds.len() as u32;
            component.kind = *kinds.entry(description).or_insert(next);
        }
    }
}

/// A compatibility as numbers, for keys.
pub(super) fn compatibility_code(compatibility: &Compatibility) -> Vec<i128> {
    match compatibility {
        Compatibility::Free => vec![-1],
        Compatibility::Ungrouped => vec![-2],
        Compatibility::Groups(groups) => std::iter::once(-3)
            .chain(groups.iter().map(|group| i128::from(*group)))
            .chain([-4])
            .collect(),
    }
}
