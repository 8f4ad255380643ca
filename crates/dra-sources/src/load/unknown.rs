//! Unknown fields of stored objects: of a newer release, of another version, or misspelled. They are ignored, and the
//! reader of the answer must know that.

use std::collections::BTreeMap;

use crate::files::RawItem;
use dra_model::{FieldFault, Kind, Looking, Object, check_fields};

/// Unknown fields by kind and by path without places in lists, so that those of many devices are one.
#[derive(Default)]
pub(super) struct UnknownFields {
    fields: BTreeMap<(Kind, String), Field>,
    more: usize,
}

struct Field {
    /// First occurrence, and the message.
    first: String,
    count: usize,
}

impl UnknownFields {
    /// Different fields that are kept.
    const KEPT: usize = 100;
    /// Number of reported ones.
    const TOLD: usize = 10;

    /// Looks for unknown fields in an object that was decoded from `item`, and returns the first that no API server would return: one in
    /// other letters.
    pub(super) fn look(&mut self, item: &RawItem<'_>, version: &str, object: &Object) -> Option<FieldFault> {
        let kind = object.kind();
        let is_looked_at = match object {
            // Of pods, the entries for claims alone are looked at.
            Object::Pod(pod) => !pod.spec.resource_claims.is_empty(),
            _ => kind.group() == Kind::ResourceClaim.group(),
        };
        if !is_looked_at {
            return None;
        }
        let mut faults = check_fields(kind, version, &item.json, Looking::ForUnknown);
        if let Some(place) = faults.list.iter().position(FieldFault::is_in_other_letters) {
            return Some(faults.list.swap_remove(place));
        }
        for fault in faults.list {
            let key = (kind, without_places(&fault.path));
            if self.fields.len() == Self::KEPT && !self.fields.contains_key(&key) {
                self.more += 1;
                continue;
            }
            let describe = || Field {
                first: item.problem(format!("ignoring {fault}")).to_string(),
                count: 0,
            };
            self.fields.entry(key).or_insert_with(describe).count += 1;
        }
        self.more += faults.more;
        None
    }

    /// Adds those that were found later.
    pub(super) fn add_all(&mut self, later: Self) {
        for (key, field) in later.fields {
            if let Some(known) = self.fields.get_mut(&key) {
                known.count += field.count;
            } else if self.fields.len() < Self::KEPT {
                self.fields.insert(key, field);
            } else {
                self.more += field.count;
            }
        }
        self.more += later.more;
    }

    /// Returns what to tell the user.
    pub(super) fn warnings(&self) -> Vec<String> {
        let told = self.fields.values().take(Self::TOLD).map(|field| {
            let others = match field.count {
                1 => String::new(),
                count => format!(" ({} more like it)", count - 1),
            };
            format!("{}{others}", field.first)
        });
        let mut warnings: Vec<String> = told.collect();
        let untold = self.fields.values().skip(Self::TOLD);
        let rest = self.more + untold.map(|field| field.count).sum::<usize>();
        if rest > 0 {
            warnings.push(format!("ignoring {rest} more unknown fields"));
        }
        warnings
    }
}

/// The path without the numbers of places in lists.
fn without_places(path: &str) -> String {
    let mut parts = path.split('[');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let behind = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        plain.push('[');
        plain.push_str(if behind.starts_with(']') { behind } else { part });
    }
    plain
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_lists_go_and_keys_stay() {
        assert_eq!(
            without_places("spec.devices[12].attributes[a1].x[0]"),
            "spec.devices[].attributes[a1].x[]"
        );
    }
}
