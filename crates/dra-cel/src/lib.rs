//! The Common Expression Language as Kubernetes evaluates it for device selectors.
//!
//! An [`Environment`] stands for a Kubernetes version and its feature gates. It compiles an expression into a [`Program`],
//! which is evaluated against any number of devices, each prepared once as a [`DeviceInput`]. Results, errors, the texts
//! of both and the cost are those of kube-scheduler and of the API server.
//!
//! An expression passes through these directories:
//!
//! 1. `parse`: text to tree; macros are expanded; syntax errors. (`source` shows where an error is.)
//! 2. `check`: names, types and overloads, by Kubernetes version; type errors.
//! 3. `plan`: tree to plan; constants are folded, regular expressions compiled.
//! 4. `eval`: plan and device to value, counting the cost.
//!
//! `library` has the functions, each with its declaration; `value` the values that they work on. `cost` knows what a
//! call costs, and estimates the worst case, which the API server limits for new expressions. `terms` knows what `&&`
//! joins, `explain` which of that keeps a device from matching, and `repair` what was probably meant.
//!
//! No input makes any of this panic, overflow the stack or run without end: nesting is limited as it is upstream, and
//! work and memory have budgets besides CEL's own cost.

#![expect(
    clippy::float_cmp,
    clippy::match_same_arms,
    reason = "CEL compares numbers exactly, and its tables name each type and operator in upstream's order"
)]

mod ast;
mod check;
mod cost;
mod derive;
mod eval;
mod explain;
mod library;
mod parse;
mod plan;
mod program;
mod reads;
mod release;
mod repair;
mod source;
mod terms;
mod types;
mod value;

pub use check::{Features, Mode};
pub use explain::{FailingTerm, Seen};
pub use program::{CompileError, Environment, EvalError, Evaluation, MAX_COST, Program, Refusal};
pub use reads::{KeptReadings, Readings, Reads};
pub use repair::{Found, Known, Mistake, Repair, guarded, in_lines, repairs};
pub use terms::{
    AmountWanted, AttributeWanted, Terms, amount_wanted, attribute_wanted, drivers_wanted, value_wanted,
};
pub use value::device::{DeviceInput, SliceDevice};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
