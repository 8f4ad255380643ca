//! Errors of a text that is not JSON.

use thiserror::Error;

/// Text that is not JSON, or ends too early. Nothing can be read after it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct JsonError {
    /// The line, from 1.
    pub line: u64,
    /// The byte, from 0.
    pub offset: u64,
    /// Kind of error.
    pub kind: JsonErrorKind,
}

/// Kind of error in a text that is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JsonErrorKind {
    /// A byte that cannot stand where it stands.
    #[error("expected {expected}, found `{}`", found.escape_ascii())]
    Unexpected {
        /// The byte.
        found: u8,
        /// Expected tokens.
        expected: &'static str,
    },
    /// The text ends inside of something.
    #[error("the text ends in the middle of {inside}")]
    Truncated {
        /// Enclosing value.
        inside: String,
    },
    /// A list's own metadata is beyond any reason.
    #[error("`{key}` of the list is larger than {limit} bytes")]
    HeadTooLarge {
        /// The member of the list.
        key: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A list whose items are something else.
    #[error("`items` of the list is not an array")]
    ItemsNotAnArray,
}
