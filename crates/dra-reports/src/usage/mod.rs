//! How much of the hardware is used by what.
//!
//! Names of devices do not tell: a GPU that can be partitioned has a device for each partition that could be made of it, and several
//! claims may share one device. So use is counted in *units*. A set of shared counters is one unit, whatever number of devices draw
//! from it, and so is each device that draws from none. Of a unit that is used in part, the share is that of the counter, or of the
//! capacity with the highest use; see [`Measures`].

mod group;
mod room;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;
use serde::Serialize;

pub use group::{UsageBy, UsageGroup};
pub(super) use room::FreeByNode;

use super::Selection;
use super::shape::by_name;
use dra_allocator::devices::{Holder, Inventory, PoolFacts};
use dra_model::{Claim, Cluster, Device, DeviceId, Format, Kind, Pool, Quantity, Str, Time, lookup};
use dra_rules::reservation::{is_done, runs_with};

/// Parts of a unit that amounts are summed up in.
const WHOLE: i128 = 1_000_000_000;

/// What one group uses.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct UsageItem {
    /// Who it is.
    #[serde(flatten)]
    pub group: UsageGroup,
    /// Claims that have devices.
    pub claims: usize,
    /// Claims that have none yet.
    pub pending_claims: usize,
    /// Claims that have devices without a running pod. Absent when pods could not be read.
    pub idle_claims: Option<usize>,
    /// What it uses of each driver, by name.
    pub drivers: Vec<DriverUsage>,
}

/// What one group uses of the devices of one driver.
#[macro_rules_attribute::apply(report)]
#[derive(Default, PartialEq, Eq)]
pub struct DriverUsage {
    /// The driver.
    pub driver: Str,
    /// Devices that its claims have, including shared ones. Admin access does not count.
    pub devices: usize,
    /// Shares of devices among them.
    pub shares: usize,
    /// Units that it uses, in parts where it uses parts of some.
    pub units: Quantity,
    /// Units that the driver has, or the node with `usageBy` `Node`.
    pub of_units: usize,
    /// What it takes of shared counters, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<Str, Quantity>")]
    pub counters: Vec<(Str, Quantity)>,
    /// What it takes of the capacity of devices that can be shared, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<Str, Quantity>")]
    pub capacity: Vec<(Str, Quantity)>,
    /// Devices of claims without a running pod. Absent when pods could not be read.
    pub idle_devices: Option<usize>,
}

/// How much hardware there is behind the devices of a driver, and how much of it is used.
#[macro_rules_attribute::apply(report)]
#[derive(Default, PartialEq, Eq)]
pub struct Units {
    /// Sets of shared counters, and devices that draw from none, with those in use that are not published.
    pub total: usize,
    /// How many of them are used, in parts where parts of some are; absent when claims could not be read.
    pub used: Option<Quantity>,
    /// The shared counters of all sets, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<UsedAmount>,
    /// The capacity of all devices that can be shared, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capacity: Vec<UsedAmount>,
    /// The counters that measure the use.
    #[serde(skip)]
    measured: BTreeSet<Str>,
}

impl Units {
    /// What measures the use: counters that devices consume in parts, and capacities.
    pub fn measured(&self) -> impl Iterator<Item = &UsedAmount> {
        let counters = self.counters.iter();
        counters
            .filter(|counter| self.measured.contains(&counter.name))
            .chain(&self.capacity)
    }

    /// Whether each unit is a device.
    pub fn are_devices(&self) -> bool {
        self.counters.is_empty() && self.capacity.is_empty()
    }
}

/// An amount that there is, and what is used of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct UsedAmount {
    /// The name of the counter or of the capacity.
    pub name: Str,
    /// What there is.
    pub total: Quantity,
    /// What is used.
    pub used: Quantity,
}

/// A claim that has devices without a running pod.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct IdleClaim {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// Devices that it keeps from others.
    pub devices: usize,
    /// When it was allocated: it cannot have been idle for longer. Absent where the scheduler did not record it.
    pub allocation_timestamp: Option<Time>,
    /// When it was created, before which it cannot have been idle.
    pub creation_timestamp: Option<Time>,
}

