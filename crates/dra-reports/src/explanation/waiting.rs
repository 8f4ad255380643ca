//! Whether waiting helps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::absence::{absence, shares_counters};
use super::coming::{added_since, coming_node};
use super::diagnosis::{Alike, Among, Beside, Cause, Compared, DeviceKind, Diagnosis, Never, Republishing};
use super::items::{ClusterVerdict, DeviceCount, FixItem, Helps, WaitingItem};
use super::reasons::Limit;
use super::words;
use super::{Explained, diagnosis, groups, reasons};
use crate::allocation::{Units, hanging_on};
use crate::remedy::top_owner;
use crate::stage::{Advice, StageFact, advise, stuck_text, unlisted_text};
use crate::words::controller;
use dra_allocator::devices::{ClassSelectors, Features, Taints};
use dra_allocator::{ConstraintName, Failure, Together, attribute_of};
use dra_model::{
    AllocatedDevice, AttributeValue, Claim, Cluster, Constraint, DeviceRequest, Key, NO_EXECUTE, Node,
    OwnerReference, Pod, Slice, Str, Taint,
};
use dra_rules::eviction::{Release, lacks_effect};
use dra_rules::kubelet::{self, Stage, Stages};
use dra_rules::owners::{Lineage, OwnerName, Replacing, waiting_for};
use dra_rules::reservation::{Unlisted, claim_names, manager, unlisted};
use dra_rules::scheduling::{
    Consumer, Cycle, Ends, GroupResult, Kept, KeptConsumers, Rejection, Scheduler, Start, Subject, Uncertain,
    Waiting, ahead, emptied, waiting,
};

/// Nodes on which is found out what keeps requests from being served together.
const MOST_TOGETHER: usize = 16;

/// Says whether waiting helps what fits on no node. Where it does not, and a limit is the reason that numbers do not show, that becomes
/// the cause.
pub(super) fn add(report: &mut Diagnosis, explained: &Explained<'_>) {
    let empty = emptied(explained.scheduler, &explained.subject);
    if let Some(group) = never_together(explained, &empty) {
        report.waiting = Some(item(Helps::Never, words::never_together(&group)));
        return;
    }
    let found = waiting(
        explained.scheduler,
        &empty,
        &explained.subject,
        &explained.effort(false),
    );
    // What is not there at all is counted already.
    let is_absent = matches!(report.cause, Some(Cause::Absent(_)));
    let lasting = |judged: &[Str], rest: Among| {
        let found = match explained.subject.start(&empty) {
            Start::Cycle(cycle) => lasting(&cycle, judged, rest, is_absent),
            Start::Obstacle(_) | Start::Unknown(_) => None,
        };
        found.unwrap_or(Never::EvenEmpty(None))
    };
    let unknown = |why: &str| item(Helps::Unknown, words::unknown_wait(why));
    let coming = explained
        .pod
        .and_then(|pod| coming_node(explained.cluster(), pod, explained.settings.now));
    report.fixes.extend(coming.map(FixItem::await_scale_up));
    let coming = coming.map(|event| words::node_is_coming(event, added_since(explained.cluster(), event)));
    let new = match found {
        Waiting::Never(judged) => {
            let units = match &explained.subject {
                Subject::Pod(pod) => Units::Pods(vec![std::sync::Arc::clone(pod)]),
                Subject::Claims(_) => Units::Claims(empty.cluster().claims().cloned().collect()),
            };
            let hanging = hanging_on(explained.cluster(), empty.cluster(), &units, explained.settings);
            // The cause names a node that has what is requested: it is the others that have none.
            let rest = match report.cause {
                Some(Cause::Filtered(..)) => Among::Other,
                _ => Among::Left(1),
            };
            // The cause is that of the cluster as it is taken to be, whether or not it lasts.
            let never = lasting(&judged, rest);
            let new = match (hanging, &coming) {
                (Some(open), _) => unknown(&open),
                (None, Some(coming)) => unknown(coming),
                (None, None) => item(Helps::Never, words::never(&never)),
            };
            report.cause = never.cause().or(report.cause.take());
            new
        }
        Waiting::Unknown(Uncertain::Pools { pools, elsewhere }) => {
            let never = (!elsewhere.is_empty()).then(|| lasting(&elsewhere, Among::Other));
            let new = item(Helps::Unknown, words::unusable_pools(&pools, never.as_ref()));
            report.cause = never.and_then(Never::cause).or(report.cause.take());
            new
        }
        Waiting::Unknown(Uncertain::Spared {
            consumers,
            why,
            others,
            nodes,
        }) => {
            report.add_beside(Beside::Held(why.clone()));
            item(Helps::Unknown, words::spared(&consumers, &why, others)).on(nodes)
        }
        Waiting::Kept(found) => kept(report, explained, found),
        Waiting::RolledOut {
            once_ready,
            consumers,
            owner,
            nodes,
        } => {
            let summary = words::rolled_out(&once_ready, &consumers, &owner, &nodes);
            ends(&consumers, 1, nodes, summary)
        }
        Waiting::Unknown(why) => unknown(&words::why_unknown(&why)),
        Waiting::Deallocated { claims, nodes } => {
            once(Helps::WhenDeallocated, &words::released(&claims), nodes)
        }
        Waiting::Abandoned { claims, nodes } => {
            let summary = words::unreleased(&claims);
            report.add_beside(Beside::Abandoned(claims));
            item(Helps::Never, summary).on(nodes)
        }
        Waiting::Untainted(nodes) => once(Helps::WhenUntainted, words::UNTAINTED, nodes),
        Waiting::Uncordoned(nodes) => once(Helps::WhenUncordoned, words::UNCORDONED, nodes),
        Waiting::Restored(nodes) => once(Helps::WhenRestored, words::ready_again(nodes.len()), nodes),
        Waiting::NodesUntainted(nodes) => once(Helps::WhenUntainted, words::NODES_UNTAINTED, nodes),
        Waiting::Ends(found) => when_ended(report, explained, found),
    };
    report.waiting = Some(match (new.helps, coming) {
        // The owner keeps what it has, and gets more.
        (Helps::Kept, Some(coming)) => unknown(&coming),
        (Helps::Never | Helps::Unknown | Helps::Kept, _) | (_, None) => new,
        (_, Some(coming)) => WaitingItem {
            summary: words::or_node_comes(&new.summary.to_string(), &coming).into(),
            ..new
        },
    });
}

