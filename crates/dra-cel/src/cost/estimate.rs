//! Worst-case cost of an expression: the API server rejects new expressions above a limit.
//!
//! Walks the checked tree and bounds sizes and costs. Mirrors `checker/cost.go` (cel-go v0.29). [`calls`] knows the
//! functions, [`amount`] computes, [`place`] knows the limits that a ResourceSlice sets on what `device` holds,
//! [`path`] the path to a value.

mod amount;
mod calls;
mod path;
mod place;

use std::collections::HashMap;

use super::{LIST_BASE, MAP_BASE, STRUCT_BASE};
use crate::ast::{Comprehension, Entry, Expr, ExprKind, Literal, NodeId};
use crate::check::{Checked, Reference, Scope};
use crate::release::Release;
use crate::types::{Name, Type};
use amount::Range;
use path::{Path, Paths};
use place::Place;

/// The most that evaluating `checked` can cost.
pub(crate) fn estimate(checked: &Checked, scope: &Scope) -> u64 {
    let mut estimator = Estimator {
        checked,
        release: scope.release,
        paths: Paths::default(),
        path_of: HashMap::new(),
        sizes: HashMap::new(),
        members: HashMap::new(),
        locals: Vec::new(),
    };
    estimator.cost(&checked.ast.root).max
}

/// The cost of a call and the size of its result, if that is known.
type CallEstimate = (Range, Option<Range>);

/// Common type of the members of a list or map.
#[derive(Debug, Clone, Copy)]
struct Members {
    is_list: bool,
    key: Range,
    value: Range,
}

impl Members {
    fn union(left: Option<Self>, right: Option<Self>) -> Option<Self> {
        let (left, right) = (left?, right?);
        Some(Self {
            is_list: left.is_list,
            key: left.key.union(right.key),
            value: left.value.union(right.value),
        })
    }
}

struct Local {
    name: Name,
    path: Path,
    size: Option<Range>,
    members: Option<Members>,
}

/// A node as the estimates of functions see it.
#[derive(Debug, Clone, Copy)]
struct Node<'e> {
    place: Place,
    of: &'e Type,
    expr: &'e Expr,
    size: Option<Range>,
}

impl Node<'_> {
    fn size_or_any(&self) -> Range {
        self.size.unwrap_or(Range::ANY)
    }
}

struct Estimator<'c> {
    checked: &'c Checked,
    release: Release,
    paths: Paths<'c>,
    path_of: HashMap<NodeId, Path>,
    sizes: HashMap<NodeId, Range>,
    members: HashMap<NodeId, Members>,
    locals: Vec<Local>,
}

