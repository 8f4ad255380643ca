//! Objects on their way to another thread.

use std::borrow::Cow;

use super::item::{Origin, RawItem};
use super::list_head::ListHead;
use crate::needs::Problem;

/// Something found in a source.
#[derive(Debug, Clone)]
pub enum Found<'a> {
    /// A complete object, not decoded.
    Item(RawItem<'a>),
    /// The end of a list, whose items came before.
    List {
        /// Metadata of the list.
        head: Cow<'a, ListHead>,
        /// Source.
        origin: Origin,
    },
    /// Something that was meant to be an object and cannot be used. The caller decides whether that is fatal.
    Problem {
        /// The problem.
        problem: Problem,
        /// `apiVersion` and `kind` of the object, if they can be determined although the rest is unusable.
        head: Option<(String, String)>,
    },
}

/// Objects, list heads and problems in the order they were read, which can be sent to another thread.
#[derive(Debug, Default)]
pub struct ItemBatch {
    /// Everything in it.
    pub found: Vec<Found<'static>>,
    /// The bytes of its items.
    pub bytes: usize,
    /// Bytes of files that had been read when the batch was full, as far as they are counted.
    pub read: u64,
}

impl ItemBatch {
    /// Adds what was found.
    pub fn push(&mut self, found: Found<'_>) {
        self.found.push(match found {
            Found::Item(item) => {
                let item = item.into_owned();
                self.bytes += item.json.len();
                Found::Item(item)
            }
            Found::List { head, origin } => Found::List {
                head: Cow::Owned(head.into_owned()),
                origin,
            },
            Found::Problem { problem, head } => Found::Problem { problem, head },
        });
    }

    /// The memory that it takes: small items take more than their bytes.
    pub fn memory(&self) -> usize {
        self.bytes + self.found.len() * size_of::<Found<'_>>()
    }
}
