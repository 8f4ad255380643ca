//! The time that the controllers go by.

use tokio::time::Instant;

use crate::model::Time;

/// A clock that never jumps: when it was set, and the time since by the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    set_to: Time,
    set_at: Instant,
}

impl Clock {
    /// A clock that says `now` at this moment.
    pub(super) fn set(now: Time) -> Self {
        Self {
            set_to: now,
            set_at: Instant::now(),
        }
    }

    pub(super) fn now(self) -> Time {
        self.set_to.after(self.set_at.elapsed())
    }

    /// When the clock will say `time`.
    pub(super) fn instant(self, time: Time) -> Instant {
        self.set_at + time.since(self.set_to)
    }
}
