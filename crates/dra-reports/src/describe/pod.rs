//! What is known about a pod as far as devices go.

use std::sync::Arc;

use serde::Serialize;

use super::claim::{EvictionItem, eviction};
use super::events::{EventItem, events};
use super::identity::{ConditionItem, Identity};
use super::words;
use crate::stage::{StageItem, unlisted_text};
use crate::{HealthReport, Warnings};
use dra_model::{Claim, Cluster, Key, Kind, Pod, PodClaim, Str, Time};
use dra_rules::eviction::{Release, evicting_claims};
use dra_rules::kubelet::Stages;
use dra_rules::reservation::{
    ClaimName, ClaimState, PodGroups, Unusable, claim_name, is_reserved_for, unlisted,
};
use dra_rules::simulation::DeviceReference;

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct PodDescription {
    /// Name and the like.
    #[serde(flatten)]
    pub identity: Identity,
    /// Where it runs.
    pub node: Option<Str>,
    /// `Pending`, `Running`, `Succeeded`, `Failed`.
    pub phase: Str,
    /// The group that it is a member of.
    pub pod_group: Option<Str>,
    /// Those that say something about scheduling and eviction.
    pub conditions: Vec<ConditionItem>,
    /// Its claims, in the order of the spec; the one for extended resources last.
    pub claims: Vec<PodClaimDescription>,
    /// Containers that use claims.
    pub containers: Vec<ContainerItem>,
    /// What the kubelet reports of its devices.
    pub health_reports: Vec<HealthReport>,
    /// How far it is on its node, and what keeps it there; absent for one without claims, and for one that has yet to get devices.
    pub stage: Option<StageItem>,
    /// Oldest first. Absent when they could not be read.
    pub events: Option<Vec<EventItem>>,
    /// The time that ages count from.
    #[serde(skip)]
    pub now: Time,
    /// What is unknown.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// One claim of a pod.
#[macro_rules_attribute::apply(report)]
#[derive(Default)]
pub struct PodClaimDescription {
    /// Name within the pod. Absent for the claim that stands for extended resources.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub entry: Str,
    /// The template that it is created from.
    pub template: Option<Str>,
    /// The claim.
    pub claim: Option<Str>,
    /// What `kubectl get resourceclaims` shows. Absent when the claim does not exist.
    pub state: Option<ClaimState>,
    /// What keeps the pod from using it.
    pub problem: Option<String>,
    /// The entry that reserves the claim for the pod.
    pub reserved: Option<Reserved>,
    /// Its devices.
    pub devices: Vec<DeviceReference>,
    /// When kube-controller-manager evicts the pod because of taints on them.
    pub eviction: Option<EvictionItem>,
}

/// The entry that reserves a claim for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum Reserved {
    /// The pod's own.
    Pod,
    /// Its group's, which counts where the gate `DRAWorkloadResourceClaims` is on.
    PodGroup,
    /// By none.
    No,
}

/// A container and the claims that it uses.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ContainerItem {
    /// Its name.
    pub name: Str,
    /// `CLAIM` or `CLAIM/REQUEST`, with the claim's name within the pod; for extended resources `RESOURCE -> REQUEST`.
    pub claims: Vec<String>,
}

/// Kinds that the description needs.
pub const POD_NEEDS: [Kind; 8] = [
    Kind::Node,
    Kind::Pod,
    Kind::PodGroup,
    Kind::ResourceClaimTemplate,
    Kind::ResourceClaim,
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::Event,
];

/// Describes the pod `key`, if it exists.
pub fn pod(cluster: &Cluster, key: &Key, now: Time) -> Option<PodDescription> {
    let pod = cluster.pod(key)?;
    let mut warnings = Warnings::default();
    warnings.unknown_in(cluster, &key.namespace, &words::UNKNOWN_OF_POD);
    let mut claims: Vec<_> = pod
        .spec
        .resource_claims
        .iter()
        .map(|entry| of_entry(cluster, pod, entry, now))
        .collect();
    if let Some(name) = ClaimName::of_extended_resources(pod) {
        claims.push(of_claim(cluster, pod, name, now));
    }
    for missed in unlisted(cluster, pod)
        .iter()
        .filter(|missed| !missed.is_of_network)
    {
        let mut same = claims.iter_mut().filter(|claim| claim.entry == missed.entry);
        if let Some(claim) = same.find(|claim| claim.problem.is_none()) {
            claim.problem = Some(unlisted_text(missed));
        }
    }
    let health_reports = health_reports(pod);
    let stages = Stages::of_part(cluster, now);
    let stage = stages.pod(pod).map(|found| StageItem::of(&stages, &found));
    Some(PodDescription {
        identity: Identity::of(&pod.metadata),
        node: pod.node().cloned(),
        phase: pod.status.phase.clone(),
        pod_group: pod.pod_group().cloned(),
        conditions: pod.status.conditions.iter().map(ConditionItem::of).collect(),
        claims,
        containers: containers(pod),
        health_reports,
        stage,
        events: events(cluster, Kind::Pod, &pod.metadata, &mut warnings),
        now,
        warnings,
    })
}

