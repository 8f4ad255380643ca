//! Ranking of nodes by the plugin for dynamic resources: by allocated alternatives.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::verdict::Granted;
use dra_model::{Claim, MOST_ALTERNATIVES, Str};

/// The score of the best node once the plugin has compared all of them.
pub const BEST_SCORE: u64 = 100;

/// Number of times the score of this plugin counts beside those of others, as `default_plugins.go` has it.
pub const SCORE_WEIGHT: u64 = 2;

/// The points of a node that grants `granted` to `claims`, in their order: for each alternative that is granted the more, the earlier it
/// stands in its request. None where no claim has alternatives, so that all nodes are alike. Mirrors `dynamicresources.go`,
/// `computeScore`, v1.35.8 to v1.37.2.
pub(super) fn points(claims: &[Arc<Claim>], granted: &[Granted]) -> Option<u64> {
    let mut points = None;
    for claim in claims {
        let key = claim.key();
        let results = granted
            .iter()
            .filter(|granted| granted.claim == key)
            .flat_map(|granted| &granted.allocation.devices.results);
        let names: BTreeSet<&Str> = results.map(|result| &result.request).collect();
        for request in &claim.spec.devices.requests {
            for (place, alternative) in (0..).zip(&request.first_available) {
                let sum = points.get_or_insert(0);
                let name = Str::from(format!("{}/{}", request.name, alternative.name));
                if names.contains(&name) {
                    *sum += (MOST_ALTERNATIVES as u64).saturating_sub(place);
                }
            }
        }
    }
    points
}

/// Returns what `points` come to where the best node has `best`. Mirrors `normalize_score.go`, `DefaultNormalizeScore`, v1.37.2.
pub fn normalized(points: u64, best: u64) -> u64 {
    (BEST_SCORE * points).checked_div(best).unwrap_or(points)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_model::{AllocatedDevice, Allocation, Kind, Object};

    fn claim(name: &str, requests: &Value) -> Arc<Claim> {
        let object = json!({ "metadata": { "namespace": "n", "name": name }, "spec": { "devices": { "requests": requests } } });
        match Object::from_json(Kind::ResourceClaim, object.to_string().as_bytes()) {
            Ok(Object::ResourceClaim(claim)) => claim,
            other => panic!("{other:?}"),
        }
    }

    fn granted(claim: &Claim, requests: &[&str]) -> Granted {
        let mut allocation = Allocation::default();
        allocation.devices.results = requests
            .iter()
            .map(|request| AllocatedDevice {
                request: (*request).into(),
                ..AllocatedDevice::default()
            })
            .collect();
        Granted {
            claim: claim.key(),
            allocation,
            existing: false,
        }
    }

    #[test]
    fn earlier_alternatives_are_worth_more() {
        let alternatives = json!({ "name": "r", "firstAvailable": [{ "name": "a" }, { "name": "b" }] });
        let exactly = json!({ "name": "s", "exactly": {} });
        let plain = claim("plain", &json!([exactly]));
        let one = claim("one", &json!([alternatives, exactly]));
        let other = claim("other", &json!([alternatives]));
        let of = |claims: &[&Arc<Claim>], granted: &[Granted]| {
            let claims: Vec<Arc<Claim>> = claims.iter().map(|claim| Arc::clone(claim)).collect();
            points(&claims, granted)
        };
        assert_eq!(of(&[&plain], &[granted(&plain, &["s"])]), None);
        assert_eq!(of(&[&one], &[granted(&one, &["r/a", "s"])]), Some(8));
        // Two devices of one alternative count once.
        assert_eq!(of(&[&one], &[granted(&one, &["r/b", "r/b", "s"])]), Some(7));
        let both = [granted(&one, &["r/b", "s"]), granted(&other, &["r/a"])];
        assert_eq!(of(&[&one, &other], &both), Some(15));
        assert_eq!(of(&[&one, &other], &both[..1]), Some(7));
    }

    #[test]
    fn the_best_node_has_a_hundred() {
        for (points, best, expected) in [(8, 8, 100), (7, 8, 87), (15, 16, 93), (0, 0, 0), (0, 8, 0)] {
            assert_eq!(normalized(points, best), expected, "{points} of {best}");
        }
    }
}
