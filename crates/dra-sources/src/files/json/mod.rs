//! JSON as the API server and kubectl write it: lists and single objects, cut into objects without decoding them.
//!
//! [`JsonItems`] takes the text in pieces as they come from a file or a connection and returns one complete object
//! after the other. The content of an object is left to the decoder.

mod capture;
mod error;
mod items;
mod limits;
mod probe;
mod skip;
#[cfg(test)]
mod tests;

pub use error::{JsonError, JsonErrorKind};
pub use items::{Feed, JsonEvent, JsonItem, JsonItems};
pub use limits::JsonLimits;
pub(crate) use probe::{
    Members, Named, has_items, has_odd_items, head, leading_head, name, named, repeated_head,
};
