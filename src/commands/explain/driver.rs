//! Output of `explain driver/NAME`: the path from the driver's classes to its devices.

use crate::output::{Column, Detail, Doc, Page, Report, Table, Tone, UNKNOWN, View};
use dra_reports::{DriverChain, DriverNodes, DriverVerdict};

use super::report::folded;

const NODES: &[Column<DriverNodes>] = &[
    Column::inner("NODES", |row, cell| {
        if row.nodes.is_empty() {
            cell.text("<several>");
        } else {
            cell.text(folded(&row.nodes, cell.detail));
        }
    }),
    Column::inner("POD", |row, cell| cell.option(row.pod.as_deref())),
    Column::inner("STATE", |row, cell| {
        cell.text(format_args!("{:?}", row.pod_state));
    }),
    Column::inner("DEVICES", |row, cell| cell.text(row.devices)),
    Column::inner("IN USE", |row, cell| cell.known(row.in_use)),
];

impl Report for DriverChain {
    const KIND: &'static str = "DriverChain";

    fn view(&self, page: Page) -> View {
        let mut doc = Doc::new();
        let (subject, text) = (format!("driver/{}", self.driver), format!(" {}", self.summary));
        doc.headline(page, tone(self), subject, text).gap();
        rest(self, page.detail(), &mut doc);
        doc.into()
    }
}

fn tone(chain: &DriverChain) -> Tone {
    match chain.verdict {
        DriverVerdict::Serves => Tone::Good,
        DriverVerdict::Broken => Tone::Bad,
        DriverVerdict::Unknown => Tone::Notice,
    }
}

fn rest(chain: &DriverChain, detail: Detail, doc: &mut Doc) {
    match &chain.classes {
        Some(classes) => doc.list("Classes", classes),
        None => doc.field("Classes", UNKNOWN),
    };
    doc.list("Pods Created By", &chain.workloads);
    doc.section_if_any("Nodes", |section| {
        section.table(Table::new(NODES, detail, &chain.nodes));
        for row in &chain.nodes {
            if let Some(broken) = &row.broken {
                section.text(format_args!("{}: {broken}", folded(&row.nodes, detail)));
            }
        }
    });
    doc.section_if_any("Fixes", |section| {
        for fix in &chain.fixes {
            section.text(&fix.message);
            if let Some(look) = &fix.look {
                section.command("see: ", look);
            }
        }
    });
    doc.any("Unknown", &chain.unknown);
}
