//! Whether an answer is what was asked for. A proxy or a cache may answer with something else, which proves nothing about what was asked.

use crate::decode::{Decoder, group_version};
use crate::files::{Named, head, leading_head, named};
use dra_model::{Key, Kind, Object};

/// Returns why an item is none of a list of `kind` in `version`; nothing where it may be one. `named` is what it
/// says of its name, `namespace` that of the list.
pub(super) fn misplaced(
    json: &[u8],
    named: Option<&Named<'_>>,
    (kind, version): (Kind, &str),
    namespace: Option<&str>,
) -> Option<String> {
    // Servers leave both out of items.
    let own = leading_head(json);
    let of_other_kind = own.kind.as_deref().filter(|own| *own != kind.name());
    if let Some(other) = of_other_kind {
        return Some(format!("is a `{other}`"));
    }
    let of_other_version = own.api_version.as_deref();
    if let Some(other) = of_other_version.filter(|own| group_version(own) != (kind.group(), version)) {
        return Some(format!("is an object of `{other}`"));
    }
    if !kind.is_namespaced() {
        return None;
    }
    // What has no metadata or name is refused by the decoder, which says so.
    match (named?.namespace.as_deref().unwrap_or_default(), namespace) {
        ("", _) => Some("has no namespace".to_owned()),
        (other, Some(asked)) if other != asked => Some(format!("is in namespace `{other}`")),
        _ => None,
    }
}

/// The object that was asked for, or why the answer is something else.
pub(super) fn object(json: &[u8], (kind, version): (Kind, &str), key: &Key) -> Result<Object, String> {
    match mistaken(json, &kind.api_version(version), kind.name(), key) {
        Some(why) => Err(why),
        None => Decoder::default()
            .decode(kind, kind.group(), version, json)
            .map_err(|error| error.to_string()),
    }
}

/// Returns why an answer is not the object that was asked for. An object of the cluster has an empty namespace.
pub(super) fn mistaken(json: &[u8], api_version: &str, kind: &str, key: &Key) -> Option<String> {
    let own = head(json);
    let (own_version, own_kind) = (own.api_version.unwrap_or_default(), own.kind.unwrap_or_default());
    if own_kind.is_empty() {
        return Some("the response has no `kind`".to_owned());
    }
    if own_kind != kind || group_version(&own_version) != group_version(api_version) {
        return Some(format!("the response is a `{own_kind}` of `{own_version}`"));
    }
    mistaken_name(json, key)
}

/// The same for an object of unknown kind.
pub(super) fn mistaken_name(json: &[u8], key: &Key) -> Option<String> {
    let found = named(json).and_then(|named| {
        let namespace = named.namespace.unwrap_or_default();
        Some(Key::new(&*namespace, &*named.name?))
    });
    match found {
        Some(found) if found == *key => None,
        Some(found) if found.namespace.is_empty() => {
            Some(format!("the response is the object `{}`", found.name))
        }
        Some(found) => Some(format!("the response is the object `{found}`")),
        None => Some("the response has no name".to_owned()),
    }
}
