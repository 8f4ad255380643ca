//! Allocation of kube-scheduler on a node, device by device.
//!
//! Mirrors `k8s.io/dynamic-resource-allocation/structured`, v0.37.1. [`Inputs`] prepares a cluster once for any number of nodes
//! and claims, [`Inputs::demand`] prepares claims, and [`Inputs::allocate`] answers for one node: the first solution in upstream's
//! search order, or the error that upstream's search meets before it.
//!
//! Upstream backtracks through all combinations. `search` does the same for the problems that are decided within a few steps;
//! `pruned` decides the others without visiting what cannot change the answer. Which pods and nodes are asked about, and what
//! the scheduler checks around the allocator, is the business of `scheduling`.
//!
//! Older releases differ in the rules that [`dra_model::Release`] names, which the one search follows. Where they take pools and
//! slices in an order that only they know, the search takes them by name, and [`Attempt::certainty`] says how far the answer is the
//! same in every order.

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests read what they made")
)]

mod bounds;
mod budget;
mod candidates;
mod constraint;
mod deepest;
pub mod devices;
mod error;
mod explain;
mod index;
mod order;
mod places;
mod pruned;
mod request;
mod result;
mod search;
mod structure;

use std::sync::Arc;

use dra_model::{Allocation, Change, Claim, Cluster, Node, TOO_MUCH_WORK};

use self::candidates::Problem;
use self::pruned::{LOOKS_PER_SURVEY, Pruned};
use self::request::Preparation;
use self::search::{Flow, Search, State};
use crate::devices::{Facts, Features, PoolStatus, PoolView};

pub use self::budget::Budget;
pub use self::candidates::{Trouble, Unfit};
pub use self::constraint::{attribute_of, value_of};
pub use self::deepest::ClashingValues;
pub use self::error::{AttemptError, ErrorSubject, Failure};
pub use self::explain::{
    AlternativeExplanation, ConstraintName, Explanation, RequestExplanation, Shortage, Together,
};
pub use self::order::{Certainty, Choice};
pub use self::request::Demand;

/// A cluster prepared for allocation, for any number of nodes and claims.
#[derive(Clone, Debug)]
pub struct Inputs {
    facts: Facts,
}

/// Work limits of an attempt.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps of the search after which it gives up.
    pub steps: u64,
    /// Steps after which the search stops doing exactly what upstream does, and starts to prune.
    plain_steps: u64,
}

impl Limits {
    /// Gives up after so many steps.
    pub fn steps(steps: u64) -> Self {
        Self {
            steps,
            plain_steps: PLAIN_STEPS,
        }
    }

    /// Searches as upstream does, without pruning. For comparison.
    pub fn plain(steps: u64) -> Self {
        Self {
            steps,
            plain_steps: steps,
        }
    }

    /// Prunes from the start. For comparison.
    pub fn pruned(steps: u64) -> Self {
        Self {
            steps,
            plain_steps: 0,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::steps(20_000_000)
    }
}

/// Lets the caller end a long search, and see how far it is.
pub trait Observer {
    /// Asked now and then; the search gives up once it answers true.
    fn cancelled(&self) -> bool;

    /// A node is going to be judged. Called from any thread.
    fn begin_node(&self) {}
}

/// Never cancels.
impl Observer for () {
    fn cancelled(&self) -> bool {
        false
    }
}

impl Observer for std::sync::atomic::AtomicBool {
    fn cancelled(&self) -> bool {
        self.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// The answer for one node.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// One allocation for each claim, in their order.
    Allocated(Vec<Allocation>),
    /// The node cannot satisfy the claims.
    DoesNotFit {
        /// A pool of the node contradicts itself, which upstream then gives as the reason.
        invalid_pools: bool,
    },
    /// Upstream ends the attempt with this error.
    Error(AttemptError),
    /// Not decided within the limits, or without an expression that was not tried. This is no answer.
    GaveUp,
}

/// Reason why an attempt has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Upstream ends the attempt with this error.
    #[error("{0}")]
    Error(AttemptError),
    /// An expression was not tried, since the command's work on expressions was used up. Upstream continues.
    #[error("{}", TOO_MUCH_WORK)]
    NotTried,
}

impl From<AttemptError> for Stop {
    fn from(error: AttemptError) -> Self {
        Self::Error(error)
    }
}

impl From<String> for Stop {
    fn from(what: String) -> Self {
        Self::Error(what.into())
    }
}

/// The answer for one node and the work it took.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The answer.
    pub outcome: Outcome,
    /// Certainty where pools and slices are in random order.
    pub certainty: Certainty,
    /// Steps of the search.
    pub steps: u64,
    /// Steps that it counts for: where the steps look at much, these are more.
    pub work: u64,
}

/// Upstream's message when nothing fits and a pool contradicts itself.
pub const INVALID_POOLS: &str = "invalid resource pools were encountered";

