//! YAML as people and kubectl write it, turned into JSON objects one by one.
//!
//! A parser that yields events (`granit-parser`; `docs/internals/decisions/yaml.md` says why) reads the text as it streams, so that
//! a list of any length takes the memory of its largest item. Each object becomes the JSON that kubectl would make of it,
//! and one decoder serves both formats. A document that is malformed is a problem of that document; a list that is
//! malformed is an error, because it is unknown how many items are lost.

mod build;
mod chars;
mod scalar;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use granit_parser::{BufferedInput, Event, Parser, ScanError, options};
use thiserror::Error;

use self::build::Builder;
use self::chars::{Chars, Shared};
use super::error::ReadError;
use super::json::JsonItem;
use super::list_head::ListHead;
use super::options::Limits;
use super::text::Text;
use dra_model::json;

/// Something found in the text.
#[derive(Debug)]
pub(super) enum YamlEvent<'a> {
    /// A complete object, of a list or on its own.
    Item(JsonItem<'a>),
    /// A document or an item of a list that is no object. What follows is sound.
    Bad {
        /// The line it begins in.
        line: u64,
        /// Its place in the list, from 0.
        index: Option<u64>,
        /// The problem, with the line if it is a different one.
        message: String,
    },
    /// The end of a list, with everything known of it.
    ListEnd(&'a ListHead),
}

/// The reason why nothing more can be read.
#[derive(Debug)]
pub(super) enum YamlError {
    /// The text could not be read.
    Source(ReadError),
    /// A list is malformed.
    Syntax { line: u64, column: u64, message: String },
    /// Nothing but empty documents.
    Empty { limit: u64 },
    /// A single value is larger than an object may be.
    ValueTooLarge { line: u64 },
}

/// The reason why something cannot become JSON.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum Fault {
    #[error("not an object")]
    NotAnObject,
    #[error("key `{key}` appears twice")]
    RepeatedKey { key: String },
    #[error("a key is null")]
    NullKey,
    #[error("key `{number}` is out of range")]
    KeyTooLarge { number: u64 },
    #[error("a key is a mapping or a sequence")]
    ComplexKey,
    #[error("infinity and not-a-number have no JSON form")]
    NotFinite,
    #[error("`{text}` is not a value of `!!{tag}`")]
    WrongTag { text: String, tag: &'static str },
    #[error("`!!binary` is not supported: write the base64 text without the tag")]
    Binary,
    #[error("alias `*{name}` has no anchor")]
    UnknownAnchor { name: String },
    #[error("an alias refers to a value that contains it, or that could not be read")]
    UnfinishedAnchor,
    #[error("anchors and aliases add more than {limit} bytes to the document")]
    TooManyAliases { limit: usize },
    #[error("`<<` needs a mapping or a sequence of mappings")]
    MergeNotMapping,
    #[error("`<<` cannot stand next to `items`")]
    MergeInList,
    #[error("more than {limit} values in one object")]
    TooManyValues { limit: usize },
    #[error("larger than the {limit} bytes an object may have")]
    TooLarge { limit: usize },
    #[error("nested more than {limit} levels deep")]
    TooDeep { limit: u32 },
    #[error("`items` of the list is not a sequence")]
    ItemsNotASequence,
}

/// Reads the objects of a YAML text.
pub(super) struct YamlItems {
    parser: Parser<'static, BufferedInput<Chars>>,
    shared: Rc<Shared>,
    builder: Builder,
    /// Lines of the file before the text.
    lines_before: u64,
    place: Place,
    /// Number of mappings and sequences have begun and not ended.
    depth: usize,
    /// Fault of the skipped document or item, with its place.
    fault: Option<(u64, Fault)>,
    /// The line the document, or the item of a list, begins in.
    line: u64,
    list: ListHead,
    /// The line of the last event.
    last_line: u64,
    /// Documents since something was found.
    empty_documents: u64,
    most_empty_documents: u64,
}

/// Place of the next event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Between documents.
    Outside,
    /// In a document that may be one object.
    Document,
    /// In `items` of a list.
    Items,
    /// In a list, after its items.
    AfterItems,
    /// In a list, after its items and something that was reported.
    Lost,
}

/// Result of [`YamlItems::find`].
enum Found {
    Item,
    Object,
    BadItem,
    BadDocument,
    /// A document that is malformed in a way that the parser could step over.
    Malformed(String),
    ListEnd,
}

