//! What `explain driver/NAME` tells: the way from the driver's classes to its devices.

use crate::output::{Column, Detail, Layout, Report, Screen, Table, Tone, View, span};
use dra_reports::{DriverChain, DriverNodes, DriverVerdict};

use super::report::{folded, plain};

const NODES: &[Column<DriverNodes>] = &[
    Column::inner("NODES", |row, cell| {
        let names: Vec<&str> = row.nodes.iter().map(|name| name.as_str()).collect();
        if names.is_empty() {
            cell.text("<several>");
        } else {
            cell.text(folded(&names));
        }
    }),
    Column::inner("POD", |row, cell| cell.option(row.pod.as_deref())),
    Column::inner("STATE", |row, cell| {
        cell.text(format_args!("{:?}", row.pod_state))
    }),
    Column::inner("DEVICES", |row, cell| cell.text(row.devices)),
    Column::inner("IN USE", |row, cell| cell.text(row.in_use)),
];

impl Report for DriverChain {
    const KIND: &'static str = "DriverChain";

    fn screen(&self, screen: Screen) -> View {
        let mut layout = Layout::new();
        let tone = tone(self);
        layout.line(
            2,
            [
                span(tone, format!("{} ", screen.sign(tone))),
                span(Tone::Strong, format!("driver/{}", self.driver)),
                plain(format!(" {}", self.summary)),
            ],
        );
        layout.line(0, []);
        rest(self, Detail::Normal, &mut layout);
        layout.into()
    }

    fn view(&self, detail: Detail) -> View {
        let mut layout = Layout::new();
        layout.field("Driver", &self.driver);
        layout.toned(
            "Verdict",
            tone(self),
            format!("{:?}: it {}", self.verdict, self.summary),
        );
        rest(self, detail, &mut layout);
        layout.into()
    }
}

fn tone(chain: &DriverChain) -> Tone {
    match chain.verdict {
        DriverVerdict::Serves => Tone::Good,
        DriverVerdict::Broken => Tone::Bad,
        DriverVerdict::Unknown => Tone::Notice,
    }
}

fn rest(chain: &DriverChain, detail: Detail, layout: &mut Layout) {
    layout.list("Classes", &chain.classes);
    layout.list("Pods are made by", &chain.workloads);
    if !chain.nodes.is_empty() {
        layout.section("Nodes", |section| {
            section.table(Table::new(NODES, detail, &chain.nodes));
            for row in &chain.nodes {
                if let Some(broken) = &row.broken {
                    let names: Vec<&str> = row.nodes.iter().map(|name| name.as_str()).collect();
                    section.text(format_args!("{}: {broken}", folded(&names)));
                }
            }
        });
    }
    if !chain.fixes.is_empty() {
        layout.section("What Would Help", |section| {
            for fix in &chain.fixes {
                section.text(&fix.message);
                if let Some(look) = &fix.look {
                    section.verbatim(&format!("see: {look}"));
                }
            }
        });
    }
    if !chain.unknown.is_empty() {
        layout.list("Unknown", &chain.unknown);
    }
}
