//! The current state of a run, for a terminal.

use std::fmt;
use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};

use dra_model::Time;
use dra_rules::controllers::{Counts, Wish};

/// The time between two updates.
const EVERY: Duration = Duration::from_secs(1);

/// The current state of a run.
#[derive(Clone, Debug)]
pub struct Status {
    /// The time at which it was taken.
    pub now: Time,
    /// Writes that the rules want or wanted, where the built-in controllers are compared with them.
    pub wishes: Option<Counts>,
    /// The wishes that have been open for longest, with since when, and whether they are overdue.
    pub oldest: Vec<(Wish, Time, bool)>,
    /// Items that are due, and jobs that are under way, where the built-in controllers are replaced.
    pub queued: Option<(usize, usize)>,
    /// Jobs so far, where something is written.
    pub jobs: Option<JobCounts>,
}

/// Jobs of a run that writes.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobCounts {
    /// Jobs that were carried out.
    pub carried_out: u64,
    /// Refusals; a job that is refused again counts again.
    pub refused: u64,
}

impl fmt::Display for JobCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { carried_out, refused } = self;
        write!(f, "{carried_out} jobs done, {refused} rejected")
    }
}

/// Says when the status is to be updated.
pub(super) struct StatusTicker(Option<Interval>);

impl StatusTicker {
    /// Nothing is updated unless it is `wanted`.
    pub(super) fn new(wanted: bool) -> Self {
        Self(wanted.then(|| {
            let mut ticks = interval(EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks
        }))
    }

    /// Waits for the next update; the first one is due immediately.
    pub(super) async fn tick(&mut self) {
        match &mut self.0 {
            Some(ticks) => _ = ticks.tick().await,
            None => std::future::pending().await,
        }
    }
}
