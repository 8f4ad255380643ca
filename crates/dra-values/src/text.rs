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

/// Immutable shared text. Equality, order and hash are those of the content; equal pointers compare equal immediately.
///
/// The empty text, which stands for every absent field, takes no memory of its own.
#[derive(Clone, Default, schemars::JsonSchema)]
#[schemars(with = "String", inline, description = "")]
pub struct Str(Option<Arc<str>>);

impl Str {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
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
        self.is_same(other) || self.as_str() == other.as_str()
    }
}

impl Eq for Str {}

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

impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Str {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        if self.is_same(other) {
            return std::cmp::Ordering::Equal;
        }
        self.as_str().cmp(other.as_str())
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
    fn interned_texts_share_memory_and_compare_by_content() {
        let mut interner = Interner::default();
        let first = interner.intern("gpu.example.com");
        let second = interner.intern("gpu.example.com");
        assert!(first.is_same(&second));
        assert_eq!(first, Str::from("gpu.example.com"));
        assert!(!first.is_same(&Str::from("gpu.example.com")));
        assert_eq!(Str::from(""), Str::default());
        assert!(interner.intern("a") < interner.intern("b"));
    }
}