/// Says that pods of its own owner keep the devices.
fn kept(report: &mut Diagnosis, explained: &Explained<'_>, found: KeptConsumers) -> WaitingItem {
    report.fixes.extend(of_strategy(explained, &found));
    let KeptConsumers {
        consumers,
        owner,
        why,
        nodes,
    } = found;
    let is_shared = report.cause.as_ref().is_some_and(Cause::is_of_sharing);
    let summary = words::kept(&consumers, &owner, why, is_shared);
    if are_held(report) {
        report.add_beside(match why {
            Kept::Circle => Beside::Circle(owner, consumers.iter().map(|one| one.key().clone()).collect()),
            Kept::Rollout { .. } | Kept::Paused | Kept::Surge | Kept::Beside => Beside::Kept(owner, why),
        });
    }
    item(Helps::Kept, summary).on(nodes)
}

/// The change of a rollout that lets it end the pods that it keeps.
fn of_strategy(explained: &Explained<'_>, found: &KeptConsumers) -> Option<FixItem> {
    let (Kept::Rollout { .. } | Kept::Paused) = found.why else {
        return None;
    };
    FixItem::of_strategy(explained.cluster(), explained.pod?, found.why, &found.nodes)
}

/// Says whose end helps, and what is to be known of them.
fn when_ended(report: &mut Diagnosis, explained: &Explained<'_>, found: Ends) -> WaitingItem {
    let Ends {
        consumers,
        count,
        nodes,
        complete,
        lacks,
        kept,
    } = found;
    let cluster = explained.cluster();
    if count == 1 {
        let pods = consumers.iter().filter_map(|consumer| match consumer {
            Consumer::Pod(key) => Some(key.clone()),
            Consumer::PodGroup(_) => None,
        });
        report.enough = pods.collect();
    }
    if let Some(kept) = &kept {
        let note = words::keeps_own(&kept.consumers, &kept.owner, kept.why);
        report.notes.push(note);
        report.fixes.extend(of_strategy(explained, kept));
    }
    let ended = holders(cluster, &consumers).find_map(|pod| ended_owner(cluster, pod));
    if let Some(owner) = ended.filter(|_| are_held(report)) {
        report.add_beside(Beside::LeftOver(owner));
    }
    let stages = Stages::of(cluster, explained.settings.now);
    let ending = holders(cluster, &consumers).find_map(|pod| {
        let due = pod.metadata.deletion_timestamp?;
        let is_stuck = stages.pod(pod).is_some_and(|found| found.is_stuck());
        let ends = count == 1 && due >= explained.settings.now && !is_stuck;
        ends.then(|| Beside::Ending(pod.key(), due))
    });
    if let Some(ending) = ending.filter(|_| are_held(report)) {
        report.add_beside(ending);
    }
    let FirstHolders { idle, left, lasting } = first_holders(cluster, &stages, &consumers);
    match idle.as_slice() {
        [(key, fact)] if consumers.len() == 1 && are_held(report) => {
            report.add_beside(Beside::NotRunning(key.clone(), Box::new(fact.clone())));
        }
        _ => {
            let idle = idle.iter();
            let idle = idle.map(|(key, fact)| words::idle_holder(key, &stuck_text(fact)));
            report.notes.extend(idle);
        }
    }
    for (key, fact, advice) in left {
        if consumers.len() == 1 && are_held(report) {
            report.add_beside(Beside::Lasting(key.clone(), Box::new(fact)));
        } else {
            let note = words::lasting_holder(&key, &stuck_text(&fact));
            report.notes.push(note);
        }
        let advice = advice.filter(|_| count == 1);
        report
            .fixes
            .extend(advice.map(|advice| FixItem::end_rest(&key, advice)));
    }
    report.notes.extend(lasting);
    report.notes.extend(recreated(cluster, &consumers));
    report.notes.extend(held_up(explained, &consumers));
    if let Some(pod) = explained.pod
        && explained.has_fixes
        && let Some(ended) = consumers.get(..count)
    {
        let effort = explained.effort(false);
        report.ahead = ahead(explained.scheduler, pod, ended, &nodes, &effort);
        report.notes.extend(words::come_first(&report.ahead));
    }
    if lacks.is_empty() && has_priority(explained, &consumers) {
        report.notes.push(words::NO_PREEMPTION.to_owned());
    }
    let mut summary = words::when_finished(
        &consumers,
        (count, idle.is_empty()),
        &nodes,
        complete,
        &lacks,
        &kept_running(cluster, &consumers),
    );
    if let Some(pod) = explained.pod
        && let Some(taint) = evicted_again(explained, pod, &consumers)
    {
        summary = words::but_evicted(&summary);
        report.fixes.push(FixItem::of_toleration(cluster, pod, &taint));
        report.add_beside(Beside::EvictedAgain(taint));
    }
    WaitingItem {
        bounded: !complete,
        ..ends(&consumers, count, nodes, summary)
    }
}

