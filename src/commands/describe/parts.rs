//! Parts that several descriptions have.

use itertools::Itertools;

use crate::output::{Cell, Column, Detail, Doc, Page, Table, Tone, UNKNOWN, age};
use dra_model::{Kind, Str, Time};
use dra_reports::describe::{ConditionItem, ConfigItem, EventItem, EvictionItem, Identity};
use dra_reports::findings::ObjectFindings;
use dra_reports::script::Command;
use dra_reports::stage::{PodStageItem, StageItem, party_text};
use dra_reports::{DeviceItem, DeviceTaintItem, HealthReport};

use super::super::{check, devices};

/// Name, labels, age and owner.
pub(super) fn identity(doc: &mut Doc, identity: &Identity, now: Time) {
    doc.field("Name", &identity.name)
        .filled("Namespace", &identity.namespace)
        .field("UID", &identity.uid)
        .list("Labels", pairs(&identity.labels))
        .list("Annotations", pairs(&identity.annotations))
        .field("Age", age(now, identity.creation_timestamp));
    if let Some(deleted) = identity.deletion_timestamp {
        doc.toned("Deleting", Tone::Notice, instant(deleted, now));
        doc.list("Finalizers", &identity.finalizers);
    }
    doc.some("Controlled By", identity.owner.as_ref());
}

/// `key=value` of each pair.
pub(super) fn pairs<T: std::fmt::Display>(pairs: &[(Str, T)]) -> Vec<String> {
    let pairs = pairs.iter();
    pairs.map(|(key, value)| format!("{key}={value}")).collect()
}

/// The object as a subject of findings.
pub(super) fn subject(kind: Kind, identity: &Identity) -> String {
    let name = &identity.name;
    match identity.namespace.as_str() {
        "" => format!("{}/{name}", kind.singular()),
        namespace => format!("{}/{namespace}/{name}", kind.singular()),
    }
}

/// The devices as subjects of findings.
pub(super) fn subjects(devices: &[DeviceItem]) -> impl Iterator<Item = String> {
    devices.iter().map(|item| format!("device/{}", item.id()))
}

/// What `check` finds of it, as `check` shows it.
pub(super) fn findings(doc: &mut Doc, page: Page, found: &ObjectFindings) {
    doc.section("Findings", |section| {
        check::blocks::add(section, page, &found.findings);
    });
    doc.any("Unknown", &found.unknown_findings);
}

