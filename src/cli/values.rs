//! The values of flags: what they may be, in kubectl's syntax, and what help says about each choice.

use std::ffi::OsStr;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, ValueEnum};

use crate::output::Format;
use dra_model::{LabelSelector, LabelSelectorError, Time};
use dra_sources::live::{check_proxy, no_path_segment};
use dra_sources::{GateSetting, MinorVersion, go_bool};

/// Reads `-o` of a command. Formats of other commands are read too, so that the command can say who has them, but only these are shown.
pub(super) fn formats(shown: &[Format]) -> impl TypedValueParser<Value = Format> + use<> {
    let is_hidden = |format: &&Format| !shown.contains(format);
    let hidden = Format::value_variants().iter().filter(is_hidden);
    let hidden = hidden.filter_map(|format| Some(format.to_possible_value()?.hide(true)));
    let values = shown.iter().filter_map(Format::to_possible_value).chain(hidden);
    PossibleValuesParser::new(values).try_map(|text| Format::from_str(&text, true))
}

/// A timeout as kubectl reads it: seconds, or a Go duration. Zero means none.
///
/// Mirrors client-go `tools/clientcmd/helpers.go`, `ParseTimeout`, v0.37.1; a negative duration, which would end every
/// request before it begins, is refused.
pub(super) fn request_timeout(text: &str) -> Result<Duration, String> {
    let seconds = text
        .strip_prefix('+')
        .unwrap_or(text)
        .parse::<u32>()
        .ok()
        .map(f64::from);
    let duration = seconds
        .or_else(|| go_duration(text))
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected seconds or a duration such as 1s, 2m or 1h30m".to_owned())
}

/// The seconds of a Go duration, such as `1h30m`, `1.5s` or `300ms`.
fn go_duration(text: &str) -> Option<f64> {
    let (sign, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (if text.starts_with('-') { -1.0 } else { 1.0 }, rest),
        None => (1.0, text),
    };
    if rest == "0" {
        return Some(0.0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(number_end);
        let unit_end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let unit = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * unit;
        rest = after;
    }
    Some(sign * seconds)
}

/// One `NAME=true` of a list of feature gates.
pub(super) fn gate(text: &str) -> Result<GateSetting, String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=true or NAME=false")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(format!("invalid feature gate name `{name}`"));
    }
    let enabled = go_bool(value).ok_or_else(|| format!("invalid value `{value}`: expected true or false"))?;
    Ok(GateSetting {
        name: name.to_owned(),
        enabled,
    })
}

/// A release: `1.37`, `v1.37`, `v1.37.2`, `1.37.2-gke.1`; with its patch where that is given.
pub(super) fn kubernetes_version(text: &str) -> Result<(MinorVersion, Option<u32>), String> {
    let parse = || {
        let mut parts = text.strip_prefix('v').unwrap_or(text).splitn(3, '.');
        let mut number = || {
            parts
                .next()
                .filter(|part| part.bytes().all(|b| b.is_ascii_digit()))
        };
        let (major, minor) = (number()?.parse().ok()?, number()?.parse().ok()?);
        let patch = match parts.next() {
            None => None,
            Some(rest) => {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                Some(rest[..end].parse().ok()?)
            }
        };
        Some((MinorVersion { major, minor }, patch))
    };
    parse().ok_or_else(|| "expected a version such as 1.37 or v1.37.1".to_owned())
}

/// A proxy that requests can go through. Its address may hold a password, so that an error does not repeat it, as the errors of
/// other values do.
#[derive(Clone)]
pub(super) struct ProxyUrl;

impl TypedValueParser for ProxyUrl {
    type Value = String;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let text = value.to_str().ok_or("it is not valid UTF-8".to_owned());
        let checked = text.and_then(|text| match text {
            "" => Ok(text),
            _ => check_proxy(text).map(|()| text),
        });
        checked.map(str::to_owned).map_err(|wrong| {
            let message = format!("invalid value for '--proxy-url <URL>': {wrong}\n");
            clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        })
    }
}

/// A namespace's name, which becomes a part of the address of requests.
pub(super) fn namespace(text: &str) -> Result<String, String> {
    match no_path_segment(text) {
        Some(wrong) => Err(format!("a namespace {wrong}")),
        None => Ok(text.to_owned()),
    }
}

/// `KEY=VALUE` of an impersonated user.
pub(super) fn user_extra(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// An instant, as in the objects of the API.
pub(super) fn instant(text: &str) -> Result<Time, String> {
    Time::from_str(text).map_err(|_| "expected a time such as 2026-08-01T12:00:00Z".to_owned())
}

/// The text of a label selector, checked.
pub(super) fn labels(text: &str) -> Result<String, LabelSelectorError> {
    text.parse::<LabelSelector>()?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_read_as_kubectl_reads_them() {
        for (text, milliseconds) in [
            ("0", 0),
            ("5", 5_000),
            ("+5", 5_000),
            ("1s", 1_000),
            ("0s", 0),
            ("2m", 120_000),
            ("1h30m", 5_400_000),
            ("1.5s", 1_500),
            (".5s", 500),
            ("300ms", 300),
            ("1m0.5s", 60_500),
            ("+1s", 1_000),
            ("1500us", 1),
            ("1500µs", 1),
            ("1000000ns", 1),
        ] {
            let duration = request_timeout(text).expect(text);
            assert_eq!(duration.as_millis(), milliseconds, "{text}");
        }
        for text in [
            "",
            "-1",
            "-1s",
            "s",
            "1x",
            "1 s",
            "1s2",
            "ten",
            "1e3s",
            "..s",
            "1d",
            "-",
            "99999999999999999999h",
        ] {
            assert!(request_timeout(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn gates_are_read_as_components_read_them() {
        let expected = |enabled| GateSetting {
            name: "DRADeviceTaints".to_owned(),
            enabled,
        };
        assert_eq!(gate("DRADeviceTaints=true"), Ok(expected(true)));
        assert_eq!(gate(" DRADeviceTaints = F"), Ok(expected(false)));
        for text in ["", "DRADeviceTaints", "=true", "A=yes", "A=", "A B=true"] {
            assert!(gate(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_version_is_its_minor_release_with_its_patch() {
        for (text, patch) in [
            ("1.37", None),
            ("v1.37", None),
            ("v1.37.1", Some(1)),
            ("1.37.0-alpha.1", Some(0)),
            ("1.37.2-gke.100+x", Some(2)),
        ] {
            let release = MinorVersion { major: 1, minor: 37 };
            assert_eq!(kubernetes_version(text), Ok((release, patch)), "{text}");
        }
        for text in [
            "",
            "1",
            "v",
            "1.",
            "1.x",
            "1.37.x",
            "-1.37",
            "1.+37",
            "1.99999999999",
        ] {
            assert!(kubernetes_version(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn other_values_are_checked_before_they_are_used() {
        for text in ["", "a", "a b?c#"] {
            assert!(namespace(text).is_ok(), "{text:?}");
        }
        for text in [".", "..", "a/b", "%2e", "a\nb", "\0"] {
            assert!(namespace(text).is_err(), "{text:?}");
        }
        assert_eq!(
            user_extra("scopes=a=b"),
            Ok(("scopes".to_owned(), "a=b".to_owned()))
        );
        assert!(user_extra("scopes").is_err());
        assert!(instant("2026-08-01T12:00:00Z").is_ok());
        assert!(instant("yesterday").is_err());
    }
}
