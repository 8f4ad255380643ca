//! From a pod to the nodes that can take it: the plain filters of the scheduler in its order, and what its plugin for dynamic
//! resources checks around the allocator.
//!
//! - `claims`, `extended`, `binding`: what the plugin knows of a pod's claims;
//! - `plain`, `requests`: the filters before it;
//! - `cycle`: from a pod to a verdict for each node;
//! - `verdict`: what such an answer can be;
//! - `message`: what the scheduler says when none fits;
//! - `said`: what it says of filters that are not simulated;
//! - `preemption`: pods that it ends for others;
//! - `node_share`, `node_fit`: what devices take of the resources of their node, and whether it has enough;
//! - `parallel`: many nodes on the caller's threads;
//! - `locality`: the part of a cluster that determines one node's verdict;
//! - `queue`: pods that come before others, and pods that make room for them;
//! - `daemons`: the pods of a DaemonSet;
//! - `placement`: what the cluster looks like afterwards;
//! - `given_up`: what the scheduler deallocates automatically;
//! - `group`: PodGroups, whose members are placed together;
//! - `assumptions`: gates without evidence, and the effect of the other value;
//! - `bugs`: known bugs of kube-scheduler, and what exposes a cluster to them;
//! - `doubts`, `profiles`: what else keeps an answer from being the scheduler's own, and whose it is;
//! - `score`: how the plugin ranks nodes;
//! - `unlike`: schedulers that the rules here do not fit;
//! - `what_if`: hypothetical changes;
//! - `new_node`: whether one more node would help;
//! - `fixes`: the smallest changes that would help;
//! - `waiting`: whether waiting for other pods to finish helps.

mod assumptions;
mod binding;
mod bugs;
mod claims;
mod crowded;
mod cycle;
mod daemons;
mod doubts;
mod extended;
mod fixes;
mod given_up;
mod group;
mod locality;
mod message;
mod near;
mod new_node;
mod node_fit;
mod node_share;
mod parallel;
mod placement;
mod plain;
mod preemption;
mod profiles;
mod queue;
mod requests;
mod said;
mod score;
mod spared;
mod unlike;
mod verdict;
mod waiting;
mod what_if;

pub use assumptions::{AssumedGate, Hanging};
pub use binding::{BINDING_TIMEOUT, DeviceBinding, Readiness, binding_timed_out, readiness, unmet_text};
pub use bugs::{
    Bug, Exposure, Harm, KnownBug, Panic, Skips, exposures, fixed_in, of_kubelet, of_placed, of_rejected,
    skips, vendor,
};
pub use claims::{ClaimProblem, PodClaims, RequestProblem, check_requests, pod_claims};
pub use crowded::{TooManyCpus, too_many_cpus};
pub use cycle::{Cycle, Scheduler, ShortGang, Start};
pub use daemons::{daemon_pods, daemon_tolerations};
pub use doubts::{disagreeing_pools, doubts, orders};
pub use extended::{
    IN_MEMORY_CLAIM, Unoffered, classes_of_resources, drivers_named, implicit_class, is_extended,
    is_waited_for, unoffered,
};
pub use fixes::{
    ClassOfFix, Edited, Effort, Fix, Fixes, Found, OtherToleration, Rewording, Subject, change_of_claim,
    change_of_pod, smallest,
};
pub use given_up::remaining_consumers;
pub use group::{GroupCycle, GroupResult, Judging, Members, Turn};
pub use locality::Localities;
pub use message::{Message, has_cleaned_up, message, message_of_obstacle, releasable, unavailable};
pub use near::Near;
pub use new_node::{HOSTNAME, fits_on_new};
pub use parallel::{Run, in_order, judge_all};
pub use placement::{GenerateError, allocate, generate_claims, place, release, remove_pod};
pub use plain::{
    Lack, Plain, PlainFilters, keeps_pods_off, marked_for_removal, matches_affinity, not_simulated,
    port_in_use, tells_removal, tells_unfit, unfit_taint, update as update_of,
};
pub use preemption::{preemptors, victims};
pub use profiles::{foreign_scheduler, other_scheduler};
pub use queue::{MOST_AHEAD, ahead, makes_room};
pub(crate) use requests::is_sidecar;
pub use requests::{Amounts, Usage, allocatable, pod_requests};
pub use said::{Rejection, Unsimulated, is_outdated, rejections};
pub use score::{BEST_SCORE, SCORE_WEIGHT, normalized};
pub use spared::{Spared, spared};
pub use unlike::unlike;
pub use verdict::{Granted, Judgment, NoUse, Obstacle, Refusal, Stage, Unavailable, Verdict};
pub use waiting::{Consumer, Ends, Kept, KeptConsumers, Uncertain, Waiting, emptied, waiting};
pub use what_if::{DevicePattern, TaintDevices, Untaint, WhatIf, WhatIfError};

#[cfg(test)]
mod tests;