/// Amounts by name, summed up.
#[derive(Default)]
struct Amounts(BTreeMap<Str, (Quantity, i128)>);

impl Amounts {
    /// Adds an amount, which is written like `like`.
    fn add(&mut self, name: &Str, nanos: i128, like: &Quantity) {
        let (_, sum) = self.0.entry(name.clone()).or_insert_with(|| (like.clone(), 0));
        *sum = sum.saturating_add(nanos);
    }

    fn quantities(self) -> Vec<(Str, Quantity)> {
        let sums = self.0.into_iter();
        sums.map(|(name, (like, nanos))| (name, Quantity::from_nanos(nanos, like.format())))
            .collect()
    }
}

/// What there is and what is used, added up over the pools of a driver.
#[derive(Default)]
pub(super) struct UnitSums {
    total: usize,
    used: i128,
    counters: (Amounts, Amounts),
    capacity: (Amounts, Amounts),
    /// Counters that use is measured by.
    measured: BTreeSet<Str>,
}

impl UnitSums {
    /// The sums; without what is used where that `is_known` not to be all.
    pub(super) fn units(self, is_known: bool) -> Units {
        let pairs = |(total, used): (Amounts, Amounts)| {
            let pairs = total.quantities().into_iter().zip(used.quantities());
            let pairs = pairs.map(|((name, total), (_, used))| UsedAmount { name, total, used });
            pairs.filter(|_| is_known).collect()
        };
        Units {
            total: self.total,
            used: is_known.then(|| units(self.used)),
            counters: pairs(self.counters),
            capacity: pairs(self.capacity),
            measured: self.measured,
        }
    }
}

/// Parts of units as a quantity, to the nearest thousandth.
fn units(parts: i128) -> Quantity {
    let thousandth = WHOLE / 1000;
    Quantity::new_milli(((parts + thousandth / 2) / thousandth) as i64, Format::DecimalSi)
}

/// `part` of `whole`, in parts of a unit.
fn share(part: i128, whole: i128) -> i128 {
    if whole <= 0 {
        return 0;
    }
    (part.saturating_mul(WHOLE) / whole).clamp(0, WHOLE)
}

/// The counters that measure the use of each set of a pool: the set, the names, and the total of each.
pub(super) struct Measures(Vec<(Str, Vec<(Str, i128)>)>);

/// A counter of a set.
struct Balance {
    name: Str,
    total: i128,
    used: i128,
    /// A device takes a part of it.
    is_split: bool,
}

impl Measures {
    /// Those of `pool`, whose counters are added to `sums`.
    ///
    /// A counter that each device takes all of, such as one for a position on the GPU, is either free or used up. So a
    /// counter that devices take parts of shows how much of a set is used; of several, the one that is used most. A set without such a
    /// counter is used as its counters are on average.
    pub(super) fn of(pool: &Pool<'_>, facts: &PoolFacts, sums: &mut UnitSums) -> Self {
        // By name, and so are the counters of each.
        let mut sets: Vec<(Str, Vec<Balance>)> = Vec::new();
        for (set, name, balance) in facts.counters.iter() {
            let (Some(total), Some(left)) = (balance.total.nanos(), balance.remaining.nanos()) else {
                continue;
            };
            let used = total.saturating_sub(left);
            sums.counters.0.add(name, total, &balance.total);
            sums.counters.1.add(name, used, &balance.total);
            let counter = Balance {
                name: name.clone(),
                total,
                used,
                is_split: false,
            };
            match sets.last_mut() {
                Some((known, counters)) if known == set => counters.push(counter),
                _ => sets.push((set.clone(), vec![counter])),
            }
        }
        if sets.is_empty() {
            return Self(Vec::new());
        }
        for draw in pool.devices().flat_map(|(_, device)| &device.consumes_counters) {
            let Ok(set) = sets.binary_search_by(|(set, _)| set.cmp(&draw.counter_set)) else {
                continue;
            };
            let counters = &mut sets[set].1;
            for (name, counter) in &draw.counters {
                if let Ok(place) = counters.binary_search_by(|balance| balance.name.cmp(name)) {
                    let Balance { total, is_split, .. } = &mut counters[place];
                    let amount = counter.value.nanos();
                    *is_split |= amount.is_some_and(|amount| amount > 0 && amount < *total);
                }
            }
        }
        let mut measures = Vec::with_capacity(sets.len());
        for (set, counters) in sets {
            let split = counters.iter().filter(|balance| balance.is_split);
            // Of equally full ones the first by name.
            let fullest = split
                .rev()
                .max_by_key(|balance| share(balance.used, balance.total));
            let measured: Vec<&Balance> = match fullest {
                Some(fullest) => vec![fullest],
                None => counters.iter().collect(),
            };
            let parts = measured.iter().map(|balance| share(balance.used, balance.total));
            sums.total += 1;
            sums.used += parts.sum::<i128>() / measured.len().max(1) as i128;
            if let [one] = measured.as_slice() {
                sums.measured.insert(one.name.clone());
            }
            let measured = measured
                .into_iter()
                .map(|balance| (balance.name.clone(), balance.total));
            let measured = measured.collect();
            measures.push((set, measured));
        }
        Self(measures)
    }

