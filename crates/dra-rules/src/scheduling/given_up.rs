//! Allocations and reservations that kube-scheduler removes automatically for a pod that does not fit on any node.

use std::sync::Arc;

use crate::reservation::{PodGroups, group_claim_name};
use dra_model::{Claim, Cluster, Component, ConsumerReference, Gate, Kind, Pod, PodGroup};

/// The PodGroup of the pod, if kube-scheduler takes its reservations back where it does not fit: while none of its members has a node.
///
/// Mirrors `dynamicresources.go`, `PodGroupPostFilter` and `deallocatePodGroupClaims`, v1.37.2. In 1.36 the reservation goes first, and the
/// next attempt deallocates what is reserved for none.
fn unreserved_group<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Arc<PodGroup>> {
    let environment = cluster.environment();
    if !environment.enabled(Component::Scheduler, Gate::GenericWorkload)
        || cluster.gap(Kind::Pod, &pod.metadata.namespace).is_some()
    {
        return None;
    }
    let group = PodGroups::of(environment, Component::Scheduler).group_of(cluster, pod)?;
    let spec = &group.spec;
    let key = group.metadata.key();
    let mut members = cluster.pods_of_group(&key);
    let is_active = members.any(|member| member.node().is_some() && !member.is_terminal());
    let is_simple = spec.parent_composite_pod_group_name.is_none() && spec.scheduling_constraints.is_none();
    (!is_active && is_simple).then_some(group)
}

/// Consumers of a claim that remain after kube-scheduler's automatic deallocation for `pod`, which does not fit on any
/// node: not those that are the pod itself, or its PodGroup while no member has a node. Of a claim that others use as
/// well, only what the group names for its own is given up.
pub fn remaining_consumers<'a>(
    cluster: &Cluster,
    pod: Option<&Pod>,
    claim: &'a Claim,
) -> Vec<&'a ConsumerReference> {
    let reserved = &claim.status.reserved_for;
    let group = pod.and_then(|pod| unreserved_group(cluster, pod));
    let is_named = |group: &PodGroup| {
        let mut entries = group.spec.resource_claims.iter();
        entries.any(|entry| {
            group_claim_name(group, entry).is_ok_and(|name| name.name() == Some(&claim.metadata.name))
        })
    };
    let given_up = group.filter(|group| reserved.len() == 1 || is_named(group));
    let stays = |entry: &&ConsumerReference| {
        pod.is_none_or(|pod| pod.metadata.uid != entry.uid)
            && given_up.is_none_or(|group| group.metadata.uid != entry.uid)
    };
    reserved.iter().filter(stays).collect()
}
