//! How the work stands at a moment, for people who look on.

use std::time::Duration;

use tokio::time::Instant;

use super::clock::reached;
use super::done::Done;
use dra_model::Time;
use dra_rules::controllers::{ControllerName, Counts, Shadow, Wish};

/// The time between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// Wishes that are shown one by one.
const MOST: usize = 5;

/// How the work stands.
#[derive(Clone, Debug)]
pub struct Glance {
    /// The time by which it is told how old something is.
    pub now: Time,
    /// What is wanted, and was done, where a shadow knows it.
    pub wishes: Option<Counts>,
    /// The wishes that have been open for longest, with since when, and whether they are overdue.
    pub oldest: Vec<(Wish, Time, bool)>,
    /// Items of each controller that are due, and jobs that are under way.
    pub busy: Vec<(ControllerName, usize, usize)>,
    /// What was done, where that is counted.
    pub done: Option<Done>,
}

impl Glance {
    /// What a shadow knows.
    pub(super) fn of(shadow: &Shadow, now: Time) -> Self {
        Self {
            now,
            wishes: Some(shadow.counts()),
            oldest: shadow.oldest(MOST),
            busy: Vec::new(),
            done: None,
        }
    }
}

/// When somebody looks.
pub(super) struct Glances {
    next: Option<Instant>,
}

impl Glances {
    /// There are no looks unless they are `wanted`.
    pub(super) fn begin(wanted: bool) -> Self {
        Self {
            next: wanted.then(Instant::now),
        }
    }

    /// Whether it is time, once for each time.
    pub(super) fn is_time(&mut self) -> bool {
        let now = Instant::now();
        let is_time = self.next.is_some_and(|next| next <= now);
        if is_time {
            self.next = Some(now + EVERY);
        }
        is_time
    }

    /// Waits for the next time.
    pub(super) async fn next(&self) {
        reached(self.next).await;
    }
}
