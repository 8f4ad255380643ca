//! Pods that a pod has to be near: its affinity to them is not simulated, only shown.

use std::collections::BTreeSet;

use crate::owners::is_selected;
use dra_model::{Cluster, Key, Kind, Node, Pod, PodSelector, Str};

/// The pods that a pod has to be near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// What selects them.
    pub selector: PodSelector,
    /// The label of nodes whose value is their topology domain.
    pub topology_key: Str,
    /// Those that have nodes.
    pub pods: Vec<Key>,
    /// The topology domains of their nodes: only nodes of these are left for the pod.
    pub domains: BTreeSet<Str>,
}

impl Near {
    /// The pods that `pod` has to be near. None if it requires several such things, if it is one of those pods itself, as the first of them may go
    /// anywhere, or if not all of them may have been read.
    ///
    /// Mirrors `interpodaffinity/filtering.go`, `updateWithAffinityTerms`, v1.37.2.
    pub fn of(cluster: &Cluster, pod: &Pod) -> Option<Self> {
        let affinity = pod.spec.affinity.as_ref()?.pod_affinity.as_ref()?;
        let [term] = affinity
            .required_during_scheduling_ignored_during_execution
            .as_slice()
        else {
            return None;
        };
        let selector = term.label_selector.as_ref()?;
        let own = std::slice::from_ref(&pod.metadata.namespace);
        let namespaces = if term.namespaces.is_empty() {
            own
        } else {
            &term.namespaces
        };
        let mut hidden = namespaces.iter().filter_map(|name| cluster.gap(Kind::Pod, name));
        if term.namespace_selector.is_some()
            || hidden.next().is_some()
            || cluster.gap(Kind::Node, "").is_some()
            || is_selected(selector, pod) != Ok(false)
        {
            return None;
        }
        let mut near = Self {
            selector: selector.clone(),
            topology_key: term.topology_key.clone(),
            pods: Vec::new(),
            domains: BTreeSet::new(),
        };
        for other in namespaces.iter().flat_map(|name| cluster.pods_in(name)) {
            let node = other.node().filter(|_| !other.is_terminal());
            if let Some(node) = node
                && is_selected(selector, other) == Ok(true)
            {
                let domain = cluster.node(node).and_then(|node| near.domain(node));
                near.domains.extend(domain.cloned());
                near.pods.push(other.key());
            }
        }
        // Files may have the pods of one namespace only.
        (!near.pods.is_empty() || namespaces == own).then_some(near)
    }

    /// Returns whether it leaves the node for the pod.
    pub fn leaves(&self, node: &Node) -> bool {
        self.domain(node)
            .is_some_and(|domain| self.domains.contains(domain))
    }

    fn domain<'n>(&self, node: &'n Node) -> Option<&'n Str> {
        node.metadata.label(&self.topology_key)
    }
}
