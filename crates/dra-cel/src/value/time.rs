//! Durations and timestamps, read and written as Go does.
//!
//! A duration is a number of nanoseconds. A timestamp remembers the offset it was written with, because printing shows
//! it. Mirrors `time.ParseDuration`, `time.Parse` with `RFC3339`, and `overflow.go` of cel-go v0.29.

use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::Fault;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timestamp {
    /// Since 1970.
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
    /// Minutes east of UTC, unless it was written or made in UTC. Go tells that from no minutes east.
    pub(crate) zone: Option<i16>,
}

/// The first and last second that a timestamp may have: years 1 to 9999.
const MIN_SECONDS: i64 = -62_135_596_800;
const MAX_SECONDS: i64 = 253_402_300_799;

const NANOS: i64 = 1_000_000_000;

impl Timestamp {
    /// The earliest, and Go's zero time.
    pub(crate) const FIRST: Self = Self {
        seconds: MIN_SECONDS,
        nanos: 0,
        zone: None,
    };

    /// Returns what is compared: the offset does not count.
    pub(crate) fn instant(self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }

    pub(crate) fn from_unix(seconds: i64) -> Result<Self, Fault> {
        if (MIN_SECONDS..=MAX_SECONDS).contains(&seconds) {
            Ok(Self {
                seconds,
                nanos: 0,
                zone: None,
            })
        } else {
            Err(overflow())
        }
    }

    /// Seconds east of UTC.
    pub(crate) fn offset(self) -> i32 {
        i32::from(self.zone.unwrap_or(0)) * 60
    }

    /// Returns whether all timestamps in this zone share it, as Go caches zones of whole hours from -12 to 14. Mirrors `time.FixedZone`.
    pub(crate) fn has_shared_zone(self) -> bool {
        let offset = self.offset();
        offset % 3_600 == 0 && (-12..=14).contains(&(offset / 3_600))
    }

    /// The year and what else is asked of the same instant at another offset.
    pub(crate) fn at_offset(self, offset: i64) -> (i64, DateTime) {
        let seconds = self.seconds.saturating_add(offset) - CYCLE;
        let instant = jiff::Timestamp::new(seconds, self.nanos as i32).unwrap_or_default();
        let earlier = Offset::UTC.to_datetime(instant);
        (i64::from(earlier.year()) + CYCLE_YEARS, earlier)
    }
}

/// Years after which the calendar repeats, weekdays included. Dates are looked up so many years before: jiff's calendar ends with 9999.
const CYCLE_YEARS: i64 = 400;
const CYCLE: i64 = 146_097 * 86_400;

fn overflow() -> Fault {
    Fault::error("timestamp overflow")
}

/// `timestamp + nanoseconds`.
pub(crate) fn add_duration(timestamp: Timestamp, duration: i64) -> Result<Timestamp, Fault> {
    let total = i64::from(timestamp.nanos) + duration % NANOS;
    let seconds = timestamp
        .seconds
        .checked_add(duration / NANOS)
        .and_then(|seconds| seconds.checked_add(total.div_euclid(NANOS)))
        .ok_or_else(|| Fault::error("integer overflow"))?;
    if !(MIN_SECONDS..=MAX_SECONDS).contains(&seconds) {
        return Err(overflow());
    }
    Ok(Timestamp {
        seconds,
        nanos: total.rem_euclid(NANOS) as u32,
        zone: timestamp.zone,
    })
}

/// `left - right` in nanoseconds.
pub(crate) fn between(left: Timestamp, right: Timestamp) -> Result<i64, Fault> {
    let nanos = i64::from(left.nanos) - i64::from(right.nanos);
    (left.seconds - right.seconds)
        .checked_mul(NANOS)
        .and_then(|seconds| seconds.checked_add(nanos))
        .ok_or_else(|| Fault::error("integer overflow"))
}

