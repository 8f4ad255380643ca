//! Snapshots: the relevant objects of a cluster in one file, with what else has to be known to answer the same questions from it.
//!
//! A snapshot is a `kind: List`, one item per line, that kubectl, jq and this program read. Its first item is a [`SnapshotInfo`];
//! the others are objects as the API server sent them, redacted unless the user wants otherwise.

mod fields;
mod info;
mod redact;
mod write;

pub use self::info::{ListInfo, SnapshotInfo};
pub use self::write::{Compression, Snapshot, SnapshotError};

pub(crate) use self::info::is_info;
pub use self::redact::Redaction;
pub(crate) use self::write::{Part, add_owner};
