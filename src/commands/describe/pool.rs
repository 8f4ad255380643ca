//! A pool, described.

use crate::output::{Column, Detail, Doc, Page, Report, Table, Tone, View, age};
use dra_model::Time;
use dra_reports::Warnings;
use dra_reports::describe::{PoolDescription, SliceItem};

use super::super::devices::Counter;
use super::{Description, parts};

const SLICES: &[Column<SliceItem, Time>] = &[
    Column::inner("NAME", |slice, cell| cell.text(&slice.name)),
    Column::inner("GENERATION", |slice, cell| cell.text(slice.generation)),
    Column::inner("NODE", |slice, cell| cell.option(slice.node.as_ref())),
    Column::inner("DEVICES", |slice, cell| cell.text(slice.devices)),
    Column::inner("AGE", |slice, cell| {
        cell.text(age(*cell.context, slice.creation_timestamp));
    }),
];

impl Report for PoolDescription {
    const KIND: &'static str = "PoolDescription";

    fn view(&self, page: Page) -> View {
        self.doc(page.detail()).into()
    }
}

impl Description for PoolDescription {
    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn doc(&self, _: Detail) -> Doc {
        let now = self.now;
        let mut doc = Doc::new();
        doc.field("Name", &self.pool)
            .field("Driver", &self.driver)
            .field("Generation", self.generation);
        let count = format!("{} of {} slices", self.slices.len(), self.expected_slices);
        if self.complete {
            doc.field("Complete", format_args!("yes, {count}"));
        } else {
            doc.toned("Complete", Tone::Notice, format_args!("no, {count}"));
        }
        if !self.duplicate_devices.is_empty() {
            doc.list("Duplicate Devices", &self.duplicate_devices);
        }
        doc.section("Slices", |section| {
            section.table(Table::with(SLICES, Detail::Normal, &now, &self.slices));
        });
        if !self.outdated_slices.is_empty() {
            doc.section("Outdated Slices", |section| {
                section.table(Table::with(SLICES, Detail::Normal, &now, &self.outdated_slices));
            });
        }
        if !self.counters.is_empty() {
            doc.list("Counters", self.counters.iter().map(Counter));
        }
        doc.section("Devices", |section| {
            section.table(parts::devices(&self.devices, |item| item.device.to_string()));
        });
        doc
    }
}
