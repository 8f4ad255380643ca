//! How many free devices a node reaches at most.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use dra_allocator::devices::Nodes;
use dra_model::{Cluster, NodeSelector, Str};

/// Free devices of a driver, by the nodes that reach them.
#[derive(Default)]
pub(crate) struct FreeByNode<'a> {
    /// Only used for lookups and the largest number.
    named: HashMap<&'a Str, usize, RandomState>,
    everywhere: usize,
    /// Those that a selector matches; devices of a pool mostly share one.
    selected: Vec<(&'a NodeSelector, usize)>,
}

impl<'a> FreeByNode<'a> {
    pub(crate) fn add(&mut self, nodes: Nodes<'a>) {
        if let Some(name) = nodes.only() {
            *self.named.entry(name).or_default() += 1;
        } else if nodes.all {
            self.everywhere += 1;
        } else if let Some(selector) = nodes.selector {
            match self.selected.last_mut() {
                Some((known, count)) if *known == selector => *count += 1,
                _ => self.selected.push((selector, 1)),
            }
        }
    }

    /// The largest number that one node reaches; nothing where that takes looking at too much.
    pub(crate) fn most(self, cluster: &Cluster) -> Option<usize> {
        let named = self.named.values().copied().max().unwrap_or(0);
        if self.selected.is_empty() {
            return Some(named + self.everywhere);
        }
        let mut most = named;
        for node in cluster.nodes() {
            cluster.meter().look(self.selected.len());
            if cluster.meter().exhausted().is_some() {
                return None;
            }
            let selected = self
                .selected
                .iter()
                .filter(|(selector, _)| selector.matches(&node.metadata).unwrap_or(false));
            let selected: usize = selected.map(|(_, count)| *count).sum();
            let own = self.named.get(&node.metadata.name).copied().unwrap_or(0);
            most = most.max(own + selected);
        }
        Some(most + self.everywhere)
    }
}
