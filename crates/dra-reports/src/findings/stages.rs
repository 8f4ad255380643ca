//! Pods that do not start or do not end on their node because of their devices, as the stages have it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::finding::{Subject, claim_key, counted, pod_key, scoped_key, some};
use super::{Code, Finding, Look, Severity};
use crate::stage::{advise, cause_of_node, stuck_text, unlisted_text};
use dra_model::{Kind, Pod, Str};
use dra_rules::kubelet::{Cause, Plugin, PodStage, Stage, Stages, is_refusal};
use dra_rules::reservation::{Unlisted, unlisted};

/// The codes of this family.
const CODES: [Code; 9] = [
    Code::DriverNotRegistered,
    Code::PrepareRefused,
    Code::ClaimStillPrepared,
    Code::DevicesLost,
    Code::UnprepareFails,
    Code::KubeletTooOld,
    Code::StartUnexplained,
    Code::NodeNotReady,
    Code::DeletionStuck,
];

pub(super) fn look(look: &mut Look<'_>) {
    if look.wants(Code::DevicesUnlisted) {
        devices_unlisted(look);
    }
    if !look.wants_any(&CODES) {
        return;
    }
    let stages = stages(look);
    let mut of_nodes: BTreeMap<&Str, Vec<PodStage<'_>>> = BTreeMap::new();
    for found in stages.all() {
        of_pod(look, &stages, &found);
        if let Some(Cause::NodeSilent { .. } | Cause::NodeNotReady { .. }) =
            found.stuck.as_ref().map(|stuck| &stuck.cause)
            && let Some(node) = found.pod.node()
        {
            of_nodes.entry(node).or_default().push(found);
        }
    }
    for (node, pods) in of_nodes {
        of_node(look, &stages, node, &pods);
    }
}

/// Pods that a node keeps which is not ready.
fn of_node(look: &mut Look<'_>, stages: &Stages<'_>, node: &Str, pods: &[PodStage<'_>]) {
    let Some((first, stuck)) = pods
        .first()
        .and_then(|first| Some((first, first.stuck.as_ref()?)))
    else {
        return;
    };
    let Some(metadata) = look.cluster.node(node).map(|node| &node.metadata) else {
        return;
    };
    let names = |ends: bool| -> Vec<String> {
        let pods = pods
            .iter()
            .filter(|found| (found.stage == Stage::Unpreparing) == ends);
        pods.map(|found| format!("pod/{}", found.pod.key())).collect()
    };
    let kept = [(names(false), "start"), (names(true), "end")];
    let kept = kept.iter().filter(|(names, _)| !names.is_empty());
    let kept: Vec<String> = kept
        .map(|(names, what)| {
            let count = counted(names.len(), "pod with devices does", "pods with devices do");
            format!("{count} not {what} there: {}", some(names))
        })
        .collect();
    let message = format!("{}. {}", cause_of_node(&stuck.cause), kept.join(". "));
    let mut finding = Finding::new(Code::NodeNotReady, Subject::of(Kind::Node, metadata), message)
        .joins([scoped_key(Kind::Node, node)])
        .joins(pods.iter().map(|found| pod_key(found.pod.key())));
    if let Some(advice) = advise(stages, first) {
        finding = finding.remedy(advice.remedy);
        finding.look = advice.look;
    }
    look.add(finding);
}

/// Pods on a node with devices that none of their containers gets.
fn devices_unlisted(look: &mut Look<'_>) {
    let placed = |pod: &&Arc<Pod>| pod.node().is_some() && !pod.is_terminal() && !pod.metadata.is_deleting();
    for pod in look.cluster.pods().filter(placed) {
        let mut found = unlisted(look.cluster, pod);
        // Some requests of a claim may be there for what the others need beside them.
        found.retain(|one| !matches!(one.why, Unlisted::Request(_)));
        let Some(first) = found.first() else { continue };
        let texts: Vec<String> = found.iter().map(unlisted_text).collect();
        let is_right = found.iter().all(|one| one.is_of_network);
        let advice = match first.why {
            Unlisted::NoSuchRequest { .. } => {
                "name a request that the claim has in the pod's containers, and recreate the pod"
            }
            _ => {
                "list the claim under resources.claims of the container that needs the devices, and recreate the pod"
            }
        };
        look.add(
            Finding::new(
                Code::DevicesUnlisted,
                Subject::of(Kind::Pod, &pod.metadata),
                texts.join("; "),
            )
            .severity(if is_right {
                Severity::Info
            } else {
                Severity::Warning
            })
            .advice(advice)
            .joins([pod_key(pod.key())])
            .joins(found.iter().map(|one| claim_key(one.claim.clone()))),
        );
    }
}

/// The stages of the pods that are looked at.
pub(super) fn stages<'a>(look: &Look<'a>) -> Stages<'a> {
    if look.in_part {
        Stages::of_part(look.cluster, look.now)
    } else {
        Stages::of(look.cluster, look.now)
    }
}

