//! Type checking.
//!
//! Finds out what each name means, what type each node has and which overloads each call can mean, and words what is
//! wrong as the API server does. Mirrors `checker/checker.go` (cel-go v0.29). [`environment`] knows the names of each
//! version, [`unify`] the type variables, [`validate`] the checks after type checking.

mod environment;
mod literals;
mod unify;
mod validate;

use std::collections::HashMap;

pub(crate) use environment::Scope;
pub use environment::{Features, Mode};

use super::ast::{Ast, Comprehension, Expr, ExprKind, Literal, NodeId, operators};
use super::library::Overload;
use super::source::Issues;
use super::types::{Name, Type};
use unify::{Unifier, instantiate};

/// Meaning of a node.
#[derive(Debug, Clone)]
pub(crate) enum Reference {
    /// The variable `device`.
    Device,
    /// A local variable.
    Local,
    /// A type, by its name.
    Type(&'static str),
    /// A type that cannot be evaluated.
    UnknownType(Name),
    Int(i64),
    /// The overloads that a call can mean.
    Overloads(Vec<&'static Overload>),
}

/// Result of type checking.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) ast: Ast,
    pub(crate) types: HashMap<NodeId, Type>,
    pub(crate) references: HashMap<NodeId, Reference>,
}

impl Checked {
    pub(crate) fn type_of(&self, id: NodeId) -> &Type {
        self.types.get(&id).unwrap_or(&Type::Dyn)
    }

    /// The overloads of a call.
    pub(crate) fn overloads(&self, id: NodeId) -> &[&'static Overload] {
        match self.references.get(&id) {
            Some(Reference::Overloads(overloads)) => overloads,
            _ => &[],
        }
    }
}

/// Checks `ast` against the names of `scope`.
pub(crate) fn check(mut ast: Ast, scope: &Scope) -> Result<Checked, Issues> {
    let mut root = std::mem::take(&mut ast.root);
    let mut checker = Checker {
        ast: &ast,
        scope,
        issues: Issues::default(),
        unifier: Unifier::default(),
        types: HashMap::new(),
        references: HashMap::new(),
        locals: Vec::new(),
    };
    checker.check(&mut root);
    let Checker {
        issues,
        unifier,
        types,
        references,
        ..
    } = checker;
    if !issues.is_empty() && !unifier.is_exhausted() {
        return Err(issues);
    }
    let types: HashMap<_, _> = types
        .into_iter()
        .map(|(id, of)| (id, unifier.substitute(&of, true)))
        .collect();
    if unifier.is_exhausted() {
        return Err(Issues::of(None, "types of the expression are too complex"));
    }
    ast.root = root;
    let checked = Checked {
        ast,
        types,
        references,
    };
    let issues = validate::validate(&checked);
    if issues.is_empty() {
        Ok(checked)
    } else {
        Err(issues)
    }
}

struct Checker<'c> {
    ast: &'c Ast,
    scope: &'c Scope,
    issues: Issues,
    unifier: Unifier,
    types: HashMap<NodeId, Type>,
    references: HashMap<NodeId, Reference>,
    /// Local variables with their types.
    locals: Vec<(Name, Type)>,
}

