//! Kubernetes versions.

use std::str::FromStr;

/// A release of Kubernetes, as far as rules depend on it. Patch 0 stands also for an unknown patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
#[display("{major}.{minor}.{patch}")]
pub struct Version {
    /// 1.
    pub major: u32,
    /// 37.
    pub minor: u32,
    /// 1.
    pub patch: u32,
}

impl Version {
    /// The release whose rules this build knows best; a file without a version counts as this one.
    pub const LATEST: Self = Self {
        major: 1,
        minor: 37,
        patch: 2,
    };

    /// The newest minor release that this build was compared with.
    pub const NEWEST_MINOR: u32 = Self::LATEST.minor;

    /// Oldest release whose rules this build knows.
    pub const OLDEST_MINOR: u32 = 34;

    /// The release 1.`minor`.
    pub fn minor(minor: u32) -> Self {
        Self {
            major: 1,
            minor,
            patch: 0,
        }
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    /// Reads `1.37`, `v1.37.2` and what servers say, such as `v1.37.2-gke.100` or minor `37+`.
    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        let invalid = || InvalidVersion(text.to_owned());
        let plain = text.trim().trim_start_matches('v');
        let mut parts = plain.splitn(3, '.');
        let mut number = |required: bool| -> Result<u32, InvalidVersion> {
            let Some(part) = parts.next() else {
                return if required { Err(invalid()) } else { Ok(0) };
            };
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            // What follows the digits may be a vendor's suffix, but not another word.
            if digits < part.len() && !part[digits..].starts_with(['-', '+', '.', '_', '~']) {
                return Err(invalid());
            }
            part[..digits].parse().map_err(|_| invalid())
        };
        Ok(Self {
            major: number(true)?,
            minor: number(true)?,
            patch: number(false)?,
        })
    }
}

/// A text that is no version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid Kubernetes version `{0}`: expected a version such as 1.37 or v1.37.1")]
pub struct InvalidVersion(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_servers_and_people_write_them() {
        for (text, expected) in [
            ("1.37", (1, 37, 0)),
            ("v1.37.1", (1, 37, 1)),
            ("v1.36.4-gke.100", (1, 36, 4)),
            ("1.35+", (1, 35, 0)),
            ("v1.37.0-rc.1+k3s1", (1, 37, 0)),
        ] {
            let version: Version = text.parse().unwrap();
            assert_eq!((version.major, version.minor, version.patch), expected, "{text}");
        }
        for text in ["", "1", "one.two", "1.x", "1.37abc", "1.99999999999"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
