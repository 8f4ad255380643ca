//! Device taints: which ones a device has, who tolerates them, and when the others have to go.
//!
//! The rules of kube-controller-manager's taint eviction, as pure functions. Inspection lists their answers; whoever carries
//! evictions out, for real or on a virtual clock, asks the same functions.

mod due;
mod taints;

pub use due::{Eviction, Tolerance, claim_eviction, due, tolerance};
pub use taints::{DeviceTaint, Origin, Taints, rule_matches, tolerates};

/// The only effect that evicts pods.
pub const NO_EXECUTE: &str = "NoExecute";
/// The effect that keeps new pods off a device, as [`NO_EXECUTE`] does too.
pub const NO_SCHEDULE: &str = "NoSchedule";
