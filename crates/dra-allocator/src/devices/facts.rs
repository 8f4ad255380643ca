//! A cluster prepared for questions about its devices.

use std::sync::Arc;

use super::allocated::AllocatedState;
use super::features::Features;
use super::pools::{LOOKS_PER_OBJECT, PoolView, Pools};
use super::rules::rules_of_scheduler;
use super::selectors::SelectorCache;
use dra_model::{Claim, Cluster, DeviceId, Kind, Node, PoolId, Str};

/// A cluster prepared for questions about its devices: pools, devices in use, taints, expressions. Shared by all nodes and threads.
///
/// A clone costs as much as what [`Facts::apply`] has changed since the last one.
#[derive(Clone, Debug)]
pub struct Facts {
    pub(crate) features: Features,
    pub(crate) cluster: Cluster,
    pub(crate) pools: Pools,
    pub(crate) allocated: AllocatedState,
    pub(crate) selectors: Arc<SelectorCache>,
}

/// Views of a pool that reports look at.
const MOST_VIEWS_OF_POOL: usize = 64;

impl Facts {
    /// Prepares `cluster`. Cheap: pools are evaluated on demand.
    pub fn new(cluster: &Cluster, features: Features) -> Self {
        let selectors = SelectorCache::new(features.selectors(cluster.environment()), cluster.meter());
        let empty = Self {
            features,
            cluster: cluster.clone(),
            pools: Pools::new(features, selectors.meter()),
            allocated: AllocatedState::default(),
            selectors: Arc::new(selectors),
        };
        empty.of(cluster)
    }

    /// Prepares another cluster of the same gates and versions. What is known about expressions is shared, which pays where many
    /// small clusters are judged by the same expressions.
    #[must_use]
    pub fn beside(&self, cluster: &Cluster) -> Self {
        self.selectors.meter().look(objects(cluster) / LOOKS_PER_OBJECT);
        self.clone().of(cluster)
    }

    /// The same for another cluster.
    fn of(mut self, cluster: &Cluster) -> Self {
        self.pools.replace_slices(cluster.slices(), &self.selectors);
        self.pools.replace_rules(rules_of_scheduler(cluster).iter());
        let claims = cluster.claims().map(|claim| &**claim);
        self.allocated = AllocatedState::gather(claims, self.features.consumable_capacity);
        self.cluster = cluster.clone();
        self
    }

    /// The pools that `node` reaches, in the order of the scheduler.
    ///
    /// # Errors
    /// The error that ends the scheduling attempt.
    pub(crate) fn views(&self, node: &Node) -> Result<Vec<Arc<PoolView>>, String> {
        let views = self.pools.of_node(node, &self.allocated);
        views.map_err(|why| format!("gather pool information: {why}"))
    }

    /// A pool as a node would see it that all slices of the newest generation reach; none where gates hide all of them.
    pub(crate) fn pool(&self, id: &PoolId) -> Option<Arc<PoolView>> {
        self.pools.whole(id, &self.allocated)
    }

    /// The pool as `node` sees it, which reaches no slices of the newest generation but its own.
    pub(crate) fn own_part(&self, id: &PoolId, node: &Str) -> Option<Arc<PoolView>> {
        self.pools.own_part(id, node, &self.allocated)
    }

    /// The pool as nodes see it that do not all see the same of it: each such view, a few at most, with the nodes that have it.
    pub(crate) fn views_of_pool(&self, id: &PoolId) -> Vec<(Arc<PoolView>, Vec<Arc<Node>>)> {
        let mut views: Vec<(Arc<PoolView>, Vec<Arc<Node>>)> = Vec::new();
        if self.pools.is_seen_alike(id) {
            return views;
        }
        let meter = self.selectors.meter();
        for node in self.cluster.nodes() {
            if meter.exhausted().is_some() {
                break;
            }
            meter.look(self.pools.looks_at_slices(node));
            // What ends an attempt on the node keeps its devices from being allocated there.
            let Ok(Some(view)) = self.pools.seen_from(id, node, &self.allocated) else {
                continue;
            };
            match views.iter().position(|(known, _)| Arc::ptr_eq(known, &view)) {
                Some(place) => views[place].1.push(Arc::clone(node)),
                None if views.len() < MOST_VIEWS_OF_POOL => views.push((view, vec![Arc::clone(node)])),
                None => {}
            }
        }
        views
    }

    /// The claims that take something of the device.
    pub(crate) fn takers(&self, device: &DeviceId) -> impl Iterator<Item = &Arc<Claim>> {
        let takes = |claim: &&Arc<Claim>| {
            let results = &mut claim.results().iter();
            results.any(|result| result.takes() && result.id() == *device)
        };
        self.cluster.claims_of_device(device).filter(takes)
    }
}

/// Objects that facts are made from.
fn objects(cluster: &Cluster) -> usize {
    let kinds = [Kind::ResourceClaim, Kind::ResourceSlice, Kind::DeviceTaintRule];
    kinds.into_iter().map(|kind| cluster.count(kind)).sum()
}
