//! The offline source: files, directories and standard input in YAML and JSON, plain or compressed.
//!
//! [`read()`] returns every object as it is found, in bounded memory and without decoding it; [`read_parallel`] does so
//! in batches that other threads decode. Directories are read as kubectl reads them: files that end in `.yaml`, `.yml`
//! or `.json` (here also `.ndjson` and `.jsonl`, and `.gz` and `.zst` of all of them) in the order of their names,
//! without subdirectories. A file that is named explicitly can have any name.
//!
//! Parts:
//!
//! - `text`: bytes to UTF-8 text; compression by content, limits, encoding;
//! - `json`, `yaml`: text to objects; [`JsonItems`] also serves responses of an API server;
//! - `stream`: one file, whatever it is written in;
//! - `read`: kinds that items have from their list, lists in lists, sources without objects;
//! - `parallel`: threads.

mod batch;
mod error;
mod fault;
mod item;
mod json;
mod list_head;
mod options;
mod parallel;
mod paths;
mod read;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod yaml;

pub use batch::{Found, ItemBatch};
pub use error::ReadError;
pub use item::{Format, Origin, RawItem};
pub use json::{Feed, JsonError, JsonErrorKind, JsonEvent, JsonItem, JsonItems, JsonLimits};
pub(super) use json::{Members, Named, head, leading_head, named};
pub use list_head::ListHead;
pub use options::{Limits, ReadOptions, Source};
pub use parallel::read_parallel;
pub use paths::SnapshotDirectory;
pub(super) use paths::{files_of, left_out};
pub use read::{Summary, read, text};
