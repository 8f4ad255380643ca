//! Whether claims and pods fit, where, and with which devices.
//!
//! One pod, or claims without a pod, are judged on every node. Several pods are judged one after the other, each on the cluster that
//! the ones before leave; where the scheduler could choose between nodes, the first by name is assumed. `packing` asks how many more
//! there could be.

mod assumed;
mod caveats;
mod exactness;
mod gang;
mod group;
mod packing;
mod report;
pub(crate) mod words;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use crate::listing::some;
use dra_allocator::devices::Features;
use dra_allocator::{Budget, Certainty, Limits, Observer};
use dra_model::{
    Change, Claim, Cluster, Component, Gate, Key, Kind, Node, Object, Pod, PoolId, ReleaseEvidence, Slice,
    Str, Time, Version,
};
use dra_rules::quota::Quotas;
use dra_rules::reservation::unmade;
use dra_rules::scheduling::{
    AssumedGate, BINDING_TIMEOUT, Cycle, GenerateError, Granted, Hanging, Judgment, Obstacle, Run,
    SCORE_WEIGHT, Scheduler, Stage, Start, Verdict, disagreeing_pools, generate_claims, judge_all, message,
    message_of_obstacle, normalized, not_simulated, place, rejections,
};

pub use assumed::AssumedRelease;
pub(super) use caveats::{caveats, evicting_at_once};
pub use exactness::Exactness;
pub(super) use exactness::{Trust, is_open};
pub(super) use gang::{Gang, GangLacks};
pub(super) use group::GANG;

pub use packing::{Exhausted, Packing, Placed, pack};
pub use report::{
    AllocationReport, ClaimAllocation, Fit, NodeResult, NodeScore, OpenRequest, Placement, Target,
};

/// Objects to simulate.
#[derive(Clone, Debug)]
pub enum Units {
    /// Claims that one pod would use together.
    Claims(Vec<Arc<Claim>>),
    /// Pods, in this order.
    Pods(Vec<Arc<Pod>>),
}

/// How to judge.
pub struct Settings<'s> {
    /// Only these nodes; all if there are none.
    pub nodes: Vec<Str>,
    /// Time of the simulation.
    pub now: Time,
    /// Steps that all searches may take together.
    pub budget: &'s Budget,
    /// Asked whether to continue.
    pub observer: &'s (dyn Observer + Sync),
    /// Runs the judging of nodes.
    pub run: Run<'s>,
    /// Searches fixes, where these are asked for. It takes much longer than to find the cause.
    pub has_fixes: bool,
}

impl<'s> Settings<'s> {
    /// All nodes, with fixes, and unobserved.
    pub fn new(now: Time, budget: &'s Budget, run: Run<'s>) -> Self {
        Self {
            nodes: Vec::new(),
            now,
            budget,
            observer: &(),
            run,
            has_fixes: true,
        }
    }

    /// All nodes, one after the other, with `budget` for all.
    #[cfg(test)]
    pub(crate) fn of_test(budget: &'s Budget) -> Self {
        Self::new(dra_testing::now(), budget, &dra_rules::scheduling::in_order)
    }
}

/// The kinds that determine an allocation.
pub const ALLOCATION_NEEDS: [Kind; 9] = [
    Kind::Node,
    Kind::DeviceClass,
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::ResourceClaimTemplate,
    Kind::ResourceClaim,
    Kind::Pod,
    Kind::PodGroup,
    Kind::ResourceQuota,
];

/// Steps after which kube-scheduler's own search has used up its ten seconds for a node, at the microsecond that each takes it.
const TIMEOUT_STEPS: u64 = 10_000_000;

/// Steps up to which kube-scheduler's own search is sure to end in time, even at five microseconds for each: with each order of the
/// devices a way of its own, it refuses a request for ten of nine devices alike in a million steps, and one for eleven of ten in ten
/// million.
const SURE_STEPS: u64 = 2_000_000;

/// Steps of an attempt below which no timeout is to be feared.
const HARD_STEPS: u64 = 256;

