//! What gathers nodes before a driver prepares claims, such as a ComputeDomain, and the pods that run for it.

use std::sync::Arc;

use super::drivers::daemon_set_of;
use super::publishing::untolerated;
use super::{Cause, DOMAIN_LABEL, PodStage, Stages};
use crate::owners::{gathered_with, gathering, incomplete, too_few_pods, unready};
use dra_model::{Owner, Pod, Str};

impl<'c> Stages<'c> {
    /// Returns what gathers the pod's node with those of others, where it lacks some: the driver refuses the claim until then.
    pub(super) fn nodes_missing(&self, pod: &Pod) -> Option<Cause> {
        let owner = gathering(self.cluster, pod)?;
        let lacks = incomplete(owner).or_else(|| unready(owner, pod.node()?))?;
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
                .filter(|other| other.node().is_none() && lacks.wanted > 0)
                .map(|other| other.key())
                .collect(),
            too_few: too_few_pods(self.cluster, pod, owner),
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
        self.daemon_pods(pod).find_map(|other| self.stuck(other))
    }

    /// The pods on the node of `pod` that run for what gathers its node.
    pub fn daemon_pods<'p>(&'p self, pod: &'p Pod) -> impl Iterator<Item = &'c Arc<Pod>> + 'p {
        let owner = gathering(self.cluster, pod).into_iter();
        let sets = owner.flat_map(|owner| self.daemon_sets(owner));
        sets.flat_map(move |set| {
            let is_its = move |other: &&Arc<Pod>| {
                let made_by = daemon_set_of(other);
                made_by == Some(&set.key.name) && other.node() == pod.node()
            };
            self.cluster.pods_in(&set.key.namespace).filter(is_its)
        })
    }
}
