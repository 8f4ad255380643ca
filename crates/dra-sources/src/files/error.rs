//! The reason why a source cannot be read, and what to do about it.

use std::io;
use std::sync::Arc;

use thiserror::Error;

use super::json::{JsonError, JsonErrorKind};

/// A source that cannot be read to its end. Objects returned before are valid.
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
        "directory `{directory}` contains no .yaml, .yml, .json, .ndjson or .jsonl files (plain, .gz or .zst)"
    )]
    EmptyDirectory {
        /// The directory as named.
        directory: Arc<str>,
        /// True if it has directories in it, which are left alone unless asked for.
        has_directories: bool,
    },
    /// The source has neither an object nor a list in it.
    #[error("`{file}` contains no objects")]
    NoObjects {
        /// The file or directory as named.
        file: Arc<str>,
    },
    /// A compressed file ends too early.
    #[error("`{file}` is truncated: its {compression} data ends after {offset} bytes of text")]
    TruncatedCompression {
        /// The file as named.
        file: Arc<str>,
        /// Compression.
        compression: &'static str,
        /// Amount of readable text.
        offset: u64,
    },
    /// A compressed file is damaged.
    #[error("`{file}` has damaged {compression} data after {offset} bytes of text")]
    CorruptCompression {
        /// The file as named.
        file: Arc<str>,
        /// Compression.
        compression: &'static str,
        /// Amount of readable text.
        offset: u64,
        /// Error of the decompressor.
        #[source]
        source: io::Error,
    },
    /// A zstd file that was compressed with a larger window than memory is granted for.
    #[error("`{file}` needs more than {} MiB of memory for its zstd window", limit >> 20)]
    Window {
        /// The file as named.
        file: Arc<str>,
        /// Bytes that are granted.
        limit: u64,
    },
    /// A compressed file unpacks to far more than it should.
    #[error(
        "`{file}` unpacks to more than {} MiB, the limit for {compressed} bytes of {compression} data",
        expanded >> 20
    )]
    Bomb {
        /// The file as named.
        file: Arc<str>,
        /// Compression.
        compression: &'static str,
        /// The compressed bytes read so far.
        compressed: u64,
        /// The bytes they may unpack to.
        expanded: u64,
    },
    /// The file has bytes that no text has.
    #[error("`{file}` is not text: it contains a NUL byte at offset {offset}")]
    NotText {
        /// The file as named.
        file: Arc<str>,
        /// Offset of the byte in the text, from 0.
        offset: u64,
    },
    /// A file in a directory that has no end, or waits for a writer.
    #[error("`{file}` is {what}, not a file")]
    NotAFile {
        /// The file as named.
        file: Arc<str>,
        /// Type of the file.
        what: &'static str,
    },
    /// A source in which next to nothing is an object.
    #[error("`{file}` contains more than {limit} values that are not Kubernetes objects")]
    TooManyProblems {
        /// The file or directory as named.
        file: Arc<str>,
        /// The limit.
        limit: u64,
    },
    /// Documents without anything in them.
    #[error("`{file}` contains more than {limit} empty documents")]
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
        /// Format.
        format: &'static str,
        /// Remedy.
        remedy: &'static str,
    },
    /// The text is not UTF-8.
    #[error("`{file}` is not UTF-8: invalid byte {byte:#04x} at offset {offset}")]
    NotUtf8 {
        /// The file as named.
        file: Arc<str>,
        /// Offset of the first invalid byte in the text, from 0.
        offset: u64,
        /// That byte.
        byte: u8,
    },
    /// The text starts like JSON and is none.
    #[error("`{file}` is not valid JSON at line {}: {}", error.line, error.kind)]
    Json {
        /// The file as named.
        file: Arc<str>,
        /// The error.
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
        /// The problem.
        message: String,
    },
    /// A single value in YAML is so large that reading it is given up.
    #[error("`{file}` contains a single value of more than {limit} bytes after line {line}")]
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
        "`{file}` contains a list whose `kind` follows more than {limit} bytes of items without a `kind`"
    )]
    KindTooLate {
        /// The file as named.
        file: Arc<str>,
        /// The limit.
        limit: usize,
    },
}

impl ReadError {
    /// The file that does not exist, if that is the error.
    pub fn missing(&self) -> Option<&str> {
        match self {
            Self::Open { file, source } if source.kind() == io::ErrorKind::NotFound => Some(file),
            _ => None,
        }
    }

    /// Returns what to do about it, as a sentence without full stop, where there is something to do.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Open { file, source } => match source.kind() {
                _ if file.starts_with("http://") || file.starts_with("https://") => {
                    "URLs are not supported: download it, or pipe it to `--from -`"
                }
                io::ErrorKind::NotFound => "check the path; `-` reads standard input",
                io::ErrorKind::PermissionDenied => {
                    return Some(format!("make `{file}` readable for the current user"));
                }
                _ => return None,
            },
            Self::EmptyDirectory {
                has_directories: true,
                ..
            } => "subdirectories are not read: name one of them instead",
            Self::EmptyDirectory { .. } => "name files with other extensions explicitly",
            Self::NoObjects { .. } => {
                "save the cluster again with `kubectl dra snapshot` or `kubectl get … -o yaml`, and check \
                that the command succeeded"
            }
            Self::TruncatedCompression { .. } | Self::CorruptCompression { .. } => {
                "copy or download the file again; none of it was used"
            }
            Self::Window { .. } => "unpack it with `zstd -d --long=31`, or compress it without `--long`",
            Self::Bomb { compression, .. } => {
                return Some(format!(
                    "cluster objects do not compress this well; if you trust the file, unpack it with \
                    `{compression} -d`: plain files have no such limit"
                ));
            }
            Self::NotText { .. } | Self::TooManyProblems { .. } | Self::Empty { .. } => {
                "pass a file saved by `kubectl dra snapshot` or `kubectl get … -o yaml`"
            }
            Self::NotAFile { .. } => "name the file explicitly, or move it out of the directory",
            Self::Unsupported { remedy, .. } => remedy,
            Self::NotUtf8 { .. } => {
                "if it is text, convert it, for example with `iconv -f ISO-8859-1 -t UTF-8`"
            }
            Self::Json { error, .. } => match error.kind {
                JsonErrorKind::Truncated { .. } => {
                    "the file is incomplete: save it again, and check that the command succeeded"
                }
                JsonErrorKind::Unexpected {
                    found: b'[',
                    expected: "an object",
                } => r#"make a list of it: `jq '{apiVersion: "v1", kind: "List", items: .}'`"#,
                JsonErrorKind::Unexpected { .. }
                | JsonErrorKind::HeadTooLarge { .. }
                | JsonErrorKind::ItemsNotAnArray => return None,
            },
            Self::Yaml { .. } => "fix the file or save it again; the items after this line cannot be read",
            Self::ValueTooLarge { .. } => "no Kubernetes object contains such a value: check the file",
            Self::KindTooLate { .. } => {
                "read it from a plain file instead of standard input, or put `kind` first: \
                 `jq '{kind, apiVersion, metadata, items}'`"
            }
            Self::Read { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
