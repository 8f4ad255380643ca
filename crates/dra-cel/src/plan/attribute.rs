//! Selections and indexes. Mirrors `planSelect` and `planCallIndex` (`interpreter/planner.go`, cel-go v0.29).

use std::sync::Arc;

use super::Planner;
use super::node::{Attribute, Conditional, Lookup, Node, Qualifier, QualifierKey, Root};
use crate::ast::Expr;
use crate::value::Value;
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
            Node::Constant(
                key @ (Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_)),
            ) => QualifierKey::Constant(key),
            Node::Constant(other) => return Err(format!("invalid qualifier type: {}", other.go_type())),
            Node::Broken(fault) => return Err(fault.message().to_owned()),
            Node::Attribute(attribute) | Node::Present(attribute) => QualifierKey::Computed(*attribute),
            other => QualifierKey::Computed(operand_of(other)),
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

fn operand_of(node: Node) -> Attribute {
    Attribute {
        root: Root::Operand(node),
        qualifiers: Vec::new(),
    }
}

/// The attribute that a node is, or one that begins with it.
fn into_attribute(node: Node) -> Attribute {
    match node {
        Node::Attribute(attribute) => *attribute,
        other => operand_of(other),
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
        other => operand_of(other),
    };
    let conditional = Conditional {
        condition,
        truthy: branch(truthy),
        falsy: branch(falsy),
    };
    Node::Attribute(Box::new(Attribute {
        root: Root::Conditional(Box::new(conditional)),
        qualifiers: Vec::new(),
    }))
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
    match names.as_slice() {
        [kind @ ("attributes" | "capacity"), domain, id] if attribute.qualifiers.len() == 3 => {
            Node::Lookup(Box::new(Lookup {
                capacity: *kind == "capacity",
                domain: Str::from(*domain),
                id: Str::from(*id),
            }))
        }
        _ => node,
    }
}
