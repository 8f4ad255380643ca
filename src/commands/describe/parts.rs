//! Parts that several descriptions have.

use crate::inspect::describe::{ConditionItem, ConfigItem, EventItem, EvictionItem, Identity};
use crate::inspect::{DeviceItem, DeviceTaintItem, HealthReport};
use crate::model::Time;
use crate::output::{Column, Detail, Layout, NONE, Table, Tone, UNKNOWN, age};

use super::super::devices;

/// Name, labels, age and owner.
pub(super) fn identity(layout: &mut Layout, identity: &Identity, now: Time) {
    layout.field("Name", &identity.name);
    if !identity.namespace.is_empty() {
        layout.field("Namespace", &identity.namespace);
    }
    let pairs = |pairs: &[(crate::model::Str, crate::model::Str)]| -> Vec<String> {
        pairs
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect()
    };
    layout
        .field("UID", &identity.uid)
        .list("Labels", pairs(&identity.labels))
        .list("Annotations", pairs(&identity.annotations))
        .field("Age", age(now, identity.creation_timestamp));
    if let Some(deleted) = identity.deletion_timestamp {
        layout.toned("Deleting", Tone::Notice, instant(deleted, now));
        layout.list("Finalizers", &identity.finalizers);
    }
    if let Some(owner) = &identity.owner {
        layout.field("Controlled By", owner);
    }
}

/// `2026-11-21T10:13:12Z (5m ago)`, `2026-11-21T10:13:12Z (in 5m)`.
pub(super) fn instant(time: Time, now: Time) -> String {
    if time > now {
        format!("{time} (in {})", age(time, Some(now)))
    } else {
        format!("{time} ({} ago)", age(now, Some(time)))
    }
}

const EVENTS: &[Column] = &[
    Column::new("TYPE", ".type"),
    Column::new("REASON", ".reason"),
    Column::new("AGE", ".lastSeen"),
    Column::new("FROM", ".source"),
    Column::new("MESSAGE", ".message"),
];

/// The events, as `kubectl describe` ends.
pub(super) fn events(layout: &mut Layout, events: Option<&[EventItem]>, now: Time) {
    let Some(events) = events else {
        layout.field("Events", UNKNOWN);
        return;
    };
    layout.section("Events", |section| {
        let mut table = Table::new(EVENTS, Detail::Normal);
        for event in events {
            let first = age(now, event.first_seen);
            let interval = if event.count > 1 {
                let last = age(now, event.last_seen);
                format!("{last} (x{} over {first})", event.count)
            } else {
                first
            };
            let tone = if event.type_ == "Warning" {
                Tone::Notice
            } else {
                Tone::Plain
            };
            table.row(|row| {
                row.toned(tone, &event.type_)
                    .cell(&event.reason)
                    .cell(interval)
                    .cell(&event.source)
                    .cell(&event.message);
            });
        }
        section.table(table);
    });
}

const CONDITIONS: &[Column] = &[
    Column::new("TYPE", ".type"),
    Column::new("STATUS", ".status"),
    Column::new("AGE", ".lastTransitionTime"),
    Column::new("REASON", ".reason"),
    Column::new("MESSAGE", ".message"),
];

pub(super) fn conditions(conditions: &[ConditionItem], now: Time) -> Table {
    let mut table = Table::new(CONDITIONS, Detail::Normal);
    for condition in conditions {
        table.row(|row| {
            row.cell(&condition.type_)
                .cell(&condition.status)
                .cell(age(now, condition.last_transition_time))
                .cell(&condition.reason)
                .cell(&condition.message);
        });
    }
    table
}

/// Opaque configuration, one section each.
pub(super) fn config(layout: &mut Layout, configs: &[ConfigItem]) {
    for config in configs {
        let driver = config.driver.as_ref().map_or(UNKNOWN, |driver| driver.as_str());
        layout.section(driver, |section| {
            if !config.source.is_empty() {
                section.field("Source", &config.source);
            }
            if !config.requests.is_empty() {
                section.field("Requests", crate::output::list_or_none(&config.requests));
            }
            match &config.parameters {
                Some(parameters) => section.field("Parameters", parameters),
                None => section.field("Parameters", NONE),
            };
        });
    }
}

/// `key=value:Effect since … (rule drain)`.
pub(super) fn taint(taint: &DeviceTaintItem, now: Time) -> String {
    let since = taint
        .time_added
        .map(|added| format!(" since {}", instant(added, now)))
        .unwrap_or_default();
    let rule = taint
        .rule
        .as_ref()
        .map(|rule| format!(" by rule/{rule}"))
        .unwrap_or_default();
    format!("{taint}{since}{rule}")
}

/// What reporters say of a device, a line each.
pub(super) fn health(reports: &[HealthReport]) -> Vec<String> {
    reports
        .iter()
        .map(|report| {
            let message = if report.message.is_empty() {
                String::new()
            } else {
                format!(": {}", report.message)
            };
            format!("{} by {}{message}", report.health.text(), report.reporter)
        })
        .collect()
}

/// When pods have to go, and why.
pub(super) fn eviction(layout: &mut Layout, eviction: &EvictionItem, now: Time) {
    layout.section("Eviction", |section| {
        section
            .toned("At", Tone::Bad, instant(eviction.at, now))
            .list("Because Of", &eviction.reasons);
    });
}

const DEVICES: &[Column] = &[
    Column::new("DEVICE", ".device"),
    Column::new("STATE", ".state"),
    Column::new("CLAIMS", ".claims[0].name"),
    Column::new("TAINTS", ".taints[0].key"),
    Column::new("HEALTH", ".health"),
    Column::new("CAPACITY", ".capacity"),
];

/// Devices, without what they have in common.
pub(super) fn devices(items: &[DeviceItem], name: impl Fn(&DeviceItem) -> String) -> Table {
    let mut table = Table::new(DEVICES, Detail::Normal);
    for item in items {
        table.row(|row| {
            row.cell(name(item))
                .cell(devices::State(item))
                .list(item.claims.iter().map(devices::Holder))
                .list(&item.taints);
            match item.health {
                Some(health) => row.toned(devices::health_tone(health), health.text()),
                None => row.cell(NONE),
            };
            row.list(
                item.capacity
                    .iter()
                    .map(|(name, capacity)| devices::Capacity(name, capacity)),
            );
        });
    }
    table
}
