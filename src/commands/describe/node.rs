//! A node, described.

use crate::inspect::describe::{NodeDescription, PoolItem};
use crate::output::{Column, Detail, Layout, NONE, Report, Table, Tone, UNKNOWN, View};

use super::parts;

const POOLS: &[Column] = &[
    Column::new("DRIVER", ".driver"),
    Column::new("POOL", ".pool"),
    Column::new("GENERATION", ".generation"),
    Column::new("COMPLETE", ".complete"),
    Column::new("DEVICES", ".devices"),
    Column::new("FREE", ".free"),
];

const CLAIMS: &[Column] = &[
    Column::new("NAMESPACE", ".namespace"),
    Column::new("NAME", ".name"),
    Column::new("STATE", ".state"),
    Column::new("DEVICES", ".devices[0].device"),
    Column::new("CONSUMERS", ".consumers[0].name"),
];

impl Report for NodeDescription {
    const KIND: &'static str = "NodeDescription";

    fn view(&self, detail: Detail) -> View {
        let now = self.now;
        let mut layout = Layout::new();
        if self.exists == Some(true) {
            parts::identity(&mut layout, &self.identity, now);
            layout
                .field("Unschedulable", self.unschedulable)
                .list("Taints", &self.taints)
                .field(
                    "Kubelet Version",
                    if self.kubelet_version.is_empty() {
                        NONE
                    } else {
                        &self.kubelet_version
                    },
                );
            if !self.conditions.is_empty() {
                layout.section("Conditions", |section| {
                    section.table(parts::conditions(&self.conditions, now));
                });
            }
        } else {
            layout.field("Name", &self.identity.name);
            let exists = self.exists.map_or(UNKNOWN, |_| "no");
            layout.toned("Exists", Tone::Notice, exists);
        }
        layout.section("Pools", |section| {
            section.table(pools(&self.pools));
        });
        layout.section("Devices", |section| {
            section.table(parts::devices(&self.devices, |item| item.id().to_string()));
        });
        layout.section("Claims", |section| {
            section.table(claims(self, detail));
        });
        parts::events(&mut layout, self.events.as_deref(), now);
        layout.into()
    }
}

fn pools(pools: &[PoolItem]) -> Table {
    let mut table = Table::new(POOLS, Detail::Normal);
    for pool in pools {
        table.row(|row| {
            row.cell(&pool.driver).cell(&pool.pool).option(pool.generation);
            if pool.complete {
                row.cell("yes");
            } else {
                row.toned(Tone::Notice, "no");
            }
            row.cell(pool.devices).cell(pool.free);
        });
    }
    table
}

fn claims(node: &NodeDescription, detail: Detail) -> Table {
    let mut table = Table::new(CLAIMS, Detail::Normal);
    for item in &node.claims {
        let metadata = &item.claim().metadata;
        table.row(|row| {
            row.cell(&metadata.namespace)
                .cell(&metadata.name)
                .cell(item.state())
                .list(item.devices())
                .cell(item.consumers(detail == Detail::Wide));
        });
    }
    table
}
