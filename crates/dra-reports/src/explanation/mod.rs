//! Why a pod, or a claim, does not get its devices, and what would help.

mod absence;
mod bound;
mod coming;
mod diagnosis;
mod fact;
mod fixes;
mod gates;
mod gets;
mod group;
mod groups;
mod helped;
mod items;
mod namesake;
mod outdated;
mod own;
mod owned;
mod reasons;
mod rejected;
mod report;
mod unmade;
mod user;
mod waiting;
mod word;
mod words;

use std::cell::OnceCell;
use std::sync::Arc;

use self::absence::Absence;
use self::bound::{allocated_twice, attaching, bound, ended, former_users, stuck_users, told_by_drivers};
use self::coming::{Unpublished, is_of_autoscaler};
use self::diagnosis::{Answer, Cause, NodeGroup, Reason, Warning};
use self::fact::{Brief, Evidence, Fact, Limited, Often};
use self::helped::Helped;
use super::allocation::{
    Exactness, Fit, Other, Settings, Target, Trust, Units, alone, caveats, is_evicted_at_once, is_open,
    otherwise, place_all, timeouts,
};
use super::remedy::{Remedy, drop_finalizers, end_consumers};
use super::stage::unlisted_text;

use crate::script::{Command, replace_saved, save_without_finalizers};
use dra_allocator::Failure;
use dra_allocator::devices::{ClassSelectors, RuledOut};
use dra_model::{
    Change, Claim, Cluster, Component, Event, Gap, Gate, Key, Kind, Meta, Node, Object, OwnerReference, Pod,
    Str, Taint, TaintRule, lookup,
};
use dra_rules::kubelet::is_over;
use dra_rules::owners::Queued;
use dra_rules::quota::Quotas;
use dra_rules::reservation::{Origin, claim_names, is_done, manager, unlisted, users};
use dra_rules::scheduling::{
    ClaimProblem, Cycle, Effort, Fix, Fixes, GenerateError, Hanging, Obstacle, RequestProblem, Scheduler,
    Start, Subject, Verdict, classes_of_resources, fits_on_new, foreign_scheduler, generate_claims,
    implicit_class, judge_all, message, message_of_obstacle, not_simulated, other_scheduler, pod_requests,
    smallest, spared, victims,
};

pub use super::remedy::Remake;
pub(crate) use diagnosis::Why;
pub use diagnosis::{Diagnosis, NodeDiagnosis};
pub use items::{
    Amounts, ClusterVerdict, DeviceCount, FilterCount, FixChange, FixItem, GetsItem, Helps, Holding,
    WaitingItem,
};
pub(crate) use own::Own;
pub(crate) use owned::unmade_owners;
pub use owned::{OwnerTarget, explain_owner};
pub use report::{AlikeReason, Explanation, NodeGroupItem};
pub use user::explain_claim;
pub(crate) use user::is_unused;
pub(crate) use word::unmade_since;
pub use words::fixes::RISKY;
pub(crate) use words::why;

/// The kinds that an explanation reads.
pub const EXPLAIN_NEEDS: [Kind; 10] = [
    Kind::Node,
    Kind::DeviceClass,
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::ResourceClaimTemplate,
    Kind::ResourceClaim,
    Kind::Pod,
    Kind::PodGroup,
    Kind::ResourceQuota,
    Kind::Event,
];

/// Sets of changes that are tried. Enough for every pair on a node of a hundred changes.
const TRIALS: u64 = 4_000;

/// Most changes in a set that is tried; more are looked for greedily.
const MOST_CHANGES: usize = 4;

/// Sets that are reported.
const MOST_FOUND: usize = 6;

/// Explains a pod, which is in `cluster`.
pub fn explain_pod(cluster: &Cluster, pod: &Arc<Pod>, settings: &Settings<'_>) -> Diagnosis {
    with_quotas(cluster, pod, (cluster, pod), settings)
}

/// Explains a pod that is to be created, which is in `cluster`: with the claims that its templates give it, which are added.
fn explain_new_pod(cluster: &mut Cluster, pod: &Arc<Pod>, settings: &Settings<'_>) -> Diagnosis {
    let before = cluster.clone();
    match generate_claims(cluster, pod) {
        Ok(made) => with_quotas(cluster, &made, (&before, pod), settings),
        Err(GenerateError::Unread(gap)) => explain_unread(cluster, pod, &gap),
        // A template that is not there shows in what the pod waits for, and so does a claim that the claim controller does not make.
        Err(GenerateError::NoTemplate(_) | GenerateError::Refused(_)) => explain_pod(cluster, pod, settings),
    }
}

/// Explains the first of several pods that does not fit after those before it were placed, which are to be created and are in `cluster`; the
/// last one where all of them fit. Nothing is explained where there are none.
pub fn explain_new_pods(
    cluster: &mut Cluster,
    pods: &[Arc<Pod>],
    settings: &Settings<'_>,
) -> Option<Diagnosis> {
    let (last, others) = pods.split_last()?;
    let has_quotas = cluster.quotas().next().is_some();
    let is_admitted =
        |cluster: &Cluster, pod: &Pod| !has_quotas || Quotas::of(cluster).refused_of_pod(pod).is_none();
    let placed = place_all(cluster, others, is_admitted, settings);
    let explained = others.get(placed).unwrap_or(last);
    let mut report = explain_new_pod(cluster, explained, settings);
    if !others.is_empty() {
        let all = pods.len();
        let number = placed + 1;
        report.notes.push(words::nth_pod(number, all));
    }
    Some(report)
}

