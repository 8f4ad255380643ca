//! Times that the API server wrote, whose clock was set meanwhile.

use std::collections::BTreeMap;

use dra_model::Time;

/// The API server's clock was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStep {
    /// By so many nanoseconds; negative where it was set back.
    pub by: i64,
    /// Last time at which it ran as before, on the monotonic clock.
    pub after: Time,
}

/// Number of clock changes to remember, the latest ones.
const STEPS: usize = 16;

/// Translates between times written by the API server and a monotonic clock that starts with the API server's time at
/// the first look. Delays are measured on it, so that they expire neither early nor late.
#[derive(Clone, Debug, Default)]
pub struct Timescale {
    /// The first time that was written by each setting of the server's clock, and by how many nanoseconds it is ahead since. Those before
    /// the first one were written as it was before.
    settings: Vec<(Time, i64)>,
    /// Written times that are known to be older than the last setting, with their value on the monotonic clock. After
    /// the clock was set back, nothing else distinguishes them from new ones.
    known: BTreeMap<Time, Time>,
}

impl Timescale {
    /// The clock was set, and these times were written before.
    pub fn set(&mut self, step: ClockStep, before: impl IntoIterator<Item = Time>) {
        self.known = (before.into_iter())
            .map(|written| (written, self.read(written)))
            .collect();
        let ahead = self.ahead();
        if self.settings.is_empty() {
            self.settings.push((step.after, ahead));
        } else if self.settings.len() > STEPS {
            self.settings.remove(0);
        }
        let ahead = ahead.saturating_add(step.by);
        self.settings.push((step.after.add_nanoseconds(ahead), ahead));
    }

    /// Returns a written time on the monotonic clock.
    pub fn read(&self, written: Time) -> Time {
        if let Some(known) = self.known.get(&written) {
            return *known;
        }
        let mut newest_first = self.settings.iter().rev();
        let setting = newest_first.find(|(first, _)| *first <= written);
        let setting = setting.or(self.settings.first());
        written.add_nanoseconds(-setting.map_or(0, |(_, ahead)| *ahead))
    }

    /// Returns what the API server's clock says at `time`, which is after it was set last.
    pub fn written(&self, time: Time) -> Time {
        time.add_nanoseconds(self.ahead())
    }

    /// By how many nanoseconds the server's clock is ahead.
    fn ahead(&self) -> i64 {
        self.settings.last().map_or(0, |(_, ahead)| *ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000_000;

    fn at(second: i64) -> Time {
        Time::from_unix_seconds(100_000 + second)
    }

    fn step(by: i64, after: i64) -> ClockStep {
        ClockStep { by, after: at(after) }
    }

    #[test]
    fn times_from_before_and_after_are_distinguished() {
        let mut scale = Timescale::default();
        assert_eq!((scale.read(at(7)), scale.written(at(7))), (at(7), at(7)));
        scale.set(step(HOUR, 50), []);
        // Nothing was written within the hour that there never was.
        assert_eq!(
            [at(7), at(49), at(3650), at(3660)].map(|written| scale.read(written)),
            [at(7), at(49), at(50), at(60)]
        );
        assert_eq!(scale.written(at(60)), at(3660));
        scale.set(step(-HOUR, 100), [at(7), at(3660)]);
        assert_eq!(
            [at(7), at(3660), at(110)].map(|written| scale.read(written)),
            [at(7), at(60), at(110)]
        );
        assert_eq!(scale.written(at(110)), at(110));
    }

    #[test]
    fn where_it_was_set_back_what_is_known_is_old_and_the_rest_is_new() {
        let mut scale = Timescale::default();
        scale.set(step(-HOUR, 4000), [at(3900)]);
        assert_eq!(
            [at(300), at(410), at(3900), at(3901)].map(|written| scale.read(written)),
            [at(300), at(4010), at(3900), at(7501)]
        );
        assert_eq!(scale.written(at(4010)), at(410));
    }

    #[test]
    fn repeated_clock_changes_take_no_more_memory() {
        let mut scale = Timescale::default();
        for number in 0..100 {
            scale.set(step(HOUR, number), []);
        }
        assert_eq!(scale.settings.len(), STEPS + 1);
        let written = scale.written(at(100));
        assert_eq!(scale.read(written), at(100));
    }
}
