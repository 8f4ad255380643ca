//! Evaluation.
//!
//! Walks the plan, computing values and their cost in the very steps in which cel-go's observer would count them: the
//! cost decides at which step an expression is cut off. Errors are values that pass upward until something absorbs
//! them; an exceeded limit, or what would be a panic in Go, ends the evaluation immediately.

mod access;
mod context;
mod fold;
mod literals;

pub(crate) use context::Context;

use super::cost::Rule;
use super::library::dispatch;
use super::plan::node::{Call, Node, RegexCall, RegexFunction};
use super::value::list::List;
use super::value::{Fault, Outcome, Value, equality};

/// A local variable, once it has a value or the reason why it has none.
pub(crate) type Slot<'a> = Option<Outcome<'a>>;

fn is_concat(value: &Value<'_>) -> bool {
    matches!(value, Value::List(List::Concat(_)))
}

/// Refuses a list that is too long for Go to count.
fn countable(value: &Value<'_>) -> Result<(), Fault> {
    match value {
        Value::List(list) if !list.is_countable() => Err(Fault::panic(
            "interface conversion: ref.Val is *types.Err, not types.Int",
        )),
        _ => Ok(()),
    }
}

/// No function has more arguments.
const MOST_ARGS: usize = 4;

/// Passes a fault that ends everything on, and leaves errors to be looked at.
macro_rules! observe {
    ($outcome:expr) => {
        match $outcome {
            Err(abort @ Fault::Abort(_)) => return Err(abort),
            outcome => outcome,
        }
    };
}
pub(crate) use observe;

impl<'a> Context<'a> {
    /// Evaluates a node.
    pub(crate) fn eval(&mut self, node: &'a Node) -> Outcome<'a> {
        match node {
            Node::Constant(value) => Ok(value.borrow()),
            Node::Broken(fault) => Err(fault.clone()),
            Node::Lookup(lookup) => self.eval_lookup(lookup),
            Node::Attribute(attribute) => self.eval_attribute(attribute),
            Node::Equal(operands) => self.eval_comparison(operands, Rule::Equals, |equal| equal),
            // What cannot be compared is not equal.
            Node::NotEqual(operands) => {
                self.eval_comparison(operands, Rule::LesserSize, |equal| Ok(!equal.unwrap_or(false)))
            }
            Node::And(terms) => self.eval_logical(terms, false),
            Node::Or(terms) => self.eval_logical(terms, true),
            Node::Call(call) => self.eval_call(call),
            Node::Known(known) => {
                self.charge(known.cost)?;
                let outcome = known.outcome.as_ref().map(Value::borrow).map_err(Fault::clone);
                if let Ok(Value::Quantity(quantity)) = &outcome {
                    self.forget_decimal(quantity);
                }
                outcome
            }
            Node::Present(attribute) => self.eval_present(attribute),
            Node::NotStrictlyFalse(operand) => {
                let outcome = observe!(self.eval(operand));
                self.charge(1)?;
                match outcome {
                    Ok(Value::Bool(value)) => Ok(Value::Bool(value)),
                    Ok(other) => Err(Fault::error(format!(
                        "no such overload: @not_strictly_false({})",
                        other.type_name()
                    ))),
                    Err(_) => Ok(Value::Bool(true)),
                }
            }
            Node::OptionalOr(operands) => match self.eval(&operands[0])? {
                Value::Optional(None) => self.eval(&operands[1]),
                some @ Value::Optional(Some(_)) => Ok(some),
                other => self.other_operand(other),
            },
            Node::OptionalOrValue(operands) => match self.eval(&operands[0])? {
                Value::Optional(None) => self.eval(&operands[1]),
                Value::Optional(Some(value)) => Ok((*value).clone()),
                other => self.other_operand(other),
            },
            Node::Member(member) => {
                let value = self.eval(&member.value)?;
                Ok(Value::Bool(member.contains(&value)?))
            }
            Node::Regex(call) => self.eval_regex(call),
            Node::List(list) => self.eval_list(list),
            Node::Map(map) => self.eval_map(map),
            Node::Message(message) => self.eval_message(message),
            Node::Fold(fold) => self.eval_fold(fold),
        }
    }

    /// Returns what `or` and `orValue` make of a first operand that is no optional.
    fn other_operand(&self, value: Value<'a>) -> Outcome<'a> {
        if self.release.takes_any_other_operand {
            Ok(value)
        } else {
            Err(Fault::no_such_overload())
        }
    }

    /// `&&` and `||` over any number of terms: the deciding value wins, then the first error.
    #[inline]
    fn eval_logical(&mut self, terms: &'a [Node], deciding: bool) -> Outcome<'a> {
        let mut error = None;
        for term in terms {
            match observe!(self.eval(term)) {
                Ok(Value::Bool(value)) if value == deciding => return Ok(Value::Bool(deciding)),
                Ok(Value::Bool(_)) => {}
                Ok(_) if error.is_none() => error = Some(Fault::no_such_overload()),
                Err(fault) if error.is_none() => error = Some(fault),
                _ => {}
            }
        }
        error.map_or(Ok(Value::Bool(!deciding)), Err)
    }

    /// The result that `settle` makes of whether the operands are equal.
    fn eval_comparison(
        &mut self,
        operands: &'a [Node; 2],
        rule: Rule,
        settle: fn(Result<bool, Fault>) -> Result<bool, Fault>,
    ) -> Outcome<'a> {
        let left = observe!(self.eval(&operands[0]));
        let evaluated;
        let right = match &operands[1] {
            // A constant is compared where it is.
            Node::Constant(value) => Ok(value),
            other => {
                evaluated = observe!(self.eval(other));
                evaluated.as_ref()
            }
        };
        let outcome = match (&left, right) {
            (Ok(left), Ok(right)) => {
                self.foresee_comparison(rule, left, right)?;
                settle(observe!(equality::equal(self, left, right))).map(Value::Bool)
            }
            (Err(fault), _) | (_, Err(fault)) => Err(fault.clone()),
        };
        let cost = rule.cost(self, &[left.as_ref().ok(), right.ok()], None)?;
        self.charge(cost)?;
        outcome
    }

    #[inline]
    fn apply(&mut self, call: &'a Call, args: &[Value<'a>]) -> Outcome<'a> {
        if args.iter().any(is_concat) {
            self.foresee(call, args)?;
        }
        dispatch(self, &call.overloads, args)
    }

