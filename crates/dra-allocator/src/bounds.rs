//! Proofs that no solution lies ahead, for the pruned search.
//!
//! All of them leave conditions out, so that what they exclude is excluded for sure. **Matching**: every device that is
//! still asked for needs one of its own among the candidates that are free, as a flow from requests through values (a
//! distinct constraint allows each value once) to devices. **Sums**: the minimum that the requested devices consume
//! from a counter of the whole pool must be there.

use std::collections::HashMap;

use typed_index_collections::TiSlice;

use super::candidates::Problem;
use super::constraint::Rule;
use super::index::{AlternativeIx, ClaimIx, ConstraintIx, DeviceIx, ElementIx, SlotIx};
use super::search::State;
use super::structure::Structure;

/// Requests that may take the same devices, counted together.
struct Group {
    /// Alternatives, only one of them is allocated; a single one unless the request is a prioritized list.
    alternatives: Vec<AlternativeIx>,
    /// The first device that may be taken.
    start: DeviceIx,
    /// Number of requested devices.
    count: i64,
    /// Number of their requests: each takes a device once.
    requests: u32,
}

/// A flow network from groups to devices. Nodes are the groups, then values, then devices.
struct Flow {
    edges: Vec<Vec<(usize, usize)>>,
    /// Target and what is left of its capacity, each edge beside its reverse.
    to: Vec<(usize, i64)>,
}

impl Flow {
    fn new(nodes: usize) -> Self {
        Self {
            edges: vec![Vec::new(); nodes],
            to: Vec::new(),
        }
    }

    fn connect(&mut self, from: usize, to: usize, capacity: i64) {
        self.edges[from].push((to, self.to.len()));
        self.to.push((to, capacity));
        self.edges[to].push((from, self.to.len()));
        self.to.push((from, 0));
    }

    /// Sends one unit along a path of edges with something left. The path is short, but may turn around often: the stack is kept
    /// by hand.
    fn augment(&mut self, source: usize, sink: usize, looks: &mut u64) -> bool {
        let mut came_by: Vec<Option<usize>> = vec![None; self.edges.len()];
        let mut queue = vec![source];
        let mut next = 0;
        while let Some(node) = queue.get(next).copied() {
            next += 1;
            *looks += self.edges[node].len() as u64;
            for (target, edge) in &self.edges[node] {
                if *target == source || came_by[*target].is_some() || self.to[*edge].1 == 0 {
                    continue;
                }
                came_by[*target] = Some(*edge);
                if *target == sink {
                    let mut at = sink;
                    while let Some(edge) = came_by[at] {
                        self.to[edge].1 -= 1;
                        self.to[edge ^ 1].1 += 1;
                        at = self.to[edge ^ 1].0;
                        if at == source {
                            break;
                        }
                    }
                    return true;
                }
                queue.push(*target);
            }
        }
        false
    }
}

/// Returns whether what remains, from device `index` of the alternative on, cannot be satisfied. Assumes that no error is ahead. Adds what it
/// looks at to `looks`.
pub(super) fn excludes(
    problem: &mut Problem<'_>,
    structure: &Structure,
    state: &State,
    alternative: AlternativeIx,
    index: i64,
    start: DeviceIx,
    looks: &mut u64,
) -> bool {
    let groups = groups(problem, structure, alternative, index, start, looks);
    let candidates: Vec<Vec<DeviceIx>> = groups
        .iter()
        .map(|group| free_candidates(problem, structure, state, group, alternative, looks))
        .collect();
    if groups.iter().zip(&candidates).any(|(group, devices)| {
        (devices.len() as i64).saturating_mul(i64::from(group.requests)) < group.count
    }) {
        return true;
    }
    let all: usize = candidates.iter().map(Vec::len).sum();
    *looks += (all * structure.common_counters.len()) as u64;
    exceeds_counters(problem, structure, state, &groups, &candidates)
        || !matches(problem, &groups, &candidates, looks)
}

/// Returns what is still asked for: the rest of the alternative, and all requests after it.
fn groups(
    problem: &Problem<'_>,
    structure: &Structure,
    alternative: AlternativeIx,
    index: i64,
    start: DeviceIx,
    looks: &mut u64,
) -> Vec<Group> {
    let mut groups = Vec::new();
    if !problem.alternative(alternative).admin_access {
        groups.push(Group {
            alternatives: vec![alternative],
            start,
            count: problem.counts[alternative] - index,
            requests: 1,
        });
    }
    let slot = structure.slot[alternative];
    for alternatives in &structure.alternatives[SlotIx(slot.0 + 1)..] {
        let candidates = alternatives
            .first()
            .map_or(0, |first| structure.candidates[*first].len());
        *looks += (groups.len() + candidates) as u64;
        let least = alternatives
            .iter()
            .map(|number| problem.counts[*number])
            .min()
            .unwrap_or(0);
        // Requests with admin access take nothing from others.
        let has_admin_access = |first: &AlternativeIx| problem.alternative(*first).admin_access;
        if least <= 0 || alternatives.first().is_some_and(has_admin_access) {
            continue;
        }
        let same = |group: &&mut Group| {
            group.start == DeviceIx(0)
                && alike(problem, structure, group.alternatives[0], alternatives)
                && group.alternatives.len() == 1
                && group.alternatives[0] != alternative
        };
        match groups.iter_mut().find(same) {
            Some(group) if alternatives.len() == 1 => {
                group.count += least;
                group.requests += 1;
            }
            _ => groups.push(Group {
                alternatives: alternatives.clone(),
                start: DeviceIx(0),
                count: least,
                requests: 1,
            }),
        }
    }
    groups
}

