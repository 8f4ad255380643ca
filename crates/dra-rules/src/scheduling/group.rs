//! PodGroups, whose members kube-scheduler places together.
//!
//! All members that are in its queue have their turn in one cycle, each after those before it got their nodes and devices. Once too few
//! are left for the `minCount` of a gang, the cycle ends and none gets a node. Mirrors `schedule_one_podgroup.go`,
//! `podGroupSchedulingDefaultAlgorithm`, `submitPodGroupAlgorithmResult` and `validatePodGroup`, and `gangscheduling.go`,
//! `PlacementFeasible`, v1.37.2. In 1.36 every member has its turn, and what gangs need is asked behind it. What a group with scheduling
//! constraints or in a CompositePodGroup does is not simulated.

use std::cmp::Reverse;
use std::sync::Arc;

use super::cycle::{Scheduler, Start};
use super::message::Message;
use super::parallel::{Run, judge_all};
use super::placement::place;
use super::verdict::{Granted, Stage, Verdict};
use dra_allocator::{Budget, Certainty, Observer};
use dra_model::{Cluster, Key, Kind, Node, Pod, PodGroup, Str};

/// Cycles that are tried with other nodes for the members, where each could get several.
const MOST_CYCLES: usize = 64;

/// Nodes that all of them judge together, for all members.
const MOST_JUDGED: usize = 20_000;

/// A PodGroup as the scheduler has it in its queue.
pub struct Members {
    group: Arc<PodGroup>,
    /// Minimum number of scheduled members for any to be scheduled.
    min_count: usize,
    /// True if the cycle ends as soon as too few members are left.
    ends_early: bool,
    /// Members that have a node.
    bound: Vec<Arc<Pod>>,
    /// Members that have none and are in the queue, in the scheduler's order.
    queued: Vec<Arc<Pod>>,
}

/// Evaluation of nodes.
#[derive(Clone, Copy)]
pub struct Judging<'j> {
    /// Steps that all searches may take together.
    pub budget: &'j Budget,
    /// Callback that decides whether to continue.
    pub observer: &'j (dyn Observer + Sync),
    /// Runs the judging of nodes.
    pub run: Run<'j>,
}

/// The turn of a member.
pub struct Turn {
    /// The member.
    pub pod: Arc<Pod>,
    /// The cluster in which those before it have their nodes and devices.
    pub cluster: Cluster,
    /// The node that it gets if the group does, with what it is granted there.
    pub got: Option<(Str, Vec<Granted>)>,
}

/// Result of a PodGroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupResult {
    /// Those members get their nodes that have one.
    Placed,
    /// No member gets a node: too few of them have one. In the scheduler's words.
    TooFew(String),
    /// The cycle ends with an error.
    Error(String),
    /// Unknown, for this reason.
    Unknown(String),
}

/// A cycle of a PodGroup.
pub struct GroupCycle {
    /// The group.
    pub group: Key,
    /// Minimum number of scheduled members for any to be scheduled.
    pub min_count: usize,
    /// Number of had one before, or got one.
    pub scheduled: usize,
    /// The members that had a turn, in order.
    pub turns: Vec<Turn>,
    /// The members that had none, as the cycle ended before.
    pub untried: Vec<Arc<Pod>>,
    /// Result.
    pub result: GroupResult,
    /// True if some member could get several nodes, and not all of them were tried.
    pub hangs_on_nodes: bool,
    /// Unsimulated part of the group, in a sentence without a full stop.
    pub doubt: Option<String>,
}

impl Scheduler {
    /// The PodGroup that `pod` is placed with; nothing if the pod is placed alone, is not in the queue, or its group is
    /// unknown.
    pub fn members(&self, pod: &Pod) -> Option<Members> {
        let group = self.group_of(pod)?;
        let key = group.metadata.key();
        let cluster = self.cluster();
        if cluster.gap(Kind::Pod, &key.namespace).is_some() {
            return None;
        }
        let (mut bound, mut queued) = (Vec::new(), Vec::new());
        for member in self.members_of(&key, pod) {
            if member.node().is_some() {
                bound.push(Arc::clone(member));
            } else if !member.metadata.is_deleting() && self.is_queued(member) {
                queued.push(Arc::clone(member));
            }
        }
        // How often each was tried, and when it came back to the queue, cannot be seen.
        queued.sort_by_key(|member| {
            let metadata = &member.metadata;
            (
                Reverse(member.priority()),
                metadata.creation_timestamp,
                metadata.name.clone(),
            )
        });
        let is_it = |member: &Arc<Pod>| member.metadata.uid == pod.metadata.uid && member.key() == pod.key();
        queued.iter().any(is_it).then(|| Members {
            min_count: self.min_count(group),
            ends_early: self.cluster().environment().release().groups_end_early,
            group: Arc::clone(group),
            bound,
            queued,
        })
    }

