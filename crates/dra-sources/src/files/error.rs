//! Why a source cannot be read, and what to do about it.

use std::io;
use std::sync::Arc;

use thiserror::Error;

use super::json::{JsonError, JsonErrorKind};

/// A source that cannot be read to its end. What was handed out before is sound.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file cannot be opened.
    #[error("cannot open `{file}`")]
    Open {
        /// The file as named.
        file: Arc<str>,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// Reading the file failed.
    #[error("cannot read `{file}`")]
    Read {
        /// The file as named.
        file: Arc<str>,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// A directory holds no file that would be read.
    #[error(
        "directory `{directory}` has no file that ends in .yaml, .yml, .json, .ndjson or .jsonl, plain, .gz or .zst"
    )]
    EmptyDirectory {
        /// The directory as named.
        directory: Arc<str>,
        /// Whether it has directories in it, which are left alone unless asked for.
        has_directories: bool,
    },
    /// The source has neither an object nor a list in it.
    #[error("`{file}` has no objects in it")]
    NoObjects {
        /// The file or directory as named.
        file: Arc<str>,
    },
    /// A compressed file ends too early.
    #[error("`{file}` is cut off: its {compression} data ends after {offset} bytes of text")]
    TruncatedCompression {
        /// The file as named.
        file: Arc<str>,
        /// How it is compressed.
        compression: &'static str,
        /// How much text could be read.
        offset: u64,
    },
    /// A compressed file is damaged.
    #[error("`{file}` has damaged {compression} data after {offset} bytes of text")]
    CorruptCompression {
        /// The file as named.
        file: Arc<str>,
        /// How it is compressed.
        compression: &'static str,
        /// How much text could be read.
        offset: u64,
        /// What the decompressor says.
        #[source]
        source: io::Error,
    },
    /// A zstd file that was compressed with a larger window than memory is granted for.
    #[error("`{file}` needs more than {} MiB of memory to be unpacked, for the window of its zstd data", limit >> 20)]
    Window {
        /// The file as named.
        file: Arc<str>,
        /// Bytes that are granted.
        limit: u64,
    },
    /// A compressed file unpacks to far more than it should.
    #[error(
        "`{file}` unpacks to more than {} MiB, which is the most that {compressed} bytes of {compression} data may unpack to",
        expanded >> 20
    )]
    Bomb {
        /// The file as named.
        file: Arc<str>,
        /// How it is compressed.
        compression: &'static str,
        /// The compressed bytes read so far.
        compressed: u64,
        /// The bytes they may unpack to.
        expanded: u64,
    },
    /// The file has bytes that no text has.
    #[error("`{file}` is not text: it has a zero byte at offset {offset}")]
    NotText {
        /// The file as named.
        file: Arc<str>,
        /// Where the byte is in the text, from 0.
        offset: u64,
    },
    /// A file in a directory that has no end, or waits for a writer.
    #[error("`{file}` is {what}, not a file")]
    NotAFile {
        /// The file as named.
        file: Arc<str>,
        /// What it is.
        what: &'static str,
    },
    /// A source in which next to nothing is an object.
    #[error("`{file}` has more than {limit} things in it that are no objects of Kubernetes")]
    TooManyProblems {
        /// The file or directory as named.
        file: Arc<str>,
        /// The limit.
        limit: u64,
    },
    /// Documents without anything in them.
    #[error("`{file}` has more than {limit} documents with nothing in them")]
    Empty {
        /// The file as named.
        file: Arc<str>,
        /// The limit.
        limit: u64,
    },
    /// The file is in a format that is not read.
    #[error("`{file}` is {format}")]
    Unsupported {
        /// The file as named.
        file: Arc<str>,
        /// What it is.
        format: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The text is not UTF-8.
    #[error("`{file}` is not UTF-8: invalid byte {byte:#04x} at offset {offset}")]
    NotUtf8 {
        /// The file as named.
        file: Arc<str>,
        /// Where the first invalid byte is in the text, from 0.
        offset: u64,
        /// That byte.
        byte: u8,
    },
    /// The text starts like JSON and is none.
    #[error("`{file}` is not valid JSON at line {}: {}", error.line, error.kind)]
    Json {
        /// The file as named.
        file: Arc<str>,
        /// What is wrong where.
        error: JsonError,
    },
    /// A list in YAML is malformed, so that its remaining items are lost.
    #[error("`{file}` is not valid YAML at line {line}, column {column}: {message}")]
    Yaml {
        /// The file as named.
        file: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
        /// What is wrong.
        message: String,
    },
    /// A single value in YAML is so large that reading it is given up.
    #[error("`{file}` has a single value of more than {limit} bytes after line {line}")]
    ValueTooLarge {
        /// The file as named.
        file: Arc<str>,
        /// The line of the value before it, from 1.
        line: u64,
        /// The limit.
        limit: usize,
    },
    /// A list tells what its items are only after so many of them that they cannot be held until then.
    #[error(
        "`{file}` has a list whose `kind` comes after more than {limit} bytes of items that have none themselves"
    )]
    KindTooLate {
        /// The file as named.
        file: Arc<str>,
        /// The limit.
        limit: usize,
    },
}