/// Returns whether pods hold the devices that it lacks: devices that are free elsewhere are held by none.
fn are_held(report: &Diagnosis) -> bool {
    !matches!(report.cause, Some(Cause::Filtered(..)))
}

/// Says that filters which are not simulated reject the nodes that it fits on.
pub(super) fn add_rejected(report: &mut Diagnosis, by: &[Rejection]) {
    report.waiting = Some(item(
        Helps::Unknown,
        words::unknown_wait(&words::not_simulated(by)),
    ));
}

/// Says that drivers publish again what the start of a kubelet deleted.
pub(super) fn add_republishing(report: &mut Diagnosis, found: &Republishing) {
    let nodes = found.nodes.clone();
    report.waiting = Some(item(Helps::WhenPublished, words::when_published(&nodes)).on(nodes));
}

/// Says that drivers which were started just now may publish what is wanted, where nothing else is known to help.
pub(super) fn add_starting(report: &mut Diagnosis, nodes: &[Str]) {
    let is_known = |waiting: &WaitingItem| !matches!(waiting.helps, Helps::Never | Helps::Unknown);
    if !nodes.is_empty() && !report.waiting.as_ref().is_some_and(is_known) {
        let item = item(Helps::WhenPublished, words::when_driver_started(nodes));
        report.waiting = Some(item.on(nodes.to_vec()));
    }
}

