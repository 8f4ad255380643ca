//! From parser events to the JSON text of an object.
//!
//! The text is written as the events come, without a tree in between. Anchored values are kept as text and copied where
//! an alias stands for them, within a budget; the members of merged mappings are written where the merge key stands.

use std::collections::{BTreeMap, HashMap, HashSet};

use granit_parser::{Event, ScalarStyle, Tag};
use serde_json::value::RawValue;

use super::scalar::{self, Scalar};
use crate::files::fault::Fault;
use crate::files::json::Members;
use crate::files::options::Limits;
use dra_model::json;

/// Builds JSON from the events of one YAML document.
#[derive(Debug)]
pub(super) struct Builder {
    limits: Limits,
    /// The JSON so far. Always complete up to the value that comes next.
    out: Vec<u8>,
    frames: Vec<Frame>,
    /// The JSON of anchored values that are complete.
    anchors: HashMap<usize, Box<[u8]>>,
    /// Expansion by anchors and aliases in this document, limited by [`Limits::alias_bytes`].
    alias_bytes: usize,
    /// Values since the last object ended.
    values: usize,
    /// Number of frames around the elements of a list, which are built one by one.
    outside: usize,
}

/// A mapping or sequence that has begun and not ended.
#[derive(Debug)]
struct Frame {
    /// Start of its JSON.
    start: usize,
    anchor: usize,
    /// Members or elements that are complete.
    count: usize,
    /// Nothing for a sequence.
    mapping: Option<Mapping>,
}

/// Part of a frame that only mappings have.
#[derive(Debug, Default)]
struct Mapping {
    /// True if the next event is a value, for a key that has been read.
    has_key: bool,
    /// True if that key is a merge key.
    is_merge: bool,
    /// True if there are members of other mappings in it.
    has_merged: bool,
    /// Start of that value's JSON.
    value_start: usize,
    /// The last key that is no merge key.
    key: String,
    /// Its own keys.
    keys: HashSet<Box<str>>,
    key_bytes: usize,
}

impl Mapping {
    /// Notes a key, and that it is not there twice.
    fn add(&mut self, key: String, limit: usize) -> Result<(), Fault> {
        if !self.keys.insert(key.as_str().into()) {
            return Err(Fault::RepeatedKey {
                key: key.chars().take(80).collect(),
            });
        }
        // In a list these are not a part of any object.
        self.key_bytes += key.len();
        if self.key_bytes > limit {
            return Err(Fault::TooLarge { limit });
        }
        self.key = key;
        Ok(())
    }
}