/// Reads what Go's `time.Parse` takes for RFC 3339: hours may have one digit, and a comma may begin the fraction.
pub(crate) fn parse_timestamp(text: &str) -> Option<Result<Timestamp, Fault>> {
    let mut cursor = Cursor(text.as_bytes());
    let year = i64::from(cursor.digits(4)?) - CYCLE_YEARS;
    cursor.expect(b'-')?;
    let month = cursor.digits(2)?;
    cursor.expect(b'-')?;
    let day = cursor.digits(2)?;
    cursor.expect(b'T')?;
    let hour = cursor.one_or_two_digits()?;
    cursor.expect(b':')?;
    let minute = cursor.digits(2)?;
    cursor.expect(b':')?;
    let second = cursor.digits(2)?;
    let nanos = cursor.fraction()?;
    let zone = if cursor.expect(b'Z').is_some() {
        None
    } else {
        Some(cursor.minutes_east()?)
    };
    if !cursor.0.is_empty() {
        return None;
    }
    let [month, day, hour, minute, second] = [month, day, hour, minute, second].map(|number| number as i8);
    let earlier = DateTime::new(year as i16, month, day, hour, minute, second, 0).ok()?;
    let local = Offset::UTC.to_timestamp(earlier).ok()?.as_second() + CYCLE;
    let seconds = local - i64::from(zone.unwrap_or(0)) * 60;
    if !(MIN_SECONDS..=MAX_SECONDS).contains(&seconds) {
        return Some(Err(overflow()));
    }
    Some(Ok(Timestamp { seconds, nanos, zone }))
}

struct Cursor<'t>(&'t [u8]);

impl Cursor<'_> {
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let value = number(digits)?;
        self.0 = rest;
        Some(value)
    }

    fn one_or_two_digits(&mut self) -> Option<u32> {
        let count = if self.0.get(1).is_some_and(u8::is_ascii_digit) {
            2
        } else {
            1
        };
        self.digits(count)
    }

    fn fraction(&mut self) -> Option<u32> {
        if !matches!(self.0, [b'.' | b',', b'0'..=b'9', ..]) {
            return Some(0);
        }
        let length = self.0[1..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let digits = &self.0[1..=length];
        self.0 = &self.0[length + 1..];
        let kept = number(&digits[..length.min(9)])?;
        Some(kept * 10_u32.pow(9 - length.min(9) as u32))
    }

    fn minutes_east(&mut self) -> Option<i16> {
        let sign = match self.0.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        let hours = self.digits(2)?;
        self.expect(b':')?;
        let minutes = self.digits(2)?;
        // Go's bounds, which take 24 hours and 60 minutes.
        if hours > 24 || minutes > 60 {
            return None;
        }
        Some(sign * (hours * 60 + minutes) as i16)
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0_u32, |value, digit| {
        digit
            .is_ascii_digit()
            .then(|| value * 10 + u32::from(digit - b'0'))
    })
}

/// Date and time of `timestamp` where it was written, with `separator` between them, and a fraction only where there is one.
pub(crate) fn date_and_time(timestamp: Timestamp, separator: char) -> String {
    let (year, at) = timestamp.at_offset(timestamp.offset().into());
    let mut out = format!(
        "{year:04}-{:02}-{:02}{separator}{:02}:{:02}:{:02}",
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    );
    if timestamp.nanos > 0 {
        out.push_str(format!(".{:09}", timestamp.nanos).trim_end_matches('0'));
    }
    out
}

/// `timestamp` as Go's `RFC3339Nano`.
pub(crate) fn format_timestamp(timestamp: Timestamp) -> String {
    let mut out = date_and_time(timestamp, 'T');
    if timestamp.offset() == 0 {
        out.push('Z');
    } else {
        let minutes = timestamp.offset().unsigned_abs() / 60;
        let sign = if timestamp.offset() < 0 { '-' } else { '+' };
        out.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
    }
    out
}

