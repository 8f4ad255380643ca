//! The one way out: everything that is printed on stdout or stderr goes through a [`Gate`].
//!
//! A gate takes text and tones, never escape sequences. On a terminal it shows whatever the terminal would obey, so the only control
//! bytes that leave it are line feeds and the colours that it puts in itself. So no caller has to remember to escape: one that does so
//! earlier, to know how wide a text will be, loses nothing, since what is escaped is plain text. Other streams get text as it is.

use std::borrow::Cow;
use std::io::{self, Read as _, Write};

use super::sanitize::{self, Notation};
use super::styles::{Styles, Tone};

/// A stream while something is printed on it.
pub(super) struct Gate<'a> {
    out: &'a mut dyn Write,
    styles: Styles,
    terminal: bool,
}

impl<'a> Gate<'a> {
    pub(super) fn new(out: &'a mut dyn Write, styles: Styles, terminal: bool) -> Self {
        Self {
            out,
            styles,
            terminal,
        }
    }

    /// Returns whether the output is a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// `text` as it will be seen.
    pub(super) fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.terminal {
            sanitize::for_terminal(text)
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Prints text. Line feeds in it end lines.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        let shown = self.shown(text);
        self.out.write_all(shown.as_bytes())
    }

    /// Prints text in a tone.
    pub(super) fn toned(&mut self, tone: Tone, text: &str) -> io::Result<()> {
        let shown = self.shown(text);
        self.out.write_all(self.styles.paint(tone, &shown).as_bytes())
    }

    /// Prints so many spaces.
    pub(super) fn pad(&mut self, count: usize) -> io::Result<()> {
        // A width of the formatter has 16 bits.
        io::copy(&mut io::repeat(b' ').take(count as u64), self.out).map(drop)
    }

    /// Prints what `write` writes, a document in the format that has `notation` for characters which must not be there.
    pub(super) fn document(
        &mut self,
        notation: Notation,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.terminal {
            return write(self.out);
        }
        let mut document = Vec::new();
        write(&mut document)?;
        let text = String::from_utf8_lossy(&document);
        self.out
            .write_all(sanitize::for_document(&text, notation).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::styles::{Color, ColorWish};
    use super::*;

    fn printed(terminal: bool, print: impl FnOnce(&mut Gate<'_>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        let styles = Styles::decide(Color::Always, ColorWish::default(), terminal);
        print(&mut Gate::new(&mut out, styles, terminal)).expect("memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn colours_pass_and_what_imitates_them_does_not() {
        let hostile = "\u{1b}[31mred\u{1b}[0m\t\u{9b}1m";
        let shown = "^[[31mred^[[0m\\t\\u{9b}1m";
        assert_eq!(printed(true, |gate| gate.text(hostile)), shown);
        assert_eq!(
            printed(true, |gate| gate.toned(Tone::Bad, hostile)),
            format!("\u{1b}[31m{shown}\u{1b}[0m")
        );
        assert_eq!(printed(false, |gate| gate.text(hostile)), hostile);
    }

    #[test]
    fn a_document_that_comes_in_pieces_is_the_same() {
        let text = "{\"a\": \"ü\u{9b}31m\u{e0041}\"}\n".as_bytes();
        for size in 1..text.len() {
            let seen = printed(true, |gate| {
                gate.document(Notation::Json, |out| {
                    text.chunks(size).try_for_each(|piece| out.write_all(piece))
                })
            });
            assert_eq!(seen, "{\"a\": \"ü\\u009b31m\\udb40\\udc41\"}\n", "{size}");
        }
        let seen = printed(true, |gate| {
            gate.document(Notation::Json, |out| out.write_all(b"a\xff\xc3(\xe2\x82"))
        });
        assert_eq!(seen, "a\u{fffd}\u{fffd}(\u{fffd}");
    }

    proptest! {
        #[test]
        fn nothing_of_control_leaves_it(bytes in prop::collection::vec(any::<u8>(), 0..60), size in 1_usize..9) {
            let text = String::from_utf8_lossy(&bytes);
            let seen = [
                printed(true, |gate| gate.text(&text)),
                printed(true, |gate| gate.document(Notation::Yaml, |out| {
                    bytes.chunks(size).try_for_each(|piece| out.write_all(piece))
                })),
            ];
            for seen in seen {
                prop_assert!(!seen.contains(|c: char| c.is_control() && c != '\n'), "{seen:?}");
            }
        }
    }
}
