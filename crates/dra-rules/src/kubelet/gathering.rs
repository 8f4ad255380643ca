//! What gathers nodes before a driver prepares claims, such as a ComputeDomain, and the pods that run for it.

use std::sync::Arc;

use super::drivers::daemon_set_of;
use super::publishing::untolerated;
use super::{Cause, DOMAIN_LABEL, PodStage, Stages, Stuck};
use crate::owners::{gathered_with, gathering, incomplete, too_few_pods, unready};
use dra_model::{Owner, Pod, Str};

impl<'c> Stages<'c> {
    /// Returns what gathers the pod's node with those of others, where it lacks some: the driver refuses the claim until then.
    pub(super) fn nodes_missing(&self, pod: &Pod) -> Option<Cause> {
        let owner = gathering(self.cluster, pod)?;
        let own = pod.node().and_then(|node| unready(owner, node));
        let lacks = own.or_else(|| incomplete(owner))?;
        let others = gathered_with(self.cluster, pod, owner).into_iter();
        let node = pod.node().and_then(|node| self.cluster.node(node));
        let mut sets = self.daemon_sets(owner);
        let kept_off = node
            .and_then(|node| sets.find_map(|set| Some((set.key.clone(), untolerated(set, node)?.clone()))));
        let taken = node
            .and_then(|node| node.metadata.label(DOMAIN_LABEL))
            .filter(|uid| **uid != owner.uid);
        let domain = |uid: &Str| {
            let mut owners = self.cluster.environment().owners.iter();
            owners
                .find(|other| other.uid == *uid)
                .map(|other| other.key.clone())
        };
        Some(Cause::NodesMissing {
            owner: owner.into(),
            taken: taken.map(|uid| (uid.clone(), domain(uid))),
            others: others
                .filter(|other| other.node().is_none() && !lacks.is_of_node)
                .map(|other| other.key())
                .collect(),
            too_few: too_few_pods(self.cluster, pod, owner).filter(|_| !lacks.is_of_node),
            kept_off,
            lacks,
        })
    }

    /// The DaemonSets that run for what gathers nodes: their nodeSelector has its UID.
    fn daemon_sets(&self, owner: &'c Owner) -> impl Iterator<Item = &'c Owner> {
        self.cluster.environment().owners.iter().filter(move |set| {
            let mut labels = set.node_selector.iter();
            set.kind == "DaemonSet" && !owner.uid.is_empty() && labels.any(|(_, value)| *value == owner.uid)
        })
    }

    /// The pod on the node of `pod` that runs for what gathers its node, and what keeps it.
    pub fn daemon(&self, pod: &Pod) -> Option<PodStage<'c>> {
        let owner = gathering(self.cluster, pod).zip(pod.node());
        let is_alone = owner.is_some_and(|(owner, node)| unready(owner, node).is_some());
        // One that is not ready may wait for other nodes, where these count.
        let keeps = |stuck: &Stuck<'_>| is_alone && matches!(stuck.cause, Cause::NotReady { .. });
        let mut found = self.daemon_pods(pod).filter_map(|other| self.of_any(other));
        found.find(|found| found.is_stuck() || found.stuck.as_ref().is_some_and(keeps))
    }

    /// The pods on the node of `pod` that run for what gathers its node.
    pub fn daemon_pods<'p>(&'p self, pod: &'p Pod) -> impl Iterator<Item = &'c Arc<Pod>> + 'p {
        let owner = gathering(self.cluster, pod).filter(|owner| !owner.uid.is_empty());
        let is_its = move |owner: &'c Owner, other: &Pod| {
            let is_made_by = |set: &Owner| {
                daemon_set_of(other) == Some(&set.key.name) && other.metadata.namespace == set.key.namespace
            };
            other.metadata.label(DOMAIN_LABEL) == Some(&owner.uid) || self.daemon_sets(owner).any(is_made_by)
        };
        let there = pod
            .node()
            .into_iter()
            .flat_map(|node| self.cluster.pods_of_node(node));
        there.filter(move |other| owner.is_some_and(|owner| is_its(owner, other)))
    }
}
