//! Nodes that reach a slice or a device.

use std::fmt::Write;

use dra_model::{Cluster, Device, Meta, NodeRequirement, NodeSelector, Slice, Str};

/// Nodes that reach a device.
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
pub fn node_of(slice: &Slice, device: &Device) -> (Option<Str>, DeviceNode) {
    let nodes = Nodes::of_device(slice, device);
    if let Some(name) = nodes.only() {
        (Some(name.clone()), DeviceNode::One)
    } else if nodes.all {
        (None, DeviceNode::Any)
    } else if nodes.selector.is_some() {
        (None, DeviceNode::Several)
    } else {
        (None, DeviceNode::Unknown)
    }
}

/// For how many objects that are looked at a requirement of a node selector counts.
const LOOKS_PER_REQUIREMENT: usize = 16;

/// Node fields of a slice or a device. An empty name is none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Nodes<'a> {
    /// The only node.
    pub(crate) name: Option<&'a Str>,
    /// The nodes that it matches.
    pub selector: Option<&'a NodeSelector>,
    /// Every node.
    pub all: bool,
}

impl<'a> Nodes<'a> {
    /// Returns what decides for the device: its own fields or those of its slice.
    pub fn of_device(slice: &'a Slice, device: &'a Device) -> Self {
        if slice.spec.per_device_node_selection {
            Self::given(
                device.node_name.as_ref(),
                device.node_selector.as_ref(),
                device.all_nodes,
            )
        } else {
            Self::of_slice(slice)
        }
    }

    /// Returns what the slice itself says.
    pub fn of_slice(slice: &'a Slice) -> Self {
        let spec = &slice.spec;
        Self::given(
            spec.node_name.as_ref(),
            spec.node_selector.as_ref(),
            spec.all_nodes,
        )
    }

    fn given(name: Option<&'a Str>, selector: Option<&'a NodeSelector>, all: bool) -> Self {
        Self {
            name: name.filter(|name| !name.is_empty()),
            selector,
            all,
        }
    }

    /// The node that alone is among them, where that can be read without looking at any node.
    pub fn only(self) -> Option<&'a Str> {
        let named = || self.selector.filter(|_| !self.all)?.single_node();
        self.name.or_else(named)
    }

    /// Nothing is said.
    pub(crate) fn is_absent(self) -> bool {
        self.name.is_none() && !self.all && self.selector.is_none()
    }

    /// For how many objects that are looked at it counts to see whether a node is among them.
    pub(crate) fn looks(self) -> usize {
        let terms = self
            .selector
            .iter()
            .flat_map(|selector| &selector.node_selector_terms);
        let requirements = terms.flat_map(|term| term.match_expressions.iter().chain(&term.match_fields));
        1 + requirements
            .map(|requirement| LOOKS_PER_REQUIREMENT + requirement.values.len())
            .sum::<usize>()
    }

    /// Returns whether `node` is among them. Mirrors `pools_incubating.go`, `NodeMatches`, v1.37.2.
    ///
    /// # Errors
    /// A selector with an invalid requirement, even where another term of it matches: upstream parses the whole selector.
    pub(crate) fn include(self, node: &Meta) -> Result<bool, String> {
        match self {
            Self { name: Some(name), .. } => Ok(node.name == *name),
            Self { all: true, .. } => Ok(true),
            Self { selector: None, .. } => Ok(false),
            Self {
                selector: Some(selector),
                ..
            } => match selector.check() {
                Ok(()) => Ok(selector.matches(node).unwrap_or(false)),
                Err(invalid) => Err(format!(
                    "failed to parse node selector {}: {}",
                    shown(selector),
                    invalid.why()
                )),
            },
        }
    }
}

/// The selector as Go's generated code shows it.
fn shown(selector: &NodeSelector) -> String {
    let mut text = String::from("&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{");
    let list = |text: &mut String, name: &str, requirements: &[NodeRequirement]| {
        let _ = write!(text, "{name}:[]NodeSelectorRequirement{{");
        for requirement in requirements {
            let values: Vec<&str> = requirement.values.iter().map(Str::as_str).collect();
            let _ = write!(
                text,
                "NodeSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
                requirement.key,
                requirement.operator,
                values.join(" ")
            );
        }
        text.push_str("},");
    };
    for term in &selector.node_selector_terms {
        text.push_str("NodeSelectorTerm{");
        list(&mut text, "MatchExpressions", &term.match_expressions);
        list(&mut text, "MatchFields", &term.match_fields);
        text.push_str("},");
    }
    text.push_str("},}");
    text
}

/// A node that devices or claims are looked for.
pub struct WantedNode {
    /// Only the name of an unknown node.
    meta: Meta,
    is_known: bool,
}

impl WantedNode {
    /// The node of that name, and the node itself if it is known.
    pub fn of(cluster: &Cluster, name: &Str) -> Self {
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

    /// Its name.
    pub fn name(&self) -> &Str {
        &self.meta.name
    }

    /// Returns the known data of the node; for an unknown node, its name.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns whether the selector matches the node.
    ///
    /// # Errors
    /// Why that is unknown: Kubernetes could not evaluate the selector either, or it refers to labels of an unknown
    /// node.
    pub fn matches(&self, selector: &NodeSelector) -> Result<bool, String> {
        let asks_for_labels = || {
            let mut terms = selector.node_selector_terms.iter();
            terms.any(|term| !term.match_expressions.is_empty())
        };
        if !self.is_known && asks_for_labels() {
            return Err("the node's labels are unknown".to_owned());
        }
        // Upstream parses the selectors of slices and of allocations as a whole.
        selector.check().map_err(|invalid| invalid.to_string())?;
        Ok(selector.matches(&self.meta).unwrap_or(false))
    }

    /// Returns whether the device can be used on the node.
    ///
    /// # Errors
    /// As for [`Self::matches`].
    pub fn reaches(&self, slice: &Slice, device: &Device) -> Result<bool, String> {
        match Nodes::of_device(slice, device) {
            Nodes {
                name: None,
                all: false,
                selector: Some(selector),
            } => self.matches(selector),
            nodes => nodes.include(&self.meta),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_selector_is_reported_in_upstreams_words() {
        for (selector, expected) in [
            (
                r#"[{"matchExpressions": [{"key": "rack", "operator": "Lt", "values": ["high"]}]}]"#,
                r#"&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{NodeSelectorTerm{MatchExpressions:[]NodeSelectorRequirement{NodeSelectorRequirement{Key:rack,Operator:Lt,Values:[high],},},MatchFields:[]NodeSelectorRequirement{},},},}: nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "high": for 'Gt', 'Lt' operators, the value must be an integer"#,
            ),
            (
                r#"[{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}, {}]"#,
                r#"&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{NodeSelectorTerm{MatchExpressions:[]NodeSelectorRequirement{},MatchFields:[]NodeSelectorRequirement{NodeSelectorRequirement{Key:metadata.name,Operator:In,Values:[a b],},},},NodeSelectorTerm{MatchExpressions:[]NodeSelectorRequirement{},MatchFields:[]NodeSelectorRequirement{},},},}: nodeSelectorTerms[0].matchFields[0].values: Invalid value: ["a","b"]: must have one element"#,
            ),
        ] {
            let selector: NodeSelector =
                serde_json::from_str(&format!(r#"{{"nodeSelectorTerms": {selector}}}"#)).unwrap();
            let nodes = Nodes::given(None, Some(&selector), false);
            assert_eq!(
                nodes.include(&Meta::default()),
                Err(format!("failed to parse node selector {expected}"))
            );
        }
    }
}