/// The same where each order of the devices of a request is a way of its own: three requests for six of six devices and one that fails
/// are 200 steps here, and a thousand million there.
const HARD_STEPS_OF_ORDERS: u64 = 32;

/// Nodes on which a search finds out whether kube-scheduler would time out.
const TIMED_NODES: usize = 2;

/// Gates that decide what is granted.
const GATES: [Gate; 15] = [
    Gate::DRAAdminAccess,
    Gate::DRAConsumableCapacity,
    Gate::DRADerivedAttributes,
    Gate::DRADeviceBindingConditions,
    Gate::DRADeviceCompatibilityGroups,
    Gate::DRADeviceTaintRules,
    Gate::DRADeviceTaints,
    Gate::DRAExtendedResource,
    Gate::DRAListTypeAttributes,
    Gate::DRANodeAllocatableResources,
    Gate::DRAOptionalNodeOperations,
    Gate::DRAPartitionableDevices,
    Gate::DRAPrioritizedList,
    Gate::DRAWorkloadResourceClaims,
    Gate::GenericWorkload,
];

/// Judges `units` on `cluster`, and reports the unknown facts that the answer depends on.
pub fn allocation(cluster: &Cluster, units: &Units, settings: &Settings<'_>) -> AllocationReport {
    let mut report = alone(cluster, units, settings);
    let known = report.result;
    let of_cause = |never: &Infallible| match *never {};
    let otherwise = otherwise(cluster, of_cause, |other| {
        Other::verdict(known, alone(other, units, settings).result)
    });
    report.notes.extend(otherwise.notes());
    if otherwise.is_doubtful() {
        report.exactness = Exactness::FitOnly;
    }
    report.assumed_gates = otherwise.gates;
    report.assumed_release = otherwise.release;
    if let Some(order) = otherwise.order {
        report.result = Fit::Unknown;
        report.exactness = Exactness::FitOnly;
        report.unknown.push(order);
    }
    report
}

/// What another answer depends on.
#[derive(Default)]
pub(super) struct Otherwise {
    /// Gates that nothing shows, where the other value changes the answer.
    pub(super) gates: Vec<AssumedGate>,
    /// Gates that are needed to fit, each with the components that lack it, although the API server has it on.
    pub(super) lacking: Vec<(Gate, Vec<Component>)>,
    /// The release, where only objects show it and the newest one has another answer.
    pub(super) release: Option<AssumedRelease>,
    /// The order of the scheduler's list of slices, where another one changes the answer.
    pub(super) order: Option<String>,
}

impl Otherwise {
    /// What there is to say beside the answer.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let gates = self.gates.iter().map(AssumedGate::text);
        let release = self.release.iter().map(words::depends_on_release);
        release.chain(gates)
    }

    /// Returns whether something speaks against what the answer takes for given.
    pub(super) fn is_doubtful(&self) -> bool {
        let mut gates = self.gates.iter();
        self.release.is_some() || gates.any(|gate| gate.on_in_api_server.is_some())
    }
}

/// Pools that are tried in other orders.
const MOST_POOLS: usize = 4;

/// Another answer.
#[derive(PartialEq)]
pub(super) enum Other<C> {
    /// Another verdict.
    Verdict(Fit),
    /// The same verdict, that it does not fit, for another cause.
    Cause(C),
}

impl<C> Other<C> {
    /// The verdict `fit`, where it is decided and differs from what is `known`.
    pub(super) fn verdict(known: Fit, fit: Fit) -> Option<Self> {
        (fit != known && fit.words().is_some()).then_some(Self::Verdict(fit))
    }
}