    /// How much of units `device` draws.
    fn drawn_by(&self, device: &Device) -> i128 {
        let draws = device.consumes_counters.iter().filter_map(|consumption| {
            let mut sets = self.0.iter();
            let (_, counters) = sets.find(|(set, _)| *set == consumption.counter_set)?;
            let drawn = counters.iter().filter_map(|(name, total)| {
                let amount = lookup(&consumption.counters, name)?.value.nanos()?;
                Some(share(amount, *total))
            });
            Some(drawn.sum::<i128>() / counters.len().max(1) as i128)
        });
        draws.sum()
    }
}

/// What groups use, while it is counted.
pub(super) struct Counting<'a> {
    cluster: &'a Cluster,
    by: UsageBy,
    selection: &'a Selection,
    /// Only looked up in: its order cannot reach a result.
    places: HashMap<UsageGroup, usize, RandomState>,
    items: Vec<Item>,
    idle: Vec<IdleClaim>,
}

struct Item {
    group: UsageGroup,
    claims: usize,
    pending: usize,
    idle: usize,
    drivers: BTreeMap<Str, Used>,
}

/// What a group uses of a driver.
#[derive(Default)]
struct Used {
    devices: usize,
    shares: usize,
    parts: i128,
    /// Units of the node, where the group is one.
    of_units: usize,
    counters: Amounts,
    capacity: Amounts,
    idle: usize,
}

impl<'a> Counting<'a> {
    /// Counts the claims of `selection`.
    pub(super) fn new(cluster: &'a Cluster, selection: &'a Selection, by: UsageBy) -> Self {
        let mut counting = Self {
            cluster,
            by,
            selection,
            places: HashMap::default(),
            items: Vec::new(),
            idle: Vec::new(),
        };
        for claim in selection.claims(cluster) {
            counting.claim(claim);
        }
        counting
    }

    fn item(&mut self, group: UsageGroup) -> &mut Item {
        let items = &mut self.items;
        let place = *self.places.entry(group).or_insert_with_key(|group| {
            items.push(Item {
                group: group.clone(),
                claims: 0,
                pending: 0,
                idle: 0,
                drivers: BTreeMap::new(),
            });
            items.len() - 1
        });
        &mut self.items[place]
    }