/// Says that no node and no class offers a resource.
pub(super) fn add_unoffered(report: &mut Diagnosis, resource: &str) {
    report.waiting = Some(item(Helps::Never, words::never_offered(resource)));
}

/// Says of an attempt that an error ends what can be said of waiting.
pub(super) fn add_error(report: &mut Diagnosis) {
    let Some(Cause::Error(error)) = &report.cause else {
        return;
    };
    // A pool can be complete the next time.
    let helps = match &error.failure {
        Failure::Pool(..) => Helps::Unknown,
        _ => Helps::Never,
    };
    let summary = words::error_ends_all(error);
    report.waiting = Some(item(helps, summary));
}

/// The PodGroup of the pod, if it does not fit on the emptied cluster either.
fn never_together(explained: &Explained<'_>, empty: &Scheduler) -> Option<Key> {
    let cycle = super::group::cycle(empty, explained.pod?, explained.settings)?;
    let fails = matches!(cycle.result, GroupResult::TooFew(_)) && !cycle.hangs_on_nodes;
    (fails && !cycle.turns.is_empty() && cycle.min_count > 1).then_some(cycle.group)
}

/// Says that kube-scheduler deallocates `claims`, and the pod fits on `nodes` then: nothing else has to happen, whatever was said.
pub(super) fn add_deallocation(report: &mut Diagnosis, claims: &[&Key], nodes: &[Str]) {
    let deallocated = words::deallocated(claims);
    report.waiting = Some(once(Helps::WhenDeallocated, &deallocated, nodes.to_vec()));
}

/// Says that kube-scheduler deletes a claim of an earlier attempt, and the pod fits on `nodes` then.
pub(super) fn add_deletion(report: &mut Diagnosis, claim: &Key, nodes: Vec<Str>) {
    report.waiting = Some(once(Helps::WhenDeallocated, &words::deleted(claim), nodes));
}

fn item(helps: Helps, summary: String) -> WaitingItem {
    WaitingItem {
        helps,
        summary: summary.into(),
        count: None,
        consumers: Vec::new(),
        nodes: Vec::new(),
        bounded: false,
    }
}

impl WaitingItem {
    /// The same for these nodes.
    fn on(self, nodes: Vec<Str>) -> Self {
        Self { nodes, ..self }
    }
}

/// That it fits on `nodes` once this is so.
fn once(helps: Helps, what: &str, nodes: Vec<Str>) -> WaitingItem {
    item(helps, words::fits_once(&nodes, what)).on(nodes)
}

/// That it fits on `nodes` once so many of the consumers end.
fn ends(consumers: &[Consumer], count: usize, nodes: Vec<Str>, summary: String) -> WaitingItem {
    let helps = if count == 1 {
        Helps::WhenOneEnds
    } else {
        Helps::WhenEnd
    };
    WaitingItem {
        count: Some(count),
        consumers: consumers.iter().map(ToString::to_string).collect(),
        ..item(helps, summary).on(nodes)
    }
}

/// The pods among the consumers.
fn holders<'c, 'n>(
    cluster: &'c Cluster,
    consumers: impl IntoIterator<Item = &'n Consumer>,
) -> impl Iterator<Item = &'c Arc<Pod>> {
    consumers.into_iter().filter_map(|consumer| match consumer {
        Consumer::Pod(key) => cluster.pod(key),
        Consumer::PodGroup(_) => None,
    })
}

/// Consumers that are looked at.
const HOLDERS: usize = 3;

/// The first of the consumers that do not do any work with their devices.
#[derive(Default)]
struct FirstHolders {
    /// Those that do not run, with what keeps them from it.
    idle: Vec<(Key, StageFact)>,
    /// Those whose work is done and that are kept running by other containers, with what ends these.
    left: Vec<(Key, StageFact, Option<Advice>)>,
    /// The sentences on those that do not end with their work.
    lasting: Vec<String>,
}

