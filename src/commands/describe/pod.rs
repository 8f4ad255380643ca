//! A pod, described.

use crate::output::{Detail, Layout, NONE, Report, Tone, View, list_or_none};
use dra_model::{Kind, Time};
use dra_reports::Warnings;
use dra_reports::describe::{Identity, PodClaimDescription, PodDescription, Reserved};

use super::{Description, parts};

impl Report for PodDescription {
    const KIND: &'static str = "PodDescription";

    fn view(&self, detail: Detail) -> View {
        self.layout(detail).into()
    }
}

impl Description for PodDescription {
    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn why(&self) -> Option<(Kind, &Identity)> {
        let waits = self.node.is_none() && self.phase == "Pending" && !self.claims.is_empty();
        waits.then_some((Kind::Pod, &self.identity))
    }

    fn layout(&self, _: Detail) -> Layout {
        let now = self.now;
        let mut layout = Layout::new();
        parts::identity(&mut layout, &self.identity, now);
        layout
            .option("Node", self.node.as_ref())
            .field("Status", if self.phase.is_empty() { NONE } else { &self.phase });
        if let Some(group) = &self.pod_group {
            layout.field("Pod Group", group);
        }
        if !self.conditions.is_empty() {
            layout.section("Conditions", |section| {
                section.table(parts::conditions(&self.conditions, now));
            });
        }
        layout.section("Claims", |section| {
            for claim in &self.claims {
                let title = if claim.entry.is_empty() {
                    "(extended resources)"
                } else {
                    &claim.entry
                };
                section.section(title, |section| of_claim(section, claim, now));
            }
        });
        if let Some(stage) = &self.stage {
            parts::stage(&mut layout, stage, now);
        }
        if !self.containers.is_empty() {
            layout.section("Containers", |section| {
                for container in &self.containers {
                    section.field(&container.name, list_or_none(&container.claims));
                }
            });
        }
        if !self.health_reports.is_empty() {
            layout.list("Health", parts::health(&self.health_reports));
        }
        parts::events(&mut layout, self.events.as_deref(), now);
        layout
    }
}

fn of_claim(layout: &mut Layout, claim: &PodClaimDescription, now: Time) {
    if let Some(template) = &claim.template {
        layout.field("Template", template);
    }
    layout.option("Claim", claim.claim.as_ref());
    if let Some(state) = claim.state {
        layout.field("State", state);
    }
    if let Some(problem) = &claim.problem {
        layout.toned("Problem", Tone::Bad, problem);
    }
    match claim.reserved {
        Some(Reserved::Pod) => {
            layout.field("Reserved", "for the pod");
        }
        Some(Reserved::PodGroup) => {
            layout.field("Reserved", "for its group");
        }
        Some(Reserved::No) => {
            layout.toned("Reserved", Tone::Notice, "no");
        }
        None => {}
    }
    if claim.state.is_some() {
        layout.list("Devices", &claim.devices);
    }
    if let Some(eviction) = &claim.eviction {
        parts::eviction(layout, eviction, now);
    }
}
