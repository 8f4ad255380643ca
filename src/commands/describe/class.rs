//! A class, described.

use std::collections::BTreeSet;

use crate::output::{Column, Doc, Table};
use dra_model::Kind;
use dra_reports::Warnings;
use dra_reports::describe::{ClassDescription, ClassDevices};

use super::super::status::CLAIMS;
use super::{Description, parts};

const DRIVERS: &[Column<ClassDevices>] = &[
    Column::inner("DRIVER", |driver, cell| cell.text(&driver.driver)),
    Column::inner("DEVICES", |driver, cell| cell.text(driver.total)),
    Column::inner("FREE", |driver, cell| cell.text(driver.free)),
];

impl Description for ClassDescription {
    const KIND: &'static str = "ClassDescription";

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn subjects(&self) -> BTreeSet<String> {
        [parts::subject(Kind::DeviceClass, &self.identity)].into()
    }

    fn doc(&self) -> Doc {
        let mut doc = Doc::new();
        let errors = self.errors.iter();
        let errors = errors.map(|error| format!("{}: {}", error.device, error.error));
        parts::identity(&mut doc, &self.identity, self.now);
        doc.list("Selectors", &self.selectors)
            .list("Extended Resources", &self.extended_resources)
            .section("Config", |section| parts::config(section, &self.config))
            .titled("Devices", Table::of(DRIVERS, &self.drivers))
            .any("Selector Errors", errors)
            .titled("Claims", Table::of(CLAIMS, &self.claims))
            .list("Templates", &self.templates);
        doc
    }
}