fn first_holders<'c>(cluster: &'c Cluster, stages: &Stages<'c>, consumers: &[Consumer]) -> FirstHolders {
    let mut first = FirstHolders::default();
    let holders = holders(cluster, consumers.iter().take(HOLDERS));
    for pod in holders.filter(|pod| !pod.metadata.is_deleting()) {
        let Some(found) = stages.pod(pod) else { continue };
        let runs = found.stage == Stage::Running;
        let unlisted = unlisted(cluster, pod);
        let mut unlisted = unlisted.iter().filter(|_| runs);
        let finished = unlisted.find(|unlisted| matches!(unlisted.why, Unlisted::Finished(_)));
        let why = match (finished, &found.stuck) {
            (Some(unlisted), _) => unlisted_text(unlisted),
            (None, Some(stuck)) if matches!(stuck.cause, kubelet::Cause::ContainersLeft { .. }) => {
                let fact = StageFact::new(stuck.cause.clone(), pod);
                first.left.push((pod.key(), fact, advise(stages, &found)));
                continue;
            }
            (None, Some(stuck)) if !runs => {
                let fact = StageFact::new(stuck.cause.clone(), pod);
                first.idle.push((pod.key(), fact));
                continue;
            }
            (None, _) => continue,
        };
        first.lasting.push(words::lasting_holder(&pod.key(), &why));
    }
    first
}

/// That StatefulSets recreate those of the consumers that are being deleted, which need devices again.
fn recreated(cluster: &Cluster, consumers: &[Consumer]) -> Option<String> {
    let is_recreated = |pod: &&Arc<Pod>| {
        let ordinal = pod.metadata.name.rsplit('-').next();
        let ordinal = ordinal.and_then(|ordinal| ordinal.parse::<i64>().ok());
        let set = cluster.owner(&pod.metadata);
        let set = set.filter(|set| set.kind == "StatefulSet" && pod.metadata.is_deleting());
        set.zip(ordinal)
            .is_some_and(|(set, ordinal)| ordinal < set.replicas.unwrap_or(1))
    };
    let pods: Vec<Key> = holders(cluster, consumers)
        .filter(is_recreated)
        .map(|pod| pod.key())
        .collect();
    (!pods.is_empty()).then(|| words::recreated(&pods))
}

/// The taint that evicts the pod as soon as it has what the consumers have: each of their devices has such a taint, which a request of the
/// pod tolerates without effect.
fn evicted_again(explained: &Explained<'_>, pod: &Pod, consumers: &[Consumer]) -> Option<Taint> {
    let cluster = explained.cluster();
    let release = Release::of(cluster.environment());
    let own = claim_names(pod).filter_map(|name| name.find(cluster));
    let own: Vec<&DeviceRequest> = own.flat_map(|claim| claim.spec.asked()).collect();
    if own.iter().all(|spec| spec.tolerations.is_empty()) {
        return None;
    }
    let is_tolerated = |taint: &Taint| own.iter().any(|spec| lacks_effect(taint, &spec.tolerations));
    let held = holders(cluster, consumers).flat_map(|holder| claim_names(holder));
    let held = held
        .filter_map(|name| name.find(cluster))
        .flat_map(|claim| claim.results());
    let taints = Taints::of(cluster).where_rules_are(release.rules);
    let taint = |held: &AllocatedDevice| {
        let id = held.id();
        let mut taints = taints.of_device(&id);
        let found = taints.find(|found| found.taint.effect == NO_EXECUTE && is_tolerated(found.taint))?;
        Some(found.taint.clone())
    };
    let taints: Option<Vec<Taint>> = held.filter(|_| release.evicts).map(taint).collect();
    taints?.into_iter().next()
}

/// Returns whether the pod has a higher priority than one of the consumers.
fn has_priority(explained: &Explained<'_>, consumers: &[Consumer]) -> bool {
    let mut holders = holders(explained.cluster(), consumers);
    explained
        .pod
        .is_some_and(|pod| holders.any(|holder| holder.priority() < pod.priority()))
}

