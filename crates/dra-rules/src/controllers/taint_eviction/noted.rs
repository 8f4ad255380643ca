//! Time at which the pods of claims have to go, and since when that is known.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use super::TaintEviction;
use crate::eviction::{ClockStep, Eviction};
use dra_model::{Cluster, Key, Time};

/// Cached evaluation of a claim.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    pub(super) eviction: Eviction,
    /// From when on its instant is known.
    since: Time,
}

impl TaintEviction {
    /// Keeps what was found for a claim.
    pub(super) fn note(&mut self, claim: &Key, eviction: Option<Eviction>, now: Time) {
        let Some(eviction) = eviction else {
            self.claims.remove(claim);
            return;
        };
        // One look at the place, as each waits for memory where there are many claims.
        match self.claims.entry(claim.clone()) {
            Entry::Occupied(mut known) => {
                let before = known.get();
                let is_same = before.eviction.at == eviction.at;
                let since = if is_same { before.since } else { now };
                known.insert(Noted { eviction, since });
            }
            Entry::Vacant(place) => _ = place.insert(Noted { eviction, since: now }),
        }
    }

    /// The API server's clock was set: times of taints that were known before are read as they were, later ones by the new clock.
    pub(super) fn read_anew(&mut self, cluster: &Cluster, step: ClockStep, now: Time) {
        let older = self.claims.values().filter(|noted| noted.since <= step.after);
        let reasons = older.flat_map(|noted| noted.eviction.reasons.iter());
        let written: Vec<Time> = reasons.filter_map(|reason| reason.taint()?.time_added).collect();
        self.timescale.set(step, written);
        // What has come since was read by a clock that was no longer right.
        let newer: BTreeSet<Key> = (self.claims.iter())
            .filter(|(_, noted)| noted.since > step.after)
            .map(|(key, _)| key.clone())
            .collect();
        let claims: Vec<_> = newer.iter().filter_map(|key| cluster.claim(key)).collect();
        let mut pods = Vec::new();
        self.evaluate_all(cluster, &claims, now, &mut pods, Eviction::is_unchanged);
        for pod in pods {
            // Each still has to go.
            self.look_at(cluster, &pod, now, &mut Vec::new());
        }
    }
}