    /// Stops a call on a list made by `+` that will be stopped in any case, and only after it: such a list takes nothing to make
    /// and can have any length.
    fn foresee(&mut self, call: &Call, args: &[Value<'a>]) -> Result<(), Fault> {
        if !matches!(call.function(), "size" | "type" | "dyn" | "optional.of") {
            args.iter().try_for_each(countable)?;
        }
        let seen: [_; MOST_ARGS] = std::array::from_fn(|place| args.get(place));
        match call.rule.cost(self, &seen[..args.len().min(MOST_ARGS)], None) {
            Ok(cost) => self.afford(cost),
            // The call may have something to say before.
            Err(_) => Ok(()),
        }
    }

    /// The same for a comparison.
    fn foresee_comparison(&mut self, rule: Rule, left: &Value<'a>, right: &Value<'a>) -> Result<(), Fault> {
        if is_concat(left) || is_concat(right) {
            countable(left)?;
            countable(right)?;
            let cost = rule.cost(self, &[Some(left), Some(right)], None)?;
            self.afford(cost)?;
        }
        Ok(())
    }

    fn eval_call(&mut self, call: &'a Call) -> Outcome<'a> {
        match call.args.as_slice() {
            [left, right] if !call.stepwise => {
                let left = observe!(self.eval(left));
                let right = observe!(self.eval(right));
                match (left, right) {
                    (Ok(left), Ok(right)) => {
                        let args = [left, right];
                        let result = observe!(self.apply(call, &args));
                        self.charge_call(call.rule, &args, &result)?;
                        result
                    }
                    (left, right) => {
                        self.charge_failed(call.rule, &[left.as_ref().ok(), right.as_ref().ok()])?;
                        left.and(right)
                    }
                }
            }
            operands => {
                let args = self.eval_stepwise(call.rule, operands)?;
                let result = observe!(self.apply(call, &args));
                self.charge_call(call.rule, &args, &result)?;
                result
            }
        }
    }

    #[inline]
    fn charge_call(&mut self, rule: Rule, args: &[Value<'a>], result: &Outcome<'a>) -> Result<(), Fault> {
        if rule == Rule::One {
            return self.charge(1);
        }
        let seen: [_; MOST_ARGS] = std::array::from_fn(|place| args.get(place));
        let cost = rule.cost(self, &seen[..args.len().min(MOST_ARGS)], result.as_ref().ok())?;
        self.charge(cost)
    }

    fn charge_failed(&mut self, rule: Rule, args: &[Option<&Value<'a>>]) -> Result<(), Fault> {
        let cost = rule.cost(self, args, None)?;
        self.charge(cost)
    }

    /// Evaluates arguments up to the first error. A call that stopped at one costs something only if that was in its last argument.
    fn eval_stepwise(&mut self, rule: Rule, operands: &'a [Node]) -> Result<Vec<Value<'a>>, Fault> {
        let mut args = Vec::with_capacity(operands.len());
        for operand in operands {
            match observe!(self.eval(operand)) {
                Ok(value) => args.push(value),
                Err(fault) => {
                    if args.len() + 1 == operands.len() {
                        let seen: Vec<_> = args.iter().map(Some).chain([None]).collect();
                        self.charge_failed(rule, &seen)?;
                    }
                    return Err(fault);
                }
            }
        }
        Ok(args)
    }

    fn eval_regex(&mut self, call: &'a RegexCall) -> Outcome<'a> {
        let args = self.eval_stepwise(call.rule, &call.args)?;
        let result = observe!(match (&args[0], call.function) {
            (Value::String(text), RegexFunction::Matches) => {
                Ok(Value::Bool(call.regex.is_match(text)))
            }
            (Value::String(text), RegexFunction::Find) => Ok(call.regex.find(text)),
            (Value::String(text), RegexFunction::FindAll) => match args.get(2) {
                None => call.regex.find_all(self, text, -1),
                Some(Value::Int(limit)) => call.regex.find_all(self, text, *limit),
                Some(_) => Err(Fault::no_such_overload()),
            },
            _ => Err(Fault::no_such_overload()),
        });
        self.charge_call(call.rule, &args, &result)?;
        result
    }
}
