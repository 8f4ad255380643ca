//! Messages of other schedulers about a pod's group.

use std::collections::BTreeSet;

use super::Lineage;
use dra_model::{Cluster, Condition, Owner, Pod, Str};

/// Groups of schedulers that place pods together: API group and kind.
const GROUPS: [(&str, &str); 2] = [
    ("scheduling.volcano.sh", "PodGroup"),
    ("scheduling.run.ai", "PodGroup"),
];

/// The group of another scheduler in which `pod` is, and what that says is wrong with it.
pub fn unplaced_group<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<(&'c Owner, &'c Condition)> {
    let lineage = Lineage::of_pod(cluster, pod);
    let mut uids: BTreeSet<&Str> = lineage.uids().collect();
    uids.insert(&pod.metadata.uid);
    let owners = &cluster.environment().owners;
    let namespace = &pod.metadata.namespace;
    let mut groups = GROUPS
        .iter()
        .flat_map(|(group, kind)| owners.of_kind(group, kind, namespace));
    let group = groups.find(|group| {
        let mut references = group.references.iter();
        references.any(|owner| !owner.uid.is_empty() && uids.contains(&owner.uid))
    })?;
    let said = group
        .condition("Unschedulable", "True")
        .or_else(|| group.condition("UnschedulableOnNodePool", "True"))
        .or_else(|| group.condition("Scheduled", "False"))?;
    Some((group, said))
}
