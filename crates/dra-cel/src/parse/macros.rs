//! Macros: calls that stand for a tree of other nodes.
//!
//! Mirrors `parser/macro.go`, `cel/library.go`, `ext/bindings.go`, `ext/comprehensions.go` and `ext/lists.go` of cel-go
//! v0.29. All nodes that a macro adds are at the place of its call.

use super::builder::Builder;
use crate::ast::{ACCUMULATOR, Comprehension, Expr, ExprKind, Literal, operators};
use crate::types::Name;

/// Macros of an environment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Macros {
    /// `sortBy`, which came with version 2 of the lists library.
    pub(crate) sort_by: bool,
}

/// The variable of a comprehension that only binds.
const UNUSED: &str = "#unused";
/// Forbidden name of user variables, from the time when it was the accumulator's name.
const OLD_ACCUMULATOR: &str = "__result__";

/// The operands of a call that turned out not to be a macro.
type NotAMacro = (Option<Expr>, Vec<Expr>);

/// Expands the call at `at` if it is one of a macro.
pub(super) fn expand(
    builder: &mut Builder<'_>,
    at: usize,
    function: &Name,
    target: Option<Expr>,
    args: Vec<Expr>,
) -> Result<Expr, NotAMacro> {
    let mut expander = Expander { builder, at };
    let expanded = match (&**function, target, args.len()) {
        ("has", None, 1) => expander.has(args),
        ("bind", Some(target), 3) => {
            if !matches!(&target.kind, ExprKind::Ident(name) if &**name == "cel") {
                return Err((Some(target), args));
            }
            expander.bind(args)
        }
        ("all", Some(target), 2 | 3) => expander.quantifier(target, args, true),
        ("exists", Some(target), 2 | 3) => expander.quantifier(target, args, false),
        ("exists_one", Some(target), 2 | 3) | ("existsOne", Some(target), 3) => {
            expander.exists_one(target, args)
        }
        ("map", Some(target), 2 | 3) => expander.map(target, args),
        ("filter", Some(target), 2) => expander.filter(target, args),
        ("optMap", Some(target), 2) => expander.opt_map(target, args, true),
        ("optFlatMap", Some(target), 2) => expander.opt_map(target, args, false),
        ("sortBy", Some(target), 2) if expander.builder.macros.sort_by => expander.sort_by(target, args),
        ("transformList", Some(target), 3 | 4) => expander.transform(target, args, Transform::List),
        ("transformMap", Some(target), 3 | 4) => expander.transform(target, args, Transform::Map),
        ("transformMapEntry", Some(target), 3 | 4) => expander.transform(target, args, Transform::MapEntry),
        (_, target, _) => return Err((target, args)),
    };
    Ok(expanded.unwrap_or_else(|refusal| builder.error(refusal.at, refusal.message)))
}

/// The reason why a macro cannot be expanded.
struct Refusal {
    at: usize,
    message: String,
}

#[derive(Clone, Copy)]
enum Transform {
    List,
    Map,
    MapEntry,
}

struct Expander<'b, 's> {
    builder: &'b mut Builder<'s>,
    at: usize,
}

impl Expander<'_, '_> {
    fn node(&mut self, kind: ExprKind) -> Expr {
        self.builder.node(self.at, kind)
    }

    fn literal(&mut self, literal: Literal) -> Expr {
        self.node(ExprKind::Literal(literal))
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.node(ExprKind::Ident(name.into()))
    }

    fn accumulator(&mut self) -> Expr {
        self.ident(ACCUMULATOR)
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.builder.operator(self.at, function, args)
    }

    fn member_call(&mut self, function: &str, target: Expr, args: Vec<Expr>) -> Expr {
        self.node(ExprKind::Call {
            function: function.into(),
            target: Some(Box::new(target)),
            args,
        })
    }

    fn list(&mut self, elements: Vec<Expr>) -> Expr {
        self.node(ExprKind::List {
            elements,
            optional: Vec::new(),
        })
    }

    fn refuse<T>(&self, expr: &Expr, message: impl Into<String>) -> Result<T, Refusal> {
        Err(Refusal {
            at: self.builder.place(expr.id),
            message: message.into(),
        })
    }

    fn has(&mut self, args: Vec<Expr>) -> Result<Expr, Refusal> {
        let [arg] = take(args);
        match arg.kind {
            ExprKind::Select { operand, field, .. } => Ok(self.node(ExprKind::Select {
                operand,
                field,
                test_only: true,
            })),
            _ => self.refuse(&arg, "invalid argument to has() macro"),
        }
    }