/// Explains `pod`, and says which of the claims is refused that it needs as it was before they were made, in the cluster of then.
fn with_quotas(
    cluster: &Cluster,
    pod: &Arc<Pod>,
    (before, asking): (&Cluster, &Pod),
    settings: &Settings<'_>,
) -> Diagnosis {
    let key = pod.key();
    let mut report = Diagnosis::new(Target::pod(&key));
    if foreign_scheduler(cluster.environment(), pod).is_none() {
        report.not_simulated = not_simulated(pod).into_iter().map(str::to_owned).collect();
    }
    report.events = events(cluster, Kind::Pod, &pod.metadata, |event| {
        is_over(cluster, pod, event)
    });
    report
        .notes
        .extend(unlisted(cluster, pod).iter().map(unlisted_text));
    if pod.is_terminal() {
        report.conclude(Answer::Ended(pod.status.phase.clone(), failing_end(pod)));
        ended(&mut report, cluster, pod, settings.now);
        return report;
    }
    if is_done(pod) {
        report.conclude(Answer::Deleted(pod.metadata.finalizers.clone()));
        ended(&mut report, cluster, pod, settings.now);
        return report;
    }
    let quotas = Quotas::of(before);
    let refused = quotas.refused_of_pod(asking);
    if let Some(node) = pod.node() {
        bound(&mut report, cluster, pod, node, settings);
        for claim in claim_names(pod).filter_map(|name| name.find(cluster)) {
            report.notes.extend(allocated_twice(cluster, claim));
            report.notes.extend(told_by_drivers(claim));
        }
    } else {
        report.said = word::last_of_scheduler(cluster, pod).map(|word| word.said);
        let victims = victims(cluster, pod);
        if let Some(node) = &pod.status.nominated_node_name
            && !victims.is_empty()
        {
            report.notes.push(words::preempting(&victims, node));
        }
        let scheduler = Scheduler::new(cluster, settings.now);
        let together = group::cycle(&scheduler, pod, settings);
        let scheduler = group::at_turn(&scheduler, together.as_ref(), pod);
        let start = scheduler.pod(pod);
        let explained = Explained {
            is_refused: refused.is_some(),
            ..Explained::of_pod(&scheduler, pod, settings)
        };
        explained.start(&mut report, &start);
        if let Some(together) = &together {
            explained.see_group(&mut report, together);
        }
        explained.otherwise(&mut report, cluster, || Units::Pods(vec![Arc::clone(pod)]));
        match &start {
            // What waits for binding conditions is not placed yet, though it fits.
            Start::Cycle(cycle) if cycle.not_ready().is_empty() => {
                let claims: Vec<&Claim> = cycle.user_claims().iter().map(|claim| &**claim).collect();
                word::of_scheduler(&mut report, cluster, pod, &claims, settings.now);
                explained.wait_elsewhere(&mut report, pod);
            }
            Start::Obstacle(Obstacle::Claim(problem)) if refused.is_none() => {
                explained.doubt_unmade(&mut report, problem);
            }
            Start::Obstacle(Obstacle::Gated(_)) => without_gates(&mut report, cluster, pod, settings),
            Start::Cycle(_) | Start::Obstacle(_) | Start::Unknown(_) => {}
        }
        if let Answer::Silent(_, scheduler, _) = &report.answer
            && let Some(other) = because_of_group(cluster, pod, scheduler, settings)
        {
            return other;
        }
        attaching(&mut report, cluster, pod, settings.now);
        if report.verdict() == ClusterVerdict::DoesNotFit {
            let claims = claim_names(pod).filter_map(|name| name.find(cluster));
            report
                .notes
                .extend(claims.flat_map(|claim| stuck_users(cluster, claim, settings.now)));
            if let Some((owner, shared)) = shared_by_all(cluster, pod) {
                report.notes.push(words::shared_by_all(&manager(owner), &shared));
                report.share_no_claim(pod, owner, &shared);
            }
        }
        waiting::add_waiting(&mut report, cluster, pod);
        undecided(&mut report, cluster, &key.namespace);
    }
    if let Some((template, refusal)) = refused {
        let of_template = words::claim_from(&template.metadata.key());
        report.add_refusal(
            cluster,
            (&of_template, Some(pod)),
            &refusal,
            &quotas,
            quotas.to_be_made(asking),
        );
    }
    report
}

/// The claim that the pod names and that another pod of its owner uses on a node, as all of them do, with that owner.
fn shared_by_all<'p>(cluster: &Cluster, pod: &'p Pod) -> Option<(&'p OwnerReference, Key)> {
    let owner = pod.metadata.controller()?;
    let is_sibling = |other: &Arc<Pod>| other.node().is_some() && other.metadata.is_sibling(&pod.metadata);
    let names = pod.spec.resource_claims.iter();
    let mut keys = names
        .filter_map(|entry| entry.resource_claim_name.as_ref())
        .map(|name| pod.metadata.beside(name));
    let shared = keys.find(|key| cluster.pods_of_claim(key).any(is_sibling))?;
    Some((owner, shared))
}

/// Says what keeps the pod from fitting once its gates are removed, if it is known, and what helps where that is not a matter of nodes.
fn without_gates(report: &mut Diagnosis, cluster: &Cluster, pod: &Pod, settings: &Settings<'_>) {
    let mut free = pod.clone();
    free.spec.scheduling_gates.clear();
    let free = Arc::new(free);
    let mut other = cluster.clone();
    other.apply(Change::Put(Object::Pod(Arc::clone(&free))));
    let why = if let Start::Obstacle(Obstacle::Claim(_)) = Scheduler::new(&other, settings.now).pod(&free) {
        let found = explain_pod(&other, &free, settings);
        // Without a fix it may only take time.
        (!found.fixes.is_empty()).then(|| {
            let why = found.why();
            report.fixes.extend(found.fixes);
            report.notes.extend(found.notes);
            why
        })
    } else {
        why_alone(&other, &Units::Pods(vec![free]), settings)
    };
    let why = why.map(|why| words::without_gates(&words::why(&why)));
    report.notes.extend(why);
}

