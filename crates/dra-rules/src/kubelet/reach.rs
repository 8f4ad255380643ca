//! Nodes that drivers publish devices for.

use dra_model::{Cluster, Meta, PoolId, Slice, Str};

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

/// Returns whether a driver publishes devices for a node. Nothing if it publishes only for several nodes, because that
/// proves nothing about a single one.
pub fn publishes_for(cluster: &Cluster, driver: &Str, node: &Meta) -> Option<bool> {
    let nodes = |slice| nodes_of_slice(slice).chain(nodes_of_devices(slice));
    // Most drivers call the pool of a node like the node: then not all slices have to be looked at.
    let pool = PoolId {
        driver: driver.clone(),
        pool: node.name.clone(),
    };
    let mut own = cluster.slices_of_pool(&pool);
    if own.any(|slice| nodes(slice).any(|name| *name == node.name)) {
        return Some(true);
    }
    let mut is_by_node = true;
    for slice in cluster.slices().filter(|slice| slice.spec.driver == *driver) {
        let mut nodes = nodes(slice).peekable();
        is_by_node &= nodes.peek().is_some();
        if nodes.any(|name| *name == node.name) {
            return Some(true);
        }
    }
    is_by_node.then_some(false)
}
