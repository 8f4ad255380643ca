//! What makes pods: its pods are explained, and where it has none, why.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::diagnosis::{Answer, Diagnosis, NoPods, Overdue};
use super::fact::{Speaker, Word};
use super::items::{ClusterVerdict, FixItem};
use super::{explain_pod, failing_end, words};
use crate::allocation::{Settings, Target};
use crate::stage::StageFact;
use dra_model::{Cluster, Condition, Event, Key, Owner, OwnerReference, Pod, Str, Time};
use dra_rules::kubelet::{Stages, is_ready, is_refusal};
use dra_rules::owners::{KUEUE, Lineage, OwnerName, Queued, complaint, refused_last};

/// Pods of one owner that are explained until one is found that waits.
const MOST_PODS: usize = 200;

/// Pods after it that are explained, to count those with a problem.
const MOST_TROUBLED: usize = 20;

/// What makes pods, as it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerTarget {
    /// Its kind, in any case, its plural, or the initials of its words.
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
        // The short name of most kinds of several words: `vmi` of VirtualMachineInstance.
        let mut initials: String = kind.chars().filter(char::is_ascii_uppercase).collect();
        initials.make_ascii_lowercase();
        if initials.len() < 2 {
            initials.clear();
        }
        let kind = kind.to_ascii_lowercase();
        let is_kind = [plain.as_str(), plain.strip_suffix('s').unwrap_or_default()]
            .iter()
            .any(|word| *word == kind || !initials.is_empty() && *word == initials);
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
        let pods = cluster.pods_in(&self.key.namespace);
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
        reference.uid == pod.metadata.uid && reference.kind == "Pod"
            || Lineage::of_pod(cluster, pod).has(&reference, namespace)
    };
    let mut pods: Vec<&Arc<Pod>> = cluster.pods_in(namespace).filter(is_of_it).collect();
    let active = pods.iter().filter(|pod| is_active(pod)).count();
    let mut leaving = pods.clone();
    leaving.retain(|pod| pod.metadata.is_deleting() && !pod.is_terminal());
    // What has ended, or is being deleted, is over where others are there. Of a rollout, the new pods matter.
    pods.retain(|pod| active == 0 || is_active(pod));
    let is_complete = known.is_some_and(|owner| owner.condition("Complete", "True").is_some());
    pods.sort_by_key(|pod| {
        let has_succeeded = is_complete && pod.status.phase == "Succeeded";
        (!has_succeeded, Reverse(pod.metadata.creation_timestamp))
    });
    let Some(first) = pods.first() else {
        return known.map(|owner| without_pods(cluster, owner));
    };
    if let Some(failed) = known.and_then(|owner| failed_pods(cluster, owner, active, settings.now)) {
        return Some(failed);
    }
    let is_fine = |report: &Diagnosis| {
        matches!(
            report.verdict(),
            ClusterVerdict::Bound | ClusterVerdict::Fits | ClusterVerdict::Ended
        )
    };
    let mut report = explain_pod(cluster, first, settings);
    let mut others = pods.iter().skip(1).take(MOST_PODS);
    let explained = |pod: &&Arc<Pod>| explain_pod(cluster, pod, settings);
    if is_fine(&report) && !is_complete {
        let mut others = others.by_ref().map(explained);
        report = others.find(|other| !is_fine(other)).unwrap_or(report);
    }
    // A StatefulSet makes no other pod of the name before one is gone, and others may be short of it meanwhile.
    let is_missed = reference.kind == "StatefulSet" || known.is_some_and(|owner| is_short(owner, active));
    let awaited = active > 0 && is_missed && is_fine(&report);
    let mut leaving = leaving
        .iter()
        .take(MOST_TROUBLED)
        .filter(|_| awaited)
        .map(explained);
    let stays = leaving.find(|other| !is_fine(other));
    let is_leaving = stays.is_some();
    report = stays.unwrap_or(report);
    let troubled = if is_fine(&report) {
        0
    } else {
        let others = others.take(MOST_TROUBLED).map(explained);
        1 + others.filter(|other| !is_fine(other)).count()
    };
    let name = OwnerName::from(&reference);
    if let Some(owner) = known {
        if let Some(fewer) = fewer_pods(cluster, owner, active) {
            if is_fine(&report) {
                return Some(fewer);
            }
            report.notes.push(words::why(&fewer.why()));
        } else if is_short(owner, active)
            && owner.kind == "StatefulSet"
            && owner.in_order != Some(false)
            && !is_leaving
            && (!is_fine(&report) || !pods.iter().all(|pod| is_ready(pod)))
        {
            let note = match pods.first().filter(|pod| pod.metadata.is_deleting()) {
                Some(last) => words::replacement(&name, active, owner.replicas, &last.metadata.name),
                None => words::next_pod(&name, active, owner.replicas, owner.in_order),
            };
            report.notes.push(note);
        }
        let ended = ended(owner).map(|condition| words::owner_ended(&name, condition));
        report.notes.extend(ended);
        let failures = owner
            .failed
            .zip(last_of(cluster, owner, |pod| pod.status.phase == "Failed"));
        report.notes.extend(
            failures.map(|((failed, _), last)| words::failures(&name, failed, last, &owner.failed_indexes)),
        );
    }
    // What makes a pod that runs may fail at what it is for.
    let makers = known.map(|owner| makers(cluster, owner)).unwrap_or_default();
    let mut complaints = makers
        .iter()
        .filter_map(|maker| complaint(maker, &cluster.events_of_owner(maker)).map(|event| (*maker, event)));
    if report.answer.runs()
        && let Some((maker, event)) = complaints.next()
    {
        report.complain(word_about(maker, event));
    }
    // One that fits may have been pending for long.
    if pods.len() > 1 && report.verdict() != ClusterVerdict::Fits {
        let looked_at = pods.len().min(MOST_PODS + 1);
        report
            .notes
            .push(words::one_of_pods(&name, pods.len(), looked_at, troubled));
    }
    Some(report)
}

