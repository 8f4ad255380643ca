//! Judging many nodes. Threads belong to the caller, who hands in a way to run.

use std::sync::{Arc, OnceLock};

use super::cycle::Cycle;
use super::verdict::{Judgment, Verdict};
use crate::allocator::{Limits, Observer};
use crate::model::Node;

/// Calls a function for each number below the first argument, in any order and on any threads, and returns when all calls did.
pub type Run<'r> = &'r dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// Runs everything here, in order.
pub fn in_order(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).for_each(work);
}

/// Judges `nodes`; answers come in their order.
pub fn judge_all<'n>(
    cycle: &Cycle<'_>,
    nodes: &[&'n Arc<Node>],
    limits: Limits,
    observer: &(dyn Observer + Sync),
    run: Run<'_>,
) -> Vec<(&'n Arc<Node>, Judgment)> {
    let answers: Vec<OnceLock<Judgment>> = nodes.iter().map(|_| OnceLock::new()).collect();
    run(nodes.len(), &|place| {
        answers[place].get_or_init(|| cycle.judge(nodes[place], limits, observer));
    });
    let open = || Judgment {
        verdict: Verdict::GaveUp,
        steps: 0,
    };
    let answers = answers
        .into_iter()
        .map(|answer| answer.into_inner().unwrap_or_else(open));
    nodes.iter().copied().zip(answers).collect()
}
