//! Parts of timestamps and durations. Mirrors `common/stdlib/standard.go`, `inTimeZone` (cel-go v0.29).

use std::collections::HashSet;
use std::sync::LazyLock;

use jiff::civil::DateTime;
use jiff::tz::TimeZoneDatabase;

use super::Binding::Guarded;
use super::{Declaration, overloads};
use crate::value::time::Timestamp;
use crate::value::{Fault, Outcome, Value};

/// The overloads of parts of a timestamp: in UTC, and in a time zone.
macro_rules! parts {
    ($($id:literal, $id_with_zone:literal: $function:literal => $part:expr;)*) => {
        &[$(
            Declaration::new(
                $id,
                concat!("<timestamp>.", $function, "() -> int"),
                Guarded(|_, args| part(args, $part)),
            ),
            Declaration::new(
                $id_with_zone,
                concat!("<timestamp>.", $function, "(string) -> int"),
                Guarded(|_, args| part(args, $part)),
            ),
        )*]
    };
}

/// The functions.
pub(super) const FUNCTIONS: &[&[Declaration]] = &[
    parts! {
        "timestamp_to_year", "timestamp_to_year_with_tz": "getFullYear" => |(year, _)| year;
        "timestamp_to_month", "timestamp_to_month_with_tz": "getMonth" => |(_, at)| i64::from(at.month()) - 1;
        "timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz": "getDayOfYear"
            => |(_, at)| i64::from(at.day_of_year()) - 1;
        "timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz": "getDayOfMonth"
            => |(_, at)| i64::from(at.day()) - 1;
        "timestamp_to_day_of_month_1_based", "timestamp_to_day_of_month_1_based_with_tz": "getDate"
            => |(_, at)| i64::from(at.day());
        "timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz": "getDayOfWeek"
            => |(_, at)| i64::from(at.weekday().to_sunday_zero_offset());
        "timestamp_to_hours", "timestamp_to_hours_with_tz": "getHours" => |(_, at)| i64::from(at.hour());
        "timestamp_to_minutes", "timestamp_to_minutes_with_tz": "getMinutes" => |(_, at)| i64::from(at.minute());
        "timestamp_to_seconds", "timestamp_to_seconds_tz": "getSeconds" => |(_, at)| i64::from(at.second());
        "timestamp_to_milliseconds", "timestamp_to_milliseconds_with_tz": "getMilliseconds"
            => |(_, at)| i64::from(at.millisecond());
    },
    overloads! {
        "duration_to_hours": "<duration>.getHours() -> int" => |_, [Value::Duration(nanos)]| {
            Ok(Value::Int(nanos / 3_600_000_000_000))
        },
        "duration_to_minutes": "<duration>.getMinutes() -> int" => |_, [Value::Duration(nanos)]| {
            Ok(Value::Int(nanos / 60_000_000_000))
        },
        "duration_to_seconds": "<duration>.getSeconds() -> int" => |_, [Value::Duration(nanos)]| {
            Ok(Value::Int(nanos / 1_000_000_000))
        },
        "duration_to_milliseconds": "<duration>.getMilliseconds() -> int" => |_, [Value::Duration(nanos)]| {
            Ok(Value::Int(nanos / 1_000_000))
        },
    },
];

fn part<'a>(args: &[Value<'a>], part: fn((i64, DateTime)) -> i64) -> Outcome<'a> {
    let civil = match args {
        [Value::Timestamp(timestamp)] => timestamp.at_offset(0),
        [Value::Timestamp(timestamp), Value::String(zone)] => {
            timestamp.at_offset(offset_in(*timestamp, zone).map_err(Fault::error)?)
        }
        _ => return Err(Fault::no_such_overload()),
    };
    Ok(Value::Int(part(civil)))
}

/// Seconds east of UTC that `zone`, a name or `±hours:minutes`, has at `timestamp`.
fn offset_in(timestamp: Timestamp, zone: &str) -> Result<i64, String> {
    let Some((hours, minutes)) = zone.split_once(':') else {
        return offset_of_name(timestamp, zone);
    };
    let (hours, minutes) = (atoi(hours)?, atoi(minutes)?);
    let minutes = if zone.starts_with('-') {
        hours.wrapping_mul(60).wrapping_sub(minutes)
    } else {
        hours.wrapping_mul(60).wrapping_add(minutes)
    };
    // Go multiplies as nanoseconds.
    Ok(minutes.wrapping_mul(60_000_000_000) / 1_000_000_000)
}

/// The directories with zone files, and their parent. Go reports a zone with such a name as a directory.
static FOLDERS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let database = TimeZoneDatabase::bundled();
    let folders = database.available().flat_map(|zone| {
        let zone = zone.as_str();
        let ends = zone.match_indices('/');
        ends.map(|(end, _)| zone[..end].to_owned()).collect::<Vec<_>>()
    });
    folders.chain([".".to_owned()]).collect()
});

fn offset_of_name(timestamp: Timestamp, name: &str) -> Result<i64, String> {
    if matches!(name, "" | "UTC" | "Local") {
        return Ok(0);
    }
    if name.starts_with(['/', '\\']) || name.split(['/', '\\']).any(|part| part == "..") {
        return Err("time: invalid location name".to_owned());
    }
    let unknown = || {
        if FOLDERS.contains(name.trim_end_matches('/')) {
            "is a directory".to_owned()
        } else {
            format!("unknown time zone {name}")
        }
    };
    let zone = TimeZoneDatabase::bundled().get(name).map_err(|_| unknown())?;
    // Names are found whatever their case, but files are not.
    if zone.iana_name() != Some(name) {
        return Err(unknown());
    }
    let instant = jiff::Timestamp::from_second(timestamp.seconds).map_err(|_| unknown())?;
    Ok(i64::from(zone.to_offset(instant).seconds()))
}

/// Mirrors `strconv.Atoi`.
fn atoi(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let problem = |what: &str| format!("strconv.Atoi: parsing {}: {what}", dra_values::go_quote(text));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(problem("invalid syntax"));
    }
    text.parse().map_err(|_| problem("value out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_have_names_or_offsets() {
        let winter = Timestamp {
            seconds: 1_700_000_000,
            nanos: 0,
            zone: None,
        };
        for (zone, offset) in [
            ("UTC", Ok(0)),
            ("Europe/Berlin", Ok(3_600)),
            ("America/New_York", Ok(-18_000)),
            ("europe/berlin", Err("unknown time zone europe/berlin")),
            ("Nowhere", Err("unknown time zone Nowhere")),
            ("../UTC", Err("time: invalid location name")),
            (".", Err("is a directory")),
            ("Europe", Err("is a directory")),
            ("+05:30", Ok(19_800)),
            ("-02:30", Ok(-9_000)),
            (":30", Err("strconv.Atoi: parsing \"\": invalid syntax")),
            (
                "9999999999999999999:0",
                Err("strconv.Atoi: parsing \"9999999999999999999\": value out of range"),
            ),
        ] {
            assert_eq!(offset_in(winter, zone), offset.map_err(str::to_owned), "{zone}");
        }
    }
}
