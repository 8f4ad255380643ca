//! From parser events to the JSON text of an object.
//!
//! The text is written as the events come, without a tree in between. Anchored values are kept as text and copied where
//! an alias stands for them, within a budget; mappings with merge keys are put together at their end.

use std::collections::{HashMap, HashSet};

use granit_parser::{Event, ScalarStyle, Tag};

use super::Fault;
use super::scalar::{self, Scalar, Wanted};
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
    keys: Keys,
    /// The JSON of anchored values that are complete.
    anchors: HashMap<usize, Box<[u8]>>,
    /// Expansion by anchors and aliases in this document, limited by [`Limits::alias_bytes`].
    alias_bytes: usize,
    /// Values since the last object ended.
    values: usize,
    list: Option<List>,
}

/// Part of a list outside of its elements, which are built one by one.
#[derive(Debug)]
struct List {
    frames: usize,
    keys: usize,
}

/// A mapping or sequence that has begun and not ended.
#[derive(Debug)]
struct Frame {
    /// Start of its JSON.
    start: usize,
    anchor: usize,
    /// Members or elements that are complete.
    count: usize,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    Sequence,
    Mapping {
        /// True if the next event is a value, for a key that has been read.
        has_key: bool,
        /// True if that key is a merge key.
        is_merge: bool,
        /// Start of that value's JSON.
        value_start: usize,
        /// Number of keys outer mappings have.
        outer_keys: usize,
        merges: Vec<Merge>,
        /// All keys, once there are too many to compare one by one.
        seen: Option<HashSet<Box<[u8]>>>,
    },
}

/// The value of a merge key.
#[derive(Debug)]
struct Merge {
    /// Number of members come before it. Those after it win over it, and it over those.
    after: usize,
    json: Box<[u8]>,
}

/// More keys than this are looked up by hash.
const COMPARED_KEYS: usize = 24;

