//! The findings of one object, for its description.

use serde::Serialize;

use super::{CheckRequest, Code, Counts, Finding, FindingList, Selection, Subject, Topic};
use dra_model::{Kind, Str, Time};

/// The findings of one object.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectFindings {
    /// What `check` finds of it, the worst first.
    pub findings: Vec<Finding>,
    /// Checks of it that could not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_findings: Vec<String>,
}

impl ObjectFindings {
    /// Those of `list` for objects that match `is_meant`.
    pub fn of(list: FindingList, is_meant: impl Fn(&Subject) -> bool) -> Self {
        let list = list.about(is_meant);
        Self {
            findings: list.items,
            unknown_findings: list.unknown,
        }
    }
}

impl FindingList {
    /// Those for objects that match `is_meant`.
    #[must_use]
    pub fn about(mut self, is_meant: impl Fn(&Subject) -> bool) -> Self {
        self.items.retain(|finding| is_meant(&finding.object));
        self.counts = Counts::of(&self.items);
        self
    }
}

impl CheckRequest {
    /// What is wrong now, as far as objects of `kinds` tell it, with those of one `namespace` where only that was read.
    pub fn told_by(kinds: &[Kind], namespace: Option<Str>, now: Time) -> Self {
        let in_part = namespace.is_some();
        let is_told = |code: &Code| {
            let facts = code.facts();
            let is_told_in_part = !in_part || code.is_told_in_part();
            facts.topic == Topic::Now
                && facts.needs.iter().all(|kind| kinds.contains(kind))
                && is_told_in_part
        };
        Self {
            codes: Code::all().filter(is_told).collect(),
            selection: Selection {
                namespace,
                ..Selection::default()
            },
            in_part,
            ..Self::now(now)
        }
    }
}