impl ReadError {
    /// What to do about it, as a sentence without full stop, where there is something to do.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Open { file, source } => match source.kind() {
                _ if file.starts_with("http://") || file.starts_with("https://") => {
                    "addresses are not read directly: download it, and pass `--from -` to read it from standard input".to_owned()
                }
                io::ErrorKind::NotFound => "check the path; `-` stands for standard input".to_owned(),
                io::ErrorKind::PermissionDenied => format!("make `{file}` readable for the current user"),
                _ => return None,
            },
            Self::EmptyDirectory { has_directories: true, .. } => {
                "directories in it are not read: name one of them instead".to_owned()
            }
            Self::EmptyDirectory { .. } => "name the files themselves if their names end in something else".to_owned(),
            Self::NoObjects { .. } => {
                "save the cluster with `kubectl dra snapshot` or `kubectl get … -o yaml` and look whether that failed"
                    .to_owned()
            }
            Self::TruncatedCompression { .. } | Self::CorruptCompression { .. } => {
                "copy or download the file again; the part before the damage is not used".to_owned()
            }
            Self::Window { .. } => {
                "unpack it yourself, with `zstd -d --long=31`, and read the result, or compress it without `--long`".to_owned()
            }
            Self::Bomb { compression, .. } => format!(
                "objects of a cluster do not repeat themselves that much; if you trust the file, unpack it yourself, with \
                 `{compression} -d`, and read the result, for which there is no such limit"
            ),
            Self::NotText { .. } | Self::TooManyProblems { .. } | Self::Empty { .. } => {
                "look what the file is: what `kubectl dra snapshot` or `kubectl get … -o yaml` saved is needed".to_owned()
            }
            Self::NotAFile { .. } => "name it itself if it is to be read, or take it out of the directory".to_owned(),
            Self::Unsupported { remedy, .. } => (*remedy).to_owned(),
            Self::NotUtf8 { .. } => {
                "convert it, for example with `iconv -f ISO-8859-1 -t UTF-8`, if it is text at all".to_owned()
            }
            Self::Json { error, .. } => return json_hint(&error.kind),
            Self::Yaml { .. } => {
                "correct the file or save it again; the items after this line cannot be read".to_owned()
            }
            Self::ValueTooLarge { .. } => "no Kubernetes object has such a value: check what the file is".to_owned(),
            Self::KindTooLate { .. } => {
                "read it from a plain file instead of standard input, or put `kind` first: \
                 `jq '{kind, apiVersion, metadata, items}'`"
                    .to_owned()
            }
            Self::Read { .. } => return None,
        })
    }
}

fn json_hint(kind: &JsonErrorKind) -> Option<String> {
    match kind {
        JsonErrorKind::Truncated { .. } => {
            Some("the file is incomplete: save it again and look whether that failed".to_owned())
        }
        JsonErrorKind::Unexpected {
            found: b'[',
            expected: "an object",
        } => Some(r#"make a list of it: `jq '{apiVersion: "v1", kind: "List", items: .}'`"#.to_owned()),
        JsonErrorKind::Unexpected { .. }
        | JsonErrorKind::HeadTooLarge { .. }
        | JsonErrorKind::ItemsNotAnArray => None,
    }
}
