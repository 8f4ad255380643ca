//! Pods that have their node, and claims that have their devices: what may still keep one from running, and what the other holds.

use std::sync::Arc;

use super::report::{ClusterVerdict, Explanation, FixItem, Holding, Reason};
use super::word;
use crate::listing::some;
use crate::stage::{self, StageItem, advise, cause_text, problem_text, unknown_text, waits_text};
use dra_model::{Claim, Cluster, Key, Kind, Pod, Str, Time};
use dra_rules::kubelet::{Cause, PodStage, Problems, Stage, Stages, problems};
use dra_rules::scheduling::passed_over;

impl Holding {
    /// What `claim` holds, if it is allocated.
    pub(super) fn of(claim: &Claim) -> Option<Self> {
        claim.status.allocation.as_ref()?;
        let namespace = &claim.metadata.namespace;
        let consumer = |entry: &dra_model::ConsumerReference| {
            if entry.is_pod() {
                format!("pod/{namespace}/{}", entry.name)
            } else if entry.is_pod_group() {
                format!("podgroup/{namespace}/{}", entry.name)
            } else {
                entry.to_string()
            }
        };
        let selector = claim.status.allocation.as_ref()?.node_selector.as_ref();
        Some(Self {
            node: selector.and_then(|selector| selector.single_node()).cloned(),
            devices: claim
                .results()
                .iter()
                .map(|result| result.id().to_string())
                .collect(),
            consumers: claim.status.reserved_for.iter().map(consumer).collect(),
        })
    }

    fn text(&self) -> String {
        const NAMED: usize = 3;
        let names: Vec<&str> = self
            .devices
            .iter()
            .map(|device| device.rsplit('/').next().unwrap_or(device))
            .collect();
        let devices = match names.as_slice() {
            [] => "no device".to_owned(),
            all if all.len() <= NAMED => all.join(", "),
            all => format!("{} and {} more", all[..NAMED].join(", "), all.len() - NAMED),
        };
        let consumers = match self.consumers.as_slice() {
            [] => "nobody: it is idle".to_owned(),
            all => {
                let named: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
                match all.len() - named.len() {
                    0 => named.join(", "),
                    rest => format!("{} and {rest} more", named.join(", ")),
                }
            }
        };
        let place = self
            .node
            .as_ref()
            .map_or_else(String::new, |node| format!(" on {node}"));
        format!("allocated{place} ({devices}), used by {consumers}")
    }
}

impl Explanation {
    /// Says of a claim that has its devices what it holds rather than where it would fit.
    pub(super) fn hold(&mut self, claim: &Claim) {
        self.holds = Holding::of(claim);
        if let Some(holds) = &self.holds
            && self.verdict == ClusterVerdict::Fits
        {
            let text = holds.text();
            self.conclude(ClusterVerdict::Allocated, text);
        }
    }
}

/// Says of a pod that has its node what may still keep its devices from it.
pub(super) fn bound(report: &mut Explanation, cluster: &Cluster, pod: &Arc<Pod>, node: &Str, now: Time) {
    report.conclude(ClusterVerdict::Bound, format!("the pod is bound to {node}"));
    let passed_over = passed_over(cluster, Some(pod));
    report
        .notes
        .extend(passed_over.map(|exposure| exposure.text(cluster)));
    let Problems {
        found,
        hidden: unread,
    } = problems(cluster, pod);
    let reasons = found
        .into_iter()
        .map(|problem| Reason::plain(problem.code(), problem_text(&problem, pod)));
    report.reasons.extend(reasons);
    let stages = Stages::of(cluster, now);
    let found = stages.pod(pod);
    report.stage = found.as_ref().map(|found| StageItem::of(&stages, found));
    if let Some(first) = report.reasons.first() {
        let summary = format!("the pod is bound to {node}, but {}", first.message);
        report.conclude(ClusterVerdict::Broken, summary);
        if let Some(found) = &found {
            help(report, &stages, found);
        }
    } else if let Some(gap) = unread {
        report.tell_unknown(gap);
        let kinds = gap.kind.plural();
        report.conclude(
            ClusterVerdict::Unknown,
            format!("the pod is bound to {node}; whether it has its devices is not known without {kinds}"),
        );
    } else if let Some(found) = found {
        staged(report, &stages, &found, node);
    }
}

