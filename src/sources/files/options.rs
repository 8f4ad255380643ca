//! What reading accepts and how far it goes.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Something to read objects from.
#[derive(Debug, Clone)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, or a directory of files.
    Path(PathBuf),
    /// Text in memory.
    Text {
        /// What to call it in messages.
        name: Arc<str>,
        /// Its bytes.
        text: Arc<[u8]>,
    },
    /// Text that is part of the program, plain or compressed.
    Bundled {
        /// What to call it in messages.
        name: Arc<str>,
        /// Its bytes.
        bytes: &'static [u8],
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
}

/// How to read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Whether directories in directories are read. kubectl does it with `-R` only.
    pub recursive: bool,
    /// What untrusted input may cost.
    pub limits: Limits,
    /// Counts the bytes read from files and standard input, for a progress display.
    pub bytes_read: Option<Arc<AtomicU64>>,
}

/// What untrusted input may cost. The defaults are far above anything a cluster holds.
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
    /// How many times its size a compressed file may unpack to, beyond `expansion_allowance`.
    pub expansion_ratio: u64,
    /// The text that a compressed file may unpack to whatever its own size.
    pub expansion_allowance: u64,
    /// The values of one object in YAML.
    pub yaml_values: usize,
    /// What aliases may add to one YAML document, in bytes of JSON.
    pub alias_bytes: usize,
    /// How much of a list is held in memory while its kind is not known.
    pub held_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // An API server refuses requests beyond 3 MiB and etcd values beyond 1.5 MiB.
            item_bytes: 64 << 20,
            // What `serde_json` follows.
            depth: 127,
            list_depth: 8,
            expanded_bytes: 16 << 30,
            // Deflate reaches 1032 at most. Lists of objects made from one template reach some hundreds.
            expansion_ratio: 1000,
            expansion_allowance: 256 << 20,
            yaml_values: 2_000_000,
            alias_bytes: 8 << 20,
            held_bytes: 256 << 20,
        }
    }
}
