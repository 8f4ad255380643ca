//! From raw objects to the model, the same for every source.

use crate::model::{Interner, Kind, Object, with_interner};

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
        let json = upgrade(kind, group, version, json)?;
        let (object, weight) = with_interner(&mut self.interner, || Object::weighed_from_json(kind, &json))?;
        self.weight = self.weight.saturating_add(weight as u64);
        if object.metadata().name.is_empty() {
            return Err(UpgradeError::Nameless);
        }
        Ok(object)
    }
}

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
    Some(if namespace.is_empty() {
        format!("{kind}/{name}")
    } else {
        format!("{kind}/{namespace}/{name}")
    })
}
