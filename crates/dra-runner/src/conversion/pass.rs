//! Decision about another pass. Decides only.
//!
//! While the gate is on, entries come back: a new member, a member that ended, a scheduling attempt that began before the write. So
//! a pass that wrote is followed by one that looks, and `--final` passes are so far apart that no such attempt outlives the gap.

use std::time::Duration;

/// More passes than this make nothing better: something writes the entries back.
const MOST: u32 = 10;

/// Delay before checking the result of a write.
const SOON: Duration = Duration::from_secs(1);

/// Interval for checking whether pods are scheduled.
const POLL: Duration = Duration::from_secs(2);

/// Phase of the conversion in the downgrade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Components may still reserve for PodGroups.
    #[default]
    Before,
    /// None does any more. Passes are this far apart.
    Final {
        /// `--settle`.
        settle: Duration,
    },
}

/// Result of a pass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Counted from 1.
    pub(super) number: u32,
    /// Claims that were written.
    pub(super) wrote: usize,
    /// Claims that wait for a pod to get its node, or that such a pod could begin to use.
    pub(super) waiting: usize,
    /// Duration so far.
    pub(super) elapsed: Duration,
}

/// Returns how long to wait for the next pass; nothing when this was the last.
pub(super) fn next(phase: Phase, wait: Option<Duration>, seen: Seen) -> Option<Duration> {
    let patient = wait.is_some_and(|wait| seen.elapsed < wait);
    match phase {
        Phase::Final { settle } => {
            (seen.number == 1 || (seen.wrote > 0 && seen.number < MOST)).then_some(settle)
        }
        Phase::Before if seen.wrote > 0 => (patient || seen.number < MOST).then_some(SOON),
        Phase::Before => (patient && seen.waiting > 0).then_some(POLL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_end_when_nothing_is_left_or_nothing_helps() {
        let second = Duration::from_secs(1);
        let minute = Duration::from_secs(60);
        let settled = Phase::Final {
            settle: Duration::from_secs(30),
        };
        let before = Phase::Before;
        for (what, phase, wait, number, wrote, waiting, elapsed, expected) in [
            ("nothing to do", before, None, 1, 0, 0, 1, None),
            ("look at what was written", before, None, 1, 3, 0, 1, Some(SOON)),
            ("clean", before, None, 2, 0, 0, 2, None),
            ("somebody writes it back", before, None, MOST, 1, 0, 20, None),
            ("not asked to wait", before, None, 1, 0, 2, 1, None),
            ("asked to wait", before, Some(60), 1, 0, 2, 1, Some(POLL)),
            ("waited long enough", before, Some(60), 40, 0, 2, 60, None),
            (
                "always twice",
                settled,
                None,
                1,
                0,
                0,
                1,
                Some(Duration::from_secs(30)),
            ),
            ("the second is quiet", settled, None, 2, 0, 0, 31, None),
            (
                "the second is not",
                settled,
                None,
                2,
                1,
                0,
                31,
                Some(Duration::from_secs(30)),
            ),
        ] {
            let seen = Seen {
                number,
                wrote,
                waiting,
                elapsed: second * elapsed,
            };
            let wait = wait.map(|seconds: u32| second * seconds);
            assert_eq!(next(phase, wait, seen), expected, "{what}");
        }
        assert!(
            next(
                before,
                Some(minute),
                Seen {
                    number: MOST + 1,
                    wrote: 1,
                    ..Seen::default()
                }
            )
            .is_some()
        );
    }
}
