//! Findings that were accepted: which ones, why, and until when.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Code, Counts, Finding, FindingList, UnknownCode, words};
use dra_model::Time;

/// A list of accepted findings, as a file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SuppressionList {
    /// `dra.kubectl.io/v1`.
    #[serde(deserialize_with = "api_version")]
    #[expect(dead_code, reason = "it is checked where it is read")]
    api_version: (),
    /// `SuppressionList`.
    #[serde(deserialize_with = "kind")]
    #[expect(dead_code, reason = "it is checked where it is read")]
    kind: (),
    /// What is accepted.
    pub items: Vec<Suppression>,
}

/// What is accepted of one code.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Suppression {
    /// The code, or the name of the finding.
    #[serde(deserialize_with = "code")]
    pub code: Code,
    /// The object as reports write it, `pod/NAMESPACE/NAME`; `*` stands for any characters, also for `/`.
    pub object: String,
    /// Why it is accepted.
    #[serde(deserialize_with = "said")]
    pub reason: String,
    /// The last day, in UTC, of its validity.
    #[serde(deserialize_with = "day")]
    pub expires: Date,
}

/// A finding that was accepted.
#[macro_rules_attribute::apply(report)]
pub struct Suppressed {
    /// Why it is accepted.
    pub reason: String,
    /// The last day of that.
    #[schemars(extend("format" = "date"))]
    pub expires: String,
    /// What was found.
    pub finding: Finding,
}

/// An item of the list without effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StaleSuppression {
    /// The code.
    pub code: Code,
    /// The object, or a pattern for objects.
    pub object: String,
    /// Why it was accepted.
    pub reason: String,
    /// Why it has no effect.
    pub why: Staleness,
}

/// Why an item of the list has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum Staleness {
    /// Its last day is over, so what it accepted is reported again.
    Expired,
    /// It matches no finding.
    NothingFound,
}

impl StaleSuppression {
    /// The same in a sentence.
    pub fn text(&self) -> String {
        words::stale(self.code, &self.object, self.why == Staleness::Expired)
    }
}

impl Suppression {
    fn is_about(&self, finding: &Finding) -> bool {
        self.code == finding.code && matches(&self.object, &finding.object.to_string())
    }

    /// Whether its last day is over.
    fn has_expired(&self, now: Time) -> bool {
        let next = self.expires.tomorrow().ok();
        let end = next.and_then(|day| day.to_zoned(TimeZone::UTC).ok());
        end.is_some_and(|end| end.timestamp().as_nanosecond() <= now.unix_nanoseconds())
    }
}

impl FindingList {
    /// Removes what `suppressions` accept at `now`, and notes those without effect. One of a code that was not checked is not noted, and
    /// neither is one that matches nothing while some checks could not run, or where not `all` of the cluster was checked.
    pub fn suppress(&mut self, suppressions: &[Suppression], now: Time, all: bool) {
        let mut used = vec![false; suppressions.len()];
        let is_current = |item: &Suppression| !item.has_expired(now);
        for finding in std::mem::take(&mut self.items) {
            let mut about = suppressions
                .iter()
                .enumerate()
                .filter(|(_, item)| item.is_about(&finding));
            let first = about.clone().find(|(_, item)| is_current(item));
            about.by_ref().for_each(|(place, _)| used[place] = true);
            match first {
                Some((_, item)) => self.suppressed.push(Suppressed {
                    reason: item.reason.clone(),
                    expires: item.expires.to_string(),
                    finding,
                }),
                None => self.items.push(finding),
            }
        }
        self.counts = Counts::of(&self.items);
        let asked = suppressions.iter().zip(used);
        for (item, is_used) in asked.filter(|(item, _)| self.checked.codes.contains(&item.code)) {
            let why = if !is_current(item) {
                Staleness::Expired
            } else if !is_used && self.unknown.is_empty() && all {
                Staleness::NothingFound
            } else {
                continue;
            };
            self.stale_suppressions.push(StaleSuppression {
                code: item.code,
                object: item.object.clone(),
                reason: item.reason.clone(),
                why,
            });
        }
    }
}

/// Whether `text` matches `pattern`, where `*` matches any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|begin| text.strip_prefix(begin)) else {
        return false;
    };
    let Some(end) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(end)
}

/// What `read` makes of a text, or else says about it.
fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    read(&text).map_err(serde::de::Error::custom)
}

fn code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
    read(deserializer, |text| {
        text.parse().map_err(|error: UnknownCode| error.to_string())
    })
}

/// A day, as in `2027-01-31`.
fn day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    let wrong = |text: &str| format!("`{text}` is not a date such as 2027-01-31");
    read(deserializer, |text| text.parse().map_err(|_| wrong(text)))
}

/// A text that is not empty.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    read(deserializer, |text| match text.trim() {
        "" => Err("a reason is required".to_owned()),
        _ => Ok(text.to_owned()),
    })
}

fn api_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    read(deserializer, |text| is_exactly("dra.kubectl.io/v1", text))
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    read(deserializer, |text| is_exactly("SuppressionList", text))
}