/// Asks for the answer on the clusters that `cluster` may be for all that is known. `differs` returns it where it is not that on `cluster`;
/// `of_cause` is the sentence of a cause.
pub(super) fn otherwise<C: PartialEq>(
    cluster: &Cluster,
    of_cause: impl Fn(&C) -> String,
    differs: impl Fn(&Cluster) -> Option<Other<C>>,
) -> Otherwise {
    let say = |other: &Other<C>| match other {
        Other::Verdict(fit) => fit.words().unwrap_or_default().to_owned(),
        Other::Cause(cause) => words::neither(&of_cause(cause)),
    };
    let components = [Component::Scheduler, Component::ControllerManager];
    let hanging = Hanging::of(cluster, &GATES, &components);
    let pools = disagreeing_pools(cluster);
    let mut found = Otherwise::default();
    let environment = cluster.environment();
    let is_guessed = environment.release_evidence == ReleaseEvidence::Objects;
    let newest =
        (is_guessed && environment.version < Version::LATEST).then(|| cluster.with_release(Version::LATEST));
    let in_newest = newest.as_ref().and_then(&differs);
    let release = format!("{}.{}", Version::LATEST.major, Version::LATEST.minor);
    found.release = in_newest.as_ref().map(|otherwise| AssumedRelease {
        version: environment.version.to_string(),
        newest: release.clone(),
        otherwise: say(otherwise),
    });
    for hanging in hanging {
        let with = |hanging: &Hanging, cluster| differs(&hanging.otherwise(cluster));
        let here = with(&hanging, cluster);
        let newest = newest.as_ref().and_then(|newest| with(&hanging, newest));
        let fits = here == Some(Other::Verdict(Fit::Fits));
        let otherwise = match (here, newest) {
            (Some(here), Some(newest)) if here != newest => {
                words::here_and_in(&say(&here), &release, &say(&newest))
            }
            (Some(here), _) => say(&here),
            (None, Some(newest)) if in_newest.as_ref() != Some(&newest) => {
                words::only_in(&release, &say(&newest))
            }
            (None, _) => continue,
        };
        let mut deciding = hanging.of_each();
        deciding.retain(|one| with(one, cluster).is_some());
        let gate = hanging.gate;
        if deciding.is_empty() {
            deciding.push(hanging);
        }
        let lacking: Vec<Component> = deciding.iter().flat_map(Hanging::lacking).collect();
        if fits && !lacking.is_empty() {
            found.lacking.push((gate, lacking));
        }
        let gates = deciding
            .iter()
            .flat_map(|one| AssumedGate::new(one, otherwise.clone()));
        found.gates.extend(gates);
    }
    for (pool, counts) in pools.into_iter().take(MOST_POOLS) {
        let differing = counts.iter().any(|count| {
            matches!(
                differs(&with_count(cluster, &pool, *count)),
                Some(Other::Verdict(_))
            )
        });
        if differing {
            found.order.get_or_insert_with(|| words::unknown_size(&pool));
        }
    }
    found
}

/// Why it is uncertain that `units` do not fit on `other`, a cluster made of the objects of `cluster`: a gate with an unknown setting,
/// where they fit with the other value, or an order that only the scheduler knows.
pub(super) fn hanging_on(
    cluster: &Cluster,
    other: &Cluster,
    units: &Units,
    settings: &Settings<'_>,
) -> Option<String> {
    if let Some((pool, _)) = disagreeing_pools(cluster).into_iter().next() {
        return Some(words::open_size(&pool));
    }
    let components = [Component::Scheduler, Component::ControllerManager];
    let hanging = Hanging::of(cluster, &GATES, &components);
    // If kube-scheduler fails, waiting does not help either.
    let mut fits = hanging.into_iter().filter(|gate| {
        let fit = alone(&gate.otherwise(other), units, settings).result;
        !matches!(fit, Fit::DoesNotFit | Fit::Error)
    });
    let gate = fits.next()?;
    Some(words::depends_on_gate(gate.gate.name()))
}

/// The cluster as if every slice of the pool's newest generation said that there are `count` of them.
fn with_count(cluster: &Cluster, id: &PoolId, count: i64) -> Cluster {
    let mut agreeing = cluster.clone();
    let slices = cluster.pool(id).map(|pool| pool.slices).unwrap_or_default();
    for slice in slices {
        let mut changed = Slice::clone(slice);
        changed.spec.pool.resource_slice_count = count;
        agreeing.apply(Change::Put(Object::ResourceSlice(Arc::new(changed))));
    }
    agreeing
}