impl Checker<'_> {
    fn report(&mut self, id: NodeId, message: impl Into<String>) {
        self.issues.report(self.ast.place(id), message);
    }

    fn mismatch(&mut self, id: NodeId, wanted: &Type, found: &Type) {
        self.report(id, Type::mismatch(wanted, found));
    }

    fn set_type(&mut self, id: NodeId, of: Type) {
        self.types.insert(id, of);
    }

    fn type_of(&self, id: NodeId) -> Type {
        self.types.get(&id).cloned().unwrap_or(Type::Error)
    }

    fn undeclared(&mut self, id: NodeId, name: &str) {
        self.report(id, format!("undeclared reference to '{name}' (in container '')"));
        self.set_type(id, Type::Error);
    }

    fn check(&mut self, expr: &mut Expr) {
        if self.unifier.is_exhausted() {
            return;
        }
        match &mut expr.kind {
            ExprKind::Literal(literal) => {
                let of = match literal {
                    Literal::Null => Type::Null,
                    Literal::Bool(_) => Type::Bool,
                    Literal::Int(_) => Type::Int,
                    Literal::Uint(_) => Type::Uint,
                    Literal::Double(_) => Type::Double,
                    Literal::String(_) => Type::String,
                    Literal::Bytes(_) => Type::Bytes,
                };
                self.set_type(expr.id, of);
            }
            ExprKind::Ident(_) => self.check_ident(expr),
            ExprKind::Select { .. } => self.check_select(expr),
            ExprKind::Call { .. } => self.check_call(expr),
            ExprKind::List { elements, optional } => self.check_list(expr.id, elements, optional),
            ExprKind::Map { entries } => self.check_map(expr.id, entries),
            ExprKind::Struct { name, fields } => self.check_message(expr.id, name, fields),
            ExprKind::Comprehension(comprehension) => self.check_comprehension(expr.id, comprehension),
            ExprKind::Unspecified => self.set_type(expr.id, Type::Error),
        }
    }

    /// The type of the variable of that name in the innermost scope. A name with a leading dot is looked up among the global ones only, even
    /// where a macro declared it just so.
    fn local(&self, name: &str) -> Option<&Type> {
        if name.starts_with('.') {
            return None;
        }
        let (_, of) = self.locals.iter().rev().find(|(local, _)| **local == *name)?;
        Some(of)
    }

    /// Looks a global name up and notes what it is.
    fn resolve_global(&mut self, id: NodeId, name: &str) -> bool {
        let Some((of, reference)) = self.scope.global(name) else {
            return false;
        };
        self.set_type(id, of);
        self.references.insert(id, reference);
        true
    }

    fn check_ident(&mut self, expr: &mut Expr) {
        let ExprKind::Ident(name) = &expr.kind else { return };
        let name = Name::clone(name);
        if let Some(of) = self.local(&name).cloned() {
            self.set_type(expr.id, of);
            self.references.insert(expr.id, Reference::Local);
            return;
        }
        let global = name.strip_prefix('.').unwrap_or(&name);
        if !self.resolve_global(expr.id, global) {
            self.undeclared(expr.id, &name);
        } else if global.len() < name.len() {
            expr.kind = ExprKind::Ident(global.into());
        }
    }

    fn check_select(&mut self, expr: &mut Expr) {
        // A chain of selections can be the qualified name of a type or constant.
        if let Some(qualifiers) = qualified_name(expr)
            && self.local(&qualifiers[0]).is_none()
        {
            let name = qualifiers.join(".");
            let name = name.strip_prefix('.').unwrap_or(&name);
            if self.resolve_global(expr.id, name) {
                expr.kind = ExprKind::Ident(name.into());
                return;
            }
        }
        let ExprKind::Select {
            operand,
            field,
            test_only,
        } = &mut expr.kind
        else {
            return;
        };
        let selected = self.check_field(expr.id, operand, field, false);
        let of = if *test_only {
            Type::Bool
        } else {
            self.unifier.substitute(&selected, false)
        };
        self.set_type(expr.id, of);
    }

    /// The type of a field of `operand`.
    fn check_field(&mut self, id: NodeId, operand: &mut Expr, field: &str, optional: bool) -> Type {
        self.check(operand);
        let operand_type = self.unifier.substitute(&self.type_of(operand.id), false);
        let (target, is_optional) = operand_type.unwrap_optional();
        let result = match target {
            Type::Map(entry) => entry.1.clone(),
            Type::Struct(message) => self.field_type(id, message, field),
            Type::Param(_) => {
                self.unifier.assignable(&Type::Dyn, target);
                Type::Dyn
            }
            _ => {
                if !target.is_dyn_or_error() {
                    let message = format!(
                        "type '{}' does not support field selection",
                        target.checker_text()
                    );
                    self.report(id, message);
                }
                Type::Dyn
            }
        };
        if is_optional || optional {
            Type::optional(result)
        } else {
            result
        }
    }

    fn field_type(&mut self, id: NodeId, message: &str, field: &str) -> Type {
        self.scope.field(message, field).unwrap_or_else(|problem| {
            self.report(id, problem);
            Type::Error
        })
    }

    fn check_call(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let ExprKind::Call {
            function,
            target,
            args,
        } = &mut expr.kind
        else {
            return;
        };
        if &**function == operators::OPT_SELECT {
            self.check_optional_select(id, args);
            return;
        }
        for arg in args.iter_mut() {
            self.check(arg);
        }
        let Some(receiver) = target else {
            let overloads = self.scope.function(function);
            self.resolve_overload(id, function, &overloads, None, args);
            if let Some(plain) = function.strip_prefix('.') {
                *function = plain.into();
            }
            return;
        };
        // `a.b.c()` is either the function `a.b.c` or the function `c` of `a.b`.
        if let Some(prefix) = qualified_name(receiver) {
            let name = format!("{}.{function}", prefix.join("."));
            let overloads = self.scope.function(&name);
            if !overloads.is_empty() {
                *function = name.strip_prefix('.').unwrap_or(&name).into();
                *target = None;
                self.resolve_overload(id, function, &overloads, None, args);
                return;
            }
        }
        self.check(receiver);
        let overloads = self.scope.function(function);
        self.resolve_overload(id, function, &overloads, Some(receiver.id), args);
    }

    fn check_optional_select(&mut self, id: NodeId, args: &mut [Expr]) {
        let [operand, field] = args else { return };
        let ExprKind::Literal(Literal::String(field)) = &field.kind else {
            return;
        };
        let selected = self.check_field(id, operand, field, true);
        let of = self.unifier.substitute(&selected, false);
        self.set_type(id, of);
        let overloads = self.scope.function(operators::OPT_SELECT);
        self.references.insert(id, Reference::Overloads(overloads));
    }

    fn resolve_overload(
        &mut self,
        id: NodeId,
        function: &str,
        overloads: &[&'static Overload],
        target: Option<NodeId>,
        args: &[Expr],
    ) {
        if overloads.is_empty() {
            self.undeclared(id, function);
            return;
        }
        let arg_types: Vec<Type> = target
            .into_iter()
            .chain(args.iter().map(|arg| arg.id))
            .map(|id| self.type_of(id))
            .collect();
        let mut result: Option<Type> = None;
        let mut matching = Vec::new();
        for overload in overloads
            .iter()
            .copied()
            .filter(|overload| overload.member == target.is_some())
        {
            if matches!(overload.function, operators::AND | operators::OR) {
                self.check_logical(id, overload, args, &arg_types);
                return;
            }
            let variables: Vec<(char, Type)> = overload
                .params
                .iter()
                .map(|letter| (*letter, self.unifier.fresh()))
                .collect();
            let candidates: Vec<Type> = overload
                .args
                .iter()
                .map(|arg| instantiate(arg, &variables))
                .collect();
            if !self.unifier.assignable_list(&arg_types, &candidates) {
                continue;
            }
            matching.push(overload);
            let of = self
                .unifier
                .substitute(&instantiate(&overload.result, &variables), false);
            result = Some(match result {
                None => of,
                Some(earlier) if earlier.is_dyn() || earlier == of => earlier,
                Some(_) => Type::Dyn,
            });
        }
        let Some(result) = result else {
            let name = overloads.first().map_or("", |overload| overload.function);
            let settled: Vec<String> = arg_types
                .iter()
                .map(|of| self.unifier.substitute(of, true).checker_text())
                .collect();
            let signature = match settled.split_first() {
                Some((receiver, args)) if target.is_some() => format!("{receiver}.({})", args.join(", ")),
                _ => format!("({})", settled.join(", ")),
            };
            self.report(
                id,
                format!("found no matching overload for '{name}' applied to '{signature}'"),
            );
            self.set_type(id, Type::Error);
            return;
        };
        self.set_type(id, result);
        self.references.insert(id, Reference::Overloads(matching));
    }

    fn check_logical(&mut self, id: NodeId, overload: &'static Overload, args: &[Expr], types: &[Type]) {
        let mut fits = true;
        for (arg, of) in args.iter().zip(types) {
            if !self.unifier.assignable(of, &Type::Bool) {
                self.mismatch(arg.id, &Type::Bool, of);
                fits = false;
            }
        }
        self.set_type(id, if fits { Type::Bool } else { Type::Error });
        if fits {
            self.references.insert(id, Reference::Overloads(vec![overload]));
        }
    }

    fn check_comprehension(&mut self, id: NodeId, comprehension: &mut Comprehension) {
        self.check(&mut comprehension.range);
        self.check(&mut comprehension.init);
        let range = self
            .unifier
            .substitute(&self.type_of(comprehension.range.id), false);
        let accumulator = self.type_of(comprehension.init.id);
        let depth = self.locals.len();
        self.declare(&comprehension.accumulator, accumulator.clone());
        let two = comprehension.variable2.is_some();
        let (first, second) = match &range {
            Type::List(element) if two => (Type::Int, Type::clone(element)),
            Type::List(element) => (Type::clone(element), Type::Error),
            Type::Map(entry) => (entry.0.clone(), entry.1.clone()),
            Type::Dyn | Type::Error | Type::Param(_) => {
                self.unifier.assignable(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            _ => {
                let message = format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    range.checker_text()
                );
                self.report(comprehension.range.id, message);
                (Type::Error, Type::Error)
            }
        };
        self.declare(&comprehension.variable, first);
        if let Some(name) = &comprehension.variable2 {
            self.declare(name, second);
        }
        self.check(&mut comprehension.condition);
        self.assert_type(comprehension.condition.id, &Type::Bool);
        self.check(&mut comprehension.step);
        self.assert_type(comprehension.step.id, &accumulator);
        self.locals.truncate(depth + 1);
        self.check(&mut comprehension.result);
        self.locals.truncate(depth);
        let of = self
            .unifier
            .substitute(&self.type_of(comprehension.result.id), false);
        self.set_type(id, of);
    }

    fn declare(&mut self, name: &Name, of: Type) {
        self.locals.push((Name::clone(name), of));
    }

    fn assert_type(&mut self, id: NodeId, wanted: &Type) {
        let found = self.type_of(id);
        if !self.unifier.assignable(wanted, &found) {
            self.mismatch(id, wanted, &found);
        }
    }
}

/// The names of a chain of selections from an identifier.
fn qualified_name(expr: &Expr) -> Option<Vec<Name>> {
    match &expr.kind {
        ExprKind::Ident(name) => Some(vec![Name::clone(name)]),
        ExprKind::Select {
            operand,
            field,
            test_only: false,
        } => {
            let mut names = qualified_name(operand)?;
            names.push(Name::clone(field));
            Some(names)
        }
        _ => None,
    }
}

/// The name that values of the type called `name` have, if that is a type which can be evaluated.
pub(crate) fn type_called(scope: &Scope, name: &str) -> Option<&'static str> {
    match scope.global(name)? {
        (_, Reference::Type(known)) => Some(known),
        _ => None,
    }
}
