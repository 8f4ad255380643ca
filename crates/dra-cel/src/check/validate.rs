//! Checks after type checking: literals that cannot be read, lists and maps of mixed types, format calls.
//!
//! Mirrors `cel/validator.go` and the format validator of `ext/formatting.go` (cel-go v0.29).

use super::Checked;
use crate::ast::{Expr, ExprKind, Literal, NodeId};
use crate::library::{Clause, FormatProblem, interpret_format, regex};
use crate::source::Issues;
use crate::types::Type;
use crate::value::time;

/// The problems of a tree that type-checks.
pub(super) fn validate(checked: &Checked) -> Issues {
    let mut validator = Validator {
        checked,
        issues: Issues::default(),
        formats: Vec::new(),
    };
    validator.walk(&checked.ast.root, false);
    for (id, message) in std::mem::take(&mut validator.formats) {
        validator.report(id, message);
    }
    validator.issues
}

struct Validator<'c> {
    checked: &'c Checked,
    issues: Issues,
    /// Problems of format calls. The library of strings adds their validator last, so these come behind others at the same place.
    formats: Vec<(NodeId, String)>,
}

impl Validator<'_> {
    fn report(&mut self, id: NodeId, message: impl Into<String>) {
        self.issues.report(self.checked.ast.place(id), message);
    }

    /// `formatted` says whether the node is below a call of `format`, whose arguments may be of any types.
    fn walk(&mut self, expr: &Expr, formatted: bool) {
        let inner =
            formatted || matches!(&expr.kind, ExprKind::Call { function, .. } if &**function == "format");
        for child in expr.children() {
            self.walk(child, inner);
        }
        match &expr.kind {
            ExprKind::Call {
                function,
                target,
                args,
            } => self.validate_call(expr, function, target.as_deref(), args),
            ExprKind::List { elements, optional } if !formatted => {
                let elements = elements.iter().enumerate();
                let elements: Vec<_> = elements
                    .map(|(position, element)| (element, optional.contains(&position)))
                    .collect();
                self.validate_types(&elements, true);
            }
            ExprKind::Map { entries } if !formatted => {
                let keys: Vec<_> = entries.iter().map(|entry| (&entry.key, false)).collect();
                let values: Vec<_> = entries
                    .iter()
                    .map(|entry| (&entry.value, entry.optional))
                    .collect();
                self.validate_types(&keys, false);
                self.validate_types(&values, false);
            }
            _ => {}
        }
    }

    /// All have to have the type of the first.
    fn validate_types(&mut self, members: &[(&Expr, bool)], first_only: bool) {
        let mut expected: Option<Type> = None;
        for (member, optional) in members {
            let mut of = self.checked.type_of(member.id);
            if *optional {
                of = of.unwrap_optional().0;
            }
            match &expected {
                None => expected = Some(of.clone()),
                Some(expected) if equivalent(expected, of) => {}
                Some(expected) => {
                    self.report(member.id, Type::mismatch(expected, of));
                    if first_only {
                        return;
                    }
                }
            }
        }
    }

    fn validate_call(&mut self, call: &Expr, function: &str, target: Option<&Expr>, args: &[Expr]) {
        let Some(first) = args.first() else { return };
        match (function, &first.kind) {
            ("duration" | "timestamp", ExprKind::Literal(literal)) => {
                let is_valid = match literal {
                    Literal::String(text) if function == "duration" => time::parse_duration(text).is_some(),
                    Literal::String(text) => matches!(time::parse_timestamp(text), Some(Ok(_))),
                    Literal::Int(seconds) => time::Timestamp::from_unix(*seconds).is_ok(),
                    // Its type is that of any time, and there is no function for it.
                    Literal::Null => false,
                    _ => true,
                };
                if !is_valid {
                    self.report(first.id, format!("invalid {function} argument"));
                }
            }
            ("matches", ExprKind::Literal(Literal::String(text))) if regex::Regex::new(text).is_err() => {
                self.report(first.id, "invalid matches argument");
            }
            ("format", ExprKind::List { elements, .. }) => {
                if let Some(Expr {
                    kind: ExprKind::Literal(Literal::String(format)),
                    ..
                }) = target
                    && args.len() == 1
                {
                    self.validate_format(call.id, format, elements);
                }
            }
            _ => {}
        }
    }

    fn validate_format(&mut self, call: NodeId, format: &str, elements: &[Expr]) {
        let check =
            |index: usize, clause: Clause, _: &mut String| self.check_argument(&elements[index], clause);
        match interpret_format(format, elements.len(), false, check) {
            Err((id, message)) => self.formats.push((id.unwrap_or(call), message)),
            Ok((_, requested)) if elements.len() > requested => {
                let message = format!(
                    "too many arguments supplied to string.format (expected {requested}, got {})",
                    elements.len()
                );
                self.formats.push((call, message));
            }
            Ok(_) => {}
        }
    }

    /// Looks at the type of an argument of a format call that is written down with it.
    fn check_argument(&self, element: &Expr, clause: Clause) -> Result<(), FormatProblem<NodeId>> {
        let refused = match (clause, self.checked.type_of(element.id)) {
            (Clause::String, _) => self.unprintable(element),
            (_, Type::Dyn)
            | (Clause::Decimal | Clause::Octal, Type::Int | Type::Uint)
            | (Clause::Fixed(_) | Clause::Scientific(_), Type::Double | Type::String)
            | (Clause::Binary, Type::Int | Type::Uint | Type::Bool)
            | (Clause::Hex { .. }, Type::Int | Type::Uint | Type::String | Type::Bytes) => None,
            _ => Some(element.id),
        };
        refused.map_or(Ok(()), |id| {
            Err((Some(id), clause.complaint(self.checked.type_of(id).name())))
        })
    }

    /// The first part of an argument that `%s` does not take.
    fn unprintable(&self, expr: &Expr) -> Option<NodeId> {
        let printable = matches!(
            self.checked.type_of(expr.id),
            Type::Dyn
                | Type::List(_)
                | Type::Map(_)
                | Type::Int
                | Type::Uint
                | Type::Double
                | Type::Bool
                | Type::String
                | Type::Timestamp
                | Type::Bytes
                | Type::Duration
                | Type::Type(_)
                | Type::Null
        );
        if !printable {
            return Some(expr.id);
        }
        match &expr.kind {
            ExprKind::List { elements, .. } => elements.iter().find_map(|element| self.unprintable(element)),
            ExprKind::Map { entries } => entries.iter().find_map(|entry| {
                self.unprintable(&entry.key)
                    .or_else(|| self.unprintable(&entry.value))
            }),
            _ => None,
        }
    }
}

/// Returns whether two types are equal but for the names of type variables.
fn equivalent(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Param(_), Type::Param(_)) => true,
        _ => left.agrees(right, equivalent),
    }
}
