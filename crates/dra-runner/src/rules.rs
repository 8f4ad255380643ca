//! Rules and kinds of object that a run goes by.

use dra_model::{Component, Environment, Evidence, Gate, Kind};
use dra_rules::controllers::{Deviations, Features};
use dra_rules::eviction::{EvictingClaims, Release};

/// Kinds of object that the controllers look at. Where gates stand beside a kind, the controllers look at it only if one of them is on in
/// kube-controller-manager.
const NEEDS: [(Kind, &[Gate]); 6] = [
    (Kind::Pod, &[]),
    (
        Kind::PodGroup,
        &[Gate::GenericWorkload, Gate::DRAWorkloadResourceClaims],
    ),
    (Kind::ResourceClaim, &[]),
    (Kind::ResourceClaimTemplate, &[]),
    (Kind::ResourceSlice, &[]),
    (Kind::DeviceTaintRule, &[Gate::DRADeviceTaintRules]),
];

/// Kinds of object that the controllers look at, without those that `said` switches off: what the user says of gates, put over nothing.
/// What only seems to be off is looked at, as it may not be.
pub fn needed(said: &Environment) -> Vec<Kind> {
    let is_off = |gate: &Gate| {
        let state = said.gate(Component::ControllerManager, *gate);
        state.evidence == Evidence::Flag && !state.enabled
    };
    let needed = NEEDS
        .into_iter()
        .filter(|(_, gates)| gates.is_empty() || !gates.iter().all(is_off));
    needed.map(|(kind, _)| kind).collect()
}

/// The rules of the newest release with the gates of the cluster, or, `as_released`, those of the cluster's release with its bugs.
/// Either way the cluster's release, or a deviation, says whether taints of devices for extended resources evict pods.
pub(super) fn rules(
    environment: &Environment,
    deviations: Deviations,
    as_released: bool,
) -> (Features, Release) {
    let features = Features {
        deviations,
        ..Features::of(environment)
    };
    let mut release = Release::of(environment);
    if deviations.extended_resource_eviction {
        release.claims = EvictingClaims::All;
    }
    if as_released {
        (features, release)
    } else {
        (features.repaired(), release.repaired())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{GateState, Version};

    #[test]
    fn old_bugs_count_only_where_they_are_asked_for() {
        let environment = Environment {
            version: Version::minor(35),
            emulated_minor: 35,
            ..Environment::default()
        };
        let of = |as_released| rules(&environment, Deviations::ON, as_released);
        let (features, release) = of(true);
        assert!(!features.keeps_statuses && release.stops_at_missing_pod);
        let (features, release) = of(false);
        assert!(features.keeps_statuses && !release.stops_at_missing_pod);
        assert_eq!(features.deviations, Deviations::ON);
    }

    #[test]
    fn pods_of_extended_resources_are_evicted_where_upstream_does_or_where_that_is_asked_for() {
        let asked = Deviations {
            extended_resource_eviction: true,
            ..Deviations::ON
        };
        for (release, deviations, expected) in [
            ("1.36.6", Deviations::ON, EvictingClaims::Named),
            ("1.37.1", Deviations::ON, EvictingClaims::Named),
            ("1.37.1", asked, EvictingClaims::All),
            ("1.37.2", Deviations::ON, EvictingClaims::All),
            ("1.37.2", asked, EvictingClaims::All),
        ] {
            let environment = Environment {
                version: release.parse().unwrap(),
                ..Environment::default()
            };
            for as_released in [false, true] {
                let (_, found) = rules(&environment, deviations, as_released);
                assert_eq!(found.claims, expected, "{release} {deviations:?}");
            }
        }
    }
    #[test]
    fn what_the_user_switches_off_is_not_looked_at() {
        let said = |gates: &[Gate], evidence: Evidence| {
            let off = |gate: &Gate| {
                let state = GateState {
                    enabled: false,
                    evidence: evidence.clone(),
                };
                (Component::ControllerManager, *gate, state)
            };
            let said = Environment {
                gates: gates.iter().map(off).collect(),
                ..Environment::default()
            };
            NEEDS.len() - needed(&said).len()
        };
        let groups = [Gate::GenericWorkload, Gate::DRAWorkloadResourceClaims];
        assert_eq!(said(&[Gate::DRADeviceTaintRules], Evidence::Flag), 1);
        assert_eq!(said(&groups, Evidence::Flag), 1);
        // Members of PodGroups are still told from other pods.
        assert_eq!(said(&groups[1..], Evidence::Flag), 0);
        assert_eq!(said(&[], Evidence::Flag), 0);
        assert_eq!(said(&groups, Evidence::Assumed), 0);
    }
}
