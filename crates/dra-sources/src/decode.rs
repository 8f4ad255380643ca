//! From raw objects to the model, the same for every source.

use dra_model::{
    AllocationMode, Interner, Key, Kind, Looking, Object, Str, Taint, check_fields, json, with_interner,
};

use super::upgrade::{UpgradeError, upgrade};

/// Returns how problems name an object.
pub(crate) fn object_name(kind: Kind, key: &Key) -> String {
    if key.namespace.is_empty() {
        format!("{kind}/{}", key.name)
    } else {
        format!("{kind}/{key}")
    }
}

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
        let upgraded = upgrade(kind, group, version, json).map_err(|error| match error {
            UpgradeError::Json(error) => in_field(kind, version, json, error),
            other => other,
        })?;
        let decoded = with_interner(&mut self.interner, || {
            Object::weighed_from_json(kind, (group, version), &upgraded)
        });
        let (object, weight) = decoded.map_err(|error| in_field(kind, version, json, error))?;
        self.weight = self.weight.saturating_add(weight as u64);
        if object.metadata().name.is_empty() {
            return Err(UpgradeError::Nameless);
        }
        complete(&object)?;
        Ok(object)
    }

    /// The memory of what was decoded since this was asked the last time, about, in bytes.
    pub(crate) fn take_weight(&mut self) -> u64 {
        std::mem::take(&mut self.weight)
    }
}

/// Returns whether the object says which devices it is about. Without that a slice has no pool, and a result holds nothing.
fn complete(object: &Object) -> Result<(), UpgradeError> {
    match object {
        Object::ResourceSlice(slice) => {
            let spec = &slice.spec;
            let what = "a slice without driver and pool";
            let of_spec = |field| format!("spec.{field}");
            required(
                [("driver", &spec.driver), ("pool.name", &spec.pool.name)],
                of_spec,
                what,
            )?;
            let selected = [
                spec.node_name.is_some(),
                spec.node_selector.is_some(),
                spec.all_nodes,
                spec.per_device_node_selection,
            ];
            // Without one its devices are on no node, with several on those of any of them.
            if selected.into_iter().filter(|is_set| *is_set).count() != 1 {
                let what = "a slice without exactly one of `nodeName`, `nodeSelector`, `allNodes` and `perDeviceNodeSelection`";
                return refused("Invalid", "spec", what);
            }
            for (index, device) in spec.devices.iter().enumerate() {
                let of_device = |field: &str| format!("spec.devices[{index}].{field}");
                required([("name", &device.name)], of_device, "a device without a name")?;
                for (number, taint) in device.taints.iter().enumerate() {
                    complete_taint(taint, |field| of_device(&format!("taints[{number}].{field}")))?;
                }
            }
        }
        Object::ResourceClaim(claim) => {
            for (index, request) in claim.spec.devices.requests.iter().enumerate() {
                let mut asked = request.exactly.iter().chain(&request.first_available);
                if asked.any(|asked| asked.allocation_mode == AllocationMode::ExactCount && asked.count < 1) {
                    let field = format!("spec.devices.requests[{index}]");
                    return refused("Invalid", field, "a request for less than one device");
                }
            }
            if claim.status.allocation.is_none() && !claim.status.reserved_for.is_empty() {
                let what = "a claim with consumers and without an allocation";
                return refused("Required", "status.allocation", what);
            }
            let allocation = claim.status.allocation.iter();
            let results = allocation.flat_map(|allocation| &allocation.devices.results);
            for (index, result) in results.enumerate() {
                let of_result = |field| format!("status.allocation.devices.results[{index}].{field}");
                let parts = [
                    ("driver", &result.driver),
                    ("pool", &result.pool),
                    ("device", &result.device),
                ];
                required(parts, of_result, "a result without driver, pool and device")?;
            }
        }
        Object::DeviceTaintRule(rule) => {
            complete_taint(&rule.spec.taint, |field| format!("spec.taint.{field}"))?;
        }
        Object::PodGroup(group) => {
            if let Some(gang) = &group.spec.scheduling_policy.gang
                && gang.min_count < 1
            {
                let field = "spec.schedulingPolicy.gang.minCount";
                return refused("Invalid", field, "a gang of less than one pod");
            }
        }
        _ => {}
    }
    Ok(())
}