/// Judges `units` on `cluster` as it is taken to be.
pub(super) fn alone(cluster: &Cluster, units: &Units, settings: &Settings<'_>) -> AllocationReport {
    match units {
        Units::Claims(claims) => {
            let scheduler = Scheduler::new(cluster, settings.now);
            let judged = judge(&scheduler, &scheduler.claims(claims), None, settings);
            let targets = claims.iter().map(|claim| Target::claim(&claim.key())).collect();
            AllocationReport::of_one(targets, judged)
        }
        Units::Pods(pods) => match pods.as_slice() {
            [pod] => AllocationReport::of_one(
                vec![Target::pod(&pod.key())],
                judge_pod(&mut cluster.clone(), pod, &mut BTreeSet::new(), settings).0,
            ),
            _ => in_sequence(cluster, pods, settings),
        },
    }
}

/// The answer for one pod, or for claims.
#[derive(Default)]
struct Judged {
    fit: Fit,
    trust: Trust,
    message: Option<String>,
    nodes: Vec<NodeResult>,
    not_simulated: Vec<String>,
    unknown: Vec<String>,
    notes: Vec<String>,
    /// The first node that fits, with what is granted there, and whether it is the only one.
    first: Option<(Str, Vec<Granted>, bool)>,
}

/// Judges `pod` after its claims were made, which become part of `cluster`; with its PodGroup, if that is none of those that are `agreed` to
/// be placed.
fn judge_pod(
    cluster: &mut Cluster,
    pod: &Arc<Pod>,
    agreed: &mut BTreeSet<Key>,
    settings: &Settings<'_>,
) -> (Judged, Arc<Pod>) {
    if let Some((template, refusal)) = Quotas::of(cluster).refused_of_pod(pod) {
        let judged = Judged {
            fit: Fit::DoesNotFit,
            message: Some(words::refused(
                &words::claim_from(&template.metadata.key()),
                &refusal,
            )),
            ..Judged::default()
        };
        return (judged, Arc::clone(pod));
    }
    let unread = cluster.gap(Kind::ResourceQuota, &pod.metadata.namespace).cloned();
    let unread = unread.filter(|_| unmade(cluster, pod).next().is_some());
    let (made, problem) = match generate_claims(cluster, pod) {
        Ok(made) => (made, None),
        Err(problem) => (Arc::clone(pod), Some(problem)),
    };
    if problem.is_none()
        && let Some(judged) = group::judge_member(cluster, &made, agreed, settings)
    {
        return (judged, made);
    }
    let scheduler = Scheduler::new(cluster, settings.now);
    let start = match &problem {
        // What the claims would request is unknown.
        Some(GenerateError::Unread(gap)) => Start::Unknown(vec![gap.clone()]),
        _ => scheduler.pod(&made),
    };
    let mut judged = judge(&scheduler, &start, Some(&made), settings);
    if judged.fit == Fit::Fits
        && let Some(gap) = &unread
    {
        judged.fit = Fit::Unknown;
        judged.unknown.extend(super::warnings::all_missing([gap]));
    }
    judged.notes.extend(problem.map(|problem| problem.to_string()));
    (judged, made)
}

fn judge(scheduler: &Scheduler, start: &Start<'_>, pod: Option<&Pod>, settings: &Settings<'_>) -> Judged {
    let mut judged = Judged {
        fit: Fit::Unknown,
        trust: Trust::of(scheduler, start, pod),
        not_simulated: pod.map_or_else(Vec::new, |pod| {
            not_simulated(pod).into_iter().map(str::to_owned).collect()
        }),
        ..Judged::default()
    };
    match start {
        Start::Unknown(gaps) => judged.unknown = super::warnings::all_missing(gaps).collect(),
        Start::Obstacle(obstacle) => obstructed(&mut judged, scheduler, pod, obstacle),
        Start::Cycle(cycle) => on_nodes(&mut judged, cycle, pod, settings),
    }
    if let Some(panic) = &judged.trust.panic
        && judged.fit == Fit::Fits
    {
        judged.fit = if panic.is_known { Fit::Error } else { Fit::MayError };
    }
    judged.notes.splice(..0, std::mem::take(&mut judged.trust.notes));
    if judged.fit == Fit::Fits
        && let Some(scheduled) = pod.and_then(|pod| pod.condition("PodScheduled"))
        && scheduled.status == "False"
    {
        let rejections = rejections(&scheduled.message);
        judged.notes.extend(words::rejected(&rejections));
    }
    judged
}

