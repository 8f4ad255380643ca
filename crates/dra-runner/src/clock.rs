//! The clock of the controllers: the API server's time, without its jumps.

use std::time::Duration;

use tokio::time::Instant;

use super::message::Message;
use dra_model::Time;
use dra_rules::controllers::Engine;
use dra_rules::eviction::ClockStep;
use dra_sources::live::{Dated, ServerTime};

/// The API server's time by its answers is not exact to the second, so a smaller difference is none.
const EXACT: Duration = Duration::from_secs(2);

/// So many answers in a row have to say that the server's clock was set.
const IN_A_ROW: usize = 3;

/// A clock that never jumps, with that of this machine or of the API server: the time by the API server's answers, carried on by the
/// monotonic clock. All instants that controllers compute with were written by API servers or by what agrees with them.
///
/// When the server's clock is set, this one continues as if it were not, so that what is pending is due when it should be, and knows by how
/// much the server is ahead of it from then on. Mirrors what timers of Go do on a machine whose clock is set.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    server: Option<ServerTime>,
    /// Is true once the server has sent its time.
    follows: bool,
    /// The time that it returned last, and when.
    said: (Instant, Time),
    /// By how many nanoseconds the server's clock is ahead.
    ahead: i64,
    /// Its time when an answer came last that agrees with it.
    agreed: Time,
    /// Earlier answers were given by the clock as it was before it was set.
    counts_from: Option<Instant>,
    /// A step that is not reported yet.
    step: Option<ClockStep>,
}

/// An instant, on both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Time of the clock that is never set, for timers.
    pub(super) now: Time,
    /// Time of the API server's clock, for what is written.
    pub(super) written: Time,
}

impl Clock {
    /// A clock that says `now` at this moment, and follows `server` as soon as that has said something.
    pub(super) fn set(now: Time, server: Option<ServerTime>) -> Self {
        let set_at = Instant::now();
        Self {
            server,
            follows: false,
            said: (set_at, now),
            ahead: 0,
            agreed: now,
            counts_from: None,
            step: None,
        }
    }

    pub(super) fn now(&mut self) -> Time {
        self.at(Instant::now())
    }

    /// The time now, on both clocks.
    pub(super) fn moment(&mut self) -> Moment {
        let now = self.now();
        Moment {
            now,
            written: self.written(now),
        }
    }

    /// The API server's time when this clock says `time`.
    pub(super) fn written(&self, time: Time) -> Time {
        time.add_nanoseconds(self.ahead)
    }

    /// Shows `engine` that the server's clock was set, and reports it, once each time.
    pub(super) fn step(&mut self, engine: &mut Engine) -> Option<Message> {
        let step = self.step.take()?;
        engine.clock_was_set(step, self.said.1);
        let by = Duration::from_nanos(step.by.unsigned_abs());
        let word = if step.by > 0 { "forward" } else { "back" };
        (by > EXACT).then(|| {
            Message::Clock(format!(
                "the API server's clock was set {word} by {} s; pending evictions keep their original deadlines",
                by.as_secs()
            ))
        })
    }

    /// The time at `instant`, which is not before the last one.
    fn at(&mut self, instant: Instant) -> Time {
        let going_on = self.going_on(instant);
        let answers = self
            .server
            .as_ref()
            .map(|server| server.answers(self.counts_from));
        let answers = answers.unwrap_or_default();
        let time = match by_server(&answers, instant) {
            None => going_on,
            Some(by_server) if !self.follows => {
                self.follows = true;
                self.agreed = by_server;
                by_server
            }
            Some(_) if self.was_set(&answers) => going_on,
            Some(by_server) => {
                let by_server = by_server.add_nanoseconds(-self.ahead);
                // It stands still rather than go back a little.
                if apart(by_server, going_on) <= EXACT {
                    by_server.max(self.said.1)
                } else {
                    going_on
                }
            }
        };
        self.said = (instant, time);
        time
    }

    /// The time at `instant` if no answer contradicts it.
    fn going_on(&self, instant: Instant) -> Time {
        let (then, time) = self.said;
        match instant.checked_duration_since(then) {
            Some(later) => time.after(later),
            None => time.add_nanoseconds(-nanoseconds(then.duration_since(instant))),
        }
    }

