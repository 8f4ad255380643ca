//! A claim, described.

use std::collections::BTreeSet;

use crate::output::{Column, Doc, Table, Tone, UNKNOWN, list_or_none};
use dra_model::{Kind, Time};
use dra_reports::describe::{
    AllocationDescription, ClaimDescription, ClaimDevice, ConstraintItem, DeviceReport, Identity,
    RequestDescription, RequestItem,
};
use dra_reports::{Consumer, ReservationItem, Warnings};

use super::super::devices::known_and_more;
use super::super::reserved::consumer;
use super::{Description, parts};

impl Description for ClaimDescription {
    const KIND: &'static str = "ClaimDescription";

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn subjects(&self) -> BTreeSet<String> {
        [parts::subject(Kind::ResourceClaim, &self.identity)].into()
    }

    fn why(&self) -> Option<(Kind, &Identity)> {
        self.state
            .is_pending()
            .then_some((Kind::ResourceClaim, &self.identity))
    }

    fn doc(&self) -> Doc {
        let now = self.now;
        let mut doc = Doc::new();
        parts::identity(&mut doc, &self.identity, now);
        doc.field("State", self.state)
            .some("Spec Reserved For", self.spec_reserved_for.as_ref().map(Consumer))
            .section("Requests", |section| {
                self.requests.iter().for_each(|one| request(section, one));
            })
            .any("Constraints", self.constraints.iter().map(constraint))
            .section_if_any("Config", |section| parts::config(section, &self.config))
            .section("Allocation", |section| {
                if let Some(allocated) = &self.allocation {
                    allocation(section, allocated, now);
                }
            })
            .section_if_any("Device Status", |section| {
                for report in &self.device_reports {
                    device_report(section, report, now);
                }
            })
            .titled("Reserved For", Table::of(RESERVATIONS, &self.reservations));
        let missing = self.missing.iter();
        doc.any(
            "Used Without Reservation",
            missing.map(|missing| format!("pod/{}", missing.pod)),
        );
        parts::stages(&mut doc, &self.pods);
        parts::eviction(&mut doc, self.eviction.as_ref(), now);
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
    doc.some("Admin Access", item.admin_access.then_some(true))
        .any("Selectors", &item.selectors)
        .filled("Capacity", parts::pairs(&item.capacity).join(","))
        .any("Tolerations", &item.tolerations);
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
        cell.option(device.health);
    }),
];

fn allocation(doc: &mut Doc, allocation: &AllocationDescription, now: Time) {
    match &allocation.node {
        Some(node) => doc.field("Node", node),
        None if allocation.node_selector.is_empty() => doc.field("Node", "<any>"),
        None => doc.list("Node Selector", &allocation.node_selector),
    };
    let allocated = allocation.allocation_timestamp;
    doc.some("Allocated", allocated.map(|at| parts::instant(at, now)));
    let any_pod = allocation.reserved_for_any_pod;
    doc.some("Reserved For Any Pod", any_pod.then_some(true));
    doc.titled("Devices", Table::of(DEVICES, &allocation.devices));
    for device in &allocation.devices {
        more(doc, device, now);
    }
    doc.section_if_any("Config", |section| parts::config(section, &allocation.config));
}

/// What the table has no column for, where there is something to say.
fn more(doc: &mut Doc, device: &ClaimDevice, now: Time) {
    doc.section_if_any(&format!("Device {}/{}", device.pool, device.device), |section| {
        let taints = device.taints.iter();
        section
            .some("Share", device.share_id.as_ref())
            .filled("Consumed", parts::pairs(&device.consumed_capacity).join(","))
            .any("Tolerations", &device.tolerations)
            .any("Taints", taints.map(|taint| parts::taint(taint, now)))
            .any("Binding Conditions", &device.binding_conditions)
            .any("Binding Failure Conditions", &device.binding_failure_conditions)
            .any("Health", parts::health(&device.health_reports));
    });
}

fn device_report(doc: &mut Doc, report: &DeviceReport, now: Time) {
    let name = format!("{}/{}/{}", report.driver, report.pool, report.device);
    doc.section(&name, |section| {
        section
            .some("Share", report.share_id.as_ref())
            .filled("Interface", &report.interface_name)
            .any("Addresses", &report.ips)
            .filled("Hardware Address", &report.hardware_address)
            .table(parts::conditions(&report.conditions, now));
    });
}

const RESERVATIONS: &[Column<ReservationItem>] = &[
    Column::inner("KIND", |item, cell| cell.text(Consumer(item.entry()).prefix())),
    Column::inner("NAME", |item, cell| cell.text(&item.entry().name)),
    Column::inner("UID", |item, cell| cell.text(&item.entry().uid)),
    Column::inner("STATUS", |item, cell| cell.text(<&str>::from(item.status))),
    Column::inner("CONSUMER", |item, cell| cell.text(consumer(item))),
];
