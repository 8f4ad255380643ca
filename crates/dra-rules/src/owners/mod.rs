//! Owners of pods: the controllers above a pod, whether a deleted pod is recreated, and their messages while there is no pod.

mod budgets;
mod ending;
mod gathering;
mod grouped;
mod lineage;
mod name;
mod queued;
mod replacing;
mod rollout;

pub use budgets::guard;
pub(crate) use budgets::{is_selected, losses};
pub use ending::{Ending, restarted_with};
pub(crate) use ending::{Turn, turn};
pub use gathering::{
    Incomplete, gathered_with, gathering, gathers_nodes, incomplete, names_domain, too_few_pods,
    unread_domain, unready, waiting_for,
};
pub use grouped::{GroupWord, ShutQueue, shut_queue, unplaced_group};
pub use lineage::{Kinship, LEADER_WORKER_SET, Lineage};
pub use name::OwnerName;
pub use queued::{KUEUE, POD_GROUP, PREBUILT, Queued, Retry, is_queued};
pub use replacing::{
    Replacing, comes_back, complaint, fails_with, is_superseded, refused_last, replacement, superseding,
};
pub use rollout::{Rollout, is_ready, is_starting};