impl Builder {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            out: Vec::new(),
            frames: Vec::new(),
            anchors: HashMap::new(),
            alias_bytes: 0,
            values: 0,
            outside: 0,
        }
    }

    /// Forgets everything of the last document.
    pub(super) fn begin_document(&mut self) {
        self.anchors.clear();
        self.alias_bytes = 0;
        self.outside = 0;
        self.frames.clear();
        self.begin_object();
    }

    /// Forgets the JSON so far, since an object is complete.
    pub(super) fn begin_object(&mut self) {
        self.out.clear();
        self.out.shrink_to(1 << 20);
        self.values = 0;
        if let Some(frame) = self.frames.last_mut() {
            frame.count = 0;
        }
    }

    /// The JSON so far.
    pub(super) fn json(&self) -> &[u8] {
        &self.out
    }

    /// The outermost mapping, if none has begun in it.
    fn root(&self) -> Option<&Mapping> {
        match &*self.frames {
            [root] => root.mapping.as_ref().filter(|mapping| !mapping.is_merge),
            _ => None,
        }
    }

    /// Returns whether the next event is the value of this key of the outermost mapping.
    pub(super) fn awaits_value_of(&self, key: &str) -> bool {
        self.root().is_some_and(|root| root.has_key && root.key == key)
    }

    /// The member of the outermost mapping that was just completed, with its value as JSON.
    pub(super) fn root_member(&self) -> Option<(&str, &[u8])> {
        let root = self.root().filter(|root| !root.has_key)?;
        Some((&root.key, self.out.get(root.value_start..)?))
    }

    /// Begins the list that is the value of the outermost mapping's last key. Its elements are built one by one, and
    /// what the mapping has so far is dropped.
    pub(super) fn begin_list(&mut self) -> Result<(), Fault> {
        if self.root().is_some_and(|root| root.has_merged) {
            return Err(Fault::MergeInList);
        }
        self.frames.push(Frame {
            start: 0,
            anchor: 0,
            count: 0,
            mapping: None,
        });
        self.outside = self.frames.len();
        self.begin_object();
        Ok(())
    }

    /// Ends that list.
    pub(super) fn end_list(&mut self) {
        self.abandon_object();
        self.frames.pop();
        self.outside = 0;
        if let Some(mapping) = self.mapping() {
            mapping.has_key = false;
        }
    }

    /// Forgets an element of the list that cannot be completed.
    pub(super) fn abandon_object(&mut self) {
        self.frames.truncate(self.outside);
        self.begin_object();
    }

    /// The innermost frame, if it is a mapping.
    fn mapping(&mut self) -> Option<&mut Mapping> {
        self.frames.last_mut()?.mapping.as_mut()
    }

    /// Takes in the next event. After a fault the object cannot be completed.
    pub(super) fn event(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        match event {
            Event::MappingEnd | Event::SequenceEnd => self.end()?,
            _ => {
                self.values += 1;
                if self.values > self.limits.values {
                    return Err(Fault::TooManyValues {
                        limit: self.limits.values,
                    });
                }
                if self.mapping().is_some_and(|mapping| !mapping.has_key) {
                    self.key(event)?;
                } else {
                    self.value(event)?;
                }
            }
        }
        if self.out.len() > self.limits.item_bytes {
            return Err(Fault::TooLarge {
                limit: self.limits.item_bytes,
            });
        }
        Ok(())
    }

    fn key(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let (text, merge) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = resolve(text, *style, tag.as_deref())?;
                if *anchor != 0 {
                    let mut json = Vec::new();
                    scalar::write_value(&mut json, text, scalar)?;
                    self.keep_anchor(*anchor, json.into())?;
                }
                let merge = match tag {
                    None => *style == ScalarStyle::Plain && text == "<<",
                    Some(tag) => text == "<<" && yaml_tag(tag).is_some_and(|name| name == "merge"),
                };
                (scalar::key(text, scalar)?, merge)
            }
            Event::Alias(id) => (key_of_json(self.anchor(*id)?)?, false),
            Event::UnresolvedAlias(name) => {
                return Err(Fault::UnknownAnchor {
                    name: name.chars().take(40).collect(),
                });
            }
            _ => return Err(Fault::ComplexKey),
        };
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let Some(mapping) = &mut frame.mapping else {
            return Ok(());
        };
        mapping.has_key = true;
        mapping.is_merge = merge;
        if !merge {
            if frame.count > 0 {
                self.out.push(b',');
            }
            scalar::write_text(&mut self.out, &text);
            self.out.push(b':');
            mapping.add(text, self.limits.item_bytes)?;
        }
        mapping.value_start = self.out.len();
        Ok(())
    }

    fn value(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        if let Some(Frame {
            count: 1..,
            mapping: None,
            ..
        }) = self.frames.last()
        {
            self.out.push(b',');
        }
        let start = self.out.len();
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = resolve(text, *style, tag.as_deref())?;
                scalar::write_value(&mut self.out, text, scalar)?;
                self.complete(start, *anchor)
            }
            Event::Alias(id) => {
                let json = self.anchors.get(id).ok_or(Fault::UnfinishedAnchor)?;
                self.out.extend_from_slice(json);
                let bytes = json.len();
                self.expand(bytes)?;
                self.complete(start, 0)
            }
            Event::UnresolvedAlias(name) => Err(Fault::UnknownAnchor {
                name: name.chars().take(40).collect(),
            }),
            Event::SequenceStart(_, anchor, _) => self.begin(b'[', *anchor, None),
            Event::MappingStart(_, anchor, _) => self.begin(b'{', *anchor, Some(Mapping::default())),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, bracket: u8, anchor: usize, mapping: Option<Mapping>) -> Result<(), Fault> {
        if self.frames.len() >= self.outside + self.limits.depth as usize {
            return Err(Fault::TooDeep {
                limit: self.limits.depth,
            });
        }
        self.frames.push(Frame {
            start: self.out.len(),
            anchor,
            count: 0,
            mapping,
        });
        self.out.push(bracket);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        self.out.push(if frame.mapping.is_some() { b'}' } else { b']' });
        if frame.mapping.is_some_and(|mapping| mapping.has_merged) {
            let object = self.out.split_off(frame.start);
            write_once_each(&mut self.out, &object);
        }
        self.complete(frame.start, frame.anchor)
    }

    /// Notes that the value whose JSON begins at `start` is complete.
    fn complete(&mut self, start: usize, anchor: usize) -> Result<(), Fault> {
        if anchor != 0 {
            let json = self.out.get(start..).unwrap_or_default().into();
            self.keep_anchor(anchor, json)?;
        }
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        if let Some(mapping) = &mut frame.mapping {
            mapping.has_key = false;
            if mapping.is_merge {
                let json = self.out.split_off(mapping.value_start);
                for merged in merged_mappings(&json)? {
                    mapping.has_merged = true;
                    for member in Members::of(merged) {
                        write_member(&mut self.out, frame.count == 0, member);
                        frame.count += 1;
                    }
                }
                return Ok(());
            }
        }
        frame.count += 1;
        Ok(())
    }

    fn keep_anchor(&mut self, id: usize, json: Box<[u8]>) -> Result<(), Fault> {
        // Every anchor costs memory, however short its value.
        self.expand(json.len() + 64)?;
        self.anchors.insert(id, json);
        Ok(())
    }

    /// Counts what anchors and aliases add.
    fn expand(&mut self, bytes: usize) -> Result<(), Fault> {
        self.alias_bytes += bytes;
        if self.alias_bytes > self.limits.alias_bytes {
            return Err(Fault::TooManyAliases {
                limit: self.limits.alias_bytes,
            });
        }
        Ok(())
    }

    fn anchor(&self, id: usize) -> Result<&[u8], Fault> {
        self.anchors
            .get(&id)
            .map(|json| &**json)
            .ok_or(Fault::UnfinishedAnchor)
    }
}