impl Builder {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            out: Vec::new(),
            frames: Vec::new(),
            keys: Keys::default(),
            anchors: HashMap::new(),
            alias_bytes: 0,
            values: 0,
            list: None,
        }
    }

    /// Forgets everything of the last document.
    pub(super) fn begin_document(&mut self) {
        self.anchors.clear();
        self.alias_bytes = 0;
        self.list = None;
        self.frames.clear();
        self.keys.truncate(0);
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

    /// The key of the outermost mapping whose value comes next or just came.
    pub(super) fn root_key(&self) -> &[u8] {
        match self.frames.first() {
            Some(Frame {
                shape: Shape::Mapping { outer_keys, .. },
                ..
            }) if self.keys.len() > *outer_keys => self.keys.last(),
            _ => b"",
        }
    }

    /// Returns whether the next event is a value of the outermost mapping.
    pub(super) fn awaits_root_value(&self) -> bool {
        matches!(
            &*self.frames,
            [Frame {
                shape: Shape::Mapping {
                    has_key: true,
                    is_merge: false,
                    ..
                },
                ..
            }]
        )
    }

    /// The JSON of the value of the outermost mapping that was just completed.
    pub(super) fn root_value(&self) -> Option<&[u8]> {
        match &*self.frames {
            [
                Frame {
                    shape:
                        Shape::Mapping {
                            has_key: false,
                            is_merge: false,
                            value_start,
                            ..
                        },
                    ..
                },
            ] => self.out.get(*value_start..),
            _ => None,
        }
    }

    /// Begins the list that is the value of the outermost mapping's last key. Its elements are built one by one, and
    /// what the mapping has so far is dropped.
    pub(super) fn begin_list(&mut self) -> Result<(), Fault> {
        if let [
            Frame {
                count,
                shape: Shape::Mapping { merges, .. },
                ..
            },
        ] = &mut *self.frames
        {
            *count = 0;
            if !merges.is_empty() {
                return Err(Fault::MergeInList);
            }
        }
        self.frames.push(Frame {
            start: 0,
            anchor: 0,
            count: 0,
            shape: Shape::Sequence,
        });
        self.list = Some(List {
            frames: self.frames.len(),
            keys: self.keys.len(),
        });
        self.begin_object();
        Ok(())
    }

    /// Ends that list.
    pub(super) fn end_list(&mut self) {
        self.abandon_object();
        self.frames.pop();
        self.list = None;
        if let Some(Frame {
            shape: Shape::Mapping { has_key, .. },
            ..
        }) = self.frames.last_mut()
        {
            *has_key = false;
        }
    }

    /// Forgets an element of the list that cannot be completed.
    pub(super) fn abandon_object(&mut self) {
        if let Some(list) = &self.list {
            self.frames.truncate(list.frames);
            self.keys.truncate(list.keys);
        }
        self.begin_object();
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
                match self.frames.last() {
                    Some(Frame {
                        shape: Shape::Mapping { has_key: false, .. },
                        ..
                    }) => self.key(event)?,
                    _ => self.value(event)?,
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
        let Some(Frame {
            count,
            shape:
                Shape::Mapping {
                    has_key,
                    is_merge,
                    value_start,
                    outer_keys,
                    seen,
                    ..
                },
            ..
        }) = self.frames.last_mut()
        else {
            return Ok(());
        };
        *has_key = true;
        *is_merge = merge;
        if !merge {
            self.keys.add(*outer_keys, seen, &text, self.limits.item_bytes)?;
            if *count > 0 {
                self.out.push(b',');
            }
            scalar::write_text(&mut self.out, &text);
            self.out.push(b':');
        }
        *value_start = self.out.len();
        Ok(())
    }

    fn value(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        if let Some(Frame {
            count: 1..,
            shape: Shape::Sequence,
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
                self.alias_bytes += json.len();
                if self.alias_bytes > self.limits.alias_bytes {
                    return Err(Fault::TooManyAliases {
                        limit: self.limits.alias_bytes,
                    });
                }
                self.out.extend_from_slice(json);
                self.complete(start, 0)
            }
            Event::UnresolvedAlias(name) => Err(Fault::UnknownAnchor {
                name: name.chars().take(40).collect(),
            }),
            Event::SequenceStart(_, anchor, _) => self.begin(b'[', *anchor, Shape::Sequence),
            Event::MappingStart(_, anchor, _) => {
                let outer_keys = self.keys.len();
                let (merges, seen) = (Vec::new(), None);
                let shape = Shape::Mapping {
                    has_key: false,
                    is_merge: false,
                    value_start: 0,
                    outer_keys,
                    merges,
                    seen,
                };
                self.begin(b'{', *anchor, shape)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, bracket: u8, anchor: usize, shape: Shape) -> Result<(), Fault> {
        let outside = self.list.as_ref().map_or(0, |list| list.frames);
        if self.frames.len() >= outside + self.limits.depth as usize {
            return Err(Fault::TooDeep {
                limit: self.limits.depth,
            });
        }
        self.frames.push(Frame {
            start: self.out.len(),
            anchor,
            count: 0,
            shape,
        });
        self.out.push(bracket);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        match frame.shape {
            Shape::Sequence => self.out.push(b']'),
            Shape::Mapping {
                outer_keys, merges, ..
            } => {
                self.keys.truncate(outer_keys);
                self.out.push(b'}');
                if !merges.is_empty() {
                    let merged = merged(self.out.get(frame.start..).unwrap_or_default(), &merges);
                    self.out.truncate(frame.start);
                    self.out.extend_from_slice(&merged);
                }
            }
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
        if let Shape::Mapping {
            has_key,
            is_merge,
            value_start,
            merges,
            ..
        } = &mut frame.shape
        {
            *has_key = false;
            if *is_merge {
                add_merges(
                    merges,
                    frame.count,
                    self.out.get(*value_start..).unwrap_or_default(),
                )?;
                self.out.truncate(*value_start);
                return Ok(());
            }
        }
        frame.count += 1;
        Ok(())
    }

    fn keep_anchor(&mut self, id: usize, json: Box<[u8]>) -> Result<(), Fault> {
        // Every anchor costs memory, however short its value.
        self.alias_bytes += json.len() + 64;
        if self.alias_bytes > self.limits.alias_bytes {
            return Err(Fault::TooManyAliases {
                limit: self.limits.alias_bytes,
            });
        }
        self.anchors.insert(id, json);
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
    let wanted = match tag {
        None if style == ScalarStyle::Plain => Wanted::Anything,
        None => Wanted::Text,
        Some(tag) => match yaml_tag(tag).as_deref() {
            Some("binary") => return Err(Fault::Binary),
            Some(name) => Wanted::by_tag(name),
            None => Wanted::Text,
        },
    };
    scalar::resolve(text, wanted)
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

/// Notes the mapping or mappings that a merge key has as its value.
fn add_merges(merges: &mut Vec<Merge>, after: usize, json: &[u8]) -> Result<(), Fault> {
    match json.first() {
        Some(b'{') => merges.push(Merge {
            after,
            json: json.into(),
        }),
        Some(b'[') => {
            let elements: Vec<&serde_json::value::RawValue> =
                json::from_slice(json).map_err(|_| Fault::MergeNotMapping)?;
            // Of several mappings the first wins.
            for element in elements.into_iter().rev() {
                if !element.get().starts_with('{') {
                    return Err(Fault::MergeNotMapping);
                }
                merges.push(Merge {
                    after,
                    json: element.get().as_bytes().into(),
                });
            }
        }
        _ => return Err(Fault::MergeNotMapping),
    }
    Ok(())
}

/// An object with the members of others mixed in. Of equal keys the last in the order of the text wins, which is what
/// `decode.go`, `mapping`, does.
fn merged(object: &[u8], merges: &[Merge]) -> Vec<u8> {
    let mut members: Vec<(&[u8], &[u8])> = Vec::new();
    let mut places: HashMap<&[u8], usize> = HashMap::new();
    let mut set = |(key, value)| match places.get(key) {
        Some(&place) => members[place] = (key, value),
        None => {
            places.insert(key, members.len());
            members.push((key, value));
        }
    };
    let mut merges = merges.iter().peekable();
    let mut own = Members::of(object).enumerate();
    loop {
        let next = own.next();
        let reached = next.as_ref().map_or(usize::MAX, |(count, _)| *count);
        while let Some(merge) = merges.next_if(|merge| merge.after <= reached) {
            Members::of(&merge.json).for_each(&mut set);
        }
        match next {
            Some((_, member)) => set(member),
            None => break,
        }
    }
    let mut out = vec![b'{'];
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(key);
        out.extend_from_slice(b"\":");
        out.extend_from_slice(value);
    }
    out.push(b'}');
    out
}

/// The keys of the mappings that have begun, those of inner ones after those of outer ones.
#[derive(Debug, Default)]
struct Keys {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn last(&self) -> &[u8] {
        self.get(self.ends.len().wrapping_sub(1))
    }

    fn get(&self, index: usize) -> &[u8] {
        let start = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .copied()
            .unwrap_or(0);
        self.ends
            .get(index)
            .and_then(|&end| self.text.get(start..end))
            .unwrap_or_default()
    }

    fn truncate(&mut self, count: usize) {
        self.ends.truncate(count);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Adds a key to the innermost mapping, whose keys begin after the first `outer`.
    fn add(
        &mut self,
        outer: usize,
        seen: &mut Option<HashSet<Box<[u8]>>>,
        key: &str,
        limit: usize,
    ) -> Result<(), Fault> {
        let count = self.len() - outer;
        let repeated = if count < COMPARED_KEYS {
            (outer..self.len()).any(|index| self.get(index) == key.as_bytes())
        } else {
            let seen =
                seen.get_or_insert_with(|| (outer..self.len()).map(|index| self.get(index).into()).collect());
            !seen.insert(key.as_bytes().into())
        };
        if repeated {
            return Err(Fault::RepeatedKey {
                key: key.chars().take(80).collect(),
            });
        }
        if self.text.len() + key.len() > limit {
            return Err(Fault::TooLarge { limit });
        }
        self.text.extend_from_slice(key.as_bytes());
        self.ends.push(self.text.len());
        Ok(())
    }
}
