//! The push parser: pieces of text in, whole objects and list heads out.
//!
//! Only the envelope is parsed here, the members of top-level objects down to the brackets of `items`. It accepts what
//! `kubectl` and the API server write in any order of keys, objects one after the other with or without line breaks
//! between them, and lists between those.

use super::capture::Capture;
use super::error::{JsonError, JsonErrorKind};
use super::limits::JsonLimits;
use super::probe;
use super::skip::Skip;
use crate::files::fault::Fault;
use crate::files::list_head::ListHead;

/// Something found in the text.
#[derive(Debug)]
pub enum JsonEvent<'a> {
    /// A complete object, of a list or on its own.
    Item(JsonItem<'a>),
    /// Something where an object should be. The text after it is sound.
    Bad {
        /// The line it begins in.
        line: u64,
        /// Its place in the list, from 0.
        index: Option<u64>,
        /// The problem.
        message: String,
        /// `apiVersion` and `kind`, if they can be determined.
        head: Option<(String, String)>,
    },
    /// The end of a list, with everything known of it.
    ListEnd(&'a ListHead),
}

/// A complete JSON object. It begins with `{` and ends with the matching `}`; nothing else was checked.
#[derive(Debug)]
pub struct JsonItem<'a> {
    /// The object's text.
    pub json: &'a [u8],
    /// The line it begins in, from 1.
    pub line: u64,
    /// Its place in the list, from 0. None for an object outside of a list.
    pub index: Option<u64>,
    /// Known metadata of its list. Keys after `items` are still missing.
    pub list: Option<&'a ListHead>,
}

/// A list's `metadata` is a few short strings.
const HEAD_LIMIT: usize = 1 << 20;
/// Longer keys are none that mean anything here.
const KEY_LIMIT: usize = 64;

/// Cuts JSON text into objects. Feed it all pieces with [`feed`](Self::feed), then call [`finish`](Self::finish).
///
/// ```
/// use dra_sources::files::{JsonEvent, JsonItems, JsonLimits};
///
/// let mut items = JsonItems::new(JsonLimits::default());
/// let mut names = Vec::new();
/// for piece in [r#"{"kind":"PodList","items":[{"name""#, r#":"a"},{"name":"b"}]}"#] {
///     let mut feed = items.feed(piece.as_bytes());
///     while let Some(event) = feed.next_event()? {
///         match event {
///             JsonEvent::Item(item) => names.push(String::from_utf8_lossy(item.json).into_owned()),
///             JsonEvent::ListEnd(list) => assert_eq!(list.kind.as_deref(), Some("PodList")),
///             JsonEvent::Bad { .. } => unreachable!(),
///         }
///     }
/// }
/// items.finish()?;
/// assert_eq!(names, [r#"{"name":"a"}"#, r#"{"name":"b"}"#]);
/// # Ok::<(), dra_sources::files::JsonError>(())
/// ```
#[derive(Debug)]
pub struct JsonItems {
    limits: JsonLimits,
    state: State,
    /// The value being read, in the states that read one.
    skip: Skip,
    /// The key being read, then the last key read.
    key: Capture,
    /// The member of that key, if it is one of [`MEMBERS`].
    member: Option<&'static str>,
    /// The value of a member that describes the list, or the element of `items` being read.
    value: Capture,
    value_line: u64,
    /// The whole top-level object, for as long as it may turn out not to be a list.
    object: Capture,
    object_line: u64,
    object_too_deep: bool,
    list: ListHead,
    is_list: bool,
    /// `items` is neither an array nor null.
    has_odd_items: bool,
    /// `apiVersion` or `kind` is there twice, so that readers differ in what the object is.
    repeats: Option<&'static str>,
    /// Bytes before the current piece.
    offset: u64,
    line: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Between top-level objects.
    Top,
    /// Before a key or the end of the object.
    FirstKey,
    /// Before a key, after a comma.
    NextKey,
    /// Inside a key.
    Key,
    /// Before a colon.
    Colon,
    /// Before a member's value.
    Value,
    /// Inside a member's value.
    InValue,
    /// Before a comma or the end of the object.
    AfterValue,
    /// Before an element of `items` or its end.
    FirstElement,
    /// Before an element of `items`, after a comma.
    NextElement,
    /// Inside an element of `items`.
    InElement,
    /// Before a comma or the end of `items`.
    AfterElement,
}

