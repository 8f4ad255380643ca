//! A class, described.

use crate::output::{Column, Detail, Doc, Page, Report, Table, View};
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

    fn view(&self, page: Page) -> View {
        self.doc(page.detail()).into()
    }
}

impl Description for ClassDescription {
    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn doc(&self, _: Detail) -> Doc {
        let mut doc = Doc::new();
        let now = self.now;
        parts::identity(&mut doc, &self.identity, now);
        doc.list("Selectors", &self.selectors)
            .list("Extended Resources", &self.extended_resources);
        doc.section("Config", |section| parts::config(section, &self.config));
        doc.section("Devices", |section| {
            section.table(Table::new(DRIVERS, Detail::Normal, &self.drivers));
        });
        if !self.errors.is_empty() {
            let errors = self.errors.iter();
            doc.list(
                "Selector Errors",
                errors.map(|error| format!("{}: {}", error.device, error.error)),
            );
        }
        doc.section("Claims", |section| {
            section.table(Table::new(CLAIMS, Detail::Normal, &self.claims));
        });
        doc.list("Templates", &self.templates);
        doc
    }
}