/// That the Job of the pod and one of the consumers' may hold each other up: both have pods with devices, and pods that wait for devices.
fn held_up(explained: &Explained<'_>, consumers: &[Consumer]) -> Option<String> {
    fn job(pod: &Pod) -> Option<&OwnerReference> {
        pod.metadata.controller().filter(|owner| owner.kind == "Job")
    }
    let (cluster, pod) = (explained.cluster(), explained.pod?);
    let own = job(pod)?;
    let has_sibling = |of: &Pod, is_placed: bool| {
        let mut pods = cluster.pods().filter(|pod| !pod.is_terminal());
        pods.any(|pod| {
            pod.node().is_some() == is_placed
                && claim_names(pod).next().is_some()
                && pod.metadata.is_sibling(&of.metadata)
        })
    };
    let others = holders(cluster, consumers).filter(|holder| !holder.metadata.is_sibling(&pod.metadata));
    // One pod of each Job.
    let others: BTreeMap<&Str, &Arc<Pod>> = others
        .filter_map(|holder| Some((&job(holder)?.uid, holder)))
        .collect();
    let holder = others.into_values().find(|holder| has_sibling(holder, false))?;
    let other = job(holder).filter(|_| has_sibling(pod, true))?;
    Some(words::held_up(&manager(own), &manager(other)))
}

/// The owner that keeps a pod running though its own work has ended.
fn ended_owner(cluster: &Cluster, pod: &Pod) -> Option<OwnerName> {
    let lineage = Lineage::of_pod(cluster, pod);
    lineage
        .known(cluster)
        .find(|owner| owner.has_ended())
        .map(OwnerName::from)
}

/// The owners that keep some of the consumers running.
fn kept_running(cluster: &Cluster, consumers: &[Consumer]) -> BTreeSet<String> {
    let owner = |pod: &Arc<Pod>| {
        let is_job = pod.metadata.controller()?.kind == "Job";
        let comes_again = matches!(
            Replacing::of(cluster, pod),
            Replacing::AtOnce | Replacing::OnceGone
        );
        let keeps = comes_again && !is_job || ended_owner(cluster, pod).is_some();
        let owner = top_owner(cluster, pod).filter(|_| keeps)?;
        Some(controller(&pod.metadata, &owner))
    };
    let holders = holders(cluster, consumers).filter(|pod| !pod.metadata.is_deleting());
    holders.filter_map(owner).collect()
}

/// Names pods that wait for this one, which has no node: what gathers their nodes lets none of them start before.
pub(super) fn add_waiting(report: &mut Diagnosis, cluster: &Cluster, pod: &Pod) {
    let is_told = matches!(report.cause, Some(Cause::Besides(_, Beside::Circle(..))));
    let is_gated = !pod.spec.scheduling_gates.is_empty();
    if is_told || !is_gated && report.verdict() != ClusterVerdict::DoesNotFit {
        return;
    }
    if let Some((owner, others)) = waiting_for(cluster, pod) {
        let keys: Vec<Key> = others.into_iter().map(|other| other.key()).collect();
        report.notes.push(words::waiting_for(&owner, &keys, is_gated));
    }
}

impl Never {
    /// The same as the cause of the report, where the numbers of the devices do not show it.
    fn cause(self) -> Option<Cause> {
        match self {
            Self::EvenEmpty(absence) => absence.map(Cause::Absent),
            Self::Same(brief) => Some(Cause::Alike(brief)),
            Self::NotEnough(_, together) => Some(Cause::NotEnough(together)),
            Self::NotAlike(_, alike) => Some(Cause::NotAlike(alike)),
            Self::NoNode | Self::NoDevice(..) | Self::AtMost { .. } => None,
        }
    }
}

/// A request that has too few devices on a node with every device free.
type Short = (Key, Str);

