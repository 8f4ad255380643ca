//! The stage of a pod in the shape that readers get.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::fact::Subject;
use super::remedy::{Advice, advise};
use super::words::{cause_text, evidence_text, unknown_text, waits_text};
use crate::script::Script;
use dra_model::{AllocatedDevice, Cluster, Pod, Str, Time};
use dra_rules::kubelet::{Party, PodStage, Stage, Stages};

/// Progress of a pod with devices on its node, and what blocks it.
#[macro_rules_attribute::apply(report)]
pub struct StageItem {
    /// Progress.
    pub stage: Stage,
    /// Its node.
    pub node: Option<Str>,
    /// Its devices: `driver/pool/device`.
    pub devices: Vec<String>,
    /// Problem that blocks it, or endangers it while it is running.
    pub stuck: Option<StuckItem>,
    /// What the terminating pod is waiting for.
    pub waits: Option<String>,
    /// Information that is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// The stage of one pod among several.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PodStageItem {
    /// The pod: `namespace/name`.
    pub pod: String,
    /// Progress.
    #[serde(flatten)]
    pub at: StageItem,
}

impl PodStageItem {
    /// Those of `pods`, in their order; what has no stage is left out.
    pub(crate) fn of<'c>(stages: &Stages<'c>, pods: impl IntoIterator<Item = &'c Arc<Pod>>) -> Vec<Self> {
        let items = pods.into_iter().filter_map(|pod| {
            let found = stages.pod(pod)?;
            Some(Self {
                pod: pod.key().to_string(),
                at: StageItem::of(stages, &found),
            })
        });
        items.collect()
    }
}

/// Number of pods at a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct StageCount {
    /// The stage.
    pub stage: Stage,
    /// Number.
    pub count: usize,
    /// Number of stuck pods.
    pub stuck: usize,
}

impl StageCount {
    /// The numbers of those pods of `cluster` that `counts`.
    pub fn of(cluster: &Cluster, now: Time, counts: impl Fn(&Pod) -> bool) -> Vec<Self> {
        let mut numbers: BTreeMap<Stage, (usize, usize)> = BTreeMap::new();
        for found in Stages::of(cluster, now).all().filter(|found| counts(found.pod)) {
            let (count, stuck) = numbers.entry(found.stage).or_default();
            *count += 1;
            *stuck += usize::from(found.is_stuck());
        }
        let items = numbers.into_iter();
        items
            .map(|(stage, (count, stuck))| Self { stage, count, stuck })
            .collect()
    }
}

/// Problem that blocks a pod at its stage, or endangers it while it is running.
#[macro_rules_attribute::apply(report)]
pub struct StuckItem {
    /// Stable code.
    pub cause: &'static str,
    /// Who has to act.
    pub owner: Party,
    /// Whether it keeps the pod from continuing, rather than being a danger to one that runs.
    pub holds_up: bool,
    /// Start time, if known.
    pub since: Option<Time>,
    /// Message.
    pub message: String,
    /// Evidence.
    pub evidence: Vec<String>,
    /// The command that resolves it, if there is one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub command: Option<Script>,
    /// What to know before running the command, or who can do it if there is none.
    pub note: Option<String>,
    /// A read-only command that shows more.
    pub look: Option<Script>,
}

impl StageItem {
    /// What `found` is for readers.
    pub(crate) fn of(stages: &Stages<'_>, found: &PodStage<'_>) -> Self {
        let pod = found.pod;
        let subject = Subject::of(pod);
        let stuck = found.stuck.as_ref().map(|stuck| {
            let advice: Option<Advice> = advise(stages, found);
            let (remedy, look) = advice.map_or((None, None), |advice| (Some(advice.remedy), advice.look));
            StuckItem {
                cause: stuck.cause.code(),
                owner: stuck.cause.party(),
                holds_up: stuck.cause.holds_up(),
                since: stuck.since,
                message: cause_text(&stuck.cause, &subject),
                evidence: stuck
                    .evidence
                    .iter()
                    .map(|shown| evidence_text(shown, &subject))
                    .collect(),
                note: remedy.as_ref().and_then(crate::remedy::Remedy::text),
                command: remedy.and_then(|remedy| remedy.command),
                look,
            }
        });
        Self {
            stage: found.stage,
            node: pod.node().cloned(),
            devices: stages
                .claims(pod)
                .flat_map(|claim| claim.results())
                .map(AllocatedDevice::id)
                .map(|id| id.to_string())
                .collect(),
            stuck,
            waits: found.waits.map(|waits| waits_text(waits, pod)),
            unknown: found.unknown.iter().copied().map(unknown_text).collect(),
        }
    }
}
