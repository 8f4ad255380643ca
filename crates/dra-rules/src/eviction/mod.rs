//! Evictions by device taints: how long a taint is tolerated, and when the pods of a claim are evicted.
//!
//! The rules of kube-controller-manager's taint eviction, as pure functions. Inspection lists their answers; evictions,
//! real or on a virtual clock, use the same functions.

mod disruption;
mod due;
mod pods;
mod release;
mod status;
mod timescale;

pub use disruption::{DISRUPTION_TARGET, MARKED, disruption, eviction_of};
pub use due::{
    Eviction, LONGEST_TOLERATION, Tolerance, claim_eviction, claim_eviction_by, due, evicting_taint,
    has_to_go, has_to_go_by, lacks_effect, tolerance,
};
pub use pods::{consumers, evicted_despite_request, evicting_claims, passed_over, pod_eviction};
pub use release::{EvictingClaims, Release, rules_are_guessed};
pub use status::{
    EVICTION_IN_PROGRESS, RuleCounts, condition_of, count, evicted_so_far, namespaces, pending,
    rule_condition,
};
pub use timescale::{ClockStep, Timescale};
