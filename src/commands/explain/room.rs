//! Output of `explain node/NAME`: what could still be scheduled there.

use crate::output::{Column, Doc, Page, Report, Table, Tone, View, counted};
use dra_reports::{ClassRoom, DriverRoom, NodeRoom, RoomVerdict};

const DRIVERS: &[Column<DriverRoom>] = &[
    Column::inner("DRIVER", |room, cell| cell.text(&room.driver)),
    Column::inner("DEVICES", |room, cell| cell.text(room.total)),
    Column::inner("FREE", |room, cell| {
        cell.known((room.unknown == 0).then_some(room.free));
    }),
    Column::inner("IN USE", |room, cell| cell.text(room.allocated)),
    Column::inner("SHARED", |room, cell| cell.text(room.shared)),
    Column::inner("BLOCKED", |room, cell| cell.text(room.blocked)),
    Column::inner("UNHEALTHY", |room, cell| {
        cell.toned(
            if room.unhealthy == 0 {
                Tone::Plain
            } else {
                Tone::Bad
            },
            room.unhealthy,
        );
    }),
];

const CLASSES: &[Column<ClassRoom>] = &[
    Column::inner("CLASS", |room, cell| cell.text(&room.class)),
    Column::inner("DEVICES", |room, cell| cell.text(room.devices)),
    Column::inner("LARGEST REQUEST", |room, cell| match room.largest {
        Some(largest) if room.at_limit => cell.text(format_args!("{largest} or more")),
        largest => cell.known(largest),
    }),
];

/// `counters exhausted` for `CountersExhausted`.
fn spelled(code: &str) -> String {
    let mut words = String::new();
    for letter in code.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// Returns the reasons with the number of devices.
fn reasons(room: &DriverRoom) -> Vec<String> {
    let reasons = room.reasons.iter();
    reasons
        .map(|blocked| format!("{} {}", blocked.devices, spelled(&blocked.reason.to_string())))
        .collect()
}

impl Report for NodeRoom {
    const KIND: &'static str = "NodeRoom";

    fn view(&self, page: Page) -> View {
        let mut doc = Doc::new();
        let (subject, text) = (format!("node/{}", self.node), format!(": {}", self.summary));
        doc.headline(page, tone(self), subject, text).gap();
        rest(self, &mut doc);
        doc.into()
    }
}

fn tone(room: &NodeRoom) -> Tone {
    match room.verdict {
        RoomVerdict::Room => Tone::Good,
        RoomVerdict::Full | RoomVerdict::Closed => Tone::Bad,
        RoomVerdict::Unknown => Tone::Notice,
    }
}

fn rest(room: &NodeRoom, doc: &mut Doc) {
    doc.section_if_any("Devices", |section| {
        section.table(Table::of(DRIVERS, &room.drivers));
        for room in room.drivers.iter().filter(|room| room.blocked > 0) {
            let reasons = reasons(room).join(", ");
            section.text(format_args!("{}: unavailable: {reasons}", room.driver));
        }
        for room in &room.drivers {
            if let Some(why) = &room.unprepared {
                section.text(format_args!(
                    "{}: cannot prepare devices here: {why}",
                    room.driver
                ));
            }
        }
    });
    doc.section_if_any("Requests", |section| {
        section.table(Table::of(CLASSES, &room.classes));
        for class in &room.classes {
            if let Some(problem) = &class.problem {
                section.text(format_args!("{}: {problem}", class.class));
            }
        }
    });
    let silent = room.silent_drivers.iter();
    let silent = silent.map(|silent| format!("driver {}: {}", silent.driver, silent.reason));
    doc.any("Publish Nothing Here", silent)
        .any("Closed", &room.obstacles);
    if !room.taints.is_empty() {
        let taints = counted(room.taints.len(), "taint", "taints");
        let lines = std::iter::once(format!("pods must tolerate {taints} of the node:"));
        doc.list("Taints", lines.chain(room.taints.iter().cloned()));
    }
    doc.any("Unknown", &room.unknown)
        .field("Not considered", "CPU, memory, ports, other pod requirements");
}
