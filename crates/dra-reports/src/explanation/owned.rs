//! What makes pods: its pods are explained, and where it has none, why.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::diagnosis::{Answer, Diagnosis, NoPods};
use super::fact::{Often, Speaker, Word};
use super::items::ClusterVerdict;
use super::{explain_pod, words};
use crate::allocation::{Settings, Target};
use dra_model::{Cluster, Key, Owner, OwnerReference, Pod, Str};
use dra_rules::owners::{KUEUE, Lineage, OwnerName, Queued, refused_last};

/// Pods of one owner that are explained until one is found that waits.
const MOST_PODS: usize = 200;

/// What makes pods, as it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerTarget {
    /// Its kind, in any case, or its plural.
    pub kind: String,
    /// Its name.
    pub key: Key,
}

impl OwnerTarget {
    fn is(&self, kind: &str, name: &str) -> bool {
        let plain = self
            .kind
            .split('.')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let kind = kind.to_ascii_lowercase();
        let is_kind = plain == kind || plain.strip_suffix('s') == Some(&kind);
        is_kind && self.key.name == name
    }

    /// The objects of that kind and name that the source has.
    fn known<'c>(&self, cluster: &'c Cluster) -> Option<&'c Owner> {
        let owners = &cluster.environment().owners;
        let mut found = owners.iter().filter(|owner| {
            owner.key.namespace == self.key.namespace && self.is(&owner.kind, &owner.key.name)
        });
        found.next()
    }

    /// The same as pods refer to it.
    fn referred(&self, cluster: &Cluster) -> Option<OwnerReference> {
        let pods = cluster
            .pods()
            .filter(|pod| pod.metadata.namespace == self.key.namespace);
        let mut references = pods.flat_map(|pod| Lineage::of_pod(cluster, pod).references());
        references.find(|reference| self.is(&reference.kind, &reference.name))
    }
}

/// Explains what makes pods: the first of its pods that waits, or why it has none. Nothing where neither it nor a pod of it is there.
pub fn explain_owner(cluster: &Cluster, target: &OwnerTarget, settings: &Settings<'_>) -> Option<Diagnosis> {
    let known = target.known(cluster);
    // A Workload of Kueue stands for what it is owned by.
    let made_by = known
        .filter(|owner| owner.group == KUEUE)
        .and_then(|owner| owner.references.first());
    let reference = match (made_by, known) {
        (Some(owner), _) => owner.clone(),
        (None, Some(owner)) => owner.reference(),
        (None, None) => target.referred(cluster)?,
    };
    let namespace = &target.key.namespace;
    let is_of_it = |pod: &&Arc<Pod>| {
        pod.metadata.namespace == *namespace
            && (reference.uid == pod.metadata.uid && reference.kind == "Pod"
                || Lineage::of_pod(cluster, pod).has(&reference, namespace))
    };
    let pods: Vec<&Arc<Pod>> = cluster.pods().filter(is_of_it).collect();
    let Some((last, others)) = pods.split_last() else {
        return known.map(|owner| without_pods(cluster, owner));
    };
    let is_fine = |report: &Diagnosis| {
        matches!(
            report.verdict(),
            ClusterVerdict::Bound | ClusterVerdict::Fits | ClusterVerdict::Ended
        )
    };
    let waiting = others
        .iter()
        .take(MOST_PODS)
        .map(|pod| explain_pod(cluster, pod, settings));
    let mut waiting = waiting.filter(|report| !is_fine(report));
    let mut report = waiting
        .next()
        .unwrap_or_else(|| explain_pod(cluster, last, settings));
    if pods.len() > 1 {
        let name = OwnerName {
            kind: reference.kind.clone(),
            name: reference.name.clone(),
        };
        let looked_at = others.len().min(MOST_PODS) + 1;
        let is_fine = is_fine(&report);
        report
            .notes
            .push(words::one_of_pods(&name, pods.len(), looked_at, is_fine));
    }
    Some(report)
}

