//! Planning: turns a checked tree into what is evaluated.
//!
//! Mirrors `interpreter/planner.go` and the decorators that Kubernetes asks for (`interpreter/decorators.go`, cel-go
//! v0.29): what is constant is computed now, regular expressions are compiled, `in` a list of constants becomes a set.
//! [`node`] is the result, [`constant`] computes, [`attribute`] strings selections and indexes together.
//!
//! Some mistakes only show here; the API server words them as failed program instantiations.

mod attribute;
mod constant;
pub(crate) mod node;

use std::sync::Arc;

use super::ast::{Comprehension, Entry, Expr, ExprKind, Field, operators};
use super::check::{Checked, Reference, Scope, type_called};
use super::cost::Rule;
use super::library::regex::Regex;
use super::library::{Binding, Overload};
use super::release::Release;
use super::types::{Name, Type};
use super::value::Value;
use attribute::{fuse, plan_conditional};
use node::{
    Attribute, Call, Fold, ListNode, MapEntry, MessageField, MessageNode, Node, RegexCall, RegexFunction,
    Root,
};

/// An expression, ready for evaluation.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) root: Node,
    pub(crate) frame: Frame,
}

/// Initial state of a plan's evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The number of local variables.
    pub(crate) slots: usize,
    /// The rules of evaluation.
    pub(crate) release: Release,
}

/// Plans the whole tree.
pub(crate) fn plan(checked: &Checked, scope: &Scope) -> Result<Plan, String> {
    plan_part(checked, scope, &checked.ast.root)
}

/// Plans a part of the tree that has no variables of comprehensions around it.
pub(crate) fn plan_part(checked: &Checked, scope: &Scope, part: &Expr) -> Result<Plan, String> {
    let mut planner = Planner {
        checked,
        scope,
        locals: Vec::new(),
        slots: 0,
    };
    let root = planner.plan(part)?;
    let frame = Frame {
        slots: planner.slots,
        release: scope.release,
    };
    Ok(Plan { root, frame })
}

/// Binding of a local name.
struct Local {
    name: Name,
    slot: usize,
    /// Initial value of a comprehension's accumulator.
    init: Option<Arc<Node>>,
}

struct Planner<'c> {
    checked: &'c Checked,
    scope: &'c Scope,
    locals: Vec<Local>,
    slots: usize,
}

