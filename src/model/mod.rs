//! The cluster as data: slim objects, their identities, quantities, versions and time.
//!
//! The model knows nothing of where objects come from or how they are shown; it uses no other directory of the crate.

mod attribute;
mod quantity;
mod quote;
mod semver;
mod text;

pub use attribute::AttributeValue;
pub use quantity::{Format, Quantity, QuantityError};
pub use quote::go_quote;
pub use semver::{Semver, SemverError};
pub use text::{Interner, Str};
