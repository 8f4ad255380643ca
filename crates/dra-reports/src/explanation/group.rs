//! What the PodGroup of a pod does to it: its members are placed together, and what is reserved for it is given up.

use std::sync::Arc;

use super::report::{ClusterVerdict, Explanation, NodeExplanation, Reason};
use super::{Explained, Settings};
use crate::allocation::{Exactness, GANG, HANGS_ON_NODES};
use dra_model::{Component, Gate, Node, Pod};
use dra_rules::reservation::PodGroups;
use dra_rules::scheduling::{
    Cycle, GroupCycle, GroupResult, Message, NoUse, Scheduler, Start, Subject, Unavailable, Verdict,
    releasable, remaining_consumers, unavailable,
};

/// The cycle of the pod's PodGroup; nothing where the pod is placed alone.
pub(super) fn cycle(scheduler: &Scheduler, pod: &Arc<Pod>, settings: &Settings<'_>) -> Option<GroupCycle> {
    let members = scheduler.members(pod)?;
    Some(members.judge(scheduler, &pod.key(), settings.into()))
}

/// The scheduler at the turn of the pod, when the members of its PodGroup before it have their nodes and devices.
pub(super) fn at_turn(scheduler: &Scheduler, cycle: Option<&GroupCycle>, pod: &Pod) -> Scheduler {
    let turn = cycle.and_then(|cycle| cycle.turn(&pod.key()));
    let cluster = turn.map_or_else(|| scheduler.cluster(), |turn| &turn.cluster);
    scheduler.fork(cluster)
}