impl YamlItems {
    /// Reads `text` from the given position of its current piece on, which comes after `lines_before` lines.
    pub(super) fn new(text: Text, position: usize, lines_before: u64, limits: &Limits) -> Self {
        let shared = Rc::new(Shared::default());
        let chars = Chars::new(text, position, limits, Rc::clone(&shared));
        // Deeper than any object may be, so that depth is the fault of an object and not of the text.
        let nesting = limits.depth as usize * 2 + 8;
        let options = options! {
            emit_comments: false,
            emit_unresolved_aliases: true,
            block_nesting_limit: nesting,
            flow_nesting_limit: nesting,
        };
        Self {
            parser: Parser::new_from_iter_with_options(chars, options),
            shared,
            builder: Builder::new(limits.clone()),
            lines_before,
            place: Place::Outside,
            depth: 0,
            fault: None,
            line: 0,
            list: ListHead::default(),
            last_line: 0,
            empty_documents: 0,
            most_empty_documents: limits.empty_documents,
        }
    }

    /// The next thing found, or `None` at the end of the text.
    pub(super) fn next_event(&mut self) -> Result<Option<YamlEvent<'_>>, YamlError> {
        Ok(Some(match self.find()? {
            None => return Ok(None),
            Some(Found::Item) => {
                let index = Some(self.list.items);
                self.list.items += 1;
                let (json, line) = (self.builder.json(), self.line);
                YamlEvent::Item(JsonItem {
                    json,
                    line,
                    index,
                    list: Some(&self.list),
                })
            }
            Some(Found::Object) => {
                let (json, line) = (self.builder.json(), self.line);
                YamlEvent::Item(JsonItem {
                    json,
                    line,
                    index: None,
                    list: None,
                })
            }
            Some(Found::BadItem) => {
                let index = Some(self.list.items);
                self.list.items += 1;
                self.bad(index)
            }
            Some(Found::BadDocument) => self.bad(None),
            Some(Found::Malformed(message)) => YamlEvent::Bad {
                line: self.line,
                index: None,
                message,
            },
            Some(Found::ListEnd) => YamlEvent::ListEnd(&self.list),
        }))
    }

    fn bad(&mut self, index: Option<u64>) -> YamlEvent<'static> {
        let (line, fault) = self.fault.take().unwrap_or((self.line, Fault::NotAnObject));
        let message = if line == self.line {
            fault.to_string()
        } else {
            format!("line {line}: {fault}")
        };
        YamlEvent::Bad {
            line: self.line,
            index,
            message,
        }
    }

    fn find(&mut self) -> Result<Option<Found>, YamlError> {
        loop {
            let next = self.parser.next_event();
            if self.shared.failed.get() {
                return Err(self.source_error());
            }
            if self.empty_documents > self.most_empty_documents {
                let limit = self.most_empty_documents;
                return Err(YamlError::Empty { limit });
            }
            // What is being stepped over may be as large as an object, and no larger.
            if self.fault.is_none() {
                self.shared.pieces.set(0);
            }
            let found = match next {
                None => return Ok(None),
                Some(Ok((event, span))) => {
                    self.last_line = self.lines_before + span.start.line() as u64;
                    self.event(&event)
                }
                Some(Err(error)) => Some(self.syntax_error(&error)?),
            };
            if found.is_some() {
                self.empty_documents = 0;
                return Ok(found);
            }
        }
    }

    fn event(&mut self, event: &Event<'_>) -> Option<Found> {
        match event {
            Event::DocumentStart(..) => {
                self.builder.begin_document();
                self.empty_documents += 1;
                self.place = Place::Document;
                self.depth = 0;
                self.fault = None;
                self.line = self.last_line;
                self.list = ListHead::default();
                None
            }
            Event::DocumentEnd => self.end_document(),
            Event::StreamStart | Event::StreamEnd => None,
            _ => self.node(event),
        }
    }

    /// Handles an event inside of a document.
    fn node(&mut self, event: &Event<'_>) -> Option<Found> {
        let depth_before = self.depth;
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => self.depth += 1,
            Event::MappingEnd | Event::SequenceEnd => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        match self.place {
            Place::Document if depth_before == 0 => {
                // The document's marker is no line of the object.
                self.line = self.last_line;
                self.list.line = self.line;
                match event {
                    Event::MappingStart(..) => self.build(event),
                    // An empty document, or one with comments only.
                    Event::Scalar(text, granit_parser::ScalarStyle::Plain, 0, None) if is_null(text) => {
                        self.place = Place::Outside;
                    }
                    _ => self.fault = Some((self.last_line, Fault::NotAnObject)),
                }
            }
            Place::Document if self.begins_items(event) => {
                self.place = Place::Items;
                self.list.items = 0;
                self.list.has_items = true;
                if let Err(fault) = self.builder.begin_list() {
                    self.place = Place::Document;
                    self.fault = Some((self.last_line, fault));
                }
            }
            Place::Document | Place::AfterItems => {
                self.build(event);
                if self.fault.is_none() {
                    self.note_root_member();
                } else if self.place == Place::AfterItems {
                    self.place = Place::Lost;
                    return Some(Found::BadDocument);
                }
            }
            Place::Items if self.depth < 2 => {
                self.builder.end_list();
                self.place = Place::AfterItems;
            }
            Place::Items => {
                if depth_before == 2 {
                    self.builder.begin_object();
                    self.line = self.last_line;
                    if !matches!(
                        event,
                        Event::MappingStart(..) | Event::Alias(_) | Event::UnresolvedAlias(_)
                    ) {
                        self.fault = Some((self.last_line, Fault::NotAnObject));
                    }
                }
                self.build(event);
                if self.depth == 2 {
                    return Some(self.end_item());
                }
            }
            Place::Outside | Place::Lost => {}
        }
        None
    }

    /// Hands the event to the builder, unless what it belongs to is lost already.
    fn build(&mut self, event: &Event<'_>) {
        if self.fault.is_none()
            && let Err(fault) = self.builder.event(event)
        {
            self.fault = Some((self.last_line, fault));
        }
    }

    /// Returns whether the event begins the array that makes the document a list. An anchored one is built as a whole, and taken
    /// apart later.
    fn begins_items(&self, event: &Event<'_>) -> bool {
        self.fault.is_none()
            && matches!(event, Event::SequenceStart(_, 0, _))
            && self.builder.awaits_value_of("items")
    }

    fn end_item(&mut self) -> Found {
        if self.fault.is_none() && self.builder.json().first() != Some(&b'{') {
            self.fault = Some((self.line, Fault::NotAnObject));
        }
        if self.fault.is_some() {
            self.builder.abandon_object();
            return Found::BadItem;
        }
        Found::Item
    }

    /// Keeps what a list says of itself.
    fn note_root_member(&mut self) {
        let Some((key, value)) = self.builder.root_member() else {
            return;
        };
        match key {
            "apiVersion" => {
                self.list.is_odd |= self.list.api_version.is_some();
                self.list.api_version = json::from_slice(value).ok();
            }
            "kind" => {
                self.list.is_odd |= self.list.kind.is_some();
                self.list.kind = json::from_slice(value).ok();
            }
            "metadata" if self.place == Place::AfterItems || value.len() < 1 << 20 => {
                self.list.set_metadata(value);
            }
            _ => {}
        }
        if self.place == Place::AfterItems {
            self.builder.begin_object();
        }
    }

    fn end_document(&mut self) -> Option<Found> {
        match std::mem::replace(&mut self.place, Place::Outside) {
            Place::Outside => None,
            Place::Document if self.fault.is_some() => Some(Found::BadDocument),
            Place::Document
                if self.list.has_list_kind() && super::json::has_odd_items(self.builder.json()) =>
            {
                self.fault = Some((self.line, Fault::ItemsNotASequence));
                Some(Found::BadDocument)
            }
            // A list that has no items says so by its kind alone.
            Place::Document if self.list.has_list_kind() && !super::json::has_items(self.builder.json()) => {
                Some(Found::ListEnd)
            }
            Place::Document => Some(Found::Object),
            Place::Items | Place::AfterItems | Place::Lost => Some(Found::ListEnd),
        }
    }

    /// Steps over a malformed document, unless it is a list.
    fn syntax_error(&mut self, error: &ScanError) -> Result<Found, YamlError> {
        let line = self.lines_before + error.marker().line() as u64;
        let column = error.marker().col() as u64 + 1;
        if matches!(self.place, Place::Items | Place::AfterItems | Place::Lost) {
            return Err(YamlError::Syntax {
                line,
                column,
                message: error.info(),
            });
        }
        if self.place == Place::Outside {
            self.line = line;
        }
        self.place = Place::Outside;
        // What is stepped over is not collected, and may be of any size. Without a further document the parser ends.
        self.shared.stepping_over.set(true);
        let further = self.parser.proceed_next_document();
        self.shared.stepping_over.set(false);
        if further.is_err() && self.shared.failed.get() {
            return Err(self.source_error());
        }
        Ok(Found::Malformed(format!(
            "line {line}, column {column}: {}",
            error.info()
        )))
    }

    fn source_error(&self) -> YamlError {
        match self.shared.error.borrow_mut().take() {
            Some(error) => YamlError::Source(error),
            None => YamlError::ValueTooLarge { line: self.last_line },
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}
