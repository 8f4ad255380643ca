//! Text as the stream of characters that the YAML parser takes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::files::error::ReadError;
use crate::files::options::Limits;
use crate::files::text::{PIECE, Text};

/// State shared by the character source and the event reader. The parser is between them.
#[derive(Default)]
pub(super) struct Shared {
    /// Set when the characters ended before the text did.
    pub(super) failed: Cell<bool>,
    pub(super) error: RefCell<Option<ReadError>>,
    /// Pieces of text that went into the parser since its last event.
    pub(super) pieces: Cell<usize>,
    /// True while the parser looks for the next document.
    pub(super) stepping_over: Cell<bool>,
}

/// The characters of a text.
pub(super) struct Chars {
    text: Text,
    position: usize,
    piece_limit: usize,
    shared: Rc<Shared>,
}

impl Iterator for Chars {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        loop {
            let piece = self.text.piece();
            match piece.as_bytes().get(self.position).copied() {
                Some(byte) if byte.is_ascii() => {
                    self.position += 1;
                    return Some(char::from(byte));
                }
                Some(_) => {
                    let next = piece.get(self.position..)?.chars().next()?;
                    self.position += next.len_utf8();
                    return Some(next);
                }
                None if !self.refill() => return None,
                None => {}
            }
        }
    }
}

impl Chars {
    /// The characters of `text` from the given position of its current piece on.
    pub(super) fn new(text: Text, position: usize, limits: &Limits, shared: Rc<Shared>) -> Self {
        Self {
            text,
            position,
            piece_limit: limits.item_bytes / PIECE + 2,
            shared,
        }
    }

    #[cold]
    fn refill(&mut self) -> bool {
        if self.shared.failed.get() {
            return false;
        }
        // A value that does not end is collected by the parser, which has no limit on it.
        self.shared.pieces.set(self.shared.pieces.get() + 1);
        if self.shared.pieces.get() > self.piece_limit && !self.shared.stepping_over.get() {
            self.shared.failed.set(true);
            return false;
        }
        self.position = 0;
        match self.text.advance() {
            Ok(more) => more,
            Err(error) => {
                *self.shared.error.borrow_mut() = Some(error);
                self.shared.failed.set(true);
                false
            }
        }
    }
}
