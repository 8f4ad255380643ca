//! What `explain node/NAME` tells: what could still be scheduled there.

use crate::output::{Column, Detail, Layout, Report, Screen, Table, Tone, UNKNOWN, View, counted, span};
use dra_reports::{ClassRoom, DriverRoom, NodeRoom, RoomVerdict};

use super::report::plain;

const DRIVERS: &[Column<DriverRoom>] = &[
    Column::inner("DRIVER", |room, cell| cell.text(&room.driver)),
    Column::inner("DEVICES", |room, cell| cell.text(room.total)),
    Column::inner("FREE", |room, cell| match room.unknown {
        0 => cell.text(room.free),
        _ => cell.text(UNKNOWN),
    }),
    Column::inner("IN USE", |room, cell| cell.text(room.allocated)),
    Column::inner("SHARED", |room, cell| cell.text(room.shared)),
    Column::inner("BLOCKED", |room, cell| cell.text(room.blocked)),
    Column::inner("UNHEALTHY", |room, cell| {
        let tone = if room.unhealthy == 0 {
            Tone::Plain
        } else {
            Tone::Bad
        };
        cell.toned(tone, room.unhealthy);
    }),
    Column::inner("BLOCKED BY", |room, cell| {
        cell.list(reasons(room));
    }),
];

const CLASSES: &[Column<ClassRoom>] = &[
    Column::inner("CLASS", |room, cell| cell.text(&room.class)),
    Column::inner("DEVICES", |room, cell| cell.text(room.devices)),
    Column::inner("LARGEST REQUEST", |room, cell| match room.largest {
        Some(largest) if room.at_limit => cell.text(format_args!("{largest} or more")),
        Some(largest) => cell.text(largest),
        None => cell.text(UNKNOWN),
    }),
];

/// What blocks devices, and how many.
fn reasons(room: &DriverRoom) -> Vec<String> {
    let reasons = room.reasons.iter();
    reasons
        .map(|blocked| format!("{} ({})", blocked.reason, blocked.devices))
        .collect()
}

impl Report for NodeRoom {
    const KIND: &'static str = "NodeRoom";

    fn screen(&self, screen: Screen) -> View {
        let mut layout = Layout::new();
        let tone = tone(self);
        layout.line(
            2,
            [
                span(tone, format!("{} ", screen.sign(tone))),
                span(Tone::Strong, format!("node/{}", self.node)),
                plain(format!(": {}", self.summary)),
            ],
        );
        layout.line(0, []);
        // What blocks stands below the table, where nothing of it is cut.
        let columns = DRIVERS.split_last().map_or(DRIVERS, |(_, columns)| columns);
        rest(self, columns, Detail::Normal, &mut layout);
        layout.into()
    }

    fn view(&self, detail: Detail) -> View {
        let mut layout = Layout::new();
        layout.field("Node", &self.node);
        layout.toned(
            "Verdict",
            tone(self),
            format!("{:?}: {}", self.verdict, self.summary),
        );
        rest(self, DRIVERS, detail, &mut layout);
        layout.into()
    }
}

fn tone(room: &NodeRoom) -> Tone {
    match room.verdict {
        RoomVerdict::Room => Tone::Good,
        RoomVerdict::Full | RoomVerdict::Closed => Tone::Bad,
        RoomVerdict::Unknown => Tone::Notice,
    }
}

fn rest(room: &NodeRoom, columns: &[Column<DriverRoom>], detail: Detail, layout: &mut Layout) {
    if !room.drivers.is_empty() {
        layout.section("Devices", |section| {
            section.table(Table::new(columns, detail, &room.drivers));
            let told = columns.len() == DRIVERS.len();
            for room in room.drivers.iter().filter(|room| !told && room.blocked > 0) {
                section.text(format_args!(
                    "{}: blocked by {}",
                    room.driver,
                    reasons(room).join(", ")
                ));
            }
        });
    }
    if !room.classes.is_empty() {
        layout.section("Requests", |section| {
            section.table(Table::new(CLASSES, detail, &room.classes));
            for class in &room.classes {
                if let Some(problem) = &class.problem {
                    section.text(format_args!("{}: {problem}", class.class));
                }
            }
        });
    }
    if !room.silent_drivers.is_empty() {
        let silent = room.silent_drivers.iter();
        let silent = silent.map(|silent| format!("driver {}: {}", silent.driver, silent.reason));
        layout.list("Publish nothing here", silent);
    }
    if !room.obstacles.is_empty() {
        layout.list("Closed", &room.obstacles);
    }
    if !room.taints.is_empty() {
        let taints = counted(room.taints.len(), "taint", "taints");
        let lines = std::iter::once(format!("pods have to tolerate {taints} of the node"));
        layout.list("Taints", lines.chain(room.taints.iter().cloned()));
    }
    if !room.unknown.is_empty() {
        layout.list("Unknown", &room.unknown);
    }
    layout.field("Not looked at", "CPU, memory, ports and other demands of pods");
}
