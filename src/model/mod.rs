//! The cluster as data: slim objects, their identities, quantities, versions and time.
//!
//! The model knows nothing of where objects come from or how they are shown; it uses no other directory of the crate.

mod text;

pub use text::{Interner, Str};