fn of_entry(cluster: &Cluster, pod: &Pod, entry: &PodClaim, now: Time) -> PodClaimDescription {
    let description = match claim_name(pod, entry) {
        Ok(name) => of_claim(cluster, pod, name, now),
        Err(why) => PodClaimDescription {
            problem: Some(why.to_string()),
            ..PodClaimDescription::default()
        },
    };
    PodClaimDescription {
        entry: entry.name.clone(),
        template: entry.resource_claim_template_name.clone(),
        ..description
    }
}

fn of_claim(cluster: &Cluster, pod: &Pod, name: ClaimName<'_>, now: Time) -> PodClaimDescription {
    let Some(key) = name.key() else {
        return PodClaimDescription {
            problem: Some(words::NO_CLAIM_NEEDED.to_owned()),
            ..PodClaimDescription::default()
        };
    };
    let named = PodClaimDescription {
        claim: Some(key.name.clone()),
        ..PodClaimDescription::default()
    };
    let Some(claim) = cluster.claim(&key) else {
        let unread = cluster.gap(Kind::ResourceClaim, &key.namespace).is_some();
        // What was made for a pod goes once the pod has finished.
        let is_missing = !unread && !pod.is_terminal();
        let problem = is_missing.then(|| words::claim_not_found(&key));
        return PodClaimDescription { problem, ..named };
    };
    let release = cluster.environment().release();
    let has_node = pod.node().is_some();
    let problem = match Unusable::of(pod, &name, claim, PodGroups::Accepted) {
        Some(Unusable::NotOwned(why)) => Some(why.text_in(&release)),
        // A pod without a node has yet to get it, and one that has finished needs it no more.
        Some(why) if has_node && !pod.is_terminal() => Some(words::unusable(&key, &why, pod)),
        _ if claim.metadata.is_deleting() && !has_node => Some(words::claim_is_deleting(&key)),
        _ => None,
    };
    let reserved = claim.status.allocation.is_some().then(|| reserved(pod, claim));
    let release = Release {
        groups: PodGroups::Accepted,
        ..Release::of(cluster.environment())
    };
    let evictable = evicting_claims(cluster, pod, release).any(|found| Arc::ptr_eq(found, claim));
    PodClaimDescription {
        state: Some(ClaimState::of(claim)),
        reserved,
        problem,
        devices: claim
            .results()
            .iter()
            .map(|result| DeviceReference::from(result.id()))
            .collect(),
        eviction: evictable.then(|| eviction(cluster, claim, now)).flatten(),
        ..named
    }
}

fn reserved(pod: &Pod, claim: &Claim) -> Reserved {
    if is_reserved_for(pod, claim, PodGroups::Ignored) {
        Reserved::Pod
    } else if is_reserved_for(pod, claim, PodGroups::Accepted) {
        Reserved::PodGroup
    } else {
        Reserved::No
    }
}

fn containers(pod: &Pod) -> Vec<ContainerItem> {
    let all = pod.spec.init_containers.iter().chain(&pod.spec.containers);
    all.filter_map(|container| {
        let mut claims: Vec<String> = container
            .resources
            .claims
            .iter()
            .map(|claim| {
                if claim.request.is_empty() {
                    claim.name.to_string()
                } else {
                    format!("{}/{}", claim.name, claim.request)
                }
            })
            .collect();
        let extended = pod.status.extended_resource_claim_status.iter();
        let mappings = extended.flat_map(|status| &status.request_mappings);
        claims.extend(
            mappings
                .filter(|mapping| mapping.container_name == container.name)
                .map(|mapping| format!("{} -> {}", mapping.resource_name, mapping.request_name)),
        );
        (!claims.is_empty()).then(|| ContainerItem {
            name: container.name.clone(),
            claims,
        })
    })
    .collect()
}

/// What the kubelet reports in the pod.
fn health_reports(pod: &Pod) -> Vec<HealthReport> {
    let mut reports = Vec::new();
    for container in &pod.status.container_statuses {
        for status in &container.allocated_resources_status {
            for resource in &status.resources {
                reports.push(HealthReport::of_resource(
                    resource,
                    words::of_container(&container.name, &status.name, &resource.resource_id),
                ));
            }
        }
    }
    reports
}