/// Why an owner has no pods.
fn without_pods(cluster: &Cluster, owner: &Owner) -> Diagnosis {
    let mut report = Diagnosis::new(Target::owner(&owner.kind, &owner.key));
    let name = OwnerName {
        kind: owner.kind.clone(),
        name: owner.key.name.clone(),
    };
    let why = why_no_pods(cluster, owner);
    if let NoPods::Queued(queued) = &why {
        report.fixes.push(super::gates::requeued(queued));
    }
    report.conclude(Answer::NoPods(name, why));
    report
}

fn why_no_pods(cluster: &Cluster, owner: &Owner) -> NoPods {
    if let Some(queued) = Queued::of_owner(cluster, owner) {
        return NoPods::Queued(queued);
    }
    let ended = ["Complete", "Failed", "Finished"];
    if let Some(condition) = ended.iter().find_map(|type_| owner.condition(type_, "True")) {
        return NoPods::Ended(condition.into());
    }
    if owner.is_suspended {
        return NoPods::Suspended;
    }
    if owner.replicas == Some(0) {
        return NoPods::Zero;
    }
    // A Deployment has ReplicaSets make its pods, a CronJob Jobs.
    let below = cluster.environment().owners.owned_by(owner);
    let makers: Vec<&Owner> = std::iter::once(owner).chain(below).collect();
    let events = makers.iter().flat_map(|maker| cluster.events_of_owner(maker));
    if let Some(event) = refused_last(events) {
        let component = event.component();
        return NoPods::Refused(Word {
            who: Speaker::Component(if component.is_empty() {
                owner.kind.clone()
            } else {
                component.clone()
            }),
            said: event.message.trim().to_owned(),
            at: event.last_seen(),
            often: Often::of(event),
        });
    }
    let wrong = [
        ("ReplicaFailure", "True"),
        ("Unschedulable", "True"),
        ("Progressing", "False"),
        ("Available", "False"),
    ];
    let mut said = makers
        .iter()
        .flat_map(|maker| wrong.iter().map(move |what| (maker, what)));
    match said.find_map(|(maker, (type_, status))| maker.condition(type_, status)) {
        Some(condition) => NoPods::Says(condition.into()),
        None => NoPods::Unknown,
    }
}

/// What would make pods with claims in `namespace`, or in all, and has none since it is held back; each says why.
pub(crate) fn unmade_owners(cluster: &Cluster, namespace: Option<&Str>) -> Vec<Diagnosis> {
    let owners = &cluster.environment().owners;
    let makes_pods = |owner: &&Owner| {
        let is_in = namespace.is_none_or(|namespace| *namespace == owner.key.namespace);
        // A Workload of Kueue stands for what it is owned by, where that was not read.
        let is_of_others = if owner.group == KUEUE {
            let mut makers = owner.references.iter();
            makers.any(|maker| maker.kind == "Pod" || owners.find(maker, &owner.key.namespace).is_some())
        } else {
            owner.controller.is_some()
        };
        is_in && owner.has_claims && !is_of_others
    };
    let owners: Vec<&Owner> = owners.iter().filter(makes_pods).collect();
    if owners.is_empty() {
        return Vec::new();
    }
    let mut have_pods: BTreeSet<(Str, Str, Str)> = BTreeSet::new();
    for pod in cluster.pods() {
        let above = Lineage::of_pod(cluster, pod).references().into_iter();
        have_pods.extend(above.map(|owner| (owner.kind, pod.metadata.namespace.clone(), owner.name)));
    }
    let is_unmade = |owner: &Owner| {
        let Key { namespace, name } = owner.key.clone();
        let of = owner.references.first().filter(|_| owner.group == KUEUE);
        let (kind, name) = of.map_or((owner.kind.clone(), name), |of| {
            (of.kind.clone(), of.name.clone())
        });
        !have_pods.contains(&(kind, namespace, name))
    };
    let unmade = owners.into_iter().filter(|owner| is_unmade(owner));
    let explained = unmade.map(|owner| without_pods(cluster, owner));
    explained
        .filter(|report| report.verdict() == ClusterVerdict::Waits)
        .collect()
}
