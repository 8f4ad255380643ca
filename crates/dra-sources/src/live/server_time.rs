//! The time by the API server's clock, as its answers tell it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, header};
use tokio::time::Instant;

use dra_model::Time;

/// So many answers count, the last ones.
const ANSWERS: usize = 15;

/// Time in one response.
#[derive(Clone, Copy, Debug)]
pub struct Dated {
    /// Time at which the request was sent …
    pub sent: Instant,
    /// … and when the answer came. The server told the time between the two.
    pub received: Instant,
    /// The server's time in whole seconds, rounded down.
    pub date: Time,
}

impl Dated {
    /// Precision of the API's times, which have no fractions of seconds.
    pub const ROUNDED: Duration = Duration::from_secs(1);

    /// Returns what the server's clock says at `instant`, if it had told the time when the answer came. That is right to half a second, besides
    /// what the answer was under way.
    pub fn at(&self, instant: Instant) -> Time {
        let date = self.date.after(Self::ROUNDED / 2);
        match instant.checked_duration_since(self.received) {
            Some(later) => date.after(later),
            None => {
                let earlier = self.received.duration_since(instant).as_nanos();
                date.add_nanoseconds(-i64::try_from(earlier).unwrap_or(i64::MAX))
            }
        }
    }
}

/// Times of the last responses. Copies share their state.
#[derive(Clone, Debug, Default)]
pub struct ServerTime(Arc<Mutex<VecDeque<Dated>>>);

impl ServerTime {
    /// Takes note of the `Date` of an answer. Something between here and the server may leave it out.
    pub(super) fn note(&self, sent: Instant, received: Instant, headers: &HeaderMap) {
        let date = headers.get(header::DATE).and_then(|date| date.to_str().ok());
        let parser = jiff::fmt::rfc2822::DateTimeParser::new();
        let Some(date) = date.and_then(|date| parser.parse_timestamp(date).ok()) else {
            return;
        };
        self.says(sent, received, Time::from(date));
    }

    /// Takes note that an answer to a request sent at `sent`, which came at `received`, says that it is `date`.
    pub fn says(&self, sent: Instant, received: Instant, date: Time) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() == ANSWERS {
            answers.pop_front();
        }
        answers.push_back(Dated { sent, received, date });
    }

    /// Returns what the last answers said that came at `since` or later, if that is given, in the order in which they came.
    pub fn answers(&self, since: Option<Instant>) -> Vec<Dated> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counting = answers
            .iter()
            .filter(|answer| since.is_none_or(|since| answer.received >= since));
        counting.copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answers_count_and_no_date_is_no_time() {
        let server = ServerTime::default();
        let start = Instant::now();
        server.note(start, start, &HeaderMap::new());
        let wrong = HeaderMap::from_iter([(header::DATE, "yesterday".parse().unwrap())]);
        server.note(start, start, &wrong);
        assert!(server.answers(None).is_empty());

        let time: Time = "2026-11-23T10:00:00Z".parse().unwrap();
        let second = Duration::from_secs(1);
        for number in 0..20 {
            let instant = start + second * number;
            server.says(instant, instant, time.after(second * number));
        }
        let answers = server.answers(None);
        assert_eq!(answers.len(), ANSWERS);
        assert_eq!(answers[0].date, time.after(second * 5));
        assert_eq!(server.answers(Some(start + second * 18)).len(), 2);
        let last = answers[ANSWERS - 1];
        let half = time.after(Duration::from_millis(500));
        assert_eq!(last.at(start + second * 30), half.after(second * 30));
        assert_eq!(last.at(start), half);
    }
}
