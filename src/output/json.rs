//! JSON as kubectl prints it: four spaces, one document, a line feed at its end. Or a line for each document.

use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::PrettyFormatter;

/// Writes `value` to `out`.
pub(super) fn to_writer<T: Serialize>(out: &mut dyn io::Write, value: &T) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(&mut *out, PrettyFormatter::with_indent(b"    "));
    // The conversion keeps the kind of an I/O error, which identifies a closed pipe.
    value.serialize(&mut serializer).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// Writes `value` to `out` in one line.
pub(super) fn to_line<T: Serialize>(out: &mut dyn io::Write, value: &T) -> io::Result<()> {
    value
        .serialize(&mut Serializer::new(&mut *out))
        .map_err(io::Error::from)?;
    out.write_all(b"\n")
}
