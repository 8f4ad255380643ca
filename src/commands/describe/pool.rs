//! A pool, described.

use std::collections::BTreeSet;

use crate::output::{Column, Detail, Doc, Table, Tone, age};
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

impl Description for PoolDescription {
    const KIND: &'static str = "PoolDescription";

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn subjects(&self) -> BTreeSet<String> {
        let slices = self.slices.iter().chain(&self.outdated_slices);
        let slices = slices.map(|slice| format!("resourceslice/{}", slice.name));
        let pool = format!("pool/{}/{}", self.driver, self.pool);
        parts::subjects(&self.devices)
            .chain(slices)
            .chain([pool])
            .collect()
    }

    fn doc(&self) -> Doc {
        let mut doc = Doc::new();
        doc.field("Name", &self.pool)
            .field("Driver", &self.driver)
            .field("Generation", self.generation);
        let count = format!("{} of {} slices", self.slices.len(), self.expected_slices);
        if self.complete && i64::try_from(self.slices.len()) != Ok(self.expected_slices) {
            doc.field("Complete", "yes, on each node separately");
        } else if self.complete {
            doc.field("Complete", format_args!("yes, {count}"));
        } else {
            doc.toned("Complete", Tone::Notice, format_args!("no, {count}"));
        }
        let slices = |slices: &[SliceItem]| Table::with(SLICES, Detail::Normal, &self.now, slices);
        let devices = parts::devices(&self.devices, |item| item.device.to_string());
        doc.any("Duplicate Devices", &self.duplicate_devices)
            .titled("Slices", slices(&self.slices))
            .titled_if_any("Outdated Slices", slices(&self.outdated_slices))
            .any("Counters", self.counters.iter().map(Counter))
            .titled("Devices", devices);
        doc
    }
}
