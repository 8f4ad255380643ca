//! Number of requests a controller sends.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A bucket of tokens, kept as the time at which it is full again: a burst of `burst` requests, and `qps` in each
/// second from then on.
#[derive(Debug)]
pub(super) struct RateLimiter {
    interval: Duration,
    burst: Duration,
    full: Mutex<Option<Instant>>,
}

impl RateLimiter {
    /// With a rate of 0 nothing is held back.
    pub(super) fn new(qps: u32, burst: u32) -> Self {
        let interval = Duration::from_secs(1).checked_div(qps).unwrap_or_default();
        Self {
            interval,
            burst: interval.saturating_mul(burst.max(1)),
            full: Mutex::default(),
        }
    }

    /// Waits until a request may be sent. Requests are let through in the order in which they ask.
    pub(super) async fn wait(&self) {
        if let Some(until) = self.reserve(Instant::now()) {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Takes a token; when it may be used, if that is not now.
    fn reserve(&self, now: Instant) -> Option<Instant> {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        let next = full.map_or(now, |full| full.max(now)) + self.interval;
        *full = Some(next);
        let allowed = next.checked_sub(self.burst)?;
        (allowed > now).then_some(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_immediately_and_the_rest_at_the_rate() {
        let limiter = RateLimiter::new(10, 3);
        let now = Instant::now() + Duration::from_secs(3600);
        let waits: Vec<Duration> = (0..5)
            .map(|_| limiter.reserve(now).map_or(Duration::ZERO, |until| until - now))
            .collect();
        let expected = [0, 0, 0, 100, 200].map(Duration::from_millis);
        assert_eq!(waits, expected);
        // Tokens come back, but never more than the burst.
        let later = now + Duration::from_secs(60);
        assert_eq!((0..4).filter(|_| limiter.reserve(later).is_some()).count(), 1);
        let unlimited = RateLimiter::new(0, 0);
        assert!((0..1000).all(|_| unlimited.reserve(now).is_none()));
    }
}