/// Why a Job without active pods, whose last pod has failed, is not over.
fn failed_pods(cluster: &Cluster, owner: &Owner, active: usize, now: Time) -> Option<Diagnosis> {
    let (failed, limit) = owner.failed.filter(|(failed, limit)| failed <= limit)?;
    if active > 0 || owner.is_suspended || ended(owner).is_some() {
        return None;
    }
    let last = last_of(cluster, owner, |_| true)?;
    if last.status.phase != "Failed" {
        return None;
    }
    let mut report = Diagnosis::new(Target::owner(&owner.kind, &owner.key));
    let is_rejected = last
        .status
        .reason
        .as_ref()
        .is_some_and(|reason| is_refusal(reason));
    let stages = is_rejected.then(|| Stages::of(cluster, now));
    let stuck = stages.as_ref().and_then(|stages| stages.pod(last)?.stuck);
    let rejected = stuck.map(|stuck| Box::new(StageFact::of(&stuck, last)));
    let fix = FixItem::failing_pods(&last.key(), rejected.is_some(), last.node());
    report.fixes.push(fix);
    let why = NoPods::Failed {
        failed,
        limit,
        last: last.key(),
        end: failing_end(last),
        rejected,
    };
    report.conclude(Answer::NoPods(OwnerName::from(owner), why));
    Some(report)
}

/// The newest pod of the owner that `is_meant`.
fn last_of<'c>(cluster: &'c Cluster, owner: &Owner, is_meant: impl Fn(&Pod) -> bool) -> Option<&'c Arc<Pod>> {
    let is_own = |pod: &&Arc<Pod>| {
        let made_by = pod.metadata.controller();
        made_by.is_some_and(|maker| owner.is(maker)) && is_meant(pod)
    };
    let pods = cluster.pods_in(&owner.key.namespace).filter(is_own);
    pods.max_by_key(|pod| pod.metadata.creation_timestamp)
}

