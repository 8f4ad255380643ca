//! `kubectl dra claims`: what every claim holds and who uses it.

use serde::Serialize;

use super::{ClaimFilter, ClaimItem, LeftOut, Selection, Warnings};
use dra_allocator::devices::Taints;
use dra_model::{AllocatedDevice, Cluster, Gap, Kind, Time};

/// The report.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ClaimList {
    /// By namespace and name.
    pub items: Vec<ClaimItem>,
    /// The time that ages count from.
    #[serde(skip)]
    pub now: Time,
    /// What could not be found out.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// Taints of the devices of all claims together, for each claim, that are looked at. Every rule may select every device.
const MOST_TAINTS: usize = 3_000_000;

/// The claims of `selection` that pass `filter`. With `show_taints` the devices' taints are looked up too.
pub fn claims(
    cluster: &Cluster,
    selection: &Selection,
    filter: &ClaimFilter,
    show_taints: bool,
    now: Time,
) -> ClaimList {
    let mut warnings = Warnings::default();
    if filter.pod.is_some()
        && let Some(gap) = cluster.gap(Kind::Pod, "")
    {
        warnings.unknown(
            "claims that the pod uses without being their consumer are not listed",
            gap,
        );
    }
    let all = selection.claims(cluster).into_iter();
    let mut left_out = LeftOut::default();
    let chosen = all.filter(|claim| {
        filter.matches(cluster, claim).unwrap_or_else(|why| {
            left_out.add(&claim.key(), why);
            false
        })
    });
    let items: Vec<_> = if !show_taints {
        chosen.map(ClaimItem::of).collect()
    } else if let Some(gap) = taints_gap(cluster) {
        warnings.unknown("taints of devices are unknown", gap);
        chosen
            .map(|claim| ClaimItem::of(claim).with_unknown_taints())
            .collect()
    } else {
        let taints = Taints::of(cluster);
        let (mut left, mut without_taints) = (MOST_TAINTS, 0);
        let items = chosen.map(|claim| {
            let of_result = |result: &AllocatedDevice| taints.count(&result.id());
            let count = claim.results().iter().map(of_result).sum();
            let item = ClaimItem::of(claim);
            if let Some(rest) = left.checked_sub(count) {
                left = rest;
                item.with_taints(&taints)
            } else {
                left = 0;
                without_taints += 1;
                item.with_unknown_taints()
            }
        });
        let items = items.collect();
        if without_taints > 0 {
            warnings.add(format!(
                "taints of {without_taints} claims are not listed: the devices of all have more than {MOST_TAINTS} together"
            ));
        }
        items
    };
    if let Some(node) = &filter.node {
        left_out.warn(
            &format!("whether node `{node}` is allowed"),
            "claims",
            &mut warnings,
        );
    }
    ClaimList { items, now, warnings }
}

/// What keeps the taints of devices from being known.
fn taints_gap(cluster: &Cluster) -> Option<&Gap> {
    cluster
        .gap(Kind::ResourceSlice, "")
        .or_else(|| cluster.gap(Kind::DeviceTaintRule, ""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_testing::{World, holding};

    #[test]
    fn more_taints_than_are_looked_at_are_unknown() {
        // Each rule is about the device of each claim.
        let mut world = World::default().slice("n", &json!([{"name": "x"}]));
        for number in 0..1_000 {
            world = world
                .rule(&format!("r{number:04}"), &json!({"driver": "d"}), "NoExecute")
                .rule(&format!("s{number:04}"), &json!({"driver": "d"}), "NoExecute")
                .rule(&format!("t{number:04}"), &json!({"driver": "d"}), "NoExecute");
        }
        for number in 0..1_010 {
            world = world.claim(&format!("c{number}"), &json!({}), &holding(&["x"], &[]));
        }
        let list = claims(
            &world.build(),
            &Selection::default(),
            &ClaimFilter::default(),
            true,
            Time::from_unix_seconds(0),
        );
        let unknown = list.items.iter().filter(|item| item.taints().is_none());
        assert_eq!(unknown.count(), 10);
        let warning =
            "taints of 10 claims are not listed: the devices of all have more than 3000000 together";
        assert!(list.warnings.iter().any(|text| text == warning));
    }
}
