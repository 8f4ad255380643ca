//! A pod, described.

use crate::output::{Detail, Doc, NONE, Page, Report, Tone, View, list_or_none};
use dra_model::{Kind, Time};
use dra_reports::Warnings;
use dra_reports::describe::{Identity, PodClaimDescription, PodDescription, Reserved};

use super::{Description, parts};

impl Report for PodDescription {
    const KIND: &'static str = "PodDescription";

    fn view(&self, page: Page) -> View {
        self.doc(page.detail()).into()
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

    fn doc(&self, _: Detail) -> Doc {
        let now = self.now;
        let mut doc = Doc::new();
        parts::identity(&mut doc, &self.identity, now);
        doc.option("Node", self.node.as_ref())
            .field("Status", if self.phase.is_empty() { NONE } else { &self.phase });
        if let Some(group) = &self.pod_group {
            doc.field("Pod Group", group);
        }
        if !self.conditions.is_empty() {
            doc.section("Conditions", |section| {
                section.table(parts::conditions(&self.conditions, now));
            });
        }
        doc.section("Claims", |section| {
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
            parts::stage(&mut doc, stage, now);
        }
        if !self.containers.is_empty() {
            doc.section("Containers", |section| {
                for container in &self.containers {
                    section.field(&container.name, list_or_none(&container.claims));
                }
            });
        }
        if !self.health_reports.is_empty() {
            doc.list("Health", parts::health(&self.health_reports));
        }
        parts::events(&mut doc, self.events.as_deref(), now);
        doc
    }
}

fn of_claim(doc: &mut Doc, claim: &PodClaimDescription, now: Time) {
    if let Some(template) = &claim.template {
        doc.field("Template", template);
    }
    doc.option("Claim", claim.claim.as_ref());
    if let Some(state) = claim.state {
        doc.field("State", state);
    }
    if let Some(problem) = &claim.problem {
        doc.toned("Problem", Tone::Bad, problem);
    }
    match claim.reserved {
        Some(Reserved::Pod) => {
            doc.field("Reserved", "for the pod");
        }
        Some(Reserved::PodGroup) => {
            doc.field("Reserved", "for its group");
        }
        Some(Reserved::No) => {
            doc.toned("Reserved", Tone::Notice, "no");
        }
        None => {}
    }
    if claim.state.is_some() {
        doc.list("Devices", &claim.devices);
    }
    if let Some(eviction) = &claim.eviction {
        parts::eviction(doc, eviction, now);
    }
}
