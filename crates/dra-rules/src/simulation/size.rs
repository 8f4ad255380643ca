//! Size limits of a simulation.

use std::sync::Arc;

use dra_allocator::devices::{Rules, Taints};
use dra_model::{Cluster, TaintRule};

/// Taints of the devices that claims hold, for each claim: the controller keeps those that evict as reasons.
const MOST_REASONS: usize = 1_000_000;

/// Returns why evictions in `cluster`, with `more` rules, are not simulated, if so.
pub fn too_much_to_simulate(cluster: &Cluster, more: &[TaintRule]) -> Option<String> {
    let more: Vec<Arc<TaintRule>> = more.iter().cloned().map(Arc::new).collect();
    let rules = Rules::of(cluster.rules().chain(&more));
    let taints = Taints::lookup(cluster, &rules);
    let mut reasons = 0_usize;
    for (device, _) in cluster.allocated_devices() {
        reasons = reasons.saturating_add(taints.count(device));
        if reasons > MOST_REASONS {
            return Some(format!(
                "device taint rules and slices taint the allocated devices more than {MOST_REASONS} times"
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_testing::{World, holding};

    #[test]
    fn many_rules_for_one_device_of_many_claims_are_too_much() {
        let cluster = |rules: usize, claims: usize| {
            let mut world = World::default();
            for number in 0..claims {
                world = world.claim(&format!("c{number}"), &json!({}), &holding(&["x"], &[]));
            }
            for number in 0..rules {
                world = world.rule(&format!("r{number}"), &json!({"driver": "d"}), "NoExecute");
            }
            world.build()
        };
        assert_eq!(too_much_to_simulate(&cluster(999, 1_000), &[]), None);
        let cluster = cluster(1_000, 1_000);
        assert_eq!(too_much_to_simulate(&cluster, &[]), None);
        let more = [(**cluster.rules().next().unwrap()).clone()];
        assert!(too_much_to_simulate(&cluster, &more).is_some());
    }
}
