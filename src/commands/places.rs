//! Files that one command line names to be written: they must not be those that it reads, and no two may be the same.

use std::path::Path;

use crate::context::{Ctx, SourceSetting};
use crate::error::UsageError;
use dra_sources::destination::{Destination, DestinationError, FileIdentity};
use dra_sources::files_read;

/// A file that is read, with what to call it.
pub(super) type Read = (String, FileIdentity);

/// A file that is about to be written, with the flag that names it.
pub(super) type Written = (&'static str, FileIdentity);

/// The file of a flag, if it is one.
pub(super) fn written(flag: &'static str, destination: &Destination) -> Option<Written> {
    destination.identity().map(|file| (flag, file))
}

/// The file of a flag, possibly in a directory that does not exist yet, that must keep its content.
///
/// # Errors
/// When it discards its content.
pub(super) fn record(flag: &'static str, path: &Path) -> anyhow::Result<Option<Written>> {
    match Destination::of(path) {
        Ok(Destination::File(file)) if file.is_regular() => {}
        Ok(_) => {
            let error = UsageError::new(format!(
                "`{flag}` names `{}`, which discards its content",
                path.display()
            ));
            return Err(error.hint("name a regular file").into());
        }
        // The directory is created before the first write.
        Err(DestinationError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    Ok(FileIdentity::of(path).map(|file| (flag, file)))
}

/// Refuses what would be overwritten while or after it is read.
///
/// # Errors
/// When a file that is written is one of `read`, or another one that is written.
pub(super) fn check(written: impl IntoIterator<Item = Written>, read: &[Read]) -> Result<(), UsageError> {
    let mut before: Vec<Written> = Vec::new();
    for (flag, file) in written {
        if let Some((name, _)) = read.iter().find(|(_, read)| *read == file) {
            let error = UsageError::new(format!("`{flag}` would overwrite the input {name}"));
            return Err(error.hint("name another file to write"));
        }
        if let Some((other, _)) = before.iter().find(|(_, other)| *other == file) {
            let error = UsageError::new(format!("`{other}` and `{flag}` name the same file"));
            return Err(error.hint("use different files"));
        }
        before.push((flag, file));
    }
    Ok(())
}

/// The file of `--out`, if there is one, which must not be one that is read, or else standard output.
pub(super) fn out(ctx: &Ctx, file: Option<&Path>) -> anyhow::Result<Destination> {
    let out = file.map_or(Ok(Destination::Stdout), Destination::of)?;
    let read = [from(ctx), connection(ctx)].concat();
    check(written("--out", &out), &read)?;
    Ok(out)
}

/// Returns what `--from` reads.
pub(super) fn from(ctx: &Ctx) -> Vec<Read> {
    let SourceSetting::Files(names) = &ctx.settings().source else {
        return Vec::new();
    };
    let files = files_read(names).into_iter();
    files
        .map(|(name, file)| (format!("`--from {name}`"), file))
        .collect()
}

/// Returns what is read to reach the cluster.
pub(super) fn connection(ctx: &Ctx) -> Vec<Read> {
    let SourceSetting::Cluster(connection) = &ctx.settings().source else {
        return Vec::new();
    };
    let files = connection.files().into_iter();
    files
        .filter_map(|path| {
            Some((
                format!("`{}` to reach the cluster", path.display()),
                FileIdentity::of(&path)?,
            ))
        })
        .collect()
}

/// A file that a flag names to be read; `-` is standard input.
pub(super) fn named(flag: &str, path: &Path) -> Option<Read> {
    let file = if path == Path::new("-") {
        FileIdentity::of_stdin()
    } else {
        FileIdentity::of(path)
    };
    Some((format!("`{flag} {}`", path.display()), file?))
}
