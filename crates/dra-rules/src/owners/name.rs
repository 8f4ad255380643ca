//! What owners are called.

use std::fmt;

use dra_model::Str;

/// Name of an owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerName {
    /// Its kind.
    pub kind: Str,
    /// Its name.
    pub name: Str,
}

impl fmt::Display for OwnerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}