fn obstructed(judged: &mut Judged, scheduler: &Scheduler, pod: Option<&Pod>, obstacle: &Obstacle) {
    judged.fit = if obstacle.stage() == Stage::Error {
        Fit::Error
    } else {
        Fit::DoesNotFit
    };
    let message = message_of_obstacle(scheduler.cluster(), pod, obstacle);
    judged.message = Some(message.text().map_or_else(|| obstacle.text(), str::to_owned));
}

fn on_nodes(judged: &mut Judged, cycle: &Cycle<'_>, pod: Option<&Pod>, settings: &Settings<'_>) {
    let all = cycle.scheduler().cluster().nodes();
    let is_asked =
        |node: &&Arc<Node>| settings.nodes.is_empty() || settings.nodes.contains(&node.metadata.name);
    let nodes: Vec<&Arc<Node>> = all.filter(is_asked).collect();
    let answers = judge_all(cycle, &nodes, settings.budget, settings.observer, settings.run);
    let timeouts = timeouts(cycle, &answers, settings);
    judged.trust.see_time(timeouts.is_feared);
    judged
        .trust
        .see(answers.iter().map(|(node, judgment)| (*node, judgment)));
    judged.nodes = answers
        .iter()
        .map(|(node, judgment)| NodeResult::of_judgment(&node.metadata.name, judgment))
        .collect();
    score(judged, &answers, settings);
    if !cycle.awaits_binding_conditions() {
        judged.nodes.iter_mut().for_each(|node| node.waits_for.clear());
    }
    for (place, slow) in timeouts.nodes {
        judged.nodes[place].times_out = slow;
    }
    let fits = answers
        .iter()
        .filter(|(_, judgment)| judgment.verdict.fits() && !is_open(judgment))
        .count();
    judged.first = answers
        .iter()
        .filter(|(_, judgment)| !is_open(judgment))
        .find_map(|(node, judgment)| match &judgment.verdict {
            Verdict::Fits(granted) => Some((node.metadata.name.clone(), granted.clone(), fits == 1)),
            _ => None,
        });
    let fitting = answers
        .iter()
        .filter_map(|(node, judgment)| match &judgment.verdict {
            Verdict::Fits(granted) => Some((*node, granted.as_slice())),
            _ => None,
        });
    judged
        .notes
        .splice(..0, caveats(cycle.scheduler().cluster(), pod, fitting));
    judged.fit = summary(&answers, fits, cycle.meter().exhausted().is_some());
    let verdicts: Vec<(&Arc<Node>, Verdict)> = answers
        .into_iter()
        .map(|(node, judgment)| (node, judgment.verdict))
        .collect();
    if fits == 0 || judged.fit == Fit::Error {
        judged.message = message(cycle, &verdicts).and_then(|message| message.text().map(str::to_owned));
    }
    for (claim, state) in cycle.not_ready() {
        judged.notes.push(words::not_ready(&claim.key(), &state.text()));
    }
    judged.notes.extend(
        cycle
            .full_claims()
            .map(|claim| words::too_many_consumers(&claim.key())),
    );
    if let (Fit::Fits, Some(claim)) = (judged.fit, cycle.full_claims().next()) {
        // The scheduler learns of it only when it writes.
        judged.fit = Fit::Error;
        judged.first = None;
        judged.message = Some(words::too_many_consumers(&claim.key()));
    }
    judged.notes.extend(waiting(&judged.nodes));
    judged.notes.extend(timeouts.note);
    judged.notes.extend(cycle.meter().exhausted().map(str::to_owned));
}