    /// Reports whether the last answers show that the server's clock was set, and notes it. One answer proves nothing, since there may be
    /// several servers, and none that was long under way.
    fn was_set(&mut self, answers: &[Dated]) -> bool {
        let expected = |instant| self.going_on(instant).add_nanoseconds(self.ahead);
        let differs = |answer: &Dated| {
            let is_ahead = answer.date > expected(answer.received).after(EXACT);
            let is_behind = answer.date.after(Dated::ROUNDED + EXACT) < expected(answer.sent);
            (is_ahead || is_behind).then_some(is_ahead)
        };
        let agreeing = answers.iter().rfind(|answer| differs(answer).is_none());
        let agreed = agreeing.map(|answer| self.going_on(answer.received));
        let last = answers.len().checked_sub(IN_A_ROW).map(|start| &answers[start..]);
        let differing = last.filter(|last| {
            let first = differs(&last[0]);
            first.is_some() && last.iter().all(|answer| differs(answer) == first)
        });
        let step = differing.and_then(|last| {
            // What was under way for the shortest time is the most exact.
            let best = last.iter().min_by_key(|answer| answer.received - answer.sent)?;
            let by = best.at(best.received).unix_nanoseconds() - expected(best.received).unix_nanoseconds();
            Some((last[0].received, i64::try_from(by).ok()?))
        });
        self.agreed = agreed.map_or(self.agreed, |agreed| agreed.max(self.agreed));
        let Some((counts_from, by)) = step else {
            return false;
        };
        // A step that is not reported yet is reported with it.
        let untold = self.step.take();
        self.step = Some(ClockStep {
            by: untold.map_or(by, |untold| untold.by.saturating_add(by)),
            after: untold.map_or(self.agreed, |untold| untold.after),
        });
        self.ahead = self.ahead.saturating_add(by);
        self.counts_from = Some(counts_from);
        self.agreed = self.going_on(counts_from);
        true
    }

    /// The instant at which the clock will say `time`.
    pub(super) fn instant(&self, time: Time) -> Instant {
        let (instant, now) = self.said;
        instant + time.since(now)
    }

    /// The skew of the clock of this machine, which says `local` now; nothing if it is hardly measurable.
    pub(super) fn skew(&mut self, local: Time) -> Option<String> {
        let now = self.moment().written;
        let word = if local > now { "ahead of" } else { "behind" };
        let off = apart(local, now);
        (off > EXACT).then(|| {
            format!(
                "this machine's clock is {} s {word} the API server's; the API server's time is used",
                off.as_secs()
            )
        })
    }
}

