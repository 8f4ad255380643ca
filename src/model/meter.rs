//! How much work a command spends on CEL expressions.
//!
//! Each evaluation has limits of its own, and a cluster can have as many costly expressions as it has devices. All evaluations of a
//! command draw from one meter, which its cluster and all forks of that carry. Work is counted in steps, never in time, so that
//! neither the machine nor its load decides what is known. As long as the meter lasts, the same input comes to the same answer. Once it has
//! run out, what was not evaluated is unknown, never wrong. Which evaluations those are depends on the order of the work: on one thread that is
//! always the same; where nodes are judged on several threads the threads race for the last steps, so that an input whose work ends near the
//! limit may be decided in one run and be unknown in another.

use std::sync::atomic::{AtomicU64, Ordering};

/// Steps that a command spends on expressions: about five seconds on one processor at 39 ns each, which is the
/// most that was measured; most expressions take less than ten.
///
/// An evaluation of a usual selector takes 20 to 30. 40,000 devices and 20 classes take about 20,000,000, each judged on its own;
/// the scheduling rules judge devices that an expression cannot tell apart once.
const MOST_STEPS: u64 = 130_000_000;

/// What is said where the meter has run out.
pub const TOO_MUCH_WORK: &str = "selectors take more work than one command spends on them";

/// What is left of the work that a command spends on expressions.
#[derive(Debug)]
pub struct Meter {
    limit: u64,
    left: AtomicU64,
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
        }
    }

    /// Whether nothing is left: what has not been evaluated by now is not known.
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
