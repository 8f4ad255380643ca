//! Which nodes reach a device.

use crate::model::{Cluster, Device, Meta, NodeSelector, Slice, Str};

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
pub(crate) fn node_of(slice: &Slice, device: &Device) -> (Option<Str>, DeviceNode) {
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
pub(crate) fn node_selection<'a>(slice: &'a Slice, device: &'a Device) -> Nodes<'a> {
    if slice.spec.per_device_node_selection {
        given(
            device.node_name.as_ref(),
            device.node_selector.as_ref(),
            device.all_nodes,
        )
    } else {
        slice_selection(slice)
    }
}

/// Node name, selector and all-nodes flag of the slice itself.
pub(crate) fn slice_selection(slice: &Slice) -> Nodes<'_> {
    let spec = &slice.spec;
    given(
        spec.node_name.as_ref(),
        spec.node_selector.as_ref(),
        spec.all_nodes,
    )
}

type Nodes<'a> = (Option<&'a Str>, Option<&'a NodeSelector>, bool);

/// An empty name is none.
fn given<'a>(name: Option<&'a Str>, selector: Option<&'a NodeSelector>, all: bool) -> Nodes<'a> {
    (name.filter(|name| !name.is_empty()), selector, all)
}

/// A node that devices or claims are looked for.
pub(crate) struct WantedNode {
    /// Only the name of a node that is not known.
    meta: Meta,
    is_known: bool,
}

impl WantedNode {
    pub(crate) fn of(cluster: &Cluster, name: &Str) -> Self {
        let known = cluster.node(name);
        let unknown = || Meta {
            name: name.clone(),
            ..Meta::default()
        };
        Self {
            meta: known.map_or_else(unknown, |node| node.metadata.clone()),
            is_known: known.is_some(),
        }
    }

    pub(crate) fn name(&self) -> &Str {
        &self.meta.name
    }

    /// What is known of the node; of one that is not known, its name.
    pub(crate) fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Whether the selector matches the node.
    ///
    /// # Errors
    /// Why that is unknown: Kubernetes could not evaluate the selector either, or it asks for labels of a node that is not known.
    pub(crate) fn matches(&self, selector: &NodeSelector) -> Result<bool, String> {
        let asks_for_labels = || {
            let mut terms = selector.node_selector_terms.iter();
            terms.any(|term| !term.match_expressions.is_empty())
        };
        if !self.is_known && asks_for_labels() {
            return Err("the labels of the node are not known".to_owned());
        }
        selector
            .matches(&self.meta)
            .map_err(|invalid| invalid.to_string())
    }

    /// Whether the device can be used on the node. Mirrors `pools_incubating.go`, `NodeMatches`, v1.37.1.
    ///
    /// # Errors
    /// As for [`Self::matches`].
    pub(crate) fn reaches(&self, slice: &Slice, device: &Device) -> Result<bool, String> {
        match node_selection(slice, device) {
            (Some(name), _, _) => Ok(*name == self.meta.name),
            (None, _, true) => Ok(true),
            (None, Some(selector), false) => self.matches(selector),
            (None, None, false) => Ok(false),
        }
    }
}
