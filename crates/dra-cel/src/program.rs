//! Compiling and evaluating: the surface of the engine.
//!
//! Mirrors `compile.go`, `CompileCELExpression` and `DeviceMatches` (dynamic-resource-allocation v0.37.1), and `validation.go`,
//! `validateCELExpression` (kubernetes v1.37.2).

use std::sync::Arc;

use super::check::{self, Features, Mode, Scope};
use super::cost::estimate;
use super::derive;
use super::eval::Context;
use super::explain::{self, FailingTerm};
use super::parse;
use super::plan::{self, Plan};
use super::reads::Reads;
use super::value::device::DeviceInput;
use super::value::{Fault, Value, convert};
use dra_values::{AttributeValue, Meter, TOO_MUCH_WORK, go_quote};

/// Maximum cost of an evaluation, and maximum estimate of a new expression.
pub const MAX_COST: u64 = 1_000_000;

/// Bytes that a new expression may have.
const MAX_LENGTH: usize = 10 * 1_024;

/// Purpose of an expression.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    /// To select devices: its result is a bool.
    Selector,
    /// To compute an attribute of a device.
    DerivedAttribute,
}

/// A Kubernetes version with its feature gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Environment {
    minor: u32,
    compatible_with: u32,
    features: Features,
}

impl Environment {
    /// Kubernetes 1.`minor`. Unknown versions are treated as the nearest known one.
    ///
    /// New expressions have what 1.`minor - 1` knows too, which is how API servers run unless told otherwise.
    pub fn new(minor: u32, features: Features) -> Self {
        Self {
            minor,
            compatible_with: minor.saturating_sub(1),
            features,
        }
    }

    /// The same with the minimum compatibility version 1.`minor`, which bounds what new expressions may use.
    #[must_use]
    pub fn compatible_with(self, minor: u32) -> Self {
        Self {
            compatible_with: minor,
            ..self
        }
    }

    /// Compiles a selector. Expressions that are in the cluster are [`Mode::Stored`].
    ///
    /// # Errors
    /// What is wrong with the expression. kube-scheduler gives up on a claim with such a selector, on every node.
    pub fn compile(&self, expression: &str, mode: Mode) -> Result<Program, CompileError> {
        self.compile_for(Purpose::Selector, expression, mode)
    }

    /// Compiles an expression that computes an attribute, for [`Program::derive`].
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn compile_attribute(&self, expression: &str, mode: Mode) -> Result<Program, CompileError> {
        self.compile_for(Purpose::DerivedAttribute, expression, mode)
    }

    fn compile_for(&self, purpose: Purpose, expression: &str, mode: Mode) -> Result<Program, CompileError> {
        let scope = Scope::new(self.minor, self.compatible_with, mode, self.features);
        let checked = parse::parse(expression, scope.macros())
            .and_then(|ast| check::check(ast, &scope))
            .map_err(|issues| {
                CompileError::Invalid(format!("compilation failed: {}", issues.display(expression)))
            })?;
        let output = checked.type_of(checked.ast.root.id);
        match purpose {
            Purpose::Selector if scope.selects(output) => {}
            Purpose::Selector => {
                let text = output.plain_text();
                let message = format!("must evaluate to bool or the unknown type, not {text}");
                return Err(CompileError::Invalid(message));
            }
            Purpose::DerivedAttribute => {
                derive::refuse_type(output, &scope).map_err(CompileError::Invalid)?;
            }
        }
        let plan = plan::plan(&checked, &scope)
            .map_err(|problem| CompileError::Internal(format!("program instantiation failed: {problem}")))?;
        let max_cost = estimate::estimate(&checked, &scope);
        Ok(Program {
            expression: expression.into(),
            scope,
            reads: Reads::of(&plan.root),
            plan,
            max_cost,
            meter: None,
        })
    }

    /// The most that a selector can cost, if the API server takes it in an object that is being written.
    ///
    /// Mirrors `validation.go`, `validateCELExpression` (kubernetes v1.37.2).
    ///
    /// # Errors
    /// Why it does not.
    pub fn admit(&self, expression: &str) -> Result<u64, Refusal> {
        self.admit_for(Purpose::Selector, expression)
    }

    /// The same for an expression that computes an attribute.
    ///
    /// # Errors
    /// Why the API server does not take it.
    pub fn admit_attribute(&self, expression: &str) -> Result<u64, Refusal> {
        self.admit_for(Purpose::DerivedAttribute, expression)
    }

    fn admit_for(&self, purpose: Purpose, expression: &str) -> Result<u64, Refusal> {
        if expression.len() > MAX_LENGTH {
            return Err(Refusal::TooLong);
        }
        let program = self
            .compile_for(purpose, expression, Mode::New)
            .map_err(|error| Refusal::Compile {
                expression: expression.to_owned(),
                error,
            })?;
        let max_cost = program.max_cost;
        if max_cost > MAX_COST {
            Err(Refusal::TooComplex { max_cost })
        } else {
            Ok(max_cost)
        }
    }
}

/// The reason why an expression cannot be compiled, in the words of the API server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// It is invalid.
    #[error("{0}")]
    Invalid(String),
    /// It has a mistake that no type check finds.
    #[error("{0}")]
    Internal(String),
}

