//! Which rules `run` goes by.

use crate::controllers::{Deviations, Features};
use crate::eviction::{EvictingClaims, Release};
use crate::model::Environment;

/// The rules of the newest release with the gates of the cluster, or, `as_released`, those of the cluster's release with its bugs.
pub(super) fn rules(
    environment: &Environment,
    deviations: Deviations,
    as_released: bool,
) -> (Features, Release) {
    let features = Features {
        deviations,
        ..Features::of(environment)
    };
    let release = Release {
        claims: if deviations.extended_resource_eviction {
            EvictingClaims::All
        } else {
            EvictingClaims::Named
        },
        ..Release::of(environment)
    };
    if as_released {
        (features, release)
    } else {
        (features.repaired(), release.repaired())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Version;

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
}
