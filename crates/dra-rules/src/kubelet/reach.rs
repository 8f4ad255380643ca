//! Nodes that drivers publish devices for.

use std::collections::HashSet;

use dra_model::{Cluster, Slice, Str};

/// The nodes that a slice names for itself.
pub fn nodes_of_slice(slice: &Slice) -> impl Iterator<Item = &Str> {
    let named = slice.spec.node_name.iter().filter(|name| !name.is_empty());
    let single = slice
        .spec
        .node_selector
        .as_ref()
        .and_then(|selector| selector.single_node());
    named.chain(single)
}

/// The nodes that devices of a slice name.
pub fn nodes_of_devices(slice: &Slice) -> impl Iterator<Item = &Str> {
    let devices = slice
        .spec
        .devices
        .iter()
        .filter(|_| slice.spec.per_device_node_selection);
    devices
        .filter_map(|device| device.node_name.as_ref())
        .filter(|name| !name.is_empty())
}

/// The nodes that a driver publishes devices for.
pub(super) struct Reach<'c> {
    named: HashSet<&'c Str>,
    /// Whether all of its slices name nodes: what is for several nodes proves nothing about a single one.
    is_by_node: bool,
}

impl<'c> Reach<'c> {
    pub(super) fn of(cluster: &'c Cluster, driver: &str) -> Self {
        let mut found = Self {
            named: HashSet::new(),
            is_by_node: true,
        };
        for slice in cluster.slices().filter(|slice| slice.spec.driver == *driver) {
            let mut nodes = nodes_of_slice(slice).chain(nodes_of_devices(slice)).peekable();
            found.is_by_node &= nodes.peek().is_some();
            found.named.extend(nodes);
        }
        found
    }

    pub(super) fn has(&self, node: &Str) -> Option<bool> {
        let is_named = self.named.contains(node);
        (is_named || self.is_by_node).then_some(is_named)
    }
}
