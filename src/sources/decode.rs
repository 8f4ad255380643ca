//! From raw objects to the model, the same for every source.

use crate::model::{Interner, Key, Kind, Looking, Object, check_fields, with_interner};

use super::upgrade::{UpgradeError, upgrade};

/// Decodes the objects of one source or list. Texts that repeat among them share their memory.
#[derive(Default)]
pub(crate) struct Decoder {
    interner: Interner,
    weight: u64,
}

impl Decoder {
    /// The object `json` of `kind`, written in `group` and `version`.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(crate) fn decode(
        &mut self,
        kind: Kind,
        group: &str,
        version: &str,
        json: &[u8],
    ) -> Result<Object, UpgradeError> {
        let upgraded = upgrade(kind, group, version, json)?;
        let decoded = with_interner(&mut self.interner, || Object::weighed_from_json(kind, &upgraded));
        let (object, weight) = decoded.map_err(|error| in_field(kind, version, json, error))?;
        self.weight = self.weight.saturating_add(weight as u64);
        if object.metadata().name.is_empty() {
            return Err(UpgradeError::Nameless);
        }
        if let Object::ResourceSlice(slice) = &object {
            let spec = &slice.spec;
            for (field, value) in [("spec.driver", &spec.driver), ("spec.pool.name", &spec.pool.name)] {
                if value.is_empty() {
                    return Err(UpgradeError::Poolless(field));
                }
            }
        }
        Ok(object)
    }
}

/// The error of the decoder, with the fields that hold something else than they should, in the words of the version that was written.
fn in_field(kind: Kind, version: &str, json: &[u8], error: serde_json::Error) -> UpgradeError {
    let faults = check_fields(kind, version, json, Looking::ForAll);
    let mistyped = faults.list.iter().filter(|fault| fault.is_mistyped());
    let fields: Vec<String> = mistyped.take(MOST_FIELDS).map(ToString::to_string).collect();
    if fields.is_empty() {
        UpgradeError::Json(error)
    } else {
        UpgradeError::Fields {
            fields: fields.join("; "),
            error,
        }
    }
}

/// Fields of one object that are named where they hold something else than they should.
const MOST_FIELDS: usize = 5;

impl Decoder {
    /// The memory of what was decoded since this was asked the last time, about, in bytes.
    pub(crate) fn take_weight(&mut self) -> u64 {
        std::mem::take(&mut self.weight)
    }
}

/// Group and version of an `apiVersion`.
pub(crate) fn group_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// `Kind/namespace/name` of an object that could not be decoded, as far as it tells.
pub(crate) fn name_of(json: &[u8], kind: Kind) -> Option<String> {
    let Key { namespace, name } = key_of(json)?;
    Some(if namespace.is_empty() {
        format!("{kind}/{name}")
    } else {
        format!("{kind}/{namespace}/{name}")
    })
}

/// The key of an object that cannot be decoded, if it has one.
pub(crate) fn key_of(json: &[u8]) -> Option<Key> {
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Metadata {
        namespace: String,
        name: String,
    }
    #[derive(serde::Deserialize)]
    struct Object {
        metadata: Metadata,
    }
    let Metadata { namespace, name } = serde_json::from_slice::<Object>(json).ok()?.metadata;
    Some(Key::new(namespace.as_str(), name.as_str()))
}
