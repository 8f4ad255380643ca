//! Faults of single objects, whatever they are written in. What comes after them can be read.

use thiserror::Error;

/// The reason why something in the place of an object cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum Fault {
    #[error("not an object")]
    NotAnObject,
    #[error("key `{key}` appears twice")]
    RepeatedKey { key: String },
    #[error("a key is null")]
    NullKey,
    #[error("key `{number}` is out of range")]
    KeyTooLarge { number: u64 },
    #[error("a key is a mapping or a sequence")]
    ComplexKey,
    #[error("infinity and not-a-number have no JSON form")]
    NotFinite,
    #[error("`{text}` is not a value of `!!{tag}`")]
    WrongTag { text: String, tag: String },
    #[error("`!!binary` is not supported: write the base64 text without the tag")]
    Binary,
    #[error("alias `*{name}` has no anchor")]
    UnknownAnchor { name: String },
    #[error("an alias refers to a value that contains it, or that could not be read")]
    UnfinishedAnchor,
    #[error("anchors and aliases add more than {limit} bytes to the document")]
    TooManyAliases { limit: usize },
    #[error("`<<` needs a mapping or a sequence of mappings")]
    MergeNotMapping,
    #[error("`<<` cannot stand next to `items`")]
    MergeInList,
    #[error("more than {limit} values in one object")]
    TooManyValues { limit: usize },
    #[error("larger than the {limit} bytes an object may have")]
    TooLarge { limit: usize },
    #[error("nested more than {limit} levels deep")]
    TooDeep { limit: u32 },
    #[error("`items` of the list is not a sequence")]
    ItemsNotASequence,
}
