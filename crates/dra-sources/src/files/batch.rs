//! Objects on their way to another thread.

use std::ops::Range;

use super::item::{Format, Origin, RawItem};
use super::list_head::ListHead;
use crate::needs::Problem;

/// Objects, list heads and problems in the order they were read, in one buffer that can be sent to another thread.
#[derive(Debug, Clone, Default)]
pub struct ItemBatch {
    /// The text of all items, one after the other.
    buffer: Vec<u8>,
    entries: Vec<Entry>,
    /// Bytes of files that had been read when the batch was full, as far as they are counted.
    pub read: u64,
}

#[derive(Debug, Clone)]
enum Entry {
    Item {
        range: Range<usize>,
        api_version: Option<Box<str>>,
        kind: Option<Box<str>>,
        listed_as: Option<Box<str>>,
        origin: Origin,
        format: Format,
    },
    List {
        head: Box<ListHead>,
        origin: Origin,
    },
    Problem {
        problem: Problem,
        head: Option<(String, String)>,
    },
}

/// Something found in a source.
#[derive(Debug, Clone)]
pub enum Found<'a> {
    /// A complete object, not decoded.
    Item(RawItem<'a>),
    /// The end of a list, whose items came before.
    List {
        /// Metadata of the list.
        head: &'a ListHead,
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

impl ItemBatch {
    /// Adds what was found.
    pub fn push(&mut self, found: Found<'_>) {
        let entry = match found {
            Found::Item(item) => {
                let start = self.buffer.len();
                append_without_indentation(&mut self.buffer, item.json);
                Entry::Item {
                    range: start..self.buffer.len(),
                    api_version: item.api_version.map(Box::from),
                    kind: item.kind.map(Box::from),
                    listed_as: item.listed_as.map(Box::from),
                    origin: item.origin,
                    format: item.format,
                }
            }
            Found::List { head, origin } => Entry::List {
                head: Box::new(head.clone()),
                origin,
            },
            Found::Problem { problem, head } => Entry::Problem { problem, head },
        };
        self.entries.push(entry);
    }

    /// Everything in it, in order.
    pub fn iter(&self) -> impl Iterator<Item = Found<'_>> {
        self.entries.iter().map(move |entry| match entry {
            Entry::Item {
                range,
                api_version,
                kind,
                listed_as,
                origin,
                format,
            } => Found::Item(RawItem {
                json: self.buffer.get(range.clone()).unwrap_or_default(),
                api_version: api_version.as_deref(),
                kind: kind.as_deref(),
                listed_as: listed_as.as_deref(),
                origin: origin.clone(),
                format: *format,
            }),
            Entry::List { head, origin } => Found::List {
                head,
                origin: origin.clone(),
            },
            Entry::Problem { problem, head } => Found::Problem {
                problem: problem.clone(),
                head: head.clone(),
            },
        })
    }

    /// The number of things in it.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes of its items.
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// The memory that it takes: small items take more than their bytes.
    pub fn memory(&self) -> usize {
        self.bytes() + self.len() * size_of::<Entry>()
    }

    /// Empties it and keeps its memory, unless one large object has made that much.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(1 << 20);
        self.entries.clear();
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