fn complete_taint(taint: &Taint, place: impl Fn(&'static str) -> String) -> Result<(), UpgradeError> {
    let fields = [("key", &taint.key), ("effect", &taint.effect)];
    required(fields, place, "a taint without key and effect")
}

fn required<const N: usize>(
    fields: [(&'static str, &Str); N],
    place: impl FnOnce(&'static str) -> String,
    what: &'static str,
) -> Result<(), UpgradeError> {
    match fields.into_iter().find(|(_, value)| value.is_empty()) {
        None => Ok(()),
        Some((field, _)) => refused("Required", place(field), what),
    }
}

fn refused(wrong: &'static str, field: impl Into<String>, what: &'static str) -> Result<(), UpgradeError> {
    let field = field.into();
    Err(UpgradeError::Refused { field, wrong, what })
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

/// Group and version of an `apiVersion`.
pub(crate) fn group_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// `Kind/namespace/name` of an object that could not be decoded, as far as it tells.
pub(crate) fn name_of(json: &[u8], kind: Kind) -> Option<String> {
    Some(object_name(kind, &key_of(json)?))
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
    let Metadata { namespace, name } = json::from_slice::<Object>(json).ok()?.metadata;
    Some(Key::new(namespace.as_str(), name.as_str()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use serde_json::{Value, json};

    use super::*;

    /// The places of objects in `value`, below `place`.
    fn objects(value: &Value, place: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.push(place.to_owned());
                for (key, value) in fields {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    objects(value, &format!("{place}/{key}"), found);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    objects(value, &format!("{place}/{index}"), found);
                }
            }
            _ => {}
        }
    }

    #[expect(clippy::disallowed_methods, reason = "tests read files")]
    fn recorded() -> Vec<Value> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/snapshots");
        let mut items = Vec::new();
        for name in [
            "podgroups",
            "partitionable",
            "consumable-capacity",
            "binding-conditions",
            "taint-rules-noexecute",
            "bound-pods",
        ] {
            let text = std::fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap();
            let mut list: Value = serde_saphyr::from_str(&text).unwrap();
            items.append(list["items"].as_array_mut().unwrap());
        }
        items
    }

    /// A reader of an object does not read a list there; a reader of a list accepts anything that is not read.
    #[test]
    fn no_list_is_an_object_in_any_place_of_any_kind() {
        let mut looked_at = BTreeSet::new();
        let mut refused = 0;
        for object in recorded() {
            let api_version = object["apiVersion"].as_str().unwrap_or_default().to_owned();
            let (group, version) = group_version(&api_version);
            let Some(kind) = Kind::find(group, object["kind"].as_str().unwrap_or_default()) else {
                continue;
            };
            let decodes = |place: &str, value: Value| {
                let mut changed = object.clone();
                *changed.pointer_mut(place).unwrap() = value;
                let json = changed.to_string();
                Decoder::default()
                    .decode(kind, group, version, json.as_bytes())
                    .is_ok()
            };
            let mut places = Vec::new();
            objects(&object, "", &mut places);
            for place in places {
                let path: Vec<&str> = place
                    .split('/')
                    .map(|step| step.trim_matches(|c: char| c.is_ascii_digit()))
                    .collect();
                if !looked_at.insert((kind, path.join("/"))) {
                    continue;
                }
                let old = object.pointer(&place).unwrap();
                assert!(decodes(&place, old.clone()), "{kind}: {place}");
                let fields: Vec<&Value> = old.as_object().unwrap().values().collect();
                for list in [json!([]), json!([null]), json!(fields), json!([old])] {
                    if decodes(&place, list.clone()) {
                        assert!(decodes(&place, json!("text")), "{kind}: {place} takes {list}");
                    } else {
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused > 500, "{refused}");
    }
}
