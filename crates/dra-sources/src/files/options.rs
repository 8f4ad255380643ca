//! Options and limits of reading.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Something to read objects from.
#[derive(Debug, Clone)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, or a directory of files.
    Path(PathBuf),
    /// Text in memory, plain or compressed.
    Text {
        /// Name in messages.
        name: Arc<str>,
        /// Its bytes.
        text: Arc<[u8]>,
    },
}

impl Source {
    /// The source a command line argument names: `-` is standard input, anything else a path.
    pub fn from_argument(argument: &OsStr) -> Self {
        if argument == "-" {
            Self::Stdin
        } else {
            Self::Path(argument.into())
        }
    }

    /// The size of what is read from files, as far as it is known before.
    pub fn size(&self) -> u64 {
        let of_file = |path: &Path| match path.metadata() {
            Ok(metadata) if metadata.is_file() => metadata.len(),
            _ => 0,
        };
        match self {
            Self::Stdin => 0,
            Self::Path(path) if path.is_dir() => {
                let files = super::paths::files_of(path).unwrap_or_default();
                files.iter().map(|file| of_file(file)).sum()
            }
            Self::Path(path) => of_file(path),
            Self::Text { text, .. } => text.len() as u64,
        }
    }
}

/// Reading options.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// True if every file of a directory must have something in it: an empty one may be what a failed `kubectl get > FILE` left. Of
    /// manifests it is nothing to do.
    pub no_empty_files: bool,
    /// Limits for untrusted input.
    pub limits: Limits,
    /// Counts the bytes read from files and standard input, for a progress display.
    pub bytes_read: Option<Arc<AtomicU64>>,
}

/// Limits for untrusted input. The defaults are far above any cluster object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The largest object, in bytes of JSON.
    pub item_bytes: usize,
    /// The deepest nesting of an object.
    pub depth: u32,
    /// The deepest nesting of lists in lists.
    pub list_depth: u32,
    /// The text that one compressed file may unpack to.
    pub expanded_bytes: u64,
    /// Number of times its size what a compressed file has beyond [`Limits::SMALL_FILE`] may unpack to.
    pub expansion_ratio: u64,
    /// The text that a compressed file may unpack to whatever its own size.
    pub expansion_allowance: u64,
    /// The values of one object.
    pub values: usize,
    /// Things in a source that are no objects of Kubernetes. A file that has more is something else.
    pub problems: u64,
    /// Documents in a row that have nothing in them.
    pub empty_documents: u64,
    /// The memory that objects may take whatever the size of the files, in bytes as the decoder counts them.
    pub memory_allowance: u64,
    /// Number of times the size of the files, beyond [`Limits::SMALL_FILE`], their objects may take besides.
    pub memory_ratio: u64,
    /// Maximum expansion by aliases in one YAML document, in bytes of JSON.
    pub alias_bytes: usize,
    /// Part of a list that is held in memory while its kind is unknown.
    pub held_bytes: usize,
}

impl Limits {
    /// Files of up to this size get the allowances alone: a few bytes must not be able to cost much.
    pub const SMALL_FILE: u64 = 1 << 20;

    /// The text that a compressed file may have unpacked to after so many of its bytes.
    pub fn expanded(&self, compressed: u64) -> u64 {
        let more = beyond(compressed, self.expansion_ratio);
        self.expansion_allowance
            .saturating_add(more)
            .min(self.expanded_bytes)
    }

    /// The memory that the objects in so many bytes of files may take.
    pub fn memory(&self, bytes: u64) -> u64 {
        self.memory_allowance
            .saturating_add(beyond(bytes, self.memory_ratio))
    }
}

fn beyond(bytes: u64, ratio: u64) -> u64 {
    bytes.saturating_sub(Limits::SMALL_FILE).saturating_mul(ratio)
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // An API server refuses requests beyond 3 MiB and etcd values beyond 1.5 MiB; kubectl indents what it prints.
            item_bytes: 16 << 20,
            // What `serde_json` follows.
            depth: 127,
            list_depth: 8,
            // A cluster with 200,000 pods and claims has 1.1 GB of text.
            expanded_bytes: 4 << 30,
            // Deflate reaches 1032 at most. Lists of objects reach 20 to 100, even those that were made from one template, since each
            // has a UID and times of its own.
            expansion_ratio: 200,
            expansion_allowance: 64 << 20,
            // An object of 3 MiB has at most some ten thousands that are not nearly empty.
            values: 250_000,
            problems: 100_000,
            empty_documents: 1_000_000,
            // Objects take about as much memory as their text.
            memory_allowance: 128 << 20,
            memory_ratio: 256,
            alias_bytes: 8 << 20,
            held_bytes: 64 << 20,
        }
    }
}