impl Explained<'_> {
    /// Takes in what becomes of the pod's PodGroup.
    pub(super) fn see_group(&self, report: &mut Explanation, cycle: &GroupCycle) {
        let Some(pod) = self.pod else { return };
        let before = cycle.turns.iter().take_while(|turn| turn.pod.key() != pod.key());
        let before = before.filter(|turn| turn.got.is_some()).count();
        if before > 0 && cycle.turn(&pod.key()).is_some() {
            report.notes.push(format!(
                "the pods of podgroup/{} are placed together: {before} before it {} taken to have {} devices",
                cycle.group,
                if before == 1 { "is" } else { "are" },
                if before == 1 { "its" } else { "their" },
            ));
        }
        let hanging = cycle.hangs_on_nodes.then(|| HANGS_ON_NODES.to_owned());
        for doubt in cycle.doubt.iter().cloned().chain(hanging) {
            report.exactness = report.exactness.max(Some(Exactness::FitOnly));
            report.notes.push(doubt);
        }
        if let GroupResult::Unknown(why) = &cycle.result {
            if matches!(report.verdict, ClusterVerdict::Fits | ClusterVerdict::DoesNotFit) {
                report.conclude(ClusterVerdict::Unknown, why.clone());
                report.exactness = Some(Exactness::FitOnly);
                report.unknown.push(why.clone());
            }
            return;
        }
        if !matches!(report.verdict, ClusterVerdict::GaveUp | ClusterVerdict::Unknown)
            && cycle.holds_back(&pod.key())
        {
            self.held_back(report, cycle, pod);
        }
    }

    /// The pod fits, but not with so many others of its PodGroup as have to.
    fn held_back(&self, report: &mut Explanation, cycle: &GroupCycle, pod: &Pod) {
        let text = cycle.text();
        let message = cycle.message(&pod.key());
        let verdict = match &message {
            Some(Message::Error(_)) => ClusterVerdict::Error,
            _ => ClusterVerdict::DoesNotFit,
        };
        report.conclude(verdict, text.clone());
        report.message = message.and_then(|message| message.text().map(str::to_owned));
        let reason = Reason::plain("PodGroup", text.clone());
        for node in &mut report.nodes {
            *node = NodeExplanation {
                node: node.node.clone(),
                fits: false,
                plugin: Some(GANG),
                message: report.message.clone(),
                reasons: vec![reason.clone()],
                devices: Vec::new(),
            };
        }
        report.filters.clear();
        report.node_groups.clear();
        report.fixes.clear();
        report.reasons.push(reason);
        report.cause = Some(text.clone());
        let mut rejected = cycle.rejected();
        let Some(first) = rejected.next() else {
            if let Some(waiting) = self.not_queued(cycle) {
                report.cause = Some(format!("{text}: {waiting}"));
            }
            return;
        };
        // What the other lacks when those before it have their devices is what all of them lack.
        let scheduler = self.scheduler.fork(&first.cluster);
        let other = Explained {
            scheduler: &scheduler,
            pod: Some(&first.pod),
            is_refused: false,
            subject: Subject::Pod(Arc::clone(&first.pod)),
            settings: self.settings,
        };
        let mut of_other = Explanation::new(crate::allocation::Target::pod(&first.pod.key()));
        other.start(&mut of_other, &scheduler.pod(&first.pod));
        let why = of_other.cause.take().unwrap_or(of_other.summary);
        report.cause = Some(format!("{text}: {why}"));
        report.waiting = of_other.waiting;
        if rejected.next().is_none() && cycle.untried.is_empty() && cycle.scheduled + 1 == cycle.min_count {
            report.fixes = of_other.fixes;
        }
    }

    /// The first pod of the group that the scheduler does not look at yet, and why.
    fn not_queued(&self, cycle: &GroupCycle) -> Option<String> {
        let mut members = self.cluster().pods_of_group(&cycle.group);
        members.find_map(|member| {
            if member.node().is_some() || member.is_terminal() {
                return None;
            }
            match self.scheduler.pod(member) {
                Start::Obstacle(obstacle) if obstacle.stage() == super::Stage::PreEnqueue => {
                    Some(format!("pod/{} waits: {}", member.key(), obstacle.text()))
                }
                _ => None,
            }
        })
    }

    /// Says which claims of a pod that fits nowhere the scheduler deallocates by itself, and which not though they are reserved for its
    /// own PodGroup.
    pub(super) fn releases(
        &self,
        report: &mut Explanation,
        cycle: &Cycle<'_>,
        verdicts: &[(&Arc<Node>, Verdict)],
    ) {
        let claims = cycle.user_claims();
        let released = releasable(cycle, verdicts);
        for Unavailable { place, why } in &released {
            let claim = &claims[*place];
            let group = claim
                .status
                .reserved_for
                .iter()
                .find(|entry| entry.is_pod_group());
            let idle = match group {
                Some(group) => format!(
                    ", and reserved for podgroup/{}, of which no pod has a node",
                    claim.metadata.beside(&group.name)
                ),
                None if *why == NoUse::OtherNodes => " and idle".to_owned(),
                None => String::new(),
            };
            let why = match why {
                NoUse::OtherNodes => "is allocated elsewhere",
                NoUse::NotReady => "has devices that are not ready",
                NoUse::NodeOperations => {
                    "has devices that skip node operations, for which its node declares no feature"
                }
            };
            report.reasons.push(Reason::plain(
                "ReleasedByScheduler",
                format!(
                    "claim/{} {why}{idle}: the scheduler deallocates it by itself and tries again",
                    claim.key()
                ),
            ));
        }
        let all = unavailable(verdicts);
        if !released.is_empty() && released.len() == all.len() {
            let cause = report.cause.take();
            report.cause = cause.map(|cause| format!("{cause}; the scheduler deallocates it by itself"));
        }
        let Some(pod) = self.pod else { return };
        for Unavailable { place, .. } in all {
            let claim = &claims[place];
            let own = claim.status.reserved_for.iter().find(|entry| {
                let is_own = pod.pod_group().is_some_and(|group| *group == entry.name);
                entry.is_pod_group() && is_own
            });
            let (Some(own), false) = (own, released.iter().any(|released| released.place == place)) else {
                continue;
            };
            let group = claim.metadata.beside(&own.name);
            let remaining = remaining_consumers(self.cluster(), Some(pod), claim);
            let reason = if remaining.iter().any(|entry| entry.uid == own.uid) {
                let why = match PodGroups::of(self.cluster().environment(), Component::Scheduler) {
                    PodGroups::Ignored => format!(
                        "it does not know claims of PodGroups, as its gate {} is off",
                        Gate::DRAWorkloadResourceClaims
                    ),
                    PodGroups::Accepted => {
                        "others of its pods have a node, or it is not one of the group's claims".to_owned()
                    }
                };
                Reason::plain(
                    "ReservedForGroup",
                    format!(
                        "claim/{} stays reserved for podgroup/{group}, which the pod is a member of: the scheduler does not take that back, \
                         as {why}",
                        claim.key()
                    ),
                )
            } else {
                let others: Vec<String> = remaining
                    .iter()
                    .map(|entry| crate::Consumer(entry).to_string())
                    .collect();
                Reason::plain(
                    "UnreservedByScheduler",
                    format!(
                        "the scheduler removes the reservation of podgroup/{group} from claim/{} by itself, as none of its pods has a node; \
                         {} keeps the claim",
                        claim.key(),
                        others.join(", ")
                    ),
                )
            };
            report.reasons.push(reason);
        }
    }
}
