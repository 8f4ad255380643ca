//! Reports about replacing reservations with lists of pods: what is planned for each claim, and whether it has been done.
//!
//! The plan is also a file: what `convert plan` prints as JSON is what `convert apply` reads. The decisions are made in
//! `reservation::conversion`; here they get the shape that readers and scripts rely on.

mod claim;
mod cost;
mod groups;
mod options;
mod plan;
mod runbook;
mod verification;
mod words;

pub use claim::{Entry, PlanSummary, PlannedAction, PlannedClaim, Pod};
pub use cost::DowngradeCost;
pub use groups::{Decision, GroupPlan, PodOwner};
pub use options::{PlanOptions, PlanScope, UnknownTarget};
pub use plan::{ConversionPlan, PlanFileError, plan_of, planned, read_plan};
pub use runbook::{ComponentChange, RUNBOOK_NEEDS, Step};
pub use verification::{ConversionVerification, VerificationItem, verification};

use dra_model::Kind;

/// Kinds that both reports need.
pub const CONVERSION_NEEDS: [Kind; 3] = [Kind::ResourceClaim, Kind::Pod, Kind::PodGroup];

#[cfg(test)]
mod tests;
