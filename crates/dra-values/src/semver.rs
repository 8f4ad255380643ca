//! Semantic versions as Kubernetes reads and orders them.
//!
//! Mirrors `github.com/blang/semver/v4` (`Parse`, `Compare`) and the normalizing variant of the API server's CEL
//! library (`semverlib.go`, `normalizeAndParse`, v0.37.1). Equality and order ignore build metadata.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::go_quote;

/// A semantic version.
#[derive(Debug, Clone)]
pub struct Semver {
    major: u64,
    minor: u64,
    patch: u64,
    pre: Box<[PreRelease]>,
    build: Option<Box<str>>,
}

/// One identifier of a pre-release. Numbers come before words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PreRelease {
    Number(u64),
    Word(Box<str>),
}

/// The reason why a text is not a semantic version, in upstream's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SemverError(Cow<'static, str>);

impl From<&'static str> for SemverError {
    fn from(message: &'static str) -> Self {
        Self(Cow::Borrowed(message))
    }
}

impl SemverError {
    /// That something is wrong with a part of the text.
    fn about(problem: impl fmt::Display, part: &str) -> Self {
        Self(format!("{problem} {}", go_quote(part)).into())
    }
}

impl Semver {
    /// The first number.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The second number.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The third number.
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// Reads a version after dropping a leading `v` and leading zeros and adding missing numbers.
    pub fn parse_normalized(text: &str) -> Result<Self, SemverError> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<Cow<'_, str>> = text.splitn(3, '.').map(without_leading_zeros).collect();
        if parts.len() < 3 {
            if parts.last().is_some_and(|part| part.contains(['+', '-'])) {
                return Err("short version cannot contain PreRelease/Build meta data".into());
            }
            parts.resize(3, Cow::Borrowed("0"));
        }
        parts.join(".").parse()
    }
}

fn without_leading_zeros(part: &str) -> Cow<'_, str> {
    if part.len() < 2 {
        return Cow::Borrowed(part);
    }
    let stripped = part.trim_start_matches('0');
    if stripped.starts_with(|first: char| first.is_ascii_digit()) {
        Cow::Borrowed(stripped)
    } else {
        Cow::Owned(format!("0{stripped}"))
    }
}

/// Reads one of the three numbers, which the messages call `name`.
fn parse_number(text: &str, name: &str, title: &str) -> Result<u64, SemverError> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let problem = format!("Invalid character(s) found in {name} number");
        return Err(SemverError::about(problem, text));
    }
    if text.len() > 1 && text.starts_with('0') {
        let problem = format!("{title} number must not contain leading zeroes");
        return Err(SemverError::about(problem, text));
    }
    parse_u64(text)
}

fn parse_u64(text: &str) -> Result<u64, SemverError> {
    text.parse().map_err(|_| {
        let reason = if text.is_empty() {
            "invalid syntax"
        } else {
            "value out of range"
        };
        SemverError(format!("strconv.ParseUint: parsing {}: {reason}", go_quote(text)).into())
    })
}

fn is_identifier(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn parse_pre_release(text: &str) -> Result<PreRelease, SemverError> {
    if text.is_empty() {
        return Err("Prerelease is empty".into());
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        if text.len() > 1 && text.starts_with('0') {
            let problem = "Numeric PreRelease version must not contain leading zeroes";
            return Err(SemverError::about(problem, text));
        }
        return parse_u64(text).map(PreRelease::Number);
    }
    if is_identifier(text) {
        return Ok(PreRelease::Word(text.into()));
    }
    Err(SemverError::about(
        "Invalid character(s) found in prerelease",
        text,
    ))
}

impl FromStr for Semver {
    type Err = SemverError;

    fn from_str(text: &str) -> Result<Self, SemverError> {
        if text.is_empty() {
            return Err("Version string empty".into());
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err("No Major.Minor.Patch elements found".into());
        };
        let major = parse_number(major, "major", "Major")?;
        let minor = parse_number(minor, "minor", "Minor")?;
        let (rest, build) = rest
            .split_once('+')
            .map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, pre) = rest
            .split_once('-')
            .map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
        let patch = parse_number(patch, "patch", "Patch")?;
        let pre = match pre {
            Some(pre) => pre.split('.').map(parse_pre_release).collect::<Result<_, _>>()?,
            None => Box::default(),
        };
        for identifier in build.iter().flat_map(|build| build.split('.')) {
            if identifier.is_empty() {
                return Err("Build meta data is empty".into());
            }
            if !is_identifier(identifier) {
                let problem = "Invalid character(s) found in build meta data";
                return Err(SemverError::about(problem, identifier));
            }
        }
        Ok(Self {
            major,
            minor,
            patch,
            pre,
            build: build.map(Box::from),
        })
    }
}