/// The same where kube-scheduler has the gate for groups of pods on, where only its silence shows that: it reports on the pods of a group
/// once all of them are there (`gangscheduling.go`, `PreEnqueue`, v1.37.2). Nothing where they are.
fn because_of_group(
    cluster: &Cluster,
    pod: &Arc<Pod>,
    scheduler: &str,
    settings: &Settings<'_>,
) -> Option<Diagnosis> {
    let gate = Gate::GenericWorkload;
    pod.pod_group()?;
    if Hanging::of(cluster, &[gate], &[Component::Scheduler]).is_empty() {
        return None;
    }
    let other = cluster.with_gate(Component::Scheduler, gate, true);
    let mut report = explain_pod(&other, pod, settings);
    let is_kept = matches!(
        report.verdict(),
        ClusterVerdict::Waits | ClusterVerdict::DoesNotFit
    ) && !matches!(report.answer, Answer::Silent(..));
    report.notes.push(words::on_by_silence(gate, scheduler));
    is_kept.then_some(report)
}

/// Says of a pod that is not there yet that its claims cannot be known, since `gap` hides their templates.
pub fn explain_unread(cluster: &Cluster, pod: &Pod, gap: &Gap) -> Diagnosis {
    let mut report = Diagnosis::new(Target::pod(&pod.key()));
    report.tell_unknown(cluster, gap);
    report.conclude(Answer::Hidden(vec![gap.clone()]));
    report
}

/// Says of what is to be explained that it could not be read; `why` says what is missing.
pub fn unjudged(target: Target, why: &str) -> Diagnosis {
    let mut report = Diagnosis::new(target);
    report.unknown.push(why.to_owned());
    report.lacks_objects = true;
    report.conclude(Answer::Unread(why.to_owned()));
    report
}

/// Explains claims, as if a pod used them together.
pub fn explain_claims(cluster: &Cluster, claims: &[Arc<Claim>], settings: &Settings<'_>) -> Diagnosis {
    let Some(first) = claims.first() else {
        return Diagnosis::new(Target::claim(&Key::default()));
    };
    let target = first.key();
    let mut report = Diagnosis::of_claim(cluster, first);
    let scheduler = Scheduler::new(cluster, settings.now);
    let start = scheduler.claims(claims);
    let explained = Explained::of_claims(&scheduler, claims, settings);
    if let [claim] = claims
        && claim.status.allocation.is_some()
    {
        if claim.metadata.is_deleting() {
            report.notes.push(words::CLAIM_IS_DELETED.to_owned());
        }
        report.notes.extend(stuck_users(cluster, claim, settings.now));
        report.notes.extend(former_users(cluster, claim));
    }
    explained.start(&mut report, &start);
    explained.otherwise(&mut report, cluster, || Units::Claims(claims.to_vec()));
    if let [claim] = claims {
        report.hold(claim);
        let are_pods_read = cluster.gap(Kind::Pod, &claim.metadata.namespace).is_none();
        if report.verdict() == ClusterVerdict::Fits
            && are_pods_read
            && is_unused(cluster, claim)
            && !claim.metadata.is_only_written()
        {
            report.notes.push(words::UNUSED.to_owned());
        }
    }
    undecided(&mut report, cluster, &target.namespace);
    let new = claims.iter().filter(|claim| claim.metadata.is_only_written());
    let new = || new.clone().map(|claim| &claim.spec);
    let quotas = Quotas::of(cluster);
    let asking = claims
        .iter()
        .filter(|claim| claim.metadata.is_only_written())
        .zip(new());
    if let Some((claim, refusal)) = quotas.first_refused(&target.namespace, asking) {
        report.add_refusal(
            cluster,
            (&format!("claim/{}", claim.key()), None),
            &refusal,
            &quotas,
            new(),
        );
    }
    report
}

/// Why `units` do not fit on `cluster` as it is taken to be; nothing where that is undecided.
fn why_alone(cluster: &Cluster, units: &Units, settings: &Settings<'_>) -> Option<Why> {
    let scheduler = Scheduler::new(cluster, settings.now);
    let mut report;
    match units {
        Units::Claims(claims) => {
            report = Diagnosis::new(Target::claim(&claims.first()?.key()));
            let explained = Explained::of_claims(&scheduler, claims, settings);
            explained
                .cause_only()
                .start(&mut report, &scheduler.claims(claims));
        }
        Units::Pods(pods) => {
            let [pod] = pods.as_slice() else { return None };
            report = Diagnosis::new(Target::pod(&pod.key()));
            let together = group::cycle(&scheduler, pod, settings);
            let scheduler = group::at_turn(&scheduler, together.as_ref(), pod);
            let explained = Explained::of_pod(&scheduler, pod, settings).cause_only();
            explained.start(&mut report, &scheduler.pod(pod));
            if let Some(together) = &together {
                explained.see_group(&mut report, together);
            }
        }
    }
    (report.verdict() == ClusterVerdict::DoesNotFit).then(|| report.why())
}

/// The explained object, and its cluster.
struct Explained<'e> {
    scheduler: &'e Scheduler,
    pod: Option<&'e Arc<Pod>>,
    /// Whether a quota keeps a claim of the pod from being created.
    is_refused: bool,
    subject: Subject,
    /// Whether fixes are searched.
    has_fixes: bool,
    settings: &'e Settings<'e>,
}

