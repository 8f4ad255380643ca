//! Record of a rehearsal.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::controllers::{Action, ClaimName, ClaimWrite, Traced, Wish};
use dra_model::{Claim, Key, Kind, Str};

/// The record of a rehearsal.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) traced: Vec<Traced>,
    /// Actions at this instant, by their index in `traced`.
    places: HashMap<(Action, Kind, Key), Vec<usize>, RandomState>,
    /// Claims that were made, with the template of each.
    pub(super) made: BTreeMap<Key, Key>,
}

impl Record {
    pub(super) fn add(&mut self, one: Traced) {
        if self.traced.last().is_none_or(|last| last.at != one.at) {
            self.places.clear();
        }
        let (kind, key) = one.object.clone();
        let places = self.places.entry((one.action, kind, key)).or_default();
        for place in places.iter() {
            if let Some(before) = self.traced.get_mut(*place)
                && before.detail == one.detail
                && before.actor == one.actor
            {
                before.count += 1;
                return;
            }
        }
        places.push(self.traced.len());
        self.traced.push(one);
    }
}

/// Returns what is to be said of a write besides its object.
pub(super) fn detail_of(write: &ClaimWrite, wish: &Wish, created: &[Arc<Claim>]) -> String {
    match (write, wish) {
        (ClaimWrite::Create { claim, template }, _) => format!(
            "claim {} from template {}",
            claim.metadata.name, template.metadata.name
        ),
        (ClaimWrite::SetStatuses { statuses, .. }, _) => {
            let told = statuses.iter().filter_map(|(entry, claim)| {
                let name = name_of(claim, created)?;
                Some(format!("{entry} is {name}"))
            });
            told.collect::<Vec<_>>().join(", ")
        }
        (ClaimWrite::Reserve { consumer, .. }, _) => format!("{} {}", consumer.resource, consumer.name),
        (ClaimWrite::Release { claim, .. }, Wish::Release(_, uid)) => {
            let mut entries = claim.status.reserved_for.iter();
            let entry = entries.find(|entry| entry.uid == *uid);
            entry.map_or_else(String::new, |entry| format!("{} {}", entry.resource, entry.name))
        }
        (ClaimWrite::Release { claim, .. }, _) => {
            let devices: Vec<String> = claim
                .results()
                .iter()
                .map(|result| result.id().to_string())
                .collect();
            devices.join(", ")
        }
        _ => String::new(),
    }
}

/// The name of a claim of a plan, of whose claims these are `created` so far.
pub(super) fn name_of<'a>(claim: &'a ClaimName, created: &'a [Arc<Claim>]) -> Option<&'a Str> {
    match claim {
        ClaimName::Known(name) => Some(name),
        ClaimName::Created(index) => created.get(*index).map(|claim| &claim.metadata.name),
    }
}
