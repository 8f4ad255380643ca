//! Slices grouped into pools, as a whole: what a driver has published, whether it is all there.
//!
//! What one node sees of a pool is the allocator's business.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::{Device, DeviceId, PoolId, Slice, Str, Time};

/// A pool: the slices of its newest generation. Older slices are leftovers that a driver is about to remove.
#[derive(Clone, Debug)]
pub struct Pool<'a> {
    /// Driver and name.
    pub id: PoolId,
    /// The newest generation.
    pub generation: i64,
    /// Slices of that generation, by name.
    pub slices: Vec<&'a Arc<Slice>>,
    /// Number of slices the generation says it has.
    pub expected_slices: i64,
    /// Slices of older generations, by name.
    pub outdated: Vec<&'a Arc<Slice>>,
}

impl<'a> Pool<'a> {
    /// The nodes that only outdated slices are for, by name.
    pub fn only_outdated(&self) -> Vec<&'a Str> {
        let name = |slice: &&'a Arc<Slice>| slice.spec.node_name.as_ref();
        let current: Option<BTreeSet<&Str>> = self.slices.iter().map(name).collect();
        // One that names no node may be for each.
        let Some(current) = current else {
            return Vec::new();
        };
        let outdated: BTreeSet<&'a Str> = self.outdated.iter().filter_map(name).collect();
        outdated
            .into_iter()
            .filter(|node| !current.contains(node))
            .collect()
    }

    /// Groups `slices`, which are those of the pool `id` in the order of their names; nothing for no slices.
    pub(super) fn new(id: PoolId, slices: Vec<&'a Arc<Slice>>) -> Option<Self> {
        let generation = slices.iter().map(|slice| slice.spec.pool.generation).max()?;
        let (slices, outdated): (Vec<_>, Vec<_>) = slices
            .into_iter()
            .partition(|slice| slice.spec.pool.generation == generation);
        let expected_slices = slices.first()?.spec.pool.resource_slice_count;
        Some(Self {
            id,
            generation,
            slices,
            expected_slices,
            outdated,
        })
    }

    /// Returns whether every slice of the generation is there. Mirrors `pools_incubating.go`, `GatherPools`.
    pub fn is_complete(&self) -> bool {
        self.has_expected() || self.parts().len() > 1
    }

    /// When the newest slice of the generation was created.
    pub fn newest(&self) -> Option<Time> {
        let created = self.slices.iter().map(|slice| slice.metadata.creation_timestamp);
        created.max().flatten()
    }

    fn has_expected(&self) -> bool {
        i64::try_from(self.slices.len()) == Ok(self.expected_slices)
    }

    /// The pool as nodes see it: one for each node, by name, where every slice names its node and each of several nodes has as many of its own
    /// as they declare; else the pool itself. The scheduler counts the slices that reach a node first, and looks for others only if some are
    /// missing (`pools_incubating.go`, `GatherPools`).
    pub fn parts(&self) -> Vec<Self> {
        let mut by_node: BTreeMap<&Str, Vec<&'a Arc<Slice>>> = BTreeMap::new();
        for slice in &self.slices {
            let Some(node) = slice.spec.node_name.as_ref().filter(|node| !node.is_empty()) else {
                return vec![self.clone()];
            };
            by_node.entry(node).or_default().push(*slice);
        }
        let parts = by_node.into_values();
        let parts: Vec<Self> = parts
            .filter_map(|slices| Self::new(self.id.clone(), slices))
            .collect();
        if parts.len() > 1 && parts.iter().all(Self::has_expected) {
            parts
        } else {
            vec![self.clone()]
        }
    }

    /// Devices in the order in which the allocator tries them, with their slices.
    pub fn devices(&self) -> impl Iterator<Item = (&'a Arc<Slice>, &'a Device)> + '_ {
        self.slices
            .iter()
            .flat_map(|slice| slice.spec.devices.iter().map(move |device| (*slice, device)))
    }

    /// The device of that name. Of devices with the same name, which make the pool invalid, the first.
    pub fn device(&self, name: &str) -> Option<(&'a Arc<Slice>, &'a Device)> {
        self.devices().find(|(_, device)| device.name == name)
    }

    /// Identity of the pool's device `name`.
    pub fn device_id(&self, name: &Str) -> DeviceId {
        self.id.device(name)
    }

    /// Names that more than one device has; with any, the allocator uses nothing of the pool.
    pub fn duplicate_devices(&self) -> Vec<&'a Str> {
        let mut seen: BTreeMap<&Str, usize> = BTreeMap::new();
        for (_, device) in self.devices() {
            *seen.entry(&device.name).or_default() += 1;
        }
        seen.into_iter()
            .filter(|(_, times)| *times > 1)
            .map(|(name, _)| name)
            .collect()
    }
}