impl<'e> Explained<'e> {
    fn of_pod(scheduler: &'e Scheduler, pod: &'e Arc<Pod>, settings: &'e Settings<'e>) -> Self {
        Self {
            scheduler,
            pod: Some(pod),
            is_refused: false,
            subject: Subject::Pod(Arc::clone(pod)),
            has_fixes: settings.has_fixes,
            settings,
        }
    }

    fn of_claims(scheduler: &'e Scheduler, claims: &[Arc<Claim>], settings: &'e Settings<'e>) -> Self {
        Self {
            scheduler,
            pod: None,
            is_refused: false,
            subject: Subject::Claims(claims.iter().map(|claim| claim.key()).collect()),
            has_fixes: settings.has_fixes,
            settings,
        }
    }

    /// The same without fixes.
    fn cause_only(self) -> Self {
        Self {
            has_fixes: false,
            ..self
        }
    }

    fn cluster(&self) -> &'e Cluster {
        self.scheduler.cluster()
    }

    fn start(&self, report: &mut Diagnosis, start: &Start<'_>) {
        let mut trust = Trust::of(self.scheduler, start, self.pod.map(|pod| &**pod));
        report.notes.append(&mut trust.notes);
        report.has_known_bug |= trust.has_known_bug;
        report.panic = trust.panic.take();
        match start {
            Start::Unknown(gaps) => self.unknown(report, gaps),
            Start::Obstacle(obstacle) => self.obstacle(report, obstacle),
            Start::Cycle(cycle) => self.nodes(report, cycle, &mut trust),
        }
        report.exactness = Some(trust.exactness);
    }

    /// Reports the unknown facts that the verdict depends on for `cluster`, in which no pod has had its turn yet.
    fn otherwise(&self, report: &mut Diagnosis, cluster: &Cluster, units: impl FnOnce() -> Units) {
        if !matches!(
            report.verdict(),
            ClusterVerdict::Fits | ClusterVerdict::DoesNotFit | ClusterVerdict::Error
        ) {
            return;
        }
        let units = units();
        let known = OnceCell::new();
        let otherwise = otherwise(cluster, words::why, |other| {
            let fit = |cluster| alone(cluster, &units, self.settings).result;
            let known = *known.get_or_init(|| fit(cluster));
            // Mostly it does not fit there either, and the reason is all that is left to find out.
            if known == Fit::DoesNotFit
                && let Some(why) = why_alone(other, &units, self.settings)
            {
                return (report.why() != why).then_some(Other::Cause(why));
            }
            Other::verdict(known, fit(other))
        });
        if otherwise.is_doubtful() {
            report.exactness = Some(Exactness::FitOnly);
        }
        // That every attempt fails for a gate which the API server has on is hardly how it is.
        let mut contradicted = otherwise
            .gates
            .iter()
            .filter(|gate| gate.on_in_api_server.is_some());
        match contradicted.next() {
            Some(gate) if report.verdict() == ClusterVerdict::Error => {
                report.message.clone_from(&report.said);
                let text = gate.text();
                report.conclude(Answer::Open(words::fails_by_default(&text)));
            }
            _ => report.notes.extend(otherwise.notes()),
        }
        if report.verdict() == ClusterVerdict::DoesNotFit {
            let minor = cluster.environment().emulated_minor;
            let fixes = otherwise.lacking.iter();
            let fixes = fixes.map(|(gate, components)| FixItem::enable(*gate, components, minor));
            report.fixes.splice(..0, fixes);
        }
        report.assumed_gates = otherwise.gates;
        report.assumed_release = otherwise.release;
        if report.verdict() == ClusterVerdict::Fits
            && let Some(panic) = report.panic.take()
        {
            let was = Box::new(report.answer.clone());
            report.conclude(Answer::Panics(was, panic));
        }
        if let Some(order) = otherwise.order {
            report.conclude(Answer::Open(order.clone()));
            report.exactness = Some(Exactness::FitOnly);
            report.unknown.push(order);
        }
    }

    fn unknown(&self, report: &mut Diagnosis, gaps: &[Gap]) {
        for gap in gaps {
            report.tell_unknown(self.cluster(), gap);
        }
        report.conclude(Answer::Hidden(gaps.to_vec()));
        // What the scheduler has said itself is still there.
        report.message.clone_from(&report.said);
    }

    fn obstacle(&self, report: &mut Diagnosis, obstacle: &Obstacle) {
        let message = message_of_obstacle(self.cluster(), self.pod.map(|pod| &**pod), obstacle);
        report.message = message.text().map(str::to_owned);
        report.conclude(Answer::Obstacle(obstacle.clone()));
        report.reasons.push(Reason::of_obstacle(obstacle));
        self.unproven(report, obstacle);
        if matches!(obstacle, Obstacle::Request(_)) {
            self.fixes(report);
        }
    }

    /// Says that waiting helps on nodes that lack devices now, where filters which are not simulated reject the others: these come before the
    /// filter for devices (`scheduler/apis/config/v1/default_plugins.go`, `applyDynamicResources`, v1.37.2), so the former have passed them.
    fn wait_elsewhere(&self, report: &mut Diagnosis, pod: &Arc<Pod>) {
        let Some(Cause::Rejected(rejected, _)) = &report.cause else {
            return;
        };
        if report.nodes.len() == rejected.len() {
            return;
        }
        let mut others = self.cluster().clone();
        for node in rejected {
            others.apply(Change::Delete(Kind::Node, Key::new("", node.clone())));
        }
        let scheduler = Scheduler::new(&others, self.settings.now);
        let mut found = Diagnosis::new(report.target.clone());
        let explained = Explained::of_pod(&scheduler, pod, self.settings).cause_only();
        explained.start(&mut found, &scheduler.pod(pod));
        let helps = |waiting: &WaitingItem| matches!(waiting.helps, Helps::WhenOneEnds | Helps::WhenEnd);
        report.waiting = found.waiting.filter(helps).or(report.waiting.take());
    }

    /// What has to be there first. What it would hold cannot be known, so it cannot be proven to help.
    fn unproven(&self, report: &mut Diagnosis, obstacle: &Obstacle) {
        let by_hand = Remedy::by_hand;
        let fix = match obstacle {
            Obstacle::Claim(problem) if self.told_unmade(report, problem) => return,
            Obstacle::Claim(ClaimProblem::Missing { claim }) => {
                let target = format!("claim/{claim}");
                let found = report.tell_namesake(self.cluster(), Kind::ResourceClaim, claim);
                let message = words::fixes::create(&target, found.as_ref());
                let who = words::fixes::create_how(Kind::ResourceClaim, found.as_ref());
                if self.cluster().template(claim).is_some() {
                    report.notes.push(words::template_is_meant(claim));
                }
                FixItem::unproven("CreateClaim", target, message, by_hand(who))
            }
            Obstacle::Claim(ClaimProblem::Deleting { claim }) => self.awaited(claim),
            Obstacle::Claim(ClaimProblem::Owner { .. }) => {
                self.recreated(report);
                return;
            }
            Obstacle::Request(RequestProblem::NoClass { class, .. }) => {
                let target = format!("deviceclass/{class}");
                let message = words::fixes::create(&target, None);
                let who = words::fixes::create_how(Kind::DeviceClass, None);
                let look = Command::kubectl("get").arg("deviceclasses").done();
                FixItem::unproven("CreateClass", target, message, by_hand(who)).look(look)
            }
            Obstacle::Group(_) => {
                let gang = self
                    .pod
                    .and_then(|pod| Some((pod, self.scheduler.short_gang(pod)?)));
                let Some((pod, gang)) = gang else { return };
                report.notes.push(words::short_gang(&gang));
                match FixItem::complete(self.cluster(), pod, &gang) {
                    Some(fix) => fix,
                    None => return,
                }
            }
            Obstacle::Gated(gates) => {
                let Some(pod) = self.pod else { return };
                let queued = Queued::of_pod(self.cluster(), pod);
                let admitted = Queued::admitted(self.cluster(), pod);
                let now = self.settings.now;
                let fixes = gates::lifted(pod, gates, queued.as_ref(), admitted, now);
                report.fixes.extend(fixes);
                report.cause = queued.map(Cause::Queued);
                return;
            }
            _ => return,
        };
        report.fixes.push(fix);
    }

    /// A claim that is being deleted, which a pod needs again.
    fn awaited(&self, key: &Key) -> FixItem {
        let target = format!("claim/{key}");
        let claim = self.cluster().claim(key);
        let origin = claim.map(|claim| (claim, Origin::of(self.cluster(), claim)));
        let kept = claim.and_then(|claim| drop_finalizers(Kind::ResourceClaim, &claim.metadata));
        // As long as it is held, Kubernetes keeps it, too.
        let is_held = claim.is_some_and(|claim| claim.status.allocation.is_some() || claim.is_protected());
        let (names, dropped) = kept.unwrap_or_default();
        let gone = words::fixes::gone(&target, &names, is_held);
        let only_kept = !names.is_empty() && !is_held;
        let (message, remedy) = match origin {
            Some((claim, Origin::Made)) => {
                // With the end of its last consumer the claim is gone: it is saved before.
                let saved = Remedy::command(save_without_finalizers(Kind::ResourceClaim, key));
                let again = Remedy::command(replace_saved(Kind::ResourceClaim, key));
                let group = self.pod.and_then(|pod| pod.pod_group());
                let mut entries = claim.status.reserved_for.iter();
                let end = if claim.status.reserved_for.is_empty() {
                    Remedy::default()
                } else if entries.any(|entry| entry.is_pod_group() && group == Some(&entry.name)) {
                    Remedy::by_hand(words::fixes::of_own_group(&target))
                } else if spared(self.cluster(), self.pod, claim).is_some() {
                    Remedy::by_hand(words::fixes::of_own_owner(&target))
                } else {
                    end_consumers(self.cluster(), claim)
                };
                let ends = end
                    .command
                    .is_some()
                    .then(|| users(self.cluster(), claim).unwrap_or_default());
                let ends = ends.unwrap_or_default();
                let ends: Vec<String> = ends.iter().map(|pod| format!("pod/{}", pod.key())).collect();
                let dropped = if only_kept { dropped } else { Remedy::default() };
                (
                    words::fixes::recreated(&gone, &ends),
                    saved.and(end).and(dropped).and(again),
                )
            }
            _ if only_kept => (words::fixes::new_one(&gone), dropped),
            _ => (
                words::fixes::new_one(&gone),
                Remedy::command(
                    Command::kubectl("wait")
                        .arg("--for=delete")
                        .object(Kind::ResourceClaim, &key.name)
                        .namespace(&key.namespace)
                        .done(),
                ),
            ),
        };
        let kind = if only_kept {
            "RemoveFinalizer"
        } else {
            "WaitForDeletion"
        };
        FixItem::unproven(kind, target, message, remedy)
    }

    /// Finds fixes for the pod once it is recreated with its own claims.
    fn recreated(&self, report: &mut Diagnosis) {
        let Some(pod) = self.pod else { return };
        if let Some(other) = other_scheduler(self.cluster().environment(), pod) {
            return report.notes.push(words::unknown_recreated(&other));
        }
        let mut cluster = self.cluster().clone();
        let mut fresh = Pod::clone(pod);
        fresh.status.resource_claim_statuses.clear();
        let made = match generate_claims(&mut cluster, &Arc::new(fresh)) {
            Ok(made) => made,
            Err(why) => {
                report.notes.push(why.to_string());
                return;
            }
        };
        let scheduler = self.scheduler.fork(&cluster);
        let cycle = match scheduler.pod(&made) {
            Start::Cycle(cycle) => cycle,
            Start::Obstacle(obstacle) => {
                report.notes.push(words::not_even_recreated(&obstacle.text()));
                return;
            }
            Start::Unknown(gaps) => {
                report.notes.push(words::unread_recreated(&gaps));
                return;
            }
        };
        let nodes: Vec<&Arc<Node>> = cluster.nodes().collect();
        let answers = judge_all(
            &cycle,
            &nodes,
            self.settings.budget,
            self.settings.observer,
            self.settings.run,
        );
        let fits = answers.iter().filter(|(_, judgment)| judgment.verdict.fits());
        let fits: Vec<Str> = fits.map(|(node, _)| node.metadata.name.clone()).collect();
        let fixes = if fits.is_empty() {
            smallest(&scheduler, &Subject::Pod(Arc::clone(&made)), &self.effort(false))
        } else {
            Fixes::default()
        };
        report.add_recreation(&cluster, &made, fits, &fixes, self.settings.now);
    }

    fn nodes(&self, report: &mut Diagnosis, cycle: &Cycle<'_>, trust: &mut Trust) {
        let nodes: Vec<&Arc<Node>> = self.cluster().nodes().collect();
        let settings = self.settings;
        let answers = judge_all(cycle, &nodes, settings.budget, settings.observer, settings.run);
        trust.see(answers.iter().map(|(node, judgment)| (*node, judgment)));
        report.notes.append(&mut trust.notes);
        let timeouts = timeouts(cycle, &answers, settings);
        trust.see_time(timeouts.is_feared);
        report.notes.extend(timeouts.note);
        let open = answers.iter().filter(|(_, judgment)| is_open(judgment));
        let open: Vec<Str> = open.map(|(node, _)| node.metadata.name.clone()).collect();
        let verdicts: Vec<(&Arc<Node>, Verdict)> = answers
            .into_iter()
            .map(|(node, judgment)| (node, judgment.verdict))
            .collect();
        let fitting = verdicts.iter().filter_map(|(node, verdict)| match verdict {
            Verdict::Fits(granted) => Some((*node, granted.as_slice())),
            _ => None,
        });
        let pod = self.pod.map(|pod| &**pod);
        let evicted = pod.filter(|_| is_evicted_at_once(self.cluster(), fitting.clone(), self.settings.now));
        report.notes.splice(..0, caveats(self.cluster(), pod, fitting));
        let selectors = ClassSelectors::of(self.cluster());
        let looks = reasons::Looks::new(&selectors);
        report.nodes = verdicts
            .iter()
            .map(|(node, verdict)| NodeDiagnosis::new(cycle, node, verdict, &looks))
            .collect();
        report.filters = FilterCount::of(&report.nodes);
        let not_ready = cycle.not_ready().into_iter();
        let not_ready = not_ready.map(|(claim, state)| Reason::of_claim(claim.key(), Fact::Binding(state)));
        report.reasons.extend(not_ready);
        let full = cycle.full_claims().map(|claim| claim.key());
        let full = full.map(|key| Reason::of_claim(key, Fact::TooManyConsumers));
        report.reasons.extend(full);
        let mut incomplete = None;
        let is_sure = |node: &Node| !open.contains(&node.metadata.name);
        let fitting = verdicts
            .iter()
            .filter(|(node, verdict)| verdict.fits() && is_sure(node));
        let fits = fitting.count();
        let any = |is: fn(&Verdict) -> bool| verdicts.iter().any(|(_, verdict)| is(verdict));
        let gave_up = any(|verdict| matches!(verdict, Verdict::GaveUp));
        let exhausted = self.cluster().meter().exhausted();
        let error = verdicts.iter().find_map(|(_, verdict)| match verdict {
            Verdict::Error(error) => Some(error),
            _ => None,
        });
        if let Some(error) = error {
            report.message = message(cycle, &verdicts).and_then(|message| message.text().map(str::to_owned));
            report.conclude(Answer::Error);
            if let Failure::Pool(pool) = &error.failure {
                report.add_incomplete(self.cluster(), &pool.0, self.settings.now);
            }
            report.cause = Some(Cause::Error(error.clone()));
            waiting::add_error(report);
        } else if fits > 0 && !(gave_up && exhausted.is_some()) {
            match cycle.full_claims().next() {
                // The scheduler learns of it only when it writes.
                Some(full) => {
                    report.conclude(Answer::Full(fits, nodes.len(), full.key()));
                    report.cause = Some(Cause::TooManyConsumers(full.key()));
                    report.notes.push(words::FULL.to_owned());
                    report.fixes.extend(FixItem::of_former(self.cluster(), full));
                }
                None if let Some(pod) = evicted => {
                    report.conclude(Answer::Evicted(fits, nodes.len()));
                    report.fixes.push(FixItem::drop_toleration(pod));
                }
                None => report.conclude(Answer::Fits(fits, nodes.len())),
            }
            let mut fitting = verdicts.iter().filter(|(_, verdict)| verdict.fits());
            if self.pod.is_none() && fitting.all(|(node, _)| node.spec.unschedulable) {
                report.notes.push(words::CORDONED_ONLY.to_owned());
            }
            for (claim, state) in cycle.not_ready() {
                report.add_binding(claim, &state);
            }
            return;
        } else if gave_up {
            report.conclude(Answer::GaveUp(exhausted));
            return;
        } else if let Some(first) = open.first() {
            report.conclude(Answer::OpenNode(first.clone()));
            return;
        } else {
            report.message = message(cycle, &verdicts).and_then(|message| message.text().map(str::to_owned));
            report.conclude(Answer::Nowhere(nodes.len()));
            report.node_groups = NodeGroup::of(&report.nodes);
            report.cause = Some(groups::cause(report, cycle, &selectors));
            let reasons = report.nodes.iter().flat_map(|node| &node.reasons);
            let pools = reasons.filter_map(|reason| match &reason.fact {
                Fact::PoolIncomplete(pool, _) => Some(pool.clone()),
                _ => None,
            });
            incomplete = pools.min();
            let is_cause = matches!(
                report.cause,
                Some(Cause::Alike(
                    Brief::Slices(..) | Brief::Fact(Fact::PoolIncomplete(..))
                ))
            );
            if let Some(pool) = incomplete.take_if(|_| is_cause) {
                report.add_incomplete(self.cluster(), &pool, self.settings.now);
            }
            if let Some(Cause::AllocatedNowhere(key, selector)) = &report.cause {
                let fix = FixItem::of_labels(self.cluster(), key, selector);
                report.fixes.push(fix);
            }
            if let Some(Cause::NotAll(not_all)) = &report.cause
                && not_all.in_use > 0
            {
                report.notes.push(words::ADMIN_ACCESS.to_owned());
            }
            waiting::add(report, self);
            report.notes.extend(self.rounded(report));
            if let Some(found) = groups::republishing(report, cycle, &selectors, settings.now) {
                waiting::add_republishing(report, &found);
                if found.is_cause {
                    report.cause = Some(Cause::Republishing(found));
                    return;
                }
                report.notes.push(words::republishing(&found));
                report.fixes.extend(FixItem::await_publishing(&found.nodes));
            }
            outdated::add(report, cycle, &selectors);
            groups::add_same_pools(report, self.cluster());
            let is_of_resources = |node: &NodeDiagnosis| node.plugin == Some("NodeResourcesFit");
            if report.nodes.iter().any(is_of_resources)
                && let Some(pod) = self.pod
                && let Some(cause) = groups::unoffered(self.cluster(), pod, &selectors)
            {
                if let Cause::Unoffered(resource, _) = &cause {
                    waiting::add_unoffered(report, resource);
                    if let Some(class) = implicit_class(resource) {
                        _ = report.tell_namesake(self.cluster(), Kind::DeviceClass, &Key::new("", class));
                    }
                }
                report.cause = Some(cause);
            }
            if let Some(Cause::Alike(Brief::Fact(Fact::RuledOut(_, Evidence::Lacking(lacking))))) =
                &report.cause
            {
                report.notes.extend(words::keeps_alignment(lacking));
            }
            self.drivers(report, cycle, &selectors);
            report
                .notes
                .extend(groups::lost_devices(report, cycle, &selectors));
            self.shared_resources(report);
            self.rules_of_taints(report);
        }
        self.releases(report, cycle, &verdicts);
        self.fixes(report);
        // A node that is about to have devices, one that an autoscaler could add, and a driver that publishes the rest of a pool, are better than
        // the end of somebody's pod.
        let mut proven = report.fixes.iter().filter(|fix| fix.proven && !fix.risky);
        if proven.all(|fix| matches!(fix.kind, "ReleaseClaim" | "AddNode")) {
            report.repair_devices();
            if let Some(pool) = incomplete {
                report.add_incomplete(self.cluster(), &pool, self.settings.now);
                report.fixes.rotate_right(1);
            }
            if let Some(pod) = self.pod {
                self.add_node(report, pod);
            }
            let unpublished = Unpublished::of(self.cluster(), self.settings.now);
            self.restore_node(report, &unpublished);
            let starting = self.await_new_nodes(report, &unpublished);
            waiting::add_starting(report, &starting);
            self.await_updated_node(report, &unpublished);
        }
    }

    /// Notes which of several classes counts that name an extended resource of the pod.
    fn shared_resources(&self, report: &mut Diagnosis) {
        let Some(pod) = self.pod else { return };
        let environment = self.cluster().environment();
        if !environment.enabled(Component::Scheduler, Gate::DRAExtendedResource) {
            return;
        }
        let requests = pod_requests(pod);
        for (resource, classes) in classes_of_resources(self.cluster()) {
            if let [first, others @ ..] = classes.as_slice()
                && !others.is_empty()
                && requests.contains_key(resource)
            {
                report.notes.push(words::shared_class(resource, first, others));
            }
        }
    }

    /// Notes which devices the rules taint that set untolerated taints.
    fn rules_of_taints(&self, report: &mut Diagnosis) {
        let reasons = report.nodes.iter().flat_map(|node| &node.reasons);
        let taints: Vec<&Taint> = reasons
            .filter_map(|reason| match &reason.fact {
                Fact::RuledOut(RuledOut::Tainted, Evidence::Taints(taints)) => Some(taints),
                _ => None,
            })
            .flatten()
            .collect();
        let is_of = |rule: &&Arc<TaintRule>| {
            let Taint {
                key, value, effect, ..
            } = &rule.spec.taint;
            let mut all = taints.iter();
            all.any(|taint| (&taint.key, &taint.value, &taint.effect) == (key, value, effect))
        };
        let rules = self.cluster().rules().filter(is_of);
        report.notes.extend(rules.map(|rule| words::tainting(rule)));
    }

    /// Finds the driver that is to publish devices which the pod lacks.
    fn drivers(&self, report: &mut Diagnosis, cycle: &Cycle<'_>, selectors: &ClassSelectors) {
        let mut fix_of_class = None;
        if let Some(Cause::Absent(Absence::OtherClasses(class, ..) | Absence::Unpublished(class))) =
            &report.cause
        {
            if let Some((driver, other)) = namesake::misspelled_driver(self.cluster(), class) {
                report
                    .notes
                    .push(words::misspelled_driver(class, &driver, &other));
            } else {
                fix_of_class = FixItem::of_class(self.cluster(), class);
            }
        }
        let fix = match groups::unserved(report, cycle, selectors, self.settings.now) {
            Some((unserved, true)) => {
                let fix = FixItem::keep_off(&unserved, self.pod);
                let fix = fix.unwrap_or_else(|| FixItem::of_driver(&unserved));
                report.cause = Some(Cause::Unserved(unserved));
                Some(fix)
            }
            Some((unserved, false)) => {
                report.notes.push(words::unserved(&unserved));
                Some(FixItem::of_driver(&unserved))
            }
            None => fix_of_class,
        };
        report.fixes.extend(fix);
    }

    /// That the policy of the devices makes more of the amount of a capacity that is requested, where that is short.
    fn rounded(&self, report: &Diagnosis) -> Option<String> {
        let short = report.node_groups.iter().find_map(|group| match &group.reason {
            Some(Brief::Amounts(Limited::Capacity(name), amounts)) => Some((name, &amounts.wanted)),
            _ => None,
        });
        let (name, wanted) = short?;
        let claims = self.subject.own_claims(self.cluster());
        let mut specs = claims.iter().flat_map(|claim| claim.spec.devices.requests.iter());
        let asked = specs.find_map(|request| {
            let mut specs = request.exactly.iter().chain(&request.first_available);
            specs.find_map(|spec| lookup(&spec.capacity.as_ref()?.requests, name))
        })?;
        (asked < wanted).then(|| words::rounded(name, asked, wanted))
    }

    fn effort(&self, fails: bool) -> Effort<'_> {
        Effort {
            trials: TRIALS,
            most_changes: MOST_CHANGES,
            most_found: MOST_FOUND,
            fails,
            budget: self.settings.budget,
            observer: self.settings.observer,
            run: self.settings.run,
        }
    }

    fn fixes(&self, report: &mut Diagnosis) {
        if !self.has_fixes {
            return;
        }
        let mut fixes = smallest(
            self.scheduler,
            &self.subject,
            &self.effort(report.verdict() == ClusterVerdict::Error),
        );
        // A claim is not freed of those that it is for.
        if let Subject::Claims(keys) = &self.subject {
            let ends_user =
                |fix: &Fix| matches!(fix, Fix::Release { claim, in_use: true } if keys.contains(claim));
            fixes.found.retain(|found| !found.changes.iter().any(ends_user));
        }
        let is_new = match &self.subject {
            Subject::Pod(pod) => pod.metadata.is_of_manifest(),
            Subject::Claims(keys) => {
                let mut claims = keys.iter().filter_map(|key| self.cluster().claim(key));
                claims.any(|claim| claim.metadata.is_of_manifest())
            }
        };
        let helped = Helped {
            cluster: self.cluster(),
            pod: self.pod,
            is_recreated: false,
            is_new,
            now: self.settings.now,
        };
        // All of a group have to fit together.
        let is_alone = self.pod.is_none_or(|pod| pod.pod_group().is_none());
        let new_node = |nodes: &[Str]| {
            let model = fits_on_new(self.scheduler, &self.subject, nodes, &self.effort(false));
            model.filter(|_| is_alone).cloned()
        };
        report.add_fixes(&helped, &fixes, new_node);
        report.prove_limit(self.cluster(), &fixes);
    }
}

