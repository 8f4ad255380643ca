//! Why a PodGroup is not placed.

use dra_model::Key;
use dra_rules::scheduling::{GroupCycle, GroupResult};

/// Why a PodGroup is not placed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gang {
    /// The group.
    pub group: Key,
    /// Number of its pods that need a node for any to get one.
    pub min_count: usize,
    /// Obstacles.
    pub lacks: GangLacks,
}

/// Reason why a PodGroup is not placed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GangLacks {
    /// Its cycle ends with this error.
    Error(String),
    /// So many fit, the first pod does not, like so many more.
    Fits(usize, Key, usize),
    /// Only so many have a node or can be scheduled.
    Pods(usize),
}

impl Gang {
    /// Of a group that is not placed.
    pub(crate) fn of(cycle: &GroupCycle) -> Self {
        let mut rejected = cycle.rejected();
        let lacks = match (&cycle.result, rejected.next()) {
            (GroupResult::Error(why), _) => GangLacks::Error(why.clone()),
            (_, Some(first)) => GangLacks::Fits(cycle.scheduled, first.pod.key(), rejected.count()),
            (_, None) => GangLacks::Pods(cycle.scheduled + cycle.untried.len()),
        };
        Self {
            group: cycle.group.clone(),
            min_count: cycle.min_count,
            lacks,
        }
    }
}
