//! Pods that have their node, and claims that have their devices: what may still keep one from running, and what the other holds.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::diagnosis::{Answer, Bound, Diagnosis, Ending, OnNode, Root};
use super::fact::Fact;
use super::items::{ClusterVerdict, FixItem, Holding};
use super::{explain_pod, word, words};
use crate::allocation::Settings;
use crate::stage::{
    StageFact, StageItem, Subject, advise, advise_besides, cause_text, finds_device_in_use, restarted_text,
    unknown_text, waits_text,
};
use crate::words::{allocated_twice as twice, tainted};
use dra_allocator::devices::{DeviceTaint, Taints, is_allocated_twice};
use dra_model::{
    AllocatedDevice, Claim, Cluster, Condition, DeviceId, Key, Kind, Owner, Pod, Quantity, Str, Time,
};
use dra_rules::eviction::{evicting_taint, eviction_of};
use dra_rules::health::unmet_conditions;
use dra_rules::kubelet::{
    Cause, Due, PodStage, Problems, Stage, Stages, Stuck, Unknown, beside_driver, is_start_error,
    node_is_gone, problems,
};
use dra_rules::owners::unread_domain;
use dra_rules::reservation::{claim_names, former_pods, is_abandoned, pod_of_entry, unlisted};
use dra_rules::scheduling::{of_kubelet, of_placed, of_rejected, preemptors};

impl Holding {
    /// What `claim` holds, if it is allocated.
    pub(super) fn of(claim: &Claim) -> Option<Self> {
        let selector = claim.status.allocation.as_ref()?.node_selector.as_ref();
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
}

impl Diagnosis {
    /// Says of a claim that has its devices what it holds rather than where it would fit.
    pub(super) fn hold(&mut self, claim: &Claim) {
        self.holds = Holding::of(claim);
        if let Some(holds) = &self.holds
            && self.verdict() == ClusterVerdict::Fits
        {
            self.conclude(Answer::Allocated(holds.clone()));
        }
    }
}

impl Ending {
    /// That of a pod which waits for `waits`, if for anything.
    fn of(pod: &Pod, waits: Option<String>) -> Self {
        Self {
            due: pod.metadata.deletion_timestamp,
            eviction: eviction_of(pod).cloned(),
            waits,
        }
    }
}

/// The pods with the claim that are to end and do not, or whose node does not exist, each in a sentence with what keeps it and what ends that.
pub(super) fn stuck_users(cluster: &Cluster, claim: &Claim, now: Time) -> Vec<String> {
    let is_lost = |pod: &Pod| pod.node().is_some_and(|node| node_is_gone(cluster, node));
    let entries = claim.status.reserved_for.iter();
    let pods = entries.filter_map(|entry| pod_of_entry(cluster, claim, entry));
    let pods = pods.filter(|pod| pod.metadata.is_deleting() || is_lost(pod));
    let stages = Stages::of(cluster, now);
    let found = pods.filter_map(|pod| stages.pod(pod));
    let sentence = |found: PodStage<'_>| {
        let pod = found.pod;
        let cause = &found.stuck.as_ref()?.cause;
        let why = cause_text(cause, &Subject::of(pod));
        if matches!(cause, Cause::NodeGone { .. }) {
            return Some(words::lost_user(&pod.key(), &claim.key(), &why));
        }
        let how = advise(&stages, &found)?.message;
        Some(words::stuck_user(&pod.key(), &claim.key(), &why, &how))
    };
    found.filter_map(sentence).collect()
}

/// The devices of the claim that other claims have, too, though they can be allocated once.
pub(super) fn allocated_twice(cluster: &Cluster, claim: &Claim) -> Vec<String> {
    let devices: BTreeSet<DeviceId> = claim.results().iter().map(|result| result.id()).collect();
    let sentence = |device: &DeviceId| {
        let results = cluster
            .claims_of_device(device)
            .flat_map(|claim| claim.results().iter().map(move |result| (claim, result)));
        // Admin access takes nothing.
        let takers = results.filter(|(_, result)| result.takes() && result.id() == *device);
        let (holders, takers): (Vec<&Arc<Claim>>, Vec<&AllocatedDevice>) = takers.unzip();
        let as_a_whole = takers.iter().any(|taker| taker.share_id.is_none());
        let holders: BTreeSet<Key> = holders.into_iter().map(|claim| claim.key()).collect();
        is_allocated_twice(takers).then(|| format!("{device} {}", twice(&holders, as_a_whole)))
    };
    devices.iter().filter_map(sentence).collect()
}

