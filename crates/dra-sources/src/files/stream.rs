//! One file as a stream of events, whatever it is written in.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use super::error::ReadError;
use super::item::Format;
use super::json::{JsonError, JsonErrorKind, JsonEvent, JsonItems, JsonLimits};
use super::options::{Limits, ReadOptions, Source};
use super::paths;
use super::text::Text;
use super::yaml::YamlItems;

impl Source {
    /// What it is called in messages.
    pub(super) fn name(&self) -> Arc<str> {
        match self {
            Self::Stdin => "stdin".into(),
            Self::Path(path) => paths::display(path),
            Self::Text { name, .. } => Arc::clone(name),
        }
    }

    /// Returns whether the same text can be read twice, which a pipe does not allow.
    pub(super) fn can_be_read_again(&self) -> bool {
        match self {
            Self::Stdin => false,
            Self::Path(path) => path.metadata().is_ok_and(|metadata| metadata.is_file()),
            Self::Text { .. } => true,
        }
    }

    /// Its text. A path is taken as that of a file.
    pub(super) fn open(&self, options: &ReadOptions) -> Result<Text, ReadError> {
        let (file, size) = (self.name(), self.size());
        let raw: Box<dyn Read> = match self {
            Self::Stdin => Box::new(io::stdin()),
            Self::Path(path) => match File::open(path) {
                Ok(opened) => Box::new(opened),
                Err(source) => return Err(ReadError::Open { file, source }),
            },
            Self::Text { text, .. } => Box::new(Cursor::new(Arc::clone(text))),
        };
        Text::open(file, raw, size, &options.limits, options.bytes_read.clone())
    }
}

/// Takes what is found in a text of this format.
type Sink<'s, E> = &'s mut dyn FnMut(JsonEvent<'_>, Format) -> Result<(), E>;

/// Reads a file to its end and hands its events to `sink`.
pub(super) fn walk<E: From<ReadError>>(
    source: &Source,
    options: &ReadOptions,
    sink: Sink<'_, E>,
) -> Result<(), E> {
    let mut text = source.open(options)?;
    if !text.advance()? {
        return Ok(());
    }
    if looks_like_json(text.piece()) {
        json(text, &options.limits, sink)
    } else {
        yaml(YamlItems::new(text, 0, 0, &options.limits), sink)
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

fn json<E: From<ReadError>>(mut text: Text, limits: &Limits, sink: Sink<'_, E>) -> Result<(), E> {
    let mut items = JsonItems::new(JsonLimits {
        item_bytes: limits.item_bytes,
        depth: limits.depth,
    });
    let file = Arc::clone(&text.file);
    let failed = |error| ReadError::Json { file, error };
    loop {
        let mut feed = items.feed(text.piece().as_bytes());
        loop {
            match feed.next_event() {
                Ok(None) => break,
                Ok(Some(event)) => sink(event, Format::Json)?,
                Err(error) => {
                    let position = text.piece().len() - feed.unread().len();
                    if !continues_as_yaml(&error) || !items.is_between_objects() {
                        return Err(failed(error).into());
                    }
                    return yaml(YamlItems::new(text, position, error.line - 1, limits), sink);
                }
            }
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

fn yaml<E: From<ReadError>>(mut items: YamlItems, sink: Sink<'_, E>) -> Result<(), E> {
    while let Some(event) = items.next_event()? {
        sink(event, Format::Yaml)?;
    }
    Ok(())
}
