//! What the cluster's components say themselves, where it contradicts the verdict. They may know what was not read, or what has
//! changed since.

use std::sync::Arc;

use super::diagnosis::{Answer, Diagnosis};
use super::fact::{Fact, Often, Speaker, Word};
use super::items::{ClusterVerdict, FixItem};
use super::{rejected, words};
use dra_model::{CREATION_EVENT, Claim, ClaimTemplate, Cluster, Event, Kind, Pod, SchedulerProfile, Time};
use dra_rules::kubelet::last_end;
use dra_rules::owners::{shut_queue, unplaced_group};
use dra_rules::reservation::claim_names;
use dra_rules::scheduling::{Unsimulated, foreign_scheduler, has_cleaned_up, is_outdated, rejections};

impl Word {
    pub(super) fn of(who: Speaker, event: &Event) -> Self {
        Self {
            who,
            said: event.message.trim().to_owned(),
            at: event.last_seen(),
            often: Often::of(event),
        }
    }

    /// Returns whether it was said after all that is known to have changed. Without a time it may have been.
    fn is_newer_than(&self, changed: Option<Time>) -> bool {
        match (self.at, changed) {
            (Some(at), Some(changed)) => at >= changed,
            _ => true,
        }
    }
}

/// The newest event about `pod` that is one of those.
fn newest<'c>(cluster: &'c Cluster, pod: &Pod, is_one: impl Fn(&Event) -> bool) -> Option<&'c Event> {
    let events = cluster.events_of(Kind::Pod, &pod.metadata);
    let mut events = events.into_iter().rev().filter(|event| is_one(event));
    events.next().map(|event| &**event)
}

/// Returns whether the event is of the pod's scheduler, as far as it says whose it is.
fn is_of_scheduler(event: &Event, pod: &Pod) -> bool {
    let component = event.component();
    component.is_empty() || component == pod.scheduler()
}

/// The last word of the pod's scheduler on where the pod does not fit.
pub(super) fn last_of_scheduler(cluster: &Cluster, pod: &Pod) -> Option<Word> {
    let foreign = foreign_scheduler(cluster.environment(), pod);
    let who = || {
        foreign
            .clone()
            .map_or(Speaker::Scheduler, Speaker::OtherScheduler)
    };
    let is_one = |event: &Event| match &foreign {
        // Autoscalers use the same reason.
        None => event.reason == "FailedScheduling" && is_of_scheduler(event, pod),
        Some(name) => {
            event.type_ == "Warning" && (event.component() == name || event.reason == "FailedScheduling")
        }
    };
    let event = newest(cluster, pod, is_one);
    let event = event.map(|event| Word::of(who(), event));
    if event.is_none()
        && foreign.is_some()
        && let Some(said) = unplaced_group(cluster, pod)
    {
        return Some(Word {
            who: who(),
            said: said.message.trim().to_owned(),
            at: said.at,
            often: said.event.and_then(Often::of),
        });
    }
    let condition = pod.status.conditions.iter().find(|condition| {
        let says = match condition.reason.as_str() {
            "Unschedulable" | "SchedulerError" => true,
            "SchedulingGated" => false,
            _ => foreign.is_some() && !condition.message.is_empty(),
        };
        condition.type_ == "PodScheduled" && condition.status == "False" && says
    });
    let condition = condition.map(|condition| Word {
        who: who(),
        said: condition.message.to_string(),
        at: condition.last_transition_time,
        often: None,
    });
    // Of the same time, an event says how often, too.
    condition.into_iter().chain(event).max_by_key(|word| word.at)
}

/// The last word of another scheduler on a pod that it keeps waiting without a warning: why, or else only that it has seen the pod. YuniKorn
/// reports the first with the reason `Informational`, the second with `Scheduling` and `GangScheduling`.
fn of_waiting(cluster: &Cluster, pod: &Pod) -> Option<Word> {
    let name = foreign_scheduler(cluster.environment(), pod)?;
    let has_seen = |event: &Event| *event.component() == name;
    let says_why =
        |event: &Event| has_seen(event) && !matches!(&*event.reason, "Scheduling" | "GangScheduling");
    let event = newest(cluster, pod, says_why).or_else(|| newest(cluster, pod, has_seen))?;
    Some(Word::of(Speaker::OtherScheduler(name), event))
}

