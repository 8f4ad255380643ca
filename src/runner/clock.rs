//! The time that the controllers go by.

use std::time::Duration;

use tokio::time::Instant;

use super::news::News;
use crate::model::Time;
use crate::sources::live::ServerTime;

/// The API server's time by its answers is not exact to the second, so a smaller difference is none.
const EXACT: Duration = Duration::from_secs(2);

/// A clock that never jumps with that of this machine: the time by the API server's answers, carried on by the monotonic clock. All
/// instants that controllers compute with were written by API servers or by what agrees with them.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    set_to: Time,
    set_at: Instant,
    server: Option<ServerTime>,
    /// What it said last.
    said: (Instant, Time),
}

impl Clock {
    /// A clock that says `now` at this moment, and follows `server` as soon as that has said something.
    pub(super) fn set(now: Time, server: Option<ServerTime>) -> Self {
        let set_at = Instant::now();
        Self {
            set_to: now,
            set_at,
            server,
            said: (set_at, now),
        }
    }

    pub(super) fn now(&mut self) -> Time {
        self.at(Instant::now())
    }

    /// What it says at `instant`, which is not before the last one. It stands still rather than go back a little; where the server's
    /// clock was set back, it goes back as well.
    fn at(&mut self, instant: Instant) -> Time {
        let by_server = self.server.as_ref().and_then(|server| server.at(instant));
        let time = by_server.unwrap_or_else(|| self.set_to.after(instant.duration_since(self.set_at)));
        let (_, last) = self.said;
        let time = if time < last && last.since(time) <= EXACT {
            last
        } else {
            time
        };
        self.said = (instant, time);
        time
    }

    /// When the clock will say `time`.
    pub(super) fn instant(&self, time: Time) -> Instant {
        let (instant, now) = self.said;
        instant + time.since(now)
    }

    /// How far the clock of this machine is off, which says `local` now; nothing where that is hardly measurable.
    pub(super) fn strays(&mut self, local: Time) -> Option<String> {
        let now = self.now();
        let (off, word) = if local > now {
            (local.since(now), "ahead of")
        } else {
            (now.since(local), "behind")
        };
        (off > EXACT).then(|| {
            format!(
                "the clock of this machine is {} s {word} the API server's, whose time counts",
                off.as_secs()
            )
        })
    }
}

/// Waits until `instant`, or for ever where there is none.
pub(super) async fn reached(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// How often the clock of this machine is compared with the API server's.
const CLOCKS: Duration = Duration::from_secs(60);

/// Compares the clock of this machine, and tells once that it strays.
#[derive(Debug)]
pub(super) struct Comparison {
    wall: Option<fn() -> Time>,
    next: Instant,
    strayed: bool,
}

impl Comparison {
    /// Nothing is compared without a `wall`.
    pub(super) fn with(wall: Option<fn() -> Time>) -> Self {
        Self {
            wall,
            next: Instant::now(),
            strayed: false,
        }
    }

    /// What is new about it.
    pub(super) fn news(&mut self, clock: &mut Clock) -> Option<News> {
        let wall = self.wall.filter(|_| self.next <= Instant::now())?;
        self.next = Instant::now() + CLOCKS;
        let strays = clock.strays(wall());
        let is_news = !std::mem::replace(&mut self.strayed, strays.is_some());
        strays.filter(|_| is_news).map(News::ClockStrays)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        text.parse().unwrap()
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn without_answers_it_goes_on_from_what_it_was_set_to() {
        for server in [None, Some(ServerTime::default())] {
            let mut clock = Clock::set(time("2026-11-23T10:00:00Z"), server);
            let start = clock.set_at;
            assert_eq!(clock.at(start + seconds(5)), time("2026-11-23T10:00:05Z"));
            assert_eq!(clock.instant(time("2026-11-23T10:00:30Z")), start + seconds(30));
        }
    }

    #[test]
    fn the_servers_time_counts_and_a_small_correction_does_not_turn_it_back() {
        let start = Instant::now();
        let said = |text: &str| ServerTime::of(&[(start, time(text))]);
        let mut clock = Clock::set(time("2026-11-23T12:00:00Z"), Some(said("2026-11-23T10:00:00Z")));
        assert_eq!(clock.at(start + seconds(5)), time("2026-11-23T10:00:05Z"));
        // The answers that count are others now.
        clock.server = Some(said("2026-11-23T09:59:59Z"));
        assert_eq!(clock.at(start + seconds(5)), time("2026-11-23T10:00:05Z"));
        assert_eq!(clock.at(start + seconds(7)), time("2026-11-23T10:00:06Z"));
        assert_eq!(clock.instant(time("2026-11-23T10:00:16Z")), start + seconds(17));
        // Somebody set the server's clock.
        clock.server = Some(said("2026-11-23T09:00:00Z"));
        assert_eq!(clock.at(start + seconds(8)), time("2026-11-23T09:00:08Z"));
    }

    #[test]
    fn a_local_clock_that_is_off_is_told_and_changes_nothing() {
        let now = Instant::now();
        let server = ServerTime::of(&[(now, time("2026-11-23T10:00:00Z"))]);
        let mut clock = Clock::set(time("2026-11-23T11:00:00Z"), Some(server));
        assert_eq!(clock.strays(time("2026-11-23T10:00:01Z")), None);
        let told = clock.strays(time("2026-11-23T11:00:30Z")).unwrap();
        assert!(told.contains(" s ahead of the API server's"), "{told}");
        let told = clock.strays(time("2026-11-23T09:00:00Z")).unwrap();
        assert!(told.contains(" s behind the API server's"), "{told}");
        assert!(clock.now() < time("2026-11-23T10:01:00Z"));
    }
}
