//! Which rules `run` goes by.

use dra_model::Environment;
use dra_rules::controllers::{Deviations, Features};
use dra_rules::eviction::{EvictingClaims, Release};

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
    use dra_model::Version;

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
}
