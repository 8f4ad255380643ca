//! Who makes pods: the controllers above a pod, and whether a pod that goes comes back.

mod lineage;
mod replacing;

pub use lineage::{Kinship, Lineage, OwnerName};
pub use replacing::{Replacing, comes_back};