/// The meaning of a scalar with its notation and tag.
fn resolve(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Scalar, Fault> {
    let name = tag.map(|tag| yaml_tag(tag).unwrap_or("str".into()));
    match name.as_deref() {
        Some("binary") => Err(Fault::Binary),
        None if style != ScalarStyle::Plain => Ok(Scalar::Text),
        name => scalar::resolve(text, name),
    }
}

/// The name of a tag of the YAML namespace: `int` for `!!int`.
fn yaml_tag(tag: &Tag) -> Option<std::borrow::Cow<'_, str>> {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
}

/// The key that an alias to a value stands for.
fn key_of_json(json: &[u8]) -> Result<String, Fault> {
    match json.first() {
        Some(b'"') => json::from_slice(json).map_err(|_| Fault::ComplexKey),
        Some(b'{' | b'[') => Err(Fault::ComplexKey),
        Some(b'n') => Err(Fault::NullKey),
        _ => Ok(String::from_utf8_lossy(json).into_owned()),
    }
}

/// The mapping or mappings that a merge key has as its value, the one that wins last.
fn merged_mappings(json: &[u8]) -> Result<Vec<&[u8]>, Fault> {
    match json.first() {
        Some(b'{') => Ok(vec![json]),
        Some(b'[') => {
            let elements: Vec<&RawValue> = json::from_slice(json).map_err(|_| Fault::MergeNotMapping)?;
            // Of several mappings the first wins.
            let mappings = elements.into_iter().rev().map(|element| element.get());
            mappings
                .map(|mapping| mapping.starts_with('{').then_some(mapping.as_bytes()))
                .collect::<Option<_>>()
                .ok_or(Fault::MergeNotMapping)
        }
        _ => Err(Fault::MergeNotMapping),
    }
}

/// Writes an object with each of its keys once. Of equal keys the last in the order of the text wins, which is what
/// `decode.go`, `mapping`, does.
fn write_once_each(out: &mut Vec<u8>, object: &[u8]) {
    let members: BTreeMap<&[u8], &[u8]> = Members::of(object).collect();
    out.push(b'{');
    for (index, member) in members.into_iter().enumerate() {
        write_member(out, index == 0, member);
    }
    out.push(b'}');
}

fn write_member(out: &mut Vec<u8>, is_first: bool, (key, value): (&[u8], &[u8])) {
    if !is_first {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(key);
    out.extend_from_slice(b"\":");
    out.extend_from_slice(value);
}
