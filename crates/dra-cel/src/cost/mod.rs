//! Cost of an evaluation.
//!
//! [`Rule`] is the cost of a call as kube-scheduler counts it while evaluating. [`estimate`] is the worst case that the
//! API server compares with its limit. The weights are cel-go's: a tenth per character that is gone through, a quarter
//! per character of a regular expression, 10 for a list, 30 for a map, 40 for a message.

pub(crate) mod estimate;
mod rules;

pub(crate) use rules::{Rule, not_a_list};

/// Cost per character of a string that is gone through.
pub(crate) const STRING_FACTOR: f64 = 0.1;
/// Cost per character of a regular expression.
pub(crate) const REGEX_FACTOR: f64 = 0.25;
/// Cost of making a list.
pub(crate) const LIST_BASE: u64 = 10;
/// Cost of making a map.
pub(crate) const MAP_BASE: u64 = 30;
/// Cost of making a message.
pub(crate) const STRUCT_BASE: u64 = 40;
