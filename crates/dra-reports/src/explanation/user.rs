//! The pods that use a claim: kube-scheduler allocates it for the first of them that it places, so that the claim waits for what they wait for.

use std::sync::Arc;

use super::bound::{former_users, told_by_drivers};
use super::diagnosis::{Answer, Diagnosis, NoNeed};
use super::items::Holding;
use super::{explain_claims, explain_pod, words};
use crate::allocation::{Fit, Settings, Units, alone};
use dra_model::{Claim, Cluster, Key, Kind, Pod, Time};
use dra_rules::kubelet::Stages;
use dra_rules::reservation::{Next, PodGroups, is_done, is_reserved_for, lost_pod, resolves_to, unmade};
use dra_rules::scheduling::{Readiness, readiness};

/// Pods with one claim that are looked at for one that can be placed.
const MOST_USERS: usize = 8;

/// Explains a claim, which is in `cluster`: by the pod that it waits for, if it does.
pub fn explain_claim(cluster: &Cluster, claim: &Arc<Claim>, settings: &Settings<'_>) -> Diagnosis {
    match by(cluster, claim, settings.now) {
        By::Pods(pods) => explain_by_pod(cluster, claim, &pods, settings),
        By::NoPod(why) => {
            let mut report = Diagnosis::of_claim(cluster, claim);
            report.holds = Holding::of(claim);
            report.notes.extend(former_users(cluster, claim));
            report.conclude(Answer::NotNeeded(why, claim.status.allocation.is_some()));
            report
        }
        By::Kept(pods) => {
            let stages = Stages::of(cluster, settings.now);
            let mut kept = pods.iter().copied();
            let stuck = kept.find(|pod| stages.pod(pod).is_some_and(|found| found.is_stuck()));
            let mut report = if let Some(pod) = stuck {
                explain_by_pod(cluster, claim, &[pod], settings)
            } else {
                let mut report = Diagnosis::of_claim(cluster, claim);
                report.holds = Holding::of(claim);
                report.conclude(report.holds.clone().map_or(Answer::Unjudged, Answer::Allocated));
                report
            };
            let pods: Vec<Key> = pods.iter().map(|pod| pod.key()).collect();
            report.notes.insert(0, words::kept_claim(&pods));
            report
        }
        By::Itself(waiting) => {
            let mut report = explain_claims(cluster, std::slice::from_ref(claim), settings);
            report.notes.extend(told_by_drivers(claim));
            if !waiting.is_empty() {
                report.notes.push(words::pending_users(&waiting));
            }
            report
        }
    }
}

/// Explains a claim by the first of the `pods` that can be placed, or else the first: kube-scheduler allocates it for that one.
fn explain_by_pod(
    cluster: &Cluster,
    claim: &Arc<Claim>,
    pods: &[&Arc<Pod>],
    settings: &Settings<'_>,
) -> Diagnosis {
    let of_claim = Diagnosis::of_claim(cluster, claim);
    let fits =
        |pod: &&&Arc<Pod>| alone(cluster, &Units::Pods(vec![Arc::clone(pod)]), settings).result == Fit::Fits;
    let mut several = pods.iter().take(MOST_USERS).filter(|_| pods.len() > 1);
    let Some(pod) = several.find(fits).or(pods.first()) else {
        return of_claim;
    };
    let mut report = explain_pod(cluster, pod, settings);
    report.target = of_claim.target;
    report.user = Some(pod.key());
    report.events.splice(..0, of_claim.events);
    report.holds = Holding::of(claim);
    let others = pods.iter().filter(|other| other.key() != pod.key());
    let others: Vec<Key> = others.map(|other| other.key()).collect();
    if !others.is_empty() {
        report.notes.push(words::pending_users(&others));
    }
    report
}

