//! Terminal output of devices: a heading for each pool, with equal devices joined below.

use std::collections::HashSet;

use itertools::Itertools;

use super::{Holder, State, classes, health_tone, known_and_more, node, state_tone};
use crate::commands::shown::folded;
use crate::output::{Column, Page, Table, Tone, UNKNOWN, counted};
use dra_allocator::devices::{DeviceNode, DeviceState};
use dra_reports::{DeviceItem, DeviceList, HolderItem};
use dra_rules::health::Health;

/// Devices of a pool that stand together and differ by their names only.
struct Alike {
    pool: String,
    devices: String,
    look: Look,
}

/// Number of claims of a shared device to print one by one.
const USERS: usize = 8;

/// Appearance of a device besides its name.
#[derive(Default, PartialEq, Eq)]
struct Look {
    /// Node, if the pool's devices differ.
    node: String,
    /// One of those that use it.
    used_by: String,
    tone: Tone,
    /// The pods of that one.
    pods: String,
    /// The others, each in a row of its own, with their pods.
    others: Vec<(String, String)>,
    taints: String,
    health: Option<Health>,
    /// The words of who reports that it is not well.
    reported: String,
    /// Classes, if the pool's devices differ.
    classes: String,
}

const COLUMNS: &[Column<Alike>] = &[
    Column::inner("POOL", |row, cell| cell.text(&row.pool)),
    Column::inner("DEVICES", |row, cell| cell.text(&row.devices)),
    Column::inner("NODE", |row, cell| cell.text(&row.look.node)),
    Column::inner("USED BY", |row, cell| {
        cell.toned(row.look.tone, &row.look.used_by);
    }),
    Column::inner("PODS", |row, cell| cell.text(&row.look.pods)),
    Column::inner("TAINTS", |row, cell| cell.text(&row.look.taints)),
    Column::inner("HEALTH", |row, cell| {
        if let Some(health) = row.look.health {
            let said = match row.look.reported.as_str() {
                "" => health.to_string(),
                words => format!("{health}: {words}"),
            };
            cell.toned(health_tone(health), said);
        }
    }),
    Column::inner("CLASSES", |row, cell| cell.text(&row.look.classes)),
];

/// The devices of `list` below their pools. Nothing where those of a pool do not stand together, as after sorting by something else.
pub(super) fn of(list: &DeviceList, page: Page) -> Option<Table> {
    let pools: Vec<&[DeviceItem]> = list
        .items
        .chunk_by(|one, next| one.driver == next.driver && one.pool == next.pool)
        .collect();
    let mut seen = HashSet::new();
    let firsts = pools.iter().filter_map(|pool| pool.first());
    if !firsts
        .map(|item| (&item.driver, &item.pool))
        .all(|pool| seen.insert(pool))
    {
        return None;
    }
    let rows = pools.iter().flat_map(|pool| alike(pool, list.whole_pools, page));
    Some(Table::of(COLUMNS, rows).grouped())
}

/// The rows of one pool.
fn alike(pool: &[DeviceItem], is_whole: bool, page: Page) -> Vec<Alike> {
    let one_node = pool.iter().map(node_text).all_equal();
    let one_list = pool.iter().map(class_text).all_equal();
    let heading = heading(pool, one_node, one_list, is_whole);
    let look = |item: &DeviceItem| {
        let mut look = Look::of(item);
        if one_node {
            look.node.clear();
        }
        if one_list {
            look.classes.clear();
        }
        look
    };
    let looks = pool.iter().map(|item| (item, look(item)));
    let mut rows: Vec<(Vec<&str>, Look)> = Vec::new();
    for (item, look) in looks {
        match rows.last_mut() {
            Some((devices, last)) if *last == look => devices.push(&item.device),
            _ => rows.push((vec![&item.device], look)),
        }
    }
    rows.into_iter()
        .flat_map(|(devices, mut look)| {
            let others = std::mem::take(&mut look.others);
            let tone = look.tone;
            let first = Alike {
                pool: heading.clone(),
                devices: folded(devices, page).join(","),
                look,
            };
            let others = others.into_iter().map(|(used_by, pods)| Alike {
                pool: heading.clone(),
                devices: String::new(),
                look: Look {
                    used_by,
                    tone,
                    pods,
                    ..Look::default()
                },
            });
            std::iter::once(first).chain(others).collect::<Vec<_>>()
        })
        .collect()
}