/// The members of a top-level object that mean something here.
const MEMBERS: [&str; 4] = ["apiVersion", "kind", "metadata", "items"];

impl JsonItems {
    /// A parser at the start of a text.
    pub fn new(limits: JsonLimits) -> Self {
        Self {
            limits,
            state: State::Top,
            skip: Skip::Word,
            key: Capture::new(KEY_LIMIT),
            member: None,
            value: Capture::new(limits.item_bytes),
            value_line: 0,
            object: Capture::new(limits.item_bytes),
            object_line: 0,
            object_too_deep: false,
            list: ListHead::default(),
            is_list: false,
            has_odd_items: false,
            repeats: None,
            offset: 0,
            line: 1,
        }
    }

    /// Reads the next piece of the text. Call [`Feed::next_event`] until it returns nothing, then feed the next piece.
    pub fn feed<'a>(&'a mut self, piece: &'a [u8]) -> Feed<'a> {
        Feed {
            items: self,
            piece,
            position: 0,
            counted: 0,
        }
    }

    /// Checks that the text was complete.
    pub fn finish(&self) -> Result<(), JsonError> {
        let inside = match self.state {
            State::Top => return Ok(()),
            State::InElement | State::NextElement | State::FirstElement | State::AfterElement => {
                format!("`items`, in or after item {}", self.list.items)
            }
            _ if self.is_list => "a list".to_owned(),
            _ => "an object".to_owned(),
        };
        Err(JsonError {
            line: self.line,
            offset: self.offset,
            kind: JsonErrorKind::Truncated { inside },
        })
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.key.capacity() + self.value.capacity() + self.object.capacity()
    }

    /// Returns whether the text so far ends between top-level objects.
    pub(crate) fn is_between_objects(&self) -> bool {
        self.state == State::Top
    }

    fn begin_list(&mut self) {
        self.is_list = true;
        self.list.has_items = true;
        self.object.cancel();
    }

    /// Returns whether the completed top-level object is a list. A list without `items` is recognized by its kind.
    fn ends_list(&self) -> bool {
        self.is_list || self.list.has_list_kind()
    }
}

/// One piece of text being read. Events borrow from it and from the parser.
#[derive(Debug)]
pub struct Feed<'a> {
    items: &'a mut JsonItems,
    piece: &'a [u8],
    position: usize,
    /// Up to where line breaks of this piece are counted.
    counted: usize,
}

