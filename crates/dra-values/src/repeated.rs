//! Parts of objects that many objects have in common: what a template asks for, what a Job's pods request.
//!
//! Claims of one template and pods of one owner differ in name and state only. [`Repeated`] keeps what they share once for
//! all of them, found by its text: a second occurrence is neither decoded nor stored. That takes a third of the memory of a
//! large cluster away, and with it the time in which the machine would have had to provide it.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{decode, json};

/// Part that many objects can share.
pub trait Part: Clone + Default + DeserializeOwned + Send + Sync + 'static {
    /// Returns what stands for a part that is absent or `null`.
    fn absent() -> &'static Self;
}

impl<T: Clone + DeserializeOwned + Send + Sync + 'static> Part for Vec<T> {
    fn absent() -> &'static Self {
        const { &Vec::new() }
    }
}

/// A part of an object, shared with the other objects of the source that have the same one. A change makes a copy. An
/// absent part takes no memory.
#[derive(Clone)]
pub struct Repeated<T>(Option<Arc<T>>);

impl<T> Default for Repeated<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Part> Deref for Repeated<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or_else(|| T::absent())
    }
}

impl<T: Part> DerefMut for Repeated<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl<T> From<T> for Repeated<T> {
    fn from(part: T) -> Self {
        Self(Some(Arc::new(part)))
    }
}

impl<T: Part + fmt::Debug> fmt::Debug for Repeated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<T: Part + PartialEq> PartialEq for Repeated<T> {
    fn eq(&self, other: &Self) -> bool {
        T::eq(self, other)
    }
}

impl<T: Part + Eq> Eq for Repeated<T> {}

impl<'a, T> IntoIterator for &'a Repeated<Vec<T>>
where
    Vec<T>: Part,
{
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Part> decode::Read<'_> for Repeated<T> {}

/// `null` is the absent part, as everywhere.
impl<'de, T: Part> Deserialize<'de> for Repeated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !decode::is_sharing() {
            return Ok(Self(Option::<T>::deserialize(deserializer)?.map(Arc::new)));
        }
        let text = <&RawValue>::deserialize(deserializer)?.get();
        if text == "null" {
            return Ok(Self(None));
        }
        let part = decode::repeated(text, || {
            decode::weigh_part::<D::Error>(text)?;
            json::from_str(text).map(Arc::new).map_err(D::Error::custom)
        })?;
        Ok(Self(Some(part)))
    }
}

/// Longer texts are hardly ever the same twice.
const LONGEST: usize = 4 << 10;
/// Parts remembered of each type. A cluster has few templates and some thousand nodes; what has more does not repeat.
const MOST: usize = 1 << 14;

/// The parts that a source has had so far, by their text.
#[derive(Default)]
pub(crate) struct Parts(Vec<(TypeId, ByText)>);

type ByText = HashMap<Box<str>, Arc<dyn Any + Send + Sync>, foldhash::quality::RandomState>;

impl Parts {
    /// The part that was read from `text` before.
    pub(crate) fn get<T: Part>(&self, text: &str) -> Option<Arc<T>> {
        let (_, known) = self.0.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        Arc::clone(known.get(text)?).downcast().ok()
    }

    /// Remembers what was read from `text`, unless it will hardly come again.
    pub(crate) fn put<T: Part>(&mut self, text: &str, part: &Arc<T>) {
        if text.len() > LONGEST {
            return;
        }
        let id = TypeId::of::<T>();
        let place = self
            .0
            .iter()
            .position(|(known, _)| *known == id)
            .unwrap_or_else(|| {
                self.0.push((id, ByText::default()));
                self.0.len() - 1
            });
        let known = &mut self.0[place].1;
        if known.len() < MOST {
            let part: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(part);
            known.insert(text.into(), part);
        }
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.0.iter().map(|(_, known)| known.len());
        f.debug_list().entries(counts).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Interner, with_interner};
    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Sample {
        words: Repeated<Vec<String>>,
    }

    fn read(interner: &mut Interner, text: &str) -> Result<Sample, serde_json::Error> {
        with_interner(interner, || serde_json::from_str(text))
    }

    #[test]
    fn equal_texts_share_one_part_until_one_is_changed() {
        let mut interner = Interner::default();
        let mut next = || read(&mut interner, r#"{"words": ["a", "b"]}"#).unwrap();
        let (first, mut second, third) = (next(), next(), next());
        assert_eq!(first.words.as_ptr(), second.words.as_ptr());
        second.words.push("c".to_owned());
        assert_eq!(*second.words, ["a", "b", "c"]);
        assert_eq!(*third.words, ["a", "b"]);
        assert_eq!(first.words, third.words);
        assert_ne!(first.words, second.words);
    }

    #[test]
    fn null_and_nothing_are_the_absent_part() {
        let mut interner = Interner::default();
        for text in ["{}", r#"{"words": null}"#] {
            let mut sample = read(&mut interner, text).unwrap();
            assert!(sample.words.is_empty());
            assert!(sample.words.0.is_none());
            sample.words.push("a".to_owned());
            assert_eq!(*sample.words, ["a"]);
        }
    }

    #[test]
    fn without_an_interner_each_object_has_its_own() {
        let one = || serde_json::from_str::<Sample>(r#"{"words": ["a"]}"#).unwrap();
        let (first, second) = (one(), one());
        assert_ne!(first.words.as_ptr(), second.words.as_ptr());
    }
}
