//! The syntax tree after macro expansion.
//!
//! Every node has a number of its own; tables by that number hold its place in the source, and after checking its type
//! and the overloads that a call can mean.

use std::sync::Arc;

use super::source::Offset;
use super::types::Name;

/// Number of a node.
pub(crate) type NodeId = u32;

/// A node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expr {
    pub(crate) id: NodeId,
    pub(crate) kind: ExprKind,
}

#[derive(Debug, Clone, Default)]
pub(crate) enum ExprKind {
    Literal(Literal),
    Ident(Name),
    Select {
        operand: Box<Expr>,
        field: Name,
        test_only: bool,
    },
    Call {
        function: Name,
        target: Option<Box<Expr>>,
        args: Vec<Expr>,
    },
    List {
        elements: Vec<Expr>,
        optional: Vec<usize>,
    },
    Map {
        entries: Vec<Entry>,
    },
    Struct {
        name: Name,
        fields: Vec<Field>,
    },
    Comprehension(Box<Comprehension>),
    /// Stands for what could not be read.
    #[default]
    Unspecified,
}

impl Expr {
    /// The nodes right below this one, in the order in which they are looked at.
    pub(crate) fn children(&self) -> Vec<&Self> {
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Ident(_) | ExprKind::Unspecified => Vec::new(),
            ExprKind::Select { operand, .. } => vec![operand],
            ExprKind::Call { target, args, .. } => target.as_deref().into_iter().chain(args).collect(),
            ExprKind::List { elements, .. } => elements.iter().collect(),
            ExprKind::Map { entries } => entries
                .iter()
                .flat_map(|entry| [&entry.key, &entry.value])
                .collect(),
            ExprKind::Struct { fields, .. } => fields.iter().map(|field| &field.value).collect(),
            ExprKind::Comprehension(fold) => {
                vec![&fold.range, &fold.init, &fold.condition, &fold.step, &fold.result]
            }
        }
    }

    /// The same nodes, to be changed.
    pub(crate) fn children_mut(&mut self) -> Vec<&mut Self> {
        match &mut self.kind {
            ExprKind::Literal(_) | ExprKind::Ident(_) | ExprKind::Unspecified => Vec::new(),
            ExprKind::Select { operand, .. } => vec![operand],
            ExprKind::Call { target, args, .. } => target.as_deref_mut().into_iter().chain(args).collect(),
            ExprKind::List { elements, .. } => elements.iter_mut().collect(),
            ExprKind::Map { entries } => entries
                .iter_mut()
                .flat_map(|entry| [&mut entry.key, &mut entry.value])
                .collect(),
            ExprKind::Struct { fields, .. } => fields.iter_mut().map(|field| &mut field.value).collect(),
            ExprKind::Comprehension(fold) => {
                let Comprehension {
                    range,
                    init,
                    condition,
                    step,
                    result,
                    ..
                } = &mut **fold;
                vec![range, init, condition, step, result]
            }
        }
    }
}

/// An entry of a map literal.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: Expr,
    pub(crate) value: Expr,
    pub(crate) optional: bool,
}

/// A field of a message literal.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) id: NodeId,
    pub(crate) name: Name,
    pub(crate) value: Expr,
    pub(crate) optional: bool,
}

/// Expansion of all macros except `has`: a fold over a range.
#[derive(Debug, Clone)]
pub(crate) struct Comprehension {
    pub(crate) range: Expr,
    pub(crate) variable: Name,
    /// With a second variable the first is the index or key, the second the element or value.
    pub(crate) variable2: Option<Name>,
    pub(crate) accumulator: Name,
    pub(crate) init: Expr,
    pub(crate) condition: Expr,
    pub(crate) step: Expr,
    pub(crate) result: Expr,
}

impl Comprehension {
    /// Returns whether this only gives a name to a value, as `cel.bind` does.
    pub(crate) fn is_bind(&self) -> bool {
        matches!(&self.range.kind, ExprKind::List { elements, .. } if elements.is_empty())
            && matches!(self.condition.kind, ExprKind::Literal(Literal::Bool(false)))
            && &*self.accumulator != ACCUMULATOR
    }
}

/// The accumulator of macros. It cannot be written in a source text.
pub(crate) const ACCUMULATOR: &str = "@result";

/// A constant in the source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
}

/// A tree with the tables that belong to it.
#[derive(Debug)]
pub(crate) struct Ast {
    pub(crate) root: Expr,
    /// Offset of each node, by its number.
    pub(crate) places: Vec<Offset>,
    /// The source ranges of the operands of `&&`, by the operands' numbers.
    pub(crate) terms: Vec<(NodeId, std::ops::Range<usize>)>,
}

impl Ast {
    pub(crate) fn place(&self, id: NodeId) -> Option<Offset> {
        self.places.get(id as usize).copied()
    }
}

/// Names of the operators as functions.
pub(crate) mod operators {
    pub(crate) const CONDITIONAL: &str = "_?_:_";
    pub(crate) const AND: &str = "_&&_";
    pub(crate) const OR: &str = "_||_";
    pub(crate) const NOT: &str = "!_";
    pub(crate) const EQUALS: &str = "_==_";
    pub(crate) const NOT_EQUALS: &str = "_!=_";
    pub(crate) const LESS: &str = "_<_";
    pub(crate) const LESS_EQUALS: &str = "_<=_";
    pub(crate) const GREATER: &str = "_>_";
    pub(crate) const GREATER_EQUALS: &str = "_>=_";
    pub(crate) const ADD: &str = "_+_";
    pub(crate) const SUBTRACT: &str = "_-_";
    pub(crate) const MULTIPLY: &str = "_*_";
    pub(crate) const DIVIDE: &str = "_/_";
    pub(crate) const MODULO: &str = "_%_";
    pub(crate) const NEGATE: &str = "-_";
    pub(crate) const INDEX: &str = "_[_]";
    pub(crate) const OPT_INDEX: &str = "_[?_]";
    pub(crate) const OPT_SELECT: &str = "_?._";
    pub(crate) const IN: &str = "@in";
    pub(crate) const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
    pub(crate) const MAP_INSERT: &str = "cel.@mapInsert";
    pub(crate) const SORT_BY: &str = "@sortByAssociatedKeys";
}
