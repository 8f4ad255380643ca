//! The few fields that say what an object is, found without decoding it.

use std::borrow::Cow;

use serde::Deserialize;

use super::skip::Skip;
use dra_model::json;

/// Identity of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    /// `apiVersion`.
    pub(crate) api_version: Option<Cow<'a, str>>,
    /// `kind`.
    pub(crate) kind: Option<Cow<'a, str>>,
}

/// Reads the top-level `apiVersion` and `kind` of an object, wherever they stand.
///
/// Most objects begin with both, and no more than that is read of them.
pub(crate) fn head(object: &[u8]) -> Head<'_> {
    head_until(object, |_| false)
}

/// Like [`head`], but gives up at the first member that is an object or an array.
///
/// For the items of a list that says what its items are: a server leaves `apiVersion` and `kind` out of them, and
/// reading each to its end to find that out would double the work.
pub(crate) fn leading_head(object: &[u8]) -> Head<'_> {
    head_until(object, |first| matches!(first, Some(b'{' | b'[')))
}

/// Reads up to the first member whose value begins so.
fn head_until(object: &[u8], ends_with: impl Fn(Option<&u8>) -> bool) -> Head<'_> {
    let mut head = Head::default();
    let mut members = Members::of(object);
    while let Some((key, start)) = members.next_key()
        && !ends_with(object.get(start))
        && let Some(value) = members.skip_value(start)
    {
        head.note(key, value);
        if head.api_version.is_some() && head.kind.is_some() {
            break;
        }
    }
    head
}

impl<'a> Head<'a> {
    fn note(&mut self, key: &[u8], value: &'a [u8]) {
        let field = match key {
            b"apiVersion" => &mut self.api_version,
            b"kind" => &mut self.kind,
            _ => return,
        };
        *field = text(value);
    }
}

/// The one of `apiVersion` and `kind` that the object has twice.
pub(crate) fn repeated_head(object: &[u8]) -> Option<&'static str> {
    let times = |key: &str| {
        let own = Members::of(object).filter(|(own, _)| *own == key.as_bytes());
        own.count()
    };
    ["kind", "apiVersion"].into_iter().find(|key| times(key) > 1)
}

/// `apiVersion` and `kind` of an object that cannot be decoded, if it says both, and each once.
pub(crate) fn certain_head(object: &[u8]) -> Option<(String, String)> {
    if repeated_head(object).is_some() {
        return None;
    }
    let Head { api_version, kind } = head(object);
    Some((api_version?.into_owned(), kind?.into_owned()))
}

/// Returns whether the object has a top-level array `items`, as a list has.
pub(crate) fn has_items(object: &[u8]) -> bool {
    Members::of(object).any(|(key, value)| key == b"items" && matches!(value.first(), Some(b'[' | b'n')))
}

/// Returns whether `items` is something that no list has there.
pub(crate) fn has_odd_items(object: &[u8]) -> bool {
    Members::of(object).any(|(key, value)| key == b"items" && !matches!(value.first(), Some(b'[' | b'n')))
}

/// What an object says of where it is.
#[derive(Deserialize)]
pub(crate) struct Named<'a> {
    #[serde(borrow, default)]
    pub(crate) namespace: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) name: Option<Cow<'a, str>>,
}

/// Namespace and name of an object, if it has `metadata` that can be read. What follows them is not looked at.
pub(crate) fn named(object: &[u8]) -> Option<Named<'_>> {
    let (_, metadata) = Members::of(object).find(|(key, _)| *key == b"metadata")?;
    json::from_slice(metadata).ok()
}

/// `kind/namespace/name` of an object as far as it tells, to name it in a message.
pub(crate) fn name(object: &[u8], kind: Option<&str>) -> Option<String> {
    let metadata = named(object)?;
    let name = metadata.name?;
    let kind = kind.unwrap_or("object");
    Some(match metadata.namespace {
        Some(namespace) => format!("{kind}/{namespace}/{name}"),
        None => format!("{kind}/{name}"),
    })
}

/// A JSON string's text, or nothing when the value is not a string.
pub(super) fn text(value: &[u8]) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    json::from_slice::<Text<'_>>(value).ok().map(|text| text.0)
}

/// The members of one object, keys without their quotes and as written. Ends where the text stops being an object.
pub(crate) struct Members<'a> {
    object: &'a [u8],
    position: usize,
}