impl Inputs {
    /// Prepares `cluster`. Costs little: pools are looked at when a node asks for them.
    pub fn new(cluster: &Cluster, features: Features) -> Self {
        Self {
            facts: Facts::new(cluster, features),
        }
    }

    /// Prepares another cluster of the same gates and versions, as [`Facts::beside`] does.
    #[must_use]
    pub fn beside(&self, cluster: &Cluster) -> Self {
        Self {
            facts: self.facts.beside(cluster),
        }
    }

    /// Prepares `cluster`, which is a fork of the cluster of these inputs with some changes, as [`Facts::fork`] does.
    #[must_use]
    pub fn fork(&self, cluster: &Cluster) -> Self {
        Self {
            facts: self.facts.fork(cluster),
        }
    }

    /// Makes `change` part of the cluster of these inputs. Demands stay good for them, unless their claims or classes change.
    pub fn apply(&mut self, change: Change) {
        self.facts.apply(change);
    }

    /// Prepares claims that are to be allocated together, in this order.
    pub fn demand(&self, claims: &[Arc<Claim>]) -> Demand {
        Preparation::new(&self.facts).demand(claims)
    }

    /// Allocates the claims of `demand` on `node`.
    pub fn allocate(&self, node: &Node, demand: &Demand, limits: Limits, observer: &dyn Observer) -> Attempt {
        let views = match self.facts.views(node) {
            Ok(views) => views,
            Err(error) => return Attempt::stopped(error.into()),
        };
        // Every way through the search begins with a device of its own, which no error comes before: none free, none found. In a full
        // cluster these are most nodes.
        let is_full = |view: &Arc<PoolView>| {
            let ends_attempt =
                self.facts.features.release.pool_is_of_node && matches!(view.status, PoolStatus::Invalid(_));
            !view.has_free_devices && !ends_attempt
        };
        if demand.needs_a_free_device && views.iter().all(is_full) {
            return Attempt {
                outcome: does_not_fit(&views),
                certainty: Certainty::Sure,
                steps: 0,
                work: 0,
            };
        }
        let mut problem = match Problem::new(demand, self.facts.features, node, views) {
            Ok(problem) => problem,
            Err(stop) => return Attempt::stopped(stop),
        };
        problem.permutes = limits.plain_steps == limits.steps && problem.features.permutes();
        let (flow, steps, state) = search(&mut problem, limits, observer);
        problem.permutes = false;
        let certainty = order::certainty(&mut problem, flow, &state, limits, observer);
        let looks = problem.work.done();
        self.facts.selectors.meter().search(looks);
        let outcome = match flow {
            Flow::Done => match result::allocations(&problem, &state.picks) {
                Ok(allocations) => Outcome::Allocated(allocations),
                Err(error) => Outcome::Error(error.into()),
            },
            Flow::Fail => does_not_fit(problem.views.as_ref()),
            Flow::Exceeded => Outcome::Error("allocation max size exceeded".to_owned().into()),
            Flow::Error => Outcome::Error(state.error),
            Flow::GaveUp => Outcome::GaveUp,
        };
        Attempt {
            outcome,
            certainty,
            steps,
            work: steps.max(looks / LOOKS_PER_SURVEY),
        }
    }

    fn problem<'a>(&self, node: &'a Node, demand: &'a Demand) -> Result<Problem<'a>, Stop> {
        Problem::new(demand, self.facts.features, node, self.facts.views(node)?)
    }
}

fn does_not_fit(views: &[Arc<PoolView>]) -> Outcome {
    Outcome::DoesNotFit {
        invalid_pools: views
            .iter()
            .any(|view| matches!(view.status, PoolStatus::Invalid(_))),
    }
}

/// Steps that the plain search may take before the pruned one, which needs some preparation, takes over.
const PLAIN_STEPS: u64 = 256;

fn search(problem: &mut Problem<'_>, limits: Limits, observer: &dyn Observer) -> (Flow, u64, State) {
    let first_limit = limits.steps.min(limits.plain_steps);
    let mut search = Search::new(problem, first_limit, observer);
    let flow = search.run();
    let steps = search.steps;
    if flow != Flow::GaveUp || steps <= first_limit || first_limit == limits.steps {
        return (flow, steps, search.state);
    }
    if let Some(mut pruned) = Pruned::new(problem, limits.steps - first_limit, observer) {
        let flow = pruned.run();
        return (flow, steps + pruned.steps, pruned.state);
    }
    let mut search = Search::new(problem, limits.steps - first_limit, observer);
    let flow = search.run();
    (flow, steps + search.steps, search.state)
}

impl Attempt {
    fn stopped(stop: Stop) -> Self {
        let outcome = match stop {
            Stop::Error(error) => Outcome::Error(error),
            Stop::NotTried => Outcome::GaveUp,
        };
        Self {
            outcome,
            certainty: Certainty::Sure,
            steps: 0,
            work: 0,
        }
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
