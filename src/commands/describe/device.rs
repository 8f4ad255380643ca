//! A device, described.

use crate::output::{Detail, Doc, Page, Report, UNKNOWN, View, list_or_none};
use dra_reports::describe::DeviceDescription;
use dra_reports::{DeviceItem, HolderItem, Warnings};

use super::super::devices::{Capacity, Counter, State, classes, health_tone, known_and_more, node};
use super::{Description, parts};

impl Report for DeviceDescription {
    const KIND: &'static str = "DeviceDescription";

    fn view(&self, page: Page) -> View {
        self.doc(page.detail()).into()
    }
}

impl Description for DeviceDescription {
    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn doc(&self, _: Detail) -> Doc {
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
        if !item.class_errors.is_empty() {
            doc.list(
                "Class Errors",
                item.class_errors
                    .iter()
                    .map(|error| format!("{}: {}", error.class, error.error)),
            );
        }
        doc.section("Attributes", |section| {
            for (name, value) in &self.attributes {
                section.field(name, value);
            }
        });
        doc.list(
            "Capacity",
            item.capacity
                .iter()
                .map(|(name, capacity)| Capacity(name, capacity)),
        );
        if self.allow_multiple_allocations {
            doc.field("Several Allocations", true);
        }
        if !item.counters.is_empty() {
            doc.list("Counters", item.counters.iter().map(Counter));
        }
        if !self.binding_conditions.is_empty() || !self.binding_failure_conditions.is_empty() {
            doc.list("Binding Conditions", &self.binding_conditions);
            doc.list("Binding Failure Conditions", &self.binding_failure_conditions);
        }
        if self.binds_to_node {
            doc.field("Binds To Node", true);
        }
        let taints = item.taints.iter().map(|taint| parts::taint(taint, now));
        doc.list("Taints", known_and_more(taints, item.taints_unknown));
        if let Some(health) = item.health {
            doc.toned("Health", health_tone(health), health.text());
            doc.list("Health Reports", parts::health(&item.health_reports));
        }
        holders(&mut doc, item);
        parts::stages(&mut doc, &self.pods);
        doc
    }
}

fn holders(doc: &mut Doc, item: &DeviceItem) {
    doc.section("Used By", |section| {
        for holder in &item.claims {
            let title = format!("claim/{}/{}", holder.namespace, holder.name);
            section.section(&title, |section| of_holder(section, holder));
        }
    });
}

fn of_holder(doc: &mut Doc, holder: &HolderItem) {
    doc.field("Request", &holder.request);
    if let Some(share) = &holder.share_id {
        doc.field("Share", share);
    }
    if !holder.consumed_capacity.is_empty() {
        let amounts = holder.consumed_capacity.iter();
        doc.field(
            "Consumed",
            list_or_none(amounts.map(|(name, amount)| format!("{name}={amount}"))),
        );
    }
    if holder.admin_access {
        doc.field("Admin Access", true);
    }
    match &holder.pods {
        Some(pods) => doc.list("Pods", pods.iter().map(|pod| &pod.name)),
        None => doc.field("Pods", UNKNOWN),
    };
}