/// Returns whether the single alternative of a request has the same candidates and constraints.
fn alike(
    problem: &Problem<'_>,
    structure: &Structure,
    known: AlternativeIx,
    alternatives: &[AlternativeIx],
) -> bool {
    let [other] = alternatives else { return false };
    let (a, b) = (&problem.alternatives[known], &problem.alternatives[*other]);
    a.claim == b.claim
        && problem.alternative(known).constraints == problem.alternative(*other).constraints
        && structure.candidates[known] == structure.candidates[*other]
}

/// Candidates of the group that are free and compatible with what the constraints of the claim have so far.
fn free_candidates(
    problem: &mut Problem<'_>,
    structure: &Structure,
    state: &State,
    group: &Group,
    current: AlternativeIx,
    looks: &mut u64,
) -> Vec<DeviceIx> {
    let claim = problem.alternatives[current].claim;
    let mut free = Vec::new();
    for number in &group.alternatives {
        let covered = if problem.alternatives[*number].claim == claim {
            problem.alternative(*number).constraints.as_slice()
        } else {
            TiSlice::from_ref(&[])
        };
        *looks += (structure.candidates[*number].len() * (1 + covered.len())) as u64;
        for device in &structure.candidates[*number] {
            if *device < group.start || state.holders[*device] > 0 {
                continue;
            }
            // In mode All a device in use is asked for, too.
            if problem.pool_device(*device).dedicated {
                continue;
            }
            let compatible = covered.iter_enumerated().all(|(at, source)| {
                let Some(source) = source else { return true };
                let Ok(Some(value)) = problem.attribute(*source, *device) else {
                    return false;
                };
                let constraint = &state.constraints[claim][at];
                constraint.admits(value, &mut problem.values).is_some()
            });
            if compatible {
                free.push(*device);
            }
        }
    }
    if group.alternatives.len() > 1 {
        free.sort_unstable();
        free.dedup();
    }
    free
}

/// Returns whether the groups draw more from a counter of their whole pool than there is.
fn exceeds_counters(
    problem: &Problem<'_>,
    structure: &Structure,
    state: &State,
    groups: &[Group],
    candidates: &[Vec<DeviceIx>],
) -> bool {
    if problem.demand.ignores_counters {
        return false;
    }
    structure.common_counters.iter().any(|(view, counter)| {
        let draws = |device: &DeviceIx| -> i128 {
            let place = problem.devices[*device];
            if place.view != *view || problem.pool_device(*device).multiple {
                return 0;
            }
            let usage = problem.usage(*device);
            usage.and_then(|usage| usage.of(*counter)).unwrap_or(0).max(0)
        };
        let least: i128 = groups
            .iter()
            .zip(candidates)
            .map(|(group, devices)| {
                let least = devices.iter().map(draws).min().unwrap_or(0);
                least.saturating_mul(i128::from(group.count))
            })
            .fold(0, i128::saturating_add);
        let counters = &problem.views[*view].counters;
        let left = counters.available[*counter] - state.drawn[*view].amounts[*counter];
        // A device that gives back could make up for anything.
        !counters.gives_back && least > left.max(0)
    })
}

/// Returns whether every device asked for can have one of its own.
fn matches(
    problem: &mut Problem<'_>,
    groups: &[Group],
    candidates: &[Vec<DeviceIx>],
    looks: &mut u64,
) -> bool {
    let mut values: HashMap<(ClaimIx, ConstraintIx, ElementIx), usize> = HashMap::new();
    let mut devices: HashMap<DeviceIx, usize> = HashMap::new();
    // Groups come first, source and sink last; values and devices are numbered as they appear.
    let (source, sink) = (groups.len(), groups.len() + 1);
    let mut flow = Flow::new(groups.len() + 2);
    for (at, (group, free)) in groups.iter().zip(candidates).enumerate() {
        flow.connect(source, at, group.count);
        let first = group.alternatives[0];
        let of_claim = problem.alternatives[first].claim;
        // A distinct constraint takes each value once. With several alternatives it may cover some of them only.
        let constraints = &problem.demand.claims[of_claim].constraints;
        let distinct = problem
            .alternative(first)
            .constraints
            .iter_enumerated()
            .find(|(place, source)| {
                source.is_some()
                    && constraints[*place].rule == Rule::Distinct
                    && group.alternatives.len() == 1
            })
            .and_then(|(place, source)| Some((place, (*source)?)));
        for device in free {
            let many = i64::from(group.requests);
            let node = *devices.entry(*device).or_insert_with(|| {
                flow.edges.push(Vec::new());
                let node = flow.edges.len() - 1;
                let multiple = problem.pool_device(*device).multiple;
                flow.connect(node, sink, if multiple { i64::from(u32::MAX) } else { 1 });
                node
            });
            let mut from = at;
            if let Some((place, attribute)) = distinct
                && let Ok(Some(value)) = problem.attribute(attribute, *device)
                && let Some(element) = problem.values.elements(value).first().copied()
            {
                let bucket = *values.entry((of_claim, place, element)).or_insert_with(|| {
                    flow.edges.extend([Vec::new(), Vec::new()]);
                    let bucket = flow.edges.len() - 2;
                    flow.connect(bucket, bucket + 1, 1);
                    bucket
                });
                *looks += (flow.edges[at].len() + flow.edges[bucket + 1].len()) as u64;
                if !flow.edges[at].iter().any(|(to, _)| *to == bucket) {
                    flow.connect(at, bucket, many);
                }
                from = bucket + 1;
            }
            if from == at || !flow.edges[from].iter().any(|(to, _)| *to == node) {
                flow.connect(from, node, many);
            }
        }
    }
    let asked: i64 = groups.iter().map(|group| group.count).sum();
    (0..asked).all(|_| flow.augment(source, sink, looks))
}