/// What keeps it from fitting on each of the `judged` nodes of the emptied cluster. Where they are not all nodes, `rest` calls them; `is_absent`
/// says that the cause counts already what is not there.
fn lasting(cycle: &Cycle<'_>, judged: &[Str], rest: Among, is_absent: bool) -> Option<Never> {
    let cluster = cycle.scheduler().cluster();
    let all = cluster.nodes().count();
    let among = match judged.len() {
        0 => return Some(Never::NoNode),
        some if some == all => Among::All,
        _ => rest,
    };
    let mut short: Option<BTreeSet<Short>> = None;
    let mut counts: Vec<Counted> = Vec::new();
    let mut limits: Vec<Together> = Vec::new();
    let selectors = ClassSelectors::of(cluster);
    let looks = reasons::Looks::new(&selectors);
    for name in judged {
        let node = cluster.node(name)?;
        let (of_node, together) = look(cycle, node, &looks, limits.len() < MOST_TOGETHER)?;
        let lacking: BTreeSet<Short> = of_node
            .iter()
            .map(|counted| &counted.count)
            .filter(|count| count.is_short() && count.unknown == 0 && count.wanted.is_some())
            .map(|count| (count.claim.clone(), count.request.clone()))
            .collect();
        if lacking.is_empty() {
            limits.push(together?);
        } else {
            short = Some(match short {
                Some(known) => known.intersection(&lacking).cloned().collect(),
                None => lacking,
            });
        }
        counts.extend(of_node);
    }
    let lasting = Lasting {
        cluster,
        selectors: &selectors,
        claims: cycle.user_claims(),
        among,
    };
    let Some((first, others)) = limits.split_first() else {
        let short = short?.into_iter().next()?;
        return lasting.of_request(&short, &counts, is_absent);
    };
    // Nodes that have too few devices for a request which it is about have too few together as well.
    let is_about = |requests: &dyn Fn(&Short) -> bool| short.is_none_or(|short| short.iter().any(requests));
    match first {
        Together::Constraints(names, _) => lasting.of_constraint(names, others, is_about),
        Together::Requests {
            requests,
            is_smallest: true,
        } if requests.len() > 1 && others.iter().all(|other| other == first) => {
            lasting.of_requests(requests, is_about)
        }
        _ => None,
    }
}

/// What lasts on all nodes that were judged.
struct Lasting<'s> {
    cluster: &'s Cluster,
    selectors: &'s ClassSelectors,
    claims: &'s [Arc<Claim>],
    among: Among,
}

impl Lasting<'_> {
    fn claim(&self, key: &Key) -> Option<&Arc<Claim>> {
        self.claims.iter().find(|claim| claim.key() == *key)
    }

    /// Of one request, which has too few devices on all of them.
    fn of_request(&self, (key, request): &Short, counts: &[Counted], is_absent: bool) -> Option<Never> {
        let spec = groups::spec(self.claim(key)?, request)?;
        let of_request = counts
            .iter()
            .filter(|counted| counted.count.claim == *key && counted.count.request == *request);
        let wanted = of_request.clone().find_map(|counted| counted.count.wanted)?;
        let most = of_request.clone().map(|counted| counted.count.usable).max()?;
        // What else rules devices out is the reason if it is one for all.
        let mut limits = of_request.filter_map(|counted| counted.limit.as_ref());
        if let Some(first) = limits.next() {
            let Limit::Same(brief) = first else { return None };
            if most > 0 || limits.any(|other| other != first) {
                return None;
            }
            return Some(Never::Same((**brief).clone()));
        }
        let kind = DeviceKind::of(spec);
        Some(match most {
            0 if is_absent => Never::EvenEmpty(None),
            0 => match absence(self.cluster, self.selectors, spec) {
                None => Never::NoDevice(self.among, kind),
                absence => Never::EvenEmpty(absence),
            },
            most => Never::AtMost {
                among: self.among,
                wanted,
                most,
                kind,
            },
        })
    }

    /// Of one constraint, which nodes with enough devices do not meet.
    fn of_constraint(
        &self,
        names: &[ConstraintName],
        others: &[Together],
        is_about: impl FnOnce(&dyn Fn(&Short) -> bool) -> bool,
    ) -> Option<Never> {
        let [name] = names else { return None };
        let is_same = |other: &Together| matches!(other, Together::Constraints(others, _) if others.as_slice() == names);
        if !others.iter().all(is_same) {
            return None;
        }
        let owner = self.claim(&name.claim)?;
        let constraint = owner.spec.devices.constraints.get(name.place)?;
        let requests = requests(owner, constraint);
        if !is_about(&|(key, request)| *key == owner.key() && requests.contains(request)) {
            return None;
        }
        let alike = of_constraint(self.cluster, self.selectors, owner, name, requests);
        Some(Never::NotAlike(self.among, alike))
    }

    /// Of several requests, which have enough devices each and not together.
    fn of_requests(
        &self,
        requests: &[Short],
        is_about: impl FnOnce(&dyn Fn(&Short) -> bool) -> bool,
    ) -> Option<Never> {
        if !is_about(&|short| self.claim(&short.0).is_some() && requests.contains(short)) {
            return None;
        }
        let specs = requests.iter();
        let specs = specs.filter_map(|(key, name)| groups::spec(self.claim(key)?, name));
        let specs: Vec<&DeviceRequest> = specs.collect();
        let is_of_several = requests.iter().any(|(key, _)| *key != requests[0].0);
        let name = |(key, name): &Short| match self.claim(key) {
            Some(_) if is_of_several => format!("{name} of claim/{key}").into(),
            _ => name.clone(),
        };
        let names: Vec<Str> = requests.iter().map(name).collect();
        let specs = if specs.len() == names.len() {
            specs.as_slice()
        } else {
            &[]
        };
        let together = diagnosis::RequestsTogether::of(names, specs);
        Some(Never::NotEnough(self.among, together))
    }
}

