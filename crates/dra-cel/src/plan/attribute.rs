//! Selections and indexes. Mirrors `planSelect` and `planCallIndex` (`interpreter/planner.go`, cel-go v0.29).

use std::sync::Arc;

use super::Planner;
use super::node::{Attribute, Conditional, Lookup, Node, Qualifier, QualifierKey, Root};
use crate::ast::Expr;
use crate::value::Value;
use crate::value::device::DeviceMap;
use dra_values::Str;

impl Planner<'_> {
    pub(super) fn plan_select(
        &mut self,
        operand: &Expr,
        field: &str,
        presence: bool,
    ) -> Result<Node, String> {
        let mut attribute = into_attribute(self.plan_open(operand)?);
        let key = QualifierKey::Constant(Value::string(field));
        add_qualifier(
            &mut attribute,
            &Arc::new(Qualifier {
                key,
                optional: false,
                presence,
            }),
        );
        Ok(if presence {
            Node::Present(Box::new(attribute))
        } else {
            Node::Attribute(Box::new(attribute))
        })
    }

    pub(super) fn plan_index(
        &mut self,
        operand: &Expr,
        index: &Expr,
        optional: bool,
    ) -> Result<Node, String> {
        let mut attribute = into_attribute(self.plan_open(operand)?);
        let key = match self.plan_open(index)? {
            Node::Constant(key) if key.can_be_index() => QualifierKey::Constant(key),
            Node::Constant(other) => return Err(format!("invalid qualifier type: {}", other.go_type())),
            Node::Broken(fault) => return Err(fault.message().to_owned()),
            Node::Attribute(attribute) | Node::Present(attribute) => QualifierKey::Computed(*attribute),
            other => QualifierKey::Computed(Root::Operand(other).into()),
        };
        add_qualifier(
            &mut attribute,
            &Arc::new(Qualifier {
                key,
                optional,
                presence: false,
            }),
        );
        Ok(Node::Attribute(Box::new(attribute)))
    }
}

/// The attribute that a node is, or one that begins with it.
fn into_attribute(node: Node) -> Attribute {
    match node {
        Node::Attribute(attribute) => *attribute,
        other => Root::Operand(other).into(),
    }
}

/// Both branches of a conditional get what follows it.
fn add_qualifier(attribute: &mut Attribute, qualifier: &Arc<Qualifier>) {
    match &mut attribute.root {
        Root::Conditional(conditional) => {
            add_qualifier(&mut conditional.truthy, qualifier);
            add_qualifier(&mut conditional.falsy, qualifier);
        }
        _ => attribute.qualifiers.push(Arc::clone(qualifier)),
    }
}

pub(super) fn plan_conditional(condition: Node, truthy: Node, falsy: Node) -> Node {
    let branch = |node| match node {
        Node::Attribute(attribute) | Node::Present(attribute) => *attribute,
        other => Root::Operand(other).into(),
    };
    let conditional = Conditional {
        condition,
        truthy: branch(truthy),
        falsy: branch(falsy),
    };
    Node::Attribute(Box::new(Root::Conditional(Box::new(conditional)).into()))
}

/// Makes the frequent case of an attribute fast.
pub(super) fn fuse(node: Node) -> Node {
    let Node::Attribute(attribute) = &node else {
        return node;
    };
    if !matches!(attribute.root, Root::Device) {
        return node;
    }
    let names: Vec<&str> = attribute
        .qualifiers
        .iter()
        .map_while(|qualifier| match &qualifier.key {
            QualifierKey::Constant(Value::String(name)) if !qualifier.optional => Some(&**name),
            _ => None,
        })
        .collect();
    if let [map, domain, id] = names.as_slice()
        && attribute.qualifiers.len() == 3
        && let Some(map) = DeviceMap::called(map)
    {
        return Node::Lookup(Box::new(Lookup {
            map,
            domain: Str::from(*domain),
            id: Str::from(*id),
        }));
    }
    node
}