    fn claim(&mut self, claim: &Claim) {
        if claim.status.allocation.is_none() {
            if !claim.metadata.is_deleting() && !is_over(self.cluster, claim) {
                for group in UsageGroup::of_pending(self.cluster, self.by, claim) {
                    self.item(group).pending += 1;
                }
            }
            return;
        }
        let is_idle = runs_with(self.cluster, claim) == Some(false);
        let mut groups: Vec<UsageGroup> = Vec::new();
        let mut devices = 0;
        for result in claim.results().iter().filter(|result| result.takes()) {
            let group = UsageGroup::of(self.cluster, self.by, claim, result);
            devices += 1;
            if is_idle {
                let drivers = &mut self.item(group.clone()).drivers;
                drivers.entry(result.driver.clone()).or_default().idle += 1;
            }
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        for group in groups {
            let item = self.item(group);
            item.claims += 1;
            item.idle += usize::from(is_idle);
        }
        if is_idle && devices > 0 {
            let allocation = claim.status.allocation.as_ref();
            self.idle.push(IdleClaim {
                namespace: claim.metadata.namespace.clone(),
                name: claim.metadata.name.clone(),
                uid: claim.metadata.uid.clone(),
                devices,
                allocation_timestamp: allocation.and_then(|allocation| allocation.allocation_timestamp),
                creation_timestamp: claim.metadata.creation_timestamp,
            });
        }
    }

    /// Counts a device that is published, and adds it to `sums`. `node` is the only one that reaches it.
    pub(super) fn device(
        &mut self,
        inventory: &Inventory<'_>,
        (id, device): (&DeviceId, &Device),
        node: Option<&Str>,
        measures: &Measures,
        sums: &mut UnitSums,
    ) {
        let draws = !device.consumes_counters.is_empty();
        if !draws {
            sums.total += 1;
        }
        let of_node = || node.map_or(UsageGroup::Nodes, |name| UsageGroup::Node(name.clone()));
        if self.by == UsageBy::Node && !draws {
            let drivers = &mut self.item(of_node()).drivers;
            drivers.entry(id.driver.clone()).or_default().of_units += 1;
        }
        let shared = device
            .allow_multiple_allocations
            .then(|| Shared::of(inventory, id, device));
        if let Some(shared) = &shared {
            for (name, total, left) in &shared.amounts {
                let (Some(all), Some(left)) = (total.nanos(), left.nanos()) else {
                    continue;
                };
                sums.capacity.0.add(name, all, total);
                sums.capacity.1.add(name, all.saturating_sub(left), total);
            }
        }
        let holders = inventory.holders(id);
        let takers = holders.iter().filter(|holder| holder.takes()).count() as i128;
        if takers == 0 {
            return;
        }
        let drawn = if draws { measures.drawn_by(device) } else { 0 };
        let mut used = 0;
        for holder in holders.iter().filter(|holder| holder.takes()) {
            let parts = match &shared {
                _ if draws => drawn / takers,
                Some(shared) => shared.part_of(holder),
                None => WHOLE / takers,
            };
            used += parts;
            if !self.selection.includes(&holder.claim.metadata) {
                continue;
            }
            let group = if self.by == UsageBy::Node {
                of_node()
            } else {
                UsageGroup::of(self.cluster, self.by, holder.claim, holder.result)
            };
            let drivers = &mut self.item(group).drivers;
            let counted = drivers.entry(id.driver.clone()).or_default();
            counted.add(holder, device, parts, takers, shared.is_some());
        }
        if !draws {
            sums.used += used.min(WHOLE);
        }
    }

    /// Counts the sets of counters of a pool as units of its node.
    pub(super) fn sets(&mut self, driver: &Str, node: Option<&Str>, measures: &Measures) {
        if self.by == UsageBy::Node && !measures.0.is_empty() {
            let group = node.map_or(UsageGroup::Nodes, |name| UsageGroup::Node(name.clone()));
            let drivers = &mut self.item(group).drivers;
            drivers.entry(driver.clone()).or_default().of_units += measures.0.len();
        }
    }

    /// Counts a device that claims have and no slice publishes as a unit that is used, and adds it to `sums`.
    pub(super) fn unpublished(&mut self, inventory: &Inventory<'_>, id: &DeviceId, sums: &mut UnitSums) {
        let takers: Vec<_> = inventory
            .holders(id)
            .iter()
            .filter(|holder| holder.takes())
            .collect();
        if takers.is_empty() {
            return;
        }
        sums.total += 1;
        sums.used += WHOLE;
        for (place, holder) in takers.iter().enumerate() {
            let group = UsageGroup::of(self.cluster, self.by, holder.claim, holder.result);
            let by_node = self.by == UsageBy::Node;
            let is_selected = self.selection.includes(&holder.claim.metadata);
            if !is_selected && !by_node {
                continue;
            }
            let counted = self.item(group).drivers.entry(id.driver.clone()).or_default();
            counted.of_units += usize::from(by_node && place == 0);
            if is_selected {
                counted.devices += 1;
                counted.parts += WHOLE / takers.len() as i128;
            }
        }
    }

    /// What was counted: who uses what, by name, and the claims that are idle, unless pods could not be read. `units` says how many
    /// units of a driver there are.
    pub(super) fn finish(self, units_of: impl Fn(&Str) -> usize) -> (Vec<UsageItem>, Option<Vec<IdleClaim>>) {
        let namespace = self.selection.namespace.as_deref().unwrap_or_default();
        let knows_pods = self.cluster.gap(Kind::Pod, namespace).is_none();
        let by_node = self.by == UsageBy::Node;
        let usage = |(driver, used): (Str, Used)| DriverUsage {
            devices: used.devices,
            shares: used.shares,
            units: units(used.parts),
            of_units: if by_node { used.of_units } else { units_of(&driver) },
            counters: used.counters.quantities(),
            capacity: used.capacity.quantities(),
            idle_devices: knows_pods.then_some(used.idle),
            driver,
        };
        let mut items: Vec<UsageItem> = self
            .items
            .into_iter()
            .map(|item| UsageItem {
                group: item.group,
                claims: item.claims,
                pending_claims: item.pending,
                idle_claims: knows_pods.then_some(item.idle),
                drivers: item.drivers.into_iter().map(usage).collect(),
            })
            .collect();
        items.sort_unstable_by(|a, b| a.group.cmp(&b.group));
        (items, knows_pods.then_some(self.idle))
    }
}

impl Used {
    /// Adds what `holder`, one of `takers`, has of `device`.
    fn add(&mut self, holder: &Holder<'_>, device: &Device, parts: i128, takers: i128, is_shared: bool) {
        self.devices += 1;
        self.shares += usize::from(holder.result.share_id.is_some());
        self.parts += parts;
        for consumption in &device.consumes_counters {
            for (name, counter) in &consumption.counters {
                if let Some(nanos) = counter.value.nanos() {
                    self.counters.add(name, nanos / takers, &counter.value);
                }
            }
        }
        if is_shared {
            for (name, amount) in &holder.result.consumed_capacity {
                if let Some(nanos) = amount.nanos() {
                    self.capacity.add(name, nanos, amount);
                }
            }
        }
    }
}

/// What is taken of a device that several claims can share.
struct Shared<'d> {
    /// Name, what there is, and what is left of each capacity.
    amounts: Vec<(&'d Str, &'d Quantity, Quantity)>,
    /// The one with the highest use.
    fullest: Option<usize>,
}

