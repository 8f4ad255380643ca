//! The functions that expressions can call: their declarations and what they do.
//!
//! Each file holds one of Kubernetes' or cel-go's libraries as a table of overloads, next to the functions behind them.
//! The checker reads the types, the planner picks the binding, the evaluator calls it. Mirrors the registrations of
//! `environment/base.go` (apiserver v0.37.1) and of `stdlib` and `ext` (cel-go v0.29).

mod authorization;
mod comprehensions;
mod dispatch;
pub(crate) mod format;
mod lists;
pub(crate) mod network;
mod optional;
mod quantity;
pub(crate) mod regex;
mod semver;
mod sets;
mod standard;
mod string_format;
mod strings;
mod timestamps;
pub(crate) mod url;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::eval::Context;
use super::release::{OLDEST, Release};
use super::types::{Param, Type, parse_type, split_top_level};
use super::value::numbers::Trait;
use super::value::{Outcome, Value};
pub(crate) use dispatch::dispatch;
pub(crate) use string_format::{Clause, FormatProblem, interpret as interpret_format};

/// Implementation of a function on its arguments, the receiver first.
pub(crate) type Op = for<'a> fn(&mut Context<'a>, &[Value<'a>]) -> Outcome<'a>;

/// Binding of an overload.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Binding {
    /// Called if the arguments' types agree with the declaration.
    Guarded(Op),
    /// The same, but arguments are evaluated one by one up to the first error.
    Stepwise(Op),
    /// Called with whatever arguments there are.
    Unguarded(Op),
    /// One implementation for all overloads of the function, for operands that have the trait.
    Shared(Option<Trait>, Op),
    /// Only there for the checker: the planner replaces it by something else.
    None,
}

/// An overload as the tables have it.
#[derive(Debug)]
pub(crate) struct Declaration {
    id: &'static str,
    /// `function(arguments) -> result`, or `<receiver>.function(arguments) -> result`.
    signature: &'static str,
    binding: Binding,
    /// First and last Kubernetes minor version that has it.
    minors: (u32, u32),
}

impl Declaration {
    const fn new(id: &'static str, signature: &'static str, binding: Binding) -> Self {
        Self {
            id,
            signature,
            binding,
            minors: (OLDEST, u32::MAX),
        }
    }

    /// Only there from the minor version `first` to the minor version `last`.
    const fn within(self, first: u32, last: u32) -> Self {
        Self {
            minors: (first, last),
            ..self
        }
    }
}

/// A table of overloads. Each row has the name of the overload, the first and last minor version if not all have it, and the signature.
/// What follows `=` is the binding. What follows `=>` is called if the arguments' types agree and the arguments match.
macro_rules! overloads {
    ($(
        $id:literal $([$first:expr, $last:expr])?: $signature:literal
        $(= $binding:expr)?
        $(=> |$ctx:pat_param, $args:pat_param| $result:expr)?,
    )*) => {
        &[$(
            $crate::library::Declaration::new(
                $id,
                $signature,
                $($binding)?
                $($crate::library::Binding::Guarded(|$ctx, args| match args {
                    $args => $result,
                    _ => Err($crate::value::Fault::no_such_overload()),
                }))?
            )
            $(.within($first, $last))?
        ),*]
    };
}
use overloads;

/// An overload with its types read.
#[derive(Debug)]
pub(crate) struct Overload {
    pub(crate) function: &'static str,
    pub(crate) id: &'static str,
    pub(crate) member: bool,
    pub(crate) args: Vec<Type>,
    pub(crate) result: Type,
    /// The type variables of the declaration.
    pub(crate) params: Vec<char>,
    pub(crate) binding: Binding,
    minors: (u32, u32),
}

impl Overload {
    fn new(declaration: &Declaration) -> Self {
        let signature = declaration.signature;
        let (call, result) = signature.split_once(" -> ").unwrap_or((signature, ""));
        let (receiver, call) = match call.strip_prefix('<').and_then(|call| call.split_once(">.")) {
            Some((receiver, call)) => (Some(receiver), call),
            None => (None, call),
        };
        let (function, args) = call.split_once('(').unwrap_or((call, ""));
        let args = split_top_level(args.strip_suffix(')').unwrap_or(args));
        let args: Vec<Type> = receiver.into_iter().chain(args).map(parse_type).collect();
        let result = parse_type(result);
        let mut params = Vec::new();
        collect_params(&result, &mut params);
        for arg in &args {
            collect_params(arg, &mut params);
        }
        Self {
            function,
            id: declaration.id,
            member: receiver.is_some(),
            args,
            result,
            params,
            binding: declaration.binding,
            minors: declaration.minors,
        }
    }

    /// Returns whether `release` has the overload.
    pub(crate) fn is_in(&self, release: Release) -> bool {
        release.is_in(self.minors)
    }
}

fn collect_params(declared: &Type, params: &mut Vec<char>) {
    if let Type::Param(Param::Declared(letter)) = declared
        && !params.contains(letter)
    {
        params.push(*letter);
    }
    for param in declared.params() {
        collect_params(param, params);
    }
}

/// All overloads of all versions, by function, in the order in which the API server registers them.
pub(crate) fn functions() -> &'static HashMap<&'static str, Vec<Overload>> {
    static FUNCTIONS: OnceLock<HashMap<&'static str, Vec<Overload>>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let tables: [&[&[Declaration]]; 16] = [
            standard::OPERATORS,
            &[standard::FUNCTIONS],
            timestamps::FUNCTIONS,
            &[url::FUNCTIONS],
            &[regex::FUNCTIONS],
            &[lists::FUNCTIONS_BEFORE_STRINGS],
            &[authorization::FUNCTIONS],
            &[optional::FUNCTIONS],
            &[quantity::FUNCTIONS],
            &[strings::FUNCTIONS],
            &[sets::FUNCTIONS],
            &[network::FUNCTIONS],
            format::FUNCTIONS,
            &[semver::FUNCTIONS],
            lists::FUNCTIONS,
            &[comprehensions::FUNCTIONS],
        ];
        let mut functions: HashMap<&'static str, Vec<Overload>> = HashMap::new();
        for declaration in tables.into_iter().flatten().copied().flatten() {
            let overload = Overload::new(declaration);
            functions.entry(overload.function).or_default().push(overload);
        }
        functions
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_error(declared: &Type) -> bool {
        *declared == Type::Error || declared.params().into_iter().any(has_error)
    }

    #[test]
    fn every_signature_in_the_tables_can_be_read() {
        for overload in functions().values().flatten() {
            assert!(!has_error(&overload.result), "{}", overload.id);
            assert!(!overload.args.iter().any(has_error), "{}", overload.id);
        }
    }
}