/// That the claim is reserved for pods that are gone or have finished, or for nothing that uses it, where it is.
pub(super) fn former_users(cluster: &Cluster, claim: &Claim) -> Option<String> {
    if is_abandoned(cluster, claim) {
        return Some(words::abandoned(&claim.key()));
    }
    let names = former_pods(cluster, claim);
    (!names.is_empty()).then(|| words::former_users(&claim.key(), &names))
}

/// What drivers report of the devices of the claim that only they understand.
pub(super) fn told_by_drivers(claim: &Claim) -> Vec<String> {
    let mut alike: Vec<(&Condition, Vec<DeviceId>)> = Vec::new();
    for (device, condition) in unmet_conditions(claim) {
        let is_same = |(known, devices): &&mut (&Condition, Vec<DeviceId>)| {
            (&known.type_, &known.reason, &known.message)
                == (&condition.type_, &condition.reason, &condition.message)
                && devices.iter().any(|other| other.driver == device.driver)
        };
        match alike.iter_mut().find(is_same) {
            Some((_, devices)) => devices.push(device),
            None => alike.push((condition, vec![device])),
        }
    }
    let sentence =
        |(condition, devices): &(&Condition, Vec<DeviceId>)| words::told_by_driver(condition, devices);
    alike.iter().map(sentence).collect()
}

/// Says of a pod that has its node what may still keep its devices from it.
pub(super) fn bound(
    report: &mut Diagnosis,
    cluster: &Cluster,
    pod: &Arc<Pod>,
    node: &Str,
    settings: &Settings<'_>,
) {
    on_node(report, cluster, pod, node, settings.now);
    gathered(report, cluster, pod, settings);
}

/// Says of a pod whose node is gathered with those of others what the first of these lacks: that is what the pod lacks.
fn gathered(report: &mut Diagnosis, cluster: &Cluster, pod: &Arc<Pod>, settings: &Settings<'_>) {
    let stages = Stages::of(cluster, settings.now);
    let found = stages.pod(pod).and_then(|found| found.stuck);
    if let Some(Stuck {
        cause: Cause::NodesMissing { others, .. },
        ..
    }) = &found
        && let Some(first) = others.first()
        && let Some(first) = cluster.pod(first)
    {
        let of_first = explain_pod(cluster, first, settings);
        report.notes.push(words::of_member(&first.key(), &of_first));
    }
}

fn on_node(report: &mut Diagnosis, cluster: &Cluster, pod: &Arc<Pod>, node: &Str, now: Time) {
    let on_node = |how| {
        Answer::Bound(Bound {
            node: node.clone(),
            devices: Vec::new(),
            how,
        })
    };
    report.conclude(on_node(if pod.metadata.is_deleting() {
        OnNode::Ends(Ending::of(pod, None))
    } else {
        OnNode::Starts(None)
    }));
    let others = preemptors(cluster, pod);
    if !others.is_empty() {
        report.notes.push(words::preempted(&others));
    }
    let bugs = of_placed(cluster, Some(pod));
    report.has_known_bug = !bugs.is_empty();
    let taint = bugs.first().and_then(|_| evicting(cluster, pod));
    let texts = bugs.iter().map(|exposure| {
        let about = taint
            .as_ref()
            .map_or_else(String::new, |taint| format!("{taint}: "));
        format!("{about}{}", exposure.text(cluster))
    });
    report.notes.extend(texts);
    let stages = Stages::of(cluster, now);
    let found = stages.pod(pod).or_else(|| stages.stuck(pod));
    report.stage = found.as_ref().map(|found| StageItem::of(&stages, found));
    // A kubelet with this bug does not say why.
    let may_have_bug = |found: &PodStage<'_>| match found.stage {
        Stage::Reserved | Stage::Unpreparing => found
            .stuck
            .as_ref()
            .is_none_or(|stuck| matches!(stuck.cause, Cause::UnprepareFails { .. })),
        stage => stage == Stage::Unknown && is_silent(found),
    };
    if let Some(found) = found.as_ref().filter(|found| may_have_bug(found))
        && let Some(bug) = of_kubelet(cluster, node)
    {
        report.notes.push(bug);
        let restart = is_silent(found).then(|| FixItem::restart_kubelet(node));
        report.fixes.extend(restart);
    }
    // What keeps a pod from starting does not keep one from ending.
    let is_ending = found
        .as_ref()
        .is_some_and(|found| found.stage == Stage::Unpreparing);
    let Problems {
        found: problems,
        hidden: unread,
    } = if is_ending {
        Problems::default()
    } else {
        problems(cluster, pod)
    };
    let facts = problems
        .into_iter()
        .map(|problem| Fact::Stage(Box::new(StageFact::new(Cause::Claim(problem), pod))));
    report.reasons.extend(facts.map(Into::into));
    if let Some(first) = report.reasons.first() {
        report.conclude(on_node(OnNode::Stuck(first.fact.clone(), None)));
        if let Some(found) = &found {
            help(report, &stages, found);
        }
    } else if let Some(gap) = unread {
        report.tell_unknown(cluster, gap);
        report.conclude(on_node(OnNode::Hidden(gap.kind)));
    } else if let Some(found) = found {
        staged(report, &stages, &found, node);
    }
}

