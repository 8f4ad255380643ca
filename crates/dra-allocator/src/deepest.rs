//! Obstacle of a search at its deepest point.
//!
//! A search that fails has tried many combinations. The one with most devices taken is nearest to a solution, so what ruled the next
//! device out there is what a reader wants to know first.

use dra_model::DeviceId;

use super::candidates::{Problem, Unfit};
use super::index::{AlternativeIx, ClaimIx, ConstraintIx, DeviceIx, ValueIx};
use super::search::State;
use crate::devices::{CounterIx, RuledOut};

/// Obstacle met after most devices were allocated.
#[derive(Default)]
pub(super) struct Deepest {
    taken: usize,
    /// Each once, in the order in which they were met.
    pub(super) clashes: Vec<Clash>,
}

/// Conflict with previously allocated devices.
#[derive(Clone, Debug)]
pub(super) enum Clash {
    /// The constraint of the claim, with the values that clash.
    Constraint {
        claim: ClaimIx,
        place: ConstraintIx,
        values: Option<ClashingValues>,
    },
    /// The counter of the device's view; picks have consumed this much of it.
    Counter {
        device: DeviceIx,
        counter: CounterIx,
        picked: i128,
    },
    /// Another check.
    Other(RuledOut),
}

/// Two devices and their values of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClashingValues {
    /// The device that was taken before, with its value.
    pub taken: (DeviceId, String),
    /// The device that cannot be taken beside it, with its value.
    pub refused: (DeviceId, String),
}

impl Clash {
    /// The check.
    pub(super) fn ruled_out(&self) -> RuledOut {
        match self {
            Self::Constraint { .. } => RuledOut::Constraint,
            Self::Counter { .. } => RuledOut::CounterExhausted,
            Self::Other(ruled_out) => *ruled_out,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let constraint = |clash: &Self| match clash {
            Self::Constraint { claim, place, .. } => Some((*claim, *place)),
            // Counters are reported by the first one.
            Self::Counter { .. } | Self::Other(_) => None,
        };
        self.ruled_out() == other.ruled_out() && constraint(self) == constraint(other)
    }
}

impl Deepest {
    /// Notes that the device could not be taken beside the picks of `state`.
    pub(super) fn note(
        &mut self,
        problem: &mut Problem<'_>,
        state: &State,
        alternative: AlternativeIx,
        device: DeviceIx,
        unfit: &Unfit,
    ) {
        let taken = state.picks.iter().map(Vec::len).sum();
        let Unfit::RuledOut(ruled_out) = *unfit else {
            return;
        };
        // A device that is ruled out alone does not depend on picks.
        if taken == 0 || taken < self.taken || problem.verdict(alternative, device).is_err() {
            return;
        }
        let Some(clash) = clash(problem, state, alternative, device, ruled_out) else {
            return;
        };
        if taken > self.taken {
            self.taken = taken;
            self.clashes.clear();
        }
        if !self.clashes.iter().any(|known| known.is_same(&clash)) {
            self.clashes.push(clash);
        }
    }
}

fn clash(
    problem: &mut Problem<'_>,
    state: &State,
    alternative: AlternativeIx,
    device: DeviceIx,
    ruled_out: RuledOut,
) -> Option<Clash> {
    match ruled_out {
        RuledOut::InUse if problem.pool_device(device).dedicated => None,
        RuledOut::CounterExhausted | RuledOut::Incompatible => {
            let place = problem.devices[device];
            let view = &problem.views[place.view];
            if view.lacks(place.device).is_some() {
                return None;
            }
            if ruled_out == RuledOut::Incompatible {
                return Some(Clash::Other(ruled_out));
            }
            let picked = &state.drawn[place.view].amounts;
            let (counter, _) = problem.usage(device)?.amounts.iter().find(|(counter, amount)| {
                picked[*counter].saturating_add(*amount) > view.counters.available[*counter]
            })?;
            Some(Clash::Counter {
                device,
                counter: *counter,
                picked: picked[*counter],
            })
        }
        RuledOut::Constraint => {
            let claim = problem.alternatives[alternative].claim;
            let sources = &problem.alternative(alternative).constraints;
            for (place, source) in sources.iter_enumerated() {
                let Some(Ok(Some(value))) = source.map(|source| problem.attribute(source, device)) else {
                    continue;
                };
                let constraint = &state.constraints[claim][place];
                if constraint.admits(value, &mut problem.values).is_some() {
                    continue;
                }
                let values = values(problem, state, (claim, place), alternative, (device, value));
                return Some(Clash::Constraint { claim, place, values });
            }
            None
        }
        RuledOut::ConstraintAttribute => None,
        other => Some(Clash::Other(other)),
    }
}

/// The pick of the claim whose value does not go with that of the device.
fn values(
    problem: &mut Problem<'_>,
    state: &State,
    (claim, place): (ClaimIx, ConstraintIx),
    alternative: AlternativeIx,
    (device, value): (DeviceIx, ValueIx),
) -> Option<ClashingValues> {
    let rule = problem.demand.claims[claim].constraints[place].rule;
    state.picks[claim].iter().find_map(|pick| {
        let source = problem.alternative(pick.alternative).constraints[place]?;
        let known = problem.attribute(source, pick.device).ok()??;
        let mut beside = super::constraint::ConstraintState::new(rule);
        let of_pick = problem.alternatives[pick.alternative].request;
        beside.add(known, of_pick, &mut problem.values);
        if beside.admits(value, &mut problem.values).is_some() {
            return None;
        }
        let own = problem.alternative(alternative).constraints[place];
        Some(ClashingValues {
            taken: (
                problem.device_id(pick.device),
                problem.attribute_text(source, pick.device, known),
            ),
            refused: (
                problem.device_id(device),
                match own {
                    Some(own) => problem.attribute_text(own, device, value),
                    None => problem.values.text(value),
                },
            ),
        })
    })
}
