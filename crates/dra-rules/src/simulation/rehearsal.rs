//! Controllers that start anew over a cluster: whatever is undone is done, and every write is recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::World;
use super::record::{Record, detail_of};
use crate::controllers::{Action, Actor, ClaimWrite, ControllerName, ResourceClaims, Traced, Wish};
use crate::reservation::lost_pod;
use dra_model::{Claim, Cluster, Key, Kind, Str, Time};

impl World<'static> {
    /// The cluster at `now`, whose controllers start and find pending work. Pods are neither recreated nor scheduled.
    /// Writes are recorded.
    ///
    /// The claim controller processes everything. The eviction controller continues the counts in the conditions of the
    /// rules.
    pub fn restarted(cluster: Cluster, now: Time) -> Self {
        let orphans = orphans(&cluster);
        let mut world = Self::with(cluster, now, None, ResourceClaims::start);
        world.garbage = orphans;
        world.record = Some(Record::default());
        world
    }
}

impl World<'_> {
    /// Returns what was done so far, in order, if it is [recorded](World::restarted).
    pub fn traced(&self) -> &[Traced] {
        self.record.as_ref().map_or(&[], |record| &record.traced)
    }

    /// The templates that claims were made from, by claim, if it is recorded.
    pub fn templates_of_made(&self) -> BTreeMap<Key, Key> {
        let made = self.record.as_ref().map(|record| record.made.clone());
        made.unwrap_or_default()
    }

    /// Returns what is recorded of a write that is about to be carried out.
    pub(super) fn intended(&self, write: &ClaimWrite, created: &[Arc<Claim>]) -> Vec<(Wish, String)> {
        if self.record.is_none() {
            return Vec::new();
        }
        let wishes = Wish::of_write(write).into_iter();
        wishes
            .map(|wish| {
                let detail = detail_of(write, &wish, created);
                (wish, detail)
            })
            .collect()
    }

    /// Records a write that was carried out.
    pub(super) fn record_write(&mut self, (wish, detail): (Wish, String)) {
        let (kind, key) = wish.object();
        let actor = Actor::Controller(wish.controller());
        self.record(actor, wish.action(), (kind, &key), || detail);
    }

    /// Records what was done.
    pub(super) fn record(
        &mut self,
        actor: Actor,
        action: Action,
        (kind, key): (Kind, &Key),
        detail: impl FnOnce() -> String,
    ) {
        let at = self.now;
        if let Some(record) = &mut self.record {
            record.add(Traced {
                at,
                actor,
                action,
                object: (kind, key.clone()),
                detail: detail(),
                count: 1,
            });
        }
    }

    /// Records an event that a controller emits.
    pub(super) fn record_event(
        &mut self,
        controller: ControllerName,
        object: (Kind, &Key),
        reason: &str,
        text: &str,
    ) {
        let detail = || format!("{reason}: {text}");
        self.record(Actor::Controller(controller), Action::EmitEvent, object, detail);
    }

    /// Remembers what a claim was made from.
    pub(super) fn record_template(&mut self, claim: Key, template: Key) {
        if let Some(record) = &mut self.record {
            record.made.insert(claim, template);
        }
    }

    /// Returns whether only the controllers act, the kubelets and the garbage collector.
    pub(super) fn is_rehearsal(&self) -> bool {
        self.record.is_some()
    }
}

/// UIDs of pods that claims belong to alone and that are gone: the garbage collector takes such claims.
fn orphans(cluster: &Cluster) -> BTreeSet<Str> {
    let owners = cluster.claims().filter_map(|claim| {
        let owner = lost_pod(cluster, claim)?;
        let is_known = cluster.gap(Kind::Pod, &claim.metadata.namespace).is_none();
        is_known.then(|| owner.uid.clone())
    });
    owners.collect()
}