/// Returns whether the kubelet has been silent about the pod for so long that it has to be asked.
fn is_silent(found: &PodStage<'_>) -> bool {
    found
        .unknown
        .iter()
        .any(|unknown| matches!(unknown, Unknown::Silent))
}

/// The first taint of the pod's devices that evicts it by what its allocation tolerates.
fn evicting(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let taints = Taints::of(cluster);
    let mut claims = claim_names(pod).filter_map(|name| name.find(cluster));
    let (device, taint, rule) = claims.find_map(|claim| evicting_taint(claim.results(), &taints))?;
    Some(tainted(&device, &taint, rule.as_ref()))
}

/// The first taint of the pod's devices that reports one to be unhealthy.
fn unhealthy(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let taints = Taints::of(cluster);
    let claims = claim_names(pod).filter_map(|name| name.find(cluster));
    let mut devices = claims.flat_map(|claim| claim.results()).map(|result| result.id());
    devices.find_map(|device| {
        let mut taints = taints.of_device(&device);
        let found = taints.find(DeviceTaint::says_unhealthy)?;
        let rule = found.origin.rule().map(|rule| &rule.metadata.name);
        Some(tainted(&device, found.taint, rule))
    })
}

/// Says of a pod that has ended what keeps it from being gone.
pub(super) fn ended(report: &mut Diagnosis, cluster: &Cluster, pod: &Arc<Pod>, now: Time) {
    let stages = Stages::of(cluster, now);
    let Some(found) = stages.pod(pod) else { return };
    report.stage = Some(StageItem::of(&stages, &found));
    if let Some(stuck) = &found.stuck {
        let fact = Fact::Stage(Box::new(StageFact::of(stuck, pod)));
        report.reasons.push(fact.clone().into());
        report.conclude(match stuck.cause {
            Cause::PodFailed { .. } => Answer::Failed(fact),
            _ => Answer::NotGone(fact),
        });
        report.notes.extend(of_rejected(cluster, pod));
        help(report, &stages, &found);
    }
}

/// Says of a pod that has its devices reserved and no node yet what it waits for.
pub(super) fn attaching(report: &mut Diagnosis, cluster: &Cluster, pod: &Arc<Pod>, now: Time) {
    let stages = Stages::of(cluster, now);
    let Some(found) = stages.pod(pod) else { return };
    report.stage = Some(StageItem::of(&stages, &found));
    if let Some(stuck) = &found.stuck
        && report.verdict() == ClusterVerdict::Fits
    {
        let fact = StageFact::new(stuck.cause.clone(), pod);
        report.conclude(Answer::Attaching(Box::new(fact)));
    }
    // The driver that is to attach the device is reported already.
    let is_told = |kind| report.fixes.iter().any(|fix| fix.kind == kind);
    let advice = advise(&stages, &found).filter(|advice| !is_told(advice.kind));
    report.fixes.extend(advice.map(FixItem::of_advice));
}

