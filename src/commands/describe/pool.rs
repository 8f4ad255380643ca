//! A pool, described.

use crate::inspect::describe::{PoolDescription, SliceItem};
use crate::model::Time;
use crate::output::{Column, Detail, Layout, Report, Table, Tone, View, age};

use super::super::devices::Counter;
use super::parts;

const SLICES: &[Column] = &[
    Column::new("NAME", ".name"),
    Column::new("GENERATION", ".generation"),
    Column::new("NODE", ".node"),
    Column::new("DEVICES", ".devices"),
    Column::new("AGE", ".creationTimestamp"),
];

impl Report for PoolDescription {
    const KIND: &'static str = "PoolDescription";

    fn view(&self, _: Detail) -> View {
        let now = self.now;
        let mut layout = Layout::new();
        layout
            .field("Name", &self.pool)
            .field("Driver", &self.driver)
            .field("Generation", self.generation);
        let count = format!("{} of {} slices", self.slices.len(), self.expected_slices);
        if self.complete {
            layout.field("Complete", format_args!("yes, {count}"));
        } else {
            layout.toned("Complete", Tone::Notice, format_args!("no, {count}"));
        }
        if !self.duplicate_devices.is_empty() {
            layout.list("Duplicate Devices", &self.duplicate_devices);
        }
        layout.section("Slices", |section| {
            section.table(slices(&self.slices, now));
        });
        if !self.outdated_slices.is_empty() {
            layout.section("Outdated Slices", |section| {
                section.table(slices(&self.outdated_slices, now));
            });
        }
        if !self.counters.is_empty() {
            layout.list("Counters", self.counters.iter().map(Counter));
        }
        layout.section("Devices", |section| {
            section.table(parts::devices(&self.devices, |item| item.device.to_string()));
        });
        layout.into()
    }
}

fn slices(slices: &[SliceItem], now: Time) -> Table {
    let mut table = Table::new(SLICES, Detail::Normal);
    for slice in slices {
        table.row(|row| {
            row.cell(&slice.name)
                .cell(slice.generation)
                .option(slice.node.as_ref())
                .cell(slice.devices)
                .cell(age(now, slice.creation_timestamp));
        });
    }
    table
}