/// Takes back that a pod fits whose scheduler says that it does not, after all that is known to have changed. Another scheduler's own
/// words replace those that kube-scheduler would use.
pub(super) fn of_scheduler(
    report: &mut Diagnosis,
    cluster: &Cluster,
    pod: &Pod,
    claims: &[&Claim],
    now: Time,
) {
    let fits = report.verdict() == ClusterVerdict::Fits;
    if report.verdict() == ClusterVerdict::DoesNotFit {
        let said = newest(cluster, pod, |event| {
            event.reason == "FailedScheduling" && is_of_scheduler(event, pod)
        });
        report.notes.extend(said.and_then(words::tried));
    }
    let word = last_of_scheduler(cluster, pod);
    if !fits {
        if foreign_scheduler(cluster.environment(), pod).is_some() {
            report.message = word.map(|word| word.said);
        } else if report.verdict() == ClusterVerdict::DoesNotFit
            && let Some(word) = word
        {
            let by = rejections(&word.said);
            if !by.is_empty() && word.is_newer_than(changed(cluster, pod, claims, now)) {
                report.reject_besides(cluster, pod, by);
            }
        }
        return;
    }
    let word = match word {
        Some(word) if word.is_newer_than(changed(cluster, pod, claims, now)) => word,
        Some(_) => return,
        None => {
            let Some(since) = silent_since(cluster, pod, now) else {
                return;
            };
            let Some(word) = of_waiting(cluster, pod) else {
                let was = Box::new(std::mem::take(&mut report.answer));
                report.conclude(Answer::Silent(was, pod.scheduler().into(), Some(since)));
                return;
            };
            word
        }
    };
    // A scheduler that binds has found a node, too.
    if word.who == Speaker::Scheduler && is_of_binding(&word.said) {
        report.reasons.push(Fact::NotBound(word.clone()).into());
        report
            .fixes
            .push(if word.said.contains(" plugin \"VolumeBinding\"") {
                rejected::fix(cluster, pod, Unsimulated::VolumeBinding)
            } else {
                FixItem::let_bind(pod)
            });
        let was = Box::new(std::mem::take(&mut report.answer));
        report.conclude(Answer::NotBound(was, word));
        return;
    }
    report.message = Some(word.said.clone());
    let has_cleaned_up = word.who == Speaker::Scheduler && has_cleaned_up(&word.said);
    let is_recent = |at: Time| now.since(at).as_secs() < RETRY_SECONDS;
    // One who does so again and again gets nowhere.
    if has_cleaned_up && word.often.is_none() && word.at.is_some_and(is_recent) {
        report.notes.push(words::RETRIES.to_owned());
        return;
    }
    if word.who == Speaker::Scheduler && report.reject(cluster, pod, &rejections(&word.said)) {
        return;
    }
    if let Speaker::OtherScheduler(scheduler) = &word.who
        && let Some(queue) = shut_queue(cluster, pod)
    {
        report.fixes.push(FixItem::of_queue(&queue));
        report.conclude(Answer::Queued(queue, scheduler.clone()));
        return;
    }
    // There is no cluster without pods of its own in other namespaces.
    let mut others = cluster.pods().map(|other| &other.metadata.namespace);
    if others.all(|other| *other == pod.metadata.namespace) {
        report
            .notes
            .push(words::may_lack_namespaces(&pod.metadata.namespace));
    }
    if word.who == Speaker::Scheduler && word.said.starts_with("pod group is unschedulable") {
        let group = pod.pod_group().map(|name| pod.metadata.beside(name));
        let group = group.and_then(|key| cluster.pod_group(&key));
        report
            .fixes
            .extend(group.and_then(|group| FixItem::of_topology(group)));
    }
    let since = if has_cleaned_up {
        Since::Changed(words::CLEANED_UP)
    } else if word.who == Speaker::Scheduler && is_outdated(cluster, pod, &word.said) {
        Since::Changed(words::HAS_CHANGED)
    } else if word.is_repeated(now) {
        Since::Retried
    } else {
        Since::Unknown
    };
    report.contradict(word, since);
}

