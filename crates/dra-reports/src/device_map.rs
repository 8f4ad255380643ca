//! Devices as a picture: a row for each node, a mark for each device.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::{DeviceItem, DeviceList, HolderItem, UsageBy, UsageGroup};
use dra_allocator::devices::{DeviceNode, DeviceState, Unavailable};
use dra_model::{Claim, Cluster, Key, Str, by_number};
use dra_rules::health::Health;

/// What a picture shows of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Index of its holder in the map. Several holders are not distinguished.
    Held(Option<usize>),
    /// It is reported to be broken.
    Unhealthy,
    /// No claim holds it, and a request has to tolerate a taint of it.
    Tainted,
    /// No claim holds it, and nothing else can have it.
    Blocked,
    /// Unknown whether a claim holds it.
    Unknown,
    /// It can be allocated.
    Free,
}

/// Devices of one driver in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MapCell {
    /// In the order in which the scheduler tries them.
    pub marks: Vec<Mark>,
    /// How many of them are held.
    pub held: usize,
}

/// Nodes whose devices look alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapRow {
    /// The first node by name, or the pool of devices that several nodes reach.
    pub name: String,
    /// The others.
    pub others: Vec<String>,
    /// One for each of the map's drivers.
    pub cells: Vec<MapCell>,
}

/// A holder, with the number of its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapHolder {
    /// Who it is.
    pub group: UsageGroup,
    /// Devices that it holds, or has shares of.
    pub devices: usize,
}

/// How far rows are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fold {
    /// Each row separately.
    None,
    /// Rows whose devices have the same marks in the same order.
    Equal,
    /// Rows that have as many devices of each mark.
    Sorted,
    /// The same, without regard to who holds a device.
    Anybody,
}

/// The picture.
#[derive(Debug)]
pub struct DeviceMap {
    /// By name.
    pub drivers: Vec<Str>,
    /// By name and number; nodes before pools that several nodes reach.
    pub rows: Vec<MapRow>,
    /// Those with the most devices first.
    pub holders: Vec<MapHolder>,
}

/// What a row is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Node(Str),
    Pool(Str, &'static str),
}

impl Place {
    fn of(item: &DeviceItem) -> Self {
        let pool = |nodes| Self::Pool(item.pool.clone(), nodes);
        match (&item.node, item.nodes) {
            (Some(node), _) => Self::Node(node.clone()),
            (None, DeviceNode::Any) => pool("any node"),
            (None, DeviceNode::Several) => pool("several nodes"),
            (None, DeviceNode::One | DeviceNode::Unknown) => pool("unknown node"),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Node(name) => name.to_string(),
            Self::Pool(pool, nodes) => format!("{pool} ({nodes})"),
        }
    }
}

impl DeviceMap {
    /// The picture of `devices`, which are those of `cluster`, with their holders told `by` something.
    pub fn of(cluster: &Cluster, devices: &DeviceList, by: UsageBy) -> Self {
        let held_by = |item: &DeviceItem| {
            let takers = item.claims.iter().filter(|holder| !holder.admin_access);
            let groups = takers.map(|holder| group_of(cluster, by, item, holder));
            groups.collect::<BTreeSet<UsageGroup>>()
        };
        let drivers: BTreeSet<&Str> = devices.items.iter().map(|item| &item.driver).collect();
        let drivers: Vec<Str> = drivers.into_iter().cloned().collect();
        let holders_of: Vec<BTreeSet<UsageGroup>> = devices.items.iter().map(held_by).collect();
        let mut counts: BTreeMap<&UsageGroup, usize> = BTreeMap::new();
        for group in holders_of.iter().flatten() {
            *counts.entry(group).or_default() += 1;
        }
        let mut holders: Vec<MapHolder> = counts
            .into_iter()
            .map(|(group, devices)| MapHolder {
                group: group.clone(),
                devices,
            })
            .collect();
        // Those with equally many keep the order of names.
        holders.sort_by_key(|holder| std::cmp::Reverse(holder.devices));
        let places: HashMap<&UsageGroup, usize, RandomState> = holders
            .iter()
            .enumerate()
            .map(|(place, holder)| (&holder.group, place))
            .collect();
        let mut rows: BTreeMap<Place, Vec<MapCell>> = BTreeMap::new();
        for (item, of_device) in devices.items.iter().zip(&holders_of) {
            let cells = rows
                .entry(Place::of(item))
                .or_insert_with(|| vec![MapCell::default(); drivers.len()]);
            let Ok(column) = drivers.binary_search(&item.driver) else {
                continue;
            };
            let mut of_device = of_device.iter();
            let holder = of_device.next().filter(|_| of_device.next().is_none());
            let mark = mark(item, holder.and_then(|group| places.get(group).copied()));
            let cell = &mut cells[column];
            cell.held += usize::from(matches!(item.state, DeviceState::Allocated | DeviceState::Shared));
            cell.marks.push(mark);
        }
        let mut rows: Vec<(Place, Vec<MapCell>)> = rows.into_iter().collect();
        rows.sort_by_cached_key(|(place, _)| (matches!(place, Place::Pool(..)), by_number(&place.name())));
        let rows = rows.into_iter().map(|(place, cells)| MapRow {
            name: place.name(),
            others: Vec::new(),
            cells,
        });
        Self {
            rows: rows.collect(),
            drivers,
            holders,
        }
    }