/// Says how the plugin for dynamic resources ranks the nodes, where it does and the answers are sure.
fn score(judged: &mut Judged, answers: &[(&Arc<Node>, Judgment)], settings: &Settings<'_>) {
    let points = |judgment: &Judgment| judgment.points.filter(|_| judgment.certainty == Certainty::Sure);
    let best = answers.iter().filter_map(|(_, judgment)| points(judgment)).max();
    let Some(best) = best else { return };
    let fitting = || answers.iter().filter(|(_, judgment)| judgment.verdict.fits());
    // The scheduler compares the nodes that it has found to fit. It stops looking once it has enough of them.
    let compares_all = settings.nodes.is_empty()
        && fitting().count() <= enough_nodes(answers.len())
        && fitting().all(|(_, judgment)| points(judgment).is_some());
    for (node, (_, judgment)) in judged.nodes.iter_mut().zip(answers) {
        node.score = points(judgment).map(|points| NodeScore {
            points,
            normalized: compares_all.then(|| normalized(points, best)),
        });
    }
    judged.notes.push(words::scored(SCORE_WEIGHT, compares_all));
}

/// That the pod is not bound immediately, where devices that it would get have binding conditions.
fn waiting(nodes: &[NodeResult]) -> Option<String> {
    let waiting: Vec<&NodeResult> = nodes.iter().filter(|node| !node.waits_for.is_empty()).collect();
    let first = waiting.first()?;
    let names = some(waiting.iter().map(|node| &node.node));
    let conditions: Vec<&str> = first.waits_for.iter().map(Str::as_str).collect();
    let seconds = BINDING_TIMEOUT.as_secs();
    Some(words::bound_later(&names, &conditions.join(", "), seconds))
}

/// What the verdicts come to. An error on one node ends the attempt for all that the scheduler looks at; it stops looking once it has
/// found more than enough nodes. An expression that was not tried may fail, so that what fits elsewhere decides nothing then.
fn summary(answers: &[(&Arc<Node>, Judgment)], fits: usize, untried: bool) -> Fit {
    let any = |is: fn(&Verdict) -> bool| answers.iter().any(|(_, judgment)| is(&judgment.verdict));
    let sure_errors = answers.iter().any(|(_, judgment)| {
        matches!(judgment.verdict, Verdict::Error(_)) && judgment.certainty == Certainty::Sure
    });
    if !sure_errors && answers.iter().any(|(_, judgment)| exactness::may_error(judgment)) {
        return Fit::MayError;
    }
    if any(|verdict| matches!(verdict, Verdict::Error(_))) {
        return if fits > enough_nodes(answers.len()) {
            Fit::MayError
        } else {
            Fit::Error
        };
    }
    let gave_up = any(|verdict| matches!(verdict, Verdict::GaveUp));
    if fits > 0 && !(gave_up && untried) {
        Fit::Fits
    } else if gave_up {
        Fit::GaveUp
    } else if answers.iter().any(|(_, judgment)| is_open(judgment)) {
        Fit::Unknown
    } else {
        Fit::DoesNotFit
    }
}

/// After how many nodes that fit the scheduler looks no further. Mirrors `schedule_one.go`, `numFeasibleNodesToFind`, v1.37.2.
fn enough_nodes(all: usize) -> usize {
    const LEAST: usize = 100;
    if all < LEAST {
        return all;
    }
    let percentage = 50_usize.saturating_sub(all / 125).max(5);
    (all * percentage / 100).max(LEAST)
}

/// Whether kube-scheduler times out.
#[derive(Default)]
pub(super) struct Timeouts {
    /// Nodes, by place, with a search that was tried, and whether it takes too long.
    nodes: Vec<(usize, bool)>,
    /// It does or may, so that its answer can be another one.
    pub(super) is_feared: bool,
    /// What there is to say of it.
    pub(super) note: Option<String>,
}