/// The command that tells why it waits, if its name can be written.
pub(super) fn why(doc: &mut Doc, kind: Kind, identity: &Identity) {
    let command = Command::dra("explain").here().object(kind, &identity.name);
    if let Ok(command) = command.namespace(&identity.namespace).done() {
        doc.command("Why: ", &command);
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

const EVENTS: &[Column<EventItem, Time>] = &[
    Column::inner("TYPE", |event, cell| {
        let warning = event.type_ == "Warning";
        cell.toned(if warning { Tone::Notice } else { Tone::Plain }, &event.type_);
    }),
    Column::inner("REASON", |event, cell| cell.text(&event.reason)),
    Column::inner("AGE", interval),
    Column::inner("FROM", |event, cell| cell.text(&event.source)),
    Column::inner("MESSAGE", |event, cell| cell.text(&event.message)),
];

fn interval(event: &EventItem, cell: &mut Cell<'_, Time>) {
    let ago = |time| age(*cell.context, time);
    let first = ago(event.first_seen);
    if event.count > 1 {
        let last = ago(event.last_seen);
        cell.text(format_args!("{last} (x{} over {first})", event.count));
    } else {
        cell.text(first);
    }
}

/// The events, as `kubectl describe` ends.
pub(super) fn events(doc: &mut Doc, events: Option<&[EventItem]>, now: Time) {
    let Some(events) = events else {
        doc.field("Events", UNKNOWN);
        return;
    };
    doc.titled("Events", Table::with(EVENTS, Detail::Normal, &now, events));
}

const CONDITIONS: &[Column<ConditionItem, Time>] = &[
    Column::inner("TYPE", |condition, cell| cell.text(&condition.type_)),
    Column::inner("STATUS", |condition, cell| cell.text(&condition.status)),
    Column::inner("AGE", |condition, cell| {
        cell.text(age(*cell.context, condition.last_transition_time));
    }),
    Column::inner("REASON", |condition, cell| cell.text(&condition.reason)),
    Column::inner("MESSAGE", |condition, cell| cell.text(&condition.message)),
];

pub(super) fn conditions(conditions: &[ConditionItem], now: Time) -> Table {
    Table::with(CONDITIONS, Detail::Normal, &now, conditions)
}

/// Opaque configuration, one section each.
pub(super) fn config(doc: &mut Doc, configs: &[ConfigItem]) {
    for config in configs {
        let driver = config.driver.as_ref().map_or(UNKNOWN, |driver| driver.as_str());
        doc.section(driver, |section| {
            section
                .filled("Source", &config.source)
                .filled("Requests", config.requests.iter().join(","))
                .option("Parameters", config.parameters.as_ref());
        });
    }
}

/// How far a pod is on its node, what keeps it there, and what helps.
pub(super) fn stage(doc: &mut Doc, item: &StageItem, now: Time) {
    doc.section("Devices On The Node", |section| {
        section.field("Stage", item.stage);
        if let Some(stuck) = &item.stuck {
            section
                .toned("Cause", Tone::Bad, format!("{}: {}", stuck.cause, stuck.message))
                .some("Since", stuck.since.map(|since| instant(since, now)))
                .field("Next", party_text(stuck.owner))
                .list("Evidence", &stuck.evidence);
            if let Some(command) = &stuck.command {
                section.copied("Fix", command);
            }
            section
                .some("Note", stuck.note.as_ref())
                // It repairs nothing, so that a narrow terminal may part it.
                .some("Look", stuck.look.as_ref());
        }
        section
            .some("Waits", item.waits.as_ref())
            .any("Unknown", &item.unknown);
    });
}

/// The pods that something keeps at their stage, or endangers.
pub(super) fn stages(doc: &mut Doc, items: &[PodStageItem]) {
    let stuck = items.iter().filter(|item| item.at.stuck.is_some());
    doc.titled_if_any("Stuck Pods", Table::of(STAGES, stuck));
}

const STAGES: &[Column<PodStageItem>] = &[
    Column::inner("POD", |item, cell| cell.text(&item.pod)),
    Column::inner("STAGE", |item, cell| cell.text(item.at.stage)),
    Column::inner("CAUSE", |item, cell| {
        cell.option(item.at.stuck.as_ref().map(|stuck| stuck.cause));
    }),
    Column::inner("MESSAGE", |item, cell| {
        cell.option(item.at.stuck.as_ref().map(|stuck| &stuck.message));
    }),
];

/// `key=value:Effect since … (rule drain)`.
pub(super) fn taint(taint: &DeviceTaintItem, now: Time) -> String {
    let added = taint.time_added;
    let since = added.map(|added| format!(" since {}", instant(added, now)));
    let rule = taint.rule.as_ref().map(|rule| format!(" by rule/{rule}"));
    format!("{taint}{}{}", since.unwrap_or_default(), rule.unwrap_or_default())
}

/// Returns what reporters say of a device, a line each.
pub(super) fn health(reports: &[HealthReport]) -> Vec<String> {
    let reports = reports.iter().map(|report| {
        let by = format!("{} by {}", report.health, report.reporter);
        match report.message.as_str() {
            "" => by,
            message => format!("{by}: {message}"),
        }
    });
    reports.collect()
}

/// When pods have to go, and why.
pub(super) fn eviction(doc: &mut Doc, eviction: Option<&EvictionItem>, now: Time) {
    doc.section_if_any("Eviction", |section| {
        if let Some(eviction) = eviction {
            section
                .toned("At", Tone::Bad, instant(eviction.at, now))
                .list("Reasons", &eviction.reasons);
        }
    });
}

/// Name of a device in a list.
type Name = fn(&DeviceItem) -> String;

const DEVICES: &[Column<DeviceItem, Name>] = &[
    Column::inner("DEVICE", |item, cell| cell.text((cell.context)(item))),
    Column::inner("STATE", |item, cell| cell.text(devices::State(item))),
    Column::inner("CLAIMS", devices::holders),
    Column::inner("TAINTS", |item, cell| cell.list(&item.taints)),
    Column::inner("HEALTH", devices::health),
    Column::inner("CAPACITY", devices::capacity),
];

/// Devices, without what they have in common.
pub(super) fn devices(items: &[DeviceItem], name: Name) -> Table {
    Table::with(DEVICES, Detail::Normal, &name, items)
}