/// Says of a pod that has ended what keeps it from being gone.
pub(super) fn ended(report: &mut Explanation, cluster: &Cluster, pod: &Arc<Pod>, now: Time) {
    let stages = Stages::of(cluster, now);
    let Some(found) = stages.pod(pod) else { return };
    report.stage = Some(StageItem::of(&stages, &found));
    if let Some(stuck) = &found.stuck {
        let text = cause_text(&stuck.cause, pod);
        let summary = format!("the pod is not gone: {text}");
        report.reasons.push(Reason::plain(stuck.cause.code(), text));
        report.conclude(ClusterVerdict::Broken, summary);
        help(report, &stages, &found);
    }
}

/// Says of a pod that has its devices reserved and no node yet what it waits for.
pub(super) fn attaching(report: &mut Explanation, cluster: &Cluster, pod: &Arc<Pod>, now: Time) {
    let stages = Stages::of(cluster, now);
    let Some(found) = stages.pod(pod) else { return };
    report.stage = Some(StageItem::of(&stages, &found));
    if let Some(stuck) = &found.stuck
        && report.verdict == ClusterVerdict::Fits
    {
        let summary = format!("{}, and waits: {}", report.summary, cause_text(&stuck.cause, pod));
        report.conclude(ClusterVerdict::Fits, summary);
    }
    // The driver that is to attach the device is told already.
    let is_told = |kind| report.fixes.iter().any(|fix| fix.kind == kind);
    if let Some(advice) = advise(&stages, &found)
        && !is_told(advice.kind)
    {
        help(report, &stages, &found);
    }
}

/// Says how far the pod is on its node, and what keeps it there.
fn staged(report: &mut Explanation, stages: &Stages<'_>, found: &PodStage<'_>, node: &Str) {
    let (cluster, pod) = (stages.cluster(), found.pod);
    let devices = report.stage.as_ref().map_or(&[][..], |item| &item.devices);
    let devices = if devices.is_empty() {
        String::new()
    } else {
        format!(" with {}", some(devices))
    };
    match found.stuck.as_ref().map(|stuck| &stuck.cause) {
        None if found.stage == Stage::Unknown => {
            let unknown: Vec<String> = found.unknown.iter().copied().map(unknown_text).collect();
            let why = unknown.join("; ");
            report.conclude(
                ClusterVerdict::Unknown,
                format!("the pod is bound to {node}; how far it is there is not known: {why}"),
            );
            report.lacks_objects = cluster.gap(Kind::Event, &pod.metadata.namespace).is_some();
            report.unknown.extend(unknown);
        }
        None => {
            let waits = found.waits.as_ref().map(|waits| waits_text(waits, pod));
            let summary = match (found.stage, waits) {
                (Stage::Running, _) => format!("the pod runs on {node}{devices}"),
                (Stage::Unpreparing, None) => format!("the pod is being ended on {node}"),
                (Stage::Unpreparing, Some(waits)) => {
                    format!("the pod is being ended on {node}, and {waits}")
                }
                (_, Some(waits)) => {
                    format!("the pod is bound to {node}{devices}, and waits for something else: {waits}")
                }
                (_, None) => format!("the pod is bound to {node}"),
            };
            report.conclude(ClusterVerdict::Bound, summary);
        }
        Some(Cause::Unrecognized { .. }) => word::of_kubelet(report, cluster, pod, node),
        Some(cause) => {
            let text = cause_text(cause, pod);
            let place = if found.stage == Stage::Running {
                "runs on"
            } else if found.stage == Stage::Unpreparing {
                "does not end on"
            } else {
                "is bound to"
            };
            let link = if found.stage == Stage::Unpreparing {
                ":"
            } else {
                ", but"
            };
            report.reasons.push(Reason::plain(cause.code(), text.clone()));
            report.conclude(
                ClusterVerdict::Broken,
                format!("the pod {place} {node}{link} {text}"),
            );
            help(report, stages, found);
        }
    }
}

/// Adds what ends the cause that keeps the pod where it is.
fn help(report: &mut Explanation, stages: &Stages<'_>, found: &PodStage<'_>) {
    if let Some(advice) = advise(stages, found) {
        let mut fix = FixItem::unproven(advice.kind, advice.target, advice.message, advice.remedy);
        fix.look = advice.look;
        report.fixes.push(fix);
    }
}

/// That there is no template for claims of the pod.
pub(super) fn template_missing(template: &Key, pod: &Key) -> Reason {
    Reason::plain("TemplateMissing", stage::template_missing(template, pod))
}