    fn bind(&mut self, args: Vec<Expr>) -> Result<Expr, Refusal> {
        let [variable, init, result] = take(args);
        let ExprKind::Ident(name) = variable.kind else {
            return self.refuse(&variable, "cel.bind() variable names must be simple identifiers");
        };
        Ok(self.binding(&name, init, result))
    }

    /// A comprehension over nothing, whose accumulator is the variable.
    fn binding(&mut self, name: &Name, init: Expr, result: Expr) -> Expr {
        let comprehension = Comprehension {
            range: self.list(Vec::new()),
            variable: UNUSED.into(),
            variable2: None,
            accumulator: Name::clone(name),
            init,
            condition: self.literal(Literal::Bool(false)),
            step: self.ident(name),
            result,
        };
        self.node(ExprKind::Comprehension(Box::new(comprehension)))
    }

    fn fold(
        &mut self,
        range: Expr,
        (variable, variable2): (Name, Option<Name>),
        init: Expr,
        condition: Expr,
        step: Expr,
        result: Expr,
    ) -> Expr {
        let comprehension = Comprehension {
            range,
            variable,
            variable2,
            accumulator: ACCUMULATOR.into(),
            init,
            condition,
            step,
            result,
        };
        self.node(ExprKind::Comprehension(Box::new(comprehension)))
    }

    /// The variables before the last `behind` arguments.
    fn variables(&self, args: &[Expr], complaint: &str) -> Result<(Name, Option<Name>), Refusal> {
        let mut names = Vec::with_capacity(2);
        for arg in args {
            match &arg.kind {
                ExprKind::Ident(name) => names.push(Name::clone(name)),
                _ => return self.refuse(arg, complaint),
            }
        }
        if let [first, second] = names.as_slice()
            && first == second
        {
            return self.refuse(&args[1], format!("duplicate variable name: {first}"));
        }
        for (name, arg) in names.iter().zip(args) {
            if matches!(&**name, ACCUMULATOR | OLD_ACCUMULATOR) {
                return self.refuse(arg, "iteration variable overwrites accumulator variable");
            }
        }
        let mut names = names.into_iter();
        Ok((names.next().unwrap_or_else(|| UNUSED.into()), names.next()))
    }

    /// `all` or `exists`, which end at the first element that decides.
    fn quantifier(&mut self, target: Expr, mut args: Vec<Expr>, all: bool) -> Result<Expr, Refusal> {
        let predicate = take_last(&mut args);
        let variables = self.variables(&args, "argument must be a simple name")?;
        let init = self.literal(Literal::Bool(all));
        let mut undecided = self.accumulator();
        if !all {
            undecided = self.call(operators::NOT, vec![undecided]);
        }
        let condition = self.call(operators::NOT_STRICTLY_FALSE, vec![undecided]);
        let operator = if all { operators::AND } else { operators::OR };
        let accumulator = self.accumulator();
        let step = self.call(operator, vec![accumulator, predicate]);
        let result = self.accumulator();
        Ok(self.fold(target, variables, init, condition, step, result))
    }

    fn exists_one(&mut self, target: Expr, mut args: Vec<Expr>) -> Result<Expr, Refusal> {
        let predicate = take_last(&mut args);
        let variables = self.variables(&args, "argument must be a simple name")?;
        let init = self.literal(Literal::Int(0));
        let condition = self.literal(Literal::Bool(true));
        let accumulator = self.accumulator();
        let one = self.literal(Literal::Int(1));
        let more = self.call(operators::ADD, vec![accumulator, one]);
        let same = self.accumulator();
        let step = self.call(operators::CONDITIONAL, vec![predicate, more, same]);
        let accumulator = self.accumulator();
        let one = self.literal(Literal::Int(1));
        let result = self.call(operators::EQUALS, vec![accumulator, one]);
        Ok(self.fold(target, variables, init, condition, step, result))
    }

    /// `step` where `filter` holds, otherwise the accumulator as it is.
    fn filtered(&mut self, filter: Option<Expr>, step: Expr) -> Expr {
        match filter {
            Some(filter) => {
                let same = self.accumulator();
                self.call(operators::CONDITIONAL, vec![filter, step, same])
            }
            None => step,
        }
    }

    /// The step that appends `element`.
    fn append(&mut self, element: Expr) -> Expr {
        let accumulator = self.accumulator();
        let element = self.list(vec![element]);
        self.call(operators::ADD, vec![accumulator, element])
    }

    /// A comprehension that collects into `init` with `step`.
    fn collect(&mut self, range: Expr, variables: (Name, Option<Name>), init: Expr, step: Expr) -> Expr {
        let condition = self.literal(Literal::Bool(true));
        let result = self.accumulator();
        self.fold(range, variables, init, condition, step, result)
    }

