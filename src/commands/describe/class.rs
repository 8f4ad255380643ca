//! A class, described.

use crate::inspect::describe::ClassDescription;
use crate::output::{Column, Detail, Layout, Report, Table, View};

use super::parts;

const DRIVERS: &[Column] = &[
    Column::new("DRIVER", ".driver"),
    Column::new("DEVICES", ".total"),
    Column::new("FREE", ".free"),
];

const CLAIMS: &[Column] = &[Column::new("STATE", ".state"), Column::new("CLAIMS", ".count")];

impl Report for ClassDescription {
    const KIND: &'static str = "ClassDescription";

    fn view(&self, _: Detail) -> View {
        let mut layout = Layout::new();
        let now = self.now;
        parts::identity(&mut layout, &self.identity, now);
        layout
            .list("Selectors", &self.selectors)
            .list("Extended Resources", &self.extended_resources);
        layout.section("Config", |section| parts::config(section, &self.config));
        layout.section("Devices", |section| {
            let mut table = Table::new(DRIVERS, Detail::Normal);
            for driver in &self.drivers {
                table.row(|row| {
                    row.cell(&driver.driver).cell(driver.total).cell(driver.free);
                });
            }
            section.table(table);
        });
        if !self.errors.is_empty() {
            let errors = self.errors.iter();
            layout.list(
                "Selector Errors",
                errors.map(|error| format!("{}: {}", error.device, error.error)),
            );
        }
        layout.section("Claims", |section| {
            let mut table = Table::new(CLAIMS, Detail::Normal);
            for count in &self.claims {
                table.row(|row| {
                    row.cell(count.state).cell(count.count);
                });
            }
            section.table(table);
        });
        layout.list("Templates", &self.templates);
        layout.into()
    }
}
