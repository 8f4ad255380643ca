//! Words and numbers as kubectl writes them: ages, counts, and what stands where nothing is.

use std::fmt;

use jiff::SignedDuration;

use dra_model::Time;

/// Stands where there is nothing to show.
pub(crate) const NONE: &str = "<none>";
/// Stands for a possible but unknown value.
pub(crate) const UNKNOWN: &str = "<unknown>";

/// The age at `now` of what was created at `then`, as in kubectl's AGE column.
pub(crate) fn age(now: Time, then: Option<Time>) -> String {
    let Some(then) = then else {
        return UNKNOWN.to_owned();
    };
    let nanoseconds = now.unix_nanoseconds() - then.unix_nanoseconds();
    human_duration(SignedDuration::from_nanos_i128(nanoseconds))
}

/// A duration in two or three significant figures: `90s`, `5m10s`, `3h`, `2d4h`, `2y35d`.
///
/// Mirrors apimachinery `util/duration/duration.go`, `HumanDuration`, v1.37.2.
pub(crate) fn human_duration(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    // Clocks differ a little between machines: up to two seconds into the future count as now.
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    let seconds = seconds.max(0);
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    let two = |whole: i64, unit: &str, part: i64, small: &str| {
        if part == 0 {
            format!("{whole}{unit}")
        } else {
            format!("{whole}{unit}{part}{small}")
        }
    };
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => two(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => two(days, "d", hours % 24, "h"),
        () if days < 2 * 365 => format!("{days}d"),
        () if years < 8 => two(years, "y", days % 365, "d"),
        () => format!("{years}y"),
    }
}

/// `text` where something holds, else nothing.
pub(crate) fn when(holds: bool, text: &str) -> &str {
    if holds { text } else { "" }
}

/// `1 claim`, `2 claims`, `1234567 claims`. The plural is written out: `class` and `policy` have no rule. As in kubectl and in tables, the
/// digits are not grouped.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Those of the counted things that there are, as [`counted`] tells each.
pub(crate) fn present<const N: usize>(things: [(usize, &str, &str); N]) -> Vec<String> {
    let present = things.into_iter().filter(|(count, ..)| *count > 0);
    present
        .map(|(count, one, many)| counted(count, one, many))
        .collect()
}

/// Several things in one cell, or `<none>`.
pub(crate) fn list_or_none<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut list = String::new();
    for item in items {
        if !list.is_empty() {
            list.push(',');
        }
        // Writing to a string cannot fail.
        let _ = fmt::Write::write_fmt(&mut list, format_args!("{item}"));
    }
    if list.is_empty() { NONE.to_owned() } else { list }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_in_kubectl() {
        let (minute, hour, day, year) = (60, 3600, 86400, 365 * 86400);
        for (seconds, expected) in [
            (-3, "<invalid>"),
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (1, "1s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (10 * minute - 1, "9m59s"),
            (10 * minute, "10m"),
            (10 * minute + 1, "10m"),
            (3 * hour - 1, "179m"),
            (3 * hour, "3h"),
            (3 * hour + minute, "3h1m"),
            (8 * hour - 1, "7h59m"),
            (8 * hour, "8h"),
            (8 * hour + 59 * minute, "8h"),
            (48 * hour - 1, "47h"),
            (2 * day, "2d"),
            (2 * day + hour, "2d1h"),
            (8 * day - 1, "7d23h"),
            (8 * day, "8d"),
            (2 * year - 1, "729d"),
            (2 * year, "2y"),
            (2 * year + day, "2y1d"),
            (8 * year - 1, "7y364d"),
            (8 * year, "8y"),
            (8 * year + 364 * day, "8y"),
            (9 * year, "9y"),
        ] {
            assert_eq!(
                human_duration(SignedDuration::from_secs(seconds)),
                expected,
                "{seconds}"
            );
        }
        // Half a second short of two into the future still counts as now, as truncation has it.
        assert_eq!(human_duration(SignedDuration::from_millis(-1_999)), "0s");
        assert_eq!(human_duration(SignedDuration::MAX), "292471208677y");
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(counted(1, "class", "classes"), "1 class");
        assert_eq!(counted(0, "class", "classes"), "0 classes");
        assert_eq!(counted(12345, "pod", "pods"), "12345 pods");
    }

    #[test]
    fn nothing_is_said_in_kubectls_words() {
        assert_eq!(list_or_none::<&str>([]), "<none>");
        assert_eq!(list_or_none(["a", "b"]), "a,b");
        assert_eq!(age(Time::from_unix_seconds(0), None), "<unknown>");
    }
}
