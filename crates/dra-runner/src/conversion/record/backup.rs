//! The backup: the claims as they were, as one `kind: List` that is replaced as a whole.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{RecordError, file, foreign, regular};
use dra_model::{Str, json};
use dra_sources::destination::{Destination, Readers};

/// The claims of a backup. An empty file has none.
///
/// # Errors
/// When the file cannot be read, or is no backup.
pub fn read_backup(path: &Path) -> Result<Vec<Box<RawValue>>, RecordError> {
    regular(path)?;
    let mut text = Vec::new();
    File::open(path)
        .and_then(|mut file| file.read_to_end(&mut text))
        .map_err(|source| file("read", path, source))?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let backup: Backup = json::from_slice(&text).map_err(|error| foreign(path, error.to_string()))?;
    if backup.api_version != "v1" || backup.kind != "List" {
        let what = format!(
            "expected a `List` of `v1`, found a `{}` of `{}`",
            backup.kind, backup.api_version
        );
        return Err(foreign(path, what));
    }
    for claim in &backup.items {
        uid_of(claim, path)?;
    }
    Ok(backup.items)
}

/// A `kind: List`, which kubectl and `--from` read.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Backup {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) items: Vec<Box<RawValue>>,
}

/// Replaces a file so that it is there as a whole or as it was.
pub(super) fn save(path: &Path, backup: &Backup) -> Result<(), RecordError> {
    let Destination::File(file) = Destination::of(path)? else {
        return Err(RecordError::NoFile {
            path: path.to_owned(),
            what: "standard output",
        });
    };
    if !file.is_regular() {
        regular(path)?;
    }
    file.write(Readers::Owner, |out| {
        serde_json::to_writer(&mut *out, backup)?;
        out.write_all(b"\n")
    })?;
    Ok(())
}

pub(super) fn uid_of(claim: &RawValue, path: &Path) -> Result<Str, RecordError> {
    #[derive(Deserialize)]
    struct Claim {
        #[serde(default)]
        kind: Str,
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        uid: Str,
    }
    let claim: Claim = json::from_str(claim.get())
        .map_err(|error| foreign(path, format!("an item is not a claim: {error}")))?;
    if claim.kind != "ResourceClaim" || claim.metadata.uid.is_empty() {
        return Err(foreign(path, "an item is not a claim".to_owned()));
    }
    Ok(claim.metadata.uid)
}
