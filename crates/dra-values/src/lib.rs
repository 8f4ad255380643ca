//! Values of the Kubernetes API as it reads, compares and prints them: quantities, versions, times, names, texts.
//!
//! `decode`, `repeated` and `json` read them from JSON in the API's manner, where `null` is an absent field and a list is no object, and let
//! equal texts of one source share their memory. A [`Meter`] counts what is computed with them.

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests read what they made")
)]

mod attribute;
pub mod decode;
pub mod json;
mod meter;
pub mod names;
mod quantity;
mod quote;
mod repeated;
mod semver;
mod similar;
mod text;
mod time;

pub use attribute::AttributeValue;
pub use decode::{UnknownFields, lookup, with_interner};
pub use meter::{Meter, TOO_MANY_LOOKS, TOO_MUCH_SEARCH, TOO_MUCH_WORK};
pub use quantity::{Format, Quantity, QuantityError};
pub use quote::go_quote;
pub use repeated::{Part, Repeated};
pub use semver::{Semver, SemverError};
pub use similar::is_similar;
pub use text::{Interner, Str, by_number};
pub use time::Time;
