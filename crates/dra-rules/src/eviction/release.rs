//! Device taint support of a kube-controller-manager release with its gates.

use crate::reservation::{EXTENDED, PodGroups};
use dra_allocator::devices::RuleSupport;
use dra_model::{Claim, Component, Environment, Gate};

/// Claims of a pod that can evict it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvictingClaims {
    /// Those that its spec names: all that the controller looks at before 1.37.2 (kubernetes/kubernetes#141290).
    Named,
    /// Also the claim that the scheduler made for its extended resources (`PodClaims`).
    All,
    /// That one alone: what the controller passes by before 1.37.2.
    OfExtendedResources,
}

impl EvictingClaims {
    /// Returns whether claims count that a pod's spec names.
    pub(super) fn has_named(self) -> bool {
        matches!(self, Self::Named | Self::All)
    }

    /// Returns whether the claim for a pod's extended resources counts.
    pub fn has_extended(self) -> bool {
        matches!(self, Self::OfExtendedResources | Self::All)
    }
}

/// The ways in which releases and gates of kube-controller-manager differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// True if the controller runs at all: gate `DRADeviceTaints`.
    pub evicts: bool,
    /// Support of rules.
    pub rules: RuleSupport,
    /// True if pods are found through the PodGroup that a claim is reserved for.
    pub groups: PodGroups,
    /// Up to 1.35 the first entry of `status.reservedFor` whose pod is missing, or is another one, hides those behind it.
    pub stops_at_missing_pod: bool,
    /// Claims whose taints count.
    pub claims: EvictingClaims,
}

impl Release {
    /// Returns what runs with `environment`. Mirrors `device_taint_eviction.go`, `New`, v1.34.2 to v1.37.2, and `resource.go`,
    /// `newDeviceTaintEvictionControllerDescriptor`.
    pub fn of(environment: &Environment) -> Self {
        let enabled = |gate| environment.enabled(Component::ControllerManager, gate);
        let facts = environment.release();
        let evicts = enabled(Gate::DynamicResourceAllocation) && enabled(Gate::DRADeviceTaints);
        let rules = if !evicts {
            RuleSupport::Off
        } else if facts.rules_need_only_taints {
            RuleSupport::PublishedOnly
        } else if enabled(Gate::DRADeviceTaintRules) {
            RuleSupport::On
        } else {
            RuleSupport::Off
        };
        Self {
            evicts,
            rules,
            groups: PodGroups::of(environment, Component::ControllerManager),
            stops_at_missing_pod: facts.stops_at_missing_pod,
            claims: if facts.evicts_for_extended_resources {
                EvictingClaims::All
            } else {
                EvictingClaims::Named
            },
        }
    }

    /// Returns whether the controller looks at `claim`: at one for extended resources only where these count.
    pub fn looks_at(&self, claim: &Claim) -> bool {
        self.claims.has_extended() || claim.metadata.annotation(EXTENDED).is_none()
    }

    /// The same gates with the rules of the newest release, without the bugs of older ones. Which claims count stays as it is: more
    /// would delete pods that no controller of the cluster deletes, and such pods would look as if none was at work.
    #[must_use]
    pub fn repaired(self) -> Self {
        Self {
            rules: match self.rules {
                RuleSupport::PublishedOnly => RuleSupport::On,
                support => support,
            },
            stops_at_missing_pod: false,
            ..self
        }
    }
}

/// Returns whether rules only seem to be obeyed because they exist: kube-controller-manager has their gate off by default, and nothing shows how it runs.
pub fn rules_are_guessed(environment: &Environment) -> bool {
    let gate = Gate::DRADeviceTaintRules;
    let state = environment.gate(Component::ControllerManager, gate);
    let default = gate.default_in(environment.emulated_minor, environment.min_compatibility_minor);
    default == Some(false) && state.enabled && !state.evidence.is_of_now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::Version;

    fn environment(minor: u32, gates: &[(Gate, bool)]) -> Environment {
        dra_testing::of_release(Version::minor(minor), Component::ControllerManager, gates)
    }

    #[test]
    fn the_patch_decides_which_claims_count() {
        for (release, expected) in [
            ("1.34.13", EvictingClaims::Named),
            ("1.35.10", EvictingClaims::Named),
            ("1.36.6", EvictingClaims::Named),
            ("1.37.0", EvictingClaims::Named),
            ("1.37.1", EvictingClaims::Named),
            ("1.37.2", EvictingClaims::All),
            ("1.38.0", EvictingClaims::All),
        ] {
            let version = release.parse().unwrap();
            let of = Release::of(&dra_testing::of_release(
                version,
                Component::ControllerManager,
                &[],
            ));
            assert_eq!(
                (of.claims, of.repaired().claims),
                (expected, expected),
                "{release}"
            );
        }
    }

    #[test]
    fn releases_and_gates_decide_what_is_evicted() {
        let taints = (Gate::DRADeviceTaints, true);
        let rules = (Gate::DRADeviceTaintRules, true);
        for (minor, gates, evicts, support, stops) in [
            (37, &[][..], true, RuleSupport::On, false),
            (
                37,
                &[(Gate::DRADeviceTaintRules, false)],
                true,
                RuleSupport::Off,
                false,
            ),
            (
                37,
                &[(Gate::DRADeviceTaints, false)],
                false,
                RuleSupport::Off,
                false,
            ),
            (36, &[], true, RuleSupport::Off, false),
            (36, &[rules], true, RuleSupport::On, false),
            (35, &[], false, RuleSupport::Off, true),
            (35, &[taints], true, RuleSupport::Off, true),
            (35, &[taints, rules], true, RuleSupport::On, true),
            (34, &[], false, RuleSupport::Off, true),
            // The rules had no gate of their own.
            (34, &[taints], true, RuleSupport::PublishedOnly, true),
        ] {
            let release = Release::of(&environment(minor, gates));
            assert_eq!(
                (release.evicts, release.rules, release.stops_at_missing_pod),
                (evicts, support, stops),
                "1.{minor} {gates:?}"
            );
            assert_eq!(release.groups, PodGroups::Ignored);
        }
        let groups = (Gate::DRAWorkloadResourceClaims, true);
        assert_eq!(
            Release::of(&environment(37, &[groups])).groups,
            PodGroups::Accepted
        );
    }
}
