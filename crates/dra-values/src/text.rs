//! Strings of the cluster model: shared, cheap to clone, compared by content.
//!
//! Names, namespaces, drivers and UIDs are read far more often than they are made. [`Str`] is one pointer to shared text;
//! an [`Interner`] makes equal texts of one source share it, for the kinds of text that repeat.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::repeated::Parts;

/// The key of a name in an order that counts: with it `node-2` is before `node-10`.
pub fn by_number(name: &str) -> String {
    let mut key = String::with_capacity(name.len() + 2);
    let mut rest = name;
    while let Some(begin) = rest.find(|one: char| one.is_ascii_digit()) {
        let (before, from) = rest.split_at(begin);
        let end = from.find(|one: char| !one.is_ascii_digit());
        let (digits, after) = from.split_at(end.unwrap_or(from.len()));
        let number = digits.trim_start_matches('0');
        key.push_str(before);
        // The longer number is the higher one.
        key.push(char::from(u8::try_from(number.len()).unwrap_or(u8::MAX)));
        key.push_str(number);
        rest = after;
    }
    key.push_str(rest);
    key
}

/// Immutable shared text. Equality, order and hash are those of the content; equal pointers compare equal immediately.
///
/// The empty text, which stands for every absent field, takes no memory of its own.
#[derive(Clone, Default, Eq, PartialOrd, Ord, schemars::JsonSchema)]
#[schemars(with = "String", inline, description = "")]
pub struct Str(Option<Arc<str>>);

impl Str {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

impl Deref for Str {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Str {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            // Texts that share their memory need not be looked at.
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

impl PartialEq<str> for Str {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Str {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl std::hash::Hash for Str {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Borrow<str> for Str {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Str {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        Self((!text.is_empty()).then(|| Arc::from(text)))
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        Self((!text.is_empty()).then(|| Arc::from(text)))
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl serde::Serialize for Str {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Lets equal texts and parts of one source share their memory. It never decides an order.
#[derive(Debug, Default)]
pub struct Interner {
    known: HashSet<Str, foldhash::quality::RandomState>,
    pub(crate) parts: Parts,
}

impl Interner {
    /// The shared copy of `text`, made at its first sight.
    pub fn intern(&mut self, text: &str) -> Str {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let fresh = Str::from(text);
        self.known.insert(fresh.clone());
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_numbers_are_ordered_by_these() {
        let ordered = [
            "", "a", "a-0", "a-2", "a-2-b1", "a-010", "a-10", "a-11-b0", "a-b", "b9",
        ];
        let mut names = ordered;
        names.sort_unstable();
        assert_ne!(names, ordered);
        names.sort_by_cached_key(|name| by_number(name));
        assert_eq!(names, ordered);
    }

    #[test]
    fn interned_texts_share_memory_and_compare_by_content() {
        let mut interner = Interner::default();
        let first = interner.intern("gpu.example.com");
        let second = interner.intern("gpu.example.com");
        assert_eq!(first.as_ptr(), second.as_ptr());
        assert_eq!(first, Str::from("gpu.example.com"));
        assert_ne!(first.as_ptr(), Str::from("gpu.example.com").as_ptr());
        assert_eq!(Str::from(""), Str::default());
        assert!(interner.intern("a") < interner.intern("b"));
    }
}
