//! The control plane that a downgrade leads to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use itertools::Itertools;

use dra_model::{Environment, Gate, Release, Version};
use dra_rules::reservation::conversion;

/// The control plane that comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(super) minor: u32,
    pub(super) older: bool,
    /// Gates that are turned off.
    disabled: BTreeSet<Gate>,
    /// Gates that it will be started with.
    gates: BTreeMap<Gate, bool>,
}

/// Why there is no older release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The server is not newer.
    #[error("1.{minor} is not older than this cluster's 1.{server}")]
    NotOlder {
        /// The requested release.
        minor: u32,
        /// The release of the server.
        server: u32,
    },
    /// What it does is unknown.
    #[error("1.{minor} is older than 1.{oldest}, the oldest known release")]
    TooOld {
        /// The requested release.
        minor: u32,
        /// The oldest that is known.
        oldest: u32,
    },
    /// A gate cannot be turned off.
    #[error("1.{minor} locks feature gate {}: a component with {}=false does not start", .gate.name(), .gate.name())]
    Locked {
        /// The gate.
        gate: Gate,
        /// The release.
        minor: u32,
    },
}

impl TargetError {
    /// What to name instead.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotOlder { .. } | Self::Locked { .. } => None,
            Self::TooOld { oldest, .. } => Some(format!("name a release from 1.{oldest} on")),
        }
    }
}

impl fmt::Display for Target {
    /// `1.36`, or `1.37 without GenericWorkload`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.version())?;
        if !self.older {
            write!(f, " without {}", self.disabled().map(Gate::name).format(" and "))?;
        }
        Ok(())
    }
}

impl Target {
    /// The release 1.`to` (absent: the one that runs), with `disabled` gates off and `gates` as given; others as the release has them.
    ///
    /// # Errors
    /// When `to` is no older release, or an unknown one, or locks one of the `disabled` gates.
    pub fn new(
        environment: &Environment,
        to: Option<u32>,
        disabled: impl IntoIterator<Item = Gate>,
        gates: impl IntoIterator<Item = (Gate, bool)>,
    ) -> Result<Self, TargetError> {
        let server = environment.emulated_minor;
        let minor = to.unwrap_or(server);
        if to.is_some() && minor >= server {
            return Err(TargetError::NotOlder { minor, server });
        }
        if minor < Version::OLDEST_MINOR {
            let oldest = Version::OLDEST_MINOR;
            return Err(TargetError::TooOld { minor, oldest });
        }
        let disabled: BTreeSet<Gate> = disabled.into_iter().collect();
        if let Some(&gate) = disabled.iter().find(|gate| gate.is_locked_in(minor)) {
            return Err(TargetError::Locked { gate, minor });
        }
        Ok(Self {
            minor,
            older: minor < server,
            disabled,
            gates: gates.into_iter().collect(),
        })
    }

    /// `1.36`.
    pub fn version(&self) -> String {
        format!("1.{}", self.minor)
    }

    /// What it means for reservations; nothing for gates that do not affect them.
    pub fn of_conversion(&self) -> Option<conversion::Target> {
        if self.older {
            return Some(conversion::Target::Minor(self.minor));
        }
        // Without PodGroups no controller creates claims for them either.
        [Gate::GenericWorkload, Gate::DRAWorkloadResourceClaims]
            .into_iter()
            .find(|gate| self.disabled.contains(gate))
            .map(conversion::Target::GateOff)
    }

    /// Gates that are turned off, by name.
    pub fn disabled(&self) -> impl Iterator<Item = Gate> + '_ {
        self.disabled.iter().copied()
    }

    /// Whether it is another release than the one that runs, and `is` holds for it.
    pub(super) fn is_older_and(&self, is: impl Fn(&Release) -> bool) -> bool {
        self.older && is(&Release::of_minor(self.minor))
    }

    /// Whether components of the release know the gate.
    pub(super) fn knows(&self, gate: Gate) -> bool {
        self.default_of(gate).is_some()
    }

    fn default_of(&self, gate: Gate) -> Option<bool> {
        gate.default_in(self.minor, self.minor.saturating_sub(1))
    }

    /// Whether the feature is gone: an older release without it, or the gate is turned off.
    pub(super) fn lacks(&self, gate: Gate) -> bool {
        if self.disabled.contains(&gate) || gate.needs().iter().any(|needed| self.disabled.contains(needed)) {
            return true;
        }
        if !self.older {
            return false;
        }
        match (self.default_of(gate), self.gates.get(&gate)) {
            (Some(default), wanted) => !wanted.copied().unwrap_or(default),
            // Rules were part of the taints before they had a gate of their own.
            (None, _) if gate == Gate::DRADeviceTaintRules => self.lacks(Gate::DRADeviceTaints),
            (None, _) => true,
        }
    }
}
