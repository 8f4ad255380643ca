//! Whether claims and pods fit, where, and with which devices.
//!
//! One pod, or claims without a pod, are judged on every node. Several pods are judged one after the other, each on the cluster that
//! the ones before leave; where the scheduler could choose between nodes, the first by name is assumed. `packing` asks how many more
//! there could be.

mod packing;
mod report;

use std::sync::Arc;

use crate::allocator::{Budget, Limits, Observer};
use crate::model::{Claim, Cluster, Key, Kind, Node, Pod, Str, Time};
use crate::scheduling::{
    Cycle, GenerateError, Granted, Judgment, MOST_CONSUMERS, Obstacle, Run, Scheduler, Stage, Start, Verdict,
    generate_claims, judge_all, message, message_of_obstacle, not_simulated, place,
};

pub use packing::{Exhausted, Packing, Placed, pack};
pub use report::{AllocationReport, ClaimAllocation, Exactness, Fit, NodeResult, Placement, Target};

/// What is to be judged.
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
    /// Asked whether to go on.
    pub observer: &'s (dyn Observer + Sync),
    /// Runs the judging of nodes.
    pub run: Run<'s>,
}

/// The kinds that decide about an allocation.
pub const ALLOCATION_NEEDS: [Kind; 8] = [
    Kind::Node,
    Kind::DeviceClass,
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::ResourceClaimTemplate,
    Kind::ResourceClaim,
    Kind::Pod,
    Kind::PodGroup,
];

/// Steps after which kube-scheduler's own search has used up its ten seconds for a node, at the microsecond that each takes it.
const TIMEOUT_STEPS: u64 = 10_000_000;

/// Steps of an attempt below which no timeout is to be feared.
const HARD_STEPS: u64 = 256;

/// Nodes for which is tried whether kube-scheduler would time out.
const TIMED_NODES: usize = 2;

/// What is said of a pod for which kube-scheduler times out.
const TIMES_OUT: &str = "kube-scheduler itself gives a node up after 10 s, and its search takes longer: the pod is tried again and again";

/// What is said where the budget did not suffice to find out.
const UNTOLD_TIMEOUT: &str = "whether kube-scheduler's own search takes longer than the 10 s after which it gives a node up is not known: the budget of the search ended before";

/// Judges `units` on `cluster`.
pub fn allocation(cluster: &Cluster, units: &Units, settings: &Settings<'_>) -> AllocationReport {
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
                judge_pod(&mut cluster.clone(), pod, settings).0,
            ),
            _ => in_sequence(cluster, pods, settings),
        },
    }
}

/// The answer for one pod, or for claims.
struct Judged {
    fit: Fit,
    exactness: Exactness,
    message: Option<String>,
    nodes: Vec<NodeResult>,
    not_simulated: Vec<String>,
    unknown: Vec<String>,
    notes: Vec<String>,
    /// The first node that fits, with what is granted there, and whether it is the only one.
    first: Option<(Str, Vec<Granted>, bool)>,
}

/// Judges `pod` after its claims were made, which become part of `cluster`.
fn judge_pod(cluster: &mut Cluster, pod: &Arc<Pod>, settings: &Settings<'_>) -> (Judged, Arc<Pod>) {
    let (made, problem) = match generate_claims(cluster, pod) {
        Ok(made) => (made, None),
        Err(problem) => (Arc::clone(pod), Some(problem)),
    };
    let scheduler = Scheduler::new(cluster, settings.now);
    let start = match &problem {
        // What the claims would ask for is not known.
        Some(GenerateError::Unread { gap, .. }) => Start::Unknown(vec![gap.clone()]),
        _ => scheduler.pod(&made),
    };
    let mut judged = judge(&scheduler, &start, Some(&made), settings);
    judged.notes.extend(problem.map(|problem| problem.to_string()));
    (judged, made)
}

