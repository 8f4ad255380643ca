//! How a word is written for a shell, so that it is exact there and safe on the terminal that it is read on.
//!
//! | A word of | is written |
//! |---|---|
//! | letters, digits and `-._/:=,@+%` of ASCII, no `=` in front | as it is |
//! | other printable characters of ASCII too | in single quotes, `'` as `'\''` |
//! | anything else: control and invisible characters, all beyond ASCII | `begin"$(printf '\303\244')"`: a line of printable ASCII |
//!
//! A line of the last kind has nothing a terminal acts on, nothing that looks like something else, and, as every byte that is not in the
//! first row is an octal escape, nothing that a shell's history or `printf` would take for something of its own. `$(…)` drops line feeds
//! at its end, so a word that ends in one is never written; [`Command`](super::Command) refuses it.

use std::fmt;

/// A word as written in a line for a POSIX shell.
pub(super) struct Quoted<'w>(pub(super) &'w str);

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._/:=,@+%".contains(&byte)
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.0;
        // Some shells look up what follows a `=`.
        let begins_plain = !word.starts_with('=');
        let plain = word
            .bytes()
            .position(|byte| !is_plain(byte))
            .unwrap_or(word.len());
        if begins_plain && plain == word.len() && !word.is_empty() {
            return f.write_str(word);
        }
        if word.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return write!(f, "'{}'", word.replace('\'', r"'\''"));
        }
        let (begin, rest) = word.split_at(if begins_plain { plain } else { 0 });
        write!(f, "{begin}\"$(printf '")?;
        for byte in rest.bytes() {
            // A format that begins with a dash could be an option, and one with a percent sign a conversion.
            if byte != b'%' && byte != b'=' && is_plain(byte) {
                write!(f, "{}", char::from(byte))?;
            } else {
                write!(f, "\\{byte:03o}")?;
            }
        }
        f.write_str("')\"")
    }
}
