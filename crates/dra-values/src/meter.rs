//! Work limit of a command's computations: CEL expressions, searches for devices, and gathering what the scheduling rules look
//! at.
//!
//! Each evaluation and each search has limits of its own, and a cluster can have as many costly expressions as it has devices, and as many
//! hard searches as it has nodes and as there are changes of it to try. So everything that a command computes draws from one meter, which its
//! cluster and all forks of that carry. Work is counted in steps, never in time, so that
//! neither the machine nor its load decides what is known. As long as the meter lasts, the same input comes to the same answer. Once it has
//! run out, what was not evaluated is unknown, never wrong. Which evaluations those are depends on the order of the work: on one thread that is
//! always the same; where nodes are judged on several threads the threads race for the last steps, so that an input whose work ends near the
//! limit may be decided in one run and be unknown in another.

use std::sync::atomic::{AtomicU64, Ordering};

/// Steps that a command spends on all that it computes: about five seconds on one processor at 39 ns each, which is the most that was
/// measured of expressions; most of these take less than ten.
///
/// An evaluation of a usual selector takes 20 to 30. Devices that an expression cannot tell apart are judged once; reports take a step
/// for each of the others, so that 40,000 devices and 20 classes take at least 800,000, and 20,000,000 where no two are alike.
const MOST_STEPS: u64 = 130_000_000;

/// Steps for each slice, device, claim and rule that is gathered for a node, each time that it is.
///
/// Judging 5,000 nodes of 8 devices looks at 50,000 of them. With 1,000 devices that all of the nodes reach these are 5,000,000.
const STEPS_PER_LOOK: u64 = 4;

/// Evaluations of a search per step: devices, and comparisons.
const SEARCHED_PER_STEP: u64 = 4;

/// Message when too much was gathered.
pub const TOO_MANY_LOOKS: &str = "nodes reach more devices than one command evaluates";

/// Message when the meter has run out.
pub const TOO_MUCH_WORK: &str = "selectors exceed the work limit of one command";

/// Message when searches used most of the work.
pub const TOO_MUCH_SEARCH: &str = "searches exceed the work limit of one command";

/// Remaining work of a command, and its usage.
#[derive(Debug)]
pub struct Meter {
    limit: u64,
    left: AtomicU64,
    most_looks: u64,
    looks: AtomicU64,
    searched: AtomicU64,
}

impl Default for Meter {
    fn default() -> Self {
        Self::new(MOST_STEPS)
    }
}

impl Meter {
    /// A meter of that many steps.
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            left: AtomicU64::new(limit),
            most_looks: u64::MAX,
            looks: AtomicU64::new(0),
            searched: AtomicU64::new(0),
        }
    }

    /// The same, with so many objects to look at.
    #[must_use]
    pub fn with_looks(self, most_looks: u64) -> Self {
        Self { most_looks, ..self }
    }

    /// Counts objects that are looked at for a node.
    pub fn look(&self, objects: usize) {
        self.looks.fetch_add(objects as u64, Ordering::Relaxed);
        self.spend((objects as u64).saturating_mul(STEPS_PER_LOOK));
    }

    /// Returns how much a search may look at by now.
    pub fn left_to_search(&self) -> u64 {
        self.left
            .load(Ordering::Relaxed)
            .saturating_mul(SEARCHED_PER_STEP)
    }

    /// Counts what a search has looked at.
    pub fn search(&self, looks: u64) {
        let steps = looks.div_ceil(SEARCHED_PER_STEP);
        self.searched.fetch_add(steps, Ordering::Relaxed);
        self.spend(steps);
    }

    /// Returns whether so much was looked at that no further node may be judged.
    pub fn has_looked_enough(&self) -> bool {
        self.looked_at() > self.most_looks
    }

    /// Returns how many objects were looked at.
    pub fn looked_at(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }

    /// Returns why nothing further may be judged, if so.
    pub fn exhausted(&self) -> Option<&'static str> {
        if self.has_looked_enough() {
            return Some(TOO_MANY_LOOKS);
        }
        // What took most of it.
        let half = self.limit / 2;
        self.is_exhausted().then(|| {
            if self.searched.load(Ordering::Relaxed) > half {
                TOO_MUCH_SEARCH
            } else if self.looked_at().saturating_mul(STEPS_PER_LOOK) > half {
                TOO_MANY_LOOKS
            } else {
                TOO_MUCH_WORK
            }
        })
    }

    /// Returns whether nothing is left: unevaluated results are unknown.
    pub fn is_exhausted(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Takes steps, as many as are left.
    pub fn spend(&self, steps: u64) {
        let take = |left: u64| Some(left.saturating_sub(steps));
        // The function always has a value, so that the update cannot fail.
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    }

    /// Steps that were taken.
    pub fn spent(&self) -> u64 {
        self.limit.saturating_sub(self.left.load(Ordering::Relaxed))
    }

    /// Starts anew, for what a command shows next of a cluster that it watches.
    pub fn renew(&self) {
        self.left.store(self.limit, Ordering::Relaxed);
        self.looks.store(0, Ordering::Relaxed);
        self.searched.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_work_draws_from_one_meter_which_says_what_took_most() {
        for (searched, looked, evaluated, expected) in [
            (0, 0, 99, None),
            (0, 0, 100, Some(TOO_MUCH_WORK)),
            (4 * 60, 0, 40, Some(TOO_MUCH_SEARCH)),
            (0, 15, 40, Some(TOO_MANY_LOOKS)),
            (4 * 30, 10, 29, None),
            (4 * 30, 10, 30, Some(TOO_MUCH_WORK)),
        ] {
            let meter = Meter::new(100);
            meter.search(searched);
            meter.look(looked);
            meter.spend(evaluated);
            assert_eq!(meter.exhausted(), expected, "{searched} {looked} {evaluated}");
        }
    }

    #[test]
    fn a_meter_runs_out_and_starts_anew() {
        let meter = Meter::new(10);
        meter.spend(4);
        assert_eq!((meter.spent(), meter.is_exhausted()), (4, false));
        meter.spend(7);
        assert_eq!((meter.spent(), meter.is_exhausted()), (10, true));
        meter.renew();
        assert_eq!((meter.spent(), meter.is_exhausted()), (0, false));
    }
}
