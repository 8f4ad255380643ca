//! A claim, described.

use crate::output::{Column, Detail, Doc, Page, Report, Table, Tone, UNKNOWN, View, list_or_none};
use dra_model::{Kind, Time};
use dra_reports::describe::{
    AllocationDescription, ClaimDescription, ClaimDevice, ConstraintItem, DeviceReport, Identity,
    RequestDescription, RequestItem,
};
use dra_reports::{Consumer, ReservationItem, Warnings};
use dra_rules::health::Health;

use super::super::devices::known_and_more;
use super::super::reserved::consumer;
use super::{Description, parts};

impl Report for ClaimDescription {
    const KIND: &'static str = "ClaimDescription";

    fn view(&self, page: Page) -> View {
        self.doc(page.detail()).into()
    }
}

impl Description for ClaimDescription {
    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn why(&self) -> Option<(Kind, &Identity)> {
        self.state
            .is_pending()
            .then_some((Kind::ResourceClaim, &self.identity))
    }

    fn doc(&self, _: Detail) -> Doc {
        let now = self.now;
        let mut doc = Doc::new();
        parts::identity(&mut doc, &self.identity, now);
        doc.field("State", self.state);
        if let Some(consumer) = &self.spec_reserved_for {
            doc.field("Spec Reserved For", Consumer(consumer));
        }
        doc.section("Requests", |section| {
            for one in &self.requests {
                request(section, one);
            }
        });
        if !self.constraints.is_empty() {
            doc.list("Constraints", self.constraints.iter().map(constraint));
        }
        if !self.config.is_empty() {
            doc.section("Config", |section| parts::config(section, &self.config));
        }
        doc.section("Allocation", |section| {
            if let Some(allocated) = &self.allocation {
                allocation(section, allocated, now);
            }
        });
        if !self.device_reports.is_empty() {
            doc.section("Device Status", |section| {
                for report in &self.device_reports {
                    device_report(section, report, now);
                }
            });
        }
        doc.section("Reserved For", |section| {
            section.table(Table::new(RESERVATIONS, Detail::Normal, &self.reservations));
        });
        if !self.missing.is_empty() {
            let pods = self.missing.iter().map(|missing| format!("pod/{}", missing.pod));
            doc.list("Used Without Reservation", pods);
        }
        parts::stages(&mut doc, &self.pods);
        if let Some(eviction) = &self.eviction {
            parts::eviction(&mut doc, eviction, now);
        }
        parts::events(&mut doc, self.events.as_deref(), now);
        doc
    }
}

fn request(doc: &mut Doc, request: &RequestDescription) {
    doc.section(&request.name, |section| {
        if let Some(exactly) = &request.exactly {
            item(section, exactly);
        }
        for alternative in &request.first_available {
            section.section(&format!("Or {}", alternative.name), |section| {
                item(section, alternative);
            });
        }
    });
}

fn item(doc: &mut Doc, item: &RequestItem) {
    doc.field("Class", &item.device_class_name);
    match item.count {
        Some(count) => doc.field("Count", count),
        None => doc.field("Mode", &item.allocation_mode),
    };
    if item.admin_access {
        doc.field("Admin Access", true);
    }
    if !item.selectors.is_empty() {
        doc.list("Selectors", &item.selectors);
    }
    if !item.capacity.is_empty() {
        doc.field("Capacity", pairs(&item.capacity));
    }
    if !item.tolerations.is_empty() {
        doc.list("Tolerations", &item.tolerations);
    }
}

fn pairs<T: std::fmt::Display>(pairs: &[(dra_model::Str, T)]) -> String {
    list_or_none(pairs.iter().map(|(name, value)| format!("{name}={value}")))
}

fn constraint(constraint: &ConstraintItem) -> String {
    let (what, attribute) = match (&constraint.match_attribute, &constraint.distinct_attribute) {
        (Some(attribute), _) => ("match", attribute.as_str()),
        (None, Some(attribute)) => ("distinct", attribute.as_str()),
        (None, None) => ("unknown", ""),
    };
    let of = if constraint.requests.is_empty() {
        "all requests".to_owned()
    } else {
        list_or_none(&constraint.requests)
    };
    format!("{what} {attribute} of {of}")
}

