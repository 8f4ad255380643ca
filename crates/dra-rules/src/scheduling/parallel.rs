//! Judging many nodes. Threads belong to the caller, who hands in a way to run.

use std::sync::{Arc, OnceLock};

use super::cycle::Cycle;
use super::verdict::{Judgment, Verdict};
use dra_allocator::{Budget, Limits, Observer};
use dra_model::Node;

/// Calls a function for each number below the first argument, in any order and on any threads, and returns when all calls did.
pub type Run<'r> = &'r dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// Runs everything here, in order.
pub fn in_order(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).for_each(work);
}

/// Steps that each of several nodes gets at first. Nearly every node is decided in far fewer.
const FIRST_SHARE: u64 = 4_096;

/// Nodes that are judged before it is asked whether the command has looked at too much.
const TOGETHER: usize = 1_024;

/// Judges `nodes` within `budget`; answers come in their order.
///
/// Every node gets the same share of the steps. What nodes that were decided early have left goes to the others, which are tried
/// again with more as long as that is at least twice as much. So the answers do not depend on threads.
pub fn judge_all<'n>(
    cycle: &Cycle<'_>,
    nodes: &[&'n Arc<Node>],
    budget: &Budget,
    observer: &(dyn Observer + Sync),
    run: Run<'_>,
) -> Vec<(&'n Arc<Node>, Judgment)> {
    let open = || Judgment::from(Verdict::GaveUp);
    let mut answers: Vec<Judgment> = nodes.iter().map(|_| open()).collect();
    let mut undecided: Vec<usize> = (0..nodes.len()).collect();
    let mut share = 0_u64;
    while !undecided.is_empty() {
        let next = budget.left() / undecided.len() as u64;
        if share > 0 && next < share.saturating_mul(2) {
            break;
        }
        let is_first = share == 0;
        share = if is_first && nodes.len() > 1 {
            next.min(FIRST_SHARE)
        } else {
            next
        };
        let limits = Limits::steps(share);
        let judged: Vec<OnceLock<Judgment>> = undecided.iter().map(|_| OnceLock::new()).collect();
        for first in (0..undecided.len()).step_by(TOGETHER) {
            if cycle.meter().exhausted().is_some() {
                break;
            }
            run(TOGETHER.min(undecided.len() - first), &|place| {
                let place = first + place;
                judged[place].get_or_init(|| {
                    if is_first {
                        observer.begin_node();
                    }
                    cycle.judge(nodes[undecided[place]], limits, observer)
                });
            });
        }
        let mut rest = Vec::new();
        for (place, judgment) in undecided.into_iter().zip(judged) {
            let judgment = judgment.into_inner().unwrap_or_else(open);
            budget.spend(judgment.work);
            if matches!(judgment.verdict, Verdict::GaveUp) {
                rest.push(place);
            }
            answers[place] = judgment;
        }
        undecided = rest;
        if share == 0 || observer.cancelled() || cycle.meter().exhausted().is_some() {
            break;
        }
    }
    nodes.iter().copied().zip(answers).collect()
}