/// Says how far the pod is on its node, and what keeps it there.
fn staged<'c>(report: &mut Diagnosis, stages: &Stages<'c>, found: &PodStage<'c>, node: &Str) {
    let (cluster, pod) = (stages.cluster(), found.pod);
    let devices = report.stage.as_ref().map(|item| item.devices.clone());
    let on_node = |how| {
        Answer::Bound(Bound {
            node: node.clone(),
            devices: devices.unwrap_or_default(),
            how,
        })
    };
    let Some(stuck) = &found.stuck else {
        if found.stage == Stage::Unknown {
            let unknown: Vec<String> = found.unknown.iter().copied().map(unknown_text).collect();
            report.conclude(on_node(OnNode::Unknown(unknown.clone())));
            report.lacks_objects = cluster.gap(Kind::Event, &pod.metadata.namespace).is_some();
            report.unknown.extend(unknown);
        } else {
            let restarted = stages.restarted(pod);
            report
                .notes
                .extend(restarted.map(|restarted| restarted_text(&restarted)));
            report.notes.extend(unhealthy(cluster, pod));
            report.conclude(on_node(match found.stage {
                Stage::Running => OnNode::Runs(stages.is_starting_up(pod)),
                Stage::Unpreparing => {
                    OnNode::Ends(Ending::of(pod, found.waits.map(|waits| waits_text(waits, pod))))
                }
                _ => OnNode::Starts(stages.doing(pod)),
            }));
        }
        return;
    };
    match &stuck.cause {
        Cause::Unrecognized { .. } => word::of_kubelet(report, cluster, pod),
        // The pod lacks nothing, or tolerates the taint as long as its owner asked for.
        Cause::DeviceNotPublished { are_gone: false, .. }
        | Cause::ToBeEvicted {
            due: Due::Later(_), ..
        } => {
            report.notes.push(cause_text(&stuck.cause, &Subject::of(pod)));
            report.conclude(on_node(OnNode::Runs(false)));
        }
        _ => {
            let fact = Fact::Stage(Box::new(StageFact::of(stuck, pod)));
            let root = root(stages, pod, &stuck.cause);
            let is_unhealthy = matches!(root, Some(Root::Unhealthy(_)));
            let reason = match &root {
                Some(Root::Unhealthy(root)) => root.as_ref(),
                _ => &fact,
            };
            report.reasons.push(reason.clone().into());
            report.conclude(on_node(if stages.is_passing(found) {
                OnNode::Waits(fact)
            } else if pod.metadata.is_deleting() || found.stage == Stage::Unpreparing {
                OnNode::NotEnding(fact)
            } else if found.stage == Stage::Running {
                OnNode::Endangered(fact)
            } else {
                OnNode::Stuck(fact, root)
            }));
            let awaited = match &stuck.cause {
                Cause::PrepareRefused { text, .. } => stages.awaited(pod, text),
                Cause::NodesMissing { .. } => stages.daemon(pod),
                Cause::VolumesNotMounted { text } => stages.user_of_volume(pod, text),
                _ => None,
            };
            if let Some(awaited) = awaited
                && let Some(why) = &awaited.stuck
            {
                let key = awaited.pod.key();
                let text = cause_text(&why.cause, &Subject::of(awaited.pod));
                report.notes.push(match why.cause {
                    // It may run.
                    Cause::NotReady { .. } | Cause::NodeSilent { .. } => words::lasting_holder(&key, &text),
                    _ => words::idle(&key, &text),
                });
                let restarted = stages.restarted(awaited.pod);
                let restarted = restarted.map(|found| words::lasting_holder(&key, &restarted_text(&found)));
                report.notes.extend(restarted);
            }
            if matches!(stuck.cause, Cause::UnprepareFails { .. }) {
                let unread = stages.claims(pod).filter_map(|claim| {
                    let uid = unread_domain(cluster, &claim.spec)?;
                    Some(words::unread_domain(&claim.key(), &uid))
                });
                report.notes.extend(unread);
            }
            if matches!(stuck.cause, Cause::NotReady { .. }) {
                let set = leader_set(cluster, pod).map(|owner| owner.key.name.clone());
                report
                    .fixes
                    .extend(set.map(|set| FixItem::start_workers(pod, &set)));
            }
            // A container that ends may do so for its device, or for one that it does not get.
            if matches!(stuck.cause, Cause::ContainerEnds(..)) {
                let help_besides = |report: &mut Diagnosis, stuck: Stuck, is_told: bool| {
                    let note = (!is_told).then(|| cause_text(&stuck.cause, &Subject::of(pod)));
                    report.notes.extend(note);
                    let besides = PodStage {
                        stuck: Some(stuck),
                        ..found.clone()
                    };
                    help(report, stages, &besides);
                };
                if let Some(unhealthy) = stages.unhealthy(pod) {
                    help_besides(report, unhealthy, is_unhealthy);
                    report.fixes.push(FixItem::repair_devices_of(node));
                }
                if let Some((driver, resource, amount, users)) = offered_twice(stages, pod) {
                    let note = words::offered_twice(node, resource, amount, driver, &users);
                    report.notes.push(note);
                    if !users.is_empty() {
                        let offered = Some(resource).filter(|_| amount.value() > 0);
                        report.fixes.push(FixItem::stop_plugin(node, offered, &users));
                    }
                }
                if let Some(cause) = stages.feature_off(pod) {
                    let off = Stuck {
                        cause,
                        since: None,
                        evidence: Vec::new(),
                    };
                    help_besides(report, off, false);
                }
            }
            let lacks_programs = matches!(
                &stuck.cause,
                Cause::ContainerNotStarted(_, waiting) if is_start_error(&waiting.reason)
            );
            if lacks_programs || matches!(stuck.cause, Cause::ContainerEnds(..)) {
                let lacking = unlisted(cluster, pod)
                    .into_iter()
                    .filter(|unlisted| !unlisted.is_of_network && !unlisted.entry.is_empty());
                report
                    .fixes
                    .extend(lacking.map(|unlisted| FixItem::list(pod, &unlisted)));
            }
            help(report, stages, found);
        }
    }
}