const DEVICES: &[Column<ClaimDevice>] = &[
    Column::inner("REQUEST", |device, cell| cell.text(&device.request)),
    Column::inner("DRIVER", |device, cell| cell.text(&device.driver)),
    Column::inner("POOL", |device, cell| cell.text(&device.pool)),
    Column::inner("DEVICE", |device, cell| {
        cell.text(&device.device);
        if device.admin_access {
            cell.text("(admin)");
        }
    }),
    Column::inner("PUBLISHED", |device, cell| match device.published {
        Some(true) => cell.text("yes"),
        Some(false) => cell.toned(Tone::Notice, "no"),
        None => cell.text(UNKNOWN),
    }),
    Column::inner("TAINTS", |device, cell| {
        cell.list(known_and_more(&device.taints, device.taints_unknown));
    }),
    Column::inner("HEALTH", |device, cell| {
        cell.option(device.health.map(Health::text));
    }),
];

fn allocation(doc: &mut Doc, allocation: &AllocationDescription, now: Time) {
    match &allocation.node {
        Some(node) => doc.field("Node", node),
        None if allocation.node_selector.is_empty() => doc.field("Node", "<any>"),
        None => doc.list("Node Selector", &allocation.node_selector),
    };
    if let Some(at) = allocation.allocation_timestamp {
        doc.field("Allocated", parts::instant(at, now));
    }
    if allocation.reserved_for_any_pod {
        doc.field("Reserved For Any Pod", true);
    }
    doc.section("Devices", |section| {
        section.table(Table::new(DEVICES, Detail::Normal, &allocation.devices));
    });
    for device in &allocation.devices {
        more(doc, device, now);
    }
    if !allocation.config.is_empty() {
        doc.section("Config", |section| parts::config(section, &allocation.config));
    }
}

/// What the table has no column for, where there is something to say.
fn more(doc: &mut Doc, device: &ClaimDevice, now: Time) {
    let nothing = device.share_id.is_none()
        && device.consumed_capacity.is_empty()
        && device.tolerations.is_empty()
        && device.binding_conditions.is_empty()
        && device.binding_failure_conditions.is_empty()
        && device.taints.is_empty()
        && device.health_reports.is_empty();
    if nothing {
        return;
    }
    doc.section(&format!("Device {}/{}", device.pool, device.device), |section| {
        if let Some(share) = &device.share_id {
            section.field("Share", share);
        }
        if !device.consumed_capacity.is_empty() {
            section.field("Consumed", pairs(&device.consumed_capacity));
        }
        if !device.tolerations.is_empty() {
            section.list("Tolerations", &device.tolerations);
        }
        if !device.taints.is_empty() {
            section.list(
                "Taints",
                device.taints.iter().map(|taint| parts::taint(taint, now)),
            );
        }
        if !device.binding_conditions.is_empty() {
            section.list("Binding Conditions", &device.binding_conditions);
        }
        if !device.binding_failure_conditions.is_empty() {
            section.list("Binding Failure Conditions", &device.binding_failure_conditions);
        }
        if !device.health_reports.is_empty() {
            section.list("Health", parts::health(&device.health_reports));
        }
    });
}

fn device_report(doc: &mut Doc, report: &DeviceReport, now: Time) {
    let name = format!("{}/{}/{}", report.driver, report.pool, report.device);
    doc.section(&name, |section| {
        if let Some(share) = &report.share_id {
            section.field("Share", share);
        }
        if !report.interface_name.is_empty() {
            section.field("Interface", &report.interface_name);
        }
        if !report.ips.is_empty() {
            section.list("Addresses", &report.ips);
        }
        if !report.hardware_address.is_empty() {
            section.field("Hardware Address", &report.hardware_address);
        }
        section.table(parts::conditions(&report.conditions, now));
    });
}

const RESERVATIONS: &[Column<ReservationItem>] = &[
    Column::inner("KIND", |item, cell| cell.text(Consumer(item.entry()).prefix())),
    Column::inner("NAME", |item, cell| cell.text(&item.entry().name)),
    Column::inner("UID", |item, cell| cell.text(&item.entry().uid)),
    Column::inner("STATUS", |item, cell| cell.text(item.status.text())),
    Column::inner("CONSUMER", |item, cell| cell.text(consumer(item))),
];