    /// Returns whether the pod passes PreEnqueue.
    fn is_queued(&self, pod: &Pod) -> bool {
        match self.pod(pod) {
            Start::Obstacle(obstacle) => obstacle.stage() != Stage::PreEnqueue,
            Start::Cycle(_) | Start::Unknown(_) => true,
        }
    }
}

impl Members {
    /// Returns what keeps the scheduler from beginning a cycle. Mirrors `validatePodGroup`.
    fn invalid(&self) -> Option<String> {
        let wanted = self.group.spec.priority.unwrap_or(0);
        let all = self.queued.iter().chain(&self.bound);
        let mut others = all
            .map(|pod| pod.priority())
            .filter(|priority| *priority != wanted);
        let other = others.next().filter(|_| self.ends_early)?;
        Some(format!(
            "all pods in a single pod group should have the same priority as the pod group's priority, got {other} and {wanted}"
        ))
    }

    /// Returns what is not simulated.
    fn doubt(&self) -> Option<String> {
        let spec = &self.group.spec;
        let key = self.group.metadata.key();
        if let Some(parent) = &spec.parent_composite_pod_group_name {
            return Some(format!(
                "podgroup/{key} belongs to CompositePodGroup {parent}, which is not simulated"
            ));
        }
        spec.scheduling_constraints
            .is_some()
            .then(|| format!("podgroup/{key} has scheduling constraints, which are not simulated"))
    }

    /// Returns whether the gang can still get as many nodes as it has to have, or else the scheduler's words.
    fn feasible(&self, scheduled: usize, remaining: usize) -> Result<(), String> {
        if !self.ends_early {
            let waits = || "waiting for minCount pods from a gang to be scheduled".to_owned();
            return (remaining > 0 || scheduled >= self.min_count)
                .then_some(())
                .ok_or_else(waits);
        }
        if remaining + scheduled < self.min_count {
            return Err(format!(
                "minCount ({}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining",
                self.min_count
            ));
        }
        Ok(())
    }

    /// Judges the group on the cluster of `scheduler`. What `asked` is about differs by the nodes that the scheduler chooses for the members
    /// is unknown.
    pub fn judge(&self, scheduler: &Scheduler, asked: &Key, judging: Judging<'_>) -> GroupCycle {
        let nodes = scheduler.cluster().nodes().count();
        let of_one = nodes.max(1) * self.queued.len().max(1);
        let most = (MOST_JUDGED / of_one).clamp(2, MOST_CYCLES);
        let mut choices: Vec<(usize, usize)> = Vec::new();
        let mut first = self.cycle(scheduler, &mut choices, judging);
        for _ in 1..most {
            if matches!(first.result, GroupResult::Error(_) | GroupResult::Unknown(_)) {
                return first;
            }
            let Some(moving) = choices.iter().rposition(|(chosen, all)| chosen + 1 < *all) else {
                return first;
            };
            choices.truncate(moving + 1);
            if let Some((chosen, _)) = choices.last_mut() {
                *chosen += 1;
            }
            let other = self.cycle(scheduler, &mut choices, judging);
            if other.result_of(asked) != first.result_of(asked) {
                let group = &first.group;
                first.result = GroupResult::Unknown(format!(
                    "whether it fits with podgroup/{group} is unknown: it depends on the nodes that \
                    kube-scheduler chooses for the other members"
                ));
                return first;
            }
        }
        first.hangs_on_nodes = choices.iter().any(|(chosen, all)| chosen + 1 < *all);
        first
    }

