//! Helpers for reading objects: JSON `null` means absent, and repeating texts are shared while one source is read.
//!
//! Kubernetes treats `null` like a missing field everywhere, so every list, map and text of the model does too.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{IgnoredAny, MapAccess};
use serde::{Deserialize, Deserializer};

use super::json::Key;
use super::repeated::Part;
use super::{Interner, Str};

thread_local! {
    static INTERNER: RefCell<Option<Interner>> = const { RefCell::new(None) };
    /// Bytes of memory that the object being read has taken so far. None where nothing is read with [`weighed`].
    static WEIGHT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The memory that one object may take. An API server stores none of more than some mebibytes; `{},` in a list of a file takes a
/// hundred times its text.
const HEAVIEST: usize = 32 << 20;

/// Runs `decode`, with the memory that what it reads takes beside itself, in bytes: its lists and texts. Reading fails when they are
/// more than an object of a cluster has.
pub fn weighed<T>(decode: impl FnOnce() -> T) -> (T, usize) {
    let outer = WEIGHT.replace(Some(0));
    let result = decode();
    let weight = WEIGHT.replace(outer).unwrap_or_default();
    (result, weight)
}

/// Counts memory of the object being read.
fn add_weight<E: serde::de::Error>(bytes: usize) -> Result<(), E> {
    let Some(weight) = WEIGHT.get() else {
        return Ok(());
    };
    let weight = weight.saturating_add(bytes);
    WEIGHT.set(Some(weight));
    if weight > HEAVIEST {
        return Err(E::custom(format_args!(
            "would take more than {} MiB of memory, more than any cluster object",
            HEAVIEST >> 20
        )));
    }
    Ok(())
}

/// Runs `decode` with `interner` in reach of every text that is read with [`field`], and hands it back for the next
/// object of the same source.
///
/// Serde offers no way to pass state to nested fields, so the interner lies in a thread-local slot for the duration of the call.
pub fn with_interner<T>(interner: &mut Interner, decode: impl FnOnce() -> T) -> T {
    INTERNER.with_borrow_mut(|slot| *slot = Some(std::mem::take(interner)));
    let result = decode();
    INTERNER.with_borrow_mut(|slot| *interner = slot.take().unwrap_or_default());
    result
}

/// Runs `decode` with nothing in reach to share with.
pub fn alone<T>(decode: impl FnOnce() -> T) -> T {
    let interner = INTERNER.with_borrow_mut(Option::take);
    let result = decode();
    INTERNER.with_borrow_mut(|slot| *slot = interner);
    result
}

/// Returns whether there is an interner in reach.
pub fn is_sharing() -> bool {
    INTERNER.with_borrow(Option::is_some)
}

impl<'de> Deserialize<'de> for Str {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Str;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Str, E> {
                add_weight(text.len() + OF_A_TEXT)?;
                Ok(Str::from(text))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The shared copy of a text that repeats within one source.
pub fn shared(text: &str) -> Str {
    INTERNER.with_borrow_mut(|slot| match slot {
        Some(interner) => interner.intern(text),
        None => Str::from(text),
    })
}

/// Size of a text besides its letters.
const OF_A_TEXT: usize = 2 * size_of::<usize>();

/// Counts a part of an object by its text, because the size of its type is unknown where it is read.
pub fn weigh_part<E: serde::de::Error>(text: &str) -> Result<(), E> {
    const OF_AN_ELEMENT: usize = 128;
    let elements = text.bytes().filter(|byte| *byte == b'{').count();
    add_weight(text.len() + elements * OF_AN_ELEMENT)
}

/// The part that was read from `text` before, or now with `read`.
pub fn repeated<T: Part, E>(text: &str, read: impl FnOnce() -> Result<Arc<T>, E>) -> Result<Arc<T>, E> {
    let known = INTERNER.with_borrow(|slot| slot.as_ref()?.parts.get(text));
    if let Some(known) = known {
        return Ok(known);
    }
    // Reading uses the interner itself.
    let part = read()?;
    INTERNER.with_borrow_mut(|slot| {
        if let Some(interner) = slot {
            interner.parts.put(text, &part);
        }
    });
    Ok(part)
}

/// A type of values in objects.
pub trait Read<'de>: Deserialize<'de> {
    /// Reads a value that is there.
    ///
    /// # Errors
    /// As its deserialization.
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }

    /// Reads the value of a key of a map.
    ///
    /// # Errors
    /// As its deserialization.
    fn next_value<A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
        map.next_value()
    }
}

impl<'de> Read<'de> for Str {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Key(text) = Key::deserialize(deserializer)?;
        Ok(shared(&text))
    }

    /// `null` is the empty text.
    fn next_value<A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
        let text: Option<Item<Self>> = map.next_value()?;
        Ok(text.map(|text| text.0).unwrap_or_default())
    }
}

impl Read<'_> for bool {}
impl Read<'_> for i32 {}
impl Read<'_> for i64 {}
impl Read<'_> for IgnoredAny {}
impl<'de, T: Deserialize<'de>> Read<'de> for Box<T> {}

/// A value as [`Read`] has it.
struct Item<T>(T);

impl<'de, T: Read<'de>> Deserialize<'de> for Item<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read(deserializer).map(Self)
    }
}