/// How the devices of a node of the emptied cluster count for a request.
struct Counted {
    count: DeviceCount,
    /// What rules devices out but selectors, as [`reasons::limits`] says.
    limit: Option<Limit>,
}

/// How the devices of a node of the emptied cluster count, and what keeps requests from being served together that have enough each.
fn look(
    cycle: &Cycle<'_>,
    node: &Node,
    looks: &reasons::Looks<'_>,
    together: bool,
) -> Option<(Vec<Counted>, Option<Together>)> {
    let cluster = cycle.scheduler().cluster();
    let read = |explanation: &mut dra_allocator::Explanation<'_>| {
        let requests = std::mem::take(&mut explanation.requests);
        let mut counts = Vec::new();
        for request in &requests {
            let claim = explanation.claim(request.claim);
            for alternative in &request.alternatives {
                counts.push(Counted {
                    count: groups::count(explanation, claim.clone(), alternative),
                    limit: reasons::limits(cluster, explanation, alternative, looks),
                });
            }
        }
        explanation.requests = requests;
        let is_short = counts.iter().any(|counted| counted.count.is_short());
        let found = (together && !is_short).then(|| explanation.together());
        let found = found.filter(|found| *found != Together::Unknown);
        (counts, found)
    };
    cycle.explain(node, read).ok().flatten()
}

/// The requests whose devices the constraint compares.
fn requests(claim: &Claim, constraint: &Constraint) -> Vec<Str> {
    if constraint.requests.is_empty() {
        let requests = claim.spec.devices.requests.iter();
        return requests.map(|request| request.name.clone()).collect();
    }
    constraint.requests.clone()
}

/// A driver that publishes the attribute as a list, where constraints do not know lists.
fn lists_of(cluster: &Cluster, attribute: &Str) -> Option<Str> {
    if Features::of(cluster.environment()).list_type_attributes {
        return None;
    }
    let is_list = |slice: &&Arc<Slice>| {
        let mut devices = slice.spec.devices.iter();
        let value = |device| attribute_of(device, &slice.spec.driver, attribute);
        devices.any(|device| value(device).is_some_and(AttributeValue::is_list))
    };
    cluster
        .slices()
        .find(is_list)
        .map(|slice| slice.spec.driver.clone())
}

fn of_constraint(
    cluster: &Cluster,
    selectors: &ClassSelectors,
    claim: &Claim,
    name: &ConstraintName,
    requests: Vec<Str>,
) -> Alike {
    let specs: Vec<&DeviceRequest> = requests
        .iter()
        .filter_map(|request| groups::spec(claim, request))
        .collect();
    let shares_counters = name.same
        && specs.len() == requests.len()
        && shares_counters(cluster, selectors, &specs, &name.attribute);
    let of = match requests.as_slice() {
        [only]
            if let Some(spec) = groups::spec(claim, only)
                && spec.count > 1 =>
        {
            Compared::Devices(spec.count, DeviceKind::of(spec))
        }
        _ => Compared::Requests(requests),
    };
    Alike {
        same: name.same,
        attribute: name.attribute.clone(),
        lists_of: lists_of(cluster, &name.attribute),
        shares_counters,
        of,
    }
}
