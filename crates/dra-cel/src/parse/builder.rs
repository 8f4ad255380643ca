//! Makes nodes: numbers them, notes their places, reads literals, expands macros.
//!
//! Mirrors `parser/helper.go` and the visitor half of `parser/parser.go` (cel-go v0.29). The parser decides the shape.

use std::ops::Range;
use std::sync::Arc;

use super::macros::{self, Macros};
use super::unescape::{unescape_bytes, unescape_string};
use crate::ast::{Expr, ExprKind, Literal, NodeId, operators};
use crate::source::{Issues, Offset};
use crate::types::Name;

/// Nodes that one expression may have. Macros that copy their operand double it, and nothing else stops them.
const MAX_NODES: usize = 250_000;

/// Makes the nodes of one expression.
pub(crate) struct Builder<'s> {
    pub(super) source: &'s str,
    pub(super) macros: Macros,
    pub(super) places: Vec<Offset>,
    pub(super) issues: Issues,
    pub(super) terms: Vec<(NodeId, Range<usize>)>,
}

const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "null",
    "return",
    "true",
    "var",
    "void",
    "while",
];

impl<'s> Builder<'s> {
    pub(super) fn new(source: &'s str, macros: Macros) -> Self {
        Self {
            source,
            macros,
            places: Vec::new(),
            issues: Issues::default(),
            terms: Vec::new(),
        }
    }

    /// Returns whether no variable and no function may have this name.
    pub(super) fn is_reserved(name: &str) -> bool {
        RESERVED.contains(&name)
    }

    /// Returns whether macros have blown the tree up beyond what is worth checking.
    pub(super) fn is_too_large(&self) -> bool {
        self.places.len() > MAX_NODES
    }

    pub(super) fn node(&mut self, at: usize, kind: ExprKind) -> Expr {
        let id = self.places.len() as NodeId;
        self.places.push(at as Offset);
        Expr { id, kind }
    }

    pub(super) fn place(&self, id: NodeId) -> usize {
        self.places.get(id as usize).map_or(0, |place| *place as usize)
    }

    /// Notes a problem and stands in for the node that has it.
    pub(super) fn error(&mut self, at: usize, message: impl Into<String>) -> Expr {
        self.issues.report(Some(at as Offset), message);
        self.node(at, ExprKind::Unspecified)
    }

    pub(super) fn literal(&mut self, at: usize, literal: Literal) -> Expr {
        self.node(at, ExprKind::Literal(literal))
    }

    /// A number; `negative` if a minus belongs to it, which is then where the literal begins.
    pub(super) fn int(&mut self, at: usize, text: &str, negative: bool) -> Expr {
        let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
        let signed = format!("{}{digits}", if negative { "-" } else { "" });
        match i64::from_str_radix(&signed, radix) {
            Ok(value) => self.literal(at, Literal::Int(value)),
            Err(_) => self.error(at, "invalid int literal"),
        }
    }

    pub(super) fn uint(&mut self, at: usize, text: &str) -> Expr {
        let number = text.trim_end_matches(['u', 'U']);
        let (digits, radix) = number
            .strip_prefix("0x")
            .map_or((number, 10), |digits| (digits, 16));
        match u64::from_str_radix(digits, radix) {
            Ok(value) => self.literal(at, Literal::Uint(value)),
            Err(_) => self.error(at, "invalid uint literal"),
        }
    }

    pub(super) fn double(&mut self, at: usize, text: &str, negative: bool) -> Expr {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.literal(at, Literal::Double(if negative { -value } else { value }))
            }
            _ => self.error(at, "invalid double literal"),
        }
    }

    pub(super) fn string(&mut self, at: usize, text: &str) -> Expr {
        let value = unescape_string(text).unwrap_or_else(|message| {
            self.issues.report(Some(at as Offset), message);
            text.to_owned()
        });
        self.literal(at, Literal::String(value.into()))
    }

    pub(super) fn bytes(&mut self, at: usize, text: &str) -> Expr {
        let value = unescape_bytes(&text[1..]).unwrap_or_else(|message| {
            self.issues.report(Some(at as Offset), message);
            text.as_bytes().to_vec()
        });
        self.literal(at, Literal::Bytes(value.into()))
    }

    /// An identifier at `at`, with a leading dot at `dot`.
    pub(super) fn ident(&mut self, dot: Option<usize>, at: usize, name: &str) -> Expr {
        if Self::is_reserved(name) {
            return self.error(dot.unwrap_or(at), format!("reserved identifier: {name}"));
        }
        let name = dotted(dot, name);
        self.node(at, ExprKind::Ident(name))
    }

    /// A call of a function by its name alone, with the parenthesis at `open`.
    pub(super) fn global_call(
        &mut self,
        dot: Option<usize>,
        at: usize,
        name: &str,
        open: usize,
        args: Vec<Expr>,
    ) -> Expr {
        if Self::is_reserved(name) {
            return self.ident(dot, at, name);
        }
        let name = dotted(dot, name);
        match macros::expand(self, open, &name, None, args) {
            Ok(expanded) => expanded,
            Err((_, args)) => self.operator(open, &name, args),
        }
    }

    /// A call on a receiver, with the parenthesis at `open`.
    pub(super) fn member_call(&mut self, target: Expr, name: &str, open: usize, args: Vec<Expr>) -> Expr {
        let function: Name = name.into();
        match macros::expand(self, open, &function, Some(target), args) {
            Ok(expanded) => expanded,
            Err((target, args)) => self.node(
                open,
                ExprKind::Call {
                    function,
                    target: target.map(Box::new),
                    args,
                },
            ),
        }
    }

    pub(super) fn operator(&mut self, at: usize, function: &str, args: Vec<Expr>) -> Expr {
        self.node(
            at,
            ExprKind::Call {
                function: function.into(),
                target: None,
                args,
            },
        )
    }

    /// A selection with the dot at `dot`; `field_at` is where the field name begins.
    pub(super) fn select(
        &mut self,
        operand: Expr,
        dot: usize,
        field: &str,
        field_at: usize,
        optional: bool,
    ) -> Expr {
        if optional {
            let field = self.literal(field_at, Literal::String(field.into()));
            return self.operator(dot, operators::OPT_SELECT, vec![operand, field]);
        }
        let kind = ExprKind::Select {
            operand: Box::new(operand),
            field: field.into(),
            test_only: false,
        };
        self.node(dot, kind)
    }

    /// Joins the terms of a chain of `&&` or `||` into a balanced tree. Mirrors `newBalancingLogicManager`.
    pub(super) fn balance(&mut self, function: &str, terms: Vec<Expr>, operators: &[usize]) -> Expr {
        let mut terms = terms.into_iter();
        self.balance_part(&function.into(), &mut terms, operators)
    }

    fn balance_part(
        &mut self,
        function: &Name,
        terms: &mut impl Iterator<Item = Expr>,
        operators: &[usize],
    ) -> Expr {
        if operators.is_empty() {
            return terms.next().unwrap_or_default();
        }
        let middle = operators.len() / 2;
        let left = self.balance_part(function, terms, &operators[..middle]);
        let right = self.balance_part(function, terms, &operators[middle + 1..]);
        let kind = ExprKind::Call {
            function: Arc::clone(function),
            target: None,
            args: vec![left, right],
        };
        self.node(operators[middle], kind)
    }
}

fn dotted(dot: Option<usize>, name: &str) -> Name {
    if dot.is_some() {
        format!(".{name}").into()
    } else {
        name.into()
    }
}