/// A type of fields of objects.
pub trait Field<'de>: Sized {
    /// Reads a field; `null` is the default. Texts are those that repeat within one source.
    ///
    /// # Errors
    /// As the deserialization of what is in it.
    fn field<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

impl<'de, T: Read<'de> + Default> Field<'de> for T {
    fn field<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::field(deserializer)?.unwrap_or_default())
    }
}

impl<'de, T: Read<'de>> Field<'de> for Option<T> {
    fn field<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<Item<T>>::deserialize(deserializer)?.map(|item| item.0))
    }
}

impl<'de, T: Read<'de>> Field<'de> for Vec<T> {
    fn field<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items: Vec<Item<T>> = list(deserializer)?;
        Ok(items.into_iter().map(|item| item.0).collect())
    }
}

/// A map, sorted by key.
impl<'de, T: Read<'de>> Field<'de> for Vec<(Str, T)> {
    fn field<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Pairs(PhantomData))
    }
}

/// Reads a field, for `deserialize_with`.
///
/// # Errors
/// As [`Field::field`].
pub fn field<'de, D: Deserializer<'de>, T: Field<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::field(deserializer)
}

struct Pairs<T>(PhantomData<T>);

impl<'de, T: Read<'de>> serde::de::Visitor<'de> for Pairs<T> {
    type Value = Vec<(Str, T)>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a map")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut list: Self::Value = Vec::with_capacity(map.size_hint().unwrap_or(0).min(64));
        while let Some(Item(key)) = map.next_key()? {
            let value = T::next_value(&mut map)?;
            add_weight(size_of::<(Str, T)>())?;
            list.push((key, value));
        }
        list.sort_by(|(a, _), (b, _)| a.cmp(b));
        // The API server never sends a key twice; of a handwritten duplicate the last one counts, as in Go.
        list.reverse();
        list.dedup_by(|(a, _), (b, _)| a == b);
        list.reverse();
        list.shrink_to_fit();
        Ok(list)
    }
}

/// Reads a list; `null` is the empty list.
///
/// Most lists of an object have one element, and a growing vector reserves room for four: trimmed, a cluster takes a
/// third less.
pub fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let list = Option::<Weighed<T>>::deserialize(deserializer)?;
    Ok(list.map(|list| list.0).unwrap_or_default())
}

/// A list that stops growing when its object gets too large.
struct Weighed<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Weighed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Items<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a sequence")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    add_weight(size_of::<T>())?;
                    list.push(item);
                }
                list.shrink_to_fit();
                Ok(list)
            }
        }
        deserializer.deserialize_seq(Items(PhantomData)).map(Self)
    }
}

/// Reads any value; `null` is the default.
pub fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// The value of `key` in a list of pairs that is sorted by key.
pub fn lookup<'a, T>(pairs: &'a [(Str, T)], key: &str) -> Option<&'a T> {
    let at = pairs
        .binary_search_by(|(known, _)| known.as_str().cmp(key))
        .ok()?;
    Some(&pairs[at].1)
}

/// Fields that this build does not know, kept because a write must not lose them.
pub type UnknownFields = BTreeMap<String, serde_json::Value>;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Sample {
        #[serde(default, deserialize_with = "field")]
        labels: Vec<(Str, Str)>,
        #[serde(default, deserialize_with = "field")]
        driver: Str,
        #[serde(default, deserialize_with = "field")]
        count: i64,
    }

    #[test]
    fn memory_is_counted_for_one_object_and_no_further() {
        let text = serde_json::to_string(&"a".repeat(20 << 20)).unwrap();
        let read = || serde_json::from_str::<Str>(&text).map(|_| ());
        for _ in 0..3 {
            read().unwrap();
            let (read, memory) = weighed(read);
            read.unwrap();
            assert!(memory > 20 << 20, "{memory}");
        }
        let (both, _) = weighed(|| read().and_then(|()| read()));
        assert!(
            both.unwrap_err()
                .to_string()
                .contains("more than any cluster object")
        );
        read().unwrap();
    }

    #[test]
    fn null_is_absent_and_pairs_are_sorted_with_the_last_duplicate() {
        let sample: Sample =
            serde_json::from_str(r#"{"labels":{"b":"1","a":"2","b":"3"},"driver":null,"count":null}"#)
                .unwrap();
        assert_eq!(
            sample.labels,
            [("a".into(), "2".into()), ("b".into(), "3".into())]
        );
        assert_eq!(lookup(&sample.labels, "b"), Some(&Str::from("3")));
        assert_eq!(lookup(&sample.labels, "c"), None);
        assert_eq!(sample.driver, "");
        assert_eq!(sample.count, 0);
    }

    #[test]
    fn an_interner_outlives_the_objects_of_a_source() {
        let mut interner = Interner::default();
        let read = |text: &str| serde_json::from_str::<Sample>(text).unwrap();
        let first = with_interner(&mut interner, || read(r#"{"driver":"gpu.example.com"}"#));
        let second = with_interner(&mut interner, || read(r#"{"driver":"gpu.example.com"}"#));
        assert_eq!(first.driver.as_str().as_ptr(), second.driver.as_str().as_ptr());
    }
}