/// How a claim is explained.
enum By<'c> {
    /// By the first of these pods that can be placed: it waits for them.
    Pods(Vec<&'c Arc<Pod>>),
    /// No pod needs it.
    NoPod(NoNeed),
    /// It is being deleted, and these pods keep it.
    Kept(Vec<&'c Arc<Pod>>),
    /// By what it requests; these pods use it and have no node.
    Itself(Vec<Key>),
}

/// Returns how `claim` is explained at `now`.
fn by<'c>(cluster: &'c Cluster, claim: &Claim, now: Time) -> By<'c> {
    if cluster.gap(Kind::Pod, &claim.metadata.namespace).is_some() {
        return By::Itself(Vec::new());
    }
    let is_allocated = claim.status.allocation.is_some();
    let is_ready = is_allocated && readiness(claim, now) == Readiness::Ready;
    let has_devices = |pod: &&Arc<Pod>| is_ready && is_reserved_for(pod, claim, PodGroups::Accepted);
    let stages = Stages::of(cluster, now);
    let is_stuck = |pod: &&'c Arc<Pod>| {
        !pod.metadata.is_deleting() && stages.pod(pod).is_some_and(|found| found.is_stuck())
    };
    let is_deleting = claim.metadata.is_deleting();
    let keys = |pods: &[&Arc<Pod>]| pods.iter().map(|pod| pod.key()).collect();
    let (placed, waiting): (Vec<_>, Vec<_>) = users(cluster, claim).partition(|pod| pod.node().is_some());
    match (placed.as_slice(), waiting.as_slice()) {
        ([], []) if !is_allocated || is_deleting => match no_need(cluster, claim) {
            Some(why) => By::NoPod(why),
            None => By::Itself(Vec::new()),
        },
        (_, [_, ..]) if !is_allocated || placed.is_empty() && !waiting.iter().any(has_devices) => {
            By::Pods(waiting)
        }
        ([_, ..], []) if !is_allocated => By::Pods(placed),
        (placed, _) if !is_deleting && placed.iter().any(is_stuck) => {
            By::Pods(placed.iter().copied().find(is_stuck).into_iter().collect())
        }
        (kept @ [_, ..], []) if is_deleting => By::Kept(kept.to_vec()),
        _ => By::Itself(keys(&waiting)),
    }
}

/// Returns whether no pod uses the claim, although one may come to.
pub(crate) fn is_unused(cluster: &Cluster, claim: &Claim) -> bool {
    users(cluster, claim).next().is_none() && no_need(cluster, claim).is_none()
}

/// The pods that use the claim, or are to: those that name it, and the one that it was created for, whose status has yet to name it.
fn users<'c>(cluster: &'c Cluster, claim: &Claim) -> impl Iterator<Item = &'c Arc<Pod>> {
    let is_user = |pod: &&Arc<Pod>| !is_done(pod) && resolves_to(pod, claim, PodGroups::Accepted);
    let named: Vec<&Arc<Pod>> = cluster.pods_of_claim(&claim.key()).filter(is_user).collect();
    let is_adopted = |next: &Next<'_>| matches!(next, Next::Adopt(found) if found.key() == claim.key());
    let unnamed = owner(cluster, claim).filter(|pod| {
        named.is_empty() && !is_done(pod) && unmade(cluster, pod).any(|(_, unmade)| is_adopted(&unmade.next))
    });
    named.into_iter().chain(unnamed)
}

/// The pod that the claim was created for.
fn owner<'c>(cluster: &'c Cluster, claim: &Claim) -> Option<&'c Arc<Pod>> {
    let owner = claim.metadata.controller().filter(|owner| owner.kind == "Pod")?;
    let pod = cluster.pod(&claim.metadata.beside(&owner.name));
    pod.filter(|pod| pod.metadata.uid == owner.uid)
}

/// Why no pod needs a claim that none uses, if so.
fn no_need(cluster: &Cluster, claim: &Claim) -> Option<NoNeed> {
    if let Some(lost) = lost_pod(cluster, claim) {
        let key = claim.metadata.beside(&lost.name);
        return Some(match cluster.pod(&key) {
            Some(_) => NoNeed::Earlier(key),
            None => NoNeed::Gone(key),
        });
    }
    match owner(cluster, claim) {
        Some(pod) if is_done(pod) => Some(NoNeed::Done(pod.key())),
        _ => claim.metadata.is_deleting().then_some(NoNeed::Deleted),
    }
}
