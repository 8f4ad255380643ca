//! The backup: the claims as they were, as one `kind: List` that is replaced as a whole.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{RecordError, file};
use crate::model::Str;
use crate::sources::destination::{Destination, Readers};

/// The claims of a backup.
///
/// # Errors
/// When the file cannot be read, or is no backup.
pub fn read_backup(path: &Path) -> Result<Vec<Box<RawValue>>, RecordError> {
    let mut text = String::new();
    File::open(path)
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|source| file("read", path, source))?;
    let backup: Backup = serde_json::from_str(&text).map_err(|error| RecordError::Foreign {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    Ok(backup.items)
}

/// A `kind: List`, which kubectl and `--from` read.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
        });
    };
    if !file.is_regular() {
        return Err(RecordError::NoFile {
            path: path.to_owned(),
        });
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
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        uid: Str,
    }
    let claim: Claim = serde_json::from_str(claim.get()).map_err(|error| RecordError::Foreign {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    Ok(claim.metadata.uid)
}