impl<'a> Members<'a> {
    /// The members of `object`.
    pub(crate) fn of(object: &'a [u8]) -> Self {
        let mut members = Self { object, position: 0 };
        members.expect(b'{');
        members
    }

    /// The next key and where its value starts.
    fn next_key(&mut self) -> Option<(&'a [u8], usize)> {
        self.skip_blanks();
        if self.object.get(self.position) == Some(&b',') {
            self.position += 1;
            self.skip_blanks();
        }
        let start = self.position;
        if self.object.get(start) != Some(&b'"') {
            return None;
        }
        let end = start + Skip::starting_with(b'"', 0)?.advance(self.object.get(start..)?)?;
        self.position = end;
        if !self.expect(b':') {
            return None;
        }
        self.skip_blanks();
        Some((self.object.get(start + 1..end - 1)?, self.position))
    }

    fn skip_value(&mut self, start: usize) -> Option<&'a [u8]> {
        let rest = self.object.get(start..)?;
        let length = Skip::starting_with(*rest.first()?, u32::MAX)?.advance(rest)?;
        self.position = start + length;
        rest.get(..length)
    }

    fn skip_blanks(&mut self) {
        while matches!(self.object.get(self.position), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    /// Steps over `byte` and the blanks before it. Without it the members end here.
    fn expect(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.object.get(self.position) == Some(&byte);
        self.position = if found {
            self.position + 1
        } else {
            self.object.len()
        };
        found
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, start) = self.next_key()?;
        Some((key, self.skip_value(start)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head_of(object: &str, find: fn(&[u8]) -> Head<'_>) -> (Option<String>, Option<String>) {
        let head = find(object.as_bytes());
        (
            head.api_version.map(Cow::into_owned),
            head.kind.map(Cow::into_owned),
        )
    }

    #[test]
    fn the_head_is_found_wherever_it_stands() {
        let pod = (Some("v1".to_owned()), Some("Pod".to_owned()));
        for object in [
            r#"{"apiVersion":"v1","kind":"Pod"}"#,
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{}}"#,
            "{\n  \"metadata\" : {\"kind\":\"x\"},\n \"apiVersion\"\t:\n\"v1\" , \"kind\":\"Pod\" }",
            r#"{"spec":["kind",{"kind":"Node"}],"kind":"\u0050od","status":1.5,"apiVersion":"v1"}"#,
            r#"{"apiVersion":"v1","kind":"Pod","spec":{"not":"closed"#,
        ] {
            assert_eq!(head_of(object, head), pod, "{object}");
        }
    }

    #[test]
    fn an_object_without_a_head_has_none() {
        for object in [
            "{}",
            "",
            "[]",
            "null",
            r#"{"kind":1,"apiVersion":null}"#,
            r#"{"kind" "Pod"}"#,
            r#"{kind:"Pod"}"#,
            r#"{"a":}"#,
        ] {
            assert_eq!(head_of(object, head), (None, None), "{object}");
        }
    }

    #[test]
    fn the_leading_head_ends_at_the_first_container() {
        let none = (None, None);
        assert_eq!(
            head_of(r#"{"metadata":{},"kind":"Pod","apiVersion":"v1"}"#, leading_head),
            none
        );
        let pod = (Some("v1".to_owned()), Some("Pod".to_owned()));
        assert_eq!(
            head_of(
                r#"{"x":1,"kind":"Pod","apiVersion":"v1","metadata":{}}"#,
                leading_head
            ),
            pod
        );
    }

    #[test]
    fn an_object_is_named_as_far_as_possible() {
        for (object, expected) in [
            (r#"{"metadata":{"namespace":"a","name":"b"}}"#, Some("Pod/a/b")),
            (r#"{"spec":{},"metadata":{"name":"b"}}"#, Some("Pod/b")),
            (r#"{"metadata":{"generateName":"b-"}}"#, None),
            (r#"{"metadata":"x"}"#, None),
            ("{}", None),
        ] {
            assert_eq!(
                name(object.as_bytes(), Some("Pod")).as_deref(),
                expected,
                "{object}"
            );
        }
    }

    #[test]
    fn lists_have_items() {
        for (object, expected) in [
            (r#"{"kind":"List","items":[]}"#, true),
            (r#"{"items":null}"#, true),
            (r#"{"items":{}}"#, false),
            (r#"{"spec":{"items":[]}}"#, false),
        ] {
            assert_eq!(has_items(object.as_bytes()), expected, "{object}");
        }
    }
}
