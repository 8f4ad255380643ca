//! Future of a cluster: its controllers, kubelets and owners of pods on a virtual clock.
//!
//! A [`World`] holds a fork of a [`Cluster`](dra_model::Cluster) and the controllers' state machines. It carries out what they
//! want as the API server would, tells them what changed, and moves its clock from one due time to the next: nothing takes any time
//! but what is waited for on purpose. What happens is written down as a timeline of [`Happening`]s.
//!
//! What is not in the cluster is modelled: pods end when their grace period does, and owners replace pods as
//! [`Replacing`](crate::owners::Replacing) says. Where replacements fit is asked of a [`Scheduler`], which the caller brings.

mod api;
mod dry_run;
mod hypothesis;
mod missed;
mod nodes;
mod otherwise;
mod reason;
mod record;
mod rehearsal;
mod replacement;
mod report;
mod size;
mod timeline;
mod world;

pub use dry_run::DryRun;
pub use hypothesis::{DeviceChoice, HypothesisError, drivers_selected, put_rule, rules_for, selects_any};
pub use missed::{MissedPod, PASSED_OVER};
pub use otherwise::assumed_gates;

pub use reason::{DeviceReference, ReasonItem};
pub use report::{
    BudgetItem, ClaimItem, EventItem, EvictionReport, Fit, OwnerItem, PodItem, PodVerdict, ReplacementItem,
    RuleItem, StatusItem, Tolerated, TolerationItem, report,
};
pub use size::too_much_to_simulate;
pub use timeline::{EventType, Happening, What};
pub use world::{Placement, Scheduler, World};

#[cfg(test)]
mod tests;
