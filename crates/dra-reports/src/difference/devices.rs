//! Devices, pools and taint rules that differ between two states.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Existence, Sides, joined, words};
use crate::{DeviceTaintItem, Warnings};
use dra_allocator::devices::{node_of, rule_matches_in_pool, rule_matches_pool};
use dra_model::{Cluster, Device, Kind, Pool, PoolId, Quantity, Slice, Str, Taint, TaintRule};

/// An amount that is new, gone or changed.
#[serde_with_macros::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AmountChange {
    /// Name of the capacity, or counter set and counter as `SET/COUNTER`.
    pub name: String,
    /// What there was.
    pub before: Option<Quantity>,
    /// What there is.
    pub after: Option<Quantity>,
}

/// A published device that differs.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct DeviceChange {
    /// Its driver.
    pub driver: Str,
    /// Its pool.
    pub pool: Str,
    /// Its name in the pool.
    pub device: Str,
    /// Which states publish it.
    pub existence: Existence,
    /// The only node that reaches it, or reached it if it is gone. Absent when several do.
    pub node: Option<Str>,
    /// The only node that reached it before, if that is another one.
    pub previous_node: Option<Str>,
    /// Capacities that differ. All of them for a device that is new or gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capacity: Vec<AmountChange>,
    /// Taints that its driver has added since. The taints of rules are in `rules`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taints_added: Vec<DeviceTaintItem>,
    /// Taints that its driver has removed since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taints_removed: Vec<DeviceTaintItem>,
}

/// A pool that differs in more than its devices.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct PoolChange {
    /// Its driver.
    pub driver: Str,
    /// Its name.
    pub pool: Str,
    /// Which states publish it.
    pub existence: Existence,
    /// Its generation before.
    pub generation_before: Option<i64>,
    /// Its generation after.
    pub generation_after: Option<i64>,
    /// Shared counters that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<AmountChange>,
}

/// A DeviceTaintRule that differs.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct RuleChange {
    /// Its name.
    pub name: Str,
    /// Which states have it.
    pub existence: Existence,
    /// Its taint, or what it was if the rule is gone.
    pub taint: DeviceTaintItem,
    /// Its taint before, if that is another one.
    pub previous_taint: Option<DeviceTaintItem>,
    /// Number of published devices that it selects, or selected if it is gone. Absent if slices could not be read.
    pub devices: Option<usize>,
}

/// Devices and pools that differ. What an incomplete pool lacks is unknown: its driver may still publish the rest.
pub(super) fn devices(sides: &Sides<'_>, unknown: &mut Warnings) -> (Vec<DeviceChange>, Vec<PoolChange>) {
    let [before, after] = sides
        .both()
        .map(|cluster| cluster.pools().map(|pool| (pool.id.clone(), pool)));
    let (mut devices, mut pools) = (Vec::new(), Vec::new());
    if !sides.are_read(Kind::ResourceSlice, "") {
        return (devices, pools);
    }
    for (id, (before, after)) in joined(before, after) {
        let Some(existence) = Existence::of(before.is_some(), after.is_some()) else {
            continue;
        };
        let mut compared = Compared {
            id: &id,
            before: before.as_ref(),
            after: after.as_ref(),
            is_incomplete: false,
        };
        devices.extend(compared.devices());
        let counters = compared.counters();
        if compared.is_incomplete {
            unknown.add(words::incomplete_pool(&id));
        }
        let [generation_before, generation_after] =
            [&before, &after].map(|pool| pool.as_ref().map(|pool| pool.generation));
        if generation_before != generation_after || !counters.is_empty() {
            pools.push(PoolChange {
                driver: id.driver,
                pool: id.pool,
                existence,
                generation_before,
                generation_after,
                counters,
            });
        }
    }
    (devices, pools)
}

/// A pool in both states.
struct Compared<'p, 'c> {
    id: &'p PoolId,
    before: Option<&'p Pool<'c>>,
    after: Option<&'p Pool<'c>>,
    /// Something was not compared because slices of the pool are missing.
    is_incomplete: bool,
}

impl Compared<'_, '_> {
    /// Returns whether a part of the pool that one state lacks is known to be new or gone.
    fn is_known(&mut self, existence: Existence) -> bool {
        let lacking = match existence {
            Existence::New => self.before,
            Existence::Gone => self.after,
            Existence::Kept => None,
        };
        let is_incomplete = lacking.is_some_and(|pool| !pool.is_complete());
        self.is_incomplete |= is_incomplete;
        !is_incomplete
    }

    fn devices(&mut self) -> Vec<DeviceChange> {
        let [before, after] = [self.before, self.after].map(|pool| {
            let devices = pool.into_iter().flat_map(Pool::devices);
            devices.map(|(slice, device)| (&device.name, (&**slice, device)))
        });
        let mut changes = Vec::new();
        for (name, (before, after)) in joined(before, after) {
            let existence = Existence::of(before.is_some(), after.is_some());
            if let Some(existence) = existence.filter(|existence| self.is_known(*existence)) {
                changes.extend(self.device(name, existence, before, after));
            }
        }
        changes
    }

