//! A class, described.

use crate::output::{Column, Detail, Layout, Report, Table, View};
use dra_reports::Warnings;
use dra_reports::describe::{ClassDescription, ClassDevices};

use super::super::status::CLAIMS;
use super::{Description, parts};

const DRIVERS: &[Column<ClassDevices>] = &[
    Column::inner("DRIVER", |driver, cell| cell.text(&driver.driver)),
    Column::inner("DEVICES", |driver, cell| cell.text(driver.total)),
    Column::inner("FREE", |driver, cell| cell.text(driver.free)),
];

impl Report for ClassDescription {
    const KIND: &'static str = "ClassDescription";

    fn view(&self, detail: Detail) -> View {
        self.layout(detail).into()
    }
}

impl Description for ClassDescription {
    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn layout(&self, _: Detail) -> Layout {
        let mut layout = Layout::new();
        let now = self.now;
        parts::identity(&mut layout, &self.identity, now);
        layout
            .list("Selectors", &self.selectors)
            .list("Extended Resources", &self.extended_resources);
        layout.section("Config", |section| parts::config(section, &self.config));
        layout.section("Devices", |section| {
            section.table(Table::new(DRIVERS, Detail::Normal, &self.drivers));
        });
        if !self.errors.is_empty() {
            let errors = self.errors.iter();
            layout.list(
                "Selector Errors",
                errors.map(|error| format!("{}: {}", error.device, error.error)),
            );
        }
        layout.section("Claims", |section| {
            section.table(Table::new(CLAIMS, Detail::Normal, &self.claims));
        });
        layout.list("Templates", &self.templates);
        layout
    }
}
