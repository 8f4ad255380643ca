//! Device taints: which ones a device has, who tolerates them, and when the others have to go.
//!
//! The rules of kube-controller-manager's taint eviction, as pure functions. Inspection lists their answers; whoever carries
//! evictions out, for real or on a virtual clock, asks the same functions.

mod due;
mod pods;
mod release;
mod rules;
mod status;
mod taints;

pub use due::{Eviction, Tolerance, claim_eviction, due, tolerance};
pub use pods::{consumers, evicting_claims, pod_eviction};
pub use release::{Release, RuleSupport};
pub use rules::{Rules, rule_matches};
pub use status::{
    EVICTION_IN_PROGRESS, NO_EFFECT, RuleCounts, condition_of, count, evicted_so_far, namespaces, pending,
    rule_condition,
};
pub use taints::{DeviceTaint, Origin, Taints, tolerates};

/// The only effect that evicts pods.
pub const NO_EXECUTE: &str = "NoExecute";
/// The effect that keeps new pods off a device, as [`NO_EXECUTE`] does too.
pub const NO_SCHEDULE: &str = "NoSchedule";