    fn map(&mut self, target: Expr, mut args: Vec<Expr>) -> Result<Expr, Refusal> {
        let transform = take_last(&mut args);
        let filter = (args.len() == 2).then(|| take_last(&mut args));
        let variables = self.variables(&args, "argument is not an identifier")?;
        let init = self.list(Vec::new());
        let step = self.append(transform);
        let step = self.filtered(filter, step);
        Ok(self.collect(target, variables, init, step))
    }

    /// What `map` makes of a variable, a predicate, and the variable again.
    fn filter(&mut self, target: Expr, mut args: Vec<Expr>) -> Result<Expr, Refusal> {
        args.extend(args.first().cloned());
        self.map(target, args)
    }

    fn transform(&mut self, target: Expr, mut args: Vec<Expr>, kind: Transform) -> Result<Expr, Refusal> {
        let transform = take_last(&mut args);
        let filter = (args.len() == 3).then(|| take_last(&mut args));
        let variables = self.variables(&args, "argument must be a simple name")?;
        let step = match kind {
            Transform::List => self.append(transform),
            Transform::Map => {
                let accumulator = self.accumulator();
                let key = self.ident(&Name::clone(&variables.0));
                self.call(operators::MAP_INSERT, vec![accumulator, key, transform])
            }
            Transform::MapEntry => {
                let accumulator = self.accumulator();
                self.call(operators::MAP_INSERT, vec![accumulator, transform])
            }
        };
        let step = self.filtered(filter, step);
        let init = match kind {
            Transform::List => self.list(Vec::new()),
            Transform::Map | Transform::MapEntry => self.node(ExprKind::Map { entries: Vec::new() }),
        };
        Ok(self.collect(target, variables, init, step))
    }

    fn opt_map(&mut self, target: Expr, args: Vec<Expr>, wrap: bool) -> Result<Expr, Refusal> {
        let [variable, mapped] = take(args);
        let ExprKind::Ident(name) = variable.kind else {
            let macro_name = if wrap { "optMap()" } else { "optFlatMap()" };
            return self.refuse(
                &variable,
                format!("{macro_name} variable name must be a simple identifier"),
            );
        };
        let copy = self.copy(&target);
        let present = self.member_call("hasValue", target, Vec::new());
        let value = self.member_call("value", copy, Vec::new());
        let bound = self.binding(&name, value, mapped);
        let bound = if wrap {
            self.call("optional.of", vec![bound])
        } else {
            bound
        };
        let none = self.call("optional.none", Vec::new());
        Ok(self.call(operators::CONDITIONAL, vec![present, bound, none]))
    }

    fn sort_by(&mut self, target: Expr, args: Vec<Expr>) -> Result<Expr, Refusal> {
        const INPUT: &str = "@__sortBy_input__";
        if !matches!(
            target.kind,
            ExprKind::List { .. }
                | ExprKind::Select { .. }
                | ExprKind::Ident(_)
                | ExprKind::Comprehension(_)
                | ExprKind::Call { .. }
        ) {
            let message =
                "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return self.refuse(&target, message);
        }
        let input = self.ident(INPUT);
        let keys = self.map(input, args)?;
        let input = self.ident(INPUT);
        let sorted = self.member_call(operators::SORT_BY, input, vec![keys]);
        Ok(self.binding(&INPUT.into(), target, sorted))
    }

    /// The same tree with numbers of its own, each node at its old place.
    fn copy(&mut self, expr: &Expr) -> Expr {
        let mut copy = expr.clone();
        self.renumber(&mut copy);
        copy
    }

    fn renumber(&mut self, expr: &mut Expr) {
        let place = self.builder.place(expr.id);
        if self.builder.is_too_large() {
            *expr = self.builder.node(place, ExprKind::Unspecified);
            return;
        }
        for child in expr.children_mut() {
            self.renumber(child);
        }
        if let ExprKind::Struct { fields, .. } = &mut expr.kind {
            for field in fields {
                // Fields of a copy are where the macro is called.
                field.id = self.node(ExprKind::Unspecified).id;
            }
        }
        expr.id = self.builder.node(place, ExprKind::Unspecified).id;
    }
}

/// The arguments as an array. Their number was matched before.
fn take<const N: usize>(args: Vec<Expr>) -> [Expr; N] {
    let mut args = args.into_iter();
    std::array::from_fn(|_| args.next().unwrap_or_default())
}

fn take_last(args: &mut Vec<Expr>) -> Expr {
    args.pop().unwrap_or_default()
}
