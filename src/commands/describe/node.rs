//! A node, described.

use std::collections::BTreeSet;

use crate::output::{Column, Doc, Table, Tone, UNKNOWN};
use dra_model::Kind;
use dra_reports::describe::{NodeDescription, PoolItem};
use dra_reports::{ClaimItem, Warnings};

use super::{Description, parts};

const POOLS: &[Column<PoolItem>] = &[
    Column::inner("DRIVER", |pool, cell| cell.text(&pool.driver)),
    Column::inner("POOL", |pool, cell| cell.text(&pool.pool)),
    Column::inner("GENERATION", |pool, cell| cell.option(pool.generation)),
    Column::inner("COMPLETE", |pool, cell| {
        if pool.complete {
            cell.text("yes");
        } else {
            cell.toned(Tone::Notice, "no");
        }
    }),
    Column::inner("DEVICES", |pool, cell| cell.text(pool.devices)),
    Column::inner("FREE", |pool, cell| cell.text(pool.free)),
];

const CLAIMS: &[Column<ClaimItem>] = &[
    Column::inner("NAMESPACE", |item, cell| {
        cell.text(&item.claim().metadata.namespace);
    }),
    Column::inner("NAME", |item, cell| cell.text(&item.claim().metadata.name)),
    Column::inner("STATE", |item, cell| cell.text(item.state())),
    Column::inner("DEVICES", |item, cell| cell.list(item.devices())),
    Column::inner("CONSUMERS", |item, cell| cell.text(item.consumers())),
];

impl Description for NodeDescription {
    const KIND: &'static str = "NodeDescription";

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn subjects(&self) -> BTreeSet<String> {
        let pools = self.pools.iter();
        let pools = pools.map(|pool| format!("pool/{}/{}", pool.driver, pool.pool));
        let node = parts::subject(Kind::Node, &self.identity);
        parts::subjects(&self.devices)
            .chain(pools)
            .chain([node])
            .collect()
    }

    fn doc(&self) -> Doc {
        let now = self.now;
        let mut doc = Doc::new();
        if self.exists == Some(true) {
            parts::identity(&mut doc, &self.identity, now);
            doc.field("Unschedulable", self.unschedulable)
                .list("Taints", &self.taints)
                .option(
                    "Kubelet Version",
                    Some(&self.kubelet_version).filter(|text| !text.is_empty()),
                )
                .titled_if_any("Conditions", parts::conditions(&self.conditions, now));
        } else {
            doc.field("Name", &self.identity.name);
            let exists = self.exists.map_or(UNKNOWN, |_| "no");
            doc.toned("Exists", Tone::Notice, exists);
        }
        let devices = parts::devices(&self.devices, |item| item.id().to_string());
        doc.titled("Pools", Table::of(POOLS, &self.pools))
            .titled("Devices", devices)
            .titled("Claims", Table::of(CLAIMS, &self.claims));
        parts::stages(&mut doc, &self.pods);
        parts::events(&mut doc, self.events.as_deref(), now);
        doc
    }
}
