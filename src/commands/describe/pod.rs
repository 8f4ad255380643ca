//! A pod, described.

use std::collections::BTreeSet;

use crate::output::{Doc, Tone, list_or_none};
use dra_model::{Kind, Time};
use dra_reports::Warnings;
use dra_reports::describe::{Identity, PodClaimDescription, PodDescription, Reserved};

use super::{Description, parts};

impl Description for PodDescription {
    const KIND: &'static str = "PodDescription";

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    fn subjects(&self) -> BTreeSet<String> {
        let claims = self.claims.iter().filter_map(|claim| claim.claim.as_ref());
        let namespace = &self.identity.namespace;
        let claims = claims.map(|claim| format!("resourceclaim/{namespace}/{claim}"));
        claims
            .chain([parts::subject(Kind::Pod, &self.identity)])
            .collect()
    }

    fn why(&self) -> Option<(Kind, &Identity)> {
        let waits = self.node.is_none() && self.phase == "Pending" && !self.claims.is_empty();
        waits.then_some((Kind::Pod, &self.identity))
    }

    fn doc(&self) -> Doc {
        let now = self.now;
        let mut doc = Doc::new();
        parts::identity(&mut doc, &self.identity, now);
        doc.option("Node", self.node.as_ref())
            .option("Status", Some(&self.phase).filter(|phase| !phase.is_empty()))
            .some("Pod Group", self.pod_group.as_ref())
            .titled_if_any("Conditions", parts::conditions(&self.conditions, now));
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
        doc.section_if_any("Containers", |section| {
            for container in &self.containers {
                section.field(&container.name, list_or_none(&container.claims));
            }
        });
        doc.any("Health", parts::health(&self.health_reports));
        parts::events(&mut doc, self.events.as_deref(), now);
        doc
    }
}

fn of_claim(doc: &mut Doc, claim: &PodClaimDescription, now: Time) {
    doc.some("Template", claim.template.as_ref())
        .option("Claim", claim.claim.as_ref())
        .some("State", claim.state);
    if let Some(problem) = &claim.problem {
        doc.toned("Problem", Tone::Bad, problem);
    }
    match claim.reserved {
        Some(Reserved::Pod) => doc.field("Reserved", "for the pod"),
        Some(Reserved::PodGroup) => doc.field("Reserved", "for its group"),
        Some(Reserved::No) => doc.toned("Reserved", Tone::Notice, "no"),
        None => doc,
    };
    if claim.state.is_some() {
        doc.list("Devices", &claim.devices);
    }
    parts::eviction(doc, claim.eviction.as_ref(), now);
}