impl<'c> Estimator<'c> {
    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| &*local.name == name)
    }

    fn cost(&mut self, expr: &'c Expr) -> Range {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Unspecified => Range::fixed(0),
            ExprKind::Ident(name) => {
                let path = match self.local(name) {
                    Some(local) => local.path,
                    None => self.paths.append(Path::default(), name),
                };
                self.path_of.insert(expr.id, path);
                Range::fixed(1)
            }
            ExprKind::Select {
                operand,
                test_only: true,
                ..
            } => self.cost(operand),
            ExprKind::Select {
                operand,
                field,
                test_only: false,
            } => {
                let mut cost = self.cost(operand);
                if matches!(
                    self.checked.type_of(operand.id),
                    Type::Map(_) | Type::Struct(_) | Type::Param(_)
                ) {
                    cost = cost.add(Range::fixed(1));
                }
                let path = self.path(operand);
                let path = self.paths.append(path, field);
                self.path_of.insert(expr.id, path);
                cost
            }
            ExprKind::Call {
                function,
                target,
                args,
            } => self.cost_call(expr, function, target.as_deref(), args),
            ExprKind::List { elements, .. } => self.cost_list(expr, elements),
            ExprKind::Map { entries } => self.cost_map(expr, entries),
            ExprKind::Struct { fields, .. } => {
                let mut cost = Range::fixed(STRUCT_BASE);
                for field in fields {
                    cost = cost.add(self.cost(&field.value));
                }
                cost
            }
            ExprKind::Comprehension(comprehension) => {
                if comprehension.is_bind() {
                    self.cost_bind(expr, comprehension)
                } else {
                    self.cost_comprehension(expr, comprehension)
                }
            }
        }
    }

    fn cost_call(
        &mut self,
        expr: &'c Expr,
        function: &str,
        target: Option<&'c Expr>,
        args: &'c [Expr],
    ) -> Range {
        if function == "dyn"
            && let [arg] = args
        {
            let cost = self.cost(arg);
            self.copy_sizes(expr, arg);
            return cost.add(Range::fixed(1));
        }
        let mut costs = Vec::with_capacity(args.len());
        let mut nodes = Vec::with_capacity(args.len());
        for arg in args {
            costs.push(self.cost(arg));
            nodes.push(self.node(arg));
        }
        let Some(Reference::Overloads(overloads)) = self.checked.references.get(&expr.id) else {
            return Range::fixed(0);
        };
        let mut total = Range::fixed(0);
        if let Some(target) = target {
            total = self.cost(target);
            nodes.insert(0, self.node(target));
        }
        let mut call_cost = Range::before_union(false);
        let mut size: Option<Range> = None;
        for overload in overloads {
            let (cost, other) = self.cost_overload(expr, overload.id, function, &nodes, &costs);
            call_cost = call_cost.union(cost);
            size = match (size, other) {
                (Some(size), Some(other)) => Some(size.union(other)),
                (size, other) => size.or(other),
            };
            let step = match overload.id {
                "index_list" => Some("@items"),
                "index_map" => Some("@values"),
                _ => None,
            };
            if let (Some(step), Some(operand)) = (step, args.first()) {
                size = self.members_of(operand).map(|members| members.value);
                let path = self.path(operand);
                let path = self.paths.append(path, step);
                self.path_of.insert(expr.id, path);
            }
            if size.is_none() {
                size = self.size_of(expr);
            }
        }
        if let Some(size) = size {
            self.sizes.insert(expr.id, size);
        }
        total.add(call_cost)
    }

    fn cost_overload(
        &mut self,
        expr: &'c Expr,
        overload: &str,
        function: &str,
        args: &[Node<'c>],
        costs: &[Range],
    ) -> CallEstimate {
        let arguments = costs.iter().fold(Range::fixed(0), |sum, cost| sum.add(*cost));
        let (own, size) = match (overload, args, costs) {
            ("logical_or" | "logical_and", _, [left, right]) => {
                let cost = Range {
                    min: left.min,
                    max: left.add(*right).max,
                };
                return (cost, None);
            }
            ("conditional", [_, truthy, falsy], [condition, if_true, if_false]) => {
                self.join_members(expr, truthy, falsy);
                let size = truthy.size_or_any().union(falsy.size_or_any());
                return (condition.add(if_true.union(*if_false)), Some(size));
            }
            ("add_string" | "add_bytes" | "add_list", [left, right], _) => {
                self.join_members(expr, left, right);
                let size = left.size_or_any().add(right.size_or_any());
                let own = if overload == "add_list" {
                    Range::fixed(1)
                } else {
                    size.traversed()
                };
                (own, Some(size))
            }
            _ => calls::estimate(self.release, function, overload, args),
        };
        (own.add(arguments), size)
    }

    /// Notes that `expr` has the members of both nodes.
    fn join_members(&mut self, expr: &Expr, left: &Node<'c>, right: &Node<'c>) {
        if let Some(members) = Members::union(self.members_of(left.expr), self.members_of(right.expr)) {
            self.members.insert(expr.id, members);
        }
    }

    fn cost_list(&mut self, expr: &'c Expr, elements: &'c [Expr]) -> Range {
        let mut cost = Range::fixed(LIST_BASE);
        let mut value = Range::before_union(elements.is_empty());
        for element in elements {
            cost = cost.add(self.cost(element));
            value = value.union(self.size_or_any(element));
        }
        self.members.insert(
            expr.id,
            Members {
                is_list: true,
                key: Range::fixed(1),
                value,
            },
        );
        cost
    }

    fn cost_map(&mut self, expr: &'c Expr, entries: &'c [Entry]) -> Range {
        let mut cost = Range::fixed(MAP_BASE);
        let mut key = Range::before_union(entries.is_empty());
        let mut value = key;
        for entry in entries {
            cost = cost.add(self.cost(&entry.key)).add(self.cost(&entry.value));
            key = key.union(self.size_or_any(&entry.key));
            value = value.union(self.size_or_any(&entry.value));
        }
        self.members.insert(
            expr.id,
            Members {
                is_list: false,
                key,
                value,
            },
        );
        cost
    }

    fn cost_bind(&mut self, expr: &'c Expr, comprehension: &'c Comprehension) -> Range {
        let mut cost = self
            .cost(&comprehension.range)
            .add(self.cost(&comprehension.init));
        let scope = self.locals.len();
        self.push_accumulator(comprehension);
        cost = cost.add(self.cost(&comprehension.result));
        self.locals.truncate(scope);
        self.copy_sizes(expr, &comprehension.result);
        cost
    }

    fn cost_comprehension(&mut self, expr: &'c Expr, comprehension: &'c Comprehension) -> Range {
        let Comprehension {
            range,
            init,
            condition,
            step,
            result,
            ..
        } = comprehension;
        let mut cost = self.cost(range).add(self.cost(init));
        let scope = self.locals.len();
        self.push_accumulator(comprehension);
        self.push_variables(comprehension);
        let round = self.cost(condition);
        let round = self.cost(step).add(round);
        self.locals.truncate(scope + 1);
        cost = cost.add(self.cost(result));
        self.locals.truncate(scope);
        let rounds = self.size_or_any(range);
        cost = cost.add(rounds.multiply(round));
        match &init.kind {
            ExprKind::Literal(_) => {
                if let Some(size) = self.size_of(init) {
                    self.sizes.insert(expr.id, size);
                }
            }
            ExprKind::List { .. } | ExprKind::Map { .. } => {
                self.sizes.insert(expr.id, rounds);
                if let Some(members) = self.members_of(step) {
                    self.members.insert(expr.id, members);
                }
            }
            _ => {}
        }
        cost
    }

    fn push_accumulator(&mut self, comprehension: &'c Comprehension) {
        let init = &comprehension.init;
        let local = Local {
            name: Name::clone(&comprehension.accumulator),
            path: self.path(init),
            members: self.members_of(init),
            size: self.size_of(init),
        };
        self.locals.push(local);
    }

    fn push_variables(&mut self, comprehension: &'c Comprehension) {
        let range = &comprehension.range;
        let members = self.members_of(range);
        let is_list = match members {
            Some(members) => members.is_list,
            None => matches!(self.checked.type_of(range.id), Type::List(_)),
        };
        let path = self.path(range);
        let mut push = |name: &Name, step: &'static str, size: Option<Range>| {
            let path = self.paths.append(path, step);
            self.locals.push(Local {
                name: Name::clone(name),
                path,
                size,
                members: None,
            });
        };
        let (keys, values) = if is_list {
            ("@indices", "@items")
        } else {
            ("@keys", "@values")
        };
        let key_size = members.map(|members| members.key);
        let value_size = members.map(|members| members.value);
        let (variable, second) = (&comprehension.variable, &comprehension.variable2);
        match second {
            Some(second) => {
                push(variable, keys, key_size);
                push(second, values, value_size);
            }
            None if is_list => push(variable, values, value_size),
            None => push(variable, keys, key_size),
        }
    }

    fn path(&self, expr: &Expr) -> Path {
        if let ExprKind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path;
        }
        self.path_of.get(&expr.id).copied().unwrap_or_default()
    }

    fn place(&self, expr: &Expr) -> Place {
        self.paths.place(self.path(expr))
    }

    fn node(&mut self, expr: &'c Expr) -> Node<'c> {
        Node {
            place: self.place(expr),
            of: self.checked.type_of(expr.id),
            expr,
            size: self.size_of(expr),
        }
    }

    fn copy_sizes(&mut self, to: &Expr, from: &Expr) {
        if let Some(size) = self.size_of(from) {
            self.sizes.insert(to.id, size);
        }
        if let Some(members) = self.members_of(from) {
            self.members.insert(to.id, members);
        }
    }

    fn size_or_any(&mut self, expr: &Expr) -> Range {
        self.size_of(expr).unwrap_or(Range::ANY)
    }

    fn size_of(&mut self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        if let Some(size) = literal_size(expr) {
            return Some(Range::fixed(size));
        }
        if let Some(size) = self.place(expr).size() {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(self.checked.type_of(expr.id)) {
            return Some(Range::fixed(1));
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name).and_then(|local| local.size),
            _ => None,
        }
    }

    fn members_of(&self, expr: &Expr) -> Option<Members> {
        if let Some(members) = self.members.get(&expr.id) {
            return Some(*members);
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name).and_then(|local| local.members),
            _ => None,
        }
    }
}

fn literal_size(expr: &Expr) -> Option<u64> {
    Some(match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => text.chars().count() as u64,
        ExprKind::Literal(Literal::Bytes(bytes)) => bytes.len() as u64,
        ExprKind::Literal(_) => 1,
        ExprKind::List { elements, .. } => elements.len() as u64,
        ExprKind::Map { entries } => entries.len() as u64,
        _ => return None,
    })
}

fn is_scalar(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        _ => match of.unwrap_optional() {
            (inner, true) => is_scalar(inner),
            _ => false,
        },
    }
}