/// The code of what keeps the pod; nothing for what other families tell.
fn code_of(found: &PodStage<'_>) -> Option<Code> {
    let cause = &found.stuck.as_ref()?.cause;
    Some(match cause {
        // A driver without a pod that keeps one from ending is told as `driver-gone`.
        Cause::DriverNotRegistered {
            plugin: Plugin::None { .. },
            ..
        } if found.pod.metadata.is_deleting() => return None,
        Cause::DriverNotRegistered { .. } => Code::DriverNotRegistered,
        Cause::DriverFails { .. } | Cause::DriverDown { .. } | Cause::PrepareRefused { .. } => {
            Code::PrepareRefused
        }
        Cause::EarlierClaim { .. }
        | Cause::BeingUnprepared { .. }
        | Cause::PreparedForDeletedClaim { .. } => Code::ClaimStillPrepared,
        Cause::DevicesUnresolvable { .. } | Cause::PreparationForgotten { .. } => Code::DevicesLost,
        Cause::UnprepareFails { .. } => Code::UnprepareFails,
        Cause::KubeletTooOld { .. } => Code::KubeletTooOld,
        Cause::ClaimUnreadable { .. }
        | Cause::VolumesNotMounted { .. }
        | Cause::NetworkNotReady { .. }
        | Cause::SandboxFails { .. }
        | Cause::RuntimeDown { .. }
        | Cause::KillFails { .. }
        | Cause::Unrecognized { .. } => Code::StartUnexplained,
        Cause::PodFailed { reason, .. } if is_refusal(reason) => Code::StartUnexplained,
        Cause::Finalizers(_) => Code::DeletionStuck,
        // Those of containers say nothing of devices.
        Cause::ContainerNotStarted(..)
        | Cause::ContainerEnds(..)
        | Cause::PodFailed { .. }
        | Cause::Claim(_)
        | Cause::DeviceNotPublished { .. }
        | Cause::DeviceUnhealthy { .. }
        // Told of the node, with all its pods.
        | Cause::NodeSilent { .. }
        | Cause::NodeNotReady { .. }
        | Cause::Binding { .. } => return None,
    })
}

fn of_pod(look: &mut Look<'_>, stages: &Stages<'_>, found: &PodStage<'_>) {
    let Some((code, stuck)) = code_of(found).zip(found.stuck.as_ref()) else {
        return;
    };
    let pod = found.pod;
    let node = pod.node().map_or("", |node| node.as_str());
    let what = match found.stage {
        Stage::Gone if matches!(stuck.cause, Cause::PodFailed { .. }) => format!("has failed on node {node}"),
        Stage::Gone => "is not gone".to_owned(),
        Stage::Unpreparing | Stage::Running => format!("does not end on node {node}"),
        _ => format!("does not start on node {node}"),
    };
    let since = match stuck.since {
        Some(since) if stuck.times() == 1 => format!(" (since {since})"),
        _ => String::new(),
    };
    let message = format!("{what}: {}{since}", stuck_text(stuck, pod));
    let mut finding = Finding::new(code, Subject::of(Kind::Pod, &pod.metadata), message);
    if let Some(advice) = advise(stages, found) {
        finding = finding.remedy(advice.remedy);
        finding.look = advice.look;
    }
    let claims = stages.claims(pod).map(|claim| claim_key(claim.key()));
    look.add(finding.joins([pod_key(pod.key())]).joins(claims));
}
