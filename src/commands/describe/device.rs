//! A device, described.

use crate::output::{Detail, Layout, Report, UNKNOWN, View, list_or_none};
use dra_reports::describe::DeviceDescription;
use dra_reports::{DeviceItem, HolderItem, Warnings};

use super::super::devices::{Capacity, Counter, State, classes, health_tone, known_and_more, node};
use super::{Description, parts};

impl Report for DeviceDescription {
    const KIND: &'static str = "DeviceDescription";

    fn view(&self, detail: Detail) -> View {
        self.layout(detail).into()
    }
}

impl Description for DeviceDescription {
    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn layout(&self, _: Detail) -> Layout {
        let now = self.now;
        let item = &self.item;
        let mut layout = Layout::new();
        layout
            .field("Name", &item.device)
            .field("Driver", &item.driver)
            .field("Pool", &item.pool)
            .option("Pool Generation", self.pool_generation)
            .option("Slice", self.slice.as_ref())
            .field("Node", node(item.node.as_ref(), item.nodes))
            .field("State", State(item))
            .list("Classes", known_and_more(classes(item), item.classes_unknown()));
        if !item.class_errors.is_empty() {
            layout.list(
                "Class Errors",
                item.class_errors
                    .iter()
                    .map(|error| format!("{}: {}", error.class, error.error)),
            );
        }
        layout.section("Attributes", |section| {
            for (name, value) in &self.attributes {
                section.field(name, value);
            }
        });
        layout.list(
            "Capacity",
            item.capacity
                .iter()
                .map(|(name, capacity)| Capacity(name, capacity)),
        );
        if self.allow_multiple_allocations {
            layout.field("Several Allocations", true);
        }
        if !item.counters.is_empty() {
            layout.list("Counters", item.counters.iter().map(Counter));
        }
        if !self.binding_conditions.is_empty() || !self.binding_failure_conditions.is_empty() {
            layout.list("Binding Conditions", &self.binding_conditions);
            layout.list("Binding Failure Conditions", &self.binding_failure_conditions);
        }
        if self.binds_to_node {
            layout.field("Binds To Node", true);
        }
        let taints = item.taints.iter().map(|taint| parts::taint(taint, now));
        layout.list("Taints", known_and_more(taints, item.taints_unknown));
        if let Some(health) = item.health {
            layout.toned("Health", health_tone(health), health.text());
            layout.list("Health Reports", parts::health(&item.health_reports));
        }
        holders(&mut layout, item);
        parts::stages(&mut layout, &self.pods);
        layout
    }
}

fn holders(layout: &mut Layout, item: &DeviceItem) {
    layout.section("Held By", |section| {
        for holder in &item.claims {
            let title = format!("claim/{}/{}", holder.namespace, holder.name);
            section.section(&title, |section| of_holder(section, holder));
        }
    });
}

fn of_holder(layout: &mut Layout, holder: &HolderItem) {
    layout.field("Request", &holder.request);
    if let Some(share) = &holder.share_id {
        layout.field("Share", share);
    }
    if !holder.consumed_capacity.is_empty() {
        let amounts = holder.consumed_capacity.iter();
        layout.field(
            "Consumed",
            list_or_none(amounts.map(|(name, amount)| format!("{name}={amount}"))),
        );
    }
    if holder.admin_access {
        layout.field("Admin Access", true);
    }
    match &holder.pods {
        Some(pods) => layout.list("Pods", pods.iter().map(|pod| &pod.name)),
        None => layout.field("Pods", UNKNOWN),
    };
}
