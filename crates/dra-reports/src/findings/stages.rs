//! Pods that do not start or terminate on their node because of their devices, by their stage.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::finding::{Subject, claim_key, pod_key, scoped_key};
use super::{Code, Finding, Look, Severity, words};
use crate::remedy::Remedy;
use crate::stage::{advise, unlisted_text};
use dra_model::{Key, Kind, Pod, Str};
use dra_rules::kubelet::{Cause, Due, Plugin, PodStage, Stage, Stages};
use dra_rules::reservation::{Unlisted, unlisted};

/// The codes of this family.
const CODES: [Code; 12] = [
    Code::DriverNotRegistered,
    Code::PrepareRefused,
    Code::ClaimStillPrepared,
    Code::DevicesLost,
    Code::UnprepareFails,
    Code::KubeletTooOld,
    Code::StartUnexplained,
    Code::NodeNotReady,
    Code::ContainerNotRunning,
    Code::DeletionStuck,
    Code::EvictionOverdue,
    Code::PodOnOtherNode,
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
        // A container that ends may lack its device, and one that runs too.
        if let Some(Cause::ContainerEnds(..)) = found.stuck.as_ref().map(|stuck| &stuck.cause)
            && let Some(stuck) = stages.lags_behind(found.pod)
        {
            let stuck = Some(stuck);
            of_pod(
                look,
                &stages,
                &PodStage {
                    stuck,
                    ..found.clone()
                },
            );
        }
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

/// Pods on a node that is not ready.
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
    let keys = |is: fn(&Stage) -> bool| -> Vec<Key> {
        let pods = pods.iter().filter(|found| is(&found.stage));
        pods.map(|found| found.pod.key()).collect()
    };
    let starting = keys(|stage| !matches!(stage, Stage::Unpreparing | Stage::Running));
    let running = keys(|stage| *stage == Stage::Running);
    let terminating = keys(|stage| *stage == Stage::Unpreparing);
    let message = words::node_keeps(stuck, &starting, &running, &terminating);
    let finding = Finding::new(Code::NodeNotReady, Subject::of(Kind::Node, metadata), message)
        .joins([scoped_key(Kind::Node, node)])
        .joins(pods.iter().map(|found| pod_key(found.pod.key())));
    look.add(advised(finding, stages, first));
}

/// The finding with what lets the pod continue.
fn advised(finding: Finding, stages: &Stages<'_>, found: &PodStage<'_>) -> Finding {
    let Some(advice) = advise(stages, found) else {
        return finding;
    };
    // A command says what to do.
    let remedy = match advice.remedy {
        by_hand @ Remedy { command: None, .. } => {
            let what = Remedy::by_hand(advice.message);
            by_hand.notes.into_iter().fold(what, Remedy::note)
        }
        command => command,
    };
    Finding {
        look: advice.look,
        ..finding.remedy(remedy)
    }
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
        let advice = words::list_claim(matches!(first.why, Unlisted::NoSuchRequest { .. }));
        look.add(
            Finding::new(Code::DevicesUnlisted, Subject::pod(pod), texts.join("; "))
                .warning_if(!is_right)
                .advice(advice)
                .joins([pod_key(pod.key())])
                .joins(found.iter().map(|one| claim_key(one.claim.clone()))),
        );
    }
}

/// The stages of the pods that are looked at.
pub(super) fn stages<'a>(look: &Look<'a>) -> Stages<'a> {
    if look.request.in_part {
        Stages::of_part(look.cluster, look.request.now)
    } else {
        Stages::of(look.cluster, look.request.now)
    }
}

/// The code of what keeps the pod; nothing for what other families report.
fn code_of(found: &PodStage<'_>) -> Option<Code> {
    let cause = &found.stuck.as_ref()?.cause;
    Some(match cause {
        // A driver without a pod that keeps one from terminating is reported as `driver-gone`.
        Cause::DriverNotRegistered {
            plugin: Plugin::None { .. },
            ..
        } if found.pod.metadata.is_deleting() => return None,
        Cause::DriverNotRegistered { .. } => Code::DriverNotRegistered,
        Cause::DriverFails { .. }
        | Cause::DriverDown { .. }
        | Cause::PrepareRefused { .. }
        | Cause::NodesMissing { .. } => Code::PrepareRefused,
        Cause::EarlierClaim { .. }
        | Cause::BeingUnprepared { .. }
        | Cause::PreparedForDeletedClaim { .. }
        | Cause::PreparedForOtherClaim { .. } => Code::ClaimStillPrepared,
        Cause::DevicesUnresolvable { .. } | Cause::PreparationForgotten { .. } => Code::DevicesLost,
        Cause::UnprepareFails { .. } => Code::UnprepareFails,
        Cause::KubeletTooOld { .. } | Cause::ClaimSkipped { .. } => Code::KubeletTooOld,
        Cause::ClaimUnreadable { .. }
        | Cause::VolumesNotMounted { .. }
        | Cause::NetworkNotReady { .. }
        | Cause::SandboxFails { .. }
        | Cause::RuntimeDown { .. }
        | Cause::KillFails { .. }
        | Cause::ContainersNotStopped
        | Cause::NotRemoved
        | Cause::ClaimNeverMade { .. }
        | Cause::Unrecognized { .. } => Code::StartUnexplained,
        Cause::PodFailed { .. } if found.is_stuck() => Code::StartUnexplained,
        Cause::Finalizers(_) => Code::DeletionStuck,
        Cause::NodeGone { .. } => Code::PodOnOtherNode,
        Cause::ToBeEvicted { due: Due::Overdue(_) | Due::Unserved(_), .. } => Code::EvictionOverdue,
        Cause::ContainerNotStarted(..)
        | Cause::ImageVolumeNotPulled { .. }
        | Cause::ContainerEnds(..)
        | Cause::NotInjected { .. }
        | Cause::ProbeFails { .. } => Code::ContainerNotRunning,
        // It is only slow.
        Cause::OwnershipChanges { .. }
        // It has ended, and its owner knows.
        | Cause::PodFailed { .. }
        | Cause::Claim(_)
        | Cause::DeviceNotPublished { .. }
        | Cause::DeviceUnhealthy { .. }
        // `taints` and `simulate eviction` list what is to be evicted.
        | Cause::ToBeEvicted { .. }
        | Cause::ContainersLeft { .. }
        | Cause::NotReady { .. }
        // Reported for the node, with all its pods.
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
    let has_failed = matches!(stuck.cause, Cause::PodFailed { .. });
    let message = words::pod_is_stuck(found, stuck, has_failed);
    let mut finding = Finding::new(code, Subject::pod(pod), message);
    if matches!(
        stuck.cause,
        Cause::NodeGone { .. } | Cause::KubeletTooOld { is_told: false, .. }
    ) {
        finding = finding.severity(Severity::Warning);
    }
    if stages.is_passing(found) {
        finding = finding.severity(Severity::Info);
    }
    let claims = stages.claims(pod).map(|claim| claim_key(claim.key()));
    let finding = advised(finding, stages, found);
    look.add(finding.joins([pod_key(pod.key())]).joins(claims));
}