fn judge(scheduler: &Scheduler, start: &Start<'_>, pod: Option<&Pod>, settings: &Settings<'_>) -> Judged {
    let mut judged = Judged {
        fit: Fit::Unknown,
        exactness: if scheduler.is_exact() {
            Exactness::Exact
        } else {
            Exactness::FitOnly
        },
        message: None,
        nodes: Vec::new(),
        not_simulated: pod.map_or_else(Vec::new, |pod| {
            not_simulated(pod).into_iter().map(str::to_owned).collect()
        }),
        unknown: Vec::new(),
        notes: Vec::new(),
        first: None,
    };
    match start {
        Start::Unknown(gaps) => judged.unknown = gaps.iter().map(super::warnings::missing).collect(),
        Start::Obstacle(obstacle) => obstructed(&mut judged, scheduler, pod, obstacle),
        Start::Cycle(cycle) => on_nodes(&mut judged, cycle, settings),
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

fn on_nodes(judged: &mut Judged, cycle: &Cycle<'_>, settings: &Settings<'_>) {
    let all = cycle.scheduler().cluster().nodes();
    let is_asked =
        |node: &&Arc<Node>| settings.nodes.is_empty() || settings.nodes.contains(&node.metadata.name);
    let nodes: Vec<&Arc<Node>> = all.filter(is_asked).collect();
    let answers = judge_all(cycle, &nodes, settings.budget, settings.observer, settings.run);
    let timeouts = timeouts(cycle, &answers, settings);
    judged.nodes = answers
        .iter()
        .map(|(node, judgment)| NodeResult::new(&node.metadata.name, &judgment.verdict))
        .collect();
    for (place, slow) in timeouts.nodes {
        judged.nodes[place].times_out = slow;
    }
    let fits = answers
        .iter()
        .filter(|(_, judgment)| judgment.verdict.fits())
        .count();
    judged.first = answers
        .iter()
        .find_map(|(node, judgment)| match &judgment.verdict {
            Verdict::Fits(granted) => Some((node.metadata.name.clone(), granted.clone(), fits == 1)),
            _ => None,
        });
    judged.fit = summary(&answers, fits, cycle.meter().exhausted().is_some());
    let verdicts: Vec<(&Arc<Node>, Verdict)> = answers
        .into_iter()
        .map(|(node, judgment)| (node, judgment.verdict))
        .collect();
    if fits == 0 || judged.fit == Fit::Error {
        judged.message = message(cycle, &verdicts).and_then(|message| message.text().map(str::to_owned));
    }
    for (claim, state) in cycle.not_ready() {
        judged.notes.push(format!(
            "claim/{} waits for its devices: {}",
            claim.key(),
            state.text()
        ));
    }
    for claim in cycle.full_claims() {
        let most = MOST_CONSUMERS;
        judged.notes.push(format!(
            "claim/{} has {most} consumers, and no claim can have more",
            claim.key()
        ));
    }
    judged.notes.extend(timeouts.note);
    judged.notes.extend(cycle.meter().exhausted().map(str::to_owned));
}

/// What the verdicts come to. An error on one node ends the attempt for all that the scheduler looks at; it stops looking once it has
/// found more than enough nodes. An expression that was not tried may fail, so that what fits elsewhere decides nothing then.
fn summary(answers: &[(&Arc<Node>, Judgment)], fits: usize, untried: bool) -> Fit {
    let any = |is: fn(&Verdict) -> bool| answers.iter().any(|(_, judgment)| is(&judgment.verdict));
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
    } else {
        Fit::DoesNotFit
    }
}

/// After how many nodes that fit the scheduler looks no further. Mirrors `schedule_one.go`, `numFeasibleNodesToFind`, v1.37.1.
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
    /// Nodes, by place, for which its search was tried, and whether it takes too long.
    nodes: Vec<(usize, bool)>,
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
    let hard = answers
        .iter()
        .enumerate()
        .filter(|(_, (_, judgment))| judgment.steps > HARD_STEPS);
    for (place, (node, _)) in hard.take(TIMED_NODES) {
        let steps = settings.budget.left().min(TIMEOUT_STEPS);
        let tried = cycle.judge(node, Limits::plain(steps), settings.observer);
        settings.budget.spend(tried.steps);
        let gave_up = matches!(tried.verdict, Verdict::GaveUp);
        if gave_up
            && (steps < TIMEOUT_STEPS || settings.observer.cancelled() || cycle.meter().exhausted().is_some())
        {
            let untold = || UNTOLD_TIMEOUT.to_owned();
            timeouts.note.get_or_insert_with(untold);
            break;
        }
        timeouts.nodes.push((place, gave_up));
    }
    if timeouts.nodes.iter().any(|(_, times_out)| *times_out) {
        timeouts.note = Some(TIMES_OUT.to_owned());
    }
    timeouts
}

/// Judges pods one after the other.
fn in_sequence(cluster: &Cluster, pods: &[Arc<Pod>], settings: &Settings<'_>) -> AllocationReport {
    let mut cluster = cluster.clone();
    let mut placements = Vec::with_capacity(pods.len());
    let mut report = AllocationReport::of_sequence(pods.iter().map(|pod| Target::pod(&pod.key())).collect());
    for pod in pods {
        let (judged, made) = judge_pod(&mut cluster, pod, settings);
        if let Some((node, granted, _)) = &judged.first
            && judged.fit == Fit::Fits
        {
            place(&mut cluster, &made, node, granted);
        }
        report.note(&judged);
        placements.push(Placement::new(&pod.key(), judged));
    }
    report.placements = placements;
    report
}

/// The key of a target.
fn key_parts(key: &Key) -> (Str, Str) {
    (key.namespace.clone(), key.name.clone())
}