/// Why an owner has no pods.
fn without_pods(cluster: &Cluster, owner: &Owner) -> Diagnosis {
    let mut report = Diagnosis::new(Target::owner(&owner.kind, &owner.key));
    let name = OwnerName::from(owner);
    let why = why_no_pods(cluster, owner);
    match &why {
        NoPods::Queued(queued) => report.fixes.push(super::gates::requeued(queued)),
        NoPods::Refused(word) => {
            report.fixes.push(FixItem::of_refusal(cluster, owner, &word.said));
        }
        NoPods::Ended(_, Some(_)) => report.fixes.push(FixItem::run_again(&owner.key)),
        _ => {}
    }
    report.conclude(Answer::NoPods(name, why));
    report
}

fn is_active(pod: &Pod) -> bool {
    !pod.is_terminal() && !pod.metadata.is_deleting()
}

/// Returns whether an owner that makes as many pods as it has replicas has fewer.
fn is_short(owner: &Owner, active: usize) -> bool {
    let makes_replicas = matches!(owner.group.as_str(), "apps" | "");
    makes_replicas && owner.replicas.is_some_and(|wanted| wanted > active as i64)
}

/// Why an owner with so many active pods has fewer than its replicas, where it was refused another one.
fn fewer_pods(cluster: &Cluster, owner: &Owner, active: usize) -> Option<Diagnosis> {
    let wanted = owner.replicas.filter(|_| is_short(owner, active))?;
    let word = refused(cluster, owner)?;
    let mut report = Diagnosis::new(Target::owner(&owner.kind, &owner.key));
    let name = OwnerName::from(owner);
    report.fixes.push(FixItem::of_refusal(cluster, owner, &word.said));
    report.conclude(Answer::FewerPods(name, active, wanted, word));
    Some(report)
}

/// The condition of an owner that has ended.
fn ended(owner: &Owner) -> Option<&Condition> {
    let types = ["Complete", "Failed", "Finished"];
    types.iter().find_map(|type_| owner.condition(type_, "True"))
}

/// An owner and what it makes that makes its pods: a Deployment has ReplicaSets do so, a CronJob Jobs.
fn makers<'c>(cluster: &'c Cluster, owner: &'c Owner) -> Vec<&'c Owner> {
    let below = cluster.environment().owners.owned_by(owner);
    std::iter::once(owner).chain(below).collect()
}

/// What was said the last time that a pod was to be made, if it was refused.
fn refused(cluster: &Cluster, owner: &Owner) -> Option<Word> {
    let makers = makers(cluster, owner);
    let events = makers.iter().flat_map(|maker| cluster.events_of_owner(maker));
    refused_last(events).map(|event| word_about(owner, event))
}

/// What an event about an owner, or about what it makes, says.
fn word_about(owner: &Owner, event: &Event) -> Word {
    let component = event.component();
    let who = if component.is_empty() {
        &owner.kind
    } else {
        component
    };
    Word::of(Speaker::Component(who.clone()), event)
}