impl Ord for Semver {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = (self.major, self.minor, self.patch).cmp(&(other.major, other.minor, other.patch));
        numbers.then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self.pre.cmp(&other.pre),
        })
    }
}

impl PartialOrd for Semver {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Semver {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Semver {}

impl fmt::Display for Semver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (position, identifier) in self.pre.iter().enumerate() {
            f.write_str(if position == 0 { "-" } else { "." })?;
            match identifier {
                PreRelease::Number(number) => write!(f, "{number}")?,
                PreRelease::Word(word) => f.write_str(word)?,
            }
        }
        match &self.build {
            Some(build) => write!(f, "+{build}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Semver {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn orders_by_precedence() {
        let ascending = [
            "0.0.0-0",
            "0.0.0-0.0",
            "0.0.0-1",
            "0.0.0-9",
            "0.0.0-10",
            "0.0.0--",
            "0.0.0-A",
            "0.0.0-a",
            "0.0.0-a.1",
            "0.0.0",
            "0.0.1",
            "0.1.0",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0",
            "18446744073709551615.0.0",
        ];
        for (left, a) in ascending.iter().enumerate() {
            for (right, b) in ascending.iter().enumerate() {
                assert_eq!(parse(a).cmp(&parse(b)), left.cmp(&right), "{a} and {b}");
            }
        }
        assert_eq!(parse("1.0.0+a"), parse("1.0.0+b"));
    }

    #[test]
    fn prints_what_it_read() {
        for text in [
            "1.2.3",
            "0.0.0-a.1.b-c+build.5",
            "1.0.0+001",
            "1.0.0---",
            "1.2.3-0+-",
        ] {
            assert_eq!(parse(text).to_string(), text);
        }
    }

    #[test]
    fn refuses_in_upstreams_words() {
        for (text, message) in [
            ("", "Version string empty"),
            ("1.2", "No Major.Minor.Patch elements found"),
            ("v1.2.3", "Invalid character(s) found in major number \"v1\""),
            ("1.-2.3", "Invalid character(s) found in minor number \"-2\""),
            ("01.2.3", "Major number must not contain leading zeroes \"01\""),
            ("1.2.3.4", "Invalid character(s) found in patch number \"3.4\""),
            ("1..3", "strconv.ParseUint: parsing \"\": invalid syntax"),
            (
                "1.2.18446744073709551616",
                "strconv.ParseUint: parsing \"18446744073709551616\": value out of range",
            ),
            ("1.2.3-", "Prerelease is empty"),
            (
                "1.2.3-01",
                "Numeric PreRelease version must not contain leading zeroes \"01\"",
            ),
            ("1.2.3-a_b", "Invalid character(s) found in prerelease \"a_b\""),
            ("1.2.3+", "Build meta data is empty"),
            ("1.2.3+é", "Invalid character(s) found in build meta data \"é\""),
        ] {
            assert_eq!(text.parse::<Semver>().unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn normalizes() {
        for (text, version) in [
            ("v1.0.0", "1.0.0"),
            ("1.0", "1.0.0"),
            ("v1", "1.0.0"),
            ("01.01.01", "1.1.1"),
            ("00.00.00", "0.0.0"),
            ("v01.2", "1.2.0"),
            ("1.2.03-rc.1+b", "1.2.3-rc.1+b"),
            ("1.2.0-rc", "1.2.0-rc"),
        ] {
            assert_eq!(
                Semver::parse_normalized(text).unwrap().to_string(),
                version,
                "{text}"
            );
        }
        for text in ["vv1.0.0", "1.0-rc", "1+b", " 1.0.0", "", "v", "1.2.-rc"] {
            assert_eq!(
                Semver::parse_normalized(text).is_ok(),
                text == "1.2.-rc",
                "{text}"
            );
        }
    }
}