/// The time at `instant`, which is the median of what the answers say; nothing if there are none.
fn by_server(answers: &[Dated], instant: Instant) -> Option<Time> {
    let mut times: Vec<Time> = answers.iter().map(|answer| answer.at(instant)).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

fn apart(one: Time, other: Time) -> Duration {
    one.since(other).max(other.since(one))
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Waits until `instant`, or forever if there is none.
pub(super) async fn reached(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// The time between two comparisons of the clock of this machine with the API server's.
const CLOCKS: Duration = Duration::from_secs(60);

/// Checks the clock of this machine for skew.
#[derive(Debug)]
pub(super) struct SkewCheck {
    wall: Option<fn() -> Time>,
    next: Instant,
    is_skewed: bool,
}

impl SkewCheck {
    /// Nothing is compared without a `wall`.
    pub(super) fn with(wall: Option<fn() -> Time>) -> Self {
        Self {
            wall,
            next: Instant::now(),
            is_skewed: false,
        }
    }

    /// Compares the clocks, if it is time to, and reports skew once.
    pub(super) fn message(&mut self, clock: &mut Clock) -> Option<Message> {
        let wall = self.wall.filter(|_| self.next <= Instant::now())?;
        self.next = Instant::now() + CLOCKS;
        let skew = clock.skew(wall());
        let is_news = !std::mem::replace(&mut self.is_skewed, skew.is_some());
        skew.filter(|_| is_news).map(Message::Clock)
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

    const START: &str = "2026-11-23T10:00:00Z";
    const HOUR: i64 = 3_600_000_000_000;

    /// A clock and a server that agree, at this instant.
    fn agreeing() -> (Clock, ServerTime, Instant) {
        let (server, start) = (ServerTime::default(), Instant::now());
        server.says(start, start, time(START));
        let mut clock = Clock::set(time("2026-11-23T12:00:00Z"), Some(server.clone()));
        assert_eq!(clock.at(start), time("2026-11-23T10:00:00.5Z"));
        (clock, server, start)
    }

    /// The clock at second 60 after `answers`, each at a second with what the server is off then.
    fn after(answers: &[(u64, i64)]) -> (Clock, Time) {
        let (mut clock, server, start) = agreeing();
        for (second, off) in answers {
            let instant = start + seconds(*second);
            server.says(
                instant,
                instant,
                time(START).after(seconds(*second)).add_nanoseconds(*off),
            );
            clock.at(instant);
        }
        let now = clock.at(start + seconds(60));
        (clock, now)
    }

    #[test]
    fn without_responses_it_continues_from_its_setting() {
        for server in [None, Some(ServerTime::default())] {
            let mut clock = Clock::set(time(START), server);
            let (start, _) = clock.said;
            assert_eq!(clock.at(start + seconds(5)), time("2026-11-23T10:00:05Z"));
            assert_eq!(clock.instant(time("2026-11-23T10:00:30Z")), start + seconds(30));
        }
    }

    #[test]
    fn the_servers_time_counts_and_a_small_correction_does_not_turn_it_back() {
        let (mut clock, server, start) = agreeing();
        assert_eq!(clock.at(start + seconds(5)), time("2026-11-23T10:00:05.5Z"));
        // The median of the answers is a second behind by now.
        for _ in 0..3 {
            server.says(start, start, time("2026-11-23T09:59:59Z"));
        }
        assert_eq!(clock.at(start + seconds(5)), time("2026-11-23T10:00:05.5Z"));
        assert_eq!(clock.at(start + seconds(7)), time("2026-11-23T10:00:06.5Z"));
        assert_eq!(clock.instant(time("2026-11-23T10:00:16.5Z")), start + seconds(17));
        assert_eq!(clock.step, None);
    }

    #[test]
    fn it_continues_when_the_servers_clock_is_set_and_reports_it_once() {
        for by in [HOUR, -HOUR, 5_000_000_000] {
            let (mut clock, now) = after(&[(8, 0), (10, by), (12, by), (14, by)]);
            assert_eq!(now, time("2026-11-23T10:01:00.5Z"));
            assert_eq!(clock.written(now), now.add_nanoseconds(by));
            let step = clock.step.take().unwrap();
            assert_eq!((step.by, step.after), (by, time("2026-11-23T10:00:08.5Z")));
            let (instant, _) = clock.said;
            assert_eq!(clock.instant(now.after(seconds(30))), instant + seconds(30));
        }
    }

    #[test]
    fn one_server_of_several_that_is_wrong_changes_nothing() {
        let answers = [
            (5, HOUR),
            (6, HOUR),
            (7, 0),
            (8, HOUR),
            (9, 0),
            (10, HOUR),
            (11, HOUR),
        ];
        let (clock, now) = after(&answers);
        assert_eq!((clock.step, clock.ahead), (None, 0));
        assert_eq!(now, time("2026-11-23T10:01:00.5Z"));
    }

    #[test]
    fn answers_that_were_long_under_way_prove_nothing() {
        let (mut clock, server, start) = agreeing();
        for _ in 0..20 {
            server.says(
                start + seconds(1),
                start + seconds(30),
                time("2026-11-23T10:00:01Z"),
            );
        }
        let now = clock.at(start + seconds(31));
        assert_eq!((now, clock.step), (time("2026-11-23T10:00:31.5Z"), None));
    }

    #[test]
    fn a_clock_that_is_set_and_set_right_again_is_where_it_was() {
        let mut answers = vec![];
        answers.extend([10, 12, 14].map(|second| (second, -HOUR)));
        answers.extend([20, 22, 24].map(|second| (second, 0)));
        let (clock, now) = after(&answers);
        assert_eq!((now, clock.ahead), (time("2026-11-23T10:01:00.5Z"), 0));
        // No client asked in between.
        assert_eq!(clock.step.map(|step| step.by), Some(0));
    }

    #[test]
    fn a_wrong_local_clock_is_reported_and_changes_nothing() {
        let server = ServerTime::default();
        server.says(Instant::now(), Instant::now(), time(START));
        let mut clock = Clock::set(time("2026-11-23T11:00:00Z"), Some(server));
        assert_eq!(clock.skew(time("2026-11-23T10:00:01Z")), None);
        let told = clock.skew(time("2026-11-23T11:00:30Z")).unwrap();
        assert!(told.contains(" s ahead of the API server's"), "{told}");
        let told = clock.skew(time("2026-11-23T09:00:00Z")).unwrap();
        assert!(told.contains(" s behind the API server's"), "{told}");
        assert!(clock.now() < time("2026-11-23T10:01:00Z"));
    }
}
