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
use std::sync::Arc;

use granit_parser::{BufferedInput, Event, Parser, ScanError, options};

use self::build::Builder;
use self::chars::{Chars, Shared};
use super::error::ReadError;
use super::fault::Fault;
use super::json::{JsonEvent, JsonItem};
use super::list_head::ListHead;
use super::options::Limits;
use super::text::Text;
use dra_model::json;

/// Reads the objects of a YAML text.
pub(super) struct YamlItems {
    file: Arc<str>,
    limits: Limits,
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
    /// An item of a list, or a document that is an object.
    Object,
    /// Something in the place of one.
    Bad,
    /// A document that is malformed in a way that the parser could step over.
    Malformed(String),
    ListEnd,
}

impl YamlItems {
    /// Reads `text` from the given position of its current piece on, which comes after `lines_before` lines.
    pub(super) fn new(text: Text, position: usize, lines_before: u64, limits: &Limits) -> Self {
        let file = Arc::clone(&text.file);
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
            file,
            limits: limits.clone(),
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
        }
    }

    /// The next thing found, or `None` at the end of the text.
    pub(super) fn next_event(&mut self) -> Result<Option<JsonEvent<'_>>, ReadError> {
        let Some(found) = self.find()? else {
            return Ok(None);
        };
        let index = (self.place == Place::Items).then_some(self.list.items);
        self.list.items += u64::from(index.is_some());
        let line = self.line;
        let bad = |message| JsonEvent::Bad {
            line,
            index,
            message,
            head: None,
        };
        Ok(Some(match found {
            Found::Object => JsonEvent::Item(JsonItem {
                json: self.builder.json(),
                line,
                index,
                list: index.map(|_| &self.list),
            }),
            Found::Bad => bad(match self.fault.take() {
                Some((place, fault)) if place != line => format!("line {place}: {fault}"),
                Some((_, fault)) => fault.to_string(),
                None => Fault::NotAnObject.to_string(),
            }),
            Found::Malformed(message) => bad(message),
            Found::ListEnd => JsonEvent::ListEnd(&self.list),
        }))
    }

    fn find(&mut self) -> Result<Option<Found>, ReadError> {
        loop {
            let next = self.parser.next_event();
            if self.shared.failed.get() {
                return Err(self.source_error());
            }
            let limit = self.limits.empty_documents;
            if self.empty_documents > limit {
                let file = Arc::clone(&self.file);
                return Err(ReadError::Empty { file, limit });
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
                    return Some(Found::Bad);
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
            return Found::Bad;
        }
        Found::Object
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
            Place::Document if self.fault.is_some() => Some(Found::Bad),
            Place::Document
                if self.list.has_list_kind() && super::json::has_odd_items(self.builder.json()) =>
            {
                self.fault = Some((self.line, Fault::ItemsNotASequence));
                Some(Found::Bad)
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
    fn syntax_error(&mut self, error: &ScanError) -> Result<Found, ReadError> {
        let line = self.lines_before + error.marker().line() as u64;
        let column = error.marker().col() as u64 + 1;
        if matches!(self.place, Place::Items | Place::AfterItems | Place::Lost) {
            return Err(ReadError::Yaml {
                file: Arc::clone(&self.file),
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

    fn source_error(&self) -> ReadError {
        let error = self.shared.error.borrow_mut().take();
        error.unwrap_or_else(|| ReadError::ValueTooLarge {
            file: Arc::clone(&self.file),
            line: self.last_line,
            limit: self.limits.item_bytes,
        })
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}
