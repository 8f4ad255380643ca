//! What breaks when the control plane is upgraded to a newer release, one minor release after the other.
//!
//! `order` counts the minor releases on the way: what has 1 has to be solved before the first component is upgraded to the first of them.

mod gates;
mod meaning;
mod objects;
mod words;
mod writers;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::rights::{find_drivers, schedulers_that_lack};
use super::{Code, Look};
use dra_model::{Component, Environment, Gate, Release, Version};

/// The releases that come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    from: u32,
    to: u32,
    /// Gates that the last of them will be started with.
    gates: BTreeMap<Gate, bool>,
}

/// Why there is no newer release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpgradeError {
    /// It runs already.
    #[error("this cluster already runs 1.{0}")]
    Runs(u32),
    /// Nothing is known of it.
    #[error("1.{minor} is newer than 1.{newest}, the newest known release")]
    TooNew {
        /// The requested release.
        minor: u32,
        /// The newest whose API is known.
        newest: u32,
    },
}

impl Upgrade {
    /// The newest release whose removed API versions are known.
    const NEWEST: u32 = 42;

    /// The way from the release that runs to 1.`to`, whose components get `gates`.
    ///
    /// # Errors
    /// When that is no newer release, or an unknown one.
    pub fn new(
        environment: &Environment,
        to: u32,
        gates: impl IntoIterator<Item = (Gate, bool)>,
    ) -> Result<Self, UpgradeError> {
        let from = environment.emulated_minor;
        if to <= from {
            return Err(UpgradeError::Runs(from));
        }
        if to > Self::NEWEST {
            return Err(UpgradeError::TooNew {
                minor: to,
                newest: Self::NEWEST,
            });
        }
        Ok(Self {
            from,
            to,
            gates: gates.into_iter().collect(),
        })
    }

    /// `1.37`.
    pub fn version(&self) -> String {
        format!("1.{}", self.to)
    }

    /// The releases on the way, the last one included: `1.36`, `1.37`.
    pub fn path(&self) -> Vec<String> {
        self.minors().map(|minor| format!("1.{minor}")).collect()
    }

    fn minors(&self) -> RangeInclusive<u32> {
        self.from + 1..=self.to
    }

    /// Whether 1.`minor` is on the way.
    fn passes(&self, minor: u32) -> bool {
        self.minors().contains(&minor)
    }

    /// The first release on the way that `is` holds for.
    fn begins(&self, is: impl Fn(&Release) -> bool) -> Option<u32> {
        let is_in = |minor: &u32| is(&Release::of_minor(*minor));
        if is_in(&self.from) {
            return None;
        }
        self.minors().find(is_in)
    }

    /// The number of the step to 1.`minor`.
    fn step(&self, minor: u32) -> u32 {
        minor - self.from
    }

    /// Whether `gate` is on in the release 1.`minor` on the way, unless `gates` sets it there; what the component was
    /// started with stays.
    fn turns_on(&self, look: &Look<'_>, component: Component, gate: Gate) -> Option<u32> {
        let now = look.cluster.environment().gate(component, gate);
        if now.enabled {
            return None;
        }
        // Components will be started with the gates that they are started with now.
        let is_set = |minor: u32| {
            now.evidence.is_of_now()
                && gate.default_in(self.from, self.from - 1) == Some(true)
                && !gate.is_locked_in(minor)
        };
        self.minors().find(|minor| {
            let default = gate.default_in(*minor, minor.saturating_sub(1)) == Some(true);
            match self.gates.get(&gate) {
                Some(wanted) if *minor == self.to => *wanted,
                _ => default && !is_set(*minor),
            }
        })
    }
}

pub(super) fn look(look: &mut Look<'_>, upgrade: &Upgrade) {
    if upgrade.to > Version::NEWEST_MINOR {
        look.found.unknown.add(words::unknown_releases());
    }
    writers::look(look, upgrade);
    gates::look(look, upgrade);
    objects::look(look, upgrade);
    meaning::look(look, upgrade);
    if let Some(minor) = upgrade.begins(|release| release.asks_for_status_rights) {
        rights(look, upgrade, minor);
    }
}

/// The rights that the API server requires from 1.`minor` on.
fn rights(look: &mut Look<'_>, upgrade: &Upgrade, minor: u32) {
    let step = upgrade.step(minor);
    if look.wants(Code::UpgradeDriverRights) {
        find_drivers(look, Code::UpgradeDriverRights, Some((minor, step)));
    }
    if look.wants(Code::UpgradeBindingRights) {
        for finding in schedulers_that_lack(look.cluster) {
            look.add(finding.order(step));
        }
    }
}