/// What a device plugin has of the hardware on the node of the pod whose devices the pod has: driver and resource, how much of it is left to offer,
/// and the pods that have some.
fn offered_twice<'c>(
    stages: &Stages<'c>,
    pod: &'c Pod,
) -> Option<(&'c Str, &'c Str, &'c Quantity, Vec<Key>)> {
    let cluster = stages.cluster();
    let node = cluster.node(pod.node()?)?;
    let results = stages.claims(pod).flat_map(|claim| claim.results());
    let drivers: BTreeSet<&Str> = results.map(|result| &result.driver).collect();
    let mut offered = drivers.into_iter().flat_map(|driver| {
        let offered = beside_driver(cluster, node, driver);
        offered.map(move |(resource, amount, users)| (driver, resource, amount, users))
    });
    offered.next()
}

/// What makes a container of the pod end, where another fact of the pod shows that.
fn root<'c>(stages: &Stages<'c>, pod: &'c Arc<Pod>, cause: &Cause) -> Option<Root> {
    let Cause::ContainerEnds(_, end) = cause else {
        return None;
    };
    // What has used up its own memory, or has done its work, ends for that.
    if end
        .as_ref()
        .is_some_and(|end| end.exit_code == 0 || end.reason == "OOMKilled")
    {
        return None;
    }
    if let Some(unhealthy) = stages.unhealthy(pod) {
        let fact = StageFact::of(&unhealthy, pod);
        return Some(Root::Unhealthy(Box::new(Fact::Stage(Box::new(fact)))));
    }
    let is_taken = end.as_ref().is_some_and(|end| finds_device_in_use(&end.message));
    let (.., users) = offered_twice(stages, pod).filter(|_| is_taken)?;
    (!users.is_empty()).then_some(Root::Plugin(users))
}

/// The LeaderWorkerSet that creates workers once the pod, a leader, is ready.
fn leader_set<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Owner> {
    let (owners, namespace) = (&cluster.environment().owners, &pod.metadata.namespace);
    let set = owners.find(pod.metadata.controller()?, namespace)?;
    let top = owners.find(set.controller.as_ref()?, namespace)?;
    top.awaits_leader.then_some(top)
}

/// Adds what ends the cause that keeps the pod where it is.
fn help(report: &mut Diagnosis, stages: &Stages<'_>, found: &PodStage<'_>) {
    let advice = advise(stages, found)
        .into_iter()
        .chain(advise_besides(stages, found));
    report.fixes.extend(advice.map(FixItem::of_advice));
}