/// Nanoseconds of a unit.
fn unit(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// Reads what Go's `time.ParseDuration` takes.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    const LIMIT: u64 = 1 << 63;
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let whole_end = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut value = 0_u64;
        for digit in rest[..whole_end].bytes() {
            value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            if value > LIMIT {
                return None;
            }
        }
        rest = &rest[whole_end..];
        let mut fraction = 0_u64;
        let mut scale = 1.0_f64;
        let mut fraction_digits = 0;
        if let Some(after) = rest.strip_prefix('.') {
            fraction_digits = after.bytes().take_while(u8::is_ascii_digit).count();
            for digit in after[..fraction_digits].bytes() {
                // Digits that no longer fit do not count.
                match fraction
                    .checked_mul(10)
                    .and_then(|value| value.checked_add(u64::from(digit - b'0')))
                {
                    Some(more) if more <= LIMIT => {
                        fraction = more;
                        scale *= 10.0;
                    }
                    _ => break,
                }
            }
            rest = &after[fraction_digits..];
        }
        if whole_end == 0 && fraction_digits == 0 {
            return None;
        }
        let unit_end = rest
            .bytes()
            .take_while(|byte| *byte != b'.' && !byte.is_ascii_digit())
            .count();
        let unit = unit(&rest[..unit_end])?;
        rest = &rest[unit_end..];
        value = value.checked_mul(unit).filter(|value| *value <= LIMIT)?;
        if fraction > 0 {
            value = value.checked_add((fraction as f64 * (unit as f64 / scale)) as u64)?;
            if value > LIMIT {
                return None;
            }
        }
        total = total.checked_add(value).filter(|total| *total <= LIMIT)?;
    }
    if negative {
        Some((total as i64).wrapping_neg())
    } else {
        i64::try_from(total).ok()
    }
}

/// Seconds as a float. Mirrors `Duration.Seconds`.
pub(crate) fn duration_seconds(duration: i64) -> f64 {
    (duration / NANOS) as f64 + (duration % NANOS) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_timestamps() {
        for (text, printed) in [
            ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
            ("2024-02-29T23:59:59.120+02:00", "2024-02-29T23:59:59.12+02:00"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
            ("2024-01-01T1:00:00,5Z", "2024-01-01T01:00:00.5Z"),
            ("2024-01-01T00:00:00-00:30", "2024-01-01T00:00:00-00:30"),
        ] {
            let timestamp = parse_timestamp(text).unwrap().unwrap();
            assert_eq!(format_timestamp(timestamp), printed, "{text}");
        }
        for text in [
            "2023-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01",
            "",
            "x",
        ] {
            assert!(parse_timestamp(text).is_none(), "{text}");
        }
        assert!(parse_timestamp("9999-12-31T23:59:59-01:00").unwrap().is_err());
    }

    #[test]
    fn reads_durations() {
        for (text, nanos) in [
            ("1h2m3.5s", 3_723_500_000_000),
            ("-1.5h", -5_400_000_000_000),
            ("0", 0),
            ("1µs", 1_000),
            (".5ms", 500_000),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ] {
            assert_eq!(parse_duration(text), Some(nanos), "{text}");
        }
        for text in ["", "1", "1x", "-", ".s", "9223372036854775808ns", "1d"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn knows_the_calendar() {
        let at = |text: &str, offset| parse_timestamp(text).unwrap().unwrap().at_offset(offset);
        let weekday = |at: DateTime| at.weekday().to_sunday_zero_offset();
        let (year, civil) = at("2024-12-31T23:59:59Z", 0);
        assert_eq!(
            (
                year,
                civil.day_of_year(),
                weekday(civil),
                civil.month(),
                civil.day()
            ),
            (2024, 366, 2, 12, 31)
        );
        let (year, civil) = at("1969-07-20T20:17:40Z", 3600);
        assert_eq!((year, weekday(civil), civil.hour()), (1969, 0, 21));
        // Beyond the calendar of jiff, and before it begins to count.
        let (year, civil) = at("9999-12-31T23:59:59.5Z", 1);
        assert_eq!(
            (year, civil.day_of_year(), weekday(civil), civil.millisecond()),
            (10_000, 1, 6, 500)
        );
        let (year, civil) = at("0001-01-01T00:00:00Z", -1);
        assert_eq!((year, civil.day_of_year(), weekday(civil)), (0, 366, 0));
    }
}
