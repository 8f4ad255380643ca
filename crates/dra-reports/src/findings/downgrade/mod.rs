//! What breaks when the control plane is downgraded to an older release, or when a gate is turned off.
//!
//! Each rule is a row of a table that was measured: the control plane of 1.37.1 was replaced by real binaries of 1.36.4, 1.35.8 and
//! 1.34.10 on the same data. `order` is the step by which a finding has to be solved: 1 groups with generated claims are stopped, gates on;
//! 2 convert; 3 the claim gate is turned off in scheduler and controller-manager; 4 convert again; 5 PodGroups and Workloads are deleted;
//! 6 taint rules are deleted; 7 all gates off; 8 the downgrade itself. All of it comes before the first component is changed.

mod features;
mod gates;
mod groups;
mod rules;
mod slices;

use std::collections::{BTreeMap, BTreeSet};

use super::{Look, words};
use dra_model::{Cluster, Environment, Gate, Release, Version};
use dra_rules::reservation::conversion;

/// The control plane that comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    minor: u32,
    older: bool,
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
}

impl Target {
    /// The release 1.`to` (absent: the one that runs), with `disabled` gates off and `gates` as given; others as the release has them.
    ///
    /// # Errors
    /// When `to` is no older release, or one that is not known.
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
        Ok(Self {
            minor,
            older: minor < server,
            disabled: disabled.into_iter().collect(),
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

    /// Whether it is older than what `cluster` runs.
    pub fn is_older(&self, cluster: &Cluster) -> bool {
        self.minor < cluster.environment().emulated_minor
    }

    /// Gates that are turned off, by name.
    pub fn disabled(&self) -> impl Iterator<Item = Gate> + '_ {
        self.disabled.iter().copied()
    }

    /// Whether it is another release than the one that runs.
    pub(super) fn is_release(&self) -> bool {
        self.older
    }

    /// Whether it is another release than the one that runs, and `is` holds for it.
    fn is_older_and(&self, is: impl Fn(&Release) -> bool) -> bool {
        self.older && is(&Release::of_minor(self.minor))
    }

    /// Whether the feature is gone: an older release without it, or the gate is turned off.
    fn lacks(&self, gate: Gate) -> bool {
        if self.disabled.contains(&gate) || gate.needs().iter().any(|needed| self.disabled.contains(needed)) {
            return true;
        }
        if !self.older {
            return false;
        }
        let exists = gate.default_in(self.minor, self.minor.saturating_sub(1));
        match (exists, self.gates.get(&gate)) {
            (Some(default), wanted) => !wanted.copied().unwrap_or(default),
            // Rules were part of the taints before they had a gate of their own.
            (None, _) if gate == Gate::DRADeviceTaintRules => self.lacks(Gate::DRADeviceTaints),
            (None, _) => true,
        }
    }
}

/// Gates whose effect when they are turned off is known.
const WITH_RULES: &[Gate] = &[
    Gate::DRAConsumableCapacity,
    Gate::DRADerivedAttributes,
    Gate::DRADeviceBindingConditions,
    Gate::DRADeviceCompatibilityGroups,
    Gate::DRADeviceTaintRules,
    Gate::DRADeviceTaints,
    Gate::DRAExtendedResource,
    Gate::DRAListTypeAttributes,
    Gate::DRANodeAllocatableResources,
    Gate::DRAOptionalNodeOperations,
    Gate::DRAPartitionableDevices,
    Gate::DRAPartitionableDevicesType,
    Gate::DRAWorkloadResourceClaims,
    Gate::GenericWorkload,
];

pub(super) fn look(look: &mut Look<'_>, target: &Target) {
    for gate in target.disabled().filter(|gate| !WITH_RULES.contains(gate)) {
        look.found.unknown.add(words::unknown_gate(gate));
    }
    groups::look(look, target);
    rules::look(look, target);
    slices::look(look, target);
    features::look(look, target);
    gates::look(look, target);
}
