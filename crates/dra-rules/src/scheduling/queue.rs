//! Pods that compete for what becomes free: those that kube-scheduler looks at before others, and those that make room because they run elsewhere, too.

use std::cmp::Reverse;
use std::sync::Arc;

use super::cycle::{Scheduler, Start};
use super::fixes::Effort;
use super::placement::{generate_claims, place, remove_pod};
use super::plain::not_simulated;
use super::verdict::{Granted, Verdict};
use super::waiting::Consumer;
use crate::owners::{Replacing, comes_back, guard};
use crate::reservation::claim_names;
use dra_model::{Cluster, Key, Node, Pod, PodStatus, Str};

/// Pods that are looked at, those of the highest priority first.
pub const MOST_AHEAD: usize = 16;

/// The pods that wait for the devices which the end of `ended` frees on `nodes`, and come before `pod`, where they leave it too few.
///
/// Mirrors `plugins/queuesort/priority_sort.go`, `Less`, v1.37.2. Among pods of one priority the time of the last attempt decides, which only the scheduler
/// knows: they are left out.
pub fn ahead(
    scheduler: &Scheduler,
    pod: &Arc<Pod>,
    ended: &[Consumer],
    nodes: &[Str],
    effort: &Effort<'_>,
) -> Vec<Key> {
    let cluster = scheduler.cluster();
    let comes_first = |other: &&Arc<Pod>| {
        other.priority() > pod.priority()
            && other.node().is_none()
            && !other.is_terminal()
            && !other.metadata.is_deleting()
            && other.scheduler() == pod.scheduler()
            // Those are placed together, or not at all.
            && other.pod_group().is_none()
            && claim_names(other).next().is_some()
    };
    let mut others: Vec<&Arc<Pod>> = cluster.pods().filter(comes_first).collect();
    others.sort_by_key(|other| (Reverse(other.priority()), other.key()));
    others.truncate(MOST_AHEAD);
    if others.is_empty() {
        return Vec::new();
    }
    let is_freed = |node: &Node| nodes.contains(&node.metadata.name);
    let place_of = |cluster: &Cluster, pod: &Arc<Pod>, is_one: &dyn Fn(&Node) -> bool| {
        first_fit(&scheduler.fork(cluster), pod, is_one, effort)
    };
    let mut freed = cluster.clone();
    for consumer in ended {
        remove_pod(&mut freed, consumer.key());
    }
    let mut then = freed.clone();
    let mut first = Vec::new();
    for other in others {
        // One that fits elsewhere already takes none of them.
        if place_of(&freed, other, &is_freed).is_none() || place_of(cluster, other, &|_| true).is_some() {
            continue;
        }
        first.push(other.key());
        if let Some((node, granted)) = place_of(&then, other, &is_freed) {
            place(&mut then, other, &node, &granted);
        }
    }
    if place_of(&then, pod, &is_freed).is_some() {
        first.clear();
    }
    first
}

/// The first of these nodes, by name, that the pod fits on, with its devices there.
fn first_fit(
    scheduler: &Scheduler,
    pod: &Arc<Pod>,
    is_one: &dyn Fn(&Node) -> bool,
    effort: &Effort<'_>,
) -> Option<(Str, Vec<Granted>)> {
    let Start::Cycle(cycle) = scheduler.pod(pod) else {
        return None;
    };
    let nodes: Vec<_> = scheduler.cluster().nodes().filter(|node| is_one(node)).collect();
    let mut judged = effort.judge_all(&cycle, &nodes).into_iter();
    judged.find_map(|(node, judgment)| match judgment.verdict {
        Verdict::Fits(granted) => Some((node.metadata.name.clone(), granted)),
        _ => None,
    })
}

/// The node that `pod` fits on once `other` ends, and one that takes what is created in the place of `other`: by its owner, where `other`
/// has no devices, or by hand, where it has no owner, on a node that is none of `nodes`, which may take `pod` once others end. Nothing
/// where that one may come first, or filters that are not simulated may keep it off.
pub fn makes_room(
    scheduler: &Scheduler,
    pod: &Arc<Pod>,
    other: &Arc<Pod>,
    nodes: &[Str],
    effort: &Effort<'_>,
) -> Option<(Str, Str)> {
    let mut cluster = scheduler.cluster().clone();
    let is_bare = other.metadata.controller().is_none() && other.pod_group().is_none();
    let is_replaced = is_bare
        || claim_names(other).next().is_none()
            && Replacing::of(&cluster, other) == Replacing::AtOnce
            && comes_back(&cluster, other);
    let is_replaced = is_replaced
        && guard(&cluster, other).is_none()
        && not_simulated(other).is_empty()
        && other.priority() <= pod.priority();
    let node = other.node().filter(|_| is_replaced)?;
    remove_pod(&mut cluster, &other.key());
    let is_its = |found: &Node| found.metadata.name == *node;
    let (_, granted) = first_fit(&scheduler.fork(&cluster), pod, &is_its, effort)?;
    place(&mut cluster, pod, node, &granted);
    let mut new = Pod::clone(other);
    new.spec.node_name = None;
    new.status = PodStatus::default();
    let new = generate_claims(&mut cluster, &Arc::new(new)).ok()?;
    let is_elsewhere = |found: &Node| !is_bare || !nodes.contains(&found.metadata.name);
    let (elsewhere, _) = first_fit(&scheduler.fork(&cluster), &new, &is_elsewhere, effort)?;
    Some((node.clone(), elsewhere))
}