impl CompileError {
    /// Returns whether the API server calls this an internal error, as it does with some mistakes that no type check finds.
    pub fn is_internal(&self) -> bool {
        matches!(self, Self::Internal(_))
    }
}

/// The reason why the API server does not take a new expression. Its text is that of the server without the field's path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// More than ten kibibytes.
    #[error("Too long: may not be more than {MAX_LENGTH} bytes")]
    TooLong,
    /// It does not compile.
    #[error("{}: {error}", if error.is_internal() { "Internal error".to_owned() } else { invalid_value(expression) })]
    Compile {
        /// The expression, which the message quotes.
        expression: String,
        /// The error.
        error: CompileError,
    },
    /// Evaluating it might cost more than the limit.
    #[error("Forbidden: too complex, exceeds cost limit")]
    TooComplex {
        /// Maximum possible cost.
        max_cost: u64,
    },
}

fn invalid_value(expression: &str) -> String {
    format!("Invalid value: {}", go_quote(expression))
}

/// A compiled expression.
#[derive(Debug)]
pub struct Program {
    expression: Box<str>,
    scope: Scope,
    plan: Plan,
    reads: Option<Reads>,
    max_cost: u64,
    meter: Option<Arc<Meter>>,
}

/// Result of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// True if the device matches. An error is not the same as no match: it ends the whole allocation.
    pub result: Result<bool, EvalError>,
    /// Cost of the evaluation.
    pub cost: u64,
}

/// The reason why an evaluation has no result, in the words of kube-scheduler.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    message: Box<str>,
    not_tried: bool,
}

impl EvalError {
    fn new(message: impl Into<Box<str>>) -> Self {
        Self {
            message: message.into(),
            not_tried: false,
        }
    }

    pub(super) fn not_tried() -> Self {
        Self {
            message: TOO_MUCH_WORK.into(),
            not_tried: true,
        }
    }

    /// Returns whether the meter had run out, so that the program was not tried at all. kube-scheduler would have a result.
    pub fn is_not_tried(&self) -> bool {
        self.not_tried
    }
}

impl From<Fault> for EvalError {
    fn from(fault: Fault) -> Self {
        Self::new(fault.message())
    }
}

impl Program {
    /// The most that an evaluation can cost as the API server estimates it.
    pub fn max_cost(&self) -> u64 {
        self.max_cost
    }

    /// Returns the facts about a device that determine the result, if they can be listed: devices that agree in them
    /// yield the same, even an error, as long as one of them is readable.
    pub fn reads(&self) -> Option<&Reads> {
        self.reads.as_ref()
    }

    /// The same program, whose evaluations draw from `meter`.
    #[must_use]
    pub fn metered(self, meter: &Arc<Meter>) -> Self {
        Self {
            meter: Some(Arc::clone(meter)),
            ..self
        }
    }

    /// The state before an evaluation on `device`, if there can be one.
    fn begin<'a>(&self, device: &'a DeviceInput) -> Result<Context<'a>, EvalError> {
        if self.meter.as_ref().is_some_and(|meter| meter.is_exhausted()) {
            return Err(EvalError::not_tried());
        }
        match device.problem(self.scope.takes_lists()) {
            Some(problem) => Err(EvalError::new(problem)),
            None => Ok(Context::new(device, self.plan.frame, MAX_COST)),
        }
    }

    fn spend(&self, context: &Context<'_>) {
        if let Some(meter) = &self.meter {
            meter.spend(context.effort());
        }
    }

    /// Returns whether `device` matches.
    pub fn evaluate(&self, device: &DeviceInput) -> Evaluation {
        let mut context = match self.begin(device) {
            Ok(context) => context,
            Err(error) => {
                return Evaluation {
                    result: Err(error),
                    cost: 0,
                };
            }
        };
        let result = context.eval(&self.plan.root).map_err(EvalError::from);
        let result = result.and_then(|value| boolean(&value));
        self.spend(&context);
        Evaluation {
            result,
            cost: context.cost(),
        }
    }

    /// The attribute that the expression computes for `device`.
    pub fn derive(&self, device: &DeviceInput) -> Result<AttributeValue, EvalError> {
        let mut context = self.begin(device)?;
        let value = context
            .eval(&self.plan.root)
            .and_then(|value| context.settled(value));
        self.spend(&context);
        let value = value?;
        derive::attribute(&value).map_err(EvalError::new)
    }

    /// The terms of the expression, as joined by `&&`, that are not true for `device`, as far as the meter lasts.
    pub fn explain(&self, device: &DeviceInput) -> Vec<FailingTerm> {
        let unmetered = Meter::new(u64::MAX);
        let meter = self.meter.as_deref().unwrap_or(&unmetered);
        explain::explain(&self.expression, &self.scope, device, meter)
    }
}

/// The result of a selector, which may be of any type.
pub(super) fn boolean(value: &Value<'_>) -> Result<bool, EvalError> {
    convert::native_bool(value).map_err(|problem| {
        let name = value.type_name();
        EvalError::new(format!(
            "CEL result of type {name} could not be converted to bool: {problem}"
        ))
    })
}