impl Planner<'_> {
    /// Plans a node without selections.
    fn plan(&mut self, expr: &Expr) -> Result<Node, String> {
        self.plan_open(expr).map(fuse)
    }

    fn plan_all(&mut self, exprs: &[Expr]) -> Result<Vec<Node>, String> {
        // Loops instead of iterators keep the stack small where expressions are nested.
        let mut nodes = Vec::with_capacity(exprs.len());
        for expr in exprs {
            nodes.push(self.plan(expr)?);
        }
        Ok(nodes)
    }

    /// Plans a node that selections can be added to.
    fn plan_open(&mut self, expr: &Expr) -> Result<Node, String> {
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(Node::Constant(Value::of_literal(literal))),
            ExprKind::Ident(name) => self.plan_ident(expr, name),
            ExprKind::Select {
                operand,
                field,
                test_only,
            } => self.plan_select(operand, field, *test_only),
            ExprKind::Call {
                function,
                target,
                args,
            } => self.plan_call(expr, function, target.as_deref(), args),
            ExprKind::List { elements, optional } => self.plan_list(elements, optional),
            ExprKind::Map { entries } => self.plan_map(entries),
            ExprKind::Struct { name, fields } => self.plan_message(name, fields),
            ExprKind::Comprehension(comprehension) => self.plan_fold(comprehension),
            ExprKind::Unspecified => Err("unsupported expression".to_owned()),
        }
    }

    fn plan_list(&mut self, elements: &[Expr], optional: &[usize]) -> Result<Node, String> {
        let elements = self.plan_all(elements)?;
        let optional = (0..elements.len())
            .map(|position| optional.contains(&position))
            .collect();
        Ok(constant::fold_list(ListNode { elements, optional }))
    }

    fn plan_map(&mut self, entries: &[Entry]) -> Result<Node, String> {
        let mut planned = Vec::with_capacity(entries.len());
        for entry in entries {
            let key = self.plan(&entry.key)?;
            planned.push(MapEntry {
                key,
                value: self.plan(&entry.value)?,
                optional: entry.optional,
            });
        }
        constant::fold_map(planned)
    }

    fn plan_message(&mut self, name: &Name, fields: &[Field]) -> Result<Node, String> {
        let mut planned = Vec::with_capacity(fields.len());
        for field in fields {
            let value = self.plan(&field.value)?;
            planned.push(MessageField {
                name: field.name.to_string(),
                value,
                optional: field.optional,
            });
        }
        Ok(Node::Message(Box::new(MessageNode {
            type_name: name.to_string(),
            fields: planned,
        })))
    }

    fn plan_ident(&self, expr: &Expr, name: &Name) -> Result<Node, String> {
        let root = match self.checked.references.get(&expr.id) {
            Some(Reference::Device) => Root::Device,
            Some(Reference::Type(name)) => return Ok(Node::Constant(Value::Type(name))),
            Some(Reference::UnknownType(name)) => return Err(format!("reference to undefined type: {name}")),
            Some(Reference::Int(value)) => return Ok(Node::Constant(Value::Int(*value))),
            // Variables that hold types are treated as names of types.
            Some(Reference::Local) if matches!(self.checked.type_of(expr.id), Type::Type(_)) => {
                return match type_called(self.scope, name) {
                    Some(known) => Ok(Node::Constant(Value::Type(known))),
                    None => Err(format!("reference to undefined type: {name}")),
                };
            }
            _ => match self.locals.iter().rev().find(|local| local.name == *name) {
                Some(Local { slot, init: None, .. }) => Root::Variable(*slot),
                Some(Local {
                    slot,
                    init: Some(init),
                    ..
                }) => Root::Accumulator(*slot, Arc::clone(init)),
                None => return Err(format!("no such attribute: {name}")),
            },
        };
        Ok(Node::Attribute(Box::new(Attribute::from(root))))
    }

    fn plan_call(
        &mut self,
        expr: &Expr,
        function: &Name,
        target: Option<&Expr>,
        args: &[Expr],
    ) -> Result<Node, String> {
        match (&**function, args) {
            (operator @ (operators::AND | operators::OR), _) if target.is_none() => {
                let mut terms = Vec::new();
                self.plan_terms(operator, args, &mut terms)?;
                let is_and = operator == operators::AND;
                return Ok(if is_and { Node::And(terms) } else { Node::Or(terms) });
            }
            (operators::CONDITIONAL, [condition, truthy, falsy]) => {
                let condition = self.plan(condition)?;
                return Ok(plan_conditional(
                    condition,
                    self.plan_open(truthy)?,
                    self.plan_open(falsy)?,
                ));
            }
            (operators::EQUALS, [left, right]) => {
                return Ok(Node::Equal(Box::new([self.plan(left)?, self.plan(right)?])));
            }
            (operators::NOT_EQUALS, [left, right]) => {
                return Ok(Node::NotEqual(Box::new([self.plan(left)?, self.plan(right)?])));
            }
            (operators::INDEX, [operand, index]) => return self.plan_index(operand, index, false),
            (operators::OPT_INDEX | operators::OPT_SELECT, [operand, index]) => {
                return self.plan_index(operand, index, true);
            }
            (operators::NOT_STRICTLY_FALSE, [operand]) => {
                return Ok(Node::NotStrictlyFalse(Box::new(self.plan(operand)?)));
            }
            _ => {}
        }
        let mut planned = Vec::with_capacity(args.len() + 1);
        if let Some(target) = target {
            planned.push(self.plan(target)?);
        }
        planned.extend(self.plan_all(args)?);
        self.make_call(expr, function, planned)
    }

    /// The operands of a tree of one logical operator, from left to right.
    fn plan_terms(&mut self, operator: &str, args: &[Expr], terms: &mut Vec<Node>) -> Result<(), String> {
        for arg in args {
            match &arg.kind {
                ExprKind::Call {
                    function,
                    target: None,
                    args,
                } if &**function == operator => {
                    self.plan_terms(operator, args, terms)?;
                }
                _ => terms.push(self.plan(arg)?),
            }
        }
        Ok(())
    }

    fn make_call(&mut self, expr: &Expr, function: &Name, args: Vec<Node>) -> Result<Node, String> {
        let settled: Option<&'static Overload> = match self.checked.overloads(expr.id) {
            [overload] => Some(overload),
            _ => None,
        };
        let id = settled.map(|overload| overload.id);
        let args = match (&**function, <[Node; 2]>::try_from(args)) {
            ("or", Ok(operands)) if matches!(id, None | Some("optional_or_optional")) => {
                return Ok(Node::OptionalOr(Box::new(operands)));
            }
            ("orValue", Ok(operands)) if matches!(id, None | Some("optional_orValue_value")) => {
                return Ok(Node::OptionalOrValue(Box::new(operands)));
            }
            (_, Ok(operands)) => operands.into(),
            (_, Err(args)) => args,
        };
        let rule = Rule::of(function, id, self.scope.release);
        if let Some(function) = regex_function(function)
            && let Some(Node::Constant(Value::String(pattern))) = args.get(1)
        {
            let regex = Regex::new(pattern)?;
            return Ok(Node::Regex(Box::new(RegexCall {
                function,
                regex,
                args,
                rule,
            })));
        }
        let overloads = settled.map_or_else(|| self.scope.function(function), |overload| vec![overload]);
        let stepwise = match overloads.first().map(|overload| overload.binding) {
            Some(Binding::Shared(..)) => false,
            Some(Binding::Stepwise(_)) => true,
            _ => settled.is_none() || args.len() >= 3,
        };
        constant::fold_call(Call {
            overloads,
            args,
            rule,
            stepwise,
        })
    }

    fn plan_fold(&mut self, comprehension: &Comprehension) -> Result<Node, String> {
        let range = self.plan(&comprehension.range)?;
        let init = Arc::new(self.plan(&comprehension.init)?);
        let accumulator = self.new_local(&comprehension.accumulator, Some(init));
        let visible = self.locals.len();
        let variable = self.new_local(&comprehension.variable, None);
        let variable2 = comprehension
            .variable2
            .as_ref()
            .map(|name| self.new_local(name, None));
        let condition = self.plan(&comprehension.condition)?;
        let step = self.plan(&comprehension.step)?;
        self.locals.truncate(visible);
        let result = self.plan(&comprehension.result)?;
        self.locals.truncate(visible - 1);
        Ok(Node::Fold(Box::new(Fold {
            range,
            accumulator,
            variable,
            variable2,
            condition,
            step,
            result,
        })))
    }

    fn new_local(&mut self, name: &Name, init: Option<Arc<Node>>) -> usize {
        let slot = self.slots;
        self.slots += 1;
        self.locals.push(Local {
            name: Name::clone(name),
            slot,
            init,
        });
        slot
    }
}

fn regex_function(function: &str) -> Option<RegexFunction> {
    match function {
        "matches" => Some(RegexFunction::Matches),
        "find" => Some(RegexFunction::Find),
        "findAll" => Some(RegexFunction::FindAll),
        _ => None,
    }
}
