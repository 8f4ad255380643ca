//! A device, described.

use std::collections::BTreeSet;

use crate::output::{Doc, UNKNOWN};
use dra_reports::describe::DeviceDescription;
use dra_reports::{HolderItem, Warnings};

use super::super::devices::{Counter, State, capacities, classes, health_tone, known_and_more, node};
use super::{Description, parts};

impl Description for DeviceDescription {
    const KIND: &'static str = "DeviceDescription";

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn subjects(&self) -> BTreeSet<String> {
        let id = self.item.id();
        [format!("device/{id}"), format!("pool/{}", id.pool_id())].into()
    }

    fn doc(&self) -> Doc {
        let now = self.now;
        let item = &self.item;
        let mut doc = Doc::new();
        doc.field("Name", &item.device)
            .field("Driver", &item.driver)
            .field("Pool", &item.pool)
            .option("Pool Generation", self.pool_generation)
            .option("Slice", self.slice.as_ref())
            .field("Node", node(item.node.as_ref(), item.nodes))
            .field("State", State(item))
            .list("Classes", known_and_more(classes(item), item.classes_unknown()));
        let errors = item.class_errors.iter();
        doc.any(
            "Class Errors",
            errors.map(|error| format!("{}: {}", error.class, error.error)),
        );
        doc.section("Attributes", |section| {
            for (name, value) in &self.attributes {
                section.field(name, value);
            }
        });
        let several = self.allow_multiple_allocations;
        doc.list("Capacity", capacities(item))
            .some("Several Allocations", several.then_some(true))
            .any("Counters", item.counters.iter().map(Counter));
        if !self.binding_conditions.is_empty() || !self.binding_failure_conditions.is_empty() {
            doc.list("Binding Conditions", &self.binding_conditions);
            doc.list("Binding Failure Conditions", &self.binding_failure_conditions);
        }
        doc.some("Binds To Node", self.binds_to_node.then_some(true));
        let taints = item.taints.iter().map(|taint| parts::taint(taint, now));
        doc.list("Taints", known_and_more(taints, item.taints_unknown));
        if let Some(health) = item.health {
            doc.toned("Health", health_tone(health), health);
            doc.list("Health Reports", parts::health(&item.health_reports));
        }
        doc.section("Used By", |section| {
            for holder in &item.claims {
                let title = format!("claim/{}/{}", holder.namespace, holder.name);
                section.section(&title, |section| of_holder(section, holder));
            }
        });
        parts::stages(&mut doc, &self.pods);
        doc
    }
}

fn of_holder(doc: &mut Doc, holder: &HolderItem) {
    doc.field("Request", &holder.request)
        .some("Share", holder.share_id.as_ref())
        .filled("Consumed", parts::pairs(&holder.consumed_capacity).join(","))
        .some("Admin Access", holder.admin_access.then_some(true));
    match &holder.pods {
        Some(pods) => doc.list("Pods", pods.iter().map(|pod| &pod.name)),
        None => doc.field("Pods", UNKNOWN),
    };
}
