//! What owners are called.

use dra_model::Str;

/// Name of an owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
#[display("{kind} {name}")]
pub struct OwnerName {
    /// Its kind.
    pub kind: Str,
    /// Its name.
    pub name: Str,
}
