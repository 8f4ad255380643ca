//! Proofs that no solution lies ahead.

use super::candidates::Problem;
use super::search::State;
use super::structure::Structure;

/// Bounds of one problem.
pub(super) struct Bounds {}

impl Bounds {
    pub(super) fn new(_problem: &Problem<'_>, _structure: &Structure) -> Self {
        Self {}
    }

    /// Whether what remains, from device `index` of the alternative on, cannot be satisfied.
    #[expect(clippy::unused_self, reason = "to come")]
    pub(super) fn exclude(
        &mut self,
        _problem: &mut Problem<'_>,
        _structure: &Structure,
        _state: &State,
        _alternative: u32,
        _index: i64,
        _start: u32,
    ) -> bool {
        false
    }
}
