//! Instants as Kubernetes writes them: RFC 3339 in UTC.

use std::fmt;
use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::decode::Read;

/// An instant. Displayed and serialized as RFC 3339 in UTC (`2026-11-21T10:13:12Z`), with a fraction only where there is one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, schemars::JsonSchema)]
#[schemars(with = "String", inline, description = "", extend("format" = "date-time"))]
pub struct Time(jiff::Timestamp);

impl Time {
    /// The instant `seconds` after the Unix epoch; saturates at the ends of the calendar.
    pub fn from_unix_seconds(seconds: i64) -> Self {
        let end = if seconds < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        };
        Self(jiff::Timestamp::from_second(seconds).unwrap_or(end))
    }

    /// Seconds since the Unix epoch, rounded down.
    pub fn unix_seconds(self) -> i64 {
        self.0.as_nanosecond().div_euclid(1_000_000_000) as i64
    }

    /// The last whole second up to this instant, as objects of Kubernetes have it.
    #[must_use]
    pub fn whole_seconds(self) -> Self {
        Self::from_unix_seconds(self.unix_seconds())
    }

    /// Nanoseconds since the Unix epoch.
    pub fn unix_nanoseconds(self) -> i128 {
        self.0.as_nanosecond()
    }

    /// The instant `nanoseconds` later (earlier when negative); saturates at the ends of the calendar.
    #[must_use]
    pub fn add_nanoseconds(self, nanoseconds: i64) -> Self {
        let sum = self.0.saturating_add(SignedDuration::from_nanos(nanoseconds));
        Self(sum.unwrap_or(self.0))
    }

    /// The instant `later` after this one; saturates at the end of the calendar.
    #[must_use]
    pub fn after(self, later: Duration) -> Self {
        self.add_nanoseconds(i64::try_from(later.as_nanos()).unwrap_or(i64::MAX))
    }

    /// Returns how long after `earlier` this instant is; zero when it is not.
    pub fn since(self, earlier: Self) -> Duration {
        let nanos = (self.0.as_nanosecond() - earlier.0.as_nanosecond()).max(0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl std::str::FromStr for Time {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        match text.parse() {
            Ok(instant) => Ok(Self(instant)),
            // Kubernetes takes the last hours of the last year that can be written, which the calendar here does not have.
            Err(_) if text.starts_with("9999-12-3") && is_time(&text.replacen("9999", "9998", 1)) => {
                Ok(Self(jiff::Timestamp::MAX))
            }
            Err(error) => Err(error),
        }
    }
}

fn is_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

impl From<jiff::Timestamp> for Time {
    fn from(timestamp: jiff::Timestamp) -> Self {
        Self(timestamp)
    }
}

impl From<Time> for jiff::Timestamp {
    fn from(time: Time) -> Self {
        time.0
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Read<'_> for Time {}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rfc3339;
        impl serde::de::Visitor<'_> for Rfc3339 {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an RFC 3339 time")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Time, E> {
                text.parse()
                    .map_err(|_| E::custom(format_args!("`{text}` is not an RFC 3339 time")))
            }
        }
        deserializer.deserialize_str(Rfc3339)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_trip_and_saturate() {
        let time: Time = "2026-11-21T10:13:12Z".parse().unwrap();
        assert_eq!(time.to_string(), "2026-11-21T10:13:12Z");
        assert_eq!(time.unix_seconds(), 1_795_255_992);
        assert!(time.add_nanoseconds(i64::MAX) > time);
        // What Go reads and the calendar does not have.
        let last: Time = "9999-12-31T23:59:59Z".parse().unwrap();
        assert_eq!(last, Time::from(jiff::Timestamp::MAX));
        assert!("9999-12-32T00:00:00Z".parse::<Time>().is_err());
        assert_eq!(time.since(time.add_nanoseconds(5)), Duration::ZERO);
        assert_eq!(
            time.after(Duration::from_secs(3)).since(time),
            Duration::from_secs(3)
        );
        assert_eq!(
            "2026-11-21T10:13:12.157562Z".parse::<Time>().unwrap().to_string(),
            "2026-11-21T10:13:12.157562Z"
        );
    }
}
