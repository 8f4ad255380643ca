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
mod nodes;
mod obstacle;
mod outdated;
mod own;
mod owned;
mod reasons;
mod rejected;
mod report;
mod shortage;
mod unmade;
mod unserved;
mod user;
mod waiting;
mod word;
mod words;

use std::cell::OnceCell;
use std::sync::Arc;

use self::bound::{allocated_twice, attaching, bound, ended, former_users, stuck_users, told_by_drivers};
use self::coming::is_of_autoscaler;
use self::diagnosis::{Answer, Cause, Warning};
use self::fact::Often;

use super::allocation::words::claim_from;
use super::allocation::{Exactness, Fit, Other, Settings, Target, Trust, Units, alone, otherwise, place_all};

use super::stage::unlisted_text;

use dra_model::{
    Change, Claim, ClaimTemplate, Cluster, Component, ContainerEnd, Event, Gap, Gate, Key, Kind, Meta,
    Object, OwnerReference, Pod, Str, Version,
};
use dra_rules::kubelet::is_over;

use dra_rules::quota::Quotas;
use dra_rules::reservation::{claim_names, is_done, manager, unlisted};
use dra_rules::scheduling::{
    Effort, GenerateError, Hanging, KnownBug, Obstacle, Scheduler, Start, Subject, foreign_scheduler,
    generate_claims, not_simulated, victims,
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
pub(crate) use word::{of_claim_controller, unmade_since};
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
    if pod.is_terminal() || is_done(pod) {
        report.conclude(if pod.is_terminal() {
            Answer::Ended(pod.status.phase.clone(), failing_end(pod))
        } else {
            Answer::Deleted(pod.metadata.finalizers.clone())
        });
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
    } else if let Some(other) = without_node(&mut report, cluster, pod, refused.is_some(), settings) {
        return other;
    }
    if let Some((template, refusal)) = refused {
        let of_template = claim_from(&template.metadata.key());
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

/// Explains a pod that has no node; one of its claims that are to be made may be refused. Returns another report in the place of this one,
/// where what is known of the gates is not so.
fn without_node(
    report: &mut Diagnosis,
    cluster: &Cluster,
    pod: &Arc<Pod>,
    is_refused: bool,
    settings: &Settings<'_>,
) -> Option<Diagnosis> {
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
        is_refused,
        ..Explained::of_pod(&scheduler, pod, settings)
    };
    explained.start(report, &start);
    if let Some(together) = &together {
        explained.see_group(report, together);
    }
    explained.otherwise(report, cluster, || Units::Pods(vec![Arc::clone(pod)]));
    match &start {
        // What waits for binding conditions is not placed yet, though it fits.
        Start::Cycle(cycle) if cycle.not_ready().is_empty() => {
            let claims: Vec<&Claim> = cycle.user_claims().iter().map(|claim| &**claim).collect();
            word::of_scheduler(report, cluster, pod, &claims, settings.now);
            explained.wait_elsewhere(report, pod);
        }
        Start::Obstacle(Obstacle::Claim(problem)) if !is_refused => {
            explained.doubt_unmade(report, problem);
        }
        Start::Obstacle(Obstacle::Gated(_)) => without_gates(report, cluster, pod, settings),
        Start::Cycle(_) | Start::Obstacle(_) | Start::Unknown(_) => {}
    }
    let scheduler = match &report.answer {
        Answer::Silent(_, scheduler, _) => Some(scheduler),
        _ => None,
    };
    if (scheduler.is_some() || report.verdict() == ClusterVerdict::Fits)
        && pod.condition("PodScheduled").is_none()
        && let Some(other) = because_of_group(cluster, pod, scheduler, settings)
    {
        return Some(other);
    }
    attaching(report, cluster, pod, settings.now);
    if report.verdict() == ClusterVerdict::DoesNotFit {
        let claims = claim_names(pod).filter_map(|name| name.find(cluster));
        report
            .notes
            .extend(claims.flat_map(|claim| stuck_users(cluster, claim, settings.now)));
        report
            .notes
            .extend(shares_alone(cluster, pod).map(|template| words::shares_alone(&template)));
        report.supersede(cluster, pod);
        let end = |victim| cluster.pod(victim)?.metadata.deletion_timestamp;
        let due = victims.iter().filter_map(end).max();
        // Room is made already, and whatever else would make some is not needed.
        if let Some(due) = due.filter(|due| *due >= settings.now) {
            report.fixes = victims
                .first()
                .map(|victim| FixItem::await_end(victim, due))
                .into_iter()
                .collect();
        }
        if let Some((owner, shared)) = shared_by_all(cluster, pod) {
            if !report.cause.as_ref().is_some_and(Cause::is_of_sharing) {
                report.notes.push(words::shared_by_all(&manager(owner), &shared));
            }
            report.share_no_claim(pod, owner, &shared);
        }
        report.add_others();
    }
    report.supersede_missing(cluster, pod);
    waiting::add_waiting(report, cluster, pod);
    undecided(report, cluster, &pod.metadata.namespace);
    None
}

/// The template of a claim of the pod whose configuration shares devices, though each pod gets a claim of its own.
fn shares_alone(cluster: &Cluster, pod: &Pod) -> Option<Key> {
    let mut templates = pod.spec.resource_claims.iter().filter_map(|entry| {
        cluster.template(&pod.metadata.beside(entry.resource_claim_template_name.as_ref()?))
    });
    let shares = |template: &&Arc<ClaimTemplate>| {
        let mut configs = template.spec.spec.devices.config.iter();
        configs.any(|config| {
            let parameters = config
                .opaque
                .as_ref()
                .and_then(|opaque| opaque.parameters_value());
            parameters.is_some_and(|parameters| parameters.get("sharing").is_some())
        })
    };
    templates.find(shares).map(|template| template.metadata.key())
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

/// The same where kube-scheduler has the gate for groups of pods on, as the API server had, which without it drops the field of the pod: it
/// reports on the pods of a group once all of them are there (`gangscheduling.go`, `PreEnqueue`, v1.37.2). Nothing where they are. The
/// silence of `scheduler` shows the same.
fn because_of_group(
    cluster: &Cluster,
    pod: &Arc<Pod>,
    scheduler: Option<&Str>,
    settings: &Settings<'_>,
) -> Option<Diagnosis> {
    let gate = Gate::GenericWorkload;
    pod.pod_group().filter(|_| !pod.metadata.is_only_written())?;
    if Hanging::of(cluster, &[gate], &[Component::Scheduler]).is_empty() {
        return None;
    }
    let other = cluster.with_gate(Component::Scheduler, gate, true);
    let mut report = explain_pod(&other, pod, settings);
    let is_kept = matches!(
        report.verdict(),
        ClusterVerdict::Waits | ClusterVerdict::DoesNotFit
    ) && !matches!(report.answer, Answer::Silent(..));
    report
        .notes
        .push(words::assumed_on(gate, scheduler.map(Str::as_str)));
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
    report.conclude(Answer::Open(why.to_owned()));
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
    let quotas = Quotas::of(cluster);
    let asking = new.clone().map(|claim| (claim, &claim.spec));
    if let Some((claim, refusal)) = quotas.first_refused(&target.namespace, asking) {
        report.add_refusal(
            cluster,
            (&format!("claim/{}", claim.key()), None),
            &refusal,
            &quotas,
            new.map(|claim| &claim.spec),
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
        report.has_known_bug |= !trust.bugs.is_empty();
        report.bugs.append(&mut trust.bugs);
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
            let decides = |bug: &&KnownBug| {
                bug.fix.minor <= Version::NEWEST_MINOR
                    && alone(&with_fix(cluster, bug), &units, self.settings).result == Fit::Fits
            };
            if let Some(bug) = report.bugs.iter().find(decides).copied() {
                report.deciding = Some(bug);
                report.fixes.insert(0, FixItem::upgrade_scheduler(bug));
            }
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

    /// Says that waiting helps on nodes that lack devices now, where filters which are not simulated reject the others: these come before the
    /// filter for devices (`scheduler/apis/config/v1/default_plugins.go`, `applyDynamicResources`, v1.37.2), so the former have passed them.
    fn wait_elsewhere(&self, report: &mut Diagnosis, pod: &Arc<Pod>) {
        let Some(Cause::Rejected(rejected, by, _)) = &report.cause else {
            return;
        };
        // Filters that reject more nodes than those reject some that lack devices, too.
        let counts: Option<Vec<usize>> = by.iter().map(|rejection| rejection.nodes).collect();
        let count = counts.map(|counts| counts.into_iter().fold(0, usize::saturating_add));
        if report.nodes.len() == rejected.len() || count != Some(rejected.len()) {
            return;
        }
        let mut others = self.cluster().clone();
        for node in rejected {
            others.apply(Change::Delete(Kind::Node, Key::new("", node.clone())));
        }
        let scheduler = Scheduler::new(&others, self.settings.now);
        let mut found = Diagnosis::new(report.target.clone());
        let explained = Explained {
            has_fixes: self.has_fixes,
            ..Explained::of_pod(&scheduler, pod, self.settings)
        };
        explained.start(&mut found, &scheduler.pod(pod));
        let helps = |waiting: &WaitingItem| matches!(waiting.helps, Helps::WhenOneEnds | Helps::WhenEnd);
        if let Some(waiting) = found.waiting.filter(helps) {
            report.waiting = Some(waiting);
            report.ended.append(&mut found.ended);
            let ends = found.fixes.into_iter().filter(|fix| fix.kind == "ReleaseClaim");
            report.fixes.extend(ends);
        }
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

/// The same cluster as if kube-scheduler had the fix of a bug, and its feature gates as they are.
fn with_fix(cluster: &Cluster, bug: &KnownBug) -> Cluster {
    let environment = cluster.environment();
    let gates = Gate::all().filter(|gate| gate.stage_in(bug.fix.minor).is_some());
    gates.fold(cluster.with_release(bug.fix), |fixed, gate| {
        let enabled = environment.enabled(Component::Scheduler, gate);
        fixed.with_gate(Component::Scheduler, gate, enabled)
    })
}

/// The first container of a pod that ended with an error, and how.
fn failing_end(pod: &Pod) -> Option<(Str, ContainerEnd)> {
    let status = &pod.status;
    let all = status
        .init_container_statuses
        .iter()
        .chain(&status.container_statuses);
    let mut ends = all.filter_map(|container| Some((container, container.state.terminated.as_ref()?)));
    let (container, end) = ends.find(|(_, end)| end.exit_code != 0)?;
    Some((container.name.clone(), end.clone()))
}

/// Names what could not be read of what does not determine the verdict, and would be reported.
fn undecided(report: &mut Diagnosis, cluster: &Cluster, namespace: &Str) {
    for kind in [Kind::ResourceQuota, Kind::Event] {
        if let Some(gap) = cluster.gap(kind, namespace) {
            report.tell_unknown(cluster, gap);
        }
    }
}