    /// The rows put together as far as `fold` says: those that stand for the most nodes first, unless nothing is put together.
    pub fn folded(&self, fold: Fold) -> Vec<MapRow> {
        if fold == Fold::None {
            return self.rows.clone();
        }
        let mut alike: BTreeMap<Vec<MapCell>, MapRow> = BTreeMap::new();
        for row in &self.rows {
            let cells: Vec<MapCell> = row.cells.iter().map(|cell| cell.folded(fold)).collect();
            match alike.get_mut(&cells) {
                Some(known) => known.others.push(row.name.clone()),
                None => {
                    let row = MapRow {
                        cells: cells.clone(),
                        ..row.clone()
                    };
                    alike.insert(cells, row);
                }
            }
        }
        let mut rows: Vec<MapRow> = alike.into_values().collect();
        rows.sort_by_cached_key(|row| (std::cmp::Reverse(row.others.len()), by_number(&row.name)));
        rows
    }
}

impl MapCell {
    fn folded(&self, fold: Fold) -> Self {
        let mut cell = self.clone();
        if fold >= Fold::Anybody {
            for mark in &mut cell.marks {
                if let Mark::Held(holder) = mark {
                    *holder = None;
                }
            }
        }
        if fold >= Fold::Sorted {
            cell.marks.sort_unstable();
        }
        cell
    }
}

/// Group of the consumer that the claim of `holder` has the device for.
fn group_of(cluster: &Cluster, by: UsageBy, item: &DeviceItem, holder: &HolderItem) -> UsageGroup {
    if by == UsageBy::Namespace {
        return UsageGroup::Namespace(holder.namespace.clone());
    }
    let key = Key::new(holder.namespace.clone(), holder.name.clone());
    let found = cluster.claim(&key).and_then(|claim| {
        let is_this = |result: &&dra_model::AllocatedDevice| {
            result.request == holder.request && result.share_id == holder.share_id && result.id() == item.id()
        };
        let claim: &Claim = claim;
        claim.results().iter().find(is_this).map(|result| (claim, result))
    });
    found.map_or(UsageGroup::Unknown, |(claim, result)| {
        UsageGroup::of(cluster, by, claim, result)
    })
}

fn mark(item: &DeviceItem, holder: Option<usize>) -> Mark {
    if item.health == Some(Health::Unhealthy) {
        return Mark::Unhealthy;
    }
    match item.state {
        DeviceState::Allocated | DeviceState::Shared => Mark::Held(holder),
        DeviceState::Unknown => Mark::Unknown,
        // A claim with admin access holds it, but no slice publishes it any more.
        DeviceState::Free if item.published == Some(false) => Mark::Blocked,
        DeviceState::Free => match item.unavailable.as_slice() {
            [] => Mark::Free,
            [Unavailable::Tainted] => Mark::Tainted,
            _ => Mark::Blocked,
        },
    }
}