/// Tries kube-scheduler's own search on nodes that were hard to decide, as far as the budget goes.
pub(super) fn timeouts(
    cycle: &Cycle<'_>,
    answers: &[(&Arc<Node>, Judgment)],
    settings: &Settings<'_>,
) -> Timeouts {
    let mut timeouts = Timeouts::default();
    let environment = cycle.scheduler().cluster().environment();
    let least = if Features::of(environment).permutes() {
        HARD_STEPS_OF_ORDERS
    } else {
        HARD_STEPS
    };
    let hard = answers
        .iter()
        .enumerate()
        .filter(|(_, (_, judgment))| judgment.steps > least);
    for (place, (node, _)) in hard.take(TIMED_NODES) {
        let steps = settings.budget.left().min(TIMEOUT_STEPS);
        let tried = cycle.judge(node, Limits::plain(steps), settings.observer);
        settings.budget.spend(tried.work);
        timeouts.is_feared |= tried.steps > SURE_STEPS;
        let gave_up = matches!(tried.verdict, Verdict::GaveUp);
        if gave_up
            && (steps < TIMEOUT_STEPS || settings.observer.cancelled() || cycle.meter().exhausted().is_some())
        {
            let untold = || words::UNTOLD_TIMEOUT.to_owned();
            timeouts.note.get_or_insert_with(untold);
            break;
        }
        timeouts.nodes.push((place, gave_up));
    }
    let node_only = environment.release().timeout_is_node_only;
    let note = match (timeouts.nodes.iter().any(|(_, times_out)| *times_out), node_only) {
        (true, true) => Some(words::NODE_TIMES_OUT),
        (true, false) => Some(words::TIMES_OUT),
        (false, true) if timeouts.is_feared => Some(words::NODE_MAY_TIME_OUT),
        (false, false) if timeouts.is_feared => Some(words::MAY_TIME_OUT),
        (false, _) => None,
    };
    // That it does is worth more than that it is unknown for another node.
    if timeouts.note.is_none() || timeouts.nodes.iter().any(|(_, times_out)| *times_out) {
        timeouts.note = note.map(str::to_owned).or(timeouts.note);
    }
    timeouts
}

/// Judges pods one after the other.
fn in_sequence(cluster: &Cluster, pods: &[Arc<Pod>], settings: &Settings<'_>) -> AllocationReport {
    let mut cluster = cluster.clone();
    let mut agreed = BTreeSet::new();
    let mut report = AllocationReport::of_sequence(pods.iter().map(|pod| Target::pod(&pod.key())).collect());
    for (place, pod) in (1..).zip(pods) {
        let mut judged = place_next(&mut cluster, pod, &mut agreed, settings);
        if judged.trust.exactness == Exactness::OneOf && place < pods.len() {
            judged.trust.exactness = Exactness::FitOnly;
            judged.notes.push(words::AS_SHOWN.to_owned());
        }
        report.note(&judged);
        report.placements.push(Placement::new(&pod.key(), judged));
    }
    report
}

/// Judges a pod, and places it where it fits.
fn place_next(
    cluster: &mut Cluster,
    pod: &Arc<Pod>,
    agreed: &mut BTreeSet<Key>,
    settings: &Settings<'_>,
) -> Judged {
    let (judged, made) = judge_pod(cluster, pod, agreed, settings);
    if let Some((node, granted, _)) = &judged.first
        && judged.fit == Fit::Fits
    {
        place(cluster, &made, node, granted);
    }
    judged
}

/// Places pods one after the other as long as they fit and `is_admitted`, and returns how many did.
pub(super) fn place_all(
    cluster: &mut Cluster,
    pods: &[Arc<Pod>],
    is_admitted: impl Fn(&Cluster, &Pod) -> bool,
    settings: &Settings<'_>,
) -> usize {
    let mut agreed = BTreeSet::new();
    for (place, pod) in pods.iter().enumerate() {
        // What has a node takes what it takes already.
        if pod.node().is_some() {
            continue;
        }
        let mut after = cluster.clone();
        if !is_admitted(cluster, pod) || place_next(&mut after, pod, &mut agreed, settings).fit != Fit::Fits {
            return place;
        }
        *cluster = after;
    }
    pods.len()
}
