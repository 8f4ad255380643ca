//! Objects on their way to another thread.

use std::borrow::Cow;
use std::ops::Range;

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
    /// The text of all items, one after the other: an allocation for each of them would take a fifth of the time.
    buffer: Vec<u8>,
    /// Everything in it, and where in the buffer its text is.
    found: Vec<(Found<'static>, Range<usize>)>,
    /// Bytes of files that had been read when the batch was full, as far as they are counted.
    pub read: u64,
}

impl ItemBatch {
    /// Adds what was found.
    pub fn push(&mut self, found: Found<'_>) {
        let start = self.buffer.len();
        let found = match found {
            Found::Item(item) => {
                append_without_indentation(&mut self.buffer, &item.json);
                Found::Item(item.without_text())
            }
            Found::List { head, origin } => Found::List {
                head: Cow::Owned(head.into_owned()),
                origin,
            },
            Found::Problem { problem, head } => Found::Problem { problem, head },
        };
        self.found.push((found, start..self.buffer.len()));
    }

    /// Everything in it, in order.
    pub fn drain(&mut self) -> impl Iterator<Item = Found<'_>> {
        let Self { buffer, found, .. } = self;
        found.drain(..).map(|(mut found, range)| {
            if let Found::Item(item) = &mut found {
                item.json = Cow::Borrowed(buffer.get(range).unwrap_or_default());
            }
            found
        })
    }

    /// The number of things in it.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Returns whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The bytes of its items.
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// The memory that it takes: small items take more than their bytes.
    pub fn memory(&self) -> usize {
        self.bytes() + self.len() * size_of::<Found<'_>>()
    }

    /// Empties it and keeps its memory, unless one large object has made that much.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(1 << 20);
        self.found.clear();
    }
}

/// Appends `json` with every line feed and without the spaces behind them, which are half of what kubectl prints.
///
/// No text in JSON contains a line feed, so that nothing but space between values goes, and each value stays in its line.
fn append_without_indentation(buffer: &mut Vec<u8>, json: &[u8]) {
    let mut rest = json;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let (line, behind) = rest.split_at(end + 1);
        buffer.extend_from_slice(line);
        rest = without_spaces(behind);
    }
    buffer.extend_from_slice(rest);
}

fn without_spaces(mut text: &[u8]) -> &[u8] {
    const SPACES: [u8; 8] = [b' '; 8];
    while let Some(rest) = text.strip_prefix(&SPACES) {
        text = rest;
    }
    while let Some(rest) = text.strip_prefix(b" ") {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_goes_and_lines_and_texts_stay() {
        let json = b"{\n          \"a\": [\n  \t 1,\n\n         \" \\n    b\"  ]\n }";
        let mut buffer = b"before".to_vec();
        append_without_indentation(&mut buffer, json);
        assert_eq!(buffer, b"before{\n\"a\": [\n\t 1,\n\n\" \\n    b\"  ]\n}");
    }
}