/// `gpu-node-1 / gpu.example.com: 7 of 8 in use`.
fn heading(pool: &[DeviceItem], one_node: bool, one_list: bool, is_whole: bool) -> String {
    let Some(first) = pool.first() else {
        return String::new();
    };
    let mut parts = Vec::new();
    if one_node {
        parts.push(match first.nodes {
            DeviceNode::Any => "every node".to_owned(),
            DeviceNode::Several => "several nodes".to_owned(),
            DeviceNode::One | DeviceNode::Unknown => node_text(first),
        });
    }
    parts.push(first.driver.to_string());
    // Most drivers call the pool of a node by its name.
    if !one_node || first.node.as_ref() != Some(&first.pool) {
        parts.push(first.pool.to_string());
    }
    let mut heading = parts.join(" / ");
    let count = |is: fn(&DeviceItem) -> bool| pool.iter().filter(|item| is(item)).count();
    let used = count(|item| matches!(item.state, DeviceState::Allocated | DeviceState::Shared));
    let free = count(|item| item.state == DeviceState::Free && item.unavailable.is_empty());
    let numbers = if !is_whole {
        counted(pool.len(), "device", "devices")
    } else if used + free == pool.len() {
        format!("{used} of {} in use", pool.len())
    } else {
        format!("{used} of {} in use, {free} free", pool.len())
    };
    heading.push_str(": ");
    heading.push_str(&numbers);
    let classes = class_text(first);
    // Most classes are called as the driver.
    if one_list && classes != first.driver.as_str() {
        let classes = if classes.is_empty() {
            "in no class".to_owned()
        } else {
            format!("class {classes}")
        };
        heading.push_str(", ");
        heading.push_str(&classes);
    }
    heading
}

fn node_text(item: &DeviceItem) -> String {
    node(item.node.as_ref(), item.nodes)
}

fn class_text(item: &DeviceItem) -> String {
    known_and_more(classes(item), item.classes_unknown()).join(",")
}

impl Look {
    fn of(item: &DeviceItem) -> Self {
        let is_held = matches!(item.state, DeviceState::Allocated | DeviceState::Shared);
        let mut users = Vec::new();
        if !is_held {
            users.push((
                blocked(item).unwrap_or_else(|| State(item).to_string()),
                String::new(),
            ));
        }
        let holders = item.claims.iter();
        users.extend(holders.map(|holder| (Holder(holder).to_string(), pods(holder))));
        if users.len() > USERS {
            let more = counted(users.len() - USERS + 1, "more claim", "more claims");
            users.truncate(USERS - 1);
            users.push((format!("and {more}"), String::new()));
        }
        // Behind the state stands what the claims do not say.
        let state = State(item).to_string();
        if let Some((first, _)) = users.first_mut().filter(|_| is_held) {
            for word in state.split(',').skip(1) {
                first.push(',');
                first.push_str(word);
            }
        }
        let mut users = users.into_iter();
        let (used_by, of_first) = users.next().unwrap_or_default();
        Self {
            node: node_text(item),
            used_by,
            tone: state_tone(item),
            pods: of_first,
            others: users.collect(),
            taints: known_and_more(&item.taints, item.taints_unknown).join(","),
            health: item.health,
            reported: reported(item),
            classes: class_text(item),
        }
    }
}

/// Returns what the first says who reports what the health is, unless that is good.
fn reported(item: &DeviceItem) -> String {
    let mut reports = item.health_reports.iter();
    let worst = reports.find(|report| Some(report.health) == item.health && !report.message.is_empty());
    match worst {
        Some(report) if report.health != Health::Healthy => report.message.clone(),
        _ => String::new(),
    }
}

/// `Blocked(counters)` for a free device that the scheduler does not allocate: `Free` first would be read as good news.
fn blocked(item: &DeviceItem) -> Option<String> {
    let is_blocked = item.state == DeviceState::Free && !item.unavailable.is_empty();
    let mut reasons: Vec<&str> = item.unavailable.iter().map(|why| why.in_words()).collect();
    if item.published == Some(false) {
        reasons.push("unpublished");
    }
    is_blocked.then(|| format!("Blocked({})", reasons.join(", ")))
}

/// Pods behind the holder, whose namespace they share.
fn pods(holder: &HolderItem) -> String {
    match &holder.pods {
        Some(pods) => pods.iter().map(|pod| pod.name.as_str()).unique().join(","),
        None => UNKNOWN.to_owned(),
    }
}
