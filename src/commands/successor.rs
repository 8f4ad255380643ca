//! The end of a rehearsal, written to `--out`: a snapshot of what `--from` has, with the objects as they are then.

use crate::context::{Ctx, SourceSetting};
use crate::error::UsageError;
use dra_sources::bundle::Compression;
use dra_sources::destination::{Destination, Readers};
use dra_sources::{Successor, SuccessorError};

/// The arguments of `--from`, which are read a second time when the end is written.
///
/// # Errors
/// When one of them gives what is in it only once.
pub(super) fn read_twice(ctx: &Ctx) -> Result<&[String], UsageError> {
    let SourceSetting::Files(names) = &ctx.settings().source else {
        return Err(UsageError::new("`--out` needs `--from`"));
    };
    for name in names {
        let path = std::path::Path::new(name);
        let why = if name == "-" {
            "standard input can be read only once".to_owned()
        } else if path.exists() && !path.is_file() && !path.is_dir() {
            format!("`{name}` is not a regular file")
        } else {
            continue;
        };
        let error = UsageError::new(format!("`--out` reads the files of `--from` twice, but {why}"));
        return Err(error.hint("save the input to a file first"));
    }
    Ok(names)
}

/// Writes the end, for `readers` where it becomes a file. Returns the number of objects.
///
/// # Errors
/// When the files cannot be read again, the end cannot be written, or would not be what it should.
pub(super) fn write(
    ctx: &Ctx,
    successor: &Successor<'_>,
    out: &Destination,
    readers: Readers,
) -> anyhow::Result<u64> {
    let mut snapshot = successor
        .snapshot(&out.folder(), Compression::of_destination(out))
        .map_err(|error| match error {
            SuccessorError::Load(error) => anyhow::Error::from(error),
            SuccessorError::Snapshot(error) => error.into(),
            SuccessorError::Changed(_) | SuccessorError::Unlike { .. } => error.into(),
        })?;
    let objects = snapshot.info().lists.iter().map(|list| list.count).sum();
    match out {
        Destination::Stdout => ctx.printer().json(|out| snapshot.copy_to(out))?,
        Destination::File(file) => snapshot.save(file, readers)?,
    }
    Ok(objects)
}