fn is_exactly(expected: &str, text: &str) -> Result<(), String> {
    if text == expected {
        Ok(())
    } else {
        Err(format!("expected `{expected}`, found `{text}`"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::findings::{CheckRequest, Subject, check};
    use dra_model::{Cluster, Kind, Meta};

    fn list(items: &str) -> Result<SuppressionList, String> {
        let text =
            format!(r#"{{"apiVersion":"dra.kubectl.io/v1","kind":"SuppressionList","items":[{items}]}}"#);
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    fn item(code: &str, object: &str, expires: &str) -> String {
        format!(r#"{{"code":"{code}","object":"{object}","reason":"known","expires":"{expires}"}}"#)
    }

    const NOW: &str = "2026-11-24T12:00:00Z";

    /// Findings of the code `DRA010` about these claims.
    fn found(claims: &[&str]) -> FindingList {
        let mut report = check(&Cluster::default(), &CheckRequest::now(NOW.parse().unwrap()));
        report.items = claims
            .iter()
            .map(|name| {
                let metadata = Meta {
                    namespace: "n".into(),
                    name: (*name).into(),
                    ..Meta::default()
                };
                Finding::new(
                    Code::ReservationGone,
                    Subject::of(Kind::ResourceClaim, &metadata),
                    "is reserved".to_owned(),
                )
            })
            .collect();
        report.counts = Counts::of(&report.items);
        report
    }

    /// Objects that are findings, those that are accepted, and what does nothing.
    fn suppressed(claims: &[&str], items: &[String]) -> (Vec<String>, Vec<String>, Vec<String>) {
        let mut report = found(claims);
        report.suppress(&list(&items.join(",")).unwrap().items, NOW.parse().unwrap(), true);
        assert_eq!(report.counts.warnings, report.items.len());
        let name = |finding: &Finding| finding.object.name.to_string();
        (
            report.items.iter().map(name).collect(),
            report.suppressed.iter().map(|item| name(&item.finding)).collect(),
            report
                .stale_suppressions
                .iter()
                .map(|item| format!("{} {:?}", item.object, item.why))
                .collect(),
        )
    }

    #[test]
    fn accepted_findings_are_suppressed_until_they_expire() {
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let one = |expires: &str| item("DRA010", "resourceclaim/n/a", expires);
        let (found, accepted, stale) = suppressed(&["a", "b"], &[one("2026-11-24")]);
        assert_eq!((found, accepted, stale), (of(&["b"]), of(&["a"]), of(&[])));
        let (found, accepted, stale) = suppressed(&["a", "b"], &[one("2026-11-23")]);
        assert_eq!(
            (found, accepted, stale),
            (of(&["a", "b"]), of(&[]), of(&["resourceclaim/n/a Expired"]))
        );
        let all = item("reservation-gone", "resourceclaim/n/*", "2026-12-01");
        let (found, accepted, stale) = suppressed(&["a", "b"], &[one("2026-11-23"), all]);
        assert_eq!(
            (found, accepted, stale),
            (of(&[]), of(&["a", "b"]), of(&["resourceclaim/n/a Expired"]))
        );
        let (_, _, stale) = suppressed(&["b"], &[one("2026-12-01"), item("DRA060", "*", "2026-12-01")]);
        assert_eq!(stale, of(&["resourceclaim/n/a NothingFound"]));
    }

    #[test]
    fn suppressions_of_unchecked_codes_are_not_stale() {
        let items = list(&item("DRA010", "resourceclaim/n/a", "2026-12-01"))
            .unwrap()
            .items;
        let mut report = found(&[]);
        report.unknown.push("pods".to_owned());
        report.suppress(&items, NOW.parse().unwrap(), true);
        assert_eq!(report.stale_suppressions, []);
        let mut report = found(&[]);
        report.suppress(&items, NOW.parse().unwrap(), false);
        assert_eq!(report.stale_suppressions, []);
    }

    #[test]
    fn a_list_says_what_is_wrong_with_it() {
        for (items, expected) in [
            (item("DRA999", "*", "2026-12-01"), "unknown finding `DRA999`"),
            (
                item("DRA010", "*", "tomorrow"),
                "`tomorrow` is not a date such as",
            ),
            (item("DRA010", "*", "2026-02-30"), "is not a date such as"),
            (
                r#"{"code":"DRA010","object":"*","expires":"2026-12-01"}"#.to_owned(),
                "missing field `reason`",
            ),
            (
                r#"{"code":"DRA010","object":"*","reason":" ","expires":"2026-12-01"}"#.to_owned(),
                "a reason is required",
            ),
            (
                r#"{"code":"DRA010","object":"*","reason":"r"}"#.to_owned(),
                "missing field `expires`",
            ),
            (
                r#"{"code":"DRA010","objects":"*"}"#.to_owned(),
                "unknown field `objects`",
            ),
        ] {
            let error = list(&items).expect_err(&items);
            assert!(error.contains(expected), "{error}");
        }
        let other =
            serde_json::from_str::<SuppressionList>(r#"{"apiVersion":"v1","kind":"List","items":[]}"#);
        assert!(
            other
                .unwrap_err()
                .to_string()
                .contains("expected `dra.kubectl.io/v1`")
        );
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("pod/n/a", "pod/n/a", true),
            ("pod/n/a", "pod/n/ab", false),
            ("pod/n/*", "pod/n/ab", true),
            ("pod/*", "pod/n/ab", true),
            ("*/ab", "pod/n/ab", true),
            ("pod/*/a", "pod/n/ab", false),
            ("*", "", true),
            ("", "a", false),
            ("a*a", "a", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_built_from_a_text_matches_it(text in "[a-c/]{0,12}", cuts in prop::collection::vec((0..13_usize, 0..4_usize), 0..3)) {
            let mut pattern = text.clone();
            for (at, count) in cuts {
                let at = at.min(pattern.len());
                let end = (at + count).min(pattern.len());
                pattern.replace_range(at..end, "*");
            }
            prop_assert!(matches(&pattern, &text), "{pattern} {text}");
        }
    }
}
