//! The smallest changes that would let a pod run.
//!
//! `change` has the single changes and how each is made in a fork of the cluster, `candidates` finds those that can matter for a node,
//! `search` tries sets of them, smallest first, and proves each by judging the changed cluster. `edit` writes them as operations on the
//! objects that people have.

mod candidates;
mod change;
mod edit;
mod search;

pub use change::{ClassOfFix, Fix, OtherToleration, Rewording};
pub use edit::{Edited, change_of_claim, change_of_pod};
pub use search::{Effort, Fixes, Found, Subject, smallest};

#[cfg(test)]
mod tests;