fn why_no_pods(cluster: &Cluster, owner: &Owner) -> NoPods {
    if let Some(queued) = Queued::of_owner(cluster, owner) {
        return NoPods::Queued(queued);
    }
    if let Some(condition) = ended(owner) {
        return NoPods::Ended(condition.clone(), overdue(cluster, owner, condition));
    }
    if owner.is_suspended {
        return NoPods::Suspended(owner.queue.clone());
    }
    if let Some(by) = &owner.managed_by {
        return NoPods::Managed(by.clone());
    }
    if owner.replicas == Some(0) {
        return NoPods::Zero("replicas");
    }
    if owner.at_once == Some(0) {
        return NoPods::Zero("parallelism");
    }
    if let Some(word) = refused(cluster, owner) {
        return NoPods::Refused(word);
    }
    if let Some(failure) = owner.failure() {
        return NoPods::Ended(failure, None);
    }
    let makers = makers(cluster, owner);
    let wrong = [
        ("Synchronized", "False"),
        ("ReplicaFailure", "True"),
        ("Unschedulable", "True"),
        ("Progressing", "False"),
        ("Available", "False"),
    ];
    let mut said = makers
        .iter()
        .flat_map(|maker| wrong.iter().map(move |what| (maker, what)));
    match said.find_map(|(maker, (type_, status))| maker.condition(type_, status)) {
        Some(condition) => NoPods::Says(condition.clone()),
        None => {
            let events = makers.iter().flat_map(|maker| cluster.events_of_owner(maker));
            let warnings = events.filter(|event| event.type_ == "Warning");
            let last = warnings.max_by_key(|event| (event.last_seen(), event.metadata.key()));
            NoPods::Unknown(last.map(|event| word_about(owner, event)))
        }
    }
}

/// The deadline of a Job, if that has ended it. Events still tell which pods it had, which are gone.
fn overdue(cluster: &Cluster, owner: &Owner, ended: &Condition) -> Option<Overdue> {
    let seconds = owner.deadline.filter(|_| ended.reason == "DeadlineExceeded")?;
    let made = cluster.events_of_owner(owner).into_iter();
    let made: BTreeSet<&str> = made
        .filter_map(|event| event.message.strip_prefix("Created pod: "))
        .collect();
    let of_pods = cluster.events().filter(|event| {
        let object = &event.involved_object;
        object.kind == "Pod" && object.namespace == owner.key.namespace && made.contains(object.name.as_str())
    });
    let (unplaced, placed): (Vec<&Arc<Event>>, Vec<&Arc<Event>>) =
        of_pods.partition(|event| event.reason == "FailedScheduling");
    let last = unplaced.into_iter().max_by_key(|event| event.last_seen());
    let unplaced = last.filter(|_| placed.is_empty()).map(|event| {
        let speaker = Speaker::Component(event.component().clone());
        let pod = Key::new(owner.key.namespace.clone(), event.involved_object.name.clone());
        (pod, Word::of(speaker, event))
    });
    Some(Overdue { seconds, unplaced })
}

/// What would make pods with devices in `namespace`, or in all, and has none or too few since it is held back; each says why. `are_devices` are
/// extended resources.
pub(crate) fn unmade_owners(
    cluster: &Cluster,
    namespace: Option<&Str>,
    now: Time,
    are_devices: impl Fn(&Str) -> bool,
) -> Vec<Diagnosis> {
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
        is_in && (owner.has_claims || owner.extended.iter().any(&are_devices)) && !is_of_others
    };
    let owners: Vec<&Owner> = owners.iter().filter(makes_pods).collect();
    if owners.is_empty() {
        return Vec::new();
    }
    let mut active: BTreeMap<(Str, Str, Str), usize> = BTreeMap::new();
    for pod in cluster.pods() {
        let above = Lineage::of_pod(cluster, pod).references().into_iter();
        for owner in above {
            let key = (owner.kind, pod.metadata.namespace.clone(), owner.name);
            *active.entry(key).or_default() += usize::from(is_active(pod));
        }
    }
    let explained = owners.into_iter().filter_map(|owner| {
        let Key { namespace, name } = owner.key.clone();
        let of = owner.references.first().filter(|_| owner.group == KUEUE);
        let (kind, name) = of.map_or((owner.kind.clone(), name), |of| {
            (of.kind.clone(), of.name.clone())
        });
        match active.get(&(kind, namespace, name)) {
            Some(active) => {
                fewer_pods(cluster, owner, *active).or_else(|| failed_pods(cluster, owner, *active, now))
            }
            None => Some(without_pods(cluster, owner)),
        }
    });
    explained
        .filter(|report| report.verdict() == ClusterVerdict::Waits)
        .collect()
}