/// Warnings about an object, newest last, those of one text once, without those that are over.
fn events(cluster: &Cluster, kind: Kind, metadata: &Meta, is_over: impl Fn(&Event) -> bool) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for event in cluster.events_of(kind, metadata) {
        let is_shown = event.type_ == "Warning" || is_of_autoscaler(event);
        if !is_shown || is_over(event) {
            continue;
        }
        let mut warning = Warning::of(event);
        warnings.retain(|known| {
            let is_same = (&known.reason, &known.message) == (&warning.reason, &warning.message);
            if is_same {
                let first = known.often.map_or(known.last, |often| often.since);
                warning.often = Some(Often::together(event, known.often, first));
                warning.last = warning.last.max(known.last);
            }
            !is_same
        });
        warnings.push(warning);
    }
    warnings
}

/// The first container of a pod that ended with an error, and its exit code.
fn failing_end(pod: &Pod) -> Option<(Str, i32)> {
    let status = &pod.status;
    let all = status
        .init_container_statuses
        .iter()
        .chain(&status.container_statuses);
    let mut ends = all.filter_map(|container| Some((container, container.state.terminated.as_ref()?)));
    let (container, end) = ends.find(|(_, end)| end.exit_code != 0)?;
    Some((container.name.clone(), end.exit_code))
}

/// Names what could not be read of what does not determine the verdict, and would be reported.
fn undecided(report: &mut Diagnosis, cluster: &Cluster, namespace: &Str) {
    for kind in [Kind::ResourceQuota, Kind::Event] {
        if let Some(gap) = cluster.gap(kind, namespace) {
            report.tell_unknown(cluster, gap);
        }
    }
}