/// What is known of the time since a component reported something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Since {
    /// Nothing.
    Unknown,
    /// What it is about has changed, in this sentence.
    Changed(&'static str),
    /// It has tried again and again, until just now.
    Retried,
}

impl Word {
    /// Returns whether the component has said it so often, and so lately, that it has seen the state as it is.
    fn is_repeated(&self, now: Time) -> bool {
        let is_recent = self.at.is_some_and(|at| now.since(at).as_secs() < SILENT_SECONDS);
        is_recent && self.often.is_some_and(|often| often.times >= MANY_TRIES)
    }
}

/// Returns whether kube-scheduler says that it had chosen a node. Mirrors `scheduler/framework/runtime/framework.go`, `RunPreBindPlugins`,
/// v1.37.2, and `runBindPlugin` beside it.
fn is_of_binding(said: &str) -> bool {
    [
        "running PreBind plugin ",
        "running Bind plugin ",
        "running Permit plugin ",
        "running Reserve plugin ",
    ]
    .iter()
    .any(|words| said.starts_with(words))
}

/// Seconds after which a scheduler would have said something about a pod that it looks at.
pub(super) const SILENT_SECONDS: u64 = 300;

/// Attempts of a scheduler that are not made within a moment.
const MANY_TRIES: i32 = 10;

/// Returns since when the scheduler has said nothing about a pod; nothing if it may still do so, or if its events were not read.
fn silent_since(cluster: &Cluster, pod: &Pod, now: Time) -> Option<Time> {
    let mut conditions = pod.status.conditions.iter();
    if conditions.any(|condition| condition.type_ == "PodScheduled") {
        return None;
    }
    let name = match pod.scheduler() {
        SchedulerProfile::DEFAULT => "kube-scheduler",
        name => name,
    };
    let is_down = |other: &Pod| {
        let mut statuses = other.status.container_statuses.iter();
        other.metadata.name.starts_with(name) && statuses.any(|status| status.state.waiting.is_some())
    };
    // Of itself, that a file has no word about a pod is no sign of a scheduler that is down.
    let mut pods = cluster.pods();
    let heartbeat = pods.any(|other| is_down(other)).then(|| heartbeat(cluster));
    unattended_since(cluster, pod, None, heartbeat.flatten(), now)
}

/// Returns since when the claim controller has made no claim for a pod and said nothing about it; nothing if it may still do so.
pub(crate) fn unmade_since(
    cluster: &Cluster,
    pod: &Pod,
    template: &ClaimTemplate,
    now: Time,
) -> Option<Time> {
    let heartbeat = heartbeat(cluster);
    let has_word = of_claim_controller(cluster, pod, None).is_some();
    let made = template.metadata.creation_timestamp;
    unattended_since(cluster, pod, made, heartbeat, now).filter(|_| !has_word)
}

/// The last time at which a kubelet reported.
fn heartbeat(cluster: &Cluster) -> Option<Time> {
    let conditions = cluster.nodes().flat_map(|node| &node.status.conditions);
    conditions
        .filter_map(|condition| condition.last_heartbeat_time)
        .max()
}

/// Returns the time at which the pod was created, or what else is `needed`, if its events were read and a component would have said something
/// of it by now. `later` is another time that is known to have come.
fn unattended_since(
    cluster: &Cluster,
    pod: &Pod,
    needed: Option<Time>,
    later: Option<Time>,
    now: Time,
) -> Option<Time> {
    let created = needed.max(Some(pod.metadata.creation_timestamp?))?;
    if cluster.gap(Kind::Event, &pod.metadata.namespace).is_some() {
        return None;
    }
    // Without a time of reading, what is known to have happened later counts: a file may have been written immediately.
    let events = cluster.events().filter_map(|event| event.last_seen());
    let pods = cluster.pods();
    let created_pods = pods.filter_map(|pod| pod.metadata.creation_timestamp);
    let read = cluster.environment().read_at;
    let newest = read
        .or_else(|| events.chain(created_pods).chain(later).max())?
        .min(now);
    (newest.since(created).as_secs() >= SILENT_SECONDS).then_some(created)
}

/// Seconds until kube-scheduler has tried a pod again that may fit since another one has ended, or a claim has been released.
const RETRY_SECONDS: u64 = 60;

