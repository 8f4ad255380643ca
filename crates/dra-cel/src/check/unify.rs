//! Type variables and what they stand for. Mirrors `checker/types.go` and `mapping.go` (cel-go v0.29).
//!
//! An attempt that fails leaves no trace. Types can be exponentially large, so every step is counted, and after too
//! many every type becomes an error that [`Unifier::is_exhausted`] reports.

use crate::types::{Param, Type};

/// Steps that checking one expression may take.
const MAX_STEPS: u32 = 2_000_000;

/// The state of the type variables.
#[derive(Debug, Default)]
pub(super) struct Unifier {
    /// Binding of each variable.
    bindings: Vec<Option<Type>>,
    /// Earlier bindings, to go back to.
    trail: Vec<(usize, Option<Type>)>,
    steps: std::cell::Cell<u32>,
}

impl Unifier {
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    /// Counts a step; `false` when there were too many.
    fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        !self.is_exhausted()
    }

    pub(super) fn fresh(&mut self) -> Type {
        self.bindings.push(None);
        Type::Param(Param::Fresh(self.bindings.len() - 1))
    }

    fn find(&self, param: Param) -> Option<&Type> {
        match param {
            Param::Fresh(number) => self.bindings.get(number).and_then(Option::as_ref),
            Param::Declared(_) => None,
        }
    }

    fn bind(&mut self, param: Param, to: Type) {
        if let Param::Fresh(number) = param
            && let Some(binding) = self.bindings.get_mut(number)
        {
            self.trail.push((number, binding.replace(to)));
        }
    }

    fn attempt(&mut self, assign: impl FnOnce(&mut Self) -> bool) -> bool {
        let mark = self.trail.len();
        let holds = assign(self);
        if !holds {
            while self.trail.len() > mark {
                if let Some((number, earlier)) = self.trail.pop() {
                    self.bindings[number] = earlier;
                }
            }
        }
        holds
    }

    /// Returns whether `left` can be where `right` is, binding variables so that it can.
    pub(super) fn assignable(&mut self, left: &Type, right: &Type) -> bool {
        self.attempt(|unifier| unifier.assign(left, right))
    }

    /// The same for all of a list.
    pub(super) fn assignable_list(&mut self, left: &[Type], right: &[Type]) -> bool {
        self.attempt(|unifier| {
            let mut pairs = left.iter().zip(right);
            left.len() == right.len() && pairs.all(|(left, right)| unifier.assign(left, right))
        })
    }

    fn assign(&mut self, left: &Type, right: &Type) -> bool {
        if !self.step() {
            return false;
        }
        if let Type::Param(param) = right {
            let (valid, bound) = self.substitutes(left, right, *param);
            if valid || bound {
                return valid;
            }
        }
        if let Type::Param(param) = left {
            return self.substitutes(right, left, *param).0;
        }
        if left.is_dyn_or_error() || right.is_dyn_or_error() {
            return true;
        }
        if *left == Type::Null {
            return is_nullable(right);
        }
        if *right == Type::Null {
            return is_nullable(left);
        }
        match (left, right) {
            (Type::Type(_), Type::Type(_)) => true,
            _ => left.agrees(right, |left, right| self.assign(left, right)),
        }
    }

    /// Returns whether the variable `param`, which is `variable`, can stand for `target`, and whether it is bound already.
    fn substitutes(&mut self, target: &Type, variable: &Type, param: Param) -> (bool, bool) {
        if target == variable {
            return (true, true);
        }
        if let Some(bound) = self.find(param).cloned() {
            if self.same(target, &bound) {
                return (true, true);
            }
            if self.assign(target, &bound) {
                let general = if self.is_less_specific(target, &bound) {
                    target.clone()
                } else {
                    bound
                };
                if self.is_free_of(variable, &general) {
                    self.bind(param, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        if self.is_free_of(variable, target) {
            self.bind(param, target.clone());
            return (true, false);
        }
        (false, false)
    }

    /// Structural equality, counted.
    fn same(&self, left: &Type, right: &Type) -> bool {
        self.step() && left.agrees(right, |left, right| self.same(left, right))
    }

    /// Returns whether `left` is equal to `right` or says less by being dynamic somewhere.
    fn is_less_specific(&self, left: &Type, right: &Type) -> bool {
        if !self.step() {
            return true;
        }
        if left.is_dyn() || matches!(left, Type::Param(_)) {
            return true;
        }
        if right.is_dyn() || matches!(right, Type::Param(_)) {
            return false;
        }
        match (left, right) {
            (Type::Type(_), Type::Type(_)) => true,
            _ => left.agrees(right, |left, right| self.is_less_specific(left, right)),
        }
    }

    /// The more general of two types that were found to agree.
    pub(super) fn most_general(&self, left: &Type, right: &Type) -> Type {
        if self.is_less_specific(left, right) {
            left.clone()
        } else {
            right.clone()
        }
    }

    /// Returns whether the variable does not occur within a type.
    fn is_free_of(&self, variable: &Type, within: &Type) -> bool {
        if !self.step() || variable == within {
            return false;
        }
        match within {
            Type::Param(other) => match self.find(*other) {
                Some(bound) => self.is_free_of(variable, bound),
                None => true,
            },
            _ => within
                .params()
                .into_iter()
                .all(|inner| self.is_free_of(variable, inner)),
        }
    }

    /// The type with variables replaced by what they stand for; free ones become dynamic if `settle`.
    pub(super) fn substitute(&self, given: &Type, settle: bool) -> Type {
        if !self.step() {
            return Type::Error;
        }
        match given {
            Type::Param(param) => match self.find(*param) {
                Some(bound) => self.substitute(bound, settle),
                None if settle => Type::Dyn,
                None => given.clone(),
            },
            _ => given.with_params(|param| self.substitute(param, settle)),
        }
    }
}

fn is_nullable(candidate: &Type) -> bool {
    matches!(
        candidate,
        Type::Null
            | Type::Opaque(..)
            | Type::Struct(_)
            | Type::Any
            | Type::Dyn
            | Type::Duration
            | Type::Timestamp
    )
}

/// A declared type with its variables replaced by those of one use.
pub(super) fn instantiate(declared: &Type, variables: &[(char, Type)]) -> Type {
    match declared {
        Type::Param(Param::Declared(letter)) => variables
            .iter()
            .find(|(name, _)| name == letter)
            .map_or_else(|| declared.clone(), |(_, variable)| variable.clone()),
        _ => declared.with_params(|param| instantiate(param, variables)),
    }
}