impl<'d> Shared<'d> {
    fn of(inventory: &Inventory<'_>, id: &DeviceId, device: &'d Device) -> Self {
        let left = |name: &Str, total: &Quantity| inventory.capacity_left(id, name, total);
        let amounts = device.capacity.iter();
        let amounts: Vec<_> = amounts
            .map(|(name, capacity)| (name, &capacity.value, left(name, &capacity.value)))
            .collect();
        let used = |(_, total, left): &(&Str, &Quantity, Quantity)| {
            let (total, left) = (total.nanos().unwrap_or(0), left.nanos().unwrap_or(0));
            share(total.saturating_sub(left), total)
        };
        let fullest = (0..amounts.len())
            .rev()
            .max_by_key(|place| used(&amounts[*place]));
        Self { amounts, fullest }
    }

    /// How much of the device `holder` has: all of it where it has no share.
    fn part_of(&self, holder: &Holder<'_>) -> i128 {
        if holder.result.share_id.is_none() {
            return WHOLE;
        }
        let Some((name, total, _)) = self.fullest.map(|place| &self.amounts[place]) else {
            return 0;
        };
        let taken = lookup(&holder.result.consumed_capacity, name).and_then(Quantity::nanos);
        share(taken.unwrap_or(0), total.nanos().unwrap_or(0))
    }
}

/// Returns whether all pods that the claim is for have ended or are being deleted without a node, so that it waits for nothing.
fn is_over(cluster: &Cluster, claim: &Claim) -> bool {
    let key = claim.key();
    let mut pods = cluster.pods_of_claim(&key).peekable();
    pods.peek().is_some() && pods.all(|pod| is_done(pod))
}

#[cfg(test)]
mod tests;