/// When something changed last that the verdict rests on, as far as objects tell: they keep no time of most changes, and of what is
/// gone none at all.
fn changed(cluster: &Cluster, pod: &Pod, claims: &[&Claim], now: Time) -> Option<Time> {
    let objects = std::iter::once(&pod.metadata)
        .chain(claims.iter().map(|claim| &claim.metadata))
        .chain(cluster.classes().map(|class| &class.metadata))
        .chain(cluster.nodes().map(|node| &node.metadata))
        .chain(cluster.slices().map(|slice| &slice.metadata));
    let created = objects.filter_map(|metadata| metadata.creation_timestamp);
    let allocations = claims.iter().filter_map(|claim| claim.status.allocation.as_ref());
    let allocated = allocations.filter_map(|allocation| allocation.allocation_timestamp);
    let has_claims = |other: &&Arc<Pod>| other.is_terminal() && !other.spec.resource_claims.is_empty();
    let ends = cluster
        .pods()
        .filter(has_claims)
        .filter_map(|other| last_end(other));
    // For a pod that ended before, the scheduler has tried again.
    let ended = ends.filter(|end| now.since(*end).as_secs() < RETRY_SECONDS);
    created.chain(allocated).chain(ended).max()
}

/// Takes back that a pod will start whose kubelet says that it cannot get its devices.
pub(super) fn of_kubelet(report: &mut Diagnosis, cluster: &Cluster, pod: &Pod) {
    let names = claim_names(pod).filter_map(|name| name.key());
    let claims = names.filter_map(|key| cluster.claim(&key));
    let allocated = claims.filter_map(|claim| claim.status.allocation.as_ref()?.allocation_timestamp);
    let word = newest(cluster, pod, is_about_devices).map(|event| Word::of(Speaker::Kubelet, event));
    let Some(word) = word.filter(|word| word.is_newer_than(allocated.max())) else {
        return;
    };
    report.contradict(word, Since::Unknown);
}

/// Returns whether the kubelet complains about the devices of a pod.
fn is_about_devices(event: &Event) -> bool {
    let names_devices = || {
        let said = event.message.as_str();
        [
            "dynamic resources",
            "resource claim",
            "ResourceClaim",
            "CDI device",
            "DRA",
        ]
        .iter()
        .any(|word| said.contains(word))
    };
    event.type_ == "Warning"
        && match event.reason.as_str() {
            "FailedPrepareDynamicResources" | "FailedValidation" => true,
            "UnexpectedAdmissionError" | "FailedCreatePodSandBox" | "Failed" | "FailedSync" => {
                names_devices()
            }
            _ => false,
        }
}

/// What the claim controller said last of a claim that it cannot make; what it makes it from has `changed` then.
pub(crate) fn of_claim_controller(cluster: &Cluster, pod: &Pod, changed: Option<Time>) -> Option<Word> {
    let word = newest(cluster, pod, |event| event.reason == CREATION_EVENT);
    let word = word.map(|event| Word::of(Speaker::ClaimController, event));
    word.filter(|word| word.is_newer_than(changed))
}

impl Diagnosis {
    /// Makes the verdict unknown, as `word` contradicts it, and says what may be behind that: what is known of the time `since`.
    pub(super) fn contradict(&mut self, word: Word, since: Since) {
        let who = &word.who;
        if *who == Speaker::ClaimController {
            self.upcoming = None;
        }
        if let Since::Changed(changed) = since {
            self.notes.push(changed.to_owned());
        } else {
            if since == Since::Unknown {
                self.notes.push(words::may_have_changed(who));
            }
            // What is known of bugs stands among the notes already. Another scheduler decides by other rules.
            if let Speaker::OtherScheduler(name) = who {
                self.fixes.push(FixItem::heed(name));
            } else if !self.has_known_bug {
                self.notes.push(words::may_be_a_bug(who));
            }
            if *who == Speaker::Scheduler {
                self.notes.push(words::may_not_be_simulated(&self.not_simulated));
            }
        }
        self.complain(word);
    }

    /// That this was said, which the answer so far does not tell.
    pub(super) fn complain(&mut self, word: Word) {
        self.reasons.push(Fact::Contradicted(word.clone()).into());
        let was = Box::new(std::mem::take(&mut self.answer));
        self.conclude(Answer::Contradicted(was, word));
    }
}
