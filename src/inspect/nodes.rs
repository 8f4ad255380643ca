//! Which nodes reach a device.

use crate::model::{Device, Meta, NodeSelector, Slice, Str};

/// Which nodes reach a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceNode {
    /// One: see `DeviceItem::node`.
    One,
    /// All.
    Any,
    /// Those that a selector matches.
    Several,
    /// Nothing says.
    Unknown,
}

/// The node that alone reaches the device, or which do.
pub(super) fn node_of(slice: &Slice, device: &Device) -> (Option<Str>, DeviceNode) {
    let (name, selector, all) = node_selection(slice, device);
    if all && name.is_none() {
        (None, DeviceNode::Any)
    } else if let Some(name) = name.or_else(|| selector?.single_node()) {
        (Some(name.clone()), DeviceNode::One)
    } else if selector.is_some() {
        (None, DeviceNode::Several)
    } else {
        (None, DeviceNode::Unknown)
    }
}

/// Node name, selector and all-nodes flag that decide for the device.
pub(super) fn node_selection<'a>(slice: &'a Slice, device: &'a Device) -> Nodes<'a> {
    if slice.spec.per_device_node_selection {
        given(&device.node_name, &device.node_selector, device.all_nodes)
    } else {
        slice_selection(slice)
    }
}

/// Node name, selector and all-nodes flag of the slice itself.
pub(super) fn slice_selection(slice: &Slice) -> Nodes<'_> {
    let spec = &slice.spec;
    given(&spec.node_name, &spec.node_selector, spec.all_nodes)
}

type Nodes<'a> = (Option<&'a Str>, Option<&'a NodeSelector>, bool);

/// An empty name is none.
fn given<'a>(name: &'a Option<Str>, selector: &'a Option<NodeSelector>, all: bool) -> Nodes<'a> {
    let name = name.as_ref().filter(|name| !name.is_empty());
    (name, selector.as_ref(), all)
}

/// Whether the device can be used on the node. Mirrors `pools_incubating.go`, `NodeMatches`, v1.37.1; what cannot be evaluated
/// reaches no node.
pub(super) fn reaches(node: &Meta, slice: &Slice, device: &Device) -> bool {
    match node_selection(slice, device) {
        (Some(name), _, _) => *name == node.name,
        (None, _, true) => true,
        (None, Some(selector), false) => selector.matches(node).unwrap_or(false),
        (None, None, false) => false,
    }
}
