//! JSON into structs. A list is no object: serde would read its elements as the fields of a struct, in their order, so
//! that `"status": []` were an empty status.
//!
//! Everything that is read from JSON is read here; an architecture test sees to that. What goes through `Content` of serde, which is
//! what is in internally tagged and untagged enums, is out of reach: nothing of an API has that form, and other files say [`nested`].

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::de::Read;

/// Reads a value from the text of it and nothing else.
///
/// # Errors
/// As `serde_json::from_slice`, and when a list is where an object belongs.
pub fn from_slice<'de, T: Deserialize<'de>>(json: &'de [u8]) -> serde_json::Result<T> {
    whole(serde_json::Deserializer::from_slice(json))
}

/// The same of text.
///
/// # Errors
/// As [`from_slice`].
pub fn from_str<'de, T: Deserialize<'de>>(json: &'de str) -> serde_json::Result<T> {
    whole(serde_json::Deserializer::from_str(json))
}

fn whole<'de, T: Deserialize<'de>>(
    mut deserializer: serde_json::Deserializer<impl Read<'de>>,
) -> serde_json::Result<T> {
    let value = T::deserialize(Strict(&mut deserializer))?;
    deserializer.end()?;
    Ok(value)
}

/// Reads what is nested in an enum with a tag, which comes from serde's own copy of the text: for `deserialize_with`.
///
/// # Errors
/// As `T`, and when a list is where an object belongs.
pub fn nested<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(Strict(deserializer))
}

/// Identity that an object must have.
#[derive(Clone, Copy, Debug)]
pub struct Head<'h> {
    /// Its `kind`.
    pub kind: &'h str,
    /// Group and version of its `apiVersion`, which may be any without.
    pub api_version: Option<(&'h str, &'h str)>,
}

/// Reads an object that contains nothing but `head` for itself, at any place.
pub fn object<'de, T: Deserialize<'de>>(json: &'de str, head: Head<'_>) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value = T::deserialize(OfKind(head, &mut deserializer))?;
    deserializer.end()?;
    Ok(value)
}

/// A key, which is only copied where the text has it escaped.
pub struct Key<'de>(pub Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Reads the struct of an object, and compares what the object says that it is.
struct OfKind<'h, T>(Head<'h>, T);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for OfKind<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.1.deserialize_any(Strict(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = OfKind(self.0, visitor);
        self.1.deserialize_struct(name, fields, visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for OfKind<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.1.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.1.visit_map(OfKind(self.0, Strict(map)))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for OfKind<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        while let Some(Key(key)) = self.1.next_key()? {
            let said = match &*key {
                "kind" | "apiVersion" => self.1.next_value::<Option<Key<'de>>>()?,
                _ => return seed.deserialize(CowStrDeserializer::new(key)).map(Some),
            };
            // An empty value and `null` count as absent.
            match said {
                Some(Key(said)) if !said.is_empty() && !self.0.allows(&key, &said) => {
                    return Err(Error::custom(format_args!(
                        "has `{key}` `{said}` instead of a {}",
                        self.0.kind
                    )));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.1.next_value_seed(seed)
    }
}

impl Head<'_> {
    fn allows(&self, field: &str, said: &str) -> bool {
        match (field, self.api_version) {
            ("kind", _) => said == self.kind,
            (_, Some(known)) => known == said.split_once('/').unwrap_or(("", said)),
            (_, None) => true,
        }
    }
}

/// Goes along with a deserializer of JSON, and with its visitors into everything nested.
struct Strict<T>(T);

/// The visitor of a struct, which takes an object alone.
struct OfStruct<V>(V);

/// Methods for what has nothing nested.
macro_rules! scalars {
    ($($method:ident)*) => { $(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            self.0.$method(visitor)
        }
    )* };
}

/// Methods for what may have something nested.
macro_rules! nested {
    ($($method:ident($($name:ident: $type:ty),*))*) => { $(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, Self::Error> {
            self.0.$method($($name,)* Strict(visitor))
        }
    )* };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    scalars! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit deserialize_identifier
        deserialize_ignored_any
    }

    nested! {
        deserialize_any()
        deserialize_option()
        deserialize_seq()
        deserialize_map()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_struct(name, fields, OfStruct(visitor))
    }

    /// No enum that is read has more than a name.
    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }
}

/// Methods for values that JSON has.
macro_rules! values {
    ($($method:ident($type:ty))*) => { $(
        #[inline]
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )* };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Strict<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    values! {
        visit_bool(bool)
        visit_i64(i64)
        visit_u64(u64)
        visit_f64(f64)
        visit_str(&str)
        visit_borrowed_str(&'de str)
        visit_string(String)
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Strict(deserializer))
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Strict(deserializer))
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Strict(items))
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(map))
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for OfStruct<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(map))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(deserializer))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Inner {
        name: String,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Outer<'a> {
        one: Inner,
        maybe: Option<Inner>,
        boxed: Option<Box<Inner>>,
        list: Vec<Inner>,
        lists: Vec<Vec<Inner>>,
        map: BTreeMap<String, Inner>,
        pair: Option<(i32, Inner)>,
        #[serde(borrow)]
        text: Cow<'a, str>,
        #[serde(borrow)]
        raw: Option<&'a RawValue>,
        value: Value,
    }

    #[test]
    fn a_list_is_no_object_however_deep_it_lies() {
        for json in [
            "[]",
            "[[]]",
            r#"{"one": []}"#,
            r#"{"one": ["a"]}"#,
            r#"{"maybe": []}"#,
            r#"{"boxed": ["a"]}"#,
            r#"{"list": [[]]}"#,
            r#"{"list": [{}, ["a"]]}"#,
            r#"{"lists": [[["a"]]]}"#,
            r#"{"map": {"a": ["a"]}}"#,
            r#"{"pair": [1, ["a"]]}"#,
        ] {
            let error = from_str::<Outer<'_>>(json).expect_err(json).to_string();
            assert!(
                error.starts_with("invalid type: sequence, expected struct"),
                "{json}: {error}"
            );
            assert!(from_slice::<Outer<'_>>(json.as_bytes()).is_err(), "{json}");
        }
    }

    #[test]
    fn everything_else_is_read_as_it_is() {
        let json = r#"{"one": {"name": "a"}, "maybe": null, "boxed": {"name": "b"}, "list": [{"name": "c"}], "lists": [[], [{}]],
            "map": {"a": {"name": "d"}}, "pair": [1, {"name": "e"}], "text": "plain", "raw": [1, {"a": []}],
            "value": {"a": [1, -2, 0.5, true, null, "x"]}, "unknown": [[]]}"#;
        let read: Outer<'_> = from_str(json).unwrap();
        assert_eq!(read.one.name, "a");
        assert!(read.maybe.is_none());
        assert_eq!(read.boxed.unwrap().name, "b");
        assert_eq!(read.list[0].name, "c");
        assert_eq!(read.lists[1].len(), 1);
        assert_eq!(read.map["a"].name, "d");
        assert_eq!(read.pair.unwrap().1.name, "e");
        assert!(matches!(read.text, Cow::Borrowed("plain") | Cow::Owned(_)));
        assert_eq!(read.raw.unwrap().get(), r#"[1, {"a": []}]"#);
        assert_eq!(
            read.value,
            serde_json::json!({"a": [1, -2, 0.5, true, null, "x"]})
        );
        assert!(from_str::<Outer<'_>>("{} {}").is_err());
    }

    #[test]
    fn an_error_has_its_place() {
        let error = from_str::<Outer<'_>>("{\n\"list\": [{},\n[]]}").unwrap_err();
        assert_eq!((error.line(), error.column()), (3, 2));
    }
}