impl Feed<'_> {
    /// The next thing found, or `None` when the rest of the piece has been taken in.
    pub fn next_event(&mut self) -> Result<Option<JsonEvent<'_>>, JsonError> {
        // The loop decides, the borrow of what it found follows: a borrow that is returned from inside of a loop would
        // last for the whole of it.
        Ok(match self.find()? {
            None => None,
            Some(Found::Object { is_element }) => Some(self.object(is_element)),
            Some(Found::ListEnd) => Some(JsonEvent::ListEnd(&self.items.list)),
        })
    }

    /// The part of the piece that was not read because of an error.
    pub(crate) fn unread(&self) -> &[u8] {
        self.piece.get(self.position..).unwrap_or_default()
    }

    fn find(&mut self) -> Result<Option<Found>, JsonError> {
        loop {
            match self.items.state {
                State::Key | State::InValue | State::InElement => {
                    let rest = &self.piece[self.position..];
                    let Some(length) = self.items.skip.advance(rest) else {
                        self.end_piece();
                        return Ok(None);
                    };
                    self.position += length;
                    match self.items.state {
                        State::Key => self.end_key(),
                        State::InValue => self.end_value()?,
                        _ => {
                            self.items.state = State::AfterElement;
                            return Ok(Some(Found::Object { is_element: true }));
                        }
                    }
                }
                state => {
                    let Some(byte) = self.next_token() else {
                        self.end_piece();
                        return Ok(None);
                    };
                    if let Some(found) = self.token(state, byte)? {
                        return Ok(Some(found));
                    }
                }
            }
        }
    }

    /// Steps over blanks to the next byte that means something.
    fn next_token(&mut self) -> Option<u8> {
        loop {
            let byte = *self.piece.get(self.position)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.position += 1;
        }
    }

    /// Handles the byte at the current position in a state between values.
    fn token(&mut self, state: State, byte: u8) -> Result<Option<Found>, JsonError> {
        match (state, byte) {
            (State::Top, b'{') => self.begin_object(),
            (State::Top, _) => return Err(self.unexpected(byte, "an object")),
            (State::FirstKey | State::NextKey, b'"') => {
                self.items.key.begin(self.position);
                self.begin_value(byte, State::Key, "a key")?;
                return Ok(None);
            }
            (State::FirstKey | State::AfterValue, b'}') => {
                self.position += 1;
                self.items.state = State::Top;
                self.items.list.is_odd |= self.items.repeats.is_some();
                if self.items.has_odd_items && self.items.ends_list() {
                    return Err(self.error(JsonErrorKind::ItemsNotAnArray));
                }
                return Ok(Some(if self.items.ends_list() {
                    Found::ListEnd
                } else {
                    Found::Object { is_element: false }
                }));
            }
            (State::FirstKey, _) => return Err(self.unexpected(byte, "a key or `}`")),
            (State::NextKey, _) => return Err(self.unexpected(byte, "a key")),
            (State::Colon, b':') => self.items.state = State::Value,
            (State::Colon, _) => return Err(self.unexpected(byte, "`:`")),
            (State::Value, b'[') if self.items.member == Some("items") => {
                self.items.begin_list();
                self.items.state = State::FirstElement;
            }
            (State::Value, _) => {
                if self.items.member.is_some() {
                    self.items.value.begin(self.position);
                }
                self.begin_value(byte, State::InValue, "a value")?;
                return Ok(None);
            }
            (State::AfterValue, b',') => self.items.state = State::NextKey,
            (State::AfterValue, _) => return Err(self.unexpected(byte, "`,` or `}`")),
            (State::FirstElement | State::AfterElement, b']') => self.items.state = State::AfterValue,
            (State::FirstElement | State::NextElement, _) => {
                self.items.value_line = self.line_here();
                self.items.value.begin(self.position);
                self.begin_value(byte, State::InElement, "an object")?;
                return Ok(None);
            }
            (State::AfterElement, b',') => self.items.state = State::NextElement,
            (State::AfterElement, _) => return Err(self.unexpected(byte, "`,` or `]`")),
            (State::Key | State::InValue | State::InElement, _) => {}
        }
        self.position += 1;
        Ok(None)
    }

    fn begin_object(&mut self) {
        self.items.object_line = self.line_here();
        self.items.object_too_deep = false;
        self.items.object.begin(self.position);
        self.items.list = ListHead {
            line: self.items.object_line,
            ..ListHead::default()
        };
        self.items.is_list = false;
        self.items.has_odd_items = false;
        self.items.repeats = None;
        self.items.state = State::FirstKey;
    }

    fn begin_value(&mut self, first: u8, state: State, expected: &'static str) -> Result<(), JsonError> {
        // One level is the top-level object itself.
        let depth = self
            .items
            .limits
            .depth
            .saturating_sub(u32::from(state == State::InValue));
        self.items.skip =
            Skip::starting_with(first, depth).ok_or_else(|| self.unexpected(first, expected))?;
        self.items.state = state;
        Ok(())
    }

    fn end_key(&mut self) {
        let key = self.items.key.finish(self.piece, self.position);
        let key = key.and_then(probe::text);
        self.items.member = MEMBERS.into_iter().find(|known| key.as_deref() == Some(*known));
        self.items.state = State::Colon;
    }

    fn end_value(&mut self) -> Result<(), JsonError> {
        self.items.object_too_deep |= self.items.skip.too_deep();
        self.items.state = State::AfterValue;
        let Some(member) = self.items.member else {
            return Ok(());
        };
        let value = self.items.value.finish(self.piece, self.position);
        let list = &mut self.items.list;
        match (member, value) {
            ("apiVersion" | "kind", Some(value)) => {
                let field = if member == "kind" {
                    &mut list.kind
                } else {
                    &mut list.api_version
                };
                if field.is_some() {
                    self.items.repeats = Some(member);
                }
                *field = probe::text(value).map(Into::into);
            }
            ("metadata", Some(value)) if value.len() <= HEAD_LIMIT => list.set_metadata(value),
            // Of a single object any metadata is welcome; for a list, this much is indistinguishable from an attack.
            ("metadata", _) if self.items.is_list => {
                let kind = JsonErrorKind::HeadTooLarge {
                    key: "metadata",
                    limit: HEAD_LIMIT,
                };
                return Err(self.error(kind));
            }
            // An empty Go slice is written as null.
            ("items", Some(b"null")) => {
                self.items.begin_list();
                self.items.list.has_null_items = true;
            }
            ("items", _) => self.items.has_odd_items = true,
            _ => {}
        }
        Ok(())
    }

    fn object(&mut self, is_element: bool) -> JsonEvent<'_> {
        let items = &mut *self.items;
        let index = is_element.then_some(items.list.items);
        items.list.items += u64::from(is_element);
        let (line, too_deep, repeats, capture) = if is_element {
            (items.value_line, items.skip.too_deep(), None, &mut items.value)
        } else {
            let too_deep = items.object_too_deep;
            (items.object_line, too_deep, items.repeats, &mut items.object)
        };
        let limits = items.limits;
        let mut head = None;
        let fault = match (capture.finish(self.piece, self.position), repeats) {
            (json, _) if too_deep => {
                head = json.and_then(probe::certain_head);
                Fault::TooDeep { limit: limits.depth }
            }
            (_, Some(key)) => Fault::RepeatedKey { key: key.to_owned() },
            (Some(json @ [b'{', ..]), None) => {
                return JsonEvent::Item(JsonItem {
                    json,
                    line,
                    index,
                    list: is_element.then_some(&items.list),
                });
            }
            (Some(_), None) => Fault::NotAnObject,
            (None, None) => Fault::TooLarge {
                limit: limits.item_bytes,
            },
        };
        JsonEvent::Bad {
            line,
            index,
            message: fault.to_string(),
            head,
        }
    }

    /// Keeps what later pieces need of this one.
    fn end_piece(&mut self) {
        self.position = self.piece.len();
        self.line_here();
        let items = &mut *self.items;
        match items.state {
            State::Key => items.key.keep(self.piece),
            State::InValue | State::InElement => items.value.keep(self.piece),
            _ => {}
        }
        if items.state != State::Top {
            items.object.keep(self.piece);
        }
        items.offset += self.piece.len() as u64;
        self.piece = &[];
        self.position = 0;
        self.counted = 0;
    }

    /// The line of the current position.
    fn line_here(&mut self) -> u64 {
        let new = self.piece.get(self.counted..self.position).unwrap_or_default();
        self.items.line += memchr::memchr_iter(b'\n', new).count() as u64;
        self.counted = self.position;
        self.items.line
    }

    fn unexpected(&mut self, found: u8, expected: &'static str) -> JsonError {
        self.error(JsonErrorKind::Unexpected { found, expected })
    }

    fn error(&mut self, kind: JsonErrorKind) -> JsonError {
        JsonError {
            line: self.line_here(),
            offset: self.items.offset + self.position as u64,
            kind,
        }
    }
}

/// Result of [`Feed::find`]. The bytes are in the capture of that name.
enum Found {
    Object { is_element: bool },
    ListEnd,
}