    fn device(
        &self,
        name: &Str,
        existence: Existence,
        before: Option<(&Slice, &Device)>,
        after: Option<(&Slice, &Device)>,
    ) -> Option<DeviceChange> {
        let [node_before, node_after] =
            [before, after].map(|device| device.and_then(|(slice, device)| node_of(slice, device).0));
        let [capacity_before, capacity_after] = [before, after].map(|device| {
            let capacities = device.into_iter().flat_map(|(_, device)| &device.capacity);
            capacities.map(|(name, capacity)| (name.to_string(), &capacity.value))
        });
        let capacity = amounts(capacity_before, capacity_after);
        let [taints_before, taints_after] = [before, after].map(|device| {
            let taints = device.into_iter().flat_map(|(_, device)| &device.taints);
            taints.map(without_time).collect::<BTreeSet<Taint>>()
        });
        let items = |taints: &BTreeSet<Taint>, others: &BTreeSet<Taint>| -> Vec<DeviceTaintItem> {
            taints
                .difference(others)
                .map(|taint| DeviceTaintItem::new(taint, None))
                .collect()
        };
        let taints_added = items(&taints_after, &taints_before);
        let taints_removed = items(&taints_before, &taints_after);
        let moved = existence == Existence::Kept && node_before != node_after;
        if existence == Existence::Kept
            && !moved
            && capacity.is_empty()
            && taints_added.is_empty()
            && taints_removed.is_empty()
        {
            return None;
        }
        Some(DeviceChange {
            driver: self.id.driver.clone(),
            pool: self.id.pool.clone(),
            device: name.clone(),
            existence,
            previous_node: node_before.clone().filter(|_| moved),
            node: if existence == Existence::Gone {
                node_before
            } else {
                node_after
            },
            capacity,
            taints_added,
            taints_removed,
        })
    }

    fn counters(&mut self) -> Vec<AmountChange> {
        let [before, after] = [self.before, self.after].map(|pool| {
            let slices = pool.into_iter().flat_map(|pool| &pool.slices);
            let sets = slices.flat_map(|slice| &slice.spec.shared_counters);
            sets.flat_map(|set| {
                let counters = set.counters.iter();
                counters.map(|(name, counter)| (format!("{}/{name}", set.name), &counter.value))
            })
        });
        let mut changes = amounts(before, after);
        changes.retain(|change| {
            let existence = Existence::of(change.before.is_some(), change.after.is_some());
            existence.is_some_and(|existence| self.is_known(existence))
        });
        changes
    }
}

fn amounts<'q>(
    before: impl Iterator<Item = (String, &'q Quantity)>,
    after: impl Iterator<Item = (String, &'q Quantity)>,
) -> Vec<AmountChange> {
    let all = joined(before, after).into_iter();
    let changed = all.filter(|(_, (before, after))| before != after);
    changed
        .map(|(name, (before, after))| AmountChange {
            name,
            before: before.cloned(),
            after: after.cloned(),
        })
        .collect()
}

/// The taint as it is compared. A driver that publishes a taint again may give it another time.
fn without_time(taint: &Taint) -> Taint {
    Taint {
        time_added: None,
        ..taint.clone()
    }
}

/// Rules that differ in their taint or their selector.
pub(super) fn rules(sides: &Sides<'_>) -> Vec<RuleChange> {
    let [before, after] = sides.both().map(|cluster| {
        let rules = cluster.rules();
        rules.map(|rule| (rule.metadata.name.clone(), &**rule))
    });
    let mut changes = Vec::new();
    if !sides.are_read(Kind::DeviceTaintRule, "") {
        return changes;
    }
    for (name, (before, after)) in joined(before, after) {
        let Some(existence) = Existence::of(before.is_some(), after.is_some()) else {
            continue;
        };
        let [spec_before, spec_after] = [before, after]
            .map(|rule| rule.map(|rule| (without_time(&rule.spec.taint), &rule.spec.device_selector)));
        if spec_before == spec_after {
            continue;
        }
        let (rule, cluster) = match (before, after) {
            (_, Some(rule)) => (rule, sides.after),
            (Some(rule), None) => (rule, sides.before),
            (None, None) => continue,
        };
        let taint = without_time(&rule.spec.taint);
        let previous = spec_before.map(|(taint, _)| taint);
        changes.push(RuleChange {
            existence,
            previous_taint: previous
                .filter(|previous| *previous != taint)
                .map(|previous| DeviceTaintItem::new(&previous, Some(&name))),
            taint: DeviceTaintItem::new(&taint, Some(&name)),
            devices: selected(cluster, rule),
            name,
        });
    }
    changes
}

/// Number of published devices that the rule selects; nothing if slices could not be read.
fn selected(cluster: &Cluster, rule: &TaintRule) -> Option<usize> {
    if cluster.gap(Kind::ResourceSlice, "").is_some() {
        return None;
    }
    let pools = cluster.pools().filter(|pool| rule_matches_pool(rule, &pool.id));
    let of_pool = |pool: Pool<'_>| {
        let devices = pool.devices();
        devices
            .filter(|(_, device)| rule_matches_in_pool(rule, &device.name))
            .count()
    };
    Some(pools.map(of_pool).sum())
}
