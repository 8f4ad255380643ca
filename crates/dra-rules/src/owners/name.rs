//! What owners are called.

use dra_model::{Owner, OwnerReference, Str};

/// Name of an owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
#[display("{kind} {name}")]
pub struct OwnerName {
    /// Its kind.
    pub kind: Str,
    /// Its name.
    pub name: Str,
}

impl From<&Owner> for OwnerName {
    fn from(owner: &Owner) -> Self {
        Self {
            kind: owner.kind.clone(),
            name: owner.key.name.clone(),
        }
    }
}

impl From<&OwnerReference> for OwnerName {
    fn from(owner: &OwnerReference) -> Self {
        Self {
            kind: owner.kind.clone(),
            name: owner.name.clone(),
        }
    }
}
