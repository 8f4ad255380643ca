//! One file as a stream of events, whatever it is written in.

use std::fs::File;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::ReadError;
use super::item::Format;
use super::json::{JsonError, JsonErrorKind, JsonEvent, JsonItem, JsonItems, JsonLimits, certain_head};
use super::list_head::ListHead;
use super::options::{Limits, ReadOptions, Source};
use super::paths;
use super::text::Text;
use super::yaml::{YamlError, YamlEvent, YamlItems};

/// Something to read text from.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) file: Arc<str>,
    from: From,
}

#[derive(Debug, Clone)]
enum From {
    Stdin,
    File(PathBuf),
    Memory(&'static [u8]),
    Text(Arc<[u8]>),
}

impl Input {
    pub(super) fn stdin() -> Self {
        Self {
            file: "stdin".into(),
            from: From::Stdin,
        }
    }

    pub(super) fn file(path: &Path) -> Self {
        Self {
            file: paths::display(path),
            from: From::File(path.to_owned()),
        }
    }

    /// Returns what stands in `source` itself; a path is taken as that of a file.
    pub(super) fn of(source: &Source) -> Self {
        let (file, from) = match source {
            Source::Stdin => return Self::stdin(),
            Source::Path(path) => return Self::file(path),
            Source::Text { name, text } => (Arc::clone(name), From::Text(Arc::clone(text))),
            Source::Bundled { name, bytes } => (Arc::clone(name), From::Memory(bytes)),
        };
        Self { file, from }
    }

    /// Returns whether the same text can be read twice, which a pipe does not allow.
    pub(super) fn can_be_read_again(&self) -> bool {
        match &self.from {
            From::Stdin => false,
            From::File(path) => path.metadata().is_ok_and(|metadata| metadata.is_file()),
            From::Memory(_) | From::Text(_) => true,
        }
    }

    fn open(&self, options: &ReadOptions) -> Result<Text, ReadError> {
        let file = Arc::clone(&self.file);
        let counter = options.bytes_read.clone();
        let size = self.size();
        match &self.from {
            From::Stdin => Text::open(file, io::stdin(), size, &options.limits, counter),
            From::File(path) => {
                let opened = File::open(path).map_err(|source| ReadError::Open {
                    file: Arc::clone(&file),
                    source,
                })?;
                Text::open(file, opened, size, &options.limits, counter)
            }
            From::Memory(bytes) => Text::open(file, Cursor::new(*bytes), size, &options.limits, counter),
            From::Text(bytes) => Text::open(
                file,
                Cursor::new(Arc::clone(bytes)),
                size,
                &options.limits,
                counter,
            ),
        }
    }

    /// The size of the file, if it is known before it was read.
    fn size(&self) -> u64 {
        match &self.from {
            From::Stdin => 0,
            From::File(path) => path.metadata().map_or(0, |metadata| metadata.len()),
            From::Memory(bytes) => bytes.len() as u64,
            From::Text(bytes) => bytes.len() as u64,
        }
    }

    /// The whole text, unpacked, without a byte order mark.
    pub(super) fn text(&self, options: &ReadOptions) -> Result<String, ReadError> {
        let mut text = self.open(options)?;
        let mut whole = String::new();
        while text.advance()? {
            whole.push_str(text.piece());
        }
        Ok(whole)
    }
}

/// Something found in a file.
pub(super) enum Event<'a> {
    Item(JsonItem<'a>, Format),
    Bad {
        line: u64,
        index: Option<u64>,
        message: String,
        /// `apiVersion` and `kind`, if they can be determined.
        head: Option<(String, String)>,
    },
    ListEnd(&'a ListHead),
}

/// Reads a file to its end and hands its events to `sink`.
pub(super) fn walk<E: std::convert::From<ReadError>>(
    input: &Input,
    options: &ReadOptions,
    sink: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut text = input.open(options)?;
    if !text.advance()? {
        return Ok(());
    }
    if looks_like_json(text.piece()) {
        json(input, text, &options.limits, sink)
    } else {
        yaml(
            input,
            YamlItems::new(text, 0, 0, &options.limits),
            &options.limits,
            sink,
        )
    }
}

/// Returns whether the text is meant as JSON. A brace begins a mapping in YAML, too, but a quote seldom follows it there.
fn looks_like_json(text: &str) -> bool {
    let text = text.trim_ascii_start();
    match text.strip_prefix('{') {
        Some(rest) => matches!(
            rest.trim_ascii_start().as_bytes().first(),
            None | Some(b'"' | b'}')
        ),
        // An array is not what is wanted, and JSON's error says so better.
        None => text
            .strip_prefix('[')
            .is_some_and(|rest| rest.trim_ascii_start().starts_with(['{', ']'])),
    }
}

fn json<E: std::convert::From<ReadError>>(
    input: &Input,
    mut text: Text,
    limits: &Limits,
    sink: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut items = JsonItems::new(JsonLimits {
        item_bytes: limits.item_bytes,
        depth: limits.depth,
    });
    let failed = |error| ReadError::Json {
        file: Arc::clone(&input.file),
        error,
    };
    loop {
        let mut feed = items.feed(text.piece().as_bytes());
        loop {
            let event = match feed.next_event() {
                Ok(None) => break,
                Ok(Some(JsonEvent::Item(item))) => Event::Item(item, Format::Json),
                Ok(Some(JsonEvent::Bad {
                    line,
                    index,
                    reason,
                    json,
                })) => Event::Bad {
                    line,
                    index,
                    message: reason.to_string(),
                    head: json.and_then(certain_head),
                },
                Ok(Some(JsonEvent::ListEnd(list))) => Event::ListEnd(list),
                Err(error) => {
                    let position = text.piece().len() - feed.unread().len();
                    if !continues_as_yaml(&error) || !items.is_between_objects() {
                        return Err(failed(error).into());
                    }
                    return yaml(
                        input,
                        YamlItems::new(text, position, error.line - 1, limits),
                        limits,
                        sink,
                    );
                }
            };
            sink(event)?;
        }
        if !text.advance()? {
            return items.finish().map_err(|error| failed(error).into());
        }
    }
}

/// Returns whether what is no JSON is the mark between two documents, or a comment. Tools write JSON documents like that.
fn continues_as_yaml(error: &JsonError) -> bool {
    matches!(
        error.kind,
        JsonErrorKind::Unexpected {
            found: b'-' | b'#',
            ..
        }
    )
}

fn yaml<E: std::convert::From<ReadError>>(
    input: &Input,
    mut items: YamlItems,
    limits: &Limits,
    sink: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
) -> Result<(), E> {
    loop {
        let event = match items.next_event() {
            Ok(None) => return Ok(()),
            Ok(Some(YamlEvent::Item(item))) => Event::Item(item, Format::Yaml),
            Ok(Some(YamlEvent::Bad { line, index, message })) => Event::Bad {
                line,
                index,
                message,
                head: None,
            },
            Ok(Some(YamlEvent::ListEnd(list))) => Event::ListEnd(list),
            Err(error) => {
                let file = Arc::clone(&input.file);
                return Err(match error {
                    YamlError::Source(error) => error,
                    YamlError::Syntax {
                        line,
                        column,
                        message,
                    } => ReadError::Yaml {
                        file,
                        line,
                        column,
                        message,
                    },
                    YamlError::Empty { limit } => ReadError::Empty { file, limit },
                    YamlError::ValueTooLarge { line } => ReadError::ValueTooLarge {
                        file,
                        line,
                        limit: limits.item_bytes,
                    },
                }
                .into());
            }
        };
        sink(event)?;
    }
}