    /// One cycle, in which the members get of their nodes those that `choices` has. It is made longer to what there is to choose.
    fn cycle(
        &self,
        scheduler: &Scheduler,
        choices: &mut Vec<(usize, usize)>,
        judging: Judging<'_>,
    ) -> GroupCycle {
        let mut found = GroupCycle {
            group: self.group.metadata.key(),
            min_count: self.min_count,
            scheduled: self.bound.len(),
            turns: Vec::new(),
            untried: self.queued.clone(),
            result: GroupResult::Placed,
            hangs_on_nodes: false,
            doubt: self.doubt(),
        };
        if let Some(why) = self.invalid() {
            found.result = GroupResult::Error(why);
            return found;
        }
        let mut cluster = scheduler.cluster().clone();
        let Judging {
            budget,
            observer,
            run,
        } = judging;
        let mut queue = self.queued.iter();
        loop {
            if let Err(why) = self.feasible(found.scheduled, queue.len()) {
                found.result = GroupResult::TooFew(why);
                break;
            }
            let Some(pod) = queue.next() else { break };
            let fork = scheduler.fork(&cluster);
            let mut turn = Turn {
                pod: Arc::clone(pod),
                cluster: cluster.clone(),
                got: None,
            };
            let mut options = match &fork.pod(pod) {
                Start::Unknown(gaps) => {
                    let kinds: Vec<&str> = gaps.iter().map(|gap| gap.kind.plural()).collect();
                    Err(GroupResult::Unknown(format!(
                        "the node of pod/{} is unknown without {}",
                        pod.key(),
                        kinds.join(", ")
                    )))
                }
                Start::Obstacle(obstacle) if obstacle.stage() == Stage::Error => {
                    Err(GroupResult::Error(obstacle.text()))
                }
                Start::Obstacle(_) => Ok(Vec::new()),
                Start::Cycle(cycle) => {
                    let nodes: Vec<&Arc<Node>> = cluster.nodes().collect();
                    let answers = judge_all(cycle, &nodes, budget, observer, run);
                    fitting(pod, answers)
                }
            };
            if let Ok(options) = &mut options
                && !options.is_empty()
            {
                let place_of_choice = found.scheduled - self.bound.len();
                if choices.len() == place_of_choice {
                    choices.push((0, options.len()));
                }
                let (chosen, all) = &mut choices[place_of_choice];
                *all = options.len();
                *chosen = (*chosen).min(options.len() - 1);
                turn.got = Some(options.swap_remove(*chosen));
            }
            if let Some((node, granted)) = &turn.got {
                place(&mut cluster, pod, node, granted);
                found.scheduled += 1;
            }
            found.turns.push(turn);
            if let Err(result) = options {
                found.result = result;
                break;
            }
        }
        found.untried = queue.cloned().collect();
        found
    }
}

/// Nodes that a member fits on, or what ends the cycle.
fn fitting(
    pod: &Pod,
    answers: Vec<(&Arc<Node>, super::verdict::Judgment)>,
) -> Result<Vec<(Str, Vec<Granted>)>, GroupResult> {
    let mut options = Vec::new();
    let mut open = false;
    for (node, judgment) in answers {
        open |= matches!(
            judgment.certainty,
            Certainty::MayDiffer(_) | Certainty::MayError(_)
        );
        match judgment.verdict {
            Verdict::Error(why) => return Err(GroupResult::Error(why.to_string())),
            Verdict::GaveUp => open = true,
            Verdict::Fits(granted) => options.push((node.metadata.name.clone(), granted)),
            Verdict::NotNamed | Verdict::Plain(_) | Verdict::Refused(_) => {}
        }
    }
    if open && options.is_empty() {
        return Err(GroupResult::Unknown(format!(
            "whether pod/{} of the same PodGroup fits is unknown",
            pod.key()
        )));
    }
    Ok(options)
}

impl GroupCycle {
    /// The turn of the member.
    pub fn turn(&self, pod: &Key) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.pod.key() == *pod)
    }

    /// The members that had their turn and fit nowhere.
    pub fn rejected(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter().filter(|turn| turn.got.is_none())
    }

    /// Returns whether no member gets a node although this one could have one, or had no turn; nothing where the member itself fits nowhere or
    /// all is well.
    pub fn holds_back(&self, pod: &Key) -> bool {
        self.result != GroupResult::Placed && self.turn(pod).is_none_or(|turn| turn.got.is_some())
    }

    /// Returns what the scheduler says of a member that it [holds back](Self::holds_back).
    ///
    /// What preemption and the release of claims add behind it is left out.
    pub fn message(&self, pod: &Key) -> Option<Message> {
        Some(match &self.result {
            GroupResult::Placed | GroupResult::Unknown(_) => return None,
            GroupResult::TooFew(why) if self.turns.is_empty() || self.turn(pod).is_some() => {
                Message::Unschedulable(format!("pod group is unschedulable, {why}"))
            }
            GroupResult::TooFew(why) => Message::Unschedulable(why.clone()),
            // A group that is not valid has no turns.
            GroupResult::Error(why) if self.turns.is_empty() => Message::Error(why.clone()),
            GroupResult::Error(why) => {
                Message::Error(format!("failed to schedule other pod from a pod group: {why}"))
            }
        })
    }

    /// Returns what is compared: whether the group is placed, and the member with it.
    fn result_of(&self, pod: &Key) -> (bool, bool) {
        let is_placed = self.result == GroupResult::Placed;
        let got = self.turn(pod).is_some_and(|turn| turn.got.is_some());
        (is_placed, is_placed && got)
    }
}
