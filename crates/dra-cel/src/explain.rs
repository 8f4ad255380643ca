//! The reason why a device does not match: the terms of the expression that are not true, with the values that they read.
//!
//! Not a hot path: the expression is compiled once more, term by term. An expression is a chain of terms joined by `&&`;
//! names given by `cel.bind` around the chain are known in each.

use std::fmt::Write;

use super::ast::{Comprehension, Expr, ExprKind, Literal, operators};
use super::check::{Checked, Scope};
use super::eval::Context;
use super::plan::plan_part;
use super::program::{EvalError, MAX_COST, boolean};
use super::source::Issues;
use super::terms::{Term, terms};
use super::value::device::DeviceInput;
use super::value::{Value, text};
use super::{check, parse};
use dra_values::Meter;

/// Cost of compiling a byte of an expression, in steps of an evaluation.
const STEPS_OF_BYTE: u64 = 20;

/// A term that keeps a device from matching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingTerm {
    /// The term as it is written.
    pub text: String,
    /// `false`, or why there is no result.
    pub result: Result<bool, EvalError>,
    /// Device fields that the term reads.
    pub seen: Vec<Seen>,
}

/// A part of the device that a term looks at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// Path in the expression.
    pub text: String,
    /// The name of the field that it ends with; all of the text where it ends with something else.
    pub name: String,
    /// The value as it is written in CEL, or why there is none.
    pub value: Result<String, EvalError>,
}

/// The terms of `expression` that are not true for `device`, in their order.
pub(super) fn explain(
    expression: &str,
    scope: &Scope,
    device: &DeviceInput,
    meter: &Meter,
) -> Vec<FailingTerm> {
    if meter.is_exhausted() {
        return Vec::new();
    }
    meter.spend((expression.len() as u64).saturating_mul(STEPS_OF_BYTE));
    let checked: Result<Checked, Issues> =
        parse::parse(expression, scope.macros()).and_then(|ast| check::check(ast, scope));
    let Ok(checked) = checked else { return Vec::new() };
    let explainer = Explainer {
        checked: &checked,
        scope,
        device,
        meter,
    };
    terms(&checked.ast)
        .iter()
        .filter_map(|term| explainer.explain(term, term.text(expression)))
        .collect()
}

struct Explainer<'c> {
    checked: &'c Checked,
    scope: &'c Scope,
    device: &'c DeviceInput,
    meter: &'c Meter,
}

impl Explainer<'_> {
    fn explain(&self, term: &Term<'_>, text: &str) -> Option<FailingTerm> {
        if self.meter.is_exhausted() {
            return None;
        }
        let result = self.evaluate(term.expr, &term.binds, boolean)?;
        if result == Ok(true) {
            return None;
        }
        let mut parts = Vec::new();
        collect_parts(term.expr, &term.binds, &mut parts);
        let mut seen: Vec<Seen> = Vec::new();
        for (part_text, part) in parts {
            if self.meter.is_exhausted() || seen.iter().any(|seen| seen.text == part_text) {
                continue;
            }
            let source = |value: &Value<'_>| Ok(text::source(value));
            let Some(value) = self.evaluate(part, &term.binds, source) else {
                continue;
            };
            let name = match &part.kind {
                ExprKind::Select { field, .. } => field.to_string(),
                _ => part_text.clone(),
            };
            seen.push(Seen {
                text: part_text,
                name,
                value,
            });
        }
        Some(FailingTerm {
            text: text.to_owned(),
            result,
            seen,
        })
    }

    /// Evaluates a part of a term below the names that are given around it, and reads the result. Nothing where it cannot be planned.
    fn evaluate<T>(
        &self,
        part: &Expr,
        binds: &[&Comprehension],
        read: impl FnOnce(&Value<'_>) -> Result<T, EvalError>,
    ) -> Option<Result<T, EvalError>> {
        let mut expr = part.clone();
        for bind in binds.iter().rev() {
            let bind = Comprehension {
                result: expr,
                ..Comprehension::clone(bind)
            };
            expr = Expr {
                id: part.id,
                kind: ExprKind::Comprehension(Box::new(bind)),
            };
        }
        let plan = plan_part(self.checked, self.scope, &expr).ok()?;
        let mut context = Context::new(self.device, plan.frame, MAX_COST);
        let result = context.eval(&plan.root).map_err(EvalError::from);
        self.meter.spend(context.effort());
        Some(result.and_then(|value| read(&value)))
    }
}

/// The longest chains of selections and indexes that begin with `device` or a given name.
fn collect_parts<'e>(expr: &'e Expr, binds: &[&Comprehension], parts: &mut Vec<(String, &'e Expr)>) {
    if let Some(text) = chain_text(expr, binds) {
        if text != "device" {
            parts.push((text, expr));
        }
        return;
    }
    match &expr.kind {
        ExprKind::Comprehension(fold) => {
            // Names of an inner scope can hide given ones, and their values change.
            let outer: Vec<&Comprehension> = binds
                .iter()
                .copied()
                .filter(|bind| {
                    bind.accumulator != fold.accumulator
                        && bind.accumulator != fold.variable
                        && Some(&bind.accumulator) != fold.variable2.as_ref()
                })
                .collect();
            collect_parts(&fold.range, binds, parts);
            for part in [&fold.init, &fold.condition, &fold.step, &fold.result] {
                collect_parts(part, &outer, parts);
            }
        }
        ExprKind::Struct { .. } => {}
        _ => {
            for child in expr.children() {
                collect_parts(child, binds, parts);
            }
        }
    }
}

/// The text of a chain of selections and constant indexes.
fn chain_text(expr: &Expr, binds: &[&Comprehension]) -> Option<String> {
    match &expr.kind {
        ExprKind::Ident(name)
            if &**name == "device" || binds.iter().any(|bind| bind.accumulator == *name) =>
        {
            Some(name.to_string())
        }
        ExprKind::Select {
            operand,
            field,
            test_only,
        } => {
            let chain = format!("{}.{field}", chain_text(operand, binds)?);
            Some(if *test_only {
                format!("has({chain})")
            } else {
                chain
            })
        }
        ExprKind::Call {
            function,
            target: None,
            args,
        } => {
            let [operand, key] = args.as_slice() else {
                return None;
            };
            let ExprKind::Literal(key) = &key.kind else {
                return None;
            };
            let mut chain = match &**function {
                operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT => {
                    chain_text(operand, binds)?
                }
                _ => return None,
            };
            let _ = match (&**function, key) {
                (operators::OPT_SELECT, Literal::String(field)) => write!(chain, ".?{field}"),
                (operators::OPT_INDEX, _) => write!(chain, "[?{}]", text::source(&Value::of_literal(key))),
                _ => write!(chain, "[{}]", text::source(&Value::of_literal(key))),
            };
            Some(chain)
        }
        _ => None,
    }
}
