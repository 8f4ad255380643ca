//! The time by the API server's clock, as its answers tell it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, header};
use tokio::time::Instant;

use crate::model::Time;

/// So many answers count, the last ones.
const ANSWERS: usize = 15;

/// The header has whole seconds, rounded down; on average half of one is missing.
const ROUNDED: Duration = Duration::from_millis(500);

/// What the last answers said of the time. Copies share what they know.
#[derive(Clone, Debug, Default)]
pub struct ServerTime(Arc<Mutex<VecDeque<(Instant, Time)>>>);

impl ServerTime {
    /// Takes note of the `Date` of an answer that came at `instant`. Something between here and the server may leave it out.
    pub(super) fn note(&self, instant: Instant, headers: &HeaderMap) {
        let date = headers.get(header::DATE).and_then(|date| date.to_str().ok());
        let parser = jiff::fmt::rfc2822::DateTimeParser::new();
        let Some(date) = date.and_then(|date| parser.parse_timestamp(date).ok()) else {
            return;
        };
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() == ANSWERS {
            answers.pop_front();
        }
        answers.push_back((instant, Time::from(date).after(ROUNDED)));
    }

    /// The time at `instant`, which is the median of what the last answers say; nothing if none has said anything. Each is right to a
    /// second, besides what it was under way.
    pub fn at(&self, instant: Instant) -> Option<Time> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut times: Vec<Time> = answers
            .iter()
            .map(|(then, time)| match instant.checked_duration_since(*then) {
                Some(later) => time.after(later),
                None => {
                    let earlier = i64::try_from(then.duration_since(instant).as_nanos()).unwrap_or(i64::MAX);
                    time.add_nanoseconds(-earlier)
                }
            })
            .collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }
}

#[cfg(test)]
impl ServerTime {
    /// What answers at these instants say.
    pub(crate) fn of(answers: &[(Instant, Time)]) -> Self {
        Self(Arc::new(Mutex::new(answers.iter().copied().collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(date: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::DATE, date.parse().unwrap())])
    }

    fn time(text: &str) -> Time {
        text.parse().unwrap()
    }

    #[test]
    fn the_median_of_the_last_answers_counts() {
        let server = ServerTime::default();
        let start = Instant::now();
        assert_eq!(server.at(start), None);
        server.note(start, &HeaderMap::new());
        server.note(start, &answer("yesterday"));
        assert_eq!(server.at(start), None, "no date is no time");

        server.note(start, &answer("Mon, 23 Nov 2026 10:00:00 GMT"));
        assert_eq!(server.at(start), Some(time("2026-11-23T10:00:00.5Z")));
        let later = start + Duration::from_secs(10);
        assert_eq!(server.at(later), Some(time("2026-11-23T10:00:10.5Z")));

        // One server of several is wrong by an hour.
        server.note(later, &answer("Mon, 23 Nov 2026 11:00:10 GMT"));
        server.note(later, &answer("Mon, 23 Nov 2026 10:00:11 GMT"));
        assert_eq!(server.at(later), Some(time("2026-11-23T10:00:11.5Z")));
        assert_eq!(server.at(start), Some(time("2026-11-23T10:00:01.5Z")));

        // The clock of all of them is set; what they said before is forgotten.
        for _ in 0..ANSWERS {
            server.note(later, &answer("Mon, 23 Nov 2026 12:00:00 GMT"));
        }
        assert_eq!(server.at(later), Some(time("2026-11-23T12:00:00.5Z")));
    }
}
